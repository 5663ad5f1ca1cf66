// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check causes of lateness: the parts of a cause add up to the lateness, and the right cause is
 * named. If a thread is late for no particular reason, no cause is named.
 */
#include "test_analyse_util.h"
#include "analyse/places.h"

DEFINE_CLEANUP_PTR(arena_free, struct arena *)

#define STRESS	4711
#define HOSTILE 4712
#define MANY	5000
#define RENAMED 4713
#define LOCK	0x5000
#define INODE	77
#define PAGE	0x7f0000001000ULL
#define STACK	0xabcdULL

/* --- input of causes -------------------------------------------------------------------------- */

static const struct site_frame frames[] = {
	{ "clock_nanosleep", NULL, 0, 0 },
	{ "snooze", "/src/a.c", 12, 0 },
	{ "main", "/src/a.c", 99, 0 },
};

static const struct site_name names[] = {
	{ 1, &frames[0], "/usr/lib/libc.so.6", 0x100, .build_id = NULL },
	{ 1, &frames[1], "/usr/bin/a", 0x200, .build_id = NULL },
	{ 1, &frames[2], "/usr/bin/a", 0x300, .build_id = NULL },
};

#define WAITING	 79 /* the stack of pthread_cond_wait() */
#define NAMELESS 80 /* a stack without a name */
#define CRUNCH	 82 /* a position in Python code */
#define STRIPPED 81 /* the stack of a sleep in a library without symbols, called by main() */

static const struct site_name *site(void *ctx, uint32_t n)
{
	static const struct site_frame cond_frame = { "pthread_cond_wait", NULL, 0, 0 };
	static const struct site_name waiting[2] = {
		{ 1, &cond_frame, "/lib/libc.so.6", 0x20, .build_id = NULL },
		{ 0, NULL, "/lib/libc.so.6", 0x30, .build_id = NULL },
	};

	static const struct site_name stripped = { 0, NULL, "/opt/libfast.so.2", 0x40,
						   .build_id = NULL };

	static const struct site_frame crunch_frame = { "crunch", "/home/a/x.py", 12, 0 };
	static const struct site_name crunch = { 1, &crunch_frame, "/usr/bin/python3", 0,
						 .build_id = NULL };

	if (n == 7)
		return &crunch;
	if (n == 6)
		return &stripped;
	if (n == 4 || n == 5)
		return &waiting[n - 4];
	return n < 3 ? &names[n] : NULL;
}

static const char *task(void *ctx, uint32_t tid)
{
	static uint32_t calls;

	if (tid == HOSTILE)
		return "\x1b[31m\n\xe2\x80\xae%s%n";
	if (tid == RENAMED)
		return calls++ < 8 ? "made" : "worker";
	if (tid >= MANY && tid < MANY + 100)
		return "helper";
	return tid == STRESS || tid == STRESS + 100 ? "stress-ng" : NULL;
}

static const char *lock(void *ctx, uint32_t tgid, uint32_t inc, uint64_t addr)
{
	static char long_name[4096];

	assert_int_equal(tgid, PID);
	assert_int_equal(inc, INC);
	memset(long_name, 'x', sizeof(long_name) - 1);
	return addr == LOCK ? "m" : addr == LOCK + 8 ? long_name : NULL;
}

static const char *mapping(void *ctx, uint32_t tgid, uint32_t inc, uint64_t addr)
{
	return addr == PAGE ? "[heap]" : NULL;
}

static const char *file(void *ctx, uint64_t inode, bool *has_ends)
{
	*has_ends |= inode == INODE + 1;
	return inode == INODE ? "/var/log/out" : inode <= INODE + 2 ? CAUSE_PIPE : NULL;
}

static uint32_t stack(void *ctx, uint32_t tgid, uint32_t inc, uint64_t key, uint32_t *sites,
		      uint32_t max)
{
	uint32_t i;

	if ((key == WAITING || key == NAMELESS) && max > 1) {
		sites[0] = 5;
		sites[1] = key == WAITING ? 4 : 1;
		return 2;
	}
	if (key == CRUNCH && max) {
		sites[0] = 7;
		return 1;
	}
	if (key == STRIPPED && max > 2) {
		sites[0] = 0;
		sites[1] = 6;
		sites[2] = 2;
		return 3;
	}
	if (key != STACK)
		return 0;
	for (i = 0; i < 3 && i < max; i++)
		sites[i] = i;
	return i;
}

static const struct cause_env env = {
	.task = task,
	.lock = lock,
	.mapping = mapping,
	.file = file,
	.stack = stack,
	.instructions = 1,
	.cycles = MODEL_NONE,
};

static const struct report_env renv = { .site = site };

struct bench {
	struct run *r;
	struct causes *causes;
	struct report_cause out;
	struct made_episode m;
	uint64_t now;
};

static struct bench *bench_new(uint32_t n)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->r = known_threads(n);
	b->causes = causes_new(&env, &renv);
	assert_non_null(b->causes);
	b->now = 1000 * MS;
	return b;
}

static void bench_free(struct bench *b)
{
	causes_free(b->causes);
	run_free(b->r);
	free(b);
}

DEFINE_CLEANUP_PTR(bench_free, struct bench *)

/* Add an episode of four threads. They left the previous episode at the same time. */
static void meet_with(struct bench *b, const uint64_t *work)
{
	uint64_t from[4] = { b->now, b->now, b->now, b->now };

	cross_at(&b->m, 0, 4, NULL, from, work);
	b->now = b->m.ep.release_ns;
}

/* Add an episode in which thread 2 works 10 ms and @late, and the other threads work 10 ms. */
static void late_one(struct bench *b, uint64_t late)
{
	uint64_t work[4] = { 10 * MS, 10 * MS, 10 * MS + late, 10 * MS };

	meet_with(b, work);
}

static void take(struct bench *b)
{
	int64_t sum = 0;

	assert_int_equal(causes_episode(b->causes, b->r->model, &b->m.ep, NULL, 0, &b->out), 0);
	for (uint32_t i = 0; i < b->out.nparts; i++) {
		sum += b->out.parts[i].ns;
		assert_true(b->out.parts[i].ns != 0);
		if (i)
			assert_true(b->out.parts[i].ns <= b->out.parts[i - 1].ns);
	}
	if (b->out.nparts)
		assert_true(sum == (int64_t)b->out.lateness_ns);
}

