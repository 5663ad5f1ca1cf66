# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Hand-written barriers in the forms that programs use, compared with the programs' own counts."""

import os
import re
import subprocess
import sys

from harness import (check, check_all_in, check_between, check_equal, check_in, check_not_in, source_lines, workload,
                     write_file)

MACRO_LINES = source_lines("hand_written.c", "\tBARRIER(bar);")[:3] + source_lines("hand_written.c", "\t\tBARRIER(bar);")[:1]
BUILDS = ("hand_written", "hand_written-O0", "hand_written-clang", "hand_written-stripped")


def run(t, build, kind, threads, rounds, *late, options=()):
    """Return the trace, its barriers on condition variables, and the program's own number of episodes."""
    trace = t.trace([workload(build), kind, str(threads), str(rounds), *map(str, late)], *options)
    counted = int(re.search(r"episodes (\d+)", trace.result.out).group(1))
    check_equal("the program's own count", counted, rounds * {"macro": 4, "steps": 2, "written": 2, "slow": 2}.get(kind, 1))
    return trace, trace.barriers(family="cond"), counted


def sums(barriers):
    return sum(b["episodes"] for b in barriers), sum(b["incomplete"] for b in barriers)


def all_of(t, build, kind, threads, rounds, *late):
    trace, found, counted = run(t, build, kind, threads, rounds, *late)
    trace.nothing_lost()
    check_equal(f"{build} {kind} {late}: episodes, incomplete", sums(found), (counted, 0))
    check_equal("participants", {(b["participants_min"], b["participants"]) for b in found},
                {(threads, threads)})
    return found


def test_macro_in_many_functions(t):
    """One object has a barrier that is expanded in four functions: each function is its own site, and has every episode."""
    for build in BUILDS:
        for late in ((), (2,)):
            found = all_of(t, build, "macro", 4, 40, *late)
            check_equal("episodes by site", sorted(b["episodes"] for b in found), [40] * 4)
            if build != "hand_written-stripped":
                # The lines are those of the macro, not of the calls of the functions that contain it.
                check_equal("lines", sorted(b["line"] for b in found), MACRO_LINES)


def test_two_barriers_of_a_function_in_line(t):
    """All threads but one go from the first barrier to the second at once, as they do from the first phase of a barrier to its
    second. The lines of the inlined function show that there are two barriers."""
    for build in BUILDS[:3]:
        for late in ((), (2,)):
            found = all_of(t, build, "steps", 4, 40, *late)
            check_equal("episodes by site", [b["episodes"] for b in found], [40, 40])


def test_two_barriers_written_out_in_one_function(t):
    """All threads but one go from the first barrier to the second at once. One thread works in between, so this is no second
    phase. If it was also the last at the first barrier, this is unknown, and reported."""
    for build in BUILDS:
        for kind in ("written", "slow"):
            for late in ((), (2,)):
                trace, found, counted = run(t, build, kind, 4, 60, *late)
                episodes, incomplete = sums(found)
                print(f"{build} {kind} {late}: {episodes}, incomplete {incomplete}, of {counted}, lost {trace.end['lost']['barrier_given_up']}")
                # One thread is always last, and there are no names: a candidate.
                least = 0 if build == "hand_written-stripped" and late else counted // 2 - 6
                check_between("episodes", episodes + incomplete, least, counted)
                check_in("participants of complete episodes",
                         {(b["participants_min"], b["participants"]) for b in found if b["episodes"]}, (set(), {(4, 4)}))
                if episodes < counted:
                    check(not trace.end["complete"] or "candidate" in trace.result.err,
                          f"{build} {kind} {late}: {episodes} of {counted}, and no word of the others")


