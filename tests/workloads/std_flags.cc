// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Waits of C++20 that are not barriers: four threads wait for a std::atomic<bool>, a
// std::atomic_flag and a std::atomic<int> to change, 20 times, each time in a new set of objects.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static constexpr int ROUNDS = 20;

struct flags {
	std::atomic<bool> ready;
	std::atomic_flag flag;
	std::atomic<int> number;
};

static flags all[ROUNDS];

template <typename F> static void later(F change)
{
	std::this_thread::sleep_for(1ms);
	change();
}

int main()
{
	std::vector<std::thread> threads;

	for (int i = 0; i < 4; i++)
		threads.emplace_back([] {
			for (auto &f : all) {
				f.ready.wait(false);
				f.flag.wait(false);
				f.number.wait(0);
			}
		});
	for (auto &f : all) {
		later([&] {
			f.ready = true;
			f.ready.notify_all();
		});
		later([&] {
			f.flag.test_and_set();
			f.flag.notify_all();
		});
		later([&] {
			f.number = 1;
			f.number.notify_all();
		});
	}
	for (auto &t : threads)
		t.join();
	puts("done");
	return 0;
}
