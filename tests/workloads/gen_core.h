// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// The engine of the generators of known answers: options, threads or processes, work, the log. What
// a family of barriers adds is a place to meet: struct gen_family, and one function for each site.
// Clean as C and as C++.
#ifndef WORKLOADS_GEN_CORE_H
#define WORKLOADS_GEN_CORE_H

#include "common.h"

#define GEN_MAX_OBJECTS 64
#define GEN_MAX_SITES	32
#define GEN_FOREVER	UINT64_MAX

/*
 * One crossing. Times are CLOCK_MONOTONIC just outside the call; the cpu ones just outside them,
 * and inside of enter and leave.
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

/* Meets as this member of the object's team; returns 1 for exactly one member an episode. */
typedef int gen_site(void *object, uint32_t member, struct gen_entry *e);

enum {
	GEN_CAN_CYCLE = 1, /* fewer may meet than there are threads */
	GEN_CAN_RECREATE = 2,
	GEN_CAN_SHARE = 4, /* objects work in memory that processes share */
	GEN_CAN_TEAM = 8, /* several teams at a time */
	GEN_SITE_BY_KIND = 16, /* each kind has its own site; the kind "all" takes them in turn */
};

/* A family of barriers. Callbacks that it lacks are NULL. */
struct gen_family {
	const char *name, *flavour;
	const char *const *kinds; /* what --kind may say, ended by NULL; the first is the default */
	unsigned int can;
	uint32_t sites; /* how many it has */
	gen_site *const *site;
	size_t object_size; /* 0: none that has an address */
	void *storage; /* GEN_MAX_OBJECTS of them */
	void (*make)(void *object, uint32_t count);
	void (*unmake)(void *object);
	/* Runs gen_member(i) for all i below n, each in a thread; lacking, the engine does. */
	void (*run)(uint32_t n);
	/* Does everything itself, with gen_work() and gen_next(), instead of run. */
	void (*drive)(void);
};

/* What the options say; for families to read. */
struct gen_options {
	uint32_t threads; /* in each process */
	uint32_t processes; /* forked; 0: the threads are our own */
	uint32_t workers; /* in all */
	uint32_t teams;
	uint32_t kind; /* index in kinds */
	uint32_t timeout_ns; /* --timeout; 0: none */
	uint64_t rounds;
	int shared; /* --shared or --processes: not private to a process */
	int logging;
};

#ifdef __cplusplus
extern "C" {
#endif

extern struct gen_options gen;

int gen_main(int argc, char **argv, const struct gen_family *family);

/* For families that run or drive. */
void gen_member(uint32_t index);
void gen_work(uint32_t index, uint64_t round);
struct gen_entry *gen_next(uint32_t index, uint64_t round, uint32_t object, uint32_t site);
/* To be called for one crossing of each episode. */
void gen_serial(uint32_t index, struct gen_entry *e);
/* The entry of an earlier crossing; NULL if none is kept. */
struct gen_entry *gen_earlier(uint32_t index, uint64_t crossing);
int gen_time_is_up(void);
/* MPI: the rank that runs here and how many there are, before gen_main; what a rank has to send. */
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

/* One function a site, so that every call has its own line, address and function name. */
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
