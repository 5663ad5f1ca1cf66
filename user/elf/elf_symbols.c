// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The sbt-trace authors
#include "elf/elf_internal.h"

#include <errno.h>
#include <string.h>

/* maximum number of symbols with the same name; only a hostile file has more */
#define ELF_MATCH_MAX 4096

Elf64_Sym elf_symbol(const struct elf_symbols *t, size_t i)
{
	Elf64_Sym sym;

	memcpy(&sym, t->syms.bytes + i * sizeof(sym), sizeof(sym));
	return sym;
}

/* Compare names without a version, which linkers append in .symtab: "name@@GLIBC_2.34". */
bool elf_name_is(const char *have, const char *want)
{
	size_t len = strlen(want);

	return !strncmp(have, want, len) && (!have[len] || have[len] == '@');
}

/* A walk through the defined symbols of one type, in .dynsym and then .symtab. */
struct symbol_walk {
	size_t table; /* 0: .dynsym, 1: .symtab */
	size_t next; /* index in the table */
	Elf64_Sym sym;
	const char *name;
};

/* Get the next symbol of @type (STT_*). Return false at the end. */
static bool elf_next_symbol(const struct elf_file *elf, unsigned char type, struct symbol_walk *w)
{
	const struct elf_symbols *tables[] = { &elf->dynsym, &elf->symtab };

	for (; w->table < 2; w->table++, w->next = 0) {
		const struct elf_symbols *table = tables[w->table];

		while (w->next < table->count) {
			w->sym = elf_symbol(table, w->next++);
			if (w->sym.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(w->sym.st_info) != type)
				continue;
			w->name = elf_string(&table->strs, w->sym.st_name);
			return true;
		}
	}
	return false;
}

/*
 * Add an address of the function, or enlarge the size of a known address. Return the new number of
 * addresses.
 */
static int elf_add_function(const struct elf_file *elf, const Elf64_Sym *sym, bool from_symtab,
			    struct elf_symbol *out, int max, int found)
{
	uint64_t offset;
	int i;

	if (elf_vaddr_to_offset(elf, sym->st_value, &offset))
		return found;
	for (i = 0; i < found && i < max; i++) {
		if (out[i].vaddr != sym->st_value)
			continue;
		if (sym->st_size > out[i].size)
			out[i].size = sym->st_size;
		return found;
	}
	if (found < max)
		out[found] = (struct elf_symbol){ .vaddr = sym->st_value,
						  .offset = offset,
						  .size = sym->st_size,
						  .from_symtab = from_symtab };
	return found + 1;
}

int elf_find_function(const struct elf_file *elf, const char *name, struct elf_symbol *out, int max)
{
	struct symbol_walk w = { 0 };
	size_t matches = 0;
	int found = 0;

	while (elf_next_symbol(elf, STT_FUNC, &w)) {
		if (!elf_name_is(w.name, name))
			continue;
		/*
		 * Only @max addresses are stored, so duplicates of further addresses would not be
		 * detected: stop.
		 */
		if (found > max || ++matches > ELF_MATCH_MAX)
			return found;
		found = elf_add_function(elf, &w.sym, w.table == 1, out, max, found);
	}
	return !found && elf->broken ? -EBADMSG : found;
}

uint16_t elf_machine(const struct elf_file *elf)
{
	return elf->ehdr.e_machine;
}

int elf_find_object(const struct elf_file *elf, const char *name, uint64_t *vaddr)
{
	struct symbol_walk w = { 0 };
	bool found = false;

	while (elf_next_symbol(elf, STT_OBJECT, &w)) {
		if (!elf_name_is(w.name, name))
			continue;
		if (found && w.sym.st_value != *vaddr)
			return -EEXIST;
		*vaddr = w.sym.st_value;
		found = true;
	}
	if (found)
		return 0;
	return elf->broken ? -EBADMSG : -ENOENT;
}

int elf_each_function(const struct elf_file *elf,
		      int (*each)(void *ctx, const char *name, const struct elf_symbol *symbol),
		      void *ctx)
{
	struct symbol_walk w = { 0 };
	int err = 0;

	while (!err && elf_next_symbol(elf, STT_FUNC, &w)) {
		struct elf_symbol symbol = { .vaddr = w.sym.st_value,
					     .size = w.sym.st_size,
					     .from_symtab = w.table == 1 };

		if (!elf_vaddr_to_offset(elf, w.sym.st_value, &symbol.offset))
			err = each(ctx, w.name, &symbol);
	}
	return err;
}

#define SLOTS_AT_ONCE 4096

/* Return whether this type of relocation sets a word to the address of a symbol. */
static bool is_slot(uint16_t machine, uint32_t type)
{
	if (machine == EM_AARCH64)
		return type == R_AARCH64_GLOB_DAT || type == R_AARCH64_JUMP_SLOT;
	return machine == EM_X86_64 && (type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT);
}

/* Call @each for the slots of one section of relocations. */
static void slots_of(const struct elf_file *elf, const struct elf_range *range,
		     void (*each)(void *ctx, const char *name, uint64_t vaddr), void *ctx)
{
	const uint8_t *bytes;
	uint64_t at, index;
	Elf64_Rela rela;
	size_t len, i;
	Elf64_Sym sym;

	for (at = 0; at + sizeof(rela) <= range->size; at += len) {
		len = SLOTS_AT_ONCE * sizeof(rela);
		if (len > range->size - at)
			len = (size_t)(range->size - at);
		len = elf_bytes(elf, range->offset + at, len, &bytes);
		len -= len % sizeof(rela);
		if (!len)
			return;
		for (i = 0; i < len; i += sizeof(rela)) {
			memcpy(&rela, bytes + i, sizeof(rela));
			index = ELF64_R_SYM(rela.r_info);
			if (!is_slot(elf->ehdr.e_machine, (uint32_t)ELF64_R_TYPE(rela.r_info)) ||
			    index >= elf->dynsym.count)
				continue;
			sym = elf_symbol(&elf->dynsym, index);
			each(ctx, elf_string(&elf->dynsym.strs, sym.st_name), rela.r_offset);
		}
	}
}

void elf_each_slot(const struct elf_file *elf,
		   void (*each)(void *ctx, const char *name, uint64_t vaddr), void *ctx)
{
	static const char *const sections[] = { ".rela.plt", ".rela.dyn" };
	struct elf_range range;
	size_t i;

	for (i = 0; i < 2; i++)
		if (elf_section(elf, sections[i], 0, &range))
			slots_of(elf, &range, each, ctx);
}
