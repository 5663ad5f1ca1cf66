// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* sbt-trace hang: show where processes that already hang are stuck, without tracing. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "attach/rights.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/msg.h"
#include "base/output.h"
#include "cmd/cmd.h"
#include "hang/hang_collect.h"
#include "cmd/options.h"
#include "cmd/view_output.h"
#include "capture/preflight.h"
#include "capture/diagnostics.h"
#include "hang/thread_snapshot.h"
#include "hang/stack_waiters.h"
#include "emit/emit.h"
#include "target/job.h"
#include "target/look.h"
#include "target/proc.h"

struct hang {
	const struct options *options;
	uint32_t *pids;
	size_t npids, cap_pids;
	FILE *out;
	struct emit *emit;
	struct symbol_server *symbols;
	struct progress *progress;
	struct modules *modules;
	struct address_spaces *spaces;
	struct snapshots *snapshots;
	struct hang_collect *hang_collect;
	struct snapshot **snapshots_taken; /* by index in pids */
	uint32_t nhangs;
};

/* --- what was found --------------------------------------------------------------------------- */

static enum hang_state state_of(const struct snapshot_thread *t)
{
	switch (t->wait) {
	case SNAPSHOT_RUNNING:
		return HANG_RUNNING;
	case SNAPSHOT_RUNNABLE:
		return HANG_RUNNABLE;
	case SNAPSHOT_STOPPED:
		return HANG_STOPPED;
	case SNAPSHOT_ZOMBIE:
	case SNAPSHOT_GONE:
		return HANG_GONE;
	case SNAPSHOT_UNKNOWN:
		return HANG_STATE_UNKNOWN;
	default:
		return HANG_BLOCKED;
	}
}

static const char *or_null(const char *text)
{
	return text && *text ? text : NULL;
}

static const char *const source_names[] = {
	[SNAPSHOT_NO_STACK] = NULL,
	[SNAPSHOT_ITERATOR] = "iterator",
	[SNAPSHOT_PROC] = "proc",
	[SNAPSHOT_SAMPLE] = "sample",
};

static int thread_of(const struct snapshot_thread *from, struct emit_thread *to)
{
	struct hang_frame *frames = calloc(from->nframes + 1u, sizeof(*frames));
	uint32_t i;

	if (!frames)
		return -ENOMEM;
	for (i = 0; i < from->nframes; i++) {
		const struct snapshot_frame *f = &from->frames[i];

		frames[i] = (struct hang_frame){ .function = f->function,
						 .file = f->file,
						 .module = f->module,
						 .line = f->line,
						 .inlined = or_null(f->inlined),
						 .address = f->address };
	}
	*to = (struct emit_thread){ .pid = from->pid,
				    .tid = from->tid,
				    .comm = from->comm,
				    .state = state_of(from),
				    .blocked_on = or_null(from->waits_for),
				    .syscall = look_call_name(from->syscall),
				    .wchan = or_null(from->wchan),
				    .registers = source_names[from->source],
				    .oncpu_ns = from->cpu_ns,
				    .runq_ns = from->runq_ns,
				    .sampled = from->sampled,
				    .truncated = from->truncated,
				    .nframes = from->nframes,
				    .frames = frames };
	return 0;
}

static int print_process(struct hang *h, const struct snapshot *s)
{
	struct emit_thread *threads = calloc(s->n + 1u, sizeof(*threads));
	const struct snapshot_thread *leader = snapshot_find(s, s->pid);
	uint32_t i;
	int err = threads ? 0 : -ENOMEM;

	for (i = 0; !err && i < s->n; i++)
		err = thread_of(&s->threads[i], &threads[i]);
	if (!err)
		emit_threads(h->emit, s->pid, leader ? leader->comm : NULL, threads, s->n);
	for (i = 0; threads && i < s->n; i++)
		free((void *)(uintptr_t)threads[i].frames);
	free(threads);
	return err;
}

