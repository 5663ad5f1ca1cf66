/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Estimate the thread time that tracing cost a process. All shares that are reported, and those
 * that --cost-limit compares with its limit, are shares of the available thread time:
 * cost_available(). This code does no I/O.
 */
#ifndef ANALYSE_COST_H
#define ANALYSE_COST_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Time that tracing adds to a page fault, ns: two BPF programs run. Measured as 60 to 100 ns; see
 * docs/internals/cost.md.
 */
#define COST_FAULT_NS 80

/* What happened in a process while it was traced, and what one event cost. */
struct cost_input {
	double crossing_ns; /* price of a crossing; NAN: unknown, and then the cost is, too */
	double switch_ns; /* price of losing a CPU, waking and getting a CPU; NAN: unknown */
	double samples_ns; /* time that its samples took */
	uint64_t crossings; /* number of crossings and of marks, which cost as much */
	uint64_t looks; /* number of probe hits that were no crossings: one probe each */
	uint64_t slept; /* number of crossings in which the thread slept */
	uint64_t switches; /* number of context switches outside barriers */
	uint64_t faults; /* number of page faults that BPF programs saw */
	/* thread time for which threads waited for a CPU that sbt-trace had */
	uint64_t interference_ns;
	/*
	 * Thread time for which threads outside barriers waited for any CPU, or the host had their
	 * CPU. Contains the part of interference_ns outside barriers.
	 */
	uint64_t no_cpu_ns;
	uint64_t threads_ns; /* time of all threads, as in cost_available() */
	uint64_t elapsed_ns; /* time in which these threads ran */
	uint32_t members; /* number of threads in an episode */
	uint32_t ncpus; /* number of CPUs; 0: unknown */
};

struct cost {
	double probes_ns; /* crossings, marks and looks */
	double switches_ns; /* context switches, wake-ups, page faults and samples */
	double interference_ns; /* time that all members lost while sbt-trace had a CPU */
	double ns; /* total thread time that tracing cost: at most the available thread time */
	/*
	 * The prices times the numbers exceed the time in which the threads had CPUs. So the prices
	 * are too high, and ns is only an upper limit: all of the available thread time.
	 */
	bool limited;
};

/*
 * Return the available thread time, ns: the time of the threads, but at most as many threads at a
 * time as there are CPUs (0: unknown). If threads share CPUs, the cost of one thread also delays
 * the other threads on its CPU.
 */
uint64_t cost_available(uint64_t threads_ns, uint64_t elapsed_ns, uint32_t ncpus);

/* Estimate the cost. If the price of a crossing is unknown, all times are NAN. */
struct cost cost_estimate(const struct cost_input *in);

#endif /* ANALYSE_COST_H */
