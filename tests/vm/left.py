# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Common code of the suites of virtual machines. A suite is a module with

    programs(machine)   names of workloads that it needs there
    files(machine)      other programs, as (path there, path here); may be missing
    LIBRARIES           libraries that are loaded by name
    script(machine)     a shell script, which runs in a folder of the suite's own
    tests(machine)      name -> function(left), which check the files that the script left"""

import os

import harness
from harness import check, check_equal


class Left:
    """The files that a suite's script left behind in one machine."""

    def __init__(self, test, machine, result, suite):
        self.test, self.machine, self.result, self.suite = test, machine, result, suite

    def has(self, name):
        return f"{self.suite}/{name}" in self.result.files

    def text(self, name):
        check(self.has(name), f"{name} was not written: {self.result.stderr[-300:]} "
              f"{self.result.console[-300:]}")
        return self.result.files[f"{self.suite}/{name}"].decode("utf-8", "replace")

    def path(self, name):
        """Return the path of the file on this machine."""
        path = self.test.path()
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.text(name))
        return path

    def status(self, name, expected=0):
        """Check the exit status, which is in NAME.rc."""
        words = self.text(f"{name}.rc").split()
        said = [self.text(n)[-300:] for n in (f"{name}.err", f"{name}.out") if self.has(n)]
        check_equal(f"exit status of {name} ({' | '.join(said)})", words, [str(expected)])

    def counted(self, name):
        """Return the trace in NAME.json, in which losses may be counted."""
        known = self.result.traces
        if (self.suite, name) not in known:
            trace = harness.Trace(self.test, self.path(f"{name}.json"))
            trace.check_sums()
            known[self.suite, name] = trace
        return known[self.suite, name]

    def trace(self, name):
        """Return a trace that must have no losses. Waits at a barrier on a futex may still fit no episode, because arrivals
        there cannot be seen."""
        trace = self.counted(name)
        alone = any(b["family"] == "futex" for b in trace.barriers())
        return trace.nothing_lost(("barrier_given_up",) if alone else ())


def folder_script(suite, text):
    return f"mkdir /out/{suite}; cd /out/{suite}\n( {text}\n) </dev/null\n"


def suite_name(module):
    return os.path.splitext(os.path.basename(module.__file__))[0]
