// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Hand-written barriers on std::atomic<>::wait() and notify_all(): hand_atomic THREADS ROUNDS
// [LATE]. The generation is a std::atomic<int>, which threads wait on directly. With WIDE it is a
// std::atomic<long>, for which threads wait in a table of the library. LATE: the thread that always
// arrives last; without LATE, a different thread does each time.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

static int n, rounds, late = -1;
static long episodes;

template <typename T> struct generations {
	std::atomic<int> left{ 0 };
	std::atomic<T> generation{ 0 };

	void meet()
	{
		T mine = generation.load();

		if (left.fetch_add(1) + 1 == n) {
			left = 0;
			episodes++;
			generation.fetch_add(1);
			generation.notify_all();
		} else {
			while (generation.load() == mine)
				generation.wait(mine);
		}
	}
};

#if defined(WIDE)
static generations<long> shared;
#else
static generations<int> shared;
#endif

static void run(int me)
{
	for (int i = 0; i < rounds; i++) {
		bool last = me == (late < 0 ? i % n : late);

		std::this_thread::sleep_for(std::chrono::milliseconds(last ? 5 : 1));
		shared.meet();
	}
}

int main(int argc, char **argv)
{
	std::vector<std::thread> threads;

	if (argc < 3) {
		fprintf(stderr, "usage: hand_atomic THREADS ROUNDS [LATE]\n");
		return 2;
	}
	n = atoi(argv[1]);
	rounds = atoi(argv[2]);
	late = argc > 3 ? atoi(argv[3]) : -1;
	for (int i = 0; i < n; i++)
		threads.emplace_back(run, i);
	for (std::thread &t : threads)
		t.join();
	printf("episodes %ld\n", episodes);
	return 0;
}
