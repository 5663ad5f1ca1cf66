/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
#ifndef CMD_CMD_H
#define CMD_CMD_H

/* Each takes its own words as argv[1...] and returns the exit status. */
int cmd_trace(int argc, char **argv);

#endif /* CMD_CMD_H */