/* Pass the episode to the analysis, and check fields of its cause. */
#define assert_cause(b, ...)                           \
	do {                                           \
		take(b);                               \
		assert_fields(&(b)->out, __VA_ARGS__); \
	} while (0)

static int64_t part(const struct report_cause *c, enum cause_kind kind)
{
	for (uint32_t i = 0; i < c->nparts; i++)
		if (!strcmp(c->parts[i].name, cause_name(kind)))
			return c->parts[i].ns;
	return 0;
}

static void site_cause(struct bench *b, struct arena *a, struct report_cause *out)
{
	int64_t sum = 0;

	assert_int_equal(causes_site(b->causes, 0, a, NULL, out), 0);
	for (uint32_t i = 0; i < out->nparts; i++)
		sum += out->parts[i].ns;
	assert_true(sum == (int64_t)out->lateness_ns);
}

/*
 * Page faults that are handled on a CPU block no thread. Their place is that of the samples, if
 * most of the additional time is there.
 */
static void test_place_of_faults(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	struct places_words where = { .at = "fill() a.c:3", .more_ns = 11 * MS };
	struct report_cause out;
	struct arena *a = arena_new();

	late_one(b, 12 * MS);
	detail_of(&b->m, 2)->fault_ns = 12 * MS;
	take(b);
	assert_int_equal(causes_site(b->causes, 0, a, &where, &out), 0);
	assert_fields(&out, TEXT(dominant->name, "page faults"),
		      HAS(text, "of 1 episode. At fill() a.c:3."));
	/* Less than half of the time of the page faults is there. */
	where.more_ns = 5 * MS;
	assert_int_equal(causes_site(b->causes, 0, a, &where, &out), 0);
	assert_lacks(out.text, " At ");
	/* More work there is not the reason. */
	late_one(b, 12 * MS);
	for (unsigned i = 0; i < 3; i++)
		take(b);
	where.more_ns = 48 * MS;
	assert_int_equal(causes_site(b->causes, 0, a, &where, &out), 0);
	assert_fields(&out, TEXT(dominant->name, "work"));
	assert_lacks(out.text, " At ");
	arena_free(a);
}

/* --- one reason at a time -------------------------------------------------------------------- */

static void test_work(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);

	late_one(b, 12 * MS);
	assert_cause(b, TEXT(dominant->name, "work"), NEAR(share, 1, 1e-12), IS(nparts, 1),
		     IS(lateness_ns, 12 * MS), IS(culprit, NULL),
		     TEXT(text,
			  "Thread 2 arrived 12.0 ms after thread 1: 100 % of the delay because "
			  "it was on a CPU for longer."));
	/* A thread that spins while it waits for its turn does no work. */
	detail_of(&b->m, 2)->turn_ns = detail_of(&b->m, 2)->turn_oncpu_ns = 9 * MS;
	assert_cause(b, TEXT(dominant->name, "lock"), NEAR(share, 0.75, 1e-12));
	assert_int_equal(part(&b->out, CAUSE_WORK), 3 * MS);
	/*
	 * A thread without a detail was on a CPU all the time if its time was accounted for. If it
	 * was not, nothing is known.
	 */
	b->m.members[1].detail = b->m.members[3].detail = NULL;
	assert_cause(b, TEXT(dominant->name, "work"));
	b->m.members[3].flags = 0;
	take(b);
	assert_fields(b, IS(out.nparts, 0), IS(out.dominant, NULL));
	assert_true(isnan(b->out.share));
	assert_string_equal(b->out.text, "");
}

static void set_instructions(struct bench *b, uint32_t who, uint64_t n)
{
	struct model_detail *d = detail_of(&b->m, who);

	d->ncounters = 2;
	d->counters[1] = n;
}

/*
 * When a process is combined with its program, the cause data of its barrier move to the program's
 * barrier. The process's barrier keeps none.
 */
static void test_folded(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	struct arena *a CLEANUP_PTR(arena_free) = arena_new();
	struct report_cause out;

	assert_non_null(a);
	late_one(b, 12 * MS);
	take(b);
	assert_int_equal(causes_fold_barrier(b->causes, 0, 3), 0);
	assert_int_equal(causes_site(b->causes, 0, a, NULL, &out), 0);
	assert_int_equal(out.episodes, 0);
	late_one(b, 20 * MS);
	take(b);
	assert_int_equal(causes_fold_barrier(b->causes, 0, 3), 0);
	assert_int_equal(causes_site(b->causes, 3, a, NULL, &out), 0);
	assert_fields(&out, IS(episodes, 2), IS(dominated, 2), IS(lateness_ns, 32 * MS));
	assert_int_equal(part(&out, CAUSE_WORK), 32 * MS);
	assert_string_equal(out.dominant->name, "work");
}

/*
 * A thread executes twice the instructions in three times the time. Half of the additional time is
 * more work, and half is slower execution.
 */
static void test_instructions(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);

	late_one(b, 20 * MS);
	set_instructions(b, 1, 5000);
	set_instructions(b, 2, 10000);
	take(b);
	assert_int_equal(part(&b->out, CAUSE_MORE_WORK), 10 * MS);
	assert_int_equal(part(&b->out, CAUSE_SLOWER_WORK), 10 * MS);
	assert_int_equal(part(&b->out, CAUSE_WORK), 0);
	late_one(b, 20 * MS);
	set_instructions(b, 1, 5000);
	set_instructions(b, 2, 5000);
	assert_cause(b, TEXT(dominant->name, "slower work"));
	assert_int_equal(part(&b->out, CAUSE_SLOWER_WORK), 20 * MS);
	/*
	 * The late thread executed fewer instructions. The part for more work is negative, and the
	 * part for slower execution compensates for it.
	 */
	late_one(b, 20 * MS);
	set_instructions(b, 1, 5000);
	set_instructions(b, 2, 4000);
	take(b);
	assert_true(part(&b->out, CAUSE_MORE_WORK) == -2 * (int64_t)MS);
	assert_int_equal(part(&b->out, CAUSE_SLOWER_WORK), 22 * MS);
	assert_near(b->out.share, 1, 1e-12);
	/* The counter did not run all the time, so the excess is not split. */
	detail_of(&b->m, 2)->unknown = 2;
	assert_cause(b, TEXT(dominant->name, "work"));
	/* Impossible counts do no harm. */
	set_instructions(b, 1, 1);
	set_instructions(b, 2, UINT64_MAX);
	detail_of(&b->m, 2)->unknown = 0;
	assert_cause(b, TEXT(dominant->name, "work"));
}

