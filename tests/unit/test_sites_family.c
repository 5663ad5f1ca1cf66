// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "test_sites_fixture.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>

#include "base/array.h"
#include "sites/family.h"

static uint64_t words_of(uint32_t third, uint32_t fourth)
{
	return (uint64_t)fourth << 32 | third;
}

static struct family_team read_pthread(enum family_libc libc, uint32_t third, uint32_t fourth)
{
	return family_read_words(SBT_FAMILY_PTHREAD, libc, words_of(third, fourth));
}

static const struct family_function *wait_row(void)
{
	return family_function("pthread_barrier_wait", NULL);
}

static void test_table(void **state)
{
	const struct family_function *f = wait_row();
	struct sbt_spec spec;

	assert_non_null(f);
	assert_fields(f, IS(family, SBT_FAMILY_PTHREAD), IS(role, SBT_ROLE_BARRIER));
	assert_ptr_equal(family_function("pthread_barrier_wait@@GLIBC_2.34", NULL), f);
	assert_null(family_function("pthread_barrier_wait", f));
	assert_null(family_function("pthread_barrier_waits", NULL));
	assert_null(family_function("", NULL));
	assert_int_equal(family_function("pthread_barrier_init", NULL)->role, SBT_ROLE_MAKER);
	assert_int_equal(family_spec(f, EM_X86_64, &spec), 0);
	assert_fields(&spec, IS(object.how, SBT_ARG_FIRST), IS(words_offset, 8),
		      IS(words.how, SBT_ARG_NONE));
	assert_string_equal(family_name(SBT_FAMILY_PTHREAD), "pthread");
	assert_null(family_name(SBT_FAMILY_NONE));
	assert_null(family_name(SBT_FAMILIES));
	assert_string_equal(family_kind_name(SBT_KIND_COLLECTIVE), "collective");
	assert_null(family_kind_name(SBT_KINDS));
}

/* A library is known by the beginning of its file name, even if a package renamed it. */
static void test_libraries(void **state)
{
	static const struct {
		const char *file;
		bool known;
		/* traits of the library's family; 0: no function of a family is in this library */
		unsigned int traits;
	} files[] = {
		{ "libgomp.so.1", true, FAMILY_OPENMP },
		{ "libgomp-a34b3233.so.1.0.0", true, FAMILY_OPENMP },
		{ "libgomp-plugin-nvptx.so.1", true, 0 },
		{ "libomp.so.5", true, FAMILY_OPENMP },
		{ "libiomp5.so", true, FAMILY_OPENMP },
		{ "libomptarget.so.14", true, 0 },
		{ "libompitrace.so.40", true, 0 },
		{ "libmpi_mpifh.so.40", true, FAMILY_RANKS },
		{ "libmpich.so.12", true, FAMILY_RANKS },
		{ "libopen-pal.so.40", true, 0 },
		{ "libc.so.6", true, FAMILY_LIBC_OBJECT },
		{ "libc++.so.1", true, FAMILY_CXX },
		{ "libc++abi.so.1", true, 0 },
		{ "libboost_thread.so.1.74.0", true, FAMILY_COND_VAR },
		{ "libcrypto.so.3", false, 0 },
		{ "", false, 0 },
	};

	array_for_each (f, files, sizeof(files) / sizeof(files[0])) {
		assert_int_equal(family_library(f->file) != NULL, f->known);
		assert_int_equal(family_library_has(f->file, FAMILY_OPENMP | FAMILY_RANKS |
								     FAMILY_LIBC_OBJECT |
								     FAMILY_CXX | FAMILY_COND_VAR),
				 f->traits != 0);
		assert_int_equal(family_library_has(f->file, f->traits), f->traits != 0);
	}
}

/* An interpreter has no function of its own for barriers. The record has the number of threads. */
static void test_python(void **state)
{
	(void)state;
	assert_int_equal(family_by_name("python"), SBT_FAMILY_PYTHON);
	assert_true(family_has(SBT_FAMILY_PYTHON, FAMILY_INTERPRETED));
	assert_null(family_function("PyThread_acquire_lock", NULL));
	assert_int_equal(family_read_words(SBT_FAMILY_PYTHON, FAMILY_LIBC_GLIBC, 3).count, 3);
	assert_false(family_read_words(SBT_FAMILY_PYTHON, FAMILY_LIBC_GLIBC, 0).known);
}

