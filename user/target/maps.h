/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* The mappings of a process: a snapshot of /proc/PID/maps. */
#ifndef TARGET_MAPS_H
#define TARGET_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct maps_entry {
	uint64_t start, end; /* addresses in the process */
	uint64_t offset; /* offset in the file, bytes */
	uint64_t ino; /* 0: no file */
	uint32_t dev; /* the kernel's device number: major << 20 | minor */
	bool exec;
	bool shared;
	bool writable;
	bool deleted; /* the file was deleted */
	/*
	 * mapped after the program's start; not set here, but by the code that keeps the mappings
	 */
	bool added;
	/* the file's path, in which octal escapes are decoded; "": none; untrusted */
	const char *path;
};

struct maps {
	struct maps_entry *entries; /* sorted by address */
	size_t n;
	char *text; /* owns the paths */
};

/*
 * Read all mappings of @pid. Return 0, -ESRCH if the process has exited, even if only after some of
 * its mappings were read, or another -errno. Zombies and kernel threads have no mappings.
 */
int maps_read(int pid, struct maps *maps);
/* Parse @text, and take ownership of it, also on failure. */
int maps_parse(char *text, struct maps *maps);
int maps_copy(const struct maps *from, struct maps *to);
void maps_free(struct maps *maps);
/* Return the mapping that contains @addr, or NULL. */
const struct maps_entry *maps_find(const struct maps *maps, uint64_t addr);
/* Get the status (stat) of the file behind a mapping. Return 0 or -errno. */
int maps_stat(int pid, const struct maps_entry *entry, struct stat *st);
/* Open the mapped file itself, even if it was renamed or deleted. Return an fd or -errno. */
int maps_open(int pid, const struct maps_entry *entry);

#endif /* TARGET_MAPS_H */
