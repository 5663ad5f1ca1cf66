# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Verdicts that rest on more than chance, and costs that are no more than there is."""

import re
import statistics

from harness import Trace, check, check_between, check_equal, check_in, check_not_in, genlog, workload

PAIRED = True


def difference(log):
    """By the log of two threads: how much their shares of waiting differ, and by how many standard errors their mean waits."""
    waits = {0: [], 1: []}
    phases = []
    released = None
    for e in log.episodes():
        last = max(c.arrive for c in e.crossings)
        for c in e.crossings:
            waits[c.thread].append(last - c.arrive)
        if released:
            phases.append(last - released)
        released = last
    means = [statistics.mean(w) for w in waits.values()]
    errors = [statistics.pvariance(w) / len(w) for w in waits.values()]
    return abs(means[0] - means[1]) / statistics.mean(phases), abs(means[0] - means[1]) / max(sum(errors) ** 0.5, 1)


def test_verdict_of_chance(t):
    """Where it is chance who waits longer, no thread is said to be always late; where it is not, it is named."""
    for work in ("random:2ms:6ms:1", "random:2ms:6ms:2", "fixed:0=4ms,1=8ms"):
        path = t.path()
        trace = t.trace([workload("gen"), "--threads", "2", "--rounds", "40", "--work", work, "--work-by", "sleep",
                         "--log", path]).nothing_lost()
        share, errors = difference(genlog.Log(path))
        process, barrier = trace.process(), trace.barrier()
        print(f"{work}: shares differ by {share:.3f}, means by {errors:.1f} standard errors: {process['pattern']}")
        # What lies between may be either.
        if share < 0.04 or errors < 2:
            for text in (process["verdict"], barrier["verdict"]):
                check_not_in("verdict", "the same threads", text)
                check(not re.search(r"thread \d+ waits", text), f"a thread is named: {text}")
        elif share > 0.15 and errors > 4 and process["pattern"] in ("static", "mixed"):
            check(re.search(r"thread \d+ waits", process["verdict"]), f"no thread is named: {process['verdict']}")


def test_cost_above_all(t):
    """Tracing costs no more than all of the time; where it costs more than is lost, the advice is about that alone."""
    path = t.path()
    trace = t.trace([workload("gen"), "--threads", "2", "--rounds", "20000"], "--record", path)
    process = trace.process()
    available = sum(th["work_ns"] + max(th["idle_ns"], th["wait_ns"]) for th in process["threads"])
    check_between("share", process["cost_share"], 0, 1)
    check_between("cost", process["cost_ns"], 1, available)
    lost = 1 - process["efficiency"]["parallel"]
    if process["cost_share"] >= max(0.5, lost):
        check_in("advice", "do not act on these figures", process["advice"])
        for barrier in trace.barriers():
            check(not barrier["advice"] or "do not act" in barrier["advice"], f"other advice: {barrier['advice']}")
    out = t.path()
    t.sbt("report", "--json", "-o", out, path)
    for what in ("cost_ns", "cost_share", "advice"):
        check_equal(what, Trace(t, out).process()[what], process[what])