/* Abseil's names contain the version of its inline namespace, which is arbitrary. */
static void test_absl(void **state)
{
	const struct family_function *f =
		family_function("_ZN4absl12lts_202301257Barrier5BlockEv", NULL);
	struct sbt_spec spec;

	assert_non_null(f);
	assert_ptr_equal(family_function("_ZN4absl7Barrier5BlockEv", NULL), f);
	assert_null(family_function("_ZN4absl7BarrierC1Ei", NULL));
	assert_int_equal(family_by_name("absl"), SBT_FAMILY_ABSL);
	assert_int_equal(family_by_name("none"), SBT_FAMILY_NONE);
	assert_int_equal(family_spec(f, EM_X86_64, &spec), 0);
	assert_fields(&spec, IS(family, SBT_FAMILY_ABSL), IS(object.how, SBT_ARG_FIRST),
		      IS(words_offset, SBT_WORDS_NONE), IS(words.how, SBT_ARG_REG),
		      IS(words.disp, 12), IS(words.size, 4));
	assert_int_equal(family_read_words(SBT_FAMILY_ABSL, FAMILY_LIBC_GLIBC, 4).count, 4);
}

/*
 * Arguments follow the calling conventions: the first six (x86-64) or eight (arm64) are in
 * registers, the rest on the stack.
 */
static void test_arguments(void **state)
{
	struct family_function f = { .symbol = "f", .object = FAMILY_ARGUMENT(4) };
	struct sbt_spec spec;

	assert_int_equal(family_spec(&f, EM_X86_64, &spec), 0);
	assert_fields(&spec, IS(object.how, SBT_ARG_REG),
		      IS(object.reg, 8 * 9), /* r8: R15 R14 R13 R12 RBP RBX R11 R10 R9 R8 */
		      IS(words_offset, SBT_WORDS_NONE));
	f.object.number = 7;
	assert_int_equal(family_spec(&f, EM_X86_64, &spec), 0);
	assert_fields(&spec.object, IS(how, SBT_ARG_MEM), IS(reg, 8 * 19), /* rsp */
		      IS(disp, 16));
	assert_int_equal(family_spec(&f, EM_AARCH64, &spec), 0);
	assert_fields(&spec.object, IS(how, SBT_ARG_REG), IS(reg, 56));
	f.object.number = 8;
	assert_int_equal(family_spec(&f, EM_AARCH64, &spec), 0);
	assert_fields(&spec.object, IS(how, SBT_ARG_MEM), IS(disp, 0));
	assert_int_equal(family_spec(&f, EM_386, &spec), -ENOTSUP);
	f.object = (struct family_arg){ .how = SBT_ARG_REG, .size = 4, .flags = SBT_ARG_POINTED };
	assert_int_equal(family_spec(&f, EM_X86_64, &spec), 0);
	assert_fields(&spec.object, IS(how, SBT_ARG_REG), IS(size, 4));
}

static void test_glibc_now(void **state)
{
	struct family_team t;

	t = read_pthread(FAMILY_LIBC_GLIBC, 4, 0);
	assert_true(t.known && t.sharing_known && !t.process_shared);
	assert_int_equal(t.count, 4);
	t = read_pthread(FAMILY_LIBC_GLIBC, 300, 128);
	assert_true(t.known && t.sharing_known && t.process_shared);
	assert_int_equal(t.count, 300);
	assert_false(read_pthread(FAMILY_LIBC_GLIBC, 0, 0).known);
	assert_false(read_pthread(FAMILY_LIBC_GLIBC, 0x80000000u, 0).known);
	assert_true(read_pthread(FAMILY_LIBC_GLIBC, 0x7fffffffu, 0).known);
}

