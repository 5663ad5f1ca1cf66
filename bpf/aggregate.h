/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Sums instead of records (--aggregate). An arriving thread increments a counter of the object,
 * which gives its episode. A departing thread adds its times to its own sums. The last arriver adds
 * the times of the whole episode. The counter needs atomics that return a value, so only the
 * programs for --aggregate may include this header.
 */
#ifndef BPF_AGGREGATE_H
#define BPF_AGGREGATE_H

#include "thread.h"

/*
 * Number of times that raise_to() tries to raise a word that other threads raise at the same time.
 */
#define SUM_TRIES	    16
/* After this many partial episodes in a row, the count of arrivals is taken to be wrong. */
#define PARTIAL_IN_A_ROW    4
/*
 * The probe counts arrivals, and so does glibc a moment later. A thread between the two makes the
 * counts differ only for a moment. If they differ for longer than this (ns), the probe did not
 * count some arrivals.
 */
#define DIFFERENCE_LASTS_NS 100000000ULL
#define GLIBC_SHARED	    128
#define COUNT_MAX	    0x7fffffff

/*
 * 1 if @v is larger than @than; both are below 2^63. Calculated without a jump, because the CPU
 * would often mispredict the jump.
 */
#define IS_MORE(v, than) ((__u32)(((than) - (v)) >> 63))

/* Return log2 of @v, rounded down. @v is below 2^63; for 0 the result is 0. */
static __always_inline __u32 log2_of(__u64 v)
{
	__u32 r = 0, step;

	step = IS_MORE(v, 0xffffffffULL) << 5;
	v >>= step;
	r += step;
	step = IS_MORE(v, 0xffffULL) << 4;
	v >>= step;
	r += step;
	step = IS_MORE(v, 0xffULL) << 3;
	v >>= step;
	r += step;
	step = IS_MORE(v, 0xfULL) << 2;
	v >>= step;
	r += step;
	step = IS_MORE(v, 0x3ULL) << 1;
	v >>= step;
	return r + step + (__u32)(v >> 1);
}

/*
 * Add @v, which is not 0 (sbt_sum.zero). Inlined: where returns are guarded (retbleed, SRSO), a
 * call costs more than the function itself.
 */
static __always_inline void sum_add(struct sbt_sum *s, __u64 v)
{
	__u32 bucket = s->bucket;
	__u64 square;

	/* One comparison is enough if the value is in the same bucket as the last value. */
	if (UNLIKELY(v >> (bucket & 63) != 1)) {
		bucket = log2_of(v);
		if (bucket >= SBT_SUM_BUCKETS)
			bucket = SBT_SUM_BUCKETS - 1;
		s->bucket = bucket;
	}
	/*
	 * One comparison is also enough if the value is between the smallest and the largest value
	 * so far. For the first value, n is 0.
	 */
	if (UNLIKELY(v - s->min > s->max - s->min)) {
		if (!s->n || v < s->min)
			s->min = v;
		if (v > s->max)
			s->max = v;
	}
	s->n++;
	s->sum += v;
	if (UNLIKELY(v >> 32)) {
		/*
		 * The square of a value above four seconds does not fit into 64 bits. Leave out the
		 * lowest 16 bits of the value.
		 */
		square = (v >> 16) * (v >> 16);
		s->squares_high += square >> 32;
		square <<= 32;
	} else {
		square = v * v;
	}
	s->squares += square;
	if (UNLIKELY(s->squares < square))
		s->squares_high++;
	if (LIKELY(bucket < SBT_SUM_BUCKETS))
		s->hist[bucket]++;
}

static __always_inline void sum_add_any(struct sbt_sum *s, __u64 v)
{
	if (v)
		sum_add(s, v);
	else
		s->zero++;
}

/*
 * Return the number of members of the barrier. 0: the number is not known, or processes share the
 * barrier. A shared barrier has another address in each process, so its arrivals cannot be counted
 * here.
 */
