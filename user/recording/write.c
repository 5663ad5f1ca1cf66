// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"
#include "recording/chunks.h"
#include "recording/internal.h"

/*
 * A chunk is written when it has this size. This is large enough to compress well, and small enough
 * that little is lost if the disk becomes full.
 */
#define CHUNK_BYTES (64u << 10)

#define ANSWERS_MOST (1u << 18)

struct contents_writer {
	struct chunks_writer *chunks;
	int error; /* the first error */
	struct coder inputs, facts; /* the next chunks of inputs and of facts */
	struct coder record; /* the record that is being made */
	struct hash threads; /* (tgid, inc, tid) -> number */
	struct contents_thread *known; /* by number */
	uint32_t nknown, cap;
	uint32_t *ended; /* numbers of ended threads, for reuse */
	uint32_t nended, cap_ended;
	struct hash answers; /* question -> hash of the last answer */
	struct hash sites; /* the sites that were used */
	uint32_t *fresh; /* used sites that were not yet passed to contents_new_sites() */
	uint32_t nfresh, cap_fresh;
};

static void fail(struct contents_writer *w, int err)
{
	if (!w->error)
		w->error = err;
}

int contents_create(int fd, struct contents_writer **out)
{
	struct contents_writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	err = chunks_create(fd, &w->chunks);
	if (err) {
		free(w);
		return err;
	}
	coder_write(&w->inputs);
	coder_write(&w->facts);
	coder_write(&w->record);
	*out = w;
	return 0;
}

static void write_chunk(struct contents_writer *w, uint16_t kind, struct coder *chunk)
{
	int err;

	if (chunk->failed)
		fail(w, -ENOMEM);
	if (!chunk->at || w->error)
		return;
	err = chunks_write(w->chunks, kind, chunk->bytes, chunk->at);
	if (err)
		fail(w, err);
	coder_write(chunk);
}

int contents_flush(struct contents_writer *w)
{
	write_chunk(w, CONTENTS_FACTS, &w->facts);
	write_chunk(w, CONTENTS_INPUTS, &w->inputs);
	return w->error;
}

/* Append the finished record to a chunk. */
static void commit(struct contents_writer *w, struct coder *chunk, uint16_t kind, uint8_t type)
{
	struct coder *r = &w->record;
	uint64_t size = r->at;

	if (r->failed) {
		fail(w, -ENOMEM);
	} else if (r->at + 16 > CHUNKS_MAX) {
		/*
		 * No real record is that long. The record is dropped, so the reader does not get
		 * its contents.
		 */
		coder_write(r);
		return;
	}
	if (chunk->at + r->at + 16 > CHUNKS_MAX || chunk->at >= CHUNK_BYTES)
		write_chunk(w, kind, chunk);
	code_u8(chunk, &type);
	code_u64(chunk, &size);
	coder_append(chunk, r);
	coder_write(r);
}

static struct coder *record(struct contents_writer *w)
{
	coder_write(&w->record);
	return &w->record;
}

void contents_session(struct contents_writer *w, const struct contents_session *session)
{
	struct contents_session s = *session;

	code_session(record(w), &s);
	commit(w, &w->facts, CONTENTS_FACTS, CONTENTS_RECORD_SESSION);
}

void contents_ending(struct contents_writer *w, const struct contents_ending *ending)
{
	struct contents_ending e = *ending;

	code_ending(record(w), &e);
	commit(w, &w->facts, CONTENTS_FACTS, CONTENTS_RECORD_ENDING);
}

/* --- sites and answers ------------------------------------------------------------------------ */

static void note_site(struct contents_writer *w, uint32_t site)
{
	uint64_t was;

	if (hash_get(&w->sites, site, &was))
		return;
	if (grow(w->fresh, w->cap_fresh, w->nfresh + 1)) {
		fail(w, -ENOMEM);
		return;
	}
	if (hash_put(&w->sites, site, 1))
		fail(w, -ENOMEM);
	w->fresh[w->nfresh++] = site;
}

