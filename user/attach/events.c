// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "attach/events.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "attach/event_names.h"

#define DEVICES	  "/sys/bus/event_source/devices"
#define LIBPFM	  "libpfm.so.4"
#define PARTS_MAX 32
#define HYGON_EBX 0x6f677948u /* "Hygo" in CPUID, for which gcc 12 has no name */

const char *event_source_name(enum event_source source)
{
	return source == EVENT_SOFTWARE ? "software" : "hardware";
}

int event_fail(char *why, size_t len, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	/* clang-tidy 14 loses track of va_start() when it checks several files. */
	vsnprintf(why, len, fmt, args); /* NOLINT(clang-analyzer-valist.Uninitialized) */
	va_end(args);
	return -EINVAL;
}

static enum events_cpu this_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned int leaf, b, c, d;

	if (!__get_cpuid(0, &leaf, &b, &c, &d))
		return EVENTS_CPU_OTHER;
	if (b == signature_INTEL_ebx)
		return EVENTS_CPU_INTEL;
	if (b == signature_AMD_ebx || b == HYGON_EBX)
		return EVENTS_CPU_AMD;
	return EVENTS_CPU_OTHER;
#elif defined(__aarch64__)
	return EVENTS_CPU_ARM;
#else
	return EVENTS_CPU_OTHER;
#endif
}

static unsigned int cache_levels(void)
{
	unsigned int index, level, levels = 0;
	char path[96], line[16];
	FILE *f;

	for (index = 0; index < 16; index++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%u/level",
			 index);
		f = fopen(path, "re");
		if (!f)
			break;
		level = fgets(line, sizeof(line), f) ? (unsigned int)strtoul(line, NULL, 10) : 0;
		levels = level > levels ? level : levels;
		fclose(f);
	}
	return levels;
}

void events_host_here(struct events_host *host)
{
	*host = (struct events_host){
		.devices = DEVICES,
		.libpfm = LIBPFM,
		.cpu = this_cpu(),
		.cache_levels = cache_levels(),
	};
}

/* State of the parser; all pointers are borrowed. */
struct reader {
	const struct events_host *host;
	struct event_pfm pfm;
	struct event_spec *out;
	uint32_t max, n;
	char *why; /* receives the error in the list */
	size_t len;
	char error[192]; /* error in one event */
};

/* Parse perf's rNNN. */
static int raw_event(struct event_spec *spec, const char *name)
{
	size_t digits = strlen(name + 1);

	if (name[0] != 'r' || !digits || digits > 16 ||
	    strspn(name + 1, "0123456789abcdefABCDEF") != digits)
		return -ENOENT;
	spec->type = PERF_TYPE_RAW;
	spec->config = strtoull(name + 1, NULL, 16);
	spec->source = EVENT_HARDWARE;
	snprintf(spec->what, sizeof(spec->what), "raw 0x%llx", (unsigned long long)spec->config);
	return 0;
}

/*
 * Resolve a name of any kind except libpfm4 names. Return 0, -ENOENT, or -EINVAL with a sentence in
 * r->error.
 */
static int resolve(struct reader *r, struct event_spec *spec, const char *name)
{
	int err;

	err = event_pmu(r->host, spec, name, r->error, sizeof(r->error));
	if (err == -ENOENT)
		err = event_generic(spec, name);
	if (err == -ENOENT)
		err = raw_event(spec, name);
	if (err == -ENOENT)
		err = event_papi(r->host, spec, name, r->error, sizeof(r->error));
	if (err == -ENOENT)
		err = event_pmu_bare(r->host, spec, name, r->error, sizeof(r->error));
	return err;
}

/*
 * Apply the letters of a modifier: u, k and h name modes, and modes that are not named are
 * excluded. The letter p concerns only samples, which are not used here.
 */
static void modify(struct event_spec *spec, const char *letters)
{
	bool u = strchr(letters, 'u'), k = strchr(letters, 'k'), h = strchr(letters, 'h');

	if (!u && !k && !h)
		return;
	spec->exclude_user = !u;
	spec->exclude_kernel = !k;
	spec->exclude_hv = !h;
}

static bool is_modifier(const char *s)
{
	return *s && strspn(s, "ukhp") == strlen(s);
}

static bool same_event(const struct event_spec *a, const struct event_spec *b)
{
	return a->type == b->type && a->config == b->config && a->config1 == b->config1 &&
	       a->config2 == b->config2 && a->exclude_user == b->exclude_user &&
	       a->exclude_kernel == b->exclude_kernel && a->exclude_hv == b->exclude_hv;
}