static void test_cpu(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	struct model_detail *d;

	late_one(b, 12 * MS);
	d = detail_of(&b->m, 2);
	d->oncpu_ns = 10 * MS;
	d->runq_ns = 12 * MS;
	d->ran = STRESS;
	d->ran_ns = 11 * MS;
	assert_cause(
		b, TEXT(dominant->name, "no cpu"), TEXT(culprit, "stress-ng (4711)"),
		HAS(text, "it was ready to run and waited for a CPU that stress-ng (4711) had."));
	d->ran_ns = 4 * MS;
	assert_cause(b, HAS(text, "a CPU that stress-ng (4711) had, among other tasks."));
	d->ran_ns = 11 * MS;
	/*
	 * The thread that had the CPU belongs to the same process, so it is named by its index. If
	 * it belonged to another process, only its tid would be known.
	 */
	d->ran = TID(3);
	assert_cause(b, TEXT(culprit, "thread 3"));
	d->ran = 999;
	assert_cause(b, TEXT(culprit, "task 999"));
	d->ran = 0;
	take(b);
	assert_fields(b, IS(out.culprit, NULL),
		      HAS(out.text, "because it was ready to run and waited for a CPU."));
}

static void test_places(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	struct model_block *k;

	late_one(b, 12 * MS);
	blocked(&b->m, 2, MODEL_BLOCKED_IO, 12 * MS)->at.file = INODE;
	assert_cause(b, TEXT(dominant->name, "i/o"), TEXT(culprit, "/var/log/out"),
		     HAS(text, "because it waited for I/O on /var/log/out."));

	late_one(b, 12 * MS);
	blocked(&b->m, 2, MODEL_BLOCKED_FAULT, 2 * MS)->at.fault_addr = PAGE;
	detail_of(&b->m, 2)->fault_ns = 10 * MS; /* not blocked: on a CPU */
	assert_cause(b, TEXT(dominant->name, "page faults"));
	assert_int_equal(part(&b->out, CAUSE_FAULT), 12 * MS);
	assert_string_equal(b->out.culprit, "[heap]");

	late_one(b, 12 * MS);
	k = blocked(&b->m, 2, MODEL_BLOCKED_SLEEP, 12 * MS);
	k->stack = STACK;
	assert_cause(b, TEXT(dominant->name, "sleep"), TEXT(culprit, "snooze"),
		     HAS(text, "it slept in snooze()."), IS(nframes, 3),
		     TEXT(frames[0].function, "clock_nanosleep"), TEXT(frames[2].function, "main"),
		     IS(frames[2].line, 99));

	late_one(b, 12 * MS);
	blocked(&b->m, 2, MODEL_BLOCKED_SLEEP, 12 * MS)->stack = STRIPPED;
	take(b);
	assert_fields(b, TEXT(out.culprit, "libfast.so.2"),
		      HAS(out.text, "it slept in libfast.so.2."));

	late_one(b, 12 * MS);
	blocked(&b->m, 2, MODEL_BLOCKED_THROTTLED, 12 * MS);
	assert_cause(b, TEXT(dominant->name, "throttled"));

	late_one(b, 12 * MS);
	blocked(&b->m, 2, MODEL_BLOCKED_OTHER, 12 * MS);
	assert_cause(b, TEXT(dominant->name, "other"));

	/* The longest block has another reason than the dominant cause, so it is not reported. */
	late_one(b, 12 * MS);
	k = blocked(&b->m, 2, MODEL_BLOCKED_IO, 12 * MS);
	k->at.file = INODE;
	k->reason = MODEL_BLOCKED_SLEEP;
	assert_cause(b, TEXT(dominant->name, "i/o"), IS(culprit, NULL));

	/* The second longest block has the reason of the dominant cause, so it is reported. */
	late_one(b, 12 * MS);
	k = blocked(&b->m, 2, MODEL_BLOCKED_IO, 12 * MS);
	detail_of(&b->m, 2)->second = *k;
	detail_of(&b->m, 2)->second.at.file = INODE;
	k->reason = MODEL_BLOCKED_SLEEP;
	assert_cause(b, TEXT(dominant->name, "i/o"), TEXT(culprit, "/var/log/out"));

	late_one(b, 12 * MS);
	detail_of(&b->m, 2)->oncpu_ns -= 12 * MS;
	assert_cause(b, TEXT(dominant->name, "unattributed"));
}

/* --- locks, and chains ----------------------------------------------------------------------- */

static struct model_block *locked(struct bench *b)
{
	struct model_block *k;

	late_one(b, 12 * MS);
	k = blocked(&b->m, 2, MODEL_BLOCKED_LOCK, 12 * MS);
	k->at.futex = LOCK;
	k->waker = TID(0);
	k->holder = TID(3);
	return k;
}

static void test_lock(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	struct model_block *k;

	k = locked(b);
	assert_cause(b, TEXT(dominant->name, "lock"),
		     TEXT(culprit, "the lock `m`, held by thread 3"),
		     HAS(text, "it waited for the lock `m` held by thread 3."));
	/* A thread is called the holder only if it is known to hold the lock. */
	k->holder = 0;
	assert_cause(b, HAS(text, "woken by thread 0 (holder unknown)"), LACKS(text, "held by"));
	k->waker = 0;
	assert_cause(b, TEXT(culprit, "the lock `m`"));
	k->at.futex = 0x77;
	assert_cause(b, TEXT(culprit, "the lock at 0x77"));
}

/* The sentence on the GIL says which thread held it, and where, as far as this is known. */
static void test_gil(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	struct model_block *k;

	late_one(b, 12 * MS);
	k = blocked(&b->m, 2, MODEL_BLOCKED_GIL, 12 * MS);
	k->at.gil = 0x4000;
	k->stack = CRUNCH;
	k->holder = TID(3);
	k->waker = TID(0);
	k->doing = MODEL_DOING_ONCPU;
	k->doing_ns = 11 * MS;
	assert_cause(
		b, TEXT(dominant->name, "gil"),
		TEXT(culprit, "the GIL, held by thread 3 in `crunch` at x.py:12"),
		HAS(text, "it waited for the GIL, which thread 3 held in `crunch` at x.py:12."),
		IS(nframes, 1));
	/* The thread that gives the GIL away wakes the next one. */
	k->holder = 0;
	assert_cause(b, HAS(text, "the GIL, which thread 0 held in `crunch` at x.py:12."));
	k->waker = 0;
	assert_cause(b, HAS(text, "the GIL, which other threads held in `crunch` at x.py:12."));
	/* A thread that crosses no barrier. */
	k->holder = 12345;
	k->stack = NAMELESS - 10;
	assert_cause(b, HAS(text, "it waited for the GIL, which thread 12345 held."));
	k->holder = 0;
	assert_cause(b, HAS(text, "because it waited for the GIL."));
	/* The holder may wait for a CPU itself. */
	k->stack = CRUNCH;
	k->holder = TID(3);
	k->doing = MODEL_DOING_RUNQ;
	k->culprit = STRESS;
	take(b);
	assert_fields(b, HAS(out.text, "held in `crunch` at x.py:12, which itself was waiting for "
				       "a CPU that stress-ng (4711) had."));
}

