// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * PMUs as the kernel describes them. Each PMU has a directory with type, format/TERM
 * ("config:0-7,32-35") and events/NAME ("event=0x3c,umask=0x0"), and with cpumask if the PMU counts
 * for several CPUs. See the kernel's Documentation/ABI/testing/sysfs-bus-event_source-devices*.
 */
#include "attach/event_names.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORD_MAX 64

/* Return whether @s is a plain file name without special meaning in a path. */
static bool is_word(const char *s, size_t n)
{
	size_t i;

	if (!n || n >= WORD_MAX || s[0] == '.')
		return false;
	for (i = 0; i < n; i++) {
		if (!isalnum((unsigned char)s[i]) && !strchr("_-.", s[i]))
			return false;
	}
	return true;
}

/* Read the first line of DEVICES/PMU/FILE[/NAME]. Return 0 or -errno. */
static int read_line(const struct events_host *host, const char *pmu, const char *file,
		     const char *name, char *line, size_t len)
{
	char path[512];
	int n, err = 0;
	FILE *f;

	n = snprintf(path, sizeof(path), "%s/%s/%s%s%s", host->devices, pmu, file, name ? "/" : "",
		     name ? name : "");
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	f = fopen(path, "re");
	if (!f)
		return -errno;
	if (!fgets(line, (int)len, f))
		err = -ENODATA;
	fclose(f);
	if (!err)
		line[strcspn(line, "\r\n")] = '\0';
	return err;
}

static bool has_file(const struct events_host *host, const char *pmu, const char *file)
{
	char path[512];
	int n = snprintf(path, sizeof(path), "%s/%s/%s", host->devices, pmu, file);

	return n > 0 && (size_t)n < sizeof(path) && !access(path, F_OK);
}

static int read_type(const struct events_host *host, const char *pmu, uint32_t *type)
{
	char line[32], *end;
	unsigned long value;
	int err;

	err = read_line(host, pmu, "type", NULL, line, sizeof(line));
	if (err)
		return err;
	errno = 0;
	value = strtoul(line, &end, 10);
	if (errno || end == line || *end || value > UINT32_MAX)
		return -EINVAL;
	*type = (uint32_t)value;
	return 0;
}

/*
 * Return whether @pmu belongs to CPU cores: x86's PMU, a PMU of a hybrid machine (which has a list
 * of CPUs), or arm's PMU.
 */
static bool is_core(const struct events_host *host, const char *pmu)
{
	return !strcmp(pmu, "cpu") || !strncmp(pmu, "armv", 4) || has_file(host, pmu, "cpus");
}

const char *event_range(const char *text, unsigned long *low, unsigned long *high)
{
	char *end;

	*low = *high = strtoul(text, &end, 10);
	if (end == text || *end != '-')
		return end == text ? NULL : end;
	text = end + 1;
	*high = strtoul(text, &end, 10);
	return end == text ? NULL : end;
}

static uint64_t *config_word(struct event_spec *spec, const char *name, size_t n)
{
	if (n == 6 && !strncmp(name, "config", 6))
		return &spec->config;
	if (n == 7 && !strncmp(name, "config1", 7))
		return &spec->config1;
	if (n == 7 && !strncmp(name, "config2", 7))
		return &spec->config2;
	return NULL;
}

/*
 * Store @value in the bits that a format names, the lowest bit first. Return -ERANGE if the value
 * has more bits than the format.
 */
static int put_bits(struct event_spec *spec, const char *format, uint64_t value)
{
	const char *colon = strchr(format, ':'), *p, *end;
	unsigned long lo, hi, bit;
	uint64_t *word;

	word = colon ? config_word(spec, format, (size_t)(colon - format)) : NULL;
	if (!word)
		return -ENOTSUP;
	for (p = colon + 1;; p = end + 1) {
		end = event_range(p, &lo, &hi);
		if (!end || lo > hi || hi > 63)
			return -ENOTSUP;
		for (bit = lo; bit <= hi; bit++, value >>= 1) {
			*word &= ~(1ULL << bit);
			*word |= (value & 1) << bit;
		}
		if (!*end)
			break;
		if (*end != ',')
			return -ENOTSUP;
	}
	return value ? -ERANGE : 0;
}

/*
 * State for parsing terms (TERM[=VALUE]) of the PMU `pmu`, which is a valid name. alias: the text
 * is the content of an event's file.
 */
struct term {
	const struct events_host *host;
	struct event_spec *spec;
	const char *pmu;
	bool alias;
	char *why;
	size_t len;
};

static int terms(const struct term *t, const char *s);

