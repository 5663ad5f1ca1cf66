// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A sequential program with phases of known lengths, after section 6.2 of E. Novillo's thesis
// (University of Alberta, 2002). It has no barrier.
//
// Known answer, with R rounds (default 5): points "read" (5 ms after the start or the previous
// point), then R times "compute" (10 ms) and "exchange" (2 ms), then "write" (1 ms). The conceptual
// phase "solve" spans all rounds once, and "inner" the 10 ms of each "compute". The thread reports
// the number 7. The program prints its own measurements, in ns.
#include "common.h"
#include "sbt.h"

ONE_COPY static void compute(void)
{
	SBT_PHASE_BEGIN("inner");
	sleep_ns(10000000);
	SBT_PHASE_END("inner");
	SBT_PHASE("compute");
}

int main(int argc, char **argv)
{
	uint64_t rounds = argc > 1 ? parse_u64("rounds", argv[1], 0, 1000000) : 5;
	uint64_t start, solve;

	stopgap(STOPGAP_SECONDS);
	exact_timers();
	SBT_THREAD(7);
	start = now_ns();
	sleep_ns(5000000);
	SBT_PHASE("read");
	SBT_PHASE_BEGIN("solve");
	solve = now_ns();
	for (uint64_t i = 0; i < rounds; i++) {
		compute();
		sleep_ns(2000000);
		SBT_PHASE("exchange");
	}
	solve = now_ns() - solve;
	SBT_PHASE_END("solve");
	sleep_ns(1000000);
	SBT_PHASE("write");
	printf("sbtphases: total=%llu solve=%llu ok\n", (unsigned long long)(now_ns() - start),
	       (unsigned long long)solve);
	return 0;
}
