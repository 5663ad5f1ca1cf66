# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Recordings: output from a recording equals the live output; cut, damaged and foreign files; parts of a run."""

import os
import re
import shutil
import signal
import subprocess

import genlog
from harness import (SBT, Trace, alone, check, check_between, check_equal, check_in, clean_environment, paired,
                     read_bytes, read_text, short, wait_for, workload, write_file)
from test_command import check_exec_on, exec_on
from test_hostile import BAD, OPTIONS, bad_copy, harmless
from test_mpi import ENVIRONMENT, MPIRUN
from test_pid import PACE

SHARED = True

GEN = [workload("gen"), "--threads", "4", "--rounds", "60", "--work", "random:10us:2ms:7"]


def report(t, recording, *options, rc=0):
    """Return the text that report --detail prints."""
    return printed(t, recording, "--detail", *options, rc=rc)


def printed(t, recording, *options, rc=0):
    """Return what report prints."""
    path = t.path()
    result = t.sbt("report", "-o", path, *options, recording)
    check(result.rc == rc, f"report {options}: exit status {result.rc}, expected {rc}; {short(result.err)}")
    t.result = result
    return read_text(path) if os.path.exists(path) else ""


def report_trace(t, recording, *options):
    path = t.path()
    result = t.sbt("report", "--detail", "--json", "-o", path, *options, recording, rc=0)
    trace = Trace(t, path)
    trace.result = result
    return trace


def told(trace):
    return trace.all("episode")


def first_difference(a, b):
    for x, y in zip(a.split("\n"), b.split("\n")):
        if x != y:
            at = next(i for i in range(min(len(x), len(y)) + 1) if x[i:i + 1] != y[i:i + 1])
            return f"live {x[max(0, at - 80):at + 120]!r}, from file {y[max(0, at - 80):at + 120]!r}"
    return f"{a.count(chr(10))} lines live, {b.count(chr(10))} from the file"


def check_same(t, command, *options, view=(), env=None, short=False):
    """Compare the live output of a capture with the output from its recording, byte by byte. @short: the first screen, too, which
    report prints without the warnings and episodes that occurred before."""
    for form in ("--json", "--csv", "--detail") + ((None,) if short else ()):
        recording, live = t.path(), t.path()
        forms = [form] if form else []
        t.sbt(*forms, "-o", live, "--record", recording, *options, *view, "--", *command, timeout=80,
                       env=env or clean_environment(), rc=0)
        live, again = read_text(live), printed(t, recording, *forms, *view)
        check(len(live) > 200, f"{command} {form}: nothing was printed: {live!r}")
        check(live == again, f"{command} {options} {form}: {first_difference(live, again)}")
    return recording


def test_same_numbers(t):
    check_same(t, GEN, view=["-W"], short=True)
    check_same(t, GEN, short=True)


def test_same_numbers_with_options(t):
    lu = [workload("lu"), "--size", "40", "--threads", "3", "--sleep-work", "1000"]
    check_same(t, lu, view=["--name", "pivot=lu_block", "-w", "pivot", "--phase", "solve=..run", "--warn-time", "1",
                            "--warn-every", "3"])
    check_same(t, lu, view=["--phase-times", "--no-warnings"])


def test_same_numbers_with_causes_and_counters(t):
    check_same(t, [workload("late"), "lock", "--threads", "3", "--rounds", "40", "--base", "1ms", "--extra", "3ms"], "-e", "page-faults,context-switches", view=["-W"])


def test_same_numbers_of_families(t):
    check_same(t, [workload("gen_gomp"), "--threads", "3", "--rounds", "40"], view=["-W"])
    check_same(t, [workload("gen_cond"), "--threads", "3", "--rounds", "40"], view=["-W"])
    check_same(t, [*MPIRUN["openmpi"], "-n", "2", workload("gen_openmpi"), "--rounds", "30"], view=["-W"],
               env=clean_environment(**ENVIRONMENT))


def test_same_numbers_of_marked_programs(t):
    check_same(t, [workload("sbtphases")], view=["-W"])


