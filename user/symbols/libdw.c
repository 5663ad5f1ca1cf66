// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "symbols/libdw.h"

#include <elfutils/libdwfl.h>

const char *libdw_version(void)
{
	return dwfl_version(NULL);
}