/*
 * A thread may wait for another thread's end, at a semaphore or at a condition variable. None of
 * these is a lock, so no holder is reported.
 */
static void test_no_lock(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	struct model_block *k = locked(b);

	k->waited = MODEL_WAITED_JOIN;
	k->doing = MODEL_DOING_ONCPU;
	k->doing_ns = 11 * MS;
	assert_cause(b, TEXT(dominant->name, "lock"), TEXT(culprit, "the end of thread 3"),
		     HAS(text, "because it waited for thread 3 to end, which was on a CPU."),
		     IS(waited, WAITED_JOIN));
	k->holder = 0;
	k->waited = MODEL_WAITED_EVENT;
	k->stack = WAITING;
	take(b);
	assert_fields(b, TEXT(out.culprit, "the condition variable `m`, woken by thread 0"),
		      HAS(out.text, "it waited for the condition variable `m`, woken by thread 0, "
				    "which was on a CPU."),
		      IS(out.doing, MODEL_DOING_ONCPU));
	k->doing = MODEL_DOING_RUNQ;
	k->culprit = STRESS;
	take(b);
	assert_fields(b,
		      HAS(out.text, "woken by thread 0, which itself was waiting for a CPU that "
				    "stress-ng (4711) had."),
		      TEXT(out.culprit, "the condition variable `m`, woken by thread 0"));
	/* In a recording, it can be unknown what the waker was doing. */
	k->doing = MODEL_DOING_UNKNOWN;
	k->doing_ns = 0;
	k->culprit = 0;
	take(b);
	assert_fields(b,
		      HAS(out.text, "it waited for the condition variable `m`, woken by thread 0."),
		      IS(out.doing, MODEL_DOING_UNKNOWN));
	k->stack = NAMELESS;
	assert_cause(b, HAS(text, "it waited for the semaphore `m`, woken by thread 0."));
	k->stack = 0;
	take(b);
	assert_says(b->out.text,
		    "it waited for the semaphore or condition variable `m`, woken by thread 0.");
	/* The system call shows a System V semaphore, with and without a known stack. */
	k->waited = MODEL_WAITED_SEMAPHORE;
	k->at.key = 0;
	assert_cause(b, TEXT(culprit, "the semaphore, woken by thread 0"));
	k->stack = WAITING;
	assert_cause(b, TEXT(culprit, "the semaphore, woken by thread 0"));
	k->at.futex = LOCK;
	k->waited = MODEL_WAITED_UNKNOWN;
	k->stack = WAITING;
	k->waker = 0;
	assert_cause(b, HAS(text, "it waited for the condition variable `m`."),
		     LACKS(text, "lock"));
}

/*
 * A thread is late because it waits for a lock. Thread 3 holds the lock, and waits for a CPU that
 * is in use by another process.
 */
static void test_chain(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	struct model_block *k = locked(b);

	k->doing = MODEL_DOING_RUNQ;
	k->doing_ns = 11 * MS;
	k->culprit = STRESS;
	take(b);
	assert_string_equal(
		b->out.text,
		"Thread 2 arrived 12.0 ms after thread 1: 100 % of the delay because it "
		"waited for the lock `m` held by thread 3, which itself was waiting for a CPU "
		"that stress-ng (4711) had.");
	k->doing = MODEL_DOING_BLOCKED + MODEL_BLOCKED_LOCK;
	k->culprit = TID(0);
	take(b);
	assert_says(b->out.text,
		    "held by thread 3, which itself waited for a lock held by thread 0.");
	k->doing = MODEL_DOING_BLOCKED + MODEL_BLOCKED_IO;
	assert_cause(b, HAS(text, "held by thread 3, which was waiting for I/O."));
	k->doing = 255;
	assert_cause(b, HAS(text, "held by thread 3."));
	/*
	 * If the holder spent less than half of the wait in one activity, this activity is not
	 * reported.
	 */
	k->doing = MODEL_DOING_RUNQ;
	k->doing_ns = 5 * MS;
	assert_cause(b, HAS(text, "held by thread 3."));
}

/* Thread 1 left the previous barrier 8 ms after the other threads. */
static void left_late(struct bench *b)
{
	uint64_t from[4] = { b->now, b->now + 8 * MS, b->now, b->now };
	uint64_t work[4] = { 10 * MS, 10 * MS, 10 * MS, 10 * MS };

	cross_at(&b->m, 0, 4, NULL, from, work);
	b->now = b->m.ep.release_ns;
}

static void test_released_late(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	struct model_detail *d;

	left_late(b); /* there was no episode before */
	assert_cause(b, TEXT(dominant->name, "released late"));
	assert_int_equal(part(&b->out, CAUSE_RELEASED_LATE), 8 * MS);
	assert_says(b->out.text, "because it began later.");

	late_one(b, 0);
	d = detail_of(&b->m, 1);
	d->inside_runq_ns = 8 * MS;
	d->inside_ran = STRESS;
	take(b);
	left_late(b);
	assert_cause(b, TEXT(dominant->name, "released late"), TEXT(culprit, "stress-ng (4711)"),
		     HAS(text, "it left the preceding barrier later, after waiting for a CPU that "
			       "stress-ng (4711) had at its release."));
	/* The late departure was two episodes ago, so the thread that caused it is not named. */
	left_late(b);
	assert_cause(b, IS(culprit, NULL));
}

/*
 * Thread 0 of a team worked alone for 20 ms before the region. In the region, thread 2 sleeps for 8
 * ms more than the rest. Thread 2 is late because of its sleep, and not because it started later
 * than thread 0.
 */
