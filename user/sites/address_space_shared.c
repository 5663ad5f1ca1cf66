// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Find the memory that processes share. There are two sources: the mappings, and the BPF programs'
 * reports of barriers that were initialized in shared memory (SBT_REC_SHARED). The reports also
 * cover processes that exit before their mappings are read.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "sites/address_space_internal.h"

/*
 * Maximum number of notes of one process, including inherited notes. When a process reaches this
 * number, all its notes are dropped and new ones are collected.
 */
#define NOTES_MOST 4096

#define PARENTS_MOST 8 /* maximum number of generations of parents that are searched */

/*
 * A report of a barrier that was initialized in shared memory. A note is never changed, because a
 * forked child points to its parent's notes.
 */
struct address_space_note {
	const struct address_space_note *older;
	uint32_t n; /* number of notes from this one on, including older ones */
	struct address_space_memory memory;
	struct address_space_note *next; /* in the list of all notes, which is used to free them */
};

static uint64_t key_of(const struct address_space_memory *m, uint64_t addr)
{
	uint64_t hash = TEXT_HASH_INIT, offset = addr - m->start + m->offset;

	if (!m->ino)
		return 0;
	hash = text_hash(hash, &m->dev, sizeof(m->dev));
	hash = text_hash(hash, &m->ino, sizeof(m->ino));
	hash = text_hash(hash, &offset, sizeof(offset));
	return hash ? hash : 1;
}

static const struct address_space_memory *noted_at(const struct address_space *space, uint64_t addr)
{
	const struct address_space_note *n;

	for (n = space->notes; n; n = n->older)
		if (addr >= n->memory.start && addr < n->memory.end)
			return &n->memory;
	return NULL;
}

static bool same_memory(const struct address_space_memory *a, const struct address_space_memory *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->ino == b->ino && a->dev == b->dev && a->unknown == b->unknown;
}

int address_space_note_memory(struct address_spaces *s, struct address_space *space,
			      const struct address_space_memory *memory)
{
	const struct address_space_memory *was = noted_at(space, memory->start);
	const struct address_space_note *older = space->notes;
	struct address_space_note *n;

	if (was && same_memory(was, memory))
		return 0;
	/*
	 * If there is no memory for this note, drop all notes: no note is better than an outdated
	 * one.
	 */
	space->notes = NULL;
	n = malloc(sizeof(*n));
	if (!n)
		return -ENOMEM;
	if (older && older->n >= NOTES_MOST)
		older = NULL;
	*n = (struct address_space_note){
		.older = older, .n = older ? older->n + 1 : 1, .memory = *memory, .next = s->notes
	};
	s->notes = n;
	space->notes = n;
	return 1;
}

void address_space_inherit_notes(struct address_space *child, const struct address_space *parent)
{
	child->notes = parent->notes;
}

void address_space_notes_free(struct address_spaces *s)
{
	struct address_space_note *n;

	while ((n = s->notes)) {
		s->notes = n->next;
		free(n);
	}
}

static uint64_t key_at(const struct maps_entry *e, uint64_t addr)
{
	struct address_space_memory m = {
		.start = e->start, .offset = e->offset, .ino = e->shared ? e->ino : 0, .dev = e->dev
	};

	return key_of(&m, addr);
}

/*
 * Find the key by the process's mappings. If these are inherited, only shared mappings count: other
 * memory may have been mapped in their place since the fork.
 */
static bool read_key(const struct address_space *space, uint64_t addr, uint64_t *key)
{
	const struct maps_entry *e = maps_find(&space->maps, addr);

	if (!e || (!space->read && !(e->shared && e->ino)))
		return false;
	*key = key_at(e, addr);
	return true;
}

/*
 * Return the mapping at @addr that the process inherited by fork, according to its own mappings or
 * those of its parents, or NULL. This is for a process that exited before its mappings were read.
 * The parents' mappings may be newer than what the process inherited.
 */
static const struct maps_entry *inherited_at(struct address_spaces *s,
					     const struct address_space *space, uint64_t addr)
{
	const struct maps_entry *e = maps_find(&space->maps, addr);
	struct address_space *parent;
	uint32_t steps;

	for (steps = 0; !e && space->parent_tgid && steps < PARENTS_MOST; steps++) {
		parent = address_space_find(s, space->parent_tgid, space->parent_inc);
		if (!parent)
			return NULL;
		e = maps_find(&parent->maps, addr);
		if (!e && !parent->gone && !address_space_read(s, parent))
			e = maps_find(&parent->maps, addr);
		space = parent;
	}
	return e;
}

static bool inherited_key(struct address_spaces *s, const struct address_space *space,
			  uint64_t addr, uint64_t *key)
{
	const struct maps_entry *e = space->read ? NULL : inherited_at(s, space, addr);

	if (!e || !e->shared || !e->ino)
		return false;
	*key = key_at(e, addr);
	return true;
}

bool address_space_shared_unknown(struct address_spaces *s, struct address_space *space,
				  uint64_t addr)
{
	return !space->read && space->parent_tgid && !noted_at(space, addr) &&
	       !inherited_at(s, space, addr);
}

uint64_t address_space_shared_key(struct address_spaces *s, struct address_space *space,
				  uint64_t addr, bool *known)
{
	const struct address_space_memory *m = noted_at(space, addr);
	uint64_t key = 0, noted = 0;
	bool is_noted = m && !m->unknown, is_read = read_key(space, addr, &key);

	if (is_noted)
		noted = key_of(m, addr);
	/* The memory may have been mapped since the last read. */
	if ((!is_read || (is_noted && noted != key)) && !space->gone &&
	    !address_space_read(s, space))
		is_read = read_key(space, addr, &key);
	if (!is_read && !is_noted)
		is_read = inherited_key(s, space, addr, &key);
	/* Inherited mappings are older than the note, so they cannot confirm it. */
	if (is_noted && !space->read)
		is_read = false;
	if (known)
		*known = is_read != is_noted || (is_read && noted == key);
	if (is_read && is_noted && noted != key)
		return 0;
	return is_read ? key : noted;
}
