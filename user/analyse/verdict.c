// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Verdicts: one sentence with the figures, and one with advice. */
#include "analyse/internal.h"
#include "base/array.h"
#include "base/number.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * If one barrier has at least this share of a process's lost time, the sentences about that barrier
 * say which threads are late.
 */
#define VERDICT_ALL_AT_ONE 0.9

struct text {
	char *buf;
	size_t size, n;
	bool cut; /* the text did not fit and ends in "..." */
	const char *one; /* noun for a member: "thread", "rank" */
};

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *t, const char *fmt, ...)
{
	va_list args;
	int n;

	if (t->cut)
		return;
	va_start(args, fmt);
	/* clang-tidy 14 loses track of va_start() if it checks several files at once. */
	// NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized)
	n = vsnprintf(t->buf + t->n, t->size - t->n, fmt, args);
	va_end(args);
	if (n > 0 && (size_t)n < t->size - t->n) {
		t->n += (size_t)n;
	} else if (n > 0) {
		t->n = name_cut(t->buf, t->size);
		t->cut = true;
	}
}

/*
 * Return the known time of a thread: in its life or, at a barrier, in the phases that end there.
 * All shares of thread time are shares of this time. If a thread ends when it arrives, idle_ns does
 * not include its wait for the team.
 */
static uint64_t time_of(const struct report_thread *t)
{
	uint64_t inside = t->idle_ns > t->wait_ns ? t->idle_ns : t->wait_ns;

	return t->work_ns == REPORT_UNKNOWN ? 0 : t->work_ns + inside;
}

/* Return a thread's number within its process. Across several processes, only the tid is unique. */
static uint32_t number_of(const struct report_thread *t, bool shared)
{
	return shared || t->index == MODEL_NONE ? t->tid : t->index;
}

/*
 * Append "thread 12" or "threads 12-15, 18": at most three ranges, then the number of remaining
 * threads.
 */
static void add_threads(struct text *t, uint32_t *tids, uint32_t n)
{
	uint32_t i, j, shown = 0;

	qsort(tids, n, sizeof(*tids), number_compare_u32);
	add(t, n == 1 ? "%s " : "%ss ", t->one);
	for (i = 0; i < n; i = j + 1) {
		for (j = i; j + 1 < n && tids[j + 1] == tids[j] + 1; j++)
			;
		if (shown++ == 3) {
			add(t, " and %u more", n - i);
			return;
		}
		add(t, i ? ", %u" : "%u", tids[i]);
		if (j > i)
			add(t, j == i + 1 ? ", %u" : "-%u", tids[j]);
	}
}

/* A difference between mean waits of less than this number of standard errors may be chance. */
#define STANDARD_ERRORS 2.5

struct waiter {
	uint32_t number;
	double share; /* wait_ns as a share of all_ns */
	double wait_ns, all_ns; /* time_of() */
	double waits; /* number of complete episodes in wait_ns; 0 if unknown */
	double squares; /* sum of the squared waits of these episodes */
};

static int waiter_cmp(const void *a, const void *b)
{
	const struct waiter *x = a, *y = b;

	return x->share != y->share ? NUMBER_COMPARE(x->share, y->share)
				    : NUMBER_COMPARE(x->number, y->number);
}

/*
 * Return the index that splits the sorted waiters into the two groups that differ most: the
 * variance between the groups is greatest (Otsu 1979). One thread that differs from a thousand
 * others then forms its own group. Return 0 if all shares are equal.
 */
static uint32_t divide(const struct waiter *w, uint32_t n)
{
	double all = 0, low = 0, apart, between, most = 0;
	uint32_t i, at = 0;

	for (i = 0; i < n; i++)
		all += w[i].share;
	for (i = 1; i < n; i++) {
		low += w[i - 1].share;
		apart = (all - low) / (n - i) - low / i;
		between = apart * apart * i * (n - i);
		if (w[i].share > w[i - 1].share && between > most) {
			most = between;
			at = i;
		}
	}
	return at;
}

/* Write the threads with a known share to @w. Return the number of these threads. */
static uint32_t waiters_of(const struct report_thread *threads, uint32_t n, bool shared,
			   struct waiter *w)
{
	uint32_t i, known = 0;
	double all, wait;

	for (i = 0; i < n; i++) {
		all = (double)time_of(&threads[i]);
		wait = (double)threads[i].wait_ns;
		if (all > 0 && threads[i].tid)
			w[known++] = (struct waiter){ .number = number_of(&threads[i], shared),
						      .share = wait / all,
						      .wait_ns = wait,
						      .all_ns = all,
						      .waits = (double)threads[i].waits,
						      .squares = threads[i].wait_squares };
	}
	return known;
}

/* Write the positions with a known share to @w. Return the number of these positions. */
static uint32_t waiting_positions(const struct report_thread *threads, uint32_t n, struct waiter *w)
{
	uint32_t i, known = 0;

	array_for_each (t, threads, n) {
		struct waiter *at;

		if (t->position == MODEL_NONE || t->work_ns == REPORT_UNKNOWN)
			continue;
		at = &w[t->position];
		at->number = t->position;
		at->wait_ns += (double)t->wait_ns;
		at->all_ns += (double)time_of(t);
		at->waits += (double)t->waits;
		at->squares += t->wait_squares;
	}
	for (i = 0; i < n; i++) {
		if (!(w[i].all_ns > 0))
			continue;
		w[known] = w[i];
		w[known].share = w[i].wait_ns / w[i].all_ns;
		known++;
	}
	return known;
}

/* Return true if members run one after another. Their positions are then compared instead. */
static bool follow_each_other(const struct report_process *p)
{
	return p->positions && p->positions < p->threads;
}

/* The threads to compare, or the positions of threads that run one after another. */
struct team {
	const struct report_thread *threads;
	uint32_t n;
	bool shared; /* numbered by tid */
	bool positions;
};

