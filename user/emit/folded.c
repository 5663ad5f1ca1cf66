// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/folded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/cause.h"
#include "analyse/places.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/number.h"
#include "base/text.h"
#include "emit/buf.h"
#include "sites/site.h"

enum part {
	ONCPU,
	RUNQ,
	BLOCKED,
	UNATTRIBUTED = BLOCKED + MODEL_BLOCKED_REASONS,
	WORK, /* work with unknown parts */
	WAIT,
	LEAVE,
	PARTS
};

static const char *const part_names[PARTS] = {
	[ONCPU] = "on CPU",
	[RUNQ] = "run queue",
	[BLOCKED + MODEL_BLOCKED_LOCK] = "blocked: lock",
	[BLOCKED + MODEL_BLOCKED_IO] = "blocked: I/O",
	[BLOCKED + MODEL_BLOCKED_FAULT] = "blocked: page fault",
	[BLOCKED + MODEL_BLOCKED_SLEEP] = "blocked: sleep",
	[BLOCKED + MODEL_BLOCKED_THROTTLED] = "blocked: throttled",
	[BLOCKED + MODEL_BLOCKED_OTHER] = "blocked: other",
	[BLOCKED + MODEL_BLOCKED_GIL] = "blocked: GIL",
	[UNATTRIBUTED] = "unattributed",
	[WORK] = "work",
	[WAIT] = "wait",
	[LEAVE] = "leave",
};

/* A thread, and the part of its time that has no line yet. */
struct left {
	const struct report_process *process;
	const struct report_thread *thread;
	uint64_t ns[PARTS];
};

struct folded {
	FILE *file;
	struct buf buf;
	struct left *left;
	uint32_t nleft;
	struct hash by_tid; /* tid -> pointer into .left */
	int err; /* first error */
};

static void take_parts(const struct report_thread *t, uint64_t ns[PARTS])
{
	const struct report_parts *p = &t->parts;
	uint64_t known;
	int i;

	memset(ns, 0, PARTS * sizeof(*ns));
	if (p->oncpu_ns != REPORT_UNKNOWN) {
		ns[ONCPU] = p->oncpu_ns;
		ns[RUNQ] = p->runq_ns;
		ns[UNATTRIBUTED] = p->unattributed_ns;
		known = p->oncpu_ns + p->runq_ns + p->unattributed_ns;
		for (i = 0; i < MODEL_BLOCKED_REASONS; i++) {
			ns[BLOCKED + i] = p->blocked_ns[i];
			known += p->blocked_ns[i];
		}
		if (t->work_ns != REPORT_UNKNOWN)
			ns[WORK] = number_less(t->work_ns, known);
	} else if (t->work_ns != REPORT_UNKNOWN) {
		ns[WORK] = t->work_ns;
	}
	ns[WAIT] = t->wait_ns;
	ns[LEAVE] = t->idle_ns == REPORT_UNKNOWN ? 0 : number_less(t->idle_ns, t->wait_ns);
}

/* Add a frame's name. A semicolon ends a frame, so the name must not contain one. */
static void put_frame(struct buf *b, const char *name)
{
	char *safe = text_printable(name && *name ? name : "?"), *c;

	if (!safe) {
		b->failed = true;
		return;
	}
	for (c = safe; *c; c++)
		if (*c == ';')
			*c = ',';
	buf_str(b, safe);
	free(safe);
}

static void put_stack(struct folded *f, const struct left *l, const char *place,
		      const uint64_t ns[PARTS])
{
	unsigned i;

	for (i = 0; i < PARTS; i++) {
		if (!ns[i])
			continue;
		put_frame(&f->buf, l->process->comm);
		buf_printf(&f->buf, " (%u);", l->process->pid);
		if (l->thread->index != MODEL_NONE)
			buf_printf(&f->buf, "%u ", l->thread->index);
		put_frame(&f->buf, l->thread->comm);
		buf_printf(&f->buf, " (%u);", l->thread->tid);
		put_frame(&f->buf, place);
		buf_printf(&f->buf, ";%s %" PRIu64 "\n", part_names[i], ns[i]);
	}
}

static uint32_t count_threads(const struct report *r)
{
	uint32_t n = 0;

	array_for_each (p, r->processes, r->nprocesses)
		n += p->nmembers;
	return n;
}

/* Take all times of the threads. Times at barriers are subtracted later. */
static int take_threads(struct folded *f, const struct report *r)
{
	uint32_t k;
	int err = 0;

	array_for_each (p, r->processes, r->nprocesses) {
		for (k = 0; k < p->nmembers && !err; k++) {
			struct left *l = &f->left[f->nleft++];

			l->process = p;
			l->thread = &p->members[k];
			take_parts(l->thread, l->ns);
			err = hash_put_ptr(&f->by_tid, l->thread->tid, l);
		}
	}
	return err;
}

