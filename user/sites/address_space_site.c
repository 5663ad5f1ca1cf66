// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Call sites and their names. */
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/function_name.h"
#include "base/grow.h"
#include "base/number.h"
#include "base/text.h"
#include "sites/address_space_internal.h"

/* maximum time of one call of address_spaces_settle_module(), because records wait to be read */
#define SETTLE_NS     20000000u
#define TINY_BYTES    64
/*
 * A function of at most this many bytes of code may contain nothing but a barrier, with the code
 * that C++ adds.
 */
#define COMPACT_BYTES 768

static int compare_sites(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	if (x->module != y->module)
		return NUMBER_COMPARE((uintptr_t)x->module, (uintptr_t)y->module);
	if (x->space != y->space)
		return NUMBER_COMPARE(x->space, y->space);
	if (x->offset != y->offset)
		return NUMBER_COMPARE(x->offset, y->offset);
	return strcmp(x->label ? x->label : "", y->label ? y->label : "");
}

static void frames_free(const struct site_frame *frames, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		free((char *)(uintptr_t)frames[i].function);
		free((char *)(uintptr_t)frames[i].file);
	}
	free((void *)(uintptr_t)frames);
}

static void site_free(struct site *site)
{
	frames_free(site->name.frames, site->name.nframes);
	frames_free(site->before, site->nbefore);
	free(site);
}

static void nothing(void *p)
{
	(void)p;
}

void sites_free(struct address_spaces *s)
{
	uint32_t i;

	tdestroy(s->site_tree, nothing);
	for (i = 0; i < s->nsites; i++)
		site_free(s->sites[i]);
	free(s->sites);
	python_sites_free(s);
}

static uint32_t site_get(struct address_spaces *s, const struct site *key)
{
	struct site *const *found = tfind(key, &s->site_tree, compare_sites);
	struct site *site;

	if (found)
		return (*found)->id;
	if (grow(s->sites, s->cap_sites, s->nsites + 1))
		return ADDRESS_SPACE_SITE_NONE;
	site = malloc(sizeof(*site));
	if (!site)
		return ADDRESS_SPACE_SITE_NONE;
	*site = *key;
	site->id = s->nsites;
	if (!tsearch(site, &s->site_tree, compare_sites)) {
		free(site);
		return ADDRESS_SPACE_SITE_NONE;
	}
	s->sites[s->nsites] = site;
	return s->nsites++;
}

uint32_t site_get_framed(struct address_spaces *s, const struct site *key,
			 struct site_frame **frame)
{
	uint32_t id = site_get(s, key);
	struct site *site;

	*frame = NULL;
	if (id == ADDRESS_SPACE_SITE_NONE || s->sites[id]->named)
		return id;
	site = s->sites[id];
	*frame = calloc(1, sizeof(**frame));
	if (!*frame)
		return ADDRESS_SPACE_SITE_NONE;
	site->name.frames = *frame;
	site->name.nframes = 1;
	if (key->module) {
		site->name.module = key->module->path;
		site->name.build_id = *key->module->build_id ? key->module->build_id : NULL;
	}
	site->named = true;
	return id;
}

/*
 * Find the file and offset of the instruction at @addr. @e (may be NULL) is the mapping that
 * contains it.
 */
static void site_locate(struct site *key, struct address_spaces *s,
			const struct address_space *space, const struct maps_entry *e,
			uint64_t addr)
{
	if (e && e->exec && e->ino)
		key->module = modules_get(s->modules, (int)space->tgid, e);
	if (key->module) {
		key->offset = addr - e->start + e->offset;
	} else {
		key->offset = addr;
		key->space = (uint64_t)space->tgid << 32 | space->inc;
	}
}

uint32_t site_at(struct address_spaces *s, const struct address_space *space,
		 const struct maps_entry *e, uint64_t call)
{
	struct site key = { 0 };

	site_locate(&key, s, space, e, call);
	return site_get(s, &key);
}

/*
 * The linker reports two changes when it unmaps a library and two when it maps one. After more than
 * two changes since an event, a new library may be mapped where another file was mapped at the time
 * of the event.
 */
#define CHANGES_SURE 2

/* Return whether `maps` may differ from the mappings at the time of the event that is handled. */
static bool is_late(const struct address_space *space)
{
	return space->maps_changes - space->changes > CHANGES_SURE;
}

static bool is_file(const struct maps_entry *e)
{
	return e && e->exec && e->ino;
}

