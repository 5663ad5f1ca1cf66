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
/*
 * The words of the process's command line, the program's name first: @words gets at most @max of them and a NULL, all in
 * one piece that is freed with words[0]. Untrusted. Returns how many, 0 (nothing to free) or -errno.
 */
int proc_words(int pid, char **words, size_t max);

/* Where exec put a program: elsewhere each time, as a rule, or of another size. */
struct proc_image {
	uint64_t code; /* 0: not known */
	uint64_t code_end;
	uint64_t stack; /* where its first thread's began */
};

/* Returns 0, -ESRCH (it has ended, or is in the midst of exec), -EACCES (another user's) or -errno. */
int proc_image(int pid, struct proc_image *image);
/* The process that @pid (a process or a thread of one) belongs to. */
int proc_tgid(int pid, int *tgid);
/*
 * The futex word that a thread is blocked at: its address, 0 when it is blocked elsewhere, UINT64_MAX when it runs.
 * Returns 0, -ESRCH or -errno.
 */
int proc_waits_at(int pid, int tid, uint64_t *address);
/* May its memory's layout be asked for: 0, -EACCES (another user's), -ESRCH or -errno. */
int proc_may_look(int pid);
/* Is it a process that lives (not a zombie)? */
bool proc_alive(int pid);
/*
 * Is it a process that lives and has one thread, and was there never another one? Each thread faults its stack in, and of those that have
 * exited the process keeps the sum.
 */
bool proc_was_alone(int pid);
/* User and system CPU time of the calling process, ns. */
uint64_t proc_own_cpu_ns(void);
/*
 * The NUMA node of each CPU, by the CPU's number: *@out is the caller's to free. Returns 0, -ENOENT if this machine
 * does not say, or -errno.
 */
int proc_cpu_nodes(uint32_t **out, uint32_t *n);

#endif /* TARGET_PROC_H */
