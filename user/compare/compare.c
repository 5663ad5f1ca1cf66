// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "compare/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "compare/compare_internal.h"
#include "analyse/internal.h"
#include "analyse/places.h"

#define FUNCTIONS_MOST 8 /* functions of a site and a report that are compared */

/* --- rows ------------------------------------------------------------------------------------- */

struct comparing {
	struct compare *c;
	const struct compare_options *o;
	const void **in; /* indexed by report: the row's report, process or barrier; NULL if none */
	double *values; /* indexed by report; NAN if unknown */
	const struct batches_times **batches; /* indexed by report; NULL if none */
	bool *found; /* indexed as options.quantities: a row has this quantity */
	uint32_t cap; /* capacity of c->rows */
};

/*
 * The run, group, process or site to which several rows belong. Each row begins as a copy of .base.
 */
struct subject {
	struct compare_row base;
	const struct report_counter *(*counters)(const void *in, uint32_t *n);
};

static bool is_called(const char *word, const char *name)
{
	size_t n = strlen(word);

	return !strncmp(word, name, n) && (!name[n] || !strcmp(name + n, "_ns"));
}

static bool is_wanted(struct comparing *k, const struct compare_row *row)
{
	bool wanted = !k->o->nquantities;
	const char *word;
	uint32_t i;

	for (i = 0; i < k->o->nquantities; i++) {
		word = k->o->quantities[i];
		if (!(row->counter && !strcmp(word, "counters")) &&
		    !(row->function && !strcmp(word, "functions")) &&
		    !(row->unit == COMPARE_RATIO && !strcmp(word, "efficiency")) &&
		    !is_called(word, row->quantity))
			continue;
		k->found[i] = true;
		wanted = true;
	}
	return wanted;
}

/* Return the index of a side's first known value. */
static uint32_t first_known(const struct comparing *k, uint32_t from, uint32_t n)
{
	uint32_t i;

	for (i = from; i + 1 < from + n && !isfinite(k->values[i]); i++)
		;
	return i;
}

/* Add the row of k->values if it is wanted and at least one value is known. Return 0 or -ENOMEM. */
static int row_make(struct comparing *k, const struct subject *s, const struct compare_quantity *q,
		    bool counter)
{
	struct compare *c = k->c;
	struct compare_evidence e = { .a = stats_of(k->values, c->a.n),
				      .b = stats_of(k->values + c->a.n, c->b.n) };
	struct compare_row row = s->base;

	if (e.a.n == 1 && e.b.n == 1) {
		e.batches_a = k->batches[first_known(k, 0, c->a.n)];
		e.batches_b = k->batches[first_known(k, c->a.n, c->b.n)];
	}
	row.quantity = q->name;
	row.words = q->words ? q->words : q->name;
	row.unit = q->unit;
	row.counter = counter;
	row.gate = q->gate;
	if ((!e.a.n && !e.b.n) || !is_wanted(k, &row))
		return 0;
	row.runs_a = e.a.n;
	row.runs_b = e.b.n;
	row.a = e.a.mean;
	row.b = e.b.mean;
	row.stddev_a = e.a.stddev;
	row.stddev_b = e.b.stddev;
	row.difference = row.b - row.a;
	row.ratio = row.a > 0 ? row.b / row.a : NAN;
	compare_test_row(&row, &e, c->confidence, c->fail_above);
	if (grow(c->rows, k->cap, c->nrows + 1))
		return -ENOMEM;
	c->rows[c->nrows++] = row;
	return 0;
}

static const struct batches_times *batches_of(const struct comparing *k, uint32_t i,
					      enum compare_batches which)
{
	const struct batches *all = k->o->batches ? k->o->batches[i] : NULL;
	const struct report_barrier *b = k->in[i];

	if (!all || which == COMPARE_NO_BATCHES || b->index >= all->n)
		return NULL;
	return which == COMPARE_PHASE_BATCHES ? &all->barriers[b->index].phase
					      : &all->barriers[b->index].within;
}

static int rows_quantities(struct comparing *k, const struct subject *s,
			   const struct compare_quantity *q)
{
	uint32_t i;
	int err = 0;

	for (; !err && q->name; q++) {
		for (i = 0; i < k->c->match.nreports; i++) {
			k->values[i] = k->in[i] ? q->of(k->in[i]) : NAN;
			k->batches[i] = k->in[i] ? batches_of(k, i, q->batches) : NULL;
		}
		err = row_make(k, s, q, false);
	}
	return err;
}

