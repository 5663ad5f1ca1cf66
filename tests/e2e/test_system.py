# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""sbt-trace -a: programs that are running and programs that start, other C libraries, selection by name and by cgroup. Other
programs may use barriers meanwhile: only the tests' own processes are checked."""

import os
import re
import shutil
import subprocess
import time

from harness import (WORKLOADS, Failure, Skip, check, check_between, check_equal, genlog, library_of, wait_for,
                     workload, write_file)
from test_pid import PACE, chroot_folder, in_chroot, own_libc

CGROUPS = "/sys/fs/cgroup/unified" if os.path.isdir("/sys/fs/cgroup/unified") else "/sys/fs/cgroup"


def episodes_of(trace, pid):
    return sum(b["episodes"] for b in trace.barriers(pid=pid))


def wait_probed(tracer, path):
    """Wait until the file, or one in that folder, has its probes. The tracer must run with -v."""
    wait_for(f"probes in {path}",
             lambda: re.search(rf"^sbt-trace: probe: .* in {re.escape(path)}", tracer.process.err, re.M), 30)


def make_known(tracer, start):
    """Run a program until one of its processes was traced (-W). By then all of its files have been examined."""
    for _ in range(20):
        p = start()
        p.wait()
        try:
            wait_for("it is seen", lambda: re.search(rf'"pid": ?{p.pid}\b', tracer.text()), 1, 0.05)
            return
        except Failure:
            continue
    raise Failure("it was never seen")


def all_seen(trace, pids, rounds=100, threads=4):
    """Check that every episode is recorded. With -a no process is stopped: the first crossings of a new program may be missed,
    but they must be counted."""
    found = [episodes_of(trace, pid) for pid in pids]
    missed = trace.end["lost"]["not_examined"]
    if not missed:
        check_equal("episodes", found, [rounds] * len(pids))
    check(all(found), f"episodes: {found}")
    crossings = sum(p["crossings"] for p in trace.processes() if p["pid"] in pids)
    check(crossings + missed >= rounds * threads * len(pids),
          f"episodes: {found}, {crossings} crossings and {missed} missed")


def test_programs_started_later(t):
    tracer = t.attach("-a", "-v")
    pids = []
    for name in ("gen", "gen-static", "gen-musl", "gen-musl-static", "gen-stripped", "gen-nopie",
                 "gen-oldlib"):
        if os.path.exists(os.path.join(WORKLOADS, name)):
            gen = t.gen("--rounds", "500", *PACE, name=name, wait=True)
            pids.append(gen.pid)
            wait_probed(tracer, library_of(gen.pid))
            gen.begin()
            gen.wait()
    trace = tracer.stop()
    check_equal("mode", trace.session["mode"], "system")
    all_seen(trace, pids, 500)


def test_immediate_start(t):
    """A program that is already known is traced from its first crossing, however soon it begins."""
    tracer = t.attach("-a", "-W")
    make_known(tracer, lambda: t.gen("--rounds", "200", *PACE))
    gens = [t.gen("--rounds", "50", "--threads", "2") for _ in range(5)]
    for gen in gens:
        gen.wait()
    trace = tracer.stop()
    check_equal("episodes", [episodes_of(trace, g.pid) for g in gens], [50] * 5)


def test_programs_already_there(t):
    log = t.path()
    gens = [t.gen("--rounds", "100", *PACE, "--log", log, wait=True),
            t.gen("--rounds", "100", *PACE, wait=True, name="gen-static"),
            t.gen("--rounds", "100", *PACE, wait=True, name="gen-musl")]
    tracer = t.attach("-a", "-W")
    for gen in gens:
        gen.begin()
    for gen in gens:
        gen.wait()
    trace = tracer.stop()
    check_equal("episodes", [episodes_of(trace, g.pid) for g in gens], [100] * 3)
    result = trace.compare(genlog.Log(log))
    check_equal("missing, extra", (result["missing"], result["extra"]), (0, 0))


def test_children(t):
    tracer = t.attach("-a", "-W")
    make_known(tracer, lambda: t.start([workload("fork_children")]))
    first = t.start([workload("fork_children")])
    first.wait()
    trace = tracer.stop()
    ours = [q for q in trace.processes() if q["pid"] == first.pid]
    for q in ours:
        ours += [child for child in trace.processes() if child["parent"] == q["pid"] and child not in ours]
    check_equal("episodes", sorted(q["episodes"] for q in ours), [70, 100, 100, 200, 300])


