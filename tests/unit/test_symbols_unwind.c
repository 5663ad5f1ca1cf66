// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "test_sites_fixture.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "sites/address_space_internal.h"
#include "symbols/stack.h"
#include "symbols/symbol.h"

DEFINE_CLEANUP_PTR(symbol_server_free, struct symbol_server *)

/* Each line on which a frame must be found ends with a comment that names it. */
static const char sleep_source[] =
	"#include <time.h>\n"
	"#include <unistd.h>\n"
	"#define FAR __attribute__((noinline))\n"
	"volatile int sink;\n"
	"FAR int leaf(int x)\n"
	"{\n"
	"	struct timespec ts = { 1000, x };\n"
	"	sink++;\n"
	"	x += nanosleep(&ts, 0); /* at leaf */\n"
	"	sink++;\n"
	"	return x;\n"
	"}\n"
	/* The function uses so many registers that it must save some. */
	"FAR int middle(int a, int b, int c)\n"
	"{\n"
	"	int d = sink, e = sink, f = sink;\n"
	"	int r = leaf(a + b); /* at middle */\n"
	"	return r + a * b + c * d + e * f + sink;\n"
	"}\n"
	/* The frame has an unknown size and is aligned, so its CFA is an expression. */
	"FAR int outer(int x)\n"
	"{\n"
	"	volatile char pad[64] __attribute__((aligned(64)));\n"
	"	volatile char *more = __builtin_alloca((unsigned)x + 100u);\n"
	"	pad[x] = more[x] = 1;\n"
	"	return middle(x, x, x) + /* at outer */\n"
	"	       pad[x] + more[x];\n"
	"}\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	(void)argv;\n"
	"	sink += sbrk(8192) != 0;\n" /* creates a heap */
	"	sink += outer(argc); /* at main */\n"
	"	return sink;\n"
	"}\n";

static const char mutex_source[] = "#include <pthread.h>\n"
				   "#include <unistd.h>\n"
				   "#define FAR __attribute__((noinline))\n"
				   "static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;\n"
				   "volatile int sink;\n"
				   "FAR int take(int x)\n"
				   "{\n"
				   "	sink += pthread_mutex_lock(&mutex); /* at take */\n"
				   "	return sink + x;\n"
				   "}\n"
				   "static void *worker(void *arg)\n"
				   "{\n"
				   "	sink += take(3); /* at worker */\n"
				   "	return arg;\n"
				   "}\n"
				   "int main(void)\n"
				   "{\n"
				   "	pthread_t thread;\n"
				   "	pthread_mutex_lock(&mutex);\n"
				   "	pthread_create(&thread, 0, worker, 0);\n"
				   "	pthread_join(thread, 0);\n"
				   "	return sink;\n"
				   "}\n";

static const char signal_source[] = "#include <signal.h>\n"
				    "#include <time.h>\n"
				    "#include <unistd.h>\n"
				    "volatile int sink;\n"
				    "static void handler(int sig)\n"
				    "{\n"
				    "	struct timespec ts = { 1000, sig };\n"
				    "	sink += nanosleep(&ts, 0); /* at handler */\n"
				    "	sink++;\n"
				    "}\n"
				    "__attribute__((noinline)) int sender(int x)\n"
				    "{\n"
				    "	x += kill(getpid(), SIGUSR1); /* at sender */\n"
				    "	return x + sink;\n"
				    "}\n"
				    "int main(void)\n"
				    "{\n"
				    "	signal(SIGUSR1, handler);\n"
				    "	sink += sender(1); /* at main */\n"
				    "	return sink;\n"
				    "}\n";

/*
 * The thread is at the first instruction of a function. The byte before belongs to another
 * function.
 */
