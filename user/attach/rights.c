// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "attach/rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Older versions of linux/capability.h lack these names. */
#define CAP_NUMBER_PERFMON 38
#define CAP_NUMBER_BPF	   39

#define CAP_NUMBER_RESTORE 40

#define BIT(number) (1ULL << (number))

const struct right rights_known[] = {
	{ CAP_NUMBER_BPF, "CAP_BPF", "to load its programs", true },
	{ CAP_NUMBER_PERFMON, "CAP_PERFMON", "to attach probes", true },
	{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "to read other users' processes", false },
	{ CAP_NUMBER_RESTORE, "CAP_CHECKPOINT_RESTORE",
	  "to open mapped files that were deleted, or have another path in a container", false },
	{ CAP_SYS_ADMIN, "CAP_SYS_ADMIN",
	  "to attach probes by perf uprobes, the only way before Linux 6.6", false },
	{ 0, NULL, NULL, false },
};

uint64_t rights_effective(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (syscall(SYS_capget, &header, data))
		return 0;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

bool rights_have(int capability)
{
	uint64_t caps = rights_effective();

	if (capability == CAP_NUMBER_RESTORE)
		caps |= caps & BIT(CAP_SYS_ADMIN) ? BIT(capability) : 0;
	return caps & BIT(capability);
}

uint64_t rights_for_report(void)
{
	/*
	 * The first three: symbol names are read by a child with another user id, which is forked
	 * when names are needed. CAP_KILL: to kill such a child if it does not answer.
	 */
	return BIT(CAP_SETUID) | BIT(CAP_SETGID) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_KILL);
}

uint64_t rights_while_tracing(bool perf)
{
	uint64_t keep = rights_for_report() | BIT(CAP_NUMBER_BPF) | BIT(CAP_NUMBER_PERFMON) |
			BIT(CAP_SYS_PTRACE) | BIT(CAP_NUMBER_RESTORE) | BIT(CAP_KILL) |
			/* rings of samples may exceed a user's limit of locked memory */
			BIT(CAP_IPC_LOCK);

	/*
	 * Kernels of Debian and of other distributions have paranoia levels above 2, for which
	 * CAP_PERFMON is not enough.
	 */
	if (perf || rights_sysctl(RIGHTS_PARANOID) > 2)
		keep |= BIT(CAP_SYS_ADMIN);
	return keep;
}

uint64_t rights_while_looking(bool output)
{
	uint64_t keep = rights_while_tracing(false) & ~BIT(CAP_KILL);

	/*
	 * Without this capability, we may only examine processes that have no more rights than we
	 * have. So drop none.
	 */
	if (!rights_have(CAP_SYS_PTRACE))
		keep |= rights_effective();
	return keep | (output ? BIT(CAP_DAC_OVERRIDE) : 0);
}

uint64_t rights_for_guard(void)
{
	/* Before Linux 5.19, reading maps needs CAP_BPF. */
	return BIT(CAP_KILL) | BIT(CAP_NUMBER_BPF);
}

int rights_reduce(uint64_t keep)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };
	int i, number;

	if (syscall(SYS_capget, &header, data))
		return -errno;
	/*
	 * Reduce the bounding set first, because that needs CAP_SETPCAP. Without CAP_SETPCAP,
	 * NO_NEW_PRIVS must suffice.
	 */
	for (number = 0; number < 64 && prctl(PR_CAPBSET_READ, number) >= 0; number++) {
		if (!(keep & BIT(number)) && data[0].effective & 1u << CAP_SETPCAP &&
		    prctl(PR_CAPBSET_DROP, number))
			return -errno;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	for (i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(keep >> (32 * i));
		data[i].effective &= (uint32_t)(keep >> (32 * i));
		data[i].inheritable &= (uint32_t)(keep >> (32 * i));
	}
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

int rights_sysctl(const char *path)
{
	FILE *f = fopen(path, "re");
	char line[32] = "";
	int value = RIGHTS_UNKNOWN;

	if (!f)
		return value;
	if (fgets(line, sizeof(line), f))
		value = atoi(line);
	fclose(f);
	return value;
}
