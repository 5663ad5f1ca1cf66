// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Barriers of std::condition_variable which count their own episodes: hand_written_cxx KIND THREADS
// ROUNDS
//   inline   a function that is inlined at four calls in three functions, two of them on one line
//   phases   two phases: all have arrived, all have left
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

struct bar {
	std::mutex mutex;
	std::condition_variable changed;
	unsigned n = 0, arrived = 0, generation = 0;
	bool leaving = false;
};

static bar shared;
static long episodes;

static inline __attribute__((always_inline)) void meet(bar &b)
{
	std::unique_lock<std::mutex> lock(b.mutex);
	unsigned mine = b.generation;

	if (++b.arrived == b.n) {
		b.arrived = 0;
		b.generation++;
		episodes++;
		b.changed.notify_all();
	} else {
		b.changed.wait(lock, [&] { return mine != b.generation; });
	}
}

__attribute__((noinline)) static void meet_phases(bar &b)
{
	std::unique_lock<std::mutex> lock(b.mutex);

	while (b.leaving)
		b.changed.wait(lock);
	if (++b.arrived == b.n) {
		b.leaving = true;
		episodes++;
		b.changed.notify_all();
	} else {
		while (!b.leaving)
			b.changed.wait(lock);
	}
	if (--b.arrived == 0) {
		b.leaving = false;
		b.changed.notify_all();
	}
}

static void work(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	std::this_thread::sleep_for(std::chrono::microseconds(*seed >> 16 & 511));
}

__attribute__((noinline)) static void one(unsigned *seed)
{
	work(seed);
	meet(shared);
}

__attribute__((noinline)) static void two(unsigned *seed)
{
	work(seed);
	work(seed);
	meet(shared);
}

__attribute__((noinline)) static void three(unsigned *seed)
{
	work(seed);
	meet(shared), meet(shared);
}

static void run(bool phases, int rounds, unsigned seed)
{
	for (int i = 0; i < rounds; i++) {
		if (phases) {
			work(&seed);
			meet_phases(shared);
		} else {
			one(&seed);
			two(&seed);
			three(&seed);
		}
	}
}

int main(int argc, char **argv)
{
	std::vector<std::thread> threads;

	if (argc != 4) {
		fprintf(stderr, "usage: hand_written_cxx KIND THREADS ROUNDS\n");
		return 2;
	}
	shared.n = (unsigned)atoi(argv[2]);
	for (unsigned i = 0; i < shared.n; i++)
		threads.emplace_back(run, !strcmp(argv[1], "phases"), atoi(argv[3]), 7 * i + 1);
	for (std::thread &t : threads)
		t.join();
	printf("episodes %ld\n", episodes);
	return 0;
}
