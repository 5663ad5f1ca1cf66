// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "hang/thread_snapshot.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "attach/regs.h"
#include "attach/sample.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/number.h"
#include "base/text.h"
#include "sites/walk.h"
#include "target/look.h"
#include "target/proc.h"

/* incarnation of address spaces that are read only for snapshots; no traced process has it */
#define ADDRESS_SPACE_INC UINT32_MAX
#define ROUNDS		  3 /* attempts to read a thread that runs during the look */
#define SAMPLE_MS	  50 /* time limit of all attempts together */
/* bytes copied of each stack: enough for all frames of most stacks */
#define COPY_BYTES	  16384
/* maximum number of bytes of all copied stacks; the rest is read on demand */
#define COPIES_BYTES	  (64u << 20)

/* The frames of one site, without their address. */
struct site_frames {
	uint32_t n;
	struct snapshot_frame *frames; /* NULL: not read yet */
};

struct snapshots {
	struct address_spaces *spaces;
	struct regs *regs; /* the task iterator; NULL: none */
	char why[160]; /* why there is no iterator */
	struct walk *walk;
	struct site_frames *sites; /* by site */
	uint32_t nsites;
};

/* A thread while a snapshot is taken. */
struct subject {
	struct snapshot_thread *thread;
	struct look look;
	uint64_t switches; /* number of context switches when the registers were read */
	uint64_t returns[REGS_RETURNS];
	uint32_t nreturns;
	bool done; /* registers and stack are from the same moment */
	bool running; /* the thread runs and needs a sample */
	uint8_t *copy; /* copy of the stack */
	uint64_t copy_at;
	size_t copy_len;
};

struct taking {
	struct snapshots *snapshots;
	struct snapshot *snapshot;
	struct address_space *space; /* NULL: the process cannot be read */
	struct subject *subjects;
	uint32_t n;
	size_t copied;
};

int snapshots_new(struct address_spaces *spaces, struct snapshots **out)
{
	struct snapshots *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->spaces = spaces;
	if (walk_new(spaces, &s->walk)) {
		free(s);
		return -ENOMEM;
	}
	regs_new(&s->regs, s->why, sizeof(s->why));
	*out = s;
	return 0;
}

void snapshots_free(struct snapshots *s)
{
	uint32_t i, j;

	if (!s)
		return;
	for (i = 0; i < s->nsites; i++) {
		for (j = 0; j < s->sites[i].n; j++) {
			free((char *)(uintptr_t)s->sites[i].frames[j].function);
			free((char *)(uintptr_t)s->sites[i].frames[j].file);
		}
		/* All frames share the module's string. */
		if (s->sites[i].n)
			free((char *)(uintptr_t)s->sites[i].frames[0].module);
		free(s->sites[i].frames);
	}
	free(s->sites);
	walk_free(s->walk);
	regs_free(s->regs);
	free(s);
}

const char *snapshots_no_iterator(const struct snapshots *s)
{
	return s->regs ? NULL : s->why;
}

int snapshot_read(uint32_t pid, uint64_t address, void *to, size_t size)
{
	return look_read((int)pid, address, to, size);
}

void snapshot_free(struct snapshot *snapshot)
{
	uint32_t i;

	if (!snapshot)
		return;
	for (i = 0; snapshot->threads && i < snapshot->n; i++) {
		free((void *)(uintptr_t)snapshot->threads[i].frames);
		free((char *)(uintptr_t)snapshot->threads[i].waits_for);
	}
	free(snapshot->threads);
	free(snapshot);
}

const struct snapshot_thread *snapshot_find(const struct snapshot *snapshot, uint32_t tid)
{
	array_for_each (t, snapshot->threads, snapshot->n)
		if (t->tid == tid)
			return t;
	return NULL;
}

/* --- threads ---------------------------------------------------------------------------------- */

struct tids {
	uint32_t *all;
	uint32_t n, cap;
	bool failed;
};

