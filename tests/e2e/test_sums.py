# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""How a thread spent its phase: the parts add up, little is unattributed, and the time on a CPU equals the thread's own clock."""

import bisect
import collections
import os
import time

from harness import check, check_between, check_equal, read_text, switch_ns, wait_for, workload
from test_cause import LateLog, disk_folder
from test_hard import with_log

FLOOR_NS = 100_000  # shorter phases take microseconds, which the probes themselves need
CLOSE_NS = 3_000  # the cost of reading clocks and of probes, in any phase
# Phases in which the host took the CPU, which only the thread's own clock excludes: in a guest of a busy host, 5 % were. A
# systematic error would affect all phases of its kind.
OUTLIERS = 0.12
# The maximum time between a probe and the program's own reading of its CPU time, unless the thread lost the CPU.
GAP_NS = 50_000

Mark = collections.namedtuple("Mark", "arrive depart cpu_enter cpu_leave enter leave")


def marks_of_gen(log):
    """Return tid -> crossings in order, from the generator's log."""
    marks = collections.defaultdict(list)
    for c in sorted(log.crossings, key=lambda c: c.arrive):
        marks[c.tid].append(Mark(c.arrive, c.depart, c.cpu_enter, c.cpu_leave, c.enter, c.leave))
    return marks


def marks_of_late(log):
    marks = collections.defaultdict(list)
    for n in sorted(log.crossings):
        for tid, stamps in log.crossings[n].items():
            marks[tid].append(Mark(*stamps))
    return marks


def parts(m):
    return [m["oncpu_ns"], m["runq_ns"], *m["blocked_ns"].values(), m["unattributed_ns"]]


def phases(trace, marks):
    """Return every thread's phase in every complete episode, with the crossing of the log that ended it and the previous one.
    The previous departure has sbt-trace's own time stamp."""
    start = trace.session["clock_start_ns"]
    crossings = collections.defaultdict(list)
    for e in trace.all("episode"):
        if e["state"] == "complete":
            for m in e["threads"]:
                crossings[m["tid"]].append(m)
    for tid, own in crossings.items():
        own.sort(key=lambda m: m["arrive_ns"])
        arrivals = [mark.arrive for mark in marks[tid]]
        before = None
        for m in own:
            i = bisect.bisect_right(arrivals, m["arrive_ns"] + start) - 1
            check(i >= 0 and m["arrive_ns"] + start <= marks[tid][i].depart,
                  f"an arrival that the log does not know: {m}")
            if before and i:
                yield m, marks[tid][i], marks[tid][i - 1], before["depart_ns"] + start, \
                    m["arrive_ns"] + start
            before = m


def check_sums(trace, marks, expected):
    seen = off = unattributed = outside = held = compared = 0
    switch = switch_ns()
    worst, own_sum, got_sum, slack = [], collections.Counter(), collections.Counter(), \
        collections.Counter()
    for m, mark, last, depart, arrive in phases(trace, marks):
        seen += 1
        work = m["work_ns"]
        check_between("work_ns", work, arrive - depart - 2, arrive - depart + 2)
        check(all(p is not None and p >= 0 for p in parts(m)), f"a part is unknown or negative: {m}")
        check(m["fault_ns"] <= m["oncpu_ns"], f"more time in faults than on a CPU: {m}")
        off += abs(sum(parts(m)) - work) > 0.01 * work
        if work < FLOOR_NS:
            continue
        held += 1
        if m["unattributed_ns"] >= 0.02 * work:
            unattributed += 1
            worst.append(m)
        gaps = (last.depart - depart, arrive - mark.arrive)
        if max(last.leave - depart, arrive - mark.enter) > GAP_NS or min(gaps) < 0:
            continue
        compared += 1
        # The thread's own clock stands still while the host has its CPU. The reported steal time may have been before, inside
        # the barrier, because the kernel only checks at certain events. Steal time within page faults is reported as fault
        # time.
        own, stolen = mark.cpu_enter - last.cpu_leave + sum(gaps), m.get("stolen_ns") or 0
        in_faults = m["fault_ns"] if stolen else 0
        close = CLOSE_NS + switch * m["switches"]
        # In a phase that was hardly on a CPU, one per cent of the phase is the tolerance.
        close_by = 0.01 * (own if own >= FLOOR_NS else work) + close
        if not own - close_by <= m["oncpu_ns"] <= own + stolen + in_faults + close_by:
            outside += 1
            worst.append(dict(tid=m["tid"], by_itself=own, oncpu_ns=m["oncpu_ns"], stolen_ns=stolen,
                              switches=m["switches"], fault_ns=m["fault_ns"], phase=(depart, arrive)))
            continue
        if stolen:
            continue
        own_sum[m["tid"]] += own
        got_sum[m["tid"]] += m["oncpu_ns"]
        slack[m["tid"]] += close
    check(seen >= expected, f"{seen} phases were seen, {expected} expected")
    check(held >= 0.2 * seen, f"only {held} of {seen} phases are long enough to be held against it")
    check_equal("phases with parts that do not add up", off, 0)
    check(compared >= 0.25 * held, f"only {compared} of {held} phases have whole looks at the thread's clock")
    check(not unattributed,
          f"{unattributed} of {held} phases with 2 % or more unattributed: {worst[:2]}")
    check(outside <= OUTLIERS * held,
          f"time on a CPU is another in {outside} of {held} phases: {worst[:2]}")
    for tid, own in own_sum.items():
        check_between(f"time on a CPU of {tid}", got_sum[tid], 0.99 * own - slack[tid],
                      1.01 * own + slack[tid])
    return trace


