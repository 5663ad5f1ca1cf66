/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Find the call site that belongs to an address in a process, and its name. An address space
 * describes one process. Its mappings are kept after the process has exited. A call site is an
 * offset in a module. So processes of one program share their call sites, and a call site in a
 * library keeps its name after dlclose().
 */
#ifndef SITES_ADDRESS_SPACE_H
#define SITES_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "sbt/python.h"
#include "sites/family.h"
#include "sites/module.h"
#include "sites/site.h"
#include "symbols/stack.h"
#include "symbols/symbol.h"
#include "target/maps.h"
#include "target/proc.h"

#define ADDRESS_SPACE_SITE_NONE	 UINT32_MAX
#define ADDRESS_SPACE_UNWIND_MAX 64 /* maximum number of frames of one stack */

/* The program of a process: its file, and where the kernel mapped it in the process. */
struct address_space_program {
	uint32_t dev;
	uint64_t ino;
	struct proc_image image;
};

/*
 * A mapping: memory that maps a file, beginning at @offset. If ino is 0, other processes cannot
 * share it.
 */
struct address_space_memory {
	uint64_t start, end; /* addresses in the process */
	uint64_t offset, ino;
	uint32_t dev; /* as in struct maps_entry */
	bool unknown; /* the kernel could not determine what is mapped */
};

/* How completely the functions in which threads wait for their turn (SBT_ROLE_TURN) are traced. */
enum address_space_turns {
	/* No mapped file has functions for such waits, or they get no probes. */
	ADDRESS_SPACE_TURNS_NONE,
	ADDRESS_SPACE_TURNS_SEEN,
	/* Probes could not be attached, or were detached for a time. */
	ADDRESS_SPACE_TURNS_PARTLY,
};

/*
 * The crossings of a process, and the pairs of probes (entry and return of a function) that they
 * hit. Pairs that take longer than those of a barrier function count as more than one, and a single
 * probe of an arrival counts as less than one.
 */
struct address_space_pairs {
	uint64_t crossings;
	double pairs;
	double stepped; /* pairs with an instruction that the kernel must single-step */
	/* handler time of these pairs relative to that of as many pairs of a barrier function */
	double handlers;
};

struct address_space {
	uint32_t tgid;
	uint32_t inc;
	/* The program that the process runs. image.code is 0 if unknown. */
	struct address_space_program program;
	struct maps maps;
	/* Mappings that address_space_look() read for the next address_space_read(); else empty. */
	struct maps looked;
	/*
	 * How often the mappings had changed when `looked` was read, when `maps` was read, and at
	 * the latest event that was handled.
	 */
	uint32_t looked_changes, maps_changes, changes;
	uint64_t see_from_ns; /* address_space_see_code() reads no mappings before */
	/* `looked` was read while the dynamic linker was still mapping files. */
	bool partial;
	/* `maps` was read while the process ran this program, and was not inherited by fork */
	bool read;
	/* The C library that decides the layout of barrier objects. */
	enum family_libc libc;
	bool has_probe_site; /* a mapped file has a probe site */
	bool settled; /* all libraries of the program are mapped */
	bool by_exit; /* return probes could break this process, so exits get probes */
	/* The joined masks of the files that the process maps: module.stepped. */
	uint32_t stepped[SBT_FAMILIES];
	/*
	 * Sum of sbt_crossing.handler_ns and sbt_sums.handler_ns, and the number of measurements in
	 * it.
	 */
	uint64_t handler_ns, spent;
	struct address_space_pairs pairs; /* when they were last counted */
	const char *exit_detection; /* how exits are detected, in words; not freed */
	/* Why return probes could break this process, or NULL; not freed. */
	const char *refusal;
	uint32_t reads; /* number of times that the mappings were read */
	/* Tracing saw how the process began: by exec, or by a fork of process parent_tgid. */
	bool young;
	/* the process that forked this one; both are 0 after exec */
	uint32_t parent_tgid, parent_inc;
	const struct address_space_note *notes; /* from address_space_note_memory(), newest first */
	/* Functions that the process's code calls and that may wait, but are not traced. */
	struct untraced untraced;
	enum address_space_turns turns;
	/*
	 * the process runs while its mappings are examined, so turns may be missed; valid only
	 * during that time
	 */
	bool runs;
	/* functions in `turns` that could get no probe, so that waits in them are not traced */
	struct untraced turns_unseen;
	bool tasks; /* a probe has seen the process create or run OpenMP tasks */
	/* The process ran for a while before the functions in which its threads wait got probes. */
	bool blind;
	bool gone; /* the process has exited or runs another program */
	/* Look up code in the mappings as they are known, without reading them again. */
	bool as_known;
	/* The Python interpreter that the process runs; NULL: none was found. */
	const struct module *python;
	struct sbt_python_layout python_layout; /* valid if there is one */
	uint64_t python_runtime; /* address of its _PyRuntime; the same */
	/* what address_space_python_function() keeps */
	struct hash python_functions;
};