static void note_tid(void *ctx, int tid)
{
	struct tids *t = ctx;

	if (grow(t->all, t->cap, t->n + 1))
		t->failed = true;
	else
		t->all[t->n++] = (uint32_t)tid;
}

static int snapshot_new(uint32_t pid, const uint32_t *tids, uint32_t n, struct snapshot **out)
{
	struct snapshot *s = NULL;
	struct tids found = { 0 };
	int err = 0;
	uint32_t i;

	*out = NULL;
	if (!n) {
		err = proc_each_thread((int)pid, note_tid, &found);
		err = err < 0 ? err : found.failed ? -ENOMEM : found.n ? 0 : -ESRCH;
		if (err)
			goto out;
		qsort(found.all, found.n, sizeof(*found.all), number_compare_u32);
		tids = found.all;
		n = found.n;
	}
	err = -ENOMEM;
	s = calloc(1, sizeof(*s));
	if (!s)
		goto out;
	*s = (struct snapshot){ .pid = pid, .n = n, .threads = calloc(n, sizeof(*s->threads)) };
	if (!s->threads) {
		snapshot_free(s);
		goto out;
	}
	for (i = 0; i < n; i++) {
		s->threads[i].pid = pid;
		s->threads[i].tid = tids[i];
	}
	*out = s;
	err = 0;
out:
	free(found.all);
	return err;
}

/* --- state ------------------------------------------------------------------------------------ */

static enum snapshot_wait wait_of(const struct look *look)
{
	static const enum snapshot_wait calls[] = {
		[LOOK_FUTEX] = SNAPSHOT_FUTEX, [LOOK_IO] = SNAPSHOT_IO,
		[LOOK_SLEEP] = SNAPSHOT_SLEEP, [LOOK_CHILD] = SNAPSHOT_CHILD,
		[LOOK_OTHER] = SNAPSHOT_OTHER, [LOOK_NOTHING] = SNAPSHOT_OTHER,
	};
	enum snapshot_wait wait;

	switch (look->state) {
	case 'R':
		return SNAPSHOT_RUNNABLE;
	case 'T':
	case 't':
		return SNAPSHOT_STOPPED;
	case 'Z':
		return SNAPSHOT_ZOMBIE;
	case 'X':
	case 0:
		return SNAPSHOT_GONE;
	default:
		break;
	}
	if (look->syscall == LOOK_UNKNOWN_CALL)
		return look->state == 'D' ? SNAPSHOT_DISK : SNAPSHOT_UNKNOWN;
	wait = calls[look_call_wait(look)];
	return wait == SNAPSHOT_OTHER && look->state == 'D' ? SNAPSHOT_DISK : wait;
}

static void take_state(struct snapshot_thread *t, const struct look *look)
{
	memcpy(t->comm, look->comm, sizeof(t->comm));
	t->state = look->state;
	t->syscall = look->syscall;
	memcpy(t->args, look->args, sizeof(t->args));
	memcpy(t->wchan, look->wchan, sizeof(t->wchan));
	t->cpu_ns = look->cpu_ns;
	t->runq_ns = look->runq_ns;
	t->start_ticks = look->start_ticks;
	t->switches = look->switches;
	t->sp = look->sp;
	t->pc = look->pc;
	t->wait = wait_of(look);
}

/* Examine a thread. If the thread has exited, that is a valid result. */
static void look_at(struct snapshot_thread *t, struct look *look)
{
	look_thread((int)t->pid, (int)t->tid, look);
	take_state(t, look);
}

/* --- registers -------------------------------------------------------------------------------- */

static int compare_tid(const void *key, const void *element)
{
	uint32_t tid = *(const uint32_t *)key, other = ((const struct regs_thread *)element)->tid;

	return NUMBER_COMPARE(tid, other);
}

static const struct regs_thread *regs_of(const struct regs_thread *all, uint32_t n, uint32_t tid)
{
	return n ? bsearch(&tid, all, n, sizeof(*all), compare_tid) : NULL;
}

