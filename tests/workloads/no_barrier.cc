// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Programs of C++ without a barrier:
//     no_barrier WAY
//     queue     2 producers, 2 consumers, a bounded queue with two condition variables
//     async     std::async() and get(), one after the other
//     sort      std::sort() of parts by threads that take them from a list
//     mutex     threads that compete for a mutex
//     shared    std::shared_mutex: readers and a writer
//     event     a thread waits for a condition that another one sets
//     pool      a pool; the result of each job is awaited before the next one is put
//     once      std::call_once() and static local variables
//     limit     std::counting_semaphore as a limit of 2 threads
//     chain     threads that pass a value on, by std::atomic::wait()
// Prints the way and "ok".
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

static const int THREADS = 4, ROUNDS = 60;

static void in_threads(const std::function<void(int)> &work)
{
	std::vector<std::jthread> threads;

	for (int me = 0; me < THREADS; me++)
		threads.emplace_back(work, me);
}

static void pause_us(int me, int n)
{
	usleep((unsigned)(200 + 300 * ((me * 7 + n * 3) % 5)));
}

static void queue()
{
	std::condition_variable more, room;
	std::deque<int> items;
	std::mutex lock;

	in_threads([&](int me) {
		for (int n = 0; n < ROUNDS; n++) {
			pause_us(me, n);
			std::unique_lock<std::mutex> held(lock);
			if (me % 2) {
				more.wait(held, [&] { return !items.empty(); });
				items.pop_front();
				room.notify_one();
			} else {
				room.wait(held, [&] { return items.size() < 3; });
				items.push_back(n);
				more.notify_one();
			}
		}
	});
}

static void async()
{
	for (int n = 0; n < ROUNDS; n++)
		std::async(std::launch::async, [n] { pause_us(1, n); }).get();
}

static void sort()
{
	std::vector<std::vector<int>> parts(ROUNDS);
	std::atomic<size_t> next = 0;

	for (auto &part : parts)
		for (int i = 0; i < 20000; i++)
			part.push_back(i * 7919 % 20011);
	in_threads([&](int) {
		for (size_t i = next++; i < parts.size(); i = next++)
			std::sort(parts[i].begin(), parts[i].end());
	});
}

static void mutex()
{
	std::mutex lock;

	in_threads([&](int me) {
		for (int n = 0; n < ROUNDS; n++) {
			{
				std::lock_guard<std::mutex> held(lock);
				pause_us(me, n);
			}
			usleep(50);
		}
	});
}

static void shared()
{
	std::shared_mutex lock;

	in_threads([&](int me) {
		for (int n = 0; n < ROUNDS; n++) {
			if (me) {
				std::shared_lock<std::shared_mutex> held(lock);
				pause_us(me, n);
			} else {
				std::lock_guard<std::shared_mutex> held(lock);
				pause_us(me, n);
			}
			usleep(50);
		}
	});
}

static void event()
{
	std::condition_variable changed;
	std::mutex lock;
	int made = 0;

	in_threads([&](int me) {
		for (int n = 0; n < ROUNDS && me < 2; n++) {
			std::unique_lock<std::mutex> held(lock);
			if (me) {
				changed.wait(held, [&] { return made > n; });
				continue;
			}
			held.unlock();
			pause_us(me, n);
			held.lock();
			made++;
			changed.notify_all();
		}
	});
}

static void pool()
{
	std::condition_variable more;
	std::deque<std::packaged_task<void()>> tasks;
	bool over = false;
	std::mutex lock;
	std::vector<std::jthread> threads;

	for (int me = 0; me < THREADS; me++)
		threads.emplace_back([&] {
			for (;;) {
				std::unique_lock<std::mutex> held(lock);
				more.wait(held, [&] { return over || !tasks.empty(); });
				if (tasks.empty())
					return;
				auto task = std::move(tasks.front());
				tasks.pop_front();
				held.unlock();
				task();
			}
		});
	for (int n = 0; n < ROUNDS; n++) {
		std::packaged_task<void()> task([n] { pause_us(1, n); });
		auto result = task.get_future();
		{
			std::lock_guard<std::mutex> held(lock);
			tasks.push_back(std::move(task));
		}
		more.notify_one();
		result.get();
	}
	{
		std::lock_guard<std::mutex> held(lock);
		over = true;
	}
	more.notify_all();
}

static int slow_value(int n)
{
	pause_us(2, n);
	return n;
}

static void once()
{
	static std::once_flag flags[ROUNDS];

	in_threads([&](int me) {
		for (int n = 0; n < ROUNDS; n++) {
			pause_us(me, n);
			std::call_once(flags[n], [n] { slow_value(n); });
			static int value = slow_value(n);
			(void)value;
		}
	});
}

static void limit()
{
	std::counting_semaphore<2> places(2);

	in_threads([&](int me) {
		for (int n = 0; n < ROUNDS; n++) {
			places.acquire();
			pause_us(me, n);
			places.release();
			usleep(50);
		}
	});
}

static void chain()
{
	std::atomic<int> turn = 0;

	in_threads([&](int me) {
		for (int n = 0; n < ROUNDS; n++) {
			for (int now = turn; now != n * THREADS + me; now = turn)
				turn.wait(now);
			pause_us(me, n);
			turn++;
			turn.notify_all();
		}
	});
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)();
	} ways[] = { { "queue", queue },   { "async", async }, { "sort", sort }, { "mutex", mutex },
		     { "shared", shared }, { "event", event }, { "pool", pool }, { "once", once },
		     { "limit", limit },   { "chain", chain } };
	std::string name = argc > 1 ? argv[1] : "";

	for (auto &way : ways) {
		if (way.name != name)
			continue;
		way.run();
		printf("%s ok\n", way.name);
		return 0;
	}
	return 2;
}
