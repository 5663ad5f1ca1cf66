// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "recording/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"

#define CHUNK 65536

/* --- memory ----------------------------------------------------------------------------------- */

struct pool_chunk {
	struct pool_chunk *next;
	size_t used, size;
	_Alignas(16) uint8_t bytes[];
};

void *pool_alloc(struct pool *pool, size_t size)
{
	struct pool_chunk *chunk = pool->chunks;
	void *out;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + 15) & ~(size_t)15;
	if (!chunk || chunk->size - chunk->used < size) {
		size_t room = size > CHUNK ? size : CHUNK;

		if (pool->max && (pool->size > pool->max || room > pool->max - pool->size)) {
			pool->full = true;
			return NULL;
		}
		pool->size += room;
		chunk = calloc(1, sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		chunk->size = room;
		chunk->next = pool->chunks;
		pool->chunks = chunk;
	}
	out = chunk->bytes + chunk->used;
	chunk->used += size;
	return out;
}

void pool_free(struct pool *pool)
{
	struct pool_chunk *next;

	for (; pool->chunks; pool->chunks = next) {
		next = pool->chunks->next;
		free(pool->chunks);
	}
	pool->size = 0;
	pool->full = false;
}

/* --- both ways -------------------------------------------------------------------------------- */

void coder_write(struct coder *c)
{
	c->writing = true;
	c->failed = false;
	c->at = 0;
}

void coder_read(struct coder *c, const uint8_t *bytes, size_t size, struct pool *pool)
{
	*c = (struct coder){ .bytes = (uint8_t *)(uintptr_t)bytes, .size = size, .pool = pool };
}

bool coder_at_end(const struct coder *c)
{
	return !c->writing && c->at == c->size;
}

void coder_free(struct coder *c)
{
	free(c->bytes);
	*c = (struct coder){ .writing = true };
}

static bool make_room(struct coder *c, size_t n)
{
	if (grow(c->bytes, c->size, c->at + n))
		c->failed = true;
	return !c->failed;
}

/* Make room for @n more bytes. Return false if out of memory. */
static inline bool room(struct coder *c, size_t n)
{
	return c->size - c->at >= n ? !c->failed : make_room(c, n);
}

void coder_append(struct coder *c, const struct coder *from)
{
	if (!from->at || !room(c, from->at))
		return;
	memcpy(c->bytes + c->at, from->bytes, from->at);
	c->at += from->at;
}

static uint64_t fail(struct coder *c)
{
	c->failed = true;
	c->at = c->size;
	return 0;
}

