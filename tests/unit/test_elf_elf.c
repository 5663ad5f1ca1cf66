// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "test_sites_fixture.h"

#include <elf.h>
#include <errno.h>

#include "elf/elf.h"

DEFINE_CLEANUP_PTR(elf_close, struct elf_file *)

#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"

/* A function with unique first bytes, so that its offset can be found in the file. */
#define MARKED                                              \
	"__attribute__((naked, used)) int marked(void) {\n" \
	"  __asm__(\"movabs $0x5ab7ac35bad0cafe, %rax\\n\\tret\"); }\n"

static const uint8_t mark[] = { 0x48, 0xb8, 0xfe, 0xca, 0xd0, 0xba, 0x35, 0xac, 0xb7, 0x5a };

static const char barrier_source[] = MARKED
	"#include <pthread.h>\n#include <signal.h>\n"
	"pthread_barrier_t b; int inited = 7;\n"
	"static void on(int s) { (void)s; }\n"
	"int main(int argc, char **argv) { (void)argv; struct sigaction a = { .sa_handler = on };\n"
	"  if (argc > 1) sigaction(SIGUSR1, &a, 0);\n"
	"  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);\n"
	"  pthread_barrier_init(&b, 0, 1); return marked() == 3 || pthread_barrier_wait(&b) > 0; "
	"}\n";

static const char quiet_source[] = "int main(void) { return 0; }\n";

static struct elf_file *open_elf(const struct fixture *f, const char *name)
{
	struct elf_file *elf;
	int fd = fixture_open(f, name);

	assert_int_equal(fixture_elf(fd, &elf), 0);
	close(fd);
	return elf;
}

static void traits_of(const struct fixture *f, const char *name, struct elf_traits *t)
{
	struct elf_file *elf CLEANUP_PTR(elf_close) = open_elf(f, name);

	elf_traits(elf, t);
}

/* Copy the file without section headers, as some tools ship them. */
static void drop_sections(const struct fixture *f, const char *from, const char *to)
{
	char path[512];
	Elf64_Ehdr *ehdr;
	uint8_t *bytes CLEANUP_PTR(free);
	size_t len;
	FILE *file CLEANUP_PTR(fclose);
	int fd;

	fd = fixture_open(f, from);
	bytes = fixture_slurp(fd, &len);
	close(fd);
	ehdr = (Elf64_Ehdr *)bytes;
	memset(bytes + ehdr->e_shoff, 0xee, ehdr->e_shnum * sizeof(Elf64_Shdr));
	ehdr->e_shoff = 0;
	ehdr->e_shnum = 0;
	ehdr->e_shstrndx = 0;
	snprintf(path, sizeof(path), "%s/%s", f->dir, to);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
}

/* Check that the function has nm's address, and that its offset is where its bytes are. */
static void expect_marked(const struct fixture *f, const char *name, const char *original)
{
	struct elf_file *elf CLEANUP_PTR(elf_close) = open_elf(f, name);
	struct elf_symbol sym;
	uint64_t vaddr, offset;
	uint8_t *bytes CLEANUP_PTR(free), *at;
	const uint8_t *got;
	size_t len;
	int fd;

	assert_int_equal(elf_find_function(elf, "marked", &sym, 1), 1);
	assert_int_equal(sym.vaddr, fixture_nm(f, original, "marked"));
	fd = fixture_open(f, name);
	bytes = fixture_slurp(fd, &len);
	close(fd);
	at = memmem(bytes, len, mark, sizeof(mark));
	assert_non_null(at);
	assert_int_equal(sym.offset, at - bytes);
	assert_int_equal(elf_offset_to_vaddr(elf, sym.offset + 3, &vaddr), 0);
	assert_int_equal(vaddr, sym.vaddr + 3);
	assert_int_equal(elf_vaddr_to_offset(elf, sym.vaddr + 3, &offset), 0);
	assert_int_equal(offset, sym.offset + 3);
	assert_int_equal(elf_bytes(elf, sym.offset, sizeof(mark), &got), sizeof(mark));
	assert_memory_equal(got, mark, sizeof(mark));
}

