// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Compare recordings: check what is matched, and how the difference is reported. */
#include "test_check.h"
#include "compare/compare.h"
#include "test_recordings.h"

static const struct compare_options plain = { .confidence = 0.95, .fail_above = NAN };

static const struct compare_row *find(const struct compare *c, enum compare_scope scope,
				      const char *id, const char *quantity)
{
	for (uint32_t i = 0; i < c->nrows; i++)
		if (c->rows[i].scope == scope && !strcmp(c->rows[i].quantity, quantity) &&
		    (!id || !strcmp(c->rows[i].id, id)))
			return &c->rows[i];
	return NULL;
}

/* Compare the first @na recordings of @r with the next @nb recordings. */
static void compare(struct recording *r, uint32_t na, uint32_t nb, const struct compare_options *o,
		    struct compare *c)
{
	const struct report *all[16];

	for (uint32_t i = 0; i < na + nb; i++)
		all[i] = &r[i].report;
	assert_int_equal(compare_reports(all, na, all + na, nb, o, c), 0);
}

static struct recording *recordings(unsigned n)
{
	struct recording *r = calloc(n, sizeof(*r));

	for (unsigned i = 0; i < n; i++)
		recording_init(&r[i]);
	return r;
}

/* --- matching -------------------------------------------------------------------------------- */

static int match_of(const struct episode_match *m, uint32_t r, uint32_t slot,
		    const struct recording *all)
{
	const struct report_barrier *b = m->sites[slot].in[r];

	return b ? (int)(b - all[r].barriers) : -1;
}

static void match(struct recording *r, uint32_t n, struct episode_match *m)
{
	const struct report *all[4];

	for (uint32_t i = 0; i < n; i++)
		all[i] = &r[i].report;
	assert_int_equal(episode_match_reports(all, n, m), 0);
}

/*
 * Sites match by id, by name if the function was renamed, by position if the module differs, by the
 * order in the function if lines moved, or not at all.
 */
static void test_sites(void **state)
{
	struct recording *r CLEANUP_PTR(free) = recordings(2);
	struct episode_match m CLEANUP(episode_match_free);

	recording_process(&r[0], "a", 1);
	recording_site(&r[0], "#1", "same", 1, 1, 1, 0);
	recording_site(&r[0], "#2", "old_name", 2, 1, 1, 0)->name = "End of step";
	recording_site(&r[0], "#3", "place", 3, 1, 1, 0);
	recording_site(&r[0], "#4", "moved", 40, 1, 1, 0);
	recording_site(&r[0], "#5", "moved", 50, 1, 1, 0);
	recording_site(&r[0], "#6", "removed", 60, 1, 1, 0);
	recording_process(&r[1], "a", 1);
	recording_site(&r[1], "#f", "moved", 55, 1, 1, 0);
	recording_site(&r[1], "#e", "moved", 45, 1, 1, 0);
	recording_site(&r[1], "#d", "place", 3, 1, 1, 0)->file = "/elsewhere/a.c";
	recording_site(&r[1], "#c", "new_name", 22, 1, 1, 0)->name = "End of step";
	recording_site(&r[1], "#1", "same", 99, 1, 1, 0);
	recording_site(&r[1], "#b", "added", 70, 1, 1, 0);
	match(r, 2, &m);
	assert_int_equal(m.nsites, 7);
	assert_int_equal(match_of(&m, 1, 0, r), 4);
	assert_int_equal(m.sites[0].how, EPISODE_MATCH_ID);
	assert_int_equal(match_of(&m, 1, 1, r), 3);
	assert_int_equal(m.sites[1].how, EPISODE_MATCH_NAME);
	assert_int_equal(match_of(&m, 1, 2, r), 2);
	assert_int_equal(m.sites[2].how, EPISODE_MATCH_PLACE);
	assert_int_equal(match_of(&m, 1, 3, r), 1);
	assert_int_equal(match_of(&m, 1, 4, r), 0);
	assert_int_equal(m.sites[4].how, EPISODE_MATCH_FUNCTION);
	assert_int_equal(match_of(&m, 1, 5, r), -1);
	assert_int_equal(match_of(&m, 0, 6, r), -1);
	assert_int_equal(match_of(&m, 1, 6, r), 5);
}

/*
 * Two of three sites of a function remain. It is unknown which two, so no match is guessed. Sites
 * of different families never match.
 */
