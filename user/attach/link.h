/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Attachments of a loaded program to offsets in a file: the plain system calls. */
#ifndef ATTACH_LINK_H
#define ATTACH_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINK_ATTACH_MULTI   48 /* BPF_TRACE_UPROBE_MULTI, Linux 6.6 */
#define LINK_ATTACH_SESSION 57 /* BPF_TRACE_UPROBE_SESSION, Linux 6.13 */

/*
 * Create a uprobe.multi link (or a session, by @attach_type) of @prog_fd at @n file offsets of the
 * file open as @fd. @pid 0: every process. @cookie: the value that bpf_get_attach_cookie() returns
 * in the program. Return the link's fd, or -errno.
 */
int link_multi(int prog_fd, int attach_type, int fd, const uint64_t *offsets, uint32_t n, int pid,
	       uint64_t cookie);

/* Like link_multi(), with a separate cookie for each offset. @cookies NULL: no cookies. */
int link_multi_each(int prog_fd, int attach_type, int fd, const uint64_t *offsets,
		    const uint64_t *cookies, uint32_t n, int pid);

/*
 * Create a perf uprobe. Return its fd, or -errno. @pid -1: every process. A @cookie other than 0
 * needs Linux 5.15.
 */
int link_perf(int prog_fd, int fd, uint64_t offset, int pid, uint64_t cookie);

/*
 * Close a link. The kernel then removes its probes, even if the caller is killed before this is
 * finished.
 */
void link_close(int fd);

/*
 * Return whether this kernel filters a uprobe.multi by process (Linux 6.12 and later) and not by
 * thread. This is found out by trying it.
 */
bool link_multi_filters_process(int prog_fd);

#endif /* ATTACH_LINK_H */
