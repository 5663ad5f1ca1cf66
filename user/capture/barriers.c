// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "capture/barriers.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/rights.h"
#include "base/array.h"
#include "base/msg.h"
#include "base/text.h"
#include "capture/preflight.h"
#include "emit/json.h"
#include "sites/family.h"
#include "sites/needed.h"
#include "symbols/symbol.h"
#include "target/maps.h"
#include "target/proc.h"

#define COLUMNS	    100
#define FILES_MAX   1024
#define NAME_WIDTH  34
#define UNDER_WIDTH 16

struct listing {
	const struct barriers_options *options;
	struct symbol_server *symbols;
	struct modules *modules;
	struct module *files[FILES_MAX]; /* files to list; the program is first */
	size_t nfiles;
	struct buf *out;
	struct buf notes; /* paragraphs, each with a newline at its end */
	uint32_t places; /* number of probe sites that are traceable and used */
};

/* --- text ------------------------------------------------------------------------------------- */

/*
 * Append the words of @s, wrapped at COLUMNS. Output begins at @column; further lines are indented
 * by @indent.
 */
static void add_wrapped(struct buf *buf, const char *s, size_t column, size_t indent)
{
	size_t start = column;

	while (*s) {
		size_t len = strcspn(s, " ");

		if (column > start && column + 1 + len > COLUMNS) {
			buf_printf(buf, "\n%*s", (int)indent, "");
			column = start = indent;
		} else if (column > start) {
			buf_char(buf, ' ');
			column++;
		}
		buf_add(buf, s, len);
		column += len;
		s += len + strspn(s + len, " ");
	}
	buf_char(buf, '\n');
}

/*
 * Append text that comes from a file. Control characters are escaped, and the result is cut to
 * @most bytes.
 */
static void add_safe(struct buf *buf, const char *s, size_t most)
{
	char *safe = text_printable(s);
	size_t len = safe ? strlen(safe) : 0;

	if (!safe)
		buf->failed = true;
	else if (len > most && most > 3)
		buf_printf(buf, "%.*s...", (int)most - 3, safe);
	else
		buf_str(buf, safe);
	free(safe);
}

static void __attribute__((format(printf, 2, 3))) note(struct listing *l, const char *fmt, ...)
{
	char text[1024], *safe;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (l->options->json) {
		buf_str(&l->notes, "{\"type\":\"note\",\"text\":");
		jsonl_string(&l->notes, text);
		buf_str(&l->notes, "}\n");
		return;
	}
	safe = text_printable(text);
	if (!safe) {
		l->notes.failed = true;
		return;
	}
	buf_str(&l->notes, "* ");
	add_wrapped(&l->notes, safe, 2, 2);
	free(safe);
}

/* --- properties of a probe site --------------------------------------------------------------- */

/* Return whether the file imports the function under its MPI_ or its PMPI_ name. */
static bool is_imported(const struct module *by, const char *symbol)
{
	char other[SYMBOL_NAME_MAX];

	if (module_imports(by, symbol))
		return true;
	if (!strncmp(symbol, "PMPI_", 5))
		return module_imports(by, symbol + 1);
	snprintf(other, sizeof(other), "P%s", symbol);
	return !strncmp(symbol, "MPI_", 4) && module_imports(by, other);
}

/* Return whether the probe site is a marker of sbt/sbt.h in the source. */
static bool is_point(const struct module_probe_site *p)
{
	return strncmp(p->symbol, "sbt:", 4) == 0;
}

/*
 * Return whether a listed file can call the function. A program calls its own functions without an
 * import, so these count as used. So do probe sites of -b, and probe sites without a plain symbol,
 * for which no import can be looked up.
 */
static bool is_used(const struct listing *l, const struct module *m,
		    const struct module_probe_site *p)
{
	size_t i;

	if (m->traits.executable || p->function->rule || p->spec.role == SBT_ROLE_OUTLINED ||
	    !p->function->symbol || strchr(p->function->symbol, '*') || is_point(p))
		return true;
	for (i = 0; i < l->nfiles; i++)
		if (l->files[i]->is_elf && l->files[i] != m && is_imported(l->files[i], p->symbol))
			return true;
	return false;
}

