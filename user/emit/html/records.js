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
const threadName = (t) =>
	(known(t.index) ? t.index + " " : "") + (t.comm || "?") + (known(t.index) ? "" : " " + t.tid);
// The barriers with a colour, by id: a call site has the same colour in every run and process.
const weight = new Map();
for (const r of runs)
	for (const b of r.of("barrier").filter((x) => !x.nested && x.phase_ns))
		weight.set(b.id, (weight.get(b.id) || 0) + b.phase_ns.sum);
const coloured = [...weight.entries()]
	.sort((a, b) => b[1] - a[1])
	.slice(0, MOST_BARRIERS)
	.map(([id]) => id);
const nameOfId = new Map(runs.flatMap((r) => r.of("barrier").map((b) => [b.id, b.label])));
// Sort by the program's first episode at each barrier, as far as the timeline shows it.
const order = new Map(data.timeline.series.barriers.map((b, i) => [b.id, i]));
coloured.sort((a, b) => (order.get(a) ?? 1e9) - (order.get(b) ?? 1e9));
const colourOf = (id) => (coloured.includes(id) ? COLOURS[coloured.indexOf(id)] : OTHER);

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

function summary() {
	page.append(
		element("h1", {}, data.title || (processes[0] && processes[0].comm) || "sbt-trace report"),
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
			element("p", { class: "warn" }, "Hang in " + (h.comm || "?") + " (pid " + h.pid + "): " + sentence(h.text)),
		);
	const shown = teamsOf(main).filter((t) => !t.inGroup);
	if (!shown.length)
		page.append(
			element("p", { class: "answer" }, "No thread crossed a barrier" + (windowed ? " in that time." : ".")),
		);
	if (shown.length > 10)
		page.append(element("p", { class: "dim" }, "The first 10 of " + count(shown.length) + " teams are shown."));
	for (const { name, record: p } of shown.slice(0, 10)) {
		const e = p.efficiency || {};
		if (shown.length > 1) page.append(element("h3", {}, name));
		page.append(element("p", { class: "answer" }, sentence(p.verdict) || "Nothing is known about its barriers."));
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
