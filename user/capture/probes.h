/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Attach the probes of a file, for all processes or for one process, and report failures. */
#ifndef CAPTURE_PROBES_H
#define CAPTURE_PROBES_H

#include "attach/attach.h"
#include "base/hash.h"
#include "capture/tracker_options.h"
#include "capture/written.h"
#include "sites/module.h"
#include "sites/rule.h"
#include "sites/address_space.h"

/* A file with probes for all processes (@pid 0) or for one process. */
struct probes_file {
	struct module *m;
	int pid;
};

struct probes {
	struct attach *attach;
	const struct tracker_options *options;
	struct hash waits; /* keys (module, tgid, inc): probes where threads wait are attached */
	int waits_refused; /* last reported error of attaching these probes: -errno; 0: none */
	/*
	 * (module, tgid, inc) -> 1: probes on waits for turns are attached; 2: they are impossible
	 */
	struct hash turns;
	/*
	 * (module, tgid, inc) -> 1: probes on waits on semaphores are attached; 2: they are
	 * impossible
	 */
	struct hash sems;
	/*
	 * (module, tgid) -> 1: probes where functions of parallel regions return are attached; 2:
	 * they are impossible
	 */
	struct hash returns;
	struct hash tasks; /* keys (module, tgid): probes where tasks are created are attached */
	/* keys (module, leader, tgid): this dynamic linker has a probe for this process */
	struct hash loaders;
	/*
	 * keys (module, tgid): attached, if each process has its own probes (options->by_process)
	 */
	struct hash by_process;
	/*
	 * Files in which the ends of the barriers of OpenMP teams have no probes. They need none
	 * until a departure cannot be inferred; then `team_ends` is set.
	 */
	struct probes_file *deferred;
	uint32_t ndeferred, cap_deferred;
	bool team_ends;
	struct written written; /* watches for writes to files with probes */
	uint32_t places; /* number of probe sites with a probe */
	/* number of probes of each -b rule, indexed by sbt_spec.rule */
	uint32_t by_rule[RULES_MAX + 1];
	bool stepped; /* the kernel single-steps at least one probed instruction */
	/*
	 * thread counts of barriers are read at each crossing, because some initialisations of
	 * barriers are not seen
	 */
	bool reread;
};

/* @attach and @options must outlive @probes. */
void probes_init(struct probes *probes, struct attach *attach,
		 const struct tracker_options *options);
void probes_free(struct probes *probes);

/*
 * Attach all probes of a file that are not attached yet. @tgid: the process, if each process has
 * its own probes. @by_exit: return probes may not be used in this process.
 */
void probes_module(struct probes *probes, struct module *module, uint32_t tgid, bool by_exit);
/*
 * Probe the dynamic linker for one process, unless it is probed for all processes. Do nothing if
 * the file is no dynamic linker. @leader is the number of thread-group leaders that the process has
 * had so far: the kernel attaches to the leader, and exec can replace it.
 */
void probes_loader(struct probes *probes, struct module *module, uint32_t tgid, uint32_t leader);
/*
 * Attach the probes on OpenMP tasks of a file, for processes with code that creates tasks. Call
 * probes_team_ends(), too.
 */
void probes_tasks(struct probes *probes, struct module *module, uint32_t tgid);
/*
 * Probe the ends of the barriers of OpenMP teams in all files, now and later, because not all
 * departures can be inferred (SBT_REC_ENDS).
 */
void probes_team_ends(struct probes *probes);
/* Remove the probes of a file that no process runs any more, or that was written to. */
void probes_remove_file(struct probes *probes, struct module *module);
/*
 * Probe where threads of one process wait in this file; other processes do not hit these probes.
 * Return 0 or -errno; -ESRCH: the process has ended. After -ESRCH, later calls return -ESRCH again.
 * After other errors, later calls return 0.
 */
int probes_waits(struct probes *probes, struct module *module, uint32_t tgid, uint32_t inc);
/*
 * If @rest is set, pause the probes that probes_waits() attached for one process, except those on
 * joining threads. Otherwise resume them. In both cases a new set of probes is attached, and the
 * caller must then remove the earlier set with attach_waits_remove(). Return 0, -ENOTSUP if the
 * probes are shared, or -errno.
 */
int probes_rest(struct probes *probes, struct module *module, uint32_t tgid, uint32_t inc,
		bool rest);
/*
 * Probe where threads of one process wait for their turn in this file. Return 0 or -errno.
 * probes_turns_again() attaches these probes again after attach_waits_remove(ATTACH_WAITS_TURNS).
 */
int probes_turns(struct probes *probes, struct module *module, uint32_t tgid, uint32_t inc);
int probes_turns_again(struct probes *probes, struct module *module, uint32_t tgid, uint32_t inc);
/* Do the same where threads wait on semaphores. */
int probes_sems(struct probes *probes, struct module *module, uint32_t tgid, uint32_t inc);
int probes_sems_again(struct probes *probes, struct module *module, uint32_t tgid, uint32_t inc);
/*
 * Probe the addresses to which functions of parallel regions return in a runtime, for processes
 * that must not have return probes. @tgid as in probes_module(). Return a bit mask, indexed by
 * family: a family is set if its functions need no probes on exits.
 */
uint32_t probes_returns(struct probes *probes, struct module *module, uint32_t tgid);
/*
 * Probe the exits of the functions in this file. @returns: the results of probes_returns() for all
 * files of the process. Return 0, or -errno: departures cannot be seen this way.
 */
int probes_exits(struct probes *probes, struct module *module, uint32_t returns);
/*
 * Report the functions of parallel regions with unknown exits, if departures are only seen at exits
 * and the probes are attached already.
 */
void probes_report_ends(struct probes *probes, struct module *module, uint32_t returns);

/*
 * Probe the function at @offset of the file, which parallel regions run, and all similar functions.
 * @caller: offset of the call that began the region; 0: unknown, or in another file. Return 0, or
 * -errno if the bounds of the function are unknown.
 */
int probes_find_outlined(struct probes *probes, struct module *module,
			 const struct address_space *space, uint8_t family, uint64_t offset,
			 uint64_t caller);
/*
 * Remove the probe at @offset of the file, because it has made its only report (SBT_REC_TASKS). A
 * probe for all processes is removed from all of them. @unseen: the tasks of other processes are
 * not reported from then on. Return 0, -ENOENT if there is no probe, or -ENOMEM.
 */
int probes_remove(struct probes *probes, struct module *module, uint32_t tgid, uint64_t offset,
		  bool *unseen);
/*
 * Pass the region functions in this mapping that already have probes to the BPF programs, so that
 * the first regions of the process are complete.
 */
void probes_note_outlined(struct probes *probes, uint32_t tgid, const struct maps_entry *entry,
			  const struct module *module);

#endif /* CAPTURE_PROBES_H */
