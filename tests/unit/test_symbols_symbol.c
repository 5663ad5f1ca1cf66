// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "test_sites_fixture.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "elf/elf.h"
#include "symbols/symbol.h"

DEFINE_CLEANUP_PTR(symbol_server_free, struct symbol_server *)

static const char plain_source[] = "int table[10];\n"
				   "static int hidden;\n"
				   "int\n"
				   "work(int x)\n"
				   "{\n"
				   "	table[x & 7] += x;\n"
				   "	return table[x & 3] + hidden++;\n"
				   "}\n"
				   "int main(int c, char **v)\n"
				   "{\n"
				   "	(void)v;\n"
				   "	return work(c);\n"
				   "}\n";

static const char inlined_source[] =
	"#include <stdlib.h>\n"
	"int table[10];\n"
	"namespace ns {\n"
	"struct S {\n"
	"	static inline __attribute__((always_inline)) int leaf(int x)\n"
	"	{\n"
	"		return abs(x * table[x & 7]);\n"
	"	}\n"
	"};\n"
	"inline __attribute__((always_inline)) int mid(int x)\n"
	"{\n"
	"	return S::leaf(x + 1)\n"
	"		+ 3;\n"
	"}\n"
	"__attribute__((noinline)) int outer(int x, const char *s)\n"
	"{\n"
	"	if (s[0] == 'x')\n"
	"		x += table[1];\n"
	"	return mid(x) * 7;\n"
	"}\n"
	"}\n"
	"int main(int c, char **v) { return ns::outer(c, *v); }\n";

static struct symbol_server *server_new(const char *debug_dir)
{
	struct symbol_options options = { .debug_dir = debug_dir };
	struct symbol_server *server;

	assert_int_equal(symbol_server_new(&options, &server), 0);
	return server;
}

