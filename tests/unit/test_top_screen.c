// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check the live table against golden screens. Run from the root of the repository; UPDATE_GOLDEN=1
 * updates the files.
 */
#include "test_emit_golden.h"

#include <math.h>

#include "base/text.h"
#include "top/screen.h"
#include "emit/textout.h"

DEFINE_CLEANUP_PTR(screen_free, struct screen *)

#define SEC 1000000000ULL

static const struct screen_facts facts = {
	.what = "the whole machine",
	.elapsed_ns = 83 * SEC,
	.interval_ns = SEC,
	.realtime_ns = 1795217495LL * 1000000000,
	.nothing = "No barrier has been crossed yet on this machine.",
};

#define P(n) (1ULL << 63 | (n))

static struct screen_item process(uint64_t key, uint32_t pid, const char *comm)
{
	return (struct screen_item){ .kind = SCREEN_PROCESS,
				     .key = P(key),
				     .process = P(key),
				     .pid = pid,
				     .comm = comm,
				     .imbalance = NAN,
				     .phase_ns = NAN,
				     .last_share = NAN,
				     .cause_share = NAN };
}

static struct screen_item barrier(uint64_t key, uint64_t of, uint32_t pid, const char *comm,
				  const char *name)
{
	struct screen_item it = process(of, pid, comm);

	it.kind = SCREEN_BARRIER;
	it.key = key;
	it.name = name;
	it.id = "#1a2b3c4d";
	return it;
}

static void figures(struct screen_item *it, double lost_ms, double rate, double imbalance,
		    double phase_ms, uint32_t team)
{
	it->lost_ns = lost_ms * 1e6;
	it->rate = rate;
	it->imbalance = imbalance;
	it->phase_ns = phase_ms * 1e6;
	it->team = team;
}

static void blame(struct screen_item *it, const char *last, double share, const char *cause,
		  double cause_share)
{
	it->last = last;
	it->last_share = share;
	it->cause = cause;
	it->cause_share = cause_share;
}

#define NITEMS 9

static void fill(struct screen_item *it)
{
	it[0] = process(1, 4711, "lu");
	figures(&it[0], 412.3, 1250.4, 0.12, 0.8, 4);
	blame(&it[0], "thread 2", 0.61, "waited for a CPU", 0.71);
	it[1] = barrier(1, 1, 4711, "lu", "lu lu.c:117");
	figures(&it[1], 310, 625.2, 0.131, 0.9, 4);
	blame(&it[1], "thread 2", 0.72, "waited for a CPU", 0.81);
	it[2] = barrier(2, 1, 4711, "lu", "slave_sort radix.c:412 and 2 more");
	figures(&it[2], 102.3, 625.2, 0.09, 0.71, 4);
	blame(&it[2], "thread 0", 0.31, NULL, NAN);
	it[2].balanced = true;
	it[3] = process(2, 99, "render");
	figures(&it[3], 2250, 49.9, 0.56, 20.1, 4);
	blame(&it[3], "3 worker", 1, "more work", 0.98);
	it[4] = barrier(3, 2, 99, "render", "tile_loop tiles.c:88");
	figures(&it[4], 2250, 49.9, 0.56, 20.1, 4);
	blame(&it[4], "3 worker", 1, "more work", 0.98);
	it[5] = barrier(4, 2, 99, "render", "inner lock.c:7");
	figures(&it[5], 1, 12, 0.01, 1, 2);
	it[5].nested = true;
	it[6] = process(3, 1234567, "stuck");
	figures(&it[6], 2000, 0, NAN, NAN, 3);
	it[6].waiting = 2;
	it[6].waiting_ns = 12300000000;
	it[7] = barrier(5, 3, 1234567, "stuck", "wait_all sync.h:20");
	figures(&it[7], 2000, 0, NAN, NAN, 3);
	it[7].waiting = 2;
	it[7].waiting_ns = 12300000000;
	it[8] = process(4, 55, "done");
	figures(&it[8], 0, 0, NAN, NAN, 8);
	it[8].exited = true;
}

#define NTHREADS 3

static void fill_threads(struct screen_item *it)
{
	for (uint32_t i = 0; i < NTHREADS; i++) {
		it[i] = process(0, 0, NULL);
		it[i].kind = SCREEN_THREAD;
		it[i].key = 200 + i;
		it[i].tid = 100 + i;
		it[i].index = i;
		it[i].name = i ? "worker" : "render";
		it[i].lost_ns = i == 2 ? 0 : 750e6;
		it[i].rate = 49.9;
		it[i].last_share = i == 2 ? 0.98 : 0.01;
		it[i].waiting_ns = i ? UINT64_MAX : 3200000;
		it[i].oncpu = i == 2 ? 0.97 : NAN;
		it[i].runq = i == 2 ? 0.03 : NAN;
		it[i].blocked = i == 2 ? 0 : NAN;
	}
}

