// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Load and attach the accounting programs, and read the maps that they fill. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "attach/internal.h"
#include "base/clock.h"
#include "base/number.h"

/* --- loading ---------------------------------------------------------------------------------- */

void account_prepare(struct attach *a, uint32_t max_threads)
{
	struct sbt_bpf *skel = a->skel;
	uint32_t n = a->account ? max_threads : 1;
	bool names =
		libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_find_vma, NULL) == 1;

	bpf_program__set_autoload(skel->progs.on_switch, a->account);
	bpf_program__set_autoload(skel->progs.on_waking, a->account);
	bpf_program__set_autoload(skel->progs.on_signal, skel->rodata->config.infer);
	/* Without discovery, no interpreter is looked for: a->joins. */
	bpf_program__set_autoload(skel->progs.python_switch, a->account && !a->joins);
	bpf_program__set_autoload(skel->progs.join_switch, !a->account && a->joins);
	bpf_program__set_autoload(skel->progs.join_waking, !a->account && a->joins);
	bpf_program__set_autoload(skel->progs.on_fault, a->account);
	bpf_program__set_autoload(skel->progs.on_fault_done, a->account && names);
	bpf_program__set_autoload(skel->progs.on_fault_done_nameless, a->account && !names);
	bpf_program__set_autoload(skel->progs.account_found, a->account);
	bpf_map__set_max_entries(skel->maps.accounts, n);
	bpf_map__set_max_entries(skel->maps.countings, a->ncounters ? n : 1);
	bpf_map__set_max_entries(skel->maps.pasts, a->account ? SBT_PASTS : 1);
	bpf_map__set_max_entries(skel->maps.cpu_turns, a->nrings);
	bpf_map__set_max_entries(skel->maps.counter_events,
				 a->ncounters ? a->ncounters * a->nrings : 1);
	bpf_map__set_max_entries(skel->maps.offs, skel->rodata->config.infer ? max_threads : 1);
	skel->rodata->config.account = a->account;
	skel->rodata->config.ncounters = (__u16)a->ncounters;
	skel->rodata->config.plain_counters = (__u16)a->plain_counters;
	skel->rodata->config.switch_counters = (__u16)a->switch_counters;
	skel->rodata->config.fault_counters = (__u16)a->fault_counters;
}

int account_map(struct attach *a)
{
	if (!a->account)
		return 0;
	a->accounts = map_array(a->skel->maps.accounts, a->nthreads * sizeof(*a->accounts));
	if (!a->accounts)
		return -errno;
	if (attach_infers(a)) {
		a->offs = map_array(a->skel->maps.offs, a->nthreads * sizeof(*a->offs));
		if (!a->offs)
			return -errno;
	}
	if (!a->ncounters)
		return 0;
	a->counter_fds = malloc((size_t)a->ncounters * a->nrings * sizeof(*a->counter_fds));
	a->counter_end = calloc((size_t)a->ncounters * a->nrings, sizeof(*a->counter_end));
	if (!a->counter_fds || !a->counter_end)
		return -ENOMEM;
	memset(a->counter_fds, 0xff, (size_t)a->ncounters * a->nrings * sizeof(*a->counter_fds));
	a->countings = map_array(a->skel->maps.countings, a->nthreads * sizeof(*a->countings));
	return a->countings ? 0 : -errno;
}

void account_unmap(struct attach *a)
{
	if (a->accounts)
		munmap((void *)(uintptr_t)a->accounts, a->nthreads * sizeof(*a->accounts));
	if (a->countings)
		munmap((void *)(uintptr_t)a->countings, a->nthreads * sizeof(*a->countings));
	if (a->offs)
		munmap((void *)(uintptr_t)a->offs, a->nthreads * sizeof(*a->offs));
	a->offs = NULL;
	a->accounts = NULL;
	a->countings = NULL;
	free(a->counter_fds);
	free(a->counter_end);
	a->counter_fds = NULL;
	a->counter_end = NULL;
}

void account_end(struct attach *a)
{
	uint64_t value[3]; /* the count, and the times enabled and running */
	uint32_t i;

	__atomic_store_n(&a->skel->bss->ended, 1, __ATOMIC_SEQ_CST);
	for (i = 0; a->counter_fds && i < a->ncounters * a->nrings; i++) {
		if (a->counter_fds[i] >= 0 &&
		    read(a->counter_fds[i], value, sizeof(value)) == sizeof(value))
			a->counter_end[i] = value[0];
	}
}

