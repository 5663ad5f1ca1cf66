// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "stream/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * One ring as the kernel lays it out: a page with the consumer's position (ours to write), a page with the
 * producer's, the data twice in a row so that a record is never torn.
 */
struct ring {
	uint64_t *consumer;
	const uint64_t *producer;
	const uint8_t *data;
	size_t bytes;
	uint64_t pos; /* where we read; published as the consumer's position by release() */
	uint64_t end; /* the producer's position when last looked at */
	const void *head; /* the next record, or NULL */
	uint32_t head_len; /* with its header, rounded */
	uint64_t key_ns;
	uint64_t shown; /* events: how far they were shown ahead of their turn */
};

/* A ring with a record of this pass: with its key, for rings are far from one another in memory. */
struct due {
	uint64_t key_ns;
	uint32_t ring;
};

struct ring_stream {
	struct stream stream;
	struct ring *rings; /* the last is the events' */
	uint32_t n;
	struct due *heap; /* the earliest first; binary */
	uint32_t nheap;
	uint32_t
		taken; /* whose head was handed out and must be released, on top of the heap; n: nobody's */
	uint64_t until_ns; /* of the pass under way */
	uint64_t crossings;
};

static int ring_map(struct ring *ring, int fd, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p;

	p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	ring->consumer = p;
	p = mmap(NULL, page + 2 * bytes, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (p == MAP_FAILED) {
		munmap(ring->consumer, page);
		ring->consumer = NULL;
		return -errno;
	}
	ring->producer = p;
	ring->data = (const uint8_t *)p + page;
	ring->bytes = bytes;
	return 0;
}

static void ring_unmap(struct ring *ring)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!ring->consumer)
		return;
	munmap(ring->consumer, page);
	munmap((void *)(uintptr_t)ring->producer, page + 2 * ring->bytes);
}

/* Finds the next record that is written; one still being written ends the pass over this ring. */
static void ring_peek(struct ring *ring, bool events)
{
	ring->head = NULL;
	while (ring->pos < (events ? ring->shown : ring->end)) {
		const uint8_t *at = ring->data + (ring->pos & (ring->bytes - 1));
		uint32_t len =
			__atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE);

		if (len & BPF_RINGBUF_BUSY_BIT)
			return;
		ring->head_len = ((len & ~BPF_RINGBUF_DISCARD_BIT) + BPF_RINGBUF_HDR_SZ + 7) & ~7u;
		if (!(len & BPF_RINGBUF_DISCARD_BIT)) {
			ring->head = at + BPF_RINGBUF_HDR_SZ;
			if (events) {
				ring->key_ns = ((const struct sbt_event *)ring->head)->t_ns;
			} else {
				const struct sbt_crossing *c = ring->head;

				ring->key_ns = c->depart_ns ? c->depart_ns : c->arrive_ns;
				/* By the time that it is its turn. */
				__builtin_prefetch(at + ring->head_len);
				__builtin_prefetch(at + ring->head_len + 64);
			}
			return;
		}
		ring->pos += ring->head_len;
	}
}

static void ring_refresh(struct ring *ring, bool events)
{
	ring->end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
	if (!ring->head)
		ring_peek(ring, events);
}

/* --- the order of them: with many CPUs to look at each ring for each record would cost more than all the rest -- */

/* On a tie the later ring goes first, so the event: a thread is born before it arrives. */
static bool goes_before(const struct due *a, const struct due *b)
{
	return a->key_ns < b->key_ns || (a->key_ns == b->key_ns && a->ring > b->ring);
}

static void sift_down(struct ring_stream *s, uint32_t at)
{
	struct due due = s->heap[at];
	uint32_t child;

	for (; (child = 2 * at + 1) < s->nheap; at = child) {
		if (child + 1 < s->nheap && goes_before(&s->heap[child + 1], &s->heap[child]))
			child++;
		if (!goes_before(&s->heap[child], &due))
			break;
		s->heap[at] = s->heap[child];
	}
	s->heap[at] = due;
}

static bool is_due(const struct ring_stream *s, uint32_t ring)
{
	return s->rings[ring].head && s->rings[ring].key_ns <= s->until_ns;
}

