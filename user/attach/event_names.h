/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The kinds of names, for events.c alone. @spec->name is what to resolve; why is a sentence for the
 * user.
 */
#ifndef ATTACH_EVENT_NAMES_H
#define ATTACH_EVENT_NAMES_H

#include "attach/events.h"

/*
 * All return 0, -ENOENT for a name that is not of their kind, or -EINVAL with a sentence in @why.
 */

/* Of the kernel's tables: generic hardware, software and cache events. */
int event_generic(struct event_spec *spec, const char *name);
int event_generic_each(int (*each)(void *ctx, const char *name), void *ctx);

/* PMU/.../; what is after the second slash is not looked at. */
int event_pmu(const struct events_host *host, struct event_spec *spec, const char *name, char *why,
	      size_t len);
/* A name in the events folder of a PMU of the CPUs. */
int event_pmu_bare(const struct events_host *host, struct event_spec *spec, const char *name,
		   char *why, size_t len);
int event_pmu_each(const struct events_host *host, int (*each)(void *ctx, const char *name),
		   void *ctx);
/* Sets @spec->why if the PMU of @spec->type counts for a whole package: that is no thread's. */
void event_pmu_judge(const struct events_host *host, struct event_spec *spec);

/* PAPI's presets; @spec->why is set where there is no such event here. */
int event_papi(const struct events_host *host, struct event_spec *spec, const char *name, char *why,
	       size_t len);
int event_papi_each(int (*each)(void *ctx, const char *name), void *ctx);

/* libpfm4, loaded at the first name that nothing else knows. Zeroed, it is ready for use. */
struct event_pfm {
	bool tried;
	void *lib; /* NULL: not to be had */
};
int event_pfm(const struct events_host *host, struct event_pfm *pfm, struct event_spec *spec,
	      const char *name, char *why, size_t len);
void event_pfm_close(struct event_pfm *pfm);

/* Puts a sentence into @why; returns -EINVAL. */
int event_fail(char *why, size_t len, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif /* ATTACH_EVENT_NAMES_H */
