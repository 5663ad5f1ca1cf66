/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Shorten names of C++ and Rust functions so that they are readable. Pure. */
#ifndef BASE_FUNCTION_NAME_H
#define BASE_FUNCTION_NAME_H

#include <stdbool.h>

/*
 * Remove the parameters, template arguments and the return type from @name. The name never gets
 * longer, so this works in place. Return false if the name has an unknown form: then @name is
 * unusable.
 */
bool function_name_shorten(char *name);

#endif /* BASE_FUNCTION_NAME_H */
