/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What a process has mapped: a snapshot of /proc/PID/maps. */
#ifndef TARGET_MAPS_H
#define TARGET_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct maps_entry {
	uint64_t start, end; /* addresses in the process */
	uint64_t offset; /* in the file, bytes */
	uint64_t ino; /* 0: no file */
	uint32_t dev; /* as the kernel counts: major << 20 | minor */
	bool exec;
	bool shared;
	bool writable;
	bool deleted; /* the file has no name any more */
	bool came; /* others' own note: it was not there from the beginning */
	const char *path; /* octal escapes undone; "" none; untrusted */
};

struct maps {
	struct maps_entry *entries; /* by address */
	size_t n;
	char *text; /* owns the paths */
};

/*
 * Reads the mappings of @pid: all of them, or none where it ends meanwhile. Returns 0 (none of a zombie's or a kernel
 * thread's), -ESRCH when the process is gone, or -errno.
 */
int maps_read(int pid, struct maps *maps);
/* The same from text already read (owned by @maps afterwards, also on failure). */
int maps_parse(char *text, struct maps *maps);
int maps_copy(const struct maps *from, struct maps *to);
void maps_free(struct maps *maps);
/* The mapping that @addr lies in, or NULL. */
const struct maps_entry *maps_find(const struct maps *maps, uint64_t addr);
/* The file behind a mapping, without opening it: 0 or -errno. */
int maps_stat(int pid, const struct maps_entry *entry, struct stat *st);
/* Opens the mapped file itself, whatever has become of its name. Returns an fd or -errno. */
int maps_open(int pid, const struct maps_entry *entry);

#endif /* TARGET_MAPS_H */
