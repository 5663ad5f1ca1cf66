/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Parsers for each kind of event name, only for use within attach/. @name is the name to resolve,
 * and @spec receives the event. @why receives a sentence for the user.
 */
#ifndef ATTACH_EVENT_NAMES_H
#define ATTACH_EVENT_NAMES_H

#include "attach/events.h"

/* All parsers return 0, -ENOENT for a name of another kind, or -EINVAL with a sentence in @why. */

/* Parse a name of the kernel's generic hardware, software or cache events. */
int event_generic(struct event_spec *spec, const char *name);
int event_generic_each(int (*each)(void *ctx, const char *name), void *ctx);

/* Parse PMU/.../; anything after the second slash is ignored. */
int event_pmu(const struct events_host *host, struct event_spec *spec, const char *name, char *why,
	      size_t len);
/* Parse a name in the events directory of one of the CPUs' PMUs. */
int event_pmu_bare(const struct events_host *host, struct event_spec *spec, const char *name,
		   char *why, size_t len);
int event_pmu_each(const struct events_host *host, int (*each)(void *ctx, const char *name),
		   void *ctx);
/*
 * Set @spec->why if the PMU of @spec->type counts for several CPUs together, and so not for one
 * thread.
 */
void event_pmu_check(const struct events_host *host, struct event_spec *spec);

/* Parse the name of a PAPI preset. Set @spec->why if its event does not exist on this machine. */
int event_papi(const struct events_host *host, struct event_spec *spec, const char *name, char *why,
	       size_t len);
int event_papi_each(int (*each)(void *ctx, const char *name), void *ctx);

/*
 * libpfm4, which is loaded for the first name that no other parser knows. All zero: not loaded yet.
 */
struct event_pfm {
	bool tried;
	void *lib; /* NULL: not available */
};
int event_pfm(const struct events_host *host, struct event_pfm *pfm, struct event_spec *spec,
	      const char *name, char *why, size_t len);
void event_pfm_close(struct event_pfm *pfm);

/* Parse "N" or "N-M" at @text. Return where the range ends, or NULL if there is no range. */
const char *event_range(const char *text, unsigned long *low, unsigned long *high);
/* Write a sentence into @why and return -EINVAL. */
int event_fail(char *why, size_t len, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif /* ATTACH_EVENT_NAMES_H */
