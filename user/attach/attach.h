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
#include <sys/types.h>

#include "../bpf/state.h"
#include "base/options.h"

const char *attach_method_name(enum attach_method method);
/* -EINVAL if there is no such method. */
int attach_method_parse(const char *name, enum attach_method *out);

struct attach_options {
	struct sbt_config config; /* self, nrings and by_exit are set here */
	enum attach_method first; /* where the ladder begins */
	bool discover; /* barriers that nobody named: attach_waits() is to be of use */
	bool discover_futex; /* the same of attach_futexes() */
	bool account; /* where threads' time goes */
	uint32_t ncounters; /* by thread and phase; their fds follow: attach_set_counter() */
	uint32_t plain_counters; /* a bit each: software events, which are never multiplexed */
	/* A bit each, of those: what is counted with a thread's time. For these there are no fds. */
	uint32_t switch_counters, fault_counters;
	size_t ring_bytes; /* a CPU's ring; rounded up to a power of two of pages */
	uint32_t max_threads; /* a power of two */
	uint32_t max_processes;
	int verbose;
};

struct attach; /* opaque */
struct copies;

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
struct attach_probe_site {
	int fd; /* the file; may be closed afterwards */
	struct sbt_spec spec; /* what the probe is there for */
	uint64_t entry; /* offset in the file */
	uint32_t nexits; /* 0: not known */
	const uint64_t *exits;
	uint64_t
		tag; /* of the caller's: what attach_remove_tagged() finds it by; 0: that is not wanted */
};

/*
 * Puts the probes for one function of one file, for every process that runs it (@pid 0) or for
 * one, as far as the rung can tell: a session is for all. @by_exit: departures at the exits instead of return probes (always so
 * where the rung is not session). Returns 0 or -errno; -ENOTSUP: the exits are needed, and not known;
 * -EADDRINUSE: this kernel cannot tell this probe from another one; -ENOSPC: too many different ones.
 */
int attach_probe_site(struct attach *attach, const struct attach_probe_site *probe_site, int pid,
		      bool by_exit);
/*
 * The end of a crossing that begins at another place with the same spec (SBT_SPEC_PAIR): probes at the exits of
 * @place. What attach_probe_site() says of errors holds here too.
 */
int attach_end(struct attach *attach, const struct attach_probe_site *probe_site, int pid);
/* The chain of return addresses that sbt_crossing.ip names (SBT_CHAIN_NAME). Returns 0 or -errno: it is no more. */
int attach_chain(const struct attach *attach, uint64_t name, struct sbt_chain *out);
/* How to find who called what is in the code at @ip of a process. Returns 0 or -errno. */
int attach_frame_rule(struct attach *attach, uint32_t tgid, uint32_t inc, uint64_t ip,
		      const struct sbt_frame_rule *rule);
/* The user's rule that the probe with this spec (sbt_crossing.spec) is there for; 0: none. */
uint32_t attach_rule(const struct attach *attach, uint16_t spec);
/* Does the probe with this spec lie in a C library whose barriers have one less than how many meet (musl)? */
bool attach_less_one(const struct attach *attach, uint16_t spec);
/*
 * The number of the unit of a function that the user named, new or known by @name; 0: there are too many, or no memory: it is
 * shed with its family.
 */
uint8_t attach_user_probe_group(struct attach *attach, const char *name);
/* What that function is called; NULL: there is no such unit. */
const char *attach_user_probe_group_name(const struct attach *attach, uint8_t probe_group);
/* The number of the unit (SBT_PROBE_GROUPS) that a crossing of @family at the probe with this spec is shed with. */
uint8_t attach_probe_group(const struct attach *attach, uint8_t family, uint16_t spec);
/*
 * The same as attach_probe_site() for many functions of one file at once: each attachment costs tens of milliseconds to
 * make and undo, whatever is in it. All or none; -ENOTSUP: these must be put one by one.
 */
int attach_probe_sites(struct attach *attach, const struct attach_probe_site *probe_sites,
		       uint32_t n, int pid);
/* Can attach_probe_site() put its probes for one process alone? Else they are for all whatever it is told. */
bool attach_for_one(const struct attach *attach);
/* Does attach_probe_site() use the exits for everybody? Then the caller must know them. */
bool attach_only_exits(const struct attach *attach);

/*
 * Adds the exits to places of one file that have their entries, for every process that runs it (@pid 0) or for one: some
 * of them may not have return probes.
 */
int attach_exits(struct attach *attach, const struct attach_probe_site *probe_sites, uint32_t n,
		 int pid);

