/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Where threads spend their time on a CPU. Each sample of a thread is charged to the phase of the
 * thread in which it falls, or to the barrier in which the thread waited at that time. For late
 * episodes, the samples of the last arriver are compared with those of the reference thread
 * (cause.c). This code does no I/O. Memory use is bounded: what does not fit is counted.
 */
#ifndef ANALYSE_PLACES_H
#define ANALYSE_PLACES_H

#include "model/model.h"

struct arena;
struct cause_env;
struct report_callsite;
struct report_env;
struct report_function;
struct report_places;
struct places;

/* Return NULL when out of memory. @env must outlive the result. */
struct places *places_new(const struct cause_env *env);
void places_free(struct places *places);

/*
 * Return a number for the stack of a sample; MODEL_NONE: its stack is unknown, there is no
 * room for it or, with *@err set, out of memory.
 */
uint32_t places_chain(struct places *places, const struct model_sample *sample, int *err);
/*
 * Keep a sample, with its chain from places_chain() (MODEL_NONE: it counts as one of unknown code),
 * until the episode that ends its phase. Return 0 or -ENOMEM.
 */
int places_sample(struct places *places, uint32_t thread, const struct model_sample *sample,
		  uint32_t chain);
/*
 * Name the innermost function of the program's own code in a chain. Return 1 and *@out, 0 if
 * nothing is known, or -ENOMEM.
 */
int places_name(const struct places *places, uint32_t chain, const struct report_env *env,
		struct arena *a, struct report_callsite *out);
/* The same for a stack of @n call sites, innermost first. */
int places_name_stack(const uint32_t *sites, uint32_t n, const struct report_env *env,
		      struct arena *a, struct report_callsite *out);
/*
 * Charge the samples of all members of an episode that is not nested. @ref is the member with which
 * the last one is compared, or NULL if the last one was not late. Return 0 or -ENOMEM.
 */
int places_episode(struct places *places, const struct model_episode *episode,
		   const struct model_member *ref);
/*
 * Return the call site at which most samples of a member fell in the phase that ended at the last
 * episode of places_episode(): the innermost one in the program's own code. MODEL_NONE: there are
 * fewer than 3 samples at one stack.
 */
uint32_t places_member_site(const struct places *places, const struct report_env *env,
			    const struct model_member *member);
/* Fold a barrier into another one. Return 0 or -ENOMEM. */
int places_fold(struct places *places, uint32_t from, uint32_t into);

/* Number of samples that were charged to no phase: no room, or no episode ended the phase. */
uint64_t places_left(const struct places *places);
/* Count a sample of a thread that the model does not know. */
void places_leave(struct places *places);

/*
 * Set *out to the places at which late threads spent significantly more time than their references
 * before @barrier, largest difference first, and then to the places at which threads spun in it.
 * @alike: chance explains which thread is late. @a owns the result. Return 0 or -ENOMEM.
 */
int places_of(const struct places *places, uint32_t barrier, bool alike,
	      const struct report_env *env, struct arena *a, struct report_places *out);

/*
 * Return the call site at which the last arrivers at @barrier spent more time on a CPU than their
 * references, by the largest difference, over its late episodes so far. MODEL_NONE: no place is
 * significant. The answer is renewed whenever the number of late episodes has grown by half.
 */
uint32_t places_more_site(struct places *places, uint32_t barrier, const struct report_env *env);

/* The samples with one stack at one barrier, as times on a CPU in ns. */
struct places_stack {
	uint32_t n;
	const uint32_t *sites; /* innermost first, for report_env.site */
	uint64_t work_ns; /* all members, in the phases that end at the barrier */
	uint64_t spin_ns; /* all members, inside the barrier */
	/* the last arrivers, and the threads with which they are compared, in late episodes */
	uint64_t last_ns, reference_ns;
};

/* Call @each with each stack at @barrier (report_barrier.index). */
void places_each_stack(const struct places *places, uint32_t barrier,
		       void (*each)(void *ctx, const struct places_stack *stack), void *ctx);

/* maximum number of functions of a barrier; with so many, there may have been more */
#define PLACES_FUNCTIONS 64

/*
 * Set *out and *n to the functions in which members were on a CPU in the phases that end at
 * @barrier, most time first. Further functions are left out. @a owns the result. Return 0 or
 * -ENOMEM.
 */
int places_functions(const struct places *places, uint32_t barrier, const struct report_env *env,
		     struct arena *a, struct report_function **out, uint32_t *n);

/* Words about the place with the largest difference. They are "" if there is none. */
struct places_words {
	char clause[288]; /* a part of a sentence: "24.0 of 28.0 ms more in relax() ocean.c:212" */
	/*
	 * the place alone: "relax() ocean.c:212"; "" if less than half of the difference is there
	 */
	char at[224];
	double more_ns; /* the difference there, over all late episodes */
};

void places_words(const struct report_places *places, struct places_words *out);

/*
 * Estimate the difference between two times from samples. The samples are divided into batches of
 * episodes; the interval is by the jackknife over the batches, and at least that of a multinomial
 * distribution of all samples (Efron and Tibshirani, An Introduction to the Bootstrap, chapter 11;
 * Agresti and Coull 1998).
 */
#define PLACES_BATCHES 16

struct places_side {
	/* samples at the place, all samples, and the measured time on a CPU (ns), by batch */
	uint32_t at[PLACES_BATCHES], all[PLACES_BATCHES];
	uint64_t oncpu_ns[PLACES_BATCHES];
};

struct places_estimate {
	double last_ns, reference_ns; /* time at the place, ns */
	double low_ns, high_ns; /* 95 % interval of the difference */
};

/* Pure. @reference may be NULL: its time is then 0. */
void places_estimate(const struct places_side *last, const struct places_side *reference,
		     struct places_estimate *out);

#endif /* ANALYSE_PLACES_H */
