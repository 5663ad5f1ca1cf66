// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "recording/chunks.h"
#include "base/grow.h"
#include "recording/internal.h"

/*
 * The reader's memory is limited to KEEP_LEAST plus KEEP_PER_BYTE for each byte of the file. A
 * compressed file of repeated contents is tiny, but its uncompressed contents must not take up all
 * memory.
 */
#define KEEP_LEAST    (64u << 20)
#define KEEP_PER_BYTE 64 /* bytes kept per byte of the file */

/* An answer. Answers with the same question_key() are linked. */
struct kept {
	struct kept *next;
	struct contents_question question;
	struct contents_answer answer;
};

struct contents {
	struct chunks_reader *chunks;
	struct pool pool; /* for facts */
	struct pool kept; /* memory for answers; freed by contents_rewind() */
	bool began;
	struct contents_session session;
	struct contents_ending *ending;
	struct hash sites; /* site -> struct site_name */
	struct hash answers; /* question_key() -> struct kept */
	/*
	 * answers about stacks that were read before contents_rewind(); a key always stands for the
	 * same stack, so these answers are right wherever reading is
	 */
	struct hash stacks;
	struct pool stacks_pool;
	struct contents_thread *threads;
	uint32_t nthreads, cap;
	struct coder chunk; /* the rest of the chunk that is being read */
	bool damaged, facts_damaged;
	/* The objects to which the last item points. */
	struct model_crossing crossing;
	struct model_mark mark;
	struct model_message message;
	struct model_sample sample;
	struct model_activity activity;
	struct model_detail detail;
	struct report_hang hang;
	struct pool passing;
	char comm[16];
};

/* --- records ---------------------------------------------------------------------------------- */

/* Set up @out to read the next record. Return false if there is none. */
static bool next_record(struct coder *chunk, uint8_t *type, struct pool *pool, struct coder *out)
{
	uint64_t size = 0;

	if (chunk->at == chunk->size)
		return false;
	code_u8(chunk, type);
	code_u64(chunk, &size);
	if (chunk->failed || size > chunk->size - chunk->at) {
		chunk->failed = true;
		return false;
	}
	coder_read(out, chunk->bytes + chunk->at, size, pool);
	chunk->at += size;
	return true;
}

static int no_memory(const struct contents *t)
{
	return t->pool.full || t->kept.full ? -EBADMSG : -ENOMEM;
}

static int keep_site(struct contents *t, struct coder *c)
{
	struct site_name *name = pool_alloc(&t->pool, sizeof(*name));
	uint32_t site = 0;

	if (!name)
		return no_memory(t);
	code_u32(c, &site);
	code_site(c, name);
	return c->failed ? -EBADMSG : hash_put_ptr(&t->sites, site, name);
}

static int keep_ending(struct contents *t, struct coder *c)
{
	struct contents_ending *e = pool_alloc(&t->pool, sizeof(*e));

	if (!e)
		return no_memory(t);
	code_ending(c, e);
	if (c->failed)
		return -EBADMSG;
	t->ending = e;
	return 0;
}

static int take_fact(struct contents *t, uint8_t type, struct coder *c)
{
	switch (type) {
	case CONTENTS_RECORD_SESSION:
		if (t->began)
			return 0;
		code_session(c, &t->session);
		t->began = !c->failed;
		return c->failed ? -EBADMSG : 0;
	case CONTENTS_RECORD_SITE:
		return keep_site(t, c);
	case CONTENTS_RECORD_ENDING:
		return t->ending ? 0 : keep_ending(t, c);
	default:
		return 0;
	}
}

static int read_facts(struct contents *t)
{
	struct chunk chunk;
	int more, err = 0;

	while (!err && !t->damaged &&
	       (more = chunks_next(t->chunks, 1u << CONTENTS_FACTS, &chunk)) != 0) {
		struct coder c, record;
		uint8_t type = 0;

		if (more < 0)
			return more;
		coder_read(&c, chunk.content, chunk.size, &t->pool);
		while (!err && next_record(&c, &type, &t->pool, &record))
			err = take_fact(t, type, &record);
		t->damaged |= c.failed || err == -EBADMSG;
	}
	t->facts_damaged = t->damaged;
	return err == -ENOMEM ? err : 0;
}

int contents_open(int fd, struct contents **out)
{
	struct contents *t = calloc(1, sizeof(*t));
	struct stat st;
	int err;

	if (!t)
		return -ENOMEM;
	err = fstat(fd, &st) ? -errno : chunks_open(fd, &t->chunks);
	if (!err)
		t->pool.max = t->kept.max = t->stacks_pool.max =
			(KEEP_LEAST + (size_t)st.st_size * KEEP_PER_BYTE) / 4;
	if (!err)
		err = read_facts(t);
	if (!err && !t->began)
		err = -EBADMSG;
	if (!err)
		err = contents_rewind(t);
	if (err) {
		contents_free(t);
		return err;
	}
	*out = t;
	return 0;
}

