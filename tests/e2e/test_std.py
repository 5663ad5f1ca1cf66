# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""C++20's std::barrier and std::latch as compilers generate them, with and without optimisation: known answers, and other uses
in programs."""

import collections
import json
import os
import re
import shutil
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


def test_split_site(t):
    """Without optimisation, the wait after arrive() is a function of the C++ library: the call site is the program's."""
    for name in SPLITS:
        for kind, functions in (("barrier", {"meet_split"}), ("mixed", {"meet_split", "meet_at_once"})):
            trace, _ = split(t, name, kind, 3, 2)
            (barrier,) = trace.barriers(family="std")
            check_equal(f"{name} {kind}: functions", {c["function"].split("(")[0] for c in barrier["callsites"]}, functions)
            check_equal(f"{name} {kind}: file", {os.path.basename(c["file"]) for c in barrier["callsites"]}, {"std_split.cc"})


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


LIBCXX = [name for name in ("gen_std-libcxx-O0", "gen_std-libcxx") if os.path.exists(os.path.join(WORKLOADS, name))]


def test_libcxx(t):
    """With LLVM's library, arrive_and_wait() is a function up to -O2, so each arrival is seen."""
    if not LIBCXX:
        raise Skip("no libc++ here")
    for name in LIBCXX:
        for kind in ("barrier", "completion") + (("latch",) if "-O0" in name else ()):
            trace, result = std_gen(t, name, kind)
            all_found(trace, result, f"{name} {kind}")
            check_last(result, f"{name} {kind}: the wrong thread was last")
            check_equal(f"{name} {kind}: nothing is wrong with any", why(trace), {"": 100})


LATCH_LIBCXX = """
#include <latch>
#include <thread>

int main()
{
	std::latch all(2);
	std::thread other([&] { all.arrive_and_wait(); });

	all.arrive_and_wait();
	other.join();
}
"""


@shared
def test_libcxx_inlined(t):
    """A program that inlines them is reported as one that may have barriers."""
    if not LIBCXX:
        raise Skip("no libc++ here")
    source, binary = t.path() + ".cc", t.path()
    write_file(source, LATCH_LIBCXX)
    subprocess.run(["clang++", "-stdlib=libc++", "-std=c++20", "-O3", "-pthread", "-o", binary, source], check=True)
    check_in("list", "inlines std::barrier, std::latch", " ".join(t.sbt("list", binary).out.split()))


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


TEAMS = ("std_teams-O0", "std_teams")


def team_site(t, name, way):
    """Return the only barrier of the run: family, function, base name of its file, episodes."""
    trace = t.trace([workload(name), way]).nothing_lost()
    check_equal("its output", trace.result.out, "rounds=20\n")
    (b,) = trace.barriers()
    check_equal(f"{name} {way}: incomplete", b["incomplete"], 0)
    return b["family"], b["function"], os.path.basename(b["file"]), b["episodes"]


def test_joined_by_library(t):
    """Threads that the library joins: the call site is in the program, not in a header or in libc."""
    for name in TEAMS:
        for way in ("scope", "clear", "async"):
            family, function, file, episodes = team_site(t, name, way)
            check_in(f"{name} {way}: function", way, function)
            check_equal(f"{name} {way}: family, file, episodes", (family, file, episodes),
                        ("forkjoin", "std_teams.cc", 20))


def test_wait_with_limit(t):
    """A barrier on a condition variable, with wait_for() and a predicate."""
    for name in TEAMS:
        family, _, file, episodes = team_site(t, name, "limit")
        check_equal(f"{name}: family, file, episodes", (family, file, episodes), ("cond", "std_teams.cc", 20))


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


AHEAD = """#include <barrier>
#include <thread>
#include <vector>
#include <cstdlib>
#include <unistd.h>
int main(int, char **argv)
{
	int n = atoi(argv[1]);
	std::barrier<> b(n);
	std::vector<std::thread> v;
	for (int t = 0; t < n; t++)
		v.emplace_back([&b, t] {
			for (int i = 0; i < 50; i++) {
				if (!t)
					usleep(3000);
				auto token = b.arrive();
				if (!t)
					usleep(3000);
				b.wait(std::move(token));
			}
		});
	for (auto &t : v)
		t.join();
}
"""


def test_others_ahead(t):
    """When the last arriver begins its wait, the others have already arrived in the next phase."""
    source = t.path("ahead.cpp")
    write_file(source, AHEAD)
    for number, build in enumerate((["g++", "-O2"], ["g++", "-O3"], ["clang++", "-O2"])):
        if not shutil.which(build[0]):
            continue
        binary = t.path(f"ahead-{number}")
        subprocess.run([*build, "-std=c++20", "-g", "-pthread", "-o", binary, source], check=True)
        for threads in (2, 4):
            trace = t.trace([binary, str(threads)], "-W")
            trace.nothing_lost()
            end = trace.all("end")[0]
            check_equal(f"{build}, {threads} threads: episodes, incomplete, crossings",
                        (end["episodes"], end["incomplete"], end["crossings"]), (50, 0, 50 * threads))


# --- the names of lambdas -----------------------------------------------------------------------------------

LAMBDA = """#include <barrier>
#include <thread>
#include <vector>
int main()
{
	std::barrier step(2);
	std::vector<std::jthread> team;
	for (int t = 0; t < 2; t++)
		team.emplace_back([&, t] {
			for (int s = 0; s < 40; s++) {
				volatile double x = 1;
				for (int i = 0; i < (t ? 900000 : 300000); i++)
					x = x * 0.999 + 1;
				step.arrive_and_wait(); /* HERE */
			}
		});
	team.clear();
	return 0;
}
"""

