/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * A name for untraced waits of a process: user/sites assigns it, recordings contain it, and
 * user/analyse looks for it.
 */
#ifndef BASE_IN_LINE_H
#define BASE_IN_LINE_H

/*
 * If a process contains inlined C++20 waits, its list of untraced waits (struct
 * report_process.untraced) begins with this text. These waits are not traced. Some may belong to a
 * std::barrier, so its episodes may be missing.
 */
#define IN_LINE_NAMES "std::barrier, std::latch or std::atomic::wait() (in line)"

#endif /* BASE_IN_LINE_H */
