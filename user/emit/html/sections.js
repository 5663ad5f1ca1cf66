// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
// Barriers with their causes, threads, counters, runs, and the page as a whole.
// --- one barrier --------------------------------------------------------------------------------

const THREAD_PARTS = ["work", "wait", "leave"];
// The thread time of a record of a thread: outside barriers, waiting, leaving.
const timesOf = (t) => ({
	work: t.work_ns,
	wait: t.wait_ns,
	leave: known(t.idle_ns) ? Math.max(0, t.idle_ns - (t.wait_ns || 0)) : null,
});
// The phase begins when the last thread starts. The first arrivals may be earlier.
const phaseParts = (b) => {
	const all = (b.phase_ns && b.phase_ns.sum) || 0,
		within = Math.min((b.barrier_ns && b.barrier_ns.sum) || 0, all);
	return { before: all - within, within };
};
function spread(values) {
	const v = values.filter(known);
	if (!v.length) return null;
	const mean = sum(v) / v.length,
		sigma = Math.sqrt(sum(v.map((x) => (x - mean) ** 2)) / v.length);
	return { n: v.length, mean, sigma, min: Math.min(...v), max: Math.max(...v) };
}
const scaleOf = (values) => timeScale(Math.max(0, ...values.filter(known)));

/* A stack, innermost frame first. Frames in @module are the program's. */
function stackList(title, frames, module) {
	if (!frames || !frames.length) return null;
	const file = (f) => (f.file ? " " + f.file.split("/").pop() + (f.line ? ":" + f.line : "") : "");
	return element(
		"details",
		{ class: "stack" },
		element("summary", {}, title + ", " + plural(frames.length, "frame")),
		element(
			"ol",
			{},
			...frames.map((f) =>
				element(
					"li",
					{
						class: module && f.module === module ? "own" : "",
						title: [f.file, f.module].filter(Boolean).join("\n"),
					},
					element("code", {}, frameName(f)),
					element("span", { class: "dim" }, file(f) + (f.inlined ? ", inlined in " + f.inlined : "")),
				),
			),
		),
	);
}
/* The parts of the lateness that are above 0, largest first. */
const positive = (b) =>
	Object.entries((b.cause && b.cause.parts) || {})
		.filter(([, ns]) => ns > 0)
		.sort((x, y) => y[1] - x[1]);
function causesOf(b, into) {
	const parts = positive(b),
		less = Object.entries((b.cause && b.cause.parts) || {}).filter(([, ns]) => ns < 0);
	if (!parts.length) return;
	into.append(element("h4", {}, "Parts of the last arrivers’ lateness"));
	bars(into, {
		name: "Parts of the lateness",
		rows: parts.map(([name, ns]) => ({
			id: "",
			label: CAUSE_TEXT[name] || name,
			parts: { [meaningOf(name)]: ns },
			value: time(ns),
		})),
		keys: [...new Set(parts.map(([n]) => meaningOf(n)))],
		scale: scaleOf(parts.map(([, ns]) => ns)),
	});
	if (less.length)
		into.append(
			element(
				"p",
				{ class: "dim" },
				"Less than the typical thread: " +
					less.map(([n, ns]) => (CAUSE_TEXT[n] || n) + " " + time(-ns)).join(", ") +
					".",
			),
		);
}
/*
 * The functions in which the last arrivers were longer than their reference threads, from samples:
 * {function, file, line, last_ns, reference_ns, low_ns, high_ns, samples, stack}.
 */
