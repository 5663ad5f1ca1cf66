/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* How the programs are loaded for a trace: what trace does, and doctor tries. */
#ifndef CAPTURE_FILE_LIMIT_H
#define CAPTURE_FILE_LIMIT_H

#include "attach/attach.h"
#include "capture/counting.h"
#include "base/options.h"

/* Without --comm and --cgroup. The strings of @options are not kept. */
void file_limit_options(const struct options *options, const struct counting *counting,
			struct attach_options *out);
/* As many open files as we may have: what is examined stays open, to be named after it is gone. */
void file_limit_raise_limits(void);

#endif /* CAPTURE_FILE_LIMIT_H */