static void test_sites_unclear(void **state)
{
	struct recording *r CLEANUP_PTR(free) = recordings(2);
	struct episode_match m CLEANUP(episode_match_free);

	recording_process(&r[0], "a", 1);
	recording_process(&r[1], "a", 1);
	recording_site(&r[0], "#1", "f", 10, 1, 1, 0);
	recording_site(&r[0], "#2", "f", 20, 1, 1, 0);
	recording_site(&r[0], "#3", "f", 30, 1, 1, 0);
	recording_site(&r[0], "#4", "g", 30, 1, 1, 0);
	recording_site(&r[0], "#5", NULL, 0, 1, 1, 0)->file = NULL;
	recording_site(&r[1], "#8", "f", 11, 1, 1, 0);
	recording_site(&r[1], "#9", "f", 21, 1, 1, 0);
	recording_site(&r[1], "#4b", "g", 30, 1, 1, 0)->family = "gomp";
	recording_site(&r[1], "#5b", NULL, 0, 1, 1, 0)->file = NULL;
	match(r, 2, &m);
	assert_int_equal(m.nsites, 9);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(match_of(&m, 1, i, r), -1);
}

/* A site that moved twice keeps its id, because each report is matched with the one before it. */
static void test_sites_followed(void **state)
{
	struct recording *r CLEANUP_PTR(free) = recordings(4);
	struct episode_match m CLEANUP(episode_match_free);

	recording_process(&r[0], "a", 1);
	recording_process(&r[1], "a", 1);
	recording_process(&r[2], "a", 1);
	recording_process(&r[3], "a", 1);
	recording_site(&r[0], "#1", "f", 10, 1, 1, 0);
	recording_site(&r[1], "#2", "f", 20, 1, 1, 0)->name = "x";
	recording_site(&r[2], "#3", "g", 30, 1, 1, 0)->name = "x";
	recording_site(&r[3], "#1", "f", 10, 1, 1, 0);
	match(r, 4, &m);
	assert_fields(&m, IS(nsites, 1), IS(sites[0].how, EPISODE_MATCH_FUNCTION));
}

static void test_processes(void **state)
{
	struct recording *r CLEANUP_PTR(free) = recordings(2);
	struct report_thread rank[4] = { { .ranked = true, .index = 0 },
					 { .ranked = true, .index = 1 } };
	struct report_process *p;
	struct episode_match m CLEANUP(episode_match_free);

	/* Ranks 0 and 1 in reverse order, and a helper that exists in one recording only. */
	p = recording_process(&r[0], "mpi", 1);
	p->nmembers = 1;
	p->members = &rank[1];
	p = recording_process(&r[0], "mpi", 1);
	p->nmembers = 1;
	p->members = &rank[0];
	p = recording_process(&r[1], "mpi", 1);
	p->nmembers = 1;
	p->members = &rank[0];
	recording_process(&r[1], "helper", 1);
	p = recording_process(&r[1], "mpi", 1);
	p->nmembers = 1;
	p->members = &rank[1];
	match(r, 2, &m);
	assert_fields(&m, IS(nprocesses, 3), IS(processes[0].in[0], &r[0].processes[1]),
		      IS(processes[0].in[1], &r[1].processes[0]),
		      IS(processes[1].in[0], &r[0].processes[0]),
		      IS(processes[1].in[1], &r[1].processes[2]), IS(processes[2].in[0], NULL),
		      IS(processes[0].by_order, false));
}

/*
 * Two versions of a program have different names. Their processes are matched by order, unless one
 * recording has more processes than the other.
 */
static void test_processes_renamed(void **state)
{
	struct recording *r CLEANUP_PTR(free) = recordings(3);
	struct episode_match m CLEANUP(episode_match_free);

	recording_process(&r[0], "lu_cont", 1);
	recording_site(&r[0], "#1", "f", 10, 1, 1, 0);
	recording_process(&r[1], "lu_non", 1);
	recording_site(&r[1], "#2", "f", 10, 1, 1, 0);
	recording_process(&r[2], "other", 1);
	recording_process(&r[2], "another", 1);
	match(r, 3, &m);
	assert_fields(&m, IS(nprocesses, 3), IS(processes[0].by_order, true),
		      IS(processes[0].in[1], &r[1].processes[0]),
		      TEXT(processes[0].comm, "lu_cont"), IS(processes[0].in[2], NULL),
		      IS(nsites, 1), IS(sites[0].how, EPISODE_MATCH_PLACE));
}

