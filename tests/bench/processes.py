# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Measure the cost of following the processes of a command: of a fork and of an exec. Check whether a process survives that
runs a copy of its own code."""
import json
import os
import subprocess
import tempfile

from common import ENV, SBT, last_object, median, say, workload

TURNS = 9
FORKS = 200
COPIES = 50


def run(argv, options=None):
    """Return (the program's output, its process in the report, the end record); the last two are None without tracing."""
    if options is None:
        return last_object(subprocess.run(argv, capture_output=True, text=True, check=True).stdout), None, None
    with tempfile.NamedTemporaryFile() as out:
        said = subprocess.run([SBT, "-q", "--json", "-o", out.name, *options, "--", *argv], capture_output=True, text=True,
                              check=True, env=ENV).stdout
        records = [json.loads(line) for line in open(out.name, encoding="utf-8")]
    return last_object(said), [r for r in records if r["type"] == "process"][0], records[-1]


def bench_forks():
    """Create processes one after another, without an exec and with an exec of /bin/true. Each turn runs all ways."""
    ways = {"not traced": None, "traced": (), "--no-causes": ("--no-causes",), "--no-children": ("--no-children",)}
    for what, program in (("a fork", ()), ("a fork and an exec", ("/bin/true",))):
        rows = {way: [] for way in ways}
        for _ in range(TURNS):
            for way, options in ways.items():
                rows[way].append(run([workload("forks"), str(FORKS), *program], options))
        print("%s, us from before it to the end of the process: %s" % (
            what, ", ".join("%s %.0f" % (way, median([r[0]["process_us"] for r in rows[way]])) for way in ways)))
        for way in list(ways)[1:]:
            for name, key, bound in (("took longer", "process_us", 300 if way == "traced" else None), ("CPU time of its own", "cpu_us", None)):
                say("    %s, %s" % (way, name),
                    median([r[0][key] - b[0][key] for r, b in zip(rows[way], rows["not traced"])]), bound, " us")
        # The report's cost of a process includes crossings and context switches. No estimate includes forks.
        say("    estimated for the parent, by the report, for each process that it made",
            median([(r[1]["cost_ns"] or 0) / FORKS / 1e3 for r in rows["traced"]]), None, " us")
        say("    the tracer's own CPU time, for each process, its start and end included",
            median([r[2]["tracer_cpu_ns"] / FORKS / 1e3 for r in rows["traced"]]), None, " us")


def survivors(how, wait_us):
    """Run children of COMMAND that replace their text and continue after @wait_us. Return how many survive."""
    lived = 0
    with tempfile.NamedTemporaryFile() as out:
        for _ in range(COPIES):
            p = subprocess.run([SBT, "-q", "-o", out.name, "--", "sh", "-c", '"$@"; exit $?', "sh", workload("copied_text"), how,
                                str(wait_us)], capture_output=True, text=True, env=ENV, check=False)
            lived += p.returncode == 0
    return lived


def bench_copies():
    """Run children that execute a copy of their own text, which contains copied breakpoints."""
    print("runnable tasks meanwhile, at the mean of a minute: %.1f" % os.getloadavg()[0])
    for wait_us in (0, 1000, 10000):
        lived = [survivors(how, wait_us) for how in ("private", "shared", "file")]
        print("    after %5d us: of %d each that copy it to private memory, to shared memory, to a file, %d, %d, %d survived" % (
            wait_us, COPIES, *lived))
