/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The maps, and the functions that all programs use. User space sets the sizes of the maps before
 * it loads the programs.
 */
#ifndef BPF_MAPS_H
#define BPF_MAPS_H

#include "kernel.h"
#include "sbt/state.h"

/*
 * Maps for the tail calls in stack_of_its_own(), which are never executed: one map for session
 * programs, one for other probes.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} no_session SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} no_probe SEC(".maps") __weak;

/*
 * Make the kernel run the program on the kernel stack of the thread. Since 6.13 the kernel runs a
 * tracing program on a separate stack, one per CPU, and assumes that no program can be interrupted
 * by itself. But a thread in the program of a uprobe can lose its CPU to another thread that hits
 * the same probe, which then overwrites its stack. Linux 7.2 crashed because of that. A program
 * with a tail call still runs on the thread's kernel stack. The verifier knows that this tail call
 * is never reached.
 */
#define stack_of_its_own(ctx, map)                    \
	do {                                          \
		__u64 never;                          \
                                                      \
		asm volatile("%0 = 0" : "=r"(never)); \
		if (never)                            \
			bpf_tail_call(ctx, &map, 0);  \
	} while (0)

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct sbt_proc);
} procs SEC(".maps") __weak;

/*
 * What user space has found out about a process since the process's entry in `procs` was made. This
 * is a separate map, which only user space writes. If user space wrote the entry in `procs`, it
 * could overwrite the new state of a process that executes another program at that moment.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct sbt_classified);
} judged SEC(".maps") __weak;

/* User space maps this array. It writes only the members `proc_flags` and `detached`. */
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

/*
 * Without accounting one entry, else as many entries as in `threads`. User space maps this array to
 * read it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct sbt_account);
} accounts SEC(".maps") __weak;

/*
 * One entry if no departures are inferred, else as many entries as in `threads`. User space maps
 * this array to read it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct sbt_offs);
} offs SEC(".maps") __weak;

/*
 * One entry if no counters are used, else as many entries as in `threads`. User space maps this
 * array to read it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct sbt_counting);
} countings SEC(".maps") __weak;

/*
 * Key of `inner_tids`: a thread's number in its PID namespace. The value is the thread's number in
 * the kernel.
 */
struct sbt_inner {
	__u32 pidns;
	__u32 nr;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct sbt_inner);
	__type(value, __u32);
} inner_tids SEC(".maps") __weak;

