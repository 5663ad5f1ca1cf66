// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
// fuzz-sources: user/elf/team_size.c user/elf/x86*.c user/elf/insn_group.c
// fuzz-libs: -l:libcapstone.a
/* Fuzz the search in code for the place where libgomp keeps the size of a team. */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "elf/team_size.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct team_size found = { .count = -1 };
	int err = team_size_find(EM_X86_64, data, size, 0x1000, &found);

	/* A result needs at least two loads. */
	if (!err && size < 6)
		abort();
	return 0;
}
