// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Like hand.c, in C++.
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

struct Barrier {
	std::mutex mutex;
	std::condition_variable all_here;
	unsigned count = 0, cycle = 0;

	__attribute__((noinline)) void meet()
	{
		std::unique_lock<std::mutex> lock(mutex);
		unsigned mine = cycle;

		if (++count == 3) {
			count = 0;
			cycle++;
			all_here.notify_all();
		} else {
			all_here.wait(lock, [&] { return cycle != mine; });
		}
	}
};

static Barrier barrier;

static void work(unsigned seed)
{
	for (int i = 0; i < 25; i++) {
		usleep(rand_r(&seed) % 300);
		barrier.meet(); /* first */
		usleep(rand_r(&seed) % 300);
		barrier.meet(); /* second */
	}
}

int main()
{
	std::vector<std::thread> threads;

	for (unsigned i = 0; i < 3; i++)
		threads.emplace_back([i] { work(i); });
	for (auto &thread : threads)
		thread.join();
}
