// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Known answers for Rust's std::sync::Barrier. The calls are in gen_rust.rs. The addresses in the
// log are those of the pointers to the barriers.
#include "gen_core.h"

void *rust_barrier_new(uint32_t count);
int rust_site_0(void *barrier);
int rust_site_1(void *barrier);

static void *barriers[GEN_MAX_OBJECTS];

GEN_SITE(0, rust_site_0(*(void **)object))
GEN_SITE(1, rust_site_1(*(void **)object))

static gen_site *const sites[] = { site_0, site_1 };

static void make(void *object, uint32_t count)
{
	*(void **)object = rust_barrier_new(count);
}

int main(int argc, char **argv)
{
	static const struct gen_family family = {
		.name = "gen_rust",
		.flavour = "std::sync::Barrier",
		.can = GEN_CAN_CYCLE | GEN_CAN_TEAM,
		.sites = ARRAY_SIZE(sites),
		.site = sites,
		.object_size = sizeof(void *),
		.storage = barriers,
		.make = make,
	};

	return gen_main(argc, argv, &family);
}