function placesList(b, into) {
	const extra = (p) => p.last_ns - p.reference_ns;
	const list = placesOf(b)
		.filter((p) => known(p.last_ns) && known(p.reference_ns))
		.sort((x, y) => extra(y) - extra(x));
	if (!list.length) return;
	const hasInterval = (p) => known(p.low_ns) && known(p.high_ns);
	const label = (p) =>
		(p.function ? called(p.function) : "?") + (p.file ? " " + p.file.split("/").pop() + (p.line ? ":" + p.line : "") : "");
	into.append(
		element("h4", {}, "Where the last arrivers were on a CPU for longer"),
		meanings(["oncpu"], [element("i", { class: "range" }), "95 % interval of the extra time"]),
	);
	bars(into, {
		name: "Functions",
		most: 10,
		rows: list.map((p, i) => ({
			id: "place " + b.id + " " + (b.pid ?? "") + " " + i,
			label: label(p),
			parts: { oncpu: Math.max(0, extra(p)) },
			value: (extra(p) < 0 ? "−" : "+") + time(Math.abs(extra(p))),
			mark:
				hasInterval(p) && p.high_ns > 0
					? {
							low: p.low_ns,
							high: Math.max(p.low_ns, p.high_ns),
							text: time(p.low_ns) + " to " + time(p.high_ns),
						}
					: null,
			body: () => [
				element(
					"p",
					{},
					"Last arrivers " +
						time(p.last_ns) +
						", reference threads " +
						time(p.reference_ns) +
						(hasInterval(p)
							? "; the difference is between " + time(p.low_ns) + " and " + time(p.high_ns)
							: "") +
						(known(p.samples) ? ", from " + plural(p.samples, "sample") : "") +
						"." +
						(hasInterval(p) && p.low_ns <= 0
							? " The interval includes 0, so the difference may be chance."
							: ""),
				),
				stackList("Stack", p.stack) || element("p", { class: "dim" }, "No stack is known."),
			],
		})),
		keys: ["oncpu"],
		scale: scaleOf(list.flatMap((p) => [extra(p), p.high_ns])),
	});
}
function barrierBody(b, run) {
	const into = element("div", {});
	into.append(
		...[
			b.verdict ? element("p", {}, sentence(b.verdict)) : null,
			b.cause && b.cause.text ? element("p", { class: "cause-text" }, sentence(b.cause.text)) : null,
			b.advice ? element("p", {}, sentence(b.advice)) : null,
		].filter(Boolean),
	);
	const places =
		lanes.length && run === main ? (b.longest || []).filter((x) => known(x.t_ns) && known(x.phase_ns)) : [];
	if (places.length)
		into.append(
			element(
				"div",
				{ class: "tools" },
				"In the timeline: ",
				...places.map((x) =>
					element(
						"button",
						{ type: "button", class: "place", onclick: () => showPhase(b, x) },
						"phase " + count(x.phase) + ", " + time(x.phase_ns),
					),
				),
			),
		);
	// The inner charts measure their width when the row is open.
	return (inner) => {
		inner.append(into);
		causesOf(b, into);
		const stack = stackList(
			b.cause && b.cause.dominant === "gil" ? "Where the GIL was held" : "Stack of the longest wait",
			b.cause && b.cause.stack, b.module);
		if (stack) into.append(stack);
		placesList(b, into);
		const threads = sorted((b.threads || []).filter(threadShown));
		if (threads.length > 1) {
			into.append(element("h4", {}, "Threads at this barrier"), meanings(THREAD_PARTS));
			bars(into, {
				name: "Threads at this barrier",
				most: 16,
				rows: threads.map((t) => ({
					id: "",
					label: threadLabel(t),
					parts: timesOf(t),
					value: "last " + count(t.last) + "×",
				})),
				keys: THREAD_PARTS,
				scale: scaleOf(threads.map((t) => sum(Object.values(timesOf(t))))),
			});
		}
		return [];
	};
}

// --- barriers -----------------------------------------------------------------------------------

