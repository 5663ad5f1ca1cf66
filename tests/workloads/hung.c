// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A team that hangs at a barrier in a known way: hung --kind KIND [--threads N] [--rounds N |
// --no-past] [--missing N] [--depth N] [--seconds N]. After some good rounds (--no-past: none), the
// threads hang as `kinds` defines. First, each member prints "# member NUMBER TID". A missing
// thread prints "# missing TID", and stays on the line with "HERE: KIND". "# hung" follows when
// each thread is where it stays until the program is killed (or its stopgap ends it).
//
// A thread of a "healthy" kind arrives after --seconds, and the program ends. eintr ends at the end
// of stdin, and prints how often system calls were interrupted.
#include "common.h"

#include <getopt.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sem.h>
#include <sys/wait.h>

#define MAX_THREADS 256

static uint32_t threads = 4, rounds = 20, missing = 1, depth, seconds = 3;
static pthread_barrier_t barrier, other, wrong;
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inheriting;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static uint32_t first_held, second_held;
static pthread_t thread[MAX_THREADS];
static pid_t tid_of[MAX_THREADS];
static uint64_t count; /* so that the compiler keeps the loop */
static int events, semaphores;
static uint32_t interrupted_epoll, interrupted_semtimedop;

static void say_missing(void)
{
	printf("# missing %d\n", thread_id());
	fflush(stdout);
}

/* --- kinds that hang: each member calls its kind before the barrier; true: it does not arrive - */

static bool is_stray(uint32_t member)
{
	if (member < 1 || member > missing)
		return false;
	say_missing();
	return true;
}

static bool early(uint32_t member)
{
	return is_stray(member);
}

static bool branch(uint32_t member)
{
	if (is_stray(member))
		serial(pthread_barrier_wait(&other)); /* HERE: branch */
	return false;
}

/* Each of two threads holds the lock that the other one needs. */
ONE_COPY static bool abba(uint32_t member)
{
	if (member == 1) {
		must(pthread_mutex_lock(&first), "pthread_mutex_lock");
		word_set(&first_held, 1);
		word_wait(&second_held, 1);
		say_missing();
		must(pthread_mutex_lock(&second), "pthread_mutex_lock"); /* HERE: abba second */
	} else if (member == 2) {
		must(pthread_mutex_lock(&second), "pthread_mutex_lock");
		word_set(&second_held, 1);
		word_wait(&first_held, 1);
		say_missing();
		must(pthread_mutex_lock(&first), "pthread_mutex_lock"); /* HERE: abba first */
	}
	return false;
}

/* The first thread keeps the lock at the barrier. The second needs it, and never arrives. */
ONE_COPY static bool holder(uint32_t member)
{
	if (member == 1) {
		must(pthread_mutex_lock(&first), "pthread_mutex_lock");
		word_set(&first_held, 1);
	} else if (member == 2) {
		word_wait(&first_held, 1);
		say_missing();
		must(pthread_mutex_lock(&first), "pthread_mutex_lock"); /* HERE: holder */
	}
	return false;
}

ONE_COPY static bool inherit(uint32_t member)
{
	if (member == 1) {
		must(pthread_mutex_lock(&inheriting), "pthread_mutex_lock");
		word_set(&first_held, 1);
	} else if (member == 2) {
		word_wait(&first_held, 1);
		say_missing();
		must(pthread_mutex_lock(&inheriting), "pthread_mutex_lock"); /* HERE: pi */
	}
	return false;
}

ONE_COPY static bool written(uint32_t member)
{
	if (member == 1) {
		must(pthread_rwlock_wrlock(&rwlock), "pthread_rwlock_wrlock");
		word_set(&first_held, 1);
	} else if (member == 2) {
		word_wait(&first_held, 1);
		say_missing();
		must(pthread_rwlock_rdlock(&rwlock), "pthread_rwlock_rdlock"); /* HERE: rwlock */
	}
	return false;
}

ONE_COPY static bool self(uint32_t member)
{
	if (member == 1) {
		must(pthread_mutex_lock(&first), "pthread_mutex_lock");
		say_missing();
		must(pthread_mutex_lock(&first), "pthread_mutex_lock"); /* HERE: self */
	}
	return false;
}

