/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/* The maps, and the helpers that every program uses. Sizes are set by user space before load. */
#ifndef BPF_MAPS_H
#define BPF_MAPS_H

#include "kernel.h"
#include "state.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct sbt_proc);
} procs SEC(".maps") __weak;

/* Mapped by user space, which writes nothing but proc_flags there. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 32768);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct sbt_thread);
} threads SEC(".maps") __weak;

/* Index in `threads` -> tid. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u32);
	__type(value, __u32);
} owners SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct sbt_file);
	__type(value, struct sbt_verdict);
} files SEC(".maps") __weak;

struct sbt_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

/* One ring a CPU: one lock for all would serialise them. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct sbt_ring);
} rings SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 262144);
} events SEC(".maps") __weak;

extern const volatile struct sbt_config config;
extern volatile __u32 armed;
extern volatile __u32 epoch;
extern volatile __u32 keep_words;
extern struct sbt_counts counts[SBT_COUNT_SLOTS];

#define count_add(field, cpu, n) \
	__sync_fetch_and_add(&counts[(cpu) & (SBT_COUNT_SLOTS - 1)].field, n)
#define count(field, cpu) count_add(field, cpu, 1)

/* Tells PID reuse and exec apart: a microsecond stamp, wrapping after 73 minutes. Never 0. */
static __always_inline __u32 incarnation(__u64 now)
{
	return (__u32)(now >> 10) | 1;
}

/* The slot of a thread, or NULL. */
static __always_inline struct sbt_thread *thread_find(__u32 tid)
{
	struct sbt_thread *t;
	__u32 i, at = tid & config.thread_mask;

	t = bpf_map_lookup_elem(&threads, &at);
	if (t && t->tid == tid)
		return t;
#pragma unroll
	for (i = 1; i < SBT_THREAD_PROBES; i++) {
		at = (tid + i * SBT_THREAD_STRIDE) & config.thread_mask;
		t = bpf_map_lookup_elem(&threads, &at);
		if (t && t->tid == tid)
			return t;
	}
	return NULL;
}

/* Takes a free slot for a thread, or NULL. */
static __always_inline struct sbt_thread *thread_claim(__u32 tid)
{
	struct sbt_thread *t;
	__u32 i, at;

#pragma unroll
	for (i = 0; i < SBT_THREAD_PROBES; i++) {
		at = (tid + i * SBT_THREAD_STRIDE) & config.thread_mask;
		/* Only one of two threads that want the same slot gets in here. */
		if (bpf_map_update_elem(&owners, &at, &tid, BPF_NOEXIST))
			continue;
		t = bpf_map_lookup_elem(&threads, &at);
		if (t) {
			t->tid = tid;
			return t;
		}
	}
	return NULL;
}

static __always_inline void thread_release(struct sbt_thread *t)
{
	__u32 i, at, tid = t->tid, *owner;

	count_add(gone, bpf_get_smp_processor_id(), t->seq);
	__builtin_memset(t, 0, sizeof(*t));
#pragma unroll
	for (i = 0; i < SBT_THREAD_PROBES; i++) {
		at = (tid + i * SBT_THREAD_STRIDE) & config.thread_mask;
		owner = bpf_map_lookup_elem(&owners, &at);
		if (owner && *owner == tid) {
			bpf_map_delete_elem(&owners, &at);
			return;
		}
	}
}

/* Writes one crossing; its slot is free afterwards. @depart_ns 0: abandoned. */
static __always_inline void crossing_write(struct sbt_thread *t, __u64 depart_ns)
{
	__u32 cpu = bpf_get_smp_processor_id(), i = cpu;
	struct sbt_crossing *c = NULL;
	void *ring;

	t->seq++;
	if (i >= config.nrings)
		i = 0;
	ring = bpf_map_lookup_elem(&rings, &i);
	if (ring)
		c = bpf_ringbuf_reserve(ring, sizeof(*c), 0);
	if (!c) {
		/* A second chance at a neighbour's before it counts as lost. */
		i = i + 1 < config.nrings ? i + 1 : 0;
		ring = bpf_map_lookup_elem(&rings, &i);
		if (ring)
			c = bpf_ringbuf_reserve(ring, sizeof(*c), 0);
	}
	if (!c) {
		count(lost_ring, cpu);
		t->arrive_ns = 0;
		return;
	}
	c->arrive_ns = t->arrive_ns;
	c->depart_ns = depart_ns;
	c->object = t->object;
	c->ip = t->ip;
	c->words = t->words;
	c->tgid = t->tgid;
	c->tid = t->tid;
	c->inc = t->inc;
	c->seq = t->seq;
	c->arrive_cpu = t->arrive_cpu;
	c->depart_cpu = cpu;
	c->type = SBT_REC_CROSSING;
	c->family = t->family;
	c->flags = t->flags | (depart_ns ? 0 : SBT_CROSSING_ABANDONED);
	c->depth = 0;
	t->arrive_ns = 0;
	/* The reader polls on a timer: a wake-up would cost more than the probe. */
	bpf_ringbuf_submit(c, BPF_RB_NO_WAKEUP);
}

static __always_inline struct sbt_event *event_new(__u32 type, __u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct sbt_event *e;

	count(events, cpu);
	e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e) {
		count(lost_event, cpu);
		return NULL;
	}
	__builtin_memset(e, 0, sizeof(*e));
	e->t_ns = now;
	e->type = type;
	return e;
}

/* The file that a process runs. */
static __always_inline void program_key(struct task_struct *task, struct sbt_file *key)
{
	struct inode *inode = BPF_CORE_READ(task, mm, exe_file, f_inode);

	key->ino = BPF_CORE_READ(inode, i_ino);
	key->dev = BPF_CORE_READ(inode, i_sb, s_dev);
}

/*
 * Tells user space that a process has other mappings than before; @hold stops the process, which has not
 * yet run a byte of what is new, until user space has looked and attached.
 */
static __always_inline void mappings_changed(struct sbt_proc *p, __u32 tgid, __u32 tid, bool hold)
{
	/* The event first: nobody may be stopped whom nobody was told of. */
	struct sbt_event *e = event_new(SBT_REC_MAP, bpf_ktime_get_ns());

	if (!e)
		return;
	e->tgid = tgid;
	e->tid = tid;
	e->inc = p ? p->inc : 0;
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	if (hold && bpf_send_signal(SIGSTOP) == 0)
		e->flags = SBT_EVENT_HELD;
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
}

#endif /* BPF_MAPS_H */
