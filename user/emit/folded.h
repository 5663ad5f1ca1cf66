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

#include <stdbool.h>
#include <stdio.h>

#include "analyse/report.h"

/* Return 0, -ENOMEM, or the error of a write. */
int folded_print(FILE *file, const struct report *report);

/*
 * Print the stacks of samples by barrier: "process;barrier;function;... ns", the outermost function
 * first; below the barrier, "spinning in the barrier" is a frame of its own. With @late, only the
 * samples of late episodes, as two numbers: the time of the references and that of the last
 * arrivers, which is the input of differential flame graphs. Return 0, -ENOMEM, or the error of a
 * write. @env names the functions; without env->causes nothing is printed.
 */
int folded_stacks(FILE *file, const struct report *report, const struct report_env *env, bool late);

#endif /* EMIT_FOLDED_H */
