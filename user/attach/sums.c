// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Sums that the programs keep in maps (--aggregate), instead of writing records. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/internal.h"

#include "base/array.h"

/*
 * Return whether the kernel has the newest features that sums need: atomic fetch-and-add, to count
 * arrivals, and find_vma, to find call sites. Try them instead of comparing versions, because
 * distributions backport features.
 */
bool sums_possible(void)
{
	/* u64 *p = r10 - 8; r1 = 1; *p = r1; r1 = atomic_fetch_add(p, r1); r0 = 0; exit */
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = 1 },
		{ .code = BPF_STX | BPF_MEM | BPF_DW,
		  .dst_reg = BPF_REG_10,
		  .src_reg = BPF_REG_1,
		  .off = -8 },
		{ .code = BPF_STX | BPF_ATOMIC | BPF_DW,
		  .dst_reg = BPF_REG_10,
		  .src_reg = BPF_REG_1,
		  .off = -8,
		  .imm = BPF_ADD | BPF_FETCH },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "sums_possible", "GPL", insns,
			       sizeof(insns) / sizeof(insns[0]), NULL);

	if (fd >= 0)
		close(fd);
	/*
	 * After EPERM, return true: the right to load programs is missing, which other code
	 * reports.
	 */
	if (fd < 0)
		return fd == -EPERM;
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_find_vma, NULL) != 0;
}

void sums_prepare(struct attach *a, uint32_t max_threads)
{
	struct sbt_bpf *skel = a->skel;

	if (!skel->rodata->config.aggregate)
		return;
	bpf_map__set_max_entries(skel->maps.lately, max_threads);
	bpf_map__set_max_entries(skel->maps.sums, SBT_SUM_PLACES);
	bpf_map__set_max_entries(skel->maps.sums_at, SBT_SUM_PLACES);
	bpf_map__set_max_entries(skel->maps.meetings, SBT_SUM_OBJECTS);
	bpf_map__set_max_entries(skel->maps.meetings_at, SBT_SUM_OBJECTS);
	bpf_map__set_max_entries(skel->maps.sums_free, SBT_SUM_PLACES);
	bpf_map__set_max_entries(skel->maps.meetings_free, SBT_SUM_OBJECTS);
}

int sums_map(struct attach *a)
{
	if (!a->skel->rodata->config.aggregate)
		return 0;
	a->sums_unowned = calloc(SBT_SUM_PLACES, sizeof(*a->sums_unowned));
	if (!a->sums_unowned)
		return -ENOMEM;
	a->sums = map_array(a->skel->maps.sums, SBT_SUM_PLACES * sizeof(*a->sums));
	if (a->sums)
		a->open_episodes = map_array(a->skel->maps.meetings,
					     SBT_SUM_OBJECTS * sizeof(*a->open_episodes));
	return a->open_episodes ? 0 : -errno;
}

void sums_unmap(struct attach *a)
{
	if (a->sums)
		munmap((void *)(uintptr_t)a->sums, SBT_SUM_PLACES * sizeof(*a->sums));
	if (a->open_episodes)
		munmap((void *)(uintptr_t)a->open_episodes,
		       SBT_SUM_OBJECTS * sizeof(*a->open_episodes));
	free(a->sums_unowned);
	a->sums = NULL;
	a->open_episodes = NULL;
	a->sums_unowned = NULL;
}

bool attach_sums_mapped(const struct attach *a, const struct sbt_sums *s)
{
	return s->key.offset == __atomic_load_n(&a->skel->bss->mappings, __ATOMIC_ACQUIRE);
}

void attach_each_sums(const struct attach *a, void (*each)(void *ctx, const struct sbt_sums *sums),
		      void *ctx)
{
	uint32_t n = a->sums ? __atomic_load_n(&a->skel->bss->nsums, __ATOMIC_ACQUIRE) : 0;

	if (n > SBT_SUM_PLACES)
		n = SBT_SUM_PLACES;
	array_for_each (s, a->sums, n) {
		/* Leave out crossings of sbt-trace itself, which the calibration made. */
		if (sbt_sums_crossings(s) && s->key.tgid != a->skel->rodata->config.self)
			each(ctx, s);
	}
}

static void add_crossings(void *ctx, const struct sbt_sums *s)
{
	uint64_t *sum = ctx;

	*sum += sbt_sums_crossings(s);
}

