# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Barriers that Python programs write with threading.Condition, compared with what the programs log; and other uses of
a condition, which are no barrier."""

import json
import os
import time

from harness import check, check_equal, read_text
from test_python import SYSTEM, check_arrivals, other_pythons, script, sites

PAIRED = True

# Three forms of a barrier. The thread that arrives last logs the round, and every thread logs when it arrives.
FORMS = """
import json, sys, threading, time
form, n, rounds, late, log = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), []
class Team:
    def __init__(self):
        self.count = self.generation = 0
        self.cond = threading.Condition()
    def meet(self):
        with self.cond:
            generation = self.generation
            self.count += 1
            if self.count < n:
                while generation == self.generation:
                    self.cond.wait()
                return False
            self.count = 0
            self.generation += 1
            self.cond.notify_all()
            return True
team = Team()
def meet_for():
    with team.cond:
        generation = team.generation
        team.count += 1
        if team.count == n:
            team.count = 0
            team.generation = generation + 1
            team.cond.notify_all()
            return True
        team.cond.wait_for(lambda: team.generation != generation)
        return False
def work(i):
    tid = threading.get_native_id()
    for k in range(rounds):
        time.sleep(0.03 if (k % n if late < 0 else late) == i else 0.002)
        arrived = time.monotonic()
        if form == "method":
            last = team.meet() # called
        elif form == "for":
            last = meet_for() # called for
        else:
            with team.cond:
                generation = team.generation
                team.count += 1
                last = team.count == n
                if last:
                    team.count = 0
                    team.generation += 1
                    team.cond.notify_all() # inline
                while generation == team.generation:
                    team.cond.wait() # inline
        log.append((k, tid, arrived, last))
threads = [threading.Thread(target=work, args=(i,)) for i in range(n)]
[t.start() for t in threads]
[t.join() for t in threads]
json.dump(log, open(sys.argv[5], "w"))
"""
LINES = {form: {i for i, line in enumerate(FORMS.split("\n"), 1) if line.endswith(mark)}
         for form, mark in (("method", "# called"), ("for", "# called for"), ("inline", "# inline"))}

# Other uses of a condition. `exchange`, `turn` and `lock` wait and notify in one function, as a barrier does.
WITHOUT = """
import collections, sys, threading, time
kind, n, cond, items = sys.argv[1], int(sys.argv[2]), threading.Condition(), collections.deque()
turn, locked = 0, False
def by_turn(i):
    global turn
    with cond:
        while turn != i: cond.wait()
        time.sleep(0.001)
        turn = (turn + 1) % n
        cond.notify_all()
def by_lock(i):
    global locked
    with cond:
        while locked: cond.wait()
        locked = True
    time.sleep(0.001)
    with cond:
        locked = False
        cond.notify_all()
def by_lock_for(i):
    global locked
    with cond:
        cond.wait_for(lambda: not locked)
        locked = True
    time.sleep(0.001)
    with cond:
        locked = False
        cond.notify_all()
def by_exchange(i):
    for _ in range(1 if i else n - 1):
        with cond:
            while (not items) if i else len(items) > 2: cond.wait()
            items.popleft() if i else items.append(i)
            cond.notify_all()
def by_queue(i):
    if i:
        with cond:
            while not items: cond.wait()
            return items.popleft()
    for _ in range(n - 1): put()
def put():
    time.sleep(0.001)
    with cond:
        items.append(1)
        cond.notify_all()
def work(i):
    for k in range(50): globals()["by_" + kind](i)
