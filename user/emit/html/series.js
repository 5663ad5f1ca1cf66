// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
// Many recordings: times and ratios to a base, speedups, how time is spent, idle times, counters.
// --- points -------------------------------------------------------------------------------------

const points = of("series");
const there = (v) => v !== null && v !== undefined;
const two = points.some((p) => there(p.column));
const base = [...new Set(points.map((p) => p.base).filter(there))];
const baseName = base.length === 1 ? base[0] : "the first in its row or column";
// The colour of a column or row of two-way labels.
const wayNames = [...new Set([...points.map((p) => p.column), ...points.map((p) => p.row)].filter(there))];
const wayColour = (name) => (there(name) ? setColour(wayNames.indexOf(name)) : OTHER);
const AGAINST = base.length ? "normalised to " + short(baseName, 60) : "";

/*
 * Points as columns() takes them: one group, or for labels ROW/COLUMN one group per column.
 * get(point) returns a value, mark(point) its spread.
 */
function grid(get, mark) {
	if (!two)
		return {
			names: points.map((p) => p.label),
			groups: [{ name: "mean", colour: css("measured"), values: points.map(get) }],
			marks: mark && [points.map(mark)],
		};
	const rows = [...new Set(points.map((p) => p.row))],
		cols = [...new Set(points.map((p) => p.column ?? null))];
	const at = (row, col) => points.find((p) => p.row === row && (p.column ?? null) === col);
	const each = (f) => cols.map((c) => rows.map((r) => (at(r, c) ? f(at(r, c)) : null)));
	const values = each(get);
	return {
		names: rows,
		groups: cols.map((c, k) => ({
			name: c ?? "alone",
			colour: wayColour(c),
			values: values[k],
		})),
		marks: mark && each(mark),
	};
}
const sigmaText =
	" For several runs the column is the mean, the line reaches from the smallest to the largest value, and the box is the " +
	"mean ± the standard deviation σ.";

// Absolute values and ratios to the base, side by side.
function pairOf(parent, titles, absolute, scale, relative) {
	const boxes = titles.map((t) => element("div", { class: "chart" }, element("h3", {}, t)));
	parent.append(element("div", { class: "pair" }, ...boxes));
	columns(boxes[0], { ...absolute, scale, label: scale.name });
	if (boxes[1])
		columns(boxes[1], {
			...relative,
			scale: { f: 1, show: (v) => (known(v) ? v.toFixed(3) : "?") },
			label: "",
		});
	if (absolute.groups.length > 1) parent.append(legend(absolute.groups.map((g) => [g.colour, g.name])));
}
function times() {
	const several = points.some((p) => p.runs > 1);
	const s = section(
		"Time",
		"Time of the longest process or group." +
			(several ? sigmaText : "") +
			" Drag over columns to zoom into them, double-click to see all.",
	);
	const spread = (p) =>
		p.runs > 1 ? spreadOf(p.time_ns, p.time_stddev_ns, p.time_min_ns, p.time_max_ns) : null;
	const scale = timeScale(Math.max(0, ...points.map((p) => p.time_max_ns ?? p.time_ns ?? 0)));
	const relative = (p) => {
		const m = spread(p),
			by = p.time_ns / p.normalised;
		return m && by ? spreadOf(p.normalised, m.sigma / by, m.min / by, m.max / by) : null;
	};
	const normal = points.some((p) => known(p.normalised));
	pairOf(
		s,
		normal ? ["Time", "Time, " + AGAINST] : ["Time"],
		grid((p) => p.time_ns, spread),
		scale,
		grid((p) => p.normalised, relative),
	);
	s.append(
		(points.length > 24 ? numbers : table)(
			["", "runs", "threads", "time", "σ", "smallest", "largest", "to base", "speedup", "efficiency"],
			points.map((p) => [
				p.label + (p.recording_time ? " (length of the recording)" : ""),
				count(p.runs),
				count(p.nthreads),
				time(p.time_ns),
				...(p.runs > 1 ? [p.time_stddev_ns, p.time_min_ns, p.time_max_ns].map(time) : ["", "", ""]),
				known(p.normalised) ? p.normalised.toFixed(3) : "?",
				ratio(p.speedup),
				ratio(p.efficiency),
			]),
		),
	);
}

