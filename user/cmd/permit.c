// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/permit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/msg.h"

#define BTF_PATH "/sys/kernel/btf/vmlinux"

/* linux/capability.h of older headers lacks the names. */
#define CAP_NUMBER_PERFMON 38
#define CAP_NUMBER_BPF	   39

struct capability {
	int number;
	const char *name;
	const char *why;
};

static const struct capability needed[] = {
	{ CAP_NUMBER_BPF, "CAP_BPF", "to load its programs" },
	{ CAP_NUMBER_PERFMON, "CAP_PERFMON", "to attach probes" },
	{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "to read the mappings of other users' processes" },
	{ CAP_SYS_ADMIN, "CAP_SYS_ADMIN",
	  "to open mapped files whatever their names, and to attach probes "
	  "for all processes" },
};

static uint64_t effective_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (syscall(SYS_capget, &header, data))
		return 0;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

static int read_sysctl(const char *path)
{
	FILE *f = fopen(path, "re");
	char line[32] = "";
	int value = INT_MIN;

	if (!f)
		return value;
	if (fgets(line, sizeof(line), f))
		value = atoi(line);
	fclose(f);
	return value;
}

static void say_sysctls(void)
{
	int paranoid = read_sysctl("/proc/sys/kernel/perf_event_paranoid");
	int bpf = read_sysctl("/proc/sys/kernel/unprivileged_bpf_disabled");

	if (paranoid > 2)
		msg_error("kernel.perf_event_paranoid is %d: some kernels then want CAP_SYS_ADMIN "
			  "even "
			  "with CAP_PERFMON",
			  paranoid);
	if (bpf > 0)
		msg_error("kernel.unprivileged_bpf_disabled is %d: BPF needs CAP_BPF or "
			  "CAP_SYS_ADMIN",
			  bpf);
}

int permit_check(bool system)
{
	uint64_t caps = effective_capabilities();
	bool missing = false;
	size_t i;

	(void)system;
	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (caps & 1ULL << needed[i].number)
			continue;
		msg_error("not permitted: %s is missing, %s", needed[i].name, needed[i].why);
		missing = true;
	}
	if (missing) {
		say_sysctls();
		msg_error("run it as root: sudo sbt-trace ...");
		return -EPERM;
	}
	if (access(BTF_PATH, R_OK)) {
		msg_error("this kernel does not describe its types: %s: %s (it must be built with "
			  "CONFIG_DEBUG_INFO_BTF)",
			  BTF_PATH, strerror(errno));
		return -ENOTSUP;
	}
	return 0;
}

void permit_explain(int err, const char *why)
{
	msg_error("cannot attach: %s", why);
	if (err == -EPERM || err == -EACCES) {
		say_sysctls();
		msg_error("the kernel refuses although the capabilities are there: lockdown, a "
			  "security "
			  "module or a container's seccomp filter may forbid bpf() and "
			  "perf_event_open()");
	} else if (err == -ENOENT || err == -EINVAL || err == -ENOTSUP) {
		msg_error("Linux 5.10 or later with CONFIG_BPF_SYSCALL, CONFIG_UPROBE_EVENTS and "
			  "CONFIG_DEBUG_INFO_BTF is needed");
	}
}

/* Depth below the root of its mount: BPF asks for an ancestor by its level. */
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

int permit_cgroup(const char *path, uint64_t *id, uint8_t *level)
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
		msg_error("--cgroup %s: its number cannot be had: %s", path, strerror(errno));
		return -EINVAL;
	}
	memcpy(id, h.handle.f_handle, sizeof(*id));
	return cgroup_level(real, level);
}
