// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Known answers for a user's own barrier functions. They use atomics and sched_yield, so that only
// their symbols identify them. --kind, and the functions to name to a tracer:
//   one        int my_barrier(struct bar *b)
//   second     int my_barrier_on(int colour, struct bar *b): the object is the second argument
//   global     int my_global_barrier(): no argument, one object for all
//   pair       int my_barrier_begin(struct bar *b), void my_barrier_end(struct bar *b)
//   method     int team::barrier::wait(unsigned), mangled
//   throws     int my_throwing_barrier(struct bar *b): every fourth crossing of a thread ends with
//              a C++ exception, thrown after the episode and caught by the caller
//   jumps      as `throws`, with longjmp: int my_jumping_barrier(struct bar *b, jmp_buf)
//   two        my_barrier; for 5 ms before each crossing, each thread repeats int
//              my_hot_barrier(struct bar *b) on an object of its own, which counts 1
//   mixed      my_barrier, every 5 ms. Before each crossing, all threads cross one other object a
//              hundred times: every other thread by my_hot_barrier, the rest by int
//              my_second_barrier(struct bar *b)
// At the end, `two` and `mixed` print one JSON object. For each episode of my_barrier it has its
// end (CLOCK_MONOTONIC), the number of calls of the hot barriers so far, and the CPU time of the
// process. `throws` and `jumps` print how many exceptions were caught, destructors run, and jumps
// made.
#include "gen_core.h"

#include <sched.h>
#include <setjmp.h>

enum kind { ONE, SECOND, GLOBAL, PAIR, METHOD, THROWS, JUMPS, TWO, MIXED };

static const char *const kinds[] = { "one",    "second", "global", "pair",  "method",
				     "throws", "jumps",	 "two",	   "mixed", nullptr };

struct bar {
	uint32_t count;
	uint32_t arrived;
	uint32_t generation;
	uint32_t crossings; /* kinds throws and jumps */
	char line[48];
};

static struct bar bars[GEN_MAX_OBJECTS];
static uint32_t caught, destroyed, jumped;

#define HOT_NS	   5000000u
#define HOT_ROUNDS 65536u

static struct {
	uint64_t calls[GEN_MAX_OBJECTS]; /* by member */
	uint64_t ended_ns[HOT_ROUNDS], hot[HOT_ROUNDS], cpu_ns[HOT_ROUNDS];
	uint32_t rounds;
} hot;

/* Always inlined, so that its caller is the function that has the barrier's name. */
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

ONE_COPY int my_second_barrier(struct bar *b)
{
	MEET(b);
	return last;
}

ONE_COPY int my_hot_barrier(struct bar *b)
{
	MEET(b);
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

/* A frame with a destructor, which the exception unwinds between the barrier and the catch. */
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

static uint64_t cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

ONE_COPY static void go_hot(uint32_t member, uint64_t until)
{
	static thread_local struct bar own;
	uint64_t n = hot.calls[member];

	own.count = 1;
	do {
		for (int i = 0; i < 50; i++)
			my_hot_barrier(&own);
		n += 50;
		/* The last arriver of an episode reads this number. */
		__atomic_store_n(&hot.calls[member], n, __ATOMIC_RELAXED);
	} while (now_ns() < until);
}

ONE_COPY static void go_mixed(uint32_t member, uint64_t until)
{
	static struct bar *all = &bars[GEN_MAX_OBJECTS - 1];

	__atomic_store_n(&all->count, gen.threads, __ATOMIC_RELAXED);
	for (int i = 0; i < 100; i++) {
		if (member % 2)
			my_second_barrier(all);
		else
			my_hot_barrier(all);
	}
	__atomic_fetch_add(&hot.calls[member], 100, __ATOMIC_RELAXED);
	sleep_until(until);
}

/*
 * Record the end of an episode. The last arriver calls this before any member can arrive at the
 * next episode.
 */
static void note_round(void)
{
	uint32_t round = hot.rounds;

	if (round == HOT_ROUNDS)
		return;
	for (uint32_t i = 0; i < gen.threads; i++)
		hot.hot[round] += __atomic_load_n(&hot.calls[i], __ATOMIC_RELAXED);
	hot.cpu_ns[round] = cpu_now();
	hot.ended_ns[round] = now_ns();
	hot.rounds = round + 1;
}

ONE_COPY static int meet_after_hot(void *object, uint32_t member, struct gen_entry *e)
{
	int last;

	if (gen.kind == MIXED)
		go_mixed(member, now_ns() + HOT_NS);
	else
		go_hot(member, now_ns() + HOT_NS);
	gen_arrive(e);
	last = my_barrier(of(object));
	gen_depart(e);
	if (last)
		note_round();
	return last;
}

static void print_list(const char *name, const uint64_t *values)
{
	printf(", \"%s\": [", name);
	for (uint32_t i = 0; i < hot.rounds; i++)
		printf("%s%llu", i ? ", " : "", (unsigned long long)values[i]);
	printf("]");
}

/* The calls of the barrier functions, with one line for each kind. */
GEN_SITE(0, my_barrier(of(object)))
GEN_SITE(1, my_barrier_on(1, of(object)))
GEN_SITE(2, my_global_barrier())
GEN_SITE(3, meet_pair(of(object)))
GEN_SITE(4, static_cast<team::barrier *>(of(object))->wait(member))
GEN_SITE(5, meet_catching(of(object)))
GEN_SITE(6, meet_jumping(of(object)))

ONE_COPY static int site_7(void *object, uint32_t member, struct gen_entry *e)
{
	return meet_after_hot(object, member, e);
}

ONE_COPY static int site_8(void *object, uint32_t member, struct gen_entry *e)
{
	return meet_after_hot(object, member, e);
}

static gen_site *const sites[] = { site_0, site_1, site_2, site_3, site_4,
				   site_5, site_6, site_7, site_8 };

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
	if (gen.kind == TWO || gen.kind == MIXED) {
		printf("{\"rounds\": %u", hot.rounds);
		print_list("ended_ns", hot.ended_ns);
		print_list("hot", hot.hot);
		print_list("cpu_ns", hot.cpu_ns);
		printf("}\n");
	}
	return status;
}
