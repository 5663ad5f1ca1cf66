// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Threads cross a barrier made of a mutex and a condition variable. Then one of them waits there
// alone, and is cancelled in pthread_cond_wait. This must run its destructors and unlock the mutex.
// With "throw" the thread instead leaves the barrier by an exception, which is thrown when its wait
// is over.
//
// Known answer: 30 episodes of three threads; 20 waits without an episode, each with its
// destructor.
#include <pthread.h>
#include <cstdio>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <unistd.h>

#define TURNS	 20
#define MEETINGS 30
#define MEMBERS	 3

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static unsigned counter, generation, alone_since;
static bool throws;
static int destroyed;

struct holder {
	holder()
	{
		pthread_mutex_lock(&mutex);
	}
	~holder()
	{
		pthread_mutex_unlock(&mutex);
		destroyed++;
	}
};

__attribute__((noinline)) static void meet(bool alone)
{
	holder own;
	unsigned mine = generation;

	if (++counter == MEMBERS) {
		counter = 0;
		generation++;
		pthread_cond_broadcast(&condition);
		return;
	}
	alone_since += alone;
	while (generation == mine)
		pthread_cond_wait(&condition, &mutex);
	if (alone && throws)
		throw std::runtime_error("over");
}

static void *member(void *)
{
	for (int i = 0; i < MEETINGS; i++) {
		usleep(200);
		meet(false);
	}
	return nullptr;
}

static void *victim(void *)
{
	try {
		meet(true);
	} catch (const std::runtime_error &) {
	}
	return nullptr;
}

static unsigned waiting()
{
	pthread_mutex_lock(&mutex);
	unsigned n = alone_since;
	pthread_mutex_unlock(&mutex);
	return n;
}

static void end_wait(pthread_t thread)
{
	if (!throws) {
		pthread_cancel(thread);
		return;
	}
	pthread_mutex_lock(&mutex);
	generation++;
	pthread_cond_broadcast(&condition);
	pthread_mutex_unlock(&mutex);
}

int main(int argc, char **argv)
{
	pthread_t threads[MEMBERS];
	int cancelled = 0, before;

	throws = argc > 1 && !strcmp(argv[1], "throw");
	alarm(60);
	for (auto &t : threads)
		pthread_create(&t, nullptr, member, nullptr);
	for (auto &t : threads)
		pthread_join(t, nullptr);
	before = destroyed;
	for (unsigned i = 0; i < TURNS; i++) {
		void *result;

		pthread_create(&threads[0], nullptr, victim, nullptr);
		while (waiting() != i + 1)
			usleep(100);
		end_wait(threads[0]);
		pthread_join(threads[0], &result);
		cancelled += result == PTHREAD_CANCELED;
		counter = 0;
	}
	/* The lock would block forever if a cancelled thread still held the mutex. */
	pthread_mutex_lock(&mutex);
	bool ok = destroyed - before == TURNS && cancelled == (throws ? 0 : TURNS) &&
		  before == MEMBERS * MEETINGS;
	printf("cond_cancel: episodes=%d destroyed=%d cancelled=%d %s\n", MEETINGS,
	       destroyed - before, cancelled, ok ? "ok" : "bad");
	return !ok;
}
