// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "recording/chunks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

/* The byte above 0x7f and the two ends of line tell a file that was sent as text. */
static const uint8_t magic[8] = { 0x93, 'S', 'B', 'T', '\r', '\n', 0x1a, '\n' };

#define BLOCK_MAGIC   0x42544253u /* "SBTB" */
#define BLOCK_ZSTD    0x1u
#define LEVEL	      1 /* of zstd: the target's CPU is better used otherwise */
#define SAME_ORDER    0x01020304u
#define ANOTHER_ORDER 0x04030201u

struct file_header {
	uint8_t magic[8];
	uint32_t order; /* SAME_ORDER */
	uint16_t version;
	uint16_t header_size; /* where the first block begins */
};

struct block_header {
	uint32_t magic;
	uint16_t kind;
	uint16_t flags;
	uint32_t stored; /* bytes that follow */
	uint32_t size; /* of the content */
	uint64_t number; /* of the block in the file, from 0 */
	uint32_t content_crc; /* of the bytes that follow */
	uint32_t header_crc; /* of all above */
};

_Static_assert(sizeof(struct file_header) == 16, "no holes");
_Static_assert(sizeof(struct block_header) == 32, "no holes");

static uint32_t checksum(const void *bytes, size_t size)
{
	return (uint32_t)crc32(0, bytes, (unsigned int)size);
}

/* --- writing -------------------------------------------------------------------------------------- */

struct blocks_writer {
	int fd;
	int error; /* the first; nothing is written after it */
	uint64_t number, bytes;
	ZSTD_CCtx *zstd;
	size_t cap;
	uint8_t buffer[]; /* a header and what it is of */
};

