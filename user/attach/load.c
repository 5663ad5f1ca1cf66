// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Find the best attach method that this kernel supports. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "attach/calibrate.h"
#include "attach/internal.h"
#include "attach/link.h"
#include "base/grow.h"

#define CHAINS	    16384u /* maximum number of chains of callers */
#define FRAME_RULES 16384u /* maximum number of return addresses with a rule */
#define FORKED	    16384u /* maximum number of processes with threads or children */

static const char *const method_names[ATTACH_METHODS] = {
	[ATTACH_SESSION] = "session",
	[ATTACH_MULTI] = "multi",
	[ATTACH_PERF] = "perf",
};

const char *attach_method_name(enum attach_method method)
{
	return method_names[method];
}

/* --- loading ---------------------------------------------------------------------------------- */

static int log_verbose(enum libbpf_print_level level, const char *fmt, va_list args)
{
	if (level == LIBBPF_DEBUG)
		return 0;
	return vfprintf(stderr, fmt, args);
}

static bool has_cookies(enum attach_method method)
{
	return method != ATTACH_PERF ||
	       libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_attach_cookie, NULL) > 0;
}

const void *map_array(const struct bpf_map *map, size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, bpf_map__fd(map), 0);

	return p == MAP_FAILED ? NULL : p;
}

static int map_threads(struct attach *a, uint32_t n)
{
	void *p = mmap(NULL, n * sizeof(*a->threads), PROT_READ | PROT_WRITE, MAP_SHARED,
		       bpf_map__fd(a->skel->maps.threads), 0);

	if (p == MAP_FAILED)
		return -errno;
	a->threads = p;
	a->nthreads = n;
	return 0;
}

/* Return the kernel's tick period, ns. Its coarse clocks have this resolution. */
static uint32_t tick_ns(void)
{
	struct timespec tick = { 0 };

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return (uint32_t)tick.tv_nsec;
}

static int try_load(struct attach *a, const struct attach_options *o, enum attach_method method)
{
	struct sbt_config *config;
	struct sbt_bpf *skel;
	int err;

	skel = sbt_bpf__open();
	if (!skel)
		return -errno;
	a->skel = skel;
	a->nspecs = 0;
	probe_sites_free(&a->probe_sites);
	/*
	 * Only sessions use return probes: the program of a session decides at each hit whether the
	 * kernel installs the return probe. With the other methods, the kernel would install a
	 * return probe in every process that hits a probe at this address, even if the return probe
	 * is meant for another process.
	 */
	a->only_exits = method != ATTACH_SESSION;
	config = (struct sbt_config *)&skel->rodata->config;
	*config = o->config;
	config->infer = config->infer && a->account && !a->ncounters;
	programs_prepare(skel, method, o->discover, o->discover_futex);
	config->discover = o->discover;
	config->self = (uint32_t)getpid();
	config->nrings = a->nrings;
	config->thread_mask = o->max_threads - 1;
	config->tick_ns = tick_ns();
	config->page_shift = (uint8_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
	config->by_exit = a->only_exits;
	config->cookies = a->cookies = has_cookies(method);
	bpf_map__set_max_entries(skel->maps.procs, o->max_processes);
	bpf_map__set_max_entries(skel->maps.judged, o->max_processes);
	bpf_map__set_max_entries(skel->maps.threads, o->max_threads);
	bpf_map__set_max_entries(skel->maps.owners, o->max_threads);
	bpf_map__set_max_entries(skel->maps.teams, o->max_threads);
	bpf_map__set_max_entries(skel->maps.chains, config->frames || o->discover ? CHAINS : 1);
	bpf_map__set_max_entries(skel->maps.frame_rules,
				 config->frames || o->discover ? FRAME_RULES : 1);
	bpf_map__set_max_entries(skel->maps.forked, config->system ? FORKED : 1);
	bpf_map__set_max_entries(skel->maps.events, EVENTS_BYTES);
	account_prepare(a, o->max_threads);
	sampling_prepare(a);
	sums_prepare(a, o->max_threads);
	err = rings_begin(a);
	if (!err)
		err = sbt_bpf__load(skel);
	if (!err)
		err = map_threads(a, o->max_threads);
	if (!err)
		err = account_map(a);
	if (!err)
		err = sums_map(a);
	if (!err)
		err = rings_end(a);
	return err;
}

static void unload(struct attach *a)
{
	rings_close(a);
	account_unmap(a);
	sums_unmap(a);
	if (a->threads)
		munmap(a->threads, a->nthreads * sizeof(*a->threads));
	a->threads = NULL;
	sbt_bpf__destroy(a->skel);
	a->skel = NULL;
}

int attach_programs(struct attach *a, struct bpf_program *const programs[], size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct bpf_link *link = bpf_program__attach(programs[i]);

		if (!link)
			return -errno;
		if (grow(a->kernel_links, a->kernel_links_cap, a->nkernel_links + 1)) {
			bpf_link__destroy(link);
			return -ENOMEM;
		}
		a->kernel_links[a->nkernel_links++] = link;
	}
	return 0;
}

