// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* A tracing session: from the options to the report. */
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
#include "base/array.h"
#include "base/clock.h"
#include "base/msg.h"
#include "base/remark.h"
#include "hang/hang_monitor.h"
#include "capture/limit.h"
#include "capture/preflight.h"
#include "capture/run_facts_live.h"
#include "ingest/ingest.h"
#include "recording/recording.h"
#include "capture/diagnostics.h"
#include "capture/process_tracker.h"
#include "capture/capture_internal.h"
#include "analyse/observer.h"
#include "capture/cause_names.h"
#include "ingest/ring.h"

/*
 * How often the rings are read. Each wake-up uses a CPU for 0.1 ms, which delays a team that has a
 * thread on every CPU. So sbt-trace reads the rings only every POLL_IDLE_MS. It reads them every
 * POLL_MS if it found MANY_BYTES in them within the last IDLE_NS. A ring that fills up wakes
 * sbt-trace earlier.
 */
#define POLL_MS		   10
#define POLL_IDLE_MS	   50
#define MANY_BYTES	   (64u << 10)
#define IDLE_NS		   100000000u
/*
 * How often slots of exited threads are freed (--aggregate). With this period, 16,384 slots suffice
 * for 30,000 new threads a second.
 */
#define RETURN_NS	   200000000u
/* How long to wait for COMMAND to end after ^C, which the terminal also sends to COMMAND. */
#define INTERRUPT_GRACE_MS 300

/* --- signals and other descriptors ------------------------------------------------------------ */

int capture_watch_fd(struct capture *c, int fd, uint64_t data, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.u64 = data };

	return epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

/*
 * Number of signals that asked to end tracing. A global, because a signal handler has no context.
 */
static volatile sig_atomic_t end_asked;
static void (*volatile rescue)(void);

/*
 * The second signal ends sbt-trace at once, even if sbt-trace is blocked because the reader of its
 * output does not read.
 */
static void on_end_signal(int number)
{
	if (end_asked++) {
		if (rescue)
			rescue();
		signal(number, SIG_DFL);
		raise(number);
	}
}

int capture_set_up_signals(struct capture *c)
{
	struct sigaction end = { .sa_handler = on_end_signal, .sa_flags = SA_RESTART | SA_NODEFER };
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction old;
	sigset_t set;
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		/*
		 * A signal that was ignored at the start (nohup, a shell's background job) stays
		 * ignored.
		 */
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
	c->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (c->signals < 0 || c->epoll < 0)
		return -errno;
	if (c->hook && c->hook->fd >= 0 && capture_watch_fd(c, c->hook->fd, FD_HOOK, EPOLLIN))
		return -errno;
	if (c->launched && c->launch.pidfd >= 0 &&
	    capture_watch_fd(c, c->launch.pidfd, FD_COMMAND, EPOLLIN))
		return -errno;
	return capture_watch_fd(c, c->signals, FD_SIGNALS, EPOLLIN);
}

static void glance(void *ctx, const struct sbt_event *event)
{
	struct capture *c = ctx;

	tracker_glance(c->tracker, event);
}

void capture_save(void *ctx)
{
	struct capture *c = ctx;

	if (!c->stream)
		return;
	ring_save(c->stream, RING_SAVED_BYTES);
	if (c->tracker)
		ring_glance_events(c->stream, glance, c);
}

void capture_drain(void *ctx)
{
	struct capture *c = ctx;
	struct stream_record record;

	while (stream_next(c->stream, now_ns(), &record) > 0)
		;
}

/* --- beginning of tracing --------------------------------------------------------------------- */

static void note_waiting(struct capture *c)
{
	size_t i;

	if (c->options.mode == OPTIONS_SYSTEM)
		tracker_note_waiting(c->tracker, 0);
	for (i = 0; i < c->options.npids; i++)
		tracker_note_waiting(c->tracker, c->options.pids[i]);
	/* With --delay, COMMAND already runs, so its threads may be waiting. */
	if (c->launched && c->options.delay_s > 0)
		tracker_note_waiting(c->tracker, c->launch.pid);
}

