/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find the barrier functions in static and stripped programs, which have no symbols. A barrier
 * function is recognised by the words of the barrier that its code reads, writes and locks. x86-64;
 * glibc since 2.25 and musl.
 */
#ifndef ELF_SIGNATURE_H
#define ELF_SIGNATURE_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf.h"

struct signature {
	struct elf_symbol wait; /* pthread_barrier_wait; size 0: its end is unknown */
	struct elf_symbol init; /* pthread_barrier_init; all 0: not found, or musl */
	bool musl; /* the barrier has musl's layout; else glibc's */
};

/*
 * Search the code of @elf, which is untrusted, for the barrier functions. Return 0, -ENOENT (none),
 * -ENOTUNIQ (several candidates: none is used), -ENOTSUP (another machine), -E2BIG (too many
 * candidates) or -ENOMEM. Overwrites the bytes from elf_bytes().
 */
int signature_find(const struct elf_file *elf, uint16_t machine, struct signature *out);

#endif /* ELF_SIGNATURE_H */
