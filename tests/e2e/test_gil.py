# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Waits for the GIL of Python as a cause of lateness: the time, the thread that held it, and the function and line in which it did
so, compared with what the programs measure themselves."""

import json
import os
import re
import time

from harness import Skip, alone, check, check_equal, check_in, read_text, short_of_cpu
from test_python import SYSTEM, installed_pythons, other_pythons, script

PAIRED = True

GIL = "gil"
CPU = "no cpu"

# Each program has the threads of HEAD. In each round, one thread does work() in a way that lets the GIL go many times; the others
# sleep once. `lost` is the time by which the calls took longer than they need, by tid.
HEAD = """
import collections, json, sys, threading, time, zlib
rounds, n, stop = int(sys.argv[1]), 3, False
barrier = threading.Barrier(n)
lost, holder = collections.Counter(), [0]
def nap(seconds):
    began = time.monotonic()
    time.sleep(seconds)
    lost[threading.get_native_id()] += time.monotonic() - began - seconds
"""

TAIL = """
threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
[t.start() for t in threads]
[t.join() for t in threads]
stop = True
json.dump([holder[0], lost], open(sys.argv[2], "w"))
"""

# A thread that crosses no barrier computes in Python code all the time.
OUTSIDE = HEAD + """
def crunch():
    holder[0] = threading.get_native_id()
    x = 0
    while not stop:
        x = (x * 31 + 7) % 1000003
def run(i):
    for k in range(rounds):
        if k % n == i:
            for _ in range(6): nap(0.001)
        else:
            nap(0.006)
        barrier.wait()
threading.Thread(target=crunch, daemon=True).start()
""" + TAIL

# The holder stays in one call of a C function, which is longer than any interval of the GIL.
IN_C = HEAD + """
data = [(i * 7919) % 1000003 for i in range(60000)]
def crunch():
    holder[0] = threading.get_native_id()
    while not stop:
        sorted(data)
def run(i):
    for k in range(rounds):
        if i == 1:
            for _ in range(4): nap(0.001)
        else:
            nap(0.004)
        barrier.wait()
threading.Thread(target=crunch, daemon=True).start()
""" + TAIL

# A member of the barrier holds the GIL, and the late thread returns from a C function that lets it go. The function allocates
# nothing: where page faults are slow, they would be the cause.
MEMBER = HEAD + """
payload, done = bytes(i * i % 251 for i in range(5000)) * 100, -1
def crunch(steps):
    holder[0] = threading.get_native_id()
    x = 0
    for _ in range(steps):
        x = (x * 31 + 7) % 1000003
def run(i):
    global done
    for k in range(rounds):
        if i == 0:
            crunch(600000)
            done = k
        elif i == 1:
            while done < k: zlib.crc32(payload)
            for _ in range(60): zlib.crc32(payload)
        else:
            nap(0.002)
        barrier.wait()
""" + TAIL

# The GIL is free nearly all the time: the threads sleep, or wait for a lock while its holder sleeps.
FREE = HEAD + """
def run(i):
    for k in range(rounds):
        nap(0.012 if k % n == i else 0.002)
        barrier.wait()
""" + TAIL

LOCKED = HEAD + """
lock = threading.Lock()
def run(i):
    for k in range(rounds):
        if i == 0:
            with lock: nap(0.02)
        elif i == 1:
            nap(0.002)
            with lock: pass
            nap(0.002)
        barrier.wait()
""" + TAIL


def lines_of(text, function):
    """The numbers of the lines of a function."""
    lines = text.split("\n")
    first = next(i for i, line in enumerate(lines) if line.startswith(f"def {function}("))
    last = next(i for i in range(first + 1, len(lines)) if not lines[i].startswith(" "))
    return range(first + 1, last + 1)


def check_holder(what, path, text, cause, holder):
    """The holder is named with the function and a line of it."""
    found = re.match(r"the GIL, held by thread (\d+) in `crunch` at ([^:]+):(\d+)$", cause["culprit"] or "")
    check(found, f"{what}: {cause['culprit']}")
    thread, file, line = found.groups()
    check_equal(f"{what}: thread", int(thread), holder)
    check_equal(f"{what}: file", file, os.path.basename(path))
    check_in(f"{what}: line", int(line), lines_of(text, "crunch"))
    check_in(f"{what}: position in JSON", ("crunch", os.path.basename(path), True),
             [(f["function"], os.path.basename(f["file"]), f["line"] in lines_of(text, "crunch")) for f in cause["stack"]])


def held(t, what, python, text, rounds=12, ordinal=None):
    """The barrier's cause is the GIL, and its holder is right; so it is in nearly all episodes with this cause."""
    for _ in range(4):
        path, log = script(t, text), t.path()
        trace = t.trace([python, path, str(rounds), log], "-W")
        cause = trace.barrier()["cause"]
        if not short_of_cpu(cause):
            break
    else:
        raise Skip("the machine is busy: the threads waited for a CPU")
    trace.nothing_lost()
    holder, lost = json.loads(read_text(log))
    named = holder if ordinal is None else ordinal
    check_equal(f"{what}: cause", cause["dominant"], GIL)
    check_holder(what, path, text, cause, named)
    check_in(f"{what}: sentence", "it waited for the GIL, which thread", cause["text"])
    causes = [e["cause"] for e in trace.all("episode") if e["cause"] and e["cause"]["dominant"] == GIL]
    check(causes, f"{what}: in no episode")
    right = sum(bool(re.match(rf"the GIL, held by thread {named} in `crunch` at ", c["culprit"] or "")) for c in causes)
    check(right >= 0.8 * len(causes), f"{what}: {right} of {len(causes)} holders are right")
    return trace, lost


