/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Files with probes that are written to: what lies where a probe was then is something else, and who runs it may die of the probe. */
#ifndef CAPTURE_WRITTEN_H
#define CAPTURE_WRITTEN_H

#include "base/hash.h"
#include "sites/module.h"

struct written {
	int fd; /* -1: nothing is watched */
	struct hash files; /* number of a watch -> module */
	struct hash watches; /* module -> number of its watch */
};

void written_init(struct written *written);
void written_free(struct written *written);
/* From now on the first write to the file is told. Where it cannot be, it is not. */
void written_watch(struct written *written, struct module *module);
void written_forget(struct written *written, const struct module *module);
/* The next file that was written to, or NULL. It is not watched any more. */
struct module *written_next(struct written *written);

#endif /* CMD_WRITTEN_H */
