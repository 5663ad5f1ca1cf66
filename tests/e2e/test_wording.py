# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Sentences of reports are complete: long or mangled names, numbers and their units, and negative parts of a cause."""

import os
import re

from harness import check, check_equal, check_in, check_not_in, workload

SHARED = True

LONG = "synchronise_all_threads_of_the_team"
UNIT = r"(?:%|ns|µs|ms|s|min|KiB|MiB)(?!\w)"
NEGATIVE = "Negative: the late threads had less of this"


def check_lines(text):
    """Check that no line ends in a number with its unit on the next line."""
    check_equal("numbers without their units", re.findall(rf".*\d\n *{UNIT}.*", text), [])


def check_negative(text):
    """Check that a negative part of a cause is explained below its table, and nowhere else."""
    for table in re.findall(r"^ +part of lateness .*\n(?:(?: {6}\S.*)\n)+", text, re.M):
        check_equal(f"explained: {table}", NEGATIVE in table, bool(re.search(r" -\d", table)))


def check_report(t, command):
    trace = t.trace(command)
    text = t.text(command)
    check_lines(text)
    check_negative(text)
    for record in trace.all("process") + trace.all("barrier"):
        check(record["verdict"].endswith("."), f"cut short: {record['verdict']}")
        check_not_in("verdict", "$", record["verdict"])
    return trace, text


def test_long_names(t):
    """Long names in the headline and in the barriers' labels keep both of their ends, and the source position."""
    trace, text = check_report(t, [workload("long_names")])
    check_in("report", LONG, text)
    barriers = trace.barriers(family="pthread")
    check_equal("barriers", len(barriers), 2)
    for barrier in barriers:
        check(re.search(r"long_names\.cc:\d+$", barrier["label"]), f"no line: {barrier['label']}")
    method = next(b for b in barriers if LONG not in b["label"])
    check_in("label", "synchronise_before_the_next_iteration", method["label"])
    check_in("function", "synchronise_before_the_next_iteration", method["function"])
    headline = trace.process()["verdict"]
    check(LONG not in headline or "all_at_once() long_names.cc" in headline, headline)


def test_rust_names(t):
    """Both of Rust's mangling schemes give the names of the source."""
    for build in ("rust_names", "rust_names-v0"):
        trace, text = check_report(t, [workload(build)])
        names = sorted(re.sub(r"\{\{closure\}\}|\{closure#\d+\}", "{closure}", b["function"]) for b in trace.barriers(family="std"))
        check_equal(build, names, ["<rust_names::phases::Team as rust_names::phases::Meet<u32>>::meet",
                                   "rust_names::main::{closure}::{closure}::{closure}", "rust_names::phases::plain"])
        for part in ("$u7b$", "$LT$", "_ZN", "_RN"):
            check_not_in(build, part, text)


def test_quantities(t):
    """Numbers and units in reports with many figures: causes, phases and warnings."""
    for command in ([workload("late"), "lock", "--threads", "3", "--rounds", "20", "--base", "1ms", "--extra", "3ms"],
                    [workload("late"), "sleep", "--threads", "2", "--rounds", "20", "--base", "1ms", "--extra", "2ms"]):
        check_report(t, command)


SCRIPT = """
import threading
barrier = threading.Barrier(2)
def run():
    for _ in range(20): barrier.wait()
threads = [threading.Thread(target=run) for _ in range(2)]
[t.start() for t in threads]
[t.join() for t in threads]
"""


def test_script(t):
    """The headline names the script that an interpreter runs, and no code of the command line."""
    script = t.path("rounds.py")
    with open(script, "w", encoding="utf-8") as f:
        f.write(SCRIPT)
    name = " " + os.path.basename(script)
    for words, named in (([script], name), (["-W", "ignore", "-u", script, "7"], name), (["-c", SCRIPT], "")):
        path = t.path()
        t.sbt("record", "-o", path, "--", "/usr/bin/python3", *words, rc=0)
        headline = t.sbt("report", path, rc=0).out.splitlines()[0]
        check(re.match(rf"SBT report: python3[\d.]*{re.escape(named)}, 2 threads, ", headline), headline)