def generator(t, *options, phases_expected):
    trace, log = with_log(t, *options)
    trace.nothing_lost()
    check_sums(trace, marks_of_gen(log), phases_expected)
    check_threads(trace)
    return trace


def check_threads(trace):
    """Check that the figures of a barrier's threads are the sums over its episodes."""
    if len(trace.barriers()) != 1:
        return
    total = collections.defaultdict(collections.Counter)
    for e in trace.all("episode"):
        for m in e["threads"]:
            if m["work_ns"] is None or m["oncpu_ns"] is None:
                continue
            sums = total[m["tid"]]
            sums.update(oncpu_ns=m["oncpu_ns"], runq_ns=m["runq_ns"])
            sums.update({f"blocked {k}": v for k, v in m["blocked_ns"].items()})
    for thread in trace.barrier()["threads"]:
        sums = total[thread["tid"]]
        got = {"oncpu_ns": thread["oncpu_ns"], "runq_ns": thread["runq_ns"],
               **{f"blocked {k}": v for k, v in thread["blocked_ns"].items()}}
        check_equal(f"sums of {thread['tid']}", {k: v for k, v in got.items() if v},
                    {k: v for k, v in sums.items() if v})


def test_working(t):
    generator(t, "--threads", "2", "--rounds", "500", "--work", "random:100us:1500us:3",
              phases_expected=990)


def test_sleeping(t):
    trace = generator(t, "--threads", "4", "--rounds", "500", "--work", "random:100us:1500us:4",
                      "--work-by", "sleep", phases_expected=1980)
    barrier = trace.barrier()
    slept = sum(m["blocked_ns"]["sleep"] for m in barrier["threads"])
    check(slept > 0.5 * sum(m["work_ns"] for m in barrier["threads"]), f"only {slept} ns slept")


def test_more_threads_than_cpus(t):
    trace = generator(t, "--threads", "12", "--rounds", "120", "--work", "random:200us:2ms:5",
                      phases_expected=1400)
    barrier = trace.barrier()
    check(sum(m["runq_ns"] for m in barrier["threads"]) > 0, "no thread waited for a CPU")


def test_more_threads_than_cpus_and_sleeps(t):
    generator(t, "--threads", "8", "--rounds", "200", "--work", "stair:300us:300us", "--work-by", "both",
              phases_expected=1580)


def test_processes(t):
    generator(t, "--threads", "2", "--processes", "2", "--rounds", "300", "--work",
              "rotate:200us:800us", "--work-by", "both", phases_expected=1190)


def test_short_phases(t):
    """The phases are hardly longer than the probes. The parts add up all the same."""
    trace, log = with_log(t, "--threads", "2", "--rounds", "2000", "--work", "random:1us:50us:6")
    for m, *_ in phases(trace, marks_of_gen(log)):
        check(all(p is not None and p >= 0 for p in parts(m)), f"a part is unknown or negative: {m}")
        check_between("parts", sum(parts(m)), 0.99 * m["work_ns"], 1.01 * m["work_ns"])


def blocked_for_a_reason(t, mode, *options):
    path = t.path()
    trace = t.trace([workload("late"), mode, "--rounds", "200", "--log", path, *options],
                    "-W").nothing_lost()
    check_sums(trace, marks_of_late(LateLog(path)), 390)


def test_blocked_by_a_lock_and_a_pipe(t):
    blocked_for_a_reason(t, "mix2")


def test_blocked_by_a_disk(t):
    blocked_for_a_reason(t, "fsync", "--dir", disk_folder(t))


def test_page_faults(t):
    blocked_for_a_reason(t, "pages")
    blocked_for_a_reason(t, "file-pages", "--dir", disk_folder(t))


def test_without_a_cpu(t):
    blocked_for_a_reason(t, "cpu")
    blocked_for_a_reason(t, "release")


def test_spinning_is_no_work(t):
    """Time on a CPU inside the barrier is counted separately."""
    trace, _ = with_log(t, "--threads", "2", "--rounds", "200", "--work", "fixed:0=1ms,1=100us")
    for e in trace.all("episode"):
        for m in e["threads"]:
            check(m["spin_ns"] is not None and m["spin_ns"] <= m["depart_ns"] - m["arrive_ns"],
                  f"more on a CPU inside than inside at all: {m}")


def test_tail_of_threads_that_live(t):
    """The threads continue after their last barrier until the end of tracing, and mostly sleep."""
    pidfile = t.path()
    tracer = t.attach("--hang", "0", "--", "sh", "-c",
                      f"echo $$ >{pidfile}; exec {workload('hung')} --kind sleep --threads 3")
    wait_for("it runs", lambda: os.path.exists(pidfile) and os.path.getsize(pidfile))
    pid = int(read_text(pidfile))
    wait_for("one sleeps", lambda: any(state == "clock_nanosleep" or "nanosleep" in state
                                       for state in wait_channels(pid)))
    time.sleep(1)
    trace = tracer.stop()
    members = [m for m in trace.process()["threads"] if m["work_ns"] > 500_000_000]
    check_equal("threads that work on", len(members), 1)
    m = members[0]
    check_between("its parts", sum(parts(m)) / m["work_ns"], 0.999, 1.001)
    check_between("asleep", m["blocked_ns"]["sleep"] / m["work_ns"], 0.9, 1)
    for what in ("switches", "migrations", "faults"):
        check_between(what, m[what], 0, 200)


def wait_channels(pid):
    for task in os.listdir(f"/proc/{pid}/task"):
        yield read_text(f"/proc/{pid}/task/{task}/wchan")