static bool has_stack(const struct snapshot_thread *t)
{
	return t->wait != SNAPSHOT_GONE && t->wait != SNAPSHOT_ZOMBIE;
}

static void take_registers(struct subject *u, const struct regs_thread *r)
{
	struct snapshot_thread *t = u->thread;

	t->regs = r->regs;
	t->sp = r->regs.value[STACK_SP];
	t->pc = r->regs.value[STACK_PC];
	t->source = SNAPSHOT_ITERATOR;
	u->switches = r->switches;
}

/*
 * Take sp and pc from /proc. They suffice if each caller's frame can be found from the stack
 * pointer alone.
 */
static void take_proc_registers(struct subject *u)
{
	struct snapshot_thread *t = u->thread;

	memset(&t->regs, 0, sizeof(t->regs));
	stack_set(&t->regs, STACK_SP, u->look.sp);
	stack_set(&t->regs, STACK_PC, u->look.pc);
	t->regs.exact = 1;
	t->source = SNAPSHOT_PROC;
	u->switches = u->look.switches;
}

static void copy_stack(struct taking *k, struct subject *u)
{
	long n;

	if (k->copied > COPIES_BYTES)
		return;
	if (!u->copy)
		u->copy = malloc(COPY_BYTES);
	if (!u->copy)
		return;
	n = look_read_some((int)u->thread->pid, u->thread->sp, u->copy, COPY_BYTES);
	u->copy_at = u->thread->sp;
	u->copy_len = n > 0 ? (size_t)n : 0;
	k->copied += u->copy_len;
}

/* Return whether the thread did not run during the look. */
static bool stood_still(const struct subject *u)
{
	struct look again;

	if (u->switches == UINT64_MAX)
		return true; /* unknown */
	return !look_again((int)u->thread->pid, (int)u->thread->tid, &again) &&
	       again.switches == u->switches;
}

/* Examine a thread once. @r are its registers from the iterator; NULL: unknown. */
static void look_once(struct taking *k, struct subject *u, const struct regs_thread *r)
{
	struct snapshot_thread *t = u->thread;

	u->running = false;
	u->nreturns = r ? r->nreturns : 0;
	if (r)
		memcpy(u->returns, r->returns, sizeof(u->returns));
	t->source = SNAPSHOT_NO_STACK;
	look_at(t, &u->look);
	if (!has_stack(t)) {
		u->done = true;
		return;
	}
	if (r && r->regs.known && !r->on_cpu && r->switches == u->look.switches)
		take_registers(u, r);
	else if (u->look.sp)
		take_proc_registers(u);
	else if (t->state == 'R')
		u->running = true;
	if (t->source == SNAPSHOT_NO_STACK)
		return;
	copy_stack(k, u);
	u->done = stood_still(u);
}

static bool all_done(const struct taking *k)
{
	array_for_each (subject, k->subjects, k->n)
		if (!subject->done)
			return false;
	return true;
}

/* --- running threads -------------------------------------------------------------------------- */

static void take_sample(struct subject *u, struct sample *sample)
{
	struct snapshot_thread *t = u->thread;

	t->regs = sample->regs;
	t->sp = sample->sp;
	t->pc = sample->regs.value[STACK_PC];
	t->source = SNAPSHOT_SAMPLE;
	t->sampled = true;
	t->state = 'R';
	t->wait = SNAPSHOT_RUNNING;
	t->syscall = LOOK_NO_CALL;
	t->wchan[0] = '\0';
	free(u->copy);
	u->copy = sample->bytes;
	u->copy_at = sample->sp;
	u->copy_len = sample->len;
	sample->bytes = NULL;
	u->done = true;
}

static int sample_running(struct taking *k, int wait_ms)
{
	struct sample *samples = calloc(k->n, sizeof(*samples));
	uint32_t n = 0;

	if (!samples)
		return -ENOMEM;
	array_for_each (subject, k->subjects, k->n)
		if (!subject->done && subject->running)
			samples[n++].tid = subject->thread->tid;
	if (n && sample_take(samples, n, wait_ms) > 0) {
		n = 0;
		array_for_each (u, k->subjects, k->n) {
			if (u->done || !u->running)
				continue;
			if (samples[n].taken)
				take_sample(u, &samples[n]);
			n++;
		}
	}
	sample_release(samples, n);
	free(samples);
	return 0;
}

