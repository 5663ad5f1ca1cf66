// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
//
// Molecular dynamics modelled on SPLASH-2's water-n^2: SIZE molecules in a box, STEPS time steps,
// forces between all pairs. Each force is computed once, into the thread's own copy, and then added
// to the common ones under a lock for each molecule. Episodes: 1 at the start, and in each time
// step 3: after predicting the positions, after the forces, after the energies; and 1 more in each
// third step, for the potential energy. Sums are integers, so that the order of the threads does
// not affect them.
#include "splash.h"

#include <math.h>

#define MAX_MOLECULES 4096
#define BOX	      16.0
#define STEP	      0.002
#define UNIT	      1e9 /* forces and energies are integers, in units of 1 / UNIT */

struct molecule {
	double place[3], speed[3];
	int64_t force[3];
	pthread_mutex_t lock;
};

static struct molecule molecule[MAX_MOLECULES];
static pthread_mutex_t sum_lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t kinetic, potential;

static void place(uint32_t id)
{
	uint32_t side = (uint32_t)ceil(cbrt(splash.size));

	for (uint32_t i = share(id, splash.size); i < share(id + 1, splash.size); i++) {
		struct molecule *m = &molecule[i];
		uint32_t cell[3] = { i % side, i / side % side, i / side / side };

		must(pthread_mutex_init(&m->lock, NULL), "pthread_mutex_init");
		for (uint32_t k = 0; k < 3; k++) {
			m->place[k] = BOX * cell[k] / side;
			m->speed[k] = (double)(mix64(3 * i + k) % 2001) / 1000 - 1;
		}
	}
}

/*
 * Compute the distance to the nearest image of the other molecule, in a box that repeats. Return
 * its square.
 */
static double apart(const struct molecule *a, const struct molecule *b, double *d)
{
	double r2 = 0;

	for (uint32_t k = 0; k < 3; k++) {
		d[k] = a->place[k] - b->place[k];
		d[k] -= BOX * nearbyint(d[k] / BOX);
		r2 += d[k] * d[k];
	}
	return r2;
}

/* Return the strength of a soft repulsion, which is bounded at any distance. */
static double strength(double r2)
{
	return 4 / (1 + r2 * r2);
}

static void predict(uint32_t id)
{
	for (uint32_t i = share(id, splash.size); i < share(id + 1, splash.size); i++) {
		for (uint32_t k = 0; k < 3; k++)
			molecule[i].place[k] += molecule[i].speed[k] * STEP;
		memset(molecule[i].force, 0, sizeof(molecule[i].force));
	}
}

static void add_forces(int64_t (*own)[3])
{
	for (uint32_t i = 0; i < splash.size; i++) {
		pthread_mutex_lock(&molecule[i].lock);
		for (uint32_t k = 0; k < 3; k++)
			molecule[i].force[k] += own[i][k];
		pthread_mutex_unlock(&molecule[i].lock);
	}
}

/*
 * Combine each molecule with the half of the others that follows it, so that all have the same
 * work.
 */
static void forces(uint32_t id, int64_t (*own)[3])
{
	uint32_t n = splash.size;

	memset(own, 0, n * sizeof(*own));
	for (uint32_t i = share(id, n); i < share(id + 1, n); i++) {
		for (uint32_t s = 1; s <= n / 2; s++) {
			uint32_t j = (i + s) % n;
			double d[3], f;

			if (2 * s == n && i > j)
				continue;
			f = strength(apart(&molecule[i], &molecule[j], d));
			for (uint32_t k = 0; k < 3; k++) {
				int64_t part = llrint(f * d[k] * UNIT);

				own[i][k] += part;
				own[j][k] -= part;
			}
		}
	}
	add_forces(own);
}

static void correct(uint32_t id)
{
	int64_t own = 0;

	for (uint32_t i = share(id, splash.size); i < share(id + 1, splash.size); i++) {
		struct molecule *m = &molecule[i];

		for (uint32_t k = 0; k < 3; k++) {
			m->speed[k] += (double)m->force[k] / UNIT * STEP;
			own += llrint(m->speed[k] * m->speed[k] * UNIT / 2);
		}
	}
	pthread_mutex_lock(&sum_lock);
	kinetic += own;
	pthread_mutex_unlock(&sum_lock);
}

static void potential_energy(uint32_t id)
{
	int64_t own = 0;
	double d[3];

	for (uint32_t i = share(id, splash.size); i < share(id + 1, splash.size); i++)
		for (uint32_t j = i + 1; j < splash.size; j++)
			own += llrint(strength(apart(&molecule[i], &molecule[j], d)) * UNIT);
	pthread_mutex_lock(&sum_lock);
	potential += own;
	pthread_mutex_unlock(&sum_lock);
}

ONE_COPY static void steps(uint32_t id, int64_t (*own)[3])
{
	for (uint32_t step = 1; step <= splash.steps; step++) {
		predict(id);
		BARRIER(id);
		forces(id, own);
		BARRIER(id);
		correct(id);
		BARRIER(id);
		if (step % 3 == 0) {
			potential_energy(id);
			BARRIER(id);
		}
	}
}

ONE_COPY static void *slave(void *arg)
{
	uint32_t id = (uint32_t)(uintptr_t)arg;
	int64_t(*own)[3] = must_alloc(splash.size, sizeof(*own));

	place(id);
	BARRIER(id);
	steps(id, own);
	free(own);
	return NULL;
}

/* Return whether the sum of all forces is zero, as every force has its opposite. */
static int balanced(void)
{
	int64_t sum[3] = { 0, 0, 0 };

	for (uint32_t i = 0; i < splash.size; i++)
		for (uint32_t k = 0; k < 3; k++)
			sum[k] += molecule[i].force[k];
	return !sum[0] && !sum[1] && !sum[2];
}

int main(int argc, char **argv)
{
	uint64_t sum = 0;

	splash_arguments(argc, argv, 216, 30);
	if (splash.size < 2 || splash.size > MAX_MOLECULES)
		die("water: SIZE is from 2 to %u", MAX_MOLECULES);
	splash_run(slave);
	for (uint32_t i = 0; i < splash.size; i++)
		sum = mix64(sum ^ checksum(molecule[i].place, 6 * sizeof(double)));
	sum ^= mix64((uint64_t)kinetic) ^ mix64((uint64_t)potential + 1);
	return splash_report("water", sum, balanced());
}
