// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
// The other pictures, and the page as a whole.
// --- phases -------------------------------------------------------------------------------------

// One block for the phase and one for the barrier at its end, stacked as in the thesis.
function blocks(get) {
	const out = [];
	for (const id of [...coloured, null]) {
		const phase = get(id, false),
			within = get(id, true);
		if (!sum(phase) && !sum(within)) continue;
		const name = id === null ? "others" : nameOfId.get(id),
			colour = id === null ? OTHER : colourOf(id);
		out.push(
			{ name: "to " + name, colour, values: phase },
			{ name: "at " + name, colour: pale(colour), values: within },
		);
	}
	return out;
}
function phases() {
	const most = Math.max(1, Math.floor(MOST_COLUMNS / runs.length));
	const cols = runs.flatMap((r) =>
		teamsOf(r)
			.map((t) => ({
				r,
				t,
				list: r
					.of("barrier")
					.filter(
						(b) =>
							t.pids.has(b.pid) &&
							!b.nested &&
							b.phase_ns &&
							(t.inGroup ? !b.shared : t.pids.size === 1 || b.shared),
					),
			}))
			.filter((c) => c.list.length)
			.slice(0, most),
	);
	if (!cols.length) return;
	const s = section(
		"Phase times",
		"Each barrier has two blocks: the time of its phases up to the first arrival, and above it, fainter, from " +
			"the first to the last arrival (its barrier time). Together they are the time that " +
			(windowed ? "this part of the run" : "the run") +
			" spent in these phases. Times of several teams of one process add up.",
	);
	const of = (id, c) => c.list.filter((b) => (id === null ? !coloured.includes(b.id) : b.id === id));
	stackedPair(
		s,
		cols.map(({ r, t }) =>
			runs.length > 1 ? r.name + (cols.filter((c) => c.r === r).length > 1 ? " " + t.name : "") : t.name,
		),
		blocks((id, within) =>
			cols.map((c) =>
				sum(
					of(id, c).map((b) => {
						// The phase begins when the last thread starts. The
						// first arrivals may be earlier.
						const inside = Math.min(b.barrier_ns.sum, b.phase_ns.sum);
						return within ? inside : b.phase_ns.sum - inside;
					}),
				),
			),
		),
	);
}
// A picture of the threads of one team at a time.
function teamSelect(s, draw) {
	const box = element("div", {});
	const list = teamsOf(main)
		.filter((t) => t.threads.length && !t.inGroup)
		.slice(0, 200);
	if (!list.length) return;
	if (list.length > 1) {
		const show = (i) => {
			box.replaceChildren();
			draw(list[i], box);
		};
		s.append(
			element(
				"div",
				{ class: "tools" },
				choice(
					"Team",
					list.map((t) => t.name),
					show,
				),
			),
		);
	}
	s.append(box);
	draw(list[0], box);
}
const firstThreads = (p) => p.threads.slice(0, MOST_COLUMNS);
const cut = (p) =>
	p.threads.length > MOST_COLUMNS
		? " The first " + MOST_COLUMNS + " of " + count(p.threads.length) + " threads are shown."
		: "";
function byThread() {
	if (!barriers.some((b) => (b.threads || []).length)) return;
	const s = section(
		"Phase times of each thread",
		"Work before each barrier, and above it, fainter, the time inside that barrier (wait and leave).",
	);
	teamSelect(s, (p, box) => {
		const threads = firstThreads(p),
			own = barriers.filter((b) => b.shared || p.pids.has(b.pid));
		const at = (id, t) =>
			own
				.filter((b) => (id === null ? !coloured.includes(b.id) : b.id === id))
				.flatMap((b) => (b.threads || []).filter((x) => x.tid === t.tid));
		if (cut(p)) box.append(element("p", { class: "dim" }, cut(p)));
		stackedPair(
			box,
			threads.map(threadName),
			blocks((id, within) =>
				threads.map((t) => sum(at(id, t).map((x) => (within ? x.idle_ns : x.work_ns)))),
			),
		);
	});
}

// --- idle times ---------------------------------------------------------------------------------

