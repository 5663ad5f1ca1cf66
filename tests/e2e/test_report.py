# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Output during the run and at its end; options and the thesis's environment variables; JSON and CSV."""

import json
import os
import pty
import re
import signal
import statistics
import subprocess

from harness import (SBT, alone, check, check_all_in, check_between, check_equal, check_in, check_none_in,
                     check_not_in, clean_environment, paired, read_csv, read_text, schema, source_lines, validate_one, wait_for,
                     workload)

SHARED = True

LOOP, _, BEFORE = source_lines("lu.c", "serial(pthread_barrier_wait(&barrier))")
SIZE = 40
LU = [workload("lu"), "--size", str(SIZE), "--threads", "3", "--sleep-work", "1000"]


def count(text, pattern):
    return len(re.findall(pattern, text, re.M))


def watched(text):
    """Return the functions of the episodes shown in full."""
    return re.findall(r"^SBT barrier watch in lu\.c:\d+ \((\w+)\)$", text, re.M)


def check_watched(t, expected, *options, **env):
    text = t.text(LU, *options, env=clean_environment(**env))
    found = watched(text)
    got = {f: found.count(f) for f in set(found)}
    check_equal(f"watched by {options} {env}", got, expected)
    return text


# --- watched, named, silent ------------------------------------------------------------------------------

def test_watch_by_every_kind_of_name(t):
    loop = {"lu_block": SIZE - 1}
    check_watched(t, {})
    check_watched(t, loop, "-w", "lu_block")
    check_watched(t, loop, "-w", f"lu.c:{LOOP}")
    check_watched(t, loop, "-w", f"workloads/lu.c:{LOOP}")
    check_watched(t, loop, "--watch", str(LOOP))
    check_watched(t, {"run": 1}, "-w", str(BEFORE))
    check_watched(t, {"lu_block": SIZE - 1, "run": 1}, "-w", "lu_block", "-w", f"lu.c:{BEFORE}")
    check_watched(t, {"lu_block": SIZE - 1, "run": 1}, "-W")
    ident = t.trace(LU).barrier(function="lu_block")["id"]
    check_watched(t, loop, "-w", ident)
    check_watched(t, {}, "-w", "u.c:%d" % LOOP)
    check_watched(t, {}, "-w", "lu_bloc")


def test_watch_by_given_name(t):
    text = t.text(LU, "--name", "pivot=lu_block", "-w", "pivot")
    check_equal("watched", count(text, rf'^SBT barrier watch in lu\.c:{LOOP} "pivot"$'), SIZE - 1)
    trace = t.trace(LU, "--name", "pivot=lu_block", "-w", "pivot")
    check_equal("episodes", len(trace.all("episode")), SIZE - 1)
    check_equal("name", trace.barrier(function="lu_block")["name"], "pivot")
    check_equal("name of the other", trace.barrier(function="run")["name"], None)


def test_several_names_for_one(t):
    """The first name counts."""
    trace = t.trace(LU, "--name", "pivot=lu_block", "--name", f"row={LOOP}", "--name", "again=lu_block", "-w", "pivot")
    check_equal("name", trace.barrier(function="lu_block")["name"], "pivot")
    check_equal("episodes", len(trace.all("episode")), SIZE - 1)


def test_watched_that_was_not_crossed(t):
    text = t.text(LU, "-w", "no_such_place", "--name", "x=neither")
    check_in("report", "SBT report", text)
    check_all_in("stderr", ("no_such_place", "neither"), t.result.err)