/* --- all threads ------------------------------------------------------------------------------ */

/*
 * Read the registers before everything else. If a thread does not run until its stack has been
 * copied, all reads find it at the same place.
 */
static void look_round(struct taking *k)
{
	struct regs_thread *all = NULL;
	uint32_t n = 0;

	if (k->snapshots->regs)
		regs_read(k->snapshots->regs, k->snapshot->pid, &all, &n);
	array_for_each (u, k->subjects, k->n) {
		if (!u->done)
			look_once(k, u, regs_of(all, n, u->thread->tid));
	}
	free(all);
}

static int look_at_all(struct taking *k)
{
	uint64_t end = 0, now;
	int round, err = 0;

	for (round = 0; !err && round < ROUNDS; round++) {
		look_round(k);
		if (all_done(k))
			break;
		now = now_ns();
		if (!end)
			end = now + SAMPLE_MS * 1000000ull;
		/*
		 * Use three quarters of the remaining time now: a thread that blocks meanwhile
		 * needs another round.
		 */
		err = sample_running(k, now >= end ? 0 : (int)((end - now) * 3 / 4000000u));
		if (all_done(k))
			break;
	}
	/* A thread that lost its CPU before it was sampled can now be read. */
	if (!err && round == ROUNDS)
		look_round(k);
	return err;
}

/* --- stacks ----------------------------------------------------------------------------------- */

static const char *printable(const char *raw)
{
	return raw && *raw ? text_printable(raw) : NULL;
}

static const struct site_frames *frames_of_site(struct snapshots *s, uint32_t site)
{
	const struct site_name *name;
	struct site_frames *p;
	const char *module;
	uint32_t i, n;

	if (grow_zeroed(s->sites, s->nsites, site + 1))
		return NULL;
	p = &s->sites[site];
	if (p->frames)
		return p;
	name = address_spaces_site(s->spaces, site);
	if (!name)
		return NULL;
	n = name->nframes ? name->nframes : 1;
	p->frames = calloc(n, sizeof(*p->frames));
	if (!p->frames)
		return NULL;
	p->n = n;
	module = printable(name->module);
	for (i = 0; i < n; i++) {
		p->frames[i].module = module;
		if (i >= name->nframes)
			continue;
		p->frames[i].function = printable(name->frames[i].function);
		p->frames[i].file = printable(name->frames[i].file);
		p->frames[i].line = name->frames[i].line;
	}
	for (i = 0; i + 1 < n; i++)
		p->frames[i].inlined = p->frames[i + 1].function ? p->frames[i + 1].function : "";
	return p;
}

/* Read from the copy of the stack, and beyond the copy from the process's memory. */
static long read_stack(void *ctx, uint64_t address, void *to, size_t size)
{
	const struct subject *u = ctx;
	uint64_t at = address - u->copy_at;

	size_t have;
	long more = 0;

	if (address < u->copy_at || at >= u->copy_len)
		return look_read_some((int)u->thread->pid, address, to, size);
	have = size < u->copy_len - at ? size : u->copy_len - at;
	memcpy(to, u->copy + at, have);
	if (size > have)
		more = look_read_some((int)u->thread->pid, address + have, (uint8_t *)to + have,
				      size - have);
	return (long)have + (more > 0 ? more : 0);
}

static int add_frames(struct snapshots *s, struct snapshot_thread *t,
		      const struct walk_frame *frames, uint32_t n)
{
	struct snapshot_frame *all = calloc(SNAPSHOT_FRAMES_MAX, sizeof(*all));
	uint32_t i, j;

	if (!all)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		const struct site_frames *p = frames_of_site(s, frames[i].site);

		if (!p) {
			free(all);
			return -ENOMEM;
		}
		for (j = 0; j < p->n; j++) {
			if (t->nframes == SNAPSHOT_FRAMES_MAX) {
				t->truncated = true;
				break;
			}
			all[t->nframes] = p->frames[j];
			all[t->nframes++].address = frames[i].address;
		}
	}
	t->frames = all;
	return 0;
}

