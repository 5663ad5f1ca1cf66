/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The thread that examines programs in which a barrier hangs, so that the processing of records is
 * not delayed. The worker has one job at a time. All functions here must be called by a single
 * other thread.
 */
#ifndef HANG_HANG_WORKER_H
#define HANG_HANG_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "hang/hang.h"
#include "hang/hang_collect.h"

struct hang_worker;

/* A question to the worker, and its results. */
struct hang_job {
	struct hang_collect_question question;
	uint32_t n; /* number of barriers to classify */
	uint32_t *which; /* their indexes in .question */
	uint32_t *known; /* the caller's own index of each barrier */
	struct report_hang *out;
	int *err; /* of each barrier: 0 or -errno */
	int look_err; /* result of hang_collect_look() */
};

/*
 * Allocate a job with room for @nbarriers in all its arrays, which are empty. Return 0 or -ENOMEM.
 */
int hang_job_new(uint32_t nbarriers, struct hang_job **out);
/* Free the job with its question and results; NULL is allowed. */
void hang_job_free(struct hang_job *job);

/*
 * The thread starts with the first job. @debuginfod: ask the debuginfod servers for names. Return 0
 * or -ENOMEM.
 */
int hang_worker_new(bool debuginfod, struct hang_worker **out);
/* Free the worker, after the running job has finished. */
void hang_worker_free(struct hang_worker *hang_worker);
/*
 * Start @job, which the worker then owns. The worker must have no other job. Return 0, or -errno if
 * the thread cannot be created.
 */
int hang_worker_start(struct hang_worker *hang_worker, struct hang_job *job);
/* Return whether the worker has a job that was not taken back. */
bool hang_worker_has(const struct hang_worker *hang_worker);
/* Return the job if it is done, or NULL. With @wait, wait until it is done. The caller frees it. */
struct hang_job *hang_worker_take(struct hang_worker *hang_worker, bool wait);

#endif /* HANG_HANG_WORKER_H */
