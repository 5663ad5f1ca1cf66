# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Remarks about what was not recorded, or only in part: every report of a run and every format has the same remarks, each of
them once."""

import json
import os
import re
import subprocess

import browser
from harness import (SBT, WORKLOADS, Trace, check, check_equal, check_in, check_not_in, read_csv, read_text, wait_for,
                     workload, write_file)

SHARED = True

HEAD = "NOT IN THIS REPORT, or only in part"
SPUN = [os.path.join(WORKLOADS, "spun"), "counter", "2", "150"]
FLAGS = [os.path.join(WORKLOADS, "spun-O0"), "flags", "2", "150"]
HANDED = [os.path.join(WORKLOADS, "gen_cond"), "--work", "random:100us:900us:1", "--work-by", "sleep", "--threads", "2", "--rounds", "60",
          "--kind", "generation"]
STARTED = [os.path.join(WORKLOADS, "hand_written"), "start", "4", "60"]


SPINS = """
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int arrived, generation;
static void *run(void *arg)
{
	for (int round = 0; round < 60; round++) {
		usleep(arg ? 3000 : 1000);
		if (atomic_fetch_add(&arrived, 1) == 1) {
			arrived = 0;
			generation++;
		} else {
			while (generation == round)
				;
		}
	}
	return 0;
}
int main(void)
{
	pthread_t other;

	pthread_create(&other, 0, run, &other);
	run(0);
	return pthread_join(other, 0);
}
"""


def remarks(records):
    return [(r["kind"], r["pid"], r["text"]) for r in records if r["type"] == "remark" and not r["interim"]]


def flat(text):
    return re.sub(r"\s+", " ", text)


def in_text(what, text, of):
    """Check that each remark is in the report's own section, once."""
    check_equal(f"{what}: sections", text.count(HEAD), 1)
    section = flat(text[text.index(HEAD):])
    for _, _, sentence in of:
        check_equal(f"{what}: {sentence}", section.count(flat(sentence)), 1)


def check_everywhere(t, command, kind):
    """Record one run. Check that all views have the remarks of the live run."""
    recording, report = t.path(), t.path()
    trace = t.trace(command, "--record", recording)
    found = remarks(trace.records)
    check_in("kinds", kind, [k for k, _, _ in found])
    for _, _, sentence in found:
        check_equal(f"on stderr: {sentence}", trace.result.err.count(sentence), 1)
    for form in ("--json", "--csv", None):
        t.sbt("report", "--detail", *([form] if form else []), "-o", report, recording, rc=0)
        if form == "--json":
            check_equal("remarks from the recording", remarks(Trace(t, report).records), found)
        elif form == "--csv":
            rows = [r for r in read_csv(report) if r["type"] == "remark"]
            check_equal("remarks as CSV", [(r["kind"], r["text"]) for r in rows], [(k, s) for k, _, s in found])
        else:
            in_text("report", read_text(report), found)
    return recording, found


def test_spinning(t):
    check_everywhere(t, SPUN, "spinning_code")


def test_spinning_by_flags(t):
    check_everywhere(t, FLAGS, "spinning_code")


def test_spinning_and_sleeping(t):
    """Threads that sleep in their work are not always busy. The report still says that such waits are not traced."""
    source, binary = t.path("spins.c"), t.path("spins")
    write_file(source, SPINS)
    subprocess.run(["gcc", "-O1", "-pthread", "-o", binary, source], check=True)
    trace = t.trace([binary])
    check("by spinning in their own code" in " ".join(text for _, _, text in remarks(trace.records))
          or "spinning_code" in [k for k, _, _ in remarks(trace.records)], remarks(trace.records))


def test_candidates(t):
    for command in (HANDED, STARTED):
        check_everywhere(t, command, "candidate")


def test_sums(t):
    """--aggregate leaves out barriers of other kinds."""
    trace = t.trace([workload("gen_gomp"), "--threads", "2", "--rounds", "5"], "--aggregate")
    check_in("kinds", "left_out", [k for k, _, _ in remarks(trace.records)])
    text = t.text(SPUN, "--aggregate")
    check_in("text", HEAD, text)
    check_in("text", "called no barrier", flat(text))


def test_not_looked_for(t):
    """Hand-written barriers and fork-join rounds are not found there. The report says that they were not searched for, and
    which option finds them."""
    joins, gen = [workload("gen_forkjoin"), "--threads", "3", "--rounds", "5"], [workload("gen"), "--threads", "2", "--rounds", "5"]
    for command in (joins, gen):
        for options, words in (((), None), (("--aggregate",), "without --aggregate they are"),
                               (("-a", "--comm", "none-such"), "with --discover they are"),
                               (("-a", "--comm", "none-such", "--aggregate"), "without --aggregate, and with --discover,"),
                               (("-a", "--comm", "none-such", "--discover"), None)):
            trace = t.attach(*options).stop() if "-a" in options else t.trace(command, *options)
            found = [s for k, _, s in remarks(trace.records) if k == "not_looked_for"]
            check_equal(f"{options}: remarks {found}", len(found), int(words is not None))
            check(words is None or (words in found[0] and "fork-join rounds" in found[0]), f"{options}: {found}")