void contents_free(struct contents *t)
{
	if (!t)
		return;
	chunks_reader_free(t->chunks);
	hash_free(&t->sites);
	hash_free(&t->answers);
	hash_free(&t->stacks);
	free(t->threads);
	pool_free(&t->passing);
	pool_free(&t->kept);
	pool_free(&t->stacks_pool);
	pool_free(&t->pool);
	free(t);
}

const struct contents_session *contents_began(const struct contents *t)
{
	return &t->session;
}

const struct contents_ending *contents_ended(const struct contents *t)
{
	return t->ending;
}

enum contents_state contents_state(const struct contents *t)
{
	if (t->damaged || chunks_ended(t->chunks) == CHUNKS_DAMAGED)
		return CONTENTS_DAMAGED;
	return t->ending && chunks_ended(t->chunks) == CHUNKS_INTACT ? CONTENTS_INTACT
								     : CONTENTS_CUT;
}

/* --- questions -------------------------------------------------------------------------------- */

const struct site_name *contents_site_name(const struct contents *t, uint32_t site)
{
	return hash_get_ptr(&t->sites, site);
}

static bool same_question(const struct contents_question *a, const struct contents_question *b)
{
	return a->kind == b->kind && a->which == b->which && a->tgid == b->tgid &&
	       a->inc == b->inc && a->what == b->what;
}

static struct kept *find_in(const struct hash *answers, const struct contents_question *q)
{
	struct kept *k = hash_get_ptr(answers, question_key(q));

	while (k && !same_question(&k->question, q))
		k = k->next;
	return k;
}

const struct contents_answer *contents_find(const struct contents *t,
					    const struct contents_question *q)
{
	const struct kept *k = find_in(&t->answers, q);

	if (!k)
		k = find_in(&t->stacks, q);
	return k ? &k->answer : NULL;
}

static int take_answer(struct contents *t, struct coder *c)
{
	struct contents_question q = { 0 };
	struct contents_answer a = { 0 };
	struct kept *k;

	code_question(c, &q);
	code_answer(c, &a);
	if (c->failed)
		return -EBADMSG;
	k = find_in(&t->answers, &q);
	if (!k) {
		k = pool_alloc(&t->kept, sizeof(*k));
		if (!k)
			return no_memory(t);
		k->question = q;
		k->next = hash_get_ptr(&t->answers, question_key(&q));
		if (hash_put_ptr(&t->answers, question_key(&q), k))
			return -ENOMEM;
	}
	k->answer = a;
	return 0;
}

/* --- inputs ----------------------------------------------------------------------------------- */

static int take_thread(struct contents *t, struct coder *c)
{
	struct contents_thread thread = { 0 };
	uint32_t number = t->nthreads;

	code_u32(c, &thread.last.tgid);
	code_u32(c, &thread.last.inc);
	code_u32(c, &thread.last.tid);
	if (c->at < c->size)
		code_u32(c, &number);
	if (c->failed || number > t->nthreads)
		return -EBADMSG;
	/* Limit the memory: a small compressed file can define very many threads. */
	if (number == t->cap && (size_t)t->cap * 2 * sizeof(thread) > t->kept.max / 2)
		return -EBADMSG;
	if (grow(t->threads, t->cap, number + 1))
		return -ENOMEM;
	t->nthreads += number == t->nthreads;
	t->threads[number] = thread;
	return 0;
}

static int take_crossing(struct contents *t, struct coder *c, struct contents_item *out)
{
	uint32_t number = 0;
	bool detailed = false;

	code_u32(c, &number);
	if (c->failed || number >= t->nthreads)
		return -EBADMSG;
	code_crossing(c, &t->threads[number], &t->crossing, &t->detail, &detailed);
	if (c->failed)
		return -EBADMSG;
	t->crossing.detail = detailed ? &t->detail : NULL;
	out->kind = CONTENTS_ITEM_INPUT;
	out->input = (struct model_input){ .type = MODEL_INPUT_CROSSING, .crossing = &t->crossing };
	out->crossing = &t->crossing;
	return 1;
}

static int take_input(struct contents *t, struct coder *c, struct contents_item *out)
{
	struct model_input *in = &out->input;

	*in = (struct model_input){ 0 };
	code_input(c, in, t->comm, &t->detail);
	if (c->failed)
		return -EBADMSG;
	/* Skip an input that a later version wrote. */
	if (in->type == MODEL_INPUT_CROSSING || in->type > MODEL_INPUT_PROGRAM)
		return 0;
	out->kind = CONTENTS_ITEM_INPUT;
	return 1;
}

static int take_mark(struct contents *t, struct coder *c, struct contents_item *out)
{
	bool detailed = false;

	code_mark(c, &t->mark, &t->detail, &detailed);
	if (c->failed)
		return -EBADMSG;
	t->mark.detail = detailed ? &t->detail : NULL;
	out->kind = CONTENTS_ITEM_INPUT;
	out->input = (struct model_input){ .type = MODEL_INPUT_MARK, .mark = &t->mark };
	out->mark = &t->mark;
	return 1;
}

static int take_message(struct contents *t, struct coder *c, struct contents_item *out)
{
	code_message(c, &t->message);
	if (c->failed)
		return -EBADMSG;
	out->kind = CONTENTS_ITEM_INPUT;
	out->input = (struct model_input){ .type = MODEL_INPUT_MESSAGE, .message = &t->message };
	out->message = &t->message;
	return 1;
}

