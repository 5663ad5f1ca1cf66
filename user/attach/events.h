/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * What the user calls a counter, and which perf event that is. Nothing is opened here: counters.h
 * does.
 *
 * A list of events is separated by commas or, as SBT_EVENTS was, by colons. A part made of the
 * letters u, k, h and p alone is a modifier of the event before it, as in perf's cycles:u.
 * Understood, in this order:
 *
 *   PMU/term=value,.../  or PMU/name/   the kernel's own names, from /sys/bus/event_source/devices
 *   cycles, instructions, ...           the kernel's generic hardware events
 *   page-faults, context-switches, ...  its software events
 *   L1-dcache-load-misses, ...          its generic cache events
 *   rNNN                                raw: a hexadecimal number for the CPU's counter
 *   PAPI_TOT_CYC, ...                   PAPI's presets, where the kernel has the same event
 *   l2d_cache_refill, ...               a name of the kernel's for the CPU's PMU, without its PMU
 *   INST_RETIRED:ANY_P, ...             libpfm4's names for this CPU, if its library is installed
 *
 * All count in user space and in the kernel unless a modifier says otherwise (PAPI itself counts
 * user space only: PAPI_TOT_INS:u is its PAPI_TOT_INS).
 */
#ifndef ATTACH_EVENTS_H
#define ATTACH_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTERS_MAX 8

enum event_source { EVENT_HARDWARE, EVENT_SOFTWARE };

/* "hardware" or "software". */
const char *event_source_name(enum event_source source);

struct event_spec {
	char name[64]; /* as the user wrote it, modifiers with it: printable ASCII */
	char what[96]; /* what that is: "raw 0x1a2"; says so where it is only near */
	char why[192]; /* why it cannot be had here; or "" */
	uint32_t type; /* of struct perf_event_attr, like the rest */
	uint64_t config, config1, config2;
	bool exclude_user, exclude_kernel, exclude_hv;
	enum event_source source;
	const char *unit; /* "ns", or "" for a number of occurrences; never freed */
};

enum events_cpu { EVENTS_CPU_OTHER, EVENTS_CPU_INTEL, EVENTS_CPU_AMD, EVENTS_CPU_ARM };

/* What names depend on. The strings are borrowed. */
struct events_host {
	const char *devices; /* the folder of the PMUs */
	const char *libpfm; /* libpfm4's library, for dlopen(); NULL: do without */
	enum events_cpu cpu;
	unsigned int cache_levels; /* 0: not known */
};

/* This machine. */
void events_host_here(struct events_host *host);

/*
 * Reads a list into @out (room for @max) and sets *@n. An event that cannot be had here, for its
 * name is not known or it is one before it by another name, stays in the list, with why. The same
 * event written twice alike counts once. Returns 0, -ENOMEM, or -EINVAL with a sentence in @why if
 * it is no list of names: an empty one in it, too many; then *@n is 0.
 */
int events_parse(const char *list, struct event_spec *out, uint32_t max, uint32_t *n, char *why,
		 size_t len);
/* The same for a machine that is described. */
int events_parse_on(const struct events_host *host, const char *list, struct event_spec *out,
		    uint32_t max, uint32_t *n, char *why, size_t len);

/*
 * Calls @each for every name that stands in a table or in the PMUs' folder (raw numbers and
 * libpfm4's names do not), until it returns other than 0; that is returned.
 */
int events_each(const struct events_host *host,
		int (*each)(void *ctx, const struct event_spec *spec), void *ctx);

#endif /* ATTACH_EVENTS_H */
