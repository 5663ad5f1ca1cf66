// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "emit/textout.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/function_name.h"
#include "base/text.h"

#define ELLIPSIS "…"
#define SMALL	 256 /* bytes; enough for most lines */

/* --- width ------------------------------------------------------------------------------------ */

/*
 * Return the width of a character. This is precise enough for names: combining marks and scripts of
 * double width are known.
 */
static unsigned codepoint_columns(uint32_t cp)
{
	if ((cp >= 0x300 && cp <= 0x36f) || (cp >= 0x1ab0 && cp <= 0x1aff) ||
	    (cp >= 0x20d0 && cp <= 0x20ff) || (cp >= 0xfe00 && cp <= 0xfe0f))
		return 0;
	if ((cp >= 0x1100 && cp <= 0x115f) || (cp >= 0x2e80 && cp <= 0xa4cf) ||
	    (cp >= 0xac00 && cp <= 0xd7a3) || (cp >= 0xf900 && cp <= 0xfaff) ||
	    (cp >= 0xfe30 && cp <= 0xfe6f) || (cp >= 0xff00 && cp <= 0xff60) ||
	    (cp >= 0xffe0 && cp <= 0xffe6) || (cp >= 0x1f300 && cp <= 0x1faff) ||
	    (cp >= 0x20000 && cp <= 0x3fffd))
		return 2;
	return 1;
}

/* Return the number of bytes of the character at @s, and put its width into *columns. */
static size_t step(const char *s, unsigned *columns)
{
	uint32_t cp;
	size_t n;

	/* Handle ASCII first: it is by far the most common. */
	if (*s >= ' ' && *s <= '~') {
		*columns = 1;
		return 1;
	}
	n = text_utf8((const uint8_t *)s, strnlen(s, 4), &cp);
	*columns = n ? codepoint_columns(cp) : 1;
	return n ? n : 1;
}

unsigned textout_columns(const char *s)
{
	unsigned all = 0, one;

	for (;;) {
		for (; *s >= ' ' && *s <= '~'; s++)
			all++;
		if (!*s)
			return all;
		s += step(s, &one);
		all += one;
	}
}

/* Return the length in bytes of the longest beginning of @s within @columns. */
static size_t head(const char *s, unsigned columns)
{
	const char *p = s;
	unsigned all = 0, one;
	size_t n;

	while (*p) {
		n = step(p, &one);
		if (all + one > columns)
			break;
		all += one;
		p += n;
	}
	return (size_t)(p - s);
}

/* Return the longest suffix of @s that fits in @columns columns. */
static const char *tail(const char *s, unsigned columns)
{
	unsigned all = textout_columns(s), one;

	while (all > columns) {
		s += step(s, &one);
		all -= one;
	}
	while (*s && (step(s, &one), !one))
		s += step(s, &one);
	return s;
}

/*
 * Add @s in at most @columns, without the scopes at its beginning. Return false if it is still too
 * long.
 */
static bool add_inner(struct buf *buf, const char *s, unsigned columns)
{
	while ((s = function_name_inner(s)))
		if (textout_columns(s) < columns) {
			buf_str(buf, ELLIPSIS);
			buf_str(buf, s);
			return true;
		}
	return false;
}

/*
 * Shorten a text that begins with the name of a C++ or Rust function, without cutting a word: leave
 * out the function into which it was inlined, then scopes. Return false if the text is still too
 * long, or begins in another way.
 */
static bool elide_function(struct buf *buf, const char *s, unsigned columns)
{
	const char *end = function_name_end(s), *rest = NULL;
	char *own = NULL;
	bool fits;

	if (!end || *s == '/' ||
	    !(function_name_inner(s) || (!strncmp(end, " in ", 4) && function_name_inner(end + 4))))
		return false;
	if (add_inner(buf, s, columns))
		return true;
	if (!strncmp(end, " in ", 4))
		rest = function_name_end(end + 4);
	if (!rest || asprintf(&own, "%.*s" ELLIPSIS "%s", (int)(end - s), s, rest) < 0)
		return false;
	fits = textout_columns(own) <= columns;
	if (fits)
		buf_str(buf, own);
	else
		fits = add_inner(buf, own, columns);
	free(own);
	return fits;
}

