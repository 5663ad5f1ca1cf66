// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
// Common parts of the pages of series, diff and predict: their head, and coloured call sites.
// --- pages of records ---------------------------------------------------------------------------

const of = (type) => data.records.filter((r) => r.type === type);

// The first sentence is the answer.
function head() {
	page.append(
		element("h1", {}, data.title || "sbt-trace"),
		element("p", { class: "dim" }, "sbt-trace " + data.version),
		...data.sentences.map((s, i) =>
			element(
				"p",
				{ class: /^SBT REGRESSION/.test(s) ? "warn" : i ? "" : "answer" },
				s.replace(/^SBT (diff|series): /, ""),
			),
		),
	);
}

// Give colours to the call sites with most time. sites: [{id, name, ns}], in the order of drawing.
function colouredSites(sites) {
	const all = new Map();
	for (const { id, name, ns } of sites) {
		const s = all.get(id) || { id, name, ns: 0 };
		s.ns += known(ns) ? ns : 0;
		all.set(id, s);
	}
	const most = new Set(
		[...all.values()]
			.sort((a, b) => b.ns - a.ns)
			.slice(0, MOST_BARRIERS)
			.map((s) => s.id),
	);
	const list = [...all.values()].filter((s) => most.has(s.id));
	list.forEach((s, i) => (s.colour = COLOURS[i % COLOURS.length]));
	return { list, has: (id) => most.has(id) };
}

/*
 * A block for each site and one for the time inside its barrier, over columns. get(column, id)
 * returns [work, barrier] in ns, or null. With id null, it returns the sum over all sites without a
 * colour.
 */
function siteBlocks(sites, columns_of, get) {
	return [...sites.list, { id: null, name: "others", colour: OTHER }].flatMap(({ id, name, colour }) => {
		const values = columns_of.map((c) => get(c, id));
		if (!values.some((v) => v && sum(v) > 0)) return [];
		return [
			{ name: "to " + name, colour, values: values.map((v) => v && v[0]) },
			{ name: "at " + name, colour: pale(colour), values: values.map((v) => v && v[1]) },
		];
	});
}

// A spread over runs, as columns() draws it. A single run has no spread.
const spreadOf = (mean, sigma, min, max) =>
	known(mean) && known(sigma)
		? { min: min ?? mean, max: max ?? mean, sigma, low: Math.max(0, mean - sigma), high: mean + sigma }
		: null;
