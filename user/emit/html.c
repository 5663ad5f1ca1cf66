// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/html.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/cause.h"
#include "base/array.h"
#include "base/grow.h"
#include "base/hash.h"
#include "hang/hang.h"
#include "emit/buf.h"
#include "emit/fields.h"
#include "emit/grid.h"
#include "emit/html_assets.h"
#include "emit/html_page.h"
#include "emit/json.h"

/* Up to this many crossings are kept one by one. With more, the page has only the grid. */
#define CROSSINGS 60000

/*
 * What is known of a crossing's work interval, as float32 values of the page: the cause of the
 * lateness (enum cause_kind; -1: none), the lateness and the cause's part of it, the index of the
 * function (-1: unknown), and the scheduler states. Times are in ns, NAN: unknown. The states are
 * in the order of SBT_PART_REASONS, after on a CPU and run queue.
 */
enum {
	DETAIL_CAUSE,
	DETAIL_LATE,
	DETAIL_CAUSE_NS,
	DETAIL_FUNCTION,
	DETAIL_MORE, /* 1: the function is the place of all late episodes so far; 0: of this one */
	DETAIL_ONCPU,
	DETAIL_RUNQ,
	DETAIL_BLOCKED,
	DETAILS = DETAIL_BLOCKED + MODEL_BLOCKED_REASONS
};

struct crossing {
	uint32_t lane, episode;
	uint8_t kind; /* GRID_WAIT, or GRID_INSIDE */
	/* ns from the start of tracing; NAN: unknown */
	double arrive_ns, work_ns, wait_ns, depart_ns;
	float detail[DETAILS];
};

struct episode {
	uint32_t barrier, number;
};

struct html {
	struct html_page page;
	struct html_options options;
	struct grid grid;
	uint64_t crossings, episodes, nested;
	bool many; /* too many crossings to keep */
	struct crossing *each;
	uint32_t neach, cap_each;
	struct episode *kept;
	uint32_t nkept, cap_kept;
	/* call sites that crossings name, and the index of each */
	uint32_t *sites, nsites, cap_sites;
	struct hash by_site;
};

/* --- the charting library --------------------------------------------------------------------- */

bool html_available(void)
{
	return html_chart_js_size > 0;
}

const char *html_missing(void)
{
	return "this sbt-trace was built without the charting library for HTML reports: rebuild it "
	       "with npm installed and a network, or use --chrome";
}

/* --- episodes --------------------------------------------------------------------------------- */

int html_begin(struct html **out, FILE *file, const struct html_options *options)
{
	struct html *h;

	*out = NULL;
	if (!html_available())
		return -ENOSYS;
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->page.file = file;
	h->options = *options;
	grid_init(&h->grid);
	*out = h;
	return 0;
}

/* Return the time since the start of tracing, 0 for earlier times. */
static uint64_t since(const struct html *h, uint64_t t_ns)
{
	return t_ns > h->options.start_ns ? t_ns - h->options.start_ns : 0;
}

/* Drop all crossings: there are too many to keep. */
static void keep_none(struct html *h)
{
	h->many = true;
	free(h->each);
	free(h->kept);
	free(h->sites);
	hash_free(&h->by_site);
	h->each = NULL;
	h->kept = NULL;
	h->sites = NULL;
	h->neach = h->cap_each = h->nkept = h->cap_kept = h->nsites = h->cap_sites = 0;
}

static int keep_episode(struct html *h, const struct model_episode *e)
{

	if (h->many)
		return 0;
	if (h->neach + (uint64_t)e->n > CROSSINGS) {
		keep_none(h);
		return 0;
	}
	if (grow(h->kept, h->cap_kept, h->nkept + 1))
		return -ENOMEM;
	h->kept[h->nkept++] = (struct episode){
		.barrier = e->barrier,
		.number = e->number > UINT32_MAX ? UINT32_MAX : (uint32_t)e->number,
	};
	return 0;
}

