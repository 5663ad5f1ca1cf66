// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* BPF and the methods of attaching probes. */
#include "doctor/doctor_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Number of CPUs that can hit one uprobe at once without delaying each other, as measured on one
 * machine.
 */
#define CPUS_SERIALISE 8

/* --- BPF ------------------------------------------------------------------------------------- */

static void add_bpf(struct doctor *d, const struct doctor_facts *x)
{
	int outcome = x->map ? x->map : x->program;
	struct doctor_feature *f;

	f = doctor_row(d, "kernel", "bpf()", doctor_state_of(outcome), "%s%s",
		       !outcome			   ? "maps and programs can be created"
		       : outcome == DOCTOR_UNTRIED ? ""
		       : x->map			   ? "a map cannot be created: "
						   : "a program cannot be loaded: ",
		       outcome ? doctor_said(outcome) : "");
	f->needed = true;
	if (doctor_refused(outcome))
		doctor_refusal(f, x, NULL);
	else if (outcome == -ENOSYS)
		doctor_remedy(f, "a kernel with CONFIG_BPF_SYSCALL");
	else if (outcome && outcome != DOCTOR_UNTRIED)
		doctor_remedy(f,
			      "Linux 5.10 or later with CONFIG_BPF_SYSCALL and CONFIG_BPF_EVENTS");
}

static void add_btf(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;

	f = doctor_row(d, "kernel", "BTF", doctor_state_of(x->btf), "%s%s",
		       !x->btf ? "the kernel describes its types" : "/sys/kernel/btf/vmlinux: ",
		       !x->btf ? "" : doctor_said(x->btf));
	f->needed = true;
	if (x->btf == -ENOENT)
		doctor_remedy(f, "a kernel with CONFIG_DEBUG_INFO_BTF, and /sys mounted");
	else if (x->btf && x->btf != DOCTOR_UNTRIED)
		doctor_remedy(f, "a kernel with types that this sbt-trace can read: a newer "
				 "sbt-trace, or an older kernel");
}

static void add_ring(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;

	f = doctor_row(d, "kernel", "ring buffer", doctor_state_of(x->ring), "%s",
		       !x->ring ? "1 MiB can be allocated" : doctor_said(x->ring));
	f->needed = true;
	if ((doctor_refused(x->ring) || x->ring == -ENOMEM) && !x->map)
		doctor_remedy(f, "a higher limit of locked memory: ulimit -l unlimited, or "
				 "CAP_SYS_RESOURCE");
	else if (doctor_refused(x->ring))
		doctor_refusal(f, x, NULL);
	else if (x->ring && x->ring != DOCTOR_UNTRIED)
		doctor_remedy(f, "Linux 5.8 or later");
}

/* --- probes ---------------------------------------------------------------------------------- */

static bool uses(const struct doctor_facts *x, const char *method)
{
	return !x->trial && !strcmp(x->method, method);
}

/* Add the row of an available attach method. */
static void add_available(struct doctor *d, const struct doctor_facts *x, const char *name,
			  const char *method, const char *found)
{
	doctor_row(d, "probes", name, DOCTOR_YES, "%s%s", found, uses(x, method) ? ": in use" : "");
}

static void add_session(struct doctor *d, const struct doctor_facts *x)
{
	static const char name[] = "uprobe.session";
	struct doctor_feature *f;

	if (!x->session && !x->trial && !uses(x, "session")) {
		f = doctor_row(d, "probes", name, DOCTOR_INSTEAD,
			       "the kernel has it, but refuses sbt-trace's programs for it: %s",
			       x->method_why);
		doctor_instead(f, "%s", x->method);
		return;
	}
	if (!x->session) {
		add_available(d, x, name, "session", "entry and return in one probe");
		return;
	}
	f = doctor_row(d, "probes", name,
		       x->session == DOCTOR_UNTRIED ? DOCTOR_UNKNOWN
		       : x->trial		    ? DOCTOR_NO
						    : DOCTOR_INSTEAD,
		       "%s", doctor_said(x->session));
	if (doctor_refused(x->session) || x->session == DOCTOR_UNTRIED)
		return;
	snprintf(f->found, sizeof(f->found), "not in this kernel (%s)", doctor_said(x->session));
	if (!x->trial)
		doctor_instead(f, "separate probes at entries and ret instructions, by %s",
			       uses(x, "multi") ? "uprobe.multi" : "perf uprobes");
	doctor_remedy(f, "Linux 6.13 or later");
}

