/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Where the function of a parallel region returns to, in OpenMP's runtime: behind the calls by which the thread that
 * begins a region and its workers run it. A probe there sees the end of a region by whatever way its function comes to it
 * (a jump into another one, above all), costs nobody else, and is no return probe. Pure: an ELF file in, places out.
 */
#ifndef ELF_RETURNS_H
#define ELF_RETURNS_H

#include <stdint.h>

#include "elf/elf.h"

#define RETURNS_MAX 64

struct returns {
	uint32_t n; /* 0: not known */
	uint64_t at[RETURNS_MAX]; /* offsets in the file */
};

/*
 * @regions: where @nregions functions that begin a region lie, as linked. Those, and what they, or functions that they
 * call, hand over to others (as the code of a worker is to pthread_create), call a region's function by a pointer.
 * @invoke: a function that is known to do so, 0 none. What else is called by a pointer there is among them: the stack pointer
 * tells. None unless both sides' are found. x86-64 and arm64. Overwrites what elf_bytes() gave.
 */
void returns_find(const struct elf_file *elf, uint16_t machine, const uint64_t *regions,
		  uint32_t nregions, uint64_t invoke, struct returns *out);

#endif /* ELF_RETURNS_H */
