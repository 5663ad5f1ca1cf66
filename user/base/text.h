/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Strings from outside made harmless. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A copy of @s (to be freed) in which everything that is not a printable character of well-formed
 * UTF-8 is written \xNN: control characters, DEL, C1 controls, stray bytes, overlong forms,
 * surrogates, and the bidirectional and zero-width format characters. NULL when out of memory.
 */
char *text_printable(const char *s);
/* Whether that would be the same as @s. */
bool text_is_printable(const char *s);

/* Length in bytes of the well-formed UTF-8 sequence at @s (at most @len bytes), 0 if there is none. */
size_t text_utf8(const uint8_t *s, size_t len, uint32_t *codepoint);

/* FNV-1a, 64 bits, over @len bytes, continuing from @seed (TEXT_HASH_INIT to begin). */
#define TEXT_HASH_INIT 0xcbf29ce484222325ULL
uint64_t text_hash(uint64_t seed, const void *bytes, size_t len);

#endif /* BASE_TEXT_H */
