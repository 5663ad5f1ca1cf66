# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Hardware counters on arm64, with an emulated PMU that counts every instruction."""

import collections
import csv
import io

from harness import check, check_between, check_equal

LIBRARIES = ()

# The emulator's counters count what all its CPUs execute, so they are right only with one CPU.
COUNTS = {
    "phases": "-W -e instructions:u,cycles:u -- pmu_phases phases.csv",
    "kernel": "-W -e instructions,cycles,task-clock -- pmu_phases kernel.csv",
    # Together with the program's own two counters, these are more than the PMU has.
    "turns": "-W -e instructions,instructions:u,instructions:k,cycles,cycles:u,cycles:k,r8:u,"
             "r11:u -- pmu_phases turns.csv",
}


def programs(_):
    return ["pmu_phases"]


def script(_):
    return "".join(f"timeout 40 sbt-trace --attach perf --json -o {name}.json {job} >{name}.out 2>{name}.err; "
                   f"echo $? >{name}.rc\n" for name, job in COUNTS.items())


THREADS, PHASES = 4, 12  # of pmu_phases


def counted(left, name):
    """Return (tid, phase) -> event -> the program's own count; the same for sbt-trace's counts; the trace; and which counts are
    scaled."""
    left.status(name)
    trace = left.trace(name)
    own = collections.defaultdict(dict)
    for row in csv.DictReader(io.StringIO(left.text(f"{name}.csv"))):
        own[int(row["tid"]), int(row["phase"])][row["event"]] = int(row["count"])
    check_equal("phases in the log", len(own), THREADS * PHASES)
    got, scaled = {}, {}
    for number, e in enumerate(sorted(trace.all("episode"), key=lambda e: e["t_ns"])):
        for m in e["threads"]:
            got[m["tid"], number] = m.get("counters")
            scaled[m["tid"], number] = m.get("counters_scaled")
    check(all(got.values()), "there are phases without counters")
    return own, got, trace, scaled


def own_counters(left):
    """The workload's own counters count its known instructions, so they are the reference."""
    own, _, _, _ = counted(left, "phases")
    for key, mine in own.items():
        check_between(f"instructions of {key}", mine["instructions:u"], mine["known-instructions"],
                      mine["known-instructions"] * 1.01)
    check(len({mine["known-instructions"] for mine in own.values()}) > 8, "the phases are alike")


def instructions(left):
    own, got, trace, _ = counted(left, "phases")
    check_equal("counters", [(c["name"], c["source"]) for c in trace.session["counters"]],
                [("instructions:u", "hardware"), ("cycles:u", "hardware")])
    for key, mine in own.items():
        for event in ("instructions:u", "cycles:u"):
            check_between(f"{event} of {key}", got[key][event], mine[event] * 0.99,
                          mine[event] * 1.01)


def totals(left):
    """The counts of the loop and of the run are the sums of the phases, including phase 0."""
    _, got, trace, _ = counted(left, "phases")
    event = "instructions:u"
    check(all(got[tid, 0][event] > 40000 for tid in {tid for tid, _ in got}), "nothing in phase 0")
    for m in trace.barrier()["threads"]:
        check_equal(f"{event} of {m['tid']} at the barrier", m["counters"][event],
                    sum(got[m["tid"], n][event] for n in range(PHASES + 1)))
    total = sum(c[event] for c in got.values())
    check_between(f"{event} of the run", trace.process()["counters"][event], total,
                  total * 1.01)


def kernel_too(left):
    """Without :u the kernel's work for the thread is included: the counts are higher by what a phase's system calls take."""
    own, got, trace, _ = counted(left, "kernel")
    check_equal("counters", [(c["name"], c["source"]) for c in trace.session["counters"]],
                [("instructions", "hardware"), ("cycles", "hardware"), ("task-clock", "software")])
    for key, mine in own.items():
        check_between(f"instructions of {key}", got[key]["instructions"], mine["instructions:u"],
                      mine["instructions:u"] * 1.5 + 100000)
        # The clock of the machine follows its instructions: 2 ns each. The two are read some microseconds apart.
        check_between(f"cycles of {key}", got[key]["cycles"], got[key]["task-clock"] * 0.97 - 5000,
                      got[key]["task-clock"] * 1.03 + 5000)


def exactly(left):
    """In user space, sbt-trace counts the program's instructions and a constant number of instructions around them."""
    own, got, _, _ = counted(left, "phases")
    more = [got[k]["instructions:u"] - mine["instructions:u"] for k, mine in own.items()]
    check_between("instructions around a phase", min(more), 1, 1000)
    check_between("their spread", max(more) - min(more), 0, 100)


def taking_turns(left):
    """Counts of events that had a counter all the time are exact. Other counts are scaled and marked as such, and are right on
    average."""
    own, got, _, scaled = counted(left, "turns")
    seen, estimated, real = collections.Counter(), collections.Counter(), collections.Counter()
    for key, mine in own.items():
        counters, for_a_part = got[key], scaled[key]
        for event, each in (("instructions:u", 1), ("r8:u", 1), ("cycles:u", 2), ("r11:u", 2)):
            known = mine["known-instructions"] * each
            if counters[event] is None:
                seen["unknown"] += 1
            elif for_a_part[event]:
                seen["scaled"] += 1
                estimated[event] += counters[event]
                real[event] += known
            else:
                seen["exact"] += 1
                check_between(f"{event} of {key}", counters[event], known, known * 1.01 + 2000)
    check(real, "nothing was scaled")
    for event in real:
        check_between(f"{event}, scaled, in all", estimated[event], real[event] * 0.7,
                      real[event] * 1.3)
    check(seen["exact"] > 40, f"most are unknown: {seen}")
    check(seen["exact"] < sum(seen.values()), f"no thread had to wait for a turn: {seen}")


def tests(_):
    return {"own": own_counters, "instructions": instructions, "totals": totals, "kernel": kernel_too,
            "exactly": exactly, "turns": taking_turns}
