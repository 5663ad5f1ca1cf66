// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Descriptions of the reason why a thread was late. All names are untrusted and are made printable.
 */
#include "analyse/internal.h"
#include "base/function_name.h"

#include <stdio.h>
#include <string.h>

#define NAME 44 /* maximum number of bytes of one name */
_Static_assert(CULPRIT_THREAD_NAME == NAME + 24, "room for a name and a number");
#define FRAMES 16

int tally_top(const struct tally *t)
{
	int i, top = -1;

	for (i = 0; i < CULPRIT_TALLY; i++)
		if (t->ns[i] && (top < 0 || t->ns[i] > t->ns[top]))
			top = i;
	return top;
}

int tally_add(struct tally *t, uint64_t key, uint64_t ns, bool *fresh)
{
	uint64_t least = ns;
	int i, place = -1;

	*fresh = false;
	for (i = 0; i < CULPRIT_TALLY; i++) {
		if (t->ns[i] && t->key[i] == key) {
			t->ns[i] += ns;
			return i;
		}
		if (!t->ns[i])
			place = i;
		else if (t->ns[i] < least)
			least = t->ns[i];
	}
	if (place < 0) {
		/*
		 * All entries are in use. Subtract the smallest sum from all of them, or the new
		 * sum if that is smaller.
		 */
		for (i = 0; i < CULPRIT_TALLY; i++) {
			t->ns[i] -= least;
			if (!t->ns[i])
				place = i;
		}
		ns -= least;
	}
	if (place < 0 || !ns)
		return -1;
	*fresh = true;
	t->key[place] = key;
	t->ns[place] = ns;
	return place;
}

/* --- names ----------------------------------------------------------------------------------- */

void culprit_thread(const struct culprit_env *env, uint32_t thread, uint32_t tid, bool shared,
		    char *out, size_t size)
{
	const struct model_thread *t =
		thread < model_nthreads(env->model) ? model_thread(env->model, thread) : NULL;

	if (!shared && t && t->tid == tid && t->ordinal != MODEL_NONE)
		tid = t->ordinal;
	snprintf(out, size, "thread %u", tid);
}

/*
 * Write "thread 2" for a thread of the late thread's process. For other threads, write "stress-ng
 * (4711)" or "task 4711".
 */
static void task_words(const struct culprit_env *env, const struct culprit *c, uint32_t tid,
		       bool coarse, char *out, size_t size)
{
	const char *name;
	char safe[NAME];
	uint64_t thread;

	if (hash_get(env->by_tid, (uint64_t)c->proc << 32 | tid, &thread)) {
		const struct model_thread *t = model_thread(env->model, (uint32_t)thread);

		if (t && t->tid == tid && t->proc == c->proc && !t->exited) {
			culprit_thread(env, (uint32_t)thread, tid, c->shared, out, size);
			return;
		}
	}
	name = env->env->task ? env->env->task(env->env->ctx, tid) : NULL;
	if (!name || !name[0]) {
		snprintf(out, size, "task %u", tid);
		return;
	}
	name_copy(safe, sizeof(safe), name);
	if (coarse)
		snprintf(out, size, "%s", safe);
	else
		snprintf(out, size, "%s (%u)", safe, tid);
}

static bool is_libc(const char *module)
{
	static const char *const prefix[] = { "libc.so", "libc-", "libpthread",
					      "ld-",	 "ld.so", "libm." };
	const char *base = text_base_name(module);
	size_t i;

	for (i = 0; base && i < sizeof(prefix) / sizeof(prefix[0]); i++)
		if (!strncmp(base, prefix[i], strlen(prefix[i])))
			return true;
	return false;
}

/*
 * Write the innermost function of the stack that is not in the C library. If its frame has no
 * symbols, write the name of the module. If there is no such frame, write the innermost function of
 * the C library. Set *call to what follows the name of a function in a sentence: "()".
 */