static void test_offsets(void **state)
{
	static const char *const flags[] = { "-pie -fPIE",
					     "-no-pie",
					     "-static",
					     "-static-pie -fPIE",
					     "-no-pie -Wl,-z,noseparate-code",
					     "-pie -fPIE -Wl,-z,noseparate-code" };
	const struct fixture *f = *state;

	fixture_write(f, "marked.c", barrier_source);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		fixture_run(f, "cc %s -o marked marked.c -lpthread", flags[i]);
		expect_marked(f, "marked", "marked");
	}
	/* The function is in .dynsym only. */
	fixture_run(f, "cc -shared -fPIC -o marked.so marked.c && cp marked.so whole.so && strip "
		       "marked.so");
	expect_marked(f, "marked.so", "whole.so");
	drop_sections(f, "whole.so", "bare.so");
	expect_marked(f, "bare.so", "whole.so");
	fixture_run(f, "cc -shared -fPIC -Wl,--hash-style=sysv -o whole.so marked.c");
	drop_sections(f, "whole.so", "bare.so");
	expect_marked(f, "bare.so", "whole.so");
}

static void test_libc(void **state)
{
	const struct fixture *f = *state;
	struct elf_symbol sym[4];
	struct elf_file *elf CLEANUP_PTR(elf_close);

	if (access(LIBC, R_OK))
		skip();
	elf = open_elf(f, LIBC);
	/* Both versions of this function have the same address. */
	assert_int_equal(elf_find_function(elf, "pthread_barrier_wait", sym, 4), 1);
	assert_int_equal(sym[0].vaddr, fixture_nm(f, LIBC, "pthread_barrier_wait"));
	assert_true(sym[0].size > 0);
	assert_false(sym[0].from_symtab);
	/* The two versions of this function have different addresses. */
	assert_int_equal(elf_find_function(elf, "pthread_cond_wait", sym, 4), 2);
	assert_true(sym[0].vaddr != sym[1].vaddr);
	/* Symbols for which there is no room are counted, and not written. */
	memset(sym, 0, sizeof(sym));
	assert_int_equal(elf_find_function(elf, "pthread_cond_wait", sym, 1), 2);
	assert_int_equal(sym[1].vaddr, 0);
	/* A prefix does not match, nor does a variable or an indirect function. */
	assert_int_equal(elf_find_function(elf, "pthread_barrier_wai", sym, 4), 0);
	assert_int_equal(elf_find_function(elf, "pthread_barrier_waits", sym, 4), 0);
	assert_int_equal(elf_find_function(elf, "environ", sym, 4), 0);
	assert_int_equal(elf_find_function(elf, "strlen", sym, 4), 0);
}

static void test_versions(void **state)
{
	const struct fixture *f = *state;
	struct elf_symbol sym[4];
	struct elf_file *elf CLEANUP_PTR(elf_close);

	fixture_write(
		f, "ver.c",
		"int impl(void) { return 5; } int other(void) { return 6; }\n"
		"int meet_a(void) __attribute__((alias(\"impl\")));\n"
		"int meet_b(void) __attribute__((alias(\"impl\")));\n"
		"__asm__(\".symver meet_a, meet@V1\"); __asm__(\".symver meet_b, meet@@V2\");\n"
		"__asm__(\".symver impl, two@V1\"); __asm__(\".symver other, two@@V2\");\n");
	fixture_write(f, "ver.map", "V1 { global: meet; two; local: *; }; V2 { } V1;\n");
	fixture_run(f, "cc -shared -fPIC -Wl,--version-script=ver.map -o ver.so ver.c");
	elf = open_elf(f, "ver.so");
	/* .symtab has the names with versions. These names must not make a second entry. */
	assert_int_equal(elf_find_function(elf, "meet", sym, 4), 1);
	assert_int_equal(elf_find_function(elf, "two", sym, 4), 2);
}

