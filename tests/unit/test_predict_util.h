/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Helpers for the tests of the prediction. */
#ifndef TEST_PREDICT_UTIL_H
#define TEST_PREDICT_UTIL_H

#include <stdio.h>
#include <string.h>
#include <errno.h>

#include "test_check.h"
#include "test_predict_gen.h"

static inline struct predict_machine machine(const char *name, const char *const *settings)
{
	struct predict_machine m;
	char why[256] = "";

	assert_int_equal(predict_machine_find(name, &m), 0);
	for (; settings && *settings; settings++)
		if (predict_machine_set(&m, *settings, why, sizeof(why)))
			fail_msg("%s: %s", *settings, why);
	return m;
}

#define MACHINE(name, ...) machine(name, (const char *const[]){ __VA_ARGS__, NULL })

static inline struct predict_run simulate(const struct predict_input *in,
					  const struct predict_machine *m, uint32_t processors)
{
	struct predict_run run;

	assert_int_equal(predict_simulate(in, m, processors, NULL, NULL, &run), 0);
	return run;
}

/* Return the predicted time (ns) of the input on this machine with @processors processors. */
static inline double time_on(const struct predict_input *in, const struct predict_machine *m,
			     uint32_t processors)
{
	struct predict_run run = simulate(in, m, processors);
	double t = run.time_ns;

	predict_run_free(&run);
	return t;
}

/* Return the predicted time of a recording with @n threads on @n processors. */
static inline double time_of(const struct gen_benchmark *b, uint32_t n,
			     const struct predict_machine *m)
{
	struct predict_input in;
	double t;

	assert_int_equal(b->make(n, &in), 0);
	t = time_on(&in, m, n);
	predict_input_free(&in);
	return t;
}

#endif /* TEST_PREDICT_UTIL_H */
