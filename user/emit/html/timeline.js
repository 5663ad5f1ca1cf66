// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
// A timeline of what each thread did, and phase and barrier times through the run.
// --- timeline -----------------------------------------------------------------------------------

const line = data.timeline;
const lanes = line.lanes.map((l, at) => {
	const raw = bytes(l.shares),
		n = line.n;
	// Prefix sums over the buckets: the sum over any range is one subtraction.
	const upto = KINDS.map((_, k) => {
		const s = new Float64Array(n + 1);
		for (let i = 0; i < n; i++) s[i + 1] = s[i] + raw[k * n + i] / 255;
		return s;
	});
	return { at, ...l.thread, upto, crossings: [] };
});
const each = line.each && new Float64Array(bytes(line.each.crossings).buffer);
const episodes = line.each ? line.each.episodes.map(([barrier, number]) => ({ barrier, number, members: [] })) : [];
const labelOfBarrier = new Map(line.each ? line.each.barriers.map((b) => [b.index, b.label]) : []);
if (each) {
	for (let i = 0; i < each.length; i += 7) {
		const c = {
			lane: each[i],
			episode: each[i + 1],
			kind: each[i + 2],
			arrive: each[i + 3],
			work: each[i + 4],
			wait: each[i + 5],
			depart: each[i + 6],
		};
		lanes[c.lane].crossings.push(c);
		episodes[c.episode].members.push(c);
	}
	for (const l of lanes) l.crossings.sort((a, b) => a.arrive - b.arrive);
}
lanes.sort((a, b) => (a.pid || 0) - (b.pid || 0) || (a.index ?? 1e9) - (b.index ?? 1e9) || a.tid - b.tid);
const rows = new Map(lanes.map((l, row) => [l.at, row]));

// The index of a lane's first crossing that arrives at or after t.
function after(list, t) {
	let lo = 0,
		hi = list.length;
	while (lo < hi) {
		const mid = (lo + hi) >> 1;
		if (list[mid].arrive < t) lo = mid + 1;
		else hi = mid;
	}
	return lo;
}
// With at least this average number of pixels per crossing, single crossings are drawn. With fewer
// pixels, shares are drawn.
const FINE = 3;
let linked = [];
function link(u) {
	linked.push(u);
	return u;
}
function zoom(from, to) {
	const whole = data.elapsed_ns / 1e9,
		least = 1e-7,
		half = Math.max(to - from, least) / 2,
		mid = (from + to) / 2;
	const a = Math.max(0, mid - half),
		b = Math.min(whole, mid + half);
	if (b > a) linked[0].setScale("x", { min: a, max: b });
}
function zoomBy(factor, mid) {
	const { min, max } = linked[0].scales.x,
		m = mid ?? (min + max) / 2;
	zoom(m - (m - min) * factor, m + (max - m) * factor);
}
function shift(part) {
	const { min, max } = linked[0].scales.x,
		whole = data.elapsed_ns / 1e9;
	const by = Math.min(Math.max((max - min) * part, -min), whole - max);
	zoom(min + by, max + by);
}
let following = false;
function follow(u, key) {
	if (key !== "x" || following) return;
	following = true;
	for (const o of linked) if (o !== u) o.setScale("x", { min: u.scales.x.min, max: u.scales.x.max });
	following = false;
	const view = document.getElementById("view");
	if (view) {
		const { min, max } = u.scales.x;
		view.textContent =
			"Shown: " +
			time(shownFrom + Math.max(0, min) * 1e9) +
			" to " +
			time(shownFrom + max * 1e9) +
			", a range of " +
			time((max - min) * 1e9) +
			".";
		view.dataset.ns = String(Math.round((max - min) * 1e9));
	}
}
// Times on the axis have one unit, as fine as the range in view needs.
function clockAxis(more) {
	return axis({
		// Marks are at round times from the start of tracing.
		splits: (u, i, min, max, step) => {
			const from = shownFrom / 1e9,
				list = [];
			for (let k = Math.ceil((min + from) / step - 1e-9); k * step <= max + from + step * 1e-9; k++)
				list.push(k * step - from);
			return list;
		},
		values: (u, s) => {
			const [f, name] = unitOf(shownFrom + Math.max(u.scales.x.max, 1e-9) * 1e9),
				step = s.length > 1 ? ((s[1] - s[0]) * 1e9) / f : 1;
			return s.map(
				(v) =>
					((shownFrom + v * 1e9) / f).toFixed(Math.max(0, Math.min(9, -Math.floor(Math.log10(step) + 1e-9)))) +
					" " +
					name,
			);
		},
		space: 110,
		size: 36,
		...more,
	});
}
const wholeX = () => ({ time: false, min: 0, max: data.elapsed_ns / 1e9, auto: false });

