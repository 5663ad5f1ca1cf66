/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find the functions that OpenMP regions and tasks run, where names do not show it: by the calls of
 * the runtime, and the addresses that are passed there. Pure: an ELF file in, addresses out.
 */
#ifndef SITES_OUTLINED_H
#define SITES_OUTLINED_H

#include <stdint.h>

#include "elf/elf.h"

#define OUTLINED_MAX 4096

struct outlined {
	struct elf_symbol *functions; /* by address, each once; allocated by malloc */
	uint32_t n;
};

/*
 * Find the function at @vaddr, and the functions that are passed to the same callee. The call
 * before @caller (0: unknown) calls that callee. Other functions that call it contain the addresses
 * of the functions that they pass. All addresses are as linked. Only the unwind table says where
 * functions begin. Some of the results may not belong to regions, and cost a useless probe. Return
 * 0, -ENOENT if no function begins at @vaddr (other results are valid), or -ENOMEM.
 */
int outlined_find(const struct elf_file *elf, uint16_t machine, uint64_t vaddr, uint64_t caller,
		  struct outlined *out);

/*
 * Find the functions that tasks run and regions do not, in a program compiled by GCC, which names
 * both alike. Their addresses are made in functions that call GOMP_task or similar, and not in
 * functions that call GOMP_parallel or similar. Only for x86-64. None are found on other machines,
 * or in a file with unreadable linkage. Return 0 or -ENOMEM.
 */
int outlined_of_tasks(const struct elf_file *elf, uint16_t machine, struct outlined *out);

#endif /* SITES_OUTLINED_H */
