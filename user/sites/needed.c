// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "sites/needed.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEEDED_MAX    256 /* maximum number of files of one program */
#define CACHE_PATH    "/etc/ld.so.cache"
#define CACHE_MAGIC   "glibc-ld.so.cache1.1"
#define CACHE_MAX     (16u << 20)
/* Size of the header, in bytes: magic, number of entries, size of the strings, flags, unused. */
#define CACHE_HEADER  48
#define CACHE_ENTRY   24 /* size of an entry, in bytes: flags, name, path, version, processor */
#define CACHE_TYPE    0x0003 /* flag of a library for glibc */
#define CACHE_X86_64  0x0300
#define CACHE_AARCH64 0x0a00

struct cache {
	uint8_t *bytes;
	size_t len;
};

struct needed {
	struct modules *modules;
	const struct module *program;
	struct cache cache;
	struct module *all[NEEDED_MAX];
	size_t n;
	const char *missing[NEEDED_MAX];
	size_t nmissing;
	needed_fn each;
	void *ctx;
};

/* --- the linker's cache ----------------------------------------------------------------------- */

static void cache_read(struct cache *cache)
{
	int fd = open(CACHE_PATH, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	ssize_t n = 0;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > CACHE_HEADER &&
	    st.st_size <= CACHE_MAX)
		cache->bytes = malloc((size_t)st.st_size + 1);
	if (cache->bytes)
		n = read(fd, cache->bytes, (size_t)st.st_size);
	close(fd);
	cache->len = n > 0 ? (size_t)n : 0;
	if (cache->bytes)
		cache->bytes[cache->len] = 0;
	if (cache->len < CACHE_HEADER ||
	    memcmp(cache->bytes, CACHE_MAGIC, strlen(CACHE_MAGIC)) != 0)
		cache->len = 0;
}

static uint32_t cache_u32(const struct cache *cache, size_t at)
{
	uint32_t value;

	memcpy(&value, cache->bytes + at, sizeof(value));
	return value;
}

/*
 * Return the string at an offset of the cache. It ends within the cache, because a NUL follows the
 * cache.
 */
static const char *cache_string(const struct cache *cache, uint32_t at)
{
	return at < cache->len ? (const char *)cache->bytes + at : "";
}

/*
 * Find a library in the cache. The linker takes the first library that this machine can run, and
 * the best libraries are first. Libraries for certain processors are skipped.
 */
static const char *cache_find(const struct cache *cache, const char *name, uint16_t machine)
{
	uint32_t want = CACHE_TYPE | (machine == EM_AARCH64 ? CACHE_AARCH64 : CACHE_X86_64), n, i;
	uint64_t hwcap;

	if (!cache->len)
		return NULL;
	n = cache_u32(cache, strlen(CACHE_MAGIC));
	for (i = 0; i < n && CACHE_HEADER + (i + 1ULL) * CACHE_ENTRY <= cache->len; i++) {
		size_t at = CACHE_HEADER + (size_t)i * CACHE_ENTRY;

		memcpy(&hwcap, cache->bytes + at + 16, sizeof(hwcap));
		if (cache_u32(cache, at) == want && !hwcap &&
		    !strcmp(cache_string(cache, cache_u32(cache, at + 4)), name))
			return cache_string(cache, cache_u32(cache, at + 8));
	}
	return NULL;
}

/* --- directories ------------------------------------------------------------------------------ */

/*
 * Return the module of this file if the file is readable and made for the program's machine, or
 * NULL.
 */
static struct module *try_file(struct needed *s, const char *path)
{
	struct module *m;

	if (access(path, R_OK))
		return NULL;
	m = modules_open(s->modules, path);
	return m && !m->error && m->traits.machine == s->program->traits.machine ? m : NULL;
}

/*
 * Write the directory to @path. Replace $ORIGIN at its start by the folder of @owner, the file that
 * names the directory. Return false if the result is too long.
 */
