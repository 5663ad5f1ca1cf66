/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Load the BPF programs, choose the attach method, attach probes, write the programs' input and
 * read their results. No probe records anything before attach_arm(), so that all of them begin at
 * the same instant.
 */
#ifndef ATTACH_ATTACH_H
#define ATTACH_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/options.h"
#include "sbt/state.h"

const char *attach_method_name(enum attach_method method);

struct attach_options {
	/* attach_new() sets the members that depend on the kernel and on the other options */
	struct sbt_config config;
	enum attach_method first; /* the attach method that is tried first */
	bool discover; /* find unnamed barriers: attach_waits() will be used */
	bool discover_futex; /* also find barriers on futexes: attach_futexes() will be used */
	bool account; /* account for the time of threads */
	bool samples; /* sample threads on a CPU; only with `account` */
	uint32_t sample_hz; /* samples of each CPU in a second; 0: one at each tick of the kernel */
	uint32_t ncounters; /* number of counters; set their fds with attach_set_counter() */
	/* bit mask of the counters of software events, which are never multiplexed */
	uint32_t plain_counters;
	/* Bit masks of plain counters that the accounting itself counts. They need no fds. */
	uint32_t switch_counters, fault_counters;
	size_t ring_bytes; /* size of a CPU's ring; rounded up to a power of two of pages */
	uint32_t max_threads; /* a power of two */
	uint32_t max_processes;
	int verbose;
};

struct attach; /* opaque */
struct copies;

/*
 * Load the programs for the first attach method that works. Each method is tried with a probe on
 * sbt-trace itself. Return 0, or -errno with a sentence for the user in @why.
 */
int attach_new(const struct attach_options *options, struct attach **out, char *why, size_t len);
/* Remove every probe and free all memory. */
void attach_free(struct attach *attach);
/* Remove the probes from all targets. Counts collected so far can still be read. */
void attach_remove_probes(struct attach *attach);

/*
 * Remove all programs. Nothing is counted or recorded any more; earlier results can still be read.
 */
void attach_stop(struct attach *attach);

enum attach_method attach_method(const struct attach *attach);
/* Return why no better attach method is used; "" if there is no reason. */
const char *attach_reason(const struct attach *attach);

/* The entry and exits of a function in a file. */
struct attach_probe_site {
	int fd; /* the file; the caller may close it after the call */
	struct sbt_spec spec; /* what the probe is for */
	uint64_t entry; /* file offset */
	uint32_t nexits; /* 0: unknown */
	const uint64_t *exits;
	/* the caller's number for attach_remove_tagged(); 0: none */
	uint64_t tag;
};

/*
 * Attach the probes for one function of one file. The probes are for every process that runs the
 * file (@pid 0), or only for process @pid if the attach method supports that: a session is always
 * for all processes. @by_exit: probe the exits instead of using return probes. All methods except
 * session always probe the exits. Return 0 or -errno; -ENOTSUP: the exits are needed but unknown;
 * -EADDRINUSE: this kernel cannot distinguish the probe from another probe; -ENOSPC: too many
 * different probes.
 */
int attach_probe_site(struct attach *attach, const struct attach_probe_site *probe_site, int pid,
		      bool by_exit);
/*
 * Attach probes at the exits of @probe_site. A hit ends a crossing that began at another probe site
 * with the same spec (SBT_SPEC_PAIR). Errors as for attach_probe_site().
 */
int attach_end(struct attach *attach, const struct attach_probe_site *probe_site, int pid);
/*
 * Read the chain of return addresses with this name, which is in sbt_crossing.ip (SBT_CHAIN_NAME).
 * Return 0, or -errno if the chain was evicted from its map.
 */
int attach_chain(const struct attach *attach, uint64_t name, struct sbt_chain *out);
/*
 * Trace the barriers of Python code in a process: @python says where its interpreter is. Return 0
 * or -errno.
 */
int attach_python(struct attach *attach, uint32_t tgid, const struct sbt_python *python);
/*
 * Set the rule by which the BPF programs find the caller of the code at @ip in a process. Return 0
 * or -errno.
 */
int attach_frame_rule(struct attach *attach, uint32_t tgid, uint32_t inc, uint64_t ip,
		      const struct sbt_frame_rule *rule);
