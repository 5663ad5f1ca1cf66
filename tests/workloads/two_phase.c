// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// More barriers of two phases, which count their own episodes:
//   two_phase KIND THREADS ROUNDS [LATE [SPINS]]
//     down       one condition variable: the counter decreases, and increases again
//     stay       one condition variable: no thread leaves before all have arrived
//     unlocked   as `stay`, but both wake-ups follow after the mutex is unlocked
//     timed      as `down`, with waits of 300 microseconds
//     sense      two condition variables alternate: the counter increases in one episode, and
//                decreases in the next
//     halves     two functions, each with its own counter and condition variable
//     turnstile  semaphores: the last thread opens a turnstile for all, and then a second turnstile
//     same       semaphores: two turnstiles that each thread opens for the next
//   LATE: the thread that is always late; -1 (default): a random one, -2: each in turn
//   SPINS: polls of the counter before each wait
// Prints "episodes N" at the end. If the variable TWO_PHASE_LOG is set, writes the times of the
// episodes to that file.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX  64
#define EPISODES_MAX 1000000

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t changed, other;
	sem_t lock, first, second;
	int n, count, second_count, sense;
	int leaving;
	unsigned generation, second_generation;
} b = { .mutex = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
	.other = PTHREAD_COND_INITIALIZER };
static unsigned long episodes;
static unsigned long long *at_ns;
static int late = -1, rounds, spins;

static void episode(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (at_ns && episodes < EPISODES_MAX)
		at_ns[episodes] = (unsigned long long)now.tv_sec * 1000000000ULL +
				  (unsigned long long)now.tv_nsec;
	episodes++;
}

static void work(int me, int round, unsigned *seed)
{
	int slow = late == -2 ? round % b.n : late;

	*seed = *seed * 1103515245u + 12345u;
	if (late != -1)
		usleep(me == slow ? 600 : 20);
	else
		usleep((*seed >> 16) % 500);
}

/* Poll for a while whether *@leaving has changed, and unlock the mutex meanwhile. */
static inline void spin(const int *leaving, int value)
{
	for (int i = 0; i < spins && *(const volatile int *)leaving == value; i++) {
		pthread_mutex_unlock(&b.mutex);
		for (volatile int k = 0; k < 200; k++)
			;
		pthread_mutex_lock(&b.mutex);
	}
}

__attribute__((noinline)) static void meet_down(void)
{
	pthread_mutex_lock(&b.mutex);
	spin(&b.leaving, 1);
	while (b.leaving)
		pthread_cond_wait(&b.changed, &b.mutex);
	if (--b.count == 0) {
		b.leaving = 1;
		episode();
		pthread_cond_broadcast(&b.changed);
	} else {
		spin(&b.leaving, 0);
		while (!b.leaving)
			pthread_cond_wait(&b.changed, &b.mutex);
	}
	if (++b.count == b.n) {
		b.leaving = 0;
		pthread_cond_broadcast(&b.changed);
	}
	pthread_mutex_unlock(&b.mutex);
}

__attribute__((noinline)) static void meet_stay(void)
{
	pthread_mutex_lock(&b.mutex);
	if (--b.count == 0) {
		b.leaving = 1;
		episode();
		pthread_cond_broadcast(&b.changed);
	} else {
		spin(&b.leaving, 0);
		while (!b.leaving)
			pthread_cond_wait(&b.changed, &b.mutex);
	}
	if (++b.count == b.n) {
		b.leaving = 0;
		pthread_cond_broadcast(&b.changed);
	} else {
		spin(&b.leaving, 1);
		while (b.leaving)
			pthread_cond_wait(&b.changed, &b.mutex);
	}
	pthread_mutex_unlock(&b.mutex);
}

__attribute__((noinline)) static void meet_unlocked(void)
{
	int last;

	pthread_mutex_lock(&b.mutex);
	last = --b.count == 0;
	if (last) {
		b.leaving = 1;
		episode();
	} else {
		spin(&b.leaving, 0);
		while (!b.leaving)
			pthread_cond_wait(&b.changed, &b.mutex);
	}
	pthread_mutex_unlock(&b.mutex);
	if (last)
		pthread_cond_broadcast(&b.changed);
	pthread_mutex_lock(&b.mutex);
	last = ++b.count == b.n;
	if (last) {
		b.leaving = 0;
	} else {
		spin(&b.leaving, 1);
		while (b.leaving)
			pthread_cond_wait(&b.changed, &b.mutex);
	}
	pthread_mutex_unlock(&b.mutex);
	if (last)
		pthread_cond_broadcast(&b.changed);
}

static void wait_a_little(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 300000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_cond_timedwait(&b.changed, &b.mutex, &until);
}

__attribute__((noinline)) static void meet_timed(void)
{
	pthread_mutex_lock(&b.mutex);
	spin(&b.leaving, 1);
	while (b.leaving)
		wait_a_little();
	if (--b.count == 0) {
		b.leaving = 1;
		episode();
		pthread_cond_broadcast(&b.changed);
	} else {
		spin(&b.leaving, 0);
		while (!b.leaving)
			wait_a_little();
	}
	if (++b.count == b.n) {
		b.leaving = 0;
		pthread_cond_broadcast(&b.changed);
	}
	pthread_mutex_unlock(&b.mutex);
}

