# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Common code of the end-to-end tests: processes that do not outlive their test, polling with deadlines, checks that hold for
all of sbt-trace's output, and small assertions.

A test is a function test_*(t) of a module test_*.py; t is a Test. It fails by an exception."""

import csv
import ctypes
import io
import json
import os
import re
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# SBT_PROGRAM: another build of sbt-trace, such as build/san/sbt-trace.
SBT = os.path.abspath(os.environ.get("SBT_PROGRAM") or os.path.join(ROOT, "build", "sbt-trace"))
WORKLOADS = os.path.join(ROOT, "build", "workloads")
SOURCES = os.path.join(ROOT, "tests", "workloads")

sys.path.insert(0, HERE)
import genlog  # noqa: E402

TIMEOUT = 40  # for one process, in seconds
UNPRIVILEGED = 65534


class Failure(Exception):
    pass


class Skip(Exception):
    pass


class OutOfTime(BaseException):
    """The runner's time limit. Tests must not catch this exception."""


# --- which tests may run at the same time as others --------------------------------------------------------------

def shared(function):
    """Mark a test that may run beside other tests and on a busy machine. It counts, and checks words, statuses and files, but
    compares no times with expected values, and does not look at processes that are not its own. A module sets SHARED = True
    if this holds for most of its tests, and marks the others @alone."""
    function.company = ANY
    return function


def paired(function):
    """Mark a test that may run beside one other test of this kind. It compares times with those of a log, but does not need the
    full speed of the machine. A module with such tests sets PAIRED = True."""
    function.company = ONE
    return function


def alone(function):
    """Mark a test that needs the machine for itself. This is the default in modules without SHARED and PAIRED."""
    function.company = NONE
    return function


ANY, ONE, NONE = "any", "one", "none"


def company(function):
    """Return which tests may run beside this test."""
    module = sys.modules[function.__module__]
    usual = ANY if getattr(module, "SHARED", False) else ONE if getattr(module, "PAIRED", False) else NONE
    return getattr(function, "company", usual)


# --- assertions -------------------------------------------------------------------------------------

