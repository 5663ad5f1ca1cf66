// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check the trace for the viewers of Chrome and Perfetto with an independent parser. */
#include "test_model_util.h"

#include <errno.h>
#include <jansson.h>
#include <unistd.h>

#include "emit/chrome.h"
#include "test_emit_data.h"

#define A     0x1000
#define B     0x2000
#define START 5000

/* --- a run, from crossings to the file ------------------------------------------------------- */

struct drawn {
	struct model *model;
	struct chrome *chrome;
	char *text;
	size_t size;
	FILE *file;
	uint32_t seq[256];
	uint64_t work_ns, wait_ns, leave_ns; /* sums from the model */
	uint32_t arrows;
};

static const struct site_name *env_site(void *ctx, uint32_t site)
{
	static const struct site_frame frames[] = { { DATA_HOSTILE, "/x/\"<b>.c", 41, 0 },
						    { "solve", "/x/solve.c", 7, 0 } };
	static const struct site_name names[] = {
		{ 1, &frames[0], "/x/a", 16, NULL, NULL, NULL, 0 },
		{ 1, &frames[1], "/x/a", 32, NULL, NULL, NULL, 0 }
	};

	return &names[site % 2];
}

static const char *const counter_names[] = { "cycles", DATA_HOSTILE };
static const struct report_env env = {
	.site = env_site,
	.ncounters = 2,
	.counters = counter_names,
};

static void sum_episode(struct drawn *d, const struct model_episode *e)
{
	if (e->nested)
		return;
	for (uint32_t i = 0; i < e->n; i++) {
		const struct model_member *m = &e->members[i];

		if (m->work_ns != MODEL_UNKNOWN)
			d->work_ns += m->work_ns;
		if (e->state == MODEL_INCOMPLETE)
			continue;
		d->wait_ns += m->wait_ns;
		if (m->depart_ns != MODEL_UNKNOWN)
			d->leave_ns += m->depart_ns - m->arrive_ns - m->wait_ns;
		d->arrows += i + 1 < e->n && m->depart_ns > e->release_ns &&
			     m->depart_ns != MODEL_UNKNOWN;
	}
}

static void draw_episode(void *ctx, const struct model *model, const struct model_episode *e)
{
	struct drawn *d = ctx;

	sum_episode(d, e);
	assert_int_equal(chrome_episode(d->chrome, model, e), 0);
}

static void begin(struct drawn *d, uint64_t lean)
{
	struct model_ops ops = { .ctx = d, .episode = draw_episode };

	*d = (struct drawn){ 0 };
	d->file = open_memstream(&d->text, &d->size);
	assert_non_null(d->file);
	d->model = model_new(&ops, START);
	assert_non_null(d->model);
	assert_int_equal(chrome_begin(&d->chrome, d->file, &env, START, lean), 0);
	assert_int_equal(model_add_process(d->model, PID, INC, 0, 0, START, true, DATA_HOSTILE), 0);
}

/*
 * Let @tid work until @arrive and cross. 60 % of the work is on a CPU, 10 % in the run queue and 20
 * % at a lock. The rest is unattributed.
 */
static void meet(struct drawn *d, uint32_t tid, uint64_t object, uint32_t count, uint64_t arrive,
		 uint64_t depart, uint64_t work)
{
	struct model_detail detail = { .oncpu_ns = work * 6 / 10,
				       .runq_ns = work / 10,
				       .blocked_ns = { [MODEL_BLOCKED_LOCK] = work * 2 / 10 },
				       .ncounters = 2,
				       .unknown = 2,
				       .counters = { work * 3, 0 } };
	struct model_crossing c = crossing(tid, object, count, arrive, depart);

	c.site = object == A ? 0 : 1;
	c.seq = ++d->seq[tid];
	c.flags |= MODEL_CROSSING_ACCOUNTED;
	c.detail = &detail;
	assert_int_equal(model_add_crossing(d->model, &c), 0);
}

