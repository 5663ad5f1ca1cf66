# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""The estimated cost of tracing, compared with the slowdown of whole runs.

Each program does a fixed amount of work, and measures the time from its first barrier to its last. It runs in pairs: once
without tracing and once with tracing, in a random order, so that both runs of a pair meet the same state of the machine. The
slowdown is the share of the traced run's time that is added by tracing: it is compared with cost_share of the same run."""
import json
import os
import random
import resource
import subprocess
import tempfile
import time

from common import ENV, SBT, last_object, median, workload

PAIRS = int(os.environ.get("PAIRS", "11"))
RUN_MS = 250  # time of an untraced run
LEAST = 0.03  # noise decides below this slowdown
FACTOR = 1.3
DISTURBED = 0.1  # share of a CPU that other programs may use during a pair

# name, program, us of work in a phase, us of a phase without tracing (approximate), arguments, options of sbt-trace
PROGRAMS = (
    ("pthread, one thread, back to back", "bench_slowed", 0, 1, ("--threads", "1")),
    ("pthread, one thread, 5 us", "bench_slowed", 5, 5, ("--threads", "1")),
    ("pthread, four threads, 20 us", "bench_slowed", 20, 70, ("--threads", "4")),
    ("libgomp, barriers, 5 us", "bench_slowed-libgomp", 5, 6, ("--kind", "barrier", "--threads", "2")),
    ("libgomp, regions, 5 us", "bench_slowed-libgomp", 5, 6, ("--kind", "region", "--threads", "2")),
    ("libgomp, regions, 20 us", "bench_slowed-libgomp", 20, 21, ("--kind", "region", "--threads", "2")),
    ("libomp, barriers, 5 us", "bench_slowed-libomp", 5, 6, ("--kind", "barrier", "--threads", "2")),
    ("libomp, regions, 5 us", "bench_slowed-libomp", 5, 6, ("--kind", "region", "--threads", "2")),
    ("condition variable, 20 us", "bench_slowed", 20, 90, ("--kind", "cond", "--threads", "4")),
    ("futex, 20 us", "bench_slowed", 20, 80, ("--kind", "futex", "--threads", "4"), ("--discover",)),
    ("two sleeps in a phase", "bench_slowed", 5, 150, ("--kind", "sleep", "--threads", "2", "--sleeps", "2")),
    ("handing over, 10 times in 200 us", "bench_slowed", 200, 400, ("--threads", "2", "--handoffs", "10")),
)


def used_ns():
    """Return the CPU time of all processes since the start of the machine, with that of the host's other guests, and the CPU
    time of this process's children."""
    with open("/proc/stat", encoding="ascii") as f:
        user, nice, system, _, _, irq, softirq, steal = map(int, f.readline().split()[1:9])
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ((user + nice + system + irq + softirq + steal) * 1e9 / os.sysconf("SC_CLK_TCK"), (own.ru_utime + own.ru_stime) * 1e9)


def prefer():
    """Give this session more of the CPUs than other programs get, if there are any: the program and its tracer alike."""
    try:
        with open("/proc/self/autogroup", "w", encoding="ascii") as f:
            f.write("-20")
    except OSError:
        pass


def elapsed(argv):
    run = subprocess.run(argv, capture_output=True, text=True, env=ENV, timeout=120, check=True, start_new_session=True,
                         preexec_fn=prefer)  # pylint: disable=subprocess-popen-preexec-fn
    return last_object(run.stdout)["elapsed_ns"]


def traced(argv, options):
    """Return the time of a traced run, and the estimated share of it that tracing cost."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report")
        ns = elapsed([SBT, "-q", "--json", "-o", path, *options, "--", *argv])
        with open(path, encoding="utf-8") as f:
            processes = [r for r in map(json.loads, f) if r["type"] == "process"]
    return ns, processes[-1]["cost_share"]


def pair(argv, options):
    """Return the times without and with tracing, and the estimate, of two runs in random order."""
    if random.random() < 0.5:
        return (elapsed(argv), *traced(argv, options))
    with_tracing = traced(argv, options)
    return (elapsed(argv), *with_tracing)


def quiet_pairs(argv, options):
    """Return the pairs in which other programs used least of the CPUs: PAIRS of up to three times as many."""
    found = []
    for _ in range(2 * PAIRS):
        before, start = used_ns(), time.monotonic()
        one = pair(argv, options)
        after, spent = used_ns(), time.monotonic() - start
        others = (after[0] - before[0]) - (after[1] - before[1])
        found.append((others / 1e9 / spent, one))
        if sum(share < DISTURBED for share, _ in found) >= PAIRS:
            break
    found.sort(key=lambda x: x[0])
    return [one for _, one in found[:PAIRS]], found[PAIRS - 1][0]


def ratio_of(estimated, measured):
    return estimated / measured if measured > 0 else float("nan")


def compare(name, argv, options=()):
    """Print one row. Return the estimate divided by the measured slowdown, or None if the slowdown is too small."""
    pairs, others = quiet_pairs(argv, options)
    slowed = sorted((with_ns - bare_ns) / with_ns for bare_ns, with_ns, _ in pairs)
    said = sorted(share for _, _, share in pairs)
    measured, estimated = median(slowed), median(said)
    ratio = ratio_of(estimated, measured)
    counts = measured > LEAST
    verdict = "less than can be measured"
    if counts:
        verdict = "ratio %.2f%s" % (ratio, "" if 1 / FACTOR <= ratio <= FACTOR else
                                    "  (wanted: %.2f to %.2f)" % (1 / FACTOR, FACTOR))
    if others >= DISTURBED:
        verdict += "  (other programs used up to %.0f %% of a CPU)" % (100 * others)
    print("    %-34s estimated %5.1f %%  measured %5.1f %% (%5.1f to %5.1f)  %s" %
          (name, 100 * estimated, 100 * measured, 100 * slowed[len(slowed) // 4], 100 * slowed[-1 - len(slowed) // 4], verdict),
          flush=True)
    return ratio if counts else None


def bench_estimate(names=()):
    """Compare the estimate with the slowdown of programs of several kinds."""
    per_ms = last_object(subprocess.run([workload("bench_slowed"), "--calibrate"], capture_output=True, text=True,
                                        check=True).stdout)["steps_per_ms"]
    print("the cost of tracing, estimated and measured, as a share of the traced run's time; medians of %d pairs" % PAIRS)
    ratios = []
    for name, program, us, round_us, arguments, *options in PROGRAMS:
        if names and not any(part in name for part in names):
            continue
        if not os.path.exists(workload(program)):
            print("    %-34s left out: there is no %s" % (name, program))
            continue
        argv = [workload(program), *arguments, "--rounds", str(int(RUN_MS * 1000 / round_us)),
                "--steps", str(int(per_ms * us / 1000))]
        ratios.append(compare(name, argv, *options))
    counted = [r for r in ratios if r is not None]
    print("    of %d programs that are slowed by more than %.0f %%, %d are within a factor of %g" %
          (len(counted), 100 * LEAST, sum(1 / FACTOR <= r <= FACTOR for r in counted), FACTOR))

