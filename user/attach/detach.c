// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Closing a link waits until no CPU runs the link's program any more. That takes about 50 ms, and
 * there are about a dozen links. Closing several links at the same time overlaps these waits.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "attach/internal.h"
#include "attach/link.h"

#define HANDS 16

struct closing {
	const struct attach_link *own;
	struct bpf_link *const *links;
	uint32_t nown, nlinks;
	uint32_t taken;
};

static void *close_some(void *ctx)
{
	struct closing *c = ctx;
	uint32_t n = c->nown + c->nlinks, i;

	/* Close in reverse order of attachment. */
	while ((i = __atomic_fetch_add(&c->taken, 1, __ATOMIC_RELAXED)) < n) {
		i = n - 1 - i;
		if (i < c->nown)
			link_close(c->own[i].fd);
		else
			bpf_link__destroy(c->links[i - c->nown]);
	}
	return NULL;
}

static void close_all(struct closing *c)
{
	uint32_t n = c->nown + c->nlinks, hands = 0, i;
	pthread_t threads[HANDS];
	sigset_t all, old;

	/* Block signals in the new threads, because signals must reach the main thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (hands < HANDS && hands + 1 < n &&
	       !pthread_create(&threads[hands], NULL, close_some, c))
		hands++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	close_some(c);
	for (i = 0; i < hands; i++)
		pthread_join(threads[i], NULL);
}

void links_close(const struct attach_link *links, uint32_t n)
{
	struct closing c = { .own = links, .nown = n };

	close_all(&c);
}

void attach_remove_probes(struct attach *a)
{
	links_close(a->links, a->nlinks);
	a->nlinks = 0;
	detached_wait(a);
}

void detach_kernel(struct attach *a)
{
	struct closing faults = { .links = a->fault_links, .nlinks = a->nfault_links };
	struct closing samples = { .links = a->sample_links, .nlinks = a->nsample_links };
	struct closing others = { .links = a->kernel_links, .nlinks = a->nkernel_links };

	close_all(&faults);
	free(a->fault_links);
	a->fault_links = NULL;
	a->nfault_links = 0;
	close_all(&samples);
	free(a->sample_links);
	a->sample_links = NULL;
	a->nsample_links = 0;
	close_all(&others);
	free(a->kernel_links);
	a->kernel_links = NULL;
	a->nkernel_links = a->kernel_links_cap = 0;
}
