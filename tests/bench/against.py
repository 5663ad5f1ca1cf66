#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Compare this build with another: a crossing, the model, the merge, and report. The two take turns, in an order that changes.

usage: tests/bench/against.py DIR [TURNS]     DIR: the other repository, with make all bench-programs; TURNS: default 15

Each line has the median of each build, and the median of the ratios within a turn, with the quarter of the ratios below and above."""
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from common import ENV, ROOT, last_object, workload


def printed(argv, pattern):
    return float(re.search(pattern, subprocess.run(argv, capture_output=True, text=True, env=ENV, check=True).stdout).group(1))


def crossing(build, _):
    """ns per crossing of one thread, back to back, traced."""
    with tempfile.NamedTemporaryFile() as out:
        run = subprocess.run([build + "/sbt-trace", "-q", "--json", "-o", out.name, "--", workload("bench_crossing")],
                             capture_output=True, text=True, env=ENV, check=True)
    return last_object(run.stdout)["ns_per_call"]["median"]


def model(build, _):
    """ns of CPU time per crossing."""
    return printed([build + "/bench/bench_model", "2000000"], r"([\d.]+) ns a crossing")


def merge(build, _):
    """ns per crossing, 1,024 rings, merged and fed to the model."""
    return printed([build + "/bench/bench_streams"], r"([\d.]+) ns a crossing")


def report(build, recording):
    """Seconds of CPU time."""
    before = time.monotonic()
    p = subprocess.Popen([build + "/sbt-trace", "report", "-q", "--json", "-o", "/dev/null", recording], env=ENV)
    _, status, usage = os.wait4(p.pid, 0)
    if status or time.monotonic() - before > 100:
        raise RuntimeError("report failed")
    return usage.ru_utime + usage.ru_stime


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    builds = [os.path.join(ROOT, "build"), os.path.join(os.path.abspath(sys.argv[1]), "build")]
    turns = int(sys.argv[2]) if len(sys.argv) == 3 else 15
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "recording")
        subprocess.run([builds[1] + "/sbt-trace", "record", "-q", "-o", recording, "--", workload("gen"), "--threads", "8",
                        "--rounds", "40000", "--work", "random:1us:20us:1"], check=True, stdout=subprocess.DEVNULL, env=ENV)
        for measure in (crossing, model, merge, report):
            rows = []
            for turn in range(turns):
                order = [0, 1] if turn % 2 else [1, 0]
                row = {i: measure(builds[i], recording) for i in order}
                rows.append((row[0], row[1]))
            ratios = sorted(a / b for a, b in rows)
            print("%-9s this %.4g, other %.4g; ratio %.3f (%.3f to %.3f)   %s" %
                  (measure.__name__, statistics.median(a for a, _ in rows), statistics.median(b for _, b in rows),
                   statistics.median(ratios), ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4], measure.__doc__), flush=True)


if __name__ == "__main__":
    main()
