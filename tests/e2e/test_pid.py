# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""sbt-trace -p traces every thread that exists or starts in the process, and nothing else."""

import collections
import os
import shutil
import signal
import subprocess

from harness import (SBT, alone, check, check_between, check_equal, check_in, clean_environment, genlog, interpreter,
                     libraries, read_proc, stat_of, wait_for, workload, write_file)

PAIRED = True

SETTLED_NS = 20_000_000  # after the start of tracing; by then the members of each barrier are known
PACE = ["--work", "stair:200us:100us", "--work-by", "sleep"]


def asleep(pid):
    """Return the sleeping threads of the process."""
    tasks = os.listdir(f"/proc/{pid}/task")
    return sum((stat_of(f"{pid}/task/{tid}") or "?")[0] == "S" for tid in tasks)


def traced_gen(t, options, tracer_options=("-W",), name="gen", **more):
    """Start gen after sbt-trace has attached. Return the trace, compared with gen's log."""
    log = t.path()
    gen = t.gen(*options, "--log", log, wait=True, name=name, **more)
    tracer = t.attach(*tracer_options, "-p", str(gen.pid))
    gen.begin()
    check_equal("gen's status", gen.wait().rc, 0)
    trace = tracer.end()
    log = genlog.Log(log)
    check_equal("the log itself", log.check(), [])
    return trace, log


def all_found(trace, log):
    trace.nothing_lost()
    result = trace.compare(log)
    check_equal("missing, extra, incomplete", (result["missing"], result["extra"],
                                               result["incomplete"]), (0, 0, 0))
    return result


def test_every_thread(t):
    trace, log = traced_gen(t, ["--threads", "5", "--rounds", "300", *PACE])
    all_found(trace, log)
    check_equal("mode", trace.session["mode"], "pid")
    check_equal("names", sorted(m["comm"] for m in trace.processes()[0]["threads"]),
                [f"gen-{i}" for i in range(5)])


QUICK = """
#include <pthread.h>
static pthread_barrier_t b;
static void *work(void *a)
{
	for (int i = 0; i < 1000; i++)
		pthread_barrier_wait(&b);
	return a;
}
int main(void)
{
	pthread_t t;
	pthread_barrier_init(&b, 0, 2);
	pthread_create(&t, 0, work, 0);
	work(0);
	return pthread_join(t, 0);
}
"""


def test_a_shell_that_becomes_it(t):
    """A program that a shell is about to execute is examined before, because it may reach its barriers within a millisecond."""
    source, binary, gate = t.path("quick.c"), t.path("quick"), t.path("gate")
    write_file(source, QUICK)
    subprocess.run(["gcc", "-O2", "-pthread", "-o", binary, source], check=True)
    os.mkfifo(gate)
    for how in ("exec ", "") * 3:
        shell = subprocess.Popen(["sh", "-c", f"read line < {gate}; {how}{binary}; true"])
        tracer = t.attach("-W", "-p", str(shell.pid))
        write_file(gate, "go\n")
        check_equal("status", shell.wait(), 0)
        trace = tracer.end().nothing_lost()
        check_equal("episodes", [b["episodes"] for b in trace.barriers()], [1000])


def test_several_pids(t):
    logs = [t.path(), t.path()]
    gens = [t.gen("--threads", str(n), "--rounds", "150", *PACE, "--log", log, wait=True)
            for n, log in zip((2, 4), logs)]
    stranger = t.gen("--threads", "3", "--rounds", "150", *PACE, wait=True)
    tracer = t.attach("-W", "-p", ",".join(str(g.pid) for g in gens))
    for g in [*gens, stranger]:
        g.begin()
    for g in [*gens, stranger]:
        g.wait()
    trace = tracer.end()
    check_equal("teams", {b["pid"]: (b["participants"], b["episodes"]) for b in trace.barriers()},
                {gens[0].pid: (2, 150), gens[1].pid: (4, 150)})
    check_equal("episodes", trace.end["episodes"], 300)


def test_pid_given_twice_or_in_two_options(t):
    gens = [t.gen("--rounds", "50", wait=True) for _ in range(2)]
    tracer = t.attach("-p", str(gens[0].pid), "-p", f"{gens[1].pid},{gens[0].pid}")
    for g in gens:
        g.begin()
    trace = tracer.end()
    check_equal("teams", {b["pid"]: b["episodes"] for b in trace.barriers()},
                {g.pid: 50 for g in gens})


def test_no_children(t):
    trace, log = traced_gen(t, ["--threads", "3", "--rounds", "100", *PACE],
                            ("-W", "--no-children"))
    all_found(trace, log)
    check_equal("scope", {p["scope"] for p in trace.session["probes"]}, {"process"})


