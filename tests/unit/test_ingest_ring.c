// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check rings in memory files with the kernel's layout: the order of records, and the space
 * returned to the kernel.
 */
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test_check.h"
#include "ingest/ring.h"

#define PAGE  ((size_t)sysconf(_SC_PAGESIZE))
#define BYTES 4096u /* size of a ring in bytes; it wraps around after a few dozen records */
#define RINGS 5 /* number of rings; the last ring is for events */

struct rings {
	struct {
		int fd;
		uint8_t *map; /* the consumer's page, the producer's page, and the data twice */
		uint64_t pos;
	} ring[RINGS];
	struct stream *stream;
};

static struct rings set_up(void)
{
	size_t size = 2 * PAGE + 2 * (size_t)BYTES;
	int fds[RINGS];
	struct rings r = { 0 };

	for (int i = 0; i < RINGS; i++) {
		fds[i] = r.ring[i].fd = memfd_create("ring", MFD_CLOEXEC);
		assert_true(fds[i] >= 0);
		assert_int_equal(ftruncate(fds[i], (off_t)size), 0);
		r.ring[i].map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fds[i], 0);
		assert_true(r.ring[i].map != MAP_FAILED);
	}
	assert_int_equal(ring_open(fds, RINGS - 1, BYTES, fds[RINGS - 1], BYTES, &r.stream), 0);
	return r;
}

static void tear_down(struct rings *r)
{
	stream_free(r->stream);
	for (int i = 0; i < RINGS; i++) {
		munmap(r->ring[i].map, 2 * PAGE + 2 * (size_t)BYTES);
		close(r->ring[i].fd);
	}
}

/* Put a record into a ring. @flags are the kernel's flags in the length. */
static void put(struct rings *r, int ring, const void *record, uint32_t size, uint32_t flags)
{
	uint8_t *data = r->ring[ring].map + 2 * PAGE;
	uint32_t header[2] = { size | flags, 0 };
	uint8_t bytes[512] = { 0 };
	uint32_t i, whole = (size + BPF_RINGBUF_HDR_SZ + 7) & ~7u;

	memcpy(bytes, header, sizeof(header));
	memcpy(bytes + sizeof(header), record, size);
	for (i = 0; i < whole; i++) {
		size_t at = (r->ring[ring].pos + i) & (BYTES - 1);

		data[at] = data[BYTES + at] = bytes[i];
	}
	r->ring[ring].pos += whole;
	__atomic_store_n((uint64_t *)(void *)(r->ring[ring].map + PAGE), r->ring[ring].pos,
			 __ATOMIC_RELEASE);
}

static void put_crossing(struct rings *r, int ring, uint32_t tid, uint64_t depart, uint32_t flags)
{
	struct sbt_crossing c = {
		.type = SBT_REC_CROSSING, .tid = tid, .arrive_ns = 1, .depart_ns = depart
	};

	put(r, ring, &c, sizeof(c), flags);
}

static void put_event(struct rings *r, uint32_t tid, uint64_t t_ns)
{
	struct sbt_event e = { .type = SBT_REC_THREAD, .tid = tid, .t_ns = t_ns };

	put(r, RINGS - 1, &e, sizeof(e), 0);
}

static uint64_t given_back(const struct rings *r, int ring)
{
	return __atomic_load_n((const uint64_t *)(const void *)r->ring[ring].map, __ATOMIC_ACQUIRE);
}

static void see(void *ctx, const struct sbt_event *event)
{
	++*(unsigned int *)ctx;
}

static void expect_crossing(struct rings *r, uint64_t until, uint32_t tid)
{
	struct stream_record record;

	assert_int_equal(stream_next(r->stream, until, &record), 1);
	assert_non_null(record.crossing);
	assert_fields(&record, IS(event, NULL), IS(crossing->tid, tid),
		      IS(key_ns, record.crossing->depart_ns));
}

