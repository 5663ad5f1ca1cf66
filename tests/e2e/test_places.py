# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Where the extra work of a late thread is: functions and times, compared with the program's own clock."""

import json
import math
import os
import re
import shutil
import subprocess

from harness import SBT, Skip, check, check_between, check_equal, check_in, short_of_cpu, wait_for, workload, write_file

# program, and the end of the name of the function with the extra work
PROGRAMS = ["extra-O0", "extra-O1", "extra-O2", "extra-O3", "extra-no-fp", "extra-inlined", "extra-calls",
            "extra-memory", "extra-clang", "extra-inlined-clang", "extra-library", "extra-splitdebug", "extra_cxx-O0",
            "extra_cxx-O2", "extra_cxx-O3", "extra_rust", "extra_rust-O", "python"]
# More rounds where a round is short.
ROUNDS = {"extra-calls": 160, "extra_cxx-O2": 160, "extra_cxx-O3": 160, "extra_rust": 30, "extra_rust-O": 120, "python": 80}
# The same in Python: extra_work() is a Python function.
PYTHON = """
import sys, threading, time
late, n, rounds = (int(a) for a in sys.argv[1:4])
# On a fast machine, a round would be one turn of each thread with the GIL, and the last turn decide which is late.
sys.setswitchinterval(0.0002)
barrier, extra, whole = threading.Barrier(n), [0] * n, [0] * n
def common_work():
    s = 0
    for k in range(60000): s += k
    return s
def extra_work():
    s = 0.0
    for k in range(200000):
        s = s / 1.0001 + 0.3
    return s
def run(i):
    for _ in range(rounds):
        begin = time.thread_time_ns()
        common_work()
        middle = time.thread_time_ns()
        if i == late: extra_work()
        end = time.thread_time_ns()
        extra[i] += end - middle
        whole[i] += end - begin
        barrier.wait()
threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
[t.start() for t in threads]
[t.join() for t in threads]
if late >= 0: print(extra[late], whole[late])
"""
RUNS = 100 if os.environ.get("SBT_LONG") else 1


