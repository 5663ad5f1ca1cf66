// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Two threads cross a barrier. Before each crossing, another thread delays the second one, "late",
// in a way that easily misleads a tracer about the culprit. "held MODE [ROUNDS]" prints "# NAME
// TID" for each thread that a report may name.
#include "common.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define MS	1000000ULL
#define STEP_NS (2 * MS)
#define LONG_NS (12 * MS)

enum mode { CONVOY, WRITER, READERS_TURN, SHARED, CHILD, NAP, CPU, CHAIN, FAULTY, BESIDE, MODES };

static const char *const mode_name[MODES] = {
	"convoy", "writer", "readers-turn", "shared", "child",
	"nap",	  "cpu",    "chain",	    "faulty", "beside",
};

/* In memory that a child process may share. */
static struct shared {
	pthread_mutex_t lock;
	uint32_t asked, done;
} * shared;

static enum mode mode;
static uint32_t rounds = 40;
static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t inner[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static uint32_t go[3], came, taken[2];
static sigjmp_buf survived;
static pid_t late_tid;

static void known_as(const char *name)
{
	prctl(PR_SET_NAME, name);
	printf("# %s %d\n", name, thread_id());
	fflush(stdout);
}

static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity: %s", strerror(errno));
}

static void first_of_all(int priority)
{
	struct sched_param p = { .sched_priority = priority };

	if (sched_setscheduler(0, SCHED_FIFO, &p))
		die("sched_setscheduler: %s", strerror(errno));
}

/*
 * Hold the mutex first, for a short time. Meanwhile let the second holder ask for the mutex, and
 * then the late thread.
 */
