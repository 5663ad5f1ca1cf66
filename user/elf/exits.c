// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "elf/exits.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "elf/frames.h"
#include "elf/insn.h"

#define PARTS_MAX 24
#define TAILS_MAX 32
/* maximum size of a part, in bytes */
#define PART_MAX  (64u << 10)

/* The parts of one function and of the functions that it jumps to. */
struct parts {
	const struct elf_file *elf;
	uint16_t machine;
	enum exits_follow follow;
	struct elf_symbol part[PARTS_MAX];
	uint32_t n;
	/*
	 * number of exits that are jumps to functions of other files, in which the thread may spend
	 * time
	 */
	uint32_t outside;
};

struct search {
	uint64_t vaddr;
	struct elf_symbol found;
};

static int find_in_symbols(void *ctx, const char *name, const struct elf_symbol *symbol)
{
	struct search *s = ctx;

	(void)name;
	if (s->vaddr < symbol->vaddr || s->vaddr - symbol->vaddr >= symbol->size)
		return 0;
	s->found = *symbol;
	return 1;
}

static int find_in_frames(void *ctx, uint64_t start, uint64_t len)
{
	struct search *s = ctx;

	if (s->vaddr < start || s->vaddr - start >= len)
		return 0;
	s->found = (struct elf_symbol){ .vaddr = start, .size = len };
	return 1;
}

bool exits_function_around(const struct elf_file *elf, uint64_t vaddr, struct elf_symbol *out)
{
	struct search s = { .vaddr = vaddr };

	/* The unwind table also describes cold parts, and functions of stripped files. */
	if (frames_each(elf, find_in_frames, &s) <= 0 &&
	    elf_each_function(elf, find_in_symbols, &s) <= 0)
		return false;
	*out = s.found;
	return !elf_vaddr_to_offset(elf, out->vaddr, &out->offset);
}

static bool has_part(const struct parts *p, uint64_t vaddr)
{
	uint32_t i;

	for (i = 0; i < p->n; i++)
		if (vaddr - p->part[i].vaddr < p->part[i].size)
			return true;
	return false;
}

/* Add the function around @vaddr. Return false if its bounds are unknown. */
static bool add_part(struct parts *p, uint64_t vaddr)
{
	if (p->n == PARTS_MAX || !exits_function_around(p->elf, vaddr, &p->part[p->n]))
		return false;
	p->n++;
	return true;
}

/* Return whether @vaddr is an entry of the procedure linkage table. */
static bool is_linkage(const struct parts *p, uint64_t vaddr)
{
	const uint8_t *code;
	uint64_t offset;

	return !elf_vaddr_to_offset(p->elf, vaddr, &offset) &&
	       elf_bytes(p->elf, offset, 16, &code) == 16 && insn_is_linkage(p->machine, code, 16);
}

struct slot {
	uint64_t vaddr;
	bool quick;
};

/*
 * Set slot->quick if the word at slot->vaddr holds the address of a function that returns at once.
 * A function that ends by a jump to such a function, for example to unlock a mutex, has already
 * done its work.
 */
static void note_slot(void *ctx, const char *name, uint64_t vaddr)
{
	static const char *const quick[] = {
		"pthread_mutex_unlock",
		"pthread_spin_unlock",
		"pthread_rwlock_unlock",
		"pthread_cond_signal",
		"pthread_cond_broadcast",
		"sem_post",
		"mtx_unlock",
		"cnd_signal",
		"cnd_broadcast",
		"_ZNSt18condition_variable10notify_allEv",
		"_ZNSt18condition_variable10notify_oneEv",
	};
	struct slot *s = ctx;
	size_t i, len;

	if (vaddr != s->vaddr)
		return;
	len = strcspn(name, "@");
	for (i = 0; i < sizeof(quick) / sizeof(quick[0]); i++)
		s->quick |= strlen(quick[i]) == len && !strncmp(quick[i], name, len);
}

static bool is_quick(const struct parts *p, uint64_t vaddr)
{
	struct slot slot = { 0 };
	const uint8_t *code;
	uint64_t offset;
	size_t len;

	if (elf_vaddr_to_offset(p->elf, vaddr, &offset))
		return false;
	len = elf_bytes(p->elf, offset, 16, &code);
	if (!insn_linkage_slot(p->machine, vaddr, code, len, &slot.vaddr))
		return false;
	elf_each_slot(p->elf, note_slot, &slot);
	return slot.quick;
}