FUTURES = """#include <barrier>
#include <future>
#include <functional>
namespace sim { namespace {
struct Solver {
	std::barrier<> meet{2};
	void solve()
	{
		auto part = [this](auto t) {
			for (int s = 0; s < 40; s++) {
				volatile double x = 1;
				for (int i = 0; i < (t ? 900000 : 300000); i++)
					x = x * 0.999 + 1;
				meet.arrive_and_wait(); /* HERE */
			}
		};
		auto one = std::async(std::launch::async, part, 0), two = std::async(std::launch::async, part, 1);
		one.get();
		two.get();
	}
};
} }
int main()
{
	sim::Solver().solve();
	return 0;
}
"""

FUNCTOR = """#include <barrier>
#include <thread>
struct Worker {
	std::barrier<> &meet;
	int t;
	void operator()()
	{
		for (int s = 0; s < 40; s++) {
			volatile double x = 1;
			for (int i = 0; i < (t ? 900000 : 300000); i++)
				x = x * 0.999 + 1;
			meet.arrive_and_wait(); /* HERE */
		}
	}
};
int main()
{
	std::barrier<> meet(2);
	std::thread one(Worker{meet, 0}), two(Worker{meet, 1});
	one.join();
	two.join();
	return 0;
}
"""

NAMED = {"lambda": (LAMBDA, "main::{lambda}"),
         "futures": (FUTURES, "sim::(anonymous namespace)::Solver::solve::{lambda}"),
         "functor": (FUNCTOR, "Worker::operator()")}
COMPILERS = [["g++", "-O0"], ["g++", "-O2"], ["g++", "-O3"], ["clang++", "-O2"]]


def line_of(text, mark):
    return text[:text.index(mark)].count("\n") + 1


def check_names(t, binary, name, function):
    """The barrier, the work and the stacks have the function's own name, not that of the library's code around it."""
    recording, stacks, out = t.path(), t.path(), t.path()
    t.sbt("record", "--sample-rate", "2000", "-o", recording, "--", binary, rc=0)
    shown = t.sbt("report", "--no-pager", recording, rc=0).out
    t.sbt("report", "--folded-stacks", stacks, "--json", "-o", out, recording, rc=0)
    with open(out, encoding="utf-8") as f:
        objects = [json.loads(line) for line in f]
    (barrier,) = [o for o in objects if o["type"] == "barrier" and o["family"] == "std"]
    check_equal(f"{name}: call sites", {(c["function"].removesuffix("()"), c["line"], c["inlined"])
                                        for c in barrier["callsites"]},
                {(function, line_of(NAMED[name][0], "/* HERE */"), None)})
    check_in(f"{name}: label", function.replace("()", "") + " ", barrier["label"].replace("()", ""))
    check_not_in(f"{name}: label", " in ", barrier["label"])
    places = [o["function"].removesuffix("()") for o in objects if o["type"] == "place" and o["kind"] == "work"]
    late = sorted(m["last"] for m in barrier["threads"])
    # On a busy machine each thread may be last in turn. Then chance explains the difference.
    if places or late[-1] > 0.8 * barrier["episodes"]:
        check_equal(f"{name}: place", places[:1], [function])
    with open(stacks, encoding="utf-8") as f:
        frames = {frame.removesuffix("()") for line in f for frame in line.rsplit(" ", 1)[0].split(";")[2:]}
    check_in(f"{name}: stacks", function, frames)
    for word in ("_M_", "__invoke", " operator()"):
        check_not_in(f"{name}: report", word, shown)


def each_build(t, name):
    text, function = NAMED[name]
    source = t.path(f"{name}.cc")
    write_file(source, text)
    for compiler, level in COMPILERS:
        if not shutil.which(compiler):
            continue
        binary = t.path(f"{name}-{compiler}{level}")
        subprocess.run([compiler, "-std=c++20", level, "-g", "-pthread", "-o", binary, source], check=True)
        check_names(t, binary, name, function)


def test_name_of_lambda(t):
    """The function of a thread is shown as the lambda of its function."""
    each_build(t, "lambda")


def test_name_of_generic_lambda(t):
    """So is a generic lambda in a local class's function, run by std::async()."""
    each_build(t, "futures")


def test_name_of_functor(t):
    each_build(t, "functor")


def test_names_in_a_library(t):
    """The same in a stripped shared library with a debug file."""
    # The child that reads the debug file has no privileges.
    os.chmod(t.dir, 0o755)
    main = t.path("main.cc")
    write_file(main, "int run();\nint main()\n{\n\treturn run();\n}\n")
    for name, (text, function) in NAMED.items():
        source, library, binary = t.path(f"{name}.cc"), t.path(f"lib{name}.so"), t.path(f"{name}-library")
        write_file(source, text)
        subprocess.run(["g++", "-std=c++20", "-O2", "-g", "-fPIC", "-shared", "-pthread", "-Dmain=run", "-o", library,
                        source], check=True)
        subprocess.run(["objcopy", "--only-keep-debug", library, library + ".debug"], check=True)
        subprocess.run(["strip", library], check=True)
        subprocess.run(["objcopy", "--add-gnu-debuglink=" + library + ".debug", library], check=True)
        subprocess.run(["g++", "-o", binary, main, library, "-pthread"], check=True)
        check_names(t, binary, name, function.replace("main::", "run::"))
