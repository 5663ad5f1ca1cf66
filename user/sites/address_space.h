/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The way back: from an address in a process to a call site and its name. A space is one process as it
 * was seen: its mappings, kept after it has gone. A call site is a place in a module, so that two processes of
 * one program share it, and one library's site keeps its name after dlclose.
 */
#ifndef SITES_ADDRESS_SPACE_H
#define SITES_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sites/family.h"
#include "sites/module.h"
#include "sites/site.h"
#include "symbols/stack.h"
#include "symbols/symbol.h"
#include "target/maps.h"
#include "target/proc.h"

#define ADDRESS_SPACE_SITE_NONE	 UINT32_MAX
#define ADDRESS_SPACE_UNWIND_MAX 64 /* frames of one stack */

/* A program as the kernel tells of it: its file, and where it lies in the process. */
struct address_space_program {
	uint32_t dev;
	uint64_t ino;
	struct proc_image image;
};

/* A mapping: memory at @offset of a file; ino 0: that others cannot share. */
struct address_space_memory {
	uint64_t start, end; /* addresses in the process */
	uint64_t offset, ino;
	uint32_t dev; /* as in struct maps_entry */
	bool unknown; /* what it is could not be seen */
};

/* Waits of its threads for their turn (SBT_ROLE_TURN). */
enum address_space_turns {
	ADDRESS_SPACE_TURNS_NONE, /* no file of it with such functions was found, or none is to be probed */
	ADDRESS_SPACE_TURNS_SEEN,
	ADDRESS_SPACE_TURNS_PARTLY, /* no probe could be put, or was away for a time */
};

struct address_space {
	uint32_t tgid;
	uint32_t inc;
	struct address_space_program program; /* that it runs; image.code 0: not known */
	struct maps maps;
	struct maps
		looked; /* by address_space_look(), for the next address_space_read(); empty if nobody did */
	/* How often they have changed: when `looked` and when `maps` were read, and as far as events have told. */
	uint32_t looked_changes, maps_changes, changes;
	bool partial; /* of what was looked at: the dynamic linker was still at it */
	bool read; /* maps are of this very program, not inherited */
	enum family_libc libc; /* whose barrier objects these are */
	bool has_probe_site; /* a barrier function is mapped */
	bool settled; /* its libraries are there: nothing more is to be waited for */
	bool by_exit; /* return probes could hurt here */
	bool stepped; /* under one of its probes the kernel must step an instruction */
	uint64_t handler_ns,
		spent; /* sbt_crossing.handler_ns, sbt_sums.handler_ns of those that told it; how many did */
	const char *exit_detection; /* how they are seen, in words; ours */
	const char *refusal; /* why no return probes; NULL; ours */
	uint32_t reads; /* how often the mappings have been read */
	bool young; /* it began while it was traced: by exec, or forked by the process parent_tgid */
	uint32_t parent_tgid, parent_inc; /* 0: by exec */
	const struct address_space_note *notes; /* address_space_note_memory(), the newest first */
	struct untraced untraced; /* functions that its code calls and in which it waits unseen */
	enum address_space_turns turns;
	bool runs; /* while its mappings are examined */
	struct untraced turns_unseen; /* of these functions those that could get no probe */
	bool tasks; /* it makes or runs OpenMP tasks, as a probe has told */
	bool blind; /* it ran for a while before there were probes where its threads wait */
	bool gone; /* the process has ended or runs another program */
};

/* What follows from the files that a process has mapped. */
struct address_space_facts {
	bool has_probe_site;
	bool settled;
	bool decided; /* nothing that is still to be mapped can change the refusal */
	enum family_libc libc;
	const char *refusal;
};

struct address_spaces;

/* The names of the functions in space->untraced, which live as long as @spaces; NULL: there are none. */
const char *address_space_untraced(struct address_spaces *spaces,
				   const struct address_space *space);
/* Return the same text, one copy of equal ones, which lives as long as @spaces; NULL: out of memory. */
const char *address_spaces_keep(struct address_spaces *spaces, const char *text);
/* Does the process run OpenMP tasks, as far as is known? Where that is no longer seen: could it, by what its code calls? */
bool address_space_tasks(const struct address_spaces *spaces, const struct address_space *space);
/* From now on it is not seen of every process. */
void address_spaces_tasks_unseen(struct address_spaces *spaces);
int address_spaces_new(struct modules *modules, struct symbol_server *symbols,
		       struct address_spaces **out);
void address_spaces_free(struct address_spaces *spaces);
/*
 * Who knows how often the dynamic linker of a process has told of a change by now: returns 0, or that it is not known. Without, what is
 * read is taken to be as it was when it is asked for.
 */
void address_spaces_set_changes(struct address_spaces *spaces,
				int (*changes)(void *ctx, uint32_t tgid, uint32_t inc, uint32_t *n),
				void *ctx);

