# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""sbt-trace -- COMMAND: no crossing before main is missed, children and exec are followed, and the command behaves as without
tracing."""

import os
import re
import shutil
import signal
import time

from harness import (UNPRIVILEGED, SBT, Trace, check, check_between, check_equal, check_in, clean_environment, descendants,
                     genlog, libraries, paired, read_proc, stat_of, wait_for, workload, write_file)

SHARED = True

GEN = ["--threads", "3", "--rounds", "200", "--sites", "2"]


def answers(trace, episodes=200, participants=3):
    """Check the known answers of GEN."""
    trace.nothing_lost()
    check_equal("episodes", trace.end["episodes"], episodes)
    check_equal("incomplete", trace.end["incomplete"], 0)
    check_equal("crossings", trace.end["crossings"], episodes * participants)
    check_equal("barriers", [(b["episodes"], b["participants"]) for b in trace.barriers()],
                [(episodes // 2, participants)] * 2)
    check_equal("threads", trace.processes()[0]["nthreads"], participants)


def variant(name, function, file):
    def test(t):
        trace = t.trace([workload(name), *GEN])
        answers(trace)
        for b in trace.barriers():
            check_in("module", name, b["module"])
            check(b["offset"], "no offset in the module")
            if function:
                check_in("function", b["function"], ("site_0", "site_1"))
            else:
                check(not b["function"], f"a function in a stripped program: {b['function']}")
            if file:
                check(b["file"] and b["file"].endswith("gen.c") and b["line"], f"no line in {b}")
            else:
                check(not b["file"], f"a file without debug information: {b['file']}")
        check_equal("different sites", len({b["id"] for b in trace.barriers()}), 2)
        check_in("stdout", "gen: rounds=200 threads=3 ok", trace.result.out)
    return test


test_gen = variant("gen", True, True)
test_gen_static = variant("gen-static", True, True)
test_gen_musl = variant("gen-musl", True, True)
test_gen_musl_static = variant("gen-musl-static", True, True)
test_gen_stripped = variant("gen-stripped", False, False)
# There are no names: the barrier function is recognised by its code.
test_gen_static_stripped = variant("gen-static-stripped", False, False)
test_gen_musl_static_stripped = variant("gen-musl-static-stripped", False, False)
test_gen_nopie = variant("gen-nopie", True, True)
test_gen_nodebug = variant("gen-nodebug", True, False)
test_gen_old_libpthread = variant("gen-oldlib", True, True)


def test_old_libpthread_is_probed_there(t):
    trace = t.trace([workload("gen-oldlib"), *GEN])
    probed = [p["binary"] for p in trace.session["probes"]]
    # The library is only known once the command runs. The report must still be about its barrier.
    check_equal("participants", {b["participants"] for b in trace.barriers()}, {3})
    check(all(not p.endswith("/gen-oldlib") for p in probed), f"probed: {probed}")


def test_separate_debug_file_by_build_id(t):
    """The test runs in its own mount namespace, where the debug file is where a debug package puts it."""
    path = t.path("out")
    script = f"mount --bind {workload('debug')} /usr/lib/debug && exec \"$@\""
    t.run(["unshare", "-m", "--", "sh", "-c", script, "sh", SBT, "--json", "-o", path, "--",
           workload("gen-splitdebug"), *GEN], rc=0)
    trace = Trace(t, path)
    answers(trace)
    for b in trace.barriers():
        check_in("function", b["function"], ("site_0", "site_1"))
        check(b["file"] and b["file"].endswith("gen.c"), f"file: {b['file']}")


def test_before_main(t):
    """A constructor crosses barriers. No crossing before main may be missed."""
    trace = t.trace([workload("early")]).nothing_lost()
    check_equal("episodes", {b["function"]: b["episodes"] for b in
                             trace.barriers(family="pthread")},
                {"early_member": 40, "late_member": 60})
    check_equal("incomplete", trace.end["incomplete"], 0)


def test_first_program_of_its_kind(t):
    """A copy that has never run before, with its own C library, so that sbt-trace knows none of it."""
    gen = t.path("fresh-gen")
    shutil.copy(workload("gen"), gen)
    libs = t.path("libs")
    os.mkdir(libs)
    for lib in libraries(gen):
        shutil.copy(lib, libs)
    trace = t.trace([gen, *GEN], env=clean_environment(LD_LIBRARY_PATH=libs))
    answers(trace)


def test_through_sh(t):
    gen = workload("gen")
    trace = t.trace(["sh", "-c", f"{gen} --threads 2 --rounds 30; {gen} --threads 3 --rounds 40 & "
                     f"wait; true"]).nothing_lost()
    check_equal("teams", sorted((b["participants"], b["episodes"]) for b in trace.barriers()),
                [(2, 30), (3, 40)])


def test_through_env_and_nice(t):
    trace = t.trace(["env", "-i", "nice", "-n", "0", workload("gen"), *GEN])
    answers(trace)


def test_shebang_script(t):
    script = t.path("script")
    write_file(script, f"#!/bin/sh\n{workload('gen')} --threads 2 --rounds 25\nexit 5\n")
    os.chmod(script, 0o755)
    trace = t.trace([script], rc=5)
    # A child with a program that COMMAND does not name may cross barriers before it is examined. These crossings are counted.
    lost = {k: v for k, v in trace.end["lost"].items() if v}
    check_equal("crossings, seen or lost", trace.end["crossings"] + lost.pop("not_examined", 0), 50)
    check_equal("what else is lost", lost, {})
    check_equal("complete", trace.end["complete"], trace.end["crossings"] == 50)


def test_pipeline_of_programs(t):
    gen = workload("gen")
    trace = t.trace(["sh", "-c", f"{gen} --rounds 50 | cat | {gen} --rounds 60 | cat"])
    trace.nothing_lost()
    check_equal("episodes", sorted(b["episodes"] for b in trace.barriers()), [50, 60])
    check_equal("stdout", trace.result.out, "gen: rounds=60 threads=4 ok\n")


def test_fork_children(t):
    trace = t.trace([workload("fork_children")]).nothing_lost()
    found, of = {}, {}
    # The parent also creates and joins two teams, which belong to the family forkjoin.
    for b in trace.barriers(family="pthread"):
        key = (b["pid"], b["participants"])
        found[key] = found.get(key, 0) + b["episodes"]
        of[b["pid"]] = of.get(b["pid"], 0) + b["episodes"]
    check_equal("teams", sorted((n, e) for (_, n), e in found.items()),
                [(2, 70), (2, 100), (2, 100), (3, 200), (4, 300)])
    check_equal("incomplete", trace.end["incomplete"], 0)
    parent = [p for p in trace.processes() if of[p["pid"]] == 100 and p["parent"] not in
              [q["pid"] for q in trace.processes()]]
    check_equal("the parent", len(parent), 1)
    # Children 1, 2 and 3 are the parent's. The grandchild is child 2's.
    children = {p["pid"]: p["parent"] for p in trace.processes()}
    second = [p["pid"] for p in trace.processes() if of[p["pid"]] == 200][0]
    grandchild = [p for p in trace.processes() if of[p["pid"]] == 70][0]
    check_equal("parent of the grandchild", grandchild["parent"], second)
    check_equal("parent of child 2", children[second], parent[0]["pid"])


def test_no_children(t):
    for command, episodes in (([workload("fork_children")], 100), ([workload("gen"), *GEN], 200)):
        trace = t.trace(command, "--no-children").nothing_lost()
        check_equal(f"episodes of {command[0]}",
                    sum(b["episodes"] for b in trace.barriers(family="pthread")), episodes)
        check_equal("processes", len(trace.processes()), 1)
        check_equal("scopes", {p["scope"] for p in trace.session["probes"]} - {"process"}, set())


def test_exec_self(t):
    trace = t.trace([workload("exec_self")]).nothing_lost()
    check_equal("episodes", trace.end["episodes"], 600)
    check_equal("pids", len({b["pid"] for b in trace.barriers()}), 1)
    check_equal("programs", sorted(p["episodes"] for p in trace.processes()), [100, 200, 300])
    check_equal("abandoned", sum(p["abandoned"] for p in trace.processes()), 2)
    check_equal("participants", {b["participants"] for b in trace.barriers() if b["episodes"]}, {3})


def exec_on(name, other, n=200):
    return [workload(name), str(n), workload(other), workload(name)]


def check_exec_on(trace, functions, n=200):
    """Check that each process's row has the names of its own program, whatever the process has executed since."""
    rows = trace.barriers(family="pthread")
    check_equal("rows", len(rows), n)
    check_equal("episodes", {b["episodes"] for b in rows}, {10})
    check_equal("functions", {(b["comm"], b["function"], os.path.basename(b["module"] or ""))
                              for b in rows}, {(name, function, name) for name, function in functions.items()})
    check_equal("ids", len({b["id"] for b in rows}), len(functions))


