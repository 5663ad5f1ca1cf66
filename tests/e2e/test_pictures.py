# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""Pictures: the trace for the viewers of Chrome and Perfetto is checked against the rules for such files, and the HTML report
in a real Chromium. A constructed run (tests/pictures/made.c) has figures that can be worked out. The figures of a traced run
must equal those of the JSON output of the same capture."""

import collections
import json
import os
import re
import subprocess

import browser
from harness import (ROOT, Skip, check, check_between, check_equal, check_in, check_not_in, read_bytes, read_text,
                     wait_for, workload, write_file)

SHARED = True

MADE = os.path.join(ROOT, "build", "pictures", "made")
CHART = os.path.join(ROOT, "build", "html", "chart.js")


def made(t, episodes=400, threads=4, page=True, trace=False, hostile=False, limit=None):
    """Make the files of a constructed run: two barriers alternate, and thread i works 1000 (i + 1) ns before the first and 500
    ns before the second."""
    if page and not os.path.getsize(CHART):
        raise Skip("built without the charting library")
    paths = [t.path("page.html") if page else "-", t.path("trace.json") if trace else "-"]
    result = t.run([MADE, str(episodes), str(threads), *paths, *(["hostile"] if hostile else [str(limit)] if limit else [])])
    check_equal("made", (result.rc, result.err), (0, ""))
    return paths


# --- Chrome's trace -------------------------------------------------------------------------------------

def nanoseconds(text):
    """Convert microseconds with three decimals exactly."""
    match = re.fullmatch(r"(-?)(\d+)\.(\d{3})", text)
    check(match, f"{text!r} are no microseconds with three digits")
    return int(match[1] + match[2] + match[3])


class ChromeTrace:
    """Chrome's trace, parsed strictly. The constructor checks what holds for every trace."""

    def __init__(self, path):
        text = read_text(path)
        # Only ts is in microseconds with three decimals. It is compared exactly.
        self.data = json.loads(re.sub(r'"ts":(-?[0-9.]+)', lambda m: f'"ts":{nanoseconds(m[1])}', text))
        self.events = self.data["traceEvents"]
        for event in self.events:
            check(event["ph"] in "BECMsfbe", f"an event of an unexpected kind: {event}")
            check(isinstance(event["pid"], int) and isinstance(event.get("tid", 0 if event["ph"] == "C" else None), int),
                  f"no track: {event}")
        self.check_slices()
        self.check_arrows()
        self.check_counters()

    def kind(self, ph):
        return [e for e in self.events if e["ph"] == ph]

    def check_slices(self):
        """Check that begins and ends form pairs, in the order of the file, which readers keep for equal times. No other slice
        begins inside a slice."""
        self.tracks, begun = collections.defaultdict(list), {}
        for event in self.events:
            track = event["pid"], event.get("tid")
            if event["ph"] == "B":
                check(track not in begun, f"a slice in a slice: {event} {begun.get(track)}")
                check(not self.tracks[track] or event["ts"] >= self.tracks[track][-1]["ts"] + self.tracks[track][-1]["dur"],
                      f"slices overlap: {self.tracks[track][-1:]} {event}")
                begun[track] = event
            elif event["ph"] == "E":
                check(track in begun and event["ts"] >= begun[track]["ts"], f"an end without a begin: {event}")
                check_equal("what an end has", set(event), {"ph", "pid", "tid", "ts"})
                slice_of = begun.pop(track)
                slice_of.update(ph="X", dur=event["ts"] - slice_of["ts"])
                self.tracks[track].append(slice_of)
        check_equal("slices without an end", begun, {})

    def check_arrows(self):
        starts, ends = ({e["id"]: e for e in self.kind(ph)} for ph in "sf")
        check_equal("arrows with one begin each", len(starts), len(self.kind("s")))
        check_equal("arrows with one end each", len(ends), len(self.kind("f")))
        check_equal("begins and ends", set(starts), set(ends))
        begun = {(e["pid"], e["tid"], e["ts"]): e for e in self.kind("X") if e["dur"]}
        for key, start in starts.items():
            end = ends[key]
            check(end["ts"] >= start["ts"], f"an arrow back in time: {start} {end}")
            for event in (start, end):
                at = begun.get((event["pid"], event["tid"], event["ts"]))
                check(at and at["cat"] == "leave", f"an arrow that hangs in the air: {event}")

    def check_counters(self):
        last = {}
        for event in self.kind("C"):
            key = event["pid"], event["name"]
            check(event["ts"] >= last.get(key, 0), f"a counter goes back in time: {event}")
            last[key] = event["ts"]
            check(all(v >= 0 for v in event["args"].values()), f"a counter below zero: {event}")
            if event["name"].endswith("phase, %"):
                check(sum(event["args"].values()) < 100.1, f"more than all: {event}")

    def total(self, cat, tid):
        return sum(e["dur"] for e in self.kind("X") if e["cat"] == cat and e["tid"] == tid and
                   e["name"] != "after the last barrier")


def test_chrome_of_a_made_run(t):
    trace = ChromeTrace(made(t, 400, 4, page=False, trace=True)[1])
    check_equal("arrows", len(trace.kind("s")), 400 * 3)
    for i in range(4):
        tid = 4242 + i
        check_equal(f"work of {i}", trace.total("work", tid), 200 * (1000 * (i + 1) + 500))
        check_equal(f"wait of {i}", trace.total("wait", tid), 200 * 1000 * (3 - i))
        check_equal(f"leaving of {i}", trace.total("leave", tid), 400 * 100)
    names = {(e["name"], e["tid"]): e["args"]["name"] for e in trace.kind("M") if "name" in e["args"]}
    check_equal("process", names["process_name", 4242], "made")
    check_equal("thread", names["thread_name", 4243], "thread 1 worker")
    first = next(e for e in trace.tracks[4242, 4242] if e["cat"] == "work")
    check_equal("name", first["name"], "work to first() a.c:11")
    check_equal("arguments", first["args"], {"phase": 0, "oncpu_ns": 900, "runq_ns": 100, "cycles": 3000})


def test_chrome_of_a_long_run(t):
    """Beyond the size that viewers open, the trace is thinned: first no counters, then one slice for many crossings. It says
    so, with the sums."""
    path = made(t, 60000, 4, page=False, trace=True, limit=4 << 20)[1]
    check_between("bytes", os.path.getsize(path), 12 << 20, 16 << 20)
    trace = ChromeTrace(path)
    left_out = trace.data["metadata"]
    check_between("singly", left_out["crossings_together_from_us"], left_out["without_counters_from_us"] * 2, 60000 * 2.35)
    check_between("together", left_out["crossings_together"], 1, 240000)
    for i in range(4):
        tid = 4242 + i
        together = [e["args"] for e in trace.kind("X") if e["tid"] == tid and e["cat"] == "many"]
        for cat, expected in (("work", 30000 * (1000 * (i + 1) + 500)), ("wait", 30000 * 1000 * (3 - i)), ("leave", 60000 * 100)):
            check_equal(cat, trace.total(cat, tid) + sum(a[cat + "_ns"] for a in together), expected)
    counters = [e for e in trace.kind("C") if e["ts"] > left_out["without_counters_from_us"] * 1000 + 5000]
    check_equal("counters later", counters, [])


