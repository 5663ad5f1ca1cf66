# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""The cost of tracing with sbt-trace and with other tools: each tool in turn traces the same program.

There are three programs: one thread that crosses its own barrier back to back, so that all time is the tool's cost; and two
threads with phases of 50 us and of 1 ms. Each does a fixed number of steps of work and measures its own rounds, so that the
start and the report of a tool do not count. Each figure is the median over turns. Every tool runs in each turn, and ratios are
taken within a turn. The other tools get the same task, to record each call of pthread_barrier_wait and its return: bpftrace
sums up the time inside, perf records both, uftrace hooks the call, and the program itself calls LTTng-UST (it cannot see the
call, so that program is built for it).

The second part follows the protocol of E. Novillo's thesis (University of Alberta, 2002, section 5.5, table 5.2): programs
modelled on SPLASH-2's with growing sizes run without tracing, attached with nothing reported, and with everything watched and
two counters. sbt-trace's estimate of its cost is compared with the measured cost.

Of bpftrace, linux-perf, uftrace and lttng-tools, the installed ones take part (scripts/setup bench). The figures go to
build/bench/table.json, and a picture (python3-matplotlib) to build/bench/cost.svg."""
import contextlib
import itertools
import json
import math
import os
import re
import shutil
import signal
import statistics
import subprocess
import tempfile

from common import BENCH, ENV, Holder, SBT, empty_session, last_object, libc, median, workload
from turns import in_turns

TURNS = int(os.environ.get("TURNS", "9"))
PAIRS = int(os.environ.get("PAIRS", "10"))
COUNTERS = ("-e", "page-faults,context-switches,task-clock,cpu-migrations")
QUIET = ("-q",)
TWO_COUNTERS = ("-e", "task-clock,page-faults")
WAITS = ("uprobe:%(libc)s:pthread_barrier_wait { @t[tid] = nsecs; } "
         "uretprobe:%(libc)s:pthread_barrier_wait /@t[tid]/ { @wait[tid] = sum(nsecs - @t[tid]); delete(@t[tid]); } "
         "BEGIN { printf(\"ready\\n\"); }")
PERF_EVENTS = ("sbtb=pthread_barrier_wait", "sbtb_r=pthread_barrier_wait%return")


def output(argv, timeout=300):
    run = subprocess.run(argv, capture_output=True, text=True, env=ENV, timeout=timeout, check=False)
    if run.returncode:
        raise RuntimeError("%s: exit %d: %s" % (argv[0], run.returncode, run.stderr[-300:]))
    return last_object(run.stdout)


# --- the tools: each runs a command and returns its output ------------------------------------------------------

def sbt(*options, quiet=QUIET):
    def run(argv):
        with tempfile.TemporaryDirectory() as folder:
            return output([SBT, *quiet, "-o", os.path.join(folder, "report"), *options, "--", *argv])
    return run


def held_by(holder):
    def run(argv):
        with holder():
            return output(argv)
    return run


def bpftrace():
    return Holder(["bpftrace", "-e", WAITS % {"libc": libc()}], "ready")


@contextlib.contextmanager
def perf_probes():
    for event in PERF_EVENTS:
        subprocess.run(["perf", "probe", "-q", "-x", libc(), "-a", event], check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["perf", "probe", "-q", "-d", "probe_libc:sbtb*"], check=False, capture_output=True)


def perf(argv):
    with perf_probes(), tempfile.TemporaryDirectory() as folder:
        return output(["perf", "record", "-q", "-e", "probe_libc:sbtb*", "-o", os.path.join(folder, "data"), *argv])


def uftrace(argv):
    with tempfile.TemporaryDirectory() as folder:
        return output(["uftrace", "record", "--force", "-d", folder, *argv])


@contextlib.contextmanager
def session_daemon(folder):
    """LTTng's session daemon. End it if it did not run before."""
    own = os.path.join(folder, "pid")
    subprocess.run(["lttng-sessiond", "--daemonize", "--pidfile", own], check=False, capture_output=True)
    try:
        yield
    finally:
        if os.path.exists(own):
            with open(own, encoding="ascii") as f:
                os.kill(int(f.read()), signal.SIGTERM)


def lttng(argv):
    def tell(*words):
        subprocess.run(["lttng", *words], check=True, capture_output=True)

    with tempfile.TemporaryDirectory() as folder, session_daemon(folder):
        tell("create", "sbtbench", "--output=" + folder)
        try:
            tell("enable-event", "-u", "lttng_ust_tracef:*", "-s", "sbtbench")
            tell("start", "sbtbench")
            return output([argv[0] + "-lttng", *argv[1:]])
        finally:
            tell("destroy", "sbtbench")


def knows(option):
    return option in subprocess.run([SBT, "--help=all"], capture_output=True, text=True, check=True).stdout


