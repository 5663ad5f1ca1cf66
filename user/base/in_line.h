/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * A name that the room "sites" assigns to a process, that recordings keep, and that the analysis
 * looks for.
 */
#ifndef BASE_IN_LINE_H
#define BASE_IN_LINE_H

/*
 * Begins the name of an untraced wait (struct report_process.untraced) of a process that contains
 * inlined C++20 waits. These are not traced. A std::barrier's may be among them, so that episodes
 * may be missing.
 */
#define IN_LINE_NAMES "std::barrier, std::latch or std::atomic::wait() (in line)"

#endif /* BASE_IN_LINE_H */