def test_exec_at_once(t):
    one, two = {"exec_on": "first_member"}, {"exec_on": "first_member", "exec_on2": "second_member"}
    check_exec_on(t.trace(exec_on("exec_on", "exec_on")).nothing_lost(), one)
    check_exec_on(t.trace(exec_on("exec_on", "exec_on2")).nothing_lost(), two)
    check_exec_on(t.trace(exec_on("exec_on", "exec_on"), "--aggregate").nothing_lost(), one)


def test_exec_to_the_same_place(t):
    """Without ASLR, the next program is at the same addresses. Names from its mappings would be wrong."""
    command = ["setarch", "-R", *exec_on("exec_on", "exec_on2")]
    check_exec_on(t.trace(command).nothing_lost(), {"exec_on": "first_member", "exec_on2": "second_member"})


def test_exec_at_once_from_a_library(t):
    """The addresses of libraries are known only if the process was examined in time. For other processes, the report says that
    they are not."""
    trace = t.trace(exec_on("exec_on-lib", "exec_on-lib")).nothing_lost()
    rows = trace.barriers(family="pthread")
    check_equal("rows", len(rows), 200)
    named = [b for b in rows if b["module"]]
    check_equal("functions", {b["function"] for b in named} - {"bar_wait"}, set())
    check_equal("modules", {os.path.basename(b["module"]) for b in named} - {"libbar.so"}, set())
    said = [f["figure"] for f in trace.all("finding") if f["kind"] == "site_unknown"]
    check_equal("reported", said, [30] * (200 - len(named)))


