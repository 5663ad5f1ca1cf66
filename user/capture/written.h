/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Watch files with probes for writes. After a write, the bytes under a probe are different code,
 * and a process that runs them may crash because of the probe.
 */
#ifndef CAPTURE_WRITTEN_H
#define CAPTURE_WRITTEN_H

#include "base/hash.h"
#include "sites/module.h"

struct written {
	int fd; /* inotify descriptor; -1: nothing is watched */
	struct hash files; /* watch descriptor -> module */
	struct hash watches; /* module -> watch descriptor */
};

void written_init(struct written *written);
void written_free(struct written *written);
/* Report the first write to the file from now on, if it can be watched. */
void written_watch(struct written *written, struct module *module);
void written_forget(struct written *written, const struct module *module);
/* Return the next file that was written to, or NULL. The file is not watched any more. */
struct module *written_next(struct written *written);

#endif /* CAPTURE_WRITTEN_H */
