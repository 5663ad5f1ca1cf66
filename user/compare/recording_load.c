// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "compare/recording_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "recording/replay.h"

static void on_episode(void *ctx, const struct model *model, const struct model_episode *episode)
{
	(void)model;
	batches_episode(ctx, episode);
}

int compare_recording_load(const char *path, struct compare_recording *out)
{
	/* Only the report is needed: no live output, names or warnings. */
	static const struct options nothing;
	struct replay_options ro = { .options = &nothing,
				     .to_ns = UINT64_MAX,
				     .episode = on_episode,
				     .ctx = &out->batches };
	struct replay *replay = NULL;
	int err;

	memset(out, 0, sizeof(*out));
	err = replay_open(path, &ro, &replay);
	if (err)
		return err;
	err = replay_run(replay);
	if (err)
		goto fail;
	replay_want_functions(replay);
	err = replay_report(replay, &out->report);
	if (err) {
		msg_error("cannot read %s: %s", path, strerror(-err));
		goto fail;
	}
	out->command = replay_session(replay)->session.command;
	out->owner = replay;
	return 0;
fail:
	batches_free(&out->batches);
	replay_free(replay);
	return err;
}

void compare_recording_free(struct compare_recording *r)
{
	report_free(&r->report);
	batches_free(&r->batches);
	replay_free(r->owner);
	memset(r, 0, sizeof(*r));
}
