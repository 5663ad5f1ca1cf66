// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check the simulator against cases worked out by hand. Times in comments are in us. Table 1 is
 * that of Shanmugam, Malony and Mohr, Performance Extrapolation of Parallel Programs, 1995.
 */
#include "test_predict_util.h"

#define SITE 0

/* Return one episode. Thread i of @n arrives after work[i] ns. */
static struct predict_input one_episode(uint32_t n, const uint64_t *work)
{
	struct predict_input in;
	struct gen g;

	gen_begin(&g, n);
	for (uint32_t i = 0; i < n; i++)
		gen_work(&g, i, work[i]);
	gen_meet(&g, SITE);
	assert_int_equal(gen_end(&g, &in), 0);
	return in;
}

static struct predict_input together(uint32_t n)
{
	uint64_t work[64];

	for (uint32_t i = 0; i < n; i++)
		work[i] = 100 * US;
	return one_episode(n, work);
}

#define TABLE_1                                                                                  \
	"EntryTime=5us", "ExitTime=5us", "CheckTime=2us", "ExitCheckTime=2us", "ModelTime=10us", \
		"BarrierMsgSize=128"

/*
 * Parameters of table 1, without messages. All threads arrive together and take E = 5 to enter. The
 * master's first look ends at E + C = 7 and finds all arrivals. The master lowers the barrier at 7
 * + M = 17. A slave's looks end at E + 2 k, and 17 = 5 + 2 x 6, so the sixth look sees the lowered
 * barrier at once. All threads leave at 17 + X = 22, for any number of threads.
 */
static void test_linear_flags(void **state)
{
	struct predict_machine m =
		MACHINE("ideal", "BarrierModel=linear", TABLE_1, "BarrierByMsgs=0");

	for (uint32_t n = 2; n <= 64; n *= 2) {
		struct predict_input in CLEANUP(predict_input_free) = together(n);

		assert_close(time_on(&in, &m, n), 100e3 + 22e3);
	}
	/*
	 * ModelTime is 11: the barrier is lowered at 18. Looks end at 17 and 19, so the slaves see
	 * the lowered barrier at 19.
	 */
	m = MACHINE("ideal", "BarrierModel=linear", TABLE_1, "BarrierByMsgs=0", "ModelTime=11us");
	struct predict_input in CLEANUP(predict_input_free) = together(4);

	assert_close(time_on(&in, &m, 4), 100e3 + 24e3);
}

/*
 * Each message takes B to build and S to start up, and T for its 128 bytes. It reaches the master
 * at A = E + B + S + T. The master receives n - 1 messages in (n - 1) C, and lowers the barrier
 * after M. The release for the last slave is sent after (n - 1)(B + S), and is seen after T and one
 * look. Table 1 with B = 1, S = 10, 0.05 a byte: T = 6.4, A = 22.4.
 */
static void test_linear_messages(void **state)
{
	struct predict_machine m =
		MACHINE("ideal", "BarrierModel=linear", TABLE_1, "BarrierByMsgs=1",
			"MsgBuildTime=1us", "CommStartupTime=10us", "ByteTransferTime=0.05us/B");

	for (uint32_t n = 2; n <= 64; n *= 2) {
		struct predict_input in CLEANUP(predict_input_free) = together(n);
		double by_hand = 22.4 + (n - 1) * 2 + 10 + (n - 1) * 11 + 6.4 + 2 + 5;

		assert_close(time_on(&in, &m, n), 100e3 + 1e3 * by_hand);
	}
}

/*
 * One thread is late. The master has been looking since 5, so it finds the arrival at the end of
 * the current look.
 */
static void test_linear_late(void **state)
{
	uint64_t work[] = { 0, 100 * US + 500 };
	struct predict_input in CLEANUP(predict_input_free) = one_episode(2, work);
	struct predict_machine m =
		MACHINE("ideal", "BarrierModel=linear", TABLE_1, "BarrierByMsgs=0");
	struct predict_run run CLEANUP(predict_run_free) = simulate(&in, &m, 2);

	/*
	 * The slave has entered at 105.5. The master's looks end at 5 + 2 k: the look at 107 finds
	 * the arrival, and the barrier is lowered at 117. The slave's looks end at 105.5 + 2 k: the
	 * look at 117.5 sees this.
	 */
	assert_fields(&run, CLOSE(time_ns, 117.5e3 + 5e3), CLOSE(phases[SITE].wait_ns, 100.5e3),
		      CLOSE(phases[SITE].time_ns, 105.5e3), IS(phases[SITE].episodes, 1));
}

