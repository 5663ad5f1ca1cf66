# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Lost records are counted exactly, reported clearly, and never taken for an imbalance."""

import os
import re
import signal
import time

from harness import (SBT, Trace, check, check_between, check_equal, check_in, check_last, genlog, read_csv, read_text,
                     wait_for, workload)

PAIRED = True

TINY = ["--ring-size", "4"]


def stopped_consumer(t, gen_options, *options, form="--json", seconds=0.4):
    """Stop sbt-trace while the program runs. Return the Result, and the path of the output."""
    path = t.path()
    gen = t.gen(*gen_options, wait=True)
    p = t.start([SBT] + [form or "--detail"] + ["-o", path, *options, "-p", str(gen.pid)])
    wait_for("sbt-trace has begun", lambda: os.path.exists(path) and os.path.getsize(path))
    p.signal(signal.SIGSTOP)
    gen.begin()
    end = time.monotonic() + seconds
    while time.monotonic() < end and gen.alive():
        time.sleep(0.01)
    p.signal(signal.SIGCONT)
    check_equal("gen", gen.wait().rc, 0)
    result = p.wait()
    check_equal("status", result.rc, 0)
    return result, path


def lossy_but_true(trace, log, **options):
    """Check that the number of produced records equals consumed plus lost ones, and that complete episodes are right. @options:
    for compare()."""
    end = trace.end
    check(end["lost_total"] > 0, "nothing was lost")
    check_equal("complete", end["complete"], False)
    check_equal("crossings made", end["produced"], len(log.crossings))
    check_equal("crossings counted", end["crossings"], end["consumed"])
    result = trace.compare(log, **options)
    check_equal("complete episodes that are wrong", result["extra"], 0)
    check_last(result)
    known = {e.release: e for e in log.episodes()}
    check(result["matched"] <= len(known), "more episodes than there were")
    barrier = trace.barrier()
    check_equal("complete ones", barrier["episodes"], result["matched"])
    check_equal("of the imbalance", sum(m["last"] for m in barrier["threads"]), barrier["episodes"])
    complete = [e for e in trace.all("episode") if e["state"] == "complete"]
    check_equal("lost time is of complete ones only", barrier["lost_ns"],
                sum(m["wait_ns"] for e in complete for m in e["threads"]))
    check_equal("other episodes", barrier["incomplete"] + barrier["ambiguous"],
                len(trace.all("episode")) - len(complete))


def reports_shared_memory():
    """Return whether the kernel can report the memory in which a barrier was made. It can from 5.17 on (bpf_find_vma)."""
    return tuple(map(int, re.match(r"(\d+)\.(\d+)", os.uname().release).groups())) >= (5, 17)


def gone_before(t, name, *options, form="--json"):
    """Return the trace of a workload that is a child of COMMAND, while sbt-trace is stopped, and its output; without a format,
    the text."""
    path, go, ready = t.path(), t.path(), t.path()
    gen = " ".join([workload(name), *options])
    p = t.start([SBT, *([form, "-W"] if form else ["--detail"]), "-o", path, "--", "sh", "-c",
                 f"echo >{ready}; until [ -e {go} ]; do sleep 0.05; done; {gen} >{go} 2>&1; echo ok >>{go}; exit 0"])
    wait_for("COMMAND is no longer held", lambda: os.path.exists(ready))
    p.signal(signal.SIGSTOP)
    with open(go, "wb"):
        pass
    wait_for("it has ended", lambda: "ok\n" in open(go, encoding="utf-8").read())
    time.sleep(0.2)
    p.signal(signal.SIGCONT)
    check_equal("status", p.wait().rc, 0)
    if form:
        trace = Trace(t, path)
        trace.said = read_text(go)
        return trace
    return read_text(path)


