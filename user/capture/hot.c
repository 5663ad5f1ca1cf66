// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "capture/hot.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/msg.h"

#define PAUSE_NS  SBT_LOOKS_NS
/*
 * If a process has a candidate barrier, this number of reports that its probes are hot is ignored.
 */
#define HOPES_MAX 4

/* The kind of probes that are hot. */
enum hot_kind { HOT_CONDS, HOT_TURNS, HOT_SEMS, HOT_KINDS };

struct hot_probes {
	uint64_t reported_ns; /* time of the first report that was not acted on; 0: none */
	uint64_t since_ns; /* when the probes were removed; 0: they are attached */
	uint64_t paused_ns; /* sum of earlier pauses */
	uint64_t pause_ns; /* length of the current pause */
	bool kept; /* the probes stay attached, because they cannot be removed */
};

struct hot_process {
	uint32_t tgid, inc;
	struct hot_probes probes[HOT_KINDS];
	/*
	 * number of hits that were no crossings, set when the process ends; 0: it still runs, or
	 * had no such hits
	 */
	uint64_t looks;
	uint32_t hopes;
};

struct hot {
	struct attach *attach;
	struct tracker *tracker;
	struct ingest *ingest;
	struct hash by_process; /* key_of() -> struct hot_process */
	struct hot_process **active; /* running processes */
	uint32_t nactive, cap_active;
	uint32_t *tgids; /* scratch memory for `nactive` entries */
	uint32_t cap_tgids;
	uint64_t fed_ns; /* all events up to this time have been processed */
	int verbose;
};

static uint64_t key_of(uint32_t tgid, uint32_t inc)
{
	return (uint64_t)inc << 32 | tgid;
}

struct hot *hot_new(struct attach *attach, struct tracker *tracker, struct ingest *ingest,
		    int verbose)
{
	struct hot *h = calloc(1, sizeof(*h));

	if (h)
		*h = (struct hot){
			.attach = attach, .tracker = tracker, .ingest = ingest, .verbose = verbose
		};
	return h;
}

void hot_free(struct hot *h)
{
	if (!h)
		return;
	hash_free_ptrs(&h->by_process);
	free(h->active);
	free(h->tgids);
	free(h);
}

static struct hot_process *process_get(struct hot *h, const struct sbt_event *e)
{
	uint64_t key = key_of(e->tgid, e->inc);
	struct hot_process *p = hash_get_ptr(&h->by_process, key);

	if (p)
		return p;
	if (grow(h->active, h->cap_active, h->nactive + 1) ||
	    grow(h->tgids, h->cap_tgids, h->nactive + 1))
		return NULL;
	p = hash_new_ptr(&h->by_process, key, sizeof(*p));
	if (!p)
		return NULL;
	p->tgid = e->tgid;
	p->inc = e->inc;
	h->active[h->nactive++] = p;
	return p;
}

static void pause_over(struct hot_probes *p, uint64_t now_ns)
{
	if (p->since_ns && now_ns > p->since_ns)
		p->paused_ns += now_ns - p->since_ns;
	p->since_ns = 0;
}

static void drop_active(struct hot *h, const struct hot_process *p)
{
	uint32_t i;

	for (i = 0; i < h->nactive; i++)
		if (h->active[i] == p)
			h->active[i--] = h->active[--h->nactive];
}

static void leave(struct hot *h, struct hot_process *p, uint64_t t_ns)
{
	array_for_each (probe, p->probes, HOT_KINDS)
		pause_over(probe, t_ns);
	drop_active(h, p);
}

/* Handle an exec: the old program's probes are gone. */
static void on_exec(struct hot *h, const struct sbt_event *e)
{
	uint32_t i;

	for (i = 0; i < h->nactive; i++)
		if (h->active[i]->tgid == e->tgid && h->active[i]->inc != e->inc) {
			leave(h, h->active[i], e->t_ns);
			return;
		}
}

