// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Known answers for boost::barrier: the mutex and condition variable of a header, inlined into the
// caller.
#include "gen_core.h"

#include <boost/thread/barrier.hpp>
#include <new>

union object {
	boost::barrier barrier;

	object()
	{
	}
	~object()
	{
	}
};

static object objects[GEN_MAX_OBJECTS];

static boost::barrier *of(void *o)
{
	return &static_cast<object *>(o)->barrier;
}

GEN_SITE(0, of(object)->wait())
GEN_SITE(1, of(object)->wait())

static gen_site *const sites[] = { site_0, site_1 };

static void make(void *o, uint32_t count)
{
	new (of(o)) boost::barrier(count);
}

int main(int argc, char **argv)
{
	static struct gen_family family = {};

	family.name = "gen_boost";
	family.flavour = "boost::barrier";
	family.can = GEN_CAN_CYCLE | GEN_CAN_TEAM;
	family.sites = ARRAY_SIZE(sites);
	family.site = sites;
	family.object_size = sizeof(object);
	family.storage = objects;
	family.make = make;
	return gen_main(argc, argv, &family);
}
