/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Processes and threads as /proc shows them. They may exit at any moment: -ESRCH. */
#ifndef TARGET_PROC_H
#define TARGET_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Read a file, which the format names, once and end the text with a NUL. Return its length, at most
 * @size - 1, -ESRCH if there is no such file, or -errno.
 */
ssize_t proc_read(void *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Read the rest of @fd into *@out, which is to be freed and ends in a NUL, and its length into
 * *@len. Stop once @max bytes were read. Return 0 or -errno.
 */
int proc_read_all(int fd, size_t max, char **out, size_t *len);
/* Call @each for every thread of @pid. Return their number, or -errno. */
int proc_each_thread(int pid, void (*each)(void *ctx, int tid), void *ctx);
/* Call @each for every process of the machine. Return their number, or -errno. */
int proc_each(void (*each)(void *ctx, int pid), void *ctx);
/* Read the name of a thread; the leader's is the name of the process. Untrusted. */
int proc_comm(int pid, int tid, char comm[16]);
/*
 * Read the words of the process's command line, the program's name first. Store at most @max of
 * them and a NULL in @words; free(words[0]) frees all. Untrusted. Return their number, 0 (nothing
 * to free) or -errno.
 */
int proc_words(int pid, char **words, size_t max);

/* Where exec has placed a program. As a rule, the addresses or sizes differ after each exec. */
struct proc_image {
	uint64_t code; /* start address; 0: unknown */
	uint64_t code_end;
	uint64_t stack; /* where the first thread's stack began */
};

/*
 * Return 0, -ESRCH (it has exited, or is inside exec), -EACCES (another user's process) or -errno.
 */
int proc_image(int pid, struct proc_image *image);
/* Find the process that @pid (a process or one of its threads) belongs to. */
int proc_tgid(int pid, int *tgid);
/*
 * Read the address of the futex word that a thread is blocked at: 0 if it is blocked elsewhere,
 * UINT64_MAX if it runs. Return 0, -ESRCH or -errno.
 */
int proc_waits_at(int pid, int tid, uint64_t *address);
/*
 * Check whether we may read its mappings. Return 0, -EACCES (another user's process), -ESRCH or
 * -errno.
 */
int proc_may_look(int pid);
/* Return whether it is a running process (not a zombie). */
bool proc_alive(int pid);
/*
 * Return whether it is a running process that has one thread and never had another. Each thread
 * causes page faults on its stack, and the process keeps the sum of exited threads.
 */
bool proc_was_alone(int pid);
/* Return the user and system CPU time of the calling process, ns. */
uint64_t proc_own_cpu_ns(void);
/*
 * Read the NUMA node of each CPU, indexed by the CPU's number. The caller frees *@out. Return 0,
 * -ENOENT if this machine does not report nodes, or -errno.
 */
int proc_cpu_nodes(uint32_t **out, uint32_t *n);

#endif /* TARGET_PROC_H */