/* What follows from the files that a process has mapped. */
struct address_space_facts {
	bool has_probe_site;
	bool settled;
	/* Files that are mapped later cannot change `refusal`. */
	bool decided;
	enum family_libc libc;
	const char *refusal;
};

struct address_spaces;

/*
 * Return the names of the functions in space->untraced, or NULL if there are none. The text lives
 * as long as @spaces.
 */
const char *address_space_untraced(struct address_spaces *spaces,
				   const struct address_space *space);
/*
 * Return a copy of @text that lives as long as @spaces; equal texts share one copy. NULL: out of
 * memory.
 */
const char *address_spaces_keep(struct address_spaces *spaces, const char *text);
/* Return whether address_spaces_keep() has returned this text. */
bool address_spaces_has(const struct address_spaces *spaces, const char *text);
/*
 * Return whether the process is known to run OpenMP tasks. After address_spaces_tasks_unseen(),
 * also return true if the process calls functions that create tasks.
 */
bool address_space_tasks(const struct address_spaces *spaces, const struct address_space *space);
/* Note that from now on, not all processes have the probes that see tasks. */
void address_spaces_tasks_unseen(struct address_spaces *spaces);
int address_spaces_new(struct modules *modules, struct symbol_server *symbols,
		       struct address_spaces **out);
void address_spaces_free(struct address_spaces *spaces);
/*
 * Set the function that gets *@n: how often the dynamic linker of a process has reported a change
 * so far. It returns 0, or another value if the number is unknown. If no function is set, mappings
 * always count as current when they are read.
 */
void address_spaces_set_changes(struct address_spaces *spaces,
				int (*changes)(void *ctx, uint32_t tgid, uint32_t inc, uint32_t *n),
				void *ctx);

/*
 * Return the address space of a process, and create it if necessary. A new one has no mappings
 * until address_space_read(). NULL: out of memory.
 */
struct address_space *address_space_get(struct address_spaces *spaces, uint32_t tgid, uint32_t inc);
struct address_space *address_space_find(const struct address_spaces *spaces, uint32_t tgid,
					 uint32_t inc);
/*
 * Forget a process that has exited, together with its mappings. Pointers to its address space
 * become invalid.
 */
void address_spaces_forget(struct address_spaces *spaces, uint32_t tgid, uint32_t inc);
/*
 * Return a number that two processes share if they run the same program and a report says the same
 * about both. Never 0.
 */
uint64_t address_space_program_key(struct address_spaces *spaces,
				   const struct address_space *space);
/*
 * Classify a process by @maps, which need not be the mappings of an address space. @partial: the
 * mappings were read while the dynamic linker was still mapping files.
 */
struct address_space_facts address_spaces_classify(struct address_spaces *spaces, int pid,
						   const struct maps *maps, bool partial);