def test_by_name(t):
    other = t.path("other-name")
    shutil.copy(workload("gen"), other)
    tracer = t.attach("-a", "--comm", "other-name", "-W")
    make_known(tracer, lambda: t.gen("--rounds", "200", *PACE, name=other))
    mine = t.gen("--rounds", "60", *PACE, name=other)
    stranger = t.gen("--rounds", "60", *PACE)
    mine.wait()
    stranger.wait()
    trace = tracer.stop()
    check_equal("episodes", (episodes_of(trace, mine.pid), episodes_of(trace, stranger.pid)), (60, 0))
    check_equal("names", {p["comm"] for p in trace.processes()}, {"other-name"})


def test_by_name_never_seen_before(t):
    """Missed first crossings are counted."""
    other = t.path("other-name")
    shutil.copy(workload("gen"), other)
    tracer = t.attach("-a", "--comm", "other-name")
    mine = t.gen("--rounds", "200", *PACE, name=other)
    mine.wait()
    all_seen(tracer.stop(), [mine.pid], 200)


def test_by_name_of_running_ones(t):
    other = t.path("other-name")
    shutil.copy(workload("gen"), other)
    mine = t.gen("--rounds", "60", *PACE, name=other, wait=True)
    stranger = t.gen("--rounds", "60", *PACE, wait=True)
    tracer = t.attach("-a", "--comm", "other-name")
    for gen in (mine, stranger):
        gen.begin()
        gen.wait()
    trace = tracer.stop()
    check_equal("processes", [(p["pid"], p["episodes"]) for p in trace.processes()], [(mine.pid, 60)])


def cgroup(t, name):
    path = os.path.join(CGROUPS, name)
    try:
        os.mkdir(path)
    except OSError as e:
        raise Skip(f"no cgroup can be made: {e}") from None
    t.at_end(lambda: wait_for(f"rmdir {path}", lambda: not os.path.isdir(path) or remove(path)))
    return path


def remove(path):
    try:
        os.rmdir(path)
        return True
    except OSError:
        return False


def entering(path):
    def enter():
        write_file(os.path.join(path, "cgroup.procs"), str(os.getpid()))
    return enter


def test_by_cgroup(t):
    top = cgroup(t, f"sbt-e2e-{os.getpid()}")
    below = cgroup(t, os.path.join(top, "below"))
    beside = cgroup(t, f"sbt-e2e-{os.getpid()}-beside")
    before = t.gen("--rounds", "60", *PACE, wait=True, preexec_fn=entering(top))
    tracer = t.attach("-a", "--cgroup", top)
    deep = t.gen("--rounds", "60", *PACE, preexec_fn=entering(below))
    out = [t.gen("--rounds", "60", *PACE, preexec_fn=entering(beside)), t.gen("--rounds", "60", *PACE)]
    before.begin()
    for gen in (before, deep, *out):
        gen.wait()
    trace = tracer.stop()
    check_equal("processes", sorted((p["pid"], p["episodes"]) for p in trace.processes()),
                sorted([(before.pid, 60), (deep.pid, 60)]))


def test_cgroup_that_is_none(t):
    for path in ("/nonexistent", "/proc", "/sys/fs/cgroup/memory"):
        result = t.sbt("-a", "--cgroup", path, "-d", "0.1", rc=1)
        check(f"--cgroup {path}: " in result.err, f"stderr: {result.err}")


def test_another_mount_namespace(t):
    """A root directory with its own copy of the C library, entered before and after -a began."""
    root = chroot_folder(t)
    early = t.start(in_chroot(root, "--rounds", "100", "--wait-start", *PACE), stdin=subprocess.PIPE)
    wait_for("gen is ready", lambda: "ready" in early.out)
    tracer = t.attach("-a")
    early.write(b"\n")
    late = t.start(in_chroot(root, "--rounds", "100", *PACE))
    check_equal("status", (early.wait().rc, late.wait().rc), (0, 0))
    trace = tracer.stop()
    check_equal("episodes", [episodes_of(trace, p.pid) for p in (early, late)], [100, 100])
    check_equal("functions", {b["function"] for b in trace.barriers(pid=early.pid)}, {"site_0"})


def test_new_mount_namespace_later(t):
    """The copy of the library does not exist yet when -a begins."""
    tracer = t.attach("-a", "-v")
    root = chroot_folder(t)
    gen = t.start(in_chroot(root, "--rounds", "100", "--wait-start", *PACE), stdin=subprocess.PIPE)
    wait_for("gen is ready", lambda: "ready" in gen.out)
    wait_probed(tracer, root)
    gen.write(b"\n")
    check_equal("status", gen.wait().rc, 0)
    all_seen(tracer.stop(), [gen.pid])


def test_deleted_library(t):
    folder, env = own_libc(t)
    gen = t.gen("--rounds", "100", *PACE, wait=True, env=env)
    shutil.rmtree(folder)
    tracer = t.attach("-a")
    gen.begin()
    gen.wait()
    trace = tracer.stop()
    check_equal("episodes", episodes_of(trace, gen.pid), 100)


