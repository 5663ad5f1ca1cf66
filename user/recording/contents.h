/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * What a recording holds: what went into the model, in order, what was asked about it meanwhile with the answers, and the
 * facts of the run. Whoever puts the same into a model and answers the same gets the same report. In blocks of
 * recording/chunks.h; man/sbt-trace-recording.5 has the format.
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

/* --- facts ----------------------------------------------------------------------------------------- */

/* Once, at the beginning. */
struct tape_session {
	struct session session;
	const char *host, *machine; /* as uname() has them */
	uint64_t model_start_ns;
	int64_t realtime_offset_ns;
	bool accounted; /* there are causes */
	uint32_t instructions, cycles; /* which counters these are; MODEL_NONE */
	uint32_t ncpus; /* online; 0 unknown */
	uint32_t ncpu_node;
	const uint32_t *cpu_node;
	uint64_t ids[2]; /* tell recordings apart */
};

/* Once, at the end: what report_env has from the one who traced. */
struct tape_ending {
	uint64_t end_ns;
	double crossing_cost_ns, switch_cost_ns;
	uint64_t switches_cost_ns, rested_ns, tracer_cpu_ns, produced, consumed;
	uint32_t nlosses;
	const struct report_loss *losses;
	uint32_t nhangs;
	const struct report_hang *hangs;
	uint32_t nremarks;
	const struct remark *remarks;
};

/* What was asked about the run. Append only: the numbers are in recordings. */
enum tape_asked {
	TAPE_TASK = 1, /* what: tid */
	TAPE_LOCK = 2, /* of the process: what: address */
	TAPE_MAPPING = 3, /* likewise */
	TAPE_FILE = 4, /* what: inode */
	TAPE_STACK = 5, /* of the process: what: key; sites */
	TAPE_OBJECT = 6, /* of the process: what: address; which: family */
	TAPE_DEPARTURES = 7, /* of the process */
	TAPE_PRICE = 8, /* of the process; number */
	TAPE_LABEL = 9, /* what: site */
	TAPE_UNIT = 10, /* of the process; what: number of what was shed */
	TAPE_UNTRACED =
		11, /* of the process; which: 0 functions in which it waits unseen; 1 text: it runs tasks */
	TAPE_LOOKS = 12, /* of the process; which: 0 report_process.looks, 1 paused_ns; number */
};

struct tape_question {
	uint8_t kind; /* enum tape_asked */
	uint8_t which;
	uint32_t tgid, inc;
	uint64_t what;
};

struct tape_answer {
	const char *text; /* NULL unknown */
	double number;
	uint32_t nsites;
	const uint32_t *sites;
};

/* --- writing --------------------------------------------------------------------------------------- */

struct tape_writer;

/*
 * Begins a recording in @fd, which stays the caller's. The first error of writing is kept: nothing is written after it, and
 * tape_flush() and tape_close() return it. Returns 0 and *out, or -ENOMEM or -errno.
 */
int tape_create(int fd, struct tape_writer **out);
void tape_session(struct tape_writer *tape, const struct tape_session *session);
/* For model_tap(), with the tape as ctx. */
void tape_input(void *tape, const struct model_input *input);
/* A marker of the program's, at a site with a label. */
void tape_mark(struct tape_writer *tape, uint32_t tgid, uint32_t inc, uint32_t site,
	       const struct conceptual_mark *mark);
/* Before the input that it was asked about. Nothing is written where the last answer was the same. */
void tape_answer(struct tape_writer *tape, const struct tape_question *question,
		 const struct tape_answer *answer);
void tape_site(struct tape_writer *tape, uint32_t site, const struct site_name *name);
/* A thread touched another one's data. */
void tape_message(struct tape_writer *tape, const struct model_message *message);
/* As it was told. */
void tape_hang(struct tape_writer *tape, const struct report_hang *hang);
void tape_ending(struct tape_writer *tape, const struct tape_ending *ending);
/* Calls @each with every site that came up since the last time. */
void tape_new_sites(struct tape_writer *tape, void (*each)(void *ctx, uint32_t site), void *ctx);
/* What there is becomes a block. Returns 0 or the first error, as -errno. */
int tape_flush(struct tape_writer *tape);
uint64_t tape_bytes(const struct tape_writer *tape);
/* Flushes and frees. Returns as tape_flush(). */
int tape_close(struct tape_writer *tape);

/* --- reading --------------------------------------------------------------------------------------- */

struct tape; /* opaque */

enum tape_state {
	TAPE_WHOLE,
	TAPE_CUT, /* it has no end: whoever wrote it was interrupted, or it was cut short */
	TAPE_DAMAGED,
};

/*
 * Opens the recording in @fd, which must be seekable and stays the caller's, and reads its facts. Returns 0 and *out; what
 * chunks_open() returns; -EBADMSG: it does not say how it began; or -ENOMEM.
 */
int tape_open(int fd, struct tape **out);
void tape_free(struct tape *tape);
/* Both are the tape's own. The ending is NULL where it has none. */
const struct tape_session *tape_began(const struct tape *tape);
const struct tape_ending *tape_ended(const struct tape *tape);
/* When tape_next() has come to the end, of all of it; before, of its facts. */
enum tape_state tape_state(const struct tape *tape);
/* The name of a site; NULL: there is none. The tape's own. */
const struct site_name *tape_site_name(const struct tape *tape, uint32_t site);
/* The last answer so far; NULL: it was not asked. The tape's own. */
const struct tape_answer *tape_find(const struct tape *tape, const struct tape_question *question);

enum tape_item_kind { TAPE_ITEM_INPUT, TAPE_ITEM_MARK, TAPE_ITEM_HANG, TAPE_ITEM_MESSAGE };

/* One thing that happened. What it points to is valid until the next. */
struct tape_item {
	enum tape_item_kind kind;
	struct model_input input;
	uint32_t tgid, inc, site; /* of the mark */
	struct conceptual_mark mark; /* but for what only a model can say */
	const struct report_hang *hang;
	struct model_message message;
	/* The same as input.crossing and hang, for whoever reads to change before anybody else looks. */
	struct model_crossing *crossing;
	struct report_hang *own_hang;
};

/*
 * What happened next, in the order in which the model was told. Answers are known when what they were about comes. What makes no
 * sense ends it, as damage. Returns 1 and *out, 0 at the end, -ENOMEM or -errno.
 */
int tape_next(struct tape *tape, struct tape_item *out);
/* From the beginning again, as if nothing had been read but the facts. Returns 0 or -errno. */
int tape_rewind(struct tape *tape);

#endif /* RECORDING_CONTENTS_H */
