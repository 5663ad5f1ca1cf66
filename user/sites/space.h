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
#include <stdint.h>

#include "sites/family.h"
#include "sites/module.h"
#include "sites/site.h"
#include "sites/symbol.h"
#include "target/maps.h"

#define SPACE_SITE_NONE UINT32_MAX

struct space {
	uint32_t tgid;
	uint32_t inc;
	struct maps maps;
	bool read; /* maps are of this very program, not inherited */
	enum family_flavour flavour; /* whose barrier objects these are */
	bool has_place; /* a barrier function is mapped */
	bool settled; /* its libraries are there: nothing more is to be waited for */
	bool by_exit; /* return probes could hurt here */
	const char *departures; /* how they are seen, in words; ours */
	const char *refusal; /* why no return probes; NULL; ours */
	bool gone; /* the process has ended or runs another program */
};

/* What follows from the files that a process has mapped. */
struct space_facts {
	bool has_place;
	bool settled;
	bool decided; /* nothing that is still to be mapped can change the refusal */
	enum family_flavour flavour;
	const char *refusal;
};

struct spaces;

int spaces_new(struct modules *modules, struct symbol_server *symbols, struct spaces **out);
void spaces_free(struct spaces *spaces);

/* The space of a process, made if it is new (empty until space_read()). NULL: out of memory. */
struct space *space_get(struct spaces *spaces, uint32_t tgid, uint32_t inc);
struct space *space_find(const struct spaces *spaces, uint32_t tgid, uint32_t inc);
/* Judges a process by its mappings, which need not be those of a space. */
struct space_facts spaces_judge(struct spaces *spaces, int pid, const struct maps *maps);
/* A child begins with what its parent had mapped. */
int space_inherit(struct spaces *spaces, struct space *child, const struct space *parent);
/*
 * Reads the mappings as they are now, and what follows from them. What the process had before is forgotten,
 * but not the sites found in it. Returns 0, -ESRCH or -errno: then what was known stays.
 */
int space_read(struct spaces *spaces, struct space *space);

/*
 * The call site that returns to @ip. Reads the mappings anew if the address is in none that is
 * known. Never fails: an address in no module is a site of its own.
 */
uint32_t space_site(struct spaces *spaces, struct space *space, uint64_t ip);
/* Names the memory that processes share at @addr, or 0 if it is not shared or not known. */
uint64_t space_shared_key(struct spaces *spaces, struct space *space, uint64_t addr);
/* The global variable at @addr, or NULL. Kept until spaces_free(). */
const char *space_object_name(struct spaces *spaces, const struct space *space, uint64_t addr);

/* What a site is called; looked up when first asked for. Valid until spaces_free(). */
const struct site_name *spaces_site(struct spaces *spaces, uint32_t site);

#endif /* SITES_SPACE_H */
