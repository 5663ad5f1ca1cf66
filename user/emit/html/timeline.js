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
const DETAILS = 5 + STATES.length;
const details = line.each && line.each.details ? new Float32Array(bytes(line.each.details).buffer) : null;
const episodes = line.each
	? line.each.episodes.map(([barrier, number]) => ({ barrier, number, members: [] }))
	: [];
const barrierOfIndex = new Map(line.each ? line.each.barriers.map((b) => [b.index, b]) : []);
const barrierOfEpisode = (e) => barrierOfIndex.get(e.barrier) || {};
if (each) {
	for (let i = 0; i < each.length; i += 7) {
		const c = {
			at: i / 7,
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
// The lanes in view, in the chosen order, and the row of each.
let shown = [],
	rows = new Map();
function chooseLanes() {
	shown = sorted(lanes.filter(threadShown));
	rows = new Map(shown.map((l, row) => [l.at, row]));
}
/*
 * What is known of the work interval before a crossing: {cause, late, causeNs, fn, more, states}.
 * With `more`, fn is where the last arrivers were on a CPU for longer in the late episodes so far. States are sums over
 * the interval, null if they are not known.
 */
function detailOf(c) {
	if (!details) return { states: null };
	const d = details.subarray(c.at * DETAILS, (c.at + 1) * DETAILS),
		cause = line.each.causes[d[0]];
	return {
		cause,
		late: d[1],
		causeNs: d[2],
		fn: line.each.functions[d[3]],
		more: d[4] > 0,
		states: Number.isNaN(d[5]) ? null : Object.fromEntries(STATES.map((k, i) => [k, d[5 + i]])),
	};
}
// Whether the filters for barriers and functions let a crossing through.
const passes = new Map();
function crossingShown(c) {
	if (!filtering()) return true;
	const id = barrierOfEpisode(episodes[c.episode]).id;
	if (!passes.has(id)) {
		const b = barrierOf.get(id) || {};
		passes.set(id, [barrierNamed({ ...b, label: b.label || "" }), has(view.fn, ...functionsOf(b))]);
	}
	const [named, inside] = passes.get(id);
	return named && (inside || has(view.fn, detailOf(c).fn));
}

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
					((shownFrom + v * 1e9) / f).toFixed(
						Math.max(0, Math.min(9, -Math.floor(Math.log10(step) + 1e-9))),
					) +
					" " +
					name,
			);
		},
		space: innerWidth <= 640 ? 72 : 110,
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
	shown.forEach((l, row) => {
		const h = height / shown.length,
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
		// What the reader chose is drawn over paler shares.
		const over = each && (filtering() || (view.colour && details));
		ctx.globalAlpha = over ? 0.25 : 1;
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
		ctx.globalAlpha = 1;
		if (over) drawEach(ctx, l, first, last, x, y, tall, colours, from, to, true);
	});
	if (each) drawReleases(u, from, to, x);
	drawCritical(u, from, to, x);
	drawChosen(u, x);
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
						: ". There are too many crossings (" +
							count(data.crossings) +
							") to keep single ones: report --from and --to draw a part of the run in full." +
							(filtering() ? " The filters for barriers and functions do not apply here." : ""));
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
/* With @over, only the crossings that match the filter, or have a cause, are drawn. */
function drawEach(ctx, l, first, last, x, y, tall, colours, from, to, over) {
	const byCause = view.colour && details;
	const box = (k, a, b, colour) => {
		if (!(b > a) || b < from || a > to) return;
		const p = x(Math.max(a, from)),
			q = x(Math.min(b, to));
		ctx.fillStyle = colour || colours[k];
		ctx.fillRect(p, y, Math.max(q - p, 0.5), tall);
	};
	for (let i = first; i < last; i++) {
		const c = l.crossings[i],
			cause = byCause && detailOf(c).cause,
			matches = crossingShown(c);
		if (over && (!matches || (byCause && !cause))) continue;
		ctx.globalAlpha = matches ? 1 : 0.13;
		if (byCause && !cause) ctx.globalAlpha *= 0.3;
		box(0, c.arrive - c.work, c.arrive, cause && causeColours[cause]);
		if (over && byCause) continue;
		if (byCause) ctx.globalAlpha = matches ? 0.3 : 0.13;
		if (c.kind === 1) {
			box(1, c.arrive, c.arrive + c.wait);
			box(2, c.arrive + c.wait, c.depart);
		} else box(3, c.arrive, c.depart);
	}
	ctx.globalAlpha = 1;
	if (over) return;
	ctx.globalAlpha = filtering() ? 0.13 : byCause ? 0.3 : 1;
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
	ctx.globalAlpha = 1;
}
// Draw a line from the last arrival to the released threads, while there are few enough to
// distinguish.
function drawReleases(u, from, to, x) {
	const { ctx } = u,
		{ top, height } = u.bbox,
		h = height / shown.length,
		dpr = devicePixelRatio,
		near = [];
	for (const e of episodes) {
		if (e.members.length < 2 || e.members[0].kind !== 1) continue;
		if (!crossingShown(e.members[0])) continue;
		const release = Math.max(...e.members.map((c) => c.arrive));
		if (release >= from && release <= to) near.push([e, release]);
		if (near.length > 120) return;
	}
	ctx.strokeStyle = ctx.fillStyle = css("text");
	ctx.lineWidth = dpr;
	for (const [e, release] of near) {
		const at = e.members.map((c) => rows.get(c.lane)).filter(known),
			last = rows.get(e.members.find((c) => c.arrive === release).lane),
			px = x(release);
		if (!at.length) continue;
		ctx.globalAlpha = 0.55;
		ctx.beginPath();
		ctx.moveTo(px, top + (Math.min(...at) + 0.5) * h);
		ctx.lineTo(px, top + (Math.max(...at) + 0.5) * h);
		ctx.stroke();
		ctx.globalAlpha = 1;
		if (!known(last)) continue;
		ctx.beginPath();
		ctx.arc(px, top + (last + 0.5) * h, 3 * dpr, 0, 7);
		ctx.fill();
	}
}
// The row under the cursor, or -1.
const rowAt = (u, y) => {
	const row = Math.floor((y / u.over.clientHeight) * shown.length);
	return row >= 0 && row < shown.length ? row : -1;
};
/* What a thread did at a time: {crossing, kind}; the kind is an index of KINDS. null: not known singly. */
function intervalAt(l, ns) {
	const i = after(l.crossings, ns),
		inside = l.crossings[i - 1],
		next = l.crossings[i];
	if (inside && (ns < inside.depart || ns < inside.arrive + inside.wait))
		return { crossing: inside, kind: inside.kind !== 1 ? 3 : ns < inside.arrive + inside.wait ? 1 : 2 };
	if (next && ns >= next.arrive - next.work) return { crossing: next, kind: 0 };
	return null;
}
function causeLines(c) {
	const d = detailOf(c);
	if (!d.cause) return [];
	return [
		[css(meaningOf(d.cause)), time(d.late) + " late: it " + (CAUSE_TEXT[d.cause] || d.cause), time(d.causeNs)],
		...(d.fn ? [[null, (d.more ? "at this barrier, late threads take longer in " : "longest in ") + d.fn, ""]] : []),
	];
}
function showLaneTip(u, showTip) {
	const { left, top } = u.cursor,
		row = rowAt(u, top);
	if (left < 0 || row < 0) return showTip(0, 0, null);
	const l = shown[row],
		ns = u.posToVal(left, "x") * 1e9,
		colours = KINDS.map(css),
		lines = [],
		at = intervalAt(l, ns);
	if (at) {
		const c = at.crossing,
			e = episodes[c.episode];
		lines.push([colours[at.kind], MEANING[KINDS[at.kind]], ""]);
		lines.push([
			null,
			(at.kind ? "" : "to ") + (barrierOfEpisode(e).label || "?"),
			e.number < 0 ? "" : "phase " + e.number,
		]);
		if (at.kind) lines.push([null, "waited", time(c.wait)], [null, "inside for", time(c.depart - c.arrive)]);
		else lines.push([null, "works for", time(c.work)], ...causeLines(c));
	} else {
		const b = ns / line.bucket_ns;
		KINDS.forEach((k, j) => {
			const p = stretch(l.upto[j], Math.floor(b), Math.floor(b) + 1);
			if (p > 0) lines.push([colours[j], MEANING[k], percent(p)]);
		});
	}
	showTip(
		left + u.over.offsetLeft,
		Math.min(top + 14, u.over.clientHeight - 40),
		"thread " + threadOfMany(l) + " at " + time(shownFrom + ns),
		lines,
	);
}

