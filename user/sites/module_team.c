// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Recognise libraries that divide work among threads of their own, without a barrier to trace. */
#include <string.h>

#include "base/array.h"
#include "sites/module_internal.h"

static bool has_function(const struct module *m, const char *name)
{
	struct elf_symbol found;

	return elf_find_function(m->elf, name, &found, 1) > 0;
}

/* Return whether the file begins parallel regions of OpenMP: then its teams are traced as such. */
static bool uses_openmp(const struct module *m)
{
	return elf_imports(m->elf, "GOMP_parallel") || elf_imports(m->elf, "__kmpc_fork_call");
}

static bool is_fftw(const struct module *m)
{
	static const char *const names[] = { "fftw_spawn_loop", "fftwf_spawn_loop",
					     "fftwl_spawn_loop", "fftwq_spawn_loop" };

	array_for_each (name, names, sizeof(names) / sizeof(names[0]))
		if (has_function(m, *name))
			return true;
	return false;
}

enum module_team module_find_team(const struct module *m)
{
	if (!strncmp(m->traits.soname, "libtbb.so", strlen("libtbb.so")))
		return MODULE_TEAM_TBB;
	if (has_function(m, "exec_blas_async_wait") && !uses_openmp(m))
		return MODULE_TEAM_OPENBLAS;
	if (is_fftw(m) && !uses_openmp(m))
		return MODULE_TEAM_FFTW;
	return MODULE_TEAM_NONE;
}

const char *module_team_text(const struct module *m)
{
	switch (m->team) {
	case MODULE_TEAM_TBB:
		return "is oneTBB: at the end of its algorithms one thread waits for tasks, and "
		       "the threads that run them pass through no common function, so these waits "
		       "are not traced. The waiting thread runs other tasks, spins, and then "
		       "sleeps; idle threads sleep in the library. Name a function around the "
		       "algorithm with -b";
	case MODULE_TEAM_OPENBLAS:
		return "has threads of OpenBLAS: the calling thread spins in "
		       "exec_blas_async_wait() until the other threads have done their parts, "
		       "and idle threads spin before they sleep. The end of a part calls no "
		       "function, so these waits are not traced. OpenBLAS that is built with "
		       "OpenMP is traced";
	case MODULE_TEAM_FFTW:
		return "has threads of FFTW: the calling thread sleeps in fftw_spawn_loop() until "
		       "the other threads have done their parts, and idle threads sleep; both use "
		       "semaphores. Such rounds are no barriers that are traced; if there is no "
		       "barrier, the report says how often and how long the calling thread waited. "
		       "FFTW with OpenMP (libfftw3_omp) is traced";
	default:
		return NULL;
	}
}
