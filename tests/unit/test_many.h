/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* A constructed series of recordings. Include this file after cmocka.h. */
#ifndef TEST_MANY_H
#define TEST_MANY_H

#include "compare/series.h"
#include "test_recordings.h"

#define INPUTS 16

struct many {
	struct recording *r;
	struct series_input in[INPUTS];
	uint32_t n;
	struct series s;
};

static inline struct many *many_new(void)
{
	struct many *t = calloc(1, sizeof(*t));

	t->r = calloc(INPUTS, sizeof(*t->r));
	return t;
}

static inline struct recording *many_add(struct many *t, const char *label, uint64_t ms)
{
	struct recording *r = &t->r[t->n];

	recording_init(r);
	if (ms)
		recording_process(r, "a", ms * MS);
	t->in[t->n++] = (struct series_input){ .report = &r->report, .label = label };
	return r;
}

static inline void many_build(struct many *t, enum series_base base, const char *label)
{
	struct series_options o = { .base = base, .base_label = label };

	assert_int_equal(series_build(t->in, t->n, &o, &t->s), 0);
}

static inline void many_free(struct many *t)
{
	series_free(&t->s);
	free(t->r);
	free(t);
}

DEFINE_CLEANUP_PTR(many_free, struct many *)

#endif /* TEST_MANY_H */
