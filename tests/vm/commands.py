# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Every command of sbt-trace in another kernel, compared with what the programs know of themselves: recording and reporting,
comparing and predicting; call sites behind wrappers, marked phases; detaching for cost; top and list; and MPI ranks. Two
traces cover most of it, because each begins slowly under emulation."""

import json
import os

import families
import genlog
import harness
import test_diff
import test_frames
import test_limit
import test_list
import test_phases
import test_predict
import test_record
import test_top
import vm
from families import SHORT, stamp
from harness import check, check_between, check_equal, check_in

LIBRARIES = ("libgcc_s.so.1",)
ROUNDS = 60
# One thread computes for 2 ms, the other one for half of that.
UNEVEN = f"gen --threads 2 --rounds {ROUNDS} --work fixed:0=2ms,1=1ms"
TO = 40  # episodes in the window
LU_SIZE = 24
# Percent. The cost of the hot program is several per cent, and the cost of the other program a fiftieth of a per cent. On a busy
# host, both have differed by a factor of ten, because a crossing seems to cost less or more. The hot program has a single thread,
# which never waits for a CPU at its barrier.
LIMIT = 0.4
PATIENCE = 100  # seconds

# Programs that COMMAND runs one after the other: name -> command, and the family of those that write a log.
ALL = {
    "wrapped": ("wrapped", None),
    "marks": (f"sbtmarks {test_phases.ROUNDS}", None),
    "uneven": (UNEVEN, "pthread"),
    "lu": (f"lu --partition block --threads 3 --size {LU_SIZE} --sleep-work 20000", None),
    "sem": (f"gen_sem --kind turnstiles --threads 3 --rounds 40 {SHORT}", "user"),
    "tbb": ("tbb_rounds 3 30", None),
    "shared": (f"shm_again 3 {ROUNDS}", None),
}
LONGER = f"lu --partition block --threads 3 --size {LU_SIZE} --sleep-work 800000"
HOT = "gen --threads 1 --work fixed:0=100us --forever"
LATE = "gen " + " ".join(test_top.LATE)
LOOKS = 3
RANKS = 3
CROSSED, TOO_EARLY = 40, 80  # of ranks: after all are examined, and before
MPI = (f"mpiexec.hydra -launcher fork -localhost localhost -n {RANKS} /bin/gen_mpich --kind barrier "
       "--work stair:1ms:1ms --work-by sleep --rounds ")
HYDRA = ("mpiexec.hydra", "hydra_pmi_proxy")
# These programs are left out where there is no time for them, or where their libraries are not installed.
NOT_EVERYWHERE = {"tbb": "tbb_rounds", "mpi": "gen_mpich"}


def chosen(machine):
    """Return the programs of ALL, and "mpi", that run on the machine. The kernel reports shared memory from 5.17 on."""
    found = [name for name in (*ALL, "mpi") if name not in NOT_EVERYWHERE or
             (name in machine.also and os.path.exists(os.path.join(harness.WORKLOADS, NOT_EVERYWHERE[name])))]
    return [name for name in found if name != "shared" or not machine.name.startswith("5.")]


def programs(machine):
    names = {"gen", "lu", *(ALL[name][0].split()[0] for name in chosen(machine) if name != "mpi")}
    return sorted(names | ({"gen_mpich"} if "mpi" in chosen(machine) else set()))


def files(machine):
    """Return MPI's own programs."""
    return [(f"/bin/{name}", os.path.join(vm.root_of(machine.arch), "usr/bin", name)) for name in HYDRA if "mpi" in chosen(machine)]


def run(name, command, log=False):
    """Return the shell command, with the output files that families.check_program() expects."""
    name = f"all-{name}"
    return (f"{command}{f' --log {name}.log' if log else ''} >{name}.out 2>{name}.err & echo $! >{name}.pid; wait $!; "
            f"echo $? >{name}.rc\n")


def run_until_detached(name, command):
    """As run(), for a program that runs until limited.err names it, and a second longer. It writes its log when it ends."""
    name = f"all-{name}"
    return f"""{command} --log {name}.log >{name}.out 2>{name}.err & pid=$!; echo $pid >{name}.pid
for i in $(seq {PATIENCE}); do grep -q "process $pid " limited.err && break; sleep 1; done
sleep 1; kill $pid; wait $pid; echo $? >{name}.rc
"""


