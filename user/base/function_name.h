/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Names of functions of C++ and Rust as people read them. Pure. */
#ifndef BASE_FUNCTION_NAME_H
#define BASE_FUNCTION_NAME_H

#include <stdbool.h>

/*
 * Leaves out parameters, what templates are made with, and what is returned: in place, for it gets no longer. False: the brackets
 * do not match, nothing is certain, and what is there now is to be thrown away.
 */
bool function_name_shorten(char *name);

#endif /* BASE_FUNCTION_NAME_H */
