# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Barriers that the user did not name: those that must be found, with every episode, and objects that must not."""

import os
import subprocess
import time

from harness import (check, check_all_in, check_between, check_equal, check_in, check_last, check_waits, genlog,
                     paired, read_text, wait_for, workload, write_file)

WORK = ["--work", "random:1us:300us:1", "--work-by", "sleep"]
NOT = ["pool", "queue", "pipeline", "mutex", "rwlock", "gun", "timer", "publish", "server", "sem",
       "stack", "steal"]


def generated(t, name, *options, tracer=(), work=WORK, may=()):
    """Trace a generator and compare with its log. Return the trace, the log and the result."""
    path = t.path()
    trace = t.trace([workload(name), *work, *options, "--log", path], "-W",
                    *tracer).nothing_lost(may)
    log = genlog.Log(path)
    check_equal("the log itself", log.check(), [])
    return trace, log, trace.compare(log)


def found_all(t, name, *options, episodes, **more):
    trace, log, result = generated(t, name, *options, **more)
    check_equal("in the log", result["log_episodes"], episodes)
    if "--discover" in more.get("tracer", ()):
        # A thread that sees the word change before its system call leaves no trace of its arrival, so that episode is
        # incomplete.
        check_equal("extra", result["extra"], 0)
        check_between("matched", result["matched"], 0.97 * episodes, episodes)
    else:
        check_equal("matched, missing, extra, incomplete",
                    [result[k] for k in ("matched", "missing", "extra", "incomplete")],
                    [episodes, 0, 0, 0])
    check_between("share of wrong last threads",
                  result["last_wrong"] / max(result["last_checked"], 1), 0, 0.03)
    check_waits(result, 0.08)
    return trace


# --- condition variables ------------------------------------------------------------------------------

def test_generation(t):
    trace = found_all(t, "gen_cond", "--threads", "4", "--rounds", "300", "--kind", "generation",
                      episodes=300)
    barrier = trace.barrier()
    check_equal("family", barrier["family"], "cond")
    check_equal("participants", (barrier["participants_min"], barrier["participants"]), (4, 4))
    # The call site is its caller.
    check_equal("function", barrier["function"], "meet")
    check_in("through", "meet_generation", barrier["callsites"][0]["through"])


def test_thesis(t):
    found_all(t, "gen_cond", "--threads", "5", "--rounds", "200", "--kind", "thesis", episodes=200)


def test_broadcast_after_the_mutex(t):
    found_all(t, "gen_cond", "--threads", "4", "--rounds", "200", "--kind", "after", episodes=200)


def test_waits_in_turns(t):
    slow = ["--work", "random:1us:3000us:1", "--work-by", "sleep"]
    for kind in ("timed", "clock"):
        found_all(t, "gen_cond", "--threads", "4", "--rounds", "200", "--kind", kind,
                  episodes=200, work=slow)


def test_same_thread_always_last(t):
    found_all(t, "gen_cond", "--threads", "4", "--rounds", "200", "--kind", "generation",
              episodes=200, work=["--work", "stair:50us:100us", "--work-by", "sleep"])


def test_two_phases(t):
    trace, _, result = generated(t, "gen_cond", "--threads", "4", "--rounds", "200", "--kind",
                                 "two-phase")
    # The second waking, when all have left, is no separate episode.
    check_equal("matched, missing, extra", [result[k] for k in ("matched", "missing", "extra")],
                [200, 0, 0])
    check_equal("episodes", [b["episodes"] for b in trace.barriers()], [200])


def test_tree(t):
    trace, _, _ = generated(t, "gen_cond", "--threads", "9", "--rounds", "100", "--kind", "tree")
    check_equal("episodes of the nodes", trace.end["episodes"], 400)
    check_equal("incomplete", trace.end["incomplete"], 0)


def test_several_objects_and_teams(t):
    found_all(t, "gen_cond", "--threads", "6", "--teams", "2", "--rounds", "200", "--barriers",
              "3", "--kind", "generation", episodes=400)


def shared_rounds(t, work, rounds=200, threads="2", processes="2", program="gen_cond", may=()):
    """Trace processes that share a condition variable. Return the trace, the result of the comparison, and the number of waits
    reported as unseen or given up."""
    path = t.path()
    trace = t.trace([workload(program), *work, "--threads", threads, "--processes", processes, "--rounds", str(rounds),
                     "--kind", "generation", "--log", path], "-W")
    log = trace.log = genlog.Log(path)
    check_equal("the log itself", log.check(), [])
    lost = {k: v for k, v in trace.end["lost"].items() if v}
    unseen = lost.pop("wait_unprobed", 0)
    # The first rounds, in which not all threads were seen, ended before the object was known to be a barrier.
    unseen += lost.pop("barrier_given_up", 0)
    check_equal("lost otherwise", sorted(set(lost) - set(may)), [])
    return trace, trace.compare(log), unseen


