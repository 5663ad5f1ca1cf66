// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "sites/module.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/text.h"
#include "sites/module_internal.h"
#include "sites/reader.h"

struct modules {
	struct rules known;
	struct reader *reader;
	struct progress *progress;
	bool only_pthread;
	uint32_t round; /* number of calls of modules_close_unused() so far */
	struct hash index; /* file_key() -> struct module */
	struct module **all; /* in the order of their first use */
	size_t n, cap;
};

/* Two files with the same 64-bit key are very unlikely. */
static uint64_t file_key(uint32_t dev, uint64_t ino)
{
	return hash_mix(ino ^ hash_mix((uint64_t)dev + 1));
}

static void module_free(struct module *m)
{
	if (!m)
		return;
	if (m->fd >= 0)
		close(m->fd);
	module_forget_answers(m);
	module_forget_facts(m);
	free(m->path);
	free(m);
}

void modules_free(struct modules *modules)
{
	size_t i;

	if (!modules)
		return;
	hash_free(&modules->index);
	for (i = 0; i < modules->n; i++)
		module_free(modules->all[i]);
	free(modules->all);
	reader_free(modules->reader);
	rules_free(&modules->known);
	free(modules);
}

int modules_new(struct rules *rules, struct symbol_server *symbols, struct modules **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	if (!rules_add_known(&(*out)->known) &&
	    !reader_new(rules, &(*out)->known, symbols, &(*out)->reader))
		return 0;
	modules_free(*out);
	*out = NULL;
	return -ENOMEM;
}

struct module *modules_find(const struct modules *modules, uint32_t dev, uint64_t ino)
{
	return hash_get_ptr(&modules->index, file_key(dev, ino));
}

void modules_set_progress(struct modules *modules, struct progress *progress)
{
	modules->progress = progress;
}

void modules_idle(struct modules *modules, void (*idle)(void *ctx), void *ctx)
{
	reader_idle(modules->reader, idle, ctx);
}

void modules_follow_priority(const struct modules *modules)
{
	reader_follow_priority(modules->reader);
}

void modules_only_pthread(struct modules *modules)
{
	modules->only_pthread = true;
}

/*
 * Keep only pthread barriers. Also drop the regions and the addresses to which their functions
 * return, because they belong to other families.
 */
static void keep_pthread(struct module *m)
{
	uint32_t i, kept = 0;

	for (i = 0; i < m->nplaces; i++) {
		if (m->places[i].spec.family != SBT_FAMILY_PTHREAD) {
			m->left_out |= 1u << m->places[i].spec.family;
			continue;
		}
		if (i != kept)
			m->places[kept] = m->places[i];
		kept++;
	}
	m->nplaces = kept;
	m->regions = m->returned = 0;
	m->returns.n = 0;
}

/* Add a module. @fd is an open file, or a negative error. */
static struct module *module_add(struct modules *modules, int fd, const char *path, uint32_t dev,
				 uint64_t ino)
{
	struct module *m = calloc(1, sizeof(*m));

	if (!m)
		goto fail;
	*m = (struct module){
		.dev = dev, .ino = ino, .fd = fd, .reader = modules->reader, .path = strdup(path)
	};
	if (!m->path || grow(modules->all, modules->cap, modules->n + 1) ||
	    hash_put_ptr(&modules->index, file_key(dev, ino), m))
		goto fail;
	modules->all[modules->n++] = m;
	module_identify(m);
	if (fd >= 0) {
		progress_begin(modules->progress, "reading %s", text_base_name(path));
		m->error = reader_examine(modules->reader, m);
		if (modules->only_pthread)
			keep_pthread(m);
		progress_end(modules->progress);
		if (!m->is_elf)
			module_close(m);
	} else {
		m->error = fd;
		m->fd = -1;
	}
	return m;
fail:
	if (m)
		free(m->path);
	free(m);
	if (fd >= 0)
		close(fd);
	return NULL;
}

/*
 * Find the file's name as seen from the tracer's root; @path may be as seen from another root.
 * Return @name, or @path if the name is unknown.
 */
