#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Faults at random moments, repeated many times: make check-long. Needs root, and make all workloads build/san/sbt-trace
before.

    run.py [PATTERN...]    FAULT_RUNS (200) runs of each fault, or of those with a PATTERN in their name;
                           FAULT_SECONDS: time limit for each fault; the number of runs is then printed;
                           FAULT_SEED: seed of the random moments (printed)

Every eighth run uses the program built with sanitizers. After each fault there must be as many BPF programs, maps and links as
before, no process of sbt-trace, and the targets' code must equal that of their files. Prints one line per fault, and a last
line "N passed, N failed"."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
import harness  # noqa: E402
from harness import (SBT, Failure, Trace, check, check_equal, check_in, code_in_files, code_of,  # noqa: E402
                     function_at, kernel_log, library_of, living, probes_left_by_kernel, read_proc, stat_of, wait_for,
                     wait_for_probe, workload)

WATCHED = os.path.join(harness.ROOT, "build", "san", "sbt-trace")
EACH = 8  # runs, of which one uses the program with sanitizers
RUNS = int(os.environ.get("FAULT_RUNS", "200"))
SECONDS = float(os.environ.get("FAULT_SECONDS", "3600"))
BPFTOOL = next((p for p in ("/usr/sbin/bpftool", "/sbin/bpftool") if os.path.exists(p)), "bpftool")


# --- what is left after a fault ---------------------------------------------------------------------------------

def bpf_objects():
    """Return how many programs, maps and links the kernel has."""
    counts = {}
    for kind in ("prog", "map", "link"):
        out = subprocess.run([BPFTOOL, "-j", kind, "show"], stdout=subprocess.PIPE, check=True).stdout
        counts[kind] = len(json.loads(out or b"[]"))
    return counts


def code_differs(pid):
    """Return where the executable mappings of a process differ from their files. A probe is one different byte."""
    there, wanted = code_of(pid), code_in_files(pid)
    return [(path.decode(), hex(i)) for path, offset in there if there[path, offset] != wanted[path, offset]
            for i, pair in enumerate(zip(there[path, offset], wanted[path, offset])) if pair[0] != pair[1]][:5]


def files_of(pid):
    """Return how many files of each kind the process has open. Of programs, count only those that these tests run."""
    kinds = {}
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            to = os.readlink(f"/proc/{pid}/fd/{fd}")
            kind = to if to.startswith("anon_inode") else to.split(":")[0] if ":" in to else to
            # Under -a other programs are examined, too. A compilation on this machine starts many.
            if not kind.startswith("/") or kind == workload("gen") or "/proc/" in kind:
                kinds[kind] = kinds.get(kind, 0) + 1
    except OSError:
        pass
    return kinds


class Run:
    """One run of a fault: the program that it uses, and a random moment."""

    def __init__(self, t, number, rng):
        self.t, self.number, self.rng = t, number, rng
        self.watched = number % EACH == EACH - 1 and os.path.exists(WATCHED)
        self.sbt = WATCHED if self.watched else SBT
        self.path = t.path(f"trace{number}")

    def start(self, *words):
        return self.t.start([self.sbt, "--json", "-o", self.path, *words])

    def pause(self, most):
        # The program with sanitizers is slower.
        time.sleep(self.rng.random() * most * (3 if self.watched else 1))

    def trace(self, result, rc=0):
        self.t.no_crash(result)
        check_equal(f"exit status ({result.err[-300:]})", result.rc, rc)
        trace = Trace(self.t, self.path, with_schema=False)
        trace.check_sums()
        trace.result = result
        self.t.traces.clear()
        os.unlink(self.path)
        return trace


def gen(*words):
    return [workload("gen"), *words]


def wait_threads(p, n):
    wait_for("the target's threads", lambda: len(os.listdir(f"/proc/{p.pid}/task")) > n or not p.alive())


WORK = ["--threads", "3", "--work", "random:50us:400us:7"]


# --- the faults ---------------------------------------------------------------------------------------------
# Each fault is a generator: it begins, receives a Run for each run, and ends. The values that it yields are not used.

