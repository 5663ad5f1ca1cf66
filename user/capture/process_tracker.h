/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Who is traced: finds out what processes run, puts probes where they are needed, decides how departures may be seen,
 * and lets go on who was held for it. Works at once on what the kernel tells, ahead of the model.
 */
#ifndef CAPTURE_PROCESS_TRACKER_H
#define CAPTURE_PROCESS_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/attach.h"
#include "capture/tracker_options.h"
#include "ingest/feed.h"
#include "sbt/record.h"
#include "sites/address_space.h"

struct tracker;

int tracker_new(struct attach *attach, struct modules *modules, struct address_spaces *spaces,
		const struct tracker_options *options, struct tracker **out);
void tracker_free(struct tracker *tracker);

/*
 * Probes what sbt-trace itself runs on: most programs started later use the same libraries; and the
 * programs that COMMAND names, in its words or within them (sh -c "./a; ./b"): what it will start is then probed
 * before it runs. @command may be NULL.
 */
int tracker_add_own(struct tracker *tracker, char *const command[]);
/* Trace a running process from now on. Return 0, or -errno; -ESRCH: it is gone. */
int tracker_add_pid(struct tracker *tracker, int pid);
/*
 * Programs that a running process has among its words, as a shell has: it may execute them. To be called when all
 * processes have been added.
 */
int tracker_add_words(struct tracker *tracker, int pid);
/* A child of ours that will execute COMMAND. */
int tracker_add_child(struct tracker *tracker, int pid);
/* A process of another sbt-trace that will do the same. */
int tracker_add_other(struct tracker *tracker, int pid);
/* Probes every library that any process of the machine runs now. */
int tracker_scan_all(struct tracker *tracker);

/* Before what was recorded until the event is looked up: what the process has mapped now is gone in a moment. */
void tracker_look(struct tracker *tracker, const struct sbt_event *event);
/* Asks for what must be asked of a process while it is there, and does nothing else: others may be being acted on. */
void tracker_glance(struct tracker *tracker, const struct sbt_event *event);
/* Acts on an event the moment it is known. */
void tracker_event(struct tracker *tracker, const struct sbt_event *event);
/*
 * The process is not looked at where its threads wait on condition variables, or is again (@rest): the new probes are in place
 * then, and those before it are to be removed. Returns 0, -ENOENT: it is not known, -ENOTSUP, or -errno.
 */
int tracker_rest(struct tracker *tracker, uint32_t tgid, uint32_t inc, bool rest);
/* The same of where its threads wait for their turn: what it waits there is known in part only from then on. */
int tracker_rest_turns(struct tracker *tracker, uint32_t tgid, uint32_t inc, bool rest);
/* The same of waits on semaphores. */
int tracker_rest_sems(struct tracker *tracker, uint32_t tgid, uint32_t inc, bool rest);
/*
 * Calls @each with an event (SBT_REC_MAP) for code that traced processes have mapped, as far as no probe reports it. It is for
 * tracker_event(), as those of the kernel's side are.
 */
void tracker_mapped(struct tracker *tracker, void (*each)(void *ctx, const struct sbt_event *event),
		    void *ctx);
/* What is to be waited for until then: the number @i, or -1 after the last. */
int tracker_mapped_fd(const struct tracker *tracker, uint32_t i);
/* Looks at processes whose dynamic linkers were at work. To be called when tracker_due() says: CLOCK_MONOTONIC, 0 never. */
void tracker_settle(struct tracker *tracker);
uint64_t tracker_due(const struct tracker *tracker);
/* Tracing ended then: what processes that were not looked at by then may have missed is counted. */
void tracker_end(struct tracker *tracker, uint64_t end_ns);
/*
 * To be called again and again: closes files that no traced process maps any more, so that their file systems can be
 * unmounted. What has been recorded so far must have been read.
 */
void tracker_step(struct tracker *tracker, uint64_t now_ns);
/* The process has ended, and nothing of it is asked for any more. */
void tracker_forget(struct tracker *tracker, uint32_t tgid, uint32_t inc);
/* Waits that the kernel saw in processes that had ended before they could have probes on waits. */
uint64_t tracker_unprobed(const struct tracker *tracker);
/*
 * -a: processes that may have crossed barriers before the probes of their files were there, and reports of what processes mapped that there
 * was no room for, so far.
 */
void tracker_unseen(const struct tracker *tracker, uint64_t *late, uint64_t *unseen);
/* Processes that traced ones have made so far, and programs that these have executed; COMMAND itself is not counted. */
void tracker_made(const struct tracker *tracker, uint64_t *made, uint64_t *executed);
/* Readable when a file that has probes is written to (-1: that is not known), and what is to be done then, as long as nobody runs what is new there. */
int tracker_written_fd(const struct tracker *tracker);
void tracker_written(struct tracker *tracker);
/* What is known of the ranks of MPI among them. */
struct ranks *tracker_ranks(const struct tracker *tracker);
/* What feed_new() has to know of processes. */
struct feed_processes tracker_for_feed(struct tracker *tracker);

/*
 * Notes which threads of a process (of every process, with @pid 0) wait at a futex now and were not seen
 * to arrive: they may be inside a barrier since before its probe was there.
 */
void tracker_note_waiting(struct tracker *tracker, int pid);
/* Prints what was looked for and where: nothing was found. @aggregate: for pthread barriers alone. */
void tracker_explain(const struct tracker *tracker, bool aggregate);
/* Says which files wait in code of which no function is left. */
void tracker_tell_inlined(const struct tracker *tracker);
/* Says which ranks of MPI crossed no barrier, but may wait in calls that are not traced. */
void tracker_tell_ranks(const struct tracker *tracker, const struct model *model);
/* It is known of a rank that it crosses barriers, and it has ended. */
void tracker_forget_rank(struct tracker *tracker, uint32_t tgid);
/* Does anything traced have a barrier in it at all? */
bool tracker_have_places(const struct tracker *tracker);
/* Were probes put on instructions that the kernel must single-step? */
/* How many places of the user's rule @rule, from 1, have a probe. */
uint32_t tracker_probed(const struct tracker *tracker, uint32_t rule);
bool tracker_stepped(const struct tracker *tracker);

#endif /* CAPTURE_PROCESS_TRACKER_H */
