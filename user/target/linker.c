// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "target/linker.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "target/look.h"
#include "target/proc.h"

/*
 * Limits on numbers of entries. No program exceeds them. They are needed because the contents of
 * the process's memory are untrusted.
 */
#define SEGMENTS_MAX 64
#define DYNAMIC_MAX  256
#define AUXV_MAX     64

/* Address of the program headers in memory, and their number, from the auxiliary vector. */
struct headers {
	uint64_t address;
	uint64_t n;
};

static int headers_read(int pid, struct headers *out)
{
	/* One more element, because proc_read() appends a NUL. */
	Elf64_auxv_t auxv[AUXV_MAX + 1];
	ssize_t len = proc_read(auxv, sizeof(auxv), "/proc/%d/auxv", pid);
	uint64_t size = 0;
	size_t i;

	if (len < 0)
		return (int)len;
	for (i = 0; i < (size_t)len / sizeof(auxv[0]); i++) {
		if (auxv[i].a_type == AT_PHDR)
			out->address = auxv[i].a_un.a_val;
		else if (auxv[i].a_type == AT_PHNUM)
			out->n = auxv[i].a_un.a_val;
		else if (auxv[i].a_type == AT_PHENT)
			size = auxv[i].a_un.a_val;
	}
	if (size != sizeof(Elf64_Phdr) || !out->address || !out->n || out->n > SEGMENTS_MAX)
		return -ENOENT;
	return 0;
}

/* Find the program's dynamic section in memory: *@address and its size *@bytes. */
static int dynamic_find(int pid, uint64_t *address, uint64_t *bytes)
{
	Elf64_Phdr segments[SEGMENTS_MAX];
	struct headers headers = { 0 };
	uint64_t bias = 0;
	bool placed = false, found = false;
	int err = headers_read(pid, &headers);

	if (!err)
		err = look_read(pid, headers.address, segments, headers.n * sizeof(segments[0]));
	if (err)
		return err;
	array_for_each (segment, segments, headers.n) {
		if (segment->p_type == PT_PHDR) {
			bias = headers.address - segment->p_vaddr;
			placed = true;
		} else if (segment->p_type == PT_DYNAMIC) {
			*address = segment->p_vaddr;
			*bytes = segment->p_memsz;
			found = true;
		}
	}
	if (!placed || !found)
		return -ENOENT;
	*address += bias;
	return 0;
}

int linker_busy(int pid)
{
	Elf64_Dyn dynamic[DYNAMIC_MAX];
	uint64_t address = 0, bytes = 0;
	struct r_debug debug;
	long len;
	size_t i;
	int err = dynamic_find(pid, &address, &bytes);

	if (err)
		return err;
	if (bytes > sizeof(dynamic))
		bytes = sizeof(dynamic);
	len = look_read_some(pid, address, dynamic, bytes);
	if (len < 0)
		return (int)len;
	for (i = 0; i < (size_t)len / sizeof(dynamic[0]) && dynamic[i].d_tag != DT_NULL; i++) {
		if (dynamic[i].d_tag != DT_DEBUG)
			continue;
		/*
		 * The linker sets this pointer before it maps any file. While it is 0, the linker
		 * has not begun.
		 */
		if (!dynamic[i].d_un.d_ptr)
			return 1;
		err = look_read(pid, dynamic[i].d_un.d_ptr, &debug, sizeof(debug));
		if (err)
			return err;
		return !debug.r_map || debug.r_state != RT_CONSISTENT;
	}
	return -ENOENT;
}
