// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "capture/installed_libs.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plugin.h"
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

/* Libraries, one function of each, and possible file names. */
static const struct {
	const char *name, *function, *files[3];
} wanted[] = {
	{ "libc", "pthread_barrier_wait", { "libc.so.6", "ld-musl-*.so.1", NULL } },
	{ "libgomp", "GOMP_barrier", { "libgomp.so.1", NULL } },
	{ "libomp", "__kmpc_barrier", { "libomp.so.5", "libomp.so", NULL } },
};

static const char *const mpi_files[] = { "libmpi.so*", "libmpich.so*", "libmpi_mt.so*" };

/*
 * Call @each for each installed file of this name, until @each returns true. Return whether @each
 * returned true.
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

/* --- libraries that are probed ---------------------------------------------------------------- */

struct search {
	struct symbol_server *server;
	struct reader *reader;
	const char *function;
	struct doctor_library *out;
};

/* Note the file if it is the library, built for this architecture. */
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
	size_t i, j;

	if (symbol_server_new(NULL, &s.server) || reader_new(NULL, NULL, NULL, &s.reader))
		goto out;
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		struct doctor_library *lib = &f->libraries[f->nlibraries];

		s.function = wanted[i].function;
		s.out = lib;
		for (j = 0; wanted[i].files[j]; j++)
			if (each_file(wanted[i].files[j], take_library, &s))
				break;
		if (!*lib->path)
			continue;
		snprintf(lib->name, sizeof(lib->name), "%s", wanted[i].name);
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

	for (i = 0; i < sizeof(mpi_files) / sizeof(mpi_files[0]); i++)
		if (each_file(mpi_files[i], take_mpi, &m))
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
