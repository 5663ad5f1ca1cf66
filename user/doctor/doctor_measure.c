// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* What sbt-trace can measure in traced programs. */
#include "doctor/doctor_internal.h"

#include "base/array.h"
#include "sites/family.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- where time goes ------------------------------------------------------------------------- */

static void add_accounts(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;

	f = doctor_row(d, "where time goes", "scheduler events", doctor_known(x->accounts), "%s",
		       x->accounts == 1	  ? "time on a CPU, ready, blocked and on what; stacks"
		       : x->accounts == 0 ? x->accounts_why
					  : "not tried");
	if (x->accounts == 0) {
		f->state = DOCTOR_INSTEAD;
		doctor_instead(f, "waits and idle times only, without causes");
		doctor_remedy(f,
			      "a kernel that lets BPF trace sched_switch (CONFIG_BPF_EVENTS, "
			      "CONFIG_DEBUG_INFO_BTF)%s%.200s",
			      *x->trial_log ? "; its error: " : "", x->trial_log);
		return;
	}
	if (x->accounts != 1)
		return;
	f = doctor_row(d, "where time goes", "page faults",
		       *x->accounts_why ? DOCTOR_NO : DOCTOR_YES, "%s",
		       *x->accounts_why ? x->accounts_why : "their time is separate");
	if (*x->accounts_why) {
		f->state = DOCTOR_INSTEAD;
		doctor_instead(f, "they count as time on a CPU");
		doctor_remedy(f, "a kernel with software perf events (CONFIG_PERF_EVENTS)");
	}
}

static void add_account_details(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;

	f = doctor_row(d, "where time goes", "names of mappings", doctor_known(x->vma), "%s",
		       x->vma == 1   ? "page faults are reported with the name of the file"
		       : x->vma == 0 ? "BPF programs cannot look up mappings"
				     : "not tried");
	if (x->vma == 0) {
		f->state = DOCTOR_INSTEAD;
		doctor_instead(f, "page faults without file names");
		doctor_remedy(f, "Linux 5.17 or later");
	}
	f = doctor_row(d, "where time goes", "throttling by cgroups", doctor_known(x->throttle),
		       "%s",
		       x->throttle == 1	  ? "distinguished from waiting for a CPU"
		       : x->throttle == 0 ? "the kernel does not limit the CPU time of cgroups"
					  : "not tested, because there is no BTF");
	if (x->throttle == 0)
		doctor_remedy(f, "none needed: it cannot happen here (CONFIG_CFS_BANDWIDTH)");
	f = doctor_row(d, "where time goes", "task iterator", doctor_state_of(x->iterator), "%s",
		       !x->iterator ? "lists the threads that were already running"
				    : doctor_said(x->iterator));
	if (doctor_state_of(x->iterator) == DOCTOR_NO) {
		f->state = DOCTOR_INSTEAD;
		doctor_instead(f, "/proc; a thread is known from its first event on");
		doctor_remedy(f, "Linux 5.10 or later with CONFIG_BPF_EVENTS");
	}
}

/* --- counters -------------------------------------------------------------------------------- */

static void add_counters(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;

	f = doctor_row(d, "counters", "hardware counters", doctor_known(x->hardware), "%s",
		       x->hardware == 1	  ? x->hardware_names
		       : x->hardware == 0 ? x->hardware_why
					  : "not tried");
	if (x->hardware == 0) {
		f->state = x->software == 1 ? DOCTOR_INSTEAD : DOCTOR_NO;
		if (x->software == 1)
			doctor_instead(f, "software events: %s", x->software_names);
		if (strstr(x->hardware_why, "not permitted"))
			doctor_refusal(f, x, "CAP_PERFMON");
		else
			doctor_remedy(
				f, "on a virtual machine, let the host pass the PMU through (-cpu "
				   "host, vPMU)");
	} else if (x->hardware == 1 && *x->hardware_why) {
		snprintf(f->found, sizeof(f->found), "%s; missing: %s", x->hardware_names,
			 x->hardware_why);
	}
	f = doctor_row(d, "counters", "software events", doctor_known(x->software), "%s",
		       x->software == 1	  ? x->software_names
		       : x->software == 0 ? x->software_why
					  : "not tried");
	if (x->software == 0 && strstr(x->software_why, "not permitted"))
		doctor_refusal(f, x, "CAP_PERFMON");
	else if (x->software == 0)
		doctor_remedy(f, "a kernel with CONFIG_PERF_EVENTS");
	if (*x->pfm) {
		doctor_row(d, "counters", "names of events", DOCTOR_YES,
			   "kernel names, PAPI presets and names of libpfm4 (%s)", x->pfm);
	} else {
		f = doctor_row(d, "counters", "names of events", DOCTOR_INSTEAD, "%s",
			       x->is_static ? "this static program cannot load libpfm4"
					    : "libpfm4 is not installed");
		doctor_instead(f, "kernel names, PAPI presets and raw numbers");
		doctor_remedy(f, x->is_static ? "use the packaged program instead of this one"
					      : "install libpfm4");
	}
}

