// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * "bench_empty OBJECT LIBRARY" attaches an empty uprobe session to pthread_barrier_wait of LIBRARY,
 * at the address that sbt-trace would choose. It prints "ready", and keeps the probe until standard
 * input ends. "bench_empty OBJECT LIBRARY entry" attaches an empty probe at the entry only.
 * "bench_empty OBJECT" attaches empty programs to each context switch and each wake-up of the
 * machine instead.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/link.h"
#include "elf/elf.h"
#include "elf/insn.h"

static int find(int fd, uint64_t *offset)
{
	struct insn_entry entry;
	struct elf_symbol symbol;
	struct elf_traits traits;
	struct elf_file *elf;
	const uint8_t *bytes;
	struct stat st;
	size_t len;

	if (fstat(fd, &st) || elf_open(fd, (uint64_t)st.st_size, &elf))
		return -1;
	elf_traits(elf, &traits);
	if (elf_find_function(elf, "pthread_barrier_wait", &symbol, 1) < 1)
		return -1;
	len = elf_bytes(elf, symbol.offset, 64, &bytes);
	if (insn_choose_entry(traits.machine, bytes, len, &entry))
		return -1;
	*offset = symbol.offset + entry.skip;
	elf_close(elf);
	return 0;
}

static int attach_library(struct bpf_object *object, const char *path, int type)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, "empty");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t offset;

	if (fd < 0 || find(fd, &offset) || bpf_object__load(object))
		return -1;
	return link_multi(bpf_program__fd(program), type, fd, &offset, 1, 0, 0);
}

static int attach_scheduler(struct bpf_object *object)
{
	static const char *const names[] = { "empty_switch", "empty_waking" };
	size_t i;

	if (bpf_object__load(object))
		return -1;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!bpf_program__attach(bpf_object__find_program_by_name(object, names[i])))
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	struct bpf_object *object;
	int type = argc == 4 ? LINK_ATTACH_MULTI : LINK_ATTACH_SESSION;
	struct bpf_program *program;
	char c;

	if (argc < 2 || argc > 4)
		return 2;
	object = bpf_object__open(argv[1]);
	program = object ? bpf_object__find_program_by_name(object, "empty") : NULL;
	if (!program)
		return 1;
	bpf_program__set_expected_attach_type(program, type);
	if ((argc > 2 ? attach_library(object, argv[2], type) : attach_scheduler(object)) < 0)
		return 1;
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}
