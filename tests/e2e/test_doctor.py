# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""sbt-trace doctor: it agrees with what a trace then does, and names exactly what is missing."""

import json
import os
import shutil

from harness import (SBT, UNPRIVILEGED, Failure, alone, check, check_equal, check_in, check_not_in, schema, validate_one,
                     workload)

SHARED = True

NEEDED = ["CAP_BPF", "CAP_PERFMON"]
CAPABILITIES = [*NEEDED, "CAP_SYS_PTRACE", "CAP_CHECKPOINT_RESTORE", "CAP_SYS_ADMIN"]
STATES = ["yes", "instead", "no", None]


class Doctor:
    """The doctor's JSON output, by feature. The text output must agree."""

    def __init__(self, t, prefix=(), sbt=SBT, rc=None):
        result = t.run([*prefix, sbt, "doctor", "--json"])
        self.result, self.features = result, {}
        check_equal("stderr", result.err, "")
        for number, line in enumerate(result.out.splitlines(), 1):
            record = json.loads(line)
            validate_one(record, schema()["oneOf"], f"line {number}", schema())
            check_equal("type", record["type"], "doctor")
            check(record["feature"] not in self.features, f"{record['feature']} comes twice")
            self.features[record["feature"]] = record
        check(len(self.features) > 30, f"only {len(self.features)} features: {result.out}")
        check_equal("first", next(iter(self.features)), "trace")
        self.can = self["trace"]["state"] == "yes"
        check_equal("exit status", result.rc, 0 if self.can else 1)
        if rc is not None:
            check_equal(f"exit status: {self.features['trace']}", result.rc, rc)
        for name, feature in self.features.items():
            check_in(f"state of {name}", feature["state"], STATES)
            if feature["state"] == "instead":
                check(feature["instead"], f"{name}: what is used instead? {feature}")
            if feature["state"] == "no":
                check(feature["remedy"], f"{name}: what is to be done? {feature}")

    def __getitem__(self, name):
        if name not in self.features:
            raise Failure(f"no feature {name} among {list(self.features)}")
        return self.features[name]

    def states(self, *names):
        return {name: self[name]["state"] for name in names}


def copy_for_all(t):
    """Copy sbt-trace to where the unprivileged user can read it, which is not the build folder."""
    os.chmod(t.dir, 0o755)
    path = t.path("sbt-trace")
    shutil.copy(SBT, path)
    os.chmod(path, 0o755)
    return path


def without(*names):
    drop = ",".join(f"-{name}" for name in names)
    return ["setpriv", f"--bounding-set={drop}", f"--inh-caps={drop}"]


# --- on this machine, as root ---------------------------------------------------------------------------

def test_agrees_with_a_trace(t):
    doctor = Doctor(t, rc=0)
    trace = t.trace([workload("gen"), "--threads", "2", "--rounds", "20"], "-e",
                    "task-clock,cycles").nothing_lost()
    methods = {probe["method"] for probe in trace.session["probes"]}
    programs = doctor["sbt-trace's programs"]
    check_equal("programs", programs["state"], "yes")
    for method in methods:
        check_in("what is used", f"by {method},", programs["found"])
    used = {"session": "uprobe.session", "multi": "uprobe.multi", "perf": "perf uprobe"}
    for method, name in used.items():
        check_equal(f"{name} is used", "in use" in (doctor[name]["found"] or ""),
                    method in methods)
    counted = {c["name"] for c in trace.session["counters"]}
    check_equal("hardware", doctor["hardware counters"]["state"] == "yes", "cycles" in counted)
    check_equal("software", doctor["software events"]["state"] == "yes", "task-clock" in counted)
    check_equal("causes", doctor["scheduler events"]["state"] == "yes",
                trace.barrier()["threads"][0]["oncpu_ns"] is not None)
    for name in ("bpf()", "BTF", "ring buffer", "stacks of blocked threads",
                 "stacks of running threads", *CAPABILITIES):
        check_equal(name, doctor[name]["state"], "yes")


