// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "attach/probe_sites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PROBE_SITES_FIRST 64

static uint32_t probe_site_of(uint64_t offset)
{
	return offset & (SBT_PAGE_PROBE_SITES - 1);
}

void probe_sites_free(struct probe_sites *p)
{
	free(p->probes);
	memset(p, 0, sizeof(*p));
}

bool probe_sites_code_fits(uint64_t offset)
{
	return probe_site_of(offset) + SBT_BREAKPOINT_BYTES + SBT_CODE_BYTES <=
	       SBT_PAGE_PROBE_SITES;
}

static bool same_file(const struct probe_sites_probe *a, const struct probe_sites_probe *b)
{
	return a->dev == b->dev && a->ino == b->ino;
}

/* Would the breakpoint of @other be in the code by which @told is told? */
static bool disturbs(const struct probe_sites_probe *reported,
		     const struct probe_sites_probe *other)
{
	uint64_t end = reported->offset + SBT_BREAKPOINT_BYTES + SBT_CODE_BYTES;

	return same_file(reported, other) && other->offset > reported->offset &&
	       other->offset < end;
}

static bool is_disturbed(const struct probe_sites *p, const struct probe_sites_probe *reported)
{
	uint32_t i;

	for (i = 0; i < p->n; i++)
		if (disturbs(reported, &p->probes[i]))
			return true;
	return false;
}

const struct probe_sites_probe *probe_sites_next(const struct probe_sites *p, uint64_t offset,
						 uint32_t *at)
{
	while (*at < p->n) {
		const struct probe_sites_probe *probe = &p->probes[(*at)++];

		if (probe->number != PROBE_SITES_NONE &&
		    probe_site_of(probe->offset) == probe_site_of(offset))
			return probe;
	}
	return NULL;
}

/* Do all that are told by their code leave it as it is, this one's breakpoint too? */
static bool leaves_others(const struct probe_sites *p, const struct probe_sites_probe *probe)
{
	uint32_t i;

	for (i = 0; i < p->n; i++)
		if (p->probes[i].number != PROBE_SITES_NONE &&
		    p->shared[probe_site_of(p->probes[i].offset)] && disturbs(&p->probes[i], probe))
			return false;
	return true;
}

/* Can @probe be told from those at its place? *shared: by the code. */
static bool can_be_told(const struct probe_sites *p, const struct probe_sites_probe *probe,
			bool *shared)
{
	const struct probe_sites_probe *other;
	uint32_t at = 0;

	*shared = p->shared[probe_site_of(probe->offset)];
	while ((other = probe_sites_next(p, probe->offset, &at)))
		*shared |= other->number != probe->number;
	if (!*shared)
		return true;
	if (!probe->has_code || is_disturbed(p, probe))
		return false;
	for (at = 0; (other = probe_sites_next(p, probe->offset, &at));) {
		if (!other->has_code || is_disturbed(p, other))
			return false;
		if (other->code == probe->code && other->number != probe->number)
			return false;
	}
	return true;
}

/* Nobody asks of a second probe at one address what it is for. */
static bool is_kept(const struct probe_sites *p, const struct probe_sites_probe *probe)
{
	uint32_t i;

	for (i = 0; i < p->n; i++)
		if (same_file(&p->probes[i], probe) && p->probes[i].offset == probe->offset &&
		    (probe->number == PROBE_SITES_NONE || probe->number == p->probes[i].number))
			return true;
	return false;
}

static int keep(struct probe_sites *p, const struct probe_sites_probe *probe)
{
	if (p->n == p->max) {
		uint32_t max = p->max ? p->max * 2 : PROBE_SITES_FIRST;
		struct probe_sites_probe *more = realloc(p->probes, max * sizeof(*more));

		if (!more)
			return -ENOMEM;
		p->probes = more;
		p->max = max;
	}
	p->probes[p->n++] = *probe;
	return 0;
}

int probe_sites_add(struct probe_sites *p, const struct probe_sites_probe *probe, bool *shared)
{
	int err;

	*shared = false;
	if (is_kept(p, probe))
		return 0;
	if (!leaves_others(p, probe))
		return -EADDRINUSE;
	if (probe->number != PROBE_SITES_NONE && !can_be_told(p, probe, shared))
		return -EADDRINUSE;
	err = keep(p, probe);
	if (!err && *shared)
		p->shared[probe_site_of(probe->offset)] = true;
	return err;
}