/*
 * All n threads update the counter, one after the other, and then n - 1 threads are woken, one
 * after the other. The last of these continues after the flag's travel time.
 */
static void test_central(void **state)
{
	struct predict_machine m = MACHINE("ideal", "BarrierModel=central", "CounterTime=0.5us",
					   "WakeTime=1us", "FlagTime=4us", "ModelTime=2us");

	for (uint32_t n = 2; n <= 32; n *= 2) {
		struct predict_input in CLEANUP(predict_input_free) = together(n);

		assert_close(time_on(&in, &m, n), 100e3 + n * 500.0 + 2e3 + (n - 1) * 1e3 + 4e3);
	}
	/*
	 * On one processor, the first thread arrives at 100 and the second at 200. There are two
	 * updates, and then the barrier is lowered. No thread on another processor is woken, and
	 * the flag does not travel.
	 */
	struct predict_input in CLEANUP(predict_input_free) = together(2);

	assert_close(time_on(&in, &m, 1), 200e3 + 500 + 2e3);
	predict_input_free(&in);
	/*
	 * Four threads on two processors arrive at 100, 100, 200 and 200. Two of the threads that
	 * must be woken are on the other processor.
	 */
	in = together(4);
	assert_close(time_on(&in, &m, 2), 200e3 + 2 * 500 + 2e3 + 2 * 1e3 + 4e3);
}

/*
 * Five threads form a tree: thread 0 has the children 1 and 2, and thread 1 has the children 3 and
 * 4. A flag takes 3 to travel, a look takes 1, and lowering the barrier takes 2.
 */
static void test_tree(void **state)
{
	struct predict_input in CLEANUP(predict_input_free) = together(5);
	struct predict_machine m =
		MACHINE("ideal", "BarrierModel=tree", "BarrierArity=2", "FlagTime=3us",
			"CheckTime=1us", "ExitCheckTime=1us", "ModelTime=2us");

	/*
	 * Thread 1 has the flags of both children at 3 + 1 + 1 = 5. Thread 0 has thread 2's flag at
	 * 3 + 1 = 4, and thread 1's flag at 5 + 3 + 1 = 9. Thread 0 lowers the barrier at 11.
	 * Thread 1 sees this at 15, and thread 3 at 19.
	 */
	assert_close(time_on(&in, &m, 5), 100e3 + 19e3);
}

/*
 * The number of rounds is the binary logarithm of the number of threads, rounded up. Each round
 * takes a flag and a look.
 */
static void test_dissemination(void **state)
{
	static const uint32_t rounds[][2] = { { 2, 1 }, { 3, 2 }, { 4, 2 }, { 5, 3 }, { 32, 5 } };
	struct predict_machine m =
		MACHINE("ideal", "BarrierModel=dissemination", "FlagTime=3us", "CheckTime=1us");

	for (size_t i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
		struct predict_input in CLEANUP(predict_input_free) = together(rounds[i][0]);

		assert_close(time_on(&in, &m, rounds[i][0]), 100e3 + rounds[i][1] * 4e3);
	}
}

/*
 * In every model no thread leaves before the last arrival, and a barrier without costs takes no
 * time.
 */
static void test_no_model_leaves_early(void **state)
{
	static const char *const models[] = { "linear", "central", "tree", "dissemination",
					      "free" };
	uint64_t work[] = { 5 * US, 90 * US, 20 * US, 70 * US, 0, 33 * US, 80 * US };

	for (size_t i = 0; i < 5; i++) {
		char model[64];
		struct predict_machine m;

		snprintf(model, sizeof(model), "BarrierModel=%s", models[i]);
		m = MACHINE("ideal", model);
		for (size_t last = 0; last < 7; last++) {
			struct predict_input in;

			work[last] += 200 * US;
			in = one_episode(7, work);
			assert_close(time_on(&in, &m, 7), (double)work[last]);
			predict_input_free(&in);
			work[last] -= 200 * US;
		}
	}
}

