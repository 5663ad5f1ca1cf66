// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* sbt-trace trace: from its options to probes that are in place. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "analyse/doctor.h"
#include "attach/rights.h"
#include "base/msg.h"
#include "base/remark.h"
#include "base/output.h"
#include "capture/file_limit.h"
#include "capture/preflight.h"
#include "capture/run_facts_live.h"
#include "recording/recording.h"
#include "capture/process_tracker.h"
#include "cmd/trace_internal.h"
#include "capture/cause_names.h"
#include "ingest/ring.h"
#include "target/proc.h"

static void on_hang(void *ctx, const struct report_hang *hang)
{
	struct trace *t = ctx;

	if (t->recording)
		recording_hang(t->recording, hang);
}

static int open_output(struct trace *t)
{
	const struct options *o = &t->options;
	struct emit_options emit = { .format = o->format,
				     .quiet = o->quiet,
				     .verbose = o->verbose,
				     .on_hang = on_hang,
				     .on_hang_ctx = t };
	struct timespec real, mono;

	if (o->output) {
		t->out = output_open(o->output);
		if (!t->out) {
			msg_error("cannot write %s: %s", o->output, strerror(errno));
			return -errno;
		}
	} else {
		t->out = o->mode == OPTIONS_COMMAND ? stderr : stdout;
	}
	emit.colour = isatty(fileno(t->out)) && !getenv("NO_COLOR");
	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	emit.realtime_offset_ns =
		(int64_t)(real.tv_sec - mono.tv_sec) * 1000000000 + (real.tv_nsec - mono.tv_nsec);
	t->present.realtime_offset_ns = emit.realtime_offset_ns;
	t->emit = emit_new(t->out, &emit);
	if (!t->emit)
		return -ENOMEM;
	return o->record ? recording_open(o->record, &t->recording) : 0;
}

/* What the kernel makes of probes on so many CPUs is in every figure that follows. */
static void warn_of_cpus(void)
{
	struct doctor_facts machine;
	char why[200];

	doctor_begin(&machine);
	doctor_look_machine(&machine);
	if (doctor_cpus_wait(&machine, why, sizeof(why)))
		msg_warn("%s", why);
}

static int load(struct trace *t)
{
	const struct options *o = &t->options;
	struct attach_options a;
	char why[512] = "";
	uint64_t cgroup;
	int err;

	loading_options(o, &t->counting, &a);
	if (o->comm) {
		a.config.by_comm = 1;
		memcpy(a.config.comm, o->comm, strlen(o->comm));
	}
	if (o->cgroup) {
		err = permit_cgroup(o->cgroup, &cgroup, &a.config.cgroup_level);
		if (err)
			return err;
		a.config.cgroup_id = cgroup;
		a.config.by_cgroup = 1;
	}
	err = attach_new(&a, &t->attach, why, sizeof(why));
	if (err) {
		permit_explain(err, why);
		return err;
	}
	warn_of_cpus();
	if (*attach_account_reason(t->attach))
		msg_warn("%s", attach_account_reason(t->attach));
	err = o->discover_futex ? attach_futexes(t->attach) : 0;
	if (err)
		remark_warn("not_looked_for", 0, "barriers on futexes cannot be looked for: %s",
			    strerror(-err));
	if (attach_accounts(t->attach))
		return counting_connect(&t->counting, t->attach);
	counting_drop(&t->counting, attach_account_reason(t->attach));
	return 0;
}

static int open_stream(struct trace *t)
{
	uint32_t n = attach_nrings(t->attach), i;
	int *fds = calloc(n, sizeof(*fds)), err;

	if (!fds)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		fds[i] = attach_ring_fd(t->attach, i);
	err = ring_open(fds, n, attach_ring_bytes(t->attach), attach_events_fd(t->attach),
			attach_events_bytes(t->attach), &t->stream);
	free(fds);
	for (i = 0; i < n && !err; i++)
		err = trace_watch_fd(t, attach_ring_fd(t->attach, i), FD_RINGS, EPOLLIN | EPOLLET);
	return err ? err
		   : trace_watch_fd(t, attach_events_fd(t->attach), FD_RINGS, EPOLLIN | EPOLLET);
}

