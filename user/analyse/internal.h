/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the files of this room share. Nobody else includes it. */
#ifndef ANALYSE_INTERNAL_H
#define ANALYSE_INTERNAL_H

#include <stddef.h>

#include "analyse/report.h"

/* Fewer complete episodes than this are no ground for a verdict. */
#define VERDICT_LIVED  0.8 /* of T x n: below, threads come and go */
#define VERDICT_FEW    8
/* A loss below this share is called balanced. */
#define VERDICT_LITTLE 0.05

struct arena;

/* arena.c: all of a report's memory, released at once; zeroed. NULL when out of memory. */
struct arena *arena_new(void);
void arena_free(struct arena *a);
void *arena_alloc(struct arena *a, size_t size);
char *arena_string(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* name.c */
struct name_table {
	uint32_t n;
	uint32_t *ids; /* by barrier: the number in its id */
};

int name_ids(struct arena *a, const struct model *m, const struct report_env *env, uint32_t n,
	     struct name_table *out);
int name_barrier(struct arena *a, const struct model *m, const struct report_env *env,
		 const struct name_table *ids, uint32_t index, struct report_barrier *out);
/* Puts @src, made printable, into dst[size]; cut between characters, with "..." then. */
void name_copy(char *dst, size_t size, const char *src);

/* efficiency.c */
struct efficiency_sums {
	uint64_t n;
	uint64_t sum_ns, max_ns; /* of u_i */
	uint64_t ideal_ns, elapsed_ns;
};

struct report_efficiency efficiency_of(const struct efficiency_sums *s);
void efficiency_losses(const struct report_efficiency *e, double *lost_static,
		       double *lost_rotating, double *lost_transfer);
/* *load_balance and *serialisation of a barrier, from the work of its threads. */
void efficiency_barrier(const struct model_barrier *b, double *load_balance, double *serialisation);

/* verdict.c */
void verdict_barrier(struct report_barrier *b);
/* @top: where the process loses most, and @share how much of its waiting is there; NULL: nowhere. */
void verdict_process(struct report_process *p, const struct report_barrier *top, double share);

#endif /* ANALYSE_INTERNAL_H */
