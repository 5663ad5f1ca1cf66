// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Check child processes without privileges, and the child that reads modules: its rights, the
 * checks of its answers, and what happens when it ends.
 */
#include "test_sites_fixture.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "symbols/child.h"
#include "sites/module_internal.h"
#include "sites/reader.h"
#include "symbols/wire.h"

DEFINE_CLEANUP_PTR(modules_free, struct modules *)
DEFINE_CLEANUP_PTR(reader_free, struct reader *)

/* --- a child --------------------------------------------------------------------------------- */

/* The result of each call in the child: 0 or more, or -errno. */
struct tried {
	long open, open_to_write, create, stat, socket, kill, trace, fork, exec, memory_of, bpf;
	long x32, map;
};

static long raw(long result)
{
	return result < 0 ? -errno : result;
}

static void try_calls(void *ctx, int sock)
{
	static char *const none[] = { NULL };
	struct tried t;
	struct stat st;

	t.open = raw(syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY, 0));
	t.open_to_write = raw(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_WRONLY, 0));
	t.create = raw(syscall(SYS_openat, AT_FDCWD, "/tmp/sbt-unit-new", O_CREAT, 0600));
	t.stat = raw(syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", &st, 0));
	t.socket = raw(syscall(SYS_socket, AF_INET, SOCK_STREAM, 0));
	t.kill = raw(syscall(SYS_kill, getppid(), 0));
	t.trace = raw(syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0));
	t.fork = raw(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	t.exec = raw(syscall(SYS_execve, "/bin/true", none, none));
	t.memory_of = raw(syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0));
	t.bpf = raw(syscall(SYS_bpf, 0, NULL, 0));
#if defined(__x86_64__)
	t.x32 = raw(syscall(SYS_getpid | 0x40000000));
#else
	t.x32 = -EPERM;
#endif
	t.map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
	send(sock, &t, sizeof(t), MSG_NOSIGNAL);
	while (read(sock, &t, sizeof(t)) > 0)
		;
}

static void child_new(struct child *child, bool opens, struct tried *t)
{
	const struct child_kind kind = {
		.name = "sbt-tries", .opens = opens, .data = 64u << 20, .run = try_calls
	};
	struct child_patience patience = { .silent_ms = 5000, .most_ns = 5000000000u };

	*child = CHILD_NONE;
	assert_int_equal(child_start(child, &kind), 0);
	assert_int_equal(child_wait(child, &patience), 0);
	assert_int_equal(recv(child->sock, t, sizeof(*t), 0), sizeof(*t));
}

static void refuses_the_rest(const struct tried *t)
{
	assert_fields(t, IS(open_to_write, -EPERM), IS(create, -EPERM), IS(socket, -EPERM),
		      IS(kill, -EPERM), IS(trace, -EPERM), IS(fork, -EPERM), IS(exec, -EPERM),
		      IS(memory_of, -EPERM), IS(bpf, -EPERM), IS(x32, -EPERM), IS(map, 1));
}

static void test_calls(void **state)
{
	struct child child;
	struct tried t;

	child_new(&child, false, &t);
	child_stop(&child);
	assert_fields(&t, IS(open, -EPERM), IS(stat, -EPERM));
	refuses_the_rest(&t);
	child_new(&child, true, &t);
	child_stop(&child);
	assert_true(t.open >= 0);
	assert_int_equal(t.stat, 0);
	refuses_the_rest(&t);
}

/* The child shares no memory with the tracer, and inherits none of its descriptors. */
static void test_inherits_nothing(void **state)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char path[64], line[512], perms[8];
	int own = open("/etc/passwd", O_RDONLY | O_CLOEXEC), n = 0;
	struct dirent *entry;
	struct child child;
	struct tried t;
	FILE *maps;
	DIR *fds;

	assert_ptr_not_equal(page, MAP_FAILED);
	assert_true(own >= 0);
	child_new(&child, false, &t);
	snprintf(path, sizeof(path), "/proc/%d/maps", child.pid);
	maps = fopen(path, "r");
	/* Only root may inspect the child: its owner may not. */
	if (maps && geteuid() == 0) {
		while (fgets(line, sizeof(line), maps)) {
			assert_int_equal(sscanf(line, "%*s %7s", perms), 1);
			assert_int_equal(perms[3], 'p');
			n++;
		}
		assert_true(n > 3);
		snprintf(path, sizeof(path), "/proc/%d/fd", child.pid);
		fds = opendir(path);
		assert_non_null(fds);
		for (n = 0; (entry = readdir(fds));)
			n += entry->d_name[0] != '.';
		closedir(fds);
		/* The child has three descriptors of /dev/null, and the socket. */
		assert_int_equal(n, 4);
	}
	if (maps)
		fclose(maps);
	child_stop(&child);
	close(own);
	munmap(page, 4096);
}

