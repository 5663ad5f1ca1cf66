# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""OpenMP beside barriers and regions: threads that wait for their turn."""

from harness import SBT, check, check_equal, check_in, workload

RUNTIMES = ("", "-libomp")


def turns(t, kind, name, runtimes=RUNTIMES):
    """Threads that run one after another: the report names the call in which they wait, and PE is an upper limit."""
    for runtime in runtimes:
        trace = t.trace([workload("omp_turns" + runtime), kind, "3", "10", "2000"])
        trace.nothing_lost()
        check_in(f"functions, {kind}{runtime}", name[runtime == "-libomp"], trace.process()["untraced"] or "")
        (finding,) = [f for f in trace.all("finding") if f["kind"] == "untraced"]
        check_in("finding", "upper limit", finding["text"])


def test_turns(t):
    turns(t, "critical", ("GOMP_critical_start", "__kmpc_critical"))


def test_turns_formats(t):
    """From a recording as live; in text, too."""
    recording = t.path()
    t.sbt("record", "-o", recording, "--", workload("omp_turns"), "lock", "3", "10", "2000")
    text = " ".join(t.run([SBT, "report", recording]).out.split())
    check_in("text", "omp_set_lock", text)
    check_in("text", "PE at most", text)
    check_in("CSV", "omp_set_lock", t.run([SBT, "report", "--csv", recording]).out)


def test_nothing_untraced(t):
    """A program without such calls is not marked."""
    for runtime in RUNTIMES:
        trace = t.trace([workload("omp_losses" + runtime), "1", "1", "2", "10"])
        check_equal("functions", trace.process()["untraced"], None)
        check("untraced" not in {f["kind"] for f in trace.all("finding")}, "finding")
