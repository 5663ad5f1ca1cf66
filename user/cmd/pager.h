/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Show output in a pager, as git does. */
#ifndef CMD_PAGER_H
#define CMD_PAGER_H

#include <stdio.h>

/*
 * Start the user's pager (SBT_PAGER, PAGER, or less) for standard output. Return the stream to
 * write to, or NULL if there is none: standard output is no terminal, the terminal is dumb, the
 * variable is empty or "cat", or the pager cannot be started. The pager runs as the user that
 * called sudo, without privileges. Only one pager can run at a time.
 */
FILE *pager_start(void);
/*
 * Close @out, which pager_start() returned, and wait until the user leaves the pager. Return 0, or
 * -ENOEXEC if the pager could not be run.
 */
int pager_end(FILE *out);

#endif /* CMD_PAGER_H */