def check_whole(trace):
    """Check a trace that may be incomplete at its start and end only. If tracing begins inside an episode, the threads already
    inside are guessed. If all threads are killed, some have not arrived yet."""
    states = [e["state"] for e in sorted(trace.all("episode"), key=lambda e: e["t_ns"])]
    if "complete" in states:
        first, last = states.index("complete"), len(states) - states[::-1].index("complete")
        check("incomplete" not in states[first:last], f"incomplete between whole ones: {states[first:last]}")
        check(states[:first].count("incomplete") <= 3 and len(states) - last <= 2, f"{states[:first]} ... {states[last:]}")


def fault_target_killed(t):
    """SIGKILL to the target: the report is printed, its sums are right, and the waiting threads are reported."""
    marked = episodes = 0
    while True:
        run = yield
        if run is None:
            break
        if run.number % 2:
            target = t.start(gen(*WORK, "--rounds", "1000000"))
            wait_threads(target, 3)
            sbt = run.start("-W", "-p", str(target.pid))
        else:
            target, sbt = None, run.start("-W", "--", *gen(*WORK, "--rounds", "1000000"))
        run.pause(0.6)
        if target:
            target.signal(signal.SIGKILL)
            target.wait(10)
            rc = 0
        else:
            child = wait_for("the command", lambda: [p for p in living() if read_proc(p, "comm") == b"gen\n"] or
                             not sbt.alive())
            if child is not True:
                os.kill(child[0], signal.SIGKILL)
            rc = 128 + signal.SIGKILL
        result = sbt.wait(30)
        if target and result.rc == 1:
            # The target was dead before it was examined.
            check_in("stderr", f"process {target.pid} ", result.err)
            continue
        trace = run.trace(result, rc)
        for b in trace.barriers(family="pthread"):
            check(not b["episodes"] or b["participants"] == 3, f"participants: {b}")
        check_whole(trace)
        marked += sum(p["abandoned"] for p in trace.processes()) > 0
        episodes += trace.end["episodes"]
    print(f"  {episodes} episodes complete; in {marked} runs threads died in a barrier, and it was reported")
    check(episodes, "nothing was ever seen")


def fault_tracer_killed(t):
    """SIGKILL to sbt-trace: the target continues to the right end, without a probe in its code."""
    while True:
        run = yield
        if run is None:
            return
        target = None
        if run.number % 2:
            target = t.start(gen(*WORK, "--forever"))
            wait_threads(target, 3)
            sbt = run.start("-p", str(target.pid))
            run.pause(0.5)
        else:
            sbt = run.start("--", *gen(*WORK, "--forever"))
            # If sbt-trace is killed before COMMAND was resumed, COMMAND ends as well. So kill it afterwards.
            pids = wait_for("the command", lambda: [p for p in living() if read_proc(p, "comm") == b"gen\n"])
            pid = pids[0]
            run.pause(0.5)
        sbt.signal(signal.SIGKILL)
        sbt.wait(10)
        if target:
            pid = target.pid
        try:
            wait_for("its code is as it was", lambda: not code_differs(pid), 10)
        except (OSError, Failure) as e:
            raise Failure(f"{e}: {code_differs(pid)}") from None
        wait_for("it runs", lambda: (stat_of(pid) or "T")[0] != "T", 10)
        before = switches(pid)
        wait_for("it goes on", lambda: switches(pid) > before + 20, 10)
        os.kill(pid, signal.SIGTERM)
        if target:
            done = target.wait(10)
            check_equal("the target's exit status", done.rc, 0)
            check_in("the target's answer", " ok", done.out)
        else:
            wait_for("it ends in good order", lambda: pid not in living(), 10)
            check_in("the command's answer", " ok", sbt.out)
        if os.path.exists(run.path):
            os.unlink(run.path)


def kill_at_probes(run, sbt, target):
    """Kill sbt-trace, alone or with its group alternately. No probe may stay in the target's code."""
    if run.number % 2:
        os.killpg(sbt.pid, signal.SIGKILL)
    else:
        sbt.signal(signal.SIGKILL)
    sbt.wait(10)
    try:
        wait_for("its code is as it was", lambda: not code_differs(target.pid), 5)
    except Failure:
        raise Failure(f"probes stay in its code: {code_differs(target.pid)}") from None