static enum hot_kind kind_of(uint8_t role)
{
	switch (role) {
	case SBT_ROLE_TURN:
		return HOT_TURNS;
	case SBT_ROLE_SEM_WAIT:
		return HOT_SEMS;
	default:
		return HOT_CONDS;
	}
}

int hot_event(struct hot *h, const struct sbt_event *e)
{
	struct hot_probes *of;
	struct hot_process *p;

	if (!h)
		return 0;
	if (e->type == SBT_REC_EXEC)
		on_exec(h, e);
	if (e->type == SBT_REC_HOT) {
		p = process_get(h, e);
		if (!p)
			return -ENOMEM;
		of = &p->probes[kind_of(e->role)];
		of->reported_ns = of->reported_ns ? of->reported_ns : e->t_ns;
	}
	if (e->type == SBT_REC_EXIT && e->flags & SBT_EVENT_LEADER && e->looks) {
		p = process_get(h, e);
		if (!p)
			return -ENOMEM;
		p->looks = e->looks;
		leave(h, p, e->t_ns);
	}
	return 0;
}

/* Return whether the process's probes on condition variables must be removed. */
static bool is_hopeless(struct hot *h, struct hot_process *p)
{
	enum discover_hope hope = discover_hope(ingest_discover(h->ingest), p->tgid, p->inc);

	if (hope == DISCOVER_HOPE_BARRIER)
		return false;
	if (hope == DISCOVER_HOPE_SOME && p->hopes < HOPES_MAX) {
		p->hopes++;
		return false;
	}
	return true;
}

static int rest(struct hot *h, const struct hot_process *p, enum hot_kind kind, bool on)
{
	switch (kind) {
	case HOT_TURNS:
		return tracker_rest_turns(h->tracker, p->tgid, p->inc, on);
	case HOT_SEMS:
		return tracker_rest_sems(h->tracker, p->tgid, p->inc, on);
	default:
		return tracker_rest(h->tracker, p->tgid, p->inc, on);
	}
}

static bool begin_pause(struct hot *h, struct hot_process *p, enum hot_kind kind, uint64_t now_ns)
{
	static const char *const why[] = {
		[HOT_CONDS] = "its uses of condition variables are frequent, and are no barriers",
		[HOT_TURNS] = "its waits for turns are frequent and short",
		[HOT_SEMS] = "its uses of semaphores are frequent",
	};
	struct hot_probes *of = &p->probes[kind];
	int err;

	/*
	 * Barriers are only known after all events up to the time of the report have been
	 * processed.
	 */
	if (!of->reported_ns || (kind == HOT_CONDS && of->reported_ns > h->fed_ns))
		return false;
	of->reported_ns = 0;
	if (of->since_ns || of->kept || (kind == HOT_CONDS && !is_hopeless(h, p)))
		return false;
	err = rest(h, p, kind, true);
	if (err) {
		of->kept = err != -ENOENT && err != -ESRCH;
		return false;
	}
	msg_verbose(h->verbose, "process %u: %s: the probes on them are paused", p->tgid,
		    why[kind]);
	of->since_ns = now_ns;
	/*
	 * After the first pause, the data on turns and semaphores is incomplete anyway, so each of
	 * their further pauses is twice as long as the last.
	 */
	of->pause_ns = kind != HOT_CONDS && of->pause_ns ? 2 * of->pause_ns : PAUSE_NS;
	p->hopes = 0;
	return true;
}

static bool end_pause(struct hot *h, struct hot_process *p, enum hot_kind kind, uint64_t now_ns)
{
	struct hot_probes *of = &p->probes[kind];

	if (!of->since_ns || now_ns < of->since_ns + of->pause_ns)
		return false;
	/* After an error, try again later. The process may be ending, which is reported soon. */
	if (rest(h, p, kind, false))
		return false;
	pause_over(of, now_ns);
	return true;
}

