// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "test_sites_fixture.h"

#include <elf.h>
#include <errno.h>

#include "elf/signature.h"

DEFINE_CLEANUP_PTR(elf_close, struct elf_file *)

#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"
#define MUSL "/usr/lib/x86_64-linux-musl/libc.so"

static const char barrier_source[] =
	"#include <pthread.h>\n"
	"pthread_barrier_t b;\n"
	"static void *work(void *p) { pthread_barrier_wait(&b); return p; }\n"
	"int main(void) { pthread_t t; pthread_barrier_init(&b, 0, 2);\n"
	"  pthread_create(&t, 0, work, 0); work(0); return pthread_join(t, 0); }\n";

/*
 * A program that calls the barrier function only through a pointer. Only the unwind table shows
 * where the function starts.
 */
static const char pointer_source[] =
	"#include <pthread.h>\n"
	"pthread_barrier_t b; int (*volatile wait)(pthread_barrier_t *) = pthread_barrier_wait;\n"
	"int main(void) { pthread_barrier_init(&b, 0, 1); return wait(&b) == 1; }\n";

/* Mutexes, conditions and semaphores use futexes and atomics, but contain no barrier. */
static const char other_source[] =
	"#include <pthread.h>\n#include <semaphore.h>\n#include <stdio.h>\n"
	"pthread_mutex_t m; pthread_cond_t c; sem_t s; pthread_rwlock_t r; pthread_once_t o;\n"
	"static void once(void) {}\n"
	"static void *work(void *p) { pthread_rwlock_wrlock(&r); pthread_rwlock_unlock(&r);\n"
	"  pthread_mutex_lock(&m); pthread_cond_broadcast(&c); pthread_mutex_unlock(&m);\n"
	"  pthread_once(&o, once); sem_post(&s); return p; }\n"
	"int main(void) { pthread_t t; sem_init(&s, 0, 0); pthread_create(&t, 0, work, 0);\n"
	"  pthread_mutex_lock(&m); if (*(char *)&m == 7) pthread_cond_wait(&c, &m); sem_wait(&s);\n"
	"  printf(\"%p\\n\", (void *)&t); return pthread_join(t, 0); }\n";

/* A hand-written barrier that works like glibc's, with another layout. */
static const char own_source[] =
	"#include <limits.h>\n#include <linux/futex.h>\n#include <sys/syscall.h>\n"
	"struct own { unsigned in, out, round, shared, count; };\n"
	"static long call(unsigned *at, int op, unsigned v) { long r;\n"
	"  register long r10 __asm__(\"r10\") = 0;\n"
	"  __asm__ volatile(\"syscall\" : \"=a\"(r) : \"0\"(SYS_futex), \"D\"(at), \"S\"(op), "
	"\"d\"(v),\n"
	"    \"r\"(r10) : \"rcx\", \"r11\", \"memory\"); return r; }\n"
	"__attribute__((noinline)) int own_wait(struct own *b) {\n"
	"  unsigned i = __atomic_add_fetch(&b->in, 1, __ATOMIC_ACQ_REL), r = b->round;\n"
	"  unsigned limit = 0x7fffffffu - 0x7fffffffu % b->count;\n"
	"  while (i > limit) { call(&b->in, FUTEX_WAIT ^ b->shared, i); i = b->in; }\n"
	"  while (r < i && !__atomic_compare_exchange_n(&b->round, &r, i - i % b->count, 1,\n"
	"    __ATOMIC_RELEASE, __ATOMIC_RELAXED)) ;\n"
	"  call(&b->round, FUTEX_WAKE ^ b->shared, INT_MAX);\n"
	"  if (__atomic_add_fetch(&b->out, 1, __ATOMIC_ACQ_REL) == limit) {\n"
	"    b->round = 0; b->out = 0; b->in = 0; }\n"
	"  return i % b->count == 0; }\n"
	"int main(int n, char **a) { (void)a; struct own b = { 0, 0, 0, 0, n };\n"
	"  return own_wait(&b); }\n";

