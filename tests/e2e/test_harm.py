# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Effects that a target and other processes must not notice, and ends at unusual moments."""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import time

from harness import (SBT, Skip, Trace, alone, check, check_equal, check_in, clean_environment, code_in_files, code_of,
                     descendants, function_at, kernel_log, library_of, probes_left_by_kernel, read_proc, shared, stat_of,
                     wait_for, wait_for_probe, workload, write_file)

PAIRED = True


@shared
def test_parent_that_watches_for_stops(t):
    """su stops itself when its child is stopped: only COMMAND itself may be stopped."""
    script = workload("gen-static") + " --threads 2 --rounds 3"
    if not shutil.which("su"):
        raise Skip("no su")
    result = t.sbt("-q", "-o", t.path(), "--", "su", "root", "-s", "/bin/sh", "--session-command",
                   script + "; exit 7", timeout=30, rc=7)
    check_in("output", "rounds=3", result.out)


@shared
def test_ignored_signals_stay_ignored(t):
    """nohup sbt-trace -- job: the job ignores SIGHUP as it would without sbt-trace."""
    result = t.run(["sh", "-c", "trap '' HUP PIPE; exec \"$0\" -q -o \"$1\" -- grep SigIgn /proc/self/status",
                    SBT, t.path()])
    check_in("SigIgn", "1001", result.out)


def test_interim_after_the_report(t):
    """SIGUSR1 arrives after --duration is over. There is nothing to report, and no harm."""
    p = t.start([SBT, "--detail", "-q", "-d", "0.3", "-o", t.path("report"), "--", "sh", "-c", "sleep 2; exit 5"])
    wait_for("the report", lambda: os.path.exists(t.path("report")) and "LOST" in open(t.path("report")).read())
    time.sleep(0.2)
    p.signal(signal.SIGUSR1)
    check_equal("status", p.wait().rc, 5)


@shared
def test_ends_before_the_delay(t):
    trace = t.trace([workload("gen"), "--threads", "2", "--rounds", "3"], "--delay", "5")
    check_equal("episodes", trace.end["episodes"], 0)
    check_in("stderr", "before --delay was over", trace.result.err)


def test_more_threads_than_are_kept(t):
    """72,000 threads run in teams. Threads that ended are combined into sums, and all are counted."""
    trace = t.trace([workload("churn"), "--teams", "18000", "--threads", "4", "--rounds", "1"], timeout=80)
    check_in("churn", "ok", trace.result.out)
    check_equal("lost", trace.end["lost_total"], 0)
    check_equal("episodes", trace.episodes(family="pthread"), 18000)


def test_shared_barrier_before_it_is_touched(t):
    trace = t.trace([workload("shared_fork")])
    check_equal("episodes, incomplete", (trace.end["episodes"], trace.end["incomplete"]), (200, 0))
    rows = trace.barriers()
    check(all(b["participants"] == 4 for b in rows if b["episodes"]), f"participants: {rows}")


@shared
def test_child_not_named(t):
    """A program that COMMAND's words do not name unwinds out of the wait in its first millisecond."""
    for name in ("cancel_cxx", "throw_out"):
        plain = t.run([workload(name)])
        for number in range(4):
            folder = t.path(f"{name}-{number}")
            os.mkdir(folder)
            shutil.copy(workload(name), os.path.join(folder, "program"))
            trace = t.trace(["find", folder, "-name", "program", "-exec", "{}", ";"])
            check_equal(f"{name} as a child", trace.result.out, plain.out)


def copied(trace):
    return [r["text"] for r in trace.all("remark") if r["kind"] == "copied"]


def check_copied(trace, what):
    """Check that the program survived, by its standard output, and that missing data is reported once."""
    check_in(f"output, {what}", ": ok", trace.result.out)
    check_equal(f"remarks, {what}", len(copied(trace)), 1)
    check_in(f"remark, {what}", "replaced", copied(trace)[0])
    check_equal(f"complete, {what}", trace.end["complete"], False)
    check_equal(f"processes that died of it, {what}", [r for r in trace.all("remark") if r["kind"] == "trapped"], [])


