/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Where functions begin and end in a file that has lost its symbols: .eh_frame, which unwinding needs, tells. */
#ifndef ELF_FRAMES_H
#define ELF_FRAMES_H

#include <stdint.h>

#include "elf/elf.h"

/* A range of code with one set of unwind rules: a function, or its cold part. Anything but 0 ends the walk. */
typedef int (*frames_fn)(void *ctx, uint64_t start, uint64_t len);

/* Calls @each for every range, addresses as linked. Returns 0, what @each returned, or -ENOMEM. */
int frames_each(const struct elf_file *elf, frames_fn each, void *ctx);

#endif /* ELF_FRAMES_H */
