/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The live source: BPF ring buffers, one a CPU and one of events, merged by time. */
#ifndef INGEST_RING_H
#define INGEST_RING_H

#include <stddef.h>
#include <stdint.h>

#include "ingest/stream.h"

/*
 * How far behind the clock a record may come: its program takes the stamp, may lose the CPU, and only then
 * writes. Readers ask for records up to now minus this.
 */
#define RING_SLACK_NS 2000000u

/*
 * Maps the rings of crossings (@fds, @n of them, @bytes each) and of events. The fds stay the caller's.
 * Returns 0 and *out, or -errno.
 */
int ring_open(const int *fds, uint32_t n, size_t bytes, int events_fd, size_t events_bytes,
	      struct stream **out);

/*
 * Shows every event that was not shown yet, at once and in the order of the ring, ahead of its turn in the
 * merge. stream_next() hands out only events that have been shown. @each may call stream_next().
 */
void ring_show_events(struct stream *stream, void (*each)(void *ctx, const struct sbt_event *event),
		      void *ctx);

/*
 * Calls @each for every event that was not shown yet, once, while others are being acted on: for what must be asked of a process while it
 * is there. @each may call nothing of the stream.
 */
void ring_glance_events(struct stream *stream,
			void (*each)(void *ctx, const struct sbt_event *event), void *ctx);

/* What stream_next() saves by itself of rings that are half full: five seconds of 200,000 records a second. */
#define RING_SAVED_BYTES (256u << 20)

/*
 * Makes room in rings that fill up while their reader has to wait for something: copies what is written in them, up to
 * @max_bytes of all rings, and gives it back to the kernel. stream_next() and ring_show_events() hand it out in its turn, as if
 * nothing had happened; what they have handed out stays valid. Beyond @max_bytes rings fill up, and the kernel counts what is lost.
 */
void ring_save(struct stream *stream, size_t max_bytes);
/* Bytes that have been read of all rings so far. */
uint64_t ring_read(const struct stream *stream);
/* Crossings handed out so far. */
uint64_t ring_consumed(const struct stream *stream);

#endif /* INGEST_RING_H */