/* --- processors ------------------------------------------------------------------------------ */

static struct predict_input no_episode(uint32_t n, uint64_t work)
{
	struct predict_input in;
	struct gen g;

	gen_begin(&g, n);
	for (uint32_t i = 0; i < n; i++) {
		gen_work(&g, i, work);
		gen_step(&g, i, PREDICT_END, 0, 0);
	}
	assert_int_equal(gen_end(&g, &in), 0);
	return in;
}

/*
 * Three threads with 3 ms of work each run on two processors. If each runs to its end, the third
 * begins at 3 ms. In slices of 1 ms, the threads that run are 0 and 1, then 2 and 0, 1 and 2, 0 and
 * 1, and at last 2 alone. This takes 5 ms.
 */
static void test_scheduler(void **state)
{
	struct predict_input in CLEANUP(predict_input_free) = no_episode(3, 3 * MS);
	struct predict_machine m = MACHINE("ideal", "Scheduler=global");

	assert_close(time_on(&in, &m, 2), 6e6);
	m = MACHINE("ideal", "Scheduler=global", "Quantum=1ms");
	assert_close(time_on(&in, &m, 2), 5e6);
	m = MACHINE("ideal", "Scheduler=block", "Quantum=1ms");
	assert_close(time_on(&in, &m, 2), 6e6);
	assert_close(time_on(&in, &m, 3), 3e6);
	assert_close(time_on(&in, &m, 64), 3e6);
}

/* Two threads of 2 ms run in slices of 1 ms on one processor, with three switches. */
static void test_switches(void **state)
{
	struct predict_input in CLEANUP(predict_input_free) = no_episode(2, 2 * MS);
	struct predict_machine m = MACHINE("ideal", "Quantum=1ms", "SwitchTime=100us");

	assert_close(time_on(&in, &m, 1), 4.3e6);
	assert_close(time_on(&in, &m, 2), 2e6);
}

/*
 * Threads 0 to 3 have 4, 1, 1 and 2 ms of work. With block assignment, threads 0 and 1 share one of
 * two processors. With round-robin assignment, threads 0 and 2 share one.
 */
static void test_fixed(void **state)
{
	uint64_t work[] = { 4 * MS, 1 * MS, 1 * MS, 2 * MS };
	struct predict_input in CLEANUP(predict_input_free) = one_episode(4, work);
	struct predict_machine m = MACHINE("ideal", "Scheduler=block");

	assert_close(time_on(&in, &m, 2), 5e6);
	m = MACHINE("ideal", "Scheduler=cyclic");
	assert_close(time_on(&in, &m, 2), 5e6);
	m = MACHINE("ideal", "Scheduler=global"); /* the other processor runs threads 1, 2 and 3 */
	assert_close(time_on(&in, &m, 2), 4e6);
}

/* A delay needs no processor. Another thread can compute meanwhile. */
static void test_delay(void **state)
{
	struct predict_machine m = MACHINE("ideal", "MipsRatio=2");
	struct predict_input in CLEANUP(predict_input_free);
	struct gen g;

	gen_begin(&g, 2);
	assert_int_equal(predict_add_step(&g.in, 0, PREDICT_DELAY, 5 * MS, 0, 0), 0);
	gen_work(&g, 0, 1 * MS);
	gen_work(&g, 1, 2 * MS);
	gen_meet(&g, SITE);
	assert_int_equal(gen_end(&g, &in), 0);
	/*
	 * On a processor of half the speed, computing takes twice the time, and sleeping does not.
	 * Thread 1 computes until 4 ms, and thread 0 from 5 to 7 ms.
	 */
	assert_close(time_on(&in, &m, 1), 7e6);
	assert_close(time_on(&in, &m, 2), 7e6);
}

/* --- remote data ----------------------------------------------------------------------------- */

#define MESSAGES                                                                                 \
	"MsgBuildTime=1us", "CommStartupTime=5us", "ByteTransferTime=10ns/B", "RequestSize=100", \
		"ReceiveTime=2us", "InterruptTime=3us", "PollInterval=30us", "PollTime=1us"

