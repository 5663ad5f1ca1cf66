/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What was traced, where, and by which probes. Strings are untrusted, NULL unknown, and belong to the code that fills it. */
#ifndef ANALYSE_SESSION_H
#define ANALYSE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/report.h"

/* One probe, for the session record and for -v. */
struct session_probe {
	const char *family, *binary, *symbol;
	const char *method; /* "session", "multi", "perf" */
	uint64_t offset; /* in the file */
	const char *scope; /* "inode" (whoever runs the file) or "process" */
	const char *insn; /* what lies under it, with its class */
	const char *why; /* why this place and this method */
};

/* One option as the thesis names it, for the banner. */
struct session_setting {
	const char *name, *value;
};

/* One counter, for the session record. */
struct session_counter {
	const char *name;
	const char *source; /* "hardware", "software" */
	const char *unit;
};

struct session {
	const char *version, *kernel;
	const char *mode; /* command, pid, system, hang */
	const char *command; /* joined by spaces; NULL */
	uint64_t clock_start_ns;
	uint32_t nprobes;
	const struct session_probe *probes;
	uint32_t ncounters;
	const struct session_counter *counters;
	uint32_t nuncounted;
	const struct report_uncounted *uncounted; /* those that cannot be had */
	uint32_t nsettings;
	const struct session_setting *settings;
	bool banner; /* SBT_OPTIONS */
	uint64_t armed_ns; /* from the start of sbt-trace to the first record possible */
};

#endif /* ANALYSE_SESSION_H */
