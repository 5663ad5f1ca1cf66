# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Conceptual phases: --phase NAME=START..END sums up what is between two barriers."""

import csv
import io
import re
import signal

from harness import (check, check_all_in, check_between, check_equal, check_in, check_not_in, read_text, source_lines,
                     workload)

RADIX = workload("radix-pthread")
# In sort(): counted, added up, permuted; then slave() continues.
COUNTED, ADDED, PERMUTED, FILLED, CHECKED = (f"radix.c:{line}" for line in (63, 65, 67, 87, 91))


def by_name(trace):
    return {p["name"]: p for p in trace.all("phase")}


def work_of(record):
    return {t["tid"]: t["work_ns"] for t in record["threads"]}


def test_sums(t):
    """Phase 2 of radix in E. Novillo's thesis (University of Alberta, 2002, section 5.6): one barrier inside and one at its
    end."""
    trace = t.trace([RADIX, "4"], "--phase", f"two={COUNTED}..{PERMUTED}",
                    "--phase", f"all={FILLED}..{CHECKED}", "--phase", f"init=..{FILLED}")
    two, everything, init = (by_name(trace)[name] for name in ("two", "all", "init"))
    inside = [trace.barrier(line=line) for line in (65, 67)]
    check_equal("occurrences", two["occurrences"], 40)
    check_equal("episodes", two["episodes"], 80)
    check_equal("unfinished", (two["unfinished"], two["incomplete"]), (0, 0))
    # There is one team: the phase consists exactly of the phases of the two barriers.
    check_equal("time", two["phase_ns"]["sum"], sum(b["phase_ns"]["sum"] for b in inside))
    check_equal("lost", two["lost_ns"], sum(b["lost_ns"] for b in inside))
    sums = {}
    for b in inside:
        for tid, work in work_of(b).items():
            sums[tid] = sums.get(tid, 0) + work
    check_equal("work by thread", work_of(two), sums)
    check_equal("threads", len(sums), 4)
    spent = two["efficiency"]
    check_between("load balance", spent["load_balance"],
                  sum(sums.values()) / 4 / max(sums.values()) - 1e-4,
                  sum(sums.values()) / 4 / max(sums.values()) + 1e-4)
    check_between("parallel efficiency", spent["parallel"],
                  sum(sums.values()) / 4 / two["phase_ns"]["sum"] - 1e-4,
                  sum(sums.values()) / 4 / two["phase_ns"]["sum"] + 1e-4)
    for mine, one, other in zip(two["threads"], *(b["threads"] for b in inside)):
        check_equal("on a CPU", mine["oncpu_ns"], one["oncpu_ns"] + other["oncpu_ns"])
    check_equal("all", (everything["occurrences"], everything["episodes"]), (10, 130))
    check(everything["phase_ns"]["sum"] > two["phase_ns"]["sum"], "a part is more than the whole")
    check_equal("init", (init["occurrences"], init["episodes"]), (1, 1))
    check(two["cause"] is None or two["cause"]["episodes"] <= 80, f"{two['cause']}")


def test_counters_and_text(t):
    trace = t.trace([RADIX, "4"], "-e", "page-faults,task-clock", "--phase", f"two={COUNTED}..{PERMUTED}")
    two = by_name(trace)["two"]
    for counter in ("page-faults", "task-clock"):
        check_equal(counter, two["counters"][counter],
                    sum(trace.barrier(line=line)["counters"][counter] for line in (65, 67)))
    text = t.sbt("--detail", "--phase", f"two={COUNTED}..{PERMUTED}", "--", RADIX, "4").err
    check_all_in("text", ("PHASES YOU NAMED", "\ntwo  (radix-pthread, pid "), text)


def test_csv(t):
    path = t.path()
    t.sbt("--csv", "-o", path, "--phase", f"two={COUNTED}..{PERMUTED}", "--", RADIX, "4")
    blocks = read_text(path)
    check_in("csv", "two", blocks)
    check(any("two" in row for row in csv.reader(io.StringIO(blocks))), "no row of the phase")