static struct team team_of(const struct report_process *p)
{
	return (struct team){ p->members, p->nmembers, p->index == MODEL_NONE && !p->ranked,
			      follow_each_other(p) };
}

static struct team team_at(const struct report_barrier *b)
{
	return (struct team){ b->threads, b->nthreads, b->shared && !b->ranked, false };
}

/* Waiters, sorted by share. Free with free(all). */
struct divided {
	struct waiter *all;
	uint32_t n;
	/* index of the first waiter of the group that waits more; 0 if all are alike */
	uint32_t at;
};

/* Sums over a group of waiters. */
struct waiting {
	double wait_ns, all_ns, waits, squares;
};

static struct waiting waiting_of(const struct waiter *w, uint32_t n)
{
	struct waiting sum = { 0 };
	uint32_t i;

	for (i = 0; i < n; i++) {
		sum.wait_ns += w[i].wait_ns;
		sum.all_ns += w[i].all_ns;
		sum.waits += w[i].waits;
		sum.squares += w[i].squares;
	}
	return sum;
}

/* Return the squared standard error of the mean wait of an episode. */
static double squared_error(const struct waiting *w)
{
	double mean = w->wait_ns / w->waits;

	return fmax(0, w->squares / w->waits - mean * mean) / w->waits;
}

/*
 * Return true if the waiters from d->at on wait more than the waiters before them. The difference
 * must be at least VERDICT_LITTLE of their time, and more than STANDARD_ERRORS standard errors. If
 * single waits are unknown, the first test is enough.
 */
static bool differ(const struct divided *d)
{
	struct waiting low = waiting_of(d->all, d->at);
	struct waiting high = waiting_of(d->all + d->at, d->n - d->at);

	if (!(low.all_ns > 0 && high.all_ns > 0) ||
	    high.wait_ns / high.all_ns - low.wait_ns / low.all_ns < VERDICT_LITTLE)
		return false;
	if (!(low.waits > 0 && high.waits > 0))
		return true;
	return high.wait_ns / high.waits - low.wait_ns / low.waits >
	       STANDARD_ERRORS * sqrt(squared_error(&low) + squared_error(&high));
}

static struct divided divide_all(const struct team *team)
{
	struct divided d = { .all = calloc(team->n + 1u, sizeof(*d.all)) };

	if (!d.all)
		return d;
	d.n = team->positions ? waiting_positions(team->threads, team->n, d.all)
			      : waiters_of(team->threads, team->n, team->shared, d.all);
	qsort(d.all, d.n, sizeof(*d.all), waiter_cmp);
	d.at = divide(d.all, d.n);
	if (d.at && !differ(&d))
		d.at = 0;
	return d;
}

/* Return true if several shares are known and differ by no more than chance explains. */
static bool alike(struct team team)
{
	struct divided d = divide_all(&team);
	bool same = d.n > 1 && !d.at;

	free(d.all);
	return same;
}

bool verdict_alike(const struct report_barrier *b)
{
	return alike(team_at(b));
}

static void add_group(struct text *t, const struct waiter *w, uint32_t n, uint32_t *numbers,
		      const char *verb)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		numbers[i] = w[i].number;
	add_threads(t, numbers, n);
	add(t, " %s", verb);
	if (text_percent(w[0].share) == text_percent(w[n - 1].share))
		add(t, " %d %%", text_percent(w[0].share));
	else
		add(t, " %d-%d %%", text_percent(w[0].share), text_percent(w[n - 1].share));
}

/* Append the threads that wait and the threads that work. @where is " there", or "". */
static void add_idlers(struct text *t, struct team team, const char *where)
{
	struct divided d = divide_all(&team);
	uint32_t *numbers = calloc(d.n + 1u, sizeof(*numbers));
	const char *one = t->one;

	if (d.at && numbers) {
		if (team.positions)
			t->one = "position";
		add(t, "; ");
		add_group(t, d.all + d.at, d.n - d.at, numbers, d.n - d.at == 1 ? "waits" : "wait");
		add(t, d.n - d.at == 1 ? " of its time%s, " : " of their time%s, ", where);
		add_group(t, d.all, d.at, numbers, "only");
		t->one = one;
	}
	free(numbers);
	free(d.all);
}

/*
 * Return true if most crossings are by threads that take part only a few times: threads created per
 * task, or one team after another. A thread with few episodes may be late in all or none of them,
 * which predicts nothing.
 */
static bool come_and_go(const struct report_barrier *b)
{
	uint64_t all = 0, lasting = 0;

	array_for_each (t, b->threads, b->nthreads) {
		all += t->crossings;
		if (t->tid && t->crossings >= VERDICT_FEW)
			lasting += t->crossings;
	}
	return b->episodes >= VERDICT_FEW && 2 * lasting < all;
}

/* Classify an imbalance as static, rotating or mixed, by the shares of time lost to each. */
static enum report_pattern split(double lost_static, double lost_rotating)
{
	double sum = lost_static + lost_rotating;

	if (isnan(sum) || sum <= 0)
		return REPORT_MIXED_LOSS;
	if (lost_static >= sum * 2 / 3)
		return REPORT_STATIC;
	if (lost_rotating >= sum * 2 / 3)
		return REPORT_ROTATING;
	return REPORT_MIXED_LOSS;
}

#define ADVICE_TURNS                                                                   \
	"Do less in critical and ordered sections and under locks: use reductions or " \
	"atomics, and give each thread its own data."