static int begin_hook(struct capture *c)
{
	struct capture_view view = { .attach = c->attach,
				     .spaces = c->spaces,
				     .ingest = c->ingest,
				     .model = c->model,
				     .run_facts_live = &c->run_facts_live,
				     .causes = c->cause_names ? cause_names_causes(c->cause_names)
							      : NULL };

	return c->hook->begin(c->hook->ctx, &view);
}

static void on_hang(void *ctx, const struct report_hang *hang)
{
	struct capture *c = ctx;

	emit_hang(c->emit, hang);
}

static int begin_hanging(struct capture *c)
{
	struct hang_env env = {
		.attach = c->attach,
		.spaces = c->spaces,
		.ranks = tracker_ranks(c->tracker),
		.ingest = c->ingest,
		.model = c->model,
		.report_env = run_facts_live_env(&c->run_facts_live),
		.report = on_hang,
		.report_ctx = c,
		.after_ns = c->options.hang_ns,
		.debuginfod = c->options.debuginfod,
	};

	return hang_monitor_new(&env, &c->hang_monitor);
}

static int begin_limit(struct capture *c)
{
	struct limit_env env = {
		.limit = c->options.cost_limit,
		.attach = c->attach,
		.model = c->model,
		.ingest = c->ingest,
		.run_facts_live = &c->run_facts_live,
	};

	return c->options.cost_limit > 0 ? limit_new(&env, now_ns(), &c->limit) : 0;
}

static void show_events(struct capture *c);

/* Measure the price of a crossing, unless it is already known. */
static int price_crossings(struct capture *c)
{
	struct attach_price price;

	if (c->priced)
		return 0;
	price = attach_calibrate_quick(c->attach, capture_drain, c);
	if (isnan(price.ns)) {
		msg_error("a probe on sbt-trace itself was not hit: in a pid namespace the kernel "
			  "uses other process numbers; run sbt-trace in the initial pid namespace "
			  "(on the host)");
		return -ENOTSUP;
	}
	run_facts_live_prices(&c->run_facts_live, price);
	return 0;
}

/* Without the delays, threads seem to depart a few microseconds too early. */
static void measure_delays(struct capture *c)
{
	int err;

	if (!attach_infers(c->attach))
		return;
	/* No return probe is left anywhere. If this fails, one is left on sbt-trace itself. */
	(void)attach_remove_self(c->attach);
	err = attach_measure_delays(c->attach, capture_drain, c, &c->delays);
	run_facts_live_price_arrival(&c->run_facts_live, c->delays.arrival);
	if (err)
		msg_warn("departures are inferred a few microseconds too early: the time to leave "
			 "a system call could not be measured: %s",
			 strerror(-err));
	else
		msg_verbose(c->options.verbose,
			    "departures: threads leave %llu ns after they get a CPU, and %llu ns "
			    "(idle CPU: %llu ns) after they woke the last thread",
			    (unsigned long long)c->delays.run_ns,
			    (unsigned long long)c->delays.wake_ns,
			    (unsigned long long)c->delays.wake_idle_ns);
}

/*
 * Handle the merge of a process into its program's sum: read the remaining facts about the process,
 * and forget it.
 */
static void on_folded(void *ctx, const struct model_proc *from, const struct model_proc *into)
{
	struct capture *c = ctx;
	const struct address_space *space = address_space_find(c->spaces, from->tgid, from->inc);

	if (space)
		callsites_forget(feed_callsites(ingest_feed(c->ingest)), space);
	if (c->recording)
		recording_process(c->recording, from);
	run_facts_live_folded(&c->run_facts_live, from, into);
	if (from->crossings)
		tracker_forget_rank(c->tracker, from->tgid);
	tracker_forget(c->tracker, from->tgid, from->inc);
}

