# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Recordings of the ranks of one MPI job, as if made on separate nodes, are matched by the ordinal of each call on its
communicator. Each episode is found, even if little is known about the clocks."""

import shutil

from harness import (SBT, Skip, Trace, check, check_equal, check_in, clean_environment, code_differs, descendants,
                     read_proc, read_text, wait_for, workload)
from test_mpi import ENVIRONMENT, MPIRUN, program_of

PAIRED = True
ROUNDS = 20


NOTHING_ELSE = "export OMPI_COMM_WORLD_LOCAL_SIZE=1 MPI_LOCALNRANKS=1; rank=$OMPI_COMM_WORLD_RANK$PMI_RANK"


def launcher(mpi, ranks):
    if not shutil.which(MPIRUN[mpi][0]):
        raise Skip(f"no {MPIRUN[mpi][0]}")
    return [*MPIRUN[mpi], "-n", str(ranks), "sh", "-c"]


def record(t, mpi, *options, ranks=4):
    """Return the recording of each rank. Each rank is started as if it were alone on its machine."""
    name, program = t.path("rank"), workload("mpi_ordinal_" + mpi)
    t.run([*launcher(mpi, ranks),
           f"{NOTHING_ELSE}; exec {SBT} record -q -o {name}.$rank -- {program} " + " ".join(options)],
          env=clean_environment(**ENVIRONMENT), timeout=60, rc=0)
    return [f"{name}.{i}" for i in range(ranks)]


def read(t, recordings, *options):
    path = t.path()
    result = t.sbt("report", "--detail", "--json", "-o", path, *options, *recordings, rc=0)
    return Trace(t, path), result


def each_is_found(t, mpi, ranks):
    recordings = record(t, mpi, str(ROUNDS), "300", ranks=ranks)
    for order in (recordings, recordings[1:] + recordings[:1]):
        trace, _ = read(t, order)
        trace.nothing_lost()
        check_equal("remarks", [r["text"] for r in trace.all("remark") if r["kind"] == "clocks"], [])
        found = {}
        for b in trace.barriers(family="mpi"):
            found.setdefault(b["function"], []).append((b["episodes"], b["participants"], b["incomplete"], b["ambiguous"]))
        for function, groups in (("on_world", 1), ("on_dup", 1), ("on_half", 2), ("on_anew", ranks // 2)):
            check_equal(function, (sum(f[0] for f in found[function]), {f[1:] for f in found[function]}),
                        (ROUNDS * groups, {(ranks // groups, 0, 0)}))
        check_equal("each alone", (sum(f[0] for f in found["on_self"]), {f[1:] for f in found["on_self"]}),
                    (ROUNDS * (ranks + 2), {(1, 0, 0)}))


def test_mpich(t):
    each_is_found(t, "mpich", 4)


def test_openmpi(t):
    each_is_found(t, "openmpi", 2)


def late(t, mpi):
    """The tracer attaches to rank 1 while it runs, so the ordinals of its calls are unknown. Each format says so."""
    name, go, program = t.path("rank"), t.path("go"), workload("mpi_ordinal_" + mpi)
    job = t.start([*launcher(mpi, 2),
                   f"{NOTHING_ELSE}; tracer='{SBT} record -q -o {name}.0 --'; test $rank = 0 || tracer=; "
                   f"exec $tracer {program} {ROUNDS} 2000 {go}"], env=clean_environment(**ENVIRONMENT))

    def rank_1():
        for pid in descendants(job.pid):
            if program_of(pid) == program and b"RANK=1\0" in read_proc(pid, "environ"):
                return pid
        return None

    pid = wait_for("rank 1", rank_1, 30)
    tracer = t.start([SBT, "record", "-q", "-o", name + ".1", "-p", str(pid)])
    wait_for("it is traced", lambda: code_differs(pid), 30)
    with open(go, "w", encoding="ascii"):
        pass
    check_equal("the job", job.wait().rc, 0)
    check_equal("the tracer", tracer.wait().rc, 0)
    recordings = [name + ".0", name + ".1"]
    trace, result = read(t, recordings)
    said = [r["text"] for r in trace.all("remark") if r["kind"] == "clocks"]
    check(any("crossings of MPI are matched with those of other recordings by time" in s and "rank.1" in s for s in said),
          f"{said}")
    check_in("on stderr", "are matched with those of other recordings by time", result.err)
    table = t.path()
    t.sbt("report", "--detail", "--csv", "-o", table, *recordings)
    check_in("as a table", "by time, because their ordinal", read_text(table))
    check_in("as text", "are matched with those of other recordings",
             " ".join(t.sbt("report", "--detail", *recordings).out.split()))


def test_mpich_late(t):
    late(t, "mpich")


def test_openmpi_late(t):
    late(t, "openmpi")
