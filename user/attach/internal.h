/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Internals of this room, included only by its own files. */
#ifndef ATTACH_INTERNAL_H
#define ATTACH_INTERNAL_H

#include <pthread.h>
#include <sys/stat.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "attach/attach.h"
#include "attach/copies.h"
#include "attach/probe_sites.h"
#include "sbt.skel.h"

/* rate of samples (1/s) where the tick cannot be used and the user set no rate */
#define ATTACH_SAMPLE_HZ 250
#define EVENTS_BYTES	 (1u << 20)
/*
 * Maximum number of removals in progress. At the limit, a removal waits until all earlier ones have
 * finished.
 */
#define ATTACH_CLOSING	 8

/* attach_link.tag of the probe on sbt-trace itself. No tag of a caller has this value. */
#define SELF_TAG UINT64_MAX

/* One attachment: probes that are attached and removed together. */
struct attach_link {
	int fd;
	int pid; /* only for this process; 0: for all processes that run the file */
	/*
	 * SBT_PROBE_GROUP(); 0: the probes belong to no barrier, for example the dynamic linker's
	 * probe
	 */
	uint64_t probe_groups;
	uint8_t waits; /* enum attach_waits_kind; 0: the probes are not on waits */
	uint64_t tag; /* attach_probe_site.tag */
	dev_t dev; /* device of the file, as in fstat(); ino 0: unknown */
	ino_t ino;
};

struct attach {
	struct sbt_bpf *skel;
	enum attach_method method;
	bool filters_process;
	bool only_exits; /* return probes are only used in sessions */
	bool cookies; /* probes can carry a number (cookie) */
	bool account; /* threads' time is accounted for */
	bool samples; /* threads on a CPU are sampled */
	bool sample_ticks; /* they are sampled at the kernel's tick, if possible */
	uint32_t sample_hz; /* rate of samples (1/s) that the user set; 0: none */
	uint64_t sample_ns; /* interval between samples of a CPU; 0: no samples are taken */
	/* Waits for the exit of another thread are reported without probes: bpf/join.h */
	bool joins;
	bool futexes; /* futex calls are traced */
	bool pythons; /* threads of Python programs that wake others are traced */
	char reason[256];
	char account_reason[256];
	char sample_reason[256];
	uint32_t nrings;
	int *rings;
	size_t ring_bytes;
	pthread_t rings_thread; /* valid while rings_filling */
	bool rings_filling;
	int rings_error;
	struct sbt_thread *threads; /* the map that the programs use */
	size_t nthreads;
	/* the map of accounts, with the same indices as `threads`; NULL: none */
	const struct sbt_account *accounts;
	const struct sbt_offs *offs; /* the map of this name, with the same indices; NULL: none */
	/* the map of counts, with the same indices; NULL: none */
	const struct sbt_counting *countings;
	const struct sbt_sums *sums; /* the map of sums, with --aggregate; else NULL */
	/* the map of open episodes, with --aggregate; else NULL */
	const struct sbt_open_episodes *open_episodes;
	/* for each slot of `sums`: when the slot was last examined, no thread owned it */
	bool *sums_unowned;
	uint64_t summed_returned; /* crossings in slots that were freed */
	uint32_t ncounters, plain_counters, switch_counters, fault_counters;
	/* index: (number of the counter) x CPUs + CPU; -1: none; owned by the caller */
	int *counter_fds;
	uint64_t *counter_end; /* the counters' values at the end of tracing */
	/* the specs of the probes; the map `specs` has the same contents */
	struct sbt_spec specs[SBT_SPECS];
	uint32_t nspecs;
	char *user_probe_groups[SBT_PROBE_GROUPS - SBT_PROBE_GROUPS_USER]; /* names */
	uint32_t nuser_probe_groups;
	struct probe_sites probe_sites; /* the present probes, if they have no cookies */
	struct copies copies; /* code around present and former probes */
	struct attach_link *links;
	uint32_t nlinks, links_cap;
	struct closing_links *closing[ATTACH_CLOSING]; /* links being closed; NULL: a free entry */
	struct bpf_link **kernel_links;
	uint32_t nkernel_links, kernel_links_cap;
	struct bpf_link **fault_links;
	uint32_t nfault_links;
	struct bpf_link **sample_links;
	uint32_t nsample_links;
	/* time (ns) that a page fault takes outside its handler's timestamps; 0: unknown */
	uint64_t fault_outside_ns;
};