const order = new Map(data.timeline.series.barriers.map((b, i) => [b.id, i]));
const BARRIER_SORTS = [
	["lost time", (b) => -(b.lost_ns ?? 0)],
	["phase time", (b) => -((b.phase_ns && b.phase_ns.sum) || 0)],
	["episodes", (b) => -(b.episodes ?? 0)],
	["first episode", (b) => order.get(b.id) ?? 1e9],
	["name", null],
];
let opened = false;
function barrierRows() {
	const list = runs.flatMap((r) =>
		r
			.of("barrier")
			.filter((b) => !b.nested && b.episodes && barrierShown(b))
			.map((b) => ({ r, b })),
	);
	const by = BARRIER_SORTS[view.bsort][1];
	list.sort((x, y) => (by ? by(x.b) - by(y.b) : labelOf(x.b).localeCompare(labelOf(y.b))));
	return list;
}
function barrierSection() {
	const any = main.of("barrier");
	if (!any.length) return;
	const s = section(
		"Barriers and causes",
		"Open a row to see why its last arrivers were late, in which functions, with which stacks, and to go to " +
			"its longest phases in the timeline.",
	);
	const list = barrierRows();
	s.append(
		element(
			"div",
			{ class: "tools" },
			select(
				"bsort",
				"Sort barriers by",
				BARRIER_SORTS.map(([n]) => n),
			),
			select("rows", "Bars", ["thread time", "phase time"]),
			select("bshare", "Scale", ["time", "per cent"]),
		),
	);
	const keys = view.rows ? ["before", "within"] : THREAD_PARTS;
	const used = [
		...new Set(list.flatMap(({ b }) => (b.cause && b.cause.dominant ? [meaningOf(b.cause.dominant)] : []))),
	];
	if (!list.length)
		s.append(
			element(
				"p",
				{ class: "dim" },
				barriers.length ? "No barrier matches the filter." : "No barrier has a complete episode.",
			),
		);
	else {
		s.append(meanings([...keys, ...used.filter((k) => !keys.includes(k))]));
		if (!opened && list[0].b.cause && list[0].b.cause.text) openRows.add(rowId(list[0]));
		opened = true;
		const parts = list.map(({ b }) => (view.rows ? phaseParts(b) : sumTimes(b)));
		bars(s, {
			name: "Barriers",
			share: view.bshare,
			rows: list.map(({ r, b }, i) => ({
				id: rowId({ r, b }),
				label: labelOf(b) + (runs.length > 1 ? " · " + r.name : ""),
				hint:
					b.cause && b.cause.dominant
						? [
								meaningOf(b.cause.dominant),
								(CAUSE_TEXT[b.cause.dominant] || b.cause.dominant) + " " + percent(b.cause.share),
							]
						: null,
				parts: parts[i],
				value: "lost " + time(b.lost_ns),
				body: (inner) => barrierBody(b, r)(inner),
			})),
			keys,
			scale: scaleOf(parts.map((p) => sum(Object.values(p)))),
		});
	}
	everyBarrier(s);
	waits(s);
}
// The thread time of a barrier: of its threads, or if they are not known, the waits alone.
function sumTimes(b) {
	const all = (b.threads || []).map(timesOf);
	if (!all.length) return { wait: b.lost_ns };
	return Object.fromEntries(THREAD_PARTS.map((k) => [k, sum(all.map((t) => t[k]))]));
}
const rowId = ({ r, b }) =>
	"barrier " + b.id + (r === main ? "" : " " + r.name) + (many && r === main ? " " + b.pid : "");
function everyBarrier(s) {
	const list = main.of("barrier").filter(barrierShown).slice(0, 500);
	if (!list.length) return;
	const mean = (q) => (q ? time(q.mean) : "?");
	s.append(
		numbers(
			[
				"Barrier",
				"id",
				"kind",
				"episodes",
				"incomplete",
				"threads",
				"to the first arrival",
				"first to last arrival",
				"phase, mean",
				"barrier time, mean",
				"lost",
				"verdict",
			],
			list.map((b) => [
				labelOf(b),
				b.id,
				[b.family, b.kind, b.nested ? "nested" : ""].filter(Boolean).join(" "),
				count(b.episodes),
				count(b.incomplete),
				count(b.participants),
				time(phaseParts(b).before),
				time(phaseParts(b).within),
				mean(b.phase_ns),
				mean(b.barrier_ns),
				time(b.lost_ns),
				sentence(b.verdict) || "",
			]),
			[0, 11],
		),
	);
}
// How the total waits of a barrier's threads differ: a wide range is static imbalance.
function waits(s) {
	const rowsOf = runs.flatMap((r) =>
		r
			.of("barrier")
			.filter((b) => !b.nested && (b.threads || []).length > 1 && barrierShown(b))
			.slice(0, 200)
			.map((b) => [b, r, spread(b.threads.map((t) => t.wait_ns))]),
	);
	const list = rowsOf.filter(([, , x]) => x);
	if (!list.length) return;
	const d = numbers(
		["", "run", "threads", "smallest", "mean", "largest", "σ"],
		list.map(([b, r, x]) => [
			labelOf(b),
			runs.length > 1 ? r.name : "",
			count(x.n),
			...["min", "mean", "max", "sigma"].map((q) => time(x[q])),
		]),
		[0, 1],
	);
	d.querySelector("summary").textContent = "Idle times of threads: the total wait of each thread at a barrier";
	d.id = "idle-times";
	s.append(d);
}

// --- threads ------------------------------------------------------------------------------------

