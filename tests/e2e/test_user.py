# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Barriers that the user names (-b): known answers for each way to name one, exceptions and jumps through them, and messages
about names that are wrong or do not exist."""

import os
import re
import shutil
import subprocess

from harness import (check, check_all_in, check_equal, check_in, check_last, check_not_in, check_waits, genlog, shared,
                     workload, write_file)

PAIRED = True
GEN = ["--threads", "4", "--rounds", "100", "--work-by", "sleep"]


def user_gen(t, kind, *specs, options=(), tracer=()):
    log = t.path()
    rules = [word for spec in specs for word in ("-b", spec)]
    trace = t.trace([workload("gen_user"), *GEN, "--kind", kind, *options, "--log", log], "-W", *rules,
                    *tracer)
    log = genlog.Log(log)
    check_equal("the log itself", log.check(), [])
    return trace, log


def all_found(trace, log):
    trace.nothing_lost()
    result = trace.compare(log)
    check_equal("missing, extra, incomplete",
                (result["missing"], result["extra"], result["incomplete"]), (0, 0, 0))
    check_last(result)
    check_waits(result, 0.05)
    check_equal("family", {b["family"] for b in trace.barriers()}, {"user"})
    return result


def address_of(symbol, name="gen_user"):
    for line in subprocess.run(["nm", workload(name)], check=True, text=True,
                               stdout=subprocess.PIPE).stdout.splitlines():
        if line.endswith(" " + symbol):
            return int(line.split()[0], 16)
    raise AssertionError(symbol)


def test_by_name(t):
    trace, log = user_gen(t, "one", "my_barrier", options=["--barriers", "2"])
    all_found(trace, log)
    check_not_in("stderr", "-b ", trace.result.err)


def test_second_argument(t):
    all_found(*user_gen(t, "second", "my_barrier_on@2", options=["--barriers", "2"]))


def test_no_argument(t):
    """No object is given. Debug information says that the function has no argument."""
    trace, log = user_gen(t, "global", "my_global_barrier")
    all_found(trace, log)
    check_equal("object", {b["object"] for b in trace.barriers()}, {"all callers"})


def test_all_and_count(t):
    all_found(*user_gen(t, "one", "my_barrier@all,count=4"))


def test_pair(t):
    trace, log = user_gen(t, "pair", "my_barrier_begin..my_barrier_end", options=["--barriers", "2"])
    all_found(trace, log)


def test_method_by_its_source_name(t):
    for spec in ("team::barrier::wait", "team::barrier::wait(unsigned int)", "*::barrier::w*t"):
        all_found(*user_gen(t, "method", spec))


def test_pattern_in_a_file(t):
    all_found(*user_gen(t, "one", "gen_user:my_bar*r"))


def test_address(t):
    path = workload("gen_user")
    all_found(*user_gen(t, "one", f"{path}:{hex(address_of('my_barrier'))}"))
    # The same without symbols. The unwind table has the function's size.
    bare = t.path()
    subprocess.run(["strip", "-o", bare, path], check=True)
    log = t.path()
    trace = t.trace([bare, *GEN, "--log", log], "-W", "-b",
                    f"{bare}:{hex(address_of('my_barrier'))}")
    all_found(trace, genlog.Log(log))


def test_relative_path(t):
    path = os.path.relpath(workload("gen_user"))
    all_found(*user_gen(t, "one", f"{path}:my_barrier"))
    os.symlink(workload("gen_user"), t.path("link"))
    all_found(*user_gen(t, "one", f"{t.path('link')}:my_barrier"))


def test_every_method_of_attaching(t):
    for method in ("session", "multi", "perf"):
        all_found(*user_gen(t, "one", "my_barrier", tracer=["--attach", method]))
        all_found(*user_gen(t, "pair", "my_barrier_begin..my_barrier_end",
                            tracer=["--attach", method]))


def left_early(t, kind, spec, said):
    """Check that every fourth crossing of a thread never returns, and is counted as abandoned."""
    trace, log = user_gen(t, kind, spec)
    trace.nothing_lost()
    crossings = len(log.crossings)
    check_equal("what the program says", re.findall(said, trace.result.out), [str(crossings // 4)])
    check_equal("crossings", trace.end["crossings"], crossings)
    check_equal("abandoned", trace.process()["abandoned"], crossings // 4)
    # All threads throw in the same rounds. These episodes are not complete, but each is one episode.
    result = trace.compare(log)
    check_equal("extra, incomplete", (result["extra"], result["incomplete"]), (0, crossings // 16))
    check_equal("missing", result["missing"], crossings // 16)
    check_equal("participants of the incomplete", {e["participants"] for e in trace.all("episode")
                                                  if e["state"] == "incomplete"}, {4})


@shared
def test_exceptions_pass(t):
    left_early(t, "throws", "my_throwing_barrier", r"caught=(\d+)")


@shared
def test_jumps_pass(t):
    left_early(t, "jumps", "my_jumping_barrier", r"jumped=(\d+)")


@shared
def test_a_name_that_nothing_has(t):
    trace, _ = user_gen(t, "one", "my_barrier", "no_such_barrier", "libnone.so:my_barrier",
                        "my_barrier..no_end", "my_global_barrier")
    err = trace.result.err
    check_all_in("stderr", ("-b no_such_barrier: no file that was run has such a function",
                            "-b libnone.so:my_barrier: no file of that name that was run has such a function",
                            "-b my_barrier..no_end: no file that was run has the second of its functions",
                            "-b my_global_barrier: found 1 time, but it was never called"), err)
    check_not_in("stderr", "-b my_barrier:", err)


def test_each_thread_its_own(t):
    """The user names the wrong argument, so each thread has its own object. The result is no barrier, and the report says so."""
    trace, _ = user_gen(t, "method", "team::barrier::wait@2")
    check_in("stderr", "no two threads crossed the same barrier", trace.result.err)


@shared
def test_wrong(t):
    for spec, part in (("", "the function is missing"), ("f@0", "neither @all nor"), ("f,n=1", "no option"),
                       ("0x1234", "needs its file"), ("f..", "after .. is missing"),
                       ("*", "every function"), ("f,count=x", "not a number")):
        result = t.sbt("-b", spec, "--", "true", rc=2)
        check_in(f"stderr of -b {spec}", part, result.err)


@shared
def test_tail_calls(t):
    """A function that ends by jumping to another one returns where that one returns. If it jumps into another library, its
    return cannot be detected, and it is refused with a message."""
    source, binary = t.path("tail.c"), t.path("tail")
    write_file(source, """
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
static int arrived, generation;
__attribute__((noinline)) int inner(int x)
{
	int mine = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);

	if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == 2) {
		__atomic_store_n(&arrived, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&generation, mine + 1, __ATOMIC_RELEASE);
	}
	while (__atomic_load_n(&generation, __ATOMIC_ACQUIRE) == mine)
		sched_yield();
	return x;
}
__attribute__((noinline)) int outer(int x) { return inner(x * 3); }
__attribute__((noinline)) int far(pthread_mutex_t *m) { return pthread_mutex_lock(m); }
static void *work(void *arg)
{
	for (int i = 0; i < 50; i++)
		outer(i);
	return arg;
}
int main(void)
{
	static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	work(0);
	return pthread_join(t, 0) + far(&m);
}
""")
    subprocess.run(["gcc", "-O2", "-g", "-pthread", "-o", binary, source], check=True)
    trace = t.trace([binary], "-b", "outer@all", "-b", "far").nothing_lost()
    check_equal("episodes", [b["episodes"] for b in trace.barriers()], [50])
    check_equal("abandoned", trace.process()["abandoned"], 0)
    check_all_in("stderr", ("far in", "where it returns is unknown"), trace.result.err)
    check_not_in("stderr: it was called, and had no probe", "it was never called", trace.result.err)
    check("outer" not in trace.result.err, trace.result.err)


def std_gen(t, name, *options):
    log = t.path()
    trace = t.trace([workload(name), *GEN, *options, "--log", log], "-W")
    log = genlog.Log(log)
    check_equal("the log itself", log.check(), [])
    trace.nothing_lost()
    return trace, log


def test_rust(t):
    trace, log = std_gen(t, "gen_rust")
    result = trace.compare(log)
    check_equal("missing, extra, incomplete",
                (result["missing"], result["extra"], result["incomplete"]), (0, 0, 0))
    check_equal("family", {b["family"] for b in trace.barriers()}, {"std"})


@shared
def test_cxx_barriers_that_compilers_leave(t):
    """std::barrier without optimisation (g++, clang) and with it (clang); Boost's without."""
    source = t.path("meet.cc")
    with open(source, "w", encoding="ascii") as f:
        f.write("""
#include <thread>
#include <vector>
#ifdef BOOST
#include <boost/thread/barrier.hpp>
static boost::barrier b(4);
#define MEET b.wait()
#else
#include <barrier>
#include <latch>
static std::barrier b(4);
static std::latch l(4);
#define MEET b.arrive_and_wait()
#endif
int main()
{
	std::vector<std::thread> v;
	for (int i = 0; i < 4; i++)
		v.emplace_back([] { for (int k = 0; k < 30; k++) MEET; });
	for (auto &t : v)
		t.join();
}
""")
    cases = [["g++", "-O0"], ["g++", "-O0", "-DBOOST"]]
    if shutil.which("clang++"):
        cases += [["clang++", "-O0"], ["clang++", "-O2"]]
    for case in cases:
        if "-DBOOST" in case and not os.path.exists("/usr/include/boost/thread/barrier.hpp"):
            continue
        binary = t.path()
        subprocess.run([case[0], "-std=c++20", "-g", "-pthread", *case[1:], "-o", binary, source,
                        *(["-lboost_thread"] if "-DBOOST" in case else [])], check=True)
        trace = t.trace([binary]).nothing_lost()
        check_equal(f"{case}: families, episodes, participants",
                    [(b["family"], b["episodes"], b["incomplete"], b["participants"])
                     for b in trace.barriers(family="std")], [("std", 30, 0, 4)])
        check_equal(f"{case}: abandoned", trace.process()["abandoned"], 0)