void contents_new_sites(struct contents_writer *w, void (*each)(void *ctx, uint32_t site),
			void *ctx)
{
	uint32_t i;

	/* Naming a site may add other sites to `fresh`. */
	for (i = 0; i < w->nfresh; i++)
		each(ctx, w->fresh[i]);
	w->nfresh = 0;
}

/* Return whether the record differs from the last record with this key. */
static bool is_news(struct contents_writer *w, uint64_t key)
{
	uint64_t was, now = text_hash(TEXT_HASH_INIT, w->record.bytes, w->record.at);

	if (hash_get(&w->answers, key, &was) && was == now)
		return false;
	/*
	 * Limit the memory of long runs. Afterwards, even unchanged answers are written once more.
	 */
	if (hash_count(&w->answers) >= ANSWERS_MOST)
		hash_free(&w->answers);
	if (hash_put(&w->answers, key, now))
		fail(w, -ENOMEM);
	return true;
}

void contents_site(struct contents_writer *w, uint32_t site, const struct site_name *name)
{
	struct contents_question key = { .kind = UINT8_MAX, .what = site };
	struct site_name n = *name;
	struct coder *c = record(w);

	code_u32(c, &site);
	code_site(c, &n);
	if (is_news(w, question_key(&key)))
		commit(w, &w->facts, CONTENTS_FACTS, CONTENTS_RECORD_SITE);
}

void contents_answer(struct contents_writer *w, const struct contents_question *question,
		     const struct contents_answer *answer)
{
	struct contents_question q = *question;
	struct contents_answer a = *answer;
	struct coder *c = record(w);
	uint32_t i;

	for (i = 0; i < a.nsites; i++)
		note_site(w, a.sites[i]);
	code_question(c, &q);
	code_answer(c, &a);
	if (is_news(w, question_key(&q)))
		commit(w, &w->inputs, CONTENTS_INPUTS, CONTENTS_RECORD_ANSWER);
}

void contents_hang(struct contents_writer *w, const struct report_hang *hang)
{
	struct report_hang h = *hang;

	code_hang(record(w), &h);
	commit(w, &w->inputs, CONTENTS_INPUTS, CONTENTS_RECORD_HANG);
}

/* --- inputs ----------------------------------------------------------------------------------- */

static uint64_t thread_key(uint32_t tgid, uint32_t inc, uint32_t tid)
{
	return hash_mix((uint64_t)tgid << 32 | tid) ^ inc;
}

static bool is_thread(const struct contents_thread *t, uint32_t tgid, uint32_t inc, uint32_t tid)
{
	return t->last.tid == tid && t->last.tgid == tgid && t->last.inc == inc;
}

/* Return a number for a new thread: a free one, or the next. Return UINT32_MAX if out of memory. */
static uint32_t new_number(struct contents_writer *w)
{

	if (w->nended)
		return w->ended[--w->nended];
	if (grow(w->known, w->cap, w->nknown + 1))
		return UINT32_MAX;
	return w->nknown++;
}

/* Return the number of a thread, which may be new. Return UINT32_MAX if out of memory. */
static uint32_t thread_number(struct contents_writer *w, uint32_t tgid, uint32_t inc, uint32_t tid)
{
	uint64_t key = thread_key(tgid, inc, tid), known;
	uint32_t number;
	struct coder *c;

	if (hash_get(&w->threads, key, &known) && is_thread(&w->known[known], tgid, inc, tid))
		return (uint32_t)known;
	number = new_number(w);
	if (number == UINT32_MAX || hash_put(&w->threads, key, number))
		return UINT32_MAX;
	w->known[number] =
		(struct contents_thread){ .last = { .tgid = tgid, .inc = inc, .tid = tid } };
	c = record(w);
	code_u32(c, &tgid);
	code_u32(c, &inc);
	code_u32(c, &tid);
	code_u32(c, &number);
	commit(w, &w->inputs, CONTENTS_INPUTS, CONTENTS_RECORD_THREAD);
	return number;
}

