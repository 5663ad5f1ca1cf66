/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* A pool of threads that take jobs from a queue, as C++ programs write it. */
#ifndef WORKLOADS_POOL_H
#define WORKLOADS_POOL_H

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class pool
{
	std::mutex lock;
	std::condition_variable more;
	std::deque<std::function<void()>> jobs;
	bool over = false;
	std::vector<std::thread> threads;

	void work()
	{
		for (;;) {
			std::unique_lock<std::mutex> held(lock);

			more.wait(held, [this] { return over || !jobs.empty(); });
			if (jobs.empty())
				return;
			auto job = std::move(jobs.front());
			jobs.pop_front();
			held.unlock();
			job();
		}
	}

      public:
	explicit pool(int n)
	{
		for (int i = 0; i < n; i++)
			threads.emplace_back([this] { work(); });
	}

	void put(std::function<void()> job)
	{
		std::lock_guard<std::mutex> held(lock);

		jobs.push_back(std::move(job));
		more.notify_one();
	}

	~pool()
	{
		{
			std::lock_guard<std::mutex> held(lock);
			over = true;
		}
		more.notify_all();
		for (auto &t : threads)
			t.join();
	}
};

#endif /* WORKLOADS_POOL_H */
