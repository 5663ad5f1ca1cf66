// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Privileges of the user and of this process. */
#include "doctor/doctor_internal.h"

#include "base/array.h"

#include <string.h>

bool doctor_has_rights(const struct doctor_facts *x)
{
	array_for_each (right, x->rights, x->nrights)
		if (right->needed && !right->there)
			return false;
	return true;
}

bool doctor_lacks(const struct doctor_facts *x, const char *name)
{
	array_for_each (right, x->rights, x->nrights)
		if (!strcmp(right->name, name))
			return !right->there;
	return false;
}

/*
 * Add the remedy if the kernel refuses an operation that @capability should allow. If @capability
 * is NULL, it stands for all capabilities that tracing needs.
 */
void doctor_refusal(struct doctor_feature *f, const struct doctor_facts *x, const char *capability)
{
	if (capability ? doctor_lacks(x, capability) : !doctor_has_rights(x))
		doctor_remedy(f, "root%s%s", capability ? ", or " : ": sudo sbt-trace ...",
			      capability ? capability : "");
	else if (x->first_userns == 0)
		doctor_remedy(f, "run sbt-trace outside the user namespace");
	else if (x->seccomp > 0)
		doctor_remedy(
			f, "the container's seccomp filter forbids it: --security-opt "
			   "seccomp=unconfined, or a profile that allows bpf and perf_event_open");
	else
		doctor_remedy(f, "a security module forbids it: see the audit log");
}

static void add_rights(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;

	array_for_each (right, x->rights, x->nrights) {
		bool there = right->there;

		f = doctor_row(d, "rights", right->name, there ? DOCTOR_YES : DOCTOR_NO, "%s%s",
			       there ? "" : "missing: needed ", right->why);
		f->needed = right->needed;
		if (!there)
			doctor_remedy(f, "root (sudo), or grant it; in a container: --cap-add %s",
				      strncmp(right->name, "CAP_", 4) ? right->name
								      : right->name + 4);
	}
}

static void add_namespaces(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;

	if (x->first_userns == 0) {
		f = doctor_row(d, "rights", "user namespace", DOCTOR_NO,
			       "not the initial one: its capabilities do not count for bpf() and "
			       "perf_event_open()");
		f->needed = true;
		doctor_remedy(f, "run sbt-trace outside it, on the host");
	} else {
		doctor_row(d, "rights", "user namespace",
			   x->first_userns == 1 ? DOCTOR_YES : DOCTOR_UNKNOWN, "%s",
			   x->first_userns == 1 ? "the initial one"
						: "unknown: /proc does not show it");
	}
	if (x->numbers == 0 || (x->numbers != 1 && x->first_pidns == 0)) {
		f = doctor_row(
			d, "rights", "PID namespace", DOCTOR_NO,
			"not the initial one: the kernel's process numbers differ from those here, "
			"so a probe on sbt-trace itself shows nothing");
		f->needed = true;
		doctor_remedy(f, "run sbt-trace on the host, or run the container with --pid=host");
	} else {
		doctor_row(d, "rights", "PID namespace",
			   x->numbers == 1 || x->first_pidns == 1 ? DOCTOR_YES : DOCTOR_UNKNOWN,
			   "%s",
			   x->numbers == 1	 ? "sbt-trace has the same process number in the "
						   "kernel"
			   : x->first_pidns == 1 ? "the initial one"
						 : "unknown: /proc does not show it");
	}
}

static void add_lockdown(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;

	if (!strcmp(x->lockdown, "confidentiality")) {
		f = doctor_row(d, "rights", "lockdown", DOCTOR_NO,
			       "confidentiality: BPF programs may not read kernel memory");
		f->needed = true;
		doctor_remedy(f, "boot without lockdown=confidentiality");
		return;
	}
	doctor_row(d, "rights", "lockdown", DOCTOR_YES, "%s",
		   *x->lockdown ? x->lockdown : "none visible");
}

static void add_sysctls(struct doctor *d, const struct doctor_facts *x)
{
	struct doctor_feature *f;

	if (x->bpf_sysctl != DOCTOR_UNTRIED)
		doctor_row(d, "rights", "unprivileged_bpf_disabled", DOCTOR_YES,
			   "kernel.%s is %d%s", "unprivileged_bpf_disabled", x->bpf_sysctl,
			   x->bpf_sysctl > 0 ? ": BPF needs CAP_BPF, as it should" : "");
	if (x->paranoid == DOCTOR_UNTRIED) {
		f = doctor_row(d, "rights", "perf_event_paranoid", DOCTOR_NO,
			       "the kernel has no perf events");
		doctor_remedy(f, "a kernel with CONFIG_PERF_EVENTS");
	} else if (x->paranoid > 2 && !doctor_has_rights(x)) {
		f = doctor_row(
			d, "rights", "perf_event_paranoid", DOCTOR_NO,
			"kernel.perf_event_paranoid is %d: some kernels then require CAP_SYS_ADMIN "
			"even with CAP_PERFMON",
			x->paranoid);
		doctor_remedy(f, "sysctl kernel.perf_event_paranoid=2, or CAP_SYS_ADMIN");
	} else {
		doctor_row(d, "rights", "perf_event_paranoid", DOCTOR_YES,
			   "kernel.perf_event_paranoid is %d%s", x->paranoid,
			   doctor_has_rights(x) ? ", which the privileges here override" : "");
	}
}

void doctor_add_rights(struct doctor *d, const struct doctor_facts *x)
{
	add_rights(d, x);
	add_namespaces(d, x);
	add_lockdown(d, x);
	add_sysctls(d, x);
}
