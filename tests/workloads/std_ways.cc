// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Uses of C++20's barriers other than arrive_and_wait() by the same threads:
//   remade    40 barriers of 3, one after the other at one address, each for other threads: 2
//             phases each
//   drop      4 threads, 30 phases; one drops out in the 11th. The completion function holds three
//             pointers.
//   arrive    4 threads, 30 phases; one arrives and never waits
//   throw     4 threads, 30 phases; after each an exception passes through the function that waited
//   gate      3 threads wait at a latch that a fourth opens without waiting; one more arrives 100
//             ms later
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <latch>
#include <new>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static void sleep_us(int us)
{
	std::this_thread::sleep_for(std::chrono::microseconds(us));
}

template <typename F> static void threads(int n, F f)
{
	std::vector<std::thread> all;

	for (int i = 0; i < n; i++)
		all.emplace_back(f, i);
	for (auto &t : all)
		t.join();
}

static void remade()
{
	alignas(std::barrier<>) static char place[sizeof(std::barrier<>)];

	for (int k = 0; k < 40; k++) {
		auto *b = new (place) std::barrier<>(3);

		threads(3, [b](int i) {
			for (int phase = 0; phase < 2; phase++) {
				sleep_us(300 * ((i + phase) % 3));
				b->arrive_and_wait();
			}
		});
		b->~barrier();
	}
}

struct count_up {
	int *a, *b, *c;

	void operator()() noexcept
	{
		++*a, ++*b, ++*c;
	}
};

static void drop()
{
	static int a, b, c;
	std::barrier<count_up> meet(4, count_up{ &a, &b, &c });

	threads(4, [&](int i) {
		for (int phase = 0; phase < 30; phase++) {
			sleep_us(300 * (i + 1));
			if (i == 1 && phase == 10) {
				meet.arrive_and_drop();
				return;
			}
			/*
			 * With two calls, g++ keeps the function. A single call would be inlined.
			 */
			if (phase & 1)
				meet.arrive_and_wait();
			else
				meet.arrive_and_wait();
		}
	});
	printf("phases=%d\n", (a + b + c) / 3);
}

static void arrive()
{
	std::barrier<> meet(4);
	std::atomic<int> passed = 0;

	threads(4, [&](int i) {
		for (int phase = 0; phase < 30; phase++) {
			sleep_us(300 * (i + 1));
			if (i == 1) {
				(void)meet.arrive();
				while (passed < 3 * (phase + 1))
					sleep_us(100);
			} else {
				meet.arrive_and_wait();
				passed++;
			}
		}
	});
}

static std::barrier<> thrower(4);

__attribute__((noinline)) static void meet_and_throw()
{
	thrower.arrive_and_wait();
	throw 1;
}

static void throws()
{
	std::atomic<int> caught = 0;

	threads(4, [&](int i) {
		for (int phase = 0; phase < 30; phase++) {
			sleep_us(300 * (i + 1));
			try {
				meet_and_throw();
			} catch (int n) {
				caught += n;
			}
		}
	});
	printf("caught=%d\n", caught.load());
}

static void gate()
{
	std::latch open(1);

	threads(5, [&](int i) {
		if (i == 3) {
			sleep_us(20000);
			open.count_down();
		} else {
			if (i == 4)
				sleep_us(120000);
			open.wait();
		}
	});
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)();
	} ways[] = { { "remade", remade },
		     { "drop", drop },
		     { "arrive", arrive },
		     { "throw", throws },
		     { "gate", gate } };

	for (auto &way : ways)
		if (argc == 2 && !strcmp(argv[1], way.name)) {
			way.run();
			return 0;
		}
	fprintf(stderr, "usage: std_ways remade|drop|arrive|throw|gate\n");
	return 2;
}
