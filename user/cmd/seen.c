// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "cmd/seen.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plugin.h"
#include "sites/elf.h"
#include "sites/libdw.h"
#include "sites/symbol.h"

/* Where distributions put libraries; patterns of glob(). */
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

/* A library, one of its functions, and how its file may be called. */
static const struct {
	const char *name, *function, *files[3];
} wanted[] = {
	{ "libc", "pthread_barrier_wait", { "libc.so.6", "ld-musl-*.so.1", NULL } },
	{ "libgomp", "GOMP_barrier", { "libgomp.so.1", NULL } },
	{ "libomp", "__kmpc_barrier", { "libomp.so.5", "libomp.so", NULL } },
};

static const char *const mpi_files[] = { "libmpi.so*", "libmpich.so*", "libmpi_mt.so*" };

/* Calls @each for the files of that name, until it returns true. */
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

/* --- libraries that are probed ------------------------------------------------------------------------ */

struct search {
	struct symbol_server *server;
	const char *function;
	struct doctor_library *out;
};

/* Is it such a library, of this very machine? */
static bool take_library(void *ctx, const char *path)
{
	struct search *s = ctx;
	struct elf_symbol function;
	struct symbol *symbol = NULL;
	struct elf_file *elf = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool found = false;

	if (fd < 0)
		return false;
	if (elf_open(fd, &elf) || elf_find_function(elf, s->function, &function, 1) < 1)
		goto out;
#if defined(__x86_64__)
	found = elf_machine(elf) == 62; /* EM_X86_64 */
#elif defined(__aarch64__)
	found = elf_machine(elf) == 183; /* EM_AARCH64 */
#endif
	symbol = found ? calloc(1, sizeof(*symbol)) : NULL;
	if (symbol && !symbol_lookup(s->server, fd, path, function.vaddr, symbol) &&
	    symbol->nframes)
		s->out->lines = symbol->frames[0].line > 0;
	if (found)
		snprintf(s->out->path, sizeof(s->out->path), "%s", path);
out:
	free(symbol);
	elf_close(elf);
	close(fd);
	return found;
}

static void look_libraries(struct doctor_facts *f)
{
	struct search s = { 0 };
	size_t i, j;

	if (symbol_server_new(NULL, &s.server))
		return;
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
	symbol_server_free(s.server);
}

/* --- MPI ------------------------------------------------------------------------------------------------- */

#define MPI_MOST 16

struct mpi {
	struct doctor_facts *facts;
	char *real[MPI_MOST]; /* each file once, whatever its names */
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

void seen_look(struct doctor_facts *f)
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
