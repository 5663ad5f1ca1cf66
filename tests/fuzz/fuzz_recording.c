// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
// fuzz-sources: user/cmd/pictures.c user/recording/*.c user/emit/*.c user/analyse/*.c
// fuzz-sources: user/hang/hang.c user/hang/hang_fill.c user/hang/hang_graph.c user/hang/hang_need.c
// fuzz-sources: user/hang/hang_text.c user/predict/*.c user/compare/*.c
// fuzz-sources: user/model/*.c user/base/function_name.c user/base/grow.c user/base/hash.c
// fuzz-sources: user/base/remark.c user/base/text.c user/base/progress.c user/base/output.c
// fuzz-sources: user/sites/family.c
// fuzz-sources: user/target/proc.c
// fuzz-sources: tests/fuzz/mutate_recording.c
// fuzz-libs: -l:libzstd.a -lz -lm
// fuzz-flags: -fno-sanitize-coverage=trace-cmp -UHTML_CHART -DHTML_CHART='"build/fuzz/chart/"'
/*
 * Fuzz recordings with arbitrary content, through the model to the report, in all output formats.
 * Checksums are not verified.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/remark.h"
#include "cmd/pictures.h"
#include "emit/emit.h"
#include "recording/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Discard messages: each input would cause some. */
void msg_error(const char *fmt, ...)
{
	(void)fmt;
}

void msg_warn(const char *fmt, ...)
{
	(void)fmt;
}

void msg_verbose(int verbose, const char *fmt, ...)
{
	(void)verbose;
	(void)fmt;
}

/*
 * Options that a user may give: all output, a part of the time, names of barriers and phases, or
 * hardly any output.
 */
enum { ALL, WINDOW, NAMED, LITTLE, WAYS };

static struct options_name names[] = { { "n", "lu_block" }, { "m", "gen.c:16" } };
static struct options_phase phases[] = { { "p", "", "run" },
					 { "q", "n", "cross" },
					 { "r", "read", "exchange" } };
static const char *watched[] = { "n", "#46379dd2", "246" };

static const struct options ways[WAYS] = {
	[ALL] = { .watch_all = true, .warnings = true, .warn_every = 1, .phase_times = true },
	[WINDOW] = { .watch_all = true, .warnings = true, .warn_ns = 1000, .warn_every = 3 },
	[NAMED] = { .names = names,
		    .nnames = 2,
		    .phases = phases,
		    .nphases = 3,
		    .watch = watched,
		    .nwatch = 3,
		    .phase_times = true },
	[LITTLE] = { .warn_every = 1 },
};

static int report_as(const char *path, enum emit_format format, bool drawn, int way, FILE *out)
{
	const struct pictures_paths nowhere = { .chrome = "/dev/null",
						.html = "/dev/null",
						.folded = "/dev/null",
						.folded_stacks = "/dev/null",
						.folded_late = "/dev/null" };
	struct pictures *pictures = NULL;
	struct replay_options ro = { .options = &ways[way],
				     .from_ns = way == WINDOW ? 2000000 : 0,
				     .to_ns = way == WINDOW ? 9000000 : UINT64_MAX };
	struct emit_options emit = { .format = format, .verbose = true, .detail = way != WINDOW };
	struct observer_output shown;
	struct report report;
	struct emit *e;
	struct replay *r;
	int err;

	if (drawn && pictures_open(&pictures, &nowhere))
		abort();
	ro.episode = pictures ? pictures_episode : NULL;
	ro.ctx = pictures;
	err = replay_open(path, &ro, &r);
	if (err) {
		pictures_free(pictures);
		return err;
	}
	emit.realtime_offset_ns = replay_session(r)->realtime_offset_ns;
	e = emit_new(out, &emit);
	err = e ? 0 : -ENOMEM;
	if (!err) {
		shown = emit_output(e);
		replay_show(r, &shown);
		emit_session(e, &replay_session(r)->session);
		if (pictures &&
		    pictures_begin(pictures, replay_env(r), model_start(replay_model(r)),
				   replay_session(r)->session.command, path, 0))
			abort();
		err = replay_run(r);
	}
	if (!err)
		err = replay_unmet(r, false);
	if (!err)
		err = replay_report(r, &report);
	if (!err) {
		emit_report(e, &report);
		if (pictures && pictures_end(pictures, replay_model(r), &report))
			abort();
		report_free(&report);
	}
	pictures_free(pictures);
	replay_free(r);
	if (e)
		emit_free(e);
	remarks_forget(0);
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *out;
	char path[64];
	int fd = memfd_create("recording", MFD_CLOEXEC);

	if (!out)
		out = fopen("/dev/null", "w");
	if (!out || fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/*
	 * Use one output format per input, so that twice as many inputs can be tested. Most inputs
	 * use the format that computes most.
	 */
	report_as(path,
		  size % 8 < 4	 ? EMIT_TEXT
		  : size % 8 < 7 ? EMIT_JSON
				 : EMIT_CSV,
		  size % 16 == 5, (int)(size / 8 % WAYS), out);
	close(fd);
	return 0;
}
