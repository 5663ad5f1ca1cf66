// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Inputs of the model. Nearly all are crossings: only fields that differ from the thread's last
 * crossing are written, and times are written as differences.
 */
#include <stddef.h>
#include <string.h>

#include "recording/internal.h"

/* --- where time went -------------------------------------------------------------------------- */

/*
 * The fields of struct model_detail. A mask has a bit for each field that is not 0. `known` fields
 * are stored plus 1, so that MODEL_UNKNOWN, their most frequent value, is 0. Append only.
 */
#define DETAIL_EACH(X)                                \
	X(oncpu_ns, true)                             \
	X(inside_oncpu_ns, true)                      \
	X(runq_ns, false)                             \
	X(inside_runq_ns, false)                      \
	X(blocked_ns[MODEL_BLOCKED_LOCK], false)      \
	X(blocked_ns[MODEL_BLOCKED_IO], false)        \
	X(blocked_ns[MODEL_BLOCKED_FAULT], false)     \
	X(blocked_ns[MODEL_BLOCKED_SLEEP], false)     \
	X(blocked_ns[MODEL_BLOCKED_THROTTLED], false) \
	X(blocked_ns[MODEL_BLOCKED_OTHER], false)     \
	X(fault_ns, false)                            \
	X(steal_ns, false)                            \
	X(fault_addr, false)                          \
	X(ran_ns, false)                              \
	X(ran, false)                                 \
	X(switches, false)                            \
	X(migrations, false)                          \
	X(faults, false)                              \
	X(cpus_allowed, false)                        \
	X(inside_ran, false)                          \
	X(block.ns, false)                            \
	X(block.at.key, false)                        \
	X(block.stack, false)                         \
	X(block.doing_ns, false)                      \
	X(block.waker, false)                         \
	X(block.holder, false)                        \
	X(block.culprit, false)                       \
	X(block.reason, false)                        \
	X(block.doing, false)                         \
	X(block.among, false)                         \
	X(block.waited, false)                        \
	X(scaled, false)                              \
	X(unknown, false)                             \
	X(inside_switches, false)                     \
	X(second.ns, false)                           \
	X(second.at.key, false)                       \
	X(second.stack, false)                        \
	X(second.doing_ns, false)                     \
	X(second.waker, false)                        \
	X(second.holder, false)                       \
	X(second.culprit, false)                      \
	X(second.reason, false)                       \
	X(second.doing, false)                        \
	X(second.among, false)                        \
	X(second.waited, false)                       \
	X(interference_ns, false)                     \
	X(inside_interference_ns, false)              \
	X(turn_ns, false)                             \
	X(turn_oncpu_ns, false)                       \
	X(begin_ns, false)                            \
	X(voluntary, false)                           \
	X(blocked_ns[MODEL_BLOCKED_GIL], false)

static const struct {
	uint16_t at;
	uint8_t size;
	bool known;
} detail_fields[] = {
#define DETAIL(name, known) \
	{ offsetof(struct model_detail, name), sizeof(((struct model_detail *)NULL)->name), known },
	DETAIL_EACH(DETAIL)
#undef DETAIL
};

#define DETAIL_FIELDS (sizeof(detail_fields) / sizeof(detail_fields[0]))
#define KNOWN_FIELDS  2 /* the first fields are `known`: if absent, they are MODEL_UNKNOWN */

_Static_assert(DETAIL_FIELDS < 64, "a mask has one bit for each field");

#define ONE_BYTE(member, ...) char member;
struct byte_per_part {
	SBT_PARTS(ONE_BYTE, )
};
_Static_assert(DETAIL_FIELDS == 44 + sizeof(struct byte_per_part),
	       "append a row for a new part of sbt/parts.h");

static uint64_t field_get(const struct model_detail *d, size_t i)
{
	const void *at = (const char *)d + detail_fields[i].at;
	uint64_t v;

	switch (detail_fields[i].size) {
	case 1:
		v = *(const uint8_t *)at;
		break;
	case 4:
		v = *(const uint32_t *)at;
		break;
	default:
		v = *(const uint64_t *)at;
	}
	return detail_fields[i].known ? v + 1 : v;
}