// --- one interval -------------------------------------------------------------------------------

// The crossing whose work interval is shown below the timeline.
let chosen = null;
function drawChosen(u, x) {
	if (!chosen || !rows.has(chosen.lane)) return;
	const { top, height } = u.bbox,
		h = height / shown.length,
		dpr = devicePixelRatio,
		from = chosen.arrive - (known(chosen.work) ? chosen.work : 0),
		p = x(from),
		q = Math.max(x(known(chosen.depart) ? chosen.depart : chosen.arrive + chosen.wait), p + 2);
	u.ctx.strokeStyle = css("text");
	u.ctx.lineWidth = 2 * dpr;
	u.ctx.strokeRect(p, top + rows.get(chosen.lane) * h + dpr, q - p, h - 2 * dpr);
}
function drawCritical(u, from, to, x) {
	if (!data.critical_path) return;
	const { top, height } = u.bbox,
		h = height / shown.length,
		byTid = new Map(shown.map((l, row) => [l.tid, row]));
	u.ctx.fillStyle = css("critical");
	for (const s of data.critical_path.segments || []) {
		const row = byTid.get(s.tid);
		if (!known(row) || s.to_ns < from || s.from_ns > to) continue;
		const p = x(Math.max(s.from_ns, from));
		u.ctx.fillRect(
			p,
			top + (row + 1) * h - Math.max(2, h * 0.16),
			Math.max(1, x(Math.min(s.to_ns, to)) - p),
			Math.max(2, h * 0.16),
		);
	}
}
/* Proportions of the scheduler's states in one interval. They are sums, so they have no order. */
function stateBar(states, work) {
	const known_ns = sum(Object.values(states)),
		rest = Math.max(0, work - known_ns);
	const parts = [...STATES.map((k) => [k, states[k]]), ["unattributed", rest]].filter(([, v]) => v > 0);
	return element(
		"div",
		{ class: "states" },
		element(
			"span",
			{ class: "bar wide" },
			...parts.map(([k, v]) =>
				element("i", {
					style: { width: (100 * v) / work + "%", background: "var(--" + k + ")" },
					title: MEANING[k] + ": " + time(v),
				}),
			),
		),
		legend(
			parts.map(([k, v]) => [
				"var(--" + k + ")",
				MEANING[k] + " " + time(v) + " (" + percent(v / work) + ")",
			]),
		),
		element(
			"p",
			{ class: "dim" },
			"The states are sums over the interval: their order in the bar is not the order in which they occurred.",
		),
	);
}
// The record of a barrier that threads of a process cross. Processes of one program have equal ids.
const recordOf = (id, pid) =>
	main.of("barrier").find((b) => b.id === id && b.pid === pid) ||
	main.of("barrier").find((b) => b.id === id && b.shared);
