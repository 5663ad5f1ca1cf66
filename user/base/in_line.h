/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the room of sites writes of a process, recordings keep, and the analysis looks for. */
#ifndef BASE_IN_LINE_H
#define BASE_IN_LINE_H

/*
 * The beginning of the names of untraced waits of a process (struct report_process.untraced) whose code has waits of C++20
 * in line that are not traced. A std::barrier's may be among them, so that episodes may be missing.
 */
#define IN_LINE_NAMES "std::barrier, std::latch or std::atomic::wait() (in line)"

#endif /* BASE_IN_LINE_H */
