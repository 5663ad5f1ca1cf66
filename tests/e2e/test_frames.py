# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""The site of a barrier behind wrappers is the caller of the wrappers (--frames), and the site of a hand-written barrier is its
caller. If that cannot be determined, the report says so, and nothing is guessed."""

import os
import subprocess

from harness import SOURCES, check, check_equal, check_in, check_not_in, paired, source_lines, workload

SHARED = True

# By number of callers: the lines of wrapped.c, and the number of episodes of each.
WRAPPED = {frames: {line: episodes for mark in marks for line in source_lines("wrapped.c", f"/* HERE: {mark} */")}
           for frames, (marks, episodes) in {0: (["inner"], 50), 1: (["outer"], 50), 2: (["first", "second"], 25)}.items()}


def sites(t, frames, *flags, method="session", strip=None, key="line"):
    binary = t.path("wrap")
    subprocess.run(["gcc", "-O2", "-g", "-pthread", *flags, "-o", binary, os.path.join(SOURCES, "wrapped.c")],
                   check=True)
    if strip:
        subprocess.run(["strip", strip, binary], check=True)
    trace = t.trace([binary], "--frames", str(frames), "--attach", method).nothing_lost()
    check_equal("episodes", trace.end["episodes"], 50)
    return {b[key]: b["episodes"] for b in trace.barriers()}, trace.result.err


def test_callers_of_wrappers(t):
    keep = "-fno-omit-frame-pointer"
    for method in ("session", "perf"):
        for frames, expected in WRAPPED.items():
            found, err = sites(t, frames, keep, method=method)
            check_equal(f"sites with --frames {frames}", found, expected)
            check_not_in("stderr", "--frames", err)


def test_no_frame_pointers(t):
    # With .eh_frame, with .debug_frame, and with neither.
    for flags in (["-fomit-frame-pointer"],
                  ["-fomit-frame-pointer", "-fno-asynchronous-unwind-tables"]):
        found, err = sites(t, 2, *flags)
        check_equal(f"sites with {flags}", found, WRAPPED[2])
        check_not_in("stderr", "--frames", err)


def test_nothing_to_unwind_by(t):
    found, err = sites(t, 2, "-fomit-frame-pointer", "-fno-asynchronous-unwind-tables",
                       strip="--strip-debug")
    check_equal("sites", found, {None: 50})
    check_in("stderr", "inner in wrap has neither an unwind table", err)


def test_stripped(t):
    found, err = sites(t, 2, "-fomit-frame-pointer", strip="--strip-all", key="offset")
    check_equal("episodes of the sites", list(found.values()), [25, 25])
    check_not_in("stderr", "--frames", err)


def test_more_than_there_are(t):
    found, err = sites(t, 8, "-fno-omit-frame-pointer")
    check(sum(found.values()) == 50, found)
    check_in("stderr", "some call chains are shorter", err)


def test_wrong(t):
    for value in ("9", "-1", "x"):
        result = t.sbt("--frames", value, "--", "true", rc=2)
        check_in("stderr", "a number of callers, 0 to 8", result.err)


# --- barriers written by hand ------------------------------------------------------------------------

FLAVOURS = ("hand.c", "hand.cc", "hand_futex.c")


def lines_of(name):
    with open(os.path.join(SOURCES, name), encoding="utf-8") as f:
        return {text: n for n, line in enumerate(f, 1)
                for text in ("first", "second", "wrapper", "wait", "wake")
                if f"/* {text} */" in line}


def hand(t, name, *flags, tracer=(), strip=False, key="line"):
    binary = t.path("hand")
    subprocess.run(["g++" if name.endswith("cc") else "gcc", "-g", "-pthread", *flags, "-o",
                    binary, os.path.join(SOURCES, name)], check=True)
    if strip:
        subprocess.run(["strip", binary], check=True)
    trace = t.trace([binary], *tracer).nothing_lost()
    return trace, {b[key]: b["episodes"] for b in trace.barriers()}


def test_hand_written(t):
    """Each call of the barrier is one row, however the barrier is built, from the first episode on."""
    for name in ("hand.c", "hand.cc"):
        at = lines_of(name)
        for flags in (["-O0"], ["-O2"], ["-O2", "-static"],
                      ["-O2", "-fomit-frame-pointer", "-fno-asynchronous-unwind-tables"]):
            if name == "hand.cc" and len(flags) > 1:
                continue
            trace, found = hand(t, name, *flags)
            check_equal(f"sites of {name} with {flags}", found,
                        {at["first"]: 25, at["second"]: 25})
            for barrier in trace.barriers():
                check_equal("call sites", len(barrier["callsites"]), 1)
                check_in("through", "meet", barrier["callsites"][0]["through"])


def test_hand_written_in_a_wrapper(t):
    at = lines_of("hand.c")
    for frames, expected in ((0, {at["wrapper"]: 50}),
                             (1, {at["first"]: 25, at["second"]: 25})):
        _, found = hand(t, "hand.c", "-O2", "-DWRAPPED", tracer=("--frames", str(frames)))
        check_equal(f"sites with --frames {frames}", found, expected)


def test_hand_written_stripped(t):
    trace, found = hand(t, "hand.c", "-O2", strip=True, key="offset")
    check_equal("episodes of the sites", list(found.values()), [25, 25])
    for barrier in trace.barriers():
        check_equal("call sites", len(barrier["callsites"]), 1)


def test_hand_written_where_threads_work(t):
    """The barrier is inlined into the threads' function. The caller of that function is no call site."""
    at = lines_of("hand.c")
    for flags in ([], ["-g0"]):
        trace, found = hand(t, "hand.c", "-O2", "-DINLINED", *flags, key="offset")
        check_equal("episodes of the sites", list(found.values()), [25, 25])
        for barrier in trace.barriers():
            check_equal("through", [c["through"] for c in barrier["callsites"]], [None, None])
            if not flags:
                check_equal("lines", {c["line"] for c in barrier["callsites"]},
                            {at["wait"], at["wake"]})


