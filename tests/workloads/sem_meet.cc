// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// 4 threads that meet 60 times, by std::counting_semaphore:
//     sem_meet WAY
//     two         the last thread releases the others; two semaphores take turns
//     turnstile   each thread lets the next one pass, through two turnstiles
//     preloaded   the last thread releases all, before and after
//     leader      thread 0 waits for the others, then releases them
//     own         a semaphore for each thread; the last thread releases each
// Prints the number of rounds, and for each thread in how many it was last.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

typedef std::counting_semaphore<> semaphore;

static const int THREADS = 4, ROUNDS = 60;

static std::mutex lock;
static int count, last[THREADS];
static semaphore in(0), out(1), turns[2] = { semaphore(0), semaphore(0) };
static semaphore own[THREADS] = { semaphore(0), semaphore(0), semaphore(0), semaphore(0) };

// Count the thread. Return whether it is the last one of the round.
static bool arrive(int me)
{
	if (++count < THREADS)
		return false;
	last[me]++;
	count = 0;
	return true;
}

static void meet_two(int me, int round)
{
	bool is_last;

	{
		std::lock_guard<std::mutex> held(lock);
		is_last = arrive(me);
	}
	if (is_last)
		turns[round % 2].release(THREADS - 1);
	else
		turns[round % 2].acquire();
}

static void meet_turnstile(int me, int)
{
	static int leaving;

	{
		std::lock_guard<std::mutex> held(lock);
		if (arrive(me)) {
			leaving = THREADS;
			out.acquire();
			in.release();
		}
	}
	in.acquire();
	in.release();
	{
		std::lock_guard<std::mutex> held(lock);
		if (!--leaving) {
			in.acquire();
			out.release();
		}
	}
	out.acquire();
	out.release();
}

static void meet_preloaded(int me, int)
{
	static int leaving;

	{
		std::lock_guard<std::mutex> held(lock);
		if (arrive(me)) {
			leaving = THREADS;
			turns[0].release(THREADS);
		}
	}
	turns[0].acquire();
	{
		std::lock_guard<std::mutex> held(lock);
		if (!--leaving)
			turns[1].release(THREADS);
	}
	turns[1].acquire();
}

static void meet_leader(int me, int round)
{
	{
		std::lock_guard<std::mutex> held(lock);
		arrive(me);
	}
	if (me) {
		in.release();
		turns[round % 2].acquire();
		return;
	}
	for (int i = 1; i < THREADS; i++)
		in.acquire();
	turns[round % 2].release(THREADS - 1);
}

static void meet_own(int me, int)
{
	bool is_last;

	{
		std::lock_guard<std::mutex> held(lock);
		is_last = arrive(me);
	}
	for (int i = 0; is_last && i < THREADS; i++)
		if (i != me)
			own[i].release();
	if (!is_last)
		own[me].acquire();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*meet)(int me, int round);
	} ways[] = { { "two", meet_two },
		     { "turnstile", meet_turnstile },
		     { "preloaded", meet_preloaded },
		     { "leader", meet_leader },
		     { "own", meet_own } };
	std::string name = argc > 1 ? argv[1] : "two";
	void (*meet)(int, int) = nullptr;

	for (auto &way : ways)
		if (way.name == name)
			meet = way.meet;
	if (!meet)
		return 2;
	{
		std::vector<std::jthread> threads;

		for (int me = 0; me < THREADS; me++)
			threads.emplace_back([me, meet] {
				for (int n = 0; n < ROUNDS; n++) {
					usleep(500 + 1000 * ((me + n) % THREADS));
					meet(me, n);
				}
			});
	}
	printf("rounds=%d last=%d,%d,%d,%d\n", ROUNDS, last[0], last[1], last[2], last[3]);
}
