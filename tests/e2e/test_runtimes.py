# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Go and Java: their own barriers are not traced. Each report says so in one line, in every format, and what to use instead. No
wait inside these runtimes is taken for a barrier."""

import glob
import os
import re
import shutil
import signal
import subprocess

from harness import (SBT, WORKLOADS, Skip, Trace, check, check_equal, check_in, check_not_in, read_csv, read_text, wait_for,
                     workload)

SHARED = True

GO = ("barriers of Go (sync.WaitGroup, errgroup) are not seen, because goroutines are not threads: use go tool trace, or the block "
      "profile of pprof")
JAVA = ("barriers of Java (CyclicBarrier, CountDownLatch, Phaser) are not seen, because its threads wait inside the virtual "
        "machine: use JDK Flight Recorder (event jdk.ThreadPark), or async-profiler")


def java(*arguments):
    workload("JavaWaits.class")
    if not shutil.which("java"):
        raise Skip("there is no java here")
    return ["java", "-Xmx256m", "-cp", WORKLOADS, "JavaWaits", *arguments]


def libjvm():
    found = glob.glob(os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("java")))), "lib", "server", "libjvm.so"))
    if not found:
        raise Skip("java has no libjvm.so where OpenJDK has it")
    return found[0]


def remarks(trace, *kinds):
    return [(r["pid"], r["text"]) for r in trace.all("remark") if not r["interim"] and (not kinds or r["kind"] in kinds)]


def check_unseen(trace, runtime, sentence, program=None, only=True):
    """Check that the report has the sentence, once, and neither a barrier nor advice that cannot help."""
    lines = remarks(trace, "runtime_unseen")
    check_equal("lines", len(lines), 1)
    pid, text = lines[0]
    check(re.fullmatch(rf"process {pid} \((/\S+)\) runs {runtime}: {re.escape(sentence)}", text), text)
    check_in("program", program or "", text)
    check_equal("barriers", trace.barriers(), [])
    check_equal("complete", trace.end["complete"], False)
    check_equal("lost", {k: v for k, v in trace.end["lost"].items() if v}, {})
    # What the machine's own threads do is no candidate, and their work is no spinning that markers could show.
    check_equal("misleading", remarks(trace, "candidate", "spinning_code"), [])
    if only:
        check_equal("other remarks", remarks(trace, "nothing_crossed", "looked_at"), [])
    return pid


def attached(t, command, *options):
    """Attach to the program while it waits for a line, and let it run to its end."""
    p = t.start([*command, "--wait-start"], stdin=subprocess.PIPE)
    wait_for("it is ready", lambda: "ready" in p.out)
    tracer = t.attach("-p", str(p.pid), *options)
    p.write(b"\n")
    result = p.wait()
    check_equal("status", result.rc, 0)
    return p.pid, tracer.end()


def go(name, mode, *options):
    def test(t):
        command = [workload(name), mode]
        trace = t.trace(command, *options)
        check_in("stdout", "go_waits: ok", trace.result.out)
        check_unseen(trace, "Go", GO, name)
        pid, trace = attached(t, command)
        check_equal("pid", check_unseen(trace, "Go", GO, name), pid)
    return test


test_go = go("go_waits", "barriers", "--discover")
test_go_stripped = go("go_waits-stripped", "barriers")
test_go_without_barriers = go("go_waits", "others", "--discover")


def test_java(t):
    for mode, options in (("barriers", ["--discover"]), ("others", [])):
        trace = t.trace(java(mode), *options)
        check_in("stdout", "JavaWaits: ok", trace.result.out)
        check_unseen(trace, "Java", JAVA, "/java")


def test_java_attached(t):
    for mode, options in (("barriers", []), ("others", ["--discover"])):
        pid, trace = attached(t, java(mode), *options)
        check_equal("pid", check_unseen(trace, "Java", JAVA, "/java"), pid)


def test_java_with_parallel_collectors(t):
    """The threads of a collector wait for each other, with semaphores and monitors of the virtual machine."""
    for collector in ("-XX:+UseParallelGC", "-XX:+UseG1GC"):
        command = java("others")
        trace = t.trace([command[0], collector, "-XX:ParallelGCThreads=4", *command[1:]], "--discover")
        check_unseen(trace, "Java", JAVA, "/java")


def test_java_through_a_launcher(t):
    """A shell script starts Java and waits for it, as the scripts of build tools do. The shell is no Java."""
    trace = t.trace(["sh", "-c", " ".join(java("barriers")) + "; exit 0"])
    check_unseen(trace, "Java", JAVA, "/java", only=False)
    check_equal("looked", len(remarks(trace, "nothing_crossed")), 1)


def test_java_inside_a_program(t):
    """A C program opens libjvm.so. The line names the program."""
    java()
    command = [workload("jvm_inside"), libjvm(), WORKLOADS, "JavaWaits", "barriers"]
    trace = t.trace(command)
    check_in("stdout", "JavaWaits: ok", trace.result.out)
    check_unseen(trace, "Java", JAVA, "jvm_inside")
    pid, trace = attached(t, command)
    check_equal("pid", check_unseen(trace, "Java", JAVA, "jvm_inside"), pid)


def test_several_processes(t):
    """One line for each runtime, however many processes it has."""
    waits = workload("go_waits")
    trace = t.trace(["sh", "-c", f"{waits} barriers; {waits} others; {' '.join(java('barriers'))}; exit 0"])
    lines = [text for _, text in remarks(trace, "runtime_unseen")]
    check_equal("lines", len(lines), 2)
    check(re.fullmatch(r"2 processes run Go \(one is \d+, \S+/go_waits\): " + re.escape(GO), lines[0]), lines[0])
    check_in("Java", "runs Java: ", lines[1])


def test_launcher_in_go(t):
    """A Go program executes another program: the report is about the other program only."""
    trace = t.trace([workload("go_waits"), "exec", workload("gen"), "--rounds", "20"]).nothing_lost()
    check_equal("episodes", trace.end["episodes"], 20)
    check_equal("lines", remarks(trace, "runtime_unseen"), [])
    check_equal("complete", trace.end["complete"], True)


def test_with_native_barriers(t):
    """The barriers of C code in a Go program are traced, and the line is there as well."""
    trace = t.trace([workload("gobar")])
    check_equal("episodes", trace.barrier()["episodes"], 300)
    check_equal("lines", len(remarks(trace, "runtime_unseen")), 1)
    check_equal("complete", trace.end["complete"], False)


def test_in_every_format(t):
    """The text, CSV, Markdown and the page have the line, live and from a recording, and -q and stderr do not hide it."""
    recording, out = t.path("recording"), t.path("out")
    command = [workload("go_waits"), "barriers"]
    flat = lambda text: re.sub(r"\s+", " ", text)
    check_equal("live", flat(t.sbt("-q", "--", *command, rc=0).err).count(GO), 1)
    result = t.sbt("record", "-o", recording, "--", *command, rc=0)
    check_equal("record", flat(result.err).count(GO), 1)
    for options in ([], ["--markdown"], ["-q"]):
        t.sbt("report", *options, "-o", out, recording, rc=0)
        check_equal(str(options), flat(read_text(out)).replace("\\", "").count(GO), 1)
    t.sbt("report", "--csv", "-o", out, recording, rc=0)
    check_equal("CSV", [GO in r["text"] for r in read_csv(out) if r["type"] == "remark" and r["kind"] == "runtime_unseen"], [True])
    t.sbt("report", "--json", "-o", out, recording, rc=0)
    check_unseen(Trace(t, out), "Go", GO)
    t.sbt("report", "--html", t.path("page"), "-o", out, recording, rc=0)
    check_in("page", "sync.WaitGroup, errgroup", read_text(t.path("page")))


def test_nothing_about_other_programs(t):
    trace = t.trace([workload("gen"), "--rounds", "20"])
    check_equal("lines", remarks(trace, "runtime_unseen"), [])
    check_equal("complete", trace.end["complete"], True)


def test_signal(t):
    """sbt-trace ends before the program: the line is there."""
    p = t.start([workload("go_waits"), "barriers", "--wait-start"], stdin=subprocess.PIPE)
    wait_for("it is ready", lambda: "ready" in p.out)
    tracer = t.start([SBT, "--detail", "-p", str(p.pid)])
    wait_for("it traces", lambda: "SBT" in tracer.out or "SBT" in tracer.err)
    tracer.signal(signal.SIGINT)
    result = tracer.wait()
    check_in("report", "runs Go: barriers of Go", re.sub(r"\s+", " ", result.out + result.err))
    check_not_in("advice", "spinning", result.out)
    p.write(b"\n")
    check_equal("status", p.wait().rc, 0)