static json_t *end(struct drawn *d, uint64_t end_ns)
{
	json_error_t error;
	json_t *o;

	assert_int_equal(model_finish(d->model, end_ns), 0);
	assert_int_equal(chrome_end(d->chrome, d->model, end_ns), 0);
	fclose(d->file);
	o = json_loadb(d->text, d->size, JSON_REJECT_DUPLICATES, &error);
	if (!o)
		fail_msg("%s at %d: %.80s", error.text, error.position,
			 d->text + (error.position > 60 ? error.position - 60 : 0));
	return o;
}

static void drop(struct drawn *d, json_t *o)
{
	json_decref(o);
	model_free(d->model);
	free(d->text);
}

/* --- properties of every trace ---------------------------------------------------------------- */

static const char *word(json_t *e, const char *key)
{
	const char *s = json_string_value(json_object_get(e, key));

	return s ? s : "";
}

static uint64_t number(json_t *e, const char *key)
{
	json_t *v = json_object_get(e, key);

	if (!json_is_number(v))
		fail_msg("%s is no number", key);
	/* The values are microseconds with three decimals. */
	return (uint64_t)(json_number_value(v) * 1000 + 0.5);
}

/*
 * Pair begins and ends. Slices on a track nest in the order of the file. Readers keep this order
 * for equal times. Each begin becomes a slice ("X") with a length.
 */
static void pair(json_t *events)
{
	json_t *open[256] = { NULL }, *e, **last;
	uint64_t ns;
	size_t i;

	json_array_foreach(events, i, e)
	{
		last = &open[json_integer_value(json_object_get(e, "tid")) % 256];
		if (!strcmp(word(e, "ph"), "B")) {
			assert_null(*last);
			*last = e;
		} else if (!strcmp(word(e, "ph"), "E")) {
			assert_non_null(*last);
			assert_true(number(e, "ts") >= number(*last, "ts"));
			ns = number(e, "ts") - number(*last, "ts");
			json_object_set_new(*last, "dur", json_real((double)ns / 1000));
			json_object_set_new(*last, "ph", json_string("X"));
			*last = NULL;
		}
	}
	for (i = 0; i < 256; i++)
		assert_null(open[i]);
}

/* Check that no two slices of a track overlap, and that each lies within the trace. */
static void check_slices(json_t *events, uint64_t end_ns)
{
	json_t *a, *b;
	size_t i, j;

	json_array_foreach(events, i, a)
	{
		if (strcmp(word(a, "ph"), "X") != 0)
			continue;
		assert_true(number(a, "ts") + number(a, "dur") <= end_ns - START);
		assert_true(json_number_value(json_object_get(a, "ts")) >= 0);
		json_array_foreach(events, j, b)
		{
			if (j <= i || strcmp(word(b, "ph"), "X") != 0 ||
			    number(a, "tid") != number(b, "tid"))
				continue;
			if (number(a, "ts") + number(a, "dur") > number(b, "ts") &&
			    number(b, "ts") + number(b, "dur") > number(a, "ts"))
				fail_msg("%s and %s overlap", word(a, "name"), word(b, "name"));
		}
	}
}

/*
 * Return the number of slices of a thread that begin at @ts and last longer than 0. @tid is the
 * thread's number times 1000, because number() returns all numbers times 1000.
 */
static unsigned slices_at(json_t *events, uint64_t tid, uint64_t ts)
{
	unsigned n = 0;
	json_t *e;
	size_t i;

	json_array_foreach(events, i, e)
	{
		n += !strcmp(word(e, "ph"), "X") && number(e, "tid") == tid &&
		     number(e, "ts") == ts && number(e, "dur") > 0;
	}
	return n;
}

/*
 * Check that every arrow has one start and one end, each at the start of a slice, and that no arrow
 * goes back in time.
 */