static int term_value(const struct term *t, const char *key, const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	if (!strcmp(text, "?"))
		return event_fail(t->why, t->len,
				  "the event of the PMU '%s' needs a value for '%s': specify it",
				  t->pmu, key);
	if (errno || end == text || *end || *text == '-' || *text == '+' ||
	    isspace((unsigned char)*text))
		return event_fail(t->why, t->len, "'%s' is not a number for '%s' of the PMU '%s'",
				  text, key, t->pmu);
	return 0;
}

static int term(const struct term *t, const char *key, const char *text)
{
	struct term inner = *t;
	uint64_t value = 1, *word;
	char line[256];
	int err;

	if (!text && !t->alias && !read_line(t->host, t->pmu, "events", key, line, sizeof(line))) {
		inner.alias = true;
		return terms(&inner, line);
	}
	if (text) {
		err = term_value(t, key, text, &value);
		if (err)
			return err;
	}
	word = config_word(t->spec, key, strlen(key));
	if (word) {
		*word = value;
		return 0;
	}
	err = read_line(t->host, t->pmu, "format", key, line, sizeof(line));
	if (err)
		return event_fail(t->why, t->len, "the PMU '%s' has no event or term '%s'", t->pmu,
				  key);
	err = put_bits(t->spec, line, value);
	if (err == -ERANGE)
		return event_fail(t->why, t->len,
				  "%s=0x%llx is too large for its field in the PMU '%s'", key,
				  (unsigned long long)value, t->pmu);
	if (err)
		return event_fail(t->why, t->len, "the PMU '%s' has an unsupported format for '%s'",
				  t->pmu, key);
	return 0;
}

/* Parse TERM[=VALUE],... */
static int terms(const struct term *t, const char *s)
{
	char key[WORD_MAX], text[WORD_MAX];
	const char *eq;
	size_t n, k;
	int err;

	for (;; s += n + 1) {
		n = strcspn(s, ",");
		eq = memchr(s, '=', n);
		k = eq ? (size_t)(eq - s) : n;
		if (!is_word(s, k) || (eq && n - k - 1 >= sizeof(text)))
			return event_fail(t->why, t->len,
					  "'%.*s' is neither an event nor a term of the PMU '%s'",
					  (int)(n < WORD_MAX ? n : WORD_MAX), s, t->pmu);
		snprintf(key, sizeof(key), "%.*s", (int)k, s);
		if (eq)
			snprintf(text, sizeof(text), "%.*s", (int)(n - k - 1), eq + 1);
		err = term(t, key, eq ? text : NULL);
		if (err)
			return err;
		if (!s[n])
			return 0;
	}
}

/*
 * Add the scale of an event to its description. Counts are shown unscaled; perf would multiply them
 * by the scale.
 */
static void note_scale(const struct events_host *host, struct event_spec *spec, const char *pmu,
		       const char *event)
{
	char file[WORD_MAX + sizeof(".scale")], scale[32];
	size_t used = strlen(spec->what);

	if (!is_word(event, strlen(event)))
		return;
	snprintf(file, sizeof(file), "%s.scale", event);
	if (!read_line(host, pmu, "events", file, scale, sizeof(scale)) && strcmp(scale, "1") != 0)
		snprintf(spec->what + used, sizeof(spec->what) - used, ", in units of %s", scale);
}

/* Parse @body, the text between the slashes. */
static int pmu_event(const struct events_host *host, struct event_spec *spec, const char *pmu,
		     const char *body, char *why, size_t len)
{
	struct term t = { host, spec, pmu, false, why, len };
	int err;

	spec->source = EVENT_HARDWARE;
	err = read_type(host, pmu, &spec->type);
	if (err) {
		snprintf(spec->what, sizeof(spec->what), "an event of the PMU %s", pmu);
		snprintf(spec->why, sizeof(spec->why), "this machine has no PMU '%s'", pmu);
		return 0;
	}
	/* The configuration of these PMUs contains addresses of code or data that they watch. */
	if (spec->type == PERF_TYPE_BREAKPOINT || !strcmp(pmu, "uprobe") || !strcmp(pmu, "kprobe"))
		return event_fail(why, len, "'%s' is a probe, not a counter", pmu);
	if (spec->type == PERF_TYPE_SOFTWARE || spec->type == PERF_TYPE_TRACEPOINT)
		spec->source = EVENT_SOFTWARE;
	err = terms(&t, body);
	if (err)
		return err;
	snprintf(spec->what, sizeof(spec->what), "PMU %s, type %u, config 0x%llx", pmu, spec->type,
		 (unsigned long long)spec->config);
	note_scale(host, spec, pmu, body);
	return 0;
}