/*
 * Where the functions of parallel regions return to in their runtime: for every process that runs the file, or with @pid
 * for one. Of use where there are no return probes. @units: of these runtimes, SBT_PROBE_GROUP(). Returns 0 or -errno.
 */
int attach_returns(struct attach *attach, int fd, const uint64_t *offsets, uint32_t n, int pid,
		   uint64_t probe_groups);

/* Functions of one file that are told the same. */
struct attach_group {
	int fd; /* the file; may be closed afterwards */
	struct sbt_spec spec;
	uint32_t nentries, nexits;
	const uint64_t *entries, *exits; /* offsets in the file */
};

#define ATTACH_GROUPS_MAX 2

/*
 * Puts the probes for functions in which threads wait for others, and for those in which they wake them (@wakes; NULL: none), for
 * one process or, with @pid 0, for all that run the file: all of these groups, which are of one file, or none. Never a return
 * probe. Returns 0 or -errno as attach_probe_site().
 */
int attach_waits(struct attach *attach, const struct attach_group *groups, uint32_t n,
		 const struct attach_group *wakes, int pid);
/* What probes where threads wait can be removed by, from one process. */
enum attach_waits_kind {
	ATTACH_WAITS_ALL = 1, /* on condition variables, and joins with them */
	ATTACH_WAITS_JOINS, /* joins alone: attach_joins() */
	ATTACH_WAITS_TURNS, /* attach_turns() */
	ATTACH_WAITS_SEMS, /* attach_sems() */
};

/* The same for one process's joins alone, as long as it is not looked at where it waits otherwise. */
int attach_joins(struct attach *attach, const struct attach_group *joins, int pid);
/* Functions that return when it is a thread's turn (SBT_ROLE_TURN), likewise. */
int attach_turns(struct attach *attach, const struct attach_group *turns, int pid);
/* Functions that wait on a semaphore (SBT_ROLE_SEM_WAIT), likewise; -ENOTSUP before Linux 5.15. */
int attach_sems(struct attach *attach, const struct attach_group *sems, int pid);
/*
 * Removes these probes from @n processes, whose threads are inside no wait then. The breakpoints are gone soon after it returns.
 * Returns 0 or -ENOMEM.
 */
int attach_waits_remove(struct attach *attach, const uint32_t *tgids, uint32_t n,
			enum attach_waits_kind kind);
/* Is the process traced? *inc: which of those that had this number. */
bool attach_traces(const struct attach *attach, uint32_t tgid, uint32_t *inc);
/* How often probes of the process were hit for what is no crossing (sbt_proc.looks), while it lives; 0. */
uint64_t attach_looks(const struct attach *attach, uint32_t tgid, uint32_t inc);
/*
 * Removes the probes of the places with this tag (attach_probe_site.tag) that the process meets; @for_all: others meet some of them,
 * too. The breakpoints are gone soon after it returns. Returns 0 or -ENOMEM.
 */
int attach_remove_tagged(struct attach *attach, uint64_t tag, uint32_t tgid, bool *for_all);
/* Sees the futex calls of all traced processes. Costs every system call on the machine a little. */
int attach_futexes(struct attach *attach);
/* Can probes be put for one process alone? Else attach_waits() is for all whatever it is told. */
bool attach_filters_process(const struct attach *attach);
/* What a traced process does at @object is a barrier, or is none: SBT_OBJECT_*. Returns 0 or -errno. */
int attach_classify(struct attach *attach, uint32_t tgid, uint32_t inc, uint64_t object,
		    uint32_t verdict);

/*
 * Probe the place in a dynamic linker that is reached when libraries have come or gone (SBT_REC_MAP), for one process, or for all
 * (@pid 0).
 */
int attach_loader(struct attach *attach, int fd, uint64_t offset, int pid);

/* What the code is where probes are, or have been: processes may have copies of it. */
const struct copies *attach_copies(const struct attach *attach);

/* --aggregate: a traced process has mapped code, which its dynamic linker's probe does not report. */
void attach_code_changed(struct attach *attach);

/* The place where barriers are made, in the same file. */
int attach_made(struct attach *attach, int fd, uint64_t offset, int pid);
/* Every making of a barrier is seen: what was read of one holds until then. */
void attach_keep_words(struct attach *attach, bool on);

