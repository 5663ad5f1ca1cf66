// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "attach/sample.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/number.h"

#define PERIOD_NS  500000 /* interval between samples, in the thread's CPU time */
#define RING_PAGES 32 /* a power of two; the ring must be larger than one record */

#if defined(__aarch64__)
/* enum perf_event_arm_regs: x0 to x29, lr, sp, pc, in DWARF's order. */
#define SAMPLE_REGS  ((1ull << 33) - 1)
#define SAMPLE_NREGS 33
static const uint8_t dwarf_of[SAMPLE_NREGS] = { 0,  1,	2,  3,	4,  5,	6,  7,	8,  9,	10,
						11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
						22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32 };
#else
/*
 * enum perf_event_x86_regs: ax bx cx dx si di bp sp ip, then flags and segments (9 to 15), r8 to
 * r15.
 */
#define SAMPLE_REGS  (0x1ffull | 0xffull << 16)
#define SAMPLE_NREGS 17
static const uint8_t dwarf_of[SAMPLE_NREGS] = { 0, 3, 2,  1,  4,  5,  6,  7, 16,
						8, 9, 10, 11, 12, 13, 14, 15 };
#endif

struct ring {
	int fd; /* -1: none */
	void *pages; /* one control page, then the ring */
};

static uint64_t now_ms(void)
{
	return now_ns() / 1000000u;
}

static void take(const uint8_t **at, void *to, size_t size)
{
	memcpy(to, *at, size);
	*at += size;
}

bool sample_parse(const void *record, size_t size, struct sample *out)
{
	const uint8_t *at = record, *end = at + size;
	struct perf_event_header head;
	uint64_t abi, bytes, given, regs[SAMPLE_NREGS];
	unsigned int i;

	if (size < sizeof(head))
		return false;
	take(&at, &head, sizeof(head));
	if (head.type != PERF_RECORD_SAMPLE || (size_t)(end - at) < sizeof(abi) + sizeof(regs))
		return false;
	take(&at, &abi, sizeof(abi));
	if (abi != PERF_SAMPLE_REGS_ABI_64)
		return false;
	take(&at, regs, sizeof(regs));
	memset(&out->regs, 0, sizeof(out->regs));
	for (i = 0; i < SAMPLE_NREGS; i++)
		stack_set(&out->regs, dwarf_of[i], regs[i]);
	out->regs.exact = 1;
	out->sp = out->regs.value[STACK_SP];
	out->bytes = NULL;
	out->len = 0;
	out->taken = true;
	/*
	 * The size of the stack area follows, then the area itself, and the number of bytes in it
	 * that were filled.
	 */
	if ((size_t)(end - at) < sizeof(bytes))
		return true;
	take(&at, &bytes, sizeof(bytes));
	if (!bytes || bytes > (size_t)(end - at) || (size_t)(end - at) - bytes < sizeof(given))
		return true;
	memcpy(&given, at + bytes, sizeof(given));
	if (given > bytes)
		given = bytes;
	out->bytes = given ? malloc(given) : NULL;
	if (out->bytes) {
		memcpy(out->bytes, at, given);
		out->len = given;
	}
	return true;
}

static size_t ring_bytes(void)
{
	return RING_PAGES * (size_t)sysconf(_SC_PAGESIZE);
}

static size_t map_bytes(void)
{
	return (RING_PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);
}

static int ring_open(struct ring *ring, uint32_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = SAMPLE_REGS,
		.sample_stack_user = SAMPLE_STACK_BYTES,
		.exclude_hv = 1,
		.wakeup_events = 1,
	};
	int err;

	ring->pages = MAP_FAILED;
	ring->fd =
		(int)syscall(SYS_perf_event_open, &attr, (pid_t)tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring->fd < 0 && (errno == EACCES || errno == EPERM)) {
		/*
		 * An unprivileged user may sample threads of its own processes, but not their time
		 * in the kernel.
		 */
		attr.exclude_kernel = 1;
		ring->fd = (int)syscall(SYS_perf_event_open, &attr, (pid_t)tid, -1, -1,
					PERF_FLAG_FD_CLOEXEC);
	}
	if (ring->fd < 0)
		return -errno;
	ring->pages = mmap(NULL, map_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (ring->pages != MAP_FAILED)
		return 0;
	err = -errno;
	close(ring->fd);
	ring->fd = -1;
	return err;
}

