# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Hangs: programs that hang in known ways, examined while they are traced and by `sbt-trace hang` afterwards."""

import collections
import json
import os
import re
import shutil
import signal
import subprocess

from harness import (SBT, Failure, Skip, check, check_equal, check_in, check_not_in, clean_environment, descendants,
                     paired, read_bytes, read_proc, read_text, source_lines, wait_for, workload)

SHARED = True

LONG = 60  # seconds to wait for events that take a few seconds on an idle machine
FALSE = ("deadlock", "never-fills")

# lines: where the missing threads are, by "HERE: " in the program's source. gone: the missing thread has ended.
Kind = collections.namedtuple("Kind", "verdict lines gone says", defaults=((), False, None))
KINDS = {
    "early": Kind("never-fills", gone=True),
    "branch": Kind("never-fills", ["branch"]),
    "count": Kind("never-fills"),
    "abba": Kind("deadlock", ["abba first", "abba second"], says="mutex"),
    "holder": Kind("deadlock", ["holder"], says="mutex"),
    "self": Kind("deadlock", ["self"], says="mutex"),
    "loop": Kind("long-phase", ["loop", "loop begin"]),
    "pipe": Kind("outside", ["pipe"], says="pipe"),
    "sleep": Kind("outside", ["sleep"]),
    "cancel": Kind("never-fills", gone=True),
    "rwlock": Kind("deadlock", ["rwlock"], says="lock"),
    "pi": Kind("deadlock", ["pi"], says="mutex"),
    "join": Kind("deadlock", ["join"]),
    "cond": Kind("unknown", ["cond"]),
    "child": Kind("outside", ["child"]),
    "held-asleep": Kind("outside", ["held-asleep", "held-asleep holder"]),
}


class Log:
    """The output of a program that hangs."""

    def __init__(self, text):
        words = [line.split() for line in text.split("\n") if line.startswith("# ")]
        self.members = [int(w[3]) for w in words if w[1] == "member"]
        self.missing = {int(w[2]) for w in words if w[1] == "missing"}
        self.child = [int(w[2]) for w in words if w[1] == "child"]


def lines_here(source, marks):
    found = [n for mark in marks for n in source_lines(source, f"/* HERE: {mark} */")]
    check(len(found) >= len(marks), f"{source} has not all of {marks}")
    return found


def hangs(path, pid=None):
    """Return the hang records in the file so far."""
    try:
        lines = read_bytes(path).split(b"\n")[:-1]
    except OSError:
        return []
    records = [json.loads(line) for line in lines if b'"type":"hang"' in line.replace(b" ", b"")]
    return [r for r in records if pid is None or r["pid"] == pid]


def own_line(thread, source):
    """Return the innermost line of the program itself."""
    for frame in thread["stack"] or []:
        if (frame["file"] or "").endswith(source):
            return frame["line"]
    return None


def check_hang(record, log, kind, source="hung.c", exact=True):
    """Check that a record is right. With exact, no other thread may be reported as missing."""
    check_equal("verdict", record["verdict"], kind.verdict)
    missing = {m["tid"]: m for m in record["missing"]}
    if exact:
        check_equal("missing", set(missing), log.missing)
        check_equal("arrived", {m["tid"] for m in record["arrived"]}, set(log.members) - log.missing)
    if not kind.gone:
        check(log.missing <= set(missing), f"missing: {sorted(missing)}, and not all of {sorted(log.missing)}")
    elif exact:
        check_equal("states", {m["state"] for m in missing.values()}, {"exited"})
    if kind.lines:
        lines = lines_here(source, kind.lines)
        for tid in log.missing:
            check(own_line(missing[tid], source) in lines, f"thread {tid} is not in {lines}: {missing[tid]}")
    if kind.says:
        check_in("text", kind.says, record["text"])
    if kind.verdict == "deadlock":
        check_in("text", "deadlock", record["text"])
        check(record["cycle"], f"no cycle: {record}")
        check(log.missing & {c["tid"] for c in record["cycle"]}, f"no missing thread is in the cycle: {record}")
    else:
        check_equal("cycle", record["cycle"] or [], [])


def right_one(what, records, log, kind, seconds=LONG, **options):
    """Poll until one of the records is right."""
    wrong = None

    def right():
        nonlocal wrong
        for record in records():
            try:
                check_hang(record, log(), kind, **options)
                return record
            except Failure as e:
                wrong = e
        return None

    try:
        return wait_for(what, right, seconds, 0.1)
    except Failure:
        raise Failure(f"{what}: {wrong or 'no hang was reported'}") from None


# --- while it is traced -----------------------------------------------------------------------------

