# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""What the same work takes by several ways, in turns short enough that the machine is the same for all of them.

Each way has a program of its own, which does its work when it is told to and says what that took. In a turn each has its
go, in an order drawn anew; what the host gives changes more slowly. What counts is the median over turns of the
differences within a turn. No turn is left out.

The probes of one way would be met by the programs of the others, and cost them something, were they in the same file:
each program has a copy of the C library to itself.
"""
import contextlib
import json
import os
import random
import shutil
import subprocess
import tempfile

from common import ENV, SBT, empty_session, libc, median, workload

CALLS = 200
WARM = 10  # turns: until all is in place


class Way:
    """@argv: a program that does its work for each byte that comes, and says how many ns that took. @options: sbt-trace's;
    None: it does not trace. @empty: an empty program takes its place."""

    def __init__(self, stack, folder, argv, options=None, empty=False):
        library = os.path.join(folder, "libc.so.6")
        shutil.copy(libc(), library)
        self.out = os.path.join(folder, "out") if options is not None else None
        argv = ["env", "LD_LIBRARY_PATH=" + folder, *argv]
        if empty:
            stack.enter_context(empty_session(library))
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
        """After the end: how many crossings of at least so many turns are not in what sbt-trace told."""
        if not self.out:
            return 0
        with open(self.out, encoding="utf-8") as f:
            end = json.loads(f.readlines()[-1])
        if end["produced"] < turns * CALLS:
            raise RuntimeError("%s: of %d crossings it saw %d" % (self.p.args, turns * CALLS, end["produced"]))
        return end["lost_total"]


def in_turns(stack, folder, ways, argv, turns):
    """@ways: name -> (options, empty) of Way. Returns name -> Way, after so many turns."""
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
    """Returns name -> ns a crossing, of each turn; and how many crossings were lost."""
    argv = ["taskset", "-c", str(cpu), workload("bench_crossing"), "--turns", "--calls", str(CALLS)]
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.ExitStack() as stack:
            all_ways = in_turns(stack, folder, ways, argv, WARM + turns)
        return ({name: way.ns[WARM:] for name, way in all_ways.items()},
                sum(way.lost(WARM + turns) for way in all_ways.values()))


def take_turns(ways, starts, turns):
    """Of a crossing, all ways on one CPU. @ways: as in_turns() has them. Where pages come to lie is another at each start, and
    the CPU is. Returns a list, for each start: name -> ns a crossing, of each turn. What is lost costs less than what is written: such a start is made again."""
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
            raise RuntimeError("others have the CPUs: nothing can be said")
    return all_rows


def difference(rows, more, less):
    """Within turns, at their median."""
    return median([m - l for m, l in zip(rows[more], rows[less])])