/* A group is recognised by its processes, in any order. */
static void test_groups(void **state)
{
	struct recording *r CLEANUP_PTR(free) = recordings(2);
	struct compare c CLEANUP(compare_free);

	for (unsigned i = 0; i < 2; i++) {
		recording_process(&r[i], "mpi", 10);
		recording_process(&r[i], "mpi", 12);
		r[i].members[0].pid = 100 + i;
		r[i].members[1].pid = 101 - i;
		r[i].groups[0].processes = r[i].members;
		r[i].groups[0].nprocesses = 2;
		r[i].groups[0].all = r[i].processes[0];
		r[i].groups[0].all.elapsed_ns = 20 + 10 * i;
		r[i].report.ngroups = 1;
	}
	compare(r, 1, 1, &plain, &c);
	assert_int_equal(c.match.ngroups, 1);
	assert_near(find(&c, COMPARE_GROUP, NULL, "elapsed_ns")->ratio, 1.5, 1e-12);
	/* The run takes as long as its longest process or group. */
	assert_near(find(&c, COMPARE_RUN, NULL, "elapsed_ns")->b, 30, 0);
	assert_near(c.b.elapsed_ns, 30, 0);
}

/* Empty recordings, on one side and on both. */
static void test_empty(void **state)
{
	struct recording *r CLEANUP_PTR(free) = recordings(2);
	struct compare c CLEANUP(compare_free);

	compare(r, 1, 1, &plain, &c);
	assert_int_equal(c.nrows, 0);
	assert_true(isnan(c.a.elapsed_ns));
	compare_free(&c);
	recording_process(&r[1], "a", 5);
	recording_site(&r[1], "#1", "f", 10, 1, 7, 0);
	compare(r, 1, 1, &plain, &c);
	assert_int_equal(c.only_b, 1);
	assert_int_equal(find(&c, COMPARE_BARRIER, "#1", "phase_ns")->only, COMPARE_ONLY_B);
	assert_true(isnan(find(&c, COMPARE_BARRIER, "#1", "phase_ns")->a));
	assert_true(isnan(find(&c, COMPARE_BARRIER, "#1", "phase_ns")->ratio));
	assert_int_equal(find(&c, COMPARE_BARRIER, "#1", "phase_ns")->significant, COMPARE_UNKNOWN);
}

/* --- significance ----------------------------------------------------------------------------- */

/*
 * First row of table 5.4 in E. Novillo's thesis (University of Alberta, 2002): 1.00 s is 43 % more
 * than 0.70 s.
 */
static void test_ratio(void **state)
{
	struct recording *r CLEANUP_PTR(free) = recordings(2);
	const struct compare_row *row;
	struct compare c CLEANUP(compare_free);

	recording_process(&r[0], "a", 900 * MS);
	recording_site(&r[0], "#1", "f", 10, 16, 700 * MS, NAN);
	recording_process(&r[1], "a", 1200 * MS);
	recording_site(&r[1], "#1", "f", 10, 16, 1000 * MS, NAN);
	compare(r, 1, 1, &plain, &c);
	row = find(&c, COMPARE_BARRIER, "#1", "phase_ns");
	assert_fields(row, NEAR(a, 7e8, 0), NEAR(difference, 3e8, 0), NEAR(ratio, 1.43, 0.002),
		      IS(test, COMPARE_UNTESTED), IS(significant, COMPARE_UNKNOWN),
		      IS(change, COMPARE_NO_CHANGE));
	assert_true(isnan(row->stddev_a) && isnan(row->p) && isnan(row->p_holm) && isnan(row->low));
	assert_near(find(&c, COMPARE_BARRIER, "#1", "lost_ns")->ratio, 10.0 / 7, 1e-9);
	assert_near(find(&c, COMPARE_PROCESS, NULL, "elapsed_ns")->ratio, 4.0 / 3, 1e-9);
	assert_near(find(&c, COMPARE_PROCESS, NULL, "nthreads")->b, RECORDING_THREADS, 0);
}

/* Compare the first two recordings of @r. */
static void compare_one(struct recording *r, const struct compare_options *o, struct compare *c)
{
	const struct batches *batches[] = { &r[0].batches, &r[1].batches };
	struct compare_options with = *o;

	with.batches = batches;
	compare(r, 1, 1, &with, c);
}