/* The perf events that count. Key: (number of the counter) x (number of CPUs) + CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} counter_events SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct sbt_file);
	__type(value, struct sbt_verdict);
} files SEC(".maps") __weak;

/*
 * Key: the process. Value: number of its crossings, or possible crossings, that were not recorded
 * because user space did not know yet how to trace its program.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u32);
} early SEC(".maps") __weak;

/*
 * -a. Key: the process. The entry stays after the process has exited, until another process gets
 * its number.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sbt_forked);
} forked SEC(".maps") __weak;

/* The rules by which the caller of a frame is found. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct sbt_frame_key);
	__type(value, struct sbt_frame_rule);
} frame_rules SEC(".maps") __weak;

/* Chains of callers by their names. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct sbt_chain);
} chains SEC(".maps") __weak;

/* The purpose of each probe. Index 0: pthread_barrier_wait. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SBT_SPECS);
	__type(key, __u32);
	__type(value, struct sbt_spec);
} specs SEC(".maps") __weak;

/* Used without cookies. Key: the offset of the probe in its page; value: its index in `specs`. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SBT_PAGE_PROBE_SITES);
	__type(key, __u32);
	__type(value, __u32);
} page_places SEC(".maps") __weak;

/*
 * Used without cookies, if several probes have the same offset. Key: that offset, and the code
 * there; value: the index in `specs`.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SBT_SPECS);
	__type(key, struct sbt_probe_site);
	__type(value, __u32);
} place_codes SEC(".maps") __weak;

/* The regions of each thread, at the index of the thread's slot in `threads`. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sbt_teams);
} teams SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct sbt_region_key);
	__type(value, struct sbt_region);
} regions SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct sbt_outlined);
	__type(value, __u32);
} outlined SEC(".maps") __weak;

/* The processes that run a Python interpreter. Only user space and on_fork write this map. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct sbt_python);
} pythons SEC(".maps") __weak;

/* The parts that code objects have in Python's library. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct sbt_python_code);
	__type(value, struct sbt_python_part);
} python_codes SEC(".maps") __weak;

/* The functions of Python that were sent to user space for samples. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct sbt_python_function);
	__type(value, __u32);
} python_sent SEC(".maps") __weak;

/* When threads were last woken at a condition of Python. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct sbt_object);
	__type(value, __u64);
} python_woken SEC(".maps") __weak;

/* The labels that were sent to user space. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct sbt_label_key);
	__type(value, __u32);
} labels SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct sbt_object);
	__type(value, struct sbt_object_state);
} objects SEC(".maps") __weak;

/*
 * Used with --aggregate; without it, each of these maps has one entry. `lately` is indexed by the
 * thread's slot. `sums` is mapped into user space.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sbt_recent);
} lately SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct sbt_sums);
} sums SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct sbt_sums_key);
	__type(value, __u32);
} sums_at SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct sbt_open_episodes);
} meetings SEC(".maps") __weak;

/*
 * Free slots of `sums` and `meetings`, which belonged to threads and processes that have exited.
 * User space has read and cleared these slots.
 */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__uint(value_size, sizeof(__u32));
} sums_free SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__uint(value_size, sizeof(__u32));
} meetings_free SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct sbt_object);
	__type(value, __u32);
} meetings_at SEC(".maps") __weak;

struct sbt_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

/* One ring per CPU: with a single ring, all CPUs would wait for its lock. */
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
extern volatile __u32 mappings;
extern volatile __u32 keep_words;
extern volatile __u32 several_tgids;
extern struct sbt_counts counts[SBT_COUNT_SLOTS];
extern __u32 marks[SBT_MARKS];
extern volatile __u32 ended;
extern __u32 nsums; /* number of slots taken in `sums`, or more */
extern __u32 nobjects;

#define count_add(field, cpu, n) \
	__sync_fetch_and_add(&counts[(cpu) & (SBT_COUNT_SLOTS - 1)].field, n)
#define count(field, cpu) count_add(field, cpu, 1)

/*
 * Return a number that distinguishes processes across PID reuse and exec: a microsecond stamp,
 * which wraps after 73 minutes. The number is never 0.
 */
static __always_inline __u32 incarnation(__u64 now)
{
	return (__u32)(now >> 10) | 1;
}

/* Return the process's SBT_PROC_* flags as they are now. */
static __always_inline __u32 proc_flags(const struct sbt_proc *p, __u32 tgid)
{
	struct sbt_classified *found;
	__u64 word;
	int i;

	/*
	 * Try twice, because the kernel may reuse the memory of this entry for another process at
	 * this moment.
	 */
#pragma unroll
	for (i = 0; i < 2; i++) {
		found = bpf_map_lookup_elem(&judged, &tgid);
		if (!found)
			break;
		word = *(volatile __u64 *)&found->word;
		if (word >> 32 == p->inc)
			return (p->flags & SBT_PROC_SEEN) | (__u32)word;
	}
	return p->flags;
}

/* Return the probe groups of the process for which no arrivals are recorded any more. */
static __always_inline __u64 proc_detached(const struct sbt_proc *p, __u32 tgid)
{
	struct sbt_classified *found = bpf_map_lookup_elem(&judged, &tgid);
	__u64 detached;

	if (!found || !*(volatile __u64 *)&found->detached)
		return 0;
	detached = *(volatile __u64 *)&found->detached;
	/*
	 * The kernel may be reusing the memory of this entry for another process. In that case
	 * `word` is written before `detached`, so its upper half shows this.
	 */
	return *(volatile __u64 *)&found->word >> 32 == p->inc ? detached : 0;
}

