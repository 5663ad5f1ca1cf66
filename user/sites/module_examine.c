// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/* All that is looked for in a module, in its order. */
#include <stdlib.h>
#include <string.h>

#include "sites/module_internal.h"

void module_examine(struct module_names *names)
{
	struct module *m = names->module;

	elf_traits(m->elf, &m->traits);
	module_find_known(m);
	/* Behind the table's rows: what both name is traced as what it is. */
	module_find_ruled(names);
	module_drop_halves(m);
	module_find_rest(m);
}