def test_unmet(t):
    """Barriers never crossed are reported, and nothing is invented."""
    result = t.sbt("--phase", f"never={COUNTED}..nowhere.c:1", "--phase", f"late=nowhere.c:2..{COUNTED}",
                   "--", RADIX, "4")
    check_all_in("stderr", ('barrier "nowhere.c:1" was never crossed: phase "never" never ended',
                            'barrier "nowhere.c:2" was never crossed: phase "late" never began'), result.err)
    check_not_in("stderr", f'barrier "{COUNTED}" was never crossed', result.err)
    trace = t.trace([RADIX, "4"], "--phase", f"never={COUNTED}..nowhere.c:1")
    never = by_name(trace)["never"]
    check_equal("never", (never["occurrences"], never["unfinished"]), (0, 1))
    check_equal("its time", never["phase_ns"], None)


def test_wrong(t):
    for spec in ("x", "x=", "x=a", "=a..b", "x=a..", "x=../a.c:1"):
        result = t.sbt("--phase", spec, "--", "true", rc=2)
        check_in(spec, "--phase", result.err)
    # The dots of a path do not end a barrier's name.
    result = t.sbt("--phase", f"x=../workloads/{COUNTED}..{PERMUTED}", "--", RADIX, "4")
    check_in("stderr", 'barrier "../workloads/radix.c:63" was never crossed', result.err)


def test_causes_and_counters(t):
    """A phase's cause and counters are those of the barriers inside, added up."""
    trace = t.trace([RADIX, "4"], "-e", "page-faults,task-clock", "--phase", f"two={COUNTED}..{PERMUTED}")
    two, inside = by_name(trace)["two"], [trace.barrier(line=line) for line in (65, 67)]
    check(two["cause"], "no cause is known")
    check_equal("episodes", two["cause"]["episodes"], sum(b["cause"]["episodes"] for b in inside if b["cause"]))
    check_equal("lateness", two["cause"]["lateness_ns"], sum(b["cause"]["lateness_ns"] for b in inside if b["cause"]))
    check_equal("parts", sum(two["cause"]["parts"].values()), two["cause"]["lateness_ns"])
    for counter in ("page-faults", "task-clock"):
        for mine, one, other in zip(two["threads"], *(b["threads"] for b in inside)):
            check_equal(f"{counter} of {mine['tid']}", mine["counters"][counter],
                        one["counters"][counter] + other["counters"][counter])
        check_equal(counter, two["counters"][counter], sum(m["counters"][counter] for m in two["threads"]))


# --- marked by the program --------------------------------------------------------------------------

THREADS, ROUNDS, PAGES = 3, 10, 16


def own_clock(out):
    """Return (name, thread) -> occurrences, least and most ns between the marks, as the program prints them."""
    lines = [line.split() for line in out.split("\n") if line.startswith("# ")]
    return {(w[1], int(w[2])): (int(w[3]), int(w[4]), int(w[5])) for w in lines}


def check_thread(name, m, clock, apart):
    """Check that a thread's time includes everything between its marks, and nothing else."""
    _, least, most = clock[name, m["index"]]
    check_between(f"{name} of thread {m['index']}", m["work_ns"] + m["idle_ns"], (1 - apart) * least, (1 + apart) * most)
    parts = m["oncpu_ns"] + m["runq_ns"] + sum(m["blocked_ns"].values()) + m["unattributed_ns"]
    check_equal(f"parts of {name} of thread {m['index']}", parts, m["work_ns"])


def test_marked(t):
    """Phases of all threads and of one, nested and overlapping: times, counters, causes and efficiency of each."""
    for program in ("sbtmarks", "sbtmarks-cxx"):
        trace = t.trace([workload(program), str(ROUNDS)], "-e", "page-faults,task-clock").nothing_lost()
        phases = by_name(trace)
        check_marked_times(phases, own_clock(trace.result.out))
        check_marked_counters(phases)
        check_marked_cause(trace, phases)
        check_marked_efficiency(phases)