/* Copy the function's name, as in the source, to @name. */
static void name_of(const struct listing *l, const struct module *m,
		    const struct module_probe_site *p, char name[SYMBOL_NAME_MAX])
{
	if (!symbol_source_name(l->symbols, module_fd(m), p->symbol, name, SYMBOL_NAME_MAX))
		snprintf(name, SYMBOL_NAME_MAX, "%s", p->symbol);
}

/*
 * Return whether the probe site is at the beginning or end of a C++ wait that is inlined into
 * another function.
 */
static bool is_in_line(const struct module_probe_site *p)
{
	return p->spec.role == SBT_ROLE_MARK_ENTER || p->spec.role == SBT_ROLE_MARK_LEAVE;
}

/* Describe how the end of a crossing that begins at the probe site is detected. */
static void end_of(const struct module_probe_site *p, char *text, size_t len)
{
	if (family_has(p->spec.family, FAMILY_CXX) && is_in_line(p))
		snprintf(text, len, "its end, in line");
	else if (is_point(p))
		snprintf(text, len, "a marker");
	else if (p->spec.role == SBT_ROLE_COND_WAKE || p->spec.role == SBT_ROLE_MAKER)
		snprintf(text, len, "-");
	else if (!p->end && (p->spec.flags & SBT_SPEC_PAIR))
		snprintf(text, len, "another function");
	else if (!p->nexits && (p->spec.flags & SBT_SPEC_RETS))
		snprintf(text, len, "not");
	else if (!p->nexits)
		snprintf(text, len, "return");
	else
		snprintf(text, len, "%s%u ret%s", p->spec.flags & SBT_SPEC_RETS ? "" : "return, ",
			 p->nexits, p->nexits == 1 ? "" : "s");
}

/* Describe why the probe site is not traced, or not in all processes; "" if it is traced. */
static void problem_of(const struct module_probe_site *p, char *text, size_t len)
{
	text[0] = 0;
	if (p->error)
		snprintf(text, len, "not traced: %s",
			 *p->entry.why ? p->entry.why : strerror(-p->error));
	else if (is_point(p) || (!p->end && (p->spec.flags & SBT_SPEC_PAIR)) || p->nexits)
		return;
	else if (p->spec.flags & SBT_SPEC_RETS)
		snprintf(text, len,
			 "not traced: where it returns is unknown (%s), and a return probe could "
			 "break programs that unwind",
			 p->exits_why);
	else if (*p->exits_why)
		snprintf(text, len,
			 "traced only with uprobe.session, by a return probe, in programs that do "
			 "not unwind: its exits are unknown (%s)",
			 p->exits_why);
}

/* Describe the threads that a traced probe site does not see; "" if there are none. */
static const char *unseen_of(const struct module_probe_site *p)
{
	if (p->error || p->end)
		return "";
	if (p->spec.flags & SBT_SPEC_PHASE)
		return "only waits are seen: the last thread is seen when it has released the "
		       "others; a thread that arrives without waiting, or drops out, is never seen";
	if (p->spec.flags & SBT_SPEC_LATCH)
		return "only waits are seen: the last thread is seen when it has released the "
		       "others; a thread that counts down without waiting is never seen";
	return "";
}

static const char *cost_of(const struct module_probe_site *p)
{
	if (p->error || p->end)
		return "-";
	return p->entry.insn.class == INSN_EMULATED ? "emulated" : "stepped";
}

/* --- the table -------------------------------------------------------------------------------- */

