// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
// extra_cxx LATE THREADS ROUNDS: extra.c in C++: std::barrier, and the extra work is in a method of
// a class template that uses a standard container.
#include <barrier>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <vector>

static uint64_t cpu_ns()
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

template <typename T> class grid
{
	std::vector<T> cells = std::vector<T>(1000, T(1));

      public:
	__attribute__((noinline)) T extra_work(int sweeps)
	{
		for (int s = 0; s < sweeps; s++)
			for (std::size_t i = 1; i < cells.size(); i++)
				cells[i] = cells[i] / T(1.0000001) + cells[i - 1] * T(0.3);
		return cells.back();
	}

	__attribute__((noinline)) T common_work(int sweeps)
	{
		for (int s = 0; s < sweeps; s++)
			for (std::size_t i = 1; i < cells.size(); i++)
				cells[i] = cells[i] * T(0.5) + cells[i - 1] * T(0.1);
		return cells.back();
	}
};

int main(int argc, char **argv)
{
	int late = argc > 1 ? std::atoi(argv[1]) : 1, n = argc > 2 ? std::atoi(argv[2]) : 2;
	int rounds = argc > 3 ? std::atoi(argv[3]) : 60;
	std::barrier<> all(n);
	std::vector<std::thread> threads;
	std::vector<uint64_t> extra(static_cast<std::size_t>(n)), whole(extra);

	for (int k = 0; k < n; k++)
		threads.emplace_back([&, k] {
			auto i = static_cast<std::size_t>(k);
			grid<double> g;
			volatile double sink = 0;

			for (int r = 0; r < rounds; r++) {
				uint64_t begin = cpu_ns(), middle, end;

				sink = sink + g.common_work(700);
				middle = end = cpu_ns();
				if (k == late) {
					sink = sink + g.extra_work(1200);
					end = cpu_ns();
				}
				extra[i] += end - middle;
				whole[i] += end - begin;
				all.arrive_and_wait();
			}
		});
	for (auto &t : threads)
		t.join();
	if (late >= 0)
		std::printf("%llu %llu\n",
			    static_cast<unsigned long long>(extra[static_cast<std::size_t>(late)]),
			    static_cast<unsigned long long>(whole[static_cast<std::size_t>(late)]));
	else
		for (uint64_t ns : whole)
			std::printf("%llu ", static_cast<unsigned long long>(ns));
}
