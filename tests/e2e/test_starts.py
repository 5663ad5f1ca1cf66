# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Programs that start while the whole machine is traced (-a), and end soon: what of the first run was not seen is counted, and a later
run is seen from its first crossing. A machine on which short commands run is not said to have lost anything."""

import os
import shutil
import subprocess
import time

from harness import check, check_equal, workload

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
