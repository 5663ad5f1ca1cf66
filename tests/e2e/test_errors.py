# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Errors: a clear sentence, the right exit status, and no harm to the target."""

import os
import random
import shutil
import signal
import subprocess
import time

from harness import (UNPRIVILEGED, SBT, Failure, alone, check, check_all_in, check_between, check_equal, check_in,
                     clean_environment, code_differs, code_of, is_guard, living, read_proc, read_text, stat_of, wait_for,
                     workload, write_file)
from test_pid import PACE

SHARED = True

# --- wrong usage -----------------------------------------------------------------------------------------


def test_usage(t):
    for args, words in (
            (["--no-such-option"], "--no-such-option"),
            (["-Z"], "-Z"),
            (["--duratoin", "3"], "unknown option --duratoin; did you mean --duration?"),
            (["report", "--durration", "3", "x"], "did you mean --duration, an option of trace and record?"),
            (["top", "--jsno"], "did you mean --json, an option of all commands but record and top?"),
            (["hang", "--duartion", "3", "-p", "1"], "did you mean --duration, an option of trace and record?"),
            (["report", "--recrod", "x"], "did you mean --record, an option of trace?"),
            (["top", "--json"], "top has no option --json: it is an option of all commands but record and top (see sbt-trace top"),
            (["report", "-p", "1", "x"], "report has no option -p: it is an option of trace, record, list, hang and top"),
            (["-durration", "3", "true"], "unknown option -durration; did you mean --duration?"),
            (["-duration", "3", "true"], "unknown option -duration; did you mean --duration?"),
            (["-json", "-a"], "unknown option -json; did you mean --json?"),
            (["-dx", "true"], "-d x: a number of seconds above 0 is expected"),
            (["-qx", "true"], "unknown option -x (see"),
            (["--warn", "3"], "option --warn is ambiguous: give one of --warn-time, --warn-every"),
            (["--all=x"], "option --all takes no value"),
            (["--help=x"], "--help or --help=all is expected"),
            (["hang", "--jsno"], "did you mean --json?"),
            (["recrod"], "recrod is neither a command nor a program; did you mean record?"),
            (["no-such-command"], "no-such-command is neither a command nor a program (see sbt-trace --help)"),
            (["-p"], "needs a value"),
            (["--warn-time"], "needs a value"),
            ([], "nothing to trace"),
            (["-W"], "nothing to trace"),
            (["-a", "-p", "1"], "not several"),
            (["-a", "--", "true"], "not several"),
            (["-p", "1", "--", "true"], "not several"),
            (["-p", "x"], "-p x"),
            (["-p", "0"], "-p 0"),
            (["-p", "1,,y"], "-p 1,,y"),
            (["-p", "1,,2"], "-p 1,,2"),
            (["-p", "1,"], "-p 1,"),
            (["-p", ",1"], "-p ,1"),
            (["-p", ""], "the value of -p is empty: a list of process numbers is expected"),
            (["--pid="], "the value of --pid is empty: a list of process numbers is expected"),
            (["-p", "99999999999"], "-p 99999999999"),
            (["--warn-time", "-1", "--", "true"], "--warn-time -1"),
            (["--warn-every", "0", "--", "true"], "--warn-every 0"),
            (["-d", "0", "--", "true"], "-d 0"),
            (["--delay", "x", "--", "true"], "--delay x"),
            (["--name", "x", "--", "true"], "--name x"),
            (["--attach", "magic", "--", "true"], "--attach magic"),
            (["--ring-size", "0", "--", "true"], "--ring-size 0"),
            (["--json", "--", "true"], "-o FILE"),
            (["--csv", "--", "true"], "-o FILE"),
            (["list"], "one of BINARY"),
            (["list", "--json"], "one of BINARY"),
            (["list", "-p", "1,2"], "-p 1,2: one process number is expected"),
            (["list", "-p", "1", "-p", "2"], "one of BINARY"),
            (["list", "--events", "/bin/true"], "one of BINARY"),
            (["list", "--events", "--nonsense"], "--nonsense"),
            (["--json", "--csv", "-a"], "not several"),
            (["--csv", "-o", "/dev/null", "--json", "--", "true"], "not several"),
            (["-u", "nobody", "-a"], "-u"),
            (["--comm", "x", "--", "true"], "--comm"),
            (["--cgroup", "/", "-p", "1"], "--cgroup"),
            (["-a", "--comm", "sixteen-and-more-letters"], "--comm"),
            (["-a", "--no-children"], "--no-children")):
        result = t.sbt(*args, rc=2)
        check_in(f"stderr of {args}", words, result.err)
        check_equal(f"stdout of {args}", result.out, "")


