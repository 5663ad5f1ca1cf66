// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check that findings are reported if the data prove them, and only then. */
#include "test_analyse_util.h"

#define SECOND 1000000000ULL

static const uint32_t nodes[] = { 0, 0, 1, 1 };

struct bench {
	struct run *r;
	struct causes *causes;
	struct cause_env cause_env;
	struct report_env env;
	struct report rep;
	struct report_process process;
	struct report_thread members[4];
	struct model_thread threads[4];
	struct arena *arena;
	struct made_episode m;
	uint64_t now;
};

/*
 * Return a process of four threads on four CPUs of two nodes. It runs for 10 s and has no finding.
 */
static struct bench *bench_new(void)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->r = known_threads(4);
	b->cause_env.instructions = MODEL_NONE;
	b->cause_env.cycles = 0;
	b->env.ncpus = 4;
	b->env.cpu_node = nodes;
	b->env.ncpu_node = 4;
	b->causes = causes_new(&b->cause_env, &b->env);
	assert_non_null(b->causes);
	b->env.causes = b->causes;
	b->process = (struct report_process){
		.pid = PID,
		.threads = 4,
		.elapsed_ns = 10 * SECOND,
		.detached_ns = REPORT_UNKNOWN,
		.counted_from_ns = REPORT_UNKNOWN,
		.nmembers = 4,
		.members = b->members,
	};
	for (uint32_t i = 0; i < 4; i++) {
		b->members[i].tid = TID(i);
		b->members[i].index = i;
		b->members[i].work_ns = 9 * SECOND;
		b->members[i].idle_ns = 1 * SECOND;
		b->members[i].parts.oncpu_ns = 9 * SECOND;
		b->threads[i] = *model_thread(b->r->model, i);
	}
	b->rep.nprocesses = 1;
	b->rep.processes = &b->process;
	b->now = SECOND;
	return b;
}

static void bench_free(struct bench *b)
{
	arena_free(b->arena);
	causes_free(b->causes);
	run_free(b->r);
	free(b);
}

DEFINE_CLEANUP_PTR(bench_free, struct bench *)

/*
 * Prepare the next episode, which is released 10 ms after the previous one. Thread 3 arrives 1 ms
 * after the other threads, and thread i runs on CPU i.
 */
static void ready(struct bench *b)
{
	uint64_t from[4] = { b->now, b->now, b->now, b->now };
	uint64_t work[4] = { 9 * MS, 9 * MS, 9 * MS, 10 * MS };

	cross_at(&b->m, 0, 4, NULL, from, work);
	for (uint32_t i = 0; i < 4; i++)
		b->m.members[i].arrive_cpu = b->m.members[i].depart_cpu = (uint16_t)i;
	b->now = b->m.ep.release_ns;
}

static void take(struct bench *b)
{
	assert_int_equal(causes_episode(b->causes, b->r->model, &b->m.ep, NULL, 0, NULL), 0);
}

static void build(struct bench *b)
{
	arena_free(b->arena);
	b->arena = arena_new();
	b->rep.nfindings = 0;
	b->rep.findings = NULL;
	assert_int_equal(findings_build(b->arena, b->r->model, &b->env, b->threads, &b->rep), 0);
}

/* Return the only finding, or NULL if there is none. */
static const struct report_finding *only(struct bench *b)
{
	build(b);
	assert_true(b->rep.nfindings <= 1);
	return b->rep.nfindings ? &b->rep.findings[0] : NULL;
}

static void test_nothing(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new();

	assert_null(only(b));
	for (uint32_t i = 0; i < 100; i++) {
		ready(b);
		take(b);
	}
	assert_null(only(b));
	/* If nothing is known, there is no finding, either. */
	for (uint32_t i = 0; i < 4; i++)
		memset(&b->members[i].parts, 0xff, sizeof(b->members[i].parts));
	b->env.causes = NULL;
	b->env.ncpus = 0;
	b->env.cpu_node = NULL;
	assert_null(only(b));
}

