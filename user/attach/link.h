/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* One attachment of a loaded program to places in a file: the bare system calls. */
#ifndef ATTACH_LINK_H
#define ATTACH_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINK_ATTACH_MULTI   48 /* BPF_TRACE_UPROBE_MULTI, Linux 6.6 */
#define LINK_ATTACH_SESSION 57 /* BPF_TRACE_UPROBE_SESSION, Linux 6.13 */

/*
 * A uprobe.multi link (or a session, by @attach_type) of @prog_fd at @n file offsets of the file open as
 * @fd. @pid 0: every process. @cookie: what bpf_get_attach_cookie() says there. Returns the link's fd, or -errno.
 */
int link_multi(int prog_fd, int attach_type, int fd, const uint64_t *offsets, uint32_t n, int pid,
	       uint64_t cookie);

/* The same with a cookie for each place; @cookies NULL: none. */
int link_multi_each(int prog_fd, int attach_type, int fd, const uint64_t *offsets,
		    const uint64_t *cookies, uint32_t n, int pid);

/* One perf uprobe: its fd, or -errno. @pid -1: every process. A @cookie other than 0 needs Linux 5.15. */
int link_perf(int prog_fd, int fd, uint64_t offset, int pid, uint64_t cookie);

/* Closes what these returned: its probes are gone then, whatever happens to the caller meanwhile. */
void link_close(int fd);

/* Does this kernel filter a uprobe.multi by process (Linux 6.12), not by thread? Found by trying. */
bool link_multi_filters_process(int prog_fd);

#endif /* ATTACH_LINK_H */