/*
 * There is one run on each side. Half of B's batches take 9 % longer, and the other half take 11 %
 * longer. The expected values are worked out by hand.
 */
static void test_episodes(void **state)
{
	struct recording *r CLEANUP_PTR(free) = recordings(2);
	struct compare_options o = plain;
	const struct compare_row *row;
	double deviation = 1.4826 * log(1.11 / 1.09) / 2, t;
	struct compare c CLEANUP(compare_free);

	for (unsigned i = 0; i < 2; i++) {
		recording_process(&r[i], "a", 1);
		recording_site(&r[i], "#1", "f", 10, 64, i ? 1100 : 1000, 2);
		recording_batches(&r[i], 0, i);
	}
	for (unsigned i = 0; i < BLOCKS / 2; i++)
		r[1].of_batches[0].phase.sum[i] *= i / 2 % 2 ? 1.11 / 1.1 : 1.09 / 1.1;
	compare_one(r, &plain, &c);
	row = find(&c, COMPARE_BARRIER, "#1", "phase_ns");
	assert_int_equal(row->test, COMPARE_EPISODES);
	t = (log(1.11) + log(1.09)) / 2 / (deviation * sqrt(1 + 1.0 / BATCHES_PARTS));
	assert_fields(row, NEAR(t, t, 1e-9), NEAR(df, BATCHES_PARTS - 1, 0), IS(significant, 1),
		      IS(change, COMPARE_WORSE));
	assert_true(row->low < 100 && row->high > 100);
	assert_int_equal(find(&c, COMPARE_BARRIER, "#1", "lost_ns")->test, COMPARE_UNTESTED);
	assert_int_equal(find(&c, COMPARE_RUN, NULL, "elapsed_ns")->significant, COMPARE_UNKNOWN);
	compare_free(&c);
	/*
	 * The increase is 10 %. An increase of more than 5 % is proven, but not of more than 9 %,
	 * because of noise.
	 */
	o.fail_above = 0.05;
	compare_one(r, &o, &c);
	assert_int_equal(c.regressions, 1);
	compare_free(&c);
	o.fail_above = 0.09;
	compare_one(r, &o, &c);
	assert_fields(&c, IS(regressions, 0), IS(suspects, 1));
	compare_free(&c);
	/* One batch that is much longer is no evidence about the other batches. */
	r[1].of_batches[0].phase = r[0].of_batches[0].phase;
	r[1].of_batches[0].phase.sum[7] *= 50;
	o.fail_above = 0;
	compare_one(r, &o, &c);
	assert_int_equal(c.regressions, 0);
	compare_free(&c);
	/* With too few batches there is no test. */
	r[1].of_batches[0].phase.n = BATCHES_LEAST - 1;
	r[1].of_batches[0].phase.per = 1;
	compare_one(r, &o, &c);
	assert_int_equal(find(&c, COMPARE_BARRIER, "#1", "phase_ns")->test, COMPARE_UNTESTED);
}

/*
 * Compare 2,000 pairs of runs that differ only by noise. Few are reported as worse, although
 * successive episodes are correlated (coefficient 0.9). Of pairs with 10 % more time, most are
 * reported as more than 5 % worse.
 */
static void test_false_alarms(void **state)
{
	struct recording *r = recordings(2);
	struct compare_options o = { .confidence = 0.95, .fail_above = 0.05 };
	unsigned alarms = 0, found = 0, slow;
	uint32_t random = 1;
	struct compare c;

	for (unsigned pair = 0; pair < 4000; pair++) {
		slow = pair % 2;
		for (unsigned side = 0; side < 2; side++) {
			struct model_episode e = { .state = MODEL_COMPLETE };
			double noise = 0;

			batches_free(&r[side].batches);
			recording_init(&r[side]);
			recording_process(&r[side], "a", 1);
			recording_site(&r[side], "#1", "f", 10, 500, 500000, 2);
			for (unsigned i = 0; i < 500; i++) {
				random = random * 1664525u + 1013904223u;
				noise = 0.9 * noise +
					0.02 * ((double)(random >> 8) / (1 << 23) - 1);
				e.phase_ns =
					(uint64_t)(1e6 * exp(noise) * (side && slow ? 1.1 : 1));
				batches_episode(&r[side].batches, &e);
			}
		}
		r[1].barriers[0].phase_ns.sum = slow ? 550000 : 526000;
		compare_one(r, &o, &c);
		*(slow ? &found : &alarms) += c.regressions > 0;
		compare_free(&c);
	}
	batches_free(&r[0].batches);
	batches_free(&r[1].batches);
	free(r);
	if (alarms > 20 || found < 1200)
		fail_msg("%u false alarms, %u found, of 2000 each", alarms, found);
}

