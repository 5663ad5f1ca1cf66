// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "attach/attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "attach/calibrate.h"
#include "attach/link.h"
#include "base/msg.h"
#include "sbt.skel.h"

#define EVENTS_BYTES (1u << 20)

struct attach {
	struct sbt_bpf *skel;
	enum attach_method method;
	bool by_process;
	bool filters_process;
	bool only_exits;
	char reason[256];
	uint32_t nrings;
	int *rings;
	size_t ring_bytes;
	struct sbt_thread *threads; /* the map, as the programs have it */
	size_t nthreads;
	int *links;
	uint32_t nlinks;
	struct bpf_link *kernel_links[3];
	int nkernel_links;
};

static const char *const method_names[ATTACH_METHODS] = {
	[ATTACH_SESSION] = "session",
	[ATTACH_MULTI] = "multi",
	[ATTACH_PERF] = "perf",
};

const char *attach_method_name(enum attach_method method)
{
	return method_names[method];
}

int attach_method_parse(const char *name, enum attach_method *out)
{
	int m;

	for (m = 0; m < ATTACH_METHODS; m++) {
		if (!strcmp(name, method_names[m])) {
			*out = m;
			return 0;
		}
	}
	return -EINVAL;
}

/* --- loading ------------------------------------------------------------------------------------ */

static int log_verbose(enum libbpf_print_level level, const char *fmt, va_list args)
{
	if (level == LIBBPF_DEBUG)
		return 0;
	return vfprintf(stderr, fmt, args);
}

static int log_nothing(enum libbpf_print_level level, const char *fmt, va_list args)
{
	(void)level;
	(void)fmt;
	(void)args;
	return 0;
}

static size_t ring_size(size_t bytes)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	while (size < bytes)
		size *= 2;
	return size;
}

static void prepare_programs(struct sbt_bpf *skel, enum attach_method method)
{
	int type = method == ATTACH_PERF ? 0 : LINK_ATTACH_MULTI;

	bpf_program__set_autoload(skel->progs.barrier_session, method == ATTACH_SESSION);
	bpf_program__set_autoload(skel->progs.barrier_enter, method != ATTACH_SESSION);
	bpf_program__set_autoload(skel->progs.barrier_leave, method != ATTACH_SESSION);
	bpf_program__set_autoload(skel->progs.barrier_exit, true);
	bpf_program__set_autoload(skel->progs.loader_state, true);
	bpf_program__set_autoload(skel->progs.barrier_made, true);
	bpf_program__set_expected_attach_type(skel->progs.barrier_session, LINK_ATTACH_SESSION);
	bpf_program__set_expected_attach_type(skel->progs.barrier_enter, type);
	bpf_program__set_expected_attach_type(skel->progs.barrier_leave, type);
	bpf_program__set_expected_attach_type(skel->progs.barrier_exit, type);
	bpf_program__set_expected_attach_type(skel->progs.loader_state, type);
	bpf_program__set_expected_attach_type(skel->progs.barrier_made, type);
}

static int create_rings(struct attach *a)
{
	uint32_t i;
	int err;

	a->rings = calloc(a->nrings, sizeof(*a->rings));
	if (!a->rings)
		return -ENOMEM;
	for (i = 0; i < a->nrings; i++)
		a->rings[i] = -1;
	for (i = 0; i < a->nrings; i++) {
		a->rings[i] = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "sbt_ring", 0, 0,
					     (uint32_t)a->ring_bytes, NULL);
		if (a->rings[i] < 0)
			return -errno;
		err = bpf_map_update_elem(bpf_map__fd(a->skel->maps.rings), &i, &a->rings[i],
					  BPF_ANY);
		if (err)
			return -errno;
	}
	return 0;
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

static int try_load(struct attach *a, const struct attach_options *o, enum attach_method method)
{
	struct sbt_config *config;
	struct sbt_bpf *skel;
	int err;

	skel = sbt_bpf__open();
	if (!skel)
		return -errno;
	a->skel = skel;
	a->only_exits = method != ATTACH_SESSION && !o->by_process;
	prepare_programs(skel, method);
	config = (struct sbt_config *)&skel->rodata->config;
	*config = o->config;
	config->self = (uint32_t)getpid();
	config->nrings = a->nrings;
	config->thread_mask = o->max_threads - 1;
	config->by_exit = a->only_exits;
	bpf_map__set_max_entries(skel->maps.procs, o->max_processes);
	bpf_map__set_max_entries(skel->maps.threads, o->max_threads);
	bpf_map__set_max_entries(skel->maps.owners, o->max_threads);
	bpf_map__set_max_entries(skel->maps.rings, a->nrings);
	bpf_map__set_max_entries(skel->maps.events, EVENTS_BYTES);
	err = sbt_bpf__load(skel);
	if (!err)
		err = map_threads(a, o->max_threads);
	if (!err)
		err = create_rings(a);
	return err;
}