/* --- counters --------------------------------------------------------------------------------- */

static const struct report_counter *site_counters(const void *in, uint32_t *n)
{
	const struct report_barrier *b = in;

	*n = b->ncounters;
	return b->counters;
}

static const struct report_counter *process_counters(const void *in, uint32_t *n)
{
	const struct report_process *p = in;

	*n = p->ncounters;
	return p->counters;
}

static double counter_value(const struct subject *s, const void *in, const char *name)
{
	const struct report_counter *c;
	uint32_t n, i;

	if (!in)
		return NAN;
	c = s->counters(in, &n);
	for (i = 0; i < n; i++)
		if (c[i].name && !strcmp(c[i].name, name))
			return c[i].value == REPORT_UNKNOWN ? NAN : (double)c[i].value;
	return NAN;
}

/*
 * Return whether a counter with this name comes before counter @n of report @r, in that report or
 * in an earlier one.
 */
static bool counter_before(const struct comparing *k, const struct subject *s, uint32_t r,
			   uint32_t n, const char *name)
{
	const struct report_counter *c;
	uint32_t i, j, count;

	for (i = 0; i <= r; i++) {
		if (!k->in[i])
			continue;
		c = s->counters(k->in[i], &count);
		for (j = 0; j < (i == r ? n : count); j++)
			if (c[j].name && !strcmp(c[j].name, name))
				return true;
	}
	return false;
}

static int rows_counters(struct comparing *k, const struct subject *s)
{
	const struct report_counter *c;
	uint32_t r, i, j, n;
	int err = 0;

	for (r = 0; !err && r < k->c->match.nreports; r++) {
		c = k->in[r] ? s->counters(k->in[r], &n) : NULL;
		for (i = 0; !err && c && i < n; i++) {
			if (!c[i].name || counter_before(k, s, r, i, c[i].name))
				continue;
			for (j = 0; j < k->c->match.nreports; j++) {
				k->values[j] = counter_value(s, k->in[j], c[i].name);
				k->batches[j] = NULL;
			}
			err = row_make(k, s,
				       &(struct compare_quantity){ .name = c[i].name,
								   .unit = COMPARE_COUNT },
				       true);
		}
	}
	return err;
}

/* --- functions -------------------------------------------------------------------------------- */

/* Return whether a report before report @r has a function of report @r, too. */
static bool function_before(const struct comparing *k, uint32_t r, const struct report_function *f)
{
	bool unclear;
	uint32_t i;

	for (i = 0; i < r; i++)
		if (compare_function_in(k->in[r], k->in[i], f, &unclear))
			return true;
	return false;
}

/*
 * Add a row for a function of a site in report @r. A report with samples that do not include the
 * function has the value 0; if it is not clear which one it is, or if the report does not include
 * all functions, the value is unknown.
 */
static int row_function(struct comparing *k, const struct subject *s, uint32_t r,
			const struct report_function *f)
{
	const struct report_barrier *b;
	const struct report_function *in;
	struct subject one = *s;
	bool unclear, known;
	uint32_t i;

	one.base.function = f->function;
	for (i = 0; i < k->c->match.nreports; i++) {
		b = k->in[i];
		in = compare_function_in(k->in[r], b, f, &unclear);
		known = b && b->nfunctions && b->nfunctions < PLACES_FUNCTIONS && !unclear;
		k->values[i] = in ? in->oncpu_ns : known ? 0 : NAN;
		k->batches[i] = in ? &in->batches : NULL;
	}
	return row_make(k, &one,
			&(struct compare_quantity){
				.name = "function_ns", .words = f->function, .unit = COMPARE_NS },
			false);
}

static int rows_functions(struct comparing *k, const struct subject *s)
{
	const struct report_barrier *b;
	uint32_t r, i;
	int err = 0;

	for (r = 0; !err && r < k->c->match.nreports; r++) {
		b = k->in[r];
		for (i = 0; !err && b && i < b->nfunctions && i < FUNCTIONS_MOST; i++)
			if (b->functions[i].function && !function_before(k, r, &b->functions[i]))
				err = row_function(k, s, r, &b->functions[i]);
	}
	return err;
}

