// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Who or what made a thread late, put into words. All names come from outside and are made printable. */
#include "analyse/internal.h"

#include <stdio.h>
#include <string.h>

#define NAME 44 /* bytes of any one name */
_Static_assert(CULPRIT_DID_WHO == NAME + 24, "a name with a number");
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
		/* Everybody gives up as much as the smallest has. */
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

/* --- names ----------------------------------------------------------------------------------------- */

void culprit_thread(const struct culprit_env *env, uint32_t thread, uint32_t tid, bool shared,
		    char *out, size_t size)
{
	const struct model_thread *t =
		thread < model_nthreads(env->model) ? model_thread(env->model, thread) : NULL;

	if (!shared && t && t->tid == tid && t->ordinal != MODEL_NONE)
		tid = t->ordinal;
	snprintf(out, size, "thread %u", tid);
}

/* "thread 2" of the late one's process, "stress-ng (4711)", "task 4711". */
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
	const char *base = module ? strrchr(module, '/') : NULL;
	size_t i;

	base = base ? base + 1 : module;
	for (i = 0; base && i < sizeof(prefix) / sizeof(prefix[0]); i++)
		if (!strncmp(base, prefix[i], strlen(prefix[i])))
			return true;
	return false;
}

/*
 * The function in which the program itself was: the innermost that is not the C library's. Of what has no names, the
 * library or program.
 */
static bool function_words(const struct culprit_env *env, const struct culprit *c, char *out,
			   size_t size)
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
			f = strrchr(s->module, '/');
			name_copy(out, size, f ? f + 1 : s->module);
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
	return true;
}

/*
 * The kernel side names the file of calls that are given one. Those that are given many, or a file of files, are known
 * by where the thread stood: the C library's function for them.
 */
static const char *many_files(const struct culprit_env *env, const struct culprit *c)
{
	const struct site_name *s = NULL;
	const char *f;
	uint32_t site;

	if (c->block.stack && env->env->stack && env->report_env->site &&
	    env->env->stack(env->env->ctx, c->tgid, c->inc, c->block.stack, &site, 1))
		s = env->report_env->site(env->report_env->ctx, site);
	f = s && s->nframes && is_libc(s->module) ? s->frames[0].function : NULL;
	while (f && *f == '_')
		f++;
	if (!f)
		return NULL;
	if (!strncmp(f, "epoll_", 6))
		return "an epoll instance";
	if (strstr(f, "poll") || strstr(f, "select"))
		return "one of several files";
	return NULL;
}

/* --- clauses ----------------------------------------------------------------------------------------- */

/* By enum cause_kind. */
static const struct cause_row cause_rows[CAUSE_KINDS] = {
	[CAUSE_WORK] = { CAUSE_WORK, "work" },
	[CAUSE_MORE_WORK] = { CAUSE_MORE_WORK, "more work" },
	[CAUSE_SLOWER_WORK] = { CAUSE_SLOWER_WORK, "slower work" },
	[CAUSE_CPU] = { CAUSE_CPU, "no cpu" },
	[CAUSE_LOCK] = { CAUSE_LOCK, "lock" },
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
		[CAUSE_LOCK] = "it waited for a lock or for another thread",
		[CAUSE_IO] = "it waited for I/O",
		[CAUSE_FAULT] = "of page faults",
		[CAUSE_SLEEP] = "it slept",
		[CAUSE_THROTTLED] = "its cgroup had used up its CPU time",
		[CAUSE_STEAL] = "the host took its CPU away",
		[CAUSE_OTHER] = "it was blocked, for a reason that is not known",
		[CAUSE_RELEASED_LATE] = "it left the barrier before later",
		[CAUSE_UNATTRIBUTED] = "of time that could not be attributed",
	};

	return (unsigned)kind < CAUSE_KINDS ? clauses[kind] : "";
}

enum model_doing culprit_doing(const struct model_block *b)
{
	/* Recordings may hold anything. */
	return b->doing_ns < b->ns / 2 || b->doing >= MODEL_DOING_BLOCKED + MODEL_BLOCKED_REASONS
		       ? MODEL_DOING_UNKNOWN
		       : b->doing;
}

/* The second step of the chain: what the holder, or the waker, did for most of that time. */
static void note_doing(const struct culprit_env *env, const struct culprit *c, bool coarse,
		       bool tells, struct culprit_words *w)
{
	w->doing = (uint8_t)culprit_doing(&c->block);
	w->tells = tells;
	if (c->block.culprit)
		task_words(env, c, c->block.culprit, coarse, w->did_who, sizeof(w->did_who));
}