/* Put the index of a call site into *index, -1 for MODEL_NONE. Return 0 or -ENOMEM. */
static int site_index(struct html *h, uint32_t site, float *index)
{
	uint64_t at;

	*index = -1;
	if (site == MODEL_NONE)
		return 0;
	if (!hash_get(&h->by_site, site, &at)) {
		if (grow(h->sites, h->cap_sites, h->nsites + 1) ||
		    hash_put(&h->by_site, site, h->nsites))
			return -ENOMEM;
		at = h->nsites;
		h->sites[h->nsites++] = site;
	}
	*index = (float)at;
	return 0;
}

static int set_detail(struct html *h, const struct model_member *m, const struct cause_member *why,
		      float detail[DETAILS])
{
	const struct model_detail *d = m->detail;
	bool states = d && m->work_ns != MODEL_UNKNOWN && d->oncpu_ns != MODEL_UNKNOWN;
	uint32_t i;

	detail[DETAIL_CAUSE] = why->dominant == CAUSE_NONE ? -1 : (float)why->dominant;
	detail[DETAIL_LATE] = (float)why->lateness_ns;
	detail[DETAIL_CAUSE_NS] = (float)why->dominant_ns;
	detail[DETAIL_ONCPU] = states ? (float)d->oncpu_ns : NAN;
	detail[DETAIL_RUNQ] = states ? (float)d->runq_ns : NAN;
	for (i = 0; i < MODEL_BLOCKED_REASONS; i++)
		detail[DETAIL_BLOCKED + i] = states ? (float)d->blocked_ns[i] : NAN;
	detail[DETAIL_MORE] = why->more_site != MODEL_NONE;
	return site_index(h, why->more_site != MODEL_NONE ? why->more_site : why->site,
			  &detail[DETAIL_FUNCTION]);
}

static int keep_crossing(struct html *h, const struct model_member *m, uint32_t lane,
			 enum grid_kind kind, const struct cause_member *why)
{
	bool left = m->depart_ns != MODEL_UNKNOWN;
	struct crossing *c;

	if (h->many || lane == GRID_LANES)
		return 0;
	if (grow(h->each, h->cap_each, h->neach + 1))
		return -ENOMEM;
	c = &h->each[h->neach++];
	*c = (struct crossing){
		.lane = lane,
		.episode = h->nkept - 1,
		.kind = (uint8_t)kind,
		.arrive_ns = (double)since(h, m->arrive_ns),
		.work_ns = m->work_ns == MODEL_UNKNOWN ? NAN : (double)m->work_ns,
		.wait_ns = (double)m->wait_ns,
		.depart_ns = left ? (double)since(h, m->depart_ns) : NAN,
	};
	return set_detail(h, m, why, c->detail);
}

static int add_member(struct html *h, const struct model_episode *e, const struct model_member *m,
		      const struct cause_member *why)
{
	enum grid_kind kind = e->state == MODEL_INCOMPLETE ? GRID_INSIDE : GRID_WAIT;
	uint64_t arrive = since(h, m->arrive_ns), depart = since(h, m->depart_ns);
	uint32_t lane;
	int err = grid_lane(&h->grid, m->thread, m->tid, &lane);

	if (err)
		return err;
	if (m->work_ns != MODEL_UNKNOWN)
		grid_add(&h->grid, lane, GRID_WORK, arrive > m->work_ns ? arrive - m->work_ns : 0,
			 arrive);
	if (kind == GRID_WAIT)
		grid_add(&h->grid, lane, GRID_WAIT, arrive, arrive + m->wait_ns);
	if (m->depart_ns != MODEL_UNKNOWN)
		grid_add(&h->grid, lane, kind == GRID_WAIT ? GRID_LEAVE : GRID_INSIDE,
			 kind == GRID_WAIT ? arrive + m->wait_ns : arrive, depart);
	return keep_crossing(h, m, lane, kind, why);
}