uint32_t address_space_site(struct address_spaces *s, struct address_space *space, uint64_t ip)
{
	/* The call is before its return address. */
	uint64_t call = ip ? ip - 1 : 0;
	const struct maps_entry *e = maps_find(&space->maps, call);

	if (address_space_renew(s, space, e))
		e = maps_find(&space->maps, call);
	if (ip && is_late(space) && (!is_file(e) || e->added))
		e = NULL;
	return site_at(s, space, e, call);
}

uint32_t address_space_return_site(struct address_spaces *s, const struct address_space *space,
				   const struct address_space_return *ret)
{
	uint64_t call = ret->ip ? ret->ip - 1 : 0;
	const struct maps_entry *e = maps_find(&space->maps, call);
	struct site key = { 0 };

	if (ret->ino)
		key.module = modules_find(s->modules, ret->dev, ret->ino);
	if (key.module) {
		key.offset = ret->offset - 1;
		return site_get(s, &key);
	}
	return site_at(s, space, is_file(e) && !e->added ? e : NULL, call);
}

const char *site_text(const char *text)
{
	return *text ? strdup(text) : NULL;
}

/*
 * Copy a text of a marker: as the kernel read it or, if its page was not in memory, from the mapped
 * file.
 */
static void label_text(struct address_spaces *s, struct address_space *space, const char *read,
		       uint64_t addr, char out[SBT_LABEL_LEN + 1])
{
	const struct maps_entry *e;
	const struct module *m = NULL;
	ssize_t n = 0;

	snprintf(out, SBT_LABEL_LEN + 1, "%.*s", SBT_LABEL_LEN, read);
	if (*out || !addr)
		return;
	e = address_space_find_mapping(s, space, addr);
	/*
	 * Read only from private mappings of files, where a program has its constants. Other memory
	 * may differ from the file, because the program may have written to it.
	 */
	if (e && e->ino && !e->shared)
		m = modules_get(s->modules, (int)space->tgid, e);
	if (m && module_fd(m) >= 0)
		n = pread(module_fd(m), out, SBT_LABEL_LEN, (off_t)(addr - e->start + e->offset));
	out[n > 0 ? n : 0] = '\0';
}

uint32_t address_space_label_site(struct address_spaces *s, struct address_space *space,
				  const struct sbt_label *label)
{
	const struct maps_entry *e = address_space_find_mapping(s, space, label->ip);
	char file[SBT_LABEL_LEN + 1], name[SBT_LABEL_LEN + 1], text[2 * SBT_LABEL_LEN + 16];
	struct site key = { 0 };
	struct site_frame *frame;
	struct site *site;
	uint32_t id;

	label_text(s, space, label->file, label->file_at, file);
	label_text(s, space, label->name, label->name_at, name);
	snprintf(text, sizeof(text), "%s:%u %s", file, label->line, name);
	key.label = address_spaces_keep(s, text);
	if (!key.label)
		return ADDRESS_SPACE_SITE_NONE;
	site_locate(&key, s, space, e, label->ip);
	id = site_get_framed(s, &key, &frame);
	if (!frame)
		return id;
	frame->file = site_text(file);
	frame->line = label->line;
	site = s->sites[id];
	site->name.label = *name ? address_spaces_keep(s, name) : NULL;
	site->name.loop = label->loop != 0;
	site->name.offset = key.offset;
	return id;
}

/* Return the index of the first frame that is not a function of the C++ library. */
static int first_of_user(const struct symbol *symbol)
{
	int i;

	for (i = 0; i < symbol->nframes && function_name_of_cxx_library(symbol->frames[i].function);
	     i++)
		;
	return i < symbol->nframes ? i : 0;
}

static void site_look_up(struct address_spaces *s, struct site *site)
{
	const struct module *m = site->module;
	struct site_frame *frames;
	struct symbol *symbol;
	uint64_t vaddr;
	int i, first, err;

	site->named = true;
	site->later = false;
	site->name.offset = site->offset;
	if (!m)
		return;
	site->name.module = m->path;
	site->name.build_id = *m->build_id ? m->build_id : NULL;
	if (!m->is_elf || module_offset_to_vaddr(m, site->offset, &vaddr))
		return;
	site->name.offset = vaddr;
	symbol = malloc(sizeof(*symbol));
	if (!symbol)
		return;
	err = symbol_lookup(s->symbols, module_fd(m), m->path, vaddr, symbol);
	site->later = !symbol_server_is_later(s->symbols) &&
		      (err == -EAGAIN || (symbol_server_fetches_later(s->symbols) &&
					  (!symbol->nframes || !symbol->frames[0].line)));
	if (!err && symbol->nframes > 0) {
		first = first_of_user(symbol);
		frames = calloc((size_t)symbol->nframes, sizeof(*frames));
		for (i = first; frames && i < symbol->nframes; i++) {
			frames[i - first].function = site_text(symbol->frames[i].function);
			frames[i - first].file = site_text(symbol->frames[i].file);
			frames[i - first].line = symbol->frames[i].line;
			frames[i - first].declared = symbol->frames[i].declared;
		}
		if (frames) {
			frames_free(site->before, site->nbefore);
			site->before = site->name.frames;
			site->nbefore = site->name.nframes;
			site->name.frames = frames;
			site->name.nframes = (uint32_t)(symbol->nframes - first);
		}
	}
	if ((!site->name.nframes || !site->name.frames[0].function) &&
	    !module_function(m, vaddr, &site->name.function))
		site->name.function = 0;
	free(symbol);
}

