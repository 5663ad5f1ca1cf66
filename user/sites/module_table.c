// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Apply the table of families to a module: find probe sites by name, by note and by code, and the
 * other functions that tracing needs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sites/module_internal.h"
#include "base/array.h"
#include "sites/outlined.h"
#include "elf/sdt.h"
#include "elf/signature.h"
#include "elf/team_size.h"
#include "sites/untraced.h"
#include "sites/family.h"
#include "symbols/python.h"

/*
 * Return the file offset of the entry probe of a function. 0: no instruction is safe to probe, or
 * the function's code cannot be read.
 */
static uint64_t find_entry(const struct module *m, const struct elf_symbol *symbol)
{
	struct insn_entry entry;
	const uint8_t *bytes;
	size_t len;

	len = module_function_bytes(m, symbol, &bytes);
	if (insn_choose_entry(m->traits.machine, bytes, len, &entry))
		return 0;
	return symbol->offset + entry.skip;
}

/* Add @offset to @all, unless @all already contains it or is full (@max offsets). */
static void add_offset(uint64_t *all, uint32_t *n, uint32_t max, uint64_t offset)
{
	uint32_t i;

	for (i = 0; i < *n && all[i] != offset; i++)
		;
	if (i == *n && i < max)
		all[(*n)++] = offset;
}

static void add_maker(struct module *m, const struct elf_symbol *symbol)
{
	uint64_t entry = find_entry(m, symbol);

	if (entry)
		add_offset(m->makers, &m->nmakers, MODULE_MAKERS_MAX, entry);
}

bool module_is_nameless(const struct module *m)
{
	const struct elf_traits *t = &m->traits;

	/* Go programs are searched in another way. */
	return t->executable && !t->dynamic && t->stripped && !t->go;
}

static void note_found_by_code(struct module_probe_site *probe_site)
{
	char why[sizeof(probe_site->entry.why)];

	memcpy(why, probe_site->entry.why, sizeof(why));
	snprintf(probe_site->entry.why, sizeof(probe_site->entry.why),
		 "found by its code, because the file has no names; %.70s", why);
	probe_site->found_by_code = true;
}

static void find_by_code(struct module *m)
{
	const struct family_function *f = family_function("pthread_barrier_wait", NULL);
	struct signature found;

	if (!f || signature_find(m->elf, m->traits.machine, &found))
		return;
	module_add_probe_site(m, f, f->symbol, &found.wait);
	if (!m->c_library)
		return;
	note_found_by_code(&m->places[m->nplaces - 1]);
	/*
	 * The code shows the C library more reliably than the ABI note, which may have been
	 * removed.
	 */
	m->traits.glibc = !found.musl;
	m->traits.musl = found.musl;
	if (found.init.vaddr)
		add_maker(m, &found.init);
}

static struct module_waits *waits_of(struct module *m, const struct family_function *function)
{
	if (function->role == SBT_ROLE_TURN)
		return &m->turns;
	if (function->role == SBT_ROLE_SEM_WAIT)
		return &m->sems;
	if (function->family == SBT_FAMILY_FORKJOIN)
		return &m->joins;
	return function->role == SBT_ROLE_COND_WAKE ? &m->wakes : &m->waits;
}

/*
 * Add a function in which threads wait. Return probes cannot be used, because each of these threads
 * may be cancelled. So a function without known exits gets no probe. Versions of one function may
 * share an address. A function that jumps to another function has no exits of its own, and is
 * traced as that function.
 */
