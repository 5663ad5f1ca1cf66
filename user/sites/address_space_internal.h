/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/* Shared by the files of address spaces and of call sites. */
#ifndef SITES_ADDRESS_SPACE_INTERNAL_H
#define SITES_ADDRESS_SPACE_INTERNAL_H

#include "base/hash.h"
#include "sites/address_space.h"

struct site {
	uint32_t id;
	struct module *module; /* NULL: the call site is in no known module */
	uint64_t offset; /* offset in the file; without a module, the address in the process */
	/* Without a module: the process in which the address lies. */
	uint64_t space;
	/* File, line and name from a marker, as one text. NULL: no marker. */
	const char *label;
	bool named;
	bool later; /* a better name may be available at the end of the run */
	bool compact; /* Python: the function contains little code */
	struct site_name name;
	/*
	 * Frames of an earlier name. They are kept because a caller may still have a pointer to
	 * them.
	 */
	const struct site_frame *before;
	uint32_t nbefore;
};

struct address_spaces {
	struct modules *modules;
	struct symbol_server *symbols;
	int (*changes)(void *ctx, uint32_t tgid, uint32_t inc, uint32_t *n); /* NULL: unknown */
	void *changes_ctx;
	void *address_space_tree;
	struct address_space **spaces;
	size_t nspaces, cap_spaces;
	void *site_tree;
	struct site **sites;
	uint32_t nsites, cap_sites;
	void *object_tree;
	void *text_tree; /* the texts that address_spaces_keep() returned */
	struct address_space_note *notes; /* notes of all address spaces */
	struct hash python_codes; /* process and struct sbt_python_at -> site */
	size_t python_functions_size; /* bytes of address_space.python_functions of all spaces */
	struct hash python_labels; /* sbt_python_site.label -> site */
	bool tasks_unseen; /* see address_spaces_tasks_unseen() */
};

/*
 * Return the call site of the call at @call, which lies in mapping @e (may be NULL).
 * ADDRESS_SPACE_SITE_NONE: out of memory.
 */
uint32_t site_at(struct address_spaces *s, const struct address_space *space,
		 const struct maps_entry *e, uint64_t call);
/*
 * Return the call site that is equal to @key, a new one if needed; ADDRESS_SPACE_SITE_NONE: out of
 * memory. If it has no name yet, it gets one with a single frame. Set *@frame to that frame, for
 * the caller to fill in, else to NULL.
 */
uint32_t site_get_framed(struct address_spaces *s, const struct site *key,
			 struct site_frame **frame);
/* Return a copy of a text that belongs to a struct site_frame, or NULL for "". */
const char *site_text(const char *text);
void python_sites_free(struct address_spaces *s);
void python_functions_free(struct address_spaces *s, struct address_space *space);
/* Free all call sites with their names. */
void sites_free(struct address_spaces *s);
void address_space_notes_free(struct address_spaces *s);
/*
 * Read the mappings again if mapping @e (NULL: none is known), in which code was found, belongs to
 * no file, unless a file is not to be expected there. Return whether they were read: look up the
 * address again then.
 */
bool address_space_renew(struct address_spaces *s, struct address_space *space,
			 const struct maps_entry *e);
/* Return the mapping at @addr. Read the mappings again if no mapping is known at @addr. */
const struct maps_entry *address_space_find_mapping(struct address_spaces *s,
						    struct address_space *space, uint64_t addr);

#endif /* SITES_ADDRESS_SPACE_INTERNAL_H */
