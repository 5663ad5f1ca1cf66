// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "symbols/wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/*
 * Return a pointer at which to write or read the next @len bytes. Return NULL and set w->bad if out
 * of memory, or if fewer bytes are left to read.
 */
static uint8_t *room_for(struct wire *w, size_t len)
{
	if (w->bad)
		return NULL;
	w->bad = w->reads ? len > w->len - w->at : grow(w->bytes, w->cap, w->len + len) != 0;
	if (w->bad)
		return NULL;
	if (w->reads) {
		w->at += len;
		return w->bytes + w->at - len;
	}
	w->len += len;
	return w->bytes + w->len - len;
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
	/* If the text contains a NUL, it ends there. */
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
