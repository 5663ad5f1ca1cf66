// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/json.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

/*
 * Return whether the character is a control or a format character, which may reorder or hide its
 * neighbours.
 */
static bool jsonl_escaped(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0xad || cp == 0x61c ||
	       cp == 0xfeff || (cp >= 0x200b && cp <= 0x200f) || (cp >= 0x2028 && cp <= 0x202e) ||
	       (cp >= 0x2060 && cp <= 0x206f);
}

static void jsonl_codepoint(struct buf *buf, const char *bytes, size_t n, uint32_t cp,
			    uint32_t before)
{
	if (cp == '"' || cp == '\\') {
		buf_char(buf, '\\');
		buf_char(buf, (char)cp);
	} else if (cp == '\n') {
		buf_str(buf, "\\n");
	} else if (cp == '\t') {
		buf_str(buf, "\\t");
	} else if (jsonl_escaped(cp) || (before == '<' && (cp == '/' || cp == '!'))) {
		/* "</script" and "<!--" would end or change a script element around the line. */
		buf_printf(buf, "\\u%04" PRIx32, cp);
	} else {
		buf_add(buf, bytes, n);
	}
}

/* Return the number of leading bytes that need no escape. */
static size_t jsonl_plain(const char *s)
{
	size_t n = 0;

	while (s[n] >= 0x20 && s[n] < 0x7f && s[n] != '"' && s[n] != '\\' && s[n] != '<')
		n++;
	return n;
}

void jsonl_string(struct buf *buf, const char *s)
{
	size_t left = strlen(s), n;
	uint32_t cp, before = 0;

	buf_char(buf, '"');
	while (left) {
		n = before == '<' ? 0 : jsonl_plain(s);
		if (n) {
			buf_add(buf, s, n);
			before = 0;
			s += n;
			left -= n;
			continue;
		}
		n = text_utf8((const uint8_t *)s, left, &cp);
		if (n) {
			jsonl_codepoint(buf, s, n, cp, before);
		} else {
			buf_str(buf, "\xef\xbf\xbd");
			n = 1;
			cp = 0;
		}
		before = cp;
		s += n;
		left -= n;
	}
	buf_char(buf, '"');
}

static void jsonl_object(struct buf *buf, const struct emit_record *record, const void *rec,
			 const struct fields_context *context, const char *type);

static void jsonl_set(struct buf *buf, const struct emit_names *names, uint64_t bits)
{
	const char *comma = "";

	buf_char(buf, '[');
	for (; names->name; names++) {
		if (!(bits & names->value))
			continue;
		buf_str(buf, comma);
		jsonl_string(buf, names->name);
		comma = ",";
	}
	buf_char(buf, ']');
}

static void jsonl_list(struct buf *buf, const struct emit_field *field,
		       const struct fields_value *v, const struct fields_context *context)
{
	const char *at = v->base;
	uint32_t i;

	buf_char(buf, '[');
	for (i = 0; i < v->n; i++, at += field->sub->size) {
		if (i)
			buf_char(buf, ',');
		jsonl_object(buf, field->sub, at, context, NULL);
	}
	buf_char(buf, ']');
}

static void jsonl_value(struct buf *buf, const struct emit_field *field, const void *rec,
			const struct fields_context *context);

bool jsonl_scalar(struct buf *buf, const struct emit_field *field, const struct fields_value *v)
{
	if (v->kind == FIELDS_UINT)
		buf_uint(buf, v->u);
	else if (v->kind == FIELDS_INT)
		buf_int(buf, v->i);
	else if (v->kind == FIELDS_REAL)
		buf_real(buf, v->d, field->type == EMIT_RATIO ? 6 : 15);
	else if (v->kind == FIELDS_TRUTH)
		buf_str(buf, v->u ? "true" : "false");
	else
		return false;
	return true;
}

/*
 * Return whether a struct before @at already has this key, because an object must not have a key
 * twice.
 */
static bool jsonl_twice(const struct emit_field *map, const struct fields_value *v, const char *at,
			const char *key, const struct fields_context *context)
{
	const char *before, *other;

	for (before = v->base; before < at; before += map->sub->size) {
		other = fields_key(map, before, context);
		if (other && !strcmp(other, key))
			return true;
	}
	return false;
}

static void jsonl_map(struct buf *buf, const struct emit_field *map, const struct fields_value *v,
		      const struct fields_context *context)
{
	const char *at = v->base, *key, *comma = "";
	uint32_t i;

	buf_char(buf, '{');
	for (i = 0; i < v->n; i++, at += map->sub->size) {
		key = fields_key(map, at, context);
		if (!key || jsonl_twice(map, v, at, key, context) ||
		    (map->flags & FIELDS_HAS &&
		     fields_get(fields_map_value(map), at, context).kind == FIELDS_NULL))
			continue;
		buf_str(buf, comma);
		jsonl_string(buf, key);
		buf_char(buf, ':');
		jsonl_value(buf, fields_map_value(map), at, context);
		comma = ",";
	}
	buf_char(buf, '}');
}

static void jsonl_buckets(struct buf *buf, const uint32_t *hist)
{
	uint32_t n = 64, i;

	while (n && !hist[n - 1])
		n--;
	buf_char(buf, '[');
	for (i = 0; i < n; i++) {
		if (i)
			buf_char(buf, ',');
		buf_uint(buf, hist[i]);
	}
	buf_char(buf, ']');
}

static void jsonl_value(struct buf *buf, const struct emit_field *field, const void *rec,
			const struct fields_context *context)
{
	struct fields_value v = fields_get(field, rec, context);

	if (jsonl_scalar(buf, field, &v))
		return;
	switch (v.kind) {
	case FIELDS_TEXT:
		jsonl_string(buf, v.s);
		break;
	case FIELDS_BITS:
		jsonl_set(buf, field->names, v.u);
		break;
	case FIELDS_OBJECT:
		jsonl_object(buf, fields_sub(field), v.base, context, NULL);
		break;
	case FIELDS_LIST:
		if (field->type == EMIT_MAP)
			jsonl_map(buf, field, &v, context);
		else
			jsonl_list(buf, field, &v, context);
		break;
	case FIELDS_BUCKETS:
		jsonl_buckets(buf, v.base);
		break;
	default:
		buf_str(buf, "null");
	}
}

static void jsonl_object(struct buf *buf, const struct emit_record *record, const void *rec,
			 const struct fields_context *context, const char *type)
{
	const struct emit_field *f;
	const char *comma = "";

	buf_char(buf, '{');
	if (type) {
		buf_str(buf, "\"type\":");
		jsonl_string(buf, type);
		comma = ",";
	}
	for (f = record->fields; f->help; f++) {
		if (!f->name)
			continue;
		buf_str(buf, comma);
		buf_char(buf, '"');
		buf_str(buf, f->name);
		buf_str(buf, "\":");
		jsonl_value(buf, f, rec, context);
		comma = ",";
	}
	buf_char(buf, '}');
}

void jsonl_record(struct buf *buf, const struct emit_record *record, const void *rec,
		  const struct fields_context *context)
{
	jsonl_object(buf, record, rec, context, record->type);
	buf_char(buf, '\n');
}
