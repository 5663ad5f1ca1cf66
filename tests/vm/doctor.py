# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""sbt-trace doctor in another kernel: it must report what that kernel has. Its results must agree with what a trace then does,
which the suite families checks."""

import json

import harness
from harness import check_equal, check_in

LIBRARIES = ()

# A run of doctor takes some seconds here.
SCRIPT = """
doctor() { sbt-trace doctor $2 >$1.out 2>$1.err; echo $? >$1.rc; }
mkdir -p /group && mount -t cgroup2 none /group
doctor root --json
"""
# Only on machines with enough time: without descriptors to open, and as text, without groups.
FILES = "( ulimit -n 40; doctor files --json )\n"
BARE = "umount /group; doctor bare\n"

# Features that all kernels have, or replacements for them.
THERE = {"CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE", "CAP_SYS_ADMIN", "user namespace",
         "PID namespace", "lockdown", "bpf()", "BTF", "ring buffer", "perf uprobe",
         "probes at ret instructions", "software events",
         "-p of others' processes", "memory of others", "memory of own children",
         "holding new programs", "open files", "system calls", "stacks of blocked threads",
         "stacks of running threads"}
TRIED = {"sbt-trace's programs", "scheduler events", "page faults", "task iterator"}
LOOKED_AT = {"uprobe.session", "return probes", "uprobe.multi", "attach cookies", "names of mappings",
             "many CPUs at once"}
SINCE = {"uprobe.session": "6.13", "return probes": "6.13", "uprobe.multi": "6.6", "attach cookies": "5.15",
         "names of mappings": "5.17", "many CPUs at once": "6.14"}
USED = {"session": "uprobe.session", "multi": "uprobe.multi", "perf": "perf uprobe"}


def programs(_):
    return []


def script(machine):
    return SCRIPT + (FILES if "files" in machine.also else "") + (BARE if "bare" in machine.also else "")


def asked(left, name):
    """Return feature -> record, and the exit status."""
    check_equal("stderr", left.text(f"{name}.err"), "")
    records = [json.loads(line) for line in left.text(f"{name}.out").splitlines()]
    for number, record in enumerate(records, 1):
        harness.validate_one(record, harness.schema()["oneOf"], f"line {number}", harness.schema())
    found = {record["feature"]: record for record in records}
    check_equal("first", records[0]["feature"], "trace")
    rc = int(left.text(f"{name}.rc"))
    check_equal("exit status", rc, 0 if records[0]["state"] == "yes" else 1)
    return found, rc


def states(found, names):
    return {name: found[name]["state"] if name in found else "missing" for name in names}


def root(left):
    machine = left.machine
    found, rc = asked(left, "root")
    machine.features = found
    check_equal("there", states(found, THERE), dict.fromkeys(THERE, "yes"))
    check_equal("as it should be, or instead", states(found, LOOKED_AT),
                {name: "instead" if name in machine.instead else "yes" for name in LOOKED_AT})
    for name in machine.instead:
        check_in(f"what to do about {name}", f"Linux {SINCE[name]} or later", found[name]["remedy"])
    for rung, name in USED.items():
        check_equal(f"{name} is used", "in use" in found[name]["found"], rung == machine.rungs[0])
    check_equal("exit status", rc, 0)
    check_equal("tried", states(found, TRIED), dict.fromkeys(TRIED, "yes"))
    check_in("programs", f"by {machine.rungs[0]},", found["sbt-trace's programs"]["found"])
    check_equal("PMU", found["hardware counters"]["state"], "yes" if machine.pmu else "instead")
    check_in("PMU", "cycles" if machine.pmu else "no PMU", found["hardware counters"]["found"])
    check_equal("--cgroup", found["--cgroup"]["state"], "yes")
    check_in("where", "/group", found["--cgroup"]["found"])
    if machine.release:
        check_in("release", f"Linux {machine.release}.", found["kernel"]["found"])


def few_files(left):
    found, rc = asked(left, "files")
    check_equal("few open files", (found["open files"]["state"], rc), ("no", 1))
    check_in("verdict", "Too many open files", found["trace"]["found"])
    check_in("what to do", "ulimit -Hn", found["trace"]["remedy"])


def bare(left):
    """Check the text output, and a run without groups."""
    check_equal("exit status", left.text("bare.rc").strip(), "0")
    text = left.text("bare.out")
    check_equal("first line", text.splitlines()[0], "sbt-trace can trace here")
    check_equal("too wide", [line for line in text.splitlines() if len(line) > 100], [])
    check_in("what to do", "mount -t cgroup2", text)


def tests(machine):
    found = {"root": root}
    if "files" in machine.also:
        found["files"] = few_files
    if "bare" in machine.also:
        found["bare"] = bare
    return found