static void lock_name(const struct culprit_env *env, const struct culprit *c, char *out,
		      size_t size)
{
	const char *name = c->block.addr && env->env->lock
				   ? env->env->lock(env->env->ctx, c->tgid, c->inc, c->block.addr)
				   : NULL;
	char safe[NAME];

	if (name && name[0]) {
		name_copy(safe, sizeof(safe), name);
		snprintf(out, size, "`%s`", safe);
	} else if (c->block.addr) {
		snprintf(out, size, "at 0x%llx", (unsigned long long)c->block.addr);
	} else {
		out[0] = '\0';
	}
}

/*
 * By the C library's function that it stood in, where the word alone does not tell. Debian's has no names but those that
 * others may call: a condition variable's waits have one, what sem_wait() goes on with has none.
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
		/* In recordings made before their call was told of. */
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
	char who[NAME + 24];

	if (coarse || !c->block.holder) {
		snprintf(w->who, sizeof(w->who), "the end of a thread");
		snprintf(w->clause, sizeof(w->clause), "it waited for a thread to end");
		return;
	}
	task_words(env, c, c->block.holder, false, who, sizeof(who));
	note_doing(env, c, false, true, w);
	snprintf(w->who, sizeof(w->who), "the end of %s", who);
	snprintf(w->clause, sizeof(w->clause), "it waited for %s to end", who);
}

/* ", woken by feeder (4711)": to go on with. */
static void waker_words(const struct culprit_env *env, const struct culprit *c,
			enum culprit_level level, const char *woken, struct culprit_words *w)
{
	bool coarse = level != CULPRIT_EXACT;
	char who[NAME + 24];

	if (level == CULPRIT_COARSE || !c->block.waker)
		return;
	task_words(env, c, c->block.waker, coarse, who, sizeof(who));
	note_doing(env, c, coarse, true, w);
	name_append(w->who, sizeof(w->who), ", %s %s", woken, who);
	name_append(w->clause, sizeof(w->clause), ", %s %s", woken, who);
}

/* Of what nobody holds: the thread that woke it is the one that it waited for. */
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
	snprintf(w->who, sizeof(w->who), "%s%s%s", thing, name[0] ? " " : "", name);
	snprintf(w->clause, sizeof(w->clause), "it waited for %s%s%s%s", thing, name[0] ? " " : "",
		 name, change);
	waker_words(env, c, level, "woken by", w);
}

static void lock_words(const struct culprit_env *env, const struct culprit *c,
		       enum culprit_level level, struct culprit_words *w)
{
	bool coarse = level != CULPRIT_EXACT;
	const struct model_block *b = &c->block;
	char lock[NAME + 4], who[NAME + 24];
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
		task_words(env, c, b->holder, false, who, sizeof(who));
		note_doing(env, c, false, false, w);
		snprintf(w->who, sizeof(w->who), "the lock%s%s, held by %s%s", gap, lock, who,
			 among);
		snprintf(w->clause, sizeof(w->clause), "it waited for the lock%s%s held by %s%s",
			 gap, lock, who, among);
	} else if (!coarse && b->waker) {
		/* The thread that woke it need not have held anything. */
		task_words(env, c, b->waker, false, who, sizeof(who));
		note_doing(env, c, false, true, w);
		if (w->doing)
			w->waited = WAITED_THREAD;
		snprintf(w->who, sizeof(w->who), "the lock%s%s, woken by %s", gap, lock, who);
		snprintf(w->clause, sizeof(w->clause),
			 "it waited for the lock or condition%s%s, woken by %s (the holder is not "
			 "known)",
			 gap, lock, who);
	} else if (lock[0]) {
		snprintf(w->who, sizeof(w->who), "the lock %s", lock);
		snprintf(w->clause, sizeof(w->clause), "it waited for the lock %s", lock);
	}
}

static void released_words(const struct culprit_env *env, const struct culprit *c, bool coarse,
			   struct culprit_words *w)
{
	const char *late = c->began	  ? "it began later"
			   : c->elsewhere ? "it came from another meeting, which ended later"
					  : "it left the barrier before later";

