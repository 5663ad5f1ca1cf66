/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * What a thread that waits at a futex waits for, and who has it: told by the function of the C
 * library that it is in, and by what the memory there says. Nothing is believed that the process's
 * threads do not bear out.
 */
#ifndef HANG_LOCKS_H
#define HANG_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "hang/hang.h"
#include "hang/thread_snapshot.h"
#include "sites/address_space.h"

struct lock_seen {
	enum hang_on on; /* HANG_ON_UNKNOWN: it is at no futex */
	uint64_t object; /* address of the lock, or what is known of it; 0 unknown */
	uint32_t holder; /* tid of the holder, or of the thread that is to end; 0 unknown */
	bool timed; /* it waits for some time only */
	char words[256]; /* "the mutex `m`"; "" unknown. Not made printable */
};

struct locks;

/* @spaces must outlive it: its symbols name locks. Returns 0 or -ENOMEM. */
int locks_new(struct address_spaces *spaces, struct locks **out);
void locks_free(struct locks *locks);
/* The numbers of a process's threads are looked up anew. */
void locks_forget(struct locks *locks);
/*
 * What @thread waits for. @stack has its frames, which may be of an earlier look; @space: its
 * process's, to name the lock, NULL: it is not named. Reads the target's memory: microseconds, but
 * for the first name of a file.
 */
void locks_see(struct locks *locks, const struct address_space *space,
	       const struct snapshot_thread *thread, const struct snapshot_thread *stack,
	       struct lock_seen *out);

#endif /* HANG_LOCKS_H */
