// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "hang/stack_waiters.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/grow.h"
#include "elf/insn.h"
#include "sites/family.h"
#include "sites/module.h"

#define COUNT_MAX     1000000u /* maximum number of threads of a team; a larger count is garbage */
#define LINKAGE_BYTES 32
/* offset, in glibc's barrier object, of the raw barrier word for family_read_words() */
#define WORDS_OFFSET  8

/* The barrier function that a thread is in. */
struct found {
	const struct module_probe_site *probe_site;
	const struct module *module;
	uint32_t site; /* index of the call site's frame; UINT32_MAX: none */
};

struct search {
	struct address_spaces *spaces;
	struct address_space *space;
	const struct snapshot *look;
	struct stack_waiters *out;
};

/* --- functions -------------------------------------------------------------------------------- */

static bool is_barrier(const struct module_probe_site *p)
{
	return p->spec.role == SBT_ROLE_BARRIER || p->spec.role == SBT_ROLE_REGION;
}

/* Return the barrier function that begins at @offset of its file, or NULL. */
static const struct module_probe_site *probe_site_at(const struct module *m, uint64_t offset)
{
	array_for_each (p, m->places, m->nplaces)
		if (p->start == offset && is_barrier(p))
			return p;
	return NULL;
}

/* Return the barrier function that contains the code, or NULL. */
static const struct module_probe_site *probe_site_around(const struct address_space_code *at)
{
	uint64_t start, offset;

	if (!at->module->nplaces || !module_function(at->module, at->vaddr, &start) ||
	    module_vaddr_to_offset(at->module, start, &offset))
		return NULL;
	return probe_site_at(at->module, offset);
}

/* --- calls ------------------------------------------------------------------------------------ */

static uint64_t relative(uint64_t next, const uint8_t *bytes)
{
	int32_t distance;

	memcpy(&distance, bytes, sizeof(distance));
	return next + (uint64_t)(int64_t)distance;
}

static uint64_t word_at(const struct search *s, uint64_t address)
{
	uint64_t value;

	return snapshot_read(s->look->pid, address, &value, sizeof(value)) ? 0 : value;
}

/*
 * Return the function that the entry of a procedure linkage table (PLT) at @target calls, or
 * @target if it is not such an entry. The dynamic linker has filled in the entry's pointer, because
 * the entry was called.
 */
static uint64_t through_linkage_x86(const struct search *s, uint64_t target, const uint8_t *code)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const uint8_t *at = code;

	if (!memcmp(at, endbr, sizeof(endbr)))
		at += sizeof(endbr);
	if (*at == 0xf2)
		at++;
	if (at[0] != 0xff || at[1] != 0x25)
		return target;
	return word_at(s, relative(target + (uint64_t)(at - code) + 6, at + 2));
}