@alone
def test_copied_text(t):
    """A program that replaces its text with a copy also copies breakpoints. They are replaced before the program reaches them,
    and a message says so. The test runs alone: another sbt-trace with probes in this program may replace them first."""
    if os.uname().machine != "x86_64":
        raise Skip("such copies are found on x86-64 alone")
    for how in ("private", "shared", "file"):
        command = [workload("copied_text"), how]
        check_equal(f"untraced, {how}", t.run(command).rc, 0)
        check_copied(t.trace(command), how)
    text = " ".join(t.text([workload("copied_text"), "private"]).split())
    check_in("the text report", "runs a copy of code with probes", text)


@alone
def test_copied_text_of_child(t):
    """A child is not stopped to replace them. It may die, and a message reports either outcome."""
    for how in ("private", "shared", "file"):
        path = t.path()
        result = t.sbt("--json", "-o", path, "--", "sh", "-c", '"$@"; exit $?', "sh", workload("copied_text"), how)
        trace = Trace(t, path)
        check_in(f"status, {how}", result.rc, (0, 128 + signal.SIGTRAP))
        died = [r["text"] for r in trace.all("remark") if r["kind"] == "trapped"]
        check_equal(f"processes that died of it, {how}", len(died), int(result.rc != 0))
        check(copied(trace) or died, f"no remark, {how}")
        check_equal(f"complete, {how}", trace.end["complete"], False)


@alone
def test_copied_code(t):
    """The same for a library's text, replaced in all ways, and for a function. A program that only makes code is left alone.
    The test runs alone, because other tracers' breakpoints in the library are copied, too."""
    if os.uname().machine != "x86_64":
        raise Skip("such copies are found on x86-64 alone")
    for how in ("library", "rewritten", "hugepages", "function"):
        check_copied(t.trace([workload("copied_code"), how], "-b", "leaf,count=1"), how)
    trace = t.trace([workload("copied_code"), "compiler"])
    check_equal("episodes, remarks of a compiler", (trace.end["episodes"], copied(trace)), (10, []))
    check_equal("complete", trace.end["complete"], True)


WRITTEN = r"""
#include <pthread.h>
#include <stdio.h>
static pthread_barrier_t barrier;
#ifdef LONG
/* At the address of meet() in the other program: a breakpoint that is left there is inside these instructions. */
__attribute__((noinline)) static unsigned int work(void)
{
	unsigned int x;

	__asm__ volatile("xorl %%eax, %%eax\n.rept 20000\naddl $0x12345678, %%eax\n.endr" : "=a"(x) : : "cc");
	return x;
}
#else
static unsigned int work(void)
{
	return 0;
}
#endif
__attribute__((noinline)) void meet(void)
{
	pthread_barrier_wait(&barrier);
	__asm__ volatile("");
}
static void *run(void *arg)
{
	for (int i = 0; i < 10; i++)
		meet();
	return arg;
}
int main(void)
{
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, run, NULL);
	run(NULL);
	pthread_join(thread, NULL);
	printf("result %x\n", work());
	return 0;
}
"""


def test_program_written_anew(t):
    """Another program is written over a file that has probes (cp). It must not hit them, because other instructions are there."""
    if os.uname().machine != "x86_64":
        raise Skip("the program is written for x86-64")
    source, short, long, program = t.path("written.c"), t.path("short"), t.path("long"), t.path("program")
    write_file(source, WRITTEN)
    for binary, more in ((short, []), (long, ["-DLONG"])):
        subprocess.run(["cc", "-g", "-O1", *more, "-o", binary, source, "-lpthread"], check=True)
    shutil.copy(short, program)
    result = f"result {20000 * 0x12345678 & 0xffffffff:x}\n"
    for how in ([], ["--attach", "perf"]):
        shutil.copyfile(short, program)
        p = t.start([SBT, "-v", "-b", "meet,count=2", *how, "-o", t.path(), "--", "sh", "-c",
                     f"{program}; echo first; read line; {program}"], stdin=subprocess.PIPE)
        wait_for("the first program has run", lambda: "first" in p.out)
        check_in("probes", f"probe: meet in {program}", p.err)
        shutil.copyfile(long, program)
        wait_for("that it is written to is seen", lambda: f"probes of {program} removed: it is written to" in p.err)
        # The kernel takes a while to remove the probes.
        time.sleep(1)
        p.write(b"\n")
        check_equal("status", p.wait(30).rc, 0)
        check_equal("what it wrote", p.out.split("first\n")[1], result)


