/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find the addresses in an OpenMP runtime to which the function of a parallel region returns. Each
 * of them follows a call by which the thread that begins a region, or a worker, runs that function.
 * A probe there sees the end of a region no matter how the function ends (often by a jump to
 * another function). Such a probe does not slow down other calls, and it is not a return probe.
 * Pure: the input is an ELF file, the output is probe sites.
 */
#ifndef ELF_RETURNS_H
#define ELF_RETURNS_H

#include <stdint.h>

#include "elf/elf.h"

#define RETURNS_MAX 64

struct returns {
	uint32_t n; /* 0: unknown */
	uint64_t at[RETURNS_MAX]; /* file offsets */
};

/*
 * Find the addresses to which the function of a parallel region returns. @regions are the linked
 * addresses of @nregions functions that begin a region. Calls through pointers are searched in
 * these functions, and in functions that they or their callees pass as an argument (such as the
 * worker's code for pthread_create). @invoke is a function that is known to call the region's
 * function; 0: none. Calls of other functions through pointers are included, because the stack
 * pointer distinguishes them at run time. If @invoke is 0, the result is empty unless addresses for
 * both the beginning thread and the workers are found. Works for x86-64 and arm64. Overwrites the
 * bytes from elf_bytes().
 */
void returns_find(const struct elf_file *elf, uint16_t machine, const uint64_t *regions,
		  uint32_t nregions, uint64_t invoke, struct returns *out);

#endif /* ELF_RETURNS_H */
