/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The file that a recording is written to and read from if the user names none. Nothing of the
 * user's may be lost: an earlier recording becomes FILE.old, and any other file is refused.
 */
#ifndef RECORDING_DEFAULT_FILE_H
#define RECORDING_DEFAULT_FILE_H

#define DEFAULT_FILE	 "sbt.data"
#define DEFAULT_FILE_OLD DEFAULT_FILE ".old"

/*
 * Create a new file next to @path, for default_file_publish(). Return its descriptor, and its name
 * in *temporary, to be freed. Return -EINVAL after a message if @path or @path.old exists and is no
 * recording, or another -errno without a message.
 */
int default_file_create(const char *path, char **temporary);
/*
 * Rename @path to @path.old if it exists, and @temporary to @path. Return 0, or -errno after a
 * message that names the file in which the recording is.
 */
int default_file_publish(const char *path, const char *temporary);

#endif /* RECORDING_DEFAULT_FILE_H */