threads = [threading.Thread(target=work, args=(i,)) for i in range(n)]
[t.start() for t in threads]
[t.join() for t in threads]
"""


def compare(t, python, form, n, late, rounds=14):
    """All episodes, each with all threads and the right last arriver, and with arrivals near the program's own."""
    path, log = script(t, FORMS), t.path()
    trace = t.trace([python, path, form, str(n), str(rounds), str(late), log], "-W").nothing_lost()
    what = f"{python}, {form}, late {late}"
    truth = {}
    for k, tid, arrived, last in json.loads(read_text(log)):
        truth.setdefault(k, {})[tid] = (arrived, last)
    (barrier,) = trace.barriers()
    check_equal(f"{what}: family", barrier["family"], "python-condition")
    check_equal(f"{what}: call sites", sites(barrier), {(os.path.basename(path), "work", k) for k in LINES[form]})
    episodes = trace.all("episode")
    check_equal(f"{what}: episodes", len(episodes), rounds)
    for k, e in enumerate(episodes):
        check_equal(f"{what}: episode {k}", (e["state"], {x["tid"] for x in e["threads"]}), ("complete", set(truth[k])))
        last = max(e["threads"], key=lambda x: x["order"])
        check_equal(f"{what}: last arriver of episode {k}", truth[k][last["tid"]][1], True)
    check_arrivals(what, trace, episodes, [{tid: own[0] for tid, own in truth[k].items()} for k in range(rounds)])


def test_forms(t):
    for form in LINES:
        compare(t, SYSTEM, form, 4, -1)


def test_same_thread_late(t):
    """The last arriver is always the same thread. The form in line is then like a thread that starts the others."""
    for form in ("method", "for"):
        compare(t, SYSTEM, form, 3, 1)


def test_versions(t):
    for python in other_pythons(9, 10, 12, 13):
        compare(t, python, "method", 3, -1, 8)
        compare(t, python, "for", 3, 0, 8)


def test_none(t):
    """Threads that take turns, locks and queues are no barrier."""
    path = script(t, WITHOUT)
    for kind in ("turn", "lock", "lock_for", "exchange", "queue"):
        for n in (3, 5):
            check_equal(f"{kind}, {n} threads", t.trace([SYSTEM, path, kind, str(n)]).barriers(), [])


def test_none_in_other_versions(t):
    path = script(t, WITHOUT)
    for python in other_pythons(9, 10, 12, 13):
        for kind in ("turn", "lock_for"):
            check_equal(f"{python}: {kind}", t.trace([python, path, kind, "4"]).barriers(), [])


def test_attach(t):
    path, log = script(t, FORMS), t.path()
    program = t.start([SYSTEM, path, "method", "3", "300", "-1", log])
    time.sleep(0.3)
    tracer = t.attach("-p", str(program.pid))
    time.sleep(2)
    trace = tracer.stop()
    program.popen.kill()
    (barrier,) = trace.barriers()
    check_equal("call site", sites(barrier), {(os.path.basename(path), "work", k) for k in LINES["method"]})
    check(barrier["episodes"] > 5, f"{barrier['episodes']} episodes")


def test_balanced(t):
    """All threads arrive at nearly the same time: some are woken before they sleep."""
    path = script(t, """
import sys, threading, time
n, barrier = int(sys.argv[1]), None
class Team:
    def __init__(self):
        self.count, self.generation, self.cond = 0, 0, threading.Condition()
    def wait(self):
        with self.cond:
            generation = self.generation
            self.count += 1
            if self.count == n:
                self.count = 0
                self.generation += 1
                self.cond.notify_all()
            else:
                while generation == self.generation: self.cond.wait()
barrier = Team() if sys.argv[2] == "condition" else threading.Barrier(n)
def work():
    for k in range(60):
        time.sleep(0.004)
        barrier.wait()
threads = [threading.Thread(target=work) for i in range(n)]
[t.start() for t in threads]
[t.join() for t in threads]
""")
    for n in (3, 6):
        for kind in ("condition", "barrier"):
            (barrier,) = t.trace([SYSTEM, path, str(n), kind], "-W").barriers()
            # If a barrier opens before any of its threads has begun to sleep, the episode is not seen.
            check(barrier["episodes"] >= 57 and barrier["incomplete"] <= 3,
                  f"{n} threads, {kind}: {barrier['episodes']} episodes, {barrier['incomplete']} incomplete")
