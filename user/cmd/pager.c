// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/launch.h"

#define DEFAULT_PAGER "less"
/* End at once if the text fits, show colour, and leave the text on the screen. */
#define LESS_OPTIONS  "FRX"

/* The running pager, for on_signal(). 0 and -1: none. */
static volatile sig_atomic_t pager_pid;
static volatile sig_atomic_t pager_fd = -1;
static sighandler_t on_pipe; /* what SIGPIPE did before */

/*
 * Return whether the shell will find the program of the command. Otherwise the output would be lost
 * with the pager. A command that begins with a special character is left to the shell.
 */
static bool is_there(const char *command)
{
	char name[PATH_MAX], file[PATH_MAX];
	size_t n;

	command += strspn(command, " \t");
	n = strcspn(command, " \t");
	return strcspn(command, "\"'$`\\=;&|<>(){}[]*?~#!") < n ||
	       (n && snprintf(name, sizeof(name), "%.*s", (int)n, command) < (int)sizeof(name) &&
		!launch_find_program(name, file));
}

/* Return the command of the pager, or NULL if the user wants none. */
static const char *command_of(void)
{
	const char *term = getenv("TERM"), *command = getenv("SBT_PAGER");

	if (!isatty(STDOUT_FILENO) || !term || !*term || !strcmp(term, "dumb"))
		return NULL;
	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = DEFAULT_PAGER;
	return !*command || !strcmp(command, "cat") || !is_there(command) ? NULL : command;
}

/*
 * sbt-trace ends, but the pager must not be left behind with the terminal: two programs would then
 * read from it. The pager sees the end of its input and waits for the user.
 */
static void on_signal(int number)
{
	if (pager_fd >= 0)
		close(pager_fd);
	while (pager_pid && waitpid(pager_pid, NULL, 0) < 0 && errno == EINTR)
		;
	signal(number, SIG_DFL);
	raise(number);
}

static void take_signals(void (*handler)(int number))
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_handler = handler };
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &action, NULL);
}

/*
 * In the child: run the pager. The variables are the user's, but sbt-trace often has privileges
 * that this user does not have. The pager must not become a shell with these privileges: it runs as
 * the user, cannot regain privileges, and less offers no shell and no editor.
 */
static void __attribute__((noreturn))
run_pager(const char *command, const struct launch_user *user, int input)
{
	char shell[] = "/bin/sh", option[] = "-c", *line = strdup(command);
	char *const argv[] = { shell, option, line, NULL };

	if (!line)
		_exit(126);

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	/* Give up the rights of a file that is set-user-ID or set-group-ID. */
	if (!user->change &&
	    (setresgid(getgid(), getgid(), getgid()) || setresuid(getuid(), getuid(), getuid())))
		_exit(126);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || dup2(input, STDIN_FILENO) < 0 ||
	    setenv("LESS", LESS_OPTIONS, 0) || setenv("LV", "-c", 0) ||
	    setenv("LESSSECURE", "1", 1))
		_exit(126);
	launch_here(argv, user);
	_exit(127);
}

/*
 * If the user has left the pager before the end of the output, nothing failed: the rest goes
 * nowhere, so that files are still written, and the exit status is that of the command.
 */
static ssize_t write_pager(void *cookie, const char *text, size_t size)
{
	size_t n = 0;

	(void)cookie;
	while (n < size) {
		ssize_t done = write(pager_fd, text + n, size - n);

		if (done > 0)
			n += (size_t)done;
		else if (done < 0 && errno == EPIPE)
			return (ssize_t)size;
		else if (done < 0 && errno != EINTR)
			return 0;
	}
	return (ssize_t)size;
}

FILE *pager_start(void)
{
	const char *command = command_of();
	struct launch_user user;
	int fds[2];
	FILE *out;
	pid_t pid;

	/* Without the user that called sudo, the pager would be root's. */
	if (!command || launch_find_user(NULL, &user) || pipe2(fds, O_CLOEXEC))
		return NULL;
	out = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = write_pager });
	if (!out) {
		close(fds[0]);
		close(fds[1]);
		return NULL;
	}
	fflush(NULL);
	pid = fork();
	if (!pid) {
		take_signals(SIG_DFL);
		signal(SIGPIPE, SIG_DFL);
		run_pager(command, &user, fds[0]);
	}
	close(fds[0]);
	if (pid < 0) {
		fclose(out);
		close(fds[1]);
		return NULL;
	}
	pager_fd = fds[1];
	pager_pid = pid;
	take_signals(on_signal);
	on_pipe = signal(SIGPIPE, SIG_IGN);
	return out;
}

int pager_end(FILE *out)
{
	int fd = pager_fd, status = 0;

	fclose(out);
	pager_fd = -1;
	close(fd);
	/* Keys like ^C are for the pager. */
	take_signals(SIG_IGN);
	while (waitpid(pager_pid, &status, 0) < 0 && errno == EINTR)
		;
	pager_pid = 0;
	take_signals(SIG_DFL);
	signal(SIGPIPE, on_pipe);
	/* These are also the shell's, if it cannot run the command. */
	return WIFEXITED(status) && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127)
		       ? -ENOEXEC
		       : 0;
}
