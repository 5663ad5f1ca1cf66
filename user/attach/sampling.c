// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Sample threads that are on a CPU: load and attach the programs of bpf/sample.bpf.c. The kernel's
 * tick interrupts each CPU that runs a thread anyway, so samples at the tick cost almost nothing.
 * Where the programs cannot distinguish the tick from other timers, and for other rates, a clock of
 * each CPU interrupts it in addition.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/internal.h"

#define NS_PER_S 1000000000u

/* The functions for the tick are in one file of the kernel, this many symbols apart at most. */
#define TICK_SYMBOLS 4096

/*
 * Return the address of the kernel's function for the tick of a CPU; 0: unknown, for example
 * because the caller may not see addresses of the kernel.
 */
static uint64_t tick_function(void)
{
	/* "e" closes the file in commands that are executed. */
	FILE *f = fopen("/proc/kallsyms", "re");
	uint64_t found = 0;
	uint32_t left = UINT32_MAX;
	char line[512], name[64];
	unsigned long long address;

	/*
	 * Before Linux 6.9, tick_nohz_handler is for CPUs without precise timers, and
	 * tick_sched_timer follows it.
	 */
	while (f && left && fgets(line, sizeof(line), f)) {
		left--;
		if (!strstr(line, " tick_"))
			continue;
		if (sscanf(line, "%llx %*c %63s", &address, name) != 2)
			continue;
		if (!strcmp(name, "tick_nohz_handler")) {
			found = address;
			left = TICK_SYMBOLS;
		} else if (!strcmp(name, "tick_sched_timer")) {
			found = address;
			left = 0;
		}
	}
	if (f)
		fclose(f);
	return found;
}

/* Return whether each CPU has a tick while it runs a thread. */
static bool always_ticks(void)
{
	/* CPUs with one thread only may be without a tick (nohz_full=). */
	FILE *f = fopen("/sys/devices/system/cpu/nohz_full", "re");
	char cpus[64] = "";

	if (f) {
		if (!fgets(cpus, sizeof(cpus), f))
			*cpus = '\0';
		fclose(f);
	}
	return *cpus < '0' || *cpus > '9';
}

void sampling_prepare(struct attach *a)
{
	bool ticks = a->samples && a->sample_ticks && !a->sample_hz && always_ticks();
	uint64_t tick = ticks ? tick_function() : 0;

	a->sample_ticks = tick != 0;
	a->skel->rodata->config.tick_function = tick;
	bpf_program__set_autoload(a->skel->progs.on_tick, tick != 0);
	bpf_program__set_autoload(a->skel->progs.on_sample_clock, a->samples && !tick);
	a->sample_ns = !a->samples    ? 0
		       : tick	      ? a->skel->rodata->config.tick_ns
		       : a->sample_hz ? NS_PER_S / a->sample_hz
				      : NS_PER_S / ATTACH_SAMPLE_HZ;
}

static int clock_event(uint64_t period_ns, uint32_t cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.exclude_idle = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void detach_clocks(struct attach *a)
{
	while (a->nsample_links)
		bpf_link__destroy(a->sample_links[--a->nsample_links]);
}

/* On an error, no CPU has a clock. */
static int attach_clocks(struct attach *a)
{
	uint32_t cpu;
	int fd, err;

	a->sample_links = calloc(a->nrings, sizeof(struct bpf_link *));
	if (!a->sample_links)
		return -ENOMEM;
	for (cpu = 0; cpu < a->nrings; cpu++) {
		struct bpf_link *link = NULL;

		fd = clock_event(a->sample_ns, cpu);
		if (fd < 0 && (errno == ENODEV || errno == ENXIO))
			continue; /* no such CPU */
		if (fd >= 0)
			link = bpf_program__attach_perf_event(a->skel->progs.on_sample_clock, fd);
		if (!link) {
			err = -errno;
			if (fd >= 0)
				close(fd);
			detach_clocks(a);
			return err;
		}
		a->sample_links[a->nsample_links++] = link;
	}
	return 0;
}

void sampling_attach(struct attach *a)
{
	int err;

	if (!a->samples)
		return;
	if (bpf_program__autoload(a->skel->progs.on_tick))
		err = attach_programs(a, &a->skel->progs.on_tick, 1);
	else
		err = attach_clocks(a);
	if (!err)
		return;
	a->sample_ns = 0;
	snprintf(a->sample_reason, sizeof(a->sample_reason), "threads on a CPU are not sampled: %s",
		 strerror(-err));
}

uint64_t attach_sample_ns(const struct attach *a)
{
	return a->sample_ns;
}

const char *attach_sample_reason(const struct attach *a)
{
	return a->sample_reason;
}
