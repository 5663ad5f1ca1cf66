/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the kernel lets us do, as far as it can be asked: trace refuses by it, and doctor tells it. */
#ifndef ATTACH_RIGHTS_H
#define ATTACH_RIGHTS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RIGHTS_BTF     "/sys/kernel/btf/vmlinux"
#define RIGHTS_UNKNOWN INT_MIN

struct right {
	int number;
	const char *name;
	const char *why; /* "to load its programs" */
	bool needed; /* nothing is traced without; else only what @why says is not to be had */
};

/* The capabilities that matter. Ends with a NULL name. */
extern const struct right rights_known[];

/* The effective capabilities of this process, a bit each; 0 if they cannot be had. */
uint64_t rights_effective(void);

/* Whether this process has it, or CAP_SYS_ADMIN where the kernel takes that in its place. */
bool rights_have(int capability);

/*
 * What a tracer in the midst of its work still needs: probes of what is loaded later, looks into
 * processes, children that become nobody; @perf: probes are perf uprobes, for which kernels want
 * more. What is needed when the last probe is gone, and names are looked up for the report. And what
 * the guard needs.
 */
uint64_t rights_while_tracing(bool perf);
uint64_t rights_for_report(void);
uint64_t rights_for_guard(void);
/* What is needed by who only looks at processes; @output: and has yet to open the file it writes to. */
uint64_t rights_while_looking(bool output);

/*
 * Gives all other capabilities up, for good: neither this process nor what it executes will have
 * them again. Those not held stay not held. Returns 0 or -errno.
 */
int rights_reduce(uint64_t keep);

#define RIGHTS_PARANOID	  "/proc/sys/kernel/perf_event_paranoid"
#define RIGHTS_BPF_SYSCTL "/proc/sys/kernel/unprivileged_bpf_disabled"
#define RIGHTS_YAMA	  "/proc/sys/kernel/yama/ptrace_scope"

/* The number in a file of one line; RIGHTS_UNKNOWN if there is none. */
int rights_sysctl(const char *path);

#endif /* ATTACH_RIGHTS_H */
