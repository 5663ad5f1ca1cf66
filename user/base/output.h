/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Files that sbt-trace writes. */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * Mode of new files. Only the owner can read them, because they may name other users' programs. A
 * file that already exists keeps its mode.
 */
#define OUTPUT_MODE 0600

/*
 * Create @path, which must not exist (a symbolic link exists, too). Under sudo, the file belongs to
 * the user that called sudo, so that this user can read it later. Return a descriptor for reading
 * and writing, or -errno.
 */
int output_create(const char *path);
/*
 * Open @path for writing and truncate it, or create it like output_create(). Return a descriptor or
 * -errno, or for output_open() NULL with errno set.
 */
int output_open_fd(const char *path);
FILE *output_open(const char *path);

/* Return whether @owner is the user, or under sudo the user that called it. */
bool output_is_own(uid_t owner);

/*
 * Rename or remove a file, in one directory. They also work as root without CAP_DAC_OVERRIDE, which
 * is dropped during tracing: if root may not, they try again as the owner of the directory. Without
 * @replace, an existing file @to is kept (-EEXIST), if the file system can do that. Return 0 or
 * -errno.
 */
int output_rename(const char *from, const char *to, bool replace);
int output_remove(const char *path);

#endif /* BASE_OUTPUT_H */
