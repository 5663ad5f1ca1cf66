/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Function names in Rust's older mangling scheme: "_ZN", then the parts of the path, each with its
 * length before it, then "E". The last part is a hash. C++ demanglers accept such names, but do not
 * decode the escapes in them. Pure.
 */
#ifndef SYMBOLS_RUST_NAME_H
#define SYMBOLS_RUST_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Write the path without its hash to @name, cut to @size bytes including the NUL. If @raw is not a
 * name of this scheme, return false and leave @name unchanged.
 */
bool rust_name_legacy(const char *raw, char *name, size_t size);

#endif /* SYMBOLS_RUST_NAME_H */
