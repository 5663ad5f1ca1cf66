/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Optional libraries, loaded at run time if they are installed. */
#ifndef BASE_PLUGIN_H
#define BASE_PLUGIN_H

#include <stdbool.h>

/* Return whether this build can load libraries. */
bool plugin_possible(void);

/*
 * Load the library @name for use with dlsym() and dlclose(). Return NULL if that fails. In the
 * static program, always return NULL: a loaded library would bring its own C library, and this
 * works only if it is exactly the version with which sbt-trace was linked.
 */
void *plugin_open(const char *name);

#endif /* BASE_PLUGIN_H */
