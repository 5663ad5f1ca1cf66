/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The contents of a recording: all inputs of the model, in order; the questions that were asked
 * during the run, with the answers; and the facts of the run. Feeding a model with the inputs, and
 * giving the same answers, results in the same report. The contents are written in chunks
 * (recording/chunks.h). man/sbt-trace-recording.5 describes the format.
 */
#ifndef RECORDING_CONTENTS_H
#define RECORDING_CONTENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/conceptual.h"
#include "analyse/hang_report.h"
#include "analyse/report.h"
#include "analyse/session.h"
#include "model/message.h"
#include "model/model.h"
#include "sites/site.h"

/* --- facts ------------------------------------------------------------------------------------ */

/* Facts that are written once, at the beginning. */
struct contents_session {
	struct session session;
	const char *host, *machine; /* from uname() */
	uint64_t model_start_ns;
	int64_t realtime_offset_ns;
	bool accounted; /* causes were collected */
	uint32_t instructions, cycles; /* indices of these counters; MODEL_NONE: none */
	uint32_t ncpus; /* number of online CPUs; 0: unknown */
	uint32_t ncpu_node;
	const uint32_t *cpu_node;
	uint64_t ids[2]; /* random: identifies the recording */
};

/*
 * Facts that are written once, at the end: the members of struct report_env that are known only
 * then.
 */
struct contents_ending {
	uint64_t end_ns;
	double crossing_cost_ns, switch_cost_ns;
	uint64_t switches_cost_ns, rested_ns, tracer_cpu_ns, produced, consumed;
	struct report_sampling sampling;
	uint32_t nlosses;
	const struct report_loss *losses;
	uint32_t nhangs;
	const struct report_hang *hangs;
	uint32_t nremarks;
	const struct remark *remarks;
};

/*
 * Questions about the run. The comments name members of struct contents_question; "the process" is
 * .tgid and .inc. Append only: the numbers are in recordings.
 */
enum contents_asked {
	CONTENTS_TASK = 1, /* what: tid */
	CONTENTS_LOCK = 2, /* what: address of the lock in the process */
	CONTENTS_MAPPING = 3, /* what: address in the mapping of the process */
	CONTENTS_FILE = 4, /* what: inode */
	CONTENTS_STACK = 5, /* what: key of a stack of the process; the answer has sites */
	CONTENTS_OBJECT = 6, /* what: address of the object in the process; which: family */
	CONTENTS_EXIT_DETECTION = 7, /* how departures of the process are detected */
	CONTENTS_PRICE = 8, /* price of a crossing of the process; the answer is a number */
	CONTENTS_LABEL = 9, /* what: site */
	CONTENTS_PROBE_GROUP = 10, /* what: probe group of the process */
	/*
	 * about the process; .which = 0: names of untraced functions in which it waits; 1: whether
	 * it runs tasks
	 */
	CONTENTS_UNTRACED = 11,
	/*
	 * about the process; .which = 0: report_process.looks; 1: paused_ns; the answer is a number
	 */
	CONTENTS_LOOKS = 12,
};

struct contents_question {
	uint8_t kind; /* enum contents_asked */
	uint8_t which;
	uint32_t tgid, inc;
	uint64_t what;
};

struct contents_answer {
	const char *text; /* NULL unknown */
	double number;
	uint32_t nsites;
	const uint32_t *sites;
};

/* --- writing ---------------------------------------------------------------------------------- */

struct contents_writer;

/*
 * Begin a recording in @fd, which stays the caller's. After the first write error nothing more is
 * written, and contents_flush() and contents_close() return that error. Return 0 and *out, or
 * -errno.
 */
int contents_create(int fd, struct contents_writer **out);
void contents_session(struct contents_writer *contents, const struct contents_session *session);
/* Write an input. For model_tap(), with the writer as ctx. */
void contents_input(void *contents, const struct model_input *input);
/*
 * Write an answer. Call this before the input for which the question was asked. If the last answer
 * to this question was the same, nothing is written.
 */
void contents_answer(struct contents_writer *contents, const struct contents_question *question,
		     const struct contents_answer *answer);
void contents_site(struct contents_writer *contents, uint32_t site, const struct site_name *name);
/* Write a report of a hang. */
void contents_hang(struct contents_writer *contents, const struct report_hang *hang);
void contents_ending(struct contents_writer *contents, const struct contents_ending *ending);
/* Call @each with each site that was used since the last call. */
void contents_new_sites(struct contents_writer *contents, void (*each)(void *ctx, uint32_t site),
			void *ctx);
/* Write the pending records as a chunk. Return 0, or the first error as -errno. */
int contents_flush(struct contents_writer *contents);
uint64_t contents_bytes(const struct contents_writer *contents);
/* Flush, and free the writer. Return the same as contents_flush(). */
int contents_close(struct contents_writer *contents);

/* --- reading ---------------------------------------------------------------------------------- */

struct contents; /* opaque */

enum contents_state {
	CONTENTS_INTACT,
	/* the recording has no end: its writer was killed, or the file was truncated */
	CONTENTS_CUT,
	CONTENTS_DAMAGED,
};

/*
 * Open the recording in @fd, which must be seekable and stays the caller's, and read its facts.
 * Return 0 and *out; an error of chunks_open(); -EBADMSG if it has no session; or -ENOMEM.
 */
int contents_open(int fd, struct contents **out);
void contents_free(struct contents *contents);
/*
 * Return the session and the ending. Both belong to @contents. The ending is NULL if the recording
 * has none.
 */
const struct contents_session *contents_began(const struct contents *contents);
const struct contents_ending *contents_ended(const struct contents *contents);
/*
 * Return the state of the facts or, after contents_next() has returned 0, of the whole recording.
 */
enum contents_state contents_state(const struct contents *contents);
/* Return the name of a site, or NULL. The name belongs to @contents. */
const struct site_name *contents_site_name(const struct contents *contents, uint32_t site);
/*
 * Return the last answer so far, or NULL if the question was not asked. @contents owns the answer.
 */
const struct contents_answer *contents_find(const struct contents *contents,
					    const struct contents_question *question);

enum contents_item_kind { CONTENTS_ITEM_INPUT, CONTENTS_ITEM_HANG };

/* One item of the recording. Its pointers are valid until the next call. */
struct contents_item {
	enum contents_item_kind kind;
	struct model_input input;
	const struct report_hang *hang;
	/*
	 * The objects to which .input and .hang point, but writable: the reader may change them
	 * before it passes the item on.
	 */
	struct model_crossing *crossing;
	struct model_mark *mark;
	struct model_message *message;
	struct model_sample *sample;
	struct model_activity *activity;
	struct report_hang *own_hang;
};

/*
 * Read the next item. Items are in the order in which the model got them. Answers are known before
 * the item that they are about. If the contents are invalid, reading ends, and the state is
 * CONTENTS_DAMAGED. Return 1 and *out, 0 at the end, or -errno.
 */
int contents_next(struct contents *contents, struct contents_item *out);
/*
 * Start reading items again from the first one. The facts, and the stacks that were read so far,
 * stay known. Return 0 or -errno.
 */
int contents_rewind(struct contents *contents);

#endif /* RECORDING_CONTENTS_H */
