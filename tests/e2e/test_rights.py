# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Tracing without root: two capabilities are enough for a user's own processes, messages name the capabilities that a feature
additionally needs, and rights that are no longer needed are dropped."""

import json
import os
import re
import shutil
import subprocess

from harness import (UNPRIVILEGED, SBT, Skip, Trace, check, check_equal, check_in, descendants, read_proc, read_text,
                     wait_for, workload)

PAIRED = True

# include/uapi/linux/capability.h
BITS = {"dac_override": 1, "dac_read_search": 2, "kill": 5, "setgid": 6, "setuid": 7, "ipc_lock": 14, "sys_ptrace": 19, "sys_admin": 21,
        "perfmon": 38, "bpf": 39, "checkpoint_restore": 40}
UNPRIVILEGED_WORDS = ["setpriv", f"--reuid={UNPRIVILEGED}", f"--regid={UNPRIVILEGED}", "--clear-groups"]


def as_unprivileged(*capabilities):
    """Return a command prefix for a user with these capabilities and no others, as pam_cap or a service manager gives them."""
    given = ",".join(["-all", *(f"+{c}" for c in capabilities)])
    return [*UNPRIVILEGED_WORDS, f"--inh-caps={given}", f"--ambient-caps={given}"]


def caps_of(pid):
    """Return its sets of capabilities, from /proc/PID/status."""
    text = read_proc(pid, "status").decode()
    return {k: int(v, 16) for k, v in re.findall(r"^(Cap\w+):\s+([0-9a-f]+)$", text, re.M)}


def mask(*names):
    return sum(1 << BITS[n] for n in names)


class Place:
    """Files that an unprivileged user may read and execute, in a folder that the user may write to."""

    def __init__(self, t):
        self.t = t
        os.chmod(t.dir, 0o755)
        self.out = t.path("out")
        os.mkdir(self.out)
        os.chown(self.out, UNPRIVILEGED, UNPRIVILEGED)
        self.sbt = self.copy(SBT)
        self.gen = self.copy(workload("gen"))

    def copy(self, path, name=None):
        to = self.t.path(name or os.path.basename(path))
        shutil.copy(path, to)
        os.chmod(to, 0o755)
        return to

    def trace(self, prefix, *words, rc=0, sbt=None):
        self.t.counter += 1
        path = os.path.join(self.out, f"trace{self.t.counter}")
        result = self.t.run([*prefix, sbt or self.sbt, "--json", "-o", path, *words], rc=rc)
        trace = Trace(self.t, path) if rc == 0 else None
        if trace:
            trace.result = result
        return trace or result


def test_root_with_these_two_alone(t):
    """As in a container: sbt-trace cannot drop its privileges to read debug information, and still has all names."""
    place, given = Place(t), "-all,+bpf,+perfmon"
    os.chmod(place.out, 0o777)
    prefix = ["setpriv", f"--bounding-set={given}", f"--inh-caps={given}"]
    trace = place.trace(prefix, "--", place.gen, "--threads", "3", "--rounds", "40").nothing_lost()
    barrier = trace.barrier()
    check_equal("episodes", (barrier["function"], barrier["episodes"]), ("site_0", 40))
    check(barrier["line"], "no line")


def test_two_are_enough(t):
    """As an unprivileged user: programs are launched, attached to and recorded, with causes, counters, names and lines."""
    place, unprivileged = Place(t), as_unprivileged("bpf", "perfmon")
    for words in ([], ["-e", "task-clock,page-faults"], ["--attach", "multi"]):
        trace = place.trace(unprivileged, *words, "--", place.gen, "--threads", "3", "--rounds", "40").nothing_lost()
        barrier = trace.barrier()
        check_equal("episodes", (barrier["function"], barrier["episodes"]), ("site_0", 40))
        check(barrier["line"], "no line")
        check(barrier["threads"][0]["oncpu_ns"] is not None, "no accounts of time")
    p = t.start([*unprivileged, place.gen, "--threads", "2", "--rounds", "20000", "--work", "fixed:0=1ms,1=2ms"])
    wait_for("its threads", lambda: len(os.listdir(f"/proc/{p.pid}/task")) > 2)
    trace = place.trace(unprivileged, "-d", "0.5", "-p", str(p.pid)).nothing_lost()
    check(trace.barrier()["episodes"] > 20, "nothing was seen of the running process")
    check(p.alive(), "the process has ended")
    listed = t.run([*unprivileged, place.sbt, "hang", "-p", str(p.pid)], rc=0)
    check_in("stacks", "gen_main", listed.out)
    doctor = t.run([*unprivileged, place.sbt, "doctor"])
    check_in("doctor", "sbt-trace can trace here", doctor.out)


def test_file_capabilities(t):
    """setcap, as the error message says, works for any user."""
    if not shutil.which("setcap"):
        raise Skip("no setcap")
    place = Place(t)
    subprocess.run(["setcap", "cap_bpf,cap_perfmon=ep", place.sbt], check=True)
    plain = [*UNPRIVILEGED_WORDS, "--inh-caps=-all"]
    trace = place.trace(plain, "--", place.gen, "--threads", "2", "--rounds", "30").nothing_lost()
    check_equal("episodes", trace.barrier()["episodes"], 30)
    # The command has none of these capabilities.
    show = ["sh", "-c", "grep -E '^(Cap|NoNewPrivs|Groups|Uid)' /proc/self/status"]
    alone = t.run([*plain, *show]).out
    check_in("sets", "CapEff:\t0000000000000000", alone)
    check_equal("rights of the command", place.trace(plain, "--", *show).result.out, alone)


def test_command_has_its_own(t):
    """COMMAND has the same rights as without sbt-trace: as root, as root with fewer capabilities, with ambient capabilities."""
    place = Place(t)
    show = ["sh", "-c", "grep -E '^(Cap|NoNewPrivs|Groups|Uid)' /proc/self/status"]
    for prefix in ([], ["setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin"],
                   as_unprivileged("bpf", "perfmon"), as_unprivileged("bpf", "perfmon", "net_raw")):
        alone = t.run([*prefix, *show]).out
        check_in("sets", "CapBnd", alone)
        check_equal(f"rights of the command with {prefix}", place.trace(prefix, "--", *show).result.out, alone)
    # As another user, COMMAND has none of the capabilities given to sbt-trace.
    trace = place.trace(as_unprivileged("bpf", "perfmon", "setuid", "setgid", "kill", "sys_ptrace"), "-u", "daemon", "--",
                        *show)
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        got = re.search(rf"{name}:\s+(\w+)", trace.result.out).group(1)
        check_equal(name, int(got, 16) if name != "CapInh" else 0, 0)
    check_in("user", "Uid:\t1\t1\t1\t1", trace.result.out)


def test_other_users_processes(t):
    place = Place(t)
    p = t.start([place.gen, "--threads", "2", "--rounds", "20000", "--work", "fixed:0=1ms,1=2ms"])
    wait_for("its threads", lambda: len(os.listdir(f"/proc/{p.pid}/task")) > 2)
    unprivileged = as_unprivileged("bpf", "perfmon")
    refused = place.trace(unprivileged, "-d", "0.3", "-p", str(p.pid), rc=1)
    check_in("-p", "belongs to another user or is protected, and CAP_SYS_PTRACE is missing", refused.err)
    refused = t.run([*unprivileged, place.sbt, "hang", "-p", str(p.pid)], rc=1)
    check_in("hang", "CAP_SYS_PTRACE", refused.err)
    refused = place.trace(unprivileged, "-u", "daemon", "--", "true", rc=1)
    check_in("-u", "CAP_SETUID and CAP_SETGID", refused.err)
    trace = place.trace(unprivileged, "-d", "0.3", "-a")
    check_in("-a", "CAP_SYS_PTRACE is missing", trace.result.err)
    trace = place.trace(as_unprivileged("bpf", "perfmon", "sys_ptrace"), "-d", "0.5", "-p", str(p.pid)).nothing_lost()
    check(trace.barrier(function="site_0")["episodes"] > 20, "nothing was seen of the running process")
    trace = place.trace(as_unprivileged("bpf", "perfmon", "sys_ptrace"), "-d", "0.5", "-a", "--comm", "gen")
    # Other processes may run gen as well.
    check(trace.barrier(function="site_0", pid=p.pid)["episodes"] > 20, "nothing was seen under -a")


def test_file_that_is_gone(t):
    """A deleted program can be read with CAP_CHECKPOINT_RESTORE. Without it, only its names are missing."""
    place = Place(t)
    for more, named in (([], False), (["checkpoint_restore"], True)):
        program = place.copy(workload("gen"), "gone")
        unprivileged = as_unprivileged("bpf", "perfmon", *more)
        p = t.start([*unprivileged, program, "--threads", "2", "--rounds", "20000", "--work", "fixed:0=1ms,1=2ms"])
        wait_for("its threads", lambda: len(os.listdir(f"/proc/{p.pid}/task")) > 2)
        os.unlink(program)
        trace = place.trace(unprivileged, "-d", "0.5", "-p", str(p.pid)).nothing_lost()
        check(trace.barrier()["episodes"] > 20, "nothing was seen")
        check_equal(f"named with {more}", trace.barrier()["function"] == "site_0", named)
        p.signal(9)
        p.wait()


def test_perf_uprobes_want_more(t):
    """The kernel requires CAP_SYS_ADMIN for this, and the message names it."""
    place = Place(t)
    refused = t.run([*as_unprivileged("bpf", "perfmon"), place.sbt, "--attach", "perf", "--", "true"])
    if refused.rc:
        check_in("stderr", "CAP_SYS_ADMIN is needed", refused.err)
    trace = place.trace(as_unprivileged("bpf", "perfmon", "sys_admin"), "--attach", "perf", "--", place.gen, "--rounds", "20")
    check_equal("episodes", trace.barrier()["episodes"], 20)


def test_given_up(t):
    """While it traces, root has only the rights that tracing needs. Nothing that it starts can get more."""
    p = t.start([SBT, "-q", "-o", t.path(), "--", workload("gen"), "--threads", "2", "--rounds", "1000", "--work",
                 "fixed:0=1ms,1=1ms"])
    before = caps_of(os.getpid())
    keep = mask("dac_read_search", "ipc_lock", "kill", "setgid", "setuid", "sys_ptrace", "perfmon", "bpf", "checkpoint_restore")

    def given_up():
        caps = caps_of(p.pid)
        return caps if caps and caps["CapEff"] != before["CapEff"] else None

    caps = wait_for("rights are given up", given_up)
    allowed = keep & before["CapEff"]
    try:
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
            if int(f.read()) > 2:
                allowed |= mask("sys_admin")
    except OSError:
        pass
    for name in ("CapPrm", "CapEff", "CapBnd"):
        check_equal(f"{name} beyond", caps[name] & ~allowed, 0)
    check_equal("effective", caps["CapEff"], allowed)
    check_in("status", "NoNewPrivs:\t1", read_proc(p.pid, "status").decode())

    def children():
        below = {read_proc(pid, "comm").decode().strip(): caps_of(pid) for pid in descendants(p.pid)}
        return below if "gen" in below else None

    below = wait_for("the command", children)
    check_equal("the guard's", below["sbt-guard"]["CapEff"], mask("kill", "bpf") & before["CapEff"])
    check_equal("the command's", below["gen"], before)
    check_equal("exit status", p.wait().rc, 0)


def looking():
    """Return the rights that hang may keep: those of tracing, except signals."""
    keep = mask("dac_read_search", "ipc_lock", "setgid", "setuid", "sys_ptrace", "perfmon", "bpf", "checkpoint_restore")
    try:
        return keep | (mask("sys_admin") if int(read_text("/proc/sys/kernel/perf_event_paranoid")) > 2 else 0)
    except OSError:
        return keep


def test_hang_gives_up(t):
    """hang examines the process with the rights that this needs, opens its output, and can then write nowhere else."""
    p = t.start([workload("hung"), "--kind", "pipe", "--threads", "16", "--missing", "3"])
    wait_for("it hangs", lambda: read_proc(p.pid, "wchan") == b"futex_wait_queue" or
             len(os.listdir(f"/proc/{p.pid}/task")) >= 16)
    before = caps_of(os.getpid())
    pipe = t.path("pipe")
    os.mkfifo(pipe)
    hang = t.start([SBT, "hang", "--json", "-o", pipe, "-p", str(p.pid)])
    # It has examined the process and waits for a reader.
    wait_for("it opens its output", lambda: caps_of(hang.pid).get("CapEff") not in (None, before["CapEff"]) and
             read_proc(hang.pid, "wchan") == b"wait_for_partner")
    caps = caps_of(hang.pid)
    check_equal("effective before", caps["CapEff"], (looking() | mask("dac_override")) & before["CapEff"])
    check_in("status", "NoNewPrivs:\t1", read_proc(hang.pid, "status").decode())
    seen = set()
    with open(pipe, encoding="utf-8") as f:
        # It looks twice, 100 ms apart.
        wait_for("the file is open", lambda: (seen.add(caps_of(hang.pid).get("CapEff")), len(seen) > 1)[1], 5, 0.002)
        records = [json.loads(line) for line in f.read().splitlines()]
    check(looking() & before["CapEff"] in seen, f"rights while it wrote: {[hex(s or 0) for s in seen]}")
    check_equal("exit status", hang.wait().rc, 0)
    check(any(r["type"] == "hang" for r in records), f"no hang: {[r['type'] for r in records]}")
    # Until then it has the rights to use a directory of another user.
    folder = t.path("theirs")
    os.mkdir(folder, 0o700)
    os.chown(folder, UNPRIVILEGED, UNPRIVILEGED)
    for path in (os.path.join(folder, "out"), os.path.join(folder, "out")):
        result = t.run([SBT, "hang", "--json", "-o", path, "-p", str(p.pid)], rc=0)
        os.chown(path, UNPRIVILEGED, UNPRIVILEGED)
    # The process of the user has more capabilities: without CAP_SYS_PTRACE, sbt-trace may drop none that the process has.
    place = Place(t)
    rich = as_unprivileged("bpf", "perfmon", "net_raw")
    own = t.start([*rich, place.gen, "--threads", "2", "--rounds", "20000", "--work", "fixed:0=1ms,1=2ms"])
    wait_for("its threads", lambda: len(os.listdir(f"/proc/{own.pid}/task")) > 2)
    result = t.run([*rich, place.sbt, "hang", "-p", str(own.pid)], rc=0)
    check_in("stacks", "gen_main", result.out)
    for q in (p, own):
        q.signal(9)
        q.wait()


def test_drops_leave_it_able(t):
    """After dropping rights, sbt-trace can still trace a library that is loaded later, resume another user's stopped command,
    and read names at the end."""
    trace = t.trace([workload("dlopen_lib")], "-u", "nobody").nothing_lost()
    found = {}
    for b in trace.barriers(family="pthread"):
        found[b["function"]] = found.get(b["function"], 0) + b["episodes"]
    check_equal("episodes", found, {"bar_wait": 200, "baz_wait": 100})
    trace = t.trace(["sh", "-c", f"{workload('gen-static')} --rounds 20; {workload('gen-static')} --rounds 30"],
                    "-u", "nobody").nothing_lost()
    check_equal("episodes", sorted(b["episodes"] for b in trace.barriers()), [20, 30])