static const char spin_source[] =
	"#include <signal.h>\n"
	"#include <time.h>\n"
	"volatile int sink;\n"
	"int spin(void);\n"
	"__asm__(\".text\\n.globl before\\n.type before,@function\\n\"\n"
	"	\"before: nop\\n.size before, .-before\\n\"\n"
	"	\".globl spin\\n.type spin,@function\\nspin: .cfi_startproc\\n\"\n"
	"	\"1: jmp 1b\\n.cfi_endproc\\n.size spin, .-spin\\n\");\n"
	"static void handler(int sig)\n"
	"{\n"
	"	struct timespec ts = { 1000, sig };\n"
	"	sink += nanosleep(&ts, 0); /* at handler */\n"
	"	sink++;\n"
	"}\n"
	"__attribute__((noinline)) int leaf(int x)\n"
	"{\n"
	"	x += spin(); /* at leaf */\n"
	"	return x + sink;\n"
	"}\n"
	"int main(void)\n"
	"{\n"
	"	signal(SIGUSR1, handler);\n"
	"	sink += leaf(1); /* at main */\n"
	"	return sink;\n"
	"}\n";

/* The system call is in the program itself. The code after the call belongs to another line. */
static const char raw_source[] =
	"#include <time.h>\n"
	"volatile int sink;\n"
	"__attribute__((noinline)) int raw(long nr, struct timespec *ts)\n"
	"{\n"
	"	__asm__ volatile(\"syscall\" /* at raw */\n"
	"		: \"+a\"(nr) : \"D\"(ts), \"S\"(0) : \"rcx\", \"r11\", \"memory\");\n"
	"	__asm__ volatile(\"mov %0, %0\" : \"+r\"(nr));\n"
	"	return (int)nr + sink;\n"
	"}\n"
	"int main(void)\n"
	"{\n"
	"	struct timespec ts = { 1000, 0 };\n"
	"	sink += raw(35, &ts); /* at main */\n"
	"	return sink;\n"
	"}\n";

/* --- a blocked thread and its sample --------------------------------------------------------- */

static void pause_a_bit(void)
{
	struct timespec pause = { .tv_nsec = 2000000 };

	nanosleep(&pause, NULL);
}

static pid_t start(const struct fixture *f, const char *program)
{
	char path[256];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/%s", f->dir, program);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(path, program, (char *)NULL);
		_exit(127);
	}
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Wait for at most 10 s until a thread of @pid is in one of two system calls. */
static pid_t wait_for(pid_t pid, long nr, long other)
{
	char path[320], text[256], want[64];
	struct dirent *entry;
	pid_t found = 0;
	int fd;
	ssize_t n;
	DIR *tasks;

	for (int i = 0; i < 5000 && !found; i++) {
		pause_a_bit();
		snprintf(path, sizeof(path), "/proc/%d/task", pid);
		tasks = opendir(path);
		assert_non_null(tasks);
		while ((entry = readdir(tasks))) {
			if (entry->d_name[0] == '.')
				continue;
			snprintf(path, sizeof(path), "/proc/%d/task/%s/syscall", pid,
				 entry->d_name);
			fd = open(path, O_RDONLY | O_CLOEXEC);
			n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
			if (fd >= 0)
				close(fd);
			text[n > 0 ? n : 0] = 0;
			snprintf(want, sizeof(want), "%ld ", nr);
			if (!strncmp(text, want, strlen(want)))
				found = atoi(entry->d_name);
			snprintf(want, sizeof(want), "%ld ", other);
			if (!strncmp(text, want, strlen(want)))
				found = atoi(entry->d_name);
		}
		closedir(tasks);
	}
	assert_true(found > 0);
	return found;
}

/* Fill a sample as the BPF program does, but with ptrace. */
static void capture(pid_t pid, pid_t tid, struct sbt_stack *sample)
{
	struct iovec iov;
	struct stack_regs regs;
	char path[64];
	int status, fd;
	ssize_t n;

	memset(sample, 0, sizeof(*sample));
	iov.iov_base = sample->regs;
	iov.iov_len = sizeof(sample->regs);
	assert_int_equal(ptrace(PTRACE_SEIZE, tid, 0, 0), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, tid, 0, 0), 0);
	assert_int_equal(waitpid(tid, &status, __WALL), tid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &iov), 0);
	assert_int_equal(stack_first(sample, &regs), 0);
	sample->tgid = (uint32_t)pid;
	sample->sp = regs.value[STACK_SP];
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	n = pread(fd, sample->bytes, sizeof(sample->bytes), (off_t)sample->sp);
	assert_true(n > 0);
	sample->len = (uint32_t)n;
	close(fd);
	assert_int_equal(ptrace(PTRACE_DETACH, tid, 0, 0), 0);
}

