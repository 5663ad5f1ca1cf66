/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Names of counters, and their perf events. Nothing is opened here, see counters.h.
 *
 * Events in a list are separated by commas or, for compatibility with SBT_EVENTS, by colons. A part
 * that consists only of the letters u, k, h and p modifies the event before it, as in perf's
 * cycles:u. Names are tried in this order:
 *
 *   PMU/term=value,.../  or PMU/name/   the kernel's own names, from /sys/bus/event_source/devices
 *   cycles, instructions, ...           the kernel's generic hardware events
 *   page-faults, context-switches, ...  the kernel's software events
 *   L1-dcache-load-misses, ...          the kernel's generic cache events
 *   rNNN                                raw: a hexadecimal number for the CPU's counter
 *   PAPI_TOT_CYC, ...                   PAPI's presets, where the kernel has the same event
 *   l2d_cache_refill, ...               a kernel name for the CPU's PMU, without the PMU
 *   INST_RETIRED:ANY_P, ...             libpfm4's names for this CPU, if it is installed
 *
 * All events count in user space and in the kernel unless a modifier says otherwise (PAPI itself
 * counts user space only: its PAPI_TOT_INS is PAPI_TOT_INS:u here).
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
	char name[64]; /* as in the list, with modifiers: printable ASCII */
	char what[96]; /* description, such as "raw 0x1a2"; says if the event is only approximate */
	char why[192]; /* why the event is not available here; or "" */
	uint32_t type; /* this and the next members: fields of struct perf_event_attr */
	uint64_t config, config1, config2;
	bool exclude_user, exclude_kernel, exclude_hv;
	enum event_source source;
	const char *unit; /* "ns", or "" for a number of events; never freed */
};

enum events_cpu { EVENTS_CPU_OTHER, EVENTS_CPU_INTEL, EVENTS_CPU_AMD, EVENTS_CPU_ARM };

/* The properties of a machine on which the meaning of names depends. The strings are borrowed. */
struct events_host {
	const char *devices; /* the directory of the PMUs */
	const char *libpfm; /* libpfm4's library, for dlopen(); NULL: do not use it */
	enum events_cpu cpu;
	unsigned int cache_levels; /* 0: unknown */
};

/* Describe this machine. */
void events_host_here(struct events_host *host);

/*
 * Parse a list into @out (room for @max) and set *@n. An unavailable event remains in the list,
 * with the reason in `why`. For example, its name is unknown, or an earlier name in the list means
 * the same event. If a name occurs twice, the event is counted once. Return 0, -ENOMEM, or -EINVAL
 * with a sentence in @why for an invalid list (an empty name, too many events); then *@n is 0.
 */
int events_parse(const char *list, struct event_spec *out, uint32_t max, uint32_t *n, char *why,
		 size_t len);
/* Parse a list in the same way for a given machine. */
int events_parse_on(const struct events_host *host, const char *list, struct event_spec *out,
		    uint32_t max, uint32_t *n, char *why, size_t len);

/*
 * Call @each for every generic event, every event in the PMUs' directories and every PAPI preset
 * (not for raw numbers and libpfm4's names) until @each returns a value other than 0. Return that
 * value.
 */
int events_each(const struct events_host *host,
		int (*each)(void *ctx, const struct event_spec *spec), void *ctx);

#endif /* ATTACH_EVENTS_H */
