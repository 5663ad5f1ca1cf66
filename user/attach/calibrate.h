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

/* One call of the stand-in that is not stepped. */
void calibrate_call(void);

/* ns a call, the median of several runs; the probes must be in place. */
double calibrate_run(bool stepped, void (*drain)(void *ctx), void *ctx);

/*
 * This thread and another one meet again and again, after a little work, at a barrier where who comes first sleeps: by turns
 * within the stand-in that is not stepped, and without it.
 */
struct calibrate_pair;

/* The other thread begins, and waits. Returns 0 or -errno. */
int calibrate_pair_new(struct calibrate_pair **out);
/*
 * How many ns a meeting takes longer within the stand-in, whose probe must be in place; *@spread: half the width of that
 * median's 95 % interval. @forget: of thread @tid nothing is to be known any more; it meets no probe meanwhile. To be called
 * once.
 */
double calibrate_pair_run(struct calibrate_pair *pair, void (*forget)(void *ctx, uint32_t tid),
			  void *ctx, double *spread);
/* After calibrate_pair_run(), to which @forget is as above. */
void calibrate_pair_free(struct calibrate_pair *pair, void (*forget)(void *ctx, uint32_t tid),
			 void *ctx);

#endif /* ATTACH_CALIBRATE_H */
