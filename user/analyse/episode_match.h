/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Match the processes and sites of several reports of a program, or of versions of it. Pure. */
#ifndef ANALYSE_EPISODE_MATCH_H
#define ANALYSE_EPISODE_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/report.h"

#define EPISODE_MATCH_NONE UINT32_MAX

/* How a site was matched; the weakest of several matches. */
enum episode_match_how {
	EPISODE_MATCH_ID, /* the same id everywhere */
	EPISODE_MATCH_NAME, /* the name that the program or the user gave it */
	/* Function, file without directories, and line: another module, or a moved tree */
	EPISODE_MATCH_PLACE,
	EPISODE_MATCH_FUNCTION, /* the function, and its rank among the sites there: moved lines */
	EPISODE_MATCH_NOTHING, /* not matched, or not a site */
};

/*
 * Processes of one name are matched by rank if they have one, else by the order in which they
 * began. If no name matches and both reports have the same number of processes (two versions of a
 * program), only the order counts.
 */
struct episode_match_process {
	const char *comm; /* in the first report that has it */
	bool by_order; /* its names differ */
	const struct report_process **in; /* by report; NULL: not in it */
};

struct episode_match_site {
	uint32_t process; /* EPISODE_MATCH_NONE: of no known process */
	enum episode_match_how how;
	const struct report_barrier **in; /* by report; NULL: not in it */
	/* In the last report so far: the next is matched with it */
	const struct report_barrier *last;
};

/* Matched by the first of its processes. */
struct episode_match_group {
	uint32_t process;
	const struct report_group **in;
};

struct episode_match {
	uint32_t nreports;
	uint32_t nprocesses, nsites, ngroups;
	struct episode_match_process *processes; /* in the order of the reports */
	struct episode_match_site *sites;
	struct episode_match_group *groups;
	void *arena; /* owns everything; the reports must outlive it */
};

/* Return 0 and *out (release with episode_match_free()), or -ENOMEM. */
int episode_match_reports(const struct report *const *reports, uint32_t n,
			  struct episode_match *out);
void episode_match_free(struct episode_match *m);

#endif /* ANALYSE_EPISODE_MATCH_H */