@alone
def test_order_of_options(t):
    """Options of the command are passed to the command."""
    check_equal("status", t.sbt("-o", t.path(), "sh", "-c", "exit 4").rc, 4)
    check_equal("echo", t.sbt("-q", "-o", t.path(), "--", "echo", "-a", "--json", "-p").out,
                "-a --json -p\n")


def test_no_debug_without_a_command(t):
    for target in (["-p", str(os.getpid())], ["-a"]):
        result = t.sbt(*target, env=clean_environment(SBT_NO_DEBUG="1"))
        check_equal("status, stdout", (result.rc, result.out), (0, ""))
        check_in("stderr", "SBT_NO_DEBUG is set: nothing is traced", result.err)


# --- permission ------------------------------------------------------------------------------------------

def test_unprivileged(t):
    os.chmod(t.dir, 0o755)
    copy = t.path("sbt-trace")
    shutil.copy(SBT, copy)
    for target in (["-a"], ["-p", str(os.getpid())], ["--", "touch", t.path("made")]):
        result = t.run(["setpriv", f"--reuid={UNPRIVILEGED}", f"--regid={UNPRIVILEGED}", "--clear-groups",
                        "--inh-caps=-all", copy, *target], rc=1)
        for word in ("not permitted", "CAP_BPF", "CAP_PERFMON", "sudo", "setcap cap_bpf,cap_perfmon=ep"):
            check_in("stderr", word, result.err)
    check(not os.path.exists(t.path("made")), "the command ran all the same")


def test_one_capability_is_missing(t):
    for name, missing in (("perfmon", "CAP_PERFMON"), ("bpf", "CAP_BPF")):
        result = t.run(["setpriv", f"--bounding-set=-{name}", f"--inh-caps=-{name}", SBT, "-a", "-d",
                        "0.1"], rc=1)
        check_all_in("stderr", (missing, "root lacks these capabilities"), result.err)
        check_equal("a word of BPF", "BPF needs" in result.err, missing == "CAP_BPF" and "disabled" in result.err)


# --- output ----------------------------------------------------------------------------------------------

def test_output_cannot_be_opened(t):
    for path in ("/nonexistent/folder/out", "/proc/nothing", t.dir):
        result = t.sbt("-o", path, "--", "touch", t.path("made"), rc=1)
        check_in("stderr", f"cannot write {path}", result.err)
    check(not os.path.exists(t.path("made")), "the command ran all the same")


def test_full_disk(t):
    for form in ([], ["--json"], ["--csv"]):
        result = t.sbt(*form, "-W", "-o", "/dev/full", "--", workload("gen"), "--rounds", "50", rc=1)
        check_in("stderr", "cannot write /dev/full: No space left on device", result.err)
        check_equal("the command", result.out, "gen: rounds=50 threads=4 ok\n")


def test_full_disk_from_the_beginning(t):
    """The full disk ends tracing before any thread has arrived at a barrier. This says nothing about the program."""
    gen = t.gen("--threads", "2", "--rounds", "1000", wait=True)
    result = t.sbt("--detail", "-o", "/dev/full", "-p", str(gen.pid), rc=1)
    check_equal("reported", result.err, "sbt-trace: cannot write /dev/full: No space left on device; the report is not complete\n")
    gen.begin()
    check_equal("gen", gen.wait().rc, 0)


