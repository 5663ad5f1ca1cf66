# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""OpenMP programs that are already running when tracing begins: their episodes are known from the next region on."""

import collections
import os
import signal
import subprocess
import time

from harness import Skip, check, check_between, check_equal, wait_for, write_file

LONG = bool(os.environ.get("SBT_LONG"))

# Each thread logs when it arrived at the end of each region, and at the barrier inside.
SOURCE = r"""
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifndef REGIONS
#define REGIONS 1000000
#endif
#ifndef MORE
#define MORE 100
#endif
#ifndef THREADS
#define THREADS 2
#endif
static long ended[REGIONS][THREADS];
static volatile sig_atomic_t last = REGIONS, n;
static void stop(int number)
{
	if (n + MORE < REGIONS)
		last = n + MORE;
	(void)number;
}
static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}
static void work(long ns)
{
	struct timespec t = { 0, ns };

#ifdef SPIN
	for (long end = now() + ns; now() < end;)
		;
#else
	nanosleep(&t, NULL);
#endif
	(void)t;
}
int main(void)
{
	int i;

	signal(SIGTERM, stop);
	omp_set_num_threads(THREADS);
	printf("ready\n");
	fflush(stdout);
	for (; n < last; n++) {
#pragma omp parallel
		{
			int me = omp_get_thread_num();

			work(100000 + 300000L * (me == LATE(n)));
#ifdef MIDDLE
			MIDDLE
			work(100000);
#endif
			ended[n][me] = now();
		}
	}
	for (i = 0; i < n; i++, printf("\n"))
		for (int k = 0; k < THREADS; k++)
			printf("%ld ", ended[i][k]);
	return 0;
}
"""

BARRIER = '-DMIDDLE=_Pragma("omp barrier")'
LOOP = '-DMIDDLE=_Pragma("omp for") for (int k = 0; k < 8; k++) work(1000);'
SINGLE = ('-DMIDDLE=int x; _Pragma("omp single copyprivate(x)") x = n; '
          '_Pragma("omp barrier") if (x != n) abort();')


def build(t, compiler, *options, source=SOURCE):
    file, binary = t.path("running.c"), t.path("running")
    write_file(file, source)
    late = [] if any("LATE" in o for o in options) else ["-DLATE(n)=0"]
    done = subprocess.run([compiler, "-g", "-fopenmp", *late, *options, "-o", binary, file], check=False,
                          capture_output=True, text=True)
    if done.returncode and "omp.h" in done.stderr:
        raise Skip(f"{compiler} has no omp.h")
    check_equal(f"{compiler}: {done.stderr}", done.returncode, 0)
    return binary


def log_of(text):
    return [[int(x) for x in line.split()] for line in text.split("\n") if line and line[0].isdigit()]


def attached(t, binary, *how, per_region=1):
    """Attach inside a region. Only the three regions after the start of tracing may be uncertain."""
    program = t.start([binary], env={**os.environ, "OMP_WAIT_POLICY": "passive"})
    wait_for("it runs", lambda: "ready" in program.out)
    time.sleep(0.1)
    tracer = t.attach("-W", *(how or ("-p", str(program.pid))))
    program.popen.send_signal(signal.SIGTERM)
    check_equal("its status", program.wait(120).rc, 0)
    trace = tracer.stop() if how else tracer.end()
    held_against_log(trace, log_of(program.out), program.pid, per_region)
    return trace


def held_against_log(trace, log, pid, per_region):
    """Check that each region of the log with a traced end has @per_region episodes, and that the last arriver of the join is the
    thread that ended last."""
    episodes = [e for e in trace.all("episode") if e["pid"] == pid]
    since = trace.session["clock_start_ns"]
    # With -a a process is found a while after the start. Then the first recorded event of the process counts.
    first = min([e["t_ns"] for e in episodes], default=0) if trace.session["mode"] == "system" else 0
    regions = [[x - since for x in r] for r in log if min(r) > since + first][3:]
    check(len(regions) > 20, f"{len(regions)} regions in the log were traced")
    begun = max(regions[0])
    regions = regions[1:]
    late = [e for e in episodes if min(m["arrive_ns"] or 0 for m in e["threads"]) > begun]
    states = collections.Counter(e["state"] for e in late)
    check_equal("what is not complete after three regions", {k: v for k, v in states.items() if k != "complete"}, {})
    check_between("episodes", len(late), len(regions) * per_region - per_region, (len(regions) + 1) * per_region)
    wrong = 0
    joins = [e for e in late if e["kind"] == "join"]
    for e in joins:
        arrive = sorted(m["arrive_ns"] for m in e["threads"])
        # A thread that ended at these times must have arrived after that, and before its next action.
        fits = [r for r in regions if all(a >= x for a, x in zip(arrive, sorted(r)))]
        if not fits or max(fits[-1]) > arrive[-1] or arrive[-1] - max(fits[-1]) > 50_000_000:
            wrong += 1
    # The region before the first of these may be among them.
    check_between("joins that fit no region", wrong, 0, 1)


def test_joins_alone(t):
    """Regions with no barrier but their end."""
    for _ in range(20 if LONG else 2):
        attached(t, build(t, "gcc", "-O2"))


def test_joins_alone_worker_late(t):
    attached(t, build(t, "gcc", "-O0", "-DLATE(n)=1", "-DSPIN"))


def test_barrier_inside_a_region(t):
    attached(t, build(t, "gcc", "-O2", BARRIER, "-DLATE(n)=(n%2)"), per_region=2)


def test_single(t):
    """One thread calls another function than the others, which wait for the value that it passes to them."""
    attached(t, build(t, "gcc", "-O1", SINGLE, "-DTHREADS=3"), per_region=4)