/* --- answers -------------------------------------------------------------------------------- */

static const char *path_of(void *function)
{
	Dl_info info;

	assert_int_not_equal(dladdr(function, &info), 0);
	return info.dli_fname;
}

static const char *c_library(void)
{
	return path_of(dlsym(RTLD_DEFAULT, "pthread_barrier_wait"));
}

static void same_place(const struct module_probe_site *a, const struct module_probe_site *b)
{
	assert_fields(a, IS(function, b->function), TEXT(symbol, b->symbol));
	assert_memory_equal(&a->spec, &b->spec, sizeof(a->spec));
	assert_fields(a, IS(start, b->start), IS(offset, b->offset),
		      IS(entry.insn.class, b->entry.insn.class), TEXT(entry.why, b->entry.why),
		      IS(error, b->error), IS(nexits, b->nexits));
	assert_memory_equal(a->exits, b->exits, a->nexits * sizeof(a->exits[0]));
}

static void same_waits(const struct module_waits *a, const struct module_waits *b)
{
	assert_memory_equal(&a->spec, &b->spec, sizeof(a->spec));
	assert_fields(a, IS(nentries, b->nentries), IS(nexits, b->nexits));
	assert_memory_equal(a->entries, b->entries, a->nentries * sizeof(a->entries[0]));
	assert_memory_equal(a->exits, b->exits, a->nexits * sizeof(a->exits[0]));
	assert_string_equal(a->why, b->why);
}

static void test_same(void **state)
{
	const char *path = c_library();
	struct module *own CLEANUP_PTR(free) = calloc(1, sizeof(*own)), *m;
	struct rules known = { 0 };
	struct module_names names = { .known = &known, .module = own };
	int fd CLEANUP_PTR(close) = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_symbol around;
	struct modules *modules CLEANUP_PTR(modules_free);
	uint64_t vaddr, offset;

	assert_int_equal(modules_new(NULL, NULL, &modules), 0);
	m = modules_open(modules, path);
	assert_non_null(m);
	assert_fields(m, IS(error, 0), IS(is_elf, true), IS(elf, NULL));
	own->path = (char *)(uintptr_t)path;
	assert_int_equal(fixture_elf(fd, &own->elf), 0);
	module_examine(&names);
	assert_true(m->nplaces > 0);
	assert_int_equal(m->nplaces, own->nplaces);
	for (uint32_t i = 0; i < m->nplaces; i++)
		same_place(&m->places[i], &own->places[i]);
	same_waits(&m->waits, &own->waits);
	same_waits(&m->wakes, &own->wakes);
	same_waits(&m->joins, &own->joins);
	assert_fields(m, IS(traits.machine, own->traits.machine),
		      TEXT(traits.soname, own->traits.soname), IS(traits.glibc, own->traits.glibc),
		      IS(c_library, own->c_library));
	/* Convert an offset to an address and back. */
	assert_int_equal(module_offset_to_vaddr(m, m->places[0].start, &vaddr), 0);
	assert_int_equal(module_vaddr_to_offset(m, vaddr, &offset), 0);
	assert_int_equal(offset, m->places[0].start);
	assert_true(module_around(m, vaddr + 1, &around));
	assert_int_equal(around.vaddr, vaddr);
	assert_true(module_around(m, vaddr + 1, &around)); /* now from the stored answer */
	assert_int_equal(around.vaddr, vaddr);
	assert_false(module_around(m, UINT64_MAX - 5, &around));
	assert_true(module_defines(m, "pthread_barrier_wait"));
	assert_false(module_defines(m, "no_such_function"));
	assert_false(module_imports(m, "no_such_function"));
	assert_int_not_equal(module_insn(m, m->places[0].offset), INSN_UNKNOWN);
	elf_close(own->elf);
	free(own->places);
}

/* --- refused answers -------------------------------------------------------------------------- */

