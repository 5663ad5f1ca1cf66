// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "recording/chunks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

/*
 * A transfer as text changes the byte above 0x7f or the line endings, so the magic is then wrong.
 */
static const uint8_t magic[8] = { 0x93, 'S', 'B', 'T', '\r', '\n', 0x1a, '\n' };

#define CHUNK_MAGIC   0x42544253u /* "SBTB" */
#define CHUNK_ZSTD    0x1u
#define LEVEL	      1 /* of zstd: low, to leave CPU time to the traced program */
#define SAME_ORDER    0x01020304u
#define ANOTHER_ORDER 0x04030201u

struct file_header {
	uint8_t magic[8];
	uint32_t order; /* SAME_ORDER */
	uint16_t version;
	uint16_t header_size; /* where the first chunk begins */
};

struct chunk_header {
	uint32_t magic;
	uint16_t kind;
	uint16_t flags;
	uint32_t stored; /* number of bytes that follow */
	uint32_t size; /* size of the uncompressed content */
	uint64_t number; /* number of the chunk in the file, from 0 */
	uint32_t content_crc; /* checksum of the bytes that follow */
	uint32_t header_crc; /* checksum of the fields above */
};

_Static_assert(sizeof(struct file_header) == 16, "no holes");
_Static_assert(sizeof(struct chunk_header) == 32, "no holes");

static uint32_t checksum(const void *bytes, size_t size)
{
	return (uint32_t)crc32(0, bytes, (unsigned int)size);
}

/* --- writing ---------------------------------------------------------------------------------- */

struct chunks_writer {
	int fd;
	int error; /* the first error; nothing is written after it */
	uint64_t number, bytes;
	ZSTD_CCtx *zstd;
	size_t cap;
	uint8_t buffer[]; /* a chunk: its header and its content */
};

static int write_all(struct chunks_writer *w, const void *from, size_t size)
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

int chunks_create(int fd, struct chunks_writer **out)
{
	struct file_header header = { .order = SAME_ORDER,
				      .version = CHUNKS_VERSION,
				      .header_size = sizeof(header) };
	size_t cap = sizeof(struct chunk_header) + ZSTD_compressBound(CHUNKS_MAX);
	struct chunks_writer *w = calloc(1, sizeof(*w) + cap);
	int err;

	if (!w)
		return -ENOMEM;
	w->fd = fd;
	w->cap = cap;
	w->zstd = ZSTD_createCCtx();
	memcpy(header.magic, magic, sizeof(magic));
	err = w->zstd ? write_all(w, &header, sizeof(header)) : -ENOMEM;
	if (err) {
		chunks_writer_free(w);
		return err;
	}
	*out = w;
	return 0;
}

int chunks_write(struct chunks_writer *w, uint16_t kind, const void *content, size_t size)
{
	struct chunk_header header = { .magic = CHUNK_MAGIC, .kind = kind, .flags = CHUNK_ZSTD };
	uint8_t *to = w->buffer + sizeof(header);
	size_t stored;

	if (w->error)
		return w->error;
	if (!size || size > CHUNKS_MAX)
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
	header.header_crc = checksum(&header, offsetof(struct chunk_header, header_crc));
	memcpy(w->buffer, &header, sizeof(header));
	/* Write the chunk with one system call, unless the kernel writes only a part. */
	w->error = write_all(w, w->buffer, sizeof(header) + stored);
	if (!w->error)
		w->number++;
	return w->error;
}

uint64_t chunks_written(const struct chunks_writer *w)
{
	return w->bytes;
}

void chunks_writer_free(struct chunks_writer *w)
{
	if (!w)
		return;
	ZSTD_freeCCtx(w->zstd);
	free(w);
}

/* --- reading ---------------------------------------------------------------------------------- */

struct chunks_reader {
	int fd;
	uint64_t first, at; /* offsets in the file: of the first chunk, and of the next */
	uint64_t number;
	enum chunks_end end;
	ZSTD_DCtx *zstd;
	uint8_t *stored; /* CHUNKS_MAX bytes */
	uint8_t *content;
};

