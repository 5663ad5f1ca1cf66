// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Threads that are created and joined in all ways except the plain one (gen_forkjoin). The first
// argument is the way. The program prints how many rounds it had, and how many should be
// recognised: in a recognised round, one thread creates two or more threads, and joins all of these
// and no others before it creates the next.
//   once      one round, and the end
//   single    one thread at a time
//   detached  each round also creates as many detached threads as joined ones
//   window    threads are joined while others are created: always four at work
//   foreign   one thread creates the threads, another joins them
//   each      using the result of a thread takes longer than joining it
//   polled    pthread_tryjoin_np
//   logger    a thread that stays is created with those of the first round
//   shuffled  joined in a different order, long after all have ended
//   nested    each created thread creates two threads of its own, twice
//   several   three threads create and join at the same time
//   timed     pthread_timedjoin_np, repeatedly
//   unequal   a different number of threads in each round
//   cancelled the joined threads were cancelled
//   barrier   the threads and their creator also cross a barrier
//   spread    each thread is joined by its own call
//   abandoned the joining thread is cancelled in a join, and another thread joins its threads
#include "not.h"

static uint64_t told; /* number of rounds that should be reported */

static void *short_work(void *arg)
{
	work_us((uintptr_t)arg + now_ns(), 200);
	return NULL;
}

static pthread_t make(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, body, arg), "pthread_create");
	return thread;
}

ONE_COPY static void join(pthread_t thread)
{
	must(pthread_join(thread, NULL), "pthread_join");
}

static void make_all(pthread_t *threads, uint32_t n, void *(*body)(void *))
{
	for (uint32_t i = 0; i < n; i++)
		threads[i] = make(body, (void *)(uintptr_t)i);
}

static void join_all(const pthread_t *threads, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		join(threads[i]);
}

static void once(pthread_t *threads)
{
	make_all(threads, thread_count, short_work);
	join_all(threads, thread_count);
}

static void single(pthread_t *threads)
{
	(void)threads;
	for (uint32_t r = 0; r < rounds; r++)
		join(make(short_work, NULL));
}

static void detached(pthread_t *threads)
{
	for (uint32_t r = 0; r < rounds; r++) {
		for (uint32_t i = 0; i < thread_count; i++) {
			must(pthread_detach(make(short_work, NULL)), "pthread_detach");
			threads[i] = make(short_work, NULL);
		}
		join_all(threads, thread_count);
	}
	usleep(2000);
}

static void window(pthread_t *threads)
{
	make_all(threads, thread_count, short_work);
	for (uint32_t r = 0; r < rounds; r++) {
		join(threads[r % thread_count]);
		threads[r % thread_count] = make(short_work, NULL);
	}
	for (uint32_t i = 0; i < thread_count; i++)
		join(threads[(rounds + i) % thread_count]);
}

static pthread_t handed[256];
static uint32_t handed_out, handed_back;

static void *joiner(void *arg)
{
	for (uint32_t r = 0; r < rounds; r++) {
		word_wait(&handed_out, r + 1);
		join_all(handed, thread_count);
		word_set(&handed_back, r + 1);
	}
	return arg;
}

static void foreign(pthread_t *threads)
{
	pthread_t other = make(joiner, NULL);

	(void)threads;
	for (uint32_t r = 0; r < rounds; r++) {
		make_all(handed, thread_count, short_work);
		word_set(&handed_out, r + 1);
		word_wait(&handed_back, r + 1);
	}
	join(other);
}

static void each(pthread_t *threads)
{
	for (uint32_t r = 0; r < rounds; r++) {
		make_all(threads, thread_count, short_work);
		for (uint32_t i = 0; i < thread_count; i++) {
			join(threads[i]);
			spin_until(now_ns() + 1000000);
		}
	}
}

static void polled(pthread_t *threads)
{
	for (uint32_t r = 0; r < rounds; r++) {
		make_all(threads, thread_count, short_work);
		for (uint32_t i = 0; i < thread_count; i++)
			while (pthread_tryjoin_np(threads[i], NULL))
				usleep(50);
	}
}

static uint32_t stop;

static void *stays(void *arg)
{
	word_wait(&stop, 1);
	return arg;
}

static void logger(pthread_t *threads)
{
	pthread_t other = make(stays, NULL);

	for (uint32_t r = 0; r < rounds; r++) {
		make_all(threads, thread_count, short_work);
		join_all(threads, thread_count);
	}
	word_set(&stop, 1);
	join(other);
	told = rounds - 1; /* the first round could not be recognised */
}

static void shuffled(pthread_t *threads)
{
	for (uint32_t r = 0; r < rounds; r++) {
		make_all(threads, thread_count, short_work);
		usleep(5000);
		for (uint32_t i = 0; i < thread_count; i++)
			join(threads[(i + r) % thread_count]);
	}
	told = rounds;
}