static int look(struct symbol_server *server, const struct fixture *f, const char *name,
		uint64_t vaddr, struct symbol *out)
{
	char path[512];
	int fd = fixture_open(f, name), err;

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	err = symbol_lookup(server, fd, path, vaddr, out);
	close(fd);
	return err;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* --- against addr2line ----------------------------------------------------------------------- */

/* Check that the frames of one address equal those of addr2line. */
static void expect_as_addr2line(struct symbol_server *server, const struct fixture *f,
				const char *name, uint64_t vaddr)
{
	char out[4096], *function, *where, *colon, *save = NULL;
	struct symbol s;
	int i;

	assert_int_equal(look(server, f, name, vaddr, &s), 0);
	fixture_output(f, out, sizeof(out), "addr2line -i -f -C -e %s %#llx", name,
		       (unsigned long long)vaddr);
	function = strtok_r(out, "\n", &save);
	for (i = 0; function; i++) {
		where = strtok_r(NULL, "\n", &save);
		assert_non_null(where);
		assert_true(i < s.nframes);
		colon = strrchr(where, ':');
		assert_non_null(colon);
		*colon = 0;
		assert_string_equal(base_of(s.frames[i].file), base_of(where));
		assert_int_equal(s.frames[i].line, strtoul(colon + 1, NULL, 10));
		/*
		 * One tool may print the name alone, while the other prints namespace and
		 * arguments.
		 */
		if (!strstr(function, s.frames[i].function) &&
		    !strstr(s.frames[i].function, function))
			fail_msg("%#llx: %s, and addr2line has %s", (unsigned long long)vaddr,
				 s.frames[i].function, function);
		function = strtok_r(NULL, "\n", &save);
	}
	assert_int_equal(i, s.nframes);
}

static void expect_function_as_addr2line(const struct fixture *f, const char *name,
					 const char *mangled, int deepest)
{
	struct symbol_server *server CLEANUP_PTR(symbol_server_free) = server_new(NULL);
	struct elf_symbol sym;
	struct elf_file *elf;
	struct symbol s;
	int fd = fixture_open(f, name), most = 0;

	assert_int_equal(fixture_elf(fd, &elf), 0);
	assert_int_equal(elf_find_function(elf, mangled, &sym, 1), 1);
	elf_close(elf);
	close(fd);
	for (uint64_t at = sym.vaddr; at < sym.vaddr + sym.size; at += 3) {
		expect_as_addr2line(server, f, name, at);
		assert_int_equal(look(server, f, name, at, &s), 0);
		assert_int_equal(s.function_offset, at - sym.vaddr);
		if (s.nframes > most)
			most = s.nframes;
	}
	assert_int_equal(most, deepest);
}

static void test_inlined(void **state)
{
	const struct fixture *f = *state;

	if (!fixture_has(f, "g++"))
		skip();
	fixture_write(f, "in.cc", inlined_source);
	fixture_run(f, "g++ -g -O2 -o in in.cc");
	expect_function_as_addr2line(f, "in", "_ZN2ns5outerEiPKc", 3);
	fixture_run(f, "g++ -g -gdwarf-4 -O2 -static -o in4 in.cc");
	expect_function_as_addr2line(f, "in4", "_ZN2ns5outerEiPKc", 3);
}

/* clang nests functions in namespaces and writes no .debug_aranges. */
static void test_inlined_clang(void **state)
{
	const struct fixture *f = *state;

	if (!fixture_has(f, "clang++"))
		skip();
	fixture_write(f, "cl.cc", inlined_source);
	fixture_run(f, "clang++ -g -O2 -o cl cl.cc");
	expect_function_as_addr2line(f, "cl", "_ZN2ns5outerEiPKc", 3);
}

/*
 * Binutils cannot follow references to the files of split DWARF, so the same program without split
 * DWARF is the reference.
 */
static void test_split_dwarf(void **state)
{
	const struct fixture *f = *state;
	struct symbol_server *server CLEANUP_PTR(symbol_server_free);
	struct symbol split, whole;
	uint64_t from;
	int most = 0;

	if (!fixture_has(f, "g++"))
		skip();
	fixture_write(f, "sp.cc", inlined_source);
	fixture_run(f, "g++ -g -O2 -o whole sp.cc && g++ -g -gsplit-dwarf -O2 -o split sp.cc");
	from = fixture_nm(f, "whole", "_ZN2ns5outerEiPKc");
	assert_int_equal(fixture_nm(f, "split", "_ZN2ns5outerEiPKc"), from);
	server = server_new(NULL);
	for (uint64_t at = from; at < from + 32; at++) {
		assert_int_equal(look(server, f, "whole", at, &whole), 0);
		assert_int_equal(look(server, f, "split", at, &split), 0);
		assert_fields(&split, IS(nframes, whole.nframes),
			      IS(function_offset, whole.function_offset));
		for (int i = 0; i < whole.nframes; i++) {
			assert_fields(&split.frames[i], TEXT(function, whole.frames[i].function),
				      TEXT(file, whole.frames[i].file),
				      IS(line, whole.frames[i].line));
		}
		most = whole.nframes > most ? whole.nframes : most;
	}
	assert_int_equal(most, 3);
}

static void test_demangled(void **state)
{
	const struct fixture *f = *state;
	struct symbol_server *server CLEANUP_PTR(symbol_server_free);
	struct symbol s;

	if (!fixture_has(f, "g++"))
		skip();
	server = server_new(NULL);
	fixture_write(f, "de.cc", inlined_source);
	/* Check with DWARF, and with the symbol table alone. */
	fixture_run(f, "g++ -g -O2 -o de de.cc");
	assert_int_equal(look(server, f, "de", fixture_nm(f, "de", "_ZN2ns5outerEiPKc"), &s), 0);
	assert_string_equal(s.frames[s.nframes - 1].function, "ns::outer(int, char const*)");
	fixture_run(f, "g++ -O2 -o de de.cc");
	assert_int_equal(look(server, f, "de", fixture_nm(f, "de", "_ZN2ns5outerEiPKc"), &s), 0);
	assert_fields(&s, IS(nframes, 1), TEXT(frames[0].function, "ns::outer(int, char const*)"),
		      TEXT(frames[0].file, ""), IS(frames[0].line, 0));
}

/*
 * GCC gives the function of a region the mangled name of the original function, with a suffix that
 * identifies the region.
 */
static void test_outlined_names(void **state)
{
	static const char *const ways[] = { "g++ -g -O2 -fopenmp -o omp omp.cc",
					    "g++ -O2 -fopenmp -o omp omp.cc" };
	const struct fixture *f = *state;
	struct symbol_server *server CLEANUP_PTR(symbol_server_free);
	struct symbol s;

	if (!fixture_has(f, "g++"))
		skip();
	server = server_new(NULL);
	fixture_write(f, "omp.cc",
		      "extern \"C\" void usleep(unsigned);\n"
		      "static void loc(unsigned n)\n{\n#pragma omp parallel\n\tusleep(n);\n}\n"
		      "int main(int c, char **)\n{\n\tloc((unsigned)c);\n}\n");
	for (size_t i = 0; i < 2; i++) {
		fixture_run(f, "%s", ways[i]);
		assert_int_equal(
			look(server, f, "omp", fixture_nm(f, "omp", "_ZL3locj._omp_fn.0"), &s), 0);
		assert_fields(&s, IS(nframes, 1),
			      TEXT(frames[0].function, "loc(unsigned int) [clone ._omp_fn.0]"));
	}
}

/* Each marked line, and the name of the function that contains it, without parameters. */
static const struct {
	const char *mark, *function;
} scoped[] = {
	{ "/* worker */", "Worker::operator()" },
	{ "/* member */", "ns::(anonymous namespace)::Team::run::{lambda}" },
	{ "/* plain */", "main::{lambda}" },
	{ "/* generic */", "main::{lambda}" },
	{ "/* nested */", "main::{lambda}::{lambda}" },
	{ "/* local */", "main::Local::run" },
	{ "/* in local */", "main::Local::run::{lambda}" },
	{ "/* pointer */", "start::{lambda}" },
};

static const char scoped_source[] =
	"volatile int sink;\n"
	"template <class F> __attribute__((noinline)) static void call(F f) { f(1); }\n"
	"struct Worker {\n"
	"	void operator()(int n)\n	{\n"
	"		sink = n; /* worker */\n"
	"	}\n};\n"
	"namespace ns { namespace {\n"
	"struct Team {\n	int t = 3;\n"
	"	void run() const\n	{\n"
	"		call([this](int n) {\n"
	"			sink = n + t; /* member */\n"
	"		});\n	}\n};\n} }\n"
	"extern \"C\" int start(int c)\n{\n"
	"	void (*function)(int) = [](int n) {\n"
	"		sink = n * 7; /* pointer */\n"
	"	};\n	call(function);\n	return c;\n}\n"
	"int main(int c, char **)\n{\n"
	"	struct Local {\n		void run(int n)\n		{\n"
	"			sink = n * 5; /* local */\n"
	"			call([&](int k) {\n"
	"				sink = n * k; /* in local */\n"
	"			});\n		}\n	};\n"
	"	call([&](int n) {\n"
	"		sink = n + c; /* plain */\n"
	"	});\n"
	"	call([](auto n) {\n"
	"		sink = n; /* generic */\n"
	"		call([&](int k) {\n"
	"			sink = n + k; /* nested */\n"
	"		});\n	});\n"
	"	Local().run(c);\n	call(Worker());\n	ns::Team().run();\n"
	"	return start(c);\n}\n";

static unsigned line_of(const char *source, const char *mark)
{
	const char *at = strstr(source, mark), *s;
	unsigned line = 1;

	assert_non_null(at);
	for (s = source; s < at; s++)
		line += *s == '\n';
	return line;
}

/* Check the function of each marked line, wherever the compiler put its code. */
static void expect_scoped(const struct fixture *f, const char *name)
{
	struct symbol_server *server CLEANUP_PTR(symbol_server_free) = server_new(NULL);
	uint32_t found[ARRAY_SIZE(scoped)] = { 0 };
	struct elf_range code;
	struct elf_file *elf;
	struct symbol s;
	size_t i, len;
	int fd = fixture_open(f, name);

	assert_int_equal(fixture_elf(fd, &elf), 0);
	assert_true(elf_section(elf, ".text", 0, &code));
	elf_close(elf);
	close(fd);
	for (uint64_t at = code.vaddr; at < code.vaddr + code.size; at++) {
		assert_int_equal(look(server, f, name, at, &s), 0);
		for (i = 0; i < ARRAY_SIZE(scoped) && s.nframes; i++) {
			if (s.frames[0].line != line_of(scoped_source, scoped[i].mark))
				continue;
			len = strlen(scoped[i].function);
			if (strncmp(s.frames[0].function, scoped[i].function, len) != 0 ||
			    (s.frames[0].function[len] && s.frames[0].function[len] != '('))
				fail_msg("%s, %s: %s", name, scoped[i].mark, s.frames[0].function);
			found[i] = s.frames[0].declared;
			assert_int_not_equal(found[i], 0);
		}
	}
	for (i = 0; i < ARRAY_SIZE(scoped); i++)
		if (!found[i])
			fail_msg("%s: no code of %s", name, scoped[i].mark);
	/* Lambdas with the same name are different functions, also at the same column. */
	for (i = 0; i < ARRAY_SIZE(scoped); i++)
		for (len = 0; len < i; len++)
			assert_int_not_equal(found[i], found[len]);
}

/* A lambda has the name of its function, whatever the compiler writes about it. */
static void test_scoped(void **state)
{
	static const char *const compilers[] = { "g++", "clang++" };
	const struct fixture *f = *state;
	size_t i;
	int level;

	fixture_write(f, "scoped.cc", scoped_source);
	for (i = 0; i < ARRAY_SIZE(compilers); i++) {
		if (!fixture_has(f, compilers[i]))
			continue;
		for (level = 0; level < 4; level++) {
			fixture_run(f, "%s -std=c++17 -g -O%d -o scoped scoped.cc", compilers[i],
				    level);
			expect_scoped(f, "scoped");
		}
		fixture_run(f,
			    "%s -std=c++17 -g -gdwarf-4 -O2 -fPIC -shared -o scoped.so scoped.cc",
			    compilers[i]);
		expect_scoped(f, "scoped.so");
		fixture_run(f, "objcopy --only-keep-debug scoped scoped.debug && "
			       "strip scoped && objcopy --add-gnu-debuglink=scoped.debug scoped");
		expect_scoped(f, "scoped");
	}
}

/* Parts and copies of a function have its name, with debug information and without. */
static void test_parts(void **state)
{
	static const char *const ways[] = { "g++ -g", "g++" };
	static const char *const parts[] = { "_Z4worki.cold", "_ZL5oftenii.constprop.0" };
	static const char *const names[] = { "work", "often" };
	const struct fixture *f = *state;
	struct symbol_server *server CLEANUP_PTR(symbol_server_free);
	struct symbol s;

	if (!fixture_has(f, "g++"))
		skip();
	server = server_new(NULL);
	fixture_write(f, "parts.cc",
		      "#include <stdio.h>\nvolatile int sink;\n"
		      "struct Undo {\n	~Undo() { puts(\"undone\"); }\n};\n"
		      "static __attribute__((noinline)) int often(int n, int k)\n"
		      "{\n	for (int i = 0; i < n; i++)\n		sink += i * k;\n"
		      "	if (sink == 7)\n		throw 1;\n	return sink;\n}\n"
		      "__attribute__((noinline)) int work(int n)\n"
		      "{\n	Undo undo;\n	return often(n, 3) + 1;\n}\n"
		      "int main(int c, char **)\n{\n	return work(c) + often(c + 1, 3);\n}\n");
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		fixture_run(f, "%s -O2 -o parts parts.cc", ways[i]);
		for (size_t k = 0; k < ARRAY_SIZE(parts); k++) {
			assert_int_equal(
				look(server, f, "parts", fixture_nm(f, "parts", parts[k]), &s), 0);
			assert_true(s.nframes > 0);
			assert_int_equal(strcspn(s.frames[s.nframes - 1].function, "("),
					 strlen(names[k]));
			assert_memory_equal(s.frames[s.nframes - 1].function, names[k],
					    strlen(names[k]));
			assert_null(strchr(s.frames[s.nframes - 1].function, '['));
		}
	}
}

