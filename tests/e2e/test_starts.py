# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Programs that start while the whole machine is traced (-a), and end soon: what of the first run was not seen is counted, and a later
run is seen from its first crossing. A machine on which short commands run is not said to have lost anything."""

import os
import shutil
import signal
import subprocess
import time

from harness import SBT, check, check_equal, check_in, workload

STARTS = ("probed_late", "not_examined")
GEN = ("--threads", "2", "--rounds", "8", "--work", "stair:3ms:1ms", "--work-by", "sleep")


def fresh_copy(t, name):
    """A file that nobody has ever run."""
    path = t.path("p-" + name[:12])
    shutil.copy(workload(name), path)
    return path


def episodes_of(trace, pid):
    return sum(b["episodes"] for b in trace.barriers() if b["pid"] == pid)


def check_runs(t, command, episodes, by_shell=False):
    """Twice in a row, and once more when nothing is left to be found out."""
    tracer = t.attach("-a")
    pids = []
    for run in range(3):
        if run == 2:
            time.sleep(1)
        p = t.start(["sh", "-c", '"$@" & echo $!; wait $!', "sh", *command] if by_shell else command)
        result = p.wait(20)
        check_equal("its status", result.rc, 0)
        pids.append(int(result.out.split()[0]) if by_shell else p.pid)
    trace = tracer.stop()
    end = trace.end
    seen = [episodes_of(trace, pid) for pid in pids]
    print(f"{os.path.basename(command[0])}: {seen} of {episodes} episodes; lost: {({k: v for k, v in end['lost'].items() if v})}")
    # What is known of a process that was seen late counts from then on.
    for process in trace.processes():
        if process["pid"] in pids and process["episodes"] < episodes:
            check(process["counted_from_ns"] is not None, f"{process['episodes']} episodes, counted from its start")
    # The end of an OpenMP region is one more.
    check(seen[2] >= episodes, f"of a program that is known {seen[2]} of {episodes} episodes")
    if min(seen) < episodes:
        check(any(end["lost"][k] for k in STARTS), f"nothing is said of what is missing: {end['lost']}")
        check(not end["complete"], "said to be complete")


def runs(name, *options, episodes, **how):
    def test(t):
        check_runs(t, [fresh_copy(t, name), *options], episodes, **how)
    return test


test_pthread = runs("gen", *GEN, episodes=8)
test_static = runs("gen-static", *GEN, episodes=8)
test_std_barrier = runs("gen_std", *GEN, episodes=8)
test_openmp = runs("gen_gomp", *GEN, episodes=8)
test_libomp = runs("gen_libomp", *GEN, episodes=8)
test_openmp_by_shell = runs("gen_gomp", *GEN, episodes=8, by_shell=True)


def test_file_that_is_gone(t):
    """A program that is deleted as soon as it runs, and ends at once: it has barriers, and is counted."""
    tracer = t.attach("-a")
    for _ in range(3):
        path = fresh_copy(t, "gen-static")
        p = t.start([path, "--threads", "2", "--rounds", "1", "--work", "none"])
        os.unlink(path)
        p.wait(10)
    trace = tracer.stop()
    end = trace.end
    seen = sum(p["episodes"] for p in trace.processes())
    print(f"{seen} of 3 episodes; lost: {({k: v for k, v in end['lost'].items() if v})}")
    check(seen >= 3 or not end["complete"], f"said to be complete with {seen} of 3 episodes")


def test_short_commands(t):
    """Nothing that these could have crossed was missed, and nothing is said to be."""
    tracer = t.attach("-a")
    for _ in range(20):
        subprocess.run(["sh", "-c", "true; ls / | wc -l; cat /dev/null"], check=True, stdout=subprocess.DEVNULL)
    end = tracer.stop().end
    check_equal("what is said to be missing", {k: v for k, v in end["lost"].items() if v}, {})
    check(end["complete"], "not complete")


def test_in_text(t):
    """The report for people says it, too."""
    tracer = t.attach("-a", form=None)
    program = fresh_copy(t, "gen-static")
    for _ in range(2):
        t.run([program, "--threads", "2", "--rounds", "1", "--work", "none"])
    text = " ".join(tracer.stop().split())
    check("before the probes of their files were in place" in text or "2 episodes" in text or "not_examined" in text or
          "before it was known how to trace it" in text, f"nothing is said: {text[:600]}")


def begin_unseen(t, program, *options, form="--json", more=()):
    """Its crossings of the first half second meet a tracer that is stopped, and cannot find out how the program is to be traced."""
    tracer = t.attach("-a", "--comm", os.path.basename(program), *more, form=form)
    # The C library's probes are there: what crosses is refused, and counted.
    tracer.process.signal(signal.SIGSTOP)
    p = t.start([program, *options])
    time.sleep(0.5)
    tracer.process.signal(signal.SIGCONT)
    check_equal("its status", p.wait(30).rc, 0)
    return tracer, p


def check_counted_late(process, end, expected):
    at = process["counted_from_ns"]
    efficiency = process["efficiency"]["parallel"]
    print(f"{process['episodes']} episodes, counted from {at} ns, PE {efficiency}, expected {expected}: {process['verdict']}")
    check(at is not None and not process["start_seen"], f"counted from {at}, start_seen {process['start_seen']}")
    check(abs(efficiency - expected) < 0.06, f"PE {efficiency}, not {expected}")
    check("Balanced" not in process["verdict"], process["verdict"])
    check_in("verdict", "first crossings were not recorded", process["verdict"])
    check(not end["complete"], "said to be complete")


def test_figures_of_a_late_process(t):
    """Waits that were not seen are no work: what is told of the process counts from its first recorded crossing."""
    uneven = ("--threads", "2", "--rounds", "80", "--work", "stair:5ms:10ms", "--work-by", "sleep")
    tracer, p = begin_unseen(t, fresh_copy(t, "gen"), *uneven)
    trace = tracer.stop()
    process = trace.process(pid=p.pid)
    # 5 and 15 ms.
    check_counted_late(process, trace.end, 20 / 30)
    check(process["episodes"] < 80, "nothing was missed")
    check(process["elapsed_ns"] < 80 * 15e6, f"elapsed: {process['elapsed_ns']}, with what was not seen")
    found = [f for f in trace.all("finding") if f["kind"] == "counted_from"]
    check_equal("findings", [f["pid"] for f in found], [p.pid])
    even = ("--threads", "2", "--rounds", "80", "--work", "stair:15ms:0ms", "--work-by", "sleep")
    tracer, p = begin_unseen(t, fresh_copy(t, "gen"), *even)
    trace = tracer.stop()
    check_counted_late(trace.process(pid=p.pid), trace.end, 1)


def test_sums_of_a_late_process(t):
    """The same of sums that the kernel keeps."""
    tracer, p = begin_unseen(t, fresh_copy(t, "gen"), "--threads", "2", "--rounds", "80", "--work", "stair:5ms:10ms", "--work-by",
                             "sleep", more=("--aggregate",))
    trace = tracer.stop()
    check_counted_late(trace.process(pid=p.pid), trace.end, 20 / 30)


def test_late_in_text(t):
    """In the report for people and from a recording, too."""
    tape = t.path("late.sbt")
    tracer, _ = begin_unseen(t, fresh_copy(t, "gen"), "--threads", "2", "--rounds", "60", "--work", "stair:5ms:10ms",
                             "--work-by", "sleep", form=None)
    text = " ".join(tracer.stop().split())
    check_in("report", "Its first crossings were not recorded", text)
    check_in("report", "count from its first recorded crossing", text)
    program = fresh_copy(t, "gen")
    record = t.start([SBT, "record", "-q", "-o", tape, "-a", "--comm", os.path.basename(program), "-d", "3"])
    time.sleep(1.5)
    record.signal(signal.SIGSTOP)
    t.start([program, "--threads", "2", "--rounds", "60", "--work", "stair:5ms:10ms", "--work-by", "sleep"])
    time.sleep(0.5)
    record.signal(signal.SIGCONT)
    record.wait(20)
    text = " ".join(t.run([SBT, "report", tape]).out.split())
    check_in("report of a recording", "Its first crossings were not recorded", text)


def test_first_crossings_of_a_child(t):
    """A child of COMMAND whose program is not known yet when it crosses."""
    program = fresh_copy(t, "gen-static")
    trace = t.trace(["sh", "-c", f"{program} --threads 2 --rounds 30 --work stair:5ms:10ms --work-by sleep; true"])
    process = trace.processes()[0]
    lost = trace.end["lost"]["not_examined"]
    print(f"{process['episodes']} episodes, not_examined {lost}, counted from {process['counted_from_ns']}, "
          f"PE {process['efficiency']['parallel']}")
    check(bool(lost) == (process["counted_from_ns"] is not None), "what is missing, and from when it counts")
