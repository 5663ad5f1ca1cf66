/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The live source of records: one BPF ring buffer per CPU and one for events, merged by time. */
#ifndef INGEST_RING_H
#define INGEST_RING_H

#include <stddef.h>
#include <stdint.h>

#include "ingest/stream.h"

/*
 * Maximum delay of a record, in ns. Its BPF program reads the time and may lose the CPU before it
 * writes the record. Readers ask for records up to the current time minus this delay.
 */
#define RING_SLACK_NS 2000000u

/*
 * Map the @n rings of crossings (@fds, @bytes each) and the ring of events. The caller owns the
 * descriptors. Return 0 and *out, or -errno.
 */
int ring_open(const int *fds, uint32_t n, size_t bytes, int events_fd, size_t events_bytes,
	      struct stream **out);

/*
 * Call @each for each event that was not shown yet, in the ring's order, before its turn in the
 * merge. stream_next() returns only events that have been shown. @each may call stream_next().
 */
void ring_show_events(struct stream *stream, void (*each)(void *ctx, const struct sbt_event *event),
		      void *ctx);

/*
 * Call @each once for each event that was not shown yet, while other events are handled. Use this
 * to read facts that are only available while a process exists. @each must not call functions of
 * the stream.
 */
void ring_glance_events(struct stream *stream,
			void (*each)(void *ctx, const struct sbt_event *event), void *ctx);

/*
 * Maximum number of bytes that stream_next() itself copies out of half-full rings: five seconds at
 * 200,000 records per second.
 */
#define RING_SAVED_BYTES (256u << 20)

/*
 * Make room in rings that fill up while their reader waits: copy their complete records, up to
 * @max_bytes for all rings, and return the space to the kernel. stream_next() and
 * ring_show_events() return the copies in order. Records that they have returned stay valid. Beyond
 * @max_bytes the rings fill up, and the kernel side counts lost records.
 */
void ring_save(struct stream *stream, size_t max_bytes);
/* Return the number of bytes of all rings that were read so far. */
uint64_t ring_read(const struct stream *stream);
/* Return the number of crossings that were returned so far. */
uint64_t ring_consumed(const struct stream *stream);

#endif /* INGEST_RING_H */