/* --- frames -------------------------------------------------------------------------------- */

struct world {
	struct modules *modules;
	struct symbol_server *symbols;
	struct address_spaces *spaces;
	struct address_space *space;
	uint32_t sites[ADDRESS_SPACE_UNWIND_MAX];
	uint32_t n;
};

static void world_new(struct world *w, pid_t pid)
{
	memset(w, 0, sizeof(*w));
	assert_int_equal(modules_new(NULL, NULL, &w->modules), 0);
	assert_int_equal(symbol_server_new(NULL, &w->symbols), 0);
	assert_int_equal(address_spaces_new(w->modules, w->symbols, &w->spaces), 0);
	w->space = address_space_get(w->spaces, (uint32_t)pid, 1);
	assert_non_null(w->space);
}

static void world_free(struct world *w)
{
	address_spaces_free(w->spaces);
	symbol_server_free(w->symbols);
	modules_free(w->modules);
}

static void unwind(struct world *w, const struct sbt_stack *sample)
{
	assert_int_equal(address_space_unwind(w->spaces, w->space, sample, w->sites,
					      ADDRESS_SPACE_UNWIND_MAX, &w->n),
			 0);
}

/* Return the function of frame @i without inlined functions, or "" if unknown. */
static const struct site_frame *frame_of(struct world *w, uint32_t i)
{
	static const struct site_frame none = { .function = "", .file = "" };
	const struct site_name *name = address_spaces_site(w->spaces, w->sites[i]);

	assert_non_null(name);
	if (!name->nframes || !name->frames[name->nframes - 1].function)
		return &none;
	return &name->frames[name->nframes - 1];
}

static uint32_t find_frame(struct world *w, const char *function)
{
	uint32_t i;

	for (i = 0; i < w->n && strcmp(frame_of(w, i)->function, function) != 0; i++)
		;
	return i;
}

static void show(struct world *w)
{
	for (uint32_t i = 0; i < w->n; i++) {
		const struct site_name *name = address_spaces_site(w->spaces, w->sites[i]);

		print_message("#%u %s:%u in %s+%#llx\n", i, frame_of(w, i)->function,
			      frame_of(w, i)->line, name->module ? name->module : "?",
			      (unsigned long long)name->offset);
	}
}

/* Return the line that ends with the comment "at @name". */
static uint32_t line_of(const char *source, const char *name)
{
	char mark[64];
	const char *at;
	uint32_t line = 1;

	snprintf(mark, sizeof(mark), "/* at %s */", name);
	at = strstr(source, mark);
	assert_non_null(at);
	for (; source < at; source++)
		line += *source == '\n';
	return line;
}

/*
 * Check that the functions @names, each at its line, are consecutive frames. Return the index of
 * the first frame.
 */
static uint32_t expect_frames(struct world *w, const char *source, const char *const *names)
{
	uint32_t first = find_frame(w, names[0]), i;

	for (i = 0; names[i]; i++) {
		if (first + i >= w->n || strcmp(frame_of(w, first + i)->function, names[i]) != 0 ||
		    (source && frame_of(w, first + i)->line != line_of(source, names[i]))) {
			show(w);
			fail_msg("frame %u is not %s at its line", first + i, names[i]);
		}
	}
	return first;
}

static const char *const sleep_frames[] = { "leaf", "middle", "outer", "main", NULL };

static void needs_root(void)
{
	/* Mapped files are opened through /proc/PID/map_files. */
	if (geteuid() != 0)
		skip();
}

static void needs_x86(void)
{
#ifndef __x86_64__
	skip();
#endif
}

static void sample_sleep(const struct fixture *f, const char *program, struct world *w,
			 struct sbt_stack *sample, pid_t *pid)
{
	*pid = start(f, program);
	capture(*pid, wait_for(*pid, SYS_nanosleep, SYS_clock_nanosleep), sample);
	world_new(w, *pid);
	unwind(w, sample);
}

/* --- tests ----------------------------------------------------------------------------------- */

#define NO_TABLES "-fno-asynchronous-unwind-tables -fno-unwind-tables"