/* Free the number of a thread that has ended, so that memory is only used for running threads. */
static void forget_thread(struct contents_writer *w, const struct model_input *in)
{
	uint64_t key = thread_key(in->tgid, in->inc, in->tid), known;

	if (!hash_get(&w->threads, key, &known) ||
	    !is_thread(&w->known[known], in->tgid, in->inc, in->tid))
		return;
	if (grow(w->ended, w->cap_ended, w->nended + 1))
		return;
	hash_del(&w->threads, key);
	w->ended[w->nended++] = (uint32_t)known;
}

static void write_crossing(struct contents_writer *w, const struct model_crossing *crossing)
{
	uint32_t number = thread_number(w, crossing->tgid, crossing->inc, crossing->tid);
	struct model_crossing x = *crossing;
	bool detailed;
	struct coder *c;

	if (number == UINT32_MAX) {
		fail(w, -ENOMEM);
		return;
	}
	/*
	 * The site of the thread's last crossing has been noted already. Before the first crossing,
	 * last.site is 0, which may be the number of another site.
	 */
	if (x.site != w->known[number].last.site || !w->known[number].left_ns)
		note_site(w, x.site);
	c = record(w);
	code_u32(c, &number);
	/* When writing, the detail is only read, so the cast is safe. */
	code_crossing(c, &w->known[number], &x, (struct model_detail *)(uintptr_t)crossing->detail,
		      &detailed);
	commit(w, &w->inputs, CONTENTS_INPUTS, CONTENTS_RECORD_CROSSING);
}

static void write_mark(struct contents_writer *w, struct model_mark m)
{
	bool detailed;

	note_site(w, m.site);
	code_mark(record(w), &m, (struct model_detail *)(uintptr_t)m.detail, &detailed);
	commit(w, &w->inputs, CONTENTS_INPUTS, CONTENTS_RECORD_MARK);
}

static void write_message(struct contents_writer *w, struct model_message m)
{
	code_message(record(w), &m);
	commit(w, &w->inputs, CONTENTS_INPUTS, CONTENTS_RECORD_MESSAGE);
}

static void write_sample(struct contents_writer *w, struct model_sample s)
{
	code_sample(record(w), &s);
	commit(w, &w->inputs, CONTENTS_INPUTS, CONTENTS_RECORD_SAMPLE);
}

static void write_activity(struct contents_writer *w, struct model_activity a)
{
	bool detailed;

	code_activity(record(w), &a, (struct model_detail *)(uintptr_t)a.detail, &detailed);
	commit(w, &w->inputs, CONTENTS_INPUTS, CONTENTS_RECORD_ACTIVITY);
}

static void write_input(struct contents_writer *w, struct model_input in)
{
	code_input(record(w), &in, NULL, NULL);
	commit(w, &w->inputs, CONTENTS_INPUTS, CONTENTS_RECORD_INPUT);
	if (in.type == MODEL_INPUT_END_THREAD)
		forget_thread(w, &in);
}

void contents_input(void *ctx, const struct model_input *input)
{
	switch (input->type) {
	case MODEL_INPUT_CROSSING:
		write_crossing(ctx, input->crossing);
		break;
	case MODEL_INPUT_MARK:
		write_mark(ctx, *input->mark);
		break;
	case MODEL_INPUT_MESSAGE:
		write_message(ctx, *input->message);
		break;
	case MODEL_INPUT_SAMPLE:
		write_sample(ctx, *input->sample);
		break;
	case MODEL_INPUT_ACTIVITY:
		write_activity(ctx, *input->activity);
		break;
	default:
		write_input(ctx, *input);
	}
}

uint64_t contents_bytes(const struct contents_writer *w)
{
	return chunks_written(w->chunks);
}

int contents_close(struct contents_writer *w)
{
	int err;

	if (!w)
		return 0;
	err = contents_flush(w);
	chunks_writer_free(w->chunks);
	coder_free(&w->inputs);
	coder_free(&w->facts);
	coder_free(&w->record);
	hash_free(&w->threads);
	hash_free(&w->answers);
	hash_free(&w->sites);
	free(w->known);
	free(w->ended);
	free(w->fresh);
	free(w);
	return err;
}
