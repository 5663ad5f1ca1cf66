/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the files of targets share, and nobody else includes. */
#ifndef CAPTURE_PROCESS_TRACKER_INTERNAL_H
#define CAPTURE_PROCESS_TRACKER_INTERNAL_H

#include "attach/mappings.h"
#include "base/hash.h"
#include "capture/probes.h"
#include "capture/process_tracker.h"
#include "target/job.h"

/* A process whose dynamic linker is at work. */
struct starting {
	uint32_t tgid, inc; /* inc 0: of -a, not traced yet */
	bool changed; /* code has been mapped since its mappings were read */
	uint64_t since_ns, due_ns;
};

struct tracker {
	struct attach *attach;
	struct modules *modules;
	struct address_spaces *spaces;
	struct tracker_options options;
	struct probes probes;
	struct hash waiting; /* tid -> futex word, as its probe came */
	struct hash seen; /* inc << 32 | tgid: there are probes where its threads wait */
	struct mappings *mappings; /* NULL: they are not needed, or not to be had */
	struct sbt_event *mapped; /* what they said, and has not been acted on */
	uint32_t nmapped, mapped_cap;
	struct hash changes; /* tgid -> how often they said that it mapped code */
	struct hash
		named; /* tgid that is probed where its dynamic linker reports -> probes_loader()'s leader */
	struct hash unnamed; /* tgid of other processes that are traced, by their parents */
	bool watching; /* they are asked for */
	bool missed; /* what some processes mapped was not seen */
	struct birth
		*births; /* -a: processes that have executed a program, which is to be decided */
	uint32_t nbirths, births_cap;
	struct hash birth_of; /* tgid -> its index */
	struct hash decided; /* program -> when it was decided last with all its libraries */
	uint64_t
		late; /* -a: processes that may have crossed barriers before their files had probes */
	struct hash late_of; /* tgid of these -> when that was found */
	uint64_t made,
		executed; /* processes that traced ones made; programs that traced ones executed, COMMAND not counted */
	uint64_t unprobed; /* tracker_unprobed() */
	uint64_t unseen; /* reports of mapped code that there was no room for */
	struct starting *starting;
	uint32_t nstarting, starting_cap;
	struct hash
		copied; /* tgid -> pages searched for copies of code << 1 | a remark says that there are some */
	struct hash
		jobs; /* inc << 32 | tgid -> struct job, of ranks that have executed a program */
	struct hash
		classified; /* struct module of a rank's program -> what targets_coming.c says of it */
	uint32_t child; /* COMMAND before it is executed: our own image */
	uint64_t generation;
	uint64_t closed_ns; /* when files that are not used were closed last */
	struct ranks *ranks;
	struct hash silent_ranks; /* tgid -> tracker_ranks.c's */
};

/* targets.c */
/* The module that a process has mapped there, or NULL: no code of a file. Likewise of mapping @i of a space. */
struct module *tracker_mapped_at(struct tracker *t, int pid, const struct maps_entry *entry);
struct module *tracker_module(struct tracker *t, const struct address_space *space, size_t i);
/* Reads what the process has mapped and probes what is in it. Returns 0 or -errno. */
int tracker_examine(struct tracker *t, struct address_space *space);
/* Its crossings count from now on: nothing that is still to be mapped changes how its departures may be seen. */
void tracker_settled(struct tracker *t, struct address_space *space);
/* -a, a process that is not traced yet: probes what it has mapped. */
struct tracker_scan {
	bool partial; /* its dynamic linker was at work */
	bool fresh; /* files with barriers had no probes before */
};
struct tracker_scan tracker_scan_once(struct tracker *t, int pid);
/* -a: probes a file that a process has mapped. Returns whether it has barriers, and had no probes before. */
bool tracker_probe_file(struct tracker *t, int pid, const struct maps_entry *entry);
/* -a: probes the exits of what this process runs, if return probes could hurt it. Returns the verdict's flags. */
uint32_t tracker_scan_departures(struct tracker *t, int pid, const struct maps *maps,
				 const char *refusal);

/* targets_coming.c */
/*
 * A program that will be run by who is traced, and may not be held then: @entry is our own mapping of it. Says to the kernel's side what can be
 * said now. @rank: all the files that it needs are looked for, as of programs of OpenMP's.
 */
void tracker_classify_coming(struct tracker *t, const struct maps_entry *entry,
			     struct module *module, bool rank);
