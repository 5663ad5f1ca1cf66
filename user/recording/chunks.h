/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * A file of chunks. Each chunk is complete, compressed and checksummed, so a truncated file can be
 * read up to its last intact chunk. man/sbt-trace-recording.5 describes the format. The contents of
 * chunks are described in contents.h.
 */
#ifndef RECORDING_CHUNKS_H
#define RECORDING_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHUNKS_VERSION 1 /* files of a higher version are refused */
#define CHUNKS_MAX     (1u << 20) /* maximum number of bytes of content in one chunk */

struct chunks_writer;

/* Begin a file at @fd, which stays the caller's. Return 0 and *out, or -errno. */
int chunks_create(int fd, struct chunks_writer **out);
/*
 * Write one chunk of @size bytes, 1 to CHUNKS_MAX. Return 0 or -errno. After an error, the file
 * ends before this chunk.
 */
int chunks_write(struct chunks_writer *writer, uint16_t kind, const void *content, size_t size);
/* Return the number of bytes written so far. */
uint64_t chunks_written(const struct chunks_writer *writer);
void chunks_writer_free(struct chunks_writer *writer);

struct chunks_reader;

struct chunk {
	uint16_t kind;
	const uint8_t *content; /* valid until the next call */
	size_t size;
};

/* How reading ended. */
enum chunks_end {
	CHUNKS_MORE, /* reading has not ended: there are more chunks */
	CHUNKS_INTACT, /* the file ends after a chunk */
	CHUNKS_CUT, /* the file ends inside a chunk */
	CHUNKS_DAMAGED, /* a checksum or a field is wrong */
};

/*
 * Open the file at @fd, which must be seekable and stays the caller's. Return 0 and *out; -EBADMSG
 * if it is not a recording; -EPROTONOSUPPORT if a later version wrote it; -ENODATA if it is empty;
 * -EILSEQ if its byte order differs; or another -errno.
 */
int chunks_open(int fd, struct chunks_reader **out);
/* Return whether the file at @fd begins like a recording of any version. */
bool chunks_recognise(int fd);
/*
 * Return the next chunk if the bit of its kind is set in @kinds; skip other chunks. Return 1, 0 at
 * the end (see chunks_ended()), or -errno.
 */
int chunks_next(struct chunks_reader *reader, uint64_t kinds, struct chunk *out);
/* Go back to the first chunk. Return 0. */
int chunks_rewind(struct chunks_reader *reader);
enum chunks_end chunks_ended(const struct chunks_reader *reader);
void chunks_reader_free(struct chunks_reader *reader);

#endif /* RECORDING_CHUNKS_H */