function choose(c, keepView) {
	chosen = c;
	const panel = document.getElementById("interval");
	if (!panel) return;
	if (linked[0]) linked[0].redraw(false);
	panel.replaceChildren();
	panel.hidden = !c;
	if (!c) return;
	const l = lanes.find((x) => x.at === c.lane),
		e = episodes[c.episode],
		b = barrierOfEpisode(e),
		d = detailOf(c),
		i = l.crossings.indexOf(c),
		row = rows.get(c.lane);
	const from = c.arrive - c.work;
	if (!keepView && linked[0]) {
		const { min, max } = linked[0].scales.x,
			wide = (max - min) * 1e9;
		if (c.arrive > max * 1e9 || (known(from) ? from : c.arrive) < min * 1e9) {
			const mid = (c.arrive + (known(from) ? from : c.arrive)) / 2,
				half = Math.max(wide / 2, known(c.work) ? c.work * 0.75 : 0);
			zoom((mid - half) / 1e9, (mid + half) / 1e9);
		}
	}
	const button = (id, text, to) =>
		element(
			"button",
			{
				type: "button",
				id,
				onclick: () => choose(to) || document.getElementById(id).focus(),
				...(to ? {} : { disabled: "" }),
			},
			text,
		);
	const beside = (by) => {
		const other = shown[row + by];
		return (
			other &&
			(episodes[c.episode].members.find((m) => m.lane === other.at) ||
				other.crossings[after(other.crossings, c.arrive)] ||
				null)
		);
	};
	const record = recordOf(b.id, l.pid);
	panel.append(
		element(
			"h3",
			{},
			"Thread " + threadOfMany(l) + (e.number < 0 ? "" : ", phase " + count(e.number)) + ", to ",
			record
				? element(
						"button",
						{ type: "button", class: "link", onclick: () => openRow(rowId({ r: main, b: record })) },
						b.label,
					)
				: b.label || "?",
		),
		element(
			"p",
			{},
			(known(c.work)
				? "Work from " +
					time(shownFrom + from) +
					" to " +
					time(shownFrom + c.arrive) +
					": " +
					time(c.work) +
					". "
				: "Arrival at " + time(shownFrom + c.arrive) + "; its work is not known. ") +
				(c.kind === 1
					? c.wait > 0
						? "Then it waited " + time(c.wait) + " for the last arriver."
						: "It arrived last."
					: "The last arrival is not known."),
		),
		d.cause
			? element(
					"p",
					{ class: "cause" },
					element("i", { style: { background: "var(--" + meaningOf(d.cause) + ")" } }),
					time(d.late) +
						" later than the typical thread, mostly because it " +
						(CAUSE_TEXT[d.cause] || d.cause) +
						" (" +
						time(d.causeNs) +
						" more)" +
						(d.fn
							? d.more
								? "; in the late episodes of this barrier up to here, the last arrivers took longer in "
								: ", for longest in "
							: "."),
					d.fn ? element("code", {}, d.fn) : null,
				)
			: element(
					"p",
					{ class: "dim" },
					details
						? "It was not noticeably later than the typical thread, or the cause is not known."
						: "",
				),
		d.states && c.work > 0
			? stateBar(d.states, c.work)
			: element("p", { class: "dim" }, "Its scheduler states are not known."),
		element(
			"div",
			{ class: "tools" },
			button("interval-earlier", "Previous phase", l.crossings[i - 1]),
			button("interval-later", "Next phase", l.crossings[i + 1]),
			button("interval-up", "Thread above", known(row) ? beside(-1) : null),
			button("interval-down", "Thread below", known(row) ? beside(1) : null),
			element("button", { type: "button", onclick: () => choose(null) }, "Close"),
		),
	);
}
// Show the last arrival of a phase: its interval, or else only its time range.
function showPhase(b, phase) {
	const to = phase.t_ns - shownFrom,
		from = to - phase.phase_ns,
		crossedBy = (x) => b.shared || (lanes.find((l) => l.at === x.members[0].lane) || {}).pid === b.pid,
		e = episodes.find(
			(x) => x.members.length && x.number === phase.phase && barrierOfEpisode(x).id === b.id && crossedBy(x),
		);
	if (!linked.length) return;
	zoom((from - phase.phase_ns * 0.3) / 1e9, (to + phase.phase_ns * 0.3) / 1e9);
	document.getElementById("timeline").scrollIntoView();
	document.querySelector("#timeline-chart .u-over").focus({ preventScroll: true });
	if (e && e.members.length)
		choose(
			e.members.reduce((a, c) => (c.arrive > a.arrive ? c : a)),
			true,
		);
}
// Choose an interval of the first lane in the middle of the view.
function chooseNear(u) {
	const mid = ((u.scales.x.min + u.scales.x.max) / 2) * 1e9,
		l = shown.find((x) => x.crossings.length);
	if (l) choose(l.crossings[Math.min(after(l.crossings, mid), l.crossings.length - 1)]);
}
function press(id) {
	const b = document.getElementById(id);
	if (b && !b.disabled) {
		b.click();
		linked[0].over.focus({ preventScroll: true });
	}
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
	u.over.setAttribute(
		"aria-label",
		"Timeline; + and - zoom, the left and right arrows move, 0 shows all, Enter chooses an interval, " +
			"and the up and down arrows choose one of another thread",
	);
	u.over.addEventListener("keydown", (e) => {
		const does = {
			"+": () => zoomBy(0.5),
			"=": () => zoomBy(0.5),
			"-": () => zoomBy(2),
			0: () => zoom(0, data.elapsed_ns / 1e9),
			ArrowLeft: () => shift(-0.25),
			ArrowRight: () => shift(0.25),
			...(u === linked[0] && each
				? {
						Enter: () => chooseNear(u),
						ArrowUp: () => press("interval-up"),
						ArrowDown: () => press("interval-down"),
					}
				: {}),
		}[e.key];
		if (does) {
			e.preventDefault();
			does();
		}
	});
}