/* Return false if the value does not fit. */
static bool field_set(struct model_detail *d, size_t i, uint64_t v)
{
	void *at = (char *)d + detail_fields[i].at;

	v = detail_fields[i].known ? v - 1 : v;
	switch (detail_fields[i].size) {
	case 1:
		*(uint8_t *)at = (uint8_t)v;
		return v <= UINT8_MAX;
	case 4:
		*(uint32_t *)at = (uint32_t)v;
		return v <= UINT32_MAX;
	default:
		*(uint64_t *)at = v;
		return true;
	}
}

static void bound_block(struct model_block *b)
{
	if (b->reason >= MODEL_BLOCKED_REASONS)
		b->reason = MODEL_BLOCKED_OTHER;
	if (b->doing >= MODEL_DOING_BLOCKED + MODEL_BLOCKED_REASONS)
		b->doing = MODEL_DOING_UNKNOWN;
	if (b->waited > MODEL_WAITED_WAKER)
		b->waited = MODEL_WAITED_UNKNOWN;
}

/* Limit values that other files use as array indices. */
static void bound_detail(struct model_detail *d)
{
	bound_block(&d->block);
	bound_block(&d->second);
	if (d->ncounters > MODEL_COUNTERS_MAX)
		d->ncounters = MODEL_COUNTERS_MAX;
}

/*
 * This function does not loop over the table, because it runs for each crossing and must be fast.
 */
static uint64_t detail_mask(const struct model_detail *d)
{
	uint64_t mask = 0;
	unsigned int bit = 0;

#define DETAIL(name, known) mask |= (uint64_t)(d->name != ((known) ? MODEL_UNKNOWN : 0)) << bit++;
	DETAIL_EACH(DETAIL)
#undef DETAIL
	return mask;
}

static void code_detail(struct coder *c, struct model_detail *d)
{
	uint64_t mask = c->writing ? detail_mask(d) : 0, left, v = 0;
	size_t i;

	if (!c->writing)
		memset(d, 0, offsetof(struct model_detail, counters));
	for (i = 0; !c->writing && i < KNOWN_FIELDS; i++)
		field_set(d, i, 0);
	code_u64(c, &mask);
	for (left = mask; left; left &= left - 1) {
		i = (size_t)__builtin_ctzll(left);
		if (c->writing)
			v = field_get(d, i);
		code_u64(c, &v);
		/* Skip fields of a later version. */
		if (!c->writing && i < DETAIL_FIELDS && !field_set(d, i, v))
			c->failed = true;
	}
	code_u32(c, &d->ncounters);
	if (!c->writing)
		bound_detail(d);
	for (i = 0; i < d->ncounters; i++) {
		code_u64(c, &d->counters[i]);
		code_u64(c, &d->inside_counters[i]);
	}
}

/* --- crossings -------------------------------------------------------------------------------- */

/* Bits for the members that differ from the thread's last crossing. Append only. */
#define DIFFERS_SITE	0x001
#define DIFFERS_COUNT	0x002
#define DIFFERS_OBJECT	0x004
#define DIFFERS_SHARED	0x008
#define DIFFERS_WHAT	0x010 /* the family, kind or depth differs */
#define DIFFERS_FLAGS	0x020
#define DIFFERS_PLACE	0x040
#define DIFFERS_REST	0x080
#define DIFFERS_ARRIVED 0x100 /* the CPU of the arrival */
#define DIFFERS_LEFT	0x200 /* the departure is on another CPU than the arrival */
#define DIFFERS_SEQ	0x400 /* the crossing's number is not the next one */
#define HAS_DETAIL	0x800
#define NO_DEPARTURE	0x1000
#define DIFFERS_UNIT	0x2000
#define DIFFERS_ROUND	0x4000
#define DIFFERS_HOW	0x8000 /* how the departure was found: FLAGS_HOW */

