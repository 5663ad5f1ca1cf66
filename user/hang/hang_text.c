// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* What is known of a hang, in words. */
#include "hang/hang_internal.h"

#include <stdio.h>
#include <string.h>

#define WHO_BYTES   96
#define PLACE_BYTES 256
#define SAY_CHAIN   4 /* links of a chain that are told */
#define SAY_NAMED   3 /* threads that are called by name */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool hang_is_runtime(const char *module)
{
	static const char *const begins[] = {
		"libc.so",     "libc-",		 "ld-",	    "libpthread", "libstdc++",
		"libc++",      "mca_",		 "libpmi",  "libpmix",	  "libhwloc",
		"libgomp",     "libomp",	 "libiomp", "libmpi",	  "libopen-pal",
		"libopen-rte", "libucs",	 "libucp",  "libuct",	  "libfabric",
		"libevent",    "libgcc_s",	 "ld.so",   "ld-musl",	  "[vdso]",
		"[uprobes]",   "libboost_thread"
	};
	size_t i;

	module = base_of(module);
	for (i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(module, begins[i], strlen(begins[i])))
			return true;
	return false;
}

const char *hang_preposition(const char *words)
{
	return strstr(words, "()") || !strncmp(words, "sleep", 5) ||
			       !strncmp(words, "system call", 11)
		       ? "in"
		       : "on";
}

const struct hang_frame *hang_user_frame(const struct hang_frame *frames, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (frames[i].module && !hang_is_runtime(frames[i].module) &&
		    !(frames[i].function && !strncmp(frames[i].function, "std::", 5)))
			return &frames[i];
	return n ? &frames[0] : NULL;
}

/* @numbers: the number that the system knows it by, too. */
static void say_number(const struct graph *g, uint32_t pid, uint32_t tid, uint32_t index,
		       bool is_rank, bool numbers, char out[WHO_BYTES])
{
	if (index != HANG_NONE && is_rank && numbers)
		snprintf(out, WHO_BYTES, "rank %u (pid %u)", index, pid);
	else if (index != HANG_NONE && is_rank)
		snprintf(out, WHO_BYTES, "rank %u", index);
	else if (index != HANG_NONE && numbers)
		snprintf(out, WHO_BYTES, "thread %u (tid %u)", index, tid);
	else if (index != HANG_NONE)
		snprintf(out, WHO_BYTES, "thread %u", index);
	else if (tid == pid && g->several)
		snprintf(out, WHO_BYTES, "process %u", pid);
	else if (g->several && numbers)
		snprintf(out, WHO_BYTES, "thread %u of process %u", tid, pid);
	else if (tid == pid && numbers)
		snprintf(out, WHO_BYTES, "the main thread (tid %u)", tid);
	else if (tid == pid)
		snprintf(out, WHO_BYTES, "the main thread");
	else
		snprintf(out, WHO_BYTES, "thread %u", tid);
}

static void say_thread(const struct graph *g, uint32_t i, bool numbers, char out[WHO_BYTES])
{
	const struct hang_thread *t = &g->in->threads[i];

	say_number(g, t->pid, t->tid, t->index, t->ranked, numbers, out);
}

static void say_tid(const struct graph *g, uint32_t tid, bool numbers, char out[WHO_BYTES])
{
	uint32_t i = graph_thread(g, tid);

	if (i != HANG_NONE)
		say_thread(g, i, numbers, out);
	else
		snprintf(out, WHO_BYTES, "thread %u", tid);
}

static void say_candidate(const struct graph *g, const struct candidate *c, char out[WHO_BYTES])
{
	if (c->thread != HANG_NONE && (!c->member || g->in->threads[c->thread].index != HANG_NONE))
		say_thread(g, c->thread, true, out);
	else if (c->member)
		say_number(g, c->member->pid, c->member->tid, c->member->index, c->member->ranked,
			   true, out);
	else
		snprintf(out, WHO_BYTES, "a thread");
}

void say_barrier(const struct hang_barrier *b, char *out, size_t size)
{
	const struct hang_frame *s = &b->site;

	if (b->call) {
		snprintf(out, size, s->file && s->line ? "%s at %s:%u" : "%s", b->call,
			 s->file ? base_of(s->file) : "", s->line);
		return;
	}
	if (b->name && *b->name && s->file && s->line)
		snprintf(out, size, "the barrier \"%s\" at %s:%u", b->name, base_of(s->file),
			 s->line);
	else if (b->name && *b->name)
		snprintf(out, size, "the barrier \"%s\"", b->name);
	else if (s->file && s->line)
		snprintf(out, size, "the barrier at %s:%u", base_of(s->file), s->line);
	else
		snprintf(out, size, "the barrier %s%.*s", *b->label ? "in " : b->id,
			 (int)sizeof(b->label) - 1, b->label);
}

