// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "doctor/installed_libs.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/plugin.h"
#include "sites/family.h"
#include "symbols/libdw.h"
#include "sites/reader.h"
#include "symbols/symbol.h"

/* Where distributions install libraries: glob() patterns. */
static const char *const folders[] = {
	"/usr/lib/*-linux-gnu",
	"/lib/*-linux-gnu",
	"/usr/lib64",
	"/lib64",
	"/usr/lib",
	"/usr/local/lib",
	"/usr/lib/*-linux-gnu/*/lib",
	"/usr/lib64/*/lib",
	"/usr/lib/llvm-*/lib",
	"/opt/*/lib",
};

/*
 * Call @each for each installed file of this name, which is a glob() pattern, until @each returns
 * true. Return whether @each returned true.
 */
static bool each_file(const char *file, bool (*each)(void *ctx, const char *path), void *ctx)
{
	bool done = false;
	char pattern[256];
	glob_t found;
	size_t i, j;

	for (i = 0; i < sizeof(folders) / sizeof(folders[0]) && !done; i++) {
		snprintf(pattern, sizeof(pattern), "%s/%s", folders[i], file);
		if (glob(pattern, 0, NULL, &found))
			continue;
		for (j = 0; j < found.gl_pathc && !done; j++)
			done = each(ctx, found.gl_pathv[j]);
		globfree(&found);
	}
	return done;
}

/* Call each_file() for each file name of the library, until it returns true. */
static bool each_file_of(const struct family_library *library,
			 bool (*each)(void *ctx, const char *path), void *ctx)
{
	size_t i;

	for (i = 0; i < FAMILY_LIBRARY_FILES && library->files[i]; i++)
		if (each_file(library->files[i], each, ctx))
			return true;
	return false;
}

/* --- libraries that are probed ---------------------------------------------------------------- */

struct search {
	struct symbol_server *server;
	struct reader *reader;
	const char *function;
	struct doctor_library *out;
};

/* Note the file if it is the library, and if it is built for this architecture. */
static bool take_library(void *ctx, const char *path)
{
	struct search *s = ctx;
	struct symbol *symbol = NULL;
	uint64_t vaddr = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool found = false;

	if (fd < 0)
		return false;
	found = reader_file_function(s->reader, fd, s->function, &vaddr);
	symbol = found ? calloc(1, sizeof(*symbol)) : NULL;
	if (symbol && !symbol_lookup(s->server, fd, path, vaddr, symbol) && symbol->nframes)
		s->out->lines = symbol->frames[0].line > 0;
	if (found)
		snprintf(s->out->path, sizeof(s->out->path), "%s", path);
	free(symbol);
	close(fd);
	return found;
}

static void look_libraries(struct doctor_facts *f)
{
	struct search s = { 0 };

	if (symbol_server_new(NULL, &s.server) || reader_new(NULL, NULL, NULL, &s.reader))
		goto out;
	array_for_each (library, family_libraries, family_nlibraries) {
		struct doctor_library *lib = &f->libraries[f->nlibraries];

		if (!library->name || f->nlibraries == DOCTOR_LIBRARIES)
			continue;
		s.function = library->function;
		s.out = lib;
		if (!each_file_of(library, take_library, &s))
			continue;
		snprintf(lib->name, sizeof(lib->name), "%s", library->name);
		f->nlibraries++;
	}
out:
	reader_free(s.reader);
	symbol_server_free(s.server);
}

/* --- MPI -------------------------------------------------------------------------------------- */

#define MPI_MOST 16

struct mpi {
	struct doctor_facts *facts;
	char *real[MPI_MOST]; /* real paths: each file once, even if it has several names */
};

static bool take_mpi(void *ctx, const char *path)
{
	struct mpi *m = ctx;
	struct doctor_facts *f = m->facts;
	char *real = realpath(path, NULL);
	bool known = false;
	size_t used = strlen(f->mpi);
	uint32_t i;

	if (!real)
		return false;
	for (i = 0; i < f->nmpi; i++)
		known |= m->real[i] && !strcmp(m->real[i], real);
	if (known) {
		free(real);
		return false;
	}
	m->real[f->nmpi++] = real;
	if (f->nmpi <= 3)
		snprintf(f->mpi + used, sizeof(f->mpi) - used, "%s%s", used ? ", " : "", real);
	return f->nmpi == MPI_MOST;
}

static void look_mpi(struct doctor_facts *f)
{
	struct mpi m = { .facts = f };
	size_t i;

	array_for_each (library, family_libraries, family_nlibraries)
		if (family_has(library->family, FAMILY_RANKS) &&
		    each_file_of(library, take_mpi, &m))
			break;
	for (i = 0; i < f->nmpi; i++)
		free(m.real[i]);
}

void installed_libs_look(struct doctor_facts *f)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	void *lib = plugin_open("libdebuginfod.so.1");

	f->is_static = !plugin_possible();
	f->debuginfod = lib != NULL;
	f->debuginfod_urls = urls && *urls;
	if (lib)
		dlclose(lib);
	snprintf(f->libdw, sizeof(f->libdw), "%s", libdw_version());
	look_libraries(f);
	look_mpi(f);
}
