/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Modules: files with code that processes run. Each file is examined once: its kind, the barriers
 * that it contains, and their probe sites. A module stays open while a traced process maps it, so
 * that its symbols can be read even after the file was deleted.
 */
#ifndef SITES_MODULE_H
#define SITES_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/progress.h"
#include "elf/elf.h"
#include "elf/exits.h"
#include "sites/family.h"
#include "elf/held_args.h"
#include "elf/insn.h"
#include "elf/returns.h"
#include "sites/rule.h"
#include "symbols/symbol.h"
#include "sites/untraced.h"
#include "target/maps.h"

#define MODULE_EXITS_MAX    EXITS_MAX
#define MODULE_PLACES_MAX   4096
#define MODULE_MAKERS_MAX   8
#define MODULE_WAITS_MAX    16
/* Files with more segments are not read. No such file is known. */
#define MODULE_SEGMENTS_MAX 64

/* A probe site: one function in the file that gets probes. */
struct module_probe_site {
	const struct family_function *function;
	char symbol[128]; /* name of the function, truncated; untrusted */
	struct sbt_spec spec; /* spec of the probe */
	uint64_t start; /* file offset of the function */
	uint64_t offset; /* file offset of the probe */
	struct insn_entry entry; /* the instruction under the probe; `why` says why it was chosen */
	bool found_by_code; /* found by its code, because the file has no names */
	/* The function is the second function of a pair. Only its exits get probes. */
	bool end;
	bool for_all; /* the user's rule has @all: all callers of the function cross one barrier */
	/* -ENOTSUP: no instruction is safe to probe; entry.why has the reason. */
	int error;
	uint32_t nexits; /* 0: unknown; exits_why has the reason */
	uint64_t exits[MODULE_EXITS_MAX];
	char exits_why[128];
	/* The exits get probes. This is written by the code that attaches probes. */
	bool exits_used;
	/* The probes were removed, at least from one process. */
	bool removed;
};

/*
 * Offsets of the probes on functions in which threads wait, or wake other threads. All functions in
 * one struct have the same spec.
 */
struct module_waits {
	struct sbt_spec spec;
	uint32_t nentries, nexits;
	uint64_t entries[MODULE_WAITS_MAX];
	uint64_t exits[MODULE_WAITS_MAX * MODULE_EXITS_MAX];
	/* Why a function has no probe, as a clause of a sentence; "" if all have probes. */
	char why[192];
};

/* A part of the file that is loaded into memory. */
struct module_segment {
	uint64_t vaddr, offset, size;
	bool exec;
};

/*
 * The libraries that the file needs, and the directories where it says that they are: see
 * elf_library_path(). Untrusted.
 */
struct module_needs {
	uint32_t n;
	char **names;
	char *path;
	bool path_first;
};

/* Variables of Open MPI. Their addresses are the handles of the predefined communicators. */
enum module_handle { MODULE_WORLD, MODULE_SELF, MODULE_NULL, MODULE_HANDLES };

/*
 * A library with threads of its own, among which it divides work. Its waits are not traced, because
 * no function is called by all threads of an episode.
 */
enum module_team {
	MODULE_TEAM_NONE,
	MODULE_TEAM_TBB,
	MODULE_TEAM_OPENBLAS, /* built with POSIX threads */
	MODULE_TEAM_FFTW, /* the same */
	MODULE_TEAMS
};

