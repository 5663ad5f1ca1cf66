// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "ingest/spin_suspects.h"

/*
 * A thread may have waited by spinning if it lived at least this long and was busy for this share
 * of its life.
 */
#define SPIN_SUSPECTS_LEAST_NS 5000000ULL
#define SPIN_SUSPECTS_PERCENT  80
#define SPIN_SUSPECTS_MOST     65536

void spin_suspects_free(struct spin_suspects *b)
{
	hash_free(&b->threads);
}

void spin_suspects_note(struct spin_suspects *b, uint32_t tgid, uint32_t tid, uint64_t life_ns,
			uint64_t busy_ns)
{
	uint64_t key = (uint64_t)tgid << 32 | tid;

	if (life_ns < SPIN_SUSPECTS_LEAST_NS || busy_ns < life_ns / 100 * SPIN_SUSPECTS_PERCENT)
		hash_del(&b->threads, key);
	else if (hash_count(&b->threads) < SPIN_SUSPECTS_MOST)
		hash_put(&b->threads, key, 1);
}

/* Forget threads that took part in an episode, because they wait at a known barrier. */
static void forget_crossed(struct spin_suspects *b, const struct model *model)
{
	uint32_t i, n = model_nthreads(model);

	for (i = 0; i < n; i++) {
		const struct model_thread *t = model_thread(model, i);

		if (t->proc != MODEL_NONE && t->crossings)
			hash_del(&b->threads,
				 (uint64_t)model_proc(model, t->proc)->tgid << 32 | t->tid);
	}
}

uint32_t spin_suspects_most(struct spin_suspects *b, const struct model *model, uint32_t *tgid)
{
	const struct hash_entry *e;
	struct hash_entry zero;
	struct hash sums = { 0 };
	uint64_t most = 0, n;
	size_t pos = 0;

	forget_crossed(b, model);
	while ((e = hash_next(&b->threads, &pos, &zero))) {
		n = 0;
		hash_get(&sums, e->key >> 32, &n);
		if (hash_put(&sums, e->key >> 32, n + 1))
			break;
		if (n + 1 <= most)
			continue;
		most = n + 1;
		*tgid = (uint32_t)(e->key >> 32);
	}
	hash_free(&sums);
	return (uint32_t)most;
}
