// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * libpfm4, loaded at run time: without the library, only its event names are missing. Its types are
 * declared here, as in pfm_get_os_event_encoding(3), so that building needs no libpfm4 headers.
 */
#include "attach/event_names.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plugin.h"

#define PFM_OS_PERF_EVENT 1
#define PFM_PLM_BOTH	  (0x01 | 0x08) /* kernel and user space */

struct pfm_perf_encode {
	struct perf_event_attr *attr;
	char **fstr; /* the full name, to be freed */
	size_t size;
	int idx, cpu, flags, pad;
};

/* The library may use a longer struct perf_event_attr than we do. */
union pfm_attr {
	struct perf_event_attr attr;
	char room[512];
};

static void *symbol(const struct event_pfm *pfm, const char *name)
{
	return pfm->lib ? dlsym(pfm->lib, name) : NULL;
}

static void load(const struct events_host *host, struct event_pfm *pfm)
{
	int (*initialize)(void);

	if (pfm->tried)
		return;
	pfm->tried = true;
	if (!host->libpfm)
		return;
	pfm->lib = plugin_open(host->libpfm);
	if (!pfm->lib)
		return;
	*(void **)&initialize = symbol(pfm, "pfm_initialize");
	if (!initialize || initialize()) {
		dlclose(pfm->lib);
		pfm->lib = NULL;
	}
}

int event_pfm(const struct events_host *host, struct event_pfm *pfm, struct event_spec *spec,
	      const char *name, char *why, size_t len)
{
	int (*encode)(const char *name, int levels, int os, void *arg);
	const char *(*message)(int err);
	union pfm_attr attr = { .attr = { 0 } };
	char *full = NULL;
	struct pfm_perf_encode arg = { .attr = &attr.attr, .fstr = &full, .size = sizeof(arg) };
	int err;

	load(host, pfm);
	*(void **)&encode = symbol(pfm, "pfm_get_os_event_encoding");
	*(void **)&message = symbol(pfm, "pfm_strerror");
	if (!encode || !message) {
		snprintf(why, len, "libpfm4, which knows the names of this CPU's own events, %s",
			 plugin_possible() ? "is not installed"
					   : "cannot be loaded by this static program");
		return -ENOENT;
	}
	err = encode(name, PFM_PLM_BOTH, PFM_OS_PERF_EVENT, &arg);
	if (err) {
		snprintf(why, len, "libpfm4: %s", message(err));
		return -ENOENT;
	}
	spec->type = attr.attr.type;
	spec->config = attr.attr.config;
	spec->config1 = attr.attr.config1;
	spec->config2 = attr.attr.config2;
	spec->exclude_user = attr.attr.exclude_user;
	spec->exclude_kernel = attr.attr.exclude_kernel;
	spec->exclude_hv = attr.attr.exclude_hv;
	spec->source = spec->type == PERF_TYPE_SOFTWARE || spec->type == PERF_TYPE_TRACEPOINT
			       ? EVENT_SOFTWARE
			       : EVENT_HARDWARE;
	snprintf(spec->what, sizeof(spec->what), "%s 0x%llx (libpfm4: %s)",
		 spec->type == PERF_TYPE_RAW ? "raw" : "config", (unsigned long long)spec->config,
		 full ? full : name);
	free(full);
	return 0;
}

void event_pfm_close(struct event_pfm *pfm)
{
	void (*terminate)(void);

	*(void **)&terminate = symbol(pfm, "pfm_terminate");
	if (terminate)
		terminate();
	if (pfm->lib)
		dlclose(pfm->lib);
	pfm->lib = NULL;
	pfm->tried = false;
}
