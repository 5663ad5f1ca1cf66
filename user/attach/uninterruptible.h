/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * System calls that must not be broken off. The kernel puts breakpoints into processes, and takes them out, one by one; who is
 * killed (SIGKILL) in the midst of that gives up, and the kernel with it: it says "failed to unregister, leaking uprobe", and
 * breakpoints stay in the code of processes that go on. So it is done in a process apart, with the same memory and the same
 * files, which nobody kills with us; what it has put in goes with its files as it ends. On busy CPUs a new process waits for
 * its turn, a tenth of a start more where eight others want each CPU.
 */
#ifndef ATTACH_UNINTERRUPTIBLE_H
#define ATTACH_UNINTERRUPTIBLE_H

/*
 * Calls @fn with @arg and returns what it returns, once it has, however long the kernel takes; -EINTR if that process was killed, too. Signals reach who calls meanwhile. It may be called from several threads at once; @fn must do no
 * more than system calls. Where no process can be made it is called here.
 */
int apart(int (*fn)(void *arg), void *arg);

#endif /* ATTACH_UNINTERRUPTIBLE_H */
