// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "capture/written.h"

#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

static uint64_t key_of(const struct module *m)
{
	return hash_mix((uint64_t)(uintptr_t)m);
}

void written_init(struct written *w)
{
	*w = (struct written){ .fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC) };
}

void written_free(struct written *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	hash_free(&w->files);
	hash_free(&w->watches);
}

void written_watch(struct written *w, struct module *m)
{
	uint64_t before;
	char path[32];
	int fd = module_fd(m), watch;

	if (w->fd < 0 || fd < 0 || hash_get(&w->watches, key_of(m), &before))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	watch = inotify_add_watch(w->fd, path, IN_MODIFY | IN_ONESHOT);
	if (watch < 0)
		return;
	if (hash_put_ptr(&w->files, (uint64_t)watch, m) ||
	    hash_put(&w->watches, key_of(m), (uint64_t)watch))
		inotify_rm_watch(w->fd, watch);
}

void written_forget(struct written *w, const struct module *m)
{
	uint64_t watch;

	if (!hash_get(&w->watches, key_of(m), &watch))
		return;
	inotify_rm_watch(w->fd, (int)watch);
	hash_del(&w->files, watch);
	hash_del(&w->watches, key_of(m));
}

struct module *written_next(struct written *w)
{
	/*
	 * Room for one event is enough, because events of a watched file (not a directory) carry no
	 * name.
	 */
	struct inotify_event e;
	struct module *m;

	while (w->fd >= 0 && read(w->fd, &e, sizeof(e)) == (ssize_t)sizeof(e)) {
		m = hash_get_ptr(&w->files, (uint64_t)e.wd);
		if (!m)
			continue;
		hash_del(&w->files, (uint64_t)e.wd);
		hash_del(&w->watches, key_of(m));
		if (e.mask & IN_MODIFY)
			return m;
	}
	return NULL;
}
