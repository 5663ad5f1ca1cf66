// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "sites/rule.h"

#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RULE_SPEC_MAX	   4096 /* maximum size of a SPEC, in bytes */
#define RULE_NAME_MAX	   4096 /* maximum size of a name that is compared, in bytes */
#define RULE_ARGUMENTS_MAX 64
#define RULE_COUNT_MAX	   0x7fffffffu
/*
 * With a rule that has @all, all callers share one barrier. The object of that barrier is this
 * address plus the number of the rule, which no object of a program can have.
 */
#define RULE_EVERYBODY	   0x7fff000000000000LL

/* --- patterns -------------------------------------------------------------------------------- */

/* Match a pattern with * and ? only, because brackets and backslashes are parts of names. */
static bool glob_matches(const char *pattern, const char *s)
{
	const char *star = NULL, *back = NULL;

	while (*s) {
		if (*pattern == '*') {
			star = ++pattern;
			back = s;
		} else if (*pattern == '?' || *pattern == *s) {
			pattern++;
			s++;
		} else if (star) {
			pattern = star;
			s = ++back;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static bool is_pattern(const char *s)
{
	return strpbrk(s, "*?") != NULL;
}

/* Write why a rule is wrong. Return -EINVAL. */
__attribute__((format(printf, 3, 4))) static int refuse(char *why, size_t len, const char *format,
							...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, len, format, args);
	va_end(args);
	return -EINVAL;
}

/* --- the grammar ------------------------------------------------------------------------------ */

/* Parse a decimal number of at least @min that takes all of @s. */
static bool parse_number(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	*out = strtoull(s, &end, 10);
	return !errno && !*end && *out >= min && *out <= max;
}

static bool opens(char c)
{
	return c == '(' || c == '<' || c == '[' || c == '{';
}

static bool closes(char c)
{
	return c == ')' || c == '>' || c == ']' || c == '}';
}

/* Return the last @c of @s outside brackets, or NULL. */
static char *last_outside(char *s, char c)
{
	size_t i = strlen(s);
	int depth = 0;

	while (i--) {
		if (closes(s[i]) && !(s[i] == '>' && i && s[i - 1] == '-'))
			depth++;
		else if (opens(s[i]) && depth)
			depth--;
		else if (s[i] == c && !depth)
			return s + i;
	}
	return NULL;
}

/* Cut all options (",count=N") off the end. */
static int take_options(char *s, uint32_t *count, char *why, size_t len)
{
	uint64_t n;
	char *at;

	while ((at = last_outside(s, ','))) {
		if (strncmp(at, ",count=", 7) != 0)
			return refuse(why, len,
				      "there is no option \"%s\": count=N is the only one", at + 1);
		if (*count)
			return refuse(why, len, "count= is given twice");
		if (!parse_number(at + 7, 1, RULE_COUNT_MAX, &n))
			return refuse(why, len, "count=\"%s\" is not a number from 1 to %u", at + 7,
				      RULE_COUNT_MAX);
		*count = (uint32_t)n;
		*at = 0;
	}
	return 0;
}

static int take_object(char *s, struct rule *rule, uint8_t *argument, char *why, size_t len)
{
	char *at = strchr(s, '@');
	uint64_t n;

	*argument = 0;
	if (!at)
		return 0;
	if (!strcmp(at + 1, "all")) {
		rule->object = RULE_OBJECT_ALL;
	} else if (parse_number(at + 1, 1, RULE_ARGUMENTS_MAX, &n)) {
		rule->object = RULE_OBJECT_ARGUMENT;
		*argument = (uint8_t)(n - 1);
	} else {
		return refuse(why, len,
			      "\"@%s\" is neither @all nor the number (@1 to @%d) of the argument "
			      "that is the object",
			      at + 1, RULE_ARGUMENTS_MAX);
	}
	*at = 0;
	return 0;
}

/* Cut off a leading "FILE:". Return the rest. */
static char *take_file(char *s, char **file)
{
	char *at;

	*file = NULL;
	for (at = strchr(s, ':'); at; at = strchr(at + 2, ':')) {
		if (at[1] == ':')
			continue;
		*at = 0;
		*file = s;
		return at + 1;
	}
	return s;
}

/*
 * Find the ".." between two functions. A ".." at the start, or as a part of "...", does not count.
 */
static char *find_between(char *s)
{
	char *at;

	for (at = s; (at = strstr(at, "..")); at++)
		if (at > s && at[-1] != '.' && at[2] != '.')
			return at;
	return NULL;
}

/*
 * Return the identifier that a mangled name of the function must contain: the last identifier
 * outside templates and parameters. If a wildcard is next to it, return the piece of it that is
 * known. Operators are mangled in another way: return NULL.
 */
static char *needle_of(const char *name)
{
	size_t i, begin = 0, len = 0;
	int depth = 0;

	for (i = 0; name[i] && name[i] != '('; i++) {
		if (opens(name[i]))
			depth++;
		else if (closes(name[i]) && depth)
			depth--;
		if (depth || !(isalnum((unsigned char)name[i]) || name[i] == '_'))
			continue;
		begin = i;
		while (isalnum((unsigned char)name[i + 1]) || name[i + 1] == '_')
			i++;
		len = i + 1 - begin;
	}
	if (!len || !strncmp(name + begin, "operator", 8))
		return NULL;
	return strndup(name + begin, len);
}

static int take_point(const char *s, struct rule_point *point, const char *which, char *why,
		      size_t len)
{
	char *end;

	if (!*s)
		return refuse(why, len, "%s is missing", which);
	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		errno = 0;
		point->vaddr = strtoull(s + 2, &end, 16);
		if (!s[2] || errno || *end || !isxdigit((unsigned char)s[2]))
			return refuse(why, len, "\"%s\" is not an address", s);
		return 0;
	}
	if (isdigit((unsigned char)*s))
		return refuse(why, len, "\"%s\" is neither a function's name nor 0xADDRESS", s);
	point->pattern = is_pattern(s);
	point->name = strdup(s);
	point->needle = needle_of(s);
	return point->name ? 0 : -ENOMEM;
}

static int check_rule(const struct rule *rule, char *why, size_t len)
{
	int i;

	if (rule->file && !*rule->file)
		return refuse(why, len, "there is no file before the colon");
	for (i = 0; i < 1 + rule->pair; i++) {
		if (!rule->at[i].name && !rule->file)
			return refuse(why, len, "an address needs its file: FILE:0x%llx",
				      (unsigned long long)rule->at[i].vaddr);
		if (rule->at[i].name && strspn(rule->at[i].name, "*?") == strlen(rule->at[i].name))
			return refuse(why, len, "\"%s\" matches every function", rule->at[i].name);
	}
	return 0;
}

static void make_rows(struct rule *rule, uint8_t argument, uint32_t count, size_t number)
{
	struct family_function row = {
		.symbol = rule->text,
		.family = SBT_FAMILY_USER,
		.kind = SBT_KIND_EXPLICIT,
		.role = SBT_ROLE_BARRIER,
		.flags = SBT_SPEC_RETS | (rule->pair ? SBT_SPEC_PAIR : 0),
		.rule = (uint32_t)number + 1,
		.object = FAMILY_ARGUMENT(argument),
	};

	if (count)
		row.words = (struct family_arg){ .how = SBT_ARG_CONST, .value = count };
	rule->by_argument = row;
	row.object = (struct family_arg){ .how = SBT_ARG_CONST,
					  .value = RULE_EVERYBODY + (int64_t)number };
	rule->for_all = row;
}

static void rule_free(struct rule *rule)
{
	int i;

	if (!rule)
		return;
	for (i = 0; i < 2; i++) {
		free(rule->at[i].name);
		free(rule->at[i].needle);
	}
	free(rule->text);
	free(rule->file);
	free(rule);
}

static int parse(char *s, struct rule *rule, size_t number, char *why, size_t len)
{
	char *file, *between;
	uint32_t count = 0;
	uint8_t argument;
	int err;

	err = take_options(s, &count, why, len);
	if (!err)
		err = take_object(s, rule, &argument, why, len);
	if (err)
		return err;
	s = take_file(s, &file);
	if (file) {
		/* Processes map files under their real paths. */
		rule->file = strchr(file, '/') && !is_pattern(file) ? realpath(file, NULL) : NULL;
		if (!rule->file)
			rule->file = strdup(file);
		if (!rule->file)
			return -ENOMEM;
	}
	between = find_between(s);
	if (between) {
		rule->pair = true;
		*between = 0;
	}
	err = take_point(s, &rule->at[0], "the function", why, len);
	if (!err && between)
		err = take_point(between + 2, &rule->at[1], "the function after ..", why, len);
	if (!err)
		err = check_rule(rule, why, len);
	if (!err)
		make_rows(rule, argument, count, number);
	return err;
}

int rules_add(struct rules *rules, const char *spec, char *why, size_t len)
{
	struct rule *rule;
	char *copy;
	int err = -ENOMEM;

	if (len)
		*why = 0;
	if (rules->n == RULES_MAX) {
		snprintf(why, len, "there are %d rules already, which is the limit", RULES_MAX);
		return -E2BIG;
	}
	if (strlen(spec) > RULE_SPEC_MAX)
		return refuse(why, len, "it is too long");
	rule = calloc(1, sizeof(*rule));
	copy = strdup(spec);
	if (rule && copy)
		rule->text = strdup(spec);
	if (rule && rule->text)
		err = parse(copy, rule, rules->n, why, len);
	free(copy);
	if (err) {
		rule_free(rule);
		return err;
	}
	rules->all[rules->n++] = rule;
	return 0;
}

/*
 * In libstdc++, arrive_and_wait() is a separate function only without optimization. With
 * optimization only the wait remains a function: g++ calls std::__atomic_wait_address(), and clang
 * calls __waiter::_M_do_wait(), which std::__atomic_wait_address() would call. The last arriver
 * also calls the wait function, after it has released the other threads. The arguments show the
 * phase in which a thread arrived. If arrive() is a function, it gets no probe, because the time
 * between arrive() and the wait is work. For a latch, only the wait is traced in every program, so
 * a thread that arrives without waiting is not seen. A wait that g++ inlines is found by its code
 * (module_inline.c). Boost's wait is inlined with optimization. Rust's wait is always a function of
 * its library. In libc++, only arrive_and_wait() is traced, unless the compiler inlines it.
 */
static const struct {
	const char *spec;
	uint8_t flags; /* SBT_SPEC_* */
	uint8_t object; /* number of the argument that is the object */
} known_rules[] = {
	{ .spec = "_ZNSt7barrierI*E15arrive_and_waitEv" },
	{ .spec = "_ZSt21__atomic_wait_addressISt17__barrier_phase_tZNKSt14__tree_barrierI*"
		  "E4waitEO*",
	  .flags = SBT_SPEC_PHASE },
	{ .spec = "_ZNSt8__detail8__waiterI*E10_M_do_waitIZNKSt14__tree_barrierI*E4waitEO*",
	  .flags = SBT_SPEC_PHASE,
	  .object = 1 },
	{ .spec = "_ZSt21__atomic_wait_addressIiZNKSt5latch4waitEv*", .flags = SBT_SPEC_LATCH },
	{ .spec = "_ZNSt8__detail8__waiterI*E10_M_do_waitIZNKSt5latch4waitEv*",
	  .flags = SBT_SPEC_LATCH,
	  .object = 1 },
	{ .spec = "_ZNSt3__17barrierI*E15arrive_and_waitEv" },
	{ .spec = "_ZNSt3__15latch15arrive_and_waitE*" },
	{ .spec = "_ZN5boost7barrier4waitEv" },
	{ .spec = "_ZN5boost7barrier19count_down_and_waitEv" },
	{ .spec = "_RNvM*3std4sync7barrierNt*7Barrier4wait" },
	{ .spec = "_ZN3std4sync7barrier7Barrier4wait17h*E" },
};

int rules_add_known(struct rules *rules)
{
	char why[128];
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(known_rules) / sizeof(known_rules[0]) && !err; i++) {
		struct rule *r;

		err = rules_add(rules, known_rules[i].spec, why, sizeof(why));
		if (err)
			break;
		r = rules->all[rules->n - 1];
		r->raw = true;
		r->object = RULE_OBJECT_ARGUMENT;
		r->by_argument.family = SBT_FAMILY_STD;
		r->by_argument.rule += RULES_MAX;
		r->by_argument.flags |= known_rules[i].flags;
		r->by_argument.object.number = known_rules[i].object;
		if (known_rules[i].flags & SBT_SPEC_PHASE) {
			r->by_argument.words = (struct family_arg)FAMILY_ARGUMENT(1);
			r->by_argument.what = (struct family_arg)FAMILY_ARGUMENT_AS(2, .size = 1);
		}
	}
	return err;
}