def short(value, limit=700):
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= limit else text[:limit // 2] + " ... " + text[-limit // 2:]


def check(condition, why):
    if not condition:
        raise Failure(short(why))


def check_equal(what, got, expected):
    if got != expected:
        raise Failure(f"{what}: got {short(got)}, expected {short(expected)}")


def check_between(what, got, low, high):
    if got is None or not low <= got <= high:
        raise Failure(f"{what}: got {got!r}, expected {low!r} to {high!r}")


def check_in(what, part, whole):
    if part not in whole:
        raise Failure(f"{what}: {part!r} is not in {short(whole)}")


def check_not_in(what, part, whole):
    if part in whole:
        raise Failure(f"{what}: {part!r} is in {short(whole)}")


def check_all_in(what, parts, whole):
    for part in parts:
        check_in(what, part, whole)


def check_none_in(what, parts, whole):
    for part in parts:
        check_not_in(what, part, whole)


def check_last(result, what="last thread wrong", rivals=0):
    """Check the last arrivers found by genlog.compare(). A thread that loses its CPU between reading its own clock and arriving
    at the barrier arrives later than its log says. rivals: episodes that are reported as having another possible last
    arriver."""
    check(result["last_wrong"] <= rivals + 1 + result["last_checked"] // 200,
          f"{what}: {result['last_wrong']} of {result['last_checked']}, {rivals} reported as doubtful")


def check_waits(result, error, what="error of the cumulative wait"):
    """Check that the threads' waits, from genlog.compare(), are close to the program's own. Context switches fall between the
    program's clock and the tracer's."""
    check_between(what, result["wait_error"], 0, error * busy_factor())


def wait_for(what, condition, seconds=10, step=0.005):
    """Poll until condition() is true, and return its value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failure(f"waited {seconds} s in vain: {what}")
        time.sleep(step)


CALM_NS = 6_000  # on an undisturbed machine, switch_ns() is below this


SWITCH_SECONDS = 2  # validity of a measurement, because some tests ask a hundred times in a row
_switch = None


def switch_ns():
    """Return the CPU time of a context switch, now and on this machine, that belongs to neither of its two tasks: the kernel's
    time stamp is before the switch, a tracer's is inside. It is 3 us on a calm machine, and several times that for minutes
    in a guest on a busy host. It is measured by a short sleep, which consists of two switches and little else."""
    global _switch
    if _switch is None or time.monotonic() > _switch[0] + SWITCH_SECONDS:
        took = []
        for _ in range(300):
            begin = time.thread_time_ns()
            time.sleep(0.0002)
            took.append(time.thread_time_ns() - begin)
        _switch = time.monotonic(), max(3_000, 0.6 * statistics.median(took))
    return _switch[1]


def busy_factor():
    """Return how many times as long as on a calm machine a context switch takes now: 1 to 4."""
    return min(max(switch_ns() / CALM_NS, 1), 4)


def stolen_ns():
    """Return the steal time of this machine's CPUs so far, which the kernel counts in ticks."""
    with open("/proc/stat", encoding="ascii") as f:
        return int(f.readline().split()[8]) * (1_000_000_000 // os.sysconf("SC_CLK_TCK"))


def margin_ns():
    """Return genlog.MARGIN_NS, scaled by the current cost of switches."""
    return genlog.MARGIN_NS * min(switch_ns() / 3_000, 10)


# --- files ------------------------------------------------------------------------------------------

def read_bytes(path):
    with open(path, "rb") as f:
        return f.read()


def read_text(path, errors="strict"):
    with open(path, encoding="utf-8", errors=errors) as f:
        return f.read()


def write_file(path, data):
    """Write a text, in UTF-8, or bytes."""
    with open(path, "wb") as f:
        f.write(data.encode() if isinstance(data, str) else data)


# --- programs ---------------------------------------------------------------------------------------

def workload(name):
    path = os.path.join(WORKLOADS, name)
    if not os.path.exists(path):
        raise Skip(f"{name} was not built here")
    return path


def short_of_cpu(cause):
    """On a busy machine, late threads wait for a CPU, and then no other cause may dominate."""
    parts = cause["parts"]
    waited = parts.get("no cpu", 0)
    return cause["dominant"] in ("no cpu", None) and waited >= 0.25 * sum(n for n in parts.values() if n > 0)


def source_lines(name, text):
    """Return the numbers of the lines of a workload's source that contain the text."""
    with open(os.path.join(SOURCES, name), encoding="utf-8") as f:
        return [n for n, line in enumerate(f, 1) if text in line]


def clean_environment(**more):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("SBT_", "SUDO_", "DEBUGINFOD", "NO_COLOR", "LD_"))}
    env["LC_ALL"] = "C"
    env.update(more)
    return env


# --- processes --------------------------------------------------------------------------------------

def read_proc(pid, name):
    try:
        return read_bytes(f"/proc/{pid}/{name}")
    except OSError:
        return b""


def stat_of(pid):
    """(state, parent) or None."""
    text = read_proc(pid, "stat")
    if b")" not in text:
        return None
    fields = text[text.rindex(b")") + 2:].split()
    return fields[0].decode(), int(fields[1])


def descendants(pid=None):
    """Return all processes below this one. Orphans become children of the runner, which is a subreaper."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            stat = stat_of(name)
            if stat:
                children.setdefault(stat[1], []).append(int(name))
    found, todo = [], [pid or os.getpid()]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def living():
    return [pid for pid in descendants() if (stat_of(pid) or "Z")[0] != "Z"]


def is_guard(pid):
    """Return whether this is sbt-trace's own guard process, which outlives sbt-trace for a moment and ends by itself."""
    return read_proc(pid, "comm").strip() == b"sbt-guard"


def become_subreaper():
    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap_strays(known=()):
    """Wait for orphans that became children of this process, but not for the children that Popen knows."""
    known = set(known)
    for pid in descendants():
        stat = stat_of(pid)
        if stat and stat[0] == "Z" and stat[1] == os.getpid() and pid not in known:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass


class Result:
    """The result of a process that has ended."""

    def __init__(self, args, rc, out, err):
        self.args, self.rc, self.stdout, self.stderr = args, rc, out, err

    @property
    def out(self):
        return self.stdout.decode("utf-8", "replace")

    @property
    def err(self):
        return self.stderr.decode("utf-8", "replace")

    def check_status(self, rc):
        """Check the exit status, unless @rc is None."""
        check(rc in (None, self.rc), f"exit status {self.rc}, expected {rc}: {short(self.args, 200)}; {short(self.err)}")
        return self


class Process:
    """A running process with its outputs in files, so that no process blocks on a pipe."""

    def __init__(self, test, args, env=None, stdin=subprocess.DEVNULL, stdout=None, cwd=None,
                 preexec_fn=None):
        self.test, self.args = test, [os.fspath(a) if not isinstance(a, bytes) else a for a in args]
        self._out = stdout or tempfile.TemporaryFile()
        self._own_out = stdout is None
        self._err = tempfile.TemporaryFile()
        self.popen = subprocess.Popen(
            self.args, env=clean_environment() if env is None else env, stdin=stdin,
            stdout=self._out, stderr=self._err, cwd=cwd, preexec_fn=preexec_fn)
        self.pid = self.popen.pid

    def _read(self, f):
        f.flush()
        return os.pread(f.fileno(), os.fstat(f.fileno()).st_size, 0)

    @property
    def out(self):
        return self._read(self._out).decode("utf-8", "replace") if self._own_out else ""

    @property
    def err(self):
        return self._read(self._err).decode("utf-8", "replace")

    def alive(self):
        return self.popen.poll() is None

    def signal(self, number):
        self.popen.send_signal(number)

    def write(self, data):
        self.popen.stdin.write(data)
        self.popen.stdin.flush()

    def wait(self, seconds=TIMEOUT):
        try:
            rc = self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"still running after {seconds} s: {short(repr(self.args))}; "
                          f"stderr: {short(self.err)}") from None
        return Result(self.args, rc, self._read(self._out) if self._own_out else b"",
                      self._read(self._err))


# --- output of sbt-trace ---------------------------------------------------------------------------------

_schema = None


def schema():
    global _schema
    if _schema is None:
        text = subprocess.run([SBT, "--json-schema"], check=True, stdout=subprocess.PIPE,
                              timeout=10).stdout
        _schema = json.loads(text)
    return _schema


TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def validate(value, rule, where, root):
    """Validate @value against the part of JSON Schema that sbt-trace's own schema uses. Unknown keywords are errors."""
    for word, arg in rule.items():
        if word in ("description", "title", "$schema", "$defs", "properties", "required"):
            continue
        if word == "type":
            names = [arg] if isinstance(arg, str) else arg
            check(any(is_type(value, n) for n in names), f"{where}: {value!r} is no {arg}")
        elif word == "const":
            check_equal(where, value, arg)
        elif word == "enum":
            check(value in arg, f"{where}: {value!r} is none of {arg}")
        elif word == "minimum":
            check(value is None or value >= arg, f"{where}: {value!r} is below {arg}")
        elif word == "items":
            for i, item in enumerate(value or []):
                validate(item, arg, f"{where}[{i}]", root)
        elif word == "additionalProperties":
            if arg is False:
                extra = set(value) - set(rule.get("properties", {}))
                check(not extra, f"{where}: unknown {sorted(extra)}")
            else:
                for key, item in value.items():
                    validate(item, arg, f"{where}.{key}", root)
        elif word == "oneOf":
            validate_one(value, arg, where, root)
        elif word == "$ref":
            validate(value, root["$defs"][arg.rsplit("/", 1)[1]], where, root)
        else:
            raise Failure(f"the schema uses {word!r}, which this test does not know")
    if isinstance(value, dict):
        for key in rule.get("required", []):
            check(key in value, f"{where}: {key!r} is missing")
        for key, item in value.items():
            sub = rule.get("properties", {}).get(key)
            if sub is not None:
                validate(item, sub, f"{where}.{key}", root)
            elif "properties" in rule and "additionalProperties" not in rule:
                raise Failure(f"{where}: {key!r} is not in the schema")


