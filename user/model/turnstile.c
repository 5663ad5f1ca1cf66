// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "model/turnstile.h"

#include <stdlib.h>

#include "base/hash.h"

#define OBJECTS_MAX   4096
/* maximum number of threads in a batch, and of threads counted for a semaphore */
#define THREADS_MAX   64
#define WAITS_MAX     256 /* after this number of waits on one semaphore, no more are needed */
#define BATCHES_LEAST 4
/*
 * number of batches that is needed for two threads, which might wait at a queue together by chance
 */
#define BATCHES_PAIR  8

struct object {
	struct turnstile pub;
	uint32_t waits;
	uint32_t n; /* number of threads in the current batch */
	uint32_t tid[THREADS_MAX]; /* threads of the current batch */
	uint64_t first_ns, last_ns; /* departures of the first and last thread of the batch */
	uint32_t seen; /* number of threads in seen_tid */
	uint32_t seen_tid[THREADS_MAX]; /* the first threads that waited */
};

struct turnstiles {
	struct hash by_key; /* -> struct object */
};

struct turnstiles *turnstiles_new(void)
{
	return calloc(1, sizeof(struct turnstiles));
}

void turnstiles_free(struct turnstiles *t)
{
	if (!t)
		return;
	hash_free_ptrs(&t->by_key);
	free(t);
}

/* Remove the semaphores that are not barriers, because there are too many. */
static void sweep(struct turnstiles *t)
{
	const struct hash_entry *e;
	struct hash_entry zero;
	struct hash kept = { 0 };
	size_t pos = 0;

	while ((e = hash_next(&t->by_key, &pos, &zero))) {
		struct object *o = (void *)(uintptr_t)e->value;

		if (!turnstile_is(&o->pub) || hash_put_ptr(&kept, e->key, o))
			free(o);
	}
	hash_free(&t->by_key);
	t->by_key = kept;
}

/*
 * Return the object of the wait, or a new object. Return NULL if there are too many objects, or
 * when out of memory.
 */
static struct object *object_get(struct turnstiles *t, const struct turnstile_wait *w)
{
	uint64_t key = hash_mix(hash_mix((uint64_t)w->tgid << 32 | w->inc) ^ w->object);
	struct object *o = hash_get_ptr(&t->by_key, key);

	if (o)
		return o;
	if (hash_count(&t->by_key) >= OBJECTS_MAX)
		sweep(t);
	if (hash_count(&t->by_key) >= OBJECTS_MAX)
		return NULL;
	o = hash_new_ptr(&t->by_key, key, sizeof(*o));
	if (o)
		o->pub = (struct turnstile){
			.tgid = w->tgid, .inc = w->inc, .object = w->object, .tid = o->seen_tid
		};
	return o;
}

static bool is_among(const uint32_t *tids, uint32_t n, uint32_t tid)
{
	uint32_t i;

	for (i = 0; i < n && tids[i] != tid; i++)
		;
	return i < n;
}

static void note_thread(struct object *o, uint32_t tid)
{
	if (o->seen < THREADS_MAX && !is_among(o->seen_tid, o->seen, tid))
		o->seen_tid[o->seen++] = tid;
	o->pub.threads = o->seen;
}

static void batch_begin(struct object *o, const struct turnstile_wait *w)
{
	o->n = 1;
	o->tid[0] = w->tid;
	o->first_ns = o->last_ns = w->depart_ns;
}

static void batch_add(struct object *o, const struct turnstile_wait *w)
{
	/* If each thread wakes the next, the last threads arrive while others already leave. */
	bool together = w->arrive_ns < o->first_ns;
	bool last = !together && o->n >= 2 && w->arrive_ns < o->last_ns &&
		    !is_among(o->tid, o->n, w->tid);

	if (o->n && o->n < THREADS_MAX && (together || last)) {
		o->tid[o->n++] = w->tid;
		o->last_ns = w->depart_ns;
		return;
	}
	if (o->n >= 2 && w->arrive_ns >= o->last_ns)
		o->pub.batches++;
	else
		o->pub.loose += o->n;
	batch_begin(o, w);
}

bool turnstiles_add(struct turnstiles *t, const struct turnstile_wait *w)
{
	struct object *o = object_get(t, w);

	if (!o)
		return false;
	o->pub.site = w->site;
	o->pub.above = w->above;
	note_thread(o, w->tid);
	batch_add(o, w);
	return ++o->waits < WAITS_MAX;
}

void turnstiles_each(const struct turnstiles *t,
		     void (*each)(void *ctx, const struct turnstile *turnstile), void *ctx)
{
	const struct hash_entry *e;
	struct hash_entry zero;
	size_t pos = 0;

	while ((e = hash_next(&t->by_key, &pos, &zero)))
		each(ctx, &((const struct object *)(uintptr_t)e->value)->pub);
}

bool turnstile_shares(const struct turnstile *a, const struct turnstile *b)
{
	uint32_t i;

	for (i = 0; i < a->threads; i++)
		if (is_among(b->tid, b->threads, a->tid[i]))
			return true;
	return false;
}

bool turnstile_is(const struct turnstile *o)
{
	return o->threads >= 2 && o->batches >= (o->threads < 3 ? BATCHES_PAIR : BATCHES_LEAST) &&
	       o->batches > 2 * o->loose;
}