def fault_tracer_killed_beginning(t):
    """SIGKILL to sbt-trace while it attaches probes, alone or with its group. No probe stays, and the kernel has none left.
    Before each probe the kernel visits all processes that have mapped the file, so many such processes prolong the moment."""
    crowd = [t.start(gen("--threads", "2", "--work", "fixed:0=20ms", "--work-by", "sleep", "--forever", "--alarm", "0"))
             for _ in range(40)]
    target = crowd[0]
    wait_threads(target, 2)
    path = library_of(target.pid)
    place = function_at(path, "pthread_barrier_wait")
    before = set(kernel_log())
    while True:
        run = yield
        if run is None:
            break
        sbt = t.start([run.sbt, "-q", "--json", "-o", run.path, "-p", str(target.pid)], preexec_fn=os.setpgrp)
        wait_for_probe(target.pid, path, place)
        time.sleep(run.rng.random() * 0.0005)
        kill_at_probes(run, sbt, target)
        check_equal("probes that the kernel left", probes_left_by_kernel(sbt.pid, before), [])
    target.signal(signal.SIGTERM)
    done = target.wait(20)
    check_equal("the target's exit status", done.rc, 0)
    check_in("the target's answer", " ok", done.out)


def fault_tracer_killed_ending(t):
    """SIGKILL to sbt-trace while it detaches probes, alone or with its group. No probe stays in the target's code, where the
    kernel would leave it for as long as the target lives. No other process maps the file, or has probes in it."""
    program = t.path("alone")
    shutil.copy(workload("gen-static"), program)
    target = t.start([program, *WORK, "--forever", "--alarm", "0"])
    wait_threads(target, 3)
    midst = 0
    while True:
        run = yield
        if run is None:
            break
        sbt = t.start([run.sbt, "-q", "--json", "-o", run.path, "-p", str(target.pid)], preexec_fn=os.setpgrp)
        wait_for("its probes are there", lambda: code_differs(target.pid), 20)
        run.pause(0.1)
        sbt.signal(signal.SIGTERM)
        run.pause(0.06)
        midst += bool(code_differs(target.pid))
        kill_at_probes(run, sbt, target)
        check(target.alive(), "the target has ended")
    print(f"  {midst} times killed while there were still probes")
    check(midst, "it was always too late")
    target.signal(signal.SIGTERM)
    done = target.wait(20)
    check_equal("the target's exit status", done.rc, 0)
    check_in("the target's answer", " ok", done.out)


def switches(pid):
    """Return the voluntary switches of all threads."""
    total = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        text = read_proc(pid, f"task/{tid}/status").decode()
        found = re.search(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.M)
        total += int(found.group(1)) if found else 0
    return total