static void test_team_after_a_serial_part(void **state)
{
	static const uint64_t serial = 20 * MS;
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);

	for (uint32_t i = 0; i < 2; i++) {
		uint64_t at = b->now + serial, from[4] = { b->now, at, at, at };
		uint64_t work[4] = { serial + 11 * MS, 10 * MS, 18 * MS, 12 * MS };

		cross_at(&b->m, 0, 4, NULL, from, work);
		/*
		 * In the second pass the threads are not a team. So thread 0 is compared with the
		 * others, too, and is the median.
		 */
		for (uint32_t k = 0; k < 4 && !i; k++)
			b->m.members[k].flags |= MODEL_CROSSING_TEAM;
		blocked(&b->m, 2, MODEL_BLOCKED_SLEEP, 8 * MS);
		b->now = b->m.ep.release_ns;
		assert_cause(b, TEXT(dominant->name, i ? "released late" : "sleep"));
		assert_int_equal(part(&b->out, CAUSE_RELEASED_LATE), i ? 20 * MS : 0);
	}
}

/* Thread 1 was delayed at a barrier that the other threads do not cross. */
static void test_delayed_at_another_barrier(void **state)
{
	static const uint32_t pair[] = { 1, 3 };
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	uint64_t from[4], work[4] = { 1 * MS, 1 * MS, 1 * MS, 1 * MS };

	late_one(b, 0);
	take(b);
	from[0] = from[1] = b->now;
	work[1] = 9 * MS;
	cross_at(&b->m, 1, 2, pair, from, work);
	take(b);
	work[1] = 1 * MS;
	from[0] = from[2] = from[3] = b->now;
	from[1] = b->now + 9 * MS;
	work[3] = 2 * MS;
	cross_at(&b->m, 0, 4, NULL, from, work);
	b->m.ep.phase_ns = 10 * MS;
	assert_cause(b, TEXT(dominant->name, "released late"),
		     HAS(text, "Thread 1 arrived 9.0 ms after thread 2"),
		     HAS(text,
			 "it took part in another episode, which ended later, after waiting there "
			 "for thread 3."));
}

/* --- several at once ------------------------------------------------------------------------- */

static void test_mixed(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	struct model_detail *d;

	late_one(b, 10 * MS);
	d = detail_of(&b->m, 2);
	blocked(&b->m, 2, MODEL_BLOCKED_IO, 6 * MS)->at.file = INODE;
	d->runq_ns = 5 * MS;
	d->ran = STRESS;
	d->oncpu_ns -= 5 * MS; /* thread 2 also works less: 9 ms instead of 10 ms */
	assert_cause(b, TEXT(dominant->name, "i/o"), NEAR(share, 6.0 / 11, 1e-12));
	assert_int_equal(part(&b->out, CAUSE_IO), 6 * MS);
	assert_int_equal(part(&b->out, CAUSE_CPU), 5 * MS);
	assert_true(part(&b->out, CAUSE_WORK) == -1 * (int64_t)MS);
	assert_string_equal(
		b->out.text,
		"Thread 2 arrived 10.0 ms after thread 1: 55 % of the delay because it "
		"waited for I/O on /var/log/out; 45 % because it was ready to run and waited "
		"for a CPU that stress-ng (4711) had.");
}

/* In the sums of a site, episodes are weighted by their lost time, not by their number. */
static void test_site(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	struct arena *a CLEANUP_PTR(arena_free) = arena_new();
	struct report_cause c;
	struct model_block *k;

	for (uint32_t i = 0; i < 190; i++) {
		k = locked(b);
		k->doing = MODEL_DOING_RUNQ;
		k->doing_ns = 12 * MS;
		k->culprit = STRESS;
		k->stack = STACK;
		take(b);
	}
	for (uint32_t i = 0; i < 10; i++) {
		late_one(b, 24 * MS);
		blocked(&b->m, 2, MODEL_BLOCKED_SLEEP, 24 * MS);
		take(b);
	}
	site_cause(b, a, &c);
	assert_fields(&c, TEXT(dominant->name, "lock"), IS(episodes, 200), IS(dominated, 190),
		      IS(lateness_ns, 190 * 12 * MS + 10 * 24 * MS),
		      NEAR(share, 190.0 * 12 / (190 * 12 + 240), 1e-9),
		      TEXT(culprit, "the lock `m`, held by thread 3"),
		      TEXT(text, "Late mostly because it waited for the lock `m` held by thread "
				 "3, which itself was waiting for a CPU that stress-ng (4711) "
				 "had: 90 % of the lost time, in 190 of 200 episodes."),
		      IS(nframes, 3), TEXT(frames[1].function, "snooze"));
}

/* The text names the part of the lateness that is largest in the table. */
static void test_largest_part(void **state)
{
	static const uint64_t one[4] = { 50 * MS, 50 * MS, 50 * MS, 60 * MS };
	static const uint64_t two[4] = { 50 * MS, 50 * MS, 62 * MS, 62 * MS };
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	struct arena *a CLEANUP_PTR(arena_free) = arena_new();
	struct report_cause c;

	for (uint32_t i = 0; i < 20; i++) {
		/* In this episode, all three other threads wait for the last arriver. */
		meet_with(b, one);
		blocked(&b->m, 3, MODEL_BLOCKED_SLEEP, 10 * MS);
		take(b);
		/* In this episode, only two threads wait, but for longer. */
		meet_with(b, two);
		detail_of(&b->m, 2)->oncpu_ns = detail_of(&b->m, 3)->oncpu_ns = 50 * MS;
		detail_of(&b->m, 2)->runq_ns = detail_of(&b->m, 3)->runq_ns = 12 * MS;
		take(b);
	}
	site_cause(b, a, &c);
	assert_fields(&c, TEXT(dominant->name, "no cpu"), NEAR(share, 12.0 / 22, 1e-9),
		      IS(dominated, 20), HAS(text, "55 % of the lateness, in 20 of 40 episodes"));
}

/*
 * Details that change from episode to episode are merged: one lock has several holders, and many
 * tasks with one name take the CPU.
 */
