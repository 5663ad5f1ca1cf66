# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""The hard cases of the model, end to end: threads and ids that appear and disappear, libraries at changing addresses, one
object at many sites, barriers that are initialised again, more threads than the count, processes."""

import re

from harness import (alone, check, check_between, check_equal, check_in, check_last, check_waits, episodes_by_function, genlog,
                     source_lines, trace_blindfolded, workload)
from test_pid import all_found, traced_gen

PAIRED = True

SLEEP = ["--work-by", "sleep"]


def with_log(t, *options, tracer=("-W",), name="gen"):
    log = t.path()
    trace = t.trace([workload(name), *options, "--log", log], *tracer)
    log = genlog.Log(log)
    check_equal("the log itself", log.check(), [])
    return trace, log


def churn(t, *options):
    trace = t.trace([workload("churn"), *options]).nothing_lost()
    teams, episodes, crossings = map(int, re.search(
        r"teams=(\d+) episodes=(\d+) crossings=(\d+)", trace.result.out).groups())
    # Each team is created and joined, which is a round of the family forkjoin. Main only joins, and is no member.
    check_equal("episodes", {f: sum(b["episodes"] for b in trace.barriers() if b["family"] == f)
                             for f in ("pthread", "forkjoin")},
                {"pthread": episodes, "forkjoin": teams})
    members = crossings * teams // episodes
    check_equal("crossings", trace.end["crossings"], crossings + members)
    check_equal("incomplete, ambiguous", (trace.end["incomplete"], trace.end["ambiguous"]), (0, 0))
    check_equal("abandoned", trace.process()["abandoned"], 0)
    return trace, teams, episodes


def test_churn(t):
    trace, teams, _ = churn(t, "--teams", "1000", "--threads", "4")
    barrier = trace.barrier(family="pthread")
    check_equal("participants", (barrier["participants_min"], barrier["participants"]), (2, 4))
    threads = sum(2 + k % 3 for k in range(teams))
    check_equal("threads", trace.process()["nthreads"], threads)


def test_thread_ids_are_used_again(t):
    trace, teams, _ = churn(t, "--teams", "300", "--threads", "3", "--same-tids")
    reused = re.search(r"used (\d+) times", trace.result.err)
    check(reused and int(reused.group(1)) > 10, f"no ids were used again: {trace.result.err}")
    # A new thread with an old number is another thread.
    threads = sum(2 + k % 2 for k in range(teams))
    check_equal("threads", trace.process()["nthreads"], threads)


def test_dlopen_and_dlclose(t):
    trace = t.trace([workload("dlopen_lib")]).nothing_lost()
    check_in("stderr", "the same address: yes", trace.result.err)
    check_equal("episodes", episodes_by_function(trace), {"bar_wait": 200, "baz_wait": 100})
    for b in trace.barriers(family="pthread"):
        check_in("module", "lib" + b["function"][:3] + ".so", b["module"])
        check(b["file"].endswith("libbar.c") and b["line"], f"no line: {b}")


def test_dlopen_in_a_child(t):
    """A process that the user did not name gets no probe of its own in the dynamic linker."""
    for number in range(5):
        trace = t.trace(["sh", "-c", "\"$0\"; exit 0", workload("dlopen_lib")]).nothing_lost()
        check_equal(f"episodes of run {number}", episodes_by_function(trace), {"bar_wait": 200, "baz_wait": 100})


def test_unloaded_unseen(t):
    """A library that could not be examined when it was loaded gets no name, in particular not that of the previous library. A
    message says so."""
    trace = trace_blindfolded(t)
    check_equal("episodes", episodes_by_function(trace), {"bar_wait": 100, None: 200})
    check_equal("reported", [f["figure"] for f in trace.all("finding") if f["kind"] == "site_unknown"], [400])


def test_inlined_sites(t):
    trace = t.trace([workload("inline_site")]).nothing_lost()
    line = source_lines("inline_site.c", "return serial(pthread_barrier_wait(b))")[0]
    check_equal("episodes", [b["episodes"] for b in trace.barriers()], [50, 50])
    check_equal("ids", len({b["id"] for b in trace.barriers()}), 2)
    check_equal("line", {b["line"] for b in trace.barriers()}, {line})
    check_equal("function", {b["function"] for b in trace.barriers()}, {"meet"})
    inlined = sorted(b["callsites"][0]["inlined"] for b in trace.barriers())
    check(any("first_half" in i and "regroup" not in i for i in inlined), f"inlined: {inlined}")
    check(any("regroup" in i and "second_half" in i for i in inlined), f"inlined: {inlined}")
    check_equal("labels differ", len({b["label"] for b in trace.barriers()}), 2)


def test_inlined_sites_by_watch(t):
    for function, episodes in (("meet", 100), ("regroup", 50), ("first_half", 50)):
        trace = t.trace([workload("inline_site")], "-w", function)
        check_equal(f"watched by {function}", len(trace.all("episode")), episodes)


def test_barrier_made_again(t):
    trace, log = with_log(t, "--threads", "4", "--rounds", "300", "--recreate", "7")
    all_found(trace, log)
    barrier = trace.barrier()
    check_equal("participants", (barrier["participants_min"], barrier["participants"]), (3, 4))


def test_two_objects_interleaved(t):
    trace, log = with_log(t, "--threads", "3", "--rounds", "300", "--barriers", "3", "--sites", "2")
    all_found(trace, log)
    check_equal("sites", sorted(b["episodes"] for b in trace.barriers()), [150, 150])


def test_one_object_at_many_sites(t):
    trace, log = with_log(t, "--threads", "3", "--rounds", "320", "--sites", "8")
    all_found(trace, log)
    check_equal("sites", {b["function"]: b["episodes"] for b in trace.barriers()},
                {f"site_{i}": 40 for i in range(8)})


def test_one_episode_from_different_sites(t):
    trace, log = with_log(t, "--threads", "4", "--rounds", "200", "--mixed", "--sites", "2")
    all_found(trace, log)
    barrier = trace.barrier()
    check_equal("sites of the episode", sorted(c["function"] for c in barrier["callsites"]),
                ["site_0", "site_1"])
    lines = source_lines("gen.c", "SITE(")[1:3]
    check_equal("lines", sorted(c["line"] for c in barrier["callsites"]), lines)
    for e in trace.all("episode")[:20]:
        by_tid = {c.tid: c.site for c in log.crossings}
        for m in e["threads"]:
            check_in("site of a thread", f"site_{by_tid[m['tid']]}", m["site"] or "(none)")


def test_back_before_the_slow_one_has_left(t):
    """Many threads on few CPUs cross back to back: the next episode begins before all threads have left."""
    trace, log = with_log(t, "--threads", "16", "--rounds", "500")
    all_found(trace, log)


def test_more_threads_than_the_count(t):
    trace, log = with_log(t, "--threads", "5", "--count", "2", "--rounds", "100", "--work",
                          "random:100us:3ms:7", *SLEEP)
    trace.nothing_lost()
    known = log.episodes()
    doubtful = sum(e.doubtful for e in known)
    check(doubtful < len(known) / 2, f"{doubtful} of {len(known)} episodes are doubtful")
    result = trace.compare(log)
    check_equal("crossings", trace.end["crossings"], len(log.crossings))
    check_equal("episodes", trace.end["episodes"] + trace.end["ambiguous"] +
                trace.end["incomplete"], len(known))
    check_equal("incomplete", trace.end["incomplete"], 0)
    check_between("extra", result["extra"], 0, doubtful)
    # The episodes that are certain in the log are found, except for those near the limit of certainty.
    check_between("missing", result["missing"], 0, len(known) // 20)
    check_equal("participants", (trace.barrier()["participants_min"],
                                 trace.barrier()["participants"]), (2, 2))


def shared(t, *options):
    trace, log = with_log(t, "--threads", "2", "--processes", "3", "--rounds", "200", *options)
    all_found(trace, log)
    check_equal("episodes", trace.end["episodes"], 200)
    barrier = trace.barrier()
    check_equal("shared, participants", (barrier["shared"], barrier["participants"]), (True, 6))
    members = {m["tid"] for m in trace.all("episode")[0]["threads"]}
    check_equal("members", members, {c.tid for c in log.crossings})


def test_processes_share_a_barrier(t):
    shared(t)


def test_processes_share_a_file(t):
    shared(t, "--shm", t.path("shm"))


def test_exit_in_the_wait(t):
    trace = t.trace([workload("exit_in_wait")], rc=7).nothing_lost()
    check_equal("episodes", (trace.end["episodes"], trace.process()["abandoned"]), (10, 3))


def test_counts_known_by_pthread(t):
    """Counts from 1 to 12: a barrier of one thread is a barrier, too."""
    for n in (1, 2, 12):
        trace, log = with_log(t, "--threads", str(n), "--rounds", "100")
        all_found(trace, log)
        check_equal("participants", trace.barrier()["participants"], n)


# --- accuracy, by gen's own clock ------------------------------------------------------------------------

def accuracy(threads, rounds, work):
    """The bounds have some tolerance for other load of the machine. The benchmarks have the exact figures."""
    def test(t):
        trace, log = traced_gen(t, ["--threads", str(threads), "--rounds", str(rounds), "--work",
                                    work, *SLEEP])
        result = all_found(trace, log)
        check_equal("matched", result["matched"], rounds)
        check(result["last_checked"] > rounds / 4, f"only {result['last_checked']} were clear")
        check_last(result)
        check_between("median error of the barrier time", result["barrier_error_ns"]["median"], 0,
                      15_000)
        check_waits(result, 0.06)
        report_agrees(trace, log)
    return test


def report_agrees(trace, log):
    """Check that the table at the end is the sum of the episodes, and that both agree with gen."""
    truth = log.threads()
    barrier = trace.barrier()
    for m in barrier["threads"]:
        own = truth[m["tid"]]
        check_between(f"wait of {m['comm']}", m["wait_ns"] / own["wait_ns"], 0.94, 1.06)
        check_between(f"idle of {m['comm']}", m["idle_ns"] / own["idle_ns"], 0.9, 1.1)
        check_equal(f"name of {m['tid']}", m["comm"], f"gen-{own['thread']}")
    check_equal("sum of last", sum(m["last"] for m in barrier["threads"]), barrier["episodes"])
    check_equal("lost time", barrier["lost_ns"], sum(m["wait_ns"] for m in barrier["threads"]))
    episodes = trace.all("episode")
    check_equal("barrier time", barrier["barrier_ns"]["sum"], sum(e["barrier_ns"] for e in episodes))
    check_equal("lost time by episode", barrier["lost_ns"],
                sum(m["wait_ns"] for e in episodes for m in e["threads"]))
    check_equal("phases", [e["phase"] for e in episodes], list(range(len(episodes))))
    phases = [e["phase_ns"] for e in episodes if e["phase_ns"] is not None]
    known = [e.phase_ns for e in log.episodes() if e.phase_ns is not None]
    check_between("phase times", sum(phases[-len(known):]) / sum(known), 0.98, 1.02)


test_accuracy_2 = alone(accuracy(2, 600, "random:100us:1ms:1"))
test_accuracy_4 = alone(accuracy(4, 600, "random:100us:1500us:2"))
test_accuracy_8 = alone(accuracy(8, 400, "random:100us:3ms:3"))
test_accuracy_32 = alone(accuracy(32, 200, "random:100us:10ms:4"))


def test_last_arriver(t):
    trace, _ = with_log(t, "--threads", "4", "--rounds", "60", "--work",
                        "fixed:0=100us,1=300us,2=3ms,3=200us", *SLEEP)
    barrier = trace.barrier()
    check_equal("last", (barrier["last_comm"], barrier["pattern"]), ("gen-2", "static"))
    check(barrier["last_count"] >= 58, f"last only {barrier['last_count']} times of 60")


def test_rotating(t):
    trace, log = with_log(t, "--threads", "4", "--rounds", "80", "--work", "rotate:500us:4ms", *SLEEP)
    barrier, process = trace.barrier(), trace.process()
    check_equal("pattern", barrier["pattern"], "rotating")
    for m in barrier["threads"]:
        check_between(f"{m['comm']} arrived last", m["last"], 17, 23)
    # Each thread is late in a quarter of the phases: mean 1.5 of 4.5 ms.
    check_between("serialisation", process["efficiency"]["serialisation"], 0.25, 0.45)
    # All threads have the same total work, unless other load delayed one of them.
    work = [own["work_ns"] for own in log.threads().values()]
    truth = sum(work) / len(work) / max(work)
    check_between("load balance", process["efficiency"]["load_balance"], truth - 0.03, truth + 0.03)


def test_user_unprivileged_is_named_too(t):
    """The names and counts of a program of another user are found, too."""
    trace = t.trace([workload("gen"), "--rounds", "40"], "-u", "nobody")
    check_equal("function", trace.barrier()["function"], "site_0")
