/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Declarations shared by the process_tracker_*.c files. */
#ifndef CAPTURE_PROCESS_TRACKER_INTERNAL_H
#define CAPTURE_PROCESS_TRACKER_INTERNAL_H

#include "attach/mappings.h"
#include "base/hash.h"
#include "capture/probes.h"
#include "capture/process_tracker.h"
#include "target/job.h"

/* A process in which the dynamic linker is running. */
struct starting {
	uint32_t tgid, inc; /* inc 0: a process of -a that is not traced yet */
	bool changed; /* it has mapped code since its mappings were read */
	uint64_t since_ns, due_ns;
};

struct tracker {
	struct attach *attach;
	struct modules *modules;
	struct address_spaces *spaces;
	struct tracker_options options;
	struct probes probes;
	/* tid -> address of the futex word at which the thread waited when probes were attached */
	struct hash waiting;
	struct hash seen; /* keys inc << 32 | tgid: processes with probes where threads wait */
	/* reports of mappings from the kernel; NULL: not needed, or not available */
	struct mappings *mappings;
	struct sbt_event *mapped; /* events about mapped code that have not been handled yet */
	uint32_t nmapped, mapped_cap;
	struct hash changes; /* tgid -> number of reports that the process mapped code */
	/*
	 * tgid of processes with a probe on their own dynamic linker -> @leader of probes_loader()
	 */
	struct hash named;
	/* tgid of traced processes without a probe on their own dynamic linker */
	struct hash unnamed;
	bool watching; /* mappings are requested from the kernel */
	bool missed; /* the mappings of some processes were not seen */
	/* -a: processes for which it is not decided yet how to trace their program */
	struct birth *births;
	uint32_t nbirths, births_cap;
	struct hash birth_of; /* tgid -> index in births */
	/* program -> when it was last decided, with all libraries mapped, how to trace it */
	struct hash decided;
	/* -a: number of processes that may have crossed barriers before their files were probed */
	uint64_t late;
	struct hash late_of; /* tgid of each such process -> when it was found to be late */
	uint64_t made; /* number of processes that traced processes created */
	uint64_t executed; /* programs that traced processes executed, except COMMAND */
	uint64_t unprobed; /* returned by tracker_unprobed() */
	uint64_t unseen; /* reports of mapped code that were lost for lack of space */
	struct starting *starting;
	uint32_t nstarting, starting_cap;
	/*
	 * tgid -> number of pages searched for copies of code << 1 | 1 if a remark reported copies
	 */
	struct hash copied;
	/* inc << 32 | tgid -> struct job, of ranks that have executed a program */
	struct hash jobs;
	/* struct module of a rank's program -> CLASSIFIED and flags (process_tracker_coming.c) */
	struct hash classified;
	uint32_t child; /* process id of COMMAND; until its exec it runs the image of sbt-trace */
	uint64_t generation;
	uint64_t closed_ns; /* when unused files were last closed */
	uint64_t resumed_ns; /* when the process of the present event was resumed; 0: it was not */
	struct ranks *ranks;
	struct hash silent_ranks; /* tgid -> struct silent_rank */
	struct hash runtimes; /* tgid -> struct runtime_process */
	struct hash plain; /* tgids of other processes, up to a limit -> 1 */
};

/* process_tracker.c */
/* Resume the process if it was stopped at the event. */
void tracker_resume(struct tracker *t, const struct sbt_event *event);
/*
 * Return the module of @entry, or of mapping @i of @space. Return NULL if the mapping is not code
 * of a file.
 */
struct module *tracker_mapped_at(struct tracker *t, int pid, const struct maps_entry *entry);
struct module *tracker_module(struct tracker *t, const struct address_space *space, size_t i);
/* Read the mappings of the process and attach probes to the files. Return 0 or -errno. */
int tracker_examine(struct tracker *t, struct address_space *space);
/*
 * Record the crossings of the process from now on. Call this once later mappings can no longer
 * change how its departures are seen.
 */
void tracker_settled(struct tracker *t, struct address_space *space);
/* -a: probe the mappings of a process that is not traced yet. */
struct tracker_scan {
	bool partial; /* its dynamic linker was running */
	bool fresh; /* files with barriers had no probes before */
};
struct tracker_scan tracker_scan_once(struct tracker *t, int pid);
/* -a: probe a mapped file. Return whether it has barriers and had no probes before. */
bool tracker_probe_file(struct tracker *t, int pid, const struct maps_entry *entry);
/* -a: probe exits where return probes could harm this process. Return the flags of the verdict. */
uint32_t tracker_scan_departures(struct tracker *t, int pid, const struct maps *maps,
				 const char *refusal);

/* process_tracker_coming.c */
/*
 * Classify a program that a traced process will run without being stopped, and pass the result to
 * the BPF programs. @entry: sbt-trace's own mapping of the program. @rank: search all files that
 * the program needs, as for OpenMP programs.
 */
void tracker_classify_coming(struct tracker *t, const struct maps_entry *entry,
			     struct module *module, bool rank);
