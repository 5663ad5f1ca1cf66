/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The list of fields. fields.c describes the fields of each output record once. JSON, its schema,
 * CSV and the tables for people are all made from this list, so a new metric is one more row.
 */
#ifndef EMIT_FIELDS_H
#define EMIT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/observer.h"
#include "analyse/report.h"
#include "analyse/session.h"
#include "compare/compare.h"
#include "compare/series.h"

/* Incremented when a name or its meaning changes, but not when names are added. */
#define FIELDS_SCHEMA_VERSION 1

enum emit_type {
	EMIT_STRING, /* const char *, NULL: unknown */
	EMIT_CHARS, /* char[] inside the struct, "": unknown */
	EMIT_U32, /* UINT32_MAX: unknown */
	EMIT_U64, /* UINT64_MAX: unknown */
	EMIT_I64, /* INT64_MIN: unknown */
	EMIT_NS, /* uint64_t, a length of time; UINT64_MAX: unknown */
	EMIT_T_NS, /* uint64_t, absolute: printed relative to clock_start_ns */
	EMIT_DOUBLE, /* NAN: unknown */
	EMIT_RATIO, /* double from 0 to 1; NAN: unknown */
	EMIT_BOOL, /* bool */
	EMIT_MAYBE, /* uint8_t, 0 or 1; other values: unknown */
	/* bool, from fields_context.interim: whether the report is an interim report */
	EMIT_INTERIM,
	EMIT_ENUM, /* enum, named by .names; unnamed values are unknown */
	EMIT_SET, /* uint32_t of bits, named by .names */
	EMIT_TIMES, /* struct report_times */
	/* a struct inside the struct; if it has a count, a count of 0 means unknown */
	EMIT_OBJECT,
	EMIT_ARRAY, /* pointer to structs, and a uint32_t count */
	EMIT_EMBEDDED, /* structs inside the struct, and a uint32_t count */
	/*
	 * structs as for EMIT_ARRAY, or with FIELDS_HERE as for EMIT_EMBEDDED. They are printed as
	 * one object with a member for each struct. The key is the struct's first field, and the
	 * value is the field with index .value.
	 */
	EMIT_MAP,
	EMIT_HIST, /* const uint32_t *, 64 log-2 buckets; NULL: unknown */
};

/* How a column looks in a table for people. */
enum emit_look {
	EMIT_NUMBER, /* right-aligned; a ratio in per cent */
	EMIT_FRACTION, /* a ratio as a fraction: 0.66 */
	EMIT_NAME, /* left-aligned, elided in the middle when the table is too wide */
	EMIT_ID, /* left-aligned, never elided */
	/* a time, each cell in its own best unit */
	EMIT_MEAN,
	/* a time, the whole column in one unit */
	EMIT_COMMON,
	EMIT_CLOCK, /* a point in time, in seconds from the start */
	EMIT_DAY, /* a point in time, as time of day */
	EMIT_BAR, /* a bar, full at the column's maximum; text only */
};

struct emit_names {
	uint32_t value;
	const char *name;
	const char *text; /* for people; NULL: the name */
};

struct emit_record;

struct emit_field {
	/* JSON key and CSV column; NULL: only in tables for people */
	const char *name;
	enum emit_type type;
	enum emit_look look;
	/* 0, or 1 + the offset of the pointer to the struct that has the field */
	uint16_t via;
	uint16_t offset;
	uint16_t count; /* offset of the count of an array, a map or an object */
	uint8_t flags;
	/* views with this column (FIELDS_MAIN, ...); 0: FIELDS_MAIN */
	uint8_t views;
	/* for a map: index of the value's field in .sub; 0 means 1 */
	uint8_t value;
	const struct emit_record *sub; /* for objects, arrays and maps */
	/* For a map: all possible keys, then NULL. CSV has a column for each. */
	const char *(*keys)(unsigned k);
	const struct emit_names *names; /* ends with a NULL name */
	/*
	 * Heading of the column in tables for people, with \n between two lines; NULL: no column.
	 */
	const char *heading;
	/* Write the text of the cell. NULL: the cell shows the value. */
	void (*cell)(const void *rec, char *out, size_t size);
	const char *help;
};

/* emit_field.flags */
#define FIELDS_KEY  0x01 /* CSV: repeated in the rows of nested arrays */
#define FIELDS_ZERO 0x02 /* zero also means unknown */
#define FIELDS_MANY 0x04 /* text: only in a table of several processes */
#define FIELDS_DROP 0x08 /* text: no column if it is negligible everywhere */
#define FIELDS_ANY  0x10 /* an object: unknown if all its fields are */
#define FIELDS_HERE 0x20 /* a map: the structs are inside the struct */
/* a map of the same structs as an earlier map: CSV has rows only for the earlier map */
#define FIELDS_MORE 0x40
#define FIELDS_HAS  0x80 /* JSON: the map leaves out unknown values */

