// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Known answers for OpenMP: GCC builds gen_gomp from this file, and clang builds gen_libomp. Each
// kind has its own pragma, on a line of its own. In the log, the site is the kind's number. --kind:
//   barrier       #pragma omp barrier
//   for           the end of a loop with one iteration for each thread, static
//   dynamic       the end of a loop with a dynamic schedule: a thread without an iteration arrived
//                 at the loop's start
//   sections      the end of sections
//   single        the end of a single; the thread that executes it arrives after it
//   tasks         a barrier at which each thread's two tasks wait to be executed
//   copyprivate   the end of a single that passes a value to the others; GCC adds a barrier after
//                 it
//   all           these kinds, one after the other
//   region        the end of a parallel region, a new one in every round
//   parallel-for  the end of a parallel for, a new one in every round
// With --teams K there are K nested teams, each in a parallel region of its own inside one of K
// threads. At the end of a region only the master can see its own departure. For the other threads,
// the log has the start of the next region, or in the last round, the master's departure.
#include "gen_core.h"

#include <omp.h>

enum kind {
	BARRIER,
	FOR,
	DYNAMIC,
	SECTIONS,
	SINGLE,
	TASKS,
	COPYPRIVATE,
	ALL,
	REGION,
	PARALLEL_FOR
};

static const char *const kinds[] = { "barrier", "for",		"dynamic",     "sections",
				     "single",	"tasks",	"copyprivate", "all",
				     "region",	"parallel-for", NULL };

ONE_COPY static int site_barrier(void *object, uint32_t member, struct gen_entry *e)
{
	(void)object;
	gen_arrive(e);
#pragma omp barrier
	gen_depart(e);
	return member == 0;
}

ONE_COPY static int site_for(void *object, uint32_t member, struct gen_entry *e)
{
	int n = omp_get_num_threads();

	(void)object;
#pragma omp for schedule(static)
	for (int i = 0; i < n; i++)
		gen_arrive(e);
	gen_depart(e);
	return member == 0;
}

ONE_COPY static int site_dynamic(void *object, uint32_t member, struct gen_entry *e)
{
	int n = 2 * omp_get_num_threads();

	(void)object;
	gen_arrive(e);
#pragma omp for schedule(dynamic)
	for (int i = 0; i < n; i++)
		gen_arrive(e);
	gen_depart(e);
	return member == 0;
}

ONE_COPY static int site_sections(void *object, uint32_t member, struct gen_entry *e)
{
	(void)object;
	gen_arrive(e);
#pragma omp sections
	{
#pragma omp section
		gen_arrive(e);
#pragma omp section
		gen_arrive(e);
	}
	gen_depart(e);
	return member == 0;
}

ONE_COPY static int site_single(void *object, uint32_t member, struct gen_entry *e)
{
	(void)object;
	gen_arrive(e);
#pragma omp single
	gen_arrive(e);
	gen_depart(e);
	return member == 0;
}

ONE_COPY static int site_tasks(void *object, uint32_t member, struct gen_entry *e)
{
	(void)object;
	for (int i = 0; i < 2; i++) {
#pragma omp task
		spin_until(now_ns() + 20000);
	}
	gen_arrive(e);
#pragma omp barrier
	gen_depart(e);
	return member == 0;
}

ONE_COPY static int site_copyprivate(void *object, uint32_t member, struct gen_entry *e)
{
	uint64_t value;

	(void)object;
	gen_arrive(e);
#pragma omp single copyprivate(value)
	{
		value = now_ns();
		gen_arrive(e);
	}
	if (!value)
		die("gen_omp: the value did not arrive");
	gen_depart(e);
	return member == 0;
}

static gen_site *const sites[] = { site_barrier, site_for,   site_dynamic,    site_sections,
				   site_single,	 site_tasks, site_copyprivate };

/* Run a nested team, or the only team. */
static void run_team(uint32_t first, uint32_t n)
{
#pragma omp parallel num_threads((int)n)
	gen_member(first + (uint32_t)omp_get_thread_num());
}

static void run(uint32_t n)
{
	uint32_t teams = gen.teams;

	if (teams == 1) {
		run_team(0, n);
		return;
	}
	omp_set_max_active_levels(2);
#pragma omp parallel num_threads((int)teams)
	run_team((uint32_t)omp_get_thread_num() * (n / teams), n / teams);
}

/* Work for a round that ends with the region. Also log the departure from the previous round. */
static void part(uint64_t round)
{
	uint32_t index = (uint32_t)omp_get_thread_num();
	struct gen_entry *e;

	if (round && index && gen.logging)
		gen_depart(gen_earlier(index, round - 1));
	gen_work(index, round);
	e = gen_next(index, round, 0, gen.kind);
	e->tid = thread_id();
	if (index == 0)
		gen_serial(index, e);
	gen_arrive(e);
}

ONE_COPY static void round_region(uint64_t round)
{
#pragma omp parallel num_threads((int)gen.workers)
	part(round);
}

ONE_COPY static void round_parallel_for(uint64_t round)
{
	int n = (int)gen.workers;

#pragma omp parallel for num_threads(n) schedule(static)
	for (int i = 0; i < n; i++)
		part(round);
}

static void drive(void)
{
	uint64_t round = 0;

	if (gen.teams > 1)
		die("gen_omp: --teams: not with regions");
	do {
		if (gen.kind == REGION)
			round_region(round);
		else
			round_parallel_for(round);
		if (gen.logging)
			gen_depart(gen_earlier(0, round));
	} while (++round < gen.rounds && !gen_time_is_up());
	for (uint32_t i = 1; gen.logging && i < gen.workers; i++)
		gen_earlier(i, round - 1)->depart = gen_earlier(0, round - 1)->depart;
}

static void run_or_drive(uint32_t n)
{
	if (gen.kind >= REGION)
		drive();
	else
		run(n);
}

int main(int argc, char **argv)
{
	static const struct gen_family family = {
		.name = OMP_NAME,
		.flavour = "OpenMP",
		.kinds = kinds,
		.can = GEN_CAN_TEAM | GEN_SITE_BY_KIND,
		.sites = ARRAY_SIZE(sites),
		.site = sites,
		.run = run_or_drive,
	};

	omp_set_dynamic(0);
	return gen_main(argc, argv, &family);
}