/*
 * Return the number of the user's rule that named the probe with this spec (sbt_crossing.spec); 0:
 * none.
 */
uint32_t attach_rule(const struct attach *attach, uint16_t spec);
/* Return the spec with this number, or NULL. It is valid as long as @attach. */
const struct sbt_spec *attach_spec(const struct attach *attach, uint16_t number);
/*
 * Return whether the probe with this spec is in a C library that stores one less than the number of
 * participants (musl).
 */
bool attach_less_one(const struct attach *attach, uint16_t spec);
/*
 * Return the number of the probe group of a user-named function, which @name identifies. Return 0
 * if there are too many groups, or no memory: the function is then detached together with its
 * family.
 */
uint8_t attach_user_probe_group(struct attach *attach, const char *name);
/*
 * Return the name of the user-named function with this probe group, or NULL if there is no such
 * group.
 */
const char *attach_user_probe_group_name(const struct attach *attach, uint8_t probe_group);
/*
 * Return the probe group (SBT_PROBE_GROUPS) of a crossing of @family at the probe with this spec.
 */
uint8_t attach_probe_group(const struct attach *attach, uint8_t family, uint16_t spec);
/*
 * Do the same as attach_probe_site() for many functions of one file at once. This saves time: an
 * attachment takes tens of milliseconds to make and to undo, whatever its size. Attach all
 * functions or none. -ENOTSUP: the caller must attach them one by one.
 */
int attach_probe_sites(struct attach *attach, const struct attach_probe_site *probe_sites,
		       uint32_t n, int pid);
/*
 * Return whether attach_probe_site() can limit probes to one process. If not, its probes are for
 * all processes.
 */
bool attach_for_one(const struct attach *attach);
/* Return whether attach_probe_site() always probes the exits, so that the caller must know them. */
bool attach_only_exits(const struct attach *attach);

/*
 * From now on, the departures from barriers of OpenMP teams are seen where they cannot be inferred:
 * all barriers with SBT_TEAM_ARRIVALS now have probes at their exits. Return 0 or -errno.
 */
int attach_team_ends(struct attach *attach);

/*
 * Add probes at the exits of functions of one file. The entries of these functions already have
 * probes. The new probes are for every process that runs the file (@pid 0) or for one process.
 * These probes are needed in processes in which return probes must not be used.
 */
int attach_exits(struct attach *attach, const struct attach_probe_site *probe_sites, uint32_t n,
		 int pid);

/*
 * Attach probes at the addresses in the runtime to which functions of parallel regions return. The
 * probes are for every process that runs the file (@pid 0) or for one process. These probes are
 * needed in processes in which no return probes are used. @probe_groups: the probe groups of the
 * runtimes, SBT_PROBE_GROUP(). Return 0 or -errno.
 */
int attach_returns(struct attach *attach, int fd, const uint64_t *offsets, uint32_t n, int pid,
		   uint64_t probe_groups);

/* Functions of one file with the same spec. */
struct attach_group {
	int fd; /* the file; the caller may close it after the call */
	struct sbt_spec spec;
	uint32_t nentries, nexits;
	const uint64_t *entries, *exits; /* file offsets */
};

#define ATTACH_GROUPS_MAX 2

/*
 * Attach probes to functions in which threads wait for other threads, and to functions that wake
 * such threads (@wakes; NULL: none), for one process, or for all processes that run the file (@pid
 * 0). All groups belong to one file. Attach all groups or none. Return probes are never used.
 * Return 0 or -errno as attach_probe_site().
 */
int attach_waits(struct attach *attach, const struct attach_group *groups, uint32_t n,
		 const struct attach_group *wakes, int pid);
/* Kinds of probes on waits. attach_waits_remove() removes the probes of one kind. */
enum attach_waits_kind {
	/* waits on condition variables, and joins that were attached together with them */
	ATTACH_WAITS_ALL = 1,
	ATTACH_WAITS_JOINS, /* only joins, as attached by attach_joins() */
	ATTACH_WAITS_TURNS, /* attach_turns() */
	ATTACH_WAITS_SEMS, /* attach_sems() */
};

/*
 * Like attach_waits(), for the joins of one process, if probes on its other waits are not wanted.
 */
