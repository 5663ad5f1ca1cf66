// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include <errno.h>
#include <ftw.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_check.h"
#include "attach/events.h"

#define CACHE(cache, op, result)                                          \
	(PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)

/* A machine with constructed PMUs, in a folder that the tests remove. */
struct machine {
	char devices[64];
	struct events_host host;
	struct event_spec spec[COUNTERS_MAX];
	uint32_t n;
	char why[256];
};

static void check_machine_cases(struct machine *m,
				void (*check)(struct machine *, const char *, const char *),
				const struct text_row *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check(m, c[i].given, c[i].expected);
}

#define machine_cases(m, check, ...) \
	check_machine_cases(m, check, ROWS(struct text_row, __VA_ARGS__))

static void put(struct machine *m, const char *name, const char *text)
{
	char path[256], *slash;
	FILE *f CLEANUP_PTR(fclose);

	snprintf(path, sizeof(path), "%s/%s", m->devices, name);
	for (slash = path + strlen(m->devices) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", text);
}

static int setup(void **state)
{
	struct machine *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	snprintf(m->devices, sizeof(m->devices), "/tmp/test_attach_events.XXXXXX");
	assert_non_null(mkdtemp(m->devices));
	machine_cases(m, put, { "cpu/type", "4" }, { "cpu/format/event", "config:0-7,32-35" },
		      { "cpu/format/umask", "config:8-15" }, { "cpu/format/inv", "config:23" },
		      { "cpu/format/ldlat", "config1:0-15" }, { "cpu/format/far", "config2:63" },
		      { "cpu/format/odd", "config3:0-7" }, { "cpu/format/broken", "config:9-3" },
		      { "cpu/events/cpu-cycles", "event=0x3c" },
		      { "cpu/events/slots", "event=0x00,umask=0x4" },
		      { "cpu/events/slots.scale", "4" },
		      { "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3" },
		      { "cpu/events/asks", "event=0x1,umask=?" }, { "cpu/events/loop", "loop" },
		      { "uncore_imc/type", "17" }, { "uncore_imc/cpumask", "0" },
		      { "uncore_imc/format/event", "config:0-7" },
		      { "uncore_imc/events/reads", "event=0x4" }, { "breakpoint/type", "5" },
		      { "uprobe/type", "8" }, { "software/type", "1" });
	m->host = (struct events_host){
		.devices = m->devices,
		.cpu = EVENTS_CPU_INTEL,
		.cache_levels = 3,
	};
	*state = m;
	return 0;
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int teardown(void **state)
{
	struct machine *m = *state;

	nftw(m->devices, drop, 16, FTW_DEPTH | FTW_PHYS);
	free(m);
	return 0;
}

static int parse(struct machine *m, const char *list)
{
	memset(m->spec, 0xa5, sizeof(m->spec));
	m->why[0] = '\0';
	return events_parse_on(&m->host, list, m->spec, COUNTERS_MAX, &m->n, m->why,
			       sizeof(m->why));
}

static void is_good(struct machine *m, const char *list, uint32_t n)
{
	if (parse(m, list))
		fail_msg("%s: %s", list, m->why);
	assert_int_equal(m->n, n);
}

/* Check that the list is refused, and that the message contains @says. */
static void is_bad(struct machine *m, const char *list, const char *says)
{
	assert_int_equal(parse(m, list), -EINVAL);
	assert_int_equal(m->n, 0);
	if (!strstr(m->why, says))
		fail_msg("%s: '%s' does not say '%s'", list, m->why, says);
}

/*
 * Check that a list of one event is accepted, and that the event is absent. The reason contains
 * @says.
 */
static void is_absent(struct machine *m, const char *name, const char *says)
{
	is_good(m, name, 1);
	assert_string_equal(m->spec[0].name, name);
	if (!strstr(m->spec[0].why, says))
		fail_msg("%s: '%s' does not say '%s'", name, m->spec[0].why, says);
}

/* Like is_absent(), for event @i of a list that is already parsed. */
static void absent_at(struct machine *m, uint32_t i, const char *name, const char *says)
{
	assert_true(i < m->n);
	assert_string_equal(m->spec[i].name, name);
	if (!strstr(m->spec[i].why, says))
		fail_msg("%s: '%s' does not say '%s'", name, m->spec[i].why, says);
}

static void is_event(struct machine *m, const char *name, uint32_t type, uint64_t config)
{
	is_good(m, name, 1);
	assert_fields(m, TEXT(spec[0].name, name), TEXT(spec[0].why, ""));
	assert_true(strlen(m->spec[0].what) > 4);
	assert_fields(
		m, IS(spec[0].type, type), IS(spec[0].config, config), IS(spec[0].config1, 0),
		IS(spec[0].config2, 0), IS(spec[0].exclude_user, false),
		IS(spec[0].exclude_kernel, false), IS(spec[0].exclude_hv, false),
		IS(spec[0].source, type == PERF_TYPE_SOFTWARE ? EVENT_SOFTWARE : EVENT_HARDWARE));
}

struct event_row {
	const char *name;
	uint32_t type;
	uint64_t config;
};

static void check_events(struct machine *m, const struct event_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		is_event(m, rows[i].name, rows[i].type, rows[i].config);
}

#define are_events(m, ...) check_events(m, ROWS(struct event_row, __VA_ARGS__))

static void test_hardware(void **state)
{
	are_events(*state, { "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
		   { "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
		   { "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
		   { "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
		   { "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
		   { "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
		   { "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
		   { "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
		   { "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
		   { "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
		   { "stalled-cycles-frontend", PERF_TYPE_HARDWARE,
		     PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
		   { "stalled-cycles-backend", PERF_TYPE_HARDWARE,
		     PERF_COUNT_HW_STALLED_CYCLES_BACKEND });
}

static void test_software(void **state)
{
	struct machine *m = *state;

	is_event(m, "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	assert_string_equal(m->spec[0].unit, "ns");
	assert_string_equal(event_source_name(m->spec[0].source), "software");
	is_event(m, "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	assert_string_equal(m->spec[0].unit, "ns");
	is_event(m, "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	assert_string_equal(m->spec[0].unit, "");
	are_events(m, { "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
		   { "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
		   { "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
		   { "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
		   { "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
		   { "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
		   { "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
		   { "alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
		   { "emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS });
}

static void test_cache(void **state)
{
	are_events(*state, { "L1-dcache-loads", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, ACCESS) },
		   { "L1-dcache-load-misses", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS) },
		   { "l1-dcache-store-misses", PERF_TYPE_HW_CACHE, CACHE(L1D, WRITE, MISS) },
		   { "L1-icache-load-misses", PERF_TYPE_HW_CACHE, CACHE(L1I, READ, MISS) },
		   { "LLC-loads", PERF_TYPE_HW_CACHE, CACHE(LL, READ, ACCESS) },
		   { "LLC-misses", PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS) },
		   { "LLC-prefetch-misses", PERF_TYPE_HW_CACHE, CACHE(LL, PREFETCH, MISS) },
		   { "dTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, MISS) },
		   { "dTLB-stores", PERF_TYPE_HW_CACHE, CACHE(DTLB, WRITE, ACCESS) },
		   { "iTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(ITLB, READ, MISS) },
		   { "branch-load-misses", PERF_TYPE_HW_CACHE, CACHE(BPU, READ, MISS) },
		   { "node-stores", PERF_TYPE_HW_CACHE, CACHE(NODE, WRITE, ACCESS) });
	machine_cases(*state, is_absent, { "LLC", "no such event" }, { "LLC-", "no such event" },
		      { "LLC-load-misses-more", "no such event" },
		      { "LLC-misses-loads", "no such event" }, { "LLCloads", "no such event" });
}

static void test_raw(void **state)
{
	struct machine *m = *state;

	is_event(m, "r1a2", PERF_TYPE_RAW, 0x1a2);
	assert_string_equal(m->spec[0].what, "raw 0x1a2");
	is_event(m, "rFFFFFFFFFFFFFFFF", PERF_TYPE_RAW, UINT64_MAX);
	machine_cases(m, is_absent, { "r11111111111111111", "no such event" },
		      { "r", "no such event" }, { "r-1", "no such event" },
		      { "rxyz", "no such event" }, { "R1a2", "no such event" },
		      { "17", "no such event" });
}

static void test_thesis(void **state)
{
	struct machine *m = *state;

	is_good(m, "PAPI_TOT_CYC:PAPI_L2_TCM", 2); /* table 3.1 of E. Novillo's thesis, 2002 */
	assert_fields(m, TEXT(spec[0].name, "PAPI_TOT_CYC"),
		      IS(spec[0].config, PERF_COUNT_HW_CPU_CYCLES),
		      TEXT(spec[1].name, "PAPI_L2_TCM"));
}

static void preset(struct machine *m, enum events_cpu cpu, unsigned int levels, const char *name,
		   uint32_t type, uint64_t config)
{
	m->host.cpu = cpu;
	m->host.cache_levels = levels;
	is_event(m, name, type, config);
}

/*
 * Check that a preset that PAPI knows but this machine lacks stays in the list, and that parsing
 * continues.
 */
static void no_preset(struct machine *m, enum events_cpu cpu, const char *name, const char *says)
{
	char list[96];

	m->host.cpu = cpu;
	snprintf(list, sizeof(list), "%s,cycles", name);
	is_good(m, list, 2);
	assert_string_equal(m->spec[0].name, name);
	if (!strstr(m->spec[0].why, says))
		fail_msg("%s: '%s' does not say '%s'", name, m->spec[0].why, says);
	assert_string_equal(m->spec[1].why, "");
}

static void test_papi(void **state)
{
	struct machine *m = *state;
	const enum events_cpu intel = EVENTS_CPU_INTEL, amd = EVENTS_CPU_AMD, arm = EVENTS_CPU_ARM,
			      other = EVENTS_CPU_OTHER;

	preset(m, other, 0, "PAPI_TOT_CYC", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	preset(m, other, 0, "PAPI_TOT_INS", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	preset(m, other, 0, "PAPI_REF_CYC", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES);
	preset(m, other, 0, "PAPI_BR_INS", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	preset(m, other, 0, "PAPI_BR_MSP", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES);
	preset(m, intel, 3, "PAPI_L1_DCM", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS));
	assert_lacks(m->spec[0].what, "approximate");
	preset(m, amd, 3, "PAPI_L1_DCM", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS));
	assert_says(m->spec[0].what, "approximate: loads only");
	preset(m, other, 0, "PAPI_TLB_DM", PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, MISS));
	assert_says(m->spec[0].what, "approximate");
	preset(m, other, 0, "PAPI_RES_STL", PERF_TYPE_HARDWARE,
	       PERF_COUNT_HW_STALLED_CYCLES_BACKEND);
	/*
	 * A miss in the second-level cache accesses the third level. The preset exists only if
	 * there is a third level.
	 */
	preset(m, intel, 3, "PAPI_L2_TCM", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES);
	preset(m, intel, 2, "PAPI_L2_TCM", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES);
	preset(m, intel, 3, "PAPI_L3_TCM", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES);
	preset(m, amd, 3, "PAPI_L2_TCM", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES);
	no_preset(m, amd, "PAPI_L3_TCM", "no counterpart");
	no_preset(m, arm, "PAPI_L2_TCM", "no counterpart"); /* absent until the PMU has the event */
	no_preset(m, other, "PAPI_L2_TCM", "no counterpart");
	no_preset(m, intel, "PAPI_L1_TCM", "is a sum: count PAPI_L1_DCM and PAPI_L1_ICM");
	no_preset(m, intel, "PAPI_FP_INS", "no counterpart");
	machine_cases(m, is_absent, { "PAPI_NONSENSE", "PAPI has no preset 'PAPI_NONSENSE'" },
		      { "PAPI_", "PAPI has no preset" });

	machine_cases(m, put, { "armv8_pmuv3/type", "8" },
		      { "armv8_pmuv3/format/event", "config:0-15" },
		      { "armv8_pmuv3/events/l2d_cache_refill", "event=0x0017" });
	preset(m, arm, 2, "PAPI_L2_TCM", 8, 0x17);
	is_event(m, "l2d_cache_refill", 8, 0x17);
}

static void test_pmu(void **state)
{
	struct machine *m = *state;

	are_events(m, { "cpu/event=0x3c,umask=0x12/", PERF_TYPE_RAW, 0x123c },
		   { "cpu/event=60/", PERF_TYPE_RAW, 0x3c });
	/* The upper bits of a term's value go into the second bit range of the term. */
	are_events(m, { "cpu/event=0xf3c,inv/", PERF_TYPE_RAW, 0xf0080003cULL },
		   { "cpu/config=0xfedcba9876543210/", PERF_TYPE_RAW, 0xfedcba9876543210ULL },
		   { "cpu/cpu-cycles/", PERF_TYPE_RAW, 0x3c },
		   { "cpu/cpu-cycles,umask=1/", PERF_TYPE_RAW, 0x13c },
		   { "slots", PERF_TYPE_RAW, 0x400 });
	assert_says(m->spec[0].what, "in units of 4");
	is_event(m, "software/config=2/", PERF_TYPE_SOFTWARE, 2);

	is_good(m, "cpu/mem-loads/", 1);
	assert_fields(m, IS(spec[0].config, 0x1cd), IS(spec[0].config1, 3));
	is_good(m, "cpu/far=1,config1=7/", 1);
	assert_fields(m, IS(spec[0].config1, 7), IS(spec[0].config2, 1ULL << 63));

	machine_cases(m, is_absent, { "cpu/event=0x1000/", "too large" },
		      { "cpu/nosuch/", "no event or term 'nosuch'" },
		      { "cpu/nosuch=1/", "no event or term 'nosuch'" },
		      { "cpu/odd=1/", "unsupported format" },
		      { "cpu/broken=1/", "unsupported format" },
		      { "cpu/asks/", "needs a value for 'umask'" },
		      { "cpu/loop/", "no event or term 'loop'" }, { "cpu/event=/", "not a number" },
		      { "cpu/event=-1/", "not a number" }, { "cpu/event= 1/", "not a number" },
		      { "cpu/event=1x/", "not a number" },
		      { "cpu/event=0x10000000000000000/", "not a number" },
		      { "cpu//", "names no event" });
	is_bad(m, "cpu/event=1", "the second slash is missing");
	machine_cases(m, is_absent, { "/event=1/", "not of the form" },
		      { "cpu/,/", "neither an event nor a term" },
		      { "cpu/event=1,/", "neither an event nor a term" },
		      { "cpu/event=1/x", "only u, k, h and p" },
		      { "breakpoint/config=1/", "is a probe" },
		      { "uprobe/config=1/", "is a probe" });
}

/* An unknown name does not end the list, and is shown as it was written. */
static void test_unknown(void **state)
{
	struct machine *m = *state;

	is_good(m, "nosuch,cycles", 2);
	absent_at(m, 0, "nosuch", "no such event");
	is_event(m, "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	is_good(m, "cs:nosuch:cycles:u", 3);
	absent_at(m, 1, "nosuch", "no such event");
	assert_fields(m, TEXT(spec[2].name, "cycles:u"), IS(spec[2].exclude_kernel, true));
	/*
	 * An unknown name may contain colons. It includes its modifiers, and ends before the next
	 * known event.
	 */
	is_good(m, "sched:sched_switch,cs", 2);
	absent_at(m, 0, "sched:sched_switch", "no such event");
	is_good(m, "snb::nosuch:nomask:u:cs", 2);
	absent_at(m, 0, "snb::nosuch:nomask:u", "no such event");
	assert_string_equal(m->spec[1].name, "cs");
	is_good(m, "nosuch:cpu/event=1/:cs", 3);
	assert_fields(m, TEXT(spec[1].name, "cpu/event=1/"), IS(spec[1].config, 1));
	/* An invalid event does not affect the next one. */
	is_good(m, "cpu/nosuch/,PAPI_NONSENSE:u,5,cs", 4);
	absent_at(m, 0, "cpu/nosuch/", "no event or term");
	absent_at(m, 1, "PAPI_NONSENSE:u", "no preset");
	absent_at(m, 2, "5", "no such event");
	assert_fields(m, TEXT(spec[3].why, ""), IS(spec[3].config, PERF_COUNT_SW_CONTEXT_SWITCHES));
	is_good(m, "nosuch,nosuch", 1);
	/* An unknown name may not be empty, either. */
	machine_cases(m, is_bad, { "nosuch,,cycles", "without a name" },
		      { "nosuch:", "without a name" }, { "nosuch::cycles", "without a name" },
		      { "cycles,cpu/event=1,cs", "the second slash is missing" });
}

/* Names cannot lead out of the folder of the PMUs. */
static void test_paths(void **state)
{
	struct machine *m = *state;

	machine_cases(m, is_absent, { "../event=1/", "not of the form" },
		      { "./event=1/", "not of the form" },
		      { "cpu/../", "neither an event nor a term" },
		      { "cpu/.hidden/", "neither an event nor a term" }, { "..", "no such event" },
		      { "cpu/a b/", "neither an event nor a term" },
		      { "c*u/event=1/", "not of the form" });
}

/*
 * The machine lacks some events, and cannot count others for a single thread. Both are reported,
 * and parsing continues.
 */
static void test_absent(void **state)
{
	struct machine *m = *state;

	is_good(m, "armv9_big/event=1/,cycles", 2);
	assert_fields(m, HAS(spec[0].why, "no PMU 'armv9_big'"), TEXT(spec[1].why, ""));
	is_good(m, "uncore_imc/reads/,cycles", 2);
	assert_says(m->spec[0].why, "not for a thread");
	is_absent(m, "reads", "no such event"); /* not an event of a CPU's PMU */
	put(m, "bad_type/type", "four");
	is_good(m, "bad_type/event=1/", 1);
	assert_says(m->spec[0].why, "no PMU 'bad_type'");
}

static void test_modifiers(void **state)
{
	struct machine *m = *state;

	is_good(m, "cycles:u", 1);
	assert_fields(m, TEXT(spec[0].name, "cycles:u"), IS(spec[0].exclude_user, false),
		      IS(spec[0].exclude_kernel, true), IS(spec[0].exclude_hv, true));
	is_good(m, "cycles:k", 1);
	assert_fields(m, IS(spec[0].exclude_user, true), IS(spec[0].exclude_kernel, false));
	is_good(m, "cycles:uk", 1);
	assert_fields(m, IS(spec[0].exclude_user, false), IS(spec[0].exclude_kernel, false),
		      IS(spec[0].exclude_hv, true));
	is_good(m, "cycles:pp", 1);
	assert_fields(m, IS(spec[0].exclude_user, false), IS(spec[0].exclude_kernel, false));
	is_good(m, "PAPI_TOT_INS:u", 1);
	assert_true(m->spec[0].exclude_kernel);
	is_good(m, "cpu/event=1/u", 1);
	assert_true(m->spec[0].exclude_kernel);
	is_good(m, "cpu/event=1/:k", 1);
	assert_true(m->spec[0].exclude_user);
	/* A modifier belongs to the event before it, and colons still separate events. */
	is_good(m, "cycles:u:instructions:k:page-faults", 3);
	assert_fields(m, TEXT(spec[0].name, "cycles:u"), TEXT(spec[1].name, "instructions:k"),
		      IS(spec[1].exclude_user, true), IS(spec[2].exclude_user, false));
	is_absent(m, "u", "no such event");
	is_good(m, "cycles,u", 2);
	absent_at(m, 1, "u", "no such event");
	is_good(m, "cycles:u:k", 2);
	absent_at(m, 1, "k", "no such event");
	is_bad(m, ":u", "without a name");
	is_good(m, "cycles:x", 2);
	absent_at(m, 1, "x", "no such event");
	assert_string_equal(m->spec[0].why, "");
}

static void test_lists(void **state)
{
	struct machine *m = *state;

	is_good(m, "cycles,instructions:page-faults", 3);
	assert_string_equal(m->spec[2].name, "page-faults");
	is_good(m, " cycles , instructions\t: cs ", 3);
	assert_fields(m, TEXT(spec[0].name, "cycles"), TEXT(spec[2].name, "cs"));
	is_good(m, "cpu/event=1,umask=2/,cycles:cpu/event=3,umask=4/u:cs", 4);
	assert_fields(m, IS(spec[0].config, 0x201), TEXT(spec[2].name, "cpu/event=3,umask=4/u"),
		      IS(spec[2].config, 0x403));

	machine_cases(m, is_bad, { "", "no event is named" }, { "  ", "no event is named" },
		      { ",", "without a name" }, { "cycles,", "without a name" },
		      { "cycles::instructions", "without a name" },
		      { "cycles,,instructions", "without a name" });

	is_good(m, "r1,r2,r3,r4,r5,r6,r7,r8", COUNTERS_MAX);
	is_bad(m, "r1,r2,r3,r4,r5,r6,r7,r8,r9", "at most 8 events");
	/* An event that is already in the list takes no second entry. */
	is_good(m, "r1,r2,r3,r4,r5,r6,r7,r8,r1", COUNTERS_MAX);
}

static void test_duplicates(void **state)
{
	struct machine *m = *state;

	is_good(m, "cycles,cs,cycles", 2);
	is_good(m, "cycles:u,cycles:k,cycles", 3);
	is_good(m, "cycles,cpu-cycles,cs", 3);
	absent_at(m, 1, "cpu-cycles", "the same event as cycles");
	assert_string_equal(m->spec[2].why, "");
	is_good(m, "cycles:PAPI_TOT_CYC", 2);
	absent_at(m, 1, "PAPI_TOT_CYC", "the same event as cycles");
	is_good(m, "cycles:uk,cycles:ku", 2);
	absent_at(m, 1, "cycles:ku", "the same event as cycles:uk");
	/* Two unavailable events stay two entries. */
	is_good(m, "PAPI_FP_INS,PAPI_FP_OPS", 2);
}

static void test_hostile(void **state)
{
	struct machine *m = *state;
	char list[20000], name[65];

	machine_cases(m, is_bad, { "cyc\x1b[31mles", "printable" }, { "cycles\n", "printable" },
		      { "cycl\xc3\xa4s", "printable" }, { "\x7f", "printable" });
	is_absent(m, "%s%n%d", "no such event");

	/* A name may have 63 characters, but not 64. */
	memset(name, 'x', 64);
	name[64] = '\0';
	is_bad(m, name, "too long");
	name[63] = '\0';
	is_absent(m, name, "no such event");
	/* The limit includes a modifier. */
	memset(name, '0', 64);
	memcpy(name, "cpu/event=0x", 12);
	strcpy(name + 58, "01/:u");
	is_good(m, name, 1);
	strcpy(name + 58, "001/:u");
	is_bad(m, name, "too long");

	memset(list, ':', sizeof(list));
	list[sizeof(list) - 1] = '\0';
	is_bad(m, list, "too many");
	memset(list, ',', sizeof(list) - 1);
	is_bad(m, list, "without a name");
	memset(list, '/', sizeof(list) - 1);
	is_bad(m, list, "the second slash is missing");
	list[sizeof(list) - 2] = '\0';
	is_bad(m, list, "too long");
	memset(list, 'a', sizeof(list) - 1);
	is_bad(m, list, "too long");
	for (size_t i = 0; i + 2 < sizeof(list); i += 2)
		memcpy(list + i, "u:", 2);
	is_bad(m, list, "too many");
	/* A message that does not fit is cut off. */
	assert_int_equal(
		events_parse_on(&m->host, "cs,,cs", m->spec, COUNTERS_MAX, &m->n, m->why, 8),
		-EINVAL);
	assert_int_equal(strlen(m->why), 7);
}

static void test_libpfm(void **state)
{
	struct machine *m = *state;

	/* The absence of libpfm4 is reported only where it would have been used. */
	is_good(m, "cycles", 1);
	assert_string_equal(m->why, "");
	is_absent(m, "INST_RETIRED:ANY", "is not installed");
	m->host.libpfm = "libnosuch.so.4";
	is_absent(m, "INST_RETIRED:ANY", "is not installed");
	m->host.libpfm = "libc.so.6"; /* a library, but not libpfm4 */
	is_absent(m, "INST_RETIRED:ANY", "is not installed");

	m->host.libpfm = "libpfm.so.4";
	is_absent(m, "no_such_event_at_all", "no such event");
	if (strstr(m->spec[0].why, "not installed"))
		skip();
	assert_says(m->spec[0].why, "libpfm4:");
	/* Names from libpfm4 keep their colons, and end before the next name. */
	is_good(m, "cycles:perf::PERF_COUNT_SW_CPU_MIGRATIONS:u:cs:perf::PERF_COUNT_SW_PAGE_FAULTS",
		4);
	assert_fields(m, TEXT(spec[1].name, "perf::PERF_COUNT_SW_CPU_MIGRATIONS:u"),
		      IS(spec[1].type, PERF_TYPE_SOFTWARE),
		      IS(spec[1].config, PERF_COUNT_SW_CPU_MIGRATIONS),
		      IS(spec[1].exclude_kernel, true), IS(spec[1].source, EVENT_SOFTWARE),
		      HAS(spec[1].what, "libpfm4: "), TEXT(spec[2].name, "cs"),
		      IS(spec[3].config, PERF_COUNT_SW_PAGE_FAULTS),
		      IS(spec[3].exclude_kernel, false));
}

struct seen {
	uint32_t n, cycles, pmu, uncore, papi, asks, details, same;
	struct machine *m;
};

static int see(void *ctx, const struct event_spec *spec)
{
	struct seen *seen = ctx;
	struct machine *m = seen->m;

	seen->n++;
	seen->cycles += !strcmp(spec->name, "cycles");
	seen->pmu += !strcmp(spec->name, "cpu/mem-loads/") && spec->config1 == 3;
	seen->uncore += !strcmp(spec->name, "uncore_imc/reads/") && *spec->why;
	seen->papi += !strcmp(spec->name, "PAPI_TOT_INS");
	seen->asks += !strcmp(spec->name, "cpu/asks/") && *spec->why;
	seen->details += strstr(spec->name, ".scale") != NULL;
	/* Every listed name can be used. */
	if (!parse(m, spec->name))
		seen->same += m->n == 1 && m->spec[0].type == spec->type &&
			      m->spec[0].config == spec->config;
	return 0;
}

static int stop_at_three(void *ctx, const struct event_spec *spec)
{
	return ++*(int *)ctx == 3 ? 7 : 0;
}

static void test_each(void **state)
{
	struct machine *m = *state;
	struct seen seen = { .m = m };
	int n = 0;

	assert_int_equal(events_each(&m->host, see, &seen), 0);
	assert_fields(&seen, IS(cycles, 1), IS(pmu, 1), IS(uncore, 1), IS(papi, 1), IS(asks, 1),
		      IS(details, 0), IS(same, seen.n - 2)); /* all but cpu/asks/ and cpu/loop/ */
	assert_int_equal(events_each(&m->host, stop_at_three, &n), 7);
	assert_int_equal(n, 3);
}

/* Parse events on the machine that runs the test. */
static void test_here(void **state)
{
	struct machine *m = *state;
	struct events_host host;

	events_host_here(&host);
	assert_non_null(host.devices);
	assert_int_equal(events_parse("task-clock:page-faults,PAPI_TOT_CYC", m->spec, COUNTERS_MAX,
				      &m->n, m->why, sizeof(m->why)),
			 0);
	assert_int_equal(m->n, 3);
	m->host.devices = "/nonexistent";
	is_good(m, "cycles,cpu/event=1/", 2);
	assert_says(m->spec[1].why, "no PMU 'cpu'");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_hardware),   T(test_software), T(test_cache),	 T(test_raw),
		T(test_thesis),	    T(test_papi),     T(test_pmu),	 T(test_paths),
		T(test_absent),	    T(test_unknown),  T(test_modifiers), T(test_lists),
		T(test_duplicates), T(test_hostile),  T(test_libpfm),	 T(test_each),
		T(test_here),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