static void test_static(void **state)
{
	const struct fixture *f = *state;
	struct elf_symbol sym[4];
	struct elf_traits t;
	struct elf_file *elf;
	static const char *const kinds[] = { "-static", "-static-pie -fPIE" };

	fixture_write(f, "st.c", barrier_source);
	for (size_t i = 0; i < 2; i++) {
		fixture_run(f, "cc %s -o st st.c", kinds[i]);
		elf = open_elf(f, "st");
		assert_int_equal(elf_find_function(elf, "pthread_barrier_wait", sym, 4), 1);
		assert_fields(&sym[0], IS(vaddr, fixture_nm(f, "st", "pthread_barrier_wait")),
			      IS(from_symtab, true));
		elf_traits(elf, &t);
		assert_true(t.glibc && !t.musl && t.executable && !t.dynamic && !t.go);
		assert_true(t.imports_setcanceltype && t.imports_signal && !t.imports_throw);
		assert_string_equal(t.interp, "");
		elf_close(elf);
	}
	/* Without symbols, the libc is recognised by its ABI note. */
	fixture_run(f, "strip st");
	traits_of(f, "st", &t);
	assert_true(t.glibc && t.stripped);
}

static void test_musl(void **state)
{
	const struct fixture *f = *state;
	struct elf_symbol sym[4];
	struct elf_traits t;
	struct elf_file *elf;
	const char *libc = "/lib/x86_64-linux-musl/libc.so";

	if (!fixture_has(f, "musl-gcc"))
		skip();
	fixture_write(f, "mu.c",
		      "#include <pthread.h>\npthread_barrier_t b;\n"
		      "int main(void) { return pthread_barrier_wait(&b); }\n");
	fixture_run(f, "musl-gcc -static -o mu mu.c");
	elf = open_elf(f, "mu");
	assert_int_equal(elf_find_function(elf, "pthread_barrier_wait", sym, 4), 1);
	assert_int_equal(sym[0].vaddr, fixture_nm(f, "mu", "pthread_barrier_wait"));
	elf_traits(elf, &t);
	assert_true(t.musl && !t.glibc && t.executable && !t.dynamic);
	assert_false(t.imports_setcanceltype);
	elf_close(elf);
	fixture_run(f, "musl-gcc -o mu mu.c");
	traits_of(f, "mu", &t);
	assert_true(!t.musl && !t.glibc && t.dynamic && t.executable);
	assert_says(t.interp, "ld-musl");
	if (access(libc, R_OK))
		return;
	elf = open_elf(f, libc);
	elf_traits(elf, &t);
	assert_true(t.musl && !t.glibc && !t.executable);
	assert_int_equal(elf_find_function(elf, "pthread_barrier_wait", sym, 4), 1);
	assert_int_equal(sym[0].vaddr, fixture_nm(f, libc, "pthread_barrier_wait"));
	elf_close(elf);
}

static void test_traits(void **state)
{
	const struct fixture *f = *state;
	struct elf_traits t;

	fixture_write(f, "tr.c", barrier_source);
	fixture_write(f, "quiet.c", quiet_source);
	fixture_run(f, "cc -pie -fPIE -Wl,--hash-style=gnu -o tr tr.c && "
		       "cc -pie -fPIE -o quiet quiet.c");
	traits_of(f, "tr", &t);
	assert_int_equal(t.machine, EM_X86_64);
	assert_true(t.executable && t.dynamic && !t.stripped && !t.glibc && !t.musl && !t.go);
	assert_true(t.imports_setcanceltype && t.imports_signal && !t.imports_throw);
	assert_fields(&t, TEXT(interp, "/lib64/ld-linux-x86-64.so.2"), TEXT(soname, ""));
	/*
	 * A program exports nothing. So the number of its imports cannot be read from its hash
	 * table.
	 */
	fixture_run(f, "cc -no-pie -Wl,--hash-style=gnu -o tr.fix tr.c");
	drop_sections(f, "tr.fix", "tr.bare");
	traits_of(f, "tr.bare", &t);
	assert_true(t.imports_setcanceltype && t.imports_signal && t.stripped && t.executable);
	fixture_run(f, "strip tr");
	traits_of(f, "tr", &t);
	assert_true(t.stripped && t.imports_setcanceltype && t.imports_signal);
	traits_of(f, "quiet", &t);
	assert_false(t.imports_setcanceltype || t.imports_signal || t.imports_throw);

	fixture_run(f, "cc -shared -fPIC -Wl,-soname,libtr.so.7 -o libtr.so tr.c");
	traits_of(f, "libtr.so", &t);
	assert_true(!t.executable && t.dynamic);
	assert_string_equal(t.soname, "libtr.so.7");
	if (!access(LIBC, R_OK)) {
		traits_of(f, LIBC, &t);
		assert_true(t.glibc && !t.musl && !t.executable);
		assert_string_equal(t.soname, "libc.so.6");
		assert_false(t.imports_signal || t.imports_setcanceltype);
	}
}

