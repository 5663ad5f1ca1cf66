/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
#ifndef CMD_CMD_H
#define CMD_CMD_H

/* Run a command. Its arguments begin at argv[1]. Return the exit status. */
int cmd_trace(int argc, char **argv);
int cmd_bare(int argc, char **argv); /* trace, if no command is named */
int cmd_list(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_hang(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_predict(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_series(int argc, char **argv);
int cmd_help(int argc, char **argv);

#endif /* CMD_CMD_H */
