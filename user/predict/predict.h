/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Predict the run of a program on another machine by trace-driven simulation (Shanmugam, Malony and
 * Mohr: Performance Extrapolation of Parallel Programs, 1995, section 3). The input is each
 * thread's computing between the events that it shares with other threads. The output is the time
 * of the run on another machine, which a set of parameters describes. This code does no I/O and
 * reads no clock.
 *
 * Times are nanoseconds: integers in the input, doubles in the output (parameters have fractions).
 */
#ifndef PREDICT_PREDICT_H
#define PREDICT_PREDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PREDICT_NONE	       UINT32_MAX
#define PREDICT_PROCESSORS_MAX 65536
#define PREDICT_THREADS_MAX    65536

/* --- input ------------------------------------------------------------------------------------ */

/* What a thread does after it has computed. */
enum predict_op {
	PREDICT_END, /* ends */
	PREDICT_MEET, /* arrives at a barrier, and waits for the episode's other members */
	PREDICT_READ, /* requests data from another thread, and waits for the answer */
	PREDICT_WRITE, /* sends data to another thread, and continues */
	PREDICT_DELAY, /* needs no processor for a time: sleep, I/O */
};

/* Computing, followed by an op. A step has only 16 bytes, because each crossing needs a step. */
struct predict_step {
	uint64_t ns; /* PREDICT_DELAY: the delay; otherwise recorded CPU time before the op */
	uint32_t what; /* index of the episode, or of the other thread */
	uint32_t bytes : 29; /* size of a read's answer, or of a write */
	uint32_t op : 3; /* enum predict_op */
};

#define PREDICT_BYTES_MAX ((1u << 29) - 1)

struct predict_thread {
	uint64_t n, cap;
	struct predict_step *steps;
};

struct predict_episode {
	uint32_t site; /* site of the phase that ends here: the caller's index, below .nsites */
	uint32_t n; /* number of members: threads with a step that has this episode */
};

/* All zero initially; freed by predict_input_free(). */
struct predict_input {
	uint32_t nthreads, cap_threads;
	struct predict_thread *threads;
	uint32_t nepisodes, cap_episodes;
	struct predict_episode *episodes;
	uint32_t nsites;
	/*
	 * Computing on one processor before the threads begin and after they end (Amdahl's serial
	 * part), ns.
	 */
	uint64_t before_ns, after_ns;
};

/* Add a thread. Return its index, -ENOMEM or -E2BIG. */
int predict_add_thread(struct predict_input *in);
/* Add an episode at @site, without members. *@out is its index. Return 0, -ENOMEM or -E2BIG. */
int predict_add_episode(struct predict_input *in, uint32_t site, uint32_t *out);
/*
 * Add a step of @thread; PREDICT_MEET makes @thread a member of the episode. Return 0, -EINVAL (no
 * such thread or episode) or -ENOMEM.
 */
int predict_add_step(struct predict_input *in, uint32_t thread, enum predict_op op, uint64_t ns,
		     uint32_t what, uint32_t bytes);
void predict_input_free(struct predict_input *in);

/*
 * Compute the ideal parallel time (section 3.2): each thread has its own processor, barriers and
 * data cost nothing, and all members leave an episode at its last arrival. Put each episode's
 * release time into @released, which may be NULL, and the end of the last thread into *@total_ns.
 * Return 0, -ENOMEM, or -EDEADLK if threads wait for each other in a cycle.
 */
int predict_translate(const struct predict_input *in, double *released, double *total_ns);

/* --- machine ---------------------------------------------------------------------------------- */

enum predict_barrier {
	PREDICT_LINEAR,
	PREDICT_CENTRAL,
	PREDICT_TREE,
	PREDICT_DISSEMINATION,
	PREDICT_FREE
};
enum predict_scheduler { PREDICT_GLOBAL, PREDICT_BLOCK, PREDICT_CYCLIC };
enum predict_service { PREDICT_NO_INTERRUPT, PREDICT_INTERRUPT, PREDICT_POLL };
enum predict_topology {
	PREDICT_CROSSBAR,
	PREDICT_BUS,
	PREDICT_RING,
	PREDICT_MESH,
	PREDICT_HYPERCUBE,
	PREDICT_FATTREE
};