static void test_throw(void **state)
{
	const struct fixture *f = *state;
	struct elf_traits t;

	if (!fixture_has(f, "c++"))
		skip();
	fixture_write(f, "th.cc", "int main(int c, char **) { if (c > 5) throw 3; return 0; }\n");
	fixture_run(f, "c++ -o th th.cc");
	traits_of(f, "th", &t);
	assert_true(t.imports_throw);
	fixture_run(f, "c++ -static-libstdc++ -static-libgcc -o th th.cc");
	traits_of(f, "th", &t);
	assert_true(t.imports_throw);
}

/* Test with the go command, which is itself a Go program: to build one here would take too long. */
static void test_go(void **state)
{
	const struct fixture *f = *state;
	struct elf_traits t;
	char path[256];

	if (!fixture_has(f, "go"))
		skip();
	fixture_output(f, path, sizeof(path), "printf %%s \"$(go env GOROOT)/bin/go\"");
	if (access(path, R_OK))
		skip();
	fixture_run(f, "cp %s gotool", path);
	traits_of(f, "gotool", &t);
	assert_true(t.go);
	drop_sections(f, "gotool", "gobare");
	traits_of(f, "gobare", &t);
	assert_true(t.go);
}

static void test_build_id(void **state)
{
	const struct fixture *f = *state;
	struct elf_traits t;
	char want[256], have[2 * ELF_BUILD_ID_MAX + 1] = "";

	fixture_write(f, "id.c", quiet_source);
	fixture_run(f, "cc -Wl,--build-id=sha1 -o id id.c");
	fixture_output(f, want, sizeof(want), "readelf -n id | awk '/Build ID/ { printf $3 }'");
	drop_sections(f, "id", "id.bare");
	traits_of(f, "id.bare", &t);
	assert_int_equal(t.build_id_len, 20);
	for (size_t i = 0; i < t.build_id_len; i++)
		snprintf(have + 2 * i, 3, "%02x", t.build_id[i]);
	assert_string_equal(have, want);
	traits_of(f, "id", &t);
	assert_int_equal(t.build_id_len, 20);
	fixture_run(f, "cc -Wl,--build-id=none -o id id.c");
	traits_of(f, "id", &t);
	assert_int_equal(t.build_id_len, 0);
	fixture_run(f, "cc -Wl,--build-id=0xabcd -o id id.c");
	traits_of(f, "id", &t);
	assert_fields(&t, IS(build_id_len, 2), IS(build_id[0], 0xab));
	/* A build id that does not fit counts as none. */
	memset(want, '7', 160);
	want[160] = 0;
	fixture_run(f, "cc -Wl,--build-id=0x%s -o id id.c", want);
	traits_of(f, "id", &t);
	assert_int_equal(t.build_id_len, 0);
}