static void add_wait(struct module *m, const struct family_function *function, const char *name,
		     const struct elf_symbol *symbol)
{
	bool wakes = function->role == SBT_ROLE_COND_WAKE;
	bool turns = function->role == SBT_ROLE_TURN;
	struct module_waits *w = waits_of(m, function);
	struct module_probe_site probe_site = { .function = function };
	uint64_t entry = find_entry(m, symbol);
	struct sbt_spec spec;
	uint32_t i;

	for (i = 0; i < w->nentries && w->entries[i] != entry; i++)
		;
	if (i < w->nentries && turns)
		untraced_add(&m->turns_seen, name);
	if (!entry || i < w->nentries || i == MODULE_WAITS_MAX ||
	    family_spec(function, m->traits.machine, &spec))
		return;
	/*
	 * Skip functions that need another spec: they call one of the functions that were already
	 * found.
	 */
	if (w->nentries && memcmp(&spec, &w->spec, sizeof(spec)) != 0)
		return;
	w->spec = spec;
	if (!wakes) {
		module_find_exits(m, symbol, &probe_site);
		if (!probe_site.nexits && turns)
			untraced_add(&m->turns_unseen, name);
		if (!probe_site.nexits) {
			snprintf(w->why, sizeof(w->why), "%.40s: %s", name, probe_site.exits_why);
			return;
		}
	}
	if (turns)
		untraced_add(&m->turns_seen, name);
	w->entries[w->nentries++] = entry;
	/* Functions may share exits: add each exit once. */
	for (i = 0; i < probe_site.nexits; i++)
		add_offset(w->exits, &w->nexits, MODULE_WAITS_MAX * MODULE_EXITS_MAX,
			   probe_site.exits[i]);
}

/*
 * Return whether this is the method of Rust's ScopeData that each thread of a scope calls when it
 * ends.
 */
static bool ends_in_scope(const char *name)
{
	return name[0] == '_' && strstr(name, "9ScopeData") &&
	       strstr(name, "29decrement_num_running_threads");
}

static int take_symbol(void *ctx, const char *name, const struct elf_symbol *symbol)
{
	struct module *m = ctx;
	const struct family_function *f = NULL;

	m->scopes |= ends_in_scope(name);

	while ((f = family_function(name, f))) {
		if (f->role == SBT_ROLE_MAKER)
			add_maker(m, symbol);
		else if (f->role == SBT_ROLE_COND_WAIT || f->role == SBT_ROLE_COND_WAKE ||
			 f->role == SBT_ROLE_TURN || f->role == SBT_ROLE_SEM_WAIT)
			add_wait(m, f, name, symbol);
		else
			module_add_probe_site(m, f, name, symbol);
	}
	return 0;
}

static void mark_arg(const struct module *m, const struct sdt_note *note, int8_t number,
		     struct sbt_arg *out)
{
	if (number >= 0)
		sdt_probe_arg(m->traits.machine, note, (uint32_t)number, out);
}

/* Add a marker of include/sbt/sbt.h: a nop inside a function. */
static void add_mark(struct module *m, const struct sdt_note *note)
{
	const struct family_function *mark = family_mark(note->name);
	const struct family_mark_args *args = mark ? family_mark_args(mark) : NULL;
	struct module_probe_site *p =
		args ? module_add_inside(m, mark, note->offset, "a marker") : NULL;

	if (!p)
		return;
	snprintf(p->symbol, sizeof(p->symbol), "sbt:%s", note->name);
	if (p->entry.insn.class != INSN_EMULATED && p->entry.insn.class != INSN_STEPPED)
		p->error = -ENOTSUP;
	mark_arg(m, note, args->object, &p->spec.object);
	mark_arg(m, note, args->index, &p->spec.index);
	mark_arg(m, note, args->file, &p->spec.file);
	mark_arg(m, note, args->line, &p->spec.line);
	mark_arg(m, note, args->name, &p->spec.name);
	mark_arg(m, note, args->what, &p->spec.what);
	mark_arg(m, note, args->words, &p->spec.words);
}

static void find_marks(struct module *m)
{
	struct sdt_list notes;

	if (sdt_read(m->elf, "sbt", &notes))
		return;
	array_for_each (note, notes.notes, notes.n)
		add_mark(m, note);
	sdt_free(&notes);
}

/* Find the function where debuggers set a breakpoint; only dynamic linkers have it. */
static void find_loader(struct module *m)
{
	struct elf_symbol symbol;

	if (elf_find_function(m->elf, "_dl_debug_state", &symbol, 1) > 0)
		m->loader = find_entry(m, &symbol);
}

/* Add the addresses in a runtime to which the functions of parallel regions return. */
static void add_returns(struct module *m, uint8_t family, const struct returns *found)
{
	uint32_t i;

	if (!found->n || found->n > RETURNS_MAX - m->returns.n)
		return;
	for (i = 0; i < found->n; i++)
		add_offset(m->returns.at, &m->returns.n, RETURNS_MAX, found->at[i]);
	m->returned |= 1u << family;
}

