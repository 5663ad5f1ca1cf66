// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Print the list of fields as a JSON Schema (draft 2020-12), which describes what json.c writes. */
#include <errno.h>
#include <stdio.h>

#include "emit/emit.h"
#include "emit/json.h"

static void schema_object(struct buf *buf, const struct emit_record *record, const char *type,
			  int depth, bool null);

static void schema_indent(struct buf *buf, int depth)
{
	buf_printf(buf, "\n%*s", depth * 2, "");
}

static void schema_help(struct buf *buf, const char *brace, const char *help)
{
	buf_printf(buf, "%s\"description\": ", brace);
	jsonl_string(buf, help);
	buf_str(buf, ", ");
}

static const char *schema_scalar(const struct emit_field *f)
{
	switch (f->type) {
	case EMIT_STRING:
	case EMIT_CHARS:
		return "\"type\": [\"string\", \"null\"]";
	case EMIT_U32:
	case EMIT_U64:
	case EMIT_NS:
	case EMIT_T_NS:
		return "\"type\": [\"integer\", \"null\"], \"minimum\": 0";
	case EMIT_I64:
		return "\"type\": [\"integer\", \"null\"]";
	case EMIT_DOUBLE:
	case EMIT_RATIO:
		return "\"type\": [\"number\", \"null\"]";
	case EMIT_BOOL:
	case EMIT_INTERIM:
		return "\"type\": \"boolean\"";
	case EMIT_MAYBE:
		return "\"type\": [\"boolean\", \"null\"]";
	case EMIT_HIST:
		return "\"type\": [\"array\", \"null\"], \"items\": {\"type\": \"integer\"}";
	default:
		return NULL;
	}
}

static void schema_names(struct buf *buf, const struct emit_names *names, bool null)
{
	const char *comma = "";

	buf_str(buf, "\"enum\": [");
	for (; names->name; names++) {
		buf_str(buf, comma);
		jsonl_string(buf, names->name);
		comma = ", ";
	}
	buf_str(buf, null ? ", null]" : "]");
}

static void schema_field(struct buf *buf, const struct emit_field *f, int depth)
{
	const char *scalar = schema_scalar(f);

	schema_help(buf, "{", f->help);
	if (scalar) {
		buf_str(buf, scalar);
	} else if (f->type == EMIT_ENUM) {
		schema_names(buf, f->names, true);
	} else if (f->type == EMIT_SET) {
		buf_str(buf, "\"type\": \"array\", \"items\": {");
		schema_names(buf, f->names, false);
		buf_char(buf, '}');
	} else if (f->type == EMIT_TIMES) {
		buf_str(buf, "\"oneOf\": [{\"$ref\": \"#/$defs/times\"}, {\"type\": \"null\"}]");
	} else if (f->type == EMIT_MAP) {
		buf_printf(buf, "\"type\": \"object\", \"additionalProperties\": {%s}",
			   schema_scalar(fields_map_value(f)));
	} else if (f->type == EMIT_OBJECT) {
		schema_object(buf, f->sub, NULL, depth, f->count || f->flags & FIELDS_ANY);
	} else {
		buf_str(buf, "\"type\": \"array\", \"items\": {");
		schema_object(buf, f->sub, NULL, depth, false);
		buf_char(buf, '}');
	}
	buf_char(buf, '}');
}

/* Add the members of an object's schema, without its braces. */
static void schema_object(struct buf *buf, const struct emit_record *record, const char *type,
			  int depth, bool null)
{
	const struct emit_field *f;
	const char *comma = "";

	buf_printf(buf, "\"type\": %s, \"properties\": {",
		   null ? "[\"object\", \"null\"]" : "\"object\"");
	if (type) {
		schema_indent(buf, depth + 1);
		buf_printf(buf, "\"type\": {\"const\": \"%s\"}", type);
		comma = ",";
	}
	for (f = record->fields; f->help; f++) {
		if (!f->name)
			continue;
		buf_str(buf, comma);
		schema_indent(buf, depth + 1);
		buf_printf(buf, "\"%s\": ", f->name);
		schema_field(buf, f, depth + 1);
		comma = ",";
	}
	schema_indent(buf, depth);
	buf_printf(buf, "}, \"required\": [%s", type ? "\"type\"" : "");
	comma = type ? ", " : "";
	for (f = record->fields; f->help; f++) {
		if (!f->name)
			continue;
		buf_printf(buf, "%s\"%s\"", comma, f->name);
		comma = ", ";
	}
	buf_char(buf, ']');
}

static void schema_print(struct buf *buf)
{
	const struct emit_record *const *r;

	buf_printf(buf,
		   "{\n\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
		   "\"title\": \"A line of sbt-trace --json, schema version %d\",\n"
		   "\"description\": \"Unknown is null. Names may be added within a version; none "
		   "is renamed or removed.\",\n\"$defs\": {\n\"times\": {",
		   FIELDS_SCHEMA_VERSION);
	schema_help(buf, "", fields_rec_times.help);
	schema_object(buf, &fields_rec_times, NULL, 0, false);
	buf_str(buf, "}\n},\n\"oneOf\": [\n");
	for (r = fields_records; *r; r++) {
		schema_help(buf, "{", (*r)->help);
		schema_object(buf, *r, (*r)->type, 0, false);
		buf_str(buf, r[1] ? "},\n" : "}\n");
	}
	buf_str(buf, "]\n}\n");
}

int emit_json_schema(FILE *out)
{
	struct buf buf = { 0 };
	int err;

	schema_print(&buf);
	err = buf_write(&buf, out);
	if (!err)
		err = buf_flush(out);
	buf_free(&buf);
	return err;
}