def test_two_functions_with_one_end(t):
    """When two functions are inlined, their equal ends are merged, and debug information attributes the waking to either
    function. If one thread is always last, and nothing else identifies a barrier, the object may remain a candidate."""
    for build in BUILDS:
        found = all_of(t, build, "arms", 3, 80)
        check_equal("episodes by site", sorted(b["episodes"] for b in found), [40, 40])
        trace, found, counted = run(t, build, "arms", 3, 80, 2)
        check(sums(found) == (counted, 0) or (not found and "candidate" in trace.result.err), f"{build}: {sums(found)}")


def test_inlined_in_many_functions(t):
    """The same for std::condition_variable, inlined at four places, also if two episodes follow each other on one line."""
    for build in ("hand_written_cxx", "hand_written_cxx-O0"):
        trace = t.trace([workload(build), "inline", "5", "40"]).nothing_lost()
        check_in("its own count", "episodes 160", trace.result.out)
        check_equal("episodes, incomplete", sums(trace.barriers(family="cond")), (160, 0))
        check_equal("participants", {(b["participants_min"], b["participants"]) for b in trace.barriers()}, {(5, 5)})


def two_phases(t, build, kind, *late):
    """Check that each episode of the program is one of the report's. An episode that ended before the object was classified is
    counted as lost. On a very busy machine the object may remain a candidate."""
    trace, found, counted = run(t, build, kind, 4, 60, *late)
    episodes, incomplete = sums(found)
    if not found and "candidate" in trace.result.err:
        print(f"{build} {kind} {late}: a candidate")
        return
    missing = trace.end["lost"]["barrier_given_up"]
    check_between("episodes", episodes + incomplete, counted - missing, counted)
    check_between("complete episodes", episodes, counted - 6, counted)
    check_equal("participants", {(b["participants_min"], b["participants"]) for b in found if b["episodes"]}, {(4, 4)})
    check_equal("complete", trace.end["complete"], not any(trace.end["lost"].values()))


def test_two_phases_on_one_condition(t):
    for build in BUILDS:
        two_phases(t, build, "phases")
    two_phases(t, "hand_written", "phases", 1)
    for build in ("hand_written_cxx", "hand_written_cxx-O0"):
        two_phases(t, build, "phases")


def test_two_phases_on_two_conditions(t):
    for build in BUILDS:
        two_phases(t, build, "out")
    two_phases(t, "hand_written", "out", 1)


def test_two_phases_with_a_spin(t):
    """A thread that spins leaves no trace: its episode is not reported as complete, or the object is a candidate."""
    for build in BUILDS:
        trace, found, counted = run(t, build, "spin", 4, 60)
        episodes, incomplete = sums(found)
        check_between("episodes", episodes + incomplete, 0, counted)
        for b in found:
            if b["episodes"]:
                check_equal("members of complete episodes", (b["participants_min"], b["participants"]), (4, 4))
        if episodes + incomplete < counted // 2:
            check_in("stderr", "candidate", trace.result.err)


def more_phases(t, build, kind, threads, *late, beyond=0):
    """Check, for any load of the machine: each episode is found, or not reported as complete, or there is a candidate. @beyond:
    so many additional episodes, and episodes that lack a thread, are known to be possible (docs/reference/limits.md)."""
    trace = t.trace([workload(build), kind, str(threads), "60", *map(str, late)])
    counted = int(re.search(r"episodes (\d+)", trace.result.out).group(1))
    found = trace.barriers()
    episodes, incomplete = sums(found)
    print(f"{build} {kind} {threads} {late}: {episodes}, incomplete {incomplete}, of {counted} in {len(found)} barriers")
    check_between("episodes", episodes + incomplete, 0, counted + beyond)
    check_in("participants of complete episodes", {(b["participants_min"], b["participants"]) for b in found if b["episodes"]},
             (set(), {(threads, threads)}, *([{(threads - 1, threads)}] if beyond else ())))
    check(episodes > counted // 2 or not trace.end["complete"] or "candidate" in trace.result.err or "-b" in trace.result.err,
          f"{episodes} of {counted} episodes, and no word of the others")


