// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* extra_work() of extra.c, in a shared library. */
double extra_work(long n);

double extra_work(long n)
{
	double x = 1;
	long i;

	for (i = 0; i < n; i++)
		x = x / 1.0000001 + 0.3;
	return x;
}
