// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/command_text.h"

static int (*const commands[COMMANDS])(int argc, char **argv) = {
	[COMMAND_TRACE] = cmd_trace,	 [COMMAND_RECORD] = cmd_record,
	[COMMAND_REPORT] = cmd_report,	 [COMMAND_LIST] = cmd_list,
	[COMMAND_HANG] = cmd_hang,	 [COMMAND_TOP] = cmd_top,
	[COMMAND_PREDICT] = cmd_predict, [COMMAND_DIFF] = cmd_diff,
	[COMMAND_SERIES] = cmd_series,	 [COMMAND_DOCTOR] = cmd_doctor,
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
	size_t i;

	fill_standard_files();
	for (i = 0; argc > 1 && i < COMMANDS; i++) {
		if (strcmp(argv[1], command_texts[i].name) != 0)
			continue;
		argv[1] = argv[0];
		return commands[i](argc - 1, argv + 1);
	}
	return cmd_bare(argc, argv);
}
