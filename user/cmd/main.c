// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <fcntl.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/command_text.h"

static int (*const commands[COMMANDS])(int argc, char **argv) = {
	[COMMAND_TRACE] = cmd_trace,	 [COMMAND_RECORD] = cmd_record,
	[COMMAND_REPORT] = cmd_report,	 [COMMAND_LIST] = cmd_list,
	[COMMAND_HANG] = cmd_hang,	 [COMMAND_TOP] = cmd_top,
	[COMMAND_PREDICT] = cmd_predict, [COMMAND_DIFF] = cmd_diff,
	[COMMAND_SERIES] = cmd_series,	 [COMMAND_DOCTOR] = cmd_doctor,
	[COMMAND_HELP] = cmd_help,
};

/*
 * Open /dev/null for each standard descriptor that is closed, so that no other file gets its
 * number.
 */
static void fill_standard_files(void)
{
	int fd = open("/dev/null", O_RDWR);

	while (fd >= 0 && fd <= STDERR_FILENO)
		fd = dup(fd);
	if (fd > STDERR_FILENO)
		close(fd);
}

/* Run the command that the first word names, or trace if it names no command. */
int main(int argc, char **argv)
{
	enum command command = argc > 1 ? command_named(argv[1]) : COMMANDS;

	fill_standard_files();
	if (command == COMMANDS)
		return cmd_bare(argc, argv);
	argv[1] = argv[0];
	return commands[command](argc - 1, argv + 1);
}
