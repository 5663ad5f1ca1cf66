/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The terminal: capabilities, keys, and drawing by ncurses. top/screen.h defines what is drawn.
 * There is only one terminal at a time.
 */
#ifndef TOP_TERMINAL_H
#define TOP_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

#include "top/screen.h"

/* A key that is not in enum screen_key: draw again, for example because the size has changed. */
#define TERMINAL_RESIZED 0x120000

/*
 * Open the terminal of @out again for non-blocking writes. If this is not permitted, duplicate
 * @out; output is then written in small pieces. Return a descriptor or -1.
 */
int terminal_descriptor(int out);
/* Return whether the terminal with this name (NULL: $TERM) can be drawn on. */
bool terminal_can(int out, const char *name);
/*
 * Take over the terminal @in and @out (from terminal_descriptor()): switch to its alternate screen
 * if it has one, and turn off echo. The caller keeps both descriptors. After this call, a crash
 * restores the terminal first. Return 0 or -errno.
 */
int terminal_open(int in, int out, bool colour);
/* Restore the terminal. May be called at any time, and several times. */
void terminal_close(void);
/* Restore the terminal from a signal handler, in a process that is about to end. */
void terminal_rescue(void);
/* Return the next key: a character, enum screen_key, or TERMINAL_RESIZED; 0: none. */
uint32_t terminal_key(void);
void terminal_size(unsigned *width, unsigned *height);
/*
 * Draw @lines, or drop them if the terminal has not yet taken the previous frame. This never waits.
 */
void terminal_show(const struct screen_lines *lines);
/*
 * Write what the terminal has not taken yet. Return whether the terminal is ready and a dropped
 * frame must be drawn.
 */
bool terminal_flush(void);

#endif /* TOP_TERMINAL_H */