/*
 * Return six runs: three with the values 1 2 3 and three with 4 6 8, as in test_welch_by_hand() in
 * test_analyse_stats.c. With several runs, the spread of episodes is ignored.
 */
static struct recording *six(void)
{
	static const uint64_t phase[] = { 100, 200, 300, 400, 600, 800 };
	struct recording *r = recordings(6);

	for (unsigned i = 0; i < 6; i++) {
		recording_process(&r[i], "a", 1000)->efficiency.parallel =
			1 - 0.001 * (double)phase[i];
		recording_site(&r[i], "#1", "f", 10, 10, phase[i], 1e9);
		recording_counter(&r[i], true, "cycles", i < 3 ? 7 : 8);
		recording_counter(&r[i], false, "cycles", i == 1 ? REPORT_UNKNOWN : 70 + i);
	}
	return r;
}

static void test_runs(void **state)
{
	struct recording *r CLEANUP_PTR(free) = six();
	const struct compare_row *row;
	struct compare c CLEANUP(compare_free);

	compare(r, 3, 3, &plain, &c);
	row = find(&c, COMPARE_BARRIER, "#1", "phase_ns");
	assert_fields(row, IS(test, COMPARE_WELCH), NEAR(t, 4 / sqrt(5.0 / 3), 1e-12),
		      NEAR(stddev_b, 200, 1e-9), NEAR(p_holm, row->p, 0),
		      IS(significant, row->p < 0.05));
	row = find(&c, COMPARE_PROCESS, NULL, "parallel");
	assert_fields(row, IS(unit, COMPARE_RATIO), NEAR(difference, -0.4, 1e-9));
	/* The values never vary within a side, and the sides differ. */
	row = find(&c, COMPARE_BARRIER, "#1", "cycles");
	assert_fields(row, IS(significant, 1), IS(change, COMPARE_MORE), IS(counter, true),
		      NEAR(p, 0, 0));
	/* The value is unknown in one recording. The other recordings count. */
	row = find(&c, COMPARE_PROCESS, NULL, "cycles");
	assert_fields(row, IS(runs_a, 2), NEAR(a, 71, 1e-9));
	/* The value is the same on both sides. */
	row = find(&c, COMPARE_PROCESS, NULL, "elapsed_ns");
	assert_fields(row, IS(significant, 0), NEAR(p, 1, 0));
}

/* Compare five runs with a single run. */
static void test_single(void **state)
{
	struct recording *r CLEANUP_PTR(free) = six();
	const struct compare_row *row;
	struct compare c CLEANUP(compare_free);

	compare(r, 5, 1, &plain, &c);
	row = find(&c, COMPARE_BARRIER, "#1", "phase_ns");
	assert_fields(row, IS(test, COMPARE_SINGLE), NEAR(df, 4, 0));
	/* The five runs have a mean of 320 and a variance of 37000, worked out by hand. */
	assert_near(row->t, 480 / sqrt(37000 * 1.2), 1e-9);
}

/*
 * Two sites are tested, so the lesser p value is doubled. The family of tests is one quantity at
 * all sites.
 */
static void test_holm(void **state)
{
	static const uint64_t noise[] = { 0, 1, 2, 3, 1, 5 };
	struct recording *r CLEANUP_PTR(free) = six();
	const struct compare_row *one, *two;
	struct compare c CLEANUP(compare_free);

	for (unsigned i = 0; i < 6; i++)
		recording_site(&r[i], "#2", "g", 20, 10, 100 + noise[i], 1);
	compare(r, 3, 3, &plain, &c);
	one = find(&c, COMPARE_BARRIER, "#1", "phase_ns");
	two = find(&c, COMPARE_BARRIER, "#2", "phase_ns");
	assert_true(one->p < two->p);
	assert_near(one->p_holm, 2 * one->p, 1e-15);
	assert_near(two->p_holm, fmax(two->p, one->p_holm), 1e-15);
	/* The site with the greater difference comes first. */
	assert_true(one < two);
}

