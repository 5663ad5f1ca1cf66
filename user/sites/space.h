/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * The way back: from an address in a process to a call site and its name. A space is one process as it
 * was seen: its mappings, kept after it has gone. A call site is a place in a module, so that two processes of
 * one program share it, and one library's site keeps its name after dlclose.
 */
#ifndef SITES_SPACE_H
#define SITES_SPACE_H

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

#define SPACE_SITE_NONE	 UINT32_MAX
#define SPACE_UNWIND_MAX 64 /* frames of one stack */

/* A program as the kernel tells of it: its file, and where it lies in the process. */
struct space_program {
	uint32_t dev;
	uint64_t ino;
	struct proc_image image;
};

/* A mapping: memory at @offset of a file; ino 0: that others cannot share. */
struct space_memory {
	uint64_t start, end; /* addresses in the process */
	uint64_t offset, ino;
	uint32_t dev; /* as in struct maps_entry */
	bool unknown; /* what it is could not be seen */
};

/* Waits of its threads for their turn (SBT_ROLE_TURN). */
enum space_turns {
	SPACE_TURNS_NONE, /* no file of it with such functions was found, or none is to be probed */
	SPACE_TURNS_SEEN,
	SPACE_TURNS_PARTLY, /* no probe could be put, or was away for a time */
};

struct space {
	uint32_t tgid;
	uint32_t inc;
	struct space_program program; /* that it runs; image.code 0: not known */
	struct maps maps;
	struct maps looked; /* by space_look(), for the next space_read(); empty if nobody did */
	/* How often they have changed: when `looked` and when `maps` were read, and as far as events have told. */
	uint32_t looked_changes, maps_changes, changes;
	bool partial; /* of what was looked at: the dynamic linker was still at it */
	bool read; /* maps are of this very program, not inherited */
	enum family_libc libc; /* whose barrier objects these are */
	bool has_place; /* a barrier function is mapped */
	bool settled; /* its libraries are there: nothing more is to be waited for */
	bool by_exit; /* return probes could hurt here */
	bool stepped; /* under one of its probes the kernel must step an instruction */
	uint64_t handler_ns,
		spent; /* sbt_crossing.handler_ns, sbt_sums.handler_ns of those that told it; how many did */
	const char *departures; /* how they are seen, in words; ours */
	const char *refusal; /* why no return probes; NULL; ours */
	uint32_t reads; /* how often the mappings have been read */
	bool young; /* it began while it was traced: by exec, or forked by the process parent_tgid */
	uint32_t parent_tgid, parent_inc; /* 0: by exec */
	const struct space_note *notes; /* space_note_memory(), the newest first */
	struct untraced untraced; /* functions that its code calls and in which it waits unseen */
	enum space_turns turns;
	bool runs; /* while its mappings are examined */
	struct untraced turns_unseen; /* of these functions those that could get no probe */
	bool tasks; /* it makes or runs OpenMP tasks, as a probe has told */
	bool blind; /* it ran for a while before there were probes where its threads wait */
	bool gone; /* the process has ended or runs another program */
};

/* What follows from the files that a process has mapped. */
struct space_facts {
	bool has_place;
	bool settled;
	bool decided; /* nothing that is still to be mapped can change the refusal */
	enum family_libc libc;
	const char *refusal;
};

struct spaces;

/* The names of the functions in space->untraced, which live as long as @spaces; NULL: there are none. */
const char *space_untraced(struct spaces *spaces, const struct space *space);
/* Return the same text, one copy of equal ones, which lives as long as @spaces; NULL: out of memory. */
const char *spaces_keep(struct spaces *spaces, const char *text);
/* Does the process run OpenMP tasks, as far as is known? Where that is no longer seen: could it, by what its code calls? */
bool space_tasks(const struct spaces *spaces, const struct space *space);
/* From now on it is not seen of every process. */
void spaces_tasks_unseen(struct spaces *spaces);
int spaces_new(struct modules *modules, struct symbol_server *symbols, struct spaces **out);
void spaces_free(struct spaces *spaces);
/*
 * Who knows how often the dynamic linker of a process has told of a change by now: returns 0, or that it is not known. Without, what is
 * read is taken to be as it was when it is asked for.
 */
void spaces_set_changes(struct spaces *spaces,
			int (*changes)(void *ctx, uint32_t tgid, uint32_t inc, uint32_t *n),
			void *ctx);

