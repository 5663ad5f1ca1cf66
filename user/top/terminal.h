/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The terminal: capabilities, keys, redraw by ncurses; what is drawn is top/screen.h's. One at a time. */
#ifndef TOP_TERMINAL_H
#define TOP_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

#include "top/screen.h"

/* Beyond screen_key: the size has changed. */
#define TERMINAL_RESIZED 0x120000

/*
 * Opens the terminal that @out is once more, to be written to without waiting; where that is not permitted, it is @out
 * itself, and little is written at once. Returns a descriptor or -1.
 */
int terminal_descriptor(int out);
/* Can the terminal of this name (NULL: of $TERM) be drawn on? */
bool terminal_can(int out, const char *name);
/*
 * Takes over the terminal that @in and @out (of terminal_descriptor()) are: another screen if it has one, no echo. Both stay the caller's. A crash
 * from here on gives it back first. Returns 0 or -errno.
 */
int terminal_open(int in, int out, bool colour);
/* Gives it back as it was. May be called at any time, and several times. */
void terminal_close(void);
/* The same, from a signal's handler, by a process that is about to end. */
void terminal_rescue(void);
/* What was typed: a character, enum screen_key, TERMINAL_RESIZED; 0: nothing more. */
uint32_t terminal_key(void);
void terminal_size(unsigned *width, unsigned *height);
/* Draws @lines, or drops them where the terminal has not yet taken what was drawn before: it never waits. */
void terminal_show(const struct screen_lines *lines);
/* Passes on what has not been taken yet. Returns whether the terminal is ready and a dropped frame is to be drawn. */
bool terminal_flush(void);

#endif /* TOP_TERMINAL_H */
