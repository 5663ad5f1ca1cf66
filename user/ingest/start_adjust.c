// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "base/number.h"
#include "ingest/start_adjust.h"

void start_adjust_free(struct start_adjust *b)
{
	hash_free(&b->held);
	hash_free(&b->later);
}

static bool is_held(const struct sbt_event *e)
{
	return (e->type == SBT_REC_EXEC || e->type == SBT_REC_MAP || e->type == SBT_REC_OUTLINED ||
		e->type == SBT_REC_COPY) &&
	       e->flags & SBT_EVENT_HELD;
}

static uint64_t thread_key(uint32_t inc, uint32_t tid)
{
	return (uint64_t)inc << 32 | tid;
}

int start_adjust_fed(struct start_adjust *b, struct model *model, const struct sbt_event *e)
{
	uint32_t thread = model_find_thread(model, e->tgid, e->inc, e->tgid);
	uint64_t key = thread_key(e->inc, e->tgid), ns, all = 0;
	const struct model_thread *t;
	uint64_t start;
	int err;

	/* Wait until both the start of the process and the time of its stop are known. */
	if (thread == MODEL_NONE || !hash_get(&b->held, e->tgid, &ns))
		return 0;
	hash_del(&b->held, e->tgid);
	t = model_thread(model, thread);
	if (!t->start_seen || t->crossings)
		return 0;
	start = t->start_ns + ns;
	hash_get(&b->later, key, &all);
	err = hash_put(&b->later, key, all + ns);
	if (!err)
		err = model_add_process(model, e->tgid, e->inc, 0, 0, start, true, NULL);
	return err ? err : model_add_thread(model, e->tgid, e->inc, e->tgid, start);
}

int start_adjust_held(struct start_adjust *b, struct model *model, const struct sbt_event *e,
		      uint64_t resumed_ns)
{
	uint64_t ns = 0;
	int err;

	if (!is_held(e) || resumed_ns <= e->t_ns)
		return 0;
	hash_get(&b->held, e->tgid, &ns);
	err = hash_put(&b->held, e->tgid, ns + resumed_ns - e->t_ns);
	return err ? err : start_adjust_fed(b, model, e);
}

static void block_shorten(struct model_block *b, uint64_t ns)
{
	if (b->reason != MODEL_BLOCKED_OTHER || b->at.other != MODEL_OTHER_STOPPED || !b->ns)
		return;
	b->ns = number_less(b->ns, ns);
	if (!b->ns)
		*b = (struct model_block){ 0 };
}

void start_adjust_forget(struct start_adjust *b, uint32_t inc, uint32_t tid)
{
	if (hash_count(&b->later))
		hash_del(&b->later, thread_key(inc, tid));
}

void start_adjust_take_off(const struct start_adjust *b, uint32_t inc, uint32_t tid,
			   struct model_detail *d)
{
	uint64_t ns;

	if (!d || !hash_count(&b->later) || !hash_get(&b->later, thread_key(inc, tid), &ns))
		return;
	d->blocked_ns[MODEL_BLOCKED_OTHER] = number_less(d->blocked_ns[MODEL_BLOCKED_OTHER], ns);
	block_shorten(&d->block, ns);
	block_shorten(&d->second, ns);
}