struct module {
	uint32_t dev;
	uint64_t ino;
	char *path; /* path when the file was first seen; untrusted */
	/* -1: the file could not be opened, or is closed. Use module_fd(). */
	int fd;
	int pid; /* last process that was seen to map the file */
	struct stat identity; /* stat() of the file that was examined */
	bool identified; /* `identity` is known */
	bool used; /* a traced process maps the file: modules_close_unused() */
	/* Value of modules.round when the closed file was last compared with a mapping. */
	uint32_t checked;
	int error; /* why the file could not be opened or read, -errno; or 0 */
	bool deleted;
	bool is_elf; /* an ELF file that has been examined */
	struct elf_file *elf; /* only set in the reader's child; elsewhere NULL */
	struct elf_traits traits;
	uint32_t nsegments;
	struct module_segment segments[MODULE_SEGMENTS_MAX]; /* in the order of the file */
	struct module_needs needs;
	char build_id[2 * ELF_BUILD_ID_MAX + 1];
	struct module_probe_site *places;
	uint32_t nplaces, cap_places;
	bool c_library; /* the file defines the barrier functions of POSIX threads */
	/* functions that programs use to build barriers of their own */
	struct module_waits waits, wakes;
	struct module_waits joins; /* functions that join threads */
	bool scopes; /* the file has the code by which threads of Rust's thread::scope() end */
	struct module_waits sems; /* functions that wait on semaphores */
	struct module_waits turns; /* functions in which threads wait for their turn */
	/* functions in which threads wait for their turn: those with probes, and those without */
	struct untraced turns_seen, turns_unseen;
	bool mpi; /* the file has functions of MPI */
	/* Linked addresses of the variables of enum module_handle; 0: not in this file. */
	uint64_t handles[MODULE_HANDLES];
	/* Functions that the file's code calls and that may wait, but are not traced. */
	struct untraced untraced;
	/*
	 * The file is an OpenMP library. Waits inside the library are not barriers of the program.
	 */
	bool runtime;
	/* The file has probe sites where OpenMP tasks are created. */
	bool tasks;
	uint32_t team; /* enum module_team */
	/*
	 * The file is an interpreter of Python: linked address of _PyRuntime, and the minor number
	 * of its version. 0: it is none, or the version is unknown.
	 */
	uint64_t python_runtime;
	uint32_t python_minor;
	bool inlined_waits; /* the file may have inlined waits of C++20 that are not traced */
	/* Families of the parallel regions that the file begins, as bits 1 << number. */
	uint32_t regions;
	struct returns returns; /* addresses to which the functions of these regions return */
	uint32_t returned; /* families for which `returns` is known, as bits 1 << number */
	/* file offsets of the probes on functions that initialize barriers */
	uint64_t makers[MODULE_MAKERS_MAX];
	uint32_t nmakers;
	uint64_t loader; /* file offset of the probe on _dl_debug_state; 0: none */
	/* For questions to the reader after the examination: module_ask.c. */
	struct reader *reader;
	uint64_t read_ns; /* CPU time that the reader has taken for this file */
	int given_up; /* why the reader is not asked about this file any more, -errno; or 0 */
	struct hash around; /* linked address -> struct elf_symbol */
	/* the names that the file imports, one after the other; NULL: not read yet */
	char *imports;
	size_t imports_len;
	/* The following members are written by the code that attaches probes. */
	bool in_target; /* a process that is traced, or may be, runs the file */
	bool attached;
	uint64_t attached_ns; /* time of the first probe, CLOCK_MONOTONIC */
	bool linked; /* the file may have probes */
	bool probed; /* at least one of its probe sites has a probe */
	/*
	 * Kinds of barriers (1 << enum sbt_kind), by family, with a probe in this file on an
	 * instruction that the kernel must single-step. Outlined functions are left out: see
	 * address_spaces_site_stepped().
	 */
	uint32_t stepped[SBT_FAMILIES];
	/*
	 * After modules_only_pthread(): families in the file that were ignored, as bits 1 <<
	 * number.
	 */
	uint32_t left_out;
};

struct modules;

/*
 * Create the set of modules. @rules: the functions that the user named, or NULL; the hits of each
 * rule are counted in it. @symbols: demangles names and reads debug information, or NULL. Both must
 * outlive the modules.
 */
int modules_new(struct rules *rules, struct symbol_server *symbols, struct modules **out);
void modules_free(struct modules *modules);
/*
 * Set where to report progress if examining a file takes long; NULL: nowhere. @progress must
 * outlive the modules.
 */
void modules_set_progress(struct modules *modules, struct progress *progress);
/* From now on, when a module is examined, ignore all barriers except those of POSIX threads. */
void modules_only_pthread(struct modules *modules);
/*
 * Return the families that were ignored because of modules_only_pthread() in programs of traced
 * processes, as bits 1 << number.
 */
uint32_t modules_left_out(const struct modules *modules);

/*
 * Return the module behind a mapping of @pid. Open and examine the file if it is new. A file that
 * cannot be opened or read also gives a module, with its error. NULL: the mapping has no file, out
 * of memory, or the process has exited and the file cannot be reached through it.
 */
struct module *modules_get(struct modules *modules, int pid, const struct maps_entry *entry);
/* Return the module of this file if it has been examined, or NULL. */
struct module *modules_find(const struct modules *modules, uint32_t dev, uint64_t ino);
/*
 * Return the module of this file if the file was written to since it was examined, or NULL. From
 * then on, modules_get() does not find the module, but its probes are still in the file.
 */