int attach_joins(struct attach *attach, const struct attach_group *joins, int pid);
/* Like attach_waits(), for functions that return when it is a thread's turn (SBT_ROLE_TURN). */
int attach_turns(struct attach *attach, const struct attach_group *turns, int pid);
/*
 * Like attach_waits(), for functions that wait on a semaphore (SBT_ROLE_SEM_WAIT). Return -ENOTSUP
 * before Linux 5.15.
 */
int attach_sems(struct attach *attach, const struct attach_group *sems, int pid);
/*
 * Remove the probes of @kind from @n processes. For ATTACH_WAITS_ALL and ATTACH_WAITS_SEMS, also
 * clear the present waits of their threads, because the ends of these waits will not be seen. The
 * kernel removes the breakpoints soon after this function returns. Return 0 or -ENOMEM.
 */
int attach_waits_remove(struct attach *attach, const uint32_t *tgids, uint32_t n,
			enum attach_waits_kind kind);
/* Return whether the process is traced, and set *@inc to its incarnation. */
bool attach_traces(const struct attach *attach, uint32_t tgid, uint32_t *inc);
/*
 * Return how often the process hit probes on condition variables and turns without a crossing
 * (sbt_proc.looks). Return 0 if the number is unknown or if the process has exited.
 */
uint64_t attach_looks(const struct attach *attach, uint32_t tgid, uint32_t inc);
/*
 * Remove the probes with this tag (attach_probe_site.tag) that the process hits. Set *@for_all if
 * some of these probes are for all processes. The kernel removes the breakpoints soon after this
 * function returns. Return 0 or -ENOMEM.
 */
int attach_remove_tagged(struct attach *attach, uint64_t tag, uint32_t tgid, bool *for_all);
/*
 * Remove the probe that attach_new() left on sbt-trace itself, after attach_calibrate_quick().
 * Errors as for attach_remove_tagged().
 */
int attach_remove_self(struct attach *attach);
/*
 * Trace the futex calls of all traced processes. This slows every system call on the machine
 * slightly.
 */
int attach_futexes(struct attach *attach);
/*
 * Return whether the kernel can limit a link of many probes to one process. If not, the probes of
 * attach_waits() are for all processes.
 */
bool attach_filters_process(const struct attach *attach);
/*
 * Set the verdict on whether an object of a traced process is a barrier (SBT_OBJECT_*). Return 0 or
 * -errno.
 */
int attach_classify(struct attach *attach, uint32_t tgid, uint32_t inc, uint64_t object,
		    uint32_t verdict);

/*
 * Probe the function of a dynamic linker that is called after libraries were mapped or unmapped
 * (SBT_REC_MAP), for one process or all (@pid 0).
 */
int attach_loader(struct attach *attach, int fd, uint64_t offset, int pid);

/*
 * Return the original code around present and former probes. It is needed to repair copies of this
 * code in processes.
 */
const struct copies *attach_copies(const struct attach *attach);

/* --aggregate: note that a traced process has mapped code without its dynamic linker. */
void attach_code_changed(struct attach *attach);

/* Probe the function at @offset that creates barriers. @fd is the open file. */
int attach_made(struct attach *attach, int fd, uint64_t offset, int pid);
/*
 * Set whether every creation of a barrier is probed. If so, the raw words that were read from a
 * barrier stay valid until a barrier is created at that address again.
 */
void attach_keep_words(struct attach *attach, bool on);

/* Let each thread read the words of its barriers again at its next arrival. */
void attach_read_words_again(struct attach *attach);

/* Begin to trace a process. */
int attach_add_process(struct attach *attach, uint32_t tgid, uint32_t inc, uint32_t flags);
/*
 * Set and clear flags of a process and of its threads. Return -ENOENT if it has exited or been
 * replaced.
 */
int attach_flag_process(struct attach *attach, uint32_t tgid, uint32_t inc, uint32_t set,
			uint32_t clear);
/*
 * Get how often the mappings of the process have changed: the number of SBT_REC_MAP records,
 * including unread records. Return -ENOENT if it has exited or been replaced.
 */
int attach_mappings(const struct attach *attach, uint32_t tgid, uint32_t inc, uint32_t *n);
/*
 * Record whether the outlined function at @fn of a process, which runs a parallel region, has a
 * probe (@known). Whatever @known is, the BPF programs do not report the function again.
 */
