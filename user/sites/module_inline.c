// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Waits of std::barrier and std::latch that the compiler inlined. Each wait gets probes inside a
 * function: at its beginning and at each of its ends.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "elf/exits.h"
#include "base/array.h"
#include "elf/inline_wait.h"
#include "sites/module_internal.h"

#define WAITS_MAX     64 /* maximum number of waits in one function */
#define FUNCTIONS_MAX 1024 /* maximum number of functions that are decoded */
#define CHUNK	      (1UL << 20)
/*
 * Number of bytes by which chunks overlap: enough for the first instruction of a wait and its loop.
 */
#define OVERLAP	      1024

static bool has_std(const struct module *m)
{
	array_for_each (p, m->places, m->nplaces)
		if (p->spec.family == SBT_FAMILY_STD)
			return true;
	return false;
}

/*
 * Return whether the program contains the objects on which threads sleep in libstdc++, in
 * std::barrier, std::latch, std::atomic::wait() and semaphores.
 */
static bool has_waiter_pool(const struct module *m)
{
	uint64_t vaddr;

	return !elf_find_object(m->elf, "_ZZNSt8__detail18__waiter_pool_base6_S_forEPKvE3__w",
				&vaddr);
}

/*
 * Return whether the file may have barriers or latches of libc++. Each arrival at a barrier calls a
 * function of the library. A latch sleeps as std::atomic::wait() does.
 */
static bool waits_in_libcxx(const struct module *m)
{
	return elf_imports(m->elf, "_ZNSt3__131__arrive_barrier_algorithm_baseEPNS_24__barrier_"
				   "algorithm_baseEh") ||
	       elf_imports(m->elf, "_ZNSt3__120__libcpp_atomic_waitEPVKvi");
}

/* Return whether a program without names may contain inlined waits of C++20. */
static bool may_wait(const struct module *m)
{
	return m->traits.stripped && elf_imports(m->elf, "syscall") &&
	       elf_imports(m->elf, "sched_yield") &&
	       elf_imports(m->elf, "_ZSt20__throw_system_errori");
}

struct named {
	uint64_t vaddr;
	bool skip;
};

/*
 * Set `skip` for a function of libstdc++ that waits until a value changes and that no barrier
 * calls.
 */
static int note_name(void *ctx, const char *name, const struct elf_symbol *symbol)
{
	struct named *n = ctx;

	if (symbol->vaddr == n->vaddr && !strncmp(name, "_ZSt23__atomic_wait_address_v", 27))
		n->skip = true;
	return n->skip;
}

/* Return whether this function is traced as a whole, or is known to belong to no barrier. */
static bool is_known(const struct module *m, const struct elf_symbol *function)
{
	struct named n = { .vaddr = function->vaddr };

	array_for_each (p, m->places, m->nplaces)
		if (p->spec.family == SBT_FAMILY_STD && p->start == function->offset)
			return true;
	elf_each_function(m->elf, note_name, &n);
	return n.skip;
}

static void add_probe(struct module *m, const struct inline_wait *w, uint64_t offset, bool end)
{
	const struct family_function *row = family_inline_wait(w->kind == INLINE_WAIT_LATCH, end);
	struct module_probe_site *p = module_add_inside(m, row, offset, "inlined by the compiler");

	if (!p)
		return;
	snprintf(p->symbol, sizeof(p->symbol), "%s (in line, its %s)", row->symbol,
		 end ? "end" : "beginning");
	if (end)
		return;
	p->spec.object = w->object;
	if (w->kind == INLINE_WAIT_BARRIER)
		p->spec.what = w->old;
}

/*
 * Add the waits of one function. Return how many waits are not traced although they may belong to a
 * barrier.
 */
static uint32_t take_function(struct module *m, const struct elf_symbol *function)
{
	struct inline_wait waits[WAITS_MAX];
	uint32_t unknown = 0, k;
	const uint8_t *bytes;
	int n, i;
	size_t len;

	if (is_known(m, function))
		return 0;
	len = elf_bytes(m->elf, function->offset, function->size, &bytes);
	n = inline_waits_find(m->traits.machine, bytes, len, waits, WAITS_MAX);
	for (i = 0; i < n; i++) {
		unknown += waits[i].kind == INLINE_WAIT_UNKNOWN;
		if (waits[i].kind != INLINE_WAIT_BARRIER && waits[i].kind != INLINE_WAIT_LATCH)
			continue;
		/*
		 * Add the ends first: when a thread arrives, the probe for its departure must
		 * exist.
		 */
		for (k = 0; k < waits[i].nleaves; k++)
			add_probe(m, &waits[i], function->offset + waits[i].leaves[k], true);
		add_probe(m, &waits[i], function->offset + waits[i].enter, false);
	}
	return n < 0 ? 1 : unknown;
}

/*
 * Search a segment. *last: the function that was decoded last. Return the number of untraced waits,
 * as take_function() does.
 */
static uint32_t take_segment(struct module *m, const struct elf_range *code,
			     struct elf_symbol *last, uint32_t *decoded)
{
	uint64_t from = 0, hit, vaddr;
	uint32_t unknown = 0;
	const uint8_t *bytes;
	size_t len;

	while (from < code->size && *decoded < FUNCTIONS_MAX) {
		len = code->size - from < CHUNK ? (size_t)(code->size - from) : CHUNK;
		len = elf_bytes(m->elf, code->offset + from, len, &bytes);
		hit = inline_wait_hint(bytes, len, 0);
		if (hit >= len) {
			from += len > OVERLAP && len == CHUNK ? len - OVERLAP : len + !len;
			continue;
		}
		from += hit;
		vaddr = code->vaddr + from;
		from++;
		if (vaddr - last->vaddr < last->size)
			continue;
		if (!exits_function_around(m->elf, vaddr, last)) {
			last->size = 0;
			continue;
		}
		(*decoded)++;
		unknown += take_function(m, last);
		/* Continue after the function, because the whole function was searched. */
		from = last->vaddr + last->size - code->vaddr;
	}
	return unknown + (*decoded == FUNCTIONS_MAX);
}

void module_find_inline(struct module *m)
{
	bool pool = has_waiter_pool(m);
	struct elf_symbol last = { 0 };
	uint32_t unknown = 0, decoded = 0, before = m->nplaces;
	struct elf_range code;
	size_t i;

	if (waits_in_libcxx(m) && !has_std(m))
		m->inlined_waits = m->untraced.in_line = true;
	if (!pool && !may_wait(m))
		return;
	/* Only the code of x86-64 is known. */
	for (i = 0; m->traits.machine == EM_X86_64 && elf_code(m->elf, i, &code); i++)
		unknown += take_segment(m, &code, &last, &decoded);
	m->inlined_waits = unknown || (pool && !has_std(m) && m->nplaces == before && !decoded);
	if (m->inlined_waits)
		m->untraced.in_line = true;
}