static void add_row(struct listing *l, const struct module *m, const struct module_probe_site *p)
{
	char name[SYMBOL_NAME_MAX], end[64], problem[384];
	const char *family = family_name(p->function->family);
	struct buf cell = { 0 };
	size_t width;

	name_of(l, m, p, name);
	end_of(p, end, sizeof(end));
	problem_of(p, problem, sizeof(problem));
	if (!*problem && !is_used(l, m, p))
		snprintf(problem, sizeof(problem), "no listed file calls it by name");
	else if (!p->error)
		l->places++;
	add_safe(&cell, name, COLUMNS - 12);
	width = cell.len;
	buf_printf(l->out, "  %-8s  %-*s", family ? family : "?", NAME_WIDTH, cell.s ? cell.s : "");
	if (width > NAME_WIDTH)
		buf_printf(l->out, "\n  %8s  %-*s", "", NAME_WIDTH, "");
	buf_clear(&cell);
	add_safe(&cell, p->end ? "its end" : p->entry.insn.text, UNDER_WIDTH);
	buf_printf(l->out, " %8llx  %-*s  %-8s  %s\n", (unsigned long long)p->offset, UNDER_WIDTH,
		   cell.s ? cell.s : "", cost_of(p), end);
	buf_free(&cell);
	if (*problem) {
		buf_printf(l->out, "  %8s  ", "");
		add_wrapped(l->out, problem, 12, 12);
	}
	if (*unseen_of(p)) {
		buf_printf(l->out, "  %8s  ", "");
		add_wrapped(l->out, unseen_of(p), 12, 12);
	}
}

/*
 * Return whether the probe site creates a task. Such a probe site is no barrier, and is not listed.
 */
static bool is_aside(const struct module_probe_site *p)
{
	return p->spec.role == SBT_ROLE_TASK;
}

static void add_text(struct listing *l, struct module *m)
{
	if (!m->nplaces && !m->waits.nentries && !m->joins.nentries)
		return;
	add_safe(l->out, m->path, COLUMNS);
	buf_char(l->out, '\n');
	buf_printf(l->out, "  %-8s  %-*s %8s  %-*s  %-8s  END SEEN BY\n", "FAMILY", NAME_WIDTH,
		   "FUNCTION", "OFFSET", UNDER_WIDTH, "PROBE ON", "COST");
	array_for_each (p, m->places, m->nplaces)
		if (!is_aside(p))
			add_row(l, m, p);
	if (m->waits.nentries) {
		buf_printf(l->out, "  %-8s  ", "cond");
		add_wrapped(
			l->out,
			"barriers made of condition variables are found by the threads' behaviour",
			12, 12);
	}
	if (m->joins.nentries) {
		buf_printf(l->out, "  %-8s  ", "forkjoin");
		add_wrapped(l->out,
			    "pthread_join and similar functions: rounds of threads that are "
			    "created and joined are found by the threads' behaviour",
			    12, 12);
	}
	buf_char(l->out, '\n');
}

static void add_string(struct buf *buf, const char *name, const char *value)
{
	buf_printf(buf, ",\"%s\":", name);
	if (value && *value)
		jsonl_string(buf, value);
	else
		buf_str(buf, "null");
}

static void add_json(struct listing *l, const struct module *m)
{
	char name[SYMBOL_NAME_MAX], end[64], problem[384];

	array_for_each (p, m->places, m->nplaces) {
		bool used = is_used(l, m, p);

		if (is_aside(p))
			continue;
		name_of(l, m, p, name);
		end_of(p, end, sizeof(end));
		problem_of(p, problem, sizeof(problem));
		l->places += used && !p->error;
		buf_str(l->out, "{\"type\":\"place\"");
		add_string(l->out, "family", family_name(p->function->family));
		add_string(l->out, "kind", family_kind_name(p->function->kind));
		add_string(l->out, "function", name);
		add_string(l->out, "module", m->path);
		buf_printf(l->out, ",\"offset\":%llu", (unsigned long long)p->offset);
		add_string(l->out, "instruction", p->end ? "" : p->entry.insn.text);
		add_string(l->out, "class", p->end ? "" : insn_class_name(p->entry.insn.class));
		add_string(l->out, "chosen", p->entry.why);
		add_string(l->out, "end", end);
		buf_printf(l->out, ",\"exits\":%u,\"used\":%s", p->nexits, used ? "true" : "false");
		add_string(l->out, "problem", problem);
		add_string(l->out, "unseen", unseen_of(p));
		buf_str(l->out, "}\n");
	}
}

/* --- what cannot be seen ---------------------------------------------------------------------- */

