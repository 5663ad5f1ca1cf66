/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
#ifndef CMD_TRACE_H
#define CMD_TRACE_H

struct capture_hook;

/* As cmd_trace(), for a command that takes its options and shows the results itself by @hook. */
int trace_run(int argc, char **argv, const struct capture_hook *hook);

#endif /* CMD_TRACE_H */
