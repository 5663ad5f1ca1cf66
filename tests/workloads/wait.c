// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// The wait for C++ programs: <pthread.h> declares pthread_barrier_wait as never throwing, so a C++
// caller has nowhere to go when a cancellation or a signal handler unwinds out of it. Compiled with
// -fexceptions (and -fnon-call-exceptions), this does.
#include "common.h"
#include "wait.h"

void wait_for_all(void *barrier)
{
	serial(pthread_barrier_wait((pthread_barrier_t *)barrier));
}
