# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""What the thread did that the late thread waited for, compared with a program in which that is known and lasts for most of
each wait (tests/workloads/waker.c)."""

import re
import subprocess

from harness import check, check_between, check_in, read_text, workload, write_file

ROUNDS = 12
RIGHT = 0.95  # minimum share of right cases
MOST = 0.8  # minimum share of a case's episodes: a busy machine may disturb one
TRIES = 3  # runs of a case, if more episodes were disturbed

CONDITION = "the (semaphore or )?condition variable"
EVENTS = {"cond": CONDITION, "timed": CONDITION, "sem": "the semaphore( or condition variable)?",
          "futex": "the value"}
FILES = {"eventfd": "an eventfd, woken by", "pipe": "a pipe, connected to", "poll": "one of several files, woken by",
         "poll-timed": "one of several files, woken by",
         "epoll": "an epoll instance, woken by", "pair": "a socket, connected to",
         "unix": "a socket, connected to", "tcp": "a socket, connected to"}
DID = {"compute": "which was on a CPU", "no-cpu": r"which itself was waiting for a CPU that rival \({rival}\) had",
       "sleep": "which was asleep", "lock": r"which itself waited for a lock held by owner \({owner}\)",
       "io": "which was waiting for I/O"}
ADVICE = {"compute": "which computes", "no-cpu": "which waits for a CPU", "sleep": "which sleeps",
          "lock": "which waits for a lock", "io": "which waits for I/O"}


def tids_by_name(out):
    """Return the thread numbers, as the program prints them."""
    return {line.split()[1]: line.split()[2] for line in out.splitlines() if line.startswith("# ")}


def expected(means, doing, tids):
    """Return the expected sentence about a wait."""
    woken = rf"waker \({tids['waker']}\)"
    begin = rf"{EVENTS[means]}[^;]*, woken by {woken}" if means in EVENTS else rf"I/O on {FILES[means]} {woken}"
    return f"it waited for {begin}, {DID[doing].format(**tids)}"


def wrong_of(trace, tids, means, doing):
    """Return None if the case is right, or what is wrong with it."""
    pattern = expected(means, doing, tids)
    causes = [e.get("cause") for e in sorted(trace.all("episode"), key=lambda e: e["t_ns"])][1:]
    texts = [c["text"] if c else "" for c in causes]
    found = [t for t in texts if re.search(pattern, t)]
    if len(found) < MOST * len(texts):
        return f"{pattern!r} in {len(found)} of {len(texts)} episodes: {texts[:2]}"
    barrier = max(trace.barriers(family="pthread"), key=lambda b: b["episodes"])
    if not re.search(pattern, barrier["cause"]["text"]):
        return f"the site's: {barrier['cause']['text']}"
    if ADVICE[doing] not in barrier["advice"]:
        return f"the advice: {barrier['advice']}"
    return None


def disturbed(trace, tids):
    """Return whether a thread was late because another program had the CPU. On a busy machine this happens, and is unrelated to
    its waker."""
    texts = [e["cause"]["text"] for e in trace.all("episode") if e.get("cause")]
    own = {f"({tid})" for tid in tids.values()}
    return any("ready to run and waited for a CPU" in text and not any(tid in text for tid in own) for text in texts)


def wrong_in(t, case):
    why = None
    for _ in range(TRIES):
        trace = t.trace([workload("waker"), *case, str(ROUNDS)], "-W").nothing_lost()
        tids = tids_by_name(trace.result.out)
        why = wrong_of(trace, tids, *case[:2])
        if not why or not disturbed(trace, tids):
            break
    return why


def right_in(t, cases):
    """Check the cases, each of which is (means, doing, "thread" or "process")."""
    wrong = {}
    for case in cases:
        why = wrong_in(t, case)
        if why:
            wrong[case] = why
    print(f"second step right in {len(cases) - len(wrong)} of {len(cases)} cases")
    check(len(cases) - len(wrong) >= RIGHT * len(cases), f"wrong in {len(wrong)} of {len(cases)}: {wrong}")


def test_what_the_waker_did(t):
    """The thread waits at condition variables, semaphores, and futexes of the program's own."""
    right_in(t, [(means, doing, "thread") for means in EVENTS for doing in DID])


def test_what_the_waker_of_another_process_did(t):
    right_in(t, [(means, doing, "process") for means in ("cond", "sem") for doing in DID])


def test_what_differs(t):
    """The waker sleeps in half of the episodes and computes in the others. The report names the waker, and each activity has
    its share."""
    for means in ("cond", "sem", "pair"):
        trace = t.trace([workload("waker"), means, "turns", "thread", str(2 * ROUNDS)], "-W").nothing_lost()
        tids = tids_by_name(trace.result.out)
        causes = [e["cause"]["text"] for e in trace.all("episode") if e.get("cause")]
        text = max(trace.barriers(family="pthread"), key=lambda b: b["episodes"])["cause"]["text"]
        check_in(f"{means}: the waker", f"waker ({tids['waker']}), which ", text)
        for did in ("was asleep", "was on a CPU"):
            said = re.search(rf"{did} in (\d+)(?: episodes)? \((\d+) %\)", text)
            check(said, f"{means}: no share of {did!r}: {text}")
            # A part of an episode's lateness may be too small for a sentence.
            check_between(f"{means}: episodes, {did}", int(said[1]) - sum(did in c for c in causes), -2, 2)
            check_between(f"{means}: per cent, {did}", int(said[2]), 20, 80)