#ifdef HAVE_LIBIBERTY
#define RUST_NAME    "mycrate::foo::bar"
#define RUST_GENERIC "<mycrate::Pair as mycrate::Meet<u32>>::wait"
#else
#define RUST_NAME    "_RNvNtCs1234_7mycrate3foo3bar"
#define RUST_GENERIC "_RNvXCs1234_7mycrateNtB2_4PairINtB2_4MeetmE4wait"
#endif

/* Check Rust names of both schemes, and names that only look like Rust names. */
static void test_rust_names(void **state)
{
	static const char *const names[][2] = {
		{ "_RNvNtCs1234_7mycrate3foo3bar", RUST_NAME },
		{ "_RNvXCs1234_7mycrateNtB2_4PairINtB2_4MeetmE4wait", RUST_GENERIC },
		{ "_ZN4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
		  "main::{{closure}}" },
		{ "_Rubbish", "_Rubbish" },
		{ "_R", "_R" },
		{ "_RNvB_", "_RNvB_" }, /* this name refers to itself */
		{ "_start_it", "_start_it" },
	};
	const struct fixture *f = *state;
	struct symbol_server *server CLEANUP_PTR(symbol_server_free) = server_new(NULL);
	char source[2048] = "int main(void)\n{\n\treturn 0;\n}\n";
	struct symbol s;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		snprintf(source + strlen(source), sizeof(source) - strlen(source),
			 "int f%zu(void) __asm__(\"%s\");\nint f%zu(void)\n{\n\treturn %zu;\n}\n",
			 i, names[i][0], i, i);
	fixture_write(f, "rs.c", source);
	fixture_run(f, "cc -O1 -fno-ipa-icf -o rs rs.c");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(look(server, f, "rs", fixture_nm(f, "rs", names[i][0]), &s), 0);
		assert_fields(&s, IS(nframes, 1), TEXT(frames[0].function, names[i][1]));
	}
}