int event_pmu(const struct events_host *host, struct event_spec *spec, const char *name, char *why,
	      size_t len)
{
	const char *open = strchr(name, '/'), *close = open ? strchr(open + 1, '/') : NULL;
	char pmu[WORD_MAX], body[sizeof(spec->name)];
	size_t n;

	if (!open)
		return -ENOENT;
	n = (size_t)(open - name);
	if (!close || !is_word(name, n))
		return event_fail(why, len, "'%s' is not of the form PMU/event/", name);
	if (close == open + 1)
		return event_fail(why, len, "'%s' names no event of its PMU", name);
	snprintf(pmu, sizeof(pmu), "%.*s", (int)n, name);
	snprintf(body, sizeof(body), "%.*s", (int)(close - open - 1), open + 1);
	return pmu_event(host, spec, pmu, body, why, len);
}

/* Call @each for every PMU until it returns a value other than 0. Return that value. */
static int each_pmu(const struct events_host *host, int (*each)(void *ctx, const char *pmu),
		    void *ctx)
{
	struct dirent **found = NULL;
	int i, n, err = 0;

	/*
	 * Sort the names, so that the choice between two PMUs with the same event is always the
	 * same.
	 */
	n = scandir(host->devices, &found, NULL, alphasort);
	for (i = 0; i < n; i++) {
		if (!err && is_word(found[i]->d_name, strlen(found[i]->d_name)))
			err = each(ctx, found[i]->d_name);
		free(found[i]);
	}
	free(found);
	return err;
}

struct bare {
	const struct events_host *host;
	struct event_spec *spec;
	const char *name;
	char *why;
	size_t len;
};

/* Look for the event in one PMU. Return 0: not found, 1: found, 2: found but invalid. */
static int bare_in(void *ctx, const char *pmu)
{
	const struct bare *b = ctx;
	char line[256];

	if (!is_core(b->host, pmu) ||
	    read_line(b->host, pmu, "events", b->name, line, sizeof(line)))
		return 0;
	return pmu_event(b->host, b->spec, pmu, b->name, b->why, b->len) ? 2 : 1;
}

int event_pmu_bare(const struct events_host *host, struct event_spec *spec, const char *name,
		   char *why, size_t len)
{
	struct bare b = { host, spec, name, why, len };

	if (!is_word(name, strlen(name)))
		return -ENOENT;
	switch (each_pmu(host, bare_in, &b)) {
	case 0:
		return -ENOENT;
	case 1:
		return 0;
	default:
		return -EINVAL;
	}
}

struct listing {
	const struct events_host *host;
	int (*each)(void *ctx, const char *name);
	void *ctx;
};

static bool is_detail(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcmp(dot, ".scale") || !strcmp(dot, ".unit") ||
		       !strcmp(dot, ".snapshot") || !strcmp(dot, ".per-pkg"));
}

static int list_pmu(void *ctx, const char *pmu)
{
	const struct listing *l = ctx;
	char path[512], name[512];
	struct dirent **found = NULL;
	int i, n, err = 0;

	n = snprintf(path, sizeof(path), "%s/%s/events", l->host->devices, pmu);
	if (n < 0 || (size_t)n >= sizeof(path))
		return 0;
	n = scandir(path, &found, NULL, alphasort);
	for (i = 0; i < n; i++) {
		const char *event = found[i]->d_name;

		if (!err && is_word(event, strlen(event)) && !is_detail(event)) {
			snprintf(name, sizeof(name), "%s/%s/", pmu, event);
			err = l->each(l->ctx, name);
		}
		free(found[i]);
	}
	free(found);
	return err;
}

int event_pmu_each(const struct events_host *host, int (*each)(void *ctx, const char *name),
		   void *ctx)
{
	struct listing l = { host, each, ctx };

	return each_pmu(host, list_pmu, &l);
}

struct classify {
	const struct events_host *host;
	struct event_spec *spec;
};

static int classify_pmu(void *ctx, const char *pmu)
{
	const struct classify *j = ctx;
	uint32_t type;

	if (read_type(j->host, pmu, &type) || type != j->spec->type)
		return 0;
	if (has_file(j->host, pmu, "cpumask"))
		snprintf(j->spec->why, sizeof(j->spec->why),
			 "the PMU '%s' counts for several CPUs together, not for a thread", pmu);
	return 1;
}

void event_pmu_check(const struct events_host *host, struct event_spec *spec)
{
	struct classify j = { host, spec };

	if (!*spec->why && spec->type != PERF_TYPE_HARDWARE && spec->type != PERF_TYPE_HW_CACHE &&
	    spec->type != PERF_TYPE_SOFTWARE && spec->type != PERF_TYPE_RAW)
		each_pmu(host, classify_pmu, &j);
}
