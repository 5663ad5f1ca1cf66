# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""All attach methods give the same answers. Programs that a return probe would break print the same as without tracing, with
any method."""

import os
import re
import signal
import subprocess

from harness import alone, check, check_all_in, check_between, check_equal, check_in, check_not_in, genlog, workload
from test_command import GEN, answers
from test_pid import PACE, all_found, traced_gen

SHARED = True

METHODS = ("session", "multi", "perf")


def by_every_method(one):
    def test(t):
        for method in METHODS:
            one(t, method)
    return test


def check_method(trace, method):
    check_equal("method", {p["method"] for p in trace.session["probes"]} or {method}, {method})


def command(t, method):
    trace = t.trace([workload("gen"), *GEN], "--attach", method)
    check_method(trace, method)
    answers(trace)


def static(t, method):
    for name in ("gen-static", "gen-musl", "gen-musl-static"):
        answers(t.trace([workload(name), *GEN], "--attach", method))


def pid(t, method):
    trace, log = traced_gen(t, ["--threads", "4", "--rounds", "100", *PACE],
                            ("-W", "--attach", method))
    check_method(trace, method)
    all_found(trace, log)


def children(t, method):
    trace = t.trace([workload("fork_children")], "--attach", method).nothing_lost()
    found = [trace.episodes(family="pthread", pid=p["pid"]) for p in trace.processes()]
    check_equal("episodes", sorted(n for n in found if n), [70, 100, 100, 200, 300])


def no_children(t, method):
    trace = t.trace([workload("fork_children")], "--attach", method, "--no-children")
    check_method(trace, method)
    check_equal("episodes", trace.nothing_lost().episodes(family="pthread"), 100)
    trace = t.trace([workload("gen"), *GEN], "--attach", method, "--no-children")
    answers(trace)


def system(t, method):
    tracer, log = t.attach("-a", "-W", "--attach", method), t.path()
    gen = t.gen("--rounds", "300", *PACE, "--log", log)
    gen.wait()
    trace, log = tracer.stop(), genlog.Log(log).episodes()
    check_method(trace, method)
    # No process is stopped. What it crossed before it was known how to trace it is counted; how much that is depends on the
    # machine.
    check_equal("barriers", len(trace.barriers(pid=gen.pid)), 1)
    found = [e for e in trace.all("episode") if e["pid"] == gen.pid and e["state"] == "complete"]
    check_between("episodes", len(found), len(log) if trace.end["complete"] else 1, len(log))
    # From there on all episodes are found.
    for e, known in zip(found, log[-len(found):]):
        release = trace.session["clock_start_ns"] + max(m["arrive_ns"] for m in e["threads"])
        check_between("release, by the program's clock", release, max(c.arrive for c in known.crossings),
                      min(c.depart for c in known.crossings))


test_command = by_every_method(command)
test_static_and_musl = by_every_method(static)
test_pid = alone(by_every_method(pid))
test_children = by_every_method(children)
test_no_children = by_every_method(no_children)
test_system = alone(by_every_method(system))


# --- programs that a return probe would break ---------------------------------------------------------

# name: (complete episodes, crossings that never depart)
UNWINDING = {"cancel_async": (60, 20), "cancel_cxx": (60, 20), "longjmp_out": (20, 20),
             "throw_out": (20, 20), "gobar": (300, 0)}


def check_unwound(trace, name):
    """Check that a program of UNWINDING is traced completely."""
    episodes, abandoned = UNWINDING[name]
    (process,) = [p for p in trace.processes() if p["episodes"] and p["comm"] == name]
    barriers = [b for b in trace.barriers(pid=process["pid"]) if b["episodes"]]
    check_equal("episodes", (process["episodes"], sum(b["episodes"] for b in barriers)), (episodes, episodes))
    check_equal("abandoned", process["abandoned"], abandoned)
    # None of the twenty barriers of a single thread may count as an episode, or as an imbalance.
    check_equal("participants", {b["participants"] for b in barriers}, {2})
    return process


def unwinding(name, options):
    def test(t):
        plain = t.run([workload(name)], rc=0)
        for method in METHODS:
            trace = t.trace([workload(name)], "--attach", method, *options)
            check_method(trace, method)
            check_equal(f"stdout under {method}", trace.result.stdout, plain.stdout)
            check_equal(f"episodes under {method}", trace.end["episodes"], UNWINDING[name][0])
            check_unwound(trace.nothing_lost(), name)
    return test


test_cancel_async = unwinding("cancel_async", [])
test_cancel_cxx = unwinding("cancel_cxx", [])
test_longjmp_out = unwinding("longjmp_out", [])
test_throw_out = unwinding("throw_out", [])
test_gobar = unwinding("gobar", [])
test_cancel_async_no_children = unwinding("cancel_async", ["--no-children"])
test_throw_out_no_children = unwinding("throw_out", ["--no-children"])
test_gobar_no_children = unwinding("gobar", ["--no-children"])


def check_go(err, process):
    """Check that the report gives the reason for the absence of return probes."""
    check_in("stderr", "Go", err)
    check_in("stderr", "return probe", err)
    check_in("departures", "ret instructions", process["departures"])


def test_gobar_says_why(t):
    trace = t.trace([workload("gobar")])
    check_go(trace.result.err, trace.process())
    check_equal("function", trace.barrier()["function"], "cross")


def test_gobar_by_pid(t):
    """The tracer attaches to the program instead of starting it, and takes the same care."""
    script = f"read x; exec {workload('gobar')}"
    p = t.start(["sh", "-c", script], stdin=subprocess.PIPE)
    tracer = t.attach("-p", str(p.pid))
    p.write(b"\n")
    result = p.wait()
    check_equal("gobar", (result.rc, result.out), (0, "gobar: rounds=300 threads=2 ok\n"))
    trace = tracer.end()
    # With -p no process is stopped. What it does before its new program is known is counted as lost.
    check(trace.end["episodes"] <= 300, f"{trace.end['episodes']} episodes of 300")
    if trace.end["lost"]["not_examined"] == 0:
        check_equal("episodes", trace.end["episodes"], 300)
    check_equal("crossings seen and lost", trace.end["produced"], 600)


@alone
def test_under_a_too(t):
    """With -a programs start without notice: the first crossings precede the examination."""
    for name, (episodes, _) in UNWINDING.items():
        plain = t.run([workload(name)])
        tracer = t.attach("-a")
        for _ in range(3):
            traced = t.run([workload(name)])
            check_equal(f"{name} under -a", (traced.rc, traced.stdout), (plain.rc, plain.stdout))
        trace = tracer.stop()
        found = [p["episodes"] for p in trace.processes() if p["comm"].startswith(name[:15])]
        # The first crossings of a program that is new to -a may be missed. Then they are counted.
        if trace.end["lost"]["not_examined"] == 0:
            check_equal(f"episodes of {name}", found[-1:], [episodes])
        check(all(n <= episodes for n in found), f"episodes of {name}: {found}")


def test_plain_programs_get_return_probes(t):
    """Only programs that need it get the expensive method. Departures of a C program are detected by return probes."""
    for options, departures in (([], "inference where possible, else return probe"),
                                (["--departures", "seen"], "return probe")):
        trace = t.trace([workload("gen"), *GEN], *options)
        check_equal(f"departures {options}", trace.process()["departures"], departures)
        check_not_in("stderr", "return probe", trace.result.err)
    check(trace.session["probes"], "no probes in the session record")


# A user's own barrier function of unknown size. Its ends cannot be determined. The program notices if its return address is
# changed.
NO_SIZE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

int pthread_barrier_wait(pthread_barrier_t *b)
{
	Dl_info info;

	(void)b;
	puts(dladdr(__builtin_return_address(0), &info) ? "untouched" : "hijacked");
	return 0;
}
"""
CALLS_IT = r"""
#include <pthread.h>
#include <stdio.h>

int main(void)
{
	pthread_barrier_t b;
	int old;

	setvbuf(stdout, NULL, _IOLBF, 0);
#ifdef CANCEL
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
#endif
	(void)old;
	getchar();
	pthread_barrier_init(&b, NULL, 1);
	for (int i = 0; i < 3; i++)
		pthread_barrier_wait(&b);
	return 0;
}
"""


