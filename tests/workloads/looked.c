// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Threads that stay at known positions in the code, without frame pointers. Each prints "# PLACE
// TID" on its way there. "looked TIMES" runs TIMES threads at each position. The program ends at
// the end of stdin, and prints how often epoll_wait() and semtimedop() were interrupted: "# eintr
// COUNT".
#include "common.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define LONG	 1000 /* seconds */
#define DEEP	 500
#define LARGE	 300000
#define NOINLINE __attribute__((noinline, noclone))
#define INLINED	 static inline __attribute__((always_inline))

static int empty[2], sem, listening;
static uint32_t word;
static unsigned long interrupted_calls;
/* Statements after each call use this variable, so that no call is a tail call. */
static volatile unsigned long done;

static NOINLINE void in_read(void)
{
	char byte;

	done += (unsigned long)read(empty[0], &byte, 1); /* HERE: read */
}

static NOINLINE void in_epoll(void)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = { .events = EPOLLIN };

	if (fd < 0 || epoll_ctl(fd, EPOLL_CTL_ADD, empty[0], &event))
		die("epoll: %s", strerror(errno));
	while (epoll_wait(fd, &event, 1, -1) < 0 && errno == EINTR) /* HERE: epoll */
		__atomic_add_fetch(&interrupted_calls, 1, __ATOMIC_RELAXED);
	done++;
}

static NOINLINE void in_semtimedop(void)
{
	struct sembuf down = { .sem_op = -1 };
	struct timespec limit = { .tv_sec = LONG };

	while (semtimedop(sem, &down, 1, &limit) < 0 && errno == EINTR) /* HERE: semtimedop */
		__atomic_add_fetch(&interrupted_calls, 1, __ATOMIC_RELAXED);
	done++;
}

static NOINLINE void in_nanosleep(void)
{
	struct timespec t = { .tv_sec = LONG };

	done += (unsigned long)nanosleep(&t, NULL); /* HERE: nanosleep */
}

static NOINLINE void in_futex(void)
{
	long number = SYS_futex, wait = FUTEX_WAIT_PRIVATE;

	done += (unsigned long)syscall(number, &word, wait, 0, NULL); /* HERE: futex */
}

static NOINLINE void in_wait4(void)
{
	pid_t child = fork();

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	printf("# child %d\n", (int)child);
	fflush(stdout);
	done += (unsigned long)wait4(child, NULL, 0, NULL); /* HERE: wait4 */
}

static NOINLINE void in_poll(void)
{
	struct pollfd two[] = { { .fd = listening, .events = POLLIN },
				{ .fd = empty[0], .events = POLLIN } };

	done += (unsigned long)poll(two, 2, -1); /* HERE: poll */
}

static NOINLINE void in_accept(void)
{
	done += (unsigned long)accept(listening, NULL, NULL); /* HERE: accept */
}

static NOINLINE void in_spin(void)
{
	for (;;) /* HERE: spin */
		done++; /* HERE: spin */
}

static NOINLINE unsigned long in_deep(unsigned long n)
{
	volatile char room[200];

	room[n % sizeof(room)] = (char)n;
	if (n)
		return in_deep(n - 1) + (unsigned long)room[n % sizeof(room)];
	pause(); /* HERE: deep */
	return (unsigned long)room[0];
}

static NOINLINE void in_small(void)
{
	done += (unsigned long)pause();
}

/* The frame is larger than the part of a stack that is copied at once. */
static NOINLINE void in_large(void)
{
	volatile char room[LARGE];

	room[0] = room[LARGE - 1] = 1;
	in_small(); /* HERE: large */
	done += (unsigned long)(room[0] + room[LARGE - 1]);
}

/*
 * The stack pointer is aligned, and moved by an amount that is only known at run time. So the frame
 * is relative to another register.
 */
static NOINLINE void in_aligned(size_t n)
{
	volatile char room[64] __attribute__((aligned(256)));
	volatile char more[n];

	room[0] = more[n - 1] = 1;
	in_small(); /* HERE: aligned */
	done += (unsigned long)(room[0] + more[n - 1]);
}

static NOINLINE void handler(int number)
{
	(void)number;
	in_small(); /* HERE: handler */
	done++;
}

static NOINLINE void in_interrupted(void)
{
	signal(SIGUSR2, handler);
	done += (unsigned long)raise(SIGUSR2); /* HERE: interrupted */
}

INLINED void innermost(void)
{
	char byte;

	done += (unsigned long)read(empty[0], &byte, 1); /* HERE: innermost */
}

static NOINLINE void in_inlined(void)
{
	innermost(); /* HERE: inlined */
	done++;
}

static void deep(void)
{
	done += in_deep(DEEP);
}

static void aligned(void)
{
	in_aligned(1000);
	done++;
}

static const struct place {
	const char *name;
	void (*go)(void);
} places[] = {
	{ "read", in_read },
	{ "epoll", in_epoll },
	{ "semtimedop", in_semtimedop },
	{ "nanosleep", in_nanosleep },
	{ "futex", in_futex },
	{ "wait4", in_wait4 },
	{ "poll", in_poll },
	{ "accept", in_accept },
	{ "spin", in_spin },
	{ "deep", deep },
	{ "large", in_large },
	{ "aligned", aligned },
	{ "interrupted", in_interrupted },
	{ "inlined", in_inlined },
};

static void *run(void *arg)
{
	const struct place *place = arg;

	/* This name misleads a careless reader of /proc. */
	prctl(PR_SET_NAME, ") R 1 (\n)");
	printf("# %s %d\n", place->name, thread_id());
	fflush(stdout);
	place->go();
	return arg;
}

int main(int argc, char **argv)
{
	size_t times = argc > 1 ? (size_t)atoi(argv[1]) : 1, i, j;
	pthread_t thread;
	char byte;

	sem = semget(IPC_PRIVATE, 1, 0600);
	listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* Bind to a name that the kernel chooses. */
	struct sockaddr any = { .sa_family = AF_UNIX };
	if (sem < 0 || pipe(empty) || listening < 0 ||
	    bind(listening, &any, sizeof(any.sa_family)) || listen(listening, 1))
		die("%s", strerror(errno));
	printf("# sem %d\n", sem);
	fflush(stdout);
	for (j = 0; j < times; j++)
		for (i = 0; i < ARRAY_SIZE(places); i++)
			must(pthread_create(&thread, NULL, run, (void *)&places[i]),
			     "pthread_create");
	while (read(0, &byte, 1) > 0)
		;
	printf("# eintr %lu\n", __atomic_load_n(&interrupted_calls, __ATOMIC_RELAXED));
	fflush(stdout);
	semctl(sem, 0, IPC_RMID);
	_exit(0);
}