function spread(values) {
	const v = values.filter(known);
	if (!v.length) return null;
	const mean = sum(v) / v.length,
		sigma = Math.sqrt(sum(v.map((x) => (x - mean) ** 2)) / v.length);
	return {
		n: v.length,
		mean,
		sigma,
		min: Math.min(...v),
		max: Math.max(...v),
		low: Math.max(0, mean - sigma),
		high: mean + sigma,
	};
}
function idle() {
	const ids = coloured.filter((id) =>
		runs.some((r) => r.of("barrier").some((b) => b.id === id && (b.threads || []).length > 1)),
	);
	if (!ids.length) return;
	const s = section(
		"Idle times of threads",
		"Total time that each thread waited at a barrier for the last arriver: the column is the mean over the threads, " +
			"the line reaches from the smallest to the largest value, and the box is the mean ± the standard deviation " +
			"σ. A long line shows static imbalance.",
	);
	const spreads = runs.map((r) =>
		ids.map((id) =>
			spread(
				r
					.of("barrier")
					.filter((b) => b.id === id)
					.flatMap((b) => (b.threads || []).map((t) => t.wait_ns)),
			),
		),
	);
	const scale = timeScale(
			Math.max(
				0,
				...spreads
					.flat()
					.filter(Boolean)
					.map((x) => x.max),
			),
		),
		box = element("div", { class: "chart" });
	s.append(box);
	columns(box, {
		names: ids.map((id) => nameOfId.get(id)),
		scale,
		label: scale.name,
		marks: spreads,
		groups: runs.map((r, k) => ({
			name: runs.length > 1 ? r.name : "wait",
			colour: runs.length > 1 ? COLOURS[k % COLOURS.length] : css("wait"),
			values: spreads[k].map((x) => x && x.mean),
		})),
	});
	if (runs.length > 1) s.append(legend(runs.map((r, k) => [COLOURS[k % COLOURS.length], r.name])));
	s.append(
		numbers(
			["", "run", "threads", "smallest", "mean", "largest", "σ"],
			runs
				.flatMap((r, k) =>
					ids.map(
						(id, i) =>
							spreads[k][i] && [
								nameOfId.get(id),
								r.name || "",
								count(spreads[k][i].n),
								...["min", "mean", "max", "sigma"].map((q) => time(spreads[k][i][q])),
							],
					),
				)
				.filter(Boolean),
			[0, 1],
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
	const inner = element("div", {});
	const show = (which) => {
		const name = names[which],
			list = barriers
				.filter((b) => coloured.includes(b.id))
				.sort((a, b) => coloured.indexOf(a.id) - coloured.indexOf(b.id))
				.slice(0, 24);
		const threads = [...new Map(list.flatMap((b) => (b.threads || []).map((t) => [t.tid, t]))).values()].sort(
			(a, b) => (a.index ?? 0) - (b.index ?? 0),
		);
		const value = (b, tid) => {
			const t = (b.threads || []).find((x) => x.tid === tid);
			return t && t.counters ? t.counters[name] : null;
		};
		const few = threads.length <= MOST_GROUPED,
			box = element("div", { class: "chart" });
		const spreads = list.map((b) => spread((b.threads || []).map((t) => t.counters && t.counters[name])));
		const top = Math.max(1, ...spreads.filter(Boolean).map((x) => x.max)),
			unit = [
				[1e9, "10⁹"],
				[1e6, "10⁶"],
				[1e3, "10³"],
				[1, ""],
			].find(([f]) => top >= f);
		const groups = few
			? threads.map((t, k) => ({
					name: threadName(t),
					colour: COLOURS[k % COLOURS.length],
					values: list.map((b) => value(b, t.tid)),
				}))
			: [{ name: "mean per thread", colour: COLOURS[0], values: spreads.map((x) => x && x.mean) }];
		inner.replaceChildren(box);
		columns(box, {
			names: list.map(labelOf),
			groups,
			scale: { f: unit[0], show: count },
			label: (unit[1] ? unit[1] + " " : "") + short(name, 24),
			marks: few ? undefined : [spreads],
		});
		inner.append(
			few
				? legend(groups.map((g) => [g.colour, g.name]))
				: element(
						"p",
						{ class: "dim" },
						"Over " + count(threads.length) + " threads: the mean, smallest to largest, and the mean ± σ.",
					),
		);
		const all = sum(processes.map((p) => p.counters && p.counters[name]));
		inner.append(
			numbers(
				[
					"",
					"all threads",
					windowed ? "share of the part shown" : "share of the run",
					...(few ? threads.map(threadName) : ["mean", "smallest", "largest", "σ"]),
				],
				list.map((b, i) => {
					const own = b.counters && b.counters[name],
						x = spreads[i] || {};
					return [
						labelOf(b),
						count(own),
						known(own) && all ? percent(own / all) : "?",
						...(few
							? threads.map((t) => count(value(b, t.tid)))
							: [x.mean, x.min, x.max, x.sigma].map(count)),
					];
				}),
			),
		);
		if (processes.some((p) => p.counters_scaled && p.counters_scaled[name]))
			inner.append(element("p", { class: "dim" }, "Multiplexed: these counts are estimates."));
	};
	s.append(element("div", { class: "tools" }, choice("Counter", names, show)), inner);
	show(0);
}

// --- how time was spent, and why ----------------------------------------------------------------

const REASONS = ["lock", "io", "fault", "sleep", "throttled", "other"];
function parts() {
	if (!processes.some((p) => (p.threads || []).some((t) => known(t.oncpu_ns)))) return;
	const s = section(
		"Where the threads' time went",
		"Outside barriers: on a CPU, ready but without a CPU (run queue), blocked, by reason, or unattributed. " +
			"Inside: waiting for the last arriver, and leaving.",
	);
	const list = [
		["on a CPU", COLOURS[0], (t) => t.oncpu_ns],
		["run queue", COLOURS[4], (t) => t.runq_ns],
		...REASONS.map((r, i) => [
			"blocked: " + (r === "io" ? "I/O" : r === "fault" ? "page fault" : r),
			["#c9a227", "#9c755f", "#e377a2", "#6b8e23", "#59a14f", "#3aa6a0"][i],
			(t) => t.blocked_ns && t.blocked_ns[r],
		]),
		["unattributed", OTHER, (t) => t.unattributed_ns],
		["inside: wait", COLOURS[1], (t) => t.wait_ns],
		["inside: leaving", COLOURS[3], (t) => t.idle_ns - t.wait_ns],
	];
	teamSelect(s, (p, box) => {
		const threads = firstThreads(p);
		const groups = list
			.map(([name, colour, get]) => ({ name, colour, values: threads.map(get) }))
			.filter((g) => sum(g.values) > 0);
		if (cut(p)) box.append(element("p", { class: "dim" }, cut(p)));
		if (groups.length) stackedPair(box, threads.map(threadName), groups);
	});
}
function causes() {
	const list = barriers
		.filter((b) => b.cause && b.cause.text)
		.sort((a, b) => b.lost_ns - a.lost_ns)
		.slice(0, 30);
	if (!list.length) return;
	const s = section(
		"Causes",
		"Why the last arrivers were late, over all episodes of a barrier, weighted by the time lost by waiting threads.",
	);
	const names = [...new Set(list.flatMap((b) => Object.keys(b.cause.parts || {})))],
		colour = (n) => COLOURS[names.indexOf(n) % COLOURS.length];
	const bar = (b) => {
		const plus = Object.entries(b.cause.parts || {}).filter(([, ns]) => ns > 0),
			all = sum(plus.map(([, ns]) => ns));
		return element(
			"span",
			{
				class: "parts",
				title: plus.map(([n, ns]) => n + " " + percent(ns / all)).join(", "),
			},
			...plus.map(([n, ns]) =>
				element("i", {
					style: { width: (100 * ns) / all + "%", background: colour(n) },
				}),
			),
		);
	};
	s.append(
		legend(names.map((n) => [colour(n), n])),
		table(
			["Barrier", "lost", "parts of the lateness", "cause"],
			list.map((b) => [labelOf(b), time(b.lost_ns), bar(b), sentence(b.cause.text)]),
			[0, 2, 3],
		),
	);
}

function everyBarrier() {
	const list = main.of("barrier").slice(0, 500);
	if (!list.length) return;
	const s = section("Barriers"),
		mean = (q) => (q ? time(q.mean) : "?");
	s.append(
		table(
			[
				"Barrier",
				"id",
				"kind",
				"episodes",
				"incomplete",
				"threads",
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
				mean(b.phase_ns),
				mean(b.barrier_ns),
				time(b.lost_ns),
				sentence(b.verdict) || "",
			]),
			[0, 9],
		),
	);
}

drawPage([
	() => (linked = []),
	summary,
	timeline,
	through,
	phases,
	byThread,
	idle,
	counters,
	parts,
	causes,
	() => speedup(data.curves),
	everyBarrier,
	() => linked.length && zoom(0, data.elapsed_ns / 1e9),
]);
