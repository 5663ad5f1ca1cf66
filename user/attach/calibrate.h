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
int calibrate_place(bool stepped, struct attach_place *place, uint64_t exits[1]);

/* One call of the stand-in. */
void calibrate_call(bool stepped);

/*
 * ns a call, the median of several runs; the probes must be in place. @spent: where the programs tell of some calls how long
 * they took, and it is taken from, *@spent_ns: the mean of that (NAN: they told of none); both may be NULL.
 */
double calibrate_run(bool stepped, void (*drain)(void *ctx), void *ctx, uint32_t *spent,
		     double *spent_ns);

#endif /* ATTACH_CALIBRATE_H */