static void add_multi(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;

	if (!x->multi) {
		add_available(d, x, "uprobe.multi", "multi", "many probe sites in one attachment");
	} else {
		f = doctor_row(d, "probes", "uprobe.multi",
			       x->multi == DOCTOR_UNTRIED	     ? DOCTOR_UNKNOWN
			       : x->perf || doctor_refused(x->multi) ? DOCTOR_NO
								     : DOCTOR_INSTEAD,
			       "%s", doctor_said(x->multi));
		if (doctor_refused(x->multi) || x->multi == DOCTOR_UNTRIED)
			return;
		snprintf(f->found, sizeof(f->found), "not in this kernel (%s)",
			 doctor_said(x->multi));
		if (!x->perf)
			doctor_instead(f, "perf uprobes, one by one: start and end take longer");
		doctor_remedy(f, "Linux 6.6 or later");
		return;
	}
	if (x->filters == 1) {
		doctor_row(d, "probes", "probes of one process", DOCTOR_YES,
			   "with --no-children, the kernel keeps multi and perf probes out of "
			   "other processes; sessions, and probes that children need too, are in "
			   "all processes that run the probed files");
	} else if (x->filters == 0) {
		f = doctor_row(d, "probes", "probes of one process", DOCTOR_INSTEAD,
			       "uprobe.multi of this kernel filters by thread, not by process");
		doctor_instead(f, "filtered in the BPF program: other processes pay for each hit");
		doctor_remedy(f, "Linux 6.12 or later");
	}
}

static void add_perf(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;

	if (!x->perf) {
		add_available(d, x, "perf uprobe", "perf", "one probe site per attachment");
	} else {
		f = doctor_row(d, "probes", "perf uprobe",
			       x->multi && doctor_state_of(x->perf) == DOCTOR_NO ? DOCTOR_NO
			       : x->perf == DOCTOR_UNTRIED			 ? DOCTOR_UNKNOWN
										 : DOCTOR_INSTEAD,
			       "%s", doctor_said(x->perf));
		f->needed = x->multi != 0;
		if (!x->multi)
			doctor_instead(f, "uprobe.multi");
		if (doctor_refused(x->perf))
			doctor_refusal(f, x,
				       doctor_lacks(x, "CAP_SYS_ADMIN") ? "CAP_SYS_ADMIN" : NULL);
		else if (x->perf != DOCTOR_UNTRIED)
			doctor_remedy(f,
				      "a kernel with CONFIG_UPROBE_EVENTS and CONFIG_PERF_EVENTS");
	}
	if (!x->cookies) {
		doctor_row(d, "probes", "attach cookies", DOCTOR_YES, "a probe carries a number");
	} else if (!x->perf) {
		f = doctor_row(d, "probes", "attach cookies", DOCTOR_INSTEAD,
			       "a perf uprobe carries no number (%s)", doctor_said(x->cookies));
		doctor_instead(
			f, "probes are identified by their offset in the page and the code there: "
			   "if two probes have both in common, one of them is left out, with a "
			   "warning");
		doctor_remedy(f, "Linux 5.15 or later");
	} else {
		doctor_row(d, "probes", "attach cookies", DOCTOR_UNKNOWN,
			   "not tried without uprobes");
	}
}

/* Add the row on how sbt-trace learns which libraries a process loads. */
static void add_mappings(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;

	f = doctor_row(d, "probes", "mapped code", doctor_state_of(x->mappings), "%s",
		       !x->mappings
			       ? "reported by the kernel: only named processes have a probe in "
				 "their dynamic linker; with -a, no process has one (with -a "
				 "--discover, condition variables and joins have probes: programs "
				 "that call them under an emulator die)"
			       : doctor_said(x->mappings));
	if (doctor_state_of(x->mappings) != DOCTOR_NO)
		return;
	f->state = DOCTOR_INSTEAD;
	doctor_instead(f,
		       "a probe in every dynamic linker: while children or the whole machine are "
		       "traced, programs under an emulator (valgrind, qemu-user) die of SIGTRAP");
	doctor_remedy(f, "CAP_PERFMON, or a larger kernel.perf_event_mlock_kb");
}

static void add_ends(struct doctor *d, const struct doctor_facts *x)
{
	int exit = x->multi_exit ? x->perf_exit : 0;
	struct doctor_feature *f;

	/* Only sessions use return probes; attach/load.c explains why. */
	f = doctor_row(d, "probes", "return probes", doctor_state_of(x->session), "%s",
		       !x->session ? "only with sessions, where nothing can unwind through them"
				   : "none without sessions");
	if (doctor_state_of(x->session) == DOCTOR_NO && !exit) {
		f->state = DOCTOR_INSTEAD;
		doctor_instead(f, "the ret instructions");
		doctor_remedy(f, "Linux 6.13 or later");
	}
	f = doctor_row(d, "probes", "system calls", doctor_known(x->syscalls), "%s",
		       x->syscalls == 1	  ? "futex calls can be traced: --discover"
		       : x->syscalls == 0 ? "the kernel does not trace them"
					  : "not tested, because there is no BTF");
	if (x->syscalls == 0) {
		f->state = DOCTOR_INSTEAD;
		doctor_instead(f, "--discover sees only condition variables, not futexes");
		doctor_remedy(f, "a kernel with CONFIG_FTRACE_SYSCALLS");
	}
	doctor_row(d, "probes", "probes at ret instructions", doctor_state_of(exit), "%s",
		   !exit ? "for functions that may unwind, or without sessions"
			 : doctor_said(exit));
}