static const char *advice(enum report_pattern pattern)
{
	switch (pattern) {
	case REPORT_STATIC:
		return "Redistribute the work: by cost instead of by count, or cyclically.";
	case REPORT_ROTATING:
		return "The last arriver changes each time, so redistributing the work will not "
		       "help: use fewer barriers, or dynamic scheduling.";
	case REPORT_MIXED_LOSS:
		return "Some threads are late more often than others, and the late threads change "
		       "as well: redistribute the work first, then try fewer barriers or dynamic "
		       "scheduling.";
	case REPORT_COSTLY:
		return "The barrier itself is expensive: use fewer or cheaper barriers, longer "
		       "phases, and no more threads than CPUs.";
	case REPORT_FEW:
		return "Too few episodes to act on: trace for longer if the program has more.";
	case REPORT_BALANCED:
	case REPORT_SUM_ONLY:
	case REPORT_TASKS:
		break;
	}
	return "";
}

#define ADVICE_CPU_AND_WORK                                                                \
	"The late threads have more work, and they also wait for a CPU: redistribute the " \
	"work, and keep other tasks off their CPUs or use fewer threads."
#define ADVICE_RELEASED                                                                   \
	"The released threads wait for a CPU, so the barrier itself is not the problem: " \
	"use no more threads than CPUs, and keep other tasks off their CPUs."
#define ADVICE_AWAIT "The late threads wait inside the phase for another thread, which "

/*
 * Return the advice about the thread that the late threads wait for, by its activity during the
 * wait.
 */
static const char *await_advice(enum model_doing doing)
{
	switch ((unsigned)doing) {
	case MODEL_DOING_ONCPU:
		return ADVICE_AWAIT "computes: give it less work, divide its work, or start it "
				    "earlier.";
	case MODEL_DOING_RUNQ:
		return ADVICE_AWAIT "waits for a CPU: use fewer threads, or keep other tasks off "
				    "its CPU (affinity, priority).";
	case MODEL_DOING_BLOCKED + MODEL_BLOCKED_SLEEP:
		return ADVICE_AWAIT "sleeps: let it wait for the event instead, or remove the "
				    "sleep.";
	case MODEL_DOING_BLOCKED + MODEL_BLOCKED_LOCK:
		return ADVICE_AWAIT "waits for a lock or a third thread: look at the lock's "
				    "holder, or at the third thread.";
	case MODEL_DOING_BLOCKED + MODEL_BLOCKED_GIL:
		return ADVICE_AWAIT "waits for the GIL of Python: do the work that holds it in "
				    "another process, or in code that releases it.";
	case MODEL_DOING_BLOCKED + MODEL_BLOCKED_IO:
		return ADVICE_AWAIT "waits for I/O: start the I/O earlier, or look at the "
				    "thread at the other end.";
	default:
		return "The late threads wait inside the phase until another thread wakes them: "
		       "look at what delays that thread, or start it earlier.";
	}
}

/*
 * Return true if the late threads wait for another thread, and not for an object that a thread
 * holds.
 */
static bool await_thread(const struct report_cause *cause)
{
	switch (cause->waited) {
	case WAITED_SEMAPHORE:
	case WAITED_CONDITION:
	case WAITED_EVENT:
	case WAITED_VALUE:
		return cause_is(cause, CAUSE_LOCK);
	case WAITED_THREAD:
		return cause_is(cause, CAUSE_IO) || cause_is(cause, CAUSE_LOCK);
	default:
		return false;
	}
}

/* Return the advice for a known cause other than more work, or "" if there is none. */
static const char *cause_advice(const struct report_cause *cause)
{
	static const struct {
		enum cause_kind kind;
		const char *advice;
	} advices[] = {
		{ CAUSE_SLOWER_WORK,
		  "The late threads do no more work, but do it more slowly: look at their memory "
		  "accesses, at cache sharing, and at their CPUs." },
		{ CAUSE_CPU,
		  "The late threads lack a CPU, so redistributing the work will not help: use "
		  "fewer threads, or keep other tasks off their CPUs (affinity, priority)." },
		{ CAUSE_LOCK, "Hold the lock for less time, or split the data that it protects." },
		{ CAUSE_GIL,
		  "Only one thread of a Python process executes Python code at a time: do the "
		  "work that holds the GIL in another process, or in code that releases it." },
		{ CAUSE_IO, "Move the input and output out of the phase: before it, after it, or "
			    "to a separate thread." },
		{ CAUSE_FAULT, "Prepare the memory beforehand: allocate once and reuse it, touch "
			       "it early, or use larger pages." },
		{ CAUSE_SLEEP, "The late threads sleep inside the phase: wait for the event "
			       "instead of sleeping, or remove the sleep." },
		{ CAUSE_THROTTLED, "Raise the CPU quota of the cgroup, or use no more threads than "
				   "the quota allows." },
		{ CAUSE_STEAL, "The host of this virtual machine runs something else on its CPUs: "
			       "redistributing the work will not help, dedicated CPUs will." },
		{ CAUSE_OTHER,
		  "The late threads are blocked inside the phase and do not work: redistributing "
		  "the work will not help, see what they wait for." },
		{ CAUSE_RELEASED_LATE,
		  "The late threads leave the preceding barrier late: give each thread a CPU that "
		  "is free at the release, or let the barrier spin." },
	};
	static const char *const waits[] = {
		[WAITED_JOIN] = "The late threads wait for other threads to end inside the phase: "
				"create those threads earlier, give them less work, or join them "
				"later.",
		[WAITED_BARRIER] = "The late threads wait at another barrier inside the phase: "
				   "look at the last arrivers there.",
	};
	size_t i;

	if (await_thread(cause))
		return await_advice(cause->doing);
	if (cause_is(cause, CAUSE_LOCK) && cause->waited < sizeof(waits) / sizeof(waits[0]) &&
	    waits[cause->waited])
		return waits[cause->waited];
	if (cause_is(cause, CAUSE_RELEASED_LATE) && cause->waited == WAITED_ELSEWHERE)
		return "The late threads took part in other episodes, which ended later: look at "
		       "the phases that end there.";
	for (i = 0; i < sizeof(advices) / sizeof(advices[0]); i++) {
		if (cause_is(cause, advices[i].kind))
			return advices[i].advice;
	}
	return "";
}

