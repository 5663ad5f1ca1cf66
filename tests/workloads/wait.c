// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// The wait function for C++ programs. <pthread.h> declares that pthread_barrier_wait never throws,
// so a C++ caller has no landing pad when a cancellation or a signal handler unwinds out of it.
// This C caller, compiled with -fexceptions (and -fnon-call-exceptions), has one.
#include "common.h"
#include "wait.h"

void wait_for_all(void *barrier)
{
	serial(pthread_barrier_wait((pthread_barrier_t *)barrier));
}
