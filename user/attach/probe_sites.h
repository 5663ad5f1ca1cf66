/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Before Linux 5.15 a probe carries no number: its program knows the address alone, of which the place in its page is the
 * same in every process. Where probes for different things have the same place, the code there tells them apart. Which
 * probes may be put together is decided here. Pure.
 */
#ifndef ATTACH_PROBE_SITES_H
#define ATTACH_PROBE_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "../bpf/state.h"

/* A probe. */
struct probe_sites_probe {
	uint64_t dev, ino, offset; /* file, and where in it */
	uint64_t code; /* the SBT_CODE_BYTES that follow SBT_BREAKPOINT_BYTES */
	bool has_code; /* they could be read, and lie in the probe's page */
	uint32_t number; /* what it is for: the number of its spec; PROBE_SITES_NONE: nobody asks */
};

#define PROBE_SITES_NONE UINT32_MAX

/* All zero: no probe yet. */
struct probe_sites {
	struct probe_sites_probe *probes;
	uint32_t n, max;
	bool shared[SBT_PAGE_PROBE_SITES]; /* the code there must be looked at */
};

void probe_sites_free(struct probe_sites *probe_sites);
/* Does the page that has @offset have all of the code that tells a probe there? */
bool probe_sites_code_fits(uint64_t offset);
/*
 * Keeps the probe. *shared: those at its place are now told by their code, probe_sites_next() has all of them. -EADDRINUSE: it
 * could not be told from another one, or its breakpoint would change the code by which one is told; then nothing is kept.
 * -ENOMEM.
 */
int probe_sites_add(struct probe_sites *probe_sites, const struct probe_sites_probe *probe,
		    bool *shared);
/* The next probe with the place of @offset that is asked for, from number *at on, which moves on; NULL: there is none. */
const struct probe_sites_probe *probe_sites_next(const struct probe_sites *probe_sites,
						 uint64_t offset, uint32_t *at);

#endif /* ATTACH_PROBE_SITES_H */
