// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Known answers for the barriers of C++20. --kind:
//   barrier     std::barrier::arrive_and_wait
//   completion  as `barrier`, with a completion function
//   split       arrive(), 20 us of work, wait(token); the log has the arrival of arrive()
//   drop        the barrier counts one more member, which left by arrive_and_drop at the start
//   latch       std::latch::arrive_and_wait; three latches alternate, each constructed anew for its
//               next use
//   countdown   all members but the first only call count_down, which leaves no trace and does not
//               wait; the first waits. No --log
#include "gen_core.h"

#include <barrier>
#include <latch>
#include <new>
#include <sched.h>

enum kind { BARRIER, COMPLETION, SPLIT, DROP, LATCH, COUNTDOWN };

static const char *const kinds[] = { "barrier", "completion", "split", "drop",
				     "latch",	"countdown",  nullptr };

static uint64_t completions;

struct complete {
	void operator()() noexcept
	{
		__atomic_fetch_add(&completions, 1, __ATOMIC_RELAXED);
	}
};

union object {
	std::barrier<> barrier;
	std::barrier<complete> completing;
	struct {
		std::latch latch[3];
		uint32_t count;
		uint32_t made; /* countdown */
	} latches;

	object()
	{
	}
	~object()
	{
	}
};

static object objects[GEN_MAX_OBJECTS];

static int meet_barrier(object *o)
{
	o->barrier.arrive_and_wait();
	return 0;
}

static int meet_completing(object *o)
{
	o->completing.arrive_and_wait();
	return 0;
}

static int meet_split(object *o)
{
	auto token = o->barrier.arrive();

	spin_until(now_ns() + 20000);
	o->barrier.wait(std::move(token));
	return 0;
}

/*
 * Return how often this thread has used the object. With --barriers it does not use it in each
 * round.
 */
static uint64_t next_use(const object *o)
{
	static thread_local uint64_t uses[GEN_MAX_OBJECTS];

	return uses[o - objects]++;
}

/*
 * In use r, the first member constructs latch r + 1 before it arrives. All members have arrived at
 * r - 1, so all have left r - 2, the last use of the same latch. No member uses r + 1 before the
 * first member has arrived at r.
 */
static std::latch *next_latch(object *o, uint32_t member)
{
	std::latch *latch = o->latches.latch;
	uint64_t use = next_use(o);

	if (member == 0 && use > 1)
		new (&latch[(use + 1) % 3]) std::latch(o->latches.count);
	return &latch[use % 3];
}

static int meet_latch(std::latch *latch)
{
	latch->arrive_and_wait();
	return 0;
}

/*
 * Threads that do not wait are delayed until the first thread has constructed the latch of this
 * round.
 */
static int count_down(object *o, uint32_t member)
{
	uint64_t use = next_use(o);
	std::latch *latch = &o->latches.latch[use % 3];

	if (member) {
		while (__atomic_load_n(&o->latches.made, __ATOMIC_ACQUIRE) < use + 1)
			sched_yield();
		latch->count_down();
	} else {
		new (latch) std::latch(o->latches.count);
		__atomic_store_n(&o->latches.made, use + 1, __ATOMIC_RELEASE);
		latch->arrive_and_wait();
	}
	return 0;
}

static object *of(void *o)
{
	return static_cast<object *>(o);
}

GEN_SITE(0, meet_barrier(of(object)) + (member == 0))
GEN_SITE(1, meet_completing(of(object)) + (member == 0))
GEN_SITE(2, meet_split(of(object)) + (member == 0))
GEN_SITE(3, meet_barrier(of(object)) + (member == 0))
GEN_SITE(4, meet_latch(next_latch(of(object), member)) + (member == 0))
GEN_SITE(5, count_down(of(object), member) + (member == 0))

static gen_site *const sites[] = { site_0, site_1, site_2, site_3, site_4, site_5 };

static void make(void *place, uint32_t count)
{
	object *o = of(place);

	switch (gen.kind) {
	case COMPLETION:
		new (&o->completing) std::barrier<complete>(count, complete{});
		break;
	case LATCH:
	case COUNTDOWN:
		o->latches.count = count;
		for (auto &latch : o->latches.latch)
			new (&latch) std::latch(count);
		break;
	case DROP:
		new (&o->barrier) std::barrier<>(count + 1);
		o->barrier.arrive_and_drop();
		break;
	default:
		new (&o->barrier) std::barrier<>(count);
		break;
	}
	if (gen.kind == COUNTDOWN && gen.logging)
		die("gen_std: --kind countdown: no thread waits for another: no --log");
}

int main(int argc, char **argv)
{
	static struct gen_family family = {};
	int status;

	family.name = "gen_std";
	family.flavour = "C++20";
	family.kinds = kinds;
	family.can = GEN_CAN_TEAM | GEN_SITE_BY_KIND;
	family.sites = ARRAY_SIZE(sites);
	family.site = sites;
	family.object_size = sizeof(object);
	family.storage = objects;
	family.make = make;
	status = gen_main(argc, argv, &family);
	if (gen.kind == COMPLETION)
		printf("gen_std: completions=%llu\n", (unsigned long long)completions);
	return status;
}
