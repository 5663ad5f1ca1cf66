/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Functions of sbt-trace itself that stand in for a barrier, to measure how long a probed call
 * takes.
 */
#ifndef ATTACH_CALIBRATE_H
#define ATTACH_CALIBRATE_H

#include <stdbool.h>

#include "attach/attach.h"

/*
 * Describe the stand-in function in our own executable as a probe site. With @stepped, the function
 * begins with an instruction that the kernel must single-step; without, the kernel can emulate the
 * instruction. Open probe_site->fd, which the caller closes, and set probe_site->exits to @exits.
 */
int calibrate_probe_site(bool stepped, struct attach_probe_site *probe_site, uint64_t exits[1]);

/* Call the stand-in once. */
void calibrate_call(bool stepped);
/* Call the stand-in for the barrier at @object. */
void calibrate_call_at(bool stepped, void *object);

/*
 * Return the time of a call in ns, the lower quartile of several runs. The probes must be attached.
 */
double calibrate_run(bool stepped, void (*drain)(void *ctx), void *ctx);

/*
 * Return the handler time of a call in ns: the lower quartile of the means of several runs. The
 * programs store each call's handler time in *@last_ns. NAN: the programs reported nothing. The
 * handler time is not measured in the calls of calibrate_run(), because reading *@last_ns takes
 * time.
 */
double calibrate_handler(bool stepped, void (*drain)(void *ctx), void *ctx, uint32_t *last_ns);

#endif /* ATTACH_CALIBRATE_H */
