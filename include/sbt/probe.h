/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The ABI between user space and the BPF programs: the purpose of each probe, and where to find its
 * values. Both sides include this header.
 */
#ifndef SBT_PROBE_H
#define SBT_PROBE_H

#ifndef __KERNEL_SUBSET_H
#include <linux/types.h>
#endif

/*
 * Where a value is when a probe is hit. For a function, the table of its family gives the location,
 * by the calling convention. For a marker, the marker's note gives it. User space translates both
 * into a struct sbt_arg.
 */
enum sbt_arg_how {
	SBT_ARG_NONE, /* there is no such value; it reads as 0 */
	SBT_ARG_FIRST, /* the first argument of a function; it is the fastest to read */
	SBT_ARG_REG, /* the value of the register at offset @reg */
	/*
	 * in user memory; the address is the value of the register at @reg, plus @disp, plus the
	 * value of the register at @index (if any) times @scale
	 */
	SBT_ARG_MEM,
	SBT_ARG_CONST, /* @disp itself */
	SBT_ARG_TEAM, /* the OpenMP team that the thread is in */
	SBT_ARG_SP, /* the value of the stack pointer */
};

#define SBT_ARG_NO_REG 0xffffu

/* sbt_arg.flags */
#define SBT_ARG_SIGNED	0x01
#define SBT_ARG_POINTED 0x02 /* the argument is the address of the value, as in Fortran */
#define SBT_ARG_ADDS	0x04 /* SBT_ARG_REG: @disp is added to the register's value */

struct sbt_arg {
	__u8 how; /* enum sbt_arg_how */
	__u8 size; /* bytes: 1, 2, 4, 8 */
	__u8 flags;
	__u8 scale; /* factor for the value of the register at @index */
	__u16 reg; /* offset in struct pt_regs (arm64: user_pt_regs), in bytes; or SBT_ARG_NO_REG */
	__u16 index; /* SBT_ARG_MEM: offset of a second register, like @reg; SBT_ARG_NO_REG: none */
	__s64 disp;
};

/* The purpose of a probe: it decides which programs are attached, and what they do. */
enum sbt_role {
	SBT_ROLE_BARRIER, /* a function: its entry is the arrival, its end the departure */
	SBT_ROLE_MAKER, /* a function that creates a barrier object */
	SBT_ROLE_REGION, /* a function that begins and ends a parallel region; see "OpenMP" below */
	/*
	 * The function that the threads of a region run. When a thread leaves it, it arrives at the
	 * join.
	 */
	SBT_ROLE_OUTLINED,
	SBT_ROLE_MARK_ENTER, /* a marker of include/sbt/sbt.h: the arrival */
	SBT_ROLE_MARK_LEAVE, /* a marker: the departure */
	SBT_ROLE_MARK_PHASE, /* a marker: a phase of one thread ends here */
	SBT_ROLE_MARK_THREAD, /* a marker: gives the number that the thread has from then on */
	/*
	 * A function that waits for other threads. Its entry may be the arrival at an unknown
	 * barrier.
	 */
	SBT_ROLE_COND_WAIT,
	/* a function that wakes all waiters; its entry may be the last arrival */
	SBT_ROLE_COND_WAKE,
	/*
	 * A marker of an access to data. `what`: enum sbt_access_kind of include/sbt/sbt.h;
	 * `object`: owner of the data; `words`: number of bytes.
	 */
	SBT_ROLE_MARK_ACCESS,
	SBT_ROLE_TASK, /* a function that creates an OpenMP task */
	/*
	 * a function that returns when it is the thread's turn (OpenMP's critical, ordered, locks)
	 */
	SBT_ROLE_TURN,
	/*
	 * A function that waits on a semaphore. If threads seem to synchronize by semaphores, the
	 * report mentions these waits.
	 */
	SBT_ROLE_SEM_WAIT,
	/*
	 * Like SBT_ROLE_BARRIER, but only the arrival is seen. User space infers the departure:
	 * user/ingest/departures.h.
	 */
	SBT_ROLE_ARRIVAL,
	SBT_ROLES
};

/* sbt_spec.flags */
/*
 * Only a return probe can see this function's end. So in processes that a return probe could harm,
 * the function is not traced.
 */
#define SBT_SPEC_NO_EXITS 0x01
/*
 * The call also creates an object (a communicator): `words` is the address where the call stores
 * it, `what` its number among the objects created by one call. See SBT_CROSSING_MAKES.
 */
#define SBT_SPEC_MAKES	  0x08

/* The value of `what` where it is not known. */
#define SBT_WHAT_UNKNOWN 0x80000001u

/*
 * In every process, the function's end is seen at its ret instructions and not by a return probe,
 * because an exception or a longjmp may leave the function.
 */
#define SBT_SPEC_RETS	0x02
#define SBT_SPEC_PAIR	0x04 /* a crossing from the entry of one function to the end of another */
/*
 * The wait of libstdc++'s std::barrier. `object` and `words` are both the address of its phase, and
 * `what` is the phase in which the thread arrived. The thread arrived before this wait: see
 * SBT_RESULT_OVER.
 */