/*
 * With --cost-limit, the finding says until when the process was traced, why tracing stopped, and
 * what the figures do not cover.
 */
static void test_detached(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new();
	const struct report_finding *f;

	b->rep.start_ns = 2 * SECOND;
	b->process.detached_ns = 3 * SECOND + SECOND / 4;
	b->process.detached_cost = 0.34;
	b->process.detached_limit = 0.05;
	f = only(b);
	assert_non_null(f);
	assert_fields(f, TEXT(kind, "cost_limit"), IS(pid, PID),
		      TEXT(text,
			   "Traced only up to 1.250 s: tracing cost 34 % of its thread time "
			   "(estimated; --cost-limit 5). No figure includes what it did later."));
	b->process.detached_because = 4294967295;
	b->process.detached_probed = true;
	b->process.detached_cost = 4294.967;
	b->process.detached_limit = 0.00012345;
	f = only(b);
	assert_non_null(f);
	/* The longest text fits. */
	assert_non_null(
		strstr(f->text, "process 4294967295, and tracing cost that process 4.29e+05 %"));
	assert_says(f->text, "and cost it some time.");
}

/*
 * Only some barriers of a process are no longer traced: the finding says the same about these
 * barriers.
 */
static void test_detached_parts(void **state)
{
	struct report_detached detached_groups[1] = { { .family = "pthread",
							.t_ns = 3 * SECOND + SECOND / 4,
							.cost = 0.34,
							.limit = 0.05 } };
	struct bench *b CLEANUP_PTR(bench_free) = bench_new();
	const struct report_finding *f;

	b->rep.start_ns = 2 * SECOND;
	b->process.ndetached_groups = 1;
	b->process.detached_groups = detached_groups;
	f = only(b);
	assert_non_null(f);
	assert_fields(
		f, TEXT(kind, "cost_limit"), IS(pid, PID),
		TEXT(text,
		     "Barriers of pthread traced only up to 1.250 s: tracing cost 34 % of its "
		     "thread time (estimated; --cost-limit 5). Later phases and work at other "
		     "barriers include the time at these barriers; efficiencies are unknown."));
	detached_groups[0].function = "my_barrier";
	f = only(b);
	assert_non_null(f);
	assert_says(f->text, "Barriers of pthread (my_barrier) traced only up to 1.250 s: ");
	detached_groups[0] = (struct report_detached){
		.family = "forkjoin",
		.function =
			"a::name::that::is::longer::than::any::line::of::a::report::can::hold(it)",
		.t_ns = UINT64_MAX / 2,
		.cost = 4294.967,
		.limit = 0.00012345,
		.because = 4294967295,
		.probed = true,
	};
	f = only(b);
	assert_non_null(f);
	/* The longest text fits. */
	assert_non_null(
		strstr(f->text, "cost process 4294967295, which shares the probes, 4.29e+05 %"));
	assert_says(f->text, "are still attached.");
}

static void test_oversubscribed(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new();
	const struct report_finding *f;

	for (uint32_t i = 0; i < 4; i++) {
		b->members[i].parts.runq_ns = 4 * SECOND;
		b->members[i].parts.late_ns = 1 * SECOND;
	}
	/* There are as many CPUs as threads, and other processes used them: no finding. */
	assert_null(only(b));
	b->env.ncpus = 2;
	f = only(b);
	assert_non_null(f);
	assert_fields(f, TEXT(kind, "oversubscribed"), IS(pid, PID), NEAR(figure, 2, 1e-9),
		      HAS(text, "4 threads on 2 CPUs, 2.0 on average"),
		      TEXT(advice, "Use no more than 2 threads."));
	/* Threads of this process may use two of the four CPUs. */
	b->env.ncpus = 4;
	for (uint32_t i = 0; i < 4; i++)
		b->threads[i].cpus_allowed = 2;
	f = only(b);
	assert_non_null(f);
	assert_says(f->text, "on 2 CPUs");
	assert_string_equal(f->advice, "Use no more than 2 threads, or let them run on more CPUs.");
	/* The threads hardly wait. */
	for (uint32_t i = 0; i < 4; i++)
		b->members[i].parts.runq_ns = b->members[i].parts.late_ns = SECOND / 100;
	assert_null(only(b));
}

