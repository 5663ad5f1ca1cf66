#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""What really happened, from the log of tests/workloads/gen, independently of sbt-trace.

    genlog.py LOG                    print the answers, as JSON
    genlog.py LOG --trace FILE       compare with sbt-trace's JSON Lines
    genlog.py --selftest [--gen BIN] test this file (and BIN's own log)

As a module: Log(path), its episodes(), objects() and threads(), and compare(log, load_trace(file)). All times are nanoseconds
of CLOCK_MONOTONIC. The terms are those of the model: barrier time, order of arrival, wait, idle, phase."""

import argparse
import bisect
import collections
import json
import os
import statistics
import subprocess
import sys
import tempfile

MARGIN_NS = 20_000  # above this difference, the last thread or the membership is certain
SLACK_NS = 1_000  # an arrival outside of all crossings of its thread belongs to one that is at most so near

Crossing = collections.namedtuple(
    "Crossing", "thread tid pid round object site arrive depart serial cpu_enter cpu_leave enter leave",
    defaults=(None, None, None, None))


class Episode:
    """One episode. Its crossings are in the order of arrival."""

    def __init__(self, obj, number, crossings, expected=None):
        self.object = obj
        self.round = number
        self.crossings = sorted(crossings, key=lambda c: (c.arrive, c.depart))
        self.expected = expected
        self.doubtful = False  # cyclic use: other members are possible
        self.near_next = False  # cyclic use: the next arrival followed the last one closely
        self.phase = None  # number, in the order of releases
        self.phase_ns = None  # unknown for the first episode of the last arriver

    @property
    def first(self):
        return self.crossings[0]

    @property
    def last(self):
        return self.crossings[-1]

    @property
    def release(self):
        return self.last.arrive

    @property
    def barrier_ns(self):
        return self.last.arrive - self.first.arrive

    @property
    def margin_ns(self):
        """Return how much later the last arriver was than the previous one, or None if there was one thread."""
        if len(self.crossings) < 2:
            return None
        return self.last.arrive - self.crossings[-2].arrive

    @property
    def complete(self):
        return self.expected is None or len(self.crossings) == self.expected

    @property
    def consistent(self):
        """Check that no thread departed before the last arrival, and that no thread is a member twice."""
        return (all(c.depart >= self.release for c in self.crossings) and
                len({c.tid for c in self.crossings}) == len(self.crossings))

    @property
    def sites(self):
        return sorted({c.site for c in self.crossings})

    def wait_ns(self):
        return {c.tid: self.release - c.arrive for c in self.crossings}

    def idle_ns(self):
        return {c.tid: c.depart - c.arrive for c in self.crossings}

    def as_dict(self):
        return {
            "object": self.object, "round": self.round, "phase": self.phase,
            "phase_ns": self.phase_ns, "release": self.release, "barrier_ns": self.barrier_ns,
            "last": self.last.tid, "margin_ns": self.margin_ns, "sites": self.sites,
            "order": [c.tid for c in self.crossings], "doubtful": self.doubtful,
        }


def group_by_rule(crossings):
    """Group crossings by the model's rule alone: a crossing belongs to the open episode if and only if it arrived before the
    earliest departure of that episode."""
    groups, leave = [], None
    for c in sorted(crossings, key=lambda c: (c.arrive, c.depart)):
        if leave is not None and c.arrive < leave:
            groups[-1].append(c)
            leave = min(leave, c.depart)
        else:
            groups.append([c])
            leave = c.depart
    return groups


class Log:
    def __init__(self, path=None, lines=None):
        self.options = {}
        self.addresses = {}  # (pid, object) -> address
        self.crossings = []
        self._episodes = None
        self.has_serial = True  # the barrier marks one thread of each episode
        if lines is None:
            with open(path, encoding="ascii") as f:
                self._read(f)
        else:
            self._read(lines)

    def _read(self, lines):
        for line in lines:
            words = line.split()
            if not words:
                continue
            if words[0] == "#":
                fields = dict(w.split("=", 1) for w in words[2:])
                if words[1] == "gen":
                    self.options = {k: int(v) for k, v in fields.items()}
                elif words[1] == "object":
                    self.addresses[int(fields["pid"]), int(fields["index"])] = \
                        int(fields["address"], 16)
                continue
            self.crossings.append(Crossing(*map(int, words)))

    def wrong_serial(self, episode):
        return self.has_serial and sum(c.serial for c in episode.crossings) != 1

    def leave_out(self, thread):
        """Remove the entries of a thread that is no member of the team. Each episode then has one thread fewer."""
        self.crossings = [c for c in self.crossings if c.thread != thread]
        self.options["count"] -= 1
        self.has_serial = any(c.serial for c in self.crossings)
        self._episodes = None

    @property
    def cyclic(self):
        return bool(self.options.get("cyclic"))

    def expected(self, number):
        """Return how many threads cross in this round."""
        count = self.options.get("count")
        every = self.options.get("recreate")
        if count and every and number // every % 2:
            return count - 1
        return count

    def _cyclic_episodes(self):
        """Group crossings by the order of arrival and the count. The order at the barrier itself may differ, so an episode is
        doubtful if its neighbours could be swapped, or if it contradicts itself."""
        count = self.options["count"]
        arrivals = sorted(self.crossings, key=lambda c: (c.arrive, c.depart))
        episodes = []
        for k in range(0, len(arrivals), count):
            e = Episode(0, k // count, arrivals[k:k + count], count)
            after = arrivals[k + count] if k + count < len(arrivals) else None
            e.near_next = after is not None and after.arrive - e.release < MARGIN_NS
            e.doubtful = e.near_next or not e.consistent or self.wrong_serial(e) or \
                bool(episodes and episodes[-1].near_next)
            episodes.append(e)
        return episodes

    def episodes(self):
        """Return all episodes, numbered in the order of their releases."""
        if self._episodes is not None:
            return self._episodes
        if self.cyclic:
            found = self._cyclic_episodes()
        else:
            rounds = collections.defaultdict(list)
            for c in self.crossings:
                rounds[c.object, c.round].append(c)
            found = [Episode(obj, number, members, self.expected(number))
                     for (obj, number), members in rounds.items()]
        found.sort(key=lambda e: e.release)
        previous = {}
        for number, e in enumerate(found):
            e.phase = number
            before = previous.get(e.last.tid)
            e.phase_ns = None if before is None else e.release - before
            for c in e.crossings:
                previous[c.tid] = e.release
        self._episodes = found
        return found

    def threads(self, episodes=None):
        """Return tid -> cumulative wait, idle and work, and how often the thread arrived last."""
        total = {}
        for c in self.crossings:
            total.setdefault(c.tid, {"thread": c.thread, "pid": c.pid, "crossings": 0,
                                     "wait_ns": 0, "idle_ns": 0, "last": 0})
        for e in self.episodes() if episodes is None else episodes:
            for c in e.crossings:
                t = total[c.tid]
                t["crossings"] += 1
                t["wait_ns"] += e.release - c.arrive
                t["idle_ns"] += c.depart - c.arrive
            total[e.last.tid]["last"] += 1
        if episodes is None:
            self._add_work(total)
        return {tid: t for tid, t in total.items() if t["crossings"]}

    def _add_work(self, total):
        """Add work_ns: the time from a thread's departure to its own next arrival, at any object."""
        by_tid = collections.defaultdict(list)
        for c in self.crossings:
            by_tid[c.tid].append(c)
        for tid, own in by_tid.items():
            own.sort(key=lambda c: c.arrive)
            total[tid]["work_ns"] = sum(b.arrive - a.depart for a, b in zip(own, own[1:]))

    def objects(self):
        """Return object -> episodes, barrier time and threads."""
        by_object = collections.defaultdict(list)
        for e in self.episodes():
            by_object[e.object].append(e)
        return {obj: {"episodes": len(some), "barrier_ns": spread([e.barrier_ns for e in some]),
                      "incomplete": sum(not e.complete for e in some),
                      "doubtful": sum(e.doubtful for e in some),
                      "addresses": {pid: a for (pid, i), a in self.addresses.items() if i == obj},
                      "threads": self.threads(some)}
                for obj, some in sorted(by_object.items())}

    def sites(self):
        """Return site, or sorted sites of a mixed episode -> number of episodes."""
        return dict(collections.Counter(",".join(map(str, e.sites)) for e in self.episodes()))

    def check(self):
        """Return a list of contradictions in the log. It is empty if gen and this file are right."""
        wrong = []
        for e in self.episodes():
            if not e.complete:
                wrong.append(f"object {e.object} round {e.round}: {len(e.crossings)} members of "
                             f"{e.expected}")
            if not e.consistent and not e.doubtful:
                wrong.append(f"object {e.object} round {e.round}: left before the last came")
            if self.wrong_serial(e) and not e.doubtful:
                wrong.append(f"object {e.object} round {e.round}: not one serial thread")
        if self.cyclic:
            return wrong
        for obj in {c.object for c in self.crossings}:
            own = [c for c in self.crossings if c.object == obj]
            for group in group_by_rule(own):
                if len({c.round for c in group}) != 1 or \
                        len(group) != self.expected(group[0].round):
                    wrong.append(f"object {obj} round {group[0].round}: the rule finds "
                                 f"{len(group)} members")
        return wrong

    def summary(self):
        return {"options": self.options, "episodes": len(self.episodes()),
                "crossings": len(self.crossings),
                "clear_last": sum((e.margin_ns or 0) >= MARGIN_NS for e in self.episodes()),
                "objects": self.objects(), "sites": self.sites(), "threads": self.threads(),
                "wrong": self.check()}


def spread(values):
    values = list(values)
    if not values:
        return None
    return {"sum": sum(values), "min": min(values), "mean": statistics.fmean(values),
            "median": statistics.median(values), "max": max(values),
            "stddev": statistics.pstdev(values)}


def load_trace(source):
    """Return JSON Lines as a dictionary from type to the list of objects. @source: a path or lines."""
    by_type = collections.defaultdict(list)
    if isinstance(source, (str, os.PathLike)):
        with open(source, encoding="utf-8") as f:
            source = f.readlines()
    for line in source:
        if line.strip():
            record = json.loads(line)
            by_type[record["type"]].append(record)
    return by_type


def latency_errors(log, trace):
    """Return by how much (ns) the release latencies of a trace differ from the log's: of the last arrivers, and of the other
    threads. Every crossing of the log must be in an episode of the trace."""
    releases = {(c.tid, c.round): (e.release, e.last.tid) for e in log.episodes() for c in e.crossings}
    own, members = collections.defaultdict(list), collections.defaultdict(list)
    for c in log.crossings:
        own[c.tid].append(c)
    for e in trace["episode"]:
        for m in e["threads"]:
            members[m["tid"]].append(m)
    last, others = [], []
    for tid, crossings in own.items():
        of = sorted(members[tid], key=lambda m: m["arrive_ns"])
        if len(of) != len(crossings):
            raise ValueError(f"thread {tid}: {len(crossings)} crossings, {len(of)} in the trace")
        for m, c in zip(of, sorted(crossings, key=lambda c: c.arrive)):
            if m["depart_ns"] is None:
                continue
            release, last_tid = releases[c.tid, c.round]
            error = m["depart_ns"] - m["arrive_ns"] - m["wait_ns"] - (c.depart - release)
            (last if last_tid == tid else others).append(error)
    return last, others


def compare(log, trace, margin_ns=MARGIN_NS, serial_last=False):
    """Compare a trace's episodes with the log's. A crossing of the trace corresponds to the crossing of the log in which, on
    the same thread, it arrived. Return counts and errors, for assertions:

      missing        log episodes of which the trace has no complete episode with the same members
      extra          complete trace episodes that match no log episode
      incomplete     trace episodes in another state than complete
      last_checked   matched episodes with a certain last arriver, and last_wrong: those with another one. @serial_last:
                     the log's serial thread is the one that the barrier itself counted last. It decides if a thread was
                     preempted between reading the clock and arriving
      impossible     arrivals of matched episodes after one of the members had left
      barrier_error_ns  |barrier time of the trace - of the log| over matched episodes
      wait_error     largest relative error of a thread's cumulative wait over matched episodes"""
    start = trace["session"][0]["clock_start_ns"]
    by_tid = collections.defaultdict(list)
    home = {}
    for e in log.episodes():
        for c in e.crossings:
            by_tid[c.tid].append((c.arrive, c.depart, id(e)))
            home[id(e)] = e
    for own in by_tid.values():
        own.sort()

    def episode_of(tid, arrive):
        own = by_tid.get(tid, [])
        i = bisect.bisect_right(own, (arrive, float("inf"), 0)) - 1
        if i >= 0 and arrive <= own[i][1]:
            return own[i][2]
        # The arrival is in no crossing: use the nearest, if it is very near.
        near = []
        if i >= 0:
            near.append((arrive - own[i][1], own[i][2]))
        if i + 1 < len(own):
            near.append((own[i + 1][0] - arrive, own[i + 1][2]))
        distance, episode = min(near, default=(SLACK_NS + 1, None))
        return episode if distance <= SLACK_NS else None

    pids = {c.pid for c in log.crossings}
    matched, errors, wait_log, wait_trace = set(), [], collections.Counter(), collections.Counter()
    extra = incomplete = last_checked = last_wrong = strangers = impossible = 0
    for t in trace["episode"]:
        members = t["threads"]
        if t.get("pid") not in pids and not any(m["tid"] in by_tid for m in members):
            strangers += 1
            continue
        if t["state"] != "complete":
            incomplete += 1
            continue
        homes = {episode_of(m["tid"], m["arrive_ns"] + start) for m in members}
        e = home.get(homes.pop()) if len(homes) == 1 else None
        if e is None or id(e) in matched or \
                {m["tid"] for m in members} != {c.tid for c in e.crossings}:
            extra += 1
            continue
        matched.add(id(e))
        if e.doubtful:
            continue
        arrivals = sorted((m["arrive_ns"], m["tid"]) for m in members)
        first_left = min(c.depart for c in e.crossings)
        impossible += sum(ns + start > first_left + SLACK_NS for ns, _ in arrivals)
        errors.append(abs(arrivals[-1][0] - arrivals[0][0] - e.barrier_ns))
        if e.margin_ns is None or e.margin_ns >= margin_ns:
            last_checked += 1
            last_wrong += arrivals[-1][1] not in \
                {e.last.tid, *(c.tid for c in e.crossings if serial_last and c.serial)}
        for tid, ns in e.wait_ns().items():
            wait_log[tid] += ns
        for arrive, tid in arrivals:
            wait_trace[tid] += arrivals[-1][0] - arrive
    wait_error = {tid: abs(wait_trace[tid] - ns) / ns for tid, ns in wait_log.items() if ns}
    return {"log_episodes": len(log.episodes()), "trace_episodes": len(trace["episode"]),
            "matched": len(matched),
            "missing": sum(id(e) not in matched and not e.doubtful for e in log.episodes()),
            "extra": extra, "incomplete": incomplete, "strangers": strangers,
            "last_checked": last_checked, "last_wrong": last_wrong, "impossible": impossible,
            "barrier_error_ns": spread(errors),
            "wait_error": max(wait_error.values(), default=None),
            "wait_error_by_tid": wait_error}


# --- self-test --------------------------------------------------------------------------------------

def log_lines(crossings, **options):
    head = "# gen " + " ".join(f"{k}={v}" for k, v in options.items())
    return [head, "# object pid=1 index=0 address=0x1000"] + \
        [" ".join(map(str, c)) for c in crossings]


def trace_of(log, start=0, skew=0):
    """Return a perfect trace of a log, except for @skew added to every arrival."""
    lines = [json.dumps({"type": "session", "clock_start_ns": start})]
    for e in log.episodes():
        lines.append(json.dumps({
            "type": "episode", "pid": e.first.pid, "state": "complete", "threads": [
                {"tid": c.tid, "arrive_ns": c.arrive + skew - start} for c in e.crossings]}))
    return load_trace(lines)


def check_equal(what, got, expected):
    if got != expected:
        raise SystemExit(f"genlog.py: {what}: {got!r}, expected {expected!r}")


def selftest(gen=None):
    us = 1000
    # Two rounds of three threads. Thread 12 arrives at round 1 before thread 10 has left round 0.
    crossings = [
        (0, 10, 1, 0, 0, 0, 100 * us, 190 * us, 0),
        (1, 11, 1, 0, 0, 0, 130 * us, 151 * us, 0),
        (2, 12, 1, 0, 0, 1, 150 * us, 152 * us, 1),
        (2, 12, 1, 1, 0, 0, 180 * us, 301 * us, 0),
        (0, 10, 1, 1, 0, 0, 250 * us, 305 * us, 0),
        (1, 11, 1, 1, 0, 0, 300 * us, 302 * us, 1),
    ]
    log = Log(lines=log_lines(crossings, threads=3, count=3, cyclic=0, recreate=0))
    first, second = log.episodes()
    check_equal("barrier time", (first.barrier_ns, second.barrier_ns), (50 * us, 120 * us))
    check_equal("last", (first.last.tid, second.last.tid), (12, 11))
    check_equal("margin", (first.margin_ns, second.margin_ns), (20 * us, 50 * us))
    check_equal("phase", (second.phase, second.phase_ns), (1, 150 * us))
    check_equal("sites", log.sites(), {"0,1": 1, "0": 1})
    threads = log.threads()
    check_equal("wait", {t: v["wait_ns"] // us for t, v in threads.items()},
                {10: 100, 11: 20, 12: 120})
    check_equal("idle", {t: v["idle_ns"] // us for t, v in threads.items()},
                {10: 145, 11: 23, 12: 123})
    check_equal("work", {t: v["work_ns"] // us for t, v in threads.items()},
                {10: 60, 11: 149, 12: 28})
    check_equal("last", {t: v["last"] for t, v in threads.items()}, {10: 0, 11: 1, 12: 1})
    check_equal("objects", log.objects()[0]["addresses"], {1: 0x1000})
    # The rule alone finds the same members.
    check_equal("wrong", log.check(), [])

    # A trace of the log itself has no differences. A common skew is no error, either.
    result = compare(log, trace_of(log, start=77, skew=1 * us))
    check_equal("compare", [result[k] for k in ("matched", "missing", "extra", "last_checked",
                                                "last_wrong", "wait_error")], [2, 0, 0, 2, 0, 0])
    # A trace that swaps two members' arrivals, drops an episode, and invents another.
    bad = trace_of(log)
    one, two = bad["episode"]
    one["threads"][1]["arrive_ns"], one["threads"][2]["arrive_ns"] = 150 * us, 130 * us + 20 * us - 1
    two["threads"].pop()
    bad["episode"].append({"pid": 1, "state": "complete",
                           "threads": [{"tid": 10, "arrive_ns": 999 * us}]})
    bad["episode"].append({"pid": 9, "state": "complete", "threads": [{"tid": 9, "arrive_ns": 1}]})
    bad["episode"].append({"pid": 1, "state": "incomplete", "threads": []})
    result = compare(log, bad)
    check_equal("bad trace", [result[k] for k in ("matched", "missing", "extra", "incomplete",
                                                  "strangers", "last_checked", "last_wrong")],
                [1, 1, 2, 1, 1, 1, 1])

    # Cyclic use: three threads on a barrier that counts two.
    cyclic = [
        (0, 10, 1, 0, 0, 0, 100 * us, 201 * us, 0),
        (1, 11, 1, 0, 0, 0, 200 * us, 202 * us, 1),
        (2, 12, 1, 0, 0, 0, 240 * us, 301 * us, 0),
        (0, 10, 1, 1, 0, 0, 300 * us, 301 * us, 1),
        (1, 11, 1, 1, 0, 0, 305 * us, 402 * us, 0),
        (2, 12, 1, 1, 0, 0, 400 * us, 403 * us, 1),
    ]
    log = Log(lines=log_lines(cyclic, threads=3, count=2, cyclic=1, recreate=0))
    check_equal("cyclic", [([c.tid for c in e.crossings], e.doubtful) for e in log.episodes()],
                [([10, 11], False), ([12, 10], True), ([11, 12], True)])
    check_equal("wrong", log.check(), [])

    # Wrong logs must be detected: a missing member, and a member that left before the last arrival.
    broken = Log(lines=log_lines(crossings[:2], threads=3, count=3, cyclic=0, recreate=0))
    check_equal("missing member", len(broken.check()) >= 1, True)
    early = crossings[:2] + [(2, 12, 1, 0, 0, 1, 195 * us, 196 * us, 1)]
    broken = Log(lines=log_lines(early, threads=3, count=3, cyclic=0, recreate=0))
    check_equal("early leaver", any("left before" in w for w in broken.check()), True)

    if gen:
        selftest_gen(gen)
    print("genlog.py: ok")


def selftest_gen(gen):
    runs = [
        ("--threads 4 --rounds 300 --work stair:20us:60us", 300),
        ("--threads 2 --rounds 500", 500),
        ("--threads 8 --rounds 300 --work rotate:10us:200us --work-by sleep --barriers 3 "
         "--sites 4", 300),
        ("--threads 4 --rounds 200 --mixed --sites 3 --work random:1us:100us:5", 200),
        ("--threads 4 --rounds 300 --recreate 7", 300),
        ("--threads 5 --rounds 200 --count 2 --work random:1us:300us:1 --work-by sleep", 500),
        ("--threads 2 --rounds 200 --processes 3", 200),
        ("--threads 2 --rounds 200 --processes 3 --shm SHM", 200),
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log")
        for arguments, episodes in runs:
            arguments = arguments.replace("SHM", os.path.join(folder, "shm"))
            subprocess.run([gen, "--log", path] + arguments.split(), check=True,
                           stdout=subprocess.DEVNULL)
            log = Log(path)
            check_equal(arguments, log.check(), [])
            check_equal(arguments, len(log.episodes()), episodes)
            result = compare(log, trace_of(log))
            check_equal(arguments, (result["matched"], result["missing"], result["extra"]),
                        (episodes, 0, 0))
        log = Log(path)
        addresses = [a for (_, i), a in log.addresses.items() if i == 0]
        check_equal("--shm addresses", len(set(addresses)), 3)
        subprocess.run([gen, "--log", path, "--threads", "4", "--rounds", "50", "--work-by",
                        "sleep", "--work", "fixed:0=1ms,1=200us,2=400us,3=600us"], check=True,
                       stdout=subprocess.DEVNULL)
        last = collections.Counter(e.last.thread for e in Log(path).episodes())
        check_equal("last arriver", last.most_common(1)[0][0], 0)


def main():
    parser = argparse.ArgumentParser(description="Reads the log of the workload gen.")
    parser.add_argument("log", nargs="?")
    parser.add_argument("--trace", help="sbt-trace's JSON Lines of the same run")
    parser.add_argument("--selftest", action="store_true")
    parser.add_argument("--gen", help="with --selftest: also test this gen's log")
    arguments = parser.parse_args()
    if arguments.selftest:
        selftest(arguments.gen)
        return
    if not arguments.log:
        parser.error("a log is needed")
    log = Log(arguments.log)
    if arguments.trace:
        result = compare(log, load_trace(arguments.trace))
    else:
        result = log.summary()
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
