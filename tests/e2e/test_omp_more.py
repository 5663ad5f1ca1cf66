# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""OpenMP beside barriers and regions: threads that wait for their turn, and reductions."""

import re

from harness import SBT, check, check_between, check_equal, check_in, workload

RUNTIMES = ("", "-libomp")


def turns(t, kind, name, runtimes=RUNTIMES):
    """Threads that run one after another: the report names the call in which they wait, and PE is an upper limit."""
    for runtime in runtimes:
        trace = t.trace([workload("omp_turns" + runtime), kind, "3", "10", "2000"])
        trace.nothing_lost()
        check_in(f"functions, {kind}{runtime}", name[runtime == "-libomp"], trace.process()["untraced"] or "")
        (finding,) = [f for f in trace.all("finding") if f["kind"] == "untraced"]
        check_in("finding", "upper limit", finding["text"])


def test_turns(t):
    turns(t, "critical", ("GOMP_critical_start", "__kmpc_critical"))


def test_turns_formats(t):
    """From a recording as live; in text, too."""
    recording = t.path()
    t.sbt("record", "-o", recording, "--", workload("omp_turns"), "lock", "3", "10", "2000")
    text = " ".join(t.run([SBT, "report", recording]).out.split())
    check_in("text", "omp_set_lock", text)
    check_in("text", "PE at most", text)
    check_in("CSV", "omp_set_lock", t.run([SBT, "report", "--csv", recording]).out)


def test_nothing_untraced(t):
    """A program without such calls is not marked."""
    for runtime in RUNTIMES:
        trace = t.trace([workload("omp_losses" + runtime), "1", "1", "2", "10"])
        check_equal("functions", trace.process()["untraced"], None)
        check("untraced" not in {f["kind"] for f in trace.all("finding")}, "finding")


def reductions(t, kind, threads, joins, options=(), rounds=12):
    """Every reduction is one meeting of all threads, whose waits are those of the program's own log."""
    trace = t.trace([workload("omp_reduce-libomp"), kind, str(threads), str(rounds), "3000"], "-W", *options)
    trace.nothing_lost()
    rows = sorted(trace.barriers(), key=lambda b: -b["wait_ns"]["sum"])
    logged = sum(int(ns) for ns in re.findall(r"^# waited \d+ (\d+)", trace.result.out, re.M))
    check_equal("incomplete, ambiguous", (trace.end["incomplete"], trace.end["ambiguous"]), (0, 0))
    check_equal("episodes", rows[0]["episodes"], rounds)
    check_equal("participants", rows[0]["participants"], threads)
    check_between("waits", rows[0]["wait_ns"]["sum"] / logged, 0.97, 1.03)
    check_equal("joins", sum(b["episodes"] for b in rows if b["kind"] == "join"), joins)
    return rows[0]


def test_reduction_atomic(t):
    """Small teams reduce by atomics and meet in the call after that."""
    for kind in ("for", "two"):
        check_equal("kind", reductions(t, kind, 3, 1)["kind"], "loop")


def test_reduction_tree(t):
    """Larger teams meet in the first call, in which the first thread is told another thing than the others."""
    for kind in ("for", "nowait"):
        check_equal("kind", reductions(t, kind, 6, 1)["kind"], "loop")


def test_reduction_region(t):
    reductions(t, "region", 6, 12)
    check_equal("kind", reductions(t, "region", 3, 12)["kind"], "join")


def test_reduction_exits(t):
    """Where departures are seen at the ret instructions."""
    reductions(t, "for", 6, 1, options=("--attach", "multi"))
