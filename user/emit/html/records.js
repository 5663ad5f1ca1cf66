// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
// The contents of the report's records, and the answer at the top of the page.
// --- the records --------------------------------------------------------------------------------

const runs = data.runs.map((r) => ({
	name: r.name,
	all: r.records,
	of: (type) => r.records.filter((x) => x.type === type),
}));
const main = runs[0];
const processes = main.of("process"),
	barriers = main.of("barrier").filter((b) => !b.nested && b.episodes);
const many = processes.length > 1;
const labelOf = (b) => b.label + (many && !b.shared ? " (" + b.pid + ")" : "");

// --- roles of threads ---------------------------------------------------------------------------

const OPENMP = ["gomp", "libomp"];
const laneOf = new Map(data.timeline.lanes.map((l) => [l.thread.tid, l.thread]));
const commOf = new Map(processes.map((p) => [p.pid, p.comm]));
const pidOf = new Map(processes.flatMap((p) => (p.threads || []).map((t) => [t.tid, p.pid])));
const threadOf = new Map(processes.flatMap((p) => (p.threads || []).map((t) => [t.tid, t])));
// The MPI ranks of threads, and of the processes that have a single rank.
const rankOf = new Map(
	main
		.of("group")
		.filter((g) => g.ranked)
		.flatMap((g) => (g.threads || []).map((t) => [t.tid, t.index])),
);
for (const [tid, l] of laneOf) if (l.family === "mpi" && l.placed && known(l.index)) rankOf.set(tid, l.index);
const rankOfProcess = new Map();
for (const [tid, rank] of rankOf) {
	const pid = (laneOf.get(tid) || {}).pid ?? pidOf.get(tid);
	rankOfProcess.set(pid, rankOfProcess.has(pid) && rankOfProcess.get(pid) !== rank ? null : rank);
}
/*
 * What a thread is in its program, as far as the data say it: an MPI rank, an OpenMP thread, the
 * main thread, a worker; and its name if that is not the program's.
 */
function threadName(t) {
	const l = laneOf.get(t.tid) || {},
		pid = l.pid ?? pidOf.get(t.tid),
		comm = t.comm || l.comm,
		index = t.index ?? l.index,
		first = t.tid === pid;
	const own = comm && comm !== commOf.get(pid) ? comm : "";
	if (rankOf.has(t.tid)) return "rank " + rankOf.get(t.tid) + (own ? " " + own : "");
	const rank = rankOfProcess.get(pid);
	const before = known(rank) ? "rank " + rank + ", " : "";
	const number = known(index) ? index + " " : "";
	if (OPENMP.includes(l.family))
		return (
			before +
			(l.placed ? "OpenMP " + number.trim() : number + "OpenMP") +
			(first ? " main" : l.placed ? "" : " worker") +
			(own ? " " + own : "")
		);
	return (
		before +
		number +
		(first ? "main" + (own ? " " + own : "") : own || "worker") +
		(known(index) ? "" : " " + t.tid)
	);
}
// The name with the process, if several processes have threads with the same role.
function threadLabel(t) {
	const pid = (laneOf.get(t.tid) || {}).pid ?? pidOf.get(t.tid);
	return (many && !rankOf.has(t.tid) ? (pid || "?") + ": " : "") + threadName(t);
}
// The role alone, to sort by: ranks, main threads, OpenMP threads, workers by name.
function roleOrder(t) {
	const l = laneOf.get(t.tid) || {};
	if (rankOf.has(t.tid)) return "0 " + String(rankOf.get(t.tid)).padStart(9, "0");
	if (t.tid === (l.pid ?? pidOf.get(t.tid))) return "1";
	return (OPENMP.includes(l.family) ? "2 " : "3 ") + (t.comm || "");
}
const SORTS = [
	["number", (t) => t.index ?? 1e9, 1],
	["role", roleOrder, 1],
	["time inside barriers", (t) => (threadOf.get(t.tid) || {}).idle_ns ?? -1, -1],
	["times last", (t) => (threadOf.get(t.tid) || {}).last ?? -1, -1],
	["work", (t) => (threadOf.get(t.tid) || {}).work_ns ?? -1, -1],
	["name", (t) => threadName(t), 1],
];
// A sorted copy of threads or lanes. Equal ones stay in the order of process and number.
function sorted(list) {
	const [, key, sign] = SORTS[view.sort];
	const at = (t) => (laneOf.get(t.tid) || {}).pid ?? pidOf.get(t.tid) ?? 0;
	const rankAt = (t) => rankOf.get(t.tid) ?? 1e9;
	return [...list].sort((a, b) => {
		const x = key(a),
			y = key(b);
		const by = view.sort
			? x < y
				? -sign
				: x > y
					? sign
					: 0
			: rankAt(a) - rankAt(b) || at(a) - at(b) || x - y;
		return by || at(a) - at(b) || (a.index ?? 1e9) - (b.index ?? 1e9) || a.tid - b.tid;
	});
}