static uint64_t get(struct coder *c)
{
	uint64_t v = 0;
	unsigned int shift;
	uint8_t byte;

	if (c->at < c->size && c->bytes[c->at] < 0x80)
		return c->bytes[c->at++];
	for (shift = 0; shift < 64; shift += 7) {
		if (c->at == c->size)
			return fail(c);
		byte = c->bytes[c->at++];
		if (shift == 63 && byte > 1)
			return fail(c);
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	return fail(c);
}

static void put(struct coder *c, uint64_t v)
{
	uint8_t *to;

	if (!room(c, 10))
		return;
	for (to = c->bytes + c->at; v > 0x7f; v >>= 7)
		*to++ = (uint8_t)(v | 0x80);
	*to++ = (uint8_t)v;
	c->at = (size_t)(to - c->bytes);
}

void code_u64(struct coder *c, uint64_t *v)
{
	if (c->writing)
		put(c, *v);
	else
		*v = get(c);
}

/*
 * Code @v and return it. When writing, the caller must not store the result in the value, which may
 * be in read-only memory.
 */
static uint64_t code_up_to(struct coder *c, uint64_t v, uint64_t max)
{
	code_u64(c, &v);
	return v > max ? fail(c) : v;
}

#define CODE_UP_TO(c, v, max)                                                   \
	do {                                                                    \
		uint64_t code_v_ = code_up_to(c, (c)->writing ? *(v) : 0, max); \
                                                                                \
		if (!(c)->writing)                                              \
			*(v) = (__typeof__(*(v)))code_v_;                       \
	} while (0)

void code_u32(struct coder *c, uint32_t *v)
{
	CODE_UP_TO(c, v, UINT32_MAX);
}

void code_u16(struct coder *c, uint16_t *v)
{
	CODE_UP_TO(c, v, UINT16_MAX);
}

void code_u8(struct coder *c, uint8_t *v)
{
	CODE_UP_TO(c, v, UINT8_MAX);
}

void code_bool(struct coder *c, bool *v)
{
	CODE_UP_TO(c, v, 1);
}

void code_delta(struct coder *c, uint64_t *v, uint64_t base)
{
	uint64_t d;

	if (c->writing) {
		d = *v - base;
		put(c, d << 1 ^ (d >> 63 ? UINT64_MAX : 0));
		return;
	}
	d = get(c);
	*v = base + (d >> 1 ^ (d & 1 ? UINT64_MAX : 0));
}

void code_known(struct coder *c, uint64_t *v)
{
	if (c->writing) {
		put(c, *v + 1);
		return;
	}
	*v = get(c) - 1;
	if (c->failed)
		*v = UINT64_MAX;
}

void code_double(struct coder *c, double *v)
{
	uint64_t bits;
	int i;

	if (c->writing) {
		if (!room(c, sizeof(bits)))
			return;
		memcpy(&bits, v, sizeof(bits));
		for (i = 0; i < 8; i++)
			c->bytes[c->at++] = (uint8_t)(bits >> 8 * i);
		return;
	}
	*v = 0;
	if (c->size - c->at < sizeof(bits)) {
		fail(c);
		return;
	}
	for (i = 0, bits = 0; i < 8; i++)
		bits |= (uint64_t)c->bytes[c->at++] << 8 * i;
	memcpy(v, &bits, sizeof(*v));
}

/* --- texts ------------------------------------------------------------------------------------ */

/* Read a text. Return its *len bytes, or NULL if there is no text. */
static const char *text_bytes(struct coder *c, size_t *len)
{
	uint64_t n = get(c);
	const char *s = (const char *)c->bytes + c->at;

	if (!n)
		return NULL;
	if (--n > c->size - c->at || (n && memchr(s, '\0', n))) {
		fail(c);
		return NULL;
	}
	c->at += n;
	*len = n;
	return s;
}

static void put_text(struct coder *c, const char *s)
{
	size_t len = s ? strlen(s) : 0;

	put(c, s ? len + 1 : 0);
	if (!len || !room(c, len))
		return;
	memcpy(c->bytes + c->at, s, len);
	c->at += len;
}

void code_text(struct coder *c, const char **s)
{
	const char *from;
	size_t len = 0;
	char *copy;

	if (c->writing) {
		put_text(c, *s);
		return;
	}
	*s = NULL;
	from = text_bytes(c, &len);
	copy = from ? pool_alloc(c->pool, len + 1) : NULL;
	if (!from)
		return;
	if (!copy) {
		fail(c);
		return;
	}
	memcpy(copy, from, len);
	*s = copy;
}

void code_word(struct coder *c, const char **s)
{
	char *clean, *copy;
	size_t size;

	code_text(c, s);
	if (c->writing || !*s)
		return;
	clean = text_printable(*s);
	size = clean ? strlen(clean) + 1 : 0;
	copy = clean ? pool_alloc(c->pool, size) : NULL;
	if (copy)
		memcpy(copy, clean, size);
	else
		fail(c);
	free(clean);
	*s = copy;
}

void code_label(struct coder *c, const char **s)
{
	code_word(c, s);
	if (!c->writing && !*s)
		fail(c);
}

void code_name(struct coder *c, char *s, size_t size)
{
	const char *from;
	size_t len = 0;

	if (c->writing) {
		put_text(c, s);
		return;
	}
	from = text_bytes(c, &len);
	if (len >= size)
		len = size - 1;
	if (len)
		memcpy(s, from, len);
	s[len] = '\0';
}

void code_sentence(struct coder *c, char *s, size_t size)
{
	char *clean;

	code_name(c, s, size);
	if (c->writing || c->failed)
		return;
	clean = text_printable(s);
	if (!clean)
		fail(c);
	else
		snprintf(s, size, "%s", clean);
	free(clean);
}

void *code_array(struct coder *c, uint32_t *n, const void *from, size_t size)
{
	void *to;

	code_u32(c, n);
	if (c->writing)
		return (void *)(uintptr_t)from;
	/*
	 * Do not allocate more elements than the rest of the input can contain: a struct has at
	 * least one field per 16 bytes, and each field takes at least one byte of input.
	 */
	if (*n > (c->size - c->at) / (size >= 16 ? size / 16 : 1)) {
		fail(c);
		*n = 0;
	}
	if (!*n)
		return NULL;
	to = pool_alloc(c->pool, (size_t)*n * size);
	if (!to) {
		fail(c);
		*n = 0;
	}
	return to;
}
