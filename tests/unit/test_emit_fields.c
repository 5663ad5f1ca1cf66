// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The list of fields: sound in itself, and the same in schema and output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <errno.h>
#include <cmocka.h>
#include <jansson.h>

#include "emit/fields.h"
#include "test_emit_data.h"

static json_t *schema;

static int load_schema(void **state)
{
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);
	json_error_t error;

	(void)state;
	assert_int_equal(emit_json_schema(f), 0);
	fclose(f);
	schema = json_loads(out, JSON_REJECT_DUPLICATES, &error);
	if (!schema)
		fail_msg("line %d: %s", error.line, error.text);
	free(out);
	return 0;
}

static int drop_schema(void **state)
{
	(void)state;
	json_decref(schema);
	return 0;
}

static json_t *schema_of(const char *type)
{
	json_t *one, *name;
	size_t i;

	for (i = 0; (one = json_array_get(json_object_get(schema, "oneOf"), i)); i++) {
		name = json_object_get(json_object_get(json_object_get(one, "properties"), "type"),
				       "const");
		if (!strcmp(json_string_value(name), type))
			return one;
	}
	return NULL;
}

/* What a property's schema allows, by hand: enough for what the generator makes. */
static bool type_allowed(json_t *s, json_t *value)
{
	static const char *const names[] = {
		[JSON_OBJECT] = "object",   [JSON_ARRAY] = "array", [JSON_STRING] = "string",
		[JSON_INTEGER] = "integer", [JSON_REAL] = "number", [JSON_TRUE] = "boolean",
		[JSON_FALSE] = "boolean",   [JSON_NULL] = "null",
	};
	json_t *type = json_object_get(s, "type"), *one;
	const char *name = names[json_typeof(value)];
	size_t i;

	if (json_is_string(type))
		return !strcmp(json_string_value(type), name);
	for (i = 0; (one = json_array_get(type, i)); i++)
		if (!strcmp(json_string_value(one), name) ||
		    (json_is_integer(value) && !strcmp(json_string_value(one), "number")))
			return true;
	type = json_object_get(s, "enum");
	for (i = 0; (one = json_array_get(type, i)); i++)
		if (json_equal(one, value))
			return true;
	return false;
}

static void check_value(json_t *s, json_t *value, const char *where);

/* The keys of the output are those of the schema, and every one is there. */
static void check_object(json_t *s, json_t *object, const char *where)
{
	json_t *properties = json_object_get(s, "properties");
	const char *key;
	void *it;

	for (it = json_object_iter(object); it; it = json_object_iter_next(object, it)) {
		key = json_object_iter_key(it);
		if (!json_object_get(properties, key))
			fail_msg("%s: %s is not in the schema", where, key);
		if (strcmp(key, "type") != 0)
			check_value(json_object_get(properties, key), json_object_iter_value(it),
				    key);
	}
	for (it = json_object_iter(properties); it; it = json_object_iter_next(properties, it))
		if (!json_object_get(object, json_object_iter_key(it)))
			fail_msg("%s: %s is in the schema only", where, json_object_iter_key(it));
	assert_int_equal(json_array_size(json_object_get(s, "required")),
			 json_object_size(properties));
}

static void check_value(json_t *s, json_t *value, const char *where)
{
	json_t *one;
	size_t i;

	if (json_object_get(s, "oneOf")) {
		if (json_is_null(value))
			return;
		s = json_object_get(json_object_get(schema, "$defs"), "times");
	}
	if (!type_allowed(s, value))
		fail_msg("%s has another type", where);
	if (json_is_object(value) && json_object_get(s, "properties"))
		check_object(s, value, where);
	for (i = 0; (one = json_array_get(value, i)); i++)
		check_value(json_object_get(s, "items"), one, where);
}

static void check_output(const char *out, json_t *seen)
{
	const char *line, *end, *type;
	json_t *one, *s;

	for (line = out; *line; line = end + 1) {
		end = strchr(line, '\n');
		one = json_loadb(line, (size_t)(end - line), 0, NULL);
		type = json_string_value(json_object_get(one, "type"));
		s = schema_of(type);
		if (!s)
			fail_msg("type %s is not in the schema", type);
		check_object(s, one, type);
		json_object_set_new(seen, type, json_true());
		json_decref(one);
	}
}