def test_chrome_causes(t):
    """The work of a late thread has the cause of its lateness, the function, and its scheduler states as sums. The recording is
    of `late lock`: the last of three threads waits 2 ms for a lock in wait_for_lock()."""
    path = t.path("trace.json")
    tape = os.path.join(ROOT, "tests", "views", "recordings", "lock")
    check_equal("report", t.sbt("report", "-q", "--chrome", path, "-o", t.path("text"), tape).rc, 0)
    work = [e for e in ChromeTrace(path).kind("X") if e["cat"] == "work" and "phase" in e["args"]]
    late = [e["args"] for e in work if "cause" in e["args"]]
    check_equal("late", [a["phase"] for a in late], list(range(12)))
    check_equal("causes", {a["cause"] for a in late}, {"lock"})
    check_in("functions", "wait_for_lock() late.c:294", {a.get("function") for a in late})
    for a in late:
        check_between("cause", a["cause_ns"], 1.9e6, a["blocked_lock_ns"])
    for e in work:
        a = e["args"]
        check_equal("states", sum(v for k, v in a.items() if re.fullmatch("(oncpu|runq|blocked_.*|unattributed)_ns", k)), e["dur"])


def test_chrome_hostile(t):
    path = made(t, 10, 2, page=False, trace=True, hostile=True)[1]
    ChromeTrace(path)
    raw = read_bytes(path)
    for bad in (b"</", b"<!", b"\x1b", "\u202e".encode()):
        check_not_in("the file", bad, raw)


def traced(t, command, *pictures):
    """Return the JSON records of a recorded run, and its pictures."""
    tape = t.path("tape")
    check_equal("record", t.sbt("record", "-o", tape, "-e", "page-faults", "--", *command).rc, 0)
    # Chromium recognises the type of the file by its name.
    paths = {name: t.path("picture." + name) for name in pictures}
    options = [word for name in pictures for word in ("--" + name, paths[name])]
    result = t.sbt("report", "--detail", "--json", *options, tape)
    check_equal("report", (result.rc, result.err), (0, ""))
    records = [json.loads(one) for one in result.out.splitlines()]
    check_equal("loss", records[-1]["lost_total"], 0)
    return records, paths


def test_chrome_of_a_traced_run(t):
    """The sums of each thread equal those in the report."""
    records, paths = traced(t, [workload("lu"), "--size", "200", "--threads", "4"], "chrome")
    trace = ChromeTrace(paths["chrome"])
    threads = collections.defaultdict(lambda: [0, 0, 0])
    for barrier in (r for r in records if r["type"] == "barrier"):
        for thread in barrier["threads"]:
            for k, what in enumerate(("work_ns", "wait_ns", "idle_ns")):
                threads[thread["tid"]][k] += thread[what]
    check_equal("threads", len(threads), 4)
    for tid, (work, wait, idle) in threads.items():
        check_equal("work", trace.total("work", tid), work)
        check_equal("wait", trace.total("wait", tid), wait)
        check_equal("leaving", trace.total("leave", tid), idle - wait)
    check_equal("slices cut", trace.data["metadata"]["slices_cut"], 0)


# --- HTML -------------------------------------------------------------------------------------------------

class Page:
    """A report in Chromium. The constructor waits until it is drawn, and checks that the console is empty; so does the end."""

    def __init__(self, t, path, dark=False):
        if not browser.available():
            raise Skip("Chromium or its driver is not installed")
        self.b = browser.Browser()
        t.at_end(self.b.close)
        if dark:
            self.b.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.open(path)

    def open(self, path):
        self.b.open(path)
        wait_for("the page is drawn", lambda: self.b.run("return document.documentElement.dataset.ready") == "yes", 30)
        self.quiet()

    def quiet(self):
        check_equal("the console", self.b.log(), [])

    def run(self, script, *args):
        return self.b.run(script, *args)

    def text(self, css="main"):
        return self.run("return document.querySelector(arguments[0]).innerText", css).replace("\u00a0", " ")

    def table(self, section):
        """Return the last table of a section, as rows of cells."""
        return self.run("return [...[...document.querySelectorAll('#' + arguments[0] + ' table')].pop().rows]"
                        ".map((r) => [...r.cells].map((c) => c.textContent))", section)

    def numbers(self, section):
        """Return the first table of a section, as a list of dictionaries."""
        rows = self.run("return [...document.querySelector('#' + arguments[0] + ' table').rows]"
                        ".map((r) => [...r.cells].map((c) => c.textContent))", section)
        return [dict(zip(rows[0], row)) for row in rows[1:]]

    def rows(self, section):
        """Return the names of the rows of a section's first bars."""
        return self.run("return [...document.querySelector('#' + arguments[0] + ' .bars').querySelectorAll(':scope > .row:not(.ticks) "
                        "> .name, :scope > details > summary > .name')].map((e) => e.firstChild.textContent)", section)

    def lanes(self):
        """Return the names of the timeline's lanes, from the top."""
        return self.run("return shown.map(laneName)")

    def choose(self, css, value):
        self.run("const s = document.querySelector(arguments[0]); s.value = arguments[1]; s.dispatchEvent(new Event('change'))",
                 css, value)

    def filter(self, name, text):
        """Type into a filter. Wait until the page is drawn with it."""
        self.run("document.getElementById('body').firstChild.dataset.old = 'yes'")
        self.b.type("#filter-" + name, text)
        wait_for("the page is drawn anew", lambda: self.run(
            "return !document.querySelector('#body > [data-old]') && document.getElementById('filter-' + arguments[0]).value",
            name) == text)

    def press(self, key):
        self.run("document.querySelector('#timeline-chart .u-over').dispatchEvent(new KeyboardEvent('keydown', "
                 "{ key: arguments[0] }))", key)

    def view(self):
        """Return the time range that the timeline shows, in ns."""
        return int(self.run("return document.getElementById('view').dataset.ns"))

    def share(self, lane, lanes, kind):
        """Return the share of a lane's coloured pixels that have the colour of a kind, or nearly."""
        return self.run("""
            const canvas = document.querySelector('#timeline-chart canvas'), over = document.querySelector('#timeline-chart .u-over');
            const [lane, lanes, kind] = arguments, dpr = devicePixelRatio;
            const kinds = ['work', 'wait', 'leave', 'none', 'back', ...(kind === 'lock' ? ['lock'] : [])];
            const x = over.offsetLeft * dpr, w = over.clientWidth * dpr, h = over.clientHeight * dpr / lanes;
            // Not its edges, which are mixed with what is between the lanes.
            const copy = new OffscreenCanvas(w, h - 5).getContext('2d', { willReadFrequently: true });
            copy.drawImage(canvas, -x, -(over.offsetTop * dpr + lane * h + 2));
            const d = copy.getImageData(0, 0, w, Math.floor(h - 5)).data;
            const colour = (k) => getComputedStyle(document.documentElement).getPropertyValue('--' + k).trim();
            const wanted = kinds.map((k) => [1, 3, 5].map((i) => parseInt(colour(k).slice(i, i + 2), 16)));
            const n = kinds.map(() => 0);
            for (let i = 0; i < d.length; i += 4) {
                const far = wanted.map((c) => c.reduce((a, v, j) => a + (d[i + j] - v) ** 2, 0));
                n[far.indexOf(Math.min(...far))]++;
            }
            return n[kinds.indexOf(kind)] / (n[0] + n[1] + n[2] + (n[5] || 0));""", lane, lanes, kind)


