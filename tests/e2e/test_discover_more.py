# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Barriers of C++20 that the compiler inlines: each episode and its waits are compared with the program's own log."""

import os
import re
import subprocess

from harness import check_between, check_equal, check_in, workload

PAIRED = True

LEVELS = ("O1", "O2", "O3")


def run(t, kind, level, *late):
    trace = t.trace([workload(f"std_inline-{kind}-{level}"), "4", "40", *map(str, late)]).nothing_lost()
    own = re.search(r"episodes (\d+) wait_ns (\d+)", trace.result.out)
    return trace, int(own[1]), int(own[2])


def lates(level):
    """Return values for the late thread: a fixed one, or none, so that a different thread is late each time."""
    return ((), (3,)) if os.environ.get("SBT_LONG") else ((3,),) if level == "O2" else ((),)


def all_found(t, kind, sites):
    for level in LEVELS:
        for late in lates(level):
            name = f"{kind} {level} {late}"
            trace, episodes, wait = run(t, kind, level, *late)
            found = trace.barriers(family="std")
            check_equal(f"{name}: complete episodes by site", [b["episodes"] for b in found], [episodes // sites] * sites)
            check_equal(f"{name}: incomplete", sum(b["incomplete"] for b in found), 0)
            check_equal(f"{name}: participants", {(b["participants_min"], b["participants"]) for b in found}, {(4, 4)})
            # The lines are those of the program, not of the C++ library.
            check_equal(f"{name}: files", {b["file"].rsplit("/", 1)[-1] for b in found}, {"std_inline.cc"})
            waited = sum(thread["wait_ns"] for b in found for thread in b["threads"])
            check_between(f"{name}: its waits over those of its own log", waited / wait, 0.9, 1.1)
            check_equal(f"{name}: complete", trace.end["complete"], True)
            check_equal(f"{name}: untraced", [p["untraced"] for p in trace.processes()], [None])


def test_barrier(t):
    all_found(t, "PLAIN", 1)


def test_completion_function(t):
    all_found(t, "COMPLETION", 1)


def test_one_of_two_calls(t):
    all_found(t, "MIXED", 2)


def test_latch_of_each_round(t):
    all_found(t, "LATCH", 1)


def test_stripped(t):
    """No function has a name. The barrier is recognised by the code of its wait."""
    for kind in ("PLAIN", "LATCH"):
        program = t.path(f"stripped-{kind}")
        subprocess.run(["strip", "-o", program, workload(f"std_inline-{kind}-O2")], check=True)
        trace = t.trace([program, "4", "40", "3"]).nothing_lost()
        found = trace.barriers(family="std")
        check_equal(f"{kind}: episodes, incomplete, participants",
                    [(b["episodes"], b["incomplete"], b["participants"]) for b in found], [(40, 0, 4)])
        check_equal(f"{kind}: complete", trace.end["complete"], True)


def test_waits_that_are_no_barrier(t):
    """Threads wait for flags and numbers to change: std::atomic::wait() is neither a barrier nor an untraced wait."""
    for level in LEVELS:
        trace = t.trace([workload(f"std_flags-{level}")]).nothing_lost()
        check_in("its output", "done", trace.result.out)
        check_equal(f"{level}: barriers", trace.barriers(family="std"), [])
        check_equal(f"{level}: complete", trace.end["complete"], True)
