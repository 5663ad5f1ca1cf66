// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Build the sentence of a hang's report. */
#include "hang/hang_internal.h"

#include "base/array.h"
#include "base/function_name.h"
#include "base/text.h"
#include "sites/family.h"

#include <stdio.h>
#include <string.h>

#define CHAIN_MAX 4 /* maximum number of links of a chain of waits in the sentence */
#define NAMED_MAX 3 /* number of threads that are named, if there are at least two more */

/* A part of the sentence. It may still contain unprintable characters. */
struct words {
	char text[256];
};

bool hang_is_runtime(const char *module)
{
	/*
	 * Prefixes of libraries that every program may map, and names of mappings that the kernel
	 * adds.
	 */
	static const char *const begins[] = { "ld-", "ld.so", "libgcc_s", "[vdso]", "[uprobes]" };
	size_t i;

	module = text_base_name(module);
	for (i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(module, begins[i], strlen(begins[i])))
			return true;
	return family_library(module) != NULL;
}

bool hang_is_call(const char *words)
{
	return strstr(words, "()") || !strncmp(words, "sleep", 5) ||
	       !strncmp(words, "system call", 11);
}

/* Return whether the function is in Python's library, or in a package installed beside it. */
static bool is_of_python(const struct hang_frame *f)
{
	return f->file && strstr(f->file, "/lib/python3.");
}

const struct hang_frame *hang_user_frame(const struct hang_frame *frames, uint32_t n)
{
	array_for_each (f, frames, n)
		if (f->module && !hang_is_runtime(f->module) && !is_of_python(f) &&
		    !(f->function && function_name_of_cxx_library(f->function)))
			return f;
	return n ? &frames[0] : NULL;
}

/* Name a thread by the number that reports use. With @numbers, add its pid or tid. */
static struct words number_words(const struct graph *g, uint32_t pid, uint32_t tid, uint32_t index,
				 bool is_rank, bool numbers)
{
	struct words w;

	if (index != HANG_NONE && is_rank && numbers)
		snprintf(w.text, sizeof(w.text), "rank %u (pid %u)", index, pid);
	else if (index != HANG_NONE && is_rank)
		snprintf(w.text, sizeof(w.text), "rank %u", index);
	else if (index != HANG_NONE && numbers)
		snprintf(w.text, sizeof(w.text), "thread %u (tid %u)", index, tid);
	else if (index != HANG_NONE)
		snprintf(w.text, sizeof(w.text), "thread %u", index);
	else if (tid == pid && g->several)
		snprintf(w.text, sizeof(w.text), "process %u", pid);
	else if (g->several && numbers)
		snprintf(w.text, sizeof(w.text), "thread %u of process %u", tid, pid);
	else if (tid == pid && numbers)
		snprintf(w.text, sizeof(w.text), "the main thread (tid %u)", tid);
	else if (tid == pid)
		snprintf(w.text, sizeof(w.text), "the main thread");
	else
		snprintf(w.text, sizeof(w.text), "thread %u", tid);
	return w;
}

static struct words thread_words(const struct graph *g, uint32_t i, bool numbers)
{
	const struct hang_thread *t = &g->in->threads[i];

	return number_words(g, t->pid, t->tid, t->index, t->ranked, numbers);
}

/* Name the thread that thread @t waits for. */
static struct words holder_words(const struct graph *g, const struct hang_thread *t)
{
	uint32_t i = graph_thread(g, t->holder);
	struct words w;

	if (i != HANG_NONE)
		return thread_words(g, i, false);
	snprintf(w.text, sizeof(w.text), "thread %u", t->holder);
	return w;
}

static struct words candidate_words(const struct graph *g, const struct candidate *c)
{
	const struct hang_member *m = c->member;

	if (c->thread != HANG_NONE && (!m || g->in->threads[c->thread].index != HANG_NONE))
		return thread_words(g, c->thread, true);
	if (m)
		return number_words(g, m->pid, m->tid, m->index, m->ranked, true);
	return (struct words){ "a thread" };
}