/* Two pairs of threads run one after the other on two CPUs, so no threads share a CPU. */
static void test_not_at_once(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new();
	const struct report_finding *f;

	b->env.ncpus = 2;
	for (uint32_t i = 0; i < 4; i++) {
		b->members[i].parts.runq_ns = 4 * SECOND;
		b->threads[i].start_ns = i / 2 * 5 * SECOND;
		b->threads[i].end_ns = b->threads[i].start_ns + 5 * SECOND;
	}
	assert_null(only(b));
	b->threads[2].start_ns--;
	f = only(b);
	assert_non_null(f);
	assert_says(f->text, "of its up to 3 threads at a time on 2 CPUs");
}

static void test_spinning(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new();
	const struct report_finding *f;

	for (uint32_t i = 0; i < 100; i++) {
		ready(b);
		for (uint32_t k = 0; k < 3; k++)
			b->m.details[k].inside_oncpu_ns = 1 * MS;
		/* Some threads spin, but no thread lacks a CPU. */
		take(b);
	}
	assert_null(only(b));
	for (uint32_t i = 0; i < 100; i++) {
		ready(b);
		/*
		 * The departure of a thread at the end of a region is not seen. The thread may
		 * sleep there.
		 */
		for (uint32_t k = 0; k < 3; k++)
			b->m.details[k].inside_oncpu_ns = MODEL_UNKNOWN;
		b->m.details[3].runq_ns = 4 * MS;
		b->m.details[3].oncpu_ns = 6 * MS;
		take(b);
	}
	assert_null(only(b));
	for (uint32_t i = 0; i < 100; i++) {
		ready(b);
		/* The last arriver leaves its CPU to other threads until its turn comes. */
		b->m.details[0].inside_oncpu_ns = 1 * MS;
		b->m.details[3].runq_ns = 4 * MS;
		b->m.details[3].oncpu_ns = 6 * MS;
		b->m.details[3].turn_ns = 5 * MS;
		b->m.details[3].turn_oncpu_ns = 1 * MS;
		take(b);
	}
	assert_null(only(b));
	for (uint32_t i = 0; i < 100; i++) {
		ready(b);
		b->m.details[3].turn_ns = b->m.details[3].turn_oncpu_ns = 0;
		/*
		 * Thread 0 was on a CPU for 5 ms inside the barrier, but waited only 1 ms. Only the
		 * wait counts as spinning, because the rest came after the release.
		 */
		b->m.details[0].inside_oncpu_ns = 5 * MS;
		b->m.details[3].runq_ns = 4 * MS;
		b->m.details[3].oncpu_ns = 6 * MS;
		take(b);
	}
	f = only(b);
	assert_non_null(f);
	assert_fields(f, TEXT(kind, "spinning"), NEAR(figure, 0.1, 1e-9), /* 100 times 1 ms */
		      HAS(text, "in 100 of 400 episodes"));
}

