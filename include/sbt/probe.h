/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The ABI between user space and the BPF programs: what a probe is told. Both sides are built from
 * this header.
 */
#ifndef SBT_PROBE_H
#define SBT_PROBE_H

#ifndef __KERNEL_SUBSET_H
#include <linux/types.h>
#endif

/*
 * Where a value is when a probe is hit. The family's table says it by the calling convention, a marker by its note;
 * user space turns both into this.
 */
enum sbt_arg_how {
	SBT_ARG_NONE, /* there is no such value: 0 */
	SBT_ARG_FIRST, /* the first argument of a function: the quick way */
	SBT_ARG_REG, /* the register at @reg */
	SBT_ARG_MEM, /* in user memory, at that register's value plus @disp */
	SBT_ARG_CONST, /* @disp itself */
	SBT_ARG_TEAM, /* of the OpenMP team that the thread is in */
	SBT_ARG_SP, /* the stack pointer: one object for each caller */
};

#define SBT_ARG_NO_REG 0xffffu

/* sbt_arg.flags */
#define SBT_ARG_SIGNED	0x01
#define SBT_ARG_POINTED 0x02 /* it is the address of the value: Fortran */
#define SBT_ARG_ADDS	0x04 /* SBT_ARG_REG: @disp is added to what is in the register */

struct sbt_arg {
	__u8 how; /* enum sbt_arg_how */
	__u8 size; /* bytes: 1, 2, 4, 8 */
	__u8 flags;
	__u8 scale; /* of what is in @index */
	__u16 reg; /* offset in struct pt_regs (arm64: user_pt_regs), in bytes; or SBT_ARG_NO_REG */
	__u16 index; /* SBT_ARG_MEM: another one, times @scale; SBT_ARG_NO_REG: none */
	__s64 disp;
};

/* What a probe is there for: which programs are attached, and what they do. */
enum sbt_role {
	SBT_ROLE_BARRIER, /* a function: its entry is the arrival, its end the departure */
	SBT_ROLE_MAKER, /* makes objects */
	SBT_ROLE_REGION, /* begins and ends a parallel region: object, words, index as below */
	SBT_ROLE_OUTLINED, /* what the threads of a region run: its end is their arrival at the join */
	SBT_ROLE_MARK_ENTER, /* a marker of include/sbt/sbt.h: the arrival */
	SBT_ROLE_MARK_LEAVE, /* the departure */
	SBT_ROLE_MARK_PHASE, /* a point where a phase of one thread ends */
	SBT_ROLE_MARK_THREAD, /* the thread's own number, from there on */
	SBT_ROLE_COND_WAIT, /* waits for others: may be the arrival at a barrier that nobody named */
	SBT_ROLE_COND_WAKE, /* wakes all who wait: may be the last arrival */
	/* `what`: enum sbt_access_kind of include/sbt/sbt.h; `object`: whose data; `words`: how many bytes */
	SBT_ROLE_MARK_ACCESS,
	SBT_ROLE_TASK, /* makes an OpenMP task */
	SBT_ROLE_TURN, /* returns when it is the thread's turn: OpenMP's critical, ordered, locks */
	SBT_ROLE_SEM_WAIT, /* waits on a semaphore: threads may meet by one, which is spoken of */
	SBT_ROLES
};

/* sbt_spec.flags */
#define SBT_SPEC_NO_EXITS \
	0x01 /* only a return probe can tell its end: nothing for those it could hurt */
/*
 * It makes an object (a communicator) as well: `words` is where it will put it, `what` which of those made by one call
 * it will be. See SBT_CROSSING_MAKES.
 */
#define SBT_SPEC_MAKES 0x08

/* The value of `what` where that is not known. */
#define SBT_WHAT_UNKNOWN 0x80000001u

#define SBT_SPEC_RETS \
	0x02 /* its end is seen at ret instructions, in every process: it may throw, or be jumped out of */
#define SBT_SPEC_PAIR	0x04 /* a crossing from one function's entry to another one's end */
/*
 * The wait of libstdc++'s std::barrier: `object` is where its phase is, `words` the same once more, `what` the phase that
 * the thread arrived in. The arrival itself was before: see SBT_RESULT_OVER.
 */
#define SBT_SPEC_PHASE	0x10
#define SBT_SPEC_WAITED 0x40 /* who gets a null pointer from it has met nobody there */
#define SBT_SPEC_LATCH	0x20 /* the wait of std::latch: `object` is its counter */
#define SBT_SPEC_REDUCE 0x80 /* libomp's reductions: `what` is enum sbt_reduce */

/*
 * libomp reduces in one of three ways. In a tree, all threads meet in the first call: it returns 1 to the team's first thread and
 * 0 to the others. By atomics (2) and in a critical section (1), all threads meet in the second call, if there is one.
 */
enum sbt_reduce {
	SBT_REDUCE_BEGIN, /* the first call; the thread that gets 1 makes the second, too */
	SBT_REDUCE_ONLY, /* the first call, and no other one is a meeting: nowait */
	SBT_REDUCE_END, /* the second call */
};

#define SBT_REDUCE_NO_TREE 4 /* a team of so many threads or fewer does not reduce in a tree */

/* sbt_frame_rule.flags */
#define SBT_FRAME_BY_FP	   0x01 /* the CFA counts from the frame pointer */
#define SBT_FRAME_SAVES_FP 0x02 /* else the caller's is the same */
#define SBT_FRAME_LINK	   0x04 /* arm64: the return address is in the link register */
#define SBT_FRAME_THROUGH  0x08 /* a wrapper: stepping out of it does not count */
#define SBT_FRAME_LAST	   0x10 /* no caller is known, or none is wanted */

/*
 * How the caller of a frame is found, for the code at one address: what is needed of DWARF 5, section 6.4, for nearly all
 * code. Bytes.
 */
struct sbt_frame_rule {
	__s32 cfa; /* from the stack pointer */
	__s32 ret; /* where the return address is, from the CFA */
	__s32 fp; /* where the caller's frame pointer is, from the CFA */
	__u32 flags;
};

#define SBT_WORDS_NONE 0xffffffffu

/*
 * OpenMP. SBT_ROLE_REGION: object is the outlined function, words what it is given, index how many values that
 * are (gomp: none, there is one). SBT_ROLE_OUTLINED: object is what it is
 * given, index the thread's number, words a constant: the bytes from the function's start to the probe. A barrier whose
 * object is SBT_ARG_TEAM: words are the flags of libomp's location, in the upper half.
 */

/* What a probe is told: at the index that its cookie gives. */
struct sbt_spec {
	__u8 family; /* enum sbt_family */
	__u8 kind; /* enum sbt_kind */
	__u8 role; /* enum sbt_role */
	__u8 flags; /* SBT_SPEC_* */
	__u32 words_offset; /* pthread: from the object; SBT_WORDS_NONE: `words` says how many meet */
	__u64 probe_group; /* SBT_PROBE_GROUP() of what it is shed with; 0 stands for its family's */
	struct sbt_arg object;
	struct sbt_arg words; /* how many meet, or what it is for the roles and flags above */
	struct sbt_arg index; /* of the thread in its team */
	struct sbt_arg file, line, name; /* markers: how the program calls the place */
	struct sbt_arg
		what; /* markers: loop; of a phase: begin, end or neither; SBT_SPEC_MAKES, SBT_SPEC_REDUCE */
	__u32 rule; /* of the user's, from 1: pairs with the same arguments are told apart */
	__u32 less_one; /* pthread: the object has one less than how many meet, as musl's */
};

#endif /* SBT_PROBE_H */