/* The space of a process, made if it is new (empty until space_read()). NULL: out of memory. */
struct space *space_get(struct spaces *spaces, uint32_t tgid, uint32_t inc);
struct space *space_find(const struct spaces *spaces, uint32_t tgid, uint32_t inc);
/* Of a process that has ended: what it had mapped is not asked for any more. Pointers to it are void. */
void spaces_forget(struct spaces *spaces, uint32_t tgid, uint32_t inc);
/* The same number for processes of the same program, of which the same is to be said. Not 0. */
uint64_t space_program_key(struct spaces *spaces, const struct space *space);
/*
 * Judges a process by its mappings, which need not be those of a space. @partial: when they were read the dynamic linker
 * was still to map more.
 */
struct space_facts spaces_classify(struct spaces *spaces, int pid, const struct maps *maps,
				bool partial);
/* The same of a program by all the files that it will map. */
struct space_facts spaces_classify_files(struct module *const files[], size_t n);
/* A child begins with what its parent had mapped. */
int space_inherit(struct space *child, const struct space *parent);
/*
 * What a process had mapped where a barrier was made that it means to share, in the order of time. Returns 1, 0 if that is
 * nothing new, or -ENOMEM: then nothing of the kind is known of it any more.
 */
int space_note_memory(struct spaces *spaces, struct space *space,
		      const struct space_memory *memory);
/* A child has been forked, in the order of time. */
void space_inherit_notes(struct space *child, const struct space *parent);
/*
 * Reads the mappings as they are now, for space_read() to take over when all that came before has been looked up in the
 * old ones: a process does not wait for that. Returns as space_read().
 */
int space_look(struct spaces *spaces, struct space *space);
/*
 * Reads the mappings as they are now, unless space_look() has, and what follows from them. What the process had before is forgotten,
 * but not the sites found in it. Returns 0, -ESRCH, -ESTALE (it runs another program by now, of which the mappings are: it
 * is gone) or -errno: then what was known stays.
 */
int space_read(struct spaces *spaces, struct space *space);
/*
 * Take over what a process that was forked, and is not read yet, has mapped now. What is known of its parent may be older than what
 * both share, and it may end before it is read.
 */
void space_see_inherited(struct space *space);

/*
 * For a process that has ended, or run another program, before its mappings were read: its own program lay there, so that
 * what it called has a name; of its libraries nothing is known. Nothing happens if mappings are known, or the file has
 * never been examined. Returns 0 or -ENOMEM.
 */
int space_assume(struct spaces *spaces, struct space *space);

/*
 * The call site that returns to @ip. Reads the mappings anew if the address is in none that is
 * known. Never fails: an address in no module is a site of its own, and so is one of which it is not sure in which it was.
 */
uint32_t space_site(struct spaces *spaces, struct space *space, uint64_t ip);

/* A return address as the kernel saw it at the call: in which file. */
struct space_place {
	uint64_t ip;
	uint64_t ino; /* 0: in none */
	uint64_t offset; /* of ip, in the file */
	uint32_t dev;
	bool unseen; /* it could not look: all of these are nothing */
};

/*
 * As space_site(), whatever is mapped at that address by now. A site of its own: it was in no file that has been examined, and what is there has not
 * been there from the beginning.
 */
uint32_t space_place_site(struct spaces *spaces, const struct space *space,
			  const struct space_place *place);
/*
 * A place that the program itself names by a marker: the strings are untrusted, and copied. What could not be read from
 * memory then is read from the mapped file. Two processes of one program share it. SPACE_SITE_NONE: out of memory.
 */
uint32_t space_label_site(struct spaces *spaces, struct space *space,
			  const struct sbt_label *label);
/* The code in front of the return address @ip: where in which file. */
struct space_code {
	const struct module *module;
	uint64_t offset; /* of the return address, in the file */
	uint64_t vaddr; /* of the call: one less, as linked */
};

/* The file behind a mapping of the process, or NULL. */
const struct module *space_module(struct spaces *spaces, const struct space *space,
				  const struct maps_entry *entry);
