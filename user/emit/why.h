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
 * frames of the C library. Nothing after a wait for the GIL: the sentence says where it was held.
 */
void why_stack(struct textout *t, const struct report_cause *cause, unsigned indent, uint32_t most);

/*
 * Return the innermost frame of the stack that is not in the C library or the loader, or NULL if
 * there is none, or if why_stack() prints nothing.
 */
const struct report_callsite *why_place(const struct report_cause *cause);

/*
 * Return whether the frame is in the C library or the loader. Only the function that the program
 * called matters there.
 */
bool why_is_inner(const struct report_callsite *frame);

#endif /* EMIT_WHY_H */