struct module *modules_replaced(struct modules *modules, int pid, const struct maps_entry *entry);
/*
 * Make modules_get() no longer find this module, because its file is being overwritten. Its probes
 * are still in the file.
 */
void modules_forget(struct modules *modules, const struct module *module);
/*
 * Return the file's descriptor. Open the file again if it was closed. -1: the file cannot be
 * opened. The descriptor belongs to the module.
 */
int module_fd(const struct module *module);
/*
 * Close the files of all modules that are not marked as used, and clear the marks. @before is
 * called first for each such module. It reads what is still needed from the file. If it returns
 * false, it has not read everything yet, and the file stays open.
 */
void modules_close_unused(struct modules *modules, bool (*before)(void *ctx, struct module *module),
			  void *ctx);
/*
 * Return the module of a file that is given by its name, as modules_get() does for a mapping. No
 * process needs to run the file.
 */
struct module *modules_open(struct modules *modules, const char *path);
void modules_each(const struct modules *modules, void (*each)(void *ctx, struct module *module),
		  void *ctx);

/*
 * Pass the tracer's raised priority on to the reader's child, which may have been started before
 * the priority was raised.
 */
void modules_follow_priority(const struct modules *modules);
/*
 * Set a function that is called repeatedly while sbt-trace waits for the reader. The function must
 * not call functions that ask about modules. NULL: none.
 */
void modules_idle(struct modules *modules, void (*idle)(void *ctx), void *ctx);
/* Return whether the reader gave up on the file, so that its contents are unknown. */
bool module_is_unread(const struct module *module);
/* Return whether this is a static program without names. Its functions are found by their code. */
bool module_is_nameless(const struct module *module);
/* Return text that says why a module could not be read. @error: module.error or module.given_up. */
const char *module_why(int error);

/* --- questions about the file (module_ask.c) -------------------------------------------------- */

/* Return the file offset of @vaddr in an executable segment, or -ENOENT. */
int module_vaddr_to_offset(const struct module *module, uint64_t vaddr, uint64_t *offset);
/*
 * Return the linked address of the code or data at @offset: in an executable segment if possible,
 * else in another segment. Return -ENOENT if there is none.
 */
int module_offset_to_vaddr(const struct module *module, uint64_t offset, uint64_t *vaddr);
/* Read bytes of the file into @out. Return how many were read. */
size_t module_bytes(const struct module *module, uint64_t offset, void *out, size_t len);
/*
 * Find the function, or the part of a function, around @vaddr by symbols or unwind tables. Return
 * false if it is unknown. Answers are kept, as are those of module_function() and module_imports().
 * The other functions below ask the reader at each call.
 */
bool module_around(const struct module *module, uint64_t vaddr, struct elf_symbol *out);
/* Find the linked address where the function around @vaddr begins. */
bool module_function(const struct module *module, uint64_t vaddr, uint64_t *start);
/* Return whether the file uses a function of this name from another file. */
bool module_imports(const struct module *module, const char *name);
/* Return whether the file has a function of this name. */
bool module_defines(const struct module *module, const char *name);
/*
 * Return whether the file has a function of this name, and the exits of all functions of this name
 * are known.
 */
bool module_knows_ends(const struct module *module, const char *name);
/*
 * Return whether the code at @vaddr is in a library function that waits, or wakes threads, on
 * behalf of its caller.
 */
bool module_is_wrapper(const struct module *module, uint64_t vaddr);
/*
 * Find where a function keeps its arguments during a call: held_args_find(). @at is the address
 * after the call.
 */
bool module_held_args(const struct module *module, uint64_t at, struct held_arg out[HELD_ARGS_MAX]);
/* Return the class of the instruction at @offset. */
enum insn_class module_insn(const struct module *module, uint64_t offset);
/*
 * Add the function at @offset, which a parallel region of @family runs, and similar functions:
 * outlined_find() with @caller, which is an offset in this file or 0. Return 0, -ENOENT (no
 * function is known at @offset), or another -errno if the reader could not be asked.
 */
int module_find_outlined(struct module *module, uint8_t family, uint64_t offset, uint64_t caller);

/*
 * Return the rest of a sentence about the threads of this library (module.team), or NULL if the
 * library has none. The sentence begins with the name of the file.
 */
const char *module_team_text(const struct module *module);

#endif /* SITES_MODULE_H */