static struct words barrier_words(const struct hang_barrier *b)
{
	const struct hang_frame *s = &b->site;
	bool has_line = s->file && s->line;
	const char *file = has_line ? text_base_name(s->file) : "";
	struct words w;

	if (b->call)
		snprintf(w.text, sizeof(w.text), has_line ? "%s at %s:%u" : "%s", b->call, file,
			 s->line);
	else if (b->name && *b->name)
		snprintf(w.text, sizeof(w.text),
			 has_line ? "the barrier \"%s\" at %s:%u" : "the barrier \"%s\"", b->name,
			 file, s->line);
	else if (has_line)
		snprintf(w.text, sizeof(w.text), "the barrier at %s:%u", file, s->line);
	else
		snprintf(w.text, sizeof(w.text), "the barrier %s%.*s", *b->label ? "in " : b->id,
			 (int)sizeof(b->label) - 1, b->label);
	return w;
}

/* Return the lock's description, or words that fit any lock of its kind. */
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

const char *text_blocked_on(const struct graph *g, uint32_t i)
{
	const struct hang_thread *t = &g->in->threads[i];
	bool blocked = t->state == HANG_BLOCKED;

	if (g->at[i] != HANG_NONE)
		return arena_string(g->arena, barrier_words(&g->in->barriers[g->at[i]]).text);
	if (t->left)
		return arena_string(g->arena, t->left);
	if (t->call && t->on == HANG_ON_MESSAGE && t->holder)
		return arena_printf(g->arena, "%s for %s", t->call, holder_words(g, t).text);
	if (t->call)
		return arena_string(g->arena, t->call);
	if (t->idle && blocked)
		return arena_string(g->arena, "the next parallel region");
	if (!blocked && t->state != HANG_STOPPED)
		return NULL;
	if (blocked && is_lock(t) && t->holder == t->tid)
		return arena_printf(g->arena, "%s, which it holds itself", object_of(t));
	if (blocked && is_lock(t) && t->holder)
		return arena_printf(g->arena, "%s held by %s", object_of(t),
				    holder_words(g, t).text);
	if (blocked && t->on == HANG_ON_JOIN && t->holder)
		return arena_printf(g->arena, "the end of %s", holder_words(g, t).text);
	if (blocked && t->object && *t->object)
		return arena_string(g->arena, t->object);
	return t->waits_for && *t->waits_for ? arena_string(g->arena, t->waits_for) : NULL;
}

const char *text_step(const struct graph *g, const struct step *step, const struct step *next)
{
	const struct hang_thread *t = &g->in->threads[step->thread];

	if (step->barrier != HANG_NONE)
		return arena_string(g->arena, barrier_words(&g->in->barriers[step->barrier]).text);
	if (t->call)
		return arena_string(g->arena, t->call);
	if (is_lock(t))
		return arena_string(g->arena, object_of(t));
	return arena_printf(g->arena, "the end of %s", thread_words(g, next->thread, false).text);
}

/* --- the sentence ----------------------------------------------------------------------------- */

/* The sentence so far. It may still contain unprintable characters. */
struct sentence {
	const struct graph *g;
	const struct hang_barrier *b;
	const struct need *need;
	struct words place; /* the barrier */
	char text[1024];
};

#define ADD(s, ...) name_append((s)->text, sizeof((s)->text), __VA_ARGS__)

/* Add " in MPI_Recv at x.c:16". */
static void add_call(struct sentence *s, const struct hang_thread *t)
{
	const struct hang_frame *f = t->call_frame < t->nframes ? &t->frames[t->call_frame] : NULL;

	ADD(s, " in %s", t->call);
	if (f && f->file && f->line)
		ADD(s, " at %s:%u", text_base_name(f->file), f->line);
	else if (f && f->function)
		ADD(s, ", called by %s%s", f->function, function_name_call(f->function));
}

/*
 * Add what the thread waits for in an MPI call, if the call is a collective or the peer's thread is
 * unknown.
 */
