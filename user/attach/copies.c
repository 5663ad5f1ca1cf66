// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "attach/copies.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/grow.h"

/*
 * Initial size of the array of probes. It is so large that malloc() uses mmap(), and growing the
 * array leaves no holes in the heap.
 */
#define COPIES_FIRST 2048

#if defined(__aarch64__)
static const uint8_t breakpoint[SBT_BREAKPOINT_BYTES] = { 0xa0, 0x00, 0x20, 0xd4 }; /* brk #5 */
#else
static const uint8_t breakpoint[SBT_BREAKPOINT_BYTES] = { 0xcc }; /* int3 */
#endif

void copies_free(struct copies *c)
{
	free(c->probes);
	hash_free(&c->of_probe_site);
	memset(c, 0, sizeof(*c));
}

static uint64_t probe_site_key(const struct copies_probe *p, uint64_t offset)
{
	return hash_mix(hash_mix(hash_mix(p->dev) ^ p->ino) ^ offset);
}

/* Return whether there is a probe of the same file as @p at @offset. */
static bool is_probed(const struct copies *c, const struct copies_probe *p, uint64_t offset)
{
	const struct copies_probe *q;
	uint64_t number;

	if (!hash_get(&c->of_probe_site, probe_site_key(p, offset), &number))
		return false;
	q = &c->probes[number - 1];
	return q->offset == offset && q->ino == p->ino && q->dev == p->dev;
}

/* Make room for one more probe. Return false if that is impossible. */
static bool has_room(struct copies *c)
{
	return c->n < COPIES_MAX &&
	       !grow(c->probes, c->max, c->n < COPIES_FIRST ? COPIES_FIRST : c->n + 1);
}

static void note_one(struct copies *c, int fd, const struct stat *st, uint64_t offset)
{
	size_t before = offset < COPIES_AROUND ? offset : COPIES_AROUND;
	struct copies_probe p = {
		.dev = st->st_dev, .ino = st->st_ino, .offset = offset, .before = (uint8_t)before
	};
	uint32_t *first;
	ssize_t got;

	got = pread(fd, p.code + COPIES_AROUND - before,
		    before + SBT_BREAKPOINT_BYTES + COPIES_AROUND, (off_t)(offset - before));
	/* One byte after the breakpoint is needed: the index uses that byte. */
	if (got <= (ssize_t)(before + SBT_BREAKPOINT_BYTES))
		return;
	p.after = (uint8_t)((size_t)got - before - SBT_BREAKPOINT_BYTES);
	if (is_probed(c, &p, offset) || !has_room(c) ||
	    hash_put(&c->of_probe_site, probe_site_key(&p, offset), c->n + 1ULL))
		return;
	first = &c->first[p.code[COPIES_AROUND + SBT_BREAKPOINT_BYTES]];
	p.next = *first ? *first - 1 : COPIES_NONE;
	c->probes[c->n] = p;
	*first = ++c->n;
}

void copies_note(struct copies *c, int fd, const uint64_t *offsets, uint32_t n)
{
	struct stat st;
	uint32_t i;

	if (fstat(fd, &st))
		return;
	for (i = 0; i < n; i++)
		note_one(c, fd, &st, offsets[i]);
}

bool copies_in_file(const struct copies *c, const uint64_t *dev, uint64_t inode)
{
	array_for_each (probe, c->probes, c->n)
		if (probe->ino == inode && (!dev || probe->dev == *dev))
			return true;
	return false;
}

/*
 * Return whether @at in the copy is a breakpoint of another probe of the same file. @i: the index
 * in p->code of the byte that corresponds to @at.
 */
static bool is_breakpoint(const struct copies *c, const struct copies_probe *p, const uint8_t *at,
			  size_t room, size_t i)
{
	return room >= SBT_BREAKPOINT_BYTES && i + SBT_BREAKPOINT_BYTES < sizeof(p->code) &&
	       !memcmp(at, breakpoint, SBT_BREAKPOINT_BYTES) &&
	       is_probed(c, p, p->offset + i - COPIES_AROUND);
}

/*
 * Return how many bytes after the breakpoint at @at equal the file's bytes. Bytes under other
 * breakpoints are not compared.
 */
static size_t same_after(const struct copies *c, const struct copies_probe *p, const uint8_t *bytes,
			 size_t n, size_t at)
{
	size_t i = 0, same = 0, room = n - at - SBT_BREAKPOINT_BYTES;
	const uint8_t *copy = bytes + at + SBT_BREAKPOINT_BYTES;
	const uint8_t *code = p->code + COPIES_AROUND + SBT_BREAKPOINT_BYTES;

	while (i < room && i < p->after) {
		if (is_breakpoint(c, p, copy + i, room - i,
				  COPIES_AROUND + SBT_BREAKPOINT_BYTES + i)) {
			i += SBT_BREAKPOINT_BYTES;
			continue;
		}
		if (copy[i] != code[i])
			break;
		i++;
		same++;
	}
	return same;
}

static size_t same_before(const struct copies *c, const struct copies_probe *p,
			  const uint8_t *bytes, size_t at)
{
	const uint8_t *copy = bytes + at, *code = p->code + COPIES_AROUND;
	size_t i = 1, same = 0;

	while (i <= at && i <= p->before) {
		size_t back = i + SBT_BREAKPOINT_BYTES - 1;

		if (back <= at && back <= p->before &&
		    is_breakpoint(c, p, copy - back, back, COPIES_AROUND - back)) {
			i += SBT_BREAKPOINT_BYTES;
			continue;
		}
		if (copy[-(ptrdiff_t)i] != code[-(ptrdiff_t)i])
			break;
		i++;
		same++;
	}
	return same;
}

const uint8_t *copies_at(const struct copies *c, const uint8_t *bytes, size_t n, size_t at)
{
	const uint8_t *found = NULL, *original;
	size_t most = COPIES_SAME - 1, same;
	uint32_t i;

	if (n - at <= SBT_BREAKPOINT_BYTES ||
	    memcmp(bytes + at, breakpoint, SBT_BREAKPOINT_BYTES) != 0)
		return NULL;
	i = c->first[bytes[at + SBT_BREAKPOINT_BYTES]];
	for (i = i ? i - 1 : COPIES_NONE; i != COPIES_NONE; i = c->probes[i].next) {
		const struct copies_probe *p = &c->probes[i];

		same = same_after(c, p, bytes, n, at) + same_before(c, p, bytes, at);
		original = p->code + COPIES_AROUND;
		/*
		 * Two probes match equally well, but have different bytes under their breakpoints:
		 * ambiguous.
		 */
		if (same == most && found && memcmp(found, original, SBT_BREAKPOINT_BYTES) != 0)
			found = NULL;
		if (same <= most)
			continue;
		most = same;
		found = original;
	}
	return found;
}

size_t copies_next(const struct copies *c, const uint8_t *bytes, size_t n, size_t at,
		   const uint8_t **original)
{
	const uint8_t *next;

	while (at < n) {
		next = memchr(bytes + at, breakpoint[0], n - at);
		if (!next)
			break;
		at = (size_t)(next - bytes);
		*original = copies_at(c, bytes, n, at);
		if (*original)
			return at;
		at++;
	}
	return n;
}