static int question_of(const struct hang *h, const struct stack_waiters_barrier *from,
		       struct hang_collect_barrier *to)
{
	const struct snapshot_thread *first = from->arrivals[0].thread;
	uint32_t i;

	*to = (struct hang_collect_barrier){ .pid = from->pid,
					     .family = from->family,
					     .object = from->object,
					     .count = from->count,
					     .of_processes = from->of_processes,
					     .world = from->of_processes && from->world };
	memcpy(to->comm, first->comm, sizeof(to->comm));
	to->arrived = calloc(from->n, sizeof(*to->arrived));
	if (from->of_processes)
		to->pids = calloc(h->npids, sizeof(*to->pids));
	if (!to->arrived || (from->of_processes && !to->pids))
		return -ENOMEM;
	array_for_each (a, from->arrivals, from->n) {
		to->arrived[to->narrived++] = (struct hang_collect_arrival){
			.pid = a->thread->pid,
			.tid = a->thread->tid,
			.since_ns = MODEL_UNKNOWN,
			.ip = a->site ? a->site->address + 1 : 0,
		};
	}
	for (i = 0; to->pids && i < h->npids; i++)
		to->pids[to->npids++] = h->pids[i];
	return 0;
}

/*
 * Add the MPI ranks of the processes. For barriers on MPI_COMM_WORLD, set the number of threads
 * that must arrive to the number of ranks, if all ranks were given.
 */
static int add_ranks(const struct hang *h, struct hang_collect_question *q)
{
	struct job job;
	uint32_t i;

	q->numbers = calloc(h->npids + 1, sizeof(*q->numbers));
	q->pids = calloc(h->npids + 1, sizeof(*q->pids));
	if (!q->numbers || !q->pids)
		return -ENOMEM;
	for (i = 0; i < h->npids; i++) {
		q->pids[q->npids++] = h->pids[i];
		if (job_read((int)h->pids[i], &job) || job.rank == JOB_NONE)
			continue;
		q->numbers[q->nnumbers++] =
			(struct hang_collect_number){ h->pids[i], job.rank, true };
		array_for_each (b, q->barriers, q->nbarriers)
			if (b->world && job.size != JOB_NONE && job.size <= h->npids)
				b->count = job.size;
	}
	return 0;
}

static int classify(struct hang *h, struct hang_collect_question *q)
{
	struct hang_collect_answer *answer = NULL;
	struct report_hang report;
	uint32_t i;
	int err = hang_collect_look(h->hang_collect, q, &answer);

	/* After the barriers, look for a cycle of ranks that wait for messages. */
	for (i = 0; !err && i < q->nbarriers + (q->npids > 0); i++) {
		err = hang_collect_classify(answer, i < q->nbarriers ? i : HANG_NONE, &report);
		if (err == -ENOENT) {
			err = 0; /* the barrier has opened meanwhile, or there is no cycle */
			continue;
		}
		if (!err)
			emit_hang(h->emit, &report);
		report_hang_free(&report);
		h->nhangs++;
	}
	hang_collect_answer_free(answer);
	return err;
}

/* Return whether a thread waits in an MPI call. */
static bool is_job(const struct hang *h)
{
	uint32_t i, k;

	for (i = 0; i < h->npids; i++)
		for (k = 0; k < h->snapshots_taken[i]->n; k++)
			if (h->snapshots_taken[i]->threads[k].call.name)
				return true;
	return false;
}