/*
 * Thread 0 computes for 10 and requests 1000 bytes from thread 1, which computes for 100. Then both
 * threads cross.
 */
static struct predict_input one_read(void)
{
	struct predict_input in;
	struct gen g;

	gen_begin(&g, 2);
	gen_work(&g, 0, 10 * US);
	gen_read(&g, 0, 1, 1000);
	gen_work(&g, 1, 100 * US);
	gen_meet(&g, SITE);
	assert_int_equal(gen_end(&g, &in), 0);
	return in;
}

/*
 * In all policies, thread 0 sends its request at 10 + 1 + 5 = 16, and the request arrives at 17. An
 * answer takes 2 + 1 + 5 = 8 to send, 10 to travel and 2 to receive. With the policy "none", thread
 * 1 answers only while it waits, from 100 on. The answer is sent at 108, arrives at 118 and is
 * received at 120. With "interrupt", thread 1 begins to answer at 17 and needs 11, interrupt
 * included. The answer is sent at 28, arrives at 38 and is received at 40. Thread 1 arrives at the
 * barrier at 100 + 11. With "poll", thread 1 begins to answer at 31, when its first look ends. The
 * answer is sent at 39, arrives at 49 and is received at 51. Thread 1 looks 3 times, and arrives at
 * 100 + 3 + 8.
 */
static void test_policies(void **state)
{
	static const struct {
		const char *policy;
		double total, access, service;
	} cases[] = {
		{ "ServicePolicy=none", 120e3, 110e3, 10e3 },
		{ "ServicePolicy=interrupt", 111e3, 30e3, 13e3 },
		{ "ServicePolicy=poll", 111e3, 41e3, 10e3 },
	};
	struct predict_input in CLEANUP(predict_input_free) = one_read();

	for (size_t i = 0; i < 3; i++) {
		struct predict_machine m = MACHINE("ideal", MESSAGES, cases[i].policy);
		struct predict_run run CLEANUP(predict_run_free) = simulate(&in, &m, 2);

		assert_fields(&run, CLOSE(time_ns, cases[i].total),
			      CLOSE(access_ns, cases[i].access),
			      CLOSE(service_ns, cases[i].service), IS(messages, 2));
	}
}

/*
 * During a computation of 100 there are 9 looks at an interval of 10 (there is none at the end), 3
 * at an interval of 30, and 1 at an interval of 50.
 */
static void test_poll_interval(void **state)
{
	static const struct {
		const char *interval;
		double looks;
	} cases[] = { { "PollInterval=10us", 9 },
		      { "PollInterval=30us", 3 },
		      { "PollInterval=50us", 1 } };
	struct predict_input in CLEANUP(predict_input_free) = together(2);

	for (size_t i = 0; i < 3; i++) {
		struct predict_machine m =
			MACHINE("ideal", "ServicePolicy=poll", "PollTime=2us", cases[i].interval);

		assert_close(time_on(&in, &m, 2), 100e3 + cases[i].looks * 2e3);
	}
}

/*
 * A processor that shares memory with the owner of the data reads them itself, in 2 + 1000 x 0.001
 * = 3 us, without a request.
 */
static void test_cluster(void **state)
{
	struct predict_machine m = MACHINE("ideal", MESSAGES, "CoresPerCluster=2",
					   "ClusterStartupTime=2us", "ClusterByteTime=1ns/B");
	struct predict_input in CLEANUP(predict_input_free) = one_read();
	struct predict_run run = simulate(&in, &m, 2);

	assert_fields(&run, CLOSE(time_ns, 100e3), CLOSE(access_ns, 3e3), IS(messages, 0));
	predict_run_free(&run);
	/* On one processor, all data are local. */
	assert_close(time_on(&in, &m, 1), 110e3);
}

/*
 * If links are shared, messages in flight slow down a new message. Threads 1 and 2 send requests to
 * thread 0 at the same time.
 */
