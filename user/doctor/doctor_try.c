// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Try BPF and probes with the smallest program that shows whether they work. The program counts its
 * hits.
 */
#include "doctor/doctor_internal.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/calibrate.h"
#include "attach/counters.h"
#include "attach/events.h"
#include "attach/link.h"
#include "attach/mappings.h"
#include "attach/regs.h"
#include "attach/rights.h"
#include "attach/sample.h"
#include "base/plugin.h"

#define COOKIE	      4711u
#define RING_BYTES    (1u << 20)
#define BLOCKED_LOOKS 1500 /* attempts at 2 ms intervals */
#define SAMPLE_MS     5000 /* longest wait for a running thread to get a CPU */

void doctor_begin(struct doctor_facts *f)
{
	int *const outcomes[] = {
		&f->first_pidns, &f->first_userns, &f->bpf_sysctl,   &f->paranoid,     &f->yama,
		&f->seccomp,	 &f->map,	   &f->program,	     &f->ring,	       &f->btf,
		&f->throttle,	 &f->perf,	   &f->syscalls,     &f->registers,    &f->samples,
		&f->perf_exit,	 &f->cookies,	   &f->multi,	     &f->multi_exit,   &f->session,
		&f->filters,	 &f->numbers,	   &f->signal,	     &f->vma,	       &f->trial,
		&f->accounts,	 &f->iterator,	   &f->hardware,     &f->software,     &f->other,
		&f->other_maps,	 &f->other_files,  &f->other_memory, &f->child_memory, &f->stop,
		&f->cgroup_id,	 &f->mappings,
	};
	size_t i;

	memset(f, 0, sizeof(*f));
	for (i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++)
		*outcomes[i] = DOCTOR_UNTRIED;
	f->crossing_ns = NAN;
}

/* --- a program that counts -------------------------------------------------------------------- */

/* Contents of the counting program's map. */
struct hits {
	uint64_t hits;
	uint64_t pid_tgid;
	uint64_t cookie;
};

#define OP(c, d, s, o, i) \
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })
#define CALL(f) OP(BPF_JMP | BPF_CALL, 0, 0, 0, f)

/*
 * Load the counting program. Return its fd, or -errno. @type: the expected attach type; 0: perf
 * uprobes.
 */
static int load_counting(int map, int type, bool cookie)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	struct bpf_insn insns[] = {
		OP(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_6, BPF_REG_1, 0, 0),
		OP(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 0),
		OP(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0),
		OP(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4),
		OP(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map),
		OP(0, 0, 0, 0, 0),
		CALL(BPF_FUNC_map_lookup_elem),
		/* No entry: jump to the last two instructions. */
		OP(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 8, 0),
		OP(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_7, BPF_REG_0, 0, 0),
		OP(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, 1),
		OP(BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_7, BPF_REG_1, offsetof(struct hits, hits),
		   BPF_ADD),
		CALL(BPF_FUNC_get_current_pid_tgid),
		OP(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_7, BPF_REG_0,
		   offsetof(struct hits, pid_tgid), 0),
		OP(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_6, 0, 0),
		CALL(cookie ? BPF_FUNC_get_attach_cookie : BPF_FUNC_ktime_get_ns),
		OP(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_7, BPF_REG_0, offsetof(struct hits, cookie),
		   0),
		OP(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
		OP(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	int fd;

	opts.expected_attach_type = (enum bpf_attach_type)type;
	fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "sbt_doctor", "GPL", insns,
			   sizeof(insns) / sizeof(insns[0]), &opts);
	return fd < 0 ? -errno : fd;
}

static int make_map(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "sbt_doctor", sizeof(uint32_t),
				sizeof(struct hits), 1, NULL);

	return fd < 0 ? -errno : fd;
}

static int make_ring(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "sbt_doctor", 0, 0, RING_BYTES, NULL);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* --- probes on ourselves ---------------------------------------------------------------------- */

#define NUMBER_TRIES 8

enum where { ENTRY, EXIT };

struct trying {
	int map;
	struct attach_probe_site probe_site;
	uint64_t exits[1];
};

/*
 * Call the probed function, and check for at least @times hits. Return 0, DOCTOR_UNSEEN (too few
 * hits), or -errno.
 */
static int call_probed(const struct trying *t, uint64_t times, struct hits *out)
{
	uint32_t zero = 0;

	calibrate_call(false);
	if (bpf_map_lookup_elem(t->map, &zero, out))
		return -errno;
	return out->hits >= times ? 0 : DOCTOR_UNSEEN;
}