#define SBT_SPEC_PHASE	0x10
/* If the function returns a null pointer, the thread did not wait at a barrier. */
#define SBT_SPEC_WAITED 0x40
#define SBT_SPEC_LATCH	0x20 /* the wait of std::latch: `object` is its counter */
#define SBT_SPEC_REDUCE 0x80 /* libomp's reductions: `what` is enum sbt_reduce */

/*
 * libomp reduces in one of three ways. In a tree, all threads synchronize in the first call, which
 * returns 1 to the team's first thread and 0 to the others. With atomics, the first call returns 2
 * to all threads, and in a critical section, it returns 1 to all threads. In these two cases all
 * threads synchronize in the second call, if there is one.
 */
enum sbt_reduce {
	/* the first call; a thread to which it does not return 0 also makes the second call */
	SBT_REDUCE_BEGIN,
	SBT_REDUCE_ONLY, /* the first call with nowait: no second call synchronizes */
	SBT_REDUCE_END, /* the second call */
};

/* A team of at most this many threads does not reduce in a tree. */
#define SBT_REDUCE_NO_TREE 4

/* sbt_frame_rule.flags */
/* the CFA is relative to the frame pointer; without this flag, to the stack pointer */
#define SBT_FRAME_BY_FP	   0x01
/* the frame stores the caller's frame pointer; without this flag, the register still holds it */
#define SBT_FRAME_SAVES_FP 0x02
#define SBT_FRAME_LINK	   0x04 /* arm64: the return address is in the link register */
#define SBT_FRAME_THROUGH  0x08 /* a wrapper: it is not counted as a caller */
#define SBT_FRAME_LAST	   0x10 /* no caller is known, or none is wanted */

/*
 * How to find the caller of a frame, for the code at one address. The struct has the parts of DWARF
 * 5, section 6.4, that nearly all code needs. Offsets are in bytes.
 */
struct sbt_frame_rule {
	__s32 cfa; /* the CFA, relative to the stack pointer or frame pointer (SBT_FRAME_BY_FP) */
	__s32 ret; /* where the return address is, relative to the CFA */
	__s32 fp; /* where the caller's frame pointer is, relative to the CFA */
	__u32 flags;
};

#define SBT_WORDS_NONE 0xffffffffu

/*
 * OpenMP. With SBT_ROLE_REGION, `object` is the outlined function, `words` its argument, and
 * `index` the number of its arguments (not set for gomp, where there is always one). With
 * SBT_ROLE_OUTLINED, `object` is the argument of the function, `index` the thread's number, and
 * `words` a constant: the number of bytes from the function's start to the probe. For a barrier
 * with SBT_ARG_TEAM as its object, `words` holds, in its upper half, the flags of libomp's location
 * argument.
 */

/*
 * Where libgomp keeps the number of threads of the current team. The pointer to the team is at the
 * thread pointer + the word at (probe + slot) + team. The number is at the team's address + count.
 */
struct sbt_team_size {
	__u64 slot; /* that word less the probe, modulo 2^64; 0: there is no such word */
	__u32 team, count; /* as numbers of 32 bits with a sign */
	__u32 known; /* 0: not known, and the other members are 0 */
	__u32 pad;
};

/* sbt_spec.inferred_in_team */
enum sbt_inferred_in_team {
	SBT_TEAM_SEEN, /* departures are seen */
	SBT_TEAM_INFERRED, /* inferred if the number of the team's members is known, else seen */
	/*
	 * Only the arrival has a probe. If the number is not known, the departure is unknown, and
	 * user space is asked for probes at the ends (SBT_REC_ENDS).
	 */
	SBT_TEAM_ARRIVALS,
};

/* Description of a probe, in `specs` at the index that the probe's cookie gives. */
struct sbt_spec {
	__u8 family; /* enum sbt_family */
	__u8 kind; /* enum sbt_kind */
	__u8 role; /* enum sbt_role */
	__u8 flags; /* SBT_SPEC_* */
	/*
	 * pthread: offset from the object to the 8 bytes that hold the number of members;
	 * SBT_WORDS_NONE: the member `words` below describes the size of the team
	 */
	__u32 words_offset;
	/* SBT_PROBE_GROUP() with which the probe is detached; 0: the group of its family */
	__u64 probe_group;
	struct sbt_arg object;
	struct sbt_arg words; /* size of the team, unless a role or flag above says otherwise */
	struct sbt_arg index; /* number of the thread in its team */
	struct sbt_arg file, line, name; /* markers: the name of the location in the program */
	/*
	 * Markers of barriers: `loop`. Markers of phases: enum sbt_phase_kind. Also used with
	 * SBT_ROLE_MARK_ACCESS, SBT_SPEC_MAKES, SBT_SPEC_PHASE and SBT_SPEC_REDUCE.
	 */
	struct sbt_arg what;
	struct sbt_team_size team_size; /* gomp */
	/*
	 * Number of the user's rule, from 1. It distinguishes pairs of functions with the same
	 * arguments.
	 */
	__u32 rule;
	__u16 less_one; /* pthread: the object holds the number of members minus one, as in musl */
	__u16 inferred_in_team; /* enum sbt_inferred_in_team */
};

#endif /* SBT_PROBE_H */