static void unload(struct attach *a)
{
	uint32_t i;

	for (i = 0; a->rings && i < a->nrings; i++) {
		if (a->rings[i] >= 0)
			close(a->rings[i]);
	}
	free(a->rings);
	a->rings = NULL;
	if (a->threads)
		munmap(a->threads, a->nthreads * sizeof(*a->threads));
	a->threads = NULL;
	sbt_bpf__destroy(a->skel);
	a->skel = NULL;
}

static int attach_kernel(struct attach *a)
{
	struct bpf_program *const programs[] = {
		a->skel->progs.on_fork,
		a->skel->progs.on_exec,
		a->skel->progs.on_exit,
	};
	size_t i;

	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct bpf_link *link = bpf_program__attach(programs[i]);

		if (!link)
			return -errno;
		a->kernel_links[a->nkernel_links++] = link;
	}
	return 0;
}

static void detach_kernel(struct attach *a)
{
	while (a->nkernel_links)
		bpf_link__destroy(a->kernel_links[--a->nkernel_links]);
}

/* One rung: load, then put a probe on our own code. What works there works elsewhere. */
static int try_method(struct attach *a, const struct attach_options *o, enum attach_method method)
{
	struct attach_place self;
	uint64_t exits[1];
	int err;

	a->method = method;
	err = try_load(a, o, method);
	if (!err && a->skel)
		err = attach_kernel(a);
	if (err)
		goto fail;
	a->filters_process =
		method == ATTACH_PERF ||
		link_multi_filters_process(bpf_program__fd(a->skel->progs.barrier_exit));
	err = calibrate_place(false, &self, exits);
	if (err)
		goto fail;
	err = attach_place(a, &self, getpid(), false);
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
	int err = -ENOMEM, cpus;

	if (!a)
		return -ENOMEM;
	libbpf_set_print(o->verbose > 1 ? log_verbose : log_nothing);
	cpus = libbpf_num_possible_cpus();
	a->nrings = cpus > 0 ? (uint32_t)cpus : 1;
	a->ring_bytes = ring_size(o->ring_bytes);
	a->by_process = o->by_process;
	for (method = o->first; method < ATTACH_METHODS; method++) {
		err = try_method(a, o, method);
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
	attach_free(a);
	return err;
}

void attach_remove_probes(struct attach *a)
{
	while (a->nlinks)
		close(a->links[--a->nlinks]);
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
	free(a);
}

/* --- probes ---------------------------------------------------------------------------------------- */

static int keep_link(struct attach *a, int fd)
{
	int *links;

	if (fd < 0)
		return fd;
	links = realloc(a->links, (a->nlinks + 1) * sizeof(*links));
	if (!links) {
		close(fd);
		return -ENOMEM;
	}
	a->links = links;
	links[a->nlinks++] = fd;
	return 0;
}

static int put(struct attach *a, struct bpf_program *program, bool ret, int fd,
	       const uint64_t *offsets, uint32_t n, int pid)
{
	int prog_fd = bpf_program__fd(program), err = 0;
	uint32_t i;

	if (a->method != ATTACH_PERF) {
		int type = program == a->skel->progs.barrier_session ? LINK_ATTACH_SESSION
								     : LINK_ATTACH_MULTI;

		/* A kernel that filters by thread would lose the others' hits without a word. */
		return keep_link(a, link_multi(prog_fd, type, ret, fd, offsets, n,
					       a->filters_process ? pid : 0));
	}
	for (i = 0; i < n && !err; i++)
		err = keep_link(a, link_perf(prog_fd, ret, fd, offsets[i], pid ? pid : -1));
	return err;
}

bool attach_only_exits(const struct attach *a)
{
	return a->only_exits;
}

int attach_place(struct attach *a, const struct attach_place *p, int pid, bool by_exit)
{
	struct sbt_bpf *skel = a->skel;
	uint32_t before = a->nlinks;
	bool exits = by_exit || (a->only_exits && p->nexits);
	int err = 0;

	if (exits && !p->nexits)
		return -ENOTSUP;
	/* The ends first: an arrival must find its departure in place. */
	if (exits)
		err = put(a, skel->progs.barrier_exit, false, p->fd, p->exits, p->nexits, pid);
	else if (a->method != ATTACH_SESSION)
		err = put(a, skel->progs.barrier_leave, true, p->fd, &p->entry, 1, pid);
	if (!err && a->method == ATTACH_SESSION)
		err = put(a, skel->progs.barrier_session, false, p->fd, &p->entry, 1, pid);
	else if (!err)
		err = put(a, skel->progs.barrier_enter, false, p->fd, &p->entry, 1, pid);
	while (err && a->nlinks > before)
		close(a->links[--a->nlinks]);
	return err;
}

int attach_exits(struct attach *a, const struct attach_place *p, int pid)
{
	if (!p->nexits)
		return -ENOTSUP;
	return put(a, a->skel->progs.barrier_exit, false, p->fd, p->exits, p->nexits, pid);
}

int attach_loader(struct attach *a, int fd, uint64_t offset, int pid)
{
	return put(a, a->skel->progs.loader_state, false, fd, &offset, 1, pid);
}

int attach_made(struct attach *a, int fd, uint64_t offset, int pid)
{
	return put(a, a->skel->progs.barrier_made, false, fd, &offset, 1, pid);
}

void attach_keep_words(struct attach *a, bool on)
{
	__atomic_store_n(&a->skel->bss->keep_words, on, __ATOMIC_SEQ_CST);
}

/* --- what the programs are told ------------------------------------------------------------------ */

int attach_add_process(struct attach *a, uint32_t tgid, uint32_t inc, uint32_t flags)
{
	struct sbt_proc proc = { .inc = inc, .flags = flags };

	if (a->only_exits)
		proc.flags |= SBT_PROC_BY_EXIT;
	return bpf_map_update_elem(bpf_map__fd(a->skel->maps.procs), &tgid, &proc, BPF_ANY) ? -errno
											    : 0;
}

/* The slots that are taken, by what the programs noted. */
static void each_thread(const struct attach *a, void (*each)(void *ctx, struct sbt_thread *thread),
			void *ctx)
{
	int owners = bpf_map__fd(a->skel->maps.owners);
	uint32_t key, next;
	bool first = true;

	while (!bpf_map_get_next_key(owners, first ? NULL : &key, &next)) {
		first = false;
		key = next;
		if (key < a->nthreads && a->threads[key].tid)
			each(ctx, &a->threads[key]);
	}
}

struct flag {
	uint32_t tgid, set, clear;
};

static void flag_thread(void *ctx, struct sbt_thread *thread)
{
	const struct flag *flag = ctx;

	/* A thread that is inside goes by what it came in with: its end is already chosen. */
	if (thread->tgid == flag->tgid && !thread->arrive_ns)
		__atomic_store_n(&thread->proc_flags,
				 (thread->proc_flags | flag->set) & ~flag->clear, __ATOMIC_RELAXED);
}

int attach_flag_process(struct attach *a, uint32_t tgid, uint32_t inc, uint32_t set, uint32_t clear)
{
	struct flag flag = { tgid, set, clear };
	int procs = bpf_map__fd(a->skel->maps.procs);
	struct sbt_proc proc;

	if (bpf_map_lookup_elem(procs, &tgid, &proc))
		return -errno;
	if (proc.inc != inc)
		return -ENOENT;
	proc.flags = (proc.flags | set) & ~clear;
	if (bpf_map_update_elem(procs, &tgid, &proc, BPF_EXIST))
		return -errno;
	/* What threads have no copy of need not be changed there. */
	if ((set | clear) & ~SBT_PROC_FRESH)
		each_thread(a, flag_thread, &flag);
	return 0;
}

int attach_know_program(struct attach *a, uint32_t dev, uint64_t ino, uint32_t flags, bool settled)
{
	struct sbt_file key = { .dev = dev, .ino = ino };
	struct sbt_verdict verdict = { .flags = SBT_PROC_KNOWN | flags };
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	if (settled)
		verdict.ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	return bpf_map_update_elem(bpf_map__fd(a->skel->maps.files), &key, &verdict, BPF_ANY)
		       ? -errno
		       : 0;
}

void attach_arm(struct attach *a, bool on)
{
	__atomic_store_n(&a->skel->bss->armed, on ? ARMED_ALL : 0, __ATOMIC_SEQ_CST);
}

/* --- what is read from them ----------------------------------------------------------------------- */

void attach_counts(const struct attach *a, struct sbt_counts *out)
{
	uint64_t *sum = (uint64_t *)out;
	size_t i, j, n = sizeof(*out) / sizeof(*sum);

	memset(out, 0, sizeof(*out));
	for (i = 0; i < SBT_COUNT_SLOTS; i++) {
		const uint64_t *slot = (const uint64_t *)&a->skel->bss->counts[i];

		for (j = 0; j < n; j++)
			sum[j] += __atomic_load_n(&slot[j], __ATOMIC_RELAXED);
	}
}

static void add_seq(void *ctx, struct sbt_thread *thread)
{
	uint64_t *sum = ctx;

	*sum += thread->seq;
}

uint64_t attach_produced(const struct attach *a, const struct sbt_counts *counts)
{
	uint64_t sum = counts->gone + counts->refused;

	each_thread(a, add_seq, &sum);
	return sum;
}

enum attach_method attach_method(const struct attach *a)
{
	return a->method;
}

const char *attach_reason(const struct attach *a)
{
	return a->reason;
}

int attach_procs_fd(const struct attach *a)
{
	return bpf_map__fd(a->skel->maps.procs);
}

uint32_t attach_nrings(const struct attach *a)
{
	return a->nrings;
}

int attach_ring_fd(const struct attach *a, uint32_t index)
{
	return a->rings[index];
}

size_t attach_ring_bytes(const struct attach *a)
{
	return a->ring_bytes;
}

int attach_events_fd(const struct attach *a)
{
	return bpf_map__fd(a->skel->maps.events);
}

size_t attach_events_bytes(const struct attach *a)
{
	(void)a;
	return EVENTS_BYTES;
}

struct pending {
	void (*each)(void *ctx, uint32_t tid, const struct sbt_thread *thread);
	void *ctx;
};

static void show_pending(void *ctx, struct sbt_thread *thread)
{
	const struct pending *pending = ctx;

	if (thread->arrive_ns)
		pending->each(pending->ctx, thread->tid, thread);
}

void attach_each_pending(const struct attach *a,
			 void (*each)(void *ctx, uint32_t tid, const struct sbt_thread *thread),
			 void *ctx)
{
	struct pending pending = { each, ctx };

	each_thread(a, show_pending, &pending);
}

bool attach_is_inside(const struct attach *a, uint32_t tid)
{
	uint32_t i;

	for (i = 0; i < SBT_THREAD_PROBES; i++) {
		const struct sbt_thread *t =
			&a->threads[(tid + i * SBT_THREAD_STRIDE) & (a->nthreads - 1)];

		if (__atomic_load_n(&t->tid, __ATOMIC_ACQUIRE) == tid)
			return __atomic_load_n(&t->arrive_ns, __ATOMIC_ACQUIRE) != 0;
	}
	return false;
}

/* Our own calibration leaves nothing behind. */
static void forget_thread(const struct attach *a, uint32_t tid)
{
	int owners = bpf_map__fd(a->skel->maps.owners);
	uint32_t i, slot;

	for (i = 0; i < SBT_THREAD_PROBES; i++) {
		slot = (uint32_t)((tid + i * SBT_THREAD_STRIDE) & (a->nthreads - 1));
		if (a->threads[slot].tid != tid)
			continue;
		memset(&a->threads[slot], 0, sizeof(a->threads[slot]));
		bpf_map_delete_elem(owners, &slot);
	}
}

/* The probes must be in place. */
static double calibrate_self(struct attach *a, bool stepped, bool by_exit, void (*drain)(void *ctx),
			     void *ctx)
{
	uint32_t self = (uint32_t)getpid(), armed = a->skel->bss->armed;
	int procs = bpf_map__fd(a->skel->maps.procs);
	struct sbt_counts none = { 0 };
	uint64_t before = attach_produced(a, &none);
	double price = NAN;

	if (attach_add_process(a, self, 1, SBT_PROC_SEEN | (by_exit ? SBT_PROC_BY_EXIT : 0)))
		return NAN;
	__atomic_store_n(&a->skel->bss->armed, ARMED_SELF, __ATOMIC_SEQ_CST);
	price = calibrate_run(stepped, drain, ctx);
	__atomic_store_n(&a->skel->bss->armed, armed, __ATOMIC_SEQ_CST);
	/* Nothing of it was recorded: our number here is not the one that the kernel knows us by. */
	if (attach_produced(a, &none) == before)
		price = NAN;
	bpf_map_delete_elem(procs, &self);
	forget_thread(a, self);
	return price;
}

double attach_calibrate(struct attach *a, bool stepped, bool by_exit, void (*drain)(void *ctx),
			void *ctx)
{
	struct attach_place place;
	uint64_t exits[1];
	double price = NAN;

	by_exit |= a->only_exits;
	attach_remove_probes(a);
	if (calibrate_place(stepped, &place, exits))
		return NAN;
	if (!attach_place(a, &place, getpid(), by_exit))
		price = calibrate_self(a, stepped, by_exit, drain, ctx);
	close(place.fd);
	attach_remove_probes(a);
	return price;
}

double attach_calibrate_quick(struct attach *a, void (*drain)(void *ctx), void *ctx)
{
	return calibrate_self(a, false, a->only_exits, drain, ctx);
}
