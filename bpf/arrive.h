/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/* What all who see a thread arrive have in common: whether it is traced, is inside already, and how many meet. */
#ifndef BPF_ARRIVE_H
#define BPF_ARRIVE_H

#include "probe.h"
#include "thread.h"

/* How a departure is seen. */
enum { BY_SESSION, BY_EXIT, BY_END };

/* In crossing.bpf.c. */
extern int thread_admit(__u32 tgid, __u32 tid);

/* The slot of the thread that runs, if it is traced: @t is what thread_find() said of it, tgid << 32 | tid. */
static __always_inline struct sbt_thread *thread_traced(__u64 id, struct sbt_thread *t,
							__u32 *index)
{
	__u32 tid = (__u32)id, tgid = id >> 32;
	__u32 slot;

	if (UNLIKELY(armed != ARMED_ALL) && !(armed == ARMED_SELF && tgid == config.self))
		return NULL;
	/* A slot without incarnation was taken when its thread was made. */
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
 * Is the thread still in the function that it came in by? Then this one is called from there (a wrapper, a barrier made
 * of others), and part of the same crossing. What was left by longjmp has been overwritten by then, as a rule.
 */
static __noinline MAYBE_UNUSED int still_inside(struct pt_regs *ctx, const struct sbt_thread *t)
{
	if (!ctx || !t || t->entry == PT_REGS_IP(ctx))
		return 0;
	if (t->how & SBT_SPEC_PAIR)
		return 1; /* the first of two functions may have returned */
	/* A wait of C++ that was put in line calls no barrier. */
	if (t->marked)
		return t->family != SBT_FAMILY_STD && PT_REGS_SP(ctx) <= t->sp;
	/* The end of a region is the runtime's: whatever it calls there. */
	if (t->team == TEAM_JOIN)
		return PT_REGS_SP(ctx) < t->sp;
	return called_within(ctx, t->entry, t->sp, t->ip);
}

/*
 * The count of a barrier does not change while it lives, and to read it costs a twentieth of a crossing: it is
 * kept until any barrier is made, unless processes share it. glibc marks such with 128 in the second
 * word, musl with the sign of the first.
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

/* How many meet, from where the family has it. */
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

/* --- what it takes us ------------------------------------------------------------------------------------ */

/* One arrival in 16, by chance: what comes by turns, or first in each thread, would be told of alone. */
#define IS_SPENT_TIMED(t) (!(((t)->seq + (t)->tid) * 0x9e3779b1u >> 28))
/* What takes longer was not this program, but the host that ran something else. */
#define SPENT_MOST	  8000

/* When the program began, if this arrival is to be timed; else 0, which handler_look() and handler_note() keep. */
static __always_inline __u64 handler_begin(const struct sbt_thread *t)
{
	return UNLIKELY(IS_SPENT_TIMED(t)) ? bpf_ktime_get_ns() : 0;
}

static __always_inline __u64 handler_look(__u64 began)
{
	return UNLIKELY(began) ? bpf_ktime_get_ns() : 0;
}

static __always_inline void handler_note(struct sbt_thread *t, __u64 began, __u64 until)
{
	__u64 ns = until - began;

	t->handler_ns = 0;
	if (UNLIKELY(began && ns < SPENT_MOST))
		t->handler_ns = t->handler_last = ns;
}

#endif /* BPF_ARRIVE_H */
