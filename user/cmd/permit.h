/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What must be there for tracing to be possible, said before it fails for reasons nobody understands. */
#ifndef CMD_PERMIT_H
#define CMD_PERMIT_H

#include <stdbool.h>
#include <stdint.h>

/* Capabilities, kernel, BTF. Returns 0, or -errno with a sentence printed. */
int permit_check(bool system);
/* Why the programs could not be loaded or attached, for the user. @why: what each method said. */
void permit_explain(int err, const char *why);
/* The id and depth of a cgroup (v2) directory. Returns 0, or -errno with a sentence printed. */
int permit_cgroup(const char *path, uint64_t *id, uint8_t *level);

#endif /* CMD_PERMIT_H */
