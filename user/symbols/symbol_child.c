// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* The symboliser's child: all code that parses files. */
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef HAVE_LIBIBERTY
#include <libiberty/demangle.h>
#endif

#include "base/array.h"
#include "base/function_name.h"
#include "base/plugin.h"
#include "base/text.h"
#include "symbols/rust_name.h"
#include "symbols/scope_name.h"
#include "symbols/symbol_wire.h"

#define SYMBOL_MODULES_MAX 64 /* maximum number of files that the child keeps open */
#define SYMBOL_DEPTH_MAX   64 /* maximum depth of nested scopes */
#define SYMBOL_MANGLED_MAX 4096 /* maximum length of a name that is demangled */

/* --- names --------------------------------------------------------------------- */

typedef char *(*symbol_demangle_fn)(const char *name, char *buf, size_t *len, int *status);

struct symbol_module {
	struct child_file identity;
	Dwfl *dwfl;
	Dwfl_Module *mod;
	/* value of the request counter at the last use, to find the least recently used file */
	uint64_t used;
};

struct symbol_child {
	int sock;
	char *debug_path;
	Dwfl_Callbacks callbacks;
	struct symbol_module modules[SYMBOL_MODULES_MAX];
	uint64_t clock;
	bool demangle_tried;
	symbol_demangle_fn demangle;
};

/*
 * Load the demangler of libstdc++ when the first mangled name is seen. The library is large and not
 * always installed.
 */
static symbol_demangle_fn symbol_demangler(struct symbol_child *c)
{
	void *lib, *fn;

	if (c->demangle_tried)
		return c->demangle;
	c->demangle_tried = true;
	lib = plugin_open("libstdc++.so.6");
	fn = lib ? dlsym(lib, "__cxa_demangle") : NULL;
	/* ISO C has no conversion from an object pointer to a function pointer. */
	memcpy(&c->demangle, &fn, sizeof(fn));
	return c->demangle;
}

#ifdef HAVE_LIBIBERTY
/*
 * Demangle Rust's newer names, which libstdc++ does not know. Suffixes that compiler passes add are
 * dropped.
 */
static char *symbol_demangle_rust(const char *raw)
{
	return rust_demangle(raw, 0);
}

/*
 * Demangle C++ names with libiberty, if libstdc++ is not installed. Both have the same code for
 * this.
 */
static char *symbol_demangle_cxx(const char *raw)
{
	return cplus_demangle_v3(raw, DMGL_PARAMS | DMGL_TYPES);
}
#else
static char *symbol_demangle_rust(const char *raw)
{
	(void)raw;
	return NULL;
}

static char *symbol_demangle_cxx(const char *raw)
{
	(void)raw;
	return NULL;
}
#endif

/*
 * Copy a name. If it is too long, first leave out parameters, template arguments and the return
 * type. If it is still too long, cut it and end it in "...".
 */
static void symbol_copy_name(char *to, size_t size, const char *from)
{
	char *own = strlen(from) >= size ? strdup(from) : NULL;
	size_t len;

	if (own && function_name_shorten(own))
		from = own;
	len = strlen(from);
	if (len >= size && size > 4) {
		for (len = size - 4; len && ((uint8_t)from[len] & 0xc0) == 0x80; len--)
			;
		memcpy(to, from, len);
		memset(to + len, 0, size - len);
		memcpy(to + len, "...", 4);
	} else {
		symbol_copy(to, size, from);
	}
	free(own);
}

/*
 * Demangle @raw. Return NULL if it is not mangled or cannot be demangled. The caller frees the
 * result.
 */
