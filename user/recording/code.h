/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Values to bytes and back. One function describes a struct for both ways: code_u64(c, &s->x) writes s->x, or reads it. What
 * is read is hostile: after the first thing wrong every value is 0, and failed says so.
 */
#ifndef RECORDING_CODE_H
#define RECORDING_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that goes at once. All zero is an empty one. */
struct pool {
	struct pool_chunk *chunks;
	size_t size, max; /* bytes taken; that may be taken, 0: all there are */
	bool full; /* there was more to be taken than max */
};

/* Zeroed; NULL: out of memory, or of what may be taken. */
void *pool_alloc(struct pool *pool, size_t size);
void pool_free(struct pool *pool);

struct coder {
	bool writing;
	bool failed; /* reading: it makes no sense; writing: out of memory */
	uint8_t *bytes; /* writing: the coder's own; reading: only looked at */
	size_t at; /* in bytes[] */
	size_t size; /* reading: all there is; writing: what there is room for */
	struct pool *pool; /* reading: for texts and arrays */
};

void coder_write(struct coder *c);
/* @bytes and @pool must outlive what is read. */
void coder_read(struct coder *c, const uint8_t *bytes, size_t size, struct pool *pool);
/* Reading: nothing is left. False of a writer. */
bool coder_at_end(const struct coder *c);
/* What @from has written is written behind what @c has. */
void coder_append(struct coder *c, const struct coder *from);
/* Of a writer. */
void coder_free(struct coder *c);

/* Seven bits a byte, lowest first. What has too many bits for its type has failed. */
void code_u64(struct coder *c, uint64_t *v);
void code_u32(struct coder *c, uint32_t *v);
void code_u16(struct coder *c, uint16_t *v);
void code_u8(struct coder *c, uint8_t *v);
void code_bool(struct coder *c, bool *v);
/* As the difference from @base, small ones of either sign in few bytes. */
void code_delta(struct coder *c, uint64_t *v, uint64_t base);
/* As a value that is UINT64_MAX as often as it is small. */
void code_known(struct coder *c, uint64_t *v);
void code_double(struct coder *c, double *v);
/* NULL stays NULL. Read ones are terminated, and hold no other NUL. */
void code_text(struct coder *c, const char **s);
/* Of our own words: read ones hold nothing but printable characters. */
void code_word(struct coder *c, const char **s);
/* The same, which is never NULL: to be without has failed. */
void code_label(struct coder *c, const char **s);
/* What fills @size bytes at most, terminated. */
void code_name(struct coder *c, char *s, size_t size);
/* The same of our own words. */
void code_sentence(struct coder *c, char *s, size_t size);
/*
 * How many elements follow, each of at least one byte; and, reading, room for them, of @size bytes each and zeroed. NULL where
 * there are none.
 */
void *code_array(struct coder *c, uint32_t *n, const void *from, size_t size);

#endif /* RECORDING_CODE_H */