/* --- properties of every screen --------------------------------------------------------------- */

static void check_screen(const struct screen_lines *l, unsigned width, unsigned height)
{
	const char *s = l->text.s ? l->text.s : "", *end;
	unsigned lines = 0, i;
	size_t at = 0;
	char copy[4096], *safe;

	for (; *s; s = end + 1, lines++) {
		end = strchr(s, '\n');
		assert_non_null(end);
		assert_true((size_t)(end - s) < sizeof(copy));
		memcpy(copy, s, (size_t)(end - s));
		copy[end - s] = '\0';
		if (textout_columns(copy) > width)
			fail_msg("%u columns of %u: %s", textout_columns(copy), width, copy);
		safe = text_printable(copy);
		assert_string_equal(copy, safe);
		free(safe);
		if (end > s && end[-1] == ' ')
			fail_msg("blank at the end: %s", copy);
	}
	if (lines > height)
		fail_msg("%u lines of %u", lines, height);
	/*
	 * Each line is a sequence of runs of characters, and only newlines lie between the lines.
	 */
	for (i = 0, lines = 0; i < l->nruns; i++) {
		for (; at < l->runs[i].from; at++, lines++)
			assert_int_equal(l->text.s[at], '\n');
		assert_int_equal(l->runs[i].line, lines);
		assert_true(l->runs[i].to > l->runs[i].from);
		at = l->runs[i].to;
		assert_true(at <= l->text.len);
	}
}

static void draw(struct screen *s, unsigned width, unsigned height, struct screen_lines *l)
{
	assert_int_equal(screen_draw(s, width, height, l), 0);
	check_screen(l, width, height);
}

static void draw_golden(struct screen *s, unsigned width, unsigned height, const char *name)
{
	struct screen_lines l CLEANUP(screen_lines_free) = { 0 };

	draw(s, width, height, &l);
	golden_check("screen_", name, l.text.s);
}

static struct screen *screen_with(const struct screen_item *items, uint32_t n)
{
	struct screen *s = screen_new(false);

	assert_non_null(s);
	assert_int_equal(screen_set(s, &facts, items, n), 0);
	return s;
}

static void type(struct screen *s, const char *keys)
{
	for (; *keys; keys++)
		assert_true(screen_key(s, (uint8_t)*keys));
}