void rules_free(struct rules *rules)
{
	while (rules->n)
		rule_free(rules->all[--rules->n]);
}

bool rule_is_everybody(uint64_t object)
{
	return object - (uint64_t)RULE_EVERYBODY < RULES_MAX;
}

/* --- files ------------------------------------------------------------------------------------ */

bool rule_takes_file(const struct rule *rule, const char *path, const char *soname)
{
	if (!rule->file)
		return true;
	if (strchr(rule->file, '/'))
		return glob_matches(rule->file, path);
	return glob_matches(rule->file, text_base_name(path)) || glob_matches(rule->file, soname);
}

/* --- names ------------------------------------------------------------------------------------ */

static bool name_is(const struct rule_point *point, const char *name)
{
	return point->pattern ? glob_matches(point->name, name) : !strcmp(point->name, name);
}

/*
 * Return where the parameters of a name begin: at the last opening parenthesis that is not inside
 * brackets. In "f<int(*)()>::g(int) const", that is the parenthesis before the last "int".
 */
static char *find_parameters(char *name)
{
	char *at, *last = NULL;
	int depth = 0;

	for (at = name; *at; at++) {
		if (*at == '(' && !depth && strncmp(at, "(anonymous namespace)", 21) != 0)
			last = at;
		if (opens(*at))
			depth++;
		else if (closes(*at) && depth && !(*at == '>' && at > name && at[-1] == '-'))
			depth--;
	}
	return last;
}

