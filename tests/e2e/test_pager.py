# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""The output on a terminal: its width, and the pager, which must not have the privileges of sbt-trace."""

import fcntl
import os
import pty
import struct
import termios

from harness import ROOT, SBT, check, check_equal, check_in, check_not_in, clean_environment, read_text, wait_for, workload

SHARED = True

TAPE = os.path.join(ROOT, "tests/views/recordings/lock")
# A pager that says that it ran, as which user, and with which rights.
SHOWS_RIGHTS = "echo paged by $(id -u) secure=$LESSSECURE $(grep CapEff /proc/self/status) $(grep NoNewPrivs /proc/self/status); cat"


def on_terminal(t, *args, columns=80, rc=0, term="xterm", **environment):
    """Run sbt-trace with a terminal as its standard output. Return what the terminal got."""
    master, slave = pty.openpty()
    t.at_end(os.close, master)
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.set_blocking(master, False)
    process = t.start([SBT, *args], stdout=slave, env=clean_environment(TERM=term, NO_COLOR="1", **environment))
    os.close(slave)
    told = b""

    def ended():
        nonlocal told
        # The process has ended before its last output is read.
        over = not process.alive()
        try:
            while True:
                told += os.read(master, 65536)
        except OSError:
            pass
        return over
    wait_for("it ends", ended, 30)
    check_equal("exit status", process.wait().rc, rc)
    return told.decode().replace("\r\n", "\n")


def test_pager_is_used(t):
    told = on_terminal(t, "report", TAPE, PAGER=SHOWS_RIGHTS)
    check(told.startswith("paged by 0 secure=1 "), told)
    check_in("output", "SBT report: late, 3 threads", told)
    check_in("SBT_PAGER comes first", "mine\nSBT report", on_terminal(t, "report", TAPE, PAGER=SHOWS_RIGHTS, SBT_PAGER="echo mine; cat"))
    for command in (["diff", TAPE, TAPE], ["series", TAPE, TAPE], ["predict", TAPE]):
        check_in(command[0], "paged by", on_terminal(t, *command, PAGER=SHOWS_RIGHTS))


def test_less_shows_the_text(t):
    """Less ends at once if the text fits, and leaves the text on the screen."""
    check_in("less", "SBT report: late, 3 threads", on_terminal(t, "report", TAPE, columns=120))


def test_pager_has_no_privileges(t):
    """Under sudo, the pager is the user's: it gets neither root nor capabilities."""
    told = on_terminal(t, "report", TAPE, PAGER=SHOWS_RIGHTS, SUDO_UID="65534", SUDO_GID="65534")
    check_in("the user", "paged by 65534 secure=1 CapEff: 0000000000000000 NoNewPrivs: 1", " ".join(told.split()))
    # There is no such user: no pager rather than root's.
    check_not_in("an unknown user", "paged", on_terminal(t, "report", TAPE, PAGER=SHOWS_RIGHTS, SUDO_UID="4000000000"))


def test_no_pager(t):
    for options, environment in (([], {"PAGER": ""}), ([], {"PAGER": "cat"}), ([], {"PAGER": SHOWS_RIGHTS, "SBT_PAGER": ""}),
                                 ([], {"PAGER": SHOWS_RIGHTS, "term": "dumb"}), (["--no-pager"], {"PAGER": SHOWS_RIGHTS}),
                                 ([], {"PAGER": "/no/such/pager"}), ([], {"PAGER": "no-such-pager -x"}),
                                 (["-o", "/dev/stdout"], {"PAGER": SHOWS_RIGHTS})):
        told = on_terminal(t, "report", *options, TAPE, **environment)
        check(told.startswith("SBT report: late, 3 threads"), f"{options} {environment}: {told}")
    check(t.sbt("report", TAPE, env=clean_environment(PAGER=SHOWS_RIGHTS)).out.startswith("SBT report"), "a pager without a terminal")


def test_user_leaves_early(t):
    """The pager ends before it has read all output. That is no error."""
    told = on_terminal(t, "report", "-W", "--detail", TAPE, PAGER="head -n 1")
    check_equal("lines", told.count("\n"), 1)


def test_status_of_the_command(t):
    """The command does its work and has its status, also if the user leaves early. A pager that cannot run is an error."""
    files, page = [t.path("a"), t.path("b")], t.path("page")
    for path, ms in zip(files, (1, 3)):
        t.sbt("record", "-q", "-o", path, "--", workload("gen"), "--threads", "2", "--rounds", "60",
              "--work", f"stair:{ms}ms:{ms}ms", "--work-by", "sleep", rc=0)
    on_terminal(t, "diff", "--json", "--fail-above", "5", "--html", page, *files, rc=3, PAGER="true")
    check_in("page", "</html>", read_text(page))
    on_terminal(t, "report", TAPE, rc=1, PAGER="(exec /etc/passwd 2>/dev/null)")


def test_never_beside_a_program(t):
    """The program may use the terminal until it ends."""
    gen = t.gen("--threads", "2", "--forever", "--work", "stair:1ms:1ms", "--work-by", "sleep", wait=True)
    gen.begin()
    told = on_terminal(t, "-p", str(gen.pid), "-d", "0.2", PAGER=SHOWS_RIGHTS)
    check_not_in("output", "paged", told)
    check(told.startswith("Tracing. Press ^C to end tracing and print the report.\nSBT report: gen, 2 threads"), told)
    check_not_in("output", "paged", t.sbt("--", workload("gen"), "--rounds", "5", env=clean_environment(PAGER=SHOWS_RIGHTS)).err)


def test_width_of_the_terminal(t):
    for columns in (80, 120, 200):
        told = on_terminal(t, "report", "--no-pager", TAPE, columns=columns)
        longest = max(len(line) for line in told.splitlines())
        check(columns - 25 <= longest <= columns, f"{columns} columns, longest line {longest}:\n{told}")
        check(len(told.splitlines()) <= 25, told)
    told = on_terminal(t, "report", "--no-pager", TAPE, columns=200, COLUMNS="90")
    check(max(len(line) for line in told.splitlines()) <= 90, told)
    told = on_terminal(t, "report", "--no-pager", TAPE, columns=120, COLUMNS="nonsense")
    check(90 < max(len(line) for line in told.splitlines()) <= 120, told)