static int find_fd(int fd, struct signature *out)
{
	struct elf_traits traits;
	struct elf_file *elf;
	int err;

	err = elf_open(fd, &elf);
	close(fd);
	if (err)
		return err;
	elf_traits(elf, &traits);
	err = signature_find(elf, traits.machine, out);
	elf_close(elf);
	return err;
}

static int find(const struct fixture *f, const char *name, struct signature *out)
{
	return find_fd(fixture_open(f, name), out);
}

static uint64_t size_of(const struct fixture *f, const char *file, const char *name)
{
	char out[256];

	fixture_output(f, out, sizeof(out), "nm -S %s | awk '$4 == \"%s\" { print $2; exit }'",
		       file, name);
	assert_true(out[0]);
	return strtoull(out, NULL, 16);
}

/* Check that the functions found in @name are those that nm finds in @original. */
static void expect_found(const struct fixture *f, const char *name, const char *original, bool musl)
{
	struct signature s;
	struct elf_file *elf CLEANUP_PTR(elf_close);
	uint64_t offset;
	int fd;

	assert_int_equal(find(f, name, &s), 0);
	assert_fields(&s, IS(musl, musl),
		      IS(wait.vaddr, fixture_nm(f, original, "pthread_barrier_wait")),
		      IS(wait.size, size_of(f, original, "pthread_barrier_wait")),
		      IS(init.vaddr, musl ? 0 : fixture_nm(f, original, "pthread_barrier_init")));
	fd = fixture_open(f, name);
	assert_int_equal(elf_open(fd, &elf), 0);
	close(fd);
	assert_int_equal(elf_vaddr_to_offset(elf, s.wait.vaddr, &offset), 0);
	assert_int_equal(s.wait.offset, offset);
}

static void test_static(void **state)
{
	static const char *const flags[] = { "-O0 -static",
					     "-O2 -static",
					     "-O2 -static-pie -fPIE",
					     "-O2 -static -fno-plt",
					     "-O2 -static -Wl,-z,noseparate-code",
					     "-O2 -static -Wl,--eh-frame-hdr",
					     "-O2 -static -Wl,--gc-sections" };
	const struct fixture *f = *state;

	fixture_write(f, "b.c", barrier_source);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		fixture_run(f, "cc %s -o b b.c && strip -o b.bare b", flags[i]);
		expect_found(f, "b.bare", "b", false);
		/* Without the table, calls show where the function starts. */
		fixture_run(f, "strip -R .eh_frame -R .eh_frame_hdr -o b.none b");
		expect_found(f, "b.none", "b", false);
	}
}

static void test_unwind_table(void **state)
{
	const struct fixture *f = *state;
	struct signature s;

	fixture_write(f, "p.c", pointer_source);
	fixture_run(f, "cc -O2 -static -o p p.c && strip -o p.bare p");
	expect_found(f, "p.bare", "p", false);
	fixture_run(f, "strip -R .eh_frame -o p.none p");
	assert_int_equal(find(f, "p.none", &s), -ENOENT);
	/*
	 * The program header leads to the table if the section headers are missing (e_shoff is 0).
	 */
	fixture_run(f, "cc -O2 -static-pie -fPIE -o p p.c && strip -o p.bare p &&"
		       " printf '\\0\\0\\0\\0\\0\\0\\0\\0' |"
		       " dd of=p.bare bs=1 seek=40 conv=notrunc 2>/dev/null");
	expect_found(f, "p.bare", "p", false);
}

static void test_musl(void **state)
{
	const struct fixture *f = *state;
	struct signature s;

	if (!fixture_has(f, "musl-gcc"))
		skip();
	fixture_write(f, "m.c", barrier_source);
	fixture_run(f, "musl-gcc -O2 -static -o m m.c && strip -o m.bare m");
	expect_found(f, "m.bare", "m", true);
	fixture_run(f, "strip -R .eh_frame -o m.none m");
	expect_found(f, "m.none", "m", true);
	fixture_write(f, "mo.c", other_source);
	fixture_run(f, "musl-gcc -O2 -static -o mo mo.c");
	assert_int_equal(find(f, "mo", &s), -ENOENT);
}

