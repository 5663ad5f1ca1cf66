// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* sbt-trace trace and record: from the command line to a tracing session. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/msg.h"
#include "capture/capture.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/trace.h"
#include "sites/reader.h"

/* Does COMMAND carry the markers of include/sbt/sbt.h? Then it takes the library's options, too. */
static bool has_marks(const struct options *o)
{
	const char *path = getenv("PATH"), *end;
	char file[PATH_MAX];

	if (o->mode != OPTIONS_COMMAND)
		return false;
	if (strchr(o->command[0], '/'))
		return reader_file_has_marks(o->command[0], "sbt");
	for (; path; path = *end ? end + 1 : NULL) {
		end = strchrnul(path, ':');
		if ((size_t)snprintf(file, sizeof(file), "%.*s/%s", (int)(end - path), path,
				     o->command[0]) < sizeof(file) &&
		    !access(file, X_OK))
			return reader_file_has_marks(file, "sbt");
	}
	return false;
}

/* sbt-trace record: what is printed of what happens goes nowhere. */
static int record_only(struct options *o)
{
	o->only_record = true;
	if (!o->output || o->record) {
		msg_error("record: where to? -o FILE");
		return -EINVAL;
	}
	if (o->format != EMIT_TEXT) {
		msg_error("record writes a recording: --json and --csv are report's");
		return -EINVAL;
	}
	if (o->aggregate) {
		msg_error("record writes single crossings: --aggregate has none");
		return -EINVAL;
	}
	o->record = o->output;
	o->output = "/dev/null";
	return 0;
}

static int run_options(struct options *o, const struct capture_hook *hook, enum options_help what)
{
	int err;

	if (what == OPTIONS_HELP_RECORD && record_only(o))
		return EXIT_USAGE;
	err = has_marks(o) ? options_read_words(o) : 0;
	if (err)
		return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	return capture_run(o, hook);
}

static int run(int argc, char **argv, const struct capture_hook *hook, enum options_help what)
{
	struct options o = { 0 };
	enum options_result result = options_parse(argc, argv, what, &o);
	int status = result == OPTIONS_DONE    ? 0
		     : result == OPTIONS_WRONG ? EXIT_USAGE
		     : result == OPTIONS_GO    ? run_options(&o, hook, what)
					       : EXIT_FAILED;

	options_free(&o);
	return status;
}

int trace_run(int argc, char **argv, const struct capture_hook *hook)
{
	return run(argc, argv, hook, OPTIONS_HELP_TRACE);
}

int cmd_trace(int argc, char **argv)
{
	return run(argc, argv, NULL, OPTIONS_HELP_TRACE);
}

int cmd_bare(int argc, char **argv)
{
	return run(argc, argv, NULL, OPTIONS_HELP_GENERAL);
}

int cmd_record(int argc, char **argv)
{
	return run(argc, argv, NULL, OPTIONS_HELP_RECORD);
}
