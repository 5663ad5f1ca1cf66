// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "attach/link.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/uninterruptible.h"

/* bpf_attr.link_create with the uprobe_multi part, which is missing in the headers of Debian 12. */
struct link_create_multi {
	uint32_t prog_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t ref_ctr_offsets;
	uint64_t cookies;
	uint32_t cnt;
	uint32_t multi_flags;
	uint32_t pid;
	uint32_t pad;
};

static int create_here(void *attr)
{
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, attr, sizeof(struct link_create_multi));

	return fd < 0 ? -errno : fd;
}

static int close_here(void *fd)
{
	return close(*(int *)fd);
}

void link_close(int fd)
{
	uninterruptible(close_here, &fd);
}

/*
 * Write the path of the magic link to the open file. This path works even if the file was deleted
 * or replaced, or is in another mount namespace.
 */
static void fd_path(int fd, char path[32])
{
	snprintf(path, 32, "/proc/self/fd/%d", fd);
}

/* Return an array of @n elements, each of which is the cookie. */
static uint64_t *repeat(uint64_t cookie, uint32_t n)
{
	uint64_t *all = calloc(n, sizeof(*all));
	uint32_t i;

	for (i = 0; all && i < n; i++)
		all[i] = cookie;
	return all;
}

int link_multi_each(int prog_fd, int attach_type, int fd, const uint64_t *offsets,
		    const uint64_t *cookies, uint32_t n, int pid)
{
	struct link_create_multi attr = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = (uint32_t)attach_type,
		.offsets = (uint64_t)(uintptr_t)offsets,
		.cookies = (uint64_t)(uintptr_t)cookies,
		.cnt = n,
		.pid = (uint32_t)pid,
	};
	char path[32];

	fd_path(fd, path);
	attr.path = (uint64_t)(uintptr_t)path;
	return uninterruptible(create_here, &attr);
}

int link_multi(int prog_fd, int attach_type, int fd, const uint64_t *offsets, uint32_t n, int pid,
	       uint64_t cookie)
{
	uint64_t *cookies = cookie ? repeat(cookie, n) : NULL;
	int link;

	if (cookie && !cookies)
		return -ENOMEM;
	link = link_multi_each(prog_fd, attach_type, fd, offsets, cookies, n, pid);
	free(cookies);
	return link;
}

bool link_multi_filters_process(int prog_fd)
{
	uint64_t offset = 0;
	struct link_create_multi attr = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = LINK_ATTACH_MULTI,
		.path = (uint64_t)(uintptr_t) "/",
		.offsets = (uint64_t)(uintptr_t)&offset,
		.cnt = 1,
		.pid = (uint32_t)-1,
	};
	int fd = create_here(&attr);

	/*
	 * A kernel that filters by process rejects the pid -1 (-EINVAL) before it looks at the
	 * path. Other kernels reject the path.
	 */
	if (fd >= 0)
		close(fd);
	return fd == -EINVAL;
}

/* Read the number after @prefix in a file of one line. */
static int read_number(const char *path, const char *prefix, unsigned int *out)
{
	FILE *f = fopen(path, "re");
	char line[64];
	int err = -EINVAL;

	if (!f)
		return -errno;
	if (fgets(line, sizeof(line), f) && !strncmp(line, prefix, strlen(prefix))) {
		*out = (unsigned int)strtoul(line + strlen(prefix), NULL, 10);
		err = 0;
	}
	fclose(f);
	return err;
}

/*
 * Run the program whenever @event occurs. Return the fd that must stay open (@event itself, or a
 * link to it), or -errno.
 */
static int run_at(int event, int prog_fd, uint64_t cookie)
{
	union bpf_attr attr = { 0 };
	int link;

	if (!cookie)
		return ioctl(event, PERF_EVENT_IOC_SET_BPF, prog_fd) ? -errno : event;
	attr.link_create.prog_fd = (uint32_t)prog_fd;
	attr.link_create.target_fd = (uint32_t)event;
	attr.link_create.attach_type = BPF_PERF_EVENT;
	attr.link_create.perf_event.bpf_cookie = cookie;
	link = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	return link < 0 ? -errno : link;
}

struct perf_probe {
	const char *path;
	uint64_t offset;
	uint64_t cookie;
	uint32_t type;
	int prog_fd, pid;
};

static int probe_here(void *ctx)
{
	const struct perf_probe *probe = ctx;
	struct perf_event_attr attr = {
		.type = probe->type,
		.size = sizeof(attr),
		.config1 = (uint64_t)(uintptr_t)probe->path,
		.config2 = probe->offset,
	};
	int event, kept, err;

	event = (int)syscall(SYS_perf_event_open, &attr, probe->pid > 0 ? probe->pid : -1,
			     probe->pid > 0 ? -1 : 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return -errno;
	kept = run_at(event, probe->prog_fd, probe->cookie);
	if (kept < 0) {
		close(event);
		return kept;
	}
	err = ioctl(event, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
	if (kept != event)
		close(event); /* the link holds a reference to it */
	if (!err)
		return kept;
	close(kept);
	return err;
}

int link_perf(int prog_fd, int fd, uint64_t offset, int pid, uint64_t cookie)
{
	char path[32];
	struct perf_probe probe = {
		.path = path, .offset = offset, .cookie = cookie, .prog_fd = prog_fd, .pid = pid
	};
	int err;

	err = read_number("/sys/bus/event_source/devices/uprobe/type", "", &probe.type);
	if (err)
		return err;
	fd_path(fd, path);
	return uninterruptible(probe_here, &probe);
}