/* Return the row with this number (from 0) below the heading, or NULL. The caller frees it. */
static char *row_of(struct screen *s, unsigned n)
{
	struct screen_lines l = { 0 };
	char *line, *save = NULL, *found = NULL;
	bool rows = false;

	draw(s, 100, 30, &l);
	for (line = strtok_r(l.text.s, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (rows && !n--) {
			found = strdup(line);
			break;
		}
		rows |= strstr(line, "LOST/s") != NULL;
	}
	screen_lines_free(&l);
	return found;
}

static void assert_row(struct screen *s, unsigned n, const char *part)
{
	char *row CLEANUP_PTR(free) = row_of(s, n);

	if (!row || !strstr(row, part))
		fail_msg("row %u does not say \"%s\": %s", n, part, row ? row : "(none)");
}

/* --- tests ----------------------------------------------------------------------------------- */

static void test_sizes(void **state)
{
	struct screen_item items[NITEMS];
	struct screen *s CLEANUP_PTR(screen_free);

	fill(items);
	s = screen_with(items, NITEMS);
	draw_golden(s, 80, 24, "80x24");
	draw_golden(s, 100, 30, "100x30");
	draw_golden(s, 40, 10, "40x10");
	draw_golden(s, 140, 16, "140x16");
}

static void test_threads(void **state)
{
	struct screen_item items[NITEMS + NTHREADS];
	struct screen_facts f = facts;
	enum screen_kind kind;
	struct screen *s CLEANUP_PTR(screen_free);

	fill(items);
	s = screen_with(items, NITEMS);
	assert_int_equal(screen_opened(s, &kind), 0);
	assert_true(screen_key(s, SCREEN_DOWN));
	assert_true(screen_key(s, SCREEN_ENTER));
	assert_int_equal(screen_opened(s, &kind), 3);
	assert_int_equal(kind, SCREEN_BARRIER);
	fill_threads(items + NITEMS);
	f.why = "Late mostly because thread 3 had more work: 98 % of the lost time, in 980 of 1000 "
		"episodes";
	assert_int_equal(screen_set(s, &f, items, NITEMS + NTHREADS), 0);
	draw_golden(s, 80, 24, "threads_80x24");
	draw_golden(s, 40, 10, "threads_40x10");
	/* The late thread is in the first row. A key orders the rows by number instead. */
	assert_row(s, 0, "2 worker");
	type(s, "n");
	assert_row(s, 0, "0 render");
	assert_true(screen_key(s, SCREEN_ESCAPE));
	assert_int_equal(screen_opened(s, &kind), 0);
	assert_row(s, 1, "tile_loop");
}

static void test_opened_goes(void **state)
{
	struct screen_item items[NITEMS];
	struct screen_lines l CLEANUP(screen_lines_free) = { 0 };
	struct screen *s CLEANUP_PTR(screen_free);

	fill(items);
	s = screen_with(items, NITEMS);
	assert_true(screen_key(s, SCREEN_ENTER));
	assert_int_equal(screen_set(s, &facts, items, 3), 0);
	draw(s, 80, 24, &l);
	assert_says(l.text.s, "This row no longer exists.");
}

static void test_order(void **state)
{
	struct screen_item items[NITEMS];
	struct screen *s CLEANUP_PTR(screen_free);

	fill(items);
	s = screen_with(items, NITEMS);
	/*
	 * Rows are ordered by lost time: a process, then its barriers, with nested barriers last.
	 */
	assert_row(s, 0, "render (99)");
	assert_row(s, 1, "tile_loop");
	assert_row(s, 2, "(nested)");
	assert_row(s, 3, "stuck (1234567)");
	assert_row(s, 5, "lu (4711)");
	assert_row(s, 6, "lu.c:117");
	assert_row(s, 8, "done (55), exited");
	type(s, "r");
	assert_row(s, 0, "lu (4711)");
	type(s, "i");
	assert_row(s, 0, "render (99)");
	assert_row(s, 3, "lu (4711)");
	type(s, "w");
	assert_row(s, 0, "stuck (1234567)");
	type(s, "n");
	assert_row(s, 0, "done (55)");
	assert_row(s, 1, "lu (4711)");
	assert_row(s, 2, "lu lu.c:117");
	assert_row(s, 3, "slave_sort");
	type(s, "s");
	assert_row(s, 0, "render (99)");
	/* If processes have no rows of their own, each row names its process. */
	type(s, "t");
	assert_row(s, 0, "tile_loop tiles.c:88, render (99)");
	assert_row(s, 1, "wait_all");
	assert_row(s, 4, "nested");
}

static void test_filter(void **state)
{
	struct screen_item items[NITEMS];
	struct screen_lines l CLEANUP(screen_lines_free) = { 0 };
	struct screen *s CLEANUP_PTR(screen_free);
	char *row;

	fill(items);
	s = screen_with(items, NITEMS);
	type(s, "/RADIX");
	assert_row(s, 0, "lu (4711)");
	assert_row(s, 1, "slave_sort");
	draw(s, 80, 24, &l);
	assert_says(l.text.s, "filter: RADIX_");
	/* While a filter is typed, letters are not commands. */
	type(s, "q");
	row = row_of(s, 0);
	assert_non_null(row);
	assert_says(row, "No row matches the filter.");
	free(row);
	assert_true(screen_key(s, SCREEN_BACKSPACE));
	assert_row(s, 1, "slave_sort");
	assert_true(screen_key(s, SCREEN_ENTER));
	draw(s, 80, 24, &l);
	assert_says(l.text.s, "only: RADIX");
	assert_true(screen_key(s, SCREEN_ESCAPE));
	assert_row(s, 0, "render (99)");
	/* A filter can be typed exactly as the screen shows a row. */
	type(s, "/lu (4711)");
	assert_row(s, 0, "lu (4711)");
	assert_true(screen_key(s, SCREEN_ENTER));
	/*
	 * When the thread list is closed, its filter is dropped, and the filter of the list before
	 * applies again.
	 */
	assert_true(screen_key(s, SCREEN_ENTER));
	type(s, "/no such thread");
	assert_true(screen_key(s, SCREEN_ENTER));
	assert_true(screen_key(s, SCREEN_ESCAPE));
	draw(s, 80, 24, &l);
	assert_says(l.text.s, "only: lu (4711)");
	assert_row(s, 0, "lu (4711)");
	assert_true(screen_key(s, SCREEN_ESCAPE));
	/* Filter by the number of a process: all of its barriers are shown. */
	type(s, "/1234567");
	assert_row(s, 0, "stuck");
	assert_row(s, 1, "wait_all");
	assert_true(screen_key(s, SCREEN_ESCAPE));
	/* Multi-byte characters are deleted as one character. */
	type(s, "/");
	assert_true(screen_key(s, 0xe4));
	assert_true(screen_key(s, 0x20ac));
	assert_true(screen_key(s, 0x1f600));
	draw(s, 80, 24, &l);
	assert_says(l.text.s, "filter: ä€\xf0\x9f\x98\x80_");
	assert_true(screen_key(s, SCREEN_BACKSPACE));
	assert_true(screen_key(s, SCREEN_BACKSPACE));
	draw(s, 80, 24, &l);
	assert_says(l.text.s, "filter: ä_");
	assert_false(screen_key(s, SCREEN_ESCAPE) && !screen_key(s, 'k'));
	assert_false(screen_key(s, 'q'));
}

/* Keys act on the selected row, even after it moves. */
static void test_chosen_follows(void **state)
{
	struct screen_item items[NITEMS];
	enum screen_kind kind;
	struct screen *s CLEANUP_PTR(screen_free);

	fill(items);
	s = screen_with(items, NITEMS);
	type(s, "jjj");
	items[6].lost_ns = items[7].lost_ns = 9e9;
	assert_int_equal(screen_set(s, &facts, items, NITEMS), 0);
	assert_row(s, 0, "stuck");
	assert_true(screen_key(s, SCREEN_ENTER));
	assert_int_equal(screen_opened(s, &kind), P(3));
	assert_int_equal(kind, SCREEN_PROCESS);
	assert_true(screen_key(s, SCREEN_ESCAPE));
	/* This key selects the row that is now first. */
	type(s, "g");
	items[0].lost_ns = 99e9;
	assert_int_equal(screen_set(s, &facts, items, NITEMS), 0);
	assert_true(screen_key(s, SCREEN_ENTER));
	assert_int_equal(screen_opened(s, &kind), P(1));
}

static void test_scroll(void **state)
{
	struct screen_item items[60];
	struct screen_lines l CLEANUP(screen_lines_free) = { 0 };
	char names[60][16];
	struct screen *s CLEANUP_PTR(screen_free);

	for (uint32_t i = 0; i < 60; i++) {
		snprintf(names[i], sizeof(names[i]), "name-%02u", i);
		items[i] = process(i + 1, i + 1, names[i]);
		figures(&items[i], 1000 - i, 1, 0.5, 1, 2);
	}
	s = screen_with(items, 60);
	draw(s, 80, 24, &l);
	assert_lacks(l.text.s, "name-40");
	assert_true(screen_key(s, SCREEN_PAGE_DOWN));
	assert_true(screen_key(s, SCREEN_PAGE_DOWN));
	draw(s, 80, 24, &l);
	assert_says(l.text.s, "name-38");
	assert_true(screen_key(s, SCREEN_END));
	draw(s, 80, 24, &l);
	assert_says(l.text.s, "name-59");
	/* The table shrinks, and leaves no empty lines below it. */
	assert_int_equal(screen_set(s, &facts, items, 10), 0);
	draw(s, 80, 24, &l);
	assert_fields(&l.text, HAS(s, "name-09"), HAS(s, "name-00"));
	assert_true(screen_key(s, SCREEN_HOME));
	draw(s, 80, 6, &l);
	assert_says(l.text.s, "name-00");
}

static void test_hostile(void **state)
{
	static const char evil[] = "a\x1b[31m\n\xe2\x80\xae\xff%s%n;<b>";
	struct screen_item items[4];
	struct screen_facts f = facts;
	struct screen_lines l CLEANUP(screen_lines_free) = { 0 };
	struct buf plain = { 0 };
	struct screen *s CLEANUP_PTR(screen_free);

	items[0] = process(1, 1, evil);
	figures(&items[0], 10, 5, 0.5, 1, 2);
	blame(&items[0], evil, 1, evil, 0.5);
	items[1] = barrier(1, 1, 1, evil, evil);
	figures(&items[1], 10, 5, 0.5, 1, 2);
	blame(&items[1], evil, 1, evil, 0.5);
	items[2] = barrier(2, 1, 1, evil, "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字 x.c:1");
	figures(&items[2], 9, 5, 0.5, 1, 2);
	blame(&items[2], "3 ワーカー", 1, "more work", 0.5);
	items[3] = barrier(3, 1, 1, NULL, NULL);
	figures(&items[3], NAN, NAN, NAN, NAN, 0);
	f.what = f.alert = f.nothing = evil;
	s = screen_new(false);
	assert_non_null(s);
	assert_int_equal(screen_set(s, &f, items, 4), 0);
	for (unsigned width = 1; width < 140; width++)
		draw(s, width, 24, &l);
	draw_golden(s, 80, 12, "hostile_80x12");
	screen_plain(&f, items, 4, false, &plain);
	assert_null(strchr(plain.s, '\x1b'));
	assert_lacks(plain.s, "\xe2\x80\xae");
	buf_free(&plain);
	screen_free(s);
	/* Terminals that cannot show more get only ASCII. */
	s = screen_new(true);
	assert_non_null(s);
	assert_int_equal(screen_set(s, &f, items, 4), 0);
	draw(s, 80, 12, &l);
	for (unsigned width = 0; width < l.text.len; width++)
		assert_true((uint8_t)l.text.s[width] < 0x80);
}

/*
 * At all screen sizes and after all keys, no line is too wide, and there are no more lines than the
 * screen has.
 */
static void test_all_sizes(void **state)
{
	static const char keys[] = "?xjjt/ren\n\n st \n?";
	struct screen_item items[NITEMS + NTHREADS];
	struct screen_lines l CLEANUP(screen_lines_free) = { 0 };
	struct screen *s CLEANUP_PTR(screen_free);
	const char *k;

	fill(items);
	fill_threads(items + NITEMS);
	s = screen_with(items, NITEMS + NTHREADS);
	for (k = keys; *k; k++) {
		assert_true(screen_key(s, *k == '\n' ? SCREEN_ENTER : (uint32_t)*k));
		for (unsigned w = 1; w <= 130; w += w < 20 ? 1 : 9)
			for (unsigned h = 1; h <= 40; h += h < 12 ? 1 : 7)
				draw(s, w, h, &l);
	}
	assert_int_equal(screen_draw(s, 0, 0, &l), 0);
}

static void test_nothing(void **state)
{
	struct screen *s CLEANUP_PTR(screen_free) = screen_with(NULL, 0);
	struct buf plain CLEANUP(buf_free) = { 0 };

	draw_golden(s, 80, 24, "nothing_80x24");
	assert_true(screen_key(s, SCREEN_ENTER));
	assert_true(screen_key(s, SCREEN_DOWN));
	assert_true(screen_key(s, SCREEN_ESCAPE));
	assert_false(screen_key(s, 'q'));
	screen_plain(&facts, NULL, 0, false, &plain);
	assert_says(plain.s, "No barrier has been crossed yet on this machine.");
}

static void test_help(void **state)
{
	struct screen *s CLEANUP_PTR(screen_free) = screen_with(NULL, 0);

	type(s, "?");
	draw_golden(s, 80, 24, "help_80x24");
	type(s, "q");
	draw_golden(s, 80, 24, "nothing_80x24");
	assert_false(screen_paused(s));
	type(s, " ");
	assert_true(screen_paused(s));
}

static void test_plain(void **state)
{
	struct screen_item items[NITEMS];
	struct buf plain CLEANUP(buf_free) = { 0 };

	setenv("TZ", "UTC", 1);
	fill(items);
	screen_plain(&facts, items, NITEMS, false, &plain);
	golden_check("screen_", "plain", plain.s);
	/* A thread that has ended shows no activity. */
	assert_lacks(plain.s, "done");
}

static void test_alert(void **state)
{
	struct screen_item items[NITEMS];
	struct screen_facts f = facts;
	struct screen_lines l = { 0 };
	struct screen *s;
	unsigned i;

	fill(items);
	f.alert = "12 crossings were lost";
	s = screen_new(false);
	assert_non_null(s);
	assert_int_equal(screen_set(s, &f, items, NITEMS), 0);
	draw(s, 80, 24, &l);
	for (i = 0; i < l.nruns; i++)
		if (!strncmp(l.text.s + l.runs[i].from, f.alert, strlen(f.alert)))
			break;
	assert_true(i < l.nruns);
	assert_int_equal(l.runs[i].style, SCREEN_ALARM);
	screen_lines_free(&l);
	screen_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),	    cmocka_unit_test(test_threads),
		cmocka_unit_test(test_opened_goes), cmocka_unit_test(test_order),
		cmocka_unit_test(test_filter),	    cmocka_unit_test(test_chosen_follows),
		cmocka_unit_test(test_scroll),	    cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_all_sizes),   cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_help),	    cmocka_unit_test(test_plain),
		cmocka_unit_test(test_alert),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
