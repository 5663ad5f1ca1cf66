// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Loads libbar.so, crosses its barrier, unloads it, and does the same with libbaz.so, which the
// loader likely puts at the same place; so the return address is that of the library now gone.
//
// Known answer: 100 episodes of 2 threads at bar_wait, then 100 at baz_wait, then 100 at bar_wait.
// Whether the place was the same is said on stderr.
#include "common.h"

#include <dlfcn.h>
#include <unistd.h>

#define ROUNDS 100

static int (*wait_function)(pthread_barrier_t *);
static pthread_barrier_t barrier;
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
	pthread_t thread[2];
	uintptr_t at;

	if (!handle)
		die("%s", dlerror());
	*(void **)&wait_function = dlsym(handle, function);
	if (!wait_function)
		die("%s", dlerror());
	at = (uintptr_t)wait_function;
	serials = 0;
	for (size_t i = 0; i < ARRAY_SIZE(thread); i++)
		must(pthread_create(&thread[i], NULL, member, NULL), "pthread_create");
	for (size_t i = 0; i < ARRAY_SIZE(thread); i++)
		must(pthread_join(thread[i], NULL), "pthread_join");
	wait_function = NULL;
	/* A tracer looks at what is mapped a moment after it was: what is unmapped sooner it cannot have seen. */
	usleep(100000);
	dlclose(handle);
	printf("dlopen_lib: %s episodes=%u\n", function, serials);
	return at;
}

int main(void)
{
	uintptr_t bar, baz;

	stopgap(STOPGAP_SECONDS);
	must(pthread_barrier_init(&barrier, NULL, 2), "pthread_barrier_init");
	bar = use("libbar.so", "bar_wait");
	baz = use("libbaz.so", "baz_wait");
	use("libbar.so", "bar_wait");
	fprintf(stderr, "dlopen_lib: the same address: %s\n", bar == baz ? "yes" : "no");
	printf("dlopen_lib: ok\n");
	return 0;
}