/*
 * Speedup by number of threads. With two-way labels, draw a curve for each column in which the
 * number of threads differs from point to point, or if there is none, for each such row. Without
 * two-way labels, one curve has all points, if their numbers of threads differ.
 */
function curvesOf() {
	const distinct = (list) => {
		const n = list.map((p) => p.nthreads);
		return n.length > 1 && n.every(known) && new Set(n).size === n.length;
	};
	const ways = two ? [(p) => p.column, (p) => p.row] : [() => "measured"];
	for (const way of ways) {
		const names = [...new Set(points.map(way).filter(there))];
		const curves = names
			.map((name) => ({
				name,
				list: points.filter((p) => way(p) === name && known(p.speedup) && known(p.nthreads)),
			}))
			.filter((c) => distinct(c.list));
		if (curves.length)
			return curves.map(({ name, list }) => ({
				name,
				predicted: false,
				colour: two ? wayColour(name) : css("measured"),
				points: list
					.map((p) => ({ processors: p.nthreads, time_ns: p.time_ns, speedup: p.speedup }))
					.sort((a, b) => a.processors - b.processors),
			}));
	}
	return [];
}
function across() {
	if (!two) return;
	const rows = [...new Set(points.filter((p) => there(p.column)).map((p) => p.row))],
		cols = [...new Set(points.map((p) => p.column).filter(there))];
	const s = section("Both ways");
	const box = element("div", {});
	const kinds = [
		["Time", (p) => time(p.time_ns)],
		["Normalised", (p) => (known(p.normalised) ? p.normalised.toFixed(3) : "?")],
		["Time above the base", (p) => change(p.normalised)],
		["Speedup", (p) => ratio(p.speedup)],
		["Efficiency", (p) => ratio(p.efficiency)],
		["σ", (p) => (p.runs > 1 ? time(p.time_stddev_ns) : "")],
	];
	const show = (which) => {
		const [, get] = kinds[which],
			at = (r, c) => points.find((p) => p.row === r && p.column === c);
		const body = rows.map((r) => [r, ...cols.map((c) => (at(r, c) ? get(at(r, c)) : "?"))]);
		if (which === 2)
			body.push([
				"average",
				...cols.map((c) => {
					const v = points.filter((p) => p.column === c && known(p.normalised)).map((p) => p.normalised);
					return v.length ? change(sum(v) / v.length) : "?";
				}),
			]);
		box.replaceChildren(table(["", ...cols], body));
	};
	s.append(
		element(
			"div",
			{ class: "tools" },
			choice(
				"Shown",
				kinds.map(([n]) => n),
				show,
			),
		),
		box,
	);
	show(0);
}

// --- call sites ---------------------------------------------------------------------------------

