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

/* --- facts ------------------------------------------------------------------------------------ */

/* Once, at the beginning. */
struct contents_session {
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
struct contents_ending {
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
enum contents_asked {
	CONTENTS_TASK = 1, /* what: tid */
	CONTENTS_LOCK = 2, /* of the process: what: address */
	CONTENTS_MAPPING = 3, /* likewise */
	CONTENTS_FILE = 4, /* what: inode */
	CONTENTS_STACK = 5, /* of the process: what: key; sites */
	CONTENTS_OBJECT = 6, /* of the process: what: address; which: family */
	CONTENTS_EXIT_DETECTION = 7, /* of the process */
	CONTENTS_PRICE = 8, /* of the process; number */
	CONTENTS_LABEL = 9, /* what: site */
	CONTENTS_PROBE_GROUP = 10, /* of the process; what: number of what was shed */
	CONTENTS_UNTRACED =
		11, /* of the process; which: 0 functions in which it waits unseen; 1 text: it runs tasks */
	CONTENTS_LOOKS =
		12, /* of the process; which: 0 report_process.looks, 1 paused_ns; number */
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
 * Begins a recording in @fd, which stays the caller's. The first error of writing is kept: nothing is written after it, and
 * contents_flush() and contents_close() return it. Returns 0 and *out, or -ENOMEM or -errno.
 */
int contents_create(int fd, struct contents_writer **out);
void contents_session(struct contents_writer *contents, const struct contents_session *session);
/* For model_tap(), with the tape as ctx. */
void contents_input(void *contents, const struct model_input *input);
/* A marker of the program's, at a site with a label. */
void contents_mark(struct contents_writer *contents, uint32_t tgid, uint32_t inc, uint32_t site,
		   const struct conceptual_mark *mark);
/* Before the input that it was asked about. Nothing is written where the last answer was the same. */
void contents_answer(struct contents_writer *contents, const struct contents_question *question,
		     const struct contents_answer *answer);
void contents_site(struct contents_writer *contents, uint32_t site, const struct site_name *name);
/* A thread touched another one's data. */
void contents_message(struct contents_writer *contents, const struct model_message *message);
/* As it was told. */
void contents_hang(struct contents_writer *contents, const struct report_hang *hang);
void contents_ending(struct contents_writer *contents, const struct contents_ending *ending);
/* Calls @each with every site that came up since the last time. */
void contents_new_sites(struct contents_writer *contents, void (*each)(void *ctx, uint32_t site),
			void *ctx);
/* What there is becomes a block. Returns 0 or the first error, as -errno. */
int contents_flush(struct contents_writer *contents);
uint64_t contents_bytes(const struct contents_writer *contents);
/* Flushes and frees. Returns as contents_flush(). */
int contents_close(struct contents_writer *contents);

/* --- reading ---------------------------------------------------------------------------------- */

struct contents; /* opaque */

enum contents_state {
	CONTENTS_WHOLE,
	CONTENTS_CUT, /* it has no end: whoever wrote it was interrupted, or it was cut short */
	CONTENTS_DAMAGED,
};

/*
 * Opens the recording in @fd, which must be seekable and stays the caller's, and reads its facts. Returns 0 and *out; what
 * chunks_open() returns; -EBADMSG: it does not say how it began; or -ENOMEM.
 */
int contents_open(int fd, struct contents **out);
void contents_free(struct contents *contents);
/* Both are the tape's own. The ending is NULL where it has none. */
const struct contents_session *contents_began(const struct contents *contents);
const struct contents_ending *contents_ended(const struct contents *contents);
/* When contents_next() has come to the end, of all of it; before, of its facts. */
enum contents_state contents_state(const struct contents *contents);
/* The name of a site; NULL: there is none. The tape's own. */
const struct site_name *contents_site_name(const struct contents *contents, uint32_t site);
/* The last answer so far; NULL: it was not asked. The tape's own. */
const struct contents_answer *contents_find(const struct contents *contents,
					    const struct contents_question *question);

enum contents_item_kind {
	CONTENTS_ITEM_INPUT,
	CONTENTS_ITEM_MARK,
	CONTENTS_ITEM_HANG,
	CONTENTS_ITEM_MESSAGE
};

/* One thing that happened. What it points to is valid until the next. */
struct contents_item {
	enum contents_item_kind kind;
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
int contents_next(struct contents *contents, struct contents_item *out);
/* From the beginning again, as if nothing had been read but the facts. Returns 0 or -errno. */
int contents_rewind(struct contents *contents);

#endif /* RECORDING_CONTENTS_H */
