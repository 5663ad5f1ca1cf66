#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Runs the end-to-end tests: needs root, build/sbt-trace and build/workloads.

    run.py [-l] [--quiet-after PID] [--seconds N] [PATTERN...]
                     all tests, or those with a PATTERN in their name; -l lists them

Prints one line per test, and a last line "N passed, N failed". With --seconds no test begins after N seconds: the number of
tests that were left out is printed, and a test that failed before that is run once more at once.

Many tests need the machine for themselves, because they compare times with a program's own, or look at all processes. The other
tests (harness.shared) run first, in LANES parallel lanes. Each lane is a process that ends what its own tests leave. Then the
tests that only need a machine that is not full (harness.paired) run in LANES lanes as well. The rest follow one by one. With
--quiet-after, all but the first group wait until process PID has ended, which uses the machine meanwhile.

These tests compare a tracer with real schedulers and clocks, on machines that others use too. A test that fails is therefore
run again, alone, and passes if it then passes twice in a row. The first failure is still printed, and counted in the line
before the last. More than AGAIN such tests in one run (one in a hundred) are no accident, and count as failures. On a busy
host, where context switches take several times as long as usual, up to DISTURBED tests may be repeated, and a test may repeat
its two runs twice more. A try during which the host took more than TOOK of the CPUs does not count, and is repeated, up to
MEANWHILE times per run.

A host may be busy for longer than all tries of a test take. If at most LAST tests have failed, each gets its two runs again
after all other tests, up to LAST_TRIES times."""

import argparse
import ctypes
import glob
import importlib
import os
import signal
import sys
import time
import traceback

import harness

LANES = 2
SECONDS = 900 if os.environ.get("SBT_LONG") else 90  # for one test
AGAIN = 10  # tests that may need a second try in one run
DISTURBED = 40
PAUSE = 5  # seconds before a repetition, because load comes in bursts
BURST = 20  # maximum number of additional seconds, while the steal time exceeds
TAKES = 0.02  # this share of the CPUs
TOOK = 0.05
MEANWHILE = 8
LAST = 12
LAST_TRIES = 3


def collect(patterns):
    tests = []
    for path in sorted(glob.glob(os.path.join(harness.HERE, "test_*.py"))):
        name = os.path.splitext(os.path.basename(path))[0]
        module = importlib.import_module(name)
        for key, function in vars(module).items():
            if key.startswith("test_") and callable(function) and \
                    getattr(function, "__module__", name) in (name, "harness"):
                tests.append((f"{name[5:]}.{key[5:]}", function))
    if not patterns:
        return tests
    first = {n: next((i for i, p in enumerate(patterns) if p in n), None) for n, _ in tests}
    return sorted((t for t in tests if first[t[0]] is not None), key=lambda t: first[t[0]])


def out_of_time(*_):
    raise harness.OutOfTime(f"not done after {SECONDS} s")


def where(error):
    """Return the line of the test that failed."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        name = os.path.basename(frame.filename)
        if name.startswith("test_"):
            return f" [{name}:{frame.lineno}]"
    return ""


def run(name, function, verdict="FAIL"):
    """Run a test. Return True if it passed or was skipped."""
    start = time.monotonic()
    test = harness.Test(name)
    why = skipped = None
    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(SECONDS)
    try:
        function(test)
        test.check_traces()
    except harness.Skip as e:
        skipped = str(e)
    except (harness.Failure, harness.OutOfTime) as e:
        why = f"{e}{where(e)}"
    except Exception as e:
        why = f"{type(e).__name__}: {e}{where(e)}"
    finally:
        signal.alarm(0)
        for wrong in test.close():
            why = why or wrong
    seconds = time.monotonic() - start
    if why is not None:
        print(f"{verdict} {name}: {printable(why)}", flush=True)
    else:
        print(f"ok {name} ({seconds:.1f} s){', skipped: ' + skipped if skipped else ''}",
              flush=True)
    return why is None


def printable(text):
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def tries_left(again):
    """Return how often a failed test may be repeated, after @again repetitions of other tests."""
    if again < DISTURBED and harness.switch_ns() > harness.CALM_NS:
        return 3
    return 1 if again < AGAIN else 0


def pause():
    """Wait, because the disturbance of a test may then be over."""
    end = time.monotonic() + BURST
    time.sleep(PAUSE)
    while time.monotonic() < end:
        taken = Taken()
        time.sleep(1)
        if taken.share() <= TAKES:
            break


class Taken:
    """The host's steal time since the construction."""
    def __init__(self):
        self.stolen_ns, self.since = harness.stolen_ns(), time.monotonic()

    def share(self):
        return (harness.stolen_ns() - self.stolen_ns) / 1e9 / os.cpu_count() / (time.monotonic() - self.since)


def anew(name, function, again, meanwhile):
    """Repeat a test that failed. Return True if it finally passes. @again: number of tests that were repeated before.
    @meanwhile: a list with an element for each try that the host may still spoil."""
    tries = tries_left(again)
    if not tries:
        print(f"AGAIN {name}: too many were begun anew", flush=True)
        return False
    while tries:
        pause()
        taken = Taken()
        if run(name, function, "AGAIN") and run(name, function, "AGAIN"):
            return True
        share = taken.share()
        if share > TOOK and meanwhile:
            meanwhile.pop()
            print(f"AGAIN {name}: the host took {100 * share:.0f} % of the CPUs meanwhile", flush=True)
        else:
            tries -= 1
    print(f"AGAIN {name}: in each try, see AGAIN above", flush=True)
    return False


