/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* -e: from the names that the user gave to counters that the programs read. */
#ifndef CAPTURE_COUNTING_H
#define CAPTURE_COUNTING_H

#include "attach/attach.h"
#include "attach/counters.h"
#include "emit/emit.h"

struct counting {
	uint32_t nspecs; /* as asked for */
	struct event_spec specs[COUNTERS_MAX];
	struct counters *counters;
	uint32_t n; /* those that can be had, in the order in which they were asked for */
	uint32_t at[COUNTERS_MAX]; /* their numbers in `counters` */
	const char *names[COUNTERS_MAX];
	uint32_t plain; /* a bit each: software events, which count all the time */
	uint32_t switches, faults; /* of those, what is counted with a thread's time */
	struct session_counter shown[COUNTERS_MAX];
	uint32_t instructions, cycles; /* which of them these are; MODEL_NONE: none */
	uint32_t nabsent; /* and those that cannot be had */
	struct report_uncounted absent[COUNTERS_MAX];
};

/*
 * Reads @list; NULL: nothing is asked for. @option, -e or SBT_EVENTS, is who asks, for the message.
 * Returns 0, or a negative errno, told: -EINVAL where it is no list of names.
 */
int counting_read(const char *option, const char *list, struct counting *out);
/* Opens what was asked for. What cannot be had is told and left out. Returns 0 or -errno, told. */
int counting_open(struct counting *counting);
/* Nothing can be counted after all: @reason is borrowed. */
void counting_drop(struct counting *counting, const char *reason);
/* Hands them to the programs. Returns 0 or -errno, told. */
int counting_connect(const struct counting *counting, struct attach *attach);
void counting_close(struct counting *counting);

#endif /* CAPTURE_COUNTING_H */
