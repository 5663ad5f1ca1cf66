/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Records in order. A source hands out crossings by departure and events by time, merged, as far as
 * it is sure that nothing earlier is still to come. Live rings today; files will look the same.
 */
#ifndef INGEST_STREAM_H
#define INGEST_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "sbt/record.h"

struct stream_record {
	uint64_t
		key_ns; /* what orders it: departure; arrival if it was abandoned; time of an event */
	const struct sbt_crossing *crossing; /* one of the two; valid until the next call */
	const struct sbt_event *event;
	const struct sbt_crossing
		*soon; /* one that is to come, likewise valid; NULL: none is known */
};

struct stream;

struct stream_ops {
	/* 1 and *out; 0 when nothing before @until_ns is left; -errno. */
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
