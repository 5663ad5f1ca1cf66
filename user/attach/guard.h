/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * A process that is stopped while we look at it must go on when we are killed at that moment. A small
 * child waits for our end and then continues whoever is still held. It keeps no probe alive.
 */
#ifndef ATTACH_GUARD_H
#define ATTACH_GUARD_H

#include "attach/attach.h"

struct guard {
	int fd;
	int pid; /* 0: none */
};

/* Returns 0 or -errno. */
int guard_start(const struct attach *attach, struct guard *out);
/*
 * After attach_stop() and the last events: the guard looks once whether COMMAND is held all the same, and goes. May be
 * called again.
 */
void guard_stop(struct guard *guard);

#endif /* ATTACH_GUARD_H */
