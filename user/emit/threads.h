/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Where the threads of a process are, for people: those that are at one place together. */
#ifndef EMIT_THREADS_H
#define EMIT_THREADS_H

#include "emit/emit.h"
#include "emit/textout.h"

void threads_print(struct textout *t, uint32_t pid, const char *comm,
		   const struct emit_thread *threads, uint32_t n);

#endif /* EMIT_THREADS_H */
