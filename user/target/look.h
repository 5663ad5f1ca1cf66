/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The state of one thread, read without disturbing it: /proc/PID/task/TID and the process's memory.
 * All of it may be out of date when it is returned, and every text is untrusted.
 */
#ifndef TARGET_LOOK_H
#define TARGET_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOOK_NO_CALL	  (-1) /* in no system call, or running */
#define LOOK_UNKNOWN_CALL (-2)
#define LOOK_WCHAN_LEN	  64

struct look {
	char comm[16];
	char state; /* as in /proc: R S D T t Z X I; 0: exited */
	uint64_t start_ticks; /* clock ticks after boot; 0: unknown */
	uint64_t cpu_ns, runq_ns; /* so far; UINT64_MAX: unknown */
	uint64_t switches; /* context switches of both kinds so far; UINT64_MAX: unknown */
	int64_t syscall; /* or LOOK_*_CALL */
	uint64_t args[6];
	uint64_t sp, pc; /* 0: unknown */
	char wchan[LOOK_WCHAN_LEN]; /* "": unknown */
};

/*
 * Read the state of a thread. Return 0, -ESRCH if the thread has exited, or -errno. What we may not
 * read is unknown: without rights that is syscall, sp, pc and wchan.
 */
int look_thread(int pid, int tid, struct look *out);
/* Read only what a second look needs: state, switches, CPU time. */
int look_again(int pid, int tid, struct look *out);

/* Pure. The texts are NUL-terminated. Return false if they cannot be parsed. */
/* "TID (comm) S ..."; comm may contain anything, also ") " and newlines. */
bool look_parse_stat(const char *text, struct look *out);
/* "running", "NR ARGS... SP PC" or "-1 SP PC". */
bool look_parse_syscall(const char *text, struct look *out);
/* "CPU RUNQ SLICES", ns. */
bool look_parse_schedstat(const char *text, struct look *out);
/* Both kinds of context switches. The name comes first, but the kernel escapes it. */
bool look_parse_status(const char *text, struct look *out);

/* Copy @size bytes at @address in @pid. Return 0 or -errno (-EFAULT: not all of it is mapped). */
int look_read(int pid, uint64_t address, void *to, size_t size);
/*
 * Copy up to @size bytes, as far as memory is mapped from @address on. Return the number of bytes
 * or -errno.
 */
long look_read_some(int pid, uint64_t address, void *to, size_t size);

/* --- what a thread waits for ------------------------------------------------------------------ */

enum look_wait {
	LOOK_OTHER,
	LOOK_FUTEX, /* args[0] is the address of the futex word */
	LOOK_IO,
	LOOK_SLEEP,
	LOOK_CHILD,
	LOOK_NOTHING, /* the call does not block, or its number is unknown */
};

/*
 * Return the name of a system call of this architecture, NULL if unknown; and what a thread that is
 * blocked in it waits for.
 */
const char *look_call_name(int64_t nr);
enum look_wait look_call_wait(const struct look *look);
/*
 * Describe in printable words what the thread is blocked in: "read() of a pipe", "poll() of 3
 * files, the first a socket", "its child 123". Reads /proc/PID/fd and the process's memory. "" if
 * the thread is in no system call.
 */
void look_words(int pid, const struct look *look, char *words, size_t size);
/*
 * Describe the target of a link of /proc/PID/fd: "pipe:[3]" is "a pipe". A path is made printable.
 * Pure.
 */
void look_file_words(const char *link, char *words, size_t size);

#endif /* TARGET_LOOK_H */