static void test_nothing_there(void **state)
{
	static const char *const sources[] = { "int main(void) { return 0; }\n", other_source,
					       own_source };
	const struct fixture *f = *state;
	struct signature s;

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		fixture_write(f, "n.c", sources[i]);
		fixture_run(f, "cc -O2 -static -o n n.c");
		memset(&s, 0x55, sizeof(s));
		assert_int_equal(find(f, "n", &s), -ENOENT);
		assert_fields(&s, IS(wait.vaddr, 0), IS(init.vaddr, 0));
	}
	fixture_run(f, "cc -O2 -o n n.c");
	assert_int_equal(find(f, "n", &s), -ENOENT);
}

/*
 * If two functions look like the barrier, neither is used, because it is unknown which one the
 * program calls.
 */
static void test_two(void **state)
{
	const struct fixture *f = *state;
	struct signature s;

	fixture_write(f, "t.c", barrier_source);
	fixture_run(f, "set -e; ar x $(cc -print-file-name=libc.a) pthread_barrier_wait.o;"
		       " objcopy --prefix-symbols=x_ pthread_barrier_wait.o x.o;"
		       " objcopy --redefine-sym x___libc_fatal=abort x.o;"
		       " cc -O2 -static -o t t.c x.o");
	assert_int_equal(find(f, "t", &s), -ENOTUNIQ);
	assert_int_equal(s.wait.vaddr, 0);
}

static void test_other_machine(void **state)
{
	const struct fixture *f = *state;
	struct elf_file *elf CLEANUP_PTR(elf_close);
	struct signature s;
	int fd = fixture_open(f, "/proc/self/exe");

	assert_int_equal(elf_open(fd, &elf), 0);
	close(fd);
	assert_int_equal(signature_find(elf, EM_AARCH64, &s), -ENOTSUP);
}

static void expect_library(const struct fixture *f, const char *path)
{
	struct elf_symbol symbol;
	struct elf_file *elf;
	struct signature s;
	int fd;

	if (access(path, R_OK))
		return;
	fd = fixture_open(f, path);
	assert_int_equal(elf_open(fd, &elf), 0);
	close(fd);
	assert_int_equal(elf_find_function(elf, "pthread_barrier_wait", &symbol, 1), 1);
	assert_int_equal(signature_find(elf, EM_X86_64, &s), 0);
	assert_fields(&s.wait, IS(offset, symbol.offset), IS(size, symbol.size));
	if (!s.musl) {
		assert_int_equal(elf_find_function(elf, "pthread_barrier_init", &symbol, 1), 1);
		assert_int_equal(s.init.offset, symbol.offset);
	}
	elf_close(elf);
}

static void test_system(void **state)
{
	static const char *const strangers[] = { "/lib64/ld-linux-x86-64.so.2",
						 "/lib/x86_64-linux-gnu/libm.so.6",
						 "/lib/x86_64-linux-gnu/libgomp.so.1",
						 "/lib/x86_64-linux-gnu/libstdc++.so.6",
						 "/bin/bash",
						 "/usr/bin/python3" };
	const struct fixture *f = *state;
	struct signature s;

	expect_library(f, LIBC);
	expect_library(f, MUSL);
	for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++)
		if (!access(strangers[i], R_OK))
			assert_int_equal(find(f, strangers[i], &s), -ENOENT);
}

/* Check that every reported position in damaged bytes is in the file. */
static void check_damaged(const uint8_t *bytes, size_t len)
{
	struct signature s;

	if (find_fd(fixture_memory(bytes, len), &s))
		return;
	assert_true(s.wait.offset < len && s.wait.size <= len);
	assert_true(s.init.offset < len && s.init.size <= len);
}

static Elf64_Shdr *section(uint8_t *bytes, const char *name)
{
	Elf64_Ehdr *ehdr = (Elf64_Ehdr *)bytes;
	Elf64_Shdr *sh = (Elf64_Shdr *)(bytes + ehdr->e_shoff);
	const char *names = (const char *)bytes + sh[ehdr->e_shstrndx].sh_offset;

	for (size_t i = 0; i < ehdr->e_shnum; i++)
		if (!strcmp(names + sh[i].sh_name, name))
			return &sh[i];
	fail_msg("there is no section %s", name);
	return NULL;
}