/* A lock's words, or such that fit any. */
static const char *object_of(const struct hang_thread *t)
{
	if (t->object && *t->object)
		return t->object;
	return t->on == HANG_ON_MUTEX ? "a mutex" : "a read-write lock";
}

static bool is_lock(const struct hang_thread *t)
{
	return t->on == HANG_ON_MUTEX || t->on == HANG_ON_RWLOCK;
}

const char *say_blocked(const struct graph *g, uint32_t i)
{
	const struct hang_thread *t = &g->in->threads[i];
	char who[WHO_BYTES], place[PLACE_BYTES];

	if (g->at[i] != HANG_NONE) {
		say_barrier(&g->in->barriers[g->at[i]], place, sizeof(place));
		return arena_printf(g->arena, "%s", place);
	}
	if (t->left)
		return arena_printf(g->arena, "%s", t->left);
	if (t->call && t->on == HANG_ON_MESSAGE && t->holder) {
		say_tid(g, t->holder, false, who);
		return arena_printf(g->arena, "%s for %s", t->call, who);
	}
	if (t->call)
		return arena_printf(g->arena, "%s", t->call);
	if (t->idle && t->state == HANG_BLOCKED)
		return arena_printf(g->arena, "the next parallel region");
	if (t->state != HANG_BLOCKED && t->state != HANG_STOPPED)
		return NULL;
	if (t->state == HANG_BLOCKED && is_lock(t) && t->holder == t->tid)
		return arena_printf(g->arena, "%s, which it holds itself", object_of(t));
	if (t->state == HANG_BLOCKED && t->holder && (is_lock(t) || t->on == HANG_ON_JOIN)) {
		say_tid(g, t->holder, false, who);
		return is_lock(t) ? arena_printf(g->arena, "%s held by %s", object_of(t), who)
				  : arena_printf(g->arena, "the end of %s", who);
	}
	if (t->state == HANG_BLOCKED && t->object && *t->object)
		return arena_printf(g->arena, "%s", t->object);
	return t->waits_for && *t->waits_for ? arena_printf(g->arena, "%s", t->waits_for) : NULL;
}

const char *say_step(const struct graph *g, const struct step *step, const struct step *next)
{
	const struct hang_thread *t = &g->in->threads[step->thread];
	char who[WHO_BYTES], place[PLACE_BYTES];

	if (step->barrier != HANG_NONE) {
		say_barrier(&g->in->barriers[step->barrier], place, sizeof(place));
		return arena_printf(g->arena, "%s", place);
	}
	if (t->call)
		return arena_printf(g->arena, "%s", t->call);
	if (is_lock(t))
		return arena_printf(g->arena, "%s", object_of(t));
	say_thread(g, next->thread, false, who);
	return arena_printf(g->arena, "the end of %s", who);
}

/* --- sentences -------------------------------------------------------------------------------- */

/* The sentence as it grows: not yet printable. */
struct sentence {
	const struct graph *g;
	const struct hang_barrier *b;
	const struct need *need;
	char place[PLACE_BYTES]; /* the barrier */
	char text[1024];
};

#define ADD(s, ...) name_append((s)->text, sizeof((s)->text), __VA_ARGS__)

/* " in MPI_Recv() at x.c:16" */
static void add_call(struct sentence *s, const struct hang_thread *t)
{
	const struct hang_frame *f = t->call_frame < t->nframes ? &t->frames[t->call_frame] : NULL;

	ADD(s, " in %s", t->call);
	if (f && f->file && f->line)
		ADD(s, " at %s:%u", base_of(f->file), f->line);
	else if (f && f->function)
		ADD(s, ", called by %s", f->function);
}

/* What it waits for in MPI, where that is no thread that is known. */
static void add_waits_in_call(struct sentence *s, const struct hang_thread *t)
{
	if (t->on == HANG_ON_COLLECTIVE) {
		ADD(s, " is");
		add_call(s, t);
		ADD(s, s->b->world && t->world
			       ? ", a different collective of that communicator"
			       : ", a different collective (of which communicator is not known)");
		return;
	}
	ADD(s, " waits");
	add_call(s, t);
	if (t->peer != HANG_NONE)
		ADD(s, t->world ? " for rank %u" : " for rank %u of its communicator", t->peer);
	else
		ADD(s, " for a message (whose is not known)");
}