/* Return true if the cause of the lateness is known and is not more work. */
static bool by_another(const struct report_cause *c)
{
	return c->dominant && !cause_is(c, CAUSE_WORK) && !cause_is(c, CAUSE_MORE_WORK) &&
	       !cause_is(c, CAUSE_UNATTRIBUTED);
}

bool verdict_by_work(const struct report_barrier *b)
{
	const struct report_cause *c = &b->cause;

	return c->share >= 0.5 && (cause_is(c, CAUSE_WORK) || cause_is(c, CAUSE_MORE_WORK));
}

/*
 * Return true if one thread is nearly always last. Such a thread may have no more work than the
 * others, but always get the last turn. The imbalance is then static, although the work is even.
 */
static bool same_last(const struct report_barrier *b)
{
	return b->last_tid && b->last_share >= 0.9;
}

static enum report_pattern barrier_pattern(const struct report_barrier *b)
{
	enum report_pattern pattern;
	double lost = isnan(b->imbalance) ? 0 : b->imbalance;
	double release = isnan(b->release_share) ? 0 : b->release_share;

	if (b->episodes < VERDICT_FEW)
		return REPORT_FEW;
	if (lost < VERDICT_LITTLE && release < VERDICT_LITTLE)
		return REPORT_BALANCED;
	if (release > lost)
		return REPORT_COSTLY;
	if (b->processes > 1)
		return REPORT_SUM_ONLY;
	if (come_and_go(b))
		return REPORT_MIXED_LOSS;
	if (alike(team_at(b)))
		return REPORT_ROTATING;
	/*
	 * If only sums are known, the longest path is unknown. The static loss is known, and the
	 * rest counts as rotating.
	 */
	if (isnan(b->serialisation))
		pattern = split(1 - b->load_balance, fmax(0, lost - (1 - b->load_balance)));
	else
		pattern = split(1 - b->load_balance, b->load_balance * (1 - b->serialisation));
	return pattern == REPORT_ROTATING && same_last(b) ? REPORT_STATIC : pattern;
}

static uint32_t last_number(const struct report_barrier *b)
{
	array_for_each (t, b->threads, b->nthreads) {
		if (t->tid == b->last_tid)
			return number_of(t, b->shared && !b->ranked);
	}
	return b->last_tid;
}

static void add_last(struct text *t, const struct report_barrier *b)
{
	/*
	 * One of several equal threads may be last in up to 1.5 times its share of the episodes by
	 * chance.
	 */
	if (b->last_tid && b->episodes >= VERDICT_FEW && b->participants &&
	    b->last_share * b->participants > 1.5)
		add(t, "; %s %u arrives last most often, in %d %% of the episodes", t->one,
		    last_number(b), text_percent(b->last_share));
}

/* Append what few episodes show. @lost is in per cent. */
static void add_few(struct text *t, const struct report_barrier *b, int lost)
{
	if (!b->episodes && b->unmet && b->summed) {
		add(t, "Its episodes and waits are unknown with --aggregate: processes share this "
		       "barrier, or there are too many barriers.");
	} else if (!b->episodes && b->unmet) {
		add(t, "Its other participants are unknown: processes may share this barrier, and "
		       "this process exited before sbt-trace could identify the shared memory.");
	} else if (!b->episodes) {
		add(t, "No complete episode was seen, so no verdict is possible.");
	} else {
		add(t,
		    "Based on only %llu complete episode%s: %d %% of phase time was lost waiting",
		    (unsigned long long)b->episodes, b->episodes == 1 ? "" : "s", lost);
		add_last(t, b);
	}
}

/*
 * Return true if the barrier's threads are known to wait longer for their turns than for each
 * other.
 */
static bool by_turns(const struct report_barrier *b)
{
	uint64_t turns = 0;

	array_for_each (t, b->threads, b->nthreads)
		if (t->parts.turn_ns != REPORT_UNKNOWN)
			turns += t->parts.turn_ns;
	return turns > b->lost_ns;
}

bool report_released_without_cpu(const struct report_barrier *b)
{
	double waited = 0, spun = 0, half = 0.5 * b->release_ns.sum;

	if (!b->release_ns.n)
		return false;
	/*
	 * A thread that spins can lose its CPU before the release as well. Such waits cannot be
	 * distinguished from waits after the release.
	 */
	array_for_each (t, b->threads, b->nthreads) {
		waited += t->parts.late_ns == REPORT_UNKNOWN ? 0 : (double)t->parts.late_ns;
		spun += t->parts.spin_ns == REPORT_UNKNOWN ? 0 : (double)t->parts.spin_ns;
	}
	return waited >= half && spun < half;
}

static int64_t part_of(const struct report_cause *cause, enum cause_kind kind)
{
	array_for_each (part, cause->parts, cause->nparts)
		if (!strcmp(part->name, cause_name(kind)))
			return part->ns;
	return 0;
}

/*
 * Return true if the late threads mainly wait for a CPU, but nearly as much of their lateness is
 * more work, and they are the same threads each time.
 */
static bool has_more_work(const struct report_barrier *b)
{
	int64_t work = part_of(&b->cause, CAUSE_WORK) + part_of(&b->cause, CAUSE_MORE_WORK);

	return b->pattern == REPORT_STATIC && cause_is(&b->cause, CAUSE_CPU) &&
	       2 * work >= part_of(&b->cause, CAUSE_CPU);
}

static const char *advice_unmet(const struct report_barrier *b)
{
	return b->summed ? "Trace without --aggregate."
			 : "Trace a longer run: identifying the shared memory of a process takes "
			   "some milliseconds.";
}

