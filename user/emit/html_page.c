// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/html_page.h"

#include <errno.h>
#include <string.h>

#include "emit/html_assets.h"
#include "emit/json.h"

static void page_write(struct html_page *page, const char *bytes, size_t n)
{
	errno = 0;
	if (!page->err && n && fwrite(bytes, 1, n, page->file) != n)
		page->err = errno ? -errno : -EIO;
}

static void page_put(struct html_page *page, const char *s)
{
	page_write(page, s, strlen(s));
}

/*
 * Escape "<", the only character that could end or change the script element around the JSON. Only
 * strings contain it.
 */
void html_page_flush(struct html_page *page)
{
	const char *at = page->buf.s, *end;

	if (page->buf.failed && !page->err)
		page->err = -ENOMEM;
	while (at && !page->buf.failed && (end = strchr(at, '<'))) {
		page_write(page, at, (size_t)(end - at));
		page_put(page, "\\u003c");
		at = end + 1;
	}
	if (at && !page->buf.failed)
		page_put(page, at);
	buf_clear(&page->buf);
}

/* The head of the page. Its policy: the page may load nothing, not even from its own folder. */
static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
	"'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n<title>sbt-trace report</title>\n"
	"<style>\n";

void html_page_begin(struct html_page *page)
{
	page_put(page, head);
	page_write(page, html_chart_css, html_chart_css_size);
	page_write(page, html_report_css, html_report_css_size);
	page_put(page, "</style>\n</head>\n<body>\n<main id=\"page\"></main>\n<noscript>This "
		       "report draws its pictures with JavaScript.</noscript>\n"
		       "<script type=\"application/json\" id=\"data\">\n");
}

int html_page_end(struct html_page *page, const char *script, uint64_t size)
{
	html_page_flush(page);
	page_put(page, "</script>\n<script>\n/*\nThe charting library, with its licence:\n\n");
	page_write(page, html_chart_license, html_chart_license_size);
	page_put(page, "*/\n");
	page_write(page, html_chart_js, html_chart_js_size);
	page_put(page, "\n</script>\n<script>\n");
	page_write(page, html_words_js, html_words_js_size);
	page_write(page, script, size);
	page_put(page, "</script>\n</body>\n</html>\n");
	if (!page->err)
		page->err = buf_flush(page->file);
	buf_free(&page->buf);
	return page->err;
}

void html_page_record(struct html_page *page, const char **comma, const struct emit_record *record,
		      const void *rec, const struct fields_context *context)
{
	buf_str(&page->buf, *comma);
	*comma = ",";
	jsonl_record(&page->buf, record, rec, context);
	html_page_flush(page);
}