static void begin_pass(struct ring_stream *s, uint64_t until_ns)
{
	uint32_t i;

	s->until_ns = until_ns;
	s->nheap = 0;
	for (i = 0; i < s->n; i++) {
		ring_refresh(&s->rings[i], i == s->n - 1);
		if (is_due(s, i))
			s->heap[s->nheap++] = (struct due){ s->rings[i].key_ns, i };
	}
	for (i = s->nheap / 2; i-- > 0;)
		sift_down(s, i);
}

static void release(struct ring_stream *s)
{
	struct ring *ring;

	if (s->taken >= s->n)
		return;
	ring = &s->rings[s->taken];
	ring->pos += ring->head_len;
	/* Given back now and then, not each time: the line is shared with the producers. */
	if (ring->pos - *ring->consumer > ring->bytes / 16 || ring->pos >= ring->end)
		__atomic_store_n(ring->consumer, ring->pos, __ATOMIC_RELEASE);
	ring_peek(ring, s->taken == s->n - 1);
	if (is_due(s, s->taken))
		s->heap[0].key_ns = ring->key_ns;
	else
		s->heap[0] = s->heap[--s->nheap];
	if (s->nheap)
		sift_down(s, 0);
	s->taken = s->n;
}

static int ring_next(struct stream *stream, uint64_t until_ns, struct stream_record *out)
{
	struct ring_stream *s = (struct ring_stream *)stream;
	uint32_t i, best;

	release(s);
	if (until_ns != s->until_ns)
		begin_pass(s, until_ns);
	if (!s->nheap) {
		for (i = 0; i < s->n; i++)
			__atomic_store_n(s->rings[i].consumer, s->rings[i].pos, __ATOMIC_RELEASE);
		s->until_ns = 0;
		return 0;
	}
	best = s->taken = s->heap[0].ring;
	out->key_ns = s->rings[best].key_ns;
	out->crossing = NULL;
	out->event = NULL;
	if (best == s->n - 1) {
		out->event = s->rings[best].head;
	} else {
		out->crossing = s->rings[best].head;
		s->crossings += out->crossing->type == SBT_REC_CROSSING ||
				out->crossing->type == SBT_REC_RESUME;
	}
	return 1;
}

static void ring_free(struct stream *stream)
{
	struct ring_stream *s = (struct ring_stream *)stream;
	uint32_t i;

	for (i = 0; s->rings && i < s->n; i++)
		ring_unmap(&s->rings[i]);
	free(s->rings);
	free(s->heap);
	free(s);
}

static const struct stream_ops ring_ops = { .next = ring_next, .free = ring_free };

int ring_open(const int *fds, uint32_t n, size_t bytes, int events_fd, size_t events_bytes,
	      struct stream **out)
{
	struct ring_stream *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;
	uint32_t i;

	if (!s)
		return -ENOMEM;
	s->stream.ops = &ring_ops;
	s->n = n + 1;
	s->taken = s->n;
	s->rings = calloc(s->n, sizeof(*s->rings));
	s->heap = calloc(s->n, sizeof(*s->heap));
	if (!s->rings || !s->heap)
		goto fail;
	for (i = 0; i < n; i++) {
		err = ring_map(&s->rings[i], fds[i], bytes);
		if (err)
			goto fail;
	}
	err = ring_map(&s->rings[n], events_fd, events_bytes);
	if (err)
		goto fail;
	*out = &s->stream;
	return 0;
fail:
	ring_free(&s->stream);
	return err;
}

void ring_show_events(struct stream *stream, void (*each)(void *ctx, const struct sbt_event *event),
		      void *ctx)
{
	struct ring_stream *s = (struct ring_stream *)stream;
	struct ring *ring = &s->rings[s->n - 1];
	uint64_t end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);

	while (ring->shown < end) {
		const uint8_t *at = ring->data + (ring->shown & (ring->bytes - 1));
		uint32_t len =
			__atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE);

		if (len & BPF_RINGBUF_BUSY_BIT)
			return;
		ring->shown += ((len & ~BPF_RINGBUF_DISCARD_BIT) + BPF_RINGBUF_HDR_SZ + 7) & ~7u;
		if (!(len & BPF_RINGBUF_DISCARD_BIT))
			each(ctx,
			     (const struct sbt_event *)(const void *)(at + BPF_RINGBUF_HDR_SZ));
	}
}

uint64_t ring_consumed(const struct stream *stream)
{
	return ((const struct ring_stream *)stream)->crossings;
}
