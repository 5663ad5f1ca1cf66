# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""sbt-trace top: driven by keys in a terminal of tmux, where the screen can be read; and its output as lines. Others use the
machine too, so one of several refreshes must have the right figures."""

import os
import re
import shutil
import signal
import subprocess
import time

from harness import (SBT, Failure, Skip, check, check_between, check_equal, check_in, clean_environment, code_differs,
                     descendants, paired, read_proc, shared, wait_for, write_file)

# Three threads each lose 15 of 20 ms, at two call sites alternately. The fourth is always last.
LATE = ("--threads", "4", "--sites", "2", "--work", "fixed:0=5ms,1=5ms,2=5ms,3=20ms", "--work-by",
        "sleep", "--forever", "--alarm", "120")
UNITS = {"ns": 1e-6, "µs": 1e-3, "ms": 1, "s": 1000}


class Pane:
    """A terminal in which a command runs. The shell around it prints its exit status."""

    def __init__(self, test, command, width=80, height=24, term="screen", **env):
        if not shutil.which("tmux"):
            raise Skip("there is no tmux")
        self.test, self.name = test, test.path()
        self.before, self.after = test.path(), test.path()
        script = test.path()
        words = " ".join(f"{k}={v}" for k, v in env.items())
        write_file(script, f"ulimit -c 0\nstty -g >{self.before}\nenv TERM={term} {words} {command}\nstatus=$?\n"
                           f"stty -g >{self.after}\necho ended with $status.\nexec sleep 1000\n")
        self.tmux("new-session", "-d", "-x", str(width), "-y", str(height), f"sh {script}")
        test.at_end(self.close)
        self.shell = int(self.tmux("list-panes", "-F", "#{pane_pid}"))

    def tmux(self, *args):
        result = subprocess.run(
            ["tmux", "-u", "-S", self.name, "-f", "/dev/null", *args], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=20, check=False,
            env=clean_environment(LC_ALL="C.UTF-8", TERM="xterm"))
        if result.returncode:
            raise Failure(f"tmux {args[0]}: {result.stderr.decode()}")
        return result.stdout.decode("utf-8")

    def close(self):
        if os.path.exists(self.name):
            os.unlink(self.name)

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def until(self, what, condition, seconds=25):
        """Return what the condition returns, or the screen if that is True."""
        last = [""]

        def ask():
            last[0] = self.screen()
            found = condition(last[0])
            return last[0] if found is True else found
        try:
            return wait_for(what, ask, seconds, 0.05)
        except Failure as e:
            raise Failure(f"{e}; the screen:\n{last[0].rstrip()}") from None

    def shows(self, text, seconds=25):
        return self.until(f"{text!r} on the screen", lambda s: text in s, seconds)

    def flags(self):
        return self.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag} #{keypad_flag}").strip()

    def pid(self):
        """Return the pid of sbt-trace."""
        def find():
            return [p for p in descendants(self.shell) if read_proc(p, "comm").strip() == b"sbt-trace" and
                    os.path.exists(f"/proc/{p}/fdinfo") and b"top" in read_proc(p, "cmdline")]
        return min(wait_for("sbt-trace runs", find, 20))

    def ended(self, status):
        """Check that the terminal is as it was before."""
        self.shows(f"ended with {status}.")
        check_equal("alternate screen, cursor, keypad", self.flags(), "0 1 0")
        with open(self.before, encoding="utf-8") as f, open(self.after, encoding="utf-8") as g:
            check_equal("stty -g", g.read(), f.read())


def in_ms(text):
    """Convert "2.24 s" to a number."""
    if text == "0":
        return 0.0
    number, unit = text.split()
    return float(number.replace(",", "")) * UNITS[unit]


ROW = re.compile(r"^ *(?P<lost>0|[\d.]+ (?:ns|µs|ms|s)) +(?P<rate>[\d.,]+) +(?P<imb>\d+ %|-) (?P<last>.*?)  +"
                 r"(?P<cause>\S.*?)  +(?P<name>\S.*)$")


def rows(screen):
    found = []
    for line in screen.splitlines():
        m = ROW.match(line)
        if m:
            found.append(m.groupdict())
    return found


def row(screen, name):
    return next((r for r in rows(screen) if name in r["name"]), None)


def late_row(screen, name="site_0() gen.c"):
    """Return the row of a barrier of workload LATE, once its figures are right."""
    r = row(screen, name)
    if not r or "gen-3" not in r["last"] or r["imb"] == "-":
        return None
    rate = float(r["rate"].replace(",", ""))
    share = int(re.search(r"(\d+) %", r["last"]).group(1))
    # If others use the machine, the program sleeps for longer than requested, but not shorter.
    if not (8 < rate < 27 and share >= 70 and 40 <= int(r["imb"].split()[0]) <= 65):
        return None
    return r if 30 < in_ms(r["lost"]) / rate < 70 else None


def top(*options):
    return " ".join([SBT, "top", *[str(o) for o in options]])


def test_table(t):
    gen = t.gen(*LATE)
    pane = Pane(t, top("-p", gen.pid))
    screen = pane.until("the barrier's row", lambda s: s if late_row(s) else None)
    lines = screen.splitlines()
    check_in("title", f"sbt-trace top  process {gen.pid}", lines[0])
    check_in("answer", f"gen ({gen.pid}) loses ", lines[1])
    check(max(len(line) for line in lines) <= 80, "a line is too long")
    check_equal("barriers", len([r for r in rows(screen) if "site_" in r["name"]]), 2)
    check_in("cause", "sleep", late_row(screen)["cause"])
    # The row of the process has both barriers.
    both = pane.until("the process's row", lambda s: (row(s, f"gen ({gen.pid})"), late_row(s)) if late_row(s) else None)
    check_between("process against barrier", in_ms(both[0]["lost"]) / in_ms(both[1]["lost"]), 1.6, 2.4)

    # Its threads.
    pane.keys("Enter")
    screen = pane.until("threads", lambda s: "THREAD" in s and "gen-0" in s and "gen-3" in s)
    threads = [line for line in screen.splitlines() if " gen-" in line]
    check_equal("threads", len(threads), 4)
    check_in("first thread, the late one", "gen-3", threads[0])
    pane.keys("Escape")
    pane.until("the table again", lambda s: "BARRIER" in s)

    # Order and filter.
    pane.keys("n")
    screen = pane.until("by name", lambda s: "BARRIER▼" in s and "site_1" in s)
    check(screen.index("site_0") < screen.index("site_1"), "not in order")
    pane.keys("r")
    pane.until("by rate", lambda s: "RATE/s▼" in s)
    pane.keys("/", "SITE_1")
    pane.until("the filter", lambda s: "filter: SITE_1" in s and "site_0" not in s and row(s, "site_1"))
    pane.keys("Enter")
    pane.until("the filter stays", lambda s: "only: SITE_1" in s)
    pane.keys("Escape")
    pane.until("all again", lambda s: row(s, "site_0") and row(s, "site_1"))

    # Another size.
    pane.tmux("resize-window", "-x", "44", "-y", "9")
    screen = pane.until("44 columns", lambda s: "IMB BARRIER" in s and "site_0" in s)
    check_equal("lines", len(screen.splitlines()), 9)
    pane.tmux("resize-window", "-x", "120", "-y", "30")
    pane.until("120 columns", lambda s: "PHASE" in s and "site_0" in s)

    check_equal("while it draws", pane.flags()[:3], "1 0")
    pane.keys("q")
    pane.ended(0)
    check(gen.alive(), "gen has ended with it")
    wait_for("no byte of code differs", lambda: code_differs(gen.pid) == 0)


@paired
def test_signals(t):
    gen = t.gen(*LATE)
    for number, status in ((signal.SIGTERM, 0), (signal.SIGINT, 0), (signal.SIGSEGV, 139)):
        pane = Pane(t, top("-p", gen.pid))
        pane.shows("site_0")
        check_equal("alternate screen", pane.flags()[0], "1")
        os.kill(pane.pid(), number)
        pane.ended(status)
        check(gen.alive(), "gen has ended with it")
        wait_for("no byte of code differs", lambda: code_differs(gen.pid) == 0)


@shared
def test_two_signals(t):
    """The second signal ends top at once, in any state. It still restores the terminal."""
    gen = t.gen(*LATE)
    pane = Pane(t, top("-p", gen.pid))
    pane.shows("site_0")
    pid = pane.pid()
    os.kill(pid, signal.SIGSTOP)
    os.kill(pid, signal.SIGTERM)
    os.kill(pid, signal.SIGINT)
    os.kill(pid, signal.SIGCONT)
    pane.shows("ended with ")
    check_equal("alternate screen, cursor, keypad", pane.flags(), "0 1 0")
    with open(pane.before, encoding="utf-8") as f, open(pane.after, encoding="utf-8") as g:
        check_equal("stty -g", g.read(), f.read())


def test_long_wait(t):
    """Lost time is shown while it is being lost."""
    gen = t.gen("--threads", "3", "--work", "fixed:0=1ms,1=1ms,2=15s", "--work-by", "sleep", "--forever",
                "--alarm", "120", wait=True)
    pane = Pane(t, top("-p", gen.pid))
    pane.shows("No barrier has been crossed yet")
    gen.begin()
    pane.until("two wait", lambda s: "2 threads waiting for" in s.splitlines()[1] and any(
        r["cause"].startswith("2 wait") and "site_0" in r["name"] and r["rate"] == "0" and
        1700 < in_ms(r["lost"]) < 2300 for r in rows(s)))
    pane.keys("q")
    pane.ended(0)


@shared
def test_target_ends(t):
    gen = t.gen(*LATE)
    pane = Pane(t, top("-p", gen.pid))
    pane.shows("site_0")
    gen.signal(signal.SIGTERM)
    gen.wait()
    pane.ended(0)
    pane.shows(f"process {gen.pid} ended")


def test_whole_machine(t):
    """-a is the default. A program that starts later appears, and disappears again."""
    pane = Pane(t, top("-d", "0.5"))
    pane.shows("the whole machine")
    gen = t.gen(*LATE)
    pane.keys("/", str(gen.pid), "Enter")
    pane.until("its rows", lambda s: s if late_row(s) else None)
    gen.signal(signal.SIGTERM)
    gen.wait()
    pane.shows(f"gen ({gen.pid}), exited")
    pane.until("it goes", lambda s: f"gen ({gen.pid})" not in s)
    pane.keys("q")
    pane.ended(0)


@shared
def test_terminals(t):
    gen = t.gen(*LATE)
    for term in ("xterm", "vt100", "screen-256color"):
        pane = Pane(t, top("-p", gen.pid), term=term, NO_COLOR="1")
        pane.until(term, lambda s: "RATE/s" in s and row(s, "site_0"))
        pane.keys("j", "Enter")
        pane.until("threads", lambda s: "THREAD" in s)
        pane.keys("q")
        pane.ended(0) if term != "vt100" else pane.shows("ended with 0.")
    pane = Pane(t, top("-p", gen.pid, "-n", 1), term="dumb", width=120)
    screen = pane.shows("ended with 0.")
    check_in("screen", "a terminal of type dumb cannot be drawn on", screen)
    check_in("lines", "barrier", screen)
    pane = Pane(t, top("-p", gen.pid, "-n", 2), LC_ALL="C")
    pane.ended(0)


@shared
def test_command(t):
    """The command's output is shown after the screen has been closed."""
    gen = os.path.join(os.path.dirname(SBT), "workloads", "gen")
    pane = Pane(t, top("--", "sh", "-c", f"'echo first; {gen} --threads 4 --work fixed:0=1ms,3=9ms "
                       "--work-by sleep --duration 4; echo last >&2; exit 7'"))
    screen = pane.until("its barrier", lambda s: row(s, "site_0") and s)
    check("first" not in screen, "its output is in the picture")
    pane.ended(7)
    screen = pane.shows("last")
    check(re.search(r"first\n.*gen: rounds=\d+ threads=4 ok\n.*last", screen, re.S), screen)


