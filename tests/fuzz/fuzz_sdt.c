// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
// fuzz-sources: user/elf/sdt.c user/elf/sdt_args.c user/elf/elf*.c user/base/grow.c
// fuzz-libs:
/*
 * Fuzz the markers of an ELF file. A file in another format is taken as the text of a marker's
 * arguments.
 */
#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/sdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
	if (!ok)
		abort();
}

/* Check the operand that a probe reads: its registers exist, and its size and scale are valid. */
static void check_operand(uint16_t machine, const struct sdt_note *note, uint32_t i)
{
	struct sbt_arg o;

	if (sdt_probe_arg(machine, note, i, &o)) {
		check(o.how == SBT_ARG_NONE);
		return;
	}
	check(o.size == 1 || o.size == 2 || o.size == 4 || o.size == 8);
	check(o.scale == 1 || o.scale == 2 || o.scale == 4 || o.scale == 8);
	check(o.reg == SBT_ARG_NO_REG || (o.reg <= 32 * 8 && o.reg % 8 == 0));
	check(o.index == SBT_ARG_NO_REG || o.index <= 31 * 8);
	check(o.how != SBT_ARG_REG || o.reg != SBT_ARG_NO_REG);
}

static void check_note(uint16_t machine, const struct sdt_note *note, size_t size)
{
	uint32_t i;

	check(strlen(note->provider) + strlen(note->name) + strlen(note->text) < size);
	check(note->offset < size);
	for (i = 0; i <= SDT_ARGS_MAX; i++)
		check_operand(machine, note, i);
}

static int resolve(const char *name, uint64_t *vaddr, void *ctx)
{
	(void)ctx;
	*vaddr = (uint64_t)name[0] << 56;
	return name[0] == 's' ? 0 : -ENOENT;
}

static void as_text(uint16_t machine, const uint8_t *data, size_t size)
{
	struct sdt_note note = { .vaddr = 0x1000 };
	char *text = malloc(size + 1);
	uint32_t i;

	check(text != NULL);
	memcpy(text, data, size);
	text[size] = 0;
	note.n_args = sdt_parse_args(machine, text, resolve, NULL, note.args, SDT_ARGS_MAX);
	check(note.n_args <= size);
	for (i = 0; i < note.n_args; i++)
		check_operand(machine, &note, i);
	free(text);
}

static void as_file(struct elf_file *elf, size_t size)
{
	struct sdt_list list;
	size_t i;

	check(!sdt_read(elf, NULL, &list));
	for (i = 0; i < list.n; i++)
		check_note(elf_machine(elf), &list.notes[i], size);
	sdt_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct elf_file *elf;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	if (!elf_open(fd, size, &elf)) {
		as_file(elf, size);
	} else {
		as_text(EM_X86_64, data, size);
		as_text(EM_AARCH64, data, size);
	}
	elf_close(elf);
	return 0;
}
