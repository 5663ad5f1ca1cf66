// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A library with a barrier function, built twice with a different WAIT_NAME (libbar.so, libbaz.so):
// the same code and size, but another build-id, and another function name at the same offset.
#include "common.h"

int WAIT_NAME(pthread_barrier_t *barrier);

int WAIT_NAME(pthread_barrier_t *barrier)
{
	return serial(pthread_barrier_wait(barrier));
}
