/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Output while the program runs, in the format of figures 3.6, 3.10 and 5.12 of the thesis that
 * emit/emit.h names.
 */
#ifndef EMIT_LIVE_TEXT_H
#define EMIT_LIVE_TEXT_H

#include "emit/fields.h"
#include "emit/textout.h"

void live_banner(struct textout *t, const struct session *session);
void live_probes(struct textout *t, const struct session *session,
		 const struct fields_context *context);
void live_watched(struct textout *t, const struct observed_episode *episode,
		  const struct fields_context *context);
void live_named(struct textout *t, const struct observed_episode *episode,
		const struct fields_context *context);
void live_warning(struct textout *t, const struct observed_episode *episode, uint64_t threshold_ns,
		  const struct fields_context *context);
void live_phase_time(struct textout *t, const struct observed_episode *episode,
		     const struct fields_context *context);

#endif /* EMIT_LIVE_TEXT_H */