static int begin(struct capture *c)
{
	struct observer_output shown = emit_output(c->emit);
	struct feed_options feed;
	struct model_ops ops = { .barrier = observer_barrier,
				 .episode = observer_episode,
				 .mark = observer_mark,
				 .sample = observer_sample,
				 .activity = observer_activity,
				 .may_fold = observer_may_fold,
				 .barrier_folded = observer_barrier_folded,
				 .process_folded = observer_process_folded };
	int err = price_crossings(c);

	if (err)
		return err;
	measure_delays(c);
	run_facts_live_base(&c->run_facts_live);
	err = observer_new(&c->options, run_facts_live_env(&c->run_facts_live), &shown,
			   &c->observer);
	if (err)
		return err;
	ops.ctx = c->observer;
	c->model = model_new(&ops, now_ns());
	if (!c->model)
		return -ENOMEM;
	model_keep(c->model, c->options.keep);
	observer_on_folded(c->observer, on_folded, c);
	err = c->recording ? recording_begin(c->recording, c->model) : 0;
	if (err)
		return err;
	c->run_facts_live.model = c->model;
	c->run_facts_live.observer = c->observer;
	c->run_facts_live.env.openmp = observer_openmp(c->observer);
	c->run_facts_live.env.conceptual = observer_conceptual(c->observer);
	observer_name_threads(c->observer, c->model);
	feed = (struct feed_options){ .attach = c->attach,
				      .spaces = c->spaces,
				      .processes = tracker_for_feed(c->tracker),
				      .model = c->model,
				      .samples = c->samples,
				      .frames = c->options.frames };
	err = ingest_new(&feed, c->stream, c->options.discover, &c->delays, &c->ingest);
	if (err)
		return err;
	c->run_facts_live.ingest = c->ingest;
	c->hot = hot_new(c->attach, c->tracker, c->ingest, c->options.verbose);
	if (!c->hot)
		return -ENOMEM;
	c->run_facts_live.hot = c->hot;
	err = begin_limit(c);
	if (err)
		return err;
	err = begin_hanging(c);
	if (err)
		return err;
	/* Keep this near attach_arm(): barriers that are crossed in between are not seen. */
	c->arm_ns = now_ns();
	model_begin(c->model, c->arm_ns);
	err = attach_account_found(c->attach);
	if (err)
		remark_warn("unattributed", 0,
			    "the time of threads that already run is not attributed until their "
			    "first barrier: %s",
			    strerror(-err));
	attach_arm(c->attach, true);
	c->armed = true;
	note_waiting(c);
	if (c->options.duration_s > 0)
		c->end_ns = c->arm_ns + (uint64_t)(c->options.duration_s * 1e9);
	run_facts_live_session(&c->run_facts_live, c->emit, c->arm_ns, c->arm_ns - c->begin_ns);
	emit_flush(c->emit);
	return c->hook ? begin_hook(c) : 0;
}

/* --- while tracing runs ----------------------------------------------------------------------- */

static void apply_verdict(void *ctx, const struct ingest_verdict *v)
{
	struct capture *c = ctx;

	attach_classify(c->attach, v->tgid, v->inc, v->object, v->state);
}

static void apply_frame_rule(void *ctx, const struct callsites_frame_rule *r)
{
	struct capture *c = ctx;

	attach_frame_rule(c->attach, r->tgid, r->inc, r->ip, &r->rule);
}

/* Pass the findings of ingest to the BPF programs. */
static void apply_findings(struct capture *c)
{
	ingest_take_verdicts(c->ingest, apply_verdict, c);
	callsites_take_frame_rules(feed_callsites(ingest_feed(c->ingest)), apply_frame_rule, c);
}

/*
 * Feed the model, and pass its verdicts to the BPF programs. Feeding and naming may take long, so
 * events are shown in between: new programs must get probes at once.
 */
static int ingest_until(struct capture *c, uint64_t until_ns)
{
	int err;

	while ((err = ingest_run(c->ingest, until_ns)) > 0)
		show_events(c);
	apply_findings(c);
	return err;
}

/*
 * Keep a function of Python. Its number says which samples have it, so this can be done before
 * earlier records are processed.
 */
static int keep_python_function(struct capture *c, const struct sbt_event *event)
{
	struct address_space *space = address_space_get(c->spaces, event->tgid, event->inc);

	return space ? address_space_python_function(c->spaces, space,
						     (const struct sbt_python_site *)event)
		     : -ENOMEM;
}