uint64_t attach_summed(const struct attach *a)
{
	uint64_t sum = a->summed_returned;

	attach_each_sums(a, add_crossings, &sum);
	return sum;
}

/* --- slots that are freed --------------------------------------------------------------------- */

/*
 * Return whether the thread that writes the slot still exists. Its slot in `threads` is cleared
 * when it exits.
 */
static bool has_thread(const struct attach *a, const struct sbt_sums_key *key)
{
	const struct sbt_thread *t;
	uint32_t i;

	for (i = 0; i < SBT_THREAD_PROBES; i++) {
		t = &a->threads[(key->tid + i * SBT_THREAD_STRIDE) & (a->nthreads - 1)];
		if (__atomic_load_n(&t->tid, __ATOMIC_ACQUIRE) == key->tid &&
		    t->summing.born_ns == key->born_ns)
			return true;
	}
	return false;
}

static int return_slot(const struct bpf_map *array, const struct bpf_map *returned, uint32_t at,
		       const void *zero)
{
	if (bpf_map_update_elem(bpf_map__fd(array), &at, zero, BPF_ANY))
		return -errno;
	return bpf_map_update_elem(bpf_map__fd(returned), NULL, &at, BPF_ANY) ? -errno : 0;
}

static int return_sums(struct attach *a, uint32_t at,
		       void (*each)(void *ctx, const struct sbt_sums *sums), void *ctx)
{
	static const struct sbt_sums zero;
	struct sbt_sums s = a->sums[at];

	if (s.key.tgid != a->skel->rodata->config.self && sbt_sums_crossings(&s)) {
		each(ctx, &s);
		a->summed_returned += sbt_sums_crossings(&s);
	}
	bpf_map_delete_elem(bpf_map__fd(a->skel->maps.sums_at), &s.key);
	return return_slot(a->skel->maps.sums, a->skel->maps.sums_free, at, &zero);
}

/* Return whether the process that owned a barrier still exists and its number was not reused. */
static bool has_process(const struct attach *a, uint64_t owner)
{
	uint32_t tgid = (uint32_t)owner;
	struct sbt_proc p;

	/* Processes that are no longer traced, and sbt-trace itself, have no entry in the map. */
	return !bpf_map_lookup_elem(bpf_map__fd(a->skel->maps.procs), &tgid, &p) &&
	       p.inc == (uint32_t)(owner >> 32);
}

/* Free the slots of open episodes at barriers of exited processes. */
static int return_open_episodes(struct attach *a)
{
	uint32_t i, n = __atomic_load_n(&a->skel->bss->nobjects, __ATOMIC_ACQUIRE);
	static const struct sbt_open_episodes zero;
	uint64_t owner, last = 0;
	bool lives = true;
	int err = 0;

	for (i = 0; i < n && i < SBT_SUM_OBJECTS && !err; i++) {
		owner = __atomic_load_n(&a->open_episodes[i].owner, __ATOMIC_ACQUIRE);
		if (!owner)
			continue;
		if (owner != last)
			lives = has_process(a, owner);
		last = owner;
		if (lives)
			continue;
		struct sbt_object key = { .address = a->open_episodes[i].address,
					  .tgid = (uint32_t)owner,
					  .inc = (uint32_t)(owner >> 32) };

		bpf_map_delete_elem(bpf_map__fd(a->skel->maps.meetings_at), &key);
		err = return_slot(a->skel->maps.meetings, a->skel->maps.meetings_free, i, &zero);
	}
	return err;
}

int attach_return_sums(struct attach *a, void (*each)(void *ctx, const struct sbt_sums *sums),
		       void *ctx)
{
	uint32_t i, n = a->sums ? __atomic_load_n(&a->skel->bss->nsums, __ATOMIC_ACQUIRE) : 0;
	uint32_t returned = 0;
	int err = 0;

	for (i = 0; i < n && i < SBT_SUM_PLACES && !err; i++) {
		const struct sbt_sums *s = &a->sums[i];
		bool unowned = s->key.tgid && !has_thread(a, &s->key);

		/*
		 * The key of a new slot may be half written. So free a slot only if two calls in a
		 * row find no thread for it.
		 */
		if (unowned && a->sums_unowned[i]) {
			err = return_sums(a, i, each, ctx);
			unowned = false;
			returned++;
		}
		a->sums_unowned[i] = unowned;
	}
	return returned && !err ? return_open_episodes(a) : err;
}