static void expect_sleep(const struct fixture *f, const char *program)
{
	struct sbt_stack sample;
	struct world w;
	uint32_t first;
	pid_t pid;

	sample_sleep(f, program, &w, &sample, &pid);
	first = expect_frames(&w, sleep_source, sleep_frames);
	/*
	 * The stub of the system call is in libc. If libc is linked statically, it is in the
	 * program.
	 */
	assert_in_range(first, 1, 3);
	assert_non_null(address_spaces_site(w.spaces, w.sites[0])->module);
	/* The frames continue to the outermost. */
	assert_in_range(w.n, first + 5, first + 8);
	assert_string_equal(frame_of(&w, w.n - 1)->function, "_start");
	world_free(&w);
	stop(pid);
}

static void test_programs(void **state)
{
	static const char *const flags[] = {
		"-O2 -fomit-frame-pointer -fPIE -pie",
		"-O0 -no-pie -fno-pie",
		"-O2 -fno-omit-frame-pointer",
		"-O3 -fomit-frame-pointer -static",
		/* The program has .debug_frame alone, which is in no loaded segment. */
		"-O2 -fomit-frame-pointer " NO_TABLES,
	};
	const struct fixture *f = *state;
	char name[16];

	needs_root();
	fixture_write(f, "sl.c", sleep_source);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		snprintf(name, sizeof(name), "sl%zu", i);
		fixture_run(f, "cc -g %s -o %s sl.c", flags[i], name);
		expect_sleep(f, name);
	}
	if (!fixture_has(f, "clang"))
		return;
	fixture_run(f, "clang -g -O2 -o slc sl.c");
	expect_sleep(f, "slc");
}

/* The libraries have tables and the program has none, so its frame pointers are followed. */
static void test_frame_pointers(void **state)
{
	static const char *const names[] = { "leaf", "middle", NULL };
	const struct fixture *f = *state;
	struct sbt_stack sample;
	struct world w;
	uint32_t first;
	pid_t pid;

	needs_root();
	fixture_write(f, "fp.c", sleep_source);
	fixture_run(f, "cc -g -O2 -fno-omit-frame-pointer " NO_TABLES " -o fp0 fp.c && "
		       "objcopy -R .debug_frame fp0 fp");
	sample_sleep(f, "fp", &w, &sample, &pid);
	expect_frames(&w, sleep_source, sleep_frames);
	world_free(&w);
	stop(pid);
	/*
	 * If the program also lacks frame pointers, leaf() is the last frame that is found. Its
	 * caller is not guessed.
	 */
	fixture_run(f, "cc -g -O2 -fomit-frame-pointer " NO_TABLES " -o no0 fp.c && "
		       "objcopy -R .debug_frame no0 no");
	sample_sleep(f, "no", &w, &sample, &pid);
	first = find_frame(&w, names[0]);
	assert_in_range(first, 1, 3);
	assert_int_equal(w.n, first + 1);
	world_free(&w);
	stop(pid);
}

static void test_mutex(void **state)
{
	static const char *const names[] = { "take", "worker", NULL };
	const struct fixture *f = *state;
	struct sbt_stack sample;
	struct world w;
	uint32_t first;
	pid_t pid, tid, i;

	needs_root();
	fixture_write(f, "mu.c", mutex_source);
	fixture_run(f, "cc -g -O2 -fomit-frame-pointer -o mu mu.c -pthread");
	pid = start(f, "mu");
	/* The main thread waits in a futex too. The worker is the other thread. */
	for (tid = pid, i = 0; tid == pid && i < 1000; i++)
		tid = wait_for(pid, SYS_futex, SYS_futex);
	assert_int_not_equal(tid, pid);
	capture(pid, tid, &sample);
	world_new(&w, pid);
	unwind(&w, &sample);
	first = expect_frames(&w, mutex_source, names);
	assert_in_range(first, 1, 5);
	assert_says(frame_of(&w, first - 1)->function, "mutex_lock");
	/* These frames are start_thread and clone3, where the thread began. */
	assert_in_range(w.n, first + 3, first + 4);
	world_free(&w);
	stop(pid);
}