def check_same_attached(t, *targets, before=lambda: None):
    """Attached to processes, or to all: existing threads, starts and exits are recorded, too."""
    for form in ("--json", None):
        recording, log = t.path(), t.path()
        gen = t.gen("--threads", "3", "--rounds", "60", *PACE, "--log", log, wait=True)
        tracer = t.attach(*[str(gen.pid) if w is None else w for w in targets], "-W", "--record", recording, form=form)
        before()
        gen.begin()
        check_equal("gen", gen.wait().rc, 0)
        if "-a" in targets:
            tracer.stop()
        else:
            tracer.end()
        live, again = read_text(tracer.path), report(t, recording, "-W", *([form] if form else []))
        check(live == again, f"{targets} {form}: {first_difference(live, again)}")
        if form:
            check_equal("episodes", sum(b["episodes"] for b in report_trace(t, recording).barriers(pid=gen.pid)), 60)


def test_same_numbers_of_processes_that_run(t):
    check_same_attached(t, "-p", None)


@alone
def test_same_numbers_of_the_whole_machine(t):
    """Other processes start meanwhile, one of them the same program with another number."""
    def others():
        for name in ("gen", "gen_gomp"):
            check_equal(name, t.gen("--rounds", "30", "--threads", "2", name=name).wait().rc, 0)

    check_same_attached(t, "-a", before=others)


def test_same_numbers_of_hostile_names(t):
    program = bad_copy(t)
    recording = check_same(t, [program], view=OPTIONS)
    for form in ([], ["--csv"]):
        harmless(f"report {form}", report(t, recording, *OPTIONS, *form))
    raw = report(t, recording, *OPTIONS, "--json").encode()
    check(not any(b < 32 and b != 10 for b in raw), "a control byte in the JSON")
    bad = os.path.join(os.fsencode(t.dir), b"r" + BAD.replace(b"/", b""))
    check_equal("report of a file that is not there", t.sbt("report", "--detail", bad).rc, 1)
    write_file(bad, b"nothing")
    result = t.sbt("report", "--detail", bad, rc=1)
    harmless("stderr", result.stderr)


def test_read_without_rights(t):
    """The right to read the file is enough to print the report: unprivileged, without capabilities, and without the traced
    program."""
    recording, program, sbt = t.path(), t.path(), t.path()
    shutil.copy(workload("gen"), program)
    shutil.copy(SBT, sbt)
    t.sbt("record", "-q", "-o", recording, "--", program, *GEN[1:])
    os.remove(program)
    whole = report(t, recording, "-W")
    check_in("names", "gen", whole)
    os.chmod(t.dir, 0o755)
    os.chmod(recording, 0o444)
    unprivileged = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", sbt, "report", "--detail", "-W"]
    result = t.run([*unprivileged, recording])
    t.no_crash(result)
    check_equal(f"status and stderr of {unprivileged}", (result.rc, result.err), (0, ""))
    check(result.out == whole, first_difference(whole, result.out))
    os.chmod(recording, 0o400)
    result = t.run([*unprivileged, recording])
    check_equal("status, not readable", (result.rc, result.out), (1, ""))
    check_in("stderr", "Permission denied", result.err)


def test_record_is_the_command(t):
    """The command's output and status are its own. Only the path of the recording is printed in addition."""
    recording, log = t.path(), t.path()
    result = t.sbt("record", "-o", recording, "--", *GEN, "--log", log, rc=0)
    check(re.fullmatch(r"sbt-trace: recorded [0-9.]+ [KM]B: sbt-trace report \S+\n", result.err), result.err)
    report_trace(t, recording, "-W").compare(genlog.Log(log))
    check_equal("status", t.sbt("record", "-q", "-o", recording, "--", "sh", "-c", "exit 7").rc, 7)


def test_exec_at_once(t):
    recording = t.path()
    check_equal("status", t.sbt("record", "-q", "-o", recording, "--", *exec_on("exec_on", "exec_on2")).rc, 0)
    check_exec_on(report_trace(t, recording).nothing_lost(), {"exec_on": "first_member", "exec_on2": "second_member"})


