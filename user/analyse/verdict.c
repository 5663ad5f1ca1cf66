// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The figures said in a sentence, and what to do about them in another. */
#include "analyse/internal.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
	char *buf;
	size_t size, n;
	bool cut; /* there was no room for all: it ends in "..." */
	const char *one; /* what members are called: "thread", "rank" */
};

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *t, const char *fmt, ...)
{
	va_list args;
	int n;

	if (t->cut)
		return;
	va_start(args, fmt);
	/* clang-tidy 14 loses sight of va_start() when it is given several files. */
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
 * The time of a thread of which something is known, in phases that end at a barrier or in its life: all views have their shares of this. One
 * whose end is its arrival is waited for, so to say, after it: in no time of its own.
 */
static uint64_t time_of(const struct report_thread *t)
{
	uint64_t inside = t->idle_ns > t->wait_ns ? t->idle_ns : t->wait_ns;

	return t->work_ns == REPORT_UNKNOWN ? 0 : t->work_ns + inside;
}

/* Threads go by their small numbers within a process; across processes only the tid tells them apart. */
static uint32_t number_of(const struct report_thread *t, bool shared)
{
	return shared || t->index == MODEL_NONE ? t->tid : t->index;
}

static int tid_cmp(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* "thread 12", "threads 12-15, 18": at most a few, the rest as a number. */
static void add_threads(struct text *t, uint32_t *tids, uint32_t n)
{
	uint32_t i, j, shown = 0;

	qsort(tids, n, sizeof(*tids), tid_cmp);
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

/* A difference between mean waits that is smaller than this many standard errors may be chance. */
#define STANDARD_ERRORS 2.5

struct waiter {
	uint32_t number;
	double share; /* of its time */
	double wait_ns, all_ns; /* time_of() */
	double waits; /* complete episodes in wait_ns; 0: not known */
	double squares; /* sum of the squares of the waits in those */
};

static int waiter_cmp(const void *a, const void *b)
{
	const struct waiter *x = a, *y = b;

	if (x->share != y->share)
		return x->share < y->share ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/*
 * Where to divide them, sorted, so that the two groups differ most: the variance between them is greatest
 * (Otsu 1979). One thread that is unlike a thousand others so is a group of its own. 0: all are alike.
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

/* Write to @w the threads whose share is known. Returns how many. */
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

/* Write to @w the positions whose share is known. Returns how many. */
static uint32_t waiting_positions(const struct report_thread *threads, uint32_t n, struct waiter *w)
{
	uint32_t i, known = 0;

	for (i = 0; i < n; i++) {
		const struct report_thread *t = &threads[i];
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

/* Whose members follow each other is judged by positions. */
static bool follow_each_other(const struct report_process *p)
{
	return p->positions && p->positions < p->threads;
}

/* Threads whose waits are compared, or the positions of those that follow each other. */
struct team {
	const struct report_thread *threads;
	uint32_t n;
	bool shared; /* they go by their tids */
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

/* Waiters in the order of their shares. Freed by free(all). */
struct divided {
	struct waiter *all;
	uint32_t n;
	uint32_t
		at; /* index of the first that waits more than those before it; 0: they are alike */
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

/* Return the square of the standard error of the mean wait of an episode. */
static double squared_error(const struct waiting *w)
{
	double mean = w->wait_ns / w->waits;

	return fmax(0, w->squares / w->waits - mean * mean) / w->waits;
}

/*
 * Return true if those from d->at on wait more than those before: by VERDICT_LITTLE of their time at least, and by more
 * than STANDARD_ERRORS. Where no single waits are known, the first is enough.
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

/* Return true if the shares of several are known and differ by no more than chance explains. */
static bool alike(struct team team)
{
	struct divided d = divide_all(&team);
	bool same = d.n > 1 && !d.at;

	free(d.all);
	return same;
}

static void add_group(struct text *t, const struct waiter *w, uint32_t n, uint32_t *numbers,
		      const char *verb)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		numbers[i] = w[i].number;
	add_threads(t, numbers, n);
	add(t, *verb ? " %s" : "%s", verb);
	if (say_percent(w[0].share) == say_percent(w[n - 1].share))
		add(t, " %d %%", say_percent(w[0].share));
	else
		add(t, " %d-%d %%", say_percent(w[0].share), say_percent(w[n - 1].share));
}

/* Who idles and who works. @where: " there", or nothing. */
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
		add_group(t, d.all, d.at, numbers, "");
		t->one = one;
	}
	free(numbers);
	free(d.all);
}

/*
 * Do most of those who meet here meet only a few times? Threads that are made for a task, or one team after
 * another: each thread is late always or never then, which says nothing of the next.
 */
static bool come_and_go(const struct report_barrier *b)
{
	uint64_t all = 0, lasting = 0;
	uint32_t i;

	for (i = 0; i < b->nthreads; i++) {
		all += b->threads[i].crossings;
		if (b->threads[i].tid && b->threads[i].crossings >= VERDICT_FEW)
			lasting += b->threads[i].crossings;
	}
	return b->episodes >= VERDICT_FEW && 2 * lasting < all;
}

/* Static, rotating, or both: by the shares of time lost to each. */
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

#define ADVICE_TURNS                                                                       \
	"Do less in critical and ordered parts and under locks: sum up by a reduction or " \
	"atomics, and give threads data of their own."

static const char *advice(enum report_pattern pattern)
{
	switch (pattern) {
	case REPORT_STATIC:
		return "Divide the work anew: by cost rather than by count, or dealt out in turn "
		       "(cyclic).";
	case REPORT_ROTATING:
		return "Another thread is late each time, so new shares will not help: use fewer "
		       "barriers, or hand out the work dynamically.";
	case REPORT_MIXED_LOSS:
		return "Some threads come late more often, and who is late changes as well: "
		       "repartition first, then try fewer barriers or dynamic scheduling.";
	case REPORT_COSTLY:
		return "The barrier itself is dear: use fewer or cheaper barriers, longer phases, "
		       "and no more threads than CPUs.";
	case REPORT_FEW:
		return "Too few to act on: trace for longer, if there are more.";
	case REPORT_BALANCED:
	case REPORT_UNTOLD:
	case REPORT_TASKS:
		break;
	}
	return "";
}

/* What to do about the thread that the late ones wait for, by what it does meanwhile. */
static const char *await_advice(enum model_doing doing)
{
	switch ((unsigned)doing) {
	case MODEL_DOING_ONCPU:
		return "They wait inside the phase for another thread, which computes: give it "
		       "less to do, divide its work, or let it begin earlier.";
	case MODEL_DOING_RUNQ:
		return "They wait inside the phase for another thread, which waits for a CPU: use "
		       "fewer threads, or keep others off its CPU (affinity, priority).";
	case MODEL_DOING_BLOCKED + MODEL_BLOCKED_SLEEP:
		return "They wait inside the phase for another thread, which sleeps: let it wait "
		       "for the event itself, or not at all.";
	case MODEL_DOING_BLOCKED + MODEL_BLOCKED_LOCK:
		return "They wait inside the phase for another thread, which waits for a lock or a "
		       "third one: look at what keeps that one.";
	case MODEL_DOING_BLOCKED + MODEL_BLOCKED_IO:
		return "They wait inside the phase for another thread, which waits for I/O: let it "
		       "begin earlier, or look at the other end of that.";
	default:
		return "They wait inside the phase for another thread to wake them: look at what "
		       "keeps that one, or let it begin earlier.";
	}
}

/* Is it another thread that the late ones wait for, and nothing that it holds? */
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

/* Where it is known why the late ones are late, and it is not that they have more to do. */
static const char *cause_advice(const struct report_cause *cause)
{
	static const struct {
		enum cause_kind kind;
		const char *advice;
	} advices[] = {
		{ CAUSE_SLOWER_WORK,
		  "The late ones do no more, but do it slower: look at their memory accesses, at "
		  "what shares their caches, and at their CPUs." },
		{ CAUSE_CPU,
		  "New shares will not help, a CPU will: use fewer threads, or keep what "
		  "takes the CPU away from theirs (affinity, priority)." },
		{ CAUSE_LOCK, "Hold the lock for less time, or divide what it protects." },
		{ CAUSE_IO,
		  "Take the input and output out of the phase: before it, after it, or in "
		  "a thread of its own." },
		{ CAUSE_FAULT, "Fetch the memory beforehand: allocate once and use it again, touch "
			       "it early, or use larger pages." },
		{ CAUSE_SLEEP, "They sleep inside the phase: wait for the event itself, or not at "
			       "all." },
		{ CAUSE_THROTTLED, "Raise the cgroup's quota of CPU time, or use no more threads "
				   "than it pays for." },
		{ CAUSE_STEAL,
		  "The host of this guest runs something else on its CPUs: new shares will "
		  "not help, CPUs of its own will." },
		{ CAUSE_OTHER,
		  "They are held up inside the phase, and do not work: new shares will not "
		  "help, see what they wait for." },
		{ CAUSE_RELEASED_LATE, "The late ones leave the barrier before late: give each "
				       "thread a CPU that is free "
				       "at the release, or let the barrier spin." },
	};
	static const char *const waits[] = {
		[WAITED_JOIN] =
			"They wait for the end of other threads inside the phase: make those "
			"earlier, give them less to do, or join them later.",
		[WAITED_BARRIER] =
			"They wait at another barrier inside the phase: look at who comes "
			"late to that.",
	};
	size_t i;

	if (await_thread(cause))
		return await_advice(cause->doing);
	if (cause_is(cause, CAUSE_LOCK) && cause->waited < sizeof(waits) / sizeof(waits[0]) &&
	    waits[cause->waited])
		return waits[cause->waited];
	if (cause_is(cause, CAUSE_RELEASED_LATE) && cause->waited == WAITED_ELSEWHERE)
		return "The late ones come from other meetings, which ended later: look at the "
		       "phases "
		       "that end there.";
	for (i = 0; i < sizeof(advices) / sizeof(advices[0]); i++) {
		if (cause_is(cause, advices[i].kind))
			return advices[i].advice;
	}
	return "";
}

/* Is it known why the late ones are late, and is it not that they have more to do? */
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

/* Does one thread come last nearly always? It need not work more than the others: it may be the last to have its turn. */
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
		return REPORT_UNTOLD;
	if (come_and_go(b))
		return REPORT_MIXED_LOSS;
	if (alike(team_at(b)))
		return REPORT_ROTATING;
	/* Of sums the longest path is not known; what is not lost to the same ones is lost to others. */
	if (isnan(b->serialisation))
		pattern = split(1 - b->load_balance, fmax(0, lost - (1 - b->load_balance)));
	else
		pattern = split(1 - b->load_balance, b->load_balance * (1 - b->serialisation));
	return pattern == REPORT_ROTATING && same_last(b) ? REPORT_STATIC : pattern;
}

static uint32_t last_number(const struct report_barrier *b)
{
	uint32_t i;

	for (i = 0; i < b->nthreads; i++) {
		if (b->threads[i].tid == b->last_tid)
			return number_of(&b->threads[i], b->shared && !b->ranked);
	}
	return b->last_tid;
}

static void add_last(struct text *t, const struct report_barrier *b)
{
	/* One among equals comes last that often by chance. */
	if (b->last_tid && b->episodes >= VERDICT_FEW && b->participants &&
	    b->last_share * b->participants > 1.5)
		add(t, "; %s %u comes last most often, %d %% of the time", t->one, last_number(b),
		    say_percent(b->last_share));
}

/* Too few meetings to say more; @lost in per cent. */
static void add_few(struct text *t, const struct report_barrier *b, int lost)
{
	if (!b->episodes && b->unmet && b->summed) {
		add(t, "Who meets there, and waits, is not known with --aggregate: processes "
		       "share it, or there are too many barriers.");
	} else if (!b->episodes && b->unmet) {
		add(t, "Who else meets there is not known: processes may share it, and this one "
		       "ended before it could be read which memory that is.");
	} else if (!b->episodes) {
		add(t, "No complete episode was seen, so nothing can be said.");
	} else {
		add(t,
		    "Rests on %llu complete episode%s only: %d %% of its phases' time "
		    "went into waiting",
		    (unsigned long long)b->episodes, b->episodes == 1 ? "" : "s", lost);
		add_last(t, b);
	}
}

/* Do its threads wait longer for their turns than for each other? Of what is not known: no. */
static bool by_turns(const struct report_barrier *b)
{
	uint64_t turns = 0;
	uint32_t i;

	for (i = 0; i < b->nthreads; i++)
		if (b->threads[i].parts.turn_ns != REPORT_UNKNOWN)
			turns += b->threads[i].parts.turn_ns;
	return turns > b->lost_ns;
}

static const char *advice_unmet(const struct report_barrier *b)
{
	return b->summed
		       ? "Trace it without --aggregate."
		       : "Trace a longer run: of a process that lives for some milliseconds it is "
			 "read in time.";
}

void verdict_barrier(struct report_barrier *b)
{
	struct text t = {
		.buf = b->verdict,
		.size = sizeof(b->verdict),
		.one = b->ranked ? "rank" : "thread",
	};
	int lost = say_percent(b->imbalance), release = say_percent(b->release_share);
	bool lost_time, fleeting = come_and_go(b);

	b->pattern = barrier_pattern(b);
	switch (b->pattern) {
	case REPORT_TASKS:
		break; /* tasks.c says it */
	case REPORT_UNTOLD:
		add(&t, "%d %% of its phases' time is lost waiting", lost);
		break;
	case REPORT_FEW:
		add_few(&t, b, lost);
		break;
	case REPORT_BALANCED:
		add(&t,
		    "Balanced: %d %% of its phases' time is lost waiting, %d %% in leaving the "
		    "barrier",
		    lost, release);
		break;
	case REPORT_COSTLY:
		add(&t,
		    "The barrier itself takes %d %% of its phases' time (%.1f \xc2\xb5s a "
		    "crossing "
		    "after the last arrival), waiting for others %d %%",
		    release, b->release_ns.mean / 1000, lost);
		break;
	case REPORT_STATIC:
		add(&t, "Static imbalance: %d %% of its phases' time is lost waiting", lost);
		if (b->last_tid)
			add(&t, "; %s %u is last in %d %% of the episodes", t.one, last_number(b),
			    say_percent(b->last_share));
		add_idlers(&t, team_at(b), " there");
		break;
	case REPORT_ROTATING:
		add(&t,
		    "Rotating imbalance: %d %% of its phases' time is lost waiting, for another "
		    "thread each time",
		    lost);
		add_last(&t, b);
		break;
	case REPORT_MIXED_LOSS:
		if (fleeting) {
			add(&t,
			    "Imbalance: %d %% of its phases' time is lost waiting; each thread "
			    "takes "
			    "part in a few episodes only, so none can be said to be always late",
			    lost);
			break;
		}
		add(&t,
		    "Imbalance: %d %% of its phases' time is lost waiting, in part always for "
		    "the same threads",
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
		 : lost_time && by_another(&b->cause) ? cause_advice(&b->cause)
		 : lost_time && fleeting ? "Some of those that meet have more to do than the "
					   "others: divide the work of each team more evenly, or "
					   "hand it out dynamically."
					 : advice(b->pattern));
}

/* Of the time of its threads of which something is known, what they waited. */
static double waiting_share(const struct report_process *p)
{
	uint64_t time = 0;
	uint32_t i;

	for (i = 0; i < p->nmembers; i++)
		time += time_of(&p->members[i]);
	return time ? (double)p->wait_ns / (double)time : NAN;
}

/* What is lost to the barriers themselves. Of sums it is what waiting does not account for. */
static double transfer_share(const struct report_process *p)
{
	if (!isnan(p->lost_transfer) || isnan(p->efficiency.parallel))
		return p->lost_transfer;
	return fmax(0, 1 - p->efficiency.parallel - waiting_share(p));
}

/* The same of what is lost as another thread is late each time. */
static double rotating_share(const struct report_process *p)
{
	if (!isnan(p->lost_rotating) || isnan(p->efficiency.parallel))
		return p->lost_rotating;
	return fmax(0, waiting_share(p) - p->lost_static);
}

/* @fixed: of its waits, the share at barriers of which it is known that the same threads come late. */
static enum report_pattern process_pattern(const struct report_process *p, double fixed)
{
	double rotating = rotating_share(p), imbalance = p->lost_static + rotating;

	if (p->episodes < VERDICT_FEW || isnan(p->efficiency.parallel))
		return REPORT_FEW;
	if (1 - p->efficiency.parallel < VERDICT_LITTLE)
		return REPORT_BALANCED;
	if (p->processes > 1)
		return transfer_share(p) > waiting_share(p) ? REPORT_COSTLY : REPORT_UNTOLD;
	if (transfer_share(p) > imbalance)
		return REPORT_COSTLY;
	if (!(fixed >= 0.5) && alike(team_of(p)))
		return REPORT_ROTATING;
	return split(p->lost_static, rotating);
}

/* Where most of it is, if one barrier has it. */
static void add_where(struct text *t, const struct report_barrier *top, double share)
{
	if (!top || isnan(share) || share < 0.4)
		return;
	if (share >= 0.995)
		add(t, ", all at %s", top->label);
	else if (share >= 0.9)
		add(t, ", nearly all at %s", top->label);
	else
		add(t, ", %d %% of that at %s", say_percent(share), top->label);
}

/* Of those of which it is not known what they lose. False: this is none of them. */
static bool verdict_unknown(struct report_process *p, struct text *t)
{
	if (p->tasks) {
		p->pattern = REPORT_TASKS;
		add(t, "Its threads run tasks in its barriers: how much is not known, and so "
		       "neither is what they lose there.");
		return true;
	}
	if (p->unmet) {
		p->pattern = REPORT_FEW;
		add(t,
		    "It comes to barriers that processes share, where %llu of its %llu crossings "
		    "were: ",
		    (unsigned long long)p->unmet, (unsigned long long)p->crossings);
		add(t, p->summed ? "sums kept in the kernel do not tell who waits for whom there. "
				   "Trace it without --aggregate."
				 : "who waits for whom there is not known, for it ended before it "
				   "could be read which memory that is.");
		return true;
	}
	return false;
}

/* Of those whose efficiencies do not tell how even the load is. False: this is none of them. */
static bool verdict_apart(struct report_process *p, const struct report_barrier *top, double share,
			  struct text *t)
{
	double share_waiting = waiting_share(p);
	int waiting = say_percent(share_waiting);

	if (verdict_unknown(p, t))
		return true;
	if (p->threads == 1 && !p->meets_others && !p->incomplete && !p->ambiguous) {
		/* Phases that markers end, or barriers of one: nobody waits for anybody. */
		p->pattern = REPORT_BALANCED;
		add(t, "One thread, which waits for no other.");
		return true;
	}
	if (p->detached_some) {
		p->pattern = share_waiting < VERDICT_LITTLE ? REPORT_BALANCED : REPORT_MIXED_LOSS;
		add(t, "%d %% of its threads' time is lost waiting at barriers that were traced",
		    waiting);
		add_where(t, top, share);
		add(t, ". Some were not from a moment on (--cost-limit), and what is lost there is "
		       "not "
		       "known.");
		return true;
	}
	if (p->counted_from_ns != REPORT_UNKNOWN && p->episodes && isnan(p->efficiency.parallel) &&
	    !p->processes) {
		/* A group of which some processes were seen late. */
		p->pattern = share_waiting < VERDICT_LITTLE ? REPORT_BALANCED : REPORT_MIXED_LOSS;
		add(t, "%d %% of its threads' time is lost waiting at barriers", waiting);
		add_where(t, top, share);
		add(t, ".");
		return true;
	}
	if (p->meets_others) {
		/* Its own efficiencies say nothing of meetings in which other processes take part. */
		p->pattern = share_waiting < VERDICT_LITTLE ? REPORT_BALANCED : REPORT_MIXED_LOSS;
		add(t,
		    "%d %% of its threads' time is lost waiting at barriers. It meets other "
		    "processes there: see the group that it is of.",
		    waiting);
		return true;
	}
	if (p->hung && !p->episodes) {
		p->pattern = REPORT_FEW;
		add(t, "It hung, see above. No complete episode was seen, so nothing more can be "
		       "said.");
		return true;
	}
	if (p->hung) {
		p->pattern = share_waiting < VERDICT_LITTLE ? REPORT_BALANCED : REPORT_MIXED_LOSS;
		add(t,
		    "It hung, see above. Until then %d %% of its threads' time was lost waiting "
		    "at barriers",
		    waiting);
		add_where(t, top, share);
		add(t, ". The efficiencies below count the hang as lost.");
		return true;
	}
	return false;
}

/* What OpenMP programs lose besides waiting for who comes late: what is said if it is the most of all. */
static const struct openmp_verdict {
	size_t loss; /* which, in struct report_openmp_losses */
	double weight; /* that many times its loss is set against that in waiting for others */
	enum report_pattern pattern;
	const char *where; /* it is lost */
	bool sentence; /* that ends the sentence */
	const char *advice;
} openmp_verdicts[] = {
	{ offsetof(struct report_openmp_losses, start), 1, REPORT_COSTLY,
	  "in the start of parallel regions, until the workers of a team have begun", false,
	  "Use fewer and longer parallel regions. Where each thread has a CPU of its own, let "
	  "workers spin between regions (OMP_WAIT_POLICY=active)." },
	/* Who has had its turn first waits at the barrier for as long as the last for its turn: that is a consequence. */
	{ offsetof(struct report_openmp_losses, turns), 2, REPORT_ROTATING,
	  "as they work one after another: each waits for its turn in a critical or ordered part, "
	  "or for a lock",
	  true, ADVICE_TURNS },
	/* Then nobody is late, and no barrier is dear. */
	{ offsetof(struct report_openmp_losses, serial), 1, REPORT_STATIC,
	  "in serial parts, where one thread works and the others of its team have nothing to do",
	  false,
	  "Put more of the serial parts into parallel regions: how the work of the regions is "
	  "divided makes little difference." },
};

static double openmp_loss(const struct report_openmp_losses *l, const struct openmp_verdict *v)
{
	return *(const double *)((const char *)l + v->loss);
}

/* Does one of them cost more than all else? */
static bool verdict_openmp(struct report_process *p, struct text *t)
{
	const struct openmp_verdict *v = NULL;
	struct report_openmp_losses l;
	double largest;
	size_t i;

	if (p->pattern == REPORT_FEW || !report_openmp_losses(p, &l))
		return false;
	largest = fmax(fmax(l.start, l.turns), fmax(l.serial, l.runtime)); /* NAN: not known */
	for (i = 0; i < sizeof(openmp_verdicts) / sizeof(*openmp_verdicts) && !v; i++) {
		v = &openmp_verdicts[i];
		if (!(openmp_loss(&l, v) >= VERDICT_LITTLE && openmp_loss(&l, v) >= largest &&
		      v->weight * openmp_loss(&l, v) >= l.waiting))
			v = NULL;
	}
	if (!v)
		return false;
	p->pattern = v->pattern;
	add(t, "%d %% of the threads' time is lost %s", say_percent(openmp_loss(&l, v)), v->where);
	if (v->loss != offsetof(struct report_openmp_losses, serial))
		add(t, v->sentence ? ". %d %% is lost in serial parts" : ", %d %% in serial parts",
		    say_percent(l.serial));
	add(t, ", %d %% in waiting for others.", say_percent(l.waiting));
	snprintf(p->advice, sizeof(p->advice), "%s", v->advice);
	return true;
}

/* No meeting is known, but how long its threads waited is. */
static void verdict_unseen(const struct report_process *p, struct text *t)
{
	double inside = 0, all = (double)p->outside_ns;
	uint32_t i;

	for (i = 0; i < p->nmembers; i++)
		inside += (double)p->members[i].idle_ns;
	all += inside;
	if (all > 0)
		add(t, "%d %% of its %s time goes into barriers. ", say_percent(inside / all),
		    p->threads == 1 ? "thread's" : "threads'");
	add(t,
	    "%s there for others who leave no trace, as those who only count down at a "
	    "std::latch: who of them comes late is not known",
	    p->threads == 1 ? "It waits" : "They wait");
}

/* @work: most of it is lost where the late ones have more to do. */
static void verdict_pattern(const struct report_process *p, const struct report_barrier *top,
			    double share, bool work, struct text *t)
{
	int waiting = say_percent(waiting_share(p));

	switch (p->pattern) {
	case REPORT_TASKS:
		break;
	case REPORT_FEW:
		if (!p->episodes && p->arrivals_unseen) {
			verdict_unseen(p, t);
			break;
		}
		if (!p->episodes) {
			add(t, "No complete episode was seen, so nothing can be said");
			break;
		}
		add(t, "Rests on %llu complete episode%s only", (unsigned long long)p->episodes,
		    p->episodes == 1 ? "" : "s");
		if (!isnan(p->efficiency.parallel))
			add(t, ": %d %% of the threads' time is lost waiting at barriers", waiting);
		break;
	case REPORT_BALANCED:
		/* Where waits elsewhere count as work it is not known whether the load is even. */
		add(t, "%s%d %% of the threads' time is spent outside barriers",
		    p->untraced || p->counted_from_ns != REPORT_UNKNOWN ? "" : "Balanced: ",
		    say_percent(p->efficiency.parallel));
		if (p->untraced)
			add(t, ", with what it waits in %s", p->untraced);
		break;
	case REPORT_COSTLY:
		add(t,
		    "%d %% of the threads' time goes into the barriers themselves, more than is "
		    "lost ",
		    say_percent(transfer_share(p)));
		if (p->processes > 1)
			add(t, "waiting for others (%d %%)", waiting);
		else
			add(t, "by uneven work (%d %%)",
			    say_percent(p->lost_static + rotating_share(p)));
		break;
	case REPORT_UNTOLD:
		add(t, "%d %% of the threads' time is lost waiting at barriers", waiting);
		add_where(t, top, share);
		add(t, "; which threads come late is not known, for the processes are kept as a "
		       "sum");
		break;
	case REPORT_ROTATING:
		add(t, "%d %% of the threads' time is lost waiting at barriers", waiting);
		add_where(t, top, share);
		add(t, p->by_barrier
			       ? ": at each barrier the same threads are late, others at others"
			       : ": another thread is late each time");
		break;
	case REPORT_STATIC:
		add(t, "%d %% of the threads' time is lost waiting at barriers", waiting);
		add_where(t, top, share);
		add(t, ": the same %s %s",
		    follow_each_other(p) ? "positions (of threads that follow each other)"
					 : "threads",
		    work ? "always have more to do" : "always come late");
		add_idlers(t, team_of(p), "");
		break;
	case REPORT_MIXED_LOSS:
		add(t, "%d %% of the threads' time is lost waiting at barriers", waiting);
		add_where(t, top, share);
		if (p->by_barrier) {
			add(t, ": at each barrier the same threads are late, others at others");
			break;
		}
		add(t, ": %s, and who is late changes as well",
		    work ? "some threads have more to do" : "some threads come late more often");
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

/* Return the share of its threads' time that is lost at barriers. */
static double lost_share(const struct report_process *p)
{
	return isnan(p->efficiency.parallel) ? waiting_share(p) : 1 - p->efficiency.parallel;
}

void verdict_costs(const struct report_process *p, char *advice, size_t size)
{
	double cost = p->cost_share, lost = lost_share(p);

	/* What is lost where threads run tasks is not known. */
	if (p->tasks || !(cost >= VERDICT_LITTLE) || (cost < 0.5 && cost < lost))
		return;
	snprintf(advice, size,
		 "Tracing takes about %d %% of the threads' time, %s: do not act on these figures. "
		 "%s",
		 say_percent(cost),
		 cost >= lost ? "as much as is lost at barriers or more" : "most of it",
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
	/* Where most of it is lost, if there is such a place. */
	const struct report_barrier *most = top && share >= 0.5 ? top : NULL;

	p->pattern = process_pattern(p, shares->fixed);
	if (verdict_apart(p, top, share, &t)) {
		p->advice[0] = '\0';
		return;
	}
	if (verdict_openmp(p, &t))
		return;
	/* Others at other barriers: that is no chance, and seen as a whole nobody is late more often. */
	p->by_barrier = (p->pattern == REPORT_ROTATING || p->pattern == REPORT_MIXED_LOSS) &&
			shares->fixed >= 2.0 / 3 && (isnan(share) || share < 0.9);
	verdict_pattern(p, top, share, shares->work >= 0.5, &t);
	if (t.n && t.buf[t.n - 1] != '.')
		add(&t, ".");
	snprintf(p->advice, sizeof(p->advice), "%s",
		 most && *most->advice && p->pattern != REPORT_COSTLY && p->pattern != REPORT_FEW &&
				 p->pattern != REPORT_BALANCED && by_another(&most->cause)
			 ? most->advice
		 : !p->episodes	 ? ""
		 : p->by_barrier ? "Divide the work of each phase anew: see the barriers, at each "
				   "of which the same "
				   "threads are late."
				 : advice(p->pattern));
}

static void verdict_late(struct report_process *p)
{
	size_t n = strlen(p->verdict);

	snprintf(p->verdict + n, sizeof(p->verdict) - n,
		 "%s%s first crossings were not recorded: %s count from the first one that was.",
		 n ? " " : "", p->processes ? "Its" : "Of some of its processes the",
		 p->processes ? "these figures" : "these processes");
}

void verdict_process(struct report_process *p, const struct report_barrier *top,
		     const struct verdict_shares *shares)
{
	bool known = p->episodes && !p->tasks && !p->unmet;

	p->wait_share = known ? waiting_share(p) : NAN;
	/* Of a barrier that processes share, what one of them lost there is not in its phases alone. */
	p->imbalance = known && !p->meets_others && p->phase_thread_ns
			       ? fmin(1, (double)p->phase_wait_ns / (double)p->phase_thread_ns)
			       : NAN;
	classify_process(p, top, shares);
	if (p->counted_from_ns != REPORT_UNKNOWN)
		verdict_late(p);
	if (p->pattern != REPORT_FEW && !p->hung)
		verdict_costs(p, p->advice, sizeof(p->advice));
}
