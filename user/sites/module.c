// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "sites/module.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sites/signature.h"

/* The longest function that is decoded for its exits; a barrier is a few hundred bytes. */
#define FUNCTION_MAX 4096
#define VERSIONS_MAX 4

struct modules {
	void *tree;
	struct module **all; /* in the order of coming */
	size_t n, cap;
};

static int compare(const void *a, const void *b)
{
	const struct module *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return (x->ino > y->ino) - (x->ino < y->ino);
}

int modules_new(struct modules **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

static void module_free(struct module *m)
{
	if (!m)
		return;
	elf_close(m->elf);
	if (m->fd >= 0)
		close(m->fd);
	free(m->path);
	free(m);
}

void modules_free(struct modules *modules)
{
	size_t i;

	if (!modules)
		return;
	for (i = 0; i < modules->n; i++) {
		tdelete(modules->all[i], &modules->tree, compare);
		module_free(modules->all[i]);
	}
	free(modules->all);
	free(modules);
}

/* The function as far as it is known: where a branch leads decides where a probe may sit. */
static size_t function_bytes(const struct module *m, const struct elf_symbol *symbol,
			     const uint8_t **bytes)
{
	size_t len = symbol->size && symbol->size < FUNCTION_MAX ? symbol->size : 64;

	return elf_bytes(m->elf, symbol->offset, len, bytes);
}

static void find_exits(struct module *m, const struct elf_symbol *symbol,
		       struct module_place *place)
{
	size_t len = symbol->size < FUNCTION_MAX ? symbol->size : FUNCTION_MAX;
	uint32_t exits[MODULE_EXITS_MAX];
	const uint8_t *bytes;
	int n, i;

	if (!symbol->size || symbol->size > FUNCTION_MAX) {
		snprintf(place->exits_why, sizeof(place->exits_why),
			 "the function's size is unknown");
		return;
	}
	len = elf_bytes(m->elf, symbol->offset, len, &bytes);
	n = insn_find_exits(m->traits.machine, bytes, len, exits, MODULE_EXITS_MAX,
			    place->exits_why, sizeof(place->exits_why));
	if (n > MODULE_EXITS_MAX) {
		snprintf(place->exits_why, sizeof(place->exits_why), "it has %d exits, too many",
			 n);
		return;
	}
	for (i = 0; i < n; i++)
		place->exits[place->nexits++] = symbol->offset + exits[i];
}

static void add_place(struct module *m, const struct sites_family *family, const char *name,
		      const struct elf_symbol *symbol)
{
	struct module_place *place = &m->places[m->nplaces];
	const uint8_t *bytes;
	size_t len;

	if (m->nplaces == MODULE_PLACES_MAX)
		return;
	memset(place, 0, sizeof(*place));
	place->family = family;
	place->symbol = name;
	len = function_bytes(m, symbol, &bytes);
	place->error = insn_choose_entry(m->traits.machine, bytes, len, &place->entry);
	place->offset = symbol->offset + place->entry.skip;
	find_exits(m, symbol, place);
	m->nplaces++;
}

static void find_places(struct module *m)
{
	struct elf_symbol symbols[VERSIONS_MAX];
	const struct sites_family *families;
	size_t nfamilies, f;
	const char *const *name;
	int n, i;

	families = family_table(&nfamilies);
	for (f = 0; f < nfamilies; f++) {
		for (name = families[f].symbols; *name; name++) {
			n = elf_find_function(m->elf, *name, symbols, VERSIONS_MAX);
			for (i = 0; i < n && i < VERSIONS_MAX; i++)
				add_place(m, &families[f], *name, &symbols[i]);
		}
	}
}

/* Where a probe may sit at the beginning of a function; 0: nowhere, or there is none. */
static uint64_t find_entry(const struct module *m, const struct elf_symbol *symbol)
{
	struct insn_entry entry;
	const uint8_t *bytes;
	size_t len;

	len = function_bytes(m, symbol, &bytes);
	if (insn_choose_entry(m->traits.machine, bytes, len, &entry))
		return 0;
	return symbol->offset + entry.skip;
}

/* A program that carries its C library and has lost all names. */
static bool is_nameless(const struct module *m)
{
	const struct elf_traits *t = &m->traits;

	return t->executable && !t->dynamic && t->stripped && !t->go;
}

static void say_found_by_code(struct module_place *place)
{
	char why[sizeof(place->entry.why)];

	memcpy(why, place->entry.why, sizeof(why));
	snprintf(place->entry.why, sizeof(place->entry.why),
		 "found by its code, the file has no names; %.70s", why);
	place->found_by_code = true;
}

static void find_by_code(struct module *m)
{
	const struct sites_family *family = family_find(SBT_FAMILY_PTHREAD);
	struct signature found;
	uint64_t maker;

	if (!family || signature_find(m->elf, m->traits.machine, &found))
		return;
	add_place(m, family, family->symbols[0], &found.wait);
	say_found_by_code(&m->places[m->nplaces - 1]);
	/* The code tells whose it is better than a note, which may have been taken away too. */
	m->traits.glibc = !found.musl;
	m->traits.musl = found.musl;
	maker = found.init.vaddr ? find_entry(m, &found.init) : 0;
	if (maker)
		m->makers[m->nmakers++] = maker;
}

static void find_makers(struct module *m)
{
	struct elf_symbol symbols[VERSIONS_MAX];
	const struct sites_family *families;
	size_t nfamilies, f;
	int n, i;

	families = family_table(&nfamilies);
	for (f = 0; f < nfamilies; f++) {
		if (!families[f].maker)
			continue;
		n = elf_find_function(m->elf, families[f].maker, symbols, VERSIONS_MAX);
		for (i = 0; i < n && i < VERSIONS_MAX && m->nmakers < MODULE_PLACES_MAX; i++) {
			uint64_t entry = find_entry(m, &symbols[i]);

			if (entry)
				m->makers[m->nmakers++] = entry;
		}
	}
}

/* Only dynamic linkers have it, as a place for debuggers to stop. */
static void find_loader(struct module *m)
{
	struct elf_symbol symbol;

	if (elf_find_function(m->elf, "_dl_debug_state", &symbol, 1) > 0)
		m->loader = find_entry(m, &symbol);
}

static void examine(struct module *m)
{
	size_t i;

	m->error = elf_open(m->fd, &m->elf);
	if (m->error)
		return;
	elf_traits(m->elf, &m->traits);
	for (i = 0; i < m->traits.build_id_len; i++)
		snprintf(m->build_id + 2 * i, 3, "%02x", m->traits.build_id[i]);
	find_places(m);
	find_makers(m);
	if (!m->nplaces && is_nameless(m))
		find_by_code(m);
	find_loader(m);
}

static struct module *module_find(const struct modules *modules, uint32_t dev, uint64_t ino)
{
	struct module key = { .dev = dev, .ino = ino };
	struct module *const *found = tfind(&key, &modules->tree, compare);

	return found ? *found : NULL;
}

/* Takes @fd (>= 0 an open file, else the error). */
static struct module *module_add(struct modules *modules, int fd, const char *path, uint32_t dev,
				 uint64_t ino)
{
	struct module *m = calloc(1, sizeof(*m));
	struct module **all;

	if (!m)
		goto fail;
	m->dev = dev;
	m->ino = ino;
	m->fd = fd;
	m->path = strdup(path);
	if (!m->path)
		goto fail;
	if (modules->n == modules->cap) {
		all = realloc(modules->all, (modules->cap * 2 + 16) * sizeof(struct module *));
		if (!all)
			goto fail;
		modules->all = all;
		modules->cap = modules->cap * 2 + 16;
	}
	if (!tsearch(m, &modules->tree, compare))
		goto fail;
	modules->all[modules->n++] = m;
	if (fd >= 0) {
		examine(m);
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

struct module *modules_get(struct modules *modules, int pid, const struct maps_entry *e)
{
	struct module *m;

	if (!e->ino)
		return NULL;
	m = module_find(modules, e->dev, e->ino);
	if (m)
		return m;
	m = module_add(modules, maps_open(pid, e), e->path, e->dev, e->ino);
	if (m)
		m->deleted = e->deleted;
	return m;
}

struct module *modules_get_fd(struct modules *modules, int fd, const char *path, uint32_t dev,
			      uint64_t ino)
{
	struct module *m = module_find(modules, dev, ino);
	int copy;

	if (m)
		return m;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return module_add(modules, copy < 0 ? -errno : copy, path, dev, ino);
}

void modules_each(const struct modules *modules, void (*each)(void *ctx, struct module *module),
		  void *ctx)
{
	size_t i;

	for (i = 0; i < modules->n; i++)
		each(ctx, modules->all[i]);
}
