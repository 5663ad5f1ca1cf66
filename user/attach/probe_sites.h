/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Probes on kernels before Linux 5.15. These probes carry no number: a program only knows the
 * address of a hit. The offset of that address in its page is the same in every process, so it
 * identifies the probe. Probes for different purposes at the same page offset are distinguished by
 * the code there. This file decides which probes can be combined. Pure.
 */
#ifndef ATTACH_PROBE_SITES_H
#define ATTACH_PROBE_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "sbt/state.h"

/* A probe. */
struct probe_sites_probe {
	uint64_t dev, ino, offset; /* file, and offset in it */
	uint64_t code; /* the SBT_CODE_BYTES that follow SBT_BREAKPOINT_BYTES */
	bool has_code; /* the code could be read, and is in the same page as the probe */
	uint32_t number; /* number of its spec; PROBE_SITES_NONE: its program needs no number */
};

#define PROBE_SITES_NONE UINT32_MAX

/* All zero: no probes. */
struct probe_sites {
	struct probe_sites_probe *probes;
	uint32_t n, max;
	bool shared[SBT_PAGE_PROBE_SITES]; /* by page offset: the code must be compared */
};

void probe_sites_free(struct probe_sites *probe_sites);
/* Return whether all of the code that identifies a probe at @offset is in one page. */
bool probe_sites_code_fits(uint64_t offset);
/*
 * Record the probe. Set *@shared if the probes at its page offset are now identified by their code;
 * probe_sites_next() lists them. Return -EADDRINUSE, without recording the probe, if it could not
 * be distinguished from another probe, or if its breakpoint would change the code that identifies
 * another probe. Return -ENOMEM if out of memory.
 */
int probe_sites_add(struct probe_sites *probe_sites, const struct probe_sites_probe *probe,
		    bool *shared);
/*
 * Return the next probe with a number and the page offset of @offset, at index *@at or later, and
 * advance *@at. NULL: none.
 */
const struct probe_sites_probe *probe_sites_next(const struct probe_sites *probe_sites,
						 uint64_t offset, uint32_t *at);

#endif /* ATTACH_PROBE_SITES_H */
