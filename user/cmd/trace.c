// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* sbt-trace trace: from the command line to the report. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/guard.h"
#include "base/msg.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/permit.h"
#include "cmd/present.h"
#include "cmd/pump.h"
#include "cmd/targets.h"
#include "cmd/watch.h"
#include "stream/ring.h"
#include "target/launch.h"
#include "target/proc.h"

#define POLL_MS		   10
#define POLL_IDLE_MS	   50
#define IDLE_NS		   1000000000u
#define MAX_THREADS	   32768
#define MAX_PROCESSES	   16384
#define RINGS_BYTES_ALL	   (64u << 20) /* what all rings together may take, unless asked for more */
#define RING_BYTES_LEAST   (256u << 10)
/* A terminal's ^C goes to the command as well: how long it is given to end of it. */
#define INTERRUPT_GRACE_MS 300

struct trace {
	struct options options;
	struct present present; /* what the report needs to know */
	struct attach *attach;
	struct stream *stream;
	struct modules *modules;
	struct symbol_server *symbols;
	struct spaces *spaces;
	struct targets *targets;
	struct model *model;
	struct watch *watch;
	struct pump *pump;
	struct emit *emit;
	FILE *out;
	struct launch launch;
	struct guard guard;
	bool launched;
	int command_status; /* as an exit status; -1: not ended */
	int epoll;
	int signals;
	int *pidfds;
	size_t nlive; /* of -p: not yet exited */
	uint64_t begin_ns; /* of sbt-trace itself */
	uint64_t arm_ns;
	uint64_t end_ns; /* by --duration; 0: none */
	uint64_t last_record_ns;
	bool armed;
	bool stop;
	int error; /* of writing: negative errno */
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- setting up ----------------------------------------------------------------------------------- */

static int open_output(struct trace *t)
{
	const struct options *o = &t->options;
	struct emit_options emit = { .format = o->format,
				     .quiet = o->quiet,
				     .verbose = o->verbose };
	struct timespec real, mono;

	if (o->output) {
		t->out = fopen(o->output, "we");
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
	t->emit = emit_new(t->out, &emit);
	return t->emit ? 0 : -ENOMEM;
}

static int watch_fd(struct trace *t, int fd, uint64_t data, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.u64 = data };

	return epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

enum { FD_SIGNALS = 1, FD_EVENTS, FD_COMMAND, FD_PIDS };

/* Set by a signal that ends tracing; a handler can reach nothing else. */
static volatile sig_atomic_t end_asked;

/* The second ends at once, whatever we are doing: even if nobody reads what we write. */
static void on_end_signal(int number)
{
	if (end_asked++) {
		signal(number, SIG_DFL);
		raise(number);
	}
}

static int set_up_signals(struct trace *t)
{
	struct sigaction end = { .sa_handler = on_end_signal, .sa_flags = SA_RESTART | SA_NODEFER };
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction old;
	sigset_t set;
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		/* What we were told to ignore (nohup, a shell's background job) stays ignored. */
		if (sigaction(ends[i], NULL, &old) ||
		    (old.sa_handler != SIG_IGN && sigaction(ends[i], &end, NULL)))
			return -errno;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	signal(SIGPIPE, SIG_IGN);
	t->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	t->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (t->signals < 0 || t->epoll < 0)
		return -errno;
	if (t->launched && t->launch.pidfd >= 0 &&
	    watch_fd(t, t->launch.pidfd, FD_COMMAND, EPOLLIN))
		return -errno;
	return watch_fd(t, t->signals, FD_SIGNALS, EPOLLIN);
}

/* Every file that is examined stays open, to be named after it is gone: under -a these are many. */
static void raise_limits(void)
{
	struct rlimit files;

	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

static size_t ring_bytes(const struct options *o)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	size_t bytes = o->ring_bytes;

	while (!o->ring_given && bytes > RING_BYTES_LEAST && cpus > 0 &&
	       bytes * (size_t)cpus > RINGS_BYTES_ALL)
		bytes /= 2;
	return bytes;
}

static int load(struct trace *t)
{
	const struct options *o = &t->options;
	struct attach_options a = {
		.config = { .system = o->mode == OPTIONS_SYSTEM, .follow = o->follow, .hold = 1 },
		.first = o->method,
		.by_process = !o->follow,
		.ring_bytes = ring_bytes(o),
		.max_threads = MAX_THREADS,
		.max_processes = MAX_PROCESSES,
		.verbose = o->verbose,
	};
	char why[512] = "";
	uint64_t cgroup;
	int err;

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
	if (err)
		permit_explain(err, why);
	return err;
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
	return err ? err : watch_fd(t, attach_events_fd(t->attach), FD_EVENTS, EPOLLIN | EPOLLET);
}

/* Empties the rings of what the calibration left there. */
static void drain(void *ctx)
{
	struct trace *t = ctx;
	struct stream_record record;

	while (stream_next(t->stream, now_ns(), &record) > 0)
		;
}

static int build_rooms(struct trace *t)
{
	const struct options *o = &t->options;
	struct targets_options to = { .by_process = !o->follow, .verbose = o->verbose };
	struct symbol_options so = { .debuginfod = o->debuginfod };
	int err;

	err = modules_new(&t->modules);
	if (!err)
		err = symbol_server_new(&so, &t->symbols);
	if (!err)
		err = spaces_new(t->modules, t->symbols, &t->spaces);
	if (!err)
		err = targets_new(t->attach, t->modules, t->spaces, &to, &t->targets);
	return err;
}

static int add_pid(struct trace *t, size_t i)
{
	int pid = t->options.pids[i], tgid, err;

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
		msg_error("cannot attach to process %d: /proc/%d/maps may not be read: %s", pid,
			  pid, strerror(-err));
	else if (err)
		msg_error("cannot attach to process %d: %s", pid, strerror(-err));
	if (err)
		return err;
	t->nlive++;
	return watch_fd(t, t->pidfds[i], FD_PIDS + i, EPOLLIN);
}

static int find_targets(struct trace *t)
{
	const struct options *o = &t->options;
	int err = 0;
	size_t i;

	switch (o->mode) {
	case OPTIONS_COMMAND:
		err = targets_add_own(t->targets, o->command);
		return err ? err : targets_add_child(t->targets, t->launch.pid);
	case OPTIONS_SYSTEM:
		err = targets_add_own(t->targets, NULL);
		return err ? err : targets_scan_all(t->targets);
	case OPTIONS_PIDS:
		t->pidfds = calloc(o->npids, sizeof(*t->pidfds));
		if (!t->pidfds)
			return -ENOMEM;
		memset(t->pidfds, -1, o->npids * sizeof(*t->pidfds));
		for (i = 0; i < o->npids && !err; i++)
			err = add_pid(t, i);
		if (!err && !targets_have_places(t->targets))
			msg_warn("no barrier function is mapped there yet: looked for "
				 "pthread_barrier_wait in every file of the process; libraries "
				 "opened later will be looked at");
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
	err = launch_prepare(t->options.command, &user, &t->launch);
	if (err) {
		msg_error("cannot start the command: %s", strerror(-err));
		return err;
	}
	t->launched = true;
	return 0;
}

/* --- the model's beginning ------------------------------------------------------------------------- */

static void note_waiting(struct trace *t)
{
	size_t i;

	if (t->options.mode == OPTIONS_SYSTEM)
		targets_note_waiting(t->targets, 0);
	for (i = 0; i < t->options.npids; i++)
		targets_note_waiting(t->targets, t->options.pids[i]);
	/* With --delay the command runs already. */
	if (t->launched && t->options.delay_s > 0)
		targets_note_waiting(t->targets, t->launch.pid);
}

static int begin(struct trace *t)
{
	double price;
	struct model_ops ops = { .barrier = watch_barrier, .episode = watch_episode };
	int err;

	price = attach_calibrate_quick(t->attach, drain, t);
	if (isnan(price)) {
		msg_error(
			"a probe on sbt-trace itself saw nothing: in a pid namespace the kernel "
			"counts "
			"processes by other numbers; run sbt-trace in the first one (on the host)");
		return -ENOTSUP;
	}
	present_prices(&t->present, price);
	present_base(&t->present);
	t->arm_ns = now_ns();
	err = watch_new(&t->options, present_env(&t->present), t->emit, &t->watch);
	if (err)
		return err;
	ops.ctx = t->watch;
	t->model = model_new(&ops, t->arm_ns);
	if (!t->model)
		return -ENOMEM;
	t->present.model = t->model;
	t->present.watch = t->watch;
	watch_set_model(t->watch, t->model);
	err = pump_new(t->stream, t->spaces, t->targets, t->model, &t->pump);
	if (err)
		return err;
	attach_arm(t->attach, true);
	t->armed = true;
	note_waiting(t);
	if (t->options.duration_s > 0)
		t->end_ns = t->arm_ns + (uint64_t)(t->options.duration_s * 1e9);
	present_session(&t->present, t->emit, t->arm_ns, t->arm_ns - t->begin_ns);
	emit_flush(t->emit);
	return 0;
}

/* --- while it runs ------------------------------------------------------------------------------------ */

static void on_event(void *ctx, const struct sbt_event *event)
{
	struct trace *t = ctx;

	/* What came before belongs to the addresses as they were. */
	if (event->type == SBT_REC_MAP && event->inc && t->pump)
		pump_run(t->pump, event->t_ns);
	targets_event(t->targets, event);
}

static int work(struct trace *t)
{
	uint64_t now = now_ns(), before = ring_consumed(t->stream);
	int err = 0;

	ring_show_events(t->stream, on_event, t);
	if (t->pump)
		err = pump_run(t->pump, now - RING_SLACK_NS);
	else
		drain(t);
	if (ring_consumed(t->stream) != before)
		t->last_record_ns = now;
	if (!t->error)
		t->error = emit_flush(t->emit);
	return err;
}

static void reap(struct trace *t)
{
	int status;

	if (!t->launched || t->command_status >= 0)
		return;
	if (waitpid(t->launch.pid, &status, WNOHANG) != t->launch.pid)
		return;
	t->command_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	t->stop = true;
}

static void on_signals(struct trace *t)
{
	struct signalfd_siginfo info;

	while (read(t->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		/* SIGCHLD only wakes us: who ended is seen each round. */
		if (info.ssi_signo == SIGUSR1 && t->pump && t->emit &&
		    !pump_run(t->pump, now_ns() - RING_SLACK_NS))
			present_report(&t->present, t->emit, now_ns(), true);
	}
}

static void on_pid_exit(struct trace *t, size_t i)
{
	if (t->pidfds[i] < 0)
		return;
	close(t->pidfds[i]);
	t->pidfds[i] = -1;
	if (!--t->nlive)
		t->stop = true;
}

static int timeout_ms(const struct trace *t, uint64_t now)
{
	uint64_t wake =
		t->armed ? t->end_ns : t->begin_ns + (uint64_t)(t->options.delay_s * 1e9) + 1;
	int ms = now - t->last_record_ns > IDLE_NS ? POLL_IDLE_MS : POLL_MS;

	if (wake && wake <= now)
		return 0;
	if (wake && (wake - now) / 1000000 < (uint64_t)ms)
		ms = (int)((wake - now) / 1000000) + 1;
	return ms;
}

static int loop(struct trace *t)
{
	struct epoll_event events[16];
	int n, i, err;

	t->last_record_ns = now_ns();
	while (!t->stop && !t->error && !end_asked) {
		uint64_t now = now_ns();

		if (!t->armed && now >= t->begin_ns + (uint64_t)(t->options.delay_s * 1e9)) {
			err = begin(t);
			if (err)
				return err;
		}
		if (t->end_ns && now >= t->end_ns)
			break;
		n = epoll_wait(t->epoll, events, 16, timeout_ms(t, now));
		for (i = 0; i < n; i++) {
			if (events[i].data.u64 == FD_SIGNALS)
				on_signals(t);
			else if (events[i].data.u64 >= FD_PIDS)
				on_pid_exit(t, events[i].data.u64 - FD_PIDS);
		}
		err = work(t);
		if (err)
			return err;
		reap(t);
		if (t->launched && launch_result(&t->launch) < 0)
			break;
	}
	return 0;
}

/* --- the end --------------------------------------------------------------------------------------------- */

static void add_pending(void *ctx, uint32_t tid, const struct sbt_thread *thread)
{
	struct trace *t = ctx;

	model_add_pending(t->model, thread->tgid, thread->inc, tid, thread->object,
			  thread->arrive_ns);
}

static int finish(struct trace *t)
{
	uint64_t end = now_ns();
	int err;

	if (!t->armed) {
		msg_warn("all has ended before --delay was over: nothing was traced");
		err = begin(t);
		if (err)
			return err;
	}
	present_names(&t->present);
	attach_arm(t->attach, false);
	attach_each_pending(t->attach, add_pending, t);
	attach_stop(t->attach);
	/* Nothing can be written any more: what is there is all there will be. */
	ring_show_events(t->stream, on_event, t);
	err = pump_run(t->pump, UINT64_MAX);
	present_counts(&t->present);
	if (!err)
		err = model_finish(t->model, end);
	if (err)
		return err;
	present_calibrate(&t->present, targets_stepped(t->targets), drain, t);
	watch_unmet(t->watch);
	/* An error of writing is kept, and told once, when the output is closed. */
	err = present_report(&t->present, t->emit, end, false);
	if (err != -ENOMEM)
		err = 0;
	if (!model_totals(t->model)->crossings)
		targets_explain(t->targets);
	return err;
}

/* The command's own status, once it has one; it is left running when we were told to stop. */
static int wait_command(struct trace *t)
{
	int i;

	for (i = 0; end_asked && t->command_status < 0 && i < INTERRUPT_GRACE_MS / 10; i++) {
		reap(t);
		if (t->command_status < 0)
			usleep(10000);
	}
	if (t->command_status >= 0)
		return t->command_status;
	if (end_asked)
		return 0;
	/* --duration is over, or the output failed: the command goes on unwatched until it ends. */
	while (t->command_status < 0 && !end_asked) {
		struct epoll_event e;

		if (epoll_wait(t->epoll, &e, 1, 100) > 0 && e.data.u64 == FD_SIGNALS)
			on_signals(t);
		reap(t);
	}
	return t->command_status < 0 ? 0 : t->command_status;
}

static void tear_down(struct trace *t)
{
	size_t i;

	for (i = 0; t->pidfds && i < t->options.npids; i++) {
		if (t->pidfds[i] >= 0)
			close(t->pidfds[i]);
	}
	free(t->pidfds);
	pump_free(t->pump);
	stream_free(t->stream);
	attach_free(t->attach);
	guard_stop(&t->guard);
	watch_free(t->watch);
	model_free(t->model);
	targets_free(t->targets);
	spaces_free(t->spaces);
	symbol_server_free(t->symbols);
	modules_free(t->modules);
	present_free(&t->present);
	options_free(&t->options);
}

static int close_output(struct trace *t)
{
	int err = t->emit ? emit_free(t->emit) : 0;

	if (t->error)
		err = t->error;
	if (t->out && fflush(t->out) && !err)
		err = -errno;
	if (t->options.output && t->out && fclose(t->out) && !err)
		err = -errno;
	if (err)
		msg_error("cannot write %s: %s; the report is not complete",
			  t->options.output ? t->options.output : "the output", strerror(-err));
	t->emit = NULL;
	t->out = NULL;
	t->error = 0; /* told */
	return err;
}

/* SBT_NO_DEBUG: as if we were not there. */
static int run_untraced(const struct options *o)
{
	struct launch_user user;
	struct launch l;
	int status, err;

	if (o->mode != OPTIONS_COMMAND)
		return 0;
	err = launch_find_user(o->user, &user);
	if (!err)
		err = launch_prepare(o->command, &user, &l);
	if (!err)
		err = launch_go(&l);
	if (err) {
		msg_error("cannot run %s: %s", o->command[0], strerror(-err));
		return EXIT_FAILED;
	}
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	while (waitpid(l.pid, &status, 0) < 0 && errno == EINTR)
		;
	err = launch_result(&l);
	if (err < 0) {
		msg_error("cannot run %s: %s", o->command[0], strerror(-err));
		return EXIT_FAILED;
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int set_up(struct trace *t)
{
	int err;

	err = permit_check(t->options.mode == OPTIONS_SYSTEM);
	if (!err)
		err = open_output(t);
	/* First: the command inherits signals and limits as they were given to us. */
	if (!err)
		err = prepare_command(t);
	if (!err)
		err = set_up_signals(t);
	if (!err)
		raise_limits();
	if (!err)
		err = load(t);
	if (!err)
		err = open_stream(t);
	if (!err)
		err = build_rooms(t);
	if (err)
		return err;
	present_init(&t->present, &t->options, t->attach, t->stream, t->modules, t->spaces);
	err = guard_start(t->attach, &t->guard);
	if (!err)
		err = find_targets(t);
	if (err)
		return err;
	/* The reader must get the CPU when the rings fill; it uses little of it. */
	if (setpriority(PRIO_PROCESS, 0, -10))
		msg_verbose(t->options.verbose, "cannot raise the priority: %s", strerror(errno));
	return t->options.delay_s > 0 ? 0 : begin(t);
}

int cmd_trace(int argc, char **argv)
{
	struct trace *t = calloc(1, sizeof(*t));
	int err, exec_err, status = EXIT_FAILED;

	if (!t)
		return EXIT_FAILED;
	t->begin_ns = now_ns();
	t->command_status = -1;
	t->epoll = t->signals = -1;
	switch (options_parse(argc, argv, &t->options)) {
	case OPTIONS_DONE:
		status = 0;
		goto out;
	case OPTIONS_WRONG:
		status = EXIT_USAGE;
		goto out;
	case OPTIONS_GO:
		break;
	}
	if (t->options.no_debug) {
		status = run_untraced(&t->options);
		goto out;
	}
	err = set_up(t);
	if (err) {
		if (t->launched)
			launch_abort(&t->launch);
		goto out;
	}
	err = t->launched ? launch_go(&t->launch) : 0;
	if (!err)
		err = loop(t);
	exec_err = t->launched ? launch_result(&t->launch) : 1;
	if (exec_err < 0) {
		msg_error("cannot run %s: %s", t->options.command[0],
			  exec_err == -ENOENT ? "command not found" : strerror(-exec_err));
		attach_remove_probes(t->attach);
		goto out;
	}
	if (!err)
		err = finish(t);
	else
		attach_remove_probes(t->attach);
	if (err)
		msg_error("tracing ended early: %s", strerror(-err));
	if (close_output(t))
		err = -EIO;
	status = t->launched ? wait_command(t) : 0;
	if (err)
		status = EXIT_FAILED;
out:
	close_output(t);
	tear_down(t);
	free(t);
	return status;
}
