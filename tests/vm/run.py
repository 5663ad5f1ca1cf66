#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""sbt-trace in other kernels and on other machines, under emulation: the one binary of each architecture.

    run.py [--long] [--suites LIST] [--lanes N] [--keep DIR] [MACHINE...]
                                      the machines of `make check-vm`, or of `make check-long`, or those named; all their
                                      suites, or those in LIST (doctor,pmu); N at a time (default: one per CPU); the files
                                      that they leave stay in DIR
    run.py --programs [ARGUMENTS]     print the workloads that are needed for arm64

Prints one line per test, a table of what each kernel has and what was used, and a last line "N passed, N failed". If several
emulated machines run at once, their clocks stand still at times, and threads wait for long. If at most FEW tests of a machine
fail, the machine is therefore started again, once or twice, with the suites of these tests, until all of them pass. At most
AGAIN machines are. A probe that records nothing fails every time.
build/ must exist, and build/arm64 for arm64: scripts/check-vm makes it."""

import argparse
import concurrent.futures
import os
import resource
import shutil
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "e2e")]

import commands  # noqa: E402
import doctor  # noqa: E402
import families  # noqa: E402
import hard  # noqa: E402
import harness  # noqa: E402
import left  # noqa: E402
import many  # noqa: E402
import pmu  # noqa: E402
import vm  # noqa: E402

BUILDS = {"amd64": os.path.join(harness.ROOT, "build"), "arm64": os.path.join(harness.ROOT, "build", "arm64")}
SECONDS = 900  # for one virtual machine; 60 to 200 are usual beside the end-to-end tests, and more if others use the CPUs, too
AGAIN = 3  # maximum number of machines that are started again in one run, each of them
TRIES = 2  # this many times at most,
FEW = 2  # if at most this many of its tests failed
# Debian suites that appear and disappear.
PASSING = ("bullseye", "sid")


class Machine:
    """@suite: Debian's suite, None: the machine's own. @rungs: the attach methods of this kernel, best first. @instead:
    features for which the doctor reports a replacement or a lack. @counting: time follows the number of instructions, and a
    PMU counts them (arm64). @also: what suites only do if there is time for it."""

    def __init__(self, name, arch, suite, rungs, instead=(), suites=(families,), cpus=2, nodes=1, counting=False,
                 release=None, also=(), is_long=False):
        self.name, self.arch, self.suite, self.rungs, self.instead = name, arch, suite, rungs, set(instead)
        self.suites, self.cpus, self.nodes, self.counting, self.release = suites, cpus, nodes, counting, release
        self.also, self.is_long, self.pmu = also, is_long, counting
        self.serialises = cpus > 8 and "many CPUs at once" in instead
        self.tries, self.again, self.seconds = 0, [], None
        self.found_nothing((doctor, commands, families))

    def found_nothing(self, suites):
        """Clear the results of these suites: of doctor, of commands, or of those that trace."""
        if doctor in suites:
            self.features = {}
        if commands in suites:
            self.commands = set()
        if any(s not in (doctor, commands) for s in suites):
            self.found, self.hangs, self.lasts, self.counters, self.causes, self.sums = {}, set(), [0, 0], [], [], None

    def suites_now(self):
        """Return the suites to run: all, or those in which tests have failed."""
        return self.again or self.suites

    def has(self, suite, test):
        """Return whether the test, by its full name, belongs to that suite here."""
        return test.startswith(f"{self.name}.{left.suite_name(suite)}.")

    def workload(self, name):
        return os.path.join(BUILDS[self.arch], "workloads", name)

    def count(self, name, result):
        """Store a result of genlog.compare() for the table."""
        found, known = self.found.get(name, (0, 0))
        self.found[name] = found + result["matched"], known + result["log_episodes"]
        self.lasts[0] += result["last_checked"] - result["last_wrong"]
        self.lasts[1] += result["last_checked"]


NO_SESSION = ("uprobe.session", "return probes")
NO_MULTI = (*NO_SESSION, "uprobe.multi")
ALL_COMMANDS = ("limit", "top", "tbb", "mpi")
# The machines that take longest are first.
MACHINES = [
    Machine("6.1-arm64", "arm64", None, ["perf"], NO_MULTI, (families, commands), cpus=4, nodes=2, counting=True,
            also=("tbb",)),
    Machine("6.12", "amd64", "trixie", ["multi", "perf"], NO_SESSION, (doctor, families, commands), cpus=4, release="6.12",
            also=("bare", "limit", "top", "tbb", "mpi")),
    Machine("newest", "amd64", "sid", ["session", "multi", "perf"], (), (doctor, families, commands), cpus=2,
            also=("limit", "top", "tbb")),
    Machine("6.1", "amd64", None, ["perf"], NO_MULTI, (doctor, families, commands), release="6.1",
            also=("files", "tbb")),
    Machine("5.10", "amd64", "bullseye", ["perf"], (*NO_MULTI, "attach cookies", "names of mappings"),
            (doctor, families, commands), release="5.10", also=("limit", "top", "mpi")),
    # The counters are right with one CPU only.
    Machine("6.1-arm64-pmu", "arm64", None, ["perf"], NO_MULTI, (doctor, pmu), cpus=1, counting=True, release="6.1"),
    # Before 6.14, more than eight CPUs on one uprobe wait for one another.
    Machine("6.12-16-cpus", "amd64", "trixie", ["multi", "perf"], (*NO_SESSION, "many CPUs at once"),
            (doctor, many), cpus=16, is_long=True),
    Machine("newest-16-cpus", "amd64", "sid", ["session", "multi", "perf"], (), (many,), cpus=16, is_long=True),
    Machine("6.1-8-cpus", "amd64", None, ["perf"], NO_MULTI, (many,), cpus=8, is_long=True),
    # Suites that there is no time for on every machine and every day.
    Machine("6.1-arm64-all", "arm64", None, ["perf"], NO_MULTI, (commands,), cpus=4, nodes=2, counting=True,
            also=("top", "tbb", "mpi"), is_long=True),
    Machine("6.12-all", "amd64", "trixie", ["multi", "perf"], NO_SESSION, (commands,), cpus=4, also=ALL_COMMANDS, is_long=True),
    Machine("newest-all", "amd64", "sid", ["session", "multi", "perf"], (), (commands,), also=ALL_COMMANDS, is_long=True),
    Machine("6.1-all", "amd64", None, ["perf"], NO_MULTI, (commands,), also=ALL_COMMANDS, is_long=True),
    Machine("5.10-all", "amd64", "bullseye", ["perf"], NO_MULTI, (commands,), also=ALL_COMMANDS, is_long=True),
    Machine("6.1-arm64-hard", "arm64", None, ["perf"], NO_MULTI, (hard,), cpus=4, is_long=True),
]


# --- one machine ------------------------------------------------------------------------------------

def boot(machine):
    guest = vm.Guest(machine.arch, machine.suite, cpus=machine.cpus, nodes=machine.nodes,
                     counting=machine.counting)
    guest.program("/bin/sbt-trace", os.path.join(BUILDS[machine.arch], "sbt-trace"))
    script = []
    for suite in machine.suites_now():
        for name in suite.programs(machine):
            guest.program(f"/bin/{name}", machine.workload(name))
        for name, path in getattr(suite, "files", lambda _: ())(machine):
            guest.program(name, path)
        for name in suite.LIBRARIES:
            guest.library(name)
        script.append(left.folder_script(left.suite_name(suite), suite.script(machine)))
    result = guest.run("".join(script) + "exit 0\n", SECONDS)
    machine.seconds = result.seconds
    return result


def keep(folder, machine, result):
    for name, data in [*result.files.items(), ("console", result.console.encode())]:
        path = os.path.join(folder, machine.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)


class Checked(harness.Test):
    """A test context that starts no processes. Other machines run meanwhile, and must not be ended with it."""

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)


def check_left(name, function, left_behind):
    """Run a check. Return None, or why it failed."""
    try:
        function(left_behind)
    except harness.Failure as e:
        return str(e)
    except Exception as e:
        return f"{type(e).__name__}: {e}"
    return None


def examine(machine, result, say):
    """Return the names of the tests that passed, and of those that failed (name, why)."""
    passed, failed = [], []
    for suite in machine.suites_now():
        suite_name = left.suite_name(suite)
        for name, function in suite.tests(machine).items():
            test = Checked(name)
            why = check_left(name, function, left.Left(test, machine, result, suite_name))
            test.close()
            if why:
                failed.append((f"{machine.name}.{suite_name}.{name}", why))
                continue
            passed.append(f"{machine.name}.{suite_name}.{name}")
            say(f"ok {passed[-1]}")
    return passed, failed


def run(machine, say):
    """Run a machine, and return the result of examine(). A machine that does not start counts as a failed test."""
    machine.found_nothing(machine.suites_now())
    try:
        result = boot(machine)
    except vm.Failure as e:
        if machine.suite in PASSING and not machine.tries and "could not be fetched" in str(e):
            say(f"skip {machine.name}: {e} (Debian's {machine.suite} may have left the mirror)")
            return [], []
        return [], [(machine.name, str(e))]
    except OSError as e:
        return [], [(machine.name, str(e))]
    say(f"vm: {machine.name} took {machine.seconds:.0f} s")
    return result


# --- what each kernel had and used --------------------------------------------------------------------------------

def state(feature):
    """Return the state in a word or two."""
    def cell(machine):
        found = machine.features.get(feature)
        return "" if not found else found["state"] if not found["state"] == "instead" else "no"
    return cell


def release(machine):
    found = machine.features.get("kernel")
    return found["found"].split(",")[0].replace("Linux ", "") if found else ""


ROWS = [
    ("kernel", release),
    ("CPUs", lambda m: str(m.cpus)),
    ("probes used", lambda m: m.rungs[0]),
    ("also tried", lambda m: ", ".join(m.rungs[1:]) or "-"),
    ("uprobe.session", state("uprobe.session")),
    ("uprobe.multi", state("uprobe.multi")),
    # Perf uprobes are always filtered by the kernel.
    ("filtered by the kernel", lambda m: state("probes of one process")(m) or ("yes" if m.rungs[0] == "perf" else "")),
    ("attach cookies", state("attach cookies")),
    ("ring buffer", state("ring buffer")),
    ("task iterator", state("task iterator")),
    ("scheduler events", state("scheduler events")),
    ("names of mappings", state("names of mappings")),
    ("hardware counters", state("hardware counters")),
    ("stacks of blocked threads", state("stacks of blocked threads")),
]
FAMILIES = [("pthread", ("pthread", "busy", "many", "static", "stripped", "musl", "uneven")), ("across processes", ("processes",)),
            ("condition variable", ("cond",)), ("futex", ("futex",)), ("libgomp", ("gomp", "region")),
            ("libomp", ("libomp",)), ("markers", ("usdt",)), ("named with -b", ("user", "sem")), ("C++, Rust", ("std", "rust", "boost")),
            ("Go", ("gobar",)), ("MPI", ("mpi",)), ("fork-join", ("forkjoin",))]
COMMANDS = [("record, report, diff, predict", ("record", "window", "diff", "predict")), ("top, list", ("top", "list")),
            ("--frames, phases, --cost-limit", ("frames", "phases", "limit"))]


def total(names):
    """Return how many episodes were found, and of how many if some were missing."""
    def cell(machine):
        found, known = map(sum, zip(*(machine.found.get(n, (0, 0)) for n in names)))
        return "-" if not known else str(found) if found == known else f"{found} of {known}"
    return cell


def right(names):
    """Return how many of the commands' tests passed, if not all did."""
    def cell(machine):
        passed = [name for name in names if name in machine.commands]
        return "yes" if len(passed) == len(names) else ", ".join(passed) or "-"
    return cell