def test_watched_in_full(t):
    """As in figure 3.6 of E. Novillo's thesis (University of Alberta, 2002): barrier, phase and total time, the order of
    arrival."""
    text = t.text(LU, "-w", "lu_block")
    blocks = text.split("SBT barrier watch in ")[1:]
    for number, block in enumerate(blocks, 1):
        check(re.search(r"^ +Barrier time: +[0-9.]+ \S+$", block, re.M), block[:600])
        check(re.search(rf"^ +Phase \({number}\) time: +[0-9.]+ \S+$", block, re.M), block[:600])
        check(re.search(r"^ +Total time: ", block, re.M), block[:600])
        check_in("order", "Order of arrival:", block)
        lines = re.split(r"\n\n|\n +Phase \d+, by thread:",
                         block[block.index("Order of arrival:"):])[0].splitlines()[2:]
        check_equal("threads", len(lines), 3)
        check(all(re.search(r"\d\d:\d\d:\d\d", line) for line in lines), f"no time of day: {lines}")


def test_named_ones_in_one_line(t):
    text = t.text(LU, "--name", "pivot=lu_block")
    check_equal("named", count(text, rf'^SBT: lu\.c:{LOOP} "pivot"$'), SIZE - 1)
    check_equal("times", count(text, r"^ +\(barrier: .*, phase \d+: .*, from start: .*\)$"), SIZE - 1)
    check_equal("watched", count(text, "^SBT barrier watch"), 0)


def test_others_are_silent(t):
    text = t.text(LU)
    check_equal("lines before the report", count(text[:text.index("SBT report")],
                                                 r"^SBT (?!options)"), 0)


# --- warnings -------------------------------------------------------------------------------------------

@paired
def test_warnings(t):
    slow = [workload("gen"), "--threads", "2", "--rounds", "12", "--work", "fixed:0=20ms",
            "--work-by", "sleep"]
    warn = r"^SBT WARNING: barrier in gen\.c:\d+ \(site_0\)  gen \(pid \d+\)$"
    check_equal("by default", count(t.text(slow), warn), 0)
    check_equal("--warn-time 10", count(t.text(slow, "--warn-time", "10"), warn), 12)
    check_equal("--warn-time 1000", count(t.text(slow, "--warn-time", "1000"), warn), 0)
    check_equal("--warn-time 0", count(t.text(slow, "--warn-time", "0"), warn), 12)
    check_equal("--warn-every 5", count(t.text(slow, "--warn-time", "0", "--warn-every", "5"), warn), 3)
    check_equal("--no-warnings", count(t.text(slow, "--warn-time", "0", "--no-warnings"), warn), 0)
    trace = t.trace(slow, "--warn-time", "10")
    check_equal("JSON", [w["phase"] for w in trace.all("warning")], list(range(12)))
    for w in trace.all("warning"):
        check_equal("threshold", w["threshold_ns"], 10_000_000)
        check(w["barrier_ns"] > 10_000_000, w)
        check_equal("barrier", w["barrier"], trace.barrier()["id"])
    # The thread without work may be resumed later than the one that sleeps, by milliseconds on a busy host.
    check_between("barrier time", statistics.median(w["barrier_ns"] for w in trace.all("warning")), 17_000_000, 60_000_000)
    check_equal("episodes, for nothing is watched", len(trace.all("episode")), 0)


def test_warning_by_default_after_a_second(t):
    text = t.text([workload("gen"), "--threads", "2", "--rounds", "2", "--work", "fixed:0=1100ms",
                   "--work-by", "sleep"])
    check_equal("warnings", count(text, "^SBT WARNING"), 2)
    check_in("threshold", "> 1.00 s", text)


def test_phase_times(t):
    text = t.text(LU, "--phase-times")
    numbers = [int(n) for n in re.findall(r"^SBT phase (\d+): ", text, re.M)]
    check_equal("phases", numbers, list(range(SIZE)))


# --- the banner and the variables ---------------------------------------------------------------------

def test_banner(t):
    text = t.text(LU, "-w", "lu_block", "--warn-time", "77")
    check(text.startswith("SBT options"), text[:200])
    check(re.search(r"^ +SBT_WATCH +lu_block$", text, re.M), text[:400])
    check(re.search(r"^ +SBT_WARN_TIME +77$", text, re.M), text[:400])
    check_not_in("SBT_OPTIONS=0", "SBT options", t.text(LU, env=clean_environment(SBT_OPTIONS="0")))
    check_in("SBT_OPTIONS=1", "SBT options", t.text(LU, env=clean_environment(SBT_OPTIONS="1")))


