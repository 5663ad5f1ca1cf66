# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""hang -p shows where the threads of a process are, without disturbing any of them."""

import collections
import ctypes
import json
import os
import re
import resource
import shutil
import subprocess

from harness import (UNPRIVILEGED, SBT, Skip, check, check_equal, check_in, descendants, read_proc, read_text, source_lines,
                     stat_of, wait_for, workload, write_file)

PAIRED = True

# Place -> the innermost function of the program on the stack, and what the thread waits for there.
PLACES = {
    "read": ("in_read", "read() of a pipe"),
    "epoll": ("in_epoll", "epoll_p?wait()"),
    "semtimedop": ("in_semtimedop", r"semtimedop() of the semaphores \d+"),
    "nanosleep": ("in_nanosleep", "sleep of 1000 s"),
    "futex": ("in_futex", "a futex"),
    "wait4": ("in_wait4", r"its child \d+"),
    "poll": ("in_poll", "p?poll() of 2 files, the first a socket"),
    "accept": ("in_accept", "accept() on a socket"),
    "deep": ("in_deep", "a signal"),
    "large": ("in_large", "a signal"),
    "aligned": ("in_aligned", "a signal"),
    "interrupted": ("in_interrupted", "a signal"),
    "inlined": ("in_inlined", "read() of a pipe"),
}
FRAMES = 64  # maximum number of frames of one stack


def lines_of(place):
    return source_lines("looked.c", f"HERE: {place} */")


def line_of(place):
    lines = lines_of(place)
    check_equal(f"lines marked {place}", len(lines), 1)
    return lines[0]


def remove_semaphores(number):
    ctypes.CDLL(None).semctl(number, 0, 0)


class Looked:
    """The workload, after each of its threads has printed where it goes."""

    def __init__(self, t, times=1, path=None, **options):
        self.process = t.start([path or workload("looked"), str(times)], stdin=subprocess.PIPE,
                               **options)
        self.pid = self.process.pid
        wait_for("all threads", lambda: len(self.said()) == 14 * times + times + 1, 30)
        self.tids = collections.defaultdict(list)
        for what, number in self.said():
            self.tids[what].append(number)
        t.at_end(remove_semaphores, self.tids["sem"][0])

    def said(self):
        return [(what, int(number))
                for what, number in re.findall(r"^# (\w+) (\d+)$", self.process.out, re.M)]

    def end(self):
        """End the workload. Return how often a call was interrupted."""
        self.process.popen.stdin.close()
        check_equal("status", self.process.wait().rc, 0)
        return dict(self.said())["eintr"]


def look(t, pid, **options):
    """Return what hang reports about each thread, by its number."""
    result = t.sbt("hang", "--json", "-p", str(pid), **options)
    check_equal("status", (result.rc, result.err), (0, ""))
    records = [json.loads(line) for line in result.out.splitlines()]
    return {r["tid"]: r for r in records if r["type"] == "thread"}


def settled(t, looked, **options):
    """Return the same when all threads are where they stay, which takes a while under load."""
    found = {}

    def there():
        found.clear()
        found.update(look(t, looked.pid, **options))
        return all(re.fullmatch(waits.replace("()", r"\(\)"), found[tid]["blocked_on"] or "")
                   for place, (_, waits) in PLACES.items() for tid in looked.tids[place])
    wait_for("all threads where they stay", there, 30)
    return found


def stack_of(thread):
    return [(f["function"], f["line"]) for f in thread["stack"]]


def blocked_as_known(looked, threads):
    for place, (function, _) in PLACES.items():
        for tid in looked.tids[place]:
            thread = threads[tid]
            if place != "deep":
                check_in(f"stack at {place}", (function, line_of(place)), stack_of(thread))
                check_equal(f"{place} to its end", thread["truncated"], False)
                check_in(f"its outermost of the program at {place}", "run",
                         [f["function"] for f in thread["stack"]])
            check_equal(f"state at {place}", thread["state"], "blocked")
            check_equal(f"sampled at {place}", thread["sampled"], False)
    of_mine = next(f for f in threads[looked.tids["read"][0]]["stack"]
                   if f["function"] == "in_read")
    check_equal("file", os.path.basename(of_mine["file"]), "looked.c")
    check_equal("module", os.path.basename(of_mine["module"]), "looked")


