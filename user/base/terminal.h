/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Facts about the terminal to which output goes. */
#ifndef BASE_TERMINAL_H
#define BASE_TERMINAL_H

#include <stdbool.h>

/*
 * Return the width of the terminal @fd in columns: COLUMNS if the variable is a number, otherwise
 * the size that the terminal has. Return 0 if @fd is not a terminal, or if the size is unknown.
 */
unsigned terminal_width(int fd);
/* Return whether output to @fd may have colour: @fd is a terminal, and NO_COLOR is not set. */
bool terminal_colour(int fd);

#endif /* BASE_TERMINAL_H */
