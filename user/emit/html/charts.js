// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
// Drawing with the charting library: axes, columns, boxes beside the cursor.
// --- charts -------------------------------------------------------------------------------------

const charts = [];
function chart(box, options, values) {
	const u = new uPlot({ width: Math.max(280, box.clientWidth), ...options }, values, box);
	charts.push([u, box]);
	return u;
}
new ResizeObserver(() => {
	for (const [u, box] of charts) {
		const width = Math.max(280, box.clientWidth);
		if (Math.abs(width - u.width) > 2) u.setSize({ width, height: u.height });
	}
}).observe(page);
const axis = (more) => ({
	stroke: css("text"),
	font: font(12),
	labelFont: font(12),
	grid: { stroke: css("grid"), width: 1 },
	ticks: { stroke: css("line"), width: 1 },
	...more,
});
const plain = (v) => (known(v) ? String(Number(v.toPrecision(6))) : "");

// Room for the longest number of an axis.
const room = (u, values) => 16 + Math.max(24, ...(values || []).map((v) => measure(v, 12)));

// A scale for times: its unit, and the divisor of nanoseconds.
function timeScale(most) {
	const [f, name] = unitOf(most);
	return { f, name, show: time };
}

// The categories in view. Dragging zooms in, a double click shows all.
const categories = (n) => ({
	time: false,
	range: (_, lo, hi) => [
		Math.max(0, Math.min(n - 1, Math.round(lo ?? 0))) - 0.5,
		Math.max(0, Math.min(n - 1, Math.round(hi ?? n - 1))) + 0.5,
	],
});
const inView = (u, n) => [
	Math.max(0, Math.ceil(u.scales.x.min - 0.01)),
	Math.min(n - 1, Math.floor(u.scales.x.max + 0.01)),
];

/*
 * Columns over categories. groups: [{name, colour, values[]}], stacked or side by side. marks: one
 * list per group, with {min, max, low, high} by category, drawn as a line with caps and a box from
 * low to high.
 */
