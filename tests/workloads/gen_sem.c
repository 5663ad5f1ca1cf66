// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Known answers for barriers written by hand with POSIX semaphores, in which no thread wakes all
// threads at once. --kind:
//   dissemination  log2(N) rounds. In each, a thread posts the semaphore of one member and waits
//                  for its own. Two sets of semaphores alternate, because a fast member may be one
//                  episode ahead. No word is common to all threads, so the barrier cannot be
//                  discovered.
//   turnstiles     the last arriver posts N times, and so does the last thread that leaves
#include "gen_core.h"

#include <semaphore.h>

#define MAX_MEMBERS 64
#define MAX_LEVELS  6

enum kind { DISSEMINATION, TURNSTILES };

static const char *const kinds[] = { "dissemination", "turnstiles", NULL };

struct bar {
	sem_t flag[2][MAX_LEVELS][MAX_MEMBERS]; /* dissemination */
	uint32_t parity[MAX_MEMBERS];
	uint32_t count;
	uint32_t inside; /* turnstiles */
	sem_t in, out;
};

static struct bar bars[GEN_MAX_OBJECTS];

static void wait_for(sem_t *s)
{
	while (sem_wait(s))
		;
}

ONE_COPY static int meet_dissemination(struct bar *b, uint32_t member)
{
	uint32_t parity = b->parity[member]++ % 2, level = 0;

	for (uint32_t distance = 1; distance < b->count; distance *= 2, level++) {
		sem_post(&b->flag[parity][level][(member + distance) % b->count]);
		wait_for(&b->flag[parity][level][member]);
	}
	return member == 0;
}

ONE_COPY static int meet_turnstiles(struct bar *b)
{
	int last = __atomic_add_fetch(&b->inside, 1, __ATOMIC_ACQ_REL) == b->count;

	for (uint32_t i = 0; last && i < b->count; i++)
		sem_post(&b->in);
	wait_for(&b->in);
	if (__atomic_sub_fetch(&b->inside, 1, __ATOMIC_ACQ_REL) == 0) {
		for (uint32_t i = 0; i < b->count; i++)
			sem_post(&b->out);
	}
	wait_for(&b->out);
	return last;
}

static inline int meet(struct bar *b, uint32_t member)
{
	return gen.kind == DISSEMINATION ? meet_dissemination(b, member) : meet_turnstiles(b);
}

/* Each site has its own line. */
#define SITE(n) GEN_SITE(n, meet((struct bar *)object, member))
SITE(0)
SITE(1)

static gen_site *const sites[] = { site_0, site_1 };

static void make(void *object, uint32_t count)
{
	struct bar *b = (struct bar *)object;

	if (count > MAX_MEMBERS)
		die("gen_sem: at most %u threads in a team", MAX_MEMBERS);
	for (uint32_t i = 0; i < 2 * MAX_LEVELS * MAX_MEMBERS; i++)
		sem_init(&b->flag[0][0][0] + i, gen.shared, 0);
	sem_init(&b->in, gen.shared, 0);
	sem_init(&b->out, gen.shared, 0);
	b->count = count;
}

int main(int argc, char **argv)
{
	static const struct gen_family family = {
		.name = "gen_sem",
		.flavour = "semaphores",
		.kinds = kinds,
		.can = GEN_CAN_SHARE | GEN_CAN_TEAM,
		.sites = ARRAY_SIZE(sites),
		.site = sites,
		.object_size = sizeof(struct bar),
		.storage = bars,
		.make = make,
	};

	return gen_main(argc, argv, &family);
}
