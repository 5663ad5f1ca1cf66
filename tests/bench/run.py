#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""The measured figures of the project, as ratios within one run. These are benchmarks, not tests: only reality and ranking can
fail, because they check their own results.

usage: tests/bench/run.py [NAME...]     names: cost aggregate causes switch bpftrace accuracy loss memory
                                        start strangers hang model record real predict forks copies samples reality
                                        ranking estimate programs departures table
                                        (parts of the table: table.tools table.thesis table.estimates table.cold)"""
import functools
import json
import os
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from common import (BENCH, BPFTRACE, ENV, Holder, ROOT, SBT, empty_scheduler, empty_session, last_object, libc, median, run_traced, say,
                    workload)
from departures import bench_departures
from estimate import bench_estimate
from processes import bench_copies, bench_forks
from programs import bench_programs
from real import bench_real
from reality import bench_ranking, bench_reality
from samples import bench_samples
from table import PARTS, bench_table
from turns import difference, take_turns

sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))


def run_under(holder, extra=()):
    if holder == "sbt":
        return run_traced((), [workload("bench_crossing"), *extra])
    if holder == "bare":
        run = subprocess.run([workload("bench_crossing"), *extra], capture_output=True, text=True, timeout=120)
        return last_object(run.stdout)
    with holder():
        return run_under("bare", extra)


EMPTY = "empty session"
QUIET = ("-q", "--json")
RECORDS = {"records with causes": (QUIET,), "records alone": ((*QUIET, "--no-causes"),)}


def crossing_turns():
    ways = {"bare": (), EMPTY: (None, True), **RECORDS, "sums": ((*QUIET, "--aggregate"),)}
    starts = take_turns(ways, 12, 300)
    print("one thread, ns a crossing, median of %d starts: " % len(starts) +
          ", ".join("%s %.0f" % (k, median([median(rows[k]) for rows in starts])) for k in ways))
    return starts


def say_ratio(text, starts, more, less, floor, bound):
    """Print the ratio of the costs beyond @floor, as the median of the starts."""
    ratios = [difference(rows, more, floor) / difference(rows, less, floor) for rows in starts]
    say(text, median(ratios), bound)
    print("    single starts: " + " ".join("%.2f" % r for r in sorted(ratios)))


def bench_cost():
    """Compare the cost of a crossing, with records, to that of an empty probe."""
    starts = crossing_turns()
    for name in RECORDS:
        say_ratio("added cost of a crossing, one thread, %s, against an empty session" % name, starts, name, EMPTY, "bare", 1.35)


def spent(argv, options=None, holder=None):
    """Return what a run prints, and the CPU time of the run and of its tracer, in ns."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if options is not None:
        said = run_traced(options, argv)
    elif holder:
        with holder():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            said = last_object(subprocess.run(argv, capture_output=True, text=True, timeout=120).stdout)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return said, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e9
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return said, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e9


def bench_aggregate():
    """Compare a crossing with sums, with records, and with an empty session. Measure two times: that of the crossing itself,
    which the program waits for; and the CPU time of all processes including sbt-trace, because some process must read what
    is written. For the second, the cost of starting and ending sbt-trace is measured with a very short run and subtracted."""
    starts = crossing_turns()
    for name in RECORDS:
        say_ratio("what sums add beyond an empty session, against %s" % name, starts, "sums", name, EMPTY, 0.5)
    ways = {EMPTY: (None, empty_session), **{k: (options, None) for k, (options,) in RECORDS.items()},
            "sums": (("--aggregate",), None)}
    many, few = ["--calls", "20000", "--repetitions", "50"], ["--calls", "1", "--repetitions", "1"]
    rows = {k: [] for k in ways}
    for _ in range(5):
        for k, (options, holder) in ways.items():
            used = [spent([workload("bench_crossing"), *extra], options, holder)[1] for extra in (many, few)]
            rows[k].append((used[0] - used[1]) / 1e6)
    least = {k: min(v) for k, v in rows.items()}
    print("CPU time a crossing, all processes, least of five, ns: " +
          ", ".join("%s %.0f" % (k, v) for k, v in least.items()))
    for k in RECORDS:
        say("what sums add beyond an empty session, against %s, CPU time" % k,
            (least["sums"] - least[EMPTY]) / (least[k] - least[EMPTY]), 0.5)


