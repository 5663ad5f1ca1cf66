// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Short processes of two threads: brief MANY [AT-A-TIME] [fork|exec|threads] [BARRIERS]. Each
// process crosses BARRIERS (2) barriers once: MANY x BARRIERS episodes in all. With "exec" each
// process executes this program again. With "fork" it is a copy of the first process. With
// "threads" it is a copy, too, and the second thread at each barrier is a new one.
#include "common.h"

#include <sys/wait.h>

#define BARRIERS_MAX 1024

static pthread_barrier_t barriers[BARRIERS_MAX];
static unsigned int nbarriers = 2;

static void *cross(void *arg)
{
	for (unsigned int i = 0; i < nbarriers; i++)
		pthread_barrier_wait(&barriers[i]);
	return arg;
}

static void *cross_one(void *arg)
{
	pthread_barrier_wait(arg);
	return NULL;
}

static void one(int threads)
{
	pthread_t other;

	for (unsigned int i = 0; i < nbarriers; i++)
		pthread_barrier_init(&barriers[i], NULL, 2);
	for (unsigned int i = 0; threads && i < nbarriers; i++) {
		if (pthread_create(&other, NULL, cross_one, &barriers[i]))
			die("pthread_create");
		cross_one(&barriers[i]);
		pthread_join(other, NULL);
	}
	if (threads)
		return;
	if (pthread_create(&other, NULL, cross, NULL))
		die("pthread_create");
	cross(NULL);
	pthread_join(other, NULL);
}

static void begin(const char *self, const char *how)
{
	char count[16];
	pid_t pid = fork();

	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid)
		return;
	if (!strcmp(how, "exec")) {
		snprintf(count, sizeof(count), "%u", nbarriers);
		execl(self, self, "0", "1", "exec", count, (char *)NULL);
		_exit(127);
	}
	one(!strcmp(how, "threads"));
	_exit(0);
}

static void end_one(void)
{
	int status;

	if (wait(&status) < 0 || status)
		die("a process ended with status 0x%x", (unsigned int)status);
}

int main(int argc, char **argv)
{
	unsigned int many = argc > 1 ? (unsigned int)atoi(argv[1]) : 1;
	unsigned int most = argc > 2 ? (unsigned int)atoi(argv[2]) : 4;
	const char *how = argc > 3 ? argv[3] : "exec";
	unsigned int running = 0;

	if (argc > 4)
		nbarriers = (unsigned int)atoi(argv[4]);
	if (!most || !nbarriers || nbarriers > BARRIERS_MAX)
		die("usage: brief MANY [AT-A-TIME] [fork|exec|threads] [BARRIERS]");
	if (!many) {
		one(0);
		return 0;
	}
	stopgap(STOPGAP_SECONDS);
	for (unsigned int i = 0; i < many; i++) {
		if (running == most) {
			end_one();
			running--;
		}
		begin(argv[0], how);
		running++;
	}
	for (; running; running--)
		end_one();
	printf("# episodes %llu\n", (unsigned long long)many * nbarriers);
	return 0;
}
