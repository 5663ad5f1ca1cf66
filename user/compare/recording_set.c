// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "compare/recording_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"

int recording_set_load(char *const *paths, uint32_t n, struct recording_set *out)
{
	int err = 0;

	memset(out, 0, sizeof(*out));
	out->all = calloc(n + 1, sizeof(*out->all));
	out->reports = calloc(n + 1, sizeof(void *));
	out->batches = calloc(n + 1, sizeof(void *));
	out->inputs = calloc(n + 1, sizeof(*out->inputs));
	if (!out->all || !out->reports || !out->batches || !out->inputs) {
		msg_error("%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	while (!err && out->n < n) {
		err = compare_recording_load(paths[out->n], &out->all[out->n]);
		if (err)
			break;
		out->reports[out->n] = &out->all[out->n].report;
		out->batches[out->n] = &out->all[out->n].batches;
		out->inputs[out->n].file = paths[out->n];
		out->inputs[out->n].complete = out->all[out->n].report.lossless;
		out->inputs[out->n].detached = out->all[out->n].report.ndetached > 0;
		out->inputs[out->n].detached_parts = out->all[out->n].report.ndetached_parts > 0;
		out->n++;
	}
	return err;
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