static const char *visible_name(int fd, const char *path, char name[PATH_MAX])
{
	char link[32];
	ssize_t len;

	if (fd < 0)
		return path;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, name, PATH_MAX - 1);
	if (len <= 0 || name[0] != '/')
		return path;
	name[len] = '\0';
	return name;
}

struct module *modules_get(struct modules *modules, int pid, const struct maps_entry *e)
{
	char name[PATH_MAX];
	struct module *m;
	int fd;

	if (!e->ino)
		return NULL;
	m = modules_find(modules, e->dev, e->ino);
	if (m && m->fd < 0 && m->checked != modules->round) {
		m->checked = modules->round;
		if (!module_is_behind(m, pid, e)) {
			/*
			 * Remove the old module only from the index: call sites in it keep their
			 * names.
			 */
			hash_del(&modules->index, file_key(m->dev, m->ino));
			m = NULL;
		}
	}
	if (!m) {
		fd = maps_open(pid, e);
		/*
		 * If the process has exited, the file cannot be opened through it. Return no module
		 * yet, because another process may still map the file.
		 */
		if (fd == -ENOENT || fd == -ESRCH)
			return NULL;
		m = module_add(modules, fd, e->deleted ? e->path : visible_name(fd, e->path, name),
			       e->dev, e->ino);
		if (m)
			m->deleted = e->deleted;
	}
	if (m)
		m->pid = pid;
	return m;
}

void modules_forget(struct modules *modules, const struct module *m)
{
	/* Remove the module only from the index: call sites in it keep their names. */
	if (modules_find(modules, m->dev, m->ino) == m)
		hash_del(&modules->index, file_key(m->dev, m->ino));
}

struct module *modules_replaced(struct modules *modules, int pid, const struct maps_entry *e)
{
	struct module *m = modules_find(modules, e->dev, e->ino);

	if (!m || module_is_unchanged(m, pid, e))
		return NULL;
	modules_forget(modules, m);
	return m;
}

void modules_close_unused(struct modules *modules, bool (*before)(void *ctx, struct module *module),
			  void *ctx)
{
	struct module *m;
	size_t i;

	modules->round++;
	for (i = 0; i < modules->n; i++) {
		m = modules->all[i];
		if (!m->used && m->fd >= 0 && before(ctx, m))
			module_close(m);
		m->used = false;
	}
}

/*
 * Open a regular file. Check the type first: a program may name a device as a library, and opening
 * a device can have effects. Return the descriptor or -errno.
 */
static int open_regular(const char *path, struct stat *st)
{
	int found = open(path, O_PATH | O_CLOEXEC), fd = -ENOEXEC;
	char name[32];

	if (found < 0)
		return -errno;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", found);
	if (fstat(found, st)) {
		fd = -errno;
	} else if (S_ISREG(st->st_mode)) {
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		fd = fd < 0 ? -errno : fd;
	}
	close(found);
	return fd;
}

struct module *modules_open(struct modules *modules, const char *path)
{
	struct stat st = { 0 };
	int fd = open_regular(path, &st);
	struct module *m;
	uint32_t dev;
	char *real;

	if (fd < 0)
		return module_add(modules, fd, path, UINT32_MAX, (uint64_t)modules->n);
	dev = (uint32_t)major(st.st_dev) << 20 | minor(st.st_dev);
	m = modules_find(modules, dev, st.st_ino);
	if (m) {
		close(fd);
		return m;
	}
	real = realpath(path, NULL);
	m = module_add(modules, fd, real ? real : path, dev, st.st_ino);
	free(real);
	return m;
}

void modules_each(const struct modules *modules, void (*each)(void *ctx, struct module *module),
		  void *ctx)
{
	size_t i;

	for (i = 0; i < modules->n; i++)
		each(ctx, modules->all[i]);
}

static void add_left_out(void *ctx, struct module *m)
{
	uint32_t *families = ctx;

	if (m->in_target)
		*families |= m->left_out;
}

uint32_t modules_left_out(const struct modules *modules)
{
	uint32_t families = 0;

	modules_each(modules, add_left_out, &families);
	return families;
}
