# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Rounds of threads that are created and joined: each round must be found, and nothing else may be taken for one."""

import collections
import re

from harness import alone, busy_factor, check, check_between, check_equal, genlog, workload

PAIRED = True

WORK = ["--work", "random:100us:3000us:1", "--work-by", "sleep"]
ROUNDS = 60


def forkjoin(trace):
    return [b for b in trace.barriers() if b["family"] == "forkjoin"]


def waits(episodes, place):
    """Return the waits by position in the team, because every round has its own threads."""
    sums = collections.Counter()
    for members in episodes:
        last = max(arrive for _, arrive in members)
        for tid, arrive in members:
            sums[place[tid]] += last - arrive
    return sums


def against_log(t, name, *options, tracer=(), main_works=False):
    """Compare with the log. Main is a member of the team if it works; if it only creates and joins threads, it is not."""
    path = t.path()
    trace = t.trace([workload(name), *WORK, "--rounds", str(ROUNDS), *options, "--log", path],
                    "-W", *tracer).nothing_lost()
    log = genlog.Log(path)
    check_equal("the log itself", log.check(), [])
    if not main_works:
        log.leave_out(max(c.thread for c in log.crossings))
    # A thread logs its end before it has reached it. On a busy host the difference is larger.
    result = trace.compare(log)
    check_equal("matched, missing, extra, incomplete",
                [result[k] for k in ("matched", "missing", "extra", "incomplete")],
                [ROUNDS, 0, 0, 0])
    check_between("share of wrong last threads",
                  result["last_wrong"] / max(result["last_checked"], 1), 0, 0.03 * busy_factor())
    check_between("error of the barrier time", result["barrier_error_ns"]["median"], 0, 20_000)
    place = {c.tid: c.thread for c in log.crossings}
    expected = waits([[(c.tid, c.arrive) for c in e.crossings] for e in log.episodes()], place)
    got = waits([[(m["tid"], m["arrive_ns"]) for m in e["threads"]] for e in trace.all("episode")],
                place)
    check_between("waits", sum(got.values()) / sum(expected.values()), 0.95, 1.05)
    # A thread that loses its CPU between its log entry and its end has ended later.
    for thread, ns in expected.items():
        check_between(f"wait of thread {thread}", got[thread] / ns, 0.9, 1.1)
    return trace, log


def test_known_answers(t):
    for kind in ("order", "reverse", "busy", "exit"):
        # If main works, its work must be long enough to be recognised on a busy machine.
        work = ["--work", "random:1ms:3ms:1"] if kind == "busy" else []
        trace, log = against_log(t, "gen_forkjoin", "--threads", "5", "--kind", kind, *work, main_works=kind == "busy")
        barrier = trace.barrier()
        check_equal("family, kind", (barrier["family"], barrier["kind"]), ("forkjoin", "join"))
        members = 5 if kind == "busy" else 4
        check_equal("participants", (barrier["participants_min"], barrier["participants"]), (members, members))
        check_equal("function", barrier["function"], "join_one")
        check_equal("the object is the creator", int(barrier["object"], 16), log.crossings[0].pid)


def test_two_workers_and_many(t):
    for threads in ("3", "40"):
        against_log(t, "gen_forkjoin", "--threads", threads)


def test_variants(t):
    for name in ("gen_forkjoin-static", "gen_forkjoin-musl", "gen_forkjoin-cxx"):
        trace, _ = against_log(t, name, "--threads", "4")
        check_equal("function", trace.barrier()["function"], "join_one")


def test_times_of_a_worker(t):
    trace, log = against_log(t, "gen_forkjoin", "--threads", "4")
    for e in trace.all("episode"):
        for m in e["threads"]:
            check(m["tid"] != log.crossings[0].pid, f"main, which only joins, is a member: {m}")
            # The thread has ended, so it has no departure.
            check_equal("depart", m["depart_ns"], None)
            # The thread's phase is its life.
            check_between("work", m["work_ns"], 100_000, 50_000_000)


