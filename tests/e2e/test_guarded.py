# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Limits on what other users' files and programs can cost the tracer: memory for a recording, time for a name, rights of the
child."""

import ctypes
import os
import signal
import socket
import stat
import struct
import subprocess
import threading
import time
import zlib

from harness import (SBT, Trace, check, check_equal, check_in, clean_environment, is_guard, read_bytes, read_text,
                     stat_of, wait_for, workload, write_file)

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
    """Write the facts of the recording at @path, then @n processes or threads without any further facts."""
    with open(path, "rb") as f:
        data = f.read()
    stored = HEADER.unpack_from(data, 16)[3]
    parts, content, at = [data[:16 + HEADER.size + stored]], [], 1
    for i in range(n):
        content += [an_input(kind, 1000 + i) for kind in kinds]
        if len(content) * 24 > BLOCK * (4 if kinds == [KNOWN] else 1) or i == n - 1:
            parts.append(block(INPUTS, at, b"".join(content)))
            content, at = [], at + 1
    write_file(out, b"".join(parts))


def peak_of(command):
    """Return the exit status, the output, and the peak memory in bytes."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    err = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    return process.returncode, err, usage.ru_maxrss * 1024


def test_memory_of_a_recording(t):
    """A small file describes very many processes and threads with almost no data."""
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
    return [int(c) for c in read_text(f"/proc/{pid}/task/{pid}/children").split()]


def state(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)


def child_named(tracer, name):
    """Return the tracer's child of that name if there is one and it dropped its privileges, or 0."""
    for child in children(tracer):
        try:
            has = state(child)
            if has["Name"] == name and has["Uid"].split()[0] == "65534":
                return child
        except (OSError, KeyError):
            pass
    return 0


def namer(tracer):
    return child_named(tracer, "sbt-names")


def with_child(t, *options, rounds=40, name="gen", **more):
    gen = t.gen("--threads", "3", "--rounds", str(rounds), "--work", "fixed:0=20ms", name=name, wait=True)
    tracer = t.attach("-p", str(gen.pid), *options, **more)
    gen.begin()
    child = []
    wait_for("the child that reads names", lambda: child.append(namer(tracer.process.pid)) or child[-1])
    return gen, tracer, child[-1]


class Stopper:
    """Stop every child of a process as soon as it appears, except the traced one and the guard."""

    def __init__(self, tracer, program):
        self.tracer, self.program, self.stopped, self.over = tracer, program, [], False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.over:
            try:
                for child in children(self.tracer):
                    if child not in self.stopped and child != self.program and not is_guard(child):
                        os.kill(child, signal.SIGSTOP)
                        self.stopped.append(child)
            except OSError:
                pass

    def end(self):
        self.over = True
        self.thread.join()
        left = [child for child in self.stopped if os.path.exists(f"/proc/{child}")]
        check(self.stopped and not left, f"stopped {self.stopped}, still there: {left}")


def unnamed(trace):
    return [r["text"] for r in trace.all("remark") if r["kind"] == "unnamed"]


def test_stopped_child(t):
    """The child that reads names is stopped while it reads. The report is still printed and says so, and no part of the child
    is left."""
    gen, tracer, child = with_child(t, name="gen_cond")
    os.kill(child, signal.SIGSTOP)
    gen.wait()
    trace = tracer.end()
    check_equal("lost", trace.end["lost_total"], 0)
    texts = unnamed(trace)
    check(len(texts) == 1 and ": not all names are known" in texts[0], f"remarks: {texts}")
    check(not os.path.exists(f"/proc/{child}"), "the stopped child is still there")


def report_of_stopped(t, record):
    """Return the text of a report for which none of the children has answered, or "" if one did before it was stopped."""
    gen = t.gen("--threads", "3", "--rounds", "40", "--work", "fixed:0=20ms", wait=True)
    tracer = t.attach("-p", str(gen.pid), "--record", record, form=None)
    stopper = Stopper(tracer.process.pid, gen.pid)
    gen.begin()
    gen.wait()
    try:
        text = tracer.end()
    finally:
        stopper.end()
    return text if "gen+0x" in text else ""


