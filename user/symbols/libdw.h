/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The version of libdw, the library from which symbol names and lines come. */
#ifndef SYMBOLS_LIBDW_H
#define SYMBOLS_LIBDW_H

/* Return the version of the loaded library, such as "0.188". Never freed. */
const char *libdw_version(void);

#endif /* SYMBOLS_LIBDW_H */
