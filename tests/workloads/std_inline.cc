// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// C++20 barriers that g++ inlines when it optimises, one kind for each build:
//   PLAIN       std::barrier, one call
//   COMPLETION  std::barrier with a completion function, one call
//   MIXED       std::barrier, two calls: one is inlined, the other calls a function
//   LATCH       std::latch, a new one for each round
// std_inline THREADS ROUNDS [LATE]: thread LATE is late in each round; without LATE, a different
// thread is late each time. Prints, by its own clock, the number of episodes, and the sum of all
// waits up to the last arrival.
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static int nthreads, rounds, late;

static uint64_t now_ns()
{
	return std::chrono::steady_clock::now().time_since_epoch().count();
}

static void work(int i, int k)
{
	bool is_late = i == (late < 0 ? k % nthreads : late);

	std::this_thread::sleep_for(is_late ? 3000us : 500us + 100us * i);
}

struct count_up {
	int *n;

	void operator()() noexcept
	{
		++*n;
	}
};

#ifdef LATCH
static std::vector<std::unique_ptr<std::latch>> latches;
#define CALLS 1
#elif defined(COMPLETION)
static int completions;
static std::barrier<count_up> *meet;
#define CALLS 1
#else
static std::barrier<> *meet;
#ifdef MIXED
#define CALLS 2
#else
#define CALLS 1
#endif
#endif

static std::vector<std::vector<uint64_t>> arrivals;

#ifndef MIXED
static void thread(int i)
{
	for (int k = 0; k < rounds; k++) {
		work(i, k);
		arrivals[i].push_back(now_ns());
#ifdef LATCH
		latches[k]->arrive_and_wait();
#else
		meet->arrive_and_wait();
#endif
	}
}
#endif

#ifdef MIXED
/* All calls in this function are inlined, at any optimisation level. */
__attribute__((flatten)) static void other(int i)
{
	arrivals[i].push_back(now_ns());
	meet->arrive_and_wait();
}

static void mixed(int i)
{
	for (int k = 0; k < rounds; k++) {
		work(i, k);
		arrivals[i].push_back(now_ns());
		meet->arrive_and_wait();
		work(i, k);
		other(i);
	}
}
#endif

int main(int argc, char **argv)
{
	std::vector<std::thread> all;
	uint64_t wait = 0;

	nthreads = argc > 1 ? atoi(argv[1]) : 4;
	rounds = argc > 2 ? atoi(argv[2]) : 40;
	late = argc > 3 ? atoi(argv[3]) : -1;
#ifdef LATCH
	for (int k = 0; k < rounds; k++)
		latches.push_back(std::make_unique<std::latch>(nthreads));
#elif defined(COMPLETION)
	meet = new std::barrier<count_up>(nthreads, count_up{ &completions });
#else
	meet = new std::barrier<>(nthreads);
#endif
	arrivals.resize(nthreads);
	for (int i = 0; i < nthreads; i++)
#ifdef MIXED
		all.emplace_back(mixed, i);
#else
		all.emplace_back(thread, i);
#endif
	for (auto &t : all)
		t.join();
	for (int k = 0; k < rounds * CALLS; k++) {
		uint64_t last = 0;

		for (auto &a : arrivals)
			last = std::max(last, a[k]);
		for (auto &a : arrivals)
			wait += last - a[k];
	}
	printf("episodes %d wait_ns %llu\n", rounds * CALLS, (unsigned long long)wait);
	return 0;
}