def test_look_blocked(t):
    looked = Looked(t)
    threads = settled(t, looked)
    blocked_as_known(looked, threads)
    check_equal("threads", set(threads), {int(x) for x in os.listdir(f"/proc/{looked.pid}/task")})
    check_equal("registers of those that wait", {threads[looked.tids[p][0]]["registers"]
                                                 for p in PLACES}, {"iterator"})
    # A name that looks like the fields after it.
    check_equal("name", threads[looked.tids["read"][0]]["comm"], ") R 1 (\n)")
    check_equal("system call", threads[looked.tids["nanosleep"][0]]["syscall"], "clock_nanosleep")
    check_equal("child", threads[looked.tids["wait4"][0]]["blocked_on"],
                f"its child {looked.tids['child'][0]}")
    check_equal("interrupted calls", looked.end(), 0)


def test_look_depths(t):
    """Recursion with more frames than are kept, a frame larger than a copy, the frame of a handler, and one of an inlined
    function."""
    looked = Looked(t)
    threads = settled(t, looked)
    deep = threads[looked.tids["deep"][0]]
    functions = [f["function"] for f in deep["stack"]]
    check_equal("frames of a deep stack", (len(functions), deep["truncated"]), (FRAMES, True))
    first = functions.index("in_deep")
    check_equal("below that", set(functions[first:]), {"in_deep"})
    check_equal("line at the bottom", deep["stack"][first]["line"], line_of("deep"))
    handled = threads[looked.tids["interrupted"][0]]["stack"]
    names = [f["function"] for f in handled]
    check("handler" in names[:names.index("in_interrupted")], f"no handler in {names}")
    check_equal("line in the handler", handled[names.index("handler")]["line"], line_of("handler"))
    inlined = threads[looked.tids["inlined"][0]]["stack"]
    frame = next(f for f in inlined if f["function"] == "innermost")
    check_equal("inlined", (frame["line"], frame["inlined"]),
                (line_of("innermost"), "in_inlined"))
    looked.end()


def test_look_running(t):
    looked = Looked(t)
    spin = looked.tids["spin"][0]
    thread = None

    def found():
        """Return the stack of the running thread. It may lose its CPU just before it would have been sampled, and the report then
        says so."""
        nonlocal thread
        thread = look(t, looked.pid)[spin]
        check(thread["state"] in ("running", "runnable"), f"state {thread['state']}")
        check_equal("waits for", thread["blocked_on"], None)
        return thread["stack"]

    for _ in range(3):
        wait_for("a stack", found, 30)
        # A thread that got no CPU since it was last seen is still there.
        check({("in_spin", line) for line in lines_of("spin")} & set(stack_of(thread)),
              f"it runs at {stack_of(thread)}")
        check_equal("to its end", thread["truncated"], False)
    check(thread["oncpu_ns"] > 0, "a thread that runs has had a CPU")
    looked.end()


def switches(pid, tids):
    """Return how often each thread got a CPU, by the kernel's own count."""
    found = {}
    for tid in tids:
        text = read_proc(pid, f"task/{tid}/status").decode("utf-8", "replace")
        found[tid] = [int(n) for n in re.findall(r"voluntary_ctxt_switches:\s*(\d+)", text)]
    return found


def test_look_disturbs_no_thread(t):
    """After twenty looks, no waiting thread has run in between, was stopped, or had its call interrupted."""
    looked = Looked(t)
    settled(t, looked)
    waiting = [tid for place in PLACES for tid in looked.tids[place]]
    before = switches(looked.pid, waiting)
    seen = set()
    for _ in range(20):
        hang = t.start([SBT, "hang", "--json", "-p", str(looked.pid)])
        while hang.alive():
            for tid in waiting:
                status = read_proc(looked.pid, f"task/{tid}/status").decode("utf-8", "replace")
                seen.add(re.search(r"^State:\s*(\S)", status, re.M)[1])
                seen.add(re.search(r"^TracerPid:\s*(\d+)", status, re.M)[1])
        check_equal("status", hang.wait().rc, 0)
    check_equal("states and tracers seen", seen, {"S", "0"})
    check_equal("switches of those that wait", switches(looked.pid, waiting), before)
    check_equal("interrupted calls", looked.end(), 0)