def sbt(name, arguments):
    """Return a command of sbt-trace that traces nothing. Its output is in NAME.json."""
    return f"timeout 60 sbt-trace {arguments} >{name}.json 2>{name}.err; echo $? >{name}.rc\n"


def top_options(machine):
    """Return options for top. With causes it takes twice as long to begin, so only one kernel uses them."""
    return "" if machine.suite == "sid" else "--no-causes"


def crossed(machine):
    """Return the number of episodes of ranks. Ranks are not stopped, and examining them takes seconds there, so some cross too
    early."""
    return CROSSED + TOO_EARLY if machine.counting else CROSSED


def command_script(machine):
    lines = [run(name, ALL[name][0], bool(ALL[name][1])) for name in chosen(machine) if name not in ("mpi", "shared")]
    if "shared" in chosen(machine):
        lines.append(f"kill -STOP $PPID\n{run('shared', ALL['shared'][0])}kill -CONT $PPID\n")
    return "".join(lines + ([run("mpi", MPI + str(crossed(machine)), True)] if "mpi" in chosen(machine) else []))


READ = f"""
grep '"type":"episode"' all.json | grep "\\"pid\\":$(cat all-uneven.pid)," | \\
	sed 's/.*"t_ns":\\([0-9]*\\).*"barrier_ns":\\([0-9]*\\).*/\\1 \\2/' >moments
# From before the first arrival of the first episode to before the last arrival of a later one.
window=$(awk 'NR == 1 {{ from = $1 - $2 }} NR == {TO + 1} {{ to = $1 }}
	END {{ printf "--from %.6f --to %.6f", (from - 500000) / 1e9, (to - 200000) / 1e9 }}' moments)
{sbt("again", "report -q --json -W all.tape")}
{sbt("part", "report -q --json -W $window all.tape")}
{sbt("predicted", "predict -q --json --machine ideal --processors 1,2,4 $window all.tape")}
"""
COMPARE = f"""
{sbt("limit", "report -q --json limit.tape")}
{sbt("text", "report limit.tape")}
{sbt("diff", "diff --json all.tape limit.tape")}
{sbt("words", "diff all.tape limit.tape")}
"""


def script(machine):
    return f"""
export OMP_WAIT_POLICY=passive
cat >all.sh <<'EOF'
{command_script(machine)}EOF
cat >limit.sh <<'EOF'
{run("longer", LONGER)}{run_until_detached("hot", HOT)}EOF
{stamp("all")}timeout 200 sbt-trace --json -W -o all.json --record all.tape -e page-faults,task-clock --frames 1 \\
	-b meet_turnstiles -- sh -c "$(cat all.sh)" >all.out 2>all.err; echo $? >all.rc
{stamp("read")}{READ}
{limit_script() if "limit" in machine.also else ""}{top_script(machine) if "top" in machine.also else ""}
{sbt("list", "list --json /bin/gen")}
{sbt("listed-tbb", "list --json /bin/tbb_rounds") if "tbb" in chosen(machine) else ""}
{sbt("events", "list --json --events")}
{stamp("end")}"""


def limit_script():
    return f"""{stamp("limit")}timeout 200 sbt-trace -o limit.live --record limit.tape --cost-limit {LIMIT} --frames 1 --no-causes \\
	-- sh -c "$(cat limit.sh)" >limit.out 2>limited.err; echo $? >limited.rc
{stamp("compare")}{COMPARE}"""


def top_script(machine):
    return f"""{stamp("top")}{LATE} >late.out 2>&1 & echo $! >late.pid
{sbt("top", f"top {top_options(machine)} -p $(cat late.pid) -d 1 -n {LOOKS}")}
{sbt("process", "list --json -p $(cat late.pid)")}
kill $(cat late.pid)
"""


# --- what was left behind ---------------------------------------------------------------------------

def everything(left):
    left.status("all")
    return families.commanded(left, "all")


def of(name, left):
    """Return the barriers of a program that COMMAND ran."""
    left.status(f"all-{name}")
    return everything(left).barriers(pid=int(left.text(f"all-{name}.pid")))


def same(name, live, again):
    check(len(live) > 1000, f"{name}: hardly anything was printed: {live!r}")
    check(live == again, f"{name}: {test_record.first_difference(live, again)}")


def without_words(text):
    """Return lines of JSON without the sentences about the causes of episodes."""
    objects = [json.loads(line) for line in text.splitlines()]
    for o in objects:
        for word in ("culprit", "text", "stack") if o["type"] == "episode" and o["cause"] else ():
            del o["cause"][word]
    return "\n".join(map(json.dumps, objects))