def test_spawn_static(t):
    trace = t.trace([workload("spawn_static"), workload("gen-static"), "--threads", "3", "--rounds",
                     "80"]).nothing_lost()
    own = trace.episodes(participants=2, family="pthread")
    check_equal("own episodes", own, 150)
    check_equal("children's", sorted(b["episodes"] for b in
                                     trace.barriers(participants=3, family="pthread")), [80, 80])


def test_same_program_in_many_processes(t):
    gen = workload("gen")
    loop = "i=0; while [ $i -lt 20 ]; do %s --threads 2 --rounds 30 & i=$((i+1)); done; wait" % gen
    trace = t.trace(["sh", "-c", loop]).nothing_lost()
    check_equal("processes", len(trace.barriers()), 20)
    check_equal("episodes", {b["episodes"] for b in trace.barriers()}, {30})
    check_equal("incomplete", trace.end["incomplete"], 0)


# --- status, streams, user ---------------------------------------------------------------------------

def test_exit_status(t):
    for status in (0, 1, 3, 126, 255):
        t.sbt("--", "sh", "-c", f"exit {status}", rc=status)
    trace = t.trace([workload("exit_in_wait")], rc=7)
    check_equal("episodes", trace.end["episodes"], 10)
    check_equal("abandoned", trace.process()["abandoned"], 3)


def test_exit_status_by_signal(t):
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV):
        result = t.sbt("--", "sh", "-c", f"ulimit -c 0; kill -{int(number)} $$")
        check_equal("exit status", result.rc, 128 + number)


def test_streams_are_the_commands(t):
    data = bytes(range(256)) * 400
    path = t.path("in")
    write_file(path, data)
    with open(path, "rb") as f:
        result = t.sbt("-o", t.path(), "-q", "--", "sh", "-c", "cat; printf 'a\\0b' >&2", stdin=f)
    check_equal("stdout is stdin", result.stdout == data, True)
    check_in("stderr", b"a\0b", result.stderr)
    # With -o, a program with barriers has both streams for itself.
    plain = t.run([workload("lu"), "--size", "64", "--threads", "3"])
    traced = t.sbt("-o", t.path(), "--", workload("lu"), "--size", "64", "--threads", "3")
    check_equal("stdout", traced.stdout, plain.stdout)
    check_equal("stderr", traced.stderr, plain.stderr)


def test_report_goes_to_stderr(t):
    result = t.sbt("--", workload("gen"), *GEN)
    check_equal("stdout", result.out, "gen: rounds=200 threads=3 ok\n")
    check_in("stderr", "SBT report", result.err)