/* The space of a process, made if it is new (empty until address_space_read()). NULL: out of memory. */
struct address_space *address_space_get(struct address_spaces *spaces, uint32_t tgid, uint32_t inc);
struct address_space *address_space_find(const struct address_spaces *spaces, uint32_t tgid,
					 uint32_t inc);
/* Of a process that has ended: what it had mapped is not asked for any more. Pointers to it are void. */
void address_spaces_forget(struct address_spaces *spaces, uint32_t tgid, uint32_t inc);
/* The same number for processes of the same program, of which the same is to be said. Not 0. */
uint64_t address_space_program_key(struct address_spaces *spaces,
				   const struct address_space *space);
/*
 * Judges a process by its mappings, which need not be those of a space. @partial: when they were read the dynamic linker
 * was still to map more.
 */
struct address_space_facts address_spaces_classify(struct address_spaces *spaces, int pid,
						   const struct maps *maps, bool partial);
/* The same of a program by all the files that it will map. */
struct address_space_facts address_spaces_classify_files(struct module *const files[], size_t n);
/* A child begins with what its parent had mapped. */
int address_space_inherit(struct address_space *child, const struct address_space *parent);
/*
 * What a process had mapped where a barrier was made that it means to share, in the order of time. Returns 1, 0 if that is
 * nothing new, or -ENOMEM: then nothing of the kind is known of it any more.
 */
int address_space_note_memory(struct address_spaces *spaces, struct address_space *space,
			      const struct address_space_memory *memory);
/* A child has been forked, in the order of time. */
void address_space_inherit_notes(struct address_space *child, const struct address_space *parent);
/*
 * Reads the mappings as they are now, for address_space_read() to take over when all that came before has been looked up in the
 * old ones: a process does not wait for that. Returns as address_space_read().
 */
int address_space_look(struct address_spaces *spaces, struct address_space *space);
/*
 * Reads the mappings as they are now, unless address_space_look() has, and what follows from them. What the process had before is forgotten,
 * but not the sites found in it. Returns 0, -ESRCH, -ESTALE (it runs another program by now, of which the mappings are: it
 * is gone) or -errno: then what was known stays.
 */
int address_space_read(struct address_spaces *spaces, struct address_space *space);
/*
 * Take over what a process that was forked, and is not read yet, has mapped now. What is known of its parent may be older than what
 * both share, and it may end before it is read.
 */
void address_space_see_inherited(struct address_space *space);

/*
 * For a process that has ended, or run another program, before its mappings were read: its own program lay there, so that
 * what it called has a name; of its libraries nothing is known. Nothing happens if mappings are known, or the file has
 * never been examined. Returns 0 or -ENOMEM.
 */
int address_space_assume(struct address_spaces *spaces, struct address_space *space);

/*
 * The call site that returns to @ip. Reads the mappings anew if the address is in none that is
 * known. Never fails: an address in no module is a site of its own, and so is one of which it is not sure in which it was.
 */
uint32_t address_space_site(struct address_spaces *spaces, struct address_space *space,
			    uint64_t ip);

/* A return address as the kernel saw it at the call: in which file. */
struct address_space_return {
	uint64_t ip;
	uint64_t ino; /* 0: in none */
	uint64_t offset; /* of ip, in the file */
	uint32_t dev;
	bool unseen; /* it could not look: all of these are nothing */
};

/*
 * As address_space_site(), whatever is mapped at that address by now. A site of its own: it was in no file that has been examined, and what is there has not
 * been there from the beginning.
 */
uint32_t address_space_return_site(struct address_spaces *spaces, const struct address_space *space,
				   const struct address_space_return *probe_site);
/*
 * A place that the program itself names by a marker: the strings are untrusted, and copied. What could not be read from
 * memory then is read from the mapped file. Two processes of one program share it. ADDRESS_SPACE_SITE_NONE: out of memory.
 */
uint32_t address_space_label_site(struct address_spaces *spaces, struct address_space *space,
				  const struct sbt_label *label);
/* The code in front of the return address @ip: where in which file. */
struct address_space_code {
	const struct module *module;
	uint64_t offset; /* of the return address, in the file */
	uint64_t vaddr; /* of the call: one less, as linked */
};

/* The file behind a mapping of the process, or NULL. */
const struct module *address_space_module(struct address_spaces *spaces,
					  const struct address_space *space,
					  const struct maps_entry *entry);
/* False: it is in no file that is known. Reads the mappings anew if need be. */
bool address_space_code(struct address_spaces *spaces, struct address_space *space, uint64_t ip,
			struct address_space_code *out);