static int add(struct reader *r, struct event_spec *spec)
{
	uint32_t i;

	for (i = 0; i < r->n; i++) {
		if (!strcmp(r->out[i].name, spec->name))
			return 0;
		if (!*spec->why && !*r->out[i].why && same_event(&r->out[i], spec))
			snprintf(spec->why, sizeof(spec->why), "it is the same event as %s",
				 r->out[i].name);
	}
	if (r->n >= r->max)
		return event_fail(r->why, r->len, "at most %u events can be counted at once",
				  r->max);
	r->out[r->n++] = *spec;
	return 0;
}

static void set_unit(struct event_spec *spec)
{
	bool is_clock =
		spec->type == PERF_TYPE_SOFTWARE && (spec->config == PERF_COUNT_SW_CPU_CLOCK ||
						     spec->config == PERF_COUNT_SW_TASK_CLOCK);

	spec->unit = is_clock && !*spec->why ? "ns" : "";
}

/* One item between commas, split at its colons. */
struct item {
	char *part[PARTS_MAX];
	uint32_t n;
};

/*
 * Join @n parts, beginning with @first, with colons between them. Return -EINVAL if the result is
 * too long for a name.
 */
static int join(const struct item *item, uint32_t first, uint32_t n, char *name, size_t len)
{
	size_t used = 0;
	uint32_t i;
	int more;

	for (i = 0; i < n; i++) {
		more = snprintf(name + used, len - used, "%s%s", i ? ":" : "",
				item->part[first + i]);
		if (more < 0 || (size_t)more >= len - used)
			return -EINVAL;
		used += (size_t)more;
	}
	return 0;
}

/*
 * Resolve a libpfm4 name. It may contain colons, so take the longest name that libpfm4 knows. Set
 * *@n to the number of its parts. Return -ENOENT if libpfm4 knows none, with its message in
 * spec->why.
 */
static int resolve_pfm(struct reader *r, struct event_spec *spec, const struct item *item,
		       uint32_t first, uint32_t *n)
{
	char name[sizeof(spec->name)], message[128] = "";
	uint32_t take;

	for (take = item->n - first; take; take--) {
		if (join(item, first, take, name, sizeof(name)))
			continue;
		if (!event_pfm(r->host, &r->pfm, spec, name, message, sizeof(message))) {
			*n = take;
			return 0;
		}
	}
	snprintf(spec->why, sizeof(spec->why), "there is no such event (%s)", message);
	return -ENOENT;
}

/* Return whether a known event name begins at this part. */
static bool is_known(struct reader *r, const struct item *item, uint32_t part)
{
	struct event_spec spec = { .unit = "" };
	uint32_t n;

	return resolve(r, &spec, item->part[part]) != -ENOENT ||
	       !resolve_pfm(r, &spec, item, part, &n);
}

/*
 * Return the number of parts of an unknown name. Such a name may contain colons (a tracepoint, or a
 * libpfm4 name without the library), so it extends to the next known name.
 */
static uint32_t unknown_parts(struct reader *r, const struct item *item, uint32_t first)
{
	char name[sizeof(r->out->name)];
	uint32_t i, n = 1;

	for (i = first + 1; i < item->n; i++) {
		if (!*item->part[i])
			continue;
		if ((!is_modifier(item->part[i]) && is_known(r, item, i)) ||
		    join(item, first, i + 1 - first, name, sizeof(name)))
			break;
		n = i + 1 - first;
	}
	return n;
}

/* Return the modifier after the second slash, as in perf's cpu/.../u. */
static const char *slash_modifier(const char *name)
{
	const char *slash = strchr(name, '/');

	slash = slash ? strchr(slash + 1, '/') : NULL;
	return slash ? slash + 1 : "";
}

/* Reset *@spec, which describes an unavailable event, except for the reason in `why`. */
static void absent(struct event_spec *spec)
{
	char why[sizeof(spec->why)];

	memcpy(why, spec->why, sizeof(why));
	*spec = (struct event_spec){ .unit = "" };
	snprintf(spec->what, sizeof(spec->what), "unknown");
	memcpy(spec->why, why, sizeof(why));
}

/* Parse the event that begins at part *@i, and the modifier after it. */
static int read_event(struct reader *r, const struct item *item, uint32_t *i)
{
	struct event_spec spec = { .unit = "" };
	const char *first = item->part[*i], *modifier;
	uint32_t used = 1;
	int err;

	err = is_modifier(first) ? -ENOENT : resolve(r, &spec, first);
	if (err == -EINVAL)
		snprintf(spec.why, sizeof(spec.why), "%s", r->error);
	if (err == -ENOENT) {
		err = resolve_pfm(r, &spec, item, *i, &used);
		if (err)
			used = unknown_parts(r, item, *i);
	}
	modifier = slash_modifier(first);
	if (*modifier && !is_modifier(modifier)) {
		err = -EINVAL;
		snprintf(spec.why, sizeof(spec.why),
			 "only u, k, h and p may follow the second slash");
	}
	if (err)
		absent(&spec);
	else
		modify(&spec, modifier);
	if (*i + used < item->n && is_modifier(item->part[*i + used]))
		modify(&spec, item->part[*i + used++]);
	if (join(item, *i, used, spec.name, sizeof(spec.name)))
		return event_fail(r->why, r->len, "'%.40s...' is too long for an event", first);
	*i += used;
	event_pmu_check(r->host, &spec);
	set_unit(&spec);
	return add(r, &spec);
}