static __always_inline __u32 count_in(__u64 words, const struct sbt_spec *spec)
{
	__u32 third = (__u32)words, fourth = words >> 32;

	if (spec->less_one)
		return third < COUNT_MAX ? third + 1 : 0;
	if (fourth == GLIBC_SHARED)
		return 0;
	if (!fourth)
		return third <= COUNT_MAX ? third : 0;
	/* Before glibc 2.25 the two words are `left` and `init_count`. */
	return third <= fourth && fourth <= COUNT_MAX ? fourth : 0;
}

/*
 * Take a slot that user space has returned, or else a slot that was never used. Return SBT_SUM_NONE
 * if all @most slots are in use.
 */
static __always_inline __u32 slot_take(void *returned, __u32 *used, __u32 most)
{
	__u32 at = SBT_SUM_NONE;

	if (!bpf_map_pop_elem(returned, &at))
		return at;
	/* Check first, because the counter must not wrap: user space reads it. */
	if (*(volatile __u32 *)used >= most)
		return SBT_SUM_NONE;
	at = __sync_fetch_and_add(used, 1);
	return at < most ? at : SBT_SUM_NONE;
}

/*
 * Find or create the object's entry in `meetings`. Return its index or SBT_SUM_NONE. Only called if
 * the thread has not used the object recently (struct sbt_recent).
 */
static __noinline __u32 open_episodes_find(struct sbt_thread *t, __u32 count, __u32 old_layout)
{
	struct sbt_open_episodes *m;
	struct sbt_object key = {};
	__u32 *found, at, in = 0;

	if (!t)
		return SBT_SUM_NONE;
	key.address = t->object;
	key.tgid = t->tgid;
	key.inc = t->inc;
	found = bpf_map_lookup_elem(&meetings_at, &key);
	if (found) {
		at = *found;
		m = bpf_map_lookup_elem(&meetings, &at);
		if (m && m->count == count)
			return at;
		/* The barrier was initialized again, for another number of threads. */
		bpf_map_delete_elem(&meetings_at, &key);
	}
	at = slot_take(&meetings_free, &nobjects, SBT_SUM_OBJECTS);
	m = bpf_map_lookup_elem(&meetings, &at);
	if (!m)
		return SBT_SUM_NONE;
	/* Some threads may already be inside. glibc's count of arrivals shows how many. */
	if (!old_layout && !bpf_probe_read_user(&in, sizeof(in), (void *)t->object) && in)
		in %= count;
	m->address = key.address;
	m->count = count;
	m->begun = in;
	m->counts = !old_layout;
	m->shift = count & (count - 1) ? SBT_SUM_NONE : log2_of(count);
	m->arrivals = in;
	/*
	 * User space reads the owner at any time, to free the slot when the process has exited. So
	 * write the owner as one word.
	 */
	*(volatile __u64 *)&m->owner = (__u64)key.inc << 32 | key.tgid;
	if (!bpf_map_update_elem(&meetings_at, &key, &at, BPF_NOEXIST))
		return at;
	/* Another thread of the process has created the entry in the meantime. */
	found = bpf_map_lookup_elem(&meetings_at, &key);
	return found ? *found : SBT_SUM_NONE;
}

/*
 * Return the entry with the objects and call sites that the thread used recently. Clear the entry
 * if it belongs to another thread.
 */
static __always_inline struct sbt_recent *lately_of(const struct sbt_thread *t, __u32 index)
{
	struct sbt_recent *l = bpf_map_lookup_elem(&lately, &index);

	if (l && l->born_ns != t->summing.born_ns) {
		__builtin_memset(l, 0, sizeof(*l));
		l->born_ns = t->summing.born_ns;
	}
	return l;
}

/*
 * Find the object at which the thread has arrived. Return its index in `meetings` or SBT_SUM_NONE.
 */