static void test_pinned(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new();
	const struct report_finding *f;

	ready(b);
	for (uint32_t k = 0; k < 4; k++)
		b->m.details[k].cpus_allowed = 1;
	take(b);
	assert_null(only(b)); /* each thread is on its own CPU, as it should be */
	ready(b);
	for (uint32_t k = 0; k < 4; k++) {
		b->m.details[k].cpus_allowed = k ? 1 : 4;
		b->m.members[k].arrive_cpu = 1;
	}
	take(b);
	f = only(b);
	assert_non_null(f);
	assert_fields(f, TEXT(kind, "pinned"), NEAR(figure, 3, 1e-9),
		      HAS(text, "Threads 1, 2 and 3 may run on CPU 1 only, and share it."),
		      TEXT(advice, "Give each thread its own CPU (affinity)."));
	/* Not each thread can have a CPU of its own. */
	b->env.ncpus = 2;
	f = only(b);
	assert_non_null(f);
	assert_says(f->advice, "Let these threads run on other CPUs", "no more than 2 threads");
	/* Two threads are bound to one CPU, and two to the other: all of them have two CPUs. */
	ready(b);
	for (uint32_t k = 0; k < 4; k++) {
		b->threads[k].cpus_allowed = b->m.details[k].cpus_allowed = 1;
		b->m.members[k].arrive_cpu = k / 2;
		b->members[k].parts.runq_ns = 4 * SECOND;
	}
	take(b);
	build(b);
	assert_int_equal(b->rep.nfindings, 2);
	assert_says(b->rep.findings[0].text, "4 threads on 2 CPUs");
	assert_says(b->rep.findings[1].text, "Threads 0 and 1 may run on CPU 0 only");
	for (uint32_t k = 0; k < 4; k++)
		b->members[k].parts.runq_ns = 0;
	/* A machine with one CPU pins all threads. */
	b->env.ncpus = 1;
	assert_null(only(b));
}

static void test_migrating(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new();
	const struct report_finding *f;

	for (uint32_t i = 0; i < 4; i++)
		b->members[i].parts.migrations = 100; /* in 10 s */
	assert_null(only(b));
	for (uint32_t i = 0; i < 4; i++)
		b->members[i].parts.migrations = 2000;
	f = only(b);
	assert_non_null(f);
	assert_fields(f, TEXT(kind, "migrating"), NEAR(figure, 200, 1e-6),
		      HAS(text, "200 times per second"));
	/*
	 * Threads migrate three times in a very short time, and the time of one thread is unknown.
	 * So no rate is reported.
	 */
	for (uint32_t i = 0; i < 4; i++) {
		b->members[i].parts.migrations = 3;
		b->members[i].work_ns = i ? 1000 : REPORT_UNKNOWN;
		b->members[i].idle_ns = 0;
	}
	assert_null(only(b));
	for (uint32_t i = 0; i < 4; i++)
		b->members[i].parts.migrations = 0;
	/* Threads migrate within a node at each crossing. This is not a finding. */
	for (uint32_t i = 0; i < 200; i++) {
		ready(b);
		for (uint32_t k = 0; k < 4; k++)
			b->m.members[k].depart_cpu = (uint16_t)(k ^ 1);
		take(b);
	}
	assert_null(only(b));
	/* Thread 0 migrates to the other node and back every 10 ms. */
	for (uint32_t i = 0; i < 200; i++) {
		ready(b);
		b->m.members[0].depart_cpu = 2;
		take(b);
	}
	f = only(b);
	assert_non_null(f);
	assert_says(f->text, "another NUMA node 100 times per second");
}

static void test_throttled(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new();
	const struct report_finding *f;

	b->members[1].parts.blocked_ns[MODEL_BLOCKED_THROTTLED] = 500000;
	assert_null(only(b));
	b->members[1].parts.blocked_ns[MODEL_BLOCKED_THROTTLED] = 1250 * MS;
	f = only(b);
	assert_non_null(f);
	assert_fields(f, TEXT(kind, "throttled"), NEAR(figure, 1.25, 1e-9),
		      HAS(text, "for 1.25 s"));
}

static void clocks(struct bench *b, uint32_t slow, uint32_t per_us, uint32_t switches)
{
	for (uint32_t i = 0; i < 50; i++) {
		ready(b);
		for (uint32_t k = 0; k < 4; k++) {
			b->m.details[k].ncounters = 1;
			b->m.details[k].switches = switches;
			b->m.details[k].counters[0] =
				b->m.members[k].work_ns * (k == slow ? per_us : 3000) / 1000;
		}
		take(b);
	}
}