static void test_addresses(void **state)
{
	const struct fixture *f = *state;
	struct elf_file *elf;
	uint64_t data, out;
	const uint8_t *bytes;

	fixture_write(f, "ad.c", barrier_source);
	fixture_run(f, "cc -no-pie -o ad ad.c");
	data = fixture_nm(f, "ad", "inited");
	elf = open_elf(f, "ad");
	/* Data cannot have a probe, but its offset can be converted. */
	assert_int_equal(elf_vaddr_to_offset(elf, data, &out), -ENOENT);
	assert_int_equal(elf_vaddr_to_offset(elf, fixture_nm(f, "ad", "b"), &out), -ENOENT);
	assert_int_equal(elf_vaddr_to_offset(elf, 0, &out), -ENOENT);
	assert_int_equal(elf_vaddr_to_offset(elf, UINT64_MAX, &out), -ENOENT);
	assert_int_equal(elf_offset_to_vaddr(elf, UINT64_MAX, &out), -ENOENT);
	assert_int_equal(elf_offset_to_vaddr(elf, 1ULL << 40, &out), -ENOENT);
	assert_int_equal(elf_bytes(elf, UINT64_MAX, 4, &bytes), 0);
	assert_null(bytes);
	assert_int_equal(elf_bytes(elf, 0, 0, &bytes), 0);
	assert_int_equal(elf_bytes(elf, 0, 4, &bytes), 4);
	assert_memory_equal(bytes, ELFMAG, 4);
	/* elf_bytes() returns as many bytes as exist, and never more than 1 MiB. */
	assert_true(elf_bytes(elf, 16, SIZE_MAX, &bytes) > 10000);
	elf_close(elf);
	elf_close(NULL);
}

static int open_bytes(const uint8_t *bytes, size_t len)
{
	struct elf_file *elf;
	int fd = fixture_memory(bytes, len), err;

	err = fixture_elf(fd, &elf);
	assert_true(err || elf);
	elf_close(elf);
	close(fd);
	return err;
}

static void test_refusals(void **state)
{
	const struct fixture *f = *state;
	struct elf_file *elf;
	Elf64_Ehdr *ehdr;
	uint8_t *bytes;
	int fd;
	size_t len;

	fixture_write(f, "re.c", quiet_source);
	fixture_run(f, "cc -o re re.c && cc -c -o re.o re.c");
	assert_int_equal(open_bytes((const uint8_t *)"", 0), -ENOEXEC);
	assert_int_equal(open_bytes((const uint8_t *)"#!/bin/sh\n", 10), -ENOEXEC);
	assert_int_equal(open_bytes((const uint8_t *)ELFMAG, 4), -EBADMSG);
	assert_int_equal(open_bytes((const uint8_t *)"\177ELX", 4), -ENOEXEC);
	fd = fixture_open(f, "re.o");
	assert_int_equal(fixture_elf(fd, &elf), -ENOTSUP);
	assert_null(elf);
	close(fd);

	fd = fixture_open(f, "re");
	bytes = fixture_slurp(fd, &len);
	close(fd);
	ehdr = (Elf64_Ehdr *)bytes;
	assert_int_equal(open_bytes(bytes, len), 0);
	ehdr->e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(open_bytes(bytes, len), -ENOTSUP);
	ehdr->e_ident[EI_CLASS] = ELFCLASS64;
	ehdr->e_ident[EI_DATA] = ELFDATA2MSB;
	assert_int_equal(open_bytes(bytes, len), -ENOTSUP);
	ehdr->e_ident[EI_DATA] = ELFDATA2LSB;
	ehdr->e_phoff = len - 8;
	assert_int_equal(open_bytes(bytes, len), -EBADMSG);
	ehdr->e_phoff = UINT64_MAX - 8;
	assert_int_equal(open_bytes(bytes, len), -EBADMSG);
	ehdr->e_phoff = sizeof(*ehdr);
	ehdr->e_phentsize = 1;
	assert_int_equal(open_bytes(bytes, len), -EBADMSG);
	ehdr->e_phentsize = sizeof(Elf64_Phdr);
	ehdr->e_phnum = 0;
	assert_int_equal(open_bytes(bytes, len), -EBADMSG);
	free(bytes);
}

