# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Views of a run: top on a slow terminal, the same hints and quantities in every view, and words that are not cut."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time

from harness import SBT, check, check_equal, clean_environment, paired, read_proc, wait_for


class Terminal:
    """A pseudo-terminal in which top runs. It shows nothing while its reader pauses."""

    def __init__(self, t, *args, width=200, height=50):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.slave = slave  # kept open: the terminal's modes are read when top has ended
        self.before = termios.tcgetattr(slave)
        self.text, self.reading = b"", threading.Event()
        self.reading.set()
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen([SBT, "top", *args], stdin=slave, stdout=slave, stderr=slave,
                                        start_new_session=True, env=clean_environment(LC_ALL="C.UTF-8", TERM="xterm"))
        t.at_end(self.close)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        while True:
            self.reading.wait()
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            if not data:
                return
            self.text += data

    def close(self):
        self.reading.set()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.slave)
        os.close(self.master)

    def shows(self, text, since=0, seconds=20):
        wait_for(f"{text!r} on the terminal", lambda: text.encode() in self.text[since:], seconds, 0.02)

    def key(self, key):
        os.write(self.master, key.encode())

    def ended(self, seconds):
        """Check that top ended successfully, and that the terminal is as it was."""
        check_equal("exit status", self.process.wait(seconds), 0)
        check_equal("modes of the terminal", termios.tcgetattr(self.slave), self.before)
        wait_for("the screen from before", lambda: b"\x1b[?1049l" in self.text, 5, 0.02)

    def lost(self):
        """Return the largest reported number of lost records."""
        return max([0, *[int(n) for n in re.findall(rb"(\d+) crossings were lost", self.text)]])


@paired
def test_stalled_terminal(t):
    """While the terminal shows nothing, records are still read: after ^S, and while its reader does not read."""
    gen = t.gen("--threads", "2", "--work", "fixed:0=30us,1=30us", "--forever", "--alarm", "60")
    for stall in ("flow", "reader"):
        term = Terminal(t, "-p", str(gen.pid), "-d", "0.1")
        term.shows("site_0")
        at = len(term.text)
        if stall == "flow":
            term.key("\x13")
        else:
            term.reading.clear()
            # Draw frames until there is no room for more.
            for key in "nlrin" * 40:
                term.key(key)
                time.sleep(0.005)
        cpu = int(read_proc(term.process.pid, "schedstat").split()[0])
        time.sleep(2.5)
        spent = int(read_proc(term.process.pid, "schedstat").split()[0]) - cpu
        check(spent > 15e6, f"{stall}: nothing was read: {spent / 1e6:.1f} ms of CPU time in 2.5 s")
        if stall == "flow":
            term.key("\x11")
        term.reading.set()
        wait_for("it draws again", lambda t=term, n=at: len(t.text) > n + 2000, 10, 0.02)
        time.sleep(0.5)
        check_equal(f"{stall}: lost", term.lost(), 0)
        term.key("q")
        term.ended(10)
    check(gen.alive(), "gen has ended with it")


@paired
def test_quit_while_stalled(t):
    """Quitting does not wait for a terminal that shows nothing. The terminal is restored all the same."""
    gen = t.gen("--threads", "2", "--work", "fixed:0=1ms,1=2ms", "--work-by", "sleep", "--forever", "--alarm", "60")
    for how in ("q", "signal"):
        term = Terminal(t, "-p", str(gen.pid), "-d", "0.1")
        term.shows("site_0")
        term.key("\x13")
        time.sleep(0.5)
        if how == "q":
            # With IXANY any key would resume the output, as ^Q does. It is off.
            term.key("q")
        else:
            term.process.send_signal(signal.SIGTERM)
        term.ended(5)
    check(gen.alive(), "gen has ended with it")


@paired
def test_size_and_pause(t):
    """After a change of size, and after ^Z and fg, the screen is drawn again at once."""
    gen = t.gen("--threads", "2", "--work", "fixed:0=1ms,1=2ms", "--work-by", "sleep", "--forever", "--alarm", "60")
    term = Terminal(t, "-p", str(gen.pid), "-d", "0.2", width=80)
    term.shows("site_0")
    fcntl.ioctl(term.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 44, 0, 0))
    at = len(term.text)
    term.process.send_signal(signal.SIGWINCH)
    term.shows("IMB BARRIER", at)
    at = len(term.text)
    term.process.send_signal(signal.SIGTSTP)
    wait_for("it stops", lambda: read_proc(term.process.pid, "stat").rsplit(b")", 1)[1].split()[0] == b"T", 5)
    term.shows("\x1b[?1049l", at)
    check_equal("modes while it is stopped", termios.tcgetattr(term.slave), term.before)
    at = len(term.text)
    term.process.send_signal(signal.SIGCONT)
    term.shows("site_0", at)
    check("\x1b[?1049h".encode() in term.text[at:], "not on the other screen")
    term.key("q")
    term.ended(10)
