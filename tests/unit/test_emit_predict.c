// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check predictions as text and as CSV, and a machine as a file. */
#include "test_predict_util.h"

#include "emit/emit.h"
#include "emit/prediction.h"

static struct predictions made(const struct predict_facts *facts)
{
	static const struct prediction_site sites[] = {
		{ "#1a2b3c4d",
		  "exchange_the_boundaries_of_all_neighbours() of a very long name ocean.c:1234" },
		{ "#2", "solve() ocean.c:77" },
		{ "#3", "=cmd() a.c:1" },
	};
	static const uint32_t processors[] = { 1, 2, 4, 8, 16 };
	struct predict_machine m = machine("distributed", NULL);
	struct predict_result r;
	struct predictions p;
	struct predict_input in;
	struct prediction_source s = { &in, facts, &m, &r, sites, 3 };

	assert_int_equal(gen_sparse(8, &in), 0);
	assert_int_equal(predict_run_all(&in, &m, processors, 5, &r), 0);
	assert_int_equal(predictions_build(&s, &p), 0);
	predict_result_free(&r);
	predict_input_free(&in);
	return p;
}

static char *print(const struct predictions *p, const struct emit_options *o)
{
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);
	struct emit *emit = emit_new(f, o);

	emit_predictions(emit, p);
	assert_int_equal(emit_free(emit), 0);
	fclose(f);
	return out;
}