static bool function_words(const struct culprit_env *env, const struct culprit *c, char *out,
			   size_t size, const char **call)
{
	const struct site_name *s;
	const char *inner = NULL, *f;
	uint32_t sites[FRAMES], n = 0, i;

	if (c->block.stack && env->env->stack)
		n = env->env->stack(env->env->ctx, c->tgid, c->inc, c->block.stack, sites, FRAMES);
	for (i = 0; i < n && i < FRAMES; i++) {
		s = env->report_env->site ? env->report_env->site(env->report_env->ctx, sites[i])
					  : NULL;
		if (!s)
			continue;
		f = s->nframes ? s->frames[0].function : NULL;
		if (!f && s->module && !is_libc(s->module)) {
			name_copy(out, size, text_base_name(s->module));
			return true;
		}
		if (f && !is_libc(s->module)) {
			inner = f;
			break;
		}
		if (!inner)
			inner = f;
	}
	if (!inner)
		return false;
	name_function(out, size, inner, size - 1);
	*call = function_name_call(out);
	return true;
}

/* --- clauses --------------------------------------------------------------------------------- */

/* Indexed by enum cause_kind. */
static const struct cause_row cause_rows[CAUSE_KINDS] = {
	[CAUSE_WORK] = { CAUSE_WORK, "work" },
	[CAUSE_MORE_WORK] = { CAUSE_MORE_WORK, "more work" },
	[CAUSE_SLOWER_WORK] = { CAUSE_SLOWER_WORK, "slower work" },
	[CAUSE_CPU] = { CAUSE_CPU, "no cpu" },
	[CAUSE_LOCK] = { CAUSE_LOCK, "lock" },
	[CAUSE_GIL] = { CAUSE_GIL, "gil" },
	[CAUSE_IO] = { CAUSE_IO, "i/o" },
	[CAUSE_FAULT] = { CAUSE_FAULT, "page faults" },
	[CAUSE_SLEEP] = { CAUSE_SLEEP, "sleep" },
	[CAUSE_THROTTLED] = { CAUSE_THROTTLED, "throttled" },
	[CAUSE_STEAL] = { CAUSE_STEAL, "stolen" },
	[CAUSE_OTHER] = { CAUSE_OTHER, "other" },
	[CAUSE_RELEASED_LATE] = { CAUSE_RELEASED_LATE, "released late" },
	[CAUSE_UNATTRIBUTED] = { CAUSE_UNATTRIBUTED, "unattributed" },
};

const struct cause_row *cause_row(enum cause_kind kind)
{
	return kind < CAUSE_KINDS ? &cause_rows[kind] : NULL;
}

const char *cause_name(enum cause_kind kind)
{
	return kind < CAUSE_KINDS ? cause_rows[kind].name : NULL;
}

bool cause_is(const struct report_cause *cause, enum cause_kind kind)
{
	return cause->dominant && cause->dominant->kind == kind;
}

const char *culprit_clause(enum cause_kind kind)
{
	static const char *const clauses[] = {
		[CAUSE_WORK] = "it was on a CPU for longer",
		[CAUSE_MORE_WORK] = "it had more instructions to execute",
		[CAUSE_SLOWER_WORK] = "its instructions took longer",
		[CAUSE_CPU] = "it was ready to run and waited for a CPU",
		[CAUSE_LOCK] = "it waited for a lock or another thread",
		[CAUSE_GIL] = "it waited for the GIL",
		[CAUSE_IO] = "it waited for I/O",
		[CAUSE_FAULT] = "of page faults",
		[CAUSE_SLEEP] = "it slept",
		[CAUSE_THROTTLED] = "its cgroup had used up its CPU quota",
		[CAUSE_STEAL] = "the host took its CPU away (steal time)",
		[CAUSE_OTHER] = "it was blocked for an unknown reason",
		[CAUSE_RELEASED_LATE] = "it left the preceding barrier later",
		[CAUSE_UNATTRIBUTED] = "of unattributed time",
	};

	return (unsigned)kind < CAUSE_KINDS ? clauses[kind] : "";
}