static void add_waits_in_call(struct sentence *s, const struct hang_thread *t)
{
	if (t->on == HANG_ON_COLLECTIVE) {
		ADD(s, " is");
		add_call(s, t);
		ADD(s, s->b->world && t->world
			       ? ", a different collective on the same communicator"
			       : ", a different collective (its communicator is unknown)");
		return;
	}
	ADD(s, " waits");
	add_call(s, t);
	if (t->peer != HANG_NONE)
		ADD(s, t->world ? " for rank %u" : " for rank %u of its communicator", t->peer);
	else
		ADD(s, " for a message (the peer rank is unknown)");
}

/* Add " in f() at x.c:3". */
static void add_place(struct sentence *s, const char *comma, const struct hang_thread *t)
{
	const struct hang_frame *f = hang_user_frame(t->frames, t->nframes);

	if (!f)
		return;
	if (f->function)
		ADD(s, "%s in %s%s", comma, f->function, function_name_call(f->function));
	if (f->file && f->line)
		ADD(s, " at %s:%u", text_base_name(f->file), f->line);
	else if (f->module && !f->function)
		ADD(s, "%s in %s", comma, text_base_name(f->module));
}

static void add_step(struct sentence *s, const struct step *step, const struct step *next,
		     bool last)
{
	const struct graph *g = s->g;
	const struct hang_thread *t = &g->in->threads[step->thread];
	const struct words other = thread_words(g, next->thread, !last);

	if (step->barrier != HANG_NONE) {
		const struct hang_barrier *b = &g->in->barriers[step->barrier];

		ADD(s, " waits %s %s for %s", b->call ? "in" : "at", barrier_words(b).text,
		    other.text);
	} else if (t->on == HANG_ON_COLLECTIVE) {
		add_waits_in_call(s, t);
	} else if (t->on == HANG_ON_MESSAGE) {
		ADD(s, " waits");
		add_call(s, t);
		ADD(s, " for %s", other.text);
	} else if (!is_lock(t)) {
		ADD(s, " waits for the end of %s", other.text);
	} else if (step->thread == next->thread) {
		ADD(s, " waits for %s, which it holds itself", object_of(t));
	} else {
		ADD(s, " waits for %s held by %s", object_of(t), other.text);
	}
}

static bool in_cycle(const struct graph *g, uint32_t thread)
{
	array_for_each (s, g->steps, g->nsteps)
		if (s->thread == thread)
			return true;
	return false;
}

static void add_cycle(struct sentence *s)
{
	const struct graph *g = s->g;
	uint32_t i;

	ADD(s, "%s", thread_words(g, g->steps[0].thread, true).text);
	for (i = 0; i < g->nsteps; i++) {
		if (i && g->in->threads[g->steps[i - 1].thread].on == HANG_ON_COLLECTIVE &&
		    g->steps[i - 1].barrier == HANG_NONE) {
			/* The previous thread waits for more than one rank. */
			ADD(s, "; %s", thread_words(g, g->steps[i].thread, true).text);
		} else if (i) {
			ADD(s, ", which");
		}
		add_step(s, &g->steps[i], &g->steps[(i + 1) % g->nsteps], i + 1 == g->nsteps);
	}
}

/* Name the candidates with this rank: "thread 1, thread 2 and 3 more". Return their number. */
static uint32_t add_names(struct sentence *s, uint32_t rank)
{
	uint32_t i, n = 0, all = 0, named;

	array_for_each (c, s->need->candidates, s->need->n)
		all += c->rank == rank;
	named = all > NAMED_MAX + 1 ? NAMED_MAX : all;
	for (i = 0; i < s->need->n && n < named; i++) {
		if (s->need->candidates[i].rank != rank)
			continue;
		ADD(s, "%s%s",
		    !n		   ? ""
		    : n + 1 == all ? " and "
				   : ", ",
		    candidate_words(s->g, &s->need->candidates[i]).text);
		n++;
	}
	if (all > named)
		ADD(s, " and %u more", all - named);
	return all;
}

/*
 * Add what a thread does, after "which", and then the same for each thread in the chain of threads
 * that it waits for.
 */