static void offsets_are_in(const struct module *m, const uint64_t *offsets, uint32_t n)
{
	uint64_t vaddr;

	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(module_offset_to_vaddr(m, offsets[i], &vaddr), 0);
}

static void all_in(const struct module *m, uint64_t size)
{
	assert_in_range(m->nsegments, 0, MODULE_SEGMENTS_MAX);
	for (uint32_t i = 0; i < m->nsegments; i++)
		assert_true(m->segments[i].offset + m->segments[i].size <= size);
	for (uint32_t i = 0; i < m->nplaces; i++) {
		assert_non_null(m->places[i].function);
		offsets_are_in(m, &m->places[i].offset, 1);
		offsets_are_in(m, m->places[i].exits, m->places[i].nexits);
	}
	offsets_are_in(m, m->waits.entries, m->waits.nentries);
	offsets_are_in(m, m->waits.exits, m->waits.nexits);
	offsets_are_in(m, m->makers, m->nmakers);
	assert_true(strnlen(m->traits.soname, sizeof(m->traits.soname)) < sizeof(m->traits.soname));
}

/* An answer about the C library with some bytes changed is either refused or consistent. */
static void test_lies(void **state)
{
	const char *path = c_library();
	const struct reader_asks asks = { .question = READER_EXAMINE, .text = path };
	struct rules known = { 0 };
	const struct module_names names = { .known = &known };
	int fd CLEANUP_PTR(close) = open(path, O_RDONLY | O_CLOEXEC);
	struct module *m CLEANUP_PTR(free) = calloc(1, sizeof(*m));
	uint32_t seed = 11, refused = 0;
	struct wire answer CLEANUP(wire_free), copy;
	struct reader *reader CLEANUP_PTR(reader_free);
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(reader_new(NULL, &known, NULL, &reader), 0);
	assert_int_equal(reader_ask(reader, fd, &asks, NULL, &answer), 0);
	for (uint32_t i = 0; i < 3000; i++) {
		copy = answer;
		copy.bytes = malloc(answer.len);
		memcpy(copy.bytes, answer.bytes, answer.len);
		for (uint32_t k = 0; i && k < 1 + i % 4; k++) {
			seed = seed * 1103515245 + 12345;
			/* Change a high byte of a number, or any byte. */
			copy.bytes[(seed >> 8) % answer.len] = (uint8_t)(seed >> 3);
		}
		/* The later copies are also cut off. */
		if (i > 2500)
			copy.len = answer.len * (i - 2500) / 600;
		memset(m, 0, sizeof(*m));
		module_wire(&copy, m, &names);
		if (copy.bad || copy.at != copy.len || !module_is_sound(m, (uint64_t)st.st_size))
			refused++;
		else
			all_in(m, (uint64_t)st.st_size);
		assert_true(i || !refused);
		module_forget_facts(m);
		wire_free(&copy);
	}
	print_message("%u of 3000 refused\n", refused);
	assert_true(refused > 500);
}

/* A damaged file affects only the data about that file. */
static void test_damaged(void **state)
{
	struct modules *modules CLEANUP_PTR(modules_free);
	unsigned int seed = 7;
	uint8_t *all CLEANUP_PTR(free), *copy CLEANUP_PTR(free);
	struct module *m;
	char path[64];
	size_t len;
	int fd;

	fd = open(c_library(), O_RDONLY | O_CLOEXEC);
	all = fixture_slurp(fd, &len);
	close(fd);
	copy = malloc(len);
	assert_non_null(copy);
	assert_int_equal(modules_new(NULL, NULL, &modules), 0);
	for (unsigned i = 0; i < 12; i++) {
		memcpy(copy, all, len);
		for (unsigned k = 0; k < 400; k++) {
			seed = seed * 1103515245 + 12345;
			copy[64 + (seed >> 8) % (k < 40 ? 4096 : len - 64)] ^=
				(uint8_t)(1 + (seed >> 3) % 255);
		}
		fd = fixture_memory(copy, len);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		m = modules_open(modules, path);
		assert_non_null(m);
		assert_true(m->is_elf == !m->error);
		if (m->is_elf)
			all_in(m, len);
		close(fd);
	}
	m = modules_open(modules, c_library());
	assert_non_null(m);
	assert_true(m->is_elf);
}

/* --- its end --------------------------------------------------------------------------------- */

