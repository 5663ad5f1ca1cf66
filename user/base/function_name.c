// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "base/function_name.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
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

/* --- lambdas ---------------------------------------------------------------------------------- */

/*
 * Return the end of the part of a name that begins at @s: a "::" outside brackets, or the end of
 * the name. With @blank, a blank outside brackets ends it as well. Return NULL if brackets do not
 * match. @name is the beginning of the name.
 */
static char *part_end(const char *name, char *s, bool blank)
{
	static const char opening[] = "<({", closes[] = ">)}";
	char open[BRACKETS];
	uint32_t depth = 0;
	const char *which;

	for (; *s; s++) {
		if (!depth && s[0] == ':' && s[1] == ':')
			return s;
		if (!depth && blank && *s == ' ')
			return s;
		if (!depth && operator_length(name, s)) {
			s += operator_length(name, s) - 1;
			continue;
		}
		which = strchr(opening, *s);
		if (which && depth == BRACKETS)
			return NULL;
		if (which)
			open[depth++] = closes[which - opening];
		else if (strchr(closes, *s) && (*s != '>' || s == name || s[-1] != '-') &&
			 (!depth || open[--depth] != *s))
			return NULL;
	}
	return depth ? NULL : s;
}

/* Return whether the part from @s to @end is the class of a lambda. */
static bool is_closure(const char *s, const char *end)
{
	size_t len = (size_t)(end - s);

	if (len > 8 && !strncmp(s, "{lambda(", 8) && end[-1] == '}')
		return true;
	if (len == 8 && !strncmp(s, "{lambda}", 8))
		return true;
	return len > 2 && s[0] == '$' && s[1] == '_' && strspn(s + 2, "0123456789") == len - 2;
}

/* Return whether the part from @s is the function of a lambda's class that runs the lambda. */
static bool is_call(const char *s)
{
	static const char *const calls[] = { "operator()", "_FUN", "__invoke" };
	size_t i, len;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		len = strlen(calls[i]);
		if (!strncmp(s, calls[i], len) && (!s[len] || strchr("(<:", s[len])))
			return true;
	}
	return false;
}

/*
 * Find the first lambda after @s that is followed by its function. Set *@begin, and *@end to the
 * end of the function.
 */
static bool find_lambda(const char *name, char *s, char **begin, char **end)
{
	char *stop, *clone;

	for (; (stop = part_end(name, s, true)); s = stop + (*stop == ' ' ? 1 : 2)) {
		if (!strncmp(stop, "::", 2) && is_closure(s, stop) && is_call(stop + 2)) {
			*begin = s;
			*end = part_end(name, stop + 2, false);
			/* The lambda has parts of its own, such as the function of a region. */
			clone = *end ? strstr(stop, " [clone ") : NULL;
			if (clone && clone < *end)
				*end = clone;
			return *end != NULL;
		}
		if (!*stop)
			break;
	}
	return false;
}

/*
 * Shorten the names before a lambda, which end in "::", and remove the last parentheses. Without
 * "::" they are only the lambda's result type, which is removed.
 */
static bool shorten_outer(char *outer)
{
	static const char call[] = "operator()";
	size_t n = strlen(outer);

	if (n < 2 || strcmp(outer + n - 2, "::") != 0) {
		*outer = '\0';
		return true;
	}
	outer[n - 2] = '\0';
	if (!leave_out(outer))
		return false;
	n = strlen(outer);
	if (n > 2 && !strcmp(outer + n - 2, "()") &&
	    (n < sizeof(call) - 1 || strcmp(outer + n - (sizeof(call) - 1), call) != 0))
		n -= 2;
	memcpy(outer + n, "::", sizeof("::"));
	return true;
}

bool function_name_lambda(char *name)
{
	static const char word[] = "{lambda}";
	char *own = strdup(name), *outer = strdup(name), *from = own, *begin, *end;
	bool known = false;

	while (own && outer && find_lambda(own, from, &begin, &end)) {
		memcpy(outer, own, (size_t)(begin - own));
		outer[begin - own] = '\0';
		known = shorten_outer(outer);
		if (!known)
			break;
		from = put(put(own, outer, strlen(outer)), word, sizeof(word) - 1);
		memmove(from, end, strlen(end) + 1);
		if (*from == ':')
			from += 2;
	}
	if (known)
		memcpy(name, own, strlen(own) + 1);
	free(outer);
	free(own);
	return known;
}

const char *function_name_inner(const char *name)
{
	char *end = part_end(name, (char *)(uintptr_t)name, true);

	return end && *end == ':' ? end + 2 : NULL;
}

const char *function_name_end(const char *name)
{
	char *end = (char *)(uintptr_t)name;

	do {
		end = part_end(name, end, true);
	} while (end && *end == ':' && (end += 2));
	return end;
}

/* --- parts and copies ------------------------------------------------------------------------- */

/* Return whether the text from @s to @end is one suffix, such as ".part.0" or ".cold". */
static bool is_suffix(const char *s, const char *end)
{
	static const char *const suffixes[] = { ".cold",      ".part",	   ".isra",
						".constprop", ".lto_priv", ".llvm" };
	size_t i, len, digits;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		len = strlen(suffixes[i]);
		if ((size_t)(end - s) < len || strncmp(s, suffixes[i], len) != 0)
			continue;
		if (s + len == end)
			return !i;
		digits = s[len] == '.' ? strspn(s + len + 1, "0123456789") : 0;
		if (digits && s + len + 1 + digits == end)
			return true;
	}
	return false;
}

/* Return the beginning of the last suffix of the text from @s to @end, or NULL. */
static char *last_suffix(char *s, char *end)
{
	char *dot;
	int dots = 0;

	for (dot = end; dot > s + 1 && dots < 2; dot--)
		if (dot[-1] == '.' && ++dots && is_suffix(dot - 1, end))
			return dot - 1;
	return NULL;
}

void function_name_whole(char *name)
{
	static const char clone[] = " [clone ";
	char *end = name + strlen(name), *begin, *suffix;

	for (;;) {
		begin = end > name && end[-1] == ']' ? memrchr(name, '[', (size_t)(end - name))
						     : NULL;
		if (!begin) {
			suffix = last_suffix(name, end);
			if (!suffix)
				return;
			end = suffix;
		} else {
			begin -= begin > name;
			if (begin == name || strncmp(begin, clone, sizeof(clone) - 1) != 0)
				return;
			/* One clone has several suffixes: [clone .constprop.0.isra.0]. */
			suffix = end - 1;
			do {
				suffix = last_suffix(begin + sizeof(clone) - 2, suffix);
			} while (suffix && suffix > begin + sizeof(clone) - 1);
			if (!suffix)
				return;
			end = begin;
		}
		*end = '\0';
	}
}

/* --- libraries -------------------------------------------------------------------------------- */

bool function_name_of_cxx_library(const char *name)
{
	static const char *const prefixes[] = { "std::", "__gnu_cxx::", "__gthread_" };
	const char *blank = memrchr(name, ' ', strcspn(name, "<("));
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(blank ? blank + 1 : name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

const char *function_name_call(const char *name)
{
	size_t n = strlen(name);
	const char *inner = name, *s;

	/* Scopes may have parentheses: "(anonymous namespace)::work". */
	for (s = strstr(name, "::"); s; s = strstr(inner, "::"))
		inner = s + 2;
	if (!n || strpbrk(inner, "()") || (name[0] == '<' && name[n - 1] == '>'))
		return "";
	return isalnum((uint8_t)name[n - 1]) || strchr("_$>}\"", name[n - 1]) ||
			       (uint8_t)name[n - 1] >= 0x80
		       ? "()"
		       : "";
}