static int take_sample(struct contents *t, struct coder *c, struct contents_item *out)
{
	code_sample(c, &t->sample);
	if (c->failed)
		return -EBADMSG;
	out->kind = CONTENTS_ITEM_INPUT;
	out->input = (struct model_input){ .type = MODEL_INPUT_SAMPLE, .sample = &t->sample };
	out->sample = &t->sample;
	return 1;
}

static int take_activity(struct contents *t, struct coder *c, struct contents_item *out)
{
	bool detailed = false;

	code_activity(c, &t->activity, &t->detail, &detailed);
	if (c->failed)
		return -EBADMSG;
	t->activity.detail = detailed ? &t->detail : NULL;
	out->kind = CONTENTS_ITEM_INPUT;
	out->input = (struct model_input){ .type = MODEL_INPUT_ACTIVITY, .activity = &t->activity };
	out->activity = &t->activity;
	return 1;
}

static int take_hang(struct contents *t, struct coder *c, struct contents_item *out)
{
	pool_free(&t->passing);
	c->pool = &t->passing;
	memset(&t->hang, 0, sizeof(t->hang));
	code_hang(c, &t->hang);
	if (c->failed)
		return -EBADMSG;
	out->kind = CONTENTS_ITEM_HANG;
	out->hang = out->own_hang = &t->hang;
	return 1;
}

/* Return 1 and *out if the record is an item, 0 if it is not, -ENOMEM or -EBADMSG. */
static int take_record(struct contents *t, uint8_t type, struct coder *c, struct contents_item *out)
{
	switch (type) {
	case CONTENTS_RECORD_CROSSING:
		return take_crossing(t, c, out);
	case CONTENTS_RECORD_THREAD:
		return take_thread(t, c);
	case CONTENTS_RECORD_INPUT:
		return take_input(t, c, out);
	case CONTENTS_RECORD_ANSWER:
		return take_answer(t, c);
	case CONTENTS_RECORD_MARK:
		return take_mark(t, c, out);
	case CONTENTS_RECORD_HANG:
		return take_hang(t, c, out);
	case CONTENTS_RECORD_MESSAGE:
		return take_message(t, c, out);
	case CONTENTS_RECORD_SAMPLE:
		return take_sample(t, c, out);
	case CONTENTS_RECORD_ACTIVITY:
		return take_activity(t, c, out);
	default:
		return 0;
	}
}

int contents_next(struct contents *t, struct contents_item *out)
{
	struct coder record;
	struct chunk chunk;
	uint8_t type = 0;
	int got = 0;

	while (!got && !t->damaged) {
		if (next_record(&t->chunk, &type, &t->kept, &record)) {
			got = take_record(t, type, &record, out);
			continue;
		}
		t->damaged = t->chunk.failed;
		if (t->damaged)
			break;
		got = chunks_next(t->chunks, 1u << CONTENTS_INPUTS, &chunk);
		if (got <= 0)
			return got;
		coder_read(&t->chunk, chunk.content, chunk.size, &t->kept);
		got = 0;
	}
	t->damaged |= got == -EBADMSG;
	return t->damaged ? 0 : got;
}

/* Copy the answer about a stack, for after contents_rewind(). Return 0 or -errno. */
static int keep_stack(struct contents *t, const struct kept *k)
{
	const struct contents_answer *a = &k->answer;
	struct kept *copy;
	uint32_t *sites;

	if (k->question.kind != CONTENTS_STACK || find_in(&t->stacks, &k->question))
		return 0;
	copy = pool_alloc(&t->stacks_pool, sizeof(*copy));
	sites = pool_alloc(&t->stacks_pool, (a->nsites + 1) * sizeof(*sites));
	if (!copy || !sites)
		return t->stacks_pool.full ? -EBADMSG : -ENOMEM;
	if (a->nsites)
		memcpy(sites, a->sites, a->nsites * sizeof(*sites));
	*copy = (struct kept){ .next = hash_get_ptr(&t->stacks, question_key(&k->question)),
			       .question = k->question,
			       .answer = { .nsites = a->nsites, .sites = sites } };
	return hash_put_ptr(&t->stacks, question_key(&k->question), copy);
}

static int keep_stacks(struct contents *t)
{
	const struct hash_entry *at;
	struct hash_entry zero;
	const struct kept *k;
	size_t pos = 0;
	int err = 0;

	while (!err && (at = hash_next(&t->answers, &pos, &zero)))
		for (k = (const struct kept *)(uintptr_t)at->value; k && !err; k = k->next)
			err = keep_stack(t, k);
	return err;
}

int contents_rewind(struct contents *t)
{
	int err = keep_stacks(t);

	if (err)
		return err;
	t->nthreads = 0;
	t->damaged = t->facts_damaged;
	hash_free(&t->answers);
	pool_free(&t->kept);
	coder_read(&t->chunk, NULL, 0, &t->kept);
	return chunks_rewind(t->chunks);
}