/* --- location of debugging information ----------------------------------------------------- */

static void expect_work(struct symbol_server *server, const struct fixture *f, const char *name,
			uint64_t vaddr, bool lines)
{
	struct symbol s;

	assert_int_equal(look(server, f, name, vaddr + 4, &s), 0);
	assert_fields(&s, IS(nframes, 1), TEXT(frames[0].function, "work"), IS(function_offset, 4));
	assert_string_equal(base_of(s.frames[0].file), lines ? "plain.c" : "");
	assert_int_equal(s.frames[0].line != 0, lines);
}

static void test_debug_places(void **state)
{
	const struct fixture *f = *state;
	struct symbol_server *server CLEANUP_PTR(symbol_server_free);
	char id[128], dir[128];
	struct symbol s;
	uint64_t at;

	fixture_write(f, "plain.c", plain_source);
	fixture_run(f, "cc -g -O1 -Wl,--build-id=sha1 -o plain plain.c");
	at = fixture_nm(f, "plain", "work");
	fixture_output(f, id, sizeof(id), "readelf -n plain | awk '/Build ID/ { printf $3 }'");
	assert_int_equal(strlen(id), 40);
	fixture_run(f,
		    "mkdir -p dbg/.build-id/%.2s && objcopy --only-keep-debug plain keep.dbg && "
		    "cp plain full && cp plain syms && strip -g syms && strip plain",
		    id);
	snprintf(dir, sizeof(dir), "%s/dbg", f->dir);
	server = server_new(dir);
	/* The file itself has debugging information, only symbols, or neither. */
	expect_work(server, f, "full", at, true);
	expect_work(server, f, "syms", at, false);
	assert_int_equal(look(server, f, "plain", at + 4, &s), 0);
	assert_int_equal(s.nframes, 0);
	/* The file is found by build id. A copy is another file, so no cached answer is used. */
	fixture_run(f, "mv keep.dbg dbg/.build-id/%.2s/%s.debug && cp plain byid", id, id + 2);
	expect_work(server, f, "byid", at, true);
	/* The file is found by debuglink, next to the program. */
	fixture_run(f,
		    "mv dbg/.build-id/%.2s/%s.debug link.dbg && cp plain linked && "
		    "objcopy --add-gnu-debuglink=link.dbg linked",
		    id, id + 2);
	expect_work(server, f, "linked", at, true);
}