def test_answers_that_cannot_be_written(t):
    for options in (["--help"], ["--version"], ["--json-schema"], ["list", "--help"],
                    ["list", "--events"], ["list", "--events", "--json"]):
        with open("/dev/full", "wb") as full:
            result = t.sbt(*options, stdout=full)
        check_equal(f"status of {options}", result.rc, 1)
        check_in("stderr", "cannot write to stdout: No space left on device", result.err)


def test_help_fits(t):
    for options in (["--help"], ["list", "--help"]):
        check_equal(f"lines of {options} beyond 100 columns",
                    [line for line in t.sbt(*options).out.splitlines() if len(line) > 100], [])


def test_full_disk_later(t):
    """A file system that fills up while the report is written."""
    folder = t.path("small")
    os.mkdir(folder)
    script = f"mount -t tmpfs -o size=16k none {folder} && exec \"$@\""
    result = t.run(["unshare", "-m", "sh", "-c", script, "sh", SBT, "-W", "-o", folder + "/out",
                    "--", workload("gen"), "--rounds", "500"], rc=1)
    check_in("stderr", "No space left on device", result.err)
    check_equal("the command", result.out, "gen: rounds=500 threads=4 ok\n")


@alone
def test_stdout_is_closed_early(t):
    gen = t.gen("--forever", *PACE, wait=True)
    gen.begin()
    p = t.start(["sh", "-c", f"{SBT} --detail -W -p {gen.pid} | head -n 1; true"])
    result = p.wait(15)
    check_in("head", "SBT options", result.out)
    check(gen.alive(), "the target died")
    unharmed(gen.pid)


def test_closed_streams(t):
    """sbt-trace is started without stdin, stdout and stderr. No output may go to the wrong file."""
    path = t.path()
    p = t.start(["sh", "-c", f"exec {SBT} --detail -o {path} -- {workload('gen')} --rounds 20 <&- >&- 2>&-"])
    rc = p.wait().rc
    check_in("status", rc, (0, 1))
    check_in("report", "20 episodes", read_text(path))


# --- commands -----------------------------------------------------------------------------------------

def test_command_not_found(t):
    script, plain = t.path("script"), t.path("plain")
    for path, text in ((script, "#!/no/such/interpreter\n"), (plain, "no program\n")):
        write_file(path, text)
        os.chmod(path, 0o755)
    for command, status, words in (("no-such-command", 127, "command not found"), ("", 127, "command not found"),
                                   ("/no/such/command", 127, "command not found"),
                                   ("/etc/passwd", 126, "Permission denied"), ("/", 126, "Permission denied"),
                                   (script, 126, "its interpreter or loader does not exist"),
                                   (plain, 126, "Exec format error")):
        result = t.sbt("--", command, rc=status)
        check_in("stderr", f"cannot run {command}: {words}", result.err)
        t.sbt("--", command, env=clean_environment(SBT_NO_DEBUG="1"), rc=status)
    t.sbt("record", "-o", t.path(), "no-such-command", rc=127)
    t.sbt("-q", "/no/such/command", "-x", rc=127)
    # As a shell: not executable, and found in PATH.
    check_equal("126", t.sbt("--", "plain", env=clean_environment(PATH=os.path.dirname(plain))).rc, 126)
    os.chmod(plain, 0o644)
    check_equal("126", t.sbt("--", "plain", env=clean_environment(PATH=os.path.dirname(plain))).rc, 126)
    check_equal("127", t.sbt("--", "plain", env=clean_environment(PATH="/no/such")).rc, 127)


def test_command_without_dashes(t):
    """Options after the program's name are the program's, also those that sbt-trace has, and a second --."""
    script = t.path("show-arguments")
    write_file(script, "#!/bin/sh\necho \"$@\"\n")
    os.chmod(script, 0o755)
    env = clean_environment(PATH=f"{os.path.dirname(script)}:{os.environ['PATH']}")
    for name, *before in ((script,), ("show-arguments", "-d", "3"), (os.path.relpath(script), "--duration=3", "-v"), (script, "trace"),
                          ("show-arguments", "record", "-qo", t.path(), "-d", "3")):
        result = t.sbt(*before, name, "-d", "x", "--help", "--", "record", "-o", env=env, rc=0)
        check_equal(f"{before} {name}", result.out, "-d x --help -- record -o\n")