static char *symbol_demangle(struct symbol_child *c, const char *raw)
{
	char rust[SYMBOL_MANGLED_MAX];
	symbol_demangle_fn demangle;
	int status = -1;

	if (raw[0] != '_' || strnlen(raw, SYMBOL_MANGLED_MAX) == SYMBOL_MANGLED_MAX)
		return NULL;
	if (rust_name_legacy(raw, rust, sizeof(rust)))
		return strdup(rust);
	if (raw[1] == 'R')
		return symbol_demangle_rust(raw);
	if (raw[1] != 'Z')
		return NULL;
	demangle = symbol_demangler(c);
	return demangle ? demangle(raw, NULL, NULL, &status) : symbol_demangle_cxx(raw);
}

static bool symbol_demangle_into(void *ctx, const char *raw, char *name, size_t size)
{
	char *text = symbol_demangle(ctx, raw);

	if (text)
		symbol_copy_name(name, size, text);
	free(text);
	return text != NULL;
}

/*
 * Write a demangled name as a person should read it: without the suffixes of parts and copies, and
 * without the functions that a lambda's class has. Frees @text; NULL writes nothing.
 */
static void symbol_readable(char *text, char *name)
{
	if (!text)
		return;
	function_name_whole(text);
	function_name_lambda(text);
	symbol_copy_name(name, SYMBOL_NAME_MAX, text);
	free(text);
}

/* Do the same with a name that may be mangled. */
static void symbol_raw_name(struct symbol_child *c, const char *raw, char *name)
{
	char *text = symbol_demangle(c, raw);

	symbol_readable(text ? text : strdup(raw), name);
}

/*
 * Write a name from a symbol table. Drop the version that linkers append, and demangle the name if
 * possible.
 */
static void symbol_table_name(struct symbol_child *c, const char *raw, char *name)
{
	char *plain, *at;

	plain = strdup(raw);
	if (!plain)
		return;
	at = strchr(plain, '@');
	if (at && at != plain)
		*at = 0;
	symbol_raw_name(c, plain, name);
	free(plain);
}

static void symbol_die_name(struct symbol_child *c, Dwarf_Die *die, char *name)
{
	const char *raw = scope_name_linkage(die);
	char *text = raw ? symbol_demangle(c, raw) : NULL, scoped[SCOPE_NAME_MAX];

	if (text) {
		symbol_readable(text, name);
		return;
	}
	/* Compilers give no linkage name to a function that only its own file can call. */
	if (!raw && scope_name(die, symbol_demangle_into, c, scoped)) {
		symbol_copy_name(name, SYMBOL_NAME_MAX, scoped);
		return;
	}
	raw = dwarf_diename(die);
	/* The code that GCC generates for a parallel region in C++ has only the mangled name. */
	if (raw)
		symbol_raw_name(c, raw, name);
}

/*
 * Return the last part of the name of the file that declares @die, or NULL. dwarf_decl_file() is
 * not used, because it aborts the process at a split unit (-gsplit-dwarf).
 */
static const char *symbol_declared_file(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Word index;
	Dwarf_Die unit;
	size_t nfiles;

	if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attr) || dwarf_formudata(&attr, &index) ||
	    !dwarf_cu_die(attr.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    dwarf_getsrcfiles(&unit, &files, &nfiles) || index >= nfiles)
		return NULL;
	return text_base_name(dwarf_filesrc(files, index, NULL, NULL));
}

/*
 * Return a number for the place of the function's declaration. It is made from the last part of the
 * file's name, the line and the column. If these are unknown, it is made from the function's entry
 * in the debug information.
 */
static uint32_t symbol_declared(Dwarf_Die *die)
{
	Dwarf_Die origin = scope_name_origin(*die);
	const char *file = symbol_declared_file(die);
	int line = 0, column = 0;
	Dwarf_Off offset;
	uint64_t h;

	if (file && !dwarf_decl_line(die, &line) && line > 0) {
		dwarf_decl_column(die, &column);
		h = text_hash((uint64_t)line << 32 | (uint32_t)column, file, strlen(file));
	} else {
		offset = dwarf_dieoffset(&origin);
		h = text_hash(1, &offset, sizeof(offset));
	}
	/* The hash's lower half does not depend on the line, which is in the upper half. */
	h ^= h >> 32;
	return (uint32_t)h ? (uint32_t)h : 1;
}