bool address_spaces_settle_module(struct address_spaces *s, struct module *m)
{
	uint64_t begin = now_ns();
	uint32_t i;

	/* The file will be needed to ask a debuginfod server for missing names. */
	if (s->symbols && symbol_server_fetches_later(s->symbols))
		return false;
	for (i = 0; i < s->nsites; i++) {
		if (s->sites[i]->module != m || s->sites[i]->named)
			continue;
		if (now_ns() - begin > SETTLE_NS)
			return false;
		site_look_up(s, s->sites[i]);
	}
	if (s->symbols)
		symbol_forget(s->symbols, m->fd);
	return true;
}

const struct site_name *address_spaces_site(struct address_spaces *s, uint32_t id)
{
	if (id >= s->nsites)
		return NULL;
	if (!s->sites[id]->named || (s->sites[id]->later && symbol_server_is_later(s->symbols)))
		site_look_up(s, s->sites[id]);
	return &s->sites[id]->name;
}

bool address_spaces_site_stepped(const struct address_spaces *s, uint32_t id)
{
	const struct site *site = id < s->nsites ? s->sites[id] : NULL;

	if (!site || !site->module)
		return false;
	array_for_each (p, site->module->places, site->module->nplaces)
		if (p->spec.role == SBT_ROLE_OUTLINED && p->start == site->offset)
			return !p->error && p->entry.insn.class != INSN_EMULATED;
	return false;
}

size_t site_function_len(const char *name)
{
	const char *clone = strstr(name, " [clone"), *dot = strchr(name, '.');

	if (clone)
		return (size_t)(clone - name);
	return dot && dot != name ? (size_t)(dot - name) : strlen(name);
}

/*
 * Return whether this is a function of the C++ library or of Boost that waits on behalf of its
 * caller. It may be inlined.
 */
static bool is_wrapper(const struct site_frame *f)
{
	const char *base = text_base_name(f->file);

	/*
	 * The name of an inlined template lacks its namespace, but the name of its header shows the
	 * library.
	 */
	if (base && (!strcmp(base, "condition_variable") || strstr(f->file, "/boost/thread/")))
		return true;
	return f->function && (strstr(f->function, "std::condition_variable") ||
			       strstr(f->function, "std::__condvar") ||
			       strstr(f->function, "std::_V2::condition") ||
			       strstr(f->function, "boost::condition_variable"));
}

/* Return a number for a function of a file without names, made from its start address. */
static uint64_t nameless_function(const struct site *site)
{
	const struct module *m = site->module;
	uint64_t vaddr, start, h;

	if (!m || !m->is_elf || module_offset_to_vaddr(m, site->offset, &vaddr) ||
	    !module_function(m, vaddr, &start))
		return 0;
	h = text_hash(2, m->path, strlen(m->path));
	h = text_hash(h, m->build_id, strlen(m->build_id));
	h = text_hash(h, &start, sizeof(start));
	return h ? h : 1;
}

static uint64_t function_hash(const struct site_name *n, const struct site_frame *f)
{
	uint64_t h = text_hash(1 + (uint64_t)f->declared, n->module, strlen(n->module));

	if (n->build_id)
		h = text_hash(h, n->build_id, strlen(n->build_id));
	h = text_hash(h, f->function, site_function_len(f->function));
	return h ? h : 1;
}

uint64_t address_spaces_function(struct address_spaces *s, uint32_t site, bool *exact)
{
	const struct site_name *n = address_spaces_site(s, site);
	const struct site_frame *f = NULL;

	*exact = n && n->nframes && n->frames[0].line;
	if (!n || !n->module)
		return 0;
	array_for_each (frame, n->frames, n->nframes) {
		f = frame;
		if (!f->function || !is_wrapper(f))
			break;
	}
	if (!f || !f->function || !*f->function)
		return nameless_function(s->sites[site]);
	return function_hash(n, f);
}