def hung_all(t, kinds, *options):
    """Return a command that runs a program of each kind at once, and a function that returns (pid, Log) of a kind."""
    program = workload("hung")
    logs = {kind: t.path(f"{kind}.log") for kind in kinds}
    script = "".join(f"{program} --kind {kind} {' '.join(options)} >{log} 2>&1 & echo $! >{log}.pid; "
                     for kind, log in logs.items())

    def of(kind):
        try:
            with open(logs[kind], encoding="utf-8") as log, open(logs[kind] + ".pid", encoding="utf-8") as pid:
                return int(pid.read()), Log(log.read())
        except (OSError, ValueError):
            return None, None

    return ["sh", "-c", script + "wait"], of


def end_all(t, tracer):
    """Kill the hung programs. The tracer then ends by itself."""
    for pid in descendants(tracer.process.pid):
        if read_proc(pid, "comm").strip() in (b"hung", b"hung_omp", b"hung_omp-libomp"):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    return tracer


def live(t, kinds, *options, exact=True):
    command, of = hung_all(t, kinds, *options)
    tracer = t.attach("--hang", "1", "--", *command)
    for kind in kinds:
        pid, _ = wait_for(f"{kind} has begun", lambda kind=kind: of(kind) if of(kind)[0] else None, LONG)
        right_one(kind, lambda pid=pid: hangs(tracer.path, pid), lambda kind=kind: of(kind)[1], KINDS[kind],
                  exact=exact)
    for kind in kinds:
        for record in hangs(tracer.path, of(kind)[0]):
            check(record["verdict"] != "deadlock" or KINDS[kind].verdict == "deadlock", f"{kind}: {record}")
    end_all(t, tracer)
    return tracer.end()


def test_locks(t):
    """Threads wait for each other in several programs. Each is reported at once and separately."""
    trace = live(t, ["abba", "holder", "self", "rwlock", "pi", "join", "held-asleep"])
    check(len(trace.all("hang")) >= 7, "not all were written")


def test_gone(t):
    live(t, ["early", "cancel", "branch", "count"])


def test_busy(t):
    live(t, ["loop", "pipe", "sleep", "cond", "child"])


def test_no_past(t):
    """The program hangs at the first barrier that it reaches. So far, only the count says which threads belong there."""
    live(t, ["abba", "holder", "self", "pipe"], "--no-past", exact=False)


@paired
def test_growing_intervals(t):
    """The hang is reported once, and then at growing intervals."""
    command, of = hung_all(t, ["sleep"])
    tracer = t.attach("--hang", "0.5", "--", *command)
    told = wait_for("four reports", lambda: hangs(tracer.path) if len(hangs(tracer.path)) >= 4 else None, LONG, 0.1)
    waited = [r["waited_ns"] / 1e9 for r in told[:4]]
    check(waited[0] >= 0.5, f"after {waited[0]} s")
    for a, b in zip(waited, waited[1:]):
        check(b >= 1.7 * a, f"it was reported after {waited} s")
    check_equal("barriers", len({r["barrier"] for r in told}), 1)
    end_all(t, tracer).end()


def test_off(t):
    """With --hang 0 nothing is reported. By default nothing is reported before 10 s."""
    tracer = t.attach("--hang", "0", "--", workload("hung"), "--kind", "sleep")
    default = t.attach("--", workload("hung"), "--kind", "sleep")
    wait_for("ten seconds", lambda: hangs(default.path), LONG, 0.2)
    check(hangs(default.path)[0]["waited_ns"] >= 10e9, "it was too early")
    check_equal("hangs of --hang 0", hangs(tracer.path), [])
    for one in (tracer, default):
        end_all(t, one)
        one.end(rc=137)


def test_healthy(t):
    """The programs are slow, and are never reported as anything else."""
    command, of = hung_all(t, ["slow", "slow-lock", "give-way"], "--seconds", "6")
    trace = t.attach("--hang", "1", "--", *command).end(timeout=80)
    pids = {kind: of(kind)[0] for kind in ("slow", "slow-lock", "give-way")}
    for kind, pid in pids.items():
        told = [r for r in trace.all("hang") if r["pid"] == pid]
        check(told, f"nothing was reported for {kind}")
        for record in told:
            check(record["verdict"] not in FALSE, f"{kind}: {record}")
            check_equal(f"cycle of {kind}", record["cycle"] or [], [])
    for record in trace.all("hang"):
        if record["pid"] in (pids["slow"], pids["slow-lock"]):
            check_equal("verdict", record["verdict"], "long-phase")
    slow = [r for r in trace.all("hang") if r["pid"] == pids["slow"]][-1]
    check_equal("missing", {m["tid"] for m in slow["missing"]}, of("slow")[1].missing)


