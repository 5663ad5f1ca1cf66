/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
#ifndef CAPTURE_TRACKER_OPTIONS_H
#define CAPTURE_TRACKER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tracker_options {
	bool discover; /* find barriers that were not named (--discover) */
	bool discover_all; /* find unnamed barriers in all processes (-a) */
	bool waits_reported; /* threads that wait without probes are reported (SBT_REC_UNPROBED) */
	bool turns; /* measure how long threads wait for their turn */
	bool accesses; /* attach probes to the markers of remote data, for a recording */
	const char *comm; /* -a: trace only processes of this name; NULL: all processes */
	/*
	 * processes are traced that already run, and may be inside parallel regions of OpenMP
	 */
	bool running;
	bool children; /* trace the children of traced processes */
	/* set by tracker_new(): the dynamic linkers of all processes are probed */
	bool all_loaders;
	bool by_process; /* each process has its own probes, which other processes do not hit */
	bool apart; /* each probe group can be removed on its own (--cost-limit) */
	int verbose;
};

#endif /* CAPTURE_TRACKER_OPTIONS_H */
