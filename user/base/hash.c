// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_MIN 16

void hash_init(struct hash *h)
{
	memset(h, 0, sizeof(*h));
}

void hash_free(struct hash *h)
{
	free(h->entries);
	hash_init(h);
}

/*
 * Return the index of the key's entry, or of the free entry where the key belongs. The table is
 * never full.
 */
static size_t find(const struct hash *h, uint64_t key)
{
	size_t mask = h->size - 1, i = hash_mix(key) & mask;

	while (h->entries[i].key && h->entries[i].key != key)
		i = (i + 1) & mask;
	return i;
}

bool hash_get(const struct hash *h, uint64_t key, uint64_t *value)
{
	size_t i;

	if (!key) {
		if (h->has_zero)
			*value = h->zero;
		return h->has_zero;
	}
	if (!h->size)
		return false;
	i = find(h, key);
	if (!h->entries[i].key)
		return false;
	*value = h->entries[i].value;
	return true;
}

static int enlarge(struct hash *h)
{
	size_t i, size = h->size ? h->size * 2 : HASH_MIN;
	struct hash old = *h;

	h->entries = calloc(size, sizeof(*h->entries));
	if (!h->entries) {
		h->entries = old.entries;
		return -ENOMEM;
	}
	h->size = size;
	for (i = 0; i < old.size; i++)
		if (old.entries[i].key)
			h->entries[find(h, old.entries[i].key)] = old.entries[i];
	free(old.entries);
	return 0;
}

int hash_put(struct hash *h, uint64_t key, uint64_t value)
{
	size_t i;

	if (!key) {
		h->has_zero = true;
		h->zero = value;
		return 0;
	}
	/*
	 * Enlarge the table before it is more than three quarters full. This keeps searches short.
	 */
	if (h->used + 1 > h->size / 4 * 3 && enlarge(h))
		return -ENOMEM;
	i = find(h, key);
	if (!h->entries[i].key)
		h->used++;
	h->entries[i] = (struct hash_entry){ .key = key, .value = value };
	return 0;
}

bool hash_del(struct hash *h, uint64_t key)
{
	size_t mask = h->size - 1, hole, i, home;
	bool had;

	if (!key) {
		had = h->has_zero;
		h->has_zero = false;
		return had;
	}
	if (!h->size)
		return false;
	hole = find(h, key);
	if (!h->entries[hole].key)
		return false;
	/*
	 * If the hole lies between an entry and the entry's home position, a search for the entry
	 * would stop at the hole. So move the entry into the hole.
	 */
	for (i = (hole + 1) & mask; h->entries[i].key; i = (i + 1) & mask) {
		home = hash_mix(h->entries[i].key) & mask;
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			h->entries[hole] = h->entries[i];
			hole = i;
		}
	}
	h->entries[hole].key = 0;
	h->used--;
	return true;
}

size_t hash_count(const struct hash *h)
{
	return h->used + h->has_zero;
}

const struct hash_entry *hash_next(const struct hash *h, size_t *pos, struct hash_entry *zero)
{
	size_t i;

	if (!*pos) {
		*pos = 1;
		if (h->has_zero) {
			*zero = (struct hash_entry){ .value = h->zero };
			return zero;
		}
	}
	while (*pos - 1 < h->size) {
		i = (*pos)++ - 1;
		if (h->entries[i].key)
			return &h->entries[i];
	}
	return NULL;
}

void hash_free_ptrs(struct hash *h)
{
	const struct hash_entry *e;
	struct hash_entry zero;
	size_t pos = 0;

	while ((e = hash_next(h, &pos, &zero)))
		free((void *)(uintptr_t)e->value);
	hash_free(h);
}

void *hash_new_ptr(struct hash *h, uint64_t key, size_t size)
{
	void *value = calloc(1, size);

	if (value && hash_put_ptr(h, key, value)) {
		free(value);
		return NULL;
	}
	return value;
}