/* --- hangs ----------------------------------------------------------------------------------- */

static void add_hangs(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;

	f = doctor_row(d, "hangs", "stacks of blocked threads", doctor_state_of(x->registers), "%s",
		       !x->registers	   ? "their registers can be read without stopping them"
		       : *x->registers_why ? x->registers_why
					   : doctor_said(x->registers));
	if (doctor_state_of(x->registers) == DOCTOR_NO) {
		f->state = DOCTOR_INSTEAD;
		doctor_instead(f,
			       "/proc: the innermost function, and callers as far as they can be "
			       "found");
		doctor_remedy(f, "%s",
			      doctor_lacks(x, "CAP_BPF") || doctor_lacks(x, "CAP_PERFMON")
				      ? "root, or CAP_BPF and CAP_PERFMON"
				      : "Linux 5.10 or later with CONFIG_BPF_EVENTS");
	}
	f = doctor_row(d, "hangs", "stacks of running threads", doctor_state_of(x->samples), "%s",
		       !x->samples		     ? "sampled by the kernel's clock"
		       : x->samples == DOCTOR_UNSEEN ? "no sample arrived"
						     : doctor_said(x->samples));
	if (doctor_state_of(x->samples) == DOCTOR_NO) {
		f->state = DOCTOR_INSTEAD;
		doctor_instead(f, "running threads are reported without a stack");
		if (doctor_refused(x->samples))
			doctor_refusal(f, x, "CAP_PERFMON");
		else
			doctor_remedy(f, "a kernel with CONFIG_PERF_EVENTS");
	}
}

/* --- processes ------------------------------------------------------------------------------- */

static void add_other(struct doctor *d, const struct doctor_facts *x)
{
	int outcome = x->other_maps ? x->other_maps : x->other_files;
	struct doctor_feature *f;

	if (x->other == DOCTOR_UNTRIED) {
		doctor_row(d, "processes", "-p of others' processes", DOCTOR_UNKNOWN,
			   "there is no process of another user to try it on");
		return;
	}
	f = doctor_row(d, "processes", "-p of others' processes", doctor_state_of(outcome), "%s%s",
		       !outcome	       ? "mappings can be read, and mapped files opened"
		       : x->other_maps ? "mappings cannot be read: "
				       : "mapped files cannot be opened: ",
		       outcome ? doctor_said(outcome) : "");
	if (doctor_state_of(outcome) == DOCTOR_NO)
		doctor_remedy(f, "%s",
			      doctor_lacks(x, "CAP_SYS_PTRACE")
				      ? "CAP_SYS_PTRACE, or run it as that user"
			      : doctor_lacks(x, "CAP_CHECKPOINT_RESTORE")
				      ? "CAP_CHECKPOINT_RESTORE"
				      : "run sbt-trace where that user exists: outside the "
					"container");
	f = doctor_row(d, "processes", "memory of others", doctor_state_of(x->other_memory), "%s",
		       !x->other_memory ? "can be read: stacks, locks, names"
					: doctor_said(x->other_memory));
	if (doctor_state_of(x->other_memory) == DOCTOR_NO)
		doctor_remedy(
			f, "CAP_SYS_PTRACE%s",
			x->yama > 2 && x->yama != DOCTOR_UNTRIED
				? "; kernel.yama.ptrace_scope is 3, which forbids it until the "
				  "next boot"
			: x->yama > 0 && x->yama != DOCTOR_UNTRIED
				? ", or sysctl kernel.yama.ptrace_scope=0 for your own processes"
				: "");
}

