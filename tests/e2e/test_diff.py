# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""diff and series on recordings of real runs: their numbers are those of the reports, and exit statuses show what changed."""

import json
import os

from harness import (check, check_between, check_equal, check_in, clean_environment, schema, shared, validate,
                     workload, write_file)

PAIRED = True

SIZE = 60


def record(t, sleep_ns, threads=3, partition="block"):
    """Record an LU decomposition in which threads sleep instead of computing, so its phases have the requested length."""
    path = t.path()
    t.sbt("record", "-o", path, "--", workload("lu"), "--partition", partition, "--threads", str(threads),
                   "--size", str(SIZE), "--sleep-work", str(sleep_ns), env=clean_environment(), rc=0)
    return path


def lines(t, *args, rc=0):
    path = t.path()
    t.sbt(*args[:1], "--json", "-o", path, *args[1:], rc=rc)
    with open(path, encoding="utf-8") as f:
        return objects_of(f)


def objects_of(some):
    """Return the objects of JSON lines, each valid according to the schema."""
    objects = [json.loads(line) for line in some]
    for o in objects:
        validate(o, {"oneOf": schema()["oneOf"]}, o["type"], schema())
    return objects


def rows(t, *args, rc=0):
    """Return the differences, by barrier (or scope) and quantity."""
    return by_what(lines(t, "diff", *args, rc=rc))


def by_what(objects):
    return {(r["barrier"] or r["scope"], r["quantity"]): r for r in objects if r["type"] == "difference"}


def check_reported(found, side, objects, least=1):
    """Check that the rows about the process lu agree with the report in @objects. Return the process, and those of its barriers
    that have at least @least episodes."""
    (process,) = [o for o in objects if o["type"] == "process" and o["comm"] == "lu"]
    check_equal("elapsed", found["process", "elapsed_ns"][side], process["elapsed_ns"])
    # A ratio is printed with six digits.
    parallel = process["efficiency"]["parallel"]
    check_between("parallel", found["process", "parallel"][side], parallel - 1e-6, parallel + 1e-6)
    barriers = [o for o in objects if o["type"] == "barrier" and o["pid"] == process["pid"]]
    check_equal("barriers", len(barriers), 2)
    barriers = [o for o in barriers if o["episodes"] >= least]
    for o in barriers:
        check_equal("phase time", found[o["id"], "phase_ns"][side], o["phase_ns"]["sum"])
        check_equal("barrier time", found[o["id"], "barrier_ns"][side], o["barrier_ns"]["sum"])
        check_equal("lost", found[o["id"], "lost_ns"][side], o["lost_ns"])
        check_equal("matched", found[o["id"], "phase_ns"]["matched"], "id")
    return process, barriers


def test_numbers(t):
    """diff and series report the same about a recording as report does."""
    a, b = record(t, 20000), record(t, 60000)
    reported = [lines(t, "report", path) for path in (a, b)]
    found = rows(t, a, b)
    (point, other) = lines(t, "series", "--by", "file", a, b)
    for side, objects in zip("ab", reported):
        process, barriers = check_reported(found, side, objects)
        check_equal("time", (point if side == "a" else other)["time_ns"], process["life_ns"])
        for o in barriers:
            (site,) = [s for s in (point if side == "a" else other)["sites"] if s["barrier"] == o["id"]]
            check_equal("phase time in the series", site["phase_ns"], o["phase_ns"]["sum"])
            waits = [thread["wait_ns"] for thread in o["threads"]]
            check_equal("idle", (site["idle_min_ns"], site["idle_max_ns"]), (min(waits), max(waits)))
    check_equal("threads", (point["nthreads"], other["base"]), (3, point["label"]))