/*
 * Elide the middle. Keep more of the end than of the front: paths differ at their end, where file
 * and line are.
 */
unsigned textout_elide(struct buf *buf, const char *s, unsigned columns)
{
	unsigned all = textout_columns(s), front;
	size_t begin = buf->len;
	const char *end;

	if (all <= columns) {
		buf_str(buf, s);
		return all;
	}
	if (columns < 3) {
		buf_add(buf, s, head(s, columns));
	} else if (!elide_function(buf, s, columns)) {
		front = (columns - 1) / 3;
		end = tail(s, columns - 1 - front);
		buf_add(buf, s, head(s, front));
		buf_str(buf, ELLIPSIS);
		buf_str(buf, end);
	}
	return buf->failed ? 0 : textout_columns(buf->s + begin);
}

char *textout_fit(const char *s, unsigned columns)
{
	char *safe = text_printable(s);
	struct buf buf = { 0 };

	if (!safe || textout_columns(safe) <= columns)
		return safe;
	textout_elide(&buf, safe, columns);
	free(safe);
	if (!buf.failed)
		return buf.s;
	buf_free(&buf);
	return NULL;
}

char *textout_cut(const char *s, unsigned columns)
{
	char *safe = text_printable(s);
	const char *inner, *next;
	struct buf buf = { 0 };

	if (!safe || textout_columns(safe) <= columns)
		return safe;
	if (!elide_function(&buf, safe, columns)) {
		/* The innermost name says most. */
		for (inner = next = safe; columns > 2 && next; next = function_name_inner(inner))
			inner = next;
		buf_str(&buf, inner == safe ? "" : ELLIPSIS);
		columns -= inner != safe;
		buf_add(&buf, inner, head(inner, columns ? columns - 1 : 0));
		buf_str(&buf, columns ? ELLIPSIS : "");
	}
	free(safe);
	if (!buf.failed)
		return buf.s;
	buf_free(&buf);
	return NULL;
}

/* --- lines ------------------------------------------------------------------------------------ */

static char ascii_of(uint32_t cp)
{
	switch (cp) {
	case 0xb5:
		return 'u';
	case 0xd7:
		return 'x';
	case 0x2026:
		return '~';
	case 0x2192:
		return '>';
	case 0x25bc:
		return 'v';
	default:
		return cp >= 0x2588 && cp <= 0x258f ? '#' : '?';
	}
}

void textout_ascii(struct buf *buf, const char *s)
{
	uint32_t cp;
	size_t n;

	for (; *s; s += n) {
		n = text_utf8((const uint8_t *)s, strlen(s), &cp);
		if (!n) {
			n = 1;
			cp = '?';
		}
		buf_char(buf, cp < 0x80 ? (char)cp : ascii_of(cp));
	}
}

/*
 * Return whether the character is active in Markdown, or in the HTML that Markdown passes through.
 */
static bool acts(const char *s, const char *at)
{
	if (strchr("\\`*_[]|~$", *at))
		return true;
	/* Markdown turns addresses into links. */
	if (*at == ':' && at[1] == '/' && at[2] == '/')
		return true;
	if (*at == '.' && at - s >= 3 && !strncasecmp(at - 3, "www", 3))
		return true;
	return at == s && strchr("#+-=>", *at);
}

void textout_markdown(struct buf *buf, const char *s)
{
	char *safe = text_printable(s);
	const char *c;

	if (!safe) {
		buf->failed = true;
		return;
	}
	for (c = safe; *c; c++) {
		if (*c == '<') {
			buf_str(buf, "&lt;");
		} else if (*c == '&') {
			buf_str(buf, "&amp;");
		} else {
			if (acts(safe, c))
				buf_char(buf, '\\');
			buf_char(buf, *c);
		}
	}
	free(safe);
}

/* Add a paragraph in Markdown. A bullet of text output stays a bullet. */
static void put_markdown(struct textout *t, enum textout_style style, const char *raw)
{
	bool strong = style == TEXTOUT_BOLD || style == TEXTOUT_RED;

	while (*raw == ' ')
		raw++;
	if (!*raw)
		return;
	if (raw[0] == '*' && raw[1] == ' ') {
		buf_str(t->buf, "- ");
		raw += 2;
	} else if (raw[0] == '-' && raw[1] == '>') {
		buf_str(t->buf, "→");
		raw += 2;
	}
	if (strong)
		buf_str(t->buf, "**");
	textout_markdown(t->buf, raw);
	buf_str(t->buf, strong ? "**\n\n" : "\n\n");
}

