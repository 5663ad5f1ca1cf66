# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""--cost-limit: tracing of a process stops when its cost exceeds the limit. The process regains its speed, the episodes before
that are exact, and every report says until when it was traced."""

import json
import shutil
import time

from harness import (SBT, Failure, Skip, Trace, check, check_all_in, check_between, check_equal, check_in, check_last,
                     check_not_in, clean_environment, genlog, paired, read_text, wait_for, workload)
from test_mpi import ENVIRONMENT, MPIRUN

HOT = ("--threads", "2", "--work", "fixed:0=5us,1=5us")
# OpenMP's threads must not spin, because there are few CPUs.
PASSIVE = {**clean_environment(), "OMP_WAIT_POLICY": "passive"}
CALM = ("--threads", "2", "--work", "fixed:0=5ms,1=5ms")


def false_hangs(trace):
    """Return the wrong hang reports. Others are right: threads may really be late because other processes have the CPUs."""
    return [h["text"] for h in trace.all("hang") if "wants a CPU" not in h["text"]]


def check_let_go(trace, low, least=0.5e9, **fields):
    """Check that the one process with these fields was traced until some moment, for at least @least ns. Return its record."""
    p = trace.process(**fields)
    check(p["shed_ns"] is not None, f"it was traced to its end: {p}")
    check_between("shed_ns", p["shed_ns"], low, 60e9)
    check(p["shed_cost"] > p["shed_limit"], f"detached below the limit: {p}")
    check_equal("exited, of a process with an untraced end", p["exited"], False)
    # Its threads were created shortly after tracing began.
    check_between("elapsed_ns", p["elapsed_ns"], least, p["shed_ns"])
    for b in trace.barriers(pid=p["pid"]):
        check_equal("shed_ns of its barrier", b["shed_ns"], p["shed_ns"])
    found = [f for f in trace.all("finding") if f["kind"] == "cost_limit" and f["pid"] == p["pid"]]
    check_equal("findings that say so", len(found), 1)
    check_in("finding", "--cost-limit", found[0]["text"])
    check_equal("hangs", false_hangs(trace), [])
    return p


def check_until(trace, log, process, threads=2):
    """Check that all episodes before that moment are recorded, and none after it. One may be cut in two by it."""
    end = process["shed_ns"] + trace.session["clock_start_ns"]
    before = sum(e.release <= end for e in log.episodes())
    check_between("episodes", process["episodes"], before - 1, before + 1)
    check_between("incomplete", process["incomplete"], 0, 1)
    check_between("crossings", process["crossings"], threads * (before - 1), threads * (before + 1))
    check_equal("abandoned", process["abandoned"], 0)


def check_exact(trace, log, process):
    check_until(trace, log, process)
    trace.nothing_lost()


def hot(t, *options, duration="3"):
    path = t.path()
    trace = t.trace([workload("gen"), *HOT, "--duration", duration, "--log", path], *options)
    return trace, genlog.Log(path)


@paired
def test_limit_exact(t):
    for method in ("session", "multi", "perf"):
        trace, log = hot(t, "--cost-limit", "0.5", "--attach", method, "--hang", "0.7")
        p = check_let_go(trace, 0.9e9, comm="gen")
        check_equal("processes detached by the cost limit", trace.end["shed"], 1)
        check_exact(trace, log, p)
        check_equal("shed_because", p["shed_because"], None)
        check_in("stderr", "--cost-limit 0.5: process", trace.result.err)
        check_equal("it says so", trace.result.err.count(" is traced up to "), 1)


def test_limit_calm(t):
    path = t.path()
    trace = t.trace([workload("gen"), *CALM, "--duration", "3", "--log", path], "--cost-limit", "5")
    check_not_in("stderr", "cost-limit", trace.result.err)
    check_equal("processes detached by the cost limit", trace.end["shed"], 0)
    p = trace.process(comm="gen")
    for name in ("shed_ns", "shed_cost", "shed_limit", "shed_because"):
        check_equal(name, p[name], None)
    check_equal("episodes", p["episodes"], len(genlog.Log(path).episodes()))
    check_equal("findings", [f for f in trace.all("finding") if f["kind"] == "cost_limit"], [])
    check_equal("exited", p["exited"], True)


def check_recorded(t, printed, tape, beside, compared, predicted):
    """Check that a report of the recording is the same. A comparison with @beside prints @compared, and a prediction @predicted."""
    text = t.path()
    check_equal("exit status of report", t.sbt("report", "--detail", "-o", text, tape).rc, 0)
    check_equal("report", read_text(text), printed)
    check_in("diff", f"{compared} because of --cost-limit", " ".join(t.sbt("diff", beside, tape).out.split()))
    check_in("predict", f"{predicted} (--cost-limit)", " ".join(t.sbt("predict", tape).out.split()))
    check_in("series", f"{compared} (--cost-limit)", " ".join(t.sbt("series", beside, tape).out.split()))


@paired
def test_limit_recorded(t):
    tape, whole = t.path(), t.path()
    printed = t.text([workload("gen"), *HOT, "--duration", "3"], "--cost-limit", "0.5", "--record",
                     tape)
    check_in("text", "Traced only up to ", printed)
    check_in("the end of the text", "INCOMPLETE: 1 process was not traced to the end (--cost-limit)",
             " ".join(printed.split())[-200:])
    check_equal("record", t.sbt("record", "-o", whole, "--", workload("gen"), *HOT, "--rounds",
                                "2000").rc, 0)
    said = "was not traced to its end"
    check_recorded(t, printed, tape, whole, said, said)
    rows = json.loads(t.sbt("series", "--json", tape).out.splitlines()[0])
    check_equal("its time", rows["time_ns"], None)


@paired
def test_limit_record_only(t):
    tape = t.path()
    made = t.sbt("record", "-o", tape, "--cost-limit", "0.5", "--", workload("gen"), *HOT, "--duration",
                 "3", rc=0)
    check_in("stderr", " is traced up to ", made.err)
    check_in("report", "Traced only up to ", t.sbt("report", "--detail", tape).out)
    check_in("csv", "shed_ns", t.sbt("report", "--detail", "--csv", tape).out)


def pair(t, *options):
    """Trace a hot and a calm process until long after the hot one was detached."""
    logs = t.path(), t.path()
    a = t.gen(*HOT, "--forever", "--log", logs[0], wait=True)
    b = t.gen(*CALM, "--forever", "--log", logs[1], wait=True)
    tracer = t.attach("-p", f"{a.pid},{b.pid}", *options)
    a.begin()
    b.begin()
    wait_for("the hot one is detached", lambda: f"process {a.pid} (" in tracer.process.err, 40)
    for p in (b, a):
        p.signal(15)
        p.wait()
    return a.pid, b.pid, tracer.end(), [genlog.Log(path) for path in logs]


@paired
def test_limit_own_probes(t):
    a, b, trace, logs = pair(t, "--no-children", "--cost-limit", "12")
    check_exact(trace, logs[0], check_let_go(trace, 0.9e9, pid=a))
    calm = trace.process(pid=b)
    check_equal("shed_ns of the other", calm["shed_ns"], None)
    check_equal("episodes of the other", calm["episodes"], len(logs[1].episodes()))
    check_equal("processes detached", trace.end["shed"], 1)
    check_not_in("stderr", "processes that start later", trace.result.err)


@paired
def test_limit_shared_probes(t):
    """Both processes hit the same probes. Even without recording, the remaining cost would exceed the limit, so both are
    detached."""
    a, b, trace, logs = pair(t, "--cost-limit", "0.01")
    check_exact(trace, logs[0], check_let_go(trace, 0.9e9, pid=a))
    calm = trace.process(pid=b)
    check(calm["shed_ns"] is not None, f"the other was traced on, by probes that are gone: {calm}")
    check_exact(trace, logs[1], calm)
    check_equal("processes detached", trace.end["shed"], 2)
    check_in("stderr", "processes that start later are not traced at these barriers", trace.result.err)


@paired
def test_limit_excluded(t):
    """Without recording, the remaining cost is below the limit: the other process is still traced."""
    alone = t.gen(*HOT, "--forever", wait=True)
    tracer = t.attach("-p", str(alone.pid), "-d", "2")
    alone.begin()
    share = tracer.end().process(pid=alone.pid)["cost_share"]
    alone.signal(15)
    alone.wait()
    # About two fifths of the cost remain, so there is room on both sides. More remains if traps are expensive, on a busy host.
    for percent in (60, 75, 88):
        a, b, trace, logs = pair(t, "--cost-limit", f"{percent * share:.4f}")
        hot_one = check_let_go(trace, 0.9e9, pid=a)
        check_exact(trace, logs[0], hot_one)
        if hot_one["shed_probed"]:
            break
    check_equal("shed_probed", hot_one["shed_probed"], True)
    calm = trace.process(pid=b)
    check_equal("shed_ns of the other", calm["shed_ns"], None)
    check_equal("episodes of the other", calm["episodes"], len(logs[1].episodes()))
    check_equal("processes detached by the cost limit", trace.end["shed"], 1)


def test_limit_system(t):
    """The whole machine is traced. Another program of the same name begins after the probes are removed, and nothing is
    reported about it."""
    program = t.path("limitgen")
    shutil.copy(workload("gen"), program)
    log = t.path()
    tracer = t.attach("-a", "--comm", "limitgen", "--cost-limit", "0.5", "--hang", "0.7")
    first = t.gen(*HOT, "--forever", "--log", log, name=program)
    wait_for("it is detached", lambda: f"process {first.pid} (" in tracer.process.err, 20)
    # Probes are removed soon, but not at once.
    time.sleep(1.5)
    second = t.gen(*CALM, "--duration", "1", name=program)
    second.wait()
    first.signal(15)
    first.wait()
    trace = tracer.stop()
    check_exact(trace, genlog.Log(log), check_let_go(trace, 0, pid=first.pid))
    check_equal("of the second", [p["episodes"] for p in trace.processes() if p["pid"] == second.pid], [])
    check_in("stderr", "processes that start later are not traced at these barriers", trace.result.err)


@paired
def test_limit_shared_barriers(t):
    """Processes that share barriers are detached together."""
    trace = t.trace([workload("gen"), "--processes", "2", "--threads", "1", "--work", "fixed:0=5us,1=5us",
                     "--duration", "3"], "--cost-limit", "0.5", "--hang", "0.7")
    detached = [p["shed_ns"] for p in trace.processes() if p["episodes"]]
    check_equal("processes", len(detached), 2)
    check(detached[0] is not None and detached[0] == detached[1], f"not at the same time: {detached}")
    check_equal("hangs", false_hangs(trace), [])
    check_between("incomplete", sum(b["incomplete"] for b in trace.barriers()), 0, 1)


@paired
def test_limit_openmp(t):
    trace = t.trace([workload("gen_gomp"), *HOT, "--duration", "3"], "--cost-limit", "0.5", "--hang", "0.7", env=PASSIVE)
    check_let_go(trace, 0.9e9, comm="gen_gomp")
    trace.nothing_lost()


@paired
def test_limit_interrupted(t):
    """Tracing ends at the moment when a process is detached. sbt-trace does not crash, and the sums hold."""
    for seconds in ("1.0", "1.01", "1.02", "1.05", "1.2"):
        target = t.gen(*HOT, "--forever", wait=True)
        tracer = t.attach("-p", str(target.pid), "--cost-limit", "0.5", "-d", seconds)
        target.begin()
        trace = tracer.end()
        trace.nothing_lost()
        check(target.alive(), "the target ended with it")
        target.signal(15)
        target.wait()


def test_limit_usage(t):
    for word in ("0", "-1", "x", "", "5%", "nan"):
        wrong = t.sbt("--cost-limit", word, "--", "true", rc=2)
        check_in("stderr", "--cost-limit", wrong.err)
    both = t.sbt("--aggregate", "--cost-limit", "5", "--", "true", rc=2)
    check_in("stderr", "cannot be combined with --cost-limit", both.err)


# Rounds of 10 ms: the hot barriers are detached after the first second, and it takes some time until their probes are removed.
ROUNDS = 220
# Per cent. The hot barriers cost about 80 of them if nothing else runs, and a tenth of that if other programs use the CPUs,
# because the time of threads counts. The rest costs half a per cent, and two if switches are expensive.
LIMIT = "4"


def two_ways(t, rounds, *options, program="two_ways", hot="own", threads=2):
    """Trace barriers of this kind that are crossed as fast as possible, with an OpenMP barrier every 10 ms."""
    # Until it is known how to find the caller, each record contains the stack. That can take long if other processes have the
    # CPUs.
    options += ("--ring-size", "32768") if hot == "cond" else ()
    trace = t.trace([workload(program), "--rounds", str(rounds), "--hot", hot, "--threads", str(threads)],
                    *options, env=PASSIVE)
    return trace, json.loads(trace.result.out)


def check_part(trace, made, low, family="pthread", beside=(), cut=0, cold="gomp"):
    """Check that the hot barriers were traced exactly until some moment, and the others to the end. @beside: families that were
    detached as well. @cut: number of episodes that this moment may cut in two."""
    p = trace.process()
    check_equal("shed_ns of the process", p["shed_ns"], None)
    check_equal("exited", p["exited"], True)
    check_equal("what was detached", sorted(s["family"] for s in p["sheds"]), sorted([family, *beside]))
    detached = p["sheds"][0]
    check_between("shed_ns", detached["shed_ns"], low, 30e9)
    check(detached["shed_cost"] > detached["shed_limit"], f"detached below the limit: {detached}")
    check_equal("processes detached by the cost limit", trace.end["shed"], 0)
    check_equal("end.shed_parts", trace.end["shed_parts"], 1)
    check(trace.barriers(family=family), "nothing about the hot ones is reported")
    for b in trace.barriers(family=family):
        check_equal("shed_ns of a hot one", b["shed_ns"], detached["shed_ns"])
        check_between("incomplete", b["incomplete"], 0, cut)
    at = detached["shed_ns"] + trace.session["clock_start_ns"]
    before = [n for n, ended in zip(made["hot"], made["ended_ns"]) if ended <= at]
    later = [n for n, ended in zip(made["hot"], made["ended_ns"]) if ended > at]
    check(before and later, f"detached before or after all: {detached}, {made['ended_ns'][0]}")
    seen = trace.crossings(family=family)
    check_between("hot crossings seen", seen, before[-1], later[0])
    # For OpenMP, the end of the region counts as well.
    check_equal("episodes at the cold ones", trace.episodes(family=cold), 2 * made["rounds"] + (cold == "gomp"))
    for b in trace.barriers(family=cold):
        check_equal("shed_ns of a cold one", b["shed_ns"], None)
        check_equal("shed_beside_ns", b["shed_beside_ns"], detached["shed_ns"])
    check_between("incomplete", p["incomplete"], 0, cut)
    check_equal("abandoned", p["abandoned"], 0)
    check_equal("lost", p["lost"], 0)
    check_equal("efficiency", set(p["efficiency"].values()), {None})
    trace.nothing_lost()
    check_equal("hangs", false_hangs(trace), [])
    found = [f for f in trace.all("finding") if f["kind"] == "cost_limit"]
    check_equal("findings that say so", len(found), 1 + len(beside))
    check_in("findings", f"Barriers of {family} traced only up to ", " ".join(f["text"] for f in found))
    return at, len(before)


# A crossing costs at least 750 ns. The calibration is no reference: on a busy host its result may be twice that.
RECORDED_NS = 600


def check_faster(made, before, saved):
    """Check that this much of a crossing's CPU time is saved. CPU time is used, because other programs use the CPUs as well.
    The last rounds count, because removing probes takes time."""
    def price(first, last):
        return (made["cpu_ns"][last] - made["cpu_ns"][first]) / (made["hot"][last] - made["hot"][first])
    slow, fast = price(0, before - 1), price(-50, -1)
    check(slow - fast > saved, f"{slow:.0f} ns with probes, {fast:.0f} without: less than {saved:.0f} saved")


def test_limit_speed(t):
    """A process that is detached as a whole."""
    trace, made = two_ways(t, ROUNDS, "--cost-limit", "0.0005")
    p = check_let_go(trace, 0.9e9, comm="two_ways")
    at = p["shed_ns"] + trace.session["clock_start_ns"]
    check_faster(made, sum(ended <= at for ended in made["ended_ns"]), RECORDED_NS)


def test_limit_part(t):
    """The hot barriers are detached, the program regains its speed, and the others are traced to the end."""
    for method in ("session", "multi"):
        trace, made = two_ways(t, ROUNDS, "--cost-limit", LIMIT, "--attach", method, "--hang", "0.7")
        at, before = check_part(trace, made, 0.9e9)
        check_in("stderr", ", at the barriers of pthread: ", trace.result.err)
        check_faster(made, before, RECORDED_NS)


def limit_for(t, *options, program="two_ways", part=55):
    """Return a limit, in per cent, below the cost of these sleeping threads, and above that of their switches alone."""
    trace, _ = two_ways(t, 60, *options, program=program, hot="cond", threads=3)
    share = trace.process(comm=program)["cost_share"]
    check_between("share of its time", share, 0.001, 1)
    return f"{part * share:.3f}"


def test_limit_part_cond(t):
    """Threads cross on a hot condition variable. The joins of threads, which share its probes, are detached as well."""
    for method, beside, program, cold in (("session", ["forkjoin"], "two_ways", "gomp"), ("perf", [], "two_ways-posix", "pthread")):
        limit = limit_for(t, "--attach", method, program=program, part=70)
        trace, made = two_ways(t, ROUNDS, "--cost-limit", limit, "--attach", method, "--hang", "0.7", program=program, hot="cond",
                               threads=3)
        check_part(trace, made, 0.9e9, "cond", beside, cut=1, cold=cold)


def test_limit_part_phase(t):
    """Phases that are marked very often."""
    for method, program, cold in (("session", "two_ways", "gomp"), ("perf", "two_ways-posix", "pthread")):
        trace, made = two_ways(t, ROUNDS, "--cost-limit", LIMIT, "--attach", method, "--hang", "0.7", program=program, hot="phase")
        at, before = check_part(trace, made, 0.9e9, "usdt", cold=cold)
        # The loop contains an emulated nop, and nothing else.
        check_faster(made, before, 300)


def user_functions(t, kind, *options, rounds=300):
    """Trace a hot function that the user named, or two that threads use at one object, and a cold function. Only episodes of
    the cold one are printed."""
    path = t.path()
    trace = t.trace([workload("gen_user"), "--kind", kind, "--threads", "2", "--rounds", str(rounds), "--log", path],
                    "-b", f"my_hot_barrier,count={1 + (kind == 'mixed')}", "-b", "my_second_barrier,count=2", "-b",
                    "my_barrier,count=2", "-w", "meet_after_hot", "--cost-limit", LIMIT, *options)
    made = json.loads(trace.result.out[trace.result.out.index("{"):])
    return trace, made, genlog.Log(path)


def check_functions(trace, made, log, names, cut=0):
    """Check that these functions were traced exactly until some moment, and the other one to the end, according to the log."""
    p = trace.process(comm="gen_user")
    check_equal("shed_ns of the process", p["shed_ns"], None)
    check_equal("what was detached", sorted((s["family"], s["function"]) for s in p["sheds"]), [("user", n) for n in names])
    detached = p["sheds"][0]
    check_between("shed_ns", detached["shed_ns"], 0.9e9, 30e9)
    check(detached["shed_cost"] > detached["shed_limit"], f"detached below the limit: {detached}")
    check_equal("at one time, at one cost", {(s["shed_ns"], s["shed_cost"]) for s in p["sheds"]},
                {(detached["shed_ns"], detached["shed_cost"])})
    cold, hot = trace.barrier(function="meet_after_hot"), [b for b in trace.barriers() if b["function"] != "meet_after_hot"]
    check_equal("of the cold one", (cold["shed_ns"], cold["shed_beside_ns"]), (None, detached["shed_ns"]))
    check_equal("of the hot ones", {(b["shed_ns"], b["shed_beside_ns"]) for b in hot}, {(detached["shed_ns"], None)})
    held = trace.compare(log)
    check_equal("missing, extra, incomplete", (held["missing"], held["extra"], held["incomplete"]), (0, 0, 0))
    check_equal("matched", held["matched"], made["rounds"])
    check_last(held)
    check_between("error of the barrier time", held["barrier_error_ns"]["median"], 0, 20000)
    at = detached["shed_ns"] + trace.session["clock_start_ns"]
    before = [n for n, ended in zip(made["hot"], made["ended_ns"]) if ended <= at]
    later = [n for n, ended in zip(made["hot"], made["ended_ns"]) if ended > at]
    check(before and len(later) > 50, f"detached before or after all: {detached}, {made['ended_ns'][0]}")
    # Calls are counted in units of fifty.
    check_between("hot crossings seen", sum(b["crossings"] for b in hot), before[-1], later[0] + 100)
    check_between("hot episodes cut in two", sum(b["incomplete"] for b in hot), 0, cut)
    check_equal("abandoned", p["abandoned"], 0)
    trace.nothing_lost()
    check_equal("hangs", false_hangs(trace), [])
    told = " ".join(f["text"] for f in trace.all("finding") if f["kind"] == "cost_limit")
    check_in("stderr", ", at the barriers of user (", trace.result.err)
    for n in names:
        check_in("stderr", f"user ({n})", trace.result.err)
        check_in("findings", f"Barriers of user ({n}) traced only up to ", told)
    return len(before)


def test_limit_function(t):
    """Of two functions that the user named, the hot one is detached, and the cold one is traced to the end."""
    for method in ("session", "perf"):
        trace, made, log = user_functions(t, "two", "--attach", method, "--hang", "0.7")
        check_faster(made, check_functions(trace, made, log, ["my_hot_barrier"]), RECORDED_NS)


def test_limit_function_mixed(t):
    """Two functions that threads use at one object are detached together, and the third is not."""
    trace, made, log = user_functions(t, "mixed")
    check_functions(trace, made, log, ["my_hot_barrier", "my_second_barrier"], cut=1)


def check_allreduce_detached(t, mpi):
    """MPI_Allreduce is hot, MPI_Barrier is not. Ranks cross barriers with each other, so all of them lose the same probes."""
    path, out = t.path(), t.path()
    # Two spinning ranks use both CPUs of a small machine, and 300,000 episodes per second wait until sbt-trace gets a CPU.
    made = t.run([SBT, "--json", "-o", out, "--ring-size", "32768", "-w", "site_14", "--cost-limit", LIMIT, "--", *MPIRUN[mpi], "-n", "2",
                  workload(f"gen_{mpi}"), "--kind", "two", "--rounds", "350", "--log", path], env=clean_environment(**ENVIRONMENT), rc=0)
    trace, log = Trace(t, out), genlog.Log(path)
    trace.nothing_lost()
    ranks = [p for p in trace.processes() if p["comm"] == f"gen_{mpi}"]
    check_equal("ranks", len(ranks), 2)
    check_equal("what was detached", [[(s["family"], s["function"]) for s in p["sheds"]] for p in ranks],
                [[("mpi", "MPI_Allreduce")]] * 2)
    check_equal("moments", len({p["sheds"][0]["shed_ns"] for p in ranks}), 1)
    held = trace.compare(log)
    # The communicator is duplicated twice, and each duplication is an episode, too.
    check_equal("missing, extra, incomplete", (held["missing"], held["extra"], held["incomplete"]), (0, 2, 0))
    check_equal("matched", held["matched"], 350)
    check_last(held)
    at = ranks[0]["sheds"][0]["shed_ns"]
    hot = trace.barriers(function="go_hot")
    check_equal("of the hot one", {(b["shed_ns"], b["shed_beside_ns"]) for b in hot}, {(at, None)})
    check_equal("of the others", {(b["shed_ns"], b["shed_beside_ns"]) for b in trace.barriers(function="site_14")}, {(None, at)})
    check(sum(b["episodes"] for b in hot) > 350, f"MPI_Allreduce was hardly seen: {hot}")
    check_between("of these cut in two by that moment", sum(b["incomplete"] for b in hot), 0, 1)
    check_equal("abandoned", [p["abandoned"] for p in ranks], [0, 0])
    check_equal("lines on stderr", made.err.count(", at the barriers of mpi (MPI_Allreduce): "), 2)


def test_limit_function_mpi(t):
    found = [mpi for mpi in MPIRUN if shutil.which(MPIRUN[mpi][0])]
    if not found:
        raise Skip("no mpirun")
    check_allreduce_detached(t, found[0])


def test_limit_function_openmp(t):
    """The barriers of a team are detached, and the ends of the regions around them are still traced."""
    # The hot barriers cost at least 12 % of the program's time, the rest up to 5 % if switches are expensive.
    trace, made = two_ways(t, 180, "--cost-limit", "6", "--hang", "0.7", hot="team")
    p = trace.process(comm="two_ways")
    check_equal("shed_ns of the process", p["shed_ns"], None)
    check_equal("what was detached", [(s["family"], s["function"]) for s in p["sheds"]], [("gomp", "GOMP_barrier")])
    detached = p["sheds"][0]["shed_ns"]
    ends, hot = trace.barrier(kind="join"), trace.barrier(kind="explicit")
    check_equal("of the ends", (ends["episodes"], ends["incomplete"], ends["shed_ns"], ends["shed_beside_ns"]),
                (made["rounds"], 0, None, detached))
    check_equal("of the barriers", (hot["shed_ns"], hot["shed_beside_ns"]), (detached, None))
    check_between("cut", hot["incomplete"], 0, 1)
    at = detached + trace.session["clock_start_ns"]
    before = [n for n, ended in zip(made["hot"], made["ended_ns"]) if ended <= at]
    later = [n for n, ended in zip(made["hot"], made["ended_ns"]) if ended > at]
    check(before and len(later) > 20, f"detached before or after all: {detached}")
    check_between("hot crossings seen", hot["crossings"], before[-1], later[0])
    check_equal("abandoned", p["abandoned"], 0)
    check_equal("hangs", false_hangs(trace), [])
    trace.nothing_lost()


def test_limit_part_named(t):
    """Without these probes, the ends of conceptual phases would be missed. So the whole process is detached."""
    trace, made = two_ways(t, ROUNDS, "--cost-limit", LIMIT, hot="named")
    p = trace.process(comm="two_ways")
    check(p["shed_ns"] is not None, f"it was traced to its end: {p}")
    check_equal("of parts", p["sheds"], [])


def test_limit_part_futexes(t):
    """With probes on futexes, barriers with detached probes are not discovered again as futex barriers."""
    limit = limit_for(t, "--discover")
    trace, made = two_ways(t, ROUNDS, "--discover", "--cost-limit", limit, hot="cond", threads=3)
    check_part(trace, made, 0.9e9, "cond", ["forkjoin", "futex"], cut=1)
    check_equal("barriers on futexes", trace.barriers(family="futex"), [])
    trace, made = two_ways(t, ROUNDS, "--discover", "--cost-limit", LIMIT)
    check_part(trace, made, 0.9e9, "pthread", ["futex"])
    check_equal("barriers on futexes", trace.barriers(family="futex"), [])


def two_ways_forever(t):
    return t.start([workload("two_ways"), "--forever"], env=PASSIVE)


def until_detached(tracer):
    try:
        wait_for("the hot ones are detached", lambda: "at the barriers of pthread" in tracer.process.err, 40)
    except Failure as failure:
        raise Failure(f"{failure}; stderr: {tracer.process.err}") from failure


def test_limit_part_own(t):
    """A process has probes of its own. Those of its hot barriers are detached."""
    target = two_ways_forever(t)
    tracer = t.attach("-p", str(target.pid), "--no-children", "--cost-limit", LIMIT)
    until_detached(tracer)
    time.sleep(2)
    target.signal(15)
    made = json.loads(target.wait().out)
    trace = tracer.end()
    p = trace.process(pid=target.pid)
    at = p["sheds"][0]["shed_ns"] + trace.session["clock_start_ns"]
    begin = trace.session["clock_start_ns"]
    seen = sum(ended > begin for ended in made["ended_ns"])
    check_between("episodes of OpenMP", trace.episodes(family="gomp"), 2 * seen - 3, 2 * seen + 1)
    check(sum(ended > at for ended in made["ended_ns"]) > 20, "hardly anything came after")
    check_equal("abandoned", p["abandoned"], 0)
    check_equal("lost", p["lost"], 0)
    check_not_in("stderr", "processes that start later", trace.result.err)


def test_limit_part_recorded(t):
    tape = t.path()
    printed = t.text([workload("two_ways"), "--rounds", "200"], "--cost-limit", LIMIT, "--record", tape,
                     env=PASSIVE)
    flat = " ".join(printed.split())
    check_all_in("text", ("Barriers of pthread traced only up to ", "the time lost there is unknown",
                          "other barriers of its process were not traced (--cost-limit)"), flat)
    check_in("the end of the text", "INCOMPLETE: in 1 process some barriers were not traced to the end "
             "(--cost-limit)", flat[-300:])
    check_recorded(t, printed, tape, tape, "some barriers were not traced to the end",
                   "Some barriers of 1 process were not traced to the end")


def test_limit_part_whole(t):
    """If only detaching the whole process is enough, all of it is detached, at once or what is left of it later."""
    trace, made = two_ways(t, ROUNDS, "--cost-limit", "0.0005")
    p = trace.process(comm="two_ways")
    check(p["shed_ns"] is not None, f"it was traced to its end: {p}")
    check_equal("processes detached by the cost limit", trace.end["shed"], 1)
    check_equal("end.shed_parts", trace.end["shed_parts"], 0)
    check(trace.episodes(family="gomp") < 2 * made["rounds"], "the cold ones were traced on")
    trace.nothing_lost()


def test_limit_part_others(t):
    """What a thread did there that begins after the probes are removed is unknown, and the report says so."""
    tracer = t.attach("-a", "--comm", "two_ways", "--cost-limit", LIMIT)
    # If a program is not examined yet, its current region is unknown, and this program has only one. The examination takes a
    # while.
    before = two_ways_forever(t)
    time.sleep(0.4)
    before.signal(15)
    before.wait()
    first = two_ways_forever(t)
    until_detached(tracer)
    # Probes are removed soon, but not at once.
    time.sleep(1.5)
    second = t.start([workload("two_ways"), "--rounds", "20"], env=PASSIVE)
    second.wait()
    first.signal(15)
    first.wait()
    trace = tracer.stop()
    begun, late = trace.process(pid=first.pid)["sheds"], trace.process(pid=second.pid)["sheds"]
    check_equal("of the first", [(s["family"], s["shed_because"]) for s in begun], [("pthread", None)])
    check_equal("of the second", [(s["family"], s["shed_because"]) for s in late],
                [("pthread", first.pid)])
    check_equal("when", late[0]["shed_ns"], begun[0]["shed_ns"])
    # The end of the only region may be missed if the program was found while the region ran.
    check_between("its episodes of OpenMP", trace.episodes(pid=second.pid, family="gomp"), 2 * 20,
                  2 * 20 + 1)
    check_equal("its others", trace.barriers(pid=second.pid, family="pthread"), [])
    check_equal("processes detached by the cost limit", trace.end["shed"], 0)
