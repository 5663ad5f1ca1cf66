// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * The kernel's generic events: enum perf_hw_id, perf_sw_ids and the perf_hw_cache_* enums of
 * linux/perf_event.h.
 */
#include "attach/event_names.h"

#include "base/array.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct generic {
	const char *name, *alias; /* alias may be NULL */
	uint32_t type;
	uint32_t config;
	const char *what;
};

#define HW(name, alias, id)                                                               \
	{                                                                                 \
		name, alias, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id, "PERF_COUNT_HW_" #id \
	}
#define SW(name, alias, id)                                                               \
	{                                                                                 \
		name, alias, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id, "PERF_COUNT_SW_" #id \
	}

static const struct generic generic[] = {
	HW("cycles", "cpu-cycles", CPU_CYCLES),
	HW("instructions", NULL, INSTRUCTIONS),
	HW("cache-references", NULL, CACHE_REFERENCES),
	HW("cache-misses", NULL, CACHE_MISSES),
	HW("branches", "branch-instructions", BRANCH_INSTRUCTIONS),
	HW("branch-misses", NULL, BRANCH_MISSES),
	HW("bus-cycles", NULL, BUS_CYCLES),
	HW("ref-cycles", NULL, REF_CPU_CYCLES),
	HW("stalled-cycles-frontend", "idle-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HW("stalled-cycles-backend", "idle-cycles-backend", STALLED_CYCLES_BACKEND),
	SW("task-clock", NULL, TASK_CLOCK),
	SW("cpu-clock", NULL, CPU_CLOCK),
	SW("page-faults", "faults", PAGE_FAULTS),
	SW("minor-faults", NULL, PAGE_FAULTS_MIN),
	SW("major-faults", NULL, PAGE_FAULTS_MAJ),
	SW("context-switches", "cs", CONTEXT_SWITCHES),
	SW("cpu-migrations", "migrations", CPU_MIGRATIONS),
	SW("alignment-faults", NULL, ALIGNMENT_FAULTS),
	SW("emulation-faults", NULL, EMULATION_FAULTS),
};

struct word {
	const char *text;
	uint32_t id;
	const char *what;
};

/* Only the first name of each id is listed for users. */
static const struct word caches[] = {
	{ "L1-dcache", PERF_COUNT_HW_CACHE_L1D, "L1D" },
	{ "l1d", PERF_COUNT_HW_CACHE_L1D, "L1D" },
	{ "L1-icache", PERF_COUNT_HW_CACHE_L1I, "L1I" },
	{ "l1i", PERF_COUNT_HW_CACHE_L1I, "L1I" },
	{ "LLC", PERF_COUNT_HW_CACHE_LL, "LL" },
	{ "dTLB", PERF_COUNT_HW_CACHE_DTLB, "DTLB" },
	{ "iTLB", PERF_COUNT_HW_CACHE_ITLB, "ITLB" },
	{ "branch", PERF_COUNT_HW_CACHE_BPU, "BPU" },
	{ "bpu", PERF_COUNT_HW_CACHE_BPU, "BPU" },
	{ "node", PERF_COUNT_HW_CACHE_NODE, "NODE" },
};

static const struct word ops[] = {
	{ "load", PERF_COUNT_HW_CACHE_OP_READ, "READ" },
	{ "loads", PERF_COUNT_HW_CACHE_OP_READ, "READ" },
	{ "read", PERF_COUNT_HW_CACHE_OP_READ, "READ" },
	{ "store", PERF_COUNT_HW_CACHE_OP_WRITE, "WRITE" },
	{ "stores", PERF_COUNT_HW_CACHE_OP_WRITE, "WRITE" },
	{ "write", PERF_COUNT_HW_CACHE_OP_WRITE, "WRITE" },
	{ "prefetch", PERF_COUNT_HW_CACHE_OP_PREFETCH, "PREFETCH" },
	{ "prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH, "PREFETCH" },
};

static const struct word results[] = {
	{ "misses", PERF_COUNT_HW_CACHE_RESULT_MISS, "MISS" },
	{ "miss", PERF_COUNT_HW_CACHE_RESULT_MISS, "MISS" },
	{ "refs", PERF_COUNT_HW_CACHE_RESULT_ACCESS, "ACCESS" },
	{ "access", PERF_COUNT_HW_CACHE_RESULT_ACCESS, "ACCESS" },
};

/*
 * Parse one of @words at *@name, preceded by a '-' unless @first is set. Return NULL if none of the
 * words is there.
 */
static const struct word *take(const char **name, const struct word *words, size_t n, bool first)
{
	const char *p = *name;
	size_t i, len;

	if (!first && *p++ != '-')
		return NULL;
	for (i = 0; i < n; i++) {
		len = strlen(words[i].text);
		if (!strncasecmp(p, words[i].text, len) && (!p[len] || p[len] == '-')) {
			*name = p + len;
			return &words[i];
		}
	}
	return NULL;
}

/* Parse CACHE-OP, CACHE-OP-RESULT or CACHE-RESULT (of reads), as perf does. */
static int cache_event(struct event_spec *spec, const char *name)
{
	const struct word *cache, *op, *result;

	cache = take(&name, caches, SIZE(caches), true);
	if (!cache || !*name)
		return -ENOENT;
	op = take(&name, ops, SIZE(ops), false);
	result = take(&name, results, SIZE(results), false);
	if (*name)
		return -ENOENT;
	spec->type = PERF_TYPE_HW_CACHE;
	spec->config = cache->id | (op ? op->id : PERF_COUNT_HW_CACHE_OP_READ) << 8 |
		       (result ? result->id : PERF_COUNT_HW_CACHE_RESULT_ACCESS) << 16;
	spec->source = EVENT_HARDWARE;
	snprintf(spec->what, sizeof(spec->what), "PERF_COUNT_HW_CACHE_%s %s %s", cache->what,
		 op ? op->what : "READ", result ? result->what : "ACCESS");
	return 0;
}

int event_generic(struct event_spec *spec, const char *name)
{
	array_for_each (g, generic, SIZE(generic)) {
		if (strcasecmp(name, g->name) != 0 &&
		    (!g->alias || strcasecmp(name, g->alias) != 0))
			continue;
		spec->type = g->type;
		spec->config = g->config;
		spec->source = g->type == PERF_TYPE_SOFTWARE ? EVENT_SOFTWARE : EVENT_HARDWARE;
		snprintf(spec->what, sizeof(spec->what), "%s", g->what);
		return 0;
	}
	return cache_event(spec, name);
}

/*
 * Return whether a cache event can exist: instruction caches have no stores, and branches are only
 * read.
 */
static bool cache_makes_sense(uint32_t cache, uint32_t op)
{
	switch (cache) {
	case PERF_COUNT_HW_CACHE_L1I:
		return op != PERF_COUNT_HW_CACHE_OP_WRITE;
	case PERF_COUNT_HW_CACHE_ITLB:
	case PERF_COUNT_HW_CACHE_BPU:
		return op == PERF_COUNT_HW_CACHE_OP_READ;
	default:
		return true;
	}
}

/* List each cache event in its usual form: L1-dcache-loads, L1-dcache-load-misses. */
static int cache_each(int (*each)(void *ctx, const char *name), void *ctx)
{
	char name[64];
	size_t c, o, r;
	int err;

	for (c = 0; c < SIZE(caches); c++) {
		if (c && caches[c].id == caches[c - 1].id)
			continue;
		for (o = 0; o < SIZE(ops); o++) {
			if ((o && ops[o].id == ops[o - 1].id) ||
			    !cache_makes_sense(caches[c].id, ops[o].id))
				continue;
			for (r = 0; r < 2; r++) {
				/*
				 * In the table of operations, the plural form follows the singular
				 * form.
				 */
				snprintf(name, sizeof(name), "%s-%s%s", caches[c].text,
					 ops[r ? o : o + 1].text, r ? "-misses" : "");
				err = each(ctx, name);
				if (err)
					return err;
			}
		}
	}
	return 0;
}

int event_generic_each(int (*each)(void *ctx, const char *name), void *ctx)
{
	size_t i;
	int err;

	for (i = 0; i < SIZE(generic); i++) {
		err = each(ctx, generic[i].name);
		if (err)
			return err;
	}
	return cache_each(each, ctx);
}
