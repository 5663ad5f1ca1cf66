/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * A file of blocks: each whole by itself, compressed and checksummed, so that a file that was cut short reads up to its last
 * whole one. man/sbt-trace-recording.5 describes it. What is in the blocks is others' affair.
 */
#ifndef RECORDING_CHUNKS_H
#define RECORDING_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHUNKS_VERSION 1 /* files of a higher one are refused */
#define CHUNKS_MAX     (1u << 20) /* bytes of one block's content */

struct chunks_writer;

/*
 * Begins a file at @fd, which stays the caller's. Returns 0 and *out, or -ENOMEM or -errno.
 */
int chunks_create(int fd, struct chunks_writer **out);
/* Writes one block of @size bytes, 1 to CHUNKS_MAX. Returns 0 or -errno: then the file ends before it. */
int chunks_write(struct chunks_writer *writer, uint16_t kind, const void *content, size_t size);
/* Bytes of the file so far. */
uint64_t chunks_written(const struct chunks_writer *writer);
void chunks_writer_free(struct chunks_writer *writer);

struct chunks_reader;

struct chunk {
	uint16_t kind;
	const uint8_t *content; /* valid until the next call */
	size_t size;
};

/* Why a file is not read, in words; and how a reading ended. */
enum chunks_end {
	CHUNKS_MORE, /* not yet */
	CHUNKS_WHOLE, /* the file ends behind a block */
	CHUNKS_CUT, /* in the midst of one */
	CHUNKS_DAMAGED, /* a checksum is wrong, or what must be is not */
};

/*
 * Reads the file at @fd, which must be seekable and stays the caller's. Returns 0 and *out; -EBADMSG: it is none of ours;
 * -EPROTONOSUPPORT: a newer version's; -ENODATA: it is empty; -EILSEQ: of a machine of another byte order; -ENOMEM or -errno.
 */
int chunks_open(int fd, struct chunks_reader **out);
/*
 * The next block whose kind has its bit in @kinds, the others passed over. Returns 1, 0 at the end (chunks_ended()), -ENOMEM or
 * -errno.
 */
int chunks_next(struct chunks_reader *reader, uint64_t kinds, struct chunk *out);
/* Before the first block again. Returns 0 or -errno. */
int chunks_rewind(struct chunks_reader *reader);
enum chunks_end chunks_ended(const struct chunks_reader *reader);
void chunks_reader_free(struct chunks_reader *reader);

#endif /* RECORDING_CHUNKS_H */