static void test_signal(void **state)
{
	static const char *const inner[] = { "handler", NULL };
	static const char *const outer[] = { "sender", "main", NULL };
	const struct fixture *f = *state;
	struct sbt_stack sample;
	uint32_t first;
	struct world w;
	pid_t pid;

	needs_root();
	fixture_write(f, "sg.c", signal_source);
	fixture_run(f, "cc -g -O2 -fomit-frame-pointer -o sg sg.c");
	sample_sleep(f, "sg", &w, &sample, &pid);
	first = expect_frames(&w, signal_source, inner);
	/* Between these frames are the kernel's frame and kill(). */
	assert_int_equal(expect_frames(&w, signal_source, outer), first + 3);
	assert_says(frame_of(&w, first + 2)->function, "kill");
	world_free(&w);
	stop(pid);
}

/*
 * The thread is in no system call, so the name and the rules are those of the instruction at its
 * pc.
 */
static void test_exact(void **state)
{
	static const char *const names[] = { "leaf", "main", NULL };
	static const char *const inner[] = { "handler", NULL };
	const struct fixture *f = *state;
	struct sbt_stack sample;
	uint32_t first;
	struct world w;
	pid_t pid;
	int i;

	needs_root();
	needs_x86();
	fixture_write(f, "sp.c", spin_source);
	fixture_run(f, "cc -g -O2 -fomit-frame-pointer -o sp sp.c");
	pid = start(f, "sp");
	for (i = 0; i < 500; i++) {
		pause_a_bit();
		capture(pid, pid, &sample);
		world_new(&w, pid);
		unwind(&w, &sample);
		if (find_frame(&w, "main") < w.n)
			break;
		world_free(&w);
	}
	assert_true(i < 500);
	assert_string_equal(frame_of(&w, 0)->function, "spin");
	assert_int_equal(expect_frames(&w, spin_source, names), 1);
	/*
	 * Send a signal with a handler that blocks. For the interrupted frame, the name and the
	 * rules are also those of the instruction at its pc.
	 */
	kill(pid, SIGUSR1);
	capture(pid, wait_for(pid, SYS_nanosleep, SYS_clock_nanosleep), &sample);
	unwind(&w, &sample);
	first = expect_frames(&w, spin_source, inner);
	assert_string_equal(frame_of(&w, first + 2)->function, "spin");
	assert_int_equal(expect_frames(&w, spin_source, names), first + 3);
	world_free(&w);
	stop(pid);
}

static void test_raw(void **state)
{
	static const char *const names[] = { "raw", "main", NULL };
	const struct fixture *f = *state;
	struct sbt_stack sample;
	struct world w;
	pid_t pid;

	needs_root();
	needs_x86();
	fixture_write(f, "ra.c", raw_source);
	fixture_run(f, "cc -g -O2 -fomit-frame-pointer -o ra ra.c");
	sample_sleep(f, "ra", &w, &sample, &pid);
	assert_int_equal(expect_frames(&w, raw_source, names), 0);
	world_free(&w);
	stop(pid);
}

/* The file is unlinked, and then the process ends. */
static void test_gone(void **state)
{
	const struct fixture *f = *state;
	struct sbt_stack sample;
	struct world w CLEANUP(world_free);
	pid_t pid;

	needs_root();
	fixture_write(f, "go.c", sleep_source);
	fixture_run(f, "cc -g -O2 -o go go.c");
	pid = start(f, "go");
	capture(pid, wait_for(pid, SYS_nanosleep, SYS_clock_nanosleep), &sample);
	fixture_run(f, "rm go");
	world_new(&w, pid);
	assert_int_equal(address_space_read(w.spaces, w.space), 0);
	stop(pid);
	w.space->gone = true;
	unwind(&w, &sample);
	expect_frames(&w, sleep_source, sleep_frames);
	world_free(&w);
	/* A process that was never known. */
	world_new(&w, pid);
	unwind(&w, &sample);
	assert_int_equal(w.n, 0);
}