static void test_site_coarse(void **state)
{
	struct bench *b = bench_new(4), *b2 = bench_new(4);
	struct arena *a = arena_new();
	struct report_cause c;
	struct model_detail *d;

	for (uint32_t i = 0; i < 200; i++) {
		locked(b)->holder = 1000 + i;
		take(b);
		late_one(b2, 12 * MS);
		d = detail_of(&b2->m, 2);
		d->oncpu_ns -= 12 * MS;
		d->runq_ns = 12 * MS;
		d->ran = i % 3 ? STRESS + 100 * (i % 2) : 2000 + i;
		take(b2);
	}
	site_cause(b, a, &c);
	assert_string_equal(c.culprit, "the lock `m`");
	site_cause(b2, a, &c);
	assert_fields(&c, TEXT(culprit, "stress-ng"),
		      HAS(text, "a CPU that stress-ng had: 100 % of the lost time, in 200 of 200"));
	arena_free(a);
	bench_free(b);
	bench_free(b2);
}

/* Threads get their names after they have started. In the first episodes they have other names. */
static void test_site_renamed(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	struct arena *a CLEANUP_PTR(arena_free) = arena_new();
	struct report_cause c;

	for (uint32_t i = 0; i < 20; i++) {
		locked(b)->holder = RENAMED;
		take(b);
	}
	site_cause(b, a, &c);
	assert_string_equal(c.culprit, "the lock `m`, held by worker (4713)");
}

/*
 * Equal threads arrive with small random differences: no cause is named, whichever thread is last.
 * No cause is named for a single delay in a thousand episodes, either.
 */
static void test_balanced(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	struct arena *a CLEANUP_PTR(arena_free) = arena_new();
	uint64_t seed = 42, from[4], work[4];
	struct report_cause c;

	for (uint32_t i = 0; i < 1000; i++) {
		for (uint32_t k = 0; k < 4; k++) {
			from[k] = b->now + rnd_to(&seed, 8000);
			work[k] = MS + rnd_to(&seed, 10000);
		}
		cross_at(&b->m, 0, 4, NULL, from, work);
		b->now = b->m.ep.release_ns;
		take(b);
		assert_fields(b, IS(out.dominant, NULL), TEXT(out.text, ""));
		assert_true(isnan(b->out.share));
		assert_int_equal(b->out.lateness_ns,
				 b->m.members[3].arrive_ns - b->m.members[1].arrive_ns);
	}
	late_one(b, 12 * MS);
	take(b);
	assert_non_null(b->out.dominant);
	site_cause(b, a, &c);
	assert_fields(&c, IS(episodes, 1001), IS(dominant, NULL), TEXT(text, ""));
	assert_true(isnan(c.share));
}

/*
 * Phases can be as short as the noise. A thread that arrives less than 20 us later is never called
 * late.
 */
static void test_short_phases(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(2);
	uint64_t from[2] = { b->now, b->now }, work[2] = { 10000, 29000 };

	cross_at(&b->m, 0, 2, NULL, from, work);
	assert_cause(b, IS(dominant, NULL));
	work[1] = 31000;
	cross_at(&b->m, 0, 2, NULL, from, work);
	assert_cause(b, TEXT(dominant->name, "work"));
}

/* --- single members --------------------------------------------------------------------------- */

/* Each member gets the cause of its own lateness, compared with the typical member. */
static void test_members(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	uint64_t work[4] = { 10 * MS, 10 * MS, 14 * MS, 12 * MS };
	const struct model_member *ref;
	struct cause_member why;

	meet_with(b, work);
	blocked(&b->m, 2, MODEL_BLOCKED_SLEEP, 4 * MS)->stack = STACK;
	ref = cause_reference(b->causes, b->r->model, &b->m.ep);
	assert_ptr_equal(ref, &b->m.ep.members[1]);
	why = cause_of_member(b->causes, b->r->model, &b->m.ep, ref, &b->m.ep.members[3]);
	assert_fields(&why, IS(dominant, CAUSE_SLEEP), IS(lateness_ns, 4 * MS),
		      IS(dominant_ns, 4 * MS), IS(site, 0));
	/* Not the last arriver, but late. */
	why = cause_of_member(b->causes, b->r->model, &b->m.ep, ref, &b->m.ep.members[2]);
	assert_fields(&why, IS(dominant, CAUSE_WORK), IS(lateness_ns, 2 * MS),
		      IS(dominant_ns, 2 * MS), IS(site, MODEL_NONE));
	why = cause_of_member(b->causes, b->r->model, &b->m.ep, ref, &b->m.ep.members[0]);
	assert_fields(&why, IS(dominant, CAUSE_NONE), IS(lateness_ns, 0), IS(site, MODEL_NONE));
	why = cause_of_member(b->causes, b->r->model, &b->m.ep, ref, ref);
	assert_int_equal(why.dominant, CAUSE_NONE);
	/* Without recorded causes, the parts are known, but no stacks. */
	ref = cause_reference(NULL, b->r->model, &b->m.ep);
	why = cause_of_member(NULL, b->r->model, &b->m.ep, ref, &b->m.ep.members[3]);
	assert_fields(&why, IS(dominant, CAUSE_SLEEP), IS(site, MODEL_NONE));
	/* The time of the thread was not accounted for. */
	b->m.members[3].flags = 0;
	b->m.members[3].detail = NULL;
	why = cause_of_member(b->causes, b->r->model, &b->m.ep, ref, &b->m.ep.members[3]);
	assert_int_equal(why.dominant, CAUSE_NONE);
	b->m.ep.state = MODEL_INCOMPLETE;
	assert_null(cause_reference(b->causes, b->r->model, &b->m.ep));
	why = cause_of_member(b->causes, b->r->model, &b->m.ep, NULL, &b->m.ep.members[3]);
	assert_int_equal(why.dominant, CAUSE_NONE);
}

/* --- unknown causes --------------------------------------------------------------------------- */

static void test_unknown(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	struct arena *a CLEANUP_PTR(arena_free) = arena_new();
	uint64_t from = b->now, work = 5 * MS;
	struct report_cause c;

	late_one(b, 12 * MS);
	b->m.members[3].work_ns = MODEL_UNKNOWN;
	assert_cause(b, IS(nparts, 0));
	late_one(b, 12 * MS);
	b->m.members[1].work_ns = MODEL_UNKNOWN; /* the thread to compare with */
	assert_cause(b, IS(nparts, 0));
	late_one(b, 12 * MS);
	b->m.ep.state = MODEL_INCOMPLETE;
	assert_cause(b, IS(nparts, 0));
	late_one(b, 12 * MS);
	b->m.ep.nested = true;
	assert_cause(b, IS(nparts, 0));
	cross_at(&b->m, 0, 1, NULL, &from, &work);
	assert_cause(b, IS(nparts, 0));
	site_cause(b, a, &c);
	assert_fields(&c, IS(episodes, 0), IS(dominant, NULL));
	/* If the time on a CPU is MODEL_UNKNOWN, it is all the time that the other parts leave. */
	late_one(b, 12 * MS);
	blocked(&b->m, 2, MODEL_BLOCKED_IO, 12 * MS);
	detail_of(&b->m, 2)->oncpu_ns = MODEL_UNKNOWN;
	take(b);
	assert_int_equal(part(&b->out, CAUSE_IO), 12 * MS);
	assert_int_equal(b->out.nparts, 1);
}

