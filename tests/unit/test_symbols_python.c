// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The frames of CPython, read from memory images that the tests make for each version. */
#include "test_check.h"

#include <errno.h>
#include <stdio.h>

#include "symbols/python.h"

#define BASE	  0x10000u
#define SIZE	  0x10000u
#define RUNTIME	  BASE
#define INTERP	  (BASE + 0x1000)
#define STATE_A	  (BASE + 0x4000)
#define STATE_B	  (BASE + 0x4400)
#define CFRAME	  (BASE + 0x4800)
#define TYPE	  (BASE + 0x4900)
#define FRAME_1	  (BASE + 0x5000)
#define FRAME_C	  (BASE + 0x5400)
#define FRAME_2	  (BASE + 0x5800)
#define CODE_1	  (BASE + 0x6000)
#define CODE_2	  (BASE + 0x6400)
#define TEXTS	  (BASE + 0x7000)
#define TABLES	  (BASE + 0x9000)
/* glibc's data of the two threads, and their numbers */
#define PTHREAD_A (BASE + 0xa000)
#define PTHREAD_B (BASE + 0xb000)
#define TID_A	  4710
#define TID_B	  4711
#define TID_NONE  4712

static uint8_t image[SIZE];
static uint32_t reads;

static int image_read(void *ctx, uint64_t address, void *out, size_t size)
{
	(void)ctx;
	reads++;
	if (address < BASE || address - BASE > SIZE || size > SIZE - (address - BASE))
		return -EFAULT;
	memcpy(out, image + (address - BASE), size);
	return 0;
}

static const struct python_memory memory = { NULL, image_read };

static void put(uint64_t at, const void *bytes, size_t size)
{
	memcpy(image + (at - BASE), bytes, size);
}

static void put_u64(uint64_t at, uint64_t value)
{
	put(at, &value, sizeof(value));
}

static void put_u32(uint64_t at, uint32_t value)
{
	put(at, &value, sizeof(value));
}

/* Write a str with characters of @width bytes. The header of ASCII text is shorter. */
static void put_str(const struct sbt_python_layout *l, uint64_t at, const void *chars, size_t n,
		    uint32_t width, bool ascii)
{
	put_u64(at + SBT_PYTHON_SIZE, n);
	put_u32(at + SBT_PYTHON_TEXT_STATE, width << 2 | 1u << 5 | (ascii ? 1u << 6 : 0));
	put(at + (ascii ? l->ascii : l->text), chars, n * width);
}

static void put_ascii(const struct sbt_python_layout *l, uint64_t at, const char *text)
{
	put_str(l, at, text, strlen(text), 1, true);
}

static void put_code(const struct sbt_python_layout *l, uint64_t code, uint64_t name, uint64_t file,
		     uint32_t first_line, const void *table, size_t size)
{
	uint64_t bytes = TABLES + (code - CODE_1);

	put_u64(code + SBT_PYTHON_TYPE, TYPE);
	put_u64(code + l->name, name);
	put_u64(code + l->file, file);
	put_u32(code + l->first_line, first_line);
	put_u64(code + l->lines, bytes);
	put_u64(bytes + SBT_PYTHON_SIZE, size);
	put(bytes + SBT_PYTHON_BYTES, table, size);
}

static void put_frame(const struct sbt_python_layout *l, uint64_t frame, uint64_t code,
		      uint64_t back, uint32_t at, uint64_t self)
{
	put_u64(frame + l->code, code);
	put_u64(frame + l->back, back);
	put_u64(frame + l->locals, self);
	if (l->first_instr)
		put_u64(frame + l->instr, code + l->first_instr + at);
	else
		put_u32(frame + l->instr, l->minor == 10 ? at / 2 : at);
}

/* The words of 3.13's _Py_DebugOffsets that the reader uses. */
static void put_debug_offsets(const struct sbt_python_layout *l)
{
	const struct {
		uint32_t word;
		uint64_t value;
	} words[] = { { 0, 0x030d00f0 },      { 4, l->head },		{ 7, l->next },
		      { 8, l->threads },      { 13, l->gil_of },	{ 20, l->state_next },
		      { 22, l->state_frame }, { 23, l->state_pthread }, { 24, l->state_native },
		      { 28, l->back },	      { 29, l->code },		{ 30, l->instr },
		      { 31, l->locals },      { 32, l->owner },		{ 34, l->file },
		      { 36, l->name },	      { 37, l->lines },		{ 38, l->first_line },
		      { 42, l->first_instr } };
	size_t i;

	put(RUNTIME, "xdebugpy", 8);
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		put_u64(RUNTIME + 8 + 8 * words[i].word, words[i].value);
}

