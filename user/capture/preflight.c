// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "capture/preflight.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "attach/rights.h"
#include "base/msg.h"

static void report_sysctls(bool no_bpf)
{
	int paranoid = rights_sysctl(RIGHTS_PARANOID);
	int bpf = rights_sysctl(RIGHTS_BPF_SYSCTL);

	if (paranoid > 2)
		msg_error("kernel.perf_event_paranoid is %d: some kernels then require "
			  "CAP_SYS_ADMIN even with CAP_PERFMON",
			  paranoid);
	if (bpf > 0 && no_bpf)
		msg_error("kernel.unprivileged_bpf_disabled is %d: BPF needs CAP_BPF or "
			  "CAP_SYS_ADMIN",
			  bpf);
}

int preflight_check(void)
{
	uint64_t caps = rights_effective();
	const struct right *r;
	bool missing = false, no_bpf = false;

	for (r = rights_known; r->name; r++) {
		if (!r->needed || caps & 1ULL << r->number)
			continue;
		msg_error("not permitted: %s is missing, %s", r->name, r->why);
		missing = true;
		no_bpf |= !strcmp(r->name, "CAP_BPF");
	}
	if (missing) {
		report_sysctls(no_bpf);
		msg_error(geteuid() ? "run it as root: sudo sbt-trace ...; or, to trace your own "
				      "processes, give sbt-trace these two capabilities: sudo "
				      "setcap cap_bpf,cap_perfmon=ep PATH_OF_SBT_TRACE"
				    : "root lacks these capabilities in this container or "
				      "service: sbt-trace doctor says how to grant them");
		return -EPERM;
	}
	if (access(RIGHTS_BTF, R_OK)) {
		msg_error("this kernel has no type information: %s: %s (it must be built with "
			  "CONFIG_DEBUG_INFO_BTF)",
			  RIGHTS_BTF, strerror(errno));
		return -ENOTSUP;
	}
	return 0;
}

void preflight_explain(int err, const char *why)
{
	msg_error("cannot attach: %s", why);
	if (err == -EPERM || err == -EACCES) {
		report_sysctls(true);
		if (!rights_have(CAP_SYS_ADMIN))
			msg_error(
				"CAP_SYS_ADMIN is needed for --attach perf, and if the kernel has "
				"no uprobe.multi (before Linux 6.6)");
		msg_error("the kernel refuses although the capabilities are present: lockdown, a "
			  "security module or a container's seccomp filter may forbid bpf() and "
			  "perf_event_open()");
	} else if (err == -ENOENT || err == -EINVAL || err == -ENOTSUP) {
		msg_error("Linux 5.10 or later with CONFIG_BPF_SYSCALL, CONFIG_UPROBE_EVENTS and "
			  "CONFIG_DEBUG_INFO_BTF is needed");
	}
}

const char *preflight_why_not(void)
{
	return rights_have(CAP_SYS_PTRACE) ? "the kernel refuses although CAP_SYS_PTRACE is present"
					   : "it belongs to another user or is protected, and "
					     "CAP_SYS_PTRACE is missing";
}

void preflight_explain_pid(int pid)
{
	msg_error("cannot attach to process %d: not permitted to read it: %s", pid,
		  preflight_why_not());
}

int preflight_user(const char *name)
{
	if (rights_have(CAP_SETUID) && rights_have(CAP_SETGID))
		return 0;
	msg_error("cannot run the command as user %s: CAP_SETUID and CAP_SETGID are needed", name);
	return -EPERM;
}

void preflight_warn_others(void)
{
	if (!rights_have(CAP_SYS_PTRACE))
		msg_warn("CAP_SYS_PTRACE is missing: processes of other users are not examined; "
			 "their crossings are shown without names, if at all");
}

void preflight_drop(uint64_t keep, int verbose)
{
	int err = rights_reduce(keep);

	if (err)
		msg_verbose(verbose, "cannot drop capabilities that are not needed: %s",
			    strerror(-err));
}

/*
 * Get the depth of a cgroup below the root of its mount. BPF programs look up an ancestor cgroup by
 * its depth.
 */
static int cgroup_level(const char *real, uint8_t *level)
{
	char path[PATH_MAX];
	struct statfs fs;
	int n = 0;
	char *slash;

	snprintf(path, sizeof(path), "%s", real);
	for (;;) {
		slash = strrchr(path, '/');
		if (!slash)
			return -EINVAL;
		*slash = '\0';
		if (statfs(*path ? path : "/", &fs) || fs.f_type != CGROUP2_SUPER_MAGIC)
			break;
		n++;
	}
	if (n > 250)
		return -ENAMETOOLONG;
	*level = (uint8_t)n;
	return 0;
}

int preflight_cgroup(const char *path, uint64_t *id, uint8_t *level)
{
	union {
		struct file_handle handle;
		char bytes[sizeof(struct file_handle) + 64];
	} h = { .handle = { .handle_bytes = 64 } };
	char real[PATH_MAX];
	struct statfs fs;
	int mount;

	if (!realpath(path, real) || statfs(real, &fs)) {
		msg_error("--cgroup %s: %s", path, strerror(errno));
		return -errno;
	}
	if (fs.f_type != CGROUP2_SUPER_MAGIC) {
		msg_error("--cgroup %s: not a directory of cgroup version 2", path);
		return -EINVAL;
	}
	if (name_to_handle_at(AT_FDCWD, real, &h.handle, &mount, 0) ||
	    h.handle.handle_bytes < sizeof(*id)) {
		msg_error("--cgroup %s: cannot get its id: %s", path, strerror(errno));
		return -EINVAL;
	}
	memcpy(id, h.handle.f_handle, sizeof(*id));
	return cgroup_level(real, level);
}
