// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Barriers of two phases with the C++ library's condition variables. They count their own episodes:
//   two_phase_cxx KIND THREADS ROUNDS [LATE]
//     one    one std::condition_variable for both phases, waits with a predicate
//     two    a std::condition_variable for each phase
//     any    as `one`, with a std::condition_variable_any
//   LATE: as for two_phase
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

template <typename Condition> class barrier
{
      public:
	explicit barrier(int members, bool two) : n(members), two_conditions(two)
	{
	}

	__attribute__((noinline)) void arrive_and_leave()
	{
		std::unique_lock<std::mutex> lock(mutex);

		behind().wait(lock, [this] { return !leaving; });
		if (++inside == n) {
			leaving = true;
			episodes++;
			ahead.notify_all();
		} else {
			ahead.wait(lock, [this] { return leaving; });
		}
		if (--inside == 0) {
			leaving = false;
			behind().notify_all();
		}
	}

	long episodes = 0;

      private:
	Condition &behind()
	{
		return two_conditions ? after : ahead;
	}

	std::mutex mutex;
	Condition ahead, after;
	int n, inside = 0;
	bool two_conditions, leaving = false;
};

static int late = -1;

template <typename Condition> static void run(barrier<Condition> *b, int n, int me, int rounds)
{
	unsigned seed = 17u * (unsigned)me + 1;

	for (int i = 0; i < rounds; i++) {
		int slow = late == -2 ? i % n : late;

		seed = seed * 1103515245u + 12345u;
		std::this_thread::sleep_for(std::chrono::microseconds(late == -1 ? seed >> 16 & 511
								      : me == slow ? 600
										   : 20));
		b->arrive_and_leave();
	}
}

template <typename Condition> static void all(bool two, int n, int rounds)
{
	barrier<Condition> b(n, two);
	std::vector<std::thread> threads;

	for (int i = 0; i < n; i++)
		threads.emplace_back(run<Condition>, &b, n, i, rounds);
	for (auto &thread : threads)
		thread.join();
	std::printf("episodes %ld\n", b.episodes);
}

int main(int argc, char **argv)
{
	int n = argc > 3 ? std::atoi(argv[2]) : 0;

	if (n < 1)
		return 2;
	late = argc > 4 ? std::atoi(argv[4]) : -1;
	if (!std::strcmp(argv[1], "any"))
		all<std::condition_variable_any>(false, n, std::atoi(argv[3]));
	else
		all<std::condition_variable>(!std::strcmp(argv[1], "two"), n, std::atoi(argv[3]));
	return 0;
}
