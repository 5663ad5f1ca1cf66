# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""The programs of E. Novillo's thesis (University of Alberta, 2002): the number of barriers, their call sites, and what the
report says about block and cyclic partitioning."""

import os
import re

from harness import (ROOT, Failure, check, check_between, check_equal, check_in, check_not_in, clean_environment, shared,
                     source_lines, workload)

LOOP_BLOCK, LOOP_CYCLIC, BEFORE = source_lines("lu.c", "serial(pthread_barrier_wait(&barrier))")


def lu(t, *options, tracer=()):
    trace = t.trace([workload("lu"), *options], *tracer).nothing_lost()
    trace.printed = float(re.search(r"load_balance=([0-9.]+)", trace.result.out).group(1))
    return trace


def places(trace):
    return {(b["function"], b["line"]): b["episodes"] for b in trace.barriers()}


@shared
def test_barriers_of_block(t):
    for size in (16, 100):
        trace = lu(t, "--size", str(size), "--threads", "4", "--partition", "block")
        check_equal("barriers", places(trace),
                    {("run", BEFORE): 1, ("lu_block", LOOP_BLOCK): size - 1})


@shared
def test_barriers_of_cyclic(t):
    trace = lu(t, "--size", "100", "--threads", "4", "--partition", "cyclic")
    check_equal("barriers", places(trace),
                {("run", BEFORE): 1, ("lu_cyclic", LOOP_CYCLIC): 99})
    check_equal("threads", trace.process()["nthreads"], 4)


@shared
def test_pmm(t):
    lines = source_lines("pmm.c", "serial(pthread_barrier_wait(&barrier))")
    trace = t.trace([workload("pmm"), "--size", "128", "--threads", "3"]).nothing_lost()
    check_equal("barriers", places(trace), {("work", line): 1 for line in lines})


@shared
def test_tracing_changes_nothing(t):
    for partition in ("block", "cyclic"):
        for program in (["lu", "--size", "128", "--threads", "3", "--partition", partition],
                        ["pmm", "--size", "64", "--threads", "3"]):
            command = [workload(program[0]), *program[1:]]
            plain = t.run(command)
            for method in ("session", "perf"):
                traced = t.trace(command, "--attach", method, "-W")
                check_equal(f"{program[0]} under {method}", traced.result.stdout, plain.stdout)


def test_work_is_computed(t):
    """The work of each thread is CPU time: its share of the CPU time is its share of the updates, however busy the machine is."""
    for partition in ("block", "cyclic"):
        trace = lu(t, "--size", "512", "--threads", "2", "--partition", partition, "--weight", "8")
        threads = sorted(trace.barrier(function=f"lu_{partition}")["threads"], key=lambda m: m["index"])
        shares = [float(x) for x in re.search(r"shares (.*)", trace.result.out).group(1).split()]
        cpu = [m["oncpu_ns"] for m in threads]
        for i, share in enumerate(shares):
            check_between(f"{partition}: share of thread {i}", cpu[i] / sum(cpu), share - 0.06, share + 0.06)


def test_demo(t):
    """The demo's first run has the imbalance that its second run has not, and the build's output does not come first."""
    out = t.path("demo")
    result = t.run([os.path.join(ROOT, "scripts", "demo")], env=clean_environment(OUT=out, SIZE="512", THREADS="2"), rc=0)
    lines = result.out.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("$ sbt-trace report"))
    check(first < 16, f"{first} lines before the first report")
    check_equal("reports", sum(line.startswith("$ sbt-trace report") for line in lines), 2)
    rows = {m[1]: [float(x) for x in m.groups()[1:]]
            for m in re.finditer(r"^  (block|cyclic) +([0-9.]+) s +([0-9.]+) +([0-9.]+) +([0-9]+) %$", result.out, re.M)}
    check_equal("rows", sorted(rows), ["block", "cyclic"])
    for name, low, high in (("block", 0.6, 0.82), ("cyclic", 0.84, 1)):
        _time, counted_by_lu, cpu_time, _static = rows[name]
        check_between(f"{name}: counted", counted_by_lu, low, high)
        check_between(f"{name}: CPU time", cpu_time, low, high)
    check_in("page", "demo.html", lines[-1])
    check(os.path.getsize(os.path.join(out, "demo.html")) > 10000, "the page is empty")


def counted(run):
    """Run and return a trace with all counts. Sometimes the kernel does not report a switch, and a thread's count is unknown;
    then repeat the run."""
    for _ in range(6):
        trace = run()
        counts = [m["counters"] for m in trace.process()["threads"]]
        if all(n is not None for c in counts for n in c.values()):
            return trace
    raise Failure("some count was unknown each of six times")


def test_counts_name_the_idle_half(t):
    """Figure 5.22 with CPU time: with block partitioning the first threads have least work."""
    trace = counted(lambda: lu(t, "--size", "768", "--threads", "4", "--partition", "block",
                               tracer=("-W", "-e", "task-clock")))
    threads = sorted(trace.barrier(function="lu_block")["threads"], key=lambda m: m["index"])
    work = [m["counters"]["task-clock"] for m in threads]
    check(work[0] < work[1] < min(work[2:]), f"not in the order of their rows: {work}")
    check(work[0] + work[1] < 0.65 * (work[2] + work[3]), f"the idle half is not idle: {work}")
    for count, m in zip(work, threads):
        check_between("by the scheduler's events", count, 0.97 * m["oncpu_ns"], 1.03 * m["oncpu_ns"])
    # In each episode past the middle, the first two threads have no rows left.
    late = [e for e in trace.all("episode") if e["phase"] > 500]
    check(len(late) > 200, f"only {len(late)} episodes")
    idle = sum(sorted(m["counters"]["task-clock"] for m in e["threads"] if m["index"] < 2)[-1] <
               sum(m["counters"]["task-clock"] for m in e["threads"]) / 4 for e in late)
    # The last of them take a few microseconds, which an interrupt can double.
    check(idle > 0.75 * len(late), f"{idle} of {len(late)} episodes have an idle half")


def test_counts_of_the_product(t):
    """Each thread of the matrix product has the same work, in both of its phases."""
    trace = counted(lambda: t.trace([workload("pmm"), "--size", "400", "--threads", "2"],
                                    "-e", "task-clock,page-faults"))
    longest = max(trace.barriers(), key=lambda b: b["phase_ns"]["sum"])
    work = [m["counters"]["task-clock"] for m in longest["threads"]]
    check_between("the one's share", work[0] / sum(work), 0.4, 0.6)
    total = trace.process()["counters"]["task-clock"]
    check_between("sum of the threads",
                  sum(m["counters"]["task-clock"] for m in trace.process()["threads"]),
                  0.999 * total, 1.001 * total)


def block(threads, size, ns):
    def test(t):
        trace = lu(t, "--size", str(size), "--threads", str(threads), "--sleep-work", str(ns))
        process, barrier = trace.process(), trace.barrier(function="lu_block")
        check_between("load balance of the process", process["efficiency"]["load_balance"],
                      trace.printed - 0.03, trace.printed + 0.03)
        check_between("load balance of the barrier", barrier["load_balance"], trace.printed - 0.03,
                      trace.printed + 0.03)
        check_between("serialisation", process["efficiency"]["serialisation"], 0.95, 1)
        check_equal("pattern", (process["pattern"], barrier["pattern"]), ("static", "static"))
        # The owner of the last rows has most work in every iteration but the last few. There, the others have none and it has
        # almost none.
        last = max(barrier["threads"], key=lambda m: m["last"])
        check_equal("most often last", last["tid"], barrier["last_tid"])
        # The thread before it has as much work until its rows are done. Another program that uses a CPU for 30 ms decides which
        # of these two waits least.
        waits = sorted(m["wait_ns"] for m in barrier["threads"])
        check(last["wait_ns"] <= waits[0] + 0.1 * (waits[-1] - waits[0]),
              f"most often last, and waits {last['wait_ns']} ns: {waits}")
        check(barrier["advice"] and process["advice"], "no advice")
        product_is_parallel(process)
    return test


def product_is_parallel(process):
    e = process["efficiency"]
    check_between("LB x SerE x TE", e["load_balance"] * e["serialisation"] * e["transfer"],
                  e["parallel"] - 0.002, e["parallel"] + 0.002)
    check_between("SerE x TE", e["serialisation"] * e["transfer"], e["communication"] - 0.002,
                  e["communication"] + 0.002)


test_block_2 = block(2, 96, 4000)
test_block_4 = block(4, 96, 8000)
test_block_8 = block(8, 96, 16000)


def test_cyclic_is_balanced(t):
    for threads in (2, 8):
        trace = lu(t, "--size", "160", "--threads", str(threads), "--sleep-work",
                   str(2000 * threads), "--partition", "cyclic")
        process, barrier = trace.process(), trace.barrier(function="lu_cyclic")
        check_between("load balance", process["efficiency"]["load_balance"], trace.printed - 0.03,
                      1)
        check(process["pattern"] != "static" and barrier["pattern"] != "static",
              f"cyclic with {threads} threads is called static: {process['verdict']}")
        product_is_parallel(process)


def test_text_names_the_imbalance(t):
    command = [workload("lu"), "--size", "96", "--threads", "4", "--sleep-work", "8000"]
    text = t.text([*command, "--partition", "block"])
    first = text[text.index("SBT report"):].split("\n\n")[1]
    check_in("the answer", "lu (pid", first)
    check(re.search(r"same|static", first), f"the answer does not say it is static: {first}")
    check_in("the table", f"lu.c:{LOOP_BLOCK}", text)
    check_not_in("colour in a file", "\033", text)
    balanced = t.text([*command, "--partition", "cyclic"])
    check_in("the table", f"lu.c:{LOOP_CYCLIC}", balanced)
    def lost(text):
        return float(re.search(r"([0-9.]+)\s+%\s+lost\s+to\s+static\s+imbalance", text).group(1))
    check(lost(text) > 20 and lost(text) > 3 * lost(balanced),
          f"block loses {lost(text)} %, cyclic {lost(balanced)} %")
    # If the host takes CPUs away, some of the time is really lost.
    answer = " ".join(balanced[balanced.index("SBT report"):].split("\n\n")[1].split())
    check(re.search(r"Balanced|: [2-5] % of thread time is lost", answer), f"cyclic: {answer}")