def test_stopped_children(t):
    """None of the children ever answers. Every format has module and offset, and says that names are unknown."""
    record = t.path()
    text = next(filter(None, (report_of_stopped(t, record) for _ in range(10))), "")
    check_in("text", "gen: not all names are known", " ".join(text.split()))
    for form in ("--markdown", "--csv", "--json"):
        other = t.path() + form
        check_equal("status", t.sbt("report", "--detail", form, "-o", other, record).rc, 0)
        told = " ".join(open(other, encoding="utf-8").read().replace("\\", "").split())
        check_in(form, "gen: not all names are known", told)
    trace = Trace(t, other)
    check_equal("episodes", trace.end["episodes"], 40)
    barrier = trace.barriers()[0]
    check(not barrier["function"] and barrier["module"].endswith("/gen") and barrier["offset"],
          f"{barrier['function']} in {barrier['module']}, at {barrier['offset']}")


def test_stopped_at_the_end(t):
    """The child for the report, and the guard, are stopped."""
    path = t.path()
    process = t.start([SBT, "--json", "-o", path, "--", workload("gen"), "--threads", "3", "--rounds", "40",
                       "--work", "fixed:0=20ms"])
    guards = []
    wait_for("the guard", lambda: guards.extend(c for c in children(process.pid) if is_guard(c)) or guards)
    os.kill(guards[0], signal.SIGSTOP)
    child = []
    wait_for("the child that reads names", lambda: child.append(namer(process.pid)) or child[-1])
    os.kill(child[-1], signal.SIGSTOP)
    result = process.wait()
    check_equal("status", result.rc, 0)
    trace = Trace(t, path)
    check_equal("episodes", trace.end["episodes"], 40)
    for pid in (guards[0], child[-1]):
        check(not os.path.exists(f"/proc/{pid}"), f"{pid} is still there")


def test_second_signal(t):
    """Whatever sbt-trace waits for, the second signal ends it at once, and the child with it."""
    gen = t.gen("--threads", "3", "--rounds", "4000", "--work", "fixed:0=20ms", name=extreme(t, "entries", "gen"), wait=True)
    tracer = t.attach("-p", str(gen.pid))
    gen.begin()
    time.sleep(0.2)
    tracer.process.signal(signal.SIGTERM)
    child = []
    wait_for("the child that reads names", lambda: child.append(namer(tracer.process.pid)) or child[-1])
    # Reading takes the child a second or more, and then it is stopped. When it drops its privileges, the kernel forgets for a
    # moment that the child ends with the tracer, so a child stopped in that moment stays. It sets its filter afterwards.
    wait_for("its filter of system calls", lambda: state(child[-1])["Seccomp"] == "2")
    os.kill(child[-1], signal.SIGSTOP)
    tracer.process.signal(signal.SIGTERM)
    check_equal("status", tracer.process.wait().rc, -signal.SIGTERM)
    wait_for("the child ends with it", lambda: (stat_of(child[-1]) or "Z")[0] == "Z")
    gen.signal(signal.SIGKILL)


def has_no_rights(child):
    """Check that the child has no capabilities, a filter of system calls, limits of memory and of CPU time, and nothing of the
    tracer's."""
    wait_for("its filter of system calls", lambda: state(child)["Seccomp"] == "2")
    has = state(child)
    check_equal("capabilities", (has["CapEff"], has["CapPrm"], has["CapAmb"]), ("0" * 16,) * 3)
    check_equal("no new privileges", has["NoNewPrivs"], "1")
    check_equal("users", set(has["Uid"].split() + has["Gid"].split()), {"65534"})

    def limit(name):
        with open(f"/proc/{child}/limits", encoding="ascii") as f:
            return next(line.split()[len(name.split())] for line in f if line.startswith(name))
    wait_for("the limit of CPU time", lambda: limit("Max cpu time") != "unlimited")
    check_equal("memory", limit("Max data size"), str(512 << 20))
    with open(f"/proc/{child}/maps", encoding="utf-8") as f:
        shared = [line for line in f if line.split()[1][3] == "s"]
    check(not shared, f"it shares memory: {shared}")
    # The child may hold the descriptors of a file that it was given for a moment.
    held = {fd: os.readlink(f"/proc/{child}/fd/{fd}") for fd in os.listdir(f"/proc/{child}/fd")}
    wrong = {fd: to for fd, to in held.items() if to != "/dev/null" and not to.startswith(("socket:", "/"))}
    check(not wrong and list(to.startswith("socket:") for to in held.values()).count(True) == 1, f"it holds {held}")


