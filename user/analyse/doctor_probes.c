// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* BPF, and the ways to probes. */
#include "analyse/doctor_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CPUS_SERIALISE \
	8 /* so many on one uprobe at once did not hinder each other, measured elsewhere */

/* --- BPF ------------------------------------------------------------------------------------------- */

static void say_bpf(struct doctor *d, const struct doctor_facts *x)
{
	int outcome = x->map ? x->map : x->program;
	struct doctor_feature *f;

	f = doctor_row(d, "kernel", "bpf()", doctor_state_of(outcome), "%s%s",
		       !outcome			   ? "maps and programs can be made"
		       : outcome == DOCTOR_UNTRIED ? ""
		       : x->map			   ? "a map cannot be made: "
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

static void say_btf(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;

	f = doctor_row(d, "kernel", "BTF", doctor_state_of(x->btf), "%s%s",
		       !x->btf ? "the kernel describes its types" : "/sys/kernel/btf/vmlinux: ",
		       !x->btf ? "" : doctor_said(x->btf));
	f->needed = true;
	if (x->btf == -ENOENT)
		doctor_remedy(f, "a kernel with CONFIG_DEBUG_INFO_BTF, and /sys mounted");
	else if (x->btf && x->btf != DOCTOR_UNTRIED)
		doctor_remedy(f,
			      "a kernel whose types this sbt-trace can read: a newer sbt-trace, or "
			      "an older kernel");
}

static void say_ring(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;

	f = doctor_row(d, "kernel", "ring buffer", doctor_state_of(x->ring), "%s",
		       !x->ring ? "1 MiB can be had" : doctor_said(x->ring));
	f->needed = true;
	if ((doctor_refused(x->ring) || x->ring == -ENOMEM) && !x->map)
		doctor_remedy(
			f, "more memory may be locked: ulimit -l unlimited, or CAP_SYS_RESOURCE");
	else if (doctor_refused(x->ring))
		doctor_refusal(f, x, NULL);
	else if (x->ring && x->ring != DOCTOR_UNTRIED)
		doctor_remedy(f, "Linux 5.8 or later");
}

/* --- probes ---------------------------------------------------------------------------------------- */

static bool uses(const struct doctor_facts *x, const char *method)
{
	return !x->trial && !strcmp(x->method, method);
}

/* A way that this kernel has: do we go it? */
static struct doctor_feature *there(struct doctor *d, const struct doctor_facts *x,
				    const char *name, const char *method, const char *found)
{
	struct doctor_feature *f = doctor_row(d, "probes", name, DOCTOR_YES, "%s%s", found,
					      uses(x, method) ? ": this is used" : "");

	return f;
}

static void say_session(struct doctor *d, const struct doctor_facts *x)
{
	static const char name[] = "uprobe.session";
	struct doctor_feature *f;

	if (!x->session && !x->trial && !uses(x, "session")) {
		f = doctor_row(d, "probes", name, DOCTOR_INSTEAD,
			       "the kernel has it, and refuses sbt-trace's programs for it: %s",
			       x->method_why);
		doctor_instead(f, "%s", x->method);
		return;
	}
	if (!x->session) {
		there(d, x, name, "session", "entry and return in one probe");
		return;
	}
	f = doctor_row(d, "probes", name,
		       x->session == DOCTOR_UNTRIED ? DOCTOR_UNKNOWN
		       : x->trial		    ? DOCTOR_NO
						    : DOCTOR_INSTEAD,
		       "%s", doctor_said(x->session));
	if (doctor_refused(x->session) || x->session == DOCTOR_UNTRIED)
		return;
	snprintf(f->found, sizeof(f->found), "this kernel has it not (%s)",
		 doctor_said(x->session));
	if (!x->trial)
		doctor_instead(f, "entries and ret instructions apart, by %s",
			       uses(x, "multi") ? "uprobe.multi" : "perf uprobes");
	doctor_remedy(f, "Linux 6.13 or later");
}

static void say_multi(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;

	if (!x->multi) {
		there(d, x, "uprobe.multi", "multi", "many places by one attachment");
	} else {
		f = doctor_row(d, "probes", "uprobe.multi",
			       x->multi == DOCTOR_UNTRIED	     ? DOCTOR_UNKNOWN
			       : x->perf || doctor_refused(x->multi) ? DOCTOR_NO
								     : DOCTOR_INSTEAD,
			       "%s", doctor_said(x->multi));
		if (doctor_refused(x->multi) || x->multi == DOCTOR_UNTRIED)
			return;
		snprintf(f->found, sizeof(f->found), "this kernel has it not (%s)",
			 doctor_said(x->multi));
		if (!x->perf)
			doctor_instead(f,
				       "perf uprobes, one by one: starting and ending take longer");
		doctor_remedy(f, "Linux 6.6 or later");
		return;
	}
	if (x->filters == 1) {
		doctor_row(d, "probes", "probes of one process", DOCTOR_YES,
			   "with --no-children the kernel keeps multi and perf probes from other "
			   "processes; sessions, and the probes that children need too, are in all "
			   "that run the probed files");
	} else if (x->filters == 0) {
		f = doctor_row(d, "probes", "probes of one process", DOCTOR_INSTEAD,
			       "this kernel's uprobe.multi goes by thread, not by process");
		doctor_instead(
			f, "the program itself looks whose hit it is: other processes pay for it");
		doctor_remedy(f, "Linux 6.12 or later");
	}
}

static void say_perf(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;

	if (!x->perf) {
		there(d, x, "perf uprobe", "perf", "one place by one attachment");
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
			       "a perf uprobe carries no number here (%s)",
			       doctor_said(x->cookies));
		doctor_instead(
			f, "probes are told by their place in the page and the code there: of two "
			   "that have the same, one is left out, with a warning");
		doctor_remedy(f, "Linux 5.15 or later");
	} else {
		doctor_row(d, "probes", "attach cookies", DOCTOR_UNKNOWN,
			   "not tried without uprobes");
	}
}

/* How it is seen which libraries processes open. */
static void say_mappings(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;

	f = doctor_row(d, "probes", "mapped code", doctor_state_of(x->mappings), "%s",
		       !x->mappings
			       ? "reported by the kernel: dynamic linkers of processes that were "
				 "not named, and with -a of all, have no probe (with -a --discover "
				 "condition variables and joins have, and who calls them under an "
				 "emulator dies)"
			       : doctor_said(x->mappings));
	if (doctor_state_of(x->mappings) != DOCTOR_NO)
		return;
	f->state = DOCTOR_INSTEAD;
	doctor_instead(f,
		       "a probe in every dynamic linker: while children or the whole machine are "
		       "traced, programs under an emulator (valgrind, qemu-user) die of SIGTRAP");
	doctor_remedy(f, "CAP_PERFMON, or a larger kernel.perf_event_mlock_kb");
}

static void say_ends(struct doctor *d, const struct doctor_facts *x)
{
	int exit = x->multi_exit ? x->perf_exit : 0;
	struct doctor_feature *f;

	/* Others are given to whoever is stopped there: user/attach/load.c. */
	f = doctor_row(d, "probes", "return probes", doctor_state_of(x->session), "%s",
		       !x->session ? "of sessions, where nothing can unwind through them"
				   : "none without sessions");
	if (doctor_state_of(x->session) == DOCTOR_NO && !exit) {
		f->state = DOCTOR_INSTEAD;
		doctor_instead(f, "the ret instructions");
		doctor_remedy(f, "Linux 6.13 or later");
	}
	f = doctor_row(d, "probes", "system calls", doctor_known(x->syscalls), "%s",
		       x->syscalls == 1	  ? "futex calls can be seen: --discover"
		       : x->syscalls == 0 ? "the kernel does not trace them"
					  : "not tried without BTF");
	if (x->syscalls == 0) {
		f->state = DOCTOR_INSTEAD;
		doctor_instead(f, "--discover looks at condition variables alone, not at futexes");
		doctor_remedy(f, "a kernel with CONFIG_FTRACE_SYSCALLS");
	}
	doctor_row(d, "probes", "probes at ret instructions", doctor_state_of(exit), "%s",
		   !exit ? "for what may unwind, or where there is no session" : doctor_said(exit));
}

bool doctor_cpus_wait(const struct doctor_facts *x, char *out, size_t len)
{
	if (x->cpus <= CPUS_SERIALISE || doctor_release_from(x->release, 6, 14))
		return false;
	snprintf(out, len,
		 "%u CPUs: before Linux 6.14 hits on more than about %d CPUs wait for one another, "
		 "and "
		 "the probe itself makes an imbalance",
		 x->cpus, CPUS_SERIALISE);
	return true;
}

static void say_cpus(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;
	char why[200];

	if (doctor_cpus_wait(x, why, sizeof(why))) {
		f = doctor_row(d, "probes", "many CPUs at once", DOCTOR_INSTEAD, "%s", why);
		doctor_instead(f,
			       "the same probes, slower: look at the estimated cost in the report");
		doctor_remedy(f, "Linux 6.14 or later");
		return;
	}
	doctor_row(d, "probes", "many CPUs at once", x->cpus ? DOCTOR_YES : DOCTOR_UNKNOWN,
		   "%u CPU%s: %s", x->cpus, x->cpus == 1 ? "" : "s",
		   doctor_release_from(x->release, 6, 14)
			   ? "hits do not wait for one another"
			   : "too few for hits to hold up one another much");
}

/* --- the programs themselves ----------------------------------------------------------------------- */

static void explain_trial(struct doctor_feature *f, const struct doctor_facts *x)
{
	if (x->trial == -EMFILE || x->trial == -ENFILE)
		doctor_remedy(f, "raise the hard limit of open files: ulimit -Hn %d",
			      DOCTOR_FILES_ENOUGH * 4);
	else if (x->trial == DOCTOR_UNSEEN)
		doctor_remedy(f, x->numbers == 0 || x->first_pidns == 0
					 ? "run sbt-trace in the first PID namespace, on the host"
					 : "report it, with sbt-trace -vv -- true");
	else if (doctor_refused(x->trial))
		doctor_refusal(f, x, NULL);
	else if (x->trial == -ENOMEM)
		doctor_remedy(f, "more memory, or more that may be locked: ulimit -l unlimited");
	else if (!doctor_release_from(x->release, 5, 10))
		doctor_remedy(f, "Linux 5.10 or later");
	else if (*x->trial_log)
		doctor_remedy(
			f, "this kernel and this version of sbt-trace do not go together: a newer "
			   "sbt-trace, or another kernel");
	else
		doctor_remedy(f, "a kernel with CONFIG_BPF_SYSCALL, CONFIG_UPROBE_EVENTS and "
				 "CONFIG_DEBUG_INFO_BTF");
}

static void say_trial(struct doctor *d, const struct doctor_facts *x)
{
	static const char name[] = "sbt-trace's programs";
	struct doctor_feature *f;

	if (!x->trial) {
		f = doctor_row(d, "probes", name, DOCTOR_YES, "loaded, by %s, and seen at work%s",
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
			 !doctor_has_rights(x) ? "rights are missing"
					       : "it takes what is missing above");
		return;
	}
	if (x->trial_signal)
		snprintf(f->found, sizeof(f->found), "loading them ended by signal %d",
			 x->trial_signal);
	else if (x->trial == DOCTOR_UNSEEN)
		snprintf(f->found, sizeof(f->found), "loaded, by %s; %s", x->method,
			 doctor_said(x->trial));
	else if (*x->trial_log)
		snprintf(f->found, sizeof(f->found), "%s", x->trial_log);
	else if (*x->trial_why)
		snprintf(f->found, sizeof(f->found), "%s", x->trial_why);
	explain_trial(f, x);
}

void doctor_say_probes(struct doctor *d, const struct doctor_facts *x)
{
	say_bpf(d, x);
	say_btf(d, x);
	say_ring(d, x);
	say_session(d, x);
	say_multi(d, x);
	say_perf(d, x);
	say_mappings(d, x);
	say_ends(d, x);
	say_cpus(d, x);
	say_trial(d, x);
}