void account_forget(const struct attach *a, uint32_t slot)
{
	static const struct sbt_account none;

	if (a->accounts)
		bpf_map_update_elem(bpf_map__fd(a->skel->maps.accounts), &slot, &none, BPF_ANY);
}

/* --- programs --------------------------------------------------------------------------------- */

static int fault_event(uint64_t config, uint32_t cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = config,
		.sample_period = 1, /* every event calls the program */
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int attach_fault(struct attach *a, struct bpf_program *program, uint64_t config)
{
	uint32_t cpu;

	for (cpu = 0; cpu < a->nrings; cpu++) {
		int fd = fault_event(config, cpu);
		struct bpf_link *link;

		if (fd < 0 && (errno == ENODEV || errno == ENXIO))
			continue; /* no such CPU */
		if (fd < 0)
			return -errno;
		link = bpf_program__attach_perf_event(program, fd);
		if (!link) {
			int err = -errno;

			close(fd);
			return err;
		}
		a->fault_links[a->nfault_links++] = link;
	}
	return 0;
}

/*
 * Attach the programs for page faults. If that fails, time in page faults counts as time on a CPU.
 * Store the reason in account_reason. Return an error only if a counter needs these programs.
 */
static int attach_faults(struct attach *a)
{
	struct sbt_bpf *skel = a->skel;
	struct bpf_program *done = bpf_program__autoload(skel->progs.on_fault_done)
					   ? skel->progs.on_fault_done
					   : skel->progs.on_fault_done_nameless;
	int err;

	a->fault_links = calloc(3 * (size_t)a->nrings, sizeof(struct bpf_link *));
	if (!a->fault_links)
		return -ENOMEM;
	err = attach_fault(a, done, PERF_COUNT_SW_PAGE_FAULTS_MIN);
	if (!err)
		err = attach_fault(a, done, PERF_COUNT_SW_PAGE_FAULTS_MAJ);
	if (!err)
		err = attach_fault(a, skel->progs.on_fault, PERF_COUNT_SW_PAGE_FAULTS);
	if (err)
		snprintf(a->account_reason, sizeof(a->account_reason),
			 "time in page faults is not separated: %s", strerror(-err));
	return a->fault_counters ? err : 0;
}

int account_attach(struct attach *a)
{
	struct bpf_program *const programs[] = {
		a->account ? a->skel->progs.on_switch : a->skel->progs.join_switch,
		a->account ? a->skel->progs.on_waking : a->skel->progs.join_waking,
		a->skel->progs.on_signal, /* the last one: only if departures are inferred */
	};
	size_t n = sizeof(programs) / sizeof(programs[0]);
	int err;

	if (!a->account && !a->joins)
		return 0;
	err = attach_programs(a, programs, attach_infers(a) ? n : n - 1);
	return !err && a->account ? attach_faults(a) : err;
}

bool attach_accounts(const struct attach *a)
{
	return a->account;
}

const char *attach_account_reason(const struct attach *a)
{
	return a->account_reason;
}

int attach_set_counter(struct attach *a, uint32_t number, uint32_t cpu, int fd)
{
	uint32_t key = number * a->nrings + cpu;

	if (number >= a->ncounters || cpu >= a->nrings)
		return -EINVAL;
	a->counter_fds[key] = fd;
	return bpf_map_update_elem(bpf_map__fd(a->skel->maps.counter_events), &key, &fd, BPF_ANY)
		       ? -errno
		       : 0;
}

int attach_account_found(struct attach *a)
{
	struct bpf_link *link;
	int fd, err = 0;
	char buf[64];

	if (!a->account)
		return 0;
	link = bpf_program__attach_iter(a->skel->progs.account_found, NULL);
	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0) {
		err = -errno;
	} else {
		/* Reading runs the program over all tasks. The program writes no output. */
		while (read(fd, buf, sizeof(buf)) > 0)
			;
		close(fd);
	}
	bpf_link__destroy(link);
	return err;
}

/* --- the cost of a page fault outside its handler --------------------------------------------- */

#define FAULT_PAGES 64
#define FAULT_RUNS  5

static uint64_t touch_pages(volatile char *pages, size_t page)
{
	uint64_t begin = now_ns();
	size_t i;

	for (i = 0; i < FAULT_PAGES; i++)
		pages[i * page] = 1;
	return now_ns() - begin;
}