def test_variables(t):
    check_watched(t, {"lu_block": SIZE - 1}, SBT_WATCH="lu_block")
    check_watched(t, {"lu_block": SIZE - 1}, SBT_WATCH=str(LOOP))
    check_watched(t, {"lu_block": SIZE - 1, "run": 1}, SBT_WATCH_ALL="1")
    check_watched(t, {}, SBT_WATCH_ALL="0")

    def lines(pattern, *options, **env):
        return count(t.text(LU, *options, env=clean_environment(**env)), pattern)
    check_equal("SBT_WARN_TIME=0", lines("^SBT WARNING", SBT_WARN_TIME="0"), SIZE)
    check_equal("SBT_WARNINGS=0", lines("^SBT WARNING", SBT_WARN_TIME="0", SBT_WARNINGS="0"), 0)
    check_equal("SBT_PHASE_TIMES=1", lines("^SBT phase", SBT_PHASE_TIMES="1"), SIZE)
    check_equal("SBT_PHASE_TIMES=0", lines("^SBT phase", SBT_PHASE_TIMES="0"), 0)


def test_an_option_beats_its_variable(t):
    check_watched(t, {"run": 1}, "-w", "run", SBT_WATCH="lu_block")
    text = t.text(LU, "--warn-time", "100000", env=clean_environment(SBT_WARN_TIME="0"))
    check_equal("--warn-time", count(text, "^SBT WARNING"), 0)
    text = t.text(LU, "--no-warnings", env=clean_environment(SBT_WARN_TIME="0", SBT_WARNINGS="1"))
    check_equal("--no-warnings", count(text, "^SBT WARNING"), 0)
    text = t.text(LU, "--phase-times", env=clean_environment(SBT_PHASE_TIMES="0"))
    check_equal("--phase-times", count(text, "^SBT phase"), SIZE)


def test_no_debug(t):
    plain = t.run(LU)
    path = t.path()
    result = t.sbt("-o", path, "--", *LU, env=clean_environment(SBT_NO_DEBUG="1", SBT_VERBOSE="0"))
    check_equal("as if we were not there", (result.rc, result.stdout, result.stderr),
                (0, plain.stdout, plain.stderr))
    check(not os.path.exists(path) or not os.path.getsize(path), "a report all the same")
    result = t.sbt("--", "sh", "-c", "exit 9", env=clean_environment(SBT_NO_DEBUG="1"), rc=9)
    # Without tracing, sbt-trace needs no privilege, and the command still runs as the user behind sudo.
    result = t.sbt("--", "id", "-u", env=clean_environment(SBT_NO_DEBUG="1", SUDO_UID="65534",
                                                           SUDO_GID="65534"))
    check_equal("user", result.out, "65534\n")


def test_verbose_variable(t):
    result = t.sbt("-o", t.path(), "--", *LU, env=clean_environment(SBT_VERBOSE="1"))
    for name in ("SBT_WATCH ", "SBT_WARN_TIME", "SBT_NO_DEBUG", "SBT_EVENTS"):
        check_in("stderr", name, result.err)


def test_wrong_variable(t):
    result = t.sbt("--", "true", env=clean_environment(SBT_WARN_TIME="soon"), rc=2)
    check_in("stderr", "SBT_WARN_TIME", result.err)


def test_quiet_and_verbose(t):
    text = t.text(LU, "-q", "--warn-time", "0")
    check_none_in("-q", ("SBT options", "SBT WARNING"), text)
    text = t.text(LU, "-v")
    check_in("-v says where the probes are", "pthread_barrier_wait", text + t.result.err)


