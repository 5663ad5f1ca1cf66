/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Markers in a program: notes in the format of SystemTap (section .note.stapsdt), as
 * include/sbt/sbt.h creates them. A note contains the address of a marker, and where its arguments
 * are at that address. The file is untrusted: invalid notes are skipped and counted.
 */
#ifndef ELF_SDT_H
#define ELF_SDT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sbt/probe.h"
#include "elf/elf.h"

#define SDT_ARGS_MAX 12 /* maximum number of arguments in the format */
#define SDT_NO_REG   (-1)

enum sdt_kind {
	SDT_UNKNOWN, /* an argument in an unknown form: its value cannot be read */
	SDT_CONST, /* the constant `value` */
	SDT_REG, /* the low `size` bytes of register `reg` */
	/* `size` bytes at reg + index * scale + value; either register may be SDT_NO_REG */
	SDT_MEM,
	/* `size` bytes at the linked address `value`: add the load offset of the file */
	SDT_STATIC,
};

/* One argument. Registers have DWARF's numbers, as in symbols/stack.h. */
struct sdt_arg {
	enum sdt_kind kind;
	uint8_t size; /* bytes: 1, 2, 4, 8 */
	bool is_signed; /* sign-extend values narrower than 8 bytes; else zero-extend them */
	int8_t reg;
	int8_t index;
	uint8_t scale; /* 1, 2, 4 or 8 */
	int64_t value;
};

/* One marker at one address. A marker that was inlined several times has several notes. */
struct sdt_note {
	const char *provider; /* owned by the list; untrusted */
	const char *name; /* owned by the list; untrusted */
	const char *text; /* the arguments as in the note; owned by the list; untrusted */
	uint64_t vaddr; /* linked address of the probed instruction */
	uint64_t offset; /* file offset of the marker, as a uprobe needs it */
	uint64_t semaphore; /* linked address of a counter that a tracer must increment; 0: none */
	uint32_t n_args; /* number of arguments in the text; at most SDT_ARGS_MAX are stored */
	struct sdt_arg args[SDT_ARGS_MAX];
};

struct sdt_list {
	struct sdt_note *notes; /* in the order of the file */
	size_t n;
	/*
	 * number of notes that could not be parsed, and of sections that could not be read to their
	 * end
	 */
	size_t malformed;
	/* number of notes about code that the linker dropped, which is not in the file */
	size_t elsewhere;
	size_t beyond; /* number of notes above the limit (SDT_NOTES_MAX) */
	char *strings; /* owns the strings of the notes */
};

/*
 * Read all markers of @provider (NULL: of all providers). Return 0, or -ENOMEM. Free *@out with
 * sdt_free(); the list may be empty. Only the first MiB of a section is read, and the rest counts
 * as malformed.
 */
int sdt_read(const struct elf_file *elf, const char *provider, struct sdt_list *out);
void sdt_free(struct sdt_list *list);

/* Find the linked address of a variable. Return 0, or -errno if the variable is unknown. */
typedef int (*sdt_resolve_fn)(const char *name, uint64_t *vaddr, void *ctx);

/*
 * Parse the arguments of a note for @machine (EM_X86_64, EM_AARCH64), such as "-4@%edi 8@-24(%rbp)
 * 4@$5". If @resolve is NULL, symbols are unknown. Write up to @max arguments. Return the total
 * number of arguments.
 */
uint32_t sdt_parse_args(uint16_t machine, const char *text, sdt_resolve_fn resolve, void *ctx,
			struct sdt_arg *out, uint32_t max);

/*
 * Return the byte offset of register @reg (DWARF's number) in the kernel's struct pt_regs, or -1.
 */
int sdt_regs_offset(uint16_t machine, int reg);

/*
 * Convert argument @i of a note to an argument of a probe. A fixed address is expressed relative to
 * the probed instruction, so that it is correct at any load address. Return 0, or -ENOENT with
 * SBT_ARG_NONE in *@out if there is no such argument or its form is unknown.
 */
int sdt_probe_arg(uint16_t machine, const struct sdt_note *note, uint32_t i, struct sbt_arg *out);

#endif /* ELF_SDT_H */
