// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "capture/counting.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/msg.h"
#include "model/model.h"

static bool is_hardware(const struct event_spec *s, uint64_t config)
{
	return s->type == PERF_TYPE_HARDWARE && s->config == config;
}

static void add(struct counting *c, uint32_t event)
{
	const struct event_spec *s = counters_spec(c->counters, event);
	const char *reason = counters_reason(c->counters, event);
	uint32_t i = c->n++;

	if (*reason)
		msg_warn("%s: %s", s->name, reason);
	c->at[i] = event;
	c->names[i] = s->name;
	c->shown[i] = (struct session_counter){
		.name = s->name,
		.source = event_source_name(s->source),
		.unit = s->unit,
	};
	if (s->type == PERF_TYPE_SOFTWARE)
		c->plain |= 1u << i;
	if (counters_kept(s) == PERF_COUNT_SW_CONTEXT_SWITCHES)
		c->switches |= 1u << i;
	else if (counters_kept(s) == PERF_COUNT_SW_PAGE_FAULTS)
		c->faults |= 1u << i;
	if (is_hardware(s, PERF_COUNT_HW_INSTRUCTIONS))
		c->instructions = i;
	if (is_hardware(s, PERF_COUNT_HW_CPU_CYCLES))
		c->cycles = i;
}

static void add_absent(struct counting *c, const char *name, const char *reason)
{
	msg_warn("%s is not counted: %s", name, reason);
	c->absent[c->nabsent++] = (struct report_uncounted){ name, reason };
}

int counting_read(const char *option, const char *list, struct counting *c)
{
	char why[512] = "";
	int err;

	memset(c, 0, sizeof(*c));
	c->instructions = c->cycles = MODEL_NONE;
	if (!list)
		return 0;
	err = events_parse(list, c->specs, COUNTERS_MAX, &c->nspecs, why, sizeof(why));
	if (err)
		msg_error("%s \"%s\": %s", option, list, *why ? why : strerror(-err));
	return err;
}

int counting_open(struct counting *c)
{
	uint32_t i;
	int err;

	if (!c->nspecs)
		return 0;
	err = counters_open(c->specs, c->nspecs, &c->counters);
	if (err) {
		msg_error("cannot open counters: %s", strerror(-err));
		return err;
	}
	for (i = 0; i < c->nspecs; i++) {
		if (counters_has(c->counters, i))
			add(c, i);
		else
			add_absent(c, c->specs[i].name, counters_reason(c->counters, i));
	}
	if (!c->n)
		msg_warn("none of the events is available: nothing is counted (sbt-trace list "
			 "--events lists the available ones)");
	return 0;
}

void counting_drop(struct counting *c, const char *reason)
{
	uint32_t i;

	for (i = 0; i < c->n; i++)
		add_absent(c, c->names[i], reason);
	c->n = 0;
	c->instructions = c->cycles = MODEL_NONE;
}

int counting_connect(const struct counting *c, struct attach *attach)
{
	uint32_t i, cpu;

	for (i = 0; i < c->n; i++) {
		for (cpu = 0; cpu < counters_ncpus(c->counters); cpu++) {
			int fd = counters_fd(c->counters, c->at[i], cpu), err;

			if (fd < 0)
				continue;
			err = attach_set_counter(attach, i, cpu, fd);
			if (err) {
				msg_error("cannot count %s on CPU %u: %s", c->names[i], cpu,
					  strerror(-err));
				return err;
			}
		}
	}
	return 0;
}

void counting_close(struct counting *c)
{
	counters_free(c->counters);
	memset(c, 0, sizeof(*c));
}
