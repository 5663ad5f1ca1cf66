/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
#ifndef CMD_TRACE_H
#define CMD_TRACE_H

struct capture_hook;
struct options;

/*
 * Trace as @options say. If COMMAND takes the variables of the SBT library among its words, read
 * them there, too. @hook (may be NULL) has the functions with which another command, such as top,
 * shows the results. Return the exit status.
 */
int trace_run(struct options *options, const struct capture_hook *hook);

#endif /* CMD_TRACE_H */