static void put_styled(struct textout *t, enum textout_style style, const char *line)
{
	static const char *const codes[] = { "", "\033[1m", "\033[1;31m", "\033[2m" };
	bool colour = t->colour && *line;

	if (colour)
		buf_str(t->buf, codes[style]);
	if (t->ascii)
		textout_ascii(t->buf, line);
	else
		buf_str(t->buf, line);
	if (colour && style != TEXTOUT_PLAIN)
		buf_str(t->buf, "\033[0m");
	buf_char(t->buf, '\n');
}

/* Print a line. If @good, the caller knows that it is printable and fits. */
static void put(struct textout *t, enum textout_style style, char *raw, bool good)
{
	size_t n = strlen(raw);
	char *fit;

	/* Remove trailing blanks first, so that nothing is elided because of them. */
	while (n && raw[n - 1] == ' ')
		raw[--n] = '\0';
	if (t->markdown) {
		put_markdown(t, style, raw);
		return;
	}
	/* Most lines need no change. */
	if (good || (text_is_printable(raw) && textout_columns(raw) <= t->width)) {
		put_styled(t, style, raw);
		return;
	}
	fit = textout_fit(raw, t->width);
	if (fit)
		put_styled(t, style, fit);
	else
		t->buf->failed = true;
	free(fit);
}

/*
 * Format into @small if the text fits there, otherwise into a string to be freed. Return NULL when
 * out of memory.
 */
static char *format(struct textout *t, char small[SMALL], const char *fmt, va_list args)
{
	char *s = NULL;
	va_list again;
	int n;

	va_copy(again, args);
	n = vsnprintf(small, SMALL, fmt, args);
	if (n >= 0 && n < SMALL)
		s = small;
	else if (n < 0 || vasprintf(&s, fmt, again) < 0)
		s = NULL;
	va_end(again);
	if (!s)
		t->buf->failed = true;
	return s;
}

void textout_line(struct textout *t, enum textout_style style, const char *fmt, ...)
{
	char small[SMALL];
	va_list args;
	char *s;

	va_start(args, fmt);
	s = format(t, small, fmt, args);
	va_end(args);
	/* In Markdown, a bold line is a heading. */
	if (s && *s && t->markdown && style == TEXTOUT_BOLD) {
		buf_str(t->buf, "## ");
		textout_markdown(t->buf, s + strspn(s, " "));
		buf_str(t->buf, "\n\n");
	} else if (s) {
		put(t, style, s, false);
	}
	if (s != small)
		free(s);
}

void textout_string(struct textout *t, enum textout_style style, struct buf *s, unsigned columns)
{
	if (s->failed)
		t->buf->failed = true;
	else if (s->s)
		put(t, style, s->s, columns <= t->width);
}

void textout_blank(struct textout *t)
{
	if (!t->markdown)
		buf_char(t->buf, '\n');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Return whether @s begins with a unit as a separate word. */
static bool begins_with_unit(const char *s)
{
	static const char *const units[] = {
		"%",   "ns",  "\xc2\xb5s", "us", "ms", "s",  "min", "h",  "B",	 "bytes", "KiB",
		"MiB", "GiB", "TiB",	   "kB", "KB", "MB", "GB",  "Hz", "kHz", "MHz",	  "GHz",
	};
	unsigned char next;
	size_t i, n;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		n = strlen(units[i]);
		next = strncmp(s, units[i], n) ? 'x' : (unsigned char)s[n];
		if (next < 0x80 && !isalnum(next) && next != '_')
			return true;
	}
	return false;
}

/*
 * Return whether the blank at s[i] is inside a quantity: between number and unit, or sign and
 * number.
 */
static bool in_quantity(const char *s, size_t i)
{
	if (!i)
		return false;
	if (s[i - 1] == '<' || s[i - 1] == '>')
		return is_digit(s[i + 1]) && (i == 1 || s[i - 2] == ' ');
	return is_digit(s[i - 1]) && begins_with_unit(s + i + 1);
}

