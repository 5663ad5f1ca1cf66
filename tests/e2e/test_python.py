# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Barriers of Python's library, compared with what the programs log. Other versions of Python than that of the system
are tested where they are installed."""

import glob
import json
import os
import statistics
import time

from harness import Skip, Trace, check, check_between, check_equal, check_in, read_text

PAIRED = True

SYSTEM = "/usr/bin/python3"

# Each thread logs its number, the time of its arrival, and what Barrier.wait() returned: of N threads, the last gets N - 1.
BARRIER = """
import json, sys, threading, time
n, rounds, log = int(sys.argv[1]), int(sys.argv[2]), []
barrier = threading.Barrier(n)
def work(i):
    tid = threading.get_native_id()
    for k in range(rounds):
        time.sleep(0.03 if k % n == i else 0.002)
        arrived = time.monotonic()
        order = (
            barrier.wait())
        log.append((k, tid, arrived, order))
threads = [threading.Thread(target=work, args=(i,)) for i in range(n)]
[t.start() for t in threads]
[t.join() for t in threads]
json.dump(log, open(sys.argv[3], "w"))
"""
LINE = BARRIER.split("\n").index("            barrier.wait())") + 1

# Programs without a barrier.
WITHOUT = {
    "flag": """
import threading, time
stop, ready = threading.Event(), threading.Event()
def tick():
    ready.set()
    while not stop.wait(0.004): pass
for k in range(6):
    ready.clear(), stop.clear()
    t = threading.Thread(target=tick)
    t.start()
    ready.wait()
    time.sleep(0.02)
    stop.set()
    t.join()
""",
    "consumer": """
import threading, time
full, empty = threading.Event(), threading.Event()
def consume():
    for k in range(30):
        full.wait()
        full.clear()
        time.sleep(0.002)
        empty.set()
t = threading.Thread(target=consume)
t.start()
for k in range(30):
    time.sleep(0.001)
    full.set()
    empty.wait()
    empty.clear()
t.join()
""",
    "flags": """
import threading, time
flags = [threading.Event() for _ in range(4)]
def work(i):
    for k in range(10):
        flags[i].wait()
        flags[i].clear()
        flags[(i + 1) % 4].set()
t = [threading.Thread(target=work, args=(i,)) for i in range(4)]
[x.start() for x in t]
time.sleep(0.01)
flags[0].set()
[x.join() for x in t]
""",
    "producers": """
import queue, threading
q = queue.Queue(8)
def consume():
    while q.get() is not None: pass
c = [threading.Thread(target=consume) for _ in range(4)]
[t.start() for t in c]
for i in range(500): q.put(i)
for t in c: q.put(None)
[t.join() for t in c]
""",
    "executor": """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as e:
    for k in range(20): list(e.map(lambda x: sum(range(1000)), range(8)))
""",
    "gil": """
import threading
def burn(): sum(i * i for i in range(200000))
for k in range(3):
    t = [threading.Thread(target=burn) for _ in range(1)]
    [x.start() for x in t]
    burn()
    [x.join() for x in t]
""",
    "asyncio": """
import asyncio
async def one(e):
    await e.wait()
async def main():
    for k in range(20):
        e = asyncio.Event()
        t = [asyncio.create_task(one(e)) for _ in range(4)]
        await asyncio.sleep(0.001)
        e.set()
        for x in t: await x
    for _ in range(8): await asyncio.to_thread(sum, range(1000))
asyncio.run(main())
""",
    "semaphore": """
import threading
s, r = threading.Semaphore(2), threading.RLock()
def work():
    for k in range(50):
        with s, r: sum(range(100))