/* Search libomp as GCC's runtime, too, because it also has the functions of that runtime. */
static void find_returns(struct module *m)
{
	uint64_t regions[RETURNS_MAX];
	struct elf_symbol invoke;
	struct returns found;
	uint32_t n = 0;

	array_for_each (p, m->places, m->nplaces) {
		const struct family_function *f = p->function;

		if (f->role != SBT_ROLE_REGION)
			continue;
		m->regions |= 1u << f->family;
		if (f->family == SBT_FAMILY_GOMP && n < RETURNS_MAX &&
		    !elf_offset_to_vaddr(m->elf, p->start, &regions[n]))
			n++;
	}
	if (n) {
		returns_find(m->elf, m->traits.machine, regions, n, 0, &found);
		add_returns(m, SBT_FAMILY_GOMP, &found);
	}
	/*
	 * In libomp, one function calls the region's function for all threads. The pointer to the
	 * region's function is passed through many functions before that call, so find the calling
	 * function by its name.
	 */
	if ((m->regions & 1u << SBT_FAMILY_LIBOMP) &&
	    elf_find_function(m->elf, "__kmp_invoke_microtask", &invoke, 1) > 0) {
		returns_find(m->elf, m->traits.machine, NULL, 0, invoke.vaddr, &found);
		add_returns(m, SBT_FAMILY_LIBOMP, &found);
	}
}

/* Find where libgomp keeps the size of a team. */
static void find_team_size(struct module *m)
{
	struct elf_symbol symbol;
	struct team_size found;
	const uint8_t *bytes;
	uint64_t vaddr;
	size_t len;

	if (!(m->regions & 1u << SBT_FAMILY_GOMP) ||
	    elf_find_function(m->elf, "omp_get_num_threads", &symbol, 1) <= 0)
		return;
	len = elf_bytes(m->elf, symbol.offset, symbol.size, &bytes);
	if (team_size_find(m->traits.machine, bytes, len, symbol.vaddr, &found))
		return;
	array_for_each (p, m->places, m->nplaces) {
		if (p->spec.family != SBT_FAMILY_GOMP || p->spec.object.how != SBT_ARG_TEAM ||
		    p->error || elf_offset_to_vaddr(m->elf, p->offset, &vaddr))
			continue;
		p->spec.team_size = (struct sbt_team_size){
			.slot = found.slot_vaddr ? found.slot_vaddr - vaddr : 0,
			.team = (uint32_t)found.team,
			.count = (uint32_t)found.count,
			.known = 1,
		};
	}
}

/*
 * Find the state of a Python interpreter, and its version. Before 3.11, only the name of the file
 * shows the version.
 */
static void find_python(struct module *m)
{
	uint64_t version, offset;
	const uint8_t *bytes;

	if (elf_find_object(m->elf, "_PyRuntime", &m->python_runtime)) {
		m->python_runtime = 0;
		return;
	}
	m->python_minor = python_version_of(m->traits.soname);
	if (!m->python_minor && !elf_find_object(m->elf, "Py_Version", &version) &&
	    !elf_data_offset(m->elf, version, &offset) &&
	    elf_bytes(m->elf, offset, 4, &bytes) == 4 && bytes[3] == 3)
		m->python_minor = bytes[2];
}

static void take_import(void *ctx, const char *name)
{
	struct module *m = ctx;

	untraced_add(&m->untraced, name);
}

static int take_linked(void *ctx, const char *name, const struct elf_symbol *symbol)
{
	(void)symbol;
	take_import(ctx, name);
	return 0;
}

/*
 * Find calls of functions that may wait, but are not traced. Calls inside an MPI library say
 * nothing about the program. If a program is linked with a static MPI library, the linker takes
 * from the archive only the functions that the program calls. So every MPI function in the program
 * counts as called.
 */
