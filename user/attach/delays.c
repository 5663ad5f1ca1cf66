// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Measure how long threads take to leave a barrier after the last event that the BPF programs see.
 * Two of sbt-trace's own threads do what the threads at a barrier do: one sleeps at a futex, and
 * the other wakes it.
 */
#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "attach/calibrate.h"
#include "attach/internal.h"
#include "base/clock.h"
#include "base/number.h"

#define ROUNDS	   15
#define SETTLE_NS  60000 /* after this time, the other thread is asleep */
#define LONGEST_NS 200000000ULL /* no round begins later than this after the first one */

/* The two threads. */
struct both {
	/* the barrier object: its first word is the futex word */
	_Alignas(64) uint32_t word[16];
	uint32_t tid; /* of the sleeper; 0: it has not started */
	uint32_t slept; /* number of rounds that the sleeper has finished */
	uint32_t rounds; /* number of rounds until the threads end; 0: not decided */
	uint64_t left_ns[ROUNDS]; /* when the sleeper had left its system call */
	int cpu; /* of the sleeper */
};

static long futex(uint32_t *word, int op, uint32_t value)
{
	return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned)cpu, &set);
	/* If this fails, the threads share a CPU or not, by chance. */
	(void)sched_setaffinity(0, sizeof(set), &set);
}

static void *sleeper(void *arg)
{
	struct both *b = arg;
	uint32_t round;

	pin(b->cpu);
	__atomic_store_n(&b->tid, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	for (round = 0; round < ROUNDS; round++) {
		calibrate_call_at(false, b->word);
		while (__atomic_load_n(&b->word[0], __ATOMIC_ACQUIRE) == round)
			futex(b->word, FUTEX_WAIT, round);
		b->left_ns[round] = now_ns();
		__atomic_store_n(&b->slept, round + 1, __ATOMIC_RELEASE);
		if (__atomic_load_n(&b->rounds, __ATOMIC_ACQUIRE) == round + 1)
			break;
		/* Let the waker read what the programs noted, before the next arrival. */
		while (__atomic_load_n(&b->word[1], __ATOMIC_ACQUIRE) == round)
			sched_yield();
	}
	return NULL;
}

static void settle(void)
{
	const struct timespec pause = { .tv_nsec = SETTLE_NS };

	nanosleep(&pause, NULL);
}

struct samples {
	uint64_t ns[ROUNDS];
	uint32_t n;
};

static void samples_add(struct samples *s, uint64_t from, uint64_t to)
{
	if (from && to > from)
		s->ns[s->n++] = to - from;
}

/*
 * Return the lower quartile. The median is too long on a busy machine. Nearly the shortest time is
 * too short: to wake an idle CPU takes 2 to 20 us in a virtual machine.
 */
static uint64_t samples_result(struct samples *s)
{
	if (!s->n)
		return 0;
	qsort(s->ns, s->n, sizeof(s->ns[0]), number_compare_u64);
	return s->ns[s->n / 4];
}

/* Wake the sleeper, and read what the programs noted of both threads. */
static void wake_once(const struct attach *a, struct both *b, uint32_t round, struct samples *run,
		      struct samples *wake)
{
	uint32_t self = (uint32_t)syscall(SYS_gettid), seq;
	const struct sbt_thread *t;
	struct sbt_arrival_full seen;
	uint64_t left_ns, out_ns;

	settle();
	calibrate_call_at(false, b->word);
	__atomic_store_n(&b->word[0], round + 1, __ATOMIC_RELEASE);
	futex(b->word, FUTEX_WAKE, 1);
	left_ns = now_ns();
	while (__atomic_load_n(&b->slept, __ATOMIC_ACQUIRE) <= round)
		sched_yield();
	t = find_thread(a, self);
	seq = t ? t->seq : 0;
	/* If the sleeper took this thread's CPU, the time of the wake-up is not known. */
	if (attach_offs(a, self, seq, &seen, &out_ns) && seen.woke_ns &&
	    (!seen.noffs || seen.off[0].out_ns > left_ns))
		samples_add(wake, seen.woke_ns, left_ns);
	t = find_thread(a, b->tid);
	seq = t ? t->seq : 0;
	if (attach_offs(a, b->tid, seq, &seen, &out_ns) && seen.noffs == 1)
		samples_add(run, seen.off[0].in_ns, b->left_ns[round]);
	__atomic_store_n(&b->word[1], round + 1, __ATOMIC_RELEASE);
}

static int measure(struct attach *a, int own_cpu, int cpu, struct samples *run,
		   struct samples *wake)
{
	struct both b = { .cpu = cpu };
	uint64_t begin_ns = now_ns();
	pthread_t thread;
	uint32_t round;
	int err = pthread_create(&thread, NULL, sleeper, &b);

	if (err)
		return -err;
	pin(own_cpu);
	while (!__atomic_load_n(&b.tid, __ATOMIC_ACQUIRE))
		sched_yield();
	run->n = wake->n = 0;
	for (round = 0; !b.rounds; round++) {
		if (round + 1 == ROUNDS || now_ns() > begin_ns + LONGEST_NS)
			__atomic_store_n(&b.rounds, round + 1, __ATOMIC_RELEASE);
		wake_once(a, &b, round, run, wake);
	}
	pthread_join(thread, NULL);
	forget_thread(a, b.tid);
	return 0;
}

/* Find two CPUs on which sbt-trace may run. Return how many there are: 1 or 2. */
static int two_cpus(const cpu_set_t *allowed, int cpu[2])
{
	int i, n = 0;

	for (i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, allowed))
			cpu[n++] = i;
	if (n == 1)
		cpu[1] = cpu[0];
	return n;
}

