/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find what a thread at a futex waits for, and the holder. The thread's C library function and the
 * memory of the lock show both. The memory is used only if its contents are plausible for such a
 * lock.
 */
#ifndef HANG_LOCKS_H
#define HANG_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "hang/hang.h"
#include "hang/thread_snapshot.h"
#include "sites/address_space.h"

struct lock_wait {
	enum hang_on on; /* HANG_ON_UNKNOWN: the thread is at no futex */
	uint64_t object; /* address of the lock, or of the futex word; 0: unknown */
	uint32_t holder; /* tid of the holder, or of the joined thread; 0: unknown */
	bool timed; /* the wait has a timeout */
	char words[256]; /* "the mutex `m`"; "": unknown; may be unprintable */
};

struct locks;

/* @spaces must outlive *out: its symbols name locks. Return 0 or -ENOMEM. */
int locks_new(struct address_spaces *spaces, struct locks **out);
void locks_free(struct locks *locks);
/* Forget the tids in pid namespaces, so that they are read again. */
void locks_forget(struct locks *locks);
/*
 * Find what @thread waits for. @stack: the same thread with its frames, perhaps from an earlier
 * look. @space: the address space that names the lock; NULL: no name. Reading the target's memory
 * takes microseconds. The first name from a file takes longer.
 */
void locks_read(struct locks *locks, const struct address_space *space,
		const struct snapshot_thread *thread, const struct snapshot_thread *stack,
		struct lock_wait *out);

#endif /* HANG_LOCKS_H */