static void ring_close(struct ring *ring)
{
	if (ring->pages != MAP_FAILED)
		munmap(ring->pages, map_bytes());
	if (ring->fd >= 0)
		close(ring->fd);
	ring->pages = MAP_FAILED;
	ring->fd = -1;
}

static void copy_out(const uint8_t *data, uint64_t at, void *to, size_t size)
{
	size_t all = ring_bytes(), begin = at % all, first = all - begin;

	if (first > size)
		first = size;
	memcpy(to, data + begin, first);
	memcpy((uint8_t *)to + first, data, size - first);
}

/* Take the first sample from the ring. Other records are skipped. */
static bool ring_take(const struct ring *ring, struct sample *out)
{
	struct perf_event_mmap_page *page = ring->pages;
	const uint8_t *data = (const uint8_t *)page + sysconf(_SC_PAGESIZE);
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail;
	struct perf_event_header header;
	bool taken = false;
	void *record;

	while (!taken && head - tail >= sizeof(header) && head - tail <= ring_bytes()) {
		copy_out(data, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail)
			break;
		record = malloc(header.size);
		if (!record)
			break;
		copy_out(data, tail, record, header.size);
		taken = sample_parse(record, header.size, out);
		free(record);
		tail += header.size;
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
	return taken;
}

/* Collect available samples. Return how many are still missing. */
static uint32_t collect(struct sample *samples, struct ring *rings, struct pollfd *polls,
			uint32_t n)
{
	uint32_t i, left = 0;

	for (i = 0; i < n; i++) {
		if (rings[i].fd < 0)
			continue;
		if (ring_take(&rings[i], &samples[i]) || polls[i].revents & POLLHUP) {
			ring_close(&rings[i]);
			polls[i].fd = -1;
		} else {
			left++;
		}
	}
	return left;
}

int sample_take(struct sample *samples, uint32_t n, int wait_ms)
{
	struct ring *rings = calloc(n ? n : 1, sizeof(*rings));
	struct pollfd *polls = calloc(n ? n : 1, sizeof(*polls));
	uint64_t end = now_ms() + (uint64_t)wait_ms, now;
	uint32_t i, opened = 0;
	int taken = 0, err = 0;

	if (!rings || !polls) {
		free(rings);
		free(polls);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++) {
		rings[i].fd = -1;
		rings[i].pages = MAP_FAILED;
		polls[i].fd = -1;
		samples[i].taken = false;
		samples[i].bytes = NULL;
		if (i >= SAMPLE_MOST)
			continue;
		err = ring_open(&rings[i], samples[i].tid);
		if (err)
			continue;
		opened++;
		polls[i].fd = rings[i].fd;
		polls[i].events = POLLIN;
	}
	while (opened) {
		now = now_ms();
		if (poll(polls, n, (int)number_less(end, now)) < 0 && errno != EINTR)
			break;
		if (!collect(samples, rings, polls, n) || now >= end)
			break;
	}
	for (i = 0; i < n; i++) {
		ring_close(&rings[i]);
		taken += samples[i].taken;
	}
	free(rings);
	free(polls);
	/* ESRCH is not a failure: the thread of the last failed attempt has exited meanwhile. */
	return opened || !err || err == -ESRCH ? taken : err;
}

void sample_release(struct sample *samples, uint32_t n)
{
	while (n) {
		free(samples[--n].bytes);
		samples[n].bytes = NULL;
	}
}