function drawLanes(u) {
	const { ctx } = u,
		{ left, top, width, height } = u.bbox,
		{ min, max } = u.scales.x;
	const colours = KINDS.map(css),
		none = css("none"),
		dpr = devicePixelRatio;
	const nsAt = (px) => (min + ((max - min) * (px - left)) / width) * 1e9,
		x = (ns) => u.valToPos(ns / 1e9, "x", true);
	const from = min * 1e9,
		to = max * 1e9,
		perPx = (to - from) / width;
	let fine = 0,
		seen = 0;
	ctx.save();
	ctx.beginPath();
	ctx.rect(left, top, width, height);
	ctx.clip();
	lanes.forEach((l, row) => {
		const h = height / lanes.length,
			y = top + row * h + Math.min(1.5 * dpr, h * 0.1),
			tall = h - Math.min(3 * dpr, h * 0.2);
		ctx.fillStyle = none;
		ctx.fillRect(left, y, width, tall);
		const first = Math.max(0, after(l.crossings, from) - 1),
			last = Math.min(l.crossings.length, after(l.crossings, to) + 1);
		if (each && last - first < width / FINE) {
			fine++;
			drawEach(ctx, l, first, last, x, y, tall, colours, from, to);
			return;
		}
		seen++;
		for (let px = 0; px < width; px++) {
			const a = nsAt(left + px) / line.bucket_ns,
				b = a + perPx / line.bucket_ns;
			let at = y + tall;
			for (let k = 0; k < 4; k++) {
				const part = stretch(l.upto[k], a, b) * tall;
				if (part < 0.05) continue;
				ctx.fillStyle = colours[k];
				ctx.fillRect(left + px, at - part, 1, part);
				at -= part;
			}
		}
	});
	if (each) drawReleases(u, from, to, x);
	ctx.restore();
	const how = document.getElementById("how");
	if (how)
		how.textContent =
			fine && !seen
				? "Every crossing in view is drawn as it was measured."
				: "Each column of pixels shows the shares of its time" +
					(perPx < line.bucket_ns ? ", which are known in steps of " + time(line.bucket_ns) : "") +
					(each
						? ". Zoom in to see single crossings."
						: ". There are too many crossings (" + count(data.crossings) + ") to keep single ones.");
}
// The mean share from bucket a to bucket b. Both may be fractions.
function stretch(upto, a, b) {
	const n = upto.length - 1,
		at = (v) => {
			const c = Math.min(Math.max(v, 0), n),
				i = Math.min(Math.floor(c), n - 1);
			return upto[i] + (upto[i + 1] - upto[i]) * (c - i);
		};
	return b > a ? (at(b) - at(a)) / (b - a) : 0;
}
function drawEach(ctx, l, first, last, x, y, tall, colours, from, to) {
	const box = (k, a, b) => {
		if (!(b > a) || b < from || a > to) return;
		const p = x(Math.max(a, from)),
			q = x(Math.min(b, to));
		ctx.fillStyle = colours[k];
		ctx.fillRect(p, y, Math.max(q - p, 0.5), tall);
	};
	for (let i = first; i < last; i++) {
		const c = l.crossings[i];
		box(0, c.arrive - c.work, c.arrive);
		if (c.kind === 1) {
			box(1, c.arrive, c.arrive + c.wait);
			box(2, c.arrive + c.wait, c.depart);
		} else box(3, c.arrive, c.depart);
	}
	const end = l.crossings[l.crossings.length - 1];
	// Only the grid has the time after the last crossing.
	if (last === l.crossings.length && end && end.depart < to) {
		for (let b = Math.ceil(end.depart / line.bucket_ns); b < line.n && b * line.bucket_ns < to; b++)
			for (const k of [0, 3])
				if (l.upto[k][b + 1] > l.upto[k][b])
					box(
						k,
						b * line.bucket_ns,
						b * line.bucket_ns + line.bucket_ns * (l.upto[k][b + 1] - l.upto[k][b]),
					);
	}
}
// Draw a line from the last arrival to the released threads, while there are few enough to
// distinguish.
function drawReleases(u, from, to, x) {
	const { ctx } = u,
		{ top, height } = u.bbox,
		h = height / lanes.length,
		dpr = devicePixelRatio,
		near = [];
	for (const e of episodes) {
		if (e.members.length < 2 || e.members[0].kind !== 1) continue;
		const release = Math.max(...e.members.map((c) => c.arrive));
		if (release >= from && release <= to) near.push([e, release]);
		if (near.length > 120) return;
	}
	ctx.strokeStyle = ctx.fillStyle = css("text");
	ctx.lineWidth = dpr;
	for (const [e, release] of near) {
		const at = e.members.map((c) => rows.get(c.lane)),
			last = rows.get(e.members.find((c) => c.arrive === release).lane),
			px = x(release);
		ctx.globalAlpha = 0.55;
		ctx.beginPath();
		ctx.moveTo(px, top + (Math.min(...at) + 0.5) * h);
		ctx.lineTo(px, top + (Math.max(...at) + 0.5) * h);
		ctx.stroke();
		ctx.globalAlpha = 1;
		ctx.beginPath();
		ctx.arc(px, top + (last + 0.5) * h, 3 * dpr, 0, 7);
		ctx.fill();
	}
}
function showLaneTip(u, showTip) {
	const { left, top } = u.cursor;
	if (left < 0 || !lanes.length) return showTip(0, 0, null);
	const row = Math.min(lanes.length - 1, Math.max(0, Math.floor((top / u.over.clientHeight) * lanes.length))),
		l = lanes[row];
	const ns = u.posToVal(left, "x") * 1e9,
		colours = KINDS.map(css),
		lines = [];
	const i = after(l.crossings, ns),
		inside = l.crossings[i - 1],
		next = l.crossings[i];
	if (inside && (ns < inside.depart || ns < inside.arrive + inside.wait)) {
		const e = episodes[inside.episode],
			kind = inside.kind !== 1 ? 3 : ns < inside.arrive + inside.wait ? 1 : 2;
		lines.push(
			[colours[kind], KIND_TEXT[KINDS[kind]], ""],
			[null, labelOfBarrier.get(e.barrier) || "?", e.number < 0 ? "" : "phase " + e.number],
			[null, "waited", time(inside.wait)],
			[null, "inside for", time(inside.depart - inside.arrive)],
		);
	} else if (next && ns >= next.arrive - next.work) {
		lines.push(
			[colours[0], KIND_TEXT.work, ""],
			[
				null,
				"to " + (labelOfBarrier.get(episodes[next.episode].barrier) || "?"),
				"phase " + episodes[next.episode].number,
			],
			[null, "works for", time(next.work)],
		);
	} else {
		const b = ns / line.bucket_ns;
		KINDS.forEach((k, j) => {
			const p = stretch(l.upto[j], Math.floor(b), Math.floor(b) + 1);
			if (p > 0) lines.push([colours[j], KIND_TEXT[k], percent(p)]);
		});
	}
	showTip(
		left + u.over.offsetLeft,
		Math.min(top + 14, u.over.clientHeight - 40),
		"thread " + threadName(l) + " at " + time(shownFrom + ns),
		lines,
	);
}
function wheel(u) {
	u.over.addEventListener(
		"wheel",
		(e) => {
			if (!e.ctrlKey && !e.shiftKey) return;
			e.preventDefault();
			zoomBy((e.deltaY || e.deltaX) > 0 ? 1.35 : 1 / 1.35, u.posToVal(u.cursor.left, "x"));
		},
		{ passive: false },
	);
	u.over.tabIndex = 0;
	u.over.setAttribute("role", "img");
	u.over.setAttribute("aria-label", "Timeline; + and - zoom, the arrows move, 0 shows all");
	u.over.addEventListener("keydown", (e) => {
		const does = {
			"+": () => zoomBy(0.5),
			"=": () => zoomBy(0.5),
			"-": () => zoomBy(2),
			0: () => zoom(0, data.elapsed_ns / 1e9),
			ArrowLeft: () => shift(-0.25),
			ArrowRight: () => shift(0.25),
		}[e.key];
		if (does) {
			e.preventDefault();
			does();
		}
	});
}

