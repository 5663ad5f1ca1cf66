# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""OpenMP with GCC's and LLVM's runtime: every episode of a team is found, at explicit and implicit barriers and at the end of
parallel regions, however the threads wait there."""

import glob
import os
import signal
import subprocess

from harness import (SBT, Skip, check, check_between, check_equal, check_in, check_last, check_waits,
                     clean_environment, genlog, wait_for, workload, write_file)

PAIRED = True

RUNTIMES = ("gen_gomp", "gen_libomp")
WORK = ("--threads", "3", "--rounds", "300", "--work", "random:20us:300us:7", "--work-by", "sleep")
BARRIER_ERROR_NS = 10_000
WAIT_ERROR = 0.03


def source(name):
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "workloads", name)


def there(name):
    if not os.path.exists(workload(name)):
        raise Skip(f"no {name}: no OpenMP with this compiler")
    return name


def of_log(trace, log, episodes, **more):
    """Check that every episode of the log is found, with the right last arriver."""
    found = trace.compare(log, **more)
    check_equal("missing", found["missing"], 0)
    check_equal("incomplete", found["incomplete"], 0)
    check_last(found)
    check(found["last_checked"] > 0, f"no episode had a last thread beyond doubt: {found}")
    check_equal("episodes", trace.end["episodes"], episodes)
    check_equal("incomplete, ambiguous", (trace.end["incomplete"], trace.end["ambiguous"]), (0, 0))
    check_equal("abandoned", trace.process()["abandoned"], 0)
    check_between("barrier time, median of the error", found["barrier_error_ns"]["median"], 0,
                  BARRIER_ERROR_NS)
    check_waits(found, WAIT_ERROR)


def kind(t, name, which, joins, more=(), env=None, rounds=300, options=()):
    log = t.path()
    command = [workload(there(name)), *WORK, "--kind", which, "--log", log, *options]
    trace = t.trace(command, "-W", *more, env=env) if env else t.trace(command, "-W", *more)
    trace.nothing_lost()
    answers = genlog.Log(log)
    of_log(trace, answers, rounds + joins)
    return trace, answers


def each_kind(t, which, joins=1, options=()):
    for name in RUNTIMES:
        kind(t, name, which, joins, options=options)


def test_explicit(t):
    """300 explicit barriers in one region make 301 episodes, because the join counts."""
    each_kind(t, "barrier")


def test_for(t):
    each_kind(t, "for")


def test_sections(t):
    each_kind(t, "sections")


def test_single(t):
    each_kind(t, "single")


def test_tasks(t):
    each_kind(t, "tasks")


def test_all(t):
    each_kind(t, "all", options=("--sites", "6"))


def test_copyprivate(t):
    """The thread that executes the single arrives at another place than where the others wait. GCC has a second barrier after
    it."""
    kind(t, "gen_gomp", "copyprivate", 300 + 1)
    kind(t, "gen_libomp", "copyprivate", 1)
    kind(t, "gen_gomp", "copyprivate", 300 + 1, more=("--attach", "multi"))


def check_tail(rows, missed=0):
    """Check the workload omp_tail: the function is the call site. @missed: number of regions that may have run before they were
    examined."""
    with open(source("omp_tail.c"), encoding="utf-8") as f:
        line = 1 + next(n for n, text in enumerate(f) if text.startswith("#pragma omp parallel"))
    check_equal("kinds", sorted(row["kind"] for row in rows), ["explicit", "join"])
    for row in rows:
        check_between("episodes", row["episodes"], 50 - missed, 50)
        check_equal("participants", row["participants"], 3)
        check_equal("file", os.path.basename(row["file"] or ""), "omp_tail.c")
        check_between("line", row["line"], line, line + 4)
        check("outlined" in row["function"] or "_omp_fn" in row["function"] or row["function"] == "main",
              f"in {row['function']}")


def test_tail(t):
    """The region's function ends with a jump to the barrier. The stack then has the runtime's address, or that of a return
    probe."""
    for name in ("omp_tail", "omp_tail-libomp"):
        for more in ((), ("--attach", "multi")):
            check_tail(t.trace([workload(there(name))], *more).nothing_lost().barriers())


def test_region_end(t):
    each_kind(t, "region", joins=0)


def test_departure_is_not_known(t):
    """A worker's departure from the end of a region cannot be seen. Its time inside is unknown, and not 0."""
    trace = t.trace([workload("omp_tasks"), "none", "3", "20", "30", "50"]).nothing_lost()
    ends = [b for b in trace.barriers() if b["kind"] == "join"]
    check_equal("ends of regions", [b["episodes"] for b in ends], [20])
    check_equal("idle of workers", [m["idle_ns"] for m in ends[0]["threads"] if m["index"]], [None, None])