def test_regression(t):
    """With three runs on each side, three times the work is a regression, and a third of it is none."""
    a = [record(t, 20000) for _ in range(3)]
    b = [record(t, 60000) for _ in range(3)]
    found = rows(t, "--fail-above", "50", *a, "--", *b, rc=3)
    loop = max((r for (_, q), r in found.items() if q == "phase_ns"), key=lambda r: r["b"])
    check_equal("test", (loop["test"], loop["significant"], loop["change"], loop["regression"]),
                ("welch", True, "worse", True))
    check(loop["ratio"] > 1.5, f"three times the work: {loop}")
    check(loop["low"] < loop["difference"] < loop["high"], loop)
    back = rows(t, "--fail-above", "50", *b, "--", *a)
    check_equal("change", back[loop["barrier"], "phase_ns"]["change"], "better")
    rows(t, "--fail-above", "50", a[0], a[0])
    # With one run on each side, the variation along the runs counts. The output says what this does not cover.
    one = rows(t, "--fail-above", "50", a[0], b[0], rc=3)
    check_equal("test", one[loop["barrier"], "phase_ns"]["test"], "episodes")
    check_equal("significant", one["run", "elapsed_ns"]["significant"], None)
    result = t.sbt("diff", a[0], b[0])
    check_in("text", "This does not include differences between whole runs", result.out.replace("\n  ", " "))
    points = lines(t, "series", *a, *b)
    check_equal("runs", [p["runs"] for p in points], [3, 3])
    check(points[1]["normalised"] > 1.5, points[1]["normalised"])
    check(all(p["time_stddev_ns"] is not None for p in points), points)
    result = t.sbt("series", "--base", "row", "--label", f"{SIZE}/short", *a, "--label", f"{SIZE}/long", *b, rc=0)
    check_in("text", "\nTime above the base\n", result.out)


def test_threads(t):
    """Thread counts of one program label the points, and speedups have their efficiency."""
    paths = [record(t, 30000, threads=n, partition="cyclic") for n in (1, 2, 4)]
    points = lines(t, "series", *paths)
    check_equal("labels", [p["label"] for p in points if p["nthreads"] == 2][0].split(", ")[-1], "2 threads")
    for p in points:
        expected = p["speedup"] / p["nthreads"]
        check_between("efficiency", p["efficiency"], expected - 1e-9, expected + 1e-9)


@shared
def test_unreadable(t):
    path = t.path()
    good = record(t, 20000)
    write_file(path, "no recording\n")
    for command in ("diff", "series"):
        for bad in (path, os.path.join(t.dir, "nosuch")):
            result = t.sbt(command, good, bad, rc=1)
            check_in("stderr", os.path.basename(bad), result.err)
            check_equal("stdout", result.out, "")
        result = t.sbt(command, rc=2)


@shared
def test_another_program(t):
    """Programs with nothing in common must not count as equally fast. Versions of a program under two names are compared, and
    the output says so."""
    good, other, renamed = record(t, 1000), t.path(), t.path("lu_two")
    check_equal("record", t.sbt("record", "-q", "-o", other, "--", workload("gen"), "--rounds", "60").rc, 0)
    result = t.sbt("diff", "--fail-above", "5", good, other, rc=1)
    check_in("stderr", "A and B have no barrier in common", result.err)
    check_equal("without a limit", t.sbt("diff", good, other).rc, 0)
    os.symlink(workload("lu"), renamed)
    path = t.path()
    check_equal("record", t.sbt("record", "-q", "-o", path, "--", renamed, "--partition", "block", "--threads", "3", "--size",
                                str(SIZE), "--sleep-work", "1000", env=clean_environment()).rc, 0)
    result = t.sbt("diff", "--fail-above", "500", good, path, rc=0)
    check_in("stderr", "different names", result.err)


@shared
def test_nothing_to_compare(t):
    """A run that ends at once must not count as equally fast."""
    good, bad = record(t, 1000), t.path()
    t.sbt("record", "-q", "-o", bad, "--", "true")
    for sides in ((good, bad), (bad, good)):
        result = t.sbt("diff", "--fail-above", "5", *sides, rc=1)
        check_in("stderr", "is unknown", result.err)