static void expect_nothing(struct rings *r, uint64_t until)
{
	struct stream_record record;

	assert_int_equal(stream_next(r->stream, until, &record), 0);
}

/*
 * Records are ordered by time. In a tie the event comes first, then the record of the last ring. No
 * record later than the requested time is returned.
 */
static void test_order(void **state)
{
	struct stream_record record;
	unsigned int events = 0;
	struct rings r CLEANUP(tear_down) = set_up();

	put_crossing(&r, 0, 1, 100, 0);
	put_crossing(&r, 0, 2, 300, 0);
	put_crossing(&r, 2, 3, 100, 0);
	put_crossing(&r, 3, 4, 250, 0);
	put_crossing(&r, 3, 5, 301, 0);
	put_event(&r, 6, 250);
	/* Only events that ring_show_events() has shown are returned. */
	ring_show_events(r.stream, see, &events);
	assert_int_equal(events, 1);
	put_event(&r, 7, 251);
	expect_crossing(&r, 300, 3);
	expect_crossing(&r, 300, 1);
	assert_int_equal(stream_next(r.stream, 300, &record), 1);
	assert_non_null(record.event);
	assert_int_equal(record.event->tid, 6);
	expect_crossing(&r, 300, 4);
	expect_crossing(&r, 300, 2);
	expect_nothing(&r, 300);
	expect_crossing(&r, 400, 5);
	expect_nothing(&r, 400);
	assert_int_equal(ring_consumed(r.stream), 5);
}

/* Discarded records are skipped. An unfinished record blocks its ring for now. */
static void test_unfinished(void **state)
{
	uint32_t *len;
	struct rings r CLEANUP(tear_down) = set_up();

	put_crossing(&r, 1, 1, 10, BPF_RINGBUF_DISCARD_BIT);
	put_crossing(&r, 1, 2, 20, 0);
	len = (uint32_t *)(void *)(r.ring[1].map + 2 * PAGE + r.ring[1].pos);
	put_crossing(&r, 1, 3, 30, BPF_RINGBUF_BUSY_BIT);
	put_crossing(&r, 1, 4, 40, 0);
	put_crossing(&r, 0, 5, 50, 0);
	expect_crossing(&r, 100, 2);
	expect_crossing(&r, 100, 5);
	expect_nothing(&r, 100);
	assert_int_equal(given_back(&r, 1), (uint8_t *)len - (r.ring[1].map + 2 * PAGE));
	__atomic_store_n(len, (uint32_t)sizeof(struct sbt_crossing), __ATOMIC_RELEASE);
	expect_crossing(&r, 200, 3);
	expect_crossing(&r, 200, 4);
	expect_nothing(&r, 200);
	assert_int_equal(given_back(&r, 1), r.ring[1].pos);
}

/*
 * The rings wrap around many times. Records of each ring are in order, and so are the records of
 * all rings together. If a record is announced as the next of its ring, it is indeed the next.
 */
static void test_around(void **state)
{
	uint64_t random = 88172645463325252ull, t = 1000, last = 0, fed = 0, seen = 0, reported = 0;
	uint64_t soon[RINGS] = { 0 }; /* departure of the announced record, ns */
	struct stream_record record;
	uint32_t tid;
	struct rings r CLEANUP(tear_down) = set_up();

	for (int round = 0; round < 300; round++) {
		for (int i = 0; i < RINGS - 1; i++) {
			uint64_t at = t;
			unsigned int n;

			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			for (n = 0; n < (random >> (8 * i)) % 40; n++) {
				at += (random >> (5 * i + n % 7)) % 4;
				put_crossing(&r, i, (uint32_t)i, at, 0);
				fed++;
			}
		}
		t += 200;
		while (stream_next(r.stream, t, &record) == 1) {
			assert_true(record.key_ns >= last);
			last = record.key_ns;
			tid = record.crossing->tid;
			/* The reported record is the next record of its ring. */
			assert_true(!soon[tid] || soon[tid] == record.key_ns);
			soon[tid] = 0;
			if (record.soon) {
				assert_int_equal(soon[record.soon->tid], 0);
				soon[record.soon->tid] = record.soon->depart_ns;
				reported++;
			}
			seen++;
		}
		for (int i = 0; i < RINGS - 1; i++) {
			assert_int_equal(soon[i], 0);
			assert_int_equal(given_back(&r, i), r.ring[i].pos);
		}
	}
	assert_true(fed > 10000);
	assert_int_equal(seen, fed);
	assert_true(reported > fed / 2);
	assert_int_equal(ring_consumed(r.stream), fed);
}

