# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Findings about the machine or its use, on programs with known answers."""

import os

from harness import Skip, check, check_between, check_equal, check_in, workload


def findings(t, *command):
    trace = t.trace([workload(command[0]), *command[1:]])
    return {f["kind"]: f for f in trace.all("finding")}, trace


def wander(t, mode):
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("one CPU only")
    return findings(t, "wander", mode, "300")[0]


def test_threads_that_share_a_cpu(t):
    found = wander(t, "pin")
    check_equal("threads on one CPU", found["pinned"]["figure"], 2)
    check_in("sentence", "may run on CPU 0 only", found["pinned"]["text"])
    check("migrating" not in found, f"{found}")


def test_threads_that_wander(t):
    """Each thread moves to the other CPU before each of its phases, which take a millisecond or two."""
    found = wander(t, "wander")
    check_between("moves in a second", found["migrating"]["figure"], 200, 1100)
    check("pinned" not in found, f"{found}")


def test_threads_that_stay(t):
    found = wander(t, "stay")
    check(not {"pinned", "migrating"} & set(found), f"{found}")


def test_more_threads_than_cpus(t):
    cpus = len(os.sched_getaffinity(0))
    found, trace = findings(t, "gen", "--threads", str(4 * cpus), "--rounds", "50", "--work", "rotate:2ms:1us")
    process = trace.process()
    # The time of threads that were runnable without a CPU, by the parts of the threads' own time.
    waited = sum(m["runq_ns"] + m["late_ns"] for m in process["threads"])
    check_between("on average", found["oversubscribed"]["figure"],
                  0.8 * waited / process["elapsed_ns"], 1.2 * waited / process["elapsed_ns"])
    check(found["oversubscribed"]["figure"] > cpus, f"{found}")