/*
 * A thread that waits for one of several files waits for no file of its own. If the name of a file
 * is unknown, the report names the position in the code where the thread waits.
 */
static void test_many_files(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	struct arena *a CLEANUP_PTR(arena_free) = arena_new();
	struct report_cause c;
	struct model_block *k;

	late_one(b, 12 * MS);
	k = blocked(&b->m, 2, MODEL_BLOCKED_IO, 12 * MS);
	k->at.file = MODEL_FILE_SEVERAL;
	k->stack = STACK;
	assert_cause(b, TEXT(culprit, "one of several files"));
	site_cause(b, a, &c);
	assert_string_equal(c.culprit, "one of several files");
	/* The thread waits elsewhere, for a file with an unknown name. */
	late_one(b, 12 * MS);
	k = blocked(&b->m, 2, MODEL_BLOCKED_IO, 12 * MS);
	k->stack = STACK;
	take(b);
	assert_fields(b, TEXT(out.culprit, "snooze"),
		      HAS(out.text, "because it waited for I/O in snooze()."));
	late_one(b, 12 * MS);
	blocked(&b->m, 2, MODEL_BLOCKED_IO, 12 * MS);
	assert_cause(b, IS(culprit, NULL));

	late_one(b, 12 * MS);
	k = blocked(&b->m, 2, MODEL_BLOCKED_OTHER, 12 * MS);
	k->at.other = MODEL_OTHER_SIGNAL;
	k->stack = STACK;
	assert_cause(b, HAS(text, "because it waited for a signal in snooze()."));
}

/* The report names the thread at the other end of a pipe, its activity, and its process. */
static void test_other_end(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	struct model_block *k;

	late_one(b, 12 * MS);
	k = blocked(&b->m, 2, MODEL_BLOCKED_IO, 12 * MS);
	k->at.file = INODE + 1;
	k->waker = TID(3);
	take(b);
	/*
	 * An interrupt caused the wake-up. The recorded waker is only the thread that it
	 * interrupted, so this thread is not named.
	 */
	assert_fields(
		b, TEXT(out.culprit, "a pipe"),
		HAS(out.text, "it waited for I/O on a pipe, connected to an unknown thread."));
	k->waited = MODEL_WAITED_WAKER;
	take(b);
	assert_fields(b, TEXT(out.culprit, "a pipe, connected to thread 3"),
		      HAS(out.text, "it waited for I/O on a pipe, connected to thread 3."),
		      IS(out.waited, WAITED_THREAD), IS(out.doing, MODEL_DOING_UNKNOWN));
	k->doing = MODEL_DOING_BLOCKED + MODEL_BLOCKED_SLEEP;
	k->doing_ns = 11 * MS;
	take(b);
	assert_fields(b, HAS(out.text, "connected to thread 3, which was asleep."),
		      IS(out.doing, MODEL_DOING_BLOCKED + MODEL_BLOCKED_SLEEP));
	/* This file has the name "a pipe", but is not a pipe. */
	k->at.file = INODE + 2;
	assert_cause(b, HAS(text, "I/O on a pipe, woken by thread 3, which was asleep."));
	k->at.file = INODE;
	assert_cause(b, HAS(text, "I/O on /var/log/out, woken by thread 3, which was asleep."));
	/* Only the name of the untraced program is known. */
	k->waker = STRESS;
	k->doing = MODEL_DOING_UNKNOWN;
	take(b);
	assert_fields(b, HAS(out.text, "I/O on /var/log/out, woken by stress-ng (4711)."),
		      IS(out.waited, WAITED_LOCK));
}

/* Each wait has another waker, which exists only for this wait. All wakers have the same name. */
static void test_wakers_of_one_name(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	struct arena *a CLEANUP_PTR(arena_free) = arena_new();
	struct report_cause c;
	struct model_block *k;

	for (unsigned i = 0; i < 40; i++) {
		k = locked(b);
		k->holder = 0;
		k->waited = MODEL_WAITED_EVENT;
		k->stack = WAITING;
		k->at.futex = LOCK + 4 * (i % 2); /* the two words of a condition variable */
		k->waker = MANY + i;
		k->doing = MODEL_DOING_RUNQ;
		k->doing_ns = 11 * MS;
		k->culprit = STRESS + 100 * (i % 2);
		take(b);
	}
	site_cause(b, a, &c);
	assert_fields(
		&c,
		HAS(text, "woken by helper, which itself was waiting for a CPU that stress-ng had"),
		IS(doing, MODEL_DOING_RUNQ));
}

/*
 * The waker does different things in different episodes. The report names the waker, and the share
 * of each activity.
 */
static void test_doings_differ(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	struct arena *a CLEANUP_PTR(arena_free) = arena_new();
	struct report_cause c;
	struct model_block *k;

	for (unsigned i = 0; i < 40; i++) {
		k = locked(b);
		k->holder = 0;
		k->waited = MODEL_WAITED_EVENT;
		k->stack = WAITING;
		k->doing_ns = 11 * MS;
		k->doing = i % 2 ? MODEL_DOING_ONCPU : MODEL_DOING_BLOCKED + MODEL_BLOCKED_SLEEP;
		k->culprit = 0;
		if (i % 5 == 4) {
			k->doing = MODEL_DOING_RUNQ;
			k->culprit = STRESS;
		}
		take(b);
	}
	site_cause(b, a, &c);
	assert_fields(
		&c, HAS(text, "the condition variable `m`, woken by thread 0, which was"),
		HAS(text, "was asleep in 16"), HAS(text, "was on a CPU in 16"),
		HAS(text, "and itself was waiting for a CPU that stress-ng (4711) had in 8 (20 %)"),
		IS(doing, MODEL_DOING_UNKNOWN));
	/* In all further episodes the waker sleeps. */
	for (unsigned i = 0; i < 60; i++) {
		k->doing = MODEL_DOING_BLOCKED + MODEL_BLOCKED_SLEEP;
		k->culprit = 0;
		take(b);
	}
	site_cause(b, a, &c);
	assert_fields(
		&c,
		HAS(text, "which was asleep in 76 episodes (76 %) and was on a CPU in 16 (16 %)"),
		IS(doing, MODEL_DOING_BLOCKED + MODEL_BLOCKED_SLEEP));
}

