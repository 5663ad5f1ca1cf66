/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Make names of C++ and Rust functions readable. Pure. */
#ifndef BASE_FUNCTION_NAME_H
#define BASE_FUNCTION_NAME_H

#include <stdbool.h>

/*
 * Remove the parameters, template arguments and the return type from @name. The name never gets
 * longer, so this works in place. Return false if the name has an unknown form: then @name is
 * unusable.
 */
bool function_name_shorten(char *name);

/*
 * Write lambdas of C++ as programmers think of them: "main::{lambda(int)#1}::operator()(int) const"
 * of GCC and "main::$_0::operator()(int) const" of clang become "main::{lambda}". The functions
 * that contain them lose what function_name_shorten() removes, and their "()". The name never gets
 * longer, so this works in place. Return false, with @name unchanged, if no lambda contains the
 * function, or the name has an unknown form.
 */
bool function_name_lambda(char *name);

/*
 * Return the part of @name after its first scope: "run" in "Team::run". A text may follow the name
 * after a blank. Return NULL if there is no scope, or the name has an unknown form.
 */
const char *function_name_inner(const char *name);

/* Return the end of the name, at the first blank outside brackets, or NULL for an unknown form. */
const char *function_name_end(const char *name);

/*
 * Remove the suffixes that compilers give to parts and copies of functions: "work.part.0.cold" and
 * "work(int) [clone .isra.0]" become "work" and "work(int)". The functions of OpenMP regions,
 * "work._omp_fn.0", keep theirs, because they are functions of their own.
 */
void function_name_whole(char *name);

/*
 * Return whether the function belongs to the C++ library. The name of a template may begin with its
 * result type: "void std::wait<...>(...)".
 */
bool function_name_of_cxx_library(const char *name);

/*
 * Return what follows @name in text for people, so that it reads as a function: "()", or "" if the
 * name has parameters already, is a name for code that is no function ("<module>"), or is unknown
 * ("?").
 */
const char *function_name_call(const char *name);

#endif /* BASE_FUNCTION_NAME_H */