static int write_all(struct blocks_writer *w, const void *from, size_t size)
{
	const uint8_t *at = from;

	while (size) {
		ssize_t n = write(w->fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENOSPC;
		at += n;
		size -= (size_t)n;
		w->bytes += (uint64_t)n;
	}
	return 0;
}

int blocks_create(int fd, struct blocks_writer **out)
{
	struct file_header header = { .order = SAME_ORDER,
				      .version = BLOCKS_VERSION,
				      .header_size = sizeof(header) };
	size_t cap = sizeof(struct block_header) + ZSTD_compressBound(BLOCKS_MAX);
	struct blocks_writer *w = calloc(1, sizeof(*w) + cap);
	int err;

	if (!w)
		return -ENOMEM;
	w->fd = fd;
	w->cap = cap;
	w->zstd = ZSTD_createCCtx();
	memcpy(header.magic, magic, sizeof(magic));
	err = w->zstd ? write_all(w, &header, sizeof(header)) : -ENOMEM;
	if (err) {
		blocks_writer_free(w);
		return err;
	}
	*out = w;
	return 0;
}

int blocks_write(struct blocks_writer *w, uint16_t kind, const void *content, size_t size)
{
	struct block_header header = { .magic = BLOCK_MAGIC, .kind = kind, .flags = BLOCK_ZSTD };
	uint8_t *to = w->buffer + sizeof(header);
	size_t stored;

	if (w->error)
		return w->error;
	if (!size || size > BLOCKS_MAX)
		return -EINVAL;
	stored = ZSTD_compressCCtx(w->zstd, to, w->cap - sizeof(header), content, size, LEVEL);
	if (ZSTD_isError(stored) || stored >= size) {
		memcpy(to, content, size);
		stored = size;
		header.flags = 0;
	}
	header.stored = (uint32_t)stored;
	header.size = (uint32_t)size;
	header.number = w->number;
	header.content_crc = checksum(to, stored);
	header.header_crc = checksum(&header, offsetof(struct block_header, header_crc));
	memcpy(w->buffer, &header, sizeof(header));
	/* In one piece, as far as the system goes along. */
	w->error = write_all(w, w->buffer, sizeof(header) + stored);
	if (!w->error)
		w->number++;
	return w->error;
}

uint64_t blocks_written(const struct blocks_writer *w)
{
	return w->bytes;
}

void blocks_writer_free(struct blocks_writer *w)
{
	if (!w)
		return;
	ZSTD_freeCCtx(w->zstd);
	free(w);
}

/* --- reading -------------------------------------------------------------------------------------- */

struct blocks_reader {
	int fd;
	uint64_t first, at; /* offsets in the file */
	uint64_t number;
	enum blocks_end end;
	ZSTD_DCtx *zstd;
	uint8_t *stored; /* BLOCKS_MAX bytes, and as many after them for the content */
	uint8_t *content;
};

/* As many bytes as there are up to @size; or -errno. */
static ssize_t read_some(int fd, uint64_t offset, void *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, (uint8_t *)to + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static int check_file(const struct file_header *h, ssize_t n)
{
	if (!n)
		return -ENODATA;
	if ((size_t)n < sizeof(*h) || memcmp(h->magic, magic, sizeof(magic)) != 0)
		return -EBADMSG;
	if (h->order == ANOTHER_ORDER)
		return -EILSEQ;
	if (h->order != SAME_ORDER || !h->version)
		return -EBADMSG;
	if (h->version > BLOCKS_VERSION)
		return -EPROTONOSUPPORT;
	return h->header_size == sizeof(*h) ? 0 : -EBADMSG;
}

int blocks_open(int fd, struct blocks_reader **out)
{
	struct file_header header = { 0 };
	struct blocks_reader *r;
	ssize_t n = read_some(fd, 0, &header, sizeof(header));
	int err = n < 0 ? (int)n : check_file(&header, n);

	if (err)
		return err;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->fd = fd;
	r->first = r->at = header.header_size;
	r->zstd = ZSTD_createDCtx();
	r->stored = malloc(BLOCKS_MAX);
	r->content = malloc(BLOCKS_MAX);
	if (!r->zstd || !r->stored || !r->content) {
		blocks_reader_free(r);
		return -ENOMEM;
	}
	*out = r;
	return 0;
}

/* A fuzzer cannot make checksums: what is behind them must hold without. */
static bool sums_right(const void *bytes, size_t size, uint32_t crc)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	(void)bytes, (void)size, (void)crc;
	return true;
#else
	return checksum(bytes, size) == crc;
#endif
}

static bool header_right(const struct blocks_reader *r, const struct block_header *h)
{
	return h->magic == BLOCK_MAGIC && h->number == r->number && h->size &&
	       h->size <= BLOCKS_MAX && h->stored && h->stored <= h->size &&
	       sums_right(h, offsetof(struct block_header, header_crc), h->header_crc);
}

/* Returns 1 and the content, 0: it is damaged. */
static int unpack(struct blocks_reader *r, const struct block_header *h, struct block *out)
{
	size_t n;

	*out = (struct block){ .kind = h->kind, .content = r->stored, .size = h->size };
	if (!sums_right(r->stored, h->stored, h->content_crc))
		return 0;
	if (!(h->flags & BLOCK_ZSTD))
		return h->stored == h->size;
	n = ZSTD_decompressDCtx(r->zstd, r->content, BLOCKS_MAX, r->stored, h->stored);
	out->content = r->content;
	return !ZSTD_isError(n) && n == h->size;
}

static int ended(struct blocks_reader *r, enum blocks_end end)
{
	r->end = end;
	return 0;
}

int blocks_next(struct blocks_reader *r, uint64_t kinds, struct block *out)
{
	struct block_header h;
	uint8_t last;
	ssize_t n;

	while (r->end == BLOCKS_MORE) {
		bool wanted;

		n = read_some(r->fd, r->at, &h, sizeof(h));
		if (n < 0)
			return (int)n;
		if (!n)
			return ended(r, BLOCKS_WHOLE);
		if ((size_t)n < sizeof(h))
			return ended(r, BLOCKS_CUT);
		if (!header_right(r, &h))
			return ended(r, BLOCKS_DAMAGED);
		wanted = h.kind < 64 && kinds >> h.kind & 1;
		/* Of one that is passed over its last byte must be there. */
		n = wanted ? read_some(r->fd, r->at + sizeof(h), r->stored, h.stored)
			   : read_some(r->fd, r->at + sizeof(h) + h.stored - 1, &last, 1);
		if (n < 0)
			return (int)n;
		if ((uint64_t)n < (wanted ? h.stored : 1))
			return ended(r, BLOCKS_CUT);
		if (wanted && !unpack(r, &h, out))
			return ended(r, BLOCKS_DAMAGED);
		r->at += sizeof(h) + h.stored;
		r->number++;
		if (wanted)
			return 1;
	}
	return 0;
}

int blocks_rewind(struct blocks_reader *r)
{
	r->at = r->first;
	r->number = 0;
	r->end = BLOCKS_MORE;
	return 0;
}

enum blocks_end blocks_ended(const struct blocks_reader *r)
{
	return r->end;
}

void blocks_reader_free(struct blocks_reader *r)
{
	if (!r)
		return;
	ZSTD_freeDCtx(r->zstd);
	free(r->stored);
	free(r->content);
	free(r);
}
