// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check the alignment of clocks that differ and drift, by common episodes. */
#include "test_model_util.h"

#include "sbt/record.h"
#include "recording/align.h"
#include "recording/ordinal.h"

/* ordinals of MPI calls, by clock */
static struct ordinals ordinals[3];

static void input(struct align *a, uint32_t clock, const struct model_input *in)
{
	uint64_t ordinal;

	assert_int_equal(ordinals_take(&ordinals[clock], in, &ordinal), 0);
	if (ordinal)
		assert_int_equal(align_crossing(a, clock, in->crossing, ordinal), 0);
}

static void end(struct align *a)
{
	align_free(a);
	for (uint32_t i = 0; i < 3; i++)
		ordinals_free(&ordinals[i]);
}

static void begin(struct align *a, uint32_t clock, uint32_t tgid)
{
	struct model_input in = {
		.type = MODEL_INPUT_PROCESS, .tgid = tgid, .inc = 1, .t_ns = 5, .process.seen = true
	};

	input(a, clock, &in);
}

static void meet(struct align *a, uint32_t clock, uint32_t tgid, uint32_t seq, uint64_t shared,
		 uint64_t arrive, uint64_t depart)
{
	struct model_crossing x = { .tgid = tgid,
				    .inc = 1,
				    .tid = tgid,
				    .seq = seq,
				    .shared = shared,
				    .family = SBT_FAMILY_MPI,
				    .arrive_ns = arrive,
				    .depart_ns = depart };
	struct model_input in = { .type = MODEL_INPUT_CROSSING, .crossing = &x };

	input(a, clock, &in);
}

/*
 * One episode, worked out by hand: one rank arrives at 100 and leaves at 400 on the first clock,
 * and another arrives at 1,200 and leaves at 1,350 on the second. The offset is between -1,250 and
 * -800.
 */
static void test_one_episode(void **unused)
{
	struct align *a = align_new(2);
	struct align_found found;

	begin(a, 0, 10);
	begin(a, 1, 10);
	meet(a, 0, 10, 1, 7, 100, 400);
	meet(a, 1, 10, 1, 7, 1200, 1350);
	assert_int_equal(align_solve(a), 0);
	align_look(a, 1, &found);
	assert_fields(&found, IS(sync_points, 1), IS(uncertain_ns, 225), IS(contradicts, false));
	assert_int_equal(align_time(a, 1, 2000), 2000 - 1025);
	assert_int_equal(align_time(a, 0, 2000), 2000);
	assert_true(align_time(a, 1, MODEL_UNKNOWN) == MODEL_UNKNOWN);
	end(a);
}

/* Return @t on a clock that is @offset ahead and runs @ppm millionths faster. */
static uint64_t other(uint64_t t, uint64_t offset, double ppm)
{
	return t + offset + (uint64_t)((double)t * ppm / 1e6);
}

static void random_run(double ppm, uint32_t rounds, uint64_t worst)
{
	struct align *a = align_new(3);
	uint64_t seed = 11, t = 1000000, error = 0;
	struct align_found found;

	for (uint32_t k = 0; k < 3; k++)
		begin(a, k, 20 + k);
	for (uint32_t i = 0; i < rounds; i++) {
		uint64_t arrive[3], release = 0;

		for (uint32_t k = 0; k < 3; k++) {
			arrive[k] = t + rnd_to(&seed, 1000000);
			release = arrive[k] > release ? arrive[k] : release;
		}
		for (uint32_t k = 0; k < 3; k++) {
			uint64_t offset = k * 123456789000ull;
			uint64_t left = release + 2000 + rnd_to(&seed, 20000);

			meet(a, k, 20 + k, i + 1, 99, other(arrive[k], offset, k * ppm),
			     other(left, offset, k * ppm));
			t = left > t ? left : t;
		}
	}
	assert_int_equal(align_solve(a), 0);
	for (uint32_t k = 1; k < 3; k++) {
		align_look(a, k, &found);
		assert_true(found.sync_points > 100);
		for (uint32_t i = 1; i < 100; i++) {
			uint64_t real = t / 100 * i;
			uint64_t got = align_time(a, k, other(real, k * 123456789000ull, k * ppm));
			uint64_t off = got > real ? got - real : real - got;

			error = off > error ? off : error;
		}
	}
	assert_true(error <= worst);
	end(a);
}

static void test_random_runs(void **unused)
{
	/* The precision of the alignment is limited by the fastest departure from a barrier. */
	random_run(0, 500, 10000);
	/* 20 millionths over five seconds are 100 us. */
	random_run(20, 5000, 25000);
	random_run(-20, 5000, 25000);
}

static void test_not_counted(void **unused)
{
	struct align *a = align_new(3);
	struct align_found found;

	begin(a, 0, 10);
	meet(a, 0, 10, 1, 7, 100, 400);
	meet(a, 0, 10, 2, 7, 500, 700);
	/* The rank was already running, so the number of its episode is unknown. */
	meet(a, 1, 11, 1, 7, 1200, 1350);
	/* A record of this rank was lost before its second episode. */
	begin(a, 2, 12);
	meet(a, 2, 12, 2, 7, 1200, 1350);
	meet(a, 2, 12, 3, 7, 1500, 1550);
	assert_int_equal(align_solve(a), 0);
	align_look(a, 1, &found);
	assert_int_equal(found.sync_points, 0);
	align_look(a, 2, &found);
	assert_int_equal(found.sync_points, 0);
	assert_int_equal(align_time(a, 2, 77), 77);
	end(a);
}

static void test_contradiction(void **unused)
{
	struct align *a = align_new(2);
	struct align_found found;

	begin(a, 0, 10);
	begin(a, 1, 10);
	meet(a, 0, 10, 1, 7, 100, 110);
	meet(a, 1, 10, 1, 7, 100, 110);
	meet(a, 0, 10, 2, 7, 200, 210);
	/* Between these episodes, the second clock has jumped. */
	meet(a, 1, 10, 2, 7, 5200, 5210);
	assert_int_equal(align_solve(a), 0);
	align_look(a, 1, &found);
	assert_true(found.contradicts);
	assert_true(found.uncertain_ns > 2000);
	end(a);
}

/* The third clock has common episodes with the second, but not with the first. */
static void test_through_another(void **unused)
{
	struct align *a = align_new(3);
	struct align_found found;

	begin(a, 0, 10);
	begin(a, 1, 11);
	begin(a, 2, 12);
	meet(a, 0, 10, 1, 7, 100, 120);
	meet(a, 1, 11, 1, 7, 1100, 1120);
	meet(a, 1, 11, 2, 8, 1200, 1220);
	meet(a, 2, 12, 1, 8, 9200, 9220);
	assert_int_equal(align_solve(a), 0);
	align_look(a, 2, &found);
	assert_int_equal(found.sync_points, 1);
	assert_int_equal(align_time(a, 2, 9300), 300);
	end(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_episode),	cmocka_unit_test(test_random_runs),
		cmocka_unit_test(test_not_counted),	cmocka_unit_test(test_contradiction),
		cmocka_unit_test(test_through_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