/* Find functions in a file that has only .symtab, where names include their versions. */
static void test_symtab_versions(void **state)
{
	const struct fixture *f = *state;
	struct elf_symbol sym[2];
	struct elf_file *elf CLEANUP_PTR(elf_close);
	Elf64_Phdr *ph;
	Elf64_Shdr *sh;
	Elf64_Ehdr *ehdr;
	uint8_t *bytes CLEANUP_PTR(free);
	size_t len;
	int fd CLEANUP_PTR(close);

	fixture_write(f, "sv.c",
		      "int impl(void) { return 5; }\n"
		      "__asm__(\".symver impl, versioned@@V1\");\n");
	fixture_write(f, "sv.map", "V1 { global: versioned; local: *; };\n");
	fixture_run(f, "cc -shared -fPIC -Wl,--version-script=sv.map -o sv.so sv.c");
	fd = fixture_open(f, "sv.so");
	bytes = fixture_slurp(fd, &len);
	close(fd);
	ehdr = (Elf64_Ehdr *)bytes;
	ph = (Elf64_Phdr *)(bytes + ehdr->e_phoff);
	sh = (Elf64_Shdr *)(bytes + ehdr->e_shoff);
	for (size_t i = 0; i < ehdr->e_phnum; i++)
		if (ph[i].p_type == PT_DYNAMIC)
			ph[i].p_type = PT_NULL;
	for (size_t i = 0; i < ehdr->e_shnum; i++)
		if (sh[i].sh_type == SHT_DYNSYM)
			sh[i].sh_type = SHT_NULL;
	fd = fixture_memory(bytes, len);
	assert_int_equal(fixture_elf(fd, &elf), 0);
	assert_int_equal(elf_find_function(elf, "versioned", sym, 2), 1);
	assert_fields(&sym[0], IS(from_symtab, true),
		      IS(vaddr, fixture_nm(f, "sv.so", "versioned")));
}

/*
 * A segment's size in the file is too small: code after its end is not in the file, and a note that
 * is cut is ignored.
 */
static void test_short_segments(void **state)
{
	const struct fixture *f = *state;
	struct elf_symbol sym;
	struct elf_traits t;
	struct elf_file *elf CLEANUP_PTR(elf_close);
	Elf64_Phdr *ph;
	Elf64_Ehdr *ehdr;
	uint8_t *bytes CLEANUP_PTR(free);
	uint64_t at, offset;
	size_t len;
	int fd CLEANUP_PTR(close);

	fixture_write(f, "ss.c", MARKED "int main(void) { return marked() == 3; }\n");
	fixture_run(f, "cc -Wl,--build-id=sha1 -o ss ss.c");
	at = fixture_nm(f, "ss", "marked");
	drop_sections(f, "ss", "ss.bare");
	fd = fixture_open(f, "ss");
	bytes = fixture_slurp(fd, &len);
	close(fd);
	ehdr = (Elf64_Ehdr *)bytes;
	ph = (Elf64_Phdr *)(bytes + ehdr->e_phoff);
	for (size_t i = 0; i < ehdr->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && (ph[i].p_flags & PF_X))
			ph[i].p_filesz = at - ph[i].p_vaddr;
	fd = fixture_memory(bytes, len);
	assert_int_equal(fixture_elf(fd, &elf), 0);
	assert_int_equal(elf_vaddr_to_offset(elf, at, &offset), -ENOENT);
	assert_int_equal(elf_vaddr_to_offset(elf, at - 1, &offset), 0);
	assert_int_equal(elf_find_function(elf, "marked", &sym, 1), 0);
	elf_close(elf);
	close(fd);
	free(bytes);

	fd = fixture_open(f, "ss.bare");
	bytes = fixture_slurp(fd, &len);
	close(fd);
	ehdr = (Elf64_Ehdr *)bytes;
	ph = (Elf64_Phdr *)(bytes + ehdr->e_phoff);
	for (size_t i = 0; i < ehdr->e_phnum; i++)
		if (ph[i].p_type == PT_NOTE &&
		    memcmp(bytes + ph[i].p_offset + 8, "\3\0\0\0GNU", 8) == 0)
			ph[i].p_filesz = 16 + 12;
	fd = fixture_memory(bytes, len);
	assert_int_equal(fixture_elf(fd, &elf), 0);
	elf_traits(elf, &t);
	assert_int_equal(t.build_id_len, 0);
}

/*
 * If a symbol table exists but cannot be read, the result differs from that for a missing function.
 */
