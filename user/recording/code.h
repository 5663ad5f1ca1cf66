/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Encode values to bytes and back. One function describes a struct for both directions: code_u64(c,
 * &s->x) writes s->x or reads it. Input is not trusted: after the first error `failed` is set, and
 * all values are read as 0.
 */
#ifndef RECORDING_CODE_H
#define RECORDING_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that is freed all at once. All zero: empty. */
struct pool {
	struct pool_chunk *chunks;
	size_t size, max; /* bytes allocated, and the limit (0: none) */
	bool full; /* an allocation was refused because of the limit */
};

/* Return zeroed memory, or NULL if out of memory or beyond the limit. */
void *pool_alloc(struct pool *pool, size_t size);
void pool_free(struct pool *pool);

struct coder {
	bool writing;
	bool failed; /* reading: the input is invalid; writing: out of memory */
	uint8_t *bytes; /* writing: owned by the coder; reading: the input */
	size_t at; /* position in bytes[] */
	size_t size; /* reading: size of the input; writing: size of the allocated memory */
	struct pool *pool; /* reading: holds texts and arrays */
};

void coder_write(struct coder *c);
/* Begin to read. @bytes and @pool must outlive the values that are read. */
void coder_read(struct coder *c, const uint8_t *bytes, size_t size, struct pool *pool);
/* Return whether all input was read. Return false when writing. */
bool coder_at_end(const struct coder *c);
/* Append what @from has written to @c. */
void coder_append(struct coder *c, const struct coder *from);
/* Free a writer's memory. */
void coder_free(struct coder *c);

/*
 * Integers take seven bits per byte, lowest first. A value that does not fit its type is an error.
 */
void code_u64(struct coder *c, uint64_t *v);
void code_u32(struct coder *c, uint32_t *v);
void code_u16(struct coder *c, uint16_t *v);
void code_u8(struct coder *c, uint8_t *v);
void code_bool(struct coder *c, bool *v);
/* Code the difference from @base: a small difference of either sign takes few bytes. */
void code_delta(struct coder *c, uint64_t *v, uint64_t base);
/* Code a value that is often UINT64_MAX, which takes one byte. */
void code_known(struct coder *c, uint64_t *v);
void code_double(struct coder *c, double *v);
/* Code a string, or NULL. A string that was read is terminated, and contains no other NUL. */
void code_text(struct coder *c, const char **s);
/*
 * Do the same for sbt-trace's own text, which is printed as it is: when reading, make it printable.
 */
void code_word(struct coder *c, const char **s);
/* Do the same as code_word() for a string that must not be NULL. */
void code_label(struct coder *c, const char **s);
/* Code the string in @s, which has room for @size bytes with its terminator. */
void code_name(struct coder *c, char *s, size_t size);
/* Do the same as code_name() for sbt-trace's own text: when reading, make it printable. */
void code_sentence(struct coder *c, char *s, size_t size);
/*
 * Code the number of elements, each of which takes at least one byte. When reading, return zeroed
 * memory for them, @size bytes each, or NULL if there are none. When writing, return @from.
 */
void *code_array(struct coder *c, uint32_t *n, const void *from, size_t size);

#endif /* RECORDING_CODE_H */
