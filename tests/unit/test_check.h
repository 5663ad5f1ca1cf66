/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* cmocka with its includes, and checks that all tests share. */
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <math.h>

/* Call the function with the address of a variable when its scope ends. */
#define CLEANUP(function)     __attribute__((cleanup(function)))
/* Call the function with the last value of a pointer or descriptor when its scope ends. */
#define CLEANUP_PTR(function) CLEANUP(function##_at_end)
#define DEFINE_CLEANUP_PTR(function, type)            \
	static inline void function##_at_end(type *p) \
	{                                             \
		if (*p)                               \
			function(*p);                 \
	}

DEFINE_CLEANUP_PTR(fclose, FILE *)

static inline void free_at_end(void *p)
{
	free(*(void **)p);
}

static inline void close_at_end(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* Select the test cases to run. cmocka itself reads no environment variable. */
__attribute__((constructor)) static void filter_cases(void)
{
	cmocka_set_test_filter(getenv("CMOCKA_TEST_FILTER"));
}

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* The rows of a table and their number, as two arguments of a function. */
#define ROWS(type, ...) (const type[]){ __VA_ARGS__ }, ARRAY_SIZE(((const type[]){ __VA_ARGS__ }))

/* One field of a record, with its expected value. */
struct field_check {
	const char *name;
	bool ok;
	const char *text, *text_expected; /* NULL unless the field is text */
	double real, real_expected; /* used if @is_real */
	uintmax_t number, number_expected; /* used unless @is_real */
	bool is_real;
};

static inline bool is_close(double got, double expected)
{
	return fabs(got - expected) <= 1e-9 * fmax(fabs(got), fabs(expected)) + 1e-6;
}

/*
 * The rows of assert_fields(). IS: a whole number, flag, enum or pointer. NEAR and CLOSE: a real
 * number, within an absolute or a small relative difference. TEXT: a text. HAS and LACKS: a text
 * with a part that it must, or must not, have.
 */
#define IS(field, value)                                                                  \
	{                                                                                 \
		.name = #field, .ok = (uintmax_t)(it_->field) == (uintmax_t)(value),      \
		.number = (uintmax_t)(it_->field), .number_expected = (uintmax_t)(value), \
	}
#define NEAR(field, value, within)                                                     \
	{                                                                              \
		.name = #field, .ok = fabs((double)it_->field - (value)) <= (within),  \
		.real = (double)it_->field, .real_expected = (value), .is_real = true, \
	}
#define CLOSE(field, value)                                                            \
	{                                                                              \
		.name = #field, .ok = is_close(it_->field, value), .real = it_->field, \
		.real_expected = (value), .is_real = true,                             \
	}
#define TEXT(field, value)                                                            \
	{                                                                             \
		.name = #field, .ok = !strcmp(it_->field, value), .text = it_->field, \
		.text_expected = (value),                                             \
	}
#define HAS(field, part)                                                            \
	{                                                                           \
		.name = #field, .ok = strstr(it_->field, part), .text = it_->field, \
		.text_expected = (part),                                            \
	}

#define LACKS(field, part)                                                           \
	{                                                                            \
		.name = #field, .ok = !strstr(it_->field, part), .text = it_->field, \
		.text_expected = ("without " part),                                  \
	}

/*
 * Fail at @file:@line, and name the field, unless each of the @n fields of @record has its value.
 */
static inline void check_fields(const struct field_check *f, size_t n, const char *record,
				const char *file, int line)
{
	for (size_t i = 0; i < n; i++, f++) {
		if (f->ok)
			continue;
		if (f->text)
			print_error("%s, %s: \"%s\", expected: \"%s\"\n", record, f->name, f->text,
				    f->text_expected);
		else if (f->is_real)
			print_error("%s, %s: %.17g, expected: %.17g\n", record, f->name, f->real,
				    f->real_expected);
		else
			print_error("%s, %s: %ju (%#jx), expected: %ju (%#jx)\n", record, f->name,
				    f->number, f->number, f->number_expected, f->number_expected);
		_fail(file, line);
	}
}

/*
 * Check several fields of the record that a pointer points to: assert_fields(p, IS(count, 2),
 * TEXT(name, "x")).
 */
#define assert_fields(record, ...)                                                       \
	do {                                                                             \
		const __typeof__(*(record)) *it_ = (record);                             \
		const struct field_check fields_[] = { __VA_ARGS__ };                    \
		check_fields(fields_, ARRAY_SIZE(fields_), #record, __FILE__, __LINE__); \
	} while (0)

static inline void assert_near(double got, double expected, double within)
{
	if (!(fabs(got - expected) <= within))
		fail_msg("%.17g, not %.17g", got, expected);
}

static inline void assert_close(double got, double expected)
{
	if (!is_close(got, expected))
		fail_msg("%.17g, not %.17g", got, expected);
}

/*
 * Fail at @file:@line unless each of the @n @parts is in @text. If @forbidden, fail if one of the
 * parts is in @text.
 */
static inline void check_parts(const char *text, const char *const *parts, size_t n, bool forbidden,
			       const char *file, int line)
{
	for (size_t i = 0; i < n; i++) {
		if (!strstr(text, parts[i]) == forbidden)
			continue;
		print_error("\"%s\" %s \"%s\"\n", text, forbidden ? "has" : "lacks", parts[i]);
		_fail(file, line);
	}
}

#define CHECK_PARTS(text, forbidden, ...) \
	check_parts(text, ROWS(char *const, __VA_ARGS__), forbidden, __FILE__, __LINE__)
/* Check that the text has each of these parts. assert_lacks() checks that it has none of them. */
#define assert_says(text, ...)	CHECK_PARTS(text, false, __VA_ARGS__)
#define assert_lacks(text, ...) CHECK_PARTS(text, true, __VA_ARGS__)

/* A case of a table: the input and the expected result. */
struct text_row {
	const char *given, *expected;
};

static inline void check_text_cases(void (*check)(const char *, const char *),
				    const struct text_row *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check(c[i].given, c[i].expected);
}

/* Call a check for each case: check_cases(reads, { given, expected }, ...). */
#define check_cases(check, ...) check_text_cases(check, ROWS(struct text_row, __VA_ARGS__))

#endif /* TEST_CHECK_H */
