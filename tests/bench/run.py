#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""The measured figures of the project, as ratios within one run. Benchmarks, not tests: nothing fails here.

usage: tests/bench/run.py [NAME...]     names: cost bpftrace accuracy loss memory start strangers model
"""
import json
import os
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SBT = os.path.join(ROOT, "build/sbt-trace")
WORK = os.path.join(ROOT, "build/workloads")
BENCH = os.path.join(ROOT, "build/bench")
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
ENV = dict(os.environ, SBT_OPTIONS="0")


def workload(name):
    return os.path.join(WORK, name)


def libc():
    out = subprocess.run(["ldd", workload("gen")], capture_output=True, text=True, check=True).stdout
    return os.path.realpath(re.search(r"libc\.so\.6 => (\S+)", out).group(1))


def last_object(out):
    """The last line that is a JSON object."""
    return json.loads([line for line in out.splitlines() if line.startswith("{")][-1])


def median(values):
    return statistics.median(values)


def say(text, figure, bound=None, unit=""):
    state = "" if bound is None else ("  (wanted: at most %g%s)" % (bound, unit))
    print("%-72s %8.3g%s%s" % (text, figure, unit, state), flush=True)


class Holder:
    """A program that puts probes in place and keeps them until it is told to go."""

    def __init__(self, argv, ready, stream="stdout", **kwargs):
        self.p = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, env=ENV, **kwargs)
        for line in getattr(self.p, stream):
            if ready in line:
                return
        raise RuntimeError("%s did not become ready: %s" % (argv[0], self.p.stderr.read()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.p.send_signal(signal.SIGINT)
        try:
            self.p.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.p.kill()
            self.p.communicate()


def empty_session():
    return Holder([os.path.join(BENCH, "bench_empty"), os.path.join(BENCH, "empty.bpf.o"), libc()], "ready")


def run_under(holder, extra=()):
    if holder == "sbt":
        with tempfile.NamedTemporaryFile() as out:
            run = subprocess.run([SBT, "-q", "-o", out.name, "--", workload("bench_crossing"), *extra],
                                 capture_output=True, text=True, env=ENV, timeout=120)
            return last_object(run.stdout)
    if holder == "bare":
        run = subprocess.run([workload("bench_crossing"), *extra], capture_output=True, text=True, timeout=120)
        return last_object(run.stdout)
    with holder():
        return run_under("bare", extra)


def bench_cost():
    rows = {"bare": [], "empty": [], "sbt": []}
    for _ in range(9):
        rows["bare"].append(run_under("bare")["ns_per_call"]["median"])
        rows["empty"].append(run_under(empty_session)["ns_per_call"]["median"])
        rows["sbt"].append(run_under("sbt")["ns_per_call"]["median"])
    ratios = [(s - b) / (e - b) for b, e, s in zip(rows["bare"], rows["empty"], rows["sbt"])]
    print("one thread, ns a crossing: bare %.0f, empty session %.0f, sbt-trace %.0f" %
          tuple(median(rows[k]) for k in ("bare", "empty", "sbt")))
    say("added cost of a crossing, one thread, against an empty session", median(ratios), 1.35)
    print("    single ratios: " + " ".join("%.2f" % r for r in sorted(ratios)))


BPFTRACE = ("uprobe:%(libc)s:pthread_barrier_wait { @t[tid] = nsecs; } "
            "uretprobe:%(libc)s:pthread_barrier_wait /@t[tid]/ { @wait[tid] = sum(nsecs - @t[tid]); delete(@t[tid]); } "
            "BEGIN { printf(\"ready\\n\"); }")


def bench_bpftrace():
    extra = ("--threads", "4", "--seconds", "3")
    rows = {"bare": [], "bpftrace": [], "sbt": []}
    script = BPFTRACE % {"libc": libc()}
    for _ in range(7):
        rows["bare"].append(run_under("bare", extra)["ns_per_episode"])
        rows["bpftrace"].append(run_under(lambda: Holder(["bpftrace", "-e", script], "ready"), extra)["ns_per_episode"])
        rows["sbt"].append(run_under("sbt", extra)["ns_per_episode"])
    ratios = [(s - b) / (e - b) for b, e, s in zip(rows["bare"], rows["bpftrace"], rows["sbt"])]
    print("4 threads on %d CPUs, ns an episode: bare %.0f, bpftrace %.0f, sbt-trace %.0f" %
          ((os.cpu_count(),) + tuple(median(rows[k]) for k in ("bare", "bpftrace", "sbt"))))
    say("added cost of an episode, 4 threads, against bpftrace summing waits", median(ratios), 0.8)
    print("    single ratios: " + " ".join("%.2f" % r for r in sorted(ratios)))


def bench_accuracy():
    import genlog
    for threads in (2, 4, 8, 32):
        rounds = {2: 4000, 4: 4000, 8: 3000, 32: 2000}[threads]
        with tempfile.TemporaryDirectory() as d:
            log, trace = os.path.join(d, "log"), os.path.join(d, "trace")
            subprocess.run([SBT, "--json", "-W", "-o", trace, "--no-warnings", "--", workload("gen"), "--threads",
                            str(threads), "--rounds", str(rounds), "--work", "random:20us:600us:1",
                            "--work-by", "sleep", "--log", log], check=True, stdout=subprocess.DEVNULL, env=ENV)
            r = genlog.compare(genlog.Log(log), genlog.load_trace(trace))
        print("%2d threads, %d rounds: %d found, %d missing, %d more; last wrong %d of %d" %
              (threads, rounds, r["matched"], len(r["missing"]) if hasattr(r["missing"], "__len__") else r["missing"],
               len(r["extra"]) if hasattr(r["extra"], "__len__") else r["extra"],
               len(r["last_wrong"]) if hasattr(r["last_wrong"], "__len__") else r["last_wrong"], r["last_checked"]))
        say("    barrier time, median error", r["barrier_error_ns"]["median"] / 1000, 5, " us")
        say("    cumulative wait, largest error of a thread", r["wait_error"] * 100, 2, " %")


def trace_json(argv, seconds, extra=()):
    """Runs sbt-trace on argv and returns (end record, peak RSS in MiB of sbt-trace)."""
    with tempfile.NamedTemporaryFile() as out:
        p = subprocess.Popen([SBT, "--json", "-o", out.name, *extra, "--", *argv], stdout=subprocess.DEVNULL, env=ENV)
        peak = 0
        while p.poll() is None:
            try:
                with open("/proc/%d/status" % p.pid, encoding="ascii", errors="replace") as f:
                    peak = max(peak, int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1)))
            except (OSError, AttributeError):
                pass
            time.sleep(0.2)
        records = [json.loads(line) for line in open(out.name, encoding="utf-8")]
    return records[-1], peak / 1024


def bench_loss():
    end, peak = trace_json([workload("bench_crossing"), "--threads", "4", "--seconds", "60"], 60)
    print("60 s of back-to-back barriers by 4 threads: %d episodes, %d crossings" % (end["episodes"], end["crossings"]))
    say("    crossings lost", sum(end["lost"].values()), 0)
    say("    peak memory of sbt-trace", peak, 32, " MiB")


def bench_memory():
    end, peak = trace_json([workload("bench_crossing"), "--threads", "2", "--seconds", "50"], 50)
    print("nothing watched, %d episodes, %d lost" % (end["episodes"], sum(end["lost"].values())))
    say("    peak memory of sbt-trace", peak, 32, " MiB")
    subprocess.run([os.path.join(BENCH, "bench_model")], check=False)


def bench_start():
    armed, whole = [], []
    for _ in range(11):
        with tempfile.NamedTemporaryFile() as out:
            begin = time.monotonic()
            subprocess.run([SBT, "--json", "-o", out.name, "--", "/bin/true"], stderr=subprocess.DEVNULL, env=ENV)
            whole.append((time.monotonic() - begin) * 1000)
            session = json.loads(open(out.name, encoding="utf-8").readline())
            armed.append(session["armed_ns"] / 1e6)
    say("from start to armed, median", median(armed), 150, " ms")
    say("sbt-trace -- /bin/true as a whole, median", median(whole), None, " ms")


def bench_strangers():
    def stranger():
        out = subprocess.run([workload("stranger")], capture_output=True, text=True, check=True).stdout
        return last_object(out)

    target = subprocess.Popen([workload("gen"), "--threads", "2", "--forever", "--work", "fixed:0=50ms,1=50ms",
                               "--work-by", "sleep"], stdout=subprocess.DEVNULL)
    rows = {"bare": [], "traced": [], "filtered": []}
    try:
        for _ in range(7):
            rows["bare"].append(stranger())
            for name, extra in (("traced", ()), ("filtered", ("--no-children",))):
                with tempfile.NamedTemporaryFile() as out:
                    p = subprocess.Popen([SBT, *extra, "-q", "--json", "-o", out.name, "-p", str(target.pid)], env=ENV)
                    while not open(out.name, encoding="utf-8").read():
                        time.sleep(0.02)
                    rows[name].append(stranger())
                    p.send_signal(signal.SIGINT)
                    p.wait()
    finally:
        target.terminate()
        target.wait()
    loop = [t["loop_ns"]["median"] / b["loop_ns"]["median"] for b, t in zip(rows["bare"], rows["traced"])]
    say("a stranger that calls no probed function: slowed by the factor", median(loop), None)
    for name, text in (("traced", "one that does, children followed"), ("filtered", "one that does, --no-children")):
        added = [t["wait_ns"]["median"] - b["wait_ns"]["median"] for b, t in zip(rows["bare"], rows[name])]
        say("%s: added to a crossing" % text, median(added), None, " ns")


def bench_model():
    subprocess.run([os.path.join(BENCH, "bench_model")], check=False)


ALL = {"cost": bench_cost, "bpftrace": bench_bpftrace, "accuracy": bench_accuracy, "start": bench_start,
       "strangers": bench_strangers, "model": bench_model, "memory": bench_memory, "loss": bench_loss}


def main():
    names = sys.argv[1:] or list(ALL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name in names:
        if name not in ALL:
            sys.exit("unknown benchmark %s: %s" % (name, " ".join(ALL)))
    for name in names:
        print("== " + name, flush=True)
        ALL[name]()


main()
