/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * What is said of a prediction: the figures of each number of processors with the names of its phases, what they
 * assume, and what they may be wrong for. Pure. Everything that emit/ prints of it is a field of these;
 * REPORT_UNKNOWN and NAN are unknown, and so is a string that is NULL.
 */
#ifndef PREDICT_PREDICT_REPORT_H
#define PREDICT_PREDICT_REPORT_H

#include "predict/predict.h"
#include "predict/predict_input.h"

/* What a site of the input is called: by its index. */
struct prediction_site {
	const char *id; /* of a barrier; NULL: it is none */
	const char *label;
};

/* The phases that end at one site, over the run. */
struct prediction_phase {
	const char *id, *label;
	uint64_t episodes;
	uint64_t time_ns; /* their sum; those of one team add up to the whole */
	double share; /* of the predicted time */
	uint64_t work_ns, wait_ns, barrier_ns, access_ns,
		queue_ns; /* of all threads: see predict_phase */
};

struct prediction {
	const char *recording; /* of several, which one; NULL: there is one */
	const char *machine, *barrier_model;
	uint32_t processors, threads;
	uint64_t time_ns;
	double speedup; /* against one processor of the same machine; of several recordings, that with the fewest threads */
	double efficiency; /* speedup over processors */
	const char *limit, *limit_label; /* the phase that keeps most processor time from work */
	const char *because; /* "imbalance", "barriers", ... */
	uint64_t balanced_ns, barrier_free_ns, access_free_ns; /* the time if */
	uint32_t nphases; /* those that took time; most first */
	struct prediction_phase *phases;
};

struct prediction_note {
	const char *kind; /* "assumption", "warning" */
	const char *text; /* a sentence */
};

struct predictions {
	uint32_t n, recordings;
	struct prediction *all; /* by processors; of several recordings by their threads first */
	uint32_t best; /* the fewest processors that are next to as fast as any: index */
	uint32_t nnotes;
	struct prediction_note *notes; /* warnings first */
	uint64_t serial_ns, ideal_ns,
		recorded_ns; /* one processor; no costs, one each; as it ran here */
	void *arena;
};

/*
 * What predictions_build() is made from; nothing of it is kept but what the site names point to, which must
 * outlive it.
 */
struct prediction_source {
	const struct predict_input *in;
	const struct predict_facts *facts;
	const struct predict_machine *machine;
	const struct predict_result *result;
	const struct prediction_site *sites; /* result's points have nsites of them, and the tail */
	uint32_t nsites;
};

/* Returns 0 and fills *out (to be released by predictions_free()), or -ENOMEM. */
int predictions_build(const struct prediction_source *s, struct predictions *out);
/*
 * Several recordings of a program, one for each number of threads, as one curve: the points of all of them, and what
 * is said of each, with its name where it is not said of all. @of, what they point to and @names must outlive *out.
 * The same.
 */
int predictions_join(const struct predictions *of, const char *const *names, uint32_t n,
		     struct predictions *out);
void predictions_free(struct predictions *p);

#endif /* PREDICT_PREDICT_REPORT_H */
