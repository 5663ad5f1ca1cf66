// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "hang/locks.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/hash.h"
#include "target/proc.h"

/* how many innermost frames are searched for the waiting function of the C library */
#define LOCK_FRAMES 8

/* glibc, struct __pthread_mutex_s: lock, count, owner, nusers, kind. */
#define MUTEX_OWNER    8
#define MUTEX_KIND     16
#define MUTEX_BYTES    20
#define MUTEX_KINDS    0x3ffu /* all bits of a kind */
#define MUTEX_WAITERS  2u /* value of the lock word: locked, with waiters */
/*
 * glibc since 2.25, struct __pthread_rwlock_arch_t: readers, writers, wrphase_futex, writers_futex,
 * pad, pad, cur_writer. Threads wait at the two futexes.
 */
#define RWLOCK_WRPHASE 8
#define RWLOCK_WRITERS 12
#define RWLOCK_WRITER  24
/* glibc since 2.25, struct pthread_barrier: in, current_round; threads wait at current_round. */
#define BARRIER_ROUND  4
/* musl, pthread_mutex_t: type, lock (the owner's tid, except for the plain type), waiters. */
#define MUSL_LOCK      4

struct locks {
	struct address_spaces *spaces;
	/* (process, tid in its pid namespace) -> tid in sbt-trace's pid namespace */
	struct hash inner;
	struct hash namespaced; /* process -> whether it is in a separate pid namespace */
};

int locks_new(struct address_spaces *spaces, struct locks **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->spaces = spaces;
	return 0;
}

void locks_free(struct locks *l)
{
	if (!l)
		return;
	locks_forget(l);
	free(l);
}

void locks_forget(struct locks *l)
{
	hash_free(&l->inner);
	hash_free(&l->namespaced);
}

/* --- tids in pid namespaces ------------------------------------------------------------------- */

struct numbering {
	struct locks *locks;
	uint32_t pid;
};

static void note_number(void *ctx, int tid)
{
	const struct numbering *n = ctx;
	bool own;
	uint32_t inner = proc_inner_tid(n->pid, (uint32_t)tid, &own);

	if (inner)
		hash_put(&n->locks->inner, (uint64_t)n->pid << 32 | inner, (uint32_t)tid);
}

static bool is_namespaced(struct locks *l, uint32_t pid)
{
	struct numbering numbering = { l, pid };
	uint64_t known;
	bool own = false;

	if (hash_get(&l->namespaced, pid, &known))
		return known;
	proc_inner_tid(pid, pid, &own);
	hash_put(&l->namespaced, pid, own);
	if (own)
		proc_each_thread((int)pid, note_number, &numbering);
	return own;
}

/* Return the tid of the thread that has tid @number in the process's pid namespace, or 0. */
static uint32_t thread_of(struct locks *l, uint32_t pid, uint32_t number)
{
	uint64_t tid;
	bool own;

	if (!number)
		return 0;
	if (!is_namespaced(l, pid))
		return proc_inner_tid(pid, number, &own) ? number : 0;
	return hash_get(&l->inner, (uint64_t)pid << 32 | number, &tid) ? (uint32_t)tid : 0;
}

/* --- the waiting function --------------------------------------------------------------------- */

static const struct {
	const char *begins;
	enum hang_on on;
} functions[] = {
	{ "pthread_mutex_", HANG_ON_MUTEX },
	{ "lll_lock_wait", HANG_ON_MUTEX },
	{ "mtx_", HANG_ON_MUTEX },
	{ "pthread_rwlock_", HANG_ON_RWLOCK },
	{ "pthread_cond_", HANG_ON_COND },
	{ "cnd_", HANG_ON_COND },
	{ "sem_wait", HANG_ON_SEM },
	{ "sem_timedwait", HANG_ON_SEM },
	{ "sem_clockwait", HANG_ON_SEM },
	{ "new_sem_wait", HANG_ON_SEM },
	{ "pthread_join", HANG_ON_JOIN },
	{ "pthread_timedjoin", HANG_ON_JOIN },
	{ "pthread_clockjoin", HANG_ON_JOIN },
	{ "thrd_join", HANG_ON_JOIN },
	{ "pthread_barrier_wait", HANG_ON_BARRIER },
};

