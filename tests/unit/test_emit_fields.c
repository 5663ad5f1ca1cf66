// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check that the list of fields is consistent, and that schema and output have the same fields. */
#include <stdio.h>
#include <stdlib.h>
#include <errno.h>
#include <jansson.h>

#include "test_check.h"
#include "emit/fields.h"
#include "emit/table.h"
#include "test_emit_data.h"

DEFINE_CLEANUP_PTR(json_decref, json_t *)

static json_t *schema;

static int load_schema(void **state)
{
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);
	json_error_t error;

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
	json_decref(schema);
	return 0;
}

static json_t *schema_of(const char *type)
{
	json_t *one, *name;

	for (size_t i = 0; (one = json_array_get(json_object_get(schema, "oneOf"), i)); i++) {
		name = json_object_get(json_object_get(json_object_get(one, "properties"), "type"),
				       "const");
		if (!strcmp(json_string_value(name), type))
			return one;
	}
	return NULL;
}

/* Return whether the schema of a property allows @value, for the subset that the generator uses. */
static bool type_allowed(json_t *s, json_t *value)
{
	static const char *const names[] = {
		[JSON_OBJECT] = "object",   [JSON_ARRAY] = "array", [JSON_STRING] = "string",
		[JSON_INTEGER] = "integer", [JSON_REAL] = "number", [JSON_TRUE] = "boolean",
		[JSON_FALSE] = "boolean",   [JSON_NULL] = "null",
	};
	json_t *type = json_object_get(s, "type"), *one;
	const char *name = names[json_typeof(value)];

	if (json_is_string(type))
		return !strcmp(json_string_value(type), name);
	for (size_t i = 0; (one = json_array_get(type, i)); i++)
		if (!strcmp(json_string_value(one), name) ||
		    (json_is_integer(value) && !strcmp(json_string_value(one), "number")))
			return true;
	type = json_object_get(s, "enum");
	for (size_t i = 0; (one = json_array_get(type, i)); i++)
		if (json_equal(one, value))
			return true;
	return false;
}

static void check_value(json_t *s, json_t *value, const char *where);

/* Check that the output has exactly the keys of the schema. */
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

static void check_map(json_t *s, json_t *map, const char *where)
{
	void *it;

	assert_non_null(s);
	for (it = json_object_iter(map); it; it = json_object_iter_next(map, it))
		check_value(s, json_object_iter_value(it), where);
}

static void check_value(json_t *s, json_t *value, const char *where)
{
	json_t *one;

	if (json_object_get(s, "oneOf")) {
		if (json_is_null(value))
			return;
		s = json_object_get(json_object_get(schema, "$defs"), "times");
	}
	if (!type_allowed(s, value))
		fail_msg("%s has another type", where);
	if (json_is_object(value) && json_object_get(s, "properties"))
		check_object(s, value, where);
	else if (json_is_object(value))
		check_map(json_object_get(s, "additionalProperties"), value, where);
	for (size_t i = 0; (one = json_array_get(value, i)); i++)
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

static char *doctor_lines(void)
{
	struct emit_options options = { .format = EMIT_JSON };
	struct doctor *d = calloc(1, sizeof(*d));
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);
	struct emit *emit = emit_new(f, &options);

	d->verdict = (struct doctor_feature){ .group = "verdict", .name = "trace" };
	d->n = 2;
	d->features[0] = (struct doctor_feature){ .group = "g",
						  .name = "one",
						  .state = DOCTOR_INSTEAD,
						  .found = "a \033[31mfind",
						  .instead = "b",
						  .remedy = "c" };
	d->features[1] =
		(struct doctor_feature){ .group = "g", .name = "two", .state = DOCTOR_UNKNOWN };
	emit_doctor(emit, d);
	assert_int_equal(emit_free(emit), 0);
	fclose(f);
	free(d);
	return out;
}

/* Write the records of hang alone: for one thread everything is known, for another nothing. */
static char *write_threads(const struct emit_options *options)
{
	struct hang_frame frames[] = { { .function = "inner",
					 .file = "a.c",
					 .module = "/bin/a",
					 .line = 7,
					 .inlined = "outer",
					 .address = 4096 },
				       { .address = 8192 } };
	struct emit_thread threads[] = {
		{ .pid = 1,
		  .tid = 2,
		  .comm = "\xff\n",
		  .state = HANG_BLOCKED,
		  .blocked_on = "read() of a pipe",
		  .syscall = "read",
		  .wchan = "pipe_read",
		  .registers = "iterator",
		  .oncpu_ns = 5,
		  .runq_ns = 6,
		  .truncated = true,
		  .nframes = 2,
		  .frames = frames },
		{ .pid = 1, .tid = 3, .oncpu_ns = MODEL_UNKNOWN, .runq_ns = MODEL_UNKNOWN }
	};
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);
	struct emit *emit = emit_new(f, options);

	emit_threads(emit, 1, "a", threads, 2);
	assert_int_equal(emit_free(emit), 0);
	fclose(f);
	return out;
}