static void test_glibc_before_2_25(void **state)
{
	struct family_team t;

	t = read_pthread(FAMILY_LIBC_GLIBC, 3, 4);
	assert_true(t.known && !t.sharing_known);
	assert_int_equal(t.count, 4);
	t = read_pthread(FAMILY_LIBC_GLIBC, 0, 2);
	assert_fields(&t, IS(known, true), IS(count, 2));
	/* More threads left than the count, so this is not a barrier. */
	assert_false(read_pthread(FAMILY_LIBC_GLIBC, 5, 4).known);
	assert_false(read_pthread(FAMILY_LIBC_GLIBC, 1, 0x80000000u).known);
}

static void test_musl(void **state)
{
	struct family_team t;

	t = read_pthread(FAMILY_LIBC_MUSL, 3, 77);
	assert_true(t.known && t.sharing_known && !t.process_shared);
	assert_int_equal(t.count, 4);
	t = read_pthread(FAMILY_LIBC_MUSL, 0x80000007u, 0);
	assert_true(t.known && t.process_shared);
	assert_int_equal(t.count, 8);
	assert_int_equal(read_pthread(FAMILY_LIBC_MUSL, 0, 0).count, 1);
	assert_false(read_pthread(FAMILY_LIBC_MUSL, 0xffffffffu, 0).known);
}

static void test_unknown(void **state)
{
	assert_false(read_pthread(FAMILY_LIBC_UNKNOWN, 4, 0).known);
	assert_false(family_read_words(SBT_FAMILY_NONE, FAMILY_LIBC_GLIBC, 4).known);
	assert_int_equal(family_libc_of(true, false), FAMILY_LIBC_GLIBC);
	assert_int_equal(family_libc_of(false, true), FAMILY_LIBC_MUSL);
	assert_int_equal(family_libc_of(false, false), FAMILY_LIBC_UNKNOWN);
	assert_int_equal(family_libc_of(true, true), FAMILY_LIBC_UNKNOWN);
}

/* The C library of this test program is the independent reference. */
static void test_live_barrier(void **state)
{
	uint32_t at = wait_row()->words_offset;
	pthread_barrierattr_t attr;
	pthread_barrier_t barrier;
	struct family_team t;
	uint64_t words;

	for (int shared = 0; shared < 2; shared++) {
		pthread_barrierattr_init(&attr);
		pthread_barrierattr_setpshared(&attr, shared ? PTHREAD_PROCESS_SHARED
							     : PTHREAD_PROCESS_PRIVATE);
		assert_int_equal(pthread_barrier_init(&barrier, &attr, 37), 0);
		memcpy(&words, (const char *)&barrier + at, sizeof(words));
		t = family_read_words(SBT_FAMILY_PTHREAD, FAMILY_LIBC_GLIBC, words);
		assert_true(t.known && t.sharing_known);
		assert_fields(&t, IS(count, 37), IS(process_shared, shared));
		pthread_barrier_destroy(&barrier);
	}
}

/* Check the same with musl: a program prints the bytes of its barrier. */
static void test_live_musl(void **state)
{
	const struct fixture *f = *state;
	struct family_team t;
	char out[64];

	if (!fixture_has(f, "musl-gcc"))
		skip();
	fixture_write(f, "m.c",
		      "#include <pthread.h>\n#include <stdio.h>\n#include <string.h>\n"
		      "int main(void) { pthread_barrier_t b; unsigned long long w;\n"
		      "pthread_barrier_init(&b, 0, 9); memcpy(&w, (char *)&b + 8, 8);\n"
		      "printf(\"%llx\\n\", w); return 0; }\n");
	fixture_run(f, "musl-gcc -static -o m m.c");
	fixture_output(f, out, sizeof(out), "./m");
	t = family_read_words(SBT_FAMILY_PTHREAD, FAMILY_LIBC_MUSL, strtoull(out, NULL, 16));
	assert_true(t.known && !t.process_shared);
	assert_int_equal(t.count, 9);
}