static void on_event(void *ctx, const struct sbt_event *event)
{
	struct capture *c = ctx;
	uint64_t resumed_ns;

	if (event->type == SBT_REC_PYTHON_CODE) {
		if (!c->error)
			c->error = keep_python_function(c, event);
		return;
	}
	/*
	 * Handling one event may take so long that the processes of later events exit in the
	 * meantime. So first read the data of these processes that would be lost.
	 */
	ring_glance_events(c->stream, glance, c);
	/*
	 * This event changes the mappings of the process. Records before the event refer to the old
	 * mappings, so they are processed first.
	 */
	if ((event->type == SBT_REC_MAP || event->type == SBT_REC_OUTLINED) && event->inc &&
	    c->ingest && !c->error) {
		tracker_look(c->tracker, event);
		c->error = ingest_until(c, event->t_ns);
	}
	resumed_ns = tracker_event(c->tracker, event);
	if (!c->error)
		c->error = hot_event(c->hot, event);
	if (c->ingest && !c->error && resumed_ns)
		c->error = feed_held(ingest_feed(c->ingest), event, resumed_ns);
}

/* Attach probes to new programs and libraries at once, before earlier records are processed. */
static void show_events(struct capture *c)
{
	if (c->showing)
		return;
	c->showing = true;
	if (c->ingest)
		apply_findings(c);
	ring_show_events(c->stream, on_event, c);
	c->showing = false;
}

/* Handle the kernel's mapping events. While `showing` is set, show_events() does nothing. */
static void show_mapped(struct capture *c)
{
	c->showing = true;
	tracker_mapped(c->tracker, on_event, c);
	c->showing = false;
	tracker_settle(c->tracker);
}

/* Add the sums of exited threads to the model, because the kernel has few slots for sums. */
static int return_sums(struct capture *c, uint64_t now)
{
	if (!c->options.aggregate || !c->armed || now - c->returned_ns < RETURN_NS)
		return 0;
	c->returned_ns = now;
	return ingest_exited_sums(c->ingest);
}

/*
 * Keep the recording only once tracing has begun, so that an existing file stays unchanged if
 * COMMAND cannot be run.
 */
static void keep_recording(struct capture *c)
{
	if (c->recording && c->armed && (!c->launched || launch_result(&c->launch) > 0))
		recording_keep(c->recording);
}

static int work(struct capture *c)
{
	uint64_t now = now_ns(), before = ring_read(c->stream);
	int err = 0;

	show_events(c);
	show_mapped(c);
	if (c->ingest)
		err = ingest_until(c, now - RING_SLACK_NS);
	else
		capture_drain(c);
	if (!err)
		err = limit_step(c->limit, now - RING_SLACK_NS);
	if (!err)
		err = hot_step(c->hot, now, now - RING_SLACK_NS);
	if (!err && c->hang_monitor)
		err = hang_monitor_step(c->hang_monitor, now);
	if (!err)
		err = return_sums(c, now);
	if (!err && c->armed)
		tracker_step(c->tracker, now);
	if (ring_read(c->stream) - before >= MANY_BYTES)
		c->last_many_ns = now;
	if (!c->write_error)
		c->write_error = emit_flush(c->emit);
	keep_recording(c);
	if (!err && c->recording && c->armed && recording_step(c->recording, now) &&
	    c->options.only_record)
		err = -EIO;
	return err;
}

static void reap(struct capture *c)
{
	int status;

	if (!c->launched || c->command_status >= 0)
		return;
	if (waitpid(c->launch.pid, &status, WNOHANG) != c->launch.pid)
		return;
	c->command_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	c->stop = !c->nlive;
}

static void find_remarks(struct capture *c)
{
	const struct diagnostics remarks = { .options = &c->options,
					     .attach = c->attach,
					     .modules = c->modules,
					     .spaces = c->spaces,
					     .tracker = c->tracker,
					     .ingest = c->ingest,
					     .model = c->model,
					     .left = c->left,
					     .elapsed_ns = now_ns() - c->arm_ns,
					     .cut = c->write_error != 0 };

	observer_unmet(c->observer);
	diagnostics_find(&remarks);
}

