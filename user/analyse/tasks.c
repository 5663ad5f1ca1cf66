// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * OpenMP tasks. A thread that waits in a barrier of its team runs tasks there, which is work. Tasks
 * are not traced. For a process with tasks, only bounds of the time lost in barriers are known.
 */
#include "analyse/internal.h"

#include "base/array.h"

#include <math.h>
#include <stdio.h>

void tasks_process(struct report_process *p, const struct model_sums *spent)
{
	double all = (double)p->threads * (double)p->elapsed_ns, inside = 0;
	uint32_t i;

	p->parallel_least = p->parallel_most = p->inside_oncpu = NAN;
	if (!p->tasks)
		return;
	/*
	 * The upper bound counts all time inside barriers as tasks, because even a sleeping thread
	 * may sleep in a task.
	 */
	for (i = 0; i < p->nmembers; i++)
		inside += (double)p->members[i].idle_ns;
	if (all > 0 && isfinite(p->efficiency.parallel)) {
		p->parallel_least = p->efficiency.parallel;
		p->parallel_most = fmin(1, p->parallel_least + inside / all);
	}
	if (spent->inside_known_ns)
		p->inside_oncpu = (double)spent->inside_oncpu_ns / (double)spent->inside_known_ns;
	p->efficiency = EFFICIENCY_UNKNOWN;
}

void tasks_barrier(struct report_barrier *b)
{
	b->release_ns = TIMES_UNKNOWN;
	b->gain_ns = b->delay_direct_ns = b->delay_passed_ns = REPORT_UNKNOWN;
	b->release_share = b->load_balance = b->serialisation = NAN;
	b->cause = (struct report_cause){ .share = NAN };
	b->pattern = REPORT_TASKS;
	snprintf(b->verdict, sizeof(b->verdict),
		 "Threads run tasks in this barrier. The time spent in them is unknown, so the "
		 "time shown as lost is an upper limit.");
	*b->advice = '\0';
}

void tasks_forget(struct report *r)
{
	array_for_each (p, r->processes, r->nprocesses) {
		if (!p->tasks)
			continue;
		p->release_ns = REPORT_UNKNOWN;
		array_for_each (c, r->conceptuals, r->nconceptuals) {
			if (c->pid != p->pid)
				continue;
			c->gain_ns = REPORT_UNKNOWN;
			c->efficiency = EFFICIENCY_UNKNOWN;
			c->cause = (struct report_cause){ .share = NAN };
		}
	}
}