/* Remove the blanks around a string, in place. Return its new beginning. */
static char *trimmed(char *s)
{
	size_t n;

	s += strspn(s, " ");
	n = strlen(s);
	while (n && s[n - 1] == ' ')
		s[--n] = '\0';
	return s;
}

/*
 * Return the end of the part at @s: the next @separator outside slashes, or the end of the string.
 */
static char *end_of(char *s, char separator)
{
	bool inside = false;

	for (; *s && (inside || *s != separator); s++)
		inside ^= *s == '/';
	return s;
}

static int read_item(struct reader *r, char *text)
{
	struct item item = { .n = 0 };
	bool last = false;
	uint32_t i;
	char *end;
	int err;

	for (; !last; text = end + 1) {
		end = end_of(text, ':');
		last = !*end;
		*end = '\0';
		if (item.n == PARTS_MAX)
			return event_fail(r->why, r->len, "too many events");
		item.part[item.n] = trimmed(text);
		if (strlen(item.part[item.n]) >= sizeof(r->out->name))
			return event_fail(r->why, r->len, "'%.40s...' is too long for an event",
					  item.part[item.n]);
		item.n++;
	}
	for (i = 0; i < item.n;) {
		if (!*item.part[i])
			return event_fail(r->why, r->len,
					  "the list contains an event without a name");
		err = read_event(r, &item, &i);
		if (err)
			return err;
	}
	return 0;
}

static int read_list(struct reader *r, char *text)
{
	uint32_t slashes = 0;
	bool last = false;
	char *end, *p;
	int err;

	for (p = text; *p; p++) {
		slashes += *p == '/';
		if (*p == '\t')
			*p = ' ';
		if ((unsigned char)*p < 0x20 || (unsigned char)*p > 0x7e)
			return event_fail(r->why, r->len, "event names must be printable ASCII");
	}
	if (!*trimmed(text))
		return event_fail(r->why, r->len, "no event is named");
	/* Without the second slash, the rest of the list would be taken for a part of the name. */
	if (slashes & 1)
		return event_fail(r->why, r->len, "the second slash is missing: PMU/event/");
	for (; !last; text = end + 1) {
		end = end_of(text, ',');
		last = !*end;
		*end = '\0';
		err = read_item(r, text);
		if (err)
			return err;
	}
	return 0;
}

int events_parse_on(const struct events_host *host, const char *list, struct event_spec *out,
		    uint32_t max, uint32_t *n, char *why, size_t len)
{
	struct reader r = { .host = host, .out = out, .max = max, .why = why, .len = len };
	char *text = strdup(list);
	int err;

	*n = 0;
	if (!text)
		return -ENOMEM;
	err = read_list(&r, text);
	if (!err)
		*n = r.n;
	event_pfm_close(&r.pfm);
	free(text);
	return err;
}

int events_parse(const char *list, struct event_spec *out, uint32_t max, uint32_t *n, char *why,
		 size_t len)
{
	struct events_host host;

	events_host_here(&host);
	return events_parse_on(&host, list, out, max, n, why, len);
}

struct listing {
	const struct events_host *host;
	int (*each)(void *ctx, const struct event_spec *spec);
	void *ctx;
};

static int list_name(void *ctx, const char *name)
{
	const struct listing *l = ctx;
	struct event_spec spec = { .unit = "" };
	struct reader r = { .host = l->host };
	int err;

	if (strlen(name) >= sizeof(spec.name))
		return 0;
	err = resolve(&r, &spec, name);
	if (err == -ENOENT)
		return 0;
	snprintf(spec.name, sizeof(spec.name), "%s", name);
	/* Also list a kernel name that needs a value to be complete. */
	if (err)
		snprintf(spec.why, sizeof(spec.why), "%s", r.error);
	event_pmu_check(l->host, &spec);
	set_unit(&spec);
	return l->each(l->ctx, &spec);
}

int events_each(const struct events_host *host,
		int (*each)(void *ctx, const struct event_spec *spec), void *ctx)
{
	struct listing l = { host, each, ctx };
	int err;

	err = event_generic_each(list_name, &l);
	if (!err)
		err = event_pmu_each(host, list_name, &l);
	if (!err)
		err = event_papi_each(list_name, &l);
	return err;
}
