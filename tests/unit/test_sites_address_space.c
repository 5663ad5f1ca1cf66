// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check call sites in libraries that are loaded and unloaded, in this process. */
#include "test_sites_fixture.h"

#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "sites/address_space.h"

struct world {
	struct fixture *fixture;
	struct modules *modules;
	struct symbol_server *symbols;
	struct address_spaces *spaces;
	struct address_space *space;
};

static struct world world_new(struct fixture *f)
{
	struct world w = { .fixture = f };

	assert_int_equal(modules_new(NULL, NULL, &w.modules), 0);
	assert_int_equal(symbol_server_new(NULL, &w.symbols), 0);
	assert_int_equal(address_spaces_new(w.modules, w.symbols, &w.spaces), 0);
	w.space = address_space_get(w.spaces, (uint32_t)getpid(), 1);
	assert_non_null(w.space);
	return w;
}

static void world_free(struct world *w)
{
	address_spaces_free(w->spaces);
	symbol_server_free(w->symbols);
	modules_free(w->modules);
}

/* Build a library of one function. The function has the library's name. */
static void make_library(const struct fixture *f, const char *name)
{
	fixture_run(
		f,
		"echo 'int %s(int x) { return x * 7 + 1; }' >%s.c && cc -g -O1 -shared -fPIC -o "
		"%s.so %s.c",
		name, name, name, name);
}

/*
 * Load a library and return its function. Set *@probe_site to an address in the function, as the
 * kernel reports it.
 */
static void *load(const struct world *w, const char *name, struct address_space_return *probe_site)
{
	char path[128];
	struct maps maps;
	const struct maps_entry *e;
	void *handle;

	snprintf(path, sizeof(path), "%s/%s.so", w->fixture->dir, name);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(handle);
	probe_site->ip = (uint64_t)(uintptr_t)dlsym(handle, name) + 1;
	assert_int_not_equal(probe_site->ip, 1);
	assert_int_equal(maps_read(getpid(), &maps), 0);
	e = maps_find(&maps, probe_site->ip);
	assert_non_null(e);
	probe_site->ino = e->ino;
	probe_site->dev = e->dev;
	probe_site->offset = probe_site->ip - e->start + e->offset;
	maps_free(&maps);
	return handle;
}

static const char *function_of(const struct world *w, uint32_t site)
{
	const struct site_name *name = address_spaces_site(w->spaces, site);

	assert_non_null(name);
	return name->nframes ? name->frames[0].function : NULL;
}

static const char *placed(const struct world *w, const struct address_space_return *probe_site)
{
	uint32_t site = address_space_return_site(w->spaces, w->space, probe_site);

	assert_int_not_equal(site, ADDRESS_SPACE_SITE_NONE);
	return function_of(w, site);
}

/* Return the name of the call site at @ip, found without the kernel's report of the file. */
static const char *sited(const struct world *w, uint64_t ip)
{
	uint32_t site = address_space_site(w->spaces, w->space, ip);

	assert_int_not_equal(site, ADDRESS_SPACE_SITE_NONE);
	return function_of(w, site);
}

static void test_another_at_its_address(void **state)
{
	struct address_space_return first = { 0 }, second = { 0 };
	void *handle;
	struct world w CLEANUP(world_free) = world_new(*state);

	make_library(w.fixture, "early");
	make_library(w.fixture, "later");
	handle = load(&w, "early", &first);
	assert_int_equal(address_space_read(w.spaces, w.space), 0);
	assert_string_equal(placed(&w, &first), "early");
	assert_int_equal(dlclose(handle), 0);
	handle = load(&w, "later", &second);
	assert_int_equal(address_space_read(w.spaces, w.space), 0);
	/* The same address has a current name and an earlier name. */
	if (second.ip == first.ip)
		assert_string_equal(
			function_of(&w, address_space_site(w.spaces, w.space, first.ip)), "later");
	else
		print_message("the second library is elsewhere\n");
	assert_string_equal(placed(&w, &first), "early");
	assert_string_equal(placed(&w, &second), "later");
	assert_int_equal(dlclose(handle), 0);
}

/*
 * The file was not examined while it was mapped. Its sites have no name, whatever is mapped there
 * now.
 */
