# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Efficiencies of threads that do not exist all the time or only join others, and verdicts that must rest on more than chance."""

import re
import statistics

from harness import Trace, check, check_between, check_equal, check_in, check_not_in, genlog, workload

PAIRED = True
# Error of an efficiency: the share of wake-ups in phases of 4 ms and more.
NEAR = 0.07


def run(t, way, *arguments, name="joiner", options=()):
    """Return the trace, its process, and the program's own values of PE and LB."""
    trace = t.trace([workload(name), way, *arguments], *options).nothing_lost()
    (process,) = trace.processes()
    told = re.search(r"^# efficiency ([0-9.]+) ([0-9.]+)", trace.result.out, re.M)
    return trace, process, [float(x) for x in told.groups()]


def efficiency(process, told, way):
    e = process["efficiency"]
    for what, expected in zip(("parallel", "load_balance"), told):
        check_between(f"{way}: {what}", e[what], expected - NEAR, expected + NEAR)
    check_between(f"{way}: product", e["load_balance"] * e["serialisation"] * e["transfer"] / e["parallel"], 0.99, 1.01)


def test_rounds(t):
    for arguments in ((), ("3", "12")):
        trace, process, told = run(t, "rounds", *arguments)
        workers, rounds = (int(a) for a in arguments or ("4", "10"))
        efficiency(process, told, "rounds")
        check_equal("threads", process["nthreads"], workers * rounds)
        check_between("positions", process["positions"], workers, workers + 1)
        # Main only creates and joins threads.
        barrier = trace.barrier()
        check_equal("participants", barrier["participants_min"], workers)
        check_between("load balance of the barrier", barrier["load_balance"], told[1] - NEAR, told[1] + NEAR)
        check_in("text", " at a time)", t.text([workload("joiner"), "rounds", *arguments]))


def test_rotating(t):
    _, process, told = run(t, "rotating", "4", "12")
    efficiency(process, told, "rotating")
    check_between("PE is lost to SerE", process["efficiency"]["serialisation"], told[0] - NEAR, told[0] / told[1] + NEAR)


def test_serial(t):
    """Workers that do not exist lose nothing."""
    _, process, told = run(t, "serial")
    efficiency(process, told, "serial")


def test_main_has_a_part(t):
    trace, process, told = run(t, "part")
    efficiency(process, told, "part")
    check_equal("participants", trace.barrier()["participants"], 5)


def test_two_kinds(t):
    trace, process, told = run(t, "kinds")
    efficiency(process, told, "kinds")
    check_equal("participants", sorted(b["participants"] for b in trace.barriers()), [4, 5])


def test_barrier_within(t):
    """Time is lost at the barrier, and not by the main thread, which waits for all of them."""
    trace, process, told = run(t, "meet")
    efficiency(process, told, "meet")
    first = trace.barriers()[0]
    check_equal("ranks first", first["family"], "pthread")
    check_between("its share", first["lost_ns"] / process["wait_ns"], 0.9, 1)


def test_made_once(t):
    """Threads that are created once have no rounds. A thread that joins them, or crosses one barrier with them before, is not
    counted."""
    for way in ("pool", "gate"):
        _, process, told = run(t, way)
        efficiency(process, told, way)
        check_not_in(f"{way}: verdict", "threads in a team", process["verdict"])
        check_equal(f"{way}: positions", process["positions"], 4 + (way == "gate"))


def test_alone_first(t):
    """Main is alone for 0.3 s, and loses nothing meanwhile."""
    trace = t.trace([workload("lifetime")]).nothing_lost()
    (process,) = trace.processes()
    # 0.3 s alone, then 20 rounds of 40 ms, in which the threads work for 10, 20, 30 and 40 ms.
    check_between("PE", process["efficiency"]["parallel"], 0.62, 0.72)
    check_between("LB", process["efficiency"]["load_balance"], 0.62, 0.8)
    check_not_in("verdict", "threads in a team", process["verdict"])


def test_recording_says_the_same(t):
    for way in ("rounds", "gate"):
        path = t.path()
        _, live, _ = run(t, way, options=("--record", path))
        out = t.path()
        t.sbt("report", "--detail", "--json", "-o", out, path)
        (read,) = Trace(t, out).processes()
        for what in ("positions", "nthreads", "efficiency", "pattern", "verdict"):
            check_equal(f"{way}: {what}", read[what], live[what])


def test_named_phase(t):
    """The efficiencies of a named phase are based on positions, too."""
    trace, process, told = run(t, "rounds", options=("--phase", "all=join_all..join_all"))
    (phase,) = trace.all("phase")
    check_between("LB of the phase", phase["efficiency"]["load_balance"], told[1] - NEAR, told[1] + NEAR)
    check(len(phase["threads"]) > 2 * process["positions"], f"threads: {phase['threads']}")


def difference(log):
    """Return, from the log of two threads, the difference of their shares of waiting, and the difference of their mean waits in
    standard errors."""
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
    """If chance decides which thread waits longer, no thread is reported as always late. Otherwise the thread is named."""
    for work in ("random:2ms:6ms:1", "random:2ms:6ms:2", "fixed:0=4ms,1=8ms"):
        path = t.path()
        trace = t.trace([workload("gen"), "--threads", "2", "--rounds", "40", "--work", work, "--work-by", "sleep",
                         "--log", path]).nothing_lost()
        share, errors = difference(genlog.Log(path))
        process, barrier = trace.process(), trace.barrier()
        print(f"{work}: shares differ by {share:.3f}, means by {errors:.1f} standard errors: {process['pattern']}")
        # Between these limits, both verdicts are possible.
        if share < 0.04 or errors < 2:
            for text in (process["verdict"], barrier["verdict"]):
                check_not_in("verdict", "the same threads", text)
                check(not re.search(r"thread \d+ waits", text), f"a thread is named: {text}")
        elif share > 0.15 and errors > 4 and process["pattern"] in ("static", "mixed"):
            check(re.search(r"thread \d+ waits", process["verdict"]), f"no thread is named: {process['verdict']}")


def test_cost_above_all(t):
    """Tracing costs at most all of the time. If it costs more than is lost, the advice is only about the cost."""
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
    t.sbt("report", "--detail", "--json", "-o", out, path)
    for what in ("cost_ns", "cost_share", "advice"):
        check_equal(what, Trace(t, out).process()[what], process[what])