void verdict_barrier(struct report_barrier *b)
{
	struct text t = {
		.buf = b->verdict,
		.size = sizeof(b->verdict),
		.one = b->ranked ? "rank" : "thread",
	};
	int lost = text_percent(b->imbalance), release = text_percent(b->release_share);
	bool lost_time, fleeting = come_and_go(b);

	b->pattern = barrier_pattern(b);
	switch (b->pattern) {
	case REPORT_TASKS:
		break; /* tasks.c writes this verdict */
	case REPORT_SUM_ONLY:
		add(&t, "%d %% of phase time is lost waiting", lost);
		break;
	case REPORT_FEW:
		add_few(&t, b, lost);
		break;
	case REPORT_BALANCED:
		add(&t, "Balanced: %d %% of phase time is lost waiting, %d %% leaving the barrier",
		    lost, release);
		break;
	case REPORT_COSTLY:
		add(&t,
		    "%s takes %d %% of phase time (%.1f \xc2\xb5s per crossing "
		    "after the last arrival), waiting for other threads takes %d %%",
		    report_released_without_cpu(b) ? "Waiting for a CPU to leave the barrier"
						   : "The barrier itself",
		    release, b->release_ns.mean / 1000, lost);
		break;
	case REPORT_STATIC:
		add(&t, "Static imbalance: %d %% of phase time is lost waiting", lost);
		if (b->last_tid)
			add(&t, "; %s %u arrives last in %d %% of the episodes", t.one,
			    last_number(b), text_percent(b->last_share));
		add_idlers(&t, team_at(b), " there");
		break;
	case REPORT_ROTATING:
		add(&t,
		    "Rotating imbalance: %d %% of phase time is lost waiting, for a different "
		    "thread each time",
		    lost);
		add_last(&t, b);
		break;
	case REPORT_MIXED_LOSS:
		if (fleeting) {
			add(&t,
			    "Imbalance: %d %% of phase time is lost waiting; each thread takes "
			    "part in only a few episodes, so no thread is known to be always late",
			    lost);
			break;
		}
		add(&t,
		    "Imbalance: %d %% of phase time is lost waiting, partly for the same threads "
		    "each time",
		    lost);
		add_last(&t, b);
		add_idlers(&t, team_at(b), " there");
		break;
	}
	if (t.n && t.buf[t.n - 1] != '.')
		add(&t, ".");
	lost_time = b->pattern == REPORT_STATIC || b->pattern == REPORT_ROTATING ||
		    b->pattern == REPORT_MIXED_LOSS;
	snprintf(b->advice, sizeof(b->advice), "%s",
		 !b->episodes			      ? (b->unmet ? advice_unmet(b) : "")
		 : lost_time && by_turns(b)	      ? ADVICE_TURNS
		 : lost_time && has_more_work(b)      ? ADVICE_CPU_AND_WORK
		 : lost_time && by_another(&b->cause) ? cause_advice(&b->cause)
		 : b->pattern == REPORT_COSTLY && report_released_without_cpu(b) ? ADVICE_RELEASED
		 : lost_time && fleeting ? "Some of the threads in a team have more work than the "
					   "others: divide the work of each team more evenly, or "
					   "schedule it dynamically."
					 : advice(b->pattern));
}

/*
 * Return the waits as a share of the known time of the process's threads, or NAN if no time is
 * known.
 */
static double waiting_share(const struct report_process *p)
{
	uint64_t time = 0;

	array_for_each (m, p->members, p->nmembers)
		time += time_of(m);
	return time ? (double)p->wait_ns / (double)time : NAN;
}

/*
 * Return the share lost to the barriers themselves. For a sum of processes, return the loss that
 * waits do not explain.
 */
static double transfer_share(const struct report_process *p)
{
	if (!isnan(p->lost_transfer) || isnan(p->efficiency.parallel))
		return p->lost_transfer;
	return fmax(0, 1 - p->efficiency.parallel - waiting_share(p));
}

/*
 * Return the share lost because the late threads change. For a sum of processes, return the waits
 * that are not static.
 */
static double rotating_share(const struct report_process *p)
{
	if (!isnan(p->lost_rotating) || isnan(p->efficiency.parallel))
		return p->lost_rotating;
	return fmax(0, waiting_share(p) - p->lost_static);
}

/*
 * @fixed is the share of the process's waits at barriers where the same threads are known to arrive
 * late.
 */
static enum report_pattern process_pattern(const struct report_process *p, double fixed)
{
	double rotating = rotating_share(p), imbalance = p->lost_static + rotating;

	if (p->episodes < VERDICT_FEW || isnan(p->efficiency.parallel))
		return REPORT_FEW;
	if (1 - p->efficiency.parallel < VERDICT_LITTLE)
		return REPORT_BALANCED;
	if (p->processes > 1)
		return transfer_share(p) > waiting_share(p) ? REPORT_COSTLY : REPORT_SUM_ONLY;
	/* A thread that leaves a barrier late may be awaited at the next: both shares have this. */
	if (transfer_share(p) > fmax(imbalance, waiting_share(p)))
		return REPORT_COSTLY;
	if (!(fixed >= 0.5) && alike(team_of(p)))
		return REPORT_ROTATING;
	return split(p->lost_static, rotating);
}

/* Append the barrier with the largest share of the lost time, if this share is large enough. */
static void add_where(struct text *t, const struct report_barrier *top, double share)
{
	if (!top || isnan(share) || share < 0.4)
		return;
	if (share >= 0.995)
		add(t, ", all at %s", top->label);
	else if (share >= VERDICT_ALL_AT_ONE)
		add(t, ", nearly all at %s", top->label);
	else
		add(t, ", %d %% of that at %s", text_percent(share), top->label);
}

