// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Known answers for a user's own barrier functions: atomics and sched_yield, so that nothing but their
// symbols can show them. --kind, and what is to be named to a tracer:
//   one        int my_barrier(struct bar *b)
//   second     int my_barrier_on(int colour, struct bar *b): the object is the second argument
//   global     int my_global_barrier(): no argument, one object for all
//   pair       int my_barrier_begin(struct bar *b), void my_barrier_end(struct bar *b)
//   method     int team::barrier::wait(unsigned), mangled
//   throws     int my_throwing_barrier(struct bar *b): every fourth crossing of a thread ends in a C++
//              exception, thrown after the meeting and caught by the caller
//   jumps      the same with longjmp: int my_jumping_barrier(struct bar *b, jmp_buf)
// At the end of throws and jumps: how many exceptions were caught, destructors run, jumps made.
#include "gen_core.h"

#include <sched.h>
#include <setjmp.h>

enum kind { ONE, SECOND, GLOBAL, PAIR, METHOD, THROWS, JUMPS };

static const char *const kinds[] = { "one",    "second", "global", "pair",
				     "method", "throws", "jumps",  nullptr };

struct bar {
	uint32_t count;
	uint32_t arrived;
	uint32_t generation;
	uint32_t crossings; /* throws, jumps */
	char line[48];
};

static struct bar bars[GEN_MAX_OBJECTS];
static uint32_t caught, destroyed, jumped;

/* Its caller is to be the function with a name. */
static inline __attribute__((always_inline)) uint32_t arrive_at(struct bar *b, int *last)
{
	uint32_t mine = __atomic_load_n(&b->generation, __ATOMIC_ACQUIRE);

	*last = __atomic_add_fetch(&b->arrived, 1, __ATOMIC_ACQ_REL) == b->count;
	if (*last) {
		__atomic_store_n(&b->arrived, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&b->generation, mine + 1, __ATOMIC_RELEASE);
	}
	return mine;
}

static inline __attribute__((always_inline)) void wait_out(struct bar *b, uint32_t mine)
{
	while (__atomic_load_n(&b->generation, __ATOMIC_ACQUIRE) == mine)
		sched_yield();
}

#define MEET(b)                                \
	int last;                              \
	uint32_t mine = arrive_at((b), &last); \
                                               \
	wait_out((b), mine)

extern "C" {
ONE_COPY int my_barrier(struct bar *b)
{
	MEET(b);
	return last;
}

ONE_COPY int my_barrier_on(int colour, struct bar *b)
{
	MEET(b);
	return last && colour;
}

ONE_COPY int my_global_barrier(void)
{
	MEET(&bars[0]);
	return last;
}

static thread_local uint32_t pair_generation;

ONE_COPY int my_barrier_begin(struct bar *b)
{
	int last;

	pair_generation = arrive_at(b, &last);
	return last;
}

ONE_COPY void my_barrier_end(struct bar *b)
{
	wait_out(b, pair_generation);
}

struct met {
	int last;
};

static int every_fourth(void)
{
	static thread_local uint32_t crossing;

	return ++crossing % 4 == 0;
}

ONE_COPY int my_throwing_barrier(struct bar *b)
{
	MEET(b);
	if (every_fourth())
		throw met{ last };
	return last;
}

ONE_COPY int my_jumping_barrier(struct bar *b, jmp_buf out)
{
	MEET(b);
	if (every_fourth())
		longjmp(out, last + 1);
	return last;
}
}

namespace team
{
struct barrier : bar {
	ONE_COPY int wait(unsigned int)
	{
		MEET(this);
		return last;
	}
};
} // namespace team

static inline struct bar *of(void *object)
{
	return static_cast<struct bar *>(object);
}

struct unwound {
	~unwound()
	{
		__atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED);
	}
};

/* Between the barrier and the catch there is something to unwind. */
ONE_COPY static int guarded(struct bar *b)
{
	unwound u;

	return my_throwing_barrier(b);
}

static inline int meet_catching(struct bar *b)
{
	try {
		return guarded(b);
	} catch (const met &m) {
		__atomic_fetch_add(&caught, 1, __ATOMIC_RELAXED);
		return m.last;
	}
}

static inline int meet_jumping(struct bar *b)
{
	jmp_buf out;
	int value = _setjmp(out);

	if (!value)
		return my_jumping_barrier(b, out);
	__atomic_fetch_add(&jumped, 1, __ATOMIC_RELAXED);
	return value - 1;
}

static inline int meet_pair(struct bar *b)
{
	int last = my_barrier_begin(b);

	my_barrier_end(b);
	return last;
}

/* Calls of my_barrier; one line a kind. */
GEN_SITE(0, my_barrier(of(object)))
GEN_SITE(1, my_barrier_on(1, of(object)))
GEN_SITE(2, my_global_barrier())
GEN_SITE(3, meet_pair(of(object)))
GEN_SITE(4, static_cast<team::barrier *>(of(object))->wait(member))
GEN_SITE(5, meet_catching(of(object)))
GEN_SITE(6, meet_jumping(of(object)))

static gen_site *const sites[] = { site_0, site_1, site_2, site_3, site_4, site_5, site_6 };

static void make(void *object, uint32_t count)
{
	if (gen.kind == GLOBAL && (gen.processes || gen.teams > 1))
		die("gen_user: --kind global: one object, of one team in one process");
	of(object)->count = count;
}

int main(int argc, char **argv)
{
	static struct gen_family family = {};
	int status;

	family.name = "gen_user";
	family.flavour = "a user's own functions";
	family.kinds = kinds;
	family.can = GEN_CAN_SHARE | GEN_CAN_TEAM | GEN_SITE_BY_KIND;
	family.sites = ARRAY_SIZE(sites);
	family.site = sites;
	family.object_size = sizeof(struct bar);
	family.storage = bars;
	family.make = make;
	status = gen_main(argc, argv, &family);
	if (gen.kind == THROWS)
		printf("gen_user: caught=%u destroyed=%u\n", caught, destroyed);
	if (gen.kind == JUMPS)
		printf("gen_user: jumped=%u\n", jumped);
	return status;
}
