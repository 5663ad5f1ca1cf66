// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "elf/returns.h"

#include <elf.h>
#include <string.h>

#include "elf/exits.h"
#include "elf/insn.h"

#define FUNCTIONS_MAX 256
#define BODY_MAX      (64u << 10)

/* A set of functions, in the order of discovery. */
struct functions {
	struct elf_symbol at[FUNCTIONS_MAX];
	uint32_t n;
};

struct look {
	const struct elf_file *elf;
	uint16_t machine;
	struct elf_symbol here; /* the function that is searched */
	uint64_t called[FUNCTIONS_MAX], made[FUNCTIONS_MAX];
	uint32_t ncalled, nmade;
	uint32_t sites[RETURNS_MAX];
	uint32_t nsites;
	/*
	 * after a call through a pointer in `here`, no probe is possible, or there are too many
	 * such calls
	 */
	bool bad;
};

static void take_ref(void *ctx, const struct insn_ref *ref)
{
	struct look *l = ctx;
	uint64_t target = l->here.vaddr + (uint64_t)ref->target;

	if (ref->how == INSN_CALLS && l->ncalled < FUNCTIONS_MAX)
		l->called[l->ncalled++] = target;
	if (ref->how == INSN_MAKES && l->nmade < FUNCTIONS_MAX)
		l->made[l->nmade++] = target;
	if (ref->how != INSN_CALLS_POINTER)
		return;
	if ((ref->next != INSN_EMULATED && ref->next != INSN_STEPPED) || l->nsites == RETURNS_MAX)
		l->bad = true;
	else
		l->sites[l->nsites++] = ref->after;
}

/*
 * Search @function for its references. Return false if its end is unknown or its code does not
 * decode.
 */
static bool look_at(struct look *l, const struct elf_symbol *function)
{
	const uint8_t *bytes;
	size_t len;

	l->here = *function;
	l->ncalled = l->nmade = l->nsites = 0;
	l->bad = false;
	if (!function->size || function->size > BODY_MAX)
		return false;
	len = elf_bytes(l->elf, function->offset, function->size, &bytes);
	return len == function->size &&
	       !insn_each_ref(l->machine, function->vaddr, bytes, len, take_ref, l);
}

/* Add the functions that begin at @vaddrs. */
static void add_functions(const struct elf_file *elf, struct functions *f, const uint64_t *vaddrs,
			  uint32_t n)
{
	struct elf_symbol symbol;
	uint32_t i, j;

	for (i = 0; i < n && f->n < FUNCTIONS_MAX; i++) {
		for (j = 0; j < f->n && f->at[j].vaddr != vaddrs[i]; j++)
			;
		if (j == f->n && exits_function_around(elf, vaddrs[i], &symbol) &&
		    symbol.vaddr == vaddrs[i])
			f->at[f->n++] = symbol;
	}
}

/* Add the probe sites that @l has found. Return false if they do not fit or cannot be probed. */
static bool take_sites(const struct look *l, struct returns *out)
{
	uint32_t i;

	if (l->bad || l->nsites > RETURNS_MAX - out->n)
		return false;
	for (i = 0; i < l->nsites; i++)
		out->at[out->n++] = l->here.offset + l->sites[i];
	return true;
}

/*
 * Add the probe sites in all functions of @f. Clear *@ok if some cannot be used. Return how many
 * were added.
 */
static uint32_t take_all(struct look *l, const struct functions *f, struct returns *out, bool *ok)
{
	uint32_t before = out->n, i;

	for (i = 0; i < f->n && *ok; i++)
		if (look_at(l, &f->at[i]))
			*ok = take_sites(l, out);
	return out->n - before;
}

void returns_find(const struct elf_file *elf, uint16_t machine, const uint64_t *regions,
		  uint32_t nregions, uint64_t invoke, struct returns *out)
{
	struct functions begin = { .n = 0 }, called = { .n = 0 }, made = { .n = 0 };
	struct look l = { .elf = elf, .machine = machine };
	bool ok = machine == EM_X86_64 || machine == EM_AARCH64;
	uint32_t i;

	out->n = 0;
	if (invoke) {
		add_functions(elf, &made, &invoke, 1);
	} else if (ok) {
		add_functions(elf, &begin, regions, nregions);
		for (i = 0; i < begin.n && ok; i++) {
			ok = look_at(&l, &begin.at[i]) && take_sites(&l, out);
			add_functions(elf, &called, l.called, l.ncalled);
			add_functions(elf, &made, l.made, l.nmade);
		}
		ok = ok && out->n;
		for (i = 0; i < called.n && ok; i++)
			if (look_at(&l, &called.at[i]))
				add_functions(elf, &made, l.made, l.nmade);
	}
	if (!ok || !take_all(&l, &made, out, &ok) || !ok)
		out->n = 0;
}