enum model_doing culprit_doing(const struct model_block *b)
{
	/* Recordings may contain any value. */
	return b->doing_ns < b->ns / 2 || b->doing >= MODEL_DOING_BLOCKED + MODEL_BLOCKED_REASONS
		       ? MODEL_DOING_UNKNOWN
		       : b->doing;
}

/*
 * Note what the awaited thread (the holder or the waker) mainly did during the wait, and what it
 * waited for itself.
 */
static void note_doing(const struct culprit_env *env, const struct culprit *c, bool coarse,
		       bool doing_matters, struct culprit_words *w)
{
	w->doing = (uint8_t)culprit_doing(&c->block);
	w->doing_matters = doing_matters;
	if (c->block.culprit)
		task_words(env, c, c->block.culprit, coarse, w->awaits, sizeof(w->awaits));
}

static void lock_name(const struct culprit_env *env, const struct culprit *c, char *out,
		      size_t size)
{
	const char *name =
		c->block.at.futex && env->env->lock
			? env->env->lock(env->env->ctx, c->tgid, c->inc, c->block.at.futex)
			: NULL;
	char safe[NAME];

	if (name && name[0]) {
		name_copy(safe, sizeof(safe), name);
		snprintf(out, size, "`%s`", safe);
	} else if (c->block.at.futex) {
		snprintf(out, size, "at 0x%llx", (unsigned long long)c->block.at.futex);
	} else {
		out[0] = '\0';
	}
}

/*
 * If the futex word does not show what the thread waited for, identify the object by the functions
 * on the thread's stack. Debian's C library has only exported symbols: the waits of condition
 * variables have a symbol, but the inner functions of sem_wait() have none. Therefore assume a
 * semaphore if the stack is inside the C library and has no known function.
 */
static enum culprit_waited waited_for(const struct culprit_env *env, const struct culprit *c)
{
	static const struct {
		const char *part;
		enum culprit_waited waited;
	} functions[] = {
		{ "cond_", WAITED_CONDITION },
		{ "cnd_", WAITED_CONDITION },
		{ "sem_", WAITED_SEMAPHORE },
		{ "join", WAITED_JOIN },
		/* For recordings of older versions, which did not record semaphore calls. */
		{ "semop", WAITED_SEMAPHORE },
		{ "semtimedop", WAITED_SEMAPHORE },
		{ "barrier", WAITED_BARRIER },
		{ "atomic_wait", WAITED_VALUE },
		{ "mutex_", WAITED_LOCK },
		{ "rwlock_", WAITED_LOCK },
		{ "syscall", WAITED_VALUE },
	};
	const struct site_name *s;
	uint32_t sites[FRAMES], n = 0, i;
	bool libc = false;
	const char *f;
	size_t k;

	if (c->block.waited == MODEL_WAITED_JOIN)
		return WAITED_JOIN;
	if (c->block.waited == MODEL_WAITED_LOCK)
		return WAITED_LOCK;
	if (c->block.waited == MODEL_WAITED_SEMAPHORE)
		return WAITED_SEMAPHORE;
	if (c->block.stack && env->env->stack && env->report_env->site)
		n = env->env->stack(env->env->ctx, c->tgid, c->inc, c->block.stack, sites, FRAMES);
	for (i = 0; i < n && i < FRAMES; i++) {
		s = env->report_env->site(env->report_env->ctx, sites[i]);
		if (!s)
			continue;
		f = s->nframes ? s->frames[0].function : NULL;
		for (k = 0; f && k < sizeof(functions) / sizeof(functions[0]); k++)
			if (strstr(f, functions[k].part) &&
			    (is_libc(s->module) || functions[k].waited == WAITED_VALUE))
				return functions[k].waited;
		if (!is_libc(s->module))
			break;
		libc = true;
	}
	if (c->block.waited != MODEL_WAITED_EVENT)
		return WAITED_LOCK;
	return libc ? WAITED_SEMAPHORE : WAITED_EVENT;
}

static void join_words(const struct culprit_env *env, const struct culprit *c, bool coarse,
		       struct culprit_words *w)
{
	char thread[NAME + 24];