t = [threading.Thread(target=work) for _ in range(4)]
[x.start() for x in t]
[x.join() for x in t]
""",
}


def script(t, text):
    path = t.path() + ".py"
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    return path


def installed_pythons(*minors):
    """Other versions of Python that are installed, if any: one program of each of the minor versions."""
    return [p for v in minors or (9, 10, 11, 12, 13) for p in glob.glob(f"/root/.pyenv/versions/3.{v}.*/bin/python3.{v}")]


def other_pythons(*minors):
    """The same for tests that have no subject without them."""
    found = installed_pythons(*minors)
    if not found:
        raise Skip("no other Python")
    return found


def check_arrivals(what, trace, episodes, arrived):
    """Arrivals are near the program's own times: a thread then takes the lock of the condition and the GIL, for which it may
    have to wait. @arrived: for each episode, tid -> s."""
    start = trace.session["clock_start_ns"]
    threads = [(x, own[x["tid"]]) for e, own in zip(episodes, arrived) for x in e["threads"]]
    late = [(start + x["arrive_ns"]) / 1e9 - own for x, own in threads]
    left = [(start + x["depart_ns"]) / 1e9 - own for x, own in threads]
    check_between(f"{what}: earliest arrival", min(late), -0.001, 0.5)
    check_between(f"{what}: median of the delays of arrivals", statistics.median(late), 0, 0.4 * statistics.median(left))


def sites(barrier):
    return {(os.path.basename(s["file"] or ""), s["function"], s["line"]) for s in barrier["callsites"]}


def compare(t, python, n=4, rounds=12):
    """Every episode has all threads, the right last arriver, and arrivals near the program's own times."""
    path, log = script(t, BARRIER), t.path()
    trace = t.trace([python, path, str(n), str(rounds), log], "-W")
    trace.nothing_lost()
    truth = {}
    for k, tid, arrived, order in json.loads(read_text(log)):
        truth.setdefault(k, {})[tid] = (arrived, order)
    (barrier,) = trace.barriers()
    check_equal(f"{python}: family", barrier["family"], "python")
    check_equal(f"{python}: call site", sites(barrier), {(os.path.basename(path), "work", LINE)})
    episodes = trace.all("episode")
    check_equal(f"{python}: episodes", len(episodes), rounds)
    for k, e in enumerate(episodes):
        check_equal(f"{python}: episode {k}", (e["state"], {x["tid"] for x in e["threads"]}),
                    ("complete", set(truth[k])))
        last = max(e["threads"], key=lambda x: x["order"])
        check_equal(f"{python}: last arriver of episode {k}", truth[k][last["tid"]][1], n - 1)
        # The order of the other threads is that in which they took the lock of the barrier's condition.
        check(last["arrive_ns"] >= max(x["arrive_ns"] for x in e["threads"]), "the last arriver arrives last")
    check_arrivals(python, trace, episodes, [{tid: own[0] for tid, own in truth[k].items()} for k in range(rounds)])


def test_barrier(t):
    """threading.Barrier in the system's Python."""
    compare(t, SYSTEM)


def test_merged(t):
    """Recordings of several processes are one report, in which each barrier keeps its place."""
    source = script(t, """
import threading, time
barriers = [threading.Barrier(2), threading.Barrier(2)]
def first(): barriers[0].wait()
def second(): barriers[1].wait()
def run(i):
    for _ in range(6):
        time.sleep(0.002 * (i + 1))
        first()
        second()
threads = [threading.Thread(target=run, args=(i,)) for i in range(2)]
[t.start() for t in threads]
[t.join() for t in threads]
""")
    files, out = [t.path("a"), t.path("b")], t.path("json")
    for path in files:
        t.sbt("record", "-q", "-o", path, "--", SYSTEM, source, rc=0)
    t.sbt("report", "--json", "-o", out, *files, rc=0)
    barriers = Trace(t, out).all("barrier")
    check_equal("functions", sorted(b["function"] for b in barriers), ["first", "first", "second", "second"])
    # A last arriver that releases a thread before that thread sleeps wakes none, and is not seen.
    for b in barriers:
        check_between("complete episodes", b["episodes"], 1, 6)
        check_between("episodes", b["episodes"] + b["incomplete"], 5, 6)


def test_functions_in_turn(t):
    """A function that was made at the address of one that is gone has its own name, also if only its class differs."""
    source = script(t, """
import sys, threading, time
barrier = threading.Barrier(2)
code, name = sys.argv[1:3]
def run(i):
    for k in range(12):
        names = {"barrier": barrier, "time": time}
        exec(compile(code % (k, 0.002 * (i + 1)), "made.py", "exec"), names)
        made = names.pop(name % k)
        (made if name.islower() else made.wait)()
        del made
threads = [threading.Thread(target=run, args=(i,)) for i in range(2)]
[t.start() for t in threads]
[t.join() for t in threads]
""")
    for code, name, function in (("def wait_%02d():\n    time.sleep(%f)\n    barrier.wait()\n", "wait_%02d", "wait_%02d"),
                                 ("class C_%02d:\n  def wait():\n    time.sleep(%f)\n    barrier.wait()\n", "C_%02d",
                                  "C_%02d.wait")):
        barriers = t.trace([SYSTEM, source, code, name]).barriers()
        check_equal("functions", sorted(b["function"] for b in barriers), [function % k for k in range(12)])