static __always_inline __u32 open_episodes_choose(struct sbt_thread *t, __u32 index, __u32 now,
						  const struct sbt_spec *spec)
{
	__u32 count = t->flags & SBT_CROSSING_NO_WORDS ? 0 : count_in(t->words, spec);
	__u32 way = (t->object >> 5) & (SBT_SUM_KEPT - 1), at;
	struct sbt_recent *l = lately_of(t, index);
	struct sbt_open_episodes *m;

	if (!count || !l)
		return SBT_SUM_NONE;
	if (l->kept[way].address == t->object && l->kept[way].epoch == now) {
		at = l->kept[way].open_episodes;
		m = bpf_map_lookup_elem(&meetings, &at);
		if (m && m->count == count)
			return at;
	}
	at = open_episodes_find(t, count, spec->less_one || t->words >> 32);
	l->kept[way].address = t->object;
	l->kept[way].epoch = now;
	l->kept[way].open_episodes = at;
	return at;
}

static long code_found(struct task_struct *task, struct vm_area_struct *vma, void *ctx)
{
	struct file *file = BPF_CORE_READ(vma, vm_file);
	struct sbt_sums_key *key = ctx;
	struct inode *inode;

	if (!file)
		return 0;
	inode = mapped_inode(file);
	key->ino = BPF_CORE_READ(inode, i_ino);
	key->dev = BPF_CORE_READ(inode, i_sb, s_dev);
	key->offset = key->ip - BPF_CORE_READ(vma, vm_start) +
		      ((__u64)BPF_CORE_READ(vma, vm_pgoff) << config.page_shift);
	return 0;
}

/*
 * Find the file that contains the code at key->ip. Do this now, because the file may be unmapped
 * when the sums are read.
 */
static __always_inline void code_find(struct sbt_sums_key *key, __u32 now)
{
	/* Look up the call instruction, which ends just before the return address. */
	if (mapping_find(key->ip - 1, code_found, key))
		return;
	key->dev = SBT_SUM_UNSEEN;
	key->offset = now;
}

/*
 * Find or create the thread's sums for its call site. Return the index or SBT_SUM_NONE. If *seen is
 * false, the mappings could not be read, and a later call may find another result.
 */
static __always_inline __u32 sums_find(const struct sbt_thread *t, bool *seen)
{
	struct sbt_sums_key key = {};
	struct sbt_sums *sum;
	__u32 *found, at;

	key.ip = t->ip;
	code_find(&key, t->summing.mappings);
	*seen = key.dev != SBT_SUM_UNSEEN;
	key.born_ns = t->summing.born_ns;
	key.tgid = t->tgid;
	key.inc = t->inc;
	key.tid = t->tid;
	found = bpf_map_lookup_elem(&sums_at, &key);
	if (found)
		return *found;
	at = slot_take(&sums_free, &nsums, SBT_SUM_PLACES);
	sum = bpf_map_lookup_elem(&sums, &at);
	if (!sum)
		return SBT_SUM_NONE;
	sum->family = t->family;
	sum->kind = t->kind;
	sum->team_min = SBT_SUM_NONE;
	bpf_map_update_elem(&sums_at, &key, &at, BPF_NOEXIST);
	/* Write the key last, because it makes the entry valid. */
	sum->key = key;
	return at;
}

/* Select the sums for a call site that differs from the last call site. */
static __noinline int sums_choose(struct sbt_thread *t, __u32 index)
{
	struct sbt_recent *l;
	bool seen = true;
	__u32 way, at;

	if (!t)
		return 0;
	l = lately_of(t, index);
	if (!l)
		return 0;
	way = (t->ip ^ t->ip >> 3) & (SBT_SUM_NEAR - 1);
	if (l->near[way].sums && l->near[way].ip == t->ip &&
	    l->near[way].mappings == t->summing.mappings) {
		at = l->near[way].sums - 1;
	} else {
		at = sums_find(t, &seen);
		l->near[way].ip = t->ip;
		l->near[way].mappings = t->summing.mappings;
		l->near[way].sums = at == SBT_SUM_NONE || !seen ? 0 : at + 1;
	}
	t->summing.sums_ip = seen ? t->ip : 0;
	t->summing.sums = at;
	return 0;
}

static __always_inline void sums_at_site(struct sbt_thread *t, __u32 index, __u64 ip)
{
	t->ip = ip;
	if (UNLIKELY(t->summing.sums_ip != ip || t->summing.sums == SBT_SUM_NONE))
		sums_choose(t, index);
}