int attach_outlined(struct attach *attach, uint32_t tgid, uint64_t fn, bool known);
/*
 * Do the same as attach_outlined() for all processes that will run the program. @probe_site is the
 * function's address relative to the program's code. If @known is false, the function's probe was
 * removed.
 */
int attach_outlined_program(struct attach *attach, uint32_t dev, uint64_t ino, uint64_t probe_site,
			    bool known);
/*
 * Mark the process as possibly inside parallel regions: teams are unknown until the next regions
 * begin.
 */
int attach_teams_unknown(struct attach *attach, uint32_t tgid);
/*
 * -a: get the times at which the process first created a thread, and a child with its own memory;
 * 0: never. These times may be before the process executed its program. The process may have
 * exited.
 */
void attach_forked(const struct attach *attach, uint32_t tgid, uint64_t *thread_ns,
		   uint64_t *child_ns);
/*
 * Record that the program in this file was examined, so that -a may trace processes that run it.
 * @flags: SBT_PROC_EXCLUDED, SBT_PROC_BY_EXIT. @settled: the program's libraries were also
 * examined. Then, for SBT_VERDICT_NS, a process that executes the program is not stopped, and its
 * libraries are not reported.
 */
int attach_know_program(struct attach *attach, uint32_t dev, uint64_t ino, uint32_t flags,
			bool settled);
/* Forget the program, because the file was rewritten. */
void attach_forget_program(struct attach *attach, uint32_t dev, uint64_t ino);

void attach_arm(struct attach *attach, bool on);
void attach_counts(const struct attach *attach, struct sbt_counts *out);
/*
 * Return the number of crossings that should have reached user space: the crossings of exited
 * threads and the refused crossings, which are in @counts, and those that the living threads have
 * counted.
 */
uint64_t attach_produced(const struct attach *attach, const struct sbt_counts *counts);

/* Call @each for every traced process. Some of them may have exited. */
void attach_each_process(const struct attach *attach, void (*each)(void *ctx, uint32_t tgid),
			 void *ctx);
/* Return the descriptor of the map of processes, for the guard. */
int attach_procs_fd(const struct attach *attach);

/* The rings: one per CPU, and the ring of events. */
uint32_t attach_nrings(const struct attach *attach);
int attach_ring_fd(const struct attach *attach, uint32_t index);
size_t attach_ring_bytes(const struct attach *attach);
int attach_events_fd(const struct attach *attach);
size_t attach_events_bytes(const struct attach *attach);

/* Call @each for every thread that is inside a barrier now. */
void attach_each_pending(const struct attach *attach,
			 void (*each)(void *ctx, uint32_t tid, const struct sbt_thread *thread),
			 void *ctx);

/*
 * Call @each for every thread if its last arrival was at a barrier of SBT_ROLE_ARRIVAL, with
 * arrive_ns set. The thread may have departed.
 */
void attach_each_inferred(const struct attach *attach,
			  void (*each)(void *ctx, uint32_t tid, const struct sbt_thread *thread),
			  void *ctx);

/*
 * Call @each for every thread of the process that crossed a barrier or a region. @team: the
 * thread's present OpenMP team; 0: none. @entered: the number of threads that have entered the
 * team's region so far; 0: unknown.
 */
void attach_each_member(const struct attach *attach, uint32_t tgid,
			void (*each)(void *ctx, uint32_t tid, uint64_t team, uint32_t entered),
			void *ctx);

/*
 * Return whether the thread's arrival at a barrier was seen, but not its departure. This does not
 * include arrivals with departures that are inferred.
 */
bool attach_is_inside(const struct attach *attach, uint32_t tid);
/* Like attach_is_inside(), but including these arrivals. The thread may have departed. */
bool attach_has_arrived(const struct attach *attach, uint32_t tid);

/* --- stop tracing a process, or a part of it (removal.c) -------------------------------------- */

#define ATTACH_ALL_PROBE_GROUPS UINT64_MAX

/*
 * Stop recording arrivals of the process at barriers of these probe groups (SBT_PROBE_GROUP()).
 * With ATTACH_ALL_PROBE_GROUPS, stop recording all its arrivals, and accounting for its threads.
 * Departures of threads that are inside a barrier may still be recorded. All of this holds until
 * the process executes another program. Return -ENOENT if it has exited or been replaced.
 */
