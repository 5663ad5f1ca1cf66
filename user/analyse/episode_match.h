/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Match the processes and sites of several reports. The reports are about one program, or about
 * versions of it. This code does no I/O.
 */
#ifndef ANALYSE_EPISODE_MATCH_H
#define ANALYSE_EPISODE_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/report.h"

#define EPISODE_MATCH_NONE UINT32_MAX

/* How a site was matched. If reports were matched in different ways, the weakest way counts. */
enum episode_match_how {
	EPISODE_MATCH_ID, /* all reports have the same id */
	EPISODE_MATCH_NAME, /* same name, which the program or the user gave the barrier */
	/*
	 * same function, file name without directories, and line; the module differs, or the source
	 * tree was moved
	 */
	EPISODE_MATCH_PLACE,
	/* same function, and same position among the function's sites; line numbers have changed */
	EPISODE_MATCH_FUNCTION,
	EPISODE_MATCH_NOTHING, /* not matched, or not a site */
};

/*
 * Processes with the same name are matched by rank if they have ranks, and otherwise by the order
 * in which they began. If no name matches and both reports have the same number of processes (two
 * versions of a program), only the order counts.
 */
struct episode_match_process {
	const char *comm; /* name in the first report that has the process */
	bool by_order; /* matched by order only, because the names differ */
	/* indexed by report; NULL if the report lacks the process */
	const struct report_process **in;
};

struct episode_match_site {
	uint32_t process; /* EPISODE_MATCH_NONE if it belongs to no known process */
	enum episode_match_how how;
	const struct report_barrier **in; /* indexed by report; NULL if the report lacks the site */
	/*
	 * The site in the latest report that has the site. Sites of the next report are matched
	 * with this one.
	 */
	const struct report_barrier *last;
};

/* A group is matched by its first process. */
struct episode_match_group {
	uint32_t process;
	const struct report_group **in;
};

struct episode_match {
	uint32_t nreports;
	uint32_t nprocesses, nsites, ngroups;
	/* in the order in which the reports first list them */
	struct episode_match_process *processes;
	struct episode_match_site *sites;
	struct episode_match_group *groups;
	void *arena; /* owns all memory; the reports must outlive it */
};

/* Return 0 and *out (free it with episode_match_free()), or -ENOMEM. */
int episode_match_reports(const struct report *const *reports, uint32_t n,
			  struct episode_match *out);
void episode_match_free(struct episode_match *m);

#endif /* ANALYSE_EPISODE_MATCH_H */