uint64_t address_spaces_outer_function(struct address_spaces *s, uint32_t site)
{
	const struct site_name *n = address_spaces_site(s, site);
	const struct site_frame *f = n && n->nframes ? &n->frames[n->nframes - 1] : NULL;

	if (!n || !n->module)
		return 0;
	return f && f->function && *f->function ? function_hash(n, f)
						: nameless_function(s->sites[site]);
}

uint64_t address_spaces_line(struct address_spaces *s, uint32_t site, uint32_t depth)
{
	const struct site_name *n = address_spaces_site(s, site);
	const struct site_frame *f;
	uint32_t inner = 0;
	uint64_t h;

	if (!n || !n->nframes)
		return 0;
	while (inner + 1 < n->nframes && is_wrapper(&n->frames[inner]))
		inner++;
	if (depth == ADDRESS_SPACE_INNERMOST)
		depth = n->nframes - 1 - inner;
	if (depth > n->nframes - 1 - inner)
		return 0;
	f = &n->frames[n->nframes - 1 - depth];
	if (!f->file || !f->line)
		return 0;
	h = text_hash(f->line, f->file, strlen(f->file));
	return h ? h : 1;
}

/* Return whether the call is in a function that was inlined into another function. */
static bool is_inlined(struct address_spaces *s, uint32_t site)
{
	const struct site_name *n = address_spaces_site(s, site);
	uint32_t i = 0;

	while (n && i < n->nframes && is_wrapper(&n->frames[i]))
		i++;
	return n && i + 1 < n->nframes;
}

/* Find the function around a call site: its linked address and its size. */
static bool extent(const struct site *site, struct elf_symbol *around)
{
	uint64_t vaddr;

	return site->module && site->module->is_elf &&
	       !module_offset_to_vaddr(site->module, site->offset, &vaddr) &&
	       module_around(site->module, vaddr, around);
}

bool address_spaces_of_std(struct address_spaces *s, uint32_t site)
{
	const struct site_name *n = address_spaces_site(s, site);

	/* site_look_up() leaves out the library's frames if another frame follows. */
	return n && n->nframes && n->frames[0].function &&
	       function_name_of_cxx_library(n->frames[0].function);
}

bool address_spaces_compact(struct address_spaces *s, uint32_t a, uint32_t b)
{
	struct elf_symbol fa, fb;
	uint64_t line = address_spaces_line(s, a, 0);

	if (line && line == address_spaces_line(s, b, 0))
		return true;
	if (is_inlined(s, a) || is_inlined(s, b) || a >= s->nsites || b >= s->nsites)
		return false;
	if (s->sites[a]->compact && s->sites[b]->compact)
		return true;
	return extent(s->sites[a], &fa) && extent(s->sites[b], &fb) && fa.size <= COMPACT_BYTES &&
	       fb.size <= COMPACT_BYTES;
}

bool address_spaces_small(struct address_spaces *s, uint32_t site)
{
	struct elf_symbol around;

	return site >= s->nsites || !extent(s->sites[site], &around) ||
	       around.size <= COMPACT_BYTES;
}

bool address_spaces_tiny(struct address_spaces *s, uint32_t site)
{
	struct elf_symbol around;

	return site < s->nsites && !is_inlined(s, site) && extent(s->sites[site], &around) &&
	       around.size <= TINY_BYTES;
}

static const char *rule_name(const struct address_spaces *s, uint32_t site,
			     const struct site_name *n)
{
	const struct site *at = site < s->nsites ? s->sites[site] : NULL;
	const char *name;
	uint64_t vaddr;

	if (!at || !at->module || !at->module->is_elf)
		return NULL;
	/*
	 * A rule for a function such as syscall() would trace all waits, not only those of this
	 * barrier.
	 */
	if (at->module->c_library || module_offset_to_vaddr(at->module, at->offset, &vaddr) ||
	    module_is_wrapper(at->module, vaddr))
		return NULL;
	name = n->frames[n->nframes - 1].function;
	return name && module_knows_ends(at->module, name) ? name : NULL;
}

const char *address_spaces_rule_name(struct address_spaces *s, uint32_t site)
{
	const struct site_name *n = address_spaces_site(s, site);

	return n && n->nframes && !is_inlined(s, site) ? rule_name(s, site, n) : NULL;
}

const char *address_spaces_rule_name_around(struct address_spaces *s, uint32_t site)
{
	const struct site_name *n = address_spaces_site(s, site);

	return n && n->nframes == 2 ? rule_name(s, site, n) : NULL;
}

void address_spaces_set_through(struct address_spaces *s, uint32_t site, const char *function)
{
	struct site_name *name = site < s->nsites ? &s->sites[site]->name : NULL;

	if (name && !name->through)
		name->through = address_spaces_keep(s, function);
}
