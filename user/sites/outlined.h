/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find the functions that OpenMP regions and tasks run, if names do not identify these functions.
 * They are found by the calls to the runtime, and by the addresses that are passed in these calls.
 * Pure: the input is an ELF file, the output is addresses.
 */
#ifndef SITES_OUTLINED_H
#define SITES_OUTLINED_H

#include <stdint.h>

#include "elf/elf.h"

#define OUTLINED_MAX 4096

struct outlined {
	struct elf_symbol *functions; /* sorted by address, each once; allocated by malloc */
	uint32_t n;
};

/*
 * Find the function at @vaddr, and other functions that are passed to the same callee. The call
 * that returns to @caller (0: unknown) calls that callee. A function that calls this callee
 * computes the addresses of the functions that it passes. All addresses are linked addresses. Only
 * the unwind table says where functions begin. Some of the results may not belong to regions, and
 * cost a useless probe. Return 0, -ENOENT if no function begins at @vaddr (other results are
 * valid), or -ENOMEM.
 */
int outlined_find(const struct elf_file *elf, uint16_t machine, uint64_t vaddr, uint64_t caller,
		  struct outlined *out);

/*
 * Find the functions that only tasks run, not regions, in a program compiled by GCC, which gives
 * both similar names. Their addresses are computed in functions that call GOMP_task or similar, and
 * not in functions that call GOMP_parallel or similar. This works only on x86-64: on other
 * machines, or if the linkage table is unreadable, none are found. Return 0 or -ENOMEM.
 */
int outlined_of_tasks(const struct elf_file *elf, uint16_t machine, struct outlined *out);

#endif /* SITES_OUTLINED_H */