/* A shorter stack gives fewer frames, which are the same as before. */
static void test_truncated(void **state)
{
	const struct fixture *f = *state;
	uint32_t all[ADDRESS_SPACE_UNWIND_MAX], n, last = 0, full;
	struct sbt_stack sample;
	struct world w;
	pid_t pid;

	needs_root();
	fixture_write(f, "tr.c", sleep_source);
	fixture_run(f, "cc -g -O2 -fomit-frame-pointer -o tr tr.c");
	sample_sleep(f, "tr", &w, &sample, &pid);
	n = w.n;
	full = sample.len;
	memcpy(all, w.sites, sizeof(all));
	assert_in_range(n, 6, 12);
	for (uint32_t len = 0; len <= 1024 && len <= full; len += 4) {
		sample.len = len;
		unwind(&w, &sample);
		assert_in_range(w.n, last, n);
		for (uint32_t i = 0; i < w.n; i++)
			assert_int_equal(w.sites[i], all[i]);
		if (!len)
			assert_int_equal(w.n, 1);
		last = w.n;
	}
	assert_int_equal(last, n);
	/* The length is impossible, and there is room for fewer frames. */
	sample.len = UINT32_MAX;
	unwind(&w, &sample);
	assert_int_equal(w.n, n);
	assert_int_equal(address_space_unwind(w.spaces, w.space, &sample, w.sites, 2, &w.n), 0);
	assert_int_equal(w.n, 2);
	assert_int_equal(address_space_unwind(w.spaces, w.space, &sample, w.sites, 0, &w.n), 0);
	assert_int_equal(w.n, 0);
	world_free(&w);
	stop(pid);
}

static uint64_t any(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 8 ^ *seed << 24;
}

/* Unwind registers and stacks that are full of valid and invalid addresses. */
static void test_garbage(void **state)
{
	const struct fixture *f = *state;
	struct sbt_stack sample, good;
	uint64_t seed = 5, value, mapped;
	struct world w;
	uint32_t n;
	pid_t pid;

	needs_root();
	fixture_write(f, "ga.c", sleep_source);
	fixture_run(f, "cc -g -O2 -fomit-frame-pointer -o ga ga.c");
	sample_sleep(f, "ga", &w, &good, &pid);
	n = w.n;
	for (int i = 0; i < 200; i++) {
		sample = good;
		for (int k = 0; k < SBT_STACK_REGS; k++) {
			value = any(&seed);
			if (value % 4 == 0)
				sample.regs[k] = any(&seed);
			else if (value % 4 == 1)
				sample.regs[k] = sample.sp + any(&seed) % 8192 / 8 * 8;
		}
		for (int k = 0; k + 8 <= SBT_STACK_BYTES; k += 8) {
			const struct maps_entry *e =
				&w.space->maps.entries[any(&seed) % w.space->maps.n];

			mapped = e->start + any(&seed) % (e->end - e->start);
			value = any(&seed) % 4;
			if (value == 1)
				mapped = sample.sp + any(&seed) % 8192;
			if (value)
				memcpy(sample.bytes + k, &mapped, sizeof(mapped));
		}
		if (i % 3 == 0)
			sample.sp = any(&seed);
		if (i % 7 == 0)
			sample.sp = UINT64_MAX - any(&seed) % 8192;
		unwind(&w, &sample);
		assert_in_range(w.n, 0, ADDRESS_SPACE_UNWIND_MAX);
	}
	memset(&sample, 0xff, sizeof(sample));
	unwind(&w, &sample);
	assert_int_equal(w.n, 0);
	memset(&sample, 0, sizeof(sample));
	unwind(&w, &sample);
	assert_int_equal(w.n, 0);
	/* The garbage causes no file to be classified as damaged. */
	unwind(&w, &good);
	assert_int_equal(w.n, n);
	expect_frames(&w, sleep_source, sleep_frames);
	world_free(&w);
	stop(pid);
}

