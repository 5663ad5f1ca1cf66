// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "ingest/feed_sums.h"

#include <errno.h>
#include <math.h>

static struct model_stat stat_of(const struct sbt_sum *s)
{
	struct model_stat out;
	long double squares = (long double)s->squares_high * 0x1p64L + (long double)s->squares;
	uint64_t n = sbt_sum_values(s);
	long double mean;
	uint32_t i;

	model_stat_init(&out);
	if (!n)
		return out;
	mean = (long double)s->sum / (long double)n;
	out.n = n;
	out.sum = s->sum;
	out.min = s->zero ? 0 : s->min;
	out.max = s->max;
	out.mean = (double)mean;
	out.m2 = (double)fmaxl(0, squares - mean * (long double)s->sum);
	for (i = 0; i < SBT_SUM_BUCKETS; i++)
		out.hist[i] = s->hist[i];
	out.hist[0] =
		s->zero < UINT32_MAX - out.hist[0] ? out.hist[0] + (uint32_t)s->zero : UINT32_MAX;
	return out;
}

/*
 * Return the call site. Use the mapping at the time of the call, because another library, or none,
 * may now be at the address.
 */
static uint32_t site_of(struct attach *attach, struct address_spaces *spaces,
			struct address_space *space, const struct sbt_sums *s)
{
	struct address_space_return place = { .ip = s->key.ip,
					      .ino = s->key.ino,
					      .offset = s->key.offset,
					      .dev = s->key.dev,
					      .unseen = s->key.dev == SBT_SUM_UNSEEN };

	if (place.unseen && attach_sums_mapped(attach, s))
		return address_space_site(spaces, space, s->key.ip);
	return address_space_return_site(spaces, space, &place);
}

int feed_sums(struct attach *attach, struct address_spaces *spaces, struct model *model,
	      const struct sbt_sums *s)
{
	struct address_space *space = address_space_get(spaces, s->key.tgid, s->key.inc);
	/* If the first episode was incomplete, the time before it belongs to no phase. */
	bool first = s->first_arrive_ns && sbt_sum_values(&s->wait) > s->work_n;
	struct model_summed m = {
		.tgid = s->key.tgid,
		.inc = s->key.inc,
		.tid = s->key.tid,
		.family = s->family,
		.kind = s->kind,
		.several = s->objects > 1,
		.object = s->object,
		.born_ns = s->key.born_ns,
		.first_arrive_ns = first ? s->first_arrive_ns : 0,
		.first_release_ns = s->first_release_ns,
		.first_team = s->team_max,
		.depart_ns = s->depart_ns,
		.crossings = sbt_sums_crossings(s),
		.abandoned = s->abandoned,
		.unmet = s->unmet,
		.incomplete = s->incomplete,
		.ambiguous = s->ambiguous,
		.idle_ns = s->wait.sum + s->release.sum,
		.idle_other_ns = s->idle_other_ns,
		.unknown_ns = s->unknown_ns,
		.work_ns = s->work_ns,
		.work_n = s->work_n,
		.thread_ns = s->thread_ns,
		.team_min = s->team_min,
		.team_max = s->team_max,
		.wait = stat_of(&s->wait),
		.release = stat_of(&s->release),
		.barrier = stat_of(&s->barrier),
		.phase = stat_of(&s->phase),
	};

	if (!space)
		return -ENOMEM;
	m.site = site_of(attach, spaces, space, s);
	space->handler_ns += s->handler_ns;
	space->spent += s->spent;
	return model_add_summed(model, &m);
}