/* Collect in h->tgids the processes that @change changed. Return their number. */
static uint32_t changed(struct hot *h, enum hot_kind kind, uint64_t now_ns,
			bool (*change)(struct hot *h, struct hot_process *p, enum hot_kind kind,
				       uint64_t now_ns))
{
	uint32_t i, n = 0;

	for (i = 0; i < h->nactive; i++)
		if (change(h, h->active[i], kind, now_ns))
			h->tgids[n++] = h->active[i]->tgid;
	return n;
}

static int step(struct hot *h, enum hot_kind kind, uint64_t now_ns)
{
	static const enum attach_waits_kind waits[] = {
		[HOT_CONDS] = ATTACH_WAITS_ALL,
		[HOT_TURNS] = ATTACH_WAITS_TURNS,
		[HOT_SEMS] = ATTACH_WAITS_SEMS,
	};
	uint32_t i, n = changed(h, kind, now_ns, begin_pause);
	int err = 0;

	if (n)
		err = attach_waits_remove(h->attach, h->tgids, n, waits[kind]);
	for (i = 0; i < h->nactive && n && kind == HOT_CONDS; i++)
		if (h->active[i]->probes[kind].since_ns == now_ns)
			ingest_pause(h->ingest, h->active[i]->tgid, h->active[i]->inc);
	if (err)
		return err;
	n = changed(h, kind, now_ns, end_pause);
	return n && kind == HOT_CONDS
		       ? attach_waits_remove(h->attach, h->tgids, n, ATTACH_WAITS_JOINS)
		       : 0;
}

int hot_step(struct hot *h, uint64_t now_ns, uint64_t fed_ns)
{
	int err = 0;
	unsigned k;

	if (h)
		h->fed_ns = fed_ns;
	for (k = 0; h && k < HOT_KINDS && !err; k++)
		err = step(h, (enum hot_kind)k, now_ns);
	return err;
}

uint64_t hot_reported_ns(const struct hot *h)
{
	uint64_t first = 0, reported;
	uint32_t i, k;

	for (i = 0; h && i < h->nactive; i++)
		for (k = 0; k < HOT_KINDS; k++) {
			reported = h->active[i]->probes[k].reported_ns;
			if (reported && (!first || reported < first))
				first = reported;
		}
	return first;
}

int hot_fold(struct hot *h, const struct hot_name *from, const struct hot_name *into)
{
	struct hot_process *p = hash_get_ptr(&h->by_process, key_of(from->tgid, from->inc)), *sum;
	uint32_t i;

	if (!p)
		return 0;
	hash_del(&h->by_process, key_of(from->tgid, from->inc));
	drop_active(h, p);
	sum = hash_get_ptr(&h->by_process, key_of(into->tgid, into->inc));
	if (sum) {
		sum->looks += p->looks;
		for (i = 0; i < HOT_KINDS; i++)
			sum->probes[i].paused_ns += p->probes[i].paused_ns;
		free(p);
		return 0;
	}
	p->tgid = into->tgid;
	p->inc = into->inc;
	return hash_put_ptr(&h->by_process, key_of(into->tgid, into->inc), p);
}

uint64_t hot_looks(const struct hot *h, uint32_t tgid, uint32_t inc)
{
	const struct hot_process *p;

	if (!h)
		return 0;
	p = hash_get_ptr(&h->by_process, key_of(tgid, inc));
	return p && p->looks ? p->looks : attach_looks(h->attach, tgid, inc);
}

uint64_t hot_paused_ns(const struct hot *h, uint32_t tgid, uint32_t inc, uint64_t until_ns)
{
	const struct hot_process *p = h ? hash_get_ptr(&h->by_process, key_of(tgid, inc)) : NULL;
	const struct hot_probes *conds = p ? &p->probes[HOT_CONDS] : NULL;

	if (!conds)
		return 0;
	return conds->paused_ns +
	       (conds->since_ns && until_ns > conds->since_ns ? until_ns - conds->since_ns : 0);
}