def test_parallel_for(t):
    each_kind(t, "parallel-for", joins=0)


def test_ways_to_wait(t):
    """Threads spin, yield or sleep. The measured wait is the same."""
    for name, ways in (("gen_gomp", ({"OMP_WAIT_POLICY": "active"}, {"OMP_WAIT_POLICY": "passive"},
                                     {"GOMP_SPINCOUNT": "100000"})),
                       ("gen_libomp", ({"OMP_WAIT_POLICY": "active"},
                                       {"OMP_WAIT_POLICY": "passive"}, {"KMP_BLOCKTIME": "0"},
                                       {"KMP_BLOCKTIME": "infinite"}))):
        for way in ways:
            kind(t, name, "barrier", 1, env=clean_environment(**way), rounds=300)


def test_nested(t):
    """Two teams at a time, and the team around them."""
    for name in RUNTIMES:
        log = t.path()
        trace = t.trace([workload(there(name)), "--threads", "4", "--teams", "2", "--rounds", "200",
                         "--work", "random:20us:300us:7", "--work-by", "sleep", "--log", log], "-W")
        trace.nothing_lost()
        of_log(trace, genlog.Log(log), 2 * 200 + 2 + 1)


def stripped(t, name):
    copy = t.path("stripped")
    subprocess.run(["strip", "-o", copy, workload(there(name))], check=True)
    return copy


def test_stripped(t):
    """A program without names: the functions of its regions are found when it is about to run the first."""
    for name in RUNTIMES:
        program = stripped(t, name)
        for which, joins in (("barrier", 1), ("region", 0)):
            log = t.path()
            trace = t.trace([program, *WORK, "--kind", which, "--log", log], "-W").nothing_lost()
            of_log(trace, genlog.Log(log), 300 + joins)


def test_stripped_that_throws(t):
    """If return probes could do harm, the end of a region is detected where its function returns to, in the runtime. This also
    holds for the region around 300 barriers. The function of that region ends with a jump into another function."""
    throws = [p for p in glob.glob("/usr/lib/*/libboost_thread.so*") if os.path.isfile(p)]
    if not throws:
        raise Skip("no library of Boost")
    for name in RUNTIMES:
        program = stripped(t, name)
        for which, joins in (("barrier", 1), ("tasks", 1), ("parallel-for", 0)):
            log = t.path()
            trace = t.trace(["env", "LD_PRELOAD=" + throws[0], program, *WORK, "--kind", which, "--log",
                             log], "-W").nothing_lost()
            check_equal("departures", trace.process()["departures"], "ret instructions")
            of_log(trace, genlog.Log(log), 300 + joins)
            check_equal("warned of ends", "the end of parallel regions" in trace.result.err, False)


def test_other_probes(t):
    """The same with the attach methods multi and perf."""
    for method in ("multi", "perf"):
        for name in RUNTIMES:
            trace, _ = kind(t, name, "barrier", 1, more=("--attach", method))
            check_equal("warned of ends", "the end of parallel regions" in trace.result.err, False)


def test_found_running(t):
    """The tracer attaches inside a region: the team is unknown, and so is its size, but the waiting threads are known."""
    for name in RUNTIMES:
        log = t.path()
        p = t.gen(*WORK[:2], "--forever", *WORK[4:], "--kind", "barrier", "--log", log,
                  name=there(name))
        wait_for("the team is at work", lambda: p.alive() and len(os.listdir(f"/proc/{p.pid}/task")) >= 3)
        tracer = t.attach("-W", "-p", str(p.pid))
        wait_for("300 episodes", lambda: tracer.text().count('"episode"') > 300, 30, 0.05)
        trace = tracer.stop()
        p.signal(signal.SIGTERM)
        p.wait()
        found = trace.compare(genlog.Log(log))
        check_last(found)
        check(found["extra"] <= 2, f"episodes that were none: {found}")


