# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Why the last arriver was late, compared with a program that is late for a known reason and measures by its own clocks for how
long (tests/workloads/late.c)."""

import collections
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

import harness
from harness import ROOT, Skip, check, check_between, check_equal, check_in, wait_for, workload, write_file

# The names of the parts, as in user/analyse/cause.h. The tests define them only here.
WORK = "work"
CPU = "no cpu"
LOCK = "lock"
IO = "i/o"
FAULT = "page faults"
SLEEP = "sleep"
THROTTLED = "throttled"
RELEASED = "released late"

PART_OF = {"work": WORK, "cpu": CPU, "lock": LOCK, "lock-sleep": LOCK, "lock-chain": LOCK, "fsync": IO,
           "pipe": IO, "pages": FAULT, "file-pages": FAULT, "sleep": SLEEP, "throttle": THROTTLED,
           "release": RELEASED}

ROUNDS = 201  # the first of which begins with the start of the threads
RIGHT = 0.95  # share of the episodes
SHARE = 0.7  # share of the dominant cause
SHARE_OF_FAULTS = 0.5  # the entry into the kernel and the exit count as work, on a virtual machine a third of all
POINTS = 0.1  # maximum error of the shares of mixed causes
UNDISTURBED = 40  # number of rounds that are enough, if the host takes the CPUs in the others
STOLEN = 0.1  # share of a lateness that the host took; above it, the round says little about the injected reason


class LateLog:
    """The injected delays, and every crossing, by the program's own clocks."""

    def __init__(self, path):
        self.tids = collections.defaultdict(list)  # competitor, holder, feeder: thread ids
        self.file = None
        self.injected = collections.defaultdict(list)  # round -> [(reason, ns)]
        self.late = {}  # round -> tid
        self.crossings = collections.defaultdict(dict)  # round -> tid -> arrive, depart, CPU times
        with open(path, encoding="utf-8") as f:
            for line in f:
                self._read(line.split())

    def _read(self, words):
        if words[0] == "late":
            self.late[int(words[1])] = int(words[2])
            self.injected[int(words[1])].append((words[3], int(words[4])))
        elif words[0] == "cross":
            self.crossings[int(words[3])][int(words[2])] = tuple(map(int, words[4:]))
        elif words[1] == "file":
            self.file = words[2]
        elif words[1] != "late":
            self.tids[words[1]].append(int(words[2]))

    def last(self, number):
        """Return the last arriver of the round."""
        return max(self.crossings[number].items(), key=lambda c: c[1][0])[0]


def disk_folder(t):
    """Return a folder that is on a disk. In memory, fsync would wait for nothing."""
    folder = tempfile.mkdtemp(prefix="late-", dir=os.path.join(ROOT, "build"))
    t.at_end(shutil.rmtree, folder, True)
    kind = subprocess.run(["stat", "-f", "-c", "%T", folder], check=True, stdout=subprocess.PIPE,
                          text=True, timeout=10).stdout.strip()
    if kind in ("tmpfs", "ramfs"):
        raise Skip(f"{folder} is on a {kind}")
    return folder


def put(path, text):
    write_file(path, text)


def quota_group(t, quota_us, period_us):
    """Make a control group for one thread, in version 1 or 2. Return it with what a process must do first."""
    name = f"sbt-late-{os.getpid()}"
    old = os.path.join("/sys/fs/cgroup/cpu", name)
    if os.path.exists("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"):
        os.mkdir(old)
        t.at_end(os.rmdir, old)
        put(os.path.join(old, "cpu.cfs_period_us"), str(period_us))
        put(os.path.join(old, "cpu.cfs_quota_us"), str(quota_us))
        put(os.path.join(old, "cpu.shares"), "262144")  # no other process may delay the thread
        return old, None
    group, threaded = os.path.join("/sys/fs/cgroup", name), os.path.join("/sys/fs/cgroup", name, "one")
    try:
        with open("/sys/fs/cgroup/cgroup.subtree_control", encoding="ascii") as f:
            if "cpu" not in f.read().split():
                raise Skip("no control group has a CPU quota here")
        os.makedirs(threaded)
    except OSError as e:
        raise Skip(f"no control group can be made: {e}") from None
    t.at_end(os.rmdir, group)
    t.at_end(os.rmdir, threaded)
    put(os.path.join(threaded, "cgroup.type"), "threaded")
    put(os.path.join(group, "cgroup.subtree_control"), "+cpu")
    put(os.path.join(threaded, "cpu.max"), f"{quota_us} {period_us}")
    put(os.path.join(threaded, "cpu.weight"), "10000")
    return threaded, lambda: put(os.path.join(group, "cgroup.procs"), str(os.getpid()))