/*
 * Raise *word to @value while other threads may raise it. Return false if *word is already at least
 * @value.
 */
static __always_inline bool raise_to(__u64 *word, __u64 value)
{
	__u64 old = *(volatile __u64 *)word, seen;
	int i;

	for (i = 0; i < SUM_TRIES; i++) {
		if ((__s64)(value - old) <= 0)
			return false;
		seen = __sync_val_compare_and_swap(word, old, value);
		if (seen == old)
			return true;
		old = seen;
	}
	return false;
}

/*
 * Return the episode of an arrival. Where possible, shift or divide 32-bit numbers, because a
 * division of 64-bit numbers would cost as much as all other work here.
 */
static __always_inline __u64 episode_of(__u64 number, const struct sbt_open_episodes *m)
{
	if (LIKELY(m->shift != SBT_SUM_NONE))
		return number >> (m->shift & 31);
	if (!(number >> 32))
		return (__u32)number / m->count;
	return number / m->count;
}

/*
 * Correct the count of arrivals by glibc's own count, after some arrivals were not counted. Threads
 * between the probe and glibc's count change the difference from one check to the next. A
 * difference that lasts is the number of arrivals that were not counted.
 */
static __noinline int open_episodes_count_again(struct sbt_open_episodes *m, __u64 number,
						__u64 now)
{
	__u32 in = 0, off;

	if (!m || !m->count)
		return 0;
	if (bpf_probe_read_user(&in, sizeof(in), (void *)m->address))
		return 0;
	off = (__u32)(number % m->count) + m->count - in % m->count;
	if (off >= m->count)
		off -= m->count;
	if (!off) {
		m->look = m->off = 0;
		return 0;
	}
	if (off != m->off) {
		m->off = off;
		m->off_ns = now;
	}
	if (now - m->off_ns < DIFFERENCE_LASTS_NS)
		return 0;
	/*
	 * Arrivals of this episode and of the next were mixed up, so neither episode counts as
	 * complete.
	 */
	m->torn = number / m->count + 1;
	if (__sync_val_compare_and_swap(&m->arrivals, number + 1, number + 1 + m->count - off) ==
	    number + 1)
		m->look = 0;
	return 0;
}

/*
 * Count the arrival, and then read the clock into *now. The thread that was counted first stores
 * its time as the episode's first arrival, and the thread that was counted last stores its time as
 * the last arrival. The other threads only check whether they have read an earlier or later time
 * than these two. Return true if all members have arrived, so that the thread will not wait.
 */
static __always_inline bool open_episodes_join(struct sbt_summing *s, struct sbt_open_episodes *m,
					       __u64 *now)
{
	__u64 number = __sync_fetch_and_add(&m->arrivals, 1);
	__u64 episode = episode_of(number, m), position = number - episode * m->count;
	__u32 way = episode & (SBT_SUM_OPEN - 1), count = m->count;
	volatile __u64 *last = &m->episodes[way].last, *first = &m->episodes[way].first;
	__u64 t = bpf_ktime_get_ns();

	*now = t;
	s->episode = episode;
	s->closes = 0;
	if (!position)
		*first = SBT_SUM_FIRST(episode, t);
	else if (UNLIKELY((__s64)(SBT_SUM_FIRST(episode, t) - *first) > 0))
		raise_to(&m->episodes[way].early, SBT_SUM_FIRST(episode, t));
	if (position + 1 == count) {
		*last = SBT_SUM_LAST(episode, t);
		s->closes = 1;
		if (LIKELY(!m->look))
			return !m->doubted;
	} else if (UNLIKELY(!((*last ^ SBT_SUM_EPISODE(episode)) >> SBT_SUM_NS_BITS))) {
		s->closes = raise_to((__u64 *)last, SBT_SUM_LAST(episode, t));
	}
	if (UNLIKELY(m->look))
		open_episodes_count_again(m, number, t);
	return false;
}

enum { PARTIAL_REPORTED, PARTIAL_INCOMPLETE, PARTIAL_AMBIGUOUS };

