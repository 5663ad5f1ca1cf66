# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""All views of one run: quantities with the same name have the same value. If a view has another definition, it says so."""

import csv
import io
import json
import os
import re

from harness import (SBT, WORKLOADS, Trace, check, check_between, check_equal, check_in, clean_environment, paired,
                     read_text, workload)

SHARED = True
NS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}


def record(t, *options, **environment):
    path = t.path()
    t.run([SBT, "record", "-q", "-o", path, "--", workload("paced"), *options],
          env=clean_environment(**environment), timeout=60, rc=0)
    return path


def json_report(t, recording):
    path = t.path()
    check_equal("status", t.sbt("report", "--detail", "--json", "-o", path, recording).rc, 0)
    return Trace(t, path)


def rows(trace):
    return {(r["type"], r.get("id")): r for r in trace.processes() + trace.barriers()}


def flat(record, prefix=""):
    for name, value in record.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield prefix + name, value


def as_table_agrees(t, recording, trace):
    """Check that each number of a process and of a barrier has the same name and value in the table."""
    lines = list(csv.DictReader(io.StringIO(t.sbt("report", "--detail", "--csv", recording).out)))
    held = 0
    for kind, of in (("process", trace.processes()), ("barrier", trace.barriers())):
        table = [line for line in lines if line["type"] == kind]
        check_equal(f"rows {kind}", len(table), len(of))
        for got, expected in zip(table, of):
            for name, value in flat(expected):
                if name in got:
                    held += 1
                    check(abs(float(got[name]) - value) <= 1e-6 * abs(value), f"{kind} {name}: {got[name]}, {value}")
    check(held > 60, f"{held} values compared")


def percent(text):
    return float(text.lstrip("<")) / 100


def near(what, text, value):
    """Check that @text is @value, rounded to at least two digits."""
    check(abs(percent(text) - value) <= max(0.0051, 0.051 * value), f"{what}: {text} %, {value}")


def text_agrees(t, recording, trace):
    text = t.sbt("report", "--detail", recording).out
    flowing = re.sub(r"-\n +", "-", text)
    flowing = re.sub(r"\n +(?=\S)", " ", flowing)
    (process,) = trace.processes()
    found = re.search(r"(\d[\d.]*) % of thread time is lost waiting at barriers", flowing)
    # On a very busy machine, waking takes most of the time, and the answer is about that.
    check_equal("the answer", bool(found), "lost waiting at barriers" in process["verdict"])
    if found:
        near("the answer", found[1], process["wait_share"])
        check_in("the answer", found[0], process["verdict"])
    spent = process["efficiency"]
    for short, name, lost in (("LB", "load_balance", "lost_static"), ("SerE", "serialisation", "lost_rotating"),
                              ("TE", "transfer", "lost_transfer"), ("PE", "parallel", None)):
        (line,) = re.findall(rf"^  {short} +(\d\.\d\d)  (?:[a-z ]+: (<?[\d.]+) % lost to|parallel efficiency)", text, re.M)
        check_between(name, float(line[0]), spent[name] - 0.0051, spent[name] + 0.0051)
        if lost:
            near(lost, line[1], process[lost])
    # The first screen has the same figures.
    found = re.search(r"^Efficiency ([\d.]+)(?: \(1: no loss\)| of 1)? = load balance ([\d.]+) × serialisation ([\d.]+) × transfer ([\d.]+)$",
                      t.sbt("report", recording).out, re.M)
    for i, name in enumerate(("parallel", "load_balance", "serialisation", "transfer"), 1):
        check_between(name, float(found[i]), spent[name] - 0.0051, spent[name] + 0.0051)
    check_between("what PE lacks", process["lost_static"] + process["lost_rotating"] + process["lost_transfer"],
                  1 - spent["parallel"] - 1e-4, 1 - spent["parallel"] + 1e-4)
    table = text[text.index("BARRIERS"):]
    for b in trace.barriers():
        line = re.search(rf"^ +{b['id']} .* (\d[\d.]*) (ns|µs|ms|s) +(<?[\d.]+) % +(<?[\d.]+) %  ", table, re.M)
        check(line, table[:1500])
        # All rows have the same unit and number of digits.
        check(abs(float(line[1]) * NS[line[2]] - b["lost_ns"]) <= 0.01 * b["lost_ns"] + 0.0051 * NS[line[2]],
              f"lost: {line[0]}, {b['lost_ns']}")
        near("of run", line[3], b["share"])
        near("imbalance", line[4], b["imbalance"])
        # The sentence names the time that the share refers to.
        said = re.search(r"(\d+) % of phase time is lost waiting", b["verdict"])
        if said:
            check_between("in words", int(said[1]), 100 * b["imbalance"] - 0.51, 100 * b["imbalance"] + 0.51)
    check_in("stated", "imbalance: lost share of its phases' thread time. Shares in the answers above, also that of one "
             "thread's wait, refer to thread time: from the start of a thread to its end.", " ".join(text.split()))


def page_agrees(t, recording, trace):
    page = t.path()
    check_equal("status", t.sbt("report", "--detail", "--html", page, recording).rc, 0)
    text = read_text(page)
    records = [json.loads(line.lstrip(",")) for line in text.splitlines()
               if re.match(r',?\{"type":"(process|barrier)"', line)]
    check_equal("records", [{k: v for k, v in flat(r)} for r in records],
                [{k: v for k, v in flat(r)} for r in trace.processes() + trace.barriers()])


