# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""MPI ranks that wait for each other in calls that are not traced. The report must say so, in every format."""

import json
import re
import shutil

from harness import (SBT, Skip, Trace, check, check_all_in, check_between, check_equal, check_in, check_not_in,
                     clean_environment, read_text, workload)
from test_mpi import ENVIRONMENT, MPIRUN

PAIRED = True
ROUNDS = 60


def job(t, mpi, program, *options, ranks=2, tracer=("--json",), out=None):
    if not shutil.which(MPIRUN[mpi][0]):
        raise Skip(f"no {MPIRUN[mpi][0]}")
    result = t.run([SBT, *tracer, "-o", out, "--", *MPIRUN[mpi], "-n", str(ranks), workload(program), *options],
                   env=clean_environment(**ENVIRONMENT), rc=0)
    return result


def waits(t, mpi, kind, names, program="mpi_waits_{}"):
    """Check that ranks wait a third of their time in such calls, by their own clock, and that the report does not call this
    work."""
    out = t.path()
    result = job(t, mpi, program.format(mpi), kind, str(ROUNDS), out=out)
    trace = Trace(t, out)
    waited = {int(r): int(ns) for r, ns in re.findall(r"^# waited (\d+) (\d+)", result.out, re.M)}
    (group,) = trace.all("group")
    check_between("time in the calls", max(waited.values()), ROUNDS * 1500000, 1 << 62)
    for p in (group, *trace.processes()):
        for name in names:
            check_in("functions", name, p["untraced"])
        check_not_in("verdict", "Balanced", p["verdict"])
    (finding,) = [f for f in trace.all("finding") if f["kind"] == "untraced"]
    check_in("finding", "upper limit", finding["text"])


def test_mpich_recv(t):
    waits(t, "mpich", "recv", ["MPI_Recv", "MPI_Send"])


def test_mpich_gather(t):
    waits(t, "mpich", "gather", ["more"])


def test_openmpi_bcast(t):
    waits(t, "openmpi", "bcast", ["MPI_Recv", "MPI_Send"])


MADE = ["MPI_Comm_create_group", "MPI_Win_allocate_shared"]


def test_makers(t):
    """A call that makes a communicator or shared memory, and is not traced, is named like the other calls."""
    for mpi in MPIRUN:
        for kind in ("create_group", "shared_window"):
            waits(t, mpi, kind, MADE, program="mpi_makers_{}")


def silent(t, mpi, kind, names, tracer=("--json",), program="mpi_waits_{}"):
    """Check a program that crosses no barrier, so no figure includes the ranks. A remark mentions them, and the report is not
    complete."""
    out = t.path()
    job(t, mpi, program.format(mpi), kind, "20", "silent", out=out, tracer=tracer)
    if "record" in tracer:
        return out
    trace = Trace(t, out)
    check_equal("episodes", trace.end["episodes"], 0)
    check_equal("complete", trace.end["complete"], False)
    (remark,) = [r for r in trace.all("remark") if r["kind"] == "untraced"]
    for name in (*names, program.format(mpi), "2 processes"):
        check_in("remark", name, remark["text"])
    return out


def test_silent(t):
    """Ranks that cross no barrier and wait in calls that are not traced."""
    for mpi in MPIRUN:
        for kind in ("bcast", "recv"):
            silent(t, mpi, kind, ["MPI_Recv"])
        silent(t, mpi, "shared_window", MADE, program="mpi_makers_{}")


def test_silent_system(t):
    """-a examines every process, and reports the same about processes that no barrier makes known."""
    for mpi in MPIRUN:
        if not shutil.which(MPIRUN[mpi][0]):
            raise Skip(f"no {MPIRUN[mpi][0]}")
        tracer = t.attach("-a")
        program = workload(f"mpi_waits_{mpi}")
        job = t.start([*MPIRUN[mpi], "-n", "2", program, "bcast", "100", "silent"], env=clean_environment(**ENVIRONMENT))
        job.wait()
        trace = tracer.stop()
        check_equal("complete", trace.end["complete"], False)
        check(any(r["kind"] == "untraced" and program in r["text"] and "MPI_Recv" in r["text"] for r in trace.all("remark")),
              "no remark names the program")


def test_silent_every_format(t):
    """Live as text; from a recording as text, JSON, CSV and HTML."""
    words, where = "where they may wait for other MPI ranks", "mpi_waits_mpich"
    recording = silent(t, "mpich", "wait", [], tracer=("record",))
    text = t.run([SBT, "report", "--detail", recording]).out
    check_all_in("text", (words, "INCOMPLETE: processes that crossed no barrier may wait"), " ".join(text.split()))
    rows = [json.loads(line) for line in t.run([SBT, "report", "--detail", "--json", recording]).out.splitlines()]
    check(any(r["type"] == "remark" and words in r["text"] and where in r["text"] for r in rows), "JSON")
    check_equal("complete", rows[-1]["complete"], False)
    check_in("CSV", words, t.run([SBT, "report", "--detail", "--csv", recording]).out)
    page = t.path()
    t.run([SBT, "report", "--detail", "--html", page, recording])
    check_in("page", words, " ".join(read_text(page).split()))


def test_alone(t):
    """A single rank waits for no other. A rank that crosses a barrier is in the figures. Neither has a remark."""
    for ranks, options in ((1, ("bcast", "5", "silent")), (2, ("bcast", "5"))):
        out = t.path()
        job(t, "mpich", "mpi_waits_mpich", *options, ranks=ranks, out=out)
        trace = Trace(t, out)
        check_equal("remarks", [r for r in trace.all("remark") if r["kind"] == "untraced"], [])
        check_equal("complete", trace.end["complete"], True)


def test_fortran(t):
    for mpi in MPIRUN:
        out = t.path()
        job(t, mpi, f"mpi_waitf_{mpi}", out=out)
        for p in Trace(t, out).processes():
            check_equal("functions", p["untraced"], "MPI_Bcast and MPI_Reduce")


def test_nothing_but_barriers(t):
    """A program without such calls has no remark."""
    out = t.path()
    job(t, "mpich", "mpi_meets_mpich", "none", "30", out=out)
    trace = Trace(t, out)
    check_equal("ranks", len(trace.processes()), 2)
    for p in trace.processes():
        check_equal("functions", p["untraced"], None)
    check_equal("findings", [f for f in trace.all("finding") if f["kind"] == "untraced"], [])


def test_every_format(t):
    """Live and from a recording: text, JSON, CSV and HTML."""
    recording = t.path()
    job(t, "mpich", "mpi_waits_mpich", "wait", "20", tracer=("record",), out=recording)
    text = t.run([SBT, "report", "--detail", recording]).out
    check_all_in("text", ("in which it may wait", "parallel efficiency, the product of the three: an upper limit"), " ".join(text.split()))
    rows = [json.loads(line) for line in t.run([SBT, "report", "--detail", "--json", recording]).out.splitlines()]
    check(all("MPI_Wait" in r["untraced"] for r in rows if r["type"] == "process"), "JSON")
    check_in("CSV", "MPI_Wait", t.run([SBT, "report", "--detail", "--csv", recording]).out)
    page = t.path()
    t.run([SBT, "report", "--detail", "--html", page, recording])
    check_in("page", "in which it may wait", " ".join(read_text(page).split()))
