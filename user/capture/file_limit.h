/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Options for loading the BPF programs, used for a trace and by doctor. */
#ifndef CAPTURE_FILE_LIMIT_H
#define CAPTURE_FILE_LIMIT_H

#include "attach/attach.h"
#include "capture/counting.h"
#include "base/options.h"

/* Fill @out from @options, without --comm and --cgroup. The strings of @options are not kept. */
void file_limit_options(const struct options *options, const struct counting *counting,
			struct attach_options *out);
/* Raise the limit of open files to its maximum, because examined files stay open. */
void file_limit_raise_limits(void);

#endif /* CAPTURE_FILE_LIMIT_H */