def validate_one(value, rules, where, root):
    reasons = []
    for rule in rules:
        const = rule.get("properties", {}).get("type", {}).get("const")
        if const is not None and (not isinstance(value, dict) or value.get("type") != const):
            continue
        try:
            validate(value, rule, where, root)
            return
        except Failure as e:
            reasons.append(str(e))
    raise Failure("; ".join(reasons) or f"{where}: {short(value)} is nothing that the schema knows")


class Trace:
    """sbt-trace's JSON Lines. The constructor checks what must hold for every trace."""

    def __init__(self, test, path, with_schema=True):
        test.traces.append(self)
        raw = read_bytes(path)
        check(raw.endswith(b"\n"), f"JSON ends in the middle of a line: {raw[-200:]!r}")
        self.records = []
        for number, line in enumerate(raw.decode("utf-8").split("\n")[:-1], 1):
            try:
                record = json.loads(line, parse_constant=_no_constant)
            except ValueError as e:
                raise Failure(f"line {number} is no JSON ({e}): {short(line)}") from None
            self.records.append(record)
        self.by_type = genlog.load_trace([])
        for record in self.records:
            self.by_type[record["type"]].append(record)
        self._check_frame()
        if with_schema:
            limit = {}
            for i, record in enumerate(self.records):
                # Thousands of episodes are alike, so only some are validated.
                limit[record["type"]] = limit.get(record["type"], 0) + 1
                if limit[record["type"]] <= 50:
                    validate_one(record, schema()["oneOf"], f"line {i + 1}", schema())

    def _check_frame(self):
        check(self.records, "no JSON was written")
        check_equal("first record", self.records[0]["type"], "session")
        check_equal("last record", self.records[-1]["type"], "end")
        for kind in ("session", "end"):
            check_equal(f"records {kind}", len(self.by_type[kind]), 1)

    def check_sums(self):
        """Check for every trace, after the test's own checks, that all losses are counted."""
        end = self.end
        check_equal("produced - consumed - lost", end["produced"] - end["consumed"] -
                    end["lost_total"], 0)
        # Tails and records of candidate barriers are of other kinds.
        others = ("tail_ring_full", "mark_ring_full", "candidate_lost", "candidate_not_examined", "wait_unprobed", "wait_uncounted",
                  "barrier_given_up", "caller_unknown", "probed_late", "mapped_unseen")
        crossings = sum(n for cause, n in end["lost"].items() if cause not in others)
        check_equal("sum of losses by cause", crossings, end["lost_total"])
        left_out = any(end[k] for k in ("cut", "shed", "shed_parts", "left_out", "unmet", "tasks", "arrivals_unseen",
                                           "departures_unknown"))
        left_out = left_out or any(r["kind"] in ("unread", "untraced", "copied", "trapped", "ranks_gone", "regions_unseen", "runtime_unseen")
                                   for r in self.all("remark"))
        # Waits other than inlined ones are counted as work, and the report of each process says so.
        left_out = left_out or any((p["untraced"] or "").startswith("std::barrier") for p in self.processes())
        check_equal("complete", end["complete"], not any(end["lost"].values()) and not left_out)

    @property
    def session(self):
        return self.by_type["session"][0]

    @property
    def end(self):
        return self.by_type["end"][0]

    def all(self, kind):
        return self.by_type[kind]

    def barriers(self, **fields):
        return [b for b in self.by_type["barrier"]
                if not b.get("interim") and all(b.get(k) == v for k, v in fields.items())]

    def barrier(self, **fields):
        found = self.barriers(**fields)
        check(len(found) == 1, f"{len(found)} barriers with {fields} of "
              f"{[(b['pid'], b['label'], b['episodes']) for b in self.barriers()]}")
        return found[0]

    def processes(self):
        rows = [p for p in self.by_type["process"] if not p.get("interim")]
        for row in rows:
            numbers = [t["index"] for t in row["threads"] if t["index"] is not None]
            check_equal("different numbers of threads", len(set(numbers)), len(numbers))
        return rows

    def process(self, **fields):
        found = [p for p in self.processes() if all(p.get(k) == v for k, v in fields.items())]
        check(len(found) == 1, f"{len(found)} processes with {fields} of "
              f"{[(p['pid'], p['comm'], p['episodes']) for p in self.processes()]}")
        return found[0]

    def episodes(self, **fields):
        """Return the number of complete episodes, from the table of barriers."""
        return sum(b["episodes"] for b in self.barriers(**fields))

    def crossings(self, **fields):
        return sum(b["crossings"] for b in self.barriers(**fields))

    def nothing_lost(self, may=()):
        check_equal("lost records", {k: v for k, v in self.end["lost"].items() if v and k not in may}, {})
        return self

    def compare(self, log, **options):
        """Call genlog.compare() with a margin that is certain in the machine's current state."""
        options.setdefault("margin_ns", margin_ns())
        for e in self.all("episode"):
            check(e["state"] != "complete" or None not in [m["arrive_ns"] for m in e["threads"]],
                  f"a complete episode with an arrival before clock_start_ns: {e}")
        return genlog.compare(log, self.by_type, **options)