/* A stack in which frame pointers form a cycle. */
static void test_chain(void **state)
{
	struct stack_regs regs, caller;
	struct sbt_stack sample;
	uint64_t words[4];

	memset(&sample, 0, sizeof(sample));
	sample.sp = 0x7000;
	sample.len = sizeof(words);
	words[0] = 0x7010;
	words[1] = 0x1111;
	words[2] = 0x7000; /* points back to the first frame */
	words[3] = 0x2222;
	memcpy(sample.bytes, words, sizeof(words));
	memset(&regs, 0, sizeof(regs));
	stack_set(&regs, STACK_SP, 0x7000);
	stack_set(&regs, STACK_FP, 0x7000);
	assert_true(stack_frame_pointer_step(&sample, &regs, &caller));
	assert_fields(&caller, IS(value[STACK_PC], 0x1111), IS(value[STACK_FP], 0x7010));
	assert_true(stack_grows(&regs, &caller));
	regs = caller;
	assert_true(stack_frame_pointer_step(&sample, &regs, &caller));
	assert_int_equal(caller.value[STACK_PC], 0x2222);
	/*
	 * The caller's stack pointer must be higher. A lower stack pointer is refused. An equal
	 * stack pointer is accepted only in the innermost frame.
	 */
	assert_false(stack_grows(&caller, &regs));
	assert_false(stack_grows(&regs, &regs));
	regs.exact = 1;
	caller = regs;
	assert_false(stack_grows(&regs, &caller));
	caller.exact = 0;
	assert_true(stack_grows(&regs, &caller));
	stack_set(&regs, STACK_SP, 0x7020);
	assert_false(stack_frame_pointer_step(&sample, &regs, &caller));
	/* A frame pointer that is odd, or outside of the sample. */
	stack_set(&regs, STACK_SP, 0x7000);
	stack_set(&regs, STACK_FP, 0x7001);
	assert_false(stack_frame_pointer_step(&sample, &regs, &caller));
	stack_set(&regs, STACK_FP, 0x7018);
	assert_false(stack_frame_pointer_step(&sample, &regs, &caller));
	stack_set(&regs, STACK_FP, UINT64_MAX - 7);
	assert_false(stack_frame_pointer_step(&sample, &regs, &caller));
	regs.known &= ~(1ull << STACK_FP);
	assert_false(stack_frame_pointer_step(&sample, &regs, &caller));
}

/* Damaged unwind tables affect only answers that need them. */
static void test_damaged(void **state)
{
	const struct fixture *f = *state;
	struct symbol_server *server CLEANUP_PTR(symbol_server_free);
	struct unwind_step step;
	struct sbt_stack sample;
	struct stack_regs regs;
	uint64_t seed = 3, vaddr, frames, size;
	uint8_t *all CLEANUP_PTR(free), *copy CLEANUP_PTR(free);
	unsigned int i, callers = 0;
	char out[64];
	size_t len;
	int fd, err;

	fixture_write(f, "da.c", sleep_source);
	fixture_run(f, "cc -O2 -fomit-frame-pointer -o da da.c");
	vaddr = fixture_nm(f, "da", "middle") + 12;
	fixture_output(
		f, out, sizeof(out),
		"readelf -SW da | awk '/ .eh_frame / { sub(/.*PROGBITS/, \"\"); print $2, $3 }'");
	assert_int_equal(sscanf(out, "%lx %lx", &frames, &size), 2);
	fd = fixture_open(f, "da");
	all = fixture_slurp(fd, &len);
	assert_true(frames + size <= len && size > 64);
	memset(&sample, 0, sizeof(sample));
	sample.sp = 0x7ff000;
	sample.len = SBT_STACK_BYTES;
	memset(sample.bytes, 0x41, sizeof(sample.bytes));
	memset(&regs, 0, sizeof(regs));
	for (unsigned k = 0; k < STACK_NREGS; k++)
		stack_set(&regs, k, sample.sp + 64);
	assert_int_equal(symbol_server_new(NULL, &server), 0);
	assert_int_equal(symbol_unwind(server, fd, "da", vaddr, &regs, &sample, &step), 0);
	assert_int_equal(step.result, UNWIND_CALLER);
	assert_true(step.caller.value[STACK_SP] > sample.sp + 64);
	assert_int_equal(symbol_unwind(server, fd, "da", UINT64_MAX, &regs, &sample, &step), 0);
	assert_int_equal(step.result, UNWIND_NO_RULES);
	close(fd);
	copy = malloc(len);
	assert_non_null(copy);
	for (i = 0; i < 150; i++) {
		memcpy(copy, all, len);
		for (unsigned k = 0; k < 1 + i / 5; k++)
			copy[frames + any(&seed) % size] ^= (uint8_t)(1 + any(&seed) % 255);
		fd = fixture_memory(copy, i < 120 ? len : frames + size * (i - 120) / 30);
		err = symbol_unwind(server, fd, "damaged", vaddr, &regs, &sample, &step);
		assert_true(err == 0 || err == -EPIPE || err == -ETIMEDOUT);
		assert_in_range(step.result, UNWIND_NO_RULES, UNWIND_END);
		callers += step.result == UNWIND_CALLER;
		close(fd);
	}
	/* Some of the damage affected the walk, and some did not. */
	assert_in_range(callers, 1, 149);
}

