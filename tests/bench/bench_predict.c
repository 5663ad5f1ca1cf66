// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Measure the cost of the prediction: events per second of the simulator. Usage: bench_predict
 * [THREADS [EPISODES]]; prints one line for each kind of load. "bench_predict shapes" prints the
 * speedups of the programs in tests/unit/test_predict_gen.h, so that people can compare them with
 * the figures of the paper that is named there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../unit/test_predict_gen.h"

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/*
 * Make an input in which threads cross a barrier repeatedly, after work of random length. If
 * @reads, each thread also reads data of its neighbour.
 */
static int load(uint32_t threads, uint32_t episodes, bool reads, struct predict_input *out)
{
	uint64_t x = 88172645463325252ull;
	struct gen g;
	uint32_t k, i;

	gen_begin(&g, threads);
	for (k = 0; k < episodes; k++) {
		for (i = 0; i < threads; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			gen_work(&g, i, 50000 + x % 20000);
			if (reads)
				gen_read(&g, i, (i + 1) % threads, 128);
		}
		gen_meet(&g, k % 5);
	}
	return gen_end(&g, out);
}

static int measure(const char *what, const struct predict_input *in, const char *machine,
		   uint32_t processors)
{
	struct predict_machine m;
	struct predict_run run;
	double begin, spent;

	if (predict_machine_find(machine, &m))
		return 1;
	begin = now();
	if (predict_simulate(in, &m, processors, NULL, NULL, &run))
		return 1;
	spent = now() - begin;
	printf("predict: %5.1f million events a second, %llu events, %u threads on %u processors "
	       "of %s, %s\n",
	       (double)run.events / spent / 1e6, (unsigned long long)run.events, in->nthreads,
	       processors, machine, what);
	predict_run_free(&run);
	return 0;
}

static int bench(uint32_t threads, uint32_t episodes)
{
	struct predict_input in;
	int bad;

	bad = load(threads, episodes, false, &in);
	bad = bad || measure("barriers", &in, "laptop", threads);
	bad = bad || measure("barriers", &in, "laptop", threads > 4 ? threads / 4 : 1);
	bad = bad || measure("barriers", &in, "distributed", threads);
	predict_input_free(&in);
	bad = bad || load(threads, episodes / 4, true, &in);
	bad = bad || measure("barriers and data", &in, "distributed", threads);
	predict_input_free(&in);
	return bad;
}

static double time_of(const struct gen_benchmark *b, uint32_t n, const struct predict_machine *m)
{
	struct predict_input in;
	struct predict_run run;
	double t;

	if (b->make(n, &in) || predict_simulate(&in, m, n, NULL, NULL, &run))
		exit(1);
	t = run.time_ns;
	predict_run_free(&run);
	predict_input_free(&in);
	return t;
}

static void row(const char *name, const struct gen_benchmark *b, const struct predict_machine *m,
		bool times)
{
	double first = time_of(b, 1, m), t;
	uint32_t n;

	printf("%-28s", name);
	for (n = 1; n <= 32; n *= 2) {
		t = time_of(b, n, m);
		printf(times ? " %8.0f" : " %8.2f", times ? t / 1e6 : first / t);
	}
	putchar('\n');
}

static void set(struct predict_machine *m, const char *assignment)
{
	char why[256];

	if (!predict_machine_set(m, assignment, why, sizeof(why)))
		return;
	fprintf(stderr, "%s\n", why);
	exit(1);
}

static void vary(const struct gen_benchmark *b, const char *parameter, const char *const *values,
		 bool times, const char *also)
{
	char assignment[64], name[64];
	struct predict_machine m;

	for (; *values; values++) {
		predict_machine_find("distributed", &m);
		if (also)
			set(&m, also);
		snprintf(assignment, sizeof(assignment), "%s=%s", parameter, *values);
		set(&m, assignment);
		snprintf(name, sizeof(name), "%s %s", b->name, *values);
		row(name, b, &m, times);
	}
}

static void matmul(void)
{
	static const char *const names[] = { "B", "C", "W" };
	struct predict_machine m;
	struct predict_input in;
	struct predict_run run;
	uint32_t n, d;

	predict_machine_find("cm5", &m);
	puts("Figure 9: Matmul on cm5, ms");
	for (d = 0; d < 9; d++) {
		printf("(%s, %s)%22s", names[d / 3], names[d % 3], "");
		for (n = 1; n <= 32; n *= 2) {
			if (gen_matmul(n, (enum gen_dist)(d / 3), (enum gen_dist)(d % 3), 32,
				       &in) ||
			    predict_simulate(&in, &m, n, NULL, NULL, &run))
				exit(1);
			printf(" %8.0f", run.time_ns / 1e6);
			predict_run_free(&run);
			predict_input_free(&in);
		}
		putchar('\n');
	}
}

static int shapes(void)
{
	static const char *const ratios[] = { "2", "1", "0.5", "0.25", NULL };
	static const char *const startups[] = { "5us", "100us", "200us", NULL };
	static const char *const bandwidths[] = { "5MB/s", "20MB/s", "200MB/s", NULL };
	static const char *const policies[] = { "none", "interrupt", "poll", NULL };
	static const char *const intervals[] = { "10us", "100us", "1ms", NULL };
	struct predict_machine m;
	size_t i;

	predict_machine_find("distributed", &m);
	puts("Figure 4: speedups with 1 to 32 processors");
	for (i = 0; i < sizeof(gen_benchmarks) / sizeof(gen_benchmarks[0]); i++)
		row(gen_benchmarks[i].name, &gen_benchmarks[i], &m, false);
	puts("Figure 6: MipsRatio, speedups");
	vary(&gen_benchmarks[GEN_CYCLIC_RED], "MipsRatio", ratios, false, NULL);
	vary(&gen_benchmarks[GEN_SORT], "MipsRatio", ratios, false, NULL);
	vary(&gen_benchmarks[GEN_MGRID], "MipsRatio", ratios, false, NULL);
	vary(&gen_benchmarks[GEN_POISSON], "MipsRatio", ratios, false, NULL);
	puts("Figure 7: Mgrid, CommStartupTime, ms; MipsRatio 1, then 0.25");
	vary(&gen_benchmarks[GEN_MGRID], "CommStartupTime", startups, true, NULL);
	vary(&gen_benchmarks[GEN_MGRID], "CommStartupTime", startups, true, "MipsRatio=0.25");
	puts("Bandwidth: Sort, ms");
	vary(&gen_benchmarks[GEN_SORT], "ByteTransferTime", bandwidths, true, NULL);
	puts("Figure 8: ServicePolicy, ms; then intervals of polling");
	vary(&gen_benchmarks[GEN_CYCLIC_RED], "ServicePolicy", policies, true, NULL);
	vary(&gen_benchmarks[GEN_CYCLIC_RED], "PollInterval", intervals, true,
	     "ServicePolicy=poll");
	vary(&gen_benchmarks[GEN_GRID], "ServicePolicy", policies, true, NULL);
	vary(&gen_benchmarks[GEN_GRID], "PollInterval", intervals, true, "ServicePolicy=poll");
	matmul();
	return 0;
}

int main(int argc, char **argv)
{
	uint32_t threads = 32, episodes = 200000;

	if (argc > 1 && !strcmp(argv[1], "shapes"))
		return shapes();
	if (argc > 1)
		threads = (uint32_t)strtoul(argv[1], NULL, 0);
	if (argc > 2)
		episodes = (uint32_t)strtoul(argv[2], NULL, 0);
	return threads && episodes ? bench(threads, episodes) : 2;
}