/* Two instructions (4 bytes) on line 7, then two on line 9, in the form of each version. */
static size_t two_lines(uint32_t minor, uint8_t table[8])
{
	/* firstlineno is 7. */
	static const uint8_t pairs[] = { 4, 2 }, sizes[] = { 4, 0, 4, 2 },
			     entries[] = { 0x80 | 10 << 3 | 1, 0, 1, 0x80 | 12 << 3 | 1, 0, 1 };

	if (minor == 9)
		return memcpy(table, pairs, sizeof(pairs)), sizeof(pairs);
	if (minor == 10)
		return memcpy(table, sizes, sizeof(sizes)), sizeof(sizes);
	return memcpy(table, entries, sizeof(entries)), sizeof(entries);
}

/* Thread B: `Barrier.wait` at line 9, called by `main` at line 7 (through a C frame from 3.12). */
static void make_image(uint32_t minor, struct sbt_python_layout *l)
{
	static const struct sbt_python_layout layouts[] = SBT_PYTHON_LAYOUTS;
	uint8_t table[8];
	size_t size = two_lines(minor, table);

	*l = layouts[minor - SBT_PYTHON_FIRST];
	memset(image, 0, sizeof(image));
	put_u64(RUNTIME + l->head, INTERP);
	if (minor == 13)
		put_debug_offsets(l);
	put_u64(INTERP + l->threads, STATE_A);
	put_u64(STATE_A + l->state_next, STATE_B);
	put_u64(STATE_A + l->state_pthread, PTHREAD_A);
	put_u64(STATE_B + l->state_pthread, PTHREAD_B);
	put_u32(PTHREAD_A + SBT_PYTHON_PTHREAD_TID, TID_A);
	put_u32(PTHREAD_B + SBT_PYTHON_PTHREAD_TID, TID_B);
	if (l->state_native) {
		put_u64(STATE_A + l->state_native, TID_A);
		put_u64(STATE_B + l->state_native, TID_B);
	}
	put_u64(STATE_B + l->state_frame, l->by_cframe ? CFRAME : FRAME_1);
	put_u64(CFRAME + l->cframe, FRAME_1);
	put_u64(TYPE + SBT_PYTHON_TYPE_NAME, TYPE + 0x40);
	put(TYPE + 0x40, "code", 5);
	put_ascii(l, TEXTS, "Barrier.wait");
	put_ascii(l, TEXTS + 0x100, "/usr/lib/python3/threading.py");
	put_ascii(l, TEXTS + 0x200, "main");
	put_ascii(l, TEXTS + 0x300, "app.py");
	put_code(l, CODE_1, TEXTS, TEXTS + 0x100, 7, table, size);
	put_code(l, CODE_2, TEXTS + 0x200, TEXTS + 0x300, 7, table, size);
	put_frame(l, FRAME_1, CODE_1, l->owner ? FRAME_C : FRAME_2, 4, 0x5e1f);
	if (l->owner)
		put_frame(l, FRAME_C, TYPE, FRAME_2, 0, 0);
	if (l->owner)
		image[FRAME_C + l->owner - BASE] = SBT_PYTHON_OWNER_C;
	put_frame(l, FRAME_2, CODE_2, 0, 2, 0);
}

static void test_frames(void **state)
{
	struct sbt_python_layout made, l;
	struct python_frame f[4];
	uint32_t minor;

	(void)state;
	for (minor = SBT_PYTHON_FIRST; minor <= SBT_PYTHON_LAST; minor++) {
		make_image(minor, &made);
		assert_int_equal(python_layout(minor, &memory, RUNTIME, &l), 0);
		assert_memory_equal(&l, &made, sizeof(l));
		assert_int_equal(python_frames(&l, &memory, RUNTIME, TID_B, f, 4), 2);
		assert_string_equal(f[0].function, "Barrier.wait");
		assert_string_equal(f[0].file, "/usr/lib/python3/threading.py");
		assert_int_equal(f[0].line, 9);
		assert_string_equal(f[1].function, "main");
		assert_string_equal(f[1].file, "app.py");
		assert_int_equal(f[1].line, 7);
		/* The other thread executes no Python code, and a third one is not known. */
		assert_int_equal(python_frames(&l, &memory, RUNTIME, TID_A, f, 4), 0);
		assert_int_equal(python_frames(&l, &memory, RUNTIME, TID_NONE, f, 4), -ESRCH);
		assert_int_equal(python_frames(&l, &memory, RUNTIME, TID_B, f, 1), 1);
		/* A function by its code object alone; something that is no code object. */
		assert_int_equal(python_code(&l, &memory, CODE_1, 0, f), 0);
		assert_string_equal(f[0].function, "Barrier.wait");
		assert_string_equal(f[0].file, "/usr/lib/python3/threading.py");
		assert_int_equal(f[0].line, 7);
		assert_int_equal(f[0].first_line, 7);
		assert_int_equal(python_code(&l, &memory, RUNTIME, 0, f), -EFAULT);
	}
}