/* " in f() at x.c:3" */
static void add_place(struct sentence *s, const char *comma, const struct hang_thread *t)
{
	const struct hang_frame *f = hang_user_frame(t->frames, t->nframes);

	if (!f)
		return;
	if (f->function)
		ADD(s, "%s in %s%s", comma, f->function, strchr(f->function, '(') ? "" : "()");
	if (f->file && f->line)
		ADD(s, " at %s:%u", base_of(f->file), f->line);
	else if (f->module && !f->function)
		ADD(s, "%s in %s", comma, base_of(f->module));
}

static void add_step(struct sentence *s, const struct step *step, const struct step *next,
		     bool last)
{
	const struct graph *g = s->g;
	const struct hang_thread *t = &g->in->threads[step->thread];
	char who[WHO_BYTES], place[PLACE_BYTES];

	say_thread(g, next->thread, !last, who);
	if (step->barrier != HANG_NONE) {
		say_barrier(&g->in->barriers[step->barrier], place, sizeof(place));
		ADD(s, " waits %s %s for %s", g->in->barriers[step->barrier].call ? "in" : "at",
		    place, who);
	} else if (t->on == HANG_ON_COLLECTIVE) {
		add_waits_in_call(s, t);
	} else if (t->on == HANG_ON_MESSAGE) {
		ADD(s, " waits");
		add_call(s, t);
		ADD(s, " for %s", who);
	} else if (!is_lock(t)) {
		ADD(s, " waits for the end of %s", who);
	} else if (step->thread == next->thread) {
		ADD(s, " waits for %s, which it holds itself", object_of(t));
	} else {
		ADD(s, " waits for %s held by %s", object_of(t), who);
	}
}

static bool in_cycle(const struct graph *g, uint32_t thread)
{
	uint32_t i;

	for (i = 0; i < g->nsteps; i++)
		if (g->steps[i].thread == thread)
			return true;
	return false;
}

static void add_cycle(struct sentence *s)
{
	const struct graph *g = s->g;
	char who[WHO_BYTES];
	uint32_t i;

	say_thread(g, g->steps[0].thread, true, who);
	ADD(s, "%s", who);
	for (i = 0; i < g->nsteps; i++) {
		if (i && g->in->threads[g->steps[i - 1].thread].on == HANG_ON_COLLECTIVE &&
		    g->steps[i - 1].barrier == HANG_NONE) {
			/* It waits for no one rank alone. */
			say_thread(g, g->steps[i].thread, true, who);
			ADD(s, "; %s", who);
		} else if (i) {
			ADD(s, ", which");
		}
		add_step(s, &g->steps[i], &g->steps[(i + 1) % g->nsteps], i + 1 == g->nsteps);
	}
}

/* "thread 1, thread 2 and 3 more" of those of this rank. */
static uint32_t add_names(struct sentence *s, uint32_t rank)
{
	uint32_t i, n = 0, all = 0, named;
	char who[WHO_BYTES];

	for (i = 0; i < s->need->n; i++)
		all += s->need->candidates[i].rank == rank;
	named = all > SAY_NAMED + 1 ? SAY_NAMED : all;
	for (i = 0; i < s->need->n && n < named; i++) {
		if (s->need->candidates[i].rank != rank)
			continue;
		say_candidate(s->g, &s->need->candidates[i], who);
		ADD(s, "%s%s", !n ? "" : n + 1 == all ? " and " : ", ", who);
		n++;
	}
	if (all > named)
		ADD(s, " and %u more", all - named);
	return all;
}

