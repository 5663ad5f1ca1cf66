/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/* Threads of Python programs: what they wait at, as the frames of the interpreter show. */
#ifndef BPF_PYTHON_H
#define BPF_PYTHON_H

#include "maps.h"

/* The interpreter of a thread's process, or NULL. */
static __always_inline const struct sbt_python *python_of(const struct sbt_thread *t)
{
	__u32 tgid = t->tgid;
	const struct sbt_python *py = bpf_map_lookup_elem(&pythons, &tgid);

	/* A thread without crossings does not know the incarnation of its process. */
	return py && (!t->inc || py->inc == t->inc) ? py : NULL;
}

static __always_inline __u64 python_word(__u64 at)
{
	__u64 word = 0;

	bpf_probe_read_user(&word, sizeof(word), (void *)at);
	return word;
}

static __always_inline bool is_python_family(__u8 family)
{
	return family == SBT_FAMILY_PYTHON || family == SBT_FAMILY_PYTHON_COND;
}

#define PYTHON_GROUPS (SBT_PROBE_GROUP(SBT_FAMILY_PYTHON) | SBT_PROBE_GROUP(SBT_FAMILY_PYTHON_COND))

/* Return the innermost frame, or the C frame on top of it, of a thread with this state. */
static __always_inline __u64 python_first_frame(const struct sbt_python *py, __u64 state)
{
	__u64 frame = python_word(state + py->layout.state_frame);

	return py->layout.by_cframe ? python_word(frame + py->layout.cframe) : frame;
}

/* Return the distance of the frame's instruction from the first one of @code in bytes. */
static __always_inline __u32 python_frame_at(const struct sbt_python *py, __u64 code, __u64 frame)
{
	__u32 index = 0;

	if (py->layout.first_instr)
		return python_word(frame + py->layout.instr) - code - py->layout.first_instr;
	bpf_probe_read_user(&index, sizeof(index), (void *)(frame + py->layout.instr));
	return py->layout.minor >= 10 ? 2 * index : index;
}

/* Return whether the frame is that of a C function, which executes no Python code. */
static __always_inline bool python_is_c_frame(const struct sbt_python *py, __u64 frame)
{
	__u8 owner = 0;

	if (py->layout.owner)
		bpf_probe_read_user(&owner, sizeof(owner), (void *)(frame + py->layout.owner));
	return owner >= SBT_PYTHON_OWNER_C;
}

/*
 * Find the interpreter's state of the current thread, which has slot @index, and store it in the
 * slot. Return 1, or 0 if it is not known and the thread is not the last holder of the GIL. Defined
 * in python.bpf.c.
 */
extern int python_own_state(__u32 index);

/*
 * Return the number of the function with code object @code (sbt_python_at.function), which the
 * current thread executes; 0: unknown. If the function has not been sent to user space yet and
 * there is room, send it. The thread has slot @index. @t_ns: the time in the record. Defined in
 * python.bpf.c.
 */
extern int python_function(__u32 index, __u64 code, __u64 t_ns);

/*
 * Return whether the futex that the current thread, which has slot @index, waits at belongs to the
 * GIL. If so, set the members of `python` in the slot that say which thread holds the GIL, and in
 * which function: `holder` and `native`, `code` (the GIL itself if unknown), `label` (0: unknown).
 * Defined in python.bpf.c.
 */
extern int python_gil_wait(__u32 index, __u64 futex);

/*
 * Set the label in the slot of the current thread, which has slot @index, to the Python function
 * and line that it executes. Return 1, or 0 if they are unknown. Defined in python.bpf.c.
 */
extern int python_wait_place(__u32 index);

/*
 * Read the Python frames of the current thread, which has slot @index, into the member `python` of
 * the slot. Return 1 if they show a call that is reported, else 0. Global, so that the verifier
 * checks it once in each program. Defined in python.bpf.c.
 */
extern int python_look(__u32 index, __u32 tid);

/*
 * The current thread, which has slot @index, wakes all threads at the condition that the member
 * `python` names. If it is not known to be a barrier, write the wake-up as a candidate, unless it
 * is known to be none, and return 1. Else return 0. Defined in discover.bpf.c.
 */
extern int python_condition_wake(__u32 index);

#endif /* BPF_PYTHON_H */