/*
 * Return whether the cost limit has detached the probe group of @spec for the thread
 * (--cost-limit).
 */
static __always_inline bool is_detached(const struct sbt_thread *t, const struct sbt_spec *spec)
{
	return t->detached & spec->probe_group;
}

/* Return the slot of a thread, and its index, or NULL. */
static __always_inline struct sbt_thread *thread_find(__u32 tid, __u32 *index)
{
	struct sbt_thread *t;
	__u32 i, at = tid & config.thread_mask;

	t = bpf_map_lookup_elem(&threads, &at);
	if (LIKELY(t && t->tid == tid)) {
		*index = at;
		return t;
	}
#pragma unroll
	for (i = 1; i < SBT_THREAD_PROBES; i++) {
		at = (tid + i * SBT_THREAD_STRIDE) & config.thread_mask;
		t = bpf_map_lookup_elem(&threads, &at);
		if (t && t->tid == tid) {
			*index = at;
			return t;
		}
	}
	return NULL;
}

/* Take a free slot for a thread. Return the slot, or NULL. */
static __always_inline struct sbt_thread *thread_claim(__u32 tid, __u32 tgid, __u32 *index)
{
	struct sbt_thread *t;
	__u32 i, at;

#pragma unroll
	for (i = 0; i < SBT_THREAD_PROBES; i++) {
		at = (tid + i * SBT_THREAD_STRIDE) & config.thread_mask;
		/* If two threads need the same slot, only one of them continues here. */
		if (bpf_map_update_elem(&owners, &at, &tid, BPF_NOEXIST))
			continue;
		t = bpf_map_lookup_elem(&threads, &at);
		if (t) {
			t->tgid = tgid;
			t->tid = tid;
			*index = at;
			__sync_fetch_and_add(&marks[tid & (SBT_MARKS - 1)], 1);
			return t;
		}
	}
	return NULL;
}

static __always_inline void thread_release(struct sbt_thread *t)
{
	__u32 i, at, tid = t->tid, *owner;

	count_add(gone, bpf_get_smp_processor_id(), t->seq);
	__sync_fetch_and_add(&marks[tid & (SBT_MARKS - 1)], -1);
	__builtin_memset(t, 0, sizeof(*t));
#pragma unroll
	for (i = 0; i < SBT_THREAD_PROBES; i++) {
		at = (tid + i * SBT_THREAD_STRIDE) & config.thread_mask;
		owner = bpf_map_lookup_elem(&owners, &at);
		if (owner && *owner == tid) {
			struct sbt_teams *own_teams = bpf_map_lookup_elem(&teams, &at);

			if (own_teams)
				own_teams->tid = 0;
			bpf_map_delete_elem(&owners, &at);
			return;
		}
	}
}

/* Reserve room for a record in this CPU's ring or, if that ring is full, in the next CPU's ring. */
static __always_inline void *ring_reserve(__u32 cpu, __u64 size)
{
	__u32 i = cpu < config.nrings ? cpu : 0;
	void *ring = bpf_map_lookup_elem(&rings, &i), *room = NULL;

	if (ring)
		room = bpf_ringbuf_reserve(ring, size, 0);
	if (room)
		return room;
	i = i + 1 < config.nrings ? i + 1 : 0;
	ring = bpf_map_lookup_elem(&rings, &i);
	if (ring)
		room = bpf_ringbuf_reserve(ring, size, 0);
	return room;
}

/*
 * Return the flag that wakes the reader if the ring is more than a quarter full, else the flag that
 * does not. The reader polls on a timer, at long intervals if few records arrive. A quarter is
 * early enough for stack samples, which are sent until a ring is half full.
 */
static __always_inline __u64 wake_if_full(void *ring)
{
	return bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) * 4 >
			       bpf_ringbuf_query(ring, BPF_RB_RING_SIZE)
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

static __noinline MAYBE_UNUSED __u64 ring_wake(__u32 cpu)
{
	__u32 i = cpu < config.nrings ? cpu : 0;
	void *ring = bpf_map_lookup_elem(&rings, &i);

	return ring ? wake_if_full(ring) : BPF_RB_NO_WAKEUP;
}

