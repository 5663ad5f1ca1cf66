// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Write pictures of a constructed run for their tests: made EPISODES THREADS HTML|- CHROME|-
 * [hostile|LIMIT]. Threads cross two barriers alternately. Thread t works 1000 * (t + 1) ns before
 * the first and 500 ns before the second, and all threads leave 100 ns after the last arrival.
 * Every figure of the page can be worked out from these numbers.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit/chrome.h"
#include "emit/html.h"

#define PID 4242
#define HOSTILE       \
	"<img src=x " \
	"onerror=\"window.hit=1\"></script><script>window.hit=1</script>\xe2\x80\xae\x1b[31m"

static bool hostile;
static struct html *html;
static struct chrome *chrome;

static const struct site_name *env_site(void *ctx, uint32_t site)
{
	static const struct site_frame frames[] = { { "first", "a.c", 11, 0 },
						    { "second", "a.c", 22, 0 },
						    { HOSTILE, HOSTILE, 11, 0 },
						    { HOSTILE "2", HOSTILE, 22, 0 } };
	static const struct site_name names[] = {
		{ 1, &frames[0], "/a", 1, NULL, NULL, NULL, false, 0 },
		{ 1, &frames[1], "/a", 2, NULL, NULL, NULL, false, 0 },
		{ 1, &frames[2], "/a", 1, NULL, NULL, NULL, false, 0 },
		{ 1, &frames[3], "/a", 2, NULL, NULL, NULL, false, 0 },
	};

	(void)ctx;
	return &names[site + (hostile ? 2 : 0)];
}

static void check(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "made: %s: %s\n", what, strerror(-err));
	exit(1);
}

static void episode(void *ctx, const struct model *model, const struct model_episode *e)
{
	(void)ctx;
	if (html)
		check(html_episode(html, model, e), "html_episode");
	if (chrome)
		check(chrome_episode(chrome, model, e), "chrome_episode");
}

static void cross(struct model *model, uint32_t t, uint32_t threads, uint64_t k, uint64_t start,
		  uint64_t release)
{
	uint64_t work = k % 2 ? 500 : 1000 * (t + 1);
	struct model_detail detail = { .oncpu_ns = work - work / 10,
				       .runq_ns = work / 10,
				       .ncounters = 1,
				       .counters = { 3 * work } };
	struct model_crossing c = { .tgid = PID,
				    .inc = 1,
				    .tid = PID + t,
				    .seq = (uint32_t)k + 1,
				    .site = k % 2,
				    .count = threads,
				    .object = 0x1000 + k % 2,
				    .arrive_ns = start + work,
				    .depart_ns = release + 100,
				    .family = 1,
				    .flags = MODEL_CROSSING_ACCOUNTED,
				    .detail = &detail };

	check(model_add_crossing(model, &c), "model_add_crossing");
}

/* Run the model, and return the time at which the last thread ended. */
static uint64_t run(struct model *model, uint64_t episodes, uint32_t threads)
{
	uint64_t now = 1000, release, k;
	uint32_t t;

	check(model_add_process(model, PID, 1, 0, 0, now, true, hostile ? HOSTILE : "made"),
	      "model_add_process");
	for (t = 1; t < threads; t++)
		check(model_add_thread(model, PID, 1, PID + t, now), "model_add_thread");
	for (k = 0; k < episodes; k++) {
		release = now + (k % 2 ? 500 : 1000ULL * threads);
		for (t = 0; t < threads; t++)
			cross(model, t, threads, k, now, release);
		now = release + 100;
		check(model_advance(model, now), "model_advance");
	}
	for (t = 0; t < threads; t++)
		check(model_name_thread(model, PID, 1, PID + t, hostile ? HOSTILE : "worker"),
		      "model_name_thread");
	return now;
}

static FILE *file_of(const char *path)
{
	FILE *f = strcmp(path, "-") != 0 ? fopen(path, "w") : NULL;

	if (!f && strcmp(path, "-") != 0) {
		perror(path);
		exit(1);
	}
	return f;
}

int main(int argc, char **argv)
{
	static const char *counters[] = { "cycles" };
	const struct report_env env = { .site = env_site,
					.ncounters = 1,
					.counters = counters,
					.crossing_cost_ns = NAN,
					.tracer_cpu_ns = REPORT_UNKNOWN };
	const struct html_point measured[] = { { 1, 4000000, 1 },
					       { 2, 2100000, 1.9 },
					       { 4, 1300000, 3.1 } };
	const struct html_point predicted[] = {
		{ 1, 4000000, 1 }, { 2, 2000000, 2 }, { 4, 1100000, 3.6 }, { 8, 700000, 5.7 }
	};
	const struct model_ops ops = { .episode = episode };
	struct html_options options = { .start_ns = 1000, .env = &env };
	struct html_curve curves[] = { { "measured", false, 3, measured },
				       { "predicted", true, 4, predicted } };
	struct html_run other = { .name = "the same again" };
	struct report_env at = env;
	struct report report;
	struct model *model;
	FILE *page, *trace;

	if (argc < 5)
		return 2;
	hostile = argc > 5 && !strcmp(argv[5], "hostile");
	if (hostile) {
		counters[0] = HOSTILE;
		options.title = other.name = curves[1].name = HOSTILE;
	}
	model = model_new(&ops, 1000);
	page = file_of(argv[3]);
	trace = file_of(argv[4]);
	if (page)
		check(html_begin(&html, page, &options), html_missing());
	if (trace)
		check(chrome_begin(&chrome, trace, &env, 1000,
				   argc > 5 && !hostile ? strtoull(argv[5], NULL, 10)
							: CHROME_LEAN),
		      "chrome_begin");
	at.end_ns = run(model, strtoull(argv[1], NULL, 10), (uint32_t)strtoul(argv[2], NULL, 10));
	check(model_finish(model, at.end_ns), "model_finish");
	check(report_build(model, &at, &report), "report_build");
	other.report = &report;
	if (page)
		check(html_end(html, model, &report, &other, argc > 5, curves, 2), "html_end");
	if (trace)
		check(chrome_end(chrome, model, at.end_ns), "chrome_end");
	if (page)
		fclose(page);
	if (trace)
		fclose(trace);
	report_free(&report);
	model_free(model);
	return 0;
}