static void test_missing(void **state)
{
	struct recording *r CLEANUP_PTR(free) = six();
	const struct compare_row *row;
	struct compare c CLEANUP(compare_free);

	/* One site is in all runs of A and in no run of B. Another is only in one run of B. */
	recording_site(&r[0], "#2", "g", 20, 10, 5000, 1);
	recording_site(&r[1], "#2", "g", 20, 10, 5000, 1);
	recording_site(&r[2], "#2", "g", 20, 10, 5000, 1);
	recording_site(&r[4], "#3", "h", 20, 10, 10, 1);
	/* This site has no complete episode. */
	recording_site(&r[5], "#4", "i", 20, 0, 0, NAN);
	compare(r, 3, 3, &plain, &c);
	row = find(&c, COMPARE_BARRIER, "#2", "phase_ns");
	assert_fields(row, IS(only, COMPARE_ONLY_A), NEAR(a, 5000, 0));
	assert_true(isnan(row->b) && isnan(row->difference));
	assert_fields(row, IS(runs_b, 0), IS(significant, COMPARE_UNKNOWN));
	/* The site with the most time comes first. */
	assert_string_equal(c.rows[find(&c, COMPARE_BARRIER, NULL, "phase_ns") - c.rows].id, "#2");
	assert_int_equal(find(&c, COMPARE_BARRIER, "#3", "phase_ns")->runs_b, 1);
	assert_null(find(&c, COMPARE_BARRIER, "#4", "phase_ns"));
	assert_fields(&c, IS(only_a, 1), IS(only_b, 2));
}

static void test_quantities(void **state)
{
	static const char *const words[] = { "phase", "counters", "efficiency", "nosuch" };
	struct compare_options o = { .confidence = 0.95, .fail_above = NAN, .quantities = words };
	struct recording *r CLEANUP_PTR(free) = six();
	struct compare c CLEANUP(compare_free);

	o.nquantities = 1;
	compare(r, 3, 3, &o, &c);
	assert_fields(&c, IS(nrows, 1), IS(unknown, NULL));
	compare_free(&c);
	o.nquantities = 4;
	compare(r, 3, 3, &o, &c);
	/*
	 * The four rows: phase time and cycles of the site, parallel efficiency and cycles of the
	 * process.
	 */
	assert_fields(&c, IS(nrows, 4), TEXT(unknown, "nosuch"));
}

/* --- regressions ----------------------------------------------------------------------------- */

static void test_regression(void **state)
{
	static const uint64_t phase[] = { 1000, 1001, 1002, 1200, 1201, 1202 };
	struct compare_options o = { .confidence = 0.95 };
	static const char *const parallel[] = { "parallel" };
	struct recording *r CLEANUP_PTR(free) = recordings(6);
	const struct report *all[6];
	struct compare c CLEANUP(compare_free);

	for (unsigned i = 0; i < 6; i++) {
		recording_process(&r[i], "a", 5000)->efficiency.parallel = i < 3 ? 0.9 : 0.5;
		recording_site(&r[i], "#1", "f", 10, 10, phase[i], 1);
		recording_counter(&r[i], true, "cycles", phase[i]);
	}
	o.fail_above = 0.19;
	compare(r, 3, 3, &o, &c);
	/* Barrier time and the counter grew by the same factor, but were not selected. */
	assert_int_equal(c.regressions, 1);
	assert_int_equal(find(&c, COMPARE_BARRIER, "#1", "phase_ns")->regression, 1);
	assert_int_equal(find(&c, COMPARE_BARRIER, "#1", "barrier_ns")->regression,
			 COMPARE_UNKNOWN);
	compare_free(&c);
	o.fail_above = 0.21;
	compare(r, 3, 3, &o, &c);
	assert_int_equal(c.regressions, 0);
	assert_int_equal(find(&c, COMPARE_BARRIER, "#1", "phase_ns")->regression, 0);
	compare_free(&c);
	/* A lower efficiency is worse. */
	o.quantities = parallel;
	o.nquantities = 1;
	compare(r, 3, 3, &o, &c);
	assert_int_equal(c.regressions, 1);
	compare_free(&c);
	/* With one run each the spread is unknown, so the difference may be a regression. */
	o.nquantities = 0;
	o.fail_above = 0.1;
	compare(r + 2, 1, 1, &o, &c);
	assert_fields(&c, IS(regressions, 0), IS(suspects, 1));
	compare_free(&c);
	/* An improvement is not a regression, and is reported as an improvement. */
	o.fail_above = 0;
	for (unsigned i = 0; i < 6; i++)
		all[i] = &r[(i + 3) % 6].report;
	assert_int_equal(compare_reports(all, 3, all + 3, 3, &o, &c), 0);
	assert_int_equal(c.regressions, 0);
	assert_int_equal(find(&c, COMPARE_BARRIER, "#1", "phase_ns")->change, COMPARE_BETTER);
	assert_int_equal(find(&c, COMPARE_PROCESS, NULL, "parallel")->change, COMPARE_BETTER);
}

