// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A pool of 3 threads, and a std::latch for each of 30 rounds of jobs, in the ways that programs
// use it:
//   down      the workers count down, the creator waits
//   meet      the workers count down, the creator arrives and waits
//   self      the creator counts down itself, then waits
//   several   two latches in each round, one after the other
//   by-two    one worker counts down by two
//   mixed     one worker arrives and waits before the others count down
//   beside    as `down`; then the creator and its workers cross a std::barrier
// Prints the number of rounds.
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <latch>
#include <thread>

#include "pool.h"

static const int WORKERS = 3, ROUNDS = 30;

static void sleep_us(int us)
{
	std::this_thread::sleep_for(std::chrono::microseconds(us));
}

static void jobs(pool &p, std::latch &l, int by = 1)
{
	for (int i = 0; i < WORKERS; i++)
		p.put([&l, i, by] {
			sleep_us(i ? 1000 : 4000);
			l.count_down(i ? 1 : by);
		});
}

static void wait_for(std::latch &l)
{
	l.wait();
}

static void down(pool &p)
{
	std::latch l(WORKERS);

	jobs(p, l);
	wait_for(l);
}

static void meet(pool &p)
{
	std::latch l(WORKERS + 1);

	jobs(p, l);
	l.arrive_and_wait();
}

static void self(pool &p)
{
	std::latch l(WORKERS + 1);

	jobs(p, l);
	l.count_down();
	wait_for(l);
}

static void several(pool &p)
{
	std::latch first(WORKERS), second(WORKERS);

	jobs(p, first);
	jobs(p, second);
	wait_for(first);
	wait_for(second);
}

static void by_two(pool &p)
{
	std::latch l(WORKERS + 1);

	jobs(p, l, 2);
	wait_for(l);
}

static void mixed(pool &p)
{
	std::latch l(WORKERS), left(1);

	for (int i = 0; i < WORKERS; i++)
		p.put([&l, &left, i] {
			sleep_us(i ? 4000 : 1000);
			if (i) {
				l.count_down();
				return;
			}
			l.arrive_and_wait();
			left.count_down();
		});
	wait_for(l);
	wait_for(left);
}

static void beside(pool &p)
{
	/* Workers may still be in the barrier when the creator goes on. */
	static std::barrier<> all(WORKERS + 1);

	down(p);
	for (int i = 0; i < WORKERS; i++)
		p.put([i] {
			sleep_us(i ? 1000 : 4000);
			all.arrive_and_wait();
		});
	all.arrive_and_wait();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(pool &p);
	} ways[] = { { "down", down },	     { "meet", meet },	   { "self", self },
		     { "several", several }, { "by-two", by_two }, { "mixed", mixed },
		     { "beside", beside } };

	for (auto &way : ways)
		if (argc == 2 && !strcmp(argv[1], way.name)) {
			pool p(WORKERS);

			for (int k = 0; k < ROUNDS; k++)
				way.run(p);
			printf("rounds=%d\n", ROUNDS);
			return 0;
		}
	fprintf(stderr, "usage: latch_pool down|meet|self|several|by-two|mixed|beside\n");
	return 2;
}
