# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Every family of barriers in another kernel: all episodes of the generators of known answers are found, with the right last
arrivers, by each attach method of the kernel. So are causes and hangs. A probe that is attached but counts nothing finds no
episodes, so its test fails."""

import json
import os
import re
import statistics

import genlog
import harness
import test_cause
import test_hang
import test_ladder
import test_omp
from harness import check, check_between, check_equal, check_in

LIBRARIES = ("libgcc_s.so.1",)
WORK = "--work random:1us:3000us:7 --work-by sleep"
MARGIN_NS = 200_000  # an emulated CPU stands still from time to time; above this difference the last arriver is certain
SHORT = "--work random:1us:1500us:3 --work-by sleep"

# name -> command, family, episodes at the end of parallel regions (which the log lacks). COMMAND runs these:
COMMAND = {
    "pthread": (f"gen --threads 4 --rounds 100 {WORK}", "pthread", 0),
    "busy": ("gen --threads 2 --rounds 200 --work stair:20us:60us", "pthread", 0),
    "many": (f"gen --threads 3 --rounds 60 --barriers 3 --sites 4 --recreate 7 {SHORT}", "pthread", 0),
}
# These must be COMMAND itself, which is stopped until it is examined: its mappings show which processes share the barriers of
# its children.
ALONE = {
    "processes": ("gen --threads 2 --rounds 60 --processes 3 --work rotate:10us:1ms --work-by sleep",
                  "pthread", 0),
}
# The tracer attaches to these before they begin, to several at a time. Under emulation, the first probes in a child's program
# or its libraries take longer than these programs run.
ATTACHED = {
    "static": (f"gen-static --threads 3 --rounds 60 {SHORT}", "pthread", 0),
    "stripped": (f"gen-stripped --threads 3 --rounds 60 {SHORT}", "pthread", 0),
    "musl": (f"gen-musl-static --threads 3 --rounds 60 {SHORT}", "pthread", 0),
    "cond": (f"gen_cond --threads 4 --rounds 100 --kind generation {SHORT}", "cond", 0),
    "gomp": (f"gen_gomp --threads 3 --rounds 60 --kind barrier {SHORT}", "gomp", 1),
    "region": (f"gen_gomp --threads 3 --rounds 60 --kind region {SHORT}", "gomp", 0),
    "libomp": (f"gen_libomp --threads 3 --rounds 60 --kind barrier {SHORT}", "libomp", 1),
    "user": (f"gen_user --threads 3 --rounds 60 {SHORT}", "user", 0),
    "boost": (f"gen_boost --threads 3 --rounds 60 {SHORT}", "std", 0),
    "std": (f"gen_std --threads 3 --rounds 60 --kind barrier {SHORT}", "std", 0),
    "rust": (f"gen_rust --threads 3 --rounds 60 {SHORT}", "std", 0),
    "forkjoin": (f"gen_forkjoin --threads 3 --rounds 30 --kind order {WORK}", "forkjoin", 0),
}
# The same for programs that write no log.
TAILS = {"tail.gomp": ("omp_tail", "gomp", 0), "tail.libomp": ("omp_tail-libomp", "libomp", 0)}
UNLOGGED = {**TAILS, "gobar": ("gobar", "pthread", 0)}
# If C++ programs are traced, libraries that other programs share get no return probes, so C++ programs have groups of their
# own. Otherwise the groups are as large as possible: before Linux 5.15 probes can only be distinguished by the code at their
# address.
GROUPS = {"attached": ("static", "stripped", "musl", "cond", "rust", "forkjoin"),
          "omp": ("gomp", "region", "libomp", *TAILS), "cxx": ("user", "std", "boost", "gobar")}
# Without the probes that causes need, a trace begins in half the time.
OPTIONS = {"omp": "--no-causes ", "cxx": "-b my_barrier --no-causes "}
# With --discover, and by every attach method.
LADDER = {
    "futex": (f"gen_futex --threads 4 --rounds 60 --kind wait {SHORT}", "futex", 0),
    "pthread": (f"gen --threads 4 --rounds 60 {SHORT}", "pthread", 0),
    "gomp": (f"gen_gomp --threads 3 --rounds 40 --kind barrier {SHORT}", "gomp", 1),
    "user": (f"gen_user --threads 3 --rounds 40 {SHORT}", "user", 0),
}
SYSTEM = {"pthread": LADDER["pthread"]}
# With departures that are inferred, and no other probes at returns.
INFERRED = {"pthread": LADDER["pthread"], "eight": (f"gen --threads 8 --rounds 40 {SHORT}", "pthread", 0)}
# The same in teams of OpenMP, from the program's start.
TEAM = f"gen_gomp --threads 3 --rounds 60 --kind barrier {SHORT}"
ITERATIONS = 12  # iterations of sbtloop
LATE = {"lock-sleep": 30, "sleep": 30}  # rounds
WANDERING = ("wander", "stay")
# Families with a barrier that identifies the last arriver, by its serial thread or its leader.
SAY_LAST = ("pthread", "busy", "many", "processes", "static", "stripped", "cond", "user", "rust", "futex", "uneven", "sem",
            "boost")
# In these families only waits can be seen, not arrivals. If a thread sees the word change before its system call, it leaves no
# trace, and its episode is incomplete. A thread that arrives at the moment of the release may be assigned to another episode.
# So may a thread that was preempted between its arrival and its wait until others had left. This happens more often if CPUs
# alternate.
WAIT_ALONE = ("futex", "std")
# A creator that does more than join between its joins may use the results one by one. Such a round is left out. On emulated
# CPUs, which stand still for milliseconds, some rounds look like that.
STAND_STILL = ("forkjoin",)
OPTIONAL = ("musl", "libomp", "rust", "tail.libomp", "boost", "gobar")
# These need headers and a compiler on this machine, even to run on another one.
HERE_TOO = ("boost", "gobar")
# All kinds but the one that never sleeps, which would occupy one of two CPUs.
HUNG = {"after": [kind for kind in test_hang.KINDS if kind != "loop"],
        # Examining each kind takes a second or more, also while it is traced.
        "live": ["abba", "early", "pipe"]}


def program_of(command):
    return command.split()[0]


def there(machine, rows):
    """Return the rows with existing programs. Some need a compiler that may not be installed here. For another machine,
    everything else is downloaded."""
    return {name: row for name, row in rows.items() if name not in OPTIONAL or
            (machine.arch != "amd64" and name not in HERE_TOO) or
            os.path.exists(os.path.join(harness.WORKLOADS, program_of(row[0])))}


def groups(machine):
    """Return trace -> its programs."""
    rows = there(machine, ATTACHED | UNLOGGED)
    found = {group: {name: rows[name] for name in names if name in rows} for group, names in GROUPS.items()}
    return {group: some for group, some in found.items() if some}


def programs(machine):
    names = {program_of(row[0]) for rows in (COMMAND, ALONE, ATTACHED, UNLOGGED, LADDER)
             for row in there(machine, rows).values()}
    return sorted(names | {"sbtloop", "late", "hung", "wander", "filtered"})


def stamp(name):
    """Print what begins, for readers of the output of a machine that does not end."""
    return f"echo {name} $(cat /proc/uptime) | tee -a times >/dev/console\n"


# Wait for a child process, and return its status. A process that does not end is shown, with all others, and killed.
ENDS = r"""alive() { grep -q . /proc/$1/cmdline 2>/dev/null; }
show() {
	for p in /proc/[0-9]*; do
		alive ${p#/proc/} || continue
		tr '\0' ' ' <$p/cmdline | cut -c 1-100; echo
		for t in $p/task/*; do echo "$t $(cat $t/comm) $(cat $t/wchan) $(cat $t/syscall)"; done
	done
}
ends() {
	k=0
	while alive $1 && [ $k -lt 600 ]; do sleep 0.2; k=$((k+1)); done
	alive $1 && { echo "process $1 does not end"; show; kill -KILL $1; } >/dev/console 2>&1
	wait $1
}
"""


def traced(name, options, command):
    return (stamp(name) + f"timeout 200 sbt-trace --json -o {name}.json {options} -- {command} "
            f">{name}.out 2>{name}.err; echo $? >{name}.rc\n")


def attached(run, rows, options, look=None):
    """Return a script that attaches to all programs of @rows, which wait until the tracer is ready. $pids: their process
    numbers. @look: commands to run when the probes are attached; the trace is then recorded first, because with -W departures are
    seen."""
    lines = [stamp(run), "pids=\n"]
    for name, (command, _, _) in rows.items():
        log = "" if name in UNLOGGED else f"--log {run}-{name}.log"
        lines.append(f"mkfifo {run}-{name}.go; ( exec 3<>{run}-{name}.go; exec {command} --wait-start {log} <&3 "
                     f">{run}-{name}.out 2>{run}-{name}.err ) & echo $! >{run}-{name}.pid; pids=$pids${{pids:+,}}$!\n")
    for name in rows:
        lines.append(f"n=0; until grep -q ready {run}-{name}.out || [ $n = 200 ]; do sleep 0.2; n=$((n+1)); done\n")
    # A shell starts background jobs with SIGINT ignored.
    command, begun = ("--json -W -o", f"{run}.json") if look is None else ("record -v -o", f"{run}.data")
    lines.append(f"""sbt-trace {command} {begun} {options} >{run}.out 2>{run}.err & sbt=$!
n=0; until [ -s {begun} -o $n = 900 ] || ! kill -0 $sbt; do sleep 0.2; n=$((n+1)); done
""")
    lines.append(look or "")
    for name in rows:
        # Without the program, nothing reads, and a shell that writes waits for ever.
        lines.append(f"timeout 20 sh -c 'echo >{run}-{name}.go'; ends $(cat {run}-{name}.pid); echo $? >{run}-{name}.rc; "
                     f"rm {run}-{name}.go\n")
    lines.append(f"kill -TERM $sbt 2>/dev/null; ends $sbt; echo $? >{run}.rc\n" if options == "-a" else
                 f"ends $sbt; echo $? >{run}.rc\n")
    if look is not None:
        lines.append(f"sbt-trace report --json -W -o {run}.json {begun} 2>>{run}.err; rm {begun}\n")
    return "".join(lines)


# Write the bytes of the C library's code in which the memory of a program and the file differ: position, byte in memory, byte in
# the file. These are the breakpoints.
CHANGED = r"""set -- $(grep 'r-xp.*libc.so.6' /proc/$(cat inferred-pthread.pid)/maps)
start=$((0x${1%-*})); pages=$(((0x${1#*-} - start) / 4096))
dd if=/proc/$(cat inferred-pthread.pid)/mem bs=4096 skip=$((start / 4096)) count=$pages of=memory 2>/dev/null
dd if=$6 bs=4096 skip=$((0x$3 / 4096)) count=$pages of=file 2>/dev/null
echo $((0x$3)) >inferred.begin; cmp -l memory file >inferred.changed; rm memory file
"""

IN_TEAM = f"""{stamp("team")}timeout 200 sbt-trace record --no-discover -o team.data -- {TEAM} --log team.log >team.out 2>team.err
echo $? >team.rc
sbt-trace report --json -W -o team.json team.data 2>>team.err; rm team.data
"""

HANGS = f"""{stamp("after")}cat >hung.sh <<'EOF'
for kind in $kinds; do hung --kind $kind >$1-$kind.log 2>&1 & echo $! >$1-$kind.pid; done
wait
EOF
stop() {{ kill -KILL $(cat $1-*.pid); }}
export kinds="{" ".join(HUNG["after"])}"
sh hung.sh after & group=$!
n=0; until [ $(cat after-*.log | grep -c '^# hung') = {len(HUNG["after"])} -o $n = 200 ]; do sleep 0.2; n=$((n+1)); done
pids=$(cat after-*.pid | tr '\\n' ,)
for i in 1 2; do timeout 120 sbt-trace hang --json -p ${{pids%,}} >>after.json 2>>after.err; done
stop after; ends $group
kinds="{" ".join(HUNG["live"])}"
{stamp("live")}timeout 200 sbt-trace --json --hang 1 -o live.json -- sh -c "$(cat hung.sh)" sh live >live.out 2>live.err & sbt=$!
reported() {{ for kind in $kinds; do
	[ $(grep '"type":"hang"' live.json | grep -c "\\"pid\\":$(cat live-$kind.pid),") -ge 2 ] || return 1
done 2>/dev/null; }}
n=0; until reported || [ $n = 300 ]; do sleep 0.5; n=$((n+1)); done
stop live; ends $sbt; echo $? >live.rc
{stamp("end")}"""


def command_script(machine):
    """COMMAND's words name all programs that it starts, so that they are examined first. Under emulation, some run for less
    time than that takes."""
    lines = [f"{command} --log command-{name}.log >command-{name}.out 2>command-{name}.err; echo $? >command-{name}.rc\n"
             for name, (command, _, _) in COMMAND.items()]
    for mode, rounds in LATE.items():
        lines.append(f"late {mode} --rounds {rounds} --log late-{mode}.log >late-{mode}.out 2>late-{mode}.err; "
                     f"echo $? >late-{mode}.rc\n")
    if machine.nodes > 1:
        lines += [f"wander {mode} 60 >{mode}.out 2>&1 & echo $! >{mode}.pid; wait $!; echo $? >{mode}.rc\n"
                  for mode in WANDERING]
    # COMMAND itself becomes this program, and is stopped until its probes are attached.
    return "".join(lines) + f"exec sbtloop --iterations {ITERATIONS} >usdt.out 2>usdt.err\n"


# With sums that the kernel keeps, if it can.
SUMS = """
timeout 60 sbt-trace --aggregate --json -o sums.json -- gen --threads 2 --rounds 5 >sums.out 2>sums.err
echo $? >sums.rc
"""


# A filter of system calls that does not know the one of return probes.
FILTERED = "".join(f"""{stamp(how)}timeout 60 sbt-trace --json -o filtered-{how}.json --departures {how} -- filtered \
	>filtered-{how}.out 2>filtered-{how}.err; echo $? >filtered-{how}.rc
""" for how in ("seen", "inferred"))


def is_filtered(machine):
    """From Linux 6.11 to 6.13, a return probe makes a program call `uretprobe`, which filters of system calls may refuse."""
    return machine.name == "6.12"


def script(machine):
    lines = ["export OMP_WAIT_POLICY=passive\n", ENDS, f"cat >all.sh <<'EOF'\n{command_script(machine)}EOF\n",
             traced("command", "-W -e task-clock,cycles,instructions", 'sh -c "$(cat all.sh)"'),
             *(traced(name, "-W", f"{row[0]} --log {name}-{name}.log") + f"cp {name}.rc {name}-{name}.rc\n"
               for name, row in ALONE.items()),
             *(attached(group, rows, OPTIONS.get(group, "") + "-p $pids")
               for group, rows in groups(machine).items())]
    for rung in machine.rungs:
        causes = "" if rung == machine.rungs[0] else "--no-causes "
        lines.append(attached(rung, there(machine, LADDER), f"--discover -b my_barrier {causes}--attach {rung} -p $pids"))
    lines.append(attached("inferred", INFERRED, "--no-discover -p $pids", CHANGED))
    lines.append(IN_TEAM)
    if not machine.counting:
        lines.append(attached("system", SYSTEM, "-a"))
    return "".join(lines) + SUMS + (FILTERED if is_filtered(machine) else "") + HANGS


# --- what was left behind ---------------------------------------------------------------------------

def check_order(found, by_serial):
    """Check the last arriver, and that no thread arrived after a departure. A thread preempted between reading its clock and
    entering the barrier arrives later than its log says. On emulated CPUs, which alternate, this happens in one of ten
    episodes, and on a busy host in one of four. It is no excuse if the barrier itself identifies the last arriver (@by_serial)."""
    check_equal("arrivals after the first departure", found["impossible"], 0)
    check(found["last_checked"] > 5,
          f"hardly an episode has a last thread beyond doubt: {found['last_checked']}")
    check_between("last thread wrong", found["last_wrong"], 0,
                  1 + found["last_checked"] // (25 if by_serial else 3))


def against_log(trace, log, joins=0, begun=0, by_serial=False):
    """Check the result of genlog.compare() if every episode was found. @begun: 1 if the first episode may have been partly over
    when the tracer attached."""
    check_equal("what the log says of itself", log.check(), [])
    found = trace.compare(log, margin_ns=MARGIN_NS, serial_last=by_serial)
    check_between("missing", found["missing"], 0, begun)
    check_between("incomplete", found["incomplete"], 0, 2 * begun)
    check_between("beside those of the log", found["extra"], joins - begun if joins else 0, joins)
    check_between("matched", found["matched"], len(log.episodes()) - begun, len(log.episodes()))
    check_order(found, by_serial)
    return found


# Programs that COMMAND ran, here and in the suite commands.
COMMANDED = ("command", "all")


def processes_of(log):
    return {c.pid for c in log.crossings}


def commanded(left, run="command"):
    """COMMAND starts children. The first moments of a program that was never traced before may be missed, and are counted. So
    are waits of a program that ended before its waits could be probed."""
    trace = left.counted(run)
    check_equal("lost", {cause for cause, n in trace.end["lost"].items() if n} - {"not_examined", "wait_unprobed"}, set())
    return trace


def too_early(trace):
    """Return the number of crossings of children before it was known how to trace them. Ranks are not stopped."""
    return trace.end["lost"]["not_examined"]


def leave_creator_out(trace, log):
    """A creator that only joins is no member of the team. On emulated CPUs it may seem to work as well."""
    pids = processes_of(log)
    members = {b["participants"] for b in trace.barriers() if b["pid"] in pids and b["family"] == "forkjoin"}
    check_equal("numbers of members", len(members), 1)
    if members != {log.options["count"]}:
        log.leave_out(max(c.thread for c in log.crossings))


def check_program(left, run, name, family, joins):
    """Check one of the programs of a trace."""
    left.status(f"{run}-{name}")
    trace, log = commanded(left, run) if run in COMMANDED else left.trace(run), genlog.Log(left.path(f"{run}-{name}.log"))
    if name in STAND_STILL:
        check_equal("what the log with its creator says of itself", log.check(), [])
        leave_creator_out(trace, log)
    if name in WAIT_ALONE:
        check_equal("what the log says of itself", log.check(), [])
        found = trace.compare(log, margin_ns=MARGIN_NS, serial_last=name in SAY_LAST)
        check_between("extra", found["extra"], 0, len(log.episodes()) // 20 if name == "futex" else 0)
        missing = len(log.episodes()) - found["matched"]
        check_between("missing", missing, 0, len(log.episodes()) // 7)
        check_between("incomplete", found["incomplete"], 0, 2 * missing)
        check_order(found, name in SAY_LAST)
    else:
        begun = min(too_early(trace), 2 * len(log.episodes()) // 3) if name == "mpi" else \
            len(log.episodes()) // 7 if name in STAND_STILL else int(family in ("gomp", "libomp"))
        try:
            found = against_log(trace, log, joins, begun, name in SAY_LAST)
        except harness.Failure as failure:
            reported = [r["text"] for r in trace.all("remark")]
            raise harness.Failure(f"{failure}; end: {trace.end}; remarks: {reported}") from failure
    pids = {c.pid for c in log.crossings}
    families = {b["family"] for b in trace.barriers() if b["pid"] in pids}
    check_equal("families", families - {"forkjoin"} or families, {family})
    left.machine.count(name, found)


def check_tail(left, run, name):
    """The barrier is reached by a jump, not a call. A region must run once before its function is known."""
    left.status(f"{run}-{name}")
    pid = int(left.text(f"{run}-{name}.pid"))
    rows = [row for row in left.trace(run).barriers() if row["pid"] == pid]
    test_omp.check_tail(rows, missed=1)
    check_equal("families", {row["family"] for row in rows}, {TAILS[name][1]})


def check_go(left, run, name):
    """Go moves its stacks: no thread may get the return address of another."""
    left.status(f"{run}-{name}")
    check_equal("its output", left.text(f"{run}-{name}.out"), "ready\ngobar: rounds=300 threads=2 ok\n")
    process = test_ladder.check_unwound(left.trace(run), name)
    test_ladder.check_go(left.text(f"{run}.err"), process)
    left.machine.found[name] = (process["episodes"], 300)


def one(run, name, row):
    def test(left):
        if name == "gobar":
            check_go(left, run, name)
        elif name in TAILS:
            check_tail(left, run, name)
        else:
            check_program(left, run, name, row[1], row[2])
    return test


def whole(run, rows, method=None):
    """Check all programs of a trace, for one attach method."""
    def test(left):
        left.status(run)
        check_equal("method", {p["method"] for p in left.trace(run).session["probes"]}, {method or left.machine.rungs[0]})
        for name, (_, family, joins) in rows.items():
            try:
                check_program(left, run, name, family, joins)
            except harness.Failure as e:
                raise harness.Failure(f"{name}: {e}") from None
    return test


RETURNS = {"amd64": ((0xc3,), (0xc2,)), "arm64": ((0xc0, 0x03, 0x5f, 0xd6),)}


def filtered(left):
    """The program survives, and its answers are right."""
    for how in ("seen", "inferred"):
        left.status(f"filtered-{how}")
        check_equal(f"its output, {how}", left.text(f"filtered-{how}.out"), "filtered: rounds=100 ok\n")
        check_equal(f"episodes, {how}", left.trace(f"filtered-{how}").end["episodes"], 100)


def no_return_probes(left):
    """The probe at the arrival is in the program's memory, and none is on a return instruction. No return probe exists without
    a session, which these kernels do not have."""
    trace, begin = left.trace("inferred"), int(left.text("inferred.begin"))
    check_equal("methods", {d["family"]: d["method"] for d in trace.session["departures"]}, {"pthread": "inferred"})
    check_equal("of each episode", {e["departures"] for e in trace.all("episode")}, {"inferred"})
    # Some are unknown, because emulated CPUs stand still now and then. The episodes and last arrivers of this trace are checked
    # in the test `inferred`.
    check(trace.end["departures_unknown"] < trace.end["crossings"] / 2, "most departures are unknown")
    size = 4 if left.machine.arch == "arm64" else 1
    there = {}
    for line in left.text("inferred.changed").splitlines():
        position, _, byte = line.split()
        at = begin + int(position) - 1
        there.setdefault(at - at % size, []).append(int(byte, 8))
    (entry,) = [p["offset"] for p in trace.session["probes"] if p["symbol"] == "pthread_barrier_wait"]
    check(entry in there, f"no probe at {entry:#x}: {there}")
    for at, old in there.items():
        check(tuple(old) not in RETURNS[left.machine.arch], f"a probe on the return instruction at {at:#x}")


def team(left):
    """Only the arrivals at barriers of OpenMP teams have a probe, where libgomp's code shows the size of a team."""
    left.status("team")
    trace = left.trace("team")
    against_log(trace, genlog.Log(left.path("team.log")), joins=1)
    # Some are unknown, as in the test `no_return_probes`.
    check(trace.end["departures_unknown"] < trace.end["crossings"] / 2, "most departures are unknown")
    check_equal("methods", {e["departures"] for e in trace.all("episode") if e["kind"] != "join"},
                {"inferred" if left.machine.arch == "amd64" else "seen"})


def ladder(left):
    """Check the kernel's attach method and the counters, and that no episode lacks causes."""
    left.status("command")
    trace = commanded(left)
    check_equal("method", {p["method"] for p in trace.session["probes"]}, {left.machine.rungs[0]})
    wanted = {"task-clock", "cycles", "instructions"} if left.machine.pmu else {"task-clock"}
    check_equal("counters", {c["name"] for c in trace.session["counters"]}, wanted)
    members = [(e["pid"], m) for e in trace.all("episode") for m in e["threads"] if m.get("counters")]
    check(len(members) > 1000, f"crossings with counts: {len(members)}")
    # An emulated x86-64 CPU may stand still for milliseconds between reading one clock and the other, while another CPU runs.
    # So the times of a few crossings are wrong, and sums cannot be relied on.
    for name in wanted:
        check(sum((m["counters"].get(name) or 0) > 0 for _, m in members) >
              (0.9 if left.machine.counting else 0.5) * len(members), f"{name} is hardly counted")
    for process in {pid for pid, _ in members}:
        mine = [(m["counters"]["task-clock"] or 0) / m["oncpu_ns"]
                for pid, m in members if pid == process and m["oncpu_ns"]]
        check_between(f"task-clock of {process} over its time on CPUs", statistics.median(mine), 0.85, 1.15)
    left.machine.counters = sorted(wanted)


def usdt(left):
    left.status("command")
    rows = {b["name"] or b["line"]: b for b in commanded(left).barriers(family="usdt")}
    done, start, end = (rows.get(n) for n in ("Done factor diagonal block", "Start", "End"))
    check(done and start and end, f"named barriers: {sorted(map(str, rows))}")
    check_equal("episodes", [b["episodes"] for b in (start, done, end)], [1, ITERATIONS, 1])
    check_equal("in all", sum(b["episodes"] for b in rows.values()), 2 * ITERATIONS + 2)
    check_equal("threads", [m["index"] for m in done["threads"]], [0, 1, 2, 3])
    own = [int(us) * 1000 for us in
           re.search(r"idle us: ([\d ]+)ok", left.text("usdt.out")).group(1).split()]
    # A thread that is preempted between reading its own clock and the marker waits for less time than it measures.
    ratios = sorted(m["idle_ns"] / mine for mine, m in zip(own, done["threads"]))
    check_between("median of idle times over the program's own", statistics.median(ratios), 0.6, 1.01)
    check(ratios[-1] <= 1.01, f"idle for longer than the program knows of: {ratios}")
    known = 2 * ITERATIONS + 2
    left.machine.count("usdt", {"matched": known, "log_episodes": known, "last_checked": 0, "last_wrong": 0})


def late(mode):
    """Check why a thread was late. Emulated CPUs stand still from time to time at any point, so not every episode is late for
    the known reason."""
    def test(left):
        name, part, rounds = f"late-{mode}", test_cause.PART_OF[mode], LATE[mode]
        left.status(name)
        log = test_cause.LateLog(left.path(f"{name}.log"))
        tids = {tid for crossing in log.crossings.values() for tid in crossing}
        episodes = sorted((e for e in commanded(left).all("episode")
                           if {m["tid"] for m in e["threads"]} <= tids and e["kind"] != "join"),
                          key=lambda e: e["t_ns"])
        check_equal("episodes", len(episodes), rounds)
        test_cause.check_parts(episodes)
        causes = [(e["cause"], dict(log.injected[n])[mode]) for n, e in enumerate(episodes)
                  if e["cause"] and log.last(n) == log.late[n]]
        check(len(causes) >= rounds / 2, f"the late one was last in {len(causes)} episodes only")
        check_between(f"median of {part} over what was injected",
                      statistics.median(c["parts"].get(part, 0) / ns for c, ns in causes), 0.6, 1.4)
        causes = [c for c, _ in causes if c["dominant"] == part]
        check(len(causes) >= rounds / 3, f"{part} is dominant in {len(causes)} episodes only")
        if part == test_cause.LOCK:
            named = [c for c in causes if re.search(test_cause.holder(log), test_cause.said(c))]
            check(len(named) >= 0.8 * len(causes), f"holder named in {len(named)} of {len(causes)}")
        left.machine.causes.append({"lock-sleep": "lock and its holder"}.get(mode, mode))
    return test


def numa_nodes(left):
    """Each phase begins on another node: 59 migrations of two threads each."""
    found = {}
    for mode in WANDERING:
        left.status(mode)
        pid = int(left.text(f"{mode}.pid"))
        found[mode] = {f["kind"]: f for f in commanded(left).all("finding") if f["pid"] == pid}
    check("migrating" in found["wander"], f"no finding: {found['wander']}")
    check_in("sentence", "to another NUMA node", found["wander"]["migrating"]["text"])
    check("migrating" not in found["stay"], f"no thread moves: {found['stay']}")


def records(text):
    found = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return [r for r in found if r["type"] == "hang"]


def hangs(which):
    """One of several looks is right, and none reports a deadlock if there is none."""
    def test(left):
        if which == "live":
            left.status(which)
        for kind in HUNG[which]:
            text = left.text(f"{which}.json")
            pid = int(left.text(f"{which}-{kind}.pid"))
            told = [r for r in records(text) if r["pid"] == pid]
            check(told, f"nothing was reported for {kind}")
            log, why = test_hang.Log(left.text(f"{which}-{kind}.log")), None
            for record in told:
                if test_hang.KINDS[kind].verdict != "deadlock":
                    check(record["verdict"] != "deadlock", f"{kind}: {record}")
            for record in told:
                try:
                    test_hang.check_hang(record, log, test_hang.KINDS[kind], exact=which == "live")
                    break
                except harness.Failure as e:
                    why = e
            else:
                raise harness.Failure(f"{kind}: {why}")
        left.machine.hangs.add(which)
    return test


def sums(left):
    """Check sums that the kernel keeps, or the sentence that gives the reason why there are none."""
    if left.machine.name == "5.10":
        left.status("sums", 1)
        check_in("sentence", "--aggregate needs Linux 6.1 or later", left.text("sums.err"))
        left.machine.sums = "refused"
        return
    left.status("sums")
    trace = left.counted("sums")
    check_equal("episodes and crossings", (trace.end["episodes"], trace.end["crossings"]), (5, 10))
    left.machine.sums = "yes"


def tests(machine):
    found = {"sums": sums, "ladder": ladder, "usdt": usdt, **{f"late.{mode}": late(mode) for mode in LATE}}
    for run, rows in (("command", COMMAND), *((name, {name: row}) for name, row in ALONE.items()),
                      *groups(machine).items()):
        found.update({name: one(run, name, row) for name, row in rows.items()})
    if not machine.counting:
        found["system"] = whole("system", SYSTEM)
    if machine.nodes > 1:
        found["numa"] = numa_nodes
    if is_filtered(machine):
        found["filtered"] = filtered
    found["inferred"], found["team"] = whole("inferred", INFERRED), team
    if "session" not in machine.rungs:
        found["no_return_probes"] = no_return_probes
    found.update({f"by.{rung}": whole(rung, there(machine, LADDER), rung) for rung in machine.rungs})
    found.update({f"hang.{which}": hangs(which) for which in ("after", "live")})
    return found