/* Classify a program by all files that it will map. */
struct address_space_facts address_spaces_classify_files(struct module *const files[], size_t n);
/* Give a forked child the mappings of its parent. */
int address_space_inherit(struct address_space *child, const struct address_space *parent);
/*
 * Note the mapping in which a process initialized a barrier that it declared as process-shared.
 * Calls must be in time order. Return 1, or 0 if the mapping is noted already, or -ENOMEM after
 * dropping all notes of this process.
 */
int address_space_note_memory(struct address_spaces *spaces, struct address_space *space,
			      const struct address_space_memory *memory);
/* Give a forked child the notes of its parent. Calls must be in time order. */
void address_space_inherit_notes(struct address_space *child, const struct address_space *parent);
/*
 * Read the current mappings into space->looked. The address space keeps its old mappings until
 * address_space_read(), so that earlier addresses can still be looked up in them. A stopped process
 * can therefore continue before these look-ups are finished. Return as address_space_read() does.
 */
int address_space_look(struct address_spaces *spaces, struct address_space *space);
/*
 * Replace the mappings by those that address_space_look() read, or read them now. Then classify the
 * process again. Call sites that were found in the old mappings are kept. Return 0, -ESRCH, -ESTALE
 * (the process now runs another program; the address space is marked as gone) or another -errno. On
 * failure, the old mappings stay.
 */
int address_space_read(struct address_spaces *spaces, struct address_space *space);
/*
 * For samples: read the mappings again if they have no file's code at @address, and the code there
 * may be new. Such readings take at most about 1 % of the time. Set @space->as_known while
 * further addresses of the sample are looked up, so that they read nothing.
 */
void address_space_see_code(struct address_spaces *spaces, struct address_space *space,
			    uint64_t address);
/*
 * Read the current mappings of a forked process if they have not been read yet. The known mappings
 * are its parent's, and they may be older than the fork. Call this early, because the process may
 * exit before its mappings are read as usual.
 */
void address_space_see_inherited(struct address_space *space);

/*
 * Assume that the program of a process was mapped at the address that the kernel reported. This is
 * for a process that exited, or executed another program, before its mappings were read. Calls from
 * the program then have names, but calls from its libraries do not. Do nothing if mappings are
 * known or the file has never been examined. Return 0 or -ENOMEM.
 */
int address_space_assume(struct address_spaces *spaces, struct address_space *space);

/*
 * Return the call site of the call that returns to @ip. Read the mappings again if no known mapping
 * contains the address. If the module at the address is unknown or uncertain, the address becomes a
 * call site of its own.
 */
uint32_t address_space_site(struct address_spaces *spaces, struct address_space *space,
			    uint64_t ip);

/* A return address, and the file that the kernel found there at the time of the call. */
struct address_space_return {
	uint64_t ip;
	uint64_t ino; /* 0: not in a file */
	uint64_t offset; /* offset of `ip` in the file */
	uint32_t dev;
	/* The kernel could not read the mappings; the other members are 0. */
	bool unseen;
};

/*
 * Return the call site as address_space_site() does, but by the file in @ret instead of the present
 * mapping of the address. If that file has not been examined, only mappings that existed when the
 * program started are used. If none of them contains the address, the address becomes a call site
 * of its own.
 */
uint32_t address_space_return_site(struct address_spaces *spaces, const struct address_space *space,
				   const struct address_space_return *ret);
/*
 * Return the call site in Python code. Its strings are untrusted, and are copied. Processes of one
 * interpreter share the call site. ADDRESS_SPACE_SITE_NONE: out of memory.
 */
uint32_t address_space_python_site(struct address_spaces *spaces, const struct address_space *space,
				   const struct sbt_python_site *site);
/* Return the call site that was last found for this label, or ADDRESS_SPACE_SITE_NONE. */
uint32_t address_space_python_label(const struct address_spaces *spaces, uint32_t label);
/*
 * Return the call site that a marker of the program names. The marker's strings are untrusted, and
 * are copied. Strings that the kernel could not read from memory are read from the mapped file.
 * Processes of one program share the call site. ADDRESS_SPACE_SITE_NONE: out of memory.
 */
