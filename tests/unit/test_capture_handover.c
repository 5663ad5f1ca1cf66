// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Check how long the first rank waits for the others, with a clock that only poll() advances. */
#include "test_check.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/clock.h"

static uint64_t clock_ms;
static int poll_result;

static int fake_poll(const struct pollfd *p, int timeout_ms)
{
	assert_int_equal(p->events, POLLIN);
	clock_ms += (uint64_t)timeout_ms;
	return poll_result;
}

#define now_ns()	 (clock_ms * 1000000)
#define poll(fds, n, ms) fake_poll(fds, ms)
#include "capture/handover.c"

static int collect(int result)
{
	struct job job = { .key = (uint64_t)getpid(), .local_size = 2 };
	struct handover handover;
	int err;

	assert_true(handover_wanted(&job));
	assert_int_equal(handover_listen(&job, &handover), 0);
	poll_result = result;
	errno = EINTR;
	err = handover_collect(&handover);
	assert_int_equal(handover.n, 0);
	handover_close(&handover);
	return err;
}

/* A rank that never connects leads to a time-out, whatever an earlier system call left in errno. */
static void test_no_rank_connects(void **state)
{
	(void)state;
	assert_int_equal(collect(0), -ETIMEDOUT);
	assert_int_equal(collect(-1), -EINTR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_rank_connects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
