// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "symbols/wire.h"

#include <stdlib.h>
#include <string.h>

/* Where @len more bytes go, or come from. NULL: there are none. */
static uint8_t *room_for(struct wire *w, size_t len)
{
	uint8_t *bytes;
	size_t cap;

	if (w->bad)
		return NULL;
	if (w->reads) {
		if (len > w->len - w->at)
			goto bad;
		w->at += len;
		return w->bytes + w->at - len;
	}
	if (len > w->cap - w->len) {
		cap = 2 * w->cap + len + 256;
		bytes = realloc(w->bytes, cap);
		if (!bytes)
			goto bad;
		w->bytes = bytes;
		w->cap = cap;
	}
	w->len += len;
	return w->bytes + w->len - len;
bad:
	w->bad = true;
	return NULL;
}

void wire_number(struct wire *w, uint64_t *value, uint64_t max)
{
	uint8_t *at = room_for(w, sizeof(*value));

	if (at && !w->reads) {
		memcpy(at, value, sizeof(*value));
		return;
	}
	if (at)
		memcpy(value, at, sizeof(*value));
	if (w->reads && (!at || *value > max)) {
		w->bad = true;
		*value = 0;
	}
}

void wire_text(struct wire *w, char *text, size_t size)
{
	uint64_t len = w->reads ? 0 : strnlen(text, size - 1);
	uint8_t *at;

	wire_number(w, &len, size - 1);
	at = room_for(w, (size_t)len);
	if (at && !w->reads)
		memcpy(at, text, (size_t)len);
	if (!w->reads)
		return;
	memset(text, 0, size);
	/* A text with a NUL in it is shorter. */
	if (at)
		memcpy(text, at, (size_t)len);
}

void wire_long_text(struct wire *w, char **text, size_t max)
{
	uint64_t len = w->reads ? 0 : strnlen(*text, max);
	uint8_t *at;

	wire_number(w, &len, max);
	at = room_for(w, (size_t)len);
	if (!w->reads) {
		if (at)
			memcpy(at, *text, (size_t)len);
		return;
	}
	*text = at ? strndup((const char *)at, (size_t)len) : NULL;
	w->bad |= !*text;
}

void wire_free(struct wire *w)
{
	free(w->bytes);
	*w = (struct wire){ 0 };
}
