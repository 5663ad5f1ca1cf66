/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Short, readable names of C++ and Rust functions. Pure. */
#ifndef BASE_FUNCTION_NAME_H
#define BASE_FUNCTION_NAME_H

#include <stdbool.h>

/*
 * Remove parameters, template arguments and the return type. Work in place, as the name never gets
 * longer. Return false if the brackets do not match: then @name is unusable.
 */
bool function_name_shorten(char *name);

#endif /* BASE_FUNCTION_NAME_H */
