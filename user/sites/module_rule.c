// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
/*
 * Find probe sites that the user has named, and functions with names that match built-in patterns.
 */
#include <stdio.h>
#include <string.h>

#include "elf/exits.h"
#include "base/array.h"
#include "sites/module_internal.h"

static bool read_name(void *ctx, const char *raw, char *name, size_t size)
{
	const struct module_names *n = ctx;

	return n->source_name && n->source_name(n->ctx, raw, name, size);
}

/* Return whether the function is known to have no argument, and so no object. */
static bool has_no_argument(struct module_names *n, const char *name,
			    const struct elf_symbol *symbol)
{
	char source[SYMBOL_NAME_MAX];
	uint32_t parameters;
	size_t len;

	if (n->parameters && n->parameters(n->ctx, symbol->vaddr, &parameters))
		return !parameters;
	/* The source name of a C++ function outside all classes shows its parameters. */
	if (strncmp(name, "_Z", 2) != 0 || !read_name(n, name, source, sizeof(source)))
		return false;
	len = strlen(source);
	return len > 2 && !strcmp(source + len - 2, "()") && !strstr(source, "::");
}

static void add_user_probe_site(struct module_names *n, struct rule *rule, bool end,
				const char *name, const struct elf_symbol *symbol)
{
	struct module *m = n->module;
	struct module_probe_site *probe_site;
	const uint8_t *bytes;
	size_t len;

	array_for_each (p, m->places, m->nplaces) {
		probe_site = p;
		if (probe_site->start == symbol->offset && probe_site->end == end &&
		    (!end || probe_site->function->rule == rule->by_argument.rule)) {
			rule->at[end].found += probe_site->function->rule != rule->by_argument.rule;
			return;
		}
	}
	probe_site = module_probe_site_new(m);
	if (!probe_site)
		return;
	rule->at[end].found++;
	probe_site->end = end;
	probe_site->for_all = rule->object == RULE_OBJECT_ALL ||
			      (rule->object == RULE_OBJECT_AUTO && !rule->pair &&
			       has_no_argument(n, name, symbol));
	probe_site->function = probe_site->for_all ? &rule->for_all : &rule->by_argument;
	if (!read_name(n, name, probe_site->symbol, sizeof(probe_site->symbol)))
		snprintf(probe_site->symbol, sizeof(probe_site->symbol), "%.*s",
			 (int)strcspn(name, "@"), name);
	probe_site->start = symbol->offset;
	probe_site->offset = symbol->offset;
	if (!end) {
		len = module_function_bytes(m, symbol, &bytes);
		probe_site->error =
			insn_choose_entry(m->traits.machine, bytes, len, &probe_site->entry);
		probe_site->offset += probe_site->entry.skip;
	}
	if (!probe_site->error)
		probe_site->error =
			family_spec(probe_site->function, m->traits.machine, &probe_site->spec);
	if (end || !rule->pair)
		module_find_exits(m, symbol, probe_site);
}

/*
 * Return whether the name belongs to a part of a function, or to a copy with arguments that differ
 * from those in the source.
 */
static bool is_clone(const char *name)
{
	return strstr(name, ".cold") || strstr(name, ".part.") || strstr(name, ".isra.") ||
	       strstr(name, ".constprop.");
}

size_t module_whole_len(const char *name)
{
	size_t len = strcspn(name, "@");
	const char *clone = strstr(name, ".constprop."), *other = strstr(name, ".isra.");

	if (strstr(name, ".cold") || strstr(name, ".part."))
		return len;
	if (!clone || (other && other < clone))
		clone = other;
	return clone && clone > name ? (size_t)(clone - name) : len;
}

/*
 * Return whether @name is a copy of a function that the rule means. Copies count only if all
 * callers cross one barrier, because then arguments do not matter.
 */
static bool takes_clone(struct module_names *n, const struct rule *rule, int end, const char *name)
{
	size_t len = module_whole_len(name);
	char whole[1024];

	if (rule->object != RULE_OBJECT_ALL || rule->raw || name[len] != '.' ||
	    len >= sizeof(whole))
		return false;
	memcpy(whole, name, len);
	whole[len] = '\0';
	return rule_takes_symbol(&rule->at[end], whole, read_name, n);
}

static void take_ruled(struct module_names *n, struct rules *rules, const char *name,
		       const struct elf_symbol *symbol)
{
	size_t i;
	int end;

	for (i = 0; rules && i < rules->n; i++) {
		struct rule *rule = rules->all[i];

		if (!rule_takes_file(rule, n->module->path, n->module->traits.soname))
			continue;
		if (rule->raw && is_clone(name))
			continue;
		for (end = 0; end < 1 + rule->pair; end++)
			if (rule_takes_symbol(&rule->at[end], name, rule->raw ? NULL : read_name,
					      n) ||
			    takes_clone(n, rule, end, name))
				add_user_probe_site(n, rule, end, name, symbol);
	}
}

/*
 * Find the functions that rules name by address. This needs no symbols, so it also works in
 * stripped files.
 */
static void take_addresses(struct module_names *n)
{
	struct rules *rules = n->rules;
	struct module *m = n->module;
	size_t i;
	int end;

	for (i = 0; rules && i < rules->n; i++) {
		struct rule *rule = rules->all[i];

		for (end = 0; end < 1 + rule->pair; end++) {
			struct elf_symbol symbol = { .vaddr = rule->at[end].vaddr };
			struct elf_symbol around;
			char name[32];

			if (rule->at[end].name ||
			    !rule_takes_file(rule, m->path, m->traits.soname) ||
			    elf_vaddr_to_offset(m->elf, symbol.vaddr, &symbol.offset))
				continue;
			/*
			 * An address inside a function is not usable, because the stack there
			 * differs from the stack at the call.
			 */
			if (exits_function_around(m->elf, symbol.vaddr, &around)) {
				if (around.vaddr != symbol.vaddr)
					continue;
				symbol.size = around.size;
			}
			snprintf(name, sizeof(name), "0x%llx", (unsigned long long)symbol.vaddr);
			add_user_probe_site(n, rule, end, name, &symbol);
		}
	}
}

static int take_user(void *ctx, const char *name, const struct elf_symbol *symbol)
{
	struct module_names *n = ctx;

	take_ruled(n, n->rules, name, symbol);
	if (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R'))
		take_ruled(n, n->known, name, symbol);
	return 0;
}

void module_find_ruled(struct module_names *n)
{
	elf_each_function(n->module->elf, take_user, n);
	take_addresses(n);
}
