/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Files that processes run code from, each examined once: what it is, which barriers are in it, and where probes
 * for them go. A module stays open while a traced process maps it, so that it can be named although its name is gone.
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
/* Files with more segments, of which nobody knows one, are not read. */
#define MODULE_SEGMENTS_MAX 64

/* One function in the file that is to be probed. */
struct module_probe_site {
	const struct family_function *function;
	char symbol[128]; /* its name, cut; untrusted */
	struct sbt_spec spec; /* what the probe is to be told */
	uint64_t start; /* of the function, in the file */
	uint64_t offset; /* of the probe, in the file */
	struct insn_entry entry; /* what is there and why */
	bool found_by_code; /* the file has no names */
	bool end; /* only its exits count: the second function of a pair */
	bool for_all; /* of the user's: all who call it meet there */
	int error; /* -ENOTSUP: nothing safe to probe; then entry.why says so */
	uint32_t nexits; /* 0: not known; exits_why says why */
	uint64_t exits[MODULE_EXITS_MAX];
	char exits_why[128];
	/* The attaching side's own notes. */
	bool exits_used;
	bool removed; /* its probes have been, from one process at least */
};

/* Functions in which threads wait, or wake others: where probes for them go. All are told the same. */
struct module_waits {
	struct sbt_spec spec;
	uint32_t nentries, nexits;
	uint64_t entries[MODULE_WAITS_MAX];
	uint64_t exits[MODULE_WAITS_MAX * MODULE_EXITS_MAX];
	char why[192]; /* one of them is not among them: half a sentence; "" */
};

/* A part of the file that is loaded into memory. */
struct module_segment {
	uint64_t vaddr, offset, size;
	bool exec;
};

/* The libraries that it needs by its own word (not theirs), and where it says that they are: elf_library_path(). Untrusted. */
struct module_needs {
	uint32_t n;
	char **names;
	char *path;
	bool path_first;
};

/* Variables of Open MPI, whose addresses are the handles of the communicators that are always there. */
enum module_handle { MODULE_WORLD, MODULE_SELF, MODULE_NULL, MODULE_HANDLES };

struct module {
	uint32_t dev;
	uint64_t ino;
	char *path; /* as first seen; untrusted */
	int fd; /* -1: could not be opened, or is closed: module_fd() */
	int pid; /* the last process that was seen to map it */
	struct stat identity; /* of the file that was examined */
	bool identified; /* that is known */
	bool used; /* a traced process maps it: modules_close_unused() */
	uint32_t checked; /* modules.round in which a closed one was compared with a mapping */
	int error; /* why it could not be opened or read, -errno; 0 */
	bool deleted;
	bool is_elf; /* an ELF file, and it has been examined */
	struct elf_file *elf; /* in the reader's child alone: elsewhere NULL */
	struct elf_traits traits;
	uint32_t nsegments;
	struct module_segment segments[MODULE_SEGMENTS_MAX]; /* in the order of the file */
	struct module_needs needs;
	char build_id[2 * ELF_BUILD_ID_MAX + 1];
	struct module_probe_site *places;
	uint32_t nplaces;
	bool c_library; /* it has the barrier of POSIX threads */
	struct module_waits waits, wakes; /* what barriers that nobody named are made of */
	struct module_waits joins; /* where threads are joined */
	bool scopes; /* threads of Rust's thread::scope() end here */
	struct module_waits sems; /* where threads wait on semaphores */
	struct module_waits turns; /* where threads wait for their turn */
	struct untraced turns_seen,
		turns_unseen; /* the functions of that kind: those in `turns`, and the others */
	bool mpi; /* it has functions of MPI */
	uint64_t handles[MODULE_HANDLES]; /* where these lie, as linked; 0 not here */
	struct untraced
		untraced; /* functions that its code calls and in which threads wait unseen */
	bool runtime; /* a library of OpenMP's: how its threads wait inside is none of the program's barriers */
	bool tasks; /* OpenMP tasks are made here: it has places that tell so */
	bool tbb; /* oneTBB, whose tasks are waited for by one thread: no function that all who meet pass */
	bool inlined_waits; /* it waits in C++20's way, in line, and it is not known where */
	uint32_t regions; /* it begins parallel regions: bits 1 << SBT_FAMILY_* */
	struct returns returns; /* where these regions' functions return to */
	uint32_t returned; /* of which families: bits as above */
	uint64_t makers[MODULE_MAKERS_MAX]; /* offsets of probes where barriers are made */
	uint32_t nmakers;
	uint64_t loader; /* offset of a probe on _dl_debug_state; 0 none */
	/* What the reader is asked later: module_ask.c. */
	struct reader *reader;
	uint64_t read_ns; /* CPU time that it has taken */
	int given_up; /* why it is not asked any more, -errno; 0 */
	struct hash around; /* address as linked -> struct elf_symbol */
	char *imports; /* texts, one after the other; NULL: not asked for */
	size_t imports_len;
	/* The attaching side's own notes. */
	bool in_target; /* a process that is or may be traced runs it */
	bool attached;
	uint64_t attached_ns; /* since when, CLOCK_MONOTONIC */
	bool linked; /* some probe may be in the file */
	bool probed; /* one of its places at least */
	bool stepped; /* one of these where the kernel must step an instruction */
	uint32_t
		left_out; /* modules_only_pthread(): families that are in it all the same, bits 1 << SBT_FAMILY_* */
};

