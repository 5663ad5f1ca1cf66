// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "base/function_name.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define BRACKETS 64

/*
 * If @s begins with an operator with brackets or arrows, such as "operator<<", return its length in
 * bytes, else 0. @from is the beginning of the name that contains @s.
 */
static size_t operator_length(const char *from, const char *s)
{
	static const char *const signs[] = { "()", "<=>", "<<=", ">>=", "->*", "<<",
					     ">>", "<=",  ">=",	 "->",	"<",   ">" };
	const size_t len = strlen("operator");
	size_t i;

	if (strncmp(s, "operator", len) != 0 ||
	    (s > from && (isalnum((uint8_t)s[-1]) || s[-1] == '_')))
		return 0;
	for (i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (!strncmp(s + len, signs[i], strlen(signs[i])))
			return len + strlen(signs[i]);
	return 0;
}

/*
 * Remove everything between < and >, everything between ( and ) except "(anonymous namespace)", and
 * everything before the last blank outside brackets. The name never gets longer, so this works in
 * place. Return false if the name has another form, such as brackets that do not match: then @name
 * is unusable.
 */
static bool leave_out(char *name)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t n = 0, begin = 0, keep;
	char open[BRACKETS];
	uint32_t depth = 0;
	bool params = false;
	const char *s;

	for (s = name; *s; s++) {
		keep = depth ? 0 : operator_length(name, s);
		if (!depth && !strncmp(s, anonymous, sizeof(anonymous) - 1))
			keep = sizeof(anonymous) - 1;
		if (keep) {
			memmove(name + n, s, keep);
			n += keep;
			s += keep - 1;
			continue;
		}
		if (*s == ')' || (*s == '>' && (s == name || s[-1] != '-'))) {
			if (!depth || open[--depth] != (*s == ')' ? '(' : '<'))
				return false;
			params |= !depth && *s == ')';
		} else if (!depth && *s == ' ') {
			/*
			 * Only " const" may follow the parameters. If anything else follows, give
			 * up.
			 */
			if (params && strncmp(s, " const", 6) != 0)
				return false;
			if (params) {
				s += 5;
				continue;
			}
			begin = n + 1;
		}
		if (!depth)
			name[n++] = *s;
		if (*s == '<' || *s == '(') {
			if (depth == BRACKETS)
				return false;
			open[depth++] = *s;
		}
	}
	if (depth || begin >= n)
		return false;
	memmove(name, name + begin, n - begin);
	name[n - begin] = '\0';
	return true;
}

/* Return the > that closes the < at the beginning of @s, or NULL. */
static char *closing(char *s)
{
	unsigned depth = 0;
	char *p;

	for (p = s; *p; p++) {
		if (*p == '<')
			depth++;
		else if (*p == '>' && p[-1] != '-' && !--depth)
			return p;
	}
	return NULL;
}

/* Return the " as " between a type and a trait, outside brackets, or NULL. */
static char *find_as(char *s)
{
	unsigned depth = 0;
	char *p;

	for (p = s; *p; p++) {
		depth += *p == '<';
		depth -= *p == '>' && p[-1] != '-' && depth;
		if (!depth && !strncmp(p, " as ", 4))
			return p;
	}
	return NULL;
}

static char *put(char *to, const char *s, size_t n)
{
	memmove(to, s, n);
	return to + n;
}

/*
 * Shorten a Rust name of the form "<type as trait>::function". Shorten each of its three parts, but
 * keep all of them, because the type and the trait distinguish the function from others with the
 * same name. The name never gets longer, so this works in place.
 */
static bool leave_out_of_trait(char *name)
{
	char *end = closing(name), *as, *to;

	if (!end || strncmp(end + 1, "::", 2) != 0)
		return false;
	*end = '\0';
	as = find_as(name + 1);
	if (as)
		*as = '\0';
	if (!leave_out(name + 1) || (as && !leave_out(as + 4)) || !leave_out(end + 3))
		return false;
	to = name + strlen(name);
	if (as) {
		to = put(to, " as ", 4);
		to = put(to, as + 4, strlen(as + 4));
	}
	to = put(to, ">::", 3);
	put(to, end + 3, strlen(end + 3) + 1);
	return true;
}

bool function_name_shorten(char *name)
{
	return *name == '<' ? leave_out_of_trait(name) : leave_out(name);
}