static void add_doing(struct sentence *s, uint32_t i)
{
	const struct graph *g = s->g;
	uint32_t links, next;

	for (links = 0; links < CHAIN_MAX; links++) {
		const struct hang_thread *t = &g->in->threads[i];
		const char *what = text_blocked_on(g, i);

		if (g->at[i] != HANG_NONE) {
			ADD(s, " waits at %s", what ? what : "another barrier");
			return;
		}
		if (t->state == HANG_GONE) {
			ADD(s, " has ended");
			return;
		}
		if (thread_is_busy(t) || t->state == HANG_STOPPED) {
			ADD(s, t->state == HANG_STOPPED	   ? " is stopped"
			       : t->state == HANG_RUNNABLE ? " wants a CPU"
							   : " is running");
			add_place(s, "", t);
			return;
		}
		next = graph_holder(g, i);
		if (t->call && (t->on == HANG_ON_COLLECTIVE || next == HANG_NONE)) {
			add_waits_in_call(s, t);
			return;
		}
		if (t->call) {
			ADD(s, " waits");
			add_call(s, t);
			ADD(s, " for %s, which", thread_words(g, next, true).text);
			i = next;
			continue;
		}
		if (next == HANG_NONE || next == i) {
			if (t->state == HANG_BLOCKED && is_lock(t) && t->holder &&
			    next == HANG_NONE)
				ADD(s, " waits for %s: its holder, thread %u, has ended",
				    object_of(t), t->holder);
			else
				ADD(s, " waits %s %s", what && hang_is_call(what) ? "in" : "for",
				    what ? what : "something unknown");
			add_place(s, ",", t);
			return;
		}
		if (is_lock(t))
			ADD(s, " waits for %s held by %s, which", object_of(t),
			    thread_words(g, next, true).text);
		else
			ADD(s, " waits for the end of %s, which", thread_words(g, next, true).text);
		i = next;
	}
	ADD(s, " waits for other threads");
}

/* Return the first candidate with this rank, or NULL. */
static const struct candidate *first_of(const struct need *need, uint32_t rank)
{
	array_for_each (c, need->candidates, need->n)
		if (c->rank == rank)
			return c;
	return NULL;
}

static void add_waits_for(struct sentence *s, const struct candidate *c)
{
	if (!c) {
		ADD(s, "%s waits for an unknown thread", s->place.text);
		return;
	}
	ADD(s, "%s waits for %s, which", s->place.text, candidate_words(s->g, c).text);
	if (c->thread == HANG_NONE)
		ADD(s, " could not be examined");
	else
		add_doing(s, c->thread);
}

/* Add the cycle, and how the barrier depends on it unless the barrier is part of the cycle. */
static void add_circle(struct sentence *s, uint32_t barrier)
{
	const struct graph *g = s->g;
	const struct candidate *c;
	bool here = false;
	uint32_t i;

	add_cycle(s);
	array_for_each (step, g->steps, g->nsteps)
		here |= step->barrier == barrier;
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
		ADD(s, "%s waits for %s", s->place.text, g->nsteps == 1 ? "it" : "them");
}

