/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the files of targets share, and nobody else includes. */
#ifndef CMD_TARGETS_INTERNAL_H
#define CMD_TARGETS_INTERNAL_H

#include "attach/mappings.h"
#include "base/hash.h"
#include "cmd/probes.h"
#include "cmd/targets.h"

/* A process whose dynamic linker is at work. */
struct starting {
	uint32_t tgid, inc; /* inc 0: of -a, not traced yet */
	bool changed; /* code has been mapped since its mappings were read */
	uint64_t since_ns, due_ns;
};

struct targets {
	struct attach *attach;
	struct modules *modules;
	struct spaces *spaces;
	struct targets_options options;
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
	struct hash scanned; /* -a: program -> when it was looked at last */
	struct starting *starting;
	uint32_t nstarting, starting_cap;
	uint32_t child; /* COMMAND before it is executed: our own image */
	uint64_t generation;
	uint64_t closed_ns; /* when files that are not used were closed last */
	struct ranks *ranks;
};

/* targets.c */
/* The module that a process has mapped there, or NULL: no code of a file. Likewise of mapping @i of a space. */
struct module *targets_mapped_at(struct targets *t, int pid, const struct maps_entry *entry);
struct module *targets_module(struct targets *t, const struct space *space, size_t i);
/* Reads what the process has mapped and probes what is in it. Returns 0 or -errno. */
int targets_examine(struct targets *t, struct space *space);
/* Its crossings count from now on: nothing that is still to be mapped changes how its departures may be seen. */
void targets_settled(struct targets *t, struct space *space);
/*
 * -a, a process that is not traced yet: probes what it has mapped. Returns whether the dynamic linker was still at it. *settled: all that
 * the program was linked with is there.
 */
bool targets_scan_once(struct targets *t, int pid, bool *settled);

/* targets_waits.c */
void targets_examine_turns(struct targets *t, struct space *space);
/* @running: it was not held, and may have waited before. */
void targets_examine_waits(struct targets *t, struct space *space, bool running);

/* targets_linker.c */
/* spaces_set_changes(): how often the process has changed what it maps. */
int targets_changes(void *ctx, uint32_t tgid, uint32_t inc, uint32_t *n);
/* Asks the kernel for what processes map, or no longer. Returns whether it is asked from now on. */
bool targets_watch(struct targets *t);
/* @changed: to be looked at as soon as what is known of other processes has been read. Returns 0 or -ENOMEM. */
int targets_starting_add(struct targets *t, uint32_t tgid, uint32_t inc, bool changed);
/* What the process had mapped up to now has been looked at. */
void targets_starting_done(struct targets *t, uint32_t tgid, uint32_t inc);
/* Processes of which their own dynamic linkers tell: one that runs, one that is about to execute, one that has. Return 0 or -errno. */
int targets_name(struct targets *t, int pid);
int targets_name_coming(struct targets *t, int pid);
int targets_name_starting(struct targets *t, struct space *space);

#endif /* CMD_TARGETS_INTERNAL_H */
