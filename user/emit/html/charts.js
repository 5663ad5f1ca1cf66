// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
// Drawing with the charting library: axes, columns, boxes beside the cursor.
// --- charts -------------------------------------------------------------------------------------

/*
 * Steps between the marks of an axis: 1, 2 or 5 times a power of ten, so that all marks are round
 * and equally far apart.
 */
const ROUND = [];
for (let e = -12; e <= 18; e++) for (const m of [1, 2, 5]) ROUND.push(Number(m + "e" + e));
const roundStep = (span, most) => ROUND.find((s) => span / s <= most) ?? ROUND[ROUND.length - 1];
const charts = [];
function chart(box, options, values) {
	for (let i = charts.length - 1; i >= 0; i--) if (!charts[i][1].isConnected) charts.splice(i, 1);
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
	incrs: ROUND,
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
/*
 * Rows with one bar each, which a reader can open. rows: [{id, label, parts: {meaning: value},
 * value, mark: {low, high}, hint, body}]; `body` makes what an open row shows. The axis begins at 0.
 * With `share`, each bar is drawn as parts of 100 %. Only the first `most` rows are shown at first.
 */
const openRows = new Set();
function bars(parent, { rows, keys, share, scale, most = 20, name }) {
	const total = (r) => sum(keys.map((k) => Math.max(0, r.parts[k] ?? 0)));
	const top = Math.max(0, ...rows.map((r) => Math.max(total(r), r.mark ? r.mark.high : 0))) || 1;
	const f = share ? 0.01 : scale.f,
		span = share ? 100 : top / f;
	const box = element("div", {
		class: rows.length > 24 ? "bars dense" : "bars",
		role: "group",
		"aria-label": name,
	});
	const narrow = innerWidth <= 640,
		wide = Math.max(120, (parent.clientWidth || 600) - (narrow ? 40 : 340));
	const step = roundStep(span, Math.max(2, Math.min(10, Math.floor(wide / 70))));
	const marks = [];
	for (let i = 0; i * step <= span * 1.0001; i++) marks.push(i * step);
	const unit = share ? "%" : scale.name || "";
	const bar = (r) => {
		const all = total(r),
			by = share ? all || 1 : top;
		const b = element("span", { class: "bar" });
		b.style.setProperty("--step", (100 * step) / span + "%");
		for (const k of keys) {
			const v = r.parts[k];
			if (!(v > 0)) continue;
			b.append(
				element("i", {
					style: { width: (100 * v) / by + "%", background: "var(--" + k + ")" },
					title: MEANING[k] + ": " + scale.show(v) + (all ? " (" + percent(v / all) + ")" : ""),
				}),
			);
		}
		if (r.mark && !share)
			b.append(
				element("em", {
					style: {
						left: (100 * Math.max(0, r.mark.low)) / top + "%",
						width: (100 * (r.mark.high - Math.max(0, r.mark.low))) / top + "%",
					},
					title: r.mark.text,
				}),
			);
		return b;
	};
	const row = (r) => {
		const shown = [
			element(
				"span",
				{ class: "name", title: r.label },
				r.label,
				r.hint
					? element(
							"small",
							{},
							element("i", { style: { background: "var(--" + r.hint[0] + ")" } }),
							r.hint[1],
						)
					: null,
			),
			bar(r),
			element("span", { class: "value" }, r.value ?? scale.show(total(r))),
		];
		if (!r.body) return element("div", { class: "row" }, ...shown);
		const d = element("details", { class: "row" }, element("summary", {}, ...shown));
		const fill = () => {
			openRows[d.open ? "add" : "delete"](r.id);
			if (!d.open || d.children.length > 1) return;
			const inner = element("div", { class: "inner" });
			d.append(inner);
			inner.append(...[r.body(inner)].flat().filter(Boolean));
		};
		d.dataset.row = r.id;
		d.addEventListener("toggle", fill);
		if (openRows.has(r.id)) {
			d.open = true;
			queueMicrotask(fill);
		}
		return d;
	};
	const axisBox = element(
		"div",
		{ class: "row ticks", "aria-hidden": "true" },
		element("span", { class: "name" }),
		element(
			"span",
			{ class: "scale" },
			...marks.map((v) =>
				element(
					"span",
					{
						style: { left: (100 * v) / span + "%" },
						class: v === 0 ? "first" : narrow && v / span > 0.94 ? "last" : "",
					},
					plain(v) + (unit ? "\u00a0" + unit : ""),
				),
			),
		),
		element("span", { class: "value" }),
	);
	const list = rows.slice(0, most);
	box.append(axisBox, ...list.map(row));
	parent.append(box);
	if (rows.length > list.length) {
		const more = element(
			"button",
			{
				type: "button",
				class: "more",
				onclick: () => {
					more.remove();
					box.append(...rows.slice(most).map(row));
				},
			},
			"Show all " + count(rows.length),
		);
		parent.append(more);
	}
	return box;
}
// Open a row, and scroll to it. Return whether there is such a row.
function openRow(id) {
	let d = [...document.querySelectorAll("details.row")].find((e) => e.dataset.row === id);
	if (!d) {
		for (const b of document.querySelectorAll("button.more")) b.click();
		d = [...document.querySelectorAll("details.row")].find((e) => e.dataset.row === id);
	}
	if (!d) return false;
	d.open = true;
	d.scrollIntoView({ block: "center" });
	d.firstChild.focus();
	return true;
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
		target = page;
		charts.length = 0;
		for (const part of parts) part();
	};
	draw();
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
	document.documentElement.dataset.ready = "yes";
}
