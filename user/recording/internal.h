/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Declarations shared by the files of user/recording. */
#ifndef RECORDING_INTERNAL_H
#define RECORDING_INTERNAL_H

#include "base/hash.h"
#include "recording/code.h"
#include "recording/contents.h"

/* Kinds of chunks. Facts are read first. */
#define CONTENTS_FACTS	1
#define CONTENTS_INPUTS 2

/*
 * The types of records. A record is its type, its size in bytes, and its contents. Unknown types
 * are skipped. Append only.
 */
enum contents_record {
	/* records in chunks of facts */
	CONTENTS_RECORD_SESSION = 1,
	CONTENTS_RECORD_SITE = 2,
	CONTENTS_RECORD_ENDING = 3,
	/* records in chunks of inputs */
	/* gives a thread its number: the next number, or the number of a thread that has ended */
	CONTENTS_RECORD_THREAD = 16,
	CONTENTS_RECORD_CROSSING = 17,
	CONTENTS_RECORD_INPUT = 18,
	CONTENTS_RECORD_ANSWER = 19,
	CONTENTS_RECORD_MARK = 20,
	CONTENTS_RECORD_HANG = 21,
	CONTENTS_RECORD_MESSAGE = 22,
	CONTENTS_RECORD_SAMPLE = 23,
	CONTENTS_RECORD_ACTIVITY = 24,
};

/*
 * A thread to which crossings refer by number, with its last crossing: fields that did not change
 * are not written.
 */
struct contents_thread {
	struct model_crossing last;
	uint64_t left_ns; /* the last departure; the arrival if there was none */
};

/*
 * Each function writes or reads its struct. Strings and arrays that are read belong to the coder's
 * pool.
 */
void code_session(struct coder *c, struct contents_session *s);
void code_ending(struct coder *c, struct contents_ending *e);
void code_site(struct coder *c, struct site_name *name);
void code_question(struct coder *c, struct contents_question *q);
void code_answer(struct coder *c, struct contents_answer *a);
void code_hang(struct coder *c, struct report_hang *h);
void code_mark(struct coder *c, struct model_mark *m, struct model_detail *d, bool *detailed);
void code_message(struct coder *c, struct model_message *m);
void code_sample(struct coder *c, struct model_sample *s);
void code_activity(struct coder *c, struct model_activity *a, struct model_detail *d,
		   bool *detailed);
/*
 * Code an input that is no crossing. When reading, the name goes to @comm and the detail to @d.
 * Writing does not use them.
 */
void code_input(struct coder *c, struct model_input *in, char comm[16], struct model_detail *d);
/* Code a crossing of thread @t, and keep it as the thread's last crossing. */
void code_crossing(struct coder *c, struct contents_thread *t, struct model_crossing *x,
		   struct model_detail *d, bool *detailed);

/* Return a hash of the question. Different questions may have the same hash. */
static inline uint64_t question_key(const struct contents_question *q)
{
	uint64_t key = hash_mix(q->what + (uint64_t)q->kind * 0x9e3779b97f4a7c15ULL);

	return hash_mix(key ^ ((uint64_t)q->tgid << 32 | q->inc) ^ (uint64_t)q->which << 56);
}

#endif /* RECORDING_INTERNAL_H */