def seen_since_all_were(trace, members):
    """Consider the time after all threads that share the barrier were first seen in an episode. Return the rounds of the log
    from then on, and the complete episodes of the trace with that many members. The time to attach all probes depends on the
    machine."""
    start = trace.session["clock_start_ns"]
    whole = [e for e in trace.all("episode") if e["state"] == "complete" and e["participants"] == members]
    if not whole:
        return 0, 0
    first = min(e["t_ns"] for e in whole) + start
    return sum(e.release >= first - genlog.MARGIN_NS for e in trace.log.episodes()), len(whole)


def test_processes_share_it(t):
    """A child crosses a barrier at once. Its waits before it had its probes are missing, and the report says so."""
    trace, result, unseen = shared_rounds(t, WORK, rounds=2000)
    missed = 2000 - result["matched"]
    check_equal("missing or incomplete, extra", (result["missing"] + result["incomplete"], result["extra"]), (missed, 0))
    # The number of rounds before the probes depends on the machine's speed. From then on all rounds are found.
    check(missed <= unseen, f"{missed} rounds are incomplete, but {unseen} waits are reported as not traced")
    rounds, whole = seen_since_all_were(trace, 4)
    # By the program's clock, the first of them may have been released clearly earlier.
    check_between("rounds that were seen since all had their probes", whole, rounds, rounds + 1)
    check_last(result)
    check_waits(result, 0.08)
    check_equal("shared", trace.barrier()["shared"], True)


def test_processes_of_one_thread_share_it_without_accounts(t):
    """With --no-causes, the start of a wait is not reported for a process of one thread. It gets its probes when it is forked."""
    path = t.path()
    trace = t.trace([workload("gen_cond"), *WORK, "--threads", "1", "--processes", "4", "--rounds", "1000", "--kind",
                     "generation", "--log", path], "-W", "--no-causes")
    log = trace.log = genlog.Log(path)
    result = trace.compare(log)
    missed = 1000 - result["matched"]
    unseen = trace.end["lost"]["wait_unprobed"] + trace.end["lost"]["barrier_given_up"]
    check(result["matched"] > 0, "no round was found")
    check(missed == 0 or unseen > 0, f"{missed} rounds are incomplete, and nothing says so")
    rounds, whole = seen_since_all_were(trace, 4)
    check_between("rounds that were seen since all had their probes", whole, rounds, rounds + 1)
    check_equal("complete", trace.end["complete"], not any(trace.end["lost"].values()))


def test_processes_share_it_at_once(t):
    """The rounds are over within microseconds. Rounds that end before the probes are attached must be reported as missing."""
    trace, result, unseen = shared_rounds(t, ["--work", "random:1us:30us:1", "--work-by", "sleep"], rounds=2000)
    missed = 2000 - result["matched"]
    check(missed <= unseen <= 4 * missed + 4, f"{missed} rounds are incomplete, but {unseen} waits are reported as not traced")
    check_equal("complete", trace.end["complete"], unseen == 0)


def test_processes_share_it_and_come_late(t):
    """Nine threads of three processes, which get their probes one after another, with rounds of microseconds."""
    trace, result, unseen = shared_rounds(t, ["--work", "random:1us:30us:1", "--work-by", "sleep"], 1000, "3", "3")
    missed = 1000 - result["matched"]
    check(missed == 0 or unseen > 0, f"{missed} rounds are incomplete, and nothing says so")
    # A round in which some threads were not traced matches no round of the log.
    check_between("extra", result["extra"], 0, missed)
    check_equal("complete", trace.end["complete"], unseen == 0)


def test_processes_share_it_with_musl(t):
    """musl's condition variables keep no count, so the number of arrivals before the probes is unknown, and the report says so."""
    for threads, processes in (("2", "2"), ("1", "4")):
        trace, result, unseen = shared_rounds(t, ["--work", "random:1us:30us:1", "--work-by", "sleep"], 4000, threads, processes,
                                              "gen_cond-musl", may=("wait_uncounted", "candidate_not_examined"))
        # Until all processes had their probes, some threads of a round were missing.
        check_between("extra", result["extra"], 0, 4000 - result["matched"])
        check_equal("complete", trace.end["complete"], False)
        rounds, whole = seen_since_all_were(trace, 4)
        if not rounds:
            # The processes ended before all of them had probes.
            check(unseen, f"nothing says that waits are missing: {trace.end['lost']}")
            continue
        check_between("rounds that were seen since", whole, 0.97 * rounds, rounds + 1)
        check_equal("whether all was seen is not known", trace.end["lost"]["wait_uncounted"], 1)
        # Efficiencies are then upper limits.
        marks = {p["untraced"] for p in trace.processes()} | {g["untraced"] for g in trace.all("group")}
        check("pthread_cond_wait" in marks, f"marked: {marks}")
        check(not any(x["verdict"].startswith("Balanced") for x in trace.all("group")), "reported as balanced")
        check_equal("complete", trace.end["complete"], False)


