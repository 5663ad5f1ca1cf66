// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check many recordings as one table. The constructed numbers are those of tables and figures in E.
 * Novillo's thesis (University of Alberta, 2002).
 */
#include "test_check.h"
#include "test_many.h"

static const struct series_point *point(const struct many *t, const char *label)
{
	for (uint32_t i = 0; i < t->s.npoints; i++)
		if (!strcmp(t->s.points[i].label, label))
			return &t->s.points[i];
	fail_msg("no point %s", label);
	return NULL;
}

/*
 * As in table 5.2, five runs are one point, with their mean and the standard deviation of the
 * sample.
 */
static void test_runs(void **state)
{
	static const uint64_t ms[] = { 1430, 1440, 1420, 1450, 1410 };
	struct many *t CLEANUP_PTR(many_free) = many_new();
	const struct series_point *p;

	for (unsigned i = 0; i < 5; i++)
		many_add(t, "512/SBT_OFF", ms[i]);
	many_add(t, "512/SBT_WATCH_ALL", 1573);
	t->r[2].report.lossless = false;
	many_build(t, SERIES_ROW, NULL);
	assert_int_equal(t->s.npoints, 2);
	p = point(t, "512/SBT_OFF");
	assert_fields(p, IS(runs, 5), IS(lossy, 1), IS(time.mean, 1430 * MS),
		      IS(time.min, 1410 * MS), IS(time.max, 1450 * MS));
	/* The variance is (0 + 1 + 1 + 4 + 4) x 10^2 / 4 = 250. */
	assert_fields(p, IS(time.stddev, (uint64_t)llround(sqrt(250) * 1e6)), TEXT(row, "512"),
		      TEXT(column, "SBT_OFF"));
	p = point(t, "512/SBT_WATCH_ALL");
	assert_fields(p, IS(time.stddev, REPORT_UNKNOWN), NEAR(normalised, 1.1, 1e-12));
	assert_fields(t, IS(s.nrows, 1), IS(s.ncolumns, 2));
}

/* Table 3.3: speedups relative to a program without barriers. */
static void test_table_3_3(void **state)
{
	static const struct {
		const char *label;
		uint64_t ms;
		double speedup;
	} rows[] = {
		{ "2/block", 38168, 2.62 }, { "2/cyclic", 37313, 2.68 },
		{ "4/block", 24155, 4.14 }, { "4/cyclic", 17986, 5.56 },
		{ "8/block", 12361, 8.09 }, { "8/cyclic", 10730, 9.32 },
	};
	struct many *t CLEANUP_PTR(many_free) = many_new();
	struct recording *r;

	r = many_add(t, "sequential", 0);
	r->report.end_ns = r->report.start_ns + 100000 * MS;
	for (unsigned i = 0; i < 6; i++) {
		r = many_add(t, rows[i].label, rows[i].ms);
		r->processes[0].threads = (uint32_t)atoi(rows[i].label);
	}
	many_build(t, SERIES_LABEL, "sequential");
	assert_fields(point(t, "sequential"), IS(whole, true), IS(threads, SERIES_NONE));
	for (unsigned i = 0; i < 6; i++) {
		assert_near(point(t, rows[i].label)->speedup, rows[i].speedup, 0.0005);
		assert_true(isnan(point(t, rows[i].label)->efficiency));
	}
	assert_null(t->s.base_label);
	assert_ptr_equal(series_at(&t->s, 2, 1), point(t, "4/cyclic"));
	assert_null(series_at(&t->s, 0, 1));
}

/* Table 5.4: non-contiguous blocks take 34 % longer on average. */
static void test_table_5_4(void **state)
{
	static const struct {
		const char *contiguous, *other;
		uint64_t a, b;
		double increase;
	} rows[] = {
		{ "512x512/cont", "512x512/non", 700, 1000, 0.43 },
		{ "1024x1024/cont", "1024x1024/non", 6000, 8000, 0.33 },
		{ "2048x2048/cont", "2048x2048/non", 50800, 66700, 0.31 },
		{ "4096x4096/cont", "4096x4096/non", 414500, 535100, 0.29 },
	};
	struct many *t CLEANUP_PTR(many_free) = many_new();

	for (unsigned i = 0; i < 4; i++) {
		many_add(t, rows[i].contiguous, rows[i].a);
		many_add(t, rows[i].other, rows[i].b);
	}
	many_build(t, SERIES_ROW, NULL);
	for (unsigned i = 0; i < 4; i++) {
		assert_near(point(t, rows[i].other)->normalised - 1, rows[i].increase, 0.005);
		assert_near(series_at(&t->s, i, 0)->normalised, 1, 0);
	}
	assert_near(series_average(&t->s, 1), 0.34, 0.005);
	assert_near(series_average(&t->s, 0), 0, 0);
}

