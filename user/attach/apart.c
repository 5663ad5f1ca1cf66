// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "attach/apart.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES 65536

struct call {
	int (*fn)(void *arg);
	void *arg;
	int result;
};

static int make_call(void *ctx)
{
	struct call *call = ctx;

	/* Who kills us may kill our group, or all of our name. */
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_NAME, "sbt-apart");
	call->result = call->fn(call->arg);
	return 0;
}

int apart(int (*fn)(void *arg), void *arg)
{
	struct call call = { .fn = fn, .arg = arg, .result = -EINTR };
	sigset_t all, old;
	char *stack;
	pid_t pid;

	stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		return fn(arg);
	/* Its handlers would be ours, in our memory. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	/* The thread that calls stands still meanwhile, as in vfork(), and sends no signal when it ends. */
	pid = clone(make_call, stack + STACK_BYTES, CLONE_VM | CLONE_FILES | CLONE_VFORK, &call);
	if (pid < 0)
		call.result = fn(arg);
	else
		while (waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	munmap(stack, STACK_BYTES);
	return call.result;
}