def test_look_many(t):
    """Seventy threads, five of which run, are examined within a second of CPU time."""
    looked = Looked(t, 5)
    settled(t, looked)
    text = t.sbt("hang", "-p", str(looked.pid), rc=0)
    check_in("how many", "71 threads", text.out)
    # Threads at the same position are reported together.
    check(re.search(r"^    threads (\d+ \S.*, ){4}\d+ .*:\n?.* blocked on sleep of 1000 s$",
                    re.sub(r"\n {8}(?! *at )", " ", text.out), re.M),
          f"five sleepers are not reported together: {text.out[:3000]}")
    # Measure the CPU time of everything that sbt-trace starts, because the elapsed time depends on other programs.
    used = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        check_equal("threads", len(look(t, looked.pid)), 71)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    check(min(used) <= 1, f"used {used} s")
    looked.end()


def test_look_without_root(t):
    """The owner of a process may examine it with the data that the kernel then provides: stack pointer and instruction pointer."""
    scope = "/proc/sys/kernel/yama/ptrace_scope"
    if os.path.exists(scope):
        with open(scope, encoding="ascii") as f:
            if f.read().strip() != "0":
                return
    folder = t.path()
    os.mkdir(folder)
    os.chmod(t.dir, 0o755)
    for path in (SBT, workload("looked")):
        shutil.copy(path, folder)
        os.chmod(os.path.join(folder, os.path.basename(path)), 0o755)

    def unprivileged():
        os.setgroups([])
        os.setresgid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)
        os.setresuid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED)

    def own_look(pid, become=unprivileged):
        return t.run([os.path.join(folder, "sbt-trace"), "hang", "--json", "-p", str(pid)],
                     preexec_fn=become, cwd="/")

    looked = Looked(t, path=os.path.join(folder, "looked"), preexec_fn=unprivileged, cwd="/")
    settled(t, looked)  # as root
    result = own_look(looked.pid)
    check_equal("status", (result.rc, result.err), (0, ""))
    threads = {r["tid"]: r for r in map(json.loads, result.out.splitlines())
               if r["type"] == "thread"}
    for place in ("read", "epoll", "futex", "nanosleep", "accept"):
        thread = threads[looked.tids[place][0]]
        check_equal("registers", thread["registers"], "proc")
        check_in(f"stack at {place}", (PLACES[place][0], line_of(place)), stack_of(thread))

    def another_user():
        os.setgroups([])
        os.setresgid(UNPRIVILEGED - 1, UNPRIVILEGED - 1, UNPRIVILEGED - 1)
        os.setresuid(UNPRIVILEGED - 1, UNPRIVILEGED - 1, UNPRIVILEGED - 1)

    result = own_look(looked.pid, another_user)
    check_equal("another's status", result.rc, 1)
    check_in("another's message", "no permission to examine process", result.err)
    looked.end()


def test_look_wrong(t):
    for args, said in ((["-p", "x"], "a list of process numbers"), (["-p", "12,"], "a list of process numbers"),
                       (["-p"], "needs a value"), ([], "-p PID"), (["--nonsense"], "unknown option"),
                       (["-p", "1", "more"], "-p PID")):
        result = t.sbt("hang", *args, rc=2)
        check_in(f"message for {args}", said, result.err)
    unused = int(read_text("/proc/sys/kernel/pid_max"))
    result = t.sbt("hang", "-p", str(unused), rc=1)
    check_in("message", "there is no process", result.err)
    check_in("help", "Usage: sbt-trace hang", t.sbt("hang", "--help").out)
    zombie = subprocess.Popen(["/bin/true"])
    wait_for("a zombie", lambda: stat_of(zombie.pid)[0] == "Z")
    try:
        threads = look(t, zombie.pid)
        check_equal("state of a zombie", threads[zombie.pid]["state"], "exited")
        path = t.path()
        check_equal("status", t.sbt("hang", "--json", "-o", path, "-p", f"{zombie.pid},{zombie.pid}").rc, 0)
        check_equal("one that is named twice", read_text(path).count('"type":"thread"'), 1)
    finally:
        zombie.wait()