def test_mistyped_command_is_not_run(t):
    """A file of that name in the working directory, or a directory in PATH, does not make it a program."""
    folder = t.path("folder")
    os.makedirs(os.path.join(folder, "in-path", "recrod"))
    made = os.path.join(folder, "made")
    write_file(os.path.join(folder, "reprot"), f"#!/bin/sh\ntouch {made}\n")
    os.chmod(os.path.join(folder, "reprot"), 0o755)
    env = clean_environment(PATH=f"{folder}/in-path:{os.environ['PATH']}")
    for word, nearest in (("reprot", "report"), ("dif", "diff"), ("dcotor", "doctor"), ("hlep", "help"), ("seires", "series")):
        for before in ((), ("-q",), ("-d", "1")):
            result = t.sbt(*before, word, "x", cwd=folder, env=env, rc=2)
            check_equal(word, result.err, f"sbt-trace: {word} is neither a command nor a program; did you mean {nearest}?\n")
    check(not os.path.exists(made), "it was run")
    result = t.sbt("recrod", "x", cwd=folder, env=env)
    check_equal("a directory in PATH", result.rc, 126)
    # A command after options is no program, even if there is one of this name.
    for word in ("record", "top", "diff", "help"):
        result = t.sbt("-q", word, "x", rc=2)
        check_in(word, f"the command {word} must be the first word: sbt-trace {word} [OPTIONS]", result.err)


def test_help_command(t):
    names = [row.split("\t")[1] for row in t.sbt("--help=table").out.splitlines() if row.startswith("command\t")]
    check_in("commands", "help", names)
    for name in names:
        page = t.sbt("help", name, rc=0)
        check_equal(name, (page.out, page.err), (t.sbt(name, "--help", rc=0).out, ""))
        check_in(name, f"Usage: sbt-trace {name}" if name != "trace" else "Usage: sbt-trace [trace]", page.out)
    check_equal("without a command", t.sbt("help", rc=0).out, t.sbt("--help", rc=0).out)
    for words, why in ((["recrod"], "sbt-trace has no command recrod; did you mean record?"),
                       (["zzz"], "sbt-trace has no command zzz (see sbt-trace help)"), (["top", "diff"], "one command is expected"),
                       (["--json"], "help has no option --json")):
        check_in(str(words), why, t.sbt("help", *words, rc=2).err)
    with open("/dev/full", "wb") as full:
        check_in("a full disk", "cannot write to stdout", t.sbt("help", "top", stdout=full, rc=1).err)


def test_no_barrier(t):
    result = t.sbt("--", "/bin/true", rc=0)
    check_all_in("stderr", ("no barrier was crossed", "functions of pthread", " files (--detail lists them)"),
                 " ".join(result.err.split()))
    result = t.sbt("--detail", "--", "/bin/true", rc=0)
    check_all_in("stderr", ("no barrier was crossed", "functions of pthread", "libc.so.6", "/bin/true"), result.err)


def test_no_barrier_in_a_recording(t):
    """Two lines, or three if the threads were busy, and one about the recording. -v prints all."""
    for command in (["/bin/true"], ["/usr/bin/python3", "-c", "import threading"], [workload("not_mutex")]):
        result = t.sbt("record", "-o", t.path(), "--", *command, rc=0)
        check_between("lines", len(result.err.splitlines()), 2, 4)
        check_all_in("stderr", ("no barrier was crossed", " files (sbt-trace report --detail lists them)"), result.err)
    result = t.sbt("record", "-v", "-o", t.path(), "--", "/bin/true", rc=0)
    check_all_in("stderr", ("no barrier was crossed", "/bin/true: has none of these functions"), result.err)


