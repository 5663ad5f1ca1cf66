// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "sites/module.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "sites/exits.h"
#include "sites/sdt.h"
#include "sites/outlined.h"
#include "sites/signature.h"

/* The longest function that is looked at as a whole to choose where in it a probe sits. */
#define FUNCTION_MAX 16384

struct modules {
	struct rules *rules; /* the user's; NULL none */
	struct rules known;
	struct symbol_server *symbols;
	struct progress *progress;
	bool only_pthread;
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

static void module_free(struct module *m)
{
	if (!m)
		return;
	elf_close(m->elf);
	if (m->fd >= 0)
		close(m->fd);
	free(m->places);
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
	rules_free(&modules->known);
	free(modules);
}

int modules_new(struct rules *rules, struct symbol_server *symbols, struct modules **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->rules = rules;
	(*out)->symbols = symbols;
	if (!rules_add_known(&(*out)->known))
		return 0;
	modules_free(*out);
	*out = NULL;
	return -ENOMEM;
}

/* The function as far as it is known: where a branch leads decides where a probe may sit. */
static size_t function_bytes(const struct module *m, const struct elf_symbol *symbol,
			     const uint8_t **bytes)
{
	size_t len = symbol->size && symbol->size < FUNCTION_MAX ? symbol->size : 64;

	return elf_bytes(m->elf, symbol->offset, len, bytes);
}

/*
 * A runtime's functions often end by a jump into another one. What a thread returns from there by is its stack
 * pointer's business: the programs look at that. Not so with the body of a parallel region, where that other one may
 * be called a million times: there only what is jumped to on a condition is followed, which is a cold part of the
 * same. Nor with the C library's.
 */
static enum exits_follow follow_of(const struct family_function *function)
{
	switch (function->family) {
	case SBT_FAMILY_PTHREAD:
	case SBT_FAMILY_COND:
		return EXITS_FOLLOW_NONE;
	case SBT_FAMILY_GOMP:
	case SBT_FAMILY_LIBOMP:
		return function->role == SBT_ROLE_OUTLINED ? EXITS_FOLLOW_COLD
							   : EXITS_FOLLOW_OUTSIDE;
	case SBT_FAMILY_MPI:
		return EXITS_FOLLOW_OUTSIDE;
	default:
		return EXITS_FOLLOW_ALL;
	}
}

static void find_exits(struct module *m, const struct elf_symbol *symbol,
		       struct module_place *place)
{
	struct exits exits;

	exits_find(m->elf, m->traits.machine, symbol, follow_of(place->function), &exits);
	place->nexits = exits.n;
	memcpy(place->exits, exits.at, exits.n * sizeof(exits.at[0]));
	snprintf(place->exits_why, sizeof(place->exits_why), "%s", exits.why);
	/* Of two functions, the end of the second is told by its place alone. */
	if (place->end && exits.parts > 1) {
		place->nexits = 0;
		snprintf(place->exits_why, sizeof(place->exits_why),
			 "it ends by jumping to another function");
	}
}

static int tell_place(const struct module *m, struct module_place *place)
{
	int err = family_spec(place->function, m->traits.machine, &place->spec);

	/* Where the function begins is what regions are told apart by. */
	if (place->spec.role == SBT_ROLE_OUTLINED)
		place->spec.words =
			(struct sbt_arg){ .how = SBT_ARG_CONST, .disp = place->entry.skip };
	return err;
}

/* Another name of a place that is known? The name that comes first in the table is shown. */
static bool place_known(struct module *m, const struct family_function *function,
			const struct elf_symbol *symbol)
{
	uint32_t i;

	for (i = 0; i < m->nplaces; i++) {
		struct module_place *p = &m->places[i];

		if (p->start != symbol->offset || p->end || p->function->role != function->role)
			continue;
		/* The user's own rows are not of the table. */
		if (!function->rule && !p->function->rule && function < p->function) {
			p->function = function;
			p->error = tell_place(m, p);
		}
		return true;
	}
	return false;
}

/* NULL: out of memory, or absurdly many. */
static struct module_place *place_new(struct module *m)
{
	struct module_place *places;

