# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Condition variables that are hot and are no barriers: what looking at them costs, and what is said of it."""

import statistics
import subprocess

from harness import Trace, check, check_between, check_equal, clean_environment, workload


def hot(t, *args, runs=3):
    """Seconds untraced and traced, medians of runs by turns; and the last trace."""
    argv = [workload("hot_cond"), *map(str, args)]
    plain, traced = [], []
    for _ in range(runs):
        plain.append(float(subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True,
                                          env=clean_environment()).stdout))
        trace = t.trace(argv)
        traced.append(float(trace.result.out))
    p = trace.process(comm="hot_cond")
    print(f"{' '.join(map(str, args))}: {statistics.median(plain):.3f} s, traced {statistics.median(traced):.3f} s, "
          f"cost {p['cost_ns'] / 1e6:.1f} ms by the estimate, {p['discovery_hits']} hits, "
          f"not looked at for {p['discovery_paused_ns'] / 1e6:.0f} ms")
    return statistics.median(plain), statistics.median(traced), p


def check_cheap(plain, traced, p, hits_max):
    # The probes are away soon, and each hit of them is in the estimate.
    check_between("hits", p["discovery_hits"], 1000, hits_max)
    check(p["discovery_paused_ns"] > 0, "the probes were not removed")
    check(p["cost_ns"] >= p["discovery_hits"] * p["crossing_cost_ns"] / 2, f"hits are not in the estimate: {p}")
    # A loaded machine is slow to remove them: each hit takes some microseconds until then.
    check(traced < 1.5 * plain + 0.3, f"{plain} s, traced {traced} s")


def test_wakings_of_nobody(t):
    """Two threads wake nobody, 6 million times: with a probe on each they would take 20 s."""
    check_cheap(*hot(t, "empty", 2, 3000000), hits_max=200000)


def test_wakings_of_nobody_many_objects(t):
    check_cheap(*hot(t, "empty", 3, 1000000, 16), hits_max=200000)


def test_wakings_of_nobody_each_its_own(t):
    check_cheap(*hot(t, "own", 4, 1000000), hits_max=200000)


def test_turns_of_two(t):
    check_cheap(*hot(t, "turns", 2, 10000), hits_max=40000)


def test_barrier_is_kept(t):
    """
    A barrier by hand that is as hot keeps its probes, with and without wakings of nobody beside it. There it depends on who runs
    first: before anybody has waited at the barrier there is no hope of one, and that the probes were away is said.
    """
    for kind, threads, tries in (("barrier", 3, 1), ("both", 4, 12)):
        kept = False
        for _ in range(tries):
            trace = t.trace([workload("hot_cond"), kind, str(threads), "2000"])
            found = sum(b["episodes"] for b in trace.barriers(family="cond"))
            kept = trace.process(comm="hot_cond")["discovery_paused_ns"] == 0
            check(not kept or 1999 <= found <= 2000, f"{kind}: its probes were never away, and {found} episodes of 2000 were found")
            if kept:
                break
        check(kept, f"{kind}: its probes were removed in each of {tries} runs")


def test_recorded(t):
    """A recording says the same."""
    path = t.path()
    trace = t.trace([workload("hot_cond"), "own", "2", "1000000"], "--record", path)
    p = trace.process(comm="hot_cond")
    out = t.path()
    check_equal("exit status of report", t.sbt("report", "--json", "-o", out, path).rc, 0)
    again = Trace(t, out, True).process(comm="hot_cond")
    for name in ("discovery_hits", "discovery_paused_ns", "cost_ns"):
        check_equal(name, again[name], p[name])