def _no_constant(name):
    raise ValueError(f"{name} is no JSON")


# --- a test -----------------------------------------------------------------------------------------

class Test:
    """A folder for one test, and the processes that it started, until the end of the test."""

    def __init__(self, name):
        self.name = name
        self.dir = tempfile.mkdtemp(prefix="sbt-e2e-")
        self.processes = []
        self.finalizers = []
        self.traces = []
        self.counter = 0

    def path(self, name=None):
        if name is None:
            self.counter += 1
            name = f"file{self.counter}"
        return os.path.join(self.dir, name)

    def start(self, args, **options):
        p = Process(self, args, **options)
        self.processes.append(p)
        return p

    def run(self, args, timeout=TIMEOUT, rc=None, **options):
        """Run a program to its end, and check its exit status if one is given."""
        return self.start(args, **options).wait(timeout).check_status(rc)

    def at_end(self, function, *args):
        self.finalizers.append((function, args))

    def check_traces(self):
        for trace in self.traces:
            trace.check_sums()

    def close(self):
        """End everything that the test has left running. Return what went wrong meanwhile."""
        wrong = []
        end = time.monotonic() + 10
        while True:
            known = [p.pid for p in self.processes]
            for p in self.processes:
                p.popen.poll()
            reap_strays(known)
            left = [pid for pid in living() if not is_guard(pid)]
            if not left:
                break
            for pid in left:
                try:
                    # The process ends by itself. If it were killed while it attaches a probe, the probe could stay in a library
                    # of the machine.
                    if read_proc(pid, "comm") != b"sbt-apart\n":
                        os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if time.monotonic() > end:
                wrong.append(f"cannot be ended: {[(p, read_proc(p, 'comm')) for p in left]}")
                break
            time.sleep(0.005)
        for p in self.processes:
            if p.popen.stdin:
                try:
                    p.popen.stdin.close()
                except OSError:
                    pass
        for function, args in reversed(self.finalizers):
            try:
                function(*args)
            except Exception as e:
                wrong.append(f"cleaning up: {e}")
        shutil.rmtree(self.dir, ignore_errors=True)
        return wrong

    # --- sbt-trace ----------------------------------------------------------------------------------

    def sbt(self, *args, timeout=TIMEOUT, rc=None, **options):
        """Run sbt-trace to its end, and check its exit status if one is given."""
        result = self.run([SBT, *args], timeout, **options)
        self.no_crash(result)
        return result.check_status(rc)

    def no_crash(self, result):
        check(result.rc >= 0, f"sbt-trace was killed by signal {-result.rc}; {short(result.err)}")
        for word in ("AddressSanitizer", "runtime error", "LeakSanitizer"):
            check_not_in("stderr", word, result.err)

    def trace(self, command, *options, rc=0, schema=True, **more):
        """Run sbt-trace --json OPTIONS -- COMMAND. Return the Trace, with the Result as its .result."""
        path = self.path()
        result = self.sbt("--json", "-o", path, *options, "--", *command, rc=rc, **more)
        trace = Trace(self, path, schema)
        trace.result = result
        return trace

    def text(self, command, *options, rc=0, **more):
        """Run sbt-trace --detail OPTIONS -- COMMAND. Return the text report, with the Result as its .result."""
        path = self.path()
        result = self.sbt("--detail", "-o", path, *options, "--", *command, rc=rc, **more)
        self.result = result
        return read_text(path)

    def attach(self, *options, form="--json", **more):
        """Start sbt-trace with -p or -a in the background, and wait until it has begun. Return a Tracer."""
        return Tracer(self, options, form, more)

    def gen(self, *options, name="gen", wait=False, **more):
        """Start the generator in the background. With @wait, return when it is ready and waits to begin."""
        args = [workload(name) if "/" not in name else name, *options]
        if wait:
            args.append("--wait-start")
            more.setdefault("stdin", subprocess.PIPE)
        p = self.start(args, **more)
        if wait:
            wait_for("gen is ready", lambda: "ready" in p.out or not p.alive())
            check("ready" in p.out, f"gen did not start: {p.err}")
            p.begin = lambda: p.write(b"\n")
        return p


