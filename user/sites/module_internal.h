/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* How a module is examined. Shared by the files that do it. */
#ifndef SITES_MODULE_INTERNAL_H
#define SITES_MODULE_INTERNAL_H

#include "sites/module.h"

/* One module, and the rules for examining it. */
struct module_names {
	struct rules *rules; /* the user's rules, or NULL */
	struct rules *known; /* the built-in rules */
	struct module *module;
	/*
	 * Return the source name of a mangled name, and the number of parameters of a function, as
	 * in symbol.h. NULL: unknown.
	 */
	bool (*source_name)(void *ctx, const char *raw, char *name, size_t size);
	bool (*parameters)(void *ctx, uint64_t vaddr, uint32_t *n);
	void *ctx;
};

/*
 * Fill in the module from its open file (module.elf). The contents are untrusted, so only the
 * reader's child calls this function.
 */
void module_examine(struct module_names *names);
/* Add the functions of parallel regions: module_find_outlined(). Addresses are as linked. */
int module_add_outlined(struct module *m, uint8_t family, uint64_t vaddr, uint64_t caller);
/* Return whether the code at @vaddr is in a wrapper. See module_is_wrapper(). */
bool module_has_wrapper(const struct elf_file *elf, bool c_library, uint64_t vaddr);

/* --- to bytes and back (module_wire.c) -------------------------------------------------------- */

struct wire;

/*
 * Transfer all that was found in a file, with the probe sites. Their rows belong to the tables or
 * to these rules.
 */
void module_wire(struct wire *w, struct module *m, const struct module_names *names);
/* Transfer one probe site. */
void module_wire_probe_site(struct wire *w, struct module_probe_site *probe_site,
			    const struct module_names *names);
void module_wire_held(struct wire *w, struct held_arg *held);
/* Transfer a function. */
void module_wire_symbol(struct wire *w, struct elf_symbol *symbol);
/*
 * Check and complete the module that was read: all probe sites must be in executable segments, and
 * all segments within the @size bytes of the file. Return false if they are not.
 */
bool module_is_sound(struct module *m, uint64_t size);
bool module_probe_site_is_sound(const struct module *m, struct module_probe_site *probe_site);
void module_forget_facts(struct module *m);
/* Forget the answers that module_ask.c has kept. */
void module_forget_answers(struct module *m);

/* --- its file (module_file.c) ----------------------------------------------------------------- */

/* Note which file in which state is open. */
void module_identify(struct module *m);
/* Close the descriptor. module_fd() opens it again. */
void module_close(struct module *m);
/*
 * Return whether the process maps the contents that were examined, as far as is known. A file may
 * have been rewritten in place.
 */
bool module_is_unchanged(const struct module *m, int pid, const struct maps_entry *entry);
/*
 * Return whether the file that the process maps is still the one that was examined. Inode numbers
 * are reused once a file is closed. On success the file is open.
 */
bool module_is_behind(struct module *m, int pid, const struct maps_entry *entry);

/* --- probe sites ------------------------------------------------------------------------------ */

/*
 * Read the code of the function, as far as it is needed to find branches to where a probe may go.
 * Return the number of bytes.
 */
size_t module_function_bytes(const struct module *m, const struct elf_symbol *symbol,
			     const uint8_t **bytes);
void module_find_exits(struct module *m, const struct elf_symbol *symbol,
		       struct module_probe_site *probe_site);
/*
 * Return a new probe site. Pointers to other probe sites become invalid. NULL: out of memory, or
 * too many.
 */
struct module_probe_site *module_probe_site_new(struct module *m);
/*
 * Add a probe site inside a function, at the instruction at @offset, for @row. @what: text that
 * describes the instruction. Return the probe site, or NULL as above.
 */
struct module_probe_site *module_add_inside(struct module *m, const struct family_function *row,
					    uint64_t offset, const char *what);
/* Add the probe site of a row of the table, unless it is known under another name. */
void module_add_probe_site(struct module *m, const struct family_function *function,
			   const char *name, const struct elf_symbol *symbol);
/* Remove starts without a visible end, with the reason, and ends without a start. */
void module_drop_halves(struct module *m);

/* --- searches, in this order ------------------------------------------------------------------ */

/* Find functions that the table names, and markers. */
void module_find_known(struct module *m);
/* Find functions that rules name. */
void module_find_ruled(struct module_names *names);
/*
 * Return how much of a symbol's name is the function's, if the symbol is a whole function, or a
 * copy of one for certain arguments.
 */
size_t module_whole_len(const char *name);
/* Find inlined waits of C++20. */
void module_find_inline(struct module *m);
/*
 * Find probe sites without a name: functions known by their code, returns of regions, the dynamic
 * linker's debugger function.
 */
void module_find_rest(struct module *m);

#endif /* SITES_MODULE_INTERNAL_H */