/* The holder sleeps, so the thread that needs the lock waits for an event outside, too. */
ONE_COPY static bool held_asleep(uint32_t member)
{
	if (member == 1) {
		must(pthread_mutex_lock(&first), "pthread_mutex_lock");
		word_set(&first_held, 1);
		say_missing();
		sleep(10000); /* HERE: held-asleep holder */
	} else if (member == 2) {
		word_wait(&first_held, 1);
		say_missing();
		must(pthread_mutex_lock(&first), "pthread_mutex_lock"); /* HERE: held-asleep */
	}
	return false;
}

ONE_COPY static void spin_for_ever(void)
{
	for (;;) /* HERE: loop begin */
		__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED); /* HERE: loop */
}

static bool loop(uint32_t member)
{
	if (is_stray(member))
		spin_for_ever();
	return false;
}

/* The inlined function counts as a frame, too. */
__attribute__((always_inline)) static inline ssize_t read_of(int fd)
{
	char byte;

	return read(fd, &byte, 1); /* HERE: pipe */
}

ONE_COPY static void deeper(uint32_t left, int fd)
{
	if (left)
		deeper(left - 1, fd);
	else if (read_of(fd) < 0)
		die("read: %s", strerror(errno));
	__atomic_fetch_add(&count, left, __ATOMIC_RELAXED);
}

static bool pipe_read(uint32_t member)
{
	int fd[2];

	if (!is_stray(member))
		return false;
	if (pipe(fd))
		die("pipe: %s", strerror(errno));
	deeper(depth, fd[0]);
	return false;
}

static bool nap(uint32_t member)
{
	if (is_stray(member))
		sleep(10000); /* HERE: sleep */
	return false;
}

static bool unheard(uint32_t member)
{
	if (is_stray(member)) {
		must(pthread_mutex_lock(&first), "pthread_mutex_lock");
		must(pthread_cond_wait(&never, &first), "pthread_cond_wait"); /* HERE: cond */
	}
	return false;
}

/* The child has its own stopgap, so that it does not outlive the test. */
static bool child(uint32_t member)
{
	pid_t pid;

	if (!is_stray(member))
		return false;
	pid = fork();
	if (!pid) {
		stopgap(STOPGAP_SECONDS);
		pause();
		_exit(0);
	}
	printf("# child %d\n", pid);
	fflush(stdout);
	if (waitpid(pid, NULL, 0) != pid) /* HERE: child */
		die("waitpid: %s", strerror(errno));
	return false;
}

/* main() cancels the thread in pause(). */
static bool cancelled(uint32_t member)
{
	if (is_stray(member)) {
		word_set(&first_held, 1);
		pause();
	}
	return false;
}

/* Member 0 is main(). */
ONE_COPY static bool join(uint32_t member)
{
	if (!member) {
		say_missing();
		must(pthread_join(thread[1], NULL), "pthread_join"); /* HERE: join */
	}
	return false;
}

/* --- kinds that do not hang ------------------------------------------------------------------- */

static bool slow(uint32_t member)
{
	if (is_stray(member))
		spin_until(now_ns() + seconds * NSEC_PER_SEC); /* HERE: slow */
	return false;
}

/* One thread works while it holds a lock that another thread needs. */
static bool slow_lock(uint32_t member)
{
	if (member == 1) {
		must(pthread_mutex_lock(&first), "pthread_mutex_lock");
		word_set(&first_held, 1);
		say_missing();
		spin_until(now_ns() + seconds * NSEC_PER_SEC);
		must(pthread_mutex_unlock(&first), "pthread_mutex_unlock");
	} else if (member == 2) {
		word_wait(&first_held, 1);
		say_missing();
		must(pthread_mutex_lock(&first), "pthread_mutex_lock"); /* HERE: slow-lock */
		must(pthread_mutex_unlock(&first), "pthread_mutex_unlock");
	}
	return false;
}

