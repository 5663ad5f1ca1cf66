# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""What a target and those around it must not notice, and ends that come at odd moments."""

import os
import signal
import subprocess
import time

from harness import (SBT, check, check_equal, check_in, wait_for, workload)


def test_parent_that_watches_for_stops(t):
    """su stops itself when its child is stopped: nobody but COMMAND itself may be held."""
    script = workload("gen-static") + " --threads 2 --rounds 3"
    if not os.path.exists("/bin/su"):
        return
    result = t.sbt("-q", "-o", t.path(), "--", "su", "root", "-s", "/bin/sh", "--session-command",
                   script + "; exit 7", timeout=30)
    check_equal("status", result.rc, 7)
    check_in("output", "rounds=3", result.out)


def test_ignored_signals_stay_ignored(t):
    """nohup sbt-trace -- job: the job ignores SIGHUP as it would without us."""
    result = t.run(["sh", "-c", "trap '' HUP PIPE; exec \"$0\" -q -o \"$1\" -- grep SigIgn /proc/self/status",
                    SBT, t.path()])
    check_in("SigIgn", "1001", result.out)


def test_interim_after_the_report(t):
    """SIGUSR1 after --duration is over: nothing to report any more, and no harm."""
    p = t.start([SBT, "-q", "-d", "0.3", "-o", t.path("report"), "--", "sh", "-c", "sleep 2; exit 5"])
    wait_for("the report", lambda: os.path.exists(t.path("report")) and "LOST" in open(t.path("report")).read())
    time.sleep(0.2)
    p.signal(signal.SIGUSR1)
    check_equal("status", p.wait().rc, 5)


def test_ends_before_the_delay(t):
    trace = t.trace([workload("gen"), "--threads", "2", "--rounds", "3"], "--delay", "5")
    check_equal("episodes", trace.end["episodes"], 0)
    check_in("stderr", "before --delay was over", trace.result.err)


def test_more_threads_than_are_kept(t):
    """72,000 threads in teams: the ended ones are folded into sums, and all are counted."""
    trace = t.trace([workload("churn"), "--teams", "18000", "--threads", "4", "--rounds", "1"], timeout=80)
    check_in("churn", "ok", trace.result.out)
    check_equal("lost", trace.end["lost_total"], 0)
    check_equal("episodes", trace.end["episodes"], 18000)


def test_shared_barrier_before_it_is_touched(t):
    trace = t.trace([workload("shared_fork")])
    check_equal("episodes, incomplete", (trace.end["episodes"], trace.end["incomplete"]), (200, 0))
    rows = trace.barriers()
    check(all(b["participants"] == 4 for b in rows if b["episodes"]), f"participants: {rows}")
