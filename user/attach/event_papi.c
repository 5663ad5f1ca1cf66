// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * PAPI presets as events of the kernel. papiStdEventDefs.h defines what each preset counts.
 * papi_events.csv gives its event on each CPU. The kernel's drivers (arch/x86/events,
 * drivers/perf/arm_pmuv3.c) define the generic events. A preset is mapped only where all three
 * agree.
 */
#include "attach/event_names.h"

#include "base/array.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SIZE(a) (sizeof(a) / sizeof((a)[0]))

enum where {
	ANY,
	INTEL,
	INTEL_L2, /* Intel CPUs with two cache levels */
	INTEL_L3,
	AMD,
	/* arm64 CPUs; `event` is a name in the PMU's directory, as the architecture defines it */
	ARM,
};

struct preset {
	const char *name;
	enum where where;
	const char *event; /* the kernel's name; NULL: none */
	/* how the event differs from the preset; if `event` is NULL, why there is none */
	const char *note;
};

/*
 * A name may have several entries. The first one that is for this machine, and has an event that
 * exists here, is used.
 */
static const struct preset presets[] = {
	{ "PAPI_TOT_CYC", ANY, "cycles", NULL },
	{ "PAPI_TOT_INS", ANY, "instructions", NULL },
	{ "PAPI_REF_CYC", ANY, "ref-cycles", NULL },
	{ "PAPI_BR_INS", ANY, "branches", NULL },
	{ "PAPI_BR_MSP", ANY, "branch-misses", NULL },
	{ "PAPI_L1_DCM", INTEL, "L1-dcache-load-misses", NULL },
	{ "PAPI_L1_DCM", ARM, "l1d_cache_refill", NULL },
	{ "PAPI_L1_DCM", ANY, "L1-dcache-load-misses", "approximate: loads only" },
	{ "PAPI_L1_ICM", ARM, "l1i_cache_refill", NULL },
	{ "PAPI_L1_ICM", ANY, "L1-icache-load-misses", NULL },
	{ "PAPI_L1_LDM", ANY, "L1-dcache-load-misses",
	  "approximate: on some CPUs also counts stores" },
	{ "PAPI_L1_STM", ANY, "L1-dcache-store-misses", NULL },
	{ "PAPI_L1_DCA", ARM, "l1d_cache", NULL },
	{ "PAPI_L1_DCR", ANY, "L1-dcache-loads", NULL },
	{ "PAPI_L1_DCW", ANY, "L1-dcache-stores", NULL },
	{ "PAPI_L1_ICA", ARM, "l1i_cache", NULL },
	{ "PAPI_L1_TCM", ANY, NULL, "is a sum: count PAPI_L1_DCM and PAPI_L1_ICM" },
	{ "PAPI_L2_TCM", INTEL_L3, "cache-references", NULL },
	{ "PAPI_L2_TCM", INTEL_L2, "cache-misses", NULL },
	{ "PAPI_L2_TCM", AMD, "cache-misses", NULL },
	{ "PAPI_L2_TCM", ARM, "l2d_cache_refill", NULL },
	{ "PAPI_L2_DCM", ARM, "l2d_cache_refill", NULL },
	{ "PAPI_L2_TCA", INTEL_L2, "cache-references", NULL },
	{ "PAPI_L2_TCA", AMD, "cache-references", NULL },
	{ "PAPI_L2_TCA", ARM, "l2d_cache", NULL },
	{ "PAPI_L2_DCA", ARM, "l2d_cache", NULL },
	{ "PAPI_L3_TCM", INTEL_L3, "cache-misses", NULL },
	{ "PAPI_L3_TCM", ARM, "l3d_cache_refill", NULL },
	{ "PAPI_L3_TCA", INTEL_L3, "cache-references", NULL },
	{ "PAPI_L3_TCA", ARM, "l3d_cache", NULL },
	{ "PAPI_TLB_DM", ARM, "l1d_tlb_refill", NULL },
	{ "PAPI_TLB_DM", ANY, "dTLB-load-misses", "approximate: loads only" },
	{ "PAPI_TLB_IM", ARM, "l1i_tlb_refill", NULL },
	{ "PAPI_TLB_IM", ANY, "iTLB-load-misses", NULL },
	{ "PAPI_TLB_TL", ANY, NULL, "is a sum: count PAPI_TLB_DM and PAPI_TLB_IM" },
	{ "PAPI_LD_INS", INTEL, "L1-dcache-loads", NULL },
	{ "PAPI_LD_INS", ARM, "ld_retired", NULL },
	{ "PAPI_SR_INS", INTEL, "L1-dcache-stores", NULL },
	{ "PAPI_SR_INS", ARM, "st_retired", NULL },
	{ "PAPI_LST_INS", ANY, NULL, "is a sum: count PAPI_LD_INS and PAPI_SR_INS" },
	{ "PAPI_RES_STL", ANY, "stalled-cycles-backend",
	  "approximate: as the CPU's driver defines it" },
	{ "PAPI_STL_ICY", ANY, "stalled-cycles-frontend",
	  "approximate: as the CPU's driver defines it" },
};

