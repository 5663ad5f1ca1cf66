// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * sbt-trace doctor: try each feature on this machine, and print what to do about missing features.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "attach/attach.h"
#include "base/msg.h"
#include "capture/file_limit.h"
#include "capture/load_options.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/view_output.h"
#include "doctor/doctor.h"
#include "emit/emit.h"

static void drain_nothing(void *ctx)
{
	(void)ctx;
}

/* Read default options; the variables of the SBT library must not change what doctor finds. */
static enum options_result default_options(struct command_line *line)
{
	char name[] = "sbt-trace", option[] = "-p", value[] = "1";
	char *argv[] = { name, option, value, NULL };

	clearenv();
	return options_parse(line, 3, argv);
}

static void watch_itself(struct doctor_facts *f, struct attach *attach)
{
	f->crossing_ns = attach_calibrate_quick(attach, drain_nothing, NULL).ns;
	f->trial = isnan(f->crossing_ns) ? DOCTOR_UNSEEN : 0;
	if (attach_accounts(attach))
		f->iterator = attach_account_found(attach);
}

/* Load the BPF programs as for a trace, and probe sbt-trace itself. */
static void trial(struct doctor_facts *f)
{
	struct counting none = { 0 };
	struct attach_options ao;
	struct attach *attach;
	struct command_line line = { .command = COMMAND_TRACE };
	int err;

	f->trial = -EINVAL;
	if (default_options(&line) != OPTIONS_GO)
		return;
	load_options_fill(&line.options, &none, &ao);
	ao.verbose = 2; /* libbpf prints its messages */
	err = attach_new(&ao, &attach, f->trial_why, sizeof(f->trial_why));
	options_free(&line);
	f->trial = err;
	if (err)
		return;
	snprintf(f->method, sizeof(f->method), "%s", attach_method_name(attach_method(attach)));
	snprintf(f->method_why, sizeof(f->method_why), "%s", attach_reason(attach));
	f->accounts = attach_accounts(attach);
	snprintf(f->accounts_why, sizeof(f->accounts_why), "%s", attach_account_reason(attach));
	watch_itself(f, attach);
	attach_free(attach);
}

static void print(struct emit *emit, const void *ctx)
{
	emit_doctor(emit, ctx);
}

static int diagnose(struct command_line *line)
{
	struct doctor_facts *facts;
	struct doctor *doctor;
	int status = EXIT_FAILED;

	if (line->files.n) {
		msg_error("doctor: unexpected word %s (see sbt-trace doctor --help)",
			  line->files.words[0]);
		return EXIT_USAGE;
	}
	signal(SIGPIPE, SIG_IGN);
	facts = mmap(NULL, sizeof(*facts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	doctor = malloc(sizeof(*doctor));
	if (facts == MAP_FAILED || !doctor) {
		msg_error("%s", strerror(ENOMEM));
		goto out;
	}
	file_limit_raise();
	doctor_examine(facts, trial);
	doctor_diagnose(facts, doctor);
	status = view_print(&line->options, print, doctor);
	if (doctor->verdict.state != DOCTOR_YES)
		status = EXIT_FAILED;
out:
	free(doctor);
	if (facts != MAP_FAILED)
		munmap(facts, sizeof(*facts));
	return status;
}

int cmd_doctor(int argc, char **argv)
{
	return options_run((struct command_line){ .command = COMMAND_DOCTOR }, argc, argv,
			   diagnose);
}