def recorded(left):
    """A report of the recording equals the live output, as JSON and as text."""
    left.status("again")
    live, again = left.text("all.json"), left.text("again.json")
    same("JSON", without_words(live), without_words(again))
    # On such a slow machine, the activity of a thread may be known a moment too late for the recording.
    check_between("lines that differ in words", sum(a != b for a, b in zip(live.splitlines(), again.splitlines())), 0, 3)
    if "limit" in left.machine.also:
        left.status("text")
        same("text", left.text("limit.live"), left.text("text.json"))


def window(left):
    """The window has the episodes between two moments, and no others."""
    left.status("part")
    met = test_record.check_part(everything(left), left.counted("part"), everything(left).end["lost_total"])
    check_between("episodes", len(met), TO - 1, TO)
    check_equal("processes", {e["pid"] for e in met}, {int(left.text("all-uneven.pid"))})


def computed(left):
    """Return what the threads computed in the window: the total, and for each episode the longest."""
    parts = [[m["oncpu_ns"] or 0 for m in e["threads"]] for e in test_record.told(left.counted("part"))]
    return sum(map(sum, parts)), sum(map(max, parts))


def predicted(left):
    """With one processor per thread, the run takes as long as the thread that computes longest. More processors do not help."""
    left.status("predicted")
    alone, together = computed(left)
    p = test_predict.Prediction.of(left.text("predicted.json"))
    check(any("Only a part of the recording" in note["text"] for note in p.notes), p.notes)
    (phase,) = [x for x in p[2]["phases"] if x["barrier"]]
    check_between("episodes", phase["meetings"], TO - 1, TO)
    # Two thirds of the work are one thread's. If CPUs stand still meanwhile, the share can be larger.
    check(p[2]["speedup"] > 1, f"nothing gained: {p[2]}")
    check_between("speedup", p[2]["speedup"], 0.95 * alone / together, 1.05 * alone / together)
    check_equal("what limits it", p[2]["limit_cause"], "imbalance")
    check_equal("with four", p[4]["time_ns"], p[2]["time_ns"])
    check(p[1]["time_ns"] > 2.5e6 * (phase["meetings"] - 1), f"with one: {p[1]}")


def compared(left):
    """diff reports the same about two recordings as report does about each. Forty times the work is reported as more."""
    for name in ("diff", "words", "limit"):
        left.status(name)
    objects = test_diff.objects_of(left.text("diff.json").splitlines())
    found = test_diff.by_what([o for o in objects if o.get("comm") == "lu"])
    for side, name in (("a", "again"), ("b", "limit")):
        # The callers of the first barrier are main() and the C library, and its name depends on the first arriver.
        _, barriers = test_diff.check_reported(found, side, test_diff.objects_of(left.text(f"{name}.json").splitlines()),
                                               least=2)
        check_equal("episodes", [b["episodes"] for b in barriers], [LU_SIZE - 1])
    (loop,) = [r for (_, quantity), r in found.items() if quantity == "phase_ns" and r["barrier"] == barriers[0]["id"]]
    check(loop["ratio"] > 1.5, f"forty times the work: {loop}")
    check_in("what was detached", "--cost-limit", " ".join(left.text("words.json").split()))


def shared(left):
    """Children cross a barrier and end while sbt-trace is stopped. The kernel has reported which memory they share."""
    left.status("all-shared")
    pairs = [tuple(sorted(map(int, line.split()[1:]))) for line in left.text("all-shared.out").splitlines()]
    pids = {pid for pair in pairs for pid in pair}
    episodes = [e for e in everything(left).all("episode") if {m["tid"] for m in e["threads"]} & pids]
    check_equal("threads of the episodes", sorted((e["state"], *sorted(m["tid"] for m in e["threads"])) for e in episodes),
                sorted(ROUNDS * [("complete", *pair) for pair in pairs]))


def wrapped(left):
    """With --frames, a call site is the call of the caller."""
    check_equal("sites", {b["line"]: b["episodes"] for b in of("wrapped", left)}, test_frames.WRAPPED[1])


def marks(left):
    """Phases that the program marks."""
    left.status("all-marks")
    phases = test_phases.by_name(everything(left))
    test_phases.check_marked_times(phases, test_phases.own_clock(left.text("all-marks.out")),
                                   apart=0 if left.machine.counting else 0.2)
    test_phases.check_marked_counters(phases)


