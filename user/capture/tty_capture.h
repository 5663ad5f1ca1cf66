/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * While a picture is on the terminal, nobody else may write there: what we say, and what COMMAND prints, goes to a pipe,
 * and to the terminal when the picture has gone.
 */
#ifndef CAPTURE_TTY_CAPTURE_H
#define CAPTURE_TTY_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TTY_CAPTURE_BYTES 65536 /* the last of it that are kept */

struct tty_capture {
	bool begun;
	bool command; /* COMMAND writes there, too */
	int saved[3]; /* stdin, stdout, stderr as they were; -1: untouched */
	int pipe;
	pid_t relay;
	char *kept;
	size_t len;
	size_t dropped; /* bytes before them */
	char line[160]; /* our own last complete line, as yet unread; "" none */
};

/*
 * Those of stdout and stderr that are a terminal go aside. @command: stdin, too, is then nothing to read, for keys are
 * ours. Returns 0 or -errno: then nothing has changed.
 */
int tty_capture_begin(struct tty_capture *tty_capture, bool command);
/* Takes in what has been written. */
void tty_capture_read(struct tty_capture *tty_capture);
/*
 * All is as it was, and what was kept is printed. With a COMMAND that is still running a process of ours goes on passing
 * on what it prints.
 */
void tty_capture_end(struct tty_capture *tty_capture);
/* Waits a moment for that process, when COMMAND has ended. */
void tty_capture_wait(struct tty_capture *tty_capture);

#endif /* CAPTURE_TTY_CAPTURE_H */
