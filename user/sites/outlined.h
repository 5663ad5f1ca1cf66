/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The functions that OpenMP regions and tasks run, where names do not tell: by where the runtime is called from and what
 * is put into the argument there. Pure: an ELF file in, addresses out.
 */
#ifndef SITES_OUTLINED_H
#define SITES_OUTLINED_H

#include <stdint.h>

#include "elf/elf.h"

#define OUTLINED_MAX 4096

struct outlined {
	struct elf_symbol *functions; /* malloc'ed; by address, each once */
	uint32_t n;
};

/*
 * The function at @vaddr, and those whose address is made in functions that call what the call before @caller (0: not
 * known) calls; all as linked. Only what the unwind table says begins a function. Some of them may be no region's: they
 * cost a useless probe. Returns 0, -ENOENT if nothing begins at @vaddr (what else was found is there), -ENOMEM.
 */
int outlined_find(const struct elf_file *elf, uint16_t machine, uint64_t vaddr, uint64_t caller,
		  struct outlined *out);

/*
 * The functions that tasks run and regions do not, of a program that GCC made, which names both alike: their address is
 * made in functions that call GOMP_task or kin, and in none that calls GOMP_parallel or kin. x86-64; on other machines, and
 * in a file whose linkage cannot be read, none are found. Returns 0, or -ENOMEM.
 */
int outlined_of_tasks(const struct elf_file *elf, uint16_t machine, struct outlined *out);

#endif /* SITES_OUTLINED_H */
