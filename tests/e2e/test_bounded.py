# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""What sbt-trace keeps while processes come and go is bounded: files are closed once no process runs them, slots of sums are
returned, and processes that have exited take little memory. SBT_LONG=1 runs the large numbers."""

import ctypes
import os
import re
import shutil
import subprocess
import time

from harness import Failure, check, check_between, check_equal, read_proc, wait_for, workload

LONG = os.environ.get("SBT_LONG") == "1"


# --- files --------------------------------------------------------------------------------------------

def mount(t, name, kind="tmpfs"):
    """A file system of the test's own."""
    path = t.path(name)
    os.makedirs(path, exist_ok=True)
    subprocess.run(["mount", "-t", kind, "none", path], check=True)
    t.at_end(lambda: subprocess.run(["umount", "-l", path], stderr=subprocess.DEVNULL))
    return path


def umount(path, seconds=10):
    """Returns after how long the file system could be unmounted."""
    begin = time.monotonic()
    while True:
        done = subprocess.run(["umount", path], stderr=subprocess.PIPE, text=True)
        if done.returncode == 0:
            return time.monotonic() - begin
        if time.monotonic() - begin > seconds:
            raise Failure(f"not unmounted within {seconds} s: {done.stderr}")
        time.sleep(0.2)


def copy_of(folder, name):
    path = os.path.join(folder, name)
    shutil.copy(workload(name), path)
    return path


def descriptors(pid):
    return [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]


def gone_from(folder, name, *options, **how):
    """The program runs twice from a file system of its own, which is then unmounted while the machine is traced."""
    def test(t):
        path = mount(t, "disk")
        program = copy_of(path, name)
        tracer = t.attach("-a", "--comm", name[:15], *how.get("tracer", ()))
        for _ in range(2):
            result = t.run([program, *options])
            check_equal("its status", result.rc, 0)
            time.sleep(0.2)
        took = umount(path)
        left = [d for d in descriptors(tracer.process.pid) if d.startswith(path)]
        check_equal("descriptors that are left", left, [])
        trace = tracer.stop()
        last = max(trace.processes(), key=lambda p: p["pid"])
        barriers = [b for b in trace.barriers() if b["pid"] == last["pid"]]
        check_equal("episodes", sum(b["episodes"] for b in barriers), how["episodes"])
        for b in barriers:
            check(b.get("function"), f"no function: {b['label']}")
            check(how.get("stripped") or b.get("line"), f"no line: {b['label']}")
        check_between("seconds", took, 0, 10)
    return test


test_dynamic = gone_from("disk", "gen", "--threads", "2", "--rounds", "50", "--work", "stair:1ms:100us", episodes=50)
test_static = gone_from("disk", "gen-static", "--threads", "2", "--rounds", "50", "--work", "stair:1ms:100us", episodes=50)
test_openmp = gone_from("disk", "gen_gomp", "--threads", "2", "--rounds", "50", "--work", "stair:1ms:100us", episodes=50)
test_sums = gone_from("disk", "gen", "--threads", "2", "--rounds", "50", "--work", "stair:1ms:100us", episodes=50,
                      tracer=("--aggregate",))


def test_another_file_of_that_number(t):
    """A file system that is made anew gives its files the numbers that others had: what is examined is what is there."""
    tracer = t.attach("-a", "--comm", "program")
    for name in ("gen", "gen-static", "gen-stripped"):
        path = mount(t, "disk")
        program = os.path.join(path, "program")
        shutil.copy(workload(name), program)
        for _ in range(2):
            check_equal(name, t.run([program, "--threads", "2", "--rounds", "40", "--work", "stair:1ms:100us"]).rc, 0)
            time.sleep(0.2)
        umount(path)
    trace = tracer.stop()
    rows = sorted(trace.processes(), key=lambda p: p["pid"])
    check_equal("processes", len(rows), 6)
    check_equal("episodes", [p["episodes"] for p in rows[1::2]], [40] * 3)
    functions = [[b.get("function") for b in trace.barriers() if b["pid"] == p["pid"]] for p in rows[1::2]]
    check_equal("functions of the first and the second", functions[0], functions[1])


def test_descriptors_are_few(t):
    """Many files, each run once: what is open does not grow with them."""
    path = mount(t, "disk")
    tracer = t.attach("-a", "--comm", "gen")
    t.run([workload("gen"), "--threads", "2", "--rounds", "2"])
    time.sleep(3)
    before = len(descriptors(tracer.process.pid))
    for i in range(300 if LONG else 60):
        program = os.path.join(path, f"gen{i}")
        shutil.copy(workload("gen"), program)
        t.run([program, "--threads", "2", "--rounds", "2"])
        os.unlink(program)
    wait_for("files are closed", lambda: len(descriptors(tracer.process.pid)) <= before + 10, 10, 0.2)
    umount(path)
    tracer.stop()


# --- sums ---------------------------------------------------------------------------------------------

def resident(pid):
    return int(re.search(rb"VmRSS:\s+(\d+)", read_proc(pid, "status")).group(1)) << 10


def many(t, processes, how="exec", barriers=2, options=()):
    """So many processes of two threads each; the Trace."""
    tracer = t.attach("-a", "--comm", "brief", *options)
    # It makes the program known: the first crossings of a program never seen before may be missed.
    t.run([workload("brief"), "4", "1", how])
    time.sleep(0.5)
    begun = time.monotonic()
    result = t.run([workload("brief"), str(processes), "4", how, str(barriers)], timeout=600)
    check_equal("its status", result.rc, 0)
    print(f"{processes} processes in {time.monotonic() - begun:.1f} s")
    time.sleep(1)
    trace = tracer.stop(timeout=300)
    expected = (processes * barriers, (processes + 4) * barriers + 8)
    check_between("episodes", trace.end["episodes"], *expected)
    check_equal("lost", {k: v for k, v in trace.end["lost"].items() if v and k != "not_examined"}, {})
    return trace


def test_processes(t):
    many(t, 10000 if LONG else 300)


def test_processes_by_sums(t):
    many(t, 10000 if LONG else 300, options=("--aggregate",))


def test_forked_by_sums(t):
    many(t, 10000 if LONG else 300, how="fork", options=("--aggregate",))


def test_slots_are_returned(t):
    """More threads, and more barriers, than the 16,384 that there are slots for, but not at one time."""
    trace = many(t, 90, how="threads", barriers=200, options=("--aggregate",))
    check_equal("no slot", trace.end["lost"]["no_sum_slot"], 0)
    check_equal("crossings that met nobody", trace.end["unmet"], 0)