static int build_rooms(struct trace *t)
{
	const struct options *o = &t->options;
	bool by_process = !o->follow && attach_for_one(t->attach);
	struct targets_options to = { .by_process = by_process,
				      .children = o->follow || o->mode == OPTIONS_SYSTEM,
				      .comm = o->comm,
				      .apart = o->cost_limit > 0,
				      .discover = o->discover,
				      .waits_told = attach_accounts(t->attach),
				      .turns = attach_accounts(t->attach) && !o->aggregate,
				      .accesses = o->record != NULL,
				      .discover_all = o->mode == OPTIONS_SYSTEM,
				      .verbose = o->verbose };
	struct symbol_options so = { .debuginfod = o->debuginfod,
				     /* It shows names all the time. */
				     .fetch_at_once = t->hook != NULL };
	int err, fd;
	uint32_t i;

	if (!o->quiet)
		t->progress = progress_new(STDERR_FILENO);
	err = symbol_server_new(&so, &t->symbols);
	if (!err)
		symbol_server_idle(t->symbols, trace_save, t);
	if (!err)
		err = modules_new(t->options.rules, t->symbols, &t->modules);
	if (!err) {
		modules_set_progress(t->modules, t->progress);
		modules_idle(t->modules, trace_save, t);
	}
	if (!err && o->aggregate)
		modules_only_pthread(t->modules);
	if (!err)
		err = spaces_new(t->modules, t->symbols, &t->spaces);
	if (!err)
		err = targets_new(t->attach, t->modules, t->spaces, &to, &t->targets);
	for (i = 0; !err && (fd = targets_mapped_fd(t->targets, i)) >= 0; i++)
		err = trace_watch_fd(t, fd, FD_RINGS, EPOLLIN | EPOLLET);
	if (!err && (fd = targets_written_fd(t->targets)) >= 0)
		err = trace_watch_fd(t, fd, FD_WRITTEN, EPOLLIN);
	return err;
}

static int add_pid(struct trace *t, size_t i)
{
	int pid = t->options.pids[i], tgid, err;

	err = proc_may_look(pid);
	if (!err)
		err = proc_tgid(pid, &tgid);
	if (!err && tgid != pid) {
		msg_error("%d is a thread of process %d: give that", pid, tgid);
		return -EINVAL;
	}
	if (!err && !proc_alive(pid))
		err = -ESRCH;
	if (!err && pid == getpid()) {
		msg_error("%d is sbt-trace itself", pid);
		return -EINVAL;
	}
	t->pidfds[i] = err ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
	if (!err && t->pidfds[i] < 0)
		err = -errno;
	if (!err)
		err = targets_add_pid(t->targets, pid);
	if (err == -ESRCH)
		msg_error("process %d does not exist, or ended as it was being attached to", pid);
	else if (err == -EACCES || err == -EPERM)
		permit_explain_pid(pid);
	else if (err)
		msg_error("cannot attach to process %d: %s", pid, strerror(-err));
	if (err)
		return err;
	t->nlive++;
	return trace_watch_fd(t, t->pidfds[i], FD_PIDS + i, EPOLLIN);
}

static int add_words(struct trace *t, int pid)
{
	int err = targets_add_words(t->targets, pid);

	/* Gone by now, or not to be read: what it executes is examined when it does. */
	return err == -ENOMEM ? err : 0;
}

/* The other ranks of an mpirun are ours to trace. */
static int add_ranks(struct trace *t)
{
	struct handover *h = &t->handover;
	size_t i;
	int err;

	err = handover_collect(h);
	if (err == -ETIMEDOUT)
		remark_warn(
			"ranks", 0,
			"%zu of the %zu other ranks on this machine have not come: they are not "
			"in this report",
			h->expected - h->n, h->expected);
	t->pidfds = calloc(h->n + 1, sizeof(*t->pidfds));
	if (!t->pidfds)
		return -ENOMEM;
	for (i = 0; i < h->n; i++) {
		int fd = (int)syscall(SYS_pidfd_open, h->ranks[i].pid, 0);

		t->pidfds[t->npidfds++] = fd;
		if (fd < 0)
			continue;
		err = targets_add_other(t->targets, h->ranks[i].pid);
		if (!err)
			err = trace_watch_fd(t, fd, FD_PIDS + i, EPOLLIN);
		if (err)
			return err;
		t->nlive++;
	}
	return 0;
}

