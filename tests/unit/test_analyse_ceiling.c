// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check --cost-limit: which processes are no longer traced, and which probes are detached. */
#include <math.h>

#include "test_check.h"
#include "analyse/ceiling.h"

#define SECOND	1000000000ULL
#define PTHREAD 0x02u
#define GOMP	0x04u
#define MPI	0x10u
#define USER	0x80u
#define USDT	0x40u
#define N	4

/*
 * Return a process in which all probes belong to groups that other processes share. A crossing
 * costs 1 us, or 0.4 us if it is not recorded. @share is the share of the process's time that
 * tracing costs.
 */
static struct ceiling_process process(uint32_t index, uint64_t probe_groups, double share)
{
	return (struct ceiling_process){
		.tgid = 100 + index,
		.group = index,
		.probe_groups = probe_groups,
		.crossings = (uint64_t)llround(share * 2e6),
		.time_ns = 2 * SECOND,
		.price_ns = 1000,
		.excluded_ns = 400,
	};
}

static void test_shares(void **state)
{
	struct ceiling_process p = process(0, PTHREAD, 0.5);

	assert_true(fabs(ceiling_share(&p) - 0.5) < 1e-9);
	/*
	 * Without recording, each of the million crossings costs only 0.4 us. They take 0.4 s of
	 * 1.4 s.
	 */
	assert_true(fabs(ceiling_share_excluded(&p, CEILING_WHOLE) - 0.4 / 1.4) < 1e-9);
	p.excluded_ns = NAN;
	assert_true(isnan(ceiling_share_excluded(&p, CEILING_WHOLE)));
	p.price_ns = NAN;
	assert_true(isnan(ceiling_share(&p)));
	p = process(0, PTHREAD, 0.5);
	p.time_ns = 0;
	assert_true(isnan(ceiling_share(&p)));
	/*
	 * Probes that the process does not cross cost time as well. Only excluding the whole
	 * process removes this cost.
	 */
	p = process(0, PTHREAD, 0.5);
	p.excluded_ns = 400;
	p.other_ns = 0.1 * (double)p.time_ns;
	assert_true(fabs(ceiling_share(&p) - 0.6) < 1e-9);
	assert_true(fabs(ceiling_share_excluded(&p, CEILING_WHOLE) - 0.2 / 0.6) < 1e-9);
	assert_true(fabs(ceiling_share_excluded(&p, PTHREAD) - 0.6) < 1e-9);
	p.other_ns = 0;
	/*
	 * The estimated cost exceeds the total time. This can happen, because estimates may be
	 * wrong.
	 */
	p = process(0, PTHREAD, 3);
	assert_true(ceiling_share_excluded(&p, CEILING_WHOLE) == 1);
}

static void test_calm(void **state)
{
	struct ceiling_process p[N] = { process(0, PTHREAD, 0.049), process(1, PTHREAD, 0),
					process(2, PTHREAD, 9), process(3, PTHREAD, 9) };
	struct ceiling_verdict v[N];

	/* What tracing these processes costs is unknown. */
	p[2].price_ns = NAN;
	p[3].time_ns = 0;
	assert_int_equal(ceiling_decide(p, N, 0.05, v), 0);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(v[i].way, CEILING_KEEP);
	assert_int_equal(ceiling_decide(p, 0, 0.05, v), 0);
}

static void test_alone(void **state)
{
	struct ceiling_process p[2] = { process(0, PTHREAD, 0.06), process(1, GOMP, 0.01) };
	struct ceiling_verdict v[2];

	/* No other process shares these barriers, so their probes need not stay. */
	assert_int_equal(ceiling_decide(p, 2, 0.05, v), PTHREAD);
	assert_fields(&v[0], IS(way, CEILING_ALL), IS(probe_groups, CEILING_WHOLE), IS(culprit, 0));
	assert_true(fabs(v[0].share - 0.06) < 1e-6);
	assert_int_equal(v[1].way, CEILING_KEEP);
	p[0].own = PTHREAD;
	assert_int_equal(ceiling_decide(p, 2, 0.05, v), 0);
	assert_int_equal(v[0].way, CEILING_OWN);
}