def build_without_size(t, *options):
    """Return the program. Its library is in the same folder."""
    folder = t.path()
    os.mkdir(folder)
    lib, program = os.path.join(folder, "libnosize.so"), os.path.join(folder, "program")
    asm = subprocess.run(["cc", "-x", "c", "-O2", "-fPIC", "-fno-asynchronous-unwind-tables", "-S", "-o",
                          "-", "-"], check=True,
                         input=NO_SIZE, text=True, stdout=subprocess.PIPE).stdout
    asm, n = re.subn(r"(?m)^\s*\.size\s+pthread_barrier_wait.*\n", "", asm)
    check_equal("sizes removed", n, 1)
    subprocess.run(["cc", "-x", "assembler", "-shared", "-o", lib, "-"], check=True, input=asm,
                   text=True)
    subprocess.run(["cc", "-x", "c", "-O2", *options, "-o", program, "-", "-x", "none", lib,
                    f"-Wl,-rpath,{folder}"], check=True, input=CALLS_IT, text=True)
    return program


def says_when_traced(t, program, *options):
    """Return what the program prints about its return addresses, and sbt-trace's messages."""
    p = t.start([program], stdin=subprocess.PIPE)
    tracer = t.attach("-p", str(p.pid), *options)
    p.write(b"\n")
    out = p.wait().out
    trace = tracer.end()
    check_equal("calls", len(out.split()), 3)
    return set(out.split()), trace.result.err


