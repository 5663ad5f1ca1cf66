// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// A program under a seccomp filter that kills the process at a system call from 335 to 423, as a
// filter from the time when these numbers were not used. A return probe of the kernel makes the
// program call 335 (uretprobe). filtered NUMBER: make this call first.
//
// Known answer: 100 episodes of 3 threads, exit status 0. On other machines than x86-64 there is no
// filter.
#include "common.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#define THREADS 3
#define ROUNDS	100

#define KNOWN_LAST    334 /* rseq */
#define KNOWN_AGAIN   424 /* pidfd_send_signal, the first number that all machines share */
#define LOAD_NUMBER() BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))

static pthread_barrier_t barrier;

static void filter(void)
{
#if defined(__x86_64__)
	struct sock_filter code[] = {
		LOAD_NUMBER(),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, KNOWN_LAST, 0, 2),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, KNOWN_AGAIN, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = ARRAY_SIZE(code), .filter = code };

	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS");
	must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), "PR_SET_SECCOMP");
#endif
}

static void *member(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		serial(pthread_barrier_wait(&barrier));
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS - 1];

	stopgap(STOPGAP_SECONDS);
	filter();
	if (argc > 1)
		syscall(atol(argv[1]));
	must(pthread_barrier_init(&barrier, NULL, THREADS), "pthread_barrier_init");
	for (int i = 0; i < THREADS - 1; i++)
		must(pthread_create(&thread[i], NULL, member, NULL), "pthread_create");
	member(NULL);
	for (int i = 0; i < THREADS - 1; i++)
		must(pthread_join(thread[i], NULL), "pthread_join");
	printf("filtered: rounds=%d ok\n", ROUNDS);
	return 0;
}
