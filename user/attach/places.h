/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Before Linux 5.15 a probe carries no number: its program knows the address alone, of which the place in its page is the
 * same in every process. Where probes for different things have the same place, the code there tells them apart. Which
 * probes may be put together is decided here. Pure.
 */
#ifndef ATTACH_PLACES_H
#define ATTACH_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "../bpf/state.h"

/* A probe. */
struct places_probe {
	uint64_t dev, ino, offset; /* file, and where in it */
	uint64_t code; /* the SBT_CODE_BYTES that follow SBT_BREAKPOINT_BYTES */
	bool has_code; /* they could be read, and lie in the probe's page */
	uint32_t number; /* what it is for: the number of its spec; PLACES_NONE: nobody asks */
};

#define PLACES_NONE UINT32_MAX

/* All zero: no probe yet. */
struct places {
	struct places_probe *probes;
	uint32_t n, max;
	bool shared[SBT_PAGE_PLACES]; /* the code there must be looked at */
};

void places_free(struct places *places);
/* Does the page that has @offset have all of the code that tells a probe there? */
bool places_code_fits(uint64_t offset);
/*
 * Keeps the probe. *shared: those at its place are now told by their code, places_next() has all of them. -EADDRINUSE: it
 * could not be told from another one, or its breakpoint would change the code by which one is told; then nothing is kept.
 * -ENOMEM.
 */
int places_add(struct places *places, const struct places_probe *probe, bool *shared);
/* The next probe with the place of @offset that is asked for, from number *at on, which moves on; NULL: there is none. */
const struct places_probe *places_next(const struct places *places, uint64_t offset, uint32_t *at);

#endif /* ATTACH_PLACES_H */
