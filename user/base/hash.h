/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* A map from 64-bit keys to 64-bit values: open addressing, linear probing, no tombstones. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_entry {
	uint64_t key; /* 0: the entry is free; the key 0 itself is stored outside the table */
	uint64_t value;
};

struct hash {
	struct hash_entry *entries;
	size_t size; /* 0 or a power of two */
	size_t used; /* number of entries in use, not counting the key 0 */
	bool has_zero;
	uint64_t zero;
};

/* Make the hash empty. A struct hash that is all zeros is also empty and ready for use. */
void hash_init(struct hash *h);
void hash_free(struct hash *h);
bool hash_get(const struct hash *h, uint64_t key, uint64_t *value);
/* Set or replace the value of @key. Return 0 or -ENOMEM. */
int hash_put(struct hash *h, uint64_t key, uint64_t value);
/* Delete @key. Return whether it was present. */
bool hash_del(struct hash *h, uint64_t key);
size_t hash_count(const struct hash *h);
/*
 * Return the next entry of a walk over the hash, or NULL at the end. *@pos is 0 at the beginning;
 * @zero is room for the entry of the key 0. The hash must not change during the walk.
 */
const struct hash_entry *hash_next(const struct hash *h, size_t *pos, struct hash_entry *zero);

/* Spread the bits of a key. This is also useful to combine several numbers into one. */
static inline uint64_t hash_mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0x9e3779b97f4a7c15ULL;
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9ULL;
	x ^= x >> 32;
	return x;
}

static inline void *hash_get_ptr(const struct hash *h, uint64_t key)
{
	uint64_t value;

	return hash_get(h, key, &value) ? (void *)(uintptr_t)value : NULL;
}

static inline int hash_put_ptr(struct hash *h, uint64_t key, void *ptr)
{
	return hash_put(h, key, (uint64_t)(uintptr_t)ptr);
}

/* Free the hash, and its values, which are pointers to allocated memory. */
void hash_free_ptrs(struct hash *h);
/*
 * Allocate @size zeroed bytes as the value of @key, which must have no value yet. Return NULL if
 * out of memory.
 */
void *hash_new_ptr(struct hash *h, uint64_t key, size_t size);

#endif /* BASE_HASH_H */
