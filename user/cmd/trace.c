// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* sbt-trace trace: from the command line to the report. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/rights.h"
#include "base/msg.h"
#include "base/remark.h"
#include "cmd/cmd.h"
#include "ingest/feed_sums.h"
#include "hang/hang_monitor.h"
#include "capture/limit.h"
#include "capture/preflight.h"
#include "capture/run_facts_live.h"
#include "ingest/ingest.h"
#include "recording/recording.h"
#include "capture/diagnostics.h"
#include "capture/process_tracker.h"
#include "cmd/trace_internal.h"
#include "capture/live_output.h"
#include "capture/cause_names.h"
#include "ingest/ring.h"

/*
 * How often the rings are read. To wake up for it takes a CPU 0.1 ms, which a team that fills the machine waits for: seldom,
 * unless there is much in them. They say so themselves when they fill up before that.
 */
#define POLL_MS		   10
#define POLL_IDLE_MS	   50
#define MANY_BYTES	   (64u << 10)
#define IDLE_NS		   100000000u
/* How often the slots of threads that have exited are returned (--aggregate): 16,384 serve 30,000 threads a second. */
#define RETURN_NS	   200000000u
/* A terminal's ^C goes to the command as well: how long it is given to end of it. */
#define INTERRUPT_GRACE_MS 300

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- signals, and what else is waited for ---------------------------------------------------------- */

int trace_watch_fd(struct trace *t, int fd, uint64_t data, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.u64 = data };

	return epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

/* Set by a signal that ends tracing; a handler can reach nothing else. */
static volatile sig_atomic_t end_asked;
static void (*volatile rescue)(void);

/* The second ends at once, whatever we are doing: even if nobody reads what we write. */
static void on_end_signal(int number)
{
	if (end_asked++) {
		if (rescue)
			rescue();
		signal(number, SIG_DFL);
		raise(number);
	}
}

int trace_set_up_signals(struct trace *t)
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
	if (t->hook && t->hook->fd >= 0 && trace_watch_fd(t, t->hook->fd, FD_HOOK, EPOLLIN))
		return -errno;
	if (t->launched && t->launch.pidfd >= 0 &&
	    trace_watch_fd(t, t->launch.pidfd, FD_COMMAND, EPOLLIN))
		return -errno;
	return trace_watch_fd(t, t->signals, FD_SIGNALS, EPOLLIN);
}

static void glance(void *ctx, const struct sbt_event *event)
{
	struct trace *t = ctx;

	targets_glance(t->targets, event);
}

void trace_save(void *ctx)
{
	struct trace *t = ctx;

	if (!t->stream)
		return;
	ring_save(t->stream, RING_SAVED_BYTES);
	if (t->targets)
		ring_glance_events(t->stream, glance, t);
}

