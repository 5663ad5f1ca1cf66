// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// dlopen_lib [PAUSE_US]: loads libbar.so, crosses its barrier, and unloads it PAUSE_US later. Then
// it does the same with libbaz.so, which the loader likely maps at the same address, so that return
// addresses are equal. One of the two threads at the barriers is always the main thread.
//
// Known answer: 100 episodes of 2 threads at bar_wait, then 100 at baz_wait, then 100 at bar_wait.
// The program prints to stderr whether the address was the same.
#include "common.h"

#include <dlfcn.h>
#include <unistd.h>

#define ROUNDS 100

static int (*wait_function)(pthread_barrier_t *);
static pthread_barrier_t barrier;
static useconds_t pause_us = 100000;
static uint32_t serials;

static void *member(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (wait_function(&barrier))
			__atomic_fetch_add(&serials, 1, __ATOMIC_RELAXED);
	}
	return arg;
}

static uintptr_t use(const char *library, const char *function)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	pthread_t thread;
	uintptr_t at;

	if (!handle)
		die("%s", dlerror());
	*(void **)&wait_function = dlsym(handle, function);
	if (!wait_function)
		die("%s", dlerror());
	at = (uintptr_t)wait_function;
	serials = 0;
	must(pthread_create(&thread, NULL, member, NULL), "pthread_create");
	member(NULL);
	must(pthread_join(thread, NULL), "pthread_join");
	wait_function = NULL;
	/*
	 * A tracer reads the mappings a moment after they change. It may miss a library that is
	 * unmapped sooner.
	 */
	usleep(pause_us);
	dlclose(handle);
	printf("dlopen_lib: %s episodes=%u\n", function, serials);
	return at;
}

int main(int argc, char **argv)
{
	uintptr_t bar, baz;

	if (argc > 1)
		pause_us = (useconds_t)atoi(argv[1]);
	stopgap(STOPGAP_SECONDS);
	must(pthread_barrier_init(&barrier, NULL, 2), "pthread_barrier_init");
	bar = use("libbar.so", "bar_wait");
	baz = use("libbaz.so", "baz_wait");
	use("libbar.so", "bar_wait");
	fprintf(stderr, "dlopen_lib: the same address: %s\n", bar == baz ? "yes" : "no");
	printf("dlopen_lib: ok\n");
	return 0;
}