def compare(what, trace, lost):
    """What a thread's sleeps took longer than requested, it waited for the GIL or for a CPU."""
    for member in trace.barrier()["threads"]:
        late, gil = lost.get(str(member["tid"]), 0) * 1e9, member["blocked_ns"]["gil"]
        check(gil + member["runq_ns"] + member["unattributed_ns"] >= 0.8 * late - 2e6,
              f"{what}: {gil} ns for the GIL and {member['runq_ns']} for a CPU, of {late:.0f}")
        check(gil <= member["work_ns"] - member["oncpu_ns"] - member["blocked_ns"]["sleep"], f"{what}: {gil} ns")


def test_outside(t):
    """A thread that crosses no barrier holds the GIL in Python code."""
    compare("outside", *held(t, "outside", SYSTEM, OUTSIDE))


def test_in_c(t):
    """The holder is in a C function for longer than the waits for the GIL time out."""
    compare("in C", *held(t, "in C", SYSTEM, IN_C))


@alone
def test_member(t):
    """A thread of the team holds the GIL while the late thread returns from a C function."""
    held(t, "member", SYSTEM, MEMBER, ordinal=0)


def test_versions(t):
    """Other versions of Python."""
    for python in other_pythons():
        compare(python, *held(t, python, python, OUTSIDE))


@alone
def test_versions_member(t):
    """The same with a holder that is a thread of the team."""
    for python in other_pythons():
        held(t, python, python, MEMBER, rounds=8, ordinal=0)


def test_free(t):
    """Threads that wait for each other's locks, or sleep, do not wait for the GIL."""
    for name, text, dominant in (("free", FREE, "sleep"), ("locked", LOCKED, "lock")):
        for python in [SYSTEM] + installed_pythons(13):
            trace = t.trace([python, script(t, text), "20", t.path()])
            barrier = trace.barrier()
            check_in(f"{name} {python}", barrier["cause"]["dominant"], (dominant, CPU))
            gil, work = (sum(m[k]["gil"] if k == "blocked_ns" else m[k] for m in barrier["threads"])
                         for k in ("blocked_ns", "work_ns"))
            check(gil <= 0.1 * work, f"{name} {python}: {gil} of {work} ns")


# The late thread sleeps, or waits for the end of a child process.
ASLEEP = HEAD + """
import subprocess
def fetch(i, k):
    time.sleep(0.03 if k % n == i else 0.001)
def run(i):
    for k in range(rounds):
        fetch(i, k)
        barrier.wait()
""" + TAIL
CHILD = ASLEEP.replace("time.sleep(0.03 if k % n == i else 0.001)",
                       "k % n == i and subprocess.run(['sleep', '0.05'], check=True)")


def test_place(t):
    """Other waits have the Python function and line, too."""
    for python in [SYSTEM] + installed_pythons():
        for text, dominants, function in ((ASLEEP, ("sleep",), "fetch"), (CHILD, ("other", "i/o"), None)):
            path = script(t, text)
            for _ in range(4):
                cause = t.trace([python, path, "12", t.path()]).barrier()["cause"]
                if not short_of_cpu(cause):
                    break
            check_in(f"{python}: cause", cause["dominant"], dominants)
            frames = cause["stack"]
            check(frames, f"{python}: no place")
            for frame in frames:
                check(frame["file"].endswith(".py"), f"{python}: {frame}")
                if function:
                    check_equal(f"{python}: function", frame["function"], function)
                    check_in(f"{python}: line", frame["line"], lines_of(text, function))


def test_attach(t):
    """-p: the GIL is in use when tracing begins."""
    path, log = script(t, OUTSIDE), t.path()
    program = t.start([SYSTEM, path, "10000", log])
    time.sleep(0.5)
    tracer = t.attach("-p", str(program.popen.pid))
    time.sleep(2)
    trace = tracer.stop()
    # The program starts the holder first.
    holder = min({int(tid) for tid in os.listdir(f"/proc/{program.popen.pid}/task")} - {program.popen.pid})
    program.popen.kill()
    cause = trace.barrier()["cause"]
    check_equal("cause", cause["dominant"], GIL)
    check_holder("attached", path, OUTSIDE, cause, holder)


def test_forms(t):
    """A recording, the text, the Chrome trace, folded stacks and the page have the cause, too."""
    path, recording = script(t, OUTSIDE), t.path()
    t.sbt("record", "-q", "-o", recording, "--", SYSTEM, path, "9", t.path(), rc=0)
    text = t.sbt("report", "--detail", recording, rc=0).out
    check(re.search(r"it\s+waited\s+for\s+the\s+GIL,\s+which\s+thread\s+\d+\s+held\s+in\s+`crunch`\s+at\s+", text), text)
    check(re.search(r"^ +gil +[\d.]+ ", text, re.M), "no part of lateness")
    check_in("table", "for GIL", text)
    t.sbt("report", "-q", "--chrome", t.path("chrome"), "--folded", t.path("folded"), recording, rc=0)
    chrome = json.loads(read_text(t.path("chrome")))
    causes = [e["args"] for e in chrome["traceEvents"] if e.get("args", {}).get("cause") == GIL]
    check(causes, "no slice with this cause")
    check(any("crunch" in a.get("function", "") for a in causes), f"{causes[:3]}")
    check(any(a.get("blocked_gil_ns", 0) for e in chrome["traceEvents"] for a in [e.get("args", {})]), "no time")
    check_in("folded", ";blocked: GIL ", read_text(t.path("folded")))