/*
 * Return the flags for submitting a record to the ring of @cpu. A wake-up for each record would
 * cost more than the probe, so one record in WAKE_EVERY checks whether the ring is filling up.
 * Threads check at different records, because they often arrive together.
 */
#define WAKE_EVERY 64

static __always_inline __u64 crossing_wake(const struct sbt_thread *t, __u32 cpu)
{
	return (t->seq + t->tid) & (WAKE_EVERY - 1) ? BPF_RB_NO_WAKEUP : ring_wake(cpu);
}

/*
 * Return whether this record is one in @every (a power of two), at random. This is for records that
 * have no number. While the reader is behind, a ring stays filled, and each record would wake it.
 */
static __always_inline bool is_one_in(__u32 every)
{
	return !(bpf_get_prandom_u32() & (every - 1));
}

/* As crossing_wake(), for a record that is no crossing: one record in @every checks the ring. */
static __always_inline __u64 record_wake(__u32 cpu, __u32 every)
{
	return is_one_in(every) ? ring_wake(cpu) : BPF_RB_NO_WAKEUP;
}

static __always_inline void *crossing_reserve(__u32 cpu, __u64 size)
{
	void *room = ring_reserve(cpu, size);

	if (!room)
		count(lost_ring, cpu);
	return room;
}

