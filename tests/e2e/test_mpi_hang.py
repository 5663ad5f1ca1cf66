# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""MPI ranks with calls that do not match. Check which rank is in which call, and what it waits for. A program that exchanges
messages all the time is not reported as hanging."""

import json
import os
import re
import shutil
import signal
import time

from harness import (SBT, Skip, check, check_equal, check_in, clean_environment, source_lines, wait_for,
                     workload)
from test_hang import hangs
from test_mpi import ENVIRONMENT, MPIRUN

PAIRED = True
SOURCE = "mpi_mismatch.c"
# The call that the last of three ranks makes instead.
COLLECTIVES = {"bcast": "MPI_Bcast", "reduce": "MPI_Reduce", "allreduce": "MPI_Allreduce"}
CIRCLES = {"cycle": "MPI_Recv", "ssend": "MPI_Ssend", "sendrecv": "MPI_Sendrecv"}


def line_of(mark):
    return source_lines(SOURCE, f"/* HERE: {mark} */")[0]


class Job:
    """Ranks that hang, traced or not."""

    def __init__(self, t, mpi, kind, ranks=3, traced=True):
        if not shutil.which(MPIRUN[mpi][0]):
            raise Skip(f"no {MPIRUN[mpi][0]}")
        self.t, self.name = t, f"mpi_mismatch_{mpi}"
        command = [*MPIRUN[mpi], "-n", str(ranks), workload(self.name), kind]
        environment = clean_environment(**ENVIRONMENT)
        if traced:
            self.tracer = t.attach("--hang", "1", "--", *command, env=environment)
            self.path = self.tracer.path
            self.process = self.tracer.process
        else:
            self.process = t.start(command, env=environment)
        self.size = ranks

    def members(self):
        """Return the processes by rank, as they print it."""
        found = re.findall(r"^# member (\d+) (\d+)", self.process.out, re.M)
        return {int(rank): int(pid) for rank, pid in found} if len(found) == self.size else None

    def end(self):
        for pid in (self.members() or {}).values():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass

    def look(self):
        """Return what sbt-trace hang reports about all ranks."""
        pids = ",".join(str(p) for p in self.members().values())
        out = self.t.run([SBT, "hang", "--json", "-p", pids]).out
        return [r for r in map(json.loads, out.splitlines()) if r["type"] == "hang"]


def until(what, records, right):
    last = []

    def look():
        last[:] = records()
        return next((r for r in last if right(r)), None)

    try:
        return wait_for(what, look, 30, 0.2)
    except Exception:
        check(False, f"{what}: {[r['text'] for r in last]}")
        return None


def wait_until_stuck(job):
    """Wait until all ranks have printed their number, and have had time to reach the call in which they hang."""
    wait_for("the ranks", job.members, 30)
    time.sleep(0.5)


def of_collective(kind):
    name = COLLECTIVES[kind]

    def right(record):
        return record["verdict"] == "deadlock" and "rank 2 (pid" in record["text"] and \
            f"is in {name} at {SOURCE}:{line_of(kind)}, a different collective on the same communicator" in record["text"]
    return right


def collective(t, mpi, kind):
    job = Job(t, mpi, kind)
    until(f"traced: {kind}", lambda: hangs(job.path), of_collective(kind))
    until(f"hang -p: {kind}", job.look, of_collective(kind))
    job.end()


def test_mpich_bcast(t):
    collective(t, "mpich", "bcast")


def test_openmpi_bcast(t):
    collective(t, "openmpi", "bcast")


def test_mpich_reduce(t):
    collective(t, "mpich", "reduce")


def test_openmpi_allreduce(t):
    """Both operations are barriers, which the communicator does not distinguish."""
    collective(t, "openmpi", "allreduce")


def test_mpich_allreduce(t):
    collective(t, "mpich", "allreduce")


def missing_message(t, mpi):
    """Rank 2 waits for rank 0, which waits at a barrier for rank 2."""
    job = Job(t, mpi, "recv")

    def right(record):
        return record["verdict"] == "deadlock" and re.search(
            rf"rank 2 \(pid \d+\) waits in MPI_Recv at {SOURCE}:{line_of('recv')} for rank 0 \(pid \d+\), which waits "
            rf"at the barrier at {SOURCE}:{line_of('barrier')} for rank 2", record["text"])
    until("traced", lambda: hangs(job.path), right)
    until("hang -p", job.look, right)
    job.end()


def test_mpich_missing_message(t):
    missing_message(t, "mpich")


def test_openmpi_missing_message(t):
    missing_message(t, "openmpi")


def circle(t, mpi, kind):
    job = Job(t, mpi, kind)
    name = CIRCLES[kind]

    def right(record):
        step = rf"waits in {name} at {SOURCE}:{line_of(kind)} for rank "
        members = job.members() or {}
        return record["verdict"] == "deadlock" and len(re.findall(step, record["text"])) == 3 and \
            {c["tid"] for c in record["cycle"]} == set(members.values()) and \
            all(c["next"] == members[((r + 1) % 3)] for c in record["cycle"]
                for r, pid in members.items() if pid == c["tid"])
    until("traced", lambda: hangs(job.path), right)
    until("hang -p", job.look, right)
    job.end()


def test_mpich_cycle(t):
    circle(t, "mpich", "cycle")


def test_openmpi_cycle(t):
    circle(t, "openmpi", "cycle")


def test_mpich_ssend(t):
    circle(t, "mpich", "ssend")


def test_mpich_sendrecv(t):
    circle(t, "mpich", "sendrecv")


def test_requests(t):
    """The rank that a request waits for cannot be read: the report says that ranks wait so, and claims no deadlock."""
    for mpi in MPIRUN:
        job = Job(t, mpi, "irecv", traced=False)
        wait_until_stuck(job)
        check_equal(f"{mpi}: deadlocks", [r["text"] for r in job.look() if r["verdict"] == "deadlock"], [])
        pids = ",".join(str(p) for p in job.members().values())
        text = " ".join(t.run([SBT, "hang", "-p", pids]).out.split())
        check_in(mpi, "3 processes wait in an MPI call for a message (such as MPI_Wait)", text)
        job.end()


def test_ping_pong(t):
    """Each rank is nearly always in MPI_Recv(), for a message of the other. Nothing hangs."""
    for mpi in MPIRUN:
        job = Job(t, mpi, "pingpong", ranks=2, traced=False)
        wait_until_stuck(job)
        for _ in range(4):
            check_equal(f"{mpi}: deadlocks", [r["text"] for r in job.look() if r["verdict"] == "deadlock"], [])
        job.end()
