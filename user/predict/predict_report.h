/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The report of a prediction: the figures for each number of processors and for its phases, the
 * assumptions, and the warnings. This code does no I/O. emit/ prints only these fields.
 * REPORT_UNKNOWN, NAN and a NULL string mean unknown.
 */
#ifndef PREDICT_PREDICT_REPORT_H
#define PREDICT_PREDICT_REPORT_H

#include "predict/predict.h"
#include "predict/predict_input.h"

/* The name of a site of the input. */
struct prediction_site {
	const char *id; /* id of a barrier; NULL if the site is no barrier */
	const char *label;
};

/* Sums over the phases that end at one site. */
struct prediction_phase {
	const char *id, *label;
	uint64_t episodes;
	/* phase time; for one team, the phase times add up to the predicted time */
	uint64_t time_ns;
	double share; /* time_ns as a share of the predicted time */
	/* Summed over all threads; see struct predict_phase. */
	uint64_t work_ns, wait_ns, barrier_ns, access_ns, queue_ns;
};

struct prediction {
	const char *recording; /* name of the recording; NULL if there is only one */
	const char *machine, *barrier_model;
	uint32_t processors, threads;
	uint64_t time_ns;
	/*
	 * Time on one processor of the same machine / time_ns. If there are several recordings, the
	 * time on one processor is that of the recording with the fewest threads.
	 */
	double speedup;
	double efficiency; /* speedup / processors */
	const char *limit, *limit_label; /* the phase that loses most processor time */
	const char *because; /* "imbalance", "barriers", ... */
	/* times of the what-ifs, see predict_point */
	uint64_t balanced_ns, barrier_free_ns, access_free_ns;
	uint32_t nphases; /* phases that took time, longest first */
	struct prediction_phase *phases;
};

struct prediction_note {
	const char *kind; /* "assumption", "warning" */
	const char *text; /* a sentence */
};

struct predictions {
	uint32_t n, recordings;
	/* ordered by processors; with several recordings, first by threads */
	struct prediction *all;
	/* index of the first entry that is about as fast as the fastest */
	uint32_t best;
	uint32_t nnotes;
	struct prediction_note *notes; /* warnings first */
	uint64_t serial_ns; /* time on one processor */
	uint64_t ideal_ns; /* time with a processor per thread, without costs */
	uint64_t recorded_ns; /* recorded time */
	void *arena;
};

/* The input of predictions_build(). Only the site names must outlive the result. */
struct prediction_source {
	const struct predict_input *in;
	const struct predict_facts *facts;
	const struct predict_machine *machine;
	const struct predict_result *result;
	/* Indexed by site of the input, without the site for begins of parallel parts. */
	const struct prediction_site *sites;
	uint32_t nsites;
};

/* Fill *out, which predictions_free() frees. Return 0 or -ENOMEM. */
int predictions_build(const struct prediction_source *s, struct predictions *out);
/*
 * Join the predictions from recordings of a program with different numbers of threads into one
 * curve. It has the points and notes of all predictions. A note that does not apply to all
 * recordings begins with the name of its recording. @of and @names must outlive *out. Return the
 * same as predictions_build().
 */
int predictions_join(const struct predictions *of, const char *const *names, uint32_t n,
		     struct predictions *out);
void predictions_free(struct predictions *p);

#endif /* PREDICT_PREDICT_REPORT_H */