int html_episode(struct html *h, const struct model *model, const struct model_episode *e)
{
	const struct causes *causes = h->options.env ? h->options.env->causes : NULL;
	const struct model_member *ref = h->many ? NULL : cause_reference(causes, model, e);
	struct cause_member why;
	uint32_t i;
	int err;

	if (e->nested) {
		h->nested++;
		return 0;
	}
	h->episodes++;
	h->crossings += e->n;
	err = keep_episode(h, e);
	for (i = 0; i < e->n && !err; i++) {
		why = cause_of_member(causes, model, e, ref, &e->members[i]);
		err = add_member(h, e, &e->members[i], &why);
	}
	if (!err && e->state != MODEL_INCOMPLETE)
		err = grid_episode(&h->grid, e->barrier, since(h, e->release_ns), e->phase_ns,
				   e->barrier_ns);
	return err;
}

/* --- the page --------------------------------------------------------------------------------- */

static void put_base64(struct buf *b, const void *bytes, size_t n)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *p = bytes;
	size_t i, left;
	uint32_t v;

	buf_char(b, '"');
	for (i = 0; i < n; i += 3) {
		left = n - i;
		v = (uint32_t)p[i] << 16 | (left > 1 ? p[i + 1] << 8 : 0) |
		    (left > 2 ? p[i + 2] : 0);
		buf_add(b,
			(const char[]){ digit[v >> 18], digit[v >> 12 & 63],
					left > 1 ? digit[v >> 6 & 63] : '=',
					left > 2 ? digit[v & 63] : '=' },
			4);
	}
	buf_char(b, '"');
}

/* --- records: those of --json ----------------------------------------------------------------- */

static void put_run(struct html *h, const char *name, const struct report *r)
{
	struct fields_context context = { .clock_start_ns = r->start_ns };
	struct fields_end end = { .report = r, .elapsed_ns = r->end_ns - r->start_ns };
	const char *comma = "", *at;
	const struct emit_field *f;
	struct fields_value list;

	buf_str(&h->page.buf, "{\"name\":");
	jsonl_string(&h->page.buf, name ? name : "");
	buf_str(&h->page.buf, ",\"records\":[\n");
	for (f = fields_of_report; f->help; f++) {
		/* The page shows no transitions. */
		if (f->sub == &fields_rec_transition)
			continue;
		list = fields_get(f, r, &context);
		for (at = list.base; list.n--; at += f->sub->size)
			html_page_record(&h->page, &comma, f->sub, at, &context);
	}
	html_page_record(&h->page, &comma, &fields_rec_end, &end, &context);
	buf_str(&h->page.buf, "]}");
}

static void put_curves(struct html *h, const struct html_curve *curves, uint32_t n)
{
	const struct html_point *p;
	uint32_t i, k;

	for (i = 0; i < n; i++) {
		buf_printf(&h->page.buf, "%s{\"name\":", i ? "," : "");
		jsonl_string(&h->page.buf, curves[i].name ? curves[i].name : "?");
		buf_printf(&h->page.buf, ",\"predicted\":%s,\"points\":[",
			   curves[i].predicted ? "true" : "false");
		for (k = 0; k < curves[i].n; k++) {
			p = &curves[i].points[k];
			buf_printf(&h->page.buf, "%s{\"processors\":%u,\"time_ns\":", k ? "," : "",
				   p->processors);
			if (p->time_ns == REPORT_UNKNOWN)
				buf_str(&h->page.buf, "null");
			else
				buf_printf(&h->page.buf, "%" PRIu64, p->time_ns);
			buf_str(&h->page.buf, ",\"speedup\":");
			if (isfinite(p->speedup))
				buf_real(&h->page.buf, p->speedup, 6);
			else
				buf_str(&h->page.buf, "null");
			buf_char(&h->page.buf, '}');
		}
		buf_str(&h->page.buf, "]}");
	}
}

/* --- the timeline ----------------------------------------------------------------------------- */

