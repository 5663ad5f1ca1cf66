/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Markers that a program carries: notes of the SystemTap form (section .note.stapsdt), as
 * include/sbt/sbt.h writes them. Where each marker is, and where its arguments are when it is hit.
 * The file is hostile input: what does not make sense is left out and counted.
 */
#ifndef ELF_SDT_H
#define ELF_SDT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sbt/probe.h"
#include "elf/elf.h"

#define SDT_ARGS_MAX 12 /* the format's own limit */
#define SDT_NO_REG   (-1)

enum sdt_kind {
	SDT_UNKNOWN, /* there is an argument, but its value cannot be had: a form not known here */
	SDT_CONST, /* value */
	SDT_REG, /* the low size bytes of reg */
	SDT_MEM, /* size bytes at reg + index * scale + value; either register may be SDT_NO_REG */
	SDT_STATIC, /* size bytes at the address value as linked: add what the file was moved by */
};

/* One argument. Registers are numbered as in DWARF, as in symbols/stack.h. */
struct sdt_arg {
	enum sdt_kind kind;
	uint8_t size; /* bytes: 1, 2, 4, 8 */
	bool is_signed; /* else what is narrower than 8 bytes is zero-extended */
	int8_t reg;
	int8_t index;
	uint8_t scale; /* 1, 2, 4 or 8 */
	int64_t value;
};

/* One marker at one place; a marker inlined in several places has several. */
struct sdt_note {
	const char *provider; /* owned by the list; untrusted */
	const char *name; /* owned by the list; untrusted */
	const char *text; /* the arguments as in the note; owned by the list; untrusted */
	uint64_t vaddr; /* of the probed instruction, as linked */
	uint64_t offset; /* of the same in the file: where a uprobe goes */
	uint64_t semaphore; /* address as linked of a counter that a tracer must raise; 0: none */
	uint32_t n_args; /* as many as the text has, at most SDT_ARGS_MAX are kept */
	struct sdt_arg args[SDT_ARGS_MAX];
};

struct sdt_list {
	struct sdt_note *notes; /* in the order of the file */
	size_t n;
	size_t malformed; /* notes, or ends of a section, that could not be read */
	size_t elsewhere; /* notes about code that is not in the file: the linker dropped it */
	size_t beyond; /* notes left out because there are absurdly many */
	char *strings; /* what the notes point into */
};

/*
 * All markers of @provider (NULL: of all) in a file. Returns 0, *out then to be given to sdt_free()
 * (no markers: an empty list), or -ENOMEM. Sections beyond 1 MiB are read up to there, and the rest
 * counts as malformed.
 */
int sdt_read(const struct elf_file *elf, const char *provider, struct sdt_list *out);
void sdt_free(struct sdt_list *list);

/* The address as linked of a symbol in memory. Returns 0, or -errno: not known. */
typedef int (*sdt_resolve_fn)(const char *name, uint64_t *vaddr, void *ctx);

/*
 * The arguments of a note for @machine (EM_X86_64, EM_AARCH64), "-4@%edi 8@-24(%rbp) 4@$5". Symbols
 * are unknown if @resolve is NULL. Writes up to @max; returns how many there are.
 */
uint32_t sdt_parse_args(uint16_t machine, const char *text, sdt_resolve_fn resolve, void *ctx,
			struct sdt_arg *out, uint32_t max);

/* Bytes from the start of the kernel's struct pt_regs to register @reg (DWARF's number), or -1. */
int sdt_regs_offset(uint16_t machine, int reg);

/*
 * Argument @i of a note as a probe needs it. What lies at a fixed place of the file is counted from
 * the probed instruction, and thus the same wherever the file is mapped. Returns 0, or -ENOENT with
 * *out of SBT_ARG_NONE: no such argument, or not known.
 */
int sdt_probe_arg(uint16_t machine, const struct sdt_note *note, uint32_t i, struct sbt_arg *out);

#endif /* ELF_SDT_H */
