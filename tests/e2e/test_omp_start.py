# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""The time that a team's workers need to begin in a region is the start of the team. It is neither a serial part nor a thread's
work."""

import json
import os
import subprocess

from harness import CALM_NS, SBT, Skip, check_between, check_equal, check_in, switch_ns, write_file

# Sums from the second region on, in us: between regions; from the call until the workers' first instructions; in all regions.
SOURCE = r"""
#include <omp.h>
#include <stdio.h>
#include <time.h>
#ifndef THREADS
#define THREADS 2
#endif
#ifndef SERIAL
#define SERIAL 0
#endif
static long read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}
static void burn(long us)
{
	long end = read_clock(CLOCK_THREAD_CPUTIME_ID) + us * 1000;

	while (read_clock(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}
int main(void)
{
	long left = 0, serial = 0, start = 0, n = 0;

	omp_set_num_threads(THREADS);
	for (int i = 0; i < REGIONS; i++) {
		long first[THREADS], called;

		if (SERIAL)
			burn(SERIAL);
		called = read_clock(CLOCK_MONOTONIC);
#pragma omp parallel
		{
			int me = omp_get_thread_num();

			first[me] = read_clock(CLOCK_MONOTONIC);
			burn(WORK(me));
#ifdef MIDDLE
#pragma omp barrier
			burn(WORK(me));
#endif
		}
		if (i)
			serial += called - left;
		left = read_clock(CLOCK_MONOTONIC);
		for (int k = 0; i && k < THREADS; k++, n++)
			start += first[k] - called;
	}
	printf("%f %f %ld\n", serial / 1e3, start / 1e3, n);
	return 0;
}
"""


def build(t, compiler, *options):
    source, binary = t.path("start.c"), t.path("start")
    write_file(source, SOURCE)
    done = subprocess.run([compiler, "-g", "-fopenmp", *options, "-o", binary, source], check=False, capture_output=True,
                          text=True)
    if done.returncode and "omp.h" in done.stderr:
        raise Skip(f"{compiler} has no omp.h")
    check_equal(f"{compiler}: {done.stderr}", done.returncode, 0)
    return binary


def start_of_teams(t, policy, compiler, *options, threads=2):
    """Compare with the program's own measurements, from the second region on."""
    binary = build(t, compiler, f"-DTHREADS={threads}", *options)
    path = t.path()
    trace = t.trace([binary], "--record", path, env={**os.environ, "OMP_WAIT_POLICY": policy}).nothing_lost()
    serial, start, threads_begun = map(float, trace.result.out.split())
    process = trace.process()
    found, of_all = process["omp_efficiency"], threads * process["elapsed_ns"] / 1e3
    before = found["scheduling"] * found["load_balance"]
    measured = before * (1 - found["start"]) * of_all
    print(f"{compiler} {options} {policy}: start {measured:.0f} us, its own {start:.0f}; serial "
          f"{before * found['start'] * (1 - found['serialisation']) * of_all:.0f}, its own {serial:.0f}")
    # A thread may lose its CPU between the call and the probe on it, and between the probe in the region and reading the clock
    # there.
    near = 0.1 * start + threads_begun * max(10, 3 * switch_ns() / 1e3)
    check_between("start of the teams, us", measured, start - near, start + near)
    product = found["load_balance"] * found["scheduling"] * found["start"] * found["serialisation"]
    check_between("product", product, process["efficiency"]["parallel"] - 0.01, process["efficiency"]["parallel"] + 0.01)
    out = t.path()
    t.sbt("report", "--detail", "--json", "-o", out, path)
    with open(out, encoding="utf-8") as f:
        (again,) = [r for r in map(json.loads, f) if r["type"] == "process"]
    check_equal("from the recording", again["omp_efficiency"], found)
    return trace


def test_gcc(t):
    trace = start_of_teams(t, "passive", "gcc", "-O2", "-DREGIONS=300", "-DWORK(n)=(n?600:200)")
    check_in("text", "start of teams", " ".join(t.text([trace.session["command"].split()[0]]).split()))


def test_gcc_spins(t):
    start_of_teams(t, "active", "gcc", "-O1", "-DREGIONS=200", "-DWORK(n)=(n?200:600)")


def test_gcc_three_with_barrier(t):
    start_of_teams(t, "passive", "gcc", "-O0", "-DREGIONS=100", "-DWORK(n)=(n+1)*200", "-DMIDDLE", threads=3)


def test_clang(t):
    start_of_teams(t, "passive", "clang", "-O2", "-DREGIONS=200", "-DWORK(n)=(n?600:200)", "-DSERIAL=300")


def test_clang_three(t):
    start_of_teams(t, "active", "clang", "-O1", "-DREGIONS=100", "-DWORK(n)=300", "-DMIDDLE", threads=3)


def test_predicted(t):
    """Two halves with work in a ratio of 1 to 3 take 3/4 of the time, however late the worker wakes up each time."""
    for compiler in ("gcc", "clang"):
        binary = build(t, compiler, "-O2", "-DREGIONS=100", "-DWORK(n)=(n?3000:1000)")
        path = t.path()
        t.run([SBT, "record", "-q", "-o", path, "--", binary], env={**os.environ, "OMP_WAIT_POLICY": "passive"})
        result = t.sbt("predict", "-q", "--json", "--machine", "ideal", "--processors", "1,2", path)
        times = {r["processors"]: r["time_ns"] for r in map(json.loads, result.out.splitlines())
                 if r["type"] == "prediction"}
        print(f"{compiler}: {times[1] / times[2]:.3f}")
        # In a recording from a busy host, some of the work takes longer than it should.
        room = 0.06 if switch_ns() < CALM_NS else 0.15
        check_between(f"{compiler}: speedup", times[1] / times[2], 1.33 - room, 1.33 + room)
