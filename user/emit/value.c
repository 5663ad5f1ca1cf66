// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Read the value of a field, and find out whether it is unknown. */
#include "emit/fields.h"

#include <math.h>
#include <string.h>

#define LOAD(type, p) (*(const type *)(p))

static struct fields_value value_u(uint64_t u, bool unknown)
{
	return (struct fields_value){ .kind = unknown ? FIELDS_NULL : FIELDS_UINT, .u = u };
}

static struct fields_value value_text(const char *s)
{
	return (struct fields_value){ .kind = s ? FIELDS_TEXT : FIELDS_NULL, .s = s };
}

static struct fields_value value_enum(const struct emit_names *names, uint32_t value)
{
	for (; names->name; names++)
		if (names->value == value)
			return value_text(names->name);
	return value_text(NULL);
}

static struct fields_value value_list(const struct emit_field *f, const char *base)
{
	struct fields_value v = { .kind = FIELDS_LIST };
	bool here = f->type == EMIT_EMBEDDED || f->flags & FIELDS_HERE;

	v.n = LOAD(uint32_t, base + f->count);
	v.base = here ? base + f->offset : LOAD(void *, base + f->offset);
	if (!v.base)
		v.n = 0;
	return v;
}

static struct fields_value value_real(const void *at)
{
	double d = LOAD(double, at);

	return (struct fields_value){ .kind = isfinite(d) ? FIELDS_REAL : FIELDS_NULL, .d = d };
}

static bool value_any(const struct emit_record *record, const void *rec,
		      const struct fields_context *context)
{
	const struct emit_field *f;

	for (f = record->fields; f->help; f++)
		if (fields_get(f, rec, context).kind != FIELDS_NULL)
			return true;
	return false;
}

static struct fields_value value_object(const struct emit_field *f, const char *base,
					const struct fields_context *context)
{
	const char *at = base + f->offset;
	bool known = !f->count || LOAD(uint32_t, base + f->count);

	if (f->flags & FIELDS_ANY)
		known = value_any(f->sub, at, context);
	return (struct fields_value){ .kind = known ? FIELDS_OBJECT : FIELDS_NULL, .base = at };
}

static struct fields_value value_compound(const struct emit_field *f, const char *base,
					  const struct fields_context *context)
{
	const void *at = base + f->offset;

	switch (f->type) {
	case EMIT_TIMES:
		if (!((const struct report_times *)at)->n)
			return (struct fields_value){ .kind = FIELDS_NULL };
		return (struct fields_value){ .kind = FIELDS_OBJECT, .base = at };
	case EMIT_OBJECT:
		return value_object(f, base, context);
	case EMIT_HIST:
		at = LOAD(uint32_t *, at);
		return (struct fields_value){ .kind = at ? FIELDS_BUCKETS : FIELDS_NULL,
					      .base = at };
	default:
		return value_list(f, base);
	}
}

static struct fields_value value_integer(const struct emit_field *f, const char *at,
					 const struct fields_context *context)
{
	bool zero = f->flags & FIELDS_ZERO;
	uint64_t u;

	switch (f->type) {
	case EMIT_U32:
		u = LOAD(uint32_t, at);
		return value_u(u, u == UINT32_MAX || (zero && !u));
	case EMIT_T_NS:
		u = LOAD(uint64_t, at);
		/* A time before clock_start_ns cannot be expressed. */
		return value_u(u - context->clock_start_ns,
			       u == UINT64_MAX || u < context->clock_start_ns);
	case EMIT_I64:
		return (struct fields_value){
			.kind = LOAD(int64_t, at) == INT64_MIN ? FIELDS_NULL : FIELDS_INT,
			.i = LOAD(int64_t, at),
		};
	default:
		u = LOAD(uint64_t, at);
		return value_u(u, u == UINT64_MAX || (zero && !u));
	}
}

struct fields_value fields_get(const struct emit_field *f, const void *rec,
			       const struct fields_context *context)
{
	const char *base = rec;
	const char *at;

	if (f->via)
		base = LOAD(void *, base + f->via - 1);
	if (!base)
		return (struct fields_value){ .kind = FIELDS_NULL };
	at = base + f->offset;
	switch (f->type) {
	case EMIT_STRING:
		return value_text(LOAD(char *, at));
	case EMIT_CHARS:
		return value_text(*at ? at : NULL);
	case EMIT_U32:
	case EMIT_U64:
	case EMIT_I64:
	case EMIT_NS:
	case EMIT_T_NS:
		return value_integer(f, at, context);
	case EMIT_DOUBLE:
	case EMIT_RATIO:
		return value_real(at);
	case EMIT_BOOL:
		return (struct fields_value){ .kind = FIELDS_TRUTH, .u = LOAD(bool, at) };
	case EMIT_MAYBE:
		return (struct fields_value){
			.kind = LOAD(uint8_t, at) > 1 ? FIELDS_NULL : FIELDS_TRUTH,
			.u = LOAD(uint8_t, at),
		};
	case EMIT_INTERIM:
		return (struct fields_value){ .kind = FIELDS_TRUTH, .u = context->interim };
	case EMIT_ENUM:
		return value_enum(f->names, LOAD(uint32_t, at));
	case EMIT_SET:
		return (struct fields_value){ .kind = FIELDS_BITS, .u = LOAD(uint32_t, at) };
	default:
		return value_compound(f, base, context);
	}
}

const char *fields_text(const struct emit_names *names, uint32_t value)
{
	for (; names->name; names++)
		if (names->value == value)
			return names->text ? names->text : names->name;
	return NULL;
}

const struct emit_field *fields_map_value(const struct emit_field *map)
{
	return &map->sub->fields[map->value ? map->value : 1];
}

const char *fields_key(const struct emit_field *map, const void *rec,
		       const struct fields_context *context)
{
	return fields_get(map->sub->fields, rec, context).s;
}

const struct emit_record *fields_sub(const struct emit_field *field)
{
	return field->type == EMIT_TIMES ? &fields_rec_times : field->sub;
}

const struct emit_field *fields_find(const struct emit_record *record, const char *name)
{
	const struct emit_field *f;

	for (f = record->fields; f->help; f++)
		if (f->name && !strcmp(f->name, name))
			return f;
	return NULL;
}
