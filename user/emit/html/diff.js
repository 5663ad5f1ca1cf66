// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
// Two sides of recordings: the change at each call site, and whether it is more than noise.
// --- differences --------------------------------------------------------------------------------

const rows = of("difference");
const VERDICTS = {
	regression: ["set3", "regression"],
	worse: ["set7", "worse"],
	better: ["set4", "better"],
	more: ["set5", "more"],
	less: ["set6", "less"],
	noise: ["unattributed", "not more than noise"],
	untested: ["set2", "cannot be tested"],
};
const verdictOf = (r) =>
	r.regression ? "regression" : r.change ? r.change : r.significant === false ? "noise" : "untested";
const placeOf = (r) => (r.scope === "run" ? "the whole run" : r.label || r.comm || "?");
const onlyIn = (r) => (r.only ? "only in " + r.only.toUpperCase() : "");
const showValue = (r, v) => (r.unit === "ns" ? time(v) : r.unit === "ratio" ? ratio(v) : count(v));
const quantityName = (q) => q.replace(/_ns$/, "");
const quantities = (list) => [...new Set(list.map((r) => r.quantity))];

/*
 * Changes in per cent of A: a dot for each, and a line for its confidence interval. Ends of wide
 * intervals are cut off, as only their side of the zero line matters.
 */
function changes(box, list) {
	const n = list.length,
		part = (r, v) => (known(v) && r.a > 0 ? v / r.a : null),
		of_row = (r) => (known(r.ratio) ? r.ratio - 1 : null);
	const most = Math.max(0.02, ...list.map((r) => Math.abs(of_row(r) ?? 0))) * 1.35;
	const names = list.map((r) => short(placeOf(r), 28)),
		longest = Math.max(...names.map((s) => measure(s, 12))),
		turned = longest > Math.max(280, box.clientWidth - 90) / n - 8;
	const showTip = tip(box);
	const draw = (u) => {
		const { ctx } = u,
			dpr = devicePixelRatio,
			y = (v) => u.valToPos(Math.max(-most, Math.min(most, v)) * 100, "y", true),
			[first, last] = inView(u, n);
		ctx.save();
		ctx.lineWidth = dpr;
		ctx.strokeStyle = css("dim");
		ctx.beginPath();
		ctx.moveTo(u.bbox.left, y(0));
		ctx.lineTo(u.bbox.left + u.bbox.width, y(0));
		ctx.stroke();
		ctx.lineWidth = 2 * dpr;
		for (let i = first; i <= last; i++) {
			const r = list[i],
				v = of_row(r),
				x = u.valToPos(i, "x", true);
			if (!known(v)) continue;
			ctx.strokeStyle = ctx.fillStyle = css(VERDICTS[verdictOf(r)][0]);
			if (known(part(r, r.low)) && known(part(r, r.high))) {
				ctx.beginPath();
				ctx.moveTo(x, y(part(r, r.low)));
				ctx.lineTo(x, y(part(r, r.high)));
				for (const e of [r.low, r.high]) {
					ctx.moveTo(x - 4 * dpr, y(part(r, e)));
					ctx.lineTo(x + 4 * dpr, y(part(r, e)));
				}
				ctx.stroke();
			}
			ctx.beginPath();
			ctx.arc(x, y(v), 4.5 * dpr, 0, 7);
			ctx.fill();
		}
		ctx.restore();
	};
	chart(
		box,
		{
			height: 300 + (turned ? Math.min(150, longest * 0.7) : 0),
			cursor: { drag: { x: n > 2, y: false }, y: false, points: { show: false } },
			legend: { show: false },
			scales: { x: categories(n), y: { range: [-most * 100, most * 100] } },
			series: [{}, { stroke: "transparent", points: { show: false } }],
			axes: [
				axis({
					grid: { show: false },
					splits: (u) => {
						const [first, last] = inView(u, n),
							every = Math.max(
								1,
								Math.ceil((18 * (last - first + 1)) / Math.max(280, box.clientWidth - 90)),
							);
						return names
							.map((_, i) => i)
							.filter((i) => i >= first && i <= last && (i - first) % every === 0);
					},
					values: (_, s) => s.map((i) => names[i]),
					rotate: turned ? 38 : 0,
					size: turned ? Math.min(170, longest * 0.66 + 24) : 34,
					gap: 6,
				}),
				axis({
					values: (_, s) => s.map((v) => (v > 0 ? "+" : "") + plain(v)),
					label: "change, % of A",
					labelSize: 22,
					size: room,
				}),
			],
			hooks: {
				draw: [draw],
				setCursor: [
					(u) => {
						const i = u.cursor.left < 0 ? -1 : Math.round(u.posToVal(u.cursor.left, "x"));
						if (i < 0 || i >= n) return showTip(0, 0, null);
						const r = list[i],
							[meaning, verdict] = VERDICTS[verdictOf(r)];
						showTip(
							u.cursor.left + u.over.offsetLeft,
							8,
							placeOf(r),
							[
								[css(meaning), onlyIn(r) || verdict, change(r.ratio)],
								[null, "A", showValue(r, r.a)],
								[null, "B", showValue(r, r.b)],
								known(r.low)
									? [
											null,
											"interval",
											change(1 + part(r, r.low)) + " to " + change(1 + part(r, r.high)),
										]
									: null,
								known(r.p_adjusted)
									? [null, "p", r.p_adjusted < 0.0005 ? "< 0.001" : r.p_adjusted.toFixed(3)]
									: null,
							].filter(Boolean),
						);
					},
				],
			},
		},
		[list.map((_, i) => i), list.map(() => null)],
	);
}