def test_processes_made(t):
    """No estimate includes the cost of creating a process. The report says so if many are created."""
    forks = workload("forks")
    for command, options, words in (([forks, "150"], (), "created 150 processes, which executed 0 programs"),
                                    ([forks, "150", "/bin/true"], (), "created 150 processes, which executed 150 programs"),
                                    ([forks, "150"], ("--no-children",), None),
                                    ([forks, "5", "/bin/true"], (), None)):
        found = [s for k, _, s in remarks(t.trace(command, *options).records) if k == "processes_made"]
        check_equal(f"{command} {options}: remarks {found}", len(found), int(words is not None))
        check(words is None or words in found[0], f"{command} {options}: {found}")


def test_page(t):
    recording, found = check_everywhere(t, SPUN, "spinning_code")
    page = t.path("page.html")
    check_equal("report", t.sbt("report", "--detail", "--html", page, recording).rc, 0)
    text = read_text(page)
    for _, _, sentence in found:
        check_in("page", sentence, text)
    if not browser.available():
        return
    with browser.Browser() as b:
        b.open(page)
        shown = b.run("return document.body.innerText").replace("\u00a0", " ")
    for _, _, sentence in found:
        check_in("page as shown", sentence, shown)


def test_printed_once(t):
    """If the report goes to stderr, or is text on stdout, a remark is not printed separately as well."""
    for command, words in ((FLAGS, "called no barrier"), (HANDED, "a candidate only")):
        result = t.sbt("--detail", "--", *command, rc=0)
        check_equal("stderr", flat(result.err).count(words), 1)
        check_in("stderr", HEAD, result.err)
    path = t.path()
    result = t.sbt("--detail", "-o", path, "--", *SPUN)
    check_equal("stderr", result.err.count("called no barrier"), 1)
    check_in("report", HEAD, read_text(path))


def test_record_alone(t):
    """record prints no report. What was not traced is printed, and is in the recording."""
    path = t.path()
    result = t.sbt("record", "-o", path, "--", *SPUN)
    check_in("stderr", "called no barrier", result.err)
    result = t.sbt("report", "--detail", path)
    check_in("report", "called no barrier", flat(result.out))
    check_not_in("stderr", "called no barrier", result.err)


def spinning(t):
    process = t.start([SPUN[0], "counter", "2", "60000"])
    wait_for("threads", lambda: "pid" in process.out)
    return process


def test_attached(t):
    """Threads that still run when tracing ends are also recognised as spinning, also in an interim report."""
    process = spinning(t)
    tracer = t.attach("-p", str(process.pid), form=None)
    tracer.process.signal(10)  # SIGUSR1
    wait_for("an interim report", lambda: "LOST" in tracer.text())
    check_in("interim report", "called no barrier", flat(tracer.text()))
    text = tracer.stop()
    check_equal("remarks", flat(text).count("called no barrier"), 2)
    check(process.alive(), "the program has ended")


def test_busy_at_barriers(t):
    """Threads that are busy until they arrive at common barriers do not spin in code of their own."""
    gen = t.gen("--threads", "2", "--work", "fixed:0=2ms,1=2ms", "--forever", "--alarm", "60")
    tracer = t.attach("-p", str(gen.pid))
    tracer.process.signal(10)
    wait_for("an interim report", lambda: b'"interim"' in open(tracer.path, "rb").read())
    trace = tracer.stop()
    check_not_in("kinds", "spinning_code", [r["kind"] for r in trace.all("remark") if not r["interim"]])


def test_top(t):
    process = spinning(t)
    result = t.sbt("top", "-p", str(process.pid), "-d", "0.2", "-n", "2", rc=0)
    check_equal("stderr", result.err.count("called no barrier"), 1)
    check_not_in("stdout", "called no barrier", result.out)


def test_what_was_asked_for(t):
    """-w and -b name functions that do not exist: live, and with options for a recording."""
    gen = [workload("gen"), "--threads", "2", "--rounds", "5"]
    trace = t.trace(gen, "-w", "no_such_place", "-b", "no_such_function@all")
    found = [(k, s) for k, _, s in remarks(trace.records)]
    for kind, words in (("unmet", "no_such_place"), ("user_barrier", "no_such_function")):
        check(any(k == kind and words in s for k, s in found), f"no remark on {words}: {found}")
    path = t.path()
    check_equal("record", t.sbt("record", "-o", path, "--", *gen).rc, 0)
    result = t.sbt("report", "--detail", "-w", "no_such_place", path)
    check_in("report", "no_such_place", result.out)
    check_not_in("stderr", "no_such_place", result.err)
    result = t.sbt("report", "--detail", "--json", "-w", "no_such_place", path)
    check_equal("remarks", [r["kind"] for r in map(json.loads, result.out.splitlines()) if r["type"] == "remark"], ["unmet"])


def test_schema(t):
    """The schema lists each kind of remark that the programs can print."""
    schema = subprocess.run([SBT, "--json-schema"], capture_output=True, check=True, text=True).stdout
    for kind in ("spinning_code", "candidate", "left_out", "unmet", "user_barrier", "not_traced"):
        check_in("schema", kind, schema)
    t.path()
