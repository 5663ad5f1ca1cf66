/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Read data about processes and threads from /proc. Each may exit at any moment; functions then
 * return -ESRCH.
 */
#ifndef TARGET_PROC_H
#define TARGET_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Read the file that @format names with a single read, and end the text with a NUL. Return its
 * length, at most @size - 1, -ESRCH if there is no such file, or another -errno.
 */
ssize_t proc_read(void *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Read the rest of @fd into *@out, which ends in a NUL and must be freed. Set *@len to its length.
 * Stop when at least @max bytes have been read. Return 0 or -errno.
 */
int proc_read_all(int fd, size_t max, char **out, size_t *len);
/* Call @each for every thread of @pid. Return their number, or -errno. */
int proc_each_thread(int pid, void (*each)(void *ctx, int tid), void *ctx);
/* Call @each for every process of the machine. Return their number, or -errno. */
int proc_each(void (*each)(void *ctx, int pid), void *ctx);
/* Read the name of a thread, untrusted. The name of the main thread is the name of the process. */
int proc_comm(int pid, int tid, char comm[16]);
/*
 * Read the words of the process's command line, beginning with the program's name. They are
 * untrusted. Store at most @max words and then a NULL in @words, which has room for @max + 1
 * pointers. free(words[0]) frees all words. Return their number, 0 (nothing to free) or -errno.
 */
int proc_words(int pid, char **words, size_t max);

/* The addresses where exec has mapped a program. Usually, they differ after each exec. */
struct proc_image {
	uint64_t code; /* start address; 0: unknown */
	uint64_t code_end;
	uint64_t stack; /* address at which the main thread's stack began */
};

/*
 * Get the program's addresses. Return 0, -ESRCH (the process has exited, or is inside exec),
 * -EACCES (another user's process) or another -errno.
 */
int proc_image(int pid, struct proc_image *image);
/*
 * Set *@tgid to the process that @pid belongs to. @pid is the number of a process or of one of its
 * threads.
 */
int proc_tgid(int pid, int *tgid);
/*
 * Return the number of a thread in its innermost PID namespace, or 0 if there is no such thread.
 * Set *@own to whether the thread is in more than one namespace.
 */
uint32_t proc_inner_tid(uint32_t pid, uint32_t tid, bool *own);
/*
 * Set *@address to the address of the futex word on which the thread is blocked: 0 if it is not
 * blocked on a futex, UINT64_MAX if it is not blocked at all. Return 0, -ESRCH or another -errno.
 */
int proc_waits_at(int pid, int tid, uint64_t *address);
/*
 * Check whether we may read the mappings of a process. Return 0, -EACCES (another user's process),
 * -ESRCH or another -errno.
 */
int proc_may_look(int pid);
/* Return whether @pid is a running process (not a zombie). */
bool proc_alive(int pid);
/*
 * Return whether @pid is a running process that has one thread and never had another one. The check
 * uses the numbers of page faults: each thread causes some on its stack, and the process's number
 * includes those of exited threads. So if it equals the number of the only thread, there was no
 * other thread.
 */
bool proc_was_alone(int pid);
/* Return the user and system CPU time of the calling process, ns. */
uint64_t proc_own_cpu_ns(void);
/*
 * Read the NUMA node of each CPU into *@out, indexed by the CPU's number. The caller frees *@out.
 * Return 0, -ENOENT if this machine does not report nodes, or another -errno.
 */
int proc_cpu_nodes(uint32_t **out, uint32_t *n);

#endif /* TARGET_PROC_H */
