/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find the code that the traced processes run, attach the needed probes, choose how departures are
 * seen, and resume processes that were stopped for this. The tracker acts on events from the kernel
 * at once, before the model gets the events.
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
 * Probe the files that sbt-trace itself runs, because most programs use the same libraries. Also
 * probe the programs that COMMAND names, even within a word (sh -c "./a; ./b"), before they run.
 * @command may be NULL.
 */
int tracker_add_own(struct tracker *tracker, char *const command[]);
/*
 * Trace a running process from now on. Return 0 or -errno (-ESRCH: it has exited) after printing
 * why the process cannot be traced.
 */
int tracker_add_pid(struct tracker *tracker, int pid);
/*
 * Probe the programs that the command line of a running process names. A shell, for example, may
 * execute them. Call it after all processes have been added.
 */
int tracker_add_words(struct tracker *tracker, int pid);
/* Trace a child of sbt-trace that will execute COMMAND. */
int tracker_add_child(struct tracker *tracker, int pid);
/* Trace a process of another sbt-trace that will execute COMMAND. */
int tracker_add_other(struct tracker *tracker, int pid);
/* Probe every library that any process of the machine has mapped now. */
int tracker_scan_all(struct tracker *tracker);

/*
 * Examine the process of @event before earlier events are processed: its mappings may soon be gone.
 */
void tracker_look(struct tracker *tracker, const struct sbt_event *event);
/*
 * Read only the data that vanishes with the process. This may be called while another event is
 * handled.
 */
void tracker_glance(struct tracker *tracker, const struct sbt_event *event);
/*
 * Act on an event at once. If the process was stopped at the event, return when it was resumed;
 * else return 0.
 */
uint64_t tracker_event(struct tracker *tracker, const struct sbt_event *event);
/*
 * If @rest is set, pause the probes on condition variables of the process. Otherwise resume them.
 * On return the new probes are attached, and the caller must remove the earlier ones. Return 0,
 * -ENOENT if the process is unknown, -ENOTSUP or -errno.
 */
int tracker_rest(struct tracker *tracker, uint32_t tgid, uint32_t inc, bool rest);
/*
 * Do the same for probes on turns. The process's waits for turns are only partly known from then
 * on.
 */
int tracker_rest_turns(struct tracker *tracker, uint32_t tgid, uint32_t inc, bool rest);
/* Do the same for probes on semaphores. */
int tracker_rest_sems(struct tracker *tracker, uint32_t tgid, uint32_t inc, bool rest);
/*
 * Call @each with an SBT_REC_MAP event for code that traced processes have mapped, unless a probe
 * reports the mapping. Pass these events to tracker_event().
 */
void tracker_mapped(struct tracker *tracker, void (*each)(void *ctx, const struct sbt_event *event),
		    void *ctx);
/* Return file descriptor number @i to poll for mapped code, or -1 after the last. */
int tracker_mapped_fd(const struct tracker *tracker, uint32_t i);
/* Examine processes in which the dynamic linker was running. Call it at tracker_due(). */
void tracker_settle(struct tracker *tracker);
/* Return when tracker_settle() is due (CLOCK_MONOTONIC), or 0 for never. */
uint64_t tracker_due(const struct tracker *tracker);
/* Count the possible losses of processes that were not examined by @end_ns, the end of tracing. */
void tracker_end(struct tracker *tracker, uint64_t end_ns);
/*
 * Close files that no traced process maps any more, so that their file systems can be unmounted.
 * Call it repeatedly, after all events recorded so far have been read.
 */
void tracker_step(struct tracker *tracker, uint64_t now_ns);
/* Forget a process that has ended. It must not be looked up afterwards. */
void tracker_forget(struct tracker *tracker, uint32_t tgid, uint32_t inc);
/*
 * Return the number of waits that the kernel saw in processes that ended before they were probed.
 */
uint64_t tracker_unprobed(const struct tracker *tracker);
/*
 * With -a, get how many processes may have crossed barriers before their files were probed (@late),
 * and how many reports of mappings were lost for lack of space (@unseen).
 */
void tracker_unseen(const struct tracker *tracker, uint64_t *late, uint64_t *unseen);
/*
 * Set *made to the number of processes that traced processes created, and *executed to the number
 * of programs that traced processes executed. COMMAND itself is not counted.
 */
void tracker_made(const struct tracker *tracker, uint64_t *made, uint64_t *executed);
/* Return a descriptor that is readable when a file with probes is written to; -1: not watched. */
int tracker_written_fd(const struct tracker *tracker);
/* Handle writes to files with probes, before a process runs the new content. */
void tracker_written(struct tracker *tracker);
/* Return the known facts about the traced MPI ranks. */
struct ranks *tracker_ranks(const struct tracker *tracker);
/* Return the callbacks for feed_new(). */
struct feed_processes tracker_for_feed(struct tracker *tracker);

/*
 * Note which threads of process @pid (0: of all processes) wait on a futex now and were not seen to
 * arrive. These threads may have arrived at a barrier before it was probed.
 */
void tracker_note_waiting(struct tracker *tracker, int pid);
/*
 * Print what was searched for, and where, if nothing was found. @aggregate: only pthread barriers
 * were searched for.
 */
void tracker_explain(const struct tracker *tracker, bool aggregate);
/* Report the libraries that divide work among threads of their own, without a barrier to trace. */
void tracker_report_teams(const struct tracker *tracker);
/* Report the files in which waits are inlined, so that there is no function to probe. */
void tracker_report_inlined(const struct tracker *tracker);
/* Report the MPI ranks that crossed no barrier but may wait in calls that are not traced. */
void tracker_report_ranks(const struct tracker *tracker, const struct model *model);
/* Forget a rank that has ended and is known to cross barriers. */
void tracker_forget_rank(struct tracker *tracker, uint32_t tgid);
/* Report the processes that run Go or Java: barriers of these runtimes are not seen. */
void tracker_report_runtimes(const struct tracker *tracker);
/* Return whether the process is one of these. */
bool tracker_has_runtime(const struct tracker *tracker, uint32_t tgid);
/* Return whether all traced processes are, so that there is no place where to look further. */
bool tracker_only_runtimes(const struct tracker *tracker);
/* Return whether the process runs Java. */
bool tracker_runs_java(const struct tracker *tracker, uint32_t tgid);
/* Return whether any probe site has a probe. */
bool tracker_have_places(const struct tracker *tracker);
/* Return how many probe sites of the user's rule @rule, counted from 1, have a probe. */
uint32_t tracker_probed(const struct tracker *tracker, uint32_t rule);
/* Return whether probes are on instructions that the kernel must single-step. */
bool tracker_stepped(const struct tracker *tracker);

#endif /* CAPTURE_PROCESS_TRACKER_H */
