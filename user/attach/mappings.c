// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "attach/mappings.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/number.h"

/*
 * Size of each CPU's ring. It has room for about 1600 mappings, and is below the limit for
 * unprivileged users (kernel.perf_event_mlock_kb).
 */
#define RING_BYTES (256u << 10)

#define DELETED " (deleted)"

struct cpu {
	int fd; /* -1: no such CPU */
	struct perf_event_mmap_page *page;
};

struct mappings {
	size_t page_bytes;
	struct cpu *cpus;
	uint32_t ncpus;
	/* the events of all CPUs that were not passed to the caller yet */
	struct mappings_event *events;
	uint32_t nevents, cap;
	char *text; /* the paths of these events */
	size_t ntext, cap_text;
	uint64_t lost;
};

/* PERF_RECORD_MMAP2 up to the name. */
struct record_mmap {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	char name[];
};

/* PERF_RECORD_COMM; a short name takes fewer bytes. */
struct record_comm {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[16];
};

/* PERF_RECORD_LOST */
struct record_lost {
	struct perf_event_header header;
	uint64_t id;
	uint64_t lost;
};

static int open_event(uint32_t cpu, bool execs)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.disabled = 1,
		.mmap = 1, /* only executable mappings */
		.mmap2 = 1,
		.comm = execs,
		.comm_exec = execs,
		.sample_id_all = 1,
		.watermark = 1,
		.wakeup_watermark = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_cpu(struct mappings *m, uint32_t i, bool execs)
{
	struct cpu *cpu = &m->cpus[i];
	void *page;

	cpu->fd = open_event(i, execs);
	if (cpu->fd < 0)
		return errno == ENODEV || errno == ENXIO ? 0 : -errno;
	page = mmap(NULL, m->page_bytes + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, cpu->fd,
		    0);
	if (page == MAP_FAILED)
		return -errno;
	cpu->page = page;
	return 0;
}

int mappings_open(bool execs, struct mappings **out)
{
	struct mappings *m = calloc(1, sizeof(*m));
	long n = sysconf(_SC_NPROCESSORS_CONF);
	uint32_t i;
	int err = 0;

	if (!m)
		return -ENOMEM;
	m->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	m->ncpus = n > 0 ? (uint32_t)n : 1;
	m->cpus = calloc(m->ncpus, sizeof(*m->cpus));
	if (!m->cpus) {
		m->ncpus = 0;
		err = -ENOMEM;
	}
	array_for_each (cpu, m->cpus, m->ncpus)
		cpu->fd = -1;
	for (i = 0; i < m->ncpus && !err; i++)
		err = open_cpu(m, i, execs);
	if (err) {
		mappings_free(m);
		return err;
	}
	*out = m;
	return 0;
}

void mappings_free(struct mappings *m)
{
	if (!m)
		return;
	array_for_each (cpu, m->cpus, m->ncpus) {
		if (cpu->page)
			munmap(cpu->page, m->page_bytes + RING_BYTES);
		if (cpu->fd >= 0)
			close(cpu->fd);
	}
	free(m->cpus);
	free(m->events);
	free(m->text);
	free(m);
}

