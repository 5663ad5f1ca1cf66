/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the files of this room share. Nobody else includes it. */
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

#define ATTACH_KERNEL_LINKS 9
#define EVENTS_BYTES	    (1u << 20)
/* So many removals of probes may be under way: others wait for the first of them. */
#define ATTACH_GONE	    8

/* One attachment: probes that are put and removed together. */
struct attach_link {
	int fd;
	int pid; /* whose alone; 0: for all that run the file */
	uint64_t probe_groups; /* SBT_PROBE_GROUP(); 0: not of barriers, as the loader's */
	uint8_t waits; /* enum attach_waits_kind; 0: no probes where threads wait */
	uint64_t tag; /* attach_probe_site.tag */
	dev_t dev; /* of the file, as fstat() says; ino 0: not known */
	ino_t ino;
};

struct attach {
	struct sbt_bpf *skel;
	enum attach_method method;
	bool filters_process;
	bool only_exits; /* return probes are those of sessions alone */
	bool cookies; /* a probe can carry a number */
	bool account; /* threads' time is accounted for */
	bool joins; /* waits for other threads' ends are told without probes: bpf/join.h */
	bool futexes; /* futex calls are looked at */
	char reason[256];
	char account_reason[256];
	uint32_t nrings;
	int *rings;
	size_t ring_bytes;
	pthread_t rings_thread; /* while rings_filling */
	bool rings_filling;
	int rings_error;
	struct sbt_thread *threads; /* the map, as the programs have it */
	size_t nthreads;
	const struct sbt_account *accounts; /* the same, at the same indices; NULL */
	const struct sbt_counting *countings; /* the same; NULL */
	const struct sbt_sums *sums; /* the map, with --aggregate; NULL */
	const struct sbt_open_episodes *meetings; /* the same */
	bool *sums_unowned; /* of each slot: the last look found no thread for it */
	uint64_t summed_returned; /* crossings in slots that were returned */
	uint32_t ncounters, plain_counters, switch_counters, fault_counters;
	int *counter_fds; /* number x CPUs + CPU; -1: none; the caller's */
	uint64_t *counter_end; /* what they said when tracing ended */
	struct sbt_spec specs[SBT_SPECS]; /* what the programs are told of the probes */
	uint32_t nspecs;
	char *user_probe_groups[SBT_PROBE_GROUPS - SBT_PROBE_GROUPS_USER]; /* names */
	uint32_t nuser_probe_groups;
	struct probe_sites probe_sites; /* of the probes that there are, without cookies */
	struct copies copies; /* what the code is where probes are, or have been */
	struct attach_link *links;
	uint32_t nlinks;
	struct gone_links *gone[ATTACH_GONE]; /* being closed; NULL: none */
	struct bpf_link *kernel_links[ATTACH_KERNEL_LINKS];
	int nkernel_links;
	struct bpf_link **fault_links;
	uint32_t nfault_links;
	uint64_t
		fault_outside_ns; /* of a page fault, what its handler's ends do not see; 0 unknown */
};

/* programs.c */
/* What sits at the two ends of a function. */
struct program_ends {
	struct bpf_program *session, *enter, *exit;
};

struct program_ends program_ends(const struct sbt_bpf *skel, uint8_t role);
/* The programs that look at one place only, by role; NULL: the role has none of that kind. */
struct bpf_program *program_of(const struct sbt_bpf *skel, uint8_t role);
/* The program at the ends of such functions, of which several are put at once; NULL: their ends tell nothing. */
struct bpf_program *program_end(const struct sbt_bpf *skel, uint8_t role);
/* Chooses what is loaded, before load. */
void programs_prepare(struct sbt_bpf *skel, enum attach_method method, bool discover, bool futex);

/* rings.c */
/* How many, and how large: rounded up to what the kernel takes. */
void rings_size(struct attach *attach, size_t bytes);
/* Before load: makes the rings, and begins to put them in their places. Returns 0 or -errno. */
int rings_begin(struct attach *attach);
/* After load: they are in their places. Returns 0 or -errno. */
int rings_end(struct attach *attach);
void rings_close(struct attach *attach);

/* shed.c */
/* No thread of the process waits for its turn, as far as is known. */
void forget_turns(struct attach *attach, uint32_t tgid);
/* Until what is being removed has been. */
void detached_wait(struct attach *attach);

/* state.c */
/* What is found out about a process: flags that are set and cleared, units that are shed. */
struct classification {
	uint32_t set, clear;
	uint64_t detached;
};

/* For threads that come later. -ENOENT: the process is gone, or another. */
int classify_process(struct attach *attach, uint32_t tgid, uint32_t inc,
		     const struct classification *classification);
/* Calls @each with every thread's slot that is taken, by what the programs noted. */
void each_thread(const struct attach *attach, void (*each)(void *ctx, struct sbt_thread *thread),
		 void *ctx);

/* account.c */
/* Sets the sizes of the maps and switches programs on, before load. */
void account_prepare(struct attach *attach, uint32_t max_threads);
/* After load: maps what user space reads. Returns 0 or -errno. */
int account_map(struct attach *attach);
/* Puts the programs of the scheduler and of page faults in place. Returns 0 or -errno. */
int account_attach(struct attach *attach);
void account_unmap(struct attach *attach);
/* Accounts stay as they are from here on. */
void account_end(struct attach *attach);
/* Frees the place of a thread. */
void account_forget(const struct attach *attach, uint32_t slot);
/* While @self is the account of this very thread. */
void account_calibrate_faults(struct attach *attach, const struct sbt_account *self);

/* sums.c */
/* Has this kernel's BPF what sums need? */
bool sums_possible(void);
/* Before load: sizes. After: maps what user space reads; returns 0 or -errno. */
void sums_prepare(struct attach *attach, uint32_t max_threads);
int sums_map(struct attach *attach);
void sums_unmap(struct attach *attach);

/* load.c: attaches them where they say, until tracing ends. Returns 0 or -errno. */
int attach_programs(struct attach *a, struct bpf_program *const programs[], size_t n);

/* detach.c */
/* Closes them together; they stay where they are listed. */
void links_close(const struct attach_link *links, uint32_t n);
/* Removes the programs that look at the scheduler, processes and page faults. */
void detach_kernel(struct attach *attach);

#endif /* ATTACH_INTERNAL_H */