/*
 * Return where to break @s so that the first part fits in @columns: at the last blank that fits,
 * but inside a quantity only if there is no other blank.
 */
static size_t break_at(const char *s, unsigned columns)
{
	size_t fits = head(s, columns), i, last = 0;

	if (!s[fits])
		return fits;
	for (i = fits; i > 0; i--) {
		if (s[i] != ' ')
			continue;
		if (!in_quantity(s, i))
			return i;
		last = last ? last : i;
	}
	return last ? last : fits ? fits : strlen(s);
}

/* Print the paragraph @raw, which may be unprintable; see textout_wrap_most(). */
static void wrap(struct textout *t, enum textout_style style, const char *first, unsigned indent,
		 unsigned most, const char *raw)
{
	char *copy = text_is_printable(raw) ? NULL : text_printable(raw);
	const char *s = copy ? copy : text_is_printable(raw) ? raw : NULL, *lead = first;
	struct buf line = { 0 };
	unsigned used, columns, i;
	size_t n;

	t->buf->failed |= !s;
	for (i = 1; s && *s; i++, s += n) {
		used = lead ? textout_columns(lead) : indent;
		columns = used < t->width ? t->width - used : 1;
		n = break_at(s, columns);
		buf_clear(&line);
		buf_pad(&line, lead ? 0 : indent);
		buf_str(&line, lead ? lead : "");
		if (i == most && s[n]) {
			buf_add(&line, s, break_at(s, columns - 1));
			buf_str(&line, ELLIPSIS);
			n = strlen(s);
		} else {
			buf_add(&line, s, n);
		}
		if (line.failed)
			break;
		put(t, style, line.s, false);
		lead = NULL;
		while (s[n] == ' ')
			n++;
	}
	t->buf->failed |= line.failed;
	buf_free(&line);
	free(copy);
}

void textout_wrap(struct textout *t, enum textout_style style, const char *first, unsigned indent,
		  const char *fmt, ...)
{
	char small[SMALL], *raw;
	va_list args;

	va_start(args, fmt);
	raw = format(t, small, fmt, args);
	va_end(args);
	if (raw)
		wrap(t, style, first, indent, UINT_MAX, raw);
	if (raw != small)
		free(raw);
}

void textout_wrap_most(struct textout *t, enum textout_style style, const char *first,
		       unsigned indent, unsigned most, const char *fmt, ...)
{
	char small[SMALL], *raw;
	va_list args;

	va_start(args, fmt);
	raw = format(t, small, fmt, args);
	va_end(args);
	if (raw)
		wrap(t, style, first, indent, most, raw);
	if (raw != small)
		free(raw);
}

/* --- values ----------------------------------------------------------------------------------- */

void textout_decimal(char out[TEXTOUT_CELL], double v, int decimals, const char *unit)
{
	static const uint64_t powers[] = { 1, 10, 100, 1000 };
	double scaled = v * (double)powers[decimals], rest;
	char s[TEXTOUT_CELL];
	size_t at = sizeof(s), n;
	uint64_t whole;
	int i;

	/*
	 * Tables consist mostly of these numbers, and printf() would take most of the time. Leave
	 * only ties to printf(), so that rounding is the same.
	 */
	whole = scaled >= 0 && scaled < 1e15 ? (uint64_t)scaled : UINT64_MAX;
	rest = scaled - (double)whole;
	if (whole == UINT64_MAX || fabs(rest - 0.5) < 1e-3) {
		snprintf(out, TEXTOUT_CELL, "%.*f %s", decimals, v, unit);
		return;
	}
	whole += rest > 0.5;
	for (i = 0; whole || i <= decimals; i++) {
		if (i && i == decimals)
			s[--at] = '.';
		s[--at] = (char)('0' + whole % 10);
		whole /= 10;
	}
	n = sizeof(s) - at;
	memcpy(out, s + at, n);
	out[n] = ' ';
	memcpy(out + n + 1, unit, strlen(unit) + 1);
}

static void digits(char *out, double v, const char *unit)
{
	textout_decimal(out, v, v < 9.995 ? 2 : v < 99.95 ? 1 : 0, unit);
}

