# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""The commands that the documents ask a reader to run, run as they stand there, and output that varies from run to run."""

import os
import re
import shlex

from harness import ROOT, SBT, check, check_all_in, check_in, check_not_in, read_text, wait_for, workload

SHARED = True


def commands(path):
    """The lines of the code blocks of a document that are commands, without the comments behind them."""
    blocks = re.findall(r"^```sh\n(.*?)^```", read_text(os.path.join(ROOT, path)), flags=re.S | re.M)
    return [line.split("  #")[0].strip() for block in blocks for line in block.splitlines() if line.strip()]


def run_there(t, folder, line):
    words = shlex.split(line)
    return t.run(words[1:] if words[0] == "sudo" else words, rc=0, cwd=folder)


def test_tutorial(t):
    """Each command but those of make succeeds, and the reports are about the run that the tutorial describes."""
    workload("late")
    folder = t.path("tutorial")
    os.mkdir(folder)
    os.symlink(os.path.join(ROOT, "build"), os.path.join(folder, "build"))
    lines = [line for line in commands("docs/tutorial.md") if not line.startswith("make ")]
    results = {line: run_there(t, folder, line) for line in lines}
    check(len(lines) >= 5, f"too few commands in the tutorial: {lines}")
    (report,) = [r.out for line, r in results.items() if line == "build/sbt-trace report late.sbt"]
    check_all_in("report", ("arrives last in 12 of 12 episodes", "it waited for the lock `mutex` held by holder"), " ".join(report.split()))
    check(os.path.getsize(os.path.join(folder, "late.html")) > 0, "no page was written")
    (compared,) = [r.out for line, r in results.items() if " diff " in line]
    check_not_in("diff", "not known", compared)


def comparable(text):
    """The text without numbers, line breaks, and what depends on the kernel and on debug information of libc."""
    text = re.sub(r"\d+(, \d+)*", "N", " ".join(text.split()))
    return re.sub(r"kernel: \w+", "kernel", re.sub(r"(at ___pthread_mutex_lock) \S+", r"\1", text))


def test_hang_guide(t):
    """The deadlock in the guide is reported in the words that the guide shows."""
    (shown,) = re.findall(r"<!-- output like: sbt-trace hang .*?-->\n```\n\$ .*?\n(.*?)\n\.\.\.\n```",
                          read_text(os.path.join(ROOT, "docs/guides/hang.md")), flags=re.S)
    hung = t.start([workload("hung"), "--kind", "holder"])

    def output():
        text = t.run([SBT, "hang", "-p", str(hung.pid)], rc=0).out
        return text if "deadlock" in text else None

    check_in("output of hang", comparable(shown), comparable(wait_for("a deadlock", output)))