def test_library_written_to(t):
    """The same for a library while a process uses it. The report says what is not traced from then on."""
    source, library, main, program = t.path("library.c"), t.path("library.so"), t.path("main.c"), t.path("program")
    write_file(source, WRITTEN)
    write_file(main, "#include <stdio.h>\nint ran(void);\nint main(void) { ran(); puts(\"first\"); fflush(stdout); "
                     "getchar(); return ran(); }\n")
    subprocess.run(["cc", "-g", "-O1", "-shared", "-fPIC", "-Dmain=ran", "-o", library, source, "-lpthread"], check=True)
    subprocess.run(["cc", "-g", "-o", program, main, library], check=True)
    p = t.start([SBT, "-v", "-b", "meet,count=2", "--json", "-o", t.path("report"), "--", program],
                stdin=subprocess.PIPE)
    wait_for("it has run once", lambda: "first" in p.out)
    with open(library, "ab") as f:
        f.write(b"\n")
    wait_for("that it is written to is seen", lambda: f"probes of {library} removed: it is written to" in p.err)
    p.write(b"\n")
    check_equal("status", p.wait(30).rc, 0)
    with open(t.path("report"), encoding="utf-8") as f:
        records = [json.loads(line) for line in f]
    check([r for r in records if r["type"] == "remark" and r["kind"] == "unread" and library in r["text"]], "no remark")
    check_equal("complete", records[-1]["complete"], False)


def copy_code(target, tracer, said):
    """Return a program that copies code. It pauses between the copying and the episode."""
    library = library_of(target.pid)
    wait_for_probe(target.pid, library, function_at(library, "pthread_barrier_wait"))
    target.write(b"\n")
    wait_for("what was copied is reported", lambda: said in tracer.err or not target.alive())
    target.write(b"\n")


@alone
def test_copied_code_of_others(t):
    """Processes that are never stopped: an attached one, a child, and an untraced one that hits a probe set for all processes."""
    if os.uname().machine != "x86_64":
        raise Skip("such copies are found on x86-64 alone")
    for how in ("library", "rewritten", "hugepages"):
        command = [workload("copied_code"), how, "--wait"]
        target = t.start(command, stdin=subprocess.PIPE)
        wait_for("it is ready", lambda: "ready" in target.out)
        trace = t.attach("-p", str(target.pid))
        copy_code(target, trace.process, "runs a copy of code")
        check_equal(f"status with -p, {how}", target.wait(20).rc, 0)
        trace.end()
        other = t.gen("--threads", "2", "--work", "fixed:0=5ms", "--work-by", "sleep", "--forever", wait=True)
        trace = t.attach("-v", "-p", str(other.pid))
        target = t.start(command, stdin=subprocess.PIPE)
        wait_for("it is ready", lambda: "ready" in target.out)
        copy_code(target, trace.process, "which is not traced, runs a copy")
        check_equal(f"status of a stranger, {how}", target.wait(20).rc, 0)
        trace.stop()
        other.signal(signal.SIGKILL)


EMULATORS = (["valgrind", "-q"], ["qemu-x86_64"])


def under_emulators(t, command, during):
    for emulator in EMULATORS:
        if not shutil.which(emulator[0]):
            raise Skip(f"no {emulator[0]}")
        t.run([*emulator, *command], rc=0)


def test_emulated_strangers(t):
    """Emulators read the code of the program that they run. A breakpoint in the dynamic linker, which every program has, would
    end them."""
    gen = [workload("gen"), "--threads", "2", "--work", "fixed:0=5ms", "--work-by", "sleep", "--forever", "--alarm", "0"]
    target = t.start(gen)
    # The command does not replace the shell, so there are children, too.
    for name, options in (("COMMAND", ["--", "sh", "-c", '"$@"; exit 3', "sh", *gen]),
                          ("-p", ["-p", str(target.pid)]), ("-a", ["-a"])):
        trace = t.attach("-q", *options)
        if name == "COMMAND":
            wait_for("its child", lambda: b"gen" in [read_proc(c, "comm").strip() for c in descendants(trace.process.pid)])
        under_emulators(t, ["/bin/echo", "hello"], f"traced with {name}")
        under_emulators(t, ["/bin/sh", "-c", "ls / | wc -l"], f"traced with {name}")
        # COMMAND continues when tracing ends.
        left = descendants(trace.process.pid) if name == "COMMAND" else []
        trace.stop()
        for pid in left:
            if read_proc(pid, "comm"):
                os.kill(pid, signal.SIGKILL)