static void *has_own(void *arg)
{
	for (int i = 0; i < 2; i++) {
		pthread_t a = make(short_work, arg), b = make(short_work, NULL);

		join(a);
		join(b);
	}
	return NULL;
}

static void nested(pthread_t *threads)
{
	for (uint32_t r = 0; r < rounds; r++) {
		make_all(threads, thread_count, has_own);
		join_all(threads, thread_count);
	}
	told = (uint64_t)rounds * (1 + 2 * thread_count);
}

static void *own_rounds(void *arg)
{
	pthread_t threads[256];

	for (uint32_t r = 0; r < rounds; r++) {
		make_all(threads, thread_count, short_work);
		join_all(threads, thread_count);
	}
	return arg;
}

static void several(pthread_t *threads)
{
	make_all(threads, 3, own_rounds);
	join_all(threads, 3);
	told = 3 * (uint64_t)rounds + 1; /* + 1: these three, joined by a call known by then */
}

static void join_in_time(pthread_t thread)
{
	struct timespec until;
	int err;

	do {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 50000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		err = pthread_timedjoin_np(thread, NULL, &until);
	} while (err == ETIMEDOUT);
	must(err, "pthread_timedjoin_np");
}

static void timed(pthread_t *threads)
{
	for (uint32_t r = 0; r < rounds; r++) {
		make_all(threads, thread_count, short_work);
		for (uint32_t i = 0; i < thread_count; i++)
			join_in_time(threads[i]);
	}
	told = rounds;
}

static void unequal(pthread_t *threads)
{
	for (uint32_t r = 0; r < rounds; r++) {
		make_all(threads, 2 + r % thread_count, short_work);
		join_all(threads, 2 + r % thread_count);
	}
	told = rounds;
}

static void *sleeps(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void cancelled(pthread_t *threads)
{
	for (uint32_t r = 0; r < rounds; r++) {
		make_all(threads, thread_count, sleeps);
		for (uint32_t i = 0; i < thread_count; i++)
			must(pthread_cancel(threads[i]), "pthread_cancel");
		join_all(threads, thread_count);
	}
	told = rounds;
}

static pthread_barrier_t barrier;

static void *meets(void *arg)
{
	for (int i = 0; i < 3; i++) {
		short_work(arg);
		pthread_barrier_wait(&barrier);
	}
	return short_work(arg);
}

static void with_barrier(pthread_t *threads)
{
	must(pthread_barrier_init(&barrier, NULL, thread_count + 1), "pthread_barrier_init");
	for (uint32_t r = 0; r < rounds; r++) {
		make_all(threads, thread_count, meets);
		for (int i = 0; i < 3; i++)
			pthread_barrier_wait(&barrier);
		join_all(threads, thread_count);
	}
	told = rounds;
}

static void spread(pthread_t *threads)
{
	for (uint32_t r = 0; r < rounds; r++) {
		make_all(threads, 3, short_work);
		must(pthread_join(threads[0], NULL), "pthread_join");
		must(pthread_join(threads[2], NULL), "pthread_join");
		must(pthread_join(threads[1], NULL), "pthread_join");
	}
	told = rounds;
}

static pthread_t left[2];
static uint32_t made;

static void *is_cancelled(void *arg)
{
	make_all(left, 2, stays);
	word_add(&made, 1);
	join_all(left, 2);
	return arg;
}

static void abandoned(pthread_t *threads)
{
	(void)threads;
	for (uint32_t r = 0; r < rounds; r++) {
		pthread_t one = make(is_cancelled, NULL);

		word_wait(&made, r + 1);
		usleep(200);
		must(pthread_cancel(one), "pthread_cancel");
		join(one);
		word_set(&stop, 1);
		join_all(left, 2);
		word_set(&stop, 0);
	}
}

static const struct way {
	const char *name;
	void (*run)(pthread_t *threads);
} ways[] = {
	{ "once", once },	{ "single", single },	    { "detached", detached },
	{ "window", window },	{ "foreign", foreign },	    { "each", each },
	{ "polled", polled },	{ "logger", logger },	    { "shuffled", shuffled },
	{ "nested", nested },	{ "several", several },	    { "timed", timed },
	{ "unequal", unequal }, { "cancelled", cancelled }, { "barrier", with_barrier },
	{ "spread", spread },	{ "abandoned", abandoned },
};

int main(int argc, char **argv)
{
	static pthread_t threads[300];
	size_t i;

	rounds = 40;
	parse_arguments(argc - 1, argv + 1);
	for (i = 0; i < ARRAY_SIZE(ways) && argc > 1 && strcmp(argv[1], ways[i].name) != 0; i++)
		;
	if (argc < 2 || i == ARRAY_SIZE(ways))
		die("usage: not_round WAY [THREADS [ROUNDS]]");
	ways[i].run(threads);
	printf("not_round: %s rounds=%llu ok\n", ways[i].name, (unsigned long long)told);
	return 0;
}
