// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "base/remark.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "base/text.h"

/* Global, because there is one list per run. */
static struct {
	struct remark all[REMARKS_MAX];
	enum remark_say how[REMARKS_MAX];
	bool printed[REMARKS_MAX];
	uint32_t n;
	uint64_t beyond;
} remarks;

/* Replace the last remark by one that says how many remarks did not fit into the list. */
static void count_beyond(void)
{
	struct remark *last = &remarks.all[REMARKS_MAX - 1];
	char *text;

	if (asprintf(&text, "%llu more remarks are left out here",
		     (unsigned long long)++remarks.beyond + 1) < 0)
		return;
	free((char *)(uintptr_t)last->text);
	*last = (struct remark){ .kind = "more", .text = text };
}

static void keep(enum remark_say how, bool printed, const char *kind, uint32_t pid, const char *fmt,
		 va_list args)
{
	char *raw = NULL, *safe;
	uint32_t i;

	if (vasprintf(&raw, fmt, args) < 0)
		return;
	safe = text_printable(raw);
	free(raw);
	if (!safe)
		return;
	for (i = 0; i < remarks.n; i++)
		if (!strcmp(remarks.all[i].text, safe))
			break;
	if (i == remarks.n && remarks.n < REMARKS_MAX) {
		remarks.all[i] = (struct remark){ kind, pid, safe };
		remarks.how[i] = how;
		remarks.printed[i] = printed;
		remarks.n++;
		return;
	}
	free(safe);
	if (i == REMARKS_MAX)
		count_beyond();
}

void remark_warn(const char *kind, uint32_t pid, const char *fmt, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, fmt);
	keep(REMARK_WARN, true, kind, pid, fmt, args);
	va_end(args);
	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) >= 0)
		msg_warn("%s", text);
	va_end(args);
	free(text);
}

void remark_note(enum remark_say how, const char *kind, uint32_t pid, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	keep(how, false, kind, pid, fmt, args);
	va_end(args);
}

bool remark_is_item(const struct remark *remark)
{
	return !strcmp(remark->kind, "looked_at");
}

const struct remark *remarks_all(uint32_t *n)
{
	*n = remarks.n;
	return remarks.all;
}

static bool is_left(uint32_t i, bool quiet)
{
	return !remarks.printed[i] && !(quiet && remarks.how[i] == REMARK_HINT);
}

void remarks_say(uint32_t from, bool quiet)
{
	uint32_t i;

	for (i = from; i < remarks.n; i++) {
		if (!is_left(i, quiet))
			continue;
		if (remarks.how[i] == REMARK_ERROR)
			msg_error("%s%s", remark_is_item(&remarks.all[i]) ? "  " : "",
				  remarks.all[i].text);
		else
			msg_warn("%s", remarks.all[i].text);
		remarks.printed[i] = true;
	}
}

/* Return whether a remark is a hint, or says where else barriers may be, and not what was seen. */
static bool is_general(uint32_t i)
{
	return remarks.how[i] == REMARK_HINT || !strcmp(remarks.all[i].kind, "elsewhere");
}

/* Print a remark. It may introduce a list, which is left out. */
static void say_without_list(uint32_t i)
{
	const char *text = remarks.all[i].text;
	size_t n = strlen(text);
	bool list = n && text[n - 1] == ':';

	if (remarks.how[i] == REMARK_ERROR)
		msg_error("%.*s%s", (int)(list ? n - 1 : n), text,
			  list ? " (sbt-trace report --detail lists them)" : "");
	else
		msg_warn("%s", text);
}

void remarks_say_few(bool quiet)
{
	uint32_t i, n = 0, said = 0;
	bool nothing = false;

	for (i = 0; i < remarks.n; i++) {
		nothing |= is_left(i, quiet) && !strcmp(remarks.all[i].kind, "nothing_crossed");
		n += is_left(i, quiet) && !remark_is_item(&remarks.all[i]);
	}
	if (!nothing) {
		remarks_say(0, quiet);
		return;
	}
	for (i = 0; i < remarks.n; i++) {
		if (!is_left(i, quiet))
			continue;
		if (!remark_is_item(&remarks.all[i]) && (n <= 2 || !is_general(i))) {
			say_without_list(i);
			said++;
		}
		remarks.printed[i] = true;
	}
	if (n > said)
		msg_error("%u more %s: see sbt-trace report", n - said,
			  n - said > 1 ? "remarks" : "remark");
}

void remarks_forget(uint32_t from)
{
	while (remarks.n > from)
		free((char *)(uintptr_t)remarks.all[--remarks.n].text);
	if (remarks.n < REMARKS_MAX)
		remarks.beyond = 0;
}
