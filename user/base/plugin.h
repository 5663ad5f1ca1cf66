/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Libraries that we use where they are installed, and do without where they are not. */
#ifndef BASE_PLUGIN_H
#define BASE_PLUGIN_H

#include <stdbool.h>

/* Whether this program loads libraries at all. */
bool plugin_possible(void);

/*
 * The library called @name for dlsym() and dlclose(), or NULL. In the static program always NULL:
 * what is loaded into it brings a C library of its own, which breaks unless it is the very one that
 * we were linked with.
 */
void *plugin_open(const char *name);

#endif /* BASE_PLUGIN_H */