LEFT_ALONE = ("for f in /proc/self/fd/*; do readlink $f; done | grep -v ^/proc; "
              "grep -E '^(Sig(Blk|Ign|Cgt)|Cap|NoNewPrivs|Seccomp)' /proc/self/status; nice; ulimit -a; "
              "env | grep -v ^_= | sort; umask; pwd")


def test_command_inherits_nothing(t):
    """Open files, signal masks, priority, limits and environment are the same as without sbt-trace."""
    with open(os.devnull, "rb") as null:
        plain = t.run(["sh", "-c", LEFT_ALONE], stdin=null)
        traced = t.sbt("-o", t.path(), "-q", "--", "sh", "-c", LEFT_ALONE, stdin=null)
    mask = lambda text: re.sub(r"pipe:\[\d+\]|/\S*/#\d+ \(deleted\)|/proc/\d+\S*", "-", text)
    check_equal("as the command sees itself", mask(traced.out), mask(plain.out))


def user(t, command, *options, rc=0, **env):
    result = t.sbt("-q", "-o", t.path(), *options, "--", *command, env=clean_environment(**env))
    check_equal("exit status", (result.rc, result.err if rc == 0 and result.rc else ""), (rc, ""))
    return result


def test_user_behind_sudo(t):
    name = "nobody"
    sudo = {"SUDO_UID": str(UNPRIVILEGED), "SUDO_GID": str(UNPRIVILEGED), "SUDO_USER": name}
    show = ["sh", "-c", "id -u; id -g; id -G; echo $HOME $USER $LOGNAME; grep CapEff /proc/self/status"]
    check_equal("behind sudo", user(t, show, **sudo).out,
                f"{UNPRIVILEGED}\n{UNPRIVILEGED}\n{UNPRIVILEGED}\n/nonexistent {name} {name}\nCapEff:\t0000000000000000\n")
    check_equal("without sudo", user(t, ["id", "-u"]).out, "0\n")
    check_equal("sudo by root", user(t, ["id", "-u"], SUDO_UID="0", SUDO_GID="0").out, "0\n")
    check_equal("-u root wins", user(t, ["id", "-u"], "-u", "root", **sudo).out, "0\n")
    check_equal("-u by name", user(t, ["id", "-u"], "-u", "nobody").out, f"{UNPRIVILEGED}\n")
    check_equal("-u by number", user(t, ["id", "-u"], "-u", str(UNPRIVILEGED)).out, f"{UNPRIVILEGED}\n")


def test_user_cannot_come_back(t):
    out = user(t, ["sh", "-c", "grep -E '^(Uid|Gid|Groups)' /proc/self/status"], "-u", "nobody").out
    check_equal("ids", out.split(), ["Uid:"] + [str(UNPRIVILEGED)] * 4 + ["Gid:"] + [str(UNPRIVILEGED)] * 4 +
                ["Groups:", str(UNPRIVILEGED)])


def test_user_is_traced(t):
    trace = t.trace([workload("gen"), *GEN], "-u", "nobody")
    answers(trace)


def test_user_unknown(t):
    result = t.sbt("-u", "nosuchuser", "--", "true", rc=1)
    check_in("stderr", "there is no such user", result.err)


# --- time -------------------------------------------------------------------------------------------

@paired
def test_delay(t):
    log = t.path("log")
    before = time.monotonic_ns()
    trace = t.trace([workload("gen"), "--threads", "2", "--duration", "1", "--work",
                     "stair:1ms:1ms", "--work-by", "sleep", "--log", log], "-W", "--delay", "0.4")
    trace.nothing_lost()
    start = trace.session["clock_start_ns"]
    check(start - before >= 400_000_000, f"began after {(start - before) / 1e6} ms")
    log = genlog.Log(log)
    after = [e for e in log.episodes() if e.first.arrive > start + 5_000_000]
    result = trace.compare(log)
    check(len(after) > 50, f"only {len(after)} episodes after the delay")
    check_between("episodes matched", result["matched"], len(after), len(after) + 5)
    check_equal("extra", result["extra"], 0)


@paired
def test_duration(t):
    started = time.monotonic()
    trace = t.trace([workload("gen"), "--threads", "2", "--duration", "1", "--work",
                     "stair:1ms:1ms", "--work-by", "sleep"], "-d", "0.4")
    check(time.monotonic() - started >= 1, "did not wait for the command")
    check_in("stdout", "threads=2 ok", trace.result.out)
    check_between("elapsed", trace.end["elapsed_ns"], 395_000_000, 700_000_000)
    check_between("episodes", trace.end["episodes"], 50, 220)


