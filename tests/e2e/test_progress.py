# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Long operations show their progress on a terminal, and erase it afterwards. A preloaded library makes them long."""

import fcntl
import os
import pty
import re
import struct
import termios
import time

from harness import (SBT, check, check_equal, check_in, check_not_in, clean_environment, wait_for, workload)

PAIRED = True

ERASE = "\r\x1b[K"


class Terminal:
    """A pseudo-terminal as the stderr of a process, with its output so far."""

    def __init__(self, t, args, columns=80, **environment):
        self.master, slave = pty.openpty()
        t.at_end(os.close, self.master)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.set_blocking(self.master, False)
        self.told = ""
        self.process = t.start(["sh", "-c", 'exec 2>"$0"; exec "$@"',
                                os.ttyname(slave), *args],
                               env=clean_environment(TERM="xterm", **environment))
        self.slave = slave
        t.at_end(os.close, slave)

    def read(self):
        try:
            while True:
                part = os.read(self.master, 65536)
                if not part:
                    break
                self.told += part.decode("utf-8", "replace")
        except OSError:
            pass
        return self.told

    def end(self, rc=0):
        wait_for("it ends", lambda: (self.read(), not self.process.alive())[1], 60)
        check_equal("exit status", self.process.wait().rc, rc)
        return self.read()


def screen(told):
    """Return what is left of the output on the screen."""
    rows = [""]
    for part in re.findall(r"\r\n|\r|\n|\x1b\[K|[^\r\n\x1b]+|\x1b", told):
        if part in ("\r\n", "\n"):
            rows.append("")
            at = 0
        elif part == "\r":
            at = 0
        elif part == "\x1b[K":
            rows[-1] = rows[-1][:at]
        else:
            at = locals().get("at", 0)
            rows[-1] = rows[-1][:at] + part + rows[-1][at + len(part):]
            at += len(part)
    return rows


def slowly(**environment):
    return {"LD_PRELOAD": workload("slow_call.so"), "SLOW_MS": "2500", **environment}


NAMES = {"SLOW_POLL": "700"}  # delay of each question


def check_erased(told, what):
    """Check that the progress was drawn on one line more than once, and erased."""
    drawn = [m.end() for m in re.finditer(re.escape(what), told)]
    check(len(drawn) >= 2, f"drawn {len(drawn)} times: {told!r}")
    check_in("what came after it", ERASE, told[drawn[-1]:])
    check_not_in("screen", "...", "\n".join(screen(told)))
    check(not re.search(r"\.\.\. \d+ s[^\n]*\n", told), f"a line of it stays: {told!r}")


def test_reading(t):
    """A file is read slowly at the start. The rest of the output is unchanged."""
    plain = t.sbt("list", workload("gen")).out
    terminal = Terminal(t, [SBT, "list", workload("gen")], **slowly(SLOW_FILE="gen"))
    told = terminal.end()
    check_erased(told, "sbt-trace: reading gen ... ")
    check_in("seconds", "reading gen ... 2 s", told)
    check_equal("what it lists", terminal.process.out, plain)


def test_names(t):
    """Names are read slowly at the end of a trace."""
    terminal = Terminal(t, [SBT, "-o", t.path("report"), "--", workload("early")], **slowly(**NAMES))
    check_erased(terminal.end(), "sbt-trace: looking up names ... ")


def test_narrow(t):
    """The progress is cut to the terminal's width. Otherwise it would take more than one line."""
    told = Terminal(t, [SBT, "list", workload("gen")], columns=20, **slowly(SLOW_FILE="gen")).end()
    drawn = re.findall(r"\r(sbt-trace: [^\r\x1b]*)", told)
    check(drawn, f"{told!r}")
    check_equal("width", {len(d) for d in drawn}, {19})


def test_quiet(t):
    """No progress is shown without a terminal, with -q, on a terminal that cannot erase lines, and for quick operations."""
    result = t.run([SBT, "list", workload("gen")], env=clean_environment(TERM="xterm", **slowly(SLOW_FILE="gen")))
    check_equal("stderr that is a file", result.err, "")
    start = time.monotonic()
    told = Terminal(t, [SBT, "list", workload("gen")]).end()
    check(not told or time.monotonic() > start + 0.5, f"it was quick: {told!r}")
    dumb = Terminal(t, ["env", "TERM=dumb", SBT, "list", workload("gen")], **slowly(SLOW_FILE="gen"))
    check_equal("dumb", dumb.end(), "")
    told = Terminal(t, [SBT, "-q", "-o", t.path("report"), "--", workload("early")], **slowly(**NAMES)).end()
    check_not_in("with -q", "...", told)
