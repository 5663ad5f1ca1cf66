// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "target/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/grow.h"
#include "target/proc.h"

#define DELETED " (deleted)"

/* The kernel writes newlines and backslashes in paths as \012 and \134. */
static void unescape(char *s)
{
	char *out = s;

	while (*s) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*out++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 4;
		} else {
			*out++ = *s++;
		}
	}
	*out = '\0';
}

static bool parse_line(char *line, struct maps_entry *e)
{
	unsigned int major, minor;
	char perms[5];
	size_t len;
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &e->start,
		   &e->end, perms, &e->offset, &major, &minor, &e->ino, &path) < 7)
		return false;
	if (strlen(perms) != 4 || e->start >= e->end)
		return false;
	e->exec = perms[2] == 'x';
	e->shared = perms[3] == 's';
	e->writable = perms[1] == 'w';
	e->dev = major << 20 | (minor & 0xfffff);
	e->deleted = false;
	e->path = line + path;
	len = strlen(e->path);
	if (e->ino && len > strlen(DELETED) && !strcmp(e->path + len - strlen(DELETED), DELETED)) {
		e->deleted = true;
		line[(size_t)path + len - strlen(DELETED)] = '\0';
	}
	unescape(line + path);
	return true;
}

/*
 * Save memory, because the mappings of a process are kept after it has exited. Of the text keep
 * only the paths, and one copy for successive mappings with equal paths. Reduce both arrays to the
 * size that is used, unless there is no memory to do so.
 */
static void pack(struct maps *maps)
{
	struct maps_entry *entries;
	const char *last = NULL;
	size_t len, used = 0;
	char *text = maps->text, *packed;

	array_for_each (e, maps->entries, maps->n) {
		/* Paths move to the front of the text, so a path never overwrites a later one. */
		if (!last || strcmp(last, e->path) != 0) {
			len = strlen(e->path) + 1;
			last = memmove(text + used, e->path, len);
			used += len;
		}
		e->path = last;
	}
	/*
	 * Copy the text: shrinking it in place would leave a hole that no other text of this size
	 * fits into.
	 */
	packed = malloc(used + 1);
	if (packed) {
		memcpy(packed, text, used);
		array_for_each (entry, maps->entries, maps->n)
			entry->path = packed + (entry->path - text);
		free(text);
		maps->text = packed;
	}
	entries = realloc(maps->entries, (maps->n ? maps->n : 1) * sizeof(*entries));
	if (entries)
		maps->entries = entries;
}

int maps_parse(char *text, struct maps *maps)
{
	size_t cap = 0;
	char *line, *next;

	memset(maps, 0, sizeof(*maps));
	maps->text = text;
	for (line = text; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (grow(maps->entries, cap, maps->n + 1)) {
			maps_free(maps);
			return -ENOMEM;
		}
		if (parse_line(line, &maps->entries[maps->n]))
			maps->n++;
	}
	if (maps->text)
		pack(maps);
	return 0;
}

/*
 * Return whether the process exited while its mappings were read. If so, the text ends in the
 * middle, and this looks like a normal end. To find out, read the beginning of the file again,
 * which fails once the process's memory is gone.
 */
static bool ended_meanwhile(int fd, size_t len)
{
	char c;

	return len > 0 && pread(fd, &c, 1, 0) != 1;
}

int maps_read(int pid, struct maps *maps)
{
	char path[32], *text = NULL;
	size_t len = 0;
	int fd, err;

	memset(maps, 0, sizeof(*maps));
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	err = proc_read_all(fd, SIZE_MAX, &text, &len);
	if (!err && ended_meanwhile(fd, len))
		err = -ESRCH;
	close(fd);
	if (!err)
		return maps_parse(text, maps);
	free(text);
	return err;
}

/*
 * Return whether the path of mapping @i differs from that of the previous mapping. Successive
 * mappings with equal paths share one string.
 */
static bool is_new_path(const struct maps *maps, size_t i)
{
	return !i || maps->entries[i].path != maps->entries[i - 1].path;
}

int maps_copy(const struct maps *from, struct maps *to)
{
	size_t i, len = 1, at = 0;

	memset(to, 0, sizeof(*to));
	for (i = 0; i < from->n; i++)
		if (is_new_path(from, i))
			len += strlen(from->entries[i].path) + 1;
	to->entries = malloc((from->n + 1) * sizeof(*to->entries));
	to->text = malloc(len);
	if (!to->entries || !to->text) {
		maps_free(to);
		return -ENOMEM;
	}
	for (i = 0; i < from->n; i++) {
		size_t size = strlen(from->entries[i].path) + 1;

		to->entries[i] = from->entries[i];
		if (!is_new_path(from, i)) {
			to->entries[i].path = to->entries[i - 1].path;
			continue;
		}
		to->entries[i].path = memcpy(to->text + at, from->entries[i].path, size);
		at += size;
	}
	to->n = from->n;
	return 0;
}

void maps_free(struct maps *maps)
{
	free(maps->entries);
	free(maps->text);
	memset(maps, 0, sizeof(*maps));
}

const struct maps_entry *maps_find(const struct maps *maps, uint64_t addr)
{
	size_t low = 0, high = maps->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct maps_entry *e = &maps->entries[mid];

		if (addr < e->start)
			high = mid;
		else if (addr >= e->end)
			low = mid + 1;
		else
			return e;
	}
	return NULL;
}

/*
 * Open a mapped file by its path, because its link in map_files is gone or we may not use it
 * (without CAP_CHECKPOINT_RESTORE). Fail if the path now leads to another file.
 */
static int open_by_name(int pid, const struct maps_entry *e)
{
	char path[PATH_MAX + 32];
	struct stat st;
	int fd, err;

	if (e->deleted || e->path[0] != '/' ||
	    (size_t)snprintf(path, sizeof(path), "/proc/%d/root%s", pid, e->path) >= sizeof(path))
		return -ENOENT;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	err = errno;
	/*
	 * Perhaps the process has exited. Try the path in our own root directory, which is most
	 * likely the same.
	 */
	if (fd < 0 && err == ENOENT)
		fd = open(e->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -err;
	if (fstat(fd, &st) || st.st_ino != e->ino) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

/*
 * Write the path of the link to the mapped inode. The link works even if the file was renamed,
 * deleted or replaced.
 */
static void link_name(char path[96], int pid, const struct maps_entry *e)
{
	snprintf(path, 96, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, e->start, e->end);
}

int maps_stat(int pid, const struct maps_entry *e, struct stat *st)
{
	char path[96];
	int fd;

	link_name(path, pid, e);
	if (!stat(path, st))
		return 0;
	/* Without CAP_CHECKPOINT_RESTORE the links are not permitted. */
	if (errno != ENOENT && errno != EPERM && errno != EACCES)
		return -errno;
	fd = open_by_name(pid, e);
	if (fd < 0)
		return fd;
	/* This cannot fail, because fstat() succeeded in open_by_name(). */
	(void)fstat(fd, st);
	close(fd);
	return 0;
}

int maps_open(int pid, const struct maps_entry *e)
{
	char path[96];
	struct stat st;
	int fd, err;

	link_name(path, pid, e);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	err = fd < 0 ? -errno : 0;
	if (err == -EPERM || err == -EACCES || err == -ENOENT) {
		fd = open_by_name(pid, e);
		err = fd < 0 ? err : 0;
	}
	if (!err && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		err = -EINVAL;
	}
	return err ? err : fd;
}