def test_two_phases_of_other_forms(t):
    for kind in ("down", "stay", "unlocked", "timed", "sense"):
        more_phases(t, "two_phase", kind, 4)
        more_phases(t, "two_phase-O0", kind, 3, -2)
        more_phases(t, "two_phase-clang", kind, 8, -2)
        more_phases(t, "two_phase", kind, 4, -1, 40)
    for kind in ("one", "two", "any"):
        more_phases(t, "two_phase_cxx", kind, 4)
        more_phases(t, "two_phase_cxx-O0", kind, 4, -2, beyond=15 if kind == "any" else 0)


def test_two_halves_are_two_barriers(t):
    """If each half is a function with its own counter, each is a barrier."""
    trace = t.trace([workload("two_phase"), "halves", "4", "60"])
    for b in trace.barriers(family="cond"):
        check_between("episodes", b["episodes"] + b["incomplete"], 50, 60)
        check_equal("participants", (b["participants_min"], b["participants"]), (4, 4))
    check_equal("barriers", len(trace.barriers()), 2)


def test_named_with_b(t):
    """With -b the number of episodes is exact. Wakings elsewhere are no episodes."""
    for kind in ("phases", "spin", "out", "start"):
        function = "meet_out" if kind == "out" else "meet_phases"
        trace, found, counted = run(t, "hand_written-O0", kind, 4, 60, options=("-b", function + "@all"))
        check_equal("episodes on condition variables", sums(found), (0, 0))
        user = trace.barrier(family="user")
        check_equal("episodes, incomplete", (user["episodes"], user["incomplete"]), (counted, 0))


def test_start_signal_is_no_barrier(t):
    for build in BUILDS:
        trace, found, counted = run(t, build, "start", 4, 60)
        check_between("episodes", sum(sums(found)), counted - 3, counted)
        check_in("stderr", "candidate", trace.result.err)


def test_episode_in_two_functions_is_reported(t):
    """One thread is always in another function than the others: no barrier is claimed, and the report says so."""
    trace, found, _ = run(t, "hand_written", "mixed", 4, 100)
    check(not found or sums(found) == (100, 0), f"{sums(found)} episodes")
    if not found:
        check_in("stderr", "-b", trace.result.err)


# --- hints: each must be right, and the command that it prints must work -------------------------------

def hinted(trace):
    """Return the arguments of -b in the sentences on stderr."""
    return re.findall(r"-b (?!cannot)([\w.@,:]+[\w@])", trace.result.err)


def check_hint(t, command, threads, episodes, tries=1):
    """Check the hint. A busy machine can wake a thread so late that no order remains that would show a barrier, so the run is
    repeated."""
    for _ in range(tries):
        trace = t.trace(command)
        check_equal("barriers without the hint", trace.barriers(), [])
        rules = hinted(trace)
        if rules:
            break
    check(len(rules) == 1, f"{command[1:]}: hints {rules} in {trace.result.err}")
    named = t.trace(command, "-b", rules[0])
    user = named.barrier(family="user")
    check_equal("episodes, incomplete", (user["episodes"], user["incomplete"]), (episodes, 0))
    check_equal("participants", (user["participants_min"], user["participants"]), (threads, threads))
    check_not_in("stderr", "-b " + rules[0], named.result.err)


def test_hints_work(t):
    work = ["--work", "random:100us:900us:1", "--work-by", "sleep"]
    check_hint(t, [workload("gen_cond"), *work, "--threads", "4", "--rounds", "60", "--kind", "signals"], 4, 60)
    check_hint(t, [workload("gen_cond"), *work, "--threads", "2", "--rounds", "60", "--kind", "generation"], 2, 60)


def test_hint_where_there_is_no_function_to_name(t):
    """The function with which a thread begins cannot be named as a barrier, and the hint does not name it."""
    for build in BUILDS:
        trace, _, _ = run(t, build, "start", 4, 60)
        check_equal("hints", [h for h in hinted(trace) if "run_" in h], [])
        check_in("stderr", "markers of sbt/sbt.h", trace.result.err)


