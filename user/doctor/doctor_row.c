// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Rows of the diagnosis, and texts of outcomes. */
#include "doctor/doctor_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct doctor_feature *doctor_row(struct doctor *d, const char *group, const char *name,
				  enum doctor_state state, const char *fmt, ...)
{
	struct doctor_feature *f = &d->features[d->n];
	va_list args;

	if (d->n < DOCTOR_FEATURES - 1)
		d->n++;
	*f = (struct doctor_feature){ .group = group, .name = name, .state = state };
	va_start(args, fmt);
	vsnprintf(f->found, sizeof(f->found), fmt, args);
	va_end(args);
	return f;
}

enum doctor_state doctor_state_of(int outcome)
{
	return !outcome ? DOCTOR_YES : outcome == DOCTOR_UNTRIED ? DOCTOR_UNKNOWN : DOCTOR_NO;
}

enum doctor_state doctor_known(int truth)
{
	return truth == DOCTOR_UNTRIED ? DOCTOR_UNKNOWN : truth ? DOCTOR_YES : DOCTOR_NO;
}

const char *doctor_said(int outcome)
{
	return outcome == DOCTOR_UNTRIED  ? "not tried"
	       : outcome == DOCTOR_UNSEEN ? "the probe was attached, but never hit"
					  : strerror(-outcome);
}

bool doctor_refused(int outcome)
{
	return outcome == -EPERM || outcome == -EACCES;
}

bool doctor_release_from(const char *release, unsigned major, unsigned minor)
{
	unsigned a, b;

	if (sscanf(release, "%u.%u", &a, &b) != 2)
		return true;
	return a > major || (a == major && b >= minor);
}