static void test_company(void **state)
{
	struct ceiling_process p[3] = { process(0, PTHREAD, 0.08), process(1, PTHREAD, 0.01),
					process(2, GOMP, 0.01) };
	struct ceiling_verdict v[3];

	/*
	 * Process 0 is excluded. Tracing it then costs only 0.032 of 0.952, which is below the
	 * limit.
	 */
	assert_int_equal(ceiling_decide(p, 3, 0.05, v), 0);
	assert_int_equal(v[0].way, CEILING_EXCLUDE);
	assert_int_equal(v[1].way, CEILING_KEEP);
	/*
	 * If process 0 were excluded, tracing would still cost 0.32 of 0.52. So the probes are
	 * detached.
	 */
	p[0] = process(0, PTHREAD, 0.8);
	assert_int_equal(ceiling_decide(p, 3, 0.05, v), PTHREAD);
	assert_int_equal(v[0].way, CEILING_ALL);
	assert_fields(&v[1], IS(way, CEILING_ALL), IS(culprit, 0));
	assert_true(fabs(v[1].share - 0.8) < 1e-6);
	assert_int_equal(v[2].way, CEILING_KEEP);
	/*
	 * It is unknown how much tracing would cost after an exclusion, so the probes are detached.
	 */
	p[0] = process(0, PTHREAD, 0.06);
	p[0].excluded_ns = NAN;
	assert_int_equal(ceiling_decide(p, 3, 0.05, v), PTHREAD);
	assert_int_equal(v[1].way, CEILING_ALL);
	/*
	 * Tracing process 1 costs too much, too. So its verdict names the process itself as the
	 * culprit, with its own share.
	 */
	p[0] = process(0, PTHREAD, 0.8);
	p[1] = process(1, PTHREAD, 0.6);
	assert_int_equal(ceiling_decide(p, 3, 0.05, v), PTHREAD);
	assert_int_equal(v[1].culprit, 1);
	assert_true(fabs(v[1].share - 0.6) < 1e-6);
}

/* Ranks of one group are traced or excluded together, because they cross barriers together. */
static void test_groups(void **state)
{
	struct ceiling_process p[N] = { process(0, MPI, 0.01), process(1, MPI, 0.07),
					process(2, MPI | GOMP, 0.01), process(3, GOMP, 0.01) };
	struct ceiling_verdict v[N];

	p[0].group = p[1].group = p[2].group = 0;
	/*
	 * Rank 1 costs too much. All three ranks are excluded, and the unrelated process, which
	 * shares probes with one rank, is still traced.
	 */
	assert_int_equal(ceiling_decide(p, N, 0.05, v), 0);
	for (uint32_t i = 0; i < 3; i++)
		assert_fields(&v[i], IS(way, CEILING_EXCLUDE), IS(culprit, 1));
	assert_int_equal(v[3].way, CEILING_KEEP);
	/*
	 * Exclusion would still cost too much, so the probes that any of the ranks crosses are
	 * detached.
	 */
	p[1] = process(1, MPI, 0.9);
	p[1].group = 0;
	assert_int_equal(ceiling_decide(p, N, 0.05, v), MPI | GOMP);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(v[i].way, CEILING_ALL);
	/* Each process has its own probes. */
	for (uint32_t i = 0; i < N; i++)
		p[i].own = p[i].probe_groups;
	assert_int_equal(ceiling_decide(p, N, 0.05, v), 0);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(v[i].way, CEILING_OWN);
	assert_int_equal(v[3].way, CEILING_KEEP);
}

/*
 * Probe groups that can only be detached together, and their share of all crossings, in
 * thousandths.
 */
struct part {
	uint64_t probe_groups;
	uint32_t thousandths;
};

#define PARTS(...) ((const struct part[]){ __VA_ARGS__, { 0 } })

static struct ceiling_process of_parts(uint32_t index, double share, const struct part *parts)
{
	struct ceiling_process p = process(index, 0, share);

	for (; parts->probe_groups; parts++) {
		p.probe_groups |= parts->probe_groups;
		p.sets[p.nsets++] = (struct ceiling_set){ parts->probe_groups,
							  p.crossings / 1000 * parts->thousandths };
	}
	return p;
}