/* --- code ---------------------------------------------------------------------- */

/*
 * Find the unit that contains @addr. Compilers other than gcc write no .debug_aranges, so libdwfl
 * may not find the unit. In that case search all units.
 */
static Dwarf_Die *symbol_find_unit(Dwfl_Module *mod, Dwarf_Addr addr, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(mod, addr, bias);

	if (unit)
		return unit;
	while ((unit = dwfl_module_nextcu(mod, unit, bias)))
		if (dwarf_haspc(unit, addr - *bias) == 1)
			return unit;
	return NULL;
}

static void symbol_set_line(struct symbol_frame *frame, const char *file, int line)
{
	if (file)
		symbol_copy(frame->file, sizeof(frame->file), file);
	frame->line = line > 0 ? (uint32_t)line : 0;
}

/* Set the position in the outer function at which the inlined function @die was called. */
static void symbol_call_site(Dwarf_Die *unit, Dwarf_Die *die, struct symbol_frame *frame)
{
	Dwarf_Attribute attr;
	Dwarf_Word file = 0, line = 0;
	Dwarf_Files *files;
	size_t nfiles;
	const char *name = NULL;

	if (dwarf_attr(die, DW_AT_call_line, &attr) && dwarf_formudata(&attr, &line))
		line = 0;
	if (dwarf_attr(die, DW_AT_call_file, &attr) && !dwarf_formudata(&attr, &file) &&
	    !dwarf_getsrcfiles(unit, &files, &nfiles) && file < nfiles)
		name = dwarf_filesrc(files, file, NULL, NULL);
	symbol_set_line(frame, name, line <= INT32_MAX ? (int)line : 0);
}

/*
 * Get the complete unit. With -gsplit-dwarf, the unit in the file itself is a skeleton without
 * functions, and the complete unit is in another file.
 */
static void symbol_full_unit(Dwarf_Die *unit, Dwarf_Die *full)
{
	Dwarf_Die sub;
	uint8_t type = 0;

	*full = *unit;
	memset(&sub, 0, sizeof(sub));
	if (!dwarf_cu_info(unit->cu, NULL, &type, NULL, &sub, NULL, NULL, NULL) &&
	    type == DW_UT_skeleton && sub.addr)
		*full = sub;
}

/*
 * Return the next frame to fill. If all frames are in use, return the last one, so that it will
 * hold the outermost function.
 */
static struct symbol_frame *symbol_next_frame(struct symbol *out)
{
	struct symbol_frame *frame;

	if (out->nframes < SYMBOL_FRAMES_MAX)
		out->nframes++;
	frame = &out->frames[out->nframes - 1];
	memset(frame, 0, sizeof(*frame));
	return frame;
}

/* The scopes around an address, outermost first. */
struct symbol_scopes {
	Dwarf_Die dies[SYMBOL_DEPTH_MAX];
	int n;
};

static bool symbol_may_hold(int tag, bool thorough)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return true;
	/*
	 * Search these only if @thorough is set. They do not contain the address, but the entry of
	 * an outlined function that contains it may be inside them.
	 */
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return thorough;
	default:
		return false;
	}
}

/*
 * Find the scopes below @parent that contain @pc. dwarf_getscopes() does not search namespaces,
 * where clang puts functions. @thorough: also search functions that do not contain @pc. Return
 * whether a scope was found.
 */
static bool symbol_find_scopes(Dwarf_Die *parent, Dwarf_Addr pc, bool thorough, int depth,
			       struct symbol_scopes *scopes)
{
	Dwarf_Die die;
	int tag;

