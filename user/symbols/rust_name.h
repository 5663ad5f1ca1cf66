/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Function names in Rust's older mangling scheme: _ZN, the parts of the path with their lengths
 * (the last part is a hash), and E. C++ demanglers accept them, but leave the escapes in them.
 * Pure.
 */
#ifndef SYMBOLS_RUST_NAME_H
#define SYMBOLS_RUST_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Write the path without its hash, cut to @size with its NUL. Return false if @raw is no such name;
 * @name is then unchanged.
 */
bool rust_name_legacy(const char *raw, char *name, size_t size);

#endif /* SYMBOLS_RUST_NAME_H */
