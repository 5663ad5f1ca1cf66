# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""C++20's std::barrier and std::latch as compilers generate them, with and without optimisation: known answers, and other uses
in programs."""

import collections
import os
import re
import subprocess

from harness import (WORKLOADS, Skip, check, check_between, check_equal, check_in, check_last, check_not_in,
                     check_waits, genlog, shared, workload, write_file)
from test_list import places

PAIRED = True

GEN = ["--threads", "4", "--rounds", "100", "--work", "random:10us:2ms:7", "--work-by", "sleep"]
BUILDS = [name for name in ("gen_std-O0", "gen_std-O1", "gen_std", "gen_std-O3", "gen_std-clang")
          if os.path.exists(workload(name))]


def std_gen(t, name, kind, *options):
    log = t.path()
    trace = t.trace([workload(name), *GEN, "--kind", kind, *options, "--log", log], "-W")
    trace.nothing_lost()
    log = genlog.Log(log)
    check_equal(f"{name}: the log itself", log.check(), [])
    return trace, trace.compare(log)


def why(trace):
    return collections.Counter(" ".join(e["why"]) for e in trace.all("episode") if e["kind"] != "join")


def all_found(trace, result, name, wait=0.03):
    check_equal(f"{name}: missing, extra, incomplete",
                (result["missing"], result["extra"], result["incomplete"]), (0, 0, 0))
    check_equal(f"{name}: family", {b["family"] for b in trace.barriers()}, {"std"})
    check_waits(result, wait, f"{name}: cumulative wait")


def test_barrier(t):
    """Three barriers alternate. The last thread's arrival is only a bound if only the wait can be traced."""
    for name in BUILDS:
        trace, result = std_gen(t, name, "barrier", "--barriers", "3")
        all_found(trace, result, name)
        check(result["last_checked"] > 50, result["last_checked"])
        check_last(result, f"{name}: the wrong thread was last")
        reasons = why(trace)
        if name != "gen_std-O0":
            check_equal(f"{name}: arrivals that are bounds",
                        sum(n for r, n in reasons.items() if "bound" in r), 100)
        else:
            check_equal(f"{name}: nothing is wrong with any", reasons, {"": 100})


def test_completion(t):
    for name in BUILDS:
        trace, result = std_gen(t, name, "completion")
        all_found(trace, result, name)
        check_last(result, f"{name}: the wrong thread was last")


def test_split(t):
    """Work between arrive() and wait(): a thread that was late for its wait may have arrived last, and the report says so."""
    for name in BUILDS:
        trace, result = std_gen(t, name, "split")
        # The waits in the log begin at arrive(), 20 us before the program's wait().
        all_found(trace, result, name, wait=0.06)
        check_last(result, f"{name}: the wrong thread was last", rivals=why(trace)["bound rivals"])


SPLITS = [name for name in ("std_split-O0", "std_split", "std_split-clang")
          if "clang" not in name or os.path.exists(os.path.join(WORKLOADS, name))]


def split(t, name, kind, threads, late):
    """Return the process, and the program's own account of its threads' waits."""
    trace = t.trace([workload(name), kind, str(threads), "30", str(late)]).nothing_lost()
    return trace, float(re.search(r"efficiency=([\d.]+)", trace.result.out)[1])


def test_split_work(t):
    """Time between arrive() and wait() counts as work, and the release is the last arrive()."""
    for name in SPLITS:
        for kind, threads, late in (("barrier", 3, 2), ("barrier", 2, -1), ("mixed", 3, 2), ("mixed", 3, -1),
                                    ("early", 3, -1)):
            trace, known = split(t, name, kind, threads, late)
            said = f"{name} {kind} {threads} {late}"
            check_between(f"{said}: parallel efficiency", trace.process()["efficiency"]["parallel"],
                          known - 0.03, known + 0.03)
            check_equal(f"{said}: episodes, incomplete",
                        [(b["episodes"], b["incomplete"]) for b in trace.barriers(family="std")], [(30, 0)])


def test_split_latch(t):
    """The same with count_down(), work, wait()."""
    for name in SPLITS:
        trace, known = split(t, name, "latch", 3, 2)
        check_between(f"{name}: parallel efficiency", trace.process()["efficiency"]["parallel"], known - 0.03,
                      known + 0.03)


def test_latch(t):
    for name in BUILDS:
        trace, result = std_gen(t, name, "latch", "--barriers", "2")
        all_found(trace, result, name)
        check_last(result, f"{name}: the wrong thread was last")


def test_countdown(t):
    """Only one thread waits. Each release is found, and so is the fact that others arrived without a trace."""
    for name in BUILDS:
        trace = t.trace([workload(name), "--threads", "4", "--rounds", "50", "--kind", "countdown",
                         "--work", "fixed:0=0us,1=500us,2=500us,3=500us", "--work-by", "sleep"], "-W")
        trace.nothing_lost()
        check_equal(f"{name}: releases",
                    collections.Counter((e["state"], len(e["threads"]), "others" in e["why"])
                                        for e in trace.all("episode")), {("incomplete", 1, True): 50})


def ways(t, name, way):
    trace = t.trace([workload(name), way], "-W")
    trace.nothing_lost()
    # Threads that are created and joined repeatedly are fork-join rounds as well.
    return trace, collections.Counter((e["state"], len(e["threads"])) for e in trace.all("episode")
                                      if e["kind"] != "join")


WAYS = [name for name in ("std_ways-O0", "std_ways", "std_ways-Os", "std_ways-clang")
        if os.path.exists(workload(name))]