APART = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all = PTHREAD_COND_INITIALIZER;
static int arrived, generation, late;
static __attribute__((noinline)) void arrive(void)
{
	pthread_mutex_lock(&mutex);
	if (++arrived == 4) {
		arrived = 0;
		generation++;
		pthread_cond_broadcast(&all);
	}
	pthread_mutex_unlock(&mutex);
}
static __attribute__((noinline)) void leave(int round)
{
	pthread_mutex_lock(&mutex);
	while (generation == round)
		pthread_cond_wait(&all, &mutex);
	pthread_mutex_unlock(&mutex);
}
static void *run(void *arg)
{
	int me = (int)(long)arg;
	for (int round = 0; round < 40; round++) {
		usleep(me == (late < 0 ? round % 4 : late) ? 5000 : 500);
		arrive();
		leave(round);
	}
	return 0;
}
int main(int argc, char **argv)
{
	pthread_t t[4];
	late = argc > 1 ? atoi(argv[1]) : -1;
	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], 0, run, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	return 0;
}
"""


def test_separate_arrival_and_wait(t):
    """Arrival and wait are functions that are called separately. This is reported for any last arriver, and if the hint names
    functions, they are right."""
    source = t.path("apart.c")
    write_file(source, APART)
    for level in ("-O0", "-O2"):
        binary = t.path(f"apart{level}")
        subprocess.run(["gcc", level, "-g", "-pthread", "-o", binary, source], check=True)
        for late in ("-1", "2"):
            trace = t.trace([binary, late]).nothing_lost()
            check_equal("barriers", trace.barriers(), [])
            (told,) = [r["text"] for r in trace.all("remark") if r["kind"] == "candidate"]
            check_in(f"{level} {late}", "another function", told)
            for rule in hinted(trace):
                user = t.trace([binary, late], "-b", rule).barrier(family="user")
                check_equal("episodes, incomplete", (user["episodes"], user["incomplete"]), (40, 0))


MONITOR = """
#include <pthread.h>
#include <unistd.h>
#define THREADS 4
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int arrived, generation, items;
static __attribute__((noinline)) void meet_all(void)
{
	int mine;
	pthread_mutex_lock(&mutex);
	mine = generation;
	if (++arrived == THREADS) {
		arrived = 0;
		generation++;
		pthread_cond_broadcast(&changed);
	}
	while (mine == generation)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
	__asm__ volatile("");
}
static __attribute__((noinline)) void put(void)
{
	pthread_mutex_lock(&mutex);
	items++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
	__asm__ volatile("");
}
static __attribute__((noinline)) void take(void)
{
	pthread_mutex_lock(&mutex);
	while (!items)
		pthread_cond_wait(&changed, &mutex);
	items--;
	pthread_mutex_unlock(&mutex);
	__asm__ volatile("");
}
static void *run(void *arg)
{
	long me = (long)arg;
	for (int i = 0; i < 60; i++) {
		usleep(me ? 500 : 2000);
		if (i % 2 == 0) {
			for (int k = 0; !me && k < 2 * (THREADS - 1); k++) {
				usleep(200);
				put();
			}
			if (me) {
				take();
				take();
			}
		}
		meet_all();
	}
	return NULL;
}
int main(void)
{
	pthread_t t[THREADS];
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, run, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return 0;
}
"""


def test_monitor(t):
    """A barrier and a queue share a condition variable. No episode may be found, and then the hint names the barrier's
    function."""
    source, binary = t.path("monitor.c"), t.path("monitor")
    write_file(source, MONITOR)
    subprocess.run(["gcc", "-O1", "-g", "-pthread", "-o", binary, source], check=True)
    trace = t.trace([binary])
    found = sums(trace.barriers())
    told = [r["text"] for r in trace.all("remark") if r["kind"] == "candidate"]
    check(found == (60, 0) or told or trace.end["lost"]["barrier_given_up"], f"{found} of 60, and nothing says so")
    check(not any("another function" in text and "put" not in text and "take" not in text for text in told), f"{told}")
    named = t.trace([binary], "-b", "meet_all@all").barrier(family="user")
    check_equal("episodes, incomplete", (named["episodes"], named["incomplete"]), (60, 0))
    if "meet_all@all" not in hinted(trace):
        print(f"found {found}; reported: {told}")


ONE_BY_ONE = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all = PTHREAD_COND_INITIALIZER;
static int arrived, generation, team, late;
static __attribute__((noinline)) void meet_by_signals(void)
{
	int mine;
	pthread_mutex_lock(&mutex);
	mine = generation;
	if (++arrived == team) {
		arrived = 0;
		generation++;
		for (int i = 1; i < team; i++)
			pthread_cond_signal(&all);
	} else
		while (generation == mine)
			pthread_cond_wait(&all, &mutex);
	pthread_mutex_unlock(&mutex);
}
static void *run(void *arg)
{
	int me = (int)(long)arg;
	for (int round = 0; round < 60; round++) {
		usleep(me == (late < 0 ? round % team : late) ? 5000 : 500);
		meet_by_signals();
	}
	return 0;
}
int main(int argc, char **argv)
{
	pthread_t t[8];
	team = argc > 2 ? atoi(argv[1]) : 3;
	late = argc > 2 ? atoi(argv[2]) : -1;
	for (long i = 0; i < team; i++)
		pthread_create(&t[i], 0, run, (void *)i);
	for (int i = 0; i < team; i++)
		pthread_join(t[i], 0);
	return 0;
}
"""


