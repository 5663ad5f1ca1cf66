/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * While the terminal shows a full-screen display, redirect the output of sbt-trace and COMMAND to a
 * pipe. Print this output on the terminal after the display has ended.
 */
#ifndef CAPTURE_TTY_CAPTURE_H
#define CAPTURE_TTY_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TTY_CAPTURE_BYTES 65536 /* maximum number of bytes that are kept; older bytes are dropped */

struct tty_capture {
	bool begun;
	bool command; /* COMMAND also writes to the terminal */
	int saved[3]; /* original stdin, stdout, stderr; -1: not redirected */
	int pipe;
	pid_t relay;
	char *kept;
	size_t len;
	size_t dropped; /* number of older bytes that were dropped */
	/* last complete line of sbt-trace's own output, if not read yet; "": none */
	char line[160];
};

/*
 * Redirect stdout and stderr if they are the terminal. @command: also redirect stdin from
 * /dev/null, because sbt-trace reads the keys. Return 0 or -errno, in which case nothing has
 * changed.
 */
int tty_capture_begin(struct tty_capture *tty_capture, bool command);
/* Read the output that was written since the last call. */
void tty_capture_read(struct tty_capture *tty_capture);
/*
 * Restore the descriptors and print what was kept. If COMMAND still runs, a relay process forwards
 * its output.
 */
void tty_capture_end(struct tty_capture *tty_capture);
/* Wait a moment for the relay process after COMMAND has ended. */
void tty_capture_wait(struct tty_capture *tty_capture);

#endif /* CAPTURE_TTY_CAPTURE_H */
