#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Runs the end-to-end tests: needs root, build/sbt-trace and build/workloads.

    run.py [-l] [PATTERN...]    all tests, or those whose name contains a PATTERN; -l lists them

One line a test, and a last line "N passed, N failed".

These tests hold a tracer against real schedulers and clocks, on machines that others use too. A test that fails is
therefore run again, and has passed if it does so twice in a row; the first failure is printed all the same, and counted
in the line before the last. More than AGAIN of them in one run, one in a hundred, is no accident, and stays a failure.
In a guest whose host is so busy that switches take several times what they do elsewhere DISTURBED may need that, and a
test may begin its two once more."""

import glob
import importlib
import os
import signal
import sys
import time
import traceback

import harness

SECONDS = 90  # for one test
AGAIN = 6  # tests that may need a second try in one run
DISTURBED = 20
PAUSE = 5  # seconds before it: what disturbs a machine comes in bursts


def collect(patterns):
    tests = []
    for path in sorted(glob.glob(os.path.join(harness.HERE, "test_*.py"))):
        name = os.path.splitext(os.path.basename(path))[0]
        module = importlib.import_module(name)
        for key, function in vars(module).items():
            if key.startswith("test_") and callable(function) and \
                    getattr(function, "__module__", name) in (name, "harness"):
                tests.append((f"{name[5:]}.{key[5:]}", function))
    return [(n, f) for n, f in tests if not patterns or any(p in n for p in patterns)]


def out_of_time(*_):
    raise harness.OutOfTime(f"not done after {SECONDS} s")


def where(error):
    """The line of the test that failed."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        name = os.path.basename(frame.filename)
        if name.startswith("test_"):
            return f" [{name}:{frame.lineno}]"
    return ""


def run(name, function, verdict="FAIL"):
    """True if the test passed or was skipped."""
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
    """How often a test that fails may begin anew, after so many that did."""
    if again < DISTURBED and harness.switch_ns() > harness.CALM_NS:
        return 2
    return 1 if again < AGAIN else 0


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["-h"] or arguments[:1] == ["--help"]:
        print(__doc__)
        return 0
    names_only = "-l" in arguments
    tests = collect([a for a in arguments if a != "-l"])
    if names_only:
        for name, _ in tests:
            print(name)
        return 0
    if os.geteuid() != 0:
        sys.exit("run.py: root is needed")
    if not os.access(harness.SBT, os.X_OK):
        sys.exit("run.py: build/sbt-trace is not there; run make")
    try:
        # What others build or run meanwhile waits: the tests' programs have their times to keep.
        os.setpriority(os.PRIO_PROCESS, 0, -5)
    except OSError:
        pass
    harness.become_subreaper()
    # The test that is running cleans up all the same.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    passed = failed = again = 0
    for name, function in tests:
        tries = tries_left(again)
        good = run(name, function, "AGAIN" if tries else "FAIL")
        again += not good and tries > 0
        while not good and tries:
            tries -= 1
            time.sleep(PAUSE)
            verdict = "AGAIN" if tries else "FAIL"
            good = run(name, function, verdict) and run(name, function, verdict)
        passed += good
        failed += not good
    try:
        harness.wait_for("the last guard ends", lambda: not harness.living(), 10)
    except harness.Failure as e:
        print(f"FAIL left behind: {e}")
        failed += 1
    if again:
        print(f"{again} failed once, see AGAIN above")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
