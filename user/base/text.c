// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t text_utf8(const uint8_t *s, size_t len, uint32_t *codepoint)
{
	/*
	 * For sequences of 1 to 4 bytes: the fixed bits of the first byte, their mask, and the
	 * smallest code point that needs this length.
	 */
	static const struct {
		uint8_t mask, bits;
		uint32_t least;
	} forms[] = {
		{ 0x80, 0x00, 0 },
		{ 0xe0, 0xc0, 0x80 },
		{ 0xf0, 0xe0, 0x800 },
		{ 0xf8, 0xf0, 0x10000 },
	};
	size_t n = 1, i;
	uint32_t cp;

	if (!len)
		return 0;
	while (n <= 4 && (s[0] & forms[n - 1].mask) != forms[n - 1].bits)
		n++;
	if (n > 4 || n > len)
		return 0;
	cp = s[0] & (uint8_t)~forms[n - 1].mask;
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		cp = cp << 6 | (s[i] & 0x3f);
	}
	if (cp < forms[n - 1].least || cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
		return 0;
	*codepoint = cp;
	return n;
}

/*
 * Return whether all that a terminal does with the character is to show it at the cursor's
 * position.
 */
static bool codepoint_printable(uint32_t cp)
{
	if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0))
		return false;
	if (cp == 0xad || cp == 0x61c || cp == 0xfeff || cp == 0x2028 || cp == 0x2029)
		return false;
	if ((cp >= 0x200b && cp <= 0x200f) || (cp >= 0x202a && cp <= 0x202e) ||
	    (cp >= 0x2060 && cp <= 0x206f))
		return false;
	if (cp >= 0xe0000 && cp <= 0xe0fff)
		return false;
	return (cp & 0xfffe) != 0xfffe;
}

bool text_is_printable(const char *s)
{
	uint32_t cp;
	size_t n;

	for (;;) {
		while (*s >= ' ' && *s <= '~')
			s++;
		if (!*s)
			return true;
		n = text_utf8((const uint8_t *)s, strnlen(s, 4), &cp);
		if (!n || !codepoint_printable(cp))
			return false;
		s += n;
	}
}

char *text_printable(const char *s)
{
	const uint8_t *in = (const uint8_t *)s;
	size_t left = strlen(s), n, i;
	uint32_t cp;
	char *out = malloc(left * 4 + 1), *o = out;

	if (!out)
		return NULL;
	while (left) {
		if (*in >= ' ' && *in <= '~') {
			*o++ = (char)*in++;
			left--;
			continue;
		}
		n = text_utf8(in, left, &cp);
		if (n && codepoint_printable(cp)) {
			memcpy(o, in, n);
			o += n;
		} else {
			n = n ? n : 1;
			for (i = 0; i < n; i++)
				o += sprintf(o, "\\x%02x", in[i]);
		}
		in += n;
		left -= n;
	}
	*o = '\0';
	return out;
}

uint64_t text_hash(uint64_t seed, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	while (len--) {
		seed ^= *p++;
		seed *= 0x100000001b3ULL;
	}
	return seed;
}
