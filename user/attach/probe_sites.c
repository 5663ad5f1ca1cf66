// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "attach/probe_sites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/grow.h"

static uint32_t page_offset(uint64_t offset)
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
	return page_offset(offset) + SBT_BREAKPOINT_BYTES + SBT_CODE_BYTES <= SBT_PAGE_PROBE_SITES;
}

static bool same_file(const struct probe_sites_probe *a, const struct probe_sites_probe *b)
{
	return a->dev == b->dev && a->ino == b->ino;
}

/* Return whether the breakpoint of @other changes the code that identifies @known. */
static bool disturbs(const struct probe_sites_probe *known, const struct probe_sites_probe *other)
{
	uint64_t end = known->offset + SBT_BREAKPOINT_BYTES + SBT_CODE_BYTES;

	return same_file(known, other) && other->offset > known->offset && other->offset < end;
}

static bool is_disturbed(const struct probe_sites *p, const struct probe_sites_probe *known)
{
	array_for_each (probe, p->probes, p->n)
		if (disturbs(known, probe))
			return true;
	return false;
}

const struct probe_sites_probe *probe_sites_next(const struct probe_sites *p, uint64_t offset,
						 uint32_t *at)
{
	while (*at < p->n) {
		const struct probe_sites_probe *probe = &p->probes[(*at)++];

		if (probe->number != PROBE_SITES_NONE &&
		    page_offset(probe->offset) == page_offset(offset))
			return probe;
	}
	return NULL;
}

/*
 * Return whether the breakpoint of @probe leaves the code that identifies other probes unchanged.
 */
static bool leaves_others(const struct probe_sites *p, const struct probe_sites_probe *probe)
{
	uint32_t i;

	for (i = 0; i < p->n; i++)
		if (p->probes[i].number != PROBE_SITES_NONE &&
		    p->shared[page_offset(p->probes[i].offset)] && disturbs(&p->probes[i], probe))
			return false;
	return true;
}

/*
 * Return whether @probe can be distinguished from all other probes at its page offset. Set *@shared
 * if only the code distinguishes it.
 */
static bool can_distinguish(const struct probe_sites *p, const struct probe_sites_probe *probe,
			    bool *shared)
{
	const struct probe_sites_probe *other;
	uint32_t at = 0;

	*shared = p->shared[page_offset(probe->offset)];
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

/*
 * Return whether the probe is recorded already. If its program needs no number, any recorded probe
 * at its address counts as the same.
 */
static bool is_kept(const struct probe_sites *p, const struct probe_sites_probe *probe)
{
	uint32_t i;

	for (i = 0; i < p->n; i++)
		if (same_file(&p->probes[i], probe) && p->probes[i].offset == probe->offset &&
		    (probe->number == PROBE_SITES_NONE || probe->number == p->probes[i].number))
			return true;
	return false;
}

int probe_sites_add(struct probe_sites *p, const struct probe_sites_probe *probe, bool *shared)
{
	*shared = false;
	if (is_kept(p, probe))
		return 0;
	if (!leaves_others(p, probe))
		return -EADDRINUSE;
	if (probe->number != PROBE_SITES_NONE && !can_distinguish(p, probe, shared))
		return -EADDRINUSE;
	if (grow(p->probes, p->max, p->n + 1))
		return -ENOMEM;
	p->probes[p->n++] = *probe;
	if (*shared)
		p->shared[page_offset(probe->offset)] = true;
	return 0;
}
