/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Where the threads of a process are at this moment: state, system call, user stack. Nobody is
 * stopped or signalled for it: a blocked thread's registers come from the kernel's task iterator
 * (from /proc where there is none), its stack from its memory; of a thread that runs a sample is
 * taken.
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
	SNAPSHOT_UNKNOWN, /* nothing could be read: no rights */
	SNAPSHOT_RUNNING, /* on a CPU when the sample was taken */
	SNAPSHOT_RUNNABLE, /* wants a CPU: on one or not, no sample of it came */
	SNAPSHOT_FUTEX, /* args[0] is the word */
	SNAPSHOT_IO, /* a file, a pipe, a socket, any of several */
	SNAPSHOT_SLEEP, /* nanosleep(), or waiting for no file */
	SNAPSHOT_CHILD, /* wait4(), waitid() */
	SNAPSHOT_STOPPED, /* by a signal or a debugger */
	SNAPSHOT_DISK, /* uninterruptible: D */
	SNAPSHOT_ZOMBIE, /* the process has ended and nobody has asked how */
	SNAPSHOT_GONE, /* the thread is no more */
	SNAPSHOT_OTHER, /* semaphores, message queues, file locks, signals, a fault ... */
};

/* How the thread's registers are known: the callers of the innermost frame hang on it. */
enum snapshot_source {
	SNAPSHOT_NO_STACK, /* not at all */
	SNAPSHOT_ITERATOR, /* the task iterator: those that functions save */
	SNAPSHOT_PROC, /* /proc/TID/syscall: sp and pc alone */
	SNAPSHOT_SAMPLE, /* a sample of it running: all */
};

/*
 * A function, or one inlined into the next real one. All strings are printable and live as long as
 * struct snapshots.
 */
struct snapshot_frame {
	const char *function; /* NULL: unknown */
	const char *file; /* NULL: unknown */
	const char *module; /* path of the file that the code is of; NULL: in none */
	uint32_t line; /* 0: unknown */
	const char *inlined; /* the function that this one was inlined into; NULL: none */
	uint64_t address; /* in the process: of the call, innermost: where the thread stands */
};

struct snapshot_thread {
	uint32_t pid, tid;
	char comm[16]; /* untrusted: as the kernel has it */
	char state; /* as in /proc: R S D T t Z X I; 0: gone or not known */
	int64_t syscall; /* the number of the call it is blocked in; -1: none; -2: not known */
	uint64_t args[6]; /* of it */
	char wchan[64]; /* what the kernel waits in; "": not known */
	uint64_t cpu_ns, runq_ns; /* so far, on a CPU and waiting for one; UINT64_MAX: unknown */
	uint64_t start_ticks; /* as in /proc/.../stat: tells a reused tid; 0 not known */
	/* How often it gave up or lost a CPU: the same on two looks, and it did not run. UINT64_MAX */
	uint64_t switches;
	uint64_t sp, pc; /* of user space; 0: not known */
	struct stack_regs regs; /* DWARF's numbers; those that are known by regs.known */
	enum snapshot_source source;
	bool sampled; /* it ran, and the stack is one sample of where */
	bool truncated; /* there are callers beyond the frames, or they cannot be found */
	uint32_t nframes;
	const struct snapshot_frame *frames; /* innermost first */
	struct mpi_call call; /* of MPI that it waits in; .name NULL: none */
	/* Printable: "read() of a pipe", "its child 123"; "" unknown, or it does not. */
	const char *waits_for;
	enum snapshot_wait wait;
};

/* Owned by whom snapshot_take() gave it to: snapshot_free(). */
struct snapshot {
	uint32_t pid;
	uint64_t interference_ns; /* CLOCK_MONOTONIC, when the states were read */
	uint64_t cost_ns; /* how long all of it took */
	uint32_t n;
	struct snapshot_thread *threads; /* in the order asked for; of all: by tid */
};

struct snapshots;
struct regs;

/*
 * What snapshots have in common: the iterator, what has been symbolised. @spaces must outlive it,
 * and is used by snapshot_take(): not from two threads at once. Returns 0 or -ENOMEM; where the
 * kernel has no iterator or does not let us, snapshot_source says what was used instead.
 */
int snapshots_new(struct address_spaces *spaces, struct snapshots **out);
void snapshots_free(struct snapshots *snapshots);
/*
 * Why there is no iterator, in words that go on from "registers of blocked threads: "; NULL: there
 * is one.
 */
const char *snapshots_no_iterator(const struct snapshots *snapshots);

/* The iterator; NULL: there is none. */
struct regs *snapshots_regs(const struct snapshots *snapshots);

/*
 * Looks at the threads @tids of process @pid (@n 0: at all). A thread that is gone is in it, with
 * wait SNAPSHOT_GONE. Takes some 50 ms where threads run, and what symbolising takes: less the
 * second time. Returns 0, -ESRCH: there is no such process, -EACCES: we may not look into it,
 * -ENOMEM or -errno.
 */
int snapshot_take(struct snapshots *snapshots, uint32_t pid, const uint32_t *tids, uint32_t n,
		  struct snapshot **out);
/*
 * The same without stacks and samples, and without what the file descriptors are: what changes from
 * one look to the next. Tens of microseconds a thread.
 */
int snapshot_glance(struct snapshots *snapshots, uint32_t pid, const uint32_t *tids, uint32_t n,
		    struct snapshot **out);
void snapshot_free(struct snapshot *snapshot);
/*
 * The mappings by which the last snapshot of the process was taken; NULL: none. They are not read
 * again by being used.
 */
struct address_space *snapshot_address_space(struct snapshots *snapshots, uint32_t pid);
/* The thread, or NULL. */
const struct snapshot_thread *snapshot_find(const struct snapshot *snapshot, uint32_t tid);
/* Copies @size bytes at @address in @pid, whole or -errno (-EFAULT: not mapped; -ESRCH; -EPERM). */
int snapshot_read(uint32_t pid, uint64_t address, void *to, size_t size);

#endif /* HANG_THREAD_SNAPSHOT_H */