static void test_never_examined(void **state)
{
	const struct site_name *name;
	struct address_space_return probe_site = { 0 };
	uint32_t site;
	void *handle;
	struct world w CLEANUP(world_free) = world_new(*state);

	make_library(w.fixture, "there");
	assert_int_equal(address_space_read(w.spaces, w.space), 0);
	handle = load(&w, "there", &probe_site);
	assert_int_equal(address_space_read(w.spaces, w.space), 0);
	probe_site.ino++;
	site = address_space_return_site(w.spaces, w.space, &probe_site);
	name = address_spaces_site(w.spaces, site);
	assert_fields(name, IS(module, NULL), IS(nframes, 0), IS(offset, probe_site.ip - 1));
	probe_site.unseen = true;
	probe_site.ino = 0;
	assert_null(placed(&w, &probe_site));
	assert_int_equal(dlclose(handle), 0);
}

/*
 * The program and the libraries with which it was linked cannot have been unmapped. Their addresses
 * are therefore named even if the kernel reported no file for them.
 */
static void test_from_the_beginning(void **state)
{
	struct address_space_return probe_site = {
		.ip = (uint64_t)(uintptr_t)test_another_at_its_address + 1
	};
	struct address_space_return library = { 0 };
	void *handle;
	struct world w CLEANUP(world_free) = world_new(*state);

	assert_int_equal(address_space_read(w.spaces, w.space), 0);
	assert_string_equal(placed(&w, &probe_site), "test_another_at_its_address");
	make_library(w.fixture, "came");
	handle = load(&w, "came", &library);
	library.unseen = true;
	library.ino = 0;
	assert_int_equal(address_space_read(w.spaces, w.space), 0);
	assert_int_equal(address_space_read(w.spaces, w.space), 0);
	assert_string_equal(placed(&w, &probe_site), "test_another_at_its_address");
	assert_null(placed(&w, &library));
	assert_int_equal(dlclose(handle), 0);
}

static int changes_now(void *ctx, uint32_t tgid, uint32_t inc, uint32_t *n)
{
	*n = *(uint32_t *)ctx;
	return 0;
}

/*
 * The mappings are read so late, after several changes, that another library may have been at the
 * address. A loaded library then has no name, but the program has one. If the last change could not
 * be read, the program has no name either.
 */
static void test_read_too_late(void **state)
{
	struct address_space_return probe_site = { 0 };
	uint64_t own = (uint64_t)(uintptr_t)test_never_examined + 1;
	uint32_t changes = 0;
	void *handle;
	struct world w CLEANUP(world_free) = world_new(*state);

	address_spaces_set_changes(w.spaces, changes_now, &changes);
	assert_int_equal(address_space_read(w.spaces, w.space), 0);
	make_library(w.fixture, "gone");
	handle = load(&w, "gone", &probe_site);
	changes = 4;
	w.space->changes = 2;
	assert_int_equal(address_space_read(w.spaces, w.space), 0);
	assert_string_equal(sited(&w, probe_site.ip), "gone");
	w.space->changes = 1;
	assert_null(sited(&w, probe_site.ip));
	assert_string_equal(sited(&w, own), "test_never_examined");
	w.space->changes = 4;
	assert_string_equal(sited(&w, probe_site.ip), "gone");
	w.space->changes = 5;
	assert_null(sited(&w, probe_site.ip));
	assert_int_equal(dlclose(handle), 0);
}

/*
 * Add a process with mappings that can no longer be read. If @from is not NULL, the process was
 * forked from @from.
 */
static struct address_space *gone(const struct world *w, uint32_t inc,
				  const struct address_space *from)
{
	struct address_space *space = address_space_get(w->spaces, 1u << 30, inc);

	assert_non_null(space);
	space->gone = true;
	if (!from)
		return space;
	assert_int_equal(address_space_inherit(space, from), 0);
	address_space_inherit_notes(space, from);
	return space;
}

static void assert_shared(const struct world *w, struct address_space *space, const void *at,
			  bool known, uint64_t key)
{
	bool is_known = !known;

	assert_int_equal(
		address_space_shared_key(w->spaces, space, (uint64_t)(uintptr_t)at, &is_known),
		key);
	assert_int_equal(is_known, known);
}

/* Return a report of the memory @at, as the kernel would send it. */
static struct address_space_memory memory_at(const void *at)
{
	const struct maps_entry *e;
	struct address_space_memory m;
	struct maps maps;

	assert_int_equal(maps_read(getpid(), &maps), 0);
	e = maps_find(&maps, (uint64_t)(uintptr_t)at);
	assert_non_null(e);
	m = (struct address_space_memory){ .start = e->start,
					   .end = e->end,
					   .offset = e->offset,
					   .ino = e->shared ? e->ino : 0,
					   .dev = e->dev };
	maps_free(&maps);
	return m;
}

