/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * A process that is stopped while we look at it must go on when we are killed at that moment. A small
 * child waits for our end and then continues whoever is still held. It keeps no probe alive.
 */
#ifndef ATTACH_GUARD_H
#define ATTACH_GUARD_H

#include "attach/attach.h"

/* Returns 0 or -errno. The guard ends with us. */
int guard_start(const struct attach *attach);

#endif /* ATTACH_GUARD_H */