/* Return whether the file is a run-time library. Its own calls say nothing about the program. */
static bool is_runtime(const struct module *m)
{
	const char *soname = m->traits.soname;

	return family_library_has(soname, FAMILY_CXX) ||
	       !strncmp(soname, "libgcc_s.so", strlen("libgcc_s.so")) ||
	       !strncmp(soname, "ld-", strlen("ld-")) ||
	       (m->traits.dynamic && (m->traits.glibc || m->traits.musl));
}

/*
 * Return a file of the program that calls the function, a static program that contains the
 * function, or NULL. Run-time libraries are ignored.
 */
static const struct module *any_uses(const struct listing *l, const char *name)
{
	size_t i;

	for (i = 0; i < l->nfiles; i++) {
		const struct module *m = l->files[i];

		if (!m->is_elf || is_runtime(m))
			continue;
		if (module_imports(m, name))
			return m;
		if (m->traits.executable && !m->traits.dynamic && module_defines(m, name))
			return m;
	}
	return NULL;
}

static const struct module *any_of(const struct listing *l, const char *const *names, size_t n)
{
	const struct module *m = NULL;
	size_t i;

	for (i = 0; i < n && !m; i++)
		m = any_uses(l, names[i]);
	return m;
}

static const struct module *makes_threads(const struct listing *l)
{
	static const char *const names[] = {
		"pthread_create",
		"thrd_create",
		"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_"
		"EEPFvvE",
	};

	return any_of(l, names, sizeof(names) / sizeof(names[0]));
}

static const struct module *uses_conditions(const struct listing *l)
{
	static const char *const names[] = {
		"pthread_cond_wait",
		"pthread_cond_timedwait",
		"cnd_wait",
		"_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE",
	};

	return any_of(l, names, sizeof(names) / sizeof(names[0]));
}

static void report_file(struct listing *l, const struct module *m)
{
	if (m->error == -ENOTSUP)
		note(l, "%s is not examined: it is not 64-bit, or is for another architecture",
		     m->path);
	else if (m->error && m->error != -ENOEXEC)
		note(l, "%s could not be read: %s", m->path, module_why(m->error));
	if (!m->is_elf || m->traits.machine == 0)
		return;
	if (m->traits.go)
		note(l,
		     "%s is a Go program: barriers between goroutines are not traced, because "
		     "goroutines are not threads; calls of C code are traced",
		     m->path);
	else if (m->team)
		note(l, "%s %s", m->path, module_team_text(m));
	else if (m->inlined_waits)
		note(l,
		     "%s inlines std::barrier, std::latch, std::atomic::wait() or a C++20 "
		     "semaphore, and sbt-trace does not recognise the code: barriers of this kind "
		     "may be missing; try --discover, which finds them if all waiting threads "
		     "sleep, or use -b to name a function around the barrier",
		     m->path);
	else if (module_is_nameless(m) && !m->nplaces)
		note(l,
		     "%s is static and stripped: its functions have no names to search for, and no "
		     "barrier was recognised by its code",
		     m->path);
	else if (m->traits.executable && m->traits.stripped)
		note(l,
		     "%s is stripped: only its exported functions have names; for another "
		     "function, give its address to -b",
		     m->path);
}

/* Return whether a file exists but could not be read. */
static bool any_unread(const struct listing *l)
{
	size_t i;

	for (i = 0; i < l->nfiles; i++)
		if (l->files[i]->error && l->files[i]->error != -ENOEXEC &&
		    l->files[i]->error != -ENOTSUP)
			return true;
	return false;
}

