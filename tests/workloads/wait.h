// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#ifndef WORKLOADS_WAIT_H
#define WORKLOADS_WAIT_H

#ifdef __cplusplus
extern "C"
#endif
	void
	wait_for_all(void *barrier);

#endif
