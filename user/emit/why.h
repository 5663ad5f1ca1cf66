/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Print for people why a thread was late. */
#ifndef EMIT_WHY_H
#define EMIT_WHY_H

#include "emit/fields.h"
#include "emit/textout.h"

/* Print "Why: ..." with @indent blanks before it, or nothing if no cause is known. */
void why_sentence(struct textout *t, enum textout_style style, const struct report_cause *cause,
		  unsigned indent);
/* Print the parts of the lateness, if several of them matter. */
void why_parts(struct textout *t, const struct report_cause *cause, unsigned indent);
/*
 * Print the stack where the thread was blocked longest: at most @most frames, without the inner
 * frames of the C library.
 */
void why_stack(struct textout *t, const struct report_cause *cause, unsigned indent, uint32_t most);

#endif /* EMIT_WHY_H */
