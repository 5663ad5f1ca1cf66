/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Safe handling of untrusted strings. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Return a copy of @s, to be freed. Everything that is not a printable character of well-formed
 * UTF-8 is written as \xNN: control characters, DEL, C1 controls, stray bytes, overlong forms,
 * surrogates, and the bidirectional and zero-width format characters. Return NULL if out of memory.
 */
char *text_printable(const char *s);
/* Return whether text_printable(@s) would equal @s. */
bool text_is_printable(const char *s);

/*
 * Return the last component of a path, which follows the last slash. If there is no slash, or
 * nothing follows it, return @path. @path may be NULL.
 */
static inline const char *text_base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

/* Return whether two strings are equal, or both NULL. */
static inline bool text_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/*
 * Return the length in bytes of the well-formed UTF-8 sequence at @s (at most @len bytes), or 0 if
 * there is none.
 */
size_t text_utf8(const uint8_t *s, size_t len, uint32_t *codepoint);

/* Return the 64-bit FNV-1a hash of @len bytes, continued from @seed (TEXT_HASH_INIT to begin). */
#define TEXT_HASH_INIT 0xcbf29ce484222325ULL
uint64_t text_hash(uint64_t seed, const void *bytes, size_t len);

#endif /* BASE_TEXT_H */