/* Add the threads that will never arrive, and why. */
static void add_lost(struct sentence *s)
{
	const struct need *need = s->need;
	uint32_t n, left = 0, ended = 0;
	const char *call = NULL;

	array_for_each (c, need->candidates, need->n) {
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
	ADD(s, "%s needs ", s->place.text);
	n = add_names(s, RANK_LOST);
	ADD(s, ", which");
	if (ended && !left && !call)
		ADD(s, " %s in the last episode and", n == 1 ? "was" : "were");
	if (call)
		ADD(s, " %s in %s", n == 1 ? "is" : "are", call);
	else
		ADD(s, left ? " %s left the parallel region" : " %s ended",
		    n == 1 ? "has" : "have");
}

static void add_never(struct sentence *s, uint32_t barrier)
{
	const struct need *need = s->need;
	const struct candidate *c = first_of(need, RANK_LOST);
	uint32_t i;

	if (c && (need->exact || !s->b->count)) {
		add_lost(s);
		return;
	}
	if (need->able < need->k && s->b->count) {
		ADD(s, "%s needs %u %s, %u %s arrived, and ", s->place.text, s->b->count,
		    s->b->of_processes ? "ranks" : "threads", s->b->narrived,
		    s->b->narrived == 1 ? "has" : "have");
		ADD(s, need->able ? "only %u more can" : "no others can", need->able);
		for (i = 0; i < need->n && !need->candidates[i].barred; i++)
			;
		if (i < need->n) {
			c = &need->candidates[i];
			ADD(s, ": %s", candidate_words(s->g, c).text);
			add_doing(s, c->thread);
		}
		return;
	}
	if (s->g->nsteps) {
		add_circle(s, barrier);
		return;
	}
	for (i = 0, c = NULL; i < need->n && !c; i++)
		if (need->candidates[i].thread != HANG_NONE &&
		    !s->g->can[need->candidates[i].thread])
			c = &need->candidates[i];
	add_waits_for(s, c);
}

/* Add the candidate that explains the verdict best. */
static void add_others(struct sentence *s, enum hang_verdict verdict)
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
		ADD(s, "%s needs %u %s, and all have arrived", s->place.text, s->b->count,
		    s->b->of_processes ? "ranks" : "threads");
		return;
	}
	add_waits_for(s, c);
	if (s->need->exact && s->need->n > 1)
		others = s->need->n - 1;
	if (others)
		ADD(s, "; %u more %s missing", others, others == 1 ? "is" : "are");
}

/* Add " at x.c:14", the call site of the arrival. */
static void add_site(struct sentence *s, uint32_t arrived)
{
	const struct hang_frame *f = &s->b->arrived[arrived].site;

	if (f->file && f->line)
		ADD(s, " at %s:%u", text_base_name(f->file), f->line);
	else if (f->function)
		ADD(s, ", called by %s%s", f->function, function_name_call(f->function));
}

/* Add two ranks that are in different operations of one communicator. */
static void add_crossed(struct sentence *s)
{
	const struct graph *g = s->g;
	uint32_t odd = g->steps[0].thread, even = g->steps[1].thread;

	ADD(s, "%s is in %s", thread_words(g, odd, true).text, g->in->threads[odd].call);
	add_site(s, s->need->odd);
	ADD(s, ", a different collective on the same communicator; %s is in %s",
	    thread_words(g, even, true).text, g->in->threads[even].call);
	add_site(s, s->need->even);
}

void text_fill(const struct graph *g, uint32_t barrier, enum hang_verdict likely,
	       struct report_hang *out)
{
	static const char *const heads[] = {
		[HANG_UNKNOWN] = "unknown",	    [HANG_DEADLOCK] = "deadlock",
		[HANG_NEVER_FILLS] = "never fills", [HANG_LONG_PHASE] = "long phase",
		[HANG_OUTSIDE] = "outside",
	};
	struct sentence s = { .g = g, .b = &g->in->barriers[barrier], .need = &g->needs[barrier] };
	bool perhaps = likely != out->verdict;

	s.place = barrier_words(s.b);
	if (perhaps)
		ADD(&s, likely == HANG_DEADLOCK ? "perhaps a deadlock: " : "perhaps never fills: ");
	else
		ADD(&s, "%s: ", heads[out->verdict]);
	if (s.need->odd != HANG_NONE)
		add_crossed(&s);
	else if (likely == HANG_DEADLOCK)
		add_circle(&s, barrier);
	else if (likely == HANG_NEVER_FILLS)
		add_never(&s, barrier);
	else
		add_others(&s, likely);
	if (perhaps)
		ADD(&s, likely == HANG_DEADLOCK
				? "; unless a thread arrives that was not in the last episode"
				: "; unless another thread arrives");
	else if (out->guess && likely != HANG_DEADLOCK && likely != HANG_NEVER_FILLS &&
		 !s.need->unclear)
		ADD(&s, " (a guess: no earlier episode of this barrier was seen)");
	name_copy(out->text, sizeof(out->text), s.text);
}
