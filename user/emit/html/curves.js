// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
// Speedup by number of processors.
// --- speedup ------------------------------------------------------------------------------------

/* curves: [{name, predicted, points: [{processors, time_ns, speedup}], colour}], by processors.
 * Curves without a colour have those of @colours in turn. */
function speedup(curves, more, colours) {
	curves = curves.filter((c) => c.points.some((p) => known(p.speedup)));
	if (!curves.length) return;
	const s = section(
		"Speedup",
		(more || "By number of processors; measured runs by number of threads.") +
			" Dashed lines are predictions; the thin straight line is linear speedup. Drag over a range to zoom into " +
			"it, double-click to see all.",
	);
	const box = element("div", { class: "chart", id: "speedup-chart" }),
		xs = [...new Set(curves.flatMap((c) => c.points.map((p) => p.processors)))].sort((a, b) => a - b);
	const at = (c, x) => {
		const p = c.points.find((q) => q.processors === x);
		return p && known(p.speedup) ? p.speedup : null;
	};
	// If the base is a run with several threads, that run's speedup is 1.
	const from = curves.every((c) => at(c, xs[0]) === 1) ? xs[0] : 1,
		linear = xs.map((x) => x / from);
	const top = (lo, hi) =>
		Math.max(
			1,
			...xs.flatMap((x, i) => (x < lo || x > hi ? [] : [linear[i], ...curves.map((c) => at(c, x) ?? 0)])),
		);
	const colour = (k) => curves[k].colour ?? colours[k % colours.length];
	const name = (c) => c.name + (c.predicted && !c.name.includes("predicted") ? " (predicted)" : "");
	s.append(box);
	const showTip = tip(box);
	chart(
		box,
		{
			height: 360,
			legend: { show: false },
			cursor: { drag: { x: xs.length > 2, y: false } },
			scales: {
				x: {
					time: false,
					range: (_, lo, hi) => [
						Math.max(Math.min(1, xs[0]) - 0.5, (lo ?? xs[0]) - 0.5),
						Math.min(xs[xs.length - 1] + 0.5, (hi ?? xs[0]) + 0.5),
					],
				},
				y: { range: (u) => [0, top(u.scales.x.min ?? -1, u.scales.x.max ?? Infinity) * 1.05] },
			},
			series: [
				{},
				{ stroke: css("dim"), width: 1, points: { show: false } },
				...curves.map((c, k) => ({
					stroke: colour(k),
					width: 2,
					spanGaps: true,
					dash: c.predicted ? [7, 5] : undefined,
					points: { show: true, size: 7, fill: colour(k) },
				})),
			],
			axes: [
				axis({
					label: "processors",
					labelSize: 22,
					// Whole numbers only.
					incrs: ROUND.filter((x) => x >= 1),
					space: 40,
					values: (_, v) => v.map((x) => String(x)),
				}),
				axis({
					label: "speedup",
					labelSize: 22,
					values: (_, v) => v.map(plain),
					size: room,
				}),
			],
			hooks: {
				setCursor: [
					(u) => {
						const i = u.cursor.idx;
						if (u.cursor.left < 0 || !known(i)) return showTip(0, 0, null);
						showTip(
							u.cursor.left + u.over.offsetLeft,
							8,
							plural(xs[i], "processor"),
							curves
								.map((c, k) => [colour(k), name(c), ratio(at(c, xs[i]))])
								.filter((_, k) => known(at(curves[k], xs[i]))),
						);
					},
				],
			},
		},
		[xs, linear, ...curves.map((c) => xs.map((x) => at(c, x)))],
	);
	s.append(legend([...curves.map((c, k) => [colour(k), name(c)]), [css("dim"), "linear"]]));
	const timeAt = (c, x) => (c.points.find((p) => p.processors === x) || {}).time_ns;
	s.append(
		numbers(
			["", ...xs.map(String)],
			curves.flatMap((c) => [
				[name(c) + ", speedup", ...xs.map((x) => ratio(at(c, x)))],
				[name(c) + ", time", ...xs.map((x) => time(timeAt(c, x)))],
			]),
		),
	);
}