def tools():
    """Return each tool's name, how it runs a command, and whether it is available. The first is the reference."""
    return [(name, run) for name, run, there in (
        ("bare", output, True),
        ("an empty probe", held_by(empty_session), True),
        ("sbt-trace --aggregate", sbt("--aggregate"), knows("--aggregate")),
        ("sbt-trace --no-causes", sbt("--no-causes"), True),
        ("sbt-trace", sbt(), True),
        ("sbt-trace, four counters", sbt(*COUNTERS), True),
        ("bpftrace, sum of waits", held_by(bpftrace), shutil.which("bpftrace")),
        ("perf record", perf, shutil.which("perf")),
        ("uftrace", uftrace, shutil.which("uftrace")),
        ("LTTng-UST, built in", lttng, shutil.which("lttng") and os.path.exists(workload("bench_phases-lttng"))),
    ) if there]


# --- the table -------------------------------------------------------------------------------------------

def programs():
    per_ms = output([workload("bench_phases"), "--calibrate"])["steps_per_ms"]

    def phases(threads, rounds, ms):
        return [workload("bench_phases"), "--threads", str(threads), "--rounds", str(rounds),
                "--steps", str(int(per_ms * ms))]

    return [("back to back", "ns", phases(1, 300000, 0)), ("phases of 50 us", "%", phases(2, 10000, 0.05)),
            ("phases of 1 ms", "%", phases(2, 1000, 1))]


def in_turn(ways, argv, turns):
    """Return the time of a round, ns, by way: one figure per turn."""
    rows = {name: [] for name, _ in ways}
    for turn in range(turns):
        # Change the order, so that periodic load of the machine affects all ways.
        for name, run in ways[turn % len(ways):] + ways[:turn % len(ways)]:
            said = run(argv)
            rows[name].append(said["elapsed_ns"] / said.get("rounds", 1))
    return rows


def added(rows, bare, name, unit):
    if unit == "ns":
        return [x - b for b, x in zip(rows[bare], rows[name])]
    return [100 * (x - b) / b for b, x in zip(rows[bare], rows[name])]


def figures(values):
    q = statistics.quantiles(values, n=4)
    return {"median": median(values), "from": q[0], "to": q[2]}


def table_of_tools(result):
    ways = tools()
    result["tools"] = {name: {} for name, _ in ways[1:]}
    for title, unit, argv in programs():
        rows = in_turn(ways, argv, TURNS)
        print("%s: a round takes %.1f us; added to it, median (and middle half) of %d turns" %
              (title, median(rows["bare"]) / 1000, TURNS))
        for name, _ in ways[1:]:
            f = figures(added(rows, "bare", name, unit))
            result["tools"][name][title] = {"unit": unit, **f}
            print("    %-26s %8.*f %-2s  (%.*f to %.*f)" % (name, 0 if unit == "ns" else 2, f["median"], unit,
                                                         0 if unit == "ns" else 2, f["from"],
                                                         0 if unit == "ns" else 2, f["to"]), flush=True)


# --- the thesis's protocol -----------------------------------------------------------------------------------

# The goal is for phases of PHASE_NS and more. Smaller phases show how the relative cost grows.
SIZES = [("radix", "1M keys", ["2", str(1 << 20), "40"]),
         ("radix", "2M keys", ["2", str(1 << 21), "20"]),
         ("radix", "4M keys", ["2", str(1 << 22), "10"]),
         ("lu3", "512", ["2", "512"]),
         ("lu3", "1024", ["2", "1024"]),
         ("lu3", "2048", ["2", "2048"]),
         ("water", "1000", ["2", "1000", "40"]),
         ("water", "1728", ["2", "1728", "20"]),
         ("water", "2744", ["2", "2744", "10"])]
PHASE_NS = 1000000
STARTS, WARM_RUNS, WARM_TURNS = 3, 2, 5
def episodes_of(argv):
    """Return the number of episodes that the program counts."""
    said = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True).stdout
    return int(re.findall(r"episodes=(\d+)", said)[-1])


def whole_runs(ways, program, arguments):
    """Return the times of whole runs by each way, in ns: name -> a list, over all turns of several starts. A program runs
    repeatedly in one process for each start (bench_again.c), because a start takes longer than the differences that are
    measured. The location of its memory differs between starts."""
    rows = {name: [] for name in ways}
    for _ in range(STARTS):
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            argv = [workload(program + "-again"), *arguments]
            for name, way in in_turns(stack, folder, ways, argv, WARM_RUNS + PAIRS).items():
                rows[name] += way.ns[WARM_RUNS:]
    return rows