static uint32_t check_arrows(json_t *events)
{
	json_t *s, *f;
	uint32_t n = 0, ends;
	size_t i, j;

	json_array_foreach(events, i, s)
	{
		if (!strcmp(word(s, "ph"), "f"))
			assert_string_equal(word(s, "bp"), "e");
		if (strcmp(word(s, "ph"), "s") != 0)
			continue;
		ends = 0;
		json_array_foreach(events, j, f)
		{
			if (strcmp(word(f, "ph"), "f") != 0 || number(f, "id") != number(s, "id"))
				continue;
			ends++;
			assert_true(number(f, "ts") >= number(s, "ts"));
			assert_int_equal(slices_at(events, number(f, "tid"), number(f, "ts")), 1);
		}
		assert_int_equal(ends, 1);
		assert_int_equal(slices_at(events, number(s, "tid"), number(s, "ts")), 1);
		n++;
	}
	return n;
}

static uint64_t sum_of(json_t *events, const char *cat)
{
	uint64_t sum = 0;
	json_t *e;
	size_t i;

	json_array_foreach(events, i, e)
	{
		if (!strcmp(word(e, "ph"), "X") && !strcmp(word(e, "cat"), cat) &&
		    strcmp(word(e, "name"), "after the last barrier") != 0)
			sum += number(e, "dur");
	}
	return sum;
}

static json_t *find(json_t *events, const char *ph, const char *cat, uint64_t tid)
{
	json_t *e;
	size_t i;

	json_array_foreach(events, i, e)
	{
		if (!strcmp(word(e, "ph"), ph) && !strcmp(word(e, "cat"), cat) &&
		    number(e, "tid") == tid * 1000)
			return e;
	}
	fail_msg("no %s of %s", cat, ph);
	return NULL;
}

/* --- tests ----------------------------------------------------------------------------------- */

static void test_two_threads(void **state)
{
	struct drawn d;
	json_t *o, *events, *e, *args;

	begin(&d, CHROME_LEAN);
	/* Thread 102 arrives last at A, thread 101 at B. */
	meet(&d, 101, A, 2, START + 1000, START + 4100, 1000);
	meet(&d, 102, A, 2, START + 4001, START + 4050, 4001);
	meet(&d, 101, B, 2, START + 9000, START + 9010, 4900);
	meet(&d, 102, B, 2, START + 5050, START + 9040, 1000);
	assert_int_equal(model_advance(d.model, START + 10000), 0);
	o = end(&d, START + 12345);
	events = json_object_get(o, "traceEvents");
	pair(events);
	check_slices(events, START + 12345);
	assert_int_equal(check_arrows(events), 2);
	assert_int_equal(d.arrows, 2);
	assert_int_equal(sum_of(events, "work"), 1000 + 4001 + 4900 + 1000);
	assert_int_equal(sum_of(events, "wait"), 3001 + 3950);
	assert_int_equal(sum_of(events, "leave"), 99 + 49 + 10 + 40);
	assert_fields(&d, IS(work_ns, sum_of(events, "work")), IS(wait_ns, sum_of(events, "wait")),
		      IS(leave_ns, sum_of(events, "leave")));

	e = find(events, "X", "wait", 101);
	assert_int_equal(number(e, "ts"), 1000);
	assert_int_equal(number(e, "dur"), 3001);
	e = find(events, "X", "leave", 101);
	assert_int_equal(number(e, "ts"), 4001);
	e = find(events, "X", "work", 102);
	assert_int_equal(number(e, "ts"), 0);
	args = json_object_get(e, "args");
	assert_int_equal(json_integer_value(json_object_get(args, "phase")), 0);
	assert_int_equal(json_integer_value(json_object_get(args, "oncpu_ns")), 2400);
	assert_int_equal(json_integer_value(json_object_get(args, "runq_ns")), 400);
	assert_int_equal(json_integer_value(json_object_get(args, "blocked_lock_ns")), 800);
	assert_int_equal(json_integer_value(json_object_get(args, "unattributed_ns")), 401);
	assert_null(json_object_get(args, "blocked_io_ns"));
	assert_int_equal(json_integer_value(json_object_get(args, "cycles")), 12003);
	/* An unknown counter is null. */
	assert_int_equal(json_object_size(args), 7);
	drop(&d, o);
}

