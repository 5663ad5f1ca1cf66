/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Measure waits of a thread for its turn or for its team. Like time on a CPU, they are parts of the
 * thread's phase.
 */
#ifndef BPF_TURN_H
#define BPF_TURN_H

#include "account.h"

/* Begin a wait of the running thread. @sp: stack pointer in the function that waits. */
static __always_inline void turn_wait_begin(struct sbt_thread *t, struct sbt_account *a, __u64 sp)
{
	__u64 now = 0;

	account_run(a, account_busy(a, &now));
	t->turn.oncpu_ns = a->times[SBT_TIME_ONCPU];
	t->turn.since_ns = now;
	t->turn.sp = sp;
	account_done(a);
}

/*
 * End the wait, and add its length to *part if it is at least SBT_TURN_NS. Return the length (ns).
 */
static __always_inline __u64 turn_wait_end(struct sbt_thread *t, struct sbt_account *a, __u64 *part)
{
	__u64 now = 0, waited;

	account_run(a, account_busy(a, &now));
	waited = now - t->turn.since_ns;
	if (waited >= SBT_TURN_NS) {
		*part += waited;
		a->turn_oncpu_ns += a->times[SBT_TIME_ONCPU] - t->turn.oncpu_ns;
		a->changed = 1;
	}
	account_done(a);
	return waited;
}

#endif /* BPF_TURN_H */
