# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Numeric libraries that divide a call among threads: OpenBLAS and FFTW, with threads of their own and with OpenMP."""

import glob
import os
import re

from harness import Skip, check, check_between, check_equal, check_in, paired, read_text, shared, workload

ROUNDS = re.compile(r"rounds=(\d+)")


def with_openblas(kind):
    """Return a command that runs blas_rounds with this build of OpenBLAS and three threads."""
    program = workload("blas_rounds")
    for folder in glob.glob(f"/usr/lib/*/openblas-{kind}"):
        if os.path.exists(os.path.join(folder, "libopenblas.so.0")):
            return ["env", f"LD_LIBRARY_PATH={folder}", "OPENBLAS_NUM_THREADS=3", "OMP_NUM_THREADS=3", program]
    raise Skip(f"no OpenBLAS with {kind} here")


def own_threads(t, command, words, *options):
    """Nothing is reported as a barrier, and a remark names the library and how its threads wait."""
    trace = t.trace(command, *options)
    check_in("stdout", " ok", trace.result.out)
    check_equal("barriers", [b["label"] for b in trace.all("barrier")], [])
    check(any(words in r["text"] for r in trace.all("remark") if r["kind"] == "own_threads"), trace.all("remark"))


def on_first_screen(t, command, words):
    """The report names the library and how its threads wait, before the general reasons."""
    path = t.path()
    t.sbt("-o", path, "--", *command, rc=0)
    lines = read_text(path).splitlines()
    check(len(lines) <= 25, f"{len(lines)} lines")
    first = " ".join("\n".join(lines).split("* ")[1].split())
    check_in("the first reason", words, first)


def by_openmp(t, command, least):
    """Each parallel region of the library is an episode. Return the episodes."""
    trace = t.trace(command).nothing_lost()
    rounds = int(ROUNDS.search(trace.result.out)[1])
    episodes = sum(b["episodes"] for b in trace.all("barrier"))
    check_equal("families", {b["family"] for b in trace.all("barrier")}, {"gomp"})
    check_equal("remarks", [r for r in trace.all("remark") if r["kind"] == "own_threads"], [])
    check(episodes >= least * rounds, (episodes, rounds))
    return episodes, rounds


@shared
def test_openblas(t):
    for options in ((), ("--discover",)):
        own_threads(t, with_openblas("pthread"), "spins in exec_blas_async_wait()", *options)
    on_first_screen(t, with_openblas("pthread"), "spins in exec_blas_async_wait()")


@shared
def test_openblas_with_openmp(t):
    episodes, rounds = by_openmp(t, with_openblas("openmp"), 1)
    check_equal("one region in each call", episodes, rounds)


@shared
def test_fftw(t):
    for options in ((), ("--discover",)):
        own_threads(t, [workload("fft_rounds"), "3"], "sleeps in fftw_spawn_loop()", *options)
    on_first_screen(t, [workload("fft_rounds"), "3"], "sleeps in fftw_spawn_loop()")


@paired
def test_fftw_rounds(t):
    """Where FFTW's threads sleep, the calling thread's waits for them are counted, with the program's line."""
    rounds = 100
    trace = t.trace([workload("fft_rounds"), "3", str(rounds)]).nothing_lost()
    (main,) = [a for a in trace.all("activity") if a["tid"] == a["pid"]]
    waits = [w for w in main["woken"] if w["function"] == "main"]
    check_equal("file", {os.path.basename(w["file"]) for w in waits}, {"fft_rounds.c"})
    # Each transform divides two loops among three threads. The calling thread does a part itself, and sleeps if it ends first.
    check_between("waits", sum(w["waits"] for w in waits), 1, 4 * rounds)
    workers = {b["tid"] for w in waits for b in w["by"]}
    check_between("threads that end them", len(workers), 1, 2)
    for a in trace.all("activity"):
        if a["tid"] in workers:
            check_equal("these threads wait for main", {b["tid"] for w in a["woken"] for b in w["by"]}, {main["tid"]})


@shared
def test_fftw_with_openmp(t):
    episodes, rounds = by_openmp(t, ["env", "OMP_NUM_THREADS=3", workload("fft_rounds-omp"), "3"], 1)
    check_equal("the same number of regions in each call", episodes % rounds, 0)