/*
 * Draw the times that no episode covers: a thread's work after its last departure, and a wait that
 * lasted to the end.
 */
static void add_last(struct html *h, const struct model *model, const struct report *r)
{
	uint32_t i;

	for (i = 0; i < h->grid.nlanes; i++) {
		const struct grid_lane *lane = &h->grid.lanes[i];
		const struct model_thread *th = model_thread(model, lane->thread);
		uint64_t end = th->end_ns == MODEL_UNKNOWN ? r->end_ns : th->end_ns;

		if (th->proc == MODEL_NONE || th->tid != lane->tid)
			continue;
		if (th->pending_ns != MODEL_UNKNOWN) {
			grid_add(&h->grid, i, GRID_INSIDE, since(h, th->pending_ns),
				 since(h, r->end_ns));
			end = th->pending_ns;
		}
		if (th->depart_ns != MODEL_UNKNOWN)
			grid_add(&h->grid, i, GRID_WORK, since(h, th->depart_ns), since(h, end));
	}
}

static void put_lane_name(struct html *h, const struct model *model, const struct grid_lane *lane)
{
	const struct model_thread *th = model_thread(model, lane->thread);
	uint32_t index;

	buf_printf(&h->page.buf, "{\"tid\":%u", lane->tid);
	if (th->proc != MODEL_NONE && th->tid == lane->tid) {
		index = th->place != MODEL_NONE ? th->place : th->ordinal;
		buf_printf(&h->page.buf,
			   ",\"pid\":%u,\"comm\":", model_proc(model, th->proc)->tgid);
		jsonl_string(&h->page.buf, th->comm);
		if (index != MODEL_NONE)
			buf_printf(&h->page.buf, ",\"index\":%u,\"placed\":%s", index,
				   th->place != MODEL_NONE ? "true" : "false");
		if (th->barrier != MODEL_NONE && h->options.env && h->options.env->family_name) {
			buf_str(&h->page.buf, ",\"family\":");
			jsonl_string(&h->page.buf,
				     h->options.env->family_name(
					     model_barrier(model, th->barrier)->family));
		}
	}
	buf_char(&h->page.buf, '}');
}

/*
 * For each kind and bucket, add the share of the bucket that the thread spent in this kind, in
 * units of 1/255. A share above 0 is written as at least 1.
 */
static int put_shares(struct html *h, const struct grid_lane *lane, uint32_t n)
{
	uint8_t *bytes = malloc((size_t)n * GRID_KINDS);
	uint32_t i, k;
	float share;

	if (!bytes)
		return -ENOMEM;
	for (k = 0; k < GRID_KINDS; k++) {
		for (i = 0; i < n; i++) {
			share = lane->ns[k][i] / (float)h->grid.lane_ns * 255;
			bytes[(size_t)k * n + i] = share >= 255 ? 255
						   : share > 0 && share < 1
							   ? 1
							   : (uint8_t)lroundf(share);
		}
	}
	put_base64(&h->page.buf, bytes, (size_t)n * GRID_KINDS);
	free(bytes);
	return 0;
}

static int put_lanes(struct html *h, const struct model *model, uint64_t elapsed_ns)
{
	uint64_t most = elapsed_ns / h->grid.lane_ns + 1;
	uint32_t n = most < h->grid.width ? (uint32_t)most : h->grid.width, i;
	int err = 0;

	buf_printf(&h->page.buf,
		   "\"bucket_ns\":%" PRIu64 ",\"n\":%u,\"left_out\":%" PRIu64 ",\"lanes\":[",
		   h->grid.lane_ns, n, h->grid.left_out);
	for (i = 0; i < h->grid.nlanes && !err; i++) {
		buf_printf(&h->page.buf, "%s{\"thread\":", i ? ",\n" : "");
		put_lane_name(h, model, &h->grid.lanes[i]);
		buf_str(&h->page.buf, ",\"shares\":");
		err = put_shares(h, &h->grid.lanes[i], n);
		buf_char(&h->page.buf, '}');
		html_page_flush(&h->page);
	}
	buf_char(&h->page.buf, ']');
	return err;
}