/*
 * Decide how to count an episode that a thread left before all members had arrived. Only the first
 * such thread counts it; for the others return PARTIAL_REPORTED.
 */
static __noinline int open_episodes_partial(struct sbt_open_episodes *m, __u64 episode)
{
	__u64 known;

	if (!m)
		return PARTIAL_REPORTED;
	known = m->partial;
	if (known == episode + 1 ||
	    __sync_val_compare_and_swap(&m->partial, known, episode + 1) != known)
		return PARTIAL_REPORTED;
	m->row = known == episode ? m->row + 1 : 1;
	/*
	 * If more threads than members use the barrier, two threads may have arrived in a different
	 * order from the one in which they were counted.
	 */
	if (m->whole && m->row < PARTIAL_IN_A_ROW)
		return PARTIAL_AMBIGUOUS;
	if (m->counts)
		m->look = 1;
	return PARTIAL_INCOMPLETE;
}

/* Return the return address of the function that the thread is entering; 0: not known. */
static __always_inline __u64 sums_caller(struct pt_regs *ctx)
{
	__u64 ip = 0;

#if defined(__TARGET_ARCH_arm64)
	ip = PT_REGS_RET(ctx); /* the link register */
#else
	if (bpf_probe_read_user(&ip, sizeof(ip), (void *)PT_REGS_SP(ctx)))
		return 0;
#endif
	return !(ip & 0xfff) && is_trampoline(ip) ? 0 : ip;
}

/*
 * Note an arrival. The call site is read from the stack now, because the thread may depart late or
 * never. Reading it costs half as much as all other work, so it is not read for a thread that does
 * not wait. That thread departs at once, and its departure shows the call site at no cost (unless
 * @by_exit).
 */
static __always_inline void sums_arrived(struct pt_regs *ctx, struct sbt_thread *t, __u32 index,
					 bool by_exit)
{
	struct sbt_summing *s = &t->summing;
	__u32 at = s->open_episodes;
	struct sbt_open_episodes *m = bpf_map_lookup_elem(&meetings, &at);
	bool last = false;
	__u64 now;

	t->ip = 0;
	s->site_known = 0;
	if (LIKELY(m))
		last = open_episodes_join(s, m, &now);
	else
		now = bpf_ktime_get_ns();
	if (!last || by_exit) {
		sums_at_site(t, index, sums_caller(ctx));
		s->site_known = 1;
	}
	t->arrive_ns = now;
}

/*
 * Add the times of an episode, which begins with its first arrival and ends with its last. Only the
 * last arriver calls this. @last: time of the last arrival; @first: SBT_SUM_FIRST() of the first
 * arrival, which contains the complement of its time.
 */
static __always_inline void sums_close(struct sbt_sums *sum, struct sbt_summing *s,
				       struct sbt_open_episodes *m, __u64 last, __u64 first)
{
	/*
	 * Only 48 bits of the times are known, which is enough because they differ by less than
	 * three days.
	 */
	__u64 barrier = (last + first + 1) & SBT_SUM_NS_MASK, phase;

	/*
	 * Write these members only if they change, because other threads are about to read words of
	 * the same cache line.
	 */
	if (UNLIKELY(!m->whole))
		m->whole = 1;
	if (UNLIKELY(m->row))
		m->row = 0;
	if (UNLIKELY(m->count != sum->team)) {
		sum->team = m->count;
		if (m->count < sum->team_min)
			sum->team_min = m->count;
		if (m->count > sum->team_max)
			sum->team_max = m->count;
	}
	sum_add_any(&sum->barrier, barrier);
	if (LIKELY(s->release_ns)) {
		phase = last - s->release_ns;
		sum_add_any(&sum->phase, phase);
		sum->thread_ns += phase * m->count;
	} else if (!s->depart_ns) {
		sum->first_release_ns = last;
	}
}

/* Add a crossing to the sums. */
static __always_inline void sums_crossed(struct sbt_sums *sum, struct sbt_summing *s,
					 struct sbt_open_episodes *m, __u64 arrive, __u64 now)
{
	__u64 episode = s->episode, first, last, early, inside = now - arrive;
	__u32 way = episode & (SBT_SUM_OPEN - 1);
	bool whole = false;
	__s64 since, release;
	int partial;