def late(t, mode, *options, rounds=ROUNDS, **more):
    """Run the workload under sbt-trace. Return the trace, its episodes by round, and the log."""
    path = t.path()
    before = harness.stolen_ns()
    trace = t.trace([workload("late"), mode, "--rounds", str(rounds), "--log", path, *options], "-W",
                    **more).nothing_lost()
    log = LateLog(path)
    episodes = sorted(trace.all("episode"), key=lambda e: e["t_ns"])
    check_equal("episodes", len(episodes), rounds)
    check_equal("states", {e["state"] for e in episodes}, {"complete"})
    # The limit is the kernel's own account, which it keeps in ticks.
    claimed = sum(m["stolen_ns"] or 0 for m in trace.barrier()["threads"])
    check_between("steal time as reported", claimed, 0, harness.stolen_ns() - before + 40_000_000)
    return trace, episodes, log


def share_of(cause, part):
    """Return the part's share of the positive parts, as a cause's own share is defined."""
    positive = sum(ns for ns in cause["parts"].values() if ns > 0)
    return max(cause["parts"].get(part, 0), 0) / positive if positive else 0


def least_share(part):
    """Return the minimum share of the injected dominant cause."""
    return SHARE_OF_FAULTS if part == FAULT else SHARE


def undisturbed(cause, injected_ns):
    """Return whether the host took no significant CPU time, from the late thread or from those that waited for it."""
    return not cause or abs(cause["parts"].get("stolen", 0)) <= STOLEN * injected_ns


def said(cause):
    return f"{cause.get('culprit') or ''} | {cause.get('text') or ''}"


def most(what, rights, of, examples=()):
    check(rights >= RIGHT * of, f"{what}: right in {rights} of {of}; {list(examples)[:3]}")


