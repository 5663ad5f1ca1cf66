/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Why somebody was late, for people. */
#ifndef EMIT_WHY_H
#define EMIT_WHY_H

#include "emit/fields.h"
#include "emit/textout.h"

/* "Why: ...", @indent blanks before it; nothing where no cause is named. */
void why_sentence(struct textout *t, enum textout_style style, const struct report_cause *cause,
		  unsigned indent);
/* The parts of the lateness, where it has more than one that counts. */
void why_parts(struct textout *t, const struct report_cause *cause, unsigned indent);
/* Where it was blocked for longest: at most @most frames, those that say something. */
void why_stack(struct textout *t, const struct report_cause *cause, unsigned indent, uint32_t most);

#endif /* EMIT_WHY_H */
