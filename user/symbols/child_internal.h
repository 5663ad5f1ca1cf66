/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Shared by child.c and child_live.c. */
#ifndef SYMBOLS_CHILD_INTERNAL_H
#define SYMBOLS_CHILD_INTERNAL_H

#include "symbols/child.h"

/*
 * Run the child: drop all privileges, then call kind->run(). Never returns. Exits if a privilege
 * cannot be dropped.
 */
_Noreturn void child_live(const struct child_kind *kind, int sock, pid_t parent);

#endif /* SYMBOLS_CHILD_INTERNAL_H */
