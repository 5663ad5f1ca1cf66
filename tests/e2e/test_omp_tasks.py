# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""OpenMP tasks that run inside barriers: they are work and are not traced, and the report says so."""

import re

from harness import SBT, check, check_between, check_equal, check_in, check_not_in, workload

KINDS = ("single", "master", "loop", "each")
ROUNDS, TASKS, US = 4, 24, 500


def truth(out, threads, elapsed):
    """Return, by the program's own log, the share of its threads' time in which they worked, in tasks and outside of barriers."""
    inside = sum(int(worked) + int(before) for worked, before in
                 re.findall(r"^# worked \d+ (\d+) before (\d+)", out, re.M))
    # The first thread does everything alone that is in no region, including what precedes main().
    regions = int(re.search(r"^# ran \d+ regions (\d+)", out, re.M).group(1))
    return (inside + elapsed - regions) / (threads * elapsed)


def check_marked(process, own):
    check_equal("tasks", process["tasks"], True)
    check_equal("efficiencies", [v for v in process["efficiency"].values() if v is not None], [])
    check_equal("pattern", process["pattern"], "tasks")
    check_equal("advice", process["advice"] or "", "")
    check_in("verdict", "tasks", process["verdict"])
    check_between("PE of the program's own log", own, process["parallel_efficiency_least"] - 0.02,
                  process["parallel_efficiency_most"] + 0.02)


def marked(t, name, kinds=KINDS, threads=2):
    """Check that nothing is stated about unknown times, and that the bounds hold."""
    for kind in kinds:
        trace = t.trace([workload(name), kind, str(threads), str(ROUNDS), str(TASKS), str(US)])
        check_equal("lost", sum(trace.end["lost"].values()), 0)
        process = trace.process()
        check_marked(process, truth(trace.result.out, threads, process["elapsed_ns"]))
        check_equal("complete", trace.end["complete"], False)
        check_in("findings", "tasks", [f["kind"] for f in trace.all("finding")])
        for b in trace.barriers():
            check_equal("release", b["release_ns"], None)
            check_equal("causes and gain", (b["cause"], b["gain_ns"], b["advice"] or ""), (None, None, ""))
            check_in("verdict", "Threads run tasks in this barrier.", b["verdict"])


def test_gcc(t):
    marked(t, "omp_tasks")


def test_gcc_not_optimised(t):
    marked(t, "omp_tasks-O0", ("single", "each"), threads=3)


def test_gcc_stripped(t):
    marked(t, "omp_tasks-stripped", ("single", "loop"))


def test_clang(t):
    marked(t, "omp_tasks-libomp")


def test_clang_not_optimised(t):
    marked(t, "omp_tasks-O0-libomp", ("single", "each"), threads=3)


def test_clang_stripped(t):
    marked(t, "omp_tasks-stripped-libomp", ("single", "loop"))


def test_not_run(t):
    """A program that could make tasks but does not is not marked."""
    for name in ("omp_tasks", "omp_tasks-libomp"):
        trace = t.trace([workload(name), "none", "2", str(ROUNDS), str(TASKS), str(US)]).nothing_lost()
        process = trace.process()
        check_equal("tasks", process["tasks"], False)
        check_equal("bounds", (process["parallel_efficiency_least"], process["parallel_efficiency_most"]), (None, None))
        check_between("PE", process["efficiency"]["parallel"], 0.01, 1)
        check_equal("complete", trace.end["complete"], True)


def test_formats(t):
    """In text and CSV, from a recording as live, and with other options."""
    recording = t.path()
    command = [workload("omp_tasks"), "single", "2", str(ROUNDS), str(TASKS), str(US)]
    t.sbt("record", "-o", recording, "--", *command)
    text = " ".join(t.run([SBT, "report", "--detail", recording]).out.split())
    check(re.search(r"PE [0-9.]+ to [0-9.]+, because it is unknown", text), f"text: {text[:600]}")
    for word in ("go into the barriers themselves", "barrier overhead", "TE ", "->"):
        check_not_in("text", word, text)
    check_in("CSV", "tasks", t.run([SBT, "report", "--detail", "--csv", recording]).out)
    predicted = " ".join(t.run([SBT, "predict", recording]).out.split())
    check_in("prediction", "Threads run tasks in the barriers of 1 process", predicted)


def test_attached(t):
    """The tracer attaches while the program runs."""
    program = t.start([workload("omp_tasks"), "each", "2", "400", str(TASKS), str(US)])
    trace = t.trace([], "-p", str(program.pid), "-d", "1")
    check_equal("tasks", trace.process()["tasks"], True)
    check_equal("efficiencies", [v for v in trace.process()["efficiency"].values() if v is not None], [])


def test_probes_go(t):
    """If many small tasks are made and run, no probe stays where they are made, and there is none on their functions."""
    for name, expected in (("omp_tasks", ["GOMP_task"]), ("omp_tasks-O0", ["GOMP_task"]),
                           ("omp_tasks-libomp", ["__kmpc_omp_task_alloc"])):
        result = t.run([SBT, "-v", "-o", t.path(), "--", workload(name), "each", "2", "4", "40000", "0"])
        probed = re.findall(r"probe: (\S*(?:make|make_loop|omp_task_entry)\S*) in \S+ at", result.err)
        check_equal("functions of tasks with a probe", probed, [])
        check("libomp" in name or "probe: round_of._omp_fn" in result.err, "the region's function has none")
        check_equal("removed", sorted(set(re.findall(r"probe: (\S+) in \S+ has reported", result.err))), expected)


def test_cost_in_the_estimate(t):
    """Until these probes are detached, each hit costs time. The hits are counted, and are in the estimate."""
    for name in ("omp_tasks", "omp_tasks-libomp"):
        argv = [workload(name), "each", "2", "4", "40000", "0"]
        ran = [int(re.search(r"^# ran (\d+)", t.run(argv).out, re.M).group(1))]
        trace = t.trace(argv)
        ran.append(int(re.search(r"^# ran (\d+)", trace.result.out, re.M).group(1)))
        p = trace.process()
        print(f"{name}: {ran[0] / 1e6:.0f} ms, traced {ran[1] / 1e6:.0f} ms; {p['discovery_hits']} hits, "
              f"cost {p['cost_ns'] / 1e6:.1f} ms by the estimate")
        check(p["discovery_hits"] > 0, "no hit was counted")
        # The limit is the elapsed time.
        least = min(p["discovery_hits"] * p["crossing_cost_ns"] / 2, p["elapsed_ns"] / 2)
        check(p["cost_ns"] >= least, f"hits are not in the estimate: {p}")
