// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Measure the cost of a crossing on sbt-trace itself, with the same programs as for traced
 * processes.
 */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "attach/calibrate.h"
#include "attach/internal.h"

static const struct sbt_account *own_account(const struct attach *a, uint32_t tid)
{
	uint32_t i, slot;

	for (i = 0; a->accounts && i < SBT_THREAD_PROBES; i++) {
		slot = (uint32_t)((tid + i * SBT_THREAD_STRIDE) & (a->nthreads - 1));
		if (a->accounts[slot].tid == tid)
			return &a->accounts[slot];
	}
	return NULL;
}

void forget_thread(const struct attach *a, uint32_t tid)
{
	struct sbt_thread *t = find_thread(a, tid);
	uint32_t slot;

	if (!t)
		return;
	slot = (uint32_t)(t - a->threads);
	memset(t, 0, sizeof(*t));
	bpf_map_delete_elem(bpf_map__fd(a->skel->maps.owners), &slot);
	__atomic_fetch_sub(&a->skel->bss->marks[tid & (SBT_MARKS - 1)], 1, __ATOMIC_RELAXED);
	account_forget(a, slot);
}

struct attach_price price_calls(const struct attach *a, bool stepped, void (*drain)(void *ctx),
				void *ctx)
{
	struct attach_price price = { .ns = NAN, .handler_ns = NAN };
	struct sbt_thread *slot;

	/* The first call assigns the thread its slot. */
	calibrate_call(stepped);
	slot = find_thread(a, (uint32_t)getpid());
	price.ns = calibrate_run(stepped, drain, ctx);
	if (slot)
		price.handler_ns = calibrate_handler(stepped, drain, ctx, &slot->handler_last);
	return price;
}

/* Measure the cost of a crossing on ourselves. The probes must be attached. */
static struct attach_price calibrate_self(struct attach *a, bool stepped, bool by_exit,
					  void (*drain)(void *ctx), void *ctx)
{
	uint32_t self = (uint32_t)getpid(), armed = a->skel->bss->armed;
	struct attach_price price = { .ns = NAN, .handler_ns = NAN };
	int procs = bpf_map__fd(a->skel->maps.procs);
	struct sbt_counts none = { 0 };
	uint64_t before = attach_produced(a, &none);
	const struct sbt_account *account;

	if (attach_add_process(a, self, 1, SBT_PROC_SEEN | (by_exit ? SBT_PROC_BY_EXIT : 0)))
		return price;
	__atomic_store_n(&a->skel->bss->armed, ARMED_SELF, __ATOMIC_SEQ_CST);
	price = price_calls(a, stepped, drain, ctx);
	account = own_account(a, self);
	if (account && !a->fault_outside_ns)
		account_calibrate_faults(a, account);
	__atomic_store_n(&a->skel->bss->armed, armed, __ATOMIC_SEQ_CST);
	/*
	 * If nothing was recorded, the kernel knows our process by another number (pid namespace).
	 */
	if (attach_produced(a, &none) == before)
		price.ns = NAN;
	bpf_map_delete_elem(procs, &self);
	forget_thread(a, self);
	return price;
}

struct attach_price attach_calibrate(struct attach *a, bool stepped, bool by_exit,
				     void (*drain)(void *ctx), void *ctx)
{
	struct attach_price price = { .ns = NAN, .handler_ns = NAN };
	struct attach_probe_site probe_site;
	uint64_t exits[1];

	by_exit |= a->only_exits;
	attach_remove_probes(a);
	if (calibrate_probe_site(stepped, &probe_site, exits))
		return price;
	if (!attach_probe_site(a, &probe_site, getpid(), by_exit))
		price = calibrate_self(a, stepped, by_exit, drain, ctx);
	close(probe_site.fd);
	attach_remove_probes(a);
	return price;
}

double attach_calibrate_excluded(struct attach *a, void (*drain)(void *ctx), void *ctx)
{
	uint32_t self = (uint32_t)getpid(), armed = a->skel->bss->armed;
	int procs = bpf_map__fd(a->skel->maps.procs);
	struct sbt_thread *slot;
	double price;

	if (attach_add_process(a, self, 1, SBT_PROC_SEEN))
		return NAN;
	__atomic_store_n(&a->skel->bss->armed, ARMED_SELF, __ATOMIC_SEQ_CST);
	/*
	 * Make one call first, which assigns the thread its slot. Threads of a process that is
	 * excluded during tracing have slots, too.
	 */
	calibrate_call(false);
	slot = find_thread(a, self);
	if (slot)
		__atomic_fetch_or(&slot->proc_flags, SBT_PROC_EXCLUDED, __ATOMIC_RELAXED);
	price = slot ? calibrate_run(false, drain, ctx) : NAN;
	__atomic_store_n(&a->skel->bss->armed, armed, __ATOMIC_SEQ_CST);
	drain(ctx);
	bpf_map_delete_elem(procs, &self);
	forget_thread(a, self);
	return price;
}

struct attach_price attach_calibrate_quick(struct attach *a, void (*drain)(void *ctx), void *ctx)
{
	return calibrate_self(a, false, a->only_exits, drain, ctx);
}

double attach_switch_ns(const struct sbt_counts *from, const struct sbt_counts *to)
{
	uint64_t n = to->timed - from->timed;

	/* Leaving a CPU and getting one are timed separately, so one wait is timed twice. */
	return n ? 2 * (double)(to->timed_ns - from->timed_ns) / (double)n : NAN;
}

uint64_t attach_switches_ns(const struct sbt_counts *from, const struct sbt_counts *to)
{
	return SBT_TIMED_EACH * (to->timed_ns - from->timed_ns);
}