/* Do the same as through_linkage_x86(). The entry is: adrp x16, PAGE; ldr x17, [x16, #OFFSET] */
static uint64_t through_linkage_arm64(const struct search *s, uint64_t target, const uint8_t *code)
{
	uint32_t words[3], page, load;
	uint64_t at = target, address;

	memcpy(words, code, sizeof(words));
	page = words[0];
	load = words[1];
	if (page == 0xd503245f) { /* bti c */
		page = words[1];
		load = words[2];
		at += 4;
	}
	if ((page & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211)
		return target;
	address = ((uint64_t)(page >> 5 & 0x7ffff) << 2 | (page >> 29 & 3)) << 12;
	if (address & 1ull << 32)
		address |= ~((1ull << 33) - 1);
	address += at & ~0xfffull;
	return word_at(s, address + (uint64_t)(load >> 10 & 0xfff) * 8);
}

/* Return the target of the call instruction before @back, or 0 if it cannot be read. */
static uint64_t call_target(const struct search *s, uint64_t back, uint16_t machine)
{
	uint8_t before[8], entry[LINKAGE_BYTES];
	uint64_t target;
	uint32_t word;

	if (snapshot_read(s->look->pid, back - sizeof(before), before, sizeof(before)))
		return 0;
	if (machine == EM_AARCH64) {
		memcpy(&word, before + 4, sizeof(word));
		if ((word & 0xfc000000) != 0x94000000)
			return 0;
		target = back - 4 + (uint64_t)((int64_t)(int32_t)(word << 6) >> 4);
	} else if (before[2] == 0xff && before[3] == 0x15) {
		return word_at(s, relative(back, before + 4));
	} else if (before[3] == 0xe8) {
		target = relative(back, before + 4);
	} else {
		return 0;
	}
	if (snapshot_read(s->look->pid, target, entry, sizeof(entry)))
		return target;
	return machine == EM_AARCH64 ? through_linkage_arm64(s, target, entry)
				     : through_linkage_x86(s, target, entry);
}

static const struct module_probe_site *probe_site_called(const struct search *s, uint64_t back,
							 const struct module *caller,
							 const struct module **callee)
{
	uint64_t target = call_target(s, back, caller->traits.machine);
	struct address_space_code at;

	if (!target || !address_space_code(s->spaces, s->space, target + 1, &at))
		return NULL;
	*callee = at.module;
	return probe_site_at(at.module, at.offset - 1);
}

/* --- stacks ----------------------------------------------------------------------------------- */

/* Return whether the module implements waiting, and is not part of the program. */
static bool is_runtime(const struct module *m, const struct module *barrier_module)
{
	if (m->traits.executable)
		return false;
	return m == barrier_module || m->c_library || m->runtime || m->mpi;
}

/* Return the index of the next outer frame at another address, which skips inlined functions. */
static uint32_t next_frame(const struct snapshot_thread *t, uint32_t i)
{
	uint64_t address = t->frames[i].address;

	while (i < t->nframes && t->frames[i].address == address)
		i++;
	return i;
}

/* Return the index of the first frame at or after @i that is in the program, or UINT32_MAX. */
static uint32_t user_frame(const struct search *s, const struct snapshot_thread *t, uint32_t i,
			   const struct module *barrier_module)
{
	struct address_space_code at;

	for (; i < t->nframes; i = next_frame(t, i))
		if (!address_space_code(s->spaces, s->space, t->frames[i].address + 1, &at) ||
		    !is_runtime(at.module, barrier_module))
			return i;
	return UINT32_MAX;
}

/* Return whether the thread waits at the end of a region, and does not run code of the region. */
static bool waits_in(const struct search *s, const struct snapshot_thread *t, uint32_t end,
		     const struct module *barrier_module)
{
	return user_frame(s, t, 0, barrier_module) >= end;
}

/* Return whether the name is in C++'s standard library or Boost: "void std::wait<...>(...)". */
static bool is_library_name(const char *name)
{
	size_t len = strcspn(name, "<(");
	const char *space = memrchr(name, ' ', len);

	if (space)
		name = space + 1;
	return !strncmp(name, "std::", 5) || !strncmp(name, "boost::", 7);
}

/*
 * Do the same as user_frame(), but skip templates and inline functions of C++ libraries. Their code
 * is in the program's file.
 */
static uint32_t program_frame(const struct search *s, const struct snapshot_thread *t, uint32_t i,
			      const struct module *barrier_module)
{
	uint32_t first = user_frame(s, t, i, barrier_module), at = first;

	while (at < t->nframes) {
		const char *real = t->frames[next_frame(t, at) - 1].function;

		if (!real || !is_library_name(real))
			return at;
		at = user_frame(s, t, next_frame(t, at), barrier_module);
	}
	return first;
}

static bool find_probe_site(const struct search *s, const struct snapshot_thread *t,
			    struct found *out)
{
	struct address_space_code at;
	uint32_t i, own;

	for (i = 0; i < t->nframes; i = next_frame(t, i)) {
		if (!address_space_code(s->spaces, s->space, t->frames[i].address + 1, &at))
			continue;
		out->module = at.module;
		out->probe_site = probe_site_around(&at);
		own = next_frame(t, i);
		if (!out->probe_site && i) {
			out->probe_site = probe_site_called(s, t->frames[i].address + 1, at.module,
							    &out->module);
			own = i;
		}
		if (!out->probe_site)
			continue;
		if (out->probe_site->spec.role == SBT_ROLE_REGION &&
		    !waits_in(s, t, own, out->module))
			continue;
		out->site = family_has(out->probe_site->spec.family, FAMILY_CXX)
				    ? program_frame(s, t, own, out->module)
				    : user_frame(s, t, own, out->module);
		return true;
	}
	return false;
}

/* --- objects ---------------------------------------------------------------------------------- */

/*
 * Find the glibc barrier that contains the futex word, and return its count if that is plausible.
 * Threads sleep at the barrier's second word, or before glibc 2.25 at its first word.
 */
static uint32_t read_libc_object(const struct search *s, uint8_t family, uint64_t word,
				 uint64_t *object)
{
	static const uint8_t before[] = { 4, 0 };
	struct family_team team;
	uint64_t words;
	size_t i;

	for (i = 0; i < sizeof(before); i++) {
		if (snapshot_read(s->look->pid, word - before[i] + WORDS_OFFSET, &words,
				  sizeof(words)))
			continue;
		team = family_read_words(family, s->space->libc, words);
		if (!team.known || team.count > COUNT_MAX)
			continue;
		*object = word - before[i];
		return team.count;
	}
	return 0;
}

/* Read a barrier with its count just before the futex word, such as libgomp's. */
static uint32_t read_before_futex(const struct search *s, uint64_t word, uint64_t *object)
{
	uint32_t total;

	if (snapshot_read(s->look->pid, word - 4, &total, sizeof(total)) || !total ||
	    total > COUNT_MAX)
		return 0;
	*object = word - 4;
	return total;
}

static uint32_t read_object(const struct search *s, const struct snapshot_thread *t, uint8_t family,
			    uint64_t *object)
{
	*object = 0;
	if (t->wait != SNAPSHOT_FUTEX)
		return 0;
	if (family_has(family, FAMILY_LIBC_OBJECT) && s->space->libc == FAMILY_LIBC_GLIBC)
		return read_libc_object(s, family, t->args[0], object);
	if (family_has(family, FAMILY_COUNT_BEFORE_FUTEX))
		return read_before_futex(s, t->args[0], object);
	return 0;
}

/* --- barriers --------------------------------------------------------------------------------- */

/* Each MPI function has two names, with and without a leading P. Return the name without P. */
static const char *mpi_name(const char *symbol)
{
	return !strncmp(symbol, "PMPI_", 5) ? symbol + 1 : symbol;
}

static bool same_barrier(const struct stack_waiters_barrier *b,
			 const struct stack_waiters_barrier *key)
{
	if (b->family != key->family || (b->kind == SBT_KIND_JOIN) != (key->kind == SBT_KIND_JOIN))
		return false;
	/*
	 * Ranks in different operations of one communicator form one group: this mismatch is the
	 * hang.
	 */
	if (key->of_processes)
		return b->of_processes &&
		       (!strcmp(b->function, key->function) || (b->world && key->world));
	if (b->pid != key->pid)
		return false;
	/* The object of a thread that is just arriving or departing is unknown. */
	if (!b->object || !key->object)
		return !strcmp(b->function, key->function);
	return b->object == key->object;
}

static int add_arrival(struct stack_waiters *out, const struct stack_waiters_barrier *key,
		       const struct stack_waiters_arrival *arrival)
{
	struct stack_waiters_barrier *b;
	uint32_t i;

	for (i = 0; i < out->n && !same_barrier(&out->barriers[i], key); i++)
		;
	if (i == out->n) {
		if (grow(out->barriers, out->cap, out->n + 1))
			return -ENOMEM;
		out->barriers[out->n++] = *key;
	}
	b = &out->barriers[i];
	if (!b->object && key->object) {
		b->object = key->object;
		b->count = key->count;
	}
	if (grow(b->arrivals, b->cap, b->n + 1))
		return -ENOMEM;
	b->arrivals[b->n++] = *arrival;
	return 0;
}

static int add_thread(const struct search *s, const struct snapshot_thread *t)
{
	struct stack_waiters_arrival arrival = { .thread = t };
	struct stack_waiters_barrier key = { .pid = t->pid };
	struct found found;

	if (!find_probe_site(s, t, &found))
		return 0;
	key.family = found.probe_site->spec.family;
	key.kind = found.probe_site->spec.kind;
	key.of_processes = family_has(key.family, FAMILY_RANKS);
	key.world = key.of_processes && t->call.world;
	snprintf(key.function, sizeof(key.function), "%s",
		 key.of_processes ? mpi_name(found.probe_site->symbol) : found.probe_site->symbol);
	key.count = read_object(s, t, key.family, &key.object);
	if (found.site != UINT32_MAX)
		arrival.site = &t->frames[found.site];
	return add_arrival(s->out, &key, &arrival);
}

int stack_waiters_find(struct address_spaces *spaces, struct snapshots *snapshots,
		       const struct snapshot *const *looks, uint32_t n, struct stack_waiters *out)
{
	struct search s = { .spaces = spaces, .out = out };
	uint32_t i, j;
	int err = 0;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < n; i++) {
		s.look = looks[i];
		s.space = snapshot_address_space(snapshots, looks[i]->pid);
		if (!s.space)
			continue;
		for (j = 0; !err && j < looks[i]->n; j++)
			err = add_thread(&s, &looks[i]->threads[j]);
	}
	return err;
}

void stack_waiters_free(struct stack_waiters *stack_waiters)
{
	while (stack_waiters->n)
		free(stack_waiters->barriers[--stack_waiters->n].arrivals);
	free(stack_waiters->barriers);
	stack_waiters->barriers = NULL;
}
