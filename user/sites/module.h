/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * Files that processes run code from, each examined once: what it is, which barriers are in it, and where probes
 * for them go. A module stays open, so that it can be named after its process, or its name, is gone.
 */
#ifndef SITES_MODULE_H
#define SITES_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sites/elf.h"
#include "sites/family.h"
#include "sites/insn.h"
#include "target/maps.h"

#define MODULE_EXITS_MAX  16
#define MODULE_PLACES_MAX 8

/* One barrier function in the file. */
struct module_place {
	const struct sites_family *family;
	const char *symbol;
	uint64_t offset; /* of the probe, in the file */
	struct insn_entry entry; /* what is there and why */
	bool found_by_code; /* the file has no names */
	int error; /* -ENOTSUP: nothing safe to probe; then entry.why says so */
	uint32_t nexits; /* 0: not known; exits_why says why */
	uint64_t exits[MODULE_EXITS_MAX];
	char exits_why[128];
};

struct module {
	uint32_t dev;
	uint64_t ino;
	char *path; /* as first seen; untrusted */
	int fd; /* -1: could not be opened */
	int error; /* why it could not be opened or read, -errno; 0 */
	bool deleted;
	struct elf_file *elf; /* NULL: no ELF file */
	struct elf_traits traits;
	char build_id[2 * ELF_BUILD_ID_MAX + 1];
	struct module_place places[MODULE_PLACES_MAX];
	uint32_t nplaces;
	uint64_t makers[MODULE_PLACES_MAX]; /* offsets of probes where barriers are made */
	uint32_t nmakers;
	uint64_t loader; /* offset of a probe on _dl_debug_state; 0 none */
	/* The attaching side's own notes. */
	bool in_target; /* a process that is or may be traced runs it */
	bool attached;
	bool exits_attached;
};

struct modules;

int modules_new(struct modules **out);
void modules_free(struct modules *modules);

/*
 * The module behind a mapping of @pid, opened and examined if it is new. NULL: not a file, or out of
 * memory. What cannot be opened or read is a module too, with its error.
 */
struct module *modules_get(struct modules *modules, int pid, const struct maps_entry *entry);
/* The same for a file that is open; @fd is duplicated. */
struct module *modules_get_fd(struct modules *modules, int fd, const char *path, uint32_t dev,
			      uint64_t ino);
void modules_each(const struct modules *modules, void (*each)(void *ctx, struct module *module),
		  void *ctx);

#endif /* SITES_MODULE_H */