/* --- subjects --------------------------------------------------------------------------------- */

/* Return the first existing process or barrier of a side, or NULL. */
static const void *first_of(const struct comparing *k, uint32_t from, uint32_t n)
{
	uint32_t i;

	for (i = from; i < from + n; i++)
		if (k->in[i])
			return k->in[i];
	return NULL;
}

static enum compare_only only(const void *a, const void *b)
{
	return a && b ? COMPARE_BOTH : a ? COMPARE_ONLY_A : COMPARE_ONLY_B;
}

static void set_in(struct comparing *k, const void *const *in, size_t add)
{
	uint32_t i;

	for (i = 0; i < k->c->match.nreports; i++)
		k->in[i] = in[i] ? (const char *)in[i] + add : NULL;
}

static int rows_run(struct comparing *k, const struct report *const *a,
		    const struct report *const *b)
{
	const struct subject s = { .base = { .scope = COMPARE_RUN,
					     .site = EPISODE_MATCH_NONE,
					     .process = EPISODE_MATCH_NONE,
					     .how = EPISODE_MATCH_NOTHING,
					     .pid_a = UINT32_MAX,
					     .pid_b = UINT32_MAX } };
	uint32_t i;

	for (i = 0; i < k->c->a.n; i++)
		k->in[i] = a[i];
	for (i = 0; i < k->c->b.n; i++)
		k->in[k->c->a.n + i] = b[i];
	return rows_quantities(k, &s, compare_run_quantities);
}

/* Add the rows of the processes in k->in, which may stand for groups. Return 0 or -ENOMEM. */
static int rows_process(struct comparing *k, enum compare_scope scope, uint32_t slot)
{
	const struct report_process *a = first_of(k, 0, k->c->a.n);
	const struct report_process *b = first_of(k, k->c->a.n, k->c->b.n);
	const struct subject s = {
		.base = { .scope = scope,
			  .site = EPISODE_MATCH_NONE,
			  .process = slot,
			  .how = EPISODE_MATCH_NOTHING,
			  .pid_a = a ? a->pid : UINT32_MAX,
			  .pid_b = b ? b->pid : UINT32_MAX,
			  .comm = a   ? a->comm
				  : b ? b->comm
				      : NULL,
			  .only = only(a, b) },
		.counters = process_counters,
	};
	int err = rows_quantities(k, &s, compare_process_quantities);

	return err ? err : rows_counters(k, &s);
}

static int rows_site(struct comparing *k, uint32_t slot)
{
	const struct episode_match_site *site = &k->c->match.sites[slot];
	const struct report_barrier *a, *b, *one;
	struct subject s;
	int err;

	set_in(k, (const void *const *)site->in, 0);
	a = first_of(k, 0, k->c->a.n);
	b = first_of(k, k->c->a.n, k->c->b.n);
	one = a ? a : b;
	if (!one)
		return 0;
	s = (struct subject){
		.base = { .scope = COMPARE_BARRIER,
			  .site = slot,
			  .process = site->process,
			  .pid_a = a ? a->pid : UINT32_MAX,
			  .pid_b = b ? b->pid : UINT32_MAX,
			  .comm = one->comm,
			  .id = one->id,
			  .id_b = a && b && strcmp(a->id, b->id) != 0 ? b->id : NULL,
			  .label = one->label,
			  .how = a && b ? site->how : EPISODE_MATCH_NOTHING,
			  .only = only(a, b) },
		.counters = site_counters,
	};
	k->c->only_a += !b;
	k->c->only_b += !a;
	k->c->moved += a && b && site->how != EPISODE_MATCH_ID;
	err = rows_quantities(k, &s, compare_site_quantities);
	if (!err)
		err = rows_functions(k, &s);
	return err ? err : rows_counters(k, &s);
}

static double sum_phases(const struct episode_match_site *s, uint32_t from, uint32_t n)
{
	double sum = 0, known = 0;
	uint32_t i;

	for (i = from; i < from + n; i++) {
		if (!s->in[i] || !s->in[i]->phase_ns.n)
			continue;
		sum += (double)s->in[i]->phase_ns.sum;
		known++;
	}
	return known > 0 ? sum / known : 0;
}