def test_usage(t):
    for args, why in ((["record", "--json", "-o", t.path(), "--", "true"], "record has no option --json"),
                      (["report"], "no recording is given"),
                      (["report", "--from", "x", "a"], "number of seconds"),
                      (["report", "--from", "2", "--to", "1", "a"], "--to is not after"),
                      (["report", "-p", "1", "a"], "report has no option -p"), (["report", "--thread", "-1", "a"], "--thread")):
        result = t.sbt(*args, rc=2)
        check_in(f"{args}", why, result.err)
    help_text = t.sbt("report", "--detail", "--help")
    check_equal("help", (help_text.rc, help_text.err), (0, ""))
    check(all(len(line) <= 100 for line in help_text.out.split("\n")), "--help is wider than 100 columns")


def test_foreign_files(t):
    recording = t.path()
    t.sbt("record", "-q", "-o", recording, "--", *GEN)
    whole = read_bytes(recording)
    for data, why in ((b"", "empty"), (b"\x7fELF" + whole[4:], "not a recording"), (whole[:9], "not a recording"),
                      (whole[:16], "not a recording"), (whole[:12] + b"\x09\0" + whole[14:], "later sbt-trace"),
                      (whole[:8] + whole[8:12][::-1] + whole[12:], "byte order"),
                      (whole.replace(b"\r\n", b"\n"), "not a recording")):
        path = t.path()
        write_file(path, data)
        check_equal("printed", report(t, path, rc=1), "")
        check_in(f"{data[:20]!r}", why, t.result.err)
    for path, why in ((t.path("gone"), "No such file"), (t.dir, "directory"), ("/dev/null", "seek")):
        report(t, path, rc=1)
        check_in(path, why, t.result.err)