uint32_t address_space_label_site(struct address_spaces *spaces, struct address_space *space,
				  const struct sbt_label *label);
/*
 * Keep a Python function that samples of the process may have (SBT_REC_PYTHON_CODE), until the
 * process is forgotten. Nothing is kept if its texts are missing or too many functions are kept.
 * Return 0 or -ENOMEM.
 */
int address_space_python_function(struct address_spaces *spaces, struct address_space *space,
				  const struct sbt_python_site *function);
/*
 * Return the site of a position in a Python function that a thread of the process executed, or
 * ADDRESS_SPACE_SITE_NONE if the function is not kept and cannot be read, or when out of memory.
 */
uint32_t address_space_python_code(struct address_spaces *spaces, const struct address_space *space,
				   const struct sbt_python_at *python);
/*
 * Find the Python interpreter that the process runs: space->python. Return its minor number, or 0
 * if there is none, or if it is not a supported one.
 */
uint32_t address_space_find_python(struct address_spaces *spaces, struct address_space *space);
/*
 * Write the sites of the Python functions that a thread executes, innermost first. @tid: its number
 * in the process's PID namespace. Return how many were written: at most @max; 0 if it executes none
 * or they cannot be read.
 */
uint32_t address_space_python_frames(struct address_spaces *spaces,
				     const struct address_space *space, uint32_t tid,
				     uint32_t *sites, uint32_t max);
/* The position in a file of the call before the return address @ip. */
struct address_space_code {
	const struct module *module;
	uint64_t offset; /* offset of the return address in the file */
	uint64_t vaddr; /* linked address in the call: one less than the return address */
};

/* Return the file behind a mapping of the process, or NULL. */
const struct module *address_space_module(struct address_spaces *spaces,
					  const struct address_space *space,
					  const struct maps_entry *entry);
/*
 * Return the mapping of code at @addr, or NULL. "[uprobes]" does not count as code: an address
 * there has replaced the real return address.
 */
const struct maps_entry *address_space_find_code(const struct address_space *space, uint64_t addr);
/*
 * Find the code before the return address @ip. Return false if it is in no known file. Read the
 * mappings again if necessary.
 */
bool address_space_code(struct address_spaces *spaces, struct address_space *space, uint64_t ip,
			struct address_space_code *out);
struct symbol_server *address_spaces_symbols(const struct address_spaces *spaces);
/*
 * Unwind @sample, which is a stack of a thread of this process. Use the unwind tables of the mapped
 * files, and frame pointers for code without tables. Write *n <= @max call sites for
 * address_spaces_site(): [0] is the thread's current instruction, followed by its callers.
 * Unwinding ends without an error where the stack, the sample or the known code ends, so *n may be
 * 0. The mappings are read again at most once in a call. Each frame costs a question to the
 * symboliser's child: tens of microseconds, but far more for a new file. Return 0, -ENOTSUP on
 * machines with unknown registers, or -ENOMEM.
 */
int address_space_unwind(struct address_spaces *spaces, struct address_space *space,
			 const struct sbt_stack *sample, uint32_t *sites, uint32_t max,
			 uint32_t *n);
/*
 * Return a key for the memory that processes share at @addr. Return 0 if the memory is not shared,
 * or if that is unknown; *@known distinguishes these cases (@known may be NULL).
 */
uint64_t address_space_shared_key(struct address_spaces *spaces, struct address_space *space,
				  uint64_t addr, bool *known);
/*
 * Return true if it cannot be found out whether the memory at @addr is shared: a forked process
 * exited before its mappings were read, and the mappings of its parents do not contain @addr
 * either.
 */
bool address_space_shared_unknown(struct address_spaces *spaces, struct address_space *space,
				  uint64_t addr);
/* Return the name of the global variable at @addr, or NULL. Valid until address_spaces_free(). */
const char *address_space_object_name(struct address_spaces *spaces,
				      const struct address_space *space, uint64_t addr);