int attach_exclude(struct attach *attach, uint32_t tgid, uint32_t inc, uint64_t probe_groups);
/*
 * Return @probe_groups and all probe groups that must be detached together with them. There are
 * three reasons. Probes shared by several groups cannot be removed for one group only. Some
 * functions of a family are useless without its other probes (OpenMP regions, MPI communicators).
 * If futexes are traced, the futexes of detached barriers would look like other barriers. Only
 * probes that the process hits are considered.
 */
uint64_t attach_probe_groups_with(const struct attach *attach, uint32_t tgid,
				  uint64_t probe_groups);
/*
 * Return those of @probe_groups that have probes only for this process. The group of futexes, which
 * has no probes, is included.
 */
uint64_t attach_own_probe_groups(const struct attach *attach, uint32_t tgid, uint64_t probe_groups);
/* Return whether the thread's present barrier, or its whole process, is no longer recorded. */
bool attach_is_detached(const struct attach *attach, const struct sbt_thread *thread);

struct attach_removal {
	uint32_t tgid; /* process of these probes; 0: probes for all processes */
	uint64_t probe_groups; /* groups to remove; ATTACH_ALL_PROBE_GROUPS: all probes */
};

/*
 * Begin to remove probes, and return before all are removed. Return 0, or -ENOMEM with all probes
 * still attached.
 */
int attach_remove(struct attach *attach, const struct attach_removal *removals, uint32_t n);
/*
 * Like attach_remove(), for all probes in the file @dev, @ino (fstat()). Probes in a file keep its
 * file system busy, so that it cannot be unmounted.
 */
int attach_remove_file(struct attach *attach, dev_t dev, ino_t ino);

/* --- accounting of threads' time (account.c) -------------------------------------------------- */

/* Return whether threads' time is accounted for: requested, and supported by the kernel. */
bool attach_accounts(const struct attach *attach);
/*
 * Return a sentence that names what the accounting cannot provide, and why; "" if nothing is
 * missing.
 */
const char *attach_account_reason(const struct attach *attach);
/*
 * Return whether departures can be inferred (SBT_ROLE_ARRIVAL): requested, and threads' time is
 * accounted for.
 */
bool attach_infers(const struct attach *attach);
/*
 * Return what happened to the thread since arrival @seq: `woke_ns` and all later members of *@out,
 * without the parts. Set *@out_ns to the time when the thread left its CPU, perhaps inside the
 * barrier, if it is still off the CPU; else to 0. Return false if there is a later record.
 */
bool attach_offs(const struct attach *attach, uint32_t tid, uint32_t seq,
		 struct sbt_arrival_full *out, uint64_t *out_ns);
/* The cost of one crossing for a thread. */
struct attach_price {
	double ns; /* NAN: unknown */
	/*
	 * The part of `ns` that is also in sbt_crossing.handler_ns and sbt_sums.handler_ns. NAN:
	 * unknown.
	 */
	double handler_ns;
};

/*
 * How long a thread that leaves a barrier is on its way, ns: the times that no event shows. They
 * are measured on sbt-trace itself.
 */
struct attach_delays {
	uint64_t run_ns; /* from getting a CPU until the thread has left its system call */
	/* from waking the last thread until the waker has left its system call */
	uint64_t wake_ns;
	uint64_t wake_idle_ns; /* the same, if the thread was on another CPU, which was idle */
	struct attach_price arrival; /* price of an arrival */
};

/*
 * Measure the delays, in less than a second. @drain empties the rings. Return 0, or -errno: the
 * delays are not known, and are 0.
 */
int attach_measure_delays(struct attach *attach, void (*drain)(void *ctx), void *ctx,
			  struct attach_delays *out);
/*
 * Set the perf event from which counter @number on @cpu is read. The event must stay open. Return 0
 * or -errno.
 */
int attach_set_counter(struct attach *attach, uint32_t number, uint32_t cpu, int fd);
/*
 * Return the interval between samples of a CPU that runs a traced thread, ns; 0: none are taken,
 * and attach_sample_reason() says why, unless none were requested.
 */