/* Views of a table: bits of emit_field.views, and fields_context.view. */
#define FIELDS_MAIN	0x01
#define FIELDS_PARTS	0x02 /* how time was spent */
#define FIELDS_COUNTERS 0x04 /* counters (their own columns are not in the list of fields) */
#define FIELDS_EACH	0x07

struct emit_record {
	const char *type; /* "barrier"; for nested records the singular: "thread" */
	size_t size;
	const struct emit_field *fields; /* ends with a NULL help */
	const char *help;
};

/* Structs that exist only for printing. */
struct fields_session {
	uint32_t schema;
	const struct session *session;
	int64_t realtime_offset_ns; /* INT64_MIN: unknown */
};

struct fields_warning {
	const struct observed_episode *episode;
	const struct report_barrier *barrier;
	uint64_t threshold_ns;
};

struct fields_comparison {
	const struct compare *compare;
	const struct compare_input *a, *b;
	uint32_t na, nb;
};

struct fields_series {
	const struct series_point *point;
	const char *base; /* label of the base of its ratios; NULL: unknown */
};

struct fields_end {
	const struct report *report;
	uint64_t elapsed_ns;
};

/* The records of the output, in the order of printing; ends with NULL. */
extern const struct emit_record *const fields_records[];

extern const struct emit_record fields_rec_session, fields_rec_episode, fields_rec_warning,
	fields_rec_barrier, fields_rec_transition, fields_rec_conceptual, fields_rec_group,
	fields_rec_process, fields_rec_finding, fields_rec_remark, fields_rec_end,
	fields_rec_interim, fields_rec_hang, fields_rec_where, fields_rec_doctor, fields_rec_place,
	fields_rec_activity, fields_rec_comparison, fields_rec_difference, fields_rec_series,
	fields_rec_prediction, fields_rec_prediction_phase, fields_rec_assumption;
/* The lists of a report, in the order of printing; ends with a NULL help. */
extern const struct emit_field fields_of_report[];
/*
 * Records that only diff, series or predict prints. CSV of other commands has no columns for these
 * records. Each list ends with NULL.
 */
extern const struct emit_record *const fields_of_diff[], *const fields_of_series[],
								 *const fields_of_predict[];
/* Nested records that have tables for people. */
extern const struct emit_record fields_rec_member, fields_rec_thread, fields_rec_times,
	fields_rec_probe, fields_rec_series_site;
/* Why an episode is not complete. */
extern const struct emit_names fields_why[];
/* Why a thread is expected at a barrier, and the states of threads. */
extern const struct emit_names *const fields_hang_known, *const fields_hang_states;

struct fields_context {
	uint64_t clock_start_ns;
	int64_t realtime_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC; 0: unknown */
	bool interim;
	bool many; /* the report covers several processes */
	bool no_bars; /* text: no bars in this table */
	uint8_t view; /* text: the table's view; 0: FIELDS_MAIN */
	/* text: the script that COMMAND, an interpreter, runs; "": none, or unknown */
	char script[64];
};

enum fields_kind {
	FIELDS_NULL,
	FIELDS_UINT,
	FIELDS_INT,
	FIELDS_REAL,
	FIELDS_TRUTH,
	FIELDS_TEXT,
	FIELDS_BITS, /* u: bits, with the names in .names of the field */
	FIELDS_OBJECT, /* base */
	FIELDS_LIST, /* base: array of n structs, which .sub of the field describes */
	FIELDS_BUCKETS, /* base: uint32_t[64] */
};

struct fields_value {
	enum fields_kind kind;
	uint64_t u; /* also for FIELDS_TRUTH and FIELDS_BITS */
	int64_t i;
	double d;
	const char *s;
	const void *base;
	uint32_t n;
};

/*
 * Return the value of a field of the struct at @rec. Only this function knows what "unknown" looks
 * like.
 */
struct fields_value fields_get(const struct emit_field *field, const void *rec,
			       const struct fields_context *context);
/* Return the key of the struct at @rec in a map, or NULL if it has none. */
const char *fields_key(const struct emit_field *map, const void *rec,
		       const struct fields_context *context);
/* Return the field of a map's structs that holds the value. */
const struct emit_field *fields_map_value(const struct emit_field *map);
/* Return a value's text for people, or NULL if the value has no name. */
const char *fields_text(const struct emit_names *names, uint32_t value);
/*
 * Return the type of the records in an object, an array or a set of times; NULL for other fields.
 */
const struct emit_record *fields_sub(const struct emit_field *field);
/* Return the field called @name, or NULL if there is none. */
const struct emit_field *fields_find(const struct emit_record *record, const char *name);

#endif /* EMIT_FIELDS_H */
