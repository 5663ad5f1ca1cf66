// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// TBB has no barrier that a program could call. This program has rounds of tbb::parallel_for. At
// the end of each, only the calling thread waits, in the library:
// tbb::detail::r1::execute_and_wait. No call shows which threads take part in a round, and when
// they finish.
//   tbb_rounds [THREADS [ROUNDS]]   (4, 200)
#include "common.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

int main(int argc, char **argv)
{
	uint32_t threads = argc > 1 ? (uint32_t)parse_u64("THREADS", argv[1], 1, 64) : 4;
	uint32_t rounds = argc > 2 ? (uint32_t)parse_u64("ROUNDS", argv[2], 1, 1000000) : 200;
	tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
	uint64_t turns = 0;

	stopgap(STOPGAP_SECONDS);
	for (uint32_t round = 0; round < rounds; round++)
		tbb::parallel_for(0U, threads, [&](uint32_t) {
			spin_until(now_ns() + 20000);
			__atomic_fetch_add(&turns, 1, __ATOMIC_RELAXED);
		});
	printf("tbb_rounds: rounds=%u turns=%llu ok\n", rounds, (unsigned long long)turns);
	return turns != (uint64_t)rounds * threads;
}