@alone
def test_middle_of_an_episode(t):
    """Three threads wait in the barrier when tracing begins. No thread may be blamed for that. On a busy machine sbt-trace may
    attach too late, and the test is repeated."""
    for _ in range(5):
        trace = attached_in_the_middle(t)
        if trace.in_time:
            break
    check(trace.in_time, "sbt-trace did not come in time")
    check_equal("complete, incomplete", (trace.end["episodes"], trace.end["incomplete"]), (5, 1))
    result = trace.compare(trace.log)
    check_equal("extra", result["extra"], 0)
    check_equal("matched", result["matched"], 5)
    cut = [e for e in trace.all("episode") if e["state"] == "incomplete"][0]
    check("before" in cut["why"], f"why it is incomplete: {cut['why']}")
    barrier = trace.barrier()
    # 4 threads, 5 episodes: the slow thread is always last, and the others wait 0.7 s each time, or what the log has.
    check_equal("arrived last", sorted(m["last"] for m in barrier["threads"]), [0, 0, 0, 5])
    waits = sum(sum(e.wait_ns().values()) for e in trace.log.episodes()[1:])
    check_between("lost time", barrier["lost_ns"], 0.98 * waits, 1.02 * waits)
    check_between("the log's", waits, 5 * 3 * 0.65e9, 5 * 3 * 2e9)


def attached_in_the_middle(t):
    log = t.path()
    gen = t.gen("--threads", "4", "--rounds", "6", "--work", "fixed:0=700ms", "--work-by", "sleep",
                "--log", log, wait=True)
    gen.begin()
    wait_for("all are asleep", lambda: asleep(gen.pid) == 5)
    tracer = t.attach("-W", "-p", str(gen.pid))
    gen.wait()
    trace = tracer.end()
    log = genlog.Log(log)
    start = trace.session["clock_start_ns"]
    first = log.episodes()[0]
    # sbt-trace looks for waiting threads soon after its start.
    trace.in_time = first.crossings[-2].arrive < start < first.release - 100_000_000
    trace.log = log
    return trace


def test_running_process(t):
    """The tracer attaches and detaches while the process crosses barriers."""
    for work in (["--work", "stair:30us:30us"], PACE):
        log = t.path()
        gen = t.gen("--threads", "3", "--forever", "--rounds", "200000", "--log", log, *work,
                    wait=True)
        gen.begin()
        trace = t.attach("-W", "-d", "0.3", "-p", str(gen.pid)).end()
        gen.signal(signal.SIGTERM)
        check_equal("gen's status", gen.wait().rc, 0)
        trace.nothing_lost()
        check_equal("lost crossings", [p["lost"] for p in trace.processes()], [0])
        check_equal("complete", trace.end["complete"], True)
        log = genlog.Log(log)
        start, length = trace.session["clock_start_ns"], trace.end["elapsed_ns"]
        check_equal("reported as complete and are not", trace.compare(log)["extra"], 0)
        # At the beginning, episodes may be cut. The threads inside at the start of tracing are looked up in /proc, one after
        # the other, while the program crosses every 0.1 ms. A thread that departed meanwhile is not known to have been inside.
        # If all are back before the last has left, either of two episodes can have been the first. They are reported as
        # uncertain, up to the first unambiguous episode.
        cut = [e for e in trace.all("episode") if e["state"] != "complete"]
        # The tracer may lose its CPU while it turns its probes on.
        earliest = min(e["t_ns"] for e in trace.all("episode"))
        check_between("the first episode", earliest, 0, 100_000_000)
        begin = [e for e in cut if e["t_ns"] < earliest + SETTLED_NS]
        check(all({"before", "count"} & set(e["why"]) for e in begin), f"why they are cut: {begin}")
        check_between("incomplete at the beginning", sum(e["state"] == "incomplete" for e in begin), 0, 2)
        settled = max([earliest, *(e["t_ns"] for e in begin)])
        # The same at the end.
        check_between("incomplete later", len(cut) - len(begin), 0, 1)
        check_equal("in sum", trace.end["incomplete"] + trace.end["ambiguous"], len(cut))
        log._episodes = [e for e in log.episodes()
                         if start + settled + 1_000_000 < e.first.arrive and
                         max(c.depart for c in e.crossings) < start + length - 1_000_000]
        check(len(log.episodes()) > 50, f"only {len(log.episodes())} episodes")
        check_equal("missing", trace.compare(log)["missing"], 0)


