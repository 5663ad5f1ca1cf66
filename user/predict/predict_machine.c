// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Parameters of machines: their names, the built-in machines, and the parser of parameter files. */
#include "predict/predict.h"

#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SECOND 1e9

static const char *const schedulers[] = { "global", "block", "cyclic", NULL };
static const char *const barriers[] = {
	"linear", "central", "tree", "dissemination", "free", NULL
};
static const char *const services[] = { "none", "interrupt", "poll", NULL };
static const char *const topologies[] = { "crossbar",  "bus",	  "ring", "mesh",
					  "hypercube", "fattree", NULL };

/* clang-format off */
#define P(m) offsetof(struct predict_machine, m)
#define TIME(name, m, help) { name, NULL, P(m), PREDICT_TIME, 0, 3600 * SECOND, NULL, help }
const struct predict_param predict_params[] = {
	{ "MipsRatio", NULL, P(mips_ratio), PREDICT_NUMBER, 1e-6, 1e6, NULL,
	  "factor of computing times: 2 is a processor half as fast as the recorded one" },
	{ "Scheduler", NULL, P(scheduler), PREDICT_WORD, 0, 2, schedulers,
	  "how threads get processors: global (any free one), block, cyclic (both fixed)" },
	TIME("Quantum", quantum, "time after which another ready thread runs; 0: unlimited"),
	TIME("SwitchTime", switch_time, "time for a processor to switch to another thread"),
	{ "CoresPerCluster", NULL, P(cores_per_cluster), PREDICT_WHOLE,
	  1, PREDICT_PROCESSORS_MAX, NULL,
	  "processors that share memory; 1: none do" },
	{ "BarrierModel", NULL, P(barrier), PREDICT_WORD, 0, 4, barriers,
	  "linear (master and slaves), central (one counter), tree, dissemination, free" },
	{ "BarrierArity", NULL, P(arity), PREDICT_WHOLE, 2, 1024, NULL,
	  "children of a node of the tree" },
	TIME("EntryTime", entry_time, "time of each thread to enter a barrier"),
	TIME("ExitTime", exit_time, "time of each thread to leave a lowered barrier"),
	TIME("CheckTime", check_time, "time of one check by the master, or of one signal"),
	TIME("ExitCheckTime", exit_check_time, "time of one check by a slave"),
	{ "ModelTime", "BarrierModelTime", P(model_time), PREDICT_TIME, 0, 3600 * SECOND, NULL,
	  "time from the last arrival until the barrier starts to release threads" },
	{ "BarrierByMsgs", NULL, P(by_msgs), PREDICT_WHOLE, 0, 1, NULL,
	  "1: barriers use messages" },
	{ "BarrierMsgSize", NULL, P(msg_size), PREDICT_BYTES, 0, PREDICT_BYTES_MAX, NULL,
	  "size of a message of a barrier" },
	TIME("CounterTime", counter_time, "central: time to update the counter, one by one"),
	TIME("WakeTime", wake_time, "central: time to wake a thread on another processor"),
	TIME("FlagTime", flag_time, "time from writing a flag until another processor goes on"),
	{ "ServicePolicy", NULL, P(service), PREDICT_WORD, 0, 2, services,
	  "for messages to a computing thread: none (served when it waits), interrupt, poll" },
	TIME("PollInterval", poll_interval, "computing time between two polls for messages"),
	TIME("PollTime", poll_time, "time of one poll"),
	TIME("InterruptTime", interrupt_time, "time to interrupt a computation and to resume it"),
	TIME("ReceiveTime", receive_time, "time to take one message from the queue"),
	TIME("MsgBuildTime", build_time, "time to build one message"),
	TIME("CommStartupTime", startup_time, "time to send one message"),
	{ "ByteTransferTime", NULL, P(byte_time), PREDICT_TIME_A_BYTE, 0, SECOND, NULL,
	  "transfer time of one byte on the network" },
	{ "RequestSize", NULL, P(request_size), PREDICT_BYTES, 0, PREDICT_BYTES_MAX, NULL,
	  "size of a request for data" },
	TIME("ClusterStartupTime", cluster_startup, "time to begin a read of shared memory"),
	{ "ClusterByteTime", NULL, P(cluster_byte), PREDICT_TIME_A_BYTE, 0, SECOND, NULL,
	  "time to read one byte of shared memory" },
	{ "Topology", NULL, P(topology), PREDICT_WORD, 0, 5, topologies,
	  "network of the clusters: crossbar, bus, ring, mesh, hypercube, fattree (4 branches)" },
	TIME("HopTime", hop_time, "time from one cluster to the next"),
	{ "Contention", NULL, P(contention), PREDICT_NUMBER, 0, 1000, NULL,
	  "0: none; 1: messages share the links of the bisection evenly" },
	{ NULL, NULL, 0, PREDICT_NUMBER, 0, 0, NULL, NULL },
};
/* clang-format on */