# --- the text report --------------------------------------------------------------------------------------

def test_text_report(t):
    text = t.text([workload("gen"), "--threads", "4", "--rounds", "60", "--sites", "2", "--work",
                   "fixed:0=100us,1=200us,2=2ms,3=400us", "--work-by", "sleep"])
    check(re.search(r"^SBT report: .* traced, 1 process, 60 episodes at 2 barriers$", text, re.M),
          text[:1500])
    for word in ("BARRIERS, most lost time first", "PHASES", "EFFICIENCY of gen", "LB ", "SerE ",
                 "TE ", "LOST", "No record lost: 240 produced, 240 consumed.",
                 "COST OF TRACING", "site_0() gen.c:", "site_1() gen.c:", "gen-2"):
        check_in("the report", word, text)
    check_equal("lines past column 120", [x for x in text.splitlines() if len(x) > 120], [])


def test_first_screen(t):
    """Without --detail, the report has one screen and no banner. It names the late thread, the reason and the advice."""
    def printed(*options, **env):
        path = t.path()
        t.sbt("-o", path, *options, "--", workload("gen"), "--threads", "4", "--rounds", "60", "--sites", "2", "--work",
              "fixed:0=100us,1=200us,2=2ms,3=400us", "--work-by", "sleep", env=clean_environment(**env), rc=0)
        return read_text(path)
    text = printed()
    check(len(text.splitlines()) <= 25, text)
    check(text.startswith("SBT report: gen, 4 threads"), text)
    check_all_in("the first screen", ("1. Phase from site_", "gain up to ", "Thread 2 (tid ", "slept", "   -> ", "Efficiency ",
                                      "BARRIERS by lost time", "--detail"), text)
    for options, env, banner in (((), {"SBT_OPTIONS": "1"}, True), (["-v"], {}, True), (["-v"], {"SBT_OPTIONS": "0"}, False)):
        check_equal(f"a banner with {options} {env}", printed(*options, **env).startswith("SBT options"), banner)


