// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "sites/family.h"

#define GLIBC_PROCESS_SHARED 128u /* FUTEX_PRIVATE_FLAG, kept inverted */
#define GLIBC_COUNT_MAX	     0x7fffffffu /* pthread_barrier_init() refuses more */
#define MUSL_PROCESS_SHARED  0x80000000u

static const char *const family_pthread_symbols[] = { "pthread_barrier_wait", NULL };

static const struct sites_family family_rows[] = {
	{
		.family = SBT_FAMILY_PTHREAD,
		.name = "pthread",
		.kind = "explicit",
		.symbols = family_pthread_symbols,
		.maker = "pthread_barrier_init",
		.argument = 0,
		.words_offset = 8,
	},
};

const struct sites_family *family_table(size_t *n)
{
	*n = sizeof(family_rows) / sizeof(family_rows[0]);
	return family_rows;
}

const struct sites_family *family_find(enum sbt_family family)
{
	size_t i;

	for (i = 0; i < sizeof(family_rows) / sizeof(family_rows[0]); i++)
		if (family_rows[i].family == family)
			return &family_rows[i];
	return NULL;
}

enum family_flavour family_flavour_of(bool glibc, bool musl)
{
	if (glibc == musl)
		return FAMILY_FLAVOUR_UNKNOWN;
	return glibc ? FAMILY_FLAVOUR_GLIBC : FAMILY_FLAVOUR_MUSL;
}

/*
 * Since 2.25: in, current_round, count, shared, out. Before: curr_event, lock, left, init_count,
 * private. The fourth word tells them apart, but for an old barrier of exactly 128 threads.
 */
static struct family_team family_read_glibc(uint32_t third, uint32_t fourth)
{
	struct family_team team = { 0 };

	if (fourth == 0 || fourth == GLIBC_PROCESS_SHARED) {
		if (!third || third > GLIBC_COUNT_MAX)
			return team;
		team.count = third;
		team.sharing_known = true;
		team.process_shared = fourth == GLIBC_PROCESS_SHARED;
	} else {
		if (third > fourth || fourth > GLIBC_COUNT_MAX)
			return team;
		team.count = fourth;
	}
	team.known = true;
	return team;
}

/* lock, waiters, limit: one less than the count, the top bit for sharing. */
static struct family_team family_read_musl(uint32_t limit)
{
	struct family_team team = { 0 };
	uint32_t less_one = limit & ~MUSL_PROCESS_SHARED;

	/* pthread_barrier_init() refuses what would make this one: count - 1 > INT_MAX - 1. */
	if (less_one == 0x7fffffffu)
		return team;
	team.known = true;
	team.count = less_one + 1;
	team.sharing_known = true;
	team.process_shared = limit & MUSL_PROCESS_SHARED;
	return team;
}

struct family_team family_read_words(enum sbt_family family, enum family_flavour flavour,
				     uint64_t words)
{
	uint32_t third = (uint32_t)words, fourth = (uint32_t)(words >> 32);
	struct family_team unknown = { 0 };

	if (family != SBT_FAMILY_PTHREAD)
		return unknown;
	switch (flavour) {
	case FAMILY_FLAVOUR_GLIBC:
		return family_read_glibc(third, fourth);
	case FAMILY_FLAVOUR_MUSL:
		return family_read_musl(third);
	case FAMILY_FLAVOUR_UNKNOWN:
		break;
	}
	return unknown;
}