static int measure_both(struct attach *a, struct attach_delays *out)
{
	struct samples run = { .n = 0 }, wake = { .n = 0 };
	cpu_set_t allowed;
	int cpu[2], n, err;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return -errno;
	n = two_cpus(&allowed, cpu);
	if (!n)
		return -ENODEV;
	err = measure(a, cpu[0], cpu[0], &run, &wake);
	if (err)
		return err;
	out->run_ns = samples_result(&run);
	out->wake_ns = out->wake_idle_ns = samples_result(&wake);
	if (n > 1) {
		err = measure(a, cpu[0], cpu[1], &run, &wake);
		if (wake.n)
			out->wake_idle_ns = samples_result(&wake);
		if (!out->wake_ns)
			out->wake_ns = out->wake_idle_ns;
		if (run.n)
			out->run_ns = samples_result(&run);
	}
	(void)sched_setaffinity(0, sizeof(allowed), &allowed);
	return err ? err : out->run_ns ? 0 : -ENODATA;
}

int attach_measure_delays(struct attach *a, void (*drain)(void *ctx), void *ctx,
			  struct attach_delays *out)
{
	uint32_t self = (uint32_t)getpid(), armed = a->skel->bss->armed, before = a->nlinks;
	int procs = bpf_map__fd(a->skel->maps.procs), err;
	struct attach_price arrival = { .ns = NAN, .handler_ns = NAN };
	struct attach_probe_site site;
	uint64_t exits[1];

	*out = (struct attach_delays){ .arrival = arrival };
	err = calibrate_probe_site(false, &site, exits);
	if (err)
		return err;
	site.spec.role = SBT_ROLE_ARRIVAL;
	err = attach_probe_site(a, &site, (int)self, false);
	close(site.fd);
	if (!err)
		err = attach_add_process(a, self, 1, SBT_PROC_SEEN);
	if (!err) {
		__atomic_store_n(&a->skel->bss->armed, ARMED_SELF, __ATOMIC_SEQ_CST);
		arrival = price_calls(a, false, drain, ctx);
		err = measure_both(a, out);
		__atomic_store_n(&a->skel->bss->armed, armed, __ATOMIC_SEQ_CST);
		bpf_map_delete_elem(procs, &self);
		forget_thread(a, self);
	}
	while (a->nlinks > before)
		links_close(&a->links[--a->nlinks], 1);
	drain(ctx);
	if (err)
		*out = (struct attach_delays){ 0 };
	out->arrival = arrival;
	return err;
}