def test_text(t):
    """Check the sentence in the text output."""
    out = t.path()
    tracer = t.start([SBT, "-o", out, "--hang", "1", "--", workload("hung"), "--kind", "holder"])

    def text():
        try:
            return read_text(out)
        except OSError:
            return ""

    wait_for("the text says it", lambda: "deadlock" in text(), LONG, 0.1)
    said = text()
    (line,), (where,) = lines_here("hung.c", ["holder"]), lines_here("hung.c", ["barrier"])
    for word in ("mutex", f"hung.c:{line}", f"hung.c:{where}", "first"):
        check_in("text", word, said)
    for pid in descendants(tracer.pid):
        if read_proc(pid, "comm").strip() == b"hung":
            os.kill(pid, signal.SIGKILL)
    check_equal("exit status", tracer.wait().rc, 137)


# --- afterwards -------------------------------------------------------------------------------------

def hung(t, kind, *options, program="hung", **more):
    p = t.start([workload(program), *options] if program != "hung" else
                [workload(program), "--kind", kind, *options], **more)
    wait_for(f"{kind} hangs", lambda: "# hung" in p.out or not p.alive(), LONG)
    check(p.alive(), f"{kind} ended: {p.err}")
    return p


def look(t, pid, rc=0):
    """Run sbt-trace hang -p PID --json. Return its hang records."""
    path = t.path()
    result = t.sbt("hang", "-p", str(pid), "--json", "-o", path)
    check(result.rc == rc, f"exit status {result.rc}: {result.err}")
    return hangs(path)


def after(t, kinds, **options):
    for kind in kinds:
        p = hung(t, kind)
        right_one(kind, lambda p=p: look(t, p.pid), lambda p=p: Log(p.out), KINDS[kind],
                  seconds=20, exact=False, **options)
        p.signal(signal.SIGKILL)
        p.wait()


def test_hang_command_locks(t):
    after(t, ["abba", "holder", "self", "rwlock", "pi", "join", "held-asleep"])


def test_hang_command_gone(t):
    after(t, ["early", "cancel", "branch", "count"])


def test_hang_command_busy(t):
    after(t, ["loop", "pipe", "sleep", "cond", "child"])


def test_hang_command_inlined(t):
    """The whole stack is reported, with inlined functions."""
    p = hung(t, "pipe", "--depth", "5")
    (tid,) = Log(p.out).missing
    records = look(t, p.pid)
    (thread,) = [m for r in records for m in r["missing"] if m["tid"] == tid]
    names = [f["function"] for f in thread["stack"]]
    for name, times in (("read_of", 1), ("deeper", 6), ("pipe_read", 1), ("worker", 1)):
        check_equal(f"{name} in {names}", names.count(name), times)


def test_hang_command_text(t):
    p = hung(t, "abba")
    out = t.sbt("hang", "-p", str(p.pid)).out
    for word in ("deadlock", "mutex", *(f"hung.c:{n}" for n in lines_here("hung.c", ["abba first", "abba second"]))):
        check_in("text", word, out)
    for tid in Log(p.out).missing:
        check_in("text", str(tid), out)


def test_hang_command_without_threads(t):
    """A process that does not hang, one that has ended, and wrong usage."""
    p = t.start(["sleep", "60"])
    out = t.sbt("hang", "-p", str(p.pid))
    check_not_in("text", "deadlock", out.out)
    p.signal(signal.SIGKILL)
    p.wait()
    check_equal("no such process", t.sbt("hang", "-p", str(p.pid)).rc, 1)
    check_equal("no -p", t.sbt("hang").rc, 2)
    check_equal("no number", t.sbt("hang", "-p", "x").rc, 2)


def test_hang_command_slow(t):
    p = t.start([workload("hung"), "--kind", "slow", "--seconds", "30"])
    wait_for("a missing thread", lambda: "# missing" in p.out)
    for _ in range(3):
        for record in look(t, p.pid):
            check_equal("verdict", record["verdict"], "long-phase")
            check_in("missing", min(Log(p.out).missing), [m["tid"] for m in record["missing"]])


def test_hang_command_healthy(t):
    """Locks are held for long, and two threads release their locks for each other forever. At no moment is this a deadlock."""
    for kind in ("slow-lock", "give-way"):
        p = t.start([workload("hung"), "--kind", kind, "--seconds", "30"])
        wait_for("two are missing", lambda p=p: len(Log(p.out).missing) == 2)
        for _ in range(5):
            for record in look(t, p.pid):
                check(record["verdict"] not in FALSE, f"{kind}: {record}")
                check_equal(f"cycle of {kind}", record["cycle"] or [], [])
        p.signal(signal.SIGKILL)
        p.wait()


def test_64_threads(t):
    """One thread has arrived, and 63 are missing. Each is reported with its stack."""
    p = hung(t, "pipe", "--threads", "64", "--missing", "63", "--depth", "10")
    log = Log(p.out)
    check_equal("missing", len(log.missing), 63)
    (record,) = look(t, p.pid)
    check_hang(record, log, KINDS["pipe"], exact=False)