static void test_slow_cpu(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new();
	const struct report_finding *f;

	clocks(b, 2, 2700, 0); /* a tenth less is not a finding */
	assert_null(only(b));
	bench_free(b);

	b = bench_new();
	clocks(b, 2, 1500, 0);
	f = only(b);
	assert_non_null(f);
	assert_fields(f, TEXT(kind, "slow_cpu"), IS(pid, 0), NEAR(figure, 0.5, 1e-9),
		      HAS(text, "CPU 2 ran at 1.50 GHz"));
	bench_free(b);

	/*
	 * In phases with context switches the thread may have changed its CPU, so the clock rate is
	 * unknown.
	 */
	b = bench_new();
	clocks(b, 2, 1500, 1);
	assert_null(only(b));
	bench_free(b);

	/* Without a cycle counter the clock rates are unknown. */
	b = bench_new();
	b->cause_env.cycles = MODEL_NONE;
	clocks(b, 2, 1500, 0);
	assert_null(only(b));
}

/* All findings at once. */
static void test_many(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new();

	b->env.ncpus = 2;
	for (uint32_t i = 0; i < 4; i++) {
		b->members[i].parts.runq_ns = 5 * SECOND;
		b->members[i].parts.migrations = 9000;
		b->members[i].parts.blocked_ns[MODEL_BLOCKED_THROTTLED] = SECOND;
	}
	clocks(b, 1, 1000, 0);
	b->arena = arena_new();
	assert_int_equal(findings_build(b->arena, b->r->model, &b->env, b->threads, &b->rep), 0);
	assert_fields(b, IS(rep.nfindings, 4), TEXT(rep.findings[0].kind, "oversubscribed"),
		      TEXT(rep.findings[3].kind, "slow_cpu"));
}

/* The call site is only an address. */
static void test_site_unknown(void **state)
{
	struct bench *b CLEANUP_PTR(bench_free) = bench_new();
	struct report_callsite bare = { .offset = 0x5000 };
	struct report_callsite named = { .function = "f", .module = "/bin/x", .offset = 7 };
	struct report_barrier rows[2] = {
		{ .pid = PID, .index = 0, .ncallsites = 1, .callsites = &named, .crossings = 8 },
		{ .pid = PID, .index = 1, .ncallsites = 1, .callsites = &bare, .crossings = 12 },
	};
	const struct report_finding *f;

	b->rep.barriers = rows;
	b->rep.nbarriers = 2;
	f = only(b);
	assert_non_null(f);
	assert_fields(f, TEXT(kind, "site_unknown"), IS(pid, PID));
	assert_true(f->figure == 12);
	assert_says(f->text, "For 12 of its crossings, the call site");
	/* The site belongs to another program that the same process ran. */
	b->process.index = 1;
	assert_null(only(b));
	b->process.index = 0;
	/*
	 * A marker is known by its file and line. A module without function names still gives a
	 * position. A barrier without a site is not mentioned.
	 */
	bare.file = "x.c";
	assert_null(only(b));
	bare.file = NULL;
	bare.module = "/bin/x";
	assert_null(only(b));
	bare = (struct report_callsite){ 0 };
	assert_null(only(b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_detached),    cmocka_unit_test(test_detached_parts),
		cmocka_unit_test(test_nothing),	    cmocka_unit_test(test_oversubscribed),
		cmocka_unit_test(test_not_at_once), cmocka_unit_test(test_spinning),
		cmocka_unit_test(test_pinned),	    cmocka_unit_test(test_migrating),
		cmocka_unit_test(test_throttled),   cmocka_unit_test(test_slow_cpu),
		cmocka_unit_test(test_many),	    cmocka_unit_test(test_site_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