def last(tests):
    """Repeat tests that failed in each try, after all others. Return the number of tests that pass."""
    passed = 0
    for name, function in tests:
        good = False
        for _ in range(LAST_TRIES if len(tests) <= LAST else 0):
            pause()
            good = run(name, function, "AGAIN") and run(name, function, "AGAIN")
            if good:
                break
        if not good:
            print(f"FAIL {name}: in each try, see AGAIN above", flush=True)
        passed += good
    return passed


# --- several at a time ------------------------------------------------------------------------------

def end_with_parent():
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def lane(tests, todo, done, deadline):
    """
    Take numbers of tests from one pipe until there are none left, and write those that passed to the other, with LEFT_OUT
    added for tests that did not begin before the deadline.
    """
    harness.become_subreaper()
    end_with_parent()
    status = 1
    try:
        while True:
            number = os.read(todo, NUMBER)
            if not number:
                break
            if time.monotonic() > deadline:
                os.write(done, (int.from_bytes(number, "little") | LEFT_OUT).to_bytes(NUMBER, "little"))
            elif run(*tests[int.from_bytes(number, "little")], "AGAIN"):
                os.write(done, number)
        status = 0 if left_behind() is None else 1
    except SystemExit:
        pass
    finally:
        # This process must never continue as a second runner.
        os._exit(status)


NUMBER = 2  # bytes
LEFT_OUT = 0x8000


def run_lanes(tests, deadline):
    """Run tests in lanes. Return the numbers of the tests that passed, the numbers of those that did not begin before the
    deadline, and whether every lane ended normally and left nothing behind."""
    todo, todo_in = os.pipe()
    done_out, done = os.pipe()
    os.write(todo_in, b"".join(n.to_bytes(NUMBER, "little") for n in range(len(tests))))
    os.close(todo_in)
    lanes = []
    sys.stdout.flush()
    try:
        for _ in range(LANES):
            pid = os.fork()
            if not pid:
                os.close(done_out)
                lane(tests, todo, done, deadline)
            lanes.append(pid)
        os.close(todo)
        os.close(done)
        with open(done_out, "rb") as f:
            passed = f.read()
        good = True
        while lanes:
            status = os.waitstatus_to_exitcode(os.waitpid(lanes[0], 0)[1])
            lanes.pop(0)
            good = good and status == 0
            if status < 0:
                print(f"FAIL a lane: ended by signal {-status}", flush=True)
    finally:
        # No lane is left here, unless this process is being terminated.
        for pid in lanes:
            os.kill(pid, signal.SIGTERM)
        for pid in lanes:
            os.waitpid(pid, 0)
    numbers = {int.from_bytes(passed[i:i + NUMBER], "little") for i in range(0, len(passed), NUMBER)}
    return {n for n in numbers if n < LEFT_OUT}, {n - LEFT_OUT for n in numbers if n >= LEFT_OUT}, good


def left_behind():
    """Return None, or a sentence about what is left."""
    try:
        harness.wait_for("the last guard ends", lambda: not harness.living(), 10)
    except harness.Failure as e:
        print(f"FAIL left behind: {e}", flush=True)
        return e
    return None


def go_first():
    """Get priority over other programs, because the tests compare times."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -5)
    except OSError:
        pass


def wait_until_quiet(pid):
    while (harness.stat_of(pid) or "Z")[0] != "Z":
        time.sleep(0.5)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-l", action="store_true", dest="names_only")
    parser.add_argument("--quiet-after", type=int, metavar="PID")
    parser.add_argument("--seconds", type=float, default=float("inf"), metavar="N")
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    arguments = parser.parse_args()
    tests = collect(arguments.patterns)
    if arguments.names_only:
        for name, _ in tests:
            print(name)
        return 0
    if os.geteuid() != 0:
        sys.exit("run.py: root is needed")
    if not os.access(harness.SBT, os.X_OK):
        sys.exit("run.py: build/sbt-trace is not there; run make")
    harness.become_subreaper()
    # A background job of a shell ignores these signals, and processes that inherit this ignore them, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    # On a signal, the running test still cleans up.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    passed = failed = again = left_out = 0
    bad_ones = []
    meanwhile = [None] * MEANWHILE
    quick = arguments.seconds != float("inf")
    deadline = time.monotonic() + arguments.seconds
    for company in (harness.ANY, harness.ONE):
        some = [t for t in tests if harness.company(t[1]) == company]
        if company == harness.ONE:
            if arguments.quiet_after:
                wait_until_quiet(arguments.quiet_after)
            go_first()
        good_ones, left_ones, good = run_lanes(some, deadline) if some else (set(), set(), True)
        passed += len(good_ones)
        failed += not good
        left_out += len(left_ones)
        bad_ones += [t for n, t in enumerate(some) if n not in good_ones | left_ones]
    late = []
    def once_more(name, function):
        if not quick:
            return anew(name, function, again, meanwhile)
        if time.monotonic() <= deadline:
            return run(name, function)
        print(f"FAIL {name}: not run again, as {arguments.seconds:.0f} s were over", flush=True)
        return False

    for name, function in bad_ones:
        good = once_more(name, function)
        again += 1
        passed += good
        if not good:
            late.append((name, function))
    for name, function in [t for t in tests if harness.company(t[1]) == harness.NONE]:
        if time.monotonic() > deadline:
            left_out += 1
            continue
        good = run(name, function, "AGAIN")
        if not good:
            good = once_more(name, function)
            again += 1
        passed += good
        if not good:
            late.append((name, function))
    good = 0 if quick else last(late)
    passed += good
    failed += len(late) - good
    failed += left_behind() is not None
    if left_out:
        print(f"{left_out} left out: {arguments.seconds:.0f} s were over")
    if again:
        print(f"{again} failed once, see AGAIN above")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