def test_what_the_other_end_did(t):
    """The thread waits at a pipe, a socket or the like. The other end is a thread of the same program."""
    right_in(t, [(means, doing, "thread") for means in FILES for doing in DID])


def test_what_the_other_end_in_another_process_did(t):
    right_in(t, [(means, doing, "process") for means in ("pipe", "unix", "tcp") for doing in DID])


def test_all_formats_and_recordings(t):
    """The same sentence is in the text, the table, the page, and the output from a recording."""
    path, page = t.path("waker.sbt"), t.path("waker.html")
    command = ["--", workload("waker"), "pipe", "no-cpu", "thread", str(ROUNDS)]
    result = t.sbt("record", "-o", path, *command)
    sentence = expected("pipe", "no-cpu", tids_by_name(result.out))
    for form in ([], ["--json"], ["--csv"]):
        text = " ".join(t.sbt("report", "--detail", *form, path).out.split())
        check(re.search(sentence, text), f"{form}: {sentence!r} is not in {text[:2000]}")
        check_in(f"advice {form}", ADVICE["no-cpu"], text)
    t.sbt("report", "--detail", "--html", page, path)
    check(re.search(sentence, read_text(page)), "not on the page")


def test_other_end_that_is_not_traced(t):
    """Only the name of the untraced process is known, and the advice is about input and output."""
    program = t.start([workload("waker"), "pipe", "compute", "process", "150"])
    tracer = t.attach("-p", str(program.pid), "--no-children")
    program.wait()
    trace = tracer.end()
    tids = tids_by_name(program.out)
    cause = trace.barrier()["cause"]
    check(re.search(rf"on a pipe, connected to waker \({tids['waker']}\):", cause["text"]), cause["text"])
    check_in("advice", "Move the input and output out of the phase", trace.barrier()["advice"])


# --- other kinds of programs -----------------------------------------------------------------------------------

BEGIN = """
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
static pthread_barrier_t barrier;
static void compute(double seconds)
{
	struct timespec now;
	double until = 0;
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		if (!until)
			until = now.tv_sec + now.tv_nsec * 1e-9 + seconds;
	} while (now.tv_sec + now.tv_nsec * 1e-9 < until);
}
static void *meet(void *rounds)
{
	for (long i = 0; i < (long)rounds; i++)
		pthread_barrier_wait(&barrier);
	return NULL;
}
"""

# The first thread is late: it waits for a thread that is created for each round.
MADE_ANEW = BEGIN + """
#include <condition_variable>
#include <mutex>
#include <thread>
static std::mutex mutex;
static std::condition_variable changed;
static int ready;
static void help(int round)
{
	compute(0.012);
	std::lock_guard<std::mutex> lock(mutex);
	ready = round;
	changed.notify_all();
}
int main()
{
	pthread_barrier_init(&barrier, nullptr, 3);
	std::thread one(meet, (void *)20), two(meet, (void *)20);
	for (int i = 1; i <= 20; i++) {
		std::thread helper(help, i);
		{
			std::unique_lock<std::mutex> lock(mutex);
			changed.wait(lock, [&] { return ready >= i; });
		}
		helper.join();
		pthread_barrier_wait(&barrier);
	}
	one.join();
	two.join();
}
"""

# The second thread is late: three threads alternately write to its pipe, and sleep many times before.
IN_TURN = BEGIN + """
#define ROUNDS 150
static int asked[3][2], answer[2];
static void *sleeper(void *arg)
{
	struct timespec nap = { 0, 150000 };
	char c;
	while (read(asked[(long)arg][0], &c, 1) == 1) {
		for (int i = 0; i < 80; i++)
			nanosleep(&nap, NULL);
		if (write(answer[1], &c, 1) != 1)
			abort();
	}
	return NULL;
}
static void *late(void *arg)
{
	char c = 'x';
	for (int i = 0; i < ROUNDS; i++) {
		if (write(asked[i % 3][1], &c, 1) != 1 || read(answer[0], &c, 1) != 1)
			abort();
		pthread_barrier_wait(&barrier);
	}
	return arg;
}
int main(void)
{
	pthread_t thread[5];
	pthread_barrier_init(&barrier, NULL, 2);
	if (pipe(answer))
		abort();
	for (long i = 0; i < 3; i++)
		if (pipe(asked[i]) || pthread_create(&thread[i], NULL, sleeper, (void *)i))
			abort();
	pthread_create(&thread[3], NULL, meet, (void *)ROUNDS);
	pthread_create(&thread[4], NULL, late, NULL);
	pthread_join(thread[3], NULL);
	pthread_join(thread[4], NULL);
	return 0;
}
"""

