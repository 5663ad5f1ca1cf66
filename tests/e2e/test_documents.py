# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""The commands that the documents tell a reader to run, run as they stand there."""

import os
import re
import shlex

from harness import ROOT, check, check_in, check_not_in, read_text, workload

SHARED = True


def commands(path):
    """The lines of the code blocks of a document that show no output, without the comments behind them."""
    text = re.sub(r"<!-- output of: .*?-->\s*```.*?```", "", read_text(os.path.join(ROOT, path)), flags=re.S)
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, flags=re.S | re.M)
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
    check_in("report", "12 episodes at 1 barrier", report)
    check_in("report", "it waited for the lock `mutex` held by holder", report)
    check(os.path.getsize(os.path.join(folder, "late.html")) > 0, "no page was written")
    (compared,) = [r.out for line, r in results.items() if " diff " in line]
    check_not_in("diff", "not known", compared)
