// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Names that do harm when they are printed unchanged: escape sequences, line breaks, quotes,
// markup, separators, format strings, broken UTF-8. They are the names of every thread, of the
// process and of the function that waits. To complete the set, copy the program to a path with such
// a name.
//
// Known answer: 100 episodes of as many threads as there are names.
#include "common.h"

#define ROUNDS 100

/* Each name has at most 15 bytes. */
static const char *const name[] = {
	"\033[31mred\033[0m",
	"\033]0;title\007",
	"two\nlines",
	"cr\rtab\tbs\b\b",
	"\"quotes'`",
	"<script>x()",
	"a,b;c|d&e",
	"%s%n%99999d",
	"{\"tid\":1}",
	"\xff\xfe\xc3(\x80\xf0\x9f",
	"back\\slash\\u",
	"../../../etc",
	"$(id)`id`",
	"=1+1",
	"\xe2\x80\xaertl\xc2\x9b",
	" ",
};

static pthread_barrier_t barrier;
static uint32_t serials;

/* The assembler accepts any character in a quoted name. */
void hostile_function(void) __asm__("\"bar<script>;\x1b[31m'rier\"");

__attribute__((noinline)) void hostile_function(void)
{
	if (serial(pthread_barrier_wait(&barrier)))
		__atomic_fetch_add(&serials, 1, __ATOMIC_RELAXED);
}

static void *member(void *arg)
{
	prctl(PR_SET_NAME, (unsigned long)(const char *)arg, 0UL, 0UL, 0UL);
	for (int i = 0; i < ROUNDS; i++)
		hostile_function();
	return NULL;
}

int main(void)
{
	pthread_t thread[ARRAY_SIZE(name)];

	stopgap(STOPGAP_SECONDS);
	prctl(PR_SET_NAME, (unsigned long)"m\n\033[2J\"<a>\xff", 0UL, 0UL, 0UL);
	must(pthread_barrier_init(&barrier, NULL, ARRAY_SIZE(name)), "pthread_barrier_init");
	for (size_t i = 0; i < ARRAY_SIZE(name); i++)
		must(pthread_create(&thread[i], NULL, member, (void *)(uintptr_t)name[i]),
		     "pthread_create");
	for (size_t i = 0; i < ARRAY_SIZE(name); i++)
		must(pthread_join(thread[i], NULL), "pthread_join");
	printf("hostile_names: threads=%zu episodes=%u ok\n", ARRAY_SIZE(name), serials);
	return serials != ROUNDS;
}
