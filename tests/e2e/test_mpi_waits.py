# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""MPI: ranks that wait for one another in calls that are not traced. The report must say so, in every format."""

import json
import re
import shutil

from harness import SBT, Skip, Trace, check, check_between, check_equal, check_in, check_not_in, clean_environment, workload
from test_mpi import ENVIRONMENT, MPIRUN

PAIRED = True
ROUNDS = 60


def job(t, mpi, program, *options, ranks=2, tracer=("--json",), out=None):
    if not shutil.which(MPIRUN[mpi][0]):
        raise Skip(f"no {MPIRUN[mpi][0]}")
    result = t.run([SBT, *tracer, "-o", out, "--", *MPIRUN[mpi], "-n", str(ranks), workload(program), *options],
                   env=clean_environment(**ENVIRONMENT))
    check_equal("exit status", result.rc, 0)
    return result


def waits(t, mpi, kind, names, program="mpi_waits_{}"):
    """The ranks wait a third of their time in such calls, by their own clock; the report does not call that work."""
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


def test_fortran(t):
    for mpi in MPIRUN:
        out = t.path()
        job(t, mpi, f"mpi_waitf_{mpi}", out=out)
        for p in Trace(t, out).processes():
            check_equal("functions", p["untraced"], "MPI_Bcast and MPI_Reduce")


def test_nothing_but_barriers(t):
    """A program without such calls is not marked."""
    out = t.path()
    job(t, "mpich", "mpi_meets_mpich", "none", "30", out=out)
    trace = Trace(t, out)
    check_equal("ranks", len(trace.processes()), 2)
    for p in trace.processes():
        check_equal("functions", p["untraced"], None)
    check_equal("findings", [f for f in trace.all("finding") if f["kind"] == "untraced"], [])


def test_every_format(t):
    """Live and from a recording: text, JSON, CSV and the page."""
    recording = t.path()
    job(t, "mpich", "mpi_waits_mpich", "wait", "20", tracer=("record",), out=recording)
    text = t.run([SBT, "report", recording]).out
    check_in("text", "in which it may wait", " ".join(text.split()))
    check_in("text", "PE at most", " ".join(text.split()))
    rows = [json.loads(line) for line in t.run([SBT, "report", "--json", recording]).out.splitlines()]
    check(all("MPI_Wait" in r["untraced"] for r in rows if r["type"] == "process"), "JSON")
    check_in("CSV", "MPI_Wait", t.run([SBT, "report", "--csv", recording]).out)
    page = t.path()
    t.run([SBT, "report", "--html", page, recording])
    with open(page, encoding="utf-8") as f:
        check_in("page", "in which it may wait", " ".join(f.read().split()))