static int attach_kernel(struct attach *a)
{
	struct bpf_program *const programs[] = {
		a->skel->progs.on_fork,
		a->skel->progs.on_exec,
		a->skel->progs.on_exit,
	};
	int err = attach_programs(a, programs, sizeof(programs) / sizeof(programs[0]));

	/*
	 * Tracing also works without this program, so ignore an error. But then processes that copy
	 * their code are killed by the breakpoints in the copy.
	 */
	if (!err && bpf_program__autoload(a->skel->progs.on_code_flushed))
		(void)attach_programs(a, &a->skel->progs.on_code_flushed, 1);
	if (!err)
		err = account_attach(a);
	if (!err)
		sampling_attach(a);
	return err;
}

/*
 * Try one attach method: load the programs, then attach a probe to our own code. If that works, the
 * method is usable.
 */
static int try_method(struct attach *a, const struct attach_options *o, enum attach_method method)
{
	struct attach_probe_site self;
	uint64_t exits[1];
	int err;

	a->method = method;
	err = try_load(a, o, method);
	if (!err && a->skel)
		err = attach_kernel(a);
	if (err)
		goto fail;
	a->filters_process = method == ATTACH_PERF ||
			     link_multi_filters_process(
				     bpf_program__fd(program_ends(a->skel, SBT_ROLE_BARRIER).exit));
	err = calibrate_probe_site(false, &self, exits);
	if (err)
		goto fail;
	self.tag = SELF_TAG;
	err = attach_probe_site(a, &self, getpid(), false);
	close(self.fd);
	if (!err)
		return 0;
fail:
	detach_kernel(a);
	unload(a);
	return err;
}

int attach_new(const struct attach_options *o, struct attach **out, char *why, size_t len)
{
	struct attach *a = calloc(1, sizeof(*a));
	enum attach_method method;
	int err = -ENOMEM;

	if (!a)
		return -ENOMEM;
	libbpf_set_print(o->verbose > 1 ? log_verbose : NULL);
	if (o->config.aggregate && !sums_possible()) {
		snprintf(why, len,
			 "--aggregate needs Linux 6.1 or later: this kernel's BPF cannot count "
			 "arrivals");
		err = -EOPNOTSUPP;
		goto out;
	}
	rings_size(a, o->ring_bytes);
	for (method = o->first; method < ATTACH_METHODS; method++) {
		a->account = o->account;
		a->samples = a->sample_ticks = o->account && o->samples;
		a->sample_hz = o->sample_hz;
		a->joins = !o->discover;
		a->ncounters = o->account ? o->ncounters : 0;
		a->plain_counters = o->plain_counters;
		a->switch_counters = o->switch_counters;
		a->fault_counters = o->fault_counters;
		err = try_method(a, o, method);
		/* Perhaps this kernel has no such event, or it cannot be used. */
		if (err && a->sample_ticks && err != -EPERM) {
			a->sample_ticks = false;
			err = try_method(a, o, method);
		}
		if (err && a->samples && err != -EPERM) {
			int why_not = err;

			a->samples = false;
			err = try_method(a, o, method);
			if (!err)
				snprintf(a->sample_reason, sizeof(a->sample_reason),
					 "this kernel cannot sample threads on a CPU: %s",
					 strerror(-why_not));
		}
		if (err && o->account && err != -EPERM) {
			int why_not = err;

			a->account = a->samples = false;
			a->ncounters = 0;
			err = try_method(a, o, method);
			if (!err)
				snprintf(a->account_reason, sizeof(a->account_reason),
					 "this kernel cannot account for the time of threads: %s",
					 strerror(-why_not));
		}
		if (err && a->joins && err != -EPERM) {
			int why_not = err;

			a->joins = false;
			err = try_method(a, o, method);
			if (!err)
				snprintf(a->account_reason, sizeof(a->account_reason),
					 "on this kernel, joins of threads count as work: %s",
					 strerror(-why_not));
		}
		if (!err) {
			*out = a;
			return 0;
		}
		snprintf(a->reason + strlen(a->reason), sizeof(a->reason) - strlen(a->reason),
			 "%s%s: %s", *a->reason ? "; " : "", method_names[method], strerror(-err));
		if (err == -EPERM && geteuid() != 0)
			break;
	}
	snprintf(why, len, "%s", a->reason);
out:
	attach_free(a);
	return err;
}

void attach_stop(struct attach *a)
{
	attach_remove_probes(a);
	detach_kernel(a);
}

void attach_free(struct attach *a)
{
	if (!a)
		return;
	attach_remove_probes(a);
	detach_kernel(a);
	unload(a);
	free(a->links);
	while (a->nuser_probe_groups)
		free(a->user_probe_groups[--a->nuser_probe_groups]);
	probe_sites_free(&a->probe_sites);
	copies_free(&a->copies);
	free(a);
}

enum attach_method attach_method(const struct attach *a)
{
	return a->method;
}

const char *attach_reason(const struct attach *a)
{
	return a->reason;
}
