/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The sbt-trace authors */
/*
 * An open file, shared by the files of this room: elf_open.c reads its tables, elf.c accesses them.
 */
#ifndef ELF_ELF_INTERNAL_H
#define ELF_ELF_INTERNAL_H

#include <elf.h>

#include "elf/elf.h"

#define ELF_LIBRARIES_MAX 128

/* A part of the file in memory. A NUL follows it and is not counted in len. */
struct elf_part {
	uint8_t *bytes;
	size_t len;
};

struct elf_symbols {
	struct elf_part syms;
	struct elf_part strs;
	size_t count;
};

/* The values of DT_* entries; 0: absent. Addresses are as linked. */
struct elf_dynamic {
	uint64_t symtab, strtab, strsz, hash, gnu_hash, verdef, verdefnum, soname, flags_1;
	uint64_t rpath, runpath;
	uint64_t libraries[ELF_LIBRARIES_MAX]; /* offsets of names in the string table */
	uint32_t nlibraries; /* ELF_LIBRARIES_MAX + 1 if there are more */
	/*
	 * the lowest address in any entry that is above symtab; 0: none. The symbol table ends
	 * there at the latest.
	 */
	uint64_t after_symtab;
	bool needed;
};

struct elf_file {
	int fd; /* -1: suspended */
	int (*reopen)(void *ctx); /* from elf_suspend(); NULL: cannot be reopened */
	void *reopen_ctx;
	uint64_t size; /* size when the file was opened */
	Elf64_Ehdr ehdr;
	struct elf_part phdrs;
	struct elf_part shdrs;
	struct elf_part shstrs;
	struct elf_part dyns;
	struct elf_dynamic dyn;
	struct elf_symbols dynsym;
	struct elf_symbols symtab;
	bool has_symtab;
	bool broken; /* the headers name a table that could not be read */
	struct elf_part *window; /* buffer of elf_bytes() */
};

/* elf.c */
void elf_part_free(struct elf_part *part);
size_t elf_pread(const struct elf_file *elf, void *buf, size_t len, uint64_t offset);
int elf_load(const struct elf_file *elf, uint64_t offset, uint64_t len, uint64_t max,
	     struct elf_part *part);
size_t elf_phnum(const struct elf_file *elf);
Elf64_Phdr elf_phdr(const struct elf_file *elf, size_t i);
size_t elf_shnum(const struct elf_file *elf);
Elf64_Shdr elf_shdr(const struct elf_file *elf, size_t i);
const char *elf_string(const struct elf_part *strs, uint64_t offset);
void elf_copy_string(char *to, size_t size, const char *from);
int elf_locate(const struct elf_file *elf, uint64_t vaddr, uint32_t flags, uint64_t *offset,
	       uint64_t *room);

/* elf_symbols.c */
Elf64_Sym elf_symbol(const struct elf_symbols *t, size_t i);
bool elf_name_is(const char *have, const char *want);

#endif /* ELF_ELF_INTERNAL_H */
