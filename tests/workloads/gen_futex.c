// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Known answers for barriers written by hand with the futex system call. Futexes are private to the
// process, unless --shared or --processes is given. With --timeout every wait ends after that time
// (ETIMEDOUT), and is repeated. Waits that begin too late end with EAGAIN. --kind:
//   wait      FUTEX_WAIT and FUTEX_WAKE on a sense that is reversed in every episode
//   bitset    FUTEX_WAIT_BITSET and FUTEX_WAKE_BITSET
//   waitv     futex_waitv, with one word (Linux 5.16)
//   waitv2    futex_waitv, with two words: the second is never woken
//   requeue   one thread is woken, and the others are requeued to a second word. Each thread that
//             leaves wakes the next there.
//   spin      2000 iterations of a loop before the wait
#include "gen_core.h"

#include <limits.h>
#include <linux/futex.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

enum kind { WAIT, BITSET, WAITV, WAITV2, REQUEUE, SPIN };

static const char *const kinds[] = { "wait", "bitset", "waitv", "waitv2", "requeue", "spin", NULL };

/* Same layout as struct futex_waitv, which older headers lack. */
struct waiter {
	uint64_t value;
	uint64_t address;
	uint32_t flags;
	uint32_t reserved;
};

struct bar {
	uint32_t sense; /* the futex word that threads wait on */
	uint32_t remaining;
	uint32_t count;
	uint32_t second; /* second futex word of the kinds waitv2 and requeue */
	char line[48];
};

static struct bar bars[GEN_MAX_OBJECTS];

static long futex(uint32_t *word, int op, uint32_t value, const struct timespec *timeout,
		  uint32_t *second, uint32_t bits)
{
	return syscall(SYS_futex, word, gen.shared ? op : op | FUTEX_PRIVATE_FLAG, value, timeout,
		       second, bits);
}

/* Return the timeout: relative for FUTEX_WAIT, absolute for the other operations. */
static const struct timespec *timeout(struct timespec *ts, int absolute)
{
	uint64_t ns = gen.timeout_ns + (absolute ? now_ns() : 0);

	ts->tv_sec = (time_t)(ns / NSEC_PER_SEC);
	ts->tv_nsec = (long)(ns % NSEC_PER_SEC);
	return gen.timeout_ns ? ts : NULL;
}

static void wait_v(struct bar *b, uint32_t old, uint32_t words)
{
	uint32_t flags = 2 /* 32 bits */ | (gen.shared ? 0 : FUTEX_PRIVATE_FLAG);
	struct waiter w[2] = {
		{ .value = old, .address = (uintptr_t)&b->sense, .flags = flags },
		{ .address = (uintptr_t)&b->second, .flags = flags },
	};
	struct timespec ts;

	if (syscall(SYS_futex_waitv, w, words, 0, timeout(&ts, 1), CLOCK_MONOTONIC) < 0 &&
	    errno == ENOSYS)
		die("gen_futex: the kernel has no futex_waitv");
}

static void wait_for(struct bar *b, uint32_t old)
{
	struct timespec ts;

	switch ((enum kind)gen.kind) {
	case SPIN:
	case WAIT:
	case REQUEUE:
		futex(&b->sense, FUTEX_WAIT, old, timeout(&ts, 0), NULL, 0);
		break;
	case BITSET:
		futex(&b->sense, FUTEX_WAIT_BITSET, old, timeout(&ts, 1), NULL, 0x5a);
		break;
	case WAITV:
		wait_v(b, old, 1);
		break;
	case WAITV2:
		wait_v(b, old, 2);
		break;
	}
}

static void wake_all(struct bar *b, uint32_t now)
{
	switch ((enum kind)gen.kind) {
	case BITSET:
		futex(&b->sense, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, 0x0a);
		break;
	case REQUEUE:
		/*
		 * The fourth argument is the number of waiters to requeue. The last argument is the
		 * expected value of the word.
		 */
		futex(&b->sense, FUTEX_CMP_REQUEUE, 1, (const struct timespec *)INT_MAX, &b->second,
		      now);
		break;
	default:
		futex(&b->sense, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
		break;
	}
}

ONE_COPY static int meet(struct bar *b)
{
	uint32_t old = __atomic_load_n(&b->sense, __ATOMIC_ACQUIRE);

	if (__atomic_sub_fetch(&b->remaining, 1, __ATOMIC_ACQ_REL) == 0) {
		__atomic_store_n(&b->remaining, b->count, __ATOMIC_RELAXED);
		__atomic_store_n(&b->sense, !old, __ATOMIC_RELEASE);
		wake_all(b, !old);
		return 1;
	}
	for (int i = 0; gen.kind == SPIN && i < 2000; i++) {
		if (__atomic_load_n(&b->sense, __ATOMIC_ACQUIRE) != old)
			return 0;
	}
	while (__atomic_load_n(&b->sense, __ATOMIC_ACQUIRE) == old)
		wait_for(b, old);
	if (gen.kind == REQUEUE)
		futex(&b->second, FUTEX_WAKE, 1, NULL, NULL, 0);
	return 0;
}

/* Each site has its own line. */
#define SITE(n) GEN_SITE(n, meet((struct bar *)object))
SITE(0)
SITE(1)
SITE(2)
SITE(3)

static gen_site *const sites[] = { site_0, site_1, site_2, site_3 };

static void make(void *object, uint32_t count)
{
	struct bar *b = (struct bar *)object;

	b->remaining = b->count = count;
}

int main(int argc, char **argv)
{
	static const struct gen_family family = {
		.name = "gen_futex",
		.flavour = "the futex system call",
		.kinds = kinds,
		.can = GEN_CAN_SHARE | GEN_CAN_TEAM,
		.sites = ARRAY_SIZE(sites),
		.site = sites,
		.object_size = sizeof(struct bar),
		.storage = bars,
		.make = make,
	};

	return gen_main(argc, argv, &family);
}
