// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Parse libbpf's log of a program that was refused. */
#include <stdio.h>
#include <string.h>

#include "doctor/doctor.h"

/* Copy the line that ends at @end, without libbpf's prefix. Return the beginning of the line. */
static const char *line_before(const char *log, const char *end, char *out, size_t len)
{
	const char *begin = end;

	while (begin > log && begin[-1] != '\n')
		begin--;
	if (!strncmp(begin, "libbpf: ", 8))
		begin += 8;
	snprintf(out, len, "%.*s", (int)(end - begin), begin);
	while (begin > log && begin[-1] != '\n')
		begin--;
	return begin;
}

/* Return true if the line does not name a cause. */
static bool is_summary(const char *line)
{
	return !*line || !strncmp(line, "failed to load ", 15) ||
	       strstr(line, "': failed to load") || !strncmp(line, "processed ", 10) ||
	       !strncmp(line, "-- ", 3) || strstr(line, "-- END PROG LOAD LOG") ||
	       !strncmp(line, "verification time", 17) || !strncmp(line, "stack depth", 11);
}

/*
 * Write the name of the program to which the log before @at belongs. It is in the line "prog 'x':
 * BPF program load failed".
 */
static void program_of_log(const char *log, const char *at, char *out, size_t len)
{
	char line[256], *end;
	const char *p = at;

	*out = '\0';
	while (p > log) {
		p = line_before(log, p > log ? p - 1 : p, line, sizeof(line));
		if (!strncmp(line, "prog '", 6) && strstr(line, "load failed")) {
			end = strchr(line + 6, '\'');
			if (end)
				snprintf(out, len, "%.*s", (int)(end - line - 6), line + 6);
			return;
		}
	}
}

void doctor_read_log(const char *log, char *out, size_t len)
{
	const char *p = log + strlen(log);
	char line[200] = "", program[64];
	bool verifier = false;

	*out = '\0';
	while (p > log) {
		const char *end = p[-1] == '\n' ? p - 1 : p;

		p = line_before(log, end, line, sizeof(line));
		if (strstr(line, "-- END PROG LOAD LOG"))
			verifier = true;
		else if (strstr(line, "-- BEGIN PROG LOAD LOG"))
			verifier = false; /* the verifier's log is empty */
		else if (!is_summary(line))
			break;
		*line = '\0';
	}
	if (p <= log && !*line)
		return;
	if (verifier)
		program_of_log(log, p, program, sizeof(program));
	if (verifier)
		snprintf(out, len, "the kernel's verifier refuses %s: %s",
			 *program ? program : "a program", line);
	else
		snprintf(out, len, "%s", line);
}