function columns(box, { names, groups, stacked, scale, label, marks, height = 300 }) {
	const n = names.length,
		f = scale.f;
	const tops = names.map((_, i) =>
		stacked
			? sum(groups.map((g) => g.values[i]))
			: Math.max(
					0,
					...groups.map((g, k) =>
						Math.max(
							known(g.values[i]) ? g.values[i] : 0,
							marks && marks[k][i] ? Math.max(marks[k][i].max, marks[k][i].high) : 0,
						),
					),
				),
	);
	const top = scale.top || Math.max(...tops, 0) || 1;
	const slot = Math.max(280, box.clientWidth - 90) / n;
	const step = Math.max(1, Math.ceil(18 / slot)),
		texts = names.map((s) => short(s, 28));
	const longest = Math.max(...texts.map((s) => measure(s, 12)));
	const turned = longest > slot * step - 8;
	const showTip = tip(box);
	const draw = (u) => {
		const { ctx } = u,
			dpr = devicePixelRatio,
			y = (v) => u.valToPos(v / f, "y", true);
		const wide = Math.abs(u.valToPos(1, "x", true) - u.valToPos(0, "x", true)),
			zero = y(0);
		ctx.save();
		const [first, last] = inView(u, n);
		for (let i = first; i <= last; i++) {
			const mid = u.valToPos(i, "x", true),
				full = Math.min(wide * 0.74, 110 * dpr);
			let at = 0;
			groups.forEach((g, k) => {
				const v = g.values[i],
					w = stacked ? full : full / groups.length;
				const x = stacked ? mid - w / 2 : mid - full / 2 + k * w;
				if (known(v) && v > 0) {
					const from = stacked ? y(at) : zero,
						to = y(stacked ? at + v : v);
					ctx.fillStyle = g.colour;
					ctx.fillRect(x, to, stacked ? w : Math.max(1, w - dpr), from - to);
				}
				if (stacked) at += known(v) ? v : 0;
				const m = marks && marks[k][i];
				if (!m) return;
				const c = x + w / 2,
					cap = Math.min(w * 0.3, 12 * dpr);
				ctx.strokeStyle = css("text");
				ctx.lineWidth = 1.5 * dpr;
				ctx.beginPath();
				ctx.moveTo(c, y(m.min));
				ctx.lineTo(c, y(m.max));
				for (const e of [m.min, m.max]) {
					ctx.moveTo(c - cap, y(e));
					ctx.lineTo(c + cap, y(e));
				}
				ctx.stroke();
				ctx.strokeRect(c - cap / 2, y(m.high), cap, y(m.low) - y(m.high));
			});
		}
		ctx.restore();
	};
	const u = chart(
		box,
		{
			height: height + (turned ? Math.min(150, longest * 0.7) : 0),
			cursor: { drag: { x: n > 2, y: false }, y: false, points: { show: false } },
			legend: { show: false },
			scales: {
				x: categories(n),
				y: { range: [0, (scale.top ? top : top * 1.06) / f] },
			},
			series: [{}, { stroke: "transparent", points: { show: false } }],
			axes: [
				axis({
					grid: { show: false },
					splits: (u) => {
						const [first, last] = inView(u, n);
						const every = turned
							? Math.max(1, Math.ceil((18 * (last - first + 1)) / (slot * n)))
							: step;
						return names
							.map((_, i) => i)
							.filter((i) => i >= first && i <= last && (i - first) % every === 0);
					},
					values: (_, s) => s.map((i) => texts[i]),
					rotate: turned ? 38 : 0,
					size: turned ? Math.min(170, longest * 0.66 + 24) : 34,
					gap: 6,
				}),
				axis({ values: (_, s) => s.map(plain), label, labelSize: 22, size: room }),
			],
			hooks: {
				draw: [draw],
				setCursor: [
					(w) => {
						const i = w.cursor.left < 0 ? -1 : Math.round(w.posToVal(w.cursor.left, "x"));
						if (i < 0 || i >= n) return showTip(0, 0, null);
						const lines = groups
							.map((g, k) =>
								[g.colour, g.name, scale.show(g.values[i])].concat(
									marks && marks[k][i] ? [marks[k][i]] : [],
								),
							)
							.filter(
								(_, k) =>
									known(groups[k].values[i]) && (groups.length < 12 || groups[k].values[i] > 0),
							);
						const more = lines.flatMap(([c, name, v, m]) =>
							m
								? [
										[c, name + ", mean", v],
										[null, "smallest", scale.show(m.min)],
										[null, "largest", scale.show(m.max)],
										[null, "standard deviation σ", scale.show(m.sigma)],
									]
								: [[c, name, v]],
						);
						showTip(w.cursor.left + w.over.offsetLeft, 8, names[i], stacked ? more.reverse() : more);
					},
				],
			},
		},
		[names.map((_, i) => i), names.map(() => null)],
	);
	return u;
}
const share = { f: 0.01, top: 1, show: percent };

// Draw two charts side by side: the groups' shares of the time, and their times.
function stackedPair(parent, names, groups) {
	const most = Math.max(0, ...names.map((_, i) => sum(groups.map((g) => g.values[i]))));
	const left = element("div", { class: "chart" }, element("h3", {}, "Normalised")),
		right = element("div", { class: "chart" }, element("h3", {}, "Absolute"));
	const scale = timeScale(most);
	parent.append(element("div", { class: "pair" }, left, right));
	columns(left, {
		names,
		stacked: true,
		scale: share,
		label: "% of the time",
		groups: groups.map((g) => ({
			...g,
			values: g.values.map((v, i) => (known(v) ? v / (sum(groups.map((o) => o.values[i])) || 1) : null)),
		})),
	});
	columns(right, { names, stacked: true, scale, label: scale.name, groups });
	parent.append(legend(groups.map((g) => [g.colour, g.name])));
	parent.append(
		numbers(
			["", ...groups.map((g) => g.name)],
			names.map((name, i) => [name, ...groups.map((g) => time(g.values[i]))]),
		),
	);
}

// Draw all parts of a page, and again when the colour scheme changes, because the canvas has its
// own colours.
function drawPage(parts) {
	const draw = () => {
		page.replaceChildren();
		charts.length = 0;
		for (const part of parts) part();
	};
	draw();
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
	document.documentElement.dataset.ready = "yes";
}