static void test_schema(void **state)
{
	struct emit_options options = { .format = EMIT_JSON };
	json_t *seen = json_object();
	const struct emit_record *const *rec;
	char path[4097];
	struct report r;
	char *out;
	size_t len;

	(void)state;
	data_report(&r);
	out = data_all(&options, &r, &len);
	check_output(out, seen);
	free(out);
	r.interim = true;
	data_hostile(&r, path);
	out = data_all(&options, &r, &len);
	check_output(out, seen);
	free(out);
	data_free(&r);
	for (rec = fields_records; *rec; rec++)
		if (!json_object_get(seen, (*rec)->type))
			fail_msg("%s never came", (*rec)->type);
	json_decref(seen);
}

static void check_record(const struct emit_record *record)
{
	const struct emit_field *f, *g;
	unsigned headings = 0;

	for (f = record->fields; f->help; f++) {
		headings += f->heading != NULL;
		assert_true(f->name || f->heading);
		assert_true(strlen(f->help) > 0);
		if (f->type == EMIT_ENUM || f->type == EMIT_SET)
			assert_non_null(f->names);
		if (f->type == EMIT_ARRAY || f->type == EMIT_EMBEDDED || f->type == EMIT_OBJECT)
			assert_non_null(f->sub);
		if (!f->via && f->type != EMIT_INTERIM)
			assert_true(f->offset < record->size);
		for (g = f + 1; f->name && g->help; g++)
			if (g->name && !strcmp(f->name, g->name))
				fail_msg("%s.%s twice", record->type, f->name);
		/* A name that says it is a time is one, and the reverse. */
		if (f->name &&
		    (f->type == EMIT_NS || f->type == EMIT_T_NS || f->type == EMIT_TIMES) &&
		    record != &fields_rec_times)
			assert_string_equal(f->name + strlen(f->name) - 3, "_ns");
		if (fields_sub(f))
			check_record(fields_sub(f));
	}
	assert_true(headings <= 16);
}

static void test_list(void **state)
{
	const struct emit_record *const *rec;

	(void)state;
	for (rec = fields_records; *rec; rec++)
		check_record(*rec);
}

/* The names that users were promised. */
static void test_promised(void **state)
{
	static const struct {
		const struct emit_record *record;
		const char *names;
	} promised[] = {
		{ &fields_rec_session,
		  "schema version kernel mode command clock_start_ns probes counters" },
		{ &fields_rec_episode, "barrier kind team pid seq phase t_ns phase_ns barrier_ns "
				       "participants state nested threads" },
		{ &fields_rec_member,
		  "tid index comm site order arrive_ns inter_ns wait_ns depart_ns cpu work_ns" },
		{ &fields_rec_warning, "barrier pid phase t_ns barrier_ns phase_ns threshold_ns" },
		{ &fields_rec_barrier,
		  "id pid comm family kind name function file line module object episodes "
		  "incomplete participants phase_ns barrier_ns release_ns threads" },
		{ &fields_rec_thread, "tid comm wait_ns idle_ns work_ns last" },
		{ &fields_rec_times, "sum min mean max stddev" },
		{ &fields_rec_process, "pid comm elapsed_ns efficiency cost_ns" },
		{ &fields_rec_end, "episodes crossings elapsed_ns lost complete" },
	};
	char names[512], *name, *save;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(promised) / sizeof(promised[0]); i++) {
		snprintf(names, sizeof(names), "%s", promised[i].names);
		for (name = strtok_r(names, " ", &save); name; name = strtok_r(NULL, " ", &save))
			if (!fields_find(promised[i].record, name))
				fail_msg("%s.%s is missing", promised[i].record->type, name);
	}
}

static void test_schema_unwritable(void **state)
{
	FILE *f = fopen("/dev/full", "w");

	(void)state;
	assert_int_equal(emit_json_schema(f), -ENOSPC);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_promised),
		cmocka_unit_test(test_schema),
		cmocka_unit_test(test_schema_unwritable),
	};

	return cmocka_run_group_tests(tests, load_schema, drop_schema);
}
