/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Files with code that processes run. Each file is examined once: its kind, the barriers that it
 * contains, and their probe sites. A module stays open while a traced process maps it, so that its
 * symbols can be read even after the file was deleted.
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
/* Files with more segments are not read. None are known. */
#define MODULE_SEGMENTS_MAX 64

/* One function in the file that gets probes. */
struct module_probe_site {
	const struct family_function *function;
	char symbol[128]; /* its name, truncated; untrusted */
	struct sbt_spec spec; /* what the probe is given */
	uint64_t start; /* of the function, in the file */
	uint64_t offset; /* of the probe, in the file */
	struct insn_entry entry; /* the instruction there, and why it was chosen */
	bool found_by_code; /* the file has no names */
	/* Only its exits are used: the second function of a pair. */
	bool end;
	bool for_all; /* named by the user: all callers cross one barrier there */
	/* -ENOTSUP: no safe place for a probe; entry.why has the reason. */
	int error;
	uint32_t nexits; /* 0: unknown; exits_why has the reason */
	uint64_t exits[MODULE_EXITS_MAX];
	char exits_why[128];
	/* Kept by the side that attaches probes. */
	bool exits_used;
	/* Its probes were removed, at least from one process. */
	bool removed;
};

/*
 * Functions in which threads wait, or wake other threads: where their probes go. All share one
 * spec.
 */
struct module_waits {
	struct sbt_spec spec;
	uint32_t nentries, nexits;
	uint64_t entries[MODULE_WAITS_MAX];
	uint64_t exits[MODULE_WAITS_MAX * MODULE_EXITS_MAX];
	/* Why one function is not among them, a clause of a sentence; or "". */
	char why[192];
};

/* A part of the file that is loaded into memory. */
struct module_segment {
	uint64_t vaddr, offset, size;
	bool exec;
};

/*
 * The libraries that the file names, and the directories that it names for them: see
 * elf_library_path(). Untrusted.
 */
struct module_needs {
	uint32_t n;
	char **names;
	char *path;
	bool path_first;
};

/* Variables of Open MPI. Their addresses are the handles of the communicators that always exist. */
enum module_handle { MODULE_WORLD, MODULE_SELF, MODULE_NULL, MODULE_HANDLES };

struct module {
	uint32_t dev;
	uint64_t ino;
	char *path; /* as first seen; untrusted */
	/* -1: could not be opened, or is closed: module_fd(). */
	int fd;
	int pid; /* the last process that was seen to map it */
	struct stat identity; /* of the file that was examined */
	bool identified; /* `identity` is known */
	bool used; /* a traced process maps it: modules_close_unused() */
	/* modules.round in which a closed one was compared with a mapping. */
	uint32_t checked;
	int error; /* why it could not be opened or read, -errno; or 0 */
	bool deleted;
	bool is_elf; /* an ELF file that has been examined */
	struct elf_file *elf; /* only in the reader's child; elsewhere NULL */
	struct elf_traits traits;
	uint32_t nsegments;
	struct module_segment segments[MODULE_SEGMENTS_MAX]; /* in the order of the file */
	struct module_needs needs;
	char build_id[2 * ELF_BUILD_ID_MAX + 1];
	struct module_probe_site *places;
	uint32_t nplaces;
	bool c_library; /* it has the barrier of POSIX threads */
	struct module_waits waits, wakes; /* functions that hand-written barriers are made of */
	struct module_waits joins; /* functions that join threads */
	bool scopes; /* threads of Rust's thread::scope() end here */
	struct module_waits sems; /* functions that wait on semaphores */
	struct module_waits turns; /* functions in which threads wait for their turn */
	struct untraced turns_seen,
		/* Functions that get no probe: functions in `turns`, and all others. */
		turns_unseen;
	bool mpi; /* it has functions of MPI */
	/* Where these variables are, as linked. 0: not in this file. */
	uint64_t handles[MODULE_HANDLES];
	/* Functions that its code calls and in which waits are not traced. */
	struct untraced untraced;
	/* An OpenMP library. How its threads wait inside is not a barrier of the program. */
	bool runtime;
	/* The file has probe sites where OpenMP tasks are created. */
	bool tasks;
	/*
	 * oneTBB. One thread waits for its tasks, and no function is called by all threads of an
	 * episode.
	 */
	bool tbb;
	bool inlined_waits; /* it has inlined waits of C++20 at unknown places */
	/* Families of the parallel regions that the file begins: bits 1 << number. */
	uint32_t regions;
	struct returns returns; /* where the functions of these regions return to */
	uint32_t returned; /* of which families: bits as above */
	uint64_t makers[MODULE_MAKERS_MAX]; /* offsets of probes where barriers are made */
	uint32_t nmakers;
	uint64_t loader; /* offset of the probe on _dl_debug_state; 0: none */
	/* For later questions to the reader: module_ask.c. */
	struct reader *reader;
	uint64_t read_ns; /* CPU time that it has taken */
	int given_up; /* why it is not asked any more, -errno; or 0 */
	struct hash around; /* linked address -> struct elf_symbol */
	char *imports; /* texts in a row; NULL: not read yet */
	size_t imports_len;
	/* The attaching side's own notes. */
	bool in_target; /* a process that is or may be traced runs it */
	bool attached;
	uint64_t attached_ns; /* time of the first probe, CLOCK_MONOTONIC */
	bool linked; /* the file may have probes */
	bool probed; /* at least one of its probe sites has a probe */
	/* At one of these probe sites the kernel must single-step an instruction. */
	bool stepped;
	/* After modules_only_pthread(): other families in the file, bits 1 << number. */
	uint32_t left_out;
};

