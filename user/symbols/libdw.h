/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What names and lines come from. */
#ifndef SYMBOLS_LIBDW_H
#define SYMBOLS_LIBDW_H

/* The version of the library that is loaded, "0.188"; never freed. */
const char *libdw_version(void);

#endif /* SYMBOLS_LIBDW_H */