// A picture of the threads of one team at a time.
function teamSelect(s, tools, draw) {
	const box = element("div", {});
	const list = teamsOf(main)
		.filter((t) => t.threads.length && !t.inGroup)
		.slice(0, 200);
	if (!list.length) return;
	view.team = Math.min(view.team, list.length - 1);
	if (list.length > 1)
		tools.push(
			select(
				"team",
				"Team",
				list.map((t) => short(t.name, 60)),
			),
		);
	s.append(element("div", { class: "tools" }, ...tools), box);
	draw(list[view.team], box);
}
function threadSection() {
	const any = processes.some((p) => (p.threads || []).length);
	if (!any) return;
	const accounted = processes.some((p) => (p.threads || []).some((t) => known(t.oncpu_ns)));
	const s = section(
		"Threads",
		accounted
			? "Outside barriers: on a CPU, in the run queue, or blocked, by reason. Inside: waiting for the last arriver, and leaving."
			: "Outside barriers, and inside: waiting for the last arriver, and leaving. Scheduler states were not recorded.",
	);
	const all = [...(accounted ? [...STATES, "unattributed"] : ["work"]), "wait", "leave", "inside"];
	// A thread's idle time includes episodes whose last arrival is unknown. Its records at barriers do not.
	const leaves = new Map();
	for (const b of barriers)
		for (const t of b.threads || []) leaves.set(t.tid, (leaves.get(t.tid) || 0) + (timesOf(t).leave || 0));
	const parts = (t) => {
		const idle = timesOf(t).leave,
			leave = known(idle) ? Math.min(idle, leaves.get(t.tid) || 0) : null,
			x = { ...timesOf(t), leave, inside: known(idle) ? idle - leave : null };
		if (!accounted) return x;
		return {
			oncpu: t.oncpu_ns,
			runq: t.runq_ns,
			...Object.fromEntries(REASONS.map((k) => [k, t.blocked_ns && t.blocked_ns[k]])),
			unattributed: known(t.oncpu_ns) ? t.unattributed_ns : t.work_ns,
			wait: x.wait,
			leave: x.leave,
			inside: x.inside,
		};
	};
	const tools = [
		// The timeline has the same selection.
		select(
			"sort",
			"Sort threads by",
			SORTS.map(([n]) => n),
			"choose-thread-sort",
		),
		select("share", "Scale", ["time", "per cent"]),
	];
	teamSelect(s, tools, (team, box) => {
		const threads = sorted(team.threads.filter(threadShown));
		if (!threads.length) return box.append(element("p", { class: "dim" }, "No thread matches the filter."));
		const values = threads.map(parts),
			keys = all.filter((k) => values.some((v) => v[k] > 0));
		box.append(meanings(keys));
		bars(box, {
			name: "Threads",
			most: 64,
			share: view.share,
			rows: threads.map((t, i) => ({
				id: "thread " + t.tid,
				label: threadLabel(t),
				parts: values[i],
				value: "last " + count(t.last) + "×",
				body: (inner) => threadBody(t, inner),
			})),
			keys,
			scale: scaleOf(values.map((v) => sum(Object.values(v)))),
		});
		box.append(
			numbers(
				["", "tid", ...keys.map((k) => MEANING[k]), "arrived last"],
				threads.map((t, i) => [
					threadLabel(t),
					String(t.tid),
					...keys.map((k) => time(values[i][k])),
					count(t.last),
				]),
			),
		);
	});
}
function threadBody(t, inner) {
	const at = barriers
		.filter(barrierShown)
		.map((b) => [b, (b.threads || []).find((x) => x.tid === t.tid)])
		.filter(([, x]) => x)
		.sort((x, y) => sum([y[1].wait_ns, y[1].work_ns]) - sum([x[1].wait_ns, x[1].work_ns]));
	inner.append(
		element(
			"p",
			{},
			"Thread " + t.tid + (t.comm ? " (" + t.comm + ")" : "") + ": " + plural(t.crossings, "crossing") + ".",
		),
	);
	if (!at.length) return [];
	inner.append(element("h4", {}, "By the barriers at which its phases end"), meanings(THREAD_PARTS));
	bars(inner, {
		name: "Barriers of the thread",
		most: 10,
		rows: at.map(([b, x]) => ({
			id: "",
			label: labelOf(b),
			parts: timesOf(x),
			value: "last " + count(x.last) + "×",
		})),
		keys: THREAD_PARTS,
		scale: scaleOf(at.map(([, x]) => sum(Object.values(timesOf(x))))),
	});
	return [];
}

// --- runs and teams -----------------------------------------------------------------------------

