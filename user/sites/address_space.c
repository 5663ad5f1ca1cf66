// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "sites/address_space.h"

#include <errno.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/number.h"
#include "base/text.h"
#include "sites/address_space_internal.h"
#include "sites/untraced.h"
#include "target/linker.h"
#include "sites/family.h"

/* After a search for code at a sample, the next one waits this many times as long as it took. */
#define SEE_RARELY 100

struct object_name {
	const struct module *module;
	uint64_t vaddr;
	char *name; /* NULL: looked up, but not found */
};

/* --- address spaces --------------------------------------------------------------------------- */

static int compare_address_spaces(const void *a, const void *b)
{
	const struct address_space *x = a, *y = b;

	if (x->tgid != y->tgid)
		return NUMBER_COMPARE(x->tgid, y->tgid);
	return NUMBER_COMPARE(x->inc, y->inc);
}

static int compare_objects(const void *a, const void *b)
{
	const struct object_name *x = a, *y = b;

	if (x->module != y->module)
		return NUMBER_COMPARE((uintptr_t)x->module, (uintptr_t)y->module);
	return NUMBER_COMPARE(x->vaddr, y->vaddr);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(a, b);
}

int address_spaces_new(struct modules *modules, struct symbol_server *symbols,
		       struct address_spaces **out)
{
	struct address_spaces *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->modules = modules;
	s->symbols = symbols;
	*out = s;
	return 0;
}