static void test_data(void **state)
{
	const struct fixture *f = *state;
	struct symbol_server *server CLEANUP_PTR(symbol_server_free) = server_new(NULL);
	char name[SYMBOL_NAME_MAX];
	struct symbol s;
	uint64_t at, work;
	int fd CLEANUP_PTR(close);

	fixture_write(f, "da.c", plain_source);
	fixture_run(f, "cc -o da da.c");
	at = fixture_nm(f, "da", "table");
	work = fixture_nm(f, "da", "work");
	fd = fixture_open(f, "da");
	assert_true(symbol_data_name(server, fd, "da", at, name));
	assert_string_equal(name, "table");
	assert_true(symbol_data_name(server, fd, "da", at + 39, name));
	assert_string_equal(name, "table");
	assert_true(symbol_data_name(server, fd, "da", fixture_nm(f, "da", "hidden"), name));
	assert_string_equal(name, "hidden");
	assert_false(symbol_data_name(server, fd, "da", work, name));
	assert_string_equal(name, "");
	/* The address is in data, so there is no function. */
	assert_int_equal(symbol_lookup(server, fd, "da", at, &s), 0);
	assert_int_equal(s.nframes, 0);
	assert_int_equal(symbol_lookup(server, fd, "da", UINT64_MAX, &s), 0);
	assert_int_equal(s.nframes, 0);
}

/*
 * There are more files than the child keeps open, and each file is looked up twice. Each answer is
 * about the right file.
 */
static void test_many_files(void **state)
{
	const struct fixture *f = *state;
	struct symbol_server *server CLEANUP_PTR(symbol_server_free) = server_new(NULL);
	char name[32], want[32], source[128];
	struct symbol s;

	for (int i = 0; i < 4; i++) {
		snprintf(source, sizeof(source), "int only%d(void) { return %d; }\n", i, i);
		fixture_write(f, "mf.c", source);
		fixture_run(f, "cc -shared -fPIC -nostdlib -o mf%d.so mf.c", i);
	}
	fixture_run(f, "for i in $(seq 4 79); do cp mf$((i %% 4)).so mf$i.so; done");
	for (int turn = 0; turn < 2; turn++) {
		for (int i = 0; i < 80; i++) {
			snprintf(name, sizeof(name), "mf%d.so", i);
			snprintf(want, sizeof(want), "only%d", i % 4);
			/* All four files have their function at the same address. */
			assert_int_equal(
				look(server, f, name, fixture_nm(f, "mf0.so", "only0"), &s), 0);
			assert_fields(&s, IS(nframes, 1), TEXT(frames[0].function, want));
		}
	}
}