/* What a thread does, after "which": along the chain of those it waits for. */
static void add_doing(struct sentence *s, uint32_t i)
{
	const struct graph *g = s->g;
	uint32_t links, next;
	char who[WHO_BYTES];

	for (links = 0; links < SAY_CHAIN; links++) {
		const struct hang_thread *t = &g->in->threads[i];
		const char *what = say_blocked(g, i);

		if (g->at[i] != HANG_NONE) {
			ADD(s, " waits at %s", what ? what : "another barrier");
			return;
		}
		if (t->state == HANG_GONE) {
			ADD(s, " has ended");
			return;
		}
		if (thread_is_busy(t)) {
			ADD(s, t->state == HANG_RUNNABLE ? " wants a CPU" : " is running");
			add_place(s, "", t);
			return;
		}
		if (t->state == HANG_STOPPED) {
			ADD(s, " is stopped");
			add_place(s, "", t);
			return;
		}
		next = graph_holder(g, i);
		if (t->call && (t->on == HANG_ON_COLLECTIVE || next == HANG_NONE)) {
			add_waits_in_call(s, t);
			return;
		}
		if (t->call) {
			say_thread(g, next, true, who);
			ADD(s, " waits");
			add_call(s, t);
			ADD(s, " for %s, which", who);
			i = next;
			continue;
		}
		if (next == HANG_NONE || next == i) {
			if (t->state == HANG_BLOCKED && is_lock(t) && t->holder &&
			    next == HANG_NONE)
				ADD(s, " waits for %s, whose holder, thread %u, has ended",
				    object_of(t), t->holder);
			else
				ADD(s, " waits %s %s",
				    what && !strcmp(hang_preposition(what), "in") ? "in" : "for",
				    what ? what : "something unknown");
			add_place(s, ",", t);
			return;
		}
		say_thread(g, next, true, who);
		if (is_lock(t))
			ADD(s, " waits for %s held by %s, which", object_of(t), who);
		else
			ADD(s, " waits for the end of %s, which", who);
		i = next;
	}
	ADD(s, " waits for others");
}

/* The first of those of this rank. */
static const struct candidate *first_of(const struct need *need, uint32_t rank)
{
	uint32_t i;

	for (i = 0; i < need->n; i++)
		if (need->candidates[i].rank == rank)
			return &need->candidates[i];
	return NULL;
}

static void add_waits_for(struct sentence *s, const struct candidate *c)
{
	char who[WHO_BYTES];

	if (!c) {
		ADD(s, "%s waits for somebody of whom nothing is known", s->place);
		return;
	}
	say_candidate(s->g, c, who);
	ADD(s, "%s waits for %s, which", s->place, who);
	if (c->thread == HANG_NONE)
		ADD(s, " could not be looked at");
	else
		add_doing(s, c->thread);
}

/* The circle, and how the barrier depends on it where it is no part of it. */
static void say_circle(struct sentence *s, uint32_t barrier)
{
	const struct graph *g = s->g;
	const struct candidate *c;
	bool here = false;
	uint32_t i;

	add_cycle(s);
	for (i = 0; i < g->nsteps; i++)
		here |= g->steps[i].barrier == barrier;
	if (here)
		return;
	c = first_of(s->need, s->need->n ? s->need->candidates[0].rank : 0);
	for (i = 0; i < s->need->n; i++)
		if (s->need->candidates[i].thread != HANG_NONE &&
		    in_cycle(g, s->need->candidates[i].thread)) {
			c = NULL;
			break;
		}
	ADD(s, "; ");
	if (c)
		add_waits_for(s, c);
	else
		ADD(s, "%s waits for %s", s->place, g->nsteps == 1 ? "it" : "them");
}

/* Those that will not come, and why not. */
static void add_lost(struct sentence *s)
{
	const struct need *need = s->need;
	uint32_t i, n, left = 0, ended = 0;
	const char *call = NULL;

	for (i = 0; i < need->n; i++) {
		const struct candidate *c = &need->candidates[i];
		const struct hang_thread *t =
			c->thread != HANG_NONE ? &s->g->in->threads[c->thread] : NULL;

		if (!c->lost)
			continue;
		if (t && t->left)
			call = t->left;
		else if ((c->member && c->member->left) || (t && t->idle))
			left++;
		else
			ended++;
	}
	ADD(s, "%s needs ", s->place);
	n = add_names(s, RANK_LOST);
	ADD(s, ", which");
	if (ended && !left && !call)
		ADD(s, " %s there the last time and", n == 1 ? "was" : "were");
	if (call)
		ADD(s, " %s in %s", n == 1 ? "is" : "are", call);
	else
		ADD(s, left ? " %s left the parallel region" : " %s ended",
		    n == 1 ? "has" : "have");
}