/*
 * The built-in machines, in the format of parameter files. laptop and two-socket have typical
 * values of such machines, and the C library's barrier under Linux. --calibrate measures a machine.
 */
static const struct {
	const char *name, *what, *text;
} machines[] = {
	{ "ideal", "only computing takes time", "ServicePolicy = interrupt\n" },
	{ "laptop", "8 cores that share memory; the C library's barrier under Linux",
	  "Scheduler = global\nQuantum = 3 ms\nSwitchTime = 1.5 us\nCoresPerCluster = 8\n"
	  "BarrierModel = central\nEntryTime = 0.1 us\nExitTime = 0.5 us\nCounterTime = 0.05 us\n"
	  "WakeTime = 0.7 us\nFlagTime = 4 us\nModelTime = 0.3 us\n"
	  "ClusterStartupTime = 0.1 us\nClusterByteTime = 10 GB/s\nHopTime = 1 us\n"
	  "ByteTransferTime = 10 GB/s\n" },
	{ "two-socket", "2 x 32 cores, memory shared within a socket, and across sockets at a cost",
	  "Scheduler = global\nQuantum = 3 ms\nSwitchTime = 1.5 us\nCoresPerCluster = 32\n"
	  "BarrierModel = central\nEntryTime = 0.1 us\nExitTime = 0.5 us\nCounterTime = 0.12 us\n"
	  "WakeTime = 0.9 us\nFlagTime = 5 us\nModelTime = 0.3 us\n"
	  "ClusterStartupTime = 0.1 us\nClusterByteTime = 12 GB/s\n"
	  "HopTime = 0.15 us\nCommStartupTime = 0.2 us\nByteTransferTime = 8 GB/s\n"
	  "ServicePolicy = interrupt\n" },
	{ "cm5", "a CM-5, from recordings of a Sun 4 (Shanmugam et al. 1995, table 3)",
	  "MipsRatio = 0.41\nScheduler = block\nBarrierModel = linear\nBarrierModelTime = 5 us\n"
	  "CommStartupTime = 10 us\nByteTransferTime = 0.118 us/B\nServicePolicy = interrupt\n"
	  "Topology = fattree\n" },
	{ "distributed",
	  "20 MB/s, and messages that are expensive to start (Shanmugam et al. 1995, table 1)",
	  "Scheduler = block\nBarrierModel = linear\nEntryTime = 5 us\nExitTime = 5 us\n"
	  "CheckTime = 2 us\nExitCheckTime = 2 us\nModelTime = 10 us\nBarrierByMsgs = 1\n"
	  "BarrierMsgSize = 128 B\nServicePolicy = interrupt\nInterruptTime = 5 us\n"
	  "ReceiveTime = 2 us\nMsgBuildTime = 5 us\nCommStartupTime = 100 us\n"
	  "ByteTransferTime = 20 MB/s\nRequestSize = 16 B\nTopology = hypercube\nHopTime = 0.5 us\n"
	  "PollInterval = 100 us\nPollTime = 1 us\n" },
};

#define NMACHINES (sizeof(machines) / sizeof(machines[0]))

const char *predict_machine_name(unsigned i)
{
	return i < NMACHINES ? machines[i].name : NULL;
}

const char *predict_machine_text(unsigned i)
{
	return i < NMACHINES ? machines[i].what : NULL;
}

/* Set each parameter to 0, or to its default if 0 is not allowed. */
static void machine_init(struct predict_machine *m, const char *name)
{
	memset(m, 0, sizeof(*m));
	snprintf(m->name, sizeof(m->name), "%s", name);
	m->mips_ratio = 1;
	m->cores_per_cluster = 1;
	m->arity = 4;
	m->barrier = PREDICT_LINEAR;
}

int predict_machine_find(const char *name, struct predict_machine *out)
{
	char why[256];

	array_for_each (machine, machines, NMACHINES) {
		if (strcmp(name, machine->name) != 0)
			continue;
		machine_init(out, name);
		return predict_machine_parse(out, machine->text, why, sizeof(why)) ? -EINVAL : 0;
	}
	return -ENOENT;
}

/* --- values ----------------------------------------------------------------------------------- */