/* Flags that are in a byte of their own. */
#define FLAGS_HOW	(MODEL_CROSSING_INFERRED | MODEL_CROSSING_UNTIMED)
#define FLAGS_HOW_SHIFT 9

static uint64_t differences(const struct model_crossing *last, const struct model_crossing *x)
{
	return (x->site != last->site ? DIFFERS_SITE : 0) |
	       (x->count != last->count ? DIFFERS_COUNT : 0) |
	       (x->object != last->object ? DIFFERS_OBJECT : 0) |
	       (x->shared != last->shared ? DIFFERS_SHARED : 0) |
	       (x->family != last->family || x->kind != last->kind || x->depth != last->depth
			? DIFFERS_WHAT
			: 0) |
	       ((x->flags ^ last->flags) & ~FLAGS_HOW ? DIFFERS_FLAGS : 0) |
	       ((x->flags ^ last->flags) & FLAGS_HOW ? DIFFERS_HOW : 0) |
	       (x->place != last->place ? DIFFERS_PLACE : 0) |
	       (x->rest != last->rest ? DIFFERS_REST : 0) |
	       (x->arrive_cpu != last->arrive_cpu ? DIFFERS_ARRIVED : 0) |
	       (x->depart_cpu != x->arrive_cpu ? DIFFERS_LEFT : 0) |
	       (x->seq != last->seq + 1 ? DIFFERS_SEQ : 0) | (x->detail ? HAS_DETAIL : 0) |
	       (x->depart_ns == MODEL_UNKNOWN ? NO_DEPARTURE : 0) |
	       (x->probe_group != last->probe_group ? DIFFERS_UNIT : 0) |
	       (x->round != last->round ? DIFFERS_ROUND : 0);
}

/*
 * A crossing with MODEL_CROSSING_TEAM never has MODEL_CROSSING_BOUND, so in a recording both flags
 * together mean MODEL_CROSSING_JOINS.
 */
#define FLAGS_JOINS (MODEL_CROSSING_TEAM | MODEL_CROSSING_BOUND)

/*
 * In a recording, the flags without FLAGS_HOW are one byte. All of them but MODEL_CROSSING_JOINS
 * have the same bits as in struct model_crossing.
 */
static void code_flags(struct coder *c, uint16_t *flags)
{
	uint8_t byte = (uint8_t)(*flags | (*flags & MODEL_CROSSING_JOINS ? FLAGS_JOINS : 0));
	uint16_t how = *flags & FLAGS_HOW;

	code_u8(c, &byte);
	*flags = byte | how;
	if ((byte & FLAGS_JOINS) == FLAGS_JOINS)
		*flags ^= MODEL_CROSSING_JOINS | MODEL_CROSSING_BOUND;
}

static void code_how(struct coder *c, uint16_t *flags)
{
	uint8_t how = (uint8_t)(*flags >> FLAGS_HOW_SHIFT);

	code_u8(c, &how);
	*flags = (uint16_t)((*flags & ~FLAGS_HOW) | (how << FLAGS_HOW_SHIFT & FLAGS_HOW));
}

void code_crossing(struct coder *c, struct contents_thread *t, struct model_crossing *x,
		   struct model_detail *d, bool *detailed)
{
	uint64_t differs = c->writing ? differences(&t->last, x) : 0,
		 round = c->writing ? x->round : 0;

