/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Names of C++ functions that have no linkage name in the debug information, such as lambdas and
 * the functions of local classes: made from the namespaces, classes and functions around them. Only
 * for the symboliser's child, because the debug information is untrusted.
 */
#ifndef SYMBOLS_SCOPE_NAME_H
#define SYMBOLS_SCOPE_NAME_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

/* maximum length of a name before it is shortened, in bytes including the NUL */
#define SCOPE_NAME_MAX 4096

/*
 * Demangle @raw, with parameters, to at most @size bytes including the NUL. Return false if it is
 * not mangled.
 */
typedef bool (*scope_name_demangle_fn)(void *ctx, const char *raw, char *name, size_t size);

/*
 * Return the linkage name of the function @die, or of its declaration, or NULL.
 */
const char *scope_name_linkage(Dwarf_Die *die);

/*
 * Return the entry of the declaration that @die refers to, for example as an inlined copy of that
 * function.
 */
Dwarf_Die scope_name_origin(Dwarf_Die die);

/*
 * Write the name of the function @die with the scopes around its declaration, without parameters:
 * "ns::Team::run", and "main::{lambda}::operator()" for a lambda. Return false if the function is
 * not in C++, has no scope around it, or if a part of the name is unknown.
 */
bool scope_name(Dwarf_Die *die, scope_name_demangle_fn demangle, void *ctx,
		char name[SCOPE_NAME_MAX]);

#endif /* SYMBOLS_SCOPE_NAME_H */
