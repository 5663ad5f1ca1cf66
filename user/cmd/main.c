// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <string.h>

#include "cmd/cmd.h"

/* Only chooses: one file a command. Without a word for one, it is trace. */
int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "trace")) {
		argv[1] = argv[0];
		return cmd_trace(argc - 1, argv + 1);
	}
	return cmd_trace(argc, argv);
}
