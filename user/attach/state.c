// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Write the input of the programs, and read the results in their maps. */
#include <errno.h>
#include <string.h>

#include "attach/internal.h"
#include "base/clock.h"

/* --- input of the programs -------------------------------------------------------------------- */

int attach_add_process(struct attach *a, uint32_t tgid, uint32_t inc, uint32_t flags)
{
	struct sbt_proc proc = { .inc = inc, .flags = flags };

	if (a->only_exits)
		proc.flags |= SBT_PROC_BY_EXIT;
	return bpf_map_update_elem(bpf_map__fd(a->skel->maps.procs), &tgid, &proc, BPF_ANY) ? -errno
											    : 0;
}

int attach_outlined(struct attach *a, uint32_t tgid, uint64_t fn, bool known)
{
	struct sbt_outlined key = { .fn = fn, .tgid = tgid };
	uint32_t value = known;

	return bpf_map_update_elem(bpf_map__fd(a->skel->maps.outlined), &key, &value, BPF_ANY)
		       ? -errno
		       : 0;
}

int attach_outlined_program(struct attach *a, uint32_t dev, uint64_t ino, uint64_t probe_site,
			    bool known)
{
	struct sbt_outlined key = { .fn = SBT_OUTLINED_PROGRAM(dev, ino, probe_site) };
	uint32_t value = SBT_OUTLINED_KNOWN;
	int fd = bpf_map__fd(a->skel->maps.outlined);

	if (known)
		return bpf_map_update_elem(fd, &key, &value, BPF_ANY) ? -errno : 0;
	return bpf_map_delete_elem(fd, &key) && errno != ENOENT ? -errno : 0;
}

int attach_teams_unknown(struct attach *a, uint32_t tgid)
{
	struct sbt_region_key key = { .tgid = tgid };
	struct sbt_region region = { 0 };

	return bpf_map_update_elem(bpf_map__fd(a->skel->maps.regions), &key, &region, BPF_ANY)
		       ? -errno
		       : 0;
}

void each_thread(const struct attach *a, void (*each)(void *ctx, struct sbt_thread *thread),
		 void *ctx)
{
	int owners = bpf_map__fd(a->skel->maps.owners);
	uint32_t key, next;
	bool first = true;

	while (!bpf_map_get_next_key(owners, first ? NULL : &key, &next)) {
		first = false;
		key = next;
		if (key < a->nthreads && a->threads[key].tid)
			each(ctx, &a->threads[key]);
	}
}

struct flag {
	uint32_t tgid, set, clear;
};

static void flag_thread(void *ctx, struct sbt_thread *thread)
{
	const struct flag *flag = ctx;

	/*
	 * A thread inside a barrier keeps the flags of its arrival, which also determine how it
	 * departs.
	 */
	if (thread->tgid == flag->tgid && !thread->arrive_ns)
		__atomic_store_n(&thread->proc_flags,
				 (thread->proc_flags | flag->set) & ~flag->clear, __ATOMIC_RELAXED);
}

/*
 * Return the flags of a process as the programs see them: its classification, or else SBT_PROC_*
 * from @proc without SBT_PROC_SEEN.
 */
static struct sbt_classified classified_now(const struct attach *a, uint32_t tgid,
					    const struct sbt_proc *proc)
{
	struct sbt_classified classified;

	if (!bpf_map_lookup_elem(bpf_map__fd(a->skel->maps.judged), &tgid, &classified) &&
	    classified.word >> 32 == proc->inc)
		return classified;
	return (struct sbt_classified){ .word = proc->flags & ~SBT_PROC_SEEN };
}

/* Delete entries of processes that exited while they were classified. */
static void forget_gone(const struct attach *a)
{
	int procs = bpf_map__fd(a->skel->maps.procs),
	    classified = bpf_map__fd(a->skel->maps.judged);
	uint32_t key, next;
	struct sbt_proc proc;
	bool more = !bpf_map_get_next_key(classified, NULL, &next);

	while (more) {
		key = next;
		more = !bpf_map_get_next_key(classified, &key, &next);
		if (bpf_map_lookup_elem(procs, &key, &proc))
			bpf_map_delete_elem(classified, &key);
	}
}

int classify_process(struct attach *a, uint32_t tgid, uint32_t inc, const struct classification *j)
{
	int map = bpf_map__fd(a->skel->maps.judged);
	struct sbt_classified classified;
	struct sbt_proc proc;

	if (bpf_map_lookup_elem(bpf_map__fd(a->skel->maps.procs), &tgid, &proc))
		return -errno;
	if (proc.inc != inc)
		return -ENOENT;
	/*
	 * The process may execute another program at any moment, after which this call has no
	 * effect.
	 */
	classified = classified_now(a, tgid, &proc);
	classified.word = (uint64_t)inc << 32 | (((uint32_t)classified.word | j->set) & ~j->clear);
	classified.detached |= j->detached;
	if (!bpf_map_update_elem(map, &tgid, &classified, BPF_ANY))
		return 0;
	if (errno != E2BIG)
		return -errno;
	forget_gone(a);
	return bpf_map_update_elem(map, &tgid, &classified, BPF_ANY) ? -errno : 0;
}

