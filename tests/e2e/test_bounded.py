# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""The resources that sbt-trace holds while processes come and go are bounded: files are closed when no process runs them, slots
of sums are returned, and processes that have exited take little memory. SBT_LONG=1 runs the large numbers."""

import os
import re
import shlex
import shutil
import subprocess
import time

from harness import SBT, Failure, Trace, check, check_between, check_equal, check_in, read_proc, wait_for, workload
from test_record import check_same

LONG = os.environ.get("SBT_LONG") == "1"


# --- files --------------------------------------------------------------------------------------------

def mount(t, name, kind="tmpfs"):
    """Mount a file system for the test alone."""
    path = t.path(name)
    os.makedirs(path, exist_ok=True)
    subprocess.run(["mount", "-t", kind, "none", path], check=True)
    t.at_end(lambda: subprocess.run(["umount", "-l", path], stderr=subprocess.DEVNULL))
    return path


def umount(path, seconds=10):
    """Unmount the file system. Return the time until that was possible."""
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
    """Return the open files of the process. Files that it closes meanwhile are left out."""
    found = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            found.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
        except FileNotFoundError:
            pass
    return found


def gone_from(folder, name, *options, **how):
    """Return a test: the program runs twice from its own file system, which is then unmounted while the machine is traced."""
    def test(t):
        path = mount(t, "disk")
        program = copy_of(path, name)
        tracer = t.attach("-a", "--comm", name[:15], *how.get("tracer", ()))
        for _ in range(2):
            t.run([program, *options], rc=0)
            time.sleep(0.2)
        took = umount(path)
        left = [d for d in descriptors(tracer.process.pid) if d.startswith(path)]
        check_equal("descriptors that are left", left, [])
        trace = tracer.stop()
        last = max(trace.processes(), key=lambda p: p["pid"])
        barriers = [b for b in trace.barriers() if b["pid"] == last["pid"]]
        check_between("episodes", sum(b["episodes"] for b in barriers), how["episodes"], how["episodes"] + how.get("more", 0))
        for b in barriers:
            check(b.get("function"), f"no function: {b['label']}")
            check(how.get("stripped") or b.get("line"), f"no line: {b['label']}")
        check_between("seconds", took, 0, 10)
    return test


test_dynamic = gone_from("disk", "gen", "--threads", "2", "--rounds", "50", "--work", "stair:1ms:100us", episodes=50)
test_static = gone_from("disk", "gen-static", "--threads", "2", "--rounds", "50", "--work", "stair:1ms:100us", episodes=50)
# The end of the region is one more episode.
test_openmp = gone_from("disk", "gen_gomp", "--threads", "2", "--rounds", "50", "--work", "stair:1ms:100us", episodes=50, more=1)
test_sums = gone_from("disk", "gen", "--threads", "2", "--rounds", "50", "--work", "stair:1ms:100us", episodes=50,
                      tracer=("--aggregate",))


def test_another_file_of_that_number(t):
    """A file system that is made anew reuses the numbers of files. sbt-trace examines the file that exists now."""
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
    """Many files run once each. The number of open files does not grow with them."""
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
    """Return the process's own memory. Pages that it reads from the rings count as shared."""
    return int(re.search(rb"RssAnon:\s+(\d+)", read_proc(pid, "status")).group(1)) << 10


def many(t, processes, how="exec", barriers=2, options=()):
    """Trace @processes processes of two threads each. Return the Trace."""
    tracer = t.attach("-a", "--comm", "brief", *options)
    # This makes the program known: the first crossings of a program that was never traced before may be missed.
    t.run([workload("brief"), "4", "1", how])
    time.sleep(0.5)
    begun = time.monotonic()
    t.run([workload("brief"), str(processes), "4", how, str(barriers)], timeout=600, rc=0)
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
    """There are more threads, and more barriers, than the 16,384 slots, but not at the same time."""
    trace = many(t, 90, how="threads", barriers=200, options=("--aggregate",))
    check_equal("no slot", trace.end["lost"]["no_sum_slot"], 0)
    check_equal("crossings in no episode", trace.end["unmet"], 0)


# --- processes that have exited -------------------------------------------------------------------------

KEEP = 4


def loop(times, *commands):
    """Return a shell command that runs these programs one after the other, @times times."""
    return ["sh", "-c", f"for i in $(seq {times}); do {'; '.join(shlex.join(c) for c in commands)}; done"]


def gen(name, rounds=5, work="stair:200us:200us", threads=2):
    return [name if "/" in name else workload(name), "--threads", str(threads), "--rounds", str(rounds), "--work", work]


def check_programs(trace, comm, processes, programs=1, episodes=None):
    """Check that there are @processes processes of this name, of which at most KEEP are reported one by one. No sums are
    missing."""
    rows = [p for p in trace.processes() if p["comm"] == comm]
    sums = [p for p in rows if p["processes"] > 1]
    barriers = [b for b in trace.barriers() if b["comm"] == comm]
    # Processes in which no barrier was found are not reported.
    if processes is not None:
        check_equal("processes", sum(p["processes"] for p in rows), processes)
    check_equal("programs", len(sums), programs)
    check_between("kept", len(rows) - len(sums), 0, KEEP)
    check_equal("sums of barriers", {b["processes"] for b in barriers if b["processes"] > 1},
                {p["processes"] for p in sums})
    for what in ("episodes", "incomplete", "crossings"):
        check_equal(f"{what} by barrier", sum(b[what] for b in barriers), sum(p[what] for p in rows))
    check_equal("waits by barrier", sum(b["lost_ns"] for b in barriers), sum(p["wait_ns"] for p in rows))
    if episodes is not None:
        check_equal("episodes", sum(p["episodes"] for p in rows), episodes)
    for p in sums:
        check_equal("exited", p["exited"], True)
        check_equal("reported threads", [h["comm"] for h in p["threads"]], [None])
        check_equal("efficiencies that cannot be known",
                    [p["efficiency"][k] for k in ("load_balance", "serialisation", "transfer", "communication")], [None] * 4)
        check_between("PE", p["efficiency"]["parallel"], 0.01, 1)
        check_equal("OpenMP's", p["omp_efficiency"], None)
    return sums