static void test_layouts(void **state)
{
	struct sbt_python_layout l;

	(void)state;
	assert_int_equal(python_layout(8, &memory, RUNTIME, &l), -ENOTSUP);
	assert_int_equal(python_layout(14, &memory, RUNTIME, &l), -ENOTSUP);
	/* 3.13 describes itself: follow the description, and refuse one that cannot be right. */
	make_image(13, &l);
	put_u64(RUNTIME + 8 + 8 * 22, l.state_frame + 8);
	assert_int_equal(python_layout(13, &memory, RUNTIME, &l), 0);
	assert_int_equal(l.state_frame, 80);
	put_u64(RUNTIME + 8 + 8 * 29, 1ull << 40);
	assert_int_equal(python_layout(13, &memory, RUNTIME, &l), -ENOTSUP);
	make_image(13, &l);
	put_u64(RUNTIME + 8 + 8 * 1, 1); /* no GIL */
	assert_int_equal(python_layout(13, &memory, RUNTIME, &l), -ENOTSUP);
	make_image(13, &l);
	put_u64(RUNTIME + 8, 0x030e00f0);
	assert_int_equal(python_layout(13, &memory, RUNTIME, &l), -ENOTSUP);
	put_u64(RUNTIME, 0);
	assert_int_equal(python_layout(13, &memory, RUNTIME, &l), -ENOTSUP);
	assert_int_equal(python_layout(13, &memory, 1, &l), -EFAULT);
}

static void test_versions(void **state)
{
	static const struct {
		const char *path;
		uint32_t minor;
	} cases[] = { { "/usr/bin/python3.11", 11 },
		      { "/usr/lib/x86_64-linux-gnu/libpython3.9.so.1.0", 9 },
		      { "libpython3.12d.so.1.0", 12 },
		      { "python3.8", 8 },
		      { "libpython3.13t.so.1.0", 0 },
		      { "libpython3.so", 0 },
		      { "python3", 0 },
		      { "python3.11-config", 0 },
		      { "/opt/python3.11/bin/app", 0 },
		      { "python3.99999999999999999999", 0 },
		      { "", 0 },
		      { NULL, 0 } };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(python_version_of(cases[i].path), cases[i].minor);
}

static void test_texts(void **state)
{
	static const uint16_t wide[] = { 'f', 0xfc, 0x4e2d };
	static const uint32_t wider[] = { 0x1f40d, 'x' };
	struct sbt_python_layout l;
	struct python_frame f;
	char long_name[600];

	(void)state;
	make_image(12, &l);
	put_str(&l, TEXTS, wide, 3, 2, false);
	put_str(&l, TEXTS + 0x100, wider, 2, 4, false);
	assert_int_equal(python_frames(&l, &memory, RUNTIME, TID_B, &f, 1), 1);
	assert_string_equal(f.function, "f\xc3\xbc\xe4\xb8\xad");
	assert_string_equal(f.file, "\xf0\x9f\x90\x8dx");
	/* Of a long name of a function the beginning is kept, of a file the end. */
	memset(long_name, 'n', sizeof(long_name));
	long_name[0] = 'a';
	long_name[sizeof(long_name) - 1] = 'z';
	put_str(&l, TEXTS + 0x400, long_name, sizeof(long_name), 1, true);
	put_u64(CODE_1 + l.name, TEXTS + 0x400);
	put_u64(CODE_1 + l.file, TEXTS + 0x400);
	assert_int_equal(python_frames(&l, &memory, RUNTIME, TID_B, &f, 1), 1);
	assert_int_equal(strlen(f.function), PYTHON_NAME_MAX - 1);
	assert_int_equal(f.function[0], 'a');
	assert_int_equal(strlen(f.file), PYTHON_FILE_MAX - 1);
	assert_int_equal(f.file[PYTHON_FILE_MAX - 2], 'z');
	/* A length or a state that no text has. */
	put_u64(TEXTS + 0x400 + SBT_PYTHON_SIZE, ~0ull);
	put_u32(TEXTS + SBT_PYTHON_TEXT_STATE, 7u << 2 | 1u << 5);
	put_u64(CODE_1 + l.name, TEXTS);
	assert_int_equal(python_frames(&l, &memory, RUNTIME, TID_B, &f, 1), 1);
	assert_string_equal(f.function, "");
	assert_string_equal(f.file, "");
}