/*
 * Table 5.5 and figure 5.21: times, and counters per thread, are normalised to those of the fastest
 * run.
 */
static void test_table_5_5(void **state)
{
	static const struct {
		const char *label;
		uint64_t ms, l1, l2;
		double time, misses;
	} rows[] = {
		{ "16x16", 60780, 27902098, 2386933, 1.0908, 1.8667 },
		{ "32x32", 55720, 17321724, 1278722, 1, 1 },
		{ "64x64", 56410, 42798289, 737524, 1.0124, 0.5768 },
		{ "128x128", 64720, 186519978, 487020, 1.1615, 0.3809 },
	};
	struct many *t CLEANUP_PTR(many_free) = many_new();
	const struct series_point *p;

	for (unsigned i = 0; i < 4; i++) {
		many_add(t, rows[i].label, rows[i].ms);
		recording_counter(&t->r[i], false, "L1", rows[i].l1 * RECORDING_THREADS);
		recording_counter(&t->r[i], false, "L2", rows[i].l2 * RECORDING_THREADS);
	}
	many_build(t, SERIES_FASTEST, NULL);
	assert_fields(&t->s, TEXT(points[t->s.fastest].label, "32x32"),
		      TEXT(points[t->s.slowest].label, "128x128"));
	for (unsigned i = 0; i < 4; i++) {
		p = point(t, rows[i].label);
		assert_fields(p, NEAR(normalised, rows[i].time, 5e-5), IS(ncounters, 2),
			      NEAR(counters[0].per_thread, (double)rows[i].l1, 1e-6),
			      NEAR(counters[1].per_thread, (double)rows[i].l2, 1e-6),
			      NEAR(counters[1].normalised, rows[i].misses, 5e-5));
		assert_true(isnan(p->counters[0].stddev));
	}
}

/*
 * Table 5.3's first line and figure 5.8: phases in the order of the program, and shares that add up
 * to one.
 */
static void test_phases(void **state)
{
	static const uint64_t phase[] = { 940, 20, 6770 }, barrier[] = { 210, 10, 900 };
	/* as in a report: the phase with the most lost time is first */
	static const unsigned order[] = { 2, 0, 1 };
	struct many *t CLEANUP_PTR(many_free) = many_new();
	const struct series_point *p;
	struct report_barrier *b;
	struct recording *r;
	double sum = 0;
	char id[8];

	for (unsigned run = 0; run < 2; run++) {
		r = many_add(t, "16M", 7730);
		for (unsigned i = 0; i < 3; i++) {
			snprintf(id, sizeof(id), "#%c", 'a' + (int)order[i]);
			b = recording_site(r, id, "f", 10 * order[i], 4,
					   (phase[order[i]] + 2 * run) * MS, 0);
			b->barrier_ns.sum = barrier[order[i]] * MS;
			b->index = order[i];
		}
	}
	many_build(t, SERIES_FIRST, NULL);
	p = point(t, "16M");
	assert_int_equal(p->nsites, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_fields(p, IS(sites[i].id[1], 'a' + i),
			      IS(sites[i].phase.mean, (phase[i] + 1) * MS),
			      IS(sites[i].barrier.mean, barrier[i] * MS),
			      IS(sites[i].barrier.stddev, 0),
			      IS(sites[i].work_ns, (phase[i] + 1 - barrier[i]) * MS));
		sum += p->sites[i].share;
	}
	assert_near(sum, 1, 1e-12);
	assert_near(p->sites[2].barrier_share, 900.0 / 7733, 1e-12);
}

/*
 * Figure 5.14: take the mean over the runs for each thread. Then compute minimum, mean, maximum and
 * deviation over the threads.
 */
