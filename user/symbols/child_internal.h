/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the two files of children share. */
#ifndef SYMBOLS_CHILD_INTERNAL_H
#define SYMBOLS_CHILD_INTERNAL_H

#include "symbols/child.h"

/*
 * The child's whole life: gives up all privileges, then runs. Never returns. Anything that cannot be given up ends the child rather than
 * go on with it.
 */
_Noreturn void child_live(const struct child_kind *kind, int sock, pid_t parent);

#endif /* SYMBOLS_CHILD_INTERNAL_H */