// --- filters ------------------------------------------------------------------------------------

// What the reader chose: words that threads, barriers and functions contain, and orders.
const view = {
	thread: "",
	barrier: "",
	fn: "",
	sort: 0,
	colour: 0,
	share: 0,
	rows: 0,
	bsort: 0,
	bshare: 0,
	team: 0,
	counter: 0,
};
const has = (word, ...texts) =>
	!word || texts.some((t) => (known(t) || t ? String(t).toLowerCase().includes(word) : false));
// The name of a function as one reads it, as function_name_call() of the tracer does it.
const called = (name) =>
	name + (name.includes("(") || /^<.*>$/.test(name) || !/[\p{L}\p{N}_$>}]$/u.test(name) ? "" : "()");
const frameName = (f) =>
	(f.function && called(f.function)) ||
	(f.module ? f.module.split("/").pop() + (known(f.offset) ? "+0x" + f.offset.toString(16) : "") : "?");
const placesOf = (b) =>
	main.of("place").filter((p) => p.barrier === b.id && (!known(p.pid) || !known(b.pid) || p.pid === b.pid));
const functionsOf = (b) => [
	b.function,
	...(b.callsites || []).flatMap((c) => [c.function, c.inlined, c.through]),
	...((b.cause && b.cause.stack) || []).flatMap((f) => [f.function, f.inlined]),
	...placesOf(b).flatMap((p) => [p.function, ...(p.stack || []).flatMap((f) => [f.function, f.inlined])]),
];
const threadShown = (t) =>
	has(view.thread, threadName(t), t.comm, t.tid, "pid " + ((laneOf.get(t.tid) || {}).pid ?? pidOf.get(t.tid)));
const barrierNamed = (b) => has(view.barrier, labelOf(b), b.id, b.family, b.kind, b.object);
const barrierShown = (b) => barrierNamed(b) && has(view.fn, ...functionsOf(b));
const filtering = () => view.barrier || view.fn;
let redraw = () => {};
function filterBar() {
	const names = [...laneOf.values()],
		all = main.of("barrier");
	if (!names.length && !all.length) return;
	const status = element("span", { class: "dim", id: "filtered", role: "status" });
	const say = () => {
		const on = view.thread || view.barrier || view.fn;
		status.textContent = on
			? count(names.filter(threadShown).length) +
				" of " +
				plural(names.length, "thread") +
				", " +
				count(all.filter(barrierShown).length) +
				" of " +
				plural(all.length, "barrier")
			: "";
	};
	let later = 0;
	const field = (key, label, hint) => {
		const input = element("input", {
			type: "search",
			id: "filter-" + key,
			placeholder: hint,
			oninput: () => {
				view[key] = input.value.trim().toLowerCase();
				clearTimeout(later);
				later = setTimeout(() => {
					say();
					redraw();
				}, 120);
			},
		});
		return element("label", {}, label + " ", input);
	};
	const fields = [
		field("thread", "Thread", "name, role or tid"),
		field("barrier", "Barrier", "label, id or family"),
		field("fn", "Function", "in call sites and stacks"),
	];
	const clear = element(
		"button",
		{
			type: "button",
			id: "filter-clear",
			onclick: () => {
				view.thread = view.barrier = view.fn = "";
				for (const f of fields) f.querySelector("input").value = "";
				say();
				redraw();
			},
		},
		"Clear",
	);
	page.append(
		element(
			"form",
			{ class: "filters", role: "search", onsubmit: (e) => e.preventDefault() },
			...fields,
			clear,
			status,
		),
	);
	for (const f of fields) f.querySelector("input").value = view[f.querySelector("input").id.slice(7)];
	say();
}

// The time in the phases of each barrier, by id, in all runs.
const weight = new Map();
for (const r of runs)
	for (const b of r.of("barrier").filter((x) => !x.nested && x.phase_ns))
		weight.set(b.id, (weight.get(b.id) || 0) + b.phase_ns.sum);
const barrierOf = new Map(main.of("barrier").map((b) => [b.id, b]));