/* --- the child ------------------------------------------------------------------------------- */

/* Return the pid of the only child process, or 0. */
static pid_t child_pid(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	char path[300], line[512], *paren;
	pid_t found = 0;
	FILE *stat;
	int parent;

	assert_non_null(proc);
	while ((entry = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		stat = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? fopen(path, "r") : NULL;
		if (!stat)
			continue;
		if (fgets(line, sizeof(line), stat) && (paren = strrchr(line, ')')) &&
		    sscanf(paren, ") %*c %d", &parent) == 1 && parent == getpid())
			found = atoi(entry->d_name);
		fclose(stat);
	}
	closedir(proc);
	return found;
}

static void status_line(pid_t pid, const char *key, char *buf, size_t size)
{
	char path[64], line[512];
	FILE *file CLEANUP_PTR(fclose);

	buf[0] = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, key, strlen(key)) && line[strlen(key)] == ':') {
			snprintf(buf, size, "%.200s", line + strlen(key) + 1);
			buf[strcspn(buf, "\n")] = 0;
		}
	}
}

static void fixture_two(const struct fixture *f)
{
	fixture_write(f, "two.c", plain_source);
	fixture_run(f, "cc -g -o two two.c && cp two three");
}

static void test_unprivileged(void **state)
{
	const struct fixture *f = *state;
	struct symbol_server *server = server_new(NULL);
	char line[256], path[300];
	struct dirent *entry;
	struct symbol s;
	pid_t child;
	DIR *fds;

	fixture_two(f);
	assert_int_equal(child_pid(), 0); /* only the first request starts the child */
	assert_int_equal(look(server, f, "two", fixture_nm(f, "two", "work"), &s), 0);
	assert_int_equal(s.nframes, 1);
	child = child_pid();
	assert_true(child > 0);
	status_line(child, "CapEff", line, sizeof(line));
	assert_string_equal(line, "\t0000000000000000");
	status_line(child, "CapPrm", line, sizeof(line));
	assert_string_equal(line, "\t0000000000000000");
	status_line(child, "NoNewPrivs", line, sizeof(line));
	assert_string_equal(line, "\t1");
	if (geteuid() == 0) {
		status_line(child, "Uid", line, sizeof(line));
		assert_string_equal(line, "\t65534\t65534\t65534\t65534");
		status_line(child, "Gid", line, sizeof(line));
		assert_string_equal(line, "\t65534\t65534\t65534\t65534");
		status_line(child, "Groups", line, sizeof(line));
		assert_int_equal(strspn(line, "\t "), strlen(line));
		/*
		 * The child has only the socket, and the descriptors that it received for the file.
		 */
		snprintf(path, sizeof(path), "/proc/%d/fd", child);
		fds = opendir(path);
		assert_non_null(fds);
		while ((entry = readdir(fds))) {
			ssize_t n;

			snprintf(path, sizeof(path), "/proc/%d/fd/%.20s", child, entry->d_name);
			n = readlink(path, line, sizeof(line) - 1);
			if (n < 0)
				continue;
			line[n] = 0;
			if (strcmp(line, "/dev/null") && strncmp(line, "socket:", 7) &&
			    strncmp(line, f->dir, strlen(f->dir)))
				fail_msg("the child holds %s", line);
		}
		closedir(fds);
	}
	symbol_server_free(server);
	assert_int_equal(child_pid(), 0);
}

static void test_interrupt(void **state)
{
	const struct fixture *f = *state;
	struct symbol_server *server CLEANUP_PTR(symbol_server_free) = server_new(NULL);
	struct symbol s;
	pid_t child;

	fixture_two(f);
	assert_int_equal(look(server, f, "two", fixture_nm(f, "two", "work"), &s), 0);
	child = child_pid();
	kill(child, SIGINT);
	kill(child, SIGHUP);
	assert_int_equal(look(server, f, "two", fixture_nm(f, "two", "work"), &s), 0);
	assert_int_equal(s.nframes, 1);
	assert_int_equal(child_pid(), child);
	/* Signals from the terminal do not reach the child. */
	assert_true(getpgid(child) != getpgid(0));
}