static void test_idle(void **state)
{
	static const uint64_t wait[2][4] = { { 10, 20, 30, 40 }, { 30, 40, 50, 60 } };
	struct many *t CLEANUP_PTR(many_free) = many_new();
	const struct series_site *s;
	struct recording *r;

	for (unsigned run = 0; run < 2; run++) {
		r = many_add(t, "64M", 100);
		recording_site(r, "#1", "f", 10, 4, 40 * MS, 0);
		for (unsigned i = 0; i < 4; i++)
			r->threads[0][i].wait_ns = wait[run][i] * 1000;
	}
	/* The value of one thread is unknown in one run: the value of the other run counts. */
	r->threads[0][3].wait_ns = REPORT_UNKNOWN;
	many_build(t, SERIES_FIRST, NULL);
	s = &t->s.points[0].sites[0];
	/* The threads' means are 20, 30, 40 and 40, so the mean over the threads is 32.5. */
	assert_fields(
		s, IS(idle.n, 4), IS(idle.min, 20000), IS(idle.mean, 32500), IS(idle.max, 40000),
		IS(idle.stddev, (uint64_t)llround(sqrt((156.25 + 6.25 + 56.25 * 2) / 4) * 1000)));
}

/*
 * Each speedup curve is relative to its own first point. The efficiency is the speedup divided by
 * the number of threads relative to that point.
 */
static void test_column(void **state)
{
	struct many *t CLEANUP_PTR(many_free) = many_new();

	many_add(t, "1/a", 100);
	many_add(t, "1/b", 300);
	many_add(t, "4/a", 50);
	many_add(t, "4/b", 100);
	for (unsigned i = 0; i < 4; i++)
		t->r[i].processes[0].threads = i < 2 ? 1 : 4;
	many_build(t, SERIES_COLUMN, NULL);
	assert_fields(point(t, "4/a"), NEAR(speedup, 2, 1e-12), NEAR(efficiency, 0.5, 1e-12));
	assert_near(point(t, "4/b")->speedup, 3, 1e-12);
	assert_near(point(t, "1/b")->efficiency, 1, 1e-12);
}

/* Without labels, the differing parts of commands become labels, and equal parts are left out. */
static void test_labels(void **state)
{
	static const char *const commands[] = { "./lu 512", "./lu 512", "./lu 1024 /x/y" };
	struct series_options o = { .by = SERIES_BY_RUN };
	struct many *t CLEANUP_PTR(many_free) = many_new();

	for (unsigned i = 0; i < 3; i++) {
		many_add(t, NULL, 10);
		t->in[i].command = commands[i];
		t->in[i].file = i ? "/tmp/x/run.2.sbt" : "run.2.sbt";
	}
	assert_int_equal(series_build(t->in, 3, &o, &t->s), 0);
	assert_int_equal(t->s.npoints, 2);
	assert_int_equal(point(t, "lu 512")->runs, 2);
	/* A slash in a command makes no table column. */
	assert_null(point(t, "lu 512")->column);
	series_free(&t->s);

	t->r[1].processes[0].threads = 1;
	assert_int_equal(series_build(t->in, 3, &o, &t->s), 0);
	assert_int_equal(t->s.npoints, 3);
	assert_int_equal(point(t, "lu 512, 1 thread")->runs, 1);
	assert_int_equal(point(t, "lu 1024 /x/y, 4 threads")->runs, 1);
	series_free(&t->s);

	assert_int_equal(series_build(t->in, 2, &o, &t->s), 0);
	assert_int_equal(point(t, "4 threads")->runs, 1);
	series_free(&t->s);

	/*
	 * The label of a long command consists of the program, and of the options with values that
	 * differ.
	 */
	t->in[0].command = "./lu --partition block --threads 1 -v 512";
	t->in[1].command = "./lu --partition cyclic --threads 1 -v 512";
	t->in[2].command = "./lu --partition block --threads 1 -v 1024";
	t->r[1].processes[0].threads = 4;
	assert_int_equal(series_build(t->in, 3, &o, &t->s), 0);
	assert_int_equal(point(t, "lu --partition block -v 512")->runs, 1);
	assert_int_equal(point(t, "lu --partition cyclic -v 512")->runs, 1);
	assert_int_equal(point(t, "lu --partition block -v 1024")->runs, 1);
	series_free(&t->s);
	t->in[2].command = "./lu 1024";
	assert_int_equal(series_build(t->in, 3, &o, &t->s), 0);
	assert_int_equal(point(t, "lu --partition block --threads 1 -v 512")->runs, 1);
	series_free(&t->s);
	t->in[0].command = t->in[2].command = "./lu 512";
	t->r[1].processes[0].threads = 1;

	/* Versions in different directories are not runs of the same program. */
	t->in[1].command = "old/lu 512";
	o.by = SERIES_BY_COMMAND;
	assert_int_equal(series_build(t->in, 2, &o, &t->s), 0);
	assert_int_equal(point(t, "./lu 512")->runs, 1);
	assert_int_equal(point(t, "old/lu 512")->runs, 1);
	series_free(&t->s);

	o.by = SERIES_BY_THREADS;
	assert_int_equal(series_build(t->in, 3, &o, &t->s), 0);
	assert_int_equal(point(t, "4 threads")->runs, 2);
	series_free(&t->s);

	o.by = SERIES_BY_FILE;
	assert_int_equal(series_build(t->in, 3, &o, &t->s), 0);
	assert_int_equal(t->s.npoints, 1);
	assert_int_equal(point(t, "run.2")->runs, 3);
	series_free(&t->s);

	o.by = SERIES_BY_COMMAND;
	t->in[2].command = NULL;
	t->in[2].file = ".hidden";
	assert_int_equal(series_build(t->in, 3, &o, &t->s), 0);
	assert_int_equal(point(t, ".hidden")->runs, 1);
}