	if (coarse || !c->block.holder) {
		snprintf(w->name, sizeof(w->name), "the end of a thread");
		snprintf(w->clause, sizeof(w->clause), "it waited for a thread to end");
		return;
	}
	task_words(env, c, c->block.holder, false, thread, sizeof(thread));
	note_doing(env, c, false, true, w);
	snprintf(w->name, sizeof(w->name), "the end of %s", thread);
	snprintf(w->clause, sizeof(w->clause), "it waited for %s to end", thread);
}

/* Append ", woken by feeder (4711)". */
static void waker_words(const struct culprit_env *env, const struct culprit *c,
			enum culprit_level level, const char *woken, struct culprit_words *w)
{
	bool coarse = level != CULPRIT_EXACT;
	char thread[NAME + 24];

	if (level == CULPRIT_COARSE || !c->block.waker)
		return;
	task_words(env, c, c->block.waker, coarse, thread, sizeof(thread));
	note_doing(env, c, coarse, true, w);
	name_append(w->name, sizeof(w->name), ", %s %s", woken, thread);
	name_append(w->clause, sizeof(w->clause), ", %s %s", woken, thread);
}

/* Describe a wait for an object without a holder: the thread waited for the thread that woke it. */
static void event_words(const struct culprit_env *env, const struct culprit *c,
			enum culprit_level level, struct culprit_words *w)
{
	static const char *const things[] = {
		[WAITED_SEMAPHORE] = "the semaphore",
		[WAITED_CONDITION] = "the condition variable",
		[WAITED_EVENT] = "the semaphore or condition variable",
		[WAITED_BARRIER] = "another barrier",
		[WAITED_VALUE] = "the value",
	};
	const char *thing = things[w->waited],
		   *change = w->waited == WAITED_VALUE ? " to change" : "";
	char name[NAME + 4];

	lock_name(env, c, name, sizeof(name));
	if (w->waited == WAITED_BARRIER)
		name[0] = '\0';
	snprintf(w->name, sizeof(w->name), "%s%s%s", thing, name[0] ? " " : "", name);
	snprintf(w->clause, sizeof(w->clause), "it waited for %s%s%s%s", thing, name[0] ? " " : "",
		 name, change);
	waker_words(env, c, level, "woken by", w);
}

static void lock_words(const struct culprit_env *env, const struct culprit *c,
		       enum culprit_level level, struct culprit_words *w)
{
	bool coarse = level != CULPRIT_EXACT;
	const struct model_block *b = &c->block;
	char lock[NAME + 4], thread[NAME + 24];
	const char *gap, *among = b->among ? ", among others" : "";

	w->waited = (uint8_t)waited_for(env, c);
	if (w->waited == WAITED_JOIN) {
		join_words(env, c, coarse, w);
		return;
	}
	if (w->waited != WAITED_LOCK) {
		event_words(env, c, level, w);
		return;
	}
	lock_name(env, c, lock, sizeof(lock));
	gap = lock[0] ? " " : "";
	if (!coarse && b->holder) {
		task_words(env, c, b->holder, false, thread, sizeof(thread));
		note_doing(env, c, false, false, w);
		snprintf(w->name, sizeof(w->name), "the lock%s%s, held by %s%s", gap, lock, thread,
			 among);
		snprintf(w->clause, sizeof(w->clause), "it waited for the lock%s%s held by %s%s",
			 gap, lock, thread, among);
	} else if (!coarse && b->waker) {
		/* The waker may not have held the lock. */
		task_words(env, c, b->waker, false, thread, sizeof(thread));
		note_doing(env, c, false, true, w);
		if (w->doing)
			w->waited = WAITED_THREAD;
		snprintf(w->name, sizeof(w->name), "the lock%s%s, woken by %s", gap, lock, thread);
		snprintf(w->clause, sizeof(w->clause),
			 "it waited for the lock or condition%s%s, woken by %s (holder unknown)",
			 gap, lock, thread);
	} else if (lock[0]) {
		snprintf(w->name, sizeof(w->name), "the lock %s", lock);
		snprintf(w->clause, sizeof(w->clause), "it waited for the lock %s", lock);
	}
}

