// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Run a thread on one CPU.
#ifndef WORKLOADS_PIN_H
#define WORKLOADS_PIN_H

#include "common.h"

#include <sched.h>

/*
 * Pin the calling thread to the last CPU that it may use, because the first CPU has most of the
 * other work.
 */
static inline void pin_to_last(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		die("sched_getaffinity: %s", strerror(errno));
	for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		break;
	}
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity: %s", strerror(errno));
}

#endif