def fault_attach_detach(t):
    """Attach to one process under load and detach again, repeatedly. The process ends with the right answer."""
    target = t.start(gen(*WORK, "--sites", "3", "--forever", "--alarm", "0"))
    wait_threads(target, 3)
    # The check of the code can see a probe.
    sbt = t.start([SBT, "-q", "-o", t.path(), "-p", str(target.pid)])
    wait_for("a probe is seen in its code", lambda: code_differs(target.pid), 10)
    sbt.signal(signal.SIGTERM)
    check_equal("exit status", sbt.wait(30).rc, 0)
    episodes = ambiguous = late = 0
    while True:
        run = yield
        if run is None:
            break
        trace = run.trace(run.start("-p", str(target.pid), "-d", f"{0.001 + run.rng.random() * 0.2:.3f}").wait(30))
        episodes += trace.end["episodes"]
        for b in trace.barriers(family="pthread"):
            check(not b["episodes"] or b["participants"] == 3, f"participants: {b}")
        check(trace.end["incomplete"] <= 2 * 3, f"more than the first and the last: {trace.end}")
        # The position of each thread at the start of tracing is uncertain until the first complete episode.
        check(trace.end["ambiguous"] <= 10 + trace.end["episodes"] // 20, f"not only the first ones are ambiguous: {trace.end}")
        ambiguous = max(ambiguous, trace.end["ambiguous"])
        # A child of sbt-trace may hold the last probe for a moment longer.
        gone = time.monotonic()
        if code_differs(target.pid):
            try:
                wait_for("code", lambda: not code_differs(target.pid), 5)
            except Failure:
                raise Failure(f"its code is not as it was: {code_differs(target.pid)}") from None
            late = max(late, time.monotonic() - gone)
        check(target.alive(), "the target has ended")
    target.signal(signal.SIGTERM)
    done = target.wait(20)
    check_equal("the target's exit status", done.rc, 0)
    check_in("the target's answer", " ok", done.out)
    print(f"  {episodes} episodes; at most {ambiguous} of a run ambiguous, and marked so; "
          f"the last probe went {late * 1e3:.0f} ms after sbt-trace")


def fault_short_threads(t):
    """10,000 threads that each live for one episode."""
    while True:
        run = yield
        if run is None:
            return
        teams = 3334
        result = run.start("--", workload("churn"), "--teams", str(teams), "--threads", "4", "--rounds", "1").wait(300)
        threads = sum(2 + k % 3 for k in range(teams))
        trace = run.trace(result)
        check(threads > 10000, "not that many threads")
        if trace.end["lost_total"]:
            check(not trace.end["complete"], "not marked")
            continue
        check_equal("episodes", trace.episodes(family="pthread"), teams)
        # The thread that only creates and joins the others is no member.
        check_equal("threads", trace.process()["nthreads"], threads)
        check_equal("incomplete, ambiguous", (trace.end["incomplete"], trace.end["ambiguous"]), (0, 0))


def fault_fork_bomb(t):
    """500 short processes under -a: every crossing is recorded or counted as lost, and files are closed."""
    seen = total = 0
    while True:
        run = yield
        if run is None:
            break
        sbt = run.start("-a", "--comm", "gen")
        wait_for("it is armed", lambda: os.path.exists(run.path) and os.path.getsize(run.path))
        before = files_of(sbt.pid)
        script = ('i=0; while [ $i -lt 250 ]; do "$0" --threads 2 --rounds 4 & "$0" --threads 2 --rounds 4; '
                  'wait; i=$((i+1)); done')
        bomb = t.run(["sh", "-c", script, workload("gen")], timeout=120)
        check_equal("the processes", bomb.out.count(" ok\n"), 500)
        time.sleep(0.3)
        after = files_of(sbt.pid)
        sbt.signal(signal.SIGTERM)
        trace = run.trace(sbt.wait(60))
        got = sum(b["crossings"] for b in trace.barriers(family="pthread"))
        lost = trace.end["lost_total"]
        check(got + lost >= 4000 or not trace.end["complete"], f"{got} crossings of 4000 and {lost} lost")
        check(got <= 4000, f"{got} crossings of 4000")
        for b in trace.barriers(family="pthread"):
            # Processes that have exited may share one row with others of their program.
            most = 4 * (b["processes"] or 1)
            # If one crossing of an episode was lost, only the other one is known.
            check(b["episodes"] <= most and (b["participants"] == 2 or not b["episodes"]),
                  f"there were {most} episodes of 2, not {b['episodes']} of {b['participants']}: {b}")
        more = {k: n - before.get(k, 0) for k, n in after.items() if n > before.get(k, 0) + 12}
        check_equal("files kept open", more, {})
        seen, total = seen + got, total + 4000
    print(f"  {seen} of {total} crossings seen, the others counted as lost")


def fault_exec_loop(t):
    """A shell that executes the same program again and again."""
    script = ('n=$1; [ "$n" -gt 0 ] || exit 0; "$0" --threads 2 --rounds 5 >/dev/null || exit 9; '
              'exec sh -c "$S" "$0" $((n - 1))')
    while True:
        run = yield
        if run is None:
            return
        env = harness.clean_environment(S=script)
        sbt = t.start([run.sbt, "--json", "-o", run.path, "--", "sh", "-c", script, workload("gen"), "30"], env=env)
        trace = run.trace(sbt.wait(90))
        if not trace.end["lost_total"]:
            check_equal("episodes", trace.episodes(family="pthread"), 150)
            check_equal("incomplete, ambiguous", (trace.end["incomplete"], trace.end["ambiguous"]), (0, 0))
        # A program that executes itself, from a thread that is not the first.
        if run.number % 4 == 0:
            trace = run.trace(run.start("--", workload("exec_self")).wait(60))
            check_equal("of exec_self", trace.episodes(family="pthread"), 600)


def fault_disk_full(t):
    """A recording does not fit on the disk. This is reported, and what was written can be read and is marked as cut off."""
    disk = t.path("disk")
    os.mkdir(disk)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "none", disk], check=True)
    t.at_end(lambda: subprocess.run(["umount", "-l", disk], check=True))
    readable = 0
    while True:
        run = yield
        if run is None:
            break
        path = f"{disk}/recording"
        # The free space ranges from nothing to nearly enough.
        with open(f"{disk}/ballast", "wb") as f:
            f.write(b"x" * run.rng.randrange(0, 120_000))
        result = t.run([run.sbt, "record", "-o", path, "--", *gen("--threads", "4", "--rounds", "6000")], timeout=60)
        t.no_crash(result)
        check_in("the command's answer", "rounds=6000 threads=4 ok", result.out)
        if result.rc:
            check_equal("exit status", result.rc, 1)
            check_in("stderr", "No space left on device", result.err)
        if os.path.exists(path):
            report = t.run([run.sbt, "report", "--json", path], timeout=60)
            t.no_crash(report)
            if report.rc == 0:
                end = json.loads(report.out.splitlines()[-1])
                readable += 1
                check_equal("complete", end["complete"], result.rc == 0)
                check(end["episodes"] <= 6000, f"too many: {end}")
            else:
                check(result.rc, f"a whole recording cannot be read: {report.err}")
            os.unlink(path)
        os.unlink(f"{disk}/ballast")
    print(f"  {readable} recordings could be read")


