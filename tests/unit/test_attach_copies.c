// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check which breakpoints in copies of code are found, and which are ignored. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_check.h"
#include "attach/copies.h"

#define BYTES 1024

#if defined(__aarch64__)
static const uint8_t breakpoint[] = { 0xa0, 0x00, 0x20, 0xd4 };
#else
static const uint8_t breakpoint[] = { 0xcc };
#endif

struct code {
	FILE *file;
	uint8_t bytes[BYTES]; /* its code */
	struct copies copies;
};

/* Return code in which no byte sequence repeats. */
static struct code code_new(void)
{
	uint32_t x = 1;
	struct code c = { 0 };

	for (uint32_t i = 0; i < BYTES; i++) {
		x = x * 1103515245 + 12345;
		c.bytes[i] = (uint8_t)(x >> 16);
		if (c.bytes[i] == breakpoint[0])
			c.bytes[i] = 0x90;
	}
	c.file = tmpfile();
	assert_non_null(c.file);
	return c;
}

static void code_probe(struct code *c, const uint64_t *offsets, uint32_t n)
{
	rewind(c->file);
	assert_int_equal(fwrite(c->bytes, 1, BYTES, c->file), BYTES);
	fflush(c->file);
	copies_note(&c->copies, fileno(c->file), offsets, n);
}

static void code_free(struct code *c)
{
	copies_free(&c->copies);
	fclose(c->file);
}

static void put_breakpoint(uint8_t *at)
{
	memcpy(at, breakpoint, sizeof(breakpoint));
}

static void test_copies_found(void **state)
{
	const uint64_t offsets[] = { 0, 100, 112, BYTES - 8 };
	uint8_t copy[BYTES];
	const uint8_t *original;
	size_t at = 0;
	struct code c CLEANUP(code_free) = code_new();

	code_probe(&c, offsets, 4);
	memcpy(copy, c.bytes, BYTES);
	for (size_t i = 0; i < 4; i++)
		put_breakpoint(copy + offsets[i]);
	/* Each breakpoint is found, between other bytes as well as at both ends of the memory. */
	for (size_t i = 0; i < 4; i++, at++) {
		at = copies_next(&c.copies, copy, BYTES, at, &original);
		assert_int_equal(at, offsets[i]);
		assert_memory_equal(original, c.bytes + at, sizeof(breakpoint));
	}
	assert_int_equal(copies_next(&c.copies, copy, BYTES, at, &original), BYTES);
}

static void test_copies_short(void **state)
{
	const uint64_t offset = 200;
	uint8_t copy[64] = { 0 };
	const uint8_t *original;
	struct code c CLEANUP(code_free) = code_new();

	code_probe(&c, &offset, 1);
	/* If only one function was copied, fifteen equal bytes identify it, but fourteen do not. */
	memcpy(copy, c.bytes + 200, sizeof(breakpoint) + COPIES_SAME);
	put_breakpoint(copy);
	copy[sizeof(breakpoint) + COPIES_SAME] ^= copy[sizeof(breakpoint) + COPIES_SAME] ==
						  c.bytes[200 + sizeof(breakpoint) + COPIES_SAME];
	assert_int_equal(copies_next(&c.copies, copy, sizeof(copy), 0, &original), 0);
	copy[sizeof(breakpoint) + COPIES_SAME - 1] ^= 1;
	assert_int_equal(copies_next(&c.copies, copy, sizeof(copy), 0, &original), sizeof(copy));
}

static void test_copies_of_others(void **state)
{
	const uint64_t offset = 300;
	uint8_t copy[BYTES], filled[BYTES];
	const uint8_t *original;
	struct code c CLEANUP(code_free) = code_new();

	code_probe(&c, &offset, 1);
	memcpy(copy, c.bytes, BYTES);
	/*
	 * Two cases that look like a copied breakpoint but are none: a breakpoint of another tool,
	 * and the bytes with which compilers fill gaps.
	 */
	put_breakpoint(copy + 400);
	memset(filled, breakpoint[0], BYTES);
	assert_int_equal(copies_next(&c.copies, copy, BYTES, 0, &original), BYTES);
	assert_int_equal(copies_next(&c.copies, filled, BYTES, 0, &original), BYTES);
}

static void test_copies_alike(void **state)
{
	const uint64_t offsets[] = { 100, 600 };
	uint8_t copy[COPIES_AROUND * 2 + sizeof(breakpoint)];
	const uint8_t *original;
	struct code c CLEANUP(code_free) = code_new();

	/*
	 * At two positions the code differs only in the byte that the breakpoint hides, so the
	 * original byte is unknown.
	 */
	memcpy(c.bytes + 600 - COPIES_AROUND, c.bytes + 100 - COPIES_AROUND, sizeof(copy));
	c.bytes[600] ^= 1;
	code_probe(&c, offsets, 2);
	memcpy(copy, c.bytes + 100 - COPIES_AROUND, sizeof(copy));
	put_breakpoint(copy + COPIES_AROUND);
	assert_int_equal(copies_next(&c.copies, copy, sizeof(copy), 0, &original), sizeof(copy));
}

static void test_copies_file(void **state)
{
	const uint64_t offset = 100;
	struct stat st;
	uint64_t dev;
	struct code c CLEANUP(code_free) = code_new();

	assert_false(copies_in_file(&c.copies, NULL, 1));
	code_probe(&c, &offset, 1);
	assert_int_equal(fstat(fileno(c.file), &st), 0);
	dev = st.st_dev;
	assert_true(copies_in_file(&c.copies, &dev, st.st_ino));
	assert_true(copies_in_file(&c.copies, NULL, st.st_ino));
	/* A file on another device has the same inode number. */
	dev++;
	assert_false(copies_in_file(&c.copies, &dev, st.st_ino));
	/* The same probe is added again for another process, and still counts once. */
	code_probe(&c, &offset, 1);
	assert_int_equal(c.copies.n, 1);
}

/* The maximum number of equal probes is reached. A new probe is not compared with all of them. */
static void test_copies_many(void **state)
{
	uint64_t *offsets CLEANUP_PTR(free) = calloc(COPIES_MAX + 8, sizeof(*offsets));
	FILE *file CLEANUP_PTR(fclose) = tmpfile();
	struct copies c CLEANUP(copies_free) = { 0 };

	assert_non_null(offsets);
	assert_non_null(file);
	assert_int_equal(ftruncate(fileno(file), 4 * COPIES_MAX), 0);
	for (uint32_t i = 0; i < COPIES_MAX + 8; i++)
		offsets[i] = 2 * i;
	copies_note(&c, fileno(file), offsets, COPIES_MAX + 8);
	assert_int_equal(c.n, COPIES_MAX);
	copies_note(&c, fileno(file), offsets, COPIES_MAX);
	assert_int_equal(c.n, COPIES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copies_found),	 cmocka_unit_test(test_copies_short),
		cmocka_unit_test(test_copies_of_others), cmocka_unit_test(test_copies_alike),
		cmocka_unit_test(test_copies_file),	 cmocka_unit_test(test_copies_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
