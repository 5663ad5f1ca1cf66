/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Groups of instructions, as Capstone assigns them. */
#ifndef ELF_INSN_GROUP_H
#define ELF_INSN_GROUP_H

#include <capstone/capstone.h>
#include <stdbool.h>

/* Return whether @ci, which was decoded with its details, is in @group (enum cs_group_type). */
static inline bool insn_in_group(const cs_insn *ci, uint8_t group)
{
	uint8_t i;

	for (i = 0; i < ci->detail->groups_count; i++)
		if (ci->detail->groups[i] == group)
			return true;
	return false;
}

#endif /* ELF_INSN_GROUP_H */