/* A process is traced from now on. */
int attach_add_process(struct attach *attach, uint32_t tgid, uint32_t inc, uint32_t flags);
/* Sets and clears flags of a process and of its threads. -ENOENT: it is gone, or another. */
int attach_flag_process(struct attach *attach, uint32_t tgid, uint32_t inc, uint32_t set,
			uint32_t clear);
/* How often mappings of the process have changed: SBT_REC_MAP, told of yet or not. -ENOENT: it is gone, or another. */
int attach_mappings(const struct attach *attach, uint32_t tgid, uint32_t inc, uint32_t *n);
/* The function at @fn of a process, which parallel regions run, has its probe; or has not, and need not be asked for. */
int attach_outlined(struct attach *attach, uint32_t tgid, uint64_t fn, bool known);
/*
 * The same of every process that will run the program. @place: the function's address less that of the program's code. Not @known:
 * its probe is gone.
 */
int attach_outlined_program(struct attach *attach, uint32_t dev, uint64_t ino, uint64_t probe_site,
			    bool known);
/* The process may be in the midst of parallel regions: who meets whom is not known until the next. */
int attach_teams_unknown(struct attach *attach, uint32_t tgid);
/*
 * -a: when the process, which may have exited, first made a thread and a child with memory of its own, since it executed its program or
 * before that. 0: it has made none.
 */
void attach_forked(const struct attach *attach, uint32_t tgid, uint64_t *thread_ns,
		   uint64_t *child_ns);
/*
 * The program in this file has been examined: nobody who runs it need be stopped because of it, and -a
 * may trace it. @flags: SBT_PROC_EXCLUDED, SBT_PROC_BY_EXIT. @settled: its libraries too; else they are
 * still to be told of.
 */
int attach_know_program(struct attach *attach, uint32_t dev, uint64_t ino, uint32_t flags,
			bool settled);
/* The file has been written anew: nothing is known of the program any more. */
void attach_forget_program(struct attach *attach, uint32_t dev, uint64_t ino);

void attach_arm(struct attach *attach, bool on);
void attach_counts(const struct attach *attach, struct sbt_counts *out);
/* Crossings that should have reached user space, by the count that each thread keeps itself. */
uint64_t attach_produced(const struct attach *attach, const struct sbt_counts *counts);

/* Calls @each for every process that is traced, as far as is known; some may be gone. */
void attach_each_process(const struct attach *attach, void (*each)(void *ctx, uint32_t tgid),
			 void *ctx);
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

/*
 * Calls @each for every thread of the process that crossed a barrier or a region: the team of OpenMP's that it is in now
 * (0: none), and how many have entered its region so far (0: not known).
 */
void attach_each_member(const struct attach *attach, uint32_t tgid,
			void (*each)(void *ctx, uint32_t tid, uint64_t team, uint32_t entered),
			void *ctx);

/* Is the thread inside a barrier, its arrival seen? */
bool attach_is_inside(const struct attach *attach, uint32_t tid);

/* --- a process is traced no more, or not all of it (shed.c) ---------------------------------------------------------- */

#define ATTACH_ALL_PROBE_GROUPS UINT64_MAX

/*
 * No arrival of the process at barriers of these units (SBT_PROBE_GROUP()) is seen any more; with ATTACH_ALL_PROBE_GROUPS none
 * at all, and its threads' time is not accounted for. Who is inside of a barrier may still be seen to leave. Until it executes
 * another program. -ENOENT: it is gone, or another.
 */
int attach_exclude(struct attach *attach, uint32_t tgid, uint32_t inc, uint64_t probe_groups);
/*
 * All units that go with these: probes that several share cannot be removed for one alone; without what else there is of a family
 * its functions tell nothing (regions of OpenMP's, MPI's communicators); and what waits by futexes would seem to be those
 * where they are looked at. Of probes that the process meets.
 */
uint64_t attach_probe_groups_with(const struct attach *attach, uint32_t tgid,
				  uint64_t probe_groups);
/* Those of these units whose probes the process has for itself, or that need none. */
uint64_t attach_own_probe_groups(const struct attach *attach, uint32_t tgid, uint64_t probe_groups);
/* Is what this thread does where it is now not recorded any more, or nothing of its process? */
bool attach_is_detached(const struct attach *attach, const struct sbt_thread *thread);

struct attach_removal {
	uint32_t tgid; /* whose own probes; 0: those that are for all */
	uint64_t probe_groups; /* what they are for, ATTACH_ALL_PROBE_GROUPS: whatever it is */
};