def others_agree(t, recording, trace):
    """series and diff: lost time and other times equal the report's. Quantities with other names have other definitions."""
    series = json.loads(t.sbt("series", "--json", recording).out.splitlines()[0])
    barriers = {b["id"]: b for b in trace.barriers()}
    for site in series["sites"]:
        b = barriers[site["barrier"]]
        for got, expected in (("lost_ns", b["lost_ns"]), ("phase_ns", b["phase_ns"]["sum"]), ("barrier_ns", b["barrier_ns"]["sum"])):
            check_equal(got, site[got], expected)
    other = record(t, "4", "s", "0", "1000", "2000", PACED_CALLS="2")
    for line in t.sbt("diff", "--json", recording, other).out.splitlines():
        r = json.loads(line)
        (process,) = trace.processes()
        if r["type"] != "difference" or r["counter"]:
            continue
        if r["scope"] == "process":
            expected = {"lost_ns": process["wait_ns"], "elapsed_ns": process["elapsed_ns"],
                        **process["efficiency"]}.get(r["quantity"])
        elif r["barrier"] in barriers:
            b = barriers[r["barrier"]]
            expected = {"lost_ns": b["lost_ns"], "phase_ns": b["phase_ns"]["sum"], "barrier_ns": b["barrier_ns"]["sum"],
                        "release_ns": b["release_ns"]["sum"], "load_balance": b["load_balance"],
                        "serialisation": b["serialisation"]}.get(r["quantity"])
        else:
            continue
        if expected is not None and r["a"] is not None:
            check(abs(r["a"] - expected) <= 2e-6 * abs(expected), f"{r['quantity']} of {r['scope']}: {r['a']}, {expected}")


def all_agree(t, *options, **environment):
    recording = record(t, *options, **environment)
    trace = json_report(t, recording)
    (process,) = trace.processes()
    barriers = trace.barriers()
    check_equal("lost", sum(b["lost_ns"] for b in barriers), process["wait_ns"])
    check_equal("of threads", sum(m["wait_ns"] for m in process["threads"]), process["wait_ns"])
    if len(barriers) == 1:
        check_equal("imbalance", barriers[0]["imbalance"], process["imbalance"])
    else:
        check_between("imbalance", process["imbalance"], min(b["imbalance"] for b in barriers),
                      max(b["imbalance"] for b in barriers))
    as_table_agrees(t, recording, trace)
    text_agrees(t, recording, trace)
    page_agrees(t, recording, trace)
    others_agree(t, recording, trace)


def test_sleepers(t):
    all_agree(t, "10", "s", "0", "5000", "10000", "25000")


def test_two_barriers_after_a_long_beginning(t):
    all_agree(t, "10", "s", "0", "5000", "10000", "25000", PACED_TAIL="300000", PACED_CALLS="2")


def test_another_is_late_each_time(t):
    all_agree(t, "12", "s", "1", "5000", "10000", "25000", PACED_CALLS="2")


LIVE = ["5", "s", "0", "50000", "100000", "150000", "200000"]
IMBALANCE = 1 - 0.125 / 0.2


@paired
def test_sums_of_the_kernel(t):
    """The same program with --aggregate has the same figures, which its parameters determine."""
    figures = []
    for options in ([], ["--aggregate"]):
        trace = t.trace([workload("paced"), *LIVE], *options)
        (process,), (barrier,) = trace.processes(), trace.barriers()
        figures.append({"imbalance": barrier["imbalance"], "imbalance of all": process["imbalance"],
                        "wait_share": process["wait_share"], "load_balance": process["efficiency"]["load_balance"],
                        "parallel": process["efficiency"]["parallel"], "lost_static": process["lost_static"]})
    for name, value in figures[0].items():
        check_between(f"{name} with --aggregate", figures[1][name], value - 0.02, value + 0.02)
    check_between("imbalance", figures[1]["imbalance"], IMBALANCE - 0.02, IMBALANCE + 0.02)


@paired
def test_top(t):
    """top and the report agree about imbalance. A thread that waits a third of the time is not balanced."""
    text = t.run([SBT, "top", "-d", "1", "--", workload("paced"), "15", *LIVE[1:]], timeout=60).err
    found = re.findall(r"^\S+ (process|barrier) +\d+ .*? (\d+) % ", text, re.M)
    check_equal("both", {kind for kind, _ in found}, {"process", "barrier"})
    for kind, value in found:
        check_between(f"imbalance of a {kind}", int(value), 100 * IMBALANCE - 3, 100 * IMBALANCE + 4)
    check("balanced" not in text, text)


def printed_by_joiner(result):
    return float(re.search(r"^# efficiency ([0-9.]+)", result.out, re.M).group(1))


@paired
def test_main_waits_for_its_workers(t):
    """Main crosses a barrier with its workers once and joins them. This is no work of its own, however the program becomes
    known."""
    for name in ("joiner", "joiner-musl"):
        if name == "joiner-musl" and not os.path.exists(f"{WORKLOADS}/{name}"):
            continue
        for options in ((), ("--no-discover",), ("--no-discover", "--no-causes"), ("--aggregate",)):
            trace = t.trace([workload(name), "gate", "3", "20"], *options)
            (process,) = trace.processes()
            told = printed_by_joiner(trace.result)
            what = f"{name} {' '.join(options)}"
            check_equal(f"{what}: threads", process["nthreads"], 4)
            check_between(f"{what}: parallel efficiency", process["efficiency"]["parallel"], told - 0.03, told + 0.03)