def test_cut_anywhere(t):
    """A recording that is cut after any byte is either a prefix of the run, reported as such, or no recording. It never causes
    a crash."""
    recording = t.path()
    t.sbt("record", "-q", "-o", recording, "--", workload("gen"), "--threads", "4", "--rounds", "4000")
    whole = report_trace(t, recording).end["episodes"]
    data = read_bytes(recording)
    seen = set()
    for cut in range(16, len(data), max(1, len(data) // 60)):
        path = t.path()
        write_file(path, data[:cut])
        result = t.sbt("report", "--detail", "-q", path)
        check(result.rc in (0, 1), f"cut at {cut}: {result.rc}")
        check(re.search("cut short|damaged|not a recording", result.err), f"cut at {cut}: {result.err}")
        seen.add(result.rc)
    check_equal("both kinds were seen", seen, {0, 1})
    check_equal("episodes", whole, 4000)


def test_killed(t):
    """After SIGKILL, the data written until a second before can be read, and the rest is reported as missing."""
    recording = t.path()
    gen = t.gen("--threads", "2", "--forever", "--work", "fixed:0=1ms,1=1ms", wait=True)
    tracer = t.start([SBT, "record", "-o", recording, "-p", str(gen.pid)])
    wait_for("it records", lambda: os.path.exists(recording) and os.path.getsize(recording) > 16)
    gen.begin()
    size = os.path.getsize(recording)
    wait_for("episodes are written", lambda: os.path.getsize(recording) > size + 2000, 20)
    tracer.signal(signal.SIGKILL)
    tracer.popen.wait()
    trace = report_trace(t, recording)
    check(trace.end["episodes"] > 20, f"{trace.end}")
    check_equal("complete", trace.end["complete"], False)
    check_equal("cut", trace.end["cut"], True)
    check_in("text", "INCOMPLETE: the recording ends before", report(t, recording))
    check_in("stderr", "was cut short", trace.result.err)
    check(gen.alive(), "the target is gone")


def test_full_disk(t):
    """The command runs to its end. The written data can be read, and the status says that it is incomplete."""
    disk = t.path("disk")
    os.mkdir(disk)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", disk], check=True)
    t.at_end(subprocess.run, ["umount", disk])
    recording, log = os.path.join(disk, "r"), t.path()
    result = t.sbt("record", "-o", recording, "--", workload("gen"), "--threads", "4", "--rounds", "60000", "--log",
                   log, timeout=80, rc=1)
    check_in("stderr", "No space left on device", result.err)
    check_in("the command's end", "rounds", read_text(log) + result.out)
    trace = report_trace(t, recording)
    check(trace.end["episodes"] > 50, f"{trace.end}")
    check_equal("complete", trace.end["complete"], False)


def check_part(whole, part, lost=0):
    """Check the episodes of a window: they are a part of the whole, and no more is reported as lost than in the whole."""
    complete = [e for e in told(part) if e["state"] == "complete"]
    check(all(e["t_ns"] >= 0 for e in complete), "before the window")
    check_equal("lost", part.end["lost_total"], lost)
    known = {e["barrier_ns"] for e in told(whole)}
    check(all(e["barrier_ns"] in known for e in complete), "other numbers than those of the whole")
    return complete


@paired
def test_window(t):
    """A part of a run has exactly the episodes of that time, and no lost records."""
    recording, log = t.path(), t.path()
    t.sbt("record", "-q", "-o", recording, "--", workload("gen"), "--threads", "3", "--rounds", "200", "--work",
          "fixed:0=2ms,1=1ms,2=1ms", "--work-by", "sleep", "--log", log)
    whole = report_trace(t, recording, "-W")
    times = [e["t_ns"] for e in told(whole)]
    low, high = times[50] / 1e9 - 0.0005, times[150] / 1e9 - 0.0005
    part = report_trace(t, recording, "-W", "--from", f"{low:.6f}", "--to", f"{high:.6f}")
    check_between("episodes", len(check_part(whole, part)), 97, 101)
    rest = report_trace(t, recording, "-W", "--from", f"{high:.6f}")
    check_between("the rest", len(told(rest)), 48, 51)


def test_rows(t):
    recording = t.path()
    lu = [workload("lu"), "--size", "40", "--threads", "3", "--sleep-work", "1000"]
    t.sbt("record", "-q", "-o", recording, "--", *lu)
    whole = report_trace(t, recording)
    part = report_trace(t, recording, "--site", "lu_block")
    check(len(whole.barriers()) > 1, "one site alone")
    check_equal("sites", [b["function"] for b in part.barriers()], ["lu_block"])
    check_equal("row", part.barriers()[0], whole.barrier(function="lu_block"))
    tid = whole.barrier(function="lu_block")["threads"][1]["tid"]
    part = report_trace(t, recording, "--thread", str(tid))
    check(all([x["tid"] for x in b["threads"]] in ([tid], []) for b in part.barriers()), "other threads' rows")


def test_rows_of_episodes(t):
    """Live reports cover only the requested barriers and threads, as do the rows at the end."""
    recording, table = t.path(), t.path()
    lu = [workload("lu"), "--size", "40", "--threads", "3", "--sleep-work", "1000"]
    t.sbt("record", "-q", "-o", recording, "--", *lu)
    view = ("-W", "--warn-time", "0", "--phase-times")
    whole = report_trace(t, recording, *view)
    ids = {b["function"]: b["id"] for b in whole.barriers()}
    check_equal("all are reported", {e["barrier"] for e in told(whole)}, set(ids.values()))
    part = report_trace(t, recording, *view, "--site", "lu_block")
    check_equal("episodes", told(part), [e for e in told(whole) if e["barrier"] == ids["lu_block"]])
    check_equal("all is reported of those", [x for x in part.records if x["type"] in ("warning", "phase_time")],
                [x for x in whole.records if x["type"] in ("warning", "phase_time") and
                 x["barrier"] == ids["lu_block"]])
    tid = whole.barrier(function="lu_block")["threads"][1]["tid"]
    part = report_trace(t, recording, *view, "--thread", str(tid))
    check_equal("episodes of one thread", [(e["phase"], e["threads"]) for e in told(part)],
                [(e["phase"], [x for x in e["threads"] if x["tid"] == tid]) for e in told(whole)])
    check_equal("of how many", [e["participants"] for e in told(part)], [e["participants"] for e in told(whole)])
    check_equal("of no thread", told(report_trace(t, recording, *view, "--thread", "1")), [])
    t.sbt("report", "--detail", "--csv", "-o", table, *view, "--site", "lu_block", recording)
    rows = [row for row in read_text(table).splitlines() if row.startswith("episode,")]
    check(any(ids["lu_block"] in row for row in rows), "no episodes in the table")
    check(not any(ids["run"] in row for row in rows), "another barrier's in the table")
    text = report(t, recording, "-W", "--site", "lu_block")
    watches = re.findall(r"^SBT barrier watch in .*", text, re.M)
    check_equal("as text", [bool(re.search(r"\(lu_block\)$", line)) for line in watches], [True] * len(told(whole)[1:]))


def test_hang_is_on_record(t):
    recording, live = t.path(), t.path()
    tracer = t.start([SBT, "--json", "--hang", "1", "-o", live, "--record", recording, "--", workload("hung"),
                      "--kind", "pipe"])
    wait_for("a hang is reported", lambda: os.path.exists(live) and '"hang"' in read_text(live), 30)
    tracer.signal(signal.SIGINT)
    check_equal("status", tracer.wait().rc, 0)
    again = report(t, recording, "--json")
    check(read_text(live) == again, first_difference(read_text(live), again))


@paired
def test_ranks_recorded_separately(t):
    """Each rank has its own recording, as if made on separate nodes. They are read as one run: every episode has both ranks."""
    name = t.path("rank")
    t.run([*MPIRUN["openmpi"], "-n", "2", "sh", "-c",
                    f"OMPI_COMM_WORLD_LOCAL_SIZE=1 exec {SBT} record -q -o {name}.$OMPI_COMM_WORLD_RANK -- "
                    f"{workload('gen_openmpi')} --rounds 80 --work random:10us:1ms:3 --work-by sleep"],
                   env=clean_environment(**ENVIRONMENT), timeout=60, rc=0)
    path = t.path()
    both = t.sbt("report", "--detail", "--json", "-o", path, "-W", name + ".0", name + ".1", rc=0)
    found = re.search(r"rank\.1: its clock is aligned with that of \S+rank\.0 by (\d+) shared episodes, to within "
                      r"([0-9.]+) us", both.err)
    check(found and int(found[1]) >= 80 and float(found[2]) < 2000, both.err)
    trace = Trace(t, path)
    barriers = [b for b in trace.barriers() if b["episodes"] >= 80]
    check_equal("sites", [(b["participants"], b["incomplete"]) for b in barriers], [(2, 0)])
    # The other order of recordings, with the other clock, gives the same episodes. A window refers to the printed times.
    path = t.path()
    check_equal("status", t.sbt("report", "--detail", "--json", "-o", path, "-W", name + ".1", name + ".0").rc, 0)
    other = Trace(t, path)
    check_equal("the other way", [(b["episodes"], b["participants"], b["incomplete"]) for b in other.barriers()],
                [(b["episodes"], b["participants"], b["incomplete"]) for b in trace.barriers()])
    times = [e["t_ns"] / 1e9 for e in told(other)]
    path = t.path()
    t.sbt("report", "--detail", "--json", "-o", path, "-W", "--from", f"{times[30] - 1e-5:.7f}", "--to", f"{times[60] + 1e-5:.7f}",
          name + ".1", name + ".0")
    check_between("in the window", Trace(t, path).end["episodes"], 27, 32)
    twice = t.sbt("report", "--detail", name + ".0", name + ".1", name + ".0", rc=1)
    check_in("twice", "the same recording", twice.err)
    alone = report_trace(t, name + ".0")
    check_equal("one alone", {b["participants"] for b in alone.barriers()}, {1})


def test_nothing_is_destroyed(t):
    """Files that are read are not overwritten, and an existing recording is kept if a new one never begins."""
    recording = t.path()
    t.sbt("record", "-q", "-o", recording, "--", *GEN)
    whole = read_bytes(recording)
    for args in (["report", "-o", recording, recording], ["report", "--html", recording, recording],
                 ["diff", "-o", recording, recording, recording], ["series", "-o", recording, recording],
                 ["predict", "-o", recording, recording],
                 ["predict", "--processors", "2", "--record-to", recording, recording],
                 ["record", "-o", recording, "-p", "99999999"], ["record", "-o", recording, "-e", ",", "--", "true"]):
        result = t.sbt(*args)
        check(result.rc in (1, 2), f"{args}: {result.rc}")
        check(read_bytes(recording) == whole, f"{args} changed the recording: {result.err}")


def test_beyond_the_end(t):
    recording = t.path()
    t.sbt("record", "-q", "-o", recording, "--", *GEN)
    check_equal("printed", report(t, recording, "--from", "3000", rc=1).count("episodes"), 0)
    check_in("stderr", "there is nothing from 3000.000 s on", t.result.err)
    data = read_bytes(recording)
    path = t.path()
    write_file(path, data[:len(data) * 5 // 8])
    result = t.sbt("report", "--detail", path)
    check(result.rc == 1 or "episodes" in result.out, f"{result.rc} {result.err}")
    check("0 ns traced" not in result.out, result.out)
    check_in("--site", "no barrier matches --site", t.sbt("report", "--detail", "--site", "nosuch", recording).err)


@paired
def test_window_begins_in_an_episode(t):
    """On one CPU, a thread that departed arrives again before the other one has woken up. If an episode began before the
    window, its rest does not belong to the next episode."""
    recording = t.path()
    t.run(["taskset", "-c", "0", SBT, "record", "-q", "-o", recording, "--", workload("gen"), "--threads", "2", "--rounds",
           "40", "--work", "fixed:0=2ms,1=1ms"])
    whole = report_trace(t, recording, "-W")
    episodes = told(whole)
    back = sum(min(m["arrive_ns"] for m in b["threads"]) < max(m["depart_ns"] for m in a["threads"])
               for a, b in zip(episodes, episodes[1:]))
    check(back > 5, f"no thread was back early, but {back} times")
    for n, episode in enumerate(episodes[:30]):
        first, last = sorted(m["arrive_ns"] for m in episode["threads"])
        part = report_trace(t, recording, "-W", "--from", f"{(first + last) / 2e9:.9f}")
        check_equal("episodes", len(check_part(whole, part)), len(episodes) - n - 1)


def numbers(trace):
    """Return tid -> number for all threads that a report names."""
    out = {}
    for record in trace.all("process") + trace.all("barrier") + trace.all("episode"):
        for x in record["threads"]:
            check_equal(f"number of {x['tid']}", out.setdefault(x["tid"], x["index"]), x["index"])
    return out


@paired
def test_window_keeps_numbers(t):
    """A thread shown in a part of a run has the same number as in all of it. Its own phases are those of the whole."""
    recording = t.path()
    t.sbt("record", "-q", "-o", recording, "--", workload("gen"), "--threads", "4", "--rounds", "60", "--work",
          "fixed:0=3ms,1=2ms,2=1ms,3=100us", "--work-by", "sleep")
    whole = report_trace(t, recording, "-W")
    known = numbers(whole)
    check_equal("numbers", sorted(known.values()), [0, 1, 2, 3])
    for episode in told(whole)[10:40:5]:
        # The window includes all arrivals of an episode, then fewer and fewer of the last ones, so different threads are in it.
        arrived = sorted(x["arrive_ns"] for x in episode["threads"])
        # On a busy machine, an episode may last longer than the window would.
        ended = max(x["depart_ns"] or 0 for x in episode["threads"])
        for first in arrived:
            begin = first - 1000
            end = max(first + 4500000, ended + 1000)
            part = report_trace(t, recording, "-W", "--from", f"{begin / 1e9:.9f}", "--to", f"{end / 1e9:.9f}")
            found = numbers(part)
            check(found, "no thread in the window")
            check_equal("numbers", {tid: known[tid] for tid in found}, found)
            # A waiting thread does not work, so its work is at most the rest of the window.
            for x in part.all("process")[0]["threads"]:
                check_between(f"work and idle time of {x['tid']}", x["work_ns"] + x["idle_ns"], 0, end - begin + 20000)


@paired
def test_window_is_reported(t):
    recording = t.path()
    t.sbt("record", "-q", "-o", recording, "-e", "page-faults", "--", *GEN)
    whole = report(t, recording)
    check_in("of all", "over the whole run", whole)
    end = report_trace(t, recording).end
    check_equal("of all", (end["from_ns"], end["to_ns"], end["rows"]), (None, None, None))
    part = report(t, recording, "--from", "0.01", "--to", "0.03")
    check("over the whole run" not in part, part)
    check_in("of a part", "from 0.01 s to 0.03 s after the start", part)
    end = report_trace(t, recording, "--from", "0.01", "--to", "0.03").end
    check_equal("of a part", (end["from_ns"], end["to_ns"]), (10000000, 30000000))


@paired
def test_window_without_an_episode(t):
    """Two of three threads have arrived. Nothing was lost there, and nothing is known."""
    recording = t.path()
    t.sbt("record", "-q", "-o", recording, "--", workload("gen"), "--threads", "3", "--rounds", "20", "--work",
          "fixed:0=9ms,1=1ms,2=2ms", "--work-by", "sleep")
    arrived = sorted(x["arrive_ns"] for x in told(report_trace(t, recording, "-W"))[10]["threads"])
    window = ["--from", f"{arrived[0] / 1e9 - 1e-5:.9f}", "--to", f"{arrived[2] / 1e9 - 1e-4:.9f}"]
    text = report(t, recording, *window)
    check_in("verdict", "No complete episode was seen", text)
    check(" 0 %" not in text and "LB" not in text, text)
    trace = report_trace(t, recording, *window)
    check_equal("episodes", trace.end["episodes"], 0)
    check_equal("unknown", {trace.barriers()[0][k] for k in ("lost_ns", "gain_ns", "imbalance")}, {None})
    check_equal("efficiency", set(trace.all("process")[0]["efficiency"].values())
                if trace.all("process")[0]["efficiency"] else {None}, {None})
    empty = report(t, recording, "--from", f"{arrived[2] / 1e9 + 0.0003:.9f}", "--to", f"{arrived[2] / 1e9 + 0.0006:.9f}")
    check_in("an empty window", "No thread crossed a barrier in that time.", empty)


def test_rows_are_reported(t):
    recording = t.path()
    lu = [workload("lu"), "--size", "40", "--threads", "3", "--sleep-work", "1000"]
    t.sbt("record", "-q", "-o", recording, "--", *lu)
    whole = report_trace(t, recording)
    text = report(t, recording, "--site", "lu_block")
    check_in("reported", "Rows are shown only for barrier lu_block", text)
    phases = text[text.index("PHASES"):].split("\n\n")[0].splitlines()[3:]
    check(phases and all(re.search(r"  lu_block\(\) \S+ +\d", p) for p in phases), text)
    check_equal("efficiencies of all", report_trace(t, recording, "--site", "lu_block").all("process")[0]["efficiency"],
                whole.all("process")[0]["efficiency"])
    tid = whole.barrier(function="lu_block")["threads"][1]["tid"]
    part = report_trace(t, recording, "--thread", str(tid), "--thread", "1")
    check_in("not there", "--thread 1: no thread with this number crossed a barrier", part.result.err)
    check_equal("reported", part.end["rows"], f"threads {tid}, 1")
    check_equal("rows", {x["tid"] for b in part.barriers() for x in b["threads"]}, {tid})
    empty = report_trace(t, recording, "--thread", "1")
    check_equal("rows of no thread", empty.barriers(), [])
    # The last arriver is known even if its row is omitted.
    last = whole.barrier(function="lu_block")["last_tid"]
    other = next(x["tid"] for x in whole.barrier(function="lu_block")["threads"] if x["tid"] != last)
    number = next(x["index"] for x in whole.barrier(function="lu_block")["threads"] if x["tid"] == last)
    check_in("last", f"id {number}, ", report(t, recording, "--site", "lu_block", "--thread", str(other)))


def test_command_that_cannot_be_run(t):
    """The command cannot be run. No recording is made, and an existing file stays."""
    old, new, text, plain = t.path(), t.path("new"), t.path(), t.path()
    for path, mode in ((text, 0o755), (plain, 0o644)):
        write_file(path, "no program\n")
        os.chmod(path, mode)
    for command, why in (("no-such-command", "command not found"), (plain, "Permission denied"),
                         (text, "Exec format error")):
        write_file(old, b"old")
        for options in (["record", "-o"], ["-q", "-o", "/dev/null", "--record"], ["record", "--delay", "0.3", "-o"]):
            for path in (old, new):
                result = t.sbt(*options, path, "--", command, rc=127 if command == "no-such-command" else 126)
                check_in("stderr", why, result.err)
        check(not os.path.exists(new), f"{command}: a recording was left")
        check_equal(f"{command}: what was there", read_bytes(old), b"old")
    check_equal("one that can", t.sbt("record", "-q", "-o", old, "--", *GEN).rc, 0)
    check_equal("over what was there", report_trace(t, old).end["episodes"], 60)


def test_readable_while_it_is_recorded(t):
    """After SIGUSR1, the file has everything until then."""
    recording = t.path()
    gen = t.gen("--threads", "2", "--forever", "--work", "fixed:0=1ms,1=1ms", wait=True)
    tracer = t.start([SBT, "record", "-o", recording, "-p", str(gen.pid)])
    wait_for("it records", lambda: os.path.exists(recording) and os.path.getsize(recording) > 16)
    gen.begin()
    size = os.path.getsize(recording)
    wait_for("episodes are written", lambda: os.path.getsize(recording) > size + 500, 20)
    seen = report_trace(t, recording).end["episodes"]
    # This is within the second after which it would be written anyway.
    size = os.path.getsize(recording)
    tracer.signal(signal.SIGUSR1)
    wait_for("it is written", lambda: os.path.getsize(recording) > size)
    trace = report_trace(t, recording)
    check(trace.end["episodes"] > seen, f"{trace.end['episodes']} after {seen}")
    check_in("state", "or is still being recorded", trace.result.err)
    tracer.signal(signal.SIGINT)
    result = tracer.wait()
    check_equal("status", result.rc, 0)
    check(re.search(r"recorded up to [0-9.]+ s: sbt-trace report", result.err), result.err)
    check_equal("whole", report_trace(t, recording).end["cut"], False)


def test_file_of_each_rank(t):
    """One sbt-trace runs for each rank of a machine. The first one records all ranks. The others write no file, and say where
    their rank is recorded."""
    name = t.path("own")
    result = t.run([*MPIRUN["openmpi"], "-n", "2", "sh", "-c",
                    f"exec {SBT} record -o {name}.$OMPI_COMM_WORLD_RANK -- {workload('gen_openmpi')} --rounds 30"],
                   env=clean_environment(**ENVIRONMENT), timeout=60, rc=0)
    check_in("reported", f"rank 1 is recorded together with all ranks on this machine in {name}.0; {name}.1 is not written",
             result.err)
    check(not os.path.exists(name + ".1"), "it is written")
    check_equal("processes", len(report_trace(t, name + ".0").all("process")), 2)
    result = t.run([*MPIRUN["openmpi"], "-n", "2", SBT, "record", "-o", name, "--", workload("gen_openmpi"), "--rounds", "30"],
                   env=clean_environment(**ENVIRONMENT), timeout=60)
    check("is not written" not in result.err, result.err)


def test_pages_of_help(t):
    """Each command has its own help page, which fits, and lists its options."""
    pages = {c: t.sbt(*([c] if c else []), "--help").out
             for c in ("", "trace", "record", "report", "diff", "series", "predict")}
    check_equal("different pages", len(set(pages.values())), len(pages))
    for command, page in pages.items():
        lines = page.splitlines()
        most = 90 if command else 23
        check(10 < len(lines) <= most and max(map(len, lines)) <= 85, f"{command}: {len(lines)} lines")
        check_in(command, f"sbt-trace {command}" if command and command != "trace" else "sbt-trace [", lines[0])
    for command, own, others in (("trace", "--watch", "--from"), ("record", "--events", "--watch"),
                                 ("report", "--thread", "--pid")):
        check(own in pages[command] and others not in pages[command], pages[command])
