/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/* The name under which programs written for the SBT library include what is now sbt.h. */
#ifndef SBT_SBT_BARRIER_H
#define SBT_SBT_BARRIER_H

#include "sbt.h"

#endif /* SBT_SBT_BARRIER_H */