static void test_lossy(void **state)
{
	struct recording *r CLEANUP_PTR(free) = six();
	struct compare c CLEANUP(compare_free);

	r[4].report.lossless = false;
	compare(r, 3, 3, &plain, &c);
	assert_fields(&c, IS(a.lossy, 0), IS(b.lossy, 1));
}

/* A partly traced run is not compared with a complete run: sums are unknown, shares are known. */
static void test_detached(void **state)
{
	struct recording *r CLEANUP_PTR(free) = six();
	struct compare c CLEANUP(compare_free);

	compare(r, 3, 3, &plain, &c);
	assert_true(isfinite(find(&c, COMPARE_RUN, NULL, "elapsed_ns")->b));
	compare_free(&c);
	for (uint32_t i = 3; i < 6; i++) {
		uint32_t k;

		r[i].report.ndetached = 1;
		for (k = 0; k < r[i].report.nprocesses; k++)
			r[i].processes[k].detached_ns = 500;
		for (k = 0; k < r[i].report.nbarriers; k++)
			r[i].barriers[k].detached_ns = 500;
	}
	compare(r, 3, 3, &plain, &c);
	assert_true(isfinite(find(&c, COMPARE_RUN, NULL, "elapsed_ns")->a));
	assert_true(isnan(find(&c, COMPARE_RUN, NULL, "elapsed_ns")->b));
	assert_true(isfinite(find(&c, COMPARE_BARRIER, "#1", "phase_ns")->a));
	assert_true(isnan(find(&c, COMPARE_BARRIER, "#1", "phase_ns")->b));
	assert_int_equal(find(&c, COMPARE_BARRIER, "#1", "phase_ns")->significant, COMPARE_UNKNOWN);
	assert_true(isfinite(find(&c, COMPARE_PROCESS, NULL, "parallel")->b));
	assert_int_equal(c.regressions, 0);
}

/*
 * Some barriers of a process were not traced to the end of the run. Their sums are unknown, as are
 * the sums of phases and of the process.
 */
static void test_detached_parts(void **state)
{
	struct recording *r CLEANUP_PTR(free) = six();
	struct report_detached detached_groups[1] = { { .family = "pthread", .t_ns = 500 } };
	struct compare c CLEANUP(compare_free);

	for (uint32_t i = 0; i < 6; i++)
		r[i].processes[0].wait_ns = 1000;
	for (uint32_t i = 3; i < 6; i++) {
		r[i].report.ndetached_parts = 1;
		r[i].processes[0].ndetached_groups = 1;
		r[i].processes[0].detached_groups = detached_groups;
		r[i].barriers[0].detached_beside_ns = 500;
	}
	compare(r, 3, 3, &plain, &c);
	assert_true(isfinite(find(&c, COMPARE_RUN, NULL, "elapsed_ns")->b));
	assert_true(isnan(find(&c, COMPARE_BARRIER, "#1", "phase_ns")->b));
	assert_true(isfinite(find(&c, COMPARE_BARRIER, "#1", "barrier_ns")->b));
	assert_true(isfinite(find(&c, COMPARE_BARRIER, "#1", "episodes")->b));
	assert_true(isnan(find(&c, COMPARE_PROCESS, NULL, "lost_ns")->b));
	compare_free(&c);
	for (uint32_t i = 3; i < 6; i++)
		r[i].barriers[0].detached_ns = 500;
	compare(r, 3, 3, &plain, &c);
	assert_true(isnan(find(&c, COMPARE_BARRIER, "#1", "barrier_ns")->b));
	assert_true(isnan(find(&c, COMPARE_BARRIER, "#1", "episodes")->b));
}

/* --- functions ------------------------------------------------------------------------------- */

