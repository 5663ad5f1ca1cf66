# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Named barriers: programs with the markers of include/sbt/sbt.h."""

import difflib
import os
import re
import signal

from harness import (ROOT, check, check_all_in, check_between, check_equal, check_in, check_not_in, read_text, shared,
                     wait_for, workload, write_file)

PAIRED = True

VARIANTS = ["sbtloop", "sbtloop-O0", "sbtloop-lto", "sbtloop-cxx", "sbtloop-cxx-O0",
            "sbtloop-static", "sbtloop-stripped", "sbtloop-musl"]


def lines_of(path, text):
    with open(os.path.join(ROOT, "tests/workloads", path), encoding="utf-8") as f:
        return [n for n, line in enumerate(f, 1) if text in line]


def rows(trace):
    return {b["name"] or b["line"]: b for b in trace.barriers()}


def check_loop(trace, iterations=32, work_ns=6e6):
    """Check every episode, by name, line, kind of barrier and number of thread. The waits must be those that the program
    measured."""
    done, start, end = (rows(trace)[n] for n in ("Done factor diagonal block", "Start", "End"))
    check_equal("families", {b["family"] for b in trace.barriers()}, {"usdt"})
    check_equal("episodes", [b["episodes"] for b in (start, done, end)], [1, iterations, 1])
    check_equal("in all", trace.end["episodes"], 2 * iterations + 2)
    check_equal("loops", sorted(b["line"] for b in trace.barriers() if b["loop"]),
                lines_of("sbtloop.c", 'NL_BARRIER("Done') + lines_of("sbtloop.c", "L_BARRIER;"))
    check_equal("line", done["line"], lines_of("sbtloop.c", 'NL_BARRIER("Done')[0])
    check(done["file"].endswith("sbtloop.c"), done["file"])
    check_equal("threads", [m["index"] for m in done["threads"]], [0, 1, 2, 3])
    own = [int(us) * 1000 for us in
           re.search(r"idle us: ([\d ]+)ok", trace.result.out).group(1).split()]
    for mine, m in zip(own, done["threads"]):
        check_between(f"idle of {m['index']}", m["idle_ns"] / mine, 0.97, 1.001)
    check_between("barrier time", done["barrier_ns"]["mean"], work_ns, work_ns * 1.3)
    return done


def test_loop(t):
    for name in VARIANTS:
        if name == "sbtloop-musl" and not os.path.exists(
                os.path.join(ROOT, "build/workloads", name)):
            continue
        trace = t.trace([workload(name)]).nothing_lost()
        check_loop(trace)
        check_equal(f"{name}: no other", len(trace.barriers()), 4)


@shared
def test_off(t):
    """When compiled without markers, only the bare barrier is left, and it is still traced."""
    trace = t.trace([workload("sbtloop-off")]).nothing_lost()
    check_equal("families", {b["family"] for b in trace.barriers()}, {"pthread"})
    check_equal("episodes", trace.end["episodes"], 66)


def test_attached(t):
    program = t.start([workload("sbtloop"), "--iterations", "200"])
    wait_for("its threads", lambda: len(os.listdir(f"/proc/{program.pid}/task")) >= 4)
    # The program must not end before sbt-trace is attached.
    program.signal(signal.SIGSTOP)
    tracer = t.attach("-p", str(program.pid), "-W")
    program.signal(signal.SIGCONT)
    program.wait()
    trace = tracer.end()
    done = rows(trace)["Done factor diagonal block"]
    check_between("episodes", done["episodes"], 50, 200)
    check_equal("threads", [m["index"] for m in done["threads"]], [0, 1, 2, 3])


def test_block_of_loop_barriers(t):
    """Figure 5.15. Barriers in a loop are not reported each time."""
    text = t.text([workload("sbtloop")])
    line = lines_of("sbtloop.c", 'NL_BARRIER("Done')[0]
    block = re.search(rf'SBT loop barrier in sbtloop\.c:{line} "Done factor diagonal block"\n'
                      r"    Barrier time: +\d+ ms\n    Phase time: +\d+ ms\n"
                      r"    Subphase count: +32\n"
                      r"    Thread idle times: \[ ([\d.]+) ms (\d+) ms (\d+) ms ([\d.]+) ms \]", text)
    check(block, text[:2000])
    waits = [float(w) for w in block.groups()]
    for i, expected in enumerate((96, 192, 192, 96)):
        # On a busy machine, threads that sleep wake late.
        check_between(f"thread {i}", waits[i], expected * 0.95, expected * 1.3)
    check_equal("reported in order of arrival", re.findall(r'^SBT: sbtloop\.c:\d+ "(\w+)"', text, re.M),
                ["Start", "End"])
    check_not_in("each time", "SBT barrier watch", text)


@shared
def test_program_of_the_thesis(t):
    """Figures 3.3, 3.4 and 3.6 of E. Novillo's thesis (University of Alberta, 2002). Options are on the program's own command
    line."""
    program = workload("thesis/pmm")
    first, second = (lines_of("thesis/pmm.c", f'N_BARRIER( "End {n}" )')[0]
                     for n in ("initialization", "multiplication"))
    text = t.text([program, "SBT_WATCH", "End multiplication", "SBT_EVENTS",
                   "task-clock:page-faults"], "-w", "no such")
    check_all_in("options", ("SBT_WATCH        End multiplication", "counter 1: page-faults"), text)
    check(re.search(rf'SBT: pmm\.c:{first} "End initialization"\n    \(barrier: .*, phase 1: .*, '
                    r"from start: ", text), text[:1500])
    # main() may end the process before the other thread has left.
    watch = re.search(rf'SBT barrier watch in pmm\.c:{second} "End multiplication"\n'
                      r".*\n(?:    Note: a thread never returned .*\n)?    Barrier time: .*\n    Phase \(2\) time: .*\n    Total time: .*\n"
                      r"    Order of arrival:\n.*\n +([01]) .*\n +([01]) ", text)
    check(watch, text[:2500])
    check_equal("threads", sorted(watch.groups()), ["0", "1"])
    check_equal("watched once", text.count("SBT barrier watch"), 1)
    for counter in ("task-clock", "page-faults"):
        check_in("counters", counter, text)