const sites = colouredSites(
	points.flatMap((p) => (p.sites || []).map((s) => ({ id: s.barrier, name: s.where, ns: s.phase_ns }))),
);
function phases() {
	const shown = points.filter((p) => (p.sites || []).some((s) => known(s.phase_ns))).slice(0, MOST_COLUMNS);
	if (!shown.length) return;
	const s = section(
		"Phase times",
		"Each site has two blocks: the time of its phases up to the first arrival, and above it, fainter, from the first " +
			"to the last arrival (its barrier time). Means over the runs of a point." +
			(shown.length < points.length ? " The first " + shown.length + " points are shown." : ""),
	);
	stackedPair(
		s,
		shown.map((p) => p.label),
		siteBlocks(sites, shown, (p, id) => {
			const list = (p.sites || []).filter(
				(x) => (id === null ? !sites.has(x.barrier) : x.barrier === id) && known(x.phase_ns),
			);
			const within = sum(list.map((x) => Math.min(x.barrier_ns ?? 0, x.phase_ns)));
			return list.length ? [sum(list.map((x) => x.phase_ns)) - within, within] : null;
		}),
	);
}
function idle() {
	const list = sites.list.filter(({ id }) =>
		points.some((p) => (p.sites || []).some((s) => s.barrier === id && known(s.idle_mean_ns))),
	);
	if (!list.length) return;
	const s = section(
		"Idle times of threads",
		"Total time that each thread waited at a site for the last arriver, mean over the runs: the column is the mean over " +
			"the threads, the line reaches from the smallest to the largest value, and the box is the " +
			"mean ± the standard deviation σ.",
	);
	const box = element("div", {});
	const at = (p, id) => (p.sites || []).find((x) => x.barrier === id) || {};
	const mark = (x) => spreadOf(x.idle_mean_ns, x.idle_stddev_ns, x.idle_min_ns, x.idle_max_ns);
	const ways = [...(points.length <= COLOURS.length ? ["all sites"] : []), ...list.map((x) => x.name)];
	const show = (which) => {
		const all = ways.length > list.length && !which,
			site = list[which - (ways.length - list.length)],
			chart_of = element("div", { class: "chart" });
		const seen = all ? list : [site];
		const scale = timeScale(
			Math.max(0, ...points.flatMap((p) => seen.map((x) => at(p, x.id).idle_max_ns ?? 0))),
		);
		box.replaceChildren(chart_of);
		const drawn = all
			? {
					names: points.map((p) => p.label),
					groups: list.map((x) => ({
						name: "at " + x.name,
						colour: pale(x.colour),
						values: points.map((p) => at(p, x.id).idle_mean_ns),
					})),
					marks: list.map((x) => points.map((p) => mark(at(p, x.id)))),
				}
			: grid(
					(p) => at(p, site.id).idle_mean_ns,
					(p) => mark(at(p, site.id)),
				);
		columns(chart_of, { ...drawn, scale, label: scale.name });
		if (all || drawn.groups.length > 1) box.append(legend(drawn.groups.map((g) => [g.colour, g.name])));
	};
	s.append(element("div", { class: "tools" }, choice("Site", ways, show)), box);
	s.append(
		numbers(
			["", "point", "smallest", "mean", "largest", "σ"],
			list.flatMap((x) =>
				points
					.filter((p) => known(at(p, x.id).idle_mean_ns))
					.map((p) => [
						x.name,
						p.label,
						...["min", "mean", "max", "stddev"].map((q) => time(at(p, x.id)["idle_" + q + "_ns"])),
					]),
			),
			[0, 1],
		),
	);
	show(0);
}

// --- counters -----------------------------------------------------------------------------------

function counters() {
	const names = [...new Set(points.flatMap((p) => (p.counters || []).map((c) => c.name)))];
	if (!names.length) return;
	const s = section(
		"Counters",
		"Per thread, if all runs of a point had the same number; otherwise over all threads." + sigmaText,
	);
	const box = element("div", {});
	const show = (which) => {
		const of_point = (p) => (p.counters || []).find((c) => c.name === names[which]) || {};
		const value = (p) => of_point(p).per_thread ?? of_point(p).mean;
		const mark = (p) => {
			const c = of_point(p),
				by = c.mean / value(p);
			return p.runs > 1 && by ? spreadOf(value(p), c.stddev / by) : null;
		};
		const top = Math.max(1, ...points.map((p) => value(p) ?? 0)),
			unit = [
				[1e9, "10⁹"],
				[1e6, "10⁶"],
				[1e3, "10³"],
				[1, ""],
			].find(([f]) => top >= f);
		box.replaceChildren();
		pairOf(
			box,
			points.some((p) => known(of_point(p).to_base))
				? [short(names[which], 40), short(names[which], 30) + ", " + AGAINST]
				: [short(names[which], 40)],
			grid(value, mark),
			{ f: unit[0], name: unit[1], show: count },
			grid((p) => of_point(p).to_base),
		);
		box.append(
			numbers(
				["", "per thread", "all threads", "σ", "to base"],
				points.map((p) => {
					const c = of_point(p);
					return [
						p.label,
						count(c.per_thread),
						count(c.mean),
						count(c.stddev),
						known(c.to_base) ? c.to_base.toFixed(3) : "?",
					];
				}),
			),
		);
	};
	s.append(element("div", { class: "tools" }, choice("Counter", names, show)), box);
	show(0);
}

const MEASURED = "By number of threads, compared with " + short(baseName, 60) + ".";
drawPage([
	head,
	...(points.length ? [times, () => speedup(curvesOf(), MEASURED), across, phases, idle, counters] : []),
]);