static void test_hostile(void **state)
{
	static struct python_frame f[PYTHON_FRAMES_MAX + 2];
	struct sbt_python_layout l;
	uint32_t minor;

	(void)state;
	for (minor = SBT_PYTHON_FIRST; minor <= SBT_PYTHON_LAST; minor++) {
		make_image(minor, &l);
		/* Frames in a circle. */
		put_u64(FRAME_2 + l.back, FRAME_1);
		assert_int_equal(
			python_frames(&l, &memory, RUNTIME, TID_B, f, PYTHON_FRAMES_MAX + 2),
			PYTHON_FRAMES_MAX);
		/* A frame without a code object ends the list. */
		put_u64(FRAME_2 + l.code, TYPE);
		assert_int_equal(python_frames(&l, &memory, RUNTIME, TID_B, f, 4), 1);
		put_u64(FRAME_1 + l.back, 0xdead0000);
		assert_int_equal(python_frames(&l, &memory, RUNTIME, TID_B, f, 4), 1);
		/* An instruction outside the code: the line of the function remains, or none. */
		put_u64(FRAME_1 + l.instr, 0);
		assert_int_equal(python_frames(&l, &memory, RUNTIME, TID_B, f, 4), 1);
		assert_int_equal(f[0].line, 7);
		/* Threads in a circle, and interpreters in a circle. */
		put_u64(STATE_B + l.state_next, STATE_A);
		put_u64(INTERP + l.next, INTERP);
		reads = 0;
		assert_int_equal(python_frames(&l, &memory, RUNTIME, TID_NONE, f, 4), -ESRCH);
		assert_true(reads < 100000);
		put_u64(INTERP + l.threads, 1);
		assert_int_equal(python_frames(&l, &memory, RUNTIME, TID_B, f, 4), -ESRCH);
		put_u64(RUNTIME + l.head, ~0ull);
		assert_true(python_frames(&l, &memory, RUNTIME, TID_B, f, 4) < 0);
	}
}

static void test_lines(void **state)
{
	/* 3.9: 300 bytes of code on line 1 need two pairs; then the line goes back. */
	static const uint8_t pairs[] = { 255, 0, 45, 3, 10, 0xfe };
	/* 3.10: the second piece has no line. */
	static const uint8_t sizes[] = { 6, 1, 4, 0x80, 2, 0xff };
	/* 3.11: short form, no column with -1, long with +100, none, one line with +2. */
	static const uint8_t entries[] = { 0x80 | 3 << 3 | 2,  0x12, /* 6 bytes */
					   0x80 | 13 << 3 | 0, 3, /* 2 bytes, -1 */
					   0x80 | 14 << 3 | 1, 0x48, 3, 0, 1, 1, /* 4 bytes, +100 */
					   0x80 | 15 << 3 | 0, /* 2 bytes */
					   0x80 | 12 << 3 | 7, 4,    5 }; /* 16 bytes, +2 */

	(void)state;
	assert_int_equal(python_line(9, pairs, sizeof(pairs), 1, 0), 1);
	assert_int_equal(python_line(9, pairs, sizeof(pairs), 1, 299), 1);
	assert_int_equal(python_line(9, pairs, sizeof(pairs), 1, 300), 4);
	assert_int_equal(python_line(9, pairs, sizeof(pairs), 1, 310), 2);
	assert_int_equal(python_line(10, sizes, sizeof(sizes), 5, 0), 6);
	assert_int_equal(python_line(10, sizes, sizeof(sizes), 5, 6), 0);
	assert_int_equal(python_line(10, sizes, sizeof(sizes), 5, 10), 5);
	assert_int_equal(python_line(10, sizes, sizeof(sizes), 5, 12), 0);
	assert_int_equal(python_line(11, entries, sizeof(entries), 50, 4), 50);
	assert_int_equal(python_line(12, entries, sizeof(entries), 50, 6), 49);
	assert_int_equal(python_line(13, entries, sizeof(entries), 50, 8), 149);
	assert_int_equal(python_line(13, entries, sizeof(entries), 50, 12), 0);
	assert_int_equal(python_line(11, entries, sizeof(entries), 50, 14), 151);
	assert_int_equal(python_line(11, entries, sizeof(entries), 50, 30), 0);
	/* A table that ends in the middle of an entry, and an empty one. */
	assert_int_equal(python_line(11, entries, 5, 50, 8), 50 - 1);
	assert_int_equal(python_line(11, entries, 0, 50, 0), 0);
	assert_int_equal(python_line(9, entries, 0, 50, 0), 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),	 cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_versions), cmocka_unit_test(test_texts),
		cmocka_unit_test(test_hostile),	 cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