def test_hand_written_on_a_futex(t):
    """The sites are found even if functions in between only wait, or only wake, or do either."""
    at = lines_of("hand_futex.c")
    for flags in ([], ["-DHELPER"], ["-DHELPERS"], ["-DHELPERS", "-O0"]):
        trace, found = hand(t, "hand_futex.c", "-O2", *flags, tracer=("--discover",))
        # An episode may be incomplete if one thread left no trace: see test_discover.py.
        check_equal(f"sites with {flags}", set(found), {at["first"], at["second"]})
        check(sum(found.values()) >= 45, found)
        for barrier in trace.barriers():
            check_equal("through", {c["through"] for c in barrier["callsites"]}, {"meet"})


def test_helpers_of_a_candidate(t):
    """If the same thread always arrives last, the barrier may remain a candidate. No hint names a function that only waits for
    its callers."""
    for helpers in ("-DHELPER", "-DHELPERS"):
        trace, _ = hand(t, "hand_futex.c", "-O2", helpers, "-DLATE=(size_t)arg == 7 ? 4000 : 300", tracer=("--discover",))
        check_not_in(f"stderr with {helpers}", "-b futex", trace.result.err)
        if "on a futex. This is a candidate" in trace.result.err:
            check_in(f"stderr with {helpers}", "the function that contains both its wait and its wake-up", trace.result.err)


@paired
def test_splash_by_hand(t):
    """Programs modelled on SPLASH-2 have the same sites, with the same episodes, as with pthread_barrier_wait."""
    for name in ("lu3", "radix", "ocean", "water"):
        found = {}
        for variant in ("pthread", "cond"):
            trace = t.trace([workload(f"{name}-{variant}")]).nothing_lost()
            found[variant] = {(b["function"], os.path.basename(b["file"]), b["line"]):
                              b["episodes"] for b in trace.barriers()}
        check(len(found["pthread"]) >= 4, found)
        check_equal(f"sites of {name}", found["cond"], found["pthread"])