def losses(t, name, ms, rounds=25):
    """Run the program. Return its trace and its own measurements. If other processes take its CPU, time is lost where the
    program does not measure. Its sleeps then take longer, too, and it is run again."""
    for _ in range(8):
        trace = t.trace([workload(there(name)), *map(str, ms), str(rounds)])
        own = tuple(map(float, trace.result.out.split()))
        if sum(own[:3]) < 1.04 * rounds * sum(ms):
            break
    return trace, own


def test_losses(t):
    """TALP's efficiencies of regions, with losses that the program itself measures."""
    for name in ("omp_losses", "omp_losses-libomp"):
        for ms in ((0, 10, 10), (10, 10, 10), (0, 5, 20), (10, 20, 5)):
            trace, (serial, master, worker, waits) = losses(t, name, ms)
            check(trace.process()["elapsed_ns"] / 1e6 > serial + (master + worker + waits) / 2, "elapsed")
            check_talp(f"{name} {ms}", trace.process(), master + worker, (master + worker + waits) / 2)
            check_between(f"{name} {ms}: scheduling", trace.process()["omp_efficiency"]["scheduling"], 0.9, 1)


def check_talp(what, process, worked, regions):
    """Compare with the program's own account, in ms: the work of two threads in regions, and the length of the regions. The
    first thread runs alone outside of regions, including the start and the end of the process."""
    serial = process["elapsed_ns"] / 1e6 - regions
    useful, waits = worked + serial, 2 * regions - worked
    found = process["omp_efficiency"]
    # On a busy machine, waits of all members move between the two kinds of loss, and a worker continues late.
    for name, share, expected, error in (
            ("in regions", found["load_balance"] * found["scheduling"], (useful + serial) / (useful + serial + waits), 0.05),
            ("serialisation", found["serialisation"] * (found["start"] or 1), useful / (useful + serial), 0.05)):
        check_between(f"{what}: {name}", share, expected - error, expected + error)
    start = 1 if found["start"] is None else found["start"]
    product = found["load_balance"] * found["serialisation"] * start * found["scheduling"]
    check_between(f"{what}: the product", product, process["efficiency"]["parallel"] - 0.01,
                  process["efficiency"]["parallel"] + 0.01)


BEFORE = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	double took[2] = { 0, 0 }, regions = 0;
	usleep(300000);
	for (int i = 0; i < rounds; i++) {
		double begin = omp_get_wtime();
#pragma omp parallel num_threads(2)
		{
			double began = omp_get_wtime();
			usleep(omp_get_thread_num() ? 30000 : 10000);
			took[omp_get_thread_num()] += omp_get_wtime() - began;
		}
		regions += omp_get_wtime() - begin;
	}
	printf("%f %f %f\n", 1e3 * took[0], 1e3 * took[1], 1e3 * regions);
	return 0;
}
"""


def test_serial_before(t):
    """The time before the first region, when the worker thread does not exist, is serial, however many regions follow."""
    source = t.path("before.c")
    write_file(source, BEFORE)
    for compiler in ("gcc", "clang"):
        binary = t.path(f"before-{compiler}")
        if subprocess.run([compiler, "-O1", "-g", "-fopenmp", "-o", binary, source], check=False).returncode:
            check(compiler == "clang", "gcc has no OpenMP")
            continue
        for rounds in (4, 12):
            trace = t.trace([binary, str(rounds)]).nothing_lost()
            first, second, regions = map(float, trace.result.out.split())
            check_talp(f"{compiler}, {rounds}", trace.process(), first + second, regions)
            check_equal("start", trace.process()["start_seen"], True)


def test_attached_efficiency(t):
    """After attaching, the efficiencies count from the start of tracing, and the report says so."""
    program = t.start([workload(there("omp_losses")), "5", "10", "20", "4000"])
    text = " ".join(t.run([SBT, "--detail", "-d", "1", "-p", str(program.pid)]).out.split())
    check_in("report", "from the start of tracing, not of the process", text)