static void test_broken_table(void **state)
{
	const struct fixture *f = *state;
	struct elf_symbol sym;
	struct elf_file *elf CLEANUP_PTR(elf_close);
	Elf64_Shdr *sh;
	Elf64_Ehdr *ehdr;
	uint8_t *bytes CLEANUP_PTR(free);
	size_t len;
	int fd CLEANUP_PTR(close);

	fixture_write(f, "br.c", barrier_source);
	fixture_run(f, "cc -static -o br br.c");
	fd = fixture_open(f, "br");
	bytes = fixture_slurp(fd, &len);
	close(fd);
	ehdr = (Elf64_Ehdr *)bytes;
	sh = (Elf64_Shdr *)(bytes + ehdr->e_shoff);
	for (size_t i = 0; i < ehdr->e_shnum; i++)
		if (sh[i].sh_type == SHT_SYMTAB)
			sh[i].sh_size = UINT64_MAX - 100;
	fd = fixture_memory(bytes, len);
	assert_int_equal(fixture_elf(fd, &elf), 0);
	assert_int_equal(elf_find_function(elf, "marked", &sym, 1), -EBADMSG);
}

/* Call every function that other modules call on a file. The results do not matter. */
static void exercise(struct elf_file *elf)
{
	struct elf_symbol sym[2];
	struct elf_traits t;
	const uint8_t *bytes;
	uint64_t out;
	size_t n;
	int found;

	elf_traits(elf, &t);
	assert_true(t.build_id_len <= ELF_BUILD_ID_MAX);
	assert_true(strnlen(t.interp, sizeof(t.interp)) < sizeof(t.interp));
	assert_true(strnlen(t.soname, sizeof(t.soname)) < sizeof(t.soname));
	found = elf_find_function(elf, "marked", sym, 2);
	for (int i = 0; i < found && i < 2; i++) {
		n = elf_bytes(elf, sym[i].offset, sym[i].size, &bytes);
		assert_true(n <= sym[i].size);
		assert_true(!n || bytes[0] + bytes[n - 1] >= 0);
		elf_offset_to_vaddr(elf, sym[i].offset, &out);
	}
}

static void test_truncated_under_us(void **state)
{
	const struct fixture *f = *state;
	struct elf_symbol sym;
	struct elf_file *elf CLEANUP_PTR(elf_close);
	const uint8_t *bytes;
	uint8_t *all CLEANUP_PTR(free);
	size_t len;
	int fd, mem CLEANUP_PTR(close);

	fixture_write(f, "tu.c", barrier_source);
	fixture_run(f, "cc -o tu tu.c");
	fd = fixture_open(f, "tu");
	all = fixture_slurp(fd, &len);
	close(fd);
	mem = fixture_memory(all, len);
	assert_int_equal(fixture_elf(mem, &elf), 0);
	assert_int_equal(ftruncate(mem, 100), 0);
	assert_int_equal(elf_find_function(elf, "marked", &sym, 1), 1);
	assert_int_equal(elf_bytes(elf, sym.offset, 10, &bytes), 0);
	assert_int_equal(elf_bytes(elf, 90, 20, &bytes), 10);
	exercise(elf);
}

static void open_and_exercise(int fd)
{
	struct elf_file *elf CLEANUP_PTR(elf_close);

	if (!fixture_elf(fd, &elf))
		exercise(elf);
}

static void test_truncations(void **state)
{
	const struct fixture *f = *state;
	uint8_t *all CLEANUP_PTR(free);
	size_t len;
	int fd, mem CLEANUP_PTR(close);

	fixture_write(f, "tn.c", barrier_source);
	fixture_run(f, "cc -shared -fPIC -o tn.so tn.c");
	fd = fixture_open(f, "tn.so");
	all = fixture_slurp(fd, &len);
	close(fd);
	mem = fixture_memory(all, len);
	for (size_t n = len; n > 4096; n -= n - 4096 < 61 ? n - 4096 : 61) {
		assert_int_equal(ftruncate(mem, (off_t)n), 0);
		open_and_exercise(mem);
	}
	for (size_t n = 4097; n--;) {
		assert_int_equal(ftruncate(mem, (off_t)n), 0);
		open_and_exercise(mem);
	}
}