def test_no_barrier_in_a_stripped_static_program(t):
    program = t.path("stripped-static")
    subprocess.run(["cc", "-static", "-s", "-x", "c", "-o", program, "-"], check=True,
                   input=b"int main(void) { return 0; }")
    result = t.sbt("--", program, rc=0)
    check_all_in("stderr", ("static and stripped", "by its code"), result.err)


# --- signals and forced ends ----------------------------------------------------------------------------

def running_gen(t, *options):
    gen = t.gen("--threads", "3", "--forever", *PACE, *options, wait=True)
    gen.begin()
    # The probes of a tracer that was killed before may still be disappearing.
    unharmed(gen.pid)
    return gen


def unharmed(pid):
    """Check that the code of the process equals its files, and that the process is not stopped."""
    wait_for("the code bytes are restored", lambda: code_differs(pid) == 0)
    check_in("state", (stat_of(pid) or "?")[0], "SRD")


def good_end(gen):
    gen.signal(signal.SIGTERM)
    result = gen.wait()
    check_equal("gen", result.rc, 0)
    check_in("gen", "threads=3 ok", result.out)


def by_signal(number, *options):
    def test(t):
        gen = running_gen(t)
        before = code_of(gen.pid)
        tracer = t.attach(*options, "-p", str(gen.pid))
        check(code_of(gen.pid) != before, "no byte of code differs while it is traced")
        time.sleep(0.2)  # some of its rounds
        trace = tracer.stop(number, timeout=10)
        check(code_of(gen.pid) == before, "code bytes are not restored")
        check(trace.end["episodes"] >= 0, "no report")
        check(not trace.process()["exited"], "the target is reported as exited")
        unharmed(gen.pid)
        good_end(gen)
    return test


test_sigint = alone(by_signal(signal.SIGINT))
test_sigterm = alone(by_signal(signal.SIGTERM))
test_sighup = alone(by_signal(signal.SIGHUP))
test_sigint_multi = alone(by_signal(signal.SIGINT, "--attach", "multi"))
test_sigint_perf = alone(by_signal(signal.SIGINT, "--attach", "perf"))
test_sigint_no_children = alone(by_signal(signal.SIGINT, "--no-children"))


@alone
def test_killed(t):
    for options in ([], ["--attach", "multi"], ["--attach", "perf"], ["--no-children"]):
        gen = running_gen(t)
        before = code_of(gen.pid)
        tracer = t.attach(*options, "-p", str(gen.pid))
        check(code_of(gen.pid) != before, "no byte of code differs while it is traced")
        tracer.process.signal(signal.SIGKILL)
        tracer.process.wait()
        wait_for("the code bytes are restored", lambda: code_of(gen.pid) == before)
        unharmed(gen.pid)
        good_end(gen)


@alone
def test_killed_under_a(t):
    gen = running_gen(t)
    tracer = t.attach("-a")
    check(code_differs(gen.pid), "no byte of code differs while it is traced")
    tracer.process.signal(signal.SIGKILL)
    unharmed(gen.pid)
    good_end(gen)


def nobody_is_left_stopped(what, seconds=8):
    """Check that all remaining threads continue until they end by themselves."""
    stopped_since = {}
    end = time.monotonic() + seconds
    while True:
        left = [p for p in living() if not is_guard(p)]
        if not left:
            return
        for pid in left:
            if (stat_of(pid) or "?")[0] != "T":
                stopped_since.pop(pid, None)
            elif time.monotonic() - stopped_since.setdefault(pid, time.monotonic()) > 1.5:
                raise Failure(f"{what}: {read_proc(pid, 'cmdline')!r} was left stopped")
        if time.monotonic() > end:
            raise Failure(f"{what}: still there: "
                          f"{[(p, read_proc(p, 'comm'), stat_of(p), is_guard(p)) for p in left]}")
        time.sleep(0.005)


