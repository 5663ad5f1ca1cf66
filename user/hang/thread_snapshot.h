/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Read the present position of each thread of a process: state, system call, user stack. No thread
 * is stopped or signalled. The registers of a blocked thread come from the kernel's task iterator,
 * or from /proc if there is no iterator. Its stack comes from the process's memory. A running
 * thread is sampled.
 */
#ifndef HANG_THREAD_SNAPSHOT_H
#define HANG_THREAD_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hang/mpi_call.h"
#include "sites/address_space.h"

#define SNAPSHOT_FRAMES_MAX 64

/* What a thread waits for, by its state and its system call. */
enum snapshot_wait {
	SNAPSHOT_UNKNOWN, /* the system call could not be read: no permission */
	SNAPSHOT_RUNNING, /* the thread was on a CPU when the sample was taken */
	SNAPSHOT_RUNNABLE, /* the thread wants a CPU, or runs on one and was not sampled */
	SNAPSHOT_FUTEX, /* args[0] is the address of the futex word */
	SNAPSHOT_IO, /* a file, a pipe or a socket, or several of them at once */
	SNAPSHOT_SLEEP, /* nanosleep(), or poll() and similar without files */
	SNAPSHOT_CHILD, /* wait4(), waitid() */
	SNAPSHOT_STOPPED, /* stopped by a signal or a debugger */
	SNAPSHOT_DISK, /* in uninterruptible sleep (state D), but in no call of the kinds above */
	SNAPSHOT_ZOMBIE, /* the process has ended, and its parent has not waited for it */
	SNAPSHOT_GONE, /* the thread does not exist any more */
	SNAPSHOT_OTHER, /* semaphores, message queues, file locks, signals, a fault ... */
};

/* Source of the thread's registers, which decides how many callers can be found. */
enum snapshot_source {
	SNAPSHOT_NO_STACK, /* no registers */
	SNAPSHOT_ITERATOR, /* the task iterator: callee-saved registers */
	SNAPSHOT_PROC, /* /proc/TID/syscall: only sp and pc */
	SNAPSHOT_SAMPLE, /* a sample of the running thread: all registers */
};

/*
 * A function, or a function that was inlined into the next frame's function. All strings are
 * printable and live as long as struct snapshots.
 */
struct snapshot_frame {
	const char *function; /* NULL: unknown */
	const char *file; /* NULL: unknown */
	const char *module; /* path of the file that has the code; NULL: none */
	uint32_t line; /* 0: unknown */
	const char *inlined; /* the function into which this function was inlined; NULL: none */
	/*
	 * address in the process: of the call or, in the innermost frame, of the current
	 * instruction
	 */
	uint64_t address;
};

struct snapshot_thread {
	uint32_t pid, tid;
	char comm[16]; /* untrusted: from the kernel */
	char state; /* thread state as in /proc: R S D T t Z X I; 0: gone or unknown */
	int64_t syscall; /* number of the blocking system call; -1: none; -2: unknown */
	uint64_t args[6]; /* arguments of the system call */
	char wchan[64]; /* kernel function in which the thread waits; "": unknown */
	/* total time on a CPU, and waiting for a CPU; UINT64_MAX: unknown */
	uint64_t cpu_ns, runq_ns;
	uint64_t start_ticks; /* from /proc/.../stat: detects a reused tid; 0: unknown */
	/*
	 * Context switches. If two looks found the same number, the thread did not run between the
	 * looks. UINT64_MAX: unknown.
	 */
	uint64_t switches;
	uint64_t sp, pc; /* stack pointer and program counter in user space; 0: unknown */
	/* registers by DWARF number; regs.known has a bit for each valid register */
	struct stack_regs regs;
	enum snapshot_source source;
	bool sampled; /* the thread ran, and the stack is one sample */
	/* the outermost callers are missing: there is no room for them, or they cannot be found */
	bool truncated;
	uint32_t nframes;
	const struct snapshot_frame *frames; /* innermost first */
	struct mpi_call call; /* the MPI call in which the thread waits; .name NULL: none */
	/*
	 * What the thread waits for, printable: "read() of a pipe", "its child 123"; "": it does
	 * not wait, or unknown.
	 */
	const char *waits_for;
	enum snapshot_wait wait;
};

/* The caller of snapshot_take() owns the snapshot, and frees it with snapshot_free(). */
struct snapshot {
	uint32_t pid;
	uint32_t n;
	/* in the order of @tids of snapshot_take(); if that had none: by tid */
	struct snapshot_thread *threads;
};

struct snapshots;
struct regs;

/*
 * Create the state that snapshots share: the task iterator, and symbols. @spaces must outlive *out.
 * snapshot_take() uses @spaces, so do not call it from two threads at once. Snapshots also work
 * without an iterator (old kernel, no permission); snapshot_thread.source says what was used.
 * Return 0 or -ENOMEM.
 */
int snapshots_new(struct address_spaces *spaces, struct snapshots **out);
void snapshots_free(struct snapshots *snapshots);
/*
 * Return why there is no iterator, in words that continue "registers of blocked threads: ", or NULL
 * if there is one.
 */
const char *snapshots_no_iterator(const struct snapshots *snapshots);

/* Return the iterator, or NULL. */
struct regs *snapshots_regs(const struct snapshots *snapshots);

/*
 * Examine the threads @tids of process @pid; @n 0: all threads. A thread that does not exist has
 * the wait SNAPSHOT_GONE. This takes about 50 ms if threads are running, and in addition the time
 * to read symbols, which is shorter the second time. Return 0, -ESRCH (no such process), -EACCES
 * (no permission to read it), -ENOMEM or -errno.
 */
int snapshot_take(struct snapshots *snapshots, uint32_t pid, const uint32_t *tids, uint32_t n,
		  struct snapshot **out);
/*
 * Do the same as snapshot_take(), but without stacks, samples and descriptions of file descriptors:
 * read only data that change from one look to the next. This takes tens of microseconds per thread.
 */
int snapshot_glance(uint32_t pid, const uint32_t *tids, uint32_t n, struct snapshot **out);
void snapshot_free(struct snapshot *snapshot);
/*
 * Return the mappings that the last snapshot of the process used, or NULL. Look-ups in these
 * mappings do not read them again.
 */
struct address_space *snapshot_address_space(struct snapshots *snapshots, uint32_t pid);
/* Return the thread, or NULL. */
const struct snapshot_thread *snapshot_find(const struct snapshot *snapshot, uint32_t tid);
/*
 * Copy all @size bytes at @address in @pid. Return 0 or -errno: -EFAULT (not mapped), -ESRCH,
 * -EPERM.
 */
int snapshot_read(uint32_t pid, uint64_t address, void *to, size_t size);

#endif /* HANG_THREAD_SNAPSHOT_H */
