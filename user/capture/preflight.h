/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What must be there for tracing to be possible, said before it fails for reasons nobody understands. */
#ifndef CAPTURE_PREFLIGHT_H
#define CAPTURE_PREFLIGHT_H

#include <stdint.h>

/* Capabilities, kernel, BTF. Returns 0, or -errno with a sentence printed. */
int preflight_check(void);
/* Why the programs could not be loaded or attached, for the user. @why: what each method said. */
void preflight_explain(int err, const char *why);
/* Why the kernel does not let us look into a process, for the user. */
const char *preflight_why_not(void);
/* A process that may not be looked into. */
void preflight_explain_pid(int pid);
/* May COMMAND become another user? Returns 0, or -EPERM with a sentence printed. */
int preflight_user(const char *name);
/* Says what tracing all processes lacks without CAP_SYS_PTRACE. */
void preflight_warn_others(void);
/* rights_reduce(), and a word if that fails: tracing goes on with more rights than it needs. */
void preflight_drop(uint64_t keep, int verbose);
/* The id and depth of a cgroup (v2) directory. Returns 0, or -errno with a sentence printed. */
int preflight_cgroup(const char *path, uint64_t *id, uint8_t *level);

#endif /* CAPTURE_PREFLIGHT_H */
