# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""absl::Barrier of Abseil, in the shared library and linked into the program: known answers."""

import os

from harness import WORKLOADS, Skip, check_equal, check_last, check_waits, genlog, workload
from test_list import places

PAIRED = True

GEN = ["--threads", "4", "--rounds", "100", "--work", "random:10us:2ms:7", "--work-by", "sleep"]
BUILDS = ("gen_absl", "gen_absl-static")


def traced(t, name, *options):
    if not os.path.exists(os.path.join(WORKLOADS, name)):
        raise Skip("no Abseil")
    log = t.path()
    trace = t.trace([workload(name), *GEN, *options, "--log", log], "-W")
    trace.nothing_lost()
    log = genlog.Log(log)
    check_equal(f"{name}: the log itself", log.check(), [])
    return trace, trace.compare(log)


def all_found(trace, result, name):
    check_equal(f"{name}: missing, extra, incomplete",
                (result["missing"], result["extra"], result["incomplete"]), (0, 0, 0))
    check_equal(f"{name}: family", {b["family"] for b in trace.barriers()}, {"absl"})
    check_last(result, f"{name}: the wrong thread was last")
    check_waits(result, 0.05, f"{name}: cumulative wait")
    check_equal(f"{name}: abandoned", trace.process()["abandoned"], 0)


def test_same_memory(t):
    """Barriers that are constructed again in the same memory, one for each episode."""
    for name in BUILDS:
        trace, result = traced(t, name, "--barriers", "2")
        all_found(trace, result, name)


def test_heap(t):
    """Barriers made with new, and deleted by the last thread that leaves; two teams at a time."""
    for name in BUILDS:
        trace, result = traced(t, name, "--kind", "heap", "--teams", "2")
        all_found(trace, result, name)


def test_list(t):
    """The function is listed in the file that has it: the library, or the program."""
    for name in BUILDS:
        if not os.path.exists(os.path.join(WORKLOADS, name)):
            raise Skip("no Abseil")
        found, _ = places(t, workload(name))
        (place,) = [p for p in found if p["family"] == "absl"]
        library = "libabsl_synchronization" if name == "gen_absl" else name
        check_equal(f"{name}: module", os.path.basename(place["module"]).split(".")[0], library)
        check_equal(f"{name}: used", place["used"], True)
