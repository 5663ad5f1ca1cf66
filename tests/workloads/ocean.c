// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Currents in an ocean basin, modelled on SPLASH-2's ocean: a SIZE x SIZE grid and STEPS time
// steps. Each time step computes a right-hand side from the stream function. Then red-black
// relaxation runs until the largest change, which a lock protects, is small. Episodes in a time
// step: 1 after the right-hand side, then 4 for each sweep (red, black, the change known, the
// change read); 1 at the start. The number of sweeps depends on SIZE and STEPS alone.
#include "splash.h"

#include <math.h>

#define TOLERANCE  1e-2
#define MAX_SWEEPS 100
#define OMEGA	   1.9

static double *psi, *rhs;
static pthread_mutex_t error_lock = PTHREAD_MUTEX_INITIALIZER;
static double error;
static uint64_t sweeps;

static double *at(double *grid, uint32_t i, uint32_t j)
{
	return grid + (size_t)i * splash.size + j;
}

static double neighbours(double *g, uint32_t i, uint32_t j)
{
	return *at(g, i - 1, j) + *at(g, i + 1, j) + *at(g, i, j - 1) + *at(g, i, j + 1);
}

/* Return the first interior row of a thread's share. */
static uint32_t first_row(uint32_t id)
{
	return 1 + share(id, splash.size - 2);
}

/* Compute the right-hand side from the wind and the previous flow. */
static void right_hand_side(uint32_t id, uint32_t step)
{
	for (uint32_t i = first_row(id); i < first_row(id + 1); i++)
		for (uint32_t j = 1; j + 1 < splash.size; j++)
			*at(rhs, i, j) = sin(3.0 * i / splash.size + step) * 0.01 +
					 (neighbours(psi, i, j) - 4 * *at(psi, i, j)) * 0.1;
}

static double relax(uint32_t id, uint32_t colour)
{
	double most = 0;

	for (uint32_t i = first_row(id); i < first_row(id + 1); i++) {
		for (uint32_t j = 1 + (i + colour) % 2; j + 1 < splash.size; j += 2) {
			double change =
				(neighbours(psi, i, j) - *at(rhs, i, j)) / 4 - *at(psi, i, j);

			*at(psi, i, j) += OMEGA * change;
			most = fmax(most, fabs(change));
		}
	}
	return most;
}

static void raise_error(double most)
{
	pthread_mutex_lock(&error_lock);
	error = fmax(error, most);
	pthread_mutex_unlock(&error_lock);
}

ONE_COPY static void solve(uint32_t id)
{
	for (uint32_t sweep = 0; sweep < MAX_SWEEPS; sweep++) {
		double most, all;

		most = relax(id, 0);
		BARRIER(id);
		most = fmax(most, relax(id, 1));
		raise_error(most);
		BARRIER(id);
		all = error;
		BARRIER(id);
		if (id == 0) {
			error = 0;
			sweeps++;
		}
		BARRIER(id);
		if (all < TOLERANCE)
			break;
	}
}

ONE_COPY static void *slave(void *arg)
{
	uint32_t id = (uint32_t)(uintptr_t)arg;

	BARRIER(id);
	for (uint32_t step = 0; step < splash.steps; step++) {
		right_hand_side(id, step);
		BARRIER(id);
		solve(id);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	size_t points;
	uint64_t sum;
	int ok = 1;

	splash_arguments(argc, argv, 130, 6);
	if (splash.size < 3)
		die("ocean: SIZE is 3 at least");
	points = (size_t)splash.size * splash.size;
	psi = (double *)must_alloc(points, sizeof(*psi));
	rhs = (double *)must_alloc(points, sizeof(*rhs));
	splash_run(slave);
	for (size_t i = 0; i < points; i++)
		ok &= isfinite(psi[i]) != 0;
	sum = checksum(psi, points * sizeof(*psi));
	free(psi);
	free(rhs);
	printf("ocean-" FLAVOUR_NAME ": sweeps=%llu\n", (unsigned long long)sweeps);
	return splash_report("ocean", sum, ok);
}