static void test_killed_between(void **state)
{
	const struct fixture *f = *state;
	struct symbol_server *server CLEANUP_PTR(symbol_server_free) = server_new(NULL);
	struct timespec pause = { .tv_nsec = 100000000 };
	struct symbol s;
	pid_t child;

	fixture_two(f);
	assert_int_equal(look(server, f, "two", fixture_nm(f, "two", "work"), &s), 0);
	child = child_pid();
	kill(child, SIGKILL);
	nanosleep(&pause, NULL);
	/* The child was not working on a file when it ended, so a new child gets the request. */
	assert_int_equal(look(server, f, "two", fixture_nm(f, "two", "work"), &s), 0);
	assert_int_equal(s.nframes, 1);
	assert_true(child_pid() > 0 && child_pid() != child);
}

static void test_hang(void **state)
{
	const struct fixture *f = *state;
	struct symbol_server *server CLEANUP_PTR(symbol_server_free) = server_new(NULL);
	struct symbol s;
	uint64_t work;
	time_t start;
	pid_t child;

	fixture_two(f);
	work = fixture_nm(f, "two", "work");
	assert_int_equal(look(server, f, "three", work, &s), 0);
	child = child_pid();
	kill(child, SIGSTOP);
	start = time(NULL);
	assert_int_equal(look(server, f, "two", work, &s), -ETIMEDOUT);
	assert_int_equal(s.nframes, 0);
	assert_true(time(NULL) - start <= 8);
	assert_int_equal(child_pid(), 0); /* the child has ended, and is not a zombie */
	/* The same file is not tried again. A new child tries other files. */
	start = time(NULL);
	assert_int_equal(look(server, f, "two", work, &s), -ETIMEDOUT);
	assert_true(time(NULL) - start <= 1);
	assert_int_equal(look(server, f, "three", work, &s), 0);
	assert_int_equal(s.nframes, 1);
}

/* The child ends with its parent, whatever ended the parent. */
static void test_orphan(void **state)
{
	const struct fixture *f = *state;
	struct timespec pause = { .tv_nsec = 50000000 };
	struct symbol_server *server;
	int pair[2], i, status;
	pid_t middle, child = 0;
	struct symbol s;
	char stat[64];

	fixture_two(f);
	assert_int_equal(pipe(pair), 0);
	middle = fork();
	if (!middle) {
		server = server_new(NULL);
		look(server, f, "two", 0, &s);
		child = child_pid();
		/* Stop the child, so that the end of its input does not end it. */
		kill(child, SIGSTOP);
		if (write(pair[1], &child, sizeof(child)) != sizeof(child))
			_exit(1);
		_exit(0);
	}
	assert_int_equal(read(pair[0], &child, sizeof(child)), sizeof(child));
	waitpid(middle, &status, 0);
	assert_true(child > 0);
	snprintf(stat, sizeof(stat), "/proc/%d/statm", child);
	for (i = 0; i < 100 && !access(stat, F_OK); i++) {
		char line[64];

		status_line(child, "State", line, sizeof(line));
		if (strchr(line, 'Z')) /* the child is dead, but not yet reaped */
			break;
		nanosleep(&pause, NULL);
	}
	assert_true(i < 100);
	close(pair[0]);
	close(pair[1]);
}

static void test_no_file(void **state)
{
	struct symbol_server *server = server_new(NULL);
	struct symbol s;
	int pair[2];

	assert_int_equal(symbol_lookup(server, -1, "", 0, &s), -EBADF);
	assert_int_equal(pipe(pair), 0);
	assert_int_equal(symbol_lookup(server, pair[0], "", 0, &s), -EBADMSG);
	close(pair[0]);
	close(pair[1]);
	assert_int_equal(child_pid(), 0);
	symbol_server_free(server);
	symbol_server_free(NULL);
}

/*
 * debuginfod would reveal to a server on the network what is being traced. libdwfl reads the
 * environment when it is loaded, so this part runs in a separate program: see main().
 */
static int debuginfod_program(const char *path, bool ask)
{
	struct symbol_options options = { .debuginfod = ask };
	struct symbol_server *server;
	struct symbol s;
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0 || symbol_server_new(&options, &server))
		return 1;
	err = symbol_lookup(server, fd, path, 0x1139, &s);
	symbol_server_free(server);
	close(fd);
	return err || !getenv("DEBUGINFOD_URLS"); /* the tracer's own variable is unchanged */
}

/* Run a server without any files. It writes a byte to @notify for each request. Return its pid. */
static pid_t nothing_server(int sock, int notify)
{
	static const char none[] = "HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n";
	char buf[1024];
	pid_t pid = fork();
	int conn;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while ((conn = accept(sock, NULL, NULL)) >= 0) {
		if (write(notify, "x", 1) != 1 || read(conn, buf, sizeof(buf)) < 0 ||
		    write(conn, none, sizeof(none) - 1) < 0)
			break;
		close(conn);
	}
	_exit(0);
}