	code_u64(c, &differs);
	if (!c->writing) {
		*x = t->last;
		x->seq++;
		x->detail = NULL;
	}
	code_delta(c, &x->first_ns, t->left_ns);
	if (differs & NO_DEPARTURE)
		x->depart_ns = MODEL_UNKNOWN;
	else
		code_delta(c, &x->depart_ns, x->first_ns);
	if (differs & DIFFERS_SEQ)
		code_u32(c, &x->seq);
	if (differs & DIFFERS_SITE)
		code_u32(c, &x->site);
	if (differs & DIFFERS_COUNT)
		code_u32(c, &x->count);
	if (differs & DIFFERS_OBJECT)
		code_delta(c, &x->object, t->last.object);
	if (differs & DIFFERS_SHARED)
		code_u64(c, &x->shared);
	if (differs & DIFFERS_WHAT) {
		code_u8(c, &x->family);
		code_u8(c, &x->kind);
		code_u8(c, &x->depth);
	}
	if (differs & DIFFERS_FLAGS)
		code_flags(c, &x->flags);
	if (differs & DIFFERS_PLACE)
		code_u16(c, &x->place);
	if (differs & DIFFERS_REST)
		code_u16(c, &x->rest);
	if (differs & DIFFERS_ARRIVED)
		code_u16(c, &x->arrive_cpu);
	if (differs & DIFFERS_LEFT)
		code_u16(c, &x->depart_cpu);
	else
		x->depart_cpu = x->arrive_cpu;
	*detailed = differs & HAS_DETAIL;
	if (*detailed)
		code_detail(c, d);
	if (differs & DIFFERS_UNIT)
		code_u8(c, &x->probe_group);
	if (differs & DIFFERS_ROUND) {
		code_delta(c, &round, t->last.round);
		x->round = (uint32_t)round;
	}
	if (differs & DIFFERS_HOW)
		code_how(c, &x->flags);
	t->last = *x;
	t->last.detail = NULL;
	t->left_ns = x->depart_ns == MODEL_UNKNOWN ? x->first_ns : x->depart_ns;
}

/* --- the rest --------------------------------------------------------------------------------- */

/* The arguments of an input in the file's form: all types have the same fields, 0 if unused. */
struct written {
	bool flag;
	uint32_t tid, high, low;
	uint64_t number;
	const char *comm;
	const struct model_detail *detail;
};

#define MOVE(file, argument)                 \
	do {                                 \
		if (writing)                 \
			(file) = (argument); \
		else                         \
			(argument) = (file); \
	} while (0)

static void move_halves(bool writing, uint32_t *high, uint32_t *low, uint64_t *argument)
{
	if (writing) {
		*high = (uint32_t)(*argument >> 32);
		*low = (uint32_t)*argument;
	} else {
		*argument = (uint64_t)*high << 32 | *low;
	}
}

static void move_detached(bool writing, struct written *w, struct model_input *in)
{
	uint64_t shares = (uint64_t)in->detached.cost_ppm << 32 | in->detached.limit_ppm;

	MOVE(w->number, shares);
	in->detached.cost_ppm = (uint32_t)(shares >> 32);
	in->detached.limit_ppm = (uint32_t)shares;
	MOVE(w->high, in->detached.because);
	MOVE(w->flag, in->detached.probed);
	if (in->type == MODEL_INPUT_DETACHED_PART)
		move_halves(writing, &w->tid, &w->low, &in->detached.probe_groups);
	else
		in->detached.probe_groups = MODEL_DETACHED_WHOLE;
}

/* Copy the arguments of @in to @w if @writing, else from @w to @in. */
static void move_arguments(bool writing, struct written *w, struct model_input *in)
{
	if (in->type != MODEL_INPUT_DETACHED_PART)
		MOVE(w->tid, in->tid);
	switch (in->type) {
	case MODEL_INPUT_PROCESS:
		MOVE(w->high, in->process.parent_tgid);
		MOVE(w->low, in->process.parent_inc);
		MOVE(w->flag, in->process.seen);
		MOVE(w->comm, in->process.comm);
		break;
	case MODEL_INPUT_FOUND:
		MOVE(w->number, in->found.inside);
		break;
	case MODEL_INPUT_END_THREAD:
		MOVE(w->comm, in->end_thread.comm);
		break;
	case MODEL_INPUT_NAME:
		MOVE(w->comm, in->name.comm);
		break;
	case MODEL_INPUT_TAIL:
		MOVE(w->detail, in->tail.detail);
		break;
	case MODEL_INPUT_PENDING:
		MOVE(w->number, in->pending.object);
		break;
	case MODEL_INPUT_DETACHED:
	case MODEL_INPUT_DETACHED_PART:
		move_detached(writing, w, in);
		break;
	case MODEL_INPUT_JOINED:
		MOVE(w->number, in->joined.for_ns);
		move_halves(writing, &w->high, &w->low, &in->joined.after_ns);
		break;
	case MODEL_INPUT_PROGRAM:
		MOVE(w->number, in->program.program);
		break;
	default:
		break;
	}
}