__attribute__((noinline)) static void meet_sense(int sense)
{
	pthread_cond_t *cond = sense ? &b.changed : &b.other;

	pthread_mutex_lock(&b.mutex);
	b.count += sense ? -1 : 1;
	if (b.count == (sense ? 0 : b.n)) {
		b.sense = sense;
		episode();
		pthread_cond_broadcast(cond);
	} else {
		spin(&b.sense, !sense);
		while (b.sense != sense)
			pthread_cond_wait(cond, &b.mutex);
	}
	pthread_mutex_unlock(&b.mutex);
}

__attribute__((noinline)) static void all_in(void)
{
	unsigned mine;

	pthread_mutex_lock(&b.mutex);
	mine = b.generation;
	if (++b.second_count == b.n) {
		b.second_count = 0;
		b.generation++;
		episode();
		pthread_cond_broadcast(&b.changed);
	} else {
		spin((const int *)&b.generation, (int)mine);
		while (mine == b.generation)
			pthread_cond_wait(&b.changed, &b.mutex);
	}
	pthread_mutex_unlock(&b.mutex);
}

__attribute__((noinline)) static void all_out(void)
{
	unsigned mine;

	pthread_mutex_lock(&b.mutex);
	mine = b.second_generation;
	if (--b.count == 0) {
		b.count = b.n;
		b.second_generation++;
		pthread_cond_broadcast(&b.other);
	} else {
		spin((const int *)&b.second_generation, (int)mine);
		while (mine == b.second_generation)
			pthread_cond_wait(&b.other, &b.mutex);
	}
	pthread_mutex_unlock(&b.mutex);
}

__attribute__((noinline)) static void meet_turnstile(void)
{
	sem_wait(&b.lock);
	if (--b.count == 0) {
		episode();
		for (int i = 0; i < b.n; i++)
			sem_post(&b.first);
	}
	sem_post(&b.lock);
	sem_wait(&b.first);
	sem_wait(&b.lock);
	if (++b.count == b.n)
		for (int i = 0; i < b.n; i++)
			sem_post(&b.second);
	sem_post(&b.lock);
	sem_wait(&b.second);
}

/* The second turnstile is open initially. */
__attribute__((noinline)) static void meet_same(void)
{
	sem_wait(&b.lock);
	if (--b.count == 0) {
		episode();
		sem_wait(&b.second);
		sem_post(&b.first);
	}
	sem_post(&b.lock);
	sem_wait(&b.first);
	sem_post(&b.first);
	sem_wait(&b.lock);
	if (++b.count == b.n) {
		sem_wait(&b.first);
		sem_post(&b.second);
	}
	sem_post(&b.lock);
	sem_wait(&b.second);
	sem_post(&b.second);
}

static const char *kind;

static void meet(int round)
{
	switch (kind[0] << 8 | kind[1]) {
	case 'd' << 8 | 'o':
		meet_down();
		break;
	case 's' << 8 | 't':
		meet_stay();
		break;
	case 'u' << 8 | 'n':
		meet_unlocked();
		break;
	case 't' << 8 | 'i':
		meet_timed();
		break;
	case 's' << 8 | 'e':
		meet_sense(!(round & 1));
		break;
	case 'h' << 8 | 'a':
		all_in();
		all_out();
		break;
	case 't' << 8 | 'u':
		meet_turnstile();
		break;
	default:
		meet_same();
	}
}

static void *run(void *arg)
{
	int me = (int)(long)arg;
	unsigned seed = 17u * (unsigned)me + 1;

	for (int i = 0; i < rounds; i++) {
		work(me, i, &seed);
		meet(i);
	}
	return NULL;
}

static void write_log(const char *path)
{
	FILE *f = fopen(path, "w");

	for (unsigned long i = 0; f && i < episodes && i < EPISODES_MAX; i++)
		fprintf(f, "%llu\n", at_ns[i]);
	if (f)
		fclose(f);
}

int main(int argc, char **argv)
{
	const char *log = getenv("TWO_PHASE_LOG");
	pthread_t thread[THREADS_MAX];
	int i;

	b.n = b.count = argc > 3 ? atoi(argv[2]) : 0;
	if (b.n < 1 || b.n > THREADS_MAX || strlen(argv[1]) < 2) {
		fprintf(stderr, "usage: two_phase KIND THREADS ROUNDS [LATE [SPINS]]\n");
		return 2;
	}
	kind = argv[1];
	rounds = atoi(argv[3]);
	late = argc > 4 ? atoi(argv[4]) : -1;
	spins = argc > 5 ? atoi(argv[5]) : 0;
	if (log)
		at_ns = calloc(EPISODES_MAX, sizeof(*at_ns));
	sem_init(&b.lock, 0, 1);
	sem_init(&b.first, 0, 0);
	sem_init(&b.second, 0, !strcmp(kind, "same"));
	for (i = 0; i < b.n; i++)
		pthread_create(&thread[i], NULL, run, (void *)(long)i);
	for (i = 0; i < b.n; i++)
		pthread_join(thread[i], NULL);
	printf("episodes %lu\n", episodes);
	if (log)
		write_log(log);
	return 0;
}
