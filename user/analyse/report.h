/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The report: the model's figures put into the order in which a person wants them, with a verdict and an
 * advice each. Pure. Everything that emit/ prints is a field of one of these structs; emit/fields.c lists
 * them once for all formats.
 *
 * Conventions: times in ns; REPORT_UNKNOWN (u64) or NAN (double) is unknown and is shown as such;
 * strings are UTF-8-or-worse from outside unless said otherwise, NULL is unknown.
 */
#ifndef ANALYSE_REPORT_H
#define ANALYSE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"
#include "sites/site.h"

#define REPORT_UNKNOWN MODEL_UNKNOWN

/* sum, min, mean, max, stddev of a quantity in ns. n == 0: all unknown. */
struct report_times {
	uint64_t n;
	uint64_t sum, min, max;
	double mean, stddev;
	const uint32_t *hist; /* 64 log-2 buckets, or NULL */
};

/* POP efficiencies, 0 to 1, NAN unknown (the design's model, "Efficiencies"). */
struct report_efficiency {
	double parallel, load_balance, serialisation, transfer, communication;
};

/* One thread at one barrier, over all its episodes; or of one process, over all barriers. */
struct report_thread {
	uint32_t tid;
	uint32_t index; /* ordinal within the process, by first crossing */
	const char *comm;
	uint64_t crossings;
	uint64_t wait_ns, idle_ns, work_ns; /* work_ns REPORT_UNKNOWN if no phase is known */
	uint64_t wait_max_ns;
	uint64_t last; /* times it came last */
	double last_share; /* of the episodes */
};

struct report_callsite {
	const char *function, *file, *module;
	uint32_t line;
	uint64_t offset;
	const char *inlined; /* "a <- b": the frames it was inlined into; NULL none */
};

enum report_pattern {
	REPORT_BALANCED, /* little is lost */
	REPORT_STATIC, /* the same threads always come late: repartition */
	REPORT_ROTATING, /* another thread each time: fewer barriers, dynamic scheduling */
	REPORT_MIXED_LOSS, /* both */
	REPORT_COSTLY, /* the barrier itself is dear */
	REPORT_FEW, /* too few complete episodes to say */
};

struct report_barrier {
	char id[17]; /* "#" and hexadecimal digits: from family, module, function, line or offset */
	uint32_t index; /* in the model */
	uint32_t pid;
	const char *comm;
	const char *family; /* "pthread" */
	const char *kind; /* "explicit" */
	const char *name; /* given by program or user; NULL */
	const char *function, *file, *module;
	uint32_t line;
	uint64_t offset;
	char label
		[192]; /* how text names it: name, or function file:line, or module+0xoffset; made printable */
	char object[128]; /* the object's symbol or address */
	uint32_t ncallsites; /* > 1: mixed */
	struct report_callsite *callsites;
	uint64_t episodes, incomplete, ambiguous, crossings;
	uint32_t participants, participants_min; /* most and fewest members of a complete episode */
	bool shared, nested;

	struct report_times phase_ns, barrier_ns, wait_ns, release_ns;
	uint64_t lost_ns; /* sum of wait */
	uint64_t gain_ns; /* potential gain: lost / n */
	double share; /* phase time over the process's elapsed time */
	double imbalance; /* lost / (phase time x members): the share of its phases' thread time that is lost waiting */
	double load_balance,
		serialisation; /* of the site: mean/max of W_i, max W_i / sum_k max w_ik */
	double release_share; /* release latencies / (phase time x members) */
	uint32_t last_tid; /* who comes last most often; 0 none */
	const char *last_comm;
	uint64_t last_count;
	double last_share; /* of the complete episodes */
	enum report_pattern pattern;
	char verdict[256]; /* one sentence */
	char advice[256]; /* one sentence; "" none */
	uint32_t nthreads;
	struct report_thread *threads; /* by index */
	uint32_t nlongest;
	struct model_longest longest[MODEL_LONGEST]; /* release_ns from clock start */
};

struct report_phase {
	uint32_t pid;
	char from_id[17], to_id[17]; /* "" : the start */
	char from[192], to[192]; /* labels; "start" */
	uint64_t occurrences;
	struct report_times phase_ns;
	uint64_t lost_ns;
	double share; /* of the process's elapsed time */
	double imbalance; /* lost / thread time */
};

