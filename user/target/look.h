/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * One thread from outside, without touching it: what /proc/PID/task/TID says and what is in its
 * memory. All of it may have changed by the time it is read; every text may be anything.
 */
#ifndef TARGET_LOOK_H
#define TARGET_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOOK_NO_CALL	  (-1) /* it is in no system call, or runs */
#define LOOK_UNKNOWN_CALL (-2)
#define LOOK_WCHAN_LEN	  64

struct look {
	char comm[16];
	char state; /* as in /proc: R S D T t Z X I; 0: gone */
	uint64_t start_ticks; /* since boot; 0 not known */
	uint64_t cpu_ns, runq_ns; /* so far; UINT64_MAX unknown */
	uint64_t switches; /* so far, of both kinds; UINT64_MAX unknown */
	int64_t syscall; /* or LOOK_*_CALL */
	uint64_t args[6];
	uint64_t sp, pc; /* 0: not known */
	char wchan[LOOK_WCHAN_LEN]; /* "" not known */
};

/*
 * Reads all of it. Returns 0 (what may not be read is unknown: without rights that is syscall, sp,
 * pc and wchan), -ESRCH: there is no such thread any more, or -errno.
 */
int look_thread(int pid, int tid, struct look *out);
/* The same of what a second look needs: state, switches, CPU time. */
int look_again(int pid, int tid, struct look *out);

/* Pure. The texts are NUL-terminated; false: no sense in them. */
/* "TID (comm) S ..."; comm may hold anything, ") " and newlines too. */
bool look_parse_stat(const char *text, struct look *out);
/* "running", "NR ARGS... SP PC" or "-1 SP PC". */
bool look_parse_syscall(const char *text, struct look *out);
/* "CPU RUNQ SLICES", ns. */
bool look_parse_schedstat(const char *text, struct look *out);
/* The two kinds of switches; the name, which comes first, is escaped by the kernel. */
bool look_parse_status(const char *text, struct look *out);

/* Copies @size bytes at @address in @pid: whole, or -errno (-EFAULT: not all of it is mapped). */
int look_read(int pid, uint64_t address, void *to, size_t size);
/* The same, but what there is from @address on: how many bytes, or -errno. */
long look_read_some(int pid, uint64_t address, void *to, size_t size);

/* --- what it waits for ------------------------------------------------------------------------ */

enum look_wait {
	LOOK_OTHER,
	LOOK_FUTEX, /* args[0] is the word */
	LOOK_IO,
	LOOK_SLEEP,
	LOOK_CHILD,
	LOOK_NOTHING, /* the call does not block, or its number is in no table */
};

/*
 * Name of the system call of this machine, NULL unknown; and what a thread blocked in it waits for.
 */
const char *look_call_name(int64_t nr);
enum look_wait look_call_wait(const struct look *look);
/*
 * In words what it is blocked in, printable: "read() of a pipe", "poll() of 3 files, the first a
 * socket", "its child 123". Reads /proc/PID/fd and the process's memory. "" if it is in no system
 * call.
 */
void look_words(int pid, const struct look *look, char *words, size_t size);
/*
 * What a link of /proc/PID/fd names, in words: "pipe:[3]" is "a pipe". A path is printable. Pure.
 */
void look_file_words(const char *link, char *words, size_t size);

#endif /* TARGET_LOOK_H */