static void find_untraced(struct module *m)
{
	/*
	 * If a runtime is linked into the program, it is unknown which of its functions are called:
	 * assume that all are.
	 */
	if (m->traits.executable) {
		m->untraced.semaphores |= m->sems.nentries > 0;
		untraced_join(&m->untraced, &m->turns_seen);
		untraced_join(&m->untraced, &m->turns_unseen);
	}
	if (m->mpi && m->traits.executable)
		elf_each_function(m->elf, take_linked, m);
	else if (!m->mpi && !family_library_has(m->traits.soname, FAMILY_RANKS))
		elf_each_import(m->elf, take_import, m);
}

#define SCOPE_PART     (1u << 20)
#define SCOPE_SEARCHED (8u << 20)

/*
 * Return whether a program without names contains the message that std::thread::scope() prints when
 * a thread panics. Only the first 8 MiB of the section .rodata are searched.
 */
static bool has_scope_text(const struct module *m)
{
	static const char text[] = "a scoped thread panicked";
	struct elf_range range;
	const uint8_t *bytes;
	uint64_t at;
	size_t len;

	if (!elf_section(m->elf, ".rodata", 0, &range))
		return false;
	for (at = 0; at < range.size && at < SCOPE_SEARCHED; at += SCOPE_PART - strlen(text)) {
		len = range.size - at < SCOPE_PART ? (size_t)(range.size - at) : SCOPE_PART;
		len = elf_bytes(m->elf, range.offset + at, len, &bytes);
		if (memmem(bytes, len, text, strlen(text)))
			return true;
	}
	return false;
}

/*
 * A function without known exits may wait inside another function that has probes. If so, mark it
 * as traced.
 */
static int take_jump(void *ctx, const char *name, const struct elf_symbol *symbol)
{
	struct module *m = ctx;

	(void)symbol;
	if (untraced_jumps(name, &m->turns_seen))
		untraced_add(&m->turns_seen, name);
	return 0;
}

void module_find_known(struct module *m)
{
	elf_each_function(m->elf, take_symbol, m);
	if (m->joins.spec.object.how == SBT_ARG_CONST && !m->scopes)
		m->joins.nentries = m->joins.nexits = 0;
	if (m->traits.executable && m->traits.stripped)
		m->scopes |= has_scope_text(m);
	if (m->turns_unseen.openmp) {
		elf_each_function(m->elf, take_jump, m);
		m->turns_unseen.openmp &= ~m->turns_seen.openmp;
	}
	find_marks(m);
}

static bool is_task_function(const struct module *m, const struct module_probe_site *probe_site,
			     const struct outlined *tasks)
{
	uint64_t vaddr;
	uint32_t i;

	if (probe_site->function != family_outlined(SBT_FAMILY_GOMP) ||
	    elf_offset_to_vaddr(m->elf, probe_site->start, &vaddr))
		return false;
	for (i = 0; i < tasks->n && tasks->functions[i].vaddr != vaddr; i++)
		;
	return i < tasks->n;
}

/*
 * Drop functions of tasks. GCC gives them names like those of region functions, but they run a
 * million times, and there is no barrier at their end.
 */
static void drop_task_functions(struct module *m)
{
	struct outlined tasks = { .n = 0 };
	uint32_t i, kept = 0;

	if (!m->tasks && !m->untraced.tasks)
		return;
	if (!outlined_of_tasks(m->elf, m->traits.machine, &tasks)) {
		for (i = 0; i < m->nplaces; i++)
			if (!is_task_function(m, &m->places[i], &tasks))
				m->places[kept++] = m->places[i];
		m->nplaces = kept;
	}
	free(tasks.functions);
}

void module_find_rest(struct module *m)
{
	m->team = module_find_team(m);
	find_untraced(m);
	drop_task_functions(m);
	find_returns(m);
	find_team_size(m);
	module_find_inline(m);
	if (!m->c_library && module_is_nameless(m))
		find_by_code(m);
	find_loader(m);
	find_python(m);
}

int module_add_outlined(struct module *m, uint8_t family, uint64_t vaddr, uint64_t caller)
{
	const struct family_function *row = family_outlined(family);
	struct outlined found;
	uint32_t i;
	int err;

	if (!row)
		return -ENOENT;
	err = outlined_find(m->elf, m->traits.machine, vaddr, caller, &found);
	for (i = 0; i < found.n; i++)
		module_add_probe_site(m, row, "(function of a parallel region)",
				      &found.functions[i]);
	free(found.functions);
	return err;
}
