// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Set up a trace: from its options to attached probes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "attach/rights.h"
#include "base/clock.h"
#include "base/msg.h"
#include "base/remark.h"
#include "base/output.h"
#include "base/terminal.h"
#include "capture/file_limit.h"
#include "capture/load_options.h"
#include "capture/preflight.h"
#include "capture/run_facts_live.h"
#include "recording/recording.h"
#include "capture/process_tracker.h"
#include "capture/capture_internal.h"
#include "capture/cause_names.h"
#include "doctor/doctor.h"
#include "ingest/ring.h"
#include "target/proc.h"

static void on_hang(void *ctx, const struct report_hang *hang)
{
	struct capture *c = ctx;

	if (c->recording)
		recording_hang(c->recording, hang);
}

static int open_output(struct capture *c)
{
	const struct options *o = &c->options;
	struct emit_options emit = { .format = o->format,
				     .quiet = o->quiet,
				     .verbose = o->verbose,
				     .detail = o->detail,
				     .banner = options_banner(o),
				     .on_hang = on_hang,
				     .on_hang_ctx = c };

	if (o->output) {
		c->out = output_open(o->output);
		if (!c->out) {
			msg_error("cannot write %s: %s", o->output, strerror(errno));
			return -errno;
		}
	} else {
		c->out = o->mode == OPTIONS_COMMAND ? stderr : stdout;
	}
	emit.colour = terminal_colour(fileno(c->out));
	emit.width = terminal_width(fileno(c->out));
	/* A command shows by its own output that it runs. */
	emit.announce = o->mode != OPTIONS_COMMAND && isatty(fileno(c->out));
	emit.realtime_offset_ns = (int64_t)clock_ns(CLOCK_REALTIME) - (int64_t)now_ns();
	c->run_facts_live.realtime_offset_ns = emit.realtime_offset_ns;
	c->emit = emit_new(c->out, &emit);
	if (!c->emit)
		return -ENOMEM;
	if (!o->record)
		return 0;
	return o->record_default ? recording_open_default(o->record, &c->recording)
				 : recording_open(o->record, &c->recording);
}

/* Warn if the machine has so many CPUs that probes are slow, which affects the whole report. */
static void warn_of_cpus(void)
{
	struct doctor_facts machine;
	char why[200];

	doctor_begin(&machine);
	doctor_look_machine(&machine);
	if (doctor_cpus_wait(&machine, why, sizeof(why)))
		msg_warn("%s", why);
}

static int load(struct capture *c)
{
	const struct options *o = &c->options;
	struct attach_options a;
	char why[512] = "";
	uint64_t cgroup;
	int err;

	load_options_fill(o, &c->counting, &a);
	if (o->comm) {
		a.config.by_comm = 1;
		memcpy(a.config.comm, o->comm, strlen(o->comm));
	}
	if (o->cgroup) {
		err = preflight_cgroup(o->cgroup, &cgroup, &a.config.cgroup_level);
		if (err)
			return err;
		a.config.cgroup_id = cgroup;
		a.config.by_cgroup = 1;
	}
	err = attach_new(&a, &c->attach, why, sizeof(why));
	if (err) {
		preflight_explain(err, why);
		return err;
	}
	warn_of_cpus();
	if (*attach_account_reason(c->attach))
		msg_warn("%s", attach_account_reason(c->attach));
	if (*attach_sample_reason(c->attach))
		msg_warn("%s", attach_sample_reason(c->attach));
	err = o->discover_futex ? attach_futexes(c->attach) : 0;
	if (err)
		remark_warn("not_looked_for", 0, "cannot look for barriers on futexes: %s",
			    strerror(-err));
	if (attach_accounts(c->attach))
		return counting_connect(&c->counting, c->attach);
	counting_drop(&c->counting, attach_account_reason(c->attach));
	return 0;
}

static int open_stream(struct capture *c)
{
	uint32_t n = attach_nrings(c->attach), i;
	int *fds = calloc(n, sizeof(*fds)), err;

	if (!fds)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		fds[i] = attach_ring_fd(c->attach, i);
	err = ring_open(fds, n, attach_ring_bytes(c->attach), attach_events_fd(c->attach),
			attach_events_bytes(c->attach), &c->stream);
	free(fds);
	for (i = 0; i < n && !err; i++)
		err = capture_watch_fd(c, attach_ring_fd(c->attach, i), FD_RINGS,
				       EPOLLIN | EPOLLET);
	return err ? err
		   : capture_watch_fd(c, attach_events_fd(c->attach), FD_RINGS, EPOLLIN | EPOLLET);
}

