// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Models of barriers: compute from the members' arrivals when each member may continue. Each model
 * follows the steps of its algorithm, starting from the arrivals. The models do not include a
 * member's own cost of entering and leaving (EntryTime, ExitTime): see predict_sim.c.
 */
#include "predict/predict_internal.h"

#include "base/number.h"

#include <math.h>
#include <stdlib.h>

/* The cost of a signal to another member. */
struct signal {
	double send; /* time that the sender spends */
	double transit;
};

static struct signal signal_between(const struct predict_net *net, const struct predict_arrival *a,
				    const struct predict_arrival *b)
{
	const struct predict_machine *m = net->m;

	/*
	 * On the same processor, a signal costs only the switch to the other thread (SwitchTime).
	 */
	if (a->home == b->home)
		return (struct signal){ 0, 0 };
	if (m->by_msgs != 0 && predict_net_distance(net, a->home, b->home) == PREDICT_CLUSTER)
		return (struct signal){ m->cluster_startup, m->msg_size * m->cluster_byte };
	if (m->by_msgs != 0)
		return (struct signal){ m->build_time + m->startup_time,
					predict_net_transit(net, a->home, b->home, m->msg_size) };
	return (struct signal){ 0, m->flag_time +
					   predict_net_hops(net, a->home, b->home) * m->hop_time };
}

/*
 * Return when a thread that polls every @period sees a condition that became true at @when. The
 * first poll ends @period after @from.
 */
static double seen_at(double from, double when, double period)
{
	double looks;

	if (period <= 0)
		return fmax(from, when);
	looks = ceil((when - from) / period);
	return from + fmax(looks, 1) * period;
}

/* Sort times. If they are few, use insertion sort, because they are usually nearly sorted. */
static void sort(double *t, uint32_t n)
{
	uint32_t i, j;
	double x;

	if (n > 64) {
		qsort(t, n, sizeof(*t), number_compare_double);
		return;
	}
	for (i = 1; i < n; i++) {
		x = t[i];
		for (j = i; j && t[j - 1] > x; j--)
			t[j] = t[j - 1];
		t[j] = x;
	}
}

static double last_of(const struct predict_arrival *m, uint32_t n)
{
	double last = m[0].arrive_ns;
	uint32_t i;

	for (i = 1; i < n; i++)
		last = fmax(last, m[i].arrive_ns);
	return last;
}

/*
 * The linear barrier of the paper (see predict.h), section 3.3.3, with flags in memory. The master
 * checks every CheckTime whether all threads have arrived, and takes ModelTime to lower the
 * barrier. From its arrival on, each slave checks every ExitCheckTime whether the barrier is
 * lowered.
 */
static void linear_flags(const struct predict_machine *m, struct predict_arrival *a, uint32_t n)
{
	double lowered = seen_at(a[0].arrive_ns, last_of(a, n), m->check_time) + m->model_time;
	uint32_t i;

	a[0].leave_ns = lowered;
	for (i = 1; i < n; i++)
		a[i].leave_ns = seen_at(a[i].arrive_ns, lowered, m->exit_check_time);
}

/*
 * The linear barrier with messages. The master receives the slaves' messages one by one, each in
 * CheckTime. Then it sends a message to each slave in turn, and the slave checks once more.
 */
static void linear_msgs(const struct predict_net *net, struct predict_arrival *a, uint32_t n,
			double *arrivals)
{
	const struct predict_machine *m = net->m;
	double t = a[0].arrive_ns;
	struct signal s;
	uint32_t i;

	for (i = 1; i < n; i++) {
		s = signal_between(net, &a[i], &a[0]);
		arrivals[i - 1] = a[i].arrive_ns + s.send + s.transit;
	}
	sort(arrivals, n - 1);
	for (i = 0; i + 1 < n; i++)
		t = fmax(t, arrivals[i]) + m->check_time;
	t += m->model_time;
	for (i = 1; i < n; i++) {
		s = signal_between(net, &a[0], &a[i]);
		t += s.send;
		a[i].leave_ns = t + s.transit + m->exit_check_time;
	}
	a[0].leave_ns = t;
}

/*
 * One counter, as in the C library. The threads update it one after the other. The last thread
 * takes ModelTime, and wakes the threads of other processors one after the other. Each woken thread
 * sees the release after the transit of a flag.
 */