def test_every_method(t):
    """A trace can use exactly the attach methods that the doctor reports as present."""
    doctor = Doctor(t, rc=0)
    for method, name in (("session", "uprobe.session"), ("multi", "uprobe.multi"),
                         ("perf", "perf uprobe")):
        trace = t.trace([workload("gen"), "--threads", "2", "--rounds", "5"], "--attach", method)
        got = {probe["method"] for probe in trace.session["probes"]}
        check_equal(f"{name} is there", doctor[name]["state"] == "yes", got == {method})


def test_text(t):
    result = t.run([SBT, "doctor"], rc=0)
    lines = result.out.splitlines()
    check_equal("first line", lines[0], "sbt-trace can trace here")
    check_equal("widest", [line for line in lines if len(line) > 100], [])
    for part in ("FEATURE", "STATE", "WHAT TO DO", "uprobe.session"):
        check_in("table", part, result.out)
    check_not_in("no colour", "\033", result.out)


def test_into_a_file(t):
    path = t.path()
    result = t.run([SBT, "doctor", "--json", "-o", path], rc=0)
    check_equal("stdout", result.out, "")
    with open(path, encoding="utf-8") as f:
        records = [json.loads(line) for line in f]
    check_equal("verdict", records[0]["state"], "yes")


def test_usage(t):
    for options in (["-x"], ["-o"], ["something"], ["--csv"]):
        result = t.run([SBT, "doctor", *options], rc=2)
        check_in("stderr", "sbt-trace doctor --help", result.err)
    result = t.run([SBT, "doctor", "--help"], rc=0)
    check_in("help", "Exit status", result.out)


def test_cannot_be_written(t):
    result = t.run([SBT, "doctor", "-o", "/dev/full"], rc=1)
    check_in("stderr", "cannot write /dev/full", result.err)
    result = t.run([SBT, "doctor", "-o", "/nonexistent/out"], rc=1)
    check_in("stderr", "cannot write /nonexistent/out", result.err)


@alone
def test_leaves_nothing(t):
    """No program, no probe and no process is left behind."""
    before = set(os.listdir("/sys/fs/bpf")) if os.path.isdir("/sys/fs/bpf") else set()
    Doctor(t, rc=0)
    check_equal("/sys/fs/bpf", set(os.listdir("/sys/fs/bpf"))
                if os.path.isdir("/sys/fs/bpf") else set(), before)
    left = [p for p in os.listdir("/proc") if p.isdigit() and exe(p) == SBT]
    check_equal("processes", left, [])


