# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Many CPUs and many threads: nothing is lost without being counted, and the order of events is right."""

import genlog
import test_loss
from families import MARGIN_NS, check_order
from harness import check, check_equal

LIBRARIES = ()
THREADS = 128
ROUNDS = 20


def programs(_):
    return ["gen"]


def script(machine):
    gen = f"gen --threads {THREADS}"
    return f"""
timeout 250 sbt-trace --json -W -o all.json -- {gen} --rounds {ROUNDS} --work random:1us:200ms:5 --work-by sleep \
	--log all.log >all.out 2>all.err; echo $? >all.rc
# A tracer that does not read for a while loses some records.
sbt-trace --json -W --ring-size 4 -o lossy.json -- {gen} --rounds 60 --log lossy.log \
	>lossy.out 2>lossy.err & sbt=$!
n=0; until [ -s lossy.json -o $n = 600 ]; do sleep 0.1; n=$((n+1)); done
kill -STOP $sbt; sleep 4; kill -CONT $sbt; wait $sbt; echo $? >lossy.rc
"""


def all_there(left):
    left.status("all")
    trace, log = left.trace("all"), genlog.Log(left.path("all.log"))
    check_equal("what the log says of itself", log.check(), [])
    found = trace.compare(log, margin_ns=MARGIN_NS, serial_last=True)
    check_equal("matched, missing, extra, incomplete",
                [found[k] for k in ("matched", "missing", "extra", "incomplete")], [ROUNDS, 0, 0, 0])
    check_equal("crossings", trace.end["crossings"], THREADS * ROUNDS)
    check(found["last_checked"] >= ROUNDS // 2, f"last threads beyond doubt: {found['last_checked']}")
    check_order(found, True)
    left.machine.count("pthread", found)


def in_order(left):
    """Episodes follow one another. In each, no thread departs before the last arrival. Each thread's own crossings follow one
    another."""
    episodes = left.trace("all").all("episode")
    before = {}
    for a, b in zip(episodes, episodes[1:]):
        check(a["t_ns"] <= b["t_ns"], f"after one another: {a['t_ns']}, {b['t_ns']}")
    for e in episodes:
        last = max(m["arrive_ns"] for m in e["threads"])
        check_equal("members", len({m["tid"] for m in e["threads"]}), THREADS)
        for m in e["threads"]:
            check(m["depart_ns"] >= last, f"left before the last came: {m}")
            check(before.get(m["tid"], -1) < m["arrive_ns"], f"came before it had left: {m}")
            before[m["tid"]] = m["depart_ns"]


def all_cpus(left):
    """The threads ran on all CPUs."""
    used = {m["cpu"] for e in left.trace("all").all("episode") for m in e["threads"] if m.get("cpu") is not None}
    check(len(used) > 8 or len(used) >= left.machine.cpus * 3 // 4, f"CPUs used: {sorted(used)}")


def lost_is_counted(left):
    left.status("lossy")
    test_loss.lossy_but_true(left.counted("lossy"), genlog.Log(left.path("lossy.log")),
                             margin_ns=MARGIN_NS, serial_last=True)


def warned(left):
    """A warning says that probes delay one another on such a kernel: with more than 8 CPUs before Linux 6.14."""
    said = "before Linux 6.14" in left.text("all.err")
    check_equal(f"warned of {left.machine.cpus} CPUs", said, left.machine.serialises)


def tests(_):
    return {"all": all_there, "order": in_order, "cpus": all_cpus, "lost": lost_is_counted, "warned": warned}