static void damage(uint8_t *at, size_t len, unsigned int *seed)
{
	static const uint8_t values[] = { 0x00, 0xff, 0x7f, 0x80, 0x04, 0x01 };
	int n = 1 + rand_r(seed) % 40;

	while (n--)
		at[(size_t)rand_r(seed) % len] =
			rand_r(seed) % 2 ? (uint8_t)rand_r(seed) : values[rand_r(seed) % 6];
}

/*
 * Put random bytes into one section. The rest of a small file stays intact, so that the reader
 * reaches the damage.
 */
static void damage_section(const struct fixture *f, const char *file, const char *name, int times)
{
	int fd = fixture_open(f, file), i;
	unsigned int seed = 1;
	uint8_t *bytes CLEANUP_PTR(free), *copy CLEANUP_PTR(free);
	Elf64_Shdr *sh;
	size_t len;

	bytes = fixture_slurp(fd, &len);
	close(fd);
	copy = malloc(len);
	assert_non_null(copy);
	for (i = 0; i < times; i++) {
		memcpy(copy, bytes, len);
		sh = section(copy, name);
		/*
		 * Damage mostly the beginning, which has the common record that all others refer
		 * to.
		 */
		damage(copy + sh->sh_offset, i % 2 && sh->sh_size > 64 ? 64 : sh->sh_size, &seed);
		check_damaged(copy, len);
	}
}

static void test_damage(void **state)
{
	const struct fixture *f = *state;

	fixture_write(f, "d.c", barrier_source);
	fixture_run(f, "cc -O2 -static -o d d.c && strip d && "
		       "cc -O2 -static-pie -fPIE -o dp d.c && strip dp");
	damage_section(f, "d", ".eh_frame", 60);
	damage_section(f, "d", ".text", 40);
	damage_section(f, "dp", ".eh_frame_hdr", 20);
	damage_section(f, "dp", ".eh_frame", 20);
}

/* The sizes of the unwind table and of segments are wrong. */
static void test_lies(void **state)
{
	static const uint64_t sizes[] = { 0,	     1,		 7,	    9,
					  4096,	     1 << 20,	 1 << 30,   UINT32_MAX,
					  INT64_MAX, UINT64_MAX, 0x1000003, 0xfffffffff000 };
	const struct fixture *f = *state;
	uint8_t *bytes CLEANUP_PTR(free), *copy CLEANUP_PTR(free);
	Elf64_Phdr *ph;
	size_t len;
	int fd;

	fixture_write(f, "l.c", barrier_source);
	fixture_run(f, "cc -O2 -static -o l l.c && strip l");
	fd = fixture_open(f, "l");
	bytes = fixture_slurp(fd, &len);
	close(fd);
	copy = malloc(len);
	assert_non_null(copy);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		memcpy(copy, bytes, len);
		section(copy, ".eh_frame")->sh_size = sizes[i];
		check_damaged(copy, len);
		memcpy(copy, bytes, len);
		section(copy, ".eh_frame")->sh_addr = sizes[i];
		check_damaged(copy, len);
		memcpy(copy, bytes, len);
		ph = (Elf64_Phdr *)(copy + ((Elf64_Ehdr *)copy)->e_phoff);
		for (size_t j = 0; j < ((Elf64_Ehdr *)copy)->e_phnum; j++)
			if (ph[j].p_type == PT_LOAD)
				ph[j].p_filesz = sizes[i];
		check_damaged(copy, len);
		memcpy(copy, bytes, len);
		for (size_t j = 0; j < ((Elf64_Ehdr *)copy)->e_phnum; j++)
			if (ph[j].p_type == PT_LOAD)
				ph[j].p_vaddr = sizes[i] - 16;
		check_damaged(copy, len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_static), cmocka_unit_test(test_unwind_table),
		cmocka_unit_test(test_musl),   cmocka_unit_test(test_nothing_there),
		cmocka_unit_test(test_two),    cmocka_unit_test(test_other_machine),
		cmocka_unit_test(test_system), cmocka_unit_test(test_damage),
		cmocka_unit_test(test_lies),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