void trace_drain(void *ctx)
{
	struct trace *t = ctx;
	struct stream_record record;

	while (stream_next(t->stream, now_ns(), &record) > 0)
		;
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

static int begin_hook(struct trace *t)
{
	struct trace_view view = { .attach = t->attach,
				   .spaces = t->spaces,
				   .model = t->model,
				   .present = &t->present,
				   .causes = t->why ? why_causes(t->why) : NULL };

	return t->hook->begin(t->hook->ctx, &view);
}

static void on_hang(void *ctx, const struct report_hang *hang)
{
	struct trace *t = ctx;

	emit_hang(t->emit, hang);
}

static int begin_hanging(struct trace *t)
{
	struct hanging_env env = {
		.attach = t->attach,
		.spaces = t->spaces,
		.ranks = targets_ranks(t->targets),
		.model = t->model,
		.report_env = present_env(&t->present),
		.report = on_hang,
		.report_ctx = t,
		.after_ns = t->options.hang_ns,
		.debuginfod = t->options.debuginfod,
	};

	return hanging_new(&env, &t->hanging);
}

static int on_mark(void *ctx, uint32_t site, const struct conceptual_mark *mark)
{
	struct trace *t = ctx;

	if (t->recording)
		recording_mark(t->recording, site, mark);
	return watch_mark(t->watch, site, mark);
}

/* A report has no use for it: it is for predictions from the recording. */
static void on_message(void *ctx, const struct model_message *message)
{
	struct trace *t = ctx;

	if (t->recording)
		recording_message(t->recording, message);
}

static int begin_limit(struct trace *t)
{
	struct limit_env env = {
		.limit = t->options.cost_limit,
		.attach = t->attach,
		.model = t->model,
		.pump = t->pump,
		.present = &t->present,
	};

	return t->options.cost_limit > 0 ? limit_new(&env, t->arm_ns, &t->limit) : 0;
}

static void show_events(void *ctx);

/* What a crossing costs, unless that is known already. */
static int price_crossings(struct trace *t)
{
	struct attach_price price;

	if (t->priced)
		return 0;
	price = attach_calibrate_quick(t->attach, trace_drain, t);
	if (isnan(price.ns)) {
		msg_error(
			"a probe on sbt-trace itself saw nothing: in a pid namespace the kernel "
			"counts "
			"processes by other numbers; run sbt-trace in the first one (on the host)");
		return -ENOTSUP;
	}
	present_prices(&t->present, price);
	return 0;
}

/* The process is part of its program's sum: what is to be known of it beside that is asked for now, and forgotten. */
static void on_folded(void *ctx, const struct model_proc *from, const struct model_proc *into)
{
	struct trace *t = ctx;
	const struct space *space = space_find(t->spaces, from->tgid, from->inc);

	if (space)
		callsites_forget(feed_callsites(pump_feed(t->pump)), space);
	if (t->recording)
		recording_process(t->recording, from);
	present_folded(&t->present, from, into);
	if (from->crossings)
		targets_forget_rank(t->targets, from->tgid);
	targets_forget(t->targets, from->tgid, from->inc);
}

static int begin(struct trace *t)
{
	struct feed_options feed;
	struct model_ops ops = { .barrier = watch_barrier,
				 .episode = watch_episode,
				 .may_fold = watch_may_fold,
				 .barrier_folded = watch_barrier_folded,
				 .process_folded = watch_process_folded };
	int err = price_crossings(t);

	if (err)
		return err;
	present_base(&t->present);
	t->arm_ns = now_ns();
	err = watch_new(&t->options, present_env(&t->present), t->emit, &t->watch);
	if (err)
		return err;
	ops.ctx = t->watch;
	t->model = model_new(&ops, t->arm_ns);
	if (!t->model)
		return -ENOMEM;
	model_keep(t->model, t->options.keep);
	watch_on_folded(t->watch, on_folded, t);
	err = t->recording ? recording_begin(t->recording, t->model) : 0;
	if (err)
		return err;
	t->present.model = t->model;
	t->present.watch = t->watch;
	t->present.env.openmp = watch_openmp(t->watch);
	t->present.env.conceptual = watch_conceptual(t->watch);
	watch_set_model(t->watch, t->model);
	feed = (struct feed_options){ .attach = t->attach,
				      .spaces = t->spaces,
				      .processes = targets_for_feed(t->targets),
				      .model = t->model,
				      .frames = t->options.frames,
				      .mark = on_mark,
				      .message = on_message,
				      .mark_ctx = t };
	err = pump_new(&feed, t->stream, t->options.discover, &t->pump);
	if (err)
		return err;
	pump_between(t->pump, show_events, t);
	t->present.pump = t->pump;
	t->hot = hot_new(t->attach, t->targets, t->pump, t->options.verbose);
	if (!t->hot)
		return -ENOMEM;
	t->present.hot = t->hot;
	err = begin_limit(t);
	if (err)
		return err;
	err = begin_hanging(t);
	if (err)
		return err;
	err = attach_account_found(t->attach);
	if (err)
		remark_warn("unattributed", 0,
			    "where the time of threads that run already goes is not known up to "
			    "their first barrier: %s",
			    strerror(-err));
	attach_arm(t->attach, true);
	t->armed = true;
	note_waiting(t);
	if (t->options.duration_s > 0)
		t->end_ns = t->arm_ns + (uint64_t)(t->options.duration_s * 1e9);
	present_session(&t->present, t->emit, t->arm_ns, t->arm_ns - t->begin_ns);
	emit_flush(t->emit);
	return t->hook ? begin_hook(t) : 0;
}

/* --- while it runs ------------------------------------------------------------------------------------ */

static void on_event(void *ctx, const struct sbt_event *event)
{
	struct trace *t = ctx;

	/* To act on one may take longer than the others live. */
	ring_glance_events(t->stream, glance, t);
	/* What came before belongs to the addresses as they were. */
	if ((event->type == SBT_REC_MAP || event->type == SBT_REC_OUTLINED) && event->inc &&
	    t->pump && !t->error) {
		targets_look(t->targets, event);
		t->error = pump_run(t->pump, event->t_ns);
	}
	targets_event(t->targets, event);
	if (!t->error)
		t->error = hot_event(t->hot, event);
	if (t->pump && !t->error)
		t->error = feed_held(pump_feed(t->pump), event, now_ns());
}

/* New programs and libraries get their probes, whatever the records before them take. */
static void show_events(void *ctx)
{
	struct trace *t = ctx;

	if (t->showing)
		return;
	t->showing = true;
	ring_show_events(t->stream, on_event, t);
	t->showing = false;
}

/* Each in turn, too: no other event comes between what is handled for one. */
static void show_mapped(struct trace *t)
{
	t->showing = true;
	targets_mapped(t->targets, on_event, t);
	t->showing = false;
	targets_settle(t->targets);
}

static void add_sums(void *ctx, const struct sbt_sums *sums)
{
	struct trace *t = ctx;

	if (!t->error)
		t->error = feed_sums(t->attach, t->spaces, t->model, sums);
}

/* Sums of threads that have exited go into the model: the kernel has room for a limited number. */
static int return_sums(struct trace *t, uint64_t now)
{
	int err;

	if (!t->options.aggregate || !t->armed || now - t->returned_ns < RETURN_NS)
		return 0;
	t->returned_ns = now;
	err = attach_return_sums(t->attach, add_sums, t);
	return err ? err : t->error;
}

/* A command that cannot be run leaves no recording, and none of what was there. */
static void keep_recording(struct trace *t)
{
	if (t->recording && t->armed && (!t->launched || launch_result(&t->launch) > 0))
		recording_keep(t->recording);
}

static int work(struct trace *t)
{
	uint64_t now = now_ns(), before = ring_read(t->stream);
	int err = 0;

	show_events(t);
	show_mapped(t);
	if (t->pump)
		err = pump_run(t->pump, now - RING_SLACK_NS);
	else
		trace_drain(t);
	if (!err)
		err = limit_step(t->limit, now - RING_SLACK_NS);
	if (!err)
		err = hot_step(t->hot, now, now - RING_SLACK_NS);
	if (!err && t->hanging)
		err = hanging_step(t->hanging, now);
	if (!err)
		err = return_sums(t, now);
	if (!err && t->armed)
		targets_step(t->targets, now);
	if (ring_read(t->stream) - before >= MANY_BYTES)
		t->last_many_ns = now;
	if (!t->write_error)
		t->write_error = emit_flush(t->emit);
	keep_recording(t);
	if (!err && t->recording && t->armed && recording_step(t->recording, now) && t->only_record)
		err = -EIO;
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
	t->stop = !t->nlive;
}

static void find_remarks(struct trace *t)
{
	const struct remarks remarks = { .options = &t->options,
					 .attach = t->attach,
					 .modules = t->modules,
					 .spaces = t->spaces,
					 .targets = t->targets,
					 .pump = t->pump,
					 .model = t->model,
					 .left = t->left,
					 .elapsed_ns = now_ns() - t->arm_ns,
					 .cut = t->write_error != 0 };

	watch_unmet(t->watch);
	remarks_find(&remarks);
}

/* An interim report, or, where only a recording is made, that it can be read up to now. */
static void report_now(struct trace *t)
{
	uint64_t now = now_ns();
	uint32_t before;

	if (!t->only_record) {
		present_hangs(&t->present, t->hanging, now);
		/* What was not seen may be seen yet. */
		remarks_all(&before);
		find_remarks(t);
		present_report(&t->present, t->emit, now, true);
		remarks_forget(before);
	}
	if (t->recording && !recording_now(t->recording) && t->only_record && !t->options.quiet)
		msg_verbose(1, "recorded up to %.3f s: sbt-trace report %s",
			    (double)(now - t->arm_ns) / 1e9, t->options.record);
}

static void on_signals(struct trace *t)
{
	struct signalfd_siginfo info;

	while (read(t->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		/* SIGCHLD only wakes us: who ended is seen each round. */
		if (info.ssi_signo == SIGUSR1 && t->options.aggregate)
			msg_warn("the sums of --aggregate are read at the end: no report until "
				 "then");
		else if (info.ssi_signo == SIGUSR1 && t->pump && t->emit &&
			 !pump_run(t->pump, now_ns() - RING_SLACK_NS))
			report_now(t);
	}
}

static void on_pid_exit(struct trace *t, size_t i)
{
	if (t->pidfds[i] < 0)
		return;
	close(t->pidfds[i]);
	t->pidfds[i] = -1;
	if (!--t->nlive)
		t->stop = !t->launched || t->command_status >= 0;
}

static uint64_t timeout_ns(const struct trace *t, uint64_t now)
{
	uint64_t wake =
		t->armed ? t->end_ns : t->begin_ns + (uint64_t)(t->options.delay_s * 1e9) + 1;
	uint64_t ns = (now - t->last_many_ns > IDLE_NS ? POLL_IDLE_MS : POLL_MS) * 1000000ULL;
	uint64_t due = targets_due(t->targets), told = hot_told_ns(t->hot);

	if (due && (!wake || due < wake))
		wake = due;
	/* What is hot hits its probes all the while. It has as long as if others wrote much to turn out to be a barrier. */
	if (told && (!wake || told + POLL_MS * 1000000ULL < wake))
		wake = told + POLL_MS * 1000000ULL;
	if (wake && wake <= now)
		return 0;
	return wake && wake - now < ns ? wake - now : ns;
}

/* Before Linux 5.11 to the next millisecond. */
static int wait_events(const struct trace *t, struct epoll_event *events, int max, uint64_t ns)
{
	struct timespec timeout = { .tv_nsec = (long)ns };
	int n = epoll_pwait2(t->epoll, events, max, &timeout, NULL);

	if (n < 0 && errno == ENOSYS)
		n = epoll_wait(t->epoll, events, max, (int)((ns + 999999) / 1000000));
	return n;
}

static int loop(struct trace *t)
{
	struct epoll_event events[16];
	int n, i, err;

	t->last_many_ns = now_ns();
	while (!t->stop && !t->error && !t->write_error && !end_asked) {
		uint64_t now = now_ns();

		if (!t->armed && now >= t->begin_ns + (uint64_t)(t->options.delay_s * 1e9)) {
			err = begin(t);
			if (err)
				return err;
		}
		if (t->end_ns && now >= t->end_ns)
			break;
		n = wait_events(t, events, 16, timeout_ns(t, now));
		for (i = 0; i < n; i++) {
			if (events[i].data.u64 == FD_SIGNALS)
				on_signals(t);
			else if (events[i].data.u64 == FD_HOOK)
				t->stop |= (events[i].events & (EPOLLHUP | EPOLLERR)) != 0;
			else if (events[i].data.u64 == FD_WRITTEN)
				targets_written(t->targets);
			else if (events[i].data.u64 >= FD_PIDS)
				on_pid_exit(t, events[i].data.u64 - FD_PIDS);
		}
		err = work(t);
		if (!err && t->hook && t->armed)
			err = t->hook->tick(t->hook->ctx, now_ns());
		if (err)
			return err < 0 ? err : 0;
		reap(t);
		if (t->launched && launch_result(&t->launch) < 0)
			break;
	}
	return t->error;
}

/* --- the end --------------------------------------------------------------------------------------------- */

static void add_pending(void *ctx, uint32_t tid, const struct sbt_thread *thread)
{
	struct trace *t = ctx;

	/* --cost-limit: of such a process what is known of is told already; of such a barrier nobody saw who left. */
	if (attach_is_shed(t->attach, thread))
		return;
	model_add_pending(t->model, thread->tgid, thread->inc, tid, thread->object,
			  thread->arrive_ns);
}

static void add_tail(void *ctx, const struct sbt_crossing_full *tail)
{
	struct trace *t = ctx;

	if (!t->error)
		t->error = feed_tail(pump_feed(t->pump), tail);
}

/*
 * Ends it all, whatever went before: nothing is recorded or held any more, and whoever is held goes on, which
 * happens as the events that tell of it are shown. Only then may anybody wait for COMMAND.
 */
static void stop_tracing(struct trace *t)
{
	if (t->pump)
		pump_between(t->pump, NULL, NULL);
	if (t->attach)
		attach_stop(t->attach);
	if (t->stream && t->targets)
		show_events(t);
	/* Showing them may have put probes on what was new. */
	if (t->attach)
		attach_remove_probes(t->attach);
	guard_stop(&t->guard);
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
	keep_recording(t);
	hanging_settle(t->hanging);
	present_names(&t->present);
	attach_arm(t->attach, false);
	if (t->launched && t->command_status >= 0)
		t->left = remarks_left(t->attach, (uint32_t)t->launch.pid);
	attach_each_pending(t->attach, add_pending, t);
	stop_tracing(t);
	targets_end(t->targets, end);
	/* Nothing can be written any more: what is there is all there will be. */
	err = pump_run(t->pump, UINT64_MAX);
	if (!err)
		err = pump_finish(t->pump);
	if (!err)
		err = limit_settle(t->limit);
	attach_each_tail(t->attach, end, add_tail, t);
	attach_each_sums(t->attach, add_sums, t);
	present_counts(&t->present);
	if (!err)
		err = model_finish(t->model, end);
	if (!err)
		err = conceptual_finish(watch_conceptual(t->watch));
	if (err)
		return err;
	/* No record waits for a name any more. */
	symbol_server_idle(t->symbols, NULL, NULL);
	modules_idle(t->modules, NULL, NULL);
	present_hangs(&t->present, t->hanging, end);
	present_calibrate(&t->present, targets_stepped(t->targets), trace_drain, t);
	permit_drop(rights_for_report(), t->options.verbose);
	find_remarks(t);
	/* An error of writing is kept, and told once, when the output is closed. */
	err = present_report(&t->present, t->emit, end, false);
	if (err != -ENOMEM)
		err = 0;
	/* The text has them already. */
	if (t->only_record || t->options.output || t->options.format != EMIT_TEXT)
		remarks_say(0, t->options.quiet);
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

	for (i = 0; t->pidfds && i < t->npidfds; i++) {
		if (t->pidfds[i] >= 0)
			close(t->pidfds[i]);
	}
	free(t->pidfds);
	if (t->signals >= 0)
		close(t->signals);
	if (t->epoll >= 0)
		close(t->epoll);
	handover_close(&t->handover);
	free(t->own_output);
	free(t->own_record);
	hanging_free(t->hanging);
	limit_free(t->limit);
	hot_free(t->hot);
	recording_close(t->recording, false);
	pump_free(t->pump);
	stream_free(t->stream);
	t->stream = NULL;
	attach_free(t->attach);
	watch_free(t->watch);
	why_free(t->why);
	counting_close(&t->counting);
	model_free(t->model);
	targets_free(t->targets);
	spaces_free(t->spaces);
	modules_free(t->modules);
	symbol_server_free(t->symbols);
	progress_free(t->progress);
	present_free(&t->present);
	options_free(&t->options);
}

static int close_output(struct trace *t)
{
	int err = t->emit ? emit_free(t->emit) : 0;

	if (t->write_error)
		err = t->write_error;
	if (t->out && fflush(t->out) && !err)
		err = -errno;
	if (t->options.output && t->out && fclose(t->out) && !err)
		err = -errno;
	if (err)
		msg_error("cannot write %s: %s; the report is not complete",
			  t->options.output ? t->options.output : "the output", strerror(-err));
	t->emit = NULL;
	t->out = NULL;
	t->write_error = 0; /* told */
	return err;
}

static int run(int argc, char **argv, const struct trace_hook *hook, enum options_help what)
{
	struct trace *t = calloc(1, sizeof(*t));
	int err, exec_err, status;

	if (!t)
		return EXIT_FAILED;
	t->begin_ns = now_ns();
	t->hook = hook;
	rescue = hook ? hook->rescue : NULL;
	t->command_status = -1;
	t->epoll = t->signals = -1;
	t->handover.listener = -1;
	status = trace_read_words(t, argc, argv, what);
	if (status >= 0)
		goto out;
	status = EXIT_FAILED;
	if (trace_meet_ranks(t, &status))
		goto out;
	err = trace_set_up(t);
	if (!err && t->options.delay_s <= 0)
		err = begin(t);
	if (err) {
		if (t->launched)
			launch_abort(&t->launch);
		goto out;
	}
	handover_go(&t->handover, t->options.record, t->only_record ? NULL : t->options.output);
	err = t->launched ? launch_go(&t->launch) : 0;
	if (!err)
		err = loop(t);
	exec_err = t->launched ? launch_result(&t->launch) : 1;
	if (exec_err < 0) {
		status = trace_cannot_run(&t->options, exec_err);
		goto out;
	}
	if (!err && !hook)
		err = finish(t);
	else if (!err && t->armed) {
		find_remarks(t);
		remarks_unnamed(t->spaces);
	}
	stop_tracing(t);
	if (hook)
		hook->end(hook->ctx);
	if (!err)
		err = t->error;
	if (err)
		msg_error("tracing ended early: %s", strerror(-err));
	if (close_output(t))
		err = -EIO;
	if (recording_close(t->recording, !err && t->only_record && !t->options.quiet))
		err = -EIO;
	t->recording = NULL;
	status = t->launched ? wait_command(t) : 0;
	if (err)
		status = EXIT_FAILED;
out:
	stop_tracing(t);
	close_output(t);
	tear_down(t);
	free(t);
	return status;
}

int trace_run(int argc, char **argv, const struct trace_hook *hook)
{
	return run(argc, argv, hook, OPTIONS_HELP_TRACE);
}

int cmd_trace(int argc, char **argv)
{
	return run(argc, argv, NULL, OPTIONS_HELP_TRACE);
}

int cmd_bare(int argc, char **argv)
{
	return run(argc, argv, NULL, OPTIONS_HELP_GENERAL);
}

int cmd_record(int argc, char **argv)
{
	return run(argc, argv, NULL, OPTIONS_HELP_RECORD);
}