int attach_flag_process(struct attach *a, uint32_t tgid, uint32_t inc, uint32_t set, uint32_t clear)
{
	struct flag flag = { tgid, set, clear };
	int err = classify_process(a, tgid, inc,
				   &(struct classification){ .set = set, .clear = clear });

	/* Threads' slots have no copies of these two flags. */
	if (!err && (set | clear) & ~(SBT_PROC_FRESH | SBT_PROC_WAITS))
		each_thread(a, flag_thread, &flag);
	return err;
}

/*
 * Read the programs' entry of a process into *@out. Return false if the process has exited or been
 * replaced.
 */
static bool find_process(const struct attach *a, uint32_t tgid, uint32_t inc, struct sbt_proc *out)
{
	return !bpf_map_lookup_elem(bpf_map__fd(a->skel->maps.procs), &tgid, out) &&
	       out->inc == inc;
}

int attach_mappings(const struct attach *a, uint32_t tgid, uint32_t inc, uint32_t *n)
{
	struct sbt_proc proc;

	if (!find_process(a, tgid, inc, &proc))
		return -ENOENT;
	*n = proc.mappings;
	return 0;
}

int attach_know_program(struct attach *a, uint32_t dev, uint64_t ino, uint32_t flags, bool settled)
{
	struct sbt_file key = { .dev = dev, .ino = ino };
	struct sbt_verdict verdict = { .flags = SBT_PROC_KNOWN | flags };

	if (settled)
		verdict.ns = now_ns();
	return bpf_map_update_elem(bpf_map__fd(a->skel->maps.files), &key, &verdict, BPF_ANY)
		       ? -errno
		       : 0;
}

void attach_forget_program(struct attach *a, uint32_t dev, uint64_t ino)
{
	struct sbt_file key = { .dev = dev, .ino = ino };

	(void)bpf_map_delete_elem(bpf_map__fd(a->skel->maps.files), &key);
}

void attach_forked(const struct attach *a, uint32_t tgid, uint64_t *thread_ns, uint64_t *child_ns)
{
	struct sbt_forked forked = { 0 };

	/* If there is no entry, the process has created no thread and no child. */
	(void)bpf_map_lookup_elem(bpf_map__fd(a->skel->maps.forked), &tgid, &forked);
	*thread_ns = forked.thread_ns;
	*child_ns = forked.child_ns;
}

void attach_arm(struct attach *a, bool on)
{
	__atomic_store_n(&a->skel->bss->armed, on ? ARMED_ALL : 0, __ATOMIC_SEQ_CST);
	if (!on)
		account_end(a);
}

/* --- results ---------------------------------------------------------------------------------- */

void attach_counts(const struct attach *a, struct sbt_counts *out)
{
	uint64_t *sum = (uint64_t *)out;
	size_t i, j, n = sizeof(*out) / sizeof(*sum);

	memset(out, 0, sizeof(*out));
	for (i = 0; i < SBT_COUNT_SLOTS; i++) {
		const uint64_t *slot = (const uint64_t *)&a->skel->bss->counts[i];

		for (j = 0; j < n; j++)
			sum[j] += __atomic_load_n(&slot[j], __ATOMIC_RELAXED);
	}
}

static void add_seq(void *ctx, struct sbt_thread *thread)
{
	uint64_t *sum = ctx;

	*sum += thread->seq;
}

uint64_t attach_produced(const struct attach *a, const struct sbt_counts *counts)
{
	uint64_t sum = counts->gone + counts->refused;

	each_thread(a, add_seq, &sum);
	return sum;
}

void attach_each_process(const struct attach *a, void (*each)(void *ctx, uint32_t tgid), void *ctx)
{
	int procs = bpf_map__fd(a->skel->maps.procs);
	uint32_t key = 0, next, seen = 0;
	struct sbt_proc proc;
	bool first = true;

	/*
	 * If a process exits meanwhile, the walk may start again from the beginning. The limit of
	 * 65536 steps ends the walk.
	 */
	while (seen++ < 65536 && !bpf_map_get_next_key(procs, first ? NULL : &key, &next)) {
		key = next;
		first = false;
		if (!bpf_map_lookup_elem(procs, &key, &proc) &&
		    !(classified_now(a, key, &proc).word & SBT_PROC_EXCLUDED))
			each(ctx, key);
	}
}