static void report_spinning(struct listing *l)
{
	const struct module *threads = makes_threads(l), *conds = uses_conditions(l);
	const struct module *calls = any_uses(l, "syscall");
	const struct module *program = l->nfiles ? l->files[0] : NULL;

	/* A stripped static program has no names to look for. */
	if (program && program->traits.executable && !program->traits.dynamic &&
	    program->traits.stripped)
		return;
	if (any_unread(l)) {
		note(l, "files that could not be read may contain barriers that are not listed%s",
		     l->options->pid && !rights_have(CAP_SYS_PTRACE)
			     ? "; reading processes of other users needs CAP_SYS_PTRACE"
			     : "");
		return;
	}
	if (!l->places)
		note(l, "no known barrier function is called here%s",
		     threads || conds ? "" : ", and no known function creates threads");
	if (conds)
		note(l,
		     "%s waits on condition variables: a barrier that uses them is found at run "
		     "time, by the threads' behaviour; -b traces the barrier's function by name",
		     conds->path);
	if (calls)
		note(l,
		     "%s uses syscall(), perhaps to wait on futexes: such a wait has no name here, "
		     "but the function around it can be given to -b",
		     calls->path);
	if (threads)
		note(l,
		     "%s creates threads: a barrier that only spins on memory calls no function; "
		     "it is traced if it is a separate function that is given to -b, and not "
		     "traced if it was inlined",
		     threads->path);
}

/* Report rules of -b that matched nothing. */
static void report_rules(struct listing *l)
{
	struct rules *rules = l->options->rules;
	size_t i;
	int k;

	for (i = 0; rules && i < rules->n; i++)
		for (k = 0; k < 1 + rules->all[i]->pair; k++)
			if (!rules->all[i]->at[k].found)
				note(l, "-b %s: none of these files has %s", rules->all[i]->text,
				     rules->all[i]->pair ? k ? "the second of its functions"
							     : "the first of its functions"
							 : "such a function");
}

/* --- the files to list ------------------------------------------------------------------------ */

static void take_file(struct listing *l, struct module *m)
{
	size_t i;

	for (i = 0; i < l->nfiles; i++)
		if (l->files[i] == m)
			return;
	if (l->nfiles < FILES_MAX)
		l->files[l->nfiles++] = m;
}

static void take_needed(void *ctx, const char *name, struct module *m)
{
	struct listing *l = ctx;

	if (m)
		take_file(l, m);
	else
		note(l,
		     "%s is needed, but was not found where the dynamic linker would look: its "
		     "content is unknown",
		     name);
}

static int from_binary(struct listing *l)
{
	const char *path = l->options->binary;
	int err = needed_each(l->modules, path, take_needed, l);

	if (err == -ENOEXEC)
		msg_error("list: %s is neither a program nor a library (for a script, give its "
			  "interpreter)",
			  path);
	else if (err)
		msg_error("list: cannot read %s: %s", path, module_why(err));
	return err;
}

static int from_process(struct listing *l)
{
	struct maps maps;
	int err = maps_read(l->options->pid, &maps);

	if (err) {
		msg_error("list: cannot read process %d: %s", l->options->pid,
			  err == -ESRCH			    ? "no such process"
			  : err == -EACCES || err == -EPERM ? preflight_why_not()
							    : strerror(-err));
		return err;
	}
	array_for_each (e, maps.entries, maps.n) {
		struct module *m = NULL;

		if (e->exec && e->ino)
			m = modules_get(l->modules, l->options->pid, e);
		if (m)
			take_file(l, m);
	}
	maps_free(&maps);
	return 0;
}

int barriers_list(const struct barriers_options *options, struct buf *out)
{
	struct listing *l = calloc(1, sizeof(*l));
	struct progress *progress = NULL;
	size_t i;
	int err;

	if (!l)
		return -ENOMEM;
	l->options = options;
	l->out = out;
	err = symbol_server_new(NULL, &l->symbols);
	if (!err)
		err = modules_new(options->rules, l->symbols, &l->modules);
	if (!err) {
		progress = progress_new(STDERR_FILENO);
		modules_set_progress(l->modules, progress);
		err = options->binary ? from_binary(l) : from_process(l);
	}
	for (i = 0; i < l->nfiles && !err; i++) {
		if (options->json)
			add_json(l, l->files[i]);
		else
			add_text(l, l->files[i]);
	}
	if (!err) {
		for (i = 0; i < l->nfiles; i++)
			report_file(l, l->files[i]);
		report_rules(l);
		report_spinning(l);
		buf_add(out, l->notes.s ? l->notes.s : "", l->notes.len);
		out->failed |= l->notes.failed;
	}
	buf_free(&l->notes);
	modules_free(l->modules);
	progress_free(progress);
	symbol_server_free(l->symbols);
	free(l);
	return err;
}
