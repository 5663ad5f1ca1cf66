# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""What processes of a command pay for being followed: a fork, an exec; and whether one survives that runs a copy of its own code."""
import json
import os
import subprocess
import tempfile

from common import ENV, SBT, last_object, median, say, workload

TURNS = 9
FORKS = 200
COPIES = 50


def run(argv, options=None):
    """Returns (what the program says, its process in the report, the end of it); the last two are None if it is not traced."""
    if options is None:
        return last_object(subprocess.run(argv, capture_output=True, text=True, check=True).stdout), None, None
    with tempfile.NamedTemporaryFile() as out:
        said = subprocess.run([SBT, "-q", "--json", "-o", out.name, *options, "--", *argv], capture_output=True, text=True,
                              check=True, env=ENV).stdout
        records = [json.loads(line) for line in open(out.name, encoding="utf-8")]
    return last_object(said), [r for r in records if r["type"] == "process"][0], records[-1]


def bench_forks():
    """Processes made one after another: alone, and with an exec of /bin/true. All ways in each turn."""
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
        # What the report says a process cost is that of its crossings and of its threads' switches: forks are in no estimate.
        say("    estimated for the parent, by the report, for each process that it made",
            median([(r[1]["cost_ns"] or 0) / FORKS / 1e3 for r in rows["traced"]]), None, " us")
        say("    the tracer's own CPU time, for each process, its start and end included",
            median([r[2]["tracer_cpu_ns"] / FORKS / 1e3 for r in rows["traced"]]), None, " us")


def survivors(how, wait_us):
    """Of children of COMMAND that replace their text and go on after so long."""
    lived = 0
    with tempfile.NamedTemporaryFile() as out:
        for _ in range(COPIES):
            p = subprocess.run([SBT, "-q", "-o", out.name, "--", "sh", "-c", '"$@"; exit $?', "sh", workload("copied_text"), how,
                                str(wait_us)], capture_output=True, text=True, env=ENV, check=False)
            lived += p.returncode == 0
    return lived


def bench_copies():
    """Children that run a copy of their own text, which has copied breakpoints in it."""
    print("runnable tasks meanwhile, at the mean of a minute: %.1f" % os.getloadavg()[0])
    for wait_us in (0, 1000, 10000):
        lived = [survivors(how, wait_us) for how in ("private", "shared", "file")]
        print("    after %5d us: of %d each that copy it to private memory, to shared memory, to a file, %d, %d, %d survived" % (
            wait_us, COPIES, *lived))
