/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* A recording of what is being traced: all that goes into the model, and all that the report asks about it. */
#ifndef RECORDING_RECORDING_H
#define RECORDING_RECORDING_H

#include <stdint.h>

#include "analyse/cause.h"
#include "analyse/conceptual.h"
#include "analyse/report.h"
#include "analyse/session.h"
#include "model/message.h"
#include "model/model.h"

struct recording;

/*
 * Opens the file, which keeps what it has until recording_keep(); one that was not there before is gone again if that never
 * comes. Returns 0 and *out, or a negative errno, told.
 */
int recording_open(const char *path, struct recording **out);
/*
 * From here on what is asked of @env, and of @causes if it is not NULL, is put on record with the answer. Both must outlive
 * the recording.
 */
void recording_listen(struct recording *recording, struct report_env *env,
		      struct cause_env *causes);
/* What goes into the model is put on record, from its beginning on. Returns 0 or a negative errno, told. */
int recording_begin(struct recording *recording, struct model *model);
/* What a report would ask of the process, which will not be known any more at the end. */
void recording_process(struct recording *recording, const struct model_proc *process);
/* That a thread touched another one's data. */
void recording_message(struct recording *recording, const struct model_message *message);
/*
 * What is traced runs: what there is goes into the file, and from here on all else. More than once does no harm. Returns 0 or a
 * negative errno, told.
 */
int recording_keep(struct recording *recording);
/* Of a marker of the program's. */
void recording_mark(struct recording *recording, uint32_t site, const struct conceptual_mark *mark);
void recording_hang(struct recording *recording, const struct report_hang *hang);
void recording_session(struct recording *recording, const struct session *session,
		       int64_t realtime_offset_ns);
/* Now and then: what there is reaches the file. Returns 0, or the first error of writing. */
int recording_step(struct recording *recording, uint64_t now_ns);
/* The same at once. */
int recording_now(struct recording *recording);
/* After the report has been built: the rest of the names. What could not be named is known after that. */
void recording_names(struct recording *recording);
void recording_ending(struct recording *recording, uint64_t end_ns);
/*
 * Closes the file. @brag: says what is in it. Returns 0 or a negative errno, told: then the file reads up to where it failed.
 */
int recording_close(struct recording *recording, bool brag);

#endif /* RECORDING_RECORDING_H */