const laneName = (l) => short((many ? (l.pid || "?") + ": " : "") + threadName(l), 26);
// Both charts have the same left margin, so that their times align.
const gutter = Math.max(64, 14 + Math.max(0, ...lanes.map((l) => measure(laneName(l), 12))));

function timeline() {
	if (!lanes.length) return;
	const s = section(
		"Timeline",
		"Drag over a range to zoom into it, double-click to see everything. Ctrl or Shift with the wheel, and the " +
			"keys +, -, 0 and the arrows, also work.",
	);
	const button = (id, text, what) => element("button", { type: "button", id, onclick: what }, text);
	s.append(
		element(
			"div",
			{ class: "tools" },
			button("zoom-in", "Zoom in", () => zoomBy(0.4)),
			button("zoom-out", "Zoom out", () => zoomBy(2.5)),
			button("earlier", "Earlier", () => shift(-0.5)),
			button("later", "Later", () => shift(0.5)),
			button("zoom-all", wholeText, () => zoom(0, data.elapsed_ns / 1e9)),
			element("span", { class: "dim", id: "view" }),
		),
	);
	s.append(legend(KINDS.map((k) => [css(k), KIND_TEXT[k]]).concat([[css("none"), "nothing known"]])));
	const box = element("div", { class: "chart", id: "timeline-chart" });
	s.append(box, element("p", { class: "dim", id: "how" }));
	if (line.left_out)
		s.append(
			element(
				"p",
				{ class: "dim" },
				"The first " + lanes.length + " threads are shown; " + count(line.left_out) + " more have no row.",
			),
		);
	const each_px = Math.max(3, Math.min(26, 680 / lanes.length)),
		height = each_px * lanes.length + 52,
		step = Math.ceil(14 / each_px);
	const names = lanes.map(laneName);
	const showTip = tip(box);
	const u = link(
		chart(
			box,
			{
				height,
				legend: { show: false },
				cursor: { drag: { x: true, y: false }, points: { show: false } },
				scales: { x: wholeX(), y: { range: [0, lanes.length] } },
				series: [{}, { stroke: "transparent", points: { show: false } }],
				axes: [
					clockAxis({ grid: { show: false } }),
					axis({
						grid: { show: false },
						ticks: { show: false },
						size: gutter,
						// The first row is at the top.
						splits: () => lanes.map((_, i) => lanes.length - i - 0.5).filter((_, i) => i % step === 0),
						values: (_, v) => v.map((at) => names[Math.round(lanes.length - at - 0.5)]),
					}),
				],
				hooks: {
					draw: [drawLanes],
					setScale: [follow],
					setCursor: [(w) => showLaneTip(w, showTip)],
				},
			},
			[
				[0, data.elapsed_ns / 1e9],
				[null, null],
			],
		),
	);
	wheel(u);
}