def test_made_again(t):
    """A barrier is constructed again at the same address, for other threads."""
    for name in WAYS:
        _, episodes = ways(t, name, "remade")
        check_equal(name, episodes, {("complete", 3): 80})


def test_dropped_out(t):
    """Phase 11 has one member without a trace, or one that never leaves. Afterwards there are three."""
    for name in WAYS:
        trace, episodes = ways(t, name, "drop")
        check_in("stdout", "phases=30", trace.result.out)
        check_equal(f"{name}: of three", episodes[("complete", 3)], 19)
        check_equal(f"{name}: of four", episodes[("complete", 4)] + episodes[("incomplete", 3)], 11)
        check_equal(f"{name}: all", sum(episodes.values()), 30)


def test_arrived_only(t):
    for name in WAYS:
        trace, episodes = ways(t, name, "arrive")
        check_equal(name, sum(episodes.values()), 30)
        # If arrive() is a function, the thread is one that never left; otherwise it is missing.
        check_equal(f"{name}: abandoned, or incomplete",
                    episodes[("incomplete", 3)] + why(trace)["abandoned"], 30)


def test_exceptions_pass(t):
    for name in WAYS:
        trace, episodes = ways(t, name, "throw")
        check_in("stdout", "caught=120", trace.result.out)
        check_equal(name, episodes, {("complete", 4): 30})


def test_gate(t):
    """The thread that opens the latch does not wait. A thread that arrives later is in no episode."""
    for name in WAYS:
        trace, episodes = ways(t, name, "gate")
        check_equal(name, episodes, {("incomplete", 3): 1, ("incomplete", 1): 1})
        check(all("others" in e["why"] for e in trace.all("episode")), why(trace))


POOLS = [name for name in ("latch_pool-O0", "latch_pool", "latch_pool-clang-O0", "latch_pool-clang")
         if "clang" not in name or os.path.exists(os.path.join(WORKLOADS, name))]


def pool(t, name, way):
    trace = t.trace([workload(name), way]).nothing_lost()
    check_in("stdout", "rounds=30", trace.result.out)
    return trace


def test_counted_down(t):
    """A thread that counts down leaves no trace. No message says that the others wait for no thread."""
    for name in POOLS:
        for way in ("down", "meet", "self", "several", "by-two", "mixed"):
            trace = pool(t, name, way)
            said = f"{name} {way}"
            p = trace.process()
            check_equal(f"{said}: episodes", p["episodes"], 0)
            check_between(f"{said}: waits for others", p["arrivals_unseen"], 1, p["crossings"])
            check_equal(f"{said}: in all", trace.end["arrivals_unseen"], p["arrivals_unseen"])
            check_equal(f"{said}: complete", trace.end["complete"], False)
            check_equal(f"{said}: pattern", p["pattern"], "few")
            check_in(f"{said}: verdict", "leave no trace", p["verdict"])
            check_equal(f"{said}: findings", [f["kind"] for f in trace.all("finding") if f["kind"] == "arrivals_unseen"],
                        ["arrivals_unseen"])


def test_counted_down_beside(t):
    """With other barriers of known members, the figures hold, and the report says what they exclude."""
    for name in POOLS:
        trace = pool(t, name, "beside")
        p = trace.process()
        check_equal(f"{name}: episodes", p["episodes"], 30)
        check_between(f"{name}: waits for others", p["arrivals_unseen"], 1, 30)
        check_equal(f"{name}: complete", trace.end["complete"], False)
        check("arrivals_unseen" in {f["kind"] for f in trace.all("finding")}, name)


def test_site_is_the_users(t):
    """The site is not a line of the C++ library's headers."""
    trace, _ = std_gen(t, "gen_std", "barrier")
    (barrier,) = trace.barriers()
    check_equal("file", os.path.basename(barrier["file"]), "gen_std.cc")
    check_not_in("function", "std::", barrier["function"])


@shared
def test_list(t):
    found, _ = places(t, workload("gen_std"))
    waits = [p for p in found if p["family"] == "std"]
    check_equal("of two barriers and a latch", len(waits), 3)
    for p in waits:
        check_in("function", "__atomic_wait_address", p["function"])
        check_in("end", "ret", p["end"])
        check_not_in("end", "return", p["end"])
        check(p["class"], p)
        check_in("what is not seen", "without waiting", p["unseen"])


ONE_PLACE = r"""
#include <barrier>
#include <cstdio>
#include <thread>
#include <vector>
#include <unistd.h>

int main()
{
	std::barrier meet(3);
	std::vector<std::thread> threads;

	for (int i = 0; i < 3; i++)
		threads.emplace_back([&, i] {
			for (int k = 0; k < 50; k++) {
				usleep(300 * (1 + (i + k) % 3));
				meet.arrive_and_wait();
			}
		});
	for (auto &thread : threads)
		thread.join();
	puts("done");
}
"""


@shared
def test_put_in_line(t):
    """A fully inlined barrier is found by the code of its wait, and list names its address."""
    source, binary = t.path() + ".cc", t.path()
    write_file(source, ONE_PLACE)
    subprocess.run(["g++", "-std=c++20", "-O2", "-pthread", "-o", binary, source], check=True)
    listed = t.sbt("list", binary)
    if "__atomic_wait_address" in listed.out:
        raise Skip("this compiler leaves the function")
    check_in("list", "in line", listed.out)
    trace = t.trace([binary]).nothing_lost()
    check_equal("its output", trace.result.out, "done\n")
    check_equal("episodes, incomplete, participants",
                [(b["episodes"], b["incomplete"], b["participants"]) for b in trace.barriers(family="std")], [(50, 0, 3)])
    check_not_in("stderr", "may be missing", trace.result.err)
