# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""--aggregate: sums kept in the kernel equal those of single records. Counts are exact. Times agree with a generator's own
clock, which is read outside of the probes, except for the time that probes and a full machine take."""

import json
import os
import signal
import time

from harness import (check, check_all_in, check_between, check_equal, check_in, check_not_in, descendants,
                     episodes_by_function, genlog, margin_ns, read_proc, read_text, switch_ns, trace_blindfolded,
                     wait_for, workload)

PAIRED = True

US = 20  # per crossing: between the generator's clock and the tracer's, where a switch takes 3 us
SHARE = 0.02  # of a sum: where the CPU was taken in between


def summed(t, *options, name="gen", extra=()):
    """Trace with sums. Return (trace, log)."""
    log = t.path()
    trace = t.trace([workload(name), *options, "--log", log], "--aggregate", *extra).nothing_lost()
    log = genlog.Log(log)
    check_equal("the log itself", log.check(), [])
    check_equal("aggregate", trace.end["aggregate"], True)
    return trace, log


def near(what, got, expected, crossings):
    slack = SHARE * expected + US * 1000 * crossings * max(1, switch_ns() / 6_000)
    check_between(what, got, expected - slack, expected + slack)


def threads_agree(trace, log):
    """Check the crossings and waits of each thread, and how often it arrived last, over all barriers of all processes."""
    own = {m["tid"]: m for p in trace.processes() for m in p["threads"]}
    expected = log.threads()
    check_equal("threads", sorted(own), sorted(expected))
    clear = dict.fromkeys(expected, 0)
    unclear, margin = 0, margin_ns()
    for e in log.episodes():
        if e.margin_ns is None or e.margin_ns >= margin:
            clear[e.last.tid] += 1
        else:
            unclear += 1
    for tid, want in expected.items():
        got, n = own[tid], want["crossings"]
        check_equal(f"crossings of {tid}", got["crossings"], n)
        near(f"wait of {tid}", got["wait_ns"], want["wait_ns"], n)
        near(f"idle of {tid}", got["idle_ns"], want["idle_ns"], n)
        check_between(f"last of {tid}", got["last"], clear[tid], clear[tid] + unclear)
    check_equal("last, all", sum(m["last"] for m in own.values()), len(log.episodes()))


def sites_agree(trace, log):
    barriers = trace.barriers(family="pthread")
    check_equal("episodes by site", sorted(b["episodes"] for b in barriers), sorted(log.sites().values()))
    n = len(log.crossings)
    waits = [w for e in log.episodes() for w in e.wait_ns().values()]
    near("lost", sum(b["lost_ns"] for b in barriers), sum(waits), n)
    near("barrier time", sum(b["barrier_ns"]["sum"] for b in barriers),
         sum(e.barrier_ns for e in log.episodes()), n)
    for b in barriers:
        check_equal("incomplete", (b["incomplete"], b["ambiguous"]), (0, 0))
        check_equal("values of wait", b["wait_ns"]["n"], b["crossings"])
        check_equal("values of release", b["release_ns"]["n"], b["crossings"])
        check_equal("values of barrier time", b["barrier_ns"]["n"], b["episodes"])
        check_equal("histogram of wait", sum(b["wait_ns"]["hist"]), b["crossings"])
        # The last arriver does not wait. Another thread is in the first bucket only if the clock has not advanced.
        check_equal("the least wait", b["wait_ns"]["min"], 0)
        check_between("waits of nothing", b["wait_ns"]["hist"][0], b["episodes"], b["crossings"])
        for name in ("wait_ns", "release_ns", "barrier_ns", "phase_ns"):
            check(b[name]["min"] <= b[name]["mean"] <= b[name]["max"], f"{name}: {b[name]}")
            check_equal(f"histogram of {name}", sum(b[name]["hist"]), b[name]["n"])
            lowest = next(i for i, n in enumerate(b[name]["hist"]) if n)
            check_equal(f"bucket of the least of {name}", lowest, max(b[name]["min"], 1).bit_length() - 1)
        check_equal("no cause", b.get("cause"), None)
    check_equal("crossings", sum(b["crossings"] for b in barriers), n)


def agree(trace, log):
    check_equal("episodes", trace.end["episodes"], len(log.episodes()))
    check_equal("crossings", (trace.end["crossings"], trace.end["produced"], trace.end["consumed"]),
                (len(log.crossings),) * 3)
    threads_agree(trace, log)
    sites_agree(trace, log)


def test_one_barrier(t):
    trace, log = summed(t, "--threads", "4", "--rounds", "500", "--work", "stair:100us:50us")
    agree(trace, log)
    barrier, process = trace.barrier(), trace.process()
    known = [e.phase_ns for e in log.episodes() if e.phase_ns is not None]
    # The first phase begins with tracing, and the log does not know that time.
    check_equal("phases", barrier["phase_ns"]["n"], len(log.episodes()))
    check(barrier["phase_ns"]["sum"] > sum(known) * 0.97, f"phases: {barrier['phase_ns']}, {sum(known)}")
    check_equal("participants", (barrier["participants_min"], barrier["participants"]), (4, 4))
    for name in ("serialisation", "transfer"):
        check_equal(name, process["efficiency"].get(name), None)
    check_equal("T_ideal", process["ideal_ns"], None)
    check_equal("longest", barrier.get("longest", []), [])
    check_equal("transitions", trace.all("transition"), [])
    check_between("load balance", process["efficiency"]["load_balance"], 0.5, 0.98)


def test_the_same_as_by_records(t):
    """Two runs of one program lose the same time to within a few per cent."""
    command = [workload("gen"), "--threads", "3", "--rounds", "100", "--work", "stair:2ms:2ms", "--work-by", "sleep"]
    records, sums = t.trace(command).barrier(), t.trace(command, "--aggregate").barrier()
    for key in ("episodes", "crossings", "incomplete", "participants", "id", "label", "pattern"):
        check_equal(key, sums[key], records[key])
    for key in ("wait_ns", "barrier_ns", "phase_ns"):
        check_equal(f"values of {key}", sums[key]["n"], records[key]["n"])
        check_between(f"sum of {key}", sums[key]["sum"], records[key]["sum"] * 0.8, records[key]["sum"] * 1.25)
    check_between("load balance", sums["load_balance"], records["load_balance"] - 0.1, records["load_balance"] + 0.1)


def test_objects_teams_and_sites(t):
    agree(*summed(t, "--threads", "6", "--teams", "2", "--barriers", "3", "--sites", "4", "--rounds", "300",
                  "--work", "rotate:50us:200us"))


def test_more_objects_than_a_thread_keeps(t):
    agree(*summed(t, "--threads", "3", "--barriers", "16", "--sites", "8", "--rounds", "480",
                  "--work", "fixed:0=100us"))


def test_not_a_power_of_two(t):
    agree(*summed(t, "--threads", "7", "--rounds", "300", "--work", "rotate:20us:100us"))


def test_back_to_back(t):
    agree(*summed(t, "--threads", "8", "--rounds", "2000"))


def test_made_anew_at_the_same_address(t):
    trace, log = summed(t, "--threads", "4", "--rounds", "300", "--recreate", "7")
    agree(trace, log)
    barrier = trace.barrier()
    check_equal("participants", (barrier["participants_min"], barrier["participants"]), (3, 4))


def test_musl(t):
    agree(*summed(t, "--threads", "4", "--rounds", "300", "--work", "fixed:0=100us", name="gen-musl"))


def test_by_other_ways(t):
    for method in ("multi", "perf"):
        agree(*summed(t, "--threads", "4", "--rounds", "300", extra=("--attach", method)))


def test_many_threads(t):
    agree(*summed(t, "--threads", "128", "--rounds", "50"))


def test_cyclic(t):
    """With more threads than the barrier counts, arrivals decide. The report says where two threads could have arrived in
    another order."""
    path = t.path()
    trace = t.trace([workload("gen"), "--threads", "6", "--count", "3", "--rounds", "400", "--work",
                     "random:10us:200us:7", "--log", path], "--aggregate").nothing_lost()
    log, barrier = genlog.Log(path), trace.barrier()
    want = len(log.episodes())
    check_equal("crossings", barrier["crossings"], len(log.crossings))
    check_between("episodes", barrier["episodes"], want * 0.99, want)
    check_between("ambiguous and incomplete", barrier["ambiguous"] + barrier["incomplete"], 0, want * 0.1)


def test_attached_inside_an_episode(t):
    """The first episode may be recorded in part. From then on all episodes are complete."""
    for _ in range(5):
        log = t.path()
        gen = t.gen("--threads", "4", "--duration", "2", "--work", "rotate:20us:100us", "--log", log)
        time.sleep(0.3)
        tracer = t.attach("-p", str(gen.pid), "--aggregate")
        gen.wait()
        trace = tracer.end()
        barrier, log = trace.barrier(), genlog.Log(log)
        start = trace.session["clock_start_ns"]
        seen = sum(e.first.arrive > start for e in log.episodes())
        check_between("incomplete", barrier["incomplete"], 0, 4)
        # Episodes take 0.1 ms, and attaching all probes takes a few ms on a busy machine.
        check_between("episodes", barrier["episodes"], seen - 50, seen + 1)
        waits = sum(w for e in log.episodes() if e.first.arrive > start for w in e.wait_ns().values())
        near("lost", barrier["lost_ns"], waits, barrier["crossings"])


def test_places(t):
    """The last arriver's call site is found by its return address, a waiting thread's by its stack. Each call site has its own
    figures, by all attach methods."""
    for method in ("session", "multi", "perf"):
        for threads in ("1", "3"):
            trace, log = summed(t, "--threads", threads, "--sites", "4", "--rounds", "402", extra=("--attach", method))
            check_equal("episodes", trace.end["episodes"], len(log.episodes()))
            got = {b["function"]: b["episodes"] for b in trace.barriers(family="pthread")}
            check_equal(f"by {method}", got, {f"site_{i}": n for i, n in enumerate((101, 101, 100, 100))})
            check_equal("threads of each", {len(b["threads"]) for b in trace.barriers(family="pthread")}, {int(threads)})


def test_libraries_at_one_address(t):
    """Sums are read after the library was unloaded and another may have taken its address. Each library still has its own sums."""
    trace = t.trace([workload("dlopen_lib")], "--aggregate").nothing_lost()
    check_in("stderr", "the same address: yes", trace.result.err)
    check_equal("episodes", episodes_by_function(trace), {"bar_wait": 200, "baz_wait": 100})
    for b in trace.barriers(family="pthread"):
        check_in("module", "lib" + b["function"][:3] + ".so", b["module"])
        check_equal("threads that meet", b["participants"], 2)


def test_unloaded_unseen(t):
    """A library that could not be examined gets no name, in particular not that of the previous library. A message says so."""
    trace = trace_blindfolded(t, "--aggregate")
    check_equal("episodes", episodes_by_function(trace), {"bar_wait": 200, None: 100})
    check_equal("reported", [f["figure"] for f in trace.all("finding") if f["kind"] == "site_unknown"], [200])


def test_never_left(t):
    """The call site of a thread that never left is known, too."""
    trace = t.trace([workload("exit_in_wait")], "--aggregate", rc=7).nothing_lost()
    check_equal("abandoned", trace.process()["abandoned"], 3)
    got = {b["function"]: (b["crossings"], sorted(m["crossings"] for m in b["threads"])) for b in trace.barriers()}
    check_equal("crossings", got, {"waiter": (33, [11] * 3), "main": (10, [10])})


def test_left_by_longjmp(t):
    """Crossings that end with longjmp are counted as abandoned, and make no episodes."""
    trace = t.trace([workload("longjmp_out")], "--aggregate").nothing_lost()
    check_equal("abandoned", trace.process()["abandoned"], 20)
    check_equal("episodes", trace.end["episodes"], 20)
    check_equal("crossings", {b["function"]: b["crossings"] for b in trace.barriers()},
                {"main": 20, "jumper": 20, "wait_alone": 20})


def test_hang(t):
    """A waiting thread is reported with its call site while it waits."""
    log = t.path()
    tracer = t.attach("--hang", "1", "--aggregate", "--", "sh", "-c",
                      f"{workload('hung')} --kind pipe >{log} 2>&1 & wait")

    def reported():
        return [r for r in map(json.loads, read_text(tracer.path).split("\n")[:-1]) if r["type"] == "hang"]

    found = wait_for("the hang", reported, 60)[0]
    check(found["arrived"], f"no thread has arrived: {found}")
    for a in found["arrived"]:
        check_equal("place", (a["function"], bool(a["line"])), (found["arrived"][0]["function"], True))
    for pid in descendants(tracer.process.pid):
        if read_proc(pid, "comm").strip() == b"hung":
            os.kill(pid, signal.SIGKILL)
    tracer.end()


def test_shared_by_processes_is_not_summed(t):
    """The threads of other processes use other addresses for the barrier: crossings are counted, episodes are not, and no
    thread is reported as waiting for no other."""
    argv = [workload("gen"), "--processes", "2", "--threads", "2", "--rounds", "50"]
    trace = t.trace(argv, "--aggregate")
    end = trace.end
    check_equal("crossings and episodes", (end["crossings"], end["episodes"]), (200, 0))
    check_equal("crossings in unknown episodes", (end["unmet"], end["complete"]), (200, False))
    for b in trace.barriers():
        check_equal("lost", (b["unmet"], b["wait_ns"], b["lost_ns"], b["gain_ns"]), (100, None, None, None))
        check_equal("of threads", {(m["wait_ns"], m["idle_ns"], m["wait_max_ns"]) for m in b["threads"]}, {(None, None, None)})
        check_in("verdict", "processes share this barrier", b["verdict"])
    for p in trace.processes():
        check_equal("lost in all", (p["unmet"], p["wait_ns"]), (100, None))
        check_in("verdict", "do not show the waits there", p["verdict"])
        check_equal("efficiency", set(p["efficiency"].values()) if p["efficiency"] else {None}, {None})
    text = t.text(argv, "--aggregate")
    check_in("text", "INCOMPLETE: 200 crossings of barriers that processes share", text)
    alone = t.trace([workload("gen"), "--threads", "1", "--rounds", "50"], "--aggregate")
    check_equal("of one process", (alone.end["unmet"], alone.end["complete"], alone.end["episodes"]), (0, True, 50))


def test_exec_on_the_way_out(t):
    """A last arriver that exits before it departs is not in the sums. The report says this about it, and nothing else."""
    argv, rounds = [workload("exec_away"), "20", "3"], 21 * 3
    apart = t.trace(argv).nothing_lost()
    check_equal("in records", (apart.end["episodes"], apart.end["crossings"]), (rounds, 4 * rounds))
    end = t.trace(argv, "--aggregate").end
    lost = end["lost"]["place_untold"]
    check_equal("lost", end["lost_total"], lost)
    check_equal("crossings", end["crossings"] + lost, 4 * rounds)
    check_between("episodes", end["episodes"], rounds - lost, rounds)


def test_other_families_are_named(t):
    trace = t.trace([workload("gen_gomp"), "--threads", "2", "--rounds", "10"], "--aggregate")
    check_all_in("reported", ("are not in this report", "gomp"), trace.result.err)
    check_equal("crossings", trace.end["crossings"], 0)
    check_equal("left out", (trace.end["left_out"], trace.end["complete"]), ("gomp", False))
    check_in("explained", "has functions of gomp, which --aggregate omits", trace.result.err)
    check_not_in("hint", "--discover", trace.result.err)
    text = t.text([workload("gen_gomp"), "--threads", "2", "--rounds", "10"], "--aggregate")
    check_in("headline", "No thread crossed a pthread barrier.", text)
    check_in("what is missing", "The traced processes also have barriers of gomp", text)


def test_what_it_cannot_do_is_refused(t):
    for options in (("-W",), ("-w", "7"), ("-e", "page-faults"), ("--phase", "a=..b"), ("--frames", "1"),
                    ("-b", "f"), ("--record", "x"), ("--phase-times",)):
        result = t.sbt("--aggregate", *options, "--", "true", rc=2)
        check_in("sentence", options[0], result.err)
    result = t.sbt("record", "--aggregate", "-o", t.path(), "--", "true", rc=2)
    check_in("sentence", "record has no option --aggregate", result.err)


def test_text(t):
    text = t.text([workload("gen"), "--threads", "3", "--rounds", "50", "--work", "stair:100us:100us"], "--aggregate")
    check_in("headline", "Sums from the kernel", text)
    check_in("efficiency", "SerE     ?", text)
