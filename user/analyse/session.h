/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * What was traced, on which system, and by which probes. Strings are untrusted and not owned. NULL
 * means unknown.
 */
#ifndef ANALYSE_SESSION_H
#define ANALYSE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/report.h"

/* One probe, for the session record and for -v. */
struct session_probe {
	const char *family, *binary, *symbol;
	const char *method; /* "session", "multi", "perf" */
	uint64_t offset; /* offset of the probe site in the file */
	const char *scope; /* "inode" for every process that runs the file, or "process" */
	const char *insn; /* the instruction at the probe site and its class (elf/insn.h) */
	const char *why; /* reason for this probe site and this method */
};

/*
 * One option for the banner, under the name that it has in the SBT thesis (Novillo, University of
 * Alberta, 2002).
 */
struct session_setting {
	const char *name, *value;
};

/* One counter, for the session record. */
struct session_counter {
	const char *name;
	const char *source; /* "hardware", "software" */
	const char *unit;
};

/* How the departures of the barriers of a family are found. */
struct session_departures {
	const char *family;
	const char *method; /* "seen" or "inferred" */
	const char *why;
};

struct session {
	const char *version, *kernel;
	const char *mode; /* "command", "pid", "system", "hang" or "prediction" */
	const char *command; /* the command line, joined by spaces; NULL if none */
	uint64_t clock_start_ns;
	uint32_t nprobes;
	const struct session_probe *probes;
	uint32_t ncounters;
	const struct session_counter *counters;
	uint32_t nuncounted;
	/* counters that were requested but are not available */
	const struct report_uncounted *uncounted;
	uint32_t ndepartures;
	const struct session_departures *departures;
	uint32_t nsettings;
	const struct session_setting *settings;
	bool banner; /* print a banner with the settings (SBT_OPTIONS) */
	uint64_t armed_ns; /* time from the start of sbt-trace to the first possible record, ns */
};

#endif /* ANALYSE_SESSION_H */