def test_children_have_no_rights(t):
    """The children read names and files while a program is traced."""
    gen, tracer, child = with_child(t, rounds=100, name="gen_cond")
    has_no_rights(child)
    reader = child_named(tracer.process.pid, "sbt-reader")
    check(reader, "no child reads files")
    has_no_rights(reader)
    held = {os.readlink(f"/proc/{reader}/fd/{fd}") for fd in os.listdir(f"/proc/{reader}/fd")}
    check(all(to == "/dev/null" or to.startswith("socket:") for to in held), f"it keeps {held}")
    with open(f"/proc/{tracer.process.pid}/maps", encoding="utf-8") as f:
        check(any(line.split()[1][3] == "s" for line in f), "the tracer shares no memory: nothing is proved")
    gen.wait()
    tracer.end()


def many_symbols(t, n):
    """Make a program with a symbol table of @n functions with names like those of barriers. Examining all of them takes a
    while."""
    path = t.path(f"symbols-{n}")
    os.chmod(t.dir, 0o755)
    subprocess.run(["strip", "-o", path, workload("gen")], check=True)
    data = bytearray(read_bytes(path))
    # Many names that are nearly std::barrier's wait.
    names = b"\0_ZNSt7barrierI" + 200 * b"E15arrive_and_waitE" + b"\0"
    section_names = b"\0.symtab\0.strtab\0.shstrtab\0"
    table = struct.pack("<IBBHQQ", 1, 0x12, 0, 1, struct.unpack_from("<Q", data, 24)[0], 16) * n
    data += bytes(-len(data) % 16)
    at = [len(data), len(data) + len(table), len(data) + len(table) + len(names)]
    data += table + names + section_names
    data += bytes(-len(data) % 16)
    header = struct.Struct("<IIQQQQIIQQ")
    struct.pack_into("<Q", data, 40, len(data))
    struct.pack_into("<HHH", data, 58, header.size, 4, 3)
    data += header.pack(*[0] * 10) + header.pack(1, 2, 0, 0, at[0], len(table), 2, 0, 8, 24)
    data += header.pack(9, 3, 0, 0, at[1], len(names), 0, 0, 1, 0) + header.pack(17, 3, 0, 0, at[2], len(section_names), 0, 0, 1, 0)
    write_file(path, data)
    os.chmod(path, 0o755)
    return path


def unread(trace):
    return [r["text"] for r in trace.all("remark") if r["kind"] == "unread"]


def check_goes_on(trace, path):
    """Check that one file is unknown and the report says so, and that the data of all other files are complete."""
    texts = unread(trace)
    print(f"{trace.end['episodes']} episodes, lost {trace.end['lost_total']}, {texts}")
    check(len(texts) == 1 and texts[0].startswith(path + ": not examined, for reading it takes"), f"remarks: {texts}")
    check_equal("episodes", trace.end["episodes"], 40)
    check_equal("lost", trace.end["lost_total"], 0)
    check_equal("complete", trace.end["complete"], False)


def test_many_symbols(t):
    """One file takes too long to examine, and another one slightly less."""
    for n, is_read in ((1000, True), (1000000, False)):
        path = many_symbols(t, n)
        trace = t.trace([path, "--threads", "3", "--rounds", "40", "--work", "fixed:0=5ms"])
        if is_read:
            check_equal("remarks", unread(trace), [])
            check_equal("complete", trace.end["complete"], True)
        else:
            check_goes_on(trace, path)
        os.unlink(path)