def check_marked_times(phases, clock, apart=0):
    """Compare with the program's measurements. @apart: share of its own time by which clocks of different CPUs may differ."""
    check_equal("names", sorted(phases), ["alone", "half", "outer", "step", "tail"])
    inside = {"outer": 2, "step": 1, "half": 0, "tail": 1, "alone": 2}
    for name, p in phases.items():
        check_equal(f"{name}: occurrences", (p["occurrences"], p["phase_ns"]["n"]), (ROUNDS, ROUNDS))
        check_equal(f"{name}: unfinished, incomplete", (p["unfinished"], p["incomplete"]), (0, 0))
        check_equal(f"{name}: episodes", p["episodes"], inside[name] * ROUNDS)
        marking = [m for m in p["threads"] if clock[name, m["index"]][0]]
        check_equal(f"{name}: threads that mark it", len(marking), 3 if name in ("outer", "step") else 1)
        check_equal(f"{name}: threads in it", len(p["threads"]), 1 if name == "half" else 3)
        for m in marking:
            check_thread(name, m, clock, apart)
        check_equal(f"{name}: lost", p["lost_ns"], sum(m["wait_ns"] for m in p["threads"]))
    # With marks of one thread, the phase lasts from one mark to the other.
    for name in ("half", "tail", "alone"):
        (m,) = [m for m in phases[name]["threads"] if m["index"] == 0]
        check_equal(f"{name}: time", phases[name]["phase_ns"]["sum"], m["work_ns"] + m["idle_ns"])
    for name in ("outer", "step"):
        longest = max(m["work_ns"] + m["idle_ns"] for m in phases[name]["threads"])
        check(phases[name]["phase_ns"]["sum"] >= (1 - apart) * longest,
              f"{name} is shorter than one thread's: {phases[name]['phase_ns']['sum']}, {longest}")


def check_marked_counters(phases):
    touched = ROUNDS * PAGES
    for name, threads in (("outer", (0, 1, 2)), ("step", (0, 1, 2)), ("half", (0,))):
        for m in phases[name]["threads"]:
            if m["index"] in threads:
                check_between(f"page faults of thread {m['index']} in {name}", m["counters"]["page-faults"],
                              touched, touched + 20)
    # Thread 0's part contains no new pages. Those of other threads inside their parts were not counted separately.
    for m in phases["tail"]["threads"]:
        if m["index"] == 0:
            check_between("page faults in tail", m["counters"]["page-faults"], 0, 20)
        else:
            check_equal("counted of one that does not mark it", m["counters"]["page-faults"], None)
    check_equal("page faults of all of tail", phases["tail"]["counters"]["page-faults"], None)
    check_equal("page faults of all of step", phases["step"]["counters"]["page-faults"],
                sum(m["counters"]["page-faults"] for m in phases["step"]["threads"]))


def check_marked_cause(trace, phases):
    """The barrier inside "step" gives this phase its cause. Of the other phases, only "outer" contains this barrier."""
    (line, *_) = source_lines("sbtmarks.c", "\tMEET;")
    barrier = trace.barrier(line=line)
    for key in ("parts", "lateness_ns", "episodes", "dominant", "share"):
        check_equal(f"cause: {key}", phases["step"]["cause"][key], barrier["cause"][key])
    check_equal("no barrier, no cause", phases["half"]["cause"], None)
    check(phases["outer"]["cause"]["episodes"] >= barrier["cause"]["episodes"], "a part has more than the whole")
    waits = {m["tid"]: m["wait_ns"] for m in barrier["threads"]}
    check_equal("waits", {m["tid"]: m["wait_ns"] for m in phases["step"]["threads"]}, waits)