const threadOfMany = (l) =>
	threadName(l) + (many && !rankOf.has(l.tid) && known(l.pid) ? " of process " + l.pid : "");
const laneName = (l) => short(threadLabel(l), innerWidth < 640 ? 16 : 26);
// Both charts have the same left margin, so that their times align.
let gutter = 64;
let causeColours = {};

function timeline() {
	if (!lanes.length) return;
	chooseLanes();
	passes.clear();
	gutter = Math.max(64, 14 + Math.max(0, ...lanes.map((l) => measure(laneName(l), 12))));
	causeColours = Object.fromEntries(Object.entries(CAUSE_MEANING).map(([k, m]) => [k, css(m)]));
	const s = section(
		"Timeline",
		"Drag over a range to zoom into it, double-click to see everything. Ctrl or Shift with the wheel, and the " +
			"keys +, -, 0 and the arrows, also work." +
			(each ? " Click an interval, or press Enter, to see why the thread arrived late." : ""),
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
			select(
				"sort",
				"Sort threads by",
				SORTS.map(([n]) => n),
			),
			details && details.length
				? select("colour", "Colour", ["what threads did", "causes of lateness"])
				: null,
			element("span", { class: "dim", id: "view" }),
		),
	);
	const dot = element("i", { class: "dot" }),
		critical = data.critical_path ? ["var(--critical)", MEANING.critical] : null;
	const causes_seen = details
		? [...new Set(lanes.flatMap((l) => l.crossings.map((c) => detailOf(c).cause)))].filter(Boolean)
		: [];
	const marks = [
		...(each ? [[dot, "last arrival; the line joins the threads of the episode"]] : []),
		...(critical ? [critical] : []),
	];
	s.append(
		view.colour && details
			? legend([
					...causes_seen.map((c) => [
						"var(--" + meaningOf(c) + ")",
						"late because it " + (CAUSE_TEXT[c] || c),
					]),
					...KINDS.map((k) => [
						"color-mix(in srgb, var(--" + k + ") 30%, var(--none))",
						"pale: " + MEANING[k],
					]),
					["var(--none)", MEANING.none],
					...marks,
				])
			: meanings([...KINDS, "none"], ...marks),
	);
	const box = element("div", { class: "chart", id: "timeline-chart" });
	const panel = element("div", {
		id: "interval",
		class: "panel",
		hidden: "",
		role: "region",
		"aria-label": "The chosen interval",
	});
	if (!shown.length) {
		s.append(element("p", { class: "dim" }, "No thread matches the filter."));
		return;
	}
	s.append(box, element("p", { class: "dim", id: "how" }), panel);
	if (line.left_out)
		s.append(
			element(
				"p",
				{ class: "dim" },
				"The first " + lanes.length + " threads are shown; " + count(line.left_out) + " more have no row.",
			),
		);
	const each_px = Math.max(5, Math.min(26, 900 / shown.length)),
		height = each_px * shown.length + 52,
		step = Math.ceil(14 / each_px);
	const names = shown.map(laneName);
	const showTip = tip(box);
	const u = link(
		chart(
			box,
			{
				height,
				legend: { show: false },
				cursor: { drag: { x: true, y: false }, points: { show: false } },
				scales: { x: wholeX(), y: { range: [0, shown.length] } },
				series: [{}, { stroke: "transparent", points: { show: false } }],
				axes: [
					clockAxis({ grid: { show: false } }),
					axis({
						grid: { show: false },
						ticks: { show: false },
						size: gutter,
						// The first row is at the top.
						splits: () => shown.map((_, i) => shown.length - i - 0.5).filter((_, i) => i % step === 0),
						values: (_, v) => v.map((at) => names[Math.round(shown.length - at - 0.5)]),
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
	// A click that is no drag chooses the interval under it.
	let down = null;
	u.over.addEventListener("mousedown", (e) => (down = e.offsetX));
	u.over.addEventListener("click", (e) => {
		const row = rowAt(u, e.offsetY);
		if (!each || row < 0 || down === null || Math.abs(e.offsetX - down) > 3) return;
		const at = intervalAt(shown[row], u.posToVal(e.offsetX, "x") * 1e9);
		choose(at ? at.crossing : null, true);
	});
	if (chosen) choose(rows.has(chosen.lane) ? chosen : null, true);
}
// A selection of a value of `view`, which draws the page again.
function select(key, label, names, id = "choose-" + key) {
	const s = element(
		"select",
		{
			id,
			onchange: () => {
				view[key] = Number(s.value);
				redraw();
				const now = document.getElementById(id);
				if (now) now.focus({ preventScroll: true });
			},
		},
		...names.map((n, i) => element("option", { value: i, ...(view[key] === i ? { selected: "" } : {}) }, n)),
	);
	return element("label", {}, label + " ", s);
}

// --- times through the run ----------------------------------------------------------------------

function through() {
	const list = line.series.barriers.filter(
		(b) => b.label !== undefined && barrierShown(barrierOf.get(b.id) || b),
	);
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
			[a, c] = [css("phase"), css("within")];
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
								showTip(
									w.cursor.left + w.over.offsetLeft,
									8,
									"around " + time(shownFrom + xs[i] * 1e9),
									[
										[a, "phase time, mean", say(2)],
										[null, "smallest to largest", say(0) + " to " + say(1)],
										[c, "barrier time, mean", say(5)],
										[null, "smallest to largest", say(3) + " to " + say(4)],
									],
								);
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
		meanings(
			["phase", "within"],
			[element("i", { class: "line" }), "mean"],
			[element("i", { class: "band" }), "smallest to largest"],
		),
		box,
	);
	const showTip = tip(box);
	show(0);
}
