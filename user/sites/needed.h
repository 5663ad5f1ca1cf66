/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find the files that a program would map, as its dynamic linker would find them, without running
 * the program. Files added by LD_PRELOAD, dlopen() or a container are unknown. Libraries for
 * certain processors (glibc-hwcaps) are found only through the linker's cache.
 */
#ifndef SITES_NEEDED_H
#define SITES_NEEDED_H

#include "sites/module.h"

/* @name is the name that was searched for. @module is NULL if there is no such file. */
typedef void (*needed_fn)(void *ctx, const char *name, struct module *module);

/*
 * Call @each once for the program and once for every library that it needs, directly or through
 * other libraries. Return 0, or -errno if the program does not exist or is not an ELF file.
 */
int needed_each(struct modules *modules, const char *path, needed_fn each, void *ctx);

#endif /* SITES_NEEDED_H */