/*
 * The traced program chooses the names of processes, threads, barriers and counters. The names may
 * contain anything.
 */
static void test_names(void **state)
{
	struct drawn d;
	json_t *o, *events, *e;
	unsigned named = 0;
	size_t i;

	begin(&d, CHROME_LEAN);
	meet(&d, 101, A, 2, START + 1000, START + 4100, 1000);
	meet(&d, 102, A, 2, START + 4001, START + 4050, 4001);
	assert_int_equal(model_name_thread(d.model, PID, INC, 101, DATA_HOSTILE), 0);
	o = end(&d, START + 5000);
	events = json_object_get(o, "traceEvents");
	pair(events);
	json_array_foreach(events, i, e)
	{
		named += !strcmp(word(e, "name"), "thread_name") ||
			 !strcmp(word(e, "name"), "process_name");
	}
	assert_int_equal(named, 3);
	assert_fields(&d, LACKS(text, "</"), LACKS(text, "<!"));
	for (i = 0; i < d.size; i++)
		assert_true((unsigned char)d.text[i] >= 0x20 || d.text[i] == '\n');
	e = find(events, "X", "work", 101);
	assert_int_equal(strncmp(word(e, "name"), "work to ", 8), 0);
	drop(&d, o);
}

/*
 * Unknown times are not drawn: no arrow to an unseen departure, and no wait if a thread is missing.
 */
static void test_unknown(void **state)
{
	struct model_crossing c;
	struct drawn d;
	json_t *o, *events, *e;
	unsigned leaves = 0, inside = 0;
	size_t i;

	begin(&d, CHROME_LEAN);
	/* The worker 101 stays, and the other threads leave. */
	c = crossing(101, A, 3, START + 1000, NEVER);
	c.flags = MODEL_CROSSING_STAYS;
	c.seq = ++d.seq[101];
	assert_int_equal(model_add_crossing(d.model, &c), 0);
	meet(&d, 102, A, 3, START + 2000, START + 3100, 2000);
	meet(&d, 103, A, 3, START + 3000, START + 3050, 3000);
	/* One of three threads never arrives. */
	meet(&d, 102, B, 3, START + 4000, START + 4500, 900);
	meet(&d, 103, B, 3, START + 4200, START + 4500, 1150);
	assert_int_equal(model_add_pending(d.model, PID, INC, 103, A, START + 6000), 0);
	o = end(&d, START + 8000);
	events = json_object_get(o, "traceEvents");
	pair(events);
	check_slices(events, START + 8000);
	assert_int_equal(check_arrows(events), d.arrows);
	assert_int_equal(d.arrows, 1);
	json_array_foreach(events, i, e)
	{
		leaves += !strcmp(word(e, "cat"), "leave");
		inside += !strcmp(word(e, "cat"), "inside");
	}
	assert_int_equal(leaves, 2);
	assert_int_equal(inside, 2);
	assert_int_equal(sum_of(events, "wait"), 2000 + 1000 + /* to the end */ 2000);
	drop(&d, o);
}

/*
 * Above a limit of crossings, counters are omitted. Above three times the limit, many crossings
 * become one slice. Sums stay the same.
 */