/* Names of papiStdEventDefs.h, without PAPI_, to which no kernel event corresponds. */
static const char *const others[] = {
	"L2_ICM",  "L3_DCM",  "L3_ICM",	 "CA_SNP",  "CA_SHR",  "CA_CLN",  "CA_INV",  "CA_ITV",
	"L3_LDM",  "L3_STM",  "BRU_IDL", "FXU_IDL", "FPU_IDL", "LSU_IDL", "L2_LDM",  "L2_STM",
	"BTAC_M",  "PRF_DM",  "L3_DCH",	 "TLB_SD",  "CSR_FAL", "CSR_SUC", "CSR_TOT", "MEM_SCY",
	"MEM_RCY", "MEM_WCY", "FUL_ICY", "STL_CCY", "FUL_CCY", "HW_INT",  "BR_UCN",  "BR_CN",
	"BR_TKN",  "BR_NTK",  "BR_PRC",	 "FMA_INS", "TOT_IIS", "INT_INS", "FP_INS",  "VEC_INS",
	"FP_STAL", "SYC_INS", "L1_DCH",	 "L2_DCH",  "L3_DCA",  "L2_DCR",  "L3_DCR",  "L2_DCW",
	"L3_DCW",  "L1_ICH",  "L2_ICH",	 "L3_ICH",  "L2_ICA",  "L3_ICA",  "L1_ICR",  "L2_ICR",
	"L3_ICR",  "L1_ICW",  "L2_ICW",	 "L3_ICW",  "L1_TCH",  "L2_TCH",  "L3_TCH",  "L1_TCA",
	"L1_TCR",  "L2_TCR",  "L3_TCR",	 "L1_TCW",  "L2_TCW",  "L3_TCW",  "FML_INS", "FAD_INS",
	"FDV_INS", "FSQ_INS", "FNV_INS", "FP_OPS",  "SP_OPS",  "DP_OPS",  "VEC_SP",  "VEC_DP",
};

static bool fits(const struct events_host *host, enum where where)
{
	switch (where) {
	case ANY:
		return true;
	case INTEL:
		return host->cpu == EVENTS_CPU_INTEL;
	case INTEL_L2:
		return host->cpu == EVENTS_CPU_INTEL && host->cache_levels == 2;
	case INTEL_L3:
		return host->cpu == EVENTS_CPU_INTEL && host->cache_levels == 3;
	case AMD:
		return host->cpu == EVENTS_CPU_AMD;
	case ARM:
		return host->cpu == EVENTS_CPU_ARM;
	}
	return false;
}

/* Resolve a preset. Return -ENOENT if this machine does not have the preset's event. */
static int resolve(const struct events_host *host, struct event_spec *spec, const struct preset *p,
		   char *why, size_t len)
{
	size_t used;
	int err;

	err = p->where == ARM ? event_pmu_bare(host, spec, p->event, why, len)
			      : event_generic(spec, p->event);
	if (!err && p->note) {
		used = strlen(spec->what);
		snprintf(spec->what + used, sizeof(spec->what) - used, " (%s)", p->note);
	}
	return err;
}

static bool is_other(const char *name)
{
	size_t i;

	for (i = 0; i < SIZE(others); i++) {
		if (!strcasecmp(name, others[i]))
			return true;
	}
	return false;
}

int event_papi(const struct events_host *host, struct event_spec *spec, const char *name, char *why,
	       size_t len)
{
	const char *note = "has no counterpart among the kernel's events for this CPU: use the "
			   "CPU's own event (rNNN, PMU/event/, or libpfm4's name)";
	bool known = false;
	int err;

	if (strncasecmp(name, "PAPI_", 5) != 0)
		return -ENOENT;
	array_for_each (p, presets, SIZE(presets)) {
		if (strcasecmp(name, p->name) != 0)
			continue;
		known = true;
		if (!fits(host, p->where))
			continue;
		if (!p->event) {
			note = p->note;
			continue;
		}
		err = resolve(host, spec, p, why, len);
		if (err != -ENOENT)
			return err;
	}
	if (!known && !is_other(name + 5))
		return event_fail(why, len, "PAPI has no preset '%s'", name);
	spec->source = EVENT_HARDWARE;
	snprintf(spec->what, sizeof(spec->what), "a PAPI preset");
	snprintf(spec->why, sizeof(spec->why), "%s %s", name, note);
	return 0;
}

int event_papi_each(int (*each)(void *ctx, const char *name), void *ctx)
{
	char name[64];
	size_t i;
	int err = 0;

	for (i = 0; i < SIZE(presets) && !err; i++) {
		if (!i || strcmp(presets[i].name, presets[i - 1].name) != 0)
			err = each(ctx, presets[i].name);
	}
	for (i = 0; i < SIZE(others) && !err; i++) {
		snprintf(name, sizeof(name), "PAPI_%s", others[i]);
		err = each(ctx, name);
	}
	return err;
}
