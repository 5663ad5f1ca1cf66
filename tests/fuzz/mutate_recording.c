// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Mutate recordings by records and by the numbers in them, and correct the lengths around them. A
 * fuzzer that does not know the lengths mostly produces files that end early. Compressed data is
 * left to the fuzzer's own mutations.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb,
				 uint8_t *out, size_t max, unsigned int seed);

#define FILE_HEADER  16
#define RECORDS_MAX  8192
#define ROOM	     64 /* maximum growth of a record in one mutation */
#define TYPES	     24
#define FACT_TYPES   16 /* types below this one are in chunks of facts */
#define BLOCK_FACTS  1
#define BLOCK_INPUTS 2

/* Same layout as in recording/chunks.c. */
struct header {
	uint32_t magic;
	uint16_t kind, flags;
	uint32_t stored, size;
	uint64_t number;
	uint32_t sums[2];
};

struct record {
	const uint8_t *bytes;
	size_t size;
	uint32_t block;
	uint16_t kind; /* kind of the chunk that contains the record */
	uint8_t type;
};

struct records {
	struct record at[RECORDS_MAX];
	uint32_t n, nblocks;
};

static bool take_number(const uint8_t *bytes, size_t size, size_t *at, uint64_t *out)
{
	unsigned int shift;

	for (*out = 0, shift = 0; shift < 64 && *at < size; shift += 7) {
		uint8_t byte = bytes[(*at)++];

		*out |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

static size_t put_number(uint8_t *to, uint64_t v)
{
	size_t n = 0;

	for (; v > 0x7f; v >>= 7)
		to[n++] = (uint8_t)(v | 0x80);
	to[n++] = (uint8_t)v;
	return n;
}

static bool parse_block(const uint8_t *bytes, const struct header *h, struct records *out)
{
	size_t at = 0;

	while (at < h->stored && out->n < RECORDS_MAX) {
		struct record *r = &out->at[out->n];
		uint64_t size;

		*r = (struct record){ .type = bytes[at++], .block = out->nblocks, .kind = h->kind };
		if (!take_number(bytes, h->stored, &at, &size) || size > h->stored - at)
			return false;
		r->bytes = bytes + at;
		r->size = (size_t)size;
		at += r->size;
		out->n++;
	}
	out->nblocks++;
	return true;
}

static bool parse(const uint8_t *data, size_t size, struct records *out)
{
	size_t at = FILE_HEADER;
	struct header h;

	out->n = out->nblocks = 0;
	while (at + sizeof(h) <= size) {
		memcpy(&h, data + at, sizeof(h));
		at += sizeof(h);
		if (h.flags || h.stored > size - at || !parse_block(data + at, &h, out))
			return false;
		at += h.stored;
	}
	return at == size && out->n;
}

/*
 * Build a file of these records. Return its size, or 0 if it would exceed @max. Checksums are not
 * computed.
 */
static size_t build(const uint8_t *file_header, const struct records *records, uint8_t *out,
		    size_t max)
{
	size_t n = FILE_HEADER, block = 0;
	struct header h = { 0 };
	uint64_t number = 0;
	uint32_t i;

	if (n > max)
		return 0;
	memcpy(out, file_header, n);
	for (i = 0; i < records->n; i++) {
		const struct record *r = &records->at[i];

		if (n + sizeof(h) + 1 + 10 + r->size > max)
			return 0;
		if (!block || r->block != r[-1].block || r->kind != r[-1].kind) {
			block = n;
			n += sizeof(h);
			h = (struct header){ .magic = 0x42544253u,
					     .kind = r->kind,
					     .number = number++ };
		}
		out[n++] = r->type;
		n += put_number(out + n, r->size);
		memmove(out + n, r->bytes, r->size);
		n += r->size;
		h.stored = h.size = (uint32_t)(n - block - sizeof(h));
		memcpy(out + block, &h, sizeof(h));
	}
	return n;
}

/* Change one of the numbers, if the bytes are a series of numbers. */
static size_t change_number(uint8_t *bytes, size_t size)
{
	static const uint64_t interesting[] = {
		0,
		1,
		2,
		3,
		255,
		256,
		65535,
		65536,
		INT32_MAX,
		UINT32_MAX,
		UINT32_MAX + 1ULL,
		INT64_MAX,
		UINT64_MAX - 1,
		UINT64_MAX,
	};
	uint32_t which = (uint32_t)rand() % 16;
	size_t from = 0, to = 0, n;
	uint8_t coded[10];
	uint64_t v = 0;

	do {
		from = to;
		if (!take_number(bytes, size, &to, &v))
			return size;
	} while (which-- && to < size);
	switch (rand() % 4) {
	case 0:
		v += (uint64_t)(rand() % 17) - 8;
		break;
	case 1:
		v ^= 1ULL << rand() % 64;
		break;
	case 2:
		v = (uint64_t)rand() >> rand() % 31;
		break;
	default:
		v = interesting[(size_t)rand() % (sizeof(interesting) / sizeof(*interesting))];
	}
	n = put_number(coded, v);
	memmove(bytes + from + n, bytes + to, size - to);
	memcpy(bytes + from, coded, n);
	return size - (to - from) + n;
}

static void change_record(struct record *r, uint8_t **owned)
{
	uint8_t *copy = malloc(r->size + ROOM);

	if (!copy)
		abort();
	memcpy(copy, r->bytes, r->size);
	if (rand() % 3)
		r->size = change_number(copy, r->size);
	else
		r->size = LLVMFuzzerMutate(copy, r->size, r->size + ROOM);
	r->bytes = copy;
	*owned = copy;
}

static void insert(struct records *to, uint32_t at, const struct record *from, uint32_t n)
{
	uint32_t i, block;

	if (to->n + n > RECORDS_MAX)
		return;
	memmove(&to->at[at + n], &to->at[at], (to->n - at) * sizeof(*to->at));
	to->n += n;
	block = at ? to->at[at - 1].block : 0;
	for (i = 0; i < n; i++) {
		to->at[at + i] = from[i];
		to->at[at + i].block = block;
	}
}

static void change(struct records *records, uint8_t **owned)
{
	uint32_t i = (uint32_t)rand() % records->n, j = (uint32_t)rand() % records->n, n;
	struct record r;

	switch (rand() % 12) {
	case 0: /* remove it, and some records after it */
		n = 1 + (uint32_t)rand() % 4;
		if (n >= records->n - i || records->n <= n)
			break;
		memmove(&records->at[i], &records->at[i + n], (records->n - i - n) * sizeof(r));
		records->n -= n;
		break;
	case 1: /* copy it to another position */
		r = records->at[i];
		insert(records, j, &r, 1);
		break;
	case 2: /* swap it with another record */
		r = records->at[i];
		records->at[i].type = records->at[j].type;
		records->at[i].bytes = records->at[j].bytes;
		records->at[i].size = records->at[j].size;
		records->at[j].type = r.type;
		records->at[j].bytes = r.bytes;
		records->at[j].size = r.size;
		break;
	case 3:
		records->at[i].type = (uint8_t)(rand() % TYPES);
		records->at[i].kind = records->at[i].type < FACT_TYPES ? BLOCK_FACTS : BLOCK_INPUTS;
		break;
	default:
		change_record(&records->at[i], owned);
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	static struct records records;
	uint8_t *owned[4] = { NULL }, *out;
	size_t n = 0, i, changes;

	srand(seed);
	if (!(rand() % 16) || !parse(data, size, &records))
		return LLVMFuzzerMutate(data, size, max);
	out = malloc(max);
	if (!out)
		abort();
	changes = 1 + (size_t)rand() % 4;
	for (i = 0; i < changes; i++)
		change(&records, &owned[i]);
	n = build(data, &records, out, max);
	if (n)
		memcpy(data, out, n);
	for (i = 0; i < changes; i++)
		free(owned[i]);
	free(out);
	return n ? n : LLVMFuzzerMutate(data, size, max);
}

/* Insert some records of @b into @a. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb,
				 uint8_t *out, size_t max, unsigned int seed)
{
	static struct records to, from;
	uint32_t i, n;

	srand(seed);
	if (!parse(a, na, &to) || !parse(b, nb, &from))
		return 0;
	i = (uint32_t)rand() % from.n;
	n = 1 + (uint32_t)rand() % 32;
	if (n > from.n - i)
		n = from.n - i;
	insert(&to, (uint32_t)rand() % to.n, &from.at[i], n);
	return build(a, &to, out, max);
}