static void test_contention(void **state)
{
	struct predict_machine m = MACHINE("ideal", "ByteTransferTime=10ns/B", "RequestSize=100",
					   "Topology=bus", "Contention=1");
	struct predict_input in CLEANUP(predict_input_free);
	struct predict_run run;
	struct gen g;

	gen_begin(&g, 3);
	gen_read(&g, 1, 0, 1000);
	gen_read(&g, 2, 0, 1000);
	gen_meet(&g, SITE);
	assert_int_equal(gen_end(&g, &in), 0);
	run = simulate(&in, &m, 3);
	/*
	 * In us: thread 1's request takes 1. Its answer would take 10, and takes 20 because thread
	 * 2's messages are in flight, too. Thread 2's request takes 2, and its answer also takes
	 * 20.
	 */
	assert_fields(&run, CLOSE(time_ns, 22e3), CLOSE(access_ns, 21e3 + 22e3));
	predict_run_free(&run);
	m = MACHINE("ideal", "ByteTransferTime=10ns/B", "RequestSize=100", "Topology=bus");
	assert_close(time_on(&in, &m, 3), 11e3);
}

static double hop_time(const char *topology, uint32_t from, uint32_t to)
{
	struct predict_machine m = MACHINE("ideal", topology, "HopTime=1us");
	struct predict_input in;
	struct gen g;
	double t;

	gen_begin(&g, 16);
	gen_read(&g, from, to, 8);
	gen_step(&g, from, PREDICT_END, 0, 0);
	assert_int_equal(gen_end(&g, &in), 0);
	t = time_on(&in, &m, 16);
	predict_input_free(&in);
	return t / 2e3;
}

static void test_topologies(void **state)
{
	assert_close(hop_time("Topology=crossbar", 0, 15), 1);
	assert_close(hop_time("Topology=ring", 1, 15), 2);
	assert_close(hop_time("Topology=ring", 0, 8), 8);
	assert_close(hop_time("Topology=mesh", 0, 15), 6); /* hops in a mesh of 4 x 4 */
	assert_close(hop_time("Topology=hypercube", 0, 15), 4);
	assert_close(hop_time("Topology=hypercube", 5, 4), 1);
	assert_close(hop_time("Topology=fattree", 0, 3), 2);
	assert_close(hop_time("Topology=fattree", 0, 4), 4);
}

/* A message needs no answer: the sender continues, and the receiver handles the message. */
static void test_write(void **state)
{
	struct predict_machine m = MACHINE("ideal", MESSAGES, "ServicePolicy=interrupt");
	struct predict_input in CLEANUP(predict_input_free);
	struct predict_run run CLEANUP(predict_run_free);
	struct gen g;

	gen_begin(&g, 2);
	gen_step(&g, 0, PREDICT_WRITE, 1, 1000);
	gen_work(&g, 1, 100 * US);
	gen_meet(&g, SITE);
	assert_int_equal(gen_end(&g, &in), 0);
	run = simulate(&in, &m, 2);
	assert_fields(&run, CLOSE(time_ns, 105e3), /* thread 1 is interrupted for 3 + 2 */
		      CLOSE(phases[SITE].wait_ns, 99e3)); /* thread 0 waits from 6 on */
}

/* --- properties ------------------------------------------------------------------------------ */

static uint64_t random_next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Return random input: episodes of some of the threads, delays, and data requests. */
static struct predict_input random_input(uint64_t *x, uint32_t n, bool delays, double *work)
{
	struct predict_input in = { 0 };
	uint32_t episode;

	*work = 0;
	for (uint32_t i = 0; i < n; i++)
		assert_true(predict_add_thread(&in) >= 0);
	for (uint32_t k = 0; k < 40; k++) {
		uint64_t members = random_next(x) | random_next(x);

		assert_int_equal(predict_add_episode(&in, k % 3, &episode), 0);
		for (uint32_t i = 0; i < n; i++) {
			uint64_t ns = random_next(x) % 1000;

			if (!(members >> i & 1))
				continue;
			if (delays && ns % 5 == 0)
				assert_int_equal(predict_add_step(&in, i, PREDICT_DELAY, ns, 0, 0),
						 0);
			if (ns % 3 == 0)
				assert_int_equal(
					predict_add_step(&in, i, PREDICT_READ, 0, k % n, 8), 0);
			assert_int_equal(predict_add_step(&in, i, PREDICT_MEET, ns, episode, 0), 0);
			*work += (double)ns;
		}
	}
	return in;
}

