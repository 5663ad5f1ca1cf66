# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Measure what samples of threads on a CPU cost: the traced program, and sbt-trace itself."""
import contextlib
import json
import math
import os
import subprocess
import tempfile

from common import ENV, SBT, last_object, median, say, workload
from turns import WARM, in_turns

STARTS = 6
TURNS = 250
ROUNDS = 20  # of 1 ms in a turn: a turn has five of the scheduler's ticks
QUIET = ("-q", "--json")
WAYS = {"without samples": ((*QUIET, "--no-samples"),), "without samples again": ((*QUIET, "--no-samples"),),
        "with samples": (QUIET,)}


def median_interval(values):
    """Return the 95 % confidence interval of the median: two of the sorted values, by the binomial distribution."""
    values, n = sorted(values), len(values)
    half = 1.96 * math.sqrt(n) / 2
    return values[max(0, math.floor(n / 2 - half))], values[min(n - 1, math.ceil(n / 2 + half))]


def say_slower(text, rows, more, less, bound=None):
    """Print by how many percent @more is slower than @less in the same turn."""
    slower = [100 * (m / l - 1) for m, l in zip(rows[more], rows[less])]
    say(text, median(slower), bound, " %")
    print("    95 %% interval of the median of %d turns: %.2f to %.2f %%" % (len(slower), *median_interval(slower)))


def turns_of_work(steps):
    """Return name -> ns for each turn. The location of memory and the CPU differ between starts."""
    rows, cpus = {name: [] for name in WAYS}, sorted(os.sched_getaffinity(0))
    for start in range(STARTS):
        argv = ["taskset", "-c", str(cpus[start % len(cpus)]), workload("bench_phases"), "--turns", "--rounds",
                str(ROUNDS), "--steps", str(steps)]
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            for name, way in in_turns(stack, folder, WAYS, argv, WARM + TURNS).items():
                rows[name] += way.ns[WARM:]
    return rows


def tracer_cpu(argv, options=()):
    """Return the end record of a run."""
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run([SBT, *QUIET, "-o", out.name, *options, "--", *argv], stdout=subprocess.DEVNULL, check=True,
                       env=ENV, timeout=120)
        with open(out.name, encoding="utf-8") as f:
            return json.loads(f.readlines()[-1])


def say_tracer(text, argv):
    """Print the CPU time of sbt-trace with samples beyond that without, for each sample. @argv lasts for seconds, so
    that questions about code that was not seen before, which become fewer, count as they do in practice."""
    rows = []
    for _ in range(5):
        plain, samples = tracer_cpu(argv, ("--no-samples",)), tracer_cpu(argv)
        more = samples["tracer_cpu_ns"] - plain["tracer_cpu_ns"]
        rows.append((more / samples["samples"] / 1000, 100 * more / samples["elapsed_ns"]))
    say("CPU time of sbt-trace for a sample: %s" % text, median([r[0] for r in rows]), None, " us")
    say("    of a CPU", median([r[1] for r in rows]), 1, " %")


PYTHON = """
import json, threading, time
def run():
    end = time.monotonic() + 5
    while time.monotonic() < end:
        sorted(json.loads(json.dumps([{"a": i, "b": str(i)} for i in range(500)])), key=lambda v: -v["a"])
threads = [threading.Thread(target=run) for _ in range(2)]
[t.start() for t in threads]
[t.join() for t in threads]
"""


def bench_samples():
    per_ms = last_object(subprocess.run([workload("bench_phases"), "--calibrate"], capture_output=True, text=True,
                                        check=True).stdout)["steps_per_ms"]
    rows = turns_of_work(int(per_ms))
    print("one thread, %d phases of 1 ms in a turn, ms, median: " % ROUNDS +
          ", ".join("%s %.2f" % (name, median(ns) / 1e6) for name, ns in rows.items()))
    say_slower("a program with samples is slower by", rows, "with samples", "without samples", 0.5)
    say_slower("the same without samples, twice", rows, "without samples again", "without samples")
    say_tracer("phases of 1 ms",
               [workload("bench_phases"), "--threads", "2", "--rounds", "4000", "--steps", str(int(per_ms))])
    say_tracer("Python", ["/usr/bin/python3", "-c", PYTHON])