static void put_points(struct html *h, const char *name, const struct grid_point *row, uint32_t n)
{
	float(*all)[4] = calloc(n, sizeof(*all));
	uint32_t i;

	if (!all) {
		h->page.buf.failed = true;
		return;
	}
	for (i = 0; i < n; i++) {
		const float point[4] = { row[i].min, row[i].n ? (float)(row[i].sum / row[i].n) : 0,
					 row[i].max, (float)row[i].n };

		memcpy(all[i], point, sizeof(point));
	}
	buf_printf(&h->page.buf, ",\"%s\":", name);
	put_base64(&h->page.buf, all, n * sizeof(*all));
	free(all);
}

/*
 * Add an object with the report's id and label of a barrier, without its closing brace. The report
 * may lack barriers of the model.
 */
static void put_barrier_name(struct html *h, const struct report *r, uint32_t barrier)
{
	buf_printf(&h->page.buf, "{\"index\":%u", barrier);
	array_for_each (b, r->barriers, r->nbarriers) {
		if (b->index != barrier)
			continue;
		buf_str(&h->page.buf, ",\"id\":");
		jsonl_string(&h->page.buf, b->id);
		buf_str(&h->page.buf, ",\"label\":");
		jsonl_string(&h->page.buf, b->label);
		break;
	}
}

static void put_series(struct html *h, const struct report *r, uint64_t elapsed_ns)
{
	uint64_t most = elapsed_ns / h->grid.point_ns + 1;
	uint32_t n = most < GRID_POINTS ? (uint32_t)most : GRID_POINTS, i;

	buf_printf(&h->page.buf, ",\n\"series\":{\"bucket_ns\":%" PRIu64 ",\"n\":%u,\"barriers\":[",
		   h->grid.point_ns, n);
	for (i = 0; i < h->grid.nseries; i++) {
		if (i)
			buf_str(&h->page.buf, ",\n");
		put_barrier_name(h, r, h->grid.series[i]->barrier);
		put_points(h, "phase", h->grid.series[i]->phase, n);
		put_points(h, "within", h->grid.series[i]->within, n);
		buf_char(&h->page.buf, '}');
		html_page_flush(&h->page);
	}
	buf_str(&h->page.buf, "]}");
}

/* Add the names that the values of the crossings' details stand for. */
static int put_detail_names(struct html *h)
{
	char label[192];
	uint32_t i;
	int err;

	buf_str(&h->page.buf, ",\"causes\":[");
	for (i = 0; i < CAUSE_KINDS; i++) {
		buf_str(&h->page.buf, i ? "," : "");
		jsonl_string(&h->page.buf, cause_name(i));
	}
	buf_str(&h->page.buf, "],\"functions\":[");
	for (i = 0; i < h->nsites; i++) {
		err = report_site_label(h->options.env, h->sites[i], label, sizeof(label));
		if (err)
			return err;
		buf_str(&h->page.buf, i ? "," : "");
		jsonl_string(&h->page.buf, label);
	}
	buf_char(&h->page.buf, ']');
	return 0;
}

static int put_details(struct html *h)
{
	float(*all)[DETAILS] = calloc(h->neach + 1, sizeof(*all));
	uint32_t i;

	if (!all)
		return -ENOMEM;
	for (i = 0; i < h->neach; i++)
		memcpy(all[i], h->each[i].detail, sizeof(all[i]));
	buf_str(&h->page.buf, ",\"details\":");
	put_base64(&h->page.buf, all, h->neach * sizeof(*all));
	free(all);
	return put_detail_names(h);
}

/*
 * Add each crossing as seven float64 values: lane, episode, kind, and four times. All have the same
 * type, so that one array is enough. The details are a second array, see DETAIL_CAUSE.
 */