class Tracer:
    def __init__(self, test, options, form, more):
        self.test = test
        self.path = test.path()
        self.json = form == "--json"
        args = [SBT, form or "--detail", "-o", self.path, *options]
        self.process = test.start(args, **more)
        # The first record or the banner is written when all probes are attached.
        wait_for(f"sbt-trace {options} has begun: {self.process.err}",
                 lambda: self.size() or not self.process.alive(), 20)
        check(self.process.alive() or self.process.popen.returncode == 0,
              f"sbt-trace did not start: {self.process.err}")

    def size(self):
        try:
            return os.path.getsize(self.path)
        except OSError:
            return 0

    def text(self):
        return read_text(self.path, errors="replace")

    def stop(self, number=signal.SIGINT, rc=0, timeout=TIMEOUT):
        self.process.signal(number)
        return self.end(rc, timeout)

    def end(self, rc=0, timeout=TIMEOUT, schema=True):
        result = self.process.wait(timeout)
        self.test.no_crash(result)
        result.check_status(rc)
        if not self.json:
            self.result = result
            return self.text()
        trace = Trace(self.test, self.path, schema)
        trace.result = result
        return trace


# --- code bytes -------------------------------------------------------------------------------------

def code_of(pid):
    """Return (file, offset) -> bytes of every executable mapping of a file, as the process sees them."""
    code = {}
    maps = read_bytes(f"/proc/{pid}/maps")
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as mem:
        for line in maps.splitlines():
            fields = line.split(None, 5)
            if len(fields) < 6 or b"x" not in fields[1] or not fields[5].startswith(b"/"):
                continue
            first, last = (int(x, 16) for x in fields[0].split(b"-"))
            mem.seek(first)
            code[fields[5], int(fields[2], 16)] = mem.read(last - first)
    return code


def library_of(pid):
    """Return the file with a generator's barrier: libpthread, else the C library, else the program."""
    paths = {path.decode() for path, _ in code_of(pid)}
    for name in ("libpthread", "libc.", "ld-musl"):
        for path in paths:
            if os.path.basename(path).startswith(name):
                return path
    return os.readlink(f"/proc/{pid}/exe")


