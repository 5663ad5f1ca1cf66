// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Processes of runtimes with barriers of their own, which are not traced. A goroutine is not a
 * thread: while it waits, its thread runs others, and a probe at the return of a Go function would
 * crash the program. A Java thread parks in the virtual machine for barriers, locks and queues
 * alike, and only the machine's own tools know for which. So a remark names these processes.
 */
#include "capture/process_tracker_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/remark.h"
#include "base/text.h"

#define PROCESSES_MOST 65536

enum runtime { RUNTIME_GO, RUNTIME_JAVA, RUNTIMES };

struct runtime_process {
	unsigned int runtimes; /* bits 1 << enum runtime */
	const char *program; /* a path, untrusted; lives as long as the address spaces */
};

static const struct runtime_text {
	const char *name;
	const char *unseen;
} texts[RUNTIMES] = {
	[RUNTIME_GO] = { "Go",
			 "barriers of Go (sync.WaitGroup, errgroup) are not seen, because "
			 "goroutines are not threads: use go tool trace, or the block profile of "
			 "pprof" },
	[RUNTIME_JAVA] = { "Java",
			   "barriers of Java (CyclicBarrier, CountDownLatch, Phaser) are not seen, "
			   "because its threads wait inside the virtual machine: use JDK Flight "
			   "Recorder (event jdk.ThreadPark), or async-profiler" },
};

/* Return whether the file is a Java virtual machine. */
static bool is_jvm(const struct module *m)
{
	static const char name[] = "libjvm.so";

	return !strcmp(m->traits.soname, name) || !strcmp(text_base_name(m->path), name);
}

void tracker_note_runtimes(struct tracker *t, const struct address_space *space)
{
	struct runtime_process *p = hash_get_ptr(&t->runtimes, space->tgid);
	const char *program = NULL;
	unsigned int runtimes = 0;
	size_t i;

	for (i = 0; i < space->maps.n; i++) {
		const struct module *m = tracker_module(t, space, i);

		if (!m)
			continue;
		runtimes |= m->traits.go ? 1u << RUNTIME_GO : 0;
		runtimes |= is_jvm(m) ? 1u << RUNTIME_JAVA : 0;
		if (m->traits.executable)
			program = m->path;
	}
	if (!runtimes) {
		/* The process may have executed another program. */
		free(p);
		hash_del(&t->runtimes, space->tgid);
		if (program && hash_count(&t->plain) < PROCESSES_MOST)
			hash_put(&t->plain, space->tgid, 1);
		return;
	}
	hash_del(&t->plain, space->tgid);
	if (!p && hash_count(&t->runtimes) < PROCESSES_MOST)
		p = hash_new_ptr(&t->runtimes, space->tgid, sizeof(*p));
	if (!p)
		return;
	p->runtimes = runtimes;
	p->program = program ? address_spaces_keep(t->spaces, program) : NULL;
}

void tracker_free_runtimes(struct tracker *t)
{
	hash_free_ptrs(&t->runtimes);
	hash_free(&t->plain);
}

bool tracker_runs_java(const struct tracker *t, uint32_t tgid)
{
	const struct runtime_process *p = hash_get_ptr(&t->runtimes, tgid);

	return p && p->runtimes & 1u << RUNTIME_JAVA;
}

bool tracker_has_runtime(const struct tracker *t, uint32_t tgid)
{
	return hash_get_ptr(&t->runtimes, tgid) != NULL;
}

bool tracker_only_runtimes(const struct tracker *t)
{
	return hash_count(&t->runtimes) && !hash_count(&t->plain);
}

static void report_runtime(const struct tracker *t, enum runtime runtime)
{
	const struct runtime_process *p, *first = NULL;
	uint32_t n = 0, pid = 0;
	const struct hash_entry *e;
	struct hash_entry zero;
	size_t pos = 0;

	while ((e = hash_next(&t->runtimes, &pos, &zero))) {
		p = (const struct runtime_process *)(uintptr_t)e->value;
		if (!(p->runtimes & 1u << runtime))
			continue;
		if (!n++ || e->key < pid) {
			pid = (uint32_t)e->key;
			first = p;
		}
	}
	if (n == 1)
		remark_note(REMARK_WARN, "runtime_unseen", pid, "process %u (%s) runs %s: %s", pid,
			    first->program ? first->program : "a program", texts[runtime].name,
			    texts[runtime].unseen);
	else if (n)
		remark_note(REMARK_WARN, "runtime_unseen", 0,
			    "%u processes run %s (one is %u, %s): %s", n, texts[runtime].name, pid,
			    first->program ? first->program : "a program", texts[runtime].unseen);
}

void tracker_report_runtimes(const struct tracker *t)
{
	unsigned int i;

	for (i = 0; i < RUNTIMES; i++)
		report_runtime(t, (enum runtime)i);
}