static void test_thinned(void **state)
{
	struct chrome_thinned thinned;
	uint64_t t = START, n = 0, work = 0;
	unsigned many = 0, i;
	struct drawn d;
	json_t *o, *events, *e, *meta;

	begin(&d, 20000);
	assert_false(chrome_thinned(d.chrome, &thinned));
	for (i = 0; i < 1000; i++, t += 3000) {
		meet(&d, 101, A, 2, t + 1000, t + 2100, i ? 1900 : 1000);
		meet(&d, 102, A, 2, t + 2000, t + 2100, i ? 2900 : 2000);
		assert_int_equal(model_advance(d.model, t + 2200), 0);
	}
	assert_true(chrome_thinned(d.chrome, &thinned));
	assert_true(thinned.lean_ns > 0 && thinned.together_ns > thinned.lean_ns);
	o = end(&d, t);
	assert_true(d.size < 150000);
	events = json_object_get(o, "traceEvents");
	pair(events);
	check_slices(events, t);
	json_array_foreach(events, i, e)
	{
		if (!strcmp(word(e, "ph"), "C"))
			assert_true(number(e, "ts") < thinned.lean_ns + 3000);
		if (strcmp(word(e, "ph"), "X") != 0 || strcmp(word(e, "cat"), "many") != 0)
			continue;
		many++;
		n += strtoul(word(e, "name"), NULL, 10);
		work += (uint64_t)json_integer_value(
			json_object_get(json_object_get(e, "args"), "work_ns"));
	}
	assert_true(many > 4);
	assert_int_equal(work + sum_of(events, "work"), d.work_ns);
	meta = json_object_get(o, "metadata");
	assert_int_equal(json_integer_value(json_object_get(meta, "crossings_together")), n);
	drop(&d, o);
}

/* Even with impossible times, the file can be opened. */
static void test_corrupt(void **state)
{
	struct model_member m[2] = { { .thread = 0, .tid = 101, .site = 0 },
				     { .thread = 1, .tid = 102, .site = 0 } };
	struct model_episode e = { .n = 2, .members = m, .phase_from = MODEL_NONE };
	struct drawn d;
	json_t *o, *events;
	uint64_t x = 88172645463325252ULL;

	begin(&d, CHROME_LEAN);
	meet(&d, 101, A, 2, START + 1, START + 3, 1);
	meet(&d, 102, A, 2, START + 2, START + 4, 2);
	assert_int_equal(model_advance(d.model, START + 100), 0);
	for (unsigned i = 0; i < 200; i++) {
		for (unsigned k = 0; k < 2; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			m[k].arrive_ns = START + x % 5000;
			m[k].work_ns = x >> 20 & 1 ? MODEL_UNKNOWN : (x >> 32) % 6000;
			m[k].wait_ns = (x >> 40) % 2000;
			m[k].depart_ns = START + (x >> 24) % 9000;
		}
		e.state = x >> 50 & 1 ? MODEL_COMPLETE : MODEL_INCOMPLETE;
		e.nested = !(x >> 51 & 7);
		assert_int_equal(chrome_episode(d.chrome, d.model, &e), 0);
	}
	o = end(&d, START + 20000);
	events = json_object_get(o, "traceEvents");
	pair(events);
	check_slices(events, START + 20000);
	assert_true(json_integer_value(
			    json_object_get(json_object_get(o, "metadata"), "slices_cut")) > 0);
	drop(&d, o);
}

static void test_full(void **state)
{
	struct drawn d;
	struct model_member m = { .tid = 101, .arrive_ns = START + 5, .depart_ns = START + 9 };
	struct model_episode e = { .n = 1, .members = &m, .phase_from = MODEL_NONE };
	FILE *full = fopen("/dev/full", "w");
	struct chrome *c;
	int err = 0;

	assert_non_null(full);
	begin(&d, CHROME_LEAN);
	meet(&d, 101, A, 1, START + 1, START + 3, 1);
	assert_int_equal(model_advance(d.model, START + 100), 0);
	assert_int_equal(chrome_begin(&c, full, &env, START, CHROME_LEAN), 0);
	for (int i = 0; i < 1000 && !err; i++) {
		m.arrive_ns += 10;
		m.depart_ns += 10;
		err = chrome_episode(c, d.model, &e);
	}
	assert_int_equal(err, -ENOSPC);
	assert_int_equal(chrome_end(c, d.model, START + 10), -ENOSPC);
	fclose(full);
	drop(&d, end(&d, START + 200));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_threads), cmocka_unit_test(test_names),
		cmocka_unit_test(test_unknown),	    cmocka_unit_test(test_corrupt),
		cmocka_unit_test(test_thinned),	    cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
