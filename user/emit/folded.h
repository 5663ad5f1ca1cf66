/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Folded stacks, the input of flame graphs: "process;thread;barrier;what ns", a line each. What is the part of the
 * phases that end at the barrier (on a CPU, run queue, blocked by reason, unattributed; work where the parts are
 * not known), and inside it wait and leaving. What of a thread is in no complete episode stands under a frame of
 * its own. Unknown times have no line.
 */
#ifndef EMIT_FOLDED_H
#define EMIT_FOLDED_H

#include <stdio.h>

#include "analyse/report.h"

/* Returns 0, -ENOMEM, or the error of a write. */
int folded_print(FILE *file, const struct report *report);

#endif /* EMIT_FOLDED_H */