bool attach_traces(const struct attach *a, uint32_t tgid, uint32_t *inc)
{
	struct sbt_proc proc;

	if (bpf_map_lookup_elem(bpf_map__fd(a->skel->maps.procs), &tgid, &proc))
		return false;
	*inc = proc.inc;
	return !((proc.flags | classified_now(a, tgid, &proc).word) & SBT_PROC_EXCLUDED);
}

uint64_t attach_looks(const struct attach *a, uint32_t tgid, uint32_t inc)
{
	struct sbt_proc proc;

	return find_process(a, tgid, inc, &proc) ? proc.looks : 0;
}

int attach_procs_fd(const struct attach *a)
{
	return bpf_map__fd(a->skel->maps.procs);
}

struct pending {
	void (*each)(void *ctx, uint32_t tid, const struct sbt_thread *thread);
	void *ctx;
};

static void show_pending(void *ctx, struct sbt_thread *thread)
{
	const struct pending *pending = ctx;

	if (thread->arrive_ns)
		pending->each(pending->ctx, thread->tid, thread);
}

void attach_each_pending(const struct attach *a,
			 void (*each)(void *ctx, uint32_t tid, const struct sbt_thread *thread),
			 void *ctx)
{
	struct pending pending = { each, ctx };

	each_thread(a, show_pending, &pending);
}

static const struct sbt_offs *open_offs(const struct attach *a, const struct sbt_thread *thread)
{
	const struct sbt_offs *o = a->offs ? &a->offs[thread - a->threads] : NULL;

	return o && o->open && o->tid == thread->tid ? o : NULL;
}

struct inferred {
	const struct attach *attach;
	struct pending pending;
};

static void show_inferred(void *ctx, struct sbt_thread *thread)
{
	const struct inferred *i = ctx;
	const struct sbt_offs *o = open_offs(i->attach, thread);
	struct sbt_thread copy;

	if (!o || thread->arrive_ns)
		return;
	copy = *thread;
	copy.arrive_ns = o->arrive_ns;
	i->pending.each(i->pending.ctx, copy.tid, &copy);
}

void attach_each_inferred(const struct attach *a,
			  void (*each)(void *ctx, uint32_t tid, const struct sbt_thread *thread),
			  void *ctx)
{
	struct inferred inferred = { a, { each, ctx } };

	each_thread(a, show_inferred, &inferred);
}

struct members {
	const struct attach *attach;
	uint32_t tgid;
	void (*each)(void *ctx, uint32_t tid, uint64_t team, uint32_t entered);
	void *ctx;
};

static void show_member(void *ctx, struct sbt_thread *thread)
{
	const struct members *m = ctx;
	const struct sbt_bpf *skel = m->attach->skel;
	uint32_t index = (uint32_t)(thread - m->attach->threads);
	const struct sbt_team *top;
	struct sbt_region_key key = { .tgid = m->tgid };
	struct sbt_region region;
	struct sbt_teams teams;

	if (thread->tgid != m->tgid)
		return;
	if (bpf_map_lookup_elem(bpf_map__fd(skel->maps.teams), &index, &teams) ||
	    teams.tid != thread->tid || !teams.depth || teams.depth > SBT_TEAM_DEPTH) {
		m->each(m->ctx, thread->tid, 0, 0);
		return;
	}
	top = &teams.stack[teams.depth - 1];
	key.fn = top->fn;
	key.data = top->data;
	if ((top->flags & SBT_TEAM_UNSEEN) ||
	    bpf_map_lookup_elem(bpf_map__fd(skel->maps.regions), &key, &region) ||
	    !(region.flags & SBT_REGION_SEEN) || region.flags & SBT_REGION_AMBIGUOUS)
		region.members = 0;
	m->each(m->ctx, thread->tid, top->object, region.members);
}

void attach_each_member(const struct attach *a, uint32_t tgid,
			void (*each)(void *ctx, uint32_t tid, uint64_t team, uint32_t entered),
			void *ctx)
{
	struct members members = { a, tgid, each, ctx };

	each_thread(a, show_member, &members);
}

struct sbt_thread *find_thread(const struct attach *a, uint32_t tid)
{
	uint32_t i;

	for (i = 0; i < SBT_THREAD_PROBES; i++) {
		struct sbt_thread *t =
			&a->threads[(tid + i * SBT_THREAD_STRIDE) & (a->nthreads - 1)];

		if (__atomic_load_n(&t->tid, __ATOMIC_ACQUIRE) == tid)
			return t;
	}
	return NULL;
}

bool attach_is_inside(const struct attach *a, uint32_t tid)
{
	const struct sbt_thread *t = find_thread(a, tid);

	return t && __atomic_load_n(&t->arrive_ns, __ATOMIC_ACQUIRE) != 0;
}

bool attach_has_arrived(const struct attach *a, uint32_t tid)
{
	const struct sbt_thread *t = find_thread(a, tid);

	return attach_is_inside(a, tid) || (t && open_offs(a, t));
}
