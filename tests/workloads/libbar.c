// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A library that waits, built twice with another WAIT_NAME (libbar.so, libbaz.so): same code, same
// size, another build-id and another function name at the same offset.
#include "common.h"

int WAIT_NAME(pthread_barrier_t *barrier);

int WAIT_NAME(pthread_barrier_t *barrier)
{
	return serial(pthread_barrier_wait(barrier));
}
