/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Open the counters that -e names and connect them to the BPF programs. */
#ifndef CAPTURE_COUNTING_H
#define CAPTURE_COUNTING_H

#include "attach/attach.h"
#include "attach/counters.h"
#include "emit/emit.h"

struct counting {
	uint32_t nspecs; /* requested counters */
	struct event_spec specs[COUNTERS_MAX];
	struct counters *counters;
	uint32_t n; /* number of available counters; the arrays are in the order requested */
	uint32_t at[COUNTERS_MAX]; /* their indices in `counters` */
	const char *names[COUNTERS_MAX];
	/* bit mask of the counters that are software events, which are never multiplexed */
	uint32_t plain;
	/*
	 * bit masks of the counters of context switches and of page faults, which the BPF programs
	 * count together with a thread's time
	 */
	uint32_t switches, faults;
	struct session_counter shown[COUNTERS_MAX];
	uint32_t instructions, cycles; /* indices of these counters; MODEL_NONE: not counted */
	uint32_t nabsent; /* number of requested counters that are not available */
	struct report_uncounted absent[COUNTERS_MAX];
};

/*
 * Parse @list; NULL requests nothing. @option (-e or SBT_EVENTS) names its source in messages.
 * Return 0 or a negative errno after printing a message; -EINVAL: not a list of counter names.
 */
int counting_read(const char *option, const char *list, struct counting *out);
/*
 * Open the requested counters. Report and omit unavailable counters. Return 0, or -errno after a
 * message.
 */
int counting_open(struct counting *counting);
/* Mark all counters as unavailable for @reason, which is not copied. */
void counting_drop(struct counting *counting, const char *reason);
/* Connect the counters to the BPF programs. Return 0, or -errno after a message. */
int counting_connect(const struct counting *counting, struct attach *attach);
void counting_close(struct counting *counting);

#endif /* CAPTURE_COUNTING_H */
