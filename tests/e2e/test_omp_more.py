# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""OpenMP besides barriers and regions: threads that wait for their turn, and reductions."""

import re
import signal
import time

from harness import SBT, check, check_all_in, check_between, check_equal, check_in, workload

RUNTIMES = ("", "-libomp")


def logged(out):
    """Return how long each thread waited for its turn and worked, in ns, by the program's own clock."""
    lines = re.findall(r"^# waited \d+ (\d+) worked (\d+)", out, re.M)
    return sum(int(w) for w, _ in lines), sum(int(w) for _, w in lines)


def turns(t, kind, runtimes=RUNTIMES, threads=3, options=()):
    """Check threads that run one after another: the waits for their turns agree with the program's own, and are not work."""
    for runtime in runtimes:
        trace = t.trace([workload("omp_turns" + runtime), kind, str(threads), "10", "5000"], *options)
        trace.nothing_lost()
        waited, worked = logged(trace.result.out)
        p = trace.process()
        check_in("untraced", p["untraced"] or "", ("", "omp_set_nest_lock"))  # see test_turns_nest
        found = sum(th["turn_ns"] for th in p["threads"])
        # The program reads its clock before the call, and again after it.
        check_between(f"{kind}{runtime}: waits", found / waited, 0.95, 1.02)
        team = p["elapsed_ns"] * p["nthreads"]
        check_between(f"{kind}{runtime}: PE", p["efficiency"]["parallel"], worked / team - 0.03, worked / team + 0.1)
        omp = p["omp_efficiency"]
        product = omp["load_balance"] * omp["scheduling"] * (omp["start"] or 1) * omp["serialisation"] * omp["turns"]
        check_between("turns", (1 - omp["turns"]) / (waited / (waited + worked)), 0.85, 1.1)
        check_between("product", product / p["efficiency"]["parallel"], 0.95, 1.05)
        check_in("verdict", "lost because threads work one after another", p["verdict"])


def test_turns_critical(t):
    turns(t, "critical")


def test_turns_named(t):
    turns(t, "named", threads=2)


def test_turns_ordered(t):
    turns(t, "ordered", threads=4)


def test_turns_lock(t):
    turns(t, "lock", threads=2)


def test_turns_spin(t):
    """The time that a thread spins until its turn is no work either, and does not make it late because of work."""
    for runtime in RUNTIMES:
        trace = t.trace([workload("omp_turns" + runtime), "lock", "2", "10", "5000", "spin"])
        waited, _ = logged(trace.result.out)
        check_between(f"waits{runtime}", sum(th["turn_ns"] for th in trace.process()["threads"]) / waited, 0.9, 1.05)


def test_turns_static(t):
    """The runtime is linked statically, so it is unknown which functions the program calls."""
    turns(t, "ordered", runtimes=("-static",))
    trace = t.trace([workload("omp_turns-static"), "lock", "2", "4", "1000"], "--no-causes")
    check_in("untraced", "omp_set_lock", trace.process()["untraced"] or "")


def test_turns_exits(t):
    """Without sessions in the kernel, and with single probes."""
    turns(t, "critical", runtimes=("",), options=("--attach", "multi"))
    turns(t, "lock", runtimes=("-libomp",), options=("--attach", "perf"))


def test_turns_attached(t):
    """Turns are known from then on. For a program that -a finds already running they are partly known, and the report says so."""
    p = t.start([workload("omp_turns"), "critical", "3", "200", "5000"])
    time.sleep(0.3)
    known = t.attach("-p", str(p.pid), "-d", "1").end().process(comm="omp_turns")
    p.signal(signal.SIGKILL)
    check_equal("untraced, -p", known["untraced"], None)
    check_in("verdict, -p", "lost because threads work one after another", known["verdict"])
    tracer = t.attach("-a", "--comm", "omp_turns")
    t.run([workload("omp_turns"), "critical", "3", "20", "5000"])
    found = tracer.stop().process(comm="omp_turns")
    check_in("untraced, -a", "GOMP_critical_start", found["untraced"] or "")
    check(sum(th["turn_ns"] for th in found["threads"]) > 0, "no wait for a turn is known")


