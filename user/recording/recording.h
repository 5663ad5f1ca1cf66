/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Write a recording: all inputs of the model, and all answers to the report's questions. */
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
 * Open the file. Its old contents stay until recording_keep(). If that is never called, a file that
 * did not exist is removed again. Return 0 and *out, or -errno after an error message.
 */
int recording_open(const char *path, struct recording **out);
/*
 * Like recording_open() for a file that the user did not name. recording_keep() renames an existing
 * recording to PATH.old. Refuse a PATH or PATH.old that is no recording, such as a link. Until
 * recording_keep(), the new file has another name in the same directory.
 */
int recording_open_default(const char *path, struct recording **out);
/*
 * Record the answers to all questions that are asked through @env, and through @causes if not NULL,
 * from now on. Both must outlive the recording.
 */
void recording_listen(struct recording *recording, struct report_env *env,
		      struct cause_env *causes);
/*
 * Record all inputs of @model. Call this before the first input. Return 0 or -errno after an error
 * message.
 */
int recording_begin(struct recording *recording, struct model *model);
/*
 * Ask all questions that a report would ask about the process, because the answers are unknown
 * later.
 */
void recording_process(struct recording *recording, const struct model_proc *process);
/*
 * Write the recording so far, and all later records, to the file. Call this once the traced program
 * runs. Further calls do nothing. Return 0 or -errno after an error message.
 */
int recording_keep(struct recording *recording);
void recording_hang(struct recording *recording, const struct report_hang *hang);
void recording_session(struct recording *recording, const struct session *session,
		       int64_t realtime_offset_ns);
/* Write to the file from time to time. Return 0, or the first write error. */
int recording_step(struct recording *recording, uint64_t now_ns);
/* Write to the file now. Return 0, or the first write error. */
int recording_now(struct recording *recording);
/*
 * Name the remaining sites, after the report has been built. A site that has no name after this
 * call never gets one.
 */
void recording_names(struct recording *recording);
void recording_ending(struct recording *recording, uint64_t end_ns);
/*
 * Close the file. @brag: report its size. Return 0 or -errno after an error message: the file can
 * then be read up to the error.
 */
int recording_close(struct recording *recording, bool brag);

#endif /* RECORDING_RECORDING_H */