/* Write the verdict of a process with unknown losses. Return false if they are known. */
static bool verdict_unknown(struct report_process *p, struct text *t)
{
	if (p->tasks) {
		p->pattern = REPORT_TASKS;
		add(t, "Its threads run tasks inside its barriers. The time spent in these tasks "
		       "is unknown, and so is the time lost there.");
		return true;
	}
	if (p->unmet) {
		p->pattern = REPORT_FEW;
		add(t, "%llu of its %llu crossings are at barriers that processes share. ",
		    (unsigned long long)p->unmet, (unsigned long long)p->crossings);
		add(t, p->summed ? "Sums kept in the kernel do not show the waits there. Trace "
				   "without --aggregate."
				 : "The waits there are unknown, because the process exited "
				   "before sbt-trace could identify the shared memory.");
		return true;
	}
	return false;
}

/*
 * Append the share of thread time that is lost waiting. If most of it is lost at one barrier,
 * append this barrier.
 */
static void add_lost(struct text *t, const struct report_process *p,
		     const struct report_barrier *top, double share)
{
	add(t, "%d %% of thread time %s lost waiting at barriers%s", text_percent(waiting_share(p)),
	    p->hung ? "was" : "is", p->detached_some ? " that were traced" : "");
	add_where(t, top, share);
}

/*
 * Write the verdict if the efficiencies of a process do not show how even the load is. Return false
 * if they do.
 */
static bool verdict_special(struct report_process *p, const struct report_barrier *top,
			    double share, struct text *t)
{
	if (verdict_unknown(p, t))
		return true;
	if (p->threads == 1 && !p->meets_others && !p->incomplete && !p->ambiguous) {
		/*
		 * With one thread there is no waiting: its phases end at markers, or at barriers
		 * that only it uses.
		 */
		p->pattern = REPORT_BALANCED;
		add(t, "It has one thread, which waits for no other thread.");
		return true;
	}
	p->pattern = waiting_share(p) < VERDICT_LITTLE ? REPORT_BALANCED : REPORT_MIXED_LOSS;
	if (p->detached_some) {
		add_lost(t, p, top, share);
		add(t, ". Other barriers were detached by the cost limit (--cost-limit): the time "
		       "lost there is unknown.");
		return true;
	}
	/* This is a group with processes that were not recorded from their start. */
	if (p->counted_from_ns != REPORT_UNKNOWN && p->episodes && isnan(p->efficiency.parallel) &&
	    !p->processes) {
		add_lost(t, p, top, share);
		add(t, ".");
		return true;
	}
	if (p->meets_others) {
		/*
		 * The process's own efficiencies do not cover episodes in which other processes
		 * take part.
		 */
		add_lost(t, p, NULL, 0);
		add(t, ". It shares these barriers with other processes: see its group.");
		return true;
	}
	if (p->hung && !p->episodes) {
		p->pattern = REPORT_FEW;
		add(t, "It hung, see above. No complete episode was seen, so no verdict is "
		       "possible.");
		return true;
	}
	if (p->hung) {
		add(t, "It hung, see above. Before that, ");
		add_lost(t, p, top, share);
		add(t, ". The efficiencies below count the hang as lost time.");
		return true;
	}
	return false;
}

/*
 * Losses of OpenMP programs other than waits for late threads. Each has its own verdict, which is
 * used if this loss is the largest.
 */
static const struct openmp_verdict {
	size_t loss; /* offset in struct report_openmp_losses */
	/* Factor of this loss when it is compared with the waits for other threads. */
	double weight;
	enum report_pattern pattern;
	const char *where; /* continues "... is lost" */
	bool sentence; /* the text after `where` begins a new sentence */
	const char *advice;
} openmp_verdicts[] = {
	{ offsetof(struct report_openmp_losses, start), 1, REPORT_COSTLY,
	  "at the start of parallel regions, before the workers of the team begin", false,
	  "Use fewer and longer parallel regions. If each thread has its own CPU, let workers spin "
	  "between regions (OMP_WAIT_POLICY=active)." },
	/*
	 * The thread with the first turn waits at the barrier for as long as the last thread waits
	 * for its turn. The wait at the barrier is a consequence of the turns, so the turns count
	 * double.
	 */
	{ offsetof(struct report_openmp_losses, turns), 2, REPORT_ROTATING,
	  "because threads work one after another: each waits for its turn in a critical or "
	  "ordered section, or for a lock",
	  true, ADVICE_TURNS },
	/* In serial parts, no thread is late, and no barrier is expensive. */
	{ offsetof(struct report_openmp_losses, serial), 1, REPORT_STATIC,
	  "in serial parts, where one thread works and the rest of its team is idle", false,
	  "Move more of the serial parts into parallel regions. How the work of the regions is "
	  "divided makes little difference." },
};

static double openmp_loss(const struct report_openmp_losses *l, const struct openmp_verdict *v)
{
	const void *loss = (const char *)l + v->loss;

	return *(const double *)loss;
}

/*
 * If one OpenMP loss exceeds all other losses, write its verdict. Otherwise, or if there are too
 * few episodes for a verdict, return false.
 */
static bool verdict_openmp(struct report_process *p, struct text *t)
{
	const struct openmp_verdict *v = NULL;
	struct report_openmp_losses l;
	double largest;
	size_t i;

	if (!report_openmp_losses(p, &l))
		return false;
	/* fmax() ignores NAN (unknown) */
	largest = fmax(fmax(l.start, l.turns), fmax(l.serial, l.runtime));
	for (i = 0; i < sizeof(openmp_verdicts) / sizeof(*openmp_verdicts) && !v; i++) {
		v = &openmp_verdicts[i];
		if (!(openmp_loss(&l, v) >= VERDICT_LITTLE && openmp_loss(&l, v) >= largest &&
		      v->weight * openmp_loss(&l, v) >= l.waiting))
			v = NULL;
	}
	if (!v)
		return false;
	p->openmp_lost = openmp_loss(&l, v);
	p->openmp_where = v->where;
	p->openmp_advice = v->advice;
	if (p->pattern == REPORT_FEW)
		return false;
	p->pattern = v->pattern;
	add(t, "%d %% of thread time is lost %s", text_percent(p->openmp_lost), v->where);
	if (v->loss != offsetof(struct report_openmp_losses, serial))
		add(t, v->sentence ? ". %d %% is lost in serial parts" : ", %d %% in serial parts",
		    text_percent(l.serial));
	add(t, ", %d %% waiting for other threads.", text_percent(l.waiting));
	snprintf(p->advice, sizeof(p->advice), "%s", v->advice);
	return true;
}