uint64_t attach_sample_ns(const struct attach *attach);
const char *attach_sample_reason(const struct attach *attach);
/* Begin to account for the existing threads of traced processes. Return 0 or -errno. */
int attach_account_found(struct attach *attach);
/*
 * After attach_stop(): for each living thread that is not inside a barrier, call @each with its
 * time and counts from its last departure (without crossings: from its start) to @end_ns.
 */
void attach_each_tail(const struct attach *attach, uint64_t end_ns,
		      void (*each)(void *ctx, const struct sbt_crossing_full *tail), void *ctx);
/*
 * Return the time that a page fault takes outside its timed handler, ns: entering and leaving the
 * kernel, measured on sbt-trace itself. 0: unknown.
 */
uint64_t attach_fault_outside_ns(const struct attach *attach);
/* Get the name that a task had when it blocked a thread. Return 0 or -errno. */
int attach_task_name(const struct attach *attach, uint32_t tid, struct sbt_name *out);
int attach_file_name(const struct attach *attach, uint64_t inode, struct sbt_file_name *out);
/* Get the file name of the mapping in which a page fault occurred. out->mode is SBT_MAPPING_*. */
int attach_mapping_name(const struct attach *attach, uint32_t tgid, uint64_t addr,
			struct sbt_file_name *out);
/*
 * Get which threads ended the waits of a thread; out->tgid is its process. Return 0, or -errno if
 * none is known.
 */
int attach_wakers(const struct attach *attach, uint32_t tid, struct sbt_wakers *out);
/*
 * Get the stack that a blocking record names. Return 0, or -errno if there is none or it was
 * evicted.
 */
int attach_stack(const struct attach *attach, uint64_t key, struct sbt_stack *out);

/* --- sums in the kernel (sums.c), with config.aggregate --------------------------------------- */

/* Call @each with the sums of each thread at each call site that has crossings. */
void attach_each_sums(const struct attach *attach,
		      void (*each)(void *ctx, const struct sbt_sums *sums), void *ctx);
/*
 * Call @each with the sums of exited threads. Free their slots, and the slots of barriers of exited
 * processes. Call this repeatedly: a slot is freed at the second call that finds its thread gone.
 * Return 0 or -errno.
 */
int attach_return_sums(struct attach *attach, void (*each)(void *ctx, const struct sbt_sums *sums),
		       void *ctx);
/*
 * For a slot without a known call site (SBT_SUM_UNSEEN): return whether no library was mapped or
 * unmapped since the slot was created.
 */
bool attach_sums_mapped(const struct attach *attach, const struct sbt_sums *sums);
/*
 * Return the number of crossings in all slots, present and freed, except the crossings of sbt-trace
 * itself.
 */
uint64_t attach_summed(const struct attach *attach);

/*
 * Measure the cost of one crossing for a traced thread on sbt-trace's own code. The programs and
 * the attach method are the same as for the traced program. All other probes are removed first. The
 * result is the lower quartile of several runs. @drain is called between runs to empty the rings.
 */
struct attach_price attach_calibrate(struct attach *attach, bool stepped, bool by_exit,
				     void (*drain)(void *ctx), void *ctx);

/*
 * Return the cost (ns) that one crossing still has in a process that hits probes but is not
 * recorded. This needs the same probe as attach_calibrate_quick().
 */
double attach_calibrate_excluded(struct attach *attach, void (*drain)(void *ctx), void *ctx);

/*
 * Measure the cost of one crossing for the most common instruction, with the probe that
 * attach_new() left on sbt-trace itself. This takes a few milliseconds. It must be called before
 * attach_calibrate() or attach_remove_probes() removes that probe.
 */
struct attach_price attach_calibrate_quick(struct attach *attach, void (*drain)(void *ctx),
					   void *ctx);

/*
 * Return the cost in ns of accounting for one wait of a thread: it leaves the CPU, is woken, and
 * gets a CPU. Uses the timed waits of traced threads between @from and @to. NAN: none was timed.
 */
double attach_switch_ns(const struct sbt_counts *from, const struct sbt_counts *to);

/* Return the total cost (ns) of accounting for switches between @from and @to. */
uint64_t attach_switches_ns(const struct sbt_counts *from, const struct sbt_counts *to);

#endif /* ATTACH_ATTACH_H */