/*
 * Try a probe. @type as for load_counting(). Return the outcome, and in *@out what the program
 * stored.
 */
static int try_probe(const struct trying *t, int type, enum where where, bool cookie,
		     struct hits *out)
{
	static const struct hits none;
	uint64_t offset = where == EXIT ? t->exits[0] : t->probe_site.entry;
	uint32_t zero = 0;
	int program, link, err;

	if (bpf_map_update_elem(t->map, &zero, &none, BPF_ANY))
		return -errno;
	program = load_counting(t->map, type, cookie);
	if (program < 0)
		return program;
	link = type ? link_multi(program, type, t->probe_site.fd, &offset, 1, 0,
				 cookie ? COOKIE : 0)
		    : link_perf(program, t->probe_site.fd, offset, -1, cookie ? COOKIE : 0);
	close(program);
	if (link < 0)
		return link;
	/* A session probe is also hit at the return. */
	err = call_probed(t, type == LINK_ATTACH_SESSION ? 2 : 1, out);
	link_close(link);
	return err;
}

static int try_filter(const struct trying *t)
{
	int program = load_counting(t->map, LINK_ATTACH_MULTI, false), yes;

	if (program < 0)
		return DOCTOR_UNTRIED;
	yes = link_multi_filters_process(program);
	close(program);
	return yes;
}

/*
 * Return whether BPF programs see this process under the number that getpid() returns. Probe again
 * if the numbers differ, because the last hit may be from another sbt-trace that tries its probes
 * at the same time. In any pid namespace but the initial one, the numbers never agree.
 */
static bool has_our_number(const struct trying *t, const struct hits *last)
{
	struct hits hits = *last;
	int i;

	for (i = 0; i < NUMBER_TRIES && hits.pid_tgid >> 32 != (uint64_t)getpid(); i++)
		if (try_probe(t, 0, ENTRY, false, &hits))
			return false;
	return hits.pid_tgid >> 32 == (uint64_t)getpid();
}

static void try_probes(struct doctor_facts *f, struct trying *t)
{
	struct hits hits = { 0 };

	f->perf = try_probe(t, 0, ENTRY, false, &hits);
	f->perf_exit = try_probe(t, 0, EXIT, false, &hits);
	f->cookies = try_probe(t, 0, ENTRY, true, &hits);
	if (!f->cookies && hits.cookie != COOKIE)
		f->cookies = -EINVAL;
	f->multi = try_probe(t, LINK_ATTACH_MULTI, ENTRY, true, &hits);
	f->multi_exit = try_probe(t, LINK_ATTACH_MULTI, EXIT, false, &hits);
	f->session = try_probe(t, LINK_ATTACH_SESSION, ENTRY, false, &hits);
	/* Any hit shows which number BPF programs see for this process. */
	if (hits.hits)
		f->numbers = has_our_number(t, &hits);
	if (!f->multi)
		f->filters = try_filter(t);
}

static int try_mappings(void)
{
	struct mappings *m = NULL;
	int err = mappings_open(true, &m);

	mappings_free(m);
	return err;
}

static void try_bpf(struct doctor_facts *f)
{
	struct trying t = { .probe_site.fd = -1 };
	int program;

	t.map = make_map();
	f->map = t.map < 0 ? t.map : 0;
	f->mappings = try_mappings();
	if (t.map < 0)
		return;
	f->ring = make_ring();
	program = load_counting(t.map, 0, false);
	f->program = program < 0 ? program : 0;
	if (program < 0)
		goto out;
	close(program);
	f->signal = libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_send_signal, NULL) == 1;
	/* Make the same test as account_prepare(). */
	f->vma = libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_find_vma, NULL) == 1;
	if (!calibrate_probe_site(false, &t.probe_site, t.exits))
		try_probes(f, &t);
	if (t.probe_site.fd >= 0)
		close(t.probe_site.fd);
out:
	close(t.map);
}

/* --- the kernel's types ----------------------------------------------------------------------- */

static bool has_member(const struct btf *btf, const char *type, const char *member)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT), i;
	const struct btf_type *t;

	if (id < 0)
		return false;
	t = btf__type_by_id(btf, (uint32_t)id);
	for (i = 0; i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(t)[i].name_off), member))
			return true;
	return false;
}

