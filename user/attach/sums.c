// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Sums that the programs keep in maps instead of writing records. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/internal.h"

/* Of what is needed the latest, asked of the kernel, for distributions carry features back: who arrives, and from where. */
bool sums_possible(void)
{
	/* r1 = 1; *(u64 *)(r10 - 8) = r1; r1 = atomic_fetch_add((u64 *)(r10 - 8), r1); r0 = 0; exit */
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
	/* Without the right to load anything that is what is to be said. */
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
	bpf_map__set_max_entries(skel->maps.meetings, SBT_SUM_MEETINGS);
	bpf_map__set_max_entries(skel->maps.meetings_at, SBT_SUM_MEETINGS);
}

int sums_map(struct attach *a)
{
	void *p;

	if (!a->skel->rodata->config.aggregate)
		return 0;
	p = mmap(NULL, SBT_SUM_PLACES * sizeof(*a->sums), PROT_READ, MAP_SHARED,
		 bpf_map__fd(a->skel->maps.sums), 0);
	if (p == MAP_FAILED)
		return -errno;
	a->sums = p;
	return 0;
}

void sums_unmap(struct attach *a)
{
	if (a->sums)
		munmap((void *)(uintptr_t)a->sums, SBT_SUM_PLACES * sizeof(*a->sums));
	a->sums = NULL;
}

bool attach_sums_mapped(const struct attach *a, const struct sbt_sums *s)
{
	return s->key.offset == __atomic_load_n(&a->skel->bss->mappings, __ATOMIC_ACQUIRE);
}

void attach_each_sums(const struct attach *a, void (*each)(void *ctx, const struct sbt_sums *sums),
		      void *ctx)
{
	uint32_t i, n = a->sums ? __atomic_load_n(&a->skel->bss->nsums, __ATOMIC_ACQUIRE) : 0;

	if (n > SBT_SUM_PLACES)
		n = SBT_SUM_PLACES;
	for (i = 0; i < n; i++) {
		const struct sbt_sums *s = &a->sums[i];

		/* Our own are of the calibration. */
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
	uint64_t sum = 0;

	attach_each_sums(a, add_crossings, &sum);
	return sum;
}