def test_html_figures(t):
    """Check the pictures of a run with known figures."""
    page = Page(t, made(t, 400, 4)[0])
    head = page.text()
    check_in("head", "400 episodes at 2 barriers, 1,600 crossings", head)
    phases = page.numbers("barriers-and-causes")
    check_equal("barriers", [row["Barrier"] for row in phases], ["first() a.c:11", "second() a.c:22"])
    # There are 200 phases of 4100 ns, except the first of 4000. Of each, 3000 ns are between first and last arrival. There are
    # 200 phases of 600 ns.
    check_equal("phase times", [row[k] for row in phases for k in ("to the first arrival", "first to last arrival")],
                ["220 µs", "600 µs", "120 µs", "0 ns"])
    idle = page.table("idle-times")
    check_equal("idle times", idle[1], ["first() a.c:11", "", "4", "0 ns", "300 µs", "600 µs", "224 µs"])
    counters = page.table("counters-by-phase")
    check_equal("counters", counters[1], ["first() a.c:11", "6,000,000", "83 %", "1,500,000", "600,000", "2,400,000", "670,820"])
    went = page.table("threads")
    check_equal("parts", went[0], ["", "tid", "on a CPU", "in the run queue, without a CPU", "wait for the last arriver",
                                   "leave: from the last arrival to the departure", "arrived last"])
    check_equal("of thread 0", went[1], ["0 main worker", "4242", "270 µs", "30.0 µs", "600 µs", "40.0 µs", "0"])
    check_equal("of thread 3", went[4][:5], ["3 worker", "4245", "810 µs", "90.0 µs", "0 ns"])
    check_equal("speedup", page.table("speedup")[3], ["predicted, speedup", "1.00", "2.00", "3.60", "5.70"])
    page.quiet()


