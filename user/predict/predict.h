/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Prediction: the same program on a machine it did not run on, by trace-driven simulation (Shanmugam, Malony and Mohr:
 * Performance Extrapolation of Parallel Programs, 1995, section 3). What goes in is what each thread computed between
 * the events that it shares with others; what comes out is how long that takes on a machine that a set of parameters
 * describes. Pure: no I/O, no clock.
 *
 * Times are nanoseconds: whole ones in what goes in, double in what comes out (parameters have fractions).
 */
#ifndef PREDICT_PREDICT_H
#define PREDICT_PREDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PREDICT_NONE	       UINT32_MAX
#define PREDICT_PROCESSORS_MAX 65536
#define PREDICT_THREADS_MAX    65536

/* --- what the threads did -------------------------------------------------------------------------- */

/* What a thread does after having computed. */
enum predict_op {
	PREDICT_END, /* nothing more */
	PREDICT_MEET, /* arrives at a barrier and waits there for the others of the meeting */
	PREDICT_READ, /* asks another thread for data, and waits for them */
	PREDICT_WRITE, /* sends data to another thread, and goes on */
	PREDICT_DELAY, /* needs no processor for a time: sleep, I/O */
};

/* One step: computing, then an op. 16 bytes, since there are as many as crossings. */
struct predict_step {
	uint64_t ns; /* PREDICT_DELAY: the delay; else CPU time before the op, as recorded */
	uint32_t what; /* the meeting; or the thread asked or sent to */
	uint32_t bytes : 29; /* of a read's answer or a write */
	uint32_t op : 3; /* enum predict_op */
};

#define PREDICT_BYTES_MAX ((1u << 29) - 1)

struct predict_thread {
	uint64_t n, cap;
	struct predict_step *steps;
};

struct predict_episode {
	uint32_t site; /* which phase ends there: an index of the caller's, below nsites */
	uint32_t n; /* who meets: so many threads have a step that names it */
};

/* Zeroed to begin with; released by predict_input_free(). */
struct predict_input {
	uint32_t nthreads, cap_threads;
	struct predict_thread *threads;
	uint32_t nepisodes, cap_episodes;
	struct predict_episode *episodes;
	uint32_t nsites;
	/* Computing of one processor while there are no threads yet, and when all have ended (Amdahl's serial part). */
	uint64_t before_ns, after_ns;
};

/* A thread more; its index, or -ENOMEM, -E2BIG. */
int predict_add_thread(struct predict_input *in);
/* A meeting more at @site; members come with their steps. Its index in *@out. 0, -ENOMEM or -E2BIG. */
int predict_add_episode(struct predict_input *in, uint32_t site, uint32_t *out);
/* A step of @thread; of a meeting, one member more. 0, -EINVAL (no such thread or meeting) or -ENOMEM. */
int predict_add_step(struct predict_input *in, uint32_t thread, enum predict_op op, uint64_t ns,
		     uint32_t what, uint32_t bytes);
void predict_input_free(struct predict_input *in);

/*
 * Ideal parallel time (section 3.2): each thread on a processor of its own, barriers and data at no cost, all leave a
 * meeting when the last has come. @released, of nmeetings, is given each meeting's moment (may be NULL); *@total_ns the
 * end of the last thread. 0, -ENOMEM, or -EDEADLK: threads wait for each other in circles.
 */
int predict_translate(const struct predict_input *in, double *released, double *total_ns);

/* --- the machine --------------------------------------------------------------------------------- */

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
 * All parameters, by the names that predict_params has for them; times in ns, of transfers in ns a byte. Those of table
 * 1 and of the figures have the paper's names.
 */
struct predict_machine {
	char name[64];

	/* Processors. */
	double mips_ratio; /* times computing is multiplied with: 2 is a processor half as fast */
	double scheduler; /* enum predict_scheduler: which thread runs where when there are more than processors */
	double quantum; /* after so long another thread that waits has its turn; 0: never */
	double switch_time; /* of a processor, to another thread than it ran before */
	double cores_per_cluster; /* processors that share memory; 1: none do */

	/* Barriers. */
	double barrier; /* enum predict_barrier */
	double arity; /* of the combining tree */
	double entry_time, exit_time, check_time, exit_check_time, model_time;
	double by_msgs; /* 1: with messages */
	double msg_size; /* of those, bytes */
	double counter_time; /* central: an arrival's update of the counter, one after the other */
	double wake_time; /* central: of the last, for each of another processor, one after the other */
	double flag_time; /* from writing a flag to another processor's seeing it */

	/* Remote data. */
	double service; /* enum predict_service */
	double poll_interval; /* of computing */
	double poll_time; /* a look, whether there are messages */
	double interrupt_time; /* to interrupt a computation and to go back to it */
	double receive_time; /* to take one message from the queue */
	double build_time; /* to make one */
	double startup_time; /* to send one */
	double byte_time; /* on the way */
	double request_size; /* bytes of a message that asks */
	double cluster_startup, cluster_byte; /* of data in memory that is shared */
	double topology; /* enum predict_topology, of the clusters */
	double hop_time;
	double contention; /* 0: none; 1: messages on the way share the links of the bisection */

	bool access_free; /* what if remote data cost nothing: no parameter */
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
	const char *also; /* another name; NULL */
	size_t offset; /* of the double in struct predict_machine */
	enum predict_unit unit;
	double least, most;
	const char *const *words; /* of PREDICT_WORD, by value; ends with NULL */
	const char *help;
};

