/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What /proc says of processes and threads. Everything may be gone at any moment: -ESRCH. */
#ifndef TARGET_PROC_H
#define TARGET_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls @each for every thread of @pid. Returns how many, or -errno. */
int proc_each_thread(int pid, void (*each)(void *ctx, int tid), void *ctx);
/* Calls @each for every process of the machine. */
int proc_each(void (*each)(void *ctx, int pid), void *ctx);
/* The name of a thread (the leader's: of the process). Untrusted. */
int proc_comm(int pid, int tid, char comm[16]);
/* The process that @pid (a process or a thread of one) belongs to. */
int proc_tgid(int pid, int *tgid);
/*
 * The futex word that a thread is blocked at: its address, or 0 when it does something else. Returns 0,
 * -ESRCH or -errno.
 */
int proc_waits_at(int pid, int tid, uint64_t *address);
/* Is it a process that lives (not a zombie)? */
bool proc_alive(int pid);
/* User and system CPU time of the calling process, ns. */
uint64_t proc_own_cpu_ns(void);

#endif /* TARGET_PROC_H */