def rounds_of(t, way, *options, threads="4", tracer=()):
    trace = t.trace([workload("not_round"), way, threads, *options], *tracer).nothing_lost()
    told = int(re.search(rf"{way} rounds=(\d+) ok", trace.result.out)[1])
    found = forkjoin(trace)
    check_equal(f"{way}: rounds", sum(b["episodes"] for b in found), told)
    check_equal(f"{way}: incomplete, ambiguous",
                [b["incomplete"] + b["ambiguous"] for b in found if
                 b["incomplete"] + b["ambiguous"]], [])
    return trace


@alone
def test_no_rounds(t):
    """On a busy machine, threads that are created one after another may end one after another, as in a round."""
    for way in ("once", "single", "detached", "window", "foreign", "each", "polled", "abandoned"):
        trace = rounds_of(t, way)
        check_equal(f"{way}: barriers", forkjoin(trace), [])


def test_rounds_of_all_kinds(t):
    for way in ("logger", "shuffled", "nested", "several", "timed", "unequal", "cancelled",
                "barrier", "spread"):
        rounds_of(t, way)


def test_the_creator_last(t):
    trace = rounds_of(t, "shuffled")
    barrier = forkjoin(trace)[0]
    # All workers have ended by then: the others only wait for the creator, which waits for no thread.
    creator = max(barrier["threads"], key=lambda th: th["crossings"])
    check_between("last", creator["last"], 0.9 * barrier["episodes"], barrier["episodes"])


def test_with_another_barrier(t):
    trace = rounds_of(t, "barrier")
    found = [b for b in trace.barriers() if b["family"] == "pthread"]
    check_equal("at the barrier", sum(b["episodes"] for b in found), 3 * 40)
    check_equal("incomplete", trace.end["incomplete"], 0)


def test_not_wanted(t):
    trace = t.trace([workload("gen_forkjoin"), *WORK, "--rounds", "20"], "--no-discover")
    check_equal("barriers", trace.barriers(), [])


def test_attached_to(t):
    process = t.start([workload("gen_forkjoin"), *WORK, "--threads", "4", "--forever"])
    trace = t.attach("-p", str(process.pid), "-d", "1").end().nothing_lost()
    barrier = trace.barrier()
    check(barrier["episodes"] > 50, f"{barrier['episodes']} episodes")
    check_equal("participants", (barrier["participants_min"], barrier["participants"]), (3, 3))
    check_equal("incomplete", trace.end["incomplete"], 0)
    process.popen.terminate()


def scope(t, name, kind, rounds, threads):
    """Rounds of Rust's thread::scope(). The end of a scope waits for all threads at once."""
    trace = t.trace([workload(name), kind, str(rounds), str(threads)])
    (b,) = forkjoin(trace)
    waited = int(re.search(r"waited (\d+)", trace.result.out).group(1))
    check_equal(f"{name}: episodes, participants", (b["episodes"], b["participants"]), (rounds, threads))
    check_between("waits", b["wait_ns"]["sum"] / waited, 0.95, 1.05)
    return trace


def test_scope(t):
    for name, kind, threads in (("rust_scope", "same", 3), ("rust_scope-O0", "turns", 4), ("rust_scope-v0", "turns", 2)):
        scope(t, name, kind, 12, threads).nothing_lost()


def test_scope_main_last(t):
    """No thread waits at the end of a scope if all threads have ended already. This is no episode, and is counted."""
    end = scope(t, "rust_scope", "last", 6, 3).end
    check_equal("complete", end["complete"], False)
    check_equal("given up", end["lost"]["barrier_given_up"], 5 * 3)


def test_scope_unseen(t):
    """If the wait has no name, or is inlined, the report says what it does not include."""
    for name in ("rust_scope-lto", "rust_scope-stripped"):
        trace = t.trace([workload(name), "same", "3", "3"])
        if forkjoin(trace):  # this compiler has kept the names, or has not inlined the wait
            continue
        check(any("std::thread::scope()" in r["text"] for r in trace.all("remark")), f"{name}: no remark")
