/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Check what tracing needs, so that a failure has a clear message. */
#ifndef CAPTURE_PREFLIGHT_H
#define CAPTURE_PREFLIGHT_H

#include <stdint.h>

/* Check capabilities, kernel and BTF. Return 0, or -errno after printing a message. */
int preflight_check(void);
/*
 * Print why the BPF programs could not be loaded or attached. @why: the attach methods' messages.
 */
void preflight_explain(int err, const char *why);
/* Return why the kernel does not let sbt-trace read a process, as text for the user. */
const char *preflight_why_not(void);
/* Print why process @pid may not be read. */
void preflight_explain_pid(int pid);
/* Check whether COMMAND can run as another user. Return 0, or -EPERM after printing a message. */
int preflight_user(const char *name);
/* Warn about the data that tracing of all processes (-a) lacks without CAP_SYS_PTRACE. */
void preflight_warn_others(void);
/* Call rights_reduce() and warn if it fails: tracing continues with more rights than it needs. */
void preflight_drop(uint64_t keep, int verbose);
/* Get the id and depth of a cgroup v2 directory. Return 0, or -errno after printing a message. */
int preflight_cgroup(const char *path, uint64_t *id, uint8_t *level);

#endif /* CAPTURE_PREFLIGHT_H */