/* Names contain terminal control characters, or are not terminated. */
static void test_hostile_names(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	struct arena *a CLEANUP_PTR(arena_free) = arena_new();
	struct report_cause c;
	struct model_block *k;
	const char *s;

	k = locked(b);
	k->at.futex = LOCK + 8;
	k->holder = HOSTILE;
	k->doing = MODEL_DOING_RUNQ;
	k->doing_ns = 12 * MS;
	k->culprit = HOSTILE;
	assert_cause(b,
		     HAS(text, "xxx...` held by \\x1b[31m\\x0a\\xe2\\x80\\xae%s%n (4712), which"));
	assert_true(strlen(b->out.text) < sizeof(b->out.text));
	site_cause(b, a, &c);
	assert_says(c.text, "\\x1b[31m");
	for (s = c.text; *s; s++)
		assert_true(*s >= ' ');
	for (s = c.culprit; *s; s++)
		assert_true(*s >= ' ');
}

/* The parts of the lateness add up for any input. */
static void test_any_figures(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(8);
	uint64_t seed = 7, from[8], work[8];
	struct model_detail *d;

	for (uint32_t i = 0; i < 2000; i++) {
		for (uint32_t k = 0; k < 8; k++) {
			from[k] = rnd_to(&seed, 1000 * MS);
			work[k] = rnd_to(&seed, 1000 * MS);
		}
		cross_at(&b->m, i % 2, 8, NULL, from, work);
		for (uint32_t k = 0; k < 8; k++) {
			d = &b->m.details[k];
			d->oncpu_ns = rnd_to(&seed, 2000 * MS);
			d->runq_ns = rnd_to(&seed, 100 * MS);
			d->fault_ns = rnd_to(&seed, 100 * MS);
			for (uint32_t j = 0; j < MODEL_BLOCKED_REASONS; j++)
				d->blocked_ns[j] = rnd_to(&seed, 100 * MS);
			d->ncounters = 2;
			d->counters[1] = rnd(&seed) >> (rnd(&seed) % 64);
			d->inside_runq_ns = rnd(&seed);
			d->inside_ran = (uint32_t)rnd(&seed);
			d->inside_oncpu_ns = rnd(&seed);
			d->ran = (uint32_t)rnd(&seed);
			d->block.ns = rnd(&seed);
			d->block.doing_ns = rnd(&seed);
			d->block.at.key = rnd(&seed);
			d->block.stack = rnd(&seed);
			d->block.holder = (uint32_t)rnd(&seed);
			d->block.culprit = (uint32_t)rnd(&seed);
			d->block.reason = (uint8_t)rnd(&seed);
			d->block.doing = (uint8_t)rnd(&seed);
			if (i % 16 == 3)
				memset(d, 0xff, sizeof(*d));
		}
		take(b);
	}
}

/*
 * A new thread takes the position of a thread that ended. Later, a task with an unknown number
 * takes the CPU.
 */
static void test_reuse(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new(4);
	struct model_detail *d;

	late_one(b, 0);
	detail_of(&b->m, 1)->inside_runq_ns = 8 * MS;
	detail_of(&b->m, 1)->inside_ran = STRESS;
	take(b);
	left_late(b);
	b->m.members[3].tid = 9999;
	take(b);
	/* The earlier thread at this position waited for a CPU. The new thread did not. */
	assert_fields(&b->out, TEXT(dominant->name, "released late"), IS(culprit, NULL));
	late_one(b, 12 * MS);
	d = detail_of(&b->m, 2);
	d->oncpu_ns -= 12 * MS;
	d->runq_ns = 12 * MS;
	d->ran = 9999; /* the model does not know the thread by this number */
	assert_cause(b, TEXT(culprit, "task 9999"));
}

static void test_tally(void **state)
{
	struct tally t = { 0 };
	bool fresh;
	uint64_t i;
	int place;

	assert_int_equal(tally_top(&t), -1);
	/* One thread causes 30 % of the lost time. Ten thousand other threads cause the rest. */
	for (i = 0; i < 10000; i++) {
		tally_add(&t, 1, 30, &fresh);
		tally_add(&t, 1000 + i, 70, &fresh);
	}
	place = tally_top(&t);
	assert_true(place >= 0);
	/*
	 * No counted value exceeds the true value, and none is too low by more than a ninth of the
	 * total.
	 */
	for (i = 0; i < CULPRIT_TALLY; i++) {
		if (t.key[i] == 1 && t.ns[i]) {
			assert_true(t.ns[i] <= 300000);
			assert_true(t.ns[i] >= 300000 - 1000000 / 9);
			break;
		}
	}
	assert_true(i < CULPRIT_TALLY);
	assert_int_equal(tally_add(&t, 1, 5, &fresh), (int)i);
	assert_false(fresh);
}

static void test_names_of_kinds(void **state)
{
	for (unsigned i = 0; i < CAUSE_KINDS; i++) {
		assert_non_null(cause_name(i));
		assert_true(culprit_clause(i)[0]);
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(cause_name(i), cause_name(j));
	}
	assert_null(cause_name(CAUSE_NONE));
	assert_true(CAUSE_KINDS <= REPORT_PARTS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_place_of_faults),
		cmocka_unit_test(test_work),
		cmocka_unit_test(test_folded),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_lock),
		cmocka_unit_test(test_no_lock),
		cmocka_unit_test(test_gil),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_released_late),
		cmocka_unit_test(test_team_after_a_serial_part),
		cmocka_unit_test(test_delayed_at_another_barrier),
		cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_site),
		cmocka_unit_test(test_largest_part),
		cmocka_unit_test(test_site_coarse),
		cmocka_unit_test(test_site_renamed),
		cmocka_unit_test(test_balanced),
		cmocka_unit_test(test_short_phases),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_many_files),
		cmocka_unit_test(test_other_end),
		cmocka_unit_test(test_wakers_of_one_name),
		cmocka_unit_test(test_doings_differ),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_any_figures),
		cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_tally),
		cmocka_unit_test(test_names_of_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