def table(machines):
    """Print a table with one column per machine. Results of two machines with the same kernel share a column."""
    columns = [m for m in machines if families in m.suites and m.found]
    for m in columns:
        for other in machines:
            if not m.features and other.arch == m.arch and other.suite == m.suite:
                m.features = other.features
    rows = ROWS + [(f"episodes: {title}", total(names)) for title, names in FAMILIES] + [
        ("last thread right", lambda m: f"{m.lasts[0]} of {m.lasts[1]}"),
        ("counted by phase", lambda m: ", ".join(m.counters) or "-"),
        ("causes found", lambda m: ", ".join(m.causes) or "-"),
        ("--aggregate", lambda m: m.sums or "-"),
        *((title, right(names)) for title, names in COMMANDS),
        ("hangs found", lambda m: "both ways" if len(m.hangs) == 2 else ", ".join(sorted(m.hangs)) or "-"),
    ]
    lines = [["", *(m.name for m in columns)]] + [[title, *(cell(m) or "?" for m in columns)] for title, cell in rows]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) if columns else ""


# --- all machines -------------------------------------------------------------------------------------------------

def chosen(arguments):
    machines = [m for m in MACHINES if (any(m.name == name for name in arguments.machines) if arguments.machines
                                        else m.is_long == arguments.long)]
    for m in machines if arguments.suites else ():
        m.suites = [s for s in m.suites if left.suite_name(s) in arguments.suites.split(",")]
    return [m for m in machines if m.suites]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--suites", metavar="LIST")
    parser.add_argument("--lanes", type=int, default=os.cpu_count())
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("--programs", action="store_true")
    parser.add_argument("machines", nargs="*", metavar="MACHINE")
    arguments = parser.parse_intermixed_args()
    suites = {left.suite_name(s) for m in MACHINES for s in m.suites}
    for name, known in (*((m, {m.name for m in MACHINES}) for m in arguments.machines),
                        *((s, suites) for s in (arguments.suites or "").split(",") if s)):
        if name not in known:
            parser.error(f"{name}: give {', '.join(sorted(known))}")
    machines = chosen(arguments)
    if arguments.programs:
        print("\n".join(sorted({name for m in machines if m.arch == "arm64" for s in m.suites
                                for name in s.programs(m)})))
        return 0
    lock, begun = threading.Lock(), time.monotonic()

    def say(text):
        with lock:
            print(text, flush=True)

    passed = failed = again = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.lanes) as lanes:
        runs = {lanes.submit(run, m, say): m for m in machines}
        while runs:
            for future in concurrent.futures.wait(runs, return_when=concurrent.futures.FIRST_COMPLETED).done:
                machine, result = runs.pop(future), future.result()
                if arguments.keep and not isinstance(result, tuple):
                    keep(arguments.keep, machine, result)
                good, bad = result if isinstance(result, tuple) else examine(machine, result, say)
                anew = 0 < len(bad) <= FEW and again < AGAIN and machine.tries < TRIES
                for name, why in bad:
                    say(f"{'AGAIN' if anew else 'FAIL'} {name}: {why}")
                if anew:
                    again += 1
                    machine.tries += 1
                    # A machine that did not start has no such suites.
                    failed_ones = [s for s in machine.suites_now() if any(machine.has(s, name) for name, _ in bad)]
                    machine.again = failed_ones or machine.again
                    good = [name for name in good if not any(machine.has(s, name) for s in machine.suites_now())]
                    runs[lanes.submit(run, machine, say)] = machine
                passed, failed = passed + len(good), failed + (0 if anew else len(bad))
    print(table(machines))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"vm: all took {time.monotonic() - begun:.0f} s, and {used.ru_utime + used.ru_stime:.0f} s of CPU time")
    if again:
        print(f"vm: {again} times a machine was started anew")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