/*
 * Records that arrive while a record is being handled are saved. All are returned in order, and the
 * record that is being handled stays valid.
 */
static void test_saved(void **state)
{
	struct stream_record record;
	unsigned int events = 0;
	uint64_t t = 1000;
	uint32_t tid = 1, next = 1;
	struct rings r CLEANUP(tear_down) = set_up();

	put_crossing(&r, 0, tid++, t++, 0);
	put_event(&r, 0, t++);
	ring_show_events(r.stream, see, &events);
	for (int turn = 0; turn < 40; turn++) {
		do
			assert_int_equal(stream_next(r.stream, 1000000 + (uint64_t)turn, &record),
					 1);
		while (record.event);
		assert_int_equal(record.crossing->tid, next++);
		/*
		 * In each iteration, fill the space of several rings. This overwrites the returned
		 * record in the ring.
		 */
		for (uint32_t i = 0; i < 20; i++) {
			put_crossing(&r, (int)(i % 2), tid++, t++,
				     i == 7 ? BPF_RINGBUF_DISCARD_BIT : 0);
			tid -= i == 7;
			if (i % 5 == 0)
				put_event(&r, 0, t++);
			ring_save(r.stream, 1 << 20);
			assert_true(r.ring[i % 2].pos - given_back(&r, (int)(i % 2)) <= BYTES);
		}
		assert_int_equal(record.crossing->tid, next - 1);
		ring_show_events(r.stream, see, &events);
	}
	while (stream_next(r.stream, UINT64_MAX - 2, &record) == 1)
		if (record.crossing)
			assert_int_equal(record.crossing->tid, next++);
	assert_int_equal(next, tid);
	assert_int_equal(events, 1 + 40 * 4);
	for (uint32_t i = 0; i < RINGS; i++)
		assert_int_equal(given_back(&r, (int)i), r.ring[i].pos);
}

/*
 * Beyond the limit of saved records, and behind an unfinished record, no space is returned to the
 * kernel.
 */
static void test_saved_limit(void **state)
{
	struct stream_record record;
	uint64_t before;
	struct rings r CLEANUP(tear_down) = set_up();

	for (uint32_t i = 0; i < 8; i++)
		put_crossing(&r, 0, i, 100 + i, 0);
	ring_save(r.stream, 1000);
	assert_int_equal(given_back(&r, 0), 0);
	put_crossing(&r, 1, 100, 200, 0);
	before = r.ring[1].pos;
	for (uint32_t i = 0; i < 8; i++)
		put_crossing(&r, 1, 101, 201, i ? 0 : BPF_RINGBUF_BUSY_BIT);
	ring_save(r.stream, 1 << 20);
	assert_int_equal(given_back(&r, 0), r.ring[0].pos);
	assert_int_equal(given_back(&r, 1), before);
	for (uint32_t i = 0; i < 8; i++)
		expect_crossing(&r, 1000, i);
	expect_crossing(&r, 1000, 100);
	assert_int_equal(stream_next(r.stream, 1000, &record), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_saved),  cmocka_unit_test(test_saved_limit),
		cmocka_unit_test(test_order),  cmocka_unit_test(test_unfinished),
		cmocka_unit_test(test_around),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
