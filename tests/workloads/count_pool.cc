// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A pool of 3 threads. In each round, main gives each thread a job, and waits until all have
// counted down:
//     count_pool WAY [ROUNDS]   (atomic, 60)
//     WAY      how main waits:
//     atomic   std::atomic::wait() for the counter; the last thread calls notify_all()
//     flag     the last thread sets an atomic flag
//     cond     a condition variable; the last thread notifies
//     each     std::counting_semaphore, which each thread releases
//     last     std::counting_semaphore, which the last thread releases
//     futures  a std::future for each job
// In each round another thread is last. Prints its own account: for each thread, its number and in
// how many rounds it was last while main slept (if main has no CPU, it may come to its wait too late
// to sleep), the number of these rounds, and the time that main waited in them.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include "pool.h"

static const int WORKERS = 3;

// The counter of a round and what main waits on. Main keeps all rounds.
struct round {
	std::atomic<int> left = WORKERS;
	std::atomic<bool> done = false;
	std::mutex lock;
	std::condition_variable changed;
	std::counting_semaphore<> semaphore{ 0 };
	std::promise<void> promises[WORKERS];
	std::atomic<int> last = 0; // number of the last thread
};

static bool is_last(round &r)
{
	r.last = gettid();
	return r.left.fetch_sub(1) == 1;
}

static void end_job(const std::string &way, round &r, int job)
{
	if (way == "futures") {
		is_last(r);
		r.promises[job].set_value();
	} else if (way == "each") {
		is_last(r);
		r.semaphore.release();
	} else if (way == "cond") {
		std::lock_guard<std::mutex> held(r.lock);
		if (is_last(r))
			r.changed.notify_one();
	} else if (is_last(r)) {
		r.done = true;
		if (way == "atomic")
			r.left.notify_all();
		else if (way == "flag")
			r.done.notify_one();
		else
			r.semaphore.release();
	}
}

__attribute__((noinline)) static void wait_for_all(const std::string &way, round &r)
{
	if (way == "atomic") {
		for (int left = r.left; left; left = r.left)
			r.left.wait(left);
	} else if (way == "flag") {
		r.done.wait(false);
	} else if (way == "cond") {
		std::unique_lock<std::mutex> held(r.lock);
		r.changed.wait(held, [&r] { return !r.left; });
	} else if (way == "futures") {
		for (auto &promise : r.promises)
			promise.get_future().get();
	} else {
		for (int i = 0; i < (way == "each" ? WORKERS : 1); i++)
			r.semaphore.acquire();
	}
}

// Return how often the calling thread has slept or waited.
static long sleeps()
{
	struct rusage used;

	getrusage(RUSAGE_THREAD, &used);
	return used.ru_nvcsw;
}

int main(int argc, char **argv)
{
	std::string way = argc > 1 ? argv[1] : "atomic";
	int rounds = argc > 2 ? atoi(argv[2]) : 60, slept = 0;
	std::chrono::duration<double, std::nano> waited{};
	std::vector<std::unique_ptr<round>> all;
	std::map<int, int> last;
	pool p(WORKERS);

	for (int n = 0; n < rounds; n++) {
		all.push_back(std::make_unique<round>());
		round &r = *all.back();

		for (int job = 0; job < WORKERS; job++)
			p.put([&r, &way, n, job] {
				usleep(1000 + 2000 * ((job + n) % WORKERS));
				end_job(way, r, job);
			});
		auto from = std::chrono::steady_clock::now();
		long before = sleeps();
		wait_for_all(way, r);
		if (sleeps() != before) {
			waited += std::chrono::steady_clock::now() - from;
			last[r.last]++;
			slept++;
		}
		usleep(500);
	}
	for (auto &l : last)
		printf("thread %d last %d\n", l.first, l.second);
	printf("rounds=%d slept=%d waited=%.0f\n", rounds, slept, waited.count());
}
