/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find the bounds of functions in a file without symbols. The bounds are in .eh_frame, which strip
 * does not remove, because it is needed for unwinding.
 */
#ifndef ELF_FRAMES_H
#define ELF_FRAMES_H

#include <stdint.h>

#include "elf/elf.h"

/*
 * A function that gets a range of code with one set of unwind rules: a function or its cold part.
 * It returns 0 to continue.
 */
typedef int (*frames_fn)(void *ctx, uint64_t start, uint64_t len);

/* Call @each for every range, with linked addresses. Return 0, the result of @each, or -ENOMEM. */
int frames_each(const struct elf_file *elf, frames_fn each, void *ctx);

#endif /* ELF_FRAMES_H */