// One scope, a quantity at a time: both sides and the change.
function compared(title, text, list) {
	const names = quantities(list).filter((q) =>
		list.some((r) => r.quantity === q && ((r.a ?? 0) > 0 || (r.b ?? 0) > 0)),
	);
	if (!names.length) return;
	const s = section(title, text);
	const inner = element("div", {});
	const show = (which) => {
		const all = list.filter((r) => r.quantity === names[which]),
			shown = all.slice(0, MOST_COLUMNS),
			unit = shown[0].unit;
		const left = element("div", { class: "chart" }, element("h3", {}, "A and B")),
			right = element("div", { class: "chart" }, element("h3", {}, "Change"));
		const top = Math.max(0, ...shown.flatMap((r) => [r.a ?? 0, r.b ?? 0]));
		const scale = unit === "ns" ? timeScale(top) : { f: 1, name: "", show: (v) => showValue(shown[0], v) };
		inner.replaceChildren(element("div", { class: "pair" }, left, right));
		columns(left, {
			names: shown.map(placeOf),
			scale,
			label: scale.name,
			groups: [
				{ name: "A", colour: setColour(0), values: shown.map((r) => r.a) },
				{ name: "B", colour: setColour(1), values: shown.map((r) => r.b) },
			],
			marks: ["a", "b"].map((k) => shown.map((r) => spreadOf(r[k], r["stddev_" + k]))),
		});
		changes(right, shown);
		const seen = [...new Set(shown.filter((r) => known(r.ratio)).map(verdictOf))];
		inner.append(
			legend([
				[setColour(0), "A"],
				[setColour(1), "B"],
				...seen.map((v) => [css(VERDICTS[v][0]), VERDICTS[v][1]]),
			]),
			element(
				"p",
				{ class: "dim" },
				"With several recordings per side, boxes are the mean ± σ over them. The line through a dot is the confidence " +
					"interval of the change." +
					(all.length > shown.length
						? " The first " + shown.length + " of " + count(all.length) + " are shown."
						: ""),
			),
			numbers(
				["", "A", "B", "change", "interval", "p", "", "runs"],
				all.map((r) => [
					placeOf(r),
					showValue(r, r.a),
					showValue(r, r.b),
					change(r.ratio),
					known(r.low) && r.a > 0 ? change(1 + r.low / r.a) + " to " + change(1 + r.high / r.a) : "",
					known(r.p_adjusted) ? r.p_adjusted.toPrecision(2) : "",
					onlyIn(r) || VERDICTS[verdictOf(r)][1],
					count(r.runs_a) + ", " + count(r.runs_b),
				]),
				[0, 6],
			),
		);
	};
	s.append(element("div", { class: "tools" }, choice("Quantity", names.map(quantityName), show)), inner);
	show(0);
}
function phases() {
	const own = rows.filter((r) => r.scope === "barrier"),
		key = (r) => r.barrier + " " + (r.pid_a ?? "") + " " + (r.pid_b ?? "");
	const times = own.filter((r) => r.quantity === "phase_ns"),
		within = new Map(own.filter((r) => r.quantity === "barrier_ns").map((r) => [key(r), r]));
	const sites = colouredSites(times.map((r) => ({ id: key(r), name: placeOf(r), ns: (r.a ?? 0) + (r.b ?? 0) })));
	if (!times.length) return;
	const s = section(
		"Phase times",
		"Each site has two blocks: the time of its phases up to the first arrival, and above it, fainter, from the first to " +
			"the last arrival (its barrier time). Means over the recordings of a side.",
	);
	stackedPair(
		s,
		["A", "B"],
		siteBlocks(sites, ["a", "b"], (side, id) => {
			const list = times.filter((r) => (id === null ? !sites.has(key(r)) : key(r) === id) && known(r[side]));
			const inside = sum(list.map((r) => Math.min((within.get(key(r)) || {})[side] ?? 0, r[side])));
			return list.length ? [sum(list.map((r) => r[side])) - inside, inside] : null;
		}),
	);
}
drawPage([
	head,
	() =>
		compared(
			"Sites",
			"Largest change of phase time first. Drag over columns to zoom into them, double-click to see all.",
			rows.filter((r) => r.scope === "barrier"),
		),
	phases,
	() =>
		compared(
			"The run and its processes",
			"",
			rows.filter((r) => r.scope !== "barrier"),
		),
]);