static void test_text(void **state)
{
	struct predict_facts facts = { .computing_ns = 1000000,
				       .lock_ns = 500000,
				       .rivals = 1,
				       .left_out = 2,
				       .cost_ns = 3000,
				       .cost_known = true,
				       .delay_ns = 1000,
				       .forks = 1 };
	struct emit_options o = { .format = EMIT_TEXT, .ascii = true };
	struct predictions p CLEANUP(predictions_free) = made(&facts);
	char *out CLEANUP_PTR(free) = print(&p, &o), *line, *save;

	assert_says(
		out, "Predicted for distributed: ", "Warning: Threads waited 500.0 us for locks",
		"and the order of events\n  could change.",
		"Warning: The last arriver of 1 episode is uncertain",
		"2 incomplete episodes are left out",
		"The cost of tracing (3.0 us, from the cost of a crossing)",
		"1 start of a parallel part was not recorded", "cannot use more than 8 processors",
		"MipsRatio", "remote data", "Speedup", "Time of phases by number of processors");
	for (line = strtok_r(out, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (strlen(line) > 100)
			fail_msg("%zu columns: %s", strlen(line), line);
}

/*
 * The text says so if only one number of processors was simulated, and if more processors are not
 * faster.
 */
static void test_answers(void **state)
{
	struct prediction all[] = {
		{ .machine = "m", .processors = 1, .time_ns = 5000, .because = "work" },
		{ .machine = "m", .processors = 2, .time_ns = 6000, .because = "work" }
	};
	struct predictions p = { .n = 2, .all = all, .serial_ns = 5000 };
	struct emit_options o = { .format = EMIT_TEXT, .ascii = true };
	char *out CLEANUP_PTR(free);

	all[0].limit_label = all[1].limit_label = "x";
	all[0].speedup = 1;
	all[1].speedup = 5.0 / 6;
	out = print(&p, &o);
	assert_says(out, "5.00 us with one processor; more processors are not faster");
	free(out);
	p.best = 1;
	all[1].speedup = 2;
	out = print(&p, &o);
	assert_says(out,
		    "fastest with 2 processors, 2 times as fast as with one (6.00 us instead of "
		    "5.00 us)");
	free(out);
	p.n = 1;
	p.best = 0;
	out = print(&p, &o);
	assert_says(out, "5.00 us with one processor\n");
}

/* The printed figures equal those of the simulation. */
static void test_figures(void **state)
{
	struct predict_facts facts = { .recorded_ns = 5, .before_ns = 5000000, .after_ns = 3000 };
	struct predictions p CLEANUP(predictions_free) = made(&facts);
	uint32_t alone = 0;

	/* The run began before its barrier threads, and ended after them. */
	for (uint32_t i = 0; i < p.nnotes; i++)
		alone += strstr(p.notes[i].text, "5.0 ms before the barrier threads began") &&
			 strstr(p.notes[i].text, "and 3.0 \xc2\xb5s after they had ended");
	assert_int_equal(alone, 1);
	assert_fields(&p, IS(n, 5), IS(recorded_ns, 5), IS(all[0].time_ns, p.serial_ns));
	for (uint32_t i = 0; i < p.n; i++) {
		uint64_t sum = 0;

		assert_close(p.all[i].speedup, p.all[i].efficiency * p.all[i].processors);
		assert_true(fabs(p.all[i].speedup * (double)p.all[i].time_ns / (double)p.serial_ns -
				 1) < 1e-6);
		assert_true(p.all[i].time_ns >= p.all[p.best].time_ns * 100 / 102);
		for (uint32_t k = 0; k < p.all[i].nphases; k++) {
			sum += p.all[i].phases[k].time_ns;
			assert_true(!k ||
				    p.all[i].phases[k].time_ns <= p.all[i].phases[k - 1].time_ns);
		}
		assert_true(sum + 4 > p.all[i].time_ns && sum < p.all[i].time_ns + 4);
	}
}

/*
 * Two recordings with different numbers of threads form one curve. Common assumptions are printed
 * once.
 */
static void test_joined(void **state)
{
	static const char *const names[] = { "eight.sbt", "four.sbt" };
	struct predict_facts facts[2] = { { .recorded_ns = 5, .lock_ns = 7 },
					  { .recorded_ns = 5 } };
	struct predictions of[2] = { made(&facts[0]), made(&facts[1]) }, all;
	struct emit_options o = { .format = EMIT_TEXT, .ascii = true };
	uint32_t moved = 0, threads = 0, locks = 0;
	char *out;

	for (uint32_t i = 0; i < of[1].n; i++)
		of[1].all[i].threads = 4;
	of[1].serial_ns *= 2;
	assert_int_equal(predictions_join(of, names, 2, &all), 0);
	assert_fields(&all, IS(n, 10), IS(recordings, 2), IS(serial_ns, of[1].serial_ns));
	for (uint32_t i = 0; i < all.n; i++) {
		assert_fields(&all.all[i], TEXT(recording, names[i < 5]),
			      CLOSE(speedup, (double)all.serial_ns / (double)all.all[i].time_ns));
	}
	for (uint32_t i = 0; i < all.nnotes; i++) {
		moved += strstr(all.notes[i].text, "Barriers follow the model") != NULL;
		threads += strstr(all.notes[i].text, "that crossed barriers") != NULL;
		locks +=
			!strncmp(all.notes[i].text, "eight.sbt: Threads waited 7 ns for locks", 40);
	}
	assert_int_equal(moved, 1);
	assert_int_equal(threads, 1);
	assert_int_equal(locks, 1);
	out = print(&all, &o);
	assert_says(out, "eight.sbt", "four.sbt");
	free(out);
	predictions_free(&all);
	predictions_free(&of[0]);
	predictions_free(&of[1]);
}

/* CSV has exactly these columns, and no formulas. */
static void test_csv(void **state)
{
	struct predict_facts facts = { .computing_ns = 1 };
	struct emit_options o = { .format = EMIT_CSV };
	struct predictions p CLEANUP(predictions_free) = made(&facts);
	char *out CLEANUP_PTR(free) = print(&p, &o);

	assert_ptr_equal(
		strstr(out, "type,machine,processors,threads,barrier_model,time_ns,speedup"), out);
	assert_lacks(out, "blocked_ns");
	assert_says(out, "\nprediction.phase,", "\"'=cmd()");
}

static void test_machine(void **state)
{
	struct predict_machine m = machine("cm5", NULL), back = machine("laptop", NULL);
	struct emit_options o = { .format = EMIT_TEXT };
	const struct predict_param *param;
	char *out CLEANUP_PTR(free) = NULL, why[256] = "";
	size_t len;
	FILE *f = open_memstream(&out, &len);
	struct emit *emit = emit_new(f, &o);

	emit_machine(emit, &m, "what it is");
	assert_int_equal(emit_free(emit), 0);
	fclose(f);
	assert_ptr_equal(strstr(out, "# what it is\nmachine = cm5\n"), out);
	if (predict_machine_parse(&back, out, why, sizeof(why)))
		fail_msg("%s", why);
	assert_string_equal(back.name, "cm5");
	for (param = predict_params; param->name; param++)
		assert_close(predict_param_get(&m, param), predict_param_get(&back, param));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),	cmocka_unit_test(test_answers),
		cmocka_unit_test(test_figures), cmocka_unit_test(test_joined),
		cmocka_unit_test(test_csv),	cmocka_unit_test(test_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