	if (UNLIKELY(!s->depart_ns))
		sum->first_arrive_ns = arrive;
	if (LIKELY(m)) {
		last = *(volatile __u64 *)&m->episodes[way].last;
		first = *(volatile __u64 *)&m->episodes[way].first;
		whole = !(((last ^ SBT_SUM_EPISODE(episode)) | (first ^ last)) >>
			  SBT_SUM_NS_BITS) &&
			*(volatile __u64 *)&m->arrivals >= (episode + 1) * m->count &&
			(episode || !m->begun) && (!m->torn || episode + 1 - m->torn > 1);
	}
	if (UNLIKELY(!whole)) {
		partial = m ? open_episodes_partial(m, episode) : PARTIAL_REPORTED;
		sum->incomplete += partial == PARTIAL_INCOMPLETE;
		sum->ambiguous += partial == PARTIAL_AMBIGUOUS;
		sum->partial++;
		sum->unmet += !m;
		sum->idle_other_ns += inside;
		s->release_ns = 0;
		return;
	}
	if (LIKELY(s->depart_ns)) {
		sum->work_ns += arrive - s->depart_ns;
		sum->work_n++;
	}
	/*
	 * `since` is the time from the last arrival to this departure. It is negative if other
	 * threads arrived after this departure. It is longer than the time inside if this thread
	 * arrived after `last`.
	 */
	since = (__s64)((now - last) << (64 - SBT_SUM_NS_BITS)) >> (64 - SBT_SUM_NS_BITS);
	release = since < 0 ? 0 : since > (__s64)inside ? (__s64)inside : since;
	sum_add_any(&sum->wait, inside - release);
	sum_add_any(&sum->release, release);
	last = now - since;
	if (s->closes && last == arrive) {
		early = *(volatile __u64 *)&m->episodes[way].early;
		if (UNLIKELY(!((early ^ first) >> SBT_SUM_NS_BITS))) {
			if ((__s64)(early - first) > 0)
				first = early;
			/*
			 * All threads that may raise this word have arrived. Clear it, so that it
			 * is not taken for the word of a later episode that has the same number
			 * modulo 2^16.
			 */
			m->episodes[way].early = SBT_SUM_EPISODE(episode);
		}
		sums_close(sum, s, m, last, first);
	}
	s->release_ns = last;
}

/*
 * Note a departure. @ip: the return address of the call; 0: use the address that was found at the
 * arrival.
 */
static __always_inline void sums_departed(struct sbt_thread *t, __u32 index, __u64 ip, __u64 now)
{
	struct sbt_summing *s = &t->summing;
	__u32 at = s->open_episodes;
	struct sbt_open_episodes *m = bpf_map_lookup_elem(&meetings, &at);
	struct sbt_sums *sum;

	t->seq++;
	if (!s->site_known)
		sums_at_site(t, index, ip);
	at = s->sums;
	sum = bpf_map_lookup_elem(&sums, &at);
	if (UNLIKELY(!sum)) {
		count(lost_sum, bpf_get_smp_processor_id());
		s->release_ns = 0;
		s->depart_ns = now;
		t->arrive_ns = 0;
		return;
	}
	if (UNLIKELY(sum->object != t->object)) {
		sum->object = t->object;
		sum->objects = sum->objects ? 2 : 1;
	}
	sums_crossed(sum, s, m, t->arrive_ns, now);
	sum->depart_ns = s->depart_ns = now;
	t->arrive_ns = 0;
	if (UNLIKELY(t->handler_ns)) {
		/*
		 * Also add the handler time of the departure, because most of the cache misses are
		 * there.
		 */
		t->handler_last = t->handler_ns + (bpf_ktime_get_ns() - now);
		sum->handler_ns += t->handler_last;
		sum->spent++;
		t->handler_ns = 0;
	}
}

#endif /* BPF_AGGREGATE_H */