/* Return the function's public name: pthread_mutex_lock for __GI___pthread_mutex_lock. */
static const char *plain(const char *function)
{
	const char *before;

	do {
		before = function;
		while (*function == '_')
			function++;
		if (!strncmp(function, "GI_", 3))
			function += 3;
	} while (function != before);
	return function;
}

static enum hang_on by_function(const struct snapshot_thread *stack)
{
	uint32_t i;
	size_t k;

	for (i = 0; i < stack->nframes && i < LOCK_FRAMES; i++) {
		const char *name = stack->frames[i].function;

		if (!name)
			continue;
		name = plain(name);
		for (k = 0; k < sizeof(functions) / sizeof(functions[0]); k++)
			if (!strncmp(name, functions[k].begins, strlen(functions[k].begins)))
				return functions[k].on;
	}
	return HANG_ON_FUTEX;
}

/* --- the holder ------------------------------------------------------------------------------- */

/* A futex word. */
struct word {
	uint32_t pid;
	uint64_t at;
	uint32_t now; /* its value */
	uint32_t expected; /* the value that the thread passed to futex() */
};

static bool read_u32(uint32_t pid, uint64_t at, uint32_t *out)
{
	return !snapshot_read(pid, at, out, sizeof(*out));
}

static uint32_t u32_at(const uint8_t *bytes, size_t at)
{
	uint32_t v;

	memcpy(&v, bytes + at, sizeof(v));
	return v;
}

/*
 * Read a glibc mutex at its lock word. Return whether the memory looks like a locked mutex with
 * waiters. *holder is set to its owner, alive or not, or stays 0 if the owner is unknown.
 */
static bool read_mutex(struct locks *l, const struct word *w, uint32_t *holder)
{
	uint32_t lock, owner, kind;
	uint8_t m[MUTEX_BYTES];

	if (snapshot_read(w->pid, w->at, m, sizeof(m)))
		return false;
	lock = u32_at(m, 0);
	owner = u32_at(m, MUTEX_OWNER);
	kind = u32_at(m, MUTEX_KIND);
	if (kind > MUTEX_KINDS)
		return false;
	/* A robust mutex also has the owner's tid in the lock word. */
	if (lock != MUTEX_WAITERS && (lock & FUTEX_TID_MASK) != owner)
		return false;
	*holder = thread_of(l, w->pid, owner);
	/*
	 * The owner has ended and still holds the mutex, or is in another process that shares the
	 * mutex.
	 */
	if (!*holder && !is_namespaced(l, w->pid))
		*holder = owner;
	return true;
}

static void read_musl_mutex(struct locks *l, const struct word *w, struct lock_wait *out)
{
	uint32_t owner = w->now & FUTEX_TID_MASK;

	out->object = w->at - MUSL_LOCK;
	if (owner != EBUSY)
		out->holder = thread_of(l, w->pid, owner);
}

static void read_rwlock(struct locks *l, const struct word *w, struct lock_wait *out)
{
	uint32_t writer = 0;

	/*
	 * The lock's address is a multiple of 8, so the word's address shows which of the two
	 * futexes it is.
	 */
	out->object = w->at - (w->at % 8 ? RWLOCK_WRITERS : RWLOCK_WRPHASE);
	if (out->object % 8 || !read_u32(w->pid, out->object + RWLOCK_WRITER, &writer))
		return;
	out->holder = thread_of(l, w->pid, writer);
}

static bool is_plain_wait(const struct snapshot_thread *t)
{
	uint64_t op = t->args[1] & FUTEX_CMD_MASK;

	return op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET;
}

static bool is_pi_wait(const struct snapshot_thread *t)
{
	uint64_t op = t->args[1] & FUTEX_CMD_MASK;

	return op == FUTEX_LOCK_PI || op == 13 /* FUTEX_LOCK_PI2, since 5.14 */;
}

/*
 * Find the joined thread. The futex word holds the joined thread's tid. The futex is not private,
 * because it is the kernel that wakes the waiting thread.
 */
