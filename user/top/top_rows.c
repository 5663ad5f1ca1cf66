// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Make the rows of the screen from the rates. */
#include "top/top_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "sites/family.h"
#include "target/proc.h"

static int keep_name(void *ctx, const struct report_barrier *barrier)
{
	struct top *t = ctx;
	struct top_name *name;

	if (grow(t->names, t->cap_names, t->nnames + 1))
		return -ENOMEM;
	name = &t->names[t->nnames++];
	name->label = strdup(barrier->label);
	name->id = strdup(barrier->id);
	return name->label && name->id ? 0 : -ENOMEM;
}

/*
 * Return the name of a thread. Read it only when it is needed, since most threads are never shown.
 */
static const char *thread_comm(struct top *t, uint32_t index)
{
	const struct model_thread *th = model_thread(t->view.model, index);
	const struct model_proc *p = model_proc(t->view.model, th->proc);
	char comm[16];

	if (!*th->comm && !th->exited && !proc_comm((int)p->tgid, (int)th->tid, comm))
		model_name_thread(t->view.model, p->tgid, p->inc, th->tid, comm);
	return *th->comm ? th->comm : NULL;
}

static uint32_t thread_number(const struct model_thread *th)
{
	return th->place != MODEL_NONE ? th->place : th->ordinal;
}

static void format_last(struct top *t, const struct live_rates_row *row, char out[48])
{
	const struct model_thread *th = model_thread(t->view.model, row->last_thread);
	const struct model_proc *p = model_proc(t->view.model, th->proc);
	const char *comm = thread_comm(t, row->last_thread);
	uint32_t number = thread_number(th);

	if (row->barrier != MODEL_NONE && th->place != MODEL_NONE &&
	    family_has(model_barrier(t->view.model, row->barrier)->family, FAMILY_RANKS))
		snprintf(out, 48, "rank %u", number);
	else if (number == MODEL_NONE)
		snprintf(out, 48, "thread %u", th->tid);
	else if (!comm || !strcmp(comm, p->comm))
		snprintf(out, 48, "thread %u", number);
	else
		snprintf(out, 48, "%u %s", number, comm);
}

static int new_item(struct top *t, struct screen_item **item, struct top_words **words)
{
	if (grow(t->items, t->cap_items, t->nitems + 1) ||
	    grow(t->words, t->cap_words, t->nitems + 1))
		return -ENOMEM;
	*item = &t->items[t->nitems];
	*words = &t->words[t->nitems++];
	memset(*item, 0, sizeof(**item));
	memset(*words, 0, sizeof(**words));
	return 0;
}