@alone
def test_emulated_stranger_with_barriers(t):
    """Without children, the kernel limits probes to the traced process. With children, the report says where the probes are."""
    target = t.gen("--threads", "2", "--work", "fixed:0=5ms", "--work-by", "sleep", "--forever", wait=True)
    target.begin()
    said = "in every process that ran the probed files"
    trace = t.attach("-p", str(target.pid), "--no-children", form=None)
    under_emulators(t, [workload("gen"), "--threads", "2", "--rounds", "5"], "traced without children")
    check(said not in " ".join(trace.stop().split()), "probes are reported in all processes")
    trace = t.attach("-p", str(target.pid), form=None)
    check_in("the report", said, " ".join(trace.stop().split()))


def test_command_goes_on_when_tracing_fails(t):
    """Memory runs out when tracing begins, while COMMAND is stopped. COMMAND continues all the same."""
    # The program lives until tracing has begun. Otherwise no memory would be needed for it.
    goes_on = "import time; print('it went on', flush=True); time.sleep(3)"
    # sbt-trace gives memory back that it frees, so that what it needs later is new memory.
    env = clean_environment(MALLOC_TRIM_THRESHOLD_="0", MALLOC_MMAP_THRESHOLD_="4096")
    p = t.start([SBT, "-q", "-o", t.path(), "--delay", "1", "--", "sh", "-c", f'sleep 0.5; exec python3 -c "{goes_on}"'],
                env=env)
    # The shell was stopped too, and is running again.
    sleep = wait_for("the shell's child", lambda: [c for c in descendants(p.pid) if
                                                   read_proc(c, "comm") == b"sleep\n"])[0]
    shell = stat_of(sleep)[1]
    p.signal(signal.SIGSTOP)
    wait_for("COMMAND is held", lambda: read_proc(shell, "comm") == b"python3\n" and
             stat_of(shell)[0] == "T")
    resource.prlimit(p.pid, resource.RLIMIT_AS, (4096, 4096))
    time.sleep(1)
    p.signal(signal.SIGCONT)
    result = p.wait(20)
    check_equal("status", result.rc, 1)
    check_equal("COMMAND", result.out, "it went on\n")
    check_in("stderr", "tracing ended early: Cannot allocate memory", result.err)


@alone
def test_killed_as_probes_go_in(t):
    """SIGKILL at the first of several probes: no probe stays. Before each probe the kernel visits all processes that have
    mapped the file, so many such processes prolong the moment."""
    crowd = [t.start([workload("gen"), "--threads", "2", "--work", "fixed:0=20ms", "--work-by", "sleep", "--forever",
                      "--alarm", "0"]) for _ in range(40)]
    target = crowd[0]
    wait_for("the target's threads", lambda: len(os.listdir(f"/proc/{target.pid}/task")) > 2)
    path = library_of(target.pid)
    place = function_at(path, "pthread_barrier_wait")
    rng = random.Random(7)
    before = set(kernel_log())
    for number in range(12):
        sbt = t.start([SBT, "-q", "-o", t.path(), "-p", str(target.pid)])
        wait_for_probe(target.pid, path, place)
        time.sleep(rng.random() * 0.0003)
        sbt.signal(signal.SIGKILL)
        sbt.wait(10)
        wait_for(f"its code is as it was, after kill {number}", lambda: code_of(target.pid) == code_in_files(target.pid), 5)
        check_equal(f"probes that the kernel left, after kill {number}", probes_left_by_kernel(sbt.pid, before), [])
    target.signal(signal.SIGTERM)
    done = target.wait(20)
    check_equal("the target's exit status", done.rc, 0)
    check_in("the target's answer", " ok", done.out)