/* programs.c */
/* Programs at the entry and exits of a function. */
struct program_ends {
	struct bpf_program *session, *enter, *exit;
};

struct program_ends program_ends(const struct sbt_bpf *skel, uint8_t role);
/*
 * Return the program for the entries of functions with @role, or NULL if the role has the programs
 * of program_ends().
 */
struct bpf_program *program_of(const struct sbt_bpf *skel, uint8_t role);
/*
 * Return the program for the exits of functions with @role, or NULL if their exits are not probed.
 */
struct bpf_program *program_end(const struct sbt_bpf *skel, uint8_t role);
/* Before load: choose the programs to load. */
void programs_prepare(struct sbt_bpf *skel, enum attach_method method, bool discover, bool futex);

/* rings.c */
/* Set the number and size of the rings, rounded up to what the kernel accepts. */
void rings_size(struct attach *attach, size_t bytes);
/* Before load: create the rings, and begin to store them in their map. Return 0 or -errno. */
int rings_begin(struct attach *attach);
/* After load: wait until the rings are stored. Return 0 or -errno. */
int rings_end(struct attach *attach);
void rings_close(struct attach *attach);

/* removal.c */
/* Mark all threads of the process as not waiting for their turn. */
void forget_turns(struct attach *attach, uint32_t tgid);
/* Wait until all removals have finished. */
void detached_wait(struct attach *attach);

/* state.c */
/* What was found out about a process: flags to set and clear, probe groups to detach. */
struct classification {
	uint32_t set, clear;
	uint64_t detached;
};

/*
 * Store the classification of a process. The programs use it for threads that they first see later.
 * Return -ENOENT if the process has exited or been replaced.
 */
int classify_process(struct attach *attach, uint32_t tgid, uint32_t inc,
		     const struct classification *classification);
/* Return the slot of the thread, or NULL. */
struct sbt_thread *find_thread(const struct attach *attach, uint32_t tid);
/* Call @each with every slot that is in use by a thread. */
void each_thread(const struct attach *attach, void (*each)(void *ctx, struct sbt_thread *thread),
		 void *ctx);

/* price.c */
/*
 * Measure the cost of a call of the stand-in for the calling thread, which must be the main thread.
 * The probes must be attached, and this process be traced. @stepped, @drain as for
 * attach_calibrate().
 */
struct attach_price price_calls(const struct attach *attach, bool stepped, void (*drain)(void *ctx),
				void *ctx);
/* Clear everything that a measurement left in the maps for one of our threads. */
void forget_thread(const struct attach *attach, uint32_t tid);

/* sampling.c */
/* Before load: choose the program that samples. */
void sampling_prepare(struct attach *attach);
/* If this fails, threads are not sampled, and attach_sample_reason() says why. */
void sampling_attach(struct attach *attach);

/* account.c */
/* Before load: set the sizes of the maps, and choose the programs to load. */
void account_prepare(struct attach *attach, uint32_t max_threads);
/* After load: map the accounts for reading. Return 0 or -errno. */
int account_map(struct attach *attach);
/* Attach the programs for the scheduler and page faults. Return 0 or -errno. */
int account_attach(struct attach *attach);
void account_unmap(struct attach *attach);
/* Stop all accounting, and read the counters a last time. */
void account_end(struct attach *attach);
/* Clear the account of a thread. */
void account_forget(const struct attach *attach, uint32_t slot);
/* Measure the cost of page faults. @self must be the account of the calling thread. */
void account_calibrate_faults(struct attach *attach, const struct sbt_account *self);

/* sums.c */
/* Return whether this kernel's BPF supports sums. */
bool sums_possible(void);
/*
 * Before load: set the sizes of the maps. After load: map the sums for reading. Return 0 or -errno.
 */
void sums_prepare(struct attach *attach, uint32_t max_threads);
int sums_map(struct attach *attach);
void sums_unmap(struct attach *attach);

/* load.c */
/*
 * Map the first @bytes of a BPF map into memory, for reading. Return NULL with errno set on
 * failure.
 */
const void *map_array(const struct bpf_map *map, size_t bytes);
/* Attach programs to the hooks that they name, until tracing ends. Return 0 or -errno. */
int attach_programs(struct attach *a, struct bpf_program *const programs[], size_t n);

/* detach.c */
/* Close links at the same time. Leave the list unchanged. */
void links_close(const struct attach_link *links, uint32_t n);
/* Remove the programs at scheduler, process and page fault events. */
void detach_kernel(struct attach *attach);

#endif /* ATTACH_INTERNAL_H */
