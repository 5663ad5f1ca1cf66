/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The probes of a file: which of its places get one, once for all or for each process, and what is said if not. */
#ifndef CAPTURE_PROBES_H
#define CAPTURE_PROBES_H

#include "attach/attach.h"
#include "base/hash.h"
#include "capture/tracker_options.h"
#include "capture/written.h"
#include "sites/module.h"
#include "sites/rule.h"
#include "sites/address_space.h"

struct probes {
	struct attach *attach;
	const struct tracker_options *options;
	struct hash waits; /* (module, tgid, inc) that has probes where threads wait */
	int waits_refused; /* for which reason, as last said */
	struct hash
		turns; /* (module, tgid, inc) that has probes where threads wait for their turn: 1 done, 2 cannot */
	struct hash sems; /* as that, where they wait on semaphores */
	struct hash
		returns; /* (module, tgid) that has probes where regions' functions return to: 1 done, 2 cannot */
	struct hash tasks; /* (module, tgid) that has probes where tasks are made */
	struct hash
		loaders; /* (module, leader, tgid): a dynamic linker that has a probe for this process */
	struct hash by_process; /* (module, tgid) that has its probes, with by_process */
	struct written written; /* files that have probes */
	uint32_t places; /* that have one */
	uint32_t by_rule[RULES_MAX + 1]; /* of these, the user's: by sbt_spec.rule */
	bool stepped; /* under one of them the kernel must step an instruction */
	bool reread; /* counts of barriers cannot be kept */
};

/* @attach and @options must outlive it. */
void probes_init(struct probes *probes, struct attach *attach,
		 const struct tracker_options *options);
void probes_free(struct probes *probes);

/*
 * Puts all probes of a file, unless they are there. @tgid: for which process, where probes are by process. @by_exit: of
 * this process departures may not be seen through return probes.
 */
void probes_module(struct probes *probes, struct module *module, uint32_t tgid, bool by_exit);
/*
 * Probe the dynamic linker for one process, where it is not probed for all. Do nothing if the file is none. @leader counts the
 * threads that have been first in the process: the kernel knows it by the first thread, and executing a program changes that.
 */
void probes_loader(struct probes *probes, struct module *module, uint32_t tgid, uint32_t leader);
/*
 * Puts those of a file's probes that tell of OpenMP tasks: of use for processes whose code makes tasks. @tgid as above.
 */
void probes_tasks(struct probes *probes, struct module *module, uint32_t tgid);
/* Removes the probes of a file that no process runs any more, or that was written anew: the next one that runs it gets them again. */
void probes_remove_file(struct probes *probes, struct module *module);
/*
 * Where threads wait for others in this file, for one process: strangers shall not meet these probes. Returns -ESRCH if it had ended
 * before, also later; 0 or another error the first time.
 */
int probes_waits(struct probes *probes, struct module *module, uint32_t tgid, uint32_t inc);
/*
 * The same process is not looked at there for a while (@rest), but for threads that it joins, or is again. -ENOTSUP: these
 * probes are not its own. To be followed by attach_waits_remove(), of what there was before.
 */
int probes_rest(struct probes *probes, struct module *module, uint32_t tgid, uint32_t inc,
		bool rest);
/*
 * Where threads wait for their turn in this file, for one process. Returns 0 or -errno. Again: these have been removed
 * (ATTACH_WAITS_TURNS).
 */
int probes_turns(struct probes *probes, struct module *module, uint32_t tgid, uint32_t inc);
int probes_turns_again(struct probes *probes, struct module *module, uint32_t tgid, uint32_t inc);
/* The same where threads wait on semaphores. */
int probes_sems(struct probes *probes, struct module *module, uint32_t tgid, uint32_t inc);
int probes_sems_again(struct probes *probes, struct module *module, uint32_t tgid, uint32_t inc);
/*
 * Where a runtime's calls of parallel regions' functions return to gets probes, for processes that may have no return
 * probes. @tgid as in probes_module(). Returns of which families, a bit by family number: these need no exits; 0.
 */
uint32_t probes_returns(struct probes *probes, struct module *module, uint32_t tgid);
/*
 * The exits of the functions in this file get probes. @returns: what probes_returns() said of all that the process runs.
 * Returns 0, or -errno: its departures cannot be seen so.
 */
int probes_exits(struct probes *probes, struct module *module, uint32_t returns);
/* The same where all probes are at exits, and are there already: says which regions' ends are not seen. */
void probes_say_ends(struct probes *probes, struct module *module, uint32_t returns);

/*
 * The function at @offset of the file is run by parallel regions, begun at @caller of the same file (0: not known): it
 * and all of its like get probes. Returns 0 or -errno: it is not known where it begins and ends.
 */
int probes_find_outlined(struct probes *probes, struct module *module,
			 const struct address_space *space, uint8_t family, uint64_t offset,
			 uint64_t caller);
/*
 * The probe at @offset of the file has told all that it can (SBT_REC_TASKS): it is removed, from the process and where it is for
 * all from all. @unseen: of others it is not told from now on that they have tasks. Returns 0, -ENOENT: there is none, or -ENOMEM.
 */
int probes_remove(struct probes *probes, struct module *module, uint32_t tgid, uint64_t offset,
		  bool *unseen);
/* Regions of functions that have their probes: so the first ones of the process are known, too. */
void probes_note_outlined(struct probes *probes, uint32_t tgid, const struct maps_entry *entry,
			  const struct module *module);

#endif /* CAPTURE_PROBES_H */