def test_forks_of_a_process(t):
    """A shell waits, and executes another program, which then forks."""
    script = f"read x; exec {workload('fork_children')}"
    p = t.start(["sh", "-c", script], stdin=subprocess.PIPE)
    tracer = t.attach("-p", str(p.pid))
    p.write(b"\n")
    check_equal("status", p.wait().rc, 0)
    trace = tracer.end()
    trace.nothing_lost()
    # Ignore episodes of the family forkjoin: the parent creates and joins two teams.
    episodes = collections.Counter()
    for barrier in trace.barriers(family="pthread"):
        episodes[barrier["pid"]] += barrier["episodes"]
    check_equal("episodes", sorted(episodes.values()), [70, 100, 100, 200, 300])
    check_equal("parent's pid", episodes[p.pid], 100)


def test_children_are_left_to_themselves(t):
    """When the last target has exited, tracing ends, whatever its children do."""
    child = f"{workload('gen')} --threads 2 --forever --work stair:1ms:1ms --work-by sleep"
    p = t.start(["sh", "-c", f"read x; {child} & sleep 0.2"], stdin=subprocess.PIPE)
    tracer = t.attach("-p", str(p.pid))
    p.write(b"\n")
    trace = tracer.end(timeout=10)
    check(trace.end["episodes"] > 20, f"only {trace.end['episodes']} episodes of the child")


def test_target_exits(t):
    gen = t.gen("--rounds", "10", wait=True)
    tracer = t.attach("-p", str(gen.pid))
    gen.begin()
    trace = tracer.end(timeout=10)
    check_equal("episodes", trace.end["episodes"], 10)
    check_equal("exited", [p["exited"] for p in trace.processes()], [True])


def test_target_is_killed(t):
    gen = t.gen("--forever", *PACE, wait=True)
    tracer = t.attach("-p", str(gen.pid))
    gen.begin()
    gen.signal(signal.SIGKILL)
    trace = tracer.end(timeout=10)
    check_equal("exited", [p["exited"] for p in trace.processes()],
                [True] * len(trace.processes()))


def refused(t, pid, *words):
    result = t.sbt("-p", pid, timeout=10, rc=1)
    for word in words:
        check_in("stderr", word, result.err)


def test_thread_id(t):
    gen = t.gen("--forever", *PACE, wait=True)
    tid = [x for x in os.listdir(f"/proc/{gen.pid}/task") if int(x) != gen.pid][0]
    refused(t, tid, f"{tid} is a thread of process {gen.pid}")


def test_no_such_pid(t):
    p = t.start(["true"])
    p.wait()
    refused(t, str(p.pid), f"process {p.pid} does not exist")


def test_dead_pid(t):
    p = t.start(["true"])
    wait_for("a zombie", lambda: (stat_of(p.pid) or "?")[0] == "Z")
    refused(t, str(p.pid), f"process {p.pid} does not exist, or ended")


def test_kernel_thread(t):
    result = t.sbt("-p", "2", "-d", "0.2", timeout=10)
    check_in("status", result.rc, (0, 1))
    check(result.err, "not a word about a kernel thread")


def test_one_of_several_is_wrong(t):
    gen = t.gen("--forever", *PACE, wait=True)
    p = t.start(["true"])
    p.wait()
    refused(t, f"{gen.pid},{p.pid}", f"process {p.pid} does not exist")
    check(gen.alive(), "the other target has died")


def test_no_barrier_yet(t):
    """A process without the function is reported. A program that it executes later is found, except for its first crossings."""
    pace = " ".join(PACE)
    p = t.start(["sh", "-c", f"read x; exec {workload('gen-static')} --rounds 300 {pace}"],
                stdin=subprocess.PIPE)
    tracer = t.attach("-p", str(p.pid))
    p.write(b"\n")
    trace = tracer.end()
    check(200 <= trace.end["episodes"] <= 300, f"episodes: {trace.end['episodes']}")


# --- files that are gone, or others ------------------------------------------------------------------

def own_libc(t):
    """Make a folder with a copy of the libraries that gen loads."""
    folder = t.path()
    os.mkdir(folder)
    for lib in libraries(workload("gen")):
        shutil.copy(lib, folder)
    return folder, clean_environment(LD_LIBRARY_PATH=folder)


def test_deleted_library(t):
    folder, env = own_libc(t)
    log = t.path()
    gen = t.gen("--rounds", "100", *PACE, "--log", log, wait=True, env=env)
    check_in("maps", folder.encode(), read_proc(gen.pid, "maps"))
    shutil.rmtree(folder)
    tracer = t.attach("-W", "-p", str(gen.pid))
    gen.begin()
    trace = tracer.end()
    all_found(trace, genlog.Log(log))
    check_equal("function", trace.barrier()["function"], "site_0")