@shared
def test_words_win_over_everything(t):
    """The program's own command line has precedence, then sbt-trace's, then the environment. This only concerns programs with
    markers."""
    result = t.sbt("-w", "End", "--", workload("sbtloop"), "SBT_WATCH", "Start",
                   env={**os.environ, "SBT_WATCH": "1"})
    check_equal("watched", re.findall(r'SBT barrier watch in sbtloop\.c:\d+ "(\w+)"', result.err),
                ["Start"])
    result = t.sbt("-w", "End", "--", workload("sbtloop"), env={**os.environ, "SBT_WATCH": "Start"})
    check_equal("watched", re.findall(r'SBT barrier watch in sbtloop\.c:\d+ "(\w+)"', result.err),
                ["End"])
    result = t.sbt("--", "/bin/echo", "SBT_WATCH", "x")
    check_equal("untouched", result.out, "SBT_WATCH x\n")
    check_not_in("not for others", "barrier \"x\" was never crossed", result.err)


def test_phases(t):
    """One thread, no barrier: phases have their names and the right lengths."""
    trace = t.trace([workload("sbtphases")]).nothing_lost()
    found = rows(trace)
    check_equal("episodes", {n: b["episodes"] for n, b in found.items()},
                {"read": 1, "compute": 5, "exchange": 5, "write": 1})
    check_equal("kinds", {b["kind"] for b in found.values()}, {"phase"})
    for name, ms in (("compute", 10), ("exchange", 2), ("write", 1)):
        check_between(name, found[name]["phase_ns"]["mean"], ms * 1e6, ms * 1.3e6 + 3e5)
    check_equal("thread", [m["index"] for m in found["compute"]["threads"]], [7])
    check_equal("no waits", found["compute"]["threads"][0]["wait_ns"], 0)


def test_any_number_of_loop_barriers(t):
    trace = t.trace([workload("sbtloop"), "--extra", "300", "--iterations", "3"]).nothing_lost()
    extra = [b for b in trace.barriers() if b["line"] > 1000]
    check_equal("barriers", len(extra), 300)
    check_equal("episodes", {b["episodes"] for b in extra}, {3})
    check_equal("names", sum(1 for b in extra if b["name"]), 150)


# What a user must change in tests/workloads/lu.c to name its barriers: docs/reference/barriers.md has the number of lines.
CHANGES = [
    ('#include "common.h"\n', '#include "common.h"\n#define SBT_BARRIER  barrier\n'
     '#define SBT_THREADID t->id\n#include "sbt/sbt.h"\n'),
    ("static pthread_barrier_t barrier;", "static sbt_barrier_t *SBT_BARRIER;"),
    ("\t\t\tupdates += update(i, k);\n\t\tsleep_for_updates(updates, began);\n\t\tt->updates += updates;\n"
     "\t\tserial(pthread_barrier_wait(&barrier));\n\t}\n}\n\nONE_COPY static void lu_cyclic",
     "\t\t\tupdates += update(i, k);\n\t\tsleep_for_updates(updates, began);\n\t\tt->updates += updates;\n"
     '\t\tNL_BARRIER("Step, by blocks");\n\t}\n}\n\nONE_COPY static void lu_cyclic'),
    ("\t\tserial(pthread_barrier_wait(&barrier));\n", '\t\tNL_BARRIER("Step, in turn");\n'),
    ("\tserial(pthread_barrier_wait(&barrier));\n", '\tN_BARRIER("Matrix made");\n'),
    ('must(pthread_barrier_init(&barrier, NULL, thread_count), "pthread_barrier_init");',
     "SBT_BARRIER = sbt_init((int)thread_count, argc, argv);"),
    ("\tprint_shares(threads);\n\tif (a)", "\tsbt_finalize();\n\tprint_shares(threads);\n\tif (a)"),
]


@shared
def test_lines_to_change(t):
    before = read_text(os.path.join(ROOT, "tests/workloads/lu.c"))
    after = before
    for old, new in CHANGES:
        check_in("lu.c", old, after)
        after = after.replace(old, new, 1)
    lines = [n for n in difflib.ndiff(before.splitlines(), after.splitlines()) if n[0] == "+"]
    source = t.path("named.c")
    write_file(source, after)
    program = t.path("named")
    made = t.run(["gcc", "-std=gnu11", "-O2", "-I", os.path.join(ROOT, "tests/workloads"), "-I",
                  os.path.join(ROOT, "include"), source, "-o", program, "-lpthread", "-lm"])
    check_equal("compiled", (made.rc, made.err), (0, ""))
    trace = t.trace([program, "--size", "64", "--threads", "3"]).nothing_lost()
    check_equal("episodes", {b["name"]: b["episodes"] for b in trace.barriers()},
                {"Matrix made": 1, "Step, by blocks": 63})
    check_in("docs/reference/barriers.md", f"{len(lines)} lines of `tests/workloads/lu.c`", read_text(os.path.join(ROOT, "docs/reference/barriers.md")))
