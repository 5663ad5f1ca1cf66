/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Print a hang for people: the verdict, the threads that have arrived, then the missing threads
 * with their stacks.
 */
#ifndef EMIT_HANG_H
#define EMIT_HANG_H

#include "hang/hang.h"
#include "emit/textout.h"

void hang_print(struct textout *t, const struct report_hang *hang);

#endif /* EMIT_HANG_H */