COUNTERS = ("-e", "page-faults,context-switches,task-clock,cpu-migrations")
# These events exclude those that the accounting handles anyway.
ALL_READ = ("-e", "minor-faults,cpu-clock,task-clock,cpu-migrations")


def bench_causes():
    """Measure how much accounting for time adds to a crossing, and how much four counters add."""
    ways = {"plain": ("--no-causes",), "causes": (), "counters": COUNTERS, "all read": ALL_READ}
    for threads, extra, key, turns in ((1, (), "ns_per_call", 9),
                                       (4, ("--threads", "4", "--seconds", "3"), "ns_per_episode", 7)):
        def figure(run):
            return run[key]["median"] if threads == 1 else run[key]

        rows = {"bare": [], **{name: [] for name in ways}}
        for _ in range(turns):
            rows["bare"].append(figure(run_under("bare", extra)))
            for name, options in ways.items():
                rows[name].append(figure(run_traced(options, [workload("bench_crossing"), *extra])))
        print("%d thread%s on %d CPUs, ns %s: " % (threads, "s"[threads == 1:], os.cpu_count(),
                                                   "a crossing" if threads == 1 else "an episode") +
              ", ".join("%s %.0f" % (name, median(rows[name])) for name in rows))
        for name, text, bound in (("causes", "causes on", 1.15), ("counters", "causes and four counters", 1.6),
                                  ("all read", "causes and four counters that are all read", None)):
            ratios = [(x - b) / (p - b) for b, p, x in zip(rows["bare"], rows["plain"], rows[name])]
            say("    added cost, %s, against --no-causes" % text, median(ratios), bound)
            print("    single ratios: " + " ".join("%.2f" % r for r in sorted(ratios)))


def bench_switch():
    """Let two threads pass a byte back and forth on one CPU: traced, and while another program is traced."""
    def switch():
        out = subprocess.run([workload("bench_switch")], capture_output=True, text=True, check=True).stdout
        return last_object(out)["ns_per_switch"]["median"]

    rows = {"bare": [], "plain": [], "traced": [], "counted": [], "empty programs": [], "stranger": [],
            "stranger, counters": []}
    target = subprocess.Popen([workload("gen"), "--threads", "2", "--forever", "--work", "fixed:0=50ms,1=50ms",
                               "--work-by", "sleep"], stdout=subprocess.DEVNULL)
    try:
        for _ in range(9):
            rows["bare"].append(switch())
            for name, options in (("plain", ("--no-causes",)), ("traced", ()), ("counted", COUNTERS)):
                rows[name].append(run_traced(options, [workload("bench_switch")])["ns_per_switch"]["median"])
            with empty_scheduler():
                rows["empty programs"].append(switch())
            for name, options in (("stranger", ()), ("stranger, counters", COUNTERS)):
                with tempfile.NamedTemporaryFile() as out:
                    p = subprocess.Popen([SBT, "-q", "--json", *options, "-o", out.name, "-p", str(target.pid)],
                                         env=ENV)
                    while not open(out.name, encoding="utf-8").read():
                        time.sleep(0.02)
                    rows[name].append(switch())
                    p.send_signal(signal.SIGINT)
                    p.wait()
    finally:
        target.terminate()
        target.wait()
    print("ns a switch: " + ", ".join("%s %.0f" % (name, median(rows[name])) for name in rows))
    for name, bound in (("plain", None), ("traced", 1000), ("counted", None), ("empty programs", None),
                        ("stranger", None), ("stranger, counters", None)):
        say("    added to a context switch: %s" % name, median([x - b for b, x in zip(rows["bare"], rows[name])]),
            bound, " ns")
    say("    a stranger's beyond empty programs at the same events",
        median([x - b for b, x in zip(rows["empty programs"], rows["stranger"])]), None, " ns")
    noise = statistics.quantiles(rows["bare"], n=4)
    say("    noise: a quarter of the bare figures to three quarters", noise[2] - noise[0], None, " ns")