@shared
def test_command_goes_on(t):
    pane = Pane(t, top("--", "sh", "-c", "'for i in 1 2 3 4 5; do echo line $i; sleep 1; done; exit 4'"))
    pane.shows("No barrier has been crossed yet")
    pane.keys("q")
    pane.shows("line 1")
    check_equal("alternate screen", pane.flags()[0], "0")
    pane.shows("line 5")
    pane.ended(4)


def check_lines(text, pid, looks, cause="sleep"):
    """Check the two barriers of workload LATE, from the second screen on."""
    blocks = [b for b in text.split("\n\n") if b.strip()]
    check_equal("blocks", len(blocks), looks)
    check("\x1b" not in text, "escapes in lines")
    barriers = [line for line in text.splitlines() if " barrier " in line]
    check(len(barriers) >= 2 * (looks - 1), text)
    for line in barriers:
        check(re.match(rf"\d\d:\d\d:\d\d barrier +{pid} +[\d.]+ m?s +[\d.]+ +\d+ %", line), line)
        check_in("line", "gen: site_", line)
    check(re.search(rf" gen-3 \d+ % +{cause}", text), text)


def test_lines(t):
    gen = t.gen(*LATE)
    result = t.sbt("top", "-p", str(gen.pid), "-d", "0.5", "-n", "4", env=clean_environment(LC_ALL="C.UTF-8"), rc=0)
    check_lines(result.out, gen.pid, 4)