def ticks(pid):
    """Return the CPU time, in hundredths of a second."""
    return int(read_text(f"/proc/{pid}/stat").rpartition(")")[2].split()[11])


class Killer(threading.Thread):
    """Kill the child that reads files whenever it has read for a while."""

    def __init__(self, tracer):
        super().__init__()
        self.tracer, self.killed, self.over = tracer, [], False
        self.start()

    def run(self):
        while not self.over:
            try:
                child = child_named(self.tracer, "sbt-reader")
                if child and child not in self.killed and ticks(child) >= 10:
                    os.kill(child, signal.SIGKILL)
                    self.killed.append(child)
            except OSError:
                pass
            time.sleep(0.001)


def test_reader_killed(t):
    """The process that reads files is killed while it reads one. The traced program continues, and the report says what was not
    examined."""
    path, out = many_symbols(t, 60000), t.path()
    process = t.start([SBT, "--json", "-o", out, "--", path, "--threads", "3", "--rounds", "40", "--work", "fixed:0=5ms"])
    killer = Killer(process.pid)
    try:
        result = process.wait()
    finally:
        killer.over = True
        killer.join()
    check_equal("status", result.rc, 0)
    print(f"killed {killer.killed}")
    check(killer.killed, "no process was killed")
    check_goes_on(Trace(t, out), path)


def test_modes_of_files(t):
    """New files are accessible by their owner only. An existing file keeps its mode."""
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
    check_equal("status", t.sbt("report", "--detail", "--json", "-o", again, record).rc, 0)
    check_equal("mode", stat.S_IMODE(os.stat(again).st_mode), 0o600)
    check_in("report", "episodes", open(again, encoding="utf-8").read())


# --- what names may take ----------------------------------------------------------------------------

UNITS, ENTRIES = 6000000, 60000000
FULL = ("ring_full", "event_ring_full", "tail_ring_full", "candidate_lost")


def extreme(t, kind, source="gen_cond"):
    """Make a program that all users may run. Its debug information contains almost nothing, but takes seconds, or gigabytes, to
    read."""
    path = t.path(f"extreme-{kind}")
    os.chmod(t.dir, 0o755)
    if kind == "units":
        info = (struct.pack("<IHIB", 9, 4, 0, 8) + bytes(2)) * UNITS
    else:
        # One unit with very many variables covers all addresses.
        body = struct.pack("<HIBBQQ", 4, 0, 8, 1, 0, 1 << 40) + b"\2" * ENTRIES + b"\0"
        info = struct.pack("<I", len(body)) + body
    abbrev = bytes([1, 0x11, 1, 0x11, 0x01, 0x12, 0x07, 0, 0, 2, 0x34, 0, 0, 0, 0])
    for name, content in (("info", info), ("abbrev", abbrev)):
        write_file(f"{path}.{name}", content)
    subprocess.run(["objcopy", "-g", workload(source), path], check=True)
    subprocess.run(["objcopy", "--add-section", f".debug_info={path}.info",
                    "--add-section", f".debug_abbrev={path}.abbrev", path], check=True)
    os.unlink(f"{path}.info")
    os.chmod(path, 0o755)
    return path


def busy(rounds):
    return ("--threads", "4", "--rounds", str(rounds), "--work", "none")


def test_extreme_command(t):
    """Reading its debug information is given up, and nothing is lost meanwhile."""
    for kind in ("units", "entries"):
        trace = t.trace([extreme(t, kind), *busy(20000)])
        texts = unnamed(trace)
        print(f"{kind}: {trace.end['episodes']} episodes, lost {trace.end['lost']}, {texts}")
        check_equal("episodes", trace.end["episodes"], 20000)
        check_equal("lost", trace.end["lost_total"], 0)
        check_equal("candidates lost", trace.end["lost"]["candidate_lost"], 0)
        barrier = trace.barriers()[0]
        check(barrier["module"].endswith(kind), f"in {barrier['module']}")
        check(barrier["offset"] and not barrier["line"], f"at {barrier['offset']}, line {barrier['line']}")
        if kind == "entries":
            check(len(texts) == 1 and ": line numbers are not known" in texts[0], f"remarks: {texts}")