/* Removes probes: soon, not at once. Returns 0 or -ENOMEM: all are still there. */
int attach_remove(struct attach *attach, const struct attach_removal *removals, uint32_t n);
/* The same of all probes in a file, which hold its file system: @dev and @ino as fstat() says. */
int attach_remove_file(struct attach *attach, dev_t dev, ino_t ino);

/* --- where threads' time goes (account.c) ------------------------------------------------------- */

/* Is it accounted for? It was asked for, and the kernel can. */
bool attach_accounts(const struct attach *attach);
/* What of it cannot be had, and why; "" if nothing. */
const char *attach_account_reason(const struct attach *attach);
/* Counter @number on @cpu is read from this perf event, which must stay open. Returns 0 or -errno. */
int attach_set_counter(struct attach *attach, uint32_t number, uint32_t cpu, int fd);
/* Begins to account for the threads that traced processes have now. Returns 0 or -errno. */
int attach_account_found(struct attach *attach);
/* After attach_stop(): what each living thread did between its last departure and @end_ns. */
void attach_each_tail(const struct attach *attach, uint64_t end_ns,
		      void (*each)(void *ctx, const struct sbt_crossing_full *tail), void *ctx);
/*
 * What each page fault costs a thread beside the time measured in its handler: the way into the kernel and out
 * again, measured on sbt-trace itself. 0: not known.
 */
uint64_t attach_fault_outside_ns(const struct attach *attach);
/* The name of a task or a file that held somebody up, as it was then. Returns 0 or -errno. */
int attach_task_name(const struct attach *attach, uint32_t tid, struct sbt_name *out);
int attach_file_name(const struct attach *attach, uint64_t inode, struct sbt_file_name *out);
/* The same of the mapping in which a page fault was: its mode is SBT_MAPPING_*. */
int attach_mapping_name(const struct attach *attach, uint32_t tgid, uint64_t addr,
			struct sbt_file_name *out);
/* The copy of a stack that a block names. Returns 0 or -errno: there is none, or no more. */
int attach_stack(const struct attach *attach, uint64_t key, struct sbt_stack *out);

/* --- sums kept in the kernel (sums.c), with config.aggregate ------------------------------------- */

/* Calls @each for what each thread did at each place; those that crossed nothing are left out. */
void attach_each_sums(const struct attach *attach,
		      void (*each)(void *ctx, const struct sbt_sums *sums), void *ctx);
/*
 * Calls @each for the sums of threads that have exited, and makes their slots free for other threads, and those of barriers
 * of processes that have exited. To be called again and again: a slot is returned at the second look that finds its thread
 * gone. Returns 0 or -errno.
 */
int attach_return_sums(struct attach *attach, void (*each)(void *ctx, const struct sbt_sums *sums),
		       void *ctx);
/* Of a place of which nothing was seen (SBT_SUM_UNSEEN): has no library come or gone since? */
bool attach_sums_mapped(const struct attach *attach, const struct sbt_sums *sums);
/* Crossings in all of them and in those that were returned, sbt-trace's own left out. */
uint64_t attach_summed(const struct attach *attach);

/* What one crossing costs a thread. */
struct attach_price {
	double ns; /* NAN: it could not be had */
	double handler_ns; /* of it, what sbt_crossing.handler_ns or sbt_sums.handler_ns says; NAN: nothing was told */
};

/*
 * What one crossing costs a traced thread: measured on sbt-trace's own code with the same programs,
 * the same rung and the same kind of instruction, lower quartile of several runs. @drain is called now and then to
 * empty the rings.
 */
struct attach_price attach_calibrate(struct attach *attach, bool stepped, bool by_exit,
				     void (*drain)(void *ctx), void *ctx);

/*
 * The same of a process that is excluded, or rather of one that probes meet and nothing is recorded of: what it still
 * pays while they are there. To be called where attach_calibrate_quick() may be.
 */
double attach_calibrate_excluded(struct attach *attach, void (*drain)(void *ctx), void *ctx);

/* The same for the commonest case, by the probe that attach_new() has left on us: a few milliseconds, any time. */
struct attach_price attach_calibrate_quick(struct attach *attach, void (*drain)(void *ctx),
					   void *ctx);

/*
 * What it takes to account for a thread's losing a CPU, being woken, and getting one again, ns, by those of traced threads
 * between @from and @to that were timed. NAN: there was none.
 */
double attach_switch_ns(const struct sbt_counts *from, const struct sbt_counts *to);

/* What that took in all. */
uint64_t attach_switches_ns(const struct sbt_counts *from, const struct sbt_counts *to);

#endif /* ATTACH_ATTACH_H */