def test_gone_before_it_was_looked_at(t):
    """When a barrier is made, the kernel reports which memory the processes share there, also for their children. If it does
    not, one process's part of an episode is not reported as an episode of its own."""
    trace = gone_before(t, "gen", "--threads", "2", "--processes", "3", "--rounds", "50", "--work", "stair:50us:50us").nothing_lost()
    episodes = trace.all("episode")
    check_equal("crossings", sum(len(e["threads"]) for e in episodes), 2 * 3 * 50)
    check_equal("called complete", {len(e["threads"]) for e in episodes if e["state"] == "complete"} - {6}, set())
    if reports_shared_memory():
        check_equal("episodes", (len(episodes), trace.end["episodes"], trace.end["unmet"]), (50, 50, 0))
        check_equal("groups", len(trace.all("group")), 1)
    else:
        check_equal("unmet", (trace.end["unmet"], trace.end["complete"]), (300, False))


def shared_at_one_address(trace):
    pairs = sorted(tuple(map(int, line.split()[1:])) for line in trace.said.splitlines() if line.startswith("pair"))
    met = sorted(tuple(sorted(m["tid"] for m in e["threads"])) for e in trace.all("episode") if e["state"] == "complete")
    if reports_shared_memory():
        trace.nothing_lost()
        check_equal("pairs in episodes", met, sorted(20 * [tuple(sorted(pair)) for pair in pairs]))
    else:
        check_equal("pairs in episodes, and possible ones", (met, trace.end["unmet"]), ([], 240))


def test_gone_and_shared_at_one_address(t):
    """Each process has other memory at the same address. The episodes are kept separate."""
    for options in ([], ["file"]):
        shared_at_one_address(gone_before(t, "shm_again", "6", "20", *options))


def test_gone_and_shared_with_unknown_processes(t):
    """Each child maps the memory again. It can no longer be known which memory that was. One process's part of an episode is
    not an episode of its own, and no thread is reported as waiting for no other."""
    options = ["--threads", "1", "--processes", "3", "--rounds", "50", "--work", "stair:50us:50us", "--shm", t.path()]
    trace = gone_before(t, "gen", *options)
    check_equal("crossings", (trace.end["crossings"], trace.end["unmet"], trace.end["complete"]), (150, 150, False))
    check_equal("called complete", [e for e in trace.all("episode") if e["state"] == "complete"], [])
    for b in trace.barriers():
        check_equal("lost", (b["unmet"], b["wait_ns"], b["lost_ns"]), (50, None, None))
        check_in("verdict", "Its other participants are unknown", b["verdict"])
    for p in trace.processes():
        check_equal("lost in all", (p["unmet"], p["wait_ns"]), (50, None))
        check_in("verdict", "The waits there are unknown", p["verdict"])
    check_in("reported", "INCOMPLETE: 150 crossings of barriers that processes share", gone_before(t, "gen", *options, form=None))


def test_gone_and_shared_by_none(t):
    """Processes could share the barrier, but it is in the process's own memory, so all members are of that process."""
    trace = gone_before(t, "gen", "--threads", "3", "--shared", "--rounds", "50", "--work", "stair:50us:50us").nothing_lost()
    check_equal("episodes", (trace.end["episodes"], trace.end["incomplete"], trace.end["unmet"]), (50, 0, 0))


def test_gone_and_called_by_its_name(t):
    """The mappings of a program that has ended can no longer be read. exec reported where its own code was."""
    trace = gone_before(t, "gen", "--threads", "3", "--sites", "2", "--rounds", "50", "--work", "stair:50us:50us")
    trace.nothing_lost()
    check_equal("sites", sorted((b["function"], b["file"] and os.path.basename(b["file"]), b["episodes"])
                                for b in trace.barriers()), [("site_0", "gen.c", 25), ("site_1", "gen.c", 25)])


def test_tiny_ring(t):
    log = t.path()
    _, path = stopped_consumer(t, ["--threads", "4", "--rounds", "6000", "--log", log], "-W", *TINY)
    trace = Trace(t, path)
    lossy_but_true(trace, genlog.Log(log))
    check(trace.end["lost"]["ring_full"] > 0, f"lost: {trace.end['lost']}")


def test_tiny_ring_with_different_counts(t):
    """Threads skip every other round, while records are lost."""
    log = t.path()
    _, path = stopped_consumer(t, ["--threads", "4", "--rounds", "5000", "--recreate", "3", "--log",
                                   log], "-W", *TINY)
    lossy_but_true(Trace(t, path), genlog.Log(log))


