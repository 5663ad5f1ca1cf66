// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "base/plugin.h"

#include <dlfcn.h>
#include <stddef.h>

bool plugin_possible(void)
{
#ifdef SBT_STATIC
	return false;
#else
	return true;
#endif
}

#ifdef SBT_STATIC
/*
 * Replace the C library's dlopen() in the static program, because libdw would otherwise load
 * libraries.
 */
void *dlopen(const char *name, int flags)
{
	(void)name;
	(void)flags;
	return NULL;
}
#endif

void *plugin_open(const char *name)
{
	return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}