static int print_hangs(struct hang *h)
{
	struct hang_collect_question q = { 0 };
	struct stack_waiters stack_waiters;
	uint32_t i;
	int err;

	err = stack_waiters_find(h->spaces, h->snapshots,
				 (const struct snapshot *const *)h->snapshots_taken,
				 (uint32_t)h->npids, &stack_waiters);
	if (!err && stack_waiters.n) {
		q.barriers = calloc(stack_waiters.n, sizeof(*q.barriers));
		err = q.barriers ? 0 : -ENOMEM;
	}
	for (i = 0; !err && i < stack_waiters.n; i++) {
		q.nbarriers++;
		err = question_of(h, &stack_waiters.barriers[i], &q.barriers[i]);
	}
	if (!err && is_job(h))
		err = add_ranks(h, &q);
	if (!err && (stack_waiters.n || q.npids))
		err = classify(h, &q);
	hang_collect_question_free(&q);
	stack_waiters_free(&stack_waiters);
	return err;
}

/*
 * Return the number of processes with a thread that waits for a message from an unknown rank, as in
 * MPI_Wait().
 */
static uint32_t waits_for_any(const struct hang *h)
{
	const struct mpi_call *call;
	uint32_t i, k, n = 0;

	for (i = 0; i < h->npids; i++) {
		for (k = 0; k < h->snapshots_taken[i]->n; k++) {
			call = &h->snapshots_taken[i]->threads[k].call;
			if (call->name && !call->collective && call->peer < 0)
				break;
		}
		n += k < h->snapshots_taken[i]->n;
	}
	return n;
}

static int print(struct hang *h)
{
	size_t i;
	int err = print_hangs(h);

	/* No process is read from here on. */
	preflight_drop(rights_for_report(), h->options->verbose);
	/* If all processes have exited meanwhile, print what was read before. */
	if (err == -ESRCH)
		err = 0;
	if (!err && !h->nhangs)
		emit_no_hang(h->emit, waits_for_any(h));
	for (i = 0; !err && i < h->npids; i++)
		err = print_process(h, h->snapshots_taken[i]);
	return err;
}

/* --- looking ---------------------------------------------------------------------------------- */

static void explain(uint32_t pid, int err)
{
	switch (err) {
	case -ESRCH:
		msg_error("hang: there is no process %u", pid);
		break;
	case -EACCES:
	case -EPERM:
		msg_error("hang: no permission to examine process %u: run as root, "
			  "with CAP_SYS_PTRACE, or, if kernel.yama.ptrace_scope is 0, as the "
			  "owner of the process",
			  pid);
		break;
	default:
		msg_error("hang: cannot examine process %u: %s", pid, strerror(-err));
	}
}

static int begin(struct hang *h)
{
	int err = symbol_server_new(NULL, &h->symbols);

	h->progress = progress_new(STDERR_FILENO);
	if (!err)
		err = modules_new(h->options->rules, h->symbols, &h->modules);
	if (!err)
		err = address_spaces_new(h->modules, h->symbols, &h->spaces);
	if (!err)
		modules_set_progress(h->modules, h->progress);
	if (!err)
		err = snapshots_new(h->spaces, &h->snapshots);
	if (!err && snapshots_no_iterator(h->snapshots))
		msg_verbose(h->options->verbose,
			    "only two registers of blocked threads are known: %s",
			    snapshots_no_iterator(h->snapshots));
	if (!err)
		err = hang_collect_new(h->spaces, h->snapshots, &h->hang_collect);
	if (!err) {
		h->snapshots_taken = calloc(h->npids, sizeof(struct snapshot *));
		err = h->snapshots_taken ? 0 : -ENOMEM;
	}
	return err;
}

static void end(struct hang *h)
{
	size_t i;

	for (i = 0; h->snapshots_taken && i < h->npids; i++)
		snapshot_free(h->snapshots_taken[i]);
	free(h->snapshots_taken);
	hang_collect_free(h->hang_collect);
	snapshots_free(h->snapshots);
	address_spaces_free(h->spaces);
	modules_free(h->modules);
	progress_free(h->progress);
	symbol_server_free(h->symbols);
}