/*
 * If all costs are zero and each thread has a processor, the simulated time equals that of
 * predict_translate(). On one processor it equals the sum of all work. Otherwise it is within
 * Graham's bounds for schedules that never leave a processor idle while a thread can run.
 */
static void test_random(void **state)
{
	struct predict_machine m = MACHINE("ideal", "ServicePolicy=interrupt");
	uint64_t x = 88172645463325252ull;
	double ideal, work, t;

	for (uint32_t turn = 0; turn < 100; turn++) {
		uint32_t n = 2 + (uint32_t)(random_next(&x) % 12);
		struct predict_input in CLEANUP(predict_input_free) =
			random_input(&x, n, turn & 1, &work);

		assert_int_equal(predict_translate(&in, NULL, &ideal), 0);
		assert_close(time_on(&in, &m, n), ideal);
		assert_close(time_on(&in, &m, n + 3), ideal);
		if (!(turn & 1))
			assert_close(time_on(&in, &m, 1), work);
		for (uint32_t p = 2; p < n && !(turn & 1); p++) {
			t = time_on(&in, &m, p);
			assert_true(t >= fmax(ideal, work / p) - 1e-3);
			assert_true(t <= work / p + ideal + 1e-3);
		}
	}
}

/* The phases and the tail of one team add up to the run time, on any machine. */
static void test_phases_add_up(void **state)
{
	static const char *const machines[] = { "ideal", "laptop", "two-socket", "cm5",
						"distributed" };

	for (size_t i = 0; i < 5; i++) {
		struct predict_machine m = machine(machines[i], NULL);
		struct predict_input in CLEANUP(predict_input_free);
		struct predict_run run CLEANUP(predict_run_free);
		double sum = 0;

		assert_int_equal(gen_sparse(8, &in), 0);
		run = simulate(&in, &m, 8);
		assert_int_equal(run.nphases, 5);
		for (uint32_t k = 0; k < run.nphases; k++)
			sum += run.phases[k].time_ns;
		assert_close(sum, run.time_ns);
	}
}

/*
 * Work that one thread does alone takes the same time with any number of processors. The values
 * follow Amdahl's law, and are worked out by hand.
 */
static void test_alone(void **state)
{
	static const uint32_t processors[] = { 1, 2, 4 };
	struct predict_machine m = machine("ideal", NULL);
	struct predict_input in CLEANUP(predict_input_free) = { .before_ns = 30000,
								.after_ns = 10000 };
	struct predict_result r CLEANUP(predict_result_free);

	m.mips_ratio = 2;
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(predict_add_thread(&in), (int)i);
		assert_int_equal(predict_add_step(&in, i, PREDICT_END, 20000, 0, 0), 0);
	}
	assert_int_equal(predict_run_all(&in, &m, processors, 3, &r), 0);
	assert_fields(&r, CLOSE(serial_ns, 2 * 120000), CLOSE(ideal_ns, 60000));
	for (uint32_t i = 0; i < 3; i++) {
		const struct predict_run *run = &r.points[i].run;

		assert_fields(run, CLOSE(time_ns, 2 * (40000 + 80000.0 / processors[i])),
			      CLOSE(phases[in.nsites + 1].time_ns, 2 * 40000),
			      CLOSE(phases[in.nsites + 1].work_ns, 2 * 40000),
			      CLOSE(phases[in.nsites].time_ns, 2 * 80000.0 / processors[i]));
	}
	assert_fields(&r.points[2], CLOSE(speedup, 2), IS(limit, in.nsites + 1),
		      IS(why, PREDICT_BY_SERIAL));
}

/*
 * Thread 0 sleeps for 8 ms, thread 1 does not. After balancing, each sleeps for 4 ms and computes
 * for the same time as before.
 */