/* Two threads lock in opposite order. If a thread waits too long, it releases its first lock. */
ONE_COPY static bool give_way(uint32_t member)
{
	uint64_t until = now_ns() + seconds * NSEC_PER_SEC;
	pthread_mutex_t *mine, *its;
	struct timespec soon;

	if (member != 1 && member != 2)
		return false;
	mine = member == 1 ? &first : &second;
	its = member == 1 ? &second : &first;
	say_missing();
	while (now_ns() < until) {
		must(pthread_mutex_lock(mine), "pthread_mutex_lock");
		sleep_ns(1000000);
		clock_gettime(CLOCK_REALTIME, &soon);
		soon.tv_nsec += 2000000 * (long)member;
		if (soon.tv_nsec >= (long)NSEC_PER_SEC) {
			soon.tv_nsec -= (long)NSEC_PER_SEC;
			soon.tv_sec++;
		}
		if (!pthread_mutex_timedlock(its, &soon))
			pthread_mutex_unlock(its);
		must(pthread_mutex_unlock(mine), "pthread_mutex_unlock");
	}
	return false;
}

/* --- whether system calls are interrupted ----------------------------------------------------- */

static void until_event(void)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int ep = epoll_create1(EPOLL_CLOEXEC), n;

	if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, events, &ev))
		die("epoll: %s", strerror(errno));
	for (;;) {
		n = epoll_wait(ep, &ev, 1, -1); /* HERE: eintr epoll */
		if (n > 0)
			return;
		if (errno != EINTR)
			die("epoll_wait: %s", strerror(errno));
		__atomic_fetch_add(&interrupted_epoll, 1, __ATOMIC_RELAXED);
	}
}

static void until_semaphore(void)
{
	struct sembuf take = { .sem_op = -1 };
	struct timespec long_time = { .tv_sec = 10000 };

	while (semtimedop(semaphores, &take, 1, &long_time)) { /* HERE: eintr semtimedop */
		if (errno != EINTR)
			die("semtimedop: %s", strerror(errno));
		__atomic_fetch_add(&interrupted_semtimedop, 1, __ATOMIC_RELAXED);
	}
}

ONE_COPY static bool eintr(uint32_t member)
{
	if (member != 1 && member != 2)
		return false;
	say_missing();
	if (member == 1)
		until_event();
	else
		until_semaphore();
	return false;
}

static void eintr_prepare(void)
{
	events = eventfd(0, EFD_CLOEXEC);
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	if (events < 0 || semaphores < 0)
		die("eventfd or semget: %s", strerror(errno));
}

static void eintr_end(void)
{
	struct sembuf give = { .sem_op = 1 };
	uint64_t one = 1;
	char line[64];

	while (read(STDIN_FILENO, line, sizeof(line)) > 0)
		;
	printf("# interrupted epoll_wait %u semtimedop %u\n", interrupted_epoll,
	       interrupted_semtimedop);
	if (write(events, &one, sizeof(one)) != sizeof(one) || semop(semaphores, &give, 1))
		die("write or semop: %s", strerror(errno));
}

/* ---------------------------------------------------------------------------------------------- */

enum { HEALTHY = 1, MAIN_IS_MEMBER = 2, NEVER_ASLEEP = 4, TOO_MANY = 8, WAITED_FOR = 16 };

static const struct kind {
	const char *name;
	bool (*before)(uint32_t member);
	unsigned int flags;
} kinds[] = {
	{ "early", early, 0 },
	{ "branch", branch, 0 },
	{ "count", NULL, TOO_MANY },
	{ "abba", abba, 0 },
	{ "holder", holder, 0 },
	{ "self", self, 0 },
	{ "loop", loop, NEVER_ASLEEP },
	{ "pipe", pipe_read, 0 },
	{ "sleep", nap, 0 },
	{ "cancel", cancelled, 0 },
	{ "rwlock", written, 0 },
	{ "pi", inherit, 0 },
	{ "join", join, MAIN_IS_MEMBER },
	{ "cond", unheard, 0 },
	{ "child", child, 0 },
	{ "held-asleep", held_asleep, 0 },
	{ "slow", slow, HEALTHY },
	{ "slow-lock", slow_lock, HEALTHY },
	{ "give-way", give_way, HEALTHY },
	{ "eintr", eintr, WAITED_FOR },
};

static const struct kind *kind;

ONE_COPY static void *worker(void *arg)
{
	uint32_t member = (uint32_t)(uintptr_t)arg;

	tid_of[member] = thread_id();
	printf("# member %u %d\n", member, tid_of[member]);
	fflush(stdout);
	for (uint32_t i = 0; i <= rounds; i++) {
		if (i == rounds && kind->before && kind->before(member))
			return NULL;
		if (i == rounds && kind->flags & TOO_MANY)
			serial(pthread_barrier_wait(&wrong)); /* HERE: count */
		serial(pthread_barrier_wait(&barrier)); /* HERE: barrier */
	}
	return NULL;
}

