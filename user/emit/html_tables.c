// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/html_tables.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "emit/compare.h"
#include "emit/fields.h"
#include "emit/html.h"
#include "emit/html_assets.h"
#include "emit/html_page.h"
#include "emit/json.h"
#include "emit/prediction.h"
#include "emit/series.h"
#include "emit/textout.h"

#define UNBROKEN 1000000 /* columns: the browser breaks the lines */

struct tables {
	struct html_page page;
	struct buf sentences; /* sentences of text output, one per line */
	struct textout text;
	struct fields_context context;
	const char *comma;
};

static int tables_begin(struct tables *t, FILE *file)
{
	memset(t, 0, sizeof(*t));
	if (!html_available())
		return -ENOSYS;
	t->page.file = file;
	t->text = (struct textout){ .buf = &t->sentences, .width = UNBROKEN };
	t->comma = "";
	html_page_begin(&t->page);
	return 0;
}

/* Write the sentences, the title, and the beginning of the records. */
static void tables_head(struct tables *t, const char *title)
{
	struct buf *out = &t->page.buf;
	char *at = t->sentences.s, *end;
	const char *comma = "";

	buf_printf(out, "{\"version\":\"%s\",\"title\":", SBT_VERSION);
	jsonl_string(out, title ? title : "");
	buf_str(out, ",\"sentences\":[");
	for (; at && !t->sentences.failed && *at; at = end + 1) {
		end = strchr(at, '\n');
		if (!end)
			break;
		*end = '\0';
		if (end == at)
			continue;
		buf_str(out, comma);
		comma = ",";
		jsonl_string(out, at);
	}
	if (t->sentences.failed)
		out->failed = true;
	buf_str(out, "],\n\"records\":[\n");
	html_page_flush(&t->page);
}

static void tables_record(struct tables *t, const struct emit_record *record, const void *rec)
{
	html_page_record(&t->page, &t->comma, record, rec, &t->context);
}

static int tables_end(struct tables *t, const char *script, uint64_t size)
{
	buf_str(&t->page.buf, "]}\n");
	buf_free(&t->sentences);
	return html_page_end(&t->page, script, size);
}

int html_series(FILE *file, const struct series *s, const char *title)
{
	struct fields_series rec;
	struct tables t;
	uint32_t i;
	int err = tables_begin(&t, file);

	if (err)
		return err;
	series_sentences(&t.text, s);
	tables_head(&t, title);
	for (i = 0; i < s->npoints; i++) {
		rec = fields_series_of(s, i);
		tables_record(&t, &fields_rec_series, &rec);
	}
	return tables_end(&t, html_series_js, html_series_js_size);
}

int html_compare(FILE *file, const struct compare *c, const struct compare_input *inputs,
		 const char *title)
{
	const struct fields_comparison rec = {
		.compare = c, .a = inputs, .b = inputs + c->a.n, .na = c->a.n, .nb = c->b.n
	};
	struct tables t;
	int err = tables_begin(&t, file);

	if (err)
		return err;
	compare_sentences(&t.text, &rec);
	tables_head(&t, title);
	tables_record(&t, &fields_rec_comparison, &rec);
	array_for_each (r, c->rows, c->nrows)
		tables_record(&t, &fields_rec_difference, r);
	return tables_end(&t, html_diff_js, html_diff_js_size);
}

int html_predictions(FILE *file, const struct predictions *p, const char *title)
{
	struct tables t;
	int err = tables_begin(&t, file);

	if (err)
		return err;
	if (p->n)
		prediction_sentences(&t.text, p);
	tables_head(&t, title);
	array_for_each (x, p->all, p->n)
		tables_record(&t, &fields_rec_prediction, x);
	array_for_each (note, p->notes, p->nnotes)
		tables_record(&t, &fields_rec_assumption, note);
	return tables_end(&t, html_predict_js, html_predict_js_size);
}
