// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check the text of doctor. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test_check.h"
#include "emit/emit.h"
#include "emit/textout.h"

static struct doctor *some(void)
{
	struct doctor *d = calloc(1, sizeof(*d));

	assert_non_null(d);
	d->verdict = (struct doctor_feature){ .group = "verdict", .name = "trace", .needed = true };
	d->n = 4;
	d->features[0] = (struct doctor_feature){ .group = "rights",
						  .name = "CAP_BPF",
						  .needed = true,
						  .found = "to load its programs" };
	d->features[1] = (struct doctor_feature){
		.group = "probes",
		.name = "uprobe.session",
		.state = DOCTOR_INSTEAD,
		.found = "not in this kernel (Invalid argument)",
		.instead = "entries and ret instructions apart, by uprobe.multi",
		.remedy = "Linux 6.13 or later",
	};
	d->features[2] = (struct doctor_feature){
		.group = "probes",
		.name = "bpf()",
		.state = DOCTOR_NO,
		.needed = true,
		.found = "refused",
		.remedy = "a remedy that is far too long for one line of a table with four columns",
	};
	d->features[3] = (struct doctor_feature){
		.group = "names",
		.name = "libc",
		.state = DOCTOR_UNKNOWN,
		.found =
			"/a/very/long/path/with/a/\033[31m/colour/in/it/\xff/and/more/and/more/and/"
			"more/and/more/libc.so.6",
	};
	return d;
}

static char *print(const struct doctor *d, unsigned width, bool colour)
{
	struct emit_options options = { .format = EMIT_TEXT, .width = width, .colour = colour };
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);
	struct emit *emit = emit_new(f, &options);

	assert_non_null(emit);
	emit_doctor(emit, d);
	assert_int_equal(emit_free(emit), 0);
	fclose(f);
	return out;
}

static void check_width(char *out, unsigned width)
{
	char *line, *save;

	for (line = strtok_r(out, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (textout_columns(line) > width)
			fail_msg("wider than %u: %s", width, line);
		assert_null(strchr(line, '\033'));
		assert_int_not_equal(line[strlen(line) - 1], ' ');
	}
}

static void test_table(void **state)
{
	static const unsigned widths[] = { 0, 100, 80, 60, 200 };
	struct doctor *d CLEANUP_PTR(free) = some();
	char *out;

	out = print(d, 0, false);
	assert_int_equal(strncmp(out, "sbt-trace can trace here\n", 25), 0);
	assert_says(out, "\nrights\n", "\nCAP_BPF         yes      to load its programs\n",
		    "instead: entries", "\nlibc            ?");
	free(out);
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		out = print(d, widths[i], false);
		check_width(out, widths[i] ? widths[i] : 100);
		free(out);
	}
}

/* Nothing of a long text is left out. */
static void test_wrapped(void **state)
{
	struct doctor *d CLEANUP_PTR(free) = some();
	char *out CLEANUP_PTR(free) = print(d, 80, false), *word, *save, *at = out;
	char remedy[sizeof(d->features[2].remedy)];

	snprintf(remedy, sizeof(remedy), "%s", d->features[2].remedy);
	for (word = strtok_r(remedy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		at = strstr(at, word);
		assert_non_null(at);
		at += strlen(word);
	}
}

static void test_cannot(void **state)
{
	static const char said[] =
		"sbt-trace cannot trace here: CAP_BPF is missing; run it as root\n\n";
	struct doctor *d CLEANUP_PTR(free) = some();
	char *out CLEANUP_PTR(free);

	d->verdict.state = DOCTOR_NO;
	snprintf(d->verdict.found, sizeof(d->verdict.found), "CAP_BPF is missing");
	snprintf(d->verdict.remedy, sizeof(d->verdict.remedy), "run it as root");
	out = print(d, 0, false);
	assert_int_equal(strncmp(out, said, strlen(said)), 0);
	free(out);
	out = print(d, 0, true);
	assert_says(out, "\033[1;31msbt-trace cannot");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_wrapped),
		cmocka_unit_test(test_cannot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