struct report_process {
	uint32_t index; /* in the model */
	uint32_t pid;
	const char *comm;
	uint32_t parent; /* pid, 0 unknown */
	bool exited;
	uint64_t elapsed_ns; /* T */
	uint64_t ideal_ns; /* T_ideal */
	uint32_t threads; /* that crossed a barrier */
	uint64_t episodes, incomplete, ambiguous, crossings, abandoned, lost;
	uint64_t outside_ns; /* sum of u_i */
	uint64_t wait_ns, release_ns; /* sums over threads */
	struct report_efficiency efficiency;
	double lost_static, lost_rotating,
		lost_transfer; /* shares of T x n lost to each: PE = 1 - their sum (peeled in that order) */
	bool meets_others; /* at barriers that processes share */
	enum report_pattern pattern;
	char verdict[256], advice[256];
	const char *departures; /* "return probe", "ret instructions", ...; NULL unknown */
	uint64_t cost_ns; /* estimated: hits x calibrated price; REPORT_UNKNOWN */
	double cost_share; /* of its threads' time outside barriers */
	uint32_t nmembers;
	struct report_thread *members; /* over all barriers, by index */
};

struct report_loss {
	const char *cause; /* "ring_full", ...: lower_snake, ours */
	const char *text; /* for people, ours */
	uint64_t count;
};

struct report {
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t end_ns;
	bool interim;
	uint32_t nprocesses;
	struct report_process *processes; /* with crossings, most lost time first */
	uint32_t nbarriers;
	struct report_barrier *barriers; /* most lost time first */
	uint32_t nphases;
	struct report_phase *phases; /* most time first */
	uint64_t episodes, incomplete, ambiguous, crossings;
	uint64_t produced, consumed, lost; /* records; produced = consumed + lost */
	uint32_t nlosses;
	struct report_loss *losses; /* every cause, also those with 0 */
	bool complete; /* nothing was lost */
	double crossing_cost_ns; /* calibrated price of a crossing; NAN unknown */
	uint64_t tracer_cpu_ns; /* CPU time sbt-trace itself used; REPORT_UNKNOWN */
	void *arena; /* owns all strings and arrays */
};

/* What the pure code must be told. All callbacks may return NULL / unknown. */
struct report_env {
	void *ctx;
	/* Facts of a call site; valid as long as the env. */
	const struct site_name *(*site)(void *ctx, uint32_t site);
	/* The name that the user or the program gave a barrier. */
	const char *(*barrier_name)(void *ctx, const struct model_barrier *barrier);
	/* The symbol of the barrier object in the process. */
	const char *(*object_name)(void *ctx, const struct model_barrier *barrier);
	const char *(*family_name)(void *ctx, uint8_t family);
	const char *(*family_kind)(void *ctx, uint8_t family);
	/* How departures of the process are seen. */
	const char *(*departures)(void *ctx, const struct model_proc *proc);
	/* One crossing of this process, both probes, ns; NAN unknown. NULL: crossing_cost_ns for all. */
	double (*crossing_cost)(void *ctx, const struct model_proc *proc);
	double crossing_cost_ns; /* one crossing, both probes; NAN unknown */
	uint64_t tracer_cpu_ns;
	uint64_t produced, consumed;
	const struct report_loss *losses;
	uint32_t nlosses;
	uint64_t end_ns;
	bool interim;
};

/*
 * Builds the report from a model (finished, or at any time for an interim one: then open intervals
 * count up to end_ns). Returns 0 and fills *out (to be released by report_free()), or -ENOMEM.
 */
int report_build(const struct model *model, const struct report_env *env, struct report *out);
void report_free(struct report *report);

/* The id, label and call-site strings of one barrier, for episodes and warnings as they happen. */
int report_barrier_name(const struct model *model, const struct report_env *env, uint32_t index,
			struct report_barrier *out, void **arena);
void report_arena_free(void *arena);
/* What text calls one call site, made printable, into out[size]. Returns 0 or -ENOMEM. */
int report_site_label(const struct report_env *env, uint32_t site, char *out, size_t size);

#endif /* ANALYSE_REPORT_H */