static int build_rooms(struct capture *c)
{
	const struct options *o = &c->options;
	bool by_process = !o->follow && attach_for_one(c->attach);
	struct tracker_options to = { .by_process = by_process,
				      .children = o->follow || o->mode == OPTIONS_SYSTEM,
				      .running = o->mode != OPTIONS_COMMAND || o->delay_s > 0,
				      .comm = o->comm,
				      .apart = o->cost_limit > 0,
				      .discover = o->discover,
				      .waits_reported = attach_accounts(c->attach),
				      .turns = attach_accounts(c->attach) && !o->aggregate,
				      .accesses = o->record != NULL,
				      .discover_all = o->mode == OPTIONS_SYSTEM,
				      .verbose = o->verbose };
	struct symbol_options so = { .debuginfod = o->debuginfod,
				     /*
				      * A hook (top) shows names during tracing, so fetch names at
				      * once.
				      */
				     .fetch_at_once = c->hook != NULL };
	int err, fd;
	uint32_t i;

	if (!o->quiet)
		c->progress = progress_new(STDERR_FILENO);
	err = symbol_server_new(&so, &c->symbols);
	if (!err)
		symbol_server_idle(c->symbols, capture_save, c);
	if (!err)
		err = modules_new(c->options.rules, c->symbols, &c->modules);
	if (!err) {
		modules_set_progress(c->modules, c->progress);
		modules_idle(c->modules, capture_save, c);
	}
	if (!err && o->aggregate)
		modules_only_pthread(c->modules);
	if (!err)
		err = address_spaces_new(c->modules, c->symbols, &c->spaces);
	if (!err)
		err = tracker_new(c->attach, c->modules, c->spaces, &to, &c->tracker);
	for (i = 0; !err && (fd = tracker_mapped_fd(c->tracker, i)) >= 0; i++)
		err = capture_watch_fd(c, fd, FD_RINGS, EPOLLIN | EPOLLET);
	if (!err && (fd = tracker_written_fd(c->tracker)) >= 0)
		err = capture_watch_fd(c, fd, FD_WRITTEN, EPOLLIN);
	return err;
}

static int add_pid(struct capture *c, size_t i)
{
	int pid = c->options.pids[i], tgid, err;

	err = proc_may_look(pid);
	if (!err)
		err = proc_tgid(pid, &tgid);
	if (!err && tgid != pid) {
		msg_error("%d is a thread of process %d: give the process id", pid, tgid);
		return -EINVAL;
	}
	if (!err && !proc_alive(pid))
		err = -ESRCH;
	if (!err && pid == getpid()) {
		msg_error("%d is sbt-trace itself", pid);
		return -EINVAL;
	}
	c->pidfds[i] = err ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
	if (!err && c->pidfds[i] < 0)
		err = -errno;
	if (!err)
		err = tracker_add_pid(c->tracker, pid);
	if (err == -ESRCH)
		msg_error("process %d does not exist, or ended while probes were attached", pid);
	else if (err == -EACCES || err == -EPERM)
		preflight_explain_pid(pid);
	else if (err)
		msg_error("cannot attach to process %d: %s", pid, strerror(-err));
	if (err)
		return err;
	c->nlive++;
	return capture_watch_fd(c, c->pidfds[i], FD_PIDS + i, EPOLLIN);
}

static int add_words(struct capture *c, int pid)
{
	int err = tracker_add_words(c->tracker, pid);

	/*
	 * Other errors mean that the process has ended or cannot be read. If it still runs, the
	 * next program that it executes is examined.
	 */
	return err == -ENOMEM ? err : 0;
}

/* Trace the other ranks of an mpirun on this machine. */
static int add_ranks(struct capture *c)
{
	struct handover *h = &c->handover;
	size_t i;
	int err;

	err = handover_collect(h);
	if (err == -ETIMEDOUT)
		remark_warn("ranks", 0,
			    "%zu of the %zu other ranks on this machine did not connect: they are "
			    "not in this report",
			    h->expected - h->n, h->expected);
	c->pidfds = calloc(h->n + 1, sizeof(*c->pidfds));
	if (!c->pidfds)
		return -ENOMEM;
	for (i = 0; i < h->n; i++) {
		int fd = (int)syscall(SYS_pidfd_open, h->ranks[i].pid, 0);

		c->pidfds[c->npidfds++] = fd;
		if (fd < 0)
			continue;
		err = tracker_add_other(c->tracker, h->ranks[i].pid);
		if (!err)
			err = capture_watch_fd(c, fd, FD_PIDS + i, EPOLLIN);
		if (err)
			return err;
		c->nlive++;
	}
	return 0;
}