/*
 * Find the thread's MPI call. To read its arguments, walk again with all registers of the frames.
 */
static int take_call(struct taking *k, struct walk_thread *walk, struct walk_frame *frames,
		     uint32_t *n, bool *whole, struct snapshot_thread *t)
{
	struct mpi_stack stack = { .spaces = k->snapshots->spaces,
				   .space = k->space,
				   .frames = frames,
				   .n = *n,
				   .read = walk->read,
				   .ctx = walk->ctx };
	int err;

	if (!mpi_call_likely(&stack))
		return 0;
	walk->registers = true;
	err = walk_up(k->snapshots->walk, k->space, walk, frames, SNAPSHOT_FRAMES_MAX, n, whole);
	stack.n = *n;
	if (!err)
		mpi_call_find(&stack, &t->call);
	return err;
}

/*
 * Replace the frames from the innermost one of the Python interpreter on by the Python functions
 * that the thread executes. They get the address of that frame, as functions that are inlined in
 * it. Return the number of frames.
 */
static uint32_t take_python(struct taking *k, const struct snapshot_thread *t,
			    struct walk_frame *frames, uint32_t n)
{
	uint32_t sites[SNAPSHOT_FRAMES_MAX], python, i, at = 0;
	struct address_space_code code;
	struct walk_frame inner;
	bool own;

	while (at < n && (!address_space_code(k->snapshots->spaces, k->space,
					      frames[at].address + 1, &code) ||
			  code.module != k->space->python))
		at++;
	if (at == n)
		return n;
	python = address_space_python_frames(k->snapshots->spaces, k->space,
					     proc_inner_tid(t->pid, t->tid, &own), sites,
					     SNAPSHOT_FRAMES_MAX - at);
	if (!python)
		return n;
	inner = frames[at];
	for (i = 0; i < python; i++) {
		frames[at + i] = inner;
		frames[at + i].site = sites[i];
	}
	return at + python;
}

static int take_stack(struct taking *k, struct subject *u)
{
	struct snapshot_thread *t = u->thread;
	struct walk_thread walk = { .regs = t->regs, .read = read_stack, .ctx = u };
	struct walk_frame frames[SNAPSHOT_FRAMES_MAX];
	bool whole = false;
	uint32_t n = 0;
	int err;

	if (t->source == SNAPSHOT_NO_STACK || !k->space)
		return 0;
	walk.in_call = t->source != SNAPSHOT_SAMPLE && t->syscall >= 0;
	walk.returns = u->returns;
	walk.nreturns = u->nreturns;
	err = walk_up(k->snapshots->walk, k->space, &walk, frames, SNAPSHOT_FRAMES_MAX, &n, &whole);
	if (!err)
		err = take_call(k, &walk, frames, &n, &whole, t);
	t->truncated = !whole;
	if (!err && k->space->python)
		n = take_python(k, t, frames, n);
	return err ? err : add_frames(k->snapshots, t, frames, n);
}

/* --- words ------------------------------------------------------------------------------------ */

/*
 * Return the thread that thread @t joins, or 0. @t waits at the futex word in which the C library
 * keeps the joined thread's tid until the kernel clears it. The futex is not private, because it is
 * the kernel that wakes the waiting thread (glibc's pthread_join).
 */
static uint32_t joined(const struct snapshot *s, const struct snapshot_thread *t)
{
	uint64_t op = t->args[1] & 0x7f;
	uint32_t word = 0;

	if (t->wait != SNAPSHOT_FUTEX || t->syscall != SYS_futex ||
	    t->args[1] & FUTEX_PRIVATE_FLAG || (op != FUTEX_WAIT && op != FUTEX_WAIT_BITSET) ||
	    (uint32_t)t->args[2] == t->tid || !snapshot_find(s, (uint32_t)t->args[2]))
		return 0;
	if (snapshot_read(t->pid, t->args[0], &word, sizeof(word)) || word != (uint32_t)t->args[2])
		return 0;
	return word;
}