void code_input(struct coder *c, struct model_input *in, char comm[16], struct model_detail *d)
{
	struct written w = { 0 };
	bool named, detailed;

	if (c->writing)
		move_arguments(true, &w, in);
	named = w.comm;
	detailed = w.detail;
	code_u8(c, &in->type);
	code_bool(c, &w.flag);
	code_u32(c, &in->tgid);
	code_u32(c, &in->inc);
	code_u32(c, &w.tid);
	code_u32(c, &w.high);
	code_u32(c, &w.low);
	code_u64(c, &in->t_ns);
	code_u64(c, &w.number);
	code_bool(c, &named);
	/* When writing, the string is only read, so the cast is safe. */
	if (named)
		code_name(c, c->writing ? (char *)(uintptr_t)w.comm : comm, 16);
	code_bool(c, &detailed);
	if (detailed)
		code_detail(c, c->writing ? (struct model_detail *)(uintptr_t)w.detail : d);
	if (c->writing)
		return;
	w.comm = named ? comm : NULL;
	w.detail = detailed ? d : NULL;
	move_arguments(false, &w, in);
}

void code_message(struct coder *c, struct model_message *m)
{
	code_u32(c, &m->tgid);
	code_u32(c, &m->inc);
	code_u32(c, &m->tid);
	code_u64(c, &m->t_ns);
	code_u64(c, &m->oncpu_ns);
	code_u32(c, &m->owner);
	code_u32(c, &m->bytes);
	code_bool(c, &m->write);
}

void code_sample(struct coder *c, struct model_sample *s)
{
	code_u32(c, &s->tgid);
	code_u32(c, &s->inc);
	code_u32(c, &s->tid);
	code_u64(c, &s->t_ns);
	code_u64(c, &s->stack);
}

static void code_waker(struct coder *c, struct model_waker *w)
{
	code_u32(c, &w->tid);
	code_u32(c, &w->waits);
	code_u64(c, &w->ns);
	code_u64(c, &w->stack);
}

/* Code the threads that ended the thread's waits. Older recordings end before them. */
static void code_wakers(struct coder *c, struct model_activity *a)
{
	uint32_t i;

	if (!c->writing && coder_at_end(c)) {
		a->nwakers = 0;
		a->woken_more = 0;
		return;
	}
	code_u32(c, &a->nwakers);
	if (a->nwakers > MODEL_WAKERS) {
		a->nwakers = 0;
		c->failed = true;
	}
	for (i = 0; i < a->nwakers; i++)
		code_waker(c, &a->wakers[i]);
	code_u64(c, &a->woken_more);
}

void code_activity(struct coder *c, struct model_activity *a, struct model_detail *d,
		   bool *detailed)
{
	code_u32(c, &a->tgid);
	code_u32(c, &a->inc);
	code_u32(c, &a->tid);
	code_u64(c, &a->end_ns);
	*detailed = c->writing && a->detail;
	code_bool(c, detailed);
	if (*detailed)
		code_detail(c, d);
	code_wakers(c, a);
}

void code_mark(struct coder *c, struct model_mark *m, struct model_detail *d, bool *detailed)
{
	code_u32(c, &m->tgid);
	code_u32(c, &m->inc);
	code_u32(c, &m->site);
	code_bool(c, &m->begins);
	code_u32(c, &m->tid);
	code_u32(c, &m->seq);
	code_u64(c, &m->t_ns);
	*detailed = c->writing && m->detail;
	code_bool(c, detailed);
	if (*detailed)
		code_detail(c, d);
}