/* False: it is in no file that is known. Reads the mappings anew if need be. */
bool space_code(struct spaces *spaces, struct space *space, uint64_t ip, struct space_code *out);
struct symbol_server *spaces_symbols(const struct spaces *spaces);
/*
 * Unwinds @sample, a stack of a thread of this process, by the unwind tables of its files, and by
 * frame pointers through code that has none. *n <= @max call sites, for spaces_site(): [0] is where
 * the thread stood, then its callers. Ends quietly where the stack, the sample or what is known of
 * it ends: *n may be 0. Reads the mappings anew at most once. Takes a question to the symboliser's
 * child for each frame: tens of microseconds, far more when the file is new to it.
 * Returns 0, -ENOTSUP on machines whose registers are not known, or -ENOMEM.
 */
int space_unwind(struct spaces *spaces, struct space *space, const struct sbt_stack *sample,
		 uint32_t *sites, uint32_t max, uint32_t *n);
/*
 * What lies at @addr, in words: the path of the mapped file, what the kernel calls it ("[heap]",
 * "[stack]" of the main thread, "[vdso]"), "anonymous memory", or NULL if nothing is known to be
 * mapped there, or out of memory. A path is untrusted. Valid until spaces_free().
 */
const char *space_mapping_name(struct spaces *spaces, struct space *space, uint64_t addr);
/* Names the memory that processes share at @addr, or 0 if it is not shared or not known, which *known tells (may be NULL). */
uint64_t space_shared_key(struct spaces *spaces, struct space *space, uint64_t addr, bool *known);
/* Has the process, which was forked, ended before anybody read what is mapped at @addr, and is that not known of its parents either? */
bool space_shared_unknown(struct spaces *spaces, struct space *space, uint64_t addr);
/* The global variable at @addr, or NULL. Kept until spaces_free(). */
const char *space_object_name(struct spaces *spaces, const struct space *space, uint64_t addr);

/* Marks the modules that processes map which run: modules_close_unused(). */
void spaces_mark_used(struct spaces *spaces);
/*
 * Looks up the names of the module's sites that were not asked for yet, and makes the symboliser close the file: it is about
 * to be closed. False: that would take long, and is to be continued another time.
 */
bool spaces_settle_module(struct spaces *spaces, struct module *module);
/* What a site is called; looked up when first asked for. Valid until spaces_free(). */
const struct site_name *spaces_site(struct spaces *spaces, uint32_t site);

/*
 * The function of the program's source that a site is in, be it inlined, the parts that a compiler split off it
 * included, the wrappers of C++'s condition variables not: the same number for the same function of the same file; 0 if
 * it has none. In a file without names it is known by where it begins. Looked up like spaces_site(). Not *exact: without debugging information, by which another function
 * may have been inlined there.
 */
uint64_t spaces_function(struct spaces *spaces, uint32_t site, bool *exact);
/* The same of the function that all others were inlined into: the one that the machine's code belongs to. */
uint64_t spaces_outer_function(struct spaces *spaces, uint32_t site);
/*
 * The line of the source that a site is on: at @depth 0 of the outermost function, at 1 of the one that was inlined there, and
 * so on; of the innermost one at SPACE_INNERMOST. The wrappers of C++'s library are none. 0: not known, or there is none.
 */
#define SPACE_INNERMOST UINT32_MAX
uint64_t spaces_line(struct spaces *spaces, uint32_t site, uint32_t depth);
/*
 * Are both sites on one line of the source, or in one function of its own that is so small that it holds little besides? The
 * wrappers of C++'s condition variables do not count as inlined functions.
 */
bool spaces_compact(struct spaces *spaces, uint32_t a, uint32_t b);
/* Is the function that a site is in as small as a barrier's? True where its size is not known. */
bool spaces_small(struct spaces *spaces, uint32_t site);
/* Is it so small that it does nothing else than this call, but for looking at what it returns? */
bool spaces_tiny(struct spaces *spaces, uint32_t site);
/*
 * The name by which a rule of -b finds the function that a site is in. NULL: it was inlined, its symbol has another name, or
 * its exits are not known. Valid until spaces is freed.
 */
const char *spaces_rule_name(struct spaces *spaces, uint32_t site);
/* The same of a site at which one function, and no more, was inlined: the name of the one that it was inlined into. */
const char *spaces_rule_name_around(struct spaces *spaces, uint32_t site);
/* How much of a function's name is that of the whole: "f.cold", "f.part.0", "f(int) [clone .cold]" are parts of f. */
size_t site_function_len(const char *name);
/* Notes that the call at @site is of @function, in which the barrier is. The first that is said of a site stays. */
void spaces_set_through(struct spaces *spaces, uint32_t site, const char *function);

#endif /* SITES_SPACE_H */
