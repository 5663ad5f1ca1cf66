// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Threads that C++ programs start and join through the library, and barriers that wait with a time
// limit. 20 rounds of
//   scope   three std::jthread in a block, joined by their destructors
//   clear   a vector of std::jthread is cleared
//   async   the results of std::async are awaited
//   limit   five threads at a barrier on a condition variable with wait_for() and a predicate
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

static const int ROUNDS = 20;

static void sleep_us(int us)
{
	std::this_thread::sleep_for(std::chrono::microseconds(us));
}

__attribute__((noinline)) static void scope(int round)
{
	std::jthread first([round] { sleep_us(300 + round % 2 * 900); });
	std::jthread second([] { sleep_us(600); });
	std::jthread third([] { sleep_us(300); });
}

__attribute__((noinline)) static void clear(int round)
{
	static std::vector<std::jthread> threads;

	for (int i = 0; i < 3; i++)
		threads.emplace_back([=] { sleep_us(300 + (i == round % 3) * 900); });
	threads.clear();
}

__attribute__((noinline)) static void async(int round)
{
	std::vector<std::future<int>> results;

	for (int i = 0; i < 3; i++)
		results.push_back(std::async(std::launch::async, [=] {
			sleep_us(300 + (i == round % 3) * 900);
			return i;
		}));
	for (auto &result : results)
		result.get();
}

class barrier
{
	std::mutex lock;
	std::condition_variable open;
	int members, arrived = 0, generation = 0;

      public:
	explicit barrier(int n) : members(n)
	{
	}

	void meet()
	{
		std::unique_lock<std::mutex> held(lock);
		int mine = generation;

		if (++arrived == members) {
			arrived = 0;
			generation++;
			open.notify_all();
			return;
		}
		while (!open.wait_for(held, std::chrono::seconds(1),
				      [&] { return generation != mine; }))
			;
	}
};

static void limit()
{
	std::vector<std::thread> threads;
	barrier all(5);

	for (int i = 0; i < 5; i++)
		threads.emplace_back([&all, i] {
			for (int round = 0; round < ROUNDS; round++) {
				sleep_us(300 + (i == round % 5) * 900);
				all.meet();
			}
		});
	for (auto &thread : threads)
		thread.join();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(int round);
	} ways[] = { { "scope", scope }, { "clear", clear }, { "async", async } };

	if (argc == 2 && !strcmp(argv[1], "limit")) {
		limit();
		printf("rounds=%d\n", ROUNDS);
		return 0;
	}
	for (auto &way : ways)
		if (argc == 2 && !strcmp(argv[1], way.name)) {
			for (int round = 0; round < ROUNDS; round++)
				way.run(round);
			printf("rounds=%d\n", ROUNDS);
			return 0;
		}
	fprintf(stderr, "usage: std_teams scope|clear|async|limit\n");
	return 2;
}
