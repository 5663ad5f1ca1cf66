# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""The name of what a thread waited for, if it is a file without a path: a Python program has threads that cross a pthread
barrier."""

import re
import sys

from harness import check, check_equal, check_in

PAIRED = True

ROUNDS = 20
PROGRAM = """
import ctypes, os, select, socket, sys, threading, time
libc = ctypes.CDLL(None)
bar = ctypes.create_string_buffer(64)
libc.pthread_barrier_init(bar, None, 2)
kind, rounds = sys.argv[1], int(sys.argv[2])
if kind == "eventfd":
    fd = os.eventfd(0)
    get, put = lambda: os.eventfd_read(fd), lambda: os.eventfd_write(fd, 1)
elif kind == "timerfd":
    fd = libc.timerfd_create(1, 0)
    spec = (ctypes.c_long * 4)(0, 0, 0, 5000000)
    get, put = lambda: libc.timerfd_settime(fd, 0, spec, None) or os.read(fd, 8), lambda: None
elif kind == "socket":
    a, b = socket.socketpair()
    get, put = lambda: a.recv(1), lambda: b.send(b"x")
elif kind == "terminal":
    m, s = os.openpty()
    get, put = lambda: os.read(s, 2), lambda: os.write(m, b"x" + bytes([10]))
else:
    r, w = os.pipe()
    put = lambda: os.write(w, b"x")
    if kind == "epoll":
        e = select.epoll()
        e.register(r, select.EPOLLIN)
        get = lambda: e.poll() and os.read(r, 1)
    elif kind == "poll":
        p = select.poll()
        p.register(r, select.POLLIN)
        get = lambda: p.poll() and os.read(r, 1)
    else:
        get = lambda: os.read(r, 1)
go = threading.Semaphore(0)
def late():
    for _ in range(rounds):
        go.release()
        get()
        libc.pthread_barrier_wait(bar)
def other():
    for _ in range(rounds):
        libc.pthread_barrier_wait(bar)
def feed():
    for _ in range(rounds):
        go.acquire()
        time.sleep(0.005)
        put()
threads = [threading.Thread(target=f) for f in (late, other, feed)]
for t in threads:
    t.start()
for t in threads:
    t.join()
"""


# A thread of the program ends these waits. It is named if the kernel reports it.
ENDED = r"(, (connected to|woken by) python\S* \(\d+\))?"


def waits_on(t, kind, words):
    trace = t.trace([sys.executable, "-c", PROGRAM, kind, str(ROUNDS)]).nothing_lost()
    barrier, = [b for b in trace.barriers() if b["episodes"] == ROUNDS]
    cause = barrier["cause"]
    check_equal(f"cause with {kind}", cause["dominant"], "i/o")
    check(re.fullmatch(words, cause["culprit"] or ""), f"{kind}: the culprit is {cause['culprit']!r}")
    check_in("sentence", f"waited for I/O on {cause['culprit']}", cause["text"])


def test_eventfd(t):
    waits_on(t, "eventfd", "an eventfd" + ENDED)


def test_timerfd(t):
    waits_on(t, "timerfd", "a timerfd")


def test_socket(t):
    waits_on(t, "socket", "a socket" + ENDED)


def test_pipe(t):
    waits_on(t, "pipe", "a pipe" + ENDED)


def test_terminal(t):
    waits_on(t, "terminal", r"the device \d+")


def test_epoll(t):
    """The call has no argument for the file that the thread waits for."""
    waits_on(t, "epoll", "an epoll instance" + ENDED)


def test_poll(t):
    waits_on(t, "poll", "one of several files" + ENDED)