uint32_t culprit_holder(const struct model_block *b)
{
	return b->holder ? b->holder : b->waker;
}

/* Write " in `crunch` at x.py:12", or "" if it is not known where the holder executed. */
static void gil_place(const struct culprit_env *env, const struct culprit *c, char *out,
		      size_t size)
{
	const struct site_name *s = NULL;
	char function[NAME], file[NAME];
	const struct site_frame *f;
	uint32_t site;

	out[0] = '\0';
	if (c->block.stack && env->env->stack && env->report_env->site &&
	    env->env->stack(env->env->ctx, c->tgid, c->inc, c->block.stack, &site, 1))
		s = env->report_env->site(env->report_env->ctx, site);
	f = s && s->nframes ? &s->frames[0] : NULL;
	if (!f || !f->function || !*f->function)
		return;
	name_copy(function, sizeof(function), f->function);
	name_append(out, size, " in `%s`", function);
	if (!f->file || !*f->file)
		return;
	name_copy(file, sizeof(file), text_base_name(f->file));
	name_append(out, size, " at %s", file);
	if (f->line)
		name_append(out, size, ":%u", f->line);
}

/* The thread that held the GIL, and the function in which it did so. */
static void gil_words(const struct culprit_env *env, const struct culprit *c,
		      enum culprit_level level, struct culprit_words *w)
{
	char thread[NAME + 24] = "other threads", place[2 * NAME + 32];
	uint32_t holder = level == CULPRIT_EXACT ? culprit_holder(&c->block) : 0;
	uint32_t n = MODEL_NONE;
	uint64_t index;

	gil_place(env, c, place, sizeof(place));
	if (level == CULPRIT_COARSE || (!holder && !place[0]))
		return;
	if (holder) {
		/* It is a thread of the same process, also if it crosses no barrier. */
		if (hash_get(env->by_tid, (uint64_t)c->proc << 32 | holder, &index))
			n = (uint32_t)index;
		culprit_thread(env, n, holder, c->shared, thread, sizeof(thread));
		note_doing(env, c, false, false, w);
	}
	snprintf(w->name, sizeof(w->name), "the GIL, held by %s%s", thread, place);
	snprintf(w->clause, sizeof(w->clause), "it waited for the GIL, which %s held%s", thread,
		 place);
}

static void released_words(const struct culprit_env *env, const struct culprit *c, bool coarse,
			   struct culprit_words *w)
{
	const char *late = c->began	  ? "it began later"
			   : c->elsewhere ? "it took part in another episode, which ended later"
					  : "it left the preceding barrier later";

	if (c->elsewhere && !c->began)
		w->waited = WAITED_ELSEWHERE;
	snprintf(w->clause, sizeof(w->clause), "%s", late);
	if (c->ran) {
		task_words(env, c, c->ran, coarse, w->name, sizeof(w->name));
		snprintf(w->clause, sizeof(w->clause),
			 "%s, after waiting for a CPU that %s had at its release", late, w->name);
	} else if (c->awaited && !coarse) {
		task_words(env, c, c->awaited, coarse, w->name, sizeof(w->name));
		snprintf(w->clause, sizeof(w->clause), "%s, after waiting there for %s", late,
			 w->name);
	}
}

/*
 * Return the clause for a wait with the reason MODEL_BLOCKED_OTHER (a stop, a child process, a
 * signal), or NULL if no more is known about it.
 */
static const char *other_clause(const struct model_block *b)
{
	if (b->reason != MODEL_BLOCKED_OTHER || !b->ns)
		return NULL;
	if (b->at.other == MODEL_OTHER_STOPPED)
		return "it was stopped by a signal or a debugger";
	if (b->at.other == MODEL_OTHER_CHILD)
		return "it waited for a child process to end";
	if (b->at.other == MODEL_OTHER_SIGNAL)
		return "it waited for a signal";
	return NULL;
}

