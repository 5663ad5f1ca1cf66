// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/html_assets.h"

/* HTML_CHART is the folder into which scripts/chart puts the charting library. */
#define FILE_OF(path) "\t.incbin \"" path "\"\n"
#define ASSET(name, files)                                                                        \
	__asm__("\t.pushsection .rodata\n\t.global " #name ", " #name "_size\n" #name ":\n" files \
		"1:\n"                                                                            \
		"\t.balign 8\n" #name "_size:\n\t.quad 1b - " #name "\n\t.popsection\n")

/* First the scripts that all pages use, then the script of each kind of page. */
ASSET(html_words_js, FILE_OF("user/emit/html/words.js") FILE_OF("user/emit/html/charts.js")
			     FILE_OF("user/emit/html/curves.js"));
ASSET(html_report_js, FILE_OF("user/emit/html/records.js") FILE_OF("user/emit/html/timeline.js")
			      FILE_OF("user/emit/html/sections.js"));
ASSET(html_series_js, FILE_OF("user/emit/html/tables.js") FILE_OF("user/emit/html/series.js"));
ASSET(html_diff_js, FILE_OF("user/emit/html/tables.js") FILE_OF("user/emit/html/diff.js"));
ASSET(html_predict_js, FILE_OF("user/emit/html/tables.js") FILE_OF("user/emit/html/predict.js"));
ASSET(html_report_css, FILE_OF("user/emit/html/report.css"));
ASSET(html_chart_js, FILE_OF(HTML_CHART "chart.js"));
ASSET(html_chart_css, FILE_OF(HTML_CHART "chart.css"));
ASSET(html_chart_license, FILE_OF(HTML_CHART "LICENSE"));