static void test_mpi(void **state)
{
	const struct family_function *f = family_function("MPI_Barrier", NULL);
	struct sbt_spec spec;

	assert_non_null(f);
	assert_fields(f, IS(family, SBT_FAMILY_MPI), IS(kind, SBT_KIND_EXPLICIT));
	assert_int_equal(family_spec(f, EM_X86_64, &spec), 0);
	assert_int_equal(spec.object.how, SBT_ARG_FIRST);
	/* In Fortran the argument is the address of the handle. */
	f = family_function("mpi_barrier_", NULL);
	assert_non_null(f);
	assert_int_equal(family_spec(f, EM_X86_64, &spec), 0);
	assert_fields(&spec.object, IS(flags, SBT_ARG_POINTED), IS(size, 4));
	/* The seventh argument is on the stack, above the return address. */
	f = family_function("PMPI_Alltoall", NULL);
	assert_non_null(f);
	assert_int_equal(family_spec(f, EM_X86_64, &spec), 0);
	assert_fields(&spec.object, IS(how, SBT_ARG_MEM), IS(disp, 8));
	f = family_function("MPI_Comm_split", NULL);
	assert_non_null(f);
	assert_int_equal(family_spec(f, EM_X86_64, &spec), 0);
	assert_fields(&spec, IS(flags, SBT_SPEC_MAKES), IS(words.reg, 88), /* rcx */
		      IS(what.size, 4));
	/* Some ranks leave these functions before all ranks have arrived. */
	assert_null(family_function("MPI_Bcast", NULL));
	assert_null(family_function("MPI_Reduce", NULL));
	assert_null(family_function("MPI_Barrier_init", NULL));
}

/*
 * A function that can be detached alone has a number, which its names in all languages share. A
 * function that creates communicators has the number of its family.
 */
static void test_probe_groups(void **state)
{
	static const char *const barriers[] = { "MPI_Barrier", "PMPI_Barrier", "mpi_barrier_",
						"mpi_barrier_f08_", "MPI_BARRIER" };
	static const char *const reduces[] = { "MPI_Allreduce", "PMPI_Allreduce_c",
					       "mpi_allreduce_f08ts_large_", "pmpi_allreduce_" };
	uint8_t barrier = family_probe_group(family_function("MPI_Barrier", NULL));
	uint8_t reduce = family_probe_group(family_function("MPI_Allreduce", NULL));

	assert_int_not_equal(barrier, reduce);
	assert_string_equal(family_probe_group_name(reduce), "MPI_Allreduce");
	assert_int_equal(family_of_probe_group(reduce), SBT_FAMILY_MPI);
	for (uint32_t i = 0; i < sizeof(barriers) / sizeof(barriers[0]); i++)
		assert_int_equal(family_probe_group(family_function(barriers[i], NULL)), barrier);
	for (uint32_t i = 0; i < sizeof(reduces) / sizeof(reduces[0]); i++)
		assert_int_equal(family_probe_group(family_function(reduces[i], NULL)), reduce);
	assert_int_equal(family_probe_group(family_function("MPI_Comm_dup", NULL)), SBT_FAMILY_MPI);
	assert_int_equal(family_probe_group(family_function("GOMP_parallel", NULL)),
			 SBT_FAMILY_GOMP);
	assert_int_equal(family_probe_group(family_function("pthread_barrier_wait", NULL)),
			 SBT_FAMILY_PTHREAD);
	assert_string_equal(family_probe_group_name(family_probe_group(
				    family_function("GOMP_barrier_cancel", NULL))),
			    "GOMP_barrier");
	/* Recordings contain these numbers, so they must not change. */
	assert_int_equal(barrier, SBT_PROBE_GROUPS_NAMED);
	assert_int_equal(family_probe_group(family_function("__kmpc_copyprivate", NULL)),
			 SBT_PROBE_GROUPS_NAMED + 14);
	assert_null(family_probe_group_name(SBT_FAMILY_MPI));
	assert_null(family_probe_group_name(SBT_PROBE_GROUPS_USER));
	assert_int_equal(family_of_probe_group(SBT_PROBE_GROUPS - 1), SBT_FAMILY_USER);
	assert_int_equal(family_of_probe_group(SBT_FAMILY_COND), SBT_FAMILY_COND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probe_groups), cmocka_unit_test(test_table),
		cmocka_unit_test(test_libraries),    cmocka_unit_test(test_absl),
		cmocka_unit_test(test_python),	     cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_glibc_now),    cmocka_unit_test(test_glibc_before_2_25),
		cmocka_unit_test(test_musl),	     cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_live_barrier), cmocka_unit_test(test_live_musl),
		cmocka_unit_test(test_mpi),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