/*
 * Write the lines of a barrier. A thread that is no longer in its process's list is known only from
 * the barrier.
 */
static void put_barrier(struct folded *f, const struct report_barrier *b)
{
	struct report_process process = { .pid = b->pid, .comm = b->comm };
	struct left alone = { .process = &process }, *l;
	uint64_t ns[PARTS];
	uint32_t k;

	array_for_each (t, b->threads, b->nthreads) {
		take_parts(t, ns);
		l = hash_get_ptr(&f->by_tid, t->tid);
		alone.thread = t;
		put_stack(f, l ? l : &alone, b->label, ns);
		for (k = 0; k < PARTS && l; k++)
			l->ns[k] = number_less(l->ns[k], ns[k]);
	}
	f->err = buf_write(&f->buf, f->file);
}

int folded_print(FILE *file, const struct report *r)
{
	struct left *left = calloc(count_threads(r) + 1u, sizeof(*left));
	struct folded f = { .file = file, .left = left };
	uint32_t i;

	if (!left)
		return -ENOMEM;
	hash_init(&f.by_tid);
	f.err = take_threads(&f, r);
	for (i = 0; i < r->nbarriers && !f.err; i++)
		if (!r->barriers[i].nested)
			put_barrier(&f, &r->barriers[i]);
	for (i = 0; i < f.nleft && !f.err; i++) {
		put_stack(&f, &left[i], "(after the last barrier, or not complete)", left[i].ns);
		f.err = buf_write(&f.buf, file);
	}
	if (!f.err)
		f.err = buf_flush(file);
	free(left);
	hash_free(&f.by_tid);
	buf_free(&f.buf);
	return f.err;
}

/* --- stacks of samples ------------------------------------------------------------------------ */

struct stacks {
	struct buf buf;
	const struct report_env *env;
	const struct report_barrier *barrier;
	bool late;
};

/* Add the functions of a call site, the outermost first: it may have been inlined. */
static void put_site(struct stacks *s, uint32_t site)
{
	const struct site_name *name = s->env->site ? s->env->site(s->env->ctx, site) : NULL;
	char place[96];
	uint32_t i;

	if (!name || !name->nframes) {
		snprintf(place, sizeof(place), "%.64s+0x%" PRIx64,
			 name && name->module ? text_base_name(name->module) : "unknown code",
			 name ? name->offset : 0);
		buf_char(&s->buf, ';');
		put_frame(&s->buf, place);
		return;
	}
	for (i = name->nframes; i; i--) {
		buf_char(&s->buf, ';');
		put_frame(&s->buf, name->frames[i - 1].function);
	}
}

static void put_sampled(struct stacks *s, const struct places_stack *stack, bool spin)
{
	uint32_t i;

	put_frame(&s->buf, s->barrier->comm);
	buf_printf(&s->buf, " (%u);", s->barrier->pid);
	put_frame(&s->buf, s->barrier->label);
	if (spin)
		buf_str(&s->buf, ";spinning in the barrier");
	if (!stack->n)
		buf_str(&s->buf, ";[unknown]");
	for (i = stack->n; i; i--)
		put_site(s, stack->sites[i - 1]);
	if (s->late)
		buf_printf(&s->buf, " %" PRIu64 " %" PRIu64 "\n", stack->reference_ns,
			   stack->last_ns);
	else
		buf_printf(&s->buf, " %" PRIu64 "\n", spin ? stack->spin_ns : stack->work_ns);
}

static void each_stack(void *ctx, const struct places_stack *stack)
{
	struct stacks *s = ctx;

	if (s->late) {
		if (stack->last_ns || stack->reference_ns)
			put_sampled(s, stack, false);
		return;
	}
	if (stack->work_ns)
		put_sampled(s, stack, false);
	if (stack->spin_ns)
		put_sampled(s, stack, true);
}

int folded_stacks(FILE *file, const struct report *r, const struct report_env *env, bool late)
{
	struct stacks s = { .env = env, .late = late };
	uint32_t i;
	int err = 0;

	for (i = 0; env->causes && i < r->nbarriers && !err; i++) {
		s.barrier = &r->barriers[i];
		places_each_stack(causes_places(env->causes), s.barrier->index, each_stack, &s);
		err = buf_write(&s.buf, file);
	}
	if (!err)
		err = buf_flush(file);
	buf_free(&s.buf);
	return err;
}