static void assert_verdict(const struct ceiling_verdict *v, enum ceiling_way way,
			   uint64_t probe_groups)
{
	assert_fields(v, IS(way, way), IS(probe_groups, probe_groups));
}

static void test_choice(void **state)
{
	struct ceiling_process p =
		of_parts(0, 0.5, PARTS({ GOMP, 20 }, { PTHREAD, 900 }, { USER, 80 }));

	/* After the hottest part is detached, the remaining crossings take 0.1 s of 2 s. */
	assert_int_equal(ceiling_choose(&p, 0.051), PTHREAD);
	/* A lower limit: the two hottest parts must be detached, and the third need not be. */
	assert_int_equal(ceiling_choose(&p, 0.049), PTHREAD | USER);
	/* Only excluding the whole process is enough. */
	assert_int_equal(ceiling_choose(&p, 0.009), CEILING_WHOLE);
	/* One part consists of two groups, because they share an attachment. */
	p = of_parts(0, 0.5, PARTS({ GOMP, 0 }, { PTHREAD | GOMP, 900 }, { USER, 80 }));
	assert_int_equal(ceiling_choose(&p, 0.1), PTHREAD | GOMP);
	/* Detaching the separable part would not be enough: most of the cost is in the rest. */
	p = of_parts(0, 0.5, PARTS({ PTHREAD, 100 }));
	p.probe_groups |= USDT;
	assert_int_equal(ceiling_choose(&p, 0.1), CEILING_WHOLE);
	/* The process has no other probes, so the whole process is detached. */
	p = of_parts(0, 0.5, PARTS({ PTHREAD, 1000 }));
	assert_int_equal(ceiling_choose(&p, 0.1), CEILING_WHOLE);
	/* The estimate is too high: tracing seems to cost more than the total time. */
	p = of_parts(0, 1.2, PARTS({ PTHREAD, 999 }, { GOMP, 1 }));
	assert_int_equal(ceiling_choose(&p, 0.05), PTHREAD);
	/*
	 * If the probes stay and their crossings are not recorded, each of these crossings still
	 * costs 0.4 us.
	 */
	p = of_parts(0, 0.5, PARTS({ PTHREAD, 900 }, { GOMP, 100 }));
	assert_true(fabs(ceiling_share_excluded(&p, PTHREAD) - 0.46 / 1.46) < 1e-6);
	assert_true(fabs(ceiling_share_excluded(&p, CEILING_WHOLE) - 0.4 / 1.4) < 1e-6);
}

/*
 * On a machine with expensive traps, traps take nearly all of the time at the first check. An
 * earlier version assumed that the cold probes keep their hit rate in the little time that remains.
 * So the cold probes seemed too expensive as well, and the whole process was excluded.
 */
static void test_dear_traps(void **state)
{
	struct ceiling_process p = {
		.probe_groups = PTHREAD | GOMP,
		.crossings = 107320,
		.time_ns = 1998842000,
		.nsets = 2,
		.sets = { { PTHREAD, 106956 }, { GOMP, 364 } },
		.price_ns = 18515.615,
		.excluded_ns = 16956.445,
	};
	struct ceiling_verdict v;

	assert_true(ceiling_share(&p) > 0.99);
	assert_int_equal(ceiling_choose(&p, 0.05), PTHREAD);
	/* The decision is the same if a crossing costs three times as much. */
	p.price_ns *= 3;
	assert_int_equal(ceiling_decide(&p, 1, 0.05, &v), PTHREAD);
	assert_verdict(&v, CEILING_ALL, PTHREAD);
	/* The cold probes alone exceed this limit: three times 0.34 %. */
	assert_int_equal(ceiling_choose(&p, 0.01), CEILING_WHOLE);
}

/*
 * Make a process with a hot and a cold part, a second process that crosses both parts, and a third
 * that crosses the cold part.
 */
