# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Measure each BPF program of sbt-trace with the kernel's own statistics: the number of hits, the time of a hit, and the share of
the traced program's CPU time. A regression can then be attributed to a program.

The time of a hit is that of the BPF program alone, with one reading of the clock. It does not include the trap of the probe or
what the kernel does around the program. A session program (Linux 6.13 and later) is hit twice in a crossing: at entry and at
return. Programs on the scheduler's events and on page faults are hit by every thread of the machine, so their share includes hits
that other processes pay for."""
import contextlib
import ctypes
import glob
import json
import os
import platform
import signal
import subprocess
import tempfile
import time
from typing import NamedTuple

from common import ENV, SBT, last_object, workload

WARM_SECONDS = 1  # until the probes of a new program are attached
SECONDS = 4
BPF_ENABLE_STATS, BPF_STATS_RUN_TIME = 32, 0
BPF_SYSCALL = {"x86_64": 321, "aarch64": 280}


class Ran(NamedTuple):
    hits: int = 0
    ns: int = 0


@contextlib.contextmanager
def statistics():
    """Let the kernel count the hits and the time of all BPF programs. The kernel stops when the descriptor is closed, even if
    this process is killed, and leaves kernel.bpf_stats_enabled as it was."""
    libc = ctypes.CDLL(None, use_errno=True)
    attr = ctypes.create_string_buffer(BPF_STATS_RUN_TIME.to_bytes(4, "little"), 128)
    fd = libc.syscall(BPF_SYSCALL[platform.machine()], BPF_ENABLE_STATS, attr, len(attr))
    if fd < 0:
        raise OSError(ctypes.get_errno(), "bpf(BPF_ENABLE_STATS)")
    try:
        yield
    finally:
        os.close(fd)


def read_programs(pid, proc="/proc"):
    """Return id -> Ran, since they were loaded, of all BPF programs that the process has open. Several descriptors may refer to
    one program. Links also have a prog_id, but no run_cnt."""
    programs = {}
    for path in glob.glob(f"{proc}/{pid}/fdinfo/*"):
        try:
            with open(path, encoding="ascii") as f:
                fields = dict(line.split(":", 1) for line in f if ":" in line)
        except OSError:
            continue  # closed meanwhile
        if "run_cnt" in fields:
            programs[int(fields["prog_id"])] = Ran(int(fields["run_cnt"]), int(fields["run_time_ns"]))
    return programs


def program_names():
    """Return id -> name of all BPF programs of the machine. bpftool reads the name from BTF: the kernel's own name for a program
    has 15 characters at most."""
    shown = subprocess.run(["bpftool", "prog", "show", "--json"], capture_output=True, text=True, check=True).stdout
    return {program["id"]: program.get("name", "") for program in json.loads(shown)}


def by_name(before, after, names):
    """Return name -> Ran between two readings, the longest time first. Programs of the same name are added up."""
    total = {}
    for number, ran in after.items():
        old, name = before.get(number, Ran()), names.get(number) or f"id {number}"
        so_far = total.get(name, Ran())
        if ran.hits > old.hits:
            total[name] = Ran(so_far.hits + ran.hits - old.hits, so_far.ns + ran.ns - old.ns)
    return dict(sorted(total.items(), key=lambda item: -item[1].ns))


def cpu_ns(pid):
    """Return the CPU time of a process."""
    return time.clock_gettime_ns(~pid << 3 | 2)  # the process's clock, as clock_getcpuclockid() returns it


def traced_process(tracer, program):
    """Return the number of the child of sbt-trace that runs the program."""
    deadline = time.monotonic() + 20
    while tracer.poll() is None and time.monotonic() < deadline:
        with open(f"/proc/{tracer.pid}/task/{tracer.pid}/children", encoding="ascii") as f:
            for pid in map(int, f.read().split()):
                with contextlib.suppress(OSError):
                    if os.path.samefile(f"/proc/{pid}/exe", program):
                        return pid
        time.sleep(0.01)
    raise RuntimeError("sbt-trace did not start %s" % program)


def measure(argv):
    """Trace a program. Return name -> Ran and the CPU time of the program within SECONDS, and sbt-trace's end record."""
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))
    with tempfile.NamedTemporaryFile() as out:
        tracer = subprocess.Popen([SBT, "-q", "--json", "-o", out.name, "--", "taskset", "-c", cpus, *argv],
                                  stdout=subprocess.DEVNULL, env=ENV)
        pid = 0
        try:
            pid = traced_process(tracer, argv[0])
            time.sleep(WARM_SECONDS)
            before, cpu_before = read_programs(tracer.pid), cpu_ns(pid)
            time.sleep(SECONDS)
            after, cpu_after = read_programs(tracer.pid), cpu_ns(pid)
            names = program_names()
            os.kill(pid, signal.SIGTERM)
            tracer.wait(timeout=60)
        finally:
            # After SIGINT, sbt-trace removes its probes, but its command continues.
            if tracer.poll() is None:
                if pid:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                tracer.send_signal(signal.SIGINT)
                tracer.wait(timeout=60)
        with open(out.name, encoding="utf-8") as f:
            end = json.loads(f.readlines()[-1])
    return by_name(before, after, names), cpu_after - cpu_before, end


def table(programs, cpu):
    """Return the lines of a table."""
    lines = ["    %-24s %12s %12s %22s" % ("BPF program", "hits", "ns per hit", "share of CPU time")]
    for name, ran in programs.items():
        lines.append("    %-24s %12d %12.0f %20.2f %%" % (name, ran.hits, ran.ns / ran.hits, 100 * ran.ns / cpu))
    lines.append("    %-24s %12d %12s %20.2f %%" % ("all", sum(ran.hits for ran in programs.values()), "",
                                                    100 * sum(ran.ns for ran in programs.values()) / cpu))
    return lines


def traced_programs():
    """Return description -> command. Each program runs until it is terminated, or for longer than it is measured."""
    per_ms = last_object(subprocess.run([workload("bench_phases"), "--calibrate"], capture_output=True, text=True,
                                        check=True).stdout)["steps_per_ms"]
    back_to_back = [workload("bench_crossing"), "--seconds", "60", "--threads"]
    return {"pthread barrier, one thread back to back": [*back_to_back, "1"],
            "pthread barrier, four threads on two CPUs": [*back_to_back, "4"],
            "OpenMP of GCC, two threads": [workload("gen_gomp"), "--threads", "2", "--forever"],
            "OpenMP of LLVM, two threads": [workload("gen_libomp"), "--threads", "2", "--forever"],
            "barrier on a condition variable, four threads": [workload("gen_cond"), "--threads", "4", "--forever"],
            "pthread barrier, two threads, phases of 1 ms": [workload("bench_phases"), "--threads", "2", "--rounds", "60000",
                                                             "--steps", str(int(per_ms))]}


def bench_programs():
    """Print a table for each traced program. Nothing is compared with a bound: the tables of two builds are."""
    with statistics():
        for text, argv in traced_programs().items():
            programs, cpu, end = measure(argv)
            print("%s: CPU time %.2f s in %d s; of %d crossings in all, %d lost" %
                  (text, cpu / 1e9, SECONDS, end["produced"], end["lost_total"]))
            print("\n".join(table(programs, cpu)), flush=True)