struct modules;

/*
 * @rules: what the user named, NULL none; how often each is found is noted there. @symbols reads mangled names, and
 * knows of debug information; NULL: neither. Both must outlive the modules.
 */
int modules_new(struct rules *rules, struct symbol_server *symbols, struct modules **out);
void modules_free(struct modules *modules);
/* Where to tell of files that take long to examine; NULL: nowhere. It must outlive the modules. */
void modules_set_progress(struct modules *modules, struct progress *progress);
/* Only POSIX threads' barriers are places of what is examined from now on. */
void modules_only_pthread(struct modules *modules);
/* Which families' barriers that left out of what traced processes run: bits 1 << SBT_FAMILY_*. */
uint32_t modules_left_out(const struct modules *modules);

/*
 * The module behind a mapping of @pid, opened and examined if it is new. NULL: not a file, or out of
 * memory, or the process is gone and so is the file's name. What cannot be opened or read is a module too, with its error.
 */
struct module *modules_get(struct modules *modules, int pid, const struct maps_entry *entry);
/* The module of this file if it has been examined, or NULL. */
struct module *modules_find(const struct modules *modules, uint32_t dev, uint64_t ino);
/*
 * The module of this file if something else has been written to the file since it was examined, or NULL. modules_get() does not find it
 * any more; its probes are still in the file.
 */
struct module *modules_replaced(struct modules *modules, int pid, const struct maps_entry *entry);
/* modules_get() does not find it any more: something else is being written to its file. Its probes are still there. */
void modules_forget(struct modules *modules, const struct module *module);
/* The file, opened again if it was closed; -1: it cannot be. It stays the module's. */
int module_fd(const struct module *module);
/*
 * Closes the files of all modules that are not marked as used, after @before, which reads what is still to be read of a
 * file, and returns whether that is all. Clears the marks.
 */
void modules_close_unused(struct modules *modules, bool (*before)(void *ctx, struct module *module),
			  void *ctx);
/* The same as modules_get() of a file by its name, which nobody needs to run. */
struct module *modules_open(struct modules *modules, const char *path);
void modules_each(const struct modules *modules, void (*each)(void *ctx, struct module *module),
		  void *ctx);

/* Our priority has been raised: the process that reads files may have begun before, and is to have it, too. */
void modules_follow_priority(const struct modules *modules);
/*
 * While the reader is waited for, @idle is called again and again, and must not ask anything of modules itself. NULL: nothing waits.
 */
void modules_idle(struct modules *modules, void (*idle)(void *ctx), void *ctx);
/* Is it a file that the reader was given up for, so that nobody knows what is in it? */
bool module_is_unread(const struct module *module);
/* Why a module could not be read, in words: of its error, or of given_up. */
const char *module_why(int error);

/* --- what a file says beyond that (module_ask.c) ----------------------------------------------------- */

/* File offset of @vaddr in an executable segment, or -ENOENT. */
int module_vaddr_to_offset(const struct module *module, uint64_t vaddr, uint64_t *offset);
/* The way back: through an executable segment first, then through any other; or -ENOENT. */
int module_offset_to_vaddr(const struct module *module, uint64_t offset, uint64_t *vaddr);
/* Bytes of the file as they are. Returns how many there are. */
size_t module_bytes(const struct module *module, uint64_t offset, void *out, size_t len);
/*
 * The function, or the part of one, that @vaddr lies in, by symbols or unwind tables. False: not known. Kept, so that it is read
 * once; what is below is not, but for imports.
 */
bool module_around(const struct module *module, uint64_t vaddr, struct elf_symbol *out);
/* The same: where it begins, as linked. */
bool module_function(const struct module *module, uint64_t vaddr, uint64_t *start);
/* Does it use a function of this name that others define? */
bool module_imports(const struct module *module, const char *name);
/* Has it a function of this name? */
bool module_defines(const struct module *module, const char *name);
/* Has it one function of this name, and is it known where that ends? */
bool module_knows_ends(const struct module *module, const char *name);
/* Is the code at @vaddr that of a function of a library which waits, or wakes, for its caller? */
bool module_is_wrapper(const struct module *module, uint64_t vaddr);
/* Where the function that @at lies in, behind a call, keeps its arguments during that call: held_args_find(). */
bool module_held_args(const struct module *module, uint64_t at, struct held_arg out[HELD_ARGS_MAX]);
/* What a probe would find at @offset. */
enum insn_class module_insn(const struct module *module, uint64_t offset);
/*
 * Adds the function at @offset that a parallel region of @family runs, and others like it: outlined_find(), @caller as
 * an offset in this file or 0. Returns 0, or -ENOENT: what is there is no function that can be told; or -errno: it could not be asked.
 */
int module_find_outlined(struct module *module, uint8_t family, uint64_t offset, uint64_t caller);

#endif /* SITES_MODULE_H */