static const struct compare_row *function_row(const struct compare *c, const char *name, double a)
{
	for (uint32_t i = 0; i < c->nrows; i++)
		if (c->rows[i].function && !strcmp(c->rows[i].function, name) &&
		    (isnan(a) ? isnan(c->rows[i].a) : c->rows[i].a == a))
			return &c->rows[i];
	return NULL;
}

static unsigned function_rows(const struct compare *c)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < c->nrows; i++)
		n += c->rows[i].function != NULL;
	return n;
}

static void functions(struct recording *r, struct report_function *f, uint32_t n)
{
	recording_process(r, "a", 1);
	recording_site(r, "#1", "run", 3, 4, 100 * MS, 0);
	r->barriers[0].functions = f;
	r->barriers[0].nfunctions = n;
}

/* Two builds in different folders have the same functions. A function that is gone takes 0 ns. */
static void test_functions_moved(void **state)
{
	struct recording *r CLEANUP_PTR(free) = recordings(4);
	struct report_function a[] = { { "same", "/home/u/d/A/p.c", 10, { 0 } },
				       { "gone", "/home/u/d/A/p.c", 5, { 0 } },
				       { "bare", NULL, 3, { 0 } } };
	struct report_function b[] = { { "bare", NULL, 3, { 0 } },
				       { "same", "../B/p.c", 11, { 0 } },
				       { "new", "../B/p.c", 7, { 0 } } };
	struct report_function other[] = { { "same", "/home/u/d/A/xp.c", 2, { 0 } } };
	struct compare c CLEANUP(compare_free);
	const struct compare_row *row;

	functions(&r[0], a, 3);
	functions(&r[1], b, 3);
	compare(r, 1, 1, &plain, &c);
	assert_int_equal(function_rows(&c), 4);
	row = function_row(&c, "same", 10);
	assert_true(row && row->b == 11);
	row = function_row(&c, "gone", 5);
	assert_true(row && row->b == 0);
	row = function_row(&c, "new", 0);
	assert_true(row && row->b == 7);
	row = function_row(&c, "bare", 3);
	assert_true(row && row->b == 3);
	compare_free(&c);
	/* A file with another name is another file. */
	functions(&r[2], a, 1);
	functions(&r[3], other, 1);
	compare(r + 2, 1, 1, &plain, &c);
	assert_int_equal(function_rows(&c), 2);
	row = function_row(&c, "same", 10);
	assert_true(row && row->b == 0);
}

/* Of several files with one name, the one with the most similar path matches, if only one is. */
static void test_functions_alike(void **state)
{
	struct recording *r CLEANUP_PTR(free) = recordings(4);
	struct report_function a[] = { { "step", "/A/heat/util.c", 10, { 0 } },
				       { "step", "/A/mesh/util.c", 20, { 0 } } };
	struct report_function b[] = { { "step", "/B/mesh/util.c", 21, { 0 } },
				       { "step", "/B/heat/util.c", 11, { 0 } } };
	struct report_function flat[] = { { "step", "/C/util.c", 30, { 0 } } };
	struct compare c CLEANUP(compare_free);
	const struct compare_row *row;

	functions(&r[0], a, 2);
	functions(&r[1], b, 2);
	compare(r, 1, 1, &plain, &c);
	assert_int_equal(function_rows(&c), 2);
	row = function_row(&c, "step", 10);
	assert_true(row && row->b == 11);
	row = function_row(&c, "step", 20);
	assert_true(row && row->b == 21);
	compare_free(&c);
	/* Which of the two is the only one? The answer is unknown, not 0. */
	functions(&r[2], a, 2);
	functions(&r[3], flat, 1);
	compare(r + 2, 1, 1, &plain, &c);
	assert_int_equal(function_rows(&c), 3);
	row = function_row(&c, "step", 10);
	assert_true(row && isnan(row->b));
	row = function_row(&c, "step", NAN);
	assert_true(row && row->b == 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sites),
		cmocka_unit_test(test_detached),
		cmocka_unit_test(test_detached_parts),
		cmocka_unit_test(test_sites_unclear),
		cmocka_unit_test(test_sites_followed),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_processes_renamed),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_ratio),
		cmocka_unit_test(test_episodes),
		cmocka_unit_test(test_false_alarms),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_holm),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_quantities),
		cmocka_unit_test(test_regression),
		cmocka_unit_test(test_lossy),
		cmocka_unit_test(test_functions_moved),
		cmocka_unit_test(test_functions_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