static void try_btf(struct doctor_facts *f)
{
	struct btf *btf = btf__parse(RIGHTS_BTF, NULL);

	f->btf = btf ? 0 : -errno;
	if (!btf)
		return;
	/* Make the same test as bpf/account.bpf.c. */
	f->throttle = has_member(btf, "cfs_rq", "throttle_count") ||
		      has_member(btf, "task_group", "cfs_bandwidth");
	/* libbpf looks up the same type for tp_btf/sys_enter. */
	f->syscalls = btf__find_by_name_kind(btf, "btf_trace_sys_enter", BTF_KIND_TYPEDEF) >= 0;
	btf__free(btf);
}

/* --- counters --------------------------------------------------------------------------------- */

/*
 * Try a list of events. Return 1 if some are available, else 0. Write the names of the available
 * events, and why the first unavailable event is unavailable.
 */
static int try_counters(const char *list, char *names, size_t size, char *why, size_t len)
{
	struct event_spec specs[COUNTERS_MAX];
	struct counters *c;
	uint32_t n, i;
	int has = 0;

	*names = *why = '\0';
	if (events_parse(list, specs, COUNTERS_MAX, &n, why, len) || counters_open(specs, n, &c))
		return DOCTOR_UNTRIED;
	for (i = 0; i < n; i++) {
		size_t used = strlen(names);

		if (counters_has(c, i)) {
			snprintf(names + used, size - used, "%s%s", used ? ", " : "",
				 specs[i].name);
			has = 1;
		} else if (!*why) {
			snprintf(why, len, "%s", counters_reason(c, i));
		}
	}
	counters_free(c);
	return has;
}

static void try_pfm(struct doctor_facts *f)
{
	struct events_host host;
	void *lib;

	events_host_here(&host);
	lib = host.libpfm ? plugin_open(host.libpfm) : NULL;
	if (!lib)
		return;
	if (dlsym(lib, "pfm_get_os_event_encoding"))
		snprintf(f->pfm, sizeof(f->pfm), "%s", host.libpfm);
	dlclose(lib);
}

/* --- analysis of hangs ------------------------------------------------------------------------ */

/* Read the registers of a child that is blocked. */
static int read_blocked(struct regs *regs, pid_t pid)
{
	struct regs_thread *threads = NULL;
	struct timespec pause = { .tv_nsec = 2000000 };
	uint32_t n = 0;
	int i, err = DOCTOR_UNSEEN;

	/* The thread may not have blocked yet. */
	for (i = 0; i < BLOCKED_LOOKS && err; i++) {
		err = regs_read(regs, (uint32_t)pid, &threads, &n);
		if (!err && (n != 1 || !threads[0].regs.known || threads[0].on_cpu))
			err = DOCTOR_UNSEEN;
		free(threads);
		threads = NULL;
		if (err != DOCTOR_UNSEEN)
			break;
		nanosleep(&pause, NULL);
	}
	return err;
}

static void try_registers(struct doctor_facts *f)
{
	struct regs *regs;
	pid_t pid;

	f->registers = regs_new(&regs, f->registers_why, sizeof(f->registers_why));
	if (f->registers)
		return;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		for (;;)
			pause();
	}
	f->registers = pid < 0 ? -errno : read_blocked(regs, pid);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	regs_free(regs);
}

/* Sample the stack of a running child. */
static void try_samples(struct doctor_facts *f)
{
	struct sample sample = { 0 };
	pid_t pid = fork();
	int got;

	if (pid < 0)
		return;
	if (!pid) {
		volatile unsigned int n = 0;

		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		for (;;)
			n++;
	}
	sample.tid = (uint32_t)pid;
	got = sample_take(&sample, 1, SAMPLE_MS);
	f->samples = got < 0 ? got : got && sample.len ? 0 : DOCTOR_UNSEEN;
	sample_release(&sample, 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void doctor_try(struct doctor_facts *f)
{
	libbpf_set_print(NULL);
	try_btf(f);
	try_bpf(f);
	f->hardware =
		try_counters("cycles,instructions,cache-misses,branch-misses", f->hardware_names,
			     sizeof(f->hardware_names), f->hardware_why, sizeof(f->hardware_why));
	f->software = try_counters("task-clock,page-faults,context-switches,cpu-migrations",
				   f->software_names, sizeof(f->software_names), f->software_why,
				   sizeof(f->software_why));
	try_pfm(f);
	try_registers(f);
	try_samples(f);
}