def check_parts(episodes):
    """Check that the parts are those of the last thread, and add up to its lateness relative to the lower median."""
    for e in episodes:
        if not e.get("cause") or not e["cause"]["parts"]:
            continue
        arrivals = sorted(m["arrive_ns"] for m in e["threads"])
        lateness = arrivals[-1] - arrivals[(len(arrivals) - 1) // 2]
        check_between("parts added up", sum(e["cause"]["parts"].values()), lateness - 2, lateness + 2)


def check_injected(log, episodes, mode):
    """Check the dominant cause, its share, and its duration. While the disk works for the late thread, the thread also waits
    for a CPU at times, and cannot distinguish this from waiting for the disk. The entry into the kernel at a page fault, and
    the exit, are not between the kernel's two events: an eighth of a fault of 2 us, and a third if a host is involved."""
    part, least = PART_OF[mode], least_share(PART_OF[mode])
    rounds = [n for n in range(1, len(episodes)) if any(r == mode for r, _ in log.injected[n])]
    check(len(rounds) >= 0.99 * (len(episodes) - 1), f"injected in {len(rounds)} rounds only")
    disturbed = len(rounds)
    rounds = [n for n in rounds if undisturbed(episodes[n].get("cause"), dict(log.injected[n])[mode])]
    disturbed -= len(rounds)
    check(len(rounds) >= UNDISTURBED, f"the host took the CPUs away in {disturbed} rounds, and in {len(rounds)} not")
    wrong = []
    for n in rounds:
        cause = episodes[n].get("cause")
        if not cause or cause["dominant"] != part or cause["share"] < least:
            wrong.append((n, cause))
        else:
            check_between("share", cause["share"], share_of(cause, part) - 0.01,
                          share_of(cause, part) + 0.01)
    most(f"dominant cause is {part} with {least:.0%}", len(rounds) - len(wrong), len(rounds), wrong)
    ns = [(episodes[n]["cause"]["parts"].get(part, 0), dict(log.injected[n])[mode]) for n in rounds
          if episodes[n].get("cause")]
    check_between("its time against what was injected",
                  sum(got for got, _ in ns) / sum(own for _, own in ns),
                  0.8 if mode == "fsync" else least if part == FAULT else 0.9, 1.25 if mode == "pages" else 1.1)
    return [episodes[n]["cause"] for n in rounds if episodes[n].get("cause")]


def check_site(trace, part, episodes, culprit=None):
    cause = trace.barrier()["cause"]
    stolen = cause["parts"].get("stolen", 0) if cause else 0
    if stolen > STOLEN * cause["parts"].get(part, 0) > 0:
        rest = {"parts": {name: ns for name, ns in cause["parts"].items() if name != "stolen"}}
        check(share_of(rest, part) >= least_share(part), f"the site's cause, but for what the host took: {cause}")
        return
    check(cause and cause["dominant"] == part and cause["share"] >= least_share(part), f"the site's cause: {cause}")
    check_between("episodes that it rests on", cause["episodes"], 0.95 * episodes, episodes)
    for pattern in culprit or ():
        check(re.search(pattern, said(cause)), f"{pattern!r} is not in {said(cause)}")
    check(part in cause["text"] or len(cause["text"]) > 20, f"no sentence: {cause['text']!r}")


def functions(frame):
    """Return the functions of one frame, with those inlined there."""
    return [frame["function"], *(frame["inlined"] or "").split(" <- ")]


def frames(cause):
    return [name for f in cause.get("stack") or [] for name in functions(f)]


def injected(t, mode, *options, culprit=(), stack=None, rounds=ROUNDS):
    """Check everything that must hold for one reason. culprit: patterns that the sentence must match."""
    return check_all(*late(t, mode, *options, rounds=rounds), mode, culprit, stack)


def check_all(trace, episodes, log, mode, culprit=(), stack=None):
    rounds = len(episodes)
    culprit = [c(log) if callable(c) else c for c in culprit]
    check_parts(episodes)
    causes = check_injected(log, episodes, mode)
    unnamed = [said(c) for c in causes if not all(re.search(p, said(c)) for p in culprit)]
    most(f"culprit {culprit} named", len(causes) - len(unnamed), len(causes), unnamed)
    if stack:
        without = [frames(c) for c in causes if stack not in frames(c)]
        most(f"{stack} on the stack", len(causes) - len(without), len(causes), without)
        for cause in causes:
            for frame in cause["stack"]:
                if stack in functions(frame):
                    check(frame["file"] and frame["line"], f"no file and line: {frame}")
                    check(frame["module"].endswith("/late"), f"another module: {frame}")
    lasts = [(n, log.late[n]) for n in range(rounds) if log.last(n) == log.late.get(n) and
             max(episodes[n]["threads"], key=lambda m: m["arrive_ns"])["tid"] != log.late[n]]
    # A thread that loses its CPU between reading its clock and the barrier arrives later than it knows.
    check(len(lasts) <= 0.01 * rounds, f"another thread arrived last: {lasts[:5]}")
    check_site(trace, PART_OF[mode], rounds, culprit)
    return trace, episodes, log


def test_more_work(t):
    injected(t, "work")


def test_waits_for_a_cpu(t):
    _, _, log = injected(t, "cpu", culprit=[r"\bcompetitor\b"])
    check(log.tids["competitor"], "the log names no competitor")


def holder(log):
    return rf"\b{log.tids['holder'][0]}\b"


def test_lock(t):
    injected(t, "lock", culprit=[holder], stack="wait_for_lock")


def test_lock_with_sleeping_holder(t):
    injected(t, "lock-sleep", culprit=[holder], stack="wait_for_lock")


def test_lock_with_holder_that_waits_for_a_cpu(t):
    """Two steps: the lock's holder, and the thread that had the holder's CPU."""
    injected(t, "lock-chain", culprit=[holder, r"\bcompetitor\b"], stack="wait_for_lock")


def test_fsync(t):
    # Writing costs CPU time too, half of the time on some disks. The common work must be longer than that.
    injected(t, "fsync", "--base", "4ms", "--dir", disk_folder(t), culprit=[r"late\.data"], stack="write_and_sync")


def test_slow_pipe(t):
    injected(t, "pipe", culprit=[r"\bpipe\b"], stack="read_slow_pipe")


def test_fresh_pages(t):
    injected(t, "pages", culprit=[r"\banonymous\b"])


def test_pages_of_a_file(t):
    injected(t, "file-pages", "--dir", disk_folder(t), culprit=[r"late\.data"], stack="touch_file")


def test_sleep(t):
    injected(t, "sleep", stack="take_a_nap")


def test_released_late(t):
    injected(t, "release", culprit=[r"\bcompetitor\b"])


def throttled_ns(group):
    """Return the throttled time by the kernel's own account."""
    with open(os.path.join(group, "cpu.stat"), encoding="ascii") as f:
        stat = dict(line.split() for line in f)
    return int(stat["throttled_time"]) if "throttled_time" in stat else int(stat["throttled_usec"]) * 1000


def test_throttled(t):
    """In each 4 ms the thread may only use the 1 ms that its work takes."""
    group, first = quota_group(t, 1000, 4000)
    # A thread that becomes runnable does not preempt the running one. Of four runs, use the one in which it waited least for a
    # CPU.
    best = None
    for _ in range(4):
        before = throttled_ns(group)
        trace, episodes, log = late(t, "throttle", "--cgroup", group, preexec_fn=first)
        kernels = throttled_ns(group) - before
        mine = sum(m["blocked_ns"]["throttled"] for m in trace.barrier()["threads"])
        check_between("throttled time against the kernel's account", mine / kernels, 0.9, 1.1)
        free = kernels / sum(ns for n in log.injected for _, ns in log.injected[n])
        if not best or free > best[0]:
            best = free, trace, episodes, log
    if best[0] < 0.95:
        raise Skip("its CPU was never free")
    check_all(*best[1:], "throttle")


def test_another_one_each_time(t):
    _, episodes, log = injected(t, "sleep", "--rotate", "--threads", "4", "--base", "300us", "--extra",
                                "4ms", stack="take_a_nap")
    check_equal("last ones", len({log.last(n) for n in range(ROUNDS)}), 4)
    check_equal("reported", len({max(e["threads"], key=lambda m: m["arrive_ns"])["tid"]
                                 for e in episodes}), 4)


def mixed(t, mode, first, second, split, *options):
    trace, episodes, log = late(t, mode, "--split", str(split), *options)
    check_parts(episodes)
    off, checked = [], 0
    for n, e in enumerate(episodes[1:], 1):
        ns = dict(log.injected[n])
        if not undisturbed(e.get("cause"), sum(ns.values())):
            continue
        checked += 1
        expected = ns[first] / (ns[first] + ns[second])
        for reason, share in ((first, expected), (second, 1 - expected)):
            got = share_of(e["cause"], PART_OF[reason]) if e.get("cause") else 0
            if abs(got - share) > POINTS:
                off.append((n, reason, got, share, e.get("cause")))
    check(checked >= len(episodes) // 2, f"the host left the CPUs alone in {checked} of {len(episodes)} rounds")
    most("shares of two causes", checked - len({o[0] for o in off}), checked, off)
    total = collections.Counter()
    for n in range(len(episodes)):
        total.update(dict(log.injected[n]))
    site = trace.barrier()["cause"]
    for reason in (first, second):
        expected = total[reason] / sum(total.values())
        check_between(f"the site's share of {reason}", share_of(site, PART_OF[reason]),
                      expected - POINTS, expected + POINTS)
    check_equal("the site's cause", site["dominant"], PART_OF[first if split > 50 else second])


def test_sleep_and_work(t):
    mixed(t, "mix1", "sleep", "work", 60)


def test_more_work_than_sleep(t):
    mixed(t, "mix1", "sleep", "work", 30)


def test_lock_and_pipe(t):
    mixed(t, "mix2", "lock", "pipe", 65)


def test_balanced(t):
    """No thread is late for a reason, so no cause is reported."""
    trace, episodes, _ = late(t, "none", "--base", "5ms")
    # Steal time may be reported. late() compares it with the kernel's account.
    named = [e["cause"] for e in episodes if e.get("cause") and e["cause"]["dominant"] not in (None, "stolen")]
    check(len(named) <= (1 - RIGHT) * len(episodes), f"{len(named)} causes made up: {named[:3]}")
    site = trace.barrier()["cause"]
    check(not site or site["dominant"] in (None, "stolen"), f"the site's cause is made up: {site}")


def test_report_for_people(t):
    """The text report has the same cause."""
    text = " ".join(t.text([workload("late"), "cpu", "--rounds", "50"]).split())
    check(re.search(r"[Ll]ate mostly because [^.]*\bCPU\b[^.]*\bcompetitor\b", text),
          f"no sentence that says why: {text}")


def test_no_causes(t):
    """Without a request there is no cause in the report."""
    path = t.path()
    trace = t.trace([workload("late"), "sleep", "--rounds", "20", "--log", path], "-W", "--no-causes")
    for e in trace.all("episode"):
        check(not e.get("cause"), f"a cause all the same: {e['cause']}")
        for m in e["threads"]:
            check_equal("oncpu_ns", m.get("oncpu_ns"), None)
    check(not trace.barrier().get("cause"), "a site's cause all the same")


def test_lateness_is_what_was_injected(t):
    """Check the workload: the delays in its log agree with the time stamps of its threads."""
    for mode in ("work", "sleep", "lock"):
        path = t.path()
        t.run([workload("late"), mode, "--rounds", "50", "--log", path])
        log = LateLog(path)
        late_by = []
        for n in range(1, 50):
            by = sorted(c[0] for c in log.crossings[n].values())
            late_by.append((by[-1] - by[0]) / dict(log.injected[n])[mode])
        check_between(f"{mode}: lateness over injected", statistics.median(late_by), 0.85, 1.1)


# --- the right cause, where another thread is easily blamed -------------------------------------------------------

def held(t, mode, *before, rounds=40, **more):
    """Return the trace, its causes from the second round on, and the thread ids by name."""
    trace = t.trace([*before, workload("held"), mode, str(rounds)], "-W", **more).nothing_lost()
    tids = {name: int(tid) for _, name, tid in map(str.split, trace.result.out.splitlines())}
    causes = [e.get("cause") for e in sorted(trace.all("episode"), key=lambda e: e["t_ns"])]
    check_equal("episodes", len(causes), rounds)
    check(all(causes[1:]), "an episode without a cause")
    return trace, causes[1:], tids


def blames(causes, part, pattern, never=None):
    wrong = [c for c in causes if c["dominant"] != part or not re.search(pattern, said(c)) or
             (never and re.search(never, said(c)))]
    most(f"{part}: {pattern}", len(causes) - len(wrong), len(causes), wrong)


def test_lock_that_was_passed_on(t):
    """One thread held the lock when the wait began, another for most of the wait."""
    trace, causes, tids = held(t, "convoy")
    blames(causes, LOCK, rf"held by greedy \({tids['greedy']}\)", "brief")
    check_in("the site's", f"greedy ({tids['greedy']})", said(trace.barrier()["cause"]))


def test_lock_of_a_writer(t):
    _, causes, tids = held(t, "writer")
    blames(causes, LOCK, rf"held by writer \({tids['writer']}\)")


def test_lock_of_a_reader(t):
    """A read-write lock does not record its readers: no thread is named, in particular not the late thread itself."""
    _, causes, _ = held(t, "readers-turn")
    blames(causes, LOCK, r"lock", r"held by")


def test_lock_of_another_process(t):
    _, causes, _ = held(t, "shared")
    blames(causes, LOCK, r"held by other \(\d+\)")


def test_lock_in_a_pid_namespace(t):
    """The lock records its owner by a number that is valid only in the process's own namespace."""
    _, causes, tids = held(t, "convoy", "unshare", "--pid", "--fork", "--mount-proc")
    check(tids["greedy"] < 100, f"no namespace of its own: {tids}")
    blames(causes, LOCK, r"held by greedy \(\d+\)", "brief")
    check_equal("holders", len(set(re.findall(r"greedy \((\d+)\)", " ".join(map(said, causes))))), 1)


def test_waits_for_a_child(t):
    _, causes, _ = held(t, "child")
    blames(causes, "other", r"waited for a child process to end")


def test_waits_that_are_no_locks(t):
    """Waits for the end of a thread, a semaphore or a condition variable are named as such."""
    source, binary = t.path("waits.c"), t.path("waits")
    write_file(source, """
#include <pthread.h>
#include <semaphore.h>
#include <sys/sem.h>
#include <time.h>
static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int flag, mode, systemv;
static void *helper(void *arg)
{
	struct timespec nap = { 0, 20000000 };
	struct sembuf post = { 0, 1, 0 };
	nanosleep(&nap, NULL);
	if (mode == 'v')
		semop(systemv, &post, 1);
	if (mode == 's')
		sem_post(&semaphore);
	pthread_mutex_lock(&mutex);
	flag = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	return arg;
}
static void *work(void *arg)
{
	struct sembuf wait = { 0, -1, 0 };
	pthread_t t;
	for (int i = 0; i < 20; i++) {
		if (arg) {
			pthread_create(&t, NULL, helper, NULL);
			if (mode == 'v')
				semop(systemv, &wait, 1);
			if (mode == 's')
				while (sem_wait(&semaphore))
					;
			pthread_mutex_lock(&mutex);
			while (mode == 'c' && !flag)
				pthread_cond_wait(&condition, &mutex);
			flag = 0;
			pthread_mutex_unlock(&mutex);
			pthread_join(t, NULL);
		}
		pthread_barrier_wait(&barrier);
	}
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t[3];
	mode = argc > 1 ? argv[1][0] : 0;
	sem_init(&semaphore, 0, 0);
	systemv = semget(IPC_PRIVATE, 1, 0600);
	pthread_barrier_init(&barrier, NULL, 3);
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, (void *)i == (void *)1 ? argv : NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	semctl(systemv, 0, IPC_RMID);
	return 0;
}
""")
    subprocess.run(["gcc", "-O1", "-g", "-pthread", "-o", binary, source], check=True)
    for mode, words in (("j", r"waited for (a thread|\S+ \(?\d+\)?) to end"),
                        ("s", "the semaphore (or condition variable )?`semaphore`"),
                        ("c", "the (semaphore or )?condition variable `condition`")):
        trace = t.trace([binary, mode]).nothing_lost()
        cause = max(trace.barriers(family="pthread"), key=lambda b: b["episodes"])["cause"]
        check_equal(f"{mode}: dominant", cause["dominant"], LOCK)
        check(re.search(words, cause["text"]), f"{mode}: {cause['text']}")
        check("lock" not in cause["text"].split(";")[0], cause["text"])
    # System V semaphores have no address that would distinguish them over a run.
    causes = [e["cause"] for e in t.trace([binary, "v"], "-W").all("episode") if e["cause"]]
    check(len(causes) >= 18, f"causes of {len(causes)} episodes only")
    unnamed = [c for c in causes if "waited for the semaphore" not in c["text"]]
    most("semaphore named", len(causes) - len(unnamed), len(causes), unnamed)


CALLS = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
static pthread_barrier_t barrier;
static const char *mode, *fifo;
static int in[2], spare[2], epoll, messages, asked[2];
static mqd_t queue;
static aio_context_t aio;
static struct { long type; char text[1]; } message = { 1, "x" };

static int is(const char *name) { return !strcmp(mode, name); }

static void *helper(void *arg)
{
	struct timespec nap = { 0, 12000000 };
	char c;
	while (read(asked[0], &c, 1) == 1) {
		nanosleep(&nap, NULL);
		if (is("msgrcv"))
			msgsnd(messages, &message, 1, 0);
		else if (is("mq"))
			mq_send(queue, "x", 1, 0);
		else if (is("signal"))
			kill(getpid(), SIGUSR1);
		else if (is("fifo"))
			close(open(fifo, O_WRONLY));
		else if (write(in[1], "x", 1) != 1)
			abort();
	}
	return arg;
}

static void wait_in_call(void)
{
	struct iocb control = { .aio_fildes = (uint32_t)in[0], .aio_lio_opcode = IOCB_CMD_POLL, .aio_buf = POLLIN };
	struct iocb *controls = &control;
	struct io_event done;
	struct epoll_event event;
	sigset_t signals;
	int number;
	char buf[64];

	if (write(asked[1], "x", 1) != 1)
		abort();
	if (is("msgrcv")) {
		msgrcv(messages, &message, 1, 1, 0);
	} else if (is("mq")) {
		mq_receive(queue, buf, sizeof(buf), NULL);
	} else if (is("signal")) {
		sigemptyset(&signals);
		sigaddset(&signals, SIGUSR1);
		sigwait(&signals, &number);
	} else if (is("fifo")) {
		close(open(fifo, O_RDONLY));
	} else {
		if (is("epoll_pwait2"))
			syscall(SYS_epoll_pwait2, epoll, &event, 1, NULL, NULL, 0);
		else if (is("io_getevents") && syscall(SYS_io_submit, aio, 1, &controls) == 1)
			syscall(SYS_io_getevents, aio, 1, 1, &done, NULL);
		else if (is("tee") && (tee(in[0], spare[1], 1, 0) != 1 || read(spare[0], buf, 1) != 1))
			abort();
		if (read(in[0], buf, 1) != 1)
			abort();
	}
}

static void *work(void *arg)
{
	for (int i = 0; i < 15; i++) {
		if (arg)
			wait_in_call();
		pthread_barrier_wait(&barrier);
	}
	return arg;
}

int main(int argc, char **argv)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct mq_attr attr = { .mq_maxmsg = 8, .mq_msgsize = 64 };
	sigset_t signals;
	pthread_t t[2];
	(void)argc;
	mode = argv[1];
	fifo = argv[2];
	if (pipe(in) || pipe(spare) || pipe(asked))
		abort();
	epoll = epoll_create1(0);
	epoll_ctl(epoll, EPOLL_CTL_ADD, in[0], &event);
	syscall(SYS_io_setup, 4, &aio);
	messages = msgget(IPC_PRIVATE, 0600);
	if (is("mq"))
		queue = mq_open("/sbt-calls", O_RDWR | O_CREAT, 0600, &attr);
	mq_unlink("/sbt-calls");
	mkfifo(fifo, 0600);
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&t[0], NULL, helper, NULL);
	pthread_create(&t[1], NULL, work, NULL);
	work(argv);
	pthread_join(t[1], NULL);
	msgctl(messages, IPC_RMID, NULL);
	return 0;
}
"""


def test_calls_that_few_wait_in(t):
    """These calls are known for what they are. The file is named if it has a name, otherwise the function."""
    source, binary = t.path("calls.c"), t.path("calls")
    write_file(source, CALLS)
    subprocess.run(["gcc", "-O1", "-g", "-fno-inline", "-pthread", "-o", binary, source, "-lrt"], check=True)
    for mode, part, words in (("epoll_pwait2", IO, "waited for I/O on an epoll instance"),
                              ("io_getevents", IO, "waited for I/O in wait_in_call"),
                              ("tee", IO, "waited for I/O on a pipe"),
                              ("mq", IO, "waited for I/O on sbt-calls"),
                              ("msgrcv", IO, "waited for I/O in wait_in_call"),
                              ("fifo", IO, "waited for I/O in wait_in_call"),
                              ("signal", "other", "waited for a signal in wait_in_call")):
        trace = t.trace([binary, mode, t.path("fifo")]).nothing_lost()
        cause = max(trace.barriers(family="pthread"), key=lambda b: b["episodes"])["cause"]
        check_equal(f"{mode}: dominant", cause["dominant"], part)
        check_in(mode, words, cause["text"])
        check_in(f"stack of {mode}", "wait_in_call", frames(cause))


def test_longest_user_of_the_cpu(t):
    """The report names the longest user of the CPU, and neither the thread that took it first nor the one that released it."""
    _, causes, tids = held(t, "cpu")
    blames(causes, CPU, rf"heavy \({tids['heavy']}\)", "light|opener")


def test_longest_delay_of_the_holder(t):
    """The second step is the thread that the lock's holder waited for longest, not the one that it waited for last."""
    _, causes, tids = held(t, "chain")
    blames(causes, LOCK, rf"held by middle \({tids['middle']}\), which itself waited for a lock held by long "
                         rf"\({tids['long']}\)", "short")