/*
 * Follow a jump out of a part: add the code at its target as a part. If the target is in another
 * file, the jump may count as an exit. Return 0 or -ENOTSUP.
 */
static int take_tail(struct parts *p, const struct elf_symbol *part, const struct insn_tail *tail,
		     struct exits *out)
{
	uint64_t vaddr = part->vaddr + (uint64_t)tail->target;
	bool all = p->follow >= EXITS_FOLLOW_ALL, outside = all && is_linkage(p, vaddr);

	/* Add nothing if the target is in a known part, for example if a cold part jumps back. */
	if (has_part(p, vaddr))
		return 0;
	if (outside && p->follow == EXITS_FOLLOW_OUTSIDE && !tail->conditional &&
	    out->n < EXITS_MAX) {
		out->at[out->n++] = part->offset + tail->at;
		p->outside++;
		return 0;
	}
	if (outside && !tail->conditional && out->n < EXITS_MAX && is_quick(p, vaddr)) {
		out->at[out->n++] = part->offset + tail->at;
		return 0;
	}
	if (outside) {
		snprintf(out->why, sizeof(out->why), "it ends by a jump to another library");
		return -ENOTSUP;
	}
	if ((all || tail->conditional) && add_part(p, vaddr))
		return 0;
	snprintf(out->why, sizeof(out->why), "a jump at +%u leaves the function", tail->at);
	return -ENOTSUP;
}

/*
 * Collect the exits of one part. Targets of jumps out of the part are added as parts. Return 0 or
 * -ENOTSUP.
 */
static int take_part(struct parts *p, uint32_t which, struct exits *out)
{
	const struct elf_symbol part = p->part[which];
	uint32_t exits[EXITS_MAX], ntails = TAILS_MAX, t;
	struct insn_tail tails[TAILS_MAX];
	const uint8_t *bytes;
	size_t len;
	int n, i;

	if (part.size > PART_MAX) {
		snprintf(out->why, sizeof(out->why), "it is too long");
		return -ENOTSUP;
	}
	len = elf_bytes(p->elf, part.offset, part.size, &bytes);
	n = insn_find_ends(p->machine, bytes, len, exits, EXITS_MAX,
			   p->follow != EXITS_FOLLOW_NONE ? tails : NULL, &ntails, out->why,
			   sizeof(out->why));
	/*
	 * A part other than the first may have no ret: a cold part may end by throwing an
	 * exception.
	 */
	if (n < 0 && !(n == -ENOENT && which))
		return -ENOTSUP;
	if (n > EXITS_MAX - (int)out->n) {
		snprintf(out->why, sizeof(out->why), "it has too many exits (%d)", n);
		return -ENOTSUP;
	}
	for (i = 0; i < n; i++)
		out->at[out->n++] = part.offset + exits[i];
	for (t = 0; p->follow != EXITS_FOLLOW_NONE && t < ntails; t++)
		if (take_tail(p, &part, &tails[t], out))
			return -ENOTSUP;
	return 0;
}

void exits_find(const struct elf_file *elf, uint16_t machine, const struct elf_symbol *symbol,
		enum exits_follow follow, struct exits *out)
{
	struct parts p = { .elf = elf, .machine = machine, .follow = follow };
	uint32_t i;
	int err = 0;

	memset(out, 0, sizeof(*out));
	if (symbol->size) {
		p.part[p.n++] = *symbol;
	} else if (!add_part(&p, symbol->vaddr)) {
		snprintf(out->why, sizeof(out->why), "the function's size is unknown");
		return;
	}
	for (i = 0; i < p.n && !err; i++)
		err = take_part(&p, i, out);
	out->parts = p.n;
	if (!err && out->n == p.outside) {
		/*
		 * The function has no exit of its own: it always ends by a jump to another library,
		 * and any wait may be there.
		 */
		snprintf(out->why, sizeof(out->why), "it has no ret%s",
			 p.outside ? ", it ends by a jump to another library" : "");
		err = -ENOENT;
	}
	if (err)
		out->n = 0;
}
