// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "capture/tty_capture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS	   1000
#define PIPE_BYTES 1048576

static void put_back(struct tty_capture *a)
{
	int fd;

	fflush(NULL);
	for (fd = 0; fd < 3; fd++) {
		if (a->saved[fd] < 0)
			continue;
		dup2(a->saved[fd], fd);
		close(a->saved[fd]);
		a->saved[fd] = -1;
	}
}

/* Redirect @fd to @to, and keep the original descriptor. */
static int redirect(struct tty_capture *a, int fd, int to)
{
	a->saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return a->saved[fd] < 0 || dup2(to, fd) < 0 ? -errno : 0;
}

int tty_capture_begin(struct tty_capture *a, bool command)
{
	int ends[2], null, fd, err = 0;

	memset(a, 0, sizeof(*a));
	a->saved[0] = a->saved[1] = a->saved[2] = a->pipe = -1;
	a->command = command;
	a->kept = malloc(TTY_CAPTURE_BYTES);
	if (!a->kept)
		return -ENOMEM;
	if (pipe2(ends, O_CLOEXEC)) {
		err = -errno;
		free(a->kept);
		return err;
	}
	fflush(NULL);
	/*
	 * sbt-trace itself reads the pipe. If it is also the only writer, a full pipe would block
	 * it forever, so then drop output.
	 */
	fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES);
	if (!command)
		fcntl(ends[1], F_SETFL, O_NONBLOCK);
	for (fd = 1; fd < 3 && !err; fd++)
		if (isatty(fd))
			err = redirect(a, fd, ends[1]);
	if (!err && command && isatty(0)) {
		null = open("/dev/null", O_RDONLY | O_CLOEXEC);
		err = null < 0 ? -errno : redirect(a, 0, null);
		if (null >= 0)
			close(null);
	}
	close(ends[1]);
	if (!err && fcntl(ends[0], F_SETFL, O_NONBLOCK))
		err = -errno;
	if (err) {
		put_back(a);
		close(ends[0]);
		free(a->kept);
		return err;
	}
	a->pipe = ends[0];
	a->begun = true;
	return 0;
}

static void keep(struct tty_capture *a, const char *s, size_t n)
{
	size_t over;

	if (n > TTY_CAPTURE_BYTES) {
		a->dropped += n - TTY_CAPTURE_BYTES;
		s += n - TTY_CAPTURE_BYTES;
		n = TTY_CAPTURE_BYTES;
	}
	if (a->len + n > TTY_CAPTURE_BYTES) {
		over = a->len + n - TTY_CAPTURE_BYTES;
		memmove(a->kept, a->kept + over, a->len - over);
		a->len -= over;
		a->dropped += over;
	}
	memcpy(a->kept + a->len, s, n);
	a->len += n;
}

/* Note the last line of the output, unless it may be COMMAND's. */
static void note_line(struct tty_capture *a)
{
	size_t end = a->len, from;

	if (a->command)
		return;
	while (end && a->kept[end - 1] != '\n')
		end--;
	if (!end)
		return;
	for (from = end - 1; from && a->kept[from - 1] != '\n'; from--)
		;
	snprintf(a->line, sizeof(a->line), "%.*s", (int)(end - 1 - from), a->kept + from);
}

void tty_capture_read(struct tty_capture *a)
{
	char bytes[4096];
	ssize_t n;
	bool any = false;

	while (a->begun && (n = read(a->pipe, bytes, sizeof(bytes))) > 0) {
		keep(a, bytes, (size_t)n);
		any = true;
	}
	if (any)
		note_line(a);
}

static void write_all(int fd, const char *s, size_t n)
{
	ssize_t done;

	while (n) {
		done = write(fd, s, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return;
		s += done;
		n -= (size_t)done;
	}
}

/* Copy output until the last writer closes the pipe. Signals that interrupt COMMAND are ignored. */
static void __attribute__((noreturn)) relay(int from, int to)
{
	char bytes[4096];
	ssize_t n;

	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	/* Any other open descriptor would keep probes attached. */
	if (dup2(to, 1) < 0 || dup2(from, 0) < 0)
		_exit(1);
	syscall(SYS_close_range, 2u, ~0u, 0u);
	fcntl(0, F_SETFL, 0);
	while ((n = read(0, bytes, sizeof(bytes))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			write_all(1, bytes, (size_t)n);
	_exit(0);
}

void tty_capture_end(struct tty_capture *a)
{
	int to;

	if (!a->begun)
		return;
	fflush(NULL);
	tty_capture_read(a);
	to = a->saved[2] >= 0 ? 2 : 1;
	put_back(a);
	if (a->dropped)
		dprintf(to, "sbt-trace: %zu bytes of output were dropped here\n", a->dropped);
	write_all(to, a->kept, a->len);
	if (a->command) {
		a->relay = fork();
		if (!a->relay)
			relay(a->pipe, to);
	}
	close(a->pipe);
	free(a->kept);
	a->begun = false;
}

void tty_capture_wait(struct tty_capture *a)
{
	int i;

	for (i = 0; a->relay > 0 && i < WAIT_MS / 5; i++) {
		if (waitpid(a->relay, NULL, WNOHANG) != 0)
			return;
		usleep(5000);
	}
}
