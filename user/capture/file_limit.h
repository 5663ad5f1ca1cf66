/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
#ifndef CAPTURE_FILE_LIMIT_H
#define CAPTURE_FILE_LIMIT_H

/* Raise the limit of open files to its maximum, because examined files stay open. */
void file_limit_raise(void);

#endif /* CAPTURE_FILE_LIMIT_H */