def bench_bpftrace():
    extra = ("--threads", "4", "--seconds", "3")
    rows = {"bare": [], "bpftrace": [], "sbt": []}
    script = BPFTRACE % {"libc": libc()}
    for _ in range(7):
        rows["bare"].append(run_under("bare", extra)["ns_per_episode"])
        rows["bpftrace"].append(run_under(lambda: Holder(["bpftrace", "-e", script], "ready"), extra)["ns_per_episode"])
        rows["sbt"].append(run_under("sbt", extra)["ns_per_episode"])
    ratios = [(s - b) / (e - b) for b, e, s in zip(rows["bare"], rows["bpftrace"], rows["sbt"])]
    print("4 threads on %d CPUs, ns an episode: bare %.0f, bpftrace %.0f, sbt-trace %.0f" %
          ((os.cpu_count(),) + tuple(median(rows[k]) for k in ("bare", "bpftrace", "sbt"))))
    say("added cost of an episode, 4 threads, against bpftrace summing waits", median(ratios), 0.8)
    print("    single ratios: " + " ".join("%.2f" % r for r in sorted(ratios)))


def bench_accuracy():
    import genlog
    for threads in (2, 4, 8, 32):
        rounds = {2: 4000, 4: 4000, 8: 3000, 32: 2000}[threads]
        with tempfile.TemporaryDirectory() as d:
            log, trace = os.path.join(d, "log"), os.path.join(d, "trace")
            subprocess.run([SBT, "--json", "-W", "-o", trace, "--no-warnings", "--", workload("gen"), "--threads",
                            str(threads), "--rounds", str(rounds), "--work", "random:20us:600us:1",
                            "--work-by", "sleep", "--log", log], check=True, stdout=subprocess.DEVNULL, env=ENV)
            r = genlog.compare(genlog.Log(log), genlog.load_trace(trace))
        print("%2d threads, %d rounds: %d found, %d missing, %d more; last wrong %d of %d" %
              (threads, rounds, r["matched"], len(r["missing"]) if hasattr(r["missing"], "__len__") else r["missing"],
               len(r["extra"]) if hasattr(r["extra"], "__len__") else r["extra"],
               len(r["last_wrong"]) if hasattr(r["last_wrong"], "__len__") else r["last_wrong"], r["last_checked"]))
        say("    barrier time, median error", r["barrier_error_ns"]["median"] / 1000, 5, " us")
        say("    cumulative wait, largest error of a thread", r["wait_error"] * 100, 2, " %")


def trace_json(argv, seconds, extra=()):
    """Run sbt-trace on @argv. Return (end record, peak RSS of sbt-trace in MiB)."""
    with tempfile.NamedTemporaryFile() as out:
        p = subprocess.Popen([SBT, "--json", "-o", out.name, *extra, "--", *argv], stdout=subprocess.DEVNULL, env=ENV)
        peak = 0
        while p.poll() is None:
            try:
                with open("/proc/%d/status" % p.pid, encoding="ascii", errors="replace") as f:
                    peak = max(peak, int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1)))
            except (OSError, AttributeError):
                pass
            time.sleep(0.2)
        records = [json.loads(line) for line in open(out.name, encoding="utf-8")]
    return records[-1], peak / 1024


def bench_loss():
    end, peak = trace_json([workload("bench_crossing"), "--threads", "4", "--seconds", "60"], 60)
    print("60 s of back-to-back barriers by 4 threads: %d episodes, %d crossings" % (end["episodes"], end["crossings"]))
    say("    crossings lost", sum(end["lost"].values()), 0)
    say("    peak memory of sbt-trace", peak, 32, " MiB")


def bench_memory():
    end, peak = trace_json([workload("bench_crossing"), "--threads", "2", "--seconds", "50"], 50)
    print("nothing watched, %d episodes, %d lost" % (end["episodes"], sum(end["lost"].values())))
    say("    peak memory of sbt-trace", peak, 32, " MiB")


def bench_start():
    armed, whole = [], []
    for _ in range(11):
        with tempfile.NamedTemporaryFile() as out:
            begin = time.monotonic()
            subprocess.run([SBT, "--json", "-o", out.name, "--", "/bin/true"], stderr=subprocess.DEVNULL, env=ENV)
            whole.append((time.monotonic() - begin) * 1000)
            session = json.loads(open(out.name, encoding="utf-8").readline())
            armed.append(session["armed_ns"] / 1e6)
    say("from start to armed, median", median(armed), 150, " ms")
    say("sbt-trace -- /bin/true as a whole, median", median(whole), None, " ms")


