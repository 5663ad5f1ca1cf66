// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "attach/counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/event_names.h"
#include "attach/rights.h"

#define REASON_MAX  256
#define SPARE_FILES 64 /* descriptors reserved for other uses while counters are opened */

struct counters {
	uint32_t n, ncpus, nonline;
	bool *online; /* by CPU */
	struct event_spec *specs;
	char (*reasons)[REASON_MAX];
	uint32_t *nopen; /* for each event: number of CPUs that count it */
	int *fds; /* by event, then by CPU */
};

static int open_event(const struct event_spec *spec, uint32_t cpu)
{
	struct perf_event_attr attr = {
		.type = spec->type,
		.size = sizeof(attr),
		.config = spec->config,
		.config1 = spec->config1,
		.config2 = spec->config2,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.exclude_user = spec->exclude_user,
		.exclude_kernel = spec->exclude_kernel,
		.exclude_hv = spec->exclude_hv,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Return false if no online CPU has an event for cycles: the kernel then knows no PMU. */
static bool has_pmu(const struct counters *c)
{
	const struct event_spec cycles = { .type = PERF_TYPE_HARDWARE,
					   .config = PERF_COUNT_HW_CPU_CYCLES };
	uint32_t cpu;
	int fd;

	for (cpu = 0; cpu < c->ncpus; cpu++) {
		if (!c->online[cpu])
			continue;
		fd = open_event(&cycles, cpu);
		if (fd >= 0)
			close(fd);
		if (fd != -ENOENT && fd != -ENODEV && fd != -EOPNOTSUPP && fd != -ENXIO)
			return true;
	}
	return false;
}

static void explain_missing(const struct counters *c, const struct event_spec *spec, char *reason)
{
	if (spec->source == EVENT_SOFTWARE)
		snprintf(reason, REASON_MAX, "this kernel does not have it");
	else if (!has_pmu(c))
		snprintf(reason, REASON_MAX,
			 "this machine has no hardware counters (no PMU): software events such as "
			 "task-clock, page-faults, context-switches can be counted");
	else
		snprintf(reason, REASON_MAX, "the PMU of this CPU has no such event");
}

/* Write into @reason why the event could not be opened: a sentence for the user. */
static void explain(const struct counters *c, const struct event_spec *spec, int err, char *reason)
{
	int paranoid = rights_sysctl(RIGHTS_PARANOID);

	switch (-err) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
		explain_missing(c, spec, reason);
		break;
	case EINVAL:
		snprintf(reason, REASON_MAX, "this CPU's PMU does not support it%s",
			 spec->exclude_user || spec->exclude_kernel
				 ? ", or cannot separate user space and kernel"
				 : "");
		break;
	case EACCES:
	case EPERM:
		snprintf(reason, REASON_MAX,
			 "not permitted: counting on whole CPUs needs root or CAP_PERFMON "
			 "(kernel.perf_event_paranoid is %d), and a container may forbid it "
			 "altogether",
			 paranoid == RIGHTS_UNKNOWN ? -2 : paranoid);
		break;
	case EBUSY:
		snprintf(reason, REASON_MAX, "another program has exclusive use of the counter");
		break;
	case ENOSPC:
		snprintf(reason, REASON_MAX, "all counters are in use");
		break;
	case EMFILE:
	case ENFILE:
		snprintf(reason, REASON_MAX,
			 "too many open files: each event needs one per CPU, raise ulimit -n");
		break;
	default:
		snprintf(reason, REASON_MAX, "it cannot be opened: %s", strerror(-err));
	}
}

/*
 * Return whether the error has nothing to do with the CPU. The event is then counted on no CPU,
 * instead of only on the CPUs before the error.
 */
static bool is_general(int err)
{
	return err == -EACCES || err == -EPERM || err == -EMFILE || err == -ENFILE ||
	       err == -ENOMEM;
}

static void close_fds(struct counters *c, uint32_t event)
{
	int *fd = &c->fds[(size_t)event * c->ncpus];
	uint32_t cpu;

	for (cpu = 0; cpu < c->ncpus; cpu++) {
		if (fd[cpu] >= 0)
			close(fd[cpu]);
		fd[cpu] = -1;
	}
}

static void close_event(struct counters *c, uint32_t event)
{
	close_fds(c, event);
	c->nopen[event] = 0;
}

int counters_kept(const struct event_spec *spec)
{
	if (spec->type != PERF_TYPE_SOFTWARE || spec->exclude_user || spec->exclude_kernel ||
	    spec->exclude_hv)
		return -ENOENT;
	if (spec->config != PERF_COUNT_SW_CONTEXT_SWITCHES &&
	    spec->config != PERF_COUNT_SW_PAGE_FAULTS)
		return -ENOENT;
	return (int)spec->config;
}

/* Open one event on all CPUs. On hybrid machines not all CPUs have the same events. */
static void open_everywhere(struct counters *c, uint32_t event)
{
	const struct event_spec *spec = &c->specs[event];
	char *reason = c->reasons[event], first_reason[REASON_MAX];
	uint32_t cpu, first = 0;
	int fd, err = 0;

	if (*spec->why) {
		snprintf(reason, REASON_MAX, "%s", spec->why);
		return;
	}
	for (cpu = 0; cpu < c->ncpus && !is_general(err); cpu++) {
		if (!c->online[cpu])
			continue;
		fd = open_event(spec, cpu);
		if (fd >= 0) {
			c->fds[(size_t)event * c->ncpus + cpu] = fd;
			c->nopen[event]++;
		} else if (!err || is_general(fd)) {
			err = fd;
			first = cpu;
		}
	}
	if (is_general(err))
		close_event(c, event);
	if (!err) {
		if (counters_kept(spec) >= 0)
			close_fds(c, event);
		return;
	}
	explain(c, spec, err, reason);
	if (c->nopen[event]) {
		snprintf(first_reason, sizeof(first_reason), "%s", reason);
		snprintf(reason, REASON_MAX, "counted on %u of %u CPUs only; not on CPU %u: %.160s",
			 c->nopen[event], c->nonline, first, first_reason);
	}
}

/* Parse a list such as "0-3,8". */
static int read_online(struct counters *c, const char *line)
{
	unsigned long lo, hi;
	const char *end;

	for (;; line = end + 1) {
		end = event_range(line, &lo, &hi);
		if (!end)
			return -EINVAL;
		for (; lo <= hi && lo < c->ncpus; lo++) {
			c->nonline += !c->online[lo];
			c->online[lo] = true;
		}
		if (*end != ',')
			return 0;
	}
}

static int find_cpus(struct counters *c)
{
	long configured = sysconf(_SC_NPROCESSORS_CONF);
	char line[4096];
	FILE *f;
	int err = -ENODATA;

	/*
	 * CPU numbers may have gaps. So use the highest possible number, if the kernel reports it,
	 * instead of the number of CPUs.
	 */
	c->ncpus = configured > 0 ? (uint32_t)configured : 1;
	f = fopen("/sys/devices/system/cpu/possible", "re");
	if (f) {
		if (fgets(line, sizeof(line), f)) {
			const char *last = line + strlen(line);
			unsigned long bound;

			while (last > line && !strchr(",-", last[-1]))
				last--;
			bound = strtoul(last, NULL, 10);
			if (bound < 1u << 20 && bound + 1 > c->ncpus)
				c->ncpus = (uint32_t)bound + 1;
		}
		fclose(f);
	}
	c->online = calloc(c->ncpus, sizeof(*c->online));
	if (!c->online)
		return -ENOMEM;
	f = fopen("/sys/devices/system/cpu/online", "re");
	if (f) {
		if (fgets(line, sizeof(line), f))
			err = read_online(c, line);
		fclose(f);
	}
	return err;
}

/*
 * Raise the limit of open files for the counters. The caller restores the limit as soon as the
 * counters are open, because the traced program would inherit the raised limit.
 */
static bool raise_files(const struct counters *c, struct rlimit *before)
{
	struct rlimit now;
	rlim_t wanted = (rlim_t)c->n * c->nonline + SPARE_FILES;

	if (getrlimit(RLIMIT_NOFILE, before))
		return false;
	now = *before;
	if (now.rlim_cur == RLIM_INFINITY || now.rlim_cur == now.rlim_max)
		return false;
	now.rlim_cur += wanted;
	if (now.rlim_max != RLIM_INFINITY && now.rlim_cur > now.rlim_max)
		now.rlim_cur = now.rlim_max;
	return !setrlimit(RLIMIT_NOFILE, &now);
}

static int counters_new(const struct event_spec *specs, uint32_t n, struct counters **out)
{
	struct counters *c = calloc(1, sizeof(*c));
	size_t i, fds;
	int err;

	if (!c)
		return -ENOMEM;
	c->n = n;
	err = find_cpus(c);
	if (err)
		goto out;
	fds = (size_t)n * c->ncpus;
	err = -ENOMEM;
	c->specs = calloc(n ? n : 1, sizeof(*c->specs));
	c->reasons = calloc(n ? n : 1, sizeof(*c->reasons));
	c->nopen = calloc(n ? n : 1, sizeof(*c->nopen));
	c->fds = calloc(fds ? fds : 1, sizeof(*c->fds));
	if (!c->specs || !c->reasons || !c->nopen || !c->fds) {
		c->n = 0;
		goto out;
	}
	for (i = 0; i < fds; i++)
		c->fds[i] = -1;
	for (i = 0; i < n; i++)
		c->specs[i] = specs[i];
	*out = c;
	return 0;
out:
	counters_free(c);
	return err;
}

int counters_open(const struct event_spec *specs, uint32_t n, struct counters **out)
{
	struct rlimit before;
	uint32_t event;
	bool raised;
	int err;

	err = counters_new(specs, n, out);
	if (err)
		return err;
	raised = raise_files(*out, &before);
	for (event = 0; event < n; event++)
		open_everywhere(*out, event);
	if (raised)
		setrlimit(RLIMIT_NOFILE, &before);
	return 0;
}

void counters_free(struct counters *c)
{
	uint32_t event;

	if (!c)
		return;
	for (event = 0; c->fds && event < c->n; event++)
		close_event(c, event);
	free(c->online);
	free(c->specs);
	free(c->reasons);
	free(c->nopen);
	free(c->fds);
	free(c);
}

const struct event_spec *counters_spec(const struct counters *c, uint32_t event)
{
	return &c->specs[event];
}

bool counters_has(const struct counters *c, uint32_t event)
{
	return event < c->n && c->nopen[event];
}

const char *counters_reason(const struct counters *c, uint32_t event)
{
	return event < c->n ? c->reasons[event] : "";
}

uint32_t counters_ncpus(const struct counters *c)
{
	return c->ncpus;
}

int counters_fd(const struct counters *c, uint32_t event, uint32_t cpu)
{
	return event < c->n && cpu < c->ncpus ? c->fds[(size_t)(size_t)event * c->ncpus + cpu] : -1;
}

struct listing {
	int (*each)(void *ctx, const struct event_spec *spec, bool available, const char *reason);
	void *ctx;
};

static int list_one(void *ctx, const struct event_spec *spec)
{
	const struct listing *l = ctx;
	struct counters *c;
	int err;

	err = counters_open(spec, 1, &c);
	if (err)
		return err;
	err = l->each(l->ctx, spec, counters_has(c, 0), counters_reason(c, 0));
	counters_free(c);
	return err;
}

int counters_list(int (*each)(void *ctx, const struct event_spec *spec, bool available,
			      const char *reason),
		  void *ctx)
{
	struct listing l = { each, ctx };
	struct events_host host;

	events_host_here(&host);
	return events_each(&host, list_one, &l);
}
