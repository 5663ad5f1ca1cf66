# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Measure the same work done in several ways, in turns so short that the state of the machine is the same for all.

Each way has its own program, which does its work on request and prints the time. In a turn each way runs once, in a new random
order. What the host provides changes more slowly than that. The result is the median over turns of the differences within a
turn. No turn is left out.

If the programs of two ways mapped the same file, each would hit the probes of the other: so each program has its own copy of
the C library."""
import contextlib
import json
import os
import random
import shutil
import subprocess
import tempfile

from common import ENV, SBT, empty_session, libc, median, workload

CALLS = 200
WARM = 10  # turns before all programs and probes are ready


class Way:
    """@argv: a program that does its work for each byte that it reads, and prints the time in ns. @options: options of
    sbt-trace; None: no tracing. @empty: an empty program takes the place of sbt-trace's; "entry": at the entry only."""

    def __init__(self, stack, folder, argv, options=None, empty=False):
        library = os.path.join(folder, "libc.so.6")
        shutil.copy(libc(), library)
        self.out = os.path.join(folder, "out") if options is not None else None
        argv = ["env", "LD_LIBRARY_PATH=" + folder, *argv]
        if empty:
            stack.enter_context(empty_session(library, empty == "entry"))
        if self.out:
            argv = [SBT, "-o", self.out, *options, "--", *argv]
        self.p = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENV, bufsize=0)
        self.ns = []
        stack.callback(self.stop)

    def go(self):
        self.p.stdin.write(b"g")
        said = self.p.stdout.readline()
        if not said:
            raise RuntimeError("%s ended before its time: exit %d" % (self.p.args, self.p.wait(timeout=60)))
        self.ns.append(float(said))

    def stop(self):
        self.p.stdin.close()
        self.p.stdout.close()
        if self.p.wait(timeout=60):
            raise RuntimeError("%s: exit %d" % (self.p.args, self.p.returncode))

    def lost(self, turns):
        """Return, after the end, how many crossings of at least @turns turns are missing from sbt-trace's output."""
        if not self.out:
            return 0
        with open(self.out, encoding="utf-8") as f:
            end = json.loads(f.readlines()[-1])
        if end["produced"] < turns * CALLS:
            raise RuntimeError("%s: of %d crossings it saw %d" % (self.p.args, turns * CALLS, end["produced"]))
        return end["lost_total"]


def in_turns(stack, folder, ways, argv, turns):
    """@ways: name -> (options, empty) of Way. Return name -> Way, after @turns turns."""
    all_ways = {}
    for name, arguments in ways.items():
        own = os.path.join(folder, name.replace(" ", "-"))
        os.mkdir(own)
        all_ways[name] = Way(stack, own, argv, *arguments)
    for _ in range(turns):
        for name in random.sample(list(all_ways), len(all_ways)):
            all_ways[name].go()
    return all_ways


def one_start(ways, turns, cpu):
    """Return name -> ns per crossing for each turn, and the number of lost crossings."""
    argv = ["taskset", "-c", str(cpu), workload("bench_crossing"), "--turns", "--calls", str(CALLS)]
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.ExitStack() as stack:
            all_ways = in_turns(stack, folder, ways, argv, WARM + turns)
        return ({name: way.ns[WARM:] for name, way in all_ways.items()},
                sum(way.lost(WARM + turns) for way in all_ways.values()))


def take_turns(ways, starts, turns):
    """Measure crossings of all ways on one CPU. @ways: as for in_turns(). The location of memory pages and the CPU differ
    between starts. Return a list with, for each start, name -> ns per crossing for each turn. Lost records cost less than
    written ones, so a start with losses is repeated."""
    cpus = sorted(os.sched_getaffinity(0))
    all_rows, again = [], 0
    while len(all_rows) < starts:
        rows, lost = one_start(ways, turns, cpus[len(all_rows) % len(cpus)])
        if not lost:
            all_rows.append(rows)
            continue
        print("a start is made again: %d crossings were lost, for others had the CPUs" % lost, flush=True)
        again += 1
        if again > starts:
            raise RuntimeError("other programs use the CPUs: nothing can be measured")
    return all_rows


def difference(rows, more, less):
    """Return the median of the differences within turns."""
    return median([m - l for m, l in zip(rows[more], rows[less])])