def test_two_threads_are_a_candidate(t):
    trace, _, _ = generated(t, "gen_cond", "--threads", "2", "--rounds", "100", "--kind",
                            "generation")
    check_equal("barriers", trace.barriers(), [])
    check_all_in("stderr", ("2 threads", "meet_generation"), trace.result.err)


def test_signals_are_not_seen(t):
    trace, _, _ = generated(t, "gen_cond", "--threads", "4", "--rounds", "100", "--kind",
                            "signals")
    check_equal("barriers", trace.barriers(), [])


def test_parts_do_not_reach_back(t):
    trace = found_all(t, "gen_cond", "--threads", "4", "--rounds", "300", "--kind", "generation",
                      episodes=300)
    # Until the classification nothing was accounted for. Afterwards each phase has its own time, and no more.
    known = 0
    for n, episode in enumerate(trace.all("episode")):
        for thread in episode["threads"]:
            if thread["oncpu_ns"] is None:
                continue
            check(n > 0, f"parts of the first episode: {thread}")
            known += 1
            parts = [thread["oncpu_ns"], thread["runq_ns"], thread["unattributed_ns"],
                     *thread["blocked_ns"].values()]
            check_equal("the parts", sum(parts), thread["work_ns"])
    check(known > 400, f"parts of {known} crossings are known")


def test_not_wanted(t):
    trace, _, _ = generated(t, "gen_cond", "--threads", "4", "--rounds", "50", "--kind",
                            "generation", tracer=("--no-discover",))
    check_equal("barriers", trace.barriers(), [])


# --- futexes ----------------------------------------------------------------------------------------------

@paired
def test_futex_kinds(t):
    for kind in ("wait", "bitset", "waitv", "waitv2", "requeue"):
        found_all(t, "gen_futex", "--threads", "4", "--rounds", "200", "--kind", kind,
                  episodes=200, tracer=("--discover",))


def test_futex_timeouts_and_sharing(t):
    slow = ["--work", "random:1us:3000us:1", "--work-by", "sleep", "--timeout", "1ms"]
    found_all(t, "gen_futex", "--threads", "4", "--rounds", "200", "--kind", "wait", "--shared",
              episodes=200, tracer=("--discover",), work=slow)
    found_all(t, "gen_futex", "--threads", "2", "--processes", "2", "--rounds", "200", "--kind",
              "wait", episodes=200, tracer=("--discover",))


def test_futex_with_some_that_spin(t):
    # Chance decides how many threads arrive without a trace before the object is known to be a barrier. If they are many, the
    # report says so.
    _, _, result = generated(t, "gen_futex", "--threads", "4", "--rounds", "200", "--kind",
                             "spin", tracer=("--discover",), may=("barrier_given_up",))
    # A thread that saw the value change left no trace. Such episodes are not reported as complete.
    check_equal("extra", result["extra"], 0)
    check_between("matched", result["matched"], 150, 200)


def test_futex_only_when_asked(t):
    trace, _, _ = generated(t, "gen_futex", "--threads", "4", "--rounds", "50", "--kind", "wait")
    check_equal("barriers", trace.barriers(), [])


# --- programs modelled on SPLASH-2 -----------------------------------------------------------------

@paired
def test_splash(t):
    for name in ("lu3", "radix", "ocean", "water"):
        counts = {}
        for variant in ("pthread", "cond", "spin"):
            # Four spinning threads take minutes on two CPUs that others use as well, so one time step must do.
            few = ["4", "130", "1"] if (name, variant) == ("ocean", "spin") else []
            trace = t.trace([workload(f"{name}-{variant}"), *few]).nothing_lost()
            counts[variant] = sum(b["episodes"] for b in trace.barriers())
            if variant == "spin":
                check_in("stderr", "spin", trace.result.err)
        check(counts["pthread"] > 40, f"{name}: {counts}")
        check_equal(f"{name} by condition variable", counts["cond"], counts["pthread"])
        check_equal(f"{name} by spinning", counts["spin"], 0)