def function_at(path, name):
    """Return the offset in a shared library at which a dynamic function's code begins."""
    symbols = subprocess.run(["readelf", "-W", "--dyn-syms", path], stdout=subprocess.PIPE, check=True, text=True).stdout
    return int(re.search(rf" ([0-9a-f]+) +\d+ FUNC .* {name}@@", symbols).group(1), 16)


def kernel_log():
    return subprocess.run(["dmesg"], stdout=subprocess.PIPE, check=True, text=True, errors="replace").stdout.splitlines()


def probes_left_by_kernel(pid, before):
    """Return the kernel's messages, after @before, about probes that it could not remove. They must concern probes of this
    sbt-trace, or of its separate process. The kernel also reports probes that disappeared because a file was truncated:
    those are from other tests."""
    log = "\n".join(line for line in kernel_log() if line not in before)
    return re.findall(rf"uprobe: (?:sbt-trace:{pid}|sbt-apart:\d+) .*leaking uprobe", log)


def episodes_by_function(trace):
    """Return the episodes of pthread barriers by function. The key is None for barriers without a name."""
    found = {}
    for b in trace.barriers(family="pthread"):
        found[b.get("function")] = found.get(b.get("function"), 0) + b["episodes"]
    return found


def trace_blindfolded(t, *options):
    """Trace dlopen_lib with a tracer that is stopped from the first use of a library to the end."""
    tracer = t.attach(*options, "--", workload("dlopen_lib"), "1000000")

    def mapped():
        return [pid for pid in descendants(tracer.process.pid) if b"/libbar.so" in read_proc(pid, "maps")]

    pid = wait_for("libbar.so", mapped)[0]
    time.sleep(0.4)
    os.kill(tracer.process.pid, signal.SIGSTOP)
    wait_for("its end", lambda: not stat_of(pid) or stat_of(pid)[0] == "Z")
    os.kill(tracer.process.pid, signal.SIGCONT)
    return tracer.end()


def wait_for_probe(pid, path, place):
    """Poll without a pause until a probe is at an offset of a shared library."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as f:
        row = next(m for m in (line.split(maxsplit=5) for line in f) if "x" in m[1] and m[5:] == [path + "\n"])
    memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
    at = int(row[0].split("-")[0], 16) + place - int(row[2], 16)
    with open(path, "rb") as f:
        f.seek(place)
        unprobed = f.read(1)
    end = time.monotonic() + 20
    try:
        while os.pread(memory, 1, at) == unprobed:
            check(time.monotonic() < end, "no probe is seen")
    finally:
        os.close(memory)


def code_in_files(pid):
    """Return the same mappings, as the files have them."""
    code = {}
    for (path, offset), data in code_of(pid).items():
        with open(path, "rb") as f:
            f.seek(offset)
            part = f.read(len(data))
        code[path, offset] = part + bytes(len(data) - len(part))
    return code


def code_differs(pid):
    """Return how many bytes of code differ from the files. Mappings that were unmapped between the two reads do not count."""
    there, ought = code_of(pid), code_in_files(pid)
    return sum(sum(a != b for a, b in zip(there[key], ought[key]))
               for key in there if key in ought and there[key] != ought[key])


# --- texts ------------------------------------------------------------------------------------------

def read_csv(path):
    """Return the rows as dictionaries. Every row must have as many cells as there are columns."""
    text = read_bytes(path).decode("utf-8")
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    check(rows, "no CSV was written")
    for number, row in enumerate(rows, 1):
        check_equal(f"cells of row {number}", len(row), len(rows[0]))
    check_equal("columns named twice", len(set(rows[0])), len(rows[0]))
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def interpreter(path):
    """Return the dynamic linker that a program names."""
    data = read_bytes(path)
    phoff, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for i in range(count):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", data, phoff + i * size)
        if kind == 3:
            return data[offset:offset + length].rstrip(b"\0").decode()
    return None


def libraries(path):
    """Return the libraries that a program would load, by name, according to the dynamic linker."""
    out = subprocess.run(["ldd", path], stdout=subprocess.PIPE, check=True, text=True).stdout
    return re.findall(r"=> (/\S+)", out)
