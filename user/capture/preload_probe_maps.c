// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "capture/preload_probe_maps.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "sites/family.h"
#include "sites/needed.h"

/* How many bytes of a script are searched for programs, and how many paths in it are used. */
#define SCRIPT_BYTES	(64u << 10)
#define SCRIPT_PROGRAMS 32

/* Separators of words in a shell script. */
#define SEPARATORS " \t\n;&|()<>'\"`$"

static bool map_file(struct preload_maps *preload_maps, const char *path, bool library)
{
	void *p = MAP_FAILED;
	struct stat st;
	int fd;

	if (preload_maps->n == PRELOAD_MAPS_MAX)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	/* A library need not be executable. */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (library || (st.st_mode & 0111)))
		p = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE,
			 fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return false;
	preload_maps->at[preload_maps->n++] = p;
	return true;
}

void preload_maps_common(struct preload_maps *preload_maps)
{
	static const char *const paths[] = { "/lib/ld-musl-x86_64.so.1",
					     "/lib/ld-musl-aarch64.so.1",
					     "/lib/x86_64-linux-gnu/libpthread.so.0",
					     "/lib/aarch64-linux-gnu/libpthread.so.0",
					     "/lib64/libpthread.so.0",
					     "/lib64/libc.so.6",
					     "/lib/x86_64-linux-gnu/libc.so.6",
					     "/lib/aarch64-linux-gnu/libc.so.6" };
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		map_file(preload_maps, paths[i], false);
}

/*
 * Return whether @word is a launcher of MPI ranks. A launcher and its ranks must not be stopped.
 * Examining the large MPI libraries after the start would take longer than a rank needs until its
 * first collective, so these libraries are mapped in advance.
 */
static bool launches_ranks(const char *word)
{
	static const char *const launchers[] = { "mpirun", "mpiexec", "orterun", "prterun",
						 "srun" };
	const char *name = text_base_name(word);
	size_t i;

	for (i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (!strncmp(name, launchers[i], strlen(launchers[i])))
			return true;
	return false;
}

/* Map the files in @folder that match @name and @suffix together. All are glob() patterns. */
static void map_pattern(struct preload_maps *preload_maps, const char *folder, const char *name,
			const char *suffix)
{
	char pattern[256];
	glob_t found;
	size_t i;

	snprintf(pattern, sizeof(pattern), "%s/%s%s", folder, name, suffix);
	if (glob(pattern, 0, NULL, &found))
		return;
	for (i = 0; i < found.gl_pathc; i++)
		map_file(preload_maps, found.gl_pathv[i], true);
	globfree(&found);
}

/*
 * Examine the OpenMP libraries in advance, because the first region begins soon after they are
 * loaded.
 */
void preload_maps_openmp(struct preload_maps *preload_maps)
{
	size_t i;

	array_for_each (library, family_libraries, family_nlibraries) {
		if (!family_has(library->family, FAMILY_OPENMP))
			continue;
		for (i = 0; i < FAMILY_LIBRARY_FILES && library->files[i]; i++) {
			map_pattern(preload_maps, "/usr/lib/*-linux-gnu", library->files[i], "");
			map_pattern(preload_maps, "/usr/lib64", library->files[i], "");
		}
	}
}

void preload_maps_mpi(struct preload_maps *preload_maps)
{
	static const char *const folders[] = { "/usr/lib/*-linux-gnu", "/usr/lib64/*/lib",
					       "/usr/local/lib" };
	size_t i;

	if (preload_maps->mpi)
		return;
	preload_maps->mpi = true;
	/* The functions for Fortran are in files of their own. */
	array_for_each (library, family_libraries, family_nlibraries)
		for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
			if (library->files[0] && family_has(library->family, FAMILY_RANKS))
				map_pattern(preload_maps, folders[i], library->begin,
					    "*.so.[0-9]*");
}

static void map_if_mpi(void *ctx, const char *name, struct module *m)
{
	(void)name;
	if (m && m->mpi)
		map_file(ctx, m->path, true);
}

/*
 * Map a program. If an MPI launcher starts the program, also map the MPI library that the program
 * needs, whatever its directory.
 */
static void map_program(struct preload_maps *preload_maps, struct modules *modules,
			const char *path)
{
	if (map_file(preload_maps, path, false) && preload_maps->mpi)
		needed_each(modules, path, map_if_mpi, preload_maps);
}

static void map_named(struct preload_maps *preload_maps, struct modules *modules, const char *word)
{
	const char *path = getenv("PATH"), *end;
	char file[PATH_MAX];

	if (strchr(word, '/')) {
		map_program(preload_maps, modules, word);
		return;
	}
	for (; path; path = *end ? end + 1 : NULL) {
		end = strchrnul(path, ':');
		if ((size_t)snprintf(file, sizeof(file), "%.*s/%s", (int)(end - path), path, word) <
		    sizeof(file))
			map_program(preload_maps, modules, file);
	}
}

/* Return the beginning of a script, to be freed, or NULL if the file is no text. */
static char *script_read(const char *path)
{
	char *text = NULL;
	struct stat st;
	ssize_t n = -1;
	int fd;

	/* Opening a device may have side effects. */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		text = malloc(SCRIPT_BYTES + 1);
	if (text)
		n = read(fd, text, SCRIPT_BYTES);
	close(fd);
	if (n < 0 || memchr(text, '\0', (size_t)n)) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	return text;
}

/* Map programs that a script names by a path. Names without a path are mostly system tools. */
static void map_script(struct preload_maps *preload_maps, struct modules *modules, const char *path)
{
	char *text = script_read(path), *save = NULL, *word;
	unsigned int left = SCRIPT_PROGRAMS;

	for (word = text ? strtok_r(text, SEPARATORS, &save) : NULL; word && left;
	     word = strtok_r(NULL, SEPARATORS, &save)) {
		if (*word == '#' || !strchr(word, '/'))
			continue;
		map_program(preload_maps, modules, word);
		left--;
	}
	free(text);
}

void preload_maps_words(struct preload_maps *preload_maps, struct modules *modules,
			char *const command[])
{
	for (; command && *command; command++) {
		char *copy = strdup(*command), *save = NULL, *word;

		for (word = copy ? strtok_r(copy, SEPARATORS, &save) : NULL; word;
		     word = strtok_r(NULL, SEPARATORS, &save)) {
			map_named(preload_maps, modules, word);
			map_script(preload_maps, modules, word);
			if (launches_ranks(word))
				preload_maps_mpi(preload_maps);
		}
		free(copy);
	}
}

void preload_maps_free(struct preload_maps *preload_maps)
{
	while (preload_maps->n)
		munmap(preload_maps->at[--preload_maps->n], (size_t)sysconf(_SC_PAGESIZE));
}