def bench_hang():
    """Run 64 threads. One has arrived at the barrier, and 63 read from empty pipes, eleven calls deep."""
    p = subprocess.Popen([workload("hung"), "--kind", "pipe", "--threads", "64", "--missing", "63", "--depth", "10"],
                         stdout=subprocess.PIPE, text=True)
    whole, missing = [], set()
    try:
        for line in p.stdout:
            if line.startswith("# hung"):
                break
        for _ in range(7):
            begin = time.monotonic()
            out = subprocess.run([SBT, "hang", "--json", "-p", str(p.pid)], capture_output=True, text=True, check=True,
                                 env=ENV).stdout
            whole.append((time.monotonic() - begin) * 1000)
            missing.add(len([m for line in out.splitlines() for m in json.loads(line).get("missing", [])
                             if any(f["function"] == "pipe_read" for f in m["stack"])]))
    finally:
        p.kill()
        p.wait()
    print("missing threads with their stacks: %s of 63" % sorted(missing))
    say("hang -p of 64 threads as a whole, median", median(whole), 1000, " ms")


def bench_strangers():
    def stranger():
        out = subprocess.run([workload("stranger")], capture_output=True, text=True, check=True).stdout
        return last_object(out)

    target = subprocess.Popen([workload("gen"), "--threads", "2", "--forever", "--work", "fixed:0=50ms,1=50ms",
                               "--work-by", "sleep"], stdout=subprocess.DEVNULL)
    rows = {"bare": [], "traced": [], "filtered": []}
    try:
        for _ in range(7):
            rows["bare"].append(stranger())
            for name, extra in (("traced", ()), ("filtered", ("--no-children",))):
                with tempfile.NamedTemporaryFile() as out:
                    p = subprocess.Popen([SBT, *extra, "-q", "--json", "-o", out.name, "-p", str(target.pid)], env=ENV)
                    while not open(out.name, encoding="utf-8").read():
                        time.sleep(0.02)
                    rows[name].append(stranger())
                    p.send_signal(signal.SIGINT)
                    p.wait()
    finally:
        target.terminate()
        target.wait()
    loop = [t["loop_ns"]["median"] / b["loop_ns"]["median"] for b, t in zip(rows["bare"], rows["traced"])]
    say("a stranger that calls no probed function: slowed by the factor", median(loop), None)
    for name, text in (("traced", "one that does, children followed"), ("filtered", "one that does, --no-children")):
        added = [t["wait_ns"]["median"] - b["wait_ns"]["median"] for b, t in zip(rows["bare"], rows[name])]
        say("%s: added to a crossing" % text, median(added), None, " ns")


def bench_model():
    """Measure the model alone, and together with the merge, from few CPUs to many. The goal is 5 million crossings per second."""
    subprocess.run([os.path.join(BENCH, "bench_model")], check=False)
    for threads in ("1000", "10000"):
        for sources in ("64", "256", "1024"):
            subprocess.run([os.path.join(BENCH, "bench_streams"), sources, threads], check=False)
    subprocess.run([os.path.join(BENCH, "bench_streams"), "1024", "10000", "10", "10", "mixed"], check=False)


def crossing_figures(options):
    """Return the time of a crossing, ns: for one thread that never waits; and the tracer's CPU time, with 4 threads that take
    turns."""
    alone = run_traced(options, [workload("bench_crossing")])["ns_per_call"]
    with tempfile.NamedTemporaryFile() as out:
        run = subprocess.run([SBT, "-q", "--json", "-o", out.name, *options, "--", workload("bench_crossing"), "--threads",
                              "4", "--seconds", "3"], capture_output=True, text=True, env=ENV, timeout=120, check=True)
        end = json.loads(open(out.name, encoding="utf-8").readlines()[-1])
    return {"alone": alone["median"], "least": alone["min"], "together": last_object(run.stdout)["ns_per_episode"],
            "tracer": end["tracer_cpu_ns"] / end["produced"], "lost": end["lost_total"]}