/*
 * Measure how long a page fault takes outside its handler, on new pages of sbt-trace itself. This
 * time is added for each fault: the kernel's timestamps are inside the handler and exclude entering
 * and leaving the kernel, which takes long on a virtual machine.
 */
void account_calibrate_faults(struct attach *a, const struct sbt_account *self)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t outside[FAULT_RUNS], wall, before, faults;
	int i, n = 0;

	for (i = 0; i < FAULT_RUNS; i++) {
		char *pages = mmap(NULL, FAULT_PAGES * page, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (pages == MAP_FAILED)
			return;
		madvise(pages, FAULT_PAGES * page, MADV_NOHUGEPAGE);
		before = __atomic_load_n(&self->fault_ns, __ATOMIC_RELAXED);
		faults = __atomic_load_n(&self->faults, __ATOMIC_RELAXED);
		wall = touch_pages(pages, page);
		before = __atomic_load_n(&self->fault_ns, __ATOMIC_RELAXED) - before;
		faults = __atomic_load_n(&self->faults, __ATOMIC_RELAXED) - faults;
		munmap(pages, FAULT_PAGES * page);
		if (faults >= FAULT_PAGES / 2 && wall > before)
			outside[n++] = (wall - before) / faults;
	}
	if (!n)
		return;
	qsort(outside, (size_t)n, sizeof(outside[0]), number_compare_u64);
	a->fault_outside_ns = outside[n / 2];
}

uint64_t attach_fault_outside_ns(const struct attach *a)
{
	return a->fault_outside_ns;
}

/* --- results ---------------------------------------------------------------------------------- */

static void tail_counters(const struct attach *a, const struct sbt_account *acc,
			  const struct sbt_counting *c, struct sbt_counters *out)
{
	struct sbt_counted since;
	enum sbt_scaled how;
	uint32_t i, key;

	out->n = (uint8_t)a->ncounters;
	out->scaled = c->scaled;
	out->unknown = c->unknown;
	for (i = 0; i < a->ncounters; i++) {
		since.counter = c->sum[i].counter - c->mark[i].counter;
		since.enabled = c->sum[i].enabled - c->mark[i].enabled;
		since.running = c->sum[i].running - c->mark[i].running;
		if (a->switch_counters >> i & 1)
			since.counter = acc->switches - (uint32_t)c->mark[i].counter;
		else if (a->fault_counters >> i & 1)
			since.counter = acc->faults_begun - (uint32_t)c->mark[i].counter;
		key = i * a->nrings + acc->cpu;
		/*
		 * If the thread was on a CPU when tracing ended, add its count since the last
		 * update.
		 */
		if (acc->state == ACCOUNT_RUNNING && acc->cpu < a->nrings &&
		    a->counter_end[key] > c->base[i].counter + c->away[i])
			since.counter += a->counter_end[key] - c->base[i].counter - c->away[i];
		out->phase[i] = sbt_count_scale(&since, &how);
		out->scaled |= (uint8_t)((how == SBT_COUNT_SCALED) << i);
		out->unknown |= (uint8_t)((how == SBT_COUNT_UNKNOWN) << i);
	}
}

#define TAIL_PART(member, ...) out->parts.member = acc->member - acc->mark.member;

static void tail_fill(const struct attach *a, uint32_t index, uint64_t end_ns,
		      struct sbt_crossing_full *out)
{
	const struct sbt_account *acc = &a->accounts[index];
	const struct sbt_thread *t = &a->threads[index];
	uint64_t open = number_less(end_ns, acc->since_ns), times[SBT_TIMES];
	uint32_t i;

	for (i = 0; i < SBT_TIMES; i++)
		times[i] = acc->times[i] - acc->mark.times[i];
	if (acc->state == ACCOUNT_RUNNING)
		times[SBT_TIME_ONCPU] += number_less(end_ns, acc->run_ns + acc->away_ns);
	else if (acc->state == ACCOUNT_RUNNABLE)
		times[SBT_TIME_RUNQ] += open;
	else if (acc->state == ACCOUNT_BLOCKED && acc->reason < SBT_BLOCKED_REASONS)
		times[SBT_TIME_BLOCKED + acc->reason] += open;
	memset(out, 0, sizeof(*out));
	out->crossing = (struct sbt_crossing){
		.tgid = t->tgid,
		.tid = t->tid,
		.inc = t->inc,
		.seq = t->seq,
		.arrive_ns = end_ns,
		.depart_ns = end_ns,
		.type = SBT_REC_TAIL,
		.flags = SBT_CROSSING_ACCOUNTED | SBT_CROSSING_INSIDE | SBT_CROSSING_PARTS |
			 SBT_CROSSING_COUNTERS,
	};
	out->parts.oncpu_ns = times[SBT_TIME_ONCPU];
	out->parts.runq_ns = times[SBT_TIME_RUNQ];
	memcpy(out->parts.blocked_ns, &times[SBT_TIME_BLOCKED], sizeof(out->parts.blocked_ns));
	SBT_PARTS(TAIL_PART, )
	out->parts.turn_oncpu_ns = acc->turn_oncpu_ns - acc->mark.turn_oncpu_ns;
	out->parts.cpus_allowed = acc->cpus_allowed;
	if (a->countings)
		tail_counters(a, acc, &a->countings[index], &out->counters);
}

