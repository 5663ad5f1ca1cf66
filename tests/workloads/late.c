// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A team in which one thread is late at every barrier, for one known reason (or two). All threads
// do the same work, measured by their own CPU time. The late thread is delayed in addition, and
// measures the delay by its own clocks. Each thread is pinned to a CPU.
//
// Log: "cross THREAD TID ROUND ARRIVE_NS DEPART_NS CPU_ENTER_NS CPU_LEAVE_NS ENTER_NS LEAVE_NS" for
// every crossing (CPU: the thread's own CPU time, read between ENTER and ARRIVE, and between DEPART
// and LEAVE), "late ROUND TID REASON NS" for each injected delay, and lines that begin with # for
// other threads.
#include "common.h"

#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MAX_THREADS 64
#define MAX_CPUS    1024
#define PAGE	    4096UL
#define SETTLE_NS   200000 /* after this time the late thread is surely blocked in the lock */

enum mode {
	NONE, /* no thread is late */
	WORK, /* more of the same work */
	CPU, /* a competitor takes the thread's CPU */
	LOCK, /* a helper holds a mutex, and computes */
	LOCK_SLEEP, /* ... and the helper sleeps */
	LOCK_CHAIN, /* ... and a competitor takes the helper's CPU */
	FSYNC,
	PIPE,
	PAGES, /* fresh anonymous memory */
	FILE_PAGES, /* pages of a file that must be read from disk */
	SLEEP,
	RELEASE, /* a competitor takes the thread's CPU at the previous barrier */
	THROTTLE, /* by the quota of its cgroup */
	MIX_SLEEP_WORK,
	MIX_LOCK_PIPE,
	MODES,
};

static const char *const mode_name[MODES] = {
	"none",	 "work",       "cpu",	"lock",	   "lock-sleep", "lock-chain", "fsync", "pipe",
	"pages", "file-pages", "sleep", "release", "throttle",	 "mix1",       "mix2",
};

enum precedence { TEAM = 1, HOLDER = 5, COMPETITOR = 10 };

struct injected {
	const char *reason; /* NULL: nothing was injected */
	uint64_t ns;
};

struct entry {
	uint64_t arrive, depart;
	uint64_t cpu_enter, cpu_leave;
	uint64_t enter, leave; /* the CPU times were read between these and arrive and depart */
	struct injected injected[2];
};

struct worker {
	uint32_t index, cpu;
	pid_t tid;
	struct entry *entry;
	char *map; /* touched in the last round; unmapped in the next round */
	size_t mapped;
};

/* Shared with the competitors, which are processes; indexed by CPU. */
struct competitor {
	uint64_t ns; /* how long to be busy */
	uint32_t ready, calls, started, done;
	pid_t pid;
};

static struct {
	enum mode mode;
	uint32_t threads, rounds, split;
	uint64_t base_ns, extra_ns;
	int rotate;
	const char *log, *dir, *cgroup;
} opt = { .threads = 2, .rounds = 200, .split = 60, .base_ns = 1000000, .extra_ns = 3000000 };

static uint32_t cpu_list[MAX_CPUS], ncpus;
static struct worker worker[MAX_THREADS];
static struct competitor *competitor;
static pthread_barrier_t barrier;
static uint32_t gate, ready;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
	uint64_t ns;
	uint32_t cpu;
	uint32_t held, come, gone;
	pid_t tid;
} holder;

static struct {
	uint64_t from, ns;
	uint32_t hungry;
	int fd[2];
	pid_t tid;
} feeder;

static char data_path[PATH_MAX];
static int data_fd = -1;
static off_t data_size;
static off_t data_next;

static void pin(uint32_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity: %s", strerror(errno));
}

/* Compute for some microseconds between reads of the clock, which is a system call. */
static void compute_until(uint64_t cpu_deadline)
{
	uint64_t x = cpu_deadline;

	while (thread_cpu_ns() < cpu_deadline) {
		for (int i = 0; i < 500; i++)
			x = mix64(x);
		__asm__ volatile("" : : "r"(x));
	}
}

static void name_me(const char *name)
{
	prctl(PR_SET_NAME, (unsigned long)name, 0UL, 0UL, 0UL);
}

/*
 * Run before all threads of normal priority, so that unrelated threads delay no member. Also run
 * before members of a lower priority.
 */