def test_lock_beside_what_all_do_for_longer(t):
    """Both threads sleep, twice as long as the late thread waits for the lock. The lateness is due to the lock, and is reported
    in full."""
    trace, causes, tids = held(t, "beside")
    blames(causes, LOCK, rf"`rwlock` held by writer \({tids['writer']}\), which was asleep")
    check_in("the site's", f"writer ({tids['writer']})", said(trace.barrier()["cause"]))
    without = [frames(c) for c in causes if "be_held" not in frames(c)]
    most("be_held on the stack", len(causes) - len(without), len(causes), without)


def test_work_after_a_fault_that_failed(t):
    """The kernel does not report the end of such a fault: what the thread computes afterwards is work all the same."""
    trace, _, tids = held(t, "faulty")
    late_ones = [m for e in trace.all("episode")[1:] for m in e["threads"] if m["tid"] == tids["late"]]
    on_cpu, in_faults = (sum(m[key] for m in late_ones) for key in ("oncpu_ns", "fault_ns"))
    check_between("on a CPU", on_cpu, 0.95 * 10e6 * len(late_ones), 2 * 10e6 * len(late_ones))
    check_between("in faults", in_faults, 0, 0.05 * on_cpu)


def test_stopped(t):
    """SIGSTOP during a sleep, which continues afterwards: each is reported under its own name."""
    # The program runs for longer than it takes to attach and to stop it three times.
    program = t.start([workload("held"), "nap", "250"])
    tracer = t.attach("-p", str(program.pid), "-W")
    # Nothing is known of a phase if its start was not traced.
    wait_for("its episodes are seen", lambda: os.path.exists(tracer.path) and
             '"type":"episode"' in pathlib.Path(tracer.path).read_text(encoding="utf-8"))
    for _ in range(3):
        time.sleep(0.15)
        os.kill(program.pid, signal.SIGSTOP)
        time.sleep(0.2)
        os.kill(program.pid, signal.SIGCONT)
    trace = tracer.end().nothing_lost()
    blocked, naps = collections.Counter(), 0
    for e in trace.all("episode"):
        last = max(e["threads"], key=lambda m: m["arrive_ns"])
        if last["work_ns"] is not None:
            blocked.update(last["blocked_ns"])
            naps += 1
    check_between("stopped", blocked["other"], 0.5e9, 0.7e9)
    check_between("asleep", blocked["sleep"], naps * 12e6 * 0.9 - 0.6e9, naps * 12e6 * 1.1)
    texts = [said(e["cause"]) for e in trace.all("episode") if e.get("cause")]
    check(any("it was stopped by a signal" in text for text in texts), f"not reported: {texts[:2]}")