static void test_balanced_sleep(void **state)
{
	static const uint32_t processors[] = { 2 };
	struct predict_machine m = MACHINE("ideal", "ServicePolicy=interrupt");
	struct predict_result r CLEANUP(predict_result_free);
	struct predict_input in CLEANUP(predict_input_free);
	struct gen g;

	gen_begin(&g, 2);
	assert_int_equal(predict_add_step(&g.in, 0, PREDICT_DELAY, 8 * MS, 0, 0), 0);
	gen_work(&g, 0, 1 * MS);
	gen_work(&g, 1, 1 * MS);
	gen_meet(&g, SITE);
	assert_int_equal(gen_end(&g, &in), 0);
	assert_int_equal(predict_run_all(&in, &m, processors, 1, &r), 0);
	assert_fields(&r.points[0], CLOSE(run.time_ns, 9e6), CLOSE(balanced_ns, 5e6));
}

/*
 * All threads sleep for 8 ms and compute for 1 ms. Neither more processors nor better balance makes
 * the program faster.
 */
static void test_limited_by_sleep(void **state)
{
	static const uint32_t processors[] = { 1, 2, 4 };
	static const uint64_t sleeps_ms[] = { 8, 1, 0 };
	static const enum predict_limit why[][3] = {
		{ PREDICT_BY_DELAY, PREDICT_BY_DELAY, PREDICT_BY_DELAY },
		{ PREDICT_BY_WORK, PREDICT_BY_WORK, PREDICT_BY_THREADS },
		{ PREDICT_BY_WORK, PREDICT_BY_WORK, PREDICT_BY_THREADS },
	};
	struct predict_machine m = MACHINE("ideal", "ServicePolicy=interrupt");
	struct predict_result r;
	struct predict_input in;
	struct gen g;

	for (uint32_t i = 0; i < 3; i++) {
		gen_begin(&g, 2);
		for (uint32_t t = 0; t < 2; t++) {
			if (sleeps_ms[i])
				assert_int_equal(predict_add_step(&g.in, t, PREDICT_DELAY,
								  sleeps_ms[i] * MS, 0, 0),
						 0);
			gen_work(&g, t, sleeps_ms[i] == 8 ? 1 * MS : 4 * MS);
		}
		gen_meet(&g, SITE);
		assert_int_equal(gen_end(&g, &in), 0);
		assert_int_equal(predict_run_all(&in, &m, processors, 3, &r), 0);
		for (uint32_t k = 0; k < 3; k++)
			assert_int_equal(r.points[k].why, why[i][k]);
		predict_result_free(&r);
		predict_input_free(&in);
	}
}

struct seen {
	uint32_t n, ends;
	double last_arrival[2], depart[2];
};

static void see(void *ctx, const struct predict_crossed *c)
{
	struct seen *s = ctx;

	assert_true(c->thread < 2);
	if (c->episode == PREDICT_NONE) {
		assert_close(c->depart_ns, s->depart[1]);
		s->ends++;
		return;
	}
	s->last_arrival[c->episode] = fmax(s->last_arrival[c->episode], c->arrive_ns);
	assert_true(c->depart_ns >= c->arrive_ns);
	assert_close(c->work_ns, 15e3);
	assert_close(c->queue_ns + c->inside_queue_ns, 0);
	s->depart[c->episode] = c->depart_ns;
	s->n++;
}

static void test_crossings(void **state)
{
	struct predict_machine m =
		MACHINE("ideal", "BarrierModel=linear", TABLE_1, "BarrierByMsgs=0");
	struct seen seen = { 0 };
	struct predict_input in CLEANUP(predict_input_free);
	struct predict_run run CLEANUP(predict_run_free);
	struct gen g;

	gen_begin(&g, 2);
	for (int k = 0; k < 2; k++) {
		gen_work(&g, 0, 10 * US);
		gen_work(&g, 1, 10 * US);
		gen_meet(&g, SITE);
	}
	assert_int_equal(gen_end(&g, &in), 0);
	assert_int_equal(predict_simulate(&in, &m, 2, see, &seen, &run), 0);
	assert_fields(&seen, IS(n, 4), IS(ends, 2), CLOSE(last_arrival[0], 15e3),
		      CLOSE(depart[0], 32e3), CLOSE(last_arrival[1], 47e3), CLOSE(depart[1], 64e3));
}

