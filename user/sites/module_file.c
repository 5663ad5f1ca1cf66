// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * The descriptor of a module. It is closed while no traced process maps the file, so that the file
 * system can be unmounted. The file is opened again by its name when needed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "sites/module_internal.h"

void module_identify(struct module *m)
{
	m->identified = m->fd >= 0 && !fstat(m->fd, &m->identity);
}

static bool is_identity(const struct module *m, const struct stat *st)
{
	const struct stat *was = &m->identity;

	return m->identified && st->st_dev == was->st_dev && st->st_ino == was->st_ino &&
	       st->st_size == was->st_size && st->st_mtim.tv_sec == was->st_mtim.tv_sec &&
	       st->st_mtim.tv_nsec == was->st_mtim.tv_nsec;
}

/*
 * If @fd is the file that was examined, and unchanged, keep and return it. Otherwise close it and
 * return -1.
 */
static int keep_if_same(struct module *m, int fd)
{
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !is_identity(m, &st)) {
		close(fd);
		return -1;
	}
	m->fd = fd;
	return fd;
}

int module_fd(const struct module *module)
{
	struct module *m = (struct module *)(uintptr_t)module;
	char path[4096];

	if (m->fd >= 0 || !m->identified || m->deleted)
		return m->fd;
	if (keep_if_same(m, open(m->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) >= 0)
		return m->fd;
	/* Try the mount namespace of a process that had mapped the file. */
	if (m->pid > 0 &&
	    (size_t)snprintf(path, sizeof(path), "/proc/%d/root%s", m->pid, m->path) < sizeof(path))
		keep_if_same(m, open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
	return m->fd;
}

void module_close(struct module *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
}

bool module_is_unchanged(const struct module *m, int pid, const struct maps_entry *e)
{
	struct stat st;

	if (!m->identified || (m->fd >= 0 ? fstat(m->fd, &st) : maps_stat(pid, e, &st)))
		return true;
	return is_identity(m, &st);
}

bool module_is_behind(struct module *m, int pid, const struct maps_entry *e)
{
	struct stat st;

	if (m->fd >= 0 || !m->identified)
		return true;
	/*
	 * If the mapped file cannot be checked, as after the process's exit, assume that it is the
	 * file that was examined.
	 */
	if (maps_stat(pid, e, &st))
		return true;
	if (!is_identity(m, &st))
		return false;
	m->pid = pid;
	keep_if_same(m, maps_open(pid, e));
	return true;
}
