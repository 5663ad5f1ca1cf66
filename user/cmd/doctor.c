// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* sbt-trace doctor: what can be done here, feature by feature, and what to do about the rest. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyse/doctor.h"
#include "attach/attach.h"
#include "attach/doctor.h"
#include "base/msg.h"
#include "base/output.h"
#include "cmd/cmd.h"
#include "capture/file_limit.h"
#include "cmd/options.h"
#include "capture/installed_libs.h"
#include "emit/emit.h"

#define TRY_SECONDS 120 /* emulated machines are slow */
#define LOG_BYTES   (1u << 20) /* the end of what libbpf said */

enum { OPT_JSON = 256 };

static const struct option long_options[] = {
	{ "json", no_argument, NULL, OPT_JSON },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
	"Usage: sbt-trace doctor [--json] [-o FILE]\n"
	"\n"
	"What this kernel, these rights and this machine allow, feature by feature; what is used "
	"instead of\n"
	"what is missing; and what to do about it. Each is tried, on sbt-trace itself: nothing "
	"else is touched.\n"
	"Exit status: 0 if programs can be traced here, 1 if not.\n"
	"      --json           one object a feature; the first, \"trace\", is the verdict\n"
	"  -o, --output FILE    into FILE\n"
	"  -h, --help           this\n";

/* --- in a process of its own ----------------------------------------------------------------------------- */

/* Where libbpf and the rest of us say why. */
static int make_log(void)
{
	return memfd_create("sbt-doctor", MFD_CLOEXEC);
}

static char *read_log(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END), from = size > LOG_BYTES ? size - LOG_BYTES : 0;
	char *log = malloc(LOG_BYTES + 1);
	ssize_t n;

	if (!log)
		return NULL;
	n = size > 0 ? pread(fd, log, LOG_BYTES, from) : 0;
	log[n > 0 ? n : 0] = '\0';
	return log;
}

static int wait_for(pid_t pid)
{
	struct timespec pause = { .tv_nsec = 2000000 };
	struct timespec begin, now;
	int status;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (;;) {
		pid_t got = waitpid(pid, &status, WNOHANG);

		if (got == pid)
			return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		if (got < 0 && errno != EINTR)
			return SIGKILL;
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - begin.tv_sec > TRY_SECONDS)
			kill(pid, SIGKILL);
		nanosleep(&pause, NULL);
	}
}

/*
 * Whatever @job does to itself, hangs in or leaves behind, we go on, and it is gone afterwards. Returns 0, the signal
 * that ended it, or -errno.
 */
static int apart(void (*job)(struct doctor_facts *facts), struct doctor_facts *shared, int log)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		if (log >= 0)
			dup2(log, STDERR_FILENO);
		job(shared);
		_exit(0);
	}
	return wait_for(pid);
}

/* --- the main job ---------------------------------------------------------------------------------------- */

static void drain_nothing(void *ctx)
{
	(void)ctx;
}

/* What the variables of the SBT library ask for is no concern of the machine's. */
static int default_options(struct options *out)
{
	char name[] = "sbt-trace", option[] = "-p", value[] = "1";
	char *argv[] = { name, option, value, NULL };

	clearenv();
	optind = 1;
	return options_parse(3, argv, OPTIONS_HELP_GENERAL, out) == OPTIONS_GO ? 0 : -EINVAL;
}

static void watch_itself(struct doctor_facts *f, struct attach *attach)
{
	f->crossing_ns = attach_calibrate_quick(attach, drain_nothing, NULL).ns;
	f->trial = isnan(f->crossing_ns) ? DOCTOR_UNSEEN : 0;
	if (attach_accounts(attach))
		f->iterator = attach_account_found(attach);
}