static void three_processes(struct ceiling_process *p)
{
	p[0] = of_parts(0, 0.5, PARTS({ PTHREAD, 990 }, { GOMP, 10 }));
	p[1] = of_parts(1, 0.01, PARTS({ PTHREAD, 990 }, { GOMP, 10 }));
	p[2] = of_parts(2, 0.01, PARTS({ GOMP, 1000 }));
}

static void test_part(void **state)
{
	struct ceiling_process p[3];
	struct ceiling_verdict v[3];

	three_processes(p);
	/*
	 * If process 0 were excluded, tracing it would still cost 0.4 of 1.4. So the hot probes are
	 * detached from both processes that cross them, and the cold probes stay in all processes.
	 */
	assert_int_equal(ceiling_decide(p, 3, 0.05, v), PTHREAD);
	assert_verdict(&v[0], CEILING_ALL, PTHREAD);
	assert_verdict(&v[1], CEILING_ALL, PTHREAD);
	assert_int_equal(v[1].culprit, 0);
	assert_verdict(&v[2], CEILING_KEEP, 0);
	/* With this limit it is enough to exclude process 0: 0.4 of 1.4 remains. */
	assert_int_equal(ceiling_decide(p, 3, 0.35, v), 0);
	assert_verdict(&v[0], CEILING_EXCLUDE, PTHREAD);
	assert_verdict(&v[1], CEILING_KEEP, 0);
	/* Process 1 has no other probes, so it is no longer traced. */
	p[1] = of_parts(1, 0.01, PARTS({ PTHREAD, 1000 }));
	assert_int_equal(ceiling_decide(p, 3, 0.05, v), PTHREAD);
	assert_verdict(&v[0], CEILING_ALL, PTHREAD);
	assert_verdict(&v[1], CEILING_ALL, CEILING_WHOLE);
}

/*
 * Some probes exist only in one process, for example the probes on functions in which its threads
 * wait. No other process loses anything when these probes are detached.
 */
static void test_part_own(void **state)
{
	struct ceiling_process p[3];
	struct ceiling_verdict v[3];

	three_processes(p);
	p[0].own = PTHREAD;
	assert_int_equal(ceiling_decide(p, 3, 0.05, v), 0);
	assert_verdict(&v[0], CEILING_OWN, PTHREAD);
	assert_verdict(&v[1], CEILING_KEEP, 0);
	/* The probes of the second process also belong to it alone, and cost too much. */
	p[1] = of_parts(1, 0.3, PARTS({ PTHREAD, 990 }, { GOMP, 10 }));
	p[1].own = PTHREAD;
	assert_int_equal(ceiling_decide(p, 3, 0.05, v), 0);
	assert_verdict(&v[1], CEILING_OWN, PTHREAD);
	assert_int_equal(v[1].culprit, 1);
	/*
	 * The hot code of process 0 is not private, but process 1 has a private copy of it. So
	 * process 1 keeps its probes.
	 */
	three_processes(p);
	p[0].own = GOMP;
	p[1].own = PTHREAD;
	assert_int_equal(ceiling_decide(p, 3, 0.05, v), PTHREAD);
	assert_verdict(&v[0], CEILING_ALL, PTHREAD);
	assert_verdict(&v[1], CEILING_KEEP, 0);
	/*
	 * All probes are detached from process 0. Other processes share some of them, so they lose
	 * these probes, too.
	 */
	assert_int_equal(ceiling_decide(p, 3, 0.0005, v), PTHREAD | GOMP);
	assert_verdict(&v[0], CEILING_ALL, CEILING_WHOLE);
	assert_verdict(&v[2], CEILING_ALL, CEILING_WHOLE);
}