def check_marked_efficiency(phases):
    for name in ("outer", "step", "half"):
        p = phases[name]
        work = [m["work_ns"] for m in p["threads"]]
        mean = sum(work) / len(work)
        check_between(f"{name}: load balance", p["efficiency"]["load_balance"], mean / max(work) - 1e-4,
                      mean / max(work) + 1e-4)
        check_between(f"{name}: parallel efficiency", p["efficiency"]["parallel"],
                      mean / p["phase_ns"]["sum"] - 1e-4, mean / p["phase_ns"]["sum"] + 1e-4)
        for what, value in p["efficiency"].items():
            check_between(f"{name}: {what}", value, 0, 1)


def test_marked_by_one_thread(t):
    """A sequential program: one phase around all rounds, one in each round."""
    trace = t.trace([workload("sbtphases"), "7"]).nothing_lost()
    solve, inner = (by_name(trace)[name] for name in ("solve", "inner"))
    check_equal("occurrences", (solve["occurrences"], inner["occurrences"]), (1, 7))
    own = int(re.search(r"solve=(\d+)", trace.result.out).group(1))
    check(solve["phase_ns"]["sum"] >= own, f"{solve['phase_ns']['sum']} ns, {own} by the program's clock")
    check(70e6 <= inner["phase_ns"]["sum"] <= solve["phase_ns"]["sum"], f"inner: {inner['phase_ns']}")
    check(inner["phase_ns"]["min"] >= 10e6, f"inner: {inner['phase_ns']}")
    (m,) = inner["threads"]
    check_equal("number and work", (m["index"], m["work_ns"]), (7, inner["phase_ns"]["sum"]))
    check_equal("points inside", (solve["episodes"], inner["episodes"]), (14, 0))
    check(m["blocked_ns"]["sleep"] >= 69e6, f"{m['blocked_ns']}")


def test_marked_and_named(t):
    """Both kinds of phases at once, also in text and CSV. Without sbt.h's markers there are none."""
    program = workload("sbtmarks")
    (first, *_, last) = source_lines("sbtmarks.c", "\tMEET;")
    spec = f"mine=sbtmarks.c:{last}..sbtmarks.c:{first}"
    trace = t.trace([program, "5"], "--phase", spec)
    check_equal("names", sorted(by_name(trace)), ["alone", "half", "mine", "outer", "step", "tail"])
    check_equal("occurrences", by_name(trace)["mine"]["occurrences"], 4)
    text = t.text([program, "5"])
    for name in ("outer", "step", "half", "tail", "alone"):
        check_in("text", f"\n{name}  (sbtmarks, pid ", text)
    path = t.path()
    t.sbt("--csv", "-o", path, "--", program, "5")
    check_in("csv", "outer", read_text(path))
    check_equal("without markers", t.trace([workload("sbtmarks-off"), "5"]).all("phase"), [])


def test_marked_without_causes(t):
    """Times are known, and nothing is reported about how they were spent."""
    trace = t.trace([workload("sbtmarks"), str(ROUNDS)], "--no-causes").nothing_lost()
    clock, phases = own_clock(trace.result.out), by_name(trace)
    for name, p in phases.items():
        check_equal(f"{name}: occurrences", p["occurrences"], ROUNDS)
        check_equal(f"{name}: cause", p["cause"], None)
        for m in p["threads"]:
            if clock[name, m["index"]][0]:
                _, least, most = clock[name, m["index"]]
                check_between(f"{name} of {m['index']}", m["work_ns"] + m["idle_ns"], least, most)


def test_marked_when_attached(t):
    """Phases that began before tracing are not counted. A phase that is not over at the end is reported as unfinished."""
    program = t.start([workload("sbtmarks"), "8000"])
    trace = t.attach("-p", str(program.pid), "-d", "2").end()
    program.signal(signal.SIGKILL)
    outer, half = (by_name(trace)[name] for name in ("outer", "half"))
    check(outer["occurrences"] > 0 and half["occurrences"] > 0, "nothing was seen")
    check(abs(outer["occurrences"] - half["occurrences"]) <= 2, f"{outer['occurrences']}, {half['occurrences']}")
    check_between("unfinished", outer["unfinished"], 0, 2)
    check_equal("each has its barriers", outer["episodes"] // 2 in (outer["occurrences"], outer["occurrences"] + 1),
                True)
