# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""The hard cases on arm64: programs that cancel, jump out of waits, fork, exec and load libraries must not notice the tracer.
The cause of a lateness must be found with that machine's registers and stacks, and so must the positions of threads that are
never stopped."""

import json
import re
import statistics

import test_cause
import test_look
from harness import check, check_between, check_equal, check_in

LIBRARIES = ("libgcc_s.so.1",)  # glibc loads it when a thread is cancelled
ROUNDS = 60  # rounds of the workload `late`

# Programs that check themselves: their arguments, the exit status, and the number of complete episodes.
ALIKE = {
    "longjmp_out": ("", 0, 20),
    "cancel_async": ("", 0, None),
    "exec_self": ("", 0, 600),
    "fork_children": ("", 0, None),
    "spawn_static": ("/bin/gen-static", 0, None),
    "churn": ("--teams 60", 0, None),
    "exit_in_wait": ("", 7, 10),
    "inline_site": ("", 0, 100),
    "hostile_names": ("", 0, 100),
    "early": ("", 0, 100),
    "shared_fork": ("", 0, 200),
    "dlopen_lib": ("", 0, 300),
}
# Its children take seconds there. So its first two joins, which only later rounds show to be an episode, are given up and counted.
JOINS_RARELY = "spawn_static"
LATE = ["cpu", "lock", "lock-sleep", "pipe", "sleep"]
LOOKS = 4 # in the first look, threads may still be on their way
LOOK = f"""
mkfifo hold; sleep 100 >hold & looked <hold >looked.out 2>&1 & pid=$!
for i in $(seq 100); do [ $(grep -c "^#" looked.out) = 16 ] && break; sleep 0.1; done
for i in $(seq {LOOKS}); do
	sleep 0.5; timeout 60 sbt-trace hang --json -p $pid >look-$i.json 2>look.err || cat look.err >&2
done
kill $pid
"""
ALSO = ["looked", "gen-static", "libbar.so", "libbaz.so"]  # files that these programs use


def programs(_):
    return [*ALIKE, *ALSO, "late"]


def script(_):
    lines = []
    for name, (arguments, _, _) in ALIKE.items():
        sbt = f"timeout 40 sbt-trace -W --json -o {name}.json --"
        lines += [f"timeout 30 {name} {arguments} >{name}.bare 2>{name}.err; echo $? >{name}.rc",
                  f"{sbt} {name} {arguments} >{name}.traced 2>{name}.err; echo $? >>{name}.rc"]
    for mode in LATE:
        lines.append(f"timeout 60 sbt-trace -W --json -o late-{mode}.json -- late {mode} "
                     f"--rounds {ROUNDS} --log late-{mode}.log >late-{mode}.out 2>&1; "
                     f"echo $? >late-{mode}.rc")
    return LOOK + "\n".join(lines) + "\n"


def alike(name):
    """The output and the status are the same as without a tracer, and every episode that the program knows of is found."""
    _, status, known = ALIKE[name]

    def test(left):
        check_equal(f"status bare and traced ({left.text(name + '.err')[-300:]})",
                    left.text(f"{name}.rc").split(), [str(status)] * 2)
        check_equal("output", left.text(f"{name}.traced"), left.text(f"{name}.bare"))
        said = re.findall(r"\bepisodes=(\d+)", left.text(f"{name}.bare"))
        # Repeated rounds of created and joined threads are episodes, too, and the programs do not count them.
        trace = left.counted(name).nothing_lost(("barrier_given_up",)) if name == JOINS_RARELY else left.trace(name)
        episodes = sum(b["episodes"] for b in trace.barriers() if b["family"] != "forkjoin")
        if known is not None:
            check_equal("episodes", episodes, known)
        elif len(said) == 1:
            check_equal("episodes", episodes, int(said[0]))
        check(episodes, "no episode was seen")
    return test


def late(mode, culprit=None, stack=None):
    """Check how long a thread was delayed, and by what. Emulated CPUs share this machine's CPUs, and stand still from time to
    time at any point. So not every episode is late for the known reason."""
    def test(left):
        name, part = f"late-{mode}", test_cause.PART_OF[mode]
        check_equal(f"status ({left.text(name + '.out')})", left.text(f"{name}.rc").strip(), "0")
        log = test_cause.LateLog(left.path(f"{name}.log"))
        episodes = sorted(left.trace(name).all("episode"), key=lambda e: e["t_ns"])
        check_equal("episodes", len(episodes), ROUNDS)
        test_cause.check_parts(episodes)
        causes = [(e["cause"], dict(log.injected[n])[mode]) for n, e in enumerate(episodes)
                  if e["cause"] and log.last(n) == log.late[n]]
        check(len(causes) >= ROUNDS / 2, f"the late one was last in {len(causes)} episodes only")
        check_between(f"median of {part} over what was injected",
                      statistics.median(c["parts"].get(part, 0) / ns for c, ns in causes), 0.8, 1.2)
        causes = [c for c, _ in causes if c["dominant"] == part]
        check(len(causes) >= ROUNDS / 3, f"{part} is dominant in {len(causes)} episodes only")
        if culprit:
            pattern = culprit(log)
            named = [c for c in causes if re.search(pattern, test_cause.said(c))]
            test_cause.most(f"culprit {pattern!r} named", len(named), len(causes), causes)
        if stack:
            known = [c for c in causes if stack in test_cause.frames(c)]
            test_cause.most(f"{stack} on the stack", len(known), len(causes), causes)
    return test


def competitor(_):
    return r"\bcompetitor\b"


def look(left):
    """Check where each thread stays, by that machine's registers, and where a running thread is, by a sample."""
    tid = dict(re.findall(r"^# (\w+) (\d+)$", left.text("looked.out"), re.M))
    looks = [{r["tid"]: r for r in map(json.loads, left.text(f"look-{i}.json").splitlines())
              if r["type"] == "thread"} for i in range(1, LOOKS + 1)]
    for place, (function, _) in test_look.PLACES.items():
        lines = {None} if place == "deep" else set(test_look.lines_of(place))
        found = [thread for thread in (one[int(tid[place])] for one in looks)
                 if {(f["function"], f["line"] if place != "deep" else None)
                     for f in thread["stack"]} & {(function, line) for line in lines}]
        check(found, f"{place}: {[one[int(tid[place])] for one in looks]}")
        check_equal(f"registers at {place}", {f["registers"] for f in found}, {"iterator"})
        check_equal(f"{place} to its end", {f["truncated"] for f in found}, {place == "deep"})
    # An emulated CPU may stand still for longer than sbt-trace waits for a sample.
    for thread in (one[int(tid["spin"])] for one in looks):
        if thread["sampled"]:
            check_in("where it runs", "in_spin", [f["function"] for f in thread["stack"]])


TESTS = {name: alike(name) for name in ALIKE}
TESTS.update({
    "look": look,
    "late.cpu": late("cpu", culprit=competitor),
    "late.lock": late("lock", culprit=test_cause.holder, stack="wait_for_lock"),
    "late.lock-sleep": late("lock-sleep", culprit=test_cause.holder, stack="wait_for_lock"),
    "late.pipe": late("pipe"),
    "late.sleep": late("sleep", stack="take_a_nap"),
})


def tests(_):
    return TESTS