/* If a process loses probes, the other processes of its group lose them, too. */
static void test_part_of_group(void **state)
{
	struct ceiling_process p[3] = {
		of_parts(0, 0.5, PARTS({ MPI, 10 }, { PTHREAD, 990 })),
		of_parts(0, 0.01, PARTS({ MPI, 10 }, { PTHREAD, 990 })),
		of_parts(0, 0.01, PARTS({ MPI, 10 })),
	};
	struct ceiling_verdict v[3];

	assert_int_equal(ceiling_decide(p, 3, 0.05, v), PTHREAD);
	assert_verdict(&v[0], CEILING_ALL, PTHREAD);
	assert_verdict(&v[1], CEILING_ALL, PTHREAD);
	assert_verdict(&v[2], CEILING_KEEP, 0);
	/*
	 * In one process of the group, these probes cannot be detached alone. So all probes of the
	 * whole group are detached.
	 */
	p[1] = of_parts(0, 0.01, PARTS({ MPI, 10 }, { PTHREAD | USDT, 990 }));
	assert_int_equal(ceiling_decide(p, 3, 0.05, v), PTHREAD | MPI | USDT);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(v[i].probe_groups, CEILING_WHOLE);
	/* The third process crosses only the hot part, so it is no longer traced. */
	p[0] = of_parts(0, 0.5, PARTS({ MPI, 990 }, { PTHREAD, 10 }));
	p[1] = of_parts(0, 0.01, PARTS({ MPI, 990 }, { PTHREAD, 10 }));
	assert_int_equal(ceiling_decide(p, 3, 0.05, v), MPI);
	assert_verdict(&v[0], CEILING_ALL, MPI);
	assert_verdict(&v[1], CEILING_ALL, MPI);
	assert_verdict(&v[2], CEILING_ALL, CEILING_WHOLE);
}

#define HOT  (1ULL << 33)
#define COLD (1ULL << 62)

/*
 * Some functions of a family can be detached alone. The rest of the family can only be detached
 * together with them.
 */
static void test_functions(void **state)
{
	const struct part parts[] = {
		{ HOT, 900 }, { COLD, 80 }, { MPI | HOT | COLD, 20 }, { GOMP, 0 }, { 0 }
	};
	struct ceiling_process p[2];
	struct ceiling_verdict v[2];

	p[0] = of_parts(0, 0.5, parts);
	p[0].probe_groups = MPI | HOT | COLD | GOMP;
	/* Without the hot functions, the remaining crossings take 0.1 s of 2 s. */
	assert_true(ceiling_choose(&p[0], 0.06) == HOT);
	assert_true(ceiling_choose(&p[0], 0.02) == (HOT | COLD));
	assert_true(ceiling_choose(&p[0], 0.005) == (MPI | HOT | COLD));
	/*
	 * The probes are attached for all processes. Processes that cross the hot barriers lose the
	 * probes on these barriers. Processes that cross only the other barriers lose none.
	 */
	p[1] = of_parts(1, 0.01, PARTS({ COLD, 1000 }));
	assert_true(ceiling_decide(p, 2, 0.06, v) == HOT);
	assert_true(v[0].way == CEILING_ALL && v[0].probe_groups == HOT);
	assert_int_equal(v[1].way, CEILING_KEEP);
	p[1] = of_parts(1, 0.01, PARTS({ COLD, 500 }, { HOT, 500 }));
	assert_true(ceiling_decide(p, 2, 0.06, v) == HOT);
	assert_true(v[1].way == CEILING_ALL && v[1].probe_groups == HOT);
	/* Each of the two processes has its own copy of the hot function. */
	p[0].own = p[1].own = HOT;
	assert_int_equal(ceiling_decide(p, 2, 0.06, v), 0);
	assert_true(v[0].way == CEILING_OWN && v[0].probe_groups == HOT);
	assert_int_equal(v[1].way, CEILING_KEEP);
}

/* A function without a family cannot be detached. */
static void test_no_family(void **state)
{
	struct ceiling_process p[1] = { process(0, 0, 0.9) };
	struct ceiling_verdict v[1];

	assert_int_equal(ceiling_decide(p, 1, 0.05, v), 0);
	assert_int_equal(v[0].way, CEILING_EXCLUDE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),	      cmocka_unit_test(test_calm),
		cmocka_unit_test(test_alone),	      cmocka_unit_test(test_company),
		cmocka_unit_test(test_groups),	      cmocka_unit_test(test_no_family),
		cmocka_unit_test(test_choice),	      cmocka_unit_test(test_part),
		cmocka_unit_test(test_part_of_group), cmocka_unit_test(test_dear_traps),
		cmocka_unit_test(test_part_own),      cmocka_unit_test(test_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