static void flip(int mem, const uint8_t *all, size_t from, size_t len)
{
	static const uint8_t how[] = { 0x01, 0x80, 0xff };
	uint8_t b;

	for (size_t at = from; at < from + len; at++) {
		for (size_t k = 0; k < sizeof(how); k++) {
			b = all[at] ^ how[k];
			assert_int_equal(pwrite(mem, &b, 1, (off_t)at), 1);
			open_and_exercise(mem);
		}
		assert_int_equal(pwrite(mem, all + at, 1, (off_t)at), 1);
	}
}

/*
 * Flip each byte of the headers, of the dynamic section, hashes, versions, notes and symbols in
 * turn.
 */
static void test_flips(void **state)
{
	const struct fixture *f = *state;
	Elf64_Ehdr *ehdr;
	Elf64_Shdr *sh;
	uint8_t *all CLEANUP_PTR(free);
	size_t len;
	int fd, mem CLEANUP_PTR(close);

	fixture_write(f, "fl.c",
		      MARKED "int pthread_setcanceltype(int, int *);\n"
			     "int f(void) { return pthread_setcanceltype(0, 0); }\n");
	fixture_write(f, "fl.map", "GLIBC_2.99 { global: marked; local: *; };\n");
	fixture_run(f, "cc -shared -fPIC -nostdlib -Wl,--version-script=fl.map,--hash-style=both "
		       "-Wl,--build-id=sha1 -o fl.so fl.c");
	fd = fixture_open(f, "fl.so");
	all = fixture_slurp(fd, &len);
	close(fd);
	mem = fixture_memory(all, len);
	ehdr = (Elf64_Ehdr *)all;
	flip(mem, all, 0, sizeof(*ehdr) + ehdr->e_phnum * sizeof(Elf64_Phdr));
	flip(mem, all, ehdr->e_shoff, ehdr->e_shnum * sizeof(*sh));
	sh = (Elf64_Shdr *)(all + ehdr->e_shoff);
	for (size_t i = 0; i < ehdr->e_shnum; i++)
		if (sh[i].sh_type != SHT_NOBITS && sh[i].sh_type != SHT_PROGBITS &&
		    sh[i].sh_type != SHT_NULL)
			flip(mem, all, sh[i].sh_offset,
			     sh[i].sh_size < 1024 ? sh[i].sh_size : 1024);
}

/* Use counts and offsets of gigabytes, and values that wrap around. */
static void test_wild(void **state)
{
	static const uint64_t wild[] = { 0x7fffffff, 0xffffffff, 1ULL << 32,	 1ULL << 40,
					 INT64_MAX,  UINT64_MAX, UINT64_MAX - 7, UINT64_MAX - 63 };
	const struct fixture *f = *state;
	uint8_t *all CLEANUP_PTR(free);
	size_t len;
	int fd, mem CLEANUP_PTR(close);

	fixture_write(f, "wi.c", barrier_source);
	fixture_run(f, "cc -shared -fPIC -Wl,--hash-style=both -o wi.so wi.c");
	fd = fixture_open(f, "wi.so");
	all = fixture_slurp(fd, &len);
	close(fd);
	mem = fixture_memory(all, len);
	for (size_t at = 16; at + 8 <= len; at += 4) {
		for (size_t k = 0; k < sizeof(wild) / sizeof(wild[0]); k++) {
			assert_int_equal(pwrite(mem, &wild[k], 8, (off_t)at), 8);
			open_and_exercise(mem);
		}
		assert_int_equal(pwrite(mem, all + at, 8, (off_t)at), 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_offsets),
		cmocka_unit_test(test_libc),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_static),
		cmocka_unit_test(test_musl),
		cmocka_unit_test(test_traits),
		cmocka_unit_test(test_throw),
		cmocka_unit_test(test_go),
		cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_broken_table),
		cmocka_unit_test(test_symtab_versions),
		cmocka_unit_test(test_short_segments),
		cmocka_unit_test(test_truncated_under_us),
		cmocka_unit_test(test_truncations),
		cmocka_unit_test(test_flips),
		cmocka_unit_test(test_wild),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
