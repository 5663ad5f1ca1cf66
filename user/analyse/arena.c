// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "analyse/internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_FIRST 512 /* bytes; small, because many arenas hold only a name */
#define ARENA_CHUNK 16384

struct chunk {
	struct chunk *next;
	size_t used, size;
	_Alignas(16) char bytes[];
};

struct arena {
	struct chunk *chunks;
};

struct arena *arena_new(void)
{
	return calloc(1, sizeof(struct arena));
}

void arena_free(struct arena *a)
{
	struct chunk *c;

	if (!a)
		return;
	while (a->chunks) {
		c = a->chunks;
		a->chunks = c->next;
		free(c);
	}
	free(a);
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct chunk *c = a->chunks;
	size_t room = !c ? ARENA_FIRST : c->size < ARENA_CHUNK / 4 ? 4 * c->size : ARENA_CHUNK;
	void *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + 15) & ~(size_t)15;
	if (!c || c->size - c->used < size) {
		if (room < size)
			room = size;
		c = calloc(1, sizeof(*c) + room);
		if (!c)
			return NULL;
		c->size = room;
		c->next = a->chunks;
		a->chunks = c;
	}
	p = c->bytes + c->used;
	c->used += size;
	return p;
}

char *arena_string(struct arena *a, const char *s)
{
	size_t n = strlen(s) + 1;
	char *p = arena_alloc(a, n);

	if (p)
		memcpy(p, s, n);
	return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list args;
	char *p = NULL;
	int n;

	va_start(args, fmt);
	/* clang-tidy 14 loses track of va_start() if it checks several files at once. */
	n = vsnprintf(NULL, 0, fmt, args); // NOLINT(clang-analyzer-valist.Uninitialized)
	va_end(args);
	if (n >= 0)
		p = arena_alloc(a, (size_t)n + 1);
	if (!p)
		return NULL;
	va_start(args, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, args); // NOLINT(clang-analyzer-valist.Uninitialized)
	va_end(args);
	return p;
}
