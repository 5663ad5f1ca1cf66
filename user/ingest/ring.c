// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "ingest/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "ingest/merge_order.h"

/* Complete records that were copied out of a ring. Positions continue as in the ring. */
struct saved {
	struct saved *next;
	uint64_t from, to; /* positions in the ring */
	size_t room;
	uint8_t bytes[] __attribute__((aligned(8)));
};

/*
 * Minimum size of the memory for copies, and the level at which ring_save() copies a ring: 1/8 of
 * its size.
 */
#define SAVED_BYTES   (256u << 10)
#define SAVE_FRACTION 8
#define SAVE_EACH     64 /* number of records between two checks whether a ring is half full */

/*
 * Maximum length of a record. A record that was returned is a copy, so it stays valid while rings
 * are copied.
 */
#define RECORD_MAX 16384u
_Static_assert(sizeof(struct sbt_sample) <= RECORD_MAX, "room for the longest record");
_Static_assert(sizeof(struct sbt_label) <= RECORD_MAX, "room for a label");
_Static_assert(sizeof(struct sbt_python_site) <= RECORD_MAX, "room for a site in Python");

/*
 * One ring as the kernel lays it out: a page with the consumer's position (which sbt-trace writes),
 * a page with the producer's position, and the data mapped twice in succession so that each record
 * is contiguous.
 */
struct ring {
	uint64_t *consumer;
	const uint64_t *producer;
	const uint8_t *data;
	size_t bytes;
	uint64_t pos; /* position of the next record to read */
	/* position up to which the kernel may write again, as stored in *consumer */
	uint64_t given;
	/*
	 * position up to which records were copied; the copies of unread records are in the list
	 * `first`
	 */
	uint64_t saved;
	struct saved *first, *last;
	uint64_t end; /* the producer's position at the last check */
	const void *head; /* the next record, or NULL */
	uint32_t head_len; /* length of the next record with its header, rounded up */
	uint64_t key_ns;
	/* position up to which ring_show_events() has shown events, ahead of the merge */
	uint64_t shown;
	/* position up to which ring_glance_events() has shown events, possibly beyond `shown` */
	uint64_t glanced;
};

struct ring_stream {
	struct stream stream;
	struct ring *rings; /* the last ring is the ring of events */
	uint32_t n;
	struct merge_order merge_order; /* merge order of the rings with a record in this pass */
	uint32_t taken; /* the ring of the record that was returned; n if none */
	uint64_t until_ns; /* this pass returns records up to this time */
	uint64_t crossings;
	uint32_t handed; /* number of returned records; wraps around */
	size_t saved_bytes; /* total bytes of unread copies of all rings */
	/* copies of the record that was returned, and of the event that is shown */
	uint8_t *record, *event;
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

	while (ring->first) {
		struct saved *next = ring->first->next;

		free(ring->first);
		ring->first = next;
	}
	if (!ring->consumer)
		return;
	munmap(ring->consumer, page);
	munmap((void *)(uintptr_t)ring->producer, page + 2 * ring->bytes);
}

/* Return the length word of a record, with its flags. */
static uint32_t record_word(const uint8_t *at)
{
	return __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE);
}

/* Return the size of a record in the ring, with its header. */
static uint32_t record_size(uint32_t word)
{
	return ((word & ~BPF_RINGBUF_DISCARD_BIT) + BPF_RINGBUF_HDR_SZ + 7) & ~7u;
}

/* Return the record at a position, from a copy or from the ring. */
static const uint8_t *ring_at(const struct ring *ring, uint64_t pos)
{
	const struct saved *s;

	for (s = pos < ring->saved ? ring->first : NULL; s; s = s->next)
		if (pos < s->to)
			return s->bytes + (pos - s->from);
	return ring->data + (pos & (ring->bytes - 1));
}

/* Return whether the record is a struct sbt_arrival. */
static bool is_arrival(const struct sbt_crossing *c)
{
	return c->arrive_ns & SBT_ARRIVAL_STAMP;
}

/*
 * Find the next complete record. A record that is still being written ends the pass over this ring.
 */
