// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check the data of the HTML report with an independent parser. tests/e2e/test_pictures.py checks
 * how a browser shows it.
 */
#include "test_model_util.h"

#include <errno.h>
#include <jansson.h>

#include "emit/grid.h"
#include "emit/html.h"
#include "test_emit_data.h"

#define A     0x1000
#define B     0x2000
#define START 5000

struct page {
	struct model *model;
	struct html *html;
	char *text;
	size_t size;
	FILE *file;
	uint32_t seq[256];
};

static const struct site_name *env_site(void *ctx, uint32_t site)
{
	static const struct site_frame frame = { DATA_HOSTILE, "/x/\"<b>.c", 41, 0 };
	static const struct site_name name = { 1, &frame, "/x/a", 16, NULL, NULL, NULL, 0 };

	return &name;
}

static const struct report_env env = { .site = env_site,
				       .crossing_cost_ns = NAN,
				       .tracer_cpu_ns = REPORT_UNKNOWN };

static void draw_episode(void *ctx, const struct model *model, const struct model_episode *e)
{
	struct page *p = ctx;

	assert_int_equal(html_episode(p->html, model, e), 0);
}

/* A build without the charting library reports that it has none, and the test ends. */
static void test_available(void **state)
{
	const struct html_options options = { .start_ns = START };
	struct html *h;
	int err = html_begin(&h, stdout, &options);

	assert_int_equal(err, html_available() ? 0 : -ENOSYS);
	assert_int_equal(h != NULL, html_available());
	assert_says(html_missing(), "built without the charting library");
	if (h)
		assert_int_equal(html_end(h, NULL, NULL, NULL, 0, NULL, 0), 0);
}

static void begin(struct page *p, FILE *file)
{
	const struct html_options options = { .title = DATA_HOSTILE, .start_ns = START };
	struct model_ops ops = { .ctx = p, .episode = draw_episode };

	*p = (struct page){ 0 };
	p->file = file ? file : open_memstream(&p->text, &p->size);
	assert_non_null(p->file);
	p->model = model_new(&ops, START);
	assert_non_null(p->model);
	assert_int_equal(html_begin(&p->html, p->file, &options), 0);
	assert_int_equal(model_add_process(p->model, PID, INC, 0, 0, START, true, DATA_HOSTILE), 0);
}

static void meet(struct page *p, uint32_t tid, uint64_t object, uint32_t count, uint64_t arrive,
		 uint64_t depart)
{
	struct model_crossing c = crossing(tid, object, count, arrive, depart);

	c.site = object == A;
	c.seq = ++p->seq[tid];
	assert_int_equal(model_add_crossing(p->model, &c), 0);
}

static int finish(struct page *p, uint64_t end_ns)
{
	struct report_env at = env;
	struct html_run other = { .name = "other" };
	const struct html_point points[] = { { 1, 4000, 1 }, { 2, REPORT_UNKNOWN, NAN } };
	const struct html_curve curve = { DATA_HOSTILE, true, 2, points };
	struct report report;
	int err;

	at.end_ns = end_ns;
	assert_int_equal(model_finish(p->model, end_ns), 0);
	assert_int_equal(report_build(p->model, &at, &report), 0);
	other.report = &report;
	err = html_end(p->html, p->model, &report, &other, 1, &curve, 1);
	report_free(&report);
	model_free(p->model);
	fclose(p->file);
	return err;
}

/*
 * Return the data between the tags of the page's script element. Nothing in the data may end the
 * element.
 */
static json_t *data_of(const struct page *p)
{
	static const char tag[] = "<script type=\"application/json\" id=\"data\">";
	const char *from = strstr(p->text, tag), *to;
	json_error_t error;
	json_t *o;

	assert_non_null(from);
	from += strlen(tag);
	to = strchr(from, '<');
	assert_int_equal(strncmp(to, "</script>", 9), 0);
	o = json_loadb(from, (size_t)(to - from), JSON_REJECT_DUPLICATES, &error);
	if (!o)
		fail_msg("%s at %d", error.text, error.position);
	return o;
}

