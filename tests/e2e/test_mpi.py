# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""MPI: the members of an episode are processes. Both implementations are tested, C and Fortran, sbt-trace around mpirun and
mpirun around sbt-trace."""

import collections
import os
import shutil
import signal

import genlog
from harness import (SBT, Failure, Skip, Trace, check, check_between, check_equal, check_in, check_last,
                     check_waits, clean_environment, descendants, shared, wait_for, workload)

PAIRED = True

MPIRUN = {"openmpi": ["mpirun.openmpi", "--oversubscribe"], "mpich": ["mpirun.mpich"]}
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def mpirun(t, mpi, ranks, program, *options, inside=False, tracer=()):
    """Run ranks with one tracer around mpirun, or with one tracer in each rank. Return the output and the trace."""
    if not shutil.which(MPIRUN[mpi][0]):
        raise Skip(f"no {MPIRUN[mpi][0]}")
    out = t.path()
    launcher = [*MPIRUN[mpi], "-n", str(ranks)]
    traced = [SBT, "--json", "-o", out, "-W", *tracer, "--"]
    command = [workload(program), *options]
    result = t.run(launcher + traced + command if inside else traced + launcher + command,
                   env=clean_environment(**ENVIRONMENT), rc=0)
    return result, Trace(t, out)


def known_answers(*args, **more):
    """Repeat a failed test up to twice. A rank that loses its CPU between its clock and the call waits in the log and not in the
    trace. Ranks are mpirun's children, which are not stopped. They may reach their first call before they are known, or end
    before it is known which ranks they are, which is reported. One such failure is chance."""
    for attempt in range(3):
        try:
            return known_answers_once(*args, **more)
        except Failure as failure:
            if attempt == 2 or not any(what in str(failure) for what in ("cumulative wait", "not_examined", "ranks_gone")):
                raise
    return None


def known_answers_once(t, mpi, ranks, program, kind, *more, inside=False, rounds=60, teams=1, by="sleep"):
    """Check that every episode of the log is found, and no other, with its last arriver, barrier time and waits."""
    path = t.path()
    if teams > 1:
        more = (*more, "--teams", str(teams))
    result, trace = mpirun(t, mpi, ranks, program, "--rounds", str(rounds), "--kind", kind, "--log",
                           path, "--work-by", by, "--work", "stair:200us:300us", *more, inside=inside)
    trace.nothing_lost()
    gone = [r["text"] for r in trace.all("remark") if r["kind"] == "ranks_gone"]
    check(not gone, f"ranks_gone: {gone}")
    log = genlog.Log(path)
    held = trace.compare(log)
    for what in ("missing", "incomplete"):
        check_equal(what, held[what], 0)
    check_last(held)
    check_equal("matched", held["matched"], rounds * teams)
    # The creation of the teams is an episode, too.
    check_equal("extra", held["extra"], int(teams > 1))
    # Spinning ranks have all CPUs, so sbt-trace runs in the place of one of them.
    check_waits(held, 0.05)
    check(held["barrier_error_ns"]["median"] < 20000, f"{held['barrier_error_ns']}")
    check_equal("SBT reports", result.err.count("SBT report"), 0)
    return trace


def test_openmpi_barrier(t):
    trace = known_answers(t, "openmpi", 2, "gen_openmpi", "barrier")
    row = max(trace.barriers(), key=lambda b: b["episodes"])
    check_equal("row", (row["family"], row["kind"], row["shared"], row["episodes"]),
                ("mpi", "explicit", True, 60))
    check_equal("ranks", sorted(m["index"] for m in row["threads"]), [0, 1])


def test_mpich_barrier(t):
    trace = known_answers(t, "mpich", 2, "gen_mpich", "barrier")
    check_equal("crossings: one hit, not two", trace.crossings(family="mpi"), 120)


def test_openmpi_allreduce_of_four(t):
    known_answers(t, "openmpi", 4, "gen_openmpi", "allreduce")


def test_mpich_allreduce_of_four(t):
    known_answers(t, "mpich", 4, "gen_mpich", "allreduce")


def test_openmpi_profiling_names(t):
    known_answers(t, "openmpi", 2, "gen_openmpi", "pbarrier")


def test_mpich_profiling_names(t):
    known_answers(t, "mpich", 2, "gen_mpich", "pbarrier")


def test_openmpi_fortran(t):
    for kind in ("barrier", "allreduce", "f08barrier", "f08allreduce"):
        trace = known_answers(t, "openmpi", 2, "gen_openmpif", kind)
        check_equal(f"crossings of {kind}", trace.crossings(family="mpi"), 120)


def test_mpich_fortran(t):
    for kind in ("barrier", "allreduce", "f08barrier", "f08allreduce"):
        trace = known_answers(t, "mpich", 2, "gen_mpichf", kind)
        check_equal(f"crossings of {kind}", trace.crossings(family="mpi"), 120)


def test_job_as_one_team(t):
    """Of four ranks, the last one works longest. The figures of the whole job show it, and those of a single rank show nothing."""
    for mpi, program in (("openmpi", "gen_openmpi"), ("mpich", "gen_mpich")):
        _, trace = mpirun(t, mpi, 4, program, "--rounds", "200", "--work", "stair:1ms:1ms", "--work-by", "sleep")
        (group,) = trace.all("group")
        check_equal("processes", sorted(p["pid"] for p in group["processes"]),
                    sorted(p["pid"] for p in trace.processes()))
        check_equal("threads", [m["index"] for m in group["threads"]], [0, 1, 2, 3])
        check_equal("ranked", group["ranked"], True)
        work = [m["work_ns"] for m in group["threads"]]
        # Except for the start of MPI, which takes the other ranks about as long.
        check_equal("the rank that works longest", work.index(max(work)), 3)
        spent = group["efficiency"]
        for what, expected in (("load_balance", sum(work) / 4 / max(work)),
                               ("parallel", sum(work) / 4 / group["elapsed_ns"])):
            check_between(what, spent[what], expected - 0.001, expected + 0.001)
        # They wait 3, 2, 1 and 0 ms of each round. Time that other programs take from any of them is added.
        waits = [m["wait_ns"] for m in group["threads"]]
        check_equal("ranks by their waits", sorted(range(4), key=lambda rank: -waits[rank]), [0, 1, 2, 3])
        check(sum(waits) >= 200 * 5e6, f"they wait {waits} ns only")
        for p in trace.processes():
            check_equal("a rank's own", (p["efficiency"]["parallel"], p["lost_static"]), (None, None))
        row = max(trace.barriers(), key=lambda b: b["episodes"])
        check_equal("last", [m["index"] for m in row["threads"] if m["tid"] == row["last_tid"]], [3])


def test_openmpi_all_collectives(t):
    for kind in ("alltoall", "allgather", "allgatherv", "alltoallv", "alltoallw", "reduce_scatter",
                 "reduce_scatter_block"):
        known_answers(t, "openmpi", 2, "gen_openmpi", kind, rounds=20)


def test_mpich_all_collectives(t):
    for kind in ("alltoall", "allgather", "allgatherv", "alltoallv", "alltoallw", "reduce_scatter",
                 "reduce_scatter_block"):
        known_answers(t, "mpich", 2, "gen_mpich", kind)


def test_openmpi_teams(t):
    known_answers(t, "openmpi", 4, "gen_openmpi", "barrier", teams=2)


def test_mpich_teams(t):
    known_answers(t, "mpich", 4, "gen_mpich", "allreduce", teams=2)


def test_openmpi_each_rank_its_tracer(t):
    known_answers(t, "openmpi", 4, "gen_openmpi", "barrier", inside=True)


def test_mpich_each_rank_its_tracer(t):
    known_answers(t, "mpich", 4, "gen_mpich", "barrier", inside=True)


def test_mpich_each_rank_its_tracer_and_teams(t):
    known_answers(t, "mpich", 4, "gen_mpich", "allreduce", inside=True, teams=2)


@shared
def test_status_is_the_ranks_own(t):
    """mpirun sbt-trace: mpirun gets the output and the status of the ranks, as without tracing."""
    for mpi in MPIRUN:
        if not shutil.which(MPIRUN[mpi][0]):
            raise Skip(f"no {MPIRUN[mpi][0]}")
        command = ["sh", "-c", "echo rank $OMPI_COMM_WORLD_RANK$PMI_RANK; "
                   "test 2 != \"$OMPI_COMM_WORLD_RANK$PMI_RANK\" || { sleep 1; exit 3; }"]
        result = t.run([*MPIRUN[mpi], "-n", "4", SBT, "-o", t.path(), "--", *command],
                       env=clean_environment(**ENVIRONMENT))
        check_equal("what they print", sorted(result.out.split("\n")[:4]),
                    [f"rank {i}" for i in range(4)])
        check(result.rc != 0, "the failure of rank 2 was not passed on")


def test_library_in_an_unusual_folder(t):
    """Ranks are not stopped: their MPI library gets its probes before mpirun begins, even if only the dynamic linker can find
    it."""
    here = next((line.split()[2] for line in t.run(["ldd", workload("gen_mpich")]).out.splitlines()
                 if line.split()[0].startswith("libmpich.so")), None) if shutil.which(MPIRUN["mpich"][0]) else None
    if not here:
        raise Skip("no mpirun.mpich")
    folder, out = os.path.realpath(t.path()), t.path()
    os.mkdir(folder)
    shutil.copy(here, folder)
    t.run([SBT, "--json", "-o", out, "--", *MPIRUN["mpich"], "-n", "3", workload("gen_mpich"), "--kind", "barrier",
           "--rounds", "30"], env=clean_environment(LD_LIBRARY_PATH=folder), rc=0)
    trace = Trace(t, out)
    mine = [p for p in trace.session["probes"] if os.path.dirname(p["binary"]) == folder]
    check("MPI_Barrier" in {p["symbol"] for p in mine}, f"probes there before it began: {mine}")
    check_equal("episodes", trace.episodes(family="mpi"), 30)


# --- communicators ----------------------------------------------------------------------------------

EPISODES = {"on_dup": [(4, 3)], "on_split": [(1, 5), (2, 5)], "on_split_of_dup": [(2, 7)] * 2,
            "on_split_anew": [(2, 9)] * 2, "on_split_type": [(4, 4)], "on_cart": [(4, 6)],
            "on_create": [(3, 10)]}


def communicators(t, mpi, inside):
    result, trace = mpirun(t, mpi, 4, f"mpi_comms_{mpi}", inside=inside)
    trace.nothing_lost()
    found = collections.defaultdict(collections.Counter)
    unsure = 0
    for e in trace.all("episode"):
        row = [b for b in trace.barriers() if b["id"] == e["barrier"]]
        # Four spinning ranks use two CPUs. The episodes of a new communicator may be uncertain, and are then reported as such.
        if e["state"] in ("complete", "ambiguous") and row:
            found[row[0]["function"]][frozenset(m["tid"] for m in e["threads"])] += 1
            unsure += e["state"] == "ambiguous"
    check_between("episodes in doubt", unsure, 0, 2)
    for function, expected in EPISODES.items():
        check_equal(function, sorted((len(k), n) for k, n in found[function].items()), expected)
    # Which ranks are in a row of a grid depends on data that is not examined, so nothing is reported about them.
    rows = trace.barriers(function="on_cart_sub")
    check_equal("episodes of the unknown", sum(b["episodes"] for b in rows), 0)
    check_equal("crossings of the unknown", sum(b["crossings"] for b in rows), 32)
    check_in("a sentence", "32 MPI crossings on communicators that were created untraced",
             result.err)


def test_openmpi_communicators(t):
    communicators(t, "openmpi", False)


def test_mpich_communicators(t):
    communicators(t, "mpich", False)


def test_openmpi_communicators_inside(t):
    communicators(t, "openmpi", True)


def test_fortran_communicators(t):
    for mpi in MPIRUN:
        _, trace = mpirun(t, mpi, 4, f"mpi_split_{mpi}")
        trace.nothing_lost()
        counts = sorted((b["episodes"], b["crossings"]) for b in trace.barriers(function="mpi_split"))
        check_equal(f"{mpi}: split, all-reduce, two halves", counts, [(1, 4), (5, 20), (20, 40),
                                                                       (20, 40)])


@shared
def test_ranks_that_live_while_not_examined(t):
    """The tracer is stopped from before its ranks begin until they have ended. Their first crossings are still recorded,
    because their files were examined before. It can no longer be found out which ranks they were, and no episode is
    invented."""
    for mpi in MPIRUN:
        if not shutil.which(MPIRUN[mpi][0]):
            raise Skip(f"no {MPIRUN[mpi][0]}")
        out = t.path()
        command = " ".join([*MPIRUN[mpi], "-n", "4", workload(f"mpi_split_{mpi}")])
        # A separate process attaches probes, and it is not stopped.
        result = t.run([SBT, "--json", "-o", out, "--", "sh", "-c", f"kill -STOP $PPID; {command}; rc=$?; kill -CONT $PPID; exit $rc"],
                       env=clean_environment(**ENVIRONMENT), rc=0)
        trace = Trace(t, out)
        trace.nothing_lost()
        check_equal(f"{mpi}: crossings, of which incomplete episodes are made", trace.crossings(family="mpi"), 104)
        check_equal("episodes of several ranks", [b for b in trace.barriers(family="mpi") if b["participants"] not in (None, 1)], [])
        check_equal("episodes", trace.episodes(family="mpi"), 0)
        check_in("reported", "104 MPI crossings by processes that ended before their ranks were known",
                 " ".join(result.err.split()))
        check_equal("complete", trace.end["complete"], False)


@shared
def test_no_mpirun(t):
    """A single rank that belongs to no job: the other ranks of its world are unknown."""
    out = t.path()
    result = t.run([SBT, "--json", "-o", out, "-W", "--", workload("gen_mpich"), "--rounds", "5",
                    "--kind", "barrier"], env=clean_environment(**ENVIRONMENT), rc=0)
    trace = Trace(t, out)
    check_equal("episodes", trace.episodes(family="mpi"), 0)
    check_in("a sentence", "of an unknown job", result.err)


def program_of(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


@shared
def test_attached(t):
    """Communicators that were made before are unknown. The world is known, and is complete."""
    for mpi in MPIRUN:
        if not shutil.which(MPIRUN[mpi][0]):
            continue
        job = t.start([*MPIRUN[mpi], "-n", "2", workload(f"gen_{mpi}"),
                       "--rounds", "2000", "--work-by", "sleep", "--work", "stair:1ms:1ms",
                       "--kind", "barrier"], env=clean_environment(**ENVIRONMENT))
        out = t.path()
        ranks = wait_for("the ranks", lambda: [str(p) for p in descendants(job.pid)
                                               if os.path.basename(program_of(p)) == f"gen_{mpi}"][1:]
                         and [str(p) for p in descendants(job.pid)
                              if os.path.basename(program_of(p)) == f"gen_{mpi}"])
        t.run([SBT, "--json", "-o", out, "-p", ",".join(ranks), "--duration", "2"], rc=0)
        trace = Trace(t, out)
        check(trace.episodes(family="mpi") > 100, f"{trace.episodes(family='mpi')} episodes")
        check(all(b["shared"] for b in trace.barriers(family="mpi")), "not shared")
        job.signal(signal.SIGTERM)
        job.wait()