static int look(struct hang *h)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < h->npids; i++) {
		progress_begin(h->progress, "examining process %u", h->pids[i]);
		err = proc_may_look((int)h->pids[i]);
		/* -ESRCH: a zombie has no program any more, but can be examined. */
		if (!err || err == -ESRCH)
			err = snapshot_take(h->snapshots, h->pids[i], NULL, 0,
					    &h->snapshots_taken[i]);
		progress_end(h->progress);
		if (err)
			explain(h->pids[i], err);
	}
	return err;
}

/* --- output ----------------------------------------------------------------------------------- */

static int open_output(struct hang *h)
{
	struct emit_options options;
	struct session session = { .version = SBT_VERSION, .mode = "hang" };
	struct utsname kernel;

	h->out = h->options->output ? output_open(h->options->output) : stdout;
	if (!h->out) {
		msg_error("cannot write %s: %s", h->options->output, strerror(errno));
		return -errno;
	}
	options = view_options(h->options, h->out);
	session.clock_start_ns = now_ns();
	options.realtime_offset_ns =
		(int64_t)clock_ns(CLOCK_REALTIME) - (int64_t)session.clock_start_ns;
	if (!uname(&kernel))
		session.kernel = kernel.release;
	h->emit = emit_new(h->out, &options);
	if (!h->emit) {
		msg_error("hang: %s", strerror(ENOMEM));
		return -ENOMEM;
	}
	emit_session(h->emit, &session);
	return 0;
}

static int close_output(struct hang *h)
{
	int err = h->emit ? emit_free(h->emit) : 0;

	if (h->out && h->options->output && fclose(h->out) && !err)
		err = -errno;
	if (err)
		msg_error("cannot write to %s: %s",
			  h->options->output ? h->options->output : "stdout", strerror(-err));
	return err;
}

static int run(struct hang *h)
{
	int err = begin(h), closed;

	if (err)
		msg_error("hang: %s", strerror(-err));
	/*
	 * The files to read are untrusted: keep only the rights that are needed to read processes.
	 */
	if (!err)
		preflight_drop(rights_while_looking(h->options->output != NULL),
			       h->options->verbose);
	/* Look before the output is opened: if looking fails, no file is made. */
	if (!err)
		err = look(h);
	if (!err)
		err = open_output(h);
	if (!err) {
		preflight_drop(rights_while_looking(false), h->options->verbose);
		err = print(h);
		if (err)
			msg_error("hang: %s", strerror(-err));
	}
	closed = close_output(h);
	if (h->spaces)
		diagnostics_unnamed(h->spaces);
	remarks_say(0, false);
	end(h);
	return err ? err : closed;
}

/* --- the command line ------------------------------------------------------------------------- */

static bool is_given(const struct hang *h, uint32_t pid)
{
	uint32_t i;

	for (i = 0; i < h->npids && h->pids[i] != pid; i++)
		;
	return i < h->npids;
}

/* Add the process that the thread @pid belongs to. */
static int add_pid(struct hang *h, int pid)
{
	int tgid;

	if (proc_tgid(pid, &tgid))
		tgid = pid; /* look() reports that the process does not exist */
	if (is_given(h, (uint32_t)tgid))
		return 0;
	if (grow(h->pids, h->cap_pids, h->npids + 1))
		return -ENOMEM;
	h->pids[h->npids++] = (uint32_t)tgid;
	return 0;
}

static int hang(struct command_line *line)
{
	struct hang h = { .options = &line->options };
	int err = 0;
	size_t i;

	if (!line->options.npids || line->files.n) {
		msg_error("hang: -p PID and no other word is expected (see sbt-trace hang --help)");
		return EXIT_USAGE;
	}
	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < line->options.npids && !err; i++)
		err = add_pid(&h, line->options.pids[i]);
	if (err)
		msg_error("hang: %s", strerror(-err));
	else
		err = run(&h);
	free(h.pids);
	return err ? EXIT_FAILED : 0;
}

int cmd_hang(int argc, char **argv)
{
	return options_run((struct command_line){ .command = COMMAND_HANG }, argc, argv, hang);
}
