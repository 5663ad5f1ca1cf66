// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "recording/default_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/output.h"
#include "recording/chunks.h"

#define NAMES_MAX   1000 /* names to try for the temporary file */
#define PUBLISH_MAX 10 /* attempts while other processes create the same file */

/*
 * Return NULL if @path does not exist or is a recording, else what it is. Do not follow a link, and
 * do not wait for the other end of a FIFO.
 */
static const char *what_else(const char *path, bool *exists)
{
	struct stat st;
	bool recording;
	int fd;

	*exists = !lstat(path, &st);
	if (!*exists)
		return NULL;
	if (S_ISLNK(st.st_mode))
		return "a symbolic link";
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? "a directory" : "not a regular file";
	/* Root may replace anything, also where the sticky bit protects files of other users. */
	if (!output_is_own(st.st_uid))
		return "another user's file";
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return "not readable";
	recording = !fstat(fd, &st) && S_ISREG(st.st_mode) && chunks_recognise(fd);
	close(fd);
	return recording ? NULL : "not a recording";
}

/* Return @path.old, to be freed; NULL: out of memory. */
static char *old_of(const char *path)
{
	char *old;

	return asprintf(&old, "%s.old", path) < 0 ? NULL : old;
}

int default_file_create(const char *path, char **temporary)
{
	char *old = old_of(path);
	const char *const names[] = { path, old };
	const char *what = NULL;
	int fd = -EEXIST;
	bool exists;
	size_t i;

	*temporary = NULL;
	if (!old)
		return -ENOMEM;
	for (i = 0; i < 2 && !what; i++)
		what = what_else(names[i], &exists);
	if (what)
		msg_error("%s is %s, so it is not overwritten: name another file with -o",
			  names[i - 1], what);
	free(old);
	if (what)
		return -EINVAL;
	for (i = 0; i < NAMES_MAX && fd == -EEXIST; i++) {
		free(*temporary);
		if (asprintf(temporary, "%s.%d.%zu", path, getpid(), i) < 0) {
			*temporary = NULL;
			return -ENOMEM;
		}
		fd = output_create(*temporary);
	}
	if (fd < 0) {
		free(*temporary);
		*temporary = NULL;
	}
	return fd;
}

/*
 * Rename @path to @old if it exists, and @temporary to @path. Return 0, -EEXIST if another process
 * created @path meanwhile, or another -errno. *what says why a file is not replaced.
 */
static int publish(const char *path, const char *old, const char *temporary, const char **what)
{
	bool exists, exists_old;
	int err = 0;

	*what = what_else(path, &exists);
	if (!*what)
		*what = what_else(old, &exists_old);
	if (*what)
		return -EPERM;
	if (exists)
		err = output_rename(path, old, true);
	return err ? err : output_rename(temporary, path, false);
}

int default_file_publish(const char *path, const char *temporary)
{
	char *old = old_of(path);
	const char *what = NULL;
	int err = old ? -EEXIST : -ENOMEM, i;

	/* The files may have changed since default_file_create(). */
	for (i = 0; err == -EEXIST && i < PUBLISH_MAX; i++)
		err = publish(path, old, temporary, &what);
	if (err && what)
		msg_warn("%s or %s is now %s: the recording stays in %s", path, old, what,
			 temporary);
	else if (err)
		msg_warn("cannot rename %s to %s: %s; the recording stays in %s", temporary, path,
			 strerror(-err), temporary);
	free(old);
	return err;
}