/* --- mappings ------------------------------------------------------------------------------ */

/* Return the name of the mapping at @addr, or NULL. */
static const char *mapping_name(struct world *w, uint64_t addr)
{
	const struct maps_entry *e = address_space_find_mapping(w->spaces, w->space, addr);

	if (!e)
		return NULL;
	return *e->path ? e->path : "anonymous memory";
}

static void test_mapping_names(void **state)
{
	const struct fixture *f = *state;
	unsigned long start_at, end_at, checked = 0;
	char line[512], path[300], name[300];
	struct world w CLEANUP(world_free);
	const char *got;
	FILE *maps;
	pid_t pid;
	bool heap = false, stack = false, none = false;

	needs_root();
	fixture_write(f, "ma.c", sleep_source);
	fixture_run(f, "cc -O2 -o ma ma.c && ln -f ma 'ma two'");
	pid = start(f, "ma two");
	wait_for(pid, SYS_nanosleep, SYS_clock_nanosleep);
	world_new(&w, pid);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		name[0] = 0;
		assert_true(sscanf(line, "%lx-%lx %*s %*s %*s %*s %299[^\n]", &start_at, &end_at,
				   name) >= 2);
		got = mapping_name(&w, start_at);
		assert_non_null(got);
		assert_string_equal(got, name[0] ? name : "anonymous memory");
		assert_string_equal(mapping_name(&w, end_at - 1), got);
		heap |= !strcmp(got, "[heap]");
		stack |= !strcmp(got, "[stack]");
		none |= !strcmp(got, "anonymous memory");
		checked++;
	}
	fclose(maps);
	assert_true(checked > 8 && heap && stack && none);
	assert_null(mapping_name(&w, 0));
	assert_null(mapping_name(&w, UINT64_MAX));
	stop(pid);
	w.space->gone = true;
	snprintf(path, sizeof(path), "%s/ma two", f->dir);
	assert_string_equal(mapping_name(&w, w.space->maps.entries[0].start), path);
}

/* A file is mapped after the mappings were read. */
static void test_mapping_fresh(void **state)
{
	const struct fixture *f = *state;
	struct world w CLEANUP(world_free);
	char path[128];
	void *anon, *file;
	int fd;

	needs_root();
	world_new(&w, getpid());
	assert_int_equal(address_space_read(w.spaces, w.space), 0);
	fixture_write(f, "data", "some bytes\n");
	fd = fixture_open(f, "data");
	file = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	/*
	 * Use a separate mapping, because a readable and writable mapping would merge with a
	 * neighbour.
	 */
	anon = mmap((void *)0x6a0000000000, 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	close(fd);
	assert_ptr_not_equal(file, MAP_FAILED);
	assert_ptr_not_equal(anon, MAP_FAILED);
	snprintf(path, sizeof(path), "%s/data", f->dir);
	assert_string_equal(mapping_name(&w, (uintptr_t)anon + 5), "anonymous memory");
	assert_string_equal(mapping_name(&w, (uintptr_t)file + 5), path);
	munmap(anon, 4096);
	munmap(file, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs),      cmocka_unit_test(test_frame_pointers),
		cmocka_unit_test(test_mutex),	      cmocka_unit_test(test_signal),
		cmocka_unit_test(test_exact),	      cmocka_unit_test(test_raw),
		cmocka_unit_test(test_gone),	      cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_garbage),	      cmocka_unit_test(test_chain),
		cmocka_unit_test(test_damaged),	      cmocka_unit_test(test_mapping_names),
		cmocka_unit_test(test_mapping_fresh),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
