/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The files of the HTML report, put into the program by the assembler. The files of the charting
 * library are empty if it was not available.
 */
#ifndef EMIT_HTML_ASSETS_H
#define EMIT_HTML_ASSETS_H

#include <stdint.h>

extern const char html_words_js[], html_report_js[], html_series_js[], html_diff_js[],
	html_predict_js[], html_report_css[], html_chart_js[], html_chart_css[],
	html_chart_license[];
extern const uint64_t html_words_js_size, html_report_js_size, html_series_js_size,
	html_diff_js_size, html_predict_js_size, html_report_css_size, html_chart_js_size,
	html_chart_css_size, html_chart_license_size;

#endif /* EMIT_HTML_ASSETS_H */