struct unit {
	const char *name;
	double ns; /* factor to ns; for a bandwidth, ns per byte at a value of 1 */
};

static const struct unit times[] = { { "ns", 1 },     { "us", 1e3 }, { "\302\265s", 1e3 },
				     { "usec", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
				     { NULL, 0 } };
static const struct unit byte_times[] = { { "ns/B", 1 },	  { "us/B", 1e3 },
					  { "\302\265s/B", 1e3 }, { "ns/byte", 1 },
					  { "us/byte", 1e3 },	  { NULL, 0 } };
static const struct unit bandwidths[] = {
	{ "B/s", 1e9 }, { "kB/s", 1e6 }, { "MB/s", 1e3 }, { "GB/s", 1 }, { NULL, 0 }
};
static const struct unit sizes[] = { { "", 1 },	      { "B", 1 },	  { "bytes", 1 },
				     { "KiB", 1024 }, { "MiB", 1048576 }, { NULL, 0 } };
static const struct unit none[] = { { "", 1 }, { NULL, 0 } };

static const struct {
	const struct unit *units;
	const char *expected;
} kinds[] = {
	[PREDICT_TIME] = { times, "a time with its unit: ns, us, ms or s" },
	[PREDICT_TIME_A_BYTE] = { byte_times,
				  "a time per byte (ns/B, us/B) or a bandwidth (MB/s, GB/s)" },
	[PREDICT_NUMBER] = { none, "a number without a unit" },
	[PREDICT_WHOLE] = { none, "a number without a unit" },
	[PREDICT_BYTES] = { sizes, "a number of bytes" },
	[PREDICT_WORD] = { none, "a word" },
};

static int complain(char *why, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int complain(char *why, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, size, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static const struct unit *unit_find(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (!strcmp(units->name, name))
			return units;
	return NULL;
}

static int parse_word(const struct predict_param *p, const char *value, double *out, char *why,
		      size_t size)
{
	char all[160] = "";
	size_t i, len;

	for (i = 0; p->words[i]; i++) {
		if (!strcasecmp(p->words[i], value)) {
			*out = (double)i;
			return 0;
		}
		len = strlen(all);
		snprintf(all + len, sizeof(all) - len, "%s%s", i ? ", " : "", p->words[i]);
	}
	return complain(why, size, "%s is one of %s, not %.40s", p->name, all, value);
}

static int parse_number(const struct predict_param *p, const char *value, double *out, char *why,
			size_t size)
{
	const struct unit *unit, *bandwidth = NULL;
	char *end;

	/* Refuse hexadecimal numbers, inf and nan. */
	if (strspn(value, "0123456789.") == 0 || value[strspn(value, "0")] == 'x')
		return complain(why, size, "%s is %s, not \"%.40s\"", p->name,
				kinds[p->unit].expected, value);
	*out = strtod(value, &end);
	while (*end == ' ' || *end == '\t')
		end++;
	unit = unit_find(kinds[p->unit].units, end);
	if (!unit && p->unit == PREDICT_TIME_A_BYTE)
		bandwidth = unit_find(bandwidths, end);
	if (unit)
		*out *= unit->ns;
	else if (bandwidth && *out > 0)
		*out = bandwidth->ns / *out;
	else if (*end || *out != 0) /* 0 needs no unit */
		return complain(why, size, "%s is %s, not \"%.40s\"", p->name,
				kinds[p->unit].expected, value);
	if (p->unit == PREDICT_WHOLE && *out != floor(*out))
		return complain(why, size, "%s is a whole number, not %.40s", p->name, value);
	if (!(*out >= p->least && *out <= p->most))
		return complain(why, size, "%s is %.40s, but must be from %g to %g%s", p->name,
				value, p->least, p->most,
				p->unit == PREDICT_TIME || p->unit == PREDICT_TIME_A_BYTE ? " (ns)"
											  : "");
	return 0;
}

static const struct predict_param *param_find(const char *name)
{
	const struct predict_param *p;

	for (p = predict_params; p->name; p++)
		if (!strcasecmp(p->name, name) || (p->also && !strcasecmp(p->also, name)))
			return p;
	return NULL;
}

double predict_param_get(const struct predict_machine *m, const struct predict_param *p)
{
	double value;

	memcpy(&value, (const char *)m + p->offset, sizeof(value));
	return value;
}

static int assign(struct predict_machine *m, const char *name, const char *value, char *why,
		  size_t size)
{
	const struct predict_param *p = param_find(name);
	double number = 0;
	int err;

	if (!p)
		return complain(why, size,
				"there is no parameter %.40s (see sbt-trace predict --help)", name);
	err = p->words ? parse_word(p, value, &number, why, size)
		       : parse_number(p, value, &number, why, size);
	if (!err)
		memcpy((char *)m + p->offset, &number, sizeof(number));
	return err;
}

/* Remove the blanks from both ends of @s, in place. */
static char *trim(char *s)
{
	char *end;

	s += strspn(s, " \t\r");
	for (end = s + strlen(s); end > s && strchr(" \t\r", end[-1]); end--)
		;
	*end = '\0';
	return s;
}

static int parse_name(struct predict_machine *m, const char *value, char *why, size_t size)
{
	if (!*value || strlen(value) >= sizeof(m->name))
		return complain(why, size, "a machine's name has 1 to %zu bytes",
				sizeof(m->name) - 1);
	snprintf(m->name, sizeof(m->name), "%s", value);
	return 0;
}

static int parse_like(struct predict_machine *m, const char *value, char *why, size_t size)
{
	char name[sizeof(m->name)];

	memcpy(name, m->name, sizeof(name));
	if (predict_machine_find(value, m))
		return complain(why, size, "no machine %.40s is built in", value);
	memcpy(m->name, name, sizeof(name));
	return 0;
}

/* Parse a line, which is modified. */
static int parse_line(struct predict_machine *m, char *line, char *why, size_t size)
{
	char *eq, *name, *value;

	line[strcspn(line, "#")] = '\0';
	line = trim(line);
	if (!*line)
		return 0;
	eq = strchr(line, '=');
	if (!eq)
		return complain(why, size, "NAME = VALUE UNIT is expected, not \"%.40s\"", line);
	*eq = '\0';
	name = trim(line);
	value = trim(eq + 1);
	if (!strcmp(name, "machine"))
		return parse_name(m, value, why, size);
	if (!strcmp(name, "like"))
		return parse_like(m, value, why, size);
	return assign(m, name, value, why, size);
}

int predict_machine_set(struct predict_machine *m, const char *assignment, char *why, size_t size)
{
	char *copy = strdup(assignment);
	int err;

	if (!copy)
		return complain(why, size, "%s", strerror(ENOMEM));
	err = strpbrk(copy, "#\n") ? complain(why, size, "NAME=VALUE is expected")
	      : *copy		   ? parse_line(m, copy, why, size)
				   : complain(why, size, "NAME=VALUE is expected");
	free(copy);
	return err;
}

int predict_machine_parse(struct predict_machine *m, const char *text, char *why, size_t size)
{
	char *copy = strdup(text), *line, *end, reason[200];
	unsigned number = 1;
	int err = 0;

	if (!copy)
		return complain(why, size, "%s", strerror(ENOMEM));
	if (!m->arity) {
		char name[sizeof(m->name)];

		memcpy(name, m->name, sizeof(name));
		machine_init(m, *name ? name : "unnamed");
	}
	for (line = copy; line && !err; line = end, number++) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		err = parse_line(m, line, reason, sizeof(reason));
		if (err)
			complain(why, size, "line %u: %s", number, reason);
	}
	free(copy);
	return err;
}

int predict_machine_check(const struct predict_machine *m, char *why, size_t size)
{
	const struct predict_param *p;
	double value;

	for (p = predict_params; p->name; p++) {
		value = predict_param_get(m, p);
		if (!(value >= p->least && value <= p->most))
			return complain(why, size, "%s is %g, but must be from %g to %g", p->name,
					value, p->least, p->most);
	}
	if ((enum predict_service)m->service == PREDICT_POLL && m->poll_interval <= 0)
		return complain(why, size, "PollInterval must be above 0 if ServicePolicy is poll");
	return 0;
}

void predict_param_print(const struct predict_machine *m, const struct predict_param *p, char *out,
			 size_t size)
{
	double value = predict_param_get(m, p);
	const struct unit *u = kinds[p->unit].units;

	if (p->words)
		snprintf(out, size, "%s", p->words[(size_t)value]);
	else if (p->unit == PREDICT_TIME && value >= 1e6)
		snprintf(out, size, "%.9g ms", value / 1e6);
	else if (p->unit == PREDICT_TIME && value > 0)
		snprintf(out, size, "%.9g us", value / 1e3);
	else if (p->unit == PREDICT_BYTES)
		snprintf(out, size, "%.9g B", value);
	else
		snprintf(out, size, "%.9g%s%s", value, *u->name ? " " : "", u->name);
}
