/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Small constructed reports, as if of several recordings of a program, for the tests of
 * comparisons.
 */
#ifndef TEST_RECORDINGS_H
#define TEST_RECORDINGS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/batches.h"
#include "analyse/report.h"

#define RECORDING_SITES	    8
#define RECORDING_PROCESSES 4
#define RECORDING_THREADS   4
#define MS		    1000000ULL

struct recording {
	struct report report;
	struct report_process processes[RECORDING_PROCESSES];
	struct report_barrier barriers[RECORDING_SITES];
	struct report_group groups[1];
	struct report_group_process members[RECORDING_PROCESSES];
	struct report_counter counters[RECORDING_PROCESSES + RECORDING_SITES][2];
	struct report_thread threads[RECORDING_SITES][RECORDING_THREADS];
	struct batches_barrier of_batches[RECORDING_SITES];
	struct batches batches;
};

static inline void recording_init(struct recording *r)
{
	memset(r, 0, sizeof(*r));
	r->report.processes = r->processes;
	r->report.barriers = r->barriers;
	r->report.groups = r->groups;
	r->report.lossless = true;
	r->report.start_ns = 1000;
	r->report.end_ns = 1000;
}

static inline struct report_process *recording_process(struct recording *r, const char *comm,
						       uint64_t elapsed_ns)
{
	uint32_t n = r->report.nprocesses++;
	struct report_process *p = &r->processes[n];

	*p = (struct report_process){ .index = n,
				      .pid = 100 + n,
				      .comm = comm,
				      .elapsed_ns = elapsed_ns,
				      .threads = RECORDING_THREADS,
				      .wait_ns = REPORT_UNKNOWN,
				      .detached_ns = REPORT_UNKNOWN,
				      .counted_from_ns = REPORT_UNKNOWN,
				      .efficiency = { NAN, NAN, NAN, NAN, NAN } };
	if (r->report.start_ns + elapsed_ns > r->report.end_ns)
		r->report.end_ns = r->report.start_ns + elapsed_ns;
	return p;
}

/*
 * Add a site to the last process: @n episodes, @phase_ns in all, of which a quarter is barrier
 * time.
 */
static inline struct report_barrier *recording_site(struct recording *r, const char *id,
						    const char *function, uint32_t line, uint64_t n,
						    uint64_t phase_ns, double stddev)
{
	struct report_process *p = &r->processes[r->report.nprocesses - 1];
	struct report_barrier *b = &r->barriers[r->report.nbarriers];
	struct report_thread *t = r->threads[r->report.nbarriers];

	*b = (struct report_barrier){ .index = r->report.nbarriers++,
				      .pid = p->pid,
				      .comm = p->comm,
				      .detached_ns = p->detached_ns,
				      .detached_beside_ns = REPORT_UNKNOWN,
				      .family = "pthread",
				      .kind = "explicit",
				      .function = function,
				      .file = "/src/a.c",
				      .line = line,
				      .episodes = n,
				      .load_balance = NAN,
				      .serialisation = NAN,
				      .lost_ns = n ? phase_ns / 2 : REPORT_UNKNOWN,
				      .nthreads = RECORDING_THREADS,
				      .threads = t };
	snprintf(b->id, sizeof(b->id), "%s", id);
	snprintf(b->label, sizeof(b->label), "%s a.c:%u", function ? function : "?", line);
	b->phase_ns = (struct report_times){ .n = n, .sum = phase_ns, .stddev = stddev };
	b->phase_ns.mean = n ? (double)phase_ns / (double)n : NAN;
	b->barrier_ns = (struct report_times){ .n = n, .sum = phase_ns / 4, .stddev = stddev };
	b->barrier_ns.mean = n ? (double)phase_ns / 4 / (double)n : NAN;
	b->release_ns = (struct report_times){ .n = 0, .stddev = NAN };
	b->wait_ns = b->release_ns;
	/* The wait of thread i is i sixths of the total. */
	for (unsigned i = 0; i < RECORDING_THREADS; i++)
		t[i] = (struct report_thread){ .tid = 100 + i,
					       .index = i,
					       .wait_ns = phase_ns * i / 12,
					       .idle_ns = REPORT_UNKNOWN };
	return b;
}