def test_folded(t):
    """A shell starts two programs alternately. Each program is one entry, and the processes that lost most are reported
    separately."""
    most = gen("gen", work="stair:40ms:40ms")
    command = loop(20, gen("gen"), gen("gen-static"))
    command[-1] += "; " + shlex.join(most)
    trace = t.trace(command, "--keep-processes", str(KEEP)).nothing_lost()
    check_programs(trace, "gen", 21, episodes=105)
    check_programs(trace, "gen-static", 20)
    costly = max(trace.processes(), key=lambda p: p["wait_ns"] / p["episodes"])
    check_equal("the one that loses most is as it was", (costly["processes"], len(costly["threads"])), (1, 2))
    check_equal("episodes", trace.end["episodes"], sum(p["episodes"] for p in trace.processes()))
    check_equal("complete", trace.end["complete"], True)


def test_folded_openmp(t):
    # The first crossings of a child may be missed, so it must live for longer than its examination takes. By then its first
    # thread has another name than the program.
    command = loop(20, gen("gen_gomp", 100) + ["--work-by", "sleep"])
    command[-1] = "export OMP_WAIT_POLICY=passive; " + command[-1]
    trace = t.trace(command, "--keep-processes", str(KEEP)).nothing_lost(may=("not_examined",))
    check_programs(trace, "gen_gomp", 20)


def test_folded_forkjoin(t):
    trace = t.trace(loop(12, gen("gen_forkjoin", 30, "stair:1ms:1ms", 4)), "--keep-processes", str(KEEP)).nothing_lost()
    check_programs(trace, "gen_forkjoin", None)


def test_folded_discovered(t):
    trace = t.trace(loop(12, gen("gen_cond", 60, "stair:1ms:1ms", 4)), "--keep-processes", str(KEEP))
    check_programs(trace, "gen_cond", None)
    check("cond" in {b["family"] for b in trace.barriers() if b["processes"] > 1}, "no barrier by hand in the sum")


def test_folded_sums(t):
    """--aggregate: the sums that the kernel kept for processes that have exited are combined, too."""
    trace = t.trace(loop(20, gen("gen")), "--keep-processes", str(KEEP), "--aggregate").nothing_lost()
    check_programs(trace, "gen", 20, episodes=100)


def test_folded_by_file(t):
    """Two files of the same name are two programs."""
    for i, name in enumerate(("gen", "gen-static")):
        os.mkdir(t.path(f"dir{i}"))
        shutil.copy(workload(name), t.path(f"dir{i}/job"))
    trace = t.trace(loop(12, gen(t.path("dir0/job")), gen(t.path("dir1/job"))), "--keep-processes", str(KEEP))
    sums = check_programs(trace, "job", 24, programs=2)
    modules = {b["pid"]: b["module"] for b in trace.barriers() if b["processes"] > 1}
    check_equal("files", sorted(modules[p["pid"]] for p in sums), [t.path("dir0/job"), t.path("dir1/job")])


def test_folded_in_text(t):
    text = t.text(loop(20, gen("gen")), "--keep-processes", "0")
    check_in("text", "gen (20 processes that have exited), 40 threads", text)
    check_in("text", "LB, SerE and TE are not known for processes that are kept as a sum", " ".join(text.split()))
    check_in("text", "traced, 20 processes, 100 episodes", text)


def test_folded_in_a_recording(t):
    """A report of the recording is the same: processes that were combined while recording are combined while reading."""
    check_same(t, loop(20, gen("gen"), gen("gen_gomp")), view=["--keep-processes", str(KEEP)])


def test_all_are_kept(t):
    trace = t.trace(loop(20, gen("gen"))).nothing_lost()
    check_equal("processes", [p["processes"] for p in trace.processes()], [1] * 20)


def flat(t, *options):
    """Memory does not grow once more processes have exited than are kept. The test traces a command, because -a also examines
    other programs of the machine."""
    many, steps, path = 25000 if LONG else 400, 4, t.path()
    # They are combined some seconds after their end.
    step = f"{shlex.quote(workload('brief'))} {many} 4 >/dev/null; sleep 5; echo step; read x"
    tracer = t.start([SBT, "--json", "-o", path, "--keep-processes", "32", *options, "--", "sh", "-c",
                      f"for i in $(seq {steps}); do {step}; done"], stdin=subprocess.PIPE)
    sizes = []
    for i in range(steps):
        wait_for("a step", lambda i=i: tracer.out.count("step") > i or not tracer.alive(), 600 if LONG else 60, 0.1)
        sizes.append(resident(tracer.pid))
        tracer.write(b"\n")
    print("MiB", [s >> 20 for s in sizes])
    check_equal("its status", tracer.wait(60).rc, 0)
    trace = Trace(t, path)
    rows = [p for p in trace.processes() if p["comm"] == "brief"]
    check_equal("episodes", trace.end["episodes"], sum(p["episodes"] for p in rows))
    check_between("episodes", trace.end["episodes"], 0.95 * steps * many * 2, steps * many * 2)
    check_between("entries", len(rows), 2, 40)
    # Without combining, 800 processes take 13 MiB.
    check_between("grown in the second half, in bytes", sizes[3] - sizes[1], -1 << 40, 4 << 20)


def test_memory(t):
    flat(t)


def test_memory_of_sums(t):
    flat(t, "--aggregate")
