// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Known answers for absl::Barrier, which serves one episode. --kind:
//   place  two barriers alternate, each constructed again in the same memory
//   heap   as `place`, with new and delete, as in Abseil's documentation
#include "gen_core.h"

#include <absl/synchronization/barrier.h>
#include <new>

enum kind { PLACE, HEAP };

static const char *const kinds[] = { "place", "heap", nullptr };

struct object {
	absl::Barrier *turn[2];
	alignas(absl::Barrier) unsigned char place[2][sizeof(absl::Barrier)];
	uint32_t count;
};

static object objects[GEN_MAX_OBJECTS];

static object *of(void *o)
{
	return static_cast<object *>(o);
}

static void construct(object *o, int turn)
{
	if (gen.kind == HEAP)
		o->turn[turn] = new absl::Barrier(static_cast<int>(o->count));
	else
		o->turn[turn] = new (o->place[turn]) absl::Barrier(static_cast<int>(o->count));
}

static void destroy(object *o, int turn)
{
	if (gen.kind == HEAP)
		delete o->turn[turn];
	else
		o->turn[turn]->~Barrier();
}

/* Return which of the two barriers this thread crosses next, as an index. */
static int next_turn(const object *o)
{
	static thread_local unsigned int uses[GEN_MAX_OBJECTS];

	return uses[o - objects]++ % 2;
}

/*
 * The last thread that leaves a barrier replaces it. The other threads cannot use the new barrier
 * before that, because they first wait for this thread at the other barrier.
 */
static int leave(object *o, int turn, bool is_last)
{
	if (!is_last)
		return 0;
	destroy(o, turn);
	construct(o, turn);
	return 1;
}

/* Like GEN_SITE(), but the new barrier is constructed outside of the crossing. */
#define SITE(n)                                                                          \
	ONE_COPY static int site_##n(void *place, uint32_t member, struct gen_entry *e) \
	{                                                                                \
		object *o = of(place);                                                   \
		int turn = next_turn(o);                                                 \
		bool is_last;                                                            \
                                                                                         \
		(void)member;                                                            \
		gen_arrive(e);                                                           \
		is_last = o->turn[turn]->Block();                                        \
		gen_depart(e);                                                           \
		return leave(o, turn, is_last);                                          \
	}

SITE(0)
SITE(1)

static gen_site *const sites[] = { site_0, site_1 };

static void make(void *place, uint32_t count)
{
	object *o = of(place);

	o->count = count;
	construct(o, 0);
	construct(o, 1);
}

int main(int argc, char **argv)
{
	static struct gen_family family = {};

	family.name = "gen_absl";
	family.flavour = "absl::Barrier";
	family.kinds = kinds;
	family.can = GEN_CAN_TEAM;
	family.sites = ARRAY_SIZE(sites);
	family.site = sites;
	family.object_size = sizeof(object);
	family.storage = objects;
	family.make = make;
	return gen_main(argc, argv, &family);
}