def exe(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return None


# --- with fewer rights --------------------------------------------------------------------------------------

def test_doctor_unprivileged(t):
    prefix = ["setpriv", f"--reuid={UNPRIVILEGED}", f"--regid={UNPRIVILEGED}", "--clear-groups",
              "--inh-caps=-all"]
    doctor = Doctor(t, prefix, copy_for_all(t), rc=1)
    for name in CAPABILITIES:
        check_equal(name, doctor[name]["state"], "no")
        check_equal(f"verdict names {name}", name in doctor["trace"]["found"], name in NEEDED)
    check_in("remedy", "sudo", doctor["trace"]["remedy"])
    check_equal("programs", doctor["sbt-trace's programs"]["state"], None)
    text = t.run([*prefix, t.path("sbt-trace"), "doctor"], rc=1)
    check_in("first line", "sbt-trace cannot trace here: CAP_BPF and CAP_PERFMON",
             text.out.splitlines()[0])


def test_one_capability_less(t):
    for name in ("bpf", "perfmon"):
        doctor = Doctor(t, without(name), rc=1)
        missing = "CAP_" + name.upper()
        check_equal("verdict", doctor["trace"]["found"], f"{missing} is missing")
        check_equal("states", doctor.states(*CAPABILITIES),
                    {c: "no" if c == missing else "yes" for c in CAPABILITIES})
        check_in("remedy", f"--cap-add {name.upper()}", doctor[missing]["remedy"])
        # A trace reports the same.
        refused = t.run([*without(name), SBT, "--", "true"], rc=1)
        check_in("a trace", f"{missing} is missing", refused.err)
    for name, lacking in (("sys_ptrace", ["CAP_SYS_PTRACE"]), ("sys_admin", ["CAP_SYS_ADMIN"]),
                          ("sys_admin,checkpoint_restore", ["CAP_CHECKPOINT_RESTORE", "CAP_SYS_ADMIN"])):
        doctor = Doctor(t, without(*name.split(",")), rc=0)
        check_equal("states", doctor.states(*CAPABILITIES),
                    {c: "no" if c in lacking else "yes" for c in CAPABILITIES})
        check_in("what it is for", "missing: needed", doctor[lacking[0]]["found"])
        check_equal("a trace", t.run([*without(*name.split(",")), SBT, "-q", "-o", t.path(), "--", "true"]).rc, 0)


def test_the_kernel_refuses(t):
    """CAP_SYS_ADMIN stands for the two newer capabilities. Without it they are really missing."""
    doctor = Doctor(t, without("bpf", "sys_admin"), rc=1)
    check_equal("bpf()", doctor["bpf()"]["state"], "no")
    check_in("bpf()", "a map cannot be created", doctor["bpf()"]["found"])
    check_equal("verdict", doctor["trace"]["found"], "CAP_BPF is missing")
    doctor = Doctor(t, without("perfmon", "sys_admin"), rc=1)
    check_in("bpf()", "a program cannot be loaded", doctor["bpf()"]["found"])
    check_equal("counters", doctor["software events"]["state"], "no")
    check_in("counters", "CAP_PERFMON", doctor["software events"]["remedy"])
    check_equal("ring", doctor["ring buffer"]["state"], "yes")


def test_pid_namespace(t):
    prefix = ["unshare", "-p", "-f", "--mount-proc"]
    doctor = Doctor(t, prefix, rc=1)
    check_equal("PID namespace", doctor["PID namespace"]["state"], "no")
    check_in("verdict", "PID namespace", doctor["trace"]["found"])
    check_in("remedy", "--pid=host", doctor["trace"]["remedy"])
    # Probes can be attached all the same, but their data cannot be used.
    check_equal("probes", doctor["perf uprobe"]["state"], "yes")
    refused = t.run([*prefix, SBT, "--", "true"], rc=1)
    check_in("a trace", "pid namespace", refused.err)


def test_user_namespace(t):
    prefix = ["unshare", "-U", "-r"]
    if t.run([*prefix, "true"]).rc:
        return
    doctor = Doctor(t, prefix, rc=1)
    check_equal("capabilities", set(doctor.states(*CAPABILITIES).values()), {"yes"})
    check_equal("user namespace", doctor["user namespace"]["state"], "no")
    check_in("verdict", "user namespace", doctor["trace"]["found"])
    check_equal("bpf()", doctor["bpf()"]["state"], "no")
    check_in("bpf()", "user namespace", doctor["bpf()"]["remedy"])


def limited(n):
    return ["sh", "-c", f'ulimit -n {n}; exec "$@"', "sh"]


def test_few_open_files(t):
    doctor = Doctor(t, limited(40), rc=1)
    check_equal("open files", doctor["open files"]["state"], "no")
    check_in("open files", "40", doctor["open files"]["found"])
    check_in("verdict", "Too many open files", doctor["trace"]["found"])
    check_in("remedy", "ulimit -Hn", doctor["trace"]["remedy"])
    check_equal("exit status of a trace", t.run([*limited(40), SBT, "--", "true"]).rc, 1)
    doctor = Doctor(t, limited(500), rc=0)
    check_equal("open files", doctor["open files"]["state"], "instead")
    check_equal("exit status of a trace", t.run([*limited(500), SBT, "--", "true"]).rc, 0)


def test_soft_limit_is_raised(t):
    doctor = Doctor(t, ["sh", "-c", 'ulimit -Sn 40; exec "$@"', "sh"], rc=0)
    check_equal("open files", doctor["open files"]["state"], "yes")


def test_variables_do_not_matter(t):
    """The doctor ignores the variables SBT_*, which are for a trace."""
    result = t.run(["env", "SBT_WARN_TIME=nonsense", "SBT_NO_DEBUG=1", SBT, "doctor", "--json"], rc=0)
    check_equal("stderr", result.err, "")


def test_beside_others(t):
    """Other processes test their probes on the same program meanwhile, so the last process that the kernel saw is not always
    this one."""
    for _ in range(2):
        t.start(["sh", "-c", f"while :; do {SBT} -q -o /dev/null -- true; done"])
    for _ in range(6):
        Doctor(t, rc=0)