/* The last slash with text on both sides splits a label into row and column. */
static void test_slashes(void **state)
{
	struct many *t CLEANUP_PTR(many_free) = many_new();

	many_add(t, "/a", 1);
	many_add(t, "a/", 1);
	many_add(t, "a/b/c", 1);
	many_build(t, SERIES_FIRST, NULL);
	assert_null(point(t, "/a")->column);
	assert_null(point(t, "a/")->column);
	assert_fields(point(t, "a/b/c"), TEXT(row, "a/b"), TEXT(column, "c"));
}

static void test_unknown(void **state)
{
	struct many *t CLEANUP_PTR(many_free) = many_new();
	struct series_point *p;
	struct recording *r;

	/* No recordings. */
	many_build(t, SERIES_FASTEST, NULL);
	assert_fields(t, IS(s.npoints, 0), IS(s.fastest, SERIES_NONE));
	series_free(&t->s);

	/*
	 * An empty recording, a recording with an unknown time, and a recording with a counter that
	 * ran only part of the time.
	 */
	many_add(t, "empty", 0);
	r = many_add(t, "unknown", 5);
	r->processes[0].elapsed_ns = REPORT_UNKNOWN;
	recording_site(r, "#1", "f", 10, 0, 0, NAN);
	recording_counter(r, true, "c", REPORT_UNKNOWN);
	r = many_add(t, "known", 5);
	recording_counter(r, false, "c", REPORT_UNKNOWN);
	many_build(t, SERIES_LABEL, "nosuch");
	assert_string_equal(t->s.base_label, "nosuch");
	p = &t->s.points[0];
	assert_fields(p, IS(time.n, 0), IS(time.mean, REPORT_UNKNOWN), IS(whole, false));
	p = &t->s.points[1];
	assert_int_equal(p->time.n, 0);
	assert_true(isnan(p->normalised));
	assert_fields(p, IS(nsites, 1), IS(sites[0].phase.mean, REPORT_UNKNOWN),
		      IS(sites[0].work_ns, REPORT_UNKNOWN));
	assert_true(isnan(p->sites[0].share));
	assert_int_equal(p->sites[0].lost.n, 0);
	assert_true(isnan(p->sites[0].counters[0].mean));
	p = &t->s.points[2];
	assert_true(isnan(p->counters[0].mean) && isnan(p->counters[0].per_thread));
	assert_int_equal(t->s.fastest, 2);
	series_free(&t->s);

	/* If the first time is unknown, no time is normalised to it. */
	many_build(t, SERIES_FIRST, NULL);
	assert_int_equal(t->s.points[2].base, 0);
	assert_true(isnan(t->s.points[2].normalised) && isnan(t->s.points[2].speedup));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),	  cmocka_unit_test(test_table_3_3),
		cmocka_unit_test(test_table_5_4), cmocka_unit_test(test_table_5_5),
		cmocka_unit_test(test_phases),	  cmocka_unit_test(test_idle),
		cmocka_unit_test(test_column),	  cmocka_unit_test(test_labels),
		cmocka_unit_test(test_slashes),	  cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