struct symbol_server *address_spaces_symbols(const struct address_spaces *spaces);
/*
 * Unwinds @sample, a stack of a thread of this process, by the unwind tables of its files, and by
 * frame pointers through code that has none. *n <= @max call sites, for address_spaces_site(): [0] is where
 * the thread stood, then its callers. Ends quietly where the stack, the sample or what is known of
 * it ends: *n may be 0. Reads the mappings anew at most once. Takes a question to the symboliser's
 * child for each frame: tens of microseconds, far more when the file is new to it.
 * Returns 0, -ENOTSUP on machines whose registers are not known, or -ENOMEM.
 */
int address_space_unwind(struct address_spaces *spaces, struct address_space *space,
			 const struct sbt_stack *sample, uint32_t *sites, uint32_t max,
			 uint32_t *n);
/*
 * What lies at @addr, in words: the path of the mapped file, what the kernel calls it ("[heap]",
 * "[stack]" of the main thread, "[vdso]"), "anonymous memory", or NULL if nothing is known to be
 * mapped there, or out of memory. A path is untrusted. Valid until address_spaces_free().
 */
const char *address_space_mapping_name(struct address_spaces *spaces, struct address_space *space,
				       uint64_t addr);
/* Names the memory that processes share at @addr, or 0 if it is not shared or not known, which *known tells (may be NULL). */
uint64_t address_space_shared_key(struct address_spaces *spaces, struct address_space *space,
				  uint64_t addr, bool *known);
/* Has the process, which was forked, ended before anybody read what is mapped at @addr, and is that not known of its parents either? */
bool address_space_shared_unknown(struct address_spaces *spaces, struct address_space *space,
				  uint64_t addr);
/* The global variable at @addr, or NULL. Kept until address_spaces_free(). */
const char *address_space_object_name(struct address_spaces *spaces,
				      const struct address_space *space, uint64_t addr);

/* Marks the modules that processes map which run: modules_close_unused(). */
void address_spaces_mark_used(struct address_spaces *spaces);
/*
 * Looks up the names of the module's sites that were not asked for yet, and makes the symboliser close the file: it is about
 * to be closed. False: that would take long, and is to be continued another time.
 */
bool address_spaces_settle_module(struct address_spaces *spaces, struct module *module);
/* What a site is called; looked up when first asked for. Valid until address_spaces_free(). */
const struct site_name *address_spaces_site(struct address_spaces *spaces, uint32_t site);

/*
 * The function of the program's source that a site is in, be it inlined, the parts that a compiler split off it
 * included, the wrappers of C++'s condition variables not: the same number for the same function of the same file; 0 if
 * it has none. In a file without names it is known by where it begins. Looked up like address_spaces_site(). Not *exact: without debugging information, by which another function
 * may have been inlined there.
 */
uint64_t address_spaces_function(struct address_spaces *spaces, uint32_t site, bool *exact);
/* The same of the function that all others were inlined into: the one that the machine's code belongs to. */
uint64_t address_spaces_outer_function(struct address_spaces *spaces, uint32_t site);
/*
 * The line of the source that a site is on: at @depth 0 of the outermost function, at 1 of the one that was inlined there, and
 * so on; of the innermost one at ADDRESS_SPACE_INNERMOST. The wrappers of C++'s library are none. 0: not known, or there is none.
 */
#define ADDRESS_SPACE_INNERMOST UINT32_MAX
uint64_t address_spaces_line(struct address_spaces *spaces, uint32_t site, uint32_t depth);
/*
 * Are both sites on one line of the source, or in one function of its own that is so small that it holds little besides? The
 * wrappers of C++'s condition variables do not count as inlined functions.
 */
bool address_spaces_compact(struct address_spaces *spaces, uint32_t a, uint32_t b);
/* Is the function that a site is in as small as a barrier's? True where its size is not known. */
bool address_spaces_small(struct address_spaces *spaces, uint32_t site);
/* Is it so small that it does nothing else than this call, but for looking at what it returns? */
bool address_spaces_tiny(struct address_spaces *spaces, uint32_t site);
/*
 * The name by which a rule of -b finds the function that a site is in. NULL: it was inlined, its symbol has another name, or
 * its exits are not known. Valid until spaces is freed.
 */
const char *address_spaces_rule_name(struct address_spaces *spaces, uint32_t site);
/* The same of a site at which one function, and no more, was inlined: the name of the one that it was inlined into. */
const char *address_spaces_rule_name_around(struct address_spaces *spaces, uint32_t site);
/* How much of a function's name is that of the whole: "f.cold", "f.part.0", "f(int) [clone .cold]" are parts of f. */
size_t site_function_len(const char *name);
/* Notes that the call at @site is of @function, in which the barrier is. The first that is said of a site stays. */
void address_spaces_set_through(struct address_spaces *spaces, uint32_t site, const char *function);

#endif /* SITES_ADDRESS_SPACE_H */
