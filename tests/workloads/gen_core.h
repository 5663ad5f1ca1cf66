// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// The engine of the generators of known answers: options, threads or processes, work, the log. A
// family of barriers adds its barriers: a struct gen_family, and one function for each site. Valid
// as C and as C++.
#ifndef WORKLOADS_GEN_CORE_H
#define WORKLOADS_GEN_CORE_H

#include "common.h"

#define GEN_MAX_OBJECTS 64
#define GEN_MAX_SITES	32
#define GEN_FOREVER	UINT64_MAX

/*
 * One crossing. arrive and depart are CLOCK_MONOTONIC just outside of the call. The CPU times are
 * read just outside of these two, and enter and leave just outside of the CPU times.
 */
struct gen_entry {
	uint64_t arrive;
	uint64_t depart;
	uint64_t cpu_enter;
	uint64_t cpu_leave;
	uint64_t enter;
	uint64_t leave;
	uint32_t round;
	pid_t tid;
	uint16_t object;
	uint8_t site;
	uint8_t serial;
};

/* Cross as this member of the object's team. Return 1 for exactly one member of each episode. */
typedef int gen_site(void *object, uint32_t member, struct gen_entry *e);

enum {
	GEN_CAN_CYCLE = 1, /* an episode may have fewer members than there are threads */
	GEN_CAN_RECREATE = 2,
	GEN_CAN_SHARE = 4, /* processes can share the memory of objects */
	GEN_CAN_TEAM = 8, /* several teams at the same time */
	GEN_SITE_BY_KIND = 16, /* each kind has its own site; the kind "all" uses all of them */
};

/* A family of barriers. A callback is NULL if the family lacks it. */
struct gen_family {
	const char *name, *flavour;
	const char *const *kinds; /* values of --kind, ended by NULL; the first is the default */
	unsigned int can;
	uint32_t sites; /* number of sites */
	gen_site *const *site;
	size_t object_size; /* 0: objects have no address */
	void *storage; /* GEN_MAX_OBJECTS objects */
	void (*make)(void *object, uint32_t count);
	void (*unmake)(void *object);
	/* Run gen_member(i) for all i below n, each in its own thread. NULL: the engine does. */
	void (*run)(uint32_t n);
	/* Call gen_work() and gen_next() itself, in place of run. */
	void (*drive)(void);
};

/* The options, for families to read. */
struct gen_options {
	uint32_t threads; /* in each process */
	uint32_t processes; /* number of forked processes; 0: all threads are in this process */
	uint32_t workers; /* in all processes */
	uint32_t teams;
	uint32_t kind; /* index in kinds */
	uint32_t timeout_ns; /* --timeout; 0: none */
	uint64_t rounds;
	int shared; /* --shared or --processes: barriers are not private to a process */
	int logging;
};

#ifdef __cplusplus
extern "C" {
#endif

extern struct gen_options gen;

int gen_main(int argc, char **argv, const struct gen_family *family);

/* For families with their own run or drive function. */
void gen_member(uint32_t index);
void gen_work(uint32_t index, uint64_t round);
struct gen_entry *gen_next(uint32_t index, uint64_t round, uint32_t object, uint32_t site);
/* Mark the serial member. Call this for one crossing of each episode. */
void gen_serial(uint32_t index, struct gen_entry *e);
/* Return the entry of an earlier crossing, or NULL if it is not kept. */
struct gen_entry *gen_earlier(uint32_t index, uint64_t crossing);
int gen_time_is_up(void);
/*
 * For MPI: set the rank of this process and the number of ranks, before gen_main(); return the data
 * that a rank sends.
 */
void gen_set_rank(uint32_t rank, uint32_t ranks);
void *gen_record(uint32_t index, int part, size_t *size);

#ifdef __cplusplus
}
#endif

static inline void gen_arrive(struct gen_entry *e)
{
	if (gen.logging) {
		e->enter = now_ns();
		e->cpu_enter = thread_cpu_ns();
	}
	e->arrive = now_ns();
}

static inline void gen_depart(struct gen_entry *e)
{
	e->depart = now_ns();
	if (gen.logging) {
		e->cpu_leave = thread_cpu_ns();
		e->leave = now_ns();
	}
}

/*
 * Define one function for each site, so that every call has its own line, address and function
 * name.
 */
#define GEN_SITE(n, meet)                                                                \
	ONE_COPY static int site_##n(void *object, uint32_t member, struct gen_entry *e) \
	{                                                                                \
		int is_serial;                                                           \
                                                                                         \
		(void)object;                                                            \
		(void)member;                                                            \
		gen_arrive(e);                                                           \
		is_serial = (meet);                                                      \
		gen_depart(e);                                                           \
		return is_serial;                                                        \
	}

#endif
