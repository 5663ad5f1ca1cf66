// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Barriers and latches of C++20 in two steps: arrive(), 3 ms of work that needs no other thread,
// wait(). Prints the total time that its threads spent in wait(), and the resulting parallel
// efficiency.
//
//   std_split KIND THREADS ROUNDS LATE
//     KIND   barrier   all threads use two steps
//            mixed     thread 0 uses arrive_and_wait()
//            latch     count_down(), work, wait(): a latch for each round
//            early     no thread waits: all begin their work at the same time, and none is late
//     LATE   the thread that works 4 ms longer before it arrives; -1: a different one in each round
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

using steady = std::chrono::steady_clock;

static double seconds(steady::time_point from)
{
	return std::chrono::duration<double>(steady::now() - from).count();
}

static void work(int us)
{
	std::this_thread::sleep_for(std::chrono::microseconds(us));
}

struct team {
	const char *kind;
	int threads, rounds, late;
	std::barrier<> barrier;
	std::deque<std::latch> latches;
	std::vector<double> waited;

	team(char **args)
		: kind(args[1]), threads(atoi(args[2])), rounds(atoi(args[3])), late(atoi(args[4])),
		  barrier(threads), waited((size_t)threads)
	{
		for (int i = 0; i < rounds; i++)
			latches.emplace_back(threads);
	}
};

static void meet_latch(team &t, int me, int round)
{
	std::latch &latch = t.latches[(size_t)round];

	latch.count_down();
	work(3000);
	auto from = steady::now();
	latch.wait();
	t.waited[(size_t)me] += seconds(from);
}

static void meet_at_once(team &t, int me)
{
	auto from = steady::now();

	t.barrier.arrive_and_wait();
	t.waited[(size_t)me] += seconds(from);
}

static void meet_split(team &t, int me)
{
	auto token = t.barrier.arrive();

	work(3000);
	auto from = steady::now();
	t.barrier.wait(std::move(token));
	t.waited[(size_t)me] += seconds(from);
}

static void run(team &t, int me)
{
	for (int r = 0; r < t.rounds; r++) {
		int late = t.late < 0 ? r % t.threads : t.late;

		work(me == late && strcmp(t.kind, "early") ? 5000 : 1000);
		if (!strcmp(t.kind, "latch"))
			meet_latch(t, me, r);
		else if (!strcmp(t.kind, "mixed") && !me)
			meet_at_once(t, me);
		else
			meet_split(t, me);
	}
}

int main(int argc, char **argv)
{
	std::vector<std::thread> threads;
	double waited = 0, elapsed;

	if (argc != 5)
		return 2;
	team t(argv);
	auto from = steady::now();
	for (int i = 0; i < t.threads; i++)
		threads.emplace_back(run, std::ref(t), i);
	for (auto &thread : threads)
		thread.join();
	elapsed = seconds(from);
	for (double w : t.waited)
		waited += w;
	printf("waited=%.6f efficiency=%.4f\n", waited, 1 - waited / (elapsed * t.threads));
	return 0;
}