static void central(const struct predict_net *net, struct predict_arrival *a, uint32_t n,
		    double *scratch)
{
	const struct predict_machine *m = net->m;
	double t = 0, wake;
	uint32_t i, last = 0;

	for (i = 0; i < n; i++) {
		scratch[i] = a[i].arrive_ns;
		if (a[i].arrive_ns >= a[last].arrive_ns)
			last = i;
	}
	sort(scratch, n);
	for (i = 0; i < n; i++)
		t = fmax(t, scratch[i]) + m->counter_time;
	t += m->model_time;
	wake = t;
	for (i = 0; i < n; i++) {
		struct signal s;

		if (i == last)
			continue;
		s = signal_between(net, &a[last], &a[i]);
		/* A thread of the same processor is only queued on it, which costs SwitchTime. */
		if (a[i].home != a[last].home)
			wake += m->wake_time + s.send;
		a[i].leave_ns = wake + s.transit + m->exit_check_time;
	}
	a[last].leave_ns = wake; /* after it has woken the other threads */
}

/*
 * A combining tree. The parent of member i is (i - 1) / arity. Each member first receives its
 * children's signals one by one. After the release it signals its children one by one.
 */
static void tree(const struct predict_net *net, struct predict_arrival *a, uint32_t n,
		 double *scratch)
{
	const struct predict_machine *m = net->m;
	uint32_t k = (uint32_t)m->arity, i, c, end;
	double *up = scratch, *arrivals = scratch + n, t;
	struct signal s;

	for (i = n; i-- > 0;) {
		uint32_t children = 0;

		t = a[i].arrive_ns;
		end = k * i + k < n - 1 ? k * i + k : n - 1;
		for (c = k * i + 1; c <= end; c++) {
			s = signal_between(net, &a[c], &a[i]);
			arrivals[children++] = up[c] + s.send + s.transit;
		}
		sort(arrivals, children);
		for (c = 0; c < children; c++)
			t = fmax(t, arrivals[c]) + m->check_time;
		up[i] = t;
	}
	a[0].leave_ns = up[0] + m->model_time;
	for (i = 0; i < n; i++) {
		end = k * i + k < n - 1 ? k * i + k : n - 1;
		for (c = k * i + 1; c <= end; c++) {
			s = signal_between(net, &a[i], &a[c]);
			a[i].leave_ns += s.send;
			a[c].leave_ns = a[i].leave_ns + s.transit + m->exit_check_time;
		}
	}
}

/*
 * In each round, member i signals member i + r, and waits for member i - r (modulo @n). The
 * distance r doubles from round to round.
 */
static void dissemination(const struct predict_net *net, struct predict_arrival *a, uint32_t n,
			  double *scratch)
{
	double *t = scratch, *next = scratch + n, *swap;
	uint32_t i, from, r;
	struct signal s, own;

	for (i = 0; i < n; i++)
		t[i] = a[i].arrive_ns;
	for (r = 1; r < n; r *= 2) {
		for (i = 0; i < n; i++) {
			from = (i + n - r) % n;
			s = signal_between(net, &a[from], &a[i]);
			own = signal_between(net, &a[i], &a[(i + r) % n]);
			next[i] = fmax(t[i] + own.send, t[from] + s.send + s.transit) +
				  net->m->check_time;
		}
		swap = t;
		t = next;
		next = swap;
	}
	for (i = 0; i < n; i++)
		a[i].leave_ns = t[i];
}

void predict_barrier_leave(const struct predict_net *net, struct predict_arrival *a, uint32_t n,
			   double *scratch)
{
	const struct predict_machine *m = net->m;
	double last = last_of(a, n);
	uint32_t i;

	if (n == 1) {
		/* a single member waits for no thread, so no model adds a cost */
		a[0].leave_ns = last;
		return;
	}
	switch ((enum predict_barrier)m->barrier) {
	case PREDICT_LINEAR:
		if (m->by_msgs != 0)
			linear_msgs(net, a, n, scratch);
		else
			linear_flags(m, a, n);
		break;
	case PREDICT_CENTRAL:
		central(net, a, n, scratch);
		break;
	case PREDICT_TREE:
		tree(net, a, n, scratch);
		break;
	case PREDICT_DISSEMINATION:
		dissemination(net, a, n, scratch);
		break;
	case PREDICT_FREE:
		for (i = 0; i < n; i++)
			a[i].leave_ns = last;
		break;
	}
}