function teams() {
	const list = runs
		.flatMap((r) =>
			teamsOf(r)
				.map((t) => ({
					r,
					t,
					own: r
						.of("barrier")
						.filter(
							(b) =>
								t.pids.has(b.pid) &&
								!b.nested &&
								b.phase_ns &&
								barrierShown(b) &&
								(t.inGroup ? !b.shared : t.pids.size === 1 || b.shared),
						),
				}))
				.filter((c) => c.own.length),
		)
		.slice(0, 500);
	if (list.length < 2) return;
	const s = section(
		runs.length > 1 ? "Runs" : "Teams",
		"Phase times up to the first arrival, and from the first to the last arrival. Together they are the time that " +
			(windowed ? "this part of the run" : "the run") +
			" spent in these phases. Times of several teams of one process add up.",
	);
	const parts = list.map(({ own }) => {
		const each_own = own.map(phaseParts);
		return { before: sum(each_own.map((x) => x.before)), within: sum(each_own.map((x) => x.within)) };
	});
	const label = ({ r, t }) =>
		runs.length > 1 ? r.name + (list.filter((c) => c.r === r).length > 1 ? " " + t.name : "") : t.name;
	s.append(meanings(["before", "within"]));
	bars(s, {
		name: "Runs",
		most: 40,
		rows: list.map((c, i) => ({ id: "", label: label(c), parts: parts[i] })),
		keys: ["before", "within"],
		scale: scaleOf(parts.map((p) => p.before + p.within)),
	});
	s.append(
		numbers(
			["", MEANING.before, MEANING.within, "threads", "lost"],
			list.map((c, i) => [
				label(c),
				time(parts[i].before),
				time(parts[i].within),
				count(c.t.threads.length),
				time(sum(c.own.map((b) => b.lost_ns))),
			]),
		),
	);
}

// --- counters -----------------------------------------------------------------------------------

function counters() {
	const names = [...new Set(processes.flatMap((p) => Object.keys(p.counters || {})))];
	if (!names.length) return;
	const s = section(
		"Counters by phase",
		"Counts in the phases that end at each barrier, by thread, without the time inside barriers.",
	);
	view.counter = Math.min(view.counter, names.length - 1);
	const name = names[view.counter],
		value = (t) => (t.counters ? t.counters[name] : null);
	const list = barriers
		.filter((b) => barrierShown(b) && (b.threads || []).some((t) => known(value(t))))
		.map((b) => [b, spread(b.threads.map(value))])
		.sort((x, y) => y[1].max - x[1].max);
	s.append(element("div", { class: "tools" }, select("counter", "Counter", names)));
	if (!list.length) return s.append(element("p", { class: "dim" }, "Nothing is known of this counter."));
	s.append(meanings(["count"], [element("i", { class: "range" }), "smallest to largest thread"]));
	const top = Math.max(1, ...list.map(([, x]) => x.max)),
		unit = [
			[1e9, "10⁹"],
			[1e6, "10⁶"],
			[1e3, "10³"],
			[1, ""],
		].find(([f]) => top >= f),
		scale = { f: unit[0], name: unit[1], show: count };
	bars(s, {
		name: "Counters",
		rows: list.map(([b, x]) => ({
			id: "counter " + b.id + " " + b.pid,
			label: labelOf(b),
			parts: { count: x.mean },
			mark: { low: x.min, high: x.max, text: count(x.min) + " to " + count(x.max) },
			value: count(x.mean),
			body: (inner) => {
				bars(inner, {
					name: "Threads",
					most: 16,
					rows: sorted(b.threads.filter(threadShown)).map((t) => ({
						id: "",
						label: threadLabel(t),
						parts: { count: value(t) },
						value: count(value(t)),
					})),
					keys: ["count"],
					scale,
				});
				return [];
			},
		})),
		keys: ["count"],
		scale,
	});
	const all = sum(processes.map((p) => p.counters && p.counters[name]));
	s.append(
		numbers(
			[
				"",
				"all threads",
				windowed ? "share of the part shown" : "share of the run",
				"mean",
				"smallest",
				"largest",
				"σ",
			],
			list.map(([b, x]) => {
				const own = b.counters && b.counters[name];
				return [
					labelOf(b),
					count(own),
					known(own) && all ? percent(own / all) : "?",
					...[x.mean, x.min, x.max, x.sigma].map(count),
				];
			}),
		),
	);
	if (processes.some((p) => p.counters_scaled && p.counters_scaled[name]))
		s.append(element("p", { class: "dim" }, "Multiplexed: these counts are estimates."));
}

// --- the critical path, and what would change ---------------------------------------------------

