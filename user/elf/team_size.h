/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find where libgomp keeps the number of threads of the current team. Pure: the input is the code
 * of omp_get_num_threads(), which is a few instructions: load the pointer to the team from the
 * thread's own data, test it, and load the number from the team.
 */
#ifndef ELF_TEAM_SIZE_H
#define ELF_TEAM_SIZE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The pointer to the team is at the thread pointer + the value of the word at slot_vaddr + team.
 * The number of threads, of 4 bytes, is at the team's address + count.
 */
struct team_size {
	uint64_t slot_vaddr; /* 0: no such word: the offset is a constant, as in a static program */
	int32_t team, count;
};

/*
 * @bytes: the function's @len bytes, at the virtual address @vaddr of the file. Return 0 and *out,
 * -ENOTSUP (not x86-64), -ENOENT (the code does something else) or -ENOMEM.
 */
int team_size_find(uint16_t machine, const uint8_t *bytes, size_t len, uint64_t vaddr,
		   struct team_size *out);

#endif /* ELF_TEAM_SIZE_H */