static void ring_peek(struct ring *ring, bool events)
{
	ring->head = NULL;
	while (ring->pos < (events ? ring->shown : ring->end)) {
		const uint8_t *at = ring_at(ring, ring->pos);
		uint32_t word = record_word(at);

		if (word & BPF_RINGBUF_BUSY_BIT)
			return;
		ring->head_len = record_size(word);
		if (!(word & BPF_RINGBUF_DISCARD_BIT)) {
			ring->head = at + BPF_RINGBUF_HDR_SZ;
			if (events) {
				ring->key_ns = ((const struct sbt_event *)ring->head)->t_ns;
			} else {
				const struct sbt_crossing *c = ring->head;

				ring->key_ns = is_arrival(c)  ? c->arrive_ns & ~SBT_ARRIVAL_STAMP
					       : c->depart_ns ? c->depart_ns
							      : c->arrive_ns;
				/* Prefetch the record, so that it is in the cache at its turn. */
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

/* --- order: with equal times an event is first, as a thread starts before it arrives ---------- */

static bool is_due(const struct ring_stream *s, uint32_t ring)
{
	return s->rings[ring].head && s->rings[ring].key_ns <= s->until_ns;
}

static void begin_pass(struct ring_stream *s, uint64_t until_ns)
{
	uint32_t i;

	s->until_ns = until_ns;
	merge_order_clear(&s->merge_order);
	for (i = 0; i < s->n; i++) {
		ring_refresh(&s->rings[i], i == s->n - 1);
		if (is_due(s, i))
			merge_order_add(&s->merge_order, i, s->rings[i].key_ns);
	}
	merge_order_begin(&s->merge_order);
}

/*
 * Give the space of the records that were read back to the kernel. The space of copied records has
 * already been given back.
 */
static void give_back(struct ring *ring)
{
	if (ring->pos <= ring->given)
		return;
	ring->given = ring->pos;
	__atomic_store_n(ring->consumer, ring->pos, __ATOMIC_RELEASE);
}

static void forget_saved(struct ring_stream *s, struct ring *ring)
{
	struct saved *first;

	while ((first = ring->first) && ring->pos >= first->to) {
		s->saved_bytes -= first->room;
		ring->first = first->next;
		if (!ring->first)
			ring->last = NULL;
		free(first);
	}
}

/*
 * Move past the record that was returned. Return the next record of its ring if it is a crossing,
 * or NULL.
 */
static const struct sbt_crossing *release(struct ring_stream *s)
{
	bool events = s->taken == s->n - 1;
	struct ring *ring;

	if (s->taken >= s->n)
		return NULL;
	ring = &s->rings[s->taken];
	ring->pos += ring->head_len;
	/* Return space rarely, because the producers share the cache line. */
	if (ring->pos > ring->given + ring->bytes / 16 || ring->pos >= ring->end)
		give_back(ring);
	if (ring->first)
		forget_saved(s, ring);
	ring_peek(ring, events);
	if (is_due(s, s->taken))
		merge_order_next(&s->merge_order, ring->key_ns);
	else
		merge_order_leave(&s->merge_order);
	s->taken = s->n;
	return events || (ring->head && is_arrival(ring->head)) ? NULL : ring->head;
}

/*
 * Return memory for copies with room for @len more bytes, which begin at position @from of the
 * ring. Return NULL if memory runs out, or if the copies would exceed @max_bytes.
 */
static struct saved *saved_room(struct ring_stream *s, struct ring *ring, uint64_t from, size_t len,
				size_t max_bytes)
{
	size_t room = len > SAVED_BYTES ? len : SAVED_BYTES;
	struct saved *last = ring->last;

	if (last && last->to == from && last->room - (last->to - last->from) >= len)
		return last;
	if (s->saved_bytes + room > max_bytes)
		return NULL;
	last = malloc(sizeof(*last) + room);
	if (!last)
		return NULL;
	last->next = NULL;
	last->from = last->to = from;
	last->room = room;
	if (ring->last)
		ring->last->next = last;
	else
		ring->first = last;
	ring->last = last;
	s->saved_bytes += room;
	return last;
}

/* Return the position after the last complete record between @from and @end. */
static uint64_t written_up_to(const struct ring *ring, uint64_t from, uint64_t end)
{
	while (from < end) {
		uint32_t word = record_word(ring->data + (from & (ring->bytes - 1)));

		if (word & BPF_RINGBUF_BUSY_BIT)
			break;
		from += record_size(word);
	}
	return from;
}

/* Copy a ring's complete records if it holds at least @least bytes. */
static void save(struct ring_stream *s, struct ring *ring, size_t least, size_t max_bytes)
{
	uint64_t from = ring->pos > ring->saved ? ring->pos : ring->saved;
	uint64_t end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
	struct saved *to;
	size_t len;

	if (end - from < least)
		return;
	len = written_up_to(ring, from, end) - from;
	to = len ? saved_room(s, ring, from, len, max_bytes) : NULL;
	if (!to)
		return;
	memcpy(to->bytes + (to->to - to->from), ring->data + (from & (ring->bytes - 1)), len);
	to->to += len;
	ring->saved = ring->given = to->to;
	__atomic_store_n(ring->consumer, ring->given, __ATOMIC_RELEASE);
	/* The next record has moved into the copy. */
	if (ring->head)
		ring->head = ring_at(ring, ring->pos) + BPF_RINGBUF_HDR_SZ;
}

/* Copy rings that are half full, so that none overflows while records are handled too slowly. */
static void save_full(struct ring_stream *s)
{
	array_for_each (ring, s->rings, s->n)
		save(s, ring, ring->bytes / 2, RING_SAVED_BYTES);
}

/* Copy a record to @to, where it stays valid until the next record. */
static const void *keep_record(uint8_t *to, const void *record, uint32_t len)
{
	/* No record exceeds this length. */
	memcpy(to, record, len < RECORD_MAX ? len : RECORD_MAX);
	return to;
}

/* Copy an arrival. The members that the record lacks are 0. */
static const struct sbt_arrival_full *keep_arrival(struct ring_stream *s, const struct ring *ring)
{
	size_t len = ring->head_len - BPF_RINGBUF_HDR_SZ;

	memset(s->record, 0, sizeof(struct sbt_arrival_full));
	return keep_record(s->record, ring->head, (uint32_t)len);
}

static int ring_next(struct stream *stream, uint64_t until_ns, struct stream_record *out)
{
	struct ring_stream *s = (struct ring_stream *)stream;
	const struct ring *ring;
	uint32_t i, last = s->taken;

	if (!(++s->handed % SAVE_EACH))
		save_full(s);
	out->soon = release(s);
	if (until_ns != s->until_ns)
		begin_pass(s, until_ns);
	if (!merge_order_first(&s->merge_order, &s->taken)) {
		s->taken = s->n;
		for (i = 0; i < s->n; i++)
			give_back(&s->rings[i]);
		s->until_ns = 0;
		return 0;
	}
	ring = &s->rings[s->taken];
	out->key_ns = ring->key_ns;
	out->crossing = NULL;
	out->event = NULL;
	out->arrival = NULL;
	/* The next record of this ring is the record that is being returned. */
	if (s->taken == last)
		out->soon = NULL;
	if (s->taken == s->n - 1) {
		out->event =
			keep_record(s->record, ring->head, ring->head_len - BPF_RINGBUF_HDR_SZ);
	} else if (is_arrival(ring->head)) {
		out->arrival = keep_arrival(s, ring);
		s->crossings += out->arrival->head.type == SBT_REC_ARRIVAL;
	} else {
		out->crossing =
			keep_record(s->record, ring->head, ring->head_len - BPF_RINGBUF_HDR_SZ);
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
	free(s->record);
	free(s->event);
	merge_order_free(&s->merge_order);
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
	s->record = malloc(RECORD_MAX);
	s->event = malloc(RECORD_MAX);
	if (!s->rings || !s->record || !s->event || merge_order_init(&s->merge_order, s->n))
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

/*
 * Return the next complete event at *pos and its length, and move *pos past it. Return NULL if
 * there is none.
 */
static const uint8_t *next_event(const struct ring *ring, uint64_t *pos, uint64_t end,
				 uint32_t *len)
{
	while (*pos < end) {
		const uint8_t *at = ring_at(ring, *pos);

		*len = record_word(at);
		if (*len & BPF_RINGBUF_BUSY_BIT)
			return NULL;
		*pos += record_size(*len);
		if (!(*len & BPF_RINGBUF_DISCARD_BIT))
			return at + BPF_RINGBUF_HDR_SZ;
	}
	return NULL;
}

void ring_show_events(struct stream *stream, void (*each)(void *ctx, const struct sbt_event *event),
		      void *ctx)
{
	struct ring_stream *s = (struct ring_stream *)stream;
	struct ring *ring = &s->rings[s->n - 1];
	uint64_t end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
	const uint8_t *event;
	uint32_t len;

	while ((event = next_event(ring, &ring->shown, end, &len)))
		each(ctx, keep_record(s->event, event, len));
}

void ring_glance_events(struct stream *stream,
			void (*each)(void *ctx, const struct sbt_event *event), void *ctx)
{
	struct ring_stream *s = (struct ring_stream *)stream;
	struct ring *ring = &s->rings[s->n - 1];
	uint64_t end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
	const uint8_t *event;
	uint32_t len;

	if (ring->glanced < ring->shown)
		ring->glanced = ring->shown;
	while ((event = next_event(ring, &ring->glanced, end, &len)))
		each(ctx, (const struct sbt_event *)(const void *)event);
}

void ring_save(struct stream *stream, size_t max_bytes)
{
	struct ring_stream *s = (struct ring_stream *)stream;

	array_for_each (ring, s->rings, s->n)
		save(s, ring, ring->bytes / SAVE_FRACTION, max_bytes);
}

uint64_t ring_read(const struct stream *stream)
{
	const struct ring_stream *s = (const struct ring_stream *)stream;
	uint64_t bytes = 0;

	array_for_each (ring, s->rings, s->n)
		bytes += ring->pos;
	return bytes;
}

uint64_t ring_consumed(const struct stream *stream)
{
	return ((const struct ring_stream *)stream)->crossings;
}