def killed_at_random_moments(t, command, times, longest, options=()):
    moment = random.Random(4)
    for i in range(times):
        p = t.start([SBT, "-o", t.path(), *options, "--", *command])
        wait = longest * moment.random()
        time.sleep(wait)
        p.signal(signal.SIGKILL)
        p.wait()
        nobody_is_left_stopped(f"run {i}, killed after {wait * 1000:.1f} ms")


def test_killed_while_a_command_starts(t):
    killed_at_random_moments(t, [workload("gen"), "--rounds", "20"], 25, 0.3)


def test_killed_while_many_commands_start(t):
    """Each command is a program that has never run before. It is examined before it is resumed."""
    copies = []
    for i in range(12):
        copies.append(t.path(f"copy{i}"))
        shutil.copy(workload("gen" if i % 2 else "gen-static"), copies[-1])
    script = "; ".join(f"{c} --rounds 5 --threads 2 >/dev/null" for c in copies)
    killed_at_random_moments(t, ["sh", "-c", script], 12, 0.4)


def test_interrupted_while_a_command_starts(t):
    moment = random.Random(5)
    for i in range(12):
        p = t.start([SBT, "-o", t.path(), "--", workload("gen"), "--rounds", "20"])
        wait = 0.25 * moment.random()
        time.sleep(wait)
        p.signal(moment.choice((signal.SIGINT, signal.SIGTERM)))
        p.wait(10)
        nobody_is_left_stopped(f"run {i}, interrupted after {wait * 1000:.1f} ms")


@alone
def test_killed_while_attaching(t):
    moment = random.Random(6)
    gen = running_gen(t)
    before = code_of(gen.pid)
    for i in range(15):
        p = t.start([SBT, "-o", t.path(), "-p", str(gen.pid)])
        time.sleep(0.25 * moment.random())
        p.signal(signal.SIGKILL)
        p.wait()
        wait_for(f"run {i}: the code bytes are restored", lambda: code_of(gen.pid) == before)
    unharmed(gen.pid)
    good_end(gen)


@alone
def test_second_sigint_ends_at_once(t):
    gen = running_gen(t)
    tracer = t.attach("-p", str(gen.pid))
    tracer.process.signal(signal.SIGINT)
    tracer.process.signal(signal.SIGINT)
    tracer.process.wait(5)
    unharmed(gen.pid)
    good_end(gen)


@alone
def test_second_sigint_without_a_reader(t):
    """The output is a full pipe, so the report cannot be written, and the user wants to end."""
    gen = running_gen(t)
    read, write = os.pipe()
    t.at_end(os.close, read)
    p = t.start([SBT, "-W", "-p", str(gen.pid)], stdout=write)
    os.close(write)
    # The write() is blocked: the process sleeps in the kernel's pipe_write.
    wait_for("the pipe is full", lambda: b"pipe" in read_proc(p.pid, "wchan") or
             read_proc(p.pid, "syscall").startswith(b"1 "), 15)
    p.signal(signal.SIGINT)
    time.sleep(0.3)
    p.signal(signal.SIGINT)
    p.wait(5)
    unharmed(gen.pid)
    good_end(gen)


def test_pid_that_ends_while_being_attached_to(t):
    """Many targets are short-lived. sbt-trace always answers, and never crashes or hangs."""
    moment = random.Random(7)
    for _ in range(15):
        gen = t.start([workload("gen"), "--threads", "2", "--rounds", str(moment.randrange(1, 3000))])
        time.sleep(0.05 * moment.random())
        result = t.sbt("-p", str(gen.pid), timeout=10)
        check_in("status", result.rc, (0, 1))
        check(result.rc == 0 or "does not exist, or ended" in result.err, f"stderr: {result.err}")
        gen.wait()


def test_nothing_is_left_behind(t):
    """No process and no file of sbt-trace is left after the end."""
    for _ in range(3):
        t.sbt("-o", t.path("out"), "--", workload("gen"), "--rounds", "10", cwd=t.dir)
        wait_for("the guard ends", lambda: not living(), 3)
    check_equal("files", os.listdir(t.dir), ["out"])
