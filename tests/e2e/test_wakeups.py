# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""No BPF program wakes sbt-trace for each record. A wake-up costs the traced program an interrupt, which takes longer than writing
the record, and takes a CPU from the program. Two cases are distinguished: sbt-trace reads as fast as records arrive, or it is
behind and its rings are full."""

import os
import re
import signal
import time

from harness import Failure, Skip, check, read_text, wait_for

# Wake-ups per record. At most one record in 64 wakes sbt-trace. While sbt-trace reads, one wake-up may be for several records: if
# each record requests one, 0.05 to 0.6 per record were measured.
RATIO_READING = 0.03
RATIO_BEHIND = 0.1
TIMER = 100  # sbt-trace reads the rings at most this many times in a second without being woken
THREADS = 4
ROUNDS = 10000
RING_KIB = 2048
RECORDS = 20000  # that a ring of this size holds: a record of a crossing has at least 88 bytes
TRIES = 3  # other programs of the machine also cause interrupts


def switches(pid):
    """Return how often the threads of the process have waited for something, or None if the process has ended."""
    try:
        return sum(int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", read_text(f"/proc/{pid}/task/{tid}/status"), re.M)[1])
                   for tid in os.listdir(f"/proc/{pid}/task"))
    except (OSError, TypeError):
        return None


def interrupts(cpu):
    """Return how many interrupts of this CPU were requested by the CPU itself, as BPF programs do to wake the reader of a ring."""
    header, *rows = read_text("/proc/interrupts").splitlines()
    for row in rows:
        if "IRQ work interrupts" in row:
            return int(row.split()[1 + header.split().index(f"CPU{cpu}")])
    raise Skip("this kernel does not count the interrupts for IRQ work")


def begin(t, name, rounds, threads, options):
    gen = t.gen("--threads", str(threads), "--rounds", str(rounds), name=name, wait=True)
    tracer = t.attach(*options, "-p", str(gen.pid))
    return gen, tracer


def check_reading(t, name, records, *options, rounds=ROUNDS, threads=THREADS):
    """Check the wake-ups of sbt-trace while it reads. @records: a function that returns the number of records of a
    trace."""
    gen, tracer = begin(t, name, rounds, threads, options)
    began = until = time.monotonic()
    first = last = switches(tracer.process.pid)
    gen.begin()
    while gen.alive():
        now = switches(tracer.process.pid)
        if now is not None:
            last, until = now, time.monotonic()
        time.sleep(0.005)
    trace = tracer.end()
    written = records(trace)
    woken = max(0, last - first - TIMER * (until - began))
    print(f"{name}: {written} records in {until - began:.2f} s; sbt-trace waited {last - first} times, {woken:.0f} of them beyond its timer")
    check(written >= RECORDS, f"only {written} records were written")
    check(woken < RATIO_READING * written, f"{woken:.0f} wake-ups for {written} records")


def crossings(trace):
    return trace.end["produced"]


def crossings_and_candidates(_):
    """Each thread writes one record in each round: a candidate before the barrier is known, and then a crossing. The trace has no
    count of candidates."""
    return ROUNDS * THREADS


def test_reading_condition(t):
    check_reading(t, "gen_cond", crossings_and_candidates)


def test_reading_pthread(t):
    check_reading(t, "gen", crossings)


def test_reading_openmp(t):
    check_reading(t, "gen_gomp", crossings, rounds=2 * ROUNDS, threads=2)


def test_reading_futex(t):
    check_reading(t, "gen_futex", crossings_and_candidates, "--discover")


def test_reading_threads(t):
    """A program that creates and joins one thread in each round: the creation and the end of each are records."""
    check_reading(t, "gen_forkjoin", lambda trace: 2 * ROUNDS, threads=2)


def filled(t, name, options, lost):
    """Let the program fill rings while sbt-trace is stopped, and return the number of interrupts meanwhile. The program has only
    one CPU, so that it fills no more than the rings of this CPU and of the next one."""
    cpu = min(os.sched_getaffinity(0))
    # Each round writes a record for each thread.
    gen, tracer = begin(t, name, 4 * RECORDS // THREADS, THREADS, ["--ring-size", str(RING_KIB), *options])
    for tid in os.listdir(f"/proc/{gen.pid}/task"):
        os.sched_setaffinity(int(tid), {cpu})
    tracer.process.signal(signal.SIGSTOP)
    try:
        wait_for("sbt-trace is stopped", lambda: "State:\tT" in read_text(f"/proc/{tracer.process.pid}/status"))
        before = interrupts(cpu)
        gen.begin()
        gen.wait()
        counted = interrupts(cpu) - before
    finally:
        tracer.process.signal(signal.SIGCONT)
    trace = tracer.end()
    check(trace.end["lost"][lost] > 0, f"no ring was filled: {trace.end}")
    return counted


def check_behind(t, name, lost, *options):
    counts = []
    for _ in range(TRIES):
        counts.append(filled(t, name, options, lost))
        print(f"{name}: {counts[-1]} interrupts for more than {RECORDS} records")
        if counts[-1] < RATIO_BEHIND * RECORDS:
            return
    raise Failure(f"{min(counts)} interrupts or more for {RECORDS} records")


def test_behind_condition(t):
    """Before sbt-trace has read the first waits, it does not know the barrier, and each wait is a candidate."""
    check_behind(t, "gen_cond", "candidate_lost")


def test_behind_futex(t):
    check_behind(t, "gen_futex", "candidate_lost", "--discover")


def test_behind_pthread(t):
    check_behind(t, "gen", "ring_full")


def test_behind_openmp(t):
    check_behind(t, "gen_gomp", "ring_full")