# --- -----------------------------------------------------------------------------------------------------------

def runs_of(t, name, function, rng):
    """Run a fault. Return how many runs were made."""
    fault = function(t)
    next(fault)
    end = time.monotonic() + SECONDS
    done = watched = 0
    while done < RUNS and (time.monotonic() < end or not done):
        run = Run(t, done, rng)
        try:
            fault.send(run)
        except (Failure, harness.OutOfTime) as e:
            raise Failure(f"run {done}{' under the sanitizers' if run.watched else ''}: {e}") from None
        watched += run.watched
        done += 1
        t.processes = [p for p in t.processes if p.alive()]
    try:
        fault.send(None)
    except StopIteration:
        pass
    return done, watched


def ends_clean(before):
    try:
        wait_for("BPF objects are gone", lambda: all(n <= before[k] for k, n in bpf_objects().items()), 10, 0.1)
    except Failure:
        raise Failure(f"BPF objects are left: {bpf_objects()}, before {before}") from None
    try:
        wait_for("no process is left", lambda: not living(), 10)
    except Failure:
        raise Failure(f"left: {[(p, read_proc(p, 'comm')) for p in living()]}") from None


def main():
    words = sys.argv[1:]
    if words[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    if os.geteuid() != 0:
        sys.exit("run.py: root is needed")
    harness.become_subreaper()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    seed = int(os.environ.get("FAULT_SEED", time.time_ns() % 1_000_000))
    print(f"FAULT_SEED={seed}, {RUNS} runs of each", flush=True)
    passed = failed = 0
    for key, function in list(globals().items()):
        name = key[6:]
        if not key.startswith("fault_") or (words and not any(w in name for w in words)):
            continue
        start, before = time.monotonic(), bpf_objects()
        t = harness.Test(name)
        why, done, watched = None, 0, 0
        try:
            done, watched = runs_of(t, name, function, random.Random(f"{seed} {name}"))
        except Exception as e:
            why = f"{type(e).__name__}: {e}"
        for wrong in t.close():
            why = why or wrong
        try:
            ends_clean(before)
        except Failure as e:
            why = why or str(e)
        seconds = time.monotonic() - start
        if why:
            print(f"FAIL faults.{name}: {harness.short(why)}", flush=True)
        else:
            print(f"ok faults.{name}: {done} runs, {watched} of them under the sanitizers ({seconds:.1f} s)", flush=True)
        passed += not why
        failed += bool(why)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