struct modules;

/*
 * Create the set of modules. @rules: the functions that the user named, or NULL; the hits of each
 * rule are counted there. @symbols: demangles names and reads debug information, or NULL. Both must
 * outlive the modules.
 */
int modules_new(struct rules *rules, struct symbol_server *symbols, struct modules **out);
void modules_free(struct modules *modules);
/*
 * Set where to report files that take long to examine; NULL: nowhere. It must outlive the modules.
 */
void modules_set_progress(struct modules *modules, struct progress *progress);
/* Ignore all barriers but those of POSIX threads in modules that are examined from now on. */
void modules_only_pthread(struct modules *modules);
/*
 * Return which families modules_only_pthread() ignores in programs of traced processes: bits 1 <<
 * number.
 */
uint32_t modules_left_out(const struct modules *modules);

/*
 * Return the module behind a mapping of @pid. A new one is opened and examined. A file that cannot
 * be opened or read is a module too, with its error. NULL: not a file, out of memory, or the
 * process has exited and the file's name is gone.
 */
struct module *modules_get(struct modules *modules, int pid, const struct maps_entry *entry);
/* Return the module of this file if it has been examined, or NULL. */
struct module *modules_find(const struct modules *modules, uint32_t dev, uint64_t ino);
/*
 * Return the module of this file if the file was written to since it was examined, or NULL. From
 * then on modules_get() does not find the module; its probes are still in the file.
 */
struct module *modules_replaced(struct modules *modules, int pid, const struct maps_entry *entry);
/*
 * Make modules_get() find this module no more, because its file is being overwritten. Its probes
 * are still there.
 */
void modules_forget(struct modules *modules, const struct module *module);
/*
 * Return the file, and open it again if it was closed. -1: it cannot be opened. The descriptor
 * belongs to the module.
 */
int module_fd(const struct module *module);
/*
 * Close the files of all modules that are not marked as used, and clear the marks. @before is
 * called first. It reads what is still needed from a file, and returns whether it could read all of
 * that.
 */
void modules_close_unused(struct modules *modules, bool (*before)(void *ctx, struct module *module),
			  void *ctx);
/*
 * Return the module of a file by its name, as modules_get() does. No process needs to run the file.
 */
struct module *modules_open(struct modules *modules, const char *path);
void modules_each(const struct modules *modules, void (*each)(void *ctx, struct module *module),
		  void *ctx);

/*
 * Give the raised priority of the tracer to the reader's child, which may have been started before.
 */
void modules_follow_priority(const struct modules *modules);
/*
 * Set a function that is called repeatedly while sbt-trace waits for the reader. The function must
 * not ask anything about modules. NULL: none.
 */
void modules_idle(struct modules *modules, void (*idle)(void *ctx), void *ctx);
/* Return whether the reader gave up on the file, so that its contents are unknown. */
bool module_is_unread(const struct module *module);
/* Return in words why a module could not be read. @error: that of the module, or given_up. */
const char *module_why(int error);

/* --- questions about the file (module_ask.c) -------------------------------------------------- */

/* Return the file offset of @vaddr in an executable segment, or -ENOENT. */
int module_vaddr_to_offset(const struct module *module, uint64_t vaddr, uint64_t *offset);
/*
 * Return the linked address of @offset: in an executable segment if possible, else in another
 * segment; or -ENOENT.
 */
int module_offset_to_vaddr(const struct module *module, uint64_t offset, uint64_t *vaddr);
/* Read bytes of the file. Return how many there are. */
size_t module_bytes(const struct module *module, uint64_t offset, void *out, size_t len);
/*
 * Find the function, or part of one, around @vaddr by symbols or unwind tables. Return false if
 * unknown. Answers of this function are kept. Answers of the functions below are not kept, except
 * imports.
 */
bool module_around(const struct module *module, uint64_t vaddr, struct elf_symbol *out);
/* Find where that function begins, as linked. */
bool module_function(const struct module *module, uint64_t vaddr, uint64_t *start);
/* Return whether the file uses a function of this name from another file. */
bool module_imports(const struct module *module, const char *name);
/* Return whether the file has a function of this name. */
bool module_defines(const struct module *module, const char *name);
/* Return whether the file has exactly one function of this name, and its ends are known. */
bool module_knows_ends(const struct module *module, const char *name);
/*
 * Return whether the code at @vaddr is in a library function that waits, or wakes threads, for its
 * caller.
 */
bool module_is_wrapper(const struct module *module, uint64_t vaddr);
/*
 * Find where the function around @at, which is behind a call, keeps its arguments during that call:
 * held_args_find().
 */
bool module_held_args(const struct module *module, uint64_t at, struct held_arg out[HELD_ARGS_MAX]);
/* Return the class of the instruction at @offset. */
enum insn_class module_insn(const struct module *module, uint64_t offset);
/*
 * Add the function at @offset that a parallel region of @family runs, and similar ones:
 * outlined_find() with @caller, which is an offset in this file or 0. Return 0, -ENOENT (no
 * function is known there), or another -errno if the reader could not be asked.
 */
int module_find_outlined(struct module *module, uint8_t family, uint64_t offset, uint64_t caller);

#endif /* SITES_MODULE_H */