static void test_debuginfod(void **state)
{
	const struct fixture *f = *state;
	struct sockaddr_in addr = { .sin_family = AF_INET };
	socklen_t len = sizeof(addr);
	bool asked[2];
	int sock, reported[2];
	char self[256], byte;
	pid_t server;
	ssize_t n;

	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	assert_true(n > 0);
	self[n] = 0;
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(sock, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(sock, 4), 0);
	assert_int_equal(getsockname(sock, (struct sockaddr *)&addr, &len), 0);
	assert_int_equal(pipe2(reported, O_NONBLOCK | O_CLOEXEC), 0);
	server = nothing_server(sock, reported[1]);
	fixture_write(f, "nd.c", plain_source);
	fixture_run(f, "cc -Wl,--build-id=sha1 -o nd nd.c && strip nd && mkdir -p cache && "
		       "chmod 777 cache");
	for (int ask = 0; ask < 2; ask++) {
		fixture_run(f,
			    "DEBUGINFOD_URLS=http://127.0.0.1:%d/ DEBUGINFOD_TIMEOUT=5 "
			    "DEBUGINFOD_CACHE_PATH=%s/cache %s debuginfod %s/nd %d",
			    ntohs(addr.sin_port), f->dir, self, f->dir, ask);
		asked[ask] = read(reported[0], &byte, 1) > 0;
	}
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	close(sock);
	close(reported[0]);
	close(reported[1]);
	assert_false(asked[0]);
	/*
	 * The second run proves that the test would have detected a request in the first run. On
	 * systems without libdebuginfod, no run makes a request.
	 */
	if (!asked[1])
		print_message("no libdebuginfod here: the test proves little\n");
}

/* A damaged file affects only the answers about that file. */
static void test_damaged(void **state)
{
	const struct fixture *f = *state;
	struct symbol_server *server CLEANUP_PTR(symbol_server_free) = server_new(NULL);
	char name[SYMBOL_NAME_MAX];
	unsigned int seed = 7;
	struct symbol s;
	uint64_t work;
	uint8_t *all CLEANUP_PTR(free), *copy CLEANUP_PTR(free);
	size_t len;
	int fd, err;

	fixture_two(f);
	work = fixture_nm(f, "two", "work");
	fd = fixture_open(f, "two");
	all = fixture_slurp(fd, &len);
	close(fd);
	copy = malloc(len);
	assert_non_null(copy);
	for (unsigned i = 0; i < 60; i++) {
		memcpy(copy, all, len);
		for (unsigned k = 0; k < 40; k++) {
			seed = seed * 1103515245 + 12345;
			copy[64 + (seed >> 8) % (len - 64)] ^= (uint8_t)(1 + (seed >> 3) % 255);
		}
		/* The first 40 files are only damaged. Later files are also cut off. */
		fd = fixture_memory(copy, i < 40 ? len : len * (i - 39) / 21);
		err = symbol_lookup(server, fd, "damaged", work, &s);
		assert_true(err == 0 || err == -EPIPE || err == -ETIMEDOUT);
		assert_in_range(s.nframes, 0, SYMBOL_FRAMES_MAX);
		symbol_data_name(server, fd, "damaged", work, name);
		close(fd);
	}
	assert_int_equal(look(server, f, "two", work, &s), 0);
	assert_string_equal(s.frames[0].function, "work");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inlined),	       cmocka_unit_test(test_inlined_clang),
		cmocka_unit_test(test_split_dwarf),    cmocka_unit_test(test_demangled),
		cmocka_unit_test(test_outlined_names), cmocka_unit_test(test_rust_names),
		cmocka_unit_test(test_debug_places),   cmocka_unit_test(test_data),
		cmocka_unit_test(test_many_files),     cmocka_unit_test(test_unprivileged),
		cmocka_unit_test(test_interrupt),      cmocka_unit_test(test_killed_between),
		cmocka_unit_test(test_hang),	       cmocka_unit_test(test_orphan),
		cmocka_unit_test(test_no_file),	       cmocka_unit_test(test_debuginfod),
		cmocka_unit_test(test_damaged),	       cmocka_unit_test(test_scoped),
		cmocka_unit_test(test_parts),
	};

	/* Do not check for leaks: libcurl leaves memory behind when it is loaded. */
	if (argc == 4 && !strcmp(argv[1], "debuginfod"))
		_exit(debuginfod_program(argv[2], argv[3][0] == '1'));
	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