static void say_never(struct sentence *s, uint32_t barrier)
{
	const struct need *need = s->need;
	const struct candidate *c = first_of(need, RANK_LOST);
	uint32_t i;

	if (c && (need->exact || !s->b->count)) {
		add_lost(s);
		return;
	}
	if (need->able < need->k && s->b->count) {
		ADD(s, "%s counts %u, %u %s come, and ", s->place, s->b->count, s->b->narrived,
		    s->b->narrived == 1 ? "has" : "have");
		if (need->able)
			ADD(s, "only %u more can", need->able);
		else
			ADD(s, "nobody else can");
		for (i = 0; i < need->n; i++) {
			char who[WHO_BYTES];

			c = &need->candidates[i];
			if (!c->barred)
				continue;
			say_candidate(s->g, c, who);
			ADD(s, ": %s", who);
			add_doing(s, c->thread);
			break;
		}
		return;
	}
	if (s->g->nsteps) {
		say_circle(s, barrier);
		return;
	}
	for (i = 0, c = NULL; i < need->n && !c; i++)
		if (need->candidates[i].thread != HANG_NONE &&
		    !s->g->can[need->candidates[i].thread])
			c = &need->candidates[i];
	add_waits_for(s, c);
}

/* The one that tells most: of those that make the verdict. */
static void say_others(struct sentence *s, enum hang_verdict verdict)
{
	static const struct {
		enum hang_verdict verdict;
		uint32_t rank;
	} ranks[] = { { HANG_LONG_PHASE, RANK_BUSY },
		      { HANG_OUTSIDE, RANK_OUTSIDE },
		      { HANG_UNKNOWN, RANK_REST } };
	const struct candidate *c = NULL;
	uint32_t others = 0, i;

	for (i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++)
		if (ranks[i].verdict == verdict)
			c = first_of(s->need, ranks[i].rank);
	if (!c && s->need->n)
		c = &s->need->candidates[0];
	if (s->need->unclear) {
		ADD(s, "%s counts %u, and as many have come", s->place, s->b->count);
		return;
	}
	add_waits_for(s, c);
	if (s->need->exact && s->need->n > 1)
		others = s->need->n - 1;
	if (others)
		ADD(s, "; %u more %s missing", others, others == 1 ? "is" : "are");
}

/* " at x.c:14", where it came in */
static void add_site(struct sentence *s, uint32_t arrived)
{
	const struct hang_frame *f = &s->b->arrived[arrived].site;

	if (f->file && f->line)
		ADD(s, " at %s:%u", base_of(f->file), f->line);
	else if (f->function)
		ADD(s, ", called by %s", f->function);
}

/* Two ranks that are in different operations of one communicator. */
static void say_crossed(struct sentence *s)
{
	const struct graph *g = s->g;
	uint32_t odd = g->steps[0].thread, even = g->steps[1].thread;
	char who[WHO_BYTES];

	say_thread(g, odd, true, who);
	ADD(s, "%s is in %s", who, g->in->threads[odd].call);
	add_site(s, s->need->odd);
	say_thread(g, even, true, who);
	ADD(s, ", a different collective of that communicator; %s is in %s", who,
	    g->in->threads[even].call);
	add_site(s, s->need->even);
}

void say_hang(const struct graph *g, uint32_t barrier, enum hang_verdict likely,
	      struct report_hang *out)
{
	static const char *const heads[] = {
		[HANG_UNKNOWN] = "unknown",	    [HANG_DEADLOCK] = "deadlock",
		[HANG_NEVER_FILLS] = "never fills", [HANG_LONG_PHASE] = "long phase",
		[HANG_OUTSIDE] = "outside",
	};
	struct sentence s = { .g = g, .b = &g->in->barriers[barrier], .need = &g->needs[barrier] };
	bool perhaps = likely != out->verdict;

	say_barrier(s.b, s.place, sizeof(s.place));
	if (perhaps)
		ADD(&s, likely == HANG_DEADLOCK ? "perhaps a deadlock: " : "perhaps never fills: ");
	else
		ADD(&s, "%s: ", heads[out->verdict]);
	if (s.need->odd != HANG_NONE)
		say_crossed(&s);
	else if (likely == HANG_DEADLOCK)
		say_circle(&s, barrier);
	else if (likely == HANG_NEVER_FILLS)
		say_never(&s, barrier);
	else
		say_others(&s, likely);
	if (perhaps)
		ADD(&s, likely == HANG_DEADLOCK
				? "; unless a thread comes that was not there the last time"
				: "; unless another thread comes");
	else if (out->guess && likely != HANG_DEADLOCK && likely != HANG_NEVER_FILLS &&
		 !s.need->unclear)
		ADD(&s, " (a guess: nobody has been seen at this barrier before)");
	name_copy(out->text, sizeof(out->text), s.text);
}
