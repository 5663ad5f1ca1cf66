/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* How a module is examined. Shared by the files that examine it. */
#ifndef SITES_MODULE_INTERNAL_H
#define SITES_MODULE_INTERNAL_H

#include "sites/module.h"

/* One module, and the rules for examining it. */
struct module_names {
	struct rules *rules; /* the user's rules, or NULL */
	struct rules *known; /* the built-in rules */
	struct module *module;
	/*
	 * source_name() gets the source name of a mangled name; parameters() gets the number of a
	 * function's parameters. See symbol.h. Either may be NULL.
	 */
	bool (*source_name)(void *ctx, const char *raw, char *name, size_t size);
	bool (*parameters)(void *ctx, uint64_t vaddr, uint32_t *n);
	void *ctx;
};

/*
 * Fill in the module from its open file (module.elf). The contents are untrusted, so only the
 * reader's child may call this function.
 */
void module_examine(struct module_names *names);
/*
 * Add the functions of parallel regions as module_find_outlined() does. Addresses are linked
 * addresses.
 */
int module_add_outlined(struct module *m, uint8_t family, uint64_t vaddr, uint64_t caller);
/* Return whether the code at @vaddr is in a wrapper: see module_is_wrapper(). */
bool module_has_wrapper(const struct elf_file *elf, bool c_library, uint64_t vaddr);

/* --- to bytes and back (module_wire.c) -------------------------------------------------------- */

struct wire;

/*
 * Transfer everything that was found in a file, including the probe sites. The rows of probe sites
 * must be in the tables or in the rules of @names.
 */
void module_wire(struct wire *w, struct module *m, const struct module_names *names);
/* Transfer one probe site. */
void module_wire_probe_site(struct wire *w, struct module_probe_site *probe_site,
			    const struct module_names *names);
void module_wire_held(struct wire *w, struct held_arg *held);
/* Transfer a function. */
void module_wire_symbol(struct wire *w, struct elf_symbol *symbol);
/*
 * Check and complete a module that was received: all probe sites must be in executable segments,
 * and all segments within the @size bytes of the file. Return false if they are not.
 */
bool module_is_sound(struct module *m, uint64_t size);
bool module_probe_site_is_sound(const struct module *m, struct module_probe_site *probe_site);
void module_forget_facts(struct module *m);
/* Forget the answers that module_ask.c has kept. */
void module_forget_answers(struct module *m);

/* --- its file (module_file.c) ----------------------------------------------------------------- */

/* Remember which file is open, and its state. */
void module_identify(struct module *m);
/* Close the descriptor. module_fd() opens it again. */
void module_close(struct module *m);
/*
 * Return whether the contents that the process maps are the contents that were examined, as far as
 * is known. A file may have been rewritten in place.
 */
bool module_is_unchanged(const struct module *m, int pid, const struct maps_entry *entry);
/*
 * Return whether the file that the process maps is the file that was examined: once a file is
 * closed, its inode number may be reused. If so, also try to open the file.
 */
bool module_is_behind(struct module *m, int pid, const struct maps_entry *entry);

/* --- probe sites ------------------------------------------------------------------------------ */

/*
 * Read the function's code, or only its first 64 bytes if the function is large or its size is
 * unknown. Return the number of bytes.
 */
size_t module_function_bytes(const struct module *m, const struct elf_symbol *symbol,
			     const uint8_t **bytes);
void module_find_exits(struct module *m, const struct elf_symbol *symbol,
		       struct module_probe_site *probe_site);
/*
 * Return a new probe site. Pointers to other probe sites become invalid. NULL: out of memory, or
 * too many probe sites.
 */
struct module_probe_site *module_probe_site_new(struct module *m);
/*
 * Add a probe site inside a function, at the instruction at @offset, for @row. @what: text that
 * describes the instruction. Return the probe site, or NULL as module_probe_site_new() does.
 */
struct module_probe_site *module_add_inside(struct module *m, const struct family_function *row,
					    uint64_t offset, const char *what);
/* Add the probe site of a row of the table, unless it is known under another name. */
void module_add_probe_site(struct module *m, const struct family_function *function,
			   const char *name, const struct elf_symbol *symbol);
/*
 * Handle incomplete pairs of functions. A first function without a usable second function gets an
 * error with the reason. A second function without a first function is removed.
 */
void module_drop_halves(struct module *m);

/* --- searches, in this order ------------------------------------------------------------------ */

/* Find functions that the table names, and markers. */
void module_find_known(struct module *m);
/* Find functions that rules name. */
void module_find_ruled(struct module_names *names);
/*
 * Return the length of the part of a symbol's name that names the whole function. A copy that a
 * compiler made for certain arguments counts as the function.
 */
size_t module_whole_len(const char *name);
/* Find inlined waits of C++20. */
void module_find_inline(struct module *m);
/*
 * Find probe sites without a name: functions known by their code, addresses to which region
 * functions return, and the dynamic linker's function for debuggers.
 */
void module_find_rest(struct module *m);

/* Return which library with threads of its own the file is, or contains. */
enum module_team module_find_team(const struct module *m);

#endif /* SITES_MODULE_INTERNAL_H */