static int take_words(struct taking *k, struct subject *u)
{
	struct snapshot_thread *t = u->thread;
	char words[1400] = "";
	uint32_t other;

	if (!t->sampled && has_stack(t)) {
		other = joined(k->snapshot, t);
		if (other)
			snprintf(words, sizeof(words), "join of thread %u", other);
		else if (t->state != 'R' && t->state != 'T' && t->state != 't')
			look_words((int)t->pid, &u->look, words, sizeof(words));
	}
	t->waits_for = strdup(words);
	return t->waits_for ? 0 : -ENOMEM;
}

/* --- snapshots -------------------------------------------------------------------------------- */

/*
 * Read the mappings once. The space is marked as gone afterwards, so that an address outside these
 * mappings does not cause another read.
 */
static void read_address_space(struct taking *k)
{
	struct address_space *space =
		address_space_get(k->snapshots->spaces, k->snapshot->pid, ADDRESS_SPACE_INC);

	if (!space)
		return;
	space->gone = false;
	if (!address_space_read(k->snapshots->spaces, space))
		k->space = space;
	if (k->space)
		address_space_find_python(k->snapshots->spaces, space);
	space->gone = true;
}

struct address_space *snapshot_address_space(struct snapshots *s, uint32_t pid)
{
	return address_space_find(s->spaces, pid, ADDRESS_SPACE_INC);
}

/* Return whether no thread could be read, although all of them exist. */
static bool nothing_known(const struct snapshot *s)
{
	array_for_each (t, s->threads, s->n)
		if (t->syscall != LOOK_UNKNOWN_CALL || t->nframes || !has_stack(t))
			return false;
	return true;
}

int snapshot_take(struct snapshots *s, uint32_t pid, const uint32_t *tids, uint32_t n,
		  struct snapshot **out)
{
	struct taking k = { .snapshots = s };
	uint32_t i;
	int err;

	*out = NULL;
	err = snapshot_new(pid, tids, n, &k.snapshot);
	if (err)
		return err;
	k.n = k.snapshot->n;
	k.subjects = calloc(k.n, sizeof(*k.subjects));
	if (!k.subjects)
		err = -ENOMEM;
	for (i = 0; !err && i < k.n; i++)
		k.subjects[i].thread = &k.snapshot->threads[i];
	if (!err)
		err = look_at_all(&k);
	if (!err)
		read_address_space(&k);
	for (i = 0; !err && i < k.n; i++) {
		err = take_stack(&k, &k.subjects[i]);
		if (!err)
			err = take_words(&k, &k.subjects[i]);
	}
	for (i = 0; k.subjects && i < k.n; i++)
		free(k.subjects[i].copy);
	free(k.subjects);
	if (!err && nothing_known(k.snapshot))
		err = -EACCES;
	if (err) {
		snapshot_free(k.snapshot);
		return err;
	}
	*out = k.snapshot;
	return 0;
}

int snapshot_glance(uint32_t pid, const uint32_t *tids, uint32_t n, struct snapshot **out)
{
	struct snapshot *snapshot;
	uint32_t i;
	int err = snapshot_new(pid, tids, n, &snapshot);

	*out = NULL;
	for (i = 0; !err && i < snapshot->n; i++) {
		struct snapshot_thread *t = &snapshot->threads[i];
		struct look look;

		look_at(t, &look);
		t->waits_for = strdup("");
		if (!t->waits_for)
			err = -ENOMEM;
	}
	if (err) {
		snapshot_free(snapshot);
		return err;
	}
	*out = snapshot;
	return 0;
}

struct regs *snapshots_regs(const struct snapshots *s)
{
	return s->regs;
}
