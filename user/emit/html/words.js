// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
// Words, numbers and common parts for the pictures of a report, made from the JSON in the page. The
// files are joined into one script. Everything from the traced program is inserted as text, never
// as markup.
"use strict";

// Escape control characters, and characters that reorder or hide their neighbours.
const printable = (s) =>
	s.replace(
		/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
		(c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"),
	);
const data = JSON.parse(document.getElementById("data").textContent, (key, v) => {
	if (typeof v === "string") return printable(v);
	if (v === null || typeof v !== "object" || Array.isArray(v) || Object.keys(v).every((k) => printable(k) === k))
		return v;
	return Object.fromEntries(Object.entries(v).map(([k, x]) => [printable(k), x]));
});
const page = document.getElementById("page");
const COLOURS = [
	"#4e79a7",
	"#f28e2b",
	"#59a14f",
	"#b07aa1",
	"#e15759",
	"#3aa6a0",
	"#c9a227",
	"#9c755f",
	"#e377a2",
	"#6b8e23",
];
const OTHER = "#8b949e";
// Colours of sets of runs and of verdicts on them. They differ from COLOURS, which call sites have.
const SET_COLOURS = 8;
const setColour = (k) => css("set" + (k % SET_COLOURS));
const MOST_BARRIERS = COLOURS.length,
	MOST_COLUMNS = 64;
// What a colour means. Each meaning has one colour on the whole page: the CSS variable of its name.
const KINDS = ["work", "wait", "leave", "inside"];
const REASONS = ["lock", "io", "fault", "sleep", "throttled", "other", "gil"];
const STATES = ["oncpu", "runq", ...REASONS];
const MEANING = {
	work: "work, outside barriers",
	wait: "wait for the last arriver",
	leave: "leave: from the last arrival to the departure",
	inside: "inside a barrier; the last arrival is unknown",
	none: "nothing known",
	oncpu: "on a CPU",
	more: "on a CPU: more instructions",
	slower: "on a CPU: slower instructions",
	runq: "in the run queue, without a CPU",
	lock: "blocked: lock",
	io: "blocked: I/O",
	fault: "page faults",
	sleep: "blocked: sleep",
	throttled: "throttled by a CPU limit",
	steal: "CPU taken by the host (steal)",
	other: "blocked: other",
	gil: "blocked: GIL of Python",
	unattributed: "unattributed",
	phase: "phase time: from the previous release to this release",
	before: "phase time up to the first arrival",
	within: "barrier time: from the first arrival to the last",
	count: "count per thread, mean",
	critical: "critical path",
	gain: "time that the change saves",
};
// The meaning of each cause of lateness, by its name in the records.
const CAUSE_MEANING = {
	work: "oncpu",
	"more work": "more",
	"slower work": "slower",
	"no cpu": "runq",
	lock: "lock",
	gil: "gil",
	"i/o": "io",
	"page faults": "fault",
	sleep: "sleep",
	throttled: "throttled",
	stolen: "steal",
	other: "other",
	"released late": "leave",
	unattributed: "unattributed",
};
const meaningOf = (cause) => CAUSE_MEANING[cause] || "unattributed";
const CAUSE_TEXT = {
	work: "was on a CPU for longer",
	"more work": "executed more instructions",
	"slower work": "executed its instructions more slowly",
	"no cpu": "waited for a CPU",
	lock: "waited for a lock",
	gil: "waited for the GIL",
	"i/o": "waited for I/O",
	"page faults": "had page faults",
	sleep: "slept",
	throttled: "was throttled by a CPU limit",
	stolen: "lost the CPU to the host (steal time)",
	other: "was blocked for another reason",
	"released late": "left the preceding barrier later",
	unattributed: "spent time for which no reason is known",
};

// --- words and numbers --------------------------------------------------------------------------

function element(tag, props, ...children) {
	const e = document.createElement(tag);
	for (const [k, v] of Object.entries(props || {})) {
		if (k === "class") e.className = v;
		else if (k === "style") Object.assign(e.style, v);
		else if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
		else e.setAttribute(k, v);
	}
	e.append(...children.filter((c) => c !== null && c !== undefined));
	return e;
}
/* A sentence in which no line break separates a number from its unit. */
const sentence = (text) =>
	text && text.replace(/(\d) (?=(?:%|[nµm]?s|min|h|B|bytes|[KMGT]iB|[kMG]?Hz)(?![\w]))/g, "$1\u00a0");
const known = (v) => v !== null && v !== undefined && Number.isFinite(v);
const digits = (v) => v.toFixed(Math.abs(v) < 9.995 ? 2 : Math.abs(v) < 99.95 ? 1 : 0);
const UNITS = [
	[1e9, "s"],
	[1e6, "ms"],
	[1e3, "µs"],
	[1, "ns"],
];
const unitOf = (ns) => UNITS.find(([f]) => ns >= f) || UNITS[3];
function time(ns) {
	if (!known(ns)) return "?";
	const [f, name] = unitOf(Math.abs(ns));
	return f === 1 ? Math.round(ns) + " ns" : digits(ns / f) + " " + name;
}
const count = (n) => (known(n) ? Math.round(n).toLocaleString("en") : "?");
const plural = (n, noun, more) => count(n) + " " + (n === 1 ? noun : more || noun + "s");
const percent = (r) => (known(r) ? (r * 100).toFixed(r && r < 0.0995 ? 1 : 0) + " %" : "?");
// The change of a ratio compared with 1.
function change(r) {
	if (!known(r)) return "?";
	const p = (r - 1) * 100;
	return (p > 0 ? "+" : "") + p.toFixed(Math.abs(p) < 9.95 ? 1 : 0) + " %";
}
const ratio = (r) => (known(r) ? r.toFixed(2) : "?");
function short(s, most) {
	const all = Array.from(s);
	return all.length <= most
		? s
		: all.slice(0, Math.ceil(most / 3)).join("") + "…" + all.slice(-Math.floor((most * 2) / 3) + 1).join("");
}
const sum = (list) => list.reduce((a, b) => a + (known(b) ? b : 0), 0);
function bytes(base64) {
	const s = atob(base64),
		out = new Uint8Array(s.length);
	for (let i = 0; i < s.length; i++) out[i] = s.charCodeAt(i);
	return out;
}
const css = (name) =>
	getComputedStyle(document.documentElement)
		.getPropertyValue("--" + name)
		.trim();
// A fainter colour, for the barrier that ends a phase. It is opaque, because blocks overlap.
function pale(colour) {
	const back = css("back"),
		part = (c, i) => parseInt(c.slice(1 + 2 * i, 3 + 2 * i), 16);
	return (
		"rgb(" + [0, 1, 2].map((i) => Math.round(part(colour, i) * 0.45 + part(back, i) * 0.55)).join(",") + ")"
	);
}
const font = (px) => px + "px system-ui, 'Segoe UI', 'Noto Sans', sans-serif";
const measure = (() => {
	const ctx = document.createElement("canvas").getContext("2d");
	return (text, px) => {
		ctx.font = font(px);
		return ctx.measureText(text).width;
	};
})();

// --- parts of the page --------------------------------------------------------------------------

// Where section() adds sections.
let target = page;
function section(title, ...texts) {
	const s = element(
		"section",
		{ id: title.toLowerCase().replace(/[^a-z]+/g, "-") },
		element("h2", {}, title),
		...texts.map((t) => element("p", { class: "dim" }, t)),
	);
	target.append(s);
	return s;
}
function legend(items) {
	return element(
		"div",
		{ class: "legend" },
		...items.map(([colour, name]) =>
			element(
				"span",
				{},
				colour instanceof Node ? colour : element("i", { style: { background: colour } }),
				name,
			),
		),
	);
}
/* A legend of meanings. Words about marks without a colour may follow. */
const meanings = (keys, ...more) => legend([...keys.map((k) => ["var(--" + k + ")", MEANING[k]]), ...more]);
function table(heads, rows, texts = [0]) {
	const cell = (tag, v, i) => element(tag, texts.includes(i) ? { class: "text" } : {}, v);
	return element(
		"div",
		{ class: "scroll" },
		element(
			"table",
			{},
			element("thead", {}, element("tr", {}, ...heads.map((h, i) => cell("th", h, i)))),
			element("tbody", {}, ...rows.map((r) => element("tr", {}, ...r.map((v, i) => cell("td", v, i))))),
		),
	);
}
const numbers = (heads, rows, texts) =>
	element("details", {}, element("summary", {}, "The numbers"), table(heads, rows, texts));
function choice(label, names, change) {
	const s = element(
		"select",
		{ "aria-label": label, onchange: () => change(Number(s.value)) },
		...names.map((n, i) => element("option", { value: i }, short(n, 80))),
	);
	return element("label", {}, label + " ", s);
}
// A box beside the cursor. Its lines are [colour or null, text, value].
function tip(box) {
	const t = element("div", { class: "tip", style: { display: "none" } });
	box.append(t);
	return (x, y, title, lines) => {
		t.style.display = title === null ? "none" : "block";
		if (title === null) return;
		t.replaceChildren(
			element("strong", {}, title),
			...lines.map(([colour, text, value]) =>
				element(
					"div",
					{},
					colour ? element("i", { style: { background: colour } }) : null,
					element("span", {}, text),
					element("b", {}, value),
				),
			),
		);
		const left = x + 16 + t.offsetWidth > box.clientWidth ? x - 16 - t.offsetWidth : x + 16;
		t.style.left = Math.max(0, left) + "px";
		t.style.top = y + "px";
	};
}