static bool read_join(struct locks *l, const struct snapshot_thread *t, const struct word *w,
		      struct lock_wait *out)
{
	if (!is_plain_wait(t) || w->now != w->expected || t->args[1] & FUTEX_PRIVATE_FLAG)
		return false;
	out->holder = thread_of(l, t->pid, w->now);
	return out->holder != 0;
}

/* Return whether the word is that of a glibc mutex with a known holder. */
static bool is_mutex_wait(struct locks *l, const struct word *w, uint32_t *holder)
{
	return w->now == MUTEX_WAITERS && w->expected == MUTEX_WAITERS &&
	       read_mutex(l, w, holder) && *holder;
}

/*
 * Identify a join or a mutex without the name of the waiting function, if the futex's memory can
 * hardly be anything else.
 */
static void read_nameless_futex(struct locks *l, const struct snapshot_thread *t,
				const struct word *w, struct lock_wait *out)
{
	uint32_t holder = 0;

	if (read_join(l, t, w, out)) {
		out->on = HANG_ON_JOIN;
	} else if (is_mutex_wait(l, w, &holder) && thread_of(l, t->pid, holder) == holder) {
		out->on = HANG_ON_MUTEX;
		out->holder = holder;
	}
}

static void read_word(struct locks *l, const struct address_space *space,
		      const struct snapshot_thread *t, const struct word *w, struct lock_wait *out)
{
	uint32_t holder = 0;

	switch (out->on) {
	case HANG_ON_MUTEX:
		if (space && space->libc == FAMILY_LIBC_MUSL)
			read_musl_mutex(l, w, out);
		else if (read_mutex(l, w, &holder))
			out->holder = holder;
		break;
	case HANG_ON_RWLOCK:
		read_rwlock(l, w, out);
		break;
	case HANG_ON_JOIN:
		read_join(l, t, w, out);
		break;
	case HANG_ON_COND:
		/* If the thread was signalled, it now waits for the mutex. */
		if (is_mutex_wait(l, w, &holder)) {
			out->on = HANG_ON_MUTEX;
			out->holder = holder;
		}
		break;
	case HANG_ON_BARRIER:
		out->object = w->at - BARRIER_ROUND;
		break;
	case HANG_ON_FUTEX:
		read_nameless_futex(l, t, w, out);
		break;
	default:
		break;
	}
}

/* --- words ------------------------------------------------------------------------------------ */

static void name_lock(const struct locks *l, const struct address_space *space,
		      struct lock_wait *out)
{
	static const char *const kinds[HANG_ON_COLLECTIVE + 1] = {
		[HANG_ON_MUTEX] = "mutex",
		[HANG_ON_RWLOCK] = "read-write lock",
		[HANG_ON_COND] = "condition variable",
		[HANG_ON_SEM] = "semaphore",
		[HANG_ON_FUTEX] = "futex",
	};
	const char *kind = kinds[out->on];
	const char *name =
		kind && space ? address_space_object_name(l->spaces, space, out->object) : NULL;

	if (!kind)
		return;
	if (name && *name)
		snprintf(out->words, sizeof(out->words), "the %s `%s`", kind, name);
	else
		snprintf(out->words, sizeof(out->words), "the %s at 0x%" PRIx64, kind, out->object);
}

void locks_read(struct locks *l, const struct address_space *space, const struct snapshot_thread *t,
		const struct snapshot_thread *stack, struct lock_wait *out)
{
	struct word w = { .pid = t->pid, .at = t->args[0], .expected = (uint32_t)t->args[2] };

	memset(out, 0, sizeof(*out));
	if (t->wait != SNAPSHOT_FUTEX)
		return;
	out->on = HANG_ON_FUTEX;
	if (t->syscall != SYS_futex)
		return;
	out->object = w.at;
	out->timed = t->args[3] != 0;
	if (!read_u32(w.pid, w.at, &w.now))
		return;
	if (is_pi_wait(t)) {
		out->on = HANG_ON_MUTEX;
		out->holder = thread_of(l, t->pid, w.now & FUTEX_TID_MASK);
	} else {
		out->on = by_function(stack);
		read_word(l, space, t, &w, out);
	}
	name_lock(l, space, out);
}