static bool expand(const char *dir, size_t len, const char *owner, char path[PATH_MAX])
{
	static const char *const words[] = { "$ORIGIN", "${ORIGIN}" };
	const char *slash = strrchr(owner, '/');
	size_t i, skip = 0;
	int n;

	for (i = 0; i < 2; i++)
		if (len >= strlen(words[i]) && !strncmp(dir, words[i], strlen(words[i])))
			skip = strlen(words[i]);
	if (skip)
		n = snprintf(path, PATH_MAX, "%.*s%.*s", slash ? (int)(slash - owner) : 1,
			     slash ? owner : ".", (int)(len - skip), dir + skip);
	else
		n = snprintf(path, PATH_MAX, "%.*s", (int)len, dir);
	return n >= 0 && n < PATH_MAX;
}

static struct module *try_list(struct needed *s, const char *list, const char *owner,
			       const char *name)
{
	char dir[PATH_MAX], path[PATH_MAX];
	struct module *m;
	size_t len;

	for (; *list; list += len + (list[len] != 0)) {
		len = strcspn(list, ":;");
		if (len && expand(list, len, owner, dir) &&
		    (size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) < sizeof(path)) {
			m = try_file(s, path);
			if (m)
				return m;
		}
	}
	return NULL;
}

static struct module *try_defaults(struct needed *s, const char *name)
{
	static const char glibc_x86[] = "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:"
					"/usr/lib64:/lib:/usr/lib";
	static const char glibc_arm[] = "/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu:/lib64:"
					"/usr/lib64:/lib:/usr/lib";
	static const char musl[] = "/lib:/usr/local/lib:/usr/lib:/usr/lib/x86_64-linux-musl:"
				   "/usr/lib/aarch64-linux-musl";
	bool arm = s->program->traits.machine == EM_AARCH64;

	if (strstr(s->program->traits.interp, "ld-musl"))
		return try_list(s, musl, "", name);
	return try_list(s, arm ? glibc_arm : glibc_x86, "", name);
}

static struct module *find_library(struct needed *s, const struct module *owner, const char *name)
{
	bool is_musl = strstr(s->program->traits.interp, "ld-musl");
	bool first = owner->needs.path_first, program_first = s->program->needs.path_first;
	const char *own = owner->needs.path, *programs = s->program->needs.path, *found;
	const char *env = getenv("LD_LIBRARY_PATH");
	struct module *m = NULL;

	if (strchr(name, '/'))
		return try_file(s, name);
	/* musl's C library is also its dynamic linker. */
	if (is_musl && (!strcmp(name, "libc.so") || !strncmp(name, "libc.musl", 9)))
		return try_file(s, s->program->traits.interp);
	if (first)
		m = try_list(s, own, owner->path, name);
	if (!m && first && program_first)
		m = try_list(s, programs, s->program->path, name);
	if (!m && env)
		m = try_list(s, env, "", name);
	if (!m && !first)
		m = try_list(s, own, owner->path, name);
	found = m || is_musl ? NULL : cache_find(&s->cache, name, s->program->traits.machine);
	if (found)
		m = try_file(s, found);
	return m ? m : try_defaults(s, name);
}

/* --- the list --------------------------------------------------------------------------------- */

static void add(struct needed *s, const char *name, struct module *m)
{
	size_t i;

	for (i = 0; m && i < s->n; i++)
		if (s->all[i] == m)
			return;
	for (i = 0; !m && i < s->nmissing; i++)
		if (!strcmp(s->missing[i], name))
			return;
	if ((m ? s->n : s->nmissing) == NEEDED_MAX)
		return;
	if (m)
		s->all[s->n++] = m;
	else
		s->missing[s->nmissing++] = name;
	s->each(s->ctx, name, m);
}

int needed_each(struct modules *modules, const char *path, needed_fn each, void *ctx)
{
	struct module *program = modules_open(modules, path);
	const struct module_needs *needs;
	struct needed *s;
	size_t i, k;

	if (!program)
		return -ENOMEM;
	if (program->error)
		return program->error;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	*s = (struct needed){ .modules = modules, .program = program, .each = each, .ctx = ctx };
	cache_read(&s->cache);
	add(s, path, program);
	for (i = 0; i < s->n; i++) {
		needs = &s->all[i]->needs;
		for (k = 0; k < needs->n; k++)
			add(s, needs->names[k], find_library(s, s->all[i], needs->names[k]));
	}
	free(s->cache.bytes);
	free(s);
	return 0;
}
