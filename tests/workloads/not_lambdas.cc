// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Not a barrier: one thread repeatedly fills a queue and wakes all threads that take from it:
// not_lambdas [CONSUMERS ITEMS]. Both functions are lambdas, to which compilers give the same name:
// operator().
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>
#include <unistd.h>

int main(int argc, char **argv)
{
	int consumers = argc > 2 ? atoi(argv[1]) : 3, items = argc > 2 ? atoi(argv[2]) : 150;
	std::condition_variable changed;
	std::vector<std::thread> threads;
	std::deque<int> queue;
	std::mutex mutex;
	int taken = 0;

	threads.emplace_back([&] {
		for (int i = 0; i < items; i++) {
			usleep(500);
			{
				std::lock_guard<std::mutex> lock(mutex);
				queue.push_back(i);
			}
			changed.notify_all();
		}
	});
	for (int i = 0; i < consumers; i++)
		threads.emplace_back([&] {
			for (;;) {
				std::unique_lock<std::mutex> lock(mutex);
				changed.wait(lock, [&] { return !queue.empty() || taken >= items; });
				if (taken >= items)
					return;
				queue.pop_front();
				if (++taken >= items)
					changed.notify_all();
			}
		});
	for (auto &thread : threads)
		thread.join();
	printf("taken %d%s\n", taken, taken == items ? " ok" : "");
	return 0;
}