def test_many(t):
    """Many threads: some are delayed after they have given the GIL away, and before they sleep."""
    path = script(t, """
import threading, time
barrier = threading.Barrier(200)
def work(i):
    for k in range(3):
        time.sleep(0.01 + 0.0001 * i)
        barrier.wait()
threads = [threading.Thread(target=work, args=(i,)) for i in range(200)]
[t.start() for t in threads]
[t.join() for t in threads]
""")
    (barrier,) = t.trace([SYSTEM, path]).barriers()
    check_equal("episodes, incomplete, crossings, participants",
                (barrier["episodes"], barrier["incomplete"], barrier["crossings"], barrier["participants"]),
                (3, 0, 600, 200))


def test_versions(t):
    """threading.Barrier in other versions of Python."""
    for python in other_pythons():
        compare(t, python, 3, 6)


def test_join(t):
    """Queue.join() and concurrent.futures.wait(): the thread that finishes the last item ends the wait."""
    path = script(t, """
import queue, threading, time
from concurrent.futures import ThreadPoolExecutor, wait
q = queue.Queue()
def work():
    while True:
        item = q.get()
        if item is None: break
        time.sleep(0.004 * item)
        q.task_done()
threads = [threading.Thread(target=work) for _ in range(3)]
[t.start() for t in threads]
for k in range(6):
    for i in range(3): q.put(i + 1)
    q.join()
for t in threads: q.put(None)
[t.join() for t in threads]
with ThreadPoolExecutor(3) as e:
    for k in range(5): wait([e.submit(time.sleep, 0.004 * (i + 1)) for i in range(3)])
""")
    trace = t.trace([SYSTEM, path])
    found = {frozenset(sites(b)): b["episodes"] for b in trace.barriers()}
    name = os.path.basename(path)
    check_equal("queue", [n for f, n in found.items() if (name, "work", 10) in f and (name, "<module>", 15) in f], [6])
    check_equal("futures", [n for f, n in found.items() if (name, "<module>", 19) in f], [5])


def test_event(t):
    """threading.Event: the thread that sets it arrives last. Waits that end by a timeout are no crossings."""
    path = script(t, """
import threading, time
events = [threading.Event() for _ in range(8)]
def work():
    for e in events:
        while not e.wait(0.003): pass
        time.sleep(0.001)
threads = [threading.Thread(target=work) for _ in range(3)]
[t.start() for t in threads]
for e in events:
    time.sleep(0.02)
    e.set()
[t.join() for t in threads]
""")
    (barrier,) = t.trace([SYSTEM, path]).barriers()
    name = os.path.basename(path)
    check_equal("call sites", sites(barrier), {(name, "work", 6), (name, "<module>", 12)})
    check_equal("incomplete", barrier["incomplete"], 0)
    check(1 <= barrier["episodes"] <= 8, f"{barrier['episodes']} episodes")
    check_equal("last arriver", barrier["last_tid"], barrier["pid"])


def test_processes(t):
    """multiprocessing.Barrier: one barrier, of several processes."""
    path = script(t, """
import multiprocessing, time
def work(barrier, i):
    time.sleep(0.2)
    for k in range(8):
        time.sleep(0.02 if k % 3 == i else 0.002)
        barrier.wait()
if __name__ == "__main__":
    barrier = multiprocessing.Barrier(3)
    p = [multiprocessing.Process(target=work, args=(barrier, i)) for i in range(3)]
    [x.start() for x in p]
    [x.join() for x in p]
""")
    (barrier,) = t.trace([SYSTEM, path]).barriers()
    check_equal("call site", sites(barrier), {(os.path.basename(path), "work", 7)})
    check_equal("shared", barrier["shared"], True)
    check(barrier["episodes"] >= 6, f"{barrier['episodes']} of 8 episodes")


def test_pool(t):
    """Pool.map(): the main thread waits for the thread that handles the results."""
    path = script(t, """
import multiprocessing, time
if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        for k in range(5): pool.map(time.sleep, [0.01, 0.02], chunksize=1)
""")
    (barrier,) = t.trace([SYSTEM, path]).barriers()
    check_in("call site", (os.path.basename(path), "<module>", 5), sites(barrier))
    check_equal("episodes", barrier["episodes"], 5)