def objects_of(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def of_type(objects, kind):
    return [o for o in objects if o["type"] == kind]


def is_extra(place):
    """Return whether the function is extra_work(), whatever the language writes around its name."""
    return place["function"] is not None and place["function"].split("(")[0].endswith("extra_work")


def main_barrier(objects):
    """Return the barrier with the most episodes."""
    return max(of_type(objects, "barrier"), key=lambda b: b["episodes"])


def expected_share(last, extra_ns, all_ns):
    """Return the share of the extra work in the time of the last arrivers, by the program's own clock. Another thread
    that was last did the common work only."""
    return last * extra_ns / (last * extra_ns + all_ns - extra_ns)


def check_places(objects, late, extra_ns, all_ns):
    """Check the first place of the program's barrier. Return None: the right thread was hardly ever late; False: the
    function is wrong; else the share, the share by the program's own clock, and the number of samples."""
    barrier = main_barrier(objects)
    places = [p for p in of_type(objects, "place") if p["barrier"] == barrier["id"] and p["kind"] == "work"]
    last = sum(t["last"] for t in barrier["threads"] if t["index"] == late) / barrier["episodes"]
    # On a busy machine, another thread may be late because it got no CPU. Then there is less to compare.
    if last < 0.8:
        return None
    if not places or not is_extra(places[0]):
        return False
    top = places[0]
    check_equal("places of the function", sum(map(is_extra, places)), 1)
    check_between("line", top["line"], 1, 200)
    check(top["low_ns"] <= top["last_ns"] - top["reference_ns"] <= top["high_ns"], "the time is outside its interval")
    return top["last_ns"] / top["oncpu_last_ns"], expected_share(last, extra_ns, all_ns), top["samples"]


def one_run(t, command, late, options, rounds):
    """Run a program once, and return what check_places() returns."""
    path = t.path()
    done = t.sbt("--json", "-o", path, *options, "--", *command, str(late), "2", str(rounds), rc=0)
    return check_places(objects_of(path), late, *(int(n) for n in done.stdout.split()))


def check_once(t, command, name):
    """Check one run in which the right thread is late. Its samples are few: chance decides how far off it may be."""
    for _ in range(5):
        found = one_run(t, command, 1, (), ROUNDS.get(name, 40))
        if found is None:
            continue
        check(found, "the function is wrong")
        share, own, samples = found
        check(abs(share - own) <= 0.05 + 2.6 * math.sqrt(own * (1 - own) / samples), f"share {share}, own clock {own}")
        return
    check(False, "in no run was the right thread late")


def check_often(t, command, name, runs):
    """In 95 % of the runs the function is right and its share within 5 points. The runs are short, but with so many
    samples that chance decides nothing. Return a text with the figures."""
    rounds, options = ROUNDS.get(name, 40) // 2, ("--sample-rate", "2000")
    found = [one_run(t, command, run % 2, options, rounds) for run in range(runs)]
    found = [f for f in found if f is not None]
    right = [abs(f[0] - f[1]) for f in found if f]
    near = [d for d in right if d <= 0.05]
    figures = (f"{name}: function right in {len(right)} of {len(found)} runs, share within 5 points in {len(near)}, "
               f"largest difference {100 * max(right, default=1):.1f}; in {runs - len(found)} runs another was late")
    check(len(found) >= 0.7 * runs and len(right) >= 0.95 * len(found) and len(near) >= 0.95 * len(right), figures)
    return figures


def one(name):
    def test(t):
        if name == "python":
            source = t.path() + ".py"
            write_file(source, PYTHON)
            command = ["/usr/bin/python3", source]
        else:
            command = [workload(name)]
        if RUNS > 1:
            print(check_often(t, command, name, RUNS), flush=True)
        else:
            check_once(t, command, name)
    test.__name__ = "test_" + name.replace("-", "_")
    test.__doc__ = f"The place of the extra work of {name}."
    return test


for program in PROGRAMS:
    globals()["test_" + program.replace("-", "_")] = one(program)


def test_text_and_recording(t):
    """The sentence names the place, and the report of a recording is the same."""
    path, out = t.path(), t.path()
    t.sbt("record", "-o", path, "--", workload("extra-O2"), "1", "2", "40", rc=0)
    t.sbt("report", "--json", "-o", out, path, rc=0)
    places = [p for p in of_type(objects_of(out), "place") if p["kind"] == "work"]
    check(places and is_extra(places[0]), "the recording has no place")
    check_equal("frames", [f["function"] for f in places[0]["stack"]][:2], ["extra_work", "run"])
    text = " ".join(t.sbt("report", "--detail", path, rc=0).stdout.decode().split())
    check_in("the sentence", " ms more in extra_work() extra.c:", text)


def folded(path):
    """Return the lines of a file of folded stacks: frames, and numbers (1, or 2 of a difference)."""
    with open(path, encoding="utf-8") as f:
        for line in f:
            frames, *numbers = line.rstrip("\n").rsplit(" ", 2 if path.endswith("late") else 1)
            yield frames.split(";"), [int(n) for n in numbers]


def test_folded_stacks(t):
    """The sampled stacks add up to the time on a CPU, and the difference is in the extra work."""
    path, stacks, late, out = t.path(), t.path(), t.path() + ".late", t.path()
    t.sbt("record", "-o", path, "--", workload("extra-O2"), "1", "2", "40", rc=0)
    t.sbt("report", "--folded-stacks", stacks, "--folded-late", late, "--json", "-o", out, path, rc=0)
    barrier = main_barrier(objects_of(out))
    lines = [(f, n) for f, (n,) in folded(stacks) if f[1] == barrier["label"] and f[2] != "spinning in the barrier"]
    oncpu_ns = sum(th["oncpu_ns"] for th in barrier["threads"])
    check_between("time on a CPU", sum(n for _, n in lines), 0.98 * oncpu_ns, 1.02 * oncpu_ns)
    check(all("run" in f for f, _ in lines if f[-1] in ("extra_work", "common_work")), "a function has no caller")
    rows = [(f, n) for f, n in folded(late) if f[1] == barrier["label"]]
    more = sum(n[1] - n[0] for f, n in rows if f[-1] == "extra_work")
    check(more > 0.8 * sum(n[1] - n[0] for _, n in rows) > 0, f"the difference is elsewhere: {rows}")


def folded_python(t, text, *args):
    """Sample a Python program, and return its folded stacks."""
    source, path, stacks = t.path() + ".py", t.path(), t.path()
    write_file(source, text)
    t.sbt("record", "-q", "--sample-rate", "2000", "-o", path, "--", "/usr/bin/python3", source, *args, rc=0)
    t.sbt("report", "-q", "--folded-stacks", stacks, path, rc=0)
    return [(frames, n) for frames, (n,) in folded(stacks)]


def test_python_that_ends_early(t):
    """The names of Python's functions come with the samples: the process has ended when these are handled."""
    for _ in range(5):
        lines = folded_python(t, PYTHON, "1", "2", "8")
        whole = sum(n for _, n in lines)
        check(whole, "no samples")
        named = sum(n for f, n in lines if f[-1] in ("extra_work", "common_work"))
        check(named >= 0.8 * whole, f"{named} of {whole} ns have the function's name: {lines}")


# Each function is made, called once and freed, so that the next one may have its address.
IN_TURN = """
import sys, threading, time
barrier = threading.Barrier(2)
code, n = sys.argv[1], int(sys.argv[2])
def run(i):
    for k in range(20):
        if i:
            names = {"time": time}
            exec(compile(code % (k % n), "made.py", "exec"), names)
            names.pop("part")(0.03)
        barrier.wait()
threads = [threading.Thread(target=run, args=(i,)) for i in range(2)]
[t.start() for t in threads]
[t.join() for t in threads]
"""
# One function of each name; names that come back; methods that differ in their class only.
BODY = """(seconds):
    end = time.thread_time() + seconds
    x = 0
    while time.thread_time() < end:
        for i in range(500): x += i
"""
MADE = [("def part_%02d" + BODY + "part = [f for n, f in globals().items() if n.startswith('part_')][0]\n"
         "[globals().pop(n) for n in list(globals()) if n.startswith('part_')]\n", 20, "part_%02d"),
        ("class Part_%02d:\n  def work" + BODY.replace("\n", "\n  ") + "\npart = [c.work for n, c in globals().items()"
         " if n.startswith('Part_')][0]\n[globals().pop(n) for n in list(globals()) if n.startswith('Part_')]\n", 20,
         "Part_%02d.work")]
MADE += [(code, 3, name) for code, _, name in MADE]


def test_python_functions_in_turn(t):
    """A function that is gone does not get the time of one that was made at its address."""
    for code, n, name in MADE:
        parts = {}
        for frames, ns in folded_python(t, IN_TURN, code, str(n)):
            for part in [f for f in frames if f.lower().startswith("part_")]:
                parts[part] = parts.get(part, 0) + ns
        calls = {name % k: len(range(k, 20, n)) for k in range(n)}
        check_equal("functions", sorted(parts), sorted(calls))
        for part, ns in parts.items():
            check_between(f"{part}, called {calls[part]} times", ns / calls[part], 18e6, 60e6)


def function_name(symbol):
    """Return the function's name without parameters, without the compiler's suffixes and without namespaces. The C library
    has a memmove() for each kind of CPU."""
    name = symbol.split("(")[0].split("+")[0].split(".")[0].split("::")[-1]
    return "memmove" if name.startswith(("__memmove_", "__memcpy_")) else name


def self_shares(leaves):
    """@leaves: functions and weights. Return name -> share of the samples in the function, outside the barrier."""
    shares = {}
    for symbol, weight in leaves:
        name = function_name(symbol)
        if "barrier" not in name:
            shares[name] = shares.get(name, 0) + weight
    total = sum(shares.values())
    return {name: weight / total for name, weight in shares.items()}


def perf_shares(path, comm, extra, last):
    """Return the shares by perf's samples of two threads. The one with more time in functions of @extra has the weight
    @last, the other one 1 - @last."""
    script = subprocess.run(["perf", "script", "-i", path, "--no-inline", "-F", "comm,tid,ip,sym"], capture_output=True,
                            text=True, check=True).stdout
    threads = {}
    for sample in script.strip().split("\n\n"):
        head, *frames = sample.split("\n")
        name, tid = head.rsplit(None, 1)
        if frames and name.strip() == comm[:15]:
            threads.setdefault(tid, []).append(frames[0].split(None, 1)[1])
    check(threads, "perf has no samples of the program")
    order = sorted(threads.values(), key=lambda leaves: -sum(function_name(f) in extra for f in leaves))
    # The main thread only waits.
    return self_shares((f, weight) for leaves, weight in zip(order, (last, 1 - last)) for f in leaves)


def compare_with_perf(t, name, extra, times):
    """Run the program, @times as long as in other tests, under sbt-trace and perf. Return the largest difference of the
    shares of the functions in which last arrivers were; None: another thread was late too often."""
    samples, recording, late, out = t.path(), t.path(), t.path() + ".late", t.path()
    done = subprocess.run(["perf", "record", "-q", "-g", "-e", "cpu-clock:u", "-F", "997", "-o", samples, "--",
                           SBT, "record", "-o", recording, "--", workload(name), "1", "2",
                           str(times * ROUNDS.get(name, 40))], capture_output=True, text=True, check=False)
    check_equal("exit status", (done.returncode, done.stderr), (0, done.stderr))
    t.sbt("report", "--folded-late", late, "--json", "-o", out, recording, rc=0)
    barrier = main_barrier(objects_of(out))
    last = sum(th["last"] for th in barrier["threads"] if th["index"] == 1) / barrier["episodes"]
    if last < 0.8:
        return None
    ours = self_shares((f[-1], n[1]) for f, n in folded(late) if f[1] == barrier["label"])
    theirs = perf_shares(samples, name, extra, last)
    check(sum(theirs.get(f, 0) for f in extra) > 0.2, f"perf has no extra work: {theirs}")
    return max(abs(ours.get(f, 0) - theirs.get(f, 0)) for f in set(ours) | set(theirs))


def test_agrees_with_perf(t):
    """perf record -g of the same run agrees within 5 points about each function of the late thread."""
    if not shutil.which("perf"):
        raise Skip("perf is not installed")
    for name, extra in (("extra-O2", ["extra_work"]), ("extra_cxx-O2", ["extra_work"]),
                        ("extra-calls", ["extra_work", "memmove"])):
        if RUNS == 1:
            # Both are random samples: of a few hundred each, one run in twenty differs by more.
            found = (compare_with_perf(t, name, extra, 4) for _ in range(4))
            check(any(d is not None and d <= 0.05 for d in found), f"{name}: perf disagrees four times")
            continue
        found = [compare_with_perf(t, name, extra, 8) for _ in range(20)]
        found = sorted(d for d in found if d is not None)
        check(len(found) >= 10, "the right thread was hardly ever late")
        check(found[int(0.95 * (len(found) - 1))] <= 0.05, f"{name}: differences {found}")


def test_diff(t):
    """diff compares the time in each function: with twice as many rounds, it is twice as long."""
    a, b, out = t.path(), t.path(), t.path()
    for path, rounds in ((a, "40"), (b, "80")):
        t.sbt("record", "-o", path, "--", workload("extra-O2"), "1", "2", rounds, rc=0)
    t.sbt("diff", "--quantity", "functions", "--json", "-o", out, a, b, rc=0)
    rows = {r["function"]: r for r in of_type(objects_of(out), "difference")}
    check("extra_work" in rows and "common_work" in rows, f"functions: {list(rows)}")
    for name in ("extra_work", "common_work"):
        check_equal("quantity", rows[name]["quantity"], "function_ns")
        check_between("ratio", rows[name]["ratio"], 1.5, 2.7)


def test_nothing_found(t):
    """Without a barrier, the report shows what the threads did."""
    path = t.path()
    t.sbt("--json", "-o", path, "--", workload("not_mutex"), rc=0)
    found = objects_of(path)
    check_equal("barriers", of_type(found, "barrier"), [])
    activities = of_type(found, "activity")
    check(activities, "no activity is reported")
    for a in activities:
        parts = a["oncpu_ns"] + a["runq_ns"] + sum(a["blocked_ns"].values()) + (a["unattributed_ns"] or 0)
        check_between("parts", parts, 0.95 * a["elapsed_ns"] - 1e6, 1.05 * a["elapsed_ns"] + 1e6)
        check(sum(f["share"] for f in a["functions"]) <= 1.001, "shares above 1")
    text = t.path()
    t.sbt("-o", text, "--", workload("not_mutex"), rc=0)
    with open(text, encoding="utf-8") as f:
        lines = f.read().splitlines()
    check_between("lines", len(lines), 5, 25)
    check_in("the text", "WHAT THE THREADS DID, most time on a CPU first", lines)


def test_brief(t):
    """While sbt-trace sets probes, the program is stopped. That is no time of the program. If another program uses the CPUs,
    sbt-trace may lose its CPU when it resumes the program, which may end before sbt-trace runs again."""
    path = t.path()
    for k in range(8):
        if k == 2:
            t.gen("--threads", "4", "--forever")
        t.sbt("--json", "-o", path, "--", "/bin/true", rc=0)
        activities = of_type(objects_of(path), "activity")
        check(activities, "no activity")
        for a in activities:
            check_equal("time blocked for another reason", a["blocked_ns"]["other"], 0)


def test_attached(t):
    """The same for a process that runs already."""
    path = t.path()
    program = subprocess.Popen([workload("extra-O2"), "0", "2", "400"], stdout=subprocess.DEVNULL)
    try:
        wait_for("the threads", lambda: len(os.listdir(f"/proc/{program.pid}/task")) == 3)
        t.sbt("-p", str(program.pid), "-d", "2", "--json", "-o", path, rc=0)
    finally:
        program.kill()
        program.wait()
    places = [p for p in of_type(objects_of(path), "place") if p["kind"] == "work"]
    check(places and is_extra(places[0]), "no place was found")


BUSY = """
#include <pthread.h>
#include <unistd.h>
static volatile double x;
__attribute__((noinline)) void busy(void) { for (int i = 0; i < 1000000; i++) x += i * 0.5; }
static void *run(void *arg) { for (;;) busy(); return arg; }
int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); sleep(60); return 0; }
"""


def test_attached_without_barriers(t):
    """The functions of threads that were running before, and cross no barrier, are known, too, and in recordings."""
    path, source, binary, recording = t.path(), t.path() + ".c", t.path("busy"), t.path("recording")
    write_file(source, BUSY)
    subprocess.run(["gcc", "-O1", "-g", "-pthread", "-o", binary, source], check=True)
    program = subprocess.Popen([binary])
    try:
        wait_for("the thread", lambda: len(os.listdir(f"/proc/{program.pid}/task")) == 2)
        t.sbt("record", "-p", str(program.pid), "-d", "2", "-o", recording, rc=0)
    finally:
        program.kill()
        program.wait()
    t.sbt("report", "--json", "-o", path, recording, rc=0)
    activities = of_type(objects_of(path), "activity")
    worker = max(activities, key=lambda a: a["oncpu_ns"])
    check_equal("functions", [f["function"] for f in worker["functions"]], ["busy"])
    check(worker["samples"] >= 30, worker["samples"])


def named_in_balanced(t, name):
    """Run the program without a late thread. Return the functions that are named; None: by the program's own clock, one
    thread had more to do, for example because its CPU's cache was used by others."""
    path = t.path()
    done = t.sbt("--json", "-o", path, "--", workload(name), "-1", "2", str(3 * ROUNDS.get(name, 40) // 2), rc=0)
    own = [int(ns) for ns in done.stdout.split()]
    if max(own) > 1.05 * min(own):
        return None
    return [p["function"] for p in of_type(objects_of(path), "place") if p["kind"] == "work"]


def test_balanced(t):
    """Where all threads do the same, no function is named: computation, memory and C++."""
    checked = 0
    for name in ["extra-O2", "extra-memory", "extra_cxx-O2"]:
        found, tries = [], 0
        while len(found) < (20 if RUNS > 1 else 1) and tries < (40 if RUNS > 1 else 4):
            named, tries = named_in_balanced(t, name), tries + 1
            found += [named] if named is not None else []
        wrong = [f for f in found if f]
        check(len(wrong) <= 0.05 * len(found),
              f"{name}: in {len(wrong)} of {len(found)} runs a function was named: {wrong}")
        checked += len(found)
    if not checked:
        raise Skip("the machine is busy: by the programs' own clock, none was balanced")


def test_without_samples(t):
    """--no-samples names no place. --sample-rate takes more samples."""
    path = t.path()
    t.sbt("--no-samples", "--json", "-o", path, "--", workload("extra-O2"), "1", "2", "20", rc=0)
    check_equal("places", of_type(objects_of(path), "place"), [])
    t.sbt("--sample-rate", "2000", "--json", "-o", path, "--", workload("extra-O2"), "1", "2", "20", rc=0)
    places = [p for p in of_type(objects_of(path), "place") if p["kind"] == "work"]
    check(places and is_extra(places[0]), "no place was found")
    # 20 rounds of extra work take 0.3 s or more.
    check(places[0]["samples"] >= 300, f"only {places[0]['samples']} samples")


# Thread 1 touches fresh memory in each round; ROUNDS of them.
FAULTS_C = """
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
static pthread_barrier_t bar;
static long rounds;
__attribute__((noinline)) static void fresh_memory(void)
{
	size_t n = 24 << 20;
	char *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(p, n, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i += 4096)
		((volatile char *)p)[i] = 1; /* HERE */
	munmap(p, n);
}
static void *run(void *p)
{
	for (long i = 0; i < rounds; i++) {
		if (p)
			fresh_memory();
		pthread_barrier_wait(&bar);
	}
	return 0;
}
int main(int argc, char **argv)
{
	pthread_t t;
	rounds = atol(argv[1]);
	pthread_barrier_init(&bar, 0, 2);
	pthread_create(&t, 0, run, &t);
	run(0);
	pthread_join(t, 0);
}
"""
# A block of more than 32 MiB is mapped anew by each malloc().
FAULTS_CXX = FAULTS_C.replace("#include <stdlib.h>", "#include <cstdlib>\n#include <vector>").replace("""\
	size_t n = 24 << 20;
	char *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(p, n, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i += 4096)
		((volatile char *)p)[i] = 1; /* HERE */
	munmap(p, n);
""", """	std::vector<char> v(40 << 20); /* HERE */
	static volatile char *last = &v.back();
	last = &v.back();
""")
MAPPED = "mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)"
FAULTS_MALLOC = FAULTS_C.replace(MAPPED, "malloc(n)").replace("munmap(p, n)", "free(p)").replace(
    "24 << 20", "40 << 20").replace("	madvise(p, n, MADV_NOHUGEPAGE);\n", "")


def fault_program(t, compiler, source):
    path, binary = t.path() + (".cc" if compiler == "g++" else ".c"), t.path("faults")
    write_file(path, source)
    subprocess.run([compiler, "-O2", "-g", "-pthread", "-o", binary, path], check=True)
    line = source[:source.index("/* HERE")].count("\n") + 1
    return binary, f"fresh_memory() {os.path.basename(path)}:", line


def check_fault_place(where, measure):
    """Page faults that are handled on a CPU block no thread: samples show where they are."""
    place, line = where
    causes, busy = [], False
    for _ in range(4):
        cause = main_barrier(measure())["cause"]
        # On a busy machine, it may be chance which thread is late. Then there is no cause.
        causes.append(cause and cause["dominant"])
        busy |= not cause or short_of_cpu(cause)
        if causes[-1] != "page faults":
            continue
        found = re.search(r" At (.*:)(\d+)\.$", cause["text"])
        check(found, f"no place: {cause['text']}")
        check_equal("function", found[1], place)
        check_between("line", int(found[2]), line - 2, line + 2)
        return
    if busy and set(causes) <= {"no cpu", None}:
        raise Skip("the machine is busy: the late thread got no CPU")
    check(False, f"page faults were never the cause: {causes}")


def test_page_faults(t):
    for compiler, source in (("gcc", FAULTS_C), ("g++", FAULTS_CXX)):
        binary, *where = fault_program(t, compiler, source)

        def measure(binary=binary):
            path = t.path()
            t.sbt("--json", "-o", path, "--", binary, "40", rc=0)
            return objects_of(path)

        check_fault_place(where, measure)


def test_page_faults_attached(t):
    binary, *where = fault_program(t, "gcc", FAULTS_MALLOC)
    program = t.start([binary, "1000000"])
    wait_for("the threads", lambda: len(os.listdir(f"/proc/{program.pid}/task")) == 2)

    def measure():
        path = t.path()
        t.sbt("-p", str(program.pid), "-d", "2", "--json", "-o", path, rc=0)
        return objects_of(path)

    check_fault_place(where, measure)
