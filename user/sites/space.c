// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "sites/space.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct site {
	uint32_t id;
	struct module *module; /* NULL: in none that is known */
	uint64_t offset; /* in the file; without a module the address itself */
	uint64_t space; /* without a module: whose address it is */
	bool named;
	struct site_name name;
};

struct object_name {
	const struct module *module;
	uint64_t vaddr;
	char *name; /* NULL: looked for and not found */
};

struct spaces {
	struct modules *modules;
	struct symbol_server *symbols;
	void *space_tree;
	struct space **spaces;
	size_t nspaces, cap_spaces;
	void *site_tree;
	struct site **sites;
	uint32_t nsites, cap_sites;
	void *object_tree;
};

/* --- spaces ------------------------------------------------------------------------------------- */

static int compare_spaces(const void *a, const void *b)
{
	const struct space *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	return (x->inc > y->inc) - (x->inc < y->inc);
}

static int compare_sites(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	if (x->module != y->module)
		return (uintptr_t)x->module < (uintptr_t)y->module ? -1 : 1;
	if (x->space != y->space)
		return x->space < y->space ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int compare_objects(const void *a, const void *b)
{
	const struct object_name *x = a, *y = b;

	if (x->module != y->module)
		return (uintptr_t)x->module < (uintptr_t)y->module ? -1 : 1;
	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

int spaces_new(struct modules *modules, struct symbol_server *symbols, struct spaces **out)
{
	struct spaces *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->modules = modules;
	s->symbols = symbols;
	*out = s;
	return 0;
}

static void site_free(struct site *site)
{
	uint32_t i;

	for (i = 0; i < site->name.nframes; i++) {
		free((char *)(uintptr_t)site->name.frames[i].function);
		free((char *)(uintptr_t)site->name.frames[i].file);
	}
	free((void *)(uintptr_t)site->name.frames);
	free(site);
}

static void object_free(void *p)
{
	struct object_name *object = p;

	free(object->name);
	free(object);
}

static void nothing(void *p)
{
	(void)p;
}

void spaces_free(struct spaces *s)
{
	size_t i;

	if (!s)
		return;
	tdestroy(s->space_tree, nothing);
	tdestroy(s->site_tree, nothing);
	tdestroy(s->object_tree, object_free);
	for (i = 0; i < s->nspaces; i++) {
		maps_free(&s->spaces[i]->maps);
		free(s->spaces[i]);
	}
	for (i = 0; i < s->nsites; i++)
		site_free(s->sites[i]);
	free(s->spaces);
	free(s->sites);
	free(s);
}

struct space *space_find(const struct spaces *s, uint32_t tgid, uint32_t inc)
{
	struct space key = { .tgid = tgid, .inc = inc };
	struct space *const *found = tfind(&key, &s->space_tree, compare_spaces);

	return found ? *found : NULL;
}

struct space *space_get(struct spaces *s, uint32_t tgid, uint32_t inc)
{
	struct space *space = space_find(s, tgid, inc), **all;

	if (space)
		return space;
	if (s->nspaces == s->cap_spaces) {
		all = realloc(s->spaces, (s->cap_spaces * 2 + 16) * sizeof(struct space *));
		if (!all)
			return NULL;
		s->spaces = all;
		s->cap_spaces = s->cap_spaces * 2 + 16;
	}
	space = calloc(1, sizeof(*space));
	if (!space)
		return NULL;
	space->tgid = tgid;
	space->inc = inc;
	if (!tsearch(space, &s->space_tree, compare_spaces)) {
		free(space);
		return NULL;
	}
	s->spaces[s->nspaces++] = space;
	return space;
}

int space_inherit(struct spaces *s, struct space *child, const struct space *parent)
{
	int err = 0;

	(void)s;
	if (!child->read && !child->maps.n)
		err = maps_copy(&parent->maps, &child->maps);
	child->flavour = parent->flavour;
	child->has_place = parent->has_place;
	child->by_exit = parent->by_exit;
	child->departures = parent->departures;
	child->refusal = parent->refusal;
	return err;
}

/* Is this a library whose use of signals says nothing about the program? */
static bool runtime_library(const struct module *m)
{
	static const char *const names[] = { "libc.so",	     "libpthread.so", "libstdc++.so",
					     "libc++.so",    "libgcc_s.so",   "libm.so",
					     "libc++abi.so", "libc.musl",     "libunwind.so",
					     "libasan.so",   "libtsan.so" };
	size_t i;

	if (m->loader && !m->traits.interp[0])
		return true;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strncmp(m->traits.soname, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

/*
 * Where a return probe could hurt: the kernel puts an address of its own in place of the return address, and an
 * unwinder that comes across it gives up. Threads that can be cancelled at any instant unwind out of a wait; so does an
 * exception that a signal handler throws; and Go moves its stacks.
 */
static const char *return_probe_refusal(bool go, bool setcanceltype, bool throws, bool signals)
{
	if (go)
		return "a Go program moves its stacks: return probes would crash it";
	if (setcanceltype)
		return "its threads may be cancelled at any instant: return probes would break "
		       "unwinding";
	if (throws && signals)
		return "it has signal handlers and exceptions: return probes would break unwinding";
	return NULL;
}

struct space_facts spaces_judge(struct spaces *s, int pid, const struct maps *maps)
{
	bool go = false, setcanceltype = false, throws = false, signals = false, interp = false;
	struct space_facts facts = { 0 };
	bool beyond = false;
	size_t i;

	for (i = 0; i < maps->n; i++) {
		const struct module *m;
		bool program;

		if (!maps->entries[i].exec)
			continue;
		m = modules_get(s->modules, pid, &maps->entries[i]);
		if (!m || !m->elf)
			continue;
		if (m->nplaces) {
			facts.has_place = true;
			facts.flavour = family_flavour_of(m->traits.glibc, m->traits.musl);
		}
		go |= m->traits.go;
		throws |= m->traits.imports_throw;
		/* A static program has its own symbols and the library's: what is in it may be used. */
		program = !m->nplaces || (m->traits.executable && !m->traits.dynamic);
		if (program && !runtime_library(m)) {
			setcanceltype |= m->traits.imports_setcanceltype;
			signals |= m->traits.imports_signal;
		}
		interp |= m->traits.executable && m->traits.interp[0];
		/* What its libraries will bring is known before they are mapped. */
		facts.decided |= m->traits.executable && m->traits.plain_libraries;
		/* More than the program and its dynamic linker; or the linker is the C library (musl). */
		beyond |= (!m->loader && !m->traits.executable) || (m->loader && m->nplaces);
	}
	facts.settled = !interp || beyond;
	facts.refusal = return_probe_refusal(go, setcanceltype, throws, signals);
	/* Where exits are needed, the libraries that have them must be there. */
	facts.decided = facts.settled || (facts.decided && !facts.refusal);
	return facts;
}

int space_read(struct spaces *s, struct space *space)
{
	struct space_facts facts;
	struct maps maps;
	int err = maps_read((int)space->tgid, &maps);

	if (err)
		return err;
	if (!maps.n) {
		/* A zombie's are empty: keep what is known. */
		maps_free(&maps);
		return -ESRCH;
	}
	maps_free(&space->maps);
	space->maps = maps;
	space->read = true;
	facts = spaces_judge(s, (int)space->tgid, &space->maps);
	space->has_place = facts.has_place;
	space->settled = facts.settled;
	space->refusal = facts.refusal;
	if (facts.has_place)
		space->flavour = facts.flavour;
	return 0;
}

/* --- sites ---------------------------------------------------------------------------------------- */

static uint32_t site_get(struct spaces *s, const struct site *key)
{
	struct site *const *found = tfind(key, &s->site_tree, compare_sites);
	struct site *site, **all;

	if (found)
		return (*found)->id;
	if (s->nsites == s->cap_sites) {
		all = realloc(s->sites, (s->cap_sites * 2 + 64) * sizeof(struct site *));
		if (!all)
			return SPACE_SITE_NONE;
		s->sites = all;
		s->cap_sites = s->cap_sites * 2 + 64;
	}
	site = malloc(sizeof(*site));
	if (!site)
		return SPACE_SITE_NONE;
	*site = *key;
	site->id = s->nsites;
	if (!tsearch(site, &s->site_tree, compare_sites)) {
		free(site);
		return SPACE_SITE_NONE;
	}
	s->sites[s->nsites] = site;
	return s->nsites++;
}

uint32_t space_site(struct spaces *s, struct space *space, uint64_t ip)
{
	/* The call stands before the address it returns to. */
	uint64_t call = ip ? ip - 1 : 0;
	const struct maps_entry *e = maps_find(&space->maps, call);
	struct site key = { 0 };

	if ((!e || !e->exec || !e->ino) && !space->gone && !space_read(s, space))
		e = maps_find(&space->maps, call);
	if (e && e->exec && e->ino)
		key.module = modules_get(s->modules, (int)space->tgid, e);
	if (key.module) {
		key.offset = call - e->start + e->offset;
	} else {
		key.offset = call;
		key.space = (uint64_t)space->tgid << 32 | space->inc;
	}
	return site_get(s, &key);
}

static const char *keep(const char *text)
{
	return *text ? strdup(text) : NULL;
}

static void site_look_up(struct spaces *s, struct site *site)
{
	const struct module *m = site->module;
	struct site_frame *frames;
	struct symbol *symbol;
	uint64_t vaddr;
	int i;

	site->named = true;
	site->name.offset = site->offset;
	if (!m)
		return;
	site->name.module = m->path;
	site->name.build_id = *m->build_id ? m->build_id : NULL;
	if (!m->elf || elf_offset_to_vaddr(m->elf, site->offset, &vaddr))
		return;
	site->name.offset = vaddr;
	symbol = malloc(sizeof(*symbol));
	if (!symbol)
		return;
	if (!symbol_lookup(s->symbols, m->fd, m->path, vaddr, symbol) && symbol->nframes > 0) {
		frames = calloc((size_t)symbol->nframes, sizeof(*frames));
		for (i = 0; frames && i < symbol->nframes; i++) {
			frames[i].function = keep(symbol->frames[i].function);
			frames[i].file = keep(symbol->frames[i].file);
			frames[i].line = symbol->frames[i].line;
		}
		if (frames) {
			site->name.frames = frames;
			site->name.nframes = (uint32_t)symbol->nframes;
		}
	}
	free(symbol);
}

const struct site_name *spaces_site(struct spaces *s, uint32_t id)
{
	if (id >= s->nsites)
		return NULL;
	if (!s->sites[id]->named)
		site_look_up(s, s->sites[id]);
	return &s->sites[id]->name;
}

/* --- objects --------------------------------------------------------------------------------------- */

uint64_t space_shared_key(struct spaces *s, struct space *space, uint64_t addr)
{
	const struct maps_entry *e = maps_find(&space->maps, addr);
	uint64_t hash = TEXT_HASH_INIT, offset;

	if (!e && !space->gone && !space_read(s, space))
		e = maps_find(&space->maps, addr);
	if (!e || !e->shared || !e->ino)
		return 0;
	offset = addr - e->start + e->offset;
	hash = text_hash(hash, &e->dev, sizeof(e->dev));
	hash = text_hash(hash, &e->ino, sizeof(e->ino));
	hash = text_hash(hash, &offset, sizeof(offset));
	return hash ? hash : 1;
}

static const char *object_look_up(struct spaces *s, const struct module *m, uint64_t vaddr)
{
	struct object_name key = { .module = m, .vaddr = vaddr }, *object;
	struct object_name *const *found = tfind(&key, &s->object_tree, compare_objects);
	char name[SYMBOL_NAME_MAX];

	if (found)
		return (*found)->name;
	object = malloc(sizeof(*object));
	if (!object)
		return NULL;
	*object = key;
	if (symbol_data_name(s->symbols, m->fd, m->path, vaddr, name))
		object->name = strdup(name);
	if (!tsearch(object, &s->object_tree, compare_objects)) {
		object_free(object);
		return NULL;
	}
	return object->name;
}

const char *space_object_name(struct spaces *s, const struct space *space, uint64_t addr)
{
	const char *name = NULL;
	size_t i;

	/*
	 * Variables lie in a mapping of their own behind the code of their module; the distance is
	 * that of the link. Each module is asked whether that address is one of its variables.
	 */
	for (i = 0; i < space->maps.n && !name; i++) {
		const struct maps_entry *e = &space->maps.entries[i];
		const struct module *m;
		uint64_t vaddr, bias;

		if (!e->exec || !e->ino || addr < e->start || addr - e->start > 1ull << 30)
			continue;
		m = modules_get(s->modules, (int)space->tgid, e);
		if (!m || !m->elf || m->nplaces || elf_offset_to_vaddr(m->elf, e->offset, &vaddr))
			continue;
		bias = e->start - vaddr;
		name = object_look_up(s, m, addr - bias);
	}
	return name;
}