static int find_targets(struct trace *t)
{
	const struct options *o = &t->options;
	int err = 0;
	size_t i;

	switch (o->mode) {
	case OPTIONS_COMMAND:
		err = targets_add_own(t->targets, o->command);
		if (!err)
			err = targets_add_child(t->targets, t->launch.pid);
		return err || t->handover.listener < 0 ? err : add_ranks(t);
	case OPTIONS_SYSTEM:
		permit_warn_others();
		err = targets_add_own(t->targets, NULL);
		return err ? err : targets_scan_all(t->targets);
	case OPTIONS_PIDS:
		t->pidfds = calloc(o->npids, sizeof(*t->pidfds));
		if (!t->pidfds)
			return -ENOMEM;
		memset(t->pidfds, -1, o->npids * sizeof(*t->pidfds));
		t->npidfds = o->npids;
		for (i = 0; i < o->npids && !err; i++)
			err = add_pid(t, i);
		if (!err && !targets_have_places(t->targets))
			msg_warn("no barrier function is mapped there yet: looked for "
				 "pthread_barrier_wait in every file of the process; libraries "
				 "opened later will be looked at");
		for (i = 0; i < o->npids && !err; i++)
			err = add_words(t, o->pids[i]);
		return err;
	}
	return -EINVAL;
}

static int prepare_command(struct trace *t)
{
	struct launch_user user;
	int err;

	if (t->options.mode != OPTIONS_COMMAND)
		return 0;
	err = launch_find_user(t->options.user, &user);
	if (err) {
		msg_error("cannot run the command as user %s: %s",
			  t->options.user ? t->options.user : "behind sudo",
			  err == -ENOENT ? "there is no such user" : strerror(-err));
		return err;
	}
	err = user.change ? permit_user(user.name) : 0;
	if (err)
		return err;
	err = launch_prepare(t->options.command, &user, &t->launch);
	if (err) {
		msg_error("cannot start the command: %s", strerror(-err));
		return err;
	}
	t->launched = true;
	return 0;
}

int trace_set_up(struct trace *t)
{
	int err;

	err = permit_check();
	if (!err)
		err = open_output(t);
	/* First: the command inherits signals and limits as they were given to us. */
	if (!err)
		err = prepare_command(t);
	if (!err)
		err = trace_set_up_signals(t);
	if (!err)
		loading_raise_limits();
	if (!err)
		err = counting_open(&t->counting);
	if (!err)
		err = load(t);
	if (!err)
		err = open_stream(t);
	if (!err)
		err = build_rooms(t);
	if (err)
		return err;
	present_init(&t->present, &t->options, t->attach, t->stream, t->modules, t->spaces);
	t->present.targets = t->targets;
	t->present.progress = t->progress;
	if (attach_accounts(t->attach))
		err = why_new(t->attach, t->spaces, &t->counting, present_env(&t->present),
			      &t->why);
	if (err)
		return err;
	present_counting(&t->present, &t->counting);
	if (t->why)
		present_account(&t->present, why_causes(t->why));
	if (t->recording) {
		t->present.recording = t->recording;
		recording_listen(t->recording, &t->present.env, t->why ? why_env(t->why) : NULL);
	}
	/* Before any other probe is there. */
	if (t->options.cost_limit > 0) {
		t->priced = !present_prices_all(&t->present, trace_drain, t);
		trace_drain(t);
	}
	err = guard_start(t->attach, &t->guard);
	if (!err)
		err = find_targets(t);
	if (err)
		return err;
	/* The reader must get the CPU when the rings fill; it uses little of it. */
	if (setpriority(PRIO_PROCESS, 0, -10))
		msg_verbose(t->options.verbose, "cannot raise the priority: %s", strerror(errno));
	modules_follow_priority(t->modules);
	permit_drop(rights_while_tracing(attach_method(t->attach) == ATTACH_PERF),
		    t->options.verbose);
	return 0;
}