/* The programs, as a trace has them, and a probe of theirs on ourselves. */
static void trial(struct doctor_facts *f)
{
	struct counting none = { 0 };
	struct attach_options ao;
	struct attach *attach;
	struct options o;
	int err;

	f->trial = -EINVAL;
	if (default_options(&o))
		return;
	file_limit_options(&o, &none, &ao);
	ao.verbose = 2; /* libbpf speaks */
	err = attach_new(&ao, &attach, f->trial_why, sizeof(f->trial_why));
	options_free(&o);
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

static bool has_rights(const struct doctor_facts *f)
{
	uint32_t i;

	for (i = 0; i < f->nrights && (f->rights[i].there || !f->rights[i].needed); i++)
		;
	return i == f->nrights;
}

static void try_main(struct doctor_facts *f)
{
	int log = make_log(), ended;
	char *text;

	/* A trace would refuse, too. */
	if (!has_rights(f))
		goto out;
	ended = apart(trial, f, log);
	if (ended) {
		f->trial = ended < 0 ? ended : -EINTR;
		f->trial_signal = ended > 0 ? ended : 0;
	}
	text = log >= 0 ? read_log(log) : NULL;
	if (text)
		doctor_read_log(text, f->trial_log, sizeof(f->trial_log));
	/* libbpf then does without, and what it ends with is another matter. */
	if (text && f->trial && strstr(text, strerror(EMFILE))) {
		f->trial = -EMFILE;
		snprintf(f->trial_log, sizeof(f->trial_log), "%s", strerror(EMFILE));
	}
	free(text);
out:
	if (log >= 0)
		close(log);
}

static void examine(struct doctor_facts *f)
{
	int log = make_log();

	doctor_begin(f);
	file_limit_raise_limits();
	apart(doctor_look, f, log);
	apart(doctor_try, f, log);
	apart(installed_libs_look, f, log);
	try_main(f);
	if (log >= 0)
		close(log);
}

/* --- the command -------------------------------------------------------------------------------------------- */

static unsigned width_of(FILE *out)
{
	struct winsize size;

	return !ioctl(fileno(out), TIOCGWINSZ, &size) ? size.ws_col : 0;
}

static int print(const struct doctor *d, FILE *out, const char *path, bool json)
{
	struct emit_options o = { .format = json ? EMIT_JSON : EMIT_TEXT };
	struct emit *emit;
	int err;

	o.colour = isatty(fileno(out)) && !getenv("NO_COLOR");
	o.width = width_of(out);
	emit = emit_new(out, &o);
	if (emit)
		emit_doctor(emit, d);
	err = emit ? emit_free(emit) : -ENOMEM;
	if (err)
		msg_error("cannot write %s: %s", path ? path : "to stdout", strerror(-err));
	return err;
}

static int diagnose(const char *path, bool json)
{
	struct doctor_facts *facts = mmap(NULL, sizeof(*facts), PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct doctor *doctor = malloc(sizeof(*doctor));
	FILE *out = path ? output_open(path) : stdout;
	int status = EXIT_FAILED;

	if (!out) {
		msg_error("cannot write %s: %s", path, strerror(errno));
		goto out;
	}
	if (facts == MAP_FAILED || !doctor) {
		msg_error("%s", strerror(ENOMEM));
		goto out;
	}
	examine(facts);
	doctor_diagnose(facts, doctor);
	if (!print(doctor, out, path, json) && doctor->verdict.state == DOCTOR_YES)
		status = 0;
out:
	if (path && out)
		fclose(out); /* emit has flushed it */
	free(doctor);
	if (facts != MAP_FAILED)
		munmap(facts, sizeof(*facts));
	return status;
}

static int show_help(void)
{
	if (fputs(help, stdout) < 0 || fflush(stdout)) {
		msg_error("cannot write to stdout: %s", strerror(errno));
		return EXIT_FAILED;
	}
	return 0;
}

int cmd_doctor(int argc, char **argv)
{
	const char *path = NULL;
	bool json = false;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":ho:", long_options, NULL)) != -1) {
		switch (c) {
		case 'h':
			return show_help();
		case 'o':
			path = optarg;
			break;
		case OPT_JSON:
			json = true;
			break;
		case ':':
			msg_error("doctor: option %s needs a value (see sbt-trace doctor --help)",
				  argv[optind - 1]);
			return EXIT_USAGE;
		default:
			msg_error("doctor: unknown option %s (see sbt-trace doctor --help)",
				  argv[optind - 1]);
			return EXIT_USAGE;
		}
	}
	if (optind < argc) {
		msg_error("doctor: %s: nothing is expected here (see sbt-trace doctor --help)",
			  argv[optind]);
		return EXIT_USAGE;
	}
	signal(SIGPIPE, SIG_IGN);
	return diagnose(path, json);
}