static int put_each(struct html *h, const struct report *r)
{
	double(*all)[7];
	uint32_t i;

	if (h->many) {
		buf_str(&h->page.buf, ",\n\"each\":null");
		return 0;
	}
	all = calloc(h->neach + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (i = 0; i < h->neach; i++) {
		const struct crossing *c = &h->each[i];
		double one[7] = { c->lane,    c->episode, c->kind,     c->arrive_ns,
				  c->work_ns, c->wait_ns, c->depart_ns };

		memcpy(all[i], one, sizeof(one));
	}
	buf_str(&h->page.buf, ",\n\"each\":{\"crossings\":");
	put_base64(&h->page.buf, all, h->neach * sizeof(*all));
	free(all);
	buf_str(&h->page.buf, ",\"episodes\":[");
	for (i = 0; i < h->nkept; i++)
		buf_printf(&h->page.buf, "%s[%u,%" PRId64 "]", i ? "," : "", h->kept[i].barrier,
			   h->kept[i].number == UINT32_MAX ? -1 : (int64_t)h->kept[i].number);
	buf_str(&h->page.buf, "],\"barriers\":[");
	for (i = 0; i < r->nbarriers; i++) {
		buf_str(&h->page.buf, i ? "," : "");
		put_barrier_name(h, r, r->barriers[i].index);
		buf_char(&h->page.buf, '}');
	}
	buf_char(&h->page.buf, ']');
	if (put_details(h))
		return -ENOMEM;
	buf_char(&h->page.buf, '}');
	return 0;
}

static int put_data(struct html *h, const struct model *model, const struct report *r,
		    const struct html_run *runs, uint32_t nruns, const struct html_curve *curves,
		    uint32_t ncurves)
{
	uint64_t elapsed = r->end_ns - h->options.start_ns;
	int err;

	buf_printf(&h->page.buf,
		   "{\"version\":\"%s\",\"elapsed_ns\":%" PRIu64 ",\"episodes\":%" PRIu64
		   ",\"crossings\":%" PRIu64 ",\"nested\":%" PRIu64 ",\"interim\":%s,\"title\":",
		   SBT_VERSION, elapsed, h->episodes, h->crossings, h->nested,
		   r->interim ? "true" : "false");
	jsonl_string(&h->page.buf, h->options.title ? h->options.title : "");
	buf_str(&h->page.buf, ",\n\"runs\":[");
	put_run(h, h->options.name ? h->options.name : h->options.title, r);
	array_for_each (run, runs, nruns) {
		buf_str(&h->page.buf, ",\n");
		put_run(h, run->name, run->report);
	}
	buf_str(&h->page.buf, "],\n\"curves\":[");
	put_curves(h, curves, ncurves);
	buf_str(&h->page.buf, "],\n\"timeline\":{");
	add_last(h, model, r);
	err = put_lanes(h, model, elapsed);
	put_series(h, r, elapsed);
	if (!err)
		err = put_each(h, r);
	buf_str(&h->page.buf, "}}\n");
	html_page_flush(&h->page);
	return err;
}

static int put_page(struct html *h, const struct model *model, const struct report *r,
		    const struct html_run *runs, uint32_t nruns, const struct html_curve *curves,
		    uint32_t ncurves)
{
	int err, failed;

	html_page_begin(&h->page);
	err = put_data(h, model, r, runs, nruns, curves, ncurves);
	failed = html_page_end(&h->page, html_report_js, html_report_js_size);
	return err ? err : failed;
}

int html_end(struct html *h, const struct model *model, const struct report *report,
	     const struct html_run *runs, uint32_t nruns, const struct html_curve *curves,
	     uint32_t ncurves)
{
	int err = 0;

	if (report)
		err = put_page(h, model, report, runs, nruns, curves, ncurves);
	keep_none(h);
	grid_free(&h->grid);
	free(h);
	return err;
}
