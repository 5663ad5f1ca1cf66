// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "attach/uninterruptible.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STACK_BYTES 65536
#define LOOK_S	    1 /* interval (s) between checks whether the process was stopped */

struct call {
	int (*fn)(void *arg);
	void *arg;
	int result;
	char *stack;
	pid_t pid; /* 0: not started, or finished */
};

static int make_call(void *ctx)
{
	struct call *call = ctx;

	/* Escape a SIGKILL that is sent to our process group, or to processes with our name. */
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_NAME, "sbt-apart");
	__atomic_store_n(&call->pid, (pid_t)syscall(SYS_getpid), __ATOMIC_RELEASE);
	call->result = call->fn(call->arg);
	__atomic_store_n(&call->pid, 0, __ATOMIC_RELEASE);
	return 0;
}

/*
 * Make the call in a process that shares our memory. As in vfork(), the calling thread is suspended
 * until that process exits, and receives no signals. So this function runs in a separate thread,
 * and the main thread can still receive signals that ask sbt-trace to end.
 */
static void *call_in_process(void *ctx)
{
	struct call *call = ctx;
	pid_t pid;

	/* The flags contain no exit signal, so no signal is sent to us when the process exits. */
	pid = clone(make_call, call->stack + STACK_BYTES, CLONE_VM | CLONE_FILES | CLONE_VFORK,
		    call);
	if (pid < 0)
		call->result = call->fn(call->arg);
	else
		while (waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR)
			;
	return NULL;
}

/* Wait until the call is finished. Resume the process if it was stopped. */
static void wait_for(pthread_t thread, const struct call *call)
{
	struct timespec until;
	pid_t pid;

	do {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += LOOK_S;
		pid = __atomic_load_n(&call->pid, __ATOMIC_ACQUIRE);
		if (pid > 0)
			kill(pid, SIGCONT);
	} while (pthread_timedjoin_np(thread, NULL, &until) == ETIMEDOUT);
}

int uninterruptible(int (*fn)(void *arg), void *arg)
{
	struct call call = { .fn = fn, .arg = arg, .result = -EINTR };
	pthread_t thread;
	sigset_t all, old;
	int err;

	call.stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (call.stack == MAP_FAILED)
		return fn(arg);
	/* Block signals, because the new process would run its signal handlers in our memory. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&thread, NULL, call_in_process, &call);
	if (err)
		call_in_process(&call);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		wait_for(thread, &call);
	munmap(call.stack, STACK_BYTES);
	return call.result;
}