/* Input that cannot be simulated is rejected with a reason. */
static void test_wrong_input(void **state)
{
	struct predict_machine m = machine("laptop", NULL);
	struct predict_input in CLEANUP(predict_input_free) = { 0 };
	struct predict_run run;
	double t;
	uint32_t a, b;

	assert_int_equal(predict_simulate(&in, &m, 0, NULL, NULL, &run), -EINVAL);
	assert_int_equal(predict_simulate(&in, &m, 4, NULL, NULL, &run), 0);
	assert_close(run.time_ns, 0);
	predict_run_free(&run);
	assert_int_equal(predict_add_step(&in, 0, PREDICT_END, 1, 0, 0), -EINVAL);
	assert_int_equal(predict_add_thread(&in), 0);
	assert_int_equal(predict_add_thread(&in), 1);
	assert_int_equal(predict_add_step(&in, 0, PREDICT_MEET, 1, 0, 0), -EINVAL);
	assert_int_equal(predict_add_episode(&in, 0, &a), 0);
	assert_int_equal(predict_add_episode(&in, 0, &b), 0);
	/* There are two episodes, and the two threads cross them in different orders. */
	assert_int_equal(predict_add_step(&in, 0, PREDICT_MEET, 1, a, 0), 0);
	assert_int_equal(predict_add_step(&in, 0, PREDICT_MEET, 1, b, 0), 0);
	assert_int_equal(predict_add_step(&in, 1, PREDICT_MEET, 1, b, 0), 0);
	assert_int_equal(predict_add_step(&in, 1, PREDICT_MEET, 1, a, 0), 0);
	assert_int_equal(predict_simulate(&in, &m, 2, NULL, NULL, &run), -EDEADLK);
	assert_int_equal(predict_translate(&in, NULL, &t), -EDEADLK);
	m.service = PREDICT_POLL;
	assert_int_equal(predict_simulate(&in, &m, 2, NULL, NULL, &run), -EINVAL);
	m.service = PREDICT_INTERRUPT;
	assert_int_equal(predict_add_step(&in, 1, PREDICT_READ, 1, 2, 8), 0);
	assert_int_equal(predict_simulate(&in, &m, 2, NULL, NULL, &run), -EINVAL);
}

static void check_counts(uint32_t threads, const char *expected)
{
	uint32_t out[32], n = predict_counts(threads, out, 32), i;
	char s[256] = "";

	for (i = 0; i < n; i++)
		snprintf(s + strlen(s), sizeof(s) - strlen(s), "%s%u", i ? "," : "", out[i]);
	assert_string_equal(s, expected);
}

static void test_counts(void **state)
{
	uint32_t out[8];

	check_counts(1, "1,2");
	check_counts(4, "1,2,4,8");
	check_counts(6, "1,2,4,6,8");
	assert_int_equal(predict_counts_parse("8,1-3,2", out, 8), 4);
	assert_int_equal(out[0], 1);
	assert_int_equal(out[3], 8);
	assert_int_equal(predict_counts_parse("1-9", out, 8), -E2BIG);
	assert_int_equal(predict_counts_parse("", out, 8), -EINVAL);
	assert_int_equal(predict_counts_parse("0", out, 8), -EINVAL);
	assert_int_equal(predict_counts_parse("4-2", out, 8), -EINVAL);
	assert_int_equal(predict_counts_parse("1,", out, 8), -EINVAL);
	assert_int_equal(predict_counts_parse("1 2", out, 8), -EINVAL);
	assert_int_equal(predict_counts_parse("99999999999", out, 8), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_linear_flags),
		cmocka_unit_test(test_linear_messages),
		cmocka_unit_test(test_linear_late),
		cmocka_unit_test(test_central),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_dissemination),
		cmocka_unit_test(test_no_model_leaves_early),
		cmocka_unit_test(test_scheduler),
		cmocka_unit_test(test_switches),
		cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_delay),
		cmocka_unit_test(test_balanced_sleep),
		cmocka_unit_test(test_limited_by_sleep),
		cmocka_unit_test(test_policies),
		cmocka_unit_test(test_poll_interval),
		cmocka_unit_test(test_cluster),
		cmocka_unit_test(test_contention),
		cmocka_unit_test(test_topologies),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_phases_add_up),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_crossings),
		cmocka_unit_test(test_wrong_input),
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