/* Write the verdict of a process if its episodes are unknown but its waits are known. */
static void verdict_unseen(const struct report_process *p, struct text *t)
{
	double inside = 0, all = (double)p->outside_ns;
	uint32_t i;

	for (i = 0; i < p->nmembers; i++)
		inside += (double)p->members[i].idle_ns;
	all += inside;
	if (all > 0)
		add(t, "%d %% of its thread time is spent in barriers. ",
		    text_percent(inside / all));
	add(t,
	    "%s there for threads that leave no trace, such as threads that only count down a "
	    "std::latch: it is unknown which of them is late",
	    p->threads == 1 ? "It waits" : "Its threads wait");
}

/* @work: most of the time is lost at barriers where the late threads have more work. */
static void verdict_pattern(struct report_process *p, const struct report_barrier *top,
			    double share, bool work, struct text *t)
{
	switch (p->pattern) {
	case REPORT_TASKS:
		break;
	case REPORT_FEW:
		if (!p->episodes && p->arrivals_unseen) {
			verdict_unseen(p, t);
			break;
		}
		if (!p->episodes) {
			add(t, "No complete episode was seen, so no verdict is possible");
			break;
		}
		add(t, "Based on only %llu complete episode%s", (unsigned long long)p->episodes,
		    p->episodes == 1 ? "" : "s");
		if (!isnan(p->efficiency.parallel)) {
			add(t, ": ");
			add_lost(t, p, NULL, 0);
		}
		break;
	case REPORT_BALANCED:
		/*
		 * If waits outside of traced barriers count as work, it is unknown whether the load
		 * is even.
		 */
		add(t, "%s%d %% of thread time is spent outside barriers",
		    p->untraced || p->counted_from_ns != REPORT_UNKNOWN ? "" : "Balanced: ",
		    text_percent(p->efficiency.parallel));
		if (p->untraced)
			add(t, ", including waits in %s", p->untraced);
		break;
	case REPORT_COSTLY:
		add(t,
		    "%d %% of thread time goes into the barriers themselves, more than is lost "
		    "waiting for other threads (%d %%)",
		    text_percent(transfer_share(p)), text_percent(waiting_share(p)));
		break;
	case REPORT_SUM_ONLY:
		add_lost(t, p, top, share);
		add(t, "; the late threads are unknown because the processes are kept as a sum");
		break;
	case REPORT_ROTATING:
		add_lost(t, p, top, share);
		add(t, p->by_barrier
			       ? ": each barrier has its own late threads, which do not change"
			       : ": a different thread is late each time");
		break;
	case REPORT_STATIC:
		add_lost(t, p, top, share);
		p->verdict_head = share >= VERDICT_ALL_AT_ONE ? (uint16_t)t->n : 0;
		add(t, ": the same %s %s",
		    follow_each_other(p)
			    ? "positions (slots that several threads fill one after another)"
			    : "threads",
		    work ? "always have more work" : "always arrive late");
		p->verdict_head = p->verdict_head ? p->verdict_head : (uint16_t)t->n;
		add_idlers(t, team_of(p), "");
		break;
	case REPORT_MIXED_LOSS:
		add_lost(t, p, top, share);
		p->verdict_head = share >= VERDICT_ALL_AT_ONE ? (uint16_t)t->n : 0;
		if (p->by_barrier) {
			add(t, ": each barrier has its own late threads, which do not change");
			break;
		}
		add(t, ": some threads %s, and the late threads change as well",
		    work ? "have more work" : "arrive late more often than others");
		p->verdict_head = p->verdict_head ? p->verdict_head : (uint16_t)t->n;
		add_idlers(t, team_of(p), "");
		break;
	}
}

void verdict_share(struct verdict_shares *shares, const struct report_barrier *b, uint64_t wait_ns)
{
	double share = wait_ns ? (double)b->lost_ns / (double)wait_ns : NAN;

	if (verdict_by_work(b))
		shares->work += share;
	if (b->pattern == REPORT_STATIC)
		shares->fixed += share;
}

/* Return the share of the process's thread time that is lost at barriers. */
static double lost_share(const struct report_process *p)
{
	return isnan(p->efficiency.parallel) ? waiting_share(p) : 1 - p->efficiency.parallel;
}

void verdict_costs(const struct report_process *p, char *advice, size_t size)
{
	double cost = p->cost_share, lost = lost_share(p);

	/* If threads run tasks, the lost time is unknown. */
	if (p->tasks || !(cost >= VERDICT_LITTLE) || (cost < 0.5 && cost < lost))
		return;
	snprintf(advice, size,
		 "Tracing takes about %d %% of thread time, %s: do not act on these figures. %s",
		 text_percent(cost),
		 cost >= lost ? "at least as much as is lost at barriers" : "most of it",
		 p->summed ? "Make the phases longer."
			   : "Trace with --aggregate or --no-causes, or make the phases longer.");
}

