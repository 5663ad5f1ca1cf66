/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Options for loading the BPF programs, used for a trace and by doctor. */
#ifndef CAPTURE_LOAD_OPTIONS_H
#define CAPTURE_LOAD_OPTIONS_H

#include "attach/attach.h"
#include "capture/counting.h"
#include "base/options.h"

/* Fill @out from @options, without --comm and --cgroup. The strings of @options are not kept. */
void load_options_fill(const struct options *options, const struct counting *counting,
		       struct attach_options *out);

/*
 * Return a clause that says why the departures are seen, and none is inferred; NULL: those of some
 * families are inferred.
 */
const char *load_options_seen_why(const struct options *options);

#endif /* CAPTURE_LOAD_OPTIONS_H */