// The teams: processes that share barriers are one team, each other process is a team of its own.
function teamsOf(run) {
	const list = run.of("process");
	const groups = run.of("group").map((g) => {
		const pids = new Set(g.processes.map((p) => p.pid)),
			own = list.filter((p) => pids.has(p.pid));
		const comms = [...new Set(g.processes.map((p) => p.comm || "?"))];
		return {
			name: pids.size + " processes " + comms.join(", "),
			pids,
			record: g,
			threads: own.flatMap((p) => p.threads || []).sort((a, b) => (a.index ?? 0) - (b.index ?? 0)),
		};
	});
	const grouped = new Set(groups.flatMap((g) => [...g.pids]));
	return groups.concat(
		list.map((p) => ({
			name: (p.comm || "?") + " " + p.pid,
			pids: new Set([p.pid]),
			record: p,
			threads: p.threads || [],
			inGroup: grouped.has(p.pid),
		})),
	);
}

// The part of the run that the figures cover.
const end = main.of("end")[0] || main.of("interim")[0] || {};
const windowed = known(end.from_ns) || known(end.to_ns);
// Charts begin with the part that is shown. Their times count from the start of tracing, as in the
// report.
const shownFrom = end.from_ns ?? 0;
const wholeText = windowed ? "Whole part" : "Whole run";
function extent() {
	if (windowed)
		page.append(
			element(
				"p",
				{},
				"Covers only crossings with arrivals from " +
					time(end.from_ns ?? 0) +
					(known(end.to_ns) ? " to " + time(end.to_ns) : " to the end") +
					" after the start of tracing: all times, sums and shares refer to that part of the run.",
			),
		);
	if (end.rows) page.append(element("p", {}, "Rows are shown only for " + end.rows + "."));
}

/*
 * The program's name: that of the command without its folder, or, if the command started the program
 * that was traced (mpirun, env), the name of the traced process.
 */
function programName() {
	const word = (data.title || "").trim().split(/\s+/)[0].split("/").pop();
	const comms = processes.map((p) => p.comm).filter(Boolean);
	if (!comms.length) return word || "sbt-trace report";
	return word && comms.some((c) => word.startsWith(c)) ? word : comms[0];
}
function summary() {
	const name = programName();
	document.title = name + " – sbt-trace";
	page.append(
		element("h1", {}, name),
		element(
			"p",
			{ class: "dim" },
			"sbt-trace " +
				data.version +
				(data.interim ? ", interim report" : "") +
				": " +
				time(data.elapsed_ns) +
				(windowed ? " of the run, " : " traced, ") +
				plural(processes.length, "process", "processes") +
				", " +
				plural(end.episodes, "episode") +
				" at " +
				plural(main.of("barrier").length, "barrier") +
				", " +
				plural(end.crossings, "crossing"),
		),
	);
	extent();
	if (end.complete === false)
		page.append(
			element(
				"p",
				{ class: "warn" },
				"Incomplete: records were lost (" +
					Object.entries(end.lost || {})
						.filter(([, n]) => n)
						.map(([cause, n]) => cause.replaceAll("_", " ") + " " + count(n))
						.join(", ") +
					"). The figures do not include the lost records.",
			),
		);
	for (const h of main.of("hang"))
		page.append(
			element(
				"p",
				{ class: "warn" },
				"Hang in " + (h.comm || "?") + " (pid " + h.pid + "): " + sentence(h.text),
			),
		);
	const shown = teamsOf(main).filter((t) => !t.inGroup);
	if (!shown.length)
		page.append(
			element("p", { class: "answer" }, "No thread crossed a barrier" + (windowed ? " in that time." : ".")),
		);
	if (shown.length > 10)
		page.append(
			element("p", { class: "dim" }, "The first 10 of " + count(shown.length) + " teams are shown."),
		);
	for (const { name, record: p } of shown.slice(0, 10)) {
		const e = p.efficiency || {};
		if (shown.length > 1) page.append(element("h3", {}, name));
		page.append(
			element("p", { class: "answer" }, sentence(p.verdict) || "Nothing is known about its barriers."),
		);
		if (p.advice) page.append(element("p", {}, sentence(p.advice)));
		page.append(
			element(
				"div",
				{ class: "tiles" },
				...[
					[ratio(e.parallel), "parallel efficiency"],
					[ratio(e.load_balance), "× load balance"],
					[ratio(e.serialisation), "× serialisation"],
					[ratio(e.transfer), "× transfer"],
					[time(p.elapsed_ns), "elapsed"],
					[count(p.nthreads), "threads"],
					[time(p.wait_ns), "lost to waiting, all threads"],
				].map(([v, what]) =>
					element("div", { class: "tile" }, element("b", {}, v), element("span", {}, what)),
				),
			),
		);
	}
	for (const f of main.of("finding")) page.append(element("p", {}, sentence(f.text)));
	const remarks = main.of("remark");
	if (remarks.length) {
		page.append(element("p", {}, "Missing from these figures, or only partly included:"));
		page.append(element("ul", {}, ...remarks.map((r) => element("li", {}, sentence(r.text)))));
	}
}
