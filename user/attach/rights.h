/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Our rights, as far as the kernel reports them: "trace" checks them before it runs, and "doctor"
 * prints them.
 */
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
	const char *why; /* completes "needed ...": "to load its programs" */
	/* nothing can be traced without this right; if not set, only what `why` names is missing */
	bool needed;
};

/* The relevant capabilities. Ends with a NULL name. */
extern const struct right rights_known[];

/* Return the effective capabilities of this process as a bit mask, or 0 if they are unknown. */
uint64_t rights_effective(void);

/*
 * Return whether this process has the capability. CAP_SYS_ADMIN counts as CAP_CHECKPOINT_RESTORE.
 */
bool rights_have(int capability);

/*
 * Return the capabilities needed during tracing: to probe libraries that are loaded later, to read
 * processes, and to make children unprivileged. @perf: for perf uprobes, which need more. The
 * result includes the capabilities of the guard, and those that the report needs to look up names
 * after the last probe was removed.
 */
uint64_t rights_while_tracing(bool perf);
uint64_t rights_for_report(void);
uint64_t rights_for_guard(void);
/*
 * Return the capabilities needed to examine processes without tracing them. @output: also those to
 * open the output file later.
 */
uint64_t rights_while_looking(bool output);

/*
 * Drop all capabilities except @keep for good: neither this process nor programs that it executes
 * can regain them. No capability is added. Return 0 or -errno.
 */
int rights_reduce(uint64_t keep);

#define RIGHTS_PARANOID	  "/proc/sys/kernel/perf_event_paranoid"
#define RIGHTS_BPF_SYSCTL "/proc/sys/kernel/unprivileged_bpf_disabled"
#define RIGHTS_YAMA	  "/proc/sys/kernel/yama/ptrace_scope"

/* Return the number in a file of one line, or RIGHTS_UNKNOWN. */
int rights_sysctl(const char *path);

#endif /* ATTACH_RIGHTS_H */
