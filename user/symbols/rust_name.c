// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "symbols/rust_name.h"

#include <stdint.h>
#include <string.h>

#define HASH_LEN   17 /* length of a hash: "h" and 16 digits */
#define DIFFERENT  5 /* a hash has at least this many different digits; other names rarely do */
#define ESCAPE_MAX 10 /* maximum number of bytes between two $ */

struct out {
	char *s;
	size_t size, n;
};

static void put(struct out *o, const char *s, size_t n)
{
	/*
	 * If @s does not fit, write no part of it, and nothing after it, so that no character is
	 * cut.
	 */
	if (o->n + n + 1 > o->size) {
		o->size = o->n + 1;
		return;
	}
	memcpy(o->s + o->n, s, n);
	o->n += n;
}

/* Write a code point as UTF-8. */
static void put_char(struct out *o, uint32_t c)
{
	static const uint8_t first[] = { 0, 0x00, 0xc0, 0xe0, 0xf0 }; /* by length */
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4, i;
	char s[4];

	for (i = n - 1; i; i--, c >>= 6)
		s[i] = (char)(0x80 | (c & 0x3f));
	s[0] = (char)(first[n] | c);
	put(o, s, n);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Return the value of a lower-case hexadecimal digit of a hash or an escape, or -1. */
static int hex(char c)
{
	return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decode an escape, the text between two $. Return 0 if it is unknown. */
static uint32_t unescape(const char *s, size_t n)
{
	static const struct {
		char name[3];
		char c;
	} known[] = {
		{ "SP", '@' }, { "BP", '*' }, { "RF", '&' }, { "LT", '<' },
		{ "GT", '>' }, { "LP", '(' }, { "RP", ')' }, { "C", ',' },
	};
	uint32_t c = 0;
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].name) == n && !memcmp(known[i].name, s, n))
			return (uint32_t)known[i].c;
	if (n < 2 || n > 7 || s[0] != 'u')
		return 0;
	for (i = 1; i < n; i++) {
		if (hex(s[i]) < 0)
			return 0;
		c = c << 4 | (uint32_t)hex(s[i]);
	}
	/* Reject control characters, surrogates and values above the maximum. */
	if (c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		return 0;
	return c;
}

static void put_part(struct out *o, const char *s, size_t n)
{
	const char *end;
	size_t i = 0, len;
	uint32_t c;

	/*
	 * If a part begins with an escape, the compiler puts an underscore before it. Skip the
	 * underscore.
	 */
	if (n > 1 && s[0] == '_' && s[1] == '$')
		i = 1;
	while (i < n) {
		if (s[i] == '.' && i + 1 < n && s[i + 1] == '.') {
			put(o, "::", 2);
			i += 2;
			continue;
		}
		end = s[i] == '$' ? memchr(s + i + 1, '$', n - i - 1) : NULL;
		len = end ? (size_t)(end - s) - i - 1 : 0;
		c = end && len <= ESCAPE_MAX ? unescape(s + i + 1, len) : 0;
		if (c) {
			put_char(o, c);
			i += len + 2;
		} else {
			put(o, s + i, 1);
			i++;
		}
	}
}

static bool is_hash(const char *s, size_t n)
{
	unsigned seen = 0;
	size_t i;

	if (n != HASH_LEN || s[0] != 'h')
		return false;
	for (i = 1; i < n; i++) {
		if (hex(s[i]) < 0)
			return false;
		seen |= 1u << hex(s[i]);
	}
	return __builtin_popcount(seen) >= DIFFERENT;
}

/*
 * Return the next part, which follows its decimal length at *@s. Set *@len. Return NULL if there is
 * no part.
 */
static const char *next_part(const char **s, size_t *len)
{
	const char *part;
	size_t n = 0;

	if (!is_digit(**s) || **s == '0')
		return NULL;
	while (is_digit(**s)) {
		n = n * 10 + (size_t)(**s - '0');
		if (n > 65536)
			return NULL;
		++*s;
	}
	if (strnlen(*s, n) < n)
		return NULL;
	part = *s;
	*s += n;
	*len = n;
	return part;
}

bool rust_name_legacy(const char *raw, char *name, size_t size)
{
	struct out o = { .s = name, .size = size };
	const char *s, *part, *first, *hash = NULL;
	size_t len, hash_len = 0, i, parts = 0;

	if (strncmp(raw, "_ZN", 3) != 0 || !size)
		return false;
	first = s = raw + 3;
	for (; (part = next_part(&s, &len)); parts++) {
		for (i = 0; i < len; i++)
			if ((unsigned char)part[i] <= ' ' || (unsigned char)part[i] >= 0x7f)
				return false;
		hash = part;
		hash_len = len;
	}
	/* A compiler pass may have appended a suffix: ".llvm.1234". */
	if (s[0] != 'E' || (s[1] && s[1] != '.') || parts < 2 || !is_hash(hash, hash_len))
		return false;
	for (s = first; parts > 1; parts--) {
		part = next_part(&s, &len);
		put_part(&o, part, len);
		if (parts > 2)
			put(&o, "::", 2);
	}
	name[o.n] = '\0';
	return true;
}
