/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Programs that were written for the SBT library include this file. It includes sbt.h, which
 * replaces the library's header.
 */
#ifndef SBT_SBT_BARRIER_H
#define SBT_SBT_BARRIER_H

#include "sbt.h"

#endif /* SBT_SBT_BARRIER_H */