def test_woken_one_by_one(t):
    """There are as many signals as waiting threads. This is reported for any last arriver, from three threads on."""
    source = t.path("one_by_one.c")
    write_file(source, ONE_BY_ONE)
    for level in ("-O0", "-O2"):
        binary = t.path(f"one_by_one{level}")
        subprocess.run(["gcc", level, "-g", "-pthread", "-o", binary, source], check=True)
        for threads, late in ((3, 2), (3, -1), (5, 0)):
            check_hint(t, [binary, str(threads), str(late)], threads, 60, tries=3)


def reports_of_semaphores(t, build, kind, threads, late):
    """Return the names in the hints. If there is no name, check that the candidate is reported all the same."""
    trace = t.trace([workload(build), kind, str(threads), "60", str(late)])
    check_equal("barriers without the hint", trace.barriers(), [])
    told = [r["text"] for r in trace.all("remark") if r["kind"] == "candidate"]
    for text in told:
        check_in(f"{build} {kind}", "on a semaphore", text)
    return told, hinted(trace)


def check_turnstiles(t, build, kind, threads, late, names):
    told, rules = reports_of_semaphores(t, build, kind, threads, late)
    check(told, f"{build} {kind} {threads} {late}: nothing is reported")
    check_equal(f"{build} {kind} {threads} {late}: hints", sorted(rules), sorted(names))
    for rule in rules:
        named = t.trace([workload(build), kind, str(threads), "60", str(late)], "-b", rule)
        check_in("the program's own count", "episodes 60", named.result.out)
        user = named.barrier(family="user")
        check_equal("episodes, incomplete", (user["episodes"], user["incomplete"]), (60, 0))
        check_equal("participants", (user["participants_min"], user["participants"]), (threads, threads))


def test_turnstiles(t):
    """Barriers of semaphores, with each thread as the last arriver: each is reported, and the function in the hint gives exact
    episodes."""
    named = {"chain": ["meet_chain@all"], "helpers": ["meet_helpers@all"], "several": ["meet_chain@all"],
             "checked": ["meet_checked@all"],
             "phases": ["phase_one@all", "phase_two@all"]}
    for build in ("turnstiles", "turnstiles-O0", "turnstiles-clang"):
        for kind, names in named.items():
            check_turnstiles(t, build, kind, 4, -1, names)
    check_turnstiles(t, "turnstiles", "chain", 3, 2, named["chain"])
    check_turnstiles(t, "turnstiles-O0", "helpers", 8, 0, named["helpers"])
    check_turnstiles(t, "turnstiles-O0", "posts", 5, 1, ["meet_posts@all"])
    check_turnstiles(t, "turnstiles-O0", "parity", 4, -1, ["meet_parity@all"])


