# SPDX-License-Identifier: GPL-2.0-only
# Copyright (c) 2026 The sbt-trace authors
"""What a report may state about how well threads share their work, and what it may not."""

import subprocess

from harness import check_equal, write_file

SOURCE = r"""
#include <pthread.h>
#include <unistd.h>
static pthread_barrier_t b;
static void *wait(void *a) { pthread_barrier_wait(&b); return a; }
int main(void)
{
	pthread_t t;
	pthread_barrier_init(&b, 0, 3);
	for (int i = 0; i < 2; i++)
		pthread_create(&t, 0, wait, 0);
	usleep(200000);
	_exit(0);
}
"""


def test_no_complete_episode(t):
    """Without a complete episode nothing is known: no efficiency and no advice is printed."""
    source, binary = t.path("never.c"), t.path("never")
    write_file(source, SOURCE)
    subprocess.run(["gcc", "-O1", "-pthread", "-o", binary, source], check=True)
    process = t.trace([binary]).process()
    check_equal("complete episodes", process["episodes"], 0)
    check_equal("advice", process["advice"] or "", "")
    check_equal("efficiencies", [v for v in process["efficiency"].values() if v is not None], [])
