/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The state of one thread, read from /proc/PID/task/TID and from the process's memory, without
 * stopping the thread. Everything may be out of date when it is returned, and all texts are
 * untrusted.
 */
#ifndef TARGET_LOOK_H
#define TARGET_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOOK_NO_CALL	  (-1) /* the thread is in no system call, or is on a CPU */
#define LOOK_UNKNOWN_CALL (-2)
#define LOOK_WCHAN_LEN	  64

struct look {
	char comm[16];
	char state; /* letter as in /proc: R S D T t Z X I; 0: the thread has exited */
	uint64_t start_ticks; /* start time of the thread in clock ticks after boot; 0: unknown */
	/* total time on a CPU, and waiting for a CPU; UINT64_MAX: unknown */
	uint64_t cpu_ns, runq_ns;
	/* total of voluntary and involuntary context switches so far; UINT64_MAX: unknown */
	uint64_t switches;
	int64_t syscall; /* number of the system call, LOOK_NO_CALL or LOOK_UNKNOWN_CALL */
	uint64_t args[6];
	uint64_t sp, pc; /* 0: unknown */
	char wchan[LOOK_WCHAN_LEN]; /* "": unknown */
};

/*
 * Read the state of a thread. Return 0, -ESRCH if the thread has exited, or another -errno. Data
 * that we may not read are set to unknown. For processes of other users these are syscall, sp, pc
 * and wchan.
 */
int look_thread(int pid, int tid, struct look *out);
/* Read again only what may have changed since look_thread(): state, switches, CPU time. */
int look_again(int pid, int tid, struct look *out);

/*
 * Parsers of the files in /proc/PID/task/TID. Pure. Each takes the NUL-terminated text of a file,
 * and returns false if the text cannot be parsed.
 */
/* The file stat: "TID (comm) S ...". comm may contain any characters, even ") " and newlines. */
bool look_parse_stat(const char *text, struct look *out);
/* The file syscall: "running", "NR ARGS... SP PC" or "-1 SP PC". */
bool look_parse_syscall(const char *text, struct look *out);
/* The file schedstat: "CPU RUNQ SLICES". CPU and RUNQ are in ns. */
bool look_parse_schedstat(const char *text, struct look *out);
/*
 * The file status: the numbers of voluntary and other context switches. The thread's name precedes
 * them, but cannot imitate these lines, because the kernel escapes newlines in it.
 */
bool look_parse_status(const char *text, struct look *out);

/*
 * Copy @size bytes from @address in process @pid. Return 0 or -errno (-EFAULT: some of the bytes
 * are not mapped).
 */
int look_read(int pid, uint64_t address, void *to, size_t size);
/*
 * Copy up to @size bytes from @address in process @pid, up to the end of the mapped memory. Return
 * the number of bytes or -errno.
 */
long look_read_some(int pid, uint64_t address, void *to, size_t size);

/* --- what a thread waits for ------------------------------------------------------------------ */

enum look_wait {
	LOOK_OTHER,
	LOOK_FUTEX, /* args[0] is the address of the futex word */
	LOOK_IO,
	LOOK_SLEEP,
	LOOK_CHILD,
	/*
	 * the thread is in no call, or in one that does not block, or the number of its call is
	 * unknown
	 */
	LOOK_NOTHING,
};

/*
 * Return the name of a system call of this architecture, or NULL if it is unknown. look_call_wait()
 * returns what a thread that is blocked in the call waits for.
 */
const char *look_call_name(int64_t nr);
enum look_wait look_call_wait(const struct look *look);
/*
 * Describe in printable words what the thread is blocked in: "read() of a pipe", "poll() of 3
 * files, the first a socket", "its child 123". "" if the thread is in no system call. Reads
 * /proc/PID/fd and the process's memory.
 */
void look_words(int pid, const struct look *look, char *words, size_t size);
/*
 * Describe in words a file, given as the target of a link in /proc/PID/fd: for "pipe:[3]", write "a
 * pipe". For a path, write the path in printable form. Pure.
 */
void look_file_words(const char *link, char *words, size_t size);

#endif /* TARGET_LOOK_H */
