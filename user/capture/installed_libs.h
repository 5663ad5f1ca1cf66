/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* For doctor: which libraries that are probed are installed here, and whether their insides can be named. */
#ifndef CAPTURE_INSTALLED_LIBS_H
#define CAPTURE_INSTALLED_LIBS_H

#include "attach/doctor.h"

/* Fills what @facts says of names. Looks in the usual places only; what is not found may be elsewhere. */
void installed_libs_look(struct doctor_facts *facts);

#endif /* CAPTURE_INSTALLED_LIBS_H */