	if (c->elsewhere && !c->began)
		w->waited = WAITED_ELSEWHERE;
	snprintf(w->clause, sizeof(w->clause), "%s", late);
	if (c->ran) {
		task_words(env, c, c->ran, coarse, w->who, sizeof(w->who));
		snprintf(w->clause, sizeof(w->clause),
			 "%s, having waited for a CPU that %s had when it was released", late,
			 w->who);
	} else if (c->awaited && !coarse) {
		task_words(env, c, c->awaited, coarse, w->who, sizeof(w->who));
		snprintf(w->clause, sizeof(w->clause), "%s, having waited there for %s", late,
			 w->who);
	}
}

/* What it waited for, where that is none of the usual reasons; NULL if it is not known. */
static const char *other_clause(const struct model_block *b)
{
	if (b->reason != MODEL_BLOCKED_OTHER || !b->ns)
		return NULL;
	if (b->addr == MODEL_OTHER_STOPPED)
		return "it was stopped, by a signal or a debugger";
	if (b->addr == MODEL_OTHER_CHILD)
		return "it waited for a child process to end";
	if (b->addr == MODEL_OTHER_SIGNAL)
		return "it waited for a signal";
	return NULL;
}

/* Is the thread that woke it of the same process, or of one whose threads are traced? */
static bool waker_is_ours(const struct culprit_env *env, const struct culprit *c)
{
	uint64_t thread;

	return c->block.doing != MODEL_DOING_UNKNOWN ||
	       hash_get(env->by_tid, (uint64_t)c->proc << 32 | c->block.waker, &thread);
}

/* The thread that ended a wait for I/O: at a pipe or a socket it is what the other end is. */
static void other_end_words(const struct culprit_env *env, const struct culprit *c,
			    enum culprit_level level, struct culprit_words *w)
{
	bool ends = !strcmp(w->who, "a pipe") || !strcmp(w->who, "a socket");

	if (level == CULPRIT_COARSE)
		return;
	if (c->block.waited != MODEL_WAITED_WAKER) {
		if (ends)
			name_append(w->clause, sizeof(w->clause), ", whose other end is not known");
		return;
	}
	if (waker_is_ours(env, c))
		w->waited = WAITED_THREAD;
	waker_words(env, c, level, ends ? "whose other end is" : "woken by", w);
}

static void place_words(const struct culprit_env *env, const struct culprit *c,
			struct culprit_words *w)
{
	const struct cause_env *e = env->env;
	const char *name = NULL, *link = "in", *clause = culprit_clause(c->kind);
	char safe[NAME];
	/* Where no file is known, or there is none, the function has to do. */
	bool by_place = c->kind == CAUSE_IO || c->kind == CAUSE_SLEEP || c->kind == CAUSE_OTHER;

	if (c->kind == CAUSE_IO) {
		if (c->block.addr && e->file)
			name = e->file(e->ctx, c->block.addr);
		if (!name || !*name)
			name = many_files(env, c);
	} else if (c->kind == CAUSE_FAULT && c->fault_addr && e->mapping) {
		name = e->mapping(e->ctx, c->tgid, c->inc, c->fault_addr);
	} else if (c->kind == CAUSE_OTHER && other_clause(&c->block)) {
		clause = other_clause(&c->block);
		snprintf(w->clause, sizeof(w->clause), "%s", clause);
	}
	if (name && name[0]) {
		name_copy(safe, sizeof(safe), name);
		link = c->kind == CAUSE_IO ? "on" : "in";
	} else if (!by_place || !function_words(env, c, safe, sizeof(safe))) {
		return;
	}
	snprintf(w->who, sizeof(w->who), "%s", safe);
	snprintf(w->clause, sizeof(w->clause), "%s %s %s", clause, link, safe);
}

void culprit_words(const struct culprit_env *env, const struct culprit *c, enum culprit_level level,
		   struct culprit_words *out)
{
	bool coarse = level != CULPRIT_EXACT;

	out->who[0] = out->did_who[0] = '\0';
	out->waited = WAITED_LOCK;
	out->doing = MODEL_DOING_UNKNOWN;
	out->tells = false;
	snprintf(out->clause, sizeof(out->clause), "%s", culprit_clause(c->kind));
	switch (c->kind) {
	case CAUSE_CPU:
		if (!c->ran)
			break;
		task_words(env, c, c->ran, coarse, out->who, sizeof(out->who));
		snprintf(out->clause, sizeof(out->clause),
			 "it was ready to run and waited for a CPU that %s had%s", out->who,
			 c->among ? ", among others" : "");
		break;
	case CAUSE_LOCK:
		if (c->block.ns)
			lock_words(env, c, level, out);
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
