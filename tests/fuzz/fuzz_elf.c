// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
// fuzz-sources: user/elf/elf*.c
// fuzz-libs:
/* Fuzz the reader of ELF files, and all queries that are made before a file is probed. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
	if (!ok)
		abort();
}

static void ask(struct elf_file *elf, size_t size)
{
	struct elf_symbol sym[3];
	struct elf_traits t;
	const uint8_t *bytes;
	uint64_t vaddr, back;
	size_t n;
	int found, i;

	elf_traits(elf, &t);
	check(t.build_id_len <= sizeof(t.build_id));
	check(memchr(t.interp, 0, sizeof(t.interp)) && memchr(t.soname, 0, sizeof(t.soname)));
	found = elf_find_function(elf, "marked", sym, 3);
	for (i = 0; i < found && i < 3; i++) {
		check(sym[i].offset < size);
		n = elf_bytes(elf, sym[i].offset, sym[i].size, &bytes);
		check(n <= sym[i].size && n <= size);
		/* Read each byte, so that the sanitizer detects invalid memory. */
		while (n--)
			check(bytes[n] + 1);
		if (!elf_offset_to_vaddr(elf, sym[i].offset, &vaddr) &&
		    !elf_vaddr_to_offset(elf, vaddr, &back))
			check(back < size);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct elf_file *elf;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	if (!elf_open(fd, size, &elf))
		ask(elf, size);
	elf_close(elf);
	return 0;
}
