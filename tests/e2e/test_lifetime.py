# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""A process has the same lifetime, first phase and efficiencies whether it is started by sbt-trace or found by -a."""

import re
import time

from harness import Trace, SBT, check, check_between, check_equal, workload

SHARED = True
# Error of an efficiency: the share of wake-ups on a busy machine in phases of 10 ms and more.
NEAR = 0.06


def lived(out):
    return int(re.search(r"^# lived (\d+)", out, re.M).group(1))


def started(t, *options, program=("lifetime",)):
    out = t.path()
    result = t.run([SBT, "--json", "-o", out, *options, "--", workload(program[0]), *program[1:]])
    (process,) = Trace(t, out).processes()
    return process, lived(result.out)


def found(t, *options, program=("lifetime",)):
    """The program begins while the whole machine is traced. The first run makes it known; the second is checked."""
    tracer = t.attach("-a", "--comm", program[0], *options)
    processes = [t.start([workload(program[0]), *program[1:]]) for _ in range(2) if time.sleep(0.2) is None]
    results = [p.wait() for p in processes]
    time.sleep(0.3)
    trace = tracer.stop()
    rows = {p["pid"]: p for p in trace.processes()}
    check(processes[1].pid in rows, f"{processes[1].pid} is not in {sorted(rows)}")
    return rows[processes[1].pid], lived(results[1].out)


def same(name, process, lives, other):
    check_equal(f"{name}: exited", process["exited"], True)
    for what in ("life_ns", "elapsed_ns"):
        check_between(f"{name}: {what}", process[what], lives, 1.05 * lives + 30e6)
    for what in ("parallel", "load_balance"):
        expected = other["efficiency"][what]
        check_between(f"{name}: {what}", process["efficiency"][what], expected - NEAR, expected + NEAR)


def test_found(t):
    command, lives = started(t)
    same("COMMAND", command, lives, command)
    same("-a", *found(t), command)


def test_found_by_sums(t):
    command, lives = started(t, "--aggregate")
    same("COMMAND", command, lives, command)
    same("-a", *found(t, "--aggregate"), command)


def test_found_two_threads(t):
    program = ("lifetime", "2", "40")
    command, _ = started(t, program=program)
    same("-a", *found(t, program=program), command)