/*
 * All parameters of a machine. predict_params[] lists their names. Parameters from the paper's
 * table 1 and figures have the paper's names. Times are in ns, transfer times in ns per byte.
 */
struct predict_machine {
	char name[64];

	/* Processors. */
	double mips_ratio; /* factor of computing times: 2 is a processor half as fast */
	/* enum predict_scheduler: how threads share processors if there are fewer processors */
	double scheduler;
	double quantum; /* time after which another ready thread runs; 0: unlimited */
	double switch_time; /* time for a processor to switch to another thread */
	/* number of processors that share memory; 1: no memory is shared */
	double cores_per_cluster;

	/* Barriers. */
	double barrier; /* enum predict_barrier */
	double arity; /* arity of the combining tree */
	double entry_time, exit_time, check_time, exit_check_time, model_time;
	double by_msgs; /* 1: members send messages; 0: they share memory */
	double msg_size; /* size of these messages, bytes */
	/* central: time of one update of the counter; threads update it one after the other */
	double counter_time;
	/* central: time that the last arriver takes to wake one thread on another processor */
	double wake_time;
	double flag_time; /* time from writing a flag until another processor sees it */

	/* Remote data. */
	double service; /* enum predict_service */
	double poll_interval; /* computing time between two polls for messages */
	double poll_time; /* time of one poll */
	double interrupt_time; /* time to interrupt a computation and to resume it */
	double receive_time; /* time to take one message from the queue */
	double build_time; /* time to build one message */
	double startup_time; /* time to send one message */
	double byte_time; /* time per byte on the network */
	double request_size; /* size of a request for data, bytes */
	/* access to data in shared memory: time per access, and time per byte */
	double cluster_startup, cluster_byte;
	double topology; /* enum predict_topology: network between the clusters */
	double hop_time;
	double contention; /* 0: none; 1: messages share the links of the bisection */

	bool access_free; /* not a parameter, but a what-if: remote data cost nothing */
};

enum predict_unit {
	PREDICT_TIME,
	PREDICT_TIME_A_BYTE,
	PREDICT_NUMBER,
	PREDICT_WHOLE,
	PREDICT_BYTES,
	PREDICT_WORD
};

struct predict_param {
	const char *name; /* "MipsRatio" */
	const char *also; /* second name; NULL if none */
	size_t offset; /* offset of its double in struct predict_machine */
	enum predict_unit unit;
	double least, most;
	/* words of a PREDICT_WORD, by value, with a final NULL; otherwise NULL */
	const char *const *words;
	const char *help;
};

/* The last entry has a NULL name. */
extern const struct predict_param predict_params[];

/* Return the name or the description of a built-in machine, or NULL after the last machine. */
const char *predict_machine_name(unsigned i);
const char *predict_machine_text(unsigned i);
/* Find a built-in machine. Return 0 or -ENOENT. */
int predict_machine_find(const char *name, struct predict_machine *out);
/*
 * Set parameters of *@m from lines NAME = VALUE UNIT; # starts a comment. "machine = NAME" names
 * the machine, "like = NAME" takes a built-in machine's values. Return 0, or -EINVAL and a sentence
 * without its full stop in why[@size].
 */
int predict_machine_parse(struct predict_machine *m, const char *text, char *why, size_t size);
/* Like predict_machine_parse(), for one "NAME=VALUE[ ]UNIT". */
int predict_machine_set(struct predict_machine *m, const char *assignment, char *why, size_t size);
/*
 * Check whether the parameters are possible together. Return the same as predict_machine_parse().
 */
int predict_machine_check(const struct predict_machine *m, char *why, size_t size);
/* Print a parameter's value in the format of a parameter file, "5 us", into out[@size]. */
void predict_param_print(const struct predict_machine *m, const struct predict_param *p, char *out,
			 size_t size);
double predict_param_get(const struct predict_machine *m, const struct predict_param *p);

/* --- output ----------------------------------------------------------------------------------- */

/*
 * Sums over the phases that end at one site. For one team, the phase times of its barriers, of the
 * tail and of the serial parts add up to the time of the run.
 */
struct predict_phase {
	uint64_t episodes;
	double time_ns; /* sum of the phase times */
	double work_ns; /* computing time of all threads */
	double wait_ns; /* waits of all members for the last arriver */
	/* time of all members to enter the barrier, and to leave it after the last arrival */
	double barrier_ns;
	double access_ns; /* time of all threads to access remote data */
	double queue_ns; /* time in which threads were ready, but no processor was free */
};