def test_turnstiles_without_a_name(t):
    """A function that ends with a jump to the wait itself, and a pool's start: both are reported, without a command that would
    not work."""
    for build, kind in (("turnstiles", "posts"), ("turnstiles", "pool"), ("turnstiles-O0", "pool")):
        told, rules = reports_of_semaphores(t, build, kind, 4, -1)
        check(told and not rules, f"{build} {kind}: reported {told}, hints {rules}")


POOL = """
from concurrent.futures import ThreadPoolExecutor
import time
with ThreadPoolExecutor(4) as pool:
    for _ in range(60):
        list(pool.map(lambda _: time.sleep(0.001), range(8)))
print("done")
"""


def test_locks_of_an_interpreter_are_none(t):
    """All threads wait in one function, whatever they wait for. No hint names this function."""
    trace = t.trace([os.path.realpath(sys.executable), "-c", POOL])
    check_in("its output", "done", trace.result.out)
    check_equal("hints", hinted(trace), [])


def test_semaphore_that_is_a_lock(t):
    for build in ("turnstiles", "turnstiles-O0"):
        for threads, late in ((3, 0), (4, -1), (8, -1)):
            check_equal(f"{build} {threads} {late}", reports_of_semaphores(t, build, "lock", threads, late), ([], []))


PYTHON = """
import threading
def run():
    total = 0
    for i in range({0}):
        total += i * i
threads = [threading.Thread(target=run) for _ in range({1})]
[t.start() for t in threads]
[t.join() for t in threads]
print("done")
"""


def test_interpreter_lock_is_no_barrier(t):
    """The threads of an interpreter wait for its lock on a condition variable: this is neither a barrier nor a reason for a
    hint."""
    for threads in (4, 8):
        trace = t.trace([os.path.realpath(sys.executable), "-c", PYTHON.format(400000, threads)])
        check_in("its output", "done", trace.result.out)
        check_equal("barriers", trace.barriers(family="cond"), [])
        check_equal("hints", hinted(trace), [])
        check_not_in("stderr", "candidate", trace.result.err)


def test_barrier_of_an_atomic_wait(t):
    """std::atomic::wait() and notify_all() belong to the library, inlined or not. The barrier is where the program calls them.
    A thread that sees the value change before it sleeps leaves no trace. If that is frequent, the object remains a
    candidate."""
    for build in ("hand_atomic", "hand_atomic-O0", "hand_atomic-DWIDE", "hand_atomic-static", "hand_atomic-clang", "hand_atomic-clang-O0"):
        for late in ((), (1,)):
            name = f"{build} {late}"
            trace = t.trace([workload(build), "4", "40", *map(str, late)], "--discover")
            check_in(f"{name}: its own count", "episodes 40", trace.result.out)
            found = trace.barriers(family="futex")
            episodes, _ = sums(found)
            check_between(f"{name}: complete episodes", episodes, 0, 40)
            check_equal(f"{name}: files", {b["file"].rsplit("/", 1)[-1] for b in found} - {"hand_atomic.cc"}, set())
            check_equal(f"{name}: functions", {b["function"] for b in found if "meet" not in b["function"]}, set())
            check_equal(f"{name}: members of complete episodes",
                        {(b["participants_min"], b["participants"]) for b in found if b["episodes"]} - {(4, 4)}, set())
            if not episodes:
                check_all_in(f"{name}: stderr", ("meet", "hand_atomic.cc"), trace.result.err)
