// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * One ring per CPU. Whenever a ring is stored in its map, the kernel waits for a grace period of 10
 * ms or more. So a separate thread stores the rings while the programs are verified.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "attach/internal.h"

static size_t ring_size(size_t bytes)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	while (size < bytes)
		size *= 2;
	return size;
}

static int create(struct attach *a)
{
	LIBBPF_OPTS(bpf_map_create_opts, outer);
	uint32_t i;
	int fd, err;

	a->rings = malloc(a->nrings * sizeof(*a->rings));
	if (!a->rings)
		return -ENOMEM;
	for (i = 0; i < a->nrings; i++)
		a->rings[i] = -1;
	for (i = 0; i < a->nrings; i++) {
		a->rings[i] = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "sbt_ring", 0, 0,
					     (uint32_t)a->ring_bytes, NULL);
		if (a->rings[i] < 0)
			return -errno;
	}
	outer.inner_map_fd = (uint32_t)a->rings[0];
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "rings", sizeof(uint32_t), sizeof(uint32_t),
			    a->nrings, &outer);
	if (fd < 0)
		return -errno;
	err = bpf_map__reuse_fd(a->skel->maps.rings, fd);
	close(fd);
	return err;
}

static void *fill(void *ctx)
{
	struct attach *a = ctx;
	int fd = bpf_map__fd(a->skel->maps.rings), err = 0;
	uint32_t i;

	for (i = 0; i < a->nrings && !err; i++)
		err = bpf_map_update_elem(fd, &i, &a->rings[i], BPF_ANY) ? -errno : 0;
	a->rings_error = err;
	return NULL;
}

int rings_begin(struct attach *a)
{
	sigset_t all, old;
	int err = create(a);

	if (err)
		return err;
	/*
	 * Block signals in the new thread, because they must reach the main thread and wake it when
	 * it waits.
	 */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = -pthread_create(&a->rings_thread, NULL, fill, a);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	a->rings_filling = !err;
	return err;
}

int rings_end(struct attach *a)
{
	if (!a->rings_filling)
		return 0;
	a->rings_filling = false;
	pthread_join(a->rings_thread, NULL);
	return a->rings_error;
}

void rings_close(struct attach *a)
{
	uint32_t i;

	rings_end(a);
	for (i = 0; a->rings && i < a->nrings; i++) {
		if (a->rings[i] >= 0)
			close(a->rings[i]);
	}
	free(a->rings);
	a->rings = NULL;
}

void rings_size(struct attach *a, size_t bytes)
{
	int cpus = libbpf_num_possible_cpus();

	a->nrings = cpus > 0 ? (uint32_t)cpus : 1;
	a->ring_bytes = ring_size(bytes);
}

uint32_t attach_nrings(const struct attach *a)
{
	return a->nrings;
}

int attach_ring_fd(const struct attach *a, uint32_t index)
{
	return a->rings[index];
}

size_t attach_ring_bytes(const struct attach *a)
{
	return a->ring_bytes;
}

int attach_events_fd(const struct attach *a)
{
	return bpf_map__fd(a->skel->maps.events);
}

size_t attach_events_bytes(const struct attach *a)
{
	(void)a;
	return EVENTS_BYTES;
}