	if (m->nplaces == MODULE_PLACES_MAX)
		return NULL;
	if (!(m->nplaces & (m->nplaces - 1))) {
		places = realloc(m->places, (m->nplaces ? 2 * m->nplaces : 1) * sizeof(*places));
		if (!places)
			return NULL;
		m->places = places;
	}
	memset(&m->places[m->nplaces], 0, sizeof(*places));
	return &m->places[m->nplaces++];
}

/* Of a barrier of the thread's team nothing is read but where it was called from. */
static bool reads_arguments(const struct family_function *f)
{
	return f->object.how != SBT_ARG_TEAM || f->words.how != SBT_ARG_NONE ||
	       f->index.how != SBT_ARG_NONE || f->what.how != SBT_ARG_NONE;
}

static void add_place(struct module *m, const struct family_function *function, const char *name,
		      const struct elf_symbol *symbol)
{
	struct module_place *place;
	const uint8_t *bytes;
	size_t len;

	if (place_known(m, function, symbol))
		return;
	place = place_new(m);
	if (!place)
		return;
	place->function = function;
	snprintf(place->symbol, sizeof(place->symbol), "%.*s", (int)strcspn(name, "@"), name);
	place->start = symbol->offset;
	len = function_bytes(m, symbol, &bytes);
	place->error = (reads_arguments(function) ? insn_choose_entry : insn_choose_late)(
		m->traits.machine, bytes, len, &place->entry);
	if (!place->error)
		place->error = tell_place(m, place);
	place->offset = symbol->offset + place->entry.skip;
	find_exits(m, symbol, place);
	if (!place->nexits)
		place->spec.flags |= SBT_SPEC_NO_EXITS;
	m->c_library |= function->family == SBT_FAMILY_PTHREAD;
	m->mpi |= function->family == SBT_FAMILY_MPI;
	m->runtime |= !m->traits.executable && (function->family == SBT_FAMILY_GOMP ||
						function->family == SBT_FAMILY_LIBOMP);
}

/* --- what the user named ------------------------------------------------------------------------- */

bool module_function(const struct module *m, uint64_t vaddr, uint64_t *start)
{
	struct elf_symbol around;

	if (!m->elf || !exits_function_around(m->elf, vaddr, &around))
		return false;
	*start = around.vaddr;
	return true;
}

/* The first of two functions, without the second: who came would never be seen to go. */
static void drop_endless(struct module *m)
{
	uint32_t i, j, ends, known;

	for (i = 0; i < m->nplaces; i++) {
		struct module_place *p = &m->places[i];

		if (p->end || p->error || !(p->spec.flags & SBT_SPEC_PAIR))
			continue;
		for (j = ends = known = 0; j < m->nplaces; j++) {
			if (!m->places[j].end || m->places[j].spec.rule != p->spec.rule)
				continue;
			ends++;
			known += m->places[j].nexits > 0;
		}
		/* One of the user's may end in another file. */
		if (known || (!ends && p->function->family == SBT_FAMILY_USER))
			continue;
		p->error = -ENOTSUP;
		snprintf(p->entry.why, sizeof(p->entry.why),
			 ends ? "where the function that ends it returns cannot be known"
			      : "the function that ends it is not there: it was inlined");
	}
}

static bool has_begin(const struct module *m, uint32_t rule)
{
	uint32_t i;

	for (i = 0; i < m->nplaces; i++)
		if (!m->places[i].end && m->places[i].spec.rule == rule)
			return true;
	return false;
}

/* The same the other way round: where compilers inlined the first, the second's end costs and tells nothing. */
static void drop_beginless(struct module *m)
{
	uint32_t i, kept = 0;

	for (i = 0; i < m->nplaces; i++) {
		const struct module_place *p = &m->places[i];

		if (!p->end || p->function->family == SBT_FAMILY_USER || has_begin(m, p->spec.rule))
			m->places[kept++] = *p;
	}
	m->nplaces = kept;
}

static bool has_std(const struct module *m)
{
	uint32_t i;

	for (i = 0; i < m->nplaces; i++)
		if (m->places[i].spec.family == SBT_FAMILY_STD)
			return true;
	return false;
}

/* What libstdc++ keeps for std::barrier, std::latch, std::atomic::wait() and semaphores to sleep on. */
static bool has_waiter_pool(const struct module *m)
{
	uint64_t vaddr;

	return !elf_find_object(m->elf, "_ZZNSt8__detail18__waiter_pool_base6_S_forEPKvE3__w",
				&vaddr);
}

struct names {
	struct modules *modules;
	struct module *module;
};

static bool read_name(void *ctx, const char *raw, char *name, size_t size)
{
	const struct names *n = ctx;

	return n->modules->symbols &&
	       symbol_source_name(n->modules->symbols, n->module->fd, raw, name, size);
}

/* Has the function no argument, so that there can be no object? What is not known is taken to be no. */
static bool has_no_argument(struct names *n, const char *name, const struct elf_symbol *symbol)
{
	char source[SYMBOL_NAME_MAX];
	uint32_t parameters;
	size_t len;

	if (!n->modules->symbols)
		return false;
	if (symbol_parameters(n->modules->symbols, n->module->fd, n->module->path, symbol->vaddr,
			      &parameters))
		return !parameters;
	/* A C++ function outside all classes: its name tells. */
	if (strncmp(name, "_Z", 2) != 0 || !read_name(n, name, source, sizeof(source)))
		return false;
	len = strlen(source);
	return len > 2 && !strcmp(source + len - 2, "()") && !strstr(source, "::");
}

static void add_user_place(struct names *n, struct rule *rule, bool end, const char *name,
			   const struct elf_symbol *symbol)
{
	struct module *m = n->module;
	struct module_place *place;
	const uint8_t *bytes;
	size_t len;
	uint32_t i;

	for (i = 0; i < m->nplaces; i++) {
		place = &m->places[i];
		if (place->start == symbol->offset && place->end == end &&
		    (!end || place->function->rule == rule->by_argument.rule)) {
			rule->at[end].found += place->function->rule != rule->by_argument.rule;
			return;
		}
	}
	place = place_new(m);
	if (!place)
		return;
	rule->at[end].found++;
	place->end = end;
	place->for_all = rule->object == RULE_OBJECT_ALL ||
			 (rule->object == RULE_OBJECT_AUTO && !rule->pair &&
			  has_no_argument(n, name, symbol));
	place->function = place->for_all ? &rule->for_all : &rule->by_argument;
	if (!read_name(n, name, place->symbol, sizeof(place->symbol)))
		snprintf(place->symbol, sizeof(place->symbol), "%.*s", (int)strcspn(name, "@"),
			 name);
	place->start = symbol->offset;
	place->offset = symbol->offset;
	if (!end) {
		len = function_bytes(m, symbol, &bytes);
		place->error = insn_choose_entry(m->traits.machine, bytes, len, &place->entry);
		place->offset += place->entry.skip;
	}
	if (!place->error)
		place->error = family_spec(place->function, m->traits.machine, &place->spec);
	if (end || !rule->pair)
		find_exits(m, symbol, place);
}

/* A part of a function, or one with other arguments than its name says. */
static bool is_clone(const char *name)
{
	return strstr(name, ".cold") || strstr(name, ".part.") || strstr(name, ".isra.") ||
	       strstr(name, ".constprop.");
}

static void take_ruled(struct names *n, struct rules *rules, const char *name,
		       const struct elf_symbol *symbol)
{
	size_t i;
	int end;

	for (i = 0; rules && i < rules->n; i++) {
		struct rule *rule = rules->all[i];

		if (!rule_takes_file(rule, n->module->path, n->module->traits.soname))
			continue;
		if (rule->raw && is_clone(name))
			continue;
		for (end = 0; end < 1 + rule->pair; end++)
			if (rule_takes_symbol(&rule->at[end], name, rule->raw ? NULL : read_name,
					      n))
				add_user_place(n, rule, end, name, symbol);
	}
}

/* Addresses need no symbol: a stripped function has none. */
static void take_addresses(struct names *n)
{
	struct rules *rules = n->modules->rules;
	struct module *m = n->module;
	size_t i;
	int end;

	for (i = 0; rules && i < rules->n; i++) {
		struct rule *rule = rules->all[i];

		for (end = 0; end < 1 + rule->pair; end++) {
			struct elf_symbol symbol = { .vaddr = rule->at[end].vaddr };
			struct elf_symbol around;
			char name[32];

			if (rule->at[end].name ||
			    !rule_takes_file(rule, m->path, m->traits.soname) ||
			    elf_vaddr_to_offset(m->elf, symbol.vaddr, &symbol.offset))
				continue;
			/* In the midst of a function the stack is not as at a call. */
			if (exits_function_around(m->elf, symbol.vaddr, &around)) {
				if (around.vaddr != symbol.vaddr)
					continue;
				symbol.size = around.size;
			}
			snprintf(name, sizeof(name), "0x%llx", (unsigned long long)symbol.vaddr);
			add_user_place(n, rule, end, name, &symbol);
		}
	}
}

/* --- the table ------------------------------------------------------------------------------------ */

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

static void add_maker(struct module *m, const struct elf_symbol *symbol)
{
	uint64_t entry = find_entry(m, symbol);
	uint32_t i;

	for (i = 0; i < m->nmakers && m->makers[i] != entry; i++)
		;
	if (entry && i == m->nmakers && m->nmakers < MODULE_MAKERS_MAX)
		m->makers[m->nmakers++] = entry;
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
	const struct family_function *f = family_function("pthread_barrier_wait", NULL);
	struct signature found;

	if (!f || signature_find(m->elf, m->traits.machine, &found))
		return;
	add_place(m, f, f->symbol, &found.wait);
	if (!m->c_library)
		return;
	say_found_by_code(&m->places[m->nplaces - 1]);
	/* The code tells whose it is better than a note, which may have been taken away too. */
	m->traits.glibc = !found.musl;
	m->traits.musl = found.musl;
	if (found.init.vaddr)
		add_maker(m, &found.init);
}

/* Functions may share them. */
static void add_exit(struct module_waits *w, uint64_t exit)
{
	uint32_t i;

	for (i = 0; i < w->nexits && w->exits[i] != exit; i++)
		;
	if (i == w->nexits)
		w->exits[w->nexits++] = exit;
}

/*
 * No return probe will do, for any of them may be cancelled: without exits there is no probe. Versions of one function
 * may share an address; one that jumps into another has no exits, and is seen as the other.
 */
static void add_wait(struct module *m, const struct family_function *function, const char *name,
		     const struct elf_symbol *symbol)
{
	bool wakes = function->role == SBT_ROLE_COND_WAKE;
	bool joins = function->family == SBT_FAMILY_FORKJOIN;
	struct module_waits *w = joins ? &m->joins : wakes ? &m->wakes : &m->waits;
	struct module_place place = { .function = function };
	uint64_t entry = find_entry(m, symbol);
	struct sbt_spec spec;
	uint32_t i;

	for (i = 0; i < w->nentries && w->entries[i] != entry; i++)
		;
	if (!entry || i < w->nentries || i == MODULE_WAITS_MAX ||
	    family_spec(function, m->traits.machine, &spec))
		return;
	/* One that finds its thread otherwise calls one of those. */
	if (w->nentries && memcmp(&spec, &w->spec, sizeof(spec)) != 0)
		return;
	w->spec = spec;
	if (!wakes) {
		find_exits(m, symbol, &place);
		if (!place.nexits) {
			snprintf(w->why, sizeof(w->why), "%.40s: %s", name, place.exits_why);
			return;
		}
	}
	w->entries[w->nentries++] = entry;
	for (i = 0; i < place.nexits; i++)
		add_exit(w, place.exits[i]);
}

static int take_symbol(void *ctx, const char *name, const struct elf_symbol *symbol)
{
	struct names *n = ctx;
	struct module *m = n->module;
	const struct family_function *f = NULL;

	while ((f = family_function(name, f))) {
		if (f->role == SBT_ROLE_MAKER)
			add_maker(m, symbol);
		else if (f->role == SBT_ROLE_COND_WAIT || f->role == SBT_ROLE_COND_WAKE)
			add_wait(m, f, name, symbol);
		else
			add_place(m, f, name, symbol);
	}
	return 0;
}

static void mark_arg(const struct module *m, const struct sdt_note *note, int8_t number,
		     struct sbt_arg *out)
{
	if (number >= 0)
		sdt_probe_arg(m->traits.machine, note, (uint32_t)number, out);
}

/* A marker of include/sbt/sbt.h: an instruction in the midst of a function, which is a nop. */
static void add_mark(struct module *m, const struct sdt_note *note)
{
	const struct family_function *mark = family_mark(note->name);
	const struct family_mark_args *args = mark ? family_mark_args(mark) : NULL;
	struct module_place *place = args ? place_new(m) : NULL;
	const uint8_t *bytes;
	size_t len;

	if (!place)
		return;
	place->function = mark;
	snprintf(place->symbol, sizeof(place->symbol), "sbt:%s", note->name);
	place->start = place->offset = note->offset;
	len = elf_bytes(m->elf, note->offset, 16, &bytes);
	insn_decode(m->traits.machine, bytes, len, &place->entry.insn);
	snprintf(place->entry.why, sizeof(place->entry.why), "a marker, on %s",
		 place->entry.insn.text);
	if (place->entry.insn.class != INSN_EMULATED && place->entry.insn.class != INSN_STEPPED)
		place->error = -ENOTSUP;
	place->spec.family = mark->family;
	place->spec.kind = mark->kind;
	place->spec.role = mark->role;
	place->spec.words_offset = SBT_WORDS_NONE;
	mark_arg(m, note, args->object, &place->spec.object);
	mark_arg(m, note, args->index, &place->spec.index);
	mark_arg(m, note, args->file, &place->spec.file);
	mark_arg(m, note, args->line, &place->spec.line);
	mark_arg(m, note, args->name, &place->spec.name);
	mark_arg(m, note, args->what, &place->spec.what);
	mark_arg(m, note, args->words, &place->spec.words);
}

static void find_marks(struct module *m)
{
	struct sdt_list notes;
	size_t i;

	if (sdt_read(m->elf, "sbt", &notes))
		return;
	for (i = 0; i < notes.n; i++)
		add_mark(m, &notes.notes[i]);
	sdt_free(&notes);
}

static int take_user(void *ctx, const char *name, const struct elf_symbol *symbol)
{
	struct names *n = ctx;

	take_ruled(n, n->modules->rules, name, symbol);
	if (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R'))
		take_ruled(n, &n->modules->known, name, symbol);
	return 0;
}

/* Only dynamic linkers have it, as a place for debuggers to stop. */
static void find_loader(struct module *m)
{
	struct elf_symbol symbol;

	if (elf_find_function(m->elf, "_dl_debug_state", &symbol, 1) > 0)
		m->loader = find_entry(m, &symbol);
}

/* Adds to where a runtime's calls of regions' functions return to. */
static void add_returns(struct module *m, uint8_t family, const struct returns *found)
{
	uint32_t i, j;

	if (!found->n || found->n > RETURNS_MAX - m->returns.n)
		return;
	for (i = 0; i < found->n; i++) {
		for (j = 0; j < m->returns.n && m->returns.at[j] != found->at[i]; j++)
			;
		if (j == m->returns.n)
			m->returns.at[m->returns.n++] = found->at[i];
	}
	m->returned |= 1u << family;
}

/* libomp has GCC's functions, too. */
static void find_returns(struct module *m)
{
	uint64_t regions[RETURNS_MAX];
	struct elf_symbol invoke;
	struct returns found;
	uint32_t i, n = 0;

	for (i = 0; i < m->nplaces; i++) {
		const struct family_function *f = m->places[i].function;

		if (f->role != SBT_ROLE_REGION)
			continue;
		m->regions |= 1u << f->family;
		if (f->family == SBT_FAMILY_GOMP && n < RETURNS_MAX &&
		    !elf_offset_to_vaddr(m->elf, m->places[i].start, &regions[n]))
			n++;
	}
	if (n) {
		returns_find(m->elf, m->traits.machine, regions, n, 0, &found);
		add_returns(m, SBT_FAMILY_GOMP, &found);
	}
	/* All of libomp's threads run them by one function, to which a pointer is passed on many times. */
	if ((m->regions & 1u << SBT_FAMILY_LIBOMP) &&
	    elf_find_function(m->elf, "__kmp_invoke_microtask", &invoke, 1) > 0) {
		returns_find(m->elf, m->traits.machine, NULL, 0, invoke.vaddr, &found);
		add_returns(m, SBT_FAMILY_LIBOMP, &found);
	}
}

static void examine(struct modules *modules, struct module *m)
{
	struct names n = { modules, m };
	size_t i;

	m->error = elf_open(m->fd, &m->elf);
	if (m->error)
		return;
	elf_traits(m->elf, &m->traits);
	for (i = 0; i < m->traits.build_id_len; i++)
		snprintf(m->build_id + 2 * i, 3, "%02x", m->traits.build_id[i]);
	elf_each_function(m->elf, take_symbol, &n);
	find_marks(m);
	/* Behind the table's rows: what both name is traced as what it is. */
	elf_each_function(m->elf, take_user, &n);
	take_addresses(&n);
	drop_endless(m);
	drop_beginless(m);
	m->tbb = !strncmp(m->traits.soname, "libtbb.so", strlen("libtbb.so"));
	find_returns(m);
	m->inlined_waits = !has_std(m) && has_waiter_pool(m);
	if (!m->c_library && is_nameless(m))
		find_by_code(m);
	find_loader(m);
}

int module_find_outlined(struct module *m, uint8_t family, uint64_t offset, uint64_t caller)
{
	const struct family_function *row = family_outlined(family);
	uint32_t i;
	struct outlined found;
	uint64_t vaddr;
	int err;

	if (!m->elf || !row || elf_offset_to_vaddr(m->elf, offset, &vaddr))
		return -ENOENT;
	if (caller && elf_offset_to_vaddr(m->elf, caller, &caller))
		caller = 0;
	err = outlined_find(m->elf, m->traits.machine, vaddr, caller, &found);
	for (i = 0; i < found.n; i++)
		add_place(m, row, "(function of a parallel region)", &found.functions[i]);
	free(found.functions);
	return err;
}

static struct module *module_find(const struct modules *modules, uint32_t dev, uint64_t ino)
{
	struct module key = { .dev = dev, .ino = ino };
	struct module *const *found = tfind(&key, &modules->tree, compare);

	return found ? *found : NULL;
}

void modules_set_progress(struct modules *modules, struct progress *progress)
{
	modules->progress = progress;
}

void modules_only_pthread(struct modules *modules)
{
	modules->only_pthread = true;
}

/* What is left is told to nobody: regions and waits go with their barriers. */
static void keep_pthread(struct module *m)
{
	uint32_t i, kept = 0;

	for (i = 0; i < m->nplaces; i++) {
		if (m->places[i].spec.family != SBT_FAMILY_PTHREAD) {
			m->left_out |= 1u << m->places[i].spec.family;
			continue;
		}
		m->places[i].spec.less_one = m->traits.musl && !m->traits.glibc;
		if (i != kept)
			m->places[kept] = m->places[i];
		kept++;
	}
	m->nplaces = kept;
	m->regions = m->returned = 0;
	m->returns.n = 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
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
		progress_begin(modules->progress, "reading %s", base_name(path));
		examine(modules, m);
		if (modules->only_pthread)
			keep_pthread(m);
		progress_end(modules->progress);
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

struct module *modules_open(struct modules *modules, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct module *m;
	struct stat st;
	uint32_t dev;
	char *real;

	if (fd >= 0 && !fstat(fd, &st) && !S_ISREG(st.st_mode)) {
		close(fd);
		fd = -1;
		errno = ENOEXEC;
	}
	if (fd < 0)
		return module_add(modules, -errno, path, UINT32_MAX, (uint64_t)modules->n);
	dev = (uint32_t)major(st.st_dev) << 20 | minor(st.st_dev);
	m = module_find(modules, dev, st.st_ino);
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