def check_all_kept(trace, what):
    """Check that nothing was lost because a buffer was full. What a program did before it was examined is counted in another
    way."""
    lost = {k: v for k, v in trace.end["lost"].items() if v}
    print(f"{what}: {trace.end['episodes']} episodes, lost {lost}; {unnamed(trace)}")
    for cause in FULL:
        check_equal(f"{cause}, {what}", lost.get(cause, 0), 0)


def test_extreme_command_of_all(t):
    """The same with -a --discover, which needs names to look for barriers, also on futexes. Reading the names of root's
    programs takes long."""
    for kind in ("units", "entries"):
        path = extreme(t, kind)
        gen = t.gen(*busy(30000), wait=True)
        tracer = t.attach("-a", "--discover", "--duration", "60")
        program = t.start([path, *busy(20000)])
        gen.begin()
        gen.wait()
        program.wait()
        trace = tracer.stop()
        check_all_kept(trace, kind)
        check_equal("episodes of gen", sum(b["episodes"] for b in trace.barriers(pid=gen.pid)), 30000)


def test_extreme_stranger(t):
    """Another user's program does not prevent the tracing of the others."""
    path = extreme(t, "entries")
    os.chown(path, 65534, 65534)
    gen = t.gen(*busy(30000), wait=True)
    tracer = t.attach("-a", "--discover", "--duration", "60")
    stranger = t.start(["setpriv", "--reuid", "65534", "--clear-groups", path, *busy(20000)])
    gen.begin()
    gen.wait()
    stranger.wait()
    trace = tracer.stop()
    check_all_kept(trace, "a stranger")
    mine = [b for b in trace.barriers() if b["pid"] == gen.pid]
    check_equal("episodes of gen", sum(b["episodes"] for b in mine), 30000)
    check(any("extreme-entries" in text for text in unnamed(trace)), f"remarks: {unnamed(trace)}")


def twelve(t):
    """Return twelve ordinary programs, each a file of its own."""
    copies = []
    for i in range(12):
        copies.append(t.path(f"copy{i}"))
        with open(workload("gen_cond"), "rb") as f, open(copies[-1], "wb") as to:
            to.write(f.read() + bytes([i]))
        os.chmod(copies[-1], 0o755)
    line = " & ".join(f"{c} --threads 3 --rounds 2000 --work none" for c in copies)
    return ["sh", "-c", f"{line} & wait"]


def test_twelve_at_once(t):
    """All start at once."""
    trace = t.trace(twelve(t))
    check_all_kept(trace, "twelve")
    check_equal("lines", {b["line"] is not None for b in trace.barriers()}, {True})


def test_twelve_at_once_of_all(t):
    """The same while the whole machine is traced, and waits at futexes are examined."""
    tracer = t.attach("-a", "--discover", "--duration", "60")
    t.run(twelve(t))
    trace = tracer.stop()
    check_all_kept(trace, "twelve")
    # Missed rounds are not counted as work: figures begin when the process was first seen, or are an upper limit.
    for process in trace.processes():
        if process["comm"].startswith("copy") and process["episodes"] < 2000:
            print(process["episodes"], process["counted_from_ns"], process["untraced"], process["start_seen"])
            check(process["counted_from_ns"] is not None or process["untraced"], f"{process['episodes']} episodes, unmarked")


def test_silent_debuginfod(t):
    """The server accepts connections and never answers. Records are read meanwhile, and the report has the locally known names."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        env = clean_environment(DEBUGINFOD_URLS=f"http://127.0.0.1:{port}", DEBUGINFOD_TIMEOUT="2",
                                DEBUGINFOD_CACHE_PATH=t.path("cache"))
        trace = t.trace([workload("gen_cond"), *busy(20000)], "--debuginfod", env=env)
    check_equal("episodes", trace.end["episodes"], 20000)
    check_equal("lost", {k: v for k, v in trace.end["lost"].items() if v}, {})
    check(trace.barriers()[0]["line"], "no line")