/* Set the string pointers after the last row was added. Until then the strings may move. */
static void point_at_words(struct top *t)
{
	uint32_t i;

	for (i = 0; i < t->nitems; i++) {
		if (*t->words[i].last)
			t->items[i].last = t->words[i].last;
		if (*t->words[i].name)
			t->items[i].name = t->words[i].name;
	}
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

static int add_row(struct top *t, const struct live_rates_row *row, bool process)
{
	const struct model_proc *p = model_proc(t->view.model, row->proc);
	struct screen_item *it;
	struct top_words *w;
	int err = new_item(t, &it, &w);

	if (err)
		return err;
	*it = (struct screen_item){
		.kind = process ? SCREEN_PROCESS : SCREEN_BARRIER,
		.key = row->key,
		.process = 1ULL << 63 | row->proc,
		.pid = p->tgid,
		.comm = *p->comm ? p->comm : NULL,
		.lost_ns = live_rates_per_second(t->live_rates, row->lost_ns),
		.rate = live_rates_per_second(t->live_rates, row->episodes + row->incomplete),
		.imbalance = live_rates_imbalance(row),
		.phase_ns = row->phase_n ? (double)row->phase_ns / (double)row->phase_n : NAN,
		.team = row->team,
		.waiting = row->waiting,
		.waiting_ns = row->waiting_ns,
		.exited = row->exited,
		.nested = row->nested,
		.cause_share = NAN,
		.last_share = NAN,
	};
	it->cause = live_rates_cause(row, &it->cause_share, &it->balanced);
	if (row->last_thread != MODEL_NONE) {
		format_last(t, row, w->last);
		it->last_share = share(row->last_count, row->episodes);
	}
	if (row->barrier != MODEL_NONE && row->barrier < t->nnames) {
		it->name = t->names[row->barrier].label;
		it->id = t->names[row->barrier].id;
	}
	return 0;
}

/*
 * Add the row of a barrier without departures. It has no name in the model yet, only a call site.
 */
static int add_unmet(struct top *t, const struct live_rates_row *row)
{
	struct top_words *w;
	int err = add_row(t, row, false);

	if (err || row->site == MODEL_NONE)
		return err;
	w = &t->words[t->nitems - 1];
	return report_site_label(run_facts_live_env(t->view.run_facts_live), row->site, w->name,
				 sizeof(w->name));
}

static int add_thread(struct top *t, const struct live_rates_row *row,
		      const struct live_rates_thread *th)
{
	const struct model_thread *m =
		th->thread == MODEL_NONE ? NULL : model_thread(t->view.model, th->thread);
	uint64_t known_ns = t->view.causes ? th->known_ns : 0;
	const char *comm = NULL;
	struct screen_item *it;
	char fresh[16];
	struct top_words *w;
	int err = new_item(t, &it, &w);

	if (err)
		return err;
	if (m)
		comm = thread_comm(t, th->thread);
	else if (!proc_comm((int)model_proc(t->view.model, row->proc)->tgid, (int)th->tid, fresh))
		comm = fresh;
	snprintf(w->name, sizeof(w->name), "%s", comm ? comm : "?");
	*it = (struct screen_item){
		.kind = SCREEN_THREAD,
		.key = (uint64_t)th->tid + 1,
		.tid = th->tid,
		.index = m ? thread_number(m) : UINT32_MAX,
		.lost_ns = live_rates_per_second(t->live_rates, th->lost_ns),
		.rate = live_rates_per_second(t->live_rates, th->crossings),
		.last_share = share(th->last, row->episodes),
		.waiting_ns = th->waiting_ns,
		.oncpu = share(th->oncpu_ns, known_ns),
		.runq = share(th->runq_ns, known_ns),
		.blocked = share(th->blocked_ns, known_ns),
		.imbalance = NAN,
		.phase_ns = NAN,
	};
	return 0;
}

static int add_threads(struct top *t)
{
	enum screen_kind kind;
	uint64_t key = screen_opened(t->screen, &kind);
	bool process = kind == SCREEN_PROCESS;
	uint32_t i, j,
		n = process ? live_rates_nprocesses(t->live_rates)
			    : live_rates_nbarriers(t->live_rates);
	int err = 0;

	t->opened_shown = key;
	t->why[0] = '\0';
	for (i = 0; i < n && key && !err; i++) {
		const struct live_rates_row *row = process ? live_rates_process(t->live_rates, i)
							   : live_rates_barrier(t->live_rates, i);

		if (row->key != key)
			continue;
		for (j = 0; j < row->nthreads && !err; j++)
			err = add_thread(t, row, &row->threads[j]);
		if (t->view.causes && row->barrier != MODEL_NONE)
			causes_sentence(t->view.causes, row->barrier, t->why, sizeof(t->why));
	}
	t->facts.why = *t->why ? t->why : NULL;
	return err;
}

int top_make_items(struct top *t)
{
	uint32_t i;
	int err = 0;

	if (t->nnames < model_nbarriers(t->view.model))
		err = report_barrier_names(t->view.model,
					   run_facts_live_env(t->view.run_facts_live), t->nnames,
					   keep_name, t);
	t->nitems = 0;
	for (i = 0; i < live_rates_nprocesses(t->live_rates) && !err; i++)
		err = add_row(t, live_rates_process(t->live_rates, i), true);
	for (i = 0; i < live_rates_nbarriers(t->live_rates) && !err; i++) {
		const struct live_rates_row *row = live_rates_barrier(t->live_rates, i);

		err = row->barrier == MODEL_NONE ? add_unmet(t, row) : add_row(t, row, false);
	}
	if (!err && t->drawn)
		err = add_threads(t);
	if (err)
		return err;
	point_at_words(t);
	return t->drawn ? screen_set(t->screen, &t->facts, t->items, t->nitems) : 0;
}