static void classify_process(struct report_process *p, const struct report_barrier *top,
			     const struct verdict_shares *shares)
{
	double share = shares->top;
	struct text t = {
		.buf = p->verdict,
		.size = sizeof(p->verdict),
		.one = p->ranked ? "rank" : "thread",
	};
	/* The barrier with at least half of the lost time; NULL if there is none. */
	const struct report_barrier *most = top && share >= 0.5 ? top : NULL;

	if (verdict_special(p, top, share, &t)) {
		p->advice[0] = '\0';
		return;
	}
	p->pattern = process_pattern(p, shares->fixed);
	if (verdict_openmp(p, &t))
		return;
	/*
	 * If each barrier has its own late threads, the cause is not chance, even if no thread of
	 * the process is late more often than others.
	 */
	p->by_barrier = (p->pattern == REPORT_ROTATING || p->pattern == REPORT_MIXED_LOSS) &&
			shares->fixed >= 2.0 / 3 && (isnan(share) || share < 0.9);
	verdict_pattern(p, top, share, shares->work >= 0.5, &t);
	if (t.n && t.buf[t.n - 1] != '.')
		add(&t, ".");
	snprintf(p->advice, sizeof(p->advice), "%s",
		 most && p->pattern == REPORT_COSTLY && most->pattern == REPORT_COSTLY
			 ? most->advice
		 : most && *most->advice && p->pattern != REPORT_COSTLY &&
				 p->pattern != REPORT_FEW && p->pattern != REPORT_BALANCED &&
				 by_another(&most->cause)
			 ? most->advice
		 : !p->episodes	 ? ""
		 : p->by_barrier ? "Redistribute the work of each phase: see the barriers, each of "
				   "which has its own late threads."
				 : advice(p->pattern));
}

/* Append a sentence: the figures count from the first recorded crossing. */
static void verdict_late(struct report_process *p)
{
	size_t n = strlen(p->verdict);

	snprintf(p->verdict + n, sizeof(p->verdict) - n, "%s%s", n ? " " : "",
		 p->processes ? "Its first crossings were not recorded: these figures count from "
				"the first recorded crossing."
			      : "The first crossings of some of its processes were not recorded: "
				"these processes count from their first recorded crossing.");
}

/* Return true if the gain is that of another cause than more work. */
static bool gain_of_cause(const struct report_barrier *b)
{
	return by_another(&b->cause) && !has_more_work(b) && isfinite(b->cause.share);
}

/* Return the gain at most, from the time of the phases and from the work in them, in ns. */
static uint64_t most_gain(const struct report_barrier *b)
{
	uint64_t least = b->cpu_even_ns;
	bool on_cpu;

	report_gain_basis(b, &on_cpu);
	if (!b->phase_ns.n)
		return UINT64_MAX;
	if (b->pattern == REPORT_COSTLY || gain_of_cause(b))
		least = b->cpu_least_ns;
	return on_cpu ? b->phase_ns.sum : number_less(b->phase_ns.sum, least);
}

uint64_t report_gain(const struct report_barrier *b)
{
	uint64_t gain = b->gain_ns, most;

	if (b->pattern == REPORT_COSTLY) {
		if (!b->participants || !b->release_ns.n)
			return REPORT_UNKNOWN;
		gain = b->release_ns.sum / b->participants;
	} else if (b->pattern == REPORT_BALANCED || b->pattern == REPORT_TASKS ||
		   !b->barrier_ns.n) {
		return REPORT_UNKNOWN;
	} else if (gain_of_cause(b)) {
		gain = number_whole(b->cause.share * (double)b->barrier_ns.sum);
	}
	most = most_gain(b);
	return gain < most ? gain : most;
}

const char *report_gain_basis(const struct report_barrier *b, bool *on_cpu)
{
	/* Indexed by enum cause_kind. */
	static const char *const bases[CAUSE_KINDS] = {
		[CAUSE_SLOWER_WORK] = "at the speed of the other threads",
		[CAUSE_CPU] = "without the extra waits for a CPU",
		[CAUSE_LOCK] = "without the extra waits for this lock",
		[CAUSE_GIL] = "without the extra waits for the GIL",
		[CAUSE_IO] = "without the extra waits for I/O",
		[CAUSE_FAULT] = "without the extra page faults",
		[CAUSE_SLEEP] = "without the extra sleep",
		[CAUSE_THROTTLED] = "without the CPU quota",
		[CAUSE_STEAL] = "without the steal time",
		[CAUSE_OTHER] = "without this wait",
		[CAUSE_RELEASED_LATE] = "without the late release",
	};
	const struct report_cause *c = &b->cause;
	bool of_cause = b->pattern != REPORT_COSTLY && gain_of_cause(b);

	if (on_cpu)
		*on_cpu = of_cause && (cause_is(c, CAUSE_FAULT) || cause_is(c, CAUSE_SLOWER_WORK));
	if (b->pattern == REPORT_COSTLY)
		return "if threads left it at once";
	if (of_cause && await_thread(c))
		return "without this wait for another thread";
	if (of_cause && cause_is(c, CAUSE_LOCK) && c->waited != WAITED_LOCK)
		return "without this wait";
	if (of_cause && cause_is(c, CAUSE_RELEASED_LATE) && c->waited == WAITED_ELSEWHERE)
		return "if the other episodes ended earlier";
	if (of_cause && bases[c->dominant->kind])
		return bases[c->dominant->kind];
	if (c->dominant && (cause_is(c, CAUSE_WORK) || cause_is(c, CAUSE_MORE_WORK)))
		return "with equal work";
	return "if all threads arrived together";
}

void verdict_process(struct report_process *p, const struct report_barrier *top,
		     const struct verdict_shares *shares)
{
	bool known = p->episodes && !p->tasks && !p->unmet;

	p->wait_share = known ? waiting_share(p) : NAN;
	/*
	 * At barriers that processes share, the lost time also belongs to phases of other
	 * processes. The imbalance of this process alone is then unknown.
	 */
	p->imbalance = known && !p->meets_others && p->phase_thread_ns
			       ? fmin(1, (double)p->phase_wait_ns / (double)p->phase_thread_ns)
			       : NAN;
	classify_process(p, top, shares);
	if (p->counted_from_ns != REPORT_UNKNOWN)
		verdict_late(p);
	if (p->pattern != REPORT_FEW && !p->hung)
		verdict_costs(p, p->advice, sizeof(p->advice));
}