def interval(values):
    """Return the 95 % confidence interval of the median: two of the sorted values, for any distribution."""
    n, k, outside = len(values), 0, 1  # of the 2**n ways in which values can lie on the two sides of the median
    while 40 * outside <= 2 ** n and k < n // 2:
        k += 1
        outside += math.comb(n, k)
    found = sorted(values)
    return found[max(0, k - 1)], found[n - max(1, k)]


def said_of(values):
    low, high = interval(values)
    return {"median": median(values), "from": low, "to": high}


def thesis(result):
    """Measure whole runs without tracing, with nothing reported, and with everything watched and two counters. "off again"
    shows the figures of a tool without any cost."""
    ways = {"off": (), "nothing reported": (("-q", "--json"),), "all watched": (("-W", *TWO_COUNTERS),), "off again": ()}
    others = list(ways)[1:]
    result["thesis"], all_rows = [], {name: [] for name in others}
    print("\nafter the thesis's table 5.2: what was added to a program's time, %%, by turns; medians of %d, and where they lie "
          "with 95 %%\n    %-15s %7s %9s%s" %
          (STARTS * PAIRS, "", "off", "phases", "".join("  %-24s" % name for name in others)))
    for name, size, arguments in SIZES:
        rows = whole_runs(ways, name, arguments)
        off = median(rows["off"])
        phase = off / episodes_of([workload(name + "-pthread"), *arguments])
        row = {"program": name, "size": size, "off_s": off / 1e9, "phase_ns": phase}
        print("    %-6s %-8s %5.3f s %6.2f ms" % (name, size, row["off_s"], phase / 1e6), end="")
        for way in others:
            more = added(rows, "off", way, "%")
            row[way] = said_of(more)
            all_rows[way] += more if phase >= PHASE_NS else []
            print("  %-24s" % ("%+6.2f (%+.1f to %+.1f)" % (row[way]["median"], row[way]["from"], row[way]["to"])), end="")
        print(flush=True)
        result["thesis"].append(row)
    result["slowdown"] = {way: said_of(rows) for way, rows in all_rows.items() if rows}
    for way, said in result["slowdown"].items():
        print("    phases of 1 ms and more: %-16s %+.2f %% (%+.2f to %+.2f) at the median of %d%s" %
              (way, said["median"], said["from"], said["to"], len(all_rows[way]),
               "" if way == "off again" else "  (wanted: at most 1 %)"))


# --- the estimated cost and the measured cost --------------------------------------------------------------------

# approximate; sbt-trace reads what a turn wrote up to 10 ms later, in the next turn
TURN_NS = 100000000


def last_of(path, kind):
    with open(path, encoding="utf-8") as f:
        return [r for r in map(json.loads, f) if r["type"] == kind][-1]


def by_turns(threads, ms, options, turns, per_ms):
    """Return how much tracing adds to a round, measured and estimated by sbt-trace, as lists by turn; and the time of a round,
    ns. The estimate is for all threads, of which as many as there are CPUs bear the cost at the same time."""
    ways = {"off": (), "traced": (("-q", "--json", *options),)}
    rounds = max(20, int(TURN_NS / max(ms * 1e6, 5000)))
    argv = [workload("bench_phases"), "--turns", "--threads", str(threads), "--rounds", str(rounds),
            "--steps", str(int(per_ms * ms))]
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.ExitStack() as stack:
            found = in_turns(stack, folder, ways, argv, WARM_TURNS + turns)
        said = last_of(found["traced"].out, "process")["cost_ns"]
    rows = {name: [ns / rounds for ns in way.ns[WARM_TURNS:]] for name, way in found.items()}
    said /= rounds * (WARM_TURNS + turns) * min(threads, len(os.sched_getaffinity(0)))
    return added(rows, "off", "traced", "ns"), said, median(rows["off"])