/* Return true if the waker is a thread of the same process, or of another traced process. */
static bool waker_is_ours(const struct culprit_env *env, const struct culprit *c)
{
	uint64_t thread;

	return c->block.doing != MODEL_DOING_UNKNOWN ||
	       hash_get(env->by_tid, (uint64_t)c->proc << 32 | c->block.waker, &thread);
}

/*
 * Name the thread that ended a wait for I/O. For a pipe or a socket, it is the thread at the other
 * end.
 */
static void other_end_words(const struct culprit_env *env, const struct culprit *c,
			    enum culprit_level level, struct culprit_words *w)
{
	if (level == CULPRIT_COARSE)
		return;
	if (c->block.waited != MODEL_WAITED_WAKER) {
		if (w->has_ends)
			name_append(w->clause, sizeof(w->clause),
				    ", connected to an unknown thread");
		return;
	}
	if (waker_is_ours(env, c))
		w->waited = WAITED_THREAD;
	waker_words(env, c, level, w->has_ends ? "connected to" : "woken by", w);
}

static void place_words(const struct culprit_env *env, const struct culprit *c,
			struct culprit_words *w)
{
	const struct cause_env *e = env->env;
	const char *name = NULL, *link = "in", *call = "", *clause = culprit_clause(c->kind);
	char safe[NAME];
	/* If the file is unknown, name the function. */
	bool by_place = c->kind == CAUSE_IO || c->kind == CAUSE_SLEEP || c->kind == CAUSE_OTHER;

	if (c->kind == CAUSE_IO) {
		if (c->block.at.file == MODEL_FILE_SEVERAL)
			name = "one of several files";
		else if (c->block.at.file && e->file)
			name = e->file(e->ctx, c->block.at.file, &w->has_ends);
	} else if (c->kind == CAUSE_FAULT && c->fault_addr && e->mapping) {
		name = e->mapping(e->ctx, c->tgid, c->inc, c->fault_addr);
	} else if (c->kind == CAUSE_OTHER && other_clause(&c->block)) {
		clause = other_clause(&c->block);
		snprintf(w->clause, sizeof(w->clause), "%s", clause);
	}
	if (name && name[0]) {
		name_copy(safe, sizeof(safe), name);
		link = c->kind == CAUSE_IO ? "on" : "in";
	} else if (!by_place || !function_words(env, c, safe, sizeof(safe), &call)) {
		return;
	}
	snprintf(w->name, sizeof(w->name), "%s", safe);
	snprintf(w->clause, sizeof(w->clause), "%s %s %s%s", clause, link, safe, call);
}

void culprit_words(const struct culprit_env *env, const struct culprit *c, enum culprit_level level,
		   struct culprit_words *out)
{
	bool coarse = level != CULPRIT_EXACT;

	out->name[0] = out->awaits[0] = '\0';
	out->waited = WAITED_LOCK;
	out->doing = MODEL_DOING_UNKNOWN;
	out->doing_matters = out->has_ends = false;
	snprintf(out->clause, sizeof(out->clause), "%s", culprit_clause(c->kind));
	switch (c->kind) {
	case CAUSE_CPU:
		if (!c->ran)
			break;
		task_words(env, c, c->ran, coarse, out->name, sizeof(out->name));
		snprintf(out->clause, sizeof(out->clause),
			 "it was ready to run and waited for a CPU that %s had%s", out->name,
			 c->among ? ", among other tasks" : "");
		break;
	case CAUSE_LOCK:
		if (c->block.ns)
			lock_words(env, c, level, out);
		break;
	case CAUSE_GIL:
		if (c->block.ns)
			gil_words(env, c, level, out);
		break;
	case CAUSE_RELEASED_LATE:
		released_words(env, c, coarse, out);
		break;
	case CAUSE_IO:
		place_words(env, c, out);
		other_end_words(env, c, level, out);
		break;
	case CAUSE_FAULT:
	case CAUSE_SLEEP:
	case CAUSE_OTHER:
		place_words(env, c, out);
		break;
	default:
		break;
	}
}
