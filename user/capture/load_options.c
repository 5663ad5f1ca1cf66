// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "capture/load_options.h"

#include <unistd.h>

#define MAX_THREADS	 32768
#define MAX_PROCESSES	 16384
#define RINGS_BYTES_ALL	 (64u << 20) /* limit of all rings together, unless a size was given */
#define RING_BYTES_LEAST (256u << 10)

static size_t ring_bytes(const struct options *o)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	size_t bytes = o->ring_bytes;

	while (!o->ring_given && bytes > RING_BYTES_LEAST && cpus > 0 &&
	       bytes * (size_t)cpus > RINGS_BYTES_ALL)
		bytes /= 2;
	return bytes;
}

const char *load_options_seen_why(const struct options *o)
{
	if (o->departures == DEPARTURES_SEEN)
		return "--departures seen";
	if (o->aggregate)
		return "--aggregate adds up crossings when threads depart";
	if (!o->causes)
		return "--no-causes: threads' times off the CPU are not known";
	if (o->events)
		return "-e counts events up to the departure";
	if (o->watch_all || o->nwatch || o->nnames)
		return "single episodes are printed while the program runs";
	return NULL;
}

void load_options_fill(const struct options *o, const struct counting *counting,
		       struct attach_options *out)
{
	*out = (struct attach_options){
		.config = { .system = o->mode == OPTIONS_SYSTEM,
			    .follow = o->follow,
			    .hold = 1,
			    .frames = o->frames,
			    .infer = !load_options_seen_why(o),
			    .aggregate = o->aggregate },
		.first = o->method,
		.discover = o->discover,
		.discover_futex = o->discover_futex,
		.account = o->causes,
		.samples = o->samples && !o->aggregate,
		.sample_hz = o->sample_hz,
		.ncounters = counting->n,
		.plain_counters = counting->plain,
		.switch_counters = counting->switches,
		.fault_counters = counting->faults,
		.ring_bytes = o->aggregate ? RING_BYTES_LEAST : ring_bytes(o),
		.max_threads = MAX_THREADS,
		.max_processes = MAX_PROCESSES,
		.verbose = o->verbose,
	};
}