def test_spinners_beside_a_barrier(t):
    """Some threads cross a barrier, and others only spin. The report mentions those, too."""
    source, binary = t.path("spin.c"), t.path("spin")
    write_file(source, """
#include <pthread.h>
#include <unistd.h>
static pthread_barrier_t b;
static volatile int stop;
static void *spin(void *arg) { while (!stop); return arg; }
static void *work(void *arg)
{
	for (int i = 0; i < 20; i++) {
		usleep(10000);
		pthread_barrier_wait(&b);
	}
	return arg;
}
int main(void)
{
	pthread_t t[4];
	pthread_barrier_init(&b, 0, 2);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], 0, i < 2 ? work : spin, 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], 0);
		stop = i > 0;
	}
	return 0;
}
""")
    subprocess.run(["gcc", "-O1", "-pthread", "-o", binary, source], check=True)
    trace = t.trace([binary]).nothing_lost()
    check_equal("episodes", [b["episodes"] for b in trace.barriers(family="pthread")], [20])
    check_all_in("stderr", ("2 threads of process", "spinning"), trace.result.err)


# --- no barriers ------------------------------------------------------------------------------------------

def none_in(t, command, *options):
    trace = t.trace(command, *options).nothing_lost()
    check_in("its own check", " ok", trace.result.out)
    check_equal(f"barriers of {command}", [b for b in trace.barriers()
                                           if b["family"] in ("cond", "futex")], [])


@paired
def test_no_barriers(t):
    for name in NOT:
        none_in(t, [workload(f"not_{name}")])


def test_no_barrier_of_lambdas(t):
    """The waiting and the waking function have the same name."""
    for build in ("not_lambdas", "not_lambdas-O0", "not_lambdas-clang"):
        none_in(t, [workload(build)])
    for count in (2, 5):
        none_in(t, [workload("not_lambdas"), str(count), "150"], "--discover")


@paired
def test_no_barriers_on_futexes(t):
    for name in NOT:
        none_in(t, [workload(f"not_{name}")], "--discover")


def test_many_threads_and_no_barrier(t):
    for name in ("pool", "queue", "gun", "steal"):
        none_in(t, [workload(f"not_{name}"), "12", "200"], "--discover")


def test_parallel_make(t):
    none_in(t, ["sh", workload("not_make.sh")], "--discover")


# --- no harm ----------------------------------------------------------------------------------------------

def test_cancelled_in_the_wait(t):
    trace = t.trace([workload("cond_cancel")])
    check_in("its own check", "destroyed=20 cancelled=20 ok", trace.result.out)
    check_equal("episodes", trace.barrier()["episodes"], 30)


def test_thrown_out_of(t):
    trace = t.trace([workload("cond_cancel"), "throw"], "--discover")
    check_in("its own check", "destroyed=20 cancelled=0 ok", trace.result.out)


def test_strangers_pay_nothing(t):
    """Only condition variables of one process are probed: other processes' mappings have no [uprobes]."""
    stranger = t.start([workload("gen_cond"), *WORK, "--threads", "4", "--kind", "generation",
                        "--forever"])
    # Its threads begin together at a barrier of the C library, and all hit a probe there. Wait until this is over.
    wait_for("the stranger's threads", lambda: len(os.listdir(f"/proc/{stranger.pid}/task")) >= 4)
    time.sleep(0.3)
    t.trace([workload("gen_cond"), *WORK, "--threads", "4", "--rounds", "100", "--kind",
             "generation"])
    check("[uprobes]" not in read_text(f"/proc/{stranger.pid}/maps", errors="replace"), "a stranger has a probe")
    stranger.popen.terminate()


def test_two_functions(t):
    """Arrival and wait are in separate functions that the program calls one after the other. This is not taken for a barrier,
    but is reported."""
    source, binary = t.path("split.c"), t.path("split")
    with open(source, "w", encoding="ascii") as f:
        f.write("""
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#define N 4
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int arrived, generation;
__attribute__((noinline)) static int my_arrive(void)
{
	int mine;
	pthread_mutex_lock(&m);
	mine = generation;
	if (++arrived == N) {
		arrived = 0;
		generation++;
		pthread_cond_broadcast(&c);
	}
	pthread_mutex_unlock(&m);
	return mine;
}
__attribute__((noinline)) static void my_wait(int mine)
{
	pthread_mutex_lock(&m);
	while (generation == mine)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
}
__attribute__((noinline)) static int first_half(int me, int i)
{
	usleep((me + i) % N * 3000 + 1000);
	return my_arrive();
}
__attribute__((noinline)) static void second_half(int mine) { my_wait(mine); __asm__(""); }
static void *work(void *arg)
{
	for (int i = 0; i < 60; i++)
		second_half(first_half((int)(long)arg, i));
	return arg;
}
int main(void)
{
	pthread_t t[N];
	for (long i = 0; i < N; i++)
		pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], 0);
	puts("split: ok");
}
""")
    subprocess.run(["gcc", "-O1", "-g", "-pthread", "-o", binary, source], check=True)
    trace = t.trace([binary]).nothing_lost()
    found = trace.barriers(family="cond")
    if found:
        check_equal("episodes", sum(b["episodes"] + b["incomplete"] for b in found), 60)
    else:
        check_in("stderr", "woken from another function", trace.result.err)
