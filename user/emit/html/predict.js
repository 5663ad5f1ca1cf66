// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
// A prediction: speedups, how phases and processors spend their time, and its assumptions.
// --- predictions --------------------------------------------------------------------------------

const points = of("prediction");
// Several recordings with different numbers of threads make one curve.
const several = points.some((p) => p.recording);
const nameOf = (p) => plural(p.processors, "processor") + (several ? ", " + plural(p.threads, "thread") : "");

// The predicted curve, and the curves that would be predicted without each kind of lost time.
function curves() {
	const curve = (name, get) => {
		const best = new Map();
		for (const p of points.filter((p) => known(get(p)) && get(p) > 0)) {
			const at = { processors: p.processors, time_ns: get(p), speedup: (p.speedup * p.time_ns) / get(p) };
			if (!best.has(p.processors) || best.get(p.processors).time_ns > at.time_ns) best.set(p.processors, at);
		}
		return { name, predicted: true, points: [...best.values()] };
	};
	return [
		curve(points[0].machine + ", " + points[0].barrier_model + " barrier", (p) => p.time_ns),
		curve("if balanced", (p) => p.balanced_ns),
		curve("if barriers were free", (p) => p.barrier_free_ns),
		curve("if remote data were free", (p) => p.access_free_ns),
	];
}
function phases() {
	const sites = colouredSites(
		points.flatMap((p) =>
			(p.phases || []).map((x) => ({
				id: x.barrier ?? x.label,
				name: (x.barrier ? "to " : "") + (x.label || "?"),
				ns: x.time_ns,
			})),
		),
	);
	if (!sites.list.length) return;
	const s = section("Phase times", "The predicted time by the barriers at which its phases end.");
	stackedPair(
		s,
		points.map(nameOf),
		[...sites.list, { id: null, name: "others", colour: OTHER }]
			.map(({ id, name, colour }) => ({
				name,
				colour,
				values: points.map((p) =>
					sum(
						(p.phases || [])
							.filter((x) =>
								id === null ? !sites.has(x.barrier ?? x.label) : (x.barrier ?? x.label) === id,
							)
							.map((x) => x.time_ns),
					),
				),
			}))
			.filter((g) => sum(g.values) > 0),
	);
}
function parts() {
	const list = [
		["computing", css("oncpu"), "work_ns"],
		["waiting for a processor", css("runq"), "queue_ns"],
		["waiting for the last arriver", css("wait"), "wait_ns"],
		["barrier overhead", css("leave"), "barrier_ns"],
		["remote data", css("io"), "access_ns"],
	];
	const groups = list
		.map(([name, colour, key]) => ({
			name,
			colour,
			values: points.map((p) => sum((p.phases || []).map((x) => x[key]))),
		}))
		.filter((g) => sum(g.values) > 0);
	if (groups.length)
		stackedPair(
			section("Where the threads' time goes", "Sums over all threads in the predicted run."),
			points.map(nameOf),
			groups,
		);
}
function all() {
	section("Points").append(
		table(
			[
				"processors",
				"threads",
				"time",
				"speedup",
				"efficiency",
				"if balanced",
				"if barriers were free",
				"limited by the phase that ends at",
				"because of",
			],
			points.map((p) => [
				count(p.processors),
				count(p.threads),
				time(p.time_ns),
				ratio(p.speedup),
				percent(p.efficiency),
				time(p.balanced_ns),
				time(p.barrier_free_ns),
				p.limit_label || "?",
				p.limit_cause || "?",
			]),
			[7, 8],
		),
	);
}
const notes = (warnings) => of("assumption").filter((n) => (n.kind === "warning") === warnings);
drawPage([
	head,
	() => page.append(...notes(true).map((n) => element("p", { class: "warn" }, sentence(n.text)))),
	...(points.length
		? [
				() =>
					speedup(
						curves(),
						"Compared with one processor of the same machine.",
						// Not the colours of call sites, which are in the next chart.
						["predicted", "measured", "critical", "gain"].map(css),
					),
				phases,
				parts,
				all,
			]
		: []),
	() => notes(false).length && section("Assumptions", ...notes(false).map((n) => sentence(n.text))),
]);
