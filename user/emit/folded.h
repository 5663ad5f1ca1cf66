/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Folded stacks, the input of flame graphs: each line is "process;thread;barrier;part ns". The
 * parts are the parts of the phases that end at the barrier (on a CPU, run queue, blocked by
 * reason, unattributed; or work if the parts are unknown), and wait and leave inside it. A thread's
 * time outside complete episodes has a separate frame. Unknown times have no line.
 */
#ifndef EMIT_FOLDED_H
#define EMIT_FOLDED_H

#include <stdio.h>

#include "analyse/report.h"

/* Return 0, -ENOMEM, or the error of a write. */
int folded_print(FILE *file, const struct report *report);

#endif /* EMIT_FOLDED_H */
