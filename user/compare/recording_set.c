// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "compare/recording_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"

int recording_set_load(char *const *paths, uint32_t n, struct recording_set *out)
{
	memset(out, 0, sizeof(*out));
	out->all = calloc(n + 1, sizeof(*out->all));
	out->reports = calloc(n + 1, sizeof(void *));
	out->batches = calloc(n + 1, sizeof(void *));
	out->inputs = calloc(n + 1, sizeof(*out->inputs));
	if (!out->all || !out->reports || !out->batches || !out->inputs) {
		msg_error("%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	for (; out->n < n; out->n++) {
		struct compare_recording *r = &out->all[out->n];
		int err = compare_recording_load(paths[out->n], r);

		if (err)
			return err;
		out->reports[out->n] = &r->report;
		out->batches[out->n] = &r->batches;
		out->inputs[out->n] = (struct compare_input){
			.file = paths[out->n],
			.complete = r->report.lossless,
			.detached = r->report.ndetached > 0,
			.detached_parts = r->report.ndetached_parts > 0,
		};
	}
	return 0;
}

void recording_set_free(struct recording_set *r)
{
	while (r->n)
		compare_recording_free(&r->all[--r->n]);
	free(r->all);
	free(r->reports);
	free(r->batches);
	free(r->inputs);
	memset(r, 0, sizeof(*r));
}