/* Ends with a NULL name. */
extern const struct predict_param predict_params[];

/* Names of the machines that are built in, NULL after the last, and what each is. */
const char *predict_machine_name(unsigned i);
const char *predict_machine_text(unsigned i);
/* 0 or -ENOENT. */
int predict_machine_find(const char *name, struct predict_machine *out);
/*
 * Parameters in lines NAME = VALUE UNIT, # before comments, over what *@m has; "machine = NAME" names it, "like = NAME"
 * takes a built-in one's. 0, or -EINVAL and a sentence without its full stop in why[@size].
 */
int predict_machine_parse(struct predict_machine *m, const char *text, char *why, size_t size);
/* One of them: "NAME=VALUE[ ]UNIT". The same. */
int predict_machine_set(struct predict_machine *m, const char *assignment, char *why, size_t size);
/* Whether what was set can be together. The same. */
int predict_machine_check(const struct predict_machine *m, char *why, size_t size);
/* A parameter's value as a file has it, "5 us", into out[@size]. */
void predict_param_print(const struct predict_machine *m, const struct predict_param *p, char *out,
			 size_t size);
double predict_param_get(const struct predict_machine *m, const struct predict_param *p);

/* --- what comes out ------------------------------------------------------------------------------- */

/* The phases that end at one site, over the run. Those of one team, with the tail, add up to the whole. */
struct predict_phase {
	uint64_t episodes;
	double time_ns; /* phase times */
	double work_ns; /* computing in them, of all threads */
	double wait_ns; /* waiting for the last, of all members */
	double barrier_ns; /* between the last's arrival and their leaving, of all members; entering too */
	double access_ns; /* for remote data, of all threads */
	double queue_ns; /* ready, and no processor free: of all threads */
};

/* One simulation. */
struct predict_run {
	double time_ns; /* until the last thread has ended */
	uint64_t events; /* of the simulator */
	double work_ns, access_ns,
		service_ns; /* of all processors; service: serving others' messages */
	uint64_t messages;
	/* nsites, and two more: what comes after the last meeting, and the serial parts before and after all threads */
	uint32_t nphases;
	struct predict_phase *phases;
};

/* A crossing as it would be there, or a thread's end; ns since the start. */
struct predict_crossed {
	uint32_t thread;
	uint32_t
		episode; /* PREDICT_NONE: the end of the thread, which is both its arrival and its departure */
	uint32_t processor; /* where it went on */
	double arrive_ns, depart_ns;
	double work_ns; /* computing since the last departure, entering included */
	double queue_ns; /* waiting for a processor since then; not of depart_ns */
	double inside_queue_ns; /* the same after it might have left */
};

/* Is told of each, as threads go on: nearly in the order of departures. Optional. */
typedef void predict_crossing(void *ctx, const struct predict_crossed *crossed);

/*
 * Simulates @in on @processors of @m. *@out is to be released by predict_run_free(). 0, -ENOMEM, -EINVAL (processors,
 * parameters), -EDEADLK.
 */
int predict_simulate(const struct predict_input *in, const struct predict_machine *m,
		     uint32_t processors, predict_crossing *crossing, void *ctx,
		     struct predict_run *out);
void predict_run_free(struct predict_run *run);

/* What keeps a phase from being faster: what it would gain most from, if that is worth naming. */
enum predict_limit {
	PREDICT_BY_WORK, /* nothing of these: it computes */
	PREDICT_BY_DELAY, /* likewise: it sleeps, or waits for I/O */
	PREDICT_BY_SERIAL, /* hardly more than one thread computes */
	PREDICT_BY_THREADS, /* there are fewer threads than processors */
	PREDICT_BY_BALANCE, /* its threads compute for different times */
	PREDICT_BY_BARRIER, /* the barriers themselves */
	PREDICT_BY_ACCESS, /* remote data */
};

/* One number of processors. */
struct predict_point {
	uint32_t processors;
	struct predict_run run;
	double speedup; /* time on one processor / time */
	double efficiency; /* speedup / processors */
	/* The site whose phases keep most processor time from work; nsites: the tail; one more: the serial parts. */
	uint32_t limit;
	enum predict_limit why;
	double balanced_ns; /* time if all members of each meeting had computed the same before it */
	double barrier_free_ns; /* if barriers cost nothing */
	double access_free_ns; /* if remote data cost nothing; NAN: there are none */
};

struct predict_result {
	uint32_t n;
	struct predict_point *points; /* as asked for */
	double serial_ns; /* on one processor */
	double ideal_ns; /* as many processors as threads, all costs nothing */
	double work_ns; /* computing of all threads, as recorded */
	uint64_t events; /* of all simulations */
};

/* Simulates for each of @n numbers of processors, with the what-ifs. As predict_simulate(). */
int predict_run_all(const struct predict_input *in, const struct predict_machine *m,
		    const uint32_t *processors, uint32_t n, struct predict_result *out);
void predict_result_free(struct predict_result *r);

/*
 * 1, 2, 4, ... to beyond @threads, and @threads itself, in order: the numbers to try if none are given. At most
 * @max.
 */
uint32_t predict_counts(uint32_t threads, uint32_t *out, uint32_t max);
/* "1,2,4-8": numbers in order, each once. How many, or -EINVAL, -E2BIG. */
int predict_counts_parse(const char *list, uint32_t *out, uint32_t max);

#endif /* PREDICT_PREDICT_H */