/*
 * Print an interim report. If only a recording is made, print the time up to which it can be read.
 */
static void report_now(struct capture *c)
{
	uint64_t now = now_ns();
	uint32_t before;

	if (!c->options.only_record) {
		run_facts_live_hangs(&c->run_facts_live, c->hang_monitor, now);
		/*
		 * Remarks about what has not been seen so far apply only to this report, so drop
		 * them afterwards.
		 */
		remarks_all(&before);
		find_remarks(c);
		run_facts_live_report(&c->run_facts_live, c->emit, now, true);
		remarks_forget(before);
	}
	if (c->recording && !recording_now(c->recording) && c->options.only_record &&
	    !c->options.quiet)
		msg_verbose(1, "recorded up to %.3f s: sbt-trace report %s",
			    (double)(now - c->arm_ns) / 1e9, c->options.record);
}

static void on_signals(struct capture *c)
{
	struct signalfd_siginfo info;

	while (read(c->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		/* SIGCHLD only wakes the loop, which looks for ended processes in each round. */
		if (info.ssi_signo == SIGUSR1 && c->options.aggregate)
			msg_warn("--aggregate reads its sums at the end only: no interim report");
		else if (info.ssi_signo == SIGUSR1 && c->ingest && c->emit &&
			 !ingest_until(c, now_ns() - RING_SLACK_NS))
			report_now(c);
	}
}

static void on_pid_exit(struct capture *c, size_t i)
{
	if (c->pidfds[i] < 0)
		return;
	close(c->pidfds[i]);
	c->pidfds[i] = -1;
	if (!--c->nlive)
		c->stop = !c->launched || c->command_status >= 0;
}

static uint64_t timeout_ns(const struct capture *c, uint64_t now)
{
	uint64_t wake =
		c->armed ? c->end_ns : c->begin_ns + (uint64_t)(c->options.delay_s * 1e9) + 1;
	uint64_t ns = (now - c->last_many_ns > IDLE_NS ? POLL_IDLE_MS : POLL_MS) * 1000000ULL;
	uint64_t due = tracker_due(c->tracker), reported = hot_reported_ns(c->hot);

	if (due && (!wake || due < wake))
		wake = due;
	/*
	 * A hot process hits its probes all the time, so pause them POLL_MS after the report, not
	 * POLL_IDLE_MS after it. Discovery then has as much time to find a barrier in the process
	 * as it has while the rings are busy.
	 */
	if (reported && (!wake || reported + POLL_MS * 1000000ULL < wake))
		wake = reported + POLL_MS * 1000000ULL;
	if (wake && wake <= now)
		return 0;
	return wake && wake - now < ns ? wake - now : ns;
}

/* Wait for events. Before Linux 5.11 the timeout is rounded up to a millisecond. */
static int wait_events(const struct capture *c, struct epoll_event *events, int max, uint64_t ns)
{
	struct timespec timeout = { .tv_nsec = (long)ns };
	int n = epoll_pwait2(c->epoll, events, max, &timeout, NULL);

	if (n < 0 && errno == ENOSYS)
		n = epoll_wait(c->epoll, events, max, (int)((ns + 999999) / 1000000));
	return n;
}

static int loop(struct capture *c)
{
	struct epoll_event events[16];
	int n, err;

	c->last_many_ns = now_ns();
	while (!c->stop && !c->error && !c->write_error && !end_asked) {
		uint64_t now = now_ns();

		if (!c->armed && now >= c->begin_ns + (uint64_t)(c->options.delay_s * 1e9)) {
			err = begin(c);
			if (err)
				return err;
		}
		if (c->end_ns && now >= c->end_ns)
			break;
		n = wait_events(c, events, 16, timeout_ns(c, now));
		array_for_each (event, events, n) {
			if (event->data.u64 == FD_SIGNALS)
				on_signals(c);
			else if (event->data.u64 == FD_HOOK)
				c->stop |= (event->events & (EPOLLHUP | EPOLLERR)) != 0;
			else if (event->data.u64 == FD_WRITTEN)
				tracker_written(c->tracker);
			else if (event->data.u64 >= FD_PIDS)
				on_pid_exit(c, event->data.u64 - FD_PIDS);
		}
		err = work(c);
		if (!err && c->hook && c->armed)
			err = c->hook->tick(c->hook->ctx, now_ns());
		if (err)
			return err < 0 ? err : 0;
		reap(c);
		if (c->launched && launch_result(&c->launch) < 0)
			break;
	}
	return c->error;
}

/* --- the end ---------------------------------------------------------------------------------- */

/*
 * End tracing, even if it has only partly begun. Afterwards, no event is recorded and no further
 * process is stopped. Handle the remaining events, which resumes the processes that are stopped.
 * COMMAND may be one of these processes, so sbt-trace must not wait for COMMAND before they are
 * resumed.
 */
static void stop_tracing(struct capture *c)
{
	if (c->attach)
		attach_stop(c->attach);
	if (c->stream && c->tracker)
		show_events(c);
	/* Handling the events may have attached new probes. */
	if (c->attach)
		attach_remove_probes(c->attach);
	guard_stop(&c->guard);
}

/* Feed all remaining records. The caller has ended tracing, so no record is written any more. */
static int ingest_remaining(struct capture *c)
{
	int err;

	do {
		err = ingest_run(c->ingest, UINT64_MAX);
	} while (err > 0);
	return err;
}

static int finish(struct capture *c)
{
	uint64_t end = now_ns();
	int err;

	if (!c->armed) {
		msg_warn("all processes ended before --delay was over: nothing was traced");
		err = begin(c);
		if (err)
			return err;
	}
	keep_recording(c);
	hang_monitor_settle(c->hang_monitor);
	run_facts_live_names(&c->run_facts_live);
	attach_arm(c->attach, false);
	if (c->launched && c->command_status >= 0)
		c->left = diagnostics_left(c->attach, (uint32_t)c->launch.pid);
	err = ingest_pending(c->ingest);
	stop_tracing(c);
	tracker_end(c->tracker, end);
	if (!err)
		err = ingest_remaining(c);
	if (!err)
		err = ingest_finish(c->ingest);
	if (!err)
		err = limit_settle(c->limit);
	if (!err)
		err = ingest_rest(c->ingest, end);
	run_facts_live_counts(&c->run_facts_live);
	if (!err)
		err = model_finish(c->model, end);
	if (!err)
		err = conceptual_finish(observer_conceptual(c->observer));
	if (err)
		return err;
	/* Tracing has ended, so the rings need not be emptied while names are looked up. */
	symbol_server_idle(c->symbols, NULL, NULL);
	modules_idle(c->modules, NULL, NULL);
	run_facts_live_hangs(&c->run_facts_live, c->hang_monitor, end);
	run_facts_live_calibrate(&c->run_facts_live, tracker_stepped(c->tracker), capture_drain, c);
	preflight_drop(rights_for_report(), c->options.verbose);
	find_remarks(c);
	/* A write error is kept and reported once, when the output is closed. */
	err = run_facts_live_report(&c->run_facts_live, c->emit, end, false);
	if (err != -ENOMEM)
		err = 0;
	/*
	 * The text report contains the remarks already; other outputs do not show them on the
	 * terminal.
	 */
	if (c->options.only_record && !c->options.verbose)
		remarks_say_few(c->options.quiet);
	else if (c->options.only_record || c->options.output || c->options.format != EMIT_TEXT)
		remarks_say(0, c->options.quiet);
	return err;
}

/*
 * Wait for COMMAND to end, and return its exit status. Return 0 if a signal ended tracing and
 * COMMAND still runs.
 */
static int wait_command(struct capture *c)
{
	int i;

	for (i = 0; end_asked && c->command_status < 0 && i < INTERRUPT_GRACE_MS / 10; i++) {
		reap(c);
		if (c->command_status < 0)
			usleep(10000);
	}
	if (c->command_status >= 0)
		return c->command_status;
	if (end_asked)
		return 0;
	/* --duration is over, or writing failed: COMMAND continues untraced until it ends. */
	while (c->command_status < 0 && !end_asked) {
		struct epoll_event e;

		if (epoll_wait(c->epoll, &e, 1, 100) > 0 && e.data.u64 == FD_SIGNALS)
			on_signals(c);
		reap(c);
	}
	return c->command_status < 0 ? 0 : c->command_status;
}

static void tear_down(struct capture *c)
{
	size_t i;

	for (i = 0; c->pidfds && i < c->npidfds; i++) {
		if (c->pidfds[i] >= 0)
			close(c->pidfds[i]);
	}
	free(c->pidfds);
	if (c->signals >= 0)
		close(c->signals);
	if (c->epoll >= 0)
		close(c->epoll);
	handover_close(&c->handover);
	free(c->own_output);
	free(c->own_record);
	hang_monitor_free(c->hang_monitor);
	limit_free(c->limit);
	hot_free(c->hot);
	recording_close(c->recording, false);
	ingest_free(c->ingest);
	stream_free(c->stream);
	c->stream = NULL;
	attach_free(c->attach);
	observer_free(c->observer);
	cause_names_free(c->cause_names);
	stack_samples_free(c->samples);
	counting_close(&c->counting);
	model_free(c->model);
	tracker_free(c->tracker);
	address_spaces_free(c->spaces);
	modules_free(c->modules);
	symbol_server_free(c->symbols);
	progress_free(c->progress);
	run_facts_live_free(&c->run_facts_live);
}

static int close_output(struct capture *c)
{
	int err = c->emit ? emit_free(c->emit) : 0;

	if (c->write_error)
		err = c->write_error;
	if (c->out && fflush(c->out) && !err)
		err = -errno;
	if (c->options.output && c->out && fclose(c->out) && !err)
		err = -errno;
	if (err)
		msg_error("cannot write %s: %s; the report is not complete",
			  c->options.output ? c->options.output : "the output", strerror(-err));
	c->emit = NULL;
	c->out = NULL;
	c->write_error = 0; /* reported */
	return err;
}

int capture_run(const struct options *options, const struct capture_hook *hook)
{
	struct capture *c = calloc(1, sizeof(*c));
	int err, exec_err, status;

	if (!c)
		return EXIT_FAILED;
	c->begin_ns = now_ns();
	c->hook = hook;
	c->options = *options;
	rescue = hook ? hook->rescue : NULL;
	c->command_status = -1;
	c->epoll = c->signals = -1;
	c->handover.listener = -1;
	if (options->no_debug) {
		status = capture_run_untraced(options);
		goto out;
	}
	err = counting_read(options->events_from, options->events, &c->counting);
	if (err) {
		status = err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
		goto out;
	}
	status = EXIT_FAILED;
	if (capture_meet_ranks(c, &status))
		goto out;
	err = capture_set_up(c);
	if (!err && c->options.delay_s <= 0)
		err = begin(c);
	if (err) {
		if (c->launched)
			launch_abort(&c->launch);
		goto out;
	}
	handover_go(&c->handover, c->options.record,
		    c->options.only_record ? NULL : c->options.output);
	err = c->launched ? launch_go(&c->launch) : 0;
	if (!err)
		err = loop(c);
	exec_err = c->launched ? launch_result(&c->launch) : 1;
	if (exec_err < 0) {
		status = capture_cannot_run(&c->options, exec_err);
		goto out;
	}
	if (!err && !hook)
		err = finish(c);
	else if (!err && c->armed) {
		find_remarks(c);
		diagnostics_unnamed(c->spaces);
	}
	stop_tracing(c);
	if (hook)
		hook->end(hook->ctx);
	if (!err)
		err = c->error;
	if (err)
		msg_error("tracing ended early: %s", strerror(-err));
	if (close_output(c))
		err = -EIO;
	if (recording_close(c->recording, !err && c->options.only_record && !c->options.quiet))
		err = -EIO;
	c->recording = NULL;
	status = c->launched ? wait_command(c) : 0;
	if (err)
		status = EXIT_FAILED;
out:
	stop_tracing(c);
	close_output(c);
	tear_down(c);
	free(c);
	return status;
}