# The first thread is late: each time it makes a pipe, and another thread closes the other end.
CLOSED = BEGIN + """
#define ROUNDS 20
static int asked[2], ends[2];
static void *closer(void *arg)
{
	char c;
	while (read(asked[0], &c, 1) == 1) {
		compute(0.012);
		close(ends[1]);
	}
	return arg;
}
int main(void)
{
	pthread_t thread[2];
	char c = 'x';
	pthread_barrier_init(&barrier, NULL, 2);
	if (pipe(asked))
		abort();
	pthread_create(&thread[0], NULL, closer, NULL);
	pthread_create(&thread[1], NULL, meet, (void *)ROUNDS);
	for (int i = 0; i < ROUNDS; i++) {
		if (pipe(ends) || write(asked[1], &c, 1) != 1 || read(ends[0], &c, 1))
			abort();
		close(ends[0]);
		pthread_barrier_wait(&barrier);
	}
	pthread_join(thread[1], NULL);
	return 0;
}
"""

# The first thread is late: another process answers its requests, and shares its CPU with four similar threads.
SERVED = BEGIN + """
static int ends[2];
static void pin(void)
{
	cpu_set_t set;
	int cpu = CPU_SETSIZE - 1;
	sched_getaffinity(0, sizeof(set), &set);
	while (!CPU_ISSET(cpu, &set))
		cpu--;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}
static void *rival(void *arg)
{
	prctl(PR_SET_NAME, "rival");
	pin();
	for (;;)
		;
	return arg;
}
static void serve(void)
{
	pthread_t thread;
	char c;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "server");
	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, rival, NULL);
	pin();
	while (recv(ends[1], &c, 1, 0) == 1) {
		compute(0.006);
		send(ends[1], &c, 1, 0);
	}
	_exit(0);
}
int main(void)
{
	pthread_t thread;
	pid_t child;
	char c = 'x';
	socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends);
	pthread_barrier_init(&barrier, NULL, 2);
	child = fork();
	if (!child)
		serve();
	pthread_create(&thread, NULL, meet, (void *)25);
	for (int i = 0; i < 25; i++) {
		send(ends[0], &c, 1, 0);
		recv(ends[0], &c, 1, 0);
		pthread_barrier_wait(&barrier);
	}
	pthread_join(thread, NULL);
	kill(child, SIGKILL);
	return 0;
}
"""


def build(t, compiler, source, *flags):
    path, binary = t.path("other.cc" if "std::" in source else "other.c"), t.path("other")
    write_file(path, source)
    subprocess.run([compiler, *flags, "-g", "-pthread", "-o", binary, path], check=True)
    return binary


def says(trace, pattern, advice):
    barrier = max(trace.barriers(family="pthread"), key=lambda b: b["episodes"])
    check(re.search(pattern, barrier["cause"]["text"]), f"{pattern!r} is not in {barrier['cause']['text']}")
    check_in("advice", advice, barrier["advice"])


def test_thread_made_for_one_wait(t):
    binary = build(t, "g++", MADE_ANEW, "-O0")
    says(t.trace([binary]).nothing_lost(), "condition variable [^;]*, woken by other, which was on a CPU", "which computes")


def test_several_threads_in_turn_attached(t):
    program = t.start([build(t, "clang", IN_TURN, "-O2")])
    tracer = t.attach("-p", str(program.pid), "-d", "1")
    says(tracer.end(), "a pipe, connected to other, which was asleep", "which sleeps")


def test_server_without_a_cpu(t):
    binary = build(t, "gcc", SERVED, "-Os")
    says(t.trace([binary]).nothing_lost(),
         r"a socket, connected to server( \(\d+\))?, which itself was waiting for a CPU that rival", "waits for a CPU")


def test_pipes_made_for_one_wait(t):
    binary = build(t, "gcc", CLOSED, "-O2")
    says(t.trace([binary]).nothing_lost(), r"a pipe, connected to other \(\d+\), which was on a CPU", "which computes")


def test_waker_on_the_whole_machine(t):
    """With -a, a thread that crosses no barrier is named, and the advice is about it. Its activity may be unknown."""
    tracer = t.attach("-a", "--comm", "waker", "-d", "2")
    program = t.start([workload("waker"), "pipe", "compute", "thread", "60"])
    program.wait()
    barrier = max(tracer.end().barriers(family="pthread"), key=lambda b: b["episodes"])
    waker = tids_by_name(program.out)["waker"]
    check(re.search(rf"a pipe, connected to waker \({waker}\)", barrier["cause"]["text"]), barrier["cause"]["text"])
    check_in("advice", "The late threads wait inside the phase until another thread", barrier["advice"])