/* critical_path: {ns, segments: [{tid, from_ns, to_ns, barrier, function}]}, times from the start. */
function criticalPath() {
	const path = data.critical_path;
	if (!path || !(path.segments || []).length) return;
	const s = section(
		"Critical path",
		"The longest chain of work: the run cannot be shorter unless this chain becomes shorter. The timeline marks it.",
	);
	const groups = new Map();
	for (const x of path.segments) {
		const key = x.tid + " " + (x.barrier ?? "") + " " + (x.function ?? ""),
			g = groups.get(key) || { ...x, ns: 0, n: 0, first: x };
		g.ns += x.to_ns - x.from_ns;
		g.n++;
		if (x.to_ns - x.from_ns > g.first.to_ns - g.first.from_ns) g.first = x;
		groups.set(key, g);
	}
	const list = [...groups.values()]
		.filter((g) => threadShown({ tid: g.tid, comm: "" }) && has(view.fn, g.function))
		.filter((g) => !view.barrier || (barrierOf.has(g.barrier) && barrierNamed(barrierOf.get(g.barrier))))
		.sort((a, b) => b.ns - a.ns);
	s.append(meanings(["critical"]));
	if (!list.length) return s.append(element("p", { class: "dim" }, "Nothing on it matches the filter."));
	bars(s, {
		name: "Critical path",
		rows: list.map((g, i) => ({
			id: "critical " + i,
			label:
				threadLabel({ tid: g.tid }) +
				(g.function ? " in " + called(g.function) : "") +
				(barrierOf.has(g.barrier) ? " to " + barrierOf.get(g.barrier).label : ""),
			parts: { critical: g.ns },
			body: () => [
				element(
					"p",
					{},
					plural(g.n, "segment") +
						", " +
						time(g.ns) +
						(path.ns ? ", " + percent(g.ns / path.ns) + " of the path. " : ". "),
					element(
						"button",
						{
							type: "button",
							class: "place",
							onclick: () => {
								zoom(g.first.from_ns / 1e9, g.first.to_ns / 1e9);
								document.getElementById("timeline").scrollIntoView();
							},
						},
						"Show the longest in the timeline",
					),
				),
			],
		})),
		keys: ["critical"],
		scale: scaleOf(list.map((g) => g.ns)),
	});
}
/* what_if: [{text, gain_ns, low_ns, high_ns, detail}], where detail is a sentence. */
function whatIf() {
	const list = (data.what_if || []).filter((w) => known(w.gain_ns));
	if (!list.length) return;
	const s = section(
		"What if",
		"How much shorter the run would be after one change at a time. These are estimates.",
	);
	const interval = list.some((w) => known(w.low_ns) && known(w.high_ns));
	s.append(
		meanings(["gain"], ...(interval ? [[element("i", { class: "range" }), "interval of the estimate"]] : [])),
	);
	bars(s, {
		name: "What if",
		rows: [...list]
			.sort((a, b) => b.gain_ns - a.gain_ns)
			.map((w, i) => ({
				id: "what " + i,
				label: w.text || "?",
				parts: { gain: w.gain_ns },
				mark:
					known(w.low_ns) && known(w.high_ns)
						? { low: w.low_ns, high: w.high_ns, text: time(w.low_ns) + " to " + time(w.high_ns) }
						: null,
				body: w.detail ? () => [element("p", {}, sentence(w.detail))] : null,
			})),
		keys: ["gain"],
		scale: scaleOf(list.flatMap((w) => [w.gain_ns, w.high_ns])),
	});
}

// --- the page -----------------------------------------------------------------------------------

const PARTS = [
	timeline,
	barrierSection,
	threadSection,
	criticalPath,
	whatIf,
	through,
	counters,
	teams,
	() => speedup(data.curves, undefined, ["measured", "predicted"].map(css)),
];
function drawBody(box) {
	const range = linked[0] && linked[0].scales.x;
	const [from, to] = range ? [range.min, range.max] : [0, data.elapsed_ns / 1e9];
	const at = scrollY;
	linked = [];
	target = box;
	box.style.minHeight = box.offsetHeight + "px";
	box.replaceChildren();
	for (const part of PARTS) part();
	box.style.minHeight = "";
	scrollTo(scrollX, at);
	if (linked.length) zoom(from, to);
}
drawPage([
	summary,
	filterBar,
	() => {
		const box = element("div", { id: "body" });
		page.append(box);
		redraw = () => drawBody(box);
		redraw();
	},
]);
