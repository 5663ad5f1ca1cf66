/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Functions for all programs that see an arrival: is the thread traced, is it already inside a
 * barrier, and how large is its team?
 */
#ifndef BPF_ARRIVE_H
#define BPF_ARRIVE_H

#include "probe.h"
#include "thread.h"

/*
 * How the departure is seen: at the end of a session (a return probe), at the ret instructions, or
 * at the ret instructions of the second function of a pair.
 */
enum { BY_SESSION, BY_EXIT, BY_END };

/*
 * Return 1 + the index of the slot of a thread that may be new, or 0 if it is not traced. Defined
 * in crossing.bpf.c.
 */
extern int thread_admit(__u32 tgid, __u32 tid);

/*
 * Return the slot of the current thread, if it is traced. @t: the result of thread_find(); @id:
 * tgid << 32 | tid.
 */
static __always_inline struct sbt_thread *thread_traced(__u64 id, struct sbt_thread *t,
							__u32 *index)
{
	__u32 tid = (__u32)id, tgid = id >> 32;
	__u32 slot;

	if (UNLIKELY(armed != ARMED_ALL) && !(armed == ARMED_SELF && tgid == config.self))
		return NULL;
	/*
	 * If t->inc is 0, the slot was taken when the thread was created, and this is its first
	 * crossing.
	 */
	if (LIKELY(t && t->tgid == tgid && t->inc))
		return t->proc_flags & SBT_PROC_EXCLUDED ? NULL : t;
	slot = thread_admit(tgid, tid);
	if (!slot)
		return NULL;
	*index = slot - 1;
	return bpf_map_lookup_elem(&threads, index);
}

static __always_inline struct sbt_thread *thread_here(__u32 *index)
{
	__u64 id = bpf_get_current_pid_tgid();

	return thread_traced(id, thread_find((__u32)id, index), index);
}

/*
 * Return whether the thread is still in the function of its arrival. If so, that function has
 * called the present function, in the same crossing. For example, it is a wrapper, or a barrier
 * made of other barriers. If the function was left by longjmp, called_within() usually notices.
 */
static __noinline MAYBE_UNUSED int still_inside(struct pt_regs *ctx, const struct sbt_thread *t)
{
	if (!ctx || !t || t->entry == PT_REGS_IP(ctx))
		return 0;
	if (t->how & SBT_SPEC_PAIR)
		return 1; /* the crossing of a pair goes on after the first function has returned */
	/* An inlined wait of C++ calls no barrier. */
	if (t->marked)
		return t->family != SBT_FAMILY_STD && PT_REGS_SP(ctx) <= t->sp;
	/*
	 * While the thread waits at the end of a region, all functions that are called belong to
	 * the OpenMP runtime.
	 */
	if (t->team == TEAM_JOIN)
		return PT_REGS_SP(ctx) < t->sp;
	return called_within(ctx, t->entry, t->sp, t->ip);
}

/*
 * Read the words of a barrier. Its count does not change while it exists, and reading it costs a
 * twentieth of a crossing. So the words are kept until some barrier is initialized, unless
 * processes share the barrier. glibc marks shared barriers with 128 in the second word, musl with
 * the sign of the first.
 */
static __always_inline __u16 read_words(struct sbt_thread *t, __u64 object, __u32 words_offset)
{
	__u32 now = epoch;

	t->words_object = 0;
	if (bpf_probe_read_user(&t->words, sizeof(t->words), (void *)(object + words_offset))) {
		t->words = 0;
		return SBT_CROSSING_NO_WORDS;
	}
	if (keep_words && t->words >> 32 != 128 && (__s32)t->words > 0) {
		t->words_object = object;
		t->words_epoch = now;
	}
	return 0;
}

/*
 * Read the size of the team from the barrier object or from an argument, depending on the family.
 */
static __always_inline __u16 words_of(struct pt_regs *ctx, struct sbt_thread *t,
				      const struct sbt_spec *spec, __u32 number, __u64 object)
{
	if (spec->words_offset != SBT_WORDS_NONE) {
		if (t->words_object == object && t->words_epoch == epoch)
			return 0;
		return read_words(t, object, spec->words_offset);
	}
	t->words_object = 0;
	t->words = spec->words.how == SBT_ARG_NONE ? 0 : arg_or(ctx, number, words, 0);
	if (spec->flags & SBT_SPEC_MAKES) {
		t->made = arg_or(ctx, number, what, SBT_WHAT_UNKNOWN);
		return SBT_CROSSING_MAKES;
	}
	return 0;
}

/* --- handler time ----------------------------------------------------------------------------- */

/*
 * Time one arrival in 16, at random. If every 16th arrival were timed, these might all be arrivals
 * at the same call site.
 */
#define IS_HANDLER_TIMED(t) (!(((t)->seq + (t)->tid) * 0x9e3779b1u >> 28))
/* Do not note a longer time (ns). This program does not cause it: the host ran something else. */
#define HANDLER_MAX_NS	    8000

/*
 * Return the time if this arrival is to be timed, else 0. If this function has returned 0,
 * handler_look() also returns 0, and handler_note() notes that the handler time was not measured.
 */
static __always_inline __u64 handler_begin(const struct sbt_thread *t)
{
	return UNLIKELY(IS_HANDLER_TIMED(t)) ? bpf_ktime_get_ns() : 0;
}

static __always_inline __u64 handler_look(__u64 began)
{
	return UNLIKELY(began) ? bpf_ktime_get_ns() : 0;
}

static __always_inline void handler_note(struct sbt_thread *t, __u64 began, __u64 until)
{
	__u64 ns = until - began;

	t->handler_ns = 0;
	if (UNLIKELY(began && ns < HANDLER_MAX_NS))
		t->handler_ns = t->handler_last = ns;
}

#endif /* BPF_ARRIVE_H */