static void add_processes(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;
	int hold = x->stop ? x->stop : x->signal == 0 ? -ENOTSUP : 0;

	add_other(d, x);
	f = doctor_row(d, "processes", "memory of own children", doctor_state_of(x->child_memory),
		       "%s", !x->child_memory ? "can be read" : doctor_said(x->child_memory));
	if (doctor_state_of(x->child_memory) == DOCTOR_NO)
		doctor_remedy(f, "%s",
			      x->child_memory == -ENOSYS
				      ? "a kernel with CONFIG_CROSS_MEMORY_ATTACH"
			      : x->seccomp > 0 ? "a seccomp profile that allows process_vm_readv"
					       : "CAP_SYS_PTRACE");
	f = doctor_row(d, "processes", "holding new programs",
		       x->signal == DOCTOR_UNTRIED && !x->stop ? DOCTOR_UNKNOWN
							       : doctor_state_of(hold),
		       "%s",
		       x->signal == DOCTOR_UNTRIED && !x->stop ? "not tried without bpf()"
		       : !hold	 ? "stopped (SIGSTOP) until their probes are attached"
		       : x->stop ? doctor_said(hold)
				 : "BPF programs cannot send signals");
	if (doctor_state_of(hold) == DOCTOR_NO) {
		f->state = DOCTOR_INSTEAD;
		doctor_instead(f, "the first actions of a new program may be missed");
		doctor_remedy(f, "Linux 5.3 or later");
	}
	if (x->files < DOCTOR_FILES_ENOUGH) {
		f = doctor_row(d, "processes", "open files",
			       x->trial == -EMFILE ? DOCTOR_NO : DOCTOR_INSTEAD, "at most %llu",
			       (unsigned long long)x->files);
		f->needed = x->trial == -EMFILE;
		if (!f->needed)
			doctor_instead(f, "only as many programs and libraries as fit: -a may "
					  "reach the limit");
		doctor_remedy(f, "raise the hard limit: ulimit -Hn %d, LimitNOFILE=, limits.conf",
			      DOCTOR_FILES_ENOUGH * 4);
	} else {
		doctor_row(d, "processes", "open files", DOCTOR_YES,
			   x->files == UINT64_MAX ? "without limit" : "at most %llu",
			   (unsigned long long)x->files);
	}
}

static void add_cgroups(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;

	if (*x->cgroup2 && !x->cgroup_id) {
		doctor_row(d, "processes", "--cgroup", DOCTOR_YES, "version 2 is mounted at %s%s",
			   x->cgroup2, x->cgroup1 ? " (version 1 too, which cannot be used)" : "");
		return;
	}
	f = doctor_row(d, "processes", "--cgroup", DOCTOR_NO, "%s%s",
		       *x->cgroup2  ? "ids of cgroups cannot be read: "
		       : x->cgroup1 ? "only version 1 of cgroups is mounted"
				    : "cgroups are not mounted",
		       *x->cgroup2 ? doctor_said(x->cgroup_id) : "");
	doctor_instead(f, "-a --comm NAME, or -p");
	doctor_remedy(f, "mount -t cgroup2 none /sys/fs/cgroup");
}

/* --- names ----------------------------------------------------------------------------------- */

static void add_library(struct doctor *d, const struct doctor_library *lib)
{
	struct doctor_feature *f;

	if (lib->lines) {
		doctor_row(d, "names", lib->name, DOCTOR_YES, "%s, with functions and lines",
			   lib->path);
		return;
	}
	f = doctor_row(d, "names", lib->name, DOCTOR_INSTEAD, "%s, without debug information",
		       lib->path);
	doctor_instead(f, "names of exported functions, but no lines inside it");
	array_for_each (library, family_libraries, family_nlibraries)
		if (library->name && !strcmp(lib->name, library->name))
			doctor_remedy(f, "for stacks inside it, install %s or use --debuginfod",
				      library->debug_package);
}

static void add_names(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;

	doctor_row(d, "names", "functions and lines", *x->libdw ? DOCTOR_YES : DOCTOR_UNKNOWN,
		   "libdw %s", *x->libdw ? x->libdw : "of unknown version");
	if (x->debuginfod && x->debuginfod_urls) {
		doctor_row(d, "names", "debuginfod", DOCTOR_YES,
			   "with --debuginfod, from DEBUGINFOD_URLS");
	} else {
		f = doctor_row(d, "names", "debuginfod", DOCTOR_INSTEAD, "%s",
			       x->is_static    ? "this static program cannot use debuginfod"
			       : x->debuginfod ? "DEBUGINFOD_URLS is not set"
					       : "libdebuginfod is not installed");
		doctor_instead(f, "debug information in the files and under /usr/lib/debug");
		doctor_remedy(f, "%s",
			      x->is_static    ? "use the packaged program instead of this one"
			      : x->debuginfod ? "set DEBUGINFOD_URLS, and use --debuginfod"
					      : "install libdebuginfod1, set DEBUGINFOD_URLS");
	}
	array_for_each (library, x->libraries, x->nlibraries)
		add_library(d, library);
	if (x->nmpi)
		doctor_row(d, "names", "MPI", DOCTOR_YES, "%s%s", x->mpi,
			   x->nmpi > 3 ? ", ..." : "");
	else
		doctor_row(d, "names", "MPI", DOCTOR_UNKNOWN,
			   "no library in the usual places; a library elsewhere is found through "
			   "the program that loaded it");
}

void doctor_add_measures(struct doctor *d, const struct doctor_facts *x)
{
	add_accounts(d, x);
	add_account_details(d, x);
	add_counters(d, x);
	add_hangs(d, x);
	add_processes(d, x);
	add_cgroups(d, x);
	add_names(d, x);
}