	if (depth >= SYMBOL_DEPTH_MAX || dwarf_child(parent, &die))
		return false;
	do {
		tag = dwarf_tag(&die);
		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
		    tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
		    tag == DW_TAG_catch_block) {
			if (dwarf_haspc(&die, pc) == 1) {
				scopes->dies[scopes->n++] = die;
				symbol_find_scopes(&die, pc, thorough, depth + 1, scopes);
				return true;
			}
		}
		if (symbol_may_hold(tag, thorough) &&
		    symbol_find_scopes(&die, pc, thorough, depth + 1, scopes))
			return true;
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

/*
 * Fill the frames from the scopes around @pc, innermost first. @at is the position according to the
 * line table. Return whether the real function was reached.
 */
static bool symbol_walk_scopes(struct symbol_child *c, Dwarf_Die *unit, Dwarf_Addr pc,
			       struct symbol_frame at, struct symbol *out)
{
	struct symbol_scopes scopes;
	struct symbol_frame *frame;
	Dwarf_Addr entry;
	Dwarf_Die full;
	int tag;

	symbol_full_unit(unit, &full);
	scopes.n = 0;
	if (!symbol_find_scopes(&full, pc, false, 0, &scopes))
		symbol_find_scopes(&full, pc, true, 0, &scopes);
	while (scopes.n--) {
		tag = dwarf_tag(&scopes.dies[scopes.n]);
		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		frame = symbol_next_frame(out);
		*frame = at;
		symbol_die_name(c, &scopes.dies[scopes.n], frame->function);
		frame->declared = symbol_declared(&scopes.dies[scopes.n]);
		memset(&at, 0, sizeof(at));
		if (tag == DW_TAG_inlined_subroutine) {
			symbol_call_site(&full, &scopes.dies[scopes.n], &at);
			continue;
		}
		/*
		 * The address may be in a cold part of the function, which lies before the entry.
		 * Then there is no offset from the entry.
		 */
		if (!dwarf_entrypc(&scopes.dies[scopes.n], &entry) && pc >= entry)
			out->function_offset = pc - entry;
		return true;
	}
	return false;
}

/*
 * Find the frames by DWARF. Return whether the real function was found. Leave nframes 0 if DWARF
 * says nothing about the address.
 */
static bool symbol_by_dwarf(struct symbol_child *c, Dwfl_Module *mod, uint64_t addr,
			    struct symbol *out)
{
	struct symbol_frame at;
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit;
	Dwarf_Line *line;
	int lineno = 0;

	unit = symbol_find_unit(mod, addr, &bias);
	if (!unit)
		return false;
	memset(&at, 0, sizeof(at));
	line = dwarf_getsrc_die(unit, addr - bias);
	if (line) {
		dwarf_lineno(line, &lineno);
		symbol_set_line(&at, dwarf_linesrc(line, NULL, NULL), lineno);
	}
	if (symbol_walk_scopes(c, unit, addr - bias, at, out))
		return true;
	/*
	 * There is a line but no function, as in assembler code. Keep the line: the caller adds the
	 * name from the symbol table.
	 */
	if (line && !out->nframes)
		*symbol_next_frame(out) = at;
	return false;
}

/*
 * Return a number for the place of a lambda's declaration, made from its symbol @raw without the
 * suffixes of parts and copies. Return 0 for other functions, because their names differ.
 */
static uint32_t symbol_lambda(const char *name, const char *raw)
{
	uint64_t h = text_hash(1, raw, strcspn(raw, ".@"));

	if (!strstr(name, "{lambda}"))
		return 0;
	return (uint32_t)h ? (uint32_t)h : 1;
}

static void symbol_code(struct symbol_child *c, Dwfl_Module *mod, uint64_t addr, bool plain,
			struct symbol *out)
{
	struct symbol_frame *last;
	GElf_Off offset = 0;
	const char *name;
	GElf_Sym sym;
	bool real;

