# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Programs that start while the whole machine is traced (-a), and end soon. Missed crossings of the first run are counted, and
a later run is traced from its first crossing. Short commands without barriers are not reported as missed."""

import os
import shutil
import signal
import subprocess
import tempfile
import time

from harness import SBT, Skip, check, check_all_in, check_equal, check_in, wait_for, workload

STARTS = ("probed_late", "not_examined")
GEN = ("--threads", "2", "--rounds", "8", "--work", "stair:3ms:1ms", "--work-by", "sleep")


def fresh_copy(t, name):
    """Return a copy of the program that was never run."""
    path = t.path("p-" + name[:12])
    shutil.copy(workload(name), path)
    return path


def episodes_of(trace, pid):
    return sum(b["episodes"] for b in trace.barriers() if b["pid"] == pid)


def check_runs(t, command, episodes, by_shell=False):
    """Check two runs in a row, and one more when everything about the program is known."""
    tracer = t.attach("-a")
    pids = []
    for run in range(3):
        if run == 2:
            time.sleep(1)
        p = t.start(["sh", "-c", '"$@" & echo $!; wait $!', "sh", *command] if by_shell else command)
        result = p.wait(20)
        check_equal("its status", result.rc, 0)
        pids.append(int(result.out.split()[0]) if by_shell else p.pid)
    trace = tracer.stop()
    end = trace.end
    seen = [episodes_of(trace, pid) for pid in pids]
    print(f"{os.path.basename(command[0])}: {seen} of {episodes} episodes; lost: {({k: v for k, v in end['lost'].items() if v})}")
    # The figures of a process that was traced late count from then on.
    for process in trace.processes():
        if process["pid"] in pids and process["episodes"] < episodes:
            check(process["counted_from_ns"] is not None, f"{process['episodes']} episodes, counted from its start")
    # The end of an OpenMP region is one more episode.
    check(seen[2] >= episodes, f"of a program that is known {seen[2]} of {episodes} episodes")
    if min(seen) < episodes:
        check(any(end["lost"][k] for k in STARTS), f"nothing is reported of what is missing: {end['lost']}")
        check(not end["complete"], "reported as complete")


def runs(name, *options, episodes, **how):
    def test(t):
        check_runs(t, [fresh_copy(t, name), *options], episodes, **how)
    return test


test_pthread = runs("gen", *GEN, episodes=8)
test_static = runs("gen-static", *GEN, episodes=8)
test_std_barrier = runs("gen_std", *GEN, episodes=8)
test_openmp = runs("gen_gomp", *GEN, episodes=8)
test_libomp = runs("gen_libomp", *GEN, episodes=8)
test_openmp_by_shell = runs("gen_gomp", *GEN, episodes=8, by_shell=True)


def test_file_that_is_gone(t):
    """A program is deleted as soon as it runs, and ends at once. It has barriers, and is counted."""
    tracer = t.attach("-a")
    for _ in range(3):
        path = fresh_copy(t, "gen-static")
        p = t.start([path, "--threads", "2", "--rounds", "1", "--work", "none"])
        os.unlink(path)
        p.wait(10)
    trace = tracer.stop()
    end = trace.end
    seen = sum(p["episodes"] for p in trace.processes())
    print(f"{seen} of 3 episodes; lost: {({k: v for k, v in end['lost'].items() if v})}")
    check(seen >= 3 or not end["complete"], f"reported as complete with {seen} of 3 episodes")


def test_short_commands(t):
    """Nothing that these commands could have crossed was missed, and nothing is reported as missed."""
    tracer = t.attach("-a")
    for _ in range(20):
        subprocess.run(["sh", "-c", "true; ls / | wc -l; cat /dev/null"], check=True, stdout=subprocess.DEVNULL)
    end = tracer.stop().end
    check_equal("what is reported as missing", {k: v for k, v in end["lost"].items() if v}, {})
    check(end["complete"], "not complete")


BRIEF = ("--threads", "2", "--rounds", "1", "--work", "none")

# Its threads have ended without a page fault of their own, and leave no trace in /proc. The program runs until it reads a line.
LINGERS = """
#include <pthread.h>
#include <stdio.h>
static pthread_barrier_t both;
static void *meet(void *arg)
{
	pthread_barrier_wait(&both);
	return arg;
}
int main(void)
{
	pthread_t thread;

	pthread_barrier_init(&both, 0, 2);
	pthread_create(&thread, 0, meet, 0);
	meet(0);
	pthread_join(thread, 0);
	puts("crossed");
	fflush(stdout);
	return getchar() < 0;
}
"""


# Programs that others run meanwhile are ignored: only programs with this name count.
OWN = f"own-{os.getpid()}"


def own_copy(t, name):
    path = os.path.join(tempfile.mkdtemp(dir=os.path.dirname(t.path())), OWN)
    shutil.copy(workload(name), path)
    return path


def built(t, compiler, source, *flags):
    if not shutil.which(compiler):
        raise Skip(f"there is no {compiler}")
    program = os.path.join(tempfile.mkdtemp(dir=os.path.dirname(t.path())), OWN)
    subprocess.run([compiler, "-O2", *flags, "-x", "c", "-o", program, "-"], input=source.encode(), check=True)
    return program


def while_stopped(t, start, *options, form="--json", then=lambda tracer: time.sleep(0.5)):
    """Return the report of a tracer that is stopped while @start() runs. What ends meanwhile has been missed."""
    tracer = t.attach("-a", "--comm", OWN, *options, form=form)
    tracer.process.signal(signal.SIGSTOP)
    start()
    tracer.process.signal(signal.SIGCONT)
    then(tracer)
    return tracer.stop()


def check_missed(trace, probed_late=1):
    end = trace.end
    check_equal("what is reported as missing", {k: v for k, v in end["lost"].items() if v}, {"probed_late": probed_late})
    check(not end["complete"], "reported as complete")


def test_in_text(t):
    """The text report has the same."""
    program = own_copy(t, "gen-static")
    text = " ".join(while_stopped(t, lambda: [t.run([program, *BRIEF]) for _ in range(2)], form=None).split())
    check_in("report", "2 processes that may have crossed barriers before the probes of their files were attached", text)


def lingers(compiler, *flags):
    def test(t):
        program = built(t, compiler, LINGERS, *flags)

        def start():
            p = t.start([program], stdin=subprocess.PIPE)
            wait_for("its threads have crossed", lambda: "crossed" in p.out)
        check_missed(while_stopped(t, start))
    return test


test_threads_that_are_over = lingers("gcc", "-static", "-pthread")
test_threads_that_are_over_musl = lingers("musl-gcc", "-static")
test_threads_that_are_over_static_pie = lingers("gcc", "-static-pie", "-pthread")


def test_program_that_is_removed(t):
    """The program has run, and is removed before it could be opened."""
    def start():
        for name in ("gen-static", "gen-musl-static"):
            program = own_copy(t, name)
            t.run([program, *BRIEF])
            os.unlink(program)
    check_missed(while_stopped(t, start), 2)


def test_program_in_a_file_system_that_is_gone(t):
    """The same in a separate mount namespace, as for a container."""
    program = own_copy(t, "gen-static")
    script = f"mount -t tmpfs none /mnt && cp {program} /mnt/{OWN} && /mnt/{OWN} {' '.join(BRIEF)}"
    check_missed(while_stopped(t, lambda: t.run(["unshare", "-m", "sh", "-c", script])))


def test_one_thread_misses_nothing(t):
    """A program with barriers that creates no thread has no episode, whether it is examined in time or not."""
    source = "#include <pthread.h>\nint main(void)\n{\n\tpthread_barrier_t b;\n\n\treturn pthread_barrier_init(&b, 0, 1) ||" \
             " !pthread_barrier_wait(&b);\n}\n"
    program = built(t, "gcc", source, "-static", "-pthread")
    end = while_stopped(t, lambda: check_equal("its status", t.run([program]).rc, 0)).end
    check_equal("what is reported as missing", {k: v for k, v in end["lost"].items() if v}, {})


def test_program_at_the_end(t):
    """The program runs, and tracing ends before it was examined."""
    program = own_copy(t, "gen-static")
    tracer = t.attach("-a", "--comm", OWN)
    tracer.process.signal(signal.SIGSTOP)
    t.run([program, *BRIEF])
    tracer.process.signal(signal.SIGINT)
    tracer.process.signal(signal.SIGCONT)
    check_missed(tracer.end())


def test_another_program_after_it(t):
    """A program that executes another program after its threads have crossed a barrier."""
    source = LINGERS.replace("return getchar() < 0", 'return execl("/bin/true", "true", (char *)0)')
    program = built(t, "gcc", "#include <unistd.h>\n" + source, "-static", "-pthread")
    check_missed(while_stopped(t, lambda: t.run([program])))


def test_written_anew(t):
    """A file that was examined is overwritten with another program."""
    tracer = t.attach("-a", "--comm", OWN, "-v")
    program = own_copy(t, "gen-static")
    pids = []
    for name in ("gen-static", "gen-musl-static", "gen-nopie"):
        with open(workload(name), "rb") as source, open(program, "wb") as f:
            f.write(source.read())
        os.chmod(program, 0o755)
        before = tracer.process.err.count(f" in {program} at ")
        gen = t.start([program, "--threads", "2", "--rounds", "200", "--work", "stair:1ms:100us", "--wait-start"],
                      stdin=subprocess.PIPE)
        wait_for("gen is ready", lambda gen=gen: "ready" in gen.out)
        if name != "gen-nopie":
            wait_for("its probes", lambda before=before: tracer.process.err.count(f" in {program} at ") > before)
        gen.write(b"\n")
        check_equal("its status", gen.wait(20).rc, 0)
        pids.append(gen.pid)
    trace = tracer.stop()
    rows = [trace.process(pid=pid) for pid in pids]
    missed = trace.end["lost"]["not_examined"]
    print(f"{[p['episodes'] for p in rows]} of 200 episodes, {missed} crossings missed")
    check(all(rows), "one of them was not seen")
    # The probes exist a moment before it is known how to trace the program.
    check(sum(p["crossings"] for p in rows) + missed >= 3 * 2 * 200, "crossings are missing, and not counted")


def begin_unseen(t, program, *options, form="--json", more=()):
    """Start a program while the tracer is stopped. During its first half second, the tracer cannot find out how to trace the
    program."""
    tracer = t.attach("-a", "--comm", os.path.basename(program), *more, form=form)
    # The C library has its probes: crossings are refused, and counted.
    tracer.process.signal(signal.SIGSTOP)
    p = t.start([program, *options])
    time.sleep(0.5)
    tracer.process.signal(signal.SIGCONT)
    check_equal("its status", p.wait(30).rc, 0)
    return tracer, p


def check_counted_late(process, end, expected):
    at = process["counted_from_ns"]
    efficiency = process["efficiency"]["parallel"]
    print(f"{process['episodes']} episodes, counted from {at} ns, PE {efficiency}, expected {expected}: {process['verdict']}")
    check(at is not None and not process["start_seen"], f"counted from {at}, start_seen {process['start_seen']}")
    check(abs(efficiency - expected) < 0.06, f"PE {efficiency}, not {expected}")
    check("Balanced" not in process["verdict"], process["verdict"])
    check_in("verdict", "first crossings were not recorded", process["verdict"])
    check(not end["complete"], "reported as complete")


def test_figures_of_a_late_process(t):
    """Waits that were not recorded are not counted as work: the figures of the process begin with its first recorded crossing."""
    uneven = ("--threads", "2", "--rounds", "80", "--work", "stair:5ms:10ms", "--work-by", "sleep")
    tracer, p = begin_unseen(t, fresh_copy(t, "gen"), *uneven)
    trace = tracer.stop()
    process = trace.process(pid=p.pid)
    # The threads work for 5 and 15 ms.
    check_counted_late(process, trace.end, 20 / 30)
    check(process["episodes"] < 80, "nothing was missed")
    check(process["elapsed_ns"] < 80 * 15e6, f"elapsed: {process['elapsed_ns']}, with what was not seen")
    found = [f for f in trace.all("finding") if f["kind"] == "counted_from"]
    check_equal("findings", [f["pid"] for f in found], [p.pid])
    even = ("--threads", "2", "--rounds", "80", "--work", "stair:15ms:0ms", "--work-by", "sleep")
    tracer, p = begin_unseen(t, fresh_copy(t, "gen"), *even)
    trace = tracer.stop()
    check_counted_late(trace.process(pid=p.pid), trace.end, 1)


def test_sums_of_a_late_process(t):
    """The same for sums that the kernel keeps."""
    tracer, p = begin_unseen(t, fresh_copy(t, "gen"), "--threads", "2", "--rounds", "80", "--work", "stair:5ms:10ms", "--work-by",
                             "sleep", more=("--aggregate",))
    trace = tracer.stop()
    check_counted_late(trace.process(pid=p.pid), trace.end, 20 / 30)


def test_late_in_text(t):
    """The same in the text report, and from a recording."""
    tape = t.path("late.sbt")
    tracer, _ = begin_unseen(t, fresh_copy(t, "gen"), "--threads", "2", "--rounds", "60", "--work", "stair:5ms:10ms",
                             "--work-by", "sleep", form=None)
    text = " ".join(tracer.stop().split())
    check_all_in("report", ("Its first crossings were not recorded", "count from its first recorded crossing"), text)
    program = fresh_copy(t, "gen")
    record = t.start([SBT, "record", "-q", "-o", tape, "-a", "--comm", os.path.basename(program), "-d", "3"])
    time.sleep(1.5)
    record.signal(signal.SIGSTOP)
    t.start([program, "--threads", "2", "--rounds", "60", "--work", "stair:5ms:10ms", "--work-by", "sleep"])
    time.sleep(0.5)
    record.signal(signal.SIGCONT)
    record.wait(20)
    text = " ".join(t.run([SBT, "report", "--detail", tape]).out.split())
    check_in("report of a recording", "Its first crossings were not recorded", text)


def test_first_crossings_of_a_child(t):
    """A child of COMMAND crosses a barrier before its program is known."""
    program = fresh_copy(t, "gen-static")
    trace = t.trace(["sh", "-c", f"{program} --threads 2 --rounds 30 --work stair:5ms:10ms --work-by sleep; true"])
    process = trace.processes()[0]
    lost = trace.end["lost"]["not_examined"]
    print(f"{process['episodes']} episodes, not_examined {lost}, counted from {process['counted_from_ns']}, "
          f"PE {process['efficiency']['parallel']}")
    check(bool(lost) == (process["counted_from_ns"] is not None), "what is missing, and from when it counts")