def test_libomp(t):
    for _ in range(15 if LONG else 2):
        attached(t, build(t, "clang", "-O2", "-DLATE(n)=1"))


def test_libomp_single(t):
    attached(t, build(t, "clang", "-O1", SINGLE, "-DTHREADS=3"), per_region=3)


def test_whole_machine(t):
    for _ in range(8 if LONG else 1):
        attached(t, build(t, "gcc", "-O2", "-DMORE=1000"), "-a")


def test_whole_machine_libomp(t):
    attached(t, build(t, "clang", "-O2", LOOP, "-DMORE=1000"), "-a", per_region=2)


# There is one region for the whole life. Each thread logs its arrivals and departures at each barrier.
ONE_REGION = r"""
#include <omp.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static unsigned long long came[THREADS][300], went[THREADS][300];

static unsigned long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

int main(void)
{
	int round = 0, k;

	puts("ready");
	fflush(stdout);
#pragma omp parallel num_threads(THREADS) private(round)
	{
		int n = omp_get_thread_num();

		for (round = 0; round < 300; round++) {
			usleep(n == THREADS - 1 ? 9000 : 1000);
			came[n][round] = now();
#pragma omp barrier
			went[n][round] = now();
		}
	}
	for (round = 0; round < 300; round++) {
		for (k = 0; k < THREADS; k++)
			printf("%llu ", came[k][round]);
		for (k = 0; k < THREADS; k++)
			printf("%llu ", went[k][round]);
		puts("");
	}
	return 0;
}
"""


def held_against_rounds(trace, out, pid, threads):
    """Check that from the first complete episode on, each round of the log is one episode."""
    episodes = [e for e in trace.all("episode") if e["pid"] == pid and e["kind"] != "join"]
    since = trace.session["clock_start_ns"]
    rounds = [[x - since for x in r] for r in log_of(out)]
    check(len(episodes) > 100, f"{len(episodes)} episodes")
    first = min(e["t_ns"] for e in episodes if e["state"] == "complete" and len(e["threads"]) == threads)
    check_equal("states", {e["state"] for e in episodes if e["t_ns"] > first}, {"complete"})
    whole = [r for r in rounds if min(r) > first]
    late = [e for e in episodes if min(m["arrive_ns"] for m in e["threads"]) > first]
    check_equal("episodes", len(late), len(whole))
    for e, r in zip(sorted(late, key=lambda e: e["t_ns"]), whole):
        last = max(m["arrive_ns"] for m in e["threads"])
        check(max(r[:threads]) <= last <= min(r[threads:]), f"the last came at {last}, in the log {r}")


def one_region(t, compiler, threads, *options):
    binary = build(t, compiler, f"-DTHREADS={threads}", *options, source=ONE_REGION)
    program = t.start([binary], env={**os.environ, "OMP_WAIT_POLICY": "passive"})
    wait_for("it runs", lambda: "ready" in program.out)
    time.sleep(0.1)
    tracer = t.attach("-W", "-a")
    check_equal("its status", program.wait(120).rc, 0)
    held_against_rounds(tracer.stop(), program.out, program.pid, threads)


def one_region_of_a_child(t, compiler, threads, *options):
    """A program that has never run before begins its region before there are probes."""
    binary = build(t, compiler, f"-DTHREADS={threads}", *options, source=ONE_REGION)
    trace = t.trace(["sh", "-c", f"env OMP_WAIT_POLICY=passive {binary}; true"], "-W")
    pid = trace.process(comm="running")["pid"]
    held_against_rounds(trace, trace.result.out, pid, threads)


def test_one_region(t):
    """The thread that began the region is unknown, and no thread begins another one."""
    one_region(t, "gcc", 3, "-O2")


def test_one_region_libomp(t):
    one_region(t, "clang", 2, "-O1")


def test_one_region_stripped(t):
    one_region(t, "gcc", 2, "-O0", "-s")


def test_one_region_of_a_child(t):
    one_region_of_a_child(t, "gcc", 3, "-O1")


def test_one_region_of_a_child_libomp(t):
    one_region_of_a_child(t, "clang", 2, "-O2")


SHORT_REGIONS = r"""
#include <omp.h>
#include <time.h>

int main(void)
{
	int i;

	for (i = 0; i < 30; i++) {
#pragma omp parallel num_threads(3)
		{
			struct timespec t = { 0, 500000 * (1 + omp_get_thread_num() % 2) };

			nanosleep(&t, 0);
		}
	}
	return 0;
}
"""


def short_regions_of_children(t, compiler):
    """A program that has never run before ends within 30 ms. It has its probes before it begins."""
    for how in ("words", "script"):
        binary = build(t, compiler, "-O1", f"-DHOW_{how}", source=SHORT_REGIONS)
        script = t.path("twice.sh")
        write_file(script, f"# Two runs.\n{binary}\n{binary}\ntrue\n")
        trace = t.trace(["sh", script] if how == "script" else ["sh", "-c", f"{binary}; {binary}; true"])
        found, methods = [p["episodes"] for p in trace.processes()], {p["method"] for p in trace.session["probes"]}
        print(f"{how}: {found} of 30 regions each, complete: {trace.end['complete']}")
        if methods == {"session"}:
            check_equal("regions", found, [30, 30])
            # Waits of the runtime's own threads between regions may be over before they are probed.
            lost = {cause for cause, n in trace.end["lost"].items() if n}
            check(trace.end["complete"] or lost == {"wait_unprobed"}, f"not complete: {trace.end['lost']}")
        else:
            check(found == [30, 30] or not trace.end["complete"], f"{found}, and complete")


def test_short_regions_of_children(t):
    short_regions_of_children(t, "gcc")


def test_short_regions_of_children_libomp(t):
    short_regions_of_children(t, "clang")