/* Return whether the thread exists and sleeps. If it never sleeps, it must be running instead. */
static bool stays(uint32_t member)
{
	bool awake = kind->flags & NEVER_ASLEEP && member >= 1 && member <= missing;
	char path[64], line[512];
	const char *state = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid_of[member]);
	f = fopen(path, "r");
	if (!f)
		return kind->before == early || kind->before == cancelled;
	if (fgets(line, sizeof(line), f))
		state = strrchr(line, ')');
	fclose(f);
	return awake || (state && state[1] == ' ' && state[2] == 'S');
}

static void watch_them(uint32_t from)
{
	for (uint32_t calm = 0; calm < 5; calm++) {
		for (uint32_t i = from; i < threads; i++)
			if (!__atomic_load_n(&tid_of[i], __ATOMIC_RELAXED) || !stays(i))
				calm = 0;
		sleep_ns(2000000);
	}
	printf("# hung\n");
	fflush(stdout);
}

static void prepare(void)
{
	pthread_mutexattr_t attr;

	must(pthread_mutexattr_init(&attr), "pthread_mutexattr_init");
	must(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT),
	     "pthread_mutexattr_setprotocol");
	must(pthread_mutex_init(&inheriting, &attr), "pthread_mutex_init");
	must(pthread_barrier_init(&barrier, NULL, threads), "pthread_barrier_init");
	must(pthread_barrier_init(&other, NULL, threads), "pthread_barrier_init");
	must(pthread_barrier_init(&wrong, NULL, threads + 1), "pthread_barrier_init");
	if (kind->before == eintr)
		eintr_prepare();
}

/* Watch the threads from an additional thread if main() is a member. */
static void *watcher(void *arg)
{
	watch_them(0);
	return arg;
}

static void run(void)
{
	uint32_t from = kind->flags & MAIN_IS_MEMBER ? 1 : 0;
	pthread_t watching;

	for (uint32_t i = from; i < threads; i++)
		must(pthread_create(&thread[i], NULL, worker, (void *)(uintptr_t)i),
		     "pthread_create");
	if (from) {
		must(pthread_create(&watching, NULL, watcher, NULL), "pthread_create");
		worker(NULL);
	}
	if (kind->before == cancelled) {
		word_wait(&first_held, 1);
		wait_until_asleep(tid_of[1]);
		must(pthread_cancel(thread[1]), "pthread_cancel");
	}
	if (!(kind->flags & HEALTHY) && !from)
		watch_them(0);
	if (kind->flags & WAITED_FOR)
		eintr_end();
	for (uint32_t i = from; i < threads; i++)
		must(pthread_join(thread[i], NULL), "pthread_join");
	if (kind->before == eintr)
		semctl(semaphores, 0, IPC_RMID);
}

static void choose(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			kind = &kinds[i];
	if (!kind)
		die("no such kind: %s", name);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "kind", required_argument, NULL, 'k' },
		{ "threads", required_argument, NULL, 't' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "no-past", no_argument, NULL, 'n' },
		{ "missing", required_argument, NULL, 'm' },
		{ "depth", required_argument, NULL, 'd' },
		{ "seconds", required_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'k')
			choose(optarg);
		else if (c == 't')
			threads = (uint32_t)parse_u64("threads", optarg, 3, MAX_THREADS);
		else if (c == 'r')
			rounds = (uint32_t)parse_u64("rounds", optarg, 0, UINT32_MAX);
		else if (c == 'n')
			rounds = 0;
		else if (c == 'm')
			missing = (uint32_t)parse_u64("missing", optarg, 1, MAX_THREADS);
		else if (c == 'd')
			depth = (uint32_t)parse_u64("depth", optarg, 0, 1000);
		else if (c == 's')
			seconds = (uint32_t)parse_u64("seconds", optarg, 1, 3600);
		else
			return 2;
	}
	if (!kind || optind != argc)
		die("usage: hung --kind KIND [--threads N] [--rounds N | --no-past] [--missing N] "
		    "[--depth N] [--seconds N]");
	if (missing >= threads)
		die("some thread has to arrive");
	stopgap(STOPGAP_SECONDS);
	prepare();
	run();
	printf("hung: ok\n");
	return 0;
}
