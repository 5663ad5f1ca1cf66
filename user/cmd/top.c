// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* sbt-trace top: trace, and show a live table of the time that processes lose at barriers. */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/msg.h"
#include "base/remark.h"
#include "top/top_internal.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/trace.h"
#include "top/terminal.h"
#include "sbt/record.h"
#include "target/proc.h"

/* How long the last warning stays above the table. */
#define SAID_NS	     15000000000ULL
/*
 * The tracer keeps data of exited processes. If it uses this much more memory than after the first
 * look, tracing is started again: rates need no history.
 */
#define MEMORY_BYTES (192ULL << 20)

/* --- one refresh ------------------------------------------------------------------------------ */

static void note_waiting(void *ctx, uint32_t tid, const struct sbt_thread *thread)
{
	struct top *t = ctx;
	struct live_rates_waiting w = {
		.tgid = thread->tgid,
		.inc = thread->inc,
		.tid = tid,
		.site = MODEL_NONE,
		.object = thread->object,
		.arrive_ns = thread->arrive_ns,
	};
	struct address_space *space;

	/*
	 * Skip threads that do not wait: those at a marker, idle OpenMP workers between regions,
	 * and threads that have departed meanwhile.
	 */
	if (thread->kind == SBT_KIND_PHASE || thread->flags & SBT_CROSSING_NO_DEPART ||
	    !w.arrive_ns || t->error)
		return;
	space = address_space_find(t->view.spaces, w.tgid, w.inc);
	if (space && thread->ip && !t->view.run_facts_live->options->frames)
		w.site = address_space_site(t->view.spaces, space, thread->ip);
	t->error = live_rates_add_waiting(t->live_rates, &w);
}

/* Return the private anonymous memory of sbt-trace in bytes; 0: unknown. */
static uint64_t own_memory(void)
{
	unsigned long long size, resident, shared;
	FILE *f = fopen("/proc/self/statm", "re");
	int n;

	if (!f)
		return 0;
	n = fscanf(f, "%llu %llu %llu", &size, &resident, &shared);
	fclose(f);
	return n == 3 && resident > shared ? (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE)
					   : 0;
}

static uint64_t lost_records(const struct top *t)
{
	struct sbt_counts counts;

	attach_counts(t->view.attach, &counts);
	return counts.lost_ring + counts.refused;
}

/* Set what the table shows above its rows. */
static void set_facts(struct top *t)
{
	uint64_t lost = lost_records(t) - t->lost_base;

	t->facts.what = t->what;
	t->facts.interval_ns = t->interval_ns;
	t->facts.elapsed_ns = t->now_ns - t->first_ns;
	t->facts.realtime_ns = (int64_t)clock_ns(CLOCK_REALTIME);
	t->facts.nothing = model_totals(t->view.model)->crossings
				   ? "No thread that has crossed a barrier is left."
				   : t->nothing;
	t->facts.alert = NULL;
	tty_capture_read(&t->tty_capture);
	if (*t->tty_capture.line) {
		snprintf(t->said, sizeof(t->said), "%s", t->tty_capture.line);
		t->tty_capture.line[0] = '\0';
		t->said_ns = t->now_ns;
	}
	if (lost) {
		snprintf(t->alert, sizeof(t->alert),
			 "%llu crossings were lost: rates are too low, and imbalances may be wrong",
			 (unsigned long long)lost);
		t->facts.alert = t->alert;
	} else if (*t->said && t->now_ns - t->said_ns < SAID_NS) {
		t->facts.alert = t->said;
	}
}

static int look(struct top *t)
{
	int err;

	ingest_each_inside(t->view.ingest, note_waiting, t);
	err = t->error ? t->error
		       : live_rates_look(t->live_rates, t->view.model, t->view.causes, t->now_ns);
	set_facts(t);
	if (!err)
		err = top_make_items(t);
	t->looks++;
	if (!t->memory)
		t->memory = own_memory();
	else if (!t->command && own_memory() > t->memory + MEMORY_BYTES)
		t->again = true;
	return err;
}