STAYS = r"""
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_barrier_t barrier;
static volatile int passed;
__attribute__((noinline)) static void stays(void)
{
	pthread_barrier_wait(&barrier); /* HERE */
	passed++;
}
static void *run(void *arg)
{
	stays();
	return arg;
}
int main(void)
{
	pthread_t thread[2];
	pthread_barrier_init(&barrier, NULL, 3);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, run, NULL);
	char byte;
	if (read(0, &byte, 1) == 0)
		stays();
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return passed != 3;
}
"""


def test_look_while_traced(t):
    """Return probes replace return addresses of callers by an address of the kernel."""
    source, program = t.path("stays.c"), t.path("stays")
    write_file(source, STAYS)
    check_equal("compiler", t.run(["cc", "-O2", "-g", "-pthread", "-o", program, source]).rc, 0)
    traced = t.start([SBT, "--json", "-o", t.path("trace"), "--", program], stdin=subprocess.PIPE)
    line = STAYS[:STAYS.index("/* HERE */")].count("\n") + 1
    found = {}

    def both_there():
        pids = [pid for pid in descendants(traced.pid) if read_proc(pid, "comm") == b"stays\n"]
        if len(pids) != 1:
            return False
        found.clear()
        found.update(look(t, pids[0]))
        return sum(thread["syscall"] == "futex" for thread in found.values()) == 2
    wait_for("two threads at the barrier", both_there, 30)
    for thread in found.values():
        if thread["syscall"] == "futex":
            check_in("stack", ("stays", line), stack_of(thread))
            check_equal("to its end", thread["truncated"], False)
    traced.popen.stdin.close()
    check_equal("status", traced.wait().rc, 0)



OWN = r"""
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all = PTHREAD_COND_INITIALIZER;
static int come, round;
__attribute__((noinline)) void meet(int *passed)
{
	pthread_mutex_lock(&mutex);
	int mine = round;
	if (++come == 3)
		round++, pthread_cond_broadcast(&all);
	while (mine == round)
		pthread_cond_wait(&all, &mutex);
	pthread_mutex_unlock(&mutex);
	++*passed;
}
static int passed;
static void *run(void *arg)
{
	meet(&passed); /* HERE */
	return arg;
}
int main(void)
{
	pthread_t thread[2];
	char byte;
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, run, NULL);
	return (int)read(0, &byte, 1);
}
"""

STD = r"""
#include <barrier>
#include <thread>
#include <unistd.h>
static std::barrier all(3);
static volatile int passed;
static void run()
{
	all.arrive_and_wait(); /* HERE */
	passed = 1;
}
int main()
{
	std::thread one(run), two(run);
	char byte;
	_exit((int)read(0, &byte, 1));
}
"""


def hang_of(t, text, compiler, *options):
    """Two threads are at the line marked HERE, the main thread is in read(). Check what is reported about the barrier."""
    source = t.path("own." + ("cc" if "++" in compiler[0] else "c"))
    write_file(source, text)
    program = t.path("own")
    if t.run([*compiler, "-g", "-pthread", "-o", program, source]).rc:
        raise Skip(f"{compiler[0]} does not compile it")
    p = t.start([program], stdin=subprocess.PIPE)
    line = text[:text.index("/* HERE */")].count("\n") + 1

    def two_there():
        result = t.sbt("hang", "--json", *options, "-p", str(p.pid))
        check_equal("status", (result.rc, result.err), (0, ""))
        for record in map(json.loads, result.out.splitlines()):
            if record["type"] == "hang" and len(record["arrived"]) == 2 and \
                    [m["syscall"] for m in record["missing"]] == ["read"]:
                return record
        return None
    record = wait_for("two threads at the barrier, and one missing", two_there, 30)
    check_equal("sites", {(a["function"].removesuffix("()"), a["line"])
                          for a in record["arrived"]}, {("run", line)})
    check_equal("missing", [m["tid"] for m in record["missing"]], [p.pid])
    p.popen.stdin.close()
    p.wait()
    return record


def test_look_own_barrier(t):
    """The user names a hand-written barrier."""
    check_equal("family", hang_of(t, OWN, ["cc", "-O2"], "-b", "meet")["family"], "user")


def test_look_std_barrier(t):
    """The call site is the program's own call, outside of the library's templates."""
    check_equal("family", hang_of(t, STD, ["g++", "-std=c++20", "-O0"])["family"], "std")