static void *brief(void *arg)
{
	known_as("brief");
	for (uint32_t n = 1; n <= rounds; n++) {
		word_wait(&go[0], n);
		pthread_mutex_lock(&mutex);
		word_set(&go[1], n);
		sleep_ns(STEP_NS);
		word_set(&came, n);
		sleep_ns(STEP_NS);
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

static void *greedy(void *arg)
{
	known_as("greedy");
	for (uint32_t n = 1; n <= rounds; n++) {
		word_wait(&go[1], n);
		pthread_mutex_lock(&mutex);
		sleep_ns(LONG_NS);
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

static void *writer(void *arg)
{
	known_as("writer");
	for (uint32_t n = 1; n <= rounds; n++) {
		word_wait(&go[0], n);
		pthread_rwlock_wrlock(&rwlock);
		word_set(&came, n);
		sleep_ns(LONG_NS);
		pthread_rwlock_unlock(&rwlock);
	}
	return arg;
}

static void *reader(void *arg)
{
	known_as("reader");
	for (uint32_t n = 1; n <= rounds; n++) {
		word_wait(&go[0], n);
		pthread_rwlock_rdlock(&rwlock);
		word_set(&came, n);
		sleep_ns(LONG_NS);
		pthread_rwlock_unlock(&rwlock);
	}
	return arg;
}

/*
 * The three threads use the CPU one after the other for about 10 ms in all. The longest user is
 * neither the first nor the last.
 */
static void *on_cpu(void *arg)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} who[] = { { "opener", MS }, { "heavy", 8 * MS }, { "light", MS / 2 } };
	uintptr_t i = (uintptr_t)arg;
	uint64_t until;

	known_as(who[i].name);
	pin();
	first_of_all(10 - (int)i);
	for (uint32_t n = 1; n <= rounds; n++) {
		word_wait(&go[i], n);
		until = thread_cpu_ns() + who[i].ns;
		if (i < 2)
			word_set(&go[i + 1], n);
		while (thread_cpu_ns() < until)
			;
	}
	return NULL;
}

/*
 * The late thread waits for this thread. This thread waits for two others: longer for the first.
 */
static void *middle(void *arg)
{
	known_as("middle");
	for (uint32_t n = 1; n <= rounds; n++) {
		word_wait(&go[0], n);
		pthread_mutex_lock(&mutex);
		word_set(&go[1], n);
		word_wait(&taken[0], n);
		word_set(&came, n);
		pthread_mutex_lock(&inner[0]);
		word_set(&go[2], n);
		word_wait(&taken[1], n);
		pthread_mutex_lock(&inner[1]);
		pthread_mutex_unlock(&inner[1]);
		pthread_mutex_unlock(&inner[0]);
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

static void *behind(void *arg)
{
	uintptr_t i = (uintptr_t)arg;

	known_as(i ? "short" : "long");
	for (uint32_t n = 1; n <= rounds; n++) {
		word_wait(&go[i + 1], n);
		pthread_mutex_lock(&inner[i]);
		word_set(&taken[i], n);
		sleep_ns(i ? MS / 2 : LONG_NS);
		pthread_mutex_unlock(&inner[i]);
	}
	return NULL;
}

static void survive(int number)
{
	(void)number;
	siglongjmp(survived, 1);
}

/*
 * Access a forbidden page, as garbage collectors do. Then compute without another fault, but with
 * interruptions.
 */
static void touch_and_compute(void)
{
	void *guard = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (guard == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	signal(SIGSEGV, survive);
	if (!sigsetjmp(survived, 1))
		*(volatile char *)guard = 1;
	for (int i = 0; i < 10; i++) {
		for (uint64_t until = thread_cpu_ns() + MS; thread_cpu_ns() < until;)
			;
		sleep_ns(MS / 100);
	}
	munmap(guard, 1);
}

static void hold_shared(void)
{
	known_as("other");
	for (uint32_t n = 1; n <= rounds; n++) {
		word_wait(&shared->asked, n);
		pthread_mutex_lock(&shared->lock);
		word_set(&shared->done, n);
		sleep_ns(LONG_NS);
		pthread_mutex_unlock(&shared->lock);
	}
	_exit(0);
}

static void be_held(uint32_t n)
{
	pid_t pid;

	switch (mode) {
	case CONVOY:
	case CHAIN:
		word_set(&go[0], n);
		word_wait(&came, n);
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		break;
	case WRITER:
	case READERS_TURN:
	case BESIDE:
		if (mode == BESIDE)
			sleep_ns(2 * LONG_NS);
		word_set(&go[0], n);
		word_wait(&came, n);
		if (mode == READERS_TURN)
			pthread_rwlock_wrlock(&rwlock);
		else
			pthread_rwlock_rdlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
		break;
	case SHARED:
		word_set(&shared->asked, n);
		word_wait(&shared->done, n);
		pthread_mutex_lock(&shared->lock);
		pthread_mutex_unlock(&shared->lock);
		break;
	case CHILD:
		pid = fork();
		if (!pid) {
			sleep_ns(LONG_NS);
			_exit(0);
		}
		if (waitpid(pid, NULL, 0) != pid)
			die("waitpid: %s", strerror(errno));
		break;
	case NAP:
		sleep_ns(LONG_NS);
		break;
	case FAULTY:
		touch_and_compute();
		break;
	case CPU:
		word_set(&go[0], n);
		for (uint64_t until = now_ns() + 5 * MS; now_ns() < until;)
			;
		break;
	default:
		break;
	}
}

static void *late(void *arg)
{
	known_as("late");
	late_tid = thread_id();
	if (mode == CPU)
		pin();
	for (uint32_t n = 1; n <= rounds; n++) {
		be_held(n);
		serial(pthread_barrier_wait(&barrier));
	}
	return arg;
}

static void make_shared(void)
{
	pthread_mutexattr_t attr;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	must(pthread_mutex_init(&shared->lock, &attr), "pthread_mutex_init");
}

int main(int argc, char **argv)
{
	pthread_t thread[4];
	uint32_t n = 0;

	if (argc < 2)
		die("usage: held MODE [ROUNDS]");
	while (mode < MODES && strcmp(argv[1], mode_name[mode]))
		mode++;
	if (mode == MODES)
		die("no such mode: %s", argv[1]);
	if (argc > 2)
		rounds = (uint32_t)parse_u64("rounds", argv[2], 1, 100000);
	stopgap(STOPGAP_SECONDS);
	make_shared();
	if (mode == SHARED && !fork())
		hold_shared();
	must(pthread_barrier_init(&barrier, NULL, 2), "pthread_barrier_init");
	if (mode == CONVOY) {
		must(pthread_create(&thread[n++], NULL, brief, NULL), "pthread_create");
		must(pthread_create(&thread[n++], NULL, greedy, NULL), "pthread_create");
	} else if (mode == CHAIN) {
		must(pthread_create(&thread[n++], NULL, middle, NULL), "pthread_create");
		for (uintptr_t i = 0; i < 2; i++)
			must(pthread_create(&thread[n++], NULL, behind, (void *)i),
			     "pthread_create");
	} else if (mode == WRITER || mode == READERS_TURN || mode == BESIDE) {
		must(pthread_create(&thread[n++], NULL, mode == READERS_TURN ? reader : writer,
				    NULL),
		     "pthread_create");
	} else if (mode == CPU) {
		for (uintptr_t i = 0; i < 3; i++)
			must(pthread_create(&thread[n++], NULL, on_cpu, (void *)i),
			     "pthread_create");
	}
	must(pthread_create(&thread[n++], NULL, late, NULL), "pthread_create");
	for (uint32_t i = 0; i < rounds; i++) {
		if (mode == BESIDE)
			sleep_ns(2 * LONG_NS);
		serial(pthread_barrier_wait(&barrier));
	}
	while (n)
		must(pthread_join(thread[--n], NULL), "pthread_join");
	while (wait(NULL) > 0)
		;
	return 0;
}