static int digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	return (int)(strchr(digits, c) - digits);
}

/* Decode base64; the caller frees the result. */
static uint8_t *bytes_of(json_t *s, size_t *n)
{
	const char *in = json_string_value(s);
	size_t len = strlen(in), i;
	uint8_t *out = malloc(len + 4);
	uint32_t v;

	assert_int_equal(len % 4, 0);
	*n = 0;
	for (i = 0; i < len; i += 4) {
		v = (uint32_t)digit(in[i]) << 18 | (uint32_t)digit(in[i + 1]) << 12;
		v |= in[i + 2] == '=' ? 0 : (uint32_t)digit(in[i + 2]) << 6;
		v |= in[i + 3] == '=' ? 0 : (uint32_t)digit(in[i + 3]);
		out[(*n)++] = v >> 16;
		if (in[i + 2] != '=')
			out[(*n)++] = v >> 8;
		if (in[i + 3] != '=')
			out[(*n)++] = v;
	}
	return out;
}

static json_t *at(json_t *o, const char *key)
{
	json_t *v = json_object_get(o, key);

	if (!v)
		fail_msg("no %s", key);
	return v;
}

/*
 * Return a lane's total share of @kind over all buckets, in buckets. Each share is stored in 1/255.
 */
static double share(json_t *timeline, size_t lane, unsigned kind)
{
	json_t *l = json_array_get(at(timeline, "lanes"), lane);
	size_t n, buckets = (size_t)json_integer_value(at(timeline, "n")), i;
	uint8_t *b = bytes_of(at(l, "shares"), &n);
	double sum = 0;

	assert_int_equal(n, buckets * GRID_KINDS);
	for (i = 0; i < buckets; i++)
		sum += b[kind * buckets + i];
	free(b);
	return sum / 255;
}

static void test_data(void **state)
{
	json_t *o, *timeline, *each, *series;
	double *crossings;
	float *points;
	struct page p;
	size_t n;

	if (!html_available())
		skip();
	begin(&p, NULL);
	meet(&p, 101, A, 2, START + 10000, START + 40100);
	meet(&p, 102, A, 2, START + 40000, START + 40500);
	meet(&p, 102, B, 2, START + 50500, START + 90700);
	meet(&p, 101, B, 2, START + 90000, START + 91000);
	assert_int_equal(finish(&p, START + 120000), 0);
	o = data_of(&p);
	assert_int_equal(json_integer_value(at(o, "elapsed_ns")), 120000);
	assert_int_equal(json_integer_value(at(o, "episodes")), 2);
	assert_int_equal(json_integer_value(at(o, "crossings")), 4);
	assert_int_equal(json_array_size(at(o, "runs")), 2);
	assert_int_equal(json_array_size(at(o, "curves")), 1);

	timeline = at(o, "timeline");
	assert_int_equal(json_integer_value(at(timeline, "bucket_ns")), GRID_FIRST_NS);
	assert_int_equal(json_array_size(at(timeline, "lanes")), 2);
	/*
	 * Thread 101 works for 10 us, waits for 30 us, works for 49.9 us, and works for 29 us after
	 * the last barrier.
	 */
	assert_true(fabs(share(timeline, 0, GRID_WORK) - 88.9) < 0.1);
	assert_true(fabs(share(timeline, 0, GRID_WAIT) - 30) < 0.1);
	assert_true(fabs(share(timeline, 0, GRID_LEAVE) - 1.1) < 0.1);
	assert_true(fabs(share(timeline, 1, GRID_WAIT) - 39.5) < 0.1);

	each = at(timeline, "each");
	crossings = (double *)(void *)bytes_of(at(each, "crossings"), &n);
	assert_int_equal(n, 4 * 7 * sizeof(double));
	/* The columns are lane, episode, kind, arrival, work, wait and departure. */
	assert_true(crossings[0] == 0 && crossings[1] == 0 && crossings[2] == GRID_WAIT);
	assert_true(crossings[3] == 10000 && crossings[4] == 10000 && crossings[5] == 30000 &&
		    crossings[6] == 40100);
	free(crossings);

	series = at(at(timeline, "series"), "barriers");
	assert_int_equal(json_array_size(series), 2);
	points = (float *)(void *)bytes_of(at(json_array_get(series, 0), "phase"), &n);
	/*
	 * Each bucket has four numbers: smallest value, mean, largest value and count. Those of
	 * bucket 40 begin at index 160.
	 */
	assert_true(points[160] == 40000 && points[161] == 40000 && points[162] == 40000 &&
		    points[163] == 1);
	assert_true(points[3] == 0);
	free(points);
	json_decref(o);
	free(p.text);
}

