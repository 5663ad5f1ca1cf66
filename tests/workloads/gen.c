// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// The generator of known answers for pthread_barrier_wait. With --processes, processes share the
// barriers. gen_core.c describes the options and the log.
#include "gen_core.h"

#ifndef GEN_FLAVOUR
#define GEN_FLAVOUR "plain"
#endif

static pthread_barrier_t barriers[GEN_MAX_OBJECTS];

/* Each site has its own line. */
#define SITE(n) GEN_SITE(n, serial(pthread_barrier_wait((pthread_barrier_t *)object)))
SITE(0)
SITE(1)
SITE(2)
SITE(3)
SITE(4)
SITE(5)
SITE(6)
SITE(7)

static gen_site *const sites[] = {
	site_0, site_1, site_2, site_3, site_4, site_5, site_6, site_7,
};

static void make(void *object, uint32_t count)
{
	pthread_barrierattr_t attr;

	must(pthread_barrierattr_init(&attr), "pthread_barrierattr_init");
	if (gen.shared)
		must(pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED),
		     "pthread_barrierattr_setpshared");
	must(pthread_barrier_init((pthread_barrier_t *)object, &attr, count),
	     "pthread_barrier_init");
	pthread_barrierattr_destroy(&attr);
}

/* Wait for the threads that have not departed from the last episode. */
static void unmake(void *object)
{
	must(pthread_barrier_destroy((pthread_barrier_t *)object), "pthread_barrier_destroy");
}

int main(int argc, char **argv)
{
	static const struct gen_family family = {
		.name = "gen",
		.flavour = GEN_FLAVOUR,
		.can = GEN_CAN_CYCLE | GEN_CAN_RECREATE | GEN_CAN_SHARE | GEN_CAN_TEAM,
		.sites = ARRAY_SIZE(sites),
		.site = sites,
		.object_size = sizeof(pthread_barrier_t),
		.storage = barriers,
		.make = make,
		.unmake = unmake,
	};

	return gen_main(argc, argv, &family);
}