def generated(name):
    def test(left):
        families.check_program(left, "all", name, "mpi" if name == "mpi" else ALL[name][1], 0)
    return test


def check_ranks_gone(trace, gone, least, most):
    """The ranks live for an eighth of a second. On a busy host, some may end before their environment can be read. Their
    crossings are recorded all the same, and no episode is invented."""
    check_equal(f"complete, although {gone}", trace.end["complete"], False)
    check_between("crossings", trace.crossings(family="mpi"), least, most)
    check_in("members of complete episodes", {row["participants"] for row in trace.barriers(family="mpi") if row["episodes"]},
             (set(), {RANKS}))


def mpi(left):
    """Ranks of an mpirun: every episode is found with all members, except those that crossed too early, which are counted."""
    log, early = genlog.Log(left.path("all-mpi.log")), families.too_early(everything(left))
    made = crossed(left.machine)
    gone = [r["text"] for r in everything(left).all("remark") if r["kind"] == "ranks_gone"]
    if gone:
        check_ranks_gone(everything(left), gone, made * RANKS - early, made * RANKS)
        return
    check_between("crossings that came too early", early, 0, (made - CROSSED) * RANKS)
    least = max(made - early, CROSSED)
    generated("mpi")(left)
    # MPI's libraries are stripped, so callers behind them cannot always be determined. There may be several rows.
    rows = everything(left).barriers(family="mpi")
    check_equal("rows", {(row["kind"], row["shared"]) for row in rows}, {("explicit", True)})
    check_between("episodes", sum(row["episodes"] for row in rows), least, made)
    for row in rows:
        check_equal("ranks", sorted(m["index"] for m in row["threads"]), list(range(RANKS)))
        check_equal("processes", {m["tid"] for m in row["threads"]}, families.processes_of(log))


def tbb(left):
    """If no function shows a barrier, none is reported, and list says so. The program behaves as without tracing."""
    check_equal("barriers", of("tbb", left), [])
    check_equal("its output", left.text("all-tbb.out"), "tbb_rounds: rounds=30 turns=90 ok\n")
    left.status("listed-tbb")
    test_list.check_tbb(test_list.places_of(left.text("listed-tbb.json"))[1])


def limited(left):
    """The expensive program was traced exactly up to some moment, and the other one to its end."""
    for name in ("limited", "limit", "all-longer"):
        left.status(name)
    trace = families.commanded(left, "limit")
    p = test_limit.check_let_go(trace, 0.9e9, pid=int(left.text("all-hot.pid")), least=0)
    test_limit.check_until(trace, genlog.Log(left.path("all-hot.log")), p, threads=1)
    check_in("reported", f"--cost-limit {LIMIT}: process", left.text("limited.err"))
    check_equal("the other", trace.process(comm="lu")["shed_ns"], None)


def top(left):
    left.status("top")
    test_top.check_lines(left.text("top.json"), int(left.text("late.pid")), LOOKS, "" if top_options(left.machine) else "sleep")


def listed(left):
    """list shows what could be traced in a program and in a process, and which counters exist."""
    here, there = vm.library_of(left.machine.arch, "libc.so.6")
    for name in ("list", "process") if "top" in left.machine.also else ("list",):
        left.status(name)
        found, _ = test_list.places_of(left.text(f"{name}.json"))
        check_equal("module", test_list.check_library(found, here)["module"], there)
    left.status("events")
    events = {e["name"]: e["available"] for e in map(json.loads, left.text("events.json").splitlines())}
    check_equal("counters", [events[name] for name in ("cycles", "instructions", "page-faults")],
                [left.machine.pmu, left.machine.pmu, True])


COMMANDS = {"record": recorded, "window": window, "predict": predicted, "diff": compared, "frames": wrapped,
            "phases": marks, "limit": limited, "top": top, "list": listed}


# Tests that do not run on every machine.
SOMEWHERE = {"diff": "limit", "limit": "limit", "top": "top"}


def command(name):
    def test(left):
        COMMANDS[name](left)
        left.machine.commands.add(name)
    return test


def tests(machine):
    found = {**{name: command(name) for name in COMMANDS
                if name not in SOMEWHERE or SOMEWHERE[name] in machine.also},
             **{name: generated(name) for name, (_, family) in ALL.items() if family and name in chosen(machine)}}
    own = {"mpi": mpi, "tbb": tbb, "shared": shared}
    return found | {name: test for name, test in own.items() if name in chosen(machine)}