/* Add a counter to the last process, or to its last site if @site. */
static inline void recording_counter(struct recording *r, bool site, const char *name,
				     uint64_t value)
{
	uint32_t p = r->report.nprocesses - 1, b = r->report.nbarriers - 1;
	struct report_counter **c = site ? &r->barriers[b].counters : &r->processes[p].counters;
	uint32_t *n = site ? &r->barriers[b].ncounters : &r->processes[p].ncounters;

	*c = r->counters[site ? RECORDING_PROCESSES + b : p];
	(*c)[(*n)++] = (struct report_counter){ .name = name, .value = value };
}

/*
 * Fill the batches of the recording's sites. Phases are longer or shorter than their mean by a
 * share of up to @varies, derived from @seed.
 */
static inline void recording_batches(struct recording *r, double varies, unsigned seed)
{
	uint32_t state = seed * 2654435761u + 1;
	struct batches_barrier *to;
	double off;

	for (uint32_t i = 0; i < r->report.nbarriers; i++) {
		to = &r->of_batches[i];
		to->phase = to->within =
			(struct batches_times){ .n = BLOCKS / 2,
						.per = r->barriers[i].phase_ns.n / (BLOCKS / 2) };
		for (uint32_t k = 0; k < BLOCKS / 2; k++) {
			state = state * 1664525u + 1013904223u;
			off = (double)(state >> 8) / (1 << 23) - 1;
			to->phase.sum[k] = (double)r->barriers[i].phase_ns.sum / (BLOCKS / 2.0) *
					   (1 + varies * off);
			to->within.sum[k] = to->phase.sum[k] / 4;
		}
	}
	r->batches = (struct batches){ .n = r->report.nbarriers, .barriers = r->of_batches };
}

/*
 * Construct run number @run of an LU decomposition with contiguous (@slow 0) or non-contiguous
 * blocks. It has three phases with the total times of table 5.4 in E. Novillo's thesis (University
 * of Alberta, 2002) for 2048 x 2048, slightly different in each run. Release latencies and lost
 * time are arbitrary.
 */
static inline void recording_lu(struct recording *r, unsigned run, unsigned slow)
{
	static const uint64_t noise[] = { 0, 3, 1, 4, 2 };
	uint64_t off = noise[run % 5] * 20 * MS, total = (slow ? 66700 : 50800) * MS;
	const char *file = slow ? "/src/non/lu.c" : "/src/contiguous/lu.c";
	struct report_process *p;
	struct report_barrier *b;

	recording_init(r);
	p = recording_process(r, slow ? "lu_non" : "lu_contiguous", total + 2000 * MS + off);
	p->wait_ns = total / 10 + off;
	p->efficiency = (struct report_efficiency){ 0.8 - 0.001 * (double)noise[run % 5],
						    0.85 - 0.1 * slow, 0.97, 0.97, 0.94 };
	recording_counter(r, false, "PAPI_L2_TCM", slow ? 5800000 + off / MS : 1278722 + off / MS);
	b = recording_site(r, slow ? "#f1" : "#01", "lu", slow ? 700 : 690, 64, total / 50, 2e7);
	b->name = "Done factor diagonal block";
	b->file = file;
	snprintf(b->label, sizeof(b->label), "Done factor diagonal block lu.c:%u", b->line);
	b = recording_site(r, slow ? "#f2" : "#02", "lu", slow ? 741 : 730, 64,
			   total / 10 + (slow ? off / 4 : off / 2), 5e7);
	b->file = file;
	recording_counter(r, true, "PAPI_L2_TCM", 40000 + off / MS);
	b = recording_site(r, slow ? "#f3" : "#03", "lu", slow ? 783 : 772, 64,
			   total - total / 10 - total / 50 + off, 4e8);
	b->file = file;
	b->load_balance = 0.9 - 0.1 * slow;
	b->serialisation = 0.99;
	recording_counter(r, true, "PAPI_L2_TCM", slow ? 5700000 + off / MS : 1228722 + off / MS);
}

#endif /* TEST_RECORDINGS_H */