# --- no thread is disturbed ----------------------------------------------------------------------------

def interrupted(text):
    return [int(n) for n in re.search(r"# interrupted epoll_wait (\d+) semtimedop (\d+)", text).groups()]


def test_no_thread_is_interrupted(t):
    """Threads are in system calls that a stop would interrupt. Hangs are reported, and no thread sees EINTR."""
    out = t.path()
    tracer = t.start([SBT, "--json", "-o", out, "--hang", "1", "--", workload("hung"), "--kind", "eintr"],
                     stdin=subprocess.PIPE)
    wait_for("it hangs", lambda: "# hung" in tracer.out or not tracer.alive(), LONG)
    (pid,) = [p for p in descendants(tracer.pid) if read_proc(p, "comm").strip() == b"hung"]
    told = wait_for("three reports", lambda: hangs(out) if len(hangs(out)) >= 3 else None, LONG, 0.1)
    for _ in range(3):
        told += look(t, pid)
    marks = {"eintr epoll": "epoll_wait", "eintr semtimedop": "semtimedop"}
    lines = {n: call for mark, call in marks.items() for n in lines_here("hung.c", [mark])}
    for record in told:
        check(record["verdict"] not in FALSE, f"{record}")
        found = {own_line(m, "hung.c") for m in record["missing"]}
        check(set(lines) <= found, f"they were looked at: {record}")
    tracer.popen.stdin.close()
    result = tracer.wait()
    check_equal("exit status", result.rc, 0)
    check_equal("interrupted", interrupted(result.out), [0, 0])


def test_stopped_thread_is_interrupted(t):
    """Check that the test above can fail: a stop does interrupt these calls."""
    p = hung(t, "eintr", stdin=subprocess.PIPE)
    for _ in range(3):
        p.signal(signal.SIGSTOP)
        wait_for("it is stopped", lambda: b"\nState:\tT" in read_proc(p.pid, "status"))
        p.signal(signal.SIGCONT)
        wait_for("it goes on", lambda: b"\nState:\tS" in read_proc(p.pid, "status"))
    p.popen.stdin.close()
    check(all(interrupted(p.wait().out)), "no thread was interrupted by a stop")


# --- OpenMP and MPI ---------------------------------------------------------------------------------

def openmp(t, program):
    for kind, expected in (("break", Kind("never-fills")), ("pipe", Kind("outside", ["pipe"], says="pipe"))):
        tracer = t.attach("--hang", "1", "--", workload(program), kind)
        right_one(f"{program} {kind}", lambda tracer=tracer: hangs(tracer.path),
                  lambda tracer=tracer: Log(tracer.process.out), expected, source="hung_omp.c")
        end_all(t, tracer).end(rc=137)
        p = hung(t, kind, kind, program=program)
        right_one(f"hang -p of {program} {kind}", lambda p=p: look(t, p.pid), lambda p=p: Log(p.out), expected,
                  source="hung_omp.c", seconds=20, exact=False)
        p.signal(signal.SIGKILL)
        p.wait()


def test_gomp(t):
    openmp(t, "hung_omp")


def test_libomp(t):
    openmp(t, "hung_omp-libomp")


MPIRUN = {"openmpi": (["mpirun.openmpi", "--oversubscribe"], ["--enable-recovery"]),
          "mpich": (["mpirun.mpich"], ["-disable-auto-cleanup"])}
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
RANKS = {"finalize": Kind("never-fills", ["finalize"]), "pipe": Kind("outside", ["pipe"], says="pipe"),
         "gone": Kind("never-fills", gone=True)}


def ranks(t, mpi, kind):
    launcher, go_on = MPIRUN[mpi]
    if not shutil.which(launcher[0]):
        raise Skip(f"no {launcher[0]}")
    program = workload(f"hung_{mpi}")
    tracer = t.attach("--hang", "1", "--", *launcher, *(go_on if kind == "gone" else []), "-n", "2", program, kind,
                      env=clean_environment(**ENVIRONMENT))
    right_one(f"{mpi} {kind}", lambda: hangs(tracer.path), lambda: Log(tracer.process.out), RANKS[kind],
              source="hung_mpi.c")
    return tracer


def test_openmpi_finalized(t):
    ranks(t, "openmpi", "finalize")


def test_openmpi_reads(t):
    ranks(t, "openmpi", "pipe")


def test_openmpi_gone(t):
    ranks(t, "openmpi", "gone")


def test_mpich_finalized(t):
    ranks(t, "mpich", "finalize")


def test_mpich_reads(t):
    ranks(t, "mpich", "pipe")


def test_mpich_gone(t):
    ranks(t, "mpich", "gone")