/* Read up to @size bytes. Return how many there were, or -errno. */
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
	if (h->version > CHUNKS_VERSION)
		return -EPROTONOSUPPORT;
	return h->header_size == sizeof(*h) ? 0 : -EBADMSG;
}

bool chunks_recognise(int fd)
{
	uint8_t start[sizeof(magic)];

	return read_some(fd, 0, start, sizeof(start)) == (ssize_t)sizeof(start) &&
	       !memcmp(start, magic, sizeof(magic));
}

int chunks_open(int fd, struct chunks_reader **out)
{
	struct file_header header = { 0 };
	struct chunks_reader *r;
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
	r->stored = malloc(CHUNKS_MAX);
	r->content = malloc(CHUNKS_MAX);
	if (!r->zstd || !r->stored || !r->content) {
		chunks_reader_free(r);
		return -ENOMEM;
	}
	*out = r;
	return 0;
}

/*
 * A fuzzer cannot compute checksums, so fuzzing builds accept any checksum. The code after a check
 * must not rely on correct checksums.
 */
static bool sums_right(const void *bytes, size_t size, uint32_t crc)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	(void)bytes, (void)size, (void)crc;
	return true;
#else
	return checksum(bytes, size) == crc;
#endif
}

static bool header_right(const struct chunks_reader *r, const struct chunk_header *h)
{
	return h->magic == CHUNK_MAGIC && h->number == r->number && h->size &&
	       h->size <= CHUNKS_MAX && h->stored && h->stored <= h->size &&
	       sums_right(h, offsetof(struct chunk_header, header_crc), h->header_crc);
}

/* Unpack the chunk into *out. Return 1, or 0 if it is damaged. */
static int unpack(struct chunks_reader *r, const struct chunk_header *h, struct chunk *out)
{
	size_t n;

	*out = (struct chunk){ .kind = h->kind, .content = r->stored, .size = h->size };
	if (!sums_right(r->stored, h->stored, h->content_crc))
		return 0;
	if (!(h->flags & CHUNK_ZSTD))
		return h->stored == h->size;
	n = ZSTD_decompressDCtx(r->zstd, r->content, CHUNKS_MAX, r->stored, h->stored);
	out->content = r->content;
	return !ZSTD_isError(n) && n == h->size;
}

static int ended(struct chunks_reader *r, enum chunks_end end)
{
	r->end = end;
	return 0;
}

int chunks_next(struct chunks_reader *r, uint64_t kinds, struct chunk *out)
{
	struct chunk_header h;
	uint8_t last;
	ssize_t n;

	while (r->end == CHUNKS_MORE) {
		bool wanted;

		n = read_some(r->fd, r->at, &h, sizeof(h));
		if (n < 0)
			return (int)n;
		if (!n)
			return ended(r, CHUNKS_INTACT);
		if ((size_t)n < sizeof(h))
			return ended(r, CHUNKS_CUT);
		if (!header_right(r, &h))
			return ended(r, CHUNKS_DAMAGED);
		wanted = h.kind < 64 && kinds >> h.kind & 1;
		/* For a skipped chunk, check only that its last byte exists. */
		n = wanted ? read_some(r->fd, r->at + sizeof(h), r->stored, h.stored)
			   : read_some(r->fd, r->at + sizeof(h) + h.stored - 1, &last, 1);
		if (n < 0)
			return (int)n;
		if ((uint64_t)n < (wanted ? h.stored : 1))
			return ended(r, CHUNKS_CUT);
		if (wanted && !unpack(r, &h, out))
			return ended(r, CHUNKS_DAMAGED);
		r->at += sizeof(h) + h.stored;
		r->number++;
		if (wanted)
			return 1;
	}
	return 0;
}

int chunks_rewind(struct chunks_reader *r)
{
	r->at = r->first;
	r->number = 0;
	r->end = CHUNKS_MORE;
	return 0;
}

enum chunks_end chunks_ended(const struct chunks_reader *r)
{
	return r->end;
}

void chunks_reader_free(struct chunks_reader *r)
{
	if (!r)
		return;
	ZSTD_freeDCtx(r->zstd);
	free(r->stored);
	free(r->content);
	free(r);
}
