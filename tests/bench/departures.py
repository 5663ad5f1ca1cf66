# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Inferred departures against seen ones: the cost of a crossing by each attach method, the cost of an episode of several threads,
and how far the figures are from the program's own log.

A crossing of one thread is measured in turns (turns.py): all ways run side by side. Episodes of several threads depend on the
scheduler, so each figure is the median of ratios of runs that follow one another."""
import os
import statistics
import subprocess
import tempfile

from common import BPFTRACE, ENV, SBT, Holder, last_object, libc, median, run_traced, say, workload
from programs import measure, traced_programs
from programs import statistics as statistics_of_programs
from turns import difference, take_turns

EMPTY, ENTRY = "empty session", "empty entry probe"
QUIET = ("-q", "--json")
PHASES = "pthread barrier, two threads, phases of 1 ms"
METHODS = {"session": 0.5, "multi": 0.15, "perf": 0.15}  # the wanted ratio of the costs
STARTS, TURNS = 9, 300
RUNS = 9
FOUR = ("--threads", "4", "--seconds", "2")
ACCURACY = ((2, 1500, "random:200us:900us:1"), (4, 800, "random:200us:900us:2"), (32, 150, "stair:200us:20us"))


def one_thread():
    ways = {"bare": (), EMPTY: (None, True), ENTRY: (None, "entry"), "sums": ((*QUIET, "--aggregate"),)}
    for method in METHODS:
        for departures in ("seen", "inferred"):
            ways[f"{method} {departures}"] = ((*QUIET, "--attach", method, "--departures", departures),)
    starts = take_turns(ways, STARTS, TURNS)
    print("one thread, ns a crossing, median of %d starts: " % len(starts) +
          ", ".join("%s %.0f" % (name, median([median(rows[name]) for rows in starts])) for name in ways))

    def ratio(text, more, less, bound):
        ratios = [difference(rows, more, "bare") / difference(rows, less, "bare") for rows in starts]
        say(text, median(ratios), bound)
        print("    single starts: " + " ".join("%.2f" % r for r in sorted(ratios)))

    for method, bound in METHODS.items():
        ratio(f"added cost of a crossing by {method}, inferred against seen", f"{method} inferred", f"{method} seen", bound)
    ratio("the same by session, against an empty session", "session inferred", EMPTY, 0.95)
    ratio("added cost of a crossing, --aggregate, against an empty entry probe", "sums", ENTRY, 1.35)


def four_threads():
    def bare():
        run = subprocess.run([workload("bench_crossing"), *FOUR], capture_output=True, text=True, check=True, timeout=120)
        return last_object(run.stdout)["ns_per_episode"]

    def traced(*options):
        return run_traced(options, [workload("bench_crossing"), *FOUR])["ns_per_episode"]

    script = BPFTRACE % {"libc": libc()}
    rows = {"bare": [], "bpftrace": [], "seen": [], "inferred": [], "no causes": []}
    for _ in range(RUNS):
        rows["bare"].append(bare())
        with Holder(["bpftrace", "-e", script], "ready"):
            rows["bpftrace"].append(bare())
        for departures in ("seen", "inferred"):
            rows[departures].append(traced("--departures", departures))
        rows["no causes"].append(traced("--no-causes"))
    print("four threads on %d CPUs, ns an episode: " % os.cpu_count() +
          ", ".join("%s %.0f" % (name, median(row)) for name, row in rows.items()))
    for name, bound in (("seen", None), ("inferred", 0.65), ("no causes", 0.5)):
        ratios = [(x - b) / (e - b) for b, e, x in zip(rows["bare"], rows["bpftrace"], rows[name])]
        say("added cost of an episode, %s, against bpftrace summing waits" % name, median(ratios), bound)
        print("    single runs: " + " ".join("%.2f" % r for r in sorted(ratios)))


def openmp():
    """The overhead per barrier of OpenMP, as in the EPCC microbenchmarks: two threads, back to back in one region."""
    for library, method, bound in (("", "session", 1 / 3), ("", "multi", 1 / 3), ("", "perf", 1 / 3), ("-libomp", "session", None)):
        program = [workload("bench_omp" + library), "2", "1"]
        rows = {"bare": [], "seen": [], "inferred": []}
        for _ in range(RUNS):
            run = subprocess.run(program, capture_output=True, text=True, check=True, timeout=120)
            rows["bare"].append(last_object(run.stdout)["ns_per_barrier"])
            for departures in ("seen", "inferred"):
                rows[departures].append(run_traced(("--attach", method, "--departures", departures), program)["ns_per_barrier"])
        print("OpenMP barrier%s, 2 threads, %s, ns: " % (library, method) +
              ", ".join("%s %.0f" % (name, median(row)) for name, row in rows.items()))
        ratios = [(i - b) / (s - b) for b, s, i in zip(rows["bare"], rows["seen"], rows["inferred"])]
        say("added cost of a barrier, %s, inferred against seen" % method, median(ratios), bound)
        print("    single runs: " + " ".join("%.2f" % r for r in sorted(ratios)))


def phases():
    """The added CPU time in phases of 1 ms: the BPF programs, and the price of the probe. The price is what a crossing costs less
    the time of its program, both back to back."""
    ways = {"bare": (), "traced": (QUIET,)}
    cost = median([difference(rows, "traced", "bare") for rows in take_turns(ways, 3, TURNS)])
    shares = []
    with statistics_of_programs():
        for _ in range(RUNS):
            ran, cpu, _ = measure(traced_programs()[PHASES])
            arrivals = ran["barrier_arrival"]
            shares.append(100 * (arrivals.hits * cost + sum(r.ns for name, r in ran.items() if name != "barrier_arrival")) / cpu)
    say("two threads, phases of 1 ms: added CPU time", median(shares), 0.3, " %")
    print("    single runs: " + " ".join("%.2f" % r for r in sorted(shares)))


def accuracy():
    import genlog
    for threads, rounds, work in ACCURACY:
        for departures in ("seen", "inferred"):
            with tempfile.TemporaryDirectory() as folder:
                log, data, path = (os.path.join(folder, name) for name in ("log", "data", "trace"))
                subprocess.run([SBT, "record", "-q", "--departures", departures, "-o", data, "--", workload("gen"), "--threads",
                                str(threads), "--rounds", str(rounds), "--work", work, "--log", log],
                               check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENV)
                subprocess.run([SBT, "report", "-W", "--json", "-o", path, data], check=True, env=ENV)
                known, trace = genlog.Log(log), genlog.load_trace(path)
            found = genlog.compare(known, trace)
            last, others = genlog.latency_errors(known, trace)
            work_ns = sum(t["work_ns"] for b in trace["barrier"] for t in b["threads"])
            known_ns = sum(t["work_ns"] for t in known.threads().values())
            print("%2d threads, %s: %d of %d episodes, last wrong %d of %d; median error of a release latency %+.1f us, of a last "
                  "arriver %+.1f us; work %+.2f %%; wait %.2f %%; unknown departures %d" %
                  (threads, departures, found["matched"], rounds, found["last_wrong"], found["last_checked"],
                   statistics.median(others) / 1000, statistics.median(last) / 1000, 100 * (work_ns / known_ns - 1),
                   100 * found["wait_error"], trace["end"][0]["departures_unknown"]))


def bench_departures(parts=("one", "four", "openmp", "phases", "accuracy")):
    run = {"one": one_thread, "four": four_threads, "openmp": openmp, "phases": phases, "accuracy": accuracy}
    for part in parts:
        run[part]()