/*
 * Write the records of diff alone: for two recordings with all values known, and with all values
 * unknown.
 */
static char *compare_lines(const struct report *r)
{
	static const struct compare_options o = { .confidence = 0.95, .fail_above = 0.1 };
	static const struct compare_input in[] = { { "a", true, false, false },
						   { NULL, false, false, false } };
	struct emit_options options = { .format = EMIT_JSON };
	struct report none = { .interim = false };
	const struct report *a = r, *b = &none;
	struct compare same, other;
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);
	struct emit *emit = emit_new(f, &options);

	assert_int_equal(compare_reports(&a, 1, &a, 1, &o, &same), 0);
	assert_int_equal(compare_reports(&a, 1, &b, 1, &o, &other), 0);
	emit_compare(emit, &same, in);
	emit_compare(emit, &other, in);
	assert_int_equal(emit_free(emit), 0);
	fclose(f);
	compare_free(&same);
	compare_free(&other);
	return out;
}

/* Write the records of predict alone: for one phase everything is known, for another nothing. */
static char *prediction_lines(void)
{
	struct prediction_phase phases[] = { { .id = "#1", .label = "\xff\n", .share = NAN },
					     { .time_ns = MODEL_UNKNOWN, .share = 0.5 } };
	struct prediction all[] = { { .machine = "m",
				      .processors = 2,
				      .speedup = NAN,
				      .efficiency = NAN,
				      .access_free_ns = MODEL_UNKNOWN,
				      .phases = phases,
				      .nphases = 2 },
				    { .limit = "#1", .because = "work", .speedup = 3.5 } };
	struct prediction_note note = { "warning", "Beware." };
	struct predictions p = { .n = 2, .all = all, .nnotes = 1, .notes = &note };
	struct emit_options options = { .format = EMIT_JSON };
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);
	struct emit *emit = emit_new(f, &options);

	emit_predictions(emit, &p);
	assert_int_equal(emit_free(emit), 0);
	fclose(f);
	return out;
}

/* Write the records of series alone. */
static char *series_lines(const struct report *r)
{
	struct report none = { .interim = false };
	struct series_input in[] = { { r, "a/b", "f", NULL }, { &none, NULL, NULL, NULL } };
	struct emit_options options = { .format = EMIT_JSON };
	struct series_options o = { .base = SERIES_FIRST };
	struct series s;
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);
	struct emit *emit = emit_new(f, &options);

	assert_int_equal(series_build(in, 2, &o, &s), 0);
	assert_int_equal(s.points[0].nsites, r->nbarriers);
	emit_series(emit, &s);
	assert_int_equal(emit_free(emit), 0);
	fclose(f);
	series_free(&s);
	return out;
}

static void test_schema(void **state)
{
	struct report_group_process one = { 12, "one" };
	struct report_group group = { .processes = &one, .nprocesses = 1 };
	struct report_conceptual phase = { .name = "solve", .cause.share = NAN };
	struct remark remark = { "inlined", 0, "a barrier was not seen" };
	struct report_place place = { .barrier = "#1",
				      .function = "relax\033[31m",
				      .reference_ns = REPORT_UNKNOWN };
	struct report_activity activity = { .comm = "\033[1m" };
	struct emit_options options = { .format = EMIT_JSON };
	json_t *seen CLEANUP_PTR(json_decref) = json_object();
	const struct emit_record *const *rec;
	char path[4097];
	struct report r;
	char *out;
	size_t len;

	data_report(&r);
	group.all = r.processes[0];
	r.groups = &group;
	r.ngroups = 1;
	phase.efficiency = r.processes[0].efficiency;
	phase.threads = r.processes[0].members;
	phase.nthreads = r.processes[0].nmembers;
	r.conceptuals = &phase;
	r.nconceptuals = 1;
	r.places = &place;
	r.nplaces = 1;
	r.activities = &activity;
	r.nactivities = 1;
	r.remarks = &remark;
	r.nremarks = 1;
	out = data_all(&options, &r, &len);
	check_output(out, seen);
	free(out);
	r.interim = true;
	data_hostile(&r, path);
	out = data_all(&options, &r, &len);
	check_output(out, seen);
	free(out);
	out = compare_lines(&r);
	check_output(out, seen);
	free(out);
	out = series_lines(&r);
	check_output(out, seen);
	free(out);
	data_free(&r);
	out = doctor_lines();
	check_output(out, seen);
	free(out);
	out = prediction_lines();
	check_output(out, seen);
	free(out);
	out = write_threads(&options);
	check_output(out, seen);
	free(out);
	for (rec = fields_records; *rec; rec++)
		if (!json_object_get(seen, (*rec)->type))
			fail_msg("%s never came", (*rec)->type);
}

static bool is_time(const char *name)
{
	size_t len = strlen(name);

	return len > 3 && !strcmp(name + len - 3, "_ns");
}

/*
 * Check that the keys of a map are strings, that each value fits in a cell, and, if the set of keys
 * is fixed, that the keys differ.
 */
