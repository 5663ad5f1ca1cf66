/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Run a command on recordings that are made here instead of read. Include after cmocka.h and the
 * command.
 */
#ifndef TEST_CMD_H
#define TEST_CMD_H

#include <unistd.h>

#include "compare/recording_set.h"
#include "emit/html.h"
#include "test_recordings.h"

static unsigned loaded, freed;

static inline const char *run_of(const char *path)
{
	return !strncmp(path, "cont", 4) ? "lu contiguous" : "lu non-contiguous";
}

/*
 * Make a recording according to its path. "cont-N" and "non-N" are runs of two versions of a
 * program, "none" has no barrier, and "other" is of another program. Any other path does not exist.
 */
int compare_recording_load(const char *path, struct compare_recording *out)
{
	struct recording *r = calloc(1, sizeof(*r));
	unsigned run;

	assert_non_null(r);
	if (sscanf(path, "cont-%u", &run) == 1) {
		recording_lu(r, run, 0);
	} else if (sscanf(path, "non-%u", &run) == 1) {
		recording_lu(r, run, 1);
	} else if (!strcmp(path, "none")) {
		recording_init(r);
	} else if (!strcmp(path, "other")) {
		recording_init(r);
		recording_process(r, "other", 60000 * MS);
		recording_site(r, "#e1", "elsewhere", 1, 64, 60000 * MS, 1);
	} else {
		free(r);
		return -ENOENT;
	}
	recording_batches(r, 0.02, (unsigned)loaded);
	*out = (struct compare_recording){
		.report = r->report, .batches = r->batches, .owner = r, .command = run_of(path)
	};
	loaded++;
	return 0;
}

void compare_recording_free(struct compare_recording *r)
{
	free(r->owner);
	freed++;
}

/*
 * Run the command with these words. Its output goes to a file. If @out is not NULL, return the
 * output there.
 */
static inline int cmd_on(int (*cmd)(int argc, char **argv), const char *words, char **out)
{
	static char path[] = "/tmp/test_cmd.XXXXXX";
	char *copy = strdup(words), *argv[32], *save, *word;
	int argc = 0, fd, status;
	char name[sizeof(path)];
	size_t cap = 0;
	FILE *f;

	memcpy(name, path, sizeof(path));
	fd = mkstemp(name);
	assert_true(fd >= 0);
	argv[argc++] = (char *)"sbt-trace";
	argv[argc++] = (char *)"-o";
	argv[argc++] = name;
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	argv[argc] = NULL;
	loaded = freed = 0;
	status = cmd(argc, argv);
	assert_int_equal(loaded, freed);
	if (out) {
		*out = NULL;
		f = fdopen(fd, "r");
		if (getdelim(out, &cap, '\0', f) < 0)
			assert_true(feof(f));
		fclose(f);
	} else {
		close(fd);
	}
	unlink(name);
	free(copy);
	return status;
}

/* Check that each of these command lines is rejected as wrong usage. */
static inline void cmd_usage(int (*cmd)(int argc, char **argv), const char *const *wrong, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (cmd_on(cmd, wrong[i], NULL) != EXIT_USAGE)
			fail_msg("%s", wrong[i]);
}

/*
 * Run the command with these words and each option for an output format, and check how the output
 * begins.
 */
static inline void cmd_forms(int (*cmd)(int argc, char **argv), const char *words, const char *json)
{
	static const struct {
		const char *option, *begins;
	} forms[] = { { "--json", NULL }, { "--csv", "type," }, { "--markdown", "**SBT " } };
	char line[256], *out;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const char *begins = forms[i].begins ? forms[i].begins : json;

		snprintf(line, sizeof(line), "%s %s", forms[i].option, words);
		assert_int_equal(cmd_on(cmd, line, &out), 0);
		if (strncmp(out, begins, strlen(begins)) != 0)
			fail_msg("%s: %.60s", line, out);
		free(out);
	}
}

/*
 * Check that an HTML page is written in addition to the text. If HTML is not supported, or if the
 * write fails, the command fails.
 */
static inline void cmd_page(int (*cmd)(int argc, char **argv), const char *words)
{
	char path[] = "/tmp/test_page.XXXXXX", line[256];
	int fd = mkstemp(path), wanted = html_available() ? 0 : EXIT_FAILED;
	off_t size;

	assert_true(fd >= 0);
	snprintf(line, sizeof(line), "--html %s %s", path, words);
	assert_int_equal(cmd_on(cmd, line, NULL), wanted);
	size = lseek(fd, 0, SEEK_END);
	assert_int_equal(size > 0, html_available());
	close(fd);
	unlink(path);
	snprintf(line, sizeof(line), "--html /nosuch/file %s", words);
	assert_int_equal(cmd_on(cmd, line, NULL), EXIT_FAILED);
	snprintf(line, sizeof(line), "--html /dev/full %s", words);
	assert_int_equal(cmd_on(cmd, line, NULL), EXIT_FAILED);
}

#endif /* TEST_CMD_H */