// --- times through the run ----------------------------------------------------------------------

function through() {
	const list = line.series.barriers.filter((b) => b.label !== undefined);
	if (!list.length) return;
	list.sort((a, b) => (weight.get(b.id) || 0) - (weight.get(a.id) || 0));
	const s = section(
		"Phase and barrier times through the run",
		"The line is the mean, and the band reaches from the smallest to the largest value, of the episodes in each step of " +
			time(line.series.bucket_ns) +
			". The chart shows the same range as the timeline.",
	);
	const box = element("div", { class: "chart" });
	let u = null;
	const show = (which) => {
		if (u) {
			linked = linked.filter((o) => o !== u);
			charts.splice(
				charts.findIndex(([c]) => c === u),
				1,
			);
			u.destroy();
		}
		const b = list[which],
			row = (name) => new Float32Array(bytes(b[name]).buffer),
			n = line.series.n;
		const columns_of = ["phase", "within"].map(row);
		let most = 1;
		for (const r of columns_of)
			for (let i = 0; i < n; i++) most = Math.max(most, r[4 * i + 3] ? r[4 * i + 2] : 0);
		const [f, name] = unitOf(most),
			xs = [],
			values = [[], [], [], [], [], []];
		for (let i = 0; i < n; i++) {
			if (!columns_of.some((r) => r[4 * i + 3])) continue;
			xs.push(((i + 0.5) * line.series.bucket_ns) / 1e9);
			columns_of.forEach((r, k) =>
				[0, 2, 1].forEach((j, m) => values[3 * k + m].push(r[4 * i + 3] ? r[4 * i + j] / f : null)),
			);
		}
		const thin = { points: { show: false }, spanGaps: true, width: 0 },
			[a, c] = [css("work"), css("wait")];
		const mean = (stroke) => ({
			stroke,
			width: 1.5,
			spanGaps: true,
			points: { show: xs.length < 300, size: 5, fill: stroke },
		});
		u = link(
			chart(
				box,
				{
					height: 260,
					legend: { show: false },
					cursor: { drag: { x: true, y: false } },
					scales: {
						x: {
							...wholeX(),
							...(linked[0]
								? {
										min: linked[0].scales.x.min,
										max: linked[0].scales.x.max,
									}
								: {}),
						},
						y: { range: (_, lo, hi) => [0, (hi || 1) * 1.05] },
					},
					series: [
						{},
						{ ...thin, stroke: a },
						{ ...thin, stroke: a },
						mean(a),
						{ ...thin, stroke: c },
						{ ...thin, stroke: c },
						mean(c),
					],
					bands: [
						{ series: [2, 1], fill: a + "40" },
						{ series: [5, 4], fill: c + "40" },
					],
					axes: [
						clockAxis(),
						axis({
							values: (_, v) => v.map(plain),
							label: name,
							labelSize: 22,
							size: gutter - 22,
						}),
					],
					hooks: {
						setScale: [follow],
						setCursor: [
							(w) => {
								const i = w.cursor.idx;
								if (w.cursor.left < 0 || !known(i)) return showTip(0, 0, null);
								const say = (k) => (known(values[k][i]) ? time(values[k][i] * f) : "?");
								showTip(w.cursor.left + w.over.offsetLeft, 8, "around " + time(shownFrom + xs[i] * 1e9), [
									[a, "phase time, mean", say(2)],
									[null, "smallest to largest", say(0) + " to " + say(1)],
									[c, "barrier time, mean", say(5)],
									[null, "smallest to largest", say(3) + " to " + say(4)],
								]);
							},
						],
					},
				},
				[xs, ...values],
			),
		);
		wheel(u);
	};
	const tools = element(
		"div",
		{ class: "tools" },
		choice(
			"Barrier",
			list.map((b) => b.label),
			show,
		),
	);
	s.append(
		tools,
		legend([
			[css("work"), "phase time: from the previous release to this release"],
			[css("wait"), "barrier time: from the first arrival to the last"],
		]),
		box,
	);
	const showTip = tip(box);
	show(0);
}