/* Skip the result type, with which names of template functions begin. */
static char *skip_result(char *name)
{
	char *at, *begin = name;
	int depth = 0;

	for (at = name; *at; at++) {
		if (opens(*at))
			depth++;
		else if (closes(*at) && depth)
			depth--;
		else if (*at == ' ' && !depth && strncmp(name, "operator", 8) != 0)
			begin = at + 1;
	}
	return begin;
}

static bool source_name_is(const struct rule_point *point, char *name)
{
	char *parameters;

	if (name_is(point, name))
		return true;
	parameters = find_parameters(name);
	if (!parameters || parameters == name)
		return false;
	*parameters = 0;
	return name_is(point, name) || name_is(point, skip_result(name));
}

bool rule_takes_symbol(const struct rule_point *point, const char *raw, rule_demangle_fn demangle,
		       void *ctx)
{
	size_t len = strcspn(raw, "@");
	char name[RULE_NAME_MAX];

	if (!point->name || !len || len >= sizeof(name))
		return false;
	memcpy(name, raw, len);
	name[len] = 0;
	if (name_is(point, name))
		return true;
	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
		return false;
	if (!demangle || (point->needle && !strstr(name, point->needle)))
		return false;
	return demangle(ctx, raw, name, sizeof(name)) && source_name_is(point, name);
}
