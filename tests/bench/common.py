# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Common code of the benchmarks: programs, tracers that keep their probes attached, figures."""
import json
import os
import re
import signal
import statistics
import subprocess
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SBT = os.path.join(ROOT, "build/sbt-trace")
WORK = os.path.join(ROOT, "build/workloads")
BENCH = os.path.join(ROOT, "build/bench")
ENV = dict(os.environ, SBT_OPTIONS="0")

# A bpftrace script that sums the waits of each thread, with probes at both ends.
BPFTRACE = ("uprobe:%(libc)s:pthread_barrier_wait { @t[tid] = nsecs; } "
            "uretprobe:%(libc)s:pthread_barrier_wait /@t[tid]/ { @wait[tid] = sum(nsecs - @t[tid]); delete(@t[tid]); } "
            "BEGIN { printf(\"ready\\n\"); }")


def workload(name):
    return os.path.join(WORK, name)


def libc():
    out = subprocess.run(["ldd", workload("gen")], capture_output=True, text=True, check=True).stdout
    return os.path.realpath(re.search(r"libc\.so\.6 => (\S+)", out).group(1))


def last_object(out):
    """Return the last line that is a JSON object."""
    return json.loads([line for line in out.splitlines() if line.startswith("{")][-1])


def median(values):
    return statistics.median(values)


def say(text, figure, bound=None, unit=""):
    state = "" if bound is None else ("  (wanted: at most %g%s)" % (bound, unit))
    print("%-72s %8.3g%s%s" % (text, figure, unit, state), flush=True)


class Holder:
    """A program that attaches probes and keeps them until it is asked to end."""

    def __init__(self, argv, ready, stream="stdout", **kwargs):
        self.p = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, env=ENV, **kwargs)
        for line in getattr(self.p, stream):
            if ready in line:
                return
        raise RuntimeError("%s did not become ready: %s" % (argv[0], self.p.stderr.read()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.p.send_signal(signal.SIGINT)
        try:
            self.p.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.p.kill()
            self.p.communicate()


def empty_session(library=None, entry=False):
    """@entry: a probe at the entry only, and no session."""
    return Holder([os.path.join(BENCH, "bench_empty"), os.path.join(BENCH, "empty.bpf.o"), library or libc(),
                   *(["entry"] if entry else [])], "ready")


def empty_scheduler():
    return Holder([os.path.join(BENCH, "bench_empty"), os.path.join(BENCH, "empty.bpf.o")], "ready")


def run_traced(options, argv):
    with tempfile.NamedTemporaryFile() as out:
        run = subprocess.run([SBT, "-q", "-o", out.name, *options, "--", *argv],
                             capture_output=True, text=True, env=ENV, timeout=120)
        return last_object(run.stdout)