def test_turns_unknown(t):
    """If the use of time is unknown, the report names the calls in which threads wait, and PE is an upper limit."""
    trace = t.trace([workload("omp_turns"), "critical", "3", "10", "2000"], "--no-causes")
    check_in("functions", "GOMP_critical_start", trace.process()["untraced"] or "")
    (finding,) = [f for f in trace.all("finding") if f["kind"] == "untraced"]
    check_in("finding", "upper limit", finding["text"])


def test_turns_nest(t):
    """LLVM's nested locks return through an address in a register. No probe can detect this, and the report says so."""
    turns(t, "nest", runtimes=("",))
    trace = t.trace([workload("omp_turns-libomp"), "nest", "3", "10", "2000"])
    check_equal("untraced", trace.process()["untraced"], "omp_set_nest_lock")


def test_turns_formats(t):
    """The output from a recording is the same as live, also as text."""
    recording = t.path()
    t.sbt("record", "-o", recording, "--", workload("omp_turns"), "lock", "3", "10", "5000")
    text = " ".join(t.run([SBT, "report", "--detail", recording]).out.split())
    check_all_in("text", ("lost because threads work one after another", " to waiting for a turn"), text)
    check_in("CSV", "turn_ns", t.run([SBT, "report", "--detail", "--csv", recording]).out)


def test_turns_hot(t):
    """Critical sections take almost no time: the probes are soon detached, and the report says so."""
    for runtime in RUNTIMES:
        argv = [workload("omp_turns" + runtime), "hot", "2", "4", "500000"]
        plain = int(re.search(r"passed (\d+)", t.run(argv).out).group(1))
        trace = t.trace(argv)
        passed = int(re.search(r"passed (\d+)", trace.result.out).group(1))
        p = trace.process()
        print(f"passed {plain} times, traced {passed}; {p['discovery_hits']} hits, cost {p['cost_ns'] / 1e6:.1f} ms")
        check_in("untraced", "critical", p["untraced"] or "")
        check_between("hits", p["discovery_hits"], 1000, 200000)
        # With a probe each time, the rate would be one in 300. The rate with two competing threads varies.
        check(passed > plain / 20, f"passed {plain} times, traced {passed}")


def test_nothing_untraced(t):
    """A program without such calls has no remark."""
    for runtime in RUNTIMES:
        trace = t.trace([workload("omp_losses" + runtime), "1", "1", "2", "10"])
        check_equal("functions", trace.process()["untraced"], None)
        check("untraced" not in {f["kind"] for f in trace.all("finding")}, "finding")


def reductions(t, kind, threads, joins, options=(), rounds=12):
    """Check that every reduction is one episode of all threads, with the waits of the program's own log."""
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
    """Small teams reduce by atomics, and all threads wait in the next call."""
    for kind in ("for", "two"):
        check_equal("kind", reductions(t, kind, 3, 1)["kind"], "loop")


def test_reduction_tree(t):
    """Larger teams wait in the first call, which returns another value to the first thread than to the others."""
    for kind in ("for", "nowait"):
        check_equal("kind", reductions(t, kind, 6, 1)["kind"], "loop")


def test_reduction_region(t):
    reductions(t, "region", 6, 12)
    check_equal("kind", reductions(t, "region", 3, 12)["kind"], "join")


def test_reduction_exits(t):
    """Departures are detected at the ret instructions."""
    reductions(t, "for", 6, 1, options=("--attach", "multi"))


def sizes(t, kind):
    """Check that threads that do not exist lose nothing: at most four exist at one time, however many are created."""
    for runtime in RUNTIMES:
        trace = t.trace([workload("omp_sizes" + runtime), kind, "30"]).nothing_lost()
        worked = int(re.search(r"^# worked (\d+)", trace.result.out, re.M)[1])
        p = trace.process()
        check_equal("threads at one time", p["positions"], 4)
        pe = worked / (4 * p["elapsed_ns"])
        # Creating a thread, which GCC's runtime does for each inner team, is work of the creating thread.
        check_between(f"{kind}{runtime}: PE", p["efficiency"]["parallel"], pe - 0.04, pe + 0.12)
        omp = p["omp_efficiency"]
        product = omp["load_balance"] * omp["scheduling"] * (omp["start"] or 1) * omp["serialisation"] * omp["turns"]
        check_between("product", product / p["efficiency"]["parallel"], 0.95, 1.05)
        check("lost in serial parts" not in p["verdict"], p["verdict"])


def test_sizes(t):
    sizes(t, "sizes")


def test_sizes_nested(t):
    sizes(t, "nested")