bool doctor_cpus_wait(const struct doctor_facts *x, char *out, size_t len)
{
	if (x->cpus <= CPUS_SERIALISE || doctor_release_from(x->release, 6, 14))
		return false;
	snprintf(out, len,
		 "%u CPUs: before Linux 6.14, hits on more than about %d CPUs wait for each other, "
		 "and the probe itself causes imbalance",
		 x->cpus, CPUS_SERIALISE);
	return true;
}

static void add_cpus(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;
	char why[200];

	if (doctor_cpus_wait(x, why, sizeof(why))) {
		f = doctor_row(d, "probes", "many CPUs at once", DOCTOR_INSTEAD, "%s", why);
		doctor_instead(f,
			       "the same probes, but slower: see the estimated cost in the report");
		doctor_remedy(f, "Linux 6.14 or later");
		return;
	}
	doctor_row(d, "probes", "many CPUs at once", x->cpus ? DOCTOR_YES : DOCTOR_UNKNOWN,
		   "%u CPU%s: %s", x->cpus, x->cpus == 1 ? "" : "s",
		   doctor_release_from(x->release, 6, 14)
			   ? "hits do not wait for each other"
			   : "too few for hits to delay each other much");
}

/* --- sbt-trace's BPF programs ---------------------------------------------------------------- */

static void explain_trial(struct doctor_feature *f, const struct doctor_facts *x)
{
	if (x->trial == -EMFILE || x->trial == -ENFILE)
		doctor_remedy(f, "raise the hard limit of open files: ulimit -Hn %d",
			      DOCTOR_FILES_ENOUGH * 4);
	else if (x->trial == DOCTOR_UNSEEN)
		doctor_remedy(f, x->numbers == 0 || x->first_pidns == 0
					 ? "run sbt-trace in the initial PID namespace, on the host"
					 : "report this, with the output of sbt-trace -vv -- true");
	else if (doctor_refused(x->trial))
		doctor_refusal(f, x, NULL);
	else if (x->trial == -ENOMEM)
		doctor_remedy(f, "more memory, or a higher limit of locked memory: ulimit -l "
				 "unlimited");
	else if (!doctor_release_from(x->release, 5, 10))
		doctor_remedy(f, "Linux 5.10 or later");
	else if (*x->trial_log)
		doctor_remedy(f, "this kernel and this sbt-trace are incompatible: use a newer "
				 "sbt-trace, or another kernel");
	else
		doctor_remedy(f, "a kernel with CONFIG_BPF_SYSCALL, CONFIG_UPROBE_EVENTS and "
				 "CONFIG_DEBUG_INFO_BTF");
}

static void add_trial(struct doctor *d, const struct doctor_facts *x)
{
	static const char name[] = "sbt-trace's programs";
	struct doctor_feature *f;

	if (!x->trial) {
		f = doctor_row(d, "probes", name, DOCTOR_YES, "loaded by %s, and tested%s",
			       x->method, isnan(x->crossing_ns) ? "" : ": a crossing costs ");
		if (!isnan(x->crossing_ns))
			snprintf(f->found + strlen(f->found), sizeof(f->found) - strlen(f->found),
				 "%.2f us", x->crossing_ns / 1e3);
		f->needed = true;
		return;
	}
	f = doctor_row(d, "probes", name, doctor_state_of(x->trial), "%s", doctor_said(x->trial));
	f->needed = true;
	if (x->trial == DOCTOR_UNTRIED) {
		snprintf(f->found, sizeof(f->found), "not tried: %s",
			 !doctor_has_rights(x) ? "privileges are missing"
					       : "it needs what is missing above");
		return;
	}
	if (x->trial_signal)
		snprintf(f->found, sizeof(f->found), "signal %d ended the process that loaded them",
			 x->trial_signal);
	else if (x->trial == DOCTOR_UNSEEN)
		snprintf(f->found, sizeof(f->found), "loaded by %s; %s", x->method,
			 doctor_said(x->trial));
	else if (*x->trial_log)
		snprintf(f->found, sizeof(f->found), "%s", x->trial_log);
	else if (*x->trial_why)
		snprintf(f->found, sizeof(f->found), "%s", x->trial_why);
	explain_trial(f, x);
}

void doctor_add_probes(struct doctor *d, const struct doctor_facts *x)
{
	add_bpf(d, x);
	add_btf(d, x);
	add_ring(d, x);
	add_session(d, x);
	add_multi(d, x);
	add_perf(d, x);
	add_mappings(d, x);
	add_ends(d, x);
	add_cpus(d, x);
	add_trial(d, x);
}