static int find_targets(struct capture *c)
{
	const struct options *o = &c->options;
	int err = 0;
	size_t i;

	switch (o->mode) {
	case OPTIONS_COMMAND:
		err = tracker_add_own(c->tracker, o->command);
		if (!err)
			err = tracker_add_child(c->tracker, c->launch.pid);
		return err || c->handover.listener < 0 ? err : add_ranks(c);
	case OPTIONS_SYSTEM:
		preflight_warn_others();
		err = tracker_add_own(c->tracker, NULL);
		return err ? err : tracker_scan_all(c->tracker);
	case OPTIONS_PIDS:
		c->pidfds = calloc(o->npids, sizeof(*c->pidfds));
		if (!c->pidfds)
			return -ENOMEM;
		memset(c->pidfds, -1, o->npids * sizeof(*c->pidfds));
		c->npidfds = o->npids;
		for (i = 0; i < o->npids && !err; i++)
			err = add_pid(c, i);
		if (!err && !tracker_have_places(c->tracker))
			msg_warn("no barrier function was found in the process yet: every file of "
				 "the process was searched for pthread_barrier_wait; libraries "
				 "that it opens later will be examined");
		for (i = 0; i < o->npids && !err; i++)
			err = add_words(c, o->pids[i]);
		return err;
	}
	return -EINVAL;
}

static int prepare_command(struct capture *c)
{
	struct launch_user user;
	int err;

	if (c->options.mode != OPTIONS_COMMAND)
		return 0;
	err = launch_find_user(c->options.user, &user);
	if (err) {
		msg_error("cannot run the command as user %s: %s",
			  c->options.user ? c->options.user : "that called sudo",
			  err == -ENOENT ? "there is no such user" : strerror(-err));
		return err;
	}
	err = user.change ? preflight_user(user.name) : 0;
	if (err)
		return err;
	err = launch_prepare(c->options.command, &user, &c->launch);
	if (err) {
		msg_error("cannot start the command: %s", strerror(-err));
		return err;
	}
	c->launched = true;
	return 0;
}

int capture_set_up(struct capture *c)
{
	int err;

	err = preflight_check();
	if (!err)
		err = open_output(c);
	/*
	 * Fork COMMAND before the signal mask and the limits are changed below, because COMMAND
	 * inherits them.
	 */
	if (!err)
		err = prepare_command(c);
	if (!err)
		err = capture_set_up_signals(c);
	if (!err)
		file_limit_raise();
	if (!err)
		err = counting_open(&c->counting);
	if (!err)
		err = load(c);
	if (!err)
		err = open_stream(c);
	if (!err)
		err = build_rooms(c);
	if (err)
		return err;
	run_facts_live_init(&c->run_facts_live, &c->options, c->attach, c->stream, c->modules,
			    c->spaces);
	c->run_facts_live.tracker = c->tracker;
	c->run_facts_live.progress = c->progress;
	if (attach_sample_ns(c->attach))
		err = stack_samples_new(c->spaces, &c->samples);
	if (!err && attach_accounts(c->attach))
		err = cause_names_new(c->attach, c->spaces, c->samples, &c->counting,
				      run_facts_live_env(&c->run_facts_live), &c->cause_names);
	if (err)
		return err;
	run_facts_live_counting(&c->run_facts_live, &c->counting);
	if (c->cause_names)
		run_facts_live_account(&c->run_facts_live, cause_names_causes(c->cause_names));
	if (c->recording) {
		c->run_facts_live.recording = c->recording;
		recording_listen(c->recording, &c->run_facts_live.env,
				 c->cause_names ? cause_names_env(c->cause_names) : NULL);
	}
	/*
	 * --cost-limit needs the costs of all kinds of probes. Measure them before any other probe
	 * is attached.
	 */
	if (c->options.cost_limit > 0) {
		c->priced = !run_facts_live_prices_all(&c->run_facts_live, capture_drain, c);
		capture_drain(c);
	}
	err = guard_start(c->attach, &c->guard);
	if (!err)
		err = find_targets(c);
	if (err)
		return err;
	/*
	 * Raise the priority, because sbt-trace must get a CPU when the rings fill up. It uses
	 * little CPU time.
	 */
	if (setpriority(PRIO_PROCESS, 0, -10))
		msg_verbose(c->options.verbose, "cannot raise the priority: %s", strerror(errno));
	modules_follow_priority(c->modules);
	preflight_drop(rights_while_tracing(attach_method(c->attach) == ATTACH_PERF),
		       c->options.verbose);
	return 0;
}