/* Mark the modules that running processes map, for modules_close_unused(). */
void address_spaces_mark_used(struct address_spaces *spaces);
/*
 * Prepare to close the module's file: look up the names of its call sites that have no name yet,
 * and make the symboliser close the file. Return false if the file must stay open: looking up the
 * names takes too long (call this function again later), or some names will be looked up at the
 * end.
 */
bool address_spaces_settle_module(struct address_spaces *spaces, struct module *module);
/*
 * Return the name of a call site. It is looked up on first use. Valid until address_spaces_free().
 */
const struct site_name *address_spaces_site(struct address_spaces *spaces, uint32_t site);
/*
 * Return whether the kernel must single-step the probed instruction of the outlined function that
 * is this call site: the site of the end of a parallel region is the function that was run.
 */
bool address_spaces_site_stepped(const struct address_spaces *spaces, uint32_t site);

/*
 * Return a number for the source function that contains a call site: equal for all call sites in
 * one function of one file, 0 if unknown. An inlined function, and parts that a compiler split off,
 * have the number of their source function. Wrappers of C++ condition variables are skipped. In a
 * file without names, the start address stands for the function. The name is looked up as by
 * address_spaces_site(). *exact is false without debug information: another function may have been
 * inlined there.
 */
uint64_t address_spaces_function(struct address_spaces *spaces, uint32_t site, bool *exact);
/*
 * Return whether all functions at a call site belong to the C++ library. The name is looked up as
 * by address_spaces_site().
 */
bool address_spaces_of_std(struct address_spaces *spaces, uint32_t site);
/*
 * Like address_spaces_function(), for the outermost function at a call site, into which the other
 * functions were inlined.
 */
uint64_t address_spaces_outer_function(struct address_spaces *spaces, uint32_t site);
/*
 * Return a number for the source line of a call site. @depth 0: the line in the outermost function;
 * 1: in the function that was inlined there, and so on; ADDRESS_SPACE_INNERMOST: in the innermost
 * function. Wrappers of the C++ library are skipped. 0: unknown, or no such depth.
 */
#define ADDRESS_SPACE_INNERMOST UINT32_MAX
uint64_t address_spaces_line(struct address_spaces *spaces, uint32_t site, uint32_t depth);
/*
 * Return whether both call sites are on one source line, or in functions that were not inlined and
 * are so small that each can contain no more than a barrier. Wrappers of C++ condition variables do
 * not count as inlined functions.
 */
bool address_spaces_compact(struct address_spaces *spaces, uint32_t a, uint32_t b);
/*
 * Return whether the function around a call site is so small that it may contain nothing but a
 * barrier. Return true if its size is unknown.
 */
bool address_spaces_small(struct address_spaces *spaces, uint32_t site);
/*
 * Return whether the function around a call site is so small that it does nothing but make this
 * call and check the result.
 */
bool address_spaces_tiny(struct address_spaces *spaces, uint32_t site);
/*
 * Return the name by which a rule of -b finds the function around a call site. NULL if the function
 * was inlined, if its symbol has another name, or if its exits are unknown. Valid until
 * address_spaces_free().
 */
const char *address_spaces_rule_name(struct address_spaces *spaces, uint32_t site);
/*
 * Like address_spaces_rule_name(), for a call site in a function that was inlined: return the name
 * of the function into which it was inlined. NULL unless exactly one function was inlined there.
 */
const char *address_spaces_rule_name_around(struct address_spaces *spaces, uint32_t site);
/*
 * Return the length of the part of @name that names the whole function: "f.cold", "f.part.0" and
 * "f(int) [clone .cold]" are parts of f.
 */
size_t site_function_len(const char *name);
/*
 * Note that @site is a call of @function, which contains the barrier. Later notes for the same site
 * are ignored.
 */
void address_spaces_set_through(struct address_spaces *spaces, uint32_t site, const char *function);

#endif /* SITES_ADDRESS_SPACE_H */