def is_rough(threads, ms, per_ms):
    """Return whether sbt-trace calls its estimate rough, for a program that does not pause between turns."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report")
        output([SBT, "-q", "--json", "-o", report, "--", workload("bench_phases"), "--threads", str(threads),
                "--steps", str(int(per_ms * ms)), "--rounds", "1000" if ms >= 1 else "20000"])
        process = last_of(report, "process")
        return process["cost_rough"]


def estimates(result):
    result["estimates"] = []
    print("\nwhat tracing adds to a round, estimated by sbt-trace and measured by turns of %d starts" % STARTS)
    per_ms = output([workload("bench_phases"), "--calibrate"])["steps_per_ms"]
    for title, threads, ms, options, turns in (
            ("back to back, one thread", 1, 0, (), 30),
            ("back to back, four counters", 1, 0, COUNTERS, 30),
            ("phases of 5 us, one thread", 1, 0.005, (), 30),
            ("phases of 20 us, two threads", 2, 0.02, (), 30),
            ("phases of 20 us, four counters", 2, 0.02, COUNTERS, 30),
            ("back to back, two threads", 2, 0, (), 30),
            ("back to back, four threads", 4, 0, (), 30),
            ("phases of 20 us, four threads", 4, 0.02, (), 30),
            ("phases of 1 ms, two threads", 2, 1, (), 80),
            ("phases of 1 ms, two counters", 2, 1, TWO_COUNTERS, 80)):
        starts = [by_turns(threads, ms, options, turns, per_ms) for _ in range(STARTS)]
        real, said = said_of([ns for start in starts for ns in start[0]]), median([start[1] for start in starts])
        row = {"title": title, "round_ns": median([start[2] for start in starts]), "estimated": said, "measured": real,
               "ratio": said / real["median"] if real["from"] > 0 else None, "rough": is_rough(threads, ms, per_ms)}
        result["estimates"].append(row)
        print("    %-30s of %8.1f us: estimated %6.2f us, measured %6.2f us (%6.2f to %6.2f): %s" %
              (title, row["round_ns"] / 1000, said / 1000, real["median"] / 1000, real["from"] / 1000, real["to"] / 1000,
               "reported as rough" if row["rough"] else
               "%.2f times  (wanted: 0.67 to 1.5)" % row["ratio"] if row["ratio"] else "less than can be measured"), flush=True)


# --- after work that fills the caches ----------------------------------------------------------------------------

COLD = [("after nothing", 0, 0), ("after 1 ms, registers only", 1000, 0), ("after 100 us on 8 MiB", 100, 8 << 20),
        ("after 1 ms on 8 MiB", 1000, 8 << 20), ("after 3 ms on 8 MiB", 3000, 8 << 20)]


def cold_once(argv, *options):
    """Return how much tracing adds to a crossing by the program's own clock, and sbt-trace's estimate, ns."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report")
        plain = output(argv)["mean_ns"]
        traced = output([SBT, "-q", "--json", "-o", report, *options, "--", *argv])["mean_ns"]
        return traced - plain, last_of(report, "process")["crossing_cost_ns"]


def cold(result):
    result["cold"] = []
    print("\nwhat tracing adds to a crossing after work on memory, estimated and by the program's clock, medians of %d" % PAIRS)
    for (title, us, size), option in itertools.product(COLD, ((), ("--aggregate",))):
        title = " ".join((title, *option))
        argv = [workload("cold"), "--us", str(us), "--bytes", str(size), "--rounds", "1000"]
        pairs = [cold_once(argv, *option) for _ in range(PAIRS)]
        real, said = said_of([pair[0] for pair in pairs]), median([pair[1] for pair in pairs])
        ratios = sorted(pair[1] / pair[0] for pair in pairs)
        result["cold"].append({"title": title, "estimated": said, "measured": real, "ratios": ratios})
        print("    %-38s estimated %5.2f us, measured %5.2f us (%.2f to %.2f): %.2f times, single runs %.2f to %.2f"
              "  (wanted: 0.67 to 1.5)" % (title, said / 1000, real["median"] / 1000, real["from"] / 1000, real["to"] / 1000,
                                           median(ratios), ratios[0], ratios[-1]), flush=True)


# --- the picture -----------------------------------------------------------------------------------------------

def picture(result, path):
    import matplotlib  # pylint: disable=import-outside-toplevel

    matplotlib.use("svg")
    from matplotlib import pyplot  # pylint: disable=import-outside-toplevel

    names = list(result["tools"])[::-1]
    titles = list(next(iter(result["tools"].values())))
    figure, axes = pyplot.subplots(1, len(titles), figsize=(11, 0.42 * len(names) + 1.3), sharey=True)
    for axis, title in zip(axes, titles):
        rows = [result["tools"][name][title] for name in names]
        colours = ["#1f77b4" if name.startswith("sbt-trace") else "#9a9a9a" for name in names]
        axis.barh(names, [r["median"] for r in rows], color=colours, height=0.65)
        axis.errorbar([r["median"] for r in rows], names, fmt="none", ecolor="#333333", elinewidth=1,
                      xerr=[[max(0, r["median"] - r["from"]) for r in rows], [max(0, r["to"] - r["median"]) for r in rows]])
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("added to a crossing, ns" if rows[0]["unit"] == "ns" else "slower by, %", fontsize=9)
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=9)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


PARTS = {"tools": table_of_tools, "thesis": thesis, "estimates": estimates, "cold": cold}


def bench_table(parts=PARTS):
    """@parts: names of PARTS. Figures of other parts stay in the file."""
    path = os.path.join(BENCH, "table.json")
    result = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            result = json.load(f)
    for name in parts:
        PARTS[name](result)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
    try:
        if "tools" in parts:
            picture(result, os.path.join(BENCH, "cost.svg"))
    except ImportError:
        print("no picture: python3-matplotlib is not installed")