def test_replaced_library(t):
    """Another file now has the library's name. The mapped file is the one that counts."""
    folder, env = own_libc(t)
    log = t.path()
    gen = t.gen("--rounds", "100", *PACE, "--log", log, wait=True, env=env)
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        os.unlink(path)
        write_file(path, b"\x7fELF" + bytes(4000))
    tracer = t.attach("-W", "-p", str(gen.pid))
    gen.begin()
    trace = tracer.end()
    all_found(trace, genlog.Log(log))


def test_deleted_binary(t):
    for name in ("gen", "gen-static"):
        copy, log = t.path(), t.path()
        shutil.copy(workload(name), copy)
        gen = t.gen("--rounds", "100", *PACE, "--log", log, wait=True, name=copy)
        os.unlink(copy)
        tracer = t.attach("-W", "-p", str(gen.pid))
        gen.begin()
        trace = tracer.end()
        all_found(trace, genlog.Log(log))
        check_equal(f"function in the deleted {name}", trace.barrier()["function"], "site_0")


def test_replaced_binary(t):
    copy, log = t.path(), t.path()
    shutil.copy(workload("gen"), copy)
    gen = t.gen("--rounds", "100", *PACE, "--log", log, wait=True, name=copy)
    os.unlink(copy)
    shutil.copy(workload("lu"), copy)
    tracer = t.attach("-W", "-p", str(gen.pid))
    gen.begin()
    trace = tracer.end()
    all_found(trace, genlog.Log(log))
    check_equal("function", trace.barrier()["function"], "site_0")


def chroot_folder(t):
    """Make a root directory for gen, in which another file is its C library."""
    root = t.path("root")
    gen = workload("gen")
    for path in [interpreter(gen), *libraries(gen)]:
        os.makedirs(root + os.path.dirname(path), exist_ok=True)
        shutil.copy(path, root + path)
    shutil.copy(gen, root + "/gen")
    return root


def in_chroot(root, *options):
    return ["unshare", "-m", "chroot", root, "/gen", *options]


def test_another_mount_namespace(t):
    root = chroot_folder(t)
    gen = t.start(in_chroot(root, "--rounds", "100", "--wait-start", *PACE), stdin=subprocess.PIPE)
    wait_for("gen is ready", lambda: "ready" in gen.out)
    tracer = t.attach("-W", "-p", str(gen.pid))
    gen.write(b"\n")
    trace = tracer.end().nothing_lost()
    check_equal("episodes", trace.end["episodes"], 100)
    check_equal("function", trace.barrier()["function"], "site_0")


def test_name_hidden_by_a_mount(t):
    """In the process's mount namespace, the library has a name that belongs to another file in the tracer's."""
    folder, env = own_libc(t)
    script = f"mount -t tmpfs none {folder} && cp \"$@\" {folder} && shift $# && exec " \
             f"{workload('gen')} --rounds 100 --wait-start --work stair:200us:100us --work-by sleep"
    gen = t.start(["unshare", "-m", "sh", "-c", script, "sh", *libraries(workload("gen"))],
                  stdin=subprocess.PIPE, env=env)
    wait_for("gen is ready", lambda: "ready" in gen.out)
    for name in os.listdir(folder):
        write_file(os.path.join(folder, name), b"not the library\n")
    tracer = t.attach("-p", str(gen.pid))
    gen.write(b"\n")
    trace = tracer.end().nothing_lost()
    check_equal("episodes", trace.end["episodes"], 100)


def test_musl_and_static(t):
    for name in ("gen-musl", "gen-musl-static", "gen-static", "gen-oldlib", "gen-stripped",
                 "gen-static-stripped", "gen-musl-static-stripped"):
        trace, log = traced_gen(t, ["--threads", "3", "--rounds", "60", *PACE], name=name)
        all_found(trace, log)


def test_pid_namespace(t):
    """The process has another number in its own namespace. sbt-trace uses and prints the outer number."""
    p = t.start(["unshare", "-p", "-f", workload("gen"), "--rounds", "60", "--wait-start", *PACE],
                stdin=subprocess.PIPE)
    wait_for("gen is ready", lambda: "gen: pid 1 ready" in p.out)
    pid = int(read_proc(p.pid, f"task/{p.pid}/children").split()[0])
    tracer = t.attach("-p", str(pid))
    p.write(b"\n")
    trace = tracer.end().nothing_lost()
    check_equal("teams", [(b["pid"], b["episodes"]) for b in trace.barriers()], [(pid, 60)])


def test_sbt_trace_itself(t):
    p = t.start(["sh", "-c", f"exec {SBT} -p $$"])
    check_equal("status", p.wait(10).rc, 1)
    check_in("stderr", "sbt-trace itself", p.err)
