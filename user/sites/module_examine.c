// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* Run all searches in a module. Later searches need the results of earlier ones. */
#include <stdlib.h>
#include <string.h>

#include "sites/module_internal.h"

void module_examine(struct module_names *names)
{
	struct module *m = names->module;

	elf_traits(m->elf, &m->traits);
	module_find_known(m);
	/*
	 * Search by the table before the rules: a function that both name gets the row of the
	 * table.
	 */
	module_find_ruled(names);
	module_drop_halves(m);
	module_find_rest(m);
}