static __always_inline void crossing_fill(struct sbt_crossing *c, const struct sbt_thread *t,
					  __u64 depart_ns, __u32 cpu, __u16 flags)
{
	c->arrive_ns = t->arrive_ns;
	c->depart_ns = depart_ns;
	c->object = t->object;
	c->ip = t->site && t->site_ip == t->ip ? t->site : t->ip;
	c->raw_word = t->words;
	c->tgid = t->tgid;
	c->tid = t->tid;
	c->inc = t->inc;
	c->seq = t->seq;
	c->arrive_cpu = t->arrive_cpu;
	c->depart_cpu = cpu;
	c->type = t->team == TEAM_RESUME ? SBT_REC_RESUME : SBT_REC_CROSSING;
	c->family = t->family;
	c->kind = t->kind;
	c->depth = 0;
	c->flags = t->flags | flags;
	c->spec = t->spec;
	c->index = t->index;
	c->result = t->result;
	c->label = t->label;
	c->handler_ns = t->handler_ns;
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

/* Add a word to a hash. */
static __always_inline __u64 hash_add(__u64 hash, __u64 word)
{
	return (hash ^ word ^ hash >> 29) * 0x9e3779b97f4a7c15ULL;
}

/* Set the process and thread that the event is about. */
static __always_inline void event_task(struct sbt_event *e, __u32 tgid, __u32 tid, __u32 inc)
{
	e->tgid = tgid;
	e->tid = tid;
	e->inc = inc;
}

/*
 * Return the flags for submitting an event that user space need not get at once. Some programs
 * create and join threads as often as others cross barriers, so few events check the ring.
 */
static __always_inline __u64 event_wake(void)
{
	return is_one_in(WAKE_EVERY) ? wake_if_full(&events) : BPF_RB_NO_WAKEUP;
}

/* Return the address of the data of the task's own (TLS). */
static __always_inline __u64 thread_pointer(struct task_struct *task)
{
#if defined(__TARGET_ARCH_arm64)
	return BPF_CORE_READ(task, thread.uw.tp_value);
#else
	return BPF_CORE_READ(task, thread.fsbase);
#endif
}

/* Return the file behind a descriptor of the task, or NULL. */
static __always_inline struct file *file_at(struct task_struct *task, __u64 fd)
{
	struct fdtable *fdt = BPF_CORE_READ(task, files, fdt);
	struct file **files, *file = NULL;

	if (fd >= BPF_CORE_READ(fdt, max_fds))
		return NULL;
	files = BPF_CORE_READ(fdt, fd);
	if (bpf_probe_read_kernel(&file, sizeof(file), files + fd))
		return NULL;
	return file;
}

/*
 * Return the inode that /proc/PID/maps shows for a mapped file. A file of a stacked file system
 * (overlayfs) is a struct backing_file, but nothing in struct file says so. If a struct path
 * follows the struct file in memory, and its dentry and its mount have the same superblock, the
 * file is taken for a backing_file.
 */
static __always_inline struct inode *mapped_inode(struct file *file)
{
	struct backing_file *backing = (void *)file;
	struct super_block *sb;
	struct inode *inode;

	if (bpf_core_field_exists(backing->user_path)) {
		sb = BPF_CORE_READ(backing, user_path.dentry, d_sb);
		inode = BPF_CORE_READ(backing, user_path.dentry, d_inode);
		if (sb && inode && sb == BPF_CORE_READ(backing, user_path.mnt, mnt_sb))
			return inode;
	}
	return BPF_CORE_READ(file, f_inode);
}

/*
 * Number of attempts to read the mappings while other threads change them. A change takes about a
 * microsecond.
 */
#define MAPPING_TRIES 32

/*
 * Call @found with the mapping of the current process at @addr, if there is one. Return false if
 * the mappings could not be read.
 */
static __always_inline bool
mapping_find(__u64 addr, long (*found)(struct task_struct *, struct vm_area_struct *, void *),
	     void *ctx)
{
	int i;

	for (i = 0; i < MAPPING_TRIES; i++)
		if (bpf_find_vma(bpf_get_current_task_btf(), addr, found, ctx, 0) != -EBUSY)
			return true;
	return false;
}

/* Set @key to the file of the program that a process runs. */
static __always_inline void program_key(struct task_struct *task, struct sbt_file *key)
{
	struct inode *inode = BPF_CORE_READ(task, mm, exe_file, f_inode);

	key->ino = BPF_CORE_READ(inode, i_ino);
	key->dev = BPF_CORE_READ(inode, i_sb, s_dev);
}

/*
 * Note the program that the process runs, and its address. User space can then check whether data
 * that it reads later from the process still belongs to this program. If not, user space knows
 * where the program's code was.
 */
static __always_inline void event_program(struct sbt_event *e, struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct sbt_file program = {};

	program_key(task, &program);
	e->inode = program.ino;
	e->device = program.dev;
	e->code_start = BPF_CORE_READ(mm, start_code);
	e->code_end = BPF_CORE_READ(mm, end_code);
	e->stack_start = BPF_CORE_READ(mm, start_stack);
}

/*
 * Report to user space that the mappings of a process have changed. @hold: stop the process until
 * user space has examined it and attached the probes. The process has not run any of the new code
 * yet.
 */
static __always_inline void mappings_changed(struct sbt_proc *p, __u32 tgid, __u32 tid, bool hold)
{
	/* Reserve the event first: never stop a process without an event. */
	struct sbt_event *e = event_new(SBT_REC_MAP, bpf_ktime_get_ns());

	if (!e)
		return;
	event_task(e, tgid, tid, p ? p->inc : 0);
	e->change = p ? p->mappings : 0;
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	if (hold && bpf_send_signal(SIGSTOP) == 0)
		e->flags = SBT_EVENT_HELD;
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
}

/*
 * Return whether the process may be stopped for a moment without side effects. A parent is notified
 * of a stopped child, and parents such as su act on it. So only COMMAND itself is stopped, as a
 * child of sbt-trace. COMMAND must have no handler for SIGCONT, and a single thread. It has a
 * single thread after exec, in the dynamic linker, and usually at the first parallel region.
 */
static __always_inline bool may_hold(struct task_struct *task)
{
	void *handler = BPF_CORE_READ(task, sighand, action[SIGCONT - 1].sa.sa_handler);

	if (BPF_CORE_READ(task, signal, nr_threads) != 1)
		return false;
	if (handler != (void *)SIG_DFL && handler != (void *)SIG_IGN)
		return false;
	return (__u32)BPF_CORE_READ(task, real_parent, tgid) == config.self;
}

#endif /* BPF_MAPS_H */