def test_none(t):
    """Programs without a barrier."""
    for name, text in WITHOUT.items():
        check_equal(name, t.trace([SYSTEM, script(t, text)]).barriers(), [])


def test_all_events(t):
    """With -a and --discover, beside a Python program, sbt-trace uses every scheduler event that it knows. At its end it removes
    all of their programs."""
    path, log = script(t, BARRIER), t.path()
    tracer = t.attach("-a", "--discover", "--duration", "60")
    program = t.start([SYSTEM, path, "3", "60", log])
    check_equal("its status", program.wait(60).rc, 0)
    trace = tracer.stop()
    families = {b["family"] for b in trace.barriers(pid=program.pid)}
    check("python" in families, f"families: {families}")


def test_attach(t):
    """-p: a program with threads that already cross barriers."""
    path, log = script(t, BARRIER), t.path()
    program = t.start([SYSTEM, path, "3", "200", log])
    time.sleep(0.3)
    tracer = t.attach("-p", str(program.pid))
    time.sleep(1.5)
    trace = tracer.stop()
    program.popen.kill()
    (barrier,) = trace.barriers()
    check_equal("call site", sites(barrier), {(os.path.basename(path), "work", LINE)})
    check(barrier["episodes"] > 5, f"{barrier['episodes']} episodes")


# The last thread does not arrive: it waits for a lock or for input, or computes, in a function of its own.
HUNG = """
import os, sys, threading, time
barrier, lock, pipe = threading.Barrier(3), threading.Lock(), os.pipe()
def by_lock():
    lock.acquire()
def by_read():
    os.read(pipe[0], 1)
def by_loop():
    x = 0
    while True: x = (x * 31 + 7) % 1000003
def work(i):
    for k in range(100):
        time.sleep(0.01)
        if i == 2 and k == 80: globals()[sys.argv[1]]()
        barrier.wait()
lock.acquire()
threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]
"""


def functions_of(thread, path):
    """The program's functions on a thread's stack, innermost first, with their lines."""
    return [(f["function"], f["line"]) for f in thread["stack"] if os.path.basename(f["file"] or "") == os.path.basename(path)]


def line_with(text):
    return next(i for i, line in enumerate(HUNG.split("\n"), 1) if text in line)


def check_stuck(what, thread, path, how, line):
    calls = functions_of(thread, path)
    check_equal(f"{what}: functions", [f for f, _ in calls], [how, "work"])
    check_equal(f"{what}: lines", [n for _, n in calls], [line, line_with("sys.argv[1]")])


STUCK = (("by_lock", "    lock.acquire()"), ("by_read", "os.read("), ("by_loop", "while True"))


def test_hang(t):
    """The stacks that `hang` shows have the Python functions and lines."""
    for python in [SYSTEM] + installed_pythons(9, 12, 13):
        for how, text in STUCK if python == SYSTEM else STUCK[:1]:
            path = script(t, HUNG)
            program = t.start([python, path, how])
            time.sleep(3)
            out = t.sbt("hang", "--json", "-p", str(program.popen.pid), rc=0).out
            program.popen.kill()
            threads = [json.loads(line) for line in out.splitlines() if '"type":"thread"' in line]
            (stuck,) = [x for x in threads if how in [f for f, _ in functions_of(x, path)]]
            check_stuck(f"{python} {how}", stuck, path, how, line_with(text))
            waits = [x for x in threads if functions_of(x, path) == [("work", line_with("barrier.wait"))]]
            check_equal(f"{python} {how}: threads at the barrier", len(waits), 2)


def test_hang_traced(t):
    """The barrier of a hang is named by its place in Python code, and so is that of the missing thread."""
    for how, text in STUCK:
        path = script(t, HUNG)
        trace = t.attach("--hang", "1", "--", "timeout", "9", SYSTEM, path, how).end(rc=None)
        hang = trace.all("hang")[-1]
        (missing,) = [m for m in hang["missing"] if how in [f for f, _ in functions_of(m, path)]]
        check_stuck(how, missing, path, how, line_with(text))
        check_in(how, f"the barrier at {os.path.basename(path)}:{line_with('barrier.wait')}", hang["text"])
        check_equal(f"{how}: arrived", len(hang["arrived"]), 2)
