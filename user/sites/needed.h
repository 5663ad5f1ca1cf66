/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Which files a program would run on, found as its dynamic linker would find them, without running anything. What
 * LD_PRELOAD, dlopen() or a container adds is not known; libraries built for kinds of processors (glibc-hwcaps) are only
 * found by the linker's cache.
 */
#ifndef SITES_NEEDED_H
#define SITES_NEEDED_H

#include "sites/module.h"

/* @module: NULL where there is no such file; @name is then what was looked for. */
typedef void (*needed_fn)(void *ctx, const char *name, struct module *module);

/*
 * Calls @each for the program and for every library that it needs, directly or not, once each. Returns 0, or -errno:
 * the program itself is not there or no ELF file.
 */
int needed_each(struct modules *modules, const char *path, needed_fn each, void *ctx);

#endif /* SITES_NEEDED_H */
