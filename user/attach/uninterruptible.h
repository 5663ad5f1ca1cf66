/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * System calls that must not be interrupted. The kernel inserts breakpoints into processes, and
 * removes them, one by one. If the caller is killed (SIGKILL) before all are done, the kernel gives
 * up: it reports "failed to unregister, leaking uprobe", and breakpoints remain in the code of
 * running processes. So a separate process makes the call, with the same memory and files. The
 * separate process is not killed together with sbt-trace. After the call it exits, which closes its
 * files. If sbt-trace was killed, this removes the probes that the call has attached. On busy CPUs,
 * the new process waits for a CPU: a start takes a tenth of a second longer if eight other tasks
 * compete for each CPU.
 */
#ifndef ATTACH_UNINTERRUPTIBLE_H
#define ATTACH_UNINTERRUPTIBLE_H

/*
 * Call @fn with @arg and return its result, however long the kernel takes; -EINTR if the separate
 * process was also killed. The calling process can receive signals during the call. Several threads
 * may call this function at the same time. @fn may only make system calls. If no process can be
 * created, @fn is called directly.
 */
int uninterruptible(int (*fn)(void *arg), void *arg);

#endif /* ATTACH_UNINTERRUPTIBLE_H */