static void check_map_field(const struct emit_field *f)
{
	const struct emit_field *value = fields_map_value(f);
	unsigned k;

	assert_int_equal(f->sub->fields[0].type, EMIT_STRING);
	assert_non_null(value->name);
	assert_true(value->type == EMIT_U64 || value->type == EMIT_I64 || value->type == EMIT_BOOL);
	for (k = 0; f->keys && f->keys(k); k++)
		for (unsigned i = 0; i < k; i++)
			assert_string_not_equal(f->keys(i), f->keys(k));
	assert_true(!f->keys || k > 1);
}

/*
 * Check a record. If @times, the name of the enclosing field already says that its numbers are
 * times.
 */
static void check_record(const struct emit_record *record, bool times)
{
	unsigned main = 0, parts = 0, each = 0;
	const struct emit_field *f, *g;

	for (f = record->fields; f->help; f++) {
		if (f->heading) {
			main += !f->views || f->views & FIELDS_MAIN;
			parts += (f->views & FIELDS_PARTS) != 0;
			each += f->views == FIELDS_EACH;
		}
		assert_true(f->name || f->heading);
		assert_true(strlen(f->help) > 0);
		if (f->type == EMIT_ENUM || f->type == EMIT_SET)
			assert_non_null(f->names);
		if (f->type == EMIT_ARRAY || f->type == EMIT_EMBEDDED || f->type == EMIT_OBJECT ||
		    f->type == EMIT_MAP)
			assert_non_null(f->sub);
		if (f->type == EMIT_MAP)
			check_map_field(f);
		if (!f->via && f->type != EMIT_INTERIM)
			assert_true(f->offset < record->size);
		for (g = f + 1; f->name && g->help; g++)
			if (g->name && !strcmp(f->name, g->name))
				fail_msg("%s.%s twice", record->type, f->name);
		/*
		 * Unless the name of the enclosing field says that all numbers are times, a field
		 * that holds a time must have the name of a time.
		 */
		if (f->name &&
		    (f->type == EMIT_NS || f->type == EMIT_T_NS || f->type == EMIT_TIMES) && !times)
			assert_true(is_time(f->name));
		if (fields_sub(f))
			check_record(fields_sub(f), f->type == EMIT_TIMES || is_time(f->name));
	}
	/*
	 * All fields must fit into one table, with the counters and the values that are derived
	 * from counters.
	 */
	assert_true(main <= TABLE_COLUMNS);
	assert_true((parts > each ? parts : each) + MODEL_COUNTERS_MAX + 1 <= TABLE_COLUMNS);
}

static void test_list(void **state)
{
	const struct emit_record *const *rec;

	for (rec = fields_records; *rec; rec++)
		check_record(*rec, false);
}

/* Check the names that are documented as stable. */
static void test_promised(void **state)
{
	static const struct {
		const struct emit_record *record;
		const char *names;
	} promised[] = {
		{ &fields_rec_session,
		  "schema version kernel mode command clock_start_ns probes counters" },
		{ &fields_rec_episode, "barrier kind team pid seq phase t_ns phase_ns barrier_ns "
				       "participants state nested threads cause" },
		{ &fields_rec_member,
		  "tid index comm site order arrive_ns inter_ns wait_ns depart_ns cpu work_ns "
		  "oncpu_ns runq_ns blocked_ns unattributed_ns fault_ns spin_ns counters" },
		{ &fields_rec_warning, "barrier pid phase t_ns barrier_ns phase_ns threshold_ns" },
		{ &fields_rec_hang,
		  "barrier pid waited_ns verdict arrived missing cycle text told over count" },
		{ &fields_rec_barrier,
		  "id pid comm family kind name function file line module object episodes "
		  "incomplete participants phase_ns barrier_ns release_ns threads cause" },
		{ &fields_rec_thread,
		  "tid comm wait_ns idle_ns work_ns oncpu_ns runq_ns blocked_ns last counters" },
		{ &fields_rec_finding, "kind pid figure text" },
		{ &fields_rec_times, "sum min mean max stddev" },
		{ &fields_rec_process, "pid comm elapsed_ns efficiency cost_ns" },
		{ &fields_rec_end, "episodes crossings elapsed_ns lost complete" },
		{ &fields_rec_difference, "barrier quantity a b ratio significant" },
		{ &fields_rec_prediction,
		  "processors barrier_model time_ns speedup efficiency limit" },
		{ &fields_rec_doctor, "feature group state needed found instead remedy" },
	};
	char names[512], *name, *save;

	for (unsigned i = 0; i < sizeof(promised) / sizeof(promised[0]); i++) {
		snprintf(names, sizeof(names), "%s", promised[i].names);
		for (name = strtok_r(names, " ", &save); name; name = strtok_r(NULL, " ", &save))
			if (!fields_find(promised[i].record, name))
				fail_msg("%s.%s is missing", promised[i].record->type, name);
	}
}

static void test_schema_unwritable(void **state)
{
	FILE *f CLEANUP_PTR(fclose) = fopen("/dev/full", "w");

	assert_int_equal(emit_json_schema(f), -ENOSPC);
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