void mappings_enable(struct mappings *m, bool on)
{
	array_for_each (cpu, m->cpus, m->ncpus)
		if (cpu->fd >= 0)
			ioctl(cpu->fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

int mappings_fd(const struct mappings *m, uint32_t i)
{
	array_for_each (cpu, m->cpus, m->ncpus)
		if (cpu->fd >= 0 && !i--)
			return cpu->fd;
	return -1;
}

/* Copy the bytes at @at of the ring, which may wrap around its end. */
static void copy(const struct mappings *m, const struct cpu *cpu, uint64_t at, void *to, size_t n)
{
	const uint8_t *data = (const uint8_t *)cpu->page + m->page_bytes;
	size_t from = at & (RING_BYTES - 1), first = RING_BYTES - from;

	if (first > n)
		first = n;
	memcpy(to, data + from, first);
	memcpy((uint8_t *)to + first, data, n - first);
}

/* Return a new event with room for @text_bytes of text, or NULL. */
static struct mappings_event *event_new(struct mappings *m, size_t text_bytes)
{
	if (grow(m->text, m->cap_text, m->ntext + text_bytes) ||
	    grow(m->events, m->cap, m->nevents + 1)) {
		m->lost++;
		return NULL;
	}
	return &m->events[m->nevents++];
}

static void take_mmap(struct mappings *m, const struct cpu *cpu, uint64_t at, uint32_t size)
{
	union {
		struct record_mmap record;
		char bytes[sizeof(struct record_mmap) + 2];
	} r;
	struct mappings_event *e;
	size_t len;

	if (size < sizeof(r.bytes) + sizeof(e->t_ns))
		return;
	copy(m, cpu, at, r.bytes, sizeof(r.bytes));
	/* Ignore "[vdso]" and the like, which are the same in every process. */
	if (r.record.name[0] != '/')
		return;
	len = size - sizeof(e->t_ns) - sizeof(r.record);
	e = event_new(m, len + 1);
	if (!e)
		return;
	*e = (struct mappings_event){
		.tgid = r.record.pid,
		.tid = r.record.tid,
		.start = r.record.addr,
		.bytes = r.record.len,
		.offset = r.record.pgoff,
		.ino = r.record.ino,
		.dev = r.record.maj << 20 | (r.record.min & 0xfffff),
		.file = r.record.name[1] != '/', /* false for "//anon" */
		.text = m->ntext,
	};
	copy(m, cpu, at + sizeof(r.record), m->text + m->ntext, len);
	m->text[m->ntext + len] = '\0';
	len = strlen(m->text + m->ntext);
	if (len > strlen(DELETED) && !strcmp(m->text + m->ntext + len - strlen(DELETED), DELETED)) {
		e->deleted = true;
		len -= strlen(DELETED);
		m->text[m->ntext + len] = '\0';
	}
	m->ntext += len + 1;
	copy(m, cpu, at + size - sizeof(e->t_ns), &e->t_ns, sizeof(e->t_ns));
}

static void take_exec(struct mappings *m, const struct cpu *cpu, uint64_t at, uint32_t size)
{
	struct record_comm r = { .pid = 0 };
	size_t len = size - sizeof(uint64_t);
	struct mappings_event *e;

	if (size < offsetof(struct record_comm, comm) + sizeof(e->t_ns))
		return;
	copy(m, cpu, at, &r, len < sizeof(r) ? len : sizeof(r));
	/* Ignore threads that changed their name without executing a program. */
	e = r.header.misc & PERF_RECORD_MISC_COMM_EXEC ? event_new(m, 0) : NULL;
	if (!e)
		return;
	*e = (struct mappings_event){ .exec = true, .tgid = r.pid, .tid = r.tid };
	snprintf(e->comm, sizeof(e->comm), "%.15s", r.comm);
	copy(m, cpu, at + size - sizeof(e->t_ns), &e->t_ns, sizeof(e->t_ns));
}

static void read_cpu(struct mappings *m, const struct cpu *cpu)
{
	uint64_t end = __atomic_load_n(&cpu->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = cpu->page->data_tail;
	struct perf_event_header header;
	struct record_lost lost;

	while (at < end) {
		copy(m, cpu, at, &header, sizeof(header));
		if (header.size < sizeof(header))
			break;
		if (header.type == PERF_RECORD_MMAP2) {
			take_mmap(m, cpu, at, header.size);
		} else if (header.type == PERF_RECORD_COMM) {
			take_exec(m, cpu, at, header.size);
		} else if (header.type == PERF_RECORD_LOST && header.size >= sizeof(lost)) {
			copy(m, cpu, at, &lost, sizeof(lost));
			m->lost += lost.lost;
		}
		at += header.size;
	}
	__atomic_store_n(&cpu->page->data_tail, end, __ATOMIC_RELEASE);
}

static int by_time(const void *a, const void *b)
{
	const struct mappings_event *x = a, *y = b;

	return NUMBER_COMPARE(x->t_ns, y->t_ns);
}

uint64_t mappings_read(struct mappings *m,
		       void (*each)(void *ctx, const struct mappings_event *event), void *ctx)
{
	uint64_t lost, now;
	uint32_t n;

	/*
	 * While the buffers are read, an event of one CPU may be seen before an earlier event of
	 * another CPU. Keep events after this time for the next call.
	 */
	now = now_ns();
	if (!m->nevents)
		m->ntext = 0;
	array_for_each (cpu, m->cpus, m->ncpus)
		if (cpu->page)
			read_cpu(m, cpu);
	if (m->nevents)
		qsort(m->events, m->nevents, sizeof(*m->events), by_time);
	for (n = 0; n < m->nevents && m->events[n].t_ns <= now; n++) {
		m->events[n].path = m->text ? m->text + m->events[n].text : "";
		each(ctx, &m->events[n]);
	}
	m->nevents -= n;
	if (n && m->nevents)
		memmove(m->events, m->events + n, m->nevents * sizeof(*m->events));
	lost = m->lost;
	m->lost = 0;
	return lost;
}