def test_own_library_later(t):
    """Programs start with a C library of their own, which was never mapped before."""
    tracer = t.attach("-a", "-v")
    found = []
    for _ in range(4):
        folder, env = own_libc(t)
        gen = t.gen("--rounds", "100", *PACE, wait=True, env=env)
        wait_probed(tracer, folder)
        gen.begin()
        gen.wait()
        found.append(gen.pid)
    all_seen(tracer.stop(), found)


def test_library_later_then_deleted(t):
    folder, env = own_libc(t)
    tracer = t.attach("-a", "-v")
    gen = t.gen("--rounds", "100", *PACE, wait=True, env=env)
    shutil.rmtree(folder)
    wait_probed(tracer, folder)
    gen.begin()
    gen.wait()
    all_seen(tracer.stop(), [gen.pid])


def test_pid_is_used_again(t):
    """Two programs that have the same pid, one after the other, are two processes in the report."""
    path = "/proc/sys/kernel/ns_last_pid"
    if not os.access(path, os.W_OK):
        raise Skip("process ids cannot be chosen here")
    tracer = t.attach("-a", "-W")
    make_known(tracer, lambda: t.gen("--rounds", "200", *PACE))
    first = t.gen("--threads", "2", "--rounds", "50")
    first.wait()
    second = None
    for _ in range(200):
        write_file(path, str(first.pid - 1))
        second = t.gen("--threads", "3", "--rounds", "70")
        if second.pid == first.pid:
            break
        second.wait()
        second = None
    if not second:
        raise Skip(f"{first.pid} was always taken by another process")
    second.wait()
    trace = tracer.stop()
    check_equal("teams", sorted((b["participants"], b["episodes"])
                                for b in trace.barriers(pid=first.pid)), [(2, 50), (3, 70)])
    check_equal("processes", sorted(p["episodes"] for p in trace.processes()
                                    if p["pid"] == first.pid), [50, 70])


def test_sbt_trace_itself_is_no_target(t):
    tracer = t.attach("-a")
    time.sleep(0.1)
    trace = tracer.stop()
    check_equal("own processes", [p for p in trace.processes() if p["pid"] == tracer.process.pid], [])


def efficiency_of(trace, pid):
    (process,) = [p for p in trace.processes() if p["pid"] == pid]
    return process, process["efficiency"]["parallel"]


def test_main_waits_for_its_workers(t):
    """Main crosses a barrier with its workers once and joins them. It has no work of its own, as with COMMAND."""
    for options in ((), ("--no-causes",), ("--discover",), ("--aggregate",)):
        tracer = t.attach("-a", "--comm", "joiner", *options)
        program = t.start([workload("joiner"), "gate", "3", "25"])
        program.wait()
        _, found = efficiency_of(tracer.stop(), program.pid)
        told = float(re.search(r"^# efficiency ([0-9.]+)", program.out, re.M).group(1))
        check_between(f"efficiency with -a {' '.join(options)}", found, told - 0.03, told + 0.03)


def test_sums_of_running_ones_that_end(t):
    """With --aggregate: a thread that existed before tracing, and ends while it is traced, has lived exactly until then."""
    program = t.start([workload("joiner"), "gate", "3", "80"])
    time.sleep(0.2)
    tracer = t.attach("-a", "--comm", "joiner", "--aggregate")
    check(program.alive(), "it has ended too early")
    program.wait()
    time.sleep(2)
    process, found = efficiency_of(tracer.stop(), program.pid)
    told = float(re.search(r"^# efficiency ([0-9.]+)", program.out, re.M).group(1))
    check_equal("threads", process["nthreads"], 3)
    check_between("efficiency", found, told - 0.05, told + 0.05)


def test_nothing_crossed(t):
    tracer = t.attach("-a", "--comm", "no-such-name")
    trace = tracer.stop()
    check_equal("episodes", trace.end["episodes"], 0)
    check("no barrier was crossed" in trace.result.err, f"stderr: {trace.result.err}")


def test_strangers_under_a_stay_whole(t):
    """With -a everything is probed. The behaviour and output of programs is unchanged."""
    plain = t.run([workload("lu"), "--size", "96", "--threads", "3"])
    tracer = t.attach("-a")
    traced = t.run([workload("lu"), "--size", "96", "--threads", "3"])
    shell = t.run(["sh", "-c", "set -m; sleep 0.1 & wait; echo $?; (exit 3); echo $?"])
    trace = tracer.stop()
    check_equal("lu", (traced.rc, traced.stdout), (plain.rc, plain.stdout))
    check_equal("sh", shell.out, "0\n3\n")
    check(trace.end["episodes"] >= 96 or trace.end["lost"]["not_examined"] > 0, "lu was not seen")