@alone
def test_high_cost_is_reported(t):
    # A single thread never waits, so its phases are short on any machine.
    text = t.text([workload("gen"), "--threads", "1", "--rounds", "20000"])
    check_in("cost", "WARNING: gen (pid", text[text.index("COST OF TRACING"):])
    check_not_in("cost", "less than 5 µs of work", text)
    # On a slow machine the threads take longer from one barrier to the next, although they have no work.
    path = t.path()
    t.run([SBT, "record", "-o", path, "--", workload("gen"), "--threads", "2", "--rounds", "20000"])
    text = t.run([SBT, "report", "--detail", path]).out
    rows = [json.loads(line) for line in t.run([SBT, "report", "--detail", "--json", path]).out.splitlines()]
    (gen,) = [r for r in rows if r["type"] == "process"]
    short = "Its threads work less than 5 µs between barriers." in text[text.index("COST OF TRACING"):]
    check_equal("short phases are reported", short, gen["outside_ns"] // 5000 < gen["crossings"])
    # It runs for so long that the tracer's work at its start is a small part.
    quiet = t.text([workload("gen"), "--threads", "2", "--rounds", "300", "--work", "stair:2ms:1ms"])
    check_not_in("cost", "WARNING", quiet[quiet.index("COST OF TRACING"):])
    check_not_in("cost", "less than 5 µs of work", quiet)


def on_a_terminal(t, env):
    """Return what sbt-trace writes to a terminal that is its stdout."""
    gen = t.gen("--threads", "2", "--rounds", "30", wait=True)
    master, slave = pty.openpty()
    t.at_end(os.close, master)
    p = t.start([SBT, "--detail", "--warn-time", "0", "-p", str(gen.pid)], stdout=slave, env=env)
    os.close(slave)
    os.set_blocking(master, False)
    data = b""

    def more():
        nonlocal data
        try:
            data += os.read(master, 65536)
        except (BlockingIOError, OSError):
            pass
        return b"SBT options" in data
    wait_for("the banner", more)
    gen.begin()
    wait_for("the end", lambda: more() and not p.alive())
    more()
    check_in("report", b"SBT report", data)
    return data


def test_cost_for_other_processes_is_reported(t):
    """With causes, all processes of the machine pay a little for page faults. Without causes, no process does."""
    others = "a page fault of any process on this machine"
    check_in("report", others, " ".join(t.text(LU).split()))
    check_not_in("report", others, " ".join(t.text(LU, "--no-causes").split()))


def test_colour_only_on_a_terminal(t):
    env = clean_environment(TERM="xterm")
    check_in("on a terminal", b"\033[", on_a_terminal(t, env))
    check_not_in("with NO_COLOR", b"\033", on_a_terminal(t, dict(env, NO_COLOR="1")))
    check_not_in("in a file", "\033", t.text(LU, "--warn-time", "0"))


def test_interim_report(t):
    gen = t.gen("--threads", "2", "--forever", "--work", "stair:1ms:1ms", "--work-by", "sleep")
    tracer = t.attach("-W", "-p", str(gen.pid))
    for n in (1, 2):
        wait_for("twenty episodes", lambda: tracer.text().count('"type":"episode"') > 20 * n)
        tracer.process.signal(signal.SIGUSR1)
        wait_for("an interim report",
                 lambda: tracer.text().count('"type":"interim"') == n)
    check(gen.alive(), "SIGUSR1 reached the target")
    trace = tracer.stop()
    interim = trace.all("interim")
    check_equal("interim reports", len(interim), 2)
    check(interim[0]["episodes"] <= interim[1]["episodes"] <= trace.end["episodes"],
          "episodes do not grow")
    check_equal("barrier records", [b["interim"] for b in trace.all("barrier")], [True, True, False])
    for record in interim:
        check_equal("sums", record["produced"] - record["lost_total"] - record["consumed"], 0)


# --- JSON ------------------------------------------------------------------------------------------------

RELIED_UPON = {
    "session": "schema version kernel mode command clock_start_ns probes counters",
    "probes": "family binary symbol method offset",
    "episode": "barrier kind team pid seq phase t_ns phase_ns barrier_ns participants state nested "
               "threads",
    "episode threads": "tid index comm site order arrive_ns inter_ns wait_ns depart_ns cpu work_ns",
    "warning": "barrier pid phase t_ns barrier_ns phase_ns threshold_ns",
    "barrier": "id pid comm family kind name function file line module object episodes incomplete "
               "participants phase_ns barrier_ns release_ns threads",
    "barrier threads": "tid comm wait_ns idle_ns work_ns last",
    "times": "sum min mean max stddev",
    "process": "pid comm elapsed_ns efficiency cost_ns",
    "efficiency": "parallel load_balance serialisation transfer communication",
    "end": "episodes crossings elapsed_ns lost complete",
}


def check_fields(what, record):
    missing = [f for f in RELIED_UPON[what].split() if f not in record]
    check_equal(f"fields missing in {what}", missing, [])


def test_json_fields(t):
    trace = t.trace(LU, "-W", "--warn-time", "0").nothing_lost()
    for kind in ("session", "episode", "warning", "barrier", "process", "end"):
        check(trace.all(kind), f"no {kind}")
        for record in trace.all(kind):
            check_fields(kind, record)
    check_fields("probes", trace.session["probes"][0])
    check_fields("efficiency", trace.process()["efficiency"])
    for b in trace.barriers():
        for name in ("phase_ns", "barrier_ns", "release_ns"):
            check_fields("times", b[name])
        for m in b["threads"]:
            check_fields("barrier threads", m)
    for e in trace.all("episode"):
        for order, m in enumerate(e["threads"]):
            check_fields("episode threads", m)
            check_equal("order", m["order"], order)
            check(m["arrive_ns"] + m["wait_ns"] == e["t_ns"] and m["depart_ns"] >= e["t_ns"],
                  f"arrival, wait and release: {e}")
        check_equal("barrier time", e["threads"][-1]["arrive_ns"] - e["threads"][0]["arrive_ns"],
                    e["barrier_ns"])
        check_equal("inter-arrival", sum(m["inter_ns"] for m in e["threads"]), e["barrier_ns"])
    s = trace.session
    check_equal("session", (s["mode"], s["command"], s["kernel"]),
                ("command", " ".join(LU), os.uname().release))
    check_equal("counters", s["counters"], [])


def test_json_without_watching(t):
    trace = t.trace(LU)
    check_equal("episodes", trace.all("episode"), [])


def test_schema(t):
    rules = schema()
    check_equal("types", {r["properties"]["type"]["const"] for r in rules["oneOf"]} >=
                {"session", "episode", "warning", "barrier", "process", "end"}, True)
    # Check that the validator can reject a record.
    trace = t.trace(LU, "-w", "run")
    for breaking in ({"pid": "one"}, {"state": "odd"}, {"unheard_of": 1}, {"threads": None}):
        record = dict(trace.all("episode")[0], **breaking)
        try:
            validate_one(record, rules["oneOf"], "record", rules)
        except Exception:
            continue
        check(False, f"the schema lets pass {breaking}")


def test_ids_are_the_same_from_run_to_run(t):
    runs = [t.trace(LU, *options) for options in ((), ("-W",), ("--attach", "perf"))]
    ids = [{b["function"]: b["id"] for b in run.barriers()} for run in runs]
    check_equal("ids", ids[1:], [ids[0]] * 2)
    check_equal("different barriers", len(set(ids[0].values())), 2)


def test_json_to_stdout(t):
    """Without a command the report goes to stdout, with -p and with -a."""
    gen = t.gen("--rounds", "10", wait=True)
    p = t.start([SBT, "--json", "-p", str(gen.pid)])
    wait_for("the session record", lambda: "session" in p.out)
    gen.begin()
    lines = [json.loads(line) for line in p.wait().out.splitlines()]
    check_equal("first and last", (lines[0]["type"], lines[-1]["type"]), ("session", "end"))


def test_csv(t):
    path = t.path()
    t.sbt("--csv", "-W", "--warn-time", "0", "-o", path, "--", *LU, rc=0)
    rows = read_csv(path)
    trace = t.trace(LU, "-W", "--warn-time", "0")
    kinds = lambda kind: [r for r in rows if r["type"] == kind]
    for kind in ("session", "episode", "warning", "barrier", "process", "end"):
        check_equal(f"rows {kind}", len(kinds(kind)), len(trace.all(kind)))
    check_equal("episodes", sorted(r["episodes"] for r in kinds("barrier")), ["1", str(SIZE - 1)])
    check_equal("end", (kinds("end")[0]["episodes"], kinds("end")[0]["produced"]),
                (str(SIZE), str(3 * SIZE)))
    check_equal("ids", {r["id"] for r in kinds("barrier")}, {b["id"] for b in trace.barriers()})


def test_version_and_help(t):
    for option in ("--help", "--version"):
        result = t.sbt(option)
        check_equal("status", (result.rc, result.err), (0, ""))
    check(re.match(r"sbt-trace \d+\.\d+\.\d+\n$", result.out), result.out)
    check_equal("trace --version", t.sbt("trace", "--version").out, result.out)
    lines = t.sbt("--help").out.splitlines()
    check(len(lines) < 24 and max(map(len, lines)) <= 80, "--help is more than a screen")
    check_in("--help=all", "--fail-above PERCENT", t.sbt("--help=all").out)
    with open(os.devnull, "wb") as full:
        check_equal("schema", subprocess.run([SBT, "--json-schema"], stdout=full).returncode, 0)
