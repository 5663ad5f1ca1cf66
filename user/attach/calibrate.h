/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Functions of our own that look like a barrier to a probe, and how long a probed call takes. */
#ifndef ATTACH_CALIBRATE_H
#define ATTACH_CALIBRATE_H

#include <stdbool.h>

#include "attach/attach.h"

/*
 * Where the stand-in lies in our own executable: @stepped, on an instruction that the kernel must
 * single-step; else on an emulated one. Opens place->fd (the caller's to close); place->exits is @exits.
 */
int calibrate_probe_site(bool stepped, struct attach_probe_site *probe_site, uint64_t exits[1]);

/* One call of the stand-in. */
void calibrate_call(bool stepped);

/* ns a call, the lower quartile of several runs; the probes must be in place. */
double calibrate_run(bool stepped, void (*drain)(void *ctx), void *ctx);

/*
 * What the programs tell of some calls in *@spent, from where it is taken: the lower quartile of several runs' means. NAN: they
 * told nothing. In calls of their own, for to look costs something, too.
 */
double calibrate_handler(bool stepped, void (*drain)(void *ctx), void *ctx, uint32_t *spent);

#endif /* ATTACH_CALIBRATE_H */