/*
 * Classify a running process after exec. If its later mappings are known, count its crossings from
 * now on.
 */
void tracker_classify_executed(struct tracker *t, const struct address_space *space);

/* Note a rank that ended before it was examined, if tracker_glance() kept its job. */
void tracker_rank_gone(struct tracker *t, const struct sbt_event *exec);
/* Get the job of a process, as tracker_glance() saw it or as it is now. */
void tracker_job(struct tracker *t, uint32_t tgid, uint32_t inc, struct job *out);
void tracker_forget_job(struct tracker *t, uint32_t tgid, uint32_t inc);
void tracker_free_coming(struct tracker *t);

/* process_tracker_births.c */
/* Note that a process has executed a program. */
void tracker_birth(struct tracker *t, const struct mappings_event *exec);
bool tracker_is_birth(const struct tracker *t, uint32_t tgid);
/*
 * Note mapped code. Return false if the process was not seen to execute a program, if it is decided
 * already how to trace the program, or if memory runs out.
 */
bool tracker_birth_maps(struct tracker *t, const struct mappings_event *m);
/* Probe the files that were mapped since the last call. */
void tracker_births_examine(struct tracker *t);
/*
 * Decide how to trace the programs of the processes that are due. @read reads all mappings that
 * were reported until now.
 */
void tracker_births_settle(struct tracker *t, void (*read)(struct tracker *t));
/*
 * At the end of tracing (@end_ns), count the processes that may have crossed barriers before it was
 * decided how to trace their program.
 */
void tracker_births_end(struct tracker *t, uint64_t end_ns);
/* Return whether the process that last mapped the file still maps it. */
bool tracker_still_mapped(const struct module *module);
/* Remove the probes of a rewritten file and forget its program. */
void tracker_forget_file(struct tracker *t, struct module *module);
/* Return when tracker_births_settle() is due (CLOCK_MONOTONIC), or 0 for never. */
uint64_t tracker_births_due(const struct tracker *t);
/* Count a process that may have crossed barriers before its files were probed. */
void tracker_count_late(struct tracker *t, uint32_t tgid);
void tracker_births_free(struct tracker *t);

/* process_tracker_copies.c */
/* Handle SBT_REC_COPY: restore the code under copied breakpoints and resume the process. */
void tracker_copied(struct tracker *t, const struct sbt_event *event);
/* Forget processes that have ended, because the end of untraced processes is not reported. */
void tracker_copied_forget(struct tracker *t);

/* process_tracker_waits.c */
void tracker_examine_turns(struct tracker *t, struct address_space *space);
/* @running: the process was not stopped, so its threads may already be waiting. */
int tracker_examine_waits(struct tracker *t, struct address_space *space, bool running);
/* Return whether Python code in the process may synchronize with other processes. */
bool tracker_has_multiprocessing(struct tracker *t, const struct address_space *space);
/* Handle a fork. */
void tracker_examine_forked(struct tracker *t, struct address_space *child);

/* process_tracker_ranks.c */
/* Note the untraced calls of a process that maps MPI. @program: its path; NULL: unknown. */
void tracker_note_rank(struct tracker *t, uint32_t tgid, const struct job *job,
		       const struct untraced *untraced, const char *program);
/*
 * With -a, note the untraced calls of a process that is not traced yet. If the process crosses no
 * barrier, it is never traced.
 */
void tracker_scan_rank(struct tracker *t, int pid, const struct maps *maps);
void tracker_free_ranks(struct tracker *t);

/* process_tracker_runtimes.c */
/* Note whether the process runs Go or Java now. Call this each time it has been examined. */
void tracker_note_runtimes(struct tracker *t, const struct address_space *space);
void tracker_free_runtimes(struct tracker *t);

/* process_tracker_linker.c */
/* Get how often the process has changed its mappings (for address_spaces_set_changes()). */
int tracker_changes(void *ctx, uint32_t tgid, uint32_t inc, uint32_t *n);
/* Ask the kernel to report mapping changes. Return whether it does. */
bool tracker_watch(struct tracker *t);
/*
 * Return whether the process was seen to execute a program, and it is not decided yet how to trace
 * that program.
 */
bool tracker_follows(struct tracker *t, uint32_t tgid);
/* Queue a process; @changed: examine it after the next read of events. Return 0 or -ENOMEM. */
int tracker_starting_add(struct tracker *t, uint32_t tgid, uint32_t inc, bool changed);
/* Note that all current mappings of the process have been examined. */
void tracker_starting_done(struct tracker *t, uint32_t tgid, uint32_t inc);
/*
 * Probe the dynamic linker of one process. There is a function for a process that runs, for a
 * process that will execute a program, and for a process that has executed it. Return 0 or -errno.
 */
int tracker_name(struct tracker *t, int pid);
int tracker_name_coming(struct tracker *t, int pid);
int tracker_name_starting(struct tracker *t, struct address_space *space);

/* The function for struct feed_processes. */
bool tracker_is_late(const struct tracker *t, uint32_t tgid, uint64_t start_ns);

#endif /* CAPTURE_PROCESS_TRACKER_INTERNAL_H */
