// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "trace", cmd_trace },	    { "hang", cmd_hang }, { "list", cmd_list },
	{ "doctor", cmd_doctor },   { "top", cmd_top },	  { "record", cmd_record },
	{ "report", cmd_report },   { "diff", cmd_diff }, { "series", cmd_series },
	{ "predict", cmd_predict },
};

/*
 * Open what is closed of standard input, output and error: other files must not take their place.
 */
static void fill_standard_files(void)
{
	int fd = open("/dev/null", O_RDWR);

	while (fd >= 0 && fd <= STDERR_FILENO)
		fd = dup(fd);
	if (fd > STDERR_FILENO)
		close(fd);
}

/* Run the command of the first word, each in its own file; trace if it is no command. */
int main(int argc, char **argv)
{
	size_t i;

	fill_standard_files();
	for (i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[1], commands[i].name) != 0)
			continue;
		argv[1] = argv[0];
		return commands[i].run(argc - 1, argv + 1);
	}
	return cmd_bare(argc, argv);
}
