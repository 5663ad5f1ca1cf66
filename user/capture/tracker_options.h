/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
#ifndef CAPTURE_TRACKER_OPTIONS_H
#define CAPTURE_TRACKER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tracker_options {
	bool discover; /* look for barriers that nobody named */
	bool discover_all; /* in whoever runs, too (-a) */
	bool waits_reported; /* who begins to wait without probes is told of: SBT_REC_UNPROBED */
	bool turns; /* how long threads wait for their turn is measured */
	bool accesses; /* markers of remote data, too: somebody keeps what they tell */
	const char *comm; /* -a: only processes of this name; NULL all */
	bool children; /* processes that nobody named are traced, too */
	bool all_loaders; /* the dynamic linkers of all processes are probed: set by tracker_new() */
	bool by_process; /* probes for each process, none that strangers meet */
	bool apart; /* what can be shed alone has probes that can be removed alone (--cost-limit) */
	int verbose;
};

#endif /* CAPTURE_TRACKER_OPTIONS_H */
