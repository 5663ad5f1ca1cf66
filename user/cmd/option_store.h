/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Check the values of options, and store them in struct command_line. */
#ifndef CMD_OPTION_STORE_H
#define CMD_OPTION_STORE_H

struct command_line;
struct option_row;
struct options;

/*
 * Each function stores the value of one option. Return 0, -ENOMEM, or -EINVAL. If the row has no
 * .expected, a message was printed for -EINVAL.
 */
int option_take_pids(struct command_line *line, const struct option_row *row, char *value);
int option_take_all(struct command_line *line, const struct option_row *row, char *value);
int option_take_discover(struct command_line *line, const struct option_row *row, char *value);
int option_take_barrier(struct command_line *line, const struct option_row *row, char *value);
int option_take_watch(struct command_line *line, const struct option_row *row, char *value);
int option_take_name(struct command_line *line, const struct option_row *row, char *value);
int option_take_phase(struct command_line *line, const struct option_row *row, char *value);
int option_take_events(struct command_line *line, const struct option_row *row, char *value);
int option_take_format(struct command_line *line, const struct option_row *row, char *value);
int option_take_attach(struct command_line *line, const struct option_row *row, char *value);
int option_take_ring_size(struct command_line *line, const struct option_row *row, char *value);
int option_take_quantities(struct command_line *line, const struct option_row *row, char *value);
int option_take_label(struct command_line *line, const struct option_row *row, char *value);

/*
 * Store @value as the kind of @row requires. @given: the option as the user wrote it, for messages.
 * Return 0, -ENOMEM, or -EINVAL after a message.
 */
int option_store(struct command_line *line, const struct option_row *row, const char *given,
		 char *value);

/* Add a file with the current label. Return 0 or -ENOMEM. */
int option_add_file(struct command_line *line, char *file);
/* Add a barrier to watch. Return 0 or -ENOMEM. */
int options_add_watch(struct options *options, const char *barrier);

#endif /* CMD_OPTION_STORE_H */