	real = !plain && symbol_by_dwarf(c, mod, addr, out);
	last = out->nframes ? &out->frames[out->nframes - 1] : NULL;
	if (real && last && last->function[0])
		return;
	name = dwfl_module_addrinfo(mod, addr, &offset, &sym, NULL, NULL, NULL);
	if (!name || !name[0] || GELF_ST_TYPE(sym.st_info) == STT_OBJECT)
		return;
	/*
	 * Also add the function if the outermost frame is missing, because the debug information is
	 * damaged.
	 */
	if (!last || (!real && last->function[0]))
		last = symbol_next_frame(out);
	symbol_table_name(c, name, last->function);
	last->declared = symbol_lambda(last->function, name);
	out->function_offset = offset;
}

static bool symbol_data(struct symbol_child *c, Dwfl_Module *mod, uint64_t addr, char *name)
{
	int n = dwfl_module_getsymtab(mod), i;
	const char *raw;
	GElf_Addr value;
	GElf_Sym sym;

	for (i = 1; i < n; i++) {
		raw = dwfl_module_getsym_info(mod, i, &sym, &value, NULL, NULL, NULL);
		if (!raw || !raw[0] || GELF_ST_TYPE(sym.st_info) != STT_OBJECT ||
		    sym.st_shndx == SHN_UNDEF || addr < value || addr - value >= sym.st_size)
			continue;
		symbol_table_name(c, raw, name);
		return true;
	}
	return false;
}

/* Count the parameters of a function. Return -1 if the number is unknown. */
static int symbol_count_parameters(Dwarf_Die *function)
{
	Dwarf_Die die;
	int n = 0;

	if (dwarf_child(function, &die))
		return 0;
	do {
		if (dwarf_tag(&die) == DW_TAG_unspecified_parameters)
			return -1;
		n += dwarf_tag(&die) == DW_TAG_formal_parameter;
	} while (!dwarf_siblingof(&die, &die));
	return n;
}

static bool symbol_find_parameters(Dwfl_Module *mod, uint64_t addr, uint32_t *out)
{
	struct symbol_scopes scopes;
	Dwarf_Addr bias = 0;
	Dwarf_Die full, *unit = symbol_find_unit(mod, addr, &bias);
	int n;

	if (!unit)
		return false;
	symbol_full_unit(unit, &full);
	scopes.n = 0;
	symbol_find_scopes(&full, addr - bias, false, 0, &scopes);
	/*
	 * Use the outermost scope, because an inner scope may be another function, inlined at this
	 * address.
	 */
	if (!scopes.n || dwarf_tag(&scopes.dies[0]) != DW_TAG_subprogram)
		return false;
	n = symbol_count_parameters(&scopes.dies[0]);
	*out = n < 0 ? 0 : (uint32_t)n;
	return n >= 0;
}

/* --- files ---------------------------------------------------------------------- */

static void symbol_close_module(struct symbol_module *m)
{
	if (m->dwfl)
		dwfl_end(m->dwfl);
	memset(m, 0, sizeof(*m));
}

/*
 * Open a file at a bias of 0, so that its addresses are linked addresses. Always closes @fd in the
 * end.
 */
static int symbol_open_module(struct symbol_child *c, struct symbol_module *m, int fd,
			      const struct symbol_request *req)
{
	symbol_close_module(m);
	m->dwfl = dwfl_begin(&c->callbacks);
	if (!m->dwfl)
		goto out;
	dwfl_report_begin(m->dwfl);
	m->mod = dwfl_report_elf(m->dwfl, req->path, req->path, fd, 0, true);
	if (m->mod)
		fd = -1; /* owned by libdwfl now */
	dwfl_report_end(m->dwfl, NULL, NULL);
	if (!m->mod)
		goto out;
	m->identity = req->identity;
	return 0;
out:
	if (fd >= 0)
		close(fd);
	symbol_close_module(m);
	return -EBADMSG;
}

static Dwfl_Module *symbol_module(struct symbol_child *c, int fd, const struct symbol_request *req)
{
	struct symbol_module *m, *oldest = &c->modules[0];

	array_for_each (module, c->modules, SYMBOL_MODULES_MAX) {
		m = module;
		if (m->dwfl && !memcmp(&m->identity, &req->identity, sizeof(m->identity))) {
			close(fd);
			goto out;
		}
		if (m->used < oldest->used)
			oldest = m;
	}
	m = oldest;
	if (symbol_open_module(c, m, fd, req))
		return NULL;
out:
	m->used = ++c->clock;
	return m->mod;
}

static void symbol_forget_module(struct symbol_child *c, const struct symbol_request *req)
{
	array_for_each (module, c->modules, SYMBOL_MODULES_MAX)
		if (module->dwfl &&
		    !memcmp(&module->identity, &req->identity, sizeof(req->identity)))
			symbol_close_module(module);
}

static void symbol_answer(struct symbol_child *c, int fd, const struct symbol_request *req,
			  const struct symbol_unwind *unwind, struct symbol_reply *reply)
{
	Dwfl_Module *mod;

	memset(reply, 0, sizeof(*reply));
	reply->serial = req->serial;
	if (req->question == SYMBOL_ASK_NAME) {
		close(fd);
		reply->known = symbol_demangle_into(c, req->path, reply->text, SYMBOL_TEXT_MAX);
		return;
	}
	if (req->question == SYMBOL_FORGET) {
		close(fd);
		symbol_forget_module(c, req);
		return;
	}
	mod = symbol_module(c, fd, req);
	if (!mod)
		return;
	if (req->question == SYMBOL_ASK_CODE)
		symbol_code(c, mod, req->vaddr, req->plain, &reply->code);
	else if (req->question == SYMBOL_ASK_UNWIND)
		unwind_step(mod, req->vaddr, &unwind->regs, &unwind->stack, &reply->step);
	else if (req->question == SYMBOL_ASK_RULE)
		reply->known = unwind_rule(mod, req->vaddr, &reply->rule, &reply->range);
	else if (req->question == SYMBOL_ASK_PARAMETERS)
		reply->known =
			!req->plain && symbol_find_parameters(mod, req->vaddr, &reply->parameters);
	else
		reply->known = symbol_data(c, mod, req->vaddr, reply->data);
}

/* Receive a request. Return the descriptor that was sent with it, or -EPIPE. */
static int symbol_receive(int sock, struct symbol_request *req, struct symbol_unwind *unwind)
{
	const struct iovec parts[] = { { .iov_base = req, .iov_len = sizeof(*req) },
				       { .iov_base = unwind, .iov_len = sizeof(*unwind) } };
	int fd;
	size_t n = child_receive(sock, parts, 2, &fd), want = sizeof(*req);

	if (n >= want && req->question == SYMBOL_ASK_UNWIND)
		want += sizeof(*unwind);
	return n == want && fd >= 0 ? fd : -EPIPE;
}

void symbol_child_run(void *debug_path, int sock)
{
	struct symbol_child *c;
	struct symbol_request *req;
	struct symbol_unwind *unwind;
	struct symbol_reply *reply;
	int fd;

	c = calloc(1, sizeof(*c));
	req = calloc(1, sizeof(*req));
	unwind = calloc(1, sizeof(*unwind));
	reply = calloc(1, sizeof(*reply));
	if (!c || !req || !unwind || !reply)
		_exit(1);
	c->sock = sock;
	c->debug_path = debug_path;
	c->callbacks = (Dwfl_Callbacks){ .find_elf = dwfl_build_id_find_elf,
					 .find_debuginfo = dwfl_standard_find_debuginfo,
					 .section_address = dwfl_offline_section_address,
					 .debuginfo_path = &c->debug_path };
	while ((fd = symbol_receive(c->sock, req, unwind)) >= 0) {
		child_limit_cpu(SYMBOL_FILE_S);
		symbol_answer(c, fd, req, unwind, reply);
		if (send(c->sock, reply, sizeof(*reply), MSG_NOSIGNAL) != sizeof(*reply))
			break;
	}
	free(reply);
	free(unwind);
	free(req);
	free(c);
}
