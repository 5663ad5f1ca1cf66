# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""What other people's files and programs may cost the tracer: memory for a recording, time for a name, rights of the child."""

import ctypes
import os
import signal
import stat
import struct
import subprocess
import zlib

from harness import SBT, check, check_equal, check_in, wait_for, workload

SHARED = True

HEADER = struct.Struct("<IHHIIQII")
PACKED, INPUTS, INPUT, PROCESS, THREAD, KNOWN = 1, 2, 18, 2, 3, 16
BLOCK = 1 << 19


def number(v):
    out = b""
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def an_input(kind, tgid):
    if kind == KNOWN:
        return bytes([KNOWN, 3, 1, 1, 1])
    content = bytes([kind, 1]) + number(tgid) + number(1) + number(tgid) + number(1) + number(1) + number(1000) + b"\0\0\0"
    return bytes([INPUT]) + number(len(content)) + content


def block(kind, number_, content):
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_compress.restype = zstd.ZSTD_compressBound.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(len(content) + 1024)
    n = zstd.ZSTD_compress(room, ctypes.c_size_t(len(room)), content, ctypes.c_size_t(len(content)), 19)
    head = struct.pack("<IHHIIQI", 0x42544253, kind, PACKED, n, len(content), number_, zlib.crc32(room.raw[:n]))
    return head + struct.pack("<I", zlib.crc32(head)) + room.raw[:n]


def crowded(path, out, kinds, n):
    """The facts of the recording at @path, then @n processes or threads of which nothing more is said."""
    with open(path, "rb") as f:
        data = f.read()
    stored = HEADER.unpack_from(data, 16)[3]
    parts, content, at = [data[:16 + HEADER.size + stored]], [], 1
    for i in range(n):
        content += [an_input(kind, 1000 + i) for kind in kinds]
        if len(content) * 24 > BLOCK * (4 if kinds == [KNOWN] else 1) or i == n - 1:
            parts.append(block(INPUTS, at, b"".join(content)))
            content, at = [], at + 1
    with open(out, "wb") as f:
        f.write(b"".join(parts))


def peak_of(command):
    """The exit status, what it said, and the most memory that it held, in bytes."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    err = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    return process.returncode, err, usage.ru_maxrss * 1024


def test_memory_of_a_recording(t):
    """A small file that says next to nothing of very many processes, and of threads."""
    good = t.path()
    check_equal("recording", t.sbt("--record", good, "--", workload("gen"), "--rounds", "5").rc, 0)
    bare = peak_of([SBT, "report", good])[2]
    for what, kinds in (("processes", [PROCESS]), ("threads", [PROCESS, THREAD]), ("numbers", [KNOWN])):
        path = t.path()
        crowded(good, path, kinds, 3000000 if kinds == [KNOWN] else 100000)
        most = 64 * os.path.getsize(path) + (64 << 20)
        rc, err, peak = peak_of([SBT, "report", path])
        print(f"{what}: a file of {os.path.getsize(path)} bytes, {peak >> 20} MiB, permitted {most >> 20} MiB")
        check(peak - bare <= most, f"{what}: {peak - bare} bytes for a file of {os.path.getsize(path)}")
        check(rc in (0, 1), f"{what}: status {rc}: {err}")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(c) for c in f.read().split()]


def state(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)


def namer(tracer, program):
    """The tracer's child that became nobody, when there is one."""
    for child in children(tracer):
        try:
            if child != program and state(child)["Uid"].split()[0] == "65534":
                return child
        except (OSError, KeyError):
            pass
    return 0


def with_child(t):
    gen = t.gen("--threads", "2", "--rounds", "40", "--work", "fixed:0=20ms", wait=True)
    tracer = t.attach("-p", str(gen.pid))
    gen.begin()
    child = []
    wait_for("the child that reads names", lambda: child.append(namer(tracer.process.pid, gen.pid)) or child[-1])
    return gen, tracer, child[-1]


def test_stopped_child(t):
    """The child that reads names is stopped: the report comes all the same, and nothing of the child is left."""
    gen, tracer, child = with_child(t)
    os.kill(child, signal.SIGSTOP)
    gen.wait()
    trace = tracer.end()
    check_equal("episodes", trace.end["episodes"] + trace.end["ambiguous"], 40)
    check(not os.path.exists(f"/proc/{child}"), "the stopped child is still there")


def test_child_has_no_rights(t):
    """No capabilities, a filter of system calls, limits of memory and of CPU time."""
    gen, tracer, child = with_child(t)
    wait_for("its filter of system calls", lambda: state(child)["Seccomp"] == "2")
    has = state(child)
    check_equal("capabilities", (has["CapEff"], has["CapPrm"]), ("0" * 16, "0" * 16))
    check_equal("no new privileges", has["NoNewPrivs"], "1")

    def limit(name):
        with open(f"/proc/{child}/limits", encoding="ascii") as f:
            return next(line.split()[len(name.split())] for line in f if line.startswith(name))
    wait_for("the limit of CPU time", lambda: limit("Max cpu time") != "unlimited")
    check_equal("memory", limit("Max data size"), str(512 << 20))
    gen.wait()
    tracer.end()


def test_modes_of_files(t):
    """New files are for their owner alone; a file that exists keeps its mode."""
    old = t.path()
    with open(old, "w", encoding="ascii"):
        pass
    os.chmod(old, 0o644)
    record, out = t.path() + ".new", t.path() + ".new"
    check_equal("status", t.sbt("-o", out, "--record", record, "--", workload("gen"), "--rounds", "5").rc, 0)
    check_equal("status", t.sbt("-o", old, "--", workload("gen"), "--rounds", "5").rc, 0)
    modes = [stat.S_IMODE(os.stat(path).st_mode) for path in (record, out, old)]
    check_equal("modes", modes, [0o600, 0o600, 0o644])
    again = t.path() + ".new"
    check_equal("status", t.sbt("report", "--json", "-o", again, record).rc, 0)
    check_equal("mode", stat.S_IMODE(os.stat(again).st_mode), 0o600)
    check_in("report", "episodes", open(again, encoding="utf-8").read())