static void take_precedence(enum precedence priority)
{
	struct sched_param param = { .sched_priority = priority };

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("SCHED_FIFO: %s", strerror(errno));
}

/* --- the other threads ---------------------------------------------------------------------- */

/* Take the CPU from the running thread when requested, for the requested time. */
static void compete(uint32_t cpu)
{
	struct competitor *c = &competitor[cpu];

	name_me("competitor");
	prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL, 0UL, 0UL, 0UL);
	pin(cpu);
	take_precedence(COMPETITOR);
	word_set(&c->ready, 1);
	for (uint32_t n = 1;; n++) {
		word_wait(&c->calls, n);
		__atomic_store_n(&c->started, n, __ATOMIC_RELEASE);
		spin_until(now_ns() + c->ns);
		__atomic_store_n(&c->done, n, __ATOMIC_RELEASE);
	}
}

static void start_competitors(void)
{
	size_t size = MAX_CPUS * sizeof(*competitor);

	competitor = (struct competitor *)mmap(NULL, size, PROT_READ | PROT_WRITE,
					       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (competitor == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	for (uint32_t i = 0; i < ncpus && i < opt.threads; i++) {
		struct competitor *c = &competitor[cpu_list[i]];
		pid_t pid = fork();

		if (pid < 0)
			die("fork: %s", strerror(errno));
		if (!pid)
			compete(cpu_list[i]);
		c->pid = pid;
		word_wait(&c->ready, 1);
	}
}

static void stop_competitors(void)
{
	for (uint32_t i = 0; i < ncpus && competitor; i++) {
		pid_t pid = competitor[cpu_list[i]].pid;

		if (pid) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
	}
}

/* Return when the CPU is free again. A caller on the same CPU cannot return earlier anyway. */
static void call_competitor(uint32_t cpu, uint64_t ns)
{
	struct competitor *c = &competitor[cpu];
	uint32_t n = c->calls + 1;

	c->ns = ns;
	word_set(&c->calls, n);
	while (__atomic_load_n(&c->done, __ATOMIC_ACQUIRE) != n)
		;
}

/* Hold the mutex, and release it when the late thread has waited for it long enough. */
static void *hold(void *arg)
{
	(void)arg;
	name_me("holder");
	exact_timers();
	/* The holder must have the lock again before the late thread needs it. */
	take_precedence(HOLDER);
	holder.tid = thread_id();
	for (uint32_t n = 1;; n++) {
		must(pthread_mutex_lock(&mutex), "pthread_mutex_lock");
		__atomic_store_n(&holder.held, n, __ATOMIC_RELEASE);
		if (n == 1)
			word_add(&ready, 1);
		word_wait(&holder.come, n);
		/* Wait until the late thread is blocked, because this thread would take its CPU. */
		sleep_ns(SETTLE_NS);
		pin(holder.cpu);
		if (opt.mode == LOCK_SLEEP)
			sleep_ns(holder.ns);
		else if (opt.mode == LOCK_CHAIN)
			call_competitor(holder.cpu, holder.ns);
		else
			compute_until(thread_cpu_ns() + holder.ns);
		must(pthread_mutex_unlock(&mutex), "pthread_mutex_unlock");
		word_wait(&holder.gone, n);
	}
	return NULL;
}

/* Write data to the pipe slowly. */
static void *feed(void *arg)
{
	(void)arg;
	name_me("feeder");
	exact_timers();
	take_precedence(HOLDER);
	feeder.tid = thread_id();
	word_add(&ready, 1);
	for (uint32_t n = 1;; n++) {
		word_wait(&feeder.hungry, n);
		sleep_until(feeder.from + feeder.ns);
		if (write(feeder.fd[1], "x", 1) != 1)
			die("write: %s", strerror(errno));
	}
	return NULL;
}

/* --- what the late thread does ---------------------------------------------------------------- */

/* Prevent a tail call, so that the function is on the stack while it waits. */
#define STAY __asm__ volatile("" ::: "memory")

ONE_COPY static void do_more_work(uint64_t ns)
{
	compute_until(thread_cpu_ns() + ns);
	STAY;
}

ONE_COPY static void lose_the_cpu(struct worker *w, uint64_t ns)
{
	call_competitor(w->cpu, ns);
	STAY;
}

ONE_COPY static void wait_for_lock(struct worker *w, uint64_t ns)
{
	uint32_t n = holder.come + 1;

	while (__atomic_load_n(&holder.held, __ATOMIC_ACQUIRE) != n)
		;
	holder.ns = ns > SETTLE_NS ? ns - SETTLE_NS : 0;
	holder.cpu = w->cpu;
	word_set(&holder.come, n);
	must(pthread_mutex_lock(&mutex), "pthread_mutex_lock");
	must(pthread_mutex_unlock(&mutex), "pthread_mutex_unlock");
	word_set(&holder.gone, n);
	STAY;
}

ONE_COPY static void read_slow_pipe(uint64_t ns)
{
	char c;

	feeder.from = now_ns();
	feeder.ns = ns;
	word_add(&feeder.hungry, 1);
	if (read(feeder.fd[0], &c, 1) != 1)
		die("read: %s", strerror(errno));
	STAY;
}

/* Write so much at a time that the disk takes longer than the wake-up of the thread. */
ONE_COPY static void write_and_sync(uint64_t ns)
{
	static char block[64 * PAGE];
	uint64_t deadline = now_ns() + ns;

	do {
		if (pwrite(data_fd, block, sizeof(block), data_next) != (ssize_t)sizeof(block) ||
		    fsync(data_fd))
			die("%s: %s", data_path, strerror(errno));
		data_next = (data_next + (off_t)sizeof(block)) % data_size;
	} while (now_ns() < deadline);
	STAY;
}

/* The memory is unmapped in the next round, before the work that all threads have. */
ONE_COPY static void touch_pages(struct worker *w, uint64_t ns)
{
	uint64_t deadline = now_ns() + ns;
	size_t at;

	w->mapped = 256UL << 20;
	w->map = (char *)mmap(NULL, w->mapped, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (w->map == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	for (at = 0; at + 16 * PAGE <= w->mapped && now_ns() < deadline; at += 16 * PAGE) {
		for (size_t page = 0; page < 16; page++)
			*(volatile char *)(w->map + at + page * PAGE) = 1;
	}
	STAY;
}

/* Read page by page. Pages that were read earlier have been dropped from the page cache. */
ONE_COPY static void touch_file(struct worker *w, uint64_t ns)
{
	uint64_t deadline = now_ns() + ns;

	if (!w->map) {
		w->mapped = (size_t)data_size;
		w->map = (char *)mmap(NULL, w->mapped, PROT_READ, MAP_SHARED, data_fd, 0);
		if (w->map == MAP_FAILED || madvise(w->map, w->mapped, MADV_RANDOM))
			die("mmap: %s", strerror(errno));
	}
	do {
		*(volatile char *)(w->map + data_next);
		data_next = (data_next + (off_t)PAGE) % data_size;
	} while (now_ns() < deadline);
	STAY;
}

ONE_COPY static void take_a_nap(uint64_t ns)
{
	sleep_ns(ns);
	STAY;
}

static void give_back(struct worker *w)
{
	if (!w->map)
		return;
	if (opt.mode == FILE_PAGES) {
		madvise(w->map, w->mapped, MADV_DONTNEED);
		posix_fadvise(data_fd, 0, 0, POSIX_FADV_DONTNEED);
	} else {
		munmap(w->map, w->mapped);
		w->map = NULL;
	}
}

/* Return the CPU time that is part of the injected reason. */
static uint64_t inject_one(struct worker *w, enum mode mode, uint64_t ns, struct injected *injected)
{
	uint64_t from = now_ns(), cpu_from = thread_cpu_ns(), cpu, elapsed;

	switch (mode) {
	case WORK:
		do_more_work(ns);
		break;
	case CPU:
		lose_the_cpu(w, ns);
		break;
	case LOCK:
	case LOCK_SLEEP:
	case LOCK_CHAIN:
		wait_for_lock(w, ns);
		break;
	case FSYNC:
		write_and_sync(ns);
		break;
	case PIPE:
		read_slow_pipe(ns);
		break;
	case PAGES:
		touch_pages(w, ns);
		break;
	case FILE_PAGES:
		touch_file(w, ns);
		break;
	case SLEEP:
		take_a_nap(ns);
		break;
	default:
		return 0;
	}
	cpu = thread_cpu_ns() - cpu_from;
	elapsed = now_ns() - from;
	injected->reason = mode_name[mode];
	if (mode == WORK || mode == PAGES || mode == FILE_PAGES) {
		injected->ns = mode == WORK ? cpu : elapsed;
		return cpu;
	}
	injected->ns = elapsed > cpu ? elapsed - cpu : 0;
	return 0;
}

static uint64_t inject(struct worker *w, struct entry *e)
{
	uint64_t part = opt.extra_ns / 100 * opt.split;
	enum mode first = opt.mode, second = NONE;
	uint64_t cpu;

	if (opt.mode == MIX_SLEEP_WORK) {
		first = SLEEP;
		second = WORK;
	} else if (opt.mode == MIX_LOCK_PIPE) {
		first = LOCK;
		second = PIPE;
	} else {
		part = opt.extra_ns;
	}
	cpu = inject_one(w, first, part, &e->injected[0]);
	return cpu + inject_one(w, second, opt.extra_ns - part, &e->injected[1]);
}

/*
 * Two threads alternate. Before the last arriver releases the other thread, a competitor takes that
 * thread's CPU. So that thread is late in the next round. Round 0 needs another reason.
 */
static void release_late(struct worker *w, uint32_t round)
{
	struct worker *other = &worker[!w->index];
	struct competitor *c = &competitor[other->cpu];
	uint32_t n = c->calls + 1;

	if (round == 0)
		inject_one(w, SLEEP, opt.extra_ns, &w->entry[0].injected[0]);
	c->ns = opt.extra_ns;
	word_set(&c->calls, n);
	while (__atomic_load_n(&c->started, __ATOMIC_ACQUIRE) != n)
		;
}

static uint32_t late_in(uint32_t round)
{
	if (opt.rotate || opt.mode == RELEASE)
		return round % opt.threads;
	return opt.threads - 1;
}

ONE_COPY static void cross(struct entry *e)
{
	int rc;

	e->enter = now_ns();
	e->cpu_enter = thread_cpu_ns();
	e->arrive = now_ns();
	rc = pthread_barrier_wait(&barrier);
	e->depart = now_ns();
	e->cpu_leave = thread_cpu_ns();
	e->leave = now_ns();
	serial(rc);
}

/*
 * CPU time that a reason costs as a side effect is subtracted from the work, so that the late
 * thread is late for this reason only.
 */
static void phase(struct worker *w, uint32_t round)
{
	struct entry *e = &w->entry[round];
	uint64_t from = now_ns(), cpu_from = thread_cpu_ns();
	uint64_t cpu_until = cpu_from + opt.base_ns;
	int late = late_in(round) == w->index;

	give_back(w);
	if (late && opt.mode != RELEASE && opt.mode != THROTTLE) {
		compute_until(cpu_from + opt.base_ns / 8);
		cpu_until += inject(w, e);
	}
	compute_until(cpu_until);
	if (late && opt.mode == RELEASE) {
		release_late(w, round);
	} else if (late && opt.mode == THROTTLE) {
		uint64_t cpu = thread_cpu_ns() - cpu_from, elapsed = now_ns() - from;

		e->injected[0].reason = mode_name[THROTTLE];
		e->injected[0].ns = elapsed > cpu ? elapsed - cpu : 0;
	}
}

static void write_text(const char *dir, const char *name, const char *text)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die("%s: %s", path, strerror(errno));
	close(fd);
}

/* Join the control group that the caller prepared, as a thread, in version 1 or 2. */
static void join_cgroup(void)
{
	char path[PATH_MAX], text[16];
	const char *name = "tasks";

	snprintf(path, sizeof(path), "%s/cgroup.threads", opt.cgroup);
	if (!access(path, F_OK))
		name = "cgroup.threads";
	snprintf(text, sizeof(text), "%d", (int)thread_id());
	write_text(opt.cgroup, name, text);
}

static void *run(void *arg)
{
	struct worker *w = (struct worker *)arg;
	char name[16];

	snprintf(name, sizeof(name), "late-%u", w->index);
	name_me(name);
	exact_timers();
	pin(w->cpu);
	w->tid = thread_id();
	/* Quotas apply to normal priorities only. */
	if (opt.cgroup && w->index == opt.threads - 1) {
		(void)setpriority(PRIO_PROCESS, 0, -20);
		join_cgroup();
	} else {
		take_precedence(TEAM);
	}
	memset(w->entry, 0, opt.rounds * sizeof(*w->entry));
	word_add(&ready, 1);
	word_wait(&gate, 1);
	for (uint32_t round = 0; round < opt.rounds; round++) {
		phase(w, round);
		cross(&w->entry[round]);
	}
	return NULL;
}

/* --- the rest -------------------------------------------------------------------------------- */

static int uses(enum mode a, enum mode b, enum mode c)
{
	return opt.mode == a || opt.mode == b || opt.mode == c;
}

static void make_data(void)
{
	static char block[1 << 16];
	uint32_t blocks = opt.mode == FILE_PAGES ? 512 : 16;

	if (!opt.dir)
		die("%s: needs --dir", mode_name[opt.mode]);
	snprintf(data_path, sizeof(data_path), "%s/late.data", opt.dir);
	data_fd = open(data_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	memset(block, 1, sizeof(block));
	for (uint32_t i = 0; i < blocks && data_fd >= 0; i++) {
		if (write(data_fd, block, sizeof(block)) == (ssize_t)sizeof(block))
			data_size += (off_t)sizeof(block);
	}
	if (data_size != (off_t)(blocks * sizeof(block)) || fsync(data_fd))
		die("%s: %s", data_path, strerror(errno));
	posix_fadvise(data_fd, 0, 0, POSIX_FADV_DONTNEED);
}

static void write_log(void)
{
	FILE *f = fopen(opt.log, "w");

	if (!f)
		die("%s: %s", opt.log, strerror(errno));
	fprintf(f, "# late mode=%s threads=%u rounds=%u\n", mode_name[opt.mode], opt.threads,
		opt.rounds);
	if (holder.tid)
		fprintf(f, "# holder %d\n", (int)holder.tid);
	if (feeder.tid)
		fprintf(f, "# feeder %d\n", (int)feeder.tid);
	if (data_path[0])
		fprintf(f, "# file %s\n", data_path);
	for (uint32_t i = 0; i < ncpus && competitor; i++) {
		if (competitor[cpu_list[i]].pid)
			fprintf(f, "# competitor %d\n", (int)competitor[cpu_list[i]].pid);
	}
	for (uint32_t i = 0; i < opt.threads; i++) {
		for (uint32_t round = 0; round < opt.rounds; round++) {
			const struct worker *w = &worker[i];
			const struct entry *e = &w->entry[round];

			fprintf(f, "cross %u %d %u %llu %llu %llu %llu %llu %llu\n", i, (int)w->tid,
				round, (unsigned long long)e->arrive, (unsigned long long)e->depart,
				(unsigned long long)e->cpu_enter, (unsigned long long)e->cpu_leave,
				(unsigned long long)e->enter, (unsigned long long)e->leave);
			for (uint32_t k = 0; k < ARRAY_SIZE(e->injected); k++) {
				if (e->injected[k].reason)
					fprintf(f, "late %u %d %s %llu\n", round, (int)w->tid,
						e->injected[k].reason,
						(unsigned long long)e->injected[k].ns);
			}
		}
	}
	if (ferror(f) | fclose(f))
		die("%s: %s", opt.log, strerror(errno));
}

/* Compute how much later the late thread left the previous barrier, by the threads' own clocks. */
static void find_releases(void)
{
	for (uint32_t round = 1; round < opt.rounds; round++) {
		struct worker *w = &worker[late_in(round)];
		uint64_t mine = w->entry[round - 1].depart;
		uint64_t others = worker[!w->index].entry[round - 1].depart;

		w->entry[round].injected[0].reason = mode_name[RELEASE];
		w->entry[round].injected[0].ns = mine > others ? mine - others : 0;
	}
}

static void usage(void)
{
	fprintf(stderr, "usage: late MODE [--threads N] [--rounds R] [--base TIME] [--extra TIME] "
			"[--split PERCENT]\n            [--rotate] [--dir DIR] [--cgroup DIR] "
			"[--log FILE]\nMODE:");
	for (uint32_t i = 0; i < MODES; i++)
		fprintf(stderr, " %s", mode_name[i]);
	fprintf(stderr,
		"\n  --base, --extra  work of all, and what the late one has in addition "
		"(1ms, 3ms)\n  --split          of mix1 and mix2: the first reason's share (60)\n"
		"  --rotate         a different thread is late each time\n"
		"  --dir            where fsync and file-pages have their file\n"
		"  --cgroup         that the last thread joins, for throttle\n");
	exit(2);
}

static void parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "threads", required_argument, NULL, 't' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "base", required_argument, NULL, 'b' },
		{ "extra", required_argument, NULL, 'e' },
		{ "split", required_argument, NULL, 's' },
		{ "rotate", no_argument, NULL, 'o' },
		{ "dir", required_argument, NULL, 'd' },
		{ "cgroup", required_argument, NULL, 'c' },
		{ "log", required_argument, NULL, 'l' },
		{ NULL, 0, NULL, 0 },
	};
	const char *rest;
	int o;

	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (o) {
		case 't':
			opt.threads = (uint32_t)parse_u64("--threads", optarg, 1, MAX_THREADS);
			break;
		case 'r':
			opt.rounds = (uint32_t)parse_u64("--rounds", optarg, 1, 1000000);
			break;
		case 'b':
			opt.base_ns = parse_time("--base", optarg, &rest);
			break;
		case 'e':
			opt.extra_ns = parse_time("--extra", optarg, &rest);
			break;
		case 's':
			opt.split = (uint32_t)parse_u64("--split", optarg, 0, 100);
			break;
		case 'o':
			opt.rotate = 1;
			break;
		case 'd':
			opt.dir = optarg;
			break;
		case 'c':
			opt.cgroup = optarg;
			break;
		case 'l':
			opt.log = optarg;
			break;
		default:
			usage();
		}
	}
	if (optind != argc - 1)
		usage();
	for (opt.mode = 0; opt.mode < MODES; opt.mode++) {
		if (!strcmp(argv[optind], mode_name[opt.mode]))
			break;
	}
	if (opt.mode == MODES)
		usage();
	if (opt.mode == RELEASE && opt.threads != 2)
		die("release: with 2 threads only");
	if (opt.mode == THROTTLE && (!opt.cgroup || opt.rotate))
		die("throttle: needs --cgroup, and goes not with --rotate");
}

