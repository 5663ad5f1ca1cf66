/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Several reports of the same program, or of versions of it: which process and which site of one is which of the
 * others. Pure.
 */
#ifndef ANALYSE_EPISODE_MATCH_H
#define ANALYSE_EPISODE_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/report.h"

#define EPISODE_MATCH_NONE UINT32_MAX

/* What a site was known by again; where it took several, the weakest. */
enum episode_match_how {
	EPISODE_MATCH_ID, /* the same id everywhere */
	EPISODE_MATCH_NAME, /* the name that the program or the user gave it */
	EPISODE_MATCH_PLACE, /* function, file without its directories, and line: another module, or a moved tree */
	EPISODE_MATCH_FUNCTION, /* the function, and its place among the sites in it: its lines moved */
	EPISODE_MATCH_NOTHING, /* it was not known again, or is no site */
};

/*
 * Processes of one name are told apart by rank where they have one, else by the order in which they began. Where no
 * name is known again and both have as many processes (two versions of a program), it is their order alone.
 */
struct episode_match_process {
	const char *comm; /* in the first report that has it */
	bool by_order; /* its names differ */
	const struct report_process **in; /* by report; NULL: it is not there */
};

struct episode_match_site {
	uint32_t process; /* EPISODE_MATCH_NONE: it is of none that is known */
	enum episode_match_how how;
	const struct report_barrier **in; /* by report; NULL: it is not there */
	const struct report_barrier
		*last; /* in the last report that has it: what the next is matched with */
};

/* Known again by the first of its processes. */
struct episode_match_group {
	uint32_t process;
	const struct report_group **in;
};

struct episode_match {
	uint32_t nreports;
	uint32_t nprocesses, nsites, ngroups;
	struct episode_match_process *processes; /* as the reports have them, in turn */
	struct episode_match_site *sites;
	struct episode_match_group *groups;
	void *arena; /* owns all of it; the reports must outlive it */
};

/* Returns 0 and fills *out (to be released by episode_match_free()), or -ENOMEM. */
int episode_match_reports(const struct report *const *reports, uint32_t n,
			  struct episode_match *out);
void episode_match_free(struct episode_match *m);

#endif /* ANALYSE_EPISODE_MATCH_H */
