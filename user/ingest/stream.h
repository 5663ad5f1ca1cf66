/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Records in order of time. A source merges crossings, ordered by departure, with events. A source
 * returns records only up to a time before which no further record can be written.
 */
#ifndef INGEST_STREAM_H
#define INGEST_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "sbt/record.h"

struct stream_record {
	/* sort key: the departure, the arrival if abandoned, or the time of the event */
	uint64_t key_ns;
	/* crossing, event or arrival; the other pointers are NULL. Valid until the next call */
	const struct sbt_crossing *crossing;
	const struct sbt_event *event;
	/* an arrival without a departure: only for user/ingest/departures.c */
	const struct sbt_arrival_full *arrival;
	/* a later crossing, for prefetching; NULL if unknown. Valid until the next call */
	const struct sbt_crossing *soon;
};

struct stream;

struct stream_ops {
	/* Return 1 and *out, or 0 if there are no more records before @until_ns, or -errno. */
	int (*next)(struct stream *stream, uint64_t until_ns, struct stream_record *out);
	void (*free)(struct stream *stream);
};

struct stream {
	const struct stream_ops *ops;
};

static inline int stream_next(struct stream *s, uint64_t until_ns, struct stream_record *out)
{
	return s->ops->next(s, until_ns, out);
}

static inline void stream_free(struct stream *s)
{
	if (s)
		s->ops->free(s);
}

#endif /* INGEST_STREAM_H */
