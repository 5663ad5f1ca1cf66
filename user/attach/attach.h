/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * How probes get to their places: the BPF object, the ladder of attach methods, what is told to the
 * programs and what is read from them. Data begins at one instant, with attach_arm().
 */
#ifndef ATTACH_ATTACH_H
#define ATTACH_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../bpf/state.h"

enum attach_method { ATTACH_SESSION, ATTACH_MULTI, ATTACH_PERF, ATTACH_METHODS };

const char *attach_method_name(enum attach_method method);
/* -EINVAL if there is no such method. */
int attach_method_parse(const char *name, enum attach_method *out);

struct attach_options {
	struct sbt_config config; /* self, nrings and by_exit are set here */
	enum attach_method first; /* where the ladder begins */
	bool by_process; /* probes for single processes only: children are not followed */
	size_t ring_bytes; /* a CPU's ring; rounded up to a power of two of pages */
	uint32_t max_threads; /* a power of two */
	uint32_t max_processes;
	int verbose;
};

struct attach; /* opaque */

/*
 * Loads by the first rung of the ladder that works: each is tried with a probe on sbt-trace itself.
 * Returns 0, or -errno with a sentence for the user in @why.
 */
int attach_new(const struct attach_options *options, struct attach **out, char *why, size_t len);
/* Removes every probe, then frees. */
void attach_free(struct attach *attach);
/* Removes the probes from all targets; what was counted can still be read. */
void attach_remove_probes(struct attach *attach);

/* Removes everything: nothing is counted or recorded any more, what was can still be read. */
void attach_stop(struct attach *attach);

enum attach_method attach_method(const struct attach *attach);
/* Why it is not a better one; "" if there is none. */
const char *attach_reason(const struct attach *attach);

/* Where a function is entered and left, in a file. */
struct attach_place {
	int fd; /* the file; may be closed afterwards */
	uint64_t entry;
	uint32_t nexits; /* 0: not known */
	const uint64_t *exits;
};

/*
 * Puts the probes for one function of one file, for every process that runs it (@pid 0) or for
 * one. @by_exit: departures at the exits instead of return probes (always so where the rung is not session and
 * the probes are not for one process). Returns 0 or -errno.
 */
int attach_place(struct attach *attach, const struct attach_place *place, int pid, bool by_exit);
/* Does attach_place() use the exits for everybody? Then the caller must know them. */
bool attach_only_exits(const struct attach *attach);

/* Adds the exits to a place that has its entry: for processes where return probes may not be used. */
int attach_exits(struct attach *attach, const struct attach_place *place, int pid);

/* The place in a dynamic linker that tells when libraries have come or gone: SBT_REC_MAP. */
int attach_loader(struct attach *attach, int fd, uint64_t offset, int pid);

/* The place where barriers are made, in the same file. */
int attach_made(struct attach *attach, int fd, uint64_t offset, int pid);
/* Every making of a barrier is seen: what was read of one holds until then. */
void attach_keep_words(struct attach *attach, bool on);

/* A process is traced from now on. */
int attach_add_process(struct attach *attach, uint32_t tgid, uint32_t inc, uint32_t flags);
/* Sets and clears flags of a process and of its threads. -ENOENT: it is gone, or another. */
int attach_flag_process(struct attach *attach, uint32_t tgid, uint32_t inc, uint32_t set,
			uint32_t clear);
/*
 * The program in this file has been examined: nobody who runs it need be stopped because of it, and -a
 * may trace it. @flags: SBT_PROC_EXCLUDED, SBT_PROC_BY_EXIT. @settled: its libraries too; else they are
 * still to be told of.
 */
int attach_know_program(struct attach *attach, uint32_t dev, uint64_t ino, uint32_t flags,
			bool settled);

void attach_arm(struct attach *attach, bool on);
void attach_counts(const struct attach *attach, struct sbt_counts *out);
/* Crossings that should have reached user space, by the count that each thread keeps itself. */
uint64_t attach_produced(const struct attach *attach, const struct sbt_counts *counts);

/* The map of processes, for the guard. */
int attach_procs_fd(const struct attach *attach);

/* The rings: one a CPU, and the ring of events. */
uint32_t attach_nrings(const struct attach *attach);
int attach_ring_fd(const struct attach *attach, uint32_t index);
size_t attach_ring_bytes(const struct attach *attach);
int attach_events_fd(const struct attach *attach);
size_t attach_events_bytes(const struct attach *attach);

/* Calls @each for every thread that is inside a barrier now. */
void attach_each_pending(const struct attach *attach,
			 void (*each)(void *ctx, uint32_t tid, const struct sbt_thread *thread),
			 void *ctx);

/* Is the thread inside a barrier, its arrival seen? */
bool attach_is_inside(const struct attach *attach, uint32_t tid);

/*
 * What one crossing costs a traced thread, in ns: measured on sbt-trace's own code with the same programs,
 * the same rung and the same kind of instruction, median of several runs. @drain is called now and then to
 * empty the rings. NAN if it cannot be had.
 */
double attach_calibrate(struct attach *attach, bool stepped, bool by_exit, void (*drain)(void *ctx),
			void *ctx);

/* The same for the commonest case, by the probe that attach_new() has left on us: a few milliseconds, any time. */
double attach_calibrate_quick(struct attach *attach, void (*drain)(void *ctx), void *ctx);

#endif /* ATTACH_ATTACH_H */