void attach_each_tail(const struct attach *a, uint64_t end_ns,
		      void (*each)(void *ctx, const struct sbt_crossing_full *tail), void *ctx)
{
	struct sbt_crossing_full tail;
	uint32_t i;

	for (i = 0; a->accounts && i < a->nthreads; i++) {
		/* A thread inside a barrier has no tail. */
		if (!a->threads[i].tid || a->accounts[i].tid != a->threads[i].tid ||
		    a->threads[i].arrive_ns || a->accounts[i].inside == ACCOUNT_INSIDE)
			continue;
		tail_fill(a, i, end_ns, &tail);
		each(ctx, &tail);
	}
}

bool attach_infers(const struct attach *a)
{
	return a->skel->rodata->config.infer;
}

bool attach_offs(const struct attach *a, uint32_t tid, uint32_t seq, struct sbt_arrival_full *out,
		 uint64_t *out_ns)
{
	const struct sbt_thread *t = find_thread(a, tid);
	size_t index = t ? (size_t)(t - a->threads) : 0;
	struct sbt_offs o;
	uint8_t unsure;

	if (!t || !a->offs)
		return false;
	/*
	 * The thread may write its next record meanwhile. Then a copy that mixes both has another
	 * number at its end than the copy began with.
	 */
	memcpy(&o, &a->offs[index], sizeof(o));
	unsure = __atomic_load_n(&a->accounts[index].unsure, __ATOMIC_ACQUIRE);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (o.tid != tid || o.seq != seq || !o.open ||
	    __atomic_load_n(&a->offs[index].seq, __ATOMIC_ACQUIRE) != seq)
		return false;
	*out = (struct sbt_arrival_full){
		.woke_ns = o.woke_ns,
		.left_ns = o.left_ns,
		.noffs = o.noffs <= SBT_OFFS ? o.noffs : SBT_OFFS,
		.merged = o.merged,
		.unsure = unsure,
		.woke_idle = o.woke_idle,
	};
	memcpy(out->off, o.off, sizeof(out->off));
	*out_ns = o.out_ns;
	return true;
}

/* Look up @key in a map of the accounting programs. Return 0 or -errno. */
static int look_up(const struct attach *a, const struct bpf_map *map, const void *key, void *out)
{
	if (!a->account)
		return -ENOENT;
	return bpf_map_lookup_elem(bpf_map__fd(map), key, out) ? -errno : 0;
}

int attach_task_name(const struct attach *a, uint32_t tid, struct sbt_name *out)
{
	int err = look_up(a, a->skel->maps.names, &tid, out);

	out->comm[sizeof(out->comm) - 1] = '\0';
	return err;
}

int attach_file_name(const struct attach *a, uint64_t inode, struct sbt_file_name *out)
{
	int err = look_up(a, a->skel->maps.file_names, &inode, out);

	out->name[sizeof(out->name) - 1] = '\0';
	return err;
}

int attach_mapping_name(const struct attach *a, uint32_t tgid, uint64_t addr,
			struct sbt_file_name *out)
{
	uint64_t key = SBT_MAPPING_KEY(tgid, addr);
	int err = look_up(a, a->skel->maps.mapping_names, &key, out);

	out->name[sizeof(out->name) - 1] = '\0';
	return err;
}

int attach_wakers(const struct attach *a, uint32_t tid, struct sbt_wakers *out)
{
	return look_up(a, a->skel->maps.wakers, &tid, out);
}

int attach_stack(const struct attach *a, uint64_t key, struct sbt_stack *out)
{
	return key ? look_up(a, a->skel->maps.stacks, &key, out) : -ENOENT;
}