def bench_record_cost(folder):
    recording = os.path.join(folder, "r")
    rows = {"without": [], "with": []}
    for _ in range(7):
        rows["without"].append(crossing_figures(()))
        rows["with"].append(crossing_figures(("--record", recording)))
    for key, text, bound in (("alone", "a crossing of one thread", 1.1), ("together", "an episode of 4 threads", 1.1),
                             ("tracer", "CPU time of sbt-trace, a crossing", None)):
        ratios = [w[key] / wo[key] for wo, w in zip(rows["without"], rows["with"])]
        print("%s, ns: %.0f, with a recording %.0f" % (text, *(median([r[key] for r in rows[k]]) for k in rows)))
        say("    with a recording, against without", median(ratios), bound)
        print("    single ratios: " + " ".join("%.2f" % r for r in sorted(ratios)))
    least = [min(r["least"] for r in rows[k]) for k in rows]
    say("a crossing of one thread, the least of all turns: with against without", least[1] / least[0], 1.1)
    print("lost: %d without, %d with" % tuple(sum(r["lost"] for r in rows[k]) for k in rows))


def bench_record_size(folder):
    """Measure the record sizes of waits of all kinds. Then record 10 million crossings, back to back, or as many as one minute
    allows."""
    recording, out = os.path.join(folder, "r"), os.path.join(folder, "out")
    for text, argv in (("8 threads, random work", ["gen", "--threads", "8", "--rounds", "2000", "--work",
                                                    "random:10us:500us:1"]),
                       ("4 threads that sleep", ["gen", "--threads", "4", "--rounds", "2000", "--work",
                                                 "random:10us:500us:1", "--work-by", "sleep"]),
                       ("8 threads back to back", ["bench_crossing", "--threads", "8", "--seconds", "60"])):
        subprocess.run([SBT, "record", "-q", "-o", recording, "--", workload(argv[0]), *argv[1:]], check=True,
                       stdout=subprocess.DEVNULL, env=ENV)
        begin = time.monotonic()
        p = subprocess.Popen([SBT, "report", "-q", "--json", "-o", out, recording], env=ENV)
        _, status, usage = os.wait4(p.pid, 0)
        seconds = time.monotonic() - begin
        if status:
            raise RuntimeError("report failed: %d" % status)
        end = json.loads(open(out, encoding="utf-8").readlines()[-1])
        print("%s: %d crossings, %.1f MB" % (text, end["consumed"], os.path.getsize(recording) / 1e6))
        say("    bytes a crossing", os.path.getsize(recording) / end["consumed"], 40)
    say("    report of 10 million crossings, scaled from these", seconds * 1e7 / end["consumed"], 5, " s")
    say("        of that CPU time", (usage.ru_utime + usage.ru_stime) * 1e7 / end["consumed"], None, " s")
    say("    peak memory of report", usage.ru_maxrss / 1024, 200, " MiB")


def bench_record():
    with tempfile.TemporaryDirectory() as folder:
        bench_record_cost(folder)
        bench_record_size(folder)


def bench_predict():
    """Measure the simulator. The goal is at least 5 million events per second."""
    subprocess.run([os.path.join(BENCH, "bench_predict")], check=False)


ALL = {"cost": bench_cost, "aggregate": bench_aggregate, "causes": bench_causes, "switch": bench_switch, "bpftrace": bench_bpftrace,
       "accuracy": bench_accuracy, "start": bench_start, "strangers": bench_strangers, "model": bench_model,
       "memory": bench_memory, "hang": bench_hang, "record": bench_record, "loss": bench_loss, "real": bench_real,
       "predict": bench_predict, "forks": bench_forks, "copies": bench_copies, "samples": bench_samples, "reality": bench_reality, "ranking": bench_ranking,
       "estimate": bench_estimate, "programs": bench_programs, "departures": bench_departures,
       **{"departures." + part: functools.partial(bench_departures, (part,)) for part in ("one", "four", "openmp", "phases", "accuracy")},
       "table": bench_table, **{"table." + part: functools.partial(bench_table, [part]) for part in PARTS}}


def main():
    if sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__.strip())
        return
    names = sys.argv[1:] or [name for name in ALL if "." not in name]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name in names:
        if name not in ALL:
            sys.exit("unknown benchmark %s: %s" % (name, " ".join(ALL)))
    failed = False
    for name in names:
        print("== " + name, flush=True)
        try:
            ALL[name]()
        except SystemExit as verdict:
            print(verdict, flush=True)
            failed = True
    sys.exit(failed)


main()
