# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Programs of C++ with threads that wait for each other without a barrier that is traced: thread pools that count down, and
semaphores used as barriers. The report says which threads ended the waits, and where. Programs without barriers have none."""

import re

from harness import Skip, check, check_between, check_equal, check_in, check_not_in, paired, shared, workload

BUILDS = ("", "-O0")
WORKERS, ROUNDS = 3, 60
# In these ways only the last thread of a round wakes main.
LAST_WAKES = ("atomic", "flag", "cond", "last")


def longest(trace):
    """Return the activity of the thread with the most time in waits that other threads ended, and the list of these waits."""
    found = [a for a in trace.all("activity") if a["woken"]]
    check(found, "no wait was ended by another thread")
    most = max(found, key=lambda a: sum(w["wait_ns"] for w in a["woken"]))
    return most, most["woken"]


def wakers(woken):
    counts = {}
    for w in woken:
        check_equal("the waits are those of the threads", sum(b["waits"] for b in w["by"]), w["waits"])
        check_between("and so is their time", sum(b["wait_ns"] for b in w["by"]), w["wait_ns"] * 0.999, w["wait_ns"] * 1.001)
        for b in w["by"]:
            counts[b["tid"]] = counts.get(b["tid"], 0) + b["waits"]
    return counts


def main_of(trace):
    """Return the activity of the first thread."""
    (main,) = [a for a in trace.all("activity") if a["tid"] == a["pid"]]
    return main


def against_account(t, build, way):
    """Return whether everything could be checked."""
    return any(once_against_account(t, build, way) for _ in range(4))


def once_against_account(t, build, way):
    """Return whether main slept often enough to check everything."""
    trace = t.trace([workload("count_pool" + build), way]).nothing_lost()
    said = f"count_pool{build} {way}"
    told = {int(tid): int(n) for tid, n in re.findall(r"thread (\d+) last (\d+)", trace.result.out)}
    main = main_of(trace)
    counts = wakers(main["woken"])
    check_equal(f"{said}: barriers", trace.barriers(), [])
    slept, waited = (int(n) for n in re.search(r"slept=(\d+) waited=(\d+)", trace.result.out).groups())
    # `waited` includes the time until main has a CPU again.
    check_between(f"{said}: time", sum(w["wait_ns"] for w in main["woken"]), 0, 1.01 * waited + 1e6)
    if way in LAST_WAKES:
        for tid, n in counts.items():
            check(n <= told.get(tid, 0) + 2, f"{said}: thread {tid} ended {n} waits, but was last {told.get(tid, 0)} times")
        check_between(f"{said}: waits", sum(counts.values()), 0.9 * slept - 2, slept + 2)
    if slept < ROUNDS / 2:
        return False
    check_between(f"{said}: time", sum(w["wait_ns"] for w in main["woken"]), 0.3 * waited, 1.01 * waited + 1e6)
    # A thread that was never last can wake main too: where each thread does, and when main waits for the mutex.
    check_between(f"{said}: threads that end main's waits", len(counts), 1, WORKERS)
    check({tid for tid, n in told.items() if n > 2} <= set(counts), f"{said}: threads that end waits: {told} and {counts}")
    # With optimisation, wait_for_all() leaves the stack by a tail call in some ways.
    check_in(f"{said}: place", "wait_for_all" if build or way == "cond" else "", main["woken"][0]["function"])
    check_in(f"{said}: file", "count_pool.cc", main["woken"][0]["file"])
    check_between(f"{said}: threads that wait for main", main["partners"], 2, WORKERS)
    return True


@paired
def test_counted_down(t):
    """For each wait of the creator, the thread that was last is named, as in the program's own account."""
    done = [against_account(t, build, way) for build in BUILDS for way in (*LAST_WAKES, "each", "futures")]
    if not any(done):
        raise Skip("the machine is busy: main's threads were ready before it slept")


@shared
def test_counted_down_text(t):
    text = t.text([workload("count_pool"), "cond"])
    words = " ".join(text.split())
    check_in("the text", "in wait_for_all(", words)
    check_in("the text", "until another thread woke it: ", words)
    check_equal("what it may mean is printed once", words.count("wait for it in turn. If this is a thread pool"), 1)


@paired
def test_counted_down_attached(t):
    """The same for a pool that runs already."""
    for way in ("atomic", "cond", "each"):
        process = t.start([workload("count_pool"), way, "100000"])
        trace = t.attach("-p", str(process.pid), "-d", "1").end().nothing_lost()
        main = main_of(trace)
        check_between(f"{way}: threads that wait for main", main["partners"], 2, WORKERS)
        check_equal(f"{way}: threads that end its waits", len(wakers(main["woken"])), WORKERS)
        check_equal(f"{way}: barriers", trace.barriers(), [])
        process.popen.terminate()


@paired
def test_semaphores(t):
    """Semaphores that are used as a barrier: the threads and the place are named."""
    for build in BUILDS:
        for way in ("two", "turnstile", "preloaded", "leader", "own"):
            trace = t.trace([workload("sem_meet" + build), way]).nothing_lost()
            said = f"sem_meet{build} {way}"
            check_in("stdout", f"rounds={ROUNDS}", trace.result.out)
            check_equal(f"{said}: barriers", [b for b in trace.barriers() if b["family"] != "forkjoin"], [])
            activity, woken = longest(trace)
            check_in(f"{said}: file", "sem_meet.cc", woken[0]["file"])
            if build:
                check_in(f"{said}: function", f"meet_{way}", woken[0]["function"])
            # On a busy machine, few threads sleep.
            if sum(w["waits"] for w in woken) >= ROUNDS / 2:
                check(max(a["partners"] for a in trace.all("activity")) >= 2, f"{said}: {activity}")


NONE = ("queue", "async", "sort", "mutex", "shared", "event", "pool", "once", "limit", "chain")


def none_in(t, build, way, *options):
    trace = t.trace([workload("no_barrier" + build), way], *options).nothing_lost()
    check_in("stdout", f"{way} ok", trace.result.out)
    # Threads that are created and joined repeatedly are rounds.
    check_equal(f"no_barrier{build} {way} {options}: barriers",
                [b["label"] for b in trace.barriers() if b["family"] != "forkjoin"], [])
    return trace


@shared
def test_no_barriers(t):
    for way in NONE:
        none_in(t, "", way)


@shared
def test_no_barriers_without_optimisation(t):
    for way in NONE:
        none_in(t, "-O0", way)


@shared
def test_no_barriers_on_futexes(t):
    """With --discover, threads that pass a turn around are taken for a barrier (model/discover.h)."""
    for way in NONE:
        if way != "chain":
            none_in(t, "", way, "--discover")


@shared
def test_locks_are_left_out(t):
    """Waits for a mutex or a read-write lock are not waits that another thread ended."""
    for way in ("mutex", "shared"):
        for a in none_in(t, "", way).all("activity"):
            for w in a["woken"]:
                check_not_in(f"{way}: function", "lambda", w["function"] or "")
                check(w["waits"] < ROUNDS / 4, f"{way}: {w}")