static void list_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		die("sched_getaffinity: %s", strerror(errno));
	for (uint32_t cpu = 0; cpu < CPU_SETSIZE && cpu < MAX_CPUS; cpu++) {
		if (CPU_ISSET(cpu, &set))
			cpu_list[ncpus++] = cpu;
	}
	if (ncpus < 2)
		die("late: needs two CPUs at least");
}

static pthread_t start(void *(*function)(void *), void *arg)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, function, arg), "pthread_create");
	return thread;
}

static uint32_t start_helpers(void)
{
	uint32_t helpers = 0;

	if (uses(LOCK, LOCK_SLEEP, LOCK_CHAIN) || opt.mode == MIX_LOCK_PIPE) {
		start(hold, NULL);
		helpers++;
	}
	if (opt.mode == PIPE || opt.mode == MIX_LOCK_PIPE) {
		if (pipe(feeder.fd))
			die("pipe: %s", strerror(errno));
		start(feed, NULL);
		helpers++;
	}
	return helpers;
}

int main(int argc, char **argv)
{
	pthread_t thread[MAX_THREADS];
	uint32_t helpers;

	parse_options(argc, argv);
	list_cpus();
	stopgap(STOPGAP_SECONDS);
	/* Fork before there are other threads. */
	if (uses(CPU, RELEASE, LOCK_CHAIN))
		start_competitors();
	if (opt.mode == FSYNC || opt.mode == FILE_PAGES)
		make_data();
	must(pthread_barrier_init(&barrier, NULL, opt.threads), "pthread_barrier_init");
	helpers = start_helpers();
	word_wait(&ready, helpers);
	for (uint32_t i = 0; i < opt.threads; i++) {
		worker[i].index = i;
		worker[i].cpu = cpu_list[i % ncpus];
		worker[i].entry = (struct entry *)must_alloc(opt.rounds, sizeof(*worker[i].entry));
		thread[i] = start(run, &worker[i]);
	}
	word_wait(&ready, helpers + opt.threads);
	word_set(&gate, 1);
	for (uint32_t i = 0; i < opt.threads; i++)
		must(pthread_join(thread[i], NULL), "pthread_join");
	stop_competitors();
	if (opt.mode == RELEASE)
		find_releases();
	if (opt.log)
		write_log();
	printf("late: mode=%s rounds=%u threads=%u ok\n", mode_name[opt.mode], opt.rounds,
	       opt.threads);
	return 0;
}