static int print(struct top *t)
{
	struct buf text = { 0 };
	int err = 0;

	screen_plain(&t->facts, t->items, t->nitems, t->ascii, &text);
	if (text.failed)
		err = -ENOMEM;
	else if (fputs(text.s, t->plain) < 0 || fflush(t->plain))
		err = errno ? -errno : -EIO;
	buf_free(&text);
	if (err && err != -ENOMEM) {
		msg_error("cannot write: %s", strerror(-err));
		t->error = err;
		return 1;
	}
	return err;
}

static int draw(struct top *t)
{
	unsigned width, height;
	int err;

	terminal_size(&width, &height);
	err = screen_draw(t->screen, width, height, &t->lines);
	if (!err)
		terminal_show(&t->lines);
	return err;
}

/* --- while it runs ---------------------------------------------------------------------------- */

static int begin(void *ctx, const struct capture_view *view)
{
	struct top *t = ctx;
	int err;

	t->now_ns = now_ns();
	t->view = *view;
	t->begun = true;
	t->lost_base = lost_records(t);
	t->next_ns = t->now_ns + t->interval_ns;
	if (!t->first_ns)
		t->first_ns = t->now_ns;
	t->live_rates = live_rates_new();
	if (!t->live_rates)
		return -ENOMEM;
	set_facts(t);
	if (!t->drawn || t->opened)
		return 0;
	err = terminal_open(t->in, t->out, !getenv("NO_COLOR"));
	if (err) {
		msg_error("cannot draw on the terminal: %s", strerror(-err));
		return err;
	}
	t->opened = true;
	err = screen_set(t->screen, &t->facts, NULL, 0);
	return err ? err : draw(t);
}

/* Handle the keys that were pressed. Return whether to draw. Set *go to false if the user quits. */
static bool take_keys(struct top *t, bool *go)
{
	bool any = false;
	uint32_t key;

	while (*go && (key = terminal_key())) {
		any = true;
		if (key != TERMINAL_RESIZED)
			*go = screen_key(t->screen, key);
	}
	return any;
}

static int tick(void *ctx, uint64_t now_ns)
{
	struct top *t = ctx;
	enum screen_kind kind;
	bool go = true, redraw;
	int err = 0;

	tty_capture_read(&t->tty_capture);
	redraw = t->drawn && take_keys(t, &go);
	redraw |= t->drawn && terminal_flush();
	if (!go) {
		t->quit = true;
		return 1;
	}
	if (now_ns >= t->next_ns && !(t->drawn && screen_paused(t->screen))) {
		t->now_ns = now_ns;
		t->next_ns += t->interval_ns;
		/* If sbt-trace was stopped for a while, do not catch up. */
		if (t->next_ns <= now_ns)
			t->next_ns = now_ns + t->interval_ns;
		err = look(t);
		if (!err && !t->drawn)
			err = print(t);
		redraw = t->drawn;
	} else if (t->drawn && screen_opened(t->screen, &kind) != t->opened_shown && t->looks) {
		err = top_make_items(t);
	}
	if (!err && redraw)
		err = draw(t);
	if (!err && t->iterations && t->looks >= t->iterations)
		t->quit = true;
	return err ? err : t->quit || t->again;
}

static void forget(struct top *t)
{
	live_rates_free(t->live_rates);
	t->live_rates = NULL;
	array_for_each (name, t->names, t->nnames) {
		free(name->label);
		free(name->id);
	}
	t->nnames = 0;
	t->nitems = 0;
	t->memory = 0;
	t->begun = false;
	/* The strings of the screen's items belong to the tracer, so remove the items. */
	if (t->screen)
		screen_set(t->screen, &t->facts, NULL, 0);
}

static void end(void *ctx)
{
	struct top *t = ctx;

	forget(t);
	if (t->again)
		return;
	terminal_close();
	tty_capture_end(&t->tty_capture);
}

/* --- the command ------------------------------------------------------------------------------ */