def test_html_timeline(t):
    """The timeline shows the right times, and zooms by click, drag, key and double click."""
    page = Page(t, made(t, 4000, 4)[0])
    whole = 2000 * 4700
    check_equal("the whole run", page.view(), whole)
    check_in("how it is drawn", "shows the shares of its time", page.text("#how"))
    for lane, work in ((0, 1500), (1, 2500), (3, 4500)):
        check_between(f"work in lane {lane}", page.share(lane, 4, "work"), work / 4700 - 0.1, work / 4700 + 0.1)
    for _ in range(6):
        page.b.click("#zoom-in")
    check_equal("zoomed", page.view(), round(whole * 0.4 ** 6))
    check_in("how it is drawn", "drawn as it was measured", page.text("#how"))
    check_between("work in lane 3", page.share(3, 4, "work"), 0.88, 1)
    check_between("wait in lane 0", page.share(0, 4, "wait"), 0.5, 0.78)
    page.b.click("#zoom-all")
    check_equal("the whole run", page.view(), whole)
    width = page.run("return document.querySelector('#timeline-chart .u-over').clientWidth")
    page.b.drag("#timeline-chart .u-over", -width // 4, width // 4)
    check_between("dragged", page.view(), whole * 0.48, whole * 0.52)
    tip = page.run("return document.querySelector('#timeline-chart .tip').innerText")
    check_in("the box beside the cursor", "thread ", tip)
    page.run("document.querySelector('#timeline-chart .u-over').dispatchEvent(new KeyboardEvent('keydown', { key: '+' }))")
    check_between("by key", page.view(), whole * 0.24, whole * 0.26)
    page.run("document.querySelector('#timeline-chart .u-over').dispatchEvent(new MouseEvent('dblclick', { bubbles: true }))")
    check_equal("double click", page.view(), whole)
    page.quiet()


def test_html_million(t):
    """A page for a million episodes is a small file that can be zoomed, and says what it omits."""
    path = made(t, 1000000, 4)[0]
    check_between("bytes", os.path.getsize(path), 100000, 4 << 20)
    page = Page(t, path)
    check_in("head", "1,000,000 episodes", page.text())
    check_in("how it is drawn", "There are too many crossings (4,000,000) to keep single ones", page.text("#how"))
    whole = page.view()
    page.b.click("#zoom-in")
    check_equal("zoomed", page.view(), round(whole * 0.4))
    for lane, work in ((0, 1500), (3, 4500)):
        check_between(f"work in lane {lane}", page.share(lane, 4, "work"), work / 4700 - 0.1, work / 4700 + 0.1)
    page.quiet()


def test_html_hostile(t):
    """Names are shown as text: none is executed, creates an element, or changes the direction of the line."""
    path = made(t, 100, 2, hostile=True)[0]
    page = Page(t, path)
    for i in range(3):
        page.b.click("#zoom-in")
        page.b.drag("#timeline-chart .u-over", -50 - i, 50)
    check_equal("it ran", page.run("return window.hit === undefined"), True)
    check_equal("elements", page.run("return document.querySelectorAll('main img, main script, main iframe, main a').length"), 0)
    check_equal("scripts", page.run("return document.scripts.length"), 3)
    text = page.text()
    check_in("the name", '<img src=x onerror="window.hit=1"></script>', text)
    check_not_in("the name", "\u202e", text)
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', read_text(path), re.S)[1]
    check_not_in("the data", "<", data)
    check_equal("what it loaded", page.run("return performance.getEntriesByType('resource').length"), 0)
    page.quiet()


LUMINANCE = """
const part = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const light = (c) => { const [r, g, b] = c.match(/[0-9.]+/g).map(Number); return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b); };
const back = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)/.test(c)) return c; } return "rgb(255,255,255)"; };
return [...document.querySelectorAll("h1,h2,h3,h4,p,th,td,li,code,small,label,summary,button:not(:disabled),.legend span,.tile b,.tile span,.row .name,.row .value,.scale span")].filter((e) => e.innerText).map((e) => {
	const a = light(getComputedStyle(e).color), b = light(back(e));
	return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.tagName, e.innerText.slice(0, 40)];
}).sort((a, b) => a[0] - b[0])[0];"""


def test_html_light_and_dark(t):
    """Text can be read in both colour schemes (WCAG AA: 4.5 : 1), and nothing is wider than the window, on wide and narrow screens:
    for few and many threads, ranks, an open barrier with a chosen interval, and an empty report."""
    pages = [made(t, 400, 4)[0], page_file(t, "mpi"), page_file(t, "lock")]
    _, paths = traced(t, ["true"], "html")
    page = Page(t, paths["html"])
    for path in [paths["html"], *pages]:
        if path != paths["html"]:
            page.open(path)
            page.run("if (each) choose(lanes[lanes.length - 1].crossings[1]); "
                     "document.querySelectorAll('details').forEach((e) => (e.open = true))")
        for width in (1600, 400):
            page.b.command("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
            wait_for("the charts fit", lambda: not page.run(
                "return [...document.querySelectorAll('.uplot')].some((e) => e.offsetWidth > arguments[0])", width))
            for dark in (False, True):
                page.b.command("Emulation.setEmulatedMedia",
                               features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
                worst = page.run(LUMINANCE)
                check(worst[0] >= 4.5, f"{'dark' if dark else 'light'}: {worst} can hardly be read")
                light = page.run("return getComputedStyle(document.body).backgroundColor")
                check_equal("scheme", light != "rgb(255, 255, 255)", dark)
                check_equal(f"{path} is wider than {width}",
                            page.run("return document.documentElement.scrollWidth > innerWidth"), False)
    page.quiet()


def test_html_of_a_traced_run(t):
    """The page has the same figures as --json for the same capture."""
    if not os.path.getsize(CHART):
        raise Skip("built without the charting library")
    records, paths = traced(t, [workload("lu"), "--size", "200", "--threads", "3"], "html")
    page = Page(t, paths["html"])
    inside = page.run("return JSON.parse(document.getElementById('data').textContent).runs[0].records")
    for kind in ("process", "barrier"):
        ours, theirs = ([r for r in rs if r["type"] == kind] for rs in (inside, records))
        check_equal(kind, ours, theirs)
    check_in("verdict", next(r for r in records if r["type"] == "process")["verdict"], page.text())
    page.b.click("#zoom-in")
    page.quiet()


def test_html_of_a_window(t):
    """The figures cover a part of a run. All times count from the start of tracing, as in the report."""
    if not os.path.getsize(CHART):
        raise Skip("built without the charting library")
    tape = t.path("tape")
    check_equal("record", t.sbt("record", "-q", "-o", tape, "--", workload("gen"), "--threads", "3", "--rounds", "40", "--work",
                                "fixed:0=1ms,1=3ms,2=5ms", "--work-by", "sleep").rc, 0)
    episodes = [r for r in map(json.loads, t.sbt("report", "--detail", "--json", "-W", tape).out.splitlines()) if r["type"] == "episode"]
    # The window is from after the 10th episode to after the 30th, plus half a millisecond. Seconds with that many digits are
    # exact to a microsecond.
    begin, end = (episodes[k]["t_ns"] // 1000 * 1000 + 500000 for k in (10, 30))
    page, records = page_of(t, "report", "--from", f"{begin / 1e9:.6f}", "--to", f"{end / 1e9:.6f}", tape)
    inside = page.run("return JSON.parse(document.getElementById('data').textContent).runs[0].records")
    for kind in ("process", "barrier"):
        check_equal(kind, [r for r in inside if r["type"] == kind], [r for r in records if r["type"] == kind])
    check_equal("episodes", [r["episodes"] for r in records if r["type"] == "end"], [20])
    said = [f"{ns / 1e6:#.3g}".rstrip(".") + " ms" for ns in (begin, end)]
    check_in("head", "20 episodes", page.text())
    check_in("reported", f"Covers only crossings with arrivals from {said[0]} to {said[1]} after the start of tracing", page.text())
    check_between("the stretch", page.view(), end - begin - 1, end - begin + 1)
    check_in("from when to when", f"Shown: {said[0]} to {said[1]},", page.text("#view"))
    marks = page.run("return charts[0][0].axes[0]._values")
    values = [float(mark.split()[0]) for mark in marks]
    check(len(values) > 2 and all(mark.endswith(" ms") for mark in marks), marks)
    check_between("first mark", values[0] * 1e6, begin - 1, end)
    check_between("last mark", values[-1] * 1e6, values[0] * 1e6, end + 1)
    at = page.run("const u = charts[0][0]; return u.axes[0]._splits.map((v) => u.valToPos(v, 'x') / u.over.clientWidth)")
    for value, place in zip(values, at):
        check_between("place of a mark", place, (value * 1e6 - begin) / (end - begin) - 0.002,
                      (value * 1e6 - begin) / (end - begin) + 0.002)
    # The thread that works for 1 ms waits for 4 ms, and the one that works for 5 ms does not wait.
    check_between("work in lane 0", page.share(0, 3, "work"), 0.1, 0.4)
    check_between("work in lane 2", page.share(2, 3, "work"), 0.85, 1)
    page.b.click("#zoom-in")
    check_between("zoomed", page.view(), (end - begin) * 0.39, (end - begin) * 0.41)
    width = page.run("return document.querySelector('#timeline-chart .u-over').clientWidth")
    page.b.drag("#timeline-chart .u-over", -width // 4, width // 4)
    check_between("dragged", page.view(), (end - begin) * 0.19, (end - begin) * 0.21)
    tip = page.run("return document.querySelector('#timeline-chart .tip').innerText")
    when = re.search(r"thread .* at ([\d.]+) ms", tip)
    check(when, tip)
    check_between("the box beside the cursor", float(when[1]) * 1e6, begin, end)
    page.b.click("#zoom-all")
    check_between("all of it", page.view(), end - begin - 1, end - begin + 1)
    page.quiet()


def test_html_of_processes(t):
    """Processes that cross a barrier together are one team, with one answer and one picture of their threads."""
    _, paths = traced(t, [workload("gen"), "--processes", "3", "--threads", "1", "--rounds", "50"], "html")
    page = Page(t, paths["html"])
    check_equal("threads", len(page.table("threads")) - 1, 3)
    check_equal("teams", page.run("return document.querySelectorAll('#choose-team').length"), 0)
    check_equal("answers", page.run("return document.querySelectorAll('.answer').length"), 1)
    page.quiet()


def test_html_of_two_processes(t):
    """Processes with the same barrier: rows and intervals of one lead to each other, not to those of the other."""
    run = f"{workload('gen')} --rounds 30 --work stair:200us:400us --threads"
    _, paths = traced(t, ["sh", "-c", f"{run} 3 & {run} 2; wait"], "html")
    page = Page(t, paths["html"])
    pids = page.run("return [...new Set(shown.map((l) => l.pid))]")
    check_equal("processes", len(pids), 2)
    for pid in pids:
        page.run("choose(lanes.find((l) => l.pid === arguments[0]).crossings[3])", pid)
        page.b.click("#interval button.link")
        check_in("row", f"({pid})", page.run("return document.activeElement.textContent"))
        find = "[...document.activeElement.parentElement.querySelectorAll('button.place')]"
        wait_for("its places", lambda: page.run(f"return {find}.length") == 3)
        page.run(f"{find}[0].click()")
        check_in("interval", f" of process {pid}, phase ", page.text("#interval"))
    page.quiet()


def test_html_compares(t):
    """The page has a column for each other recording, and the speedup by their numbers of threads."""
    tapes, elapsed = [], []
    for threads in (1, 2, 3):
        tapes.append(t.path(f"tape{threads}"))
        command = [workload("gen"), "--threads", str(threads), "--rounds", "20", "--work", "fixed:0=1ms", "--work-by", "sleep"]
        check_equal("record", t.sbt("record", "-o", tapes[-1], "--", *command).rc, 0)
        records = [json.loads(one) for one in t.sbt("report", "--detail", "--json", tapes[-1]).out.splitlines()]
        elapsed.append(next(r for r in records if r["type"] == "process")["elapsed_ns"])
    path = t.path("page.html")
    result = t.sbt("report", "--detail", "--html", path, "--with", tapes[1], "--with", tapes[2], tapes[0])
    check_equal("report", (result.rc, result.err), (0, ""))
    page = Page(t, path)
    check_equal("runs", page.rows("runs"), ["tape1", "tape2", "tape3"])
    speedup = page.table("speedup")
    check_equal("threads", speedup[0], ["", "1", "2", "3"])
    check_equal("speedup", speedup[1], ["measured, speedup", *(f"{elapsed[0] / e:.2f}" for e in elapsed)])
    page.quiet()
    result = t.sbt("report", "--detail", "--html", t.path("none"), "--with", "/etc/passwd", tapes[0])
    check_equal("a file that is none", (result.rc, os.path.exists(t.path("none"))), (1, False))
    check_equal("without a page", t.sbt("report", "--detail", "--with", tapes[1], tapes[0]).rc, 2)


def test_html_of_nothing(t):
    _, paths = traced(t, ["true"], "html")
    page = Page(t, paths["html"])
    check_in("answer", "No thread crossed a barrier.", page.text())
    page.quiet()


# --- pages of many recordings -----------------------------------------------------------------------------------

NASTY = "<img src=x onerror=\"window.hit=1\"></script><script>window.hit=1<\\script>\u202e"


def sleeping(t, threads, ns=20000):
    """Record LU with threads that sleep instead of computing."""
    path = t.path()
    command = [workload("lu"), "--partition", "cyclic", "--threads", str(threads), "--size", "60", "--sleep-work", str(ns)]
    check_equal("record", t.sbt("record", "-o", path, "-e", "page-faults", "--", *command).rc, 0)
    return path


def page_of(t, *args):
    """Return the page of such a command in Chromium, and the records that it prints."""
    path = t.path("page.html")
    result = t.sbt(*args[:1], "--html", path, "--json", *args[1:])
    check_equal("exit status", (result.rc, result.err), (0, ""))
    return Page(t, path), [json.loads(one) for one in result.out.splitlines()]


def inert(page):
    """Check that no part of a hostile name has become markup or was executed."""
    check_equal("run", page.run("return window.hit === undefined"), True)
    check_equal("elements", page.run("return document.querySelectorAll('main img, main script').length"), 0)
    page.quiet()


def seen(page, chart):
    """Return the part of its axis that a chart shows."""
    return page.run("const { min, max } = charts[arguments[0]][0].scales.x; return [min, max]", chart)


def test_html_of_a_series(t):
    """Columns, speedup and tables have the numbers of --json. Selections, zoom and hostile labels work."""
    if not os.path.getsize(CHART):
        raise Skip("built without the charting library")
    words = []
    for threads in (1, 2, 3):
        for label in ("plain", NASTY.replace("/", "|")):
            words += ["--label", f"{threads}/{label}", sleeping(t, threads, 5000), sleeping(t, threads, 5000)]
    page, points = page_of(t, "series", *words)
    check_equal("points", len(points), 6)
    first = [table[1:] for table in page.run("return [[...document.querySelectorAll('#time tbody tr')].map((r) => "
                                             "[...r.cells].map((c) => c.textContent))]")[0]]
    check_equal("runs and threads", [row[:2] for row in first], [["2", str(p["nthreads"])] for p in points])
    check_equal("speedup", [row[7] for row in first], [f"{p['speedup']:.2f}" for p in points])
    curves = page.table("speedup")
    check_equal("processors", curves[0], ["", "1", "2", "3"])
    check_equal("curve", curves[1], ["plain, speedup", *(f"{p['speedup']:.2f}" for p in points[::2])])
    drawn = page.run("return charts.find(([u]) => u.root.closest('#speedup'))[0].data")
    check_equal("linear", drawn[1], [1, 2, 3])
    check(page.run("return charts.find(([u]) => u.root.closest('#speedup'))[0].scales.y.max") >= 3, "the linear line is cut off")
    page.run("const s = document.querySelector('#both-ways select'); s.value = 3; s.dispatchEvent(new Event('change'))")
    check_equal("chosen", page.table("both-ways")[1][1], f"{points[0]['speedup']:.2f}")
    page.b.click("#phase-times summary")
    check_equal("opened", page.run("return document.querySelector('#phase-times details').open"), True)
    whole = seen(page, 0)
    page.b.drag("#time .u-over", 0, 140)
    part = seen(page, 0)
    check(whole == [-0.5, 2.5] and part[0] > whole[0] and part[1] == whole[1], f"{whole} {part}")
    page.run("document.querySelector('#time .u-over').dispatchEvent(new MouseEvent('dblclick', { bubbles: true }))")
    check_equal("double click", seen(page, 0), whole)
    inert(page)


def test_html_of_a_diff(t):
    """Both sides and the change have the numbers of --json. Selections, zoom and hostile file names work."""
    if not os.path.getsize(CHART):
        raise Skip("built without the charting library")
    nasty = t.path(NASTY.replace("/", "|"))
    os.rename(sleeping(t, 3), nasty)
    page, records = page_of(t, "diff", nasty, sleeping(t, 3, 60000))
    text = t.sbt("diff", "--markdown", nasty, nasty).out
    check_in("Markdown", "\n| where | quantity | A | B |", text)
    rows = [r for r in records if r.get("scope") == "barrier" and r["quantity"] == "phase_ns"]
    shown = page.table("sites")
    check_equal("sites", [row[0] for row in shown[1:]], [r["label"] for r in rows])
    for row, r in zip(shown[1:], rows):
        change = (r["ratio"] - 1) * 100
        check_equal("change", row[3], f"{change:+.{1 if abs(change) < 9.95 else 0}f} %")
    check_equal("columns", [row[0] for row in page.table("phase-times")[1:]], ["A", "B"])
    page.run("const s = document.querySelector('#sites select'); s.value = 1; s.dispatchEvent(new Event('change'))")
    barrier = next(r for r in records if r.get("quantity") == "barrier_ns" and r["barrier"] == rows[0]["barrier"])
    check(abs(float(page.table("sites")[1][1].split()[0]) - barrier["a"] / 1e6) < 0.06 * barrier["a"] / 1e6, page.table("sites"))
    page.b.click("#sites summary")
    inert(page)
    check_in("the file's name", "onerror", page.text())


def test_html_of_predictions(t):
    """predict --html has the curve. Predictions that were recorded have one as well, beside the measurements."""
    if not os.path.getsize(CHART):
        raise Skip("built without the charting library")
    tape = t.path()
    command = [workload("lu"), "--partition", "cyclic", "--threads", "4", "--size", "200"]
    check_equal("record", t.sbt("record", "-o", tape, "--", *command).rc, 0)
    page, records = page_of(t, "predict", "--processors", "1-4", tape)
    predicted = [r for r in records if r["type"] == "prediction"]
    curves = page.table("speedup")
    check_equal("processors", curves[0], ["", "1", "2", "3", "4"])
    check_equal("curve", curves[1][1:], [f"{p['speedup']:.2f}" for p in predicted])
    check_in("name", "(predicted)", curves[1][0])
    y = page.run("return charts.find(([u]) => u.root.closest('#speedup'))[0].scales.y.max")
    check(y >= 4, f"the linear line is cut off: {y}")
    page.b.drag("#speedup .u-over", 0, 300)
    check(seen(page, 0)[0] > 1, seen(page, 0))
    check_equal("points", [row[2] for row in page.table("points")[1:]], page.run(
        "return arguments[0].map(time)", [p["time_ns"] for p in predicted]))
    inert(page)
    tapes = [t.path() for _ in range(2)]
    for n, path in zip((1, 2), tapes):
        check_equal("record", t.sbt("predict", "--processors", str(n), "--record-to", path, tape).rc, 0)
    path = t.path("with.html")
    result = t.sbt("report", "--detail", "--html", path, "--with", tapes[0], "--with", tapes[1], tape)
    check_equal("report", (result.rc, result.err), (0, ""))
    page = Page(t, path)
    names = [row[0] for row in page.table("speedup")]
    check_equal("curves", names[1::2], ["measured, against 4 threads, speedup", "recordings (predicted), speedup"])
    page.quiet()


# --- what a reader can do on the page -------------------------------------------------------------------------

RECORDINGS = os.path.join(ROOT, "tests", "views", "recordings")


def page_file(t, name, change=None):
    """Write the page of a recording in tests/views. @change may change its data, as if the report had other records."""
    if not os.path.getsize(CHART):
        raise Skip("built without the charting library")
    path = t.path(name + ".html")
    check_equal("report", t.sbt("report", "-q", "--html", path, "-o", t.path(name + ".txt"), os.path.join(RECORDINGS, name)).rc, 0)
    if change:
        text = read_text(path)
        match = re.search(r'(?<=id="data">\n)(.*?)(?=</script>)', text, re.S)
        data = json.loads(match[1])
        change(data)
        write_file(path, text[:match.start()] + json.dumps(data).replace("<", "\\u003c") + "\n" + text[match.end():])
    return path


def records_of(data, kind):
    return [r for r in data["runs"][0]["records"] if r["type"] == kind]


AXES = """
const bars = [...document.querySelectorAll('.bars')].map((b) => [...b.querySelectorAll(':scope > .ticks .scale span')]
	.map((e) => [parseFloat(e.textContent), e.offsetLeft])).filter((m) => m.length);
const drawn = charts.flatMap(([u]) => u.axes.slice(0).map((a) => a._splits || []).map((s) => s.map((v) => [v, v])));
return [...bars, ...drawn.filter((m) => m.length > 2)];"""


def round_steps(marks):
    """Check that the marks of an axis are equally far apart, with a step of 1, 2 or 5 times a power of ten."""
    values = [value for value, _ in marks]
    steps = [b - a for a, b in zip(values, values[1:])]
    check(all(abs(step - steps[0]) < 1e-6 * abs(steps[0]) for step in steps), f"uneven: {values}")
    if steps:
        digits = f"{abs(steps[0]):.6e}"
        check_in("step", digits[:8], ("1.000000", "2.000000", "5.000000"))


COLOURS = """
const shades = Object.keys(MEANING).filter((k) => k !== 'none');
const value = (k) => getComputedStyle(document.documentElement).getPropertyValue('--' + k).trim();
const used = [...document.querySelectorAll('.bars')].map((b) => {
	const name = (e) => (e.getAttribute('style').match(/var\\(--(\\w+)\\)/) || [])[1];
	const inside = [...b.querySelectorAll(':scope > .row > .bar > i, :scope > details > summary > .bar > i')].map(name);
	return [b.getAttribute('aria-label'), [...new Set(inside)]];
});
const legends = [...document.querySelectorAll('.legend i')].map((e) => [(e.getAttribute('style') || '').match(/^background: var\\(--(\\w+)\\)/),
	e.parentElement.textContent]).filter(([m]) => m).map(([m, text]) => [m[1], text]);
return [shades.map((k) => [k, value(k)]), used, legends];"""


def test_html_axes_and_colours(t):
    """Axes have even, round steps. A colour has one meaning, which is in the legend."""
    page = Page(t, made(t, 400, 6)[0])
    page.run("document.querySelectorAll('details.row').forEach((e) => (e.open = true))")
    wait_for("rows are open", lambda: page.run("return document.querySelectorAll('.bars .bars').length") > 6)
    axes = page.run(AXES)
    check(len(axes) > 4, f"few axes: {axes}")
    for marks in axes:
        round_steps(marks)
    for _ in range(3):
        page.b.click("#zoom-in")
        for marks in page.run(AXES):
            round_steps(marks)
    for dark in (False, True):
        page.b.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        shades, used, legends = page.run(COLOURS)
        check_equal("colours with one meaning", len({value for _, value in shades}), len(shades))
        check(all(value for _, value in shades), f"a meaning without a colour: {shades}")
        texts = collections.defaultdict(set)
        for key, text in legends:
            texts[key].add(text)
        for key, words in texts.items():
            check_equal(f"meanings of {key}", len(words), 1)
        check(len(used) > 4, f"few bars: {used}")
        for name, keys in used:
            for key in keys:
                check(key in texts or name == "Parts of the lateness", f"{name}: {key} is in no legend")
    page.quiet()


# The colours of a page, as [r, g, b, meaning], from its legends; in charts of call sites, faint colours are of the same site.
LEGENDS = """
return [...document.querySelectorAll('.legend > span')].map((e) => [getComputedStyle(e.querySelector('i')).backgroundColor,
	e.textContent]);"""


def one_meaning(page):
    """Check that colours of different meanings differ visibly on the whole page, in light and in dark."""
    for scheme in ("light", "dark"):
        page.b.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        meanings = {}
        for colour, text in page.run(LEGENDS):
            rgb = tuple(int(part) for part in re.findall(r"\d+", colour)[:3])
            for other, known in meanings.items():
                if known == text:
                    check_equal(f"colours of {text}, {scheme}", rgb, other)
                else:
                    check(sum((a - b) ** 2 for a, b in zip(rgb, other)) > 24 ** 2, f"{scheme}: {text} {rgb} and {known} {other}")
            meanings[rgb] = text
        check(len(meanings) >= 4, f"few meanings: {meanings}")


def test_html_colours_of_comparisons(t):
    """In the pages of series and diff, a colour has one meaning on the whole page, too."""
    if not os.path.getsize(CHART):
        raise Skip("built without the charting library")
    files = [os.path.join(RECORDINGS, name) for name in ("lock", "sleep", "late-thread")]
    page, _ = page_of(t, "diff", *files[:2])
    one_meaning(page)
    check_in("a verdict", "cannot be tested", " ".join(text for _, text in page.run(LEGENDS)))
    page, _ = page_of(t, "series", *files)
    one_meaning(page)
    words = [part for i, path in enumerate(files) for way in "ab" for part in ("--label", f"{i}/{way}", path)]
    page, _ = page_of(t, "series", *words)
    one_meaning(page)
    check_in("a column of labels", "b", [text for _, text in page.run(LEGENDS)])


def test_html_filters_and_order(t):
    """Threads, barriers and functions can be found, and lanes and rows sorted. Nothing else changes the range in view."""
    page = Page(t, made(t, 400, 12)[0])
    names = ["0 main worker"] + [f"{i} worker" for i in range(1, 12)]
    check_equal("lanes", page.lanes(), names)
    page.b.click("#zoom-in")
    view = page.view()
    page.filter("thread", "11 WORK")
    check_equal("lanes", page.lanes(), ["11 worker"])
    check_equal("threads", page.rows("threads"), ["11 worker"])
    check_in("how many", "1 of 12 threads, 2 of 2 barriers", page.text("#filtered"))
    check_equal("view", page.view(), view)
    page.filter("thread", "4245")
    check_equal("lanes", page.lanes(), ["3 worker"])
    page.filter("thread", "no such")
    check_in("timeline", "No thread matches the filter.", page.text("#timeline"))
    page.b.click("#filter-clear")
    check_equal("lanes", page.lanes(), names)
    page.filter("barrier", "second")
    check_equal("barriers", page.rows("barriers-and-causes"), ["second() a.c:22"])
    check_equal("through", page.run("return document.querySelector('#phase-and-barrier-times-through-the-run select').options.length"), 1)
    page.filter("barrier", "")
    page.filter("fn", "first")
    check_equal("barriers", page.rows("barriers-and-causes"), ["first() a.c:11"])
    page.filter("fn", "nowhere")
    check_in("barriers", "No barrier matches the filter.", page.text("#barriers-and-causes"))
    check_equal("focus", page.run("return document.activeElement.id"), "filter-fn")
    page.b.click("#filter-clear")
    # Thread i waits (11 - i) us at each of the first barriers.
    page.choose("#choose-sort", 2)
    check_equal("by idle time", page.lanes(), names)
    page.choose("#choose-sort", 4)
    check_equal("by work", page.lanes(), names[::-1])
    page.choose("#choose-sort", 3)
    check_equal("by times last", page.lanes()[0], "11 worker")
    check_equal("threads, too", page.rows("threads")[0], "11 worker")
    page.choose("#choose-sort", 0)
    check_equal("lanes", page.lanes(), names)
    page.choose("#choose-bsort", 4)
    check_equal("by name", page.rows("barriers-and-causes"), ["first() a.c:11", "second() a.c:22"])
    page.choose("#choose-share", 1)
    check_in("per cent", "100\u00a0%", page.run("return document.querySelector('#threads .ticks').textContent"))
    page.quiet()


def test_html_roles_and_titles(t):
    """Lanes have the thread's role. The title is the program's name, without its folder."""
    page = None
    for recording, title, lanes in (("mpi", "gen_openmpi", ["rank 0 gen-0", "rank 1 gen-1", "rank 2 gen-2"]),
                                    ("gomp", None, None), ("lock", "late", None)):
        path = page_file(t, recording)
        page = page or Page(t, path)
        page.open(path)
        heading = page.text("h1")
        check_not_in("title", "/", heading + page.run("return document.title"))
        if title:
            check_equal("title", heading, title)
        if lanes:
            check_equal("lanes", page.lanes(), lanes)
            # Its barrier can be reached from an interval, and the interval from the barrier.
            page.run("choose(lanes[1].crossings[2])")
            page.b.click("#interval button.link")
            check_equal("open", page.run("return document.activeElement.parentElement.open"), True)
            wait_for("its places", lambda: page.run("return !!document.querySelector('#barriers-and-causes button.place')"))
            page.run("document.querySelectorAll('#barriers-and-causes button.place')[1].click()")
            check(re.match(r"Thread rank \d gen-\d, phase \d+, to site_0", page.text("#interval")), page.text("#interval"))
        elif recording == "gomp":
            check(all("OpenMP" in name for name in page.lanes()), page.lanes())
            check(any("main" in name for name in page.lanes()), page.lanes())
        page.quiet()
    # Threads of several processes have the same role: each row names its process, as its lane does.
    page.open(page_file(t, "processes"))
    names = page.run("return [...document.querySelectorAll('#threads .bars > details > summary')].map((e) => e.textContent)")
    check_equal("threads", len(names), 4)
    check_equal("named by process", len({re.search(r"\d+: ", name)[0] for name in names}), 4)
    page.quiet()


def test_html_causes(t):
    """A barrier's cause opens to a stack and leads to the timeline. An interval shows its cause, function and states: by click and
    by key. The recording is of `late lock`, see test_chrome_causes()."""
    page = Page(t, page_file(t, "lock"))
    check_equal("barriers", page.rows("barriers-and-causes"), ["cross() late.c:479"])
    check_in("cause", "Late mostly because it waited for the lock", page.text("#barriers-and-causes .cause-text"))
    page.b.click("#barriers-and-causes details.stack summary")
    stack = page.text("#barriers-and-causes details.stack ol").split("\n")
    check_in("stack", "wait_for_lock() late.c:294", stack)
    check_equal("own frames", page.run("return [...document.querySelectorAll('.stack .own code')].map((e) => e.textContent)")[0],
                "wait_for_lock()")
    whole = page.view()
    page.b.click("#barriers-and-causes button.place")
    check(page.view() < whole / 4, f"not zoomed: {page.view()} of {whole}")
    check_in("interval", "Thread 2 late-2, phase 0, to cross() late.c:479", page.text("#interval"))
    page.b.click("#interval-later")
    text = page.text("#interval")
    check_in("interval", "phase 1", text)
    check_in("cause", "later than the typical thread, mostly because it waited for a lock", text)
    check_in("function", "wait_for_lock() late.c:294", text)
    check_in("states", "blocked: lock", text)
    check_in("states", "their order in the bar is not the order in which they occurred", text)
    widths = page.run("return [...document.querySelectorAll('#interval .bar i')].map((e) => parseFloat(e.style.width))")
    check_between("the states", sum(widths), 99.5, 100.5)
    page.b.click("#zoom-all")
    # Click into the last lane, then choose by keys.
    width, height = page.run("const o = document.querySelector('#timeline-chart .u-over'); return [o.clientWidth, o.clientHeight]")
    page.b.point("#timeline-chart .u-over", width // 4, height // 3)
    check_in("clicked", "Thread 2 late-2", page.text("#interval"))
    page.press("ArrowUp")
    check_in("by key", "Thread 1 late-1", page.text("#interval"))
    page.press("ArrowUp")
    page.press("ArrowUp")
    check_in("by key", "Thread 0 late-0", page.text("#interval"))
    page.press("Enter")
    check_in("by key", "Thread 0 late-0", page.text("#interval"))
    # The filter for functions also looks at the interval's own function.
    page.filter("fn", "wait_for_lock")
    check_equal("lanes", len(page.lanes()), 3)
    page.filter("fn", "")
    # By cause: the last lane has the colour of locks.
    page.choose("#choose-colour", 1)
    check_in("legend", "late because it waited for a lock", page.text("#timeline .legend"))
    check(page.share(2, 3, "lock") > 0.5, f"not by cause: {page.share(2, 3, 'lock')}")
    page.quiet()


def test_html_places(t):
    """Functions with extra time, if the data have any, are a list with intervals, and open to a stack. Names are hostile."""
    places = [{"function": "relax", "file": "/src/ocean.c", "line": 212, "last_ns": 28000000, "reference_ns": 4000000,
               "low_ns": 20100000, "high_ns": 27900000, "samples": 1234,
               "stack": [{"function": f, "file": "/src/ocean.c", "line": 212} for f in ("relax", NASTY, "main")]},
              {"function": NASTY, "file": NASTY, "line": 1, "last_ns": 3000000, "reference_ns": 2000000, "low_ns": -500000,
               "high_ns": 2500000, "samples": 40, "stack": []},
              {"function": None, "file": None, "line": None, "last_ns": 1000000, "reference_ns": 2000000, "low_ns": None,
               "high_ns": None, "samples": 1}]

    def change(data):
        data["runs"][0]["records"] += [{"type": "place", "barrier": records_of(data, "barrier")[0]["id"], **p}
                                       for p in places[::-1]]

    page = Page(t, page_file(t, "lock", change))
    find = "return [...document.querySelectorAll('.bars[aria-label=Functions] > details')]"
    rows = page.run(find + ".map((e) => [e.querySelector('.name').textContent, e.querySelector('.value').textContent, "
                           "!!e.querySelector('em')])")
    check_equal("places", [rows[0], rows[1][1:], rows[2]],
                [["relax() ocean.c:212", "+24.0 ms", True], ["+1.00 ms", True], ["?", "−1.00 ms", False]])
    page.run(find + ".forEach((e) => (e.open = true))")
    wait_for("they are open", lambda: len(page.run(find + ".map((e) => e.querySelector('.inner')).filter(Boolean)")) == 3)
    inner = [text.replace("\u00a0", " ") for text in page.run(find + ".map((e) => e.querySelector('.inner').textContent)")]
    check_in("relax", "Last arrivers 28.0 ms, reference threads 4.00 ms; the difference is between 20.1 ms and 27.9 ms, from 1,234 samples",
             inner[0])
    check_in("uncertain", "The interval includes 0", inner[1])
    check_in("no stack", "No stack is known.", inner[2])
    page.run(find + "[0].querySelector('details').open = true")
    check_equal("frames", page.run(find + "[0].querySelectorAll('li').length"), 3)
    page.filter("fn", "main")
    check_equal("found", page.rows("barriers-and-causes"), ["cross() late.c:479"])
    page.filter("fn", "object")
    check_in("frames are no text", "No barrier matches the filter.", page.text("#barriers-and-causes"))
    inert(page)
    page.quiet()


def test_html_critical_path(t):
    """The critical path and what-if are there if the data have them, and only then."""
    def change(data):
        tids = [lane["thread"]["tid"] for lane in data["timeline"]["lanes"]]
        barrier = records_of(data, "barrier")[0]["id"]
        data["critical_path"] = {"ns": 40000000, "segments": [
            {"tid": tids[k % 3], "from_ns": k * 4000000, "to_ns": (k + 1) * 4000000, "barrier": barrier, "function": NASTY}
            for k in range(10)]}
        data["what_if"] = [{"text": NASTY, "gain_ns": 4000000},
                           {"text": "balanced", "gain_ns": 9000000, "low_ns": 7000000, "high_ns": 11000000, "detail": "As the mean."}]

    page = Page(t, page_file(t, "lock"))
    check_equal("without", page.run("return document.querySelectorAll('#critical-path, #what-if').length"), 0)
    check_not_in("without", "critical", page.text().lower())
    page.quiet()
    page.open(page_file(t, "lock", change))
    check_equal("path", len(page.rows("critical-path")), 3)
    check_equal("what if", page.rows("what-if")[0], "balanced")
    check_in("legend", "critical path", page.text("#timeline .legend"))
    page.run("document.querySelector('#critical-path details').open = true")
    wait_for("it is open", lambda: page.run("return !!document.querySelector('#critical-path button.place')"))
    page.b.click("#critical-path button.place")
    check_between("in view", page.view(), 3990000, 4010000)
    inert(page)


# --- folded stacks, and files that cannot be written ------------------------------------------------------------

def test_folded_of_a_traced_run(t):
    """process;thread;barrier;what ns: the lines have what each thread did at each barrier, and are complete."""
    records, paths = traced(t, [workload("lu"), "--size", "200", "--threads", "3"], "folded")
    stacks = collections.Counter()
    with open(paths["folded"], encoding="utf-8") as f:
        for one in f:
            match = re.fullmatch(r"lu \((\d+)\);\d lu \((\d+)\);([^;]+);([^;]+) (\d+)\n", one)
            check(match, f"no stack: {one}")
            stacks[int(match[2]), match[3], match[4]] += int(match[5])
    for barrier in (r for r in records if r["type"] == "barrier"):
        for thread in barrier["threads"]:
            at = thread["tid"], barrier["label"]
            for what, ns in (("on CPU", thread["oncpu_ns"]), ("run queue", thread["runq_ns"]), ("wait", thread["wait_ns"]),
                             ("leave", thread["idle_ns"] - thread["wait_ns"])):
                check_equal(f"{what} of {at}", stacks[(*at, what)], ns)
    process = next(r for r in records if r["type"] == "process")
    for thread in process["threads"]:
        check_equal(f"all of {thread['tid']}", sum(n for (tid, _, _), n in stacks.items() if tid == thread["tid"]),
                    thread["work_ns"] + thread["idle_ns"])


def test_files(t):
    """Each file that cannot be written is reported once, and no incomplete file is left."""
    tape = t.path("tape")
    check_equal("record", t.sbt("record", "-o", tape, "--", workload("lu"), "--size", "50").rc, 0)
    for option in ("--chrome", "--html", "--folded"):
        for path, why in (("/dev/full", "No space left on device"), (t.path("no") + "/such", "No such file")):
            result = t.sbt("report", "--detail", option, path, "-o", t.path(), tape, rc=1)
            check_in(f"{option} {path}", f"cannot write {path}: {why}", result.err)
            check_equal("printed once", result.err.count("cannot write"), 1)
        left = t.path()
        check_equal("no recording", t.sbt("report", "--detail", option, left, "/etc/passwd").rc, 1)
        check_equal("left behind", os.path.exists(left), False)


# --- Markdown -------------------------------------------------------------------------------------------------

def test_markdown(t):
    """The report has the text of the text report, and its tables as Markdown tables."""
    path = t.path()
    result = t.sbt("--markdown", "--detail", "-o", path, "--", workload("lu"), "--size", "100", "--threads", "3", rc=0)
    text = read_text(path)
    check(re.search(r"^## SBT report: .* 1 process, 100 episodes at 2 barriers$", text, re.M), text)
    check(re.search(r"^\| id \| barrier \| episodes \|.*\n(\| -+:? )+\|\n\| \\#", text, re.M), text)
    check_in("the barrier", "| lu\\_block() lu.c:", text)
    result = t.sbt("--markdown", "--json", "-o", path, "--", "true", rc=2)
    check_in("what it says", "one of --json, --csv and --markdown", result.err)


# --- the charting library -----------------------------------------------------------------------------------

def chart(t, fake=None, digest="0" * 64):
    """Run scripts/chart with a folder of programs in which npm is the script @fake. Return the result, and the folder that it
    filled."""
    programs, out = t.path(), t.path()
    os.mkdir(programs)
    for name in ("sh", "mkdir", "mktemp", "sha256sum", "cut", "tar", "gzip", "cp", "rm", "touch"):
        os.symlink(subprocess.check_output(["which", name], text=True).strip(), os.path.join(programs, name))
    if fake is not None:
        write_file(os.path.join(programs, "npm"), "#!/bin/sh\n" + fake)
        os.chmod(os.path.join(programs, "npm"), 0o755)
    result = t.run([os.path.join(ROOT, "scripts", "chart"), "some@1", digest, out], env={"PATH": programs})
    return result, out


def test_chart_without_npm(t):
    for fake in (None, "exit 1\n", "exit 0\n"):
        result, out = chart(t, fake)
        check_equal("exit status", result.rc, 0)
        check_in("what it says", "built without report --html", result.err)
        check_equal("files", {f: os.path.getsize(os.path.join(out, f)) for f in os.listdir(out)},
                    {"chart.js": 0, "chart.css": 0, "LICENSE": 0})


def test_chart_is_not_the_one(t):
    """Another package with the same name is refused."""
    result, out = chart(t, "echo something > some-1.tgz\n")
    check_equal("exit status", result.rc, 1)
    check_in("what it says", "is not some@1", result.err)
    check_equal("files", os.listdir(out), [])


def test_html_without_the_library(t):
    """A program built without the library says so."""
    for name in ("chart.js", "chart.css", "LICENSE"):
        open(t.path(name), "wb").close()
    assets = t.path("assets.o")
    subprocess.run(["cc", "-c", "-Iuser", f'-DHTML_CHART="{t.dir}/"', "user/emit/html_assets.c", "-o", assets], cwd=ROOT, check=True)
    made = os.path.join(ROOT, "build", "tests", "pictures", "made.o")
    # Build the program as the Makefile does, except for the assets: object files on the command line are used before the
    # library's.
    library = os.path.join(ROOT, "build", "pure.a")
    subprocess.run(["cc", "-o", t.path("without"), made, assets, library, "-lm"], check=True)
    result = t.run([t.path("without"), "10", "2", t.path("page.html"), "-"], rc=1)
    check_in("what it says", "built without the charting library", result.err)
