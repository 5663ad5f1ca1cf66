/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* What the files of spaces and of sites share. */
#ifndef SITES_ADDRESS_SPACE_INTERNAL_H
#define SITES_ADDRESS_SPACE_INTERNAL_H

#include "sites/address_space.h"

struct site {
	uint32_t id;
	struct module *module; /* NULL: in none that is known */
	uint64_t offset; /* in the file; without a module the address itself */
	uint64_t space; /* without a module: whose address it is */
	const char *label; /* file, line and name by a marker, as one text; NULL: no marker */
	bool named;
	bool later; /* it may have a better name when nothing waits any more */
	struct site_name name;
	const struct site_frame *before; /* of its name until then, which somebody may have kept */
	uint32_t nbefore;
};

struct address_spaces {
	struct modules *modules;
	struct symbol_server *symbols;
	int (*changes)(void *ctx, uint32_t tgid, uint32_t inc,
		       uint32_t *n); /* NULL: nobody knows */
	void *changes_ctx;
	void *address_space_tree;
	struct address_space **spaces;
	size_t nspaces, cap_address_spaces;
	void *site_tree;
	struct site **sites;
	uint32_t nsites, cap_sites;
	void *object_tree;
	void *text_tree; /* names of mappings */
	struct address_space_note *notes; /* all, of all spaces */
	bool tasks_unseen; /* address_spaces_tasks_unseen() */
};

/* The site of the call at @call, with the mapping that it is in, or NULL. ADDRESS_SPACE_SITE_NONE: out of memory. */
uint32_t site_at(struct address_spaces *s, const struct address_space *space,
		 const struct maps_entry *e, uint64_t call);
/* All of them, with their names. */
void sites_free(struct address_spaces *s);
void address_space_notes_free(struct address_spaces *s);
/* The mapping at @addr, after a second look if need be. */
const struct maps_entry *address_space_find_mapping(struct address_spaces *s,
						    struct address_space *space, uint64_t addr);

#endif /* SITES_ADDRESS_SPACE_INTERNAL_H */