/* One simulation. */
struct predict_run {
	double time_ns; /* time until the last thread ends */
	uint64_t events; /* number of simulated events */
	double work_ns, access_ns; /* summed over all processors */
	/* time to serve messages of other processors, summed over all processors */
	double service_ns;
	uint64_t messages;
	/*
	 * The phases of .nsites sites, then the time after the last episode, then the serial parts.
	 */
	uint32_t nphases;
	struct predict_phase *phases;
};

/* A predicted crossing, or the end of a thread. Times count from the start of the run. */
struct predict_crossed {
	uint32_t thread;
	/* PREDICT_NONE for the end of the thread; both times below are then equal */
	uint32_t episode;
	uint32_t processor; /* processor on which the thread continues */
	double arrive_ns, depart_ns;
	double work_ns; /* computing since the previous departure, including entering the barrier */
	double queue_ns; /* waiting for a processor from the previous departure to the arrival */
	double inside_queue_ns; /* waiting for a processor after the thread was allowed to leave */
};

/*
 * Called for each crossing when its thread continues, nearly in the order of departures, and for
 * the end of each thread. May be NULL.
 */
typedef void predict_crossing(void *ctx, const struct predict_crossed *crossed);

/*
 * Simulate @in on @processors of @m. Free *@out with predict_run_free(). Return 0, -ENOMEM,
 * -EDEADLK, or -EINVAL for an impossible number of processors or impossible parameters.
 */
int predict_simulate(const struct predict_input *in, const struct predict_machine *m,
		     uint32_t processors, predict_crossing *crossing, void *ctx,
		     struct predict_run *out);
void predict_run_free(struct predict_run *run);

/*
 * What limits the speed of a phase. This is shown by the what-if that shortens the phase most, if
 * it shortens the phase enough.
 */
enum predict_limit {
	PREDICT_BY_WORK, /* no what-if helps, because the phase computes */
	PREDICT_BY_DELAY, /* no what-if helps, because the phase sleeps or waits for I/O */
	PREDICT_BY_SERIAL, /* hardly more than one thread computes */
	PREDICT_BY_THREADS, /* there are fewer threads than processors */
	PREDICT_BY_BALANCE, /* its threads compute for different times */
	PREDICT_BY_BARRIER, /* the cost of barriers */
	PREDICT_BY_ACCESS, /* remote data */
};

/* The prediction for one number of processors. */
struct predict_point {
	uint32_t processors;
	struct predict_run run;
	double speedup; /* time on one processor / time */
	double efficiency; /* speedup / processors */
	/*
	 * Index in run.phases of the site with the most processor time lost: a site, .nsites (the
	 * tail) or .nsites + 1 (the serial parts).
	 */
	uint32_t limit;
	enum predict_limit why;
	/* time if all members of an episode computed for the same time before it */
	double balanced_ns;
	double barrier_free_ns; /* time if barriers cost nothing */
	/* time if remote data cost nothing; NAN if there is no remote data */
	double access_free_ns;
};

struct predict_result {
	uint32_t n;
	struct predict_point *points; /* in the order requested */
	double serial_ns; /* time on one processor */
	double ideal_ns; /* time with a processor per thread, without costs */
	double work_ns; /* recorded computing of all threads */
	uint64_t events; /* number of events of all simulations */
};

/*
 * Simulate each of @n numbers of processors, with the what-ifs. Return the same as
 * predict_simulate().
 */
int predict_run_all(const struct predict_input *in, const struct predict_machine *m,
		    const uint32_t *processors, uint32_t n, struct predict_result *out);
void predict_result_free(struct predict_result *r);

/*
 * Put the default numbers of processors into @out: 1, 2, 4, ... up to the first number above
 * @threads, and @threads itself, sorted. Return how many, at most @max.
 */
uint32_t predict_counts(uint32_t threads, uint32_t *out, uint32_t max);
/* Parse "1,2,4-8" into sorted, distinct numbers. Return how many, or -EINVAL, -E2BIG. */
int predict_counts_parse(const char *list, uint32_t *out, uint32_t max);

#endif /* PREDICT_PREDICT_H */