def test_unknown_exits_get_no_return_probe(t):
    plain, cancel = build_without_size(t), build_without_size(t, "-DCANCEL")
    # If a return probe is allowed, the program notices it.
    check_equal("session", says_when_traced(t, plain, "--attach", "session")[0], {"hijacked"})
    for method in METHODS:
        if method != "session":
            for options in ([], ["--no-children"]):
                said, err = says_when_traced(t, plain, "--attach", method, *options)
                check_equal(f"{method} {options}", said, {"untouched"})
                check_in("stderr", "where it returns is unknown (the function's size is unknown)", err)
        said, err = says_when_traced(t, cancel, "--attach", method, "--no-children")
        check_equal(f"may be cancelled, {method}", said, {"untouched"})
        check_all_in("stderr", ("its exits are unknown", "is not traced"), err)


@alone
def test_others_get_no_return_probe(t):
    """When a thread hits a probe at an address, the kernel gives it the return probes of all tracers at this address. A program
    that throws through a barrier must get none, whatever other programs are traced meanwhile, and how."""
    gen = t.gen("--threads", "2", "--rounds", "1000000", *PACE)
    plain = t.run([workload("throw_out")])
    for other in METHODS:
        tracer = t.attach("-p", str(gen.pid), "--no-children", "--attach", other)
        for method in METHODS:
            trace = t.trace([workload("throw_out")], "--attach", method)
            check_equal(f"throw_out by {method} beside {other}", (trace.result.rc, trace.result.stdout), (plain.rc, plain.stdout))
            check_unwound(trace.nothing_lost(), "throw_out")
        tracer.stop()
    gen.signal(signal.SIGKILL)
    gen.wait()


@alone
def test_each_of_two_by_its_own_probes(t):
    """The same with two programs of one tracer."""
    plain = t.run([workload("throw_out")])
    for method in METHODS:
        gen = t.gen("--threads", "2", "--rounds", "1000000", *PACE)
        p = t.start(["sh", "-c", f"read x; exec {workload('throw_out')}"], stdin=subprocess.PIPE)
        tracer = t.attach("-p", str(gen.pid), "-p", str(p.pid), "--no-children", "--attach", method)
        p.write(b"\n")
        result = p.wait()
        check_equal(f"throw_out by {method}", (result.rc, result.stdout), (plain.rc, plain.stdout))
        tracer.stop()
        gen.signal(signal.SIGKILL)
        gen.wait()