@paired
def test_nothing(t):
    sleep = t.start(["sleep", "100"])
    result = t.sbt("top", "-p", str(sleep.pid), "-d", "0.2", "-n", "2", rc=0)
    check_equal("reported", result.out.count("No barrier has been crossed yet by process"), 2)
    pane = Pane(t, top("-p", sleep.pid))
    pane.shows("No barrier has been crossed yet by process")
    # top uses almost no CPU time then.
    pid = pane.pid()

    def cpu_ns():
        return int(read_proc(pid, "schedstat").split()[0])
    time.sleep(1)
    before, began = cpu_ns(), time.monotonic()
    time.sleep(3)
    share = (cpu_ns() - before) / 1e9 / (time.monotonic() - began)
    check(share < 0.05, f"{share * 100:.1f} % of a CPU with nothing to do")
    pane.keys("q")
    pane.ended(0)


@shared
def test_words(t):
    for args, said in ((["-d", "0"], "a number of seconds from 0.1"), (["-d", "x"], "a number of seconds"),
                       (["-n", "0"], "a number from 1"), (["--json"], "top has no option --json"),
                       (["-d"], "needs a value"), (["-p", "1x"], "a list of process numbers"),
                       (["-a", "-p", "1"], "not several")):
        result = t.sbt("top", *args, rc=2)
        check_in(f"{args}", said, result.err)
    result = t.sbt("top", "--help", rc=0)
    check_in("help", "Usage: sbt-trace top", result.out)
    result = t.sbt("top", "-p", "999999999", rc=1)