void address_spaces_set_changes(struct address_spaces *s,
				int (*changes)(void *ctx, uint32_t tgid, uint32_t inc, uint32_t *n),
				void *ctx)
{
	s->changes = changes;
	s->changes_ctx = ctx;
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

static void address_space_free(struct address_spaces *s, struct address_space *space)
{
	python_functions_free(s, space);
	maps_free(&space->maps);
	maps_free(&space->looked);
	free(space);
}

void address_spaces_free(struct address_spaces *s)
{
	size_t i;

	if (!s)
		return;
	sites_free(s);
	address_space_notes_free(s);
	tdestroy(s->address_space_tree, nothing);
	tdestroy(s->object_tree, object_free);
	tdestroy(s->text_tree, free);
	for (i = 0; i < s->nspaces; i++)
		address_space_free(s, s->spaces[i]);
	free(s->spaces);
	free(s);
}

struct address_space *address_space_find(const struct address_spaces *s, uint32_t tgid,
					 uint32_t inc)
{
	struct address_space key = { .tgid = tgid, .inc = inc };
	struct address_space *const *found =
		tfind(&key, &s->address_space_tree, compare_address_spaces);

	return found ? *found : NULL;
}

struct address_space *address_space_get(struct address_spaces *s, uint32_t tgid, uint32_t inc)
{
	struct address_space *space = address_space_find(s, tgid, inc);

	if (space)
		return space;
	if (grow(s->spaces, s->cap_spaces, s->nspaces + 1))
		return NULL;
	space = calloc(1, sizeof(*space));
	if (!space)
		return NULL;
	space->tgid = tgid;
	space->inc = inc;
	if (!tsearch(space, &s->address_space_tree, compare_address_spaces)) {
		free(space);
		return NULL;
	}
	s->spaces[s->nspaces++] = space;
	return space;
}

void address_spaces_forget(struct address_spaces *s, uint32_t tgid, uint32_t inc)
{
	struct address_space *space = address_space_find(s, tgid, inc);
	size_t i;

	if (!space)
		return;
	tdelete(space, &s->address_space_tree, compare_address_spaces);
	for (i = 0; s->spaces[i] != space; i++)
		;
	s->spaces[i] = s->spaces[--s->nspaces];
	address_space_free(s, space);
}

/*
 * Return the file of the program, or NULL if it is unknown. If the kernel did not report the file,
 * find it among the mappings.
 */
static const struct module *program_of(const struct address_spaces *s,
				       const struct address_space *space)
{
	const struct module *m = modules_find(s->modules, space->program.dev, space->program.ino);
	size_t i;

	for (i = 0; i < space->maps.n && !(m && m->traits.executable); i++)
		if (space->maps.entries[i].exec && space->maps.entries[i].ino)
			m = modules_find(s->modules, space->maps.entries[i].dev,
					 space->maps.entries[i].ino);
	return m && m->traits.executable ? m : NULL;
}

static uint64_t hash_text(uint64_t h, const char *text)
{
	return text ? text_hash(h, text, strlen(text) + 1) : text_hash(h, "", 1);
}

uint64_t address_space_program_key(struct address_spaces *s, const struct address_space *space)
{
	const struct module *m = program_of(s, space);
	bool tasks = address_space_tasks(s, space);
	uint64_t h = TEXT_HASH_INIT;

	if (m) {
		h = hash_text(h, m->path);
		h = hash_text(h, m->build_id);
		h = text_hash(h, &m->dev, sizeof(m->dev));
		h = text_hash(h, &m->ino, sizeof(m->ino));
	}
	/*
	 * A report merges processes with the same key, so the key includes everything that a report
	 * says about a process.
	 */
	h = hash_text(h, space->refusal);
	h = hash_text(h, address_space_untraced(s, space));
	h = text_hash(h, &tasks, sizeof(tasks));
	return h ? h : 1;
}

int address_space_inherit(struct address_space *child, const struct address_space *parent)
{
	int err = 0;

	if (!child->read && !child->maps.n)
		err = maps_copy(&parent->maps, &child->maps);
	child->program = parent->program;
	child->libc = parent->libc;
	child->has_probe_site = parent->has_probe_site;
	child->by_exit = parent->by_exit;
	memcpy(child->stepped, parent->stepped, sizeof(child->stepped));
	child->exit_detection = parent->exit_detection;
	child->refusal = parent->refusal;
	child->untraced = parent->untraced;
	return err;
}

/*
 * Return whether this is a run-time library that always imports signal functions. Its imports then
 * say nothing about the program.
 */
static bool runtime_library(const struct module *m)
{
	static const char *const names[] = { "libgcc_s.so", "libm.so",	    "libc++abi.so",
					     "libc.musl",   "libunwind.so", "libasan.so",
					     "libtsan.so" };
	size_t i;

	if ((m->loader && !m->traits.interp[0]) ||
	    family_library_has(m->traits.soname, FAMILY_LIBC_OBJECT | FAMILY_OPENMP | FAMILY_CXX))
		return true;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strncmp(m->traits.soname, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

/*
 * Return why return probes could break the process, or NULL. A return probe replaces the return
 * address on the stack by an address of the kernel. An unwinder that finds this address gives up.
 * Three cases are dangerous: threads that can be cancelled at any instant unwind out of a wait; an
 * exception that a signal handler throws also unwinds; Go moves its stacks.
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

/* What the files that a process has mapped show, added up file by file. */
struct classified {
	struct address_space_facts facts;
	bool go, setcanceltype, throws, signals, interp;
	/*
	 * Files other than the program and its dynamic linker are mapped, or the linker is also the
	 * C library (musl).
	 */
	bool beyond;
};

static void classify_module(struct classified *j, const struct module *m)
{
	bool program;

	j->facts.has_probe_site |= m->nplaces > 0;
	if (m->c_library)
		j->facts.libc = family_libc_of(m->traits.glibc, m->traits.musl);
	j->go |= m->traits.go;
	j->throws |= m->traits.imports_throw;
	/*
	 * The symbols of a static program include the symbols of its libraries. The program may use
	 * all of them.
	 */
	program = !m->c_library || (m->traits.executable && !m->traits.dynamic);
	if (program && !runtime_library(m)) {
		j->setcanceltype |= m->traits.imports_setcanceltype;
		j->signals |= m->traits.imports_signal;
	}
	j->interp |= m->traits.executable && m->traits.interp[0];
	/* The program needs only known libraries, although they may not be mapped yet. */
	j->facts.decided |= m->traits.executable && m->traits.plain_libraries;
	j->beyond |= (!m->loader && !m->traits.executable) || (m->loader && m->c_library);
}

static struct address_space_facts classify_end(struct classified *j, bool partial)
{
	struct address_space_facts *facts = &j->facts;

	facts->settled = !j->interp || (j->beyond && !partial);
	facts->refusal = return_probe_refusal(j->go, j->setcanceltype, j->throws, j->signals);
	/* If exits get probes, the libraries that contain the exits must be mapped first. */
	facts->decided = facts->settled || (facts->decided && !facts->refusal);
	return *facts;
}

struct address_space_facts address_spaces_classify(struct address_spaces *s, int pid,
						   const struct maps *maps, bool partial)
{
	struct classified classified = { .beyond = false };

	array_for_each (e, maps->entries, maps->n) {
		const struct module *m;

		if (!e->exec)
			continue;
		m = modules_get(s->modules, pid, e);
		if (m && m->is_elf)
			classify_module(&classified, m);
	}
	return classify_end(&classified, partial);
}

struct address_space_facts address_spaces_classify_files(struct module *const files[], size_t n)
{
	struct classified classified = { .beyond = false };
	size_t i;

	for (i = 0; i < n; i++)
		if (files[i]->is_elf)
			classify_module(&classified, files[i]);
	return classify_end(&classified, false);
}

/*
 * Return whether the process still runs the program of the address space. Return true if the kernel
 * did not report the program's addresses.
 */
static bool still_runs(const struct address_space *space)
{
	const struct proc_image *was = &space->program.image;
	struct proc_image is;
	int err;

	if (!was->code)
		return true;
	err = proc_image((int)space->tgid, &is);
	if (err)
		return err != -ESRCH;
	return is.code == was->code && is.code_end == was->code_end && is.stack == was->stack;
}

int address_space_look(struct address_spaces *s, struct address_space *space)
{
	/*
	 * Check the dynamic linker before the mappings are read: if it is not busy now, the
	 * mappings will contain all files.
	 */
	bool partial = linker_busy((int)space->tgid) == 1;
	struct maps maps;
	int err = maps_read((int)space->tgid, &maps);

	if (err)
		return err;
	if (!maps.n) {
		/* A zombie has no mappings: keep the known mappings. */
		maps_free(&maps);
		return -ESRCH;
	}
	if (!still_runs(space)) {
		/*
		 * Addresses have another meaning in the new program, and a missing name is better
		 * than a wrong name.
		 */
		maps_free(&maps);
		space->gone = true;
		return -ESTALE;
	}
	maps_free(&space->looked);
	space->looked = maps;
	space->partial = partial;
	/*
	 * Read the count of changes last. The count may then include changes that are not in the
	 * mappings, but it never misses a change that is in them.
	 */
	if (!s->changes ||
	    s->changes(s->changes_ctx, space->tgid, space->inc, &space->looked_changes))
		space->looked_changes = space->changes;
	return 0;
}

/*
 * Mark the mappings that were added after the program was completely loaded. Libraries that the
 * program was linked with stay mapped until it exits. A library that was loaded later may be
 * unloaded, and another one may be mapped there before the mappings are read.
 */
static void mark_late_mappings(struct address_space *space)
{
	const struct maps_entry *was;

	array_for_each (e, space->looked.entries, space->looked.n) {
		was = maps_find(&space->maps, e->start);
		if (was && was->start == e->start && was->ino == e->ino && was->dev == e->dev &&
		    was->offset == e->offset)
			e->added = was->added;
		else
			e->added = space->read && space->settled;
	}
}

void address_space_see_inherited(struct address_space *space)
{
	struct maps maps;

	if (space->read || !space->parent_tgid || maps_read((int)space->tgid, &maps))
		return;
	if (!maps.n || !still_runs(space)) {
		maps_free(&maps);
		return;
	}
	maps_free(&space->maps);
	space->maps = maps;
}

int address_space_read(struct address_spaces *s, struct address_space *space)
{
	struct address_space_facts facts;
	int err = space->looked.n ? 0 : address_space_look(s, space);

	if (err)
		return err;
	mark_late_mappings(space);
	maps_free(&space->maps);
	space->maps = space->looked;
	space->maps_changes = space->looked_changes;
	memset(&space->looked, 0, sizeof(space->looked));
	space->reads++;
	space->read = true;
	facts = address_spaces_classify(s, (int)space->tgid, &space->maps, space->partial);
	space->has_probe_site = facts.has_probe_site;
	space->settled = facts.settled;
	space->refusal = facts.refusal;
	if (facts.has_probe_site)
		space->libc = facts.libc;
	return 0;
}

/*
 * Find the lowest linked address of code. The kernel reports where this code is in the process
 * (image.code).
 */
static bool lowest_code(const struct module *m, uint64_t *vaddr)
{
	*vaddr = UINT64_MAX;
	array_for_each (s, m->segments, m->nsegments)
		if (s->exec && s->vaddr < *vaddr)
			*vaddr = s->vaddr;
	return *vaddr != UINT64_MAX;
}

int address_space_assume(struct address_spaces *s, struct address_space *space)
{
	const struct address_space_program *program = &space->program;
	const struct module *m = modules_find(s->modules, program->dev, program->ino);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start = program->image.code, lowest, below;
	struct maps maps = { 0 };

	if (space->maps.n || !start || !m || !m->is_elf || !lowest_code(m, &lowest))
		return 0;
	maps.entries = calloc(m->nsegments, sizeof(*maps.entries));
	maps.text = strdup(m->path);
	if (!maps.entries || !maps.text) {
		maps_free(&maps);
		return -ENOMEM;
	}
	/* The mappings are in the order of their addresses, as segments in the file are. */
	array_for_each (part, m->segments, m->nsegments) {
		below = part->vaddr % page;
		if (part->offset < below)
			continue; /* kernels do not map such a segment */
		maps.entries[maps.n++] = (struct maps_entry){
			.start = part->vaddr - lowest + start - below,
			.end = part->vaddr - lowest + start + part->size,
			.offset = part->offset - below,
			.ino = program->ino,
			.dev = program->dev,
			.exec = part->exec,
			.path = maps.text,
		};
	}
	space->maps = maps;
	space->reads++;
	return 0;
}

/* --- code ------------------------------------------------------------------------------------- */

const struct maps_entry *address_space_find_code(const struct address_space *space, uint64_t addr)
{
	const struct maps_entry *e = maps_find(&space->maps, addr);

	return e && e->exec && strcmp(e->path, "[uprobes]") != 0 ? e : NULL;
}

bool address_space_renew(struct address_spaces *s, struct address_space *space,
			 const struct maps_entry *e)
{
	uint32_t changes;

	if (space->gone || space->as_known || (e && e->exec && e->ino))
		return false;
	if (e && e->exec && space->read) {
		/* The kernel's own code, as the vDSO, stays where it is. */
		if (e->path[0] == '[')
			return false;
		/*
		 * This is code that the program has made. It may have been replaced by a file's,
		 * but reading the mappings at each sample in such code would be expensive.
		 */
		if (s->changes && !s->changes(s->changes_ctx, space->tgid, space->inc, &changes) &&
		    changes == space->maps_changes)
			return false;
	}
	return !address_space_read(s, space);
}

void address_space_see_code(struct address_spaces *s, struct address_space *space, uint64_t address)
{
	const struct maps_entry *e = maps_find(&space->maps, address);
	uint64_t begin, end;

	if (space->gone || (e && e->exec && (e->ino || e->path[0] == '[')))
		return;
	begin = now_ns();
	if (begin < space->see_from_ns)
		return;
	address_space_renew(s, space, e);
	end = now_ns();
	space->see_from_ns = end + SEE_RARELY * (end - begin);
}

bool address_space_code(struct address_spaces *s, struct address_space *space, uint64_t ip,
			struct address_space_code *out)
{
	const struct maps_entry *e = maps_find(&space->maps, ip - 1);

	if (address_space_renew(s, space, e))
		e = maps_find(&space->maps, ip - 1);
	memset(out, 0, sizeof(*out));
	out->module = e && e->exec && e->ino ? modules_get(s->modules, (int)space->tgid, e) : NULL;
	if (!out->module || !out->module->is_elf)
		return false;
	out->offset = ip - e->start + e->offset;
	return !module_offset_to_vaddr(out->module, out->offset - 1, &out->vaddr);
}

struct symbol_server *address_spaces_symbols(const struct address_spaces *s)
{
	return s->symbols;
}

/* --- stacks ----------------------------------------------------------------------------------- */

/*
 * Step from one frame to its caller. Return false if there is no caller, or if the caller is
 * unknown.
 */
static bool unwind_one(struct address_spaces *s, const struct address_space *space,
		       const struct maps_entry *e, const struct sbt_stack *sample,
		       const struct stack_regs *regs, uint64_t call, struct unwind_step *step)
{
	const struct module *m = e->ino ? modules_get(s->modules, (int)space->tgid, e) : NULL;
	uint64_t vaddr;

	memset(step, 0, sizeof(*step));
	if (m && m->is_elf && !module_offset_to_vaddr(m, call - e->start + e->offset, &vaddr))
		symbol_unwind(s->symbols, module_fd(m), m->path, vaddr, regs, sample, step);
	if (step->result == UNWIND_NO_RULES &&
	    stack_frame_pointer_step(sample, regs, &step->caller))
		step->result = UNWIND_CALLER;
	return step->result == UNWIND_CALLER && stack_grows(regs, &step->caller);
}

/*
 * Return the address by which the frame is named: that of the instruction itself, or an address in
 * the call before the return address.
 */
static uint64_t unwind_named(const struct sbt_stack *sample, const struct stack_regs *regs,
			     const struct unwind_step *step, bool first)
{
	uint64_t pc = regs->value[STACK_PC];
	bool stands = regs->exact || step->signal;

	/*
	 * During a system call, the pc is after the system call instruction, perhaps on the next
	 * source line.
	 */
	if (first && stack_in_syscall(sample))
		stands = false;
	return stands ? pc : pc - 1;
}

int address_space_unwind(struct address_spaces *s, struct address_space *space,
			 const struct sbt_stack *sample, uint32_t *sites, uint32_t max, uint32_t *n)
{
	const struct maps_entry *e;
	bool fresh = space->gone, more = true;
	struct unwind_step step;
	struct stack_regs regs;
	uint64_t call;
	int err;

	*n = 0;
	err = stack_first(sample, &regs);
	while (!err && more && *n < max && *n < ADDRESS_SPACE_UNWIND_MAX) {
		call = regs.value[STACK_PC] - (regs.exact ? 0 : 1);
		e = address_space_find_code(space, call);
		if (!e && !fresh && !address_space_read(s, space))
			e = address_space_find_code(space, call);
		fresh = true;
		if (!e)
			break;
		more = unwind_one(s, space, e, sample, &regs, call, &step);
		call = unwind_named(sample, &regs, &step, !*n);
		sites[*n] = site_at(s, space, maps_find(&space->maps, call), call);
		if (sites[*n] == ADDRESS_SPACE_SITE_NONE)
			err = -ENOMEM;
		else
			++*n;
		regs = step.caller;
	}
	return err;
}

bool address_spaces_has(const struct address_spaces *s, const char *text)
{
	return tfind(text, &s->text_tree, compare_texts) != NULL;
}

const char *address_spaces_keep(struct address_spaces *s, const char *text)
{
	void *const *found = tfind(text, &s->text_tree, compare_texts);
	char *copy;

	if (found)
		return *found;
	copy = strdup(text);
	if (copy && !tsearch(copy, &s->text_tree, compare_texts)) {
		free(copy);
		return NULL;
	}
	return copy;
}

const struct maps_entry *address_space_find_mapping(struct address_spaces *s,
						    struct address_space *space, uint64_t addr)
{
	const struct maps_entry *e = maps_find(&space->maps, addr);

	if (!e && !space->gone && !address_space_read(s, space))
		e = maps_find(&space->maps, addr);
	return e;
}

/* --- objects ---------------------------------------------------------------------------------- */

static const char *object_look_up(struct address_spaces *s, const struct module *m, uint64_t vaddr)
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
	if (symbol_data_name(s->symbols, module_fd(m), m->path, vaddr, name))
		object->name = strdup(name);
	if (!tsearch(object, &s->object_tree, compare_objects)) {
		object_free(object);
		return NULL;
	}
	return object->name;
}

const char *address_space_object_name(struct address_spaces *s, const struct address_space *space,
				      uint64_t addr)
{
	const char *name = NULL;
	size_t i;

	/*
	 * The variables of a module lie in a separate mapping after its code, at a distance that
	 * the linker has fixed. So ask each module whether the address belongs to one of its
	 * variables.
	 */
	for (i = 0; i < space->maps.n && !name; i++) {
		const struct maps_entry *e = &space->maps.entries[i];
		const struct module *m;
		uint64_t vaddr, bias;

		if (!e->exec || !e->ino || addr < e->start || addr - e->start > 1ull << 30)
			continue;
		m = modules_get(s->modules, (int)space->tgid, e);
		if (!m || !m->is_elf || m->c_library ||
		    module_offset_to_vaddr(m, e->offset, &vaddr))
			continue;
		bias = e->start - vaddr;
		name = object_look_up(s, m, addr - bias);
	}
	return name;
}

bool address_space_tasks(const struct address_spaces *s, const struct address_space *space)
{
	return space->tasks || (s->tasks_unseen && space->untraced.tasks);
}

void address_spaces_tasks_unseen(struct address_spaces *s)
{
	s->tasks_unseen = true;
}

static void mark_maps(const struct address_spaces *s, const struct maps *maps)
{
	struct module *m;

	array_for_each (e, maps->entries, maps->n) {
		if (!e->exec || !e->ino)
			continue;
		m = modules_find(s->modules, e->dev, e->ino);
		if (m)
			m->used = true;
	}
}

void address_spaces_mark_used(struct address_spaces *s)
{
	size_t i;

	for (i = 0; i < s->nspaces; i++) {
		struct address_space *space = s->spaces[i];

		/* The event that reports the process's exit may have been lost. */
		if (!space->gone && kill((pid_t)space->tgid, 0) && errno == ESRCH)
			space->gone = true;
		if (space->gone)
			continue;
		mark_maps(s, &space->maps);
		mark_maps(s, &space->looked);
	}
}

const char *address_space_untraced(struct address_spaces *s, const struct address_space *space)
{
	struct untraced calls = space->untraced;
	char names[UNTRACED_NAMES];

	if (space->turns == ADDRESS_SPACE_TURNS_SEEN)
		untraced_drop_turns(&calls, &space->turns_unseen);
	return *untraced_names(&calls, names) ? address_spaces_keep(s, names) : NULL;
}

const struct module *address_space_module(struct address_spaces *s,
					  const struct address_space *space,
					  const struct maps_entry *e)
{
	return e->ino ? modules_get(s->modules, (int)space->tgid, e) : NULL;
}