/* There are too many crossings to store each one. */
static void test_many(void **state)
{
	struct page p;
	uint64_t t = START;
	json_t *o, *timeline;

	if (!html_available())
		skip();
	begin(&p, NULL);
	for (uint64_t k = 0; k < 40000; k++) {
		meet(&p, 101, A, 2, t + 100, t + 410);
		meet(&p, 102, A, 2, t + 400, t + 420);
		t += 500;
		assert_int_equal(model_advance(p.model, t), 0);
	}
	assert_int_equal(finish(&p, t), 0);
	o = data_of(&p);
	timeline = at(o, "timeline");
	assert_true(json_is_null(at(timeline, "each")));
	assert_int_equal(json_integer_value(at(timeline, "bucket_ns")), 2000);
	/* 300 of 500 ns are waiting time. */
	assert_true(fabs(share(timeline, 0, GRID_WAIT) / 10000 - 0.6) < 0.01);
	json_decref(o);
	free(p.text);
}

static void test_hostile(void **state)
{
	unsigned scripts = 0;
	struct page p;
	const char *c;

	if (!html_available())
		skip();
	begin(&p, NULL);
	meet(&p, 101, A, 2, START + 10000, START + 40100);
	meet(&p, 102, A, 2, START + 40000, START + 40500);
	assert_int_equal(model_name_thread(p.model, PID, INC, 101, "</script>"), 0);
	assert_int_equal(finish(&p, START + 50000), 0);
	json_decref(data_of(&p));
	for (c = p.text; (c = strstr(c, "</script>")); c++)
		scripts++;
	assert_int_equal(scripts, 3);
	assert_lacks(p.text, "alert(1)</");
	/* The page loads nothing from other hosts, and contains the licence. */
	assert_fields(&p, LACKS(text, " src="), HAS(text, "default-src 'none'"),
		      HAS(text, "Permission is hereby granted"));
	free(p.text);
}

static void test_full(void **state)
{
	struct page p;
	FILE *full;

	if (!html_available())
		skip();
	full = fopen("/dev/full", "w");
	assert_non_null(full);
	begin(&p, full);
	meet(&p, 101, A, 1, START + 10, START + 20);
	assert_int_equal(finish(&p, START + 50), -ENOSPC);
}

/* If the page is cancelled, nothing is written, and no file is left behind. */
static void test_given_up(void **state)
{
	struct page p;

	if (!html_available())
		skip();
	begin(&p, NULL);
	meet(&p, 101, A, 1, START + 10, START + 20);
	assert_int_equal(html_end(p.html, p.model, NULL, NULL, 0, NULL, 0), 0);
	/* Unset the page first, because model_free() would draw the remaining episodes. */
	p.html = NULL;
	model_free(p.model);
	fclose(p.file);
	assert_int_equal(p.size, 0);
	free(p.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_available), cmocka_unit_test(test_data),
		cmocka_unit_test(test_many),	  cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_full),	  cmocka_unit_test(test_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
