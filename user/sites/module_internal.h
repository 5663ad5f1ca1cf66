/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* How a module is examined: shared by the files that do it. */
#ifndef SITES_MODULE_INTERNAL_H
#define SITES_MODULE_INTERNAL_H

#include "sites/module.h"

/* One module, and what may be asked about it. */
struct module_names {
	struct rules *rules; /* the user's; NULL none */
	struct rules *known; /* ours */
	struct module *module;
	/* What a mangled name reads in the source, and how many parameters a function has: as symbol.h has them. NULL: nobody knows. */
	bool (*source_name)(void *ctx, const char *raw, char *name, size_t size);
	bool (*parameters)(void *ctx, uint64_t vaddr, uint32_t *n);
	void *ctx;
};

/*
 * Fill in the module from its open file (module.elf). It parses untrusted contents, so only the
 * child of the reader calls it.
 */
void module_examine(struct module_names *names);
/* The same of the functions of parallel regions: module_find_outlined(). Addresses are as linked. */
int module_add_outlined(struct module *m, uint8_t family, uint64_t vaddr, uint64_t caller);
/* Is the code at @vaddr a wrapper's? See module_is_wrapper(). */
bool module_has_wrapper(const struct elf_file *elf, bool c_library, uint64_t vaddr);

/* --- to bytes and back (module_wire.c) ---------------------------------------------------------------- */

struct wire;

/* What has been found of a file, the places included, whose rows are of the tables or of these rules. */
void module_wire(struct wire *w, struct module *m, const struct module_names *names);
/* One place. */
void module_wire_probe_site(struct wire *w, struct module_probe_site *probe_site,
			    const struct module_names *names);
void module_wire_held(struct wire *w, struct held_arg *held);
/* A function. */
void module_wire_symbol(struct wire *w, struct elf_symbol *symbol);
/*
 * Makes sense of what was read: whatever is to be probed lies in a segment that is executed, and all of that in the file's @size bytes.
 * False: it does not.
 */
bool module_is_sound(struct module *m, uint64_t size);
bool module_probe_site_is_sound(const struct module *m, struct module_probe_site *probe_site);
void module_forget_facts(struct module *m);
/* What module_ask.c has kept. */
void module_forget_answers(struct module *m);

/* --- its file (module_file.c) ------------------------------------------------------------------------ */

/* Notes which file in which state the open one is. */
void module_identify(struct module *m);
/* Closes the descriptor: module_fd() opens it again. */
void module_close(struct module *m);
/* Is what the process maps there what was examined, as far as that can be known? A file may be written anew in its place. */
bool module_is_unchanged(const struct module *m, int pid, const struct maps_entry *entry);
/*
 * Is the file that the process maps there still the one that was examined? Numbers of inodes come again once a file is
 * closed. It is open then.
 */
bool module_is_behind(struct module *m, int pid, const struct maps_entry *entry);

/* --- places ---------------------------------------------------------------------------------------- */

/* The function as far as it is known: where a branch leads decides where a probe may sit. Returns how many bytes. */
size_t module_function_bytes(const struct module *m, const struct elf_symbol *symbol,
			     const uint8_t **bytes);
void module_find_exits(struct module *m, const struct elf_symbol *symbol,
		       struct module_probe_site *probe_site);
/* NULL: out of memory, or absurdly many. What pointed to others may point nowhere afterwards. */
struct module_probe_site *module_probe_site_new(struct module *m);
/* The place of a row of the table, unless it is known by another name. */
void module_add_probe_site(struct module *m, const struct family_function *function,
			   const char *name, const struct elf_symbol *symbol);
/* Drops the beginnings whose ends cannot be seen, with the reason, and the ends that have no beginning. */
void module_drop_halves(struct module *m);

/* --- what is looked for, in this order --------------------------------------------------------------- */

/* Functions that the table names, and markers. */
void module_find_known(struct module *m);
/* Functions that rules name. */
void module_find_ruled(struct module_names *names);
/* How much of a symbol's name is the function's, if it is the whole function, or a copy of it for some arguments. */
size_t module_whole_len(const char *name);
/* Waits of C++20 that were put in line. */
void module_find_inline(struct module *m);
/* What no name tells: functions known by their code, returns of regions, the dynamic linker's sign. */
void module_find_rest(struct module *m);

#endif /* SITES_MODULE_INTERNAL_H */