def test_stopped_again_and_again(t):
    log, path = t.path(), t.path()
    gen = t.gen("--threads", "3", "--forever", "--rounds", "100000", "--work", "stair:20us:20us",
                "--log", log, wait=True)
    p = t.start([SBT, "--json", "-W", *TINY, "-o", path, "-p", str(gen.pid)])
    wait_for("sbt-trace has begun", lambda: os.path.exists(path) and os.path.getsize(path))
    gen.begin()
    for _ in range(8):
        p.signal(signal.SIGSTOP)
        time.sleep(0.05)
        p.signal(signal.SIGCONT)
        time.sleep(0.05)
    gen.signal(signal.SIGTERM)
    gen.wait()
    check_equal("status", p.wait().rc, 0)
    lossy_but_true(Trace(t, path), genlog.Log(log))


def test_stopped_consumer_with_the_usual_ring(t):
    """4 MiB per CPU are enough for a while, and records in them are not lost."""
    log = t.path()
    _, path = stopped_consumer(t, ["--threads", "2", "--rounds", "4000", "--log", log], "-W",
                               seconds=1)
    trace = Trace(t, path).nothing_lost()
    result = trace.compare(genlog.Log(log))
    check_equal("missing, extra", (result["missing"], result["extra"]), (0, 0))


def test_command_and_tiny_ring(t):
    path, log = t.path(), t.path()
    p = t.start([SBT, "--json", "-W", *TINY, "-o", path, "--", workload("gen"), "--threads", "4",
                 "--rounds", "20000", "--log", log])
    wait_for("sbt-trace has begun", lambda: os.path.exists(path) and os.path.getsize(path))
    p.signal(signal.SIGSTOP)
    time.sleep(0.3)
    p.signal(signal.SIGCONT)
    check_equal("status", p.wait().rc, 0)
    trace = Trace(t, path)
    lossy_but_true(trace, genlog.Log(log))


def test_text_says_so_on_the_last_line(t):
    _, path = stopped_consumer(t, ["--threads", "4", "--rounds", "6000"], *TINY, form=None)
    text = read_text(path)
    last = text.rstrip("\n").splitlines()[-1]
    check(last.startswith("INCOMPLETE: ") and "records lost" in last, f"last line: {last}")
    check_in("LOST", "the buffers were full", text)


def test_end_of_the_text_of_a_complete_run(t):
    text = t.text([workload("gen"), "--rounds", "100"])
    check("INCOMPLETE" not in text, "INCOMPLETE without a loss")


def test_csv_says_so(t):
    _, path = stopped_consumer(t, ["--threads", "4", "--rounds", "6000"], *TINY, form="--csv")
    end = [r for r in read_csv(path) if r["type"] == "end"][0]
    check_equal("complete", end["complete"], "false")
    check_equal("sum", int(end["produced"]), int(end["consumed"]) + int(end["lost_total"]))


def test_nothing_is_lost_back_to_back(t):
    trace = t.trace([workload("gen"), "--threads", "4", "--duration", "2"]).nothing_lost()
    check_equal("incomplete", trace.end["incomplete"], 0)
    rounds = int(trace.result.out.split("rounds=")[1].split()[0])
    check_equal("episodes", trace.end["episodes"], rounds)


def sleeps(process):
    return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", read_text(f"/proc/{process.pid}/status"), re.M).group(1))


def test_seldom_awake(t):
    """If there is little to read, sbt-trace wakes up rarely, because a team that fills the CPUs waits for any process that
    takes one."""
    target = t.gen("--threads", "2", "--work", "fixed:0=1ms,1=1ms", "--forever", wait=True)
    tracer = t.attach("-p", str(target.pid))
    target.begin()
    time.sleep(0.5)
    before = sleeps(tracer.process)
    time.sleep(1)
    woken = sleeps(tracer.process) - before
    trace = tracer.stop()
    check(trace.end["crossings"] > 100, f"hardly anything was crossed: {trace.end}")
    trace.nothing_lost()
    check_between("times that it woke up in a second", woken, 5, 50)