/* The same of a process that has executed a program and is not held: its crossings count from now on, if what it will map is known. */
void tracker_classify_executed(struct tracker *t, const struct address_space *space);

/* It has ended, or runs another program: who it was is known, if it was glanced at. */
void tracker_rank_gone(struct tracker *t, const struct sbt_event *exec);
/* The job of a process, as it was when it was glanced at, or as it is. */
void tracker_job(struct tracker *t, uint32_t tgid, uint32_t inc, struct job *out);
void tracker_forget_job(struct tracker *t, uint32_t tgid, uint32_t inc);
void tracker_free_coming(struct tracker *t);

/* targets_births.c */
/* A process has executed a program. */
void tracker_birth(struct tracker *t, const struct mappings_event *exec);
bool tracker_is_birth(const struct tracker *t, uint32_t tgid);
/* A process has mapped code of a file. False: it is none that was seen to execute a program, or its program has been decided. */
bool tracker_birth_maps(struct tracker *t, const struct mappings_event *m);
/* Probes the files that were mapped since. */
void tracker_births_examine(struct tracker *t);
/* Decides how programs are to be traced, where that is due; @read reads what was mapped until now. */
void tracker_births_settle(struct tracker *t, void (*read)(struct tracker *t));
/* Tracing ended at @end_ns: counts those that may have crossed barriers by then, of all that are still to be decided. */
void tracker_births_end(struct tracker *t, uint64_t end_ns);
/* Does the process that mapped the file last still do so? */
bool tracker_still_mapped(const struct module *module);
/* Removes the probes of a file that was written anew, and all that is known of the program in it. */
void tracker_forget_file(struct tracker *t, struct module *module);
/* CLOCK_MONOTONIC, 0 never. */
uint64_t tracker_births_due(const struct tracker *t);
/* Counts a process that may have crossed barriers before their files had probes. */
void tracker_count_late(struct tracker *t, uint32_t tgid);
void tracker_births_free(struct tracker *t);

/* targets_copies.c */
/* SBT_REC_COPY: replaces breakpoints in copies of code by what they stand for, and resumes the process. */
void tracker_copied(struct tracker *t, const struct sbt_event *event);
/* Nobody tells of the end of processes that are not traced: what is known of those that have ended is dropped. */
void tracker_copied_forget(struct tracker *t);

/* targets_waits.c */
void tracker_examine_turns(struct tracker *t, struct address_space *space);
/* @running: it was not held, and may have waited before. */
int tracker_examine_waits(struct tracker *t, struct address_space *space, bool running);
/* A process was forked. */
void tracker_examine_forked(struct tracker *t, struct address_space *child);

/* tracker_ranks.c */
/* A process that has MPI mapped, each time that it is looked at: what its code calls. @program: a path; NULL not known. */
void tracker_note_rank(struct tracker *t, uint32_t tgid, const struct job *job,
		       const struct untraced *untraced, const char *program);
/* The same with -a, of a process that is not traced yet, nor ever is if it crosses no barrier. */
void tracker_scan_rank(struct tracker *t, int pid, const struct maps *maps);
void tracker_free_ranks(struct tracker *t);

/* targets_linker.c */
/* address_spaces_set_changes(): how often the process has changed what it maps. */
int tracker_changes(void *ctx, uint32_t tgid, uint32_t inc, uint32_t *n);
/* Asks the kernel for what processes map, or no longer. Returns whether it is asked from now on. */
bool tracker_watch(struct tracker *t);
/* Has the process executed a program that is still to be decided, by what the kernel said of it up to now? */
bool tracker_follows(struct tracker *t, uint32_t tgid);
/* @changed: to be looked at as soon as what is known of other processes has been read. Returns 0 or -ENOMEM. */
int tracker_starting_add(struct tracker *t, uint32_t tgid, uint32_t inc, bool changed);
/* What the process had mapped up to now has been looked at. */
void tracker_starting_done(struct tracker *t, uint32_t tgid, uint32_t inc);
/* Processes of which their own dynamic linkers tell: one that runs, one that is about to execute, one that has. Return 0 or -errno. */
int tracker_name(struct tracker *t, int pid);
int tracker_name_coming(struct tracker *t, int pid);
int tracker_name_starting(struct tracker *t, struct address_space *space);

/* For feed_processes. */
uint64_t tracker_was_waiting(struct tracker *t, uint32_t tid);
bool tracker_is_late(const struct tracker *t, uint32_t tgid, uint64_t start_ns);

#endif /* CAPTURE_PROCESS_TRACKER_INTERNAL_H */