static char *shared_pages(void *at)
{
	char *p = mmap(at, 1 << 16, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

/*
 * Shared memory has the same key whether its mapping was read, or was reported by the kernel when
 * an ancestor made a barrier there.
 */
static void test_shared(void **state)
{
	char *pages = shared_pages(NULL), *at = pages + 4096 + 64;
	struct address_space_memory m = memory_at(at);
	struct address_space *parent, *child, *later, *other;
	uint64_t key, other_key;
	struct world w CLEANUP(world_free) = world_new(*state);

	key = address_space_shared_key(w.spaces, w.space, (uint64_t)(uintptr_t)at, NULL);
	assert_int_not_equal(key, 0);
	assert_shared(&w, w.space, &w, true, 0);
	other = gone(&w, 4, NULL);
	parent = gone(&w, 1, NULL);
	assert_shared(&w, parent, at, false, 0);
	assert_int_equal(address_space_note_memory(w.spaces, parent, &m), 1);
	assert_int_equal(address_space_note_memory(w.spaces, parent, &m), 0);
	child = gone(&w, 3, gone(&w, 2, parent));
	assert_shared(&w, child, at, true, key);
	assert_shared(&w, child, pages + (1 << 16), false, 0);
	assert_shared(&w, other, at, false, 0);
	/*
	 * After the fork, other memory is mapped at that address, then the parent's own, and then
	 * memory that could not be read.
	 */
	shared_pages(pages);
	m = memory_at(at);
	assert_int_equal(address_space_note_memory(w.spaces, parent, &m), 1);
	later = gone(&w, 5, parent);
	other_key = address_space_shared_key(w.spaces, later, (uint64_t)(uintptr_t)at, NULL);
	assert_true(other_key && other_key != key);
	m.ino = 0;
	assert_int_equal(address_space_note_memory(w.spaces, parent, &m), 1);
	assert_shared(&w, parent, at, true, 0);
	m.unknown = true;
	assert_int_equal(address_space_note_memory(w.spaces, parent, &m), 1);
	assert_shared(&w, parent, at, false, 0);
	assert_shared(&w, later, at, true, other_key);
	assert_shared(&w, child, at, true, key);
	/*
	 * If the mappings that were read differ from the kernel's report, the mappings of a running
	 * process are read again. If the difference remains, nothing is known.
	 */
	m = memory_at(at);
	assert_int_equal(address_space_note_memory(w.spaces, w.space, &m), 1);
	assert_shared(&w, w.space, at, true, other_key);
	shared_pages(pages);
	assert_int_equal(address_space_read(w.spaces, w.space), 0);
	assert_shared(&w, w.space, at, false, 0);
	munmap(pages, 1 << 16);
}

/*
 * A process was forked and ended before it was read. It shares with its parent the memory that the
 * parent mapped after it was read.
 */
static void test_shared_with_parent(void **state)
{
	struct address_space *child, *other;
	uint64_t addr;
	char *pages;
	struct world w CLEANUP(world_free) = world_new(*state);

	assert_int_equal(address_space_read(w.spaces, w.space), 0);
	child = gone(&w, 3, w.space);
	child->parent_tgid = w.space->tgid;
	child->parent_inc = w.space->inc;
	pages = shared_pages(NULL);
	addr = (uint64_t)(uintptr_t)pages + 64;
	assert_int_equal(address_space_shared_key(w.spaces, child, addr, NULL),
			 address_space_shared_key(w.spaces, w.space, addr, NULL));
	assert_int_not_equal(address_space_shared_key(w.spaces, child, addr, NULL), 0);
	assert_false(address_space_shared_unknown(w.spaces, child, addr));
	/* Check private memory of the parent, and memory that neither process has. */
	assert_int_equal(address_space_shared_key(w.spaces, child, (uint64_t)(uintptr_t)&w, NULL),
			 0);
	assert_false(address_space_shared_unknown(w.spaces, child, (uint64_t)(uintptr_t)&w));
	assert_true(address_space_shared_unknown(w.spaces, child, 64));
	/* If it is not known that the process was forked, nothing is known about its memory. */
	other = gone(&w, 4, NULL);
	assert_false(address_space_shared_unknown(w.spaces, other, 64));
	munmap(pages, 1 << 16);
}

/* The inherited memory of a forked process is read when the process begins. */
static void test_see_inherited(void **state)
{
	char *pages = shared_pages(NULL);
	uint64_t addr = (uint64_t)(uintptr_t)pages + 64;
	struct world w CLEANUP(world_free) = world_new(*state);

	w.space->parent_tgid = 1u << 30;
	address_space_see_inherited(w.space);
	assert_false(w.space->read);
	w.space->gone = true;
	assert_int_not_equal(address_space_shared_key(w.spaces, w.space, addr, NULL), 0);
	munmap(pages, 1 << 16);
}

/* A program that repeatedly makes barriers in new memory does not fill the tracer's tables. */
static void test_shared_without_end(void **state)
{
	struct address_space_memory m = { .ino = 7 };
	struct address_space *space;
	struct world w CLEANUP(world_free) = world_new(*state);

	space = gone(&w, 1, NULL);
	for (uint32_t i = 0; i < 10000; i++) {
		m.start = 0x10000ULL * (i + 1);
		m.end = m.start + 4096;
		assert_int_equal(address_space_note_memory(w.spaces, space, &m), 1);
	}
	assert_shared(&w, space, (void *)0x10000, false, 0);
	assert_int_not_equal(address_space_shared_key(w.spaces, space, m.start, NULL), 0);
}

static uint32_t mapped_times;

static int count_mapped(void *ctx, uint32_t tgid, uint32_t inc, uint32_t *n)
{
	(void)ctx;
	(void)tgid;
	(void)inc;
	*n = mapped_times;
	return 0;
}

/*
 * A sample may be in code of no file: the vDSO, or code that the program has made. That must not
 * make sbt-trace read the mappings again for each sample.
 */
static void test_code_in_no_file(void **state)
{
	struct world w = world_new(*state);
	uint64_t vdso = getauxval(AT_SYSINFO_EHDR) + 64;
	struct address_space_code code;
	uint64_t reads, made;
	void *at;
	int i;

	mapped_times = 0;
	address_spaces_set_changes(w.spaces, count_mapped, NULL);
	at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	made = (uint64_t)(uintptr_t)at + 8;
	assert_int_not_equal(vdso, 64);
	assert_false(address_space_code(w.spaces, w.space, vdso, &code));
	reads = w.space->reads;
	assert_int_equal(reads, 1);
	for (i = 0; i < 10; i++) {
		assert_false(address_space_code(w.spaces, w.space, vdso, &code));
		assert_false(address_space_code(w.spaces, w.space, made, &code));
		address_space_site(w.spaces, w.space, vdso);
		address_space_site(w.spaces, w.space, made);
	}
	assert_int_equal(w.space->reads, reads);
	/* When the linker has mapped a file, the made code may have been replaced. */
	mapped_times++;
	assert_false(address_space_code(w.spaces, w.space, vdso, &code));
	assert_int_equal(w.space->reads, reads);
	assert_false(address_space_code(w.spaces, w.space, made, &code));
	assert_int_equal(w.space->reads, reads + 1);
	munmap(at, 4096);
	world_free(&w);
}

/*
 * Samples in code that the program has just made make sbt-trace read the mappings again, but they
 * must not make it read them all the time.
 */
static void test_see_code(void **state)
{
	struct world w = world_new(*state);
	uint64_t begin, reads, own = (uint64_t)(uintptr_t)test_see_code;
	void *at;
	int i;

	assert_int_equal(address_space_read(w.spaces, w.space), 0);
	reads = w.space->reads;
	at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	address_space_see_code(w.spaces, w.space, own);
	address_space_see_code(w.spaces, w.space, getauxval(AT_SYSINFO_EHDR) + 64);
	assert_int_equal(w.space->reads, reads);
	begin = now_ns();
	address_space_see_code(w.spaces, w.space, (uint64_t)(uintptr_t)at);
	assert_int_equal(w.space->reads, reads + 1);
	assert_non_null(address_space_find_code(w.space, (uint64_t)(uintptr_t)at));
	/* The read took 1 microsecond at least. */
	assert_true(w.space->see_from_ns > begin + 100000);
	w.space->see_from_ns = UINT64_MAX;
	/* No code is there. */
	for (i = 0; i < 20; i++)
		address_space_see_code(w.spaces, w.space, 8);
	assert_int_equal(w.space->reads, reads + 1);
	w.space->see_from_ns = 0;
	address_space_see_code(w.spaces, w.space, 8);
	assert_int_equal(w.space->reads, reads + 2);
	w.space->gone = true;
	w.space->see_from_ns = 0;
	address_space_see_code(w.spaces, w.space, 8);
	assert_int_equal(w.space->reads, reads + 2);
	munmap(at, 4096);
	world_free(&w);
}

/*
 * A record of a Python 3.11 function with one instruction in each of its first two lines.
 * @sent: how many bytes of the line table are in the record.
 */
static struct sbt_python_site python_function(const char *name, uint32_t number,
					      uint32_t first_line, uint32_t sent)
{
	/* without columns, one instruction, distance from the line before (twice the number) */
	static const uint8_t lines[] = { 0xe8, 0, 0xe8, 2 };
	struct sbt_python_site f = { .code = 0x1000,
				     .label = number,
				     .lines_size = sizeof(lines),
				     .first_line = first_line,
				     .lines_len = sent,
				     .minor = 11,
				     .file = { .n = 4, .width = 1 },
				     .name = { .n = (uint32_t)strlen(name), .width = 1 } };

	memcpy(f.file_chars, "a.py", 4);
	memcpy(f.name_chars, name, strlen(name));
	memcpy(f.lines, lines, sent < sizeof(lines) ? sent : sizeof(lines));
	return f;
}

static uint32_t python_position(const struct world *w, uint32_t number, uint32_t at)
{
	return address_space_python_code(
		w->spaces, w->space,
		&(struct sbt_python_at){ .code = 0x1000, .at = at, .function = number });
}

static void check_python(const struct world *w, uint32_t number, uint32_t at, const char *function,
			 uint32_t line)
{
	uint32_t site = python_position(w, number, at);
	const struct site_name *name;

	assert_int_not_equal(site, ADDRESS_SPACE_SITE_NONE);
	name = address_spaces_site(w->spaces, site);
	assert_int_equal(name->nframes, 1);
	assert_string_equal(name->frames[0].function ? name->frames[0].function : "", function);
	assert_int_equal(name->frames[0].line, line);
}

static void keep_python(const struct world *w, struct sbt_python_site f)
{
	assert_int_equal(address_space_python_function(w->spaces, w->space, &f), 0);
}

/* Functions of Python are known by what the kernel sent, whatever the process does later. */
static void test_python_functions(void **state)
{
	struct world w = world_new(*state);
	struct sbt_python_site f;

	/* Nothing was sent, and the process has no Python interpreter. */
	assert_int_equal(python_position(&w, 1, 0), ADDRESS_SPACE_SITE_NONE);
	keep_python(&w, python_function("f", 1, 10, 4));
	check_python(&w, 1, 0, "f", 10);
	check_python(&w, 1, 2, "f", 11);
	/* Others get the address. Samples of the first one may still follow. */
	keep_python(&w, python_function("g", 2, 20, 4));
	check_python(&w, 2, 2, "g", 21);
	check_python(&w, 1, 2, "f", 11);
	keep_python(&w, python_function("f", 1, 10, 4));
	check_python(&w, 1, 0, "f", 10);
	assert_int_equal(python_position(&w, 3, 0), ADDRESS_SPACE_SITE_NONE);
	/* Without the whole line table, which this process does not have, no line is known. */
	keep_python(&w, python_function("cut", 4, 30, 2));
	check_python(&w, 4, 0, "cut", 0);
	keep_python(&w, python_function("wrong", 5, 40, UINT32_MAX));
	check_python(&w, 5, 0, "wrong", 0);
	/* Texts that cannot be right. */
	f = python_function("wide", 6, 50, 4);
	f.name.n = UINT32_MAX;
	keep_python(&w, f);
	check_python(&w, 6, 0, "", 50);
	f = python_function("thin", 7, 60, 4);
	f.name.width = 0;
	keep_python(&w, f);
	check_python(&w, 7, 0, "", 60);
	/* What could not be read is not kept: perhaps the process can be read later. */
	f = python_function("", 8, 70, 4);
	keep_python(&w, f);
	assert_int_equal(python_position(&w, 8, 0), ADDRESS_SPACE_SITE_NONE);
	/* There is a limit for all functions together, which a process that is forgotten frees. */
	f = python_function("many", 0, 80, 0);
	f.lines_size = f.lines_len = sizeof(f.lines);
	for (f.label = 100; f.label < 100 + (80 << 20) / sizeof(f.lines); f.label++)
		keep_python(&w, f);
	assert_int_not_equal(python_position(&w, 100, 0), ADDRESS_SPACE_SITE_NONE);
	assert_int_equal(python_position(&w, f.label - 1, 0), ADDRESS_SPACE_SITE_NONE);
	/* A process that gets the same number later has functions of its own. */
	address_spaces_forget(w.spaces, w.space->tgid, w.space->inc);
	w.space = address_space_get(w.spaces, (uint32_t)getpid(), 2);
	assert_int_equal(python_position(&w, 1, 0), ADDRESS_SPACE_SITE_NONE);
	keep_python(&w, python_function("f", 1, 10, 4));
	check_python(&w, 1, 2, "f", 11);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_another_at_its_address, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_never_examined, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_from_the_beginning, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_read_too_late, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_shared, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_shared_with_parent, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_see_inherited, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_see_code, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_code_in_no_file, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_python_functions, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_shared_without_end, fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