/* Return the pid of the child named sbt-reader, or 0. */
static pid_t reader_pid(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	char path[300], line[512];
	pid_t found = 0;
	FILE *stat;
	int parent;

	assert_non_null(proc);
	while ((entry = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		stat = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? fopen(path, "r") : NULL;
		if (!stat)
			continue;
		if (fgets(line, sizeof(line), stat) && strstr(line, "(sbt-reader)") &&
		    sscanf(strstr(line, ") "), ") %*c %d", &parent) == 1 && parent == getpid())
			found = atoi(entry->d_name);
		fclose(stat);
	}
	closedir(proc);
	return found;
}

struct killing {
	uint32_t n, most;
};

static void kill_reader(void *ctx)
{
	struct killing *k = ctx;
	pid_t pid = k->n < k->most ? reader_pid() : 0;

	if (pid && !kill(pid, SIGKILL))
		k->n++;
}

/*
 * Open this test program, and call @idle while the child reads it. Try again until this disturbs
 * the child before it answers. The caller owns *modules.
 */
static struct module *open_disturbed(void (*idle)(void *ctx), struct killing *k,
				     struct modules **modules)
{
	struct module *m;

	for (int tries = 0; tries < 100; tries++) {
		k->n = 0;
		assert_int_equal(modules_new(NULL, NULL, modules), 0);
		modules_idle(*modules, idle, k);
		m = modules_open(*modules, "/proc/self/exe");
		assert_non_null(m);
		if (m->error)
			return m;
		modules_free(*modules);
	}
	fail_msg("each answer came before that");
	return NULL;
}

/*
 * The reader is killed while it reads a file. If other files may be the reason, the file is tried
 * once more. After a second failure it counts as unreadable. Other files are still read.
 */
static void test_killed(void **state)
{
	struct killing killing = { .most = 1 };
	struct modules *modules;
	struct module *m;

	/* This is the first file, so no other file can be the reason. */
	m = open_disturbed(kill_reader, &killing, &modules);
	assert_int_equal(killing.n, 1);
	assert_fields(m, IS(error, -EPIPE), IS(is_elf, false));
	assert_true(module_is_unread(m));
	assert_says(module_why(m->error), "damaged");
	modules_idle(modules, NULL, NULL);
	m = modules_open(modules, c_library());
	assert_non_null(m);
	assert_int_equal(m->error, 0);
	assert_true(m->nplaces > 0);
	/* The reader is killed between two requests, so no file is the reason. */
	kill(reader_pid(), SIGKILL);
	assert_true(module_defines(m, "pthread_create"));
	assert_int_equal(m->given_up, 0);
	modules_free(modules);
	assert_int_equal(reader_pid(), 0);
}

static void stop_reader(void *ctx)
{
	struct killing *k = ctx;
	pid_t pid = k->n < k->most ? reader_pid() : 0;

	if (pid && !kill(pid, SIGSTOP))
		k->n++;
}

static void test_stopped(void **state)
{
	struct killing stopping = { .most = 1 };
	struct modules *modules;
	struct module *m;
	time_t start = time(NULL);

	m = open_disturbed(stop_reader, &stopping, &modules);
	assert_int_equal(m->error, -ETIMEDOUT);
	assert_true(time(NULL) - start >= 4);
	m = modules_open(modules, c_library());
	assert_non_null(m);
	assert_int_equal(m->error, 0);
	modules_free(modules);
	assert_int_equal(reader_pid(), 0);
}

/* A library that a program needs may be a device, and opening a device can have effects. */
static void test_not_opened(void **state)
{
	char dir[] = "/tmp/sbt-unit-XXXXXX", path[64], events[512];
	int notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct modules *modules;
	struct module *m;

	assert_true(notify >= 0);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/pipe", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_true(inotify_add_watch(notify, path, IN_OPEN) >= 0);
	assert_int_equal(modules_new(NULL, NULL, &modules), 0);
	m = modules_open(modules, path);
	assert_non_null(m);
	assert_int_equal(m->error, -ENOEXEC);
	assert_true(read(notify, events, sizeof(events)) < 0);
	assert_int_equal(errno, EAGAIN);
	modules_free(modules);
	close(notify);
	unlink(path);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),	cmocka_unit_test(test_inherits_nothing),
		cmocka_unit_test(test_same),	cmocka_unit_test(test_lies),
		cmocka_unit_test(test_damaged), cmocka_unit_test(test_killed),
		cmocka_unit_test(test_stopped), cmocka_unit_test(test_not_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
