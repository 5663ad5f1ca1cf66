/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Names of functions as Rust's older scheme writes them: _ZN, the parts of the path with their lengths, the last one a hash, and E.
 * C++'s demanglers take them for theirs, and leave the escapes in them. Pure.
 */
#ifndef SYMBOLS_RUST_NAME_H
#define SYMBOLS_RUST_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the path without its hash, cut to @size with its NUL. False: @raw is no such name, and @name is untouched. */
bool rust_name_legacy(const char *raw, char *name, size_t size);

#endif /* SYMBOLS_RUST_NAME_H */