/* Draw if both the output and standard input are terminals. Otherwise print lines. */
static int choose_output(struct top *t)
{
	int out = t->command ? STDERR_FILENO : STDOUT_FILENO;
	int err;

	setlocale(LC_CTYPE, "");
	t->ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	t->plain = t->command ? stderr : stdout;
	t->in = t->out = -1;
	if (!isatty(out) || !isatty(STDIN_FILENO))
		return 0;
	if (!terminal_can(out, NULL)) {
		msg_warn("a terminal of type %s cannot be drawn on: printing lines instead",
			 getenv("TERM") ? getenv("TERM") : "unknown");
		return 0;
	}
	t->in = dup(STDIN_FILENO);
	t->out = terminal_descriptor(out);
	if (t->in < 0 || t->out < 0)
		return -errno;
	t->screen = screen_new(t->ascii);
	if (!t->screen)
		return -ENOMEM;
	err = tty_capture_begin(&t->tty_capture, t->command);
	t->drawn = !err;
	return err;
}

static void set_nothing(struct top *t)
{
	if (t->command)
		snprintf(t->nothing, sizeof(t->nothing), "No barrier has been crossed yet.");
	else if (t->pids)
		snprintf(t->nothing, sizeof(t->nothing),
			 "No barrier has been crossed yet by %.100s. sbt-trace list -p PID shows "
			 "the barriers that can be traced.",
			 t->what);
	else
		snprintf(t->nothing, sizeof(t->nothing),
			 "No barrier has been crossed yet on this machine. Hand-written barriers, "
			 "on condition variables or futexes, are only looked for with --discover.");
}

/* If all processes of -p have exited, print that after the table has gone. */
static void warn_exited(const struct top *t, const struct options *o)
{
	size_t i;

	if (!o->npids || !t->drawn || t->quit || !t->opened)
		return;
	for (i = 0; i < o->npids; i++)
		if (proc_alive(o->pids[i]))
			return;
	msg_warn("%s ended", t->what);
}

/* Write what is traced into t->what, for the title of the table. */
static void describe(struct top *t, const struct options *o)
{
	size_t i, at;

	t->command = o->command != NULL;
	t->pids = o->npids > 0;
	if (t->command) {
		snprintf(t->what, sizeof(t->what), "%s", o->command[0]);
		return;
	}
	if (!t->pids) {
		snprintf(t->what, sizeof(t->what), "the whole machine");
		return;
	}
	at = (size_t)snprintf(t->what, sizeof(t->what), "process%s", o->npids > 1 ? "es" : "");
	for (i = 0; i < o->npids && at < sizeof(t->what); i++)
		at += (size_t)snprintf(t->what + at, sizeof(t->what) - at, "%s%d", i ? "," : " ",
				       o->pids[i]);
}

static void top_free(struct top *t)
{
	forget(t);
	screen_free(t->screen);
	screen_lines_free(&t->lines);
	free(t->names);
	free(t->items);
	free(t->words);
	if (t->in >= 0)
		close(t->in);
	if (t->out >= 0)
		close(t->out);
}

static int top(struct command_line *line)
{
	struct top t = { .interval_ns = line->interval_ns,
			 .iterations = line->iterations,
			 .in = -1,
			 .out = -1 };
	struct capture_hook hook = {
		.ctx = &t, .begin = begin, .tick = tick, .end = end, .rescue = terminal_rescue
	};
	int err, status = EXIT_FAILED;

	describe(&t, &line->options);
	set_nothing(&t);
	err = choose_output(&t);
	if (err) {
		msg_error("cannot begin: %s", strerror(-err));
		goto out;
	}
	hook.fd = t.in;
	do {
		t.again = false;
		malloc_trim(0);
		remarks_forget(0);
		status = trace_run(&line->options, &hook);
	} while (t.again);
	if (t.error)
		status = EXIT_FAILED;
	terminal_close();
	tty_capture_end(&t.tty_capture);
	tty_capture_wait(&t.tty_capture);
	if (!status) {
		warn_exited(&t, &line->options);
		remarks_say(0, false);
	}
out:
	top_free(&t);
	return status;
}

int cmd_top(int argc, char **argv)
{
	return options_run((struct command_line){ .command = COMMAND_TOP }, argc, argv, top);
}