const char *textout_time(char out[TEXTOUT_CELL], uint64_t ns)
{
	uint64_t s = ns / 1000000000 + (ns % 1000000000 >= 500000000);
	double v = (double)ns;

	if (ns == UINT64_MAX)
		snprintf(out, TEXTOUT_CELL, "?");
	else if (ns < 1000)
		snprintf(out, TEXTOUT_CELL, "%u ns", (unsigned)ns);
	else if (v < 999.5e3)
		digits(out, v / 1e3, "µs");
	else if (v < 999.5e6)
		digits(out, v / 1e6, "ms");
	else if (s < 600)
		digits(out, v / 1e9, "s");
	else if (s < 7200)
		snprintf(out, TEXTOUT_CELL, "%u min %02u s", (unsigned)(s / 60),
			 (unsigned)(s % 60));
	else
		snprintf(out, TEXTOUT_CELL, "%llu h %02u min", (unsigned long long)(s / 3600),
			 (unsigned)(s % 3600 / 60));
	return out;
}

const char *textout_number(char out[TEXTOUT_CELL], uint64_t u)
{
	*buf_digits(out, u, 1) = '\0';
	return out;
}

const char *textout_clock(char out[TEXTOUT_CELL], uint64_t ns)
{
	char *at;

	if (ns == UINT64_MAX)
		return memcpy(out, "?", sizeof("?"));
	at = buf_digits(out, ns / 1000000000, 1);
	*at++ = '.';
	at = buf_digits(at, ns % 1000000000 / 1000, 6);
	memcpy(at, " s", sizeof(" s"));
	return out;
}

const char *textout_day(char out[TEXTOUT_CELL], int64_t realtime_ns)
{
	time_t s = realtime_ns / 1000000000;
	struct tm tm;
	char *at;

	if (realtime_ns < 0 || !localtime_r(&s, &tm))
		return memcpy(out, "?", sizeof("?"));
	at = buf_digits(out, (uint64_t)tm.tm_hour, 2);
	*at++ = ':';
	at = buf_digits(at, (uint64_t)tm.tm_min, 2);
	*at++ = ':';
	at = buf_digits(at, (uint64_t)tm.tm_sec, 2);
	*at++ = '.';
	*buf_digits(at, (uint64_t)(realtime_ns % 1000000000 / 1000), 6) = '\0';
	return out;
}

const char *textout_percent(char out[TEXTOUT_CELL], double ratio)
{
	double p = ratio * 100;

	if (!isfinite(p))
		snprintf(out, TEXTOUT_CELL, "?");
	else if (p > 0 && p < 0.05)
		snprintf(out, TEXTOUT_CELL, "<0.1 %%");
	else
		snprintf(out, TEXTOUT_CELL, "%.*f %%", p > 0 && p < 9.95 ? 1 : 0, p);
	return out;
}

const char *textout_fraction(char out[TEXTOUT_CELL], double ratio)
{
	if (!isfinite(ratio))
		snprintf(out, TEXTOUT_CELL, "?");
	else
		snprintf(out, TEXTOUT_CELL, "%.2f", ratio);
	return out;
}

const char *textout_count(char out[TEXTOUT_CELL], uint64_t count)
{
	char plain[24];
	size_t n, i, o = 0;

	n = (size_t)(buf_digits(plain, count, 1) - plain);
	for (i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			out[o++] = ',';
		out[o++] = plain[i];
	}
	out[o] = '\0';
	return out;
}

const char *textout_plural(char out[TEXTOUT_CELL], uint64_t count, const char *noun)
{
	char number[TEXTOUT_CELL];

	size_t n = strlen(noun);

	snprintf(out, TEXTOUT_CELL, "%.28s %.15s%s", textout_count(number, count), noun,
		 count == 1		   ? ""
		 : n && noun[n - 1] == 's' ? "es"
					   : "s");
	return out;
}

const char *textout_pid(char out[TEXTOUT_CELL], uint32_t pid, uint32_t processes)
{
	char n[TEXTOUT_CELL];

	if (processes > 1)
		snprintf(out, TEXTOUT_CELL, "%.20s processes that have exited",
			 textout_count(n, processes));
	else
		snprintf(out, TEXTOUT_CELL, "pid %u", pid);
	return out;
}
