// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

/* Read a user or group number from the environment. Return whether it is there. */
static bool read_id(const char *variable, uint32_t *out)
{
	const char *value = getenv(variable);
	unsigned long id;
	char *end;

	if (!value || *value < '0' || *value > '9')
		return false;
	errno = 0;
	id = strtoul(value, &end, 10);
	*out = (uint32_t)id;
	return !errno && !*end && id < UINT32_MAX;
}

/* Give the new file @fd to the user that called sudo. If that fails, the file stays root's. */
static void give(int fd)
{
	uint32_t uid, gid;

	if (geteuid() == 0 && read_id("SUDO_UID", &uid) && read_id("SUDO_GID", &gid) && uid)
		(void)!fchown(fd, uid, gid);
}

bool output_is_own(uid_t owner)
{
	uint32_t uid;

	return owner == geteuid() || (geteuid() == 0 && read_id("SUDO_UID", &uid) && owner == uid);
}

int output_create(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, OUTPUT_MODE);

	if (fd < 0)
		return -errno;
	give(fd);
	return fd;
}

int output_open_fd(const char *path)
{
	int fd = output_create(path);

	if (fd != -EEXIST)
		return fd;
	/*
	 * Keep O_CREAT: the path may be a link to a file that does not exist. Without O_EXCL,
	 * open() creates this file.
	 */
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, OUTPUT_MODE);
	return fd < 0 ? -errno : fd;
}

FILE *output_open(const char *path)
{
	int fd = output_open_fd(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (fd < 0)
		errno = -fd;
	else if (!f)
		close(fd);
	return f;
}

/* --- names in a directory --------------------------------------------------------------------- */

/* Rename @from to @to, or remove @from if @to is NULL. Return 0 or -errno. */
static int change(const char *from, const char *to, bool replace)
{
	int err;

	if (!to)
		return unlink(from) ? -errno : 0;
	if (!replace) {
		err = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) ? -errno : 0;
		if (err != -EINVAL && err != -ENOSYS)
			return err;
	}
	return rename(from, to) ? -errno : 0;
}

static int owner_of_directory(const char *path, uid_t *out)
{
	const char *slash = strrchr(path, '/');
	char directory[PATH_MAX];
	struct stat st;

	if ((size_t)snprintf(directory, sizeof(directory), "%.*s",
			     slash ? (int)(slash + 1 - path) : 1,
			     slash ? path : ".") >= sizeof(directory))
		return -ENAMETOOLONG;
	if (stat(directory, &st))
		return -errno;
	*out = st.st_uid;
	return 0;
}

static int change_as_owner(const char *from, const char *to, bool replace)
{
	uid_t owner = 0;
	int err = change(from, to, replace);

	if ((err != -EACCES && err != -EPERM) || geteuid() != 0 ||
	    owner_of_directory(from, &owner) || !owner)
		return err;
	setfsuid(owner);
	err = change(from, to, replace);
	setfsuid(0);
	return err;
}

int output_rename(const char *from, const char *to, bool replace)
{
	return change_as_owner(from, to, replace);
}

int output_remove(const char *path)
{
	return change_as_owner(path, NULL, true);
}
