/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Barrier functions in programs that have lost their names: static and stripped. They are told by what their code
 * does with the barrier it is given: which words it reads, writes and locks. x86-64, glibc since 2.25 and musl.
 */
#ifndef ELF_SIGNATURE_H
#define ELF_SIGNATURE_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf.h"

struct signature {
	struct elf_symbol wait; /* pthread_barrier_wait; size 0: its end is not known */
	struct elf_symbol init; /* pthread_barrier_init; all 0: not found. Never with musl */
	bool musl; /* whose layout the barrier has; else glibc's */
};

/*
 * Searches the code of @elf, which may be anything, for the barrier functions. Returns 0, or -ENOENT (none),
 * -ENOTUNIQ (several look like it: nothing is claimed), -ENOTSUP (another machine), -E2BIG (too much that might be),
 * -ENOMEM. Overwrites what elf_bytes() gave.
 */
int signature_find(const struct elf_file *elf, uint16_t machine, struct signature *out);

#endif /* ELF_SIGNATURE_H */