/* A site, and the change of its phase time (its phase time, if only one side has the site). */
struct weighted {
	double by;
	uint32_t slot;
};

static int by_weight(const void *x, const void *y)
{
	const struct weighted *a = x, *b = y;

	if (a->by != b->by)
		return NUMBER_COMPARE(b->by, a->by);
	return NUMBER_COMPARE(a->slot, b->slot);
}

static int rows_sites(struct comparing *k)
{
	const struct episode_match *m = &k->c->match;
	struct weighted *order = calloc(m->nsites ? m->nsites : 1, sizeof(*order));
	uint32_t na = k->c->a.n, i;
	int err = order ? 0 : -ENOMEM;

	for (i = 0; !err && i < m->nsites; i++)
		order[i] = (struct weighted){ fabs(sum_phases(&m->sites[i], na, k->c->b.n) -
						   sum_phases(&m->sites[i], 0, na)),
					      i };
	if (!err)
		qsort(order, m->nsites, sizeof(*order), by_weight);
	for (i = 0; !err && i < m->nsites; i++)
		err = rows_site(k, order[i].slot);
	free(order);
	return err;
}

static int rows_all(struct comparing *k, const struct report *const *a,
		    const struct report *const *b)
{
	const struct episode_match *m = &k->c->match;
	int err = rows_run(k, a, b);
	uint32_t i;

	for (i = 0; !err && i < m->ngroups; i++) {
		set_in(k, (const void *const *)m->groups[i].in, offsetof(struct report_group, all));
		err = rows_process(k, COMPARE_GROUP, m->groups[i].process);
	}
	for (i = 0; !err && i < m->nprocesses; i++) {
		set_in(k, (const void *const *)m->processes[i].in, 0);
		err = rows_process(k, COMPARE_PROCESS, i);
	}
	return err ? err : rows_sites(k);
}

/* --- the comparison --------------------------------------------------------------------------- */

static void side_fill(struct compare_side *s, const struct report *const *reports, uint32_t n)
{
	double sum = 0, known = 0, t;
	uint32_t i;

	s->n = n;
	for (i = 0; i < n; i++) {
		s->lossy += !reports[i]->lossless;
		t = compare_elapsed(reports[i]);
		if (!isfinite(t))
			continue;
		sum += t;
		known++;
	}
	s->elapsed_ns = known > 0 ? sum / known : NAN;
}

static int match_both(struct episode_match *m, const struct report *const *a, uint32_t na,
		      const struct report *const *b, uint32_t nb)
{
	const struct report **all = calloc((size_t)na + nb + 1, sizeof(void *));
	int err = -ENOMEM;

	if (!all)
		return err;
	memcpy(all, a, na * sizeof(void *));
	memcpy(all + na, b, nb * sizeof(void *));
	err = episode_match_reports(all, na + nb, m);
	free(all);
	return err;
}

int compare_reports(const struct report *const *a, uint32_t na, const struct report *const *b,
		    uint32_t nb, const struct compare_options *o, struct compare *out)
{
	struct comparing k = { .c = out, .o = o };
	uint32_t i;
	int err;

	memset(out, 0, sizeof(*out));
	out->confidence = o->confidence;
	out->fail_above = o->fail_above;
	side_fill(&out->a, a, na);
	side_fill(&out->b, b, nb);
	err = match_both(&out->match, a, na, b, nb);
	if (err)
		return err;
	k.in = calloc((size_t)na + nb + 1, sizeof(*k.in));
	k.values = calloc((size_t)na + nb + 1, sizeof(*k.values));
	k.batches = calloc((size_t)na + nb + 1, sizeof(void *));
	k.found = calloc(o->nquantities + 1, sizeof(*k.found));
	err = k.in && k.values && k.batches && k.found ? rows_all(&k, a, b) : -ENOMEM;
	if (!err)
		err = compare_classify(out, o);
	for (i = 0; !err && !out->unknown && i < o->nquantities; i++)
		if (!k.found[i])
			out->unknown = o->quantities[i];
	free(k.in);
	free(k.values);
	free(k.batches);
	free(k.found);
	if (err)
		compare_free(out);
	return err;
}

void compare_free(struct compare *c)
{
	episode_match_free(&c->match);
	free(c->rows);
	memset(c, 0, sizeof(*c));
}