@paired
def test_duration_keeps_exit_status(t):
    t.sbt("-d", "0.2", "-o", t.path(), "--", "sh", "-c", "sleep 0.5; exit 9", rc=9)


def test_interim_report(t):
    path = t.path()
    p = t.start([SBT, "--detail", "-o", path, "--", workload("gen"), "--threads", "2", "--forever", "--work",
                 "stair:1ms:1ms", "--work-by", "sleep"])
    read = lambda: open(path).read() if os.path.exists(path) else ""
    wait_for("the banner", read)
    time.sleep(0.1)
    p.signal(signal.SIGUSR1)
    wait_for("an interim report", lambda: "SBT interim report" in read())
    check(p.alive(), "ended upon SIGUSR1")
    p.signal(signal.SIGINT)
    result = p.wait()
    check_equal("reports", (read().count("SBT interim report"), read().count("SBT report:")), (1, 1))
    check_equal("status", result.rc, 0)


def test_command_survives_sigint(t):
    """Tracing stops, and the command continues."""
    p = t.start([SBT, "-o", t.path(), "--", workload("gen"), "--threads", "2", "--forever", "--work",
                 "stair:1ms:1ms", "--work-by", "sleep"])
    gen = lambda: [x for x in descendants() if read_proc(x, "comm") == b"gen\n"]
    pid = wait_for("gen runs", gen)[0]
    time.sleep(0.3)
    p.signal(signal.SIGINT)
    result = p.wait()
    check_equal("status", result.rc, 0)
    check_in("state of gen", (stat_of(pid) or "?")[0], "SRD")
    os.kill(pid, signal.SIGTERM)
    wait_for("gen ends in good order", lambda: (stat_of(pid) or "Z")[0] == "Z")


def test_leaves_a_daemon(t):
    """COMMAND ends and a child of it continues. Tracing ends with COMMAND, and a message says so."""
    release = t.path("release")
    # The grandchild has lost its parent, and waits for a file before it ends.
    script = f"(while [ ! -e {release} ]; do sleep 0.1; done) >/dev/null 2>&1 & exit 0"
    try:
        result = t.sbt("--", "sh", "-c", script, rc=0)
        # The loop, and usually its current sleep.
        check_in("stderr", "COMMAND has ended, and tracing with it, but ", result.err)
        check(re.search("a process that it started still runs|2 processes that it started still run",
                        result.err), result.err)
        check_in("stderr", "sbt-trace -p", result.err)
    finally:
        with open(release, "w", encoding="ascii"):
            pass
    result = t.sbt("--", "sh", "-c", "sleep 0.1 & wait")
    check("COMMAND has ended" not in result.err, result.err)


def test_leaves_a_short_daemon(t):
    """The same if the child has ended before the report: all its episodes are reported, or a message says that some are
    missing."""
    daemon = f"{workload('gen')} --threads 2 --rounds 50 --work stair:1ms:1ms --work-by sleep"
    for _ in range(3):
        trace = t.trace(["sh", "-c", f"{daemon} >/dev/null 2>&1 & exit 0"])
        said = [r for r in trace.all("remark") if r["kind"] == "still_running"]
        check(said or trace.end["episodes"] == 50, f"{trace.end['episodes']} episodes of 50, and no word of it")


LINKED = {"dynamic": ["lu", "--threads", "2", "--size", "64"], "static": ["gen-static", *GEN], "OpenMP": ["gen_gomp", "--rounds", "50"]}


def test_held_is_not_its_own(t):
    """COMMAND is stopped for some ms until its probes are attached. Nothing else stops it, and it does not sleep before its
    first barrier. So the first phase of its first thread has no blocked and no unattributed time, and its life has the
    length that it measures."""
    for how, (name, *arguments) in LINKED.items():
        trace = t.trace([workload(name), *arguments], "-W")
        first = trace.all("episode")[0]
        main = [m for m in first["threads"] if m["index"] == 0]
        check_equal(f"{how}: first threads in the first episode", len(main), 1)
        blocked = main[0]["blocked_ns"]
        check_between(f"{how}: blocked by something else", blocked["other"], 0, 1e6)
        check_between(f"{how}: unattributed", main[0]["unattributed_ns"], 0, 1e6)
        p = trace.process()
        check_between(f"{how}: work of its first phase", main[0]["work_ns"], 1, p["elapsed_ns"])
